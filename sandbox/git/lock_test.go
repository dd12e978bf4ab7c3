package git_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pawl"
	"pawl/internal/gittest"
	"pawl/sandbox/git"
	"pawl/sandbox/git/layout"
)

// A git that is killed while it writes a reference leaves a lock behind. It must not keep pawl from its own references.
func TestALeftLockOfAReferenceIsCleared(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a"), []byte("a"), 0o644); err != nil {
		t.Fatal(err)
	}
	repo, err := git.Open(context.Background(), layout.Place{Workspace: dir, Tree: dir})
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
	if err := repo.Refs.Set(context.Background(), name, tree, "", "test"); err != nil {
		t.Errorf("the lock stayed in the way: %v", err)
	}
	if got, err := repo.Refs.Lookup(context.Background(), name); err != nil || got != tree {
		t.Errorf("the reference names %q, %v", got, err)
	}
}

// leave leaves locks behind as a git does that was killed long ago.
func leave(t *testing.T, locks ...string) {
	t.Helper()
	old := time.Now().Add(-time.Minute)
	for _, lock := range locks {
		if err := errors.Join(os.MkdirAll(filepath.Dir(lock), 0o755), os.WriteFile(lock, nil, 0o644),
			os.Chtimes(lock, old, old)); err != nil {
			t.Fatal(err)
		}
	}
}

// A git that was killed while it moved the branch that is checked out leaves the lock of the branch, that of HEAD, or
// both.
func TestLocksOfTheBranchLeftBehind(t *testing.T) {
	for name, locks := range map[string][]string{
		"of HEAD": {"HEAD.lock"}, "of the branch": {"refs/heads/main.lock"}, "both": {"refs/heads/main.lock",
			"HEAD.lock"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := gittest.New(t, map[string]string{"a": "1"})
			base := r.Head()
			r.Write(map[string]string{"a": "2"})
			next := r.Commit("second")
			r.Git("reset", "-q", "--hard", base)
			repo, err := git.Open(context.Background(), layout.Place{Workspace: r.Dir, Tree: r.Dir, Git: true})
			if err != nil {
				t.Fatal(err)
			}
			if _, branch, err := repo.Refs.Head(context.Background()); err != nil || branch != "main" {
				t.Fatalf("on %q, %v", branch, err)
			}
			for n := range locks {
				locks[n] = r.Path(".git/" + locks[n])
			}
			leave(t, locks...)
			if err := repo.Refs.Set(context.Background(), git.BranchRef("main"), next, base, "pawl: land"); err != nil {
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
	repo, err := git.Open(context.Background(), layout.Place{Workspace: r.Dir, Tree: r.Dir, Git: true})
	if err != nil {
		t.Fatal(err)
	}
	names := []string{git.PrivateRef("chk-1"), git.PrivateRef("chk-2")}
	for _, name := range names {
		if err := repo.Refs.Set(context.Background(), name, r.Head(), "", "test"); err != nil {
			t.Fatal(err)
		}
	}
	lock := r.Path(".pawl/git/packed-refs.lock")
	leave(t, lock)
	if err := repo.Refs.Delete(context.Background(), names[0], r.Head()); err != nil {
		t.Error(err)
	}
	leave(t, lock)
	if gone, err := repo.Refs.Prune(context.Background(), time.Now().Add(time.Hour), nil); err != nil ||
		len(gone) != 1 {
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
	repo, err := git.Open(context.Background(), layout.Place{Workspace: r.Dir, Tree: tree, Git: true})
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

// Only one of many who want the lock of the user's index has it, and whoever gives it back leaves nothing behind.
func TestTheIndexIsLockedByOne(t *testing.T) {
	r := gittest.New(t, map[string]string{"a": "1"})
	repo, err := git.Open(context.Background(), layout.Place{Workspace: r.Dir, Tree: r.Dir, Git: true})
	if err != nil {
		t.Fatal(err)
	}
	var holders, held atomic.Int32
	var all sync.WaitGroup
	for n := range 8 {
		all.Go(func() {
			for range 60 {
				c, err := repo.Checkout(context.Background(), fmt.Sprint("effect-", n))
				if pawl.CodeOf(err) == pawl.CodeBusy {
					continue
				}
				if err != nil {
					t.Errorf("neither had nor held by another one: %v", err)
					return
				}
				if now := holders.Add(1); now != 1 {
					t.Errorf("%d hold the lock", now)
				}
				if raw, err := os.ReadFile(r.Path(".git/index.lock")); err != nil ||
					!strings.HasPrefix(string(raw), fmt.Sprintf("pawl effect-%d\n", n)) {
					t.Errorf("effect-%d holds a lock that says %q, %v", n, raw, err)
				}
				held.Add(1)
				holders.Add(-1)
				if err := c.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if left, _ := filepath.Glob(r.Path(".git/*lock*")); len(left) > 0 || held.Load() == 0 {
		t.Errorf("held %d times, left behind: %v", held.Load(), left)
	}
}

// A lock whose process is gone is told from one that is held, and only that is dropped.
func TestAnAbandonedLock(t *testing.T) {
	r := gittest.New(t, map[string]string{"a": "1"})
	repo, err := git.Open(context.Background(), layout.Place{Workspace: r.Dir, Tree: r.Dir, Git: true})
	if err != nil {
		t.Fatal(err)
	}
	gone := exec.Command("true")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		fmt.Sprintf("pawl effect-1\n%d\n", gone.Process.Pid): "effect-1", fmt.Sprintf("pawl effect-1\n%d\n",
			os.Getpid()): "",
		"": "", "pawl effect-1\n": "", fmt.Sprintf("other effect-1\n%d\n", gone.Process.Pid): "",
	} {
		r.Write(map[string]string{".git/index.lock": text})
		if got := git.Abandoned(repo); got != want {
			t.Errorf("%q is the lock of %q", text, got)
		}
		if err := git.DropAbandoned(repo); err != nil {
			t.Error(err)
		}
		if raw, err := os.ReadFile(r.Path(".git/index.lock")); os.IsNotExist(err) != (want != "") || err == nil &&
			string(raw) != text {
			t.Errorf("%q is %q afterwards, %v", text, raw, err)
		}
	}
	if left, _ := filepath.Glob(r.Path(".git/pawl.lock*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
