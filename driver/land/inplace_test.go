package land_test

import (
	"context"
	"os"
	"testing"

	"pawl"
	"pawl/driver/land"
	"pawl/internal/gittest"
	"pawl/kernel/effect"
	"pawl/sandbox/git/layout"
)

// inPlace makes a repository in whose own tree the work is done.
func inPlace(t testing.TB) (*gittest.Repo, effect.LandSpec) {
	t.Helper()
	r := gittest.New(t, files)
	repo := opened(t, effect.Place{Workspace: r.Dir, Tree: r.Dir, Git: true})
	start, err := repo.Snapshot(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	change(t, r.Dir)
	tree, err := repo.Snapshot(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	s := spec(r.Head(), tree)
	s.Start = start
	return r, s
}

func TestInPlace(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		prepare func(r *gittest.Repo, s *effect.LandSpec)
		reason  string
	}{
		"clean":    {func(*gittest.Repo, *effect.LandSpec) {}, ""},
		"dirty":    {func(r *gittest.Repo, s *effect.LandSpec) { s.Start = s.Tree }, "land.in_place_dirty"},
		"unknown":  {func(r *gittest.Repo, s *effect.LandSpec) { s.Start = "" }, "land.in_place_dirty"},
		"staged":   {func(r *gittest.Repo, s *effect.LandSpec) { r.Git("add", "a") }, "land.in_place_dirty"},
		"detached": {func(r *gittest.Repo, s *effect.LandSpec) { s.Branch = "" }, "land.in_place_detached"},
		"moved": {func(r *gittest.Repo, s *effect.LandSpec) { r.Git("commit", "-q", "--allow-empty", "-m", "x") },
			"land.in_place_moved"},
		"switched": {func(r *gittest.Repo, s *effect.LandSpec) {
			r.Git("symbolic-ref", "HEAD", "refs/heads/x")
			r.Git("update-ref", "refs/heads/x", s.Base)
		}, "land.in_place_moved"},
		"merging": {func(r *gittest.Repo, s *effect.LandSpec) {
			r.Write(map[string]string{".git/MERGE_HEAD": s.Base + "\n"})
		}, "land.in_place_operation"},
		"locked": {func(r *gittest.Repo, s *effect.LandSpec) { r.Write(map[string]string{".git/index.lock": ""}) },
			"land.in_place_locked"},
		"filtered": {func(r *gittest.Repo, s *effect.LandSpec) {
			r.Write(map[string]string{".git/info/attributes": "a filter=lfs\n"})
		}, "land.in_place_filtered"},
		"converted": {func(r *gittest.Repo, s *effect.LandSpec) {
			r.Write(map[string]string{".git/info/attributes": "a ident\n"})
		}, "land.in_place_converted"},
	}
	template, s := inPlace(t)
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, s := gittest.At(t, gittest.Copy(t, template.Dir)), s
			base := r.Head()
			c.prepare(r, &s)
			tree, index, refs := gittest.Tree(t, r.Dir), r.Git("ls-files", "-s"), r.Git("show-ref", "--heads")
			e := landing(effect.Place{Workspace: r.Dir, Tree: r.Dir, Git: true, InPlace: true}, s)
			result := do(t, e)
			if gittest.Tree(t, r.Dir) != tree {
				t.Fatal("files changed")
			}
			if c.reason == "" {
				if result.Outcome != effect.Landed || result.Commit != r.Head() {
					t.Fatalf("%+v", result)
				}
				landed(t, r, base, s)
				return
			}
			if result.Outcome != effect.InPlace || result.Reason != c.reason || result.Commit != "" ||
				len(result.Files) == 0 {
				t.Fatalf("%+v", result)
			}
			if r.Git("ls-files", "-s") != index || r.Git("show-ref", "--heads") != refs {
				t.Fatal("something of the user's changed")
			}
		})
	}
}

func TestFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	gittest.Write(t, dir, map[string]string{"a": "a", "b": "b", "d/c": "c"})
	p := effect.Place{Workspace: dir, Tree: dir + "/.pawl/worktrees/t1"}
	repo := opened(t, p)
	ctx := context.Background()
	start, err := repo.CopyTree(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := gittest.Tree(t, p.Tree), gittest.Tree(t, dir); got != want {
		t.Fatalf("copy\n%s\nwant\n%s", got, want)
	}
	os.RemoveAll(p.Tree + "/d")
	gittest.Write(t, p.Tree, map[string]string{"a": "worked", "n": "new"})
	tree, err := repo.Snapshot(ctx)
	if err != nil {
		t.Fatal(err)
	}
	gittest.Write(t, dir, map[string]string{"b": "mine"})
	e := landing(p, effect.LandSpec{Tree: tree, Start: start})
	result := do(t, e)
	if result.Outcome != effect.InPlace || len(result.Files) != 3 {
		t.Fatalf("%+v", result)
	}
	if again := do(t, e); again.Outcome != effect.InPlace {
		t.Fatalf("%+v", again)
	}
	want := `"a" 0644 "worked"` + "\n" + `"b" 0644 "mine"` + "\n" + `"n" 0644 "new"`
	if got := gittest.Tree(t, dir); got != want {
		t.Fatalf("got\n%s", got)
	}
	undone := land.New(nil).Undo(ctx, e, effect.Succeeded(result))
	want = `"a" 0644 "a"` + "\n" + `"b" 0644 "mine"` + "\n" + `"d/c" 0644 "c"`
	if got := gittest.Tree(t, dir); undone.Err() != nil || got != want {
		t.Fatalf("%v got\n%s", undone.Err(), got)
	}
	gittest.Write(t, dir, map[string]string{"a": "conflict"})
	if receipt := land.New(nil).Do(ctx, e, nil); receipt.OK {
		t.Fatal("somebody's change was overwritten")
	}
}

