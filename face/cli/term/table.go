package term

import "strings"

// Table aligns cells in columns by their display width.
type Table struct {
	rows [][]cell
	w    []int
}

type cell struct {
	text  string
	paint func(string) string
}

// Row adds a row of plain cells.
func (t *Table) Row(cells ...string) {
	row := make([]cell, len(cells))
	for i, c := range cells {
		row[i].text = c
	}
	t.add(row)
}

// Painted adds a row whose first cell is decorated by paint after it was measured.
func (t *Table) Painted(paint func(string) string, cells ...string) {
	t.Row(cells...)
	t.rows[len(t.rows)-1][0].paint = paint
}

func (t *Table) add(row []cell) {
	for i, c := range row {
		if i == len(t.w) {
			t.w = append(t.w, 0)
		}
		t.w[i] = max(t.w[i], Width(c.text))
	}
	t.rows = append(t.rows, row)
}

// Lines returns the rows with two blanks between columns. The last column is not padded; with width above 0 it is
// wrapped so that no line is wider, and what is wrapped is aligned under its column.
func (t *Table) Lines(width int) []string {
	var out []string
	for _, row := range t.rows {
		var b strings.Builder
		at := 0
		for i, c := range row {
			text := c.text
			if i == len(row)-1 {
				out = append(out, lastCell(&b, text, c.paint, at, width)...)
				break
			}
			if c.paint != nil {
				b.WriteString(c.paint(text))
			} else {
				b.WriteString(text)
			}
			b.WriteString(strings.Repeat(" ", t.w[i]-Width(text)+2))
			at += t.w[i] + 2
		}
	}
	return out
}

func lastCell(b *strings.Builder, text string, paint func(string) string, at, width int) []string {
	if paint == nil {
		paint = func(s string) string { return s }
	}
	lines := []string{text}
	if width > 0 && width-at >= 20 {
		lines = Wrap(text, width-at)
	}
	out := []string{strings.TrimRight(b.String()+paint(lines[0]), " ")}
	for _, l := range lines[1:] {
		out = append(out, strings.Repeat(" ", at)+paint(l))
	}
	return out
}
