package triage

import (
	"strings"
	"unicode"
)

// clip keeps words short enough for a message and free of what a terminal would obey.
func clip(s string) string {
	s = strings.Map(func(r rune) rune {
		if unseen(r) {
			return '·'
		}
		return r
	}, strings.Join(strings.Fields(s), " "))
	if r := []rune(s); len(r) > 60 {
		return string(r[:59]) + "…"
	}
	return s
}

// unseen reports whether a character cannot be seen, or changes how others are seen.
func unseen(r rune) bool {
	return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == unicode.ReplacementChar)
}
