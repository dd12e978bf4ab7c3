package contextpack

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// lexer goes through a source and tells words in code from words in comments and strings.
type lexer struct {
	data  []byte
	style style
	lang  language
	line  int
	emit  func(word []byte, line int, code bool) bool
	full  bool
}

// scanWords calls emit for every word of a text: letters, digits and underscores, and two neighbouring characters at a
// time in scripts without spaces. Line counts from 1. It ends when emit answers false. The word belongs to the caller
// for the time of the call only.
func scanWords(data []byte, l language, emit func(word []byte, line int, code bool) bool) {
	x := lexer{data: data, style: styles[l], lang: l, line: 1, emit: emit}
	for i := 0; i < len(data) && !x.full; {
		i = x.step(i)
	}
}

// step handles what begins at i and returns what is behind it.
func (x *lexer) step(i int) int {
	d := x.data
	c := d[i]
	switch {
	case isWord(c):
		return x.word(i, true)
	case c == '\n':
		x.line++
		return i + 1
	case x.style.line != "" && c == x.style.line[0] && bytes.HasPrefix(d[i:], []byte(x.style.line)),
		x.style.line2 != "" && c == x.style.line2[0]:
		end := bytes.IndexByte(d[i:], '\n')
		if end < 0 {
			end = len(d) - i
		}
		return x.text(i, i+end)
	case x.style.block && c == '/' && i+1 < len(d) && d[i+1] == '*':
		end := bytes.Index(d[i+2:], []byte("*/"))
		if end < 0 {
			return x.text(i, len(d))
		}
		return x.text(i, i+2+end+2)
	case x.style.quote != "" && bytes.IndexByte([]byte(x.style.quote), c) >= 0:
		return x.text(i, x.closing(i))
	}
	return i + 1
}

// closing returns the end of the string that begins at i. One that its line does not close ends with the line, unless
// its quotes may span lines.
func (x *lexer) closing(i int) int {
	d, c := x.data, x.data[i]
	if x.lang == python && i+2 < len(d) && d[i+1] == c && d[i+2] == c {
		if end := bytes.Index(d[i+3:], []byte{c, c, c}); end >= 0 {
			return i + 3 + end + 3
		}
		return len(d)
	}
	for j := i + 1; j < len(d); j++ {
		switch {
		case d[j] == c:
			return j + 1
		case d[j] == '\\' && !(c == '`' && x.lang == golang):
			j++
		case d[j] == '\n' && c != '`':
			return j
		}
	}
	return len(d)
}

// text handles a comment or a string.
func (x *lexer) text(i, end int) int {
	end = min(end, len(x.data))
	for i < end && !x.full {
		switch c := x.data[i]; {
		case isWord(c):
			i = x.word(i, false)
		case c == '\n':
			x.line++
			i++
		default:
			i++
		}
	}
	return i
}

// word handles the word that begins at i.
func (x *lexer) word(i int, code bool) int {
	d, start := x.data, i
	for i < len(d) && isWord(d[i]) {
		if d[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, size := utf8.DecodeRune(d[i:])
		if cjk(r) {
			x.put(d[start:i], code)
			i = x.pairs(i)
			start = i
			continue
		}
		if r == utf8.RuneError || !unicode.IsLetter(r) && !unicode.IsMark(r) {
			x.put(d[start:i], code)
			i += size
			start = i
			continue
		}
		i += size
	}
	x.put(d[start:i], code)
	return i
}

func (x *lexer) put(word []byte, code bool) {
	if len(word) < 2 || len(word) > maxWord || word[0] >= '0' && word[0] <= '9' && len(word) > 6 || x.full {
		return
	}
	x.full = !x.emit(word, x.line, code)
}

// pairs handles a run of characters that are written without spaces.
func (x *lexer) pairs(i int) int {
	d := x.data
	last, n := i, 0
	for i < len(d) {
		r, size := utf8.DecodeRune(d[i:])
		if !cjk(r) {
			break
		}
		if n > 0 {
			x.put(d[last:i+size], false)
		}
		last = i
		i += size
		n++
	}
	if n == 1 {
		x.put(d[last:i], false)
	}
	return i
}
