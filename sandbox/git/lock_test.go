package git_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pawl/internal/gittest"
	"pawl/sandbox/git"
)

// A git that is killed while it writes a reference leaves a lock behind. It must not keep pawl from its own references.
func TestALeftLockOfAReferenceIsCleared(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a"), []byte("a"), 0o644); err != nil {
		t.Fatal(err)
	}
	repo, err := git.Open(context.Background(), git.Place{Workspace: dir, Tree: dir})
	if err != nil {
		t.Fatal(err)
	}
	tree, err := repo.Snapshot(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	name := git.PrivateRef("chk-1")
	lock := filepath.Join(dir, ".pawl", "git", filepath.FromSlash(name)+".lock")
	if err := os.MkdirAll(filepath.Dir(lock), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(lock, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := repo.SetRef(context.Background(), name, tree, "", "test"); err != nil {
		t.Errorf("the lock stayed in the way: %v", err)
	}
	if got, err := repo.Ref(context.Background(), name); err != nil || got != tree {
		t.Errorf("the reference names %q, %v", got, err)
	}
}

// leave leaves locks behind as a git does that was killed long ago.
func leave(t *testing.T, locks ...string) {
	t.Helper()
	old := time.Now().Add(-time.Minute)
	for _, lock := range locks {
		if err := errors.Join(os.MkdirAll(filepath.Dir(lock), 0o755), os.WriteFile(lock, nil, 0o644), os.Chtimes(lock, old, old)); err != nil {
			t.Fatal(err)
		}
	}
}

// A git that was killed while it moved the branch that is checked out leaves the lock of the branch, that of HEAD, or both.
func TestLocksOfTheBranchLeftBehind(t *testing.T) {
	for name, locks := range map[string][]string{
		"of HEAD": {"HEAD.lock"}, "of the branch": {"refs/heads/main.lock"}, "both": {"refs/heads/main.lock", "HEAD.lock"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := gittest.New(t, map[string]string{"a": "1"})
			base := r.Head()
			r.Write(map[string]string{"a": "2"})
			next := r.Commit("second")
			r.Git("reset", "-q", "--hard", base)
			repo, err := git.Open(context.Background(), git.Place{Workspace: r.Dir, Tree: r.Dir, Git: true})
			if err != nil {
				t.Fatal(err)
			}
			if _, branch, err := repo.Head(context.Background()); err != nil || branch != "main" {
				t.Fatalf("on %q, %v", branch, err)
			}
			for n := range locks {
				locks[n] = r.Path(".git/" + locks[n])
			}
			leave(t, locks...)
			if err := repo.SetRef(context.Background(), git.BranchRef("main"), next, base, "pawl: land"); err != nil {
				t.Fatal(err)
			}
			for _, lock := range locks {
				if _, err := os.Stat(lock); !os.IsNotExist(err) {
					t.Errorf("%s stays: %v", lock, err)
				}
			}
		})
	}
}

// What is removed is taken out of the packed references as well, whose lock may be left behind too.
func TestLockOfPackedReferencesLeftBehind(t *testing.T) {
	r := gittest.New(t, map[string]string{"a": "1"})
	repo, err := git.Open(context.Background(), git.Place{Workspace: r.Dir, Tree: r.Dir, Git: true})
	if err != nil {
		t.Fatal(err)
	}
	names := []string{git.PrivateRef("chk-1"), git.PrivateRef("chk-2")}
	for _, name := range names {
		if err := repo.SetRef(context.Background(), name, r.Head(), "", "test"); err != nil {
			t.Fatal(err)
		}
	}
	lock := r.Path(".git/packed-refs.lock")
	leave(t, lock)
	if err := repo.DeleteRef(context.Background(), names[0], r.Head()); err != nil {
		t.Error(err)
	}
	leave(t, lock)
	if gone, err := repo.Prune(context.Background(), time.Now().Add(time.Hour), nil); err != nil || len(gone) != 1 {
		t.Errorf("%d pruned, %v", len(gone), err)
	}
}

// A worktree of pawl's own is moved past the lock of its HEAD.
func TestLockOfAWorktreeLeftBehind(t *testing.T) {
	r := gittest.New(t, map[string]string{"a": "1"})
	base := r.Head()
	r.Write(map[string]string{"a": "2"})
	next := r.Commit("second")
	tree := r.Path(".pawl/worktrees/t")
	repo, err := git.Open(context.Background(), git.Place{Workspace: r.Dir, Tree: tree, Git: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := repo.AddWorktree(context.Background(), base); err != nil {
		t.Fatal(err)
	}
	linked, err := git.NewLinked(repo)
	if err != nil {
		t.Fatal(err)
	}
	leave(t, filepath.Join(strings.TrimSpace(r.Git("-C", tree, "rev-parse", "--absolute-git-dir")), "HEAD.lock"))
	if err := linked.MoveHead(context.Background(), next, base); err != nil {
		t.Fatal(err)
	}
	if at, err := linked.Head(context.Background()); err != nil || at != next {
		t.Errorf("at %s, %v", at, err)
	}
}
