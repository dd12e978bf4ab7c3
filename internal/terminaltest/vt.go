// Package terminaltest lets tests sit before a terminal: a pseudo-terminal whose other end is a screen of cells, so
// that what a person would see can be judged.
package terminaltest

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// VT is as much of a terminal as pawl uses: a screen of cells with a cursor, lines that wrap late as on real ones, and
// what scrolled off the top. Whatever it does not know shows up in Bad, which a test judges.
type VT struct {
	w, h   int
	cells  [][]string // "" behind a wide character
	Off    []string   // what scrolled off
	x, y   int
	late   bool // the cursor stands behind the last column
	nowrap bool
	hidden bool
	modes  map[string]bool
	other  *VT // the screen that was left for another one
	top    int // of the region that scrolls
	bottom int // its end, 0 for the whole screen
	rest   []byte
	// Bad is what it did not understand.
	Bad []string
}

// NewVT returns an empty screen.
func NewVT(w, h int) *VT {
	v := &VT{w: w, h: h, modes: map[string]bool{}}
	v.Clear()
	return v
}

// Clear empties the screen.
func (v *VT) Clear() {
	v.cells = nil
	for range v.h {
		v.cells = append(v.cells, v.emptyRow())
	}
}

// Resize breaks the lines anew, as terminals do, and keeps the cursor at its character.
func (v *VT) Resize(w, h int) {
	if w == v.w && h == v.h {
		return
	}
	if v.other != nil {
		// The screen that a program has for itself is not broken anew.
		v.other.Resize(w, h)
		v.w, v.h = w, h
		v.Clear()
		return
	}
	old, at := v.cells, v.y
	was := *v
	*v = VT{w: w, h: h, modes: was.modes, nowrap: was.nowrap, hidden: was.hidden, rest: was.rest, Off: was.Off,
		Bad: was.Bad}
	v.Clear()
	last := len(old) - 1
	for last > at && rowText(old[last]) == "" {
		last--
	}
	x, y, off := 0, 0, 0
	for n, row := range old[:last+1] {
		text := []rune(rowText(row))
		if n == at {
			for len(text) < was.x {
				text = append(text, ' ')
			}
		}
		if n > 0 {
			v.x, v.late = 0, false
			v.down()
		}
		cells := 0
		for _, c := range text {
			if n == at && cells == was.x {
				x, y, off = v.x, v.y, len(v.Off)
				if v.late {
					x = v.w
				}
			}
			_, cols := ansi.FirstGraphemeCluster(string(c), ansi.GraphemeWidth)
			v.put(string(c), cols)
			cells += cols
		}
		if n == at && cells <= was.x {
			x, y, off = v.x, v.y, len(v.Off)
			if v.late {
				x = v.w
			}
		}
	}
	v.x, v.y, v.late = x, max(0, y-(len(v.Off)-off)), false
	if v.x >= v.w {
		v.x, v.late = v.w-1, true
	}
}

func (v *VT) emptyRow() []string {
	row := make([]string, v.w)
	for i := range row {
		row[i] = " "
	}
	return row
}

func (v *VT) down() {
	if v.y < v.h-1 {
		v.y++
		return
	}
	v.Off = append(v.Off, rowText(v.cells[0]))
	v.cells = append(v.cells[1:], v.emptyRow())
}

func rowText(row []string) string { return strings.TrimRight(strings.Join(row, ""), " ") }

// Write implements io.Writer.
func (v *VT) Write(p []byte) (int, error) {
	v.rest = append(v.rest, p...)
	for len(v.rest) > 0 {
		n := v.step(v.rest)
		if n == 0 {
			break
		}
		v.rest = v.rest[n:]
	}
	return len(p), nil
}

func (v *VT) step(p []byte) int {
	switch p[0] {
	case '\r':
		v.x, v.late = 0, false
		return 1
	case '\n':
		v.late = false
		v.down()
		return 1
	case '\b':
		v.x = max(0, v.x-1)
		return 1
	case '\t':
		v.x = min(v.w-1, v.x/8*8+8)
		return 1
	case 7:
		return 1
	case 0x1b:
		return v.escape(p)
	}
	if !utf8.FullRune(p) {
		return 0
	}
	text, cols := ansi.FirstGraphemeCluster(string(p), ansi.GraphemeWidth)
	n := len(text)
	if p[0] < ' ' || p[0] == 0x7f {
		v.Bad = append(v.Bad, fmt.Sprintf("%q", text))
	}
	v.put(string(p[:n]), cols)
	return n
}

func (v *VT) put(text string, cols int) {
	if cols == 0 {
		return // a mark with nothing before it
	}
	if v.late || v.x+cols > v.w {
		if v.nowrap {
			v.Bad = append(v.Bad, "beyond the edge: "+text)
			return
		}
		v.x, v.late = 0, false
		v.down()
	}
	v.cells[v.y][v.x] = text
	for i := 1; i < cols; i++ {
		v.cells[v.y][v.x+i] = ""
	}
	v.x += cols
	if v.x >= v.w {
		v.x, v.late = v.w-1, true
	}
}

