package tui

import (
	"context"
	"errors"
	"strings"

	"pawl/text/display"

	"pawl/face/cli/term"
)

// Item is one of several things to choose from: what the caller knows it by, what is shown of it, and what is shown dim
// beside that.
type Item struct{ ID, Title, Note string }

// Pick lets a person choose one of some items: typing narrows them down to those that hold all the words. Where nothing
// can be drawn, and where there is nothing to choose from, it is ErrLeft, as it is when the person chooses none.
func (s *Screen) Pick(ctx context.Context, title string, items []Item) (Item, error) {
	if !s.Drawn() || len(items) == 0 {
		return Item{}, ErrLeft
	}
	p := &picking{ask: ask{lang: s.Lang, style: s.Style, question: title, history: &history{}}, items: items}
	p.ask.begin()
	s.open(true)
	defer s.open(false)
	got, err := s.show(ctx, p, nil)
	switch {
	case ctx.Err() != nil:
		return Item{}, ctx.Err()
	case errors.Is(err, errGone) || err == nil && got == leave:
		return Item{}, ErrLeft
	case err != nil:
		return Item{}, err
	}
	return p.taken, nil
}

// mostShown is how many items are shown at once.
const mostShown = 12

// picking is a choice being made. The line is what narrows it down.
type picking struct {
	ask   ask
	items []Item
	at    int // among those that fit
	taken Item
	over  bool
}

// fitting are the items that hold all the words that were typed.
func (p *picking) fitting() []Item {
	words := strings.Fields(strings.ToLower(p.ask.line.text))
	if len(words) == 0 {
		return p.items
	}
	var out []Item
	for _, i := range p.items {
		text, all := strings.ToLower(i.ID+" "+i.Title+" "+i.Note), true
		for _, w := range words {
			all = all && strings.Contains(text, w)
		}
		if all {
			out = append(out, i)
		}
	}
	return out
}

func (p *picking) press(k key) act {
	n := len(p.fitting())
	move := func(by int) { p.at = min(max(0, p.at+by), max(0, n-1)) }
	switch k.name {
	case "ctrl+c", "ctrl+d":
		return leave
	case "ctrl+z":
		return suspend
	case "ctrl+l":
		return wipe
	case "enter":
		if n > 0 {
			p.taken = p.fitting()[p.at]
			return submit
		}
	case "esc":
		if p.ask.line.text == "" {
			return leave
		}
		p.ask.line.set("")
		p.at = 0
	case "up", "ctrl+p", "shift+tab":
		move(-1)
	case "down", "ctrl+n", "tab":
		move(1)
	case "pgup":
		move(-mostShown)
	case "pgdown":
		move(mostShown)
	default:
		if was := p.ask.line.text; p.ask.line.edit(k) && p.ask.line.text != was {
			p.ask.line.set(strings.Join(strings.Split(p.ask.line.text, "\n"), " "))
			p.at = 0
		}
	}
	return nothing
}

// close leaves what was chosen behind the title.
func (p *picking) close() {
	p.over = true
	p.ask.line.set(display.Line(p.taken.ID))
}

func (p *picking) shape(width, height int) frame {
	w, h := max(width, 12)-1, max(height, 3)
	if p.over {
		return p.ask.shape(width, height)
	}
	items := p.fitting()
	f := p.ask.shape(width, max(3, h/2))
	room := min(mostShown, h-len(f.rows)-1)
	if room < 1 {
		return f
	}
	wide := 0
	for _, i := range items {
		wide = max(wide, term.Width(display.Line(i.ID)))
	}
	wide = min(wide, max(8, w/3))
	from := min(max(0, p.at-room/2), max(0, len(items)-room))
	for n, i := range items[from:min(len(items), from+room)] {
		id, sign := fit(display.Line(i.ID), min(wide, w-2), p.ask.style), "  "
		if n+from == p.at {
			id, sign = p.ask.style.Bold(id), p.ask.style.Arrow()+" "
		}
		text := cut(display.Line(oneLine(i.Title)), w-wide-4, p.ask.style)
		note := cut(display.Line(i.Note), w-wide-6-term.Width(text), p.ask.style)
		row := sign + id + "  " + text
		if note != "" {
			row += "  " + p.ask.style.Dim(note)
		}
		f.rows = append(f.rows, strings.TrimRight(row, " "))
	}
	foot := p.ask.text("tui.pick.none")
	if len(items) > 0 {
		foot = p.ask.text("tui.pick.keys", p.at+1, len(items))
	}
	f.rows = append(f.rows, p.ask.style.Dim(cut(foot, w, p.ask.style)))
	return f
}

func oneLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return s
}
