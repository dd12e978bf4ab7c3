// Package term draws text for a terminal: display width of characters, padding, wrapping, colour and symbols.
// It knows nothing of pawl, keeps no state outside its values and writes only where it is told to.
package term

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// wide lists the ranges that terminals draw two columns wide: East Asian Wide and Fullwidth, and emoji.
var wide = [][2]rune{
	{0x1100, 0x115f}, {0x231a, 0x231b}, {0x2329, 0x232a}, {0x23e9, 0x23ec}, {0x23f0, 0x23f0}, {0x23f3, 0x23f3}, {0x25fd,
		0x25fe},
	{0x2614, 0x2615}, {0x2648, 0x2653}, {0x267f, 0x267f}, {0x2693, 0x2693}, {0x26a1, 0x26a1}, {0x26aa, 0x26ab}, {0x26bd,
		0x26be},
	{0x26c4, 0x26c5}, {0x26ce, 0x26ce}, {0x26d4, 0x26d4}, {0x26ea, 0x26ea}, {0x26f2, 0x26f3}, {0x26f5, 0x26f5}, {0x26fa,
		0x26fa},
	{0x26fd, 0x26fd}, {0x2705, 0x2705}, {0x270a, 0x270b}, {0x2728, 0x2728}, {0x274c, 0x274c}, {0x274e, 0x274e}, {0x2753,
		0x2755},
	{0x2757, 0x2757}, {0x2795, 0x2797}, {0x27b0, 0x27b0}, {0x27bf, 0x27bf}, {0x2b1b, 0x2b1c}, {0x2b50, 0x2b50}, {0x2b55,
		0x2b55},
	{0x2e80, 0x303e}, {0x3041, 0x33ff}, {0x3400, 0x4dbf}, {0x4e00, 0x9fff}, {0xa000, 0xa4cf}, {0xa960, 0xa97f}, {0xac00,
		0xd7a3},
	{0xf900, 0xfaff}, {0xfe30, 0xfe6f}, {0xff00, 0xff60}, {0xffe0, 0xffe6}, {0x1f004, 0x1f004}, {0x1f0cf,
		0x1f0cf}, {0x1f18e, 0x1f18e},
	{0x1f191, 0x1f19a}, {0x1f200, 0x1f265}, {0x1f300, 0x1f64f}, {0x1f680, 0x1f6ff}, {0x1f7e0, 0x1f7f0}, {0x1f900,
		0x1faff},
	{0x20000, 0x3fffd},
}

// Width returns how many columns s takes. Combining marks, format characters and what decorates text (Style) take none;
// s is expected to hold no other control characters.
func Width(s string) int {
	if strings.Contains(s, "\x1b") {
		s = ansi.Strip(s)
	}
	n := 0
	for _, r := range s {
		n += runeWidth(r)
	}
	return n
}

func runeWidth(r rune) int {
	if r < 0x300 {
		return 1
	}
	if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
		return 0
	}
	for _, w := range wide {
		if r < w[0] {
			return 1
		}
		if r <= w[1] {
			return 2
		}
	}
	return 1
}

// Pad appends blanks until s is w columns wide. A wider text stays as it is.
func Pad(s string, w int) string {
	if n := w - Width(s); n > 0 {
		return s + strings.Repeat(" ", n)
	}
	return s
}

// Clip shortens s to w columns; what is cut off is shown by the mark, which counts. A text that fits stays as it is.
func Clip(s string, w int, mark string) string {
	if Width(s) <= w {
		return s
	}
	room := max(0, w-Width(mark))
	n := 0
	for i, r := range s {
		n += runeWidth(r)
		if n > room {
			return s[:i] + mark
		}
	}
	return s
}

// Hang wraps text that begins behind a head that takes at columns, and indents what does not fit in the first line by
// as much. With most above 0 no more lines than that are kept, and the mark says so.
func Hang(text string, at, w, most int, mark string) []string {
	lines := Wrap(text, w-at)
	if most > 0 && len(lines) > most {
		lines = lines[:most]
		lines[most-1] = Clip(lines[most-1], max(w-at, 8)-Width(mark), "") + mark
	}
	for i := 1; i < len(lines); i++ {
		lines[i] = strings.Repeat(" ", at) + lines[i]
	}
	return lines
}

// Wrap breaks s into lines of at most w columns: at blanks, and beside wide characters, but never so that a line begins
// with a mark that closes something or ends with one that opens it. A word is broken only where it does not fit in a
// line of its own. Nothing of s but the blank at which a line breaks is left out, so that a reader sees all of it.
func Wrap(s string, w int) []string {
	w = max(w, 8)
	var out []string
	for Width(s) > w {
		end, next := lineEnd(s, w)
		out, s = append(out, s[:end]), s[next:]
	}
	return append(out, s)
}

// lineEnd says where the first line of s ends and where the next one begins. S is wider than w.
func lineEnd(s string, w int) (end, next int) {
	var last rune
	n, full := 0, 0
	for i, r := range s {
		switch {
		case r == ' ' && i > 0:
			// A blank just behind a full line is where it ends as well.
			end, next = i, i+1
		case i > 0 && mayBreak(last, r):
			end, next = i, i
		}
		if n += runeWidth(r); n > w {
			full = i
			break
		}
		last = r
	}
	if end == 0 {
		if full == 0 {
			_, full = utf8.DecodeRuneInString(s)
		}
		return full, full
	}
	return end, next
}

// The marks that a line does not begin with, and those that it does not end with.
const (
	closing = "，。、；：？！）》〉】」』”’…·,.;:?!)]}"
	opening = "（《〈【「『“‘([{"
)

// mayBreak reports whether a line may end between two characters: beside a wide one, where neither is a mark that stays
// with the other.
func mayBreak(last, r rune) bool {
	if last == ' ' || runeWidth(last) < 2 && runeWidth(r) < 2 {
		return false
	}
	return !strings.ContainsRune(closing, r) && !strings.ContainsRune(opening, last)
}
