package git_test

import (
	"context"
	"os"
	"path/filepath"
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

// A git that was killed while it moved the branch that is checked out leaves the lock of HEAD behind as well.
func TestLockOfHeadLeftBehind(t *testing.T) {
	r := gittest.New(t, map[string]string{"a": "1"})
	base := r.Head()
	r.Write(map[string]string{"a": "2"})
	next := r.Commit("second")
	r.Git("reset", "-q", "--hard", base)
	lock := r.Path(".git/HEAD.lock")
	if err := os.WriteFile(lock, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-time.Minute)
	if err := os.Chtimes(lock, old, old); err != nil {
		t.Fatal(err)
	}
	repo, err := git.Open(context.Background(), git.Place{Workspace: r.Dir, Tree: r.Dir, Git: true})
	if err != nil {
		t.Fatal(err)
	}
	_, branch, err := repo.Head(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if err := repo.SetRef(context.Background(), git.BranchRef(branch), next, base, "pawl: land"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(lock); !os.IsNotExist(err) {
		t.Errorf("the lock stays: %v", err)
	}
}
