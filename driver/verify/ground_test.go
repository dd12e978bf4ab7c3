package verify_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pawl"
	"pawl/driver/checkpoint"
	"pawl/driver/ground"
	"pawl/driver/verify"
	"pawl/internal/gittest"
	"pawl/kernel/effect"
	"pawl/sandbox"
	"pawl/sandbox/git"
	"pawl/sandbox/planted"
)

// grounds is a repository with a task's worktree, and a driver whose checks run on grounds.
type grounds struct {
	*verify.Verify
	t     *testing.T
	repo  *gittest.Repo
	place effect.Place
	home  string
	moved bool
}

func newGrounds(t *testing.T, m sandbox.Mechanism, files map[string]string) *grounds {
	t.Helper()
	box, err := sandbox.New(sandbox.Options{Mechanism: m})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(box.Close)
	files[".gitignore"] = "/.pawl/\n*.gen\nout/\n"
	repo, memory := gittest.New(t, files), &git.Memory{}
	shots := checkpoint.NewSnapshotter(memory)
	g := &grounds{t: t, repo: repo, home: filepath.Join(t.TempDir(), "me"), moved: box.Puts(t.Context()),
		place: effect.Place{Workspace: repo.Dir, Tree: repo.Path(".pawl/worktrees/T"), Git: true}}
	gittest.Write(t, g.home, map[string]string{"secret": "s\n"})
	g.Verify = verify.New(verify.Config{Box: &planted.Box{Runner: box}, Open: verify.OpenDir, Snapshot: shots.Snapshot, Changed: shots.Diff,
		Host: verify.Host{Home: g.home, Env: append(os.Environ(), "HOME="+g.home, "CI="), LookPath: sandbox.LookPath,
			Std: std},
		Grounds: &ground.Maker{Memory: memory, Home: g.home, Puts: box.Puts}})
	if r := checkpoint.NewWorktree(memory).Do(t.Context(), effect.Effect{Place: g.place,
		Spec: effect.Encode(effect.WorktreeSpec{Base: repo.Head()})}, nil); !r.OK {
		t.Fatal(r.Err())
	}
	return g
}

// sh verifies by shell commands, one check each.
func (g *grounds) sh(commands ...string) (effect.Receipt, effect.VerifyResult) {
	g.t.Helper()
	var checks []effect.Check
	for _, c := range commands {
		checks = append(checks, effect.Check{Name: "sh", Command: c, Kind: "custom"})
	}
	return run(g.t, g.Verify, g.place, checks)
}

// each runs a test behind each kind of walls.
func eachWalls(t *testing.T, test func(t *testing.T, m sandbox.Mechanism)) {
	for _, m := range []sandbox.Mechanism{sandbox.MechanismNamespaces, sandbox.MechanismBubblewrap, sandbox.MechanismLandlock} {
		t.Run(string(m), func(t *testing.T) { test(t, m) })
	}
}

