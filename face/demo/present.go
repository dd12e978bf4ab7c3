package demo

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"

	"pawl"
	"pawl/sandbox"
	"pawl/sandbox/self"
	"pawl/text/shell"
)

// Presentation says how the demo is shown to a person.
type Presentation struct {
	// Dir is a folder that is empty or missing, "" for a new one among the temporary files.
	Dir string
	// Walls hold what the demo itself starts, and what pawl starts in it.
	Walls sandbox.Options
	// Lang is the language of what pawl says, and Color whether it says it in colour.
	Lang  string
	Color bool
	// Env are further variables that pawl is given.
	Env []string
	// Text, Tell and Std are those of Options.
	Text func(key string, args ...any) string
	Tell func(Scene)
	Std  string
}

// Sample is what was made: its folder, and the repository in it. Program is the shell command for this pawl there,
// whose state is in the directory, too.
type Sample struct{ Dir, Repo, Program string }

// Present shows the demo on this machine, each command of pawl in a process of its own. What it makes stays, and is
// removed where ctx ends; the error is that of Run, and CodeEnvironment where a program is missing for it.
func Present(ctx context.Context, p Presentation) (made Sample, err error) {
	for _, program := range []string{"git", "go", "gofmt"} {
		if _, ok := sandbox.LookPath(program); !ok {
			return made, pawl.Fail(pawl.CodeEnvironment, "demo.needs", program).In("demo.Run")
		}
	}
	box, err := sandbox.New(p.Walls)
	if err != nil {
		return made, err
	}
	dir := p.Dir
	_, there := os.Lstat(dir)
	if dir == "" {
		if dir, err = os.MkdirTemp("", "pawl-demo-"); err != nil {
			return made, pawl.Fail(pawl.CodeIO, "demo.no_folder", os.TempDir()).Because(err).In("demo.Run")
		}
	} else if err := Empty(dir); err != nil {
		return made, err
	}
	if dir, err = plainPath(dir); err != nil {
		return made, pawl.Fail(pawl.CodeIO, "demo.no_folder", dir).Because(err).In("demo.Run")
	}
	err = Run(ctx, Options{Dir: dir, Box: box, Text: p.Text, Std: p.Std, Tell: p.Tell,
		Pawl: func(ctx context.Context, c Call) (int, error) {
			return p.pawl(ctx, dir, c)
		}})
	if ctx.Err() != nil {
		err := errors.Join(ctx.Err(), Leave(dir))
		if there != nil {
			_ = os.Remove(dir) // what somebody else put there stays
		}
		return made, err
	}
	return Sample{Dir: dir, Repo: filepath.Join(dir, Repo),
		Program: "XDG_STATE_HOME=" + shell.Quote(stateHome(dir)) + " " + shell.Quote(program())}, err
}

// program is what one types to call this pawl.
func program() string {
	self, err := os.Executable()
	if err != nil {
		return "pawl"
	}
	if path, ok := sandbox.LookPath("pawl"); ok {
		if real, err := filepath.EvalSymlinks(path); err == nil && real == self {
			return "pawl"
		}
	}
	return self
}

// plainPath makes a folder and returns its path without links.
func plainPath(dir string) (string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return dir, err
	}
	return filepath.EvalSymlinks(dir)
}

// pawl carries out a command line of pawl with a home of its own below dir and none of the user's settings, but for
// what it says and where it runs.
func (p Presentation) pawl(ctx context.Context, dir string, c Call) (int, error) {
	home := filepath.Join(dir, "home")
	extra := map[string]string{
		"HOME": home, "TMPDIR": filepath.Join(dir, "tmp"), "GOPATH": filepath.Join(home, "go"), "GOFLAGS": "-mod=mod",
		"GOWORK": "off", "USER": os.Getenv("USER"), "PAWL_LANG": p.Lang,
		"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null", "TERM": os.Getenv("TERM"), "NO_COLOR": "1",
	}
	if p.Color {
		extra["NO_COLOR"], extra["CLICOLOR_FORCE"] = "", "1"
	}
	if p.Walls.Mechanism == sandbox.MechanismOuter {
		extra["PAWL_ISOLATION"] = string(sandbox.MechanismOuter)
	}
	maps.Copy(extra, c.Env)
	out := &eachLine{see: c.Output}
	status, err := self.Run(ctx, self.Command{Args: c.Args, Dir: c.Dir,
		Env: append(sandbox.Environ(os.Environ(), extra), p.Env...), Output: out}, func(p *os.Process) {
		if c.Started != nil {
			c.Started(p.Pid, func() { _ = p.Kill() }) // it may have ended
		}
	})
	out.end()
	if err != nil && ctx.Err() == nil {
		err = pawl.Fail(pawl.CodeEnvironment, "demo.no_pawl").Because(err).In("demo.Run")
	}
	return status, err
}

// eachLine hands over what is written line by line.
type eachLine struct {
	see  func(line string)
	rest []byte
}

// Write implements io.Writer.
func (l *eachLine) Write(p []byte) (int, error) {
	l.rest = append(l.rest, p...)
	for {
		line, rest, whole := bytes.Cut(l.rest, []byte("\n"))
		if !whole {
			return len(p), nil
		}
		l.see(string(line))
		l.rest = rest
	}
}

// end hands over what was begun.
func (l *eachLine) end() {
	if len(l.rest) > 0 {
		l.see(string(l.rest))
	}
	l.rest = nil
}

// stateHome is where the pawl of a demo in a directory has its state.
func stateHome(dir string) string { return filepath.Join(dir, "home", ".local", "state") }
