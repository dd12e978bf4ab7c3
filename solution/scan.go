package solution

import (
	"bytes"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"
)

// pattern is an expression that is compiled when it is first used, because most starts of a program use none.
func pattern(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// text is a file as its lines, each with the line break that it ends in: joined, they are the file again.
type text struct {
	mark  string // the byte order mark, where there is one
	lines []string
}

const byteOrderMark = "\ufeff"

func textOf(data string) text {
	var t text
	if rest, ok := strings.CutPrefix(data, byteOrderMark); ok {
		t.mark, data = byteOrderMark, rest
	}
	if t.lines = strings.SplitAfter(data, "\n"); t.lines[len(t.lines)-1] == "" {
		t.lines = t.lines[:len(t.lines)-1]
	}
	return t
}

// String returns the file.
func (t text) String() string { return t.mark + strings.Join(t.lines, "") }

// content returns a line without its break. Lines are counted from 1.
func (t text) content(n int) string {
	return strings.TrimSuffix(strings.TrimSuffix(t.lines[n-1], "\n"), "\r")
}

// lineBreak returns the break that the file's lines end in.
func (t text) lineBreak() string {
	if len(t.lines) > 0 && strings.HasSuffix(t.lines[0], "\r\n") {
		return "\r\n"
	}
	return "\n"
}

// replace gives a line another content and leaves its break.
func (t text) replace(n int, content string) {
	t.lines[n-1] = content + t.lines[n-1][len(t.content(n)):]
}

// insert returns the text with lines put behind those that have the numbers, 0 for the beginning.
func (t text) insert(behind map[int][]string) text {
	br := t.lineBreak()
	var out []string
	for n := range len(t.lines) + 1 {
		if n > 0 {
			out = append(out, t.lines[n-1])
		}
		if add := behind[n]; len(add) > 0 {
			if n > 0 && !strings.HasSuffix(out[len(out)-1], "\n") {
				out[len(out)-1] += br
			}
			for _, a := range add {
				out = append(out, a+br)
			}
		}
	}
	t.lines = out
	return t
}

// row is a line as the readers see it.
type row struct {
	n    int // counted from 1
	text string
	kind kind
}

type kind uint8

const (
	prose   kind = iota
	code         // inside of a fenced block
	border       // the first or last line of one
	comment      // of HTML, which no reader of the document sees
)

// rows sorts the lines of a file into prose, code and comments. open is the line at which a block begins that nothing ends, or
// 0: all that follows belongs to the block.
func (t text) rows() (out []row, open int) {
	var f fence
	hidden := false
	for i := range t.lines {
		r := row{n: i + 1, text: t.content(i + 1)}
		bare := strings.TrimSpace(r.text)
		switch was := f.open(); {
		case hidden:
			r.kind = comment
			hidden = !strings.Contains(bare, "-->")
		case !was && strings.HasPrefix(bare, "<!--"):
			r.kind = comment
			hidden = !strings.Contains(bare, "-->")
			open = r.n
		default:
			f.next(r.text)
			switch {
			case was != f.open():
				r.kind = border
				open = r.n
			case was:
				r.kind = code
			}
		}
		out = append(out, r)
	}
	if !hidden && !f.open() {
		open = 0
	}
	return out, open
}

// fence follows the fenced blocks of a document.
type fence struct{ mark string }

func (f *fence) open() bool { return f.mark != "" }

// next takes the next line.
func (f *fence) next(line string) {
	line = strings.TrimSpace(line)
	if line == "" || line[0] != '`' && line[0] != '~' {
		return
	}
	sign := line[:1]
	rest := strings.TrimLeft(line, sign)
	n := len(line) - len(rest)
	switch {
	case n < 3:
	case f.mark == "":
		if sign == "~" || !strings.Contains(rest, "`") {
			f.mark = line[:n]
		}
	case sign == f.mark[:1] && n >= len(f.mark) && rest == "":
		f.mark = ""
	}
}

// heading reads a heading of the form # title.
func heading(line string) (level int, title string, ok bool) {
	s := strings.TrimLeft(line, " ")
	if len(line)-len(s) > 3 {
		return 0, "", false
	}
	rest := strings.TrimLeft(s, "#")
	level = len(s) - len(rest)
	if level == 0 || level > 6 || rest != "" && rest[0] != ' ' && rest[0] != '\t' {
		return 0, "", false
	}
	return level, strings.TrimSpace(rest), true
}

// indent returns the column at which the text of a line begins; a tab reaches the next multiple of four.
func indent(line string) int {
	n := 0
	for _, r := range line {
		switch r {
		case ' ':
			n++
		case '\t':
			n += 4 - n%4
		default:
			return n
		}
	}
	return n
}

// unreadable returns what keeps a file from being read at all, or nothing.
func unreadable(file string, data []byte) (Finding, bool) {
	if len(data) > MaxFile {
		return Finding{File: file, Key: "solution.too_large", Args: []any{len(data), MaxFile}}, true
	}
	line := 1
	for rest := data; len(rest) > 0; {
		l, next, _ := bytes.Cut(rest, []byte("\n"))
		if !utf8.Valid(l) || bytes.IndexByte(l, 0) >= 0 {
			return Finding{File: file, Line: line, Key: "solution.not_text"}, true
		}
		rest = next
		line++
	}
	if len(bytes.TrimSpace(bytes.TrimPrefix(data, []byte(byteOrderMark)))) == 0 {
		return Finding{File: file, Key: "solution.empty"}, true
	}
	return Finding{}, false
}
