package tui

import (
	"fmt"
	"strings"
	"time"

	"pawl/text/display"

	"github.com/charmbracelet/x/ansi"

	"pawl/face/cli/term"
	"pawl/machine/board"
	"pawl/text/message"
)

// View says how a board is drawn.
type View struct {
	Width, Height int
	Lang          message.Lang
	Style         term.Style
	// Selected is the id of the chosen issue, "" for none.
	Selected string
	// Filter is what the person filters by. Typing says that it is being typed.
	Filter string
	Typing bool
	// Failure is why the board could not be read anew, "" when it could.
	Failure string
}

// Frame draws the board: at most Height lines of at most Width columns, without line ends. It is pure.
func (b Board) Frame(v View) []string {
	v.Width, v.Height = max(v.Width, 20), max(v.Height, 8)
	c := canvas{b, v}
	out := append(c.header(), c.chosen())
	room := v.Height - len(out) - 1
	out = append(out, c.body(room)...)
	out = out[:min(len(out), v.Height-1)]
	for len(out) < v.Height-1 {
		out = append(out, "")
	}
	return append(out, c.footer())
}

// Text is the board for a pipe: one screen without escapes, with as many lines as it needs.
func (b Board) Text(lang message.Lang, width int) string {
	c := canvas{b, View{Width: max(width, 40), Lang: lang, Style: term.Style{Unicode: true}, Filter: b.Filter}}
	out := append(c.header(), "")
	for _, s := range statuses() {
		col := b.column(s, "")
		if col.Count == 0 {
			continue
		}
		out = append(out, c.columnLines(col, c.Width, len(col.Issues)+2)...)
		out = append(out, "")
	}
	out = append(out, c.workers(c.Width, len(b.Workers)+1)...)
	out = append(out, "")
	out = append(out, c.events(c.Width, len(b.Events)+1)...)
	for i, l := range out {
		out[i] = strings.TrimRight(l, " ")
	}
	return strings.TrimRight(strings.Join(out, "\n"), "\n") + "\n"
}

// chosen shows the chosen issue in full, because columns are narrow.
func (c canvas) chosen() string {
	for _, s := range statuses() {
		for _, i := range c.board.column(s, c.View.Filter).Issues {
			if i.ID == c.Selected {
				id := c.cut(display.Line(i.ID), c.Width-2)
				return c.Style.Bold(c.pick("›", ">")+" "+id) +
					c.cut("  "+display.Line(i.Title), c.Width-2-term.Width(id))
			}
		}
	}
	return ""
}

// statuses are the columns in their order.
func statuses() []board.IssueStatus {
	return board.Issue.States()
}

// canvas is a board being drawn.
type canvas struct {
	board Board
	View
}

func (c canvas) text(key string, args ...any) string { return said(c.Lang, c.Style, key, args...) }

func (c canvas) cut(s string, w int) string { return cut(s, w, c.Style) }

// pick is the form of a sign that the terminal can show.
func (c canvas) pick(unicode, ascii string) string {
	if c.Style.Unicode {
		return unicode
	}
	return ascii
}

// header says what runs, how far it is, and the totals.
func (c canvas) header() []string {
	name := c.text("tui.board.title")
	line := name
	for _, r := range []string{display.Line(c.board.Run), display.Line(string(c.board.Status)),
		display.Line(string(c.board.Phase))} {
		if r != "" {
			line += " " + c.Style.Middle() + " " + r
		}
	}
	clock := ""
	if !c.board.At.IsZero() {
		clock = c.board.At.Format("15:04:05")
	}
	w := c.Width - len(clock) - 1
	rest := strings.TrimPrefix(fit(line, w, c.Style), name)
	if len(rest) == len(line) || term.Width(name) > w {
		name, rest = "", c.cut(line, w)
	}
	out := []string{c.Style.Bold(name) + rest + " " + c.Style.Dim(clock)}
	return append(out, c.progress()...)
}

