package verify

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pawl/kernel/effect"
)

// What the go command is told to compile for a check into what proof reads never names a program.
func TestCompiling(t *testing.T) {
	const all = "./..."
	for command, want := range map[string]string{
		"go test ./...": all, "go test": ".", "go test -race -v ./a ./b/...": "-race ./a ./b/...",
		"go test -tags x,y -run TestA -count=1 .": "-tags=x,y .", "go test -coverprofile c.out -coverpkg=./... ./a": "-coverpkg=./... ./a",
		"make test": all, "CGO_ENABLED=0 go test ./a": all, "go test ./a; sh evil": all, "go test $X": all, "go  vet ./a": all,
		"go test -toolexec ./evil ./a": all, "go test -toolexec=./evil ./a": all, "go test -exec ./evil ./a": all,
		"go test -vettool=./evil ./a": all, "go test --toolexec=./evil ./a": all, "go test -C sub ./a": all,
		"go test -overlay=o.json ./a": all, "go test -modfile=x.mod ./a": all, "go test -ldflags=-extld=./evil ./a": all,
		"go test -gcflags=-N ./a": all, "go test ./a -args -x": all, "go test example.org/x": all, "go test -tags": all,
		"go test -run 'TestA|TestB' ./a": all, "go test -o=x ./a": all, "": all,
	} {
		flags, packages := compiling(command)
		if got := strings.Join(append(flags, packages...), " "); got != want {
			t.Errorf("%s: %q, want %q", command, got, want)
		}
	}
	for command, want := range map[string]bool{goVet: true, goBuild: true, "go vet -vettool=./x ./...": false,
		"go build ./...": false, "go test ./...": false, " go vet ./...": false, goVet + " ; sh evil": false} {
		if runsNoCode(effect.Check{Command: command}) != want {
			t.Errorf("%s", command)
		}
	}
}

