//go:build unix

package externaltest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"pawl"
	"pawl/agent"
)

type process struct {
	cmd    *exec.Cmd
	in     *os.File
	out    *os.File
	errs   *os.File
	done   chan struct{}
	killed sync.Once
}

func (p *process) Stdin() io.WriteCloser { return p.in }
func (p *process) Stdout() io.Reader     { return p.out }
func (p *process) Stderr() io.Reader     { return p.errs }
func (p *process) Kill() {
	p.killed.Do(func() { _ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) })
}

func (p *process) Wait() (int, error) {
	<-p.done
	state := p.cmd.ProcessState
	if s, ok := state.Sys().(syscall.WaitStatus); ok && s.Signaled() {
		return 128 + int(s.Signal()), nil
	}
	return state.ExitCode(), nil
}

// Start starts a process in a group of its own, without walls.
func Start(ctx context.Context, s agent.Spec) (agent.Process, error) {
	if s.Inside != nil {
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", s.Port))
		if err != nil {
			return nil, pawl.Fail(pawl.CodeIO, "agent.no_home", s.Argv[0]).Because(err)
		}
		s.Inside(l)
	}
	p := &process{cmd: exec.Command(s.Argv[0], s.Argv[1:]...), done: make(chan struct{})}
	p.cmd.Dir, p.cmd.Env = s.Dir, s.Env
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var theirs [3]*os.File
	var err [3]error
	theirs[0], p.in, err[0] = os.Pipe()
	p.out, theirs[1], err[1] = os.Pipe()
	p.errs, theirs[2], err[2] = os.Pipe()
	if e := errors.Join(err[:]...); e != nil {
		return nil, e
	}
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = theirs[0], theirs[1], theirs[2]
	startErr := p.cmd.Start()
	for _, f := range theirs {
		_ = f.Close()
	}
	if startErr != nil {
		return nil, pawl.Fail(pawl.CodeEnvironment, "agent.not_installed", s.Argv[0], "").Because(startErr)
	}
	stop := context.AfterFunc(ctx, p.Kill)
	go func() {
		_ = p.cmd.Wait()
		stop()
		p.Kill() // whatever the program left behind in its group
		close(p.done)
	}()
	return p, nil
}

// Gone reports whether a process has ended, and waits a little for it. One that nobody asked for its status has ended.
func Gone(pid int) bool {
	for range 100 {
		stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)) // there is none where there is no /proc
		if syscall.Kill(pid, 0) != nil || bytes.Contains(stat, []byte(") Z ")) {
			return true
		}
		time.Sleep(20 * time.Millisecond)
	}
	return false
}
