package contextpack

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"pawl/text/display"
)

// clip cuts a text to a number of bytes, at a character.
func clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return display.Head(s, max(0, most-len("…"))) + "…"
}

// clean makes text of a file fit to be quoted: what is no UTF-8 becomes the replacement character, and control
// characters, marks that reorder text and characters that nobody sees are removed, because a reader would miss what
// they hide.
func clean(s string) string {
	plain := true
	for i := range len(s) {
		if c := s[i]; c >= utf8.RuneSelf || c < ' ' && c != '\n' && c != '\t' || c == 0x7f {
			plain = false
			break
		}
	}
	if plain {
		return s
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Variation_Selector,
			r), r == 0x2028, r == 0x2029:
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\ufffd"))
}

// oneLine is clean for text that must not begin a line of its own.
func oneLine(s string, most int) string {
	return clip(strings.Join(strings.Fields(clean(s)), " "), most)
}

// notWord reports whether a character is neither a letter nor a digit nor an underscore.
func notWord(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }
