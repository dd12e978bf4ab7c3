package llm

import (
	"io"
	"strings"
	"unicode"
)

// maxLine is the length from which a line is told of although it did not end yet, in bytes.
const maxLine = 400

// lines makes lines for people of the pieces in which a model speaks.
type lines struct {
	out  func(string)
	log  io.Writer // is given all of it, as it comes
	open strings.Builder
}

func (l *lines) add(text string) {
	_, _ = io.WriteString(l.log, text)
	for {
		head, rest, ended := strings.Cut(text, "\n")
		l.open.WriteString(head)
		if ended || l.open.Len() >= maxLine {
			l.end()
		}
		if !ended {
			return
		}
		text = rest
	}
}

// end tells of what is left.
func (l *lines) end() {
	said := line(l.open.String())
	l.open.Reset()
	if said != "" {
		l.out(said)
	}
}

// line is a text of somebody else as one line that is safe to print: nothing in it moves a cursor or turns the
// direction.
func line(text string) string {
	return strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsGraphic(r):
			return r
		}
		return -1
	}, text)), " ")
}
