package tui

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"strings"
	"time"

	"pawl/text/display"
)

// ErrLeave is returned by Submit to end the prompt, as Ctrl-D does.
var ErrLeave = errors.New("leave the prompt")

// statusEvery is how often Status is asked while nothing is typed.
const statusEvery = time.Second

// Prompt reads lines from a terminal and hands them over one at a time.
type Prompt struct {
	Screen *Screen
	// History is the file that keeps what was entered, made with its folder when the first line is kept; "" keeps
	// nothing beyond the prompt.
	History string
	// Status says where the session stands. It is asked before each line and once in a second while one is typed, by
	// another goroutine, but never while Submit runs. Nil says nothing.
	Status func() Status
	// Complete returns the candidates for a line with the cursor before the byte of that number. Nil completes nothing.
	Complete func(line string, cursor int) []Candidate
	// Submit carries a line out, trimmed and without control characters but line breaks and tabs. The terminal is as it
	// was before the prompt meanwhile: Submit may write, ask and start what uses it. Its context ends at Ctrl-C. An
	// error is told to the person in the words of the catalogue; ErrLeave ends the prompt.
	Submit func(ctx context.Context, line string) error
}

// Run reads lines until the person leaves or ctx ends. It returns nil when the person left, the context's error when
// ctx ended or the process was told to end by SIGTERM or SIGHUP, and the error of a terminal that cannot be used. The
// terminal is given back in every case, a panic included.
//
// While Submit runs, Ctrl-C is the signal os.Interrupt. A caller that ends ctx by that signal ends the prompt with it.
func (p Prompt) Run(ctx context.Context) error {
	if !p.Screen.Drawn() {
		return p.plain(ctx)
	}
	h, err := openHistory(p.History)
	r := &reading{Prompt: p, ask: ask{lang: p.Screen.Lang, style: p.Screen.Style, history: h, complete: p.Complete},
		signals: make(chan os.Signal, 8), interrupts: make(chan os.Signal, 1)}
	if err != nil {
		r.warn("tui.prompt.history_unread", err)
	}
	notify(r.signals)
	signal.Notify(r.interrupts, os.Interrupt)
	defer signal.Stop(r.signals)
	defer signal.Stop(r.interrupts)
	for {
		switch err := r.one(ctx); {
		case errors.Is(err, ErrLeave):
			return nil
		case errors.Is(err, errGone) && ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, errGone):
			return context.Canceled
		case err != nil:
			return err
		}
	}
}

// reading is a prompt at work.
type reading struct {
	Prompt
	ask  ask
	used bool // a line was submitted
	// interrupts are those that come as a signal: from elsewhere, or typed while Submit runs.
	signals, interrupts chan os.Signal
}

// one reads a line and submits it.
func (r *reading) one(ctx context.Context) error {
	r.ask.begin()
	if r.Status != nil {
		r.ask.status = r.Status()
	}
	if !r.used {
		r.ask.note = r.Screen.Lang.Text("tui.prompt.welcome")
	}
	r.Screen.fresh()
	updates, stop := r.poll()
	got, err := r.Screen.show(ctx, &r.ask, updates)
	stop()
	if err != nil {
		return err
	}
	if got == leave {
		return ErrLeave
	}
	text := strings.TrimSpace(r.ask.line.text)
	if err := r.ask.history.add(r.ask.line.text); err != nil {
		r.warn("tui.prompt.history_unkept", err)
	}
	r.used = true
	return r.submit(ctx, text)
}

// submit hands the line over with the terminal as it was before. Ctrl-C ends its context; a second one ends the
// process, as it does without a prompt.
func (r *reading) submit(ctx context.Context, text string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	select {
	case <-r.interrupts: // it was meant for the line that was typed
	default:
	}
	done, gone := make(chan struct{}), make(chan bool, 1)
	go func() {
		for {
			select {
			case <-r.interrupts:
				signal.Stop(r.interrupts)
				cancel()
			case s := <-r.signals:
				if meaning(s) == pressed {
					cancel()
					gone <- true
					return
				}
			case <-done:
				gone <- false
				return
			}
		}
	}()
	err := r.Submit(ctx, text)
	canceled := ctx.Err() != nil
	close(done)
	if <-gone {
		return errGone
	}
	signal.Notify(r.interrupts, os.Interrupt)
	if errors.Is(err, ErrLeave) {
		return err
	}
	if err != nil {
		r.tell(err, canceled)
	}
	return nil
}

// tell shows the error of a line.
func (r *reading) tell(err error, canceled bool) {
	if canceled && errors.Is(err, context.Canceled) {
		// The terminal has shown the key itself as ^C.
		_, _ = r.Screen.Write([]byte("\r\x1b[K" + r.Screen.Style.Warn() + " " +
			r.Screen.Lang.Text("tui.prompt.interrupted") + "\n"))
		return
	}
	r.Screen.Print(told(r.Screen, err))
}

// told puts an error into lines.
func told(s *Screen, err error) string {
	text, hint := s.Lang.Error(err)
	out := s.Style.Bad() + " " + display.Line(text)
	if hint != "" {
		out += "\n  " + s.Lang.Text("cli.next") + display.Line(hint)
	}
	return out
}

// warn says something in a line of its own that does not stop the prompt.
func (r *reading) warn(key string, err error) {
	r.Screen.Print(r.Screen.Style.Warn() + " " + display.Line(r.Screen.Lang.Text(key, err)))
}

// plain reads lines where nothing can be drawn. The terminal's own editing is all there is.
func (p Prompt) plain(ctx context.Context) error {
	for {
		a := ask{lang: p.Screen.Lang, style: p.Screen.Style}
		if p.Status != nil {
			a.status = p.Status()
		}
		_, invite := a.head(79)
		text, err := p.Screen.ask(ctx, strings.TrimRight(invite, " "), nil)
		switch {
		case errors.Is(err, ErrLeft):
			return nil
		case err != nil:
			return err
		case text == "":
			continue
		}
		if err = p.Submit(ctx, text); errors.Is(err, ErrLeave) {
			return nil
		}
		if err != nil {
			p.Screen.Print(told(p.Screen, err))
		}
	}
}

// poll asks for the status beside the reading of keys. Stop waits for an answer that is under way, so that Submit never
// runs beside it.
func (r *reading) poll() (updates chan func(), stop func()) {
	updates, end := make(chan func()), make(chan struct{})
	last := r.ask.status
	broken := background(func() {
		tick := time.NewTicker(statusEvery)
		defer tick.Stop()
		for r.Status != nil {
			select {
			case <-end:
				return
			case <-tick.C:
			}
			s := r.Status()
			if s == last {
				continue
			}
			last = s
			select {
			case updates <- func() { r.ask.status = s }:
			case <-end:
				return
			}
		}
	})
	return updates, func() {
		close(end)
		if err := <-broken; err != nil {
			panic(err)
		}
	}
}
