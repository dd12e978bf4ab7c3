package tui

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"pawl/text/display"

	"pawl/face/cli/term"
	"pawl/text/message"
)

// The times between two readings of a board.
const (
	boardEvery   = 500 * time.Millisecond
	boardFastest = 100 * time.Millisecond
)

// Query says what a board is to show. PerColumn is how many issues of a column can be shown at most, so that no more
// need be read.
type Query struct {
	Filter    string
	PerColumn int
}

// Live shows a board that is read again and again.
type Live struct {
	Screen *Screen
	// Every is the time between two readings, half a second when it is 0 and never less than a tenth.
	Every time.Duration
	// Refresh reads the board. It is called by another goroutine, one call at a time; the context ends when the person
	// leaves. An error is shown below the last board and the reading goes on.
	Refresh func(ctx context.Context, q Query) (Board, error)
	// Detail reads one issue, by the same goroutine, when the person opens it and as long as it is open. Nil opens
	// none.
	Detail func(ctx context.Context, id string) (Detail, error)
	// Decide puts what an issue asks before the person, who wants to approve or to deny it. The terminal is as it was
	// before the board meanwhile, and the board comes back afterwards, with the error that there was. Nil decides
	// nothing.
	Decide func(ctx context.Context, id string, verdict Verdict) error
}

// Verdict is what a person wants to say to what an issue asks.
type Verdict string

// The verdicts.
const (
	Approve Verdict = "approve"
	Deny    Verdict = "deny"
)

// Run shows the board until the person leaves or ctx ends. It returns nil when the person left, the context's error
// when ctx ended or the process was told to end, the error of the first reading where nothing can be drawn, and the
// error of a terminal that cannot be used. The terminal is given back in every case, a panic included.
func (l Live) Run(ctx context.Context) error {
	if !l.Screen.Drawn() {
		b, err := l.Refresh(ctx, Query{PerColumn: 50})
		if err != nil {
			return err
		}
		_, err = l.Screen.Write([]byte(b.Text(l.Screen.Lang, 80)))
		return err
	}
	seen := screen{lang: l.Screen.Lang, style: l.Screen.Style, decides: l.Decide != nil}
	for {
		err := l.watch(ctx, &seen)
		if err != nil || seen.verdict == "" {
			return err
		}
		err = l.Decide(ctx, seen.selected, seen.verdict)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		seen.verdict, seen.notice = "", ""
		if err != nil {
			seen.notice, _ = l.Screen.Lang.Error(err)
		}
	}
}

// watch shows the board until the person leaves it, or wants to decide something.
func (l Live) watch(ctx context.Context, seen *screen) error {
	inner, cancel := context.WithCancel(ctx)
	w := &watching{Live: l, wishes: make(chan wish, 1), updates: make(chan func()), screen: seen}
	w.screen.width, w.screen.height = l.Screen.tty.size()
	w.wish()
	broken := background(func() { w.look(inner) })
	_, err := l.Screen.show(ctx, w, w.updates)
	cancel()
	if err := <-broken; err != nil {
		panic(err)
	}
	if errors.Is(err, errGone) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return context.Canceled
	}
	return err
}

// watching is a board at work.
type watching struct {
	Live
	screen  *screen
	wishes  chan wish
	updates chan func()
}

// wish is what the reading goroutine is asked for, sight what it saw.
type wish struct {
	query  Query
	detail string
}

type sight struct {
	wish   wish
	board  Board
	err    error
	detail Detail
}

func (w *watching) press(k key) act {
	defer w.wish()
	return w.screen.press(k)
}

func (w *watching) shape(width, height int) frame {
	if w.screen.width != width || w.screen.height != height {
		w.screen.width, w.screen.height = width, height
		w.wish()
	}
	return frame{rows: w.screen.frame(), full: true}
}

func (w *watching) close() {}

// wish says what is to be read; a wish that was not seen yet is replaced.
func (w *watching) wish() {
	select {
	case <-w.wishes:
	default:
	}
	w.wishes <- w.screen.wish()
}

