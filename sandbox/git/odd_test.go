package git_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"pawl"
	"pawl/internal/gittest"
	"pawl/sandbox/git"
	"pawl/sandbox/git/layout"
)

func TestSha256Repository(t *testing.T) {
	t.Parallel()
	r := gittest.At(t, t.TempDir())
	r.Git("init", "-q", "--object-format=sha256", "-b", "main")
	r.Write(map[string]string{"a": "a", "b": "b", "link": "-> a"})
	r.Git("add", "-A")
	r.Git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x")
	repo := open(t, r, "", true)
	one := snapshot(t, repo)
	if one != r.Git("rev-parse", "HEAD^{tree}") || len(one) != 64 {
		t.Fatal(one)
	}
	want := gittest.Tree(t, r.Dir)
	os.Remove(r.Path("b"))
	r.Write(map[string]string{"a": "changed", "n": "n", "link": "-> b"})
	two := snapshot(t, repo)
	restore(t, repo, git.Restoration{Target: one, Expect: two})
	if got := gittest.Tree(t, r.Dir); got != want {
		t.Fatal(got)
	}
	w := open(t, r, r.Path(".pawl/worktrees/t"), true)
	if _, err := w.AddWorktree(context.Background(), r.Head()); err != nil ||
		gittest.Tree(t, r.Path(".pawl/worktrees/t")) != want {
		t.Fatal(err)
	}
}

