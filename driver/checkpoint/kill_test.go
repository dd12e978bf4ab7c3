package checkpoint_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"pawl/driver/checkpoint"
	"pawl/internal/gittest"
	"pawl/kernel/effect"
	"pawl/sandbox/git"
)

const noteFile = "/.pawl/test-note"

func restoreEffect(dir string) (effect.Effect, error) {
	var target, expect string
	raw, err := os.ReadFile(dir + noteFile)
	if err == nil {
		_, err = fmt.Sscan(string(raw), &target, &expect)
	}
	return made("09", inPlace(dir), effect.RestoreSpec{Target: target, Expect: expect, Safety: "safe"}), err
}

func sceneRestore(ctx context.Context, dir string) error {
	e, err := restoreEffect(dir)
	if err != nil {
		return err
	}
	return checkpoint.NewRestore(nil).Do(ctx, e, nil).Err()
}

func worktreeEffect(dir string) (effect.Effect, error) {
	raw, err := os.ReadFile(dir + "/.git/refs/heads/main")
	return made("08", inWorktree(dir), effect.WorktreeSpec{Base: strings.TrimSpace(string(raw))}), err
}

func sceneWorktree(ctx context.Context, dir string) error {
	e, err := worktreeEffect(dir)
	if err != nil {
		return err
	}
	return checkpoint.NewWorktree(nil).Do(ctx, e, nil).Err()
}

func sceneCleanup(ctx context.Context, dir string) error {
	if err := sceneWorktree(context.Background(), dir); err != nil {
		return err
	}
	return checkpoint.NewCleanup(nil).Do(ctx, made("07", inWorktree(dir), effect.CleanupSpec{}), nil).Err()
}

// sceneRemember takes a snapshot of a tree that is remembered, after a change that needs no look of git's.
func sceneRemember(ctx context.Context, dir string) error {
	// A file that was written just now is read again by the next look, so that the steps of the scene would go by how
	// busy the machine is.
	time.Sleep(200 * time.Millisecond)
	s := checkpoint.NewSnapshotter(&git.Memory{})
	if _, err := s.Snapshot(context.Background(), inPlace(dir)); err != nil {
		return err
	}
	for _, name := range []string{"a", "d/x"} {
		if err := os.WriteFile(dir+"/"+name, []byte("remembered"), 0o644); err != nil {
			return err
		}
	}
	_, err := s.Snapshot(ctx, inPlace(dir))
	return err
}

// recoverFrom does what the runner does after a crash.
func recoverFrom(t *testing.T, d driver, e effect.Effect) effect.Receipt {
	t.Helper()
	answer, r := d.Done(context.Background(), e)
	if answer == effect.DoneNo {
		r = d.Do(context.Background(), e, nil)
	}
	if answer == effect.DoneUnknown || r.Err() != nil {
		t.Fatalf("%s: %v", answer, r.Err())
	}
	return r
}

func TestKilledWhileRestoring(t *testing.T) {
	t.Parallel()
	r := gittest.New(t, files)
	p := inPlace(r.Dir)
	r.Write(map[string]string{"mine": "untracked", "x.log": "ignored", "empty/": "", "swap/f": "f"})
	want, target := gittest.Tree(t, r.Dir), snapshot(t, p)
	for _, gone := range []string{"link", "d", "empty", "swap"} {
		os.RemoveAll(r.Path(gone))
	}
	r.Write(map[string]string{"a": "pawl", "d": "-> a", "new/n": "n", "swap": "file",
		".gitignore": "/.pawl\n*.log\nmine\n"})
	left := snapshot(t, p)
	gittest.Write(t, r.Dir, map[string]string{"bystander": "b", noteFile: target + " " + left})
	gittest.KillEverywhere(t, "restore", r.Dir, func(t *testing.T, dir string) {
		e, err := restoreEffect(dir)
		if err != nil {
			t.Fatal(err)
		}
		result := decoded[effect.RestoreResult](t, recoverFrom(t, checkpoint.NewRestore(nil), e))
		os.Remove(dir + "/bystander")
		if got := gittest.Tree(t, dir); got != want {
			t.Fatalf("got\n%s\nwant\n%s", got, want)
		}
		if len(result.Changed) != 8 || result.Before == target {
			t.Errorf("%+v", result)
		}
		clean(t, dir)
	})
}

// clean checks that nothing temporary is left once a cleanup has run.
func clean(t *testing.T, dir string) {
	t.Helper()
	do[effect.CleanupResult](t, checkpoint.NewCleanup(nil), made("06", inPlace(dir), effect.CleanupSpec{}))
	staged, _ := os.ReadDir(dir + "/.pawl/git/tmp")
	for _, e := range staged {
		if e.IsDir() {
			t.Errorf("%s is left", e.Name())
		}
	}
}

func TestKilledWhileMakingWorktree(t *testing.T) {
	t.Parallel()
	r := gittest.New(t, files)
	want := gittest.Tree(t, r.Dir)
	gittest.KillEverywhere(t, "worktree", r.Dir, func(t *testing.T, dir string) {
		e, err := worktreeEffect(dir)
		if err != nil {
			t.Fatal(err)
		}
		recoverFrom(t, checkpoint.NewWorktree(nil), e)
		if got := gittest.Tree(t, e.Place.Tree); got != want {
			t.Fatalf("got\n%s\nwant\n%s", got, want)
		}
		if got := gittest.At(t, dir).Git("worktree", "list"); strings.Count(got, "\n") != 1 {
			t.Fatal(got)
		}
	})
}

func TestKilledWhileCleaning(t *testing.T) {
	t.Parallel()
	r := gittest.New(t, files)
	gittest.KillEverywhere(t, "cleanup", r.Dir, func(t *testing.T, dir string) {
		do[effect.CleanupResult](t, checkpoint.NewCleanup(nil), made("06", inWorktree(dir), effect.CleanupSpec{}))
		if got := gittest.At(t, dir).Git("worktree", "list"); strings.Contains(got, "t1") {
			t.Fatal(got)
		}
		if _, err := os.Lstat(inWorktree(dir).Tree); err == nil {
			t.Fatal("the worktree is still there")
		}
	})
}

func TestKilledWhileRemembering(t *testing.T) {
	t.Parallel()
	r := gittest.New(t, files)
	changed := gittest.New(t, files)
	changed.Write(map[string]string{"a": "remembered", "d/x": "remembered"})
	want := snapshot(t, inPlace(changed.Dir))
	gittest.KillEverywhere(t, "remember", r.Dir, func(t *testing.T, dir string) {
		killed := gittest.At(t, dir)
		if out := killed.Git("fsck", "--strict", "--no-dangling") +
			killed.Git("for-each-ref"); strings.Contains(out, "warning") || strings.Contains(out, "error") {
			t.Fatal(out)
		}
		if got := snapshot(t, inPlace(dir)); got != want {
			t.Fatalf("recorded %s, not %s", got, want)
		}
		killed.Git("fsck", "--strict", "--no-dangling")
		clean(t, dir)
	})
}
