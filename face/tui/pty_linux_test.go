package tui

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"pawl"
	"pawl/face/cli/term"
	"pawl/internal/terminaltest"
	"pawl/text/message"
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
	case "question":
		childQuestion()
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

// sit starts a child on a new terminal.
func sit(t *testing.T, w, h int, what string, env ...string) *person {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(append(os.Environ(), childVar+"="+what, "TERM=xterm-256color"), env...)
	return terminaltest.Sit(t, w, h, cmd)
}

type person = terminaltest.Person

func TestPromptOnATerminal(t *testing.T) {
	history := filepath.Join(t.TempDir(), "new", "history")
	p := sit(t, 60, 40, "prompt", "PAWL_TUI_HISTORY="+history)
	p.Sees("IDLE › ▮")
	p.Types("echo 你好 e\u0301 👩\u200d💻\x1b[D\x1b[D!\r")
	p.Sees("said [你好 e\u0301! 👩\u200d💻]\nIDLE › ▮")
	// What is typed ahead is not lost, and the last line of the output stays.
	p.Types("echo one\recho two\rec")
	p.Sees("IDLE › echo one\nsaid [one]\nIDLE › echo two\nsaid [two]\nIDLE › ec▮")
	p.Types("\x15ask\r")
	for n := range 3 {
		p.Sees(fmt.Sprint("question ", n, "\nSay it ▮"))
		p.Types(fmt.Sprint("yes ", n, "\r"))
		p.Sees(fmt.Sprintf("Say it yes %d\nanswer \"yes %d\" <nil>\n", n, n))
	}
	p.Sees("IDLE › ▮")
	p.Types("slow\r")
	p.Sees("working")
	p.Types("\x03")
	p.Sees("working\n! interrupted\nIDLE › ▮")
	p.Types("part\r")
	p.Sees("no line end⏎\nIDLE › ▮")
	p.Types("fail\r")
	p.Sees("✗ ")
	p.Sees("next: ")
	p.Types("\x1b[200~echo a\nb\nc\x1b[201~")
	p.Sees("IDLE › echo a\n  b\n  c▮")
	p.Types("\r")
	p.Sees(`said [a|b|c]`)
	p.Types("echo token=abcdefgh\r")
	p.Sees(`said [token=abcdefgh]`)
	p.Types("\x1b[A\x1b[A")
	p.Sees("IDLE › fail▮")
	p.Types("\x1b")
	time.Sleep(2 * escapeTime)
	p.Types("x\x03\x03")
	p.Sees("Ctrl-C again leaves")
	p.Types("\x03")
	p.Ends()
	p.Sees(leftMark + "with <nil>")
	raw, err := os.ReadFile(history)
	if err != nil || !strings.Contains(string(raw), `"echo a\nb\nc"`) || strings.Contains(string(raw), "token") {
		t.Errorf("the history: %v\n%s", err, raw)
	}
	if st, err := os.Stat(history); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("the history: %v %v", st, err)
	}
	p = sit(t, 60, 20, "prompt", "PAWL_TUI_HISTORY="+history)
	p.Sees("IDLE › ▮")
	p.Types("\x12two\r")
	p.Sees("IDLE › echo two▮")
	p.Types("\x15\x04")
	p.Ends()
}

func TestPromptGivesTheTerminalBack(t *testing.T) {
	for _, c := range []struct {
		name, keys string
		sig        os.Signal
		want       string
	}{
		{"Ctrl-D", "\x04", nil, leftMark + "with <nil>"}, {"ErrLeave", "leave\r", nil, leftMark +
			"with <nil>"}, {"a panic", "panic\r", nil, "on purpose"},
		{"SIGTERM", "", syscall.SIGTERM, leftMark + "with context canceled"}, {"SIGHUP", "some text", syscall.SIGHUP,
			leftMark + "with context canceled"},
		{"a second Ctrl-C", "deaf\r", syscall.SIGINT, "working"},
		{"SIGTERM at work", "slow\r", syscall.SIGTERM, leftMark + "with context canceled"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := sit(t, 100, 30, "prompt")
			p.Sees("IDLE › ▮")
			p.Until("raw mode", func() bool { return !p.Cooked() })
			p.Types(c.keys)
			if c.sig != nil {
				if strings.HasSuffix(c.keys, "\r") {
					p.Sees("working")
				}
				for range 2 {
					_ = p.Cmd.Process.Signal(c.sig)
					time.Sleep(100 * time.Millisecond)
				}
			}
			p.Ends()
			p.Sees(c.want)
		})
	}
}

// An interrupt that comes as a signal is what the key is.
func TestInterruptFromElsewhere(t *testing.T) {
	p := sit(t, 60, 20, "prompt")
	p.Sees("IDLE › ▮")
	p.Types("some text")
	p.Sees("some text▮")
	_ = p.Cmd.Process.Signal(os.Interrupt)
	p.Sees("IDLE › ▮")
	_ = p.Cmd.Process.Signal(os.Interrupt)
	p.Sees("Ctrl-C again leaves")
	_ = p.Cmd.Process.Signal(os.Interrupt)
	p.Ends()
	p.Sees(leftMark + "with <nil>")
}