// TestGround is about what checks of a worktree run on: what lands, and nothing that the work left beside it.
func TestGround(t *testing.T) {
	eachWalls(t, func(t *testing.T, m sandbox.Mechanism) {
		g := newGrounds(t, m, map[string]string{"a.txt": "a\n", "b.txt": "b\n"})
		gittest.Write(t, g.place.Tree, map[string]string{"a.txt": "worked\n", "fix.gen": "ignored\n", "out/x": "ignored\n", "new/n": "n\n"})
		tree, err := checkpoint.NewSnapshotter(nil).Snapshot(t.Context(), g.place)
		if err != nil {
			t.Fatal(err)
		}
		r, v := g.sh("cat a.txt new/n", "ls fix.gen out")
		if v.Tree != tree || v.TreeAfter != tree || v.Outcomes[0].Output != "worked\nn" || v.Outcomes[1].Status != effect.CheckFailed {
			t.Errorf("%v %+v", r.Err(), v)
		}
		if r, v := g.sh("mkdir out && echo made > out/x", "cat out/x"); !r.OK {
			t.Errorf("what one check builds, the next one finds: %+v", v.Outcomes)
		}
		if r, v := g.sh("ls out; test ! -e out"); !r.OK {
			t.Errorf("something is left of the verification before: %+v", v.Outcomes)
		}
		if r, _ := g.sh("echo changed > b.txt"); r.Key != "verify.tree_changed" {
			t.Errorf("a check that changes what it judges: %s", r.Key)
		}
		if raw, _ := os.ReadFile(filepath.Join(g.place.Tree, "b.txt")); string(raw) != "b\n" {
			t.Errorf("it changed the task's tree: %q", raw)
		}
		// Who mends it works in another folder, so that no path leads to this one.
		_, v = g.sh(`echo "$PWD/a.txt:3: bad"; echo "in $PWD"; echo "file://$PWD/new/n"; echo "$PWD-2/x"; exit 1`)
		lines := strings.Split(v.Outcomes[0].Output, "\n")
		if len(lines) != 4 || lines[0] != "a.txt:3: bad" || lines[1] != "in ." || lines[2] != "new/n" || !strings.HasSuffix(lines[3], "-2/x") {
			t.Errorf("%q", lines)
		}
		if _, again := g.sh(`echo "$PWD/a.txt:3: bad"; echo "in $PWD"; echo "file://$PWD/new/n"; echo "$PWD-2/x"; exit 1`); again.Fingerprint != v.Fingerprint {
			t.Error("the same failure has another fingerprint")
		}
		// On a commit, without a worktree of it.
		e := effect.Effect{Kind: effect.KindVerify, Place: g.place, Spec: effect.Encode(effect.VerifySpec{Required: true,
			At: g.repo.Head(), Checks: []effect.Check{{Name: "sh", Command: "cat a.txt; test ! -e new", Kind: "custom"}}})}
		r = g.Do(t.Context(), e, nil)
		if v, _ := effect.Decode[effect.VerifyResult](r.Result); !r.OK || v.Outcomes[0].Output != "a" ||
			v.Tree != g.repo.Git("rev-parse", "HEAD^{tree}") {
			t.Errorf("%v %+v", r.Err(), v)
		}
		// Nothing is left, also where it was cut off.
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if r := g.Do(ctx, e, nil); r.Code != pawl.CodeCanceled {
			t.Errorf("canceled: %s %v", r.Code, r.Err())
		}
		left, _ := os.ReadDir(g.repo.Path(".pawl/worktrees"))
		registered := g.repo.Git("worktree", "list")
		if len(left) != 1 || strings.Contains(registered, "-proof") {
			t.Errorf("left: %v %s", left, registered)
		}
	})
}

// TestGroundHasNoMark is about what code sees that asks who runs it.
func TestGroundHasNoMark(t *testing.T) {
	eachWalls(t, func(t *testing.T, m sandbox.Mechanism) {
		g := newGrounds(t, m, map[string]string{"a.txt": "a\n", "main.go": "package main\n\nfunc main() {}\n", "go.mod": "module x\n\ngo 1.24\n"})
		gittest.Write(t, g.place.Tree, map[string]string{"a.txt": "worked\n", "new": "n\n"})
		r, v := g.sh(`pwd; echo "$HOME"; echo "CI=$CI"; ls -A; env | sort; tr '\0' ' ' < /proc/1/cmdline`)
		out := v.Outcomes[0].Output
		if !g.moved {
			if !strings.Contains(strings.Join(v.Outcomes[0].Weaker, " "), sandbox.WeakPlace) {
				t.Errorf("what is weaker: %v", v.Outcomes[0].Weaker)
			}
			return
		}
		// The path of the test has the name of the project in it, and so has that of the module.
		plain := strings.ReplaceAll(strings.ReplaceAll(out, g.home, "HOME"), os.Getenv("PATH"), "PATH")
		if !r.OK || strings.Contains(strings.ToLower(strings.ReplaceAll(plain, "pawl/driver", "")), "pawl") ||
			!strings.Contains(out, "\n"+g.home+"\n") || !strings.Contains(out, "\nCI="+os.Getenv("CI")+"\n") {
			t.Errorf("%v\n%s", r.Err(), out)
		}
		for command, want := range map[string]string{
			`git status --porcelain`: "M  a.txt\nA  new", `git rev-parse HEAD`: g.repo.Head(), `git branch --show-current`: g.repo.Git("branch", "--show-current"),
			`git worktree list | wc -l`: "1", `git for-each-ref refs/pawl | wc -l`: "0", `ls -A "$HOME" | head -1`: ".cache",
			`cat "$HOME/secret" 2>/dev/null || echo none`: "none", `touch .git/x 2>/dev/null || echo refused`: "refused",
			`case "$(go env GOCACHE)" in "$HOME"/.cache/*) echo there;; esac`: "there",
		} {
			if r, v := g.sh(command); !r.OK || v.Outcomes[0].Output != want {
				t.Errorf("%s: %v %q, want %q", command, r.Err(), v.Outcomes[0].Output, want)
			}
		}
	})
}