func TestRevert(t *testing.T) {
	t.Parallel()
	r, e := worked(t)
	before := gittest.Tree(t, r.Dir)
	result := do(t, e)
	ctx := context.Background()
	after := gittest.Tree(t, r.Dir)
	receipt := land.New(nil).Undo(ctx, e, effect.Succeeded(result))
	if receipt.Err() != nil || gittest.Tree(t, r.Dir) != before || r.Git("status", "--porcelain") != "" ||
		r.Git("rev-list", "--count", "HEAD") != "3" {
		t.Fatalf("%v", receipt.Err())
	}
	undone, _ := effect.Decode[effect.LandResult](receipt.Result)
	revert := func(id, commit string) effect.Receipt {
		s := effect.RevertSpec{Commit: commit, Branch: "main", Keep: "pawl/undo", Subject: "Undo", At: when}
		return land.NewRevert(nil).Do(ctx, effect.Effect{ID: id, Place: e.Place, Spec: effect.Encode(s)}, nil)
	}
	// Redo is the undo of the undo.
	if receipt := revert("r1", undone.Commit); receipt.Err() != nil || gittest.Tree(t, r.Dir) != after {
		t.Fatalf("%v", receipt.Err())
	}
	redone := r.Head()
	r.Write(map[string]string{"b": "later\n", "mine": "m"})
	r.Commit("later")
	r.Write(map[string]string{"a": "mine\n"})
	// An uncommitted change in the way keeps the undoing commit on a branch; so does nothing else.
	kept, _ := effect.Decode[effect.LandResult](revert("r2", redone).Result)
	if kept.Outcome != effect.Kept || kept.Reason != "land.kept_dirty" {
		t.Fatalf("%+v", kept)
	}
	r.Git("checkout", "-q", "a")
	if receipt := revert("r3", redone); receipt.Err() != nil {
		t.Fatal(receipt.Err())
	}
	if got := r.Git("diff", "--name-only", "HEAD~5", "HEAD"); got != "b\nmine" {
		t.Fatalf("differs at %q", got)
	}
	if empty, _ := effect.Decode[effect.LandResult](revert("r4", redone).Result); empty.Outcome != effect.Empty {
		t.Fatalf("%+v", empty)
	}
	r.Git("reset", "-q", "--hard", redone)
	r.Write(map[string]string{"a": "on the same line\n"})
	r.Commit("conflict")
	head := r.Head()
	if receipt := revert("r5", redone); receipt.Key != "land.revert_conflict" || r.Head() != head {
		t.Fatalf("%+v", receipt)
	}
	stray := r.Git("commit-tree", "-p", head, "-m", "x", head+"^{tree}")
	if receipt := revert("r6", stray); receipt.Key != "land.revert_absent" {
		t.Fatalf("%+v", receipt)
	}
}

func TestUndoOfKept(t *testing.T) {
	t.Parallel()
	r, e := worked(t)
	r.Write(map[string]string{"b": "mine\n"})
	result := do(t, e)
	if receipt := land.New(nil).Undo(context.Background(), e, effect.Succeeded(result)); receipt.Err() != nil {
		t.Fatal(receipt.Err())
	}
	if _, err := r.Try("rev-parse", "--verify", "-q", "refs/heads/pawl/T-1"); err == nil {
		t.Fatal("the branch is still there")
	}
}

// Cases 31 to 36 of docs/spec/threats.md#git, while landing and taking back.
func TestHostileRepository(t *testing.T) {
	t.Parallel()
	r := gittest.New(t, gittest.HostileFiles())
	canary := r.Trap()
	p := place(r)
	repo := opened(t, p)
	ctx := context.Background()
	base, _, err := repo.Refs.Head(ctx)
	if err == nil {
		_, err = repo.AddWorktree(ctx, base)
	}
	if err != nil {
		t.Fatal(err)
	}
	gittest.Write(t, p.Tree, map[string]string{"d/b": "worked\n", "-y": "y\n"})
	tree, err := repo.Snapshot(ctx)
	if err != nil {
		t.Fatal(err)
	}
	gittest.Quiet(t, canary)
	err = land.New(nil).Do(ctx, landing(p, spec(base, tree)), nil).Err()
	gittest.Quiet(t, canary)
	if pawl.CodeOf(err) != pawl.CodeEnvironment {
		t.Fatal(err)
	}
	// Without attributes pawl may write the files itself.
	if err := os.WriteFile(r.Path(".git/info/attributes"), []byte("* -filter -ident\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	e := landing(p, spec(base, tree))
	e.ID = "02"
	result := do(t, e)
	gittest.Quiet(t, canary)
	if result.Outcome != effect.Landed {
		t.Fatalf("%+v", result)
	}
	receipt := land.New(nil).Undo(ctx, e, effect.Succeeded(result))
	gittest.Quiet(t, canary)
	if receipt.Err() != nil {
		t.Fatal(receipt.Err())
	}
	if by := repo.Identity(); by.Email != `a@b"` && by.Email == layout.Pawl.Email {
		t.Errorf("%+v", by)
	}
}