func (v *VT) escape(p []byte) int {
	if len(p) > 1 && p[1] == 'M' {
		v.y = max(0, v.y-1)
		return 2
	}
	if len(p) < 3 {
		return 0
	}
	if p[1] != '[' {
		v.Bad = append(v.Bad, fmt.Sprintf("%q", p[:2]))
		return 2
	}
	end := 2
	for end < len(p) && (p[end] < 0x40 || p[end] > 0x7e) {
		end++
	}
	if end == len(p) {
		return 0
	}
	v.control(string(p[2:end]), p[end])
	return end + 1
}

func (v *VT) control(arg string, c byte) {
	var a, b int
	_, _ = fmt.Sscanf(arg, "%d;%d", &a, &b)
	v.late = v.late && c == 'm'
	switch c {
	case 'r':
		v.top, v.bottom = max(0, a-1), min(max(b, 0), v.h)
		v.x, v.y = 0, 0
	case 'm':
	case 'h', 'l':
		v.mode(arg, c == 'h')
	default:
		if !v.move(c, a, b) && !v.edit(c, a) {
			v.Bad = append(v.Bad, arg+string(c))
		}
	}
}

// move moves the cursor. It reports whether that is what a sequence means.
func (v *VT) move(c byte, a, b int) bool {
	switch c {
	case 'A':
		v.y = max(0, v.y-max(1, a))
	case 'B':
		v.y = min(v.h-1, v.y+max(1, a))
	case 'C':
		v.x = min(v.w-1, v.x+max(1, a))
	case 'D':
		v.x = max(0, v.x-max(1, a))
	case 'G':
		v.x = min(max(1, a), v.w) - 1
	case 'd':
		v.y = min(max(1, a), v.h) - 1
	case 'H':
		v.y, v.x = min(max(1, a), v.h)-1, min(max(1, b), v.w)-1
	default:
		return false
	}
	return true
}

// edit changes what stands at the cursor, or all rows. It reports whether that is what a sequence means, and it knows
// how.
func (v *VT) edit(c byte, a int) bool {
	switch c {
	case 'X':
		for x := v.x; x < min(v.w, v.x+max(1, a)); x++ {
			v.cells[v.y][x] = " "
		}
	case 'P', '@':
		row := v.cells[v.y]
		for range min(max(1, a), v.w-v.x) {
			if c == 'P' {
				copy(row[v.x:], row[v.x+1:])
				row[v.w-1] = " "
				continue
			}
			copy(row[v.x+1:], row[v.x:v.w-1])
			row[v.x] = " "
		}
	case 'M':
		for range min(max(1, a), v.h-v.y) {
			copy(v.cells[v.y:], v.cells[v.y+1:])
			v.cells[v.h-1] = v.emptyRow()
		}
	case 'L':
		for range min(max(1, a), v.h-v.y) {
			v.cells = append(v.cells[:v.h-1:v.h-1], v.emptyRow())
			copy(v.cells[v.y+1:], v.cells[v.y:v.h-1])
			v.cells[v.y] = v.emptyRow()
		}
	case 'S', 'T':
		for range max(1, a) {
			v.scroll(c == 'S')
		}
	case 'J':
		switch a {
		case 0:
			v.erase()
			for y := v.y + 1; y < v.h; y++ {
				v.cells[y] = v.emptyRow()
			}
		case 2:
			v.Clear()
		}
	case 'K':
		return v.eraseRow(a)
	default:
		return false
	}
	return true
}

// scroll moves the rows of the region by one, up or down.
func (v *VT) scroll(up bool) {
	end := v.bottom
	if end == 0 {
		end = v.h
	}
	rows := v.cells[v.top:end]
	if up {
		copy(rows, rows[1:])
		rows[len(rows)-1] = v.emptyRow()
		return
	}
	copy(rows[1:], rows)
	rows[0] = v.emptyRow()
}

func (v *VT) erase() {
	for x := v.x; x < v.w; x++ {
		v.cells[v.y][x] = " "
	}
}

// eraseRow erases the rest of the row, what is before the cursor with it, or all of it; the cursor stays. It reports
// whether it knows how.
func (v *VT) eraseRow(how int) bool {
	from, to := v.x, v.w
	switch how {
	case 0:
	case 1:
		from, to = 0, min(v.x+1, v.w)
	case 2:
		from = 0
	default:
		return false
	}
	for x := from; x < to; x++ {
		v.cells[v.y][x] = " "
	}
	return true
}

func (v *VT) mode(name string, on bool) {
	v.modes[name] = on
	switch name {
	case "?7":
		v.nowrap = !on
	case "?25":
		v.hidden = !on
	case "?1049":
		if on && v.other == nil {
			saved := *v
			v.other = &saved
			v.x, v.y = 0, 0
			v.Clear()
		} else if !on && v.other != nil {
			v.cells, v.x, v.y, v.other = v.other.cells, v.other.x, v.other.y, nil
		}
	case "?2004", "?2027":
	default:
		v.Bad = append(v.Bad, name)
	}
}

// Screen is the text on the screen, with what scrolled off above it and without the blank lines at the end. The cursor
// is shown as ▮ when it is visible.
func (v *VT) Screen() string {
	var out []string
	for y, row := range v.cells {
		if y == v.y && !v.hidden {
			row = append([]string(nil), row...)
			row[v.x] = "▮"
		}
		out = append(out, rowText(row))
	}
	return strings.TrimRight(strings.Join(append(append([]string(nil), v.Off...), out...), "\n"), "\n") + "\n"
}
