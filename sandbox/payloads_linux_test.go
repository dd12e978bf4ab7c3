package sandbox

import (
	"cmp"
	cmdline "flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v4"

	"pawl/internal/need"
)

var allPayloads = cmdline.Bool("payloads", false,
	"run every hostile payload behind the walls, and not only every twentieth that compiles nothing")

// hostilePayload is one of policy's payloads, which says there what a run of one is given.
type hostilePayload struct {
	Name, Why, Setup, Command string
	Inside                    bool
	Case                      int // its number in docs/spec/threats.md
}

func hostilePayloads(t *testing.T) []hostilePayload {
	t.Helper()
	dir := cmp.Or(os.Getenv(payloadsAt), filepath.Join("..", "text", "policy", "testdata", "hostile"))
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no payloads: %v", err)
	}
	var all []hostilePayload
	for _, f := range files {
		raw, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		var some []hostilePayload
		if err := yaml.Load(raw, &some); err != nil {
			t.Fatal(err)
		}
		for _, p := range some {
			p.Name = strings.TrimSuffix(filepath.Base(f), ".yaml") + ": " + p.Name
			all = append(all, p)
		}
	}
	slices.SortStableFunc(all, func(a, b hostilePayload) int { return a.Case - b.Case })
	return all
}

// compiles matches a command that compiles Go, which takes long even where the standard library is in its cache.
var compiles = regexp.MustCompile(`\bgo (build|generate|run|test|vet)\b`)

// sample is every twentieth of the payloads that compile nothing.
func sample(all []hostilePayload) []hostilePayload {
	all = slices.DeleteFunc(all, func(p hostilePayload) bool { return compiles.MatchString(p.Command) })
	var some []hostilePayload
	for i := 0; i < len(all); i += 20 {
		some = append(some, all[i])
	}
	return some
}

// TestHostilePayloads runs what the policy is there to refuse behind the walls alone, by each mechanism: nothing comes
// about outside. Each is run with its target let through as well, so that a payload which does nothing anyway is not
// counted.
func TestHostilePayloads(t *testing.T) {
	need.Program(t, "git")
	all := hostilePayloads(t)
	if !*allPayloads {
		all = sample(all)
	}
	template := t.TempDir()
	work := filepath.Join(template, "work")
	if err := os.Mkdir(work, 0o755); err != nil {
		t.Fatal(err)
	}
	prepare := exec.Command("bash", "-c", `git init -q -b work . && git config user.name ada && git config user.email ada@example.org && seq 40 > a.txt && git add a.txt && git commit -qm first`)
	prepare.Dir = work
	if out, err := prepare.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if *allPayloads {
		compiled(t, filepath.Join(template, "cache"))
	}
	mechanisms(t, func(t *testing.T, m Mechanism) {
		t.Parallel()
		b := box(t, Options{Mechanism: m, Ready: true})
		reached, tried := 0, 0
		var idle []string
		for i, p := range all {
			tried++
			if p.out(t, b, template, "work", true) {
				reached++
			} else {
				idle = append(idle, p.Name)
			}
			// In place, and in a worktree of a workspace; a sample takes turns.
			for j, tree := range []string{"work", "workspace/.pawl/worktrees/1"} {
				if (*allPayloads || i%2 == j) && p.out(t, b, template, tree, false) {
					t.Errorf("a payload of case %d got out of %s: %s\n%s", p.Case, tree, p.Name, p.Command)
				}
			}
		}
		if t.Logf("%d payloads, %d of them reach what they are let reach; not: %q", tried, reached,
			idle); reached < tried/2 {
			t.Errorf("only %d of %d payloads do anything", reached, tried)
		}
	})
}

// compiled fills a build cache of Go with what most payloads need of the standard library: to compile that anew for each
// takes longer than all else.
func compiled(t *testing.T, cache string) {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "go.mod"), "module example.org/m\n\ngo 1.24\n")
	write(t, filepath.Join(dir, "m_test.go"), "package m\n\nimport (\n\t_ \"os/exec\"\n\t\"testing\"\n)\n\nfunc TestNothing(t *testing.T) {}\n")
	cmd := exec.Command("go", "test", ".")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOCACHE="+cache, "GOFLAGS=", "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// manifest tells of everything in a folder: names, modes, times and contents.
func manifest(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		data, _ := os.ReadFile(p)
		fmt.Fprintln(&b, p, info.Mode(), info.ModTime(), string(data))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// out runs a payload in a tree and reports whether anything is at its target afterwards, or changed beside the tree.
// Open lets it through to there.
func (p hostilePayload) out(t *testing.T, b *Box, template, tree string, open bool) bool {
	t.Helper()
	base, away := t.TempDir(), outside(t)
	defer os.RemoveAll(base)
	tree, home, cache := filepath.Join(base, "run", tree), filepath.Join(base, "home"), filepath.Join(base, "cache")
	beside := filepath.Join(base, "run", "beside")
	write(t, filepath.Join(beside, "kept"), "kept\n")
	if err := os.MkdirAll(filepath.Dir(tree), 0o755); err != nil {
		t.Fatal(err)
	}
	copies := map[string]string{"work": tree}
	if compiles.MatchString(p.Command) && *allPayloads {
		copies["cache"] = cache
	} else if err := os.Mkdir(cache, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(home, 0o755); err != nil {
		t.Fatal(err)
	}
	for from, to := range copies {
		if out, err := exec.Command("cp", "-a", filepath.Join(template, from), to).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	canary := filepath.Join(away, "canary")
	s := Spec{Dir: tree, Writable: []string{tree, filepath.Join(tree, ".git"), home, cache}, Timeout: 20 * time.Second}
	s.Env = append(Environ(os.Environ(), nil), "HOME="+home, "OUTSIDE="+away, "CANARY="+canary, "CACHE="+cache,
		"GOCACHE="+cache)
	if open {
		s.Writable = append(s.Writable, away)
	}
	before := manifest(t, beside)
	for _, script := range []string{p.Setup, p.Command} {
		if script == "" {
			continue
		}
		s.Argv = []string{"bash", "-c", script}
		_, _ = b.Run(t.Context(), s) // what becomes of the command does not matter
	}
	left, err := os.ReadDir(away)
	if err != nil {
		t.Fatal(err)
	}
	return len(left) > 0 || !open && manifest(t, beside) != before
}
