// Package self starts pawl itself once more, as its person would from a shell: a process of its own without walls,
// which builds the walls around what it starts. The demo shows runs of pawl with it.
package self

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"time"
)

// Command is one command line of pawl.
type Command struct {
	// Args are the arguments, without the program's name. Env is the whole environment, and Dir the working directory.
	Args, Env []string
	Dir       string
	// Output takes what the process writes to either of its streams, in order.
	Output io.Writer
}

// grace is how long a process has after an interrupt before it is killed.
const grace = 15 * time.Second

// Killed is the status of a process that a signal ended.
const Killed = -1

// Run runs a command line to its end and returns its exit status, Killed where a signal ended it. The error says that
// it could not be started, or that ctx ended: then the process was interrupted once, as Ctrl-C does, had fifteen
// seconds to end, and is gone. Signals of the terminal reach it only in this way. Its standard input is empty. Started,
// which may be nil, is told of the process; it may kill it.
func Run(ctx context.Context, c Command, started func(p *os.Process)) (status int, err error) {
	program, err := os.Executable()
	if err != nil {
		return 0, err
	}
	cmd := exec.CommandContext(ctx, program, c.Args...)
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = c.Env, c.Dir, c.Output, c.Output
	cmd.SysProcAttr = ownGroup()
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = grace
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	if started != nil {
		started(cmd.Process)
	}
	err = cmd.Wait()
	var ended *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return cmd.ProcessState.ExitCode(), context.Cause(ctx)
	case errors.As(err, &ended), err == nil:
		return cmd.ProcessState.ExitCode(), nil
	}
	return 0, err
}
