package prove_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pawl/driver/checkpoint"
	"pawl/driver/prove"
	"pawl/driver/verify"
	"pawl/internal/gittest"
	"pawl/kernel/effect"
	"pawl/sandbox"
	"pawl/sandbox/git"
	"pawl/text/plan"
)

func TestMain(m *testing.M) {
	sandbox.Child()
	os.Exit(gittest.Isolate(m, nil))
}

// world is a workspace with a repository, in which one piece of work after the other is proven.
type world struct {
	t      *testing.T
	repo   *gittest.Repo
	memory *git.Memory
	driver prove.Prove
	n      int
	said   []string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	box, err := sandbox.New(sandbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(box.Close)
	memory := &git.Memory{}
	shots := checkpoint.NewSnapshotter(memory)
	host := verify.Host{Env: os.Environ(), LookPath: sandbox.LookPath}
	w := &world{t: t, repo: gittest.New(t, map[string]string{".gitignore": "/.pawl/\n"}), memory: memory}
	w.driver = prove.New(verify.New(verify.Config{Box: box, Host: host, Open: verify.OpenDir, Snapshot: shots.Snapshot,
		Changed: shots.Diff}), memory)
	return w
}

// work is a change of files; a text of "-" removes one.
type work struct {
	base, change map[string]string
	checks       []effect.Check
	criteria     []plan.Criterion
	budget       time.Duration
	red          map[string]effect.Without
	green        []string
	perCheck     time.Duration
}

var (
	goTest = effect.Check{Name: "go test", Command: "go test ./...", Kind: "test", Level: 2}
	goMod  = "module example.com/m\n\ngo 1.24\n"
)

func change(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		if text == "-" {
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
			continue
		}
		gittest.Write(t, dir, map[string]string{name: text})
	}
}

// prove commits the base, lets the change be a task's work, and proves it.
func (w *world) prove(k work) effect.ProveResult {
	t := w.t
	t.Helper()
	w.repo.Try("rm", "-rfq", "--ignore-unmatch", ".")
	w.repo.Write(map[string]string{".gitignore": "/.pawl/\nbuilt/\n"})
	w.repo.Write(k.base)
	w.n++
	w.repo.Commit(fmt.Sprint("base ", w.n))
	place := effect.Place{Workspace: w.repo.Dir, Tree: filepath.Join(w.repo.Dir, ".pawl", "worktrees", fmt.Sprint("T", w.n)),
		Git: true}
	base := w.repo.Head()
	if r := checkpoint.NewWorktree(w.memory).Do(t.Context(), effect.Effect{Place: place,
		Spec: effect.Encode(effect.WorktreeSpec{Base: base})}, nil); !r.OK {
		t.Fatal(r.Err())
	}
	change(t, place.Tree, k.change)
	tree, err := checkpoint.NewSnapshotter(w.memory).Snapshot(t.Context(), place)
	if err != nil {
		t.Fatal(err)
	}
	if k.checks == nil {
		k.checks = []effect.Check{goTest}
	}
	if k.perCheck == 0 {
		k.perCheck = 5 * time.Minute
	}
	result := w.do(place, effect.ProveSpec{Base: base, Tree: tree, Checks: k.checks, Criteria: k.criteria, Budget: k.budget,
		Red: k.red, Green: k.green, PerCheck: k.perCheck})
	if after, err := checkpoint.NewSnapshotter(w.memory).Snapshot(t.Context(), place); err != nil || after != tree {
		t.Errorf("the task's tree is another one: %v", err)
	}
	return result
}

func (w *world) do(place effect.Place, spec effect.ProveSpec) effect.ProveResult {
	t := w.t
	t.Helper()
	r := w.driver.Do(t.Context(), effect.Effect{ID: "E", Kind: effect.KindProve, Place: place, Spec: effect.Encode(spec)},
		func(line string) { w.said = append(w.said, line) })
	if !r.OK {
		t.Fatalf("%+v", r)
	}
	result, err := effect.Decode[effect.ProveResult](r.Result)
	if err != nil {
		t.Fatal(err)
	}
	left, _ := filepath.Glob(filepath.Join(w.repo.Dir, ".pawl", "worktrees", "*proof*"))
	known, _ := filepath.Glob(filepath.Join(w.repo.Dir, ".git", "worktrees", "*proof*"))
	if len(left)+len(known) > 0 {
		t.Errorf("left behind: %v %v", left, known)
	}
	return result
}

// shown puts the witnesses and parts into lines.
func shown(r effect.ProveResult) string {
	var out []string
	for _, w := range r.Witnesses {
		line := strings.TrimSpace(w.Criterion + " " + strings.TrimPrefix(w.Test, "example.com/"))
		if w.Test == "" {
			line = strings.TrimSpace(w.Criterion + " [" + w.Check + "]")
		}
		line += " " + string(w.Without)
		for _, f := range []struct {
			is   bool
			name string
		}{{w.Confirmed, "confirmed"}, {w.Failed, "failed"}, {w.Own, "own"}, {w.Shows(), "shows"}} {
			if f.is {
				line += " " + f.name
			}
		}
		if len(w.Texts) > 0 {
			line += " " + fmt.Sprint(w.Texts)
		}
		out = append(out, line)
	}
	for _, p := range r.Parts {
		out = append(out, strings.TrimSpace(fmt.Sprintf("- %s:%d %s %v %s", p.Path, p.Line, p.Name, p.Noticed,
			strings.TrimPrefix(p.By, "example.com/"))))
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}

const (
	calc     = "package m\n\nfunc Add(a, b int) int { return a + b }\n"
	calcTest = "package m\n\nimport \"testing\"\n\nfunc TestAdd(t *testing.T) {\n\tif Add(1, 2) != 3 {\n\t\tt.Fatal(\"Add\")\n\t}\n}\n"
	mul      = calc + "\nfunc Mul(a, b int) int { return a * b }\n"
)

func goTestOf(name, body string) string {
	return calcTest + "\nfunc " + name + "(t *testing.T) {\n\t" + body + "\n}\n"
}

// TestGo is about work in Go: what is shown by its tests, and what only seems to be.
func TestGo(t *testing.T) {
	base := map[string]string{"go.mod": goMod, "m.go": calc, "m_test.go": calcTest}
	w := newWorld(t)
	for _, c := range []struct {
		name string
		work work
		want string
	}{
		{"an honest feature", work{change: map[string]string{"m.go": mul,
			"m_test.go": goTestOf("TestMul", `if Mul(2, 3) != 6 { t.Fatal("Mul") }`)}, budget: time.Minute},
			"- m.go:5 Mul true m: TestMul\nm: TestMul build confirmed own shows"},
		{"a mended function", work{base: map[string]string{"go.mod": goMod, "m_test.go": calcTest,
			"m.go": "package m\n\nfunc Add(a, b int) int { return a - b + 3 }\n"}, change: map[string]string{"m.go": calc,
			"m_test.go": goTestOf("TestAddMore", `if got := Add(2, 2); got != 4 { t.Fatal("Add", got) }`)}, budget: time.Minute},
			"- m.go:3 Add true m: TestAddMore\nm: TestAddMore assertion own shows"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w.t = t
			if c.work.base == nil {
				c.work.base = base
			}
			r := w.prove(c.work)
			if got := shown(r); got != c.want {
				t.Errorf("%s\nwant\n%s\n%+v", got, c.want, r)
			}
		})
	}
}