// progress is the bar with the numbers behind it, in one line or two.
func (c canvas) progress() []string {
	t := c.board.Totals
	var numbers []string // those that are known
	if d, ok := c.board.Left(); ok {
		numbers = append(numbers, c.text("tui.board.left", span(d)))
	}
	if n, ok := c.board.Success(); ok {
		numbers = append(numbers, c.text("tui.board.success", fmt.Sprintf("%d%%", n)))
	}
	if t.Today.Known {
		numbers = append(numbers, c.text("tui.board.cost", t.Today))
	}
	busy := 0
	for _, w := range c.board.Workers {
		if w.Issue != "" {
			busy++
		}
	}
	counts := fmt.Sprintf("%d/%d  %d%%", t.Completed+t.Failed, t.Total, c.board.Percent())
	numbers = append(numbers, c.text("tui.board.working", busy, len(c.board.Workers)))
	tail := counts + "   " + strings.Join(numbers, "   ")
	if n := c.Width - term.Width(tail) - 4; n >= 20 {
		return []string{c.bar(min(n, 60)) + "  " + tail}
	}
	return []string{
		c.bar(max(5, min(60, c.Width-term.Width(counts)-4))) + "  " + c.cut(counts, c.Width-9),
		c.cut(strings.Join(numbers, "   "), c.Width),
	}
}

// bar shows what is completed, what failed, and what is left, in signs that differ without colour as well.
func (c canvas) bar(w int) string {
	t := c.board.Totals
	part := func(n int) int {
		if t.Total <= 0 || n <= 0 {
			return 0
		}
		return int(int64(min(n, t.Total)) * int64(w) / int64(t.Total))
	}
	done := part(t.Completed)
	bad := min(part(t.Completed+t.Failed), w) - done
	if t.Failed > 0 && bad == 0 && done < w {
		bad = 1
	}
	rest := max(0, w-done-bad)
	return "[" + c.Style.Green(strings.Repeat(c.pick("█", "#"), done)) +
		c.Style.Red(strings.Repeat(c.pick("▒", "x"), bad)) +
		c.Style.Dim(strings.Repeat(c.pick("·", "."), rest)) + "]"
}

// footer says the keys, the filter or what is wrong.
func (c canvas) footer() string {
	switch {
	case c.Typing:
		return c.cut(c.text("tui.board.filter", display.Line(c.View.Filter))+c.pick("▏", "_"), c.Width)
	case c.Failure != "":
		return c.Style.Red(c.cut(c.pick("✗", "x")+" "+display.Line(c.Failure), c.Width))
	}
	keys := c.text("tui.board.keys")
	if !c.Style.Unicode {
		keys = c.text("tui.board.keys_ascii")
	}
	if c.View.Filter != "" {
		keys = c.text("tui.board.filter", display.Line(c.View.Filter)) + "   " + keys
	}
	return c.Style.Dim(c.cut(keys, c.Width))
}

// across is how many columns stand beside each other.
func (c canvas) across() int {
	switch {
	case c.Width >= 144:
		return 6
	case c.Width >= 75:
		return 3
	case c.Width >= 48:
		return 2
	}
	return 1
}

// body lays the columns out in rows and the workers and events below them, side by side where there is room. Every part
// gets what it needs, as far as the height goes; what is missing is taken from the largest.
func (c canvas) body(room int) []string {
	n := c.across()
	var parts []part
	for i := 0; i < len(statuses()); i += n {
		parts = append(parts, c.columnRow(statuses()[i:min(i+n, len(statuses()))]))
	}
	if n == 6 {
		parts = append(parts, part{want: 1 + max(len(c.board.Workers), min(len(c.board.Events), 12), 1),
			draw: func(h int) []string {
				left := (c.Width - 2) / 2
				return beside(c.workers(left, h), c.events(c.Width-left-2, h), left)
			}})
	} else {
		parts = append(parts,
			part{want: 1 + max(len(c.board.Workers), 1), draw: func(h int) []string { return c.workers(c.Width, h) }},
			part{want: 1 + max(min(len(c.board.Events), 12), 1),
				draw: func(h int) []string { return c.events(c.Width, h) }})
	}
	heights := share(parts, room)
	var out []string
	for i, p := range parts {
		if heights[i] == 0 {
			continue
		}
		if len(out) > 0 {
			out = append(out, "")
		}
		lines := p.draw(heights[i])
		out = append(out, lines[:min(len(lines), heights[i])]...)
	}
	return out
}

// part is a part of the screen that wants so many lines.
type part struct {
	want int
	draw func(height int) []string
}

// share deals the lines out: first two to each part as far as they go, then one by one to those that want more. A blank
// line stands between parts.
func share(parts []part, room int) []int {
	out := make([]int, len(parts))
	for i := range parts {
		need := 2
		if i > 0 {
			need++ // and the blank line
		}
		if room < need {
			break
		}
		out[i], room = 2, room-need
	}
	for room > 0 {
		given := false
		for i, p := range parts {
			if room > 0 && out[i] > 0 && out[i] < p.want {
				out[i], room, given = out[i]+1, room-1, true
			}
		}
		if !given {
			break
		}
	}
	return out
}