// TestGroundInPlace is about the user's own tree: what decides is what a commit would hold, unless the project needed more
// before.
func TestGroundInPlace(t *testing.T) {
	g := newGrounds(t, sandbox.MechanismNamespaces, map[string]string{"need": "need\n", "have": "have\n"})
	g.place.Tree, g.place.InPlace = g.place.Workspace, true
	g.repo.Write(map[string]string{"own.gen": "here before\n", "new": "n\n"})
	weaker := func(v effect.VerifyResult) bool {
		return strings.Contains(strings.Join(v.Outcomes[0].Weaker, " "), effect.WeakIgnored)
	}
	if r, v := g.sh("cat new have"); !r.OK || v.TreeAfter != v.Tree || weaker(v) {
		t.Errorf("%v %+v", r.Err(), v)
	}
	// It fails without the file on what was there before, too.
	if r, v := g.sh("cat need own.gen"); !r.OK || !weaker(v) || v.Outcomes[0].Output != "need\nhere before" {
		t.Errorf("%v %+v", r.Err(), v)
	}
	// There it has no other names, which is said where they were asked for.
	for command, want := range map[string]bool{"cat need own.gen": true, "cat have": false} {
		r := g.Do(t.Context(), effect.Effect{Kind: effect.KindVerify, Place: g.place, Spec: effect.Encode(effect.VerifySpec{Twice: true,
			Checks: []effect.Check{{Name: "sh", Command: command, Kind: "custom"}}})}, nil)
		v, _ := effect.Decode[effect.VerifyResult](r.Result)
		o := v.Outcomes[0]
		if !r.OK || slices.Contains(o.Weaker, effect.WeakOnce) != want || o.Twice == want {
			t.Errorf("%s: %v %+v", command, r.Err(), o)
		}
	}
	// Before, it passed without the file, which the work has made.
	g.repo.Write(map[string]string{"fix.gen": "the fix\n"})
	os.Remove(g.repo.Path("have"))
	if r, v := g.sh("cat have || cat fix.gen"); r.OK || weaker(v) {
		t.Errorf("%v %+v", r.Err(), v)
	}
	if r, v := g.sh("cat nothing-anywhere"); r.OK || r.Code != pawl.CodeChecksFailed {
		t.Errorf("%v %+v", r.Err(), v)
	}
	if left, _ := os.ReadDir(g.repo.Path(".pawl/worktrees")); len(left) != 1 { // the task's own
		t.Errorf("left: %v", left)
	}
	// Without a repository there is no ground of it.
	g.place.Git = false
	if r, v := g.sh("cat fix.gen"); !r.OK || weaker(v) {
		t.Errorf("%v %+v", r.Err(), v)
	}
}

