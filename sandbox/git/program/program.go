// Package program runs the git program, with nothing of the user's settings but what a call names: the environment
// outranks the files of any repository, so that none of them makes git start a program, talk to anybody or convert a
// content.
package program

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"pawl"
)

const (
	callTimeout = 2 * time.Minute
	callGrace   = 500 * time.Millisecond
	outputLimit = 256 << 20
	stderrLimit = 16 << 10
)

// hardening is the configuration that the environment injects into every call. It outranks the files of any repository.
// Keys that only the user's directory could set are here as well, because plumbing calls read that directory.
var hardening = [][2]string{
	{"core.fsmonitor", "false"},
	{"core.hooksPath", os.DevNull},
	{"core.attributesFile", os.DevNull},
	{"core.excludesFile", os.DevNull},
	{"core.pager", "cat"},
	{"core.editor", "false"},
	{"core.askPass", "false"},
	{"core.sshCommand", "false"},
	{"core.alternateRefsCommand", "false"},
	{"credential.helper", ""},
	{"protocol.allow", "never"},
	{"safe.bareRepository", "explicit"},
	{"diff.ignoreSubmodules", "all"},
	{"submodule.recurse", "false"},
	{"commit.gpgSign", "false"},
	{"tag.gpgSign", "false"},
	{"log.showSignature", "false"},
	{"gpg.program", "false"},
	{"gc.auto", "0"},
	{"maintenance.auto", "false"},
	{"core.untrackedCache", "false"},
	{"core.splitIndex", "false"},
	{"core.sparseCheckout", "false"},
	{"core.autocrlf", "false"},
	{"core.eol", "lf"},
	{"core.safecrlf", "false"},
	{"core.quotePath", "false"},
	{"core.protectHFS", "true"},
	{"core.protectNTFS", "true"},
	{"core.commitGraph", "false"},
	{"core.useReplaceRefs", "false"},
	{"core.fsync", "committed"},
	{"core.fsyncMethod", "batch"},
	{"worktree.guessRemote", "false"},
	{"merge.conflictStyle", "zdiff3"},
}

// Call is one run of git.
type Call struct {
	Args  []string
	Env   []string // Environment, and what says where the repository is
	Dir   string
	Stdin io.Reader
	// Stdout receives the output instead of the result.
	Stdout io.Writer
	// Answers are the exit statuses besides 0 that are answers rather than failures.
	Answers []int
}

type heldKey struct{}

// WithLock has the calls under a context inherit a lock, so that it outlives a killed pawl for as long as its git does.
func WithLock(ctx context.Context, lock *os.File) context.Context {
	return context.WithValue(ctx, heldKey{}, lock)
}

// StepKey is the key of a func(name string) in a context, which is called before every boundary that a crash could fall
// on: each git call, and each change to files, references and the index that pawl makes itself. Tests stop the process
// there.
type StepKey struct{}

// Step marks a boundary for the function under StepKey.
func Step(ctx context.Context, name string) {
	if step, ok := ctx.Value(StepKey{}).(func(string)); ok {
		step(name)
	}
}

// Run starts git, waits for it and returns its output and exit status. It is the only function that starts a process.
// The process and its children end with the context, with this process (where the system can do that) or after
// callTimeout.
func (c Call) Run(ctx context.Context) (out []byte, status int, err error) {
	Step(ctx, "git "+c.Args[0])
	program, err := exec.LookPath("git")
	if err != nil {
		return nil, 0, pawl.Fail(pawl.CodeEnvironment, "git.missing").Because(err)
	}
	limited, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	cmd := exec.CommandContext(limited, program, c.Args...)
	cmd.Dir, cmd.Env, cmd.Stdin = c.Dir, c.Env, c.Stdin
	cmd.WaitDelay = callGrace
	stdout, stderr := &Capped{Limit: outputLimit}, &Capped{Limit: stderrLimit}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	if c.Stdout != nil {
		cmd.Stdout = c.Stdout
	}
	held, _ := ctx.Value(heldKey{}).(*os.File)
	err = start(cmd, held)
	switch {
	case err == nil:
		if stdout.Over {
			return nil, 0, pawl.Fail(pawl.CodeIO, "git.output_limit", c.Args[0])
		}
		return stdout.Kept, 0, nil
	case ctx.Err() != nil:
		return nil, 0, pawl.Fail(pawl.CodeCanceled, "git.canceled", c.Args[0]).Because(ctx.Err())
	case limited.Err() != nil:
		return nil, 0, pawl.Fail(pawl.CodeTimeout, "git.timeout", c.Args[0], callTimeout)
	}
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		// The system tells of a missing folder as if the program were missing.
		if _, gone := os.Stat(c.Dir); errors.Is(gone, fs.ErrNotExist) {
			return nil, 0, pawl.Fail(pawl.CodeIO, "git.no_folder", c.Args[0], c.Dir).Because(gone)
		}
		return nil, 0, pawl.Fail(pawl.CodeIO, "git.not_started", c.Args[0]).Because(err)
	}
	for _, a := range c.Answers {
		if exit.ExitCode() == a {
			return stdout.Kept, a, nil
		}
	}
	return nil, exit.ExitCode(), failure(c.Args[0], exit, string(stderr.Kept))
}

