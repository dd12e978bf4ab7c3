package tui

import (
	"bufio"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"pawl/text/display"

	"pawl/face/cli/term"
)

// ErrLeft says that a person left a question open, by Ctrl-C, by Ctrl-D or by leaving the terminal.
var ErrLeft = errors.New("the question was left open")

// ErrSettled says that a question was answered elsewhere while it waited here.
var ErrSettled = errors.New("answered elsewhere")

// settledEvery is how often it is asked whether a question was answered elsewhere.
const settledEvery = 300 * time.Millisecond

// Question is asked until it is answered or left open.
type Question struct {
	// Text is what is asked, plain. It may have several lines.
	Text string
	// Ways are the answers there are. Of a Free question any other text is an answer as well; an Empty one is answered
	// by an empty line, too.
	Ways        []Way
	Free, Empty bool
	// Means reads a line that is none of the words of a way: the first word of the way that it means, or that it is no
	// answer even where the question is Free. It may be nil.
	Means func(line string) (word string, none bool)
	// Settled reports whether the answer is no longer needed. It is asked now and then, and may be nil.
	Settled func() bool
}

// Way is an answer: the words for it, of which the first is what the caller hears, and what it does, for help.
type Way struct {
	Words []string
	Does  string
}

// Ask asks until a person answers. It returns the first word of a way, or the text of an answer that is free, "" for an
// empty line. What is no answer is told in one line, help is given, and commands are carried out by Hear; then the
// question is put again. The error is ErrLeft, ErrSettled, or that of ctx.
func (s *Screen) Ask(ctx context.Context, q Question) (string, error) {
	s.Call(q.Text)
	s.open(true)
	defer s.open(false)
	for {
		line, err := s.ask(ctx, q.Text, &q)
		if err != nil {
			return "", err
		}
		way, none := q.pick(line)
		if way != "" {
			return way, nil
		}
		switch word := strings.ToLower(line); {
		case line == "" && q.Empty:
			return "", nil
		case word == "?", word == "？", word == "help", word == "/help", word == "~help", word == "帮助":
			q.help(s)
			if word == "~help" {
				s.heard(ctx, line)
			}
		case q.Free && !none && line != "" && !strings.HasPrefix(line, "/") && !strings.HasPrefix(line, "pawl "):
			return line, nil
		case line == "" || !s.heard(ctx, line):
			if ctx.Err() != nil {
				return "", ctx.Err()
			}
			s.Print(s.Style.Warn() + " " + strings.Join(term.Hang(q.refusal(s, line), 2, s.columns(), 0, ""), "\n"))
		}
		if s.Next != "" {
			return "", ErrLeft
		}
	}
}

// pick finds the way that a line means, and whether the line is no answer even where the question is free.
func (q Question) pick(line string) (way string, none bool) {
	word := strings.ToLower(line)
	if i := slices.IndexFunc(q.Ways, func(w Way) bool { return slices.Contains(w.Words, word) }); i >= 0 {
		return q.Ways[i].Words[0], false
	}
	if q.Means == nil || line == "" {
		return "", false
	}
	if way, none = q.Means(line); none {
		way = ""
	}
	return way, none
}

