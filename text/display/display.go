// Package display makes text that comes from elsewhere fit to be shown: on one line, as long as there is room, and with
// nothing in it that a terminal would obey or that a person would not see.
package display

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"pawl/text/shell"
)

// Line returns s as one line that shows a person exactly what it holds: control characters, bidirectional overrides,
// zero-width and tag characters, unusual spaces and invalid bytes appear as escapes such as \n, \x1b or \u{202e}. The
// result contains none of them, so it is safe on terminals, in approval screens and in logs. A backslash is shown as it
// is, because commands are full of them: Line is for reading, not for parsing.
func Line(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return shell.Hidden(r) || r == utf8.RuneError }) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 16)
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n <= 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case shell.Hidden(r) && r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		case shell.Hidden(r):
			fmt.Fprintf(&b, `\u{%x}`, r)
		default:
			b.WriteRune(r)
		}
		i += n
	}
	return b.String()
}

// Clip returns s, or as many of its characters as leave room for an ellipsis among limit of them.
func Clip(s string, limit int) string {
	if len(s) <= limit || utf8.RuneCountInString(s) <= limit {
		return s
	}
	n := 0
	for i := range s {
		if n++; n == limit {
			return s[:i] + "…"
		}
	}
	return s
}

// Head returns the beginning of s, at most most bytes, cut between characters.
func Head(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most]
}

// Tail returns the end of s, at most most bytes, cut between characters.
func Tail(s string, most int) string {
	s = s[max(len(s)-most, 0):]
	for s != "" && !utf8.RuneStart(s[0]) {
		s = s[1:]
	}
	return s
}

// Hash returns as much of a hash as a person is asked to read or type.
func Hash(hash string) string { return hash[:min(12, len(hash))] }