// beside joins two blocks of lines. Those of the first have the width w when they are padded.
func beside(x, y []string, w int) []string {
	var out []string
	for i := range max(len(x), len(y)) {
		left, right := "", ""
		if i < len(x) {
			left = x[i]
		}
		if i < len(y) {
			right = y[i]
		}
		out = append(out, left+strings.Repeat(" ", max(0, w-term.Width(ansi.Strip(left))))+"  "+right)
	}
	return out
}

// columnRow is a row of columns of the same width.
func (c canvas) columnRow(row []board.IssueStatus) part {
	w := (c.Width - 2*(len(row)-1)) / len(row)
	p := part{want: 2}
	for _, s := range row {
		col := c.board.column(s, c.View.Filter)
		want := 1 + len(col.Issues)
		if col.Count > len(col.Issues) {
			want++
		}
		p.want = max(p.want, want)
	}
	p.draw = func(h int) []string {
		var out []string
		for i, s := range row {
			lines := c.columnLines(c.board.column(s, c.View.Filter), w, h)
			if i == 0 {
				out = lines
				continue
			}
			out = beside(out, lines, (w+2)*i-2)
		}
		return out
	}
	return p
}

// columnLines draws one column in at most h lines. The chosen issue is among them, wherever it stands.
func (c canvas) columnLines(col Column, w, h int) []string {
	title := fmt.Sprintf("%s %d", col.Status, col.Count)
	head := c.Style.Bold(c.cut(title, w))
	if rest := w - term.Width(title) - 1; rest > 0 {
		head += " " + c.Style.Dim(strings.Repeat(c.pick("─", "-"), rest))
	}
	out := []string{head}
	if col.Count == 0 {
		return append(out, c.Style.Dim(c.Style.None()))
	}
	room := h - 1
	from := 0
	if col.Count > room && room > 1 {
		room--
	}
	for i, issue := range col.Issues {
		if issue.ID == c.Selected && i >= room {
			from = i - room + 1
		}
	}
	to := min(len(col.Issues), from+room)
	for _, i := range col.Issues[from:to] {
		out = append(out, c.issueLine(i, col.Status, w))
	}
	if more := col.Count - (to - from); more > 0 {
		out = append(out, c.Style.Dim(c.cut("  "+c.text("tui.more", more), w)))
	}
	return out
}

// sign is the mark of an issue and its colour: ○ waits, ● may begin, → is at work, ✓ and ✗ are over, ! is blocked, ‖ is
// paused.
func (c canvas) sign(s board.IssueStatus, f Flag) (string, func(string) string) {
	switch f {
	case FlagPaused:
		return c.pick("‖", "="), c.Style.Yellow
	case FlagBlocked:
		return "!", c.Style.Yellow
	case FlagReady:
		return c.pick("●", "*"), c.Style.Cyan
	}
	switch s {
	case board.IssuePlanning, board.IssueExecuting:
		return c.pick("→", ">"), c.Style.Cyan
	case board.IssueCompleted:
		return c.pick("✓", "+"), c.Style.Green
	case board.IssueFailed:
		return c.pick("✗", "x"), c.Style.Red
	}
	return c.pick("○", "o"), c.Style.Dim
}

func (c canvas) issueLine(i Issue, s board.IssueStatus, w int) string {
	tail := ""
	if i.Attempt > 1 {
		tail += fmt.Sprintf(" #%d", i.Attempt)
	}
	if i.Priority != 0 && i.Priority != 3 {
		tail += fmt.Sprintf(" P%d", i.Priority)
	}
	if (s == board.IssuePlanning || s == board.IssueExecuting) && !i.Since.IsZero() {
		tail += " " + span(c.board.At.Sub(i.Since))
	}
	pointer := " "
	if i.ID == c.Selected {
		pointer = c.pick("›", ">")
	}
	sign, paint := c.sign(s, i.Flag)
	id := c.brief(display.Line(i.ID), max(4, w/3))
	room := w - 4 - term.Width(id)
	if room-term.Width(tail) < 8 {
		tail = ""
	}
	title := ""
	if room > 3 {
		title = " " + fit(display.Line(i.Title), room-term.Width(tail), c.Style) + tail
	}
	if i.ID == c.Selected {
		return c.Style.Bold(pointer) + paint(sign) + " " + c.Style.Bold(id+title)
	}
	return pointer + paint(sign) + " " + id + title
}

