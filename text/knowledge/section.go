package knowledge

import (
	"slices"
	"strings"

	"pawl"
	"pawl/text/markdown"
	"pawl/text/pattern"
	"pawl/text/solution"
)

// section is a part of a document that is pawl's: the lines between its two marks, counted from 0.
type section struct {
	name     string
	from, to int
}

// document is a text with pawl's sections found.
type document struct {
	markdown.Text
	file     string
	sections []section
	open     bool // a fence is open at the end
}

var markForm = pattern.New(`^<!-- pawl:(begin|end) ([a-z]{1,32}) -->$`)

// read finds the sections of a document. One whose marks do not pair is refused, because nobody could tell whose lines
// it holds. Within a section only the mark that ends it counts.
func read(file string, data []byte) (*document, error) {
	if bad, is := solution.Unreadable(file, data); is {
		return nil, bad.Error(solution.At).In("knowledge.Read")
	}
	d := &document{Text: markdown.TextOf(string(data)), file: file}
	var scan markdown.Scanner
	name, from := "", 0
	bad := func(i int, key string, args ...any) (*document, error) {
		return nil, pawl.Problem{File: file, Line: i + 1, Key: key, Args: args}.Error(solution.At).In("knowledge.Read")
	}
	for i := range d.Lines {
		line := strings.TrimSpace(d.Content(i))
		m := markForm.Get().FindStringSubmatch(line)
		switch {
		case name != "":
			if m != nil && m[1] == "begin" {
				return bad(from-1, "knowledge.not_ended", name)
			}
			if m == nil || m[2] != name {
				continue
			}
			d.sections = append(d.sections, section{name, from, i})
			name = ""
		case scan.InCode() || m == nil:
			scan.Next(line)
		case m[1] == "end":
			return bad(i, "knowledge.not_begun", m[2])
		case slices.ContainsFunc(d.sections, func(s section) bool { return s.name == m[2] }):
			return bad(i, "knowledge.twice", m[2])
		default:
			name, from = m[2], i+1
		}
	}
	if name != "" {
		return bad(from-1, "knowledge.not_ended", name)
	}
	d.open = scan.InCode()
	return d, nil
}

// get returns the lines of a section and the place of the first.
func (d *document) get(name string) (lines []string, from int, ok bool) {
	i := slices.IndexFunc(d.sections, func(s section) bool { return s.name == name })
	if i < 0 {
		return nil, 0, false
	}
	s := d.sections[i]
	for n := s.from; n < s.to; n++ {
		lines = append(lines, d.Content(n))
	}
	return lines, s.from, true
}

// put returns the document with a section's lines replaced. A section that is not there is added at the end, below its
// heading. A document that ends in an open block of code takes none, because the section would be part of the block.
func (d *document) put(name, title string, body []string) (string, error) {
	if old, from, ok := d.get(name); ok {
		if slices.Equal(old, body) {
			return d.String(), nil
		}
		return d.Splice(from, from+len(old), body).String(), nil
	}
	if d.open {
		return "", pawl.Problem{File: d.file, Line: len(d.Lines),
			Key: "knowledge.block_open"}.Error(solution.At).In("knowledge.Update")
	}
	var add []string
	n := len(d.Lines)
	if n > 0 && !d.Blank(n-1) {
		add = append(add, "")
	}
	return d.Splice(n, n, append(add, framed(name, title, body)...)).String(), nil
}

// framed returns a section with its heading and its marks.
func framed(name, title string, body []string) []string {
	out := []string{"## " + title, "", "<!-- pawl:begin " + name + " -->"}
	return append(append(out, body...), "<!-- pawl:end "+name+" -->")
}
