package terminaltest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Person sits before a terminal.
type Person struct {
	t    *testing.T
	pty  *os.File
	tty  *os.File
	Cmd  *exec.Cmd
	done chan struct{}
	// Patience bounds each wait: a minute, unless the test says otherwise.
	Patience time.Duration

	mu  sync.Mutex
	vt  *VT
	raw strings.Builder
}

// Window makes this program pass for a terminal window, so that pawl takes what is typed at its terminals for a
// person's.
func Window() error { return os.WriteFile("/proc/self/comm", []byte("xterm"), 0o600) }

// New makes a terminal and returns both of its ends: what a person sees and types at, and what a program has open. The
// caller closes them.
func New() (pty, tty *os.File, err error) {
	if pty, err = os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		return nil, nil, fmt.Errorf("this machine has no terminals to give: %w", err)
	}
	n, err := unix.IoctlGetInt(int(pty.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(pty.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		return nil, nil, errors.Join(err, pty.Close())
	}
	return pty, tty, nil
}

// Open is New for a test.
func Open(t testing.TB) (pty, tty *os.File) {
	t.Helper()
	pty, tty, err := New()
	if err != nil {
		t.Fatal(err)
	}
	return pty, tty
}

// Sit starts a command on a new terminal, as the session's leader. What the test sees is judged at the end.
func Sit(t *testing.T, w, h int, cmd *exec.Cmd) *Person {
	t.Helper()
	pty, tty := Open(t)
	p := &Person{Cmd: cmd, t: t, pty: pty, tty: tty, vt: NewVT(w, h), done: make(chan struct{}),
		Patience: time.Minute}
	p.Resize(w, h)
	p.Cmd.Stdin, p.Cmd.Stdout, p.Cmd.Stderr = tty, tty, tty
	p.Cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 0}
	if err := p.Cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go p.watch()
	go func() { _ = p.Cmd.Wait(); close(p.done) }()
	t.Cleanup(func() {
		_ = p.Cmd.Process.Kill()
		<-p.done
		_, _ = tty.Close(), pty.Close()
	})
	return p
}

func (p *Person) watch() {
	buf := make([]byte, 4096)
	for {
		n, err := p.pty.Read(buf)
		p.mu.Lock()
		p.raw.Write(buf[:n])
		_, _ = p.vt.Write(buf[:n])
		p.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// Resize gives the terminal another size.
func (p *Person) Resize(w, h int) {
	p.t.Helper()
	p.mu.Lock()
	p.vt.Resize(w, h)
	p.mu.Unlock()
	if err := unix.IoctlSetWinsize(int(p.pty.Fd()), unix.TIOCSWINSZ,
		&unix.Winsize{Row: uint16(h), Col: uint16(w)}); err != nil {
		p.t.Fatal(err)
	}
}

// Types types keys.
func (p *Person) Types(keys string) {
	p.t.Helper()
	if _, err := p.pty.WriteString(keys); err != nil {
		p.t.Fatal(err)
	}
}

// Screen is what is on the screen, with what scrolled off.
func (p *Person) Screen() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.vt.Screen()
}

// Written are the bytes that were written.
func (p *Person) Written() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.raw.String()
}

// Sees waits until a text is on the screen.
func (p *Person) Sees(text string) {
	p.t.Helper()
	p.Until(fmt.Sprintf("%q", text), func() bool { return strings.Contains(p.Screen(), text) })
}

// Until waits until something is so.
func (p *Person) Until(what string, ok func() bool) {
	p.t.Helper()
	for end := time.Now().Add(p.Patience); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			p.t.Fatalf("waited for %s; the screen is\n%s", what, p.Screen())
		}
	}
}

// Ends waits for the end of the child and judges the terminal that it leaves: as it was.
func (p *Person) Ends() {
	p.t.Helper()
	select {
	case <-p.done:
	case <-time.After(p.Patience):
		p.t.Fatalf("it does not end; the screen is\n%s", p.Screen())
	}
	p.Calm()
	p.Until("the modes to be given back", func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return !p.vt.modes["?2004"] && !p.vt.modes["?1049"] && !p.vt.nowrap && !p.vt.hidden
	})
	if p.vt.Bad != nil {
		p.t.Errorf("unknown to the terminal: %q", p.vt.Bad)
	}
}

// Gone reports whether the child has ended.
func (p *Person) Gone() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// Calm fails unless the terminal edits and echoes lines itself.
func (p *Person) Calm() {
	p.t.Helper()
	p.Until("the terminal to be as it was", p.Cooked)
}

// Cooked reports whether the terminal edits and echoes lines itself.
func (p *Person) Cooked() bool {
	s, err := unix.IoctlGetTermios(int(p.tty.Fd()), unix.TCGETS)
	const want = unix.ICANON | unix.ECHO | unix.ISIG
	return err == nil && s.Lflag&want == want && s.Oflag&unix.OPOST != 0
}
