package tui

import (
	"strings"

	"pawl/text/display"

	"pawl/face/cli/term"
)

// Frame draws an issue on a screen of its own: at most Height lines of at most Width columns, beginning with line from
// of what there is to say. It returns the last from at which there is still a full screen. It is pure.
func (d Detail) Frame(b Board, v View, from int) (lines []string, last int) {
	v.Width, v.Height = max(v.Width, 20), max(v.Height, 8)
	c := canvas{b, v}
	all := d.lines(c)
	room := v.Height - 3
	last = max(0, len(all)-room)
	from = min(max(0, from), last)
	sign, paint := c.sign(d.Status, d.Issue.Flag)
	state := display.Line(string(d.Status))
	if d.Issue.Flag != FlagNone {
		state += " " + c.Style.Middle() + " " + c.flag(d.Issue.Flag)
	}
	if cost := d.Cost.String(); cost != "" {
		state += " " + c.Style.Middle() + " " + cost
	}
	head := c.cut(display.Line(d.Issue.ID)+"  "+state, v.Width-2)
	lines = append(lines, paint(sign)+" "+c.Style.Bold(head), "")
	lines = append(lines, all[from:min(len(all), from+room)]...)
	for len(lines) < v.Height-1 {
		lines = append(lines, "")
	}
	foot := c.text("tui.detail.keys")
	if last > 0 {
		foot += "   " + c.text("tui.detail.place", from+1, min(len(all), from+room), len(all))
	}
	return append(lines, c.Style.Dim(c.cut(foot, v.Width))), last
}

// flag is the word for a flag.
func (c canvas) flag(f Flag) string {
	switch f {
	case FlagReady:
		return c.text("tui.flag.ready")
	case FlagBlocked:
		return c.text("tui.flag.blocked")
	case FlagPaused:
		return c.text("tui.flag.paused")
	}
	return ""
}

// lines are all lines of the detail.
func (d Detail) lines(c canvas) []string {
	var out []string
	section := func(title string, lines []string) {
		if len(lines) == 0 {
			return
		}
		if len(out) > 0 {
			out = append(out, "")
		}
		if title != "" {
			out = append(out, c.Style.Bold(c.cut(title, c.Width)))
		}
		out = append(out, lines...)
	}
	section("", c.prose(d.Issue.Title, ""))
	section("", c.prose(d.Text, ""))
	if blocked := c.prose(d.Blocked, "  "); len(blocked) > 0 {
		blocked[0] = c.Style.Warn() + blocked[0][1:]
		section(c.text("tui.detail.blocked"), blocked)
	}
	section(c.text("tui.detail.plan"), c.marked(d.Plan))
	section(c.text("tui.detail.evidence"), c.marked(d.Evidence))
	var history []string
	for _, e := range d.History {
		e.Issue = ""
		history = append(history, c.eventLine(e, c.Width))
	}
	section(c.text("tui.board.events"), history)
	var next []string
	for _, n := range d.Next {
		for _, l := range term.Wrap(display.Line(n), c.Width-2) {
			next = append(next, "  "+c.Style.Cyan(l))
		}
	}
	section(c.text("tui.detail.next"), next)
	return out
}

// prose wraps a text of several lines, each behind the indent.
func (c canvas) prose(text, indent string) []string {
	var out []string
	for _, l := range strings.Split(strings.TrimSpace(clean(text)), "\n") {
		for _, w := range term.Wrap(display.Line(strings.ReplaceAll(l, "\t", "    ")), c.Width-len(indent)) {
			out = append(out, strings.TrimRight(indent+w, " "))
		}
	}
	if len(out) == 1 && out[0] == "" {
		return nil
	}
	return out
}

// marked draws the steps of a plan or the checks, wrapped under their text.
func (c canvas) marked(list []DetailLine) []string {
	var out []string
	for _, l := range list {
		text := display.Line(l.Text)
		if l.Note != "" {
			text += "  " + display.Line(l.Note)
		}
		lines := term.Hang(text, 4, c.Width, 0, "")
		lines[0] = "  " + c.mark(l.Mark) + " " + lines[0]
		out = append(out, lines...)
	}
	return out
}

// help is the screen that explains keys and signs.
func (c canvas) help() []string {
	var t term.Table
	t.Row("  q  Ctrl-C", c.text("tui.help.quit"))
	t.Row("  "+c.pick("↑ ↓ ← →", "arrows")+"  h j k l", c.text("tui.help.select"))
	t.Row("  Enter", c.text("tui.help.detail"))
	t.Row("  a d", c.text("tui.help.decide"))
	t.Row("  /", c.text("tui.help.filter"))
	t.Row("  Esc", c.text("tui.help.back"))
	t.Row("  ?", c.text("tui.help.help"))
	out := append([]string{c.Style.Bold(c.text("tui.help.keys"))}, c.clipped(t)...)
	var s term.Table
	s.Row("  "+c.pick("○", "o"), c.text("tui.help.waits"))
	s.Row("  "+c.pick("●", "*"), c.text("tui.help.ready"))
	s.Row("  "+c.pick("→", ">"), c.text("tui.help.works"))
	s.Row("  "+c.pick("✓", "+"), c.text("tui.help.completed"))
	s.Row("  "+c.pick("✗", "x"), c.text("tui.help.failed"))
	s.Row("  !", c.text("tui.help.blocked"))
	s.Row("  "+c.pick("‖", "="), c.text("tui.help.paused"))
	s.Row("  P1", c.text("tui.help.priority"))
	s.Row("  #2", c.text("tui.help.attempt"))
	s.Row("  3m", c.text("tui.help.since"))
	out = append(append(out, "", c.Style.Bold(c.text("tui.help.signs"))), c.clipped(s)...)
	return append(out, "", c.Style.Dim(c.cut(c.text("tui.help.estimate"), c.Width)))
}

// clipped are the lines of a table, none wider than the screen.
func (c canvas) clipped(t term.Table) []string {
	out := t.Lines(c.Width)
	for i, l := range out {
		out[i] = c.cut(l, c.Width)
	}
	return out
}

// Help draws the screen that explains keys and signs.
func Help(v View) []string {
	v.Width, v.Height = max(v.Width, 20), max(v.Height, 8)
	out := canvas{Board{}, v}.help()
	return out[:min(len(out), v.Height)]
}
