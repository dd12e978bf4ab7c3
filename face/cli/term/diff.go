package term

import (
	"fmt"
	"strings"

	"pawl/text/display"
)

// DiffLine is a line of a unified diff in its colors, with what a terminal would not show made visible.
func (s Style) DiffLine(l string) string { return s.DiffColor(l)(Visible(l)) }

// DiffColor is the color of a line of a unified diff.
func (s Style) DiffColor(l string) func(string) string {
	switch {
	case strings.HasPrefix(l, "diff --git "), strings.HasPrefix(l, "+++ "), strings.HasPrefix(l, "--- "):
		return s.Bold
	case strings.HasPrefix(l, "@@"):
		return s.Cyan
	case strings.HasPrefix(l, "+"):
		return s.Green
	case strings.HasPrefix(l, "-"):
		return s.Red
	case strings.HasPrefix(l, " "), l == "":
		return func(text string) string { return text }
	}
	return s.Dim
}

// Visible escapes a line, keeps tabs as blanks, and names runs of blanks that would push something out of sight.
func Visible(line string) string {
	line = display.Line(strings.ReplaceAll(line, "\t", "    "))
	const run = 40
	at := strings.Index(line, strings.Repeat(" ", run))
	if at < 0 {
		return line
	}
	n := len(line) - at - len(strings.TrimLeft(line[at:], " "))
	return line[:at] + fmt.Sprintf("<%d x space>", n) + Visible(line[at+n:])
}
