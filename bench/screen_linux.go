package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"pawl/internal/terminaltest"
	"pawl/text/shell"
)

// promptMark is what the prompt of an idle session shows first.
const promptMark = "IDLE"

// benchScreen measures the time from the start of a bare `pawl` to its prompt on a terminal.
func benchScreen(ctx context.Context, s *settings, p *program, dir string, emit func(Result)) error {
	s.say("a bare pawl on a terminal")
	var times []float64
	for round := range seeRuns + 1 {
		took, err := toPrompt(ctx, p, dir)
		if err != nil {
			return err
		}
		if round > 0 { // the first round warms the system's caches
			times = append(times, float64(took))
		}
	}
	emit(Result{Case: "a bare pawl to its prompt", Pawl: tookNanos(median(times)), Score: median(times) / 1e6,
		Unit: "ms", Goal: 60, AtMost: true,
		Note: fmt.Sprintf("p99 %s; %d runs", short(quantile(times, 0.99)), seeRuns)})
	return nil
}

// toPrompt starts a bare pawl on a terminal of its own and returns when its prompt stood there.
func toPrompt(ctx context.Context, p *program, dir string) (took time.Duration, err error) {
	pty, tty, err := terminaltest.New()
	if err != nil {
		return 0, err
	}
	defer pty.Close()
	if err := unix.IoctlSetWinsize(int(pty.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80}); err != nil {
		return 0, errors.Join(err, tty.Close())
	}
	c := p.command(ctx, dir)
	c.Env = append(c.Env, "TERM=xterm-256color")
	c.Stdin, c.Stdout, c.Stderr = tty, tty, tty
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 0}
	start := time.Now()
	err = c.Start()
	_ = tty.Close() // the command has it open
	if err != nil {
		return 0, err
	}
	seen := ""
	buf := make([]byte, 4096)
	for took == 0 {
		n, err := pty.Read(buf)
		if seen += string(buf[:n]); strings.Contains(seen, promptMark) {
			took = time.Since(start)
		} else if err != nil {
			return 0, errors.Join(fmt.Errorf("a bare pawl showed no prompt: %q", seen), c.Wait())
		}
	}
	err = c.Process.Kill()
	_ = c.Wait() // it was killed
	return took, err
}

// atTerminal types a command at a shell in a terminal of its own, as a person does, and reads the JSON that it prints.
func atTerminal(ctx context.Context, p *program, dir string, into any, args ...string) error {
	if err := terminaltest.Window(); err != nil {
		return err
	}
	pty, tty, err := terminaltest.New()
	if err != nil {
		return err
	}
	defer pty.Close()
	var out bytes.Buffer
	typed := p.command(ctx, dir, args...)
	c := exec.CommandContext(ctx, "bash", "--noprofile", "--norc", "-i")
	c.Dir, c.Env = typed.Dir, typed.Env
	c.Stdin, c.Stdout, c.Stderr = tty, &out, tty
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 0}
	if _, err = pty.WriteString(shell.QuoteAll(typed.Args) + "; exit\n"); err == nil {
		err = c.Run()
	}
	_ = tty.Close() // nothing more is written to it
	if err == nil {
		err = json.Unmarshal(out.Bytes(), into)
	}
	if err != nil {
		said := make([]byte, 4096)
		n, _ := pty.Read(said)
		err = fmt.Errorf("pawl %s: %w: %s%s", strings.Join(args, " "), err, out.Bytes(), said[:n])
	}
	return err
}
