package git_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pawl/internal/gittest"
	"pawl/sandbox/git"
	"pawl/sandbox/git/layout"
)

// collecting runs collections of garbage beside a test, one after the other, until it is stopped; each has to end well.
// It returns how many there were.
func collecting(t *testing.T, r *gittest.Repo, args ...string) (stop func() int) {
	t.Helper()
	var over atomic.Bool
	done := make(chan int)
	go func() {
		n := 0
		for ; !over.Load(); n++ {
			cmd := exec.Command("git", args...)
			cmd.Dir = r.Dir
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("git %s: %v\n%s", strings.Join(args, " "), err, out)
				break
			}
		}
		done <- n
	}()
	return func() int { over.Store(true); return <-done }
}

// Whatever of git's collects garbage while trees are recorded: no reference points to nothing, and every tree that was
// recorded can be read.
func TestCollectedMeanwhile(t *testing.T) {
	for _, args := range [][]string{{"prune", "--expire=now"}, {"gc", "-q", "--prune=now"},
		{"repack", "-a", "-d", "-q"}} {
		for _, remembered := range []bool{false, true} {
			t.Run(fmt.Sprint(args[0], remembered), func(t *testing.T) {
				t.Parallel()
				r := gittest.New(t, map[string]string{"a": "a\n", "d/x": "x\n", ".gitignore": "/.pawl\n"})
				var m *git.Memory
				if remembered {
					m = &git.Memory{}
				}
				ctx := context.Background()
				repo, err := m.Open(ctx, layout.Place{Workspace: r.Dir, Tree: r.Dir, Git: true})
				if err != nil {
					t.Fatal(err)
				}
				stop := collecting(t, r, args...)
				trees, parent := map[string]string{}, r.Head()
				end := time.Now().Add(4 * time.Second)
				for i := 0; time.Now().Before(end) || i < 10; i++ {
					text := fmt.Sprint("number ", i)
					// What is recorded may lie in the user's store already, where nothing names it.
					left := exec.Command("git", "hash-object", "-w", "--stdin")
					left.Dir, left.Stdin = r.Dir, strings.NewReader(text)
					_ = left.Run() // a collection may take the folder away from under it
					r.Write(map[string]string{"a": text, fmt.Sprintf("n%d/deep/f", i%7): text})
					tree, err := repo.Snapshot(ctx)
					if err != nil {
						t.Fatalf("snapshot %d: %v", i, err)
					}
					trees[tree] = text
					commit, err := repo.Objects.WriteCommit(ctx, git.Commit{Tree: tree, Parents: []string{parent},
						Message: text, By: layout.Pawl, At: time.Now()})
					if err == nil {
						err = repo.Refs.Set(ctx, git.PrivateRef(fmt.Sprint("chk-", i)), commit, "", "test")
					}
					if err != nil {
						t.Fatalf("commit %d: %v", i, err)
					}
				}
				if n := stop(); n < 3 {
					t.Errorf("only %d collections", n)
				}
				t.Log(len(trees), "trees")
				for tree, text := range trees {
					if got := r.Git("cat-file", "-p", tree+":a"); got != strings.TrimSpace(text) {
						t.Fatalf("%s holds %q, want %q", tree, got, text)
					}
				}
				r.Git("fsck", "--strict", "--no-dangling")
				r.Git("gc", "-q")
			})
		}
	}
}

