package git_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

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
