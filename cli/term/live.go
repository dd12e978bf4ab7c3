package term

import (
	"io"
	"strings"
	"sync"
)

// Live prints lines that stay and keeps one line at the bottom that is redrawn. Where the writer is no terminal only the
// lines that stay are written. It is safe for concurrent use.
type Live struct {
	mu    sync.Mutex
	out   io.Writer
	tty   bool
	width int
	last  string
	shown bool
	err   error
}

// NewLive returns a Live that writes to out. Width is the width of the terminal in columns.
func NewLive(out io.Writer, tty bool, width int) *Live {
	return &Live{out: out, tty: tty, width: max(width, 20)}
}

// Line writes text that stays, above the live line. The text may hold line breaks.
func (l *Live) Line(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wipe()
	l.write(text + "\n")
	l.draw()
}

// Status sets the live line; "" takes it away. Colour is not counted, so text is plain and is decorated by paint after it
// was cut to the width. A paint of nil leaves it plain.
func (l *Live) Status(text string, paint func(string) string) {
	if !l.tty {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	text = Clip(text, l.width-1, "…")
	if paint != nil && text != "" {
		text = paint(text)
	}
	if text == l.last && l.shown {
		return
	}
	l.wipe()
	l.last = text
	l.draw()
}

// Write lets a Live stand where a writer is wanted; whole lines are expected.
func (l *Live) Write(p []byte) (int, error) {
	l.Line(strings.TrimSuffix(string(p), "\n"))
	return len(p), l.err
}

// Err returns the first error of the writer; what is written after it is lost.
func (l *Live) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

func (l *Live) wipe() {
	if l.shown {
		l.write("\r\x1b[2K")
		l.shown = false
	}
}

func (l *Live) draw() {
	if l.tty && l.last != "" {
		l.write(l.last)
		l.shown = true
	}
}

func (l *Live) write(s string) {
	if l.err == nil {
		_, l.err = io.WriteString(l.out, s)
	}
}