// Answering is the same call, to which these exit statuses are answers besides 0.
func (c Call) Answering(statuses ...int) Call {
	c.Answers = statuses
	return c
}

// failure turns what git said into an error. Only conditions of the machine are recognised by their text, which is the
// C library's and in English under LC_ALL=C; everything else is decided by asking again, never by wording.
func failure(verb string, exit *exec.ExitError, stderr string) error {
	said := errors.New(strings.ToValidUTF8(strings.TrimSpace(stderr), "�"))
	switch {
	case strings.Contains(stderr, "No space left on device"), strings.Contains(stderr, "Disk quota exceeded"):
		return pawl.Fail(pawl.CodeDiskFull, "git.disk_full").Because(said)
	case strings.Contains(stderr, "Read-only file system"):
		return pawl.Fail(pawl.CodeReadOnly, "git.read_only").Because(said)
	}
	if stderr == "" {
		said = exit
	}
	return Failed(verb, said)
}

// Failed is the failure of a call, or of what stands in for one.
func Failed(verb string, err error) error {
	return pawl.Fail(pawl.CodeIO, "git.failed", verb).Because(err)
}

// Capped keeps the first limit bytes and drains the rest. It is a Writer and nothing more: anything that lets io.Copy
// go around Write would lift the limit.
type Capped struct {
	Kept  []byte
	Limit int
	Over  bool
}

// Write never fails, so that git is not killed by a full pipe.
func (c *Capped) Write(p []byte) (int, error) {
	room := max(c.Limit-len(c.Kept), 0)
	c.Over = c.Over || len(p) > room
	c.Kept = append(c.Kept, p[:min(room, len(p))]...)
	return len(p), nil
}

// Environment is the environment of every call: nothing of the user's but PATH and the temporary folder, and the
// hardening. Extra configuration follows the hardening and so can override it.
func Environment(extra ...[2]string) []string {
	env := []string{
		"PATH=" + os.Getenv("PATH"),
		"TMPDIR=" + os.TempDir(),
		"HOME=" + os.DevNull,
		"XDG_CONFIG_HOME=" + os.DevNull,
		"LC_ALL=C",
		"TZ=UTC",
		"GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_SYSTEM=" + os.DevNull,
		"GIT_CONFIG_GLOBAL=" + os.DevNull,
		"GIT_ATTR_NOSYSTEM=1",
		"GIT_TERMINAL_PROMPT=0",
		"GIT_ASKPASS=false",
		"SSH_ASKPASS=false",
		"GIT_EDITOR=false",
		"GIT_PAGER=cat",
		"GIT_NO_REPLACE_OBJECTS=1",
		"GIT_NO_LAZY_FETCH=1",
		"GIT_ALLOW_PROTOCOL=none",
		"GIT_LITERAL_PATHSPECS=1",
		"GIT_ADVICE=0",
	}
	if root := os.Getenv("SYSTEMROOT"); root != "" {
		env = append(env, "SYSTEMROOT="+root)
	}
	pairs := append(append([][2]string{}, hardening...), extra...)
	env = append(env, "GIT_CONFIG_COUNT="+strconv.Itoa(len(pairs)))
	for i, p := range pairs {
		n := strconv.Itoa(i)
		env = append(env, "GIT_CONFIG_KEY_"+n+"="+p[0], "GIT_CONFIG_VALUE_"+n+"="+p[1])
	}
	return env
}

// Fields splits output of git's that ends each record with NUL.
func Fields(out string) []string {
	out = strings.TrimSuffix(out, "\x00")
	if out == "" {
		return nil
	}
	return strings.Split(out, "\x00")
}

// IOError classes a failure of the file system.
func IOError(op string, err error) error {
	code, key := pawl.CodeIO, "git.io"
	switch {
	case pawl.CodeOf(err) == pawl.CodeDenied:
		return err // it says itself what is in the way
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		code, key = pawl.CodeDiskFull, "git.disk_full"
	case errors.Is(err, syscall.EROFS):
		code, key = pawl.CodeReadOnly, "git.read_only"
	}
	return pawl.Fail(code, key).In(op).Because(err)
}
