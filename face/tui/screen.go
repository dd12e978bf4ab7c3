package tui

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"pawl"
	"pawl/face/cli/term"
	"pawl/text/message"
)

// errGone says that the terminal went away or that the process was told to end.
var errGone = errors.New("the terminal is gone")

// Screen owns the terminal of a command: all that is written to a person goes through it, and nothing else reads what a
// person types. While work goes on the terminal is as the shell left it, so that Ctrl-C and Ctrl-Z are signals, and a
// child that needs the terminal has it whole. Only while something is asked a bubbletea program draws and reads keys,
// and it never reads beyond the key that ends it. Where nothing can be drawn, lines are read and written as they are.
//
// It is safe for concurrent use, but only one question can be open at a time.
type Screen struct {
	// Env reads the environment. Lang and Style are those of what the screen itself says. They are set before it is
	// used.
	Env   func(string) string
	Lang  message.Lang
	Style term.Style
	// Notice is what is done when a person is needed who may have looked away.
	Notice Notice
	// Hear carries out what was typed at a question and is no answer to it: a command or plain words. It reports
	// whether it was anything. Nil hears nothing.
	Hear func(ctx context.Context, line string) bool
	// Next is a line that Hear sets where it is to be carried out in the place of what asks: the question is left.
	Next string

	in     io.Reader
	out    io.Writer
	tty    *console // nil where nothing can be drawn
	follow bool     // the live line is drawn
	width  int

	mu      sync.Mutex
	live    string // the live line as it is drawn
	shown   bool
	partial bool   // what was written last did not end its line
	held    string // such a part while a program draws
	drawing *tea.Program
	err     error
	typed   time.Time // when a person was last seen
	asking  bool      // a question is open: the terminal stays taken over from one line to the next

	lines *bufio.Reader
	line  chan typed // a line that is being read where nothing can be drawn
}

// NewScreen returns a screen that reads and writes. In a terminal tty and pty are its two ends; they may be nil. With
// follow, which out must be a terminal for, a live line is drawn unless TERM is dumb, no wider than width where the
// terminal does not say its own.
func NewScreen(in io.Reader, out io.Writer, tty, pty *os.File, follow bool, width int,
	env func(string) string) *Screen {
	follow = follow && (env == nil || env("TERM") != "dumb") // such a terminal can take nothing back
	s := &Screen{Env: env, in: in, out: out, follow: follow, width: max(width, 20), typed: time.Now()}
	if interactive(tty, pty, env) {
		s.tty = &console{in: tty, out: pty}
	}
	return s
}

// Drawn reports whether the screen draws: whether both of its ends are a terminal that obeys.
func (s *Screen) Drawn() bool { return s.tty != nil }

// Write writes above what is drawn. What does not end its line is kept until the line has ended while a question is
// open.
func (s *Screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.drawing != nil {
		text := s.held + string(p)
		whole := strings.LastIndexByte(text, '\n')
		s.held = text[whole+1:]
		if whole >= 0 {
			// A program that is sent something is not ended meanwhile, so that nothing is lost.
			s.drawing.Send(tea.Println(text[:whole])())
			// The library leaves the cursor above what it draws until that changes.
			w, h := s.tty.size()
			s.drawing.Send(tea.WindowSizeMsg{Width: w, Height: h})
		}
		return len(p), nil
	}
	s.wipe()
	s.put(string(p))
	if len(p) > 0 {
		s.partial = p[len(p)-1] != '\n'
	}
	s.draw()
	return len(p), s.err
}

// Print writes a text that stays and ends its line.
func (s *Screen) Print(text string) { _, _ = s.Write([]byte(text + "\n")) }

