package strictjson

import (
	"bytes"
	"unicode/utf8"
)

// Lines tells lines and columns of a text. It is quickest when it is asked for places in their order, and not safe for
// use by several goroutines at once.
type Lines struct {
	Text      []byte
	at        int // the place that was asked for last
	line, col int // of it, from 0
}

// At returns the line and the column of an offset, both from 1, columns in characters. What lies behind the text is at
// its end.
func (l *Lines) At(offset int) (line, column int) {
	offset = min(offset, len(l.Text))
	if offset < l.at {
		l.at, l.line, l.col = 0, 0, 0
	}
	passed := l.Text[l.at:offset]
	if last := bytes.LastIndexByte(passed, '\n'); last >= 0 {
		l.line, l.col = l.line+bytes.Count(passed, []byte("\n")), 0
		passed = passed[last+1:]
	}
	l.at, l.col = offset, l.col+utf8.RuneCount(passed)
	return l.line + 1, l.col + 1
}

// FirstInvalid returns the offset of the first byte of a text that is not UTF-8, or -1.
func FirstInvalid(text []byte) int {
	if utf8.Valid(text) {
		return -1
	}
	at := 0
	for r, n := utf8.DecodeRune(text); r != utf8.RuneError || n != 1; r, n = utf8.DecodeRune(text[at:]) {
		at += n
	}
	return at
}
