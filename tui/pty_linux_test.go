package tui

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"pawl"
	"pawl/cli/term"
	"pawl/message"
)

// The variable that makes the test program be the program under test, and what it says when it is at its end.
const (
	childVar = "PAWL_TUI_CHILD"
	leftMark = "LEFT "
)

func TestMain(m *testing.M) {
	switch os.Getenv(childVar) {
	case "":
		os.Exit(m.Run())
	case "shell":
		childShell()
	case "board":
		childBoard()
	default:
		childPrompt()
	}
}

// childScreen is the screen of a child.
func childScreen() *Screen {
	s := NewScreen(os.Stdin, os.Stdout, os.Stdin, os.Stdout, true, 80, os.Getenv)
	s.Lang, s.Style = message.English, term.Style{Unicode: true}
	return s
}

func childPrompt() {
	screen := childScreen()
	p := Prompt{
		Screen: screen, History: os.Getenv("PAWL_TUI_HISTORY"), Complete: offer,
		Status: func() Status { return Status{State: "IDLE"} },
		Submit: func(ctx context.Context, line string) error {
			word, rest, _ := strings.Cut(line, " ")
			switch word {
			case "echo":
				fmt.Printf("said [%s]\n", strings.ReplaceAll(rest, "\n", "|"))
			case "part":
				fmt.Print("no line end")
			case "slow":
				fmt.Println("working")
				<-ctx.Done()
				return ctx.Err()
			case "deaf":
				fmt.Println("working")
				time.Sleep(time.Minute)
			case "ask":
				for n := range 3 {
					fmt.Println("question", n)
					answer, err := screen.Ask(ctx, Question{Text: "Say it", Free: true})
					fmt.Printf("answer %q %v\n", answer, err)
				}
			case "panic":
				panic("on purpose")
			case "fail":
				return pawl.Fail(pawl.CodeNotFound, "kernel.not_initialised")
			case "leave":
				return ErrLeave
			}
			return nil
		},
	}
	fmt.Println(leftMark+"with", p.Run(context.Background()))
}

func childBoard() {
	reads := 0
	l := Live{
		Screen: childScreen(), Every: 100 * time.Millisecond,
		Refresh: func(_ context.Context, q Query) (Board, error) {
			reads++
			b := sample(message.English)
			switch {
			case q.Filter == "panic":
				panic("on purpose")
			case q.Filter == "broken":
				return Board{}, pawl.Fail(pawl.CodeNotFound, "kernel.not_initialised")
			case q.Filter == "count":
				b.Run = fmt.Sprint("reading ", reads)
			}
			return b, nil
		},
		Detail: func(_ context.Context, id string) (Detail, error) {
			d := exampleDetail(message.English)
			d.Issue.ID = id
			return d, nil
		},
	}
	l.Screen.Style.Color = true
	fmt.Println(leftMark+"with", l.Run(context.Background()))
}

// childShell starts the prompt or the board as a shell with jobs does: in a group of its own, in the foreground.
func childShell() {
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), childVar+"="+os.Getenv("PAWL_TUI_JOB"))
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Foreground: true, Ctty: 0}
	if err := c.Start(); err != nil {
		panic(err)
	}
	if err := os.WriteFile(os.Getenv("PAWL_TUI_PID"), []byte(fmt.Sprint(c.Process.Pid)), 0o600); err != nil {
		panic(err)
	}
	_ = c.Wait()
}

// person sits before a terminal.
type person struct {
	t    *testing.T
	pty  *os.File
	tty  *os.File
	cmd  *exec.Cmd
	done chan struct{}

	mu  sync.Mutex
	vt  *vt
	raw strings.Builder
}

// sit starts a child on a new terminal.
func sit(t *testing.T, w, h int, what string, env ...string) *person {
	t.Helper()
	pty, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("this machine has no terminals to give: %v", err)
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(unix.IoctlSetPointerInt(int(pty.Fd()), unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(int(pty.Fd()), unix.TIOCGPTN)
	must(err)
	tty, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	must(err)
	p := &person{t: t, pty: pty, tty: tty, vt: newVT(w, h), done: make(chan struct{})}
	p.resize(w, h)
	p.cmd = exec.Command(os.Args[0])
	p.cmd.Env = append(append(os.Environ(), childVar+"="+what, "TERM=xterm-256color"), env...)
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = tty, tty, tty
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 0}
	must(p.cmd.Start())
	go p.watch()
	go func() { _ = p.cmd.Wait(); close(p.done) }()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		<-p.done
		_, _ = tty.Close(), pty.Close()
	})
	return p
}