func TestPromptIsSuspended(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	p := sit(t, 60, 20, "shell", "PAWL_TUI_JOB=prompt", "PAWL_TUI_PID="+file)
	p.Sees("IDLE › ▮")
	pid := job(t, p, file)
	p.Types("echo half")
	p.Sees("echo half▮")
	for range 2 {
		p.Types("\x1a")
		p.Until("the process to be stopped", func() bool { return stateOf(pid) == "T" })
		p.Calm()
		if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
		p.Until("raw mode", func() bool { return !p.Cooked() })
	}
	p.Types(" and half\r")
	p.Sees(`said [half and half]`)
	// At work the terminal is not the prompt's, and the key stops the process by itself.
	p.Types("slow\r")
	p.Sees("working")
	p.Types("\x1a")
	p.Until("the process to be stopped at work", func() bool { return stateOf(pid) == "T" })
	if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	p.Types("\x03")
	p.Sees("IDLE › ▮")
	p.Types("\x04")
	p.Ends()
}

// job is the process that the shell started, as its file says.
func job(t *testing.T, p *person, file string) (pid int) {
	t.Helper()
	p.Until("the job's process", func() bool {
		raw, _ := os.ReadFile(file)
		_, err := fmt.Sscan(string(raw), &pid)
		return err == nil
	})
	t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
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
	p.Sees("IDLE › ▮")
	p.Types("echo a\x1ab\r")
	p.Sees("said [ab]\nIDLE › ▮") // Ctrl-D is a key only while there is a prompt
	p.Types("\x04")
	p.Ends()
}

func TestPromptIsResized(t *testing.T) {
	p := sit(t, 60, 20, "prompt")
	p.Sees("IDLE › ▮")
	p.Types("echo one two three four five six seven eight")
	p.Sees("seven eight▮")
	p.Resize(30, 20)
	p.Sees("IDLE › echo one two three\n  four five six seven eight▮")
	p.Types("\x03\x04")
	p.Ends()
}

func TestDumbTerminal(t *testing.T) {
	p := sit(t, 60, 20, "prompt", "TERM=dumb")
	p.Sees("IDLE › ▮")
	p.Types("echo one\n\necho two\nleave\n")
	p.Sees(`said [two]`)
	p.Ends()
	if strings.Contains(p.Written(), "\x1b") {
		t.Errorf("it wrote %q", p.Written())
	}
}

func TestBoardOnATerminal(t *testing.T) {
	p := sit(t, 80, 24, "board")
	p.Sees("Import record 1")
	p.Sees("q quit")
	// On a busy machine it may still be drawing its first screens; where nothing changes it comes to rest.
	was, rests := len(p.Written()), false
	for range 10 {
		time.Sleep(6 * boardFastest)
		now := len(p.Written())
		if rests = now == was; rests {
			break
		}
		was = now
	}
	if !rests {
		t.Error("it writes although nothing changes")
	}
	p.Types("\x1b[C\x1b[C\x1b[B")
	p.Sees("› GH-124  Show progress of uploads")
	p.Types("\r")
	p.Sees("rename what was renamed")
	p.Types("\x1b")
	p.Sees("registered 99951")
	p.Types("/count\r")
	p.Sees("reading ")
	p.Types("/\x15broken\r")
	p.Sees("✗ ")
	p.Types("?")
	p.Sees("leave the board")
	p.Types("?/\x1b")
	p.Sees("/ filter   ? help")
	p.Resize(200, 50)
	p.Sees("failed 3")
	p.Types("q")
	p.Ends()
	p.Sees(leftMark + "with <nil>")
	if strings.Contains(p.Screen(), "registered") {
		t.Errorf("left with\n%s", p.Screen())
	}
}

func TestBoardGivesTheTerminalBack(t *testing.T) {
	for _, c := range []struct {
		name, keys string
		sig        os.Signal
		want       string
	}{
		{"Ctrl-C", "\x03", nil, leftMark + "with <nil>"}, {"a panic while reading", "/panic\r", nil,
			"on purpose"}, {"SIGTERM", "", syscall.SIGTERM, leftMark + "with context canceled"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := sit(t, 100, 40, "board")
			p.Sees("Import record 1")
			p.Types(c.keys)
			if c.sig != nil {
				_ = p.Cmd.Process.Signal(c.sig)
			}
			p.Ends()
			p.Sees(c.want)
		})
	}
}

func TestBoardWithoutATerminal(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	l := Live{Screen: NewScreen(nil, w, nil, nil, false, 80, os.Getenv),
		Refresh: func(context.Context, Query) (Board, error) { return sample(message.English), nil }}
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
