package login

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"pawl"
)

// renewal is how the maker's own program gets another token and writes it where it keeps it.
type renewal struct {
	// program is its name on PATH, and args what it is called with.
	program string
	args    []string
	// without are variables that would have it use something else than its file.
	without []string
	// input is what it is told, and answered reports whether it has said that it is finished; nil waits for its end.
	input    string
	answered func(output []byte) bool
}

// Command is a program of the user's own that is run as the user would run it, in the user's home and with the user's
// environment.
type Command struct {
	Path string
	Args []string
	// Dir is the working directory, and Without are variables that are left out of the environment.
	Dir     string
	Without []string
	// Input is what it reads. It does not come to its end before Answered reports so for what was written, or Limit is
	// over; the program is never ended, whatever becomes of the caller.
	Input    string
	Answered func(output []byte) bool
	Limit    time.Duration
	// Output is an open file that takes what it writes, and Hold one that stays open as long as it lives.
	Output, Hold *os.File
}

// Run runs a command until it has answered or ended. Started is told of its process before anything is waited for. An
// error is that it could not be started, or that it did neither in time.
type Run func(ctx context.Context, c Command, started func(pid int)) error

// How long a renewal may take, and how long one waits for that of another process.
const (
	renewLimit = time.Minute
	waitLimit  = 90 * time.Second
	waitEvery  = 100 * time.Millisecond
)

// renew has the maker's program renew the login whose token is old, and returns what the file holds then. It waits for
// renewals of other processes: two at once would show the maker the same refresh token, which ends the login. Where
// somebody else has renewed it meanwhile there is nothing to do.
func (k *Keeper) renew(ctx context.Context, old secret) (Login, error) {
	m := k.maker
	l, err := k.Look()
	if err != nil || l.token != old {
		return l, err
	}
	switch {
	case m.renewal == nil || !l.Renewable:
		return l, m.fail(pawl.CodeLogin, "login.refused", k.config.Agent)
	case k.config.Path == "":
		return l, m.fail(pawl.CodeLogin, "login.no_program", m.renewal.program)
	case k.config.Workspace != "" && inside(k.config.Path, k.config.Workspace):
		return l, pawl.Fail(pawl.CodeDenied, "login.program_in_project", k.config.Path).In("login.Renew")
	}
	lock, err := k.take(ctx)
	if err != nil {
		return l, err
	}
	defer lock.close()
	if l, err = k.Look(); err != nil || l.token != old {
		return l, err
	}
	if err := k.run(ctx, lock); err != nil {
		return l, err
	}
	next, err := k.Look()
	switch {
	case err != nil:
		return l, err
	case next.token == old:
		return l, m.fail(pawl.CodeLogin, "login.not_renewed", k.config.Agent)
	}
	return next, nil
}

// run runs the maker's program while the lock is held. The program holds it too, so that nobody else renews before it
// is at its end even where pawl is killed meanwhile.
func (k *Keeper) run(ctx context.Context, lock *lock) error {
	r := k.maker.renewal
	out, err := os.OpenFile(filepath.Join(lock.dir, "output"), os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return pawl.Fail(pawl.CodeIO, "login.state", lock.dir).Because(err).In("login.Renew")
	}
	defer func() { _ = errors.Join(out.Close(), os.Remove(out.Name())) }()
	err = k.config.Run(ctx, Command{
		Path: k.config.Path, Args: r.args, Dir: k.config.Home, Without: r.without, Input: r.input, Answered: r.answered,
		Limit: renewLimit, Output: out, Hold: lock.file,
	}, func(pid int) { lock.note(holder{Program: r.program, PID: pid, Since: k.config.Now()}) })
	if err != nil {
		code := pawl.CodeLogin
		if ctx.Err() != nil {
			code = pawl.CodeCanceled
		}
		return pawl.Fail(code, "login.renewal", r.program, k.maker.signIn).Because(err).In("login.Renew")
	}
	return nil
}

// holder says who has the lock. It is for people: what holds is the lock of the system.
type holder struct {
	Program string    `json:"program"`
	PID     int       `json:"pid"`
	Since   time.Time `json:"since"`
}

// lock is the right to renew, on the whole machine for this user. It ends with the last process that has the file open.
type lock struct {
	dir  string
	file *os.File
}

// note writes down who has the lock.
func (l *lock) note(h holder) {
	raw, _ := json.Marshal(h) // words and numbers always encode
	_ = l.file.Truncate(0)
	_, _ = l.file.WriteAt(raw, 0) // a lock without a name holds as well
}

// close gives the lock back, as far as nobody else has the file open.
func (l *lock) close() { _ = l.file.Close() }

// take waits for the lock.
func (k *Keeper) take(ctx context.Context) (*lock, error) {
	dir := filepath.Join(k.config.State, "login", k.maker.programs[0])
	failed := func(err error) (*lock, error) {
		return nil, pawl.Fail(pawl.CodeIO, "login.state", dir).Because(err).In("login.Renew")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return failed(err)
	}
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return failed(err)
	}
	tick := time.NewTicker(waitEvery)
	defer tick.Stop()
	over := time.NewTimer(waitLimit)
	defer over.Stop()
	for {
		ok, err := tryLock(f)
		switch {
		case err != nil:
			_ = f.Close()
			return failed(err)
		case ok:
			l := &lock{dir: dir, file: f}
			l.note(holder{Program: "pawl", PID: os.Getpid(), Since: k.config.Now()})
			return l, nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			_ = f.Close()
			return nil, pawl.Fail(pawl.CodeCanceled, "agent.canceled",
				k.config.Agent).Because(context.Cause(ctx)).In("login.Renew")
		case <-over.C:
			h := held(f)
			_ = f.Close()
			return nil, pawl.Fail(pawl.CodeBusy, "login.busy", h.Program, strconv.Itoa(h.PID),
				h.Since.Local().Format(time.TimeOnly)).In("login.Renew")
		}
	}
}

// held reads who has the lock.
func held(f *os.File) holder {
	var h holder
	raw := make([]byte, 4<<10)
	n, _ := f.ReadAt(raw, 0)
	_ = json.Unmarshal(raw[:n], &h) // a name that cannot be read is none
	return h
}
