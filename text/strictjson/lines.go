package strictjson

import "unicode/utf8"

// Lines tells lines and columns of a text. It is quickest when it is asked for places in their order, and not safe for use by
// several goroutines at once.
type Lines struct {
	Text      []byte
	at        int // the place that was asked for last
	line, col int // of it, from 0
}

// At returns the line and the column of an offset, both from 1, columns in characters. What lies behind the text is at its end.
func (l *Lines) At(offset int) (line, column int) {
	if offset < l.at {
		l.at, l.line, l.col = 0, 0, 0
	}
	for l.at < offset && l.at < len(l.Text) {
		c, n := utf8.DecodeRune(l.Text[l.at:])
		l.at += n
		l.col++
		if c == '\n' {
			l.line, l.col = l.line+1, 0
		}
	}
	return l.line + 1, l.col + 1
}
