package triage

import (
	"strings"
	"unicode"

	"pawl/text/display"
)

// clip keeps words short enough for a message and free of what a terminal would obey.
func clip(s string) string {
	return display.Clip(strings.Map(func(r rune) rune {
		if unseen(r) {
			return '·'
		}
		return r
	}, strings.Join(strings.Fields(s), " ")), 60)
}

// unseen reports whether a character cannot be seen, or changes how others are seen.
func unseen(r rune) bool {
	return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == unicode.ReplacementChar)
}
