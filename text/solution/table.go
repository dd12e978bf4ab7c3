package solution

import (
	"strings"

	"pawl/text/markdown"
)

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
	out, rest, _ := markdown.Cells(line)
	if rest != "" {
		out = append(out, rest)
	}
	for i, s := range out {
		if s == "-" {
			out[i] = ""
		}
	}
	return out
}

// maxColumns and maxRows bound the tables that are read; what goes beyond stays in the file.
const (
	maxColumns = 50
	maxRows    = 10_000
)

// tableOf reads the first table among lines of prose.
func tableOf(rows []markdown.Row) Table {
	var t Table
	for _, r := range rows {
		c := cells(r.Text)
		switch {
		case r.Kind != markdown.Prose || c == nil:
			if t.Header != nil {
				return t
			}
		case t.Header == nil:
			t.Header = c[:min(len(c), maxColumns)]
		case t.Rows == nil && markdown.Rule(r.Text):
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