// open says whether a question is open.
func (s *Screen) open(is bool) {
	if !is && s.tty != nil {
		s.tty.calm()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wipe()
	s.asking = is
	s.draw()
}

// heard lets a line that is no answer be carried out. What it starts may use the terminal and ask. The live line stays
// away: what is typed ahead is shown by the terminal itself meanwhile, and would stand behind it.
func (s *Screen) heard(ctx context.Context, line string) (was bool) {
	if s.Hear == nil {
		return false
	}
	_ = s.Suspend(func() error {
		s.open(false)
		defer s.open(true)
		was = s.Hear(ctx, line)
		return nil
	})
	return was
}

// refusal says in one line what can be answered.
func (q Question) refusal(s *Screen, line string) string {
	var words []string
	for _, w := range q.Ways {
		words = append(words, w.Words[0])
	}
	known := strings.Join(words, ", ")
	line, _, _ = strings.Cut(line, "\n")
	switch {
	case q.Free && line != "":
		return s.text("tui.ask.no_command", term.Clip(display.Line(line), 30, s.Style.Ellipsis()))
	case q.Free:
		return s.text("tui.ask.wants_words")
	case line == "":
		return s.text("tui.ask.nothing", known)
	}
	return s.text("tui.ask.no_answer", term.Clip(display.Line(line), 30, s.Style.Ellipsis()), known)
}

// help says what each answer does.
func (q Question) help(s *Screen) {
	var t term.Table
	w := s.columns()
	row := func(answer, does string) {
		if w >= 40 {
			t.Row("  "+answer, does)
			return
		}
		// There is no room beside each other.
		t.Row("  " + answer)
		for _, l := range term.Wrap(does, w-4) {
			t.Row("    " + l)
		}
	}
	for _, way := range q.Ways {
		row(strings.Join(way.Words, ", "), way.Does)
	}
	if q.Free {
		row(s.text("tui.ask.words"), s.text("tui.ask.does_words"))
	}
	row("Ctrl-C, Ctrl-D", s.text("tui.ask.does_leave"))
	if s.Hear != nil {
		row("/status, /"+s.Style.Ellipsis(), s.text("tui.ask.does_command"))
	}
	for _, l := range t.Lines(w) {
		s.Print(l)
	}
}

// columns is how wide lines may be.
func (s *Screen) columns() int {
	if s.tty == nil {
		return s.width
	}
	w, _ := s.tty.size()
	return w
}

func (s *Screen) text(key string, args ...any) string { return said(s.Lang, s.Style, key, args...) }

// ask reads one line behind a text. Of a question q it is left by one key, and ends when it was settled.
func (s *Screen) ask(ctx context.Context, text string, q *Question) (string, error) {
	inner, stop := context.WithCancel(ctx)
	defer stop()
	settled := make(chan struct{})
	broken := background(func() {
		tick := time.NewTicker(settledEvery)
		defer tick.Stop()
		for q != nil && q.Settled != nil {
			select {
			case <-inner.Done():
				return
			case <-tick.C:
			}
			if q.Settled() {
				close(settled)
				stop()
				return
			}
		}
	})
	line, err := s.read(inner, text, q)
	stop()
	if broken := <-broken; broken != nil {
		panic(broken)
	}
	s.mu.Lock()
	s.typed = time.Now()
	s.mu.Unlock()
	select {
	case <-settled:
		if err != nil {
			return "", ErrSettled
		}
	default:
	}
	if err != nil && ctx.Err() != nil {
		return "", ctx.Err()
	}
	return strings.TrimSpace(clean(line)), err
}

func (s *Screen) read(ctx context.Context, text string, q *Question) (string, error) {
	if !s.Drawn() {
		return s.readPlain(ctx, text)
	}
	s.mu.Lock()
	if s.partial {
		s.put("\n")
		s.partial = false
	}
	s.mu.Unlock()
	a := &ask{lang: s.Lang, style: s.Style, question: text, history: &history{}}
	a.complete = func(line string, _ int) (out []Candidate) {
		for _, w := range q.Ways {
			if strings.HasPrefix(w.Words[0], line) {
				out = append(out, Candidate{Insert: w.Words[0], Note: w.Does})
			}
		}
		return out
	}
	a.begin()
	got, err := s.show(ctx, a, nil)
	if errors.Is(err, errGone) || err == nil && got == leave {
		return "", ErrLeft
	}
	return a.line.text, err
}

// typed is a line from the input, or its end.
type typed struct {
	line string
	err  error
}

// readPlain reads a line as the terminal edits it. A read cannot be called back: one that is left over serves who reads
// next.
func (s *Screen) readPlain(ctx context.Context, text string) (string, error) {
	if _, err := s.Write([]byte(text + " ")); err != nil {
		return "", err
	}
	if s.line == nil {
		if s.lines == nil {
			s.lines = bufio.NewReader(s.in)
		}
		got := make(chan typed, 1)
		s.line = got
		go func() {
			line, err := s.lines.ReadString('\n')
			if err != nil && line != "" {
				err = nil
			}
			got <- typed{line, err}
		}()
	}
	select {
	case <-ctx.Done():
		s.Print("")
		return "", ErrLeft
	case t := <-s.line:
		s.line = nil
		s.mu.Lock()
		s.partial = false // the terminal has shown the end of the line
		s.mu.Unlock()
		if errors.Is(t.err, io.EOF) {
			return "", ErrLeft
		}
		return t.line, t.err
	}
}
