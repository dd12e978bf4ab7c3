package policy

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Display returns s as one line that shows a person exactly what it holds: control characters, bidirectional overrides,
// zero-width and tag characters, unusual spaces and invalid bytes appear as
// escapes such as \n, \x1b or \u{202e}. The result contains none of them, so it is safe on terminals, in approval screens
// and in logs. A backslash is shown as it is, because commands are full of them: Display is for reading, not for parsing.
func Display(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return hidden(r) || r == utf8.RuneError }) {
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
		case hidden(r) && r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		case hidden(r):
			fmt.Fprintf(&b, `\u{%x}`, r)
		default:
			b.WriteRune(r)
		}
		i += n
	}
	return b.String()
}

// hidden reports whether a terminal or a reader would not see r as what it is.
func hidden(r rune) bool {
	if r < 0x7f {
		return r < ' '
	}
	switch {
	case r < 0xa0: // DEL and the C1 controls
		return true
	case r == 0x00ad, r == 0x034f, r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5, r == 0x2800, r == 0x3164, r == 0xffa0:
		return true // soft hyphen, grapheme joiner and the letters that are drawn as nothing
	case r >= 0xfe00 && r <= 0xfe0f, r >= 0xe0000 && r <= 0xe0fff:
		return true // variation selectors and tags
	case r >= 0xfff0 && r <= 0xfffb:
		return true
	}
	return unicode.In(r, unicode.Cf, unicode.Co, unicode.Cs, unicode.Zl, unicode.Zp, unicode.Zs) || unicode.Is(unicode.Noncharacter_Code_Point, r)
}
