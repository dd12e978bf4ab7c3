package tui

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"strings"
	"time"

	"pawl"
	"pawl/cli/term"
	"pawl/message"
	"pawl/policy"
)

// ErrLeave is returned by Submit to end the prompt, as Ctrl-D does.
var ErrLeave = errors.New("leave the prompt")

// statusEvery is how often Status is asked while nothing is typed.
const statusEvery = time.Second

// Prompt reads lines from a terminal and hands them over one at a time.
type Prompt struct {
	In, Out *os.File
	// Env reads the environment; TERM=dumb turns editing off.
	Env   func(string) string
	Lang  message.Lang
	Style term.Style
	// History is the file that keeps what was entered, made with its folder when the first line is kept; "" keeps nothing
	// beyond the prompt.
	History string
	// Status says where the session stands. It is asked before each line and once in a second while one is typed, by another
	// goroutine, but never while Submit runs. Nil says nothing.
	Status func() Status
	// Complete returns the candidates for a line with the cursor before the byte of that number. Nil completes nothing.
	Complete func(line string, cursor int) []Candidate
	// Submit carries a line out, trimmed and without control characters but line breaks and tabs. The terminal is as it was
	// before the prompt meanwhile: Submit may write, ask and start what uses it. Its context ends at Ctrl-C. An error is told
	// to the person in the words of the catalogue; ErrLeave ends the prompt.
	Submit func(ctx context.Context, line string) error
}

// Run reads lines until the person leaves or ctx ends. It returns nil when the person left, the context's error when ctx
// ended or the process was told to end by SIGTERM or SIGHUP, and the error of a terminal that cannot be used. The terminal
// is given back in every case, a panic included.
//
// While Submit runs, Ctrl-C is the signal os.Interrupt. A caller that ends ctx by that signal ends the prompt with it.
func (p Prompt) Run(ctx context.Context) error {
	if p.Env == nil {
		p.Env = os.Getenv
	}
	if !interactive(p.In, p.Out, p.Env) {
		return p.plain(ctx)
	}
	const pasteOn, pasteOff = "\x1b[?2004h", "\x1b[?2004l"
	t, err := openTerminal(p.In, p.Out, pasteOn, pasteOff)
	if err != nil {
		return pawl.Fail(pawl.CodeEnvironment, "tui.no_terminal").Because(err)
	}
	defer t.close()
	h, err := openHistory(p.History)
	r := &reading{Prompt: p, terminal: t, pen: pen{out: p.Out}, ask: ask{lang: p.Lang, style: p.Style, history: h, complete: p.Complete}}
	if err != nil {
		r.warn("tui.prompt.history_unread", err)
	}
	return r.run(ctx)
}

// reading is a prompt at work.
type reading struct {
	Prompt
	*terminal
	pen   pen
	ask   ask
	used  bool // a line was submitted
	width int
}

func (r *reading) run(ctx context.Context) error {
	for {
		switch err := r.one(ctx); {
		case errors.Is(err, ErrLeave):
			return nil
		case errors.Is(err, errGone):
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return context.Canceled
		case err != nil:
			return err
		}
	}
}

// one reads a line and submits it.
func (r *reading) one(ctx context.Context) error {
	r.ask.begin()
	if r.Prompt.Status != nil {
		r.ask.status = r.Prompt.Status()
	}
	if !r.used {
		r.ask.note = r.Lang.Text("tui.prompt.welcome")
	}
	r.width, _ = r.size()
	r.pen.fresh(r.width, r.Style)
	if err := r.read(ctx); err != nil {
		r.finish()
		return err
	}
	text := strings.TrimSpace(r.ask.line.text)
	r.finish()
	if err := r.ask.history.add(r.ask.line.text); err != nil {
		r.warn("tui.prompt.history_unkept", err)
	}
	r.used = true
	return r.submit(ctx, text)
}

// finish leaves the line as it was entered, without what stood below it.
func (r *reading) finish() {
	r.ask.list, r.ask.search, r.ask.note = nil, nil, ""
	r.ask.move(len(r.ask.line.text))
	r.draw()
	r.pen.end()
}

func (r *reading) draw() { r.pen.draw(r.ask.shape(r.size())) }