func (p *person) watch() {
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

func (p *person) resize(w, h int) {
	p.t.Helper()
	if err := unix.IoctlSetWinsize(int(p.pty.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: uint16(h), Col: uint16(w)}); err != nil {
		p.t.Fatal(err)
	}
}

func (p *person) types(keys string) {
	p.t.Helper()
	if _, err := p.pty.WriteString(keys); err != nil {
		p.t.Fatal(err)
	}
}

func (p *person) screen() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.vt.screen()
}

func (p *person) written() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.raw.String()
}

// sees waits until a text is on the screen.
func (p *person) sees(text string) {
	p.t.Helper()
	p.until(fmt.Sprintf("%q", text), func() bool { return strings.Contains(p.screen(), text) })
}

func (p *person) until(what string, ok func() bool) {
	p.t.Helper()
	for end := time.Now().Add(20 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			p.t.Fatalf("waited for %s; the screen is\n%s", what, p.screen())
		}
	}
}

// ends waits for the end of the child and judges the terminal that it leaves: as it was.
func (p *person) ends() {
	p.t.Helper()
	select {
	case <-p.done:
	case <-time.After(20 * time.Second):
		p.t.Fatalf("it does not end; the screen is\n%s", p.screen())
	}
	p.calm()
	p.until("the modes to be given back", func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return !p.vt.modes["?2004"] && !p.vt.modes["?1049"] && !p.vt.nowrap && !p.vt.hidden
	})
	if p.vt.bad != nil {
		p.t.Errorf("unknown to the terminal: %q", p.vt.bad)
	}
}

// calm fails unless the terminal edits and echoes lines itself.
func (p *person) calm() {
	p.t.Helper()
	p.until("the terminal to be as it was", p.cooked)
}

func (p *person) cooked() bool {
	s, err := unix.IoctlGetTermios(int(p.tty.Fd()), unix.TCGETS)
	const want = unix.ICANON | unix.ECHO | unix.ISIG
	return err == nil && s.Lflag&want == want && s.Oflag&unix.OPOST != 0
}

func TestPromptOnATerminal(t *testing.T) {
	history := filepath.Join(t.TempDir(), "new", "history")
	p := sit(t, 60, 40, "prompt", "PAWL_TUI_HISTORY="+history)
	p.sees("IDLE › ▮")
	p.types("echo 你好 e\u0301 👩\u200d💻\x1b[D\x1b[D!\r")
	p.sees("said [你好 e\u0301! 👩\u200d💻]\nIDLE › ▮")
	// What is typed ahead is not lost, and the last line of the output stays.
	p.types("echo one\recho two\rec")
	p.sees("IDLE › echo one\nsaid [one]\nIDLE › echo two\nsaid [two]\nIDLE › ec▮")
	p.types("\x15ask\r")
	for n := range 3 {
		p.sees(fmt.Sprint("question ", n, "\nSay it ▮"))
		p.types(fmt.Sprint("yes ", n, "\r"))
		p.sees(fmt.Sprintf("Say it yes %d\nanswer \"yes %d\" <nil>\n", n, n))
	}
	p.sees("IDLE › ▮")
	p.types("slow\r")
	p.sees("working")
	p.types("\x03")
	p.sees("working\n! interrupted\nIDLE › ▮")
	p.types("part\r")
	p.sees("no line end⏎\nIDLE › ▮")
	p.types("fail\r")
	p.sees("✗ ")
	p.sees("next: ")
	p.types("\x1b[200~echo a\nb\nc\x1b[201~")
	p.sees("IDLE › echo a\n  b\n  c▮")
	p.types("\r")
	p.sees(`said [a|b|c]`)
	p.types("echo token=abcdefgh\r")
	p.sees(`said [token=abcdefgh]`)
	p.types("\x1b[A\x1b[A")
	p.sees("IDLE › fail▮")
	p.types("\x1b")
	time.Sleep(2 * escapeTime)
	p.types("x\x03\x03")
	p.sees("Ctrl-C again leaves")
	p.types("\x03")
	p.ends()
	p.sees(leftMark + "with <nil>")
	raw, err := os.ReadFile(history)
	if err != nil || !strings.Contains(string(raw), `"echo a\nb\nc"`) || strings.Contains(string(raw), "token") {
		t.Errorf("the history: %v\n%s", err, raw)
	}
	if st, err := os.Stat(history); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("the history: %v %v", st, err)
	}
	p = sit(t, 60, 20, "prompt", "PAWL_TUI_HISTORY="+history)
	p.sees("IDLE › ▮")
	p.types("\x12two\r")
	p.sees("IDLE › echo two▮")
	p.types("\x15\x04")
	p.ends()
}

