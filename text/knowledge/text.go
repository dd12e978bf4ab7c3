package knowledge

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"pawl/text/solution"
)

// Language is the seed's OUTPUT_LANGUAGE; the zero Language is Chinese.
type Language = solution.Language

// The languages of documents.
const (
	Chinese = solution.Chinese
	English = solution.English
)

// MaxFile is the size of the largest document that is read, in bytes.
const MaxFile = solution.MaxFile

// word is a fixed word of the documents, with other spellings under which it is read.
type word struct {
	zh, en string
	others []string
}

func (w word) in(l Language) string {
	if l == English {
		return w.en
	}
	return w.zh
}

// is reports whether s is the word in one of its spellings.
func (w word) is(s string) bool {
	if s == w.zh || strings.EqualFold(s, w.en) {
		return true
	}
	for _, o := range w.others {
		if strings.EqualFold(s, o) {
			return true
		}
	}
	return false
}

// oneLine returns s as one line: every run of blanks and breaks is one blank, and what is concealed, or no text, is
// written as an escape.
func oneLine(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, "(%02x)", s[i])
		case solution.Concealed(r):
			fmt.Fprintf(&b, "(U+%04X)", r)
		default:
			b.WriteRune(r)
		}
		i += n
	}
	return b.String()
}

// special are the characters of prose that would begin something else: a comment, a span of code, a cell, a link.
const special = "\\|<`[]*"

// prose writes a text as Markdown of one line, which unprose reads again. Nothing is written as a dash.
func prose(s string) string {
	s = oneLine(s)
	switch s {
	case "":
		return "-"
	case "-":
		return `\-`
	}
	var b strings.Builder
	for _, r := range s {
		if strings.ContainsRune(special, r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// unprose reads what prose wrote, and what people write: a backslash takes its meaning from the sign behind it.
func unprose(s string) string {
	s = strings.TrimSpace(s)
	if s == "-" {
		return ""
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && (strings.IndexByte(special, s[i+1]) >= 0 || s[i+1] == '-') {
			i++
		}
		b.WriteByte(s[i])
	}
	return oneLine(b.String())
}

// code writes a name or a path as a span of code. The span is longer than every run of its sign in the text.
func code(s string) string {
	s = oneLine(s)
	longest := 0
	for i := 0; i < len(s); {
		n := len(s[i:]) - len(strings.TrimLeft(s[i:], "`"))
		longest = max(longest, n)
		i += n + 1
	}
	sign := strings.Repeat("`", longest+1)
	if s == "" || strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		s = " " + s + " "
	}
	return sign + s + sign
}

// uncode reads a span of code, or the bare text of a line that holds none.
func uncode(s string) string {
	s = strings.TrimSpace(s)
	n := len(s) - len(strings.TrimLeft(s, "`"))
	if sign := s[:n]; n > 0 && len(s) > 2*n && strings.HasSuffix(s, sign) {
		s = s[n : len(s)-n]
	}
	return oneLine(s)
}

// han reports whether a character is written without blanks around it.
func han(r rune) bool {
	return unicode.Is(unicode.Han, r) || r >= 0x3000 && r <= 0x30ff || r >= 0xff00 && r <= 0xffef
}
