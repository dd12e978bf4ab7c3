//go:build linux

package main

import (
	"fmt"
	"html"
	"image/color"
	"math"
	"strings"
	"time"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"
)

// The measures of a film in pixels. A cell is as wide as most fonts of fixed width are at that size; each run of text
// says itself how wide it is, so that no font moves the columns.
const (
	fontSize   = 14.0
	cellWidth  = 8.4
	lineHeight = 18.0
	margin     = 14.0
)

// How time passes in a film: what comes within blink is one frame, nobody has to wait longer than pause, and the last
// frame stays.
const (
	blink = 80 * time.Millisecond
	pause = 2 * time.Second
	last  = 5 * time.Second
)

// ink are the colours of the screen: its ground, its text, and the first sixteen, by name of their use in any terminal.
var (
	ground = color.RGBA{0x16, 0x1b, 0x22, 0xff}
	text   = color.RGBA{0xd0, 0xd7, 0xde, 0xff}
	ink    = [16]color.RGBA{
		{0x48, 0x4f, 0x58, 0xff}, {0xff, 0x7b, 0x72, 0xff}, {0x56, 0xd3, 0x64, 0xff}, {0xe3, 0xb3, 0x41, 0xff},
		{0x79, 0xc0, 0xff, 0xff}, {0xd2, 0xa8, 0xff, 0xff}, {0x56, 0xd4, 0xdd, 0xff}, {0xd0, 0xd7, 0xde, 0xff},
		{0x6e, 0x76, 0x81, 0xff}, {0xff, 0xa1, 0x98, 0xff}, {0x7e, 0xe7, 0x87, 0xff}, {0xf2, 0xcc, 0x60, 0xff},
		{0xa5, 0xd6, 0xff, 0xff}, {0xe2, 0xc5, 0xff, 0xff}, {0xb3, 0xf0, 0xff, 0xff}, {0xf0, 0xf6, 0xfc, 0xff},
	}
)

// film is what a screen showed: frames, each of which stands for a time. Rows that are alike are kept once.
type film struct {
	screen *vt.Emulator
	w, h   int
	rows   map[string]int // a drawn row and its number
	drawn  []string
	frames []frame
	since  time.Time // when what is on the screen came there
}

type frame struct {
	rows []int // by line, 0 for an empty one
	time time.Duration
}

func newFilm(w, h int, now time.Time) *film {
	return &film{screen: vt.NewEmulator(w, h), w: w, h: h, rows: map[string]int{}, since: now}
}

// show puts on the screen what was written at a time.
func (f *film) show(p []byte, now time.Time) {
	if d := now.Sub(f.since); d >= blink {
		f.expose(min(d, pause))
		f.since = now
	}
	_, _ = f.screen.Write(p) // it takes everything
}

// expose adds what is on the screen as a frame, or lets the one before stand longer where it is the same.
func (f *film) expose(d time.Duration) {
	now := frame{time: d}
	for y := range f.h {
		drawn := f.row(y)
		n := 0
		if drawn != "" {
			if n = f.rows[drawn]; n == 0 {
				f.drawn = append(f.drawn, drawn)
				n = len(f.drawn)
				f.rows[drawn] = n
			}
		}
		now.rows = append(now.rows, n)
	}
	if k := len(f.frames) - 1; k >= 0 && fmt.Sprint(f.frames[k].rows) == fmt.Sprint(now.rows) {
		f.frames[k].time += d
		return
	}
	f.frames = append(f.frames, now)
}

// row draws one line of the screen, "" where nothing is on it.
func (f *film) row(y int) string {
	var b strings.Builder
	for x := 0; x < f.w; {
		from, style, run := x, f.cell(x, y).Style, ""
		for x < f.w {
			c := f.cell(x, y)
			if !c.Style.Equal(&style) {
				break
			}
			run += c.Content
			x += max(1, c.Width)
		}
		f.run(&b, from, x-from, run, style)
	}
	return b.String()
}

// cell is one cell of the screen; one that nothing was written to is a space.
func (f *film) cell(x, y int) uv.Cell {
	if c := f.screen.CellAt(x, y); c != nil && c.Content != "" {
		return *c
	}
	return uv.EmptyCell
}

