package lockfile

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"pawl"
)

// Holder is the process that holds a lock, as far as that is known.
type Holder struct {
	// PID is 0 where nobody knows.
	PID  int    `json:"pid"`
	Host string `json:"host,omitempty"`
	// Since is when it took the lock or, where nobody wrote that down, when it began to run.
	Since   time.Time `json:"started"`
	Command string    `json:"command,omitempty"`
	State   State     `json:"state,omitempty"`
}

// State is what a process does.
type State string

// The states of a process that can be told apart; "" where it cannot be known.
const (
	Running State = "running"
	// Stopped is one that a signal stopped, such as that of Ctrl-Z, or that a debugger holds.
	Stopped State = "stopped"
	// Frozen is one whose cgroup is frozen.
	Frozen State = "frozen"
	// Gone is one that has ended, and left the lock to something that it had started.
	Gone State = "gone"
)

// Halted reports whether the process does not go on by itself.
func (h Holder) Halted() bool { return h.State == Stopped || h.State == Frozen }

// Fault is the error, with code busy, for a file whose lock the process holds. Its hint says what to do about that.
func (h Holder) Fault(path string) *pawl.Error {
	since := "?"
	if !h.Since.IsZero() {
		since = h.Since.Local().Format(time.DateTime)
	}
	key, args := "lock.running", []any{path, h.PID, h.Command, since}
	switch {
	case h.PID == 0:
		key, args = "lock.unknown", args[:1]
	case h.Host != "" && h.Host != hostname():
		key, args = "lock.elsewhere", append(args, h.Host)
	case h.PID == os.Getpid():
		key, args = "lock.self", args[:2]
	case h.State == Stopped:
		key = "lock.stopped"
	case h.State == Frozen:
		key = "lock.frozen"
	case h.State == Gone:
		key, args = "lock.gone", args[:2]
	}
	return pawl.Fail(pawl.CodeBusy, key, args...).In("lockfile.wait")
}

// Who says who holds the lock of a file; it is false where nobody does.
func Who(path string) (Holder, bool) {
	said := announced(path)
	pid, listed := flocked(path)
	if !listed && !Held(path) {
		return Holder{}, false
	}
	if pid > 0 && (said.PID != pid || said.Host != hostname()) {
		said = Holder{PID: pid}
	}
	return said.complete(path), true
}

// Process is a process of this machine as the holder of a lock of another kind.
func Process(pid int) Holder { return Holder{PID: pid}.complete("") }

// Range says which process holds an exclusive lock (of fcntl) on a part of a file, between two places of it. It is
// false where nobody is known to, as on systems that do not list their locks. It does not open the file.
func Range(path string, from, to int64) (Holder, bool) {
	pid, ok := ranged(path, from, to)
	if !ok {
		return Holder{}, false
	}
	return Holder{PID: pid}.complete(path), true
}

// complete completes what a process said of itself by what the system knows of it.
func (h Holder) complete(path string) Holder {
	if h.Host == "" {
		h.Host = hostname()
	}
	if h.PID <= 0 || h.Host != hostname() {
		return h
	}
	if !exists(h.PID) {
		if pid := opener(path); pid > 0 {
			return Holder{PID: pid, Host: h.Host}.complete(path)
		}
		h.State = Gone
		return h
	}
	h.State = StateOf(h.PID)
	if h.Command == "" {
		h.Command = commandOf(h.PID)
	}
	if h.Since.IsZero() {
		h.Since = startOf(h.PID)
	}
	return h
}

// longest is how much of a command line is kept, in bytes.
const longest = 200

// me is this process, now.
func me() Holder {
	args := append([]string{filepath.Base(os.Args[0])}, os.Args[1:]...)
	return Holder{PID: os.Getpid(), Host: hostname(), Since: time.Now().UTC().Truncate(time.Millisecond),
		Command: brief(strings.Join(args, " "))}
}

// brief cuts a command line to what a person needs to know it again.
func brief(command string) string {
	command, _, cut := strings.Cut(command, "\n")
	if len(command) > longest {
		command, cut = strings.ToValidUTF8(command[:longest], ""), true
	}
	if cut {
		command += " …"
	}
	return command
}

func hostname() string {
	name, err := os.Hostname()
	if err != nil {
		return "localhost"
	}
	return name
}

// announce writes into the file who holds its lock. Where that fails, a full disk for one, nobody reads who it was; the
// lock holds all the same.
func announce(f *os.File) {
	text, err := json.Marshal(me())
	if err != nil {
		return
	}
	text = append(text, '\n')
	if _, err := f.WriteAt(text, 0); err == nil {
		_ = f.Truncate(int64(len(text)))
	}
}

// announced reads what announce wrote; it is empty where that makes no sense. It may be that of an earlier holder.
func announced(path string) Holder {
	f, err := os.OpenFile(path, os.O_RDONLY|noFollow, 0)
	if err != nil {
		return Holder{}
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, 64<<10))
	if err != nil {
		return Holder{}
	}
	line, _, _ := bytes.Cut(text, []byte("\n"))
	var h Holder
	if json.Unmarshal(line, &h) != nil || h.PID < 0 {
		return Holder{}
	}
	h.State = ""
	return h
}
