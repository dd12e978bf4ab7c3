package verify

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pawl/driver/verify/gocache"
	"pawl/kernel/effect"
	"pawl/sandbox"
)

// toolchain makes a folder that looks like a Go toolchain and returns its go command.
func toolchain(t *testing.T, version string) string {
	t.Helper()
	root := t.TempDir()
	program := filepath.Join(root, "bin", "go")
	for name, text := range map[string]string{"VERSION": version, "bin/go": ""} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return program
}

// entry is the name of an entry of a build cache.
func entry(of, kind string) string {
	sum := sha256.Sum256([]byte(of))
	return hex.EncodeToString(sum[:]) + kind
}

// stdBench is a bench whose box answers as the go command would: it lists packages, and writes one entry for each into
// the cache that it was given.
func stdBench(t *testing.T, program, std string, list *string) *bench {
	b := newBench(t, nil)
	b.look = func(p string) (string, bool) {
		if p == "go" {
			return program, true
		}
		return "", false
	}
	b.std = std
	b.box.answer = map[string]func(sandbox.Spec) (sandbox.Result, error){}
	b.box.other = func(s sandbox.Spec) (sandbox.Result, error) {
		if s.Argv[1] == "list" {
			return sandbox.Result{Output: []byte(*list)}, nil
		}
		if s.Argv[1] == "build" {
			cache := ""
			for _, kv := range s.Env {
				if v, ok := strings.CutPrefix(kv, "GOCACHE="); ok {
					cache = v
				}
			}
			if !slices.Equal(s.Writable, []string{cache}) || strings.HasPrefix(s.Dir, b.place.Workspace) ||
				!strings.HasPrefix(s.Dir, std) {
				t.Errorf("writable %q, in %q", s.Writable, s.Dir)
			}
			for _, name := range s.Argv[2:] {
				for _, kind := range []string{"-a", "-d"} {
					file := entry(name, kind)
					if err := os.MkdirAll(filepath.Join(cache, file[:2]), 0o755); err != nil {
						return sandbox.Result{}, err
					}
					if err := os.WriteFile(filepath.Join(cache, file[:2], file), []byte(name), 0o644); err != nil {
						return sandbox.Result{}, err
					}
				}
			}
		}
		return sandbox.Result{}, nil
	}
	return b
}

// has reports whether a workspace's cache has the entries of a package.
func (b *bench) has(name string) bool {
	file := entry(name, "-d")
	text, err := os.ReadFile(filepath.Join(b.place.Workspace, ".pawl", "cache", "built", "go", "go-build", file[:2], file))
	return err == nil && string(text) == name
}

func (b *bench) goRuns() string {
	var out []string
	for _, s := range b.box.specs {
		if s.Argv[0] == "go" && s.Argv[1] != "version" {
			out = append(out, strings.Join(s.Argv[1:], " "))
		}
	}
	b.box.specs = nil
	return strings.Join(out, "; ")
}

func TestStandardLibraryIsCompiledOnce(t *testing.T) {
	program, std, list := toolchain(t, "go1.26.0"), t.TempDir(),
		"fmt\nunsafe\nvendor/x\n-toolexec=evil\nexample.org/w\nos\n"
	const asked = "list -deps -test -e -f {{if .Standard}}{{.ImportPath}}{{end}} ./..."
	check := effect.VerifySpec{Checks: []effect.Check{{Name: "t", Command: "go test ./...", Level: 2}}}

	first := stdBench(t, program, std, &list)
	if r, _ := first.verify(t, check); !r.OK {
		t.Fatal(r.Err())
	}
	if got := first.goRuns(); got != asked+"; build fmt os; vet .; test -cover ." || !first.has("fmt") || !first.has("os") ||
		!slices.Contains(first.said, "verify.compiling_std") {
		t.Errorf("%q, said %q", got, first.said)
	}
	if first.verify(t, check); first.goRuns() != "" {
		t.Error("a workspace that has it is looked at again")
	}

	second := stdBench(t, program, std, &list)
	if second.verify(t, check); second.goRuns() != asked || !second.has("fmt") ||
		slices.Contains(second.said, "verify.compiling_std") {
		t.Errorf("compiled again: %q", second.said)
	}

	more := "fmt\nnet/http\n"
	third := stdBench(t, program, std, &more)
	if third.verify(t, check); third.goRuns() != asked+"; build net/http; vet .; test -cover ." || !third.has("net/http") ||
		!third.has("os") {
		t.Error("what is missing is compiled, and nothing else")
	}

	other := stdBench(t, toolchain(t, "go1.27.0"), std, &list)
	if other.verify(t, check); other.goRuns() != asked+"; build fmt os; vet .; test -cover ." {
		t.Error("another toolchain has entries of its own")
	}
	left, _ := filepath.Glob(filepath.Join(std, "new-*"))
	seeds, _ := filepath.Glob(filepath.Join(second.place.Workspace, ".pawl", "cache", "built", "go", "seed-*"))
	if len(left)+len(seeds) > 0 {
		t.Errorf("left behind: %q %q", left, seeds)
	}
}