// look reads the board again and again, at once when something else is wished for. Updates are closed when it ends.
func (w *watching) look(ctx context.Context) {
	defer close(w.updates)
	every := w.Every
	if every <= 0 {
		every = boardEvery
	}
	every = max(every, boardFastest)
	now := <-w.wishes
	for {
		began := time.Now()
		s := sight{wish: now}
		s.board, s.err = w.Refresh(ctx, now.query)
		if s.err == nil && now.detail != "" && w.Live.Detail != nil {
			s.detail, s.err = w.Live.Detail(ctx, now.detail)
		}
		select {
		case w.updates <- func() { w.screen.see(s) }:
		case <-ctx.Done():
			return
		}
		wait := time.After(max(boardFastest, every-time.Since(began)))
		soonest := time.After(max(0, boardFastest-time.Since(began)))
	waiting:
		for {
			select {
			case <-ctx.Done():
				return
			case next := <-w.wishes:
				if next == now {
					continue
				}
				now = next
				select {
				case <-soonest:
				case <-ctx.Done():
					return
				}
				break waiting
			case <-wait:
				break waiting
			}
		}
	}
}

// screen is what the person looks at: pure, so that every key can be tried.
type screen struct {
	lang          message.Lang
	style         term.Style
	width, height int

	board    Board
	loaded   bool
	failure  string
	notice   string // why nothing came of a decision, until the next key
	decides  bool   // there is somebody who puts what an issue asks
	verdict  Verdict
	selected string
	filter   line
	typing   bool
	help     bool
	open     string // the issue whose detail is open
	detail   Detail
	known    bool // the detail is that of the open issue
	from     int
	last     int
}

// wish is what is to be read for it.
func (s *screen) wish() wish {
	return wish{query: Query{Filter: strings.TrimSpace(s.filter.text), PerColumn: max(8, s.height)}, detail: s.open}
}

// see takes what was read.
func (s *screen) see(v sight) {
	s.failure = ""
	if v.err != nil {
		s.failure, _ = s.lang.Error(v.err)
	}
	if v.err == nil || v.board.Columns != nil {
		s.board, s.loaded = v.board, true
	}
	if v.wish.detail == s.open && s.open != "" && v.err == nil {
		s.detail, s.known = v.detail, true
	}
	s.settle()
}

// settle chooses the first issue when the chosen one is not shown any more.
func (s *screen) settle() {
	if s.selected != "" && s.find() != nil {
		return
	}
	s.selected = ""
	for _, g := range s.grid() {
		if len(g.Issues) > 0 {
			s.selected = g.Issues[0].ID
			return
		}
	}
}

// grid are the columns as they are shown.
func (s *screen) grid() []Column {
	var out []Column
	for _, st := range statuses() {
		out = append(out, s.board.column(st, s.view().Filter))
	}
	return out
}

func (s *screen) view() View {
	v := View{Width: s.width, Height: s.height, Lang: s.lang, Style: s.style, Selected: s.selected,
		Filter: s.filter.text, Typing: s.typing, Failure: cmp.Or(s.failure, s.notice)}
	if !s.typing {
		v.Filter = strings.TrimSpace(v.Filter)
	}
	return v
}

// find returns the place of the chosen issue: column and row; nil when it is not shown.
func (s *screen) find() []int {
	for c, g := range s.grid() {
		for r, i := range g.Issues {
			if i.ID == s.selected {
				return []int{c, r}
			}
		}
	}
	return nil
}

// press does what a key means.
func (s *screen) press(k key) act {
	s.notice = ""
	switch {
	case k.name == "ctrl+c":
		return leave
	case k.name == "ctrl+z":
		return suspend
	case k.name == "ctrl+l":
		return wipe
	case s.typing:
		s.typed(k)
		return nothing
	}
	if k.name == keyText {
		// Each letter is a key of its own here.
		for i, r := range k.text {
			if s.typing {
				s.typed(key{keyText, k.text[i:]})
				break
			}
			if a := s.command(string(r)); a != nothing {
				return a
			}
		}
		return nothing
	}
	return s.command(k.name)
}