func TestPromptGivesTheTerminalBack(t *testing.T) {
	for _, c := range []struct {
		name, keys string
		sig        os.Signal
		want       string
	}{
		{"Ctrl-D", "\x04", nil, leftMark + "with <nil>"}, {"ErrLeave", "leave\r", nil, leftMark + "with <nil>"}, {"a panic", "panic\r", nil, "on purpose"},
		{"SIGTERM", "", syscall.SIGTERM, leftMark + "with context canceled"}, {"SIGHUP", "some text", syscall.SIGHUP, leftMark + "with context canceled"},
		{"a second Ctrl-C", "deaf\r", syscall.SIGINT, "working"},
		{"SIGTERM at work", "slow\r", syscall.SIGTERM, leftMark + "with context canceled"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := sit(t, 100, 30, "prompt")
			p.sees("IDLE › ▮")
			p.until("raw mode", func() bool { return !p.cooked() })
			p.types(c.keys)
			if c.sig != nil {
				if strings.HasSuffix(c.keys, "\r") {
					p.sees("working")
				}
				for range 2 {
					_ = p.cmd.Process.Signal(c.sig)
					time.Sleep(100 * time.Millisecond)
				}
			}
			p.ends()
			p.sees(c.want)
		})
	}
}

// An interrupt that comes as a signal is what the key is.
func TestInterruptFromElsewhere(t *testing.T) {
	p := sit(t, 60, 20, "prompt")
	p.sees("IDLE › ▮")
	p.types("some text")
	p.sees("some text▮")
	_ = p.cmd.Process.Signal(os.Interrupt)
	p.sees("IDLE › ▮")
	_ = p.cmd.Process.Signal(os.Interrupt)
	p.sees("Ctrl-C again leaves")
	_ = p.cmd.Process.Signal(os.Interrupt)
	p.ends()
	p.sees(leftMark + "with <nil>")
}

func TestPromptIsSuspended(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	p := sit(t, 60, 20, "shell", "PAWL_TUI_JOB=prompt", "PAWL_TUI_PID="+file)
	p.sees("IDLE › ▮")
	pid := p.job(file)
	p.types("echo half")
	p.sees("echo half▮")
	for range 2 {
		p.types("\x1a")
		p.until("the process to be stopped", func() bool { return stateOf(pid) == "T" })
		p.calm()
		if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
		p.until("raw mode", func() bool { return !p.cooked() })
	}
	p.types(" and half\r")
	p.sees(`said [half and half]`)
	// At work the terminal is not the prompt's, and the key stops the process by itself.
	p.types("slow\r")
	p.sees("working")
	p.types("\x1a")
	p.until("the process to be stopped at work", func() bool { return stateOf(pid) == "T" })
	if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	p.types("\x03")
	p.sees("IDLE › ▮")
	p.types("\x04")
	p.ends()
}

// job is the process that the shell started, as its file says.
func (p *person) job(file string) (pid int) {
	p.t.Helper()
	p.until("the job's process", func() bool {
		raw, _ := os.ReadFile(file)
		_, err := fmt.Sscan(string(raw), &pid)
		return err == nil
	})
	p.t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
	return pid
}