// read handles keys until the line is to be submitted.
func (r *reading) read(ctx context.Context) error {
	polls := r.poll()
	defer func() { polls.stop() }()
	for {
		r.draw()
		k, why, err := r.wait(ctx.Done(), polls.changed)
		if err != nil {
			return err
		}
		switch why {
		case resized:
			r.width, _ = r.size()
			r.pen.refit(r.width)
			continue
		case resumed:
			r.pen.used = 0
			continue
		case ticked:
			r.ask.status = polls.take()
			continue
		}
		switch r.ask.press(k) {
		case submit:
			return nil
		case leave:
			return ErrLeave
		case wipe:
			_, _ = r.out.WriteString("\x1b[H\x1b[2J")
			r.pen.used = 0
		case suspend:
			r.pen.end()
			if err := r.terminal.suspend(); err != nil {
				return errGone
			}
		}
	}
}

// submit hands the line over with the terminal as it was before. Ctrl-C ends its context; a second one ends the process, as
// it does without a prompt.
func (r *reading) submit(ctx context.Context, text string) error {
	r.leave()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
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
	return r.enter()
}

// tell shows the error of a line.
func (r *reading) tell(err error, canceled bool) {
	if canceled && errors.Is(err, context.Canceled) {
		// The terminal has shown the key itself as ^C.
		_, _ = io.WriteString(r.out, "\r\x1b[K"+r.Style.Warn()+" "+r.Lang.Text("tui.prompt.interrupted")+"\n")
		return
	}
	_, _ = io.WriteString(r.out, told(r.Lang, r.Style, err))
}

// told puts an error into lines.
func told(lang message.Lang, style term.Style, err error) string {
	text, hint := lang.Error(err)
	out := style.Bad() + " " + policy.Display(text) + "\n"
	if hint != "" {
		out += "  " + lang.Text("cli.next") + policy.Display(hint) + "\n"
	}
	return out
}

// warn says something in a line of its own that does not stop the prompt.
func (r *reading) warn(key string, err error) {
	_, _ = io.WriteString(r.out, r.Style.Warn()+" "+policy.Display(r.Lang.Text(key, err))+"\r\n")
}

// plain reads lines where nothing can be drawn. The terminal's own editing is all there is.
func (p Prompt) plain(ctx context.Context) error {
	buf, rest := make([]byte, 4096), ""
	for {
		text, more, ok := strings.Cut(rest, "\n")
		if !ok {
			if rest == "" {
				p.invite()
			}
			n, err := p.In.Read(buf)
			rest += string(buf[:n])
			if err != nil && rest == "" || ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				rest += "\n"
			}
			continue
		}
		rest = more
		if text = strings.TrimSpace(clean(text)); text == "" {
			continue
		}
		err := p.Submit(ctx, text)
		if errors.Is(err, ErrLeave) {
			return nil
		}
		if err != nil {
			_, _ = io.WriteString(p.Out, told(p.Lang, p.Style, err))
		}
	}
}

// invite writes the prompt without a line.
func (p Prompt) invite() {
	a := ask{lang: p.Lang, style: p.Style}
	if p.Status != nil {
		a.status = p.Status()
	}
	painted, _ := a.head(79)
	_, _ = io.WriteString(p.Out, painted)
}

// polls asks for the status beside the reading of keys.
type polls struct {
	changed chan struct{}
	status  chan Status
	end     chan struct{}
	broken  <-chan error
}

func (r *reading) poll() *polls {
	p := &polls{changed: make(chan struct{}), status: make(chan Status, 1), end: make(chan struct{})}
	last := r.ask.status
	p.broken = background(func() {
		if r.Prompt.Status == nil {
			return
		}
		tick := time.NewTicker(statusEvery)
		defer tick.Stop()
		for {
			select {
			case <-p.end:
				return
			case <-tick.C:
			}
			s := r.Prompt.Status()
			if s == last {
				continue
			}
			last = s
			p.status <- s
			select {
			case p.changed <- struct{}{}:
			case <-p.end:
				return
			}
		}
	})
	return p
}

func (p *polls) take() Status { return <-p.status }

// stop ends the asking and waits for an answer that is under way, so that Submit never runs beside it.
func (p *polls) stop() {
	close(p.end)
	if err := <-p.broken; err != nil {
		panic(err)
	}
}