// brief shortens an id to its end, which is where ids differ. One that is no longer than w stays.
func (c canvas) brief(id string, w int) string {
	if term.Width(id) <= w {
		return id
	}
	if i := strings.LastIndexByte(id, '-'); i >= 0 && len(id)-i > 2 {
		id = id[i+1:]
	}
	for term.Width(id) > w-1 {
		id = id[clusterEnd(id):]
	}
	return c.Style.Ellipsis() + id
}

// workers says what each worker does and since when.
func (c canvas) workers(w, h int) []string {
	out := []string{c.section("tui.board.workers", len(c.board.Workers), w)}
	if len(c.board.Workers) == 0 {
		return append(out, c.Style.Dim(c.cut("  "+c.text("tui.board.no_workers"), w)))
	}
	name, id := 4, 4
	for _, k := range c.board.Workers {
		name, id = max(name, term.Width(display.Line(k.Name))), max(id, term.Width(display.Line(k.Issue)))
	}
	name, id = min(name, max(6, w/5)), min(id, max(8, w/4))
	for n, k := range c.board.Workers {
		if len(out) == h-1 && n < len(c.board.Workers)-1 {
			out = append(out, c.Style.Dim(c.cut("  "+c.text("tui.more", len(c.board.Workers)-n), w)))
			break
		}
		since := ""
		if !k.Since.IsZero() {
			since = span(c.board.At.Sub(k.Since))
		}
		head := "  " + fit(display.Line(k.Name), name, c.Style) + "  "
		if k.Issue == "" {
			out = append(out, c.Style.Dim(c.cut(head+c.text("tui.board.waits")+" "+since, w)))
			continue
		}
		room := w - term.Width(head) - id - 10
		if room < 0 {
			out = append(out, c.cut(head+display.Line(k.Issue), w))
			continue
		}
		out = append(out, head+c.Style.Cyan(fit(c.brief(display.Line(k.Issue), id), id, c.Style))+"  "+
			fit(since, 6, c.Style)+"  "+c.cut(display.Line(k.Step), room))
	}
	return out
}

// events are the last things that happened.
func (c canvas) events(w, h int) []string {
	out := []string{c.section("tui.board.events", -1, w)}
	if len(c.board.Events) == 0 {
		return append(out, c.Style.Dim(c.cut("  "+c.text("tui.board.no_events"), w)))
	}
	for _, e := range c.board.Events {
		if len(out) >= h {
			break
		}
		out = append(out, c.eventLine(e, w))
	}
	return out
}

func (c canvas) eventLine(e Event, w int) string {
	at := e.At.Format("15:04:05")
	if e.At.Format(time.DateOnly) != c.board.At.Format(time.DateOnly) {
		at = e.At.Format("01-02 15:04")
	}
	head := "  " + at + " "
	text := display.Line(e.Text)
	if e.Issue != "" {
		text = display.Line(e.Issue) + "  " + text
	}
	return c.Style.Dim(head) + c.mark(e.Mark) + " " + c.cut(text, w-term.Width(head)-2)
}

func (c canvas) mark(m Mark) string {
	switch m {
	case MarkOK:
		return c.Style.OK()
	case MarkBad:
		return c.Style.Bad()
	case MarkWarn:
		return c.Style.Warn()
	case MarkMove:
		return c.Style.Arrow()
	}
	return c.Style.Dot()
}

// section is the title of a part of the screen; a count below zero is not shown.
func (c canvas) section(key string, count, w int) string {
	title := c.text(key)
	if count >= 0 {
		title += fmt.Sprintf(" %d", count)
	}
	rest := w - term.Width(title) - 1
	if rest <= 0 {
		return c.Style.Bold(c.cut(title, w))
	}
	return c.Style.Bold(title) + " " + c.Style.Dim(strings.Repeat(c.pick("─", "-"), rest))
}

// span is a time in at most two units, without fractions.
func span(d time.Duration) string {
	d = max(0, d).Round(time.Second)
	switch h, m, s := int(d.Hours()), int(d.Minutes())%60, int(d.Seconds())%60; {
	case h >= 48:
		return fmt.Sprintf("%dd%dh", h/24, h%24)
	case h > 0:
		return fmt.Sprintf("%dh%02dm", h, m)
	case m > 0:
		return fmt.Sprintf("%dm%02ds", m, s)
	default:
		return fmt.Sprintf("%ds", s)
	}
}
