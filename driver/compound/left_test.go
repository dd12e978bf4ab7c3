package compound

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"pawl"
	"pawl/driver/checkpoint"
	"pawl/driver/prove"
	"pawl/internal/gittest"
	"pawl/kernel/effect"
	"pawl/sandbox/git"
)

func TestMain(m *testing.M) { os.Exit(gittest.Isolate(m, nil)) }

// nothing is what a landing left.
func nothing(context.Context, *git.Memory, effect.Place) error { return nil }

// TestCleanupBesideAHalfLanding cleans nothing up while branch and files of the user are apart.
func TestCleanupBesideAHalfLanding(t *testing.T) {
	repo := gittest.New(t, map[string]string{"a.txt": "a\n"})
	apart := pawl.Fail(pawl.CodeIO, "land.apart")
	r := NewCleanup(nil, func(context.Context, *git.Memory, effect.Place) error { return apart }).Do(t.Context(),
		effect.Effect{Place: effect.Place{Workspace: repo.Dir, Tree: repo.Dir, Git: true, InPlace: true},
			Spec: effect.Encode(effect.CleanupSpec{})}, nil)
	sum, err := effect.Decode[effect.CleanupResult](r.Result)
	if err != nil || r.OK || r.Key != "land.apart" || !slices.Equal(sum.Failed, []string{effect.CleanedLanding}) {
		t.Errorf("%+v %+v %v", r, sum, err)
	}
}

// TestCleanupFindsWhatCrashesLeft kills nothing: it makes what a crash leaves beside a task's tree, and cleans up.
func TestCleanupFindsWhatCrashesLeft(t *testing.T) {
	repo, memory := gittest.New(t, map[string]string{"a.txt": "a\n"}), &git.Memory{}
	task := effect.Place{Workspace: repo.Dir, Tree: filepath.Join(repo.Dir, ".pawl", "worktrees", "T"), Git: true}
	for _, p := range []effect.Place{task, beside(task), prove.Beside(task)} {
		r := checkpoint.NewWorktree(memory).Do(t.Context(), effect.Effect{Place: p,
			Spec: effect.Encode(effect.WorktreeSpec{Base: repo.Head()})}, nil)
		if !r.OK {
			t.Fatal(r.Err())
		}
	}
	// Of one only the registration is left.
	if err := os.RemoveAll(prove.Beside(task).Tree); err != nil {
		t.Fatal(err)
	}
	r := NewCleanup(memory, nothing).Do(t.Context(), effect.Effect{Place: task, Spec: effect.Encode(effect.CleanupSpec{})}, nil)
	for _, dir := range []string{filepath.Join(repo.Dir, ".pawl", "worktrees"), repo.Path(".git/worktrees")} {
		if left, _ := os.ReadDir(dir); len(left) > 0 || !r.OK {
			t.Errorf("left in %s: %v %+v", dir, left, r)
		}
	}
}

// TestCleanupInPlace leaves the user's tree alone and clears the copy beside it.
func TestCleanupInPlace(t *testing.T) {
	repo, memory := gittest.New(t, map[string]string{"a.txt": "a\n"}), &git.Memory{}
	task := effect.Place{Workspace: repo.Dir, Tree: repo.Dir, Git: true, InPlace: true}
	gittest.Write(t, prove.Beside(task).Tree, map[string]string{"left.txt": "x\n"})
	r := NewCleanup(memory, nothing).Do(t.Context(), effect.Effect{Place: task, Spec: effect.Encode(effect.CleanupSpec{})}, nil)
	_, left := os.Stat(prove.Beside(task).Tree)
	if _, err := os.Stat(repo.Path("a.txt")); err != nil || left == nil || !r.OK {
		t.Errorf("%v %v %+v", err, left, r)
	}
}