// run draws text of one style.
func (f *film) run(b *strings.Builder, x, width int, run string, s uv.Style) {
	fg, bg := paint(s.Fg, text), paint(s.Bg, ground)
	if s.Attrs&uv.AttrReverse != 0 {
		fg, bg = bg, fg
	}
	if bg != hex(ground) {
		fmt.Fprintf(b, `<rect x="%.1f" width="%.1f" height="%.0f" fill="%s"/>`, float64(x)*cellWidth,
			float64(width)*cellWidth, lineHeight, bg)
	}
	lead := len(run) - len(strings.TrimLeft(run, " "))
	shown := strings.TrimSpace(run)
	if shown == "" {
		return
	}
	x, width = x+lead, width-lead-(len(run)-lead-len(strings.TrimRight(run[lead:], " ")))
	fmt.Fprintf(b, `<text x="%.1f" y="%.0f" textLength="%.1f"`, float64(x)*cellWidth, lineHeight*0.75,
		float64(width)*cellWidth)
	if fg != hex(text) {
		fmt.Fprintf(b, ` fill="%s"`, fg)
	}
	if s.Attrs&uv.AttrBold != 0 {
		b.WriteString(` font-weight="bold"`)
	}
	if s.Attrs&uv.AttrItalic != 0 {
		b.WriteString(` font-style="italic"`)
	}
	if s.Attrs&uv.AttrFaint != 0 {
		b.WriteString(` opacity="0.65"`)
	}
	if s.Underline != uv.UnderlineNone {
		b.WriteString(` text-decoration="underline"`)
	}
	fmt.Fprintf(b, `>%s</text>`, html.EscapeString(shown))
}

// paint is a colour of the screen, or another where it has none.
func paint(c color.Color, otherwise color.RGBA) string {
	switch c := c.(type) {
	case nil:
		return hex(otherwise)
	case ansi.BasicColor:
		return hex(ink[c%16])
	}
	return hex(c)
}

func hex(c color.Color) string {
	r, g, b, _ := c.RGBA()
	return fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)
}

// svg is the film as a picture that moves, without a script: the frames stand side by side, and are drawn past a
// window.
func (f *film) svg(title string) string {
	f.expose(last)
	width, height := math.Ceil(float64(f.w)*cellWidth)+2*margin, float64(f.h)*lineHeight+2*margin
	total := time.Duration(0)
	for _, r := range f.frames {
		total += r.time
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" width="%.0f" height="%.0f" role="img" aria-label="%s">`+"\n", width, height, width, height, html.EscapeString(title))
	fmt.Fprintf(&b, "<title>%s</title>\n<style>\n.film{animation:film %.2fs step-end infinite}\n@keyframes film{\n",
		html.EscapeString(title), total.Seconds())
	at := time.Duration(0)
	for i, r := range f.frames {
		fmt.Fprintf(&b, "%.3f%%{transform:translateX(-%.0fpx)}\n", 100*at.Seconds()/total.Seconds(), float64(i)*width)
		at += r.time
	}
	// Whoever wants nothing to move sees the end.
	fmt.Fprintf(&b, "}\n@media (prefers-reduced-motion:reduce){.film{animation:none;transform:translateX(-%.0fpx)}}\n</style>\n<defs>\n", float64(len(f.frames)-1)*width)
	for i, r := range f.drawn {
		fmt.Fprintf(&b, `<g id="r%d">%s</g>`+"\n", i+1, r)
	}
	fmt.Fprintf(&b, "</defs>\n"+`<rect width="%.0f" height="%.0f" rx="8" fill="%s"/>`+"\n", width, height, hex(ground))
	fmt.Fprintf(&b, `<g xml:space="preserve" font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace" font-size="%.0f" fill="%s"><g class="film">`+"\n", fontSize, hex(text))
	for i, r := range f.frames {
		fmt.Fprintf(&b, `<g transform="translate(%.0f)">`, float64(i)*width+margin)
		for y, n := range r.rows {
			if n > 0 {
				fmt.Fprintf(&b, `<use href="#r%d" y="%.0f"/>`, n, margin+float64(y)*lineHeight)
			}
		}
		b.WriteString("</g>\n")
	}
	b.WriteString("</g></g>\n</svg>\n")
	return b.String()
}
