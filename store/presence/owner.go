package presence

import (
	"os"
	"time"

	"pawl/store/lockfile"
	"pawl/store/sqlite"
)

// Owner is the process that runs work in a workspace.
type Owner struct {
	PID     int
	Host    string
	Started time.Time
	Command string
	// State is stopped or frozen where the process is there and does not go on by itself, "" otherwise.
	State string
}

// Own takes the right to run work in the workspace of dir, its .pawl folder, in the name of a command line, and returns
// what gives it back. It is CodeBusy where another process has it, and names that.
func Own(dir, command string) (release func(), err error) {
	own, err := sqlite.Own(dir, sqlite.OwnerInfo{PID: os.Getpid(), Host: hostname(), Started: time.Now().UTC(),
		Command: command})
	if err != nil {
		return nil, err
	}
	return func() { _ = own.Release() }, nil
}

// OwnerOf says which process has that right now; ok is false where none has.
func OwnerOf(dir string) (o Owner, ok bool) {
	info, ok := sqlite.Owner(dir)
	o = Owner{PID: info.PID, Host: info.Host, Started: info.Started, Command: info.Command}
	if h := (lockfile.Holder{State: lockfile.StateOf(info.PID)}); info.Host == hostname() && h.Halted() {
		o.State = string(h.State)
	}
	return o, ok
}

// hostname is the name of the machine in what processes say of themselves.
func hostname() string {
	name, err := os.Hostname()
	if err != nil {
		return "localhost"
	}
	return name
}
