package agent

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"pawl"
)

// Found is an external agent that is installed.
type Found struct {
	Program Program
	Path    string
	// Version is what the program says, "" when it does not say; Tested says that pawl was tried with it.
	Version string
	Tested  bool
}

// Detect returns the agents of the catalog that are installed, without running them: their versions are those of the
// packages that they were installed with.
func Detect(look func(program string) (string, bool)) []Found {
	var out []Found
	for _, p := range Catalog() {
		if path, ok := p.Installed(look); ok {
			out = append(out, p.At(path))
		}
	}
	return out
}

// At returns what is known of a program that is installed at a path, without running it: its version is that of the
// package that it was installed with, and "" where there is none.
func (p Program) At(path string) Found {
	v := packageVersion(path)
	return Found{Program: p, Path: path, Version: v, Tested: p.TestedWith(v)}
}

// versionTime bounds the question for the version: some agents need seconds to start.
const versionTime = 20 * time.Second

// AskVersion finds out the version of a program: it is run behind walls to say it, and where it does not, the package
// that it was installed with does. dir is an existing folder that it may write in, and env its environment, whose HOME
// is set to dir.
func AskVersion(ctx context.Context, start Start, f Found, dir string, env []string) (Found, error) {
	exit := 0
	if len(f.Program.Version) > 0 {
		var output string
		var err error
		if output, exit, err = printed(ctx, start, f, dir, env); err != nil {
			return f, err
		}
		f.Version = FindVersion(output)
	}
	if f.Version == "" {
		f.Version = packageVersion(f.Path)
	}
	if f.Version == "" {
		return f, pawl.Fail(pawl.CodeEnvironment, "agent.no_version", f.Program.Title, exit).In("agent.Version")
	}
	f.Tested = f.Program.TestedWith(f.Version)
	return f, nil
}

// printed runs a program for its version and returns what it printed.
func printed(ctx context.Context, start Start, f Found, dir string, env []string) (string, int, error) {
	ctx, cancel := context.WithTimeout(ctx, versionTime)
	defer cancel()
	p, err := start(ctx, Spec{
		Argv: append([]string{f.Path}, f.Program.Version...), Dir: dir, Env: append(env[:len(env):len(env)], "HOME="+
			dir, "TMPDIR="+dir),
		Writable: []string{dir}, Readable: installation(f.Path),
	})
	if err != nil {
		return "", 0, err
	}
	r := run(p, func([]byte) {}, func() {})
	_ = p.Stdin().Close()
	out, _ := io.ReadAll(io.LimitReader(p.Stdout(), 64<<10)) // what was read counts
	exit := r.End(time.Second)
	return string(out) + "\n" + r.Complaint(), exit, nil
}

// packageVersion reads the version of the package of Node that a program belongs to, "" when it belongs to none.
func packageVersion(program string) string {
	target, err := filepath.EvalSymlinks(program)
	if err != nil {
		return ""
	}
	for dir := filepath.Dir(target); strings.Contains(dir+"/", "/node_modules/") &&
		filepath.Base(dir) != "node_modules"; dir = filepath.Dir(dir) {
		raw, err := os.ReadFile(filepath.Join(dir, "package.json"))
		if err != nil {
			continue
		}
		var p struct {
			Version string `json:"version"`
		}
		if json.Unmarshal(raw, &p) == nil && p.Version != "" {
			return FindVersion(p.Version)
		}
	}
	return ""
}
