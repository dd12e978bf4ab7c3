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

// parts splits a name into its words: at underscores and hyphens, where small letters are followed by a capital, and
// before the last capital of several. They are in lower case. Emit may not keep the slice.
func parts(name []byte, buf []byte, emit func(part []byte)) {
	start := 0
	flush := func(end int) {
		if end > start {
			buf = buf[:0]
			for _, c := range name[start:end] {
				if c >= 'A' && c <= 'Z' {
					c += 'a' - 'A'
				}
				buf = append(buf, c)
			}
			emit(buf)
		}
		start = end
	}
	for i := range name {
		c := name[i]
		switch {
		case !isWord(c) || c == '_':
			flush(i)
			start = i + 1
		case i > start && upper(c) && !upper(name[i-1]):
			flush(i)
		case i > start && upper(c) && upper(name[i-1]) && i+1 < len(name) && lower(name[i+1]):
			flush(i)
		case i > start && digit(c) != digit(name[i-1]) && digit(c):
			flush(i)
		}
	}
	flush(len(name))
}

func upper(c byte) bool { return c >= 'A' && c <= 'Z' }
func lower(c byte) bool { return c >= 'a' && c <= 'z' }
func digit(c byte) bool { return c >= '0' && c <= '9' }

// stem cuts the ending of an English word, so that the forms of a word meet. It need not be the right stem.
func stem(w []byte) []byte {
	for _, end := range endings {
		if len(w) >= len(end)+3 && string(w[len(w)-len(end):]) == end {
			w = w[:len(w)-len(end)]
			break
		}
	}
	if n := len(w); n > 4 && w[n-1] == w[n-2] {
		w = w[:n-1]
	}
	if n := len(w); n > 3 && (w[n-1] == 'e' || w[n-1] == 'y') {
		w = w[:n-1]
	}
	return w
}

// endings are tried in this order.
var endings = []string{"ations", "ation", "ings", "ing", "ments", "ment", "ers", "er", "ies", "ied", "ions", "ion",
	"ed", "es", "s"}

func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c >= '0' && c <= '9' || c >= utf8.RuneSelf
}