func TestSparseCheckoutAndSplitIndex(t *testing.T) {
	t.Parallel()
	r := gittest.New(t, map[string]string{"in/a": "a", "out/b": "b"})
	r.Git("update-index", "--split-index")
	r.Git("sparse-checkout", "set", "in")
	r.Write(map[string]string{".pawl/.gitignore": "*\n"}) // as driver/workspace writes it
	base := r.Head()
	if _, err := os.Stat(r.Path("out")); err == nil {
		t.Fatal("the checkout is not sparse")
	}
	ctx := context.Background()
	repo := open(t, r, "", true)
	if s, err := repo.Status(ctx); err != nil || len(s.Dirty) > 0 {
		t.Fatalf("%+v %v", s, err)
	}
	snapshot(t, repo)
	w := open(t, r, r.Path(".pawl/worktrees/t"), true)
	if _, err := w.AddWorktree(ctx, base); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(r.Path(".pawl/worktrees/t/out/b")); err != nil {
		t.Fatal("the task's worktree is sparse")
	}
	gittest.Write(t, r.Path(".pawl/worktrees/t"), map[string]string{"in/a": "worked", "in/new": "n"})
	from, to := r.Git("rev-parse", "HEAD^{tree}"), snapshot(t, w)
	c, err := repo.Checkout(ctx, "e1")
	if err != nil {
		t.Fatal(err)
	}
	if left, err := c.Advance(ctx, from, to); err != nil || len(left) > 0 {
		t.Fatalf("%v %v", left, err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if got := r.Git("status", "--porcelain"); got != "M  in/a\nA  in/new" {
		t.Fatalf("status:\n%s", got)
	}
	if _, err := os.Stat(r.Path("out")); err == nil || !strings.Contains(r.Git("ls-files", "-t"), "S out/b") {
		t.Fatal("the checkout is not sparse any more")
	}
}

// A crash may come between the last file of a folder and the folder itself. What completes the change takes the folder
// away, and leaves one in which there is something of somebody else's.
func TestFoldersEmptiedBeforeACrash(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for name, advance := range map[string]func(t *testing.T, r *gittest.Repo, from, to string) error{
		"checkout": func(t *testing.T, r *gittest.Repo, from, to string) error {
			c, err := open(t, r, "", true).Checkout(ctx, "e1")
			if err != nil {
				return err
			}
			_, err = c.Advance(ctx, from, to)
			return errors.Join(err, c.Close())
		},
		"worktree": func(t *testing.T, r *gittest.Repo, from, to string) error {
			w := open(t, r, r.Path(".pawl/worktrees/t"), true)
			l, err := git.NewLinked(w)
			if err != nil {
				return err
			}
			return l.Advance(ctx, from, to)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := gittest.New(t, map[string]string{"a": "a", "deep/er/x": "x", "kept/y": "y"})
			dir := r.Dir
			if name == "worktree" {
				w := open(t, r, r.Path(".pawl/worktrees/t"), true)
				if _, err := w.AddWorktree(ctx, r.Head()); err != nil {
					t.Fatal(err)
				}
				dir = r.Path(".pawl/worktrees/t")
			}
			from := r.Git("rev-parse", "HEAD^{tree}")
			to := mktree(t, r, "100644 blob "+r.Git("rev-parse", "HEAD:a")+"\ta")
			gittest.Write(t, dir, map[string]string{"kept/mine": "mine"})
			for _, gone := range []string{"deep/er/x", "kept/y"} {
				if err := os.Remove(filepath.Join(dir, gone)); err != nil {
					t.Fatal(err)
				}
			}
			if err := advance(t, r, from, to); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(filepath.Join(dir, "deep")); err == nil {
				t.Error("the empty folders are still there")
			}
			if raw, _ := os.ReadFile(filepath.Join(dir, "kept/mine")); string(raw) != "mine" {
				t.Error("a folder that is in use is gone")
			}
		})
	}
}

func TestLargeFilePointersStay(t *testing.T) {
	t.Parallel()
	const pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"
	r := gittest.New(t, map[string]string{"big.bin": pointer,
		".gitattributes": "*.bin filter=lfs diff=lfs merge=lfs -text\n"})
	r.Git("config", "filter.lfs.smudge", "false")
	r.Git("config", "filter.lfs.required", "true")
	w := open(t, r, r.Path(".pawl/worktrees/t"), true)
	if _, err := w.AddWorktree(context.Background(), r.Head()); err != nil {
		t.Fatal(err)
	}
	if raw, _ := os.ReadFile(r.Path(".pawl/worktrees/t/big.bin")); string(raw) != pointer {
		t.Fatalf("%q", raw)
	}
}

func TestSnapshotRefusesHugeFiles(t *testing.T) {
	t.Parallel()
	r := gittest.New(t, map[string]string{"a": "a"})
	f, err := os.Create(r.Path("huge"))
	if err == nil {
		err = f.Truncate(1 << 30)
		f.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	_, err = open(t, r, "", true).Snapshot(context.Background())
	wantCode(t, err, pawl.CodeRepository)
	os.Remove(r.Path("huge"))
	snapshot(t, open(t, r, "", true))
}

func TestConcurrentSnapshots(t *testing.T) {
	t.Parallel()
	r := gittest.New(t, map[string]string{"a": "a"})
	r.Write(map[string]string{"b": "b", "c/d": "d"})
	ids := make([]string, 6)
	var wg sync.WaitGroup
	for i := range ids {
		wg.Go(func() {
			repo, err := git.Open(context.Background(), layout.Place{Workspace: r.Dir, Tree: r.Dir, Git: true})
			if err == nil {
				ids[i], err = repo.Snapshot(context.Background())
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for _, id := range ids {
		if id != ids[0] || id == "" {
			t.Fatalf("%q", ids)
		}
	}
}

func TestCanceled(t *testing.T) {
	t.Parallel()
	r := gittest.New(t, map[string]string{"a": "a"})
	repo := open(t, r, "", true)
	ctx, cancel := context.WithCancel(context.Background())
	ctx = gittest.Trace(ctx, func(step string) {
		if step == "git status" {
			cancel()
		}
	})
	_, err := repo.Snapshot(ctx)
	wantCode(t, err, pawl.CodeCanceled)
	snapshot(t, repo)
}

func TestCheckoutLock(t *testing.T) {
	t.Parallel()
	r := gittest.New(t, map[string]string{"a": "a"})
	ctx := context.Background()
	repo := open(t, r, "", true)
	one, err := repo.Checkout(ctx, "e1")
	if err != nil {
		t.Fatal(err)
	}
	_, err = repo.Checkout(ctx, "e2")
	wantCode(t, err, pawl.CodeBusy)
	again, err := repo.Checkout(ctx, "e1")
	if err != nil {
		t.Fatal("the holder cannot take its lock up again after a crash")
	}
	if err := repo.Sweep(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Try("add", "a"); err != nil {
		t.Log("held, as it should be")
	}
	if _, err := os.Stat(r.Path(".git/index.lock")); err != nil {
		t.Fatal("the lock of a living process was swept")
	}
	if err := one.Close(); err != nil {
		t.Fatal(err)
	}
	r.Write(map[string]string{".git/index.lock": "somebody's"})
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(r.Path(".git/index.lock")); err != nil {
		t.Fatal("somebody else's lock was removed")
	}
}

func TestRefs(t *testing.T) {
	t.Parallel()
	r := gittest.New(t, map[string]string{"a": "a"})
	ctx := context.Background()
	repo := open(t, r, "", true)
	head := r.Head()
	name := git.PrivateRef("x")
	if id, err := repo.Refs.Lookup(ctx, name); id != "" || err != nil {
		t.Fatal(id, err)
	}
	if err := repo.Refs.Set(ctx, name, head, "", "w"); err != nil {
		t.Fatal(err)
	}
	other := r.Commit("two")
	wantCode(t, repo.Refs.Set(ctx, name, other, "", "w"), pawl.CodeConflict)
	wantCode(t, repo.Refs.Set(ctx, name, other, other, "w"), pawl.CodeConflict)
	wantCode(t, repo.Refs.Set(ctx, name, "HEAD", head, "w"), pawl.CodeInvalid)
	wantCode(t, repo.Refs.Delete(ctx, name, other), pawl.CodeConflict)
	for _, bad := range []string{"HEAD", "main", "refs/heads/a b", "refs/heads/../x", "refs/heads/@{1}", "--all",
		"refs/pawl/a..b", ""} {
		if _, err := repo.Refs.Lookup(ctx, bad); err == nil {
			t.Errorf("%q was looked up", bad)
		}
	}
	refs, err := repo.Refs.List(ctx, "refs/pawl/")
	if err != nil || len(refs) != 1 || refs[0].ID != head || time.Since(refs[0].At) > time.Hour {
		t.Fatalf("%+v %v", refs, err)
	}
	if err := repo.Refs.Delete(ctx, name, head); err != nil {
		t.Fatal(err)
	}
	if in, err := repo.Objects.Contains(ctx, other, head); err != nil || !in {
		t.Fatal(in, err)
	}
	if in, err := repo.Objects.Contains(ctx, head, other); err != nil || in {
		t.Fatal(in, err)
	}
}

// What the user's own ignore files say counts, wherever they are.
func TestUserIgnores(t *testing.T) {
	r := gittest.New(t, map[string]string{"a": "a"})
	global := t.TempDir() + "/ignore"
	if err := os.WriteFile(global, []byte("*.global\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r.Git("config", "core.excludesFile", global)
	r.Write(map[string]string{".git/info/exclude": "*.local", "x.global": "", "x.local": "", "x": "",
		".gitignore": "!.pawl\n"})
	files, err := open(t, r, "", true).Files(context.Background())
	if err != nil || strings.Join(files, ",") != ".gitignore,a,x" {
		t.Fatalf("%q %v", files, err)
	}
}
