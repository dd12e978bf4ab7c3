package land_test

import (
	"context"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"pawl"
	"pawl/driver/land"
	"pawl/internal/gittest"
	"pawl/kernel/effect"
	"pawl/sandbox/git"
	"pawl/sandbox/git/layout"
)

func TestMain(m *testing.M) {
	os.Exit(gittest.Isolate(m, map[string]gittest.Scene{"land": sceneLand, "in place": sceneInPlace,
		"revert": sceneRevert, "kept": sceneKept, "rebase": sceneRebase}))
}

var files = map[string]string{
	"a": "a\n", "b": "b\n", "run": "echo\n", "gone": "g\n", "d/x": "x\n", "kind": "file\n",
	".gitignore": "*.log\n/.pawl\n",
}

// change is what the task did: every kind of change.
func change(t testing.TB, dir string) {
	os.Remove(dir + "/gone")
	os.Remove(dir + "/kind")
	gittest.Write(t, dir, map[string]string{"a": "worked\n", "new/文": "n\n", "run": "#!/bin/sh\n", "d/x": "-> ../a",
		"kind/inside": "k\n"})
}

var when = time.Date(2026, 2, 8, 12, 0, 0, 0, time.UTC)

func place(r *gittest.Repo) effect.Place {
	return effect.Place{Workspace: r.Dir, Tree: r.Path(".pawl/worktrees/t1"), Git: true}
}

func opened(t testing.TB, p effect.Place) *git.Repo {
	t.Helper()
	repo, err := git.Open(context.Background(), layout.Place{Workspace: p.Workspace, Tree: p.Tree, Git: p.Git})
	if err != nil {
		t.Fatal(err)
	}
	return repo
}

func spec(base, tree string) effect.LandSpec {
	return effect.LandSpec{
		Tree: tree, Base: base, Branch: "main", Keep: "pawl/T-1", Subject: "Do the work", Body: "- step\n",
		Trailers: []string{"Pawl-Task: T-1"}, At: when,
	}
}

func landing(p effect.Place, s effect.LandSpec) effect.Effect {
	return effect.Effect{ID: "01E", Kind: effect.KindLand, Place: p, Spec: effect.Encode(s)}
}

