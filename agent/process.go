package agent

import (
	"context"
	"io"
	"net"

	"pawl/kernel/effect"
)

// Spec describes the process of an external agent. Paths are absolute.
type Spec struct {
	// Argv is the program, by its absolute path, and its arguments; no shell is involved.
	Argv []string
	// Dir is the working directory and Env the whole environment.
	Dir string
	Env []string
	// Writable lists what the agent may change, Readable what it needs to read besides what every command may.
	Writable, Readable []string
	// Hidden lists what the agent must not see, although it lies where it may read.
	Hidden []string
	// MustHide says that the process may not be started where that cannot be done.
	MustHide bool
	// Task is the id of the task that the process may change files for, "" for a process that only answers a question.
	Task string
	// Secret, when not empty, is what the program can read once from a pipe at descriptor SecretFD.
	Secret   []byte
	SecretFD int
	// Sites are places, each as host:port, that the process may connect to through a proxy which its environment names.
	// Without them, and without Inside, it has no network.
	Sites []string
	// Inside, when not nil, is called exactly once, before the program starts, with a listener at 127.0.0.1:Port as the
	// agent sees it, and takes it over. It does not block. It is, beside Sites, the agent's only way out. A Start that
	// fails need not have called it.
	Inside func(net.Listener)
	Port   uint16
	// Unproxied leaves the variables out that name a proxy. They name one that refuses everything at once; without them
	// a program that asks for other addresses than Inside's may wait for its own time-outs.
	Unproxied bool
}

// Process is an agent at work behind walls.
type Process interface {
	Stdin() io.WriteCloser
	Stdout() io.Reader
	Stderr() io.Reader
	// Wait waits until no process of the agent is left, and returns the exit status, which is 128 plus the number for
	// one that was ended by a signal. What the program leaves behind when it ends is killed. Wait is called once, while
	// Stdout and Stderr are being read: what was written before the end can still be read, and then they come to their
	// end.
	Wait() (exit int, err error)
	// Kill ends every process of the agent at once, grandchildren and those that ignore signals included. It may be
	// called at any time, often, and concurrently with everything else.
	Kill()
}

// Start starts a process. When ctx ends the process is killed. An error is one of pawl's and says why nothing was
// started.
type Start func(ctx context.Context, s Spec) (Process, error)

// Judge is what a Host can do besides: it judges a call as Host.Call does and does not make it. External agents ask for
// permission before they act themselves inside the walls; where the host is no Judge, they may edit files of the tree,
// to which the walls confine them, and are refused everything else.
type Judge interface {
	Judge(ctx context.Context, a effect.Ask) error
}