// TestGroundOfPython has tests tell of themselves, by a module that lies among the caches of the verification.
func TestGroundOfPython(t *testing.T) {
	eachWalls(t, func(t *testing.T, m sandbox.Mechanism) {
		g := newGrounds(t, m, map[string]string{"setup.cfg": "", "test_x.py": "import unittest\n\n\nclass T(unittest.TestCase):\n" +
			"    def test_a(self):\n        pass\n"})
		r, v := run(t, g.Verify, g.place, []effect.Check{{Name: "unittest", Command: "python3 -m unittest", Kind: "test", Level: 2}})
		if !r.OK || v.Outcomes[0].Tests == nil || v.Outcomes[0].Tests.Passed != 1 {
			t.Fatalf("%v %+v", r.Err(), v.Outcomes)
		}
	})
}

// TestGroundOfGo has the checks of a project in Go run on a ground, twice: what was compiled for the first time is used.
func TestGroundOfGo(t *testing.T) {
	eachWalls(t, func(t *testing.T, m sandbox.Mechanism) {
		g := newGrounds(t, m, map[string]string{"go.mod": "module example.org/x\n\ngo 1.24\n", "x.go": "package x\n\n// N is one.\nconst N = 1\n"})
		gittest.Write(t, g.place.Tree, map[string]string{"x_test.go": "package x\n\nimport \"testing\"\n\nfunc TestN(t *testing.T) {\n" +
			"\tif N != 1 {\n\t\tt.Fatal(N)\n\t}\n}\n", "main/main.go": "package main\n\nfunc main() {}\n"})
		for range 2 {
			r, v := run(t, g.Verify, g.place, []effect.Check{{Name: "go vet", Command: "go vet ./...", Kind: "lint"},
				{Name: "go build", Command: "go build -o /dev/null ./...", Kind: "build", Level: 1},
				{Name: "go test", Command: "go test ./...", Kind: "test", Level: 2}})
			if !r.OK || v.Outcomes[2].Tests == nil || v.Outcomes[2].Tests.Passed != 1 {
				t.Fatalf("%v %+v", r.Err(), v.Outcomes)
			}
		}
	})
}

// TestTwice is about code that behaves where the user's names are, and not elsewhere.
func TestTwice(t *testing.T) {
	eachWalls(t, func(t *testing.T, m sandbox.Mechanism) {
		g := newGrounds(t, m, map[string]string{"a.txt": "a\n"})
		git := `git rev-parse HEAD >/dev/null && [ -z "$(git status --porcelain)" ]`
		var checks []effect.Check
		for name, command := range map[string]string{"same": git, "home": `test "$HOME" = ` + g.home,
			"folder": "test $PWD = " + g.place.Workspace, "user": `test "$USER" != builder`} {
			checks = append(checks, effect.Check{Name: name, Command: command, Kind: "custom"})
		}
		for _, twice := range []bool{false, true} {
			for _, c := range checks {
				r := g.Do(t.Context(), effect.Effect{Kind: effect.KindVerify, Place: g.place,
					Spec: effect.Encode(effect.VerifySpec{Checks: []effect.Check{c}, Required: true, Twice: twice})}, nil)
				v, err := effect.Decode[effect.VerifyResult](r.Result)
				if err != nil || len(v.Outcomes) != 1 {
					t.Fatalf("%s: %v %+v", c.Name, err, r)
				}
				o := v.Outcomes[0]
				if !g.moved && (c.Name == "home" || c.Name == "folder") {
					continue // there the first run has names of pawl's as well
				}
				if o.Twice != twice || r.OK != (c.Name == "same" || !twice) || twice && r.OK == strings.Contains(o.Output, "who looks") {
					t.Errorf("%s, twice %v: %v\n%s", c.Name, twice, r.Err(), o.Output)
				}
			}
		}
		if left, _ := filepath.Glob(g.repo.Path(".pawl/worktrees/*")); len(left) != 1 {
			t.Errorf("left behind: %v", left)
		}
	})
}