// worked makes a repository with a task's worktree in which the work is done, and the effect that lands it.
func worked(t testing.TB) (*gittest.Repo, effect.Effect) {
	t.Helper()
	r := gittest.New(t, files)
	p := place(r)
	repo := opened(t, p)
	if _, err := repo.AddWorktree(context.Background(), r.Head()); err != nil {
		t.Fatal(err)
	}
	change(t, p.Tree)
	tree, err := repo.Snapshot(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return r, landing(p, spec(r.Head(), tree))
}

func do(t testing.TB, e effect.Effect) effect.LandResult {
	t.Helper()
	receipt := land.New(nil).Do(context.Background(), e, nil)
	if err := receipt.Err(); err != nil {
		t.Fatal(err)
	}
	result, err := effect.Decode[effect.LandResult](receipt.Result)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// landed checks everything that must hold once the result is on the branch.
func landed(t testing.TB, r *gittest.Repo, base string, s effect.LandSpec) {
	t.Helper()
	if got := r.Git("rev-parse", "main^{tree}"); got != s.Tree {
		t.Errorf("main has tree %s, want %s", got, s.Tree)
	}
	if got := r.Git("rev-list", "--count", base+"..main"); got != "1" {
		t.Errorf("%s commits on main", got)
	}
	if got := r.Git("status", "--porcelain"); got != "" {
		t.Errorf("status:\n%s", got)
	}
	clean(t, r)
}

// clean checks that nothing of pawl's is left in the user's git directory.
func clean(t testing.TB, r *gittest.Repo) {
	t.Helper()
	entries, err := os.ReadDir(r.Path(".git"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.Contains(e.Name(), "pawl") || strings.HasSuffix(e.Name(), ".lock") {
			t.Errorf("%s is left in .git", e.Name())
		}
	}
}

func TestLanded(t *testing.T) {
	t.Parallel()
	r, e := worked(t)
	base := r.Head()
	r.Write(map[string]string{"mine": "untracked", "x.log": "ignored"})
	result := do(t, e)
	if result.Outcome != effect.Landed || result.Commit != r.Head() || result.Branch != "main" ||
		len(result.Files) != 7 {
		t.Fatalf("%+v", result)
	}
	s := spec(base, result.Tree)
	os.Remove(r.Path("mine"))
	landed(t, r, base, s)
	if raw, _ := os.ReadFile(r.Path("x.log")); string(raw) != "ignored" {
		t.Error("an ignored file was touched")
	}
	const want = "Ada <ada@example.org> 2026-02-08T12:00:00Z\nDo the work\n\n- step\n\nPawl-Task: T-1"
	if got := strings.TrimSpace(r.Git("log", "-1", "--format=%an <%ae> %cd%n%B",
		"--date=format:%Y-%m-%dT%H:%M:%SZ")); got != want {
		t.Errorf("commit:\n%s", got)
	}
	if got := r.Git("reflog", "-1", "--format=%gs", "HEAD"); got != "pawl: land" {
		t.Errorf("reflog %q", got)
	}
	// Again, and after the user has gone on: the same answer, no second commit.
	r.Write(map[string]string{"a": "mine\n"})
	r.Commit("on top")
	head := r.Head()
	if again := do(t, e); again.Commit != result.Commit || r.Head() != head {
		t.Fatalf("%+v", again)
	}
	if answer, receipt := land.New(nil).Done(context.Background(), e); answer != effect.DoneYes ||
		receipt.Err() != nil {
		t.Fatalf("%s %v", answer, receipt.Err())
	}
}

func TestDoneBeforeDo(t *testing.T) {
	t.Parallel()
	r, e := worked(t)
	head := r.Head()
	if answer, _ := land.New(nil).Done(context.Background(), e); answer != effect.DoneNo || r.Head() != head {
		t.Fatal(answer)
	}
}

// Landing is refused wherever it would overwrite something, and the command that it names brings the result in.
func TestKept(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		prepare func(r *gittest.Repo)
		reason  string
		settle  func(r *gittest.Repo) // what a person does before running the command
		command string
	}{
		"dirty": {func(r *gittest.Repo) { r.Write(map[string]string{"a": "mine\n"}) }, "land.kept_dirty",
			func(r *gittest.Repo) { r.Git("stash", "-q") }, "git merge --ff-only pawl/T-1"},
		"staged": {func(r *gittest.Repo) { r.Write(map[string]string{"d/x": "n"}); r.Git("add", "d/x") },
			"land.kept_dirty", func(r *gittest.Repo) { r.Git("stash", "-q") }, "git merge --ff-only pawl/T-1"},
		"deleted": {func(r *gittest.Repo) { os.Remove(r.Path("a")) }, "land.kept_dirty", nil,
			"git merge --ff-only pawl/T-1"},
		"mode": {func(r *gittest.Repo) { os.Chmod(r.Path("gone"), 0o755) }, "land.kept_dirty", nil,
			"git merge --ff-only pawl/T-1"},
		"untracked": {func(r *gittest.Repo) { r.Write(map[string]string{"new/文": "mine"}) }, "land.kept_untracked",
			func(r *gittest.Repo) { os.Remove(r.Path("new/文")) }, "git merge --ff-only pawl/T-1"},
		"untracked file": {func(r *gittest.Repo) { r.Write(map[string]string{"new": "mine"}) }, "land.kept_untracked",
			nil, "git merge --ff-only pawl/T-1"},
		"moved": {func(r *gittest.Repo) { r.Write(map[string]string{"c": "c"}); r.Commit("mine") },
			"land.kept_moved", nil, "git merge pawl/T-1"},
		"detached": {func(r *gittest.Repo) { r.Git("checkout", "-q", "--detach") }, "land.kept_detached", nil,
			"git merge --ff-only pawl/T-1"},
		"gone": {func(r *gittest.Repo) { r.Git("checkout", "-q", "-b", "x"); r.Git("branch", "-D", "main") },
			"land.kept_gone", nil, "git branch -- main pawl/T-1"},
		"elsewhere": {func(r *gittest.Repo) {
			r.Git("checkout", "-q", "-b", "x")
			r.Git("worktree", "add", "-q", r.Path("../other wt"), "main")
		}, "land.kept_elsewhere", nil, ""},
		"locked": {func(r *gittest.Repo) { r.Write(map[string]string{".git/index.lock": ""}) },
			"land.kept_locked", func(r *gittest.Repo) { os.Remove(r.Path(".git/index.lock")) },
			"git merge --ff-only pawl/T-1"},
		"merging": {func(r *gittest.Repo) { r.Write(map[string]string{".git/MERGE_HEAD": r.Head() + "\n"}) },
			"land.kept_operation", func(r *gittest.Repo) { os.Remove(r.Path(".git/MERGE_HEAD")) },
			"git merge --ff-only pawl/T-1"},
		"sparse": {func(r *gittest.Repo) { r.Git("update-index", "--skip-worktree", "a") }, "land.kept_sparse",
			nil, "git merge --ff-only pawl/T-1"},
		"assumed": {func(r *gittest.Repo) { r.Git("update-index", "--assume-unchanged", "a") }, "land.kept_sparse",
			nil, "git merge --ff-only pawl/T-1"},
		"crlf": {func(r *gittest.Repo) { r.Git("config", "core.autocrlf", "true") }, "land.kept_converted", nil,
			"git merge --ff-only pawl/T-1"},
		"name taken": {func(r *gittest.Repo) { r.Git("branch", "pawl/T-1"); r.Git("checkout", "-q", "--detach") },
			"land.kept_detached", nil, "git merge --ff-only pawl/T-1-2"},
		"folder taken": {func(r *gittest.Repo) { r.Git("branch", "pawl"); r.Git("checkout", "-q", "--detach") },
			"land.kept_detached", nil, "git merge --ff-only pawl-T-1"},
	}
	template, e := worked(t)
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, e := gittest.At(t, gittest.Copy(t, template.Dir)), e
			e.Place = place(r)
			if name == "detached" || strings.HasSuffix(name, "taken") {
				s, _ := effect.Decode[effect.LandSpec](e.Spec)
				s.Branch = ""
				e.Spec = effect.Encode(s)
			}
			c.prepare(r)
			tree, index, refs := gittest.Tree(t, r.Dir), r.Git("ls-files", "-s", "-v"), r.Git("show-ref", "--heads")
			result := do(t, e)
			if result.Outcome != effect.Kept || result.Reason != c.reason || c.command != "" &&
				result.Command != c.command {
				t.Fatalf("%+v", result)
			}
			if got := r.Git("rev-parse", "refs/heads/"+result.Branch); got != result.Commit {
				t.Fatalf("%s is %s", result.Branch, got)
			}
			if again := do(t, e); again.Branch != result.Branch || again.Commit != result.Commit {
				t.Fatalf("again: %+v", again)
			}
			r.Git("update-ref", "-d", "refs/heads/"+result.Branch, result.Commit)
			if gittest.Tree(t, r.Dir) != tree || r.Git("ls-files", "-s", "-v") != index ||
				r.Git("show-ref", "--heads") != refs {
				t.Fatal("something of the user's changed")
			}
			r.Git("update-ref", "refs/heads/"+result.Branch, result.Commit)
			if c.settle != nil {
				c.settle(r)
				r.Git(strings.Fields(result.Command)[1:]...)
				if _, err := r.Try("diff", "--quiet", result.Commit); err != nil {
					t.Error("the command did not bring the result in")
				}
			}
		})
	}
}

