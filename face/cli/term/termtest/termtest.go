// Package termtest has what tests of the screen need: texts that
// somebody may have written to spoil it, and whether lines fit on it.
package termtest

import (
	"strings"
	"testing"

	"pawl/text/display"

	"pawl/face/cli/term"
)

// Hostile are what somebody may call a task or a step.
func Hostile() []string {
	return []string{
		"", "x", strings.Repeat("long title ", 1000), strings.Repeat("字", 5000), strings.Repeat("m",
			10_000), "one\ntwo\x1b[31mred\x1b[0m",
		"\u202eright to left\u202c", "e\u0301\u0301 عربى \U0001f600", "\xff\xfe", "\t\t\r",
	}
}

// Fits fails where a line of a text is wider than the screen or could act on the terminal.
func Fits(t *testing.T, what string, width int, text string) {
	t.Helper()
	for l := range strings.Lines(text) {
		l = strings.TrimSuffix(l, "\n")
		if w := term.Width(l); w > width {
			t.Errorf("%s at %d: a line of %d columns: %.200q", what, width, w, l)
		}
		if display.Line(l) != l {
			t.Errorf("%s: not escaped: %.200q", what, l)
		}
	}
}
