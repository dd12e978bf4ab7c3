package land_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pawl"
	"pawl/driver/land"
	"pawl/internal/gittest"
	"pawl/kernel/effect"
	"pawl/sandbox/git"
)

var text = func() string {
	var b strings.Builder
	for i := range 40 {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	return b.String()
}()

// working makes a repository with a task's worktree in which work was done, and the effect that brings it to the
// branch.
func working(t testing.TB, files map[string]string, work func(dir string)) (*gittest.Repo, effect.Effect) {
	t.Helper()
	r := gittest.New(t, files)
	p := place(r)
	repo := opened(t, p)
	base := r.Head()
	if _, err := repo.AddWorktree(context.Background(), base); err != nil {
		t.Fatal(err)
	}
	work(p.Tree)
	return r, rebasing(p, effect.RebaseSpec{Branch: "main", Base: base, Tree: recorded(t, repo)})
}

func rebasing(p effect.Place, s effect.RebaseSpec) effect.Effect {
	return effect.Effect{ID: "01R", Kind: effect.KindRebase, Place: p, Spec: effect.Encode(s)}
}

func recorded(t testing.TB, repo *git.Repo) string {
	t.Helper()
	tree, err := repo.Snapshot(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func rebase(t testing.TB, e effect.Effect) effect.RebaseResult {
	t.Helper()
	return rebased(t, land.NewRebase(nil).Do(context.Background(), e, nil))
}

func rebased(t testing.TB, receipt effect.Receipt) effect.RebaseResult {
	t.Helper()
	if err := receipt.Err(); err != nil {
		t.Fatal(err, receipt.Detail)
	}
	result, err := effect.Decode[effect.RebaseResult](receipt.Result)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func rebaseSpec(t testing.TB, e effect.Effect) effect.RebaseSpec {
	t.Helper()
	s, err := effect.Decode[effect.RebaseSpec](e.Spec)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func edit(t testing.TB, dir, name, old, new string) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	gittest.Write(t, dir, map[string]string{name: strings.Replace(string(raw), old, new, 1)})
}

// The branch goes on while a task works: both changes are in what lands, each landed commit can be taken back, and the
// files of the user are left alone.
func TestRebased(t *testing.T) {
	t.Parallel()
	files := map[string]string{"t": text, "a": "a\n", "gone": "g\n", "run": "echo\n", "old/name": text + "more\n",
		".gitignore": "*.log\n/.pawl\n", "x": "x\n"}
	r, e := working(t, files, func(dir string) {
		edit(t, dir, "t", "line 3\n", "three\n")
		edit(t, dir, "old/name", "line 3\n", "three\n")
		os.Remove(dir + "/gone")
		gittest.Write(t, dir, map[string]string{"run": "#!/bin/sh\n", "new/文": "n\n", "work.log": "ignored"})
	})
	spec := rebaseSpec(t, e)
	if got := rebase(t, e); got.Moved || got.Base != spec.Base || got.Tree != spec.Tree || got.Onto != "" {
		t.Fatalf("the branch did not move: %+v", got)
	}
	wantDone(t, e, effect.DoneNo)
	edit(t, r.Dir, "t", "line 30\n", "thirty\n")
	r.Git("mv", "old", "renamed")
	os.Chmod(r.Path("a"), 0o755)
	os.Remove(r.Path("x"))
	r.Write(map[string]string{"theirs/new": "t\n", "x/inside": "x\n", "link": "-> a", "new/b": "b\n"})
	head := r.Commit("meanwhile")
	r.Write(map[string]string{"mine": "untracked", "x.log": "ignored", "renamed/name": "dirty\n"})
	before, status := gittest.Tree(t, r.Dir), r.Git("status", "--porcelain")

	result := rebase(t, e)
	if !result.Moved || result.Base != head || result.Onto != head || len(result.Conflicts) > 0 ||
		result.Tree == spec.Tree {
		t.Fatalf("%+v", result)
	}
	if gittest.Tree(t, r.Dir) != before || r.Git("status", "--porcelain") != status || r.Head() != head {
		t.Fatal("something of the user's changed")
	}
	inside := gittest.At(t, e.Place.Tree)
	if inside.Head() != head || recorded(t, opened(t, e.Place)) != result.Tree {
		t.Fatal("the worktree is not what the result says")
	}
	if got, want := inside.Git("status", "--porcelain"),
		" D gone\n M renamed/name\n M run\n M t\n?? new/文"; strings.ReplaceAll(got, `"new/\346\226\207"`,
		"new/文") != want {
		t.Errorf("tools in the worktree see\n%s", got)
	}
	for path, want := range map[string]string{"new/文": "n\n", "new/b": "b\n", "x/inside": "x\n", "work.log": "ignored",
		"run": "#!/bin/sh\n",
		"t":   strings.NewReplacer("line 3\n", "three\n", "line 30\n", "thirty\n").Replace(text)} {
		if raw, _ := os.ReadFile(filepath.Join(e.Place.Tree, path)); string(raw) != want {
			t.Errorf("%s is %q", path, raw)
		}
	}
	if info, err := os.Stat(e.Place.Tree + "/a"); err != nil || info.Mode()&0o100 == 0 {
		t.Error("a cannot be run")
	}
	if again := rebased(t, wantDone(t, e, effect.DoneYes)); again.Tree != result.Tree || again.Base != head {
		t.Fatalf("%+v", again)
	}
	if again := rebase(t, e); again.Tree != result.Tree || again.Base != head {
		t.Fatalf("a repetition gave %+v", again)
	}

	r.Git("checkout", "-q", "--", "renamed")
	landed := do(t, landing(e.Place, spec1(result)))
	if landed.Outcome != effect.Landed || r.Git("rev-parse", "main~1") != head ||
		r.Git("status", "--porcelain") != "?? mine" {
		t.Fatalf("%+v\n%s", landed, r.Git("status", "--porcelain"))
	}
}

func spec1(r effect.RebaseResult) effect.LandSpec { return spec(r.Base, r.Tree) }

func wantDone(t testing.TB, e effect.Effect, want effect.Answer) effect.Receipt {
	t.Helper()
	answer, r := land.NewRebase(nil).Done(context.Background(), e)
	if answer != want {
		t.Fatalf("done: %s (%v), want %s", answer, r.Err(), want)
	}
	return r
}

// Whatever both sides did to the same is named, and nothing is changed.
func TestConflicts(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"t": text, "deleted there": "x\n", "deleted here": "y\n", "moved": text + "moved\n", "twice": text +
			"twice\n", "bin": "a\x00b", "kind": "q\n",
		"fine": text, "d/f": "1\n", "same": "s\n",
	}
	r, e := working(t, files, func(dir string) {
		w := gittest.At(t, dir)
		edit(t, dir, "t", "line 20\n", "work\n")
		os.Remove(dir + "/deleted here")
		os.Remove(dir + "/moved")
		os.Rename(dir+"/twice", dir+"/twice-here")
		edit(t, dir, "fine", "line 1\n", "one\n")
		w.Write(map[string]string{"deleted there": "xx\n", "added": "work\n", "bin": "a\x00w", "kind": "qq\n",
			"mode": "#!/bin/sh\n", "d/new": "n\n", "same": "both\n", "kind2": "-> t"})
	})
	edit(t, r.Dir, "t", "line 20\n", "branch\n")
	edit(t, r.Dir, "fine", "line 30\n", "thirty\n")
	for _, name := range []string{"deleted there", "kind"} {
		os.Remove(r.Path(name))
	}
	for from, to := range map[string]string{"moved": "moved-there", "twice": "twice-there", "d": "e"} {
		os.Rename(r.Path(from), r.Path(to))
	}
	r.Write(map[string]string{"deleted here": "yy\n", "added": "branch\n", "bin": "a\x00b\x00", "kind/k": "k\n",
		"mode": "#!/bin/sh\n", "same": "both\n", "kind2": "file\n"})
	os.Chmod(r.Path("mode"), 0o644)
	r.Commit("meanwhile")
	before := gittest.Tree(t, e.Place.Tree)
	result := rebase(t, e)
	spec := rebaseSpec(t, e)
	if result.Base != spec.Base || result.Tree != spec.Tree || !result.Moved || result.Onto != r.Head() {
		t.Errorf("%+v", result)
	}
	want := map[string]effect.ConflictKind{
		"t": effect.ConflictContent, "deleted there": effect.ConflictDeletedThere,
		"deleted here": effect.ConflictDeletedHere, "moved": effect.ConflictRenamed,
		"moved-there": effect.ConflictRenamed, "twice": effect.ConflictRenamed, "twice-here": effect.ConflictRenamed,
		"twice-there": effect.ConflictRenamed,
		"bin":         effect.ConflictBinary, "kind": effect.ConflictType, "kind2": effect.ConflictType,
		"added": effect.ConflictAdded, "mode": effect.ConflictMode,
		"d/new": effect.ConflictRenamed, "e/new": effect.ConflictRenamed,
	}
	details := map[string]string{}
	for _, c := range result.Conflicts {
		if want[c.Path] != c.Kind {
			t.Errorf("%s: %s, want %q\n%s", c.Path, c.Kind, want[c.Path], c.Detail)
		}
		delete(want, c.Path)
		details[c.Path] = c.Detail
	}
	if len(want) > 0 {
		t.Errorf("not named: %v", want)
	}
	const marked = "CONFLICT (content): Merge conflict in t\n...\nline 17\nline 18\nline 19\n<<<<<<< main\nbranch\n||||||| base\nline 20\n=======\nwork\n>>>>>>> work\nline 21\nline 22\nline 23\n..."
	if details["t"] != strings.Replace(marked, "t\n...\n", "t\n", 1) {
		t.Errorf("%s", details["t"])
	}
	if got := details["added"]; !strings.Contains(got, "<<<<<<< main\nbranch\n") ||
		!strings.Contains(got, "=======\nwork\n>>>>>>> work") {
		t.Errorf("%s", got)
	}
	if got := details["mode"]; !strings.Contains(got, "100644 main\n100755 work") {
		t.Errorf("%s", got)
	}
	if got := details["deleted there"]; !strings.Contains(got, "deleted in main and modified in work") {
		t.Errorf("%s", got)
	}
	if gittest.Tree(t, e.Place.Tree) != before || gittest.At(t, e.Place.Tree).Head() != spec.Base {
		t.Error("the worktree changed")
	}
	wantDone(t, e, effect.DoneNo)
	// Moved by hand to where the work does not fit, it is left to whoever did that.
	gittest.At(t, e.Place.Tree).Git("update-ref", "--no-deref", "HEAD", r.Head())
	if receipt := land.NewRebase(nil).Do(context.Background(), e, nil); receipt.Code != pawl.CodeConflict ||
		receipt.Key != "land.base_changed" || gittest.Tree(t, e.Place.Tree) != before {
		t.Errorf("%+v", receipt)
	}
}

// However much is in conflict, what is kept of it stays short.
func TestManyConflicts(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for i := range 60 {
		files[fmt.Sprintf("f%02d", i)] = "base\n"
	}
	change := func(dir, line string) {
		for name := range files {
			gittest.Write(t, dir, map[string]string{name: strings.Repeat(line+" "+name+"\n", 400)})
		}
	}
	r, e := working(t, files, func(dir string) { change(dir, "work") })
	change(r.Dir, "branch")
	r.Commit("meanwhile")
	result := rebase(t, e)
	sum := 0
	for _, c := range result.Conflicts {
		sum += len(c.Detail)
	}
	if len(result.Conflicts) != 60 || sum > 33<<10 || len(result.Conflicts[0].Detail) < 3<<10 ||
		len(result.Conflicts[0].Detail) > 5<<10 {
		t.Fatalf("%d conflicts, %d bytes, the first %d", len(result.Conflicts), sum, len(result.Conflicts[0].Detail))
	}
}

// A file that nobody recorded is not overwritten, in the worktree neither.
func TestIgnoredInTheWay(t *testing.T) {
	t.Parallel()
	r, e := working(t, map[string]string{".gitignore": "*.log\n/.pawl\n", "a": "a\n"}, func(dir string) {
		gittest.Write(t, dir, map[string]string{"a": "work\n", "x.log": "output of the work"})
	})
	r.Write(map[string]string{"x.log": "tracked\n"})
	r.Git("add", "-f", "x.log")
	r.Commit("meanwhile")
	result := rebase(t, e)
	if len(result.Conflicts) != 1 || result.Conflicts[0] != (effect.Conflict{Path: "x.log",
		Kind: effect.ConflictInTheWay}) || gittest.At(t, e.Place.Tree).Head() != rebaseSpec(t, e).Base {
		t.Fatalf("%+v", result)
	}
	os.Remove(e.Place.Tree + "/x.log")
	if result := rebase(t, e); len(result.Conflicts) > 0 || result.Base != r.Head() {
		t.Fatalf("%+v", result)
	}
	// Taken out of the record there, it goes here, too.
	spec := effect.RebaseSpec{Branch: "main", Base: r.Head(), Tree: recorded(t, opened(t, e.Place))}
	r.Git("rm", "-q", "--cached", "x.log")
	r.Commit("no longer tracked")
	if result := rebase(t, rebasing(e.Place, spec)); result.Base != r.Head() {
		t.Fatalf("%+v", result)
	}
	if _, err := os.Lstat(e.Place.Tree + "/x.log"); err == nil {
		t.Error("x.log is still there")
	}
}

// What lands on top of each other can be taken back in any order, as long as the lines are not the same.
func TestUndoBelowOthers(t *testing.T) {
	t.Parallel()
	r := gittest.New(t, map[string]string{"t": text, "a": "a\n", ".gitignore": "/.pawl\n"})
	base := r.Head()
	start := r.Git("rev-parse", "HEAD^{tree}")
	var effects []effect.Effect
	var receipts []effect.Receipt
	for i, line := range []string{"line 2\n", "line 20\n", "line 38\n"} {
		p := effect.Place{Workspace: r.Dir, Tree: r.Path(fmt.Sprintf(".pawl/worktrees/t%d", i)), Git: true}
		repo := opened(t, p)
		if _, err := repo.AddWorktree(context.Background(), base); err != nil {
			t.Fatal(err)
		}
		edit(t, p.Tree, "t", line, fmt.Sprintf("task %d\n", i))
		gittest.Write(t, p.Tree, map[string]string{fmt.Sprintf("new%d", i): "n\n"})
		result := rebase(t, rebasing(p, effect.RebaseSpec{Branch: "main", Base: base, Tree: recorded(t, repo)}))
		if result.Moved != (i > 0) || result.Base != r.Head() {
			t.Fatalf("task %d: %+v", i, result)
		}
		e := landing(p, spec1(result))
		e.ID = fmt.Sprintf("0%dE", i)
		receipt := land.New(nil).Do(context.Background(), e, nil)
		if l, err := effect.Decode[effect.LandResult](receipt.Result); err != nil || l.Outcome != effect.Landed {
			t.Fatalf("task %d: %+v %v", i, l, receipt.Err())
		}
		effects, receipts = append(effects, e), append(receipts, receipt)
	}
	r.Write(map[string]string{"mine": "untracked"})
	for n, i := range []int{1, 0, 2} {
		undone := land.New(nil).Undo(context.Background(), effects[i], receipts[i])
		l, err := effect.Decode[effect.LandResult](undone.Result)
		if err != nil || l.Outcome != effect.Landed || r.Git("status", "--porcelain") != "?? mine" {
			t.Fatalf("undo of task %d: %+v %v", i, l, undone.Err())
		}
		raw, _ := os.ReadFile(r.Path("t"))
		if strings.Contains(string(raw), fmt.Sprintf("task %d\n", i)) || strings.Count(string(raw), "task") != 2-n {
			t.Fatalf("after the undo of task %d:\n%s", i, raw)
		}
	}
	if r.Git("rev-parse", "HEAD^{tree}") != start {
		t.Error("not what it was at the start")
	}
}

func TestRebaseRefusals(t *testing.T) {
	t.Parallel()
	r, e := working(t, files, func(dir string) { gittest.Write(t, dir, map[string]string{"a": "work\n"}) })
	spec := rebaseSpec(t, e)
	gittest.Write(t, e.Place.Tree, map[string]string{"late": "after verification"})
	if receipt := land.NewRebase(nil).Do(context.Background(), e, nil); receipt.Code != pawl.CodeConflict ||
		receipt.Key != "land.tree_changed" {
		t.Fatalf("before the branch moved: %+v", receipt)
	}
	r.Write(map[string]string{"b": "meanwhile\n"})
	r.Commit("meanwhile")
	if receipt := land.NewRebase(nil).Do(context.Background(), e, nil); receipt.Code != pawl.CodeConflict ||
		receipt.Key != "land.tree_changed" {
		t.Fatalf("%+v", receipt)
	}
	os.Remove(e.Place.Tree + "/late")
	for _, branch := range []string{"", "not-there"} {
		s := spec
		s.Branch = branch
		if got := rebase(t, rebasing(e.Place, s)); got.Moved || got.Base != s.Base {
			t.Errorf("branch %q: %+v", branch, got)
		}
	}
	if here := rebase(t, rebasing(effect.Place{Workspace: r.Dir, Tree: r.Dir, Git: true, InPlace: true},
		effect.RebaseSpec{Branch: "main", Base: spec.Base,
			Tree: recorded(t, opened(t, effect.Place{Workspace: r.Dir, Tree: r.Dir, Git: true}))})); here.Moved {
		t.Errorf("in place: %+v", here)
	}
	gone := e.Place
	gone.Tree = r.Path(".pawl/worktrees/none")
	if receipt := land.NewRebase(nil).Do(context.Background(), rebasing(gone, spec),
		nil); receipt.Code != pawl.CodeRepository {
		t.Errorf("%+v", receipt)
	}
	for _, bad := range []effect.RebaseSpec{{Branch: "a b", Base: spec.Base, Tree: spec.Tree},
		{Branch: "main", Base: "HEAD", Tree: spec.Tree}, {Branch: "main", Base: spec.Base, Tree: "x"}} {
		if receipt := land.NewRebase(nil).Do(context.Background(), rebasing(e.Place, bad), nil); receipt.OK {
			t.Errorf("%+v was taken", bad)
		}
	}
	bad := e
	bad.Spec = []byte(`{"tree":1}`)
	if receipt := land.NewRebase(nil).Do(context.Background(), bad, nil); receipt.OK {
		t.Error("a malformed spec was taken")
	}
	if at := gittest.At(t, e.Place.Tree).Head(); at != spec.Base {
		t.Errorf("the worktree is at %s", at)
	}
}

// changed lists the files that differ from the head to a tree that pawl recorded.
func changed(r *gittest.Repo, tree string) string {
	return r.Git("-c", "core.quotePath=false", "--git-dir="+r.Path(".git"), "-c", "alias.x=!f() { "+
		"GIT_ALTERNATE_OBJECT_DIRECTORIES="+r.Path(".pawl/git/objects")+" git diff --name-only HEAD $1; }; f", "x", tree)
}

// A branch that was rewritten is a branch that moved: only the work is carried over.
func TestRewrittenBranch(t *testing.T) {
	t.Parallel()
	r, e := working(t, map[string]string{"a": "a\n", "b": "b\n"},
		func(dir string) { gittest.Write(t, dir, map[string]string{"a": "work\n"}) })
	r.Write(map[string]string{"b": "amended\n"})
	r.Git("commit", "-q", "-a", "--amend", "-m", "another first")
	result := rebase(t, e)
	if !result.Moved || result.Base != r.Head() || changed(r, result.Tree) != "a" {
		t.Fatalf("%+v", result)
	}
}

func TestRebaseUndone(t *testing.T) {
	t.Parallel()
	r, e := working(t, files, func(dir string) { change(t, dir) })
	before := gittest.Tree(t, e.Place.Tree)
	status := gittest.At(t, e.Place.Tree).Git("status", "--porcelain")
	r.Write(map[string]string{"b": "meanwhile\n", "more/c": "c\n"})
	r.Commit("meanwhile")
	d := land.NewRebase(nil)
	receipt := d.Do(context.Background(), e, nil)
	if rebased(t, receipt).Base != r.Head() {
		t.Fatal("not rebased")
	}
	spec := rebaseSpec(t, e)
	for range 2 {
		if got := rebased(t, d.Undo(context.Background(), e, receipt)); got.Base != spec.Base || got.Tree != spec.Tree {
			t.Fatalf("%+v", got)
		}
		inside := gittest.At(t, e.Place.Tree)
		if gittest.Tree(t, e.Place.Tree) != before || inside.Head() != spec.Base ||
			inside.Git("status", "--porcelain") != status {
			t.Fatal("the worktree is not what it was")
		}
	}
	wantDone(t, e, effect.DoneNo)
}

// A submodule that the branch moved, added or removed is carried over without being entered.
func TestRebasedModules(t *testing.T) {
	t.Parallel()
	one, two := strings.Repeat("1", 40), strings.Repeat("2", 40)
	r := gittest.New(t, map[string]string{"a": "a\n"})
	module := func(path, id string) { r.Git("update-index", "--add", "--cacheinfo", "160000,"+id+","+path) }
	module("kept", one)
	module("moved", one)
	module("gone", one)
	for _, dir := range []string{"kept", "moved", "gone"} {
		os.Mkdir(r.Path(dir), 0o755)
	}
	r.Git("commit", "-q", "-m", "modules")
	base := r.Head()
	p := place(r)
	repo := opened(t, p)
	if _, err := repo.AddWorktree(context.Background(), base); err != nil {
		t.Fatal(err)
	}
	gittest.Write(t, p.Tree, map[string]string{"a": "work\n"})
	e := rebasing(p, effect.RebaseSpec{Branch: "main", Base: base, Tree: recorded(t, repo)})
	module("moved", two)
	module("new/deep", two)
	os.MkdirAll(r.Path("new/deep"), 0o755)
	r.Git("rm", "-q", "--cached", "gone")
	r.Git("commit", "-q", "-m", "moved")
	result := rebase(t, e)
	if got := changed(r, result.Tree); got != "a" ||
		recorded(t, opened(t, p)) != result.Tree {
		t.Fatalf("%+v differs from the head in %q", result, got)
	}
}

// With a git that cannot merge in memory, the machine is to blame.
func TestOldGit(t *testing.T) {
	r, e := working(t, files, func(dir string) { gittest.Write(t, dir, map[string]string{"a": "work\n"}) })
	r.Write(map[string]string{"b": "meanwhile\n"})
	r.Commit("meanwhile")
	dir := t.TempDir()
	real := strings.TrimSpace(r.Git("--exec-path")) + "/git"
	gittest.Write(t, dir, map[string]string{"git": "#!/bin/sh\n[ \"$1\" = merge-tree ] && { echo 'usage: git merge-tree <base-tree> <branch1> <branch2>' >&2; exit 129; }\nexec '" + real + "' \"$@\"\n"})
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	receipt := land.NewRebase(nil).Do(context.Background(), e, nil)
	if receipt.Code != pawl.CodeEnvironment || receipt.Key != "git.too_old" {
		t.Fatalf("%+v", receipt)
	}
	if gittest.At(t, e.Place.Tree).Head() != rebaseSpec(t, e).Base {
		t.Error("the worktree moved")
	}
}

func rebaseScene(dir string) (effect.Effect, error) {
	var s effect.RebaseSpec
	raw, err := os.ReadFile(dir + specFile)
	if err == nil {
		_, err = fmt.Sscan(string(raw), &s.Base, &s.Tree, &s.Branch)
	}
	return rebasing(effect.Place{Workspace: dir, Tree: dir + "/.pawl/worktrees/t1", Git: true}, s), err
}

func sceneRebase(ctx context.Context, dir string) error {
	e, err := rebaseScene(dir)
	if err != nil {
		return err
	}
	return inScene(ctx, e, land.NewRebase(nil))
}

func TestKilledWhileRebasing(t *testing.T) {
	t.Parallel()
	r, e := working(t, files, func(dir string) { change(t, dir) })
	r.Write(map[string]string{"b": "meanwhile\n", "more/c": "c\n", "run": "echo\n", "d/y": "y\n"})
	os.Remove(r.Path("gone"))
	head := r.Commit("meanwhile")
	s := rebaseSpec(t, e)
	gittest.Write(t, r.Dir, map[string]string{specFile: s.Base + " " + s.Tree + " main"})
	template := r.Dir
	// The place of the copy is another one; git's own command says so to the repository.
	relink := func(t *testing.T, dir string) {
		t.Helper()
		gittest.Write(t, dir, map[string]string{
			".git/worktrees/t1/gitdir": dir + "/.pawl/worktrees/t1/.git\n", ".pawl/worktrees/t1/.git": "gitdir: " +
				dir + "/.git/worktrees/t1\n"})
	}
	done := gittest.Copy(t, template)
	relink(t, done)
	ended, err := rebaseScene(done)
	if err != nil {
		t.Fatal(err)
	}
	want := rebase(t, ended)
	for n := 1; ; n++ {
		dir := gittest.Copy(t, template)
		relink(t, dir)
		if !gittest.KillAt(t, "rebase", dir, n) {
			if n < 15 {
				t.Errorf("the scene has only %d steps", n)
			}
			break
		}
		e, err := rebaseScene(dir)
		if err != nil {
			t.Fatal(err)
		}
		// The branch moves again before anybody looks.
		user := gittest.At(t, dir)
		user.Git("update-ref", "refs/heads/later", user.Git("commit-tree", "-p", "HEAD", "-m", "later", "HEAD^{tree}"))
		answer, receipt := land.NewRebase(nil).Done(context.Background(), e)
		if answer == effect.DoneNo {
			receipt = land.NewRebase(nil).Do(context.Background(), e, nil)
		}
		got := rebased(t, receipt)
		if answer == effect.DoneUnknown || got.Base != head || got.Tree != want.Tree || !got.Moved ||
			len(got.Conflicts) > 0 {
			t.Fatalf("killed at step %d: %s %+v", n, answer, got)
		}
		inside := gittest.At(t, e.Place.Tree)
		if gittest.Tree(t, e.Place.Tree) != gittest.Tree(t, ended.Place.Tree) || inside.Head() != head ||
			user.Git("status", "--porcelain") != "" {
			t.Fatalf("killed at step %d: the worktree is not what it should be", n)
		}
		if got, want := inside.Git("status", "--porcelain"), gittest.At(t, ended.Place.Tree).Git("status",
			"--porcelain"); got != want {
			t.Fatalf("killed at step %d: tools see\n%s\nwant\n%s", n, got, want)
		}
	}
}