// TestUncommittedChanges lands beside random uncommitted changes of the user's, and has git merge the same commit in a
// copy: where pawl lands, git would, and branch, index and files are then the same; where git would and pawl does not,
// the change touches a file of theirs.
func TestUncommittedChanges(t *testing.T) {
	t.Parallel()
	write := func(name, content string) func(r *gittest.Repo) {
		return func(r *gittest.Repo) { r.Write(map[string]string{name: content}) }
	}
	stage := func(name, content string) func(r *gittest.Repo) {
		return func(r *gittest.Repo) { write(name, content)(r); r.Git("add", name) }
	}
	edits := map[string]struct {
		touches bool
		edit    func(r *gittest.Repo)
	}{
		"edit b":         {false, write("b", "mine\n")},
		"stage b":        {false, stage("b", "staged\n")},
		"edit b again":   {false, write("b", "more\n")},
		"delete b":       {false, func(r *gittest.Repo) { os.Remove(r.Path("b")) }},
		"untrack b":      {false, func(r *gittest.Repo) { r.Git("rm", "-q", "--cached", "--ignore-unmatch", "b") }},
		"mode of b":      {false, func(r *gittest.Repo) { os.Chmod(r.Path("b"), 0o755) }},
		"stage a file":   {false, stage("mine/n", "n")},
		"stage beside":   {false, stage("new/n", "n")},
		"stage beside x": {false, stage("d/y", "y")},
		"edit a":         {true, write("a", "mine\n")},
		"stage a":        {true, stage("a", "staged\n")},
		"delete gone":    {true, func(r *gittest.Repo) { r.Git("rm", "-q", "-f", "gone") }},
		"the same of a":  {true, stage("a", "worked\n")},
		"a file new": {true, func(r *gittest.Repo) {
			r.Write(map[string]string{"new": "n"})
			r.Git("add", "new")
			os.Remove(r.Path("new"))
		}},
		"below kind/inside": {true, func(r *gittest.Repo) {
			r.Git("update-index", "--force-remove", "kind")
			os.Remove(r.Path("kind"))
			r.Write(map[string]string{"kind/inside/deep": "n"})
			r.Git("add", "kind/inside/deep")
			os.RemoveAll(r.Path("kind"))
		}},
	}
	names := slices.Sorted(maps.Keys(edits))
	template, e := worked(t)
	landed, kept := 0, 0
	for i := range 30 {
		random := rand.New(rand.NewPCG(uint64(i), 34))
		r, e := gittest.At(t, gittest.Copy(t, template.Dir)), e
		e.Place = place(r)
		var did []string
		touches := false
		for range 1 + random.IntN(3) {
			name := names[random.IntN(len(names))]
			if i < len(names) && did == nil {
				name = names[i] // each of them is tried
			}
			did, touches = append(did, name), touches || edits[name].touches
			edits[name].edit(r)
		}
		theirs := gittest.At(t, gittest.Copy(t, r.Dir))
		before, index := gittest.Tree(t, r.Dir), r.Git("ls-files", "-s")
		result := do(t, e)
		commit := strings.TrimSpace(result.Commit)
		theirs.Git("fetch", "-q", r.Dir, commit)
		_, failed := theirs.Try("merge", "-q", "--ff-only", commit)
		if result.Outcome == effect.Landed {
			landed++
			if failed != nil || gittest.Tree(t, r.Dir) != gittest.Tree(t, theirs.Dir) ||
				r.Git("ls-files", "-s") != theirs.Git("ls-files", "-s") {
				t.Errorf("%q: landed otherwise than by git: %v\n%s", did, failed, r.Git("status", "--short"))
			}
			continue
		}
		kept++
		if gittest.Tree(t, r.Dir) != before || r.Git("ls-files", "-s") != index {
			t.Errorf("%q: kept, and something of the user's changed", did)
		}
		if !touches {
			t.Errorf("%q: kept (%s %s), and git says %v", did, result.Reason, result.Named, failed)
		}
	}
	if landed < 5 || kept < 5 {
		t.Errorf("%d landed, %d kept", landed, kept)
	}
}

