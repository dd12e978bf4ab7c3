package tui

import (
	"bytes"
	"os"
	"sync"

	xterm "golang.org/x/term"

	"pawl"
)

// console is the two ends of a terminal that can be drawn on. It is safe for concurrent use, but rest is the reader's.
type console struct {
	in, out *os.File
	rest    []byte // what was read and not used

	mu     sync.Mutex
	before *xterm.State // what the terminal was like, while it is taken over
}

// interactive reports whether both ends are a terminal that can be drawn on.
func interactive(in, out *os.File, env func(string) string) bool {
	return in != nil && out != nil && env("TERM") != "dumb" && xterm.IsTerminal(int(in.Fd())) &&
		xterm.IsTerminal(int(out.Fd()))
}

// size returns the terminal's columns and rows.
func (c *console) size() (w, h int) {
	w, h, err := xterm.GetSize(int(c.out.Fd()))
	if err != nil || w <= 0 || h <= 0 {
		return 80, 24
	}
	return w, h
}

// raw takes the terminal over. Where it is taken over already that is done again, because a shell may have changed it
// while the process was stopped.
func (c *console) raw() error {
	state, err := xterm.MakeRaw(int(c.in.Fd()))
	if err != nil {
		return pawl.Fail(pawl.CodeEnvironment, "tui.no_terminal").Because(err)
	}
	drawable(c.out)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.before == nil {
		c.before = state
	}
	return nil
}

// calm gives the terminal back as it was.
func (c *console) calm() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.before != nil {
		_ = xterm.Restore(int(c.in.Fd()), c.before)
		c.before = nil
	}
}

// taken reports whether the terminal is taken over, so that a line feed goes straight down.
func (c *console) taken() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.before != nil
}

// paper is where programs draw. The terminal is taken over, and the shape of the cursor is the person's own.
type paper struct{ *os.File }

func (p paper) Write(b []byte) (int, error) {
	_, err := p.File.Write(bytes.ReplaceAll(bytes.ReplaceAll(b, []byte("\x1b[1 q"), nil), []byte("\n"), []byte("\r\n")))
	return len(b), err
}

// wake is what a signal is about.
type wake int

const (
	pressed wake = iota
	resized
	resumed
)
