package solution

import "strings"

// Table is a table of a document. Its cells are Markdown of one line; an empty cell is written as a dash and read as
// "".
type Table struct {
	Header []string
	Rows   [][]string
}

// String writes the table, its head included, with a line break at its end. Rows are as long as the head. A table
// without a head is nothing.
func (t Table) String() string {
	if len(t.Header) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(tableRow(t.Header, len(t.Header)))
	b.WriteString("|" + strings.Repeat(" --- |", len(t.Header)) + "\n")
	for _, r := range t.Rows {
		b.WriteString(tableRow(r, len(t.Header)))
	}
	return b.String()
}

func tableRow(cells []string, n int) string {
	var b strings.Builder
	b.WriteByte('|')
	for i := range n {
		s := ""
		if i < len(cells) {
			s = cell(cells[i])
		}
		b.WriteString(" " + orDash(s) + " |")
	}
	b.WriteByte('\n')
	return b.String()
}

// cell makes a text fit into a cell: bars that are not escaped would end it, and so would a backslash before the bar.
func cell(s string) string {
	s = oneLine(s)
	var b strings.Builder
	odd := false // behind an odd number of backslashes
	for i := range len(s) {
		if s[i] == '|' && !odd {
			b.WriteByte('\\')
		}
		odd = s[i] == '\\' && !odd
		b.WriteByte(s[i])
	}
	return b.String()
}

// cells reads a row of a table, or nil for a line that is none.
func cells(line string) []string {
	line = strings.TrimSpace(line)
	rest, ok := strings.CutPrefix(line, "|")
	if !ok {
		return nil
	}
	var out []string
	from, odd := 0, false
	for i := range len(rest) {
		if rest[i] == '|' && !odd {
			out = append(out, cellText(rest[from:i]))
			from = i + 1
		}
		odd = rest[i] == '\\' && !odd
	}
	if last := strings.TrimSpace(rest[from:]); last != "" {
		out = append(out, cellText(last))
	}
	return out
}

func cellText(s string) string {
	if s = strings.TrimSpace(s); s == "-" {
		return ""
	}
	return s
}

// rule reports whether a line is the one between the head and the rows of a table.
func rule(line string) bool {
	line = strings.TrimSpace(line)
	return strings.HasPrefix(line, "|") && strings.Contains(line, "-") && strings.Trim(line, "|-: \t") == ""
}

// maxColumns and maxRows bound the tables that are read; what goes beyond stays in the file.
const (
	maxColumns = 50
	maxRows    = 10_000
)

// tableOf reads the first table among lines of prose.
func tableOf(rows []row) Table {
	var t Table
	for _, r := range rows {
		c := cells(r.text)
		switch {
		case r.kind != prose || c == nil:
			if t.Header != nil {
				return t
			}
		case t.Header == nil:
			t.Header = c[:min(len(c), maxColumns)]
		case t.Rows == nil && rule(r.text):
			t.Rows = [][]string{}
		case len(t.Rows) < maxRows:
			for len(c) < len(t.Header) {
				c = append(c, "")
			}
			t.Rows = append(t.Rows, c[:len(t.Header)])
		}
	}
	return t
}
