package tui

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"time"

	xterm "golang.org/x/term"

	"pawl/cli/term"
)

// escapeTime is how long an Escape waits for the rest of a sequence before it counts as the key.
const escapeTime = 50 * time.Millisecond

// errGone says that the terminal went away or that the process was told to end.
var errGone = errors.New("the terminal is gone")

// terminal is a terminal in raw mode whose state is given back whatever happens. At most one read is under way at a time,
// and none while a command runs, so that nothing that is typed for a command is lost to it.
type terminal struct {
	in, out *os.File
	before  *xterm.State
	raw     bool
	on, off string // what is written when raw mode begins and ends
	got     chan read
	reading bool
	keys    keys
	typed   []key // decoded and not yet taken
	signals chan os.Signal
	// interrupts are those that come as a signal: from elsewhere, or typed while the terminal is not in raw mode.
	interrupts chan os.Signal
}

type read struct {
	bytes []byte
	err   error
}

// interactive reports whether both ends are a terminal that can be drawn on.
func interactive(in, out *os.File, env func(string) string) bool {
	return in != nil && out != nil && env("TERM") != "dumb" && xterm.IsTerminal(int(in.Fd())) && xterm.IsTerminal(int(out.Fd()))
}

// openTerminal takes the terminal over. The caller closes it, also when it panics.
func openTerminal(in, out *os.File, on, off string) (*terminal, error) {
	t := &terminal{in: in, out: out, on: on, off: off, got: make(chan read, 1), signals: make(chan os.Signal, 8), interrupts: make(chan os.Signal, 1)}
	notify(t.signals)
	signal.Notify(t.interrupts, os.Interrupt)
	if err := t.enter(); err != nil {
		t.close()
		return nil, err
	}
	return t, nil
}

// enter begins raw mode. Where it is on already it is put on again, because a shell may have changed it while the process
// was stopped.
func (t *terminal) enter() error {
	state, err := xterm.MakeRaw(int(t.in.Fd()))
	if err != nil {
		return err
	}
	if t.before == nil {
		t.before = state
	}
	drawable(t.out)
	t.raw = true
	_, err = t.out.WriteString(t.on)
	return err
}

// leave gives the terminal back as it was.
func (t *terminal) leave() {
	if !t.raw {
		return
	}
	t.raw = false
	_, _ = t.out.WriteString(t.off)
	_ = xterm.Restore(int(t.in.Fd()), t.before)
}

// close gives the terminal back first: a signal that is no longer caught ends the process at once.
func (t *terminal) close() {
	t.leave()
	signal.Stop(t.signals)
	signal.Stop(t.interrupts)
}

// suspend stops the process as Ctrl-Z does. It returns when the process goes on, in raw mode.
func (t *terminal) suspend() error {
	t.leave()
	stop()
	return t.enter()
}

// size returns the terminal's columns and rows.
func (t *terminal) size() (w, h int) {
	w, h, err := xterm.GetSize(int(t.out.Fd()))
	if err != nil || w <= 0 || h <= 0 {
		return 80, 24
	}
	return w, h
}

// listen starts a read where none is under way.
func (t *terminal) listen() {
	if t.reading || len(t.typed) > 0 {
		return
	}
	t.reading = true
	go func() {
		buf := make([]byte, 4096)
		n, err := t.in.Read(buf)
		t.got <- read{buf[:n], err}
	}()
}

// wake is why wait returned without a key.
type wake int

const (
	pressed wake = iota
	resized
	resumed
	ticked
)

// wait returns the next key, or why there is none. A value in other ends the wait as well.
func (t *terminal) wait(done <-chan struct{}, other <-chan struct{}) (key, wake, error) {
	for {
		if len(t.typed) > 0 {
			k := t.typed[0]
			t.typed = t.typed[1:]
			return k, pressed, nil
		}
		t.listen()
		var late <-chan time.Time
		if t.keys.waiting() {
			late = time.After(escapeTime)
		}
		select {
		case r := <-t.got:
			t.reading = false
			if r.err != nil || len(r.bytes) == 0 {
				return key{}, pressed, errGone
			}
			t.typed = append(t.typed, t.keys.feed(r.bytes)...)
		case <-late:
			t.typed = append(t.typed, t.keys.flush()...)
		case s := <-t.signals:
			switch meaning(s) {
			case resized:
				return key{}, resized, nil
			case resumed:
				return key{}, resumed, t.enter()
			}
			return key{}, pressed, errGone
		case <-t.interrupts:
			return key{name: "ctrl+c"}, pressed, nil
		case <-done:
			return key{}, pressed, errGone
		case <-other:
			return key{}, ticked, nil
		}
	}
}

// background runs f beside the terminal's own loop. A panic in it would end the process with the terminal in raw mode, so it
// is carried to the loop, which panics with it.
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

// pen draws frames one over the other at the bottom of what was written, and leaves what is above alone.
type pen struct {
	out  io.Writer
	last frame
	used int // rows that the last frame takes, 0 when none is drawn
}

// draw puts a frame in the place of the last one. The row with the cursor is written a second time up to the cursor, so that
// the terminal itself says where that is: terminals do not agree on how wide every character is.
func (p *pen) draw(f frame) {
	out := "\r"
	if p.used > 0 && p.last.row > 0 {
		out += fmt.Sprintf("\x1b[%dA", p.last.row)
	}
	for i, r := range f.rows {
		if i > 0 {
			out += "\r\n"
		}
		out += r + "\x1b[K"
	}
	out += "\x1b[J"
	if up := len(f.rows) - 1 - f.row; up > 0 {
		out += fmt.Sprintf("\x1b[%dA", up)
	}
	_, _ = io.WriteString(p.out, out+"\r"+f.upTo)
	p.last, p.used = f, len(f.rows)
}

// refit tells the pen that the terminal has another width: what it drew was broken anew.
func (p *pen) refit(width int) {
	if p.used == 0 || width <= 0 {
		return
	}
	rows := 0
	for _, r := range p.last.rows[:p.last.row] {
		rows += 1 + max(0, plainWidth(r, columns)-1)/width
	}
	p.last.row = rows + max(0, plainWidth(p.last.upTo, columns)-1)/width
}

// end leaves the last frame on the screen and goes on below it.
func (p *pen) end() {
	if p.used == 0 {
		return
	}
	down := p.used - 1 - p.last.row
	p.used = 0
	out := ""
	if down > 0 {
		out = fmt.Sprintf("\x1b[%dB", down)
	}
	_, _ = io.WriteString(p.out, out+"\r\n")
}

// fresh begins at the left edge. Output that did not end its line would be drawn over otherwise; it is shown by a mark.
// The mark and blanks fill a line exactly: they reach into the next one only if something stood before them.
func (p *pen) fresh(width int, style term.Style) {
	mark := "%"
	if style.Unicode {
		mark = "⏎"
	}
	_, _ = fmt.Fprintf(p.out, "%s%*s\r\x1b[J", style.Dim(mark), max(1, width-1), "")
	p.used = 0
}

// plainWidth is the width of a row that holds colours, by a measure of what has none.
func plainWidth(row string, measure func(string) int) int {
	var b strings.Builder
	for inside := false; row != ""; {
		n := clusterEnd(row)
		switch {
		case row[0] == 0x1b:
			inside = true
		case !inside:
			b.WriteString(row[:n])
		case row[0] == 'm':
			inside = false
		}
		row = row[n:]
	}
	return measure(b.String())
}
