package markdown

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"
)

// ByteOrderMark is what some editors put before a text.
const ByteOrderMark = "\ufeff"

// Text is a file as its lines, each with the line break that it ends in: joined, they are the file again.
type Text struct {
	Mark  string // the byte order mark, where there is one
	Lines []string
}

// TextOf returns the lines of a file.
func TextOf(data string) Text {
	var t Text
	if rest, ok := strings.CutPrefix(data, ByteOrderMark); ok {
		t.Mark, data = ByteOrderMark, rest
	}
	t.Lines = slices.Collect(strings.Lines(data))
	return t
}

// String returns the file.
func (t Text) String() string { return t.Mark + strings.Join(t.Lines, "") }

// Content returns the line at a place, counted from 0, without its break.
func (t Text) Content(i int) string {
	return strings.TrimSuffix(strings.TrimSuffix(t.Lines[i], "\n"), "\r")
}

// Blank reports whether the line at a place holds nothing.
func (t Text) Blank(i int) bool { return strings.TrimSpace(t.Lines[i]) == "" }

// LineBreak returns the break that the file's lines end in.
func (t Text) LineBreak() string {
	if len(t.Lines) == 0 {
		return "\n"
	}
	return LineBreak(t.Lines[0])
}

// LineBreak returns the break that the lines of a text end in, which is that of its first one.
func LineBreak(text string) string {
	if i := strings.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// Replace gives the line at a place, counted from 0, another content and leaves its break.
func (t Text) Replace(i int, content string) { t.Lines[i] = content + t.Lines[i][len(t.Content(i)):] }

// Splice returns the text with the lines from one place up to another, counted from 0, replaced by others that have no
// breaks yet.
func (t Text) Splice(from, to int, with []string) Text {
	br := t.LineBreak()
	out := slices.Clone(t.Lines[:from])
	if n := len(out); n > 0 && len(with) > 0 {
		out[n-1] = terminated(out[n-1], br)
	}
	for _, l := range with {
		out = append(out, l+br)
	}
	return Text{Mark: t.Mark, Lines: append(out, t.Lines[to:]...)}
}

// Insert returns the text with lines put behind those that have the numbers, from 1; 0 is the beginning.
func (t Text) Insert(behind map[int][]string) Text {
	br := t.LineBreak()
	var out []string
	for n := range len(t.Lines) + 1 {
		if n > 0 {
			out = append(out, t.Lines[n-1])
		}
		if add := behind[n]; len(add) > 0 {
			if n > 0 {
				out[len(out)-1] = terminated(out[len(out)-1], br)
			}
			for _, a := range add {
				out = append(out, a+br)
			}
		}
	}
	t.Lines = out
	return t
}

// terminated returns a line with a break. A last line that ends in a lone carriage return needs only the rest of one.
func terminated(line, br string) string {
	switch {
	case strings.HasSuffix(line, "\n"):
		return line
	case strings.HasSuffix(line, "\r"):
		return line + "\n"
	}
	return line + br
}

// NotText returns the first line, from 1, that is no UTF-8 or holds a zero byte, and 0 where there is none.
func NotText(data []byte) int {
	for n := 1; len(data) > 0; n++ {
		line, rest, _ := bytes.Cut(data, []byte("\n"))
		if !utf8.Valid(line) || bytes.IndexByte(line, 0) >= 0 {
			return n
		}
		data = rest
	}
	return 0
}
