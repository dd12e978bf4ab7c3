package policy

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"pawl/text/shell"
)

// Display returns s as one line that shows a person exactly what it holds: control characters, bidirectional overrides,
// zero-width and tag characters, unusual spaces and invalid bytes appear as escapes such as \n, \x1b or \u{202e}. The
// result contains none of them, so it is safe on terminals, in approval screens and in logs. A backslash is shown as it
// is, because commands are full of them: Display is for reading, not for parsing.
func Display(s string) string {
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
