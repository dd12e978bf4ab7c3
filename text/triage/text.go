package triage

import (
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"pawl"
)

// MaxText is the longest input that is routed or evaluated, in bytes. Detect, which must not miss anything, has no
// limit.
const MaxText = 128 << 10

// Windows on long texts. A requirement says in its first lines what it wants; what follows is read for what is
// dangerous in it.
const (
	headWindow = 8 << 10 // bytes at the beginning in which intent, score and factors are looked for
	tailWindow = 1 << 10 // bytes at the end in which the intent is looked for as well
	maxPart    = 1 << 10 // bytes of one sentence
)

// Span is a range of bytes of a text: text[Start:End].
type Span struct {
	Start int `json:"start"`
	End   int `json:"end"`
}

// In returns what the span covers of a text, and "" where it does not lie in it.
func (s Span) In(text string) string {
	if s.Start < 0 || s.End < s.Start || s.End > len(text) {
		return ""
	}
	return text[s.Start:s.End]
}

func judged(requirement string, answers []Answer, op string) (text string, at []Span, err error) {
	if err := readable(requirement, op); err != nil {
		return "", nil, err
	}
	text, at = merge(requirement, answers)
	return text, at, readable(text, op)
}

// readable refuses what cannot be judged: no text, too much of it, or bytes that are no text.
func readable(text, op string) error {
	switch {
	case strings.TrimSpace(text) == "":
		return pawl.Fail(pawl.CodeInvalid, "triage.empty").In(op)
	case len(text) > MaxText:
		return pawl.Fail(pawl.CodeInvalid, "triage.too_long", len(text), MaxText).In(op)
	case !utf8.ValidString(text):
		return pawl.Fail(pawl.CodeInvalid, "triage.not_text").In(op)
	}
	return nil
}

// folded is a text that is easy to match: in lower case, with the wide forms of ASCII characters narrowed, blanks of
// all kinds as blanks, and without characters that are not seen, so that nobody hides a word with them.
type folded struct {
	src  string
	text string
	kept string // text with its capitals; byte for byte as long
	at   []int  // at[i] is where byte i of text stands in src; one more for the end
}

func fold(src string) folded {
	f := folded{src: src, at: make([]int, 0, len(src)+1)}
	var low, kept strings.Builder
	low.Grow(len(src))
	kept.Grow(len(src))
	for i, r := range src {
		if r = foldRune(r); r < 0 {
			continue
		}
		l := unicode.ToLower(r)
		if utf8.RuneLen(l) != utf8.RuneLen(r) {
			r = l
		}
		before := low.Len()
		low.WriteRune(l)
		kept.WriteRune(r)
		for range low.Len() - before {
			f.at = append(f.at, i)
		}
	}
	f.at = append(f.at, len(src))
	f.text, f.kept = low.String(), kept.String()
	return f
}

// foldRune returns the narrow form of a character, and -1 for one that is left out.
func foldRune(r rune) rune {
	switch {
	case r < utf8.RuneSelf:
		if r == '\r' || r < ' ' && r != '\n' && r != '\t' {
			return ' '
		}
		return r
	case r >= 0xff01 && r <= 0xff5e:
		return r - 0xfee0
	case r == '〜':
		return '~'
	case r == '’' || r == '‘':
		return '\''
	case r == '\u2028' || r == '\u2029':
		return '\n'
	case unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Mn, r):
		return -1
	case unicode.IsSpace(r):
		return ' '
	}
	return r
}

// span returns where text[i:j] stands in the source.
func (f folded) span(i, j int) Span {
	if i >= j {
		return Span{f.at[i], f.at[i]}
	}
	// The end is that of the last character, so that what is not seen after it stays outside.
	last := f.at[j-1]
	_, size := utf8.DecodeRuneInString(f.src[last:])
	return Span{f.at[i], last + size}
}

// find returns where a byte of the source stands in the folded text.
func (f folded) find(src int) int { return min(sort.SearchInts(f.at, src), len(f.text)) }

func han(r rune) bool { return unicode.Is(unicode.Han, r) }

func letter(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' }

// hasAny reports whether a text holds one of the words.
func hasAny(s string, words []string) bool {
	for _, w := range words {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}

// visible counts the characters of a text that say something.
func visible(s string) int {
	n := 0
	for _, r := range s {
		if letter(r) {
			n++
		}
	}
	return n
}