// What is shared are packs, of which there are never many, and nothing of pawl's own stays behind.
func TestPacksAreFew(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"sha1", "sha256"} {
		t.Run(format, func(t *testing.T) {
			dir := t.TempDir()
			r := gittest.At(t, dir)
			r.Git("init", "-q", "-b", "main", "--object-format="+format)
			gittest.Configure(t, dir)
			r.Write(map[string]string{"a": "a\n", ".gitignore": "/.pawl\n"})
			r.Commit("base")
			ctx := context.Background()
			repo, err := git.Open(ctx, layout.Place{Workspace: dir, Tree: dir, Git: true})
			if err != nil {
				t.Fatal(err)
			}
			packs := func(ext string) []string {
				found, err := filepath.Glob(filepath.Join(dir, ".git/objects/pack/pack-*."+ext))
				if err != nil {
					t.Fatal(err)
				}
				return found
			}
			for i := range 40 {
				r.Write(map[string]string{"a": fmt.Sprint(i), "d/big": strings.Repeat(fmt.Sprint(i), 1000*i)})
				if _, err := repo.Snapshot(ctx); err != nil {
					t.Fatal(err)
				}
				if i == 34 { // all of them have their references for long
					past := time.Now().Add(-time.Hour)
					for _, path := range packs("keep") {
						if err := os.Chtimes(path, past, past); err != nil {
							t.Fatal(err)
						}
					}
				}
			}
			if n := len(packs("pack")); n > 8 || n != len(packs("idx")) || len(packs("keep")) != n-1 {
				t.Errorf("%d packs, %d indexes, %d kept", n, len(packs("idx")), len(packs("keep")))
			}
			for _, path := range packs("pack") {
				r.Git("verify-pack", path)
			}
			r.Git("fsck", "--full", "--strict", "--no-dangling")
			if own, _ := filepath.Glob(filepath.Join(dir, ".pawl/git/objects/??/*")); len(own) > 0 {
				t.Errorf("pawl's own store keeps %q", own)
			}
		})
	}
}

// An object of pawl's own that is not what its name says never gets into the user's store: it is written again.
func TestPlantedObject(t *testing.T) {
	t.Parallel()
	r := gittest.New(t, map[string]string{"a": "a\n", ".gitignore": "/.pawl\n"})
	ctx := context.Background()
	repo, err := git.Open(ctx, layout.Place{Workspace: r.Dir, Tree: r.Dir, Git: true})
	if err != nil {
		t.Fatal(err)
	}
	other := gittest.New(t, map[string]string{"x": "planted\n"})
	wrong := other.Git("rev-parse", "HEAD:x")
	r.Write(map[string]string{"b": "mine\n"})
	mine := gittest.At(t, r.Dir).Git("hash-object", "b")
	raw, err := os.ReadFile(other.Path(".git/objects/" + wrong[:2] + "/" + wrong[2:]))
	if err != nil {
		t.Fatal(err)
	}
	gittest.Write(t, r.Dir, map[string]string{".pawl/git/objects/" + mine[:2] + "/" + mine[2:]: string(raw)})
	tree, err := repo.Snapshot(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Git("cat-file", "-p", tree+":b"); got != "mine" {
		t.Errorf("it holds %q", got)
	}
	r.Git("fsck", "--full", "--strict", "--no-dangling")
}

// References of pawl's that point to nothing are found and removed, and nothing else is.
func TestDangling(t *testing.T) {
	t.Parallel()
	r := gittest.New(t, map[string]string{"a": "a\n", ".gitignore": "/.pawl\n"})
	ctx := context.Background()
	repo, err := git.Open(ctx, layout.Place{Workspace: r.Dir, Tree: r.Dir, Git: true})
	if err != nil {
		t.Fatal(err)
	}
	if cleared, err := repo.Refs.ClearDangling(ctx); cleared || err != nil {
		t.Fatal(cleared, err)
	}
	if _, err := repo.Snapshot(ctx); err != nil {
		t.Fatal(err)
	}
	r.Git("update-ref", "refs/pawl/chk-1", r.Head())
	before := r.Git("for-each-ref", "--format=%(refname) %(objectname)")
	nothing := strings.Repeat("0123456789", 4)
	gittest.Write(t, r.Dir, map[string]string{".git/refs/pawl/trees/20260101/" + nothing: nothing + "\n",
		".git/refs/pawl/chk-gone": nothing + "\n"})
	gone, err := repo.Refs.Dangling(ctx)
	if err != nil || len(gone) != 2 || gone[0] != "refs/pawl/chk-gone" {
		t.Fatal(gone, err)
	}
	if cleared, err := repo.Refs.ClearDangling(ctx); !cleared || err != nil {
		t.Fatal(cleared, err)
	}
	if got := r.Git("for-each-ref", "--format=%(refname) %(objectname)"); got != before {
		t.Errorf("left\n%s\nof\n%s", got, before)
	}
	r.Git("gc", "-q")
}
