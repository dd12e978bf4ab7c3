//go:build unix

package self_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"pawl/sandbox/self"
)

// role says what the test binary does in a test's stead.
const role = "SELF_TEST_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(role) {
	case "":
		os.Exit(m.Run())
	case "tell":
		dir, _ := os.Getwd()
		in, _ := os.Stdin.Stat()
		fmt.Println(os.Args[1:], dir, syscall.Getpgrp() == os.Getpid(), in.Mode()&os.ModeCharDevice != 0)
		fmt.Fprintln(os.Stderr, len(os.Environ()))
		os.Exit(9)
	case "work":
		end := make(chan os.Signal, 1)
		signal.Notify(end, os.Interrupt)
		fmt.Println("at work")
		<-end
		fmt.Println("interrupted")
		os.Exit(130)
	}
}

// heard tells of the first thing that is written.
type heard struct {
	all   bytes.Buffer
	first func()
}

func (h *heard) Write(p []byte) (int, error) {
	if h.all.Len() == 0 {
		defer h.first()
	}
	return h.all.Write(p)
}

func TestRun(t *testing.T) {
	var out bytes.Buffer
	dir := t.TempDir()
	status, err := self.Run(t.Context(), self.Command{Args: []string{"a b", "c"}, Env: []string{role + "=tell"},
		Dir: dir, Output: &out}, nil)
	// Nothing of the environment of pawl comes along, and the terminal's signals do not reach the process.
	if want := fmt.Sprintf("[a b c] %s true true\n1\n", dir); status != 9 || err != nil || out.String() != want {
		t.Errorf("status %d, %v: %q, want %q", status, err, &out, want)
	}
	if _, err := self.Run(t.Context(), self.Command{Dir: dir + "/gone"}, nil); err == nil {
		t.Error("it started nowhere")
	}
}

func TestRun_Interrupted(t *testing.T) {
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	out := &heard{first: stop}
	status, err := self.Run(ctx, self.Command{Env: []string{role + "=work"}, Output: out}, nil)
	if status != 130 || !errors.Is(err, context.Canceled) || !strings.HasSuffix(out.all.String(), "interrupted\n") {
		t.Errorf("status %d, %v: %s", status, err, &out.all)
	}
}

func TestRun_Killed(t *testing.T) {
	begun := make(chan struct{})
	out := &heard{first: func() { close(begun) }}
	pid := 0
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	status, err := self.Run(ctx, self.Command{Env: []string{role + "=work"}, Output: out}, func(p *os.Process) {
		pid = p.Pid
		go func() { <-begun; _ = p.Kill() }()
	})
	if status != self.Killed || err != nil || out.all.String() != "at work\n" {
		t.Errorf("status %d, %v: %s", status, err, &out.all)
	}
	for end := time.Now().Add(time.Minute); syscall.Kill(pid, 0) == nil; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d is alive", pid)
		}
	}
}
