//go:build linux

// Command recordings films pawl at work and writes the films into docs/recordings, as pictures that move and need no
// player. Each is a shell on a terminal of its own, in a new folder with an empty home, in which the commands of a
// scene are typed: nothing on the screen is made up. Waits of more than two seconds are cut short.
//
//	go run ./internal/recordings -pawl FILE [-into DIR] [NAME…]
//
// A film is for people. That the commands of the documents work is cmd/pawl's tests' to prove.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"pawl/internal/terminaltest"
)

// The size of the screen, which fits beside text, and how long a command may take.
const (
	columns  = 92
	lines    = 30
	patience = 3 * time.Minute
)

// mark is what the shell prints before its prompt, and nobody sees: it waits for a command.
const mark = "\x1b]133;A\x07"

func main() {
	program := flag.String("pawl", "bin/pawl", "the program to film")
	into := flag.String("into", "docs/recordings", "the folder of the films")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *program, *into, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "recordings:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, program, into string, names []string) error {
	program, err := filepath.Abs(program)
	if err != nil {
		return err
	}
	if _, err := os.Stat(program); err != nil {
		return fmt.Errorf("%w; make build makes it", err)
	}
	for _, name := range names {
		if !slices.ContainsFunc(scenes, func(s scene) bool { return s.name == name }) {
			return fmt.Errorf("there is no scene %s", name)
		}
	}
	for _, s := range scenes {
		if len(names) > 0 && !slices.Contains(names, s.name) {
			continue
		}
		start := time.Now()
		picture, err := s.film(ctx, program)
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		to := filepath.Join(into, s.name+".svg")
		if err := os.WriteFile(to, []byte(picture), 0o644); err != nil {
			return err
		}
		fmt.Printf("%s  %d kB  %.0f s\n", to, len(picture)/1000, time.Since(start).Seconds())
	}
	return nil
}

// film plays a scene in a folder of its own, which is removed afterwards.
func (s scene) film(ctx context.Context, program string) (picture string, err error) {
	dir, err := os.MkdirTemp("", "recording-")
	if err != nil {
		return "", err
	}
	defer func() {
		// The module cache of Go has folders that cannot be written to.
		_ = exec.Command("chmod", "-R", "u+w", dir).Run()
		err = errors.Join(err, os.RemoveAll(dir))
	}()
	work, bin := filepath.Join(dir, "work"), filepath.Join(dir, "bin")
	for _, d := range []string{work, bin, filepath.Join(dir, "home")} {
		if err := os.Mkdir(d, 0o755); err != nil {
			return "", err
		}
	}
	if err := os.Symlink(program, filepath.Join(bin, "pawl")); err != nil {
		return "", err
	}
	sh := exec.CommandContext(ctx, "bash", "--noprofile", "--norc", "-i")
	sh.Dir = work
	sh.Env = []string{
		"HOME=" + filepath.Join(dir, "home"), "PATH=" + bin + ":" +
			os.Getenv("PATH"), "TERM=xterm-256color", "LANG=C.UTF-8", "USER=ada", "GIT_CONFIG_NOSYSTEM=1",
		`PS1=\[\e]133;A\a\]\[\e[32m\]$\[\e[0m\] `, "HISTFILE=", "GIT_PAGER=cat", "GOTOOLCHAIN=local",
		"GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@example.org",
		"GIT_COMMITTER_NAME=Ada", "GIT_COMMITTER_EMAIL=ada@example.org",
	}
	for name, content := range s.files {
		path := filepath.Join(work, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return "", err
		}
		if err := os.WriteFile(path, []byte(content), 0o755); err != nil {
			return "", err
		}
	}
	for _, line := range s.before {
		c := exec.CommandContext(ctx, "bash", "-c", line)
		c.Dir, c.Env = work, sh.Env
		if out, err := c.CombinedOutput(); err != nil {
			return "", fmt.Errorf("%s: %w\n%s", line, err, out)
		}
	}
	return s.shoot(ctx, sh)
}

// shoot types the commands of the scene at a shell.
func (s scene) shoot(ctx context.Context, sh *exec.Cmd) (string, error) {
	if err := terminaltest.Window(); err != nil {
		return "", err
	}
	pty, tty, err := terminaltest.New()
	if err != nil {
		return "", err
	}
	defer pty.Close()
	err = unix.IoctlSetWinsize(int(pty.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: lines, Col: columns})
	sh.Stdin, sh.Stdout, sh.Stderr = tty, tty, tty
	sh.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err == nil {
		err = sh.Start()
	}
	_ = tty.Close() // the shell has it
	if err != nil {
		return "", err
	}
	c := &camera{pty: pty, film: newFilm(columns, lines, time.Now()), came: make(chan []byte, 16)}
	go c.read()
	go c.answer()
	err = c.play(ctx, s.steps)
	_ = sh.Process.Kill()
	_ = sh.Wait() // it was killed
	if err != nil {
		return "", fmt.Errorf("%w; the screen is\n%s", err, c.film.screen.String())
	}
	return c.film.svg(s.title), nil
}

// camera films a terminal.
type camera struct {
	pty  *os.File
	film *film
	came chan []byte // what was written, closed at the end
	seen string      // since the last step
}

func (c *camera) read() {
	defer close(c.came)
	for {
		buf := make([]byte, 32<<10)
		n, err := c.pty.Read(buf)
		if n > 0 {
			c.came <- buf[:n]
		}
		if err != nil {
			return
		}
	}
}

// answer gives back what the terminal answers by itself, such as where its cursor is.
func (c *camera) answer() {
	buf := make([]byte, 256)
	for {
		n, err := c.film.screen.Read(buf)
		if err != nil {
			return
		}
		_, _ = c.pty.Write(buf[:n]) // nobody may read any more
	}
}

func (c *camera) play(ctx context.Context, steps []step) error {
	if err := c.until(ctx, mark); err != nil {
		return err
	}
	for _, s := range steps {
		for _, key := range s.keys {
			if _, err := c.pty.WriteString(string(key)); err != nil {
				return err
			}
			c.rest(35 * time.Millisecond)
		}
		c.rest(300 * time.Millisecond)
		c.seen = ""
		if _, err := c.pty.WriteString("\r"); err != nil {
			return err
		}
		sees := s.sees
		if sees == "" {
			sees = mark
		}
		if err := c.until(ctx, sees); err != nil {
			return fmt.Errorf("after %q: %w", s.keys, err)
		}
		c.rest(s.look)
	}
	return nil
}

// rest lets time pass while the screen is filmed.
func (c *camera) rest(d time.Duration) {
	for end := time.After(d); ; {
		select {
		case p, ok := <-c.came:
			if !ok {
				return
			}
			c.take(p)
		case <-end:
			return
		}
	}
}

// until films until a text was written.
func (c *camera) until(ctx context.Context, text string) error {
	limit := time.After(patience)
	for !strings.Contains(c.seen, text) {
		select {
		case p, ok := <-c.came:
			if !ok {
				return errors.New("the shell has ended")
			}
			c.take(p)
		case <-limit:
			return fmt.Errorf("%q was not written within %s", text, patience)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

func (c *camera) take(p []byte) {
	c.seen += string(p)
	c.film.show(p, time.Now())
}
