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
					if got := r.Own("cat-file", "-p", tree+":a"); got != strings.TrimSpace(text) {
						t.Fatalf("%s holds %q, want %q", tree, got, text)
					}
				}
				r.Git("fsck", "--strict", "--no-dangling")
			})
		}
	}
}

// TestShared expects the objects of a branch in the user's store before the branch names them, and a collection at any
// moment to remove none of them.
func TestShared(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"sha1", "sha256"} {
		for _, packed := range []bool{false, true} {
			dir := t.TempDir()
			r := gittest.At(t, dir)
			r.Git("init", "-q", "-b", "main", "--object-format="+format)
			gittest.Configure(t, dir)
			r.Write(map[string]string{"a": "a\n", ".gitignore": "/.pawl\n", "d/x": "x\n"})
			r.Commit("base")
			repo := open(t, r, "", true)
			r.Write(map[string]string{"a": "changed\n", "new/f": "f\n"})
			tree := snapshot(t, repo)
			commit, err := repo.Objects.WriteCommit(t.Context(), git.Commit{Tree: tree, Parents: []string{r.Head()},
				Message: "m", By: layout.Pawl, At: time.Now()})
			if err != nil {
				t.Fatal(err)
			}
			if packed {
				r.Own("repack", "-a", "-d", "-q")
				r.Own("prune-packed")
			}
			if _, err := r.Try("cat-file", "-e", tree); err == nil {
				t.Error("the tree is in the user's store before it lands")
			}
			ctx := gittest.Trace(t.Context(), func(string) { r.Git("gc", "-q", "--prune=now") })
			if err := repo.Refs.Set(ctx, git.BranchRef("landed"), commit, "", "test"); err != nil {
				t.Fatal(err)
			}
			r.Git("gc", "-q", "--prune=now")
			if err := os.RemoveAll(r.Path(".pawl")); err != nil {
				t.Fatal(err)
			}
			r.Git("fsck", "--full", "--strict", "--no-dangling")
			if got := r.Git("show", "landed:new/f"); got != "f" {
				t.Error(got)
			}
			if kept, _ := filepath.Glob(r.Path(".git/objects/pack/*.keep")); len(kept) > 0 {
				t.Error(kept)
			}
		}
	}
}