// A file that git would send through a filter is in no commit: neither on the branch nor on one of pawl's, nor in the
// user's object store.
func TestFiltered(t *testing.T) {
	t.Parallel()
	for _, branch := range []string{"main", ""} {
		for _, current := range []bool{false, true} {
			r := gittest.New(t, map[string]string{"a": "a\n"})
			p := place(r)
			repo := opened(t, p)
			if _, err := repo.AddWorktree(t.Context(), r.Head()); err != nil {
				t.Fatal(err)
			}
			gittest.Write(t, p.Tree, map[string]string{"conf/.gitattributes": "* filter=crypt\n", "conf/secret": "plain\n"})
			tree, err := repo.Snapshot(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			refs := r.Git("show-ref", "--heads")
			s := spec(r.Head(), tree)
			s.Branch, s.Current = branch, current
			err = land.New(nil).Do(t.Context(), landing(p, s), nil).Err()
			if pawl.CodeOf(err) != pawl.CodeEnvironment || !strings.Contains(err.Error(), "conf/secret (crypt)") {
				t.Errorf("%q, %v: %v", branch, current, err)
			}
			if got := r.Git("show-ref", "--heads"); got != refs {
				t.Errorf("%q, %v: %s", branch, current, got)
			}
		}
	}
}

// A user's commit in the middle of a landing wins, and nothing of it is lost.
func TestRace(t *testing.T) {
	t.Parallel()
	r, e := worked(t)
	other := r.Git("commit-tree", "-p", r.Head(), "-m", "meanwhile", r.Head()+"^{tree}")
	tree := gittest.Tree(t, r.Dir)
	tried := false
	ctx := gittest.Trace(context.Background(), func(step string) {
		if step == "git update-ref" && !tried {
			tried = true
			if out, err := r.Try("commit", "-q", "--allow-empty", "-m", "blocked by the lock"); err == nil {
				t.Errorf("the user's git worked under the lock: %s", out)
			}
			r.Git("update-ref", "refs/heads/main", other)
		}
	})
	receipt := land.New(nil).Do(ctx, e, nil)
	result, err := effect.Decode[effect.LandResult](receipt.Result)
	if err != nil || result.Outcome != effect.Kept || result.Reason != "land.kept_moved" || !tried {
		t.Fatalf("%+v %v", result, receipt.Err())
	}
	if r.Head() != other || gittest.Tree(t, r.Dir) != tree {
		t.Fatal("something of the user's changed")
	}
	clean(t, r)
	r.Git(strings.Fields(result.Command)[1:]...)
}

// Something that comes to stand in the way while files are written takes the landing back.
func TestRetreat(t *testing.T) {
	t.Parallel()
	r, e := worked(t)
	base, tree := r.Head(), gittest.Tree(t, r.Dir)
	ctx := gittest.Trace(context.Background(), func(step string) {
		if step == "write file" {
			os.WriteFile(r.Path("new"), nil, 0o600) // a file where a folder belongs
		}
	})
	receipt := land.New(nil).Do(ctx, e, nil)
	result, err := effect.Decode[effect.LandResult](receipt.Result)
	if err != nil || result.Outcome != effect.Kept || result.Reason != "land.kept_untracked" {
		t.Fatalf("%+v %v", result, receipt.Err())
	}
	os.Remove(r.Path("new"))
	if got := gittest.Tree(t, r.Dir); got != tree || r.Head() != base || r.Git("status", "--porcelain") != "" {
		t.Fatalf("the landing was not taken back:\n%s", got)
	}
	clean(t, r)
	r.Git(strings.Fields(result.Command)[1:]...)
}

func TestNotCheckedOut(t *testing.T) {
	t.Parallel()
	r, e := worked(t)
	r.Git("checkout", "-q", "-b", "other")
	r.Write(map[string]string{"b": "dirty but elsewhere\n"})
	tree := gittest.Tree(t, r.Dir)
	result := do(t, e)
	if result.Outcome != effect.Landed || r.Git("rev-parse", "main") != result.Commit ||
		gittest.Tree(t, r.Dir) != tree {
		t.Fatalf("%+v", result)
	}
	clean(t, r)
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	r, e := worked(t)
	gittest.Write(t, e.Place.Tree, map[string]string{"late": "after verification"})
	if receipt := land.New(nil).Do(context.Background(), e, nil); receipt.Code != pawl.CodeConflict ||
		receipt.Key != "land.tree_changed" {
		t.Fatalf("%+v", receipt)
	}
	os.Remove(e.Place.Tree + "/late")
	bad := e
	bad.ID = "../x"
	if receipt := land.New(nil).Do(context.Background(), bad, nil); receipt.Code != pawl.CodeInvalid {
		t.Fatalf("%+v", receipt)
	}
	bad = e
	bad.Spec = []byte(`{"tree":1}`)
	if receipt := land.New(nil).Do(context.Background(), bad, nil); receipt.OK {
		t.Fatal("a malformed spec was taken")
	}
	canceled, cancel := context.WithCancel(context.Background())
	cancel()
	if receipt := land.New(nil).Do(canceled, e, nil); receipt.OK {
		t.Fatal("landed after the context had ended")
	}
	clean(t, r)
}

func TestEmpty(t *testing.T) {
	t.Parallel()
	r, e := worked(t)
	repo := opened(t, e.Place)
	if _, err := repo.Restore(context.Background(),
		git.Restoration{Target: r.Git("rev-parse", "HEAD^{tree}")}); err != nil {
		t.Fatal(err)
	}
	head := r.Head()
	e.Spec = effect.Encode(spec(head, r.Git("rev-parse", "HEAD^{tree}")))
	if result := do(t, e); result.Outcome != effect.Empty || result.Commit != "" || r.Head() != head {
		t.Fatalf("%+v", result)
	}
}

// Without a configured identity, or with one that git would refuse, commits are pawl's.
func TestIdentity(t *testing.T) {
	t.Parallel()
	r, e := worked(t)
	r.Git("config", "--unset", "user.email")
	do(t, e)
	if got := r.Git("log", "-1", "--format=%an <%ae> %cn"); got != "pawl <pawl@localhost> pawl" {
		t.Fatal(got)
	}
}

// Where the result must land, what a person can mend is an error that names it, and nothing has happened.
func TestBlocked(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		prepare func(r *gittest.Repo)
		code    pawl.Code
		says    string // the key, and what the message names
		settle  func(r *gittest.Repo)
	}{
		"dirty": {func(r *gittest.Repo) { r.Write(map[string]string{"a": "mine\n"}) }, pawl.CodeEnvironment,
			"land.blocked_dirty a", func(r *gittest.Repo) { r.Git("stash", "-q") }},
		"untracked": {func(r *gittest.Repo) { r.Write(map[string]string{"new/文": "mine"}) }, pawl.CodeEnvironment,
			"land.blocked_untracked new/文", func(r *gittest.Repo) { os.Remove(r.Path("new/文")) }},
		"merging": {func(r *gittest.Repo) { r.Write(map[string]string{".git/MERGE_HEAD": r.Head() + "\n"}) },
			pawl.CodeEnvironment, "land.blocked_operation merge",
			func(r *gittest.Repo) { os.Remove(r.Path(".git/MERGE_HEAD")) }},
		"elsewhere": {func(r *gittest.Repo) {
			r.Git("checkout", "-q", "-b", "x")
			r.Git("worktree", "add", "-q", r.Path("../other wt"), "main")
		}, pawl.CodeEnvironment, "land.blocked_elsewhere main", func(r *gittest.Repo) {
			r.Git("worktree", "remove", "--force", r.Path("../other wt"))
			r.Git("checkout", "-q", "main")
		}},
		"locked": {func(r *gittest.Repo) { r.Write(map[string]string{".git/index.lock": ""}) }, pawl.CodeEnvironment,
			"land.blocked_locked", func(r *gittest.Repo) { os.Remove(r.Path(".git/index.lock")) }},
		"moved": {func(r *gittest.Repo) { r.Write(map[string]string{"c": "c"}); r.Commit("mine") }, pawl.CodeConflict,
			"land.moved main", nil},
	}
	template, e := worked(t)
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, e := gittest.At(t, gittest.Copy(t, template.Dir)), e
			e.Place = place(r)
			s, _ := effect.Decode[effect.LandSpec](e.Spec)
			s.Current = true
			e.Spec = effect.Encode(s)
			base := r.Head()
			c.prepare(r)
			tree, index, refs := gittest.Tree(t, r.Dir), r.Git("ls-files", "-s", "-v"), r.Git("show-ref")
			receipt := land.New(nil).Do(context.Background(), e, nil)
			if got := strings.TrimSpace(receipt.Key + " " + strings.Join(receipt.Args, " ")); receipt.OK ||
				receipt.Code != c.code || !strings.HasPrefix(got, c.says) {
				t.Fatalf("%s, %q: %v", receipt.Code, got, receipt.Err())
			}
			if gittest.Tree(t, r.Dir) != tree || r.Git("ls-files", "-s", "-v") != index || r.Git("show-ref") != refs {
				t.Error("something has changed")
			}
			if c.settle != nil {
				c.settle(r)
				if result := do(t, e); result.Outcome != effect.Landed {
					t.Fatalf("once it is out of the way: %+v", result)
				}
				landed(t, r, base, s)
			}
		})
	}
}

// A git that holds the index only for a moment keeps nobody from landing.
func TestTheIndexIsWaitedFor(t *testing.T) {
	t.Parallel()
	r, e := worked(t)
	s, _ := effect.Decode[effect.LandSpec](e.Spec)
	s.Current = true
	e.Spec = effect.Encode(s)
	r.Write(map[string]string{".git/index.lock": ""})
	go func() {
		time.Sleep(200 * time.Millisecond)
		os.Remove(r.Path(".git/index.lock"))
	}()
	base := r.Head()
	if result := do(t, e); result.Outcome != effect.Landed {
		t.Fatalf("%+v", result)
	}
	landed(t, r, base, s)
}