// What is kept belongs to all workspaces: nothing that one of them can write comes into it, or through it.
func TestWhatIsKeptCannotBePoisoned(t *testing.T) {
	program, std, list := toolchain(t, "go1.26.0"), t.TempDir(), "fmt\n"
	check := effect.VerifySpec{Checks: []effect.Check{{Name: "t", Command: "go test ./...", Level: 2}}}
	b := stdBench(t, program, std, &list)
	b.verify(t, check)
	for _, s := range b.box.specs {
		for _, p := range slices.Concat(s.Writable, s.Readable) {
			if strings.HasPrefix(p, std) && s.Argv[0] == "sh" {
				t.Errorf("a check sees %s", p)
			}
		}
	}
	// A check writes into its workspace's cache.
	file := entry("fmt", "-d")
	if err := os.WriteFile(filepath.Join(b.place.Workspace, ".pawl/cache/built/go/go-build", file[:2], file),
		[]byte("evil"), 0o644); err != nil {
		t.Fatal(err)
	}
	next := stdBench(t, program, std, &list)
	if next.verify(t, check); !next.has("fmt") {
		t.Error("another workspace has what the check wrote")
	}

	// A workspace's cache leads elsewhere.
	hostile := stdBench(t, program, std, &list)
	canary := t.TempDir()
	cache := filepath.Join(hostile.place.Workspace, ".pawl", "cache", "built", "go", "go-build")
	if err := os.MkdirAll(cache, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(canary, filepath.Join(cache, file[:2])); err != nil {
		t.Fatal(err)
	}
	if r, _ := hostile.verify(t, check); !r.OK {
		t.Error(r.Err())
	}
	if entries, _ := os.ReadDir(canary); len(entries) > 0 {
		t.Errorf("%d entries outside of the workspace", len(entries))
	}
}

// Where nothing can be kept the checks run all the same.
func TestNothingKept(t *testing.T) {
	program, list := toolchain(t, "go1.26.0"), "fmt\n"
	blocked := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(blocked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	check := effect.VerifySpec{Checks: []effect.Check{{Name: "t", Command: "go test ./...", Level: 2}}}
	for name, change := range map[string]func(*bench){
		"no folder":         func(b *bench) { b.std = "" },
		"a file in the way": func(b *bench) { b.std = blocked },
		"no version": func(b *bench) {
			_ = os.Remove(filepath.Join(filepath.Dir(filepath.Dir(program)),
				"VERSION"))
		},
		"no check in Go": func(b *bench) {
			check.Checks = []effect.Check{{Name: "t", Command: "make test",
				Level: 2}}
		},
		"the project's own go":  func(b *bench) { own(t, b) },
		"the go command cannot": func(b *bench) { b.box.other = exits(1, "no") },
	} {
		b := stdBench(t, program, t.TempDir(), &list)
		checks := check
		change(b)
		if r, v := b.verify(t, check); !r.OK || !v.Passed || b.has("fmt") {
			t.Errorf("%s: %v", name, r.Err())
		}
		check = checks
		if name == "no version" {
			program = toolchain(t, "go1.26.0")
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s := session{Config: &Config{}}
	s.shelf.of = &s
	s.shelf.warm(ctx, nil)
}

// own gives the workspace an environment of its user's with a go command in it.
func own(t *testing.T, b *bench) {
	t.Helper()
	bin := filepath.Join(b.place.Workspace, ".venv", "bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"pyvenv.cfg": "home = /usr/bin\n", "bin/go": "", "bin/python3": ""} {
		if err := os.WriteFile(filepath.Join(b.place.Workspace, ".venv", name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

// TestAGenerationNeverChanges: an agent may have the compiled standard library mounted while more is compiled. Its files
// are of a time that has not come, so that the go command does not note their use, and of the generations before the
// last one those go that nobody can have any more.
func TestAGenerationNeverChanges(t *testing.T) {
	program, std, list := toolchain(t, "go1.26.0"), t.TempDir(), "fmt\n"
	check := effect.VerifySpec{Checks: []effect.Check{{Name: "t", Command: "go test ./...", Level: 2}}}
	stdBench(t, program, std, &list).verify(t, check)
	first := Compiled(std)
	before := map[string]string{}
	walk := func(see func(name, said string)) {
		err := filepath.WalkDir(first, func(p string, e fs.DirEntry, err error) error {
			if info, failed := e.Info(); err == nil && failed == nil {
				see(p, info.ModTime().String()+info.Mode().String())
				if gocache.Entry().MatchString(e.Name()) && time.Until(info.ModTime()) < 24*time.Hour {
					t.Errorf("%s is of %s", e.Name(), info.ModTime())
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	walk(func(name, said string) { before[name] = said })
	next := func(wanted string) string {
		list = wanted
		stdBench(t, program, std, &list).verify(t, check)
		return Compiled(std)
	}
	second := next("fmt\nos\n")
	walk(func(name, said string) {
		if before[name] != said {
			t.Errorf("%s has changed: %s, %s", name, before[name], said)
		}
		delete(before, name)
	})
	if len(before) > 0 || second == first {
		t.Errorf("%q is gone, or there is no new generation", before)
	}
	if next("fmt\nos\n") != second {
		t.Error("a new generation with nothing new")
	}
	for i, dir := range []string{first, second} {
		made := time.Now().Add(-time.Duration(3-i) * stdKept)
		if err := os.Chtimes(filepath.Join(dir, gocache.Packages), made, made); err != nil {
			t.Fatal(err)
		}
	}
	killed, running := filepath.Join(std, "new-1"), filepath.Join(std, "new-2")
	old := time.Now().Add(-2 * stdKept)
	if err := errors.Join(os.Mkdir(killed, 0o700), os.Mkdir(running, 0o700), os.Chtimes(killed, old, old)); err != nil {
		t.Fatal(err)
	}
	third := next("fmt\nio\n")
	for dir, want := range map[string]bool{first: false, second: true, third: true, killed: false, running: true} {
		if isDir(dir) != want {
			t.Errorf("%s is there: %v", filepath.Base(dir), !want)
		}
	}
}

// TestAgentsHaveACacheWithoutALayer: if the box cannot lay a layer over the library, or there is no library, each task
// has a build cache of its own that starts empty. A process that only answers a question has the one in its home.
func TestAgentsHaveACacheWithoutALayer(t *testing.T) {
	program, list := toolchain(t, "go1.26.0"), "fmt\n"
	b := stdBench(t, program, t.TempDir(), &list)
	b.verify(t, effect.VerifySpec{Checks: []effect.Check{{Name: "t", Command: "go test ./...", Level: 2}}})
	for name, host := range map[string]Host{"no layer": {LookPath: b.look, Std: b.std}, "no library": {LookPath: b.look}} {
		caches := map[string]bool{}
		for _, of := range [][2]string{{"1", "agent"}, {"1", "commands"}, {"2", "agent"}, {"2", "commands"}} {
			s, err := host.GoCache(b.box)(t.Context(), b.place, of[0], of[1])
			cache := valueOf(s.Env, "GOCACHE")
			left, unread := os.ReadDir(cache)
			if err != nil || unread != nil || len(left)+len(s.Shown) > 0 || !slices.Equal(s.Writable, []string{filepath.Dir(cache)}) {
				t.Errorf("%s, %q: %+v %q %v %v", name, of, s, left, err, unread)
			}
			caches[cache] = true
		}
		if len(caches) != 4 {
			t.Errorf("%s: tasks share %v", name, caches)
		}
		if s, err := host.GoCache(b.box)(t.Context(), b.place, "", "agent"); err != nil || len(s.Env)+len(s.Writable)+len(s.Shown) > 0 {
			t.Errorf("%s, a question: %+v %v", name, s, err)
		}
	}
}
