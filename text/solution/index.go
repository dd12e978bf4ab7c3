package solution

import (
	"fmt"
	"slices"
	"strings"

	"pawl/text/markdown"
	"pawl/text/pattern"

	"pawl"
)

// IndexName is the archive's index, relative to the folder of the archive's owner.
const IndexName = "archive/_index.md"

// Row is a row of the archive's index (docs/spec/workflow.md#archive-index). Its texts are Markdown of one line.
type Row struct {
	// Stamp and Name are the two halves of the package's name, Dir its folder relative to that of the index, if any.
	Stamp, Name, Dir string
	Type             string
	Modules          string
	Decisions        string
	Result           Result
	// Marker tells the row from all others, as a comment of HTML; "" for none.
	Marker string
	// Line is the row's line in the index that it was read from.
	Line int
}

// In writes the row in a language, with a line break at its end.
func (r Row) In(l Language) string {
	name := orDash(cell(r.Name))
	if r.Dir != "" {
		name = fmt.Sprintf("[%s](%s/)", name, cell(r.Dir))
	}
	result := r.Result.In(l)
	if r.Marker != "" {
		result += " " + oneLine(r.Marker)
	}
	return tableRow([]string{r.Stamp, name, r.Type, r.Modules, r.Decisions, result}, 6)
}

// IndexTitle and IndexHead are what an index begins with.
func IndexTitle(l Language) string {
	if l == English {
		return "# Archive index\n\n"
	}
	return "# Archive\n\n" // as the end of a run has always written it
}

// IndexHead is described with IndexTitle.
func IndexHead(l Language) string {
	var head []string
	for _, w := range indexWords {
		head = append(head, w.in(l))
	}
	return Table{Header: head}.String()
}

// indexWords are the heads of the index's columns.
var indexWords = []word{wordStamp, wordName, wordKind, wordModules, wordDecision, wordResult}

var (
	linkForm   = pattern.New(`^\[(.*)\]\((.*?)/?\)$`)
	markerForm = pattern.New(`\s*(<!--.*?-->)\s*$`)
)

// ReadIndex reads the rows of an index, whoever wrote it. Rows that a template left are passed over; a row whose result
// is none of the five has the result "", and a warning says so. An index that is too large, or no text, is CodeInvalid.
func ReadIndex(data []byte) ([]Row, []pawl.Problem, error) {
	if bad, ok := Unreadable(IndexName, data); ok {
		return nil, nil, broken("solution.ReadIndex", IndexName, []pawl.Problem{bad})
	}
	var out []Row
	var warnings []pawl.Problem
	lines, _, _ := indexRows(markdown.TextOf(string(data)))
	for _, l := range lines {
		c := cells(l.Text)
		for len(c) < len(indexWords) {
			c = append(c, "")
		}
		if strings.HasPrefix(c[0], "{") {
			continue
		}
		r := Row{Stamp: c[0], Name: c[1], Type: c[2], Modules: c[3], Decisions: c[4], Line: l.N}
		if m := linkForm.Get().FindStringSubmatch(c[1]); m != nil {
			r.Name, r.Dir = m[1], strings.TrimPrefix(m[2], "./")
		}
		if m := markerForm.Get().FindStringSubmatchIndex(c[5]); m != nil {
			r.Marker, c[5] = c[5][m[2]:m[3]], c[5][:m[0]]
		}
		result, ok := ParseResult(c[5])
		if !ok {
			warnings = append(warnings, pawl.Problem{File: IndexName, Line: l.N, Key: "solution.bad_result",
				Args: []any{Clip(visible(c[5]), 40)}})
		}
		r.Result = result
		out = append(out, r)
	}
	return out, warnings, nil
}

// indexRows returns the rows of the first table that has the heads of an index, and the line of the last of them, that
// of the table's rule where it has no rows, or 0 without such a table. The language is that of the heads.
func indexRows(t markdown.Text) (out []markdown.Row, last int, l Language) {
	rows, _ := rows(t)
	for i, r := range rows {
		if r.Kind != markdown.Prose {
			continue
		}
		c := cells(r.Text)
		if len(c) < len(indexWords) || i+1 == len(rows) || !markdown.Rule(rows[i+1].Text) ||
			!slices.EqualFunc(indexWords, c[:len(indexWords)],
				func(w word, s string) bool { return w.language(s) != "" }) {
			continue
		}
		last, l = rows[i+1].N, wordStamp.language(c[0])
		for _, r := range rows[i+2:] {
			if r.Kind != markdown.Prose || cells(r.Text) == nil {
				break
			}
			out, last = append(out, r), r.N
		}
		return out, last, l
	}
	return nil, 0, ""
}

// AddRow adds a row behind the last one of an index. Every line that was there stays as it is and in its place. An
// index that has the row's marker, or a row for its folder, stays unchanged; one without a table gets one at its end,
// and an empty one gets a title, too. l is the language of a new table; in an old one the row has the language of its
// head.
func AddRow(index string, r Row, l Language) string {
	t := markdown.TextOf(index)
	_, last, spoken := indexRows(t)
	if last > 0 {
		l = spoken
	}
	for _, line := range t.Lines { // of every table, because one that cannot be seen may hold the row
		if strings.HasPrefix(line, "|") && (r.Marker != "" && strings.Contains(line, oneLine(r.Marker)) ||
			r.Dir != "" && strings.Contains(line, "("+cell(r.Dir)+"/)")) {
			return index
		}
	}
	line := strings.TrimSuffix(r.In(l), "\n")
	switch {
	case last > 0:
		return t.Splice(last, last, []string{line}).String()
	case strings.TrimSpace(strings.Join(t.Lines, "")) == "":
		return t.Mark + IndexTitle(l) + IndexHead(l) + r.In(l)
	}
	head := strings.Split(strings.TrimSuffix(IndexHead(l), "\n"), "\n")
	add := append(append([]string{}, head...), line)
	if !t.Blank(len(t.Lines) - 1) {
		add = append([]string{""}, add...)
	}
	return t.Splice(len(t.Lines), len(t.Lines), add).String()
}