// typed edits the filter.
func (s *screen) typed(k key) {
	switch k.name {
	case "enter":
		s.typing = false
	case "esc":
		s.typing = false
		s.filter.set("")
	default:
		s.filter.edit(k)
		s.filter.text = strings.ReplaceAll(s.filter.text, "\n", " ")
	}
	s.settle()
}

// steps are the keys that choose another issue of a column, with how far it is, and sides those that lead to another
// column.
var (
	steps = map[string]int{
		"down": 1, "j": 1, "up": -1, "k": -1, "home": -1 << 20, "g": -1 << 20, "end": 1 << 20, "G": 1 << 20,
		"pgdown": 10, "pgup": -10,
	}
	sides = map[string]int{"left": -1, "h": -1, "shift+tab": -1, "right": 1, "l": 1, "tab": 1}
)

func (s *screen) command(name string) act {
	if s.help {
		s.help = false
		if name == "q" {
			return leave
		}
		return nothing
	}
	if (name == "a" || name == "d") && s.decides && s.selected != "" {
		s.verdict = map[string]Verdict{"a": Approve, "d": Deny}[name]
		return leave
	}
	if s.open != "" {
		return s.reading(name)
	}
	switch name {
	case "q":
		return leave
	case "?":
		s.help = true
	case "/":
		s.typing = true
	case "esc":
		s.filter.set("")
		s.settle()
	case "enter":
		s.open, s.known, s.from = s.selected, false, 0
	default:
		if by, ok := steps[name]; ok {
			s.step(by)
		} else if by, ok := sides[name]; ok {
			s.side(by)
		}
	}
	return nothing
}

// reading is what keys mean in the detail.
func (s *screen) reading(name string) act {
	page := max(1, s.height-4)
	switch name {
	case "q", "esc", "enter", "left", "h", "backspace":
		s.open = ""
	case "?":
		s.help = true
	case "down", "j":
		s.from++
	case "up", "k":
		s.from--
	case "pgdown", " ":
		s.from += page
	case "pgup":
		s.from -= page
	case "home", "g":
		s.from = 0
	case "end", "G":
		s.from = s.last
	}
	s.from = min(max(0, s.from), s.last)
	return nothing
}

// step chooses another issue of the same column.
func (s *screen) step(by int) {
	at := s.find()
	if at == nil {
		s.settle()
		return
	}
	issues := s.grid()[at[0]].Issues
	s.selected = issues[min(max(0, at[1]+by), len(issues)-1)].ID
}

// side chooses an issue of the next column that has one, at the same height.
func (s *screen) side(by int) {
	at := s.find()
	if at == nil {
		s.settle()
		return
	}
	grid := s.grid()
	for c := at[0] + by; c >= 0 && c < len(grid); c += by {
		if n := len(grid[c].Issues); n > 0 {
			s.selected = grid[c].Issues[min(at[1], n-1)].ID
			return
		}
	}
}

// frame draws what is to be seen.
func (s *screen) frame() []string {
	v := s.view()
	switch {
	case s.help:
		return Help(v)
	case !s.loaded && s.failure == "":
		return []string{cut(s.lang.Text("tui.board.loading"), s.width, s.style)}
	case s.open != "" && !s.known:
		if s.failure != "" {
			return []string{s.style.Red(cut(display.Line(s.failure), s.width, s.style))}
		}
		return []string{s.style.Bold(cut(display.Line(s.open), s.width, s.style)), "",
			cut(s.lang.Text("tui.board.loading"), s.width, s.style)}
	case s.open != "":
		lines, last := s.detail.Frame(s.board, v, s.from)
		s.last, s.from = last, min(s.from, last)
		return lines
	}
	return s.board.Frame(v)
}
