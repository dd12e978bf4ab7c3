// Package outside runs, without walls, programs of the user's own that look after the user's own files: those that
// renew a login in the place where it is kept. Nothing of what an agent or a project chose may become a part of such a
// call.
//
// A program that renews a login must not be ended: between what its maker has answered and what it has written, it has
// the only copy of the login there is. So it is in a session of its own, which no interrupt of the terminal reaches, it
// writes to a file and to no pipe of pawl's, its input does not come to an end when pawl does, and nobody kills it.
package outside

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// Command is a program and what it is called with.
type Command struct {
	// Path is the program, absolute, and Args its arguments.
	Path string
	Args []string
	// Dir is the working directory. The environment is pawl's own, without the variables that Without names.
	Dir     string
	Without []string
	// Input is what the program reads. The input stays open until Answered reports so for what was written, until Limit
	// is over, or a little longer than that where pawl itself has ended. Nil Answered waits for the program's end, and
	// Input may be empty then.
	Input    string
	Answered func(output []byte) bool
	Limit    time.Duration
	// Output takes what the program writes; it must be open for reading, too. Hold, which may be nil, is a file that
	// the program has open as long as it lives.
	Output, Hold *os.File
}

// lookEvery is how often pawl looks whether a program has answered, and grace how long one has to end after that.
const (
	lookEvery = 20 * time.Millisecond
	grace     = 5 * time.Second
	maxOutput = 1 << 20
)

// errLate is the error of a program that did not come to its end in time.
var errLate = errors.New("it did not come to its end in time and goes on; pawl does not end it, because it may have the only copy of the login")

// Run runs a program until it has answered, or ended where there is no Answered. Started is told of its process. The
// error says that it could not be started, that it ended with another status than 0 without having answered, or that it
// is late; then, and where ctx ends, it is left alone.
func Run(ctx context.Context, c Command, started func(pid int)) error {
	cmd := exec.Command(c.Path, c.Args...)
	cmd.Dir, cmd.Env, cmd.SysProcAttr = c.Dir, environ(c.Without), ownSession()
	cmd.Stdout, cmd.Stderr = c.Output, c.Output
	if c.Hold != nil {
		cmd.ExtraFiles = []*os.File{c.Hold}
	}
	shut := func() {}
	if c.Answered != nil {
		var err error
		if shut, err = feed(cmd, c); err != nil {
			return err
		}
	}
	if err := cmd.Start(); err != nil {
		shut()
		return err
	}
	if in, ok := cmd.Stdin.(*os.File); ok {
		_ = in.Close()
	}
	started(cmd.Process.Pid)
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	return attend(ctx, c, shut, ended)
}

// attend waits until a program has answered or ended. One that is left alone keeps its input until Limit is over.
func attend(ctx context.Context, c Command, shut func(), ended <-chan error) error {
	late := time.NewTimer(c.Limit)
	defer late.Stop()
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for {
		select {
		case err := <-ended:
			shut()
			if err != nil && !answered(c) {
				return fmt.Errorf("%w: %s", err, last(c.Output))
			}
			return nil
		case <-look.C:
			if !answered(c) {
				continue
			}
			shut()
			select {
			case <-ended:
			case <-time.After(grace):
			}
			return nil
		case <-late.C:
			return errLate
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func answered(c Command) bool { return c.Answered != nil && c.Answered(read(c.Output)) }

// read returns what a program has written so far.
func read(f *os.File) []byte {
	raw, _ := io.ReadAll(io.NewSectionReader(f, 0, maxOutput)) // what was read counts
	return raw
}

// last is the last line of what a program has written.
func last(f *os.File) string {
	lines := strings.Split(strings.TrimSpace(string(read(f))), "\n")
	text := lines[len(lines)-1]
	if len(text) > 300 {
		text = text[:300] + "…"
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}

// feed gives a program an input that stays open when pawl is gone: a program that does nothing but sleep holds the
// other end. shut ends that one, and with it the input.
func feed(cmd *exec.Cmd, c Command) (shut func(), err error) {
	in, out, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	holder := exec.Command("sleep", strconv.Itoa(int(c.Limit/time.Second)+1))
	holder.Dir, holder.Env, holder.Stdout, holder.SysProcAttr = "/", environ(nil), out, ownSession()
	if err := holder.Start(); err != nil {
		return nil, errors.Join(err, in.Close(), out.Close())
	}
	gone := make(chan struct{})
	go func() { defer close(gone); _ = holder.Wait() }()
	_, err = io.WriteString(out, c.Input) // far less than a pipe holds
	_ = out.Close()
	shut = func() {
		_ = holder.Process.Kill()
		<-gone
	}
	if err != nil {
		shut()
		return nil, errors.Join(err, in.Close())
	}
	cmd.Stdin = in
	return shut, nil
}

// environ is pawl's own environment without some variables.
func environ(without []string) []string {
	var out []string
next:
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		for _, w := range without {
			if name == w {
				continue next
			}
		}
		out = append(out, kv)
	}
	return out
}
