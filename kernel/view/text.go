package view

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"pawl/text/display"
)

// Lengths in characters up to which text of others is shown in a projection. The whole is in the store.
const (
	maxTitle   = 200
	maxGoal    = 2000
	maxLines   = 20
	maxSummary = 160
	maxCell    = 300
)

// plain joins the words of s into one line that shows what it holds: whatever a terminal would not show is escaped.
func plain(s string, limit int) string {
	end := ""
	if most := 16 * limit; len(s) > most { // enough for limit characters and the blanks between them
		for !utf8.RuneStart(s[most]) && most > 15*limit {
			most--
		}
		s, end = s[:most], "…"
	}
	return display.Clip(display.Line(strings.Join(strings.Fields(s), " "))+end, limit)
}

// active are the characters that Markdown or HTML could make something else of in the middle of a line.
var active = strings.NewReplacer(`\`, `\\`, "<", `\<`, "](", `]\(`)

// line returns s as one line of Markdown that is nothing but text, wherever in a line it stands.
func line(s string, limit int) string { return active.Replace(plain(s, limit)) }

// start is line for text that stands at the beginning of a block, where a first character may make it a heading, a
// list, a quotation, a fence, a rule or a link's definition.
func start(s string, limit int) string {
	s = line(s, limit)
	if s == "" || s[0] == '\\' {
		return s
	}
	if strings.IndexByte("#>-+*=_~`[", s[0]) >= 0 {
		return `\` + s
	}
	digits := strings.TrimLeft(s, "0123456789")
	if n := len(s) - len(digits); n > 0 && digits != "" && (digits[0] == '.' || digits[0] == ')') {
		return s[:n] + `\` + digits
	}
	return s
}

// cell is line for a cell of a table, which must not be empty.
func cell(s string) string {
	if s = line(s, maxCell); s == "" {
		return "-"
	}
	return strings.ReplaceAll(s, "|", `\|`)
}

// span writes s as code.
func span(s string) string {
	s = plain(s, maxCell)
	row := "`"
	for strings.Contains(s, row) {
		row += "`"
	}
	if s == "" {
		return "-"
	}
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		s = " " + s + " "
	}
	return row + s + row
}

// quoted writes text of several lines as a quotation, each line for itself.
func quoted(s string) string {
	var b strings.Builder
	n, left := 0, maxGoal
	for l := range strings.SplitSeq(strings.TrimSpace(s), "\n") {
		if n++; n > maxLines || left <= 0 {
			b.WriteString("> …\n")
			break
		}
		l = start(l, left)
		left -= utf8.RuneCountInString(l)
		b.WriteString(strings.TrimRight("> "+l, " ") + "\n")
	}
	return b.String()
}

// scalar writes s as a double-quoted YAML scalar on one line.
func scalar(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range strings.ToValidUTF8(s, "\ufffd") {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == ' ' || unicode.IsGraphic(r) && !unicode.Is(unicode.Zs, r):
			b.WriteRune(r)
		case r < 0x100:
			fmt.Fprintf(&b, `\x%02X`, r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			fmt.Fprintf(&b, `\U%08X`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
