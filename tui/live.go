package tui

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"pawl"
	"pawl/cli/term"
	"pawl/message"
	"pawl/policy"
)

// The times between two readings of a board.
const (
	boardEvery   = 500 * time.Millisecond
	boardFastest = 100 * time.Millisecond
)

// Query says what a board is to show. PerColumn is how many issues of a column can be shown at most, so that no more need be
// read.
type Query struct {
	Filter    string
	PerColumn int
}

// Live shows a board that is read again and again.
type Live struct {
	In, Out *os.File
	// Env reads the environment; with TERM=dumb, or where In or Out is no terminal, the board is written once as text.
	Env   func(string) string
	Lang  message.Lang
	Style term.Style
	// Every is the time between two readings, half a second when it is 0 and never less than a tenth.
	Every time.Duration
	// Refresh reads the board. It is called by another goroutine, one call at a time; the context ends when the person leaves.
	// An error is shown below the last board and the reading goes on.
	Refresh func(ctx context.Context, q Query) (Board, error)
	// Detail reads one issue, by the same goroutine, when the person opens it and as long as it is open. Nil opens none.
	Detail func(ctx context.Context, id string) (Detail, error)
}

// Run shows the board until the person leaves or ctx ends. It returns nil when the person left, the context's error when ctx
// ended or the process was told to end, the error of the first reading where there is no terminal, and the error of a
// terminal that cannot be used. The terminal is given back in every case, a panic included.
func (l Live) Run(ctx context.Context) error {
	if l.Env == nil {
		l.Env = os.Getenv
	}
	if !interactive(l.In, l.Out, l.Env) {
		b, err := l.Refresh(ctx, Query{PerColumn: 50})
		if err != nil {
			return err
		}
		_, err = l.Out.WriteString(b.Text(l.Lang, 80))
		return err
	}
	// The other screen, no cursor, and no wrapping, so that no line can break whatever a terminal thinks of its width.
	const on, off = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J", "\x1b[?7h\x1b[?25h\x1b[?1049l"
	t, err := openTerminal(l.In, l.Out, on, off)
	if err != nil {
		return pawl.Fail(pawl.CodeEnvironment, "tui.no_terminal").Because(err)
	}
	defer t.close()
	w := &watching{Live: l, terminal: t, screen: screen{lang: l.Lang, style: l.Style}}
	err = w.run(ctx)
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
	*terminal
	screen screen
	drawn  []string
	width  int
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

func (w *watching) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	wishes, seen, news := make(chan wish, 1), make(chan sight, 1), make(chan struct{})
	w.resize()
	wishes <- w.screen.wish()
	broken := background(func() { w.look(ctx, wishes, seen, news) })
	defer func() {
		cancel()
		if err := <-broken; err != nil {
			panic(err)
		}
	}()
	for {
		w.draw()
		k, why, err := w.wait(ctx.Done(), news)
		if err != nil {
			return err
		}
		switch why {
		case resized:
			w.resize()
		case resumed:
			w.drawn = nil
		case ticked:
			if len(seen) == 0 {
				return errGone // it broke, which is raised behind this, or ctx ended
			}
			w.screen.see(<-seen)
			continue
		case pressed:
			switch w.screen.press(k) {
			case leave:
				return nil
			case wipe:
				w.drawn = nil
			case suspend:
				if err := w.terminal.suspend(); err != nil {
					return errGone
				}
				w.drawn = nil
			}
		}
		select {
		case <-wishes:
		default:
		}
		wishes <- w.screen.wish()
	}
}

func (w *watching) resize() {
	w.screen.width, w.screen.height = w.size()
	w.drawn = nil
}

// look reads the board again and again, at once when something else is wished for. News is closed when it ends.
func (w *watching) look(ctx context.Context, wishes <-chan wish, seen chan<- sight, news chan<- struct{}) {
	defer close(news)
	every := w.Every
	if every <= 0 {
		every = boardEvery
	}
	every = max(every, boardFastest)
	now := <-wishes
	for {
		began := time.Now()
		s := sight{wish: now}
		s.board, s.err = w.Refresh(ctx, now.query)
		if s.err == nil && now.detail != "" && w.Live.Detail != nil {
			s.detail, s.err = w.Live.Detail(ctx, now.detail)
		}
		seen <- s
		select {
		case news <- struct{}{}:
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
			case next := <-wishes:
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

// draw writes the lines that changed.
func (w *watching) draw() {
	lines := w.screen.frame()
	var b strings.Builder
	if w.drawn == nil {
		b.WriteString("\x1b[2J")
	}
	for i := range max(len(lines), len(w.drawn)) {
		line := ""
		if i < len(lines) {
			line = lines[i]
		}
		if i < len(w.drawn) && w.drawn[i] == line || w.drawn == nil && line == "" {
			continue
		}
		fmt.Fprintf(&b, "\x1b[%d;1H%s\x1b[K", i+1, line)
	}
	if b.Len() > 0 {
		_, _ = w.out.WriteString(b.String())
	}
	w.drawn = lines
}

// screen is what the person looks at: pure, so that every key can be tried.
type screen struct {
	lang          message.Lang
	style         term.Style
	width, height int

	board    Board
	loaded   bool
	failure  string
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
	v := View{Width: s.width, Height: s.height, Lang: s.lang, Style: s.style, Selected: s.selected, Filter: s.filter.text, Typing: s.typing, Failure: s.failure}
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

func (s *screen) command(name string) act {
	if s.help {
		s.help = false
		if name == "q" {
			return leave
		}
		return nothing
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
	case "down", "j":
		s.step(1)
	case "up", "k":
		s.step(-1)
	case "left", "h", "shift+tab":
		s.side(-1)
	case "right", "l", "tab":
		s.side(1)
	case "home", "g":
		s.step(-1 << 20)
	case "end", "G":
		s.step(1 << 20)
	case "pgdown":
		s.step(10)
	case "pgup":
		s.step(-10)
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
			return []string{s.style.Red(cut(policy.Display(s.failure), s.width, s.style))}
		}
		return []string{s.style.Bold(cut(policy.Display(s.open), s.width, s.style)), "", cut(s.lang.Text("tui.board.loading"), s.width, s.style)}
	case s.open != "":
		lines, last := s.detail.Frame(s.board, v, s.from)
		s.last, s.from = last, min(s.from, last)
		return lines
	}
	return s.board.Frame(v)
}