// Status sets the live line below all that stays; "" takes it away. The text is plain; paint, which may be nil,
// decorates it after it was cut to the width. Where no terminal follows nothing is drawn.
func (s *Screen) Status(text string, paint func(string) string) {
	if !s.follow {
		return
	}
	text = term.Clip(text, max(s.columns(), 2)-1, "…")
	if paint != nil && text != "" {
		text = paint(text)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if text == s.live && (s.shown || text == "") {
		return
	}
	s.wipe()
	s.live = text
	s.draw()
}

// Suspend gives the terminal to f, without the live line. What f starts reads all that is typed meanwhile.
func (s *Screen) Suspend(f func() error) error {
	s.mu.Lock()
	s.wipe()
	live := s.live
	s.live = ""
	s.mu.Unlock()
	err := f()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.live = live
	s.draw()
	return err
}

// Err returns the first error of the writer; what is written after it is lost.
func (s *Screen) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

func (s *Screen) wipe() {
	if s.shown {
		s.put("\r\x1b[2K")
		s.shown = false
	}
}

func (s *Screen) draw() {
	if s.follow && s.live != "" && !s.partial && s.drawing == nil && !s.asking {
		s.put(s.live)
		s.shown = true
	}
}

func (s *Screen) put(text string) {
	if s.tty != nil && s.tty.taken() {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	if s.err == nil {
		_, s.err = io.WriteString(s.out, text)
	}
}

// show lets a person act on a scene until something comes of it. Updates are carried out between two keys. It returns
// errGone when ctx ended, the terminal went away, or the process was told to end. The terminal is given back in every
// case.
func (s *Screen) show(ctx context.Context, sc scene, updates <-chan func()) (act, error) {
	signals := make(chan os.Signal, 8)
	notify(signals)
	signal.Notify(signals, os.Interrupt)
	defer signal.Stop(signals)
	defer func() {
		if !s.asking {
			s.tty.calm()
		}
	}()
	for {
		if err := s.tty.raw(); err != nil {
			return leave, err
		}
		got, err := s.play(ctx, sc, updates, signals)
		switch {
		case err == nil && got == suspend:
			s.tty.calm()
			stop()
		case err != nil || got != resume:
			return got, err
		}
	}
}

// resizeTime is how long a size stands before it is drawn for: while a person drags the edge of a window, what was
// drawn is broken anew again and again, and only from one drawing to the next it is known where the cursor is.
const resizeTime = 50 * time.Millisecond

// play is show up to where the process is stopped or was resumed.
func (s *Screen) play(ctx context.Context, sc scene, updates <-chan func(),
	signals <-chan os.Signal) (got act, err error) {
	keyboard, err := newKeyboard(s.tty.in, s.tty.rest)
	if err != nil {
		return leave, pawl.Fail(pawl.CodeEnvironment, "tui.no_terminal").Because(err)
	}
	p := s.begin(sc)
	defer func() {
		s.tty.rest = keyboard.close()
		if broken := s.end(p); err == nil {
			err = broken
		}
	}()
	var settled <-chan time.Time
	for {
		if k, ok := keyboard.next(false); ok {
			if a := p.press(k); a != nothing {
				return a, nil
			}
			continue
		}
		keyboard.listen()
		var a act
		select {
		case r := <-keyboard.got:
			if err := keyboard.take(r); err != nil {
				return leave, err
			}
		case <-keyboard.late():
			if k, ok := keyboard.next(true); ok {
				a = p.press(k)
			}
		case sig := <-signals:
			switch means := meaning(sig); {
			case sig == os.Interrupt:
				a = p.press(key{name: "ctrl+c"})
			case means == resized:
				settled = time.After(resizeTime)
			case means == resumed:
				return resume, nil
			default:
				return leave, errGone
			}
		case <-settled:
			w, h := s.tty.size()
			p.Send(tea.WindowSizeMsg{Width: w, Height: h})
		case update, ok := <-updates:
			if !ok {
				return leave, nil
			}
			p.Send(update)
		case <-p.ended:
			return leave, errGone
		case <-ctx.Done():
			return leave, errGone
		}
		if a != nothing {
			return a, nil
		}
	}
}

// background runs f beside the terminal's own loop. A panic in it would end the process with the terminal in raw mode,
// so it is carried to the loop, which panics with it.
func background(f func()) (broken <-chan error) {
	out := make(chan error, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				out <- fmt.Errorf("%v\n%s", p, debug.Stack())
			}
			close(out)
		}()
		f()
	}()
	return out
}
