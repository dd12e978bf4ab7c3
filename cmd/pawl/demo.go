package main

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"time"

	"pawl"
	"pawl/cli"
	"pawl/demo"
	"pawl/sandbox"
	"pawl/sandbox/self"
)

// selfEnv are further variables that pawl gives itself where it starts itself.
var selfEnv []string

// Demo shows what pawl does, in a folder of its own. What it makes is removed where ctx ends.
func (h host) Demo(ctx context.Context, d cli.Demo) (made cli.Sample, err error) {
	for _, program := range []string{"git", "go", "gofmt"} {
		if _, ok := sandbox.LookPath(program); !ok {
			return made, pawl.Fail(pawl.CodeEnvironment, "demo.needs", program).In("demo.Run")
		}
	}
	box, err := sandbox.New(walls(d.Config))
	if err != nil {
		return made, err
	}
	dir := d.Dir
	_, there := os.Lstat(dir)
	if dir == "" {
		if dir, err = os.MkdirTemp("", "pawl-demo-"); err != nil {
			return made, pawl.Fail(pawl.CodeIO, "demo.no_folder", os.TempDir()).Because(err).In("demo.Run")
		}
	} else if err := demo.Empty(dir); err != nil {
		return made, err
	}
	if dir, err = plainPath(dir); err != nil {
		return made, pawl.Fail(pawl.CodeIO, "demo.no_folder", dir).Because(err).In("demo.Run")
	}
	o := demo.Options{Dir: dir, Box: box, Text: d.Text, Std: h.compiled(), Pawl: played{dir, d}.pawl, Tell: func(s demo.Scene) {
		d.Scene(cli.Scene{Type: string(s.Kind), Act: s.Act, Text: s.Text, Args: s.Args, Status: s.Status})
	}}
	err = demo.Run(ctx, o)
	if ctx.Err() != nil {
		err := errors.Join(ctx.Err(), demo.Leave(dir))
		if there != nil {
			_ = os.Remove(dir) // what somebody else put there stays
		}
		return made, err
	}
	return cli.Sample{Dir: dir, Repo: filepath.Join(dir, demo.Repo), Program: program()}, err
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

// compiled is the folder of what was compiled last of Go's standard library, "" where nothing was.
func (h host) compiled() string {
	var newest time.Time
	found := ""
	all, _ := filepath.Glob(filepath.Join(h.folders().std, "go-*", "packages")) // the pattern is well-formed, or nothing is found
	for _, p := range all {
		if info, err := os.Stat(p); err == nil && filepath.IsAbs(p) && info.ModTime().After(newest) {
			newest, found = info.ModTime(), filepath.Dir(p)
		}
	}
	return found
}

// played is how the demo calls pawl: with a home of its own and none of the user's settings, but for what it says and where it runs.
type played struct {
	dir string
	cli.Demo
}

func (p played) pawl(ctx context.Context, c demo.Call) (int, error) {
	home := filepath.Join(p.dir, "home")
	extra := map[string]string{
		"HOME": home, "TMPDIR": filepath.Join(p.dir, "tmp"), "GOPATH": filepath.Join(home, "go"), "GOFLAGS": "-mod=mod", "GOWORK": "off", "USER": os.Getenv("USER"), "PAWL_LANG": p.Lang,
		"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null", "TERM": os.Getenv("TERM"), "NO_COLOR": "1",
	}
	if p.Color {
		extra["NO_COLOR"], extra["CLICOLOR_FORCE"] = "", "1"
	}
	if !fenced(p.Config) {
		extra["PAWL_ISOLATION"] = cli.Outer
	}
	maps.Copy(extra, c.Env)
	out := &eachLine{see: c.Output}
	status, err := self.Run(ctx, self.Command{Args: c.Args, Dir: c.Dir, Env: append(sandbox.Environ(os.Environ(), extra), selfEnv...), Output: out}, func(p *os.Process) {
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
