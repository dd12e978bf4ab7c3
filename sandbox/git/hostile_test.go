package git_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"pawl"
	"pawl/internal/gittest"
	"pawl/sandbox/git"
	"pawl/sandbox/git/layout"
)

// TestStageBehindALink replaces .pawl, or the stage in it, by a link within the tree just before files are written: what
// the user has there stays, and the change is refused.
func TestStageBehindALink(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	for link, target := range map[string]string{".pawl": "lib", ".pawl/tmp": "../lib"} {
		r := gittest.New(t, map[string]string{"a": "a\n", "lib/tmp/checkout/mine": "m\n", "lib/checkout/mine": "m\n"})
		first := r.Git("rev-parse", "HEAD^{tree}")
		r.Write(map[string]string{"a": "b\n"})
		r.Commit("second")
		second := r.Git("rev-parse", "HEAD^{tree}")
		repo, err := git.Open(ctx, layout.Place{Workspace: r.Dir, Tree: r.Dir, Git: true, State: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		c, err := repo.Checkout(ctx, "e1")
		if err != nil {
			t.Fatal(err)
		}
		at := r.Path(link)
		if err := errors.Join(os.RemoveAll(at), os.MkdirAll(filepath.Dir(at), 0o700), os.Symlink(target, at)); err != nil {
			t.Fatal(err)
		}
		before := gittest.Tree(t, r.Path("lib"))
		if _, err := c.Advance(ctx, second, first); pawl.CodeOf(err) != pawl.CodeDenied {
			t.Errorf("%s: %v", link, err)
		}
		if gittest.Tree(t, r.Path("lib")) != before {
			t.Errorf("%s: files of the user's are gone", link)
		}
		_ = c.Close()
	}
}

// Cases 31 to 37 of docs/spec/threats.md#git: whatever the repository is configured to run, no operation of pawl's runs
// it.
func TestHostileRepository(t *testing.T) {
	t.Parallel()
	r := gittest.New(t, gittest.HostileFiles())
	r.Git("update-ref", "refs/heads/-x", r.Head())
	r.Git("update-ref", "refs/heads/$(touch-C)", r.Head())
	if trial := gittest.New(t, gittest.HostileFiles()); !trial.Springs(trial.Trap()) {
		t.Fatal("the trap does not work")
	}
	head, base := "", r.Head()
	canary := r.Trap()
	ctx := context.Background()
	do := func(name string, err error) {
		t.Helper()
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		gittest.Quiet(t, canary)
	}
	repo := open(t, r, "", true)
	first := snapshot(t, repo)
	gittest.Quiet(t, canary)
	s, err := repo.Status(ctx)
	do("status", err)
	head = s.Head
	for _, branch := range []string{"-x", "$(touch-C)"} {
		id, err := repo.Refs.Lookup(ctx, git.BranchRef(branch))
		do("ref "+branch, err)
		if id != base {
			t.Errorf("branch %s is %s", branch, id)
		}
	}
	gittest.Write(t, r.Dir, map[string]string{"a": "changed\n", "d/new": "n", "-y": "y", "inner/y": "y",
		"$(touch C)": "other"})
	second := snapshot(t, repo)
	_, err = repo.Objects.Diff(ctx, first, second)
	do("diff", err)
	_, _, err = repo.Objects.Patch(ctx, first, second, 1<<20)
	do("patch", err)
	commit, err := repo.Objects.WriteCommit(ctx, git.Commit{Tree: second, Parents: []string{head}, Message: "m",
		By: repo.Identity(), At: time.Unix(1e9, 0)})
	do("commit", err)
	do("set ref", repo.Refs.Set(ctx, git.PrivateRef("chk-1"), commit, "", "why"))
	do("set branch", repo.Refs.Set(ctx, git.BranchRef("-x"), commit, base, "why"))
	_, err = repo.Restore(ctx, git.Restoration{Target: first, Expect: second})
	do("restore", err)
	_, _, err = repo.Objects.Combine(ctx, commit, head)
	do("combine", err)
	// The repository claims that missing objects can be fetched, by a program of its own.
	missing := "1234567890123456789012345678901234567890"
	if err := repo.Refs.Set(ctx, git.PrivateRef("chk-2"), missing, "", "why"); err == nil {
		t.Error("a reference to a missing object was made")
	}
	if in, _ := repo.Objects.Contains(ctx, head, missing); in {
		t.Error("a missing commit is contained")
	}
	if _, err := repo.Objects.ReadCommit(ctx, missing); err == nil {
		t.Error("a missing commit was read")
	}
	gittest.Quiet(t, canary)
	_, err = repo.Refs.CheckedOutAt(ctx, "main")
	do("checked out", err)
	tree := open(t, r, r.Path(".pawl/worktrees/t1"), true)
	_, err = tree.AddWorktree(ctx, head)
	do("worktree", err)
	gittest.Write(t, r.Path(".pawl/worktrees/t1"), map[string]string{"a": "worked\n", ".git": "gitdir: /nowhere\n"})
	worked := snapshot(t, tree)
	gittest.Quiet(t, canary)
	c, err := repo.Checkout(ctx, "e1")
	do("lock", err)
	_, err = c.Dirty(ctx, head, worked)
	do("dirty", err)
	_, err = c.Obstacles(ctx, first, worked)
	do("obstacles", err)
	_, err = c.Advance(ctx, first, worked)
	do("advance", err)
	do("close", c.Close())
	if raw, _ := os.ReadFile(r.Path("a")); string(raw) != "worked\n" {
		t.Errorf("a is %q", raw)
	}
	do("remove", tree.RemoveWorktree(ctx))
	_, err = repo.Refs.Prune(ctx, time.Now().Add(time.Hour), nil)
	do("prune", err)
	if _, err := os.Stat(r.Path("inner/y")); err != nil {
		t.Error("the inside of a nested repository was touched")
	}
}
