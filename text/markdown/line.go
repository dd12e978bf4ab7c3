package markdown

import "strings"

// Heading reads a heading of the form # title, which at most three spaces may stand before.
func Heading(line string) (level int, title string, ok bool) {
	s := strings.TrimLeft(line, " ")
	if len(line)-len(s) > 3 {
		return 0, "", false
	}
	rest := strings.TrimLeft(s, "#")
	level = len(s) - len(rest)
	if level == 0 || level > 6 || rest != "" && rest[0] != ' ' && rest[0] != '\t' {
		return 0, "", false
	}
	return level, strings.TrimSpace(rest), true
}

// Heading reads the row as a heading; in code and in comments there are none, and the level is 0.
func (r Row) Heading() (level int, title string) {
	if r.Kind == Prose {
		level, title, _ = Heading(r.Text)
	}
	return level, title
}

// Indent returns the column at which the text of a line begins; a tab reaches the next multiple of four.
func Indent(line string) (n int) {
	for _, r := range line {
		switch r {
		case ' ':
			n++
		case '\t':
			n += 4 - n%4
		default:
			return n
		}
	}
	return n
}

// Outdent takes blanks off the beginning of a line, up to a column.
func Outdent(line string, column int) string {
	for n := 0; n < column && line != "" && (line[0] == ' ' || line[0] == '\t'); line = line[1:] {
		if n++; line[0] == '\t' {
			n = (n + 3) / 4 * 4
		}
	}
	return line
}

// Cells reads a row of a table: its cells without the blanks around them, and what stands behind the last bar, which is
// a cell that nobody ended. A bar behind a backslash belongs to its cell. A line that does not begin with a bar is no
// row.
func Cells(line string) (cells []string, rest string, ok bool) {
	if rest, ok = strings.CutPrefix(strings.TrimSpace(line), "|"); !ok {
		return nil, "", false
	}
	from, odd := 0, false // odd: behind an odd number of backslashes
	for i := range len(rest) {
		if rest[i] == '|' && !odd {
			cells = append(cells, strings.TrimSpace(rest[from:i]))
			from = i + 1
		}
		odd = rest[i] == '\\' && !odd
	}
	return cells, strings.TrimSpace(rest[from:]), true
}

// Rule reports whether a line is the one between the head and the rows of a table.
func Rule(line string) bool {
	line = strings.TrimSpace(line)
	return strings.HasPrefix(line, "|") && strings.Contains(line, "-") && strings.Trim(line, "|-: \t") == ""
}
