package markdown

import "strings"

// Kind is what a line is.
type Kind uint8

// The kinds of lines.
const (
	Prose   Kind = iota
	Code         // inside of a fenced block
	Border       // the first or last line of one
	Comment      // of HTML, which no reader of the document sees
)

// Comments says where a comment of HTML may begin.
type Comments uint8

// The places where comments may begin. One at the beginning of a line takes the whole line, and that on which it ends;
// one within a line is cut out of it.
const (
	NoComments Comments = iota
	AtLines
	WithinLines
)

// Rules are what the documents that are read take differently.
type Rules struct {
	Comments Comments
	// Fence says whether the row of signs, with what stands behind it, begins a block of code; nil stands for every row
	// that Fence reads.
	Fence func(row, info string) bool
}

// Scanner tells line by line what the lines of a document are. The zero Scanner takes every fence and no comment.
type Scanner struct {
	Rules
	row     string // opened the block of code, "" outside of one
	comment bool
	line    int
	began   int // the line in which the last block or comment began
}

// Next takes the next line, without its break. It returns what is left of it without comments, and its kind. Spaces and
// tabs around a fence do not count.
func (s *Scanner) Next(line string) (string, Kind) {
	s.line++
	if s.row != "" {
		if closes(line, s.row) {
			s.row = ""
			return line, Border
		}
		return line, Code
	}
	line, seen := s.uncomment(line)
	if !seen {
		return line, Comment
	}
	if row, info := Fence(strings.TrimLeft(line, " \t")); row != "" &&
		(s.Rules.Fence == nil || s.Rules.Fence(row, info)) {
		s.row, s.began = row, s.line
		return line, Border
	}
	return line, Prose
}

// InCode reports whether the next line stands in a block of code, or ends it.
func (s *Scanner) InCode() bool { return s.row != "" }

// Row returns the row of signs that ends the open block of code, "" outside of one.
func (s *Scanner) Row() string { return s.row }

// Open returns the line, from 1, in which a block or a comment began that has not ended, and 0 for none.
func (s *Scanner) Open() int {
	if s.row == "" && !s.comment {
		return 0
	}
	return s.began
}

// uncomment returns what is left of a line without comments, and whether it is anything.
func (s *Scanner) uncomment(line string) (rest string, seen bool) {
	switch {
	case s.Comments == NoComments:
		return line, true
	case s.Comments == AtLines:
		if s.comment {
			s.comment = !strings.Contains(line, "-->")
			return line, false
		}
		if strings.HasPrefix(strings.TrimLeft(line, " \t"), "<!--") {
			s.comment, s.began = !strings.Contains(line, "-->"), s.line
			return line, false
		}
		return line, true
	case s.comment:
		_, rest, ends := strings.Cut(line, "-->")
		if !ends {
			return "", false
		}
		s.comment, line = false, rest
	}
	for {
		before, rest, begins := strings.Cut(line, "<!--")
		if !begins {
			return line, true
		}
		_, after, ends := strings.Cut(rest, "-->")
		if line = before + after; !ends {
			s.comment, s.began = true, s.line
			return line, true
		}
	}
}

// Fence returns the row of at least three backticks or tildes with which a line begins, and what stands behind it; ""
// for a line that opens no block of code. Backticks behind backticks make a span of code.
func Fence(line string) (row, info string) {
	if line == "" || line[0] != '`' && line[0] != '~' {
		return "", ""
	}
	info = strings.TrimLeft(line, line[:1])
	if row = line[:len(line)-len(info)]; len(row) < 3 || row[0] == '`' && strings.Contains(info, "`") {
		return "", ""
	}
	return row, info
}

// closes reports whether a line ends the block that a row of signs opened: it holds nothing but a row of the same sign
// that is at least as long.
func closes(line, row string) bool {
	line = strings.Trim(line, " \t")
	return len(line) >= len(row) && strings.Trim(line, row[:1]) == ""
}

// Row is a line of a text: its number, from 1, its content, and its kind.
type Row struct {
	N    int
	Text string
	Kind Kind
}

// Rows returns the lines of a text, and the line at which a block of code or a comment begins that nothing ends, or 0:
// all that follows belongs to it. Blanks of every kind may stand around a fence.
func (t Text) Rows(r Rules) (rows []Row, open int) {
	s := Scanner{Rules: r}
	rows = make([]Row, 0, len(t.Lines))
	for i := range t.Lines {
		text := t.Content(i)
		_, kind := s.Next(strings.TrimSpace(text))
		rows = append(rows, Row{i + 1, text, kind})
	}
	return rows, s.Open()
}
