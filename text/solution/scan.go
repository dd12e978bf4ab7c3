package solution

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"pawl"
)

// Text is a file as its lines, each with the line break that it ends in: joined, they are the file again.
type Text struct {
	Mark  string // the byte order mark, where there is one
	Lines []string
}

// ByteOrderMark is what some editors put before a text.
const ByteOrderMark = "\ufeff"

// TextOf returns the lines of a file.
func TextOf(data string) Text {
	var t Text
	if rest, ok := strings.CutPrefix(data, ByteOrderMark); ok {
		t.Mark, data = ByteOrderMark, rest
	}
	if t.Lines = strings.SplitAfter(data, "\n"); t.Lines[len(t.Lines)-1] == "" {
		t.Lines = t.Lines[:len(t.Lines)-1]
	}
	return t
}

// String returns the file.
func (t Text) String() string { return t.Mark + strings.Join(t.Lines, "") }

// Content returns the line at a place, counted from 0, without its break.
func (t Text) Content(i int) string {
	return strings.TrimSuffix(strings.TrimSuffix(t.Lines[i], "\n"), "\r")
}

// LineBreak returns the break that the file's lines end in.
func (t Text) LineBreak() string {
	if len(t.Lines) > 0 && strings.HasSuffix(t.Lines[0], "\r\n") {
		return "\r\n"
	}
	return "\n"
}

// replace gives a line, counted from 1, another content and leaves its break.
func (t Text) replace(n int, content string) {
	t.Lines[n-1] = content + t.Lines[n-1][len(t.Content(n-1)):]
}

// insert returns the text with lines put behind those that have the numbers, 0 for the beginning.
func (t Text) insert(behind map[int][]string) Text {
	br := t.LineBreak()
	var out []string
	for n := range len(t.Lines) + 1 {
		if n > 0 {
			out = append(out, t.Lines[n-1])
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
	t.Lines = out
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

// rows sorts the lines of a file into prose, code and comments. open is the line at which a block begins that nothing
// ends, or 0: all that follows belongs to the block.
func (t Text) rows() (out []row, open int) {
	var f Fence
	hidden := false
	for i := range t.Lines {
		r := row{n: i + 1, text: t.Content(i)}
		bare := strings.TrimSpace(r.text)
		switch was := f.Open(); {
		case hidden:
			r.kind = comment
			hidden = !strings.Contains(bare, "-->")
		case !was && strings.HasPrefix(bare, "<!--"):
			r.kind = comment
			hidden = !strings.Contains(bare, "-->")
			open = r.n
		default:
			f.Next(r.text)
			switch {
			case was != f.Open():
				r.kind = border
				open = r.n
			case was:
				r.kind = code
			}
		}
		out = append(out, r)
	}
	if !hidden && !f.Open() {
		open = 0
	}
	return out, open
}

// Fence follows the fenced blocks of a document; nothing in them is a heading.
type Fence struct{ mark string }

// Open reports whether a block is open behind the last line.
func (f *Fence) Open() bool { return f.mark != "" }

// Next takes the next line.
func (f *Fence) Next(line string) {
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

// Heading reads a heading of the form # title.
func Heading(line string) (level int, title string, ok bool) {
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

// Unreadable says why a file cannot be read at all: it is too large, or no text.
func Unreadable(file string, data []byte) (pawl.Problem, bool) {
	if len(data) > MaxFile {
		return pawl.Problem{File: file, Key: "solution.too_large", Args: []any{len(data), MaxFile}}, true
	}
	for n, rest := 1, data; len(rest) > 0; n++ {
		var line []byte
		line, rest, _ = bytes.Cut(rest, []byte("\n"))
		if !utf8.Valid(line) || bytes.IndexByte(line, 0) >= 0 {
			return pawl.Problem{File: file, Line: n, Key: "solution.not_text"}, true
		}
	}
	return pawl.Problem{}, false
}

// unusable says why a file of a package cannot be read: nothing in it is as bad as what is Unreadable.
func unusable(file string, data []byte) (pawl.Problem, bool) {
	if bad, is := Unreadable(file, data); is {
		return bad, true
	}
	if len(bytes.TrimSpace(bytes.TrimPrefix(data, []byte(ByteOrderMark)))) == 0 {
		return pawl.Problem{File: file, Key: "solution.empty"}, true
	}
	return pawl.Problem{}, false
}
