package tui

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// line is a text that is being edited. The cursor is a place in bytes and always stands between two characters as a
// person sees them. The zero line is empty.
type line struct {
	text string
	at   int
	kill string // what was cut last
	run  bool   // the last change was a cut, and the next one joins it
}

func (l *line) set(text string) { l.text, l.at, l.run = text, len(text), false }

func (l *line) insert(text string) {
	l.text = l.text[:l.at] + text + l.text[l.at:]
	l.at += len(text)
	l.run = false
	l.settle()
}

// settle moves the cursor behind a character that what stands around it became a part of.
func (l *line) settle() { _, l.at = l.around(l.at) }

// around returns the places between characters that are next to a place in bytes, before and behind it.
func (l *line) around(at int) (before, behind int) {
	next := strings.LastIndexByte(l.text[:at], '\n') + 1
	for next < at {
		before = next
		next += clusterEnd(l.text[next:])
	}
	if next == at {
		before = at
	}
	return before, next
}

func (l *line) left() { l.move(l.before()) }

func (l *line) right() {
	if l.at < len(l.text) {
		l.move(l.at + clusterEnd(l.text[l.at:]))
	}
}

func (l *line) move(at int) { l.at, l.run = at, false }

func (l *line) before() int { return lastCluster(l.text[:l.at]) }

// home and end go to the ends of the row that the cursor stands in; at such an end, to those of the whole text.
func (l *line) home() {
	if at := l.rowStart(); at < l.at {
		l.move(at)
		return
	}
	l.move(0)
}

func (l *line) end() {
	if at := l.rowEnd(); at > l.at {
		l.move(at)
		return
	}
	l.move(len(l.text))
}

func (l *line) rowStart() int { return strings.LastIndexByte(l.text[:l.at], '\n') + 1 }

func (l *line) rowEnd() int {
	if i := strings.IndexByte(l.text[l.at:], '\n'); i >= 0 {
		return l.at + i
	}
	return len(l.text)
}

// up and down move between the rows of a text of several; they report whether there was one.
func (l *line) up() bool {
	start := l.rowStart()
	if start == 0 {
		return false
	}
	above := strings.LastIndexByte(l.text[:start-1], '\n') + 1
	l.move(above + columnBytes(l.text[above:start-1], columns(l.text[start:l.at])))
	return true
}

func (l *line) down() bool {
	end := l.rowEnd()
	if end == len(l.text) {
		return false
	}
	at := columns(l.text[l.rowStart():l.at])
	below, _, _ := strings.Cut(l.text[end+1:], "\n")
	l.move(end + 1 + columnBytes(below, at))
	return true
}

// columns returns how many columns a row takes when it is drawn.
func columns(row string) int {
	sum := 0
	for row != "" {
		n := clusterEnd(row)
		_, w := shown(row[:n])
		sum += w
		row = row[n:]
	}
	return sum
}

// columnBytes returns where in a row the column is.
func columnBytes(row string, column int) int {
	at := 0
	for at < len(row) {
		n := clusterEnd(row[at:])
		_, w := shown(row[at : at+n])
		if column -= w; column < 0 {
			break
		}
		at += n
	}
	return at
}

// kind tells words from what stands between them. Chinese and Japanese write no blanks between words, so a run of their
// letters counts as one, as marks end it often enough.
type kind int

const (
	blank kind = iota
	mark
	word
	ideograph
)

func kindOf(r rune) kind {
	switch {
	case unicode.IsSpace(r):
		return blank
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana):
		return ideograph
	case unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r), r == '_':
		return word
	}
	return mark
}

func (l *line) wordLeft() int {
	at := l.at
	back := func(k kind) {
		for at > 0 {
			r, n := utf8.DecodeLastRuneInString(l.text[:at])
			if kindOf(r) != k {
				return
			}
			at -= n
		}
	}
	back(blank)
	back(mark)
	back(blank)
	if at > 0 {
		r, _ := utf8.DecodeLastRuneInString(l.text[:at])
		back(kindOf(r))
	}
	at, _ = l.around(at)
	return at
}

func (l *line) wordRight() int {
	at := l.at
	forth := func(k kind) {
		for at < len(l.text) {
			r, n := utf8.DecodeRuneInString(l.text[at:])
			if kindOf(r) != k {
				return
			}
			at += n
		}
	}
	forth(blank)
	forth(mark)
	forth(blank)
	if at < len(l.text) {
		r, _ := utf8.DecodeRuneInString(l.text[at:])
		forth(kindOf(r))
	}
	_, at = l.around(at)
	return at
}

// blankLeft returns where the run of characters without a blank before the cursor begins.
func (l *line) blankLeft() int {
	at := len(strings.TrimRightFunc(l.text[:l.at], unicode.IsSpace))
	at, _ = l.around(len(strings.TrimRightFunc(l.text[:at], func(r rune) bool { return !unicode.IsSpace(r) })))
	return at
}

// erase takes a part out without keeping it.
func (l *line) erase(from, to int) {
	l.text = l.text[:from] + l.text[to:]
	l.at, l.run = from, false
	l.settle()
}

// cutOut takes a part out and keeps it for yank. Cuts that follow each other are kept as one text.
func (l *line) cutOut(from, to int) {
	if from == to {
		return
	}
	part := l.text[from:to]
	switch {
	case !l.run:
		l.kill = part
	case from < l.at:
		l.kill = part + l.kill
	default:
		l.kill += part
	}
	l.erase(from, to)
	l.run = true
}

// killRight cuts to the end of the row, or its line break where the cursor stands before one.
func (l *line) killRight() {
	end := l.rowEnd()
	if end == l.at && end < len(l.text) {
		end++
	}
	l.cutOut(l.at, end)
}

func (l *line) killLeft() {
	start := l.rowStart()
	if start == l.at && start > 0 {
		start--
	}
	l.cutOut(start, l.at)
}

// edit does what a key does to a text, and reports whether the key is one of editing.
func (l *line) edit(k key) bool {
	switch k.name {
	case keyText, keyPaste:
		l.insert(clean(k.text))
	case "left", "ctrl+b":
		l.left()
	case "right", "ctrl+f":
		l.right()
	case "home", "ctrl+a":
		l.home()
	case "end", "ctrl+e":
		l.end()
	case "alt+b", "ctrl+left", "alt+left":
		l.move(l.wordLeft())
	case "alt+f", "ctrl+right", "alt+right":
		l.move(l.wordRight())
	case "backspace", "ctrl+h":
		l.erase(l.before(), l.at)
	case "delete":
		l.erase(l.at, l.at+clusterEnd(l.text[l.at:]))
	case "ctrl+k":
		l.killRight()
	case "ctrl+u":
		l.killLeft()
	case "ctrl+w":
		l.cutOut(l.blankLeft(), l.at)
	case "alt+backspace":
		l.cutOut(l.wordLeft(), l.at)
	case "alt+d", "ctrl+delete":
		l.cutOut(l.at, l.wordRight())
	case "ctrl+y":
		l.insert(l.kill)
	case "alt+enter":
		l.insert("\n")
	default:
		return false
	}
	return true
}
