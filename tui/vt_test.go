package tui

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// vt is as much of a terminal as the package uses: a screen of cells with a cursor, lines that wrap late as on real ones, and
// what scrolled off the top. Whatever it does not know fails the test by showing up in bad.
type vt struct {
	w, h   int
	cells  [][]string // "" behind a wide character
	off    []string   // what scrolled off
	x, y   int
	late   bool // the cursor stands behind the last column
	nowrap bool
	hidden bool
	modes  map[string]bool
	other  *vt // the screen that was left for another one
	top    int // of the region that scrolls
	bottom int // its end, 0 for the whole screen
	rest   []byte
	bad    []string
}

func newVT(w, h int) *vt {
	v := &vt{w: w, h: h, modes: map[string]bool{}}
	v.clear()
	return v
}

func (v *vt) clear() {
	v.cells = nil
	for range v.h {
		v.cells = append(v.cells, v.emptyRow())
	}
}

func (v *vt) emptyRow() []string {
	row := make([]string, v.w)
	for i := range row {
		row[i] = " "
	}
	return row
}

func (v *vt) down() {
	if v.y < v.h-1 {
		v.y++
		return
	}
	v.off = append(v.off, rowText(v.cells[0]))
	v.cells = append(v.cells[1:], v.emptyRow())
}

func rowText(row []string) string { return strings.TrimRight(strings.Join(row, ""), " ") }

func (v *vt) Write(p []byte) (int, error) {
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

func (v *vt) step(p []byte) int {
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
	n := clusterEnd(string(p))
	text, cols := shown(string(p[:n]))
	if p[0] < ' ' || text != string(p[:n]) {
		v.bad = append(v.bad, fmt.Sprintf("%q", p[:n]))
	}
	v.put(string(p[:n]), cols)
	return n
}

func (v *vt) put(text string, cols int) {
	if cols == 0 {
		return // a mark with nothing before it
	}
	if v.late || v.x+cols > v.w {
		if v.nowrap {
			v.bad = append(v.bad, "beyond the edge: "+text)
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

func (v *vt) escape(p []byte) int {
	if len(p) < 3 {
		return 0
	}
	if p[1] != '[' {
		v.bad = append(v.bad, fmt.Sprintf("%q", p[:2]))
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

func (v *vt) control(arg string, c byte) {
	var a, b int
	_, _ = fmt.Sscanf(arg, "%d;%d", &a, &b)
	v.late = v.late && c == 'm'
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
	case 'X':
		for x := v.x; x < min(v.w, v.x+max(1, a)); x++ {
			v.cells[v.y][x] = " "
		}
	case 'L':
		for range min(max(1, a), v.h-v.y) {
			v.cells = append(v.cells[:v.h-1:v.h-1], v.emptyRow())
			copy(v.cells[v.y+1:], v.cells[v.y:v.h-1])
			v.cells[v.y] = v.emptyRow()
		}
	case 'r':
		v.top, v.bottom = max(0, a-1), min(max(b, 0), v.h)
		v.x, v.y = 0, 0
	case 'S', 'T':
		for range max(1, a) {
			v.scroll(c == 'S')
		}
	case 'H':
		v.y, v.x = min(max(1, a), v.h)-1, min(max(1, b), v.w)-1
	case 'J':
		switch a {
		case 0:
			v.erase()
			for y := v.y + 1; y < v.h; y++ {
				v.cells[y] = v.emptyRow()
			}
		case 2:
			v.clear()
		}
	case 'K':
		if a != 0 {
			v.bad = append(v.bad, arg+string(c))
		}
		v.erase()
	case 'm':
	case 'h', 'l':
		v.mode(arg, c == 'h')
	default:
		v.bad = append(v.bad, arg+string(c))
	}
}

// scroll moves the rows of the region by one, up or down.
func (v *vt) scroll(up bool) {
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

func (v *vt) erase() {
	for x := v.x; x < v.w; x++ {
		v.cells[v.y][x] = " "
	}
}

func (v *vt) mode(name string, on bool) {
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
			v.clear()
		} else if !on && v.other != nil {
			v.cells, v.x, v.y, v.other = v.other.cells, v.other.x, v.other.y, nil
		}
	case "?2004", "?2027":
	default:
		v.bad = append(v.bad, name)
	}
}

// screen is the text on the screen, with what scrolled off above it and without the blank lines at the end. The cursor is
// shown as ▮ when it is visible.
func (v *vt) screen() string {
	var out []string
	for y, row := range v.cells {
		if y == v.y && !v.hidden {
			row = append([]string(nil), row...)
			row[v.x] = "▮"
		}
		out = append(out, rowText(row))
	}
	return strings.TrimRight(strings.Join(append(append([]string(nil), v.off...), out...), "\n"), "\n") + "\n"
}