// Where folders cannot be shown, what runs code of the tree may write to caches of its own alone, and what compiles to
// what proof reads, with programs of the machine alone.
func TestWhoWritesWhat(t *testing.T) {
	b := newBench(t, nil)
	b.box.other = exits(0, "")
	tools, machine := filepath.Join(b.place.Workspace, "tools"), t.TempDir()
	if err := errors.Join(os.Mkdir(tools, 0o755), os.WriteFile(filepath.Join(b.place.Tree, "go.mod"),
		[]byte("module a\n"), 0o644)); err != nil {
		t.Fatal(err)
	}
	config := b.config()
	config.Host.Env = append(config.Host.Env[1:], "PATH="+tools+":"+b.place.Tree+":relative:"+machine)
	check := func(command string) effect.Check {
		return effect.Check{Name: command, Command: command, Kind: kindCustom}
	}
	New(config).Do(t.Context(), b.effect(effect.VerifySpec{Checks: []effect.Check{check(goVet), check("make test"), check("sh x.sh")}}), nil)
	own := filepath.Join(b.place.Workspace, ".pawl", "cache", "once", shortDigest(b.place.Tree))
	built := filepath.Join(b.place.Workspace, ".pawl", "cache", "built", "go")
	var got []string
	for _, s := range b.box.specs {
		what := "compile"
		switch {
		case s.Argv[0] == "sh":
			what = s.Argv[2]
		case s.Argv[1] == "version":
			continue
		}
		proof, once := slices.Contains(s.Writable, built), slices.Contains(s.Writable, own)
		cache := valueOf(s.Env, "GOCACHE")
		if proof != (cache == filepath.Join(built, "go-build")) || once != (cache == filepath.Join(own, "go-build")) || proof == once {
			t.Errorf("%s: writes to %q, caches in %s", what, s.Writable, cache)
		}
		if path := valueOf(s.Env, "PATH"); path != machine {
			t.Errorf("%s: finds programs in %s", what, path)
		}
		if proof && !strings.Contains(valueOf(s.Env, "GOFLAGS"), "-buildvcs=false") {
			t.Errorf("%s: asks git about the tree", what)
		}
		if proof {
			what += " into what proof reads"
		}
		got = append(got, what)
	}
	want := []string{goVet + " into what proof reads", "compile into what proof reads", "make test", "sh x.sh"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// What was compiled of a tree is not compiled again in the next verification, and soon after that it is: the go command
// would take it for unused.
func TestCompiledOnce(t *testing.T) {
	list := "fmt\n"
	b := stdBench(t, toolchain(t, "go1.26.0"), t.TempDir(), &list)
	if err := os.WriteFile(filepath.Join(b.place.Tree, "go.mod"), []byte("module a\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	compiled := func(commands ...string) (n int) {
		t.Helper()
		var spec effect.VerifySpec
		for _, c := range commands {
			spec.Checks = append(spec.Checks, effect.Check{Name: c, Command: c, Kind: kindCustom})
		}
		if r, _ := b.verify(t, spec); !r.OK {
			t.Fatal(r.Err())
		}
		return strings.Count(b.goRuns(), "-toolexec")
	}
	if n := compiled("make test", "sh x.sh", "go test -race ./..."); n != 2 || !b.has("fmt") {
		t.Errorf("compiled %d times for two kinds of checks; the standard library is there: %v", n, b.has("fmt"))
	}
	if n := compiled("make test"); n != 0 {
		t.Error("compiled again for the same tree")
	}
	b.tree = "t2"
	if n := compiled("make test"); n != 1 {
		t.Error("not compiled for another tree")
	}
	marks, _ := filepath.Glob(filepath.Join(b.place.Workspace, ".pawl", "cache", "built", "go", "compiled-*"))
	for _, m := range marks {
		_ = os.Chtimes(m, time.Time{}, time.Now().Add(-2*keptCompiled))
	}
	if n := compiled("make test"); n != 1 {
		t.Errorf("not compiled after %s, marks %v", 2*keptCompiled, marks)
	}
	own(t, b)
	b.tree = "t3"
	if n := compiled("make test"); n != 0 {
		t.Error("compiled by a program of the project")
	}
}

// An environment in the user's own tree may bring tools of Python, and nothing that the machine has by another name.
func TestEnvironmentInTheTree(t *testing.T) {
	machine := t.TempDir()
	python := filepath.Join(machine, "python3.12")
	for name, c := range map[string]struct {
		interpreter string
		front       bool
	}{"of the machine": {python, true}, "another program": {filepath.Join(machine, "true"), false}, "a script": {"", false}} {
		ws := t.TempDir()
		bin := filepath.Join(ws, ".venv", "bin")
		err := errors.Join(os.MkdirAll(bin, 0o755), os.WriteFile(filepath.Join(ws, ".venv", "pyvenv.cfg"), []byte("home = /usr/bin\n"), 0o644))
		for _, p := range []string{python, filepath.Join(machine, "true"), filepath.Join(bin, "go"), filepath.Join(bin, "pytest")} {
			err = errors.Join(err, os.WriteFile(p, []byte("#!/bin/sh\n"), 0o755))
		}
		if c.interpreter == "" {
			err = errors.Join(err, os.WriteFile(filepath.Join(bin, "python3"), []byte("#!/bin/sh\n"), 0o755))
		} else {
			err = errors.Join(err, os.Symlink(c.interpreter, filepath.Join(bin, "python3")))
		}
		if err != nil {
			t.Fatal(err)
		}
		h := Host{Env: []string{"PATH=" + machine}, LookPath: everything}
		got, err := h.Toolchain(effect.Place{Workspace: ws, Tree: ws, InPlace: true}, UseVerify)
		if err != nil {
			t.Fatal(err)
		}
		front := filepath.Join(got.caches, "bin")
		path, _ := value(got.Env, "PATH")
		if path != strings.Join([]string{front, machine, bin}, ":") {
			t.Errorf("%s: PATH=%s", name, path)
		}
		text, _ := os.ReadFile(filepath.Join(front, "pytest"))
		if c.front != strings.Contains(string(text), filepath.Join(bin, "pytest")) || isFile(filepath.Join(front, "go")) {
			t.Errorf("%s: %q", name, text)
		}
	}
}

// What commands left in closed folders goes as well, and so does what nobody has used for some time.
func TestCachesEnd(t *testing.T) {
	b := newBench(t, nil)
	if _, err := b.config().Host.Toolchain(b.place, UseVerify); err != nil {
		t.Fatal(err)
	}
	own := filepath.Join(b.place.Workspace, ".pawl", "cache", "once", shortDigest(b.place.Tree))
	closed := filepath.Join(own, "build", "closed")
	if err := errors.Join(os.MkdirAll(filepath.Join(closed, "in"), 0o755), os.Chmod(closed, 0)); err != nil {
		t.Fatal(err)
	}
	if err := renew(b.place); err != nil || isDir(own) {
		t.Errorf("%v", err)
	}
	built := filepath.Join(b.place.Workspace, ".pawl", "cache", "built")
	past, stale := time.Now().Add(-keptSums-time.Hour), "go-0123456789abcdef"
	for _, name := range []string{"go", stale, "go-old", "go-new"} {
		if err := os.MkdirAll(filepath.Join(built, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"go", stale, "go-old"} {
		if err := os.Chtimes(filepath.Join(built, name), past, past); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(b.place.Own())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	dropOld(root, "go-new")
	for name, want := range map[string]bool{"go": true, stale: false, "go-old": true, "go-new": true} {
		if isDir(filepath.Join(built, name)) != want {
			t.Errorf("%s: there is %v", name, !want) // go-old is no name that pawl gives
		}
	}
}