// Whatever the user's git does between two steps of pawl's, a recorded tree can be read, and no push publishes one: it
// holds what is encrypted in the repository as plain text.
func TestOwnCopy(t *testing.T) {
	t.Parallel()
	r := gittest.New(t, map[string]string{"a": "a\n", "d/x": "x\n", ".gitignore": "/.pawl\n"})
	r.Git("checkout", "-q", "-b", "side")
	r.Write(map[string]string{"side": "only on the side\n"})
	r.Commit("side")
	repo := open(t, r, "", true)
	ctx := gittest.Trace(t.Context(), func(string) { r.Git("gc", "-q", "--prune=now") })
	first, err := repo.Snapshot(ctx)
	if err != nil {
		t.Fatal(err)
	}
	r.Write(map[string]string{"secret": "plain text\n"})
	second, err := repo.Snapshot(ctx)
	if err == nil {
		var commit string
		if commit, err = repo.Objects.WriteCommit(ctx, git.Commit{Tree: first, Message: "m", By: layout.Pawl}); err == nil {
			err = repo.Refs.Set(ctx, git.PrivateRef("chk-1"), commit, "", "test")
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	_ = os.Remove(r.Path("secret"))
	r.Git("checkout", "-q", "main")
	r.Git("branch", "-q", "-D", "side")
	r.Git("commit", "-q", "--amend", "-m", "other")
	r.Git("reflog", "expire", "--expire=now", "--all")
	r.Git("gc", "-q", "--prune=now")
	for _, tree := range []string{first, second} {
		if got := r.Own("cat-file", "-p", tree+":side"); got != "only on the side" {
			t.Error(got)
		}
	}
	if _, err := repo.Restore(t.Context(), git.Restoration{Target: second}); err != nil {
		t.Error(err)
	}
	if raw, _ := os.ReadFile(r.Path("secret")); string(raw) != "plain text\n" {
		t.Errorf("%q", raw)
	}
	mirror := t.TempDir()
	gittest.At(t, mirror).Git("init", "-q", "--bare")
	r.Git("push", "-q", "--mirror", mirror)
	refs := gittest.At(t, mirror).Git("for-each-ref", "--format=%(refname)")
	if refs != "refs/heads/main" || r.Git("for-each-ref", "refs/pawl") != "" {
		t.Error(refs)
	}
	for _, store := range []string{mirror, r.Path(".git")} {
		if _, err := r.Try("--git-dir="+store, "cat-file", "-e", second); err == nil {
			t.Error("the recorded tree is in", store)
		}
	}
}

// References that an older version wrote into the user's repository move into pawl's own git directory, with all that
// they name, whenever that is cut short.
func TestAdopt(t *testing.T) {
	t.Parallel()
	template := gittest.New(t, map[string]string{"a": "a\n", ".gitignore": "/.pawl\n"})
	template.Write(map[string]string{"old": "plain text\n"})
	template.Git("add", "old")
	tree := template.Git("write-tree")
	template.Git("rm", "-q", "--cached", "old")
	_ = os.Remove(template.Path("old"))
	commit := template.Git("commit-tree", "-m", "checkpoint", tree)
	template.Git("update-ref", "refs/pawl/chk-1", commit)
	template.Git("update-ref", "refs/pawl/trees/20260101/"+tree, tree)
	template.Git("repack", "-a", "-d", "-q")
	packs, _ := filepath.Glob(template.Path(".git/objects/pack/*.pack"))
	nothing := strings.Repeat("0123456789", 4)
	gittest.Write(t, template.Dir, map[string]string{".git/refs/pawl/chk-gone": nothing + "\n",
		".git/objects/pack/" + strings.TrimSuffix(filepath.Base(packs[0]), ".pack") + ".keep": "pawl\n"})
	for n, whole := 1, false; !whole; n++ {
		r := gittest.At(t, gittest.Copy(t, template.Dir))
		steps := 0
		ctx, cancel := context.WithCancel(t.Context())
		ctx = gittest.Trace(ctx, func(string) {
			if steps++; steps == n {
				cancel()
			}
		})
		_, err := git.Open(ctx, layout.Place{Workspace: r.Dir, Tree: r.Dir, Git: true})
		whole = err == nil && steps < n
		cancel()
		repo := open(t, r, "", true)
		if refs := r.Git("for-each-ref", "--format=%(refname)", "refs/pawl"); refs != "" {
			t.Fatalf("step %d: left in the user's repository: %s", n, refs)
		}
		r.Git("gc", "-q", "--prune=now")
		if id, err := repo.Refs.Lookup(t.Context(), "refs/pawl/chk-1"); id != commit || err != nil {
			t.Fatal(n, id, err)
		}
		if id, err := repo.Refs.Lookup(t.Context(), "refs/pawl/chk-gone"); id != "" || err != nil {
			t.Fatal(n, id, err)
		}
		if got := r.Own("cat-file", "-p", "refs/pawl/trees/20260101/"+tree+":old"); got != "plain text" {
			t.Fatal(n, got)
		}
		if _, err := r.Try("cat-file", "-e", tree); err == nil {
			t.Fatal("a pack of pawl's is kept in the user's store")
		}
	}
}

// What no reference of pawl's names leaves pawl's own store, and what one names stays.
func TestCompact(t *testing.T) {
	t.Parallel()
	r := gittest.New(t, map[string]string{"a": "a\n", ".gitignore": "/.pawl\n"})
	repo := open(t, r, "", true)
	first := snapshot(t, repo)
	r.Write(map[string]string{"b": "b\n"})
	second := snapshot(t, repo)
	past := time.Now().Add(-3 * time.Hour)
	_ = filepath.WalkDir(r.Path(".pawl/git/objects"), func(path string, _ os.DirEntry, _ error) error {
		return os.Chtimes(path, past, past)
	})
	gone, err := repo.Refs.Prune(t.Context(), time.Now().AddDate(0, 0, 9), nil)
	if err != nil || len(gone) != 1 || gone[0].ID != first {
		t.Fatal(gone, err)
	}
	r.Own("fsck", "--full", "--no-dangling")
	if got := r.Own("cat-file", "-p", second+":b"); got != "b" {
		t.Error(got)
	}
	if _, err := r.Try("--git-dir="+r.Path(".pawl/git"), "cat-file", "-e", first); err == nil {
		t.Error("what is pruned stays in pawl's own store")
	}
}

// References of pawl's that point to nothing are found and removed, and nothing else is.
func TestDangling(t *testing.T) {
	t.Parallel()
	r := gittest.New(t, map[string]string{"a": "a\n", ".gitignore": "/.pawl\n"})
	repo := open(t, r, "", true)
	if cleared, err := repo.Refs.ClearDangling(t.Context()); cleared || err != nil {
		t.Fatal(cleared, err)
	}
	snapshot(t, repo)
	before := r.Own("for-each-ref", "--format=%(refname) %(objectname)")
	nothing := strings.Repeat("0123456789", 4)
	gittest.Write(t, r.Dir, map[string]string{".pawl/git/refs/pawl/trees/20260101/" + nothing: nothing + "\n",
		".pawl/git/refs/pawl/chk-gone": nothing + "\n"})
	if cleared, err := repo.Refs.ClearDangling(t.Context()); !cleared || err != nil {
		t.Fatal(cleared, err)
	}
	if got := r.Own("for-each-ref", "--format=%(refname) %(objectname)"); got != before {
		t.Errorf("left\n%s\nof\n%s", got, before)
	}
}