// stateOf is the letter of a process's state.
func stateOf(pid int) string {
	raw, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, rest, _ := strings.Cut(string(raw), ") ")
	return rest[:min(1, len(rest))]
}

// Without a shell nobody could let the process go on, and Ctrl-Z changes nothing.
func TestSuspendWithoutAShell(t *testing.T) {
	p := sit(t, 60, 20, "prompt")
	p.sees("IDLE › ▮")
	p.types("echo a\x1ab\r")
	p.sees(`said [ab]`)
	p.types("\x04")
	p.ends()
}

func TestPromptIsResized(t *testing.T) {
	p := sit(t, 60, 20, "prompt")
	p.sees("IDLE › ▮")
	p.types("echo one two three four five six seven eight")
	p.sees("seven eight▮")
	p.mu.Lock()
	p.vt = newVT(30, 20) // as a terminal that shows the last line in its first row
	p.mu.Unlock()
	p.resize(30, 20)
	p.sees("IDLE › echo one two three\n  four five six seven eight▮")
	p.types("\x03\x04")
	p.ends()
}

func TestDumbTerminal(t *testing.T) {
	p := sit(t, 60, 20, "prompt", "TERM=dumb")
	p.sees("IDLE › ▮")
	p.types("echo one\n\necho two\nleave\n")
	p.sees(`said [two]`)
	p.ends()
	if strings.Contains(p.written(), "\x1b") {
		t.Errorf("it wrote %q", p.written())
	}
}

func TestBoardOnATerminal(t *testing.T) {
	p := sit(t, 80, 24, "board")
	p.sees("Import record 1")
	p.sees("q quit")
	was := len(p.written())
	time.Sleep(6 * boardFastest)
	if now := len(p.written()); now != was {
		t.Errorf("%d bytes were written though nothing changed", now-was)
	}
	p.types("\x1b[C\x1b[C\x1b[B")
	p.sees("› GH-124  Show progress of uploads")
	p.types("\r")
	p.sees("rename what was renamed")
	p.types("\x1b")
	p.sees("registered 99951")
	p.types("/count\r")
	p.sees("reading ")
	p.types("/\x15broken\r")
	p.sees("✗ ")
	p.types("?")
	p.sees("leave the board")
	p.types("?/\x1b")
	p.sees("/ filter   ? help")
	p.mu.Lock()
	p.vt.w, p.vt.h = 200, 50
	p.vt.clear()
	p.mu.Unlock()
	p.resize(200, 50)
	p.sees("failed 3")
	p.types("q")
	p.ends()
	p.sees(leftMark + "with <nil>")
	if strings.Contains(p.screen(), "registered") {
		t.Errorf("left with\n%s", p.screen())
	}
}

func TestBoardGivesTheTerminalBack(t *testing.T) {
	for _, c := range []struct {
		name, keys string
		sig        os.Signal
		want       string
	}{
		{"Ctrl-C", "\x03", nil, leftMark + "with <nil>"}, {"a panic while reading", "/panic\r", nil, "on purpose"}, {"SIGTERM", "", syscall.SIGTERM, leftMark + "with context canceled"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := sit(t, 100, 40, "board")
			p.sees("Import record 1")
			p.types(c.keys)
			if c.sig != nil {
				_ = p.cmd.Process.Signal(c.sig)
			}
			p.ends()
			p.sees(c.want)
		})
	}
}

func TestBoardWithoutATerminal(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	l := Live{Screen: NewScreen(nil, w, nil, nil, false, 80, os.Getenv), Refresh: func(context.Context, Query) (Board, error) { return sample(message.English), nil }}
	l.Screen.Lang = message.English
	if err := l.Run(t.Context()); err != nil {
		t.Error(err)
	}
	_ = w.Close()
	buf := make([]byte, 1<<16)
	n, _ := r.Read(buf)
	if got := string(buf[:n]); got != sample(message.English).Text(message.English, 80) {
		t.Errorf("%q", got)
	}
	l.Refresh = func(context.Context, Query) (Board, error) { return Board{}, errors.New("on purpose") }
	if err := l.Run(t.Context()); err == nil {
		t.Error("an error of the reading is not told")
	}
}
