package solution

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"pawl/text/markdown"
)

// Limits of what is read. They are far above what people write and keep hostile files from costing anything.
const (
	// MaxFile is the size of a file of a package, in bytes.
	MaxFile = 4 << 20
	// MaxTasks is the number of tasks of one tasks.md.
	MaxTasks = 10_000
)

// Concealed reports whether a character hides, or turns around, what stands beside it: controls, bidirectional
// overrides, tags, and separators that only some programs take for the end of a line. Signs such as the variation
// selectors of emoji and the wide blank are ordinary text.
func Concealed(r rune) bool {
	switch {
	case r == '\t':
		return false
	case r < ' ', r >= 0x7f && r < 0xa0, r == 0x2028, r == 0x2029, r == 0xfeff, r >= 0xe0000 && r <= 0xe0fff:
		return true
	case r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069, r == 0x200b, r == 0x200e, r == 0x200f:
		return true
	}
	return false
}

// visible returns s with every concealed character and every byte that is no text written as an escape.
func visible(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return Concealed(r) || r == utf8.RuneError }) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, "\\x%02x", s[i])
		case Concealed(r):
			fmt.Fprintf(&b, "\\u{%x}", r)
		default:
			b.WriteRune(r)
		}
		i += n
	}
	return b.String()
}

// oneLine returns s as one line: every run of blanks and line breaks is one blank, and nothing is concealed. Blanks
// inside of a line are kept as they are where there is no line break or tab among them.
func oneLine(s string) string {
	s = strings.TrimSpace(s)
	if strings.ContainsAny(s, "\n\r\t\v\f\u0085\u2028\u2029") {
		s = strings.Join(strings.Fields(s), " ")
	}
	return visible(s)
}

// orDash returns s, or a dash for nothing.
func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// Clip cuts s after limit characters and says so with an ellipsis.
func Clip(s string, limit int) string {
	n := 0
	for i := range s {
		if n++; n > limit {
			return s[:i] + "…"
		}
	}
	return s
}

// bare returns s without blanks and variation selectors, in lower case, for comparing.
func bare(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || r == 0xfe0f {
			return -1
		}
		return unicode.ToLower(r)
	}, s)
}

// block makes a Markdown text fit into a section: without blank lines around it, with headings that would begin another
// section turned into text, and with every fence closed. Nothing is the word for nothing.
func block(s string, l Language) string {
	var out []string
	var scan markdown.Scanner
	for _, line := range strings.Split(strings.Trim(strings.ReplaceAll(s, "\r\n", "\n"), "\n"), "\n") {
		line = strings.TrimRight(visible(line), " \t")
		if level, _, ok := markdown.Heading(line); ok && level <= 3 && !scan.InCode() {
			line = `\` + strings.TrimLeft(line, " ")
		}
		scan.Next(strings.TrimSpace(line))
		if !scan.InCode() && strings.HasPrefix(strings.TrimSpace(line), "<!--") && !strings.Contains(line, "-->") {
			line = `\` + strings.TrimLeft(line, " \t")
		}
		out = append(out, line)
	}
	if scan.InCode() {
		out = append(out, scan.Row())
	}
	for len(out) > 0 && strings.TrimSpace(out[0]) == "" {
		out = out[1:]
	}
	for len(out) > 0 && strings.TrimSpace(out[len(out)-1]) == "" {
		out = out[:len(out)-1]
	}
	if len(out) == 0 {
		return "- " + wordNothing.in(l)
	}
	return strings.Join(out, "\n")
}

// unblock returns what block was given.
func unblock(lines []string) string {
	s := strings.Trim(strings.Join(lines, "\n"), "\n")
	if s == "- "+wordNothing.zh || s == "- "+wordNothing.en {
		return ""
	}
	return s
}
