package land_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"pawl/driver/land"
	"pawl/internal/gittest"
	"pawl/kernel/effect"
)

const specFile = "/.pawl/test-tree"

func inScene(ctx context.Context, e effect.Effect, d interface {
	Do(context.Context, effect.Effect, effect.Progress) effect.Receipt
}) error {
	return d.Do(ctx, e, nil).Err()
}

// sceneEffect is the effect of a scene; the folder was copied, so its place is another one than the original's.
func sceneEffect(dir string) (effect.Effect, error) {
	var base, tree, branch string
	raw, err := os.ReadFile(dir + specFile)
	if err == nil {
		_, err = fmt.Sscan(string(raw), &base, &tree, &branch)
	}
	s := spec(base, tree)
	if s.Branch = branch; branch == "-" {
		s.Branch = ""
	}
	return landing(effect.Place{Workspace: dir, Tree: dir + "/.pawl/worktrees/t1", Git: true}, s), err
}

func sceneLand(ctx context.Context, dir string) error {
	e, err := sceneEffect(dir)
	if err != nil {
		return err
	}
	return inScene(ctx, e, land.New(nil))
}

func sceneKept(ctx context.Context, dir string) error { return sceneLand(ctx, dir) }

func inPlaceEffect(dir string) (effect.Effect, error) {
	e, err := sceneEffect(dir)
	s, decodeErr := effect.Decode[effect.LandSpec](e.Spec)
	if err == nil {
		err = decodeErr
	}
	raw, readErr := os.ReadFile(dir + specFile + "-start")
	if err == nil {
		err = readErr
	}
	s.Start = string(raw)
	e.Spec = effect.Encode(s)
	e.Place.Tree, e.Place.InPlace = dir, true
	return e, err
}

func sceneInPlace(ctx context.Context, dir string) error {
	e, err := inPlaceEffect(dir)
	if err != nil {
		return err
	}
	return inScene(ctx, e, land.New(nil))
}

func revertEffect(dir string) (effect.Effect, error) {
	raw, err := os.ReadFile(dir + specFile)
	s := effect.RevertSpec{Commit: string(raw), Branch: "main", Keep: "pawl/undo-T-1", Subject: "Undo", At: when}
	return effect.Effect{ID: "02E", Kind: effect.KindRevert,
		Place: effect.Place{Workspace: dir, Tree: dir + "/.pawl/worktrees/t1", Git: true}, Spec: effect.Encode(s)}, err
}

func sceneRevert(ctx context.Context, dir string) error {
	e, err := revertEffect(dir)
	if err != nil {
		return err
	}
	return inScene(ctx, e, land.NewRevert(nil))
}

type driver interface {
	Do(context.Context, effect.Effect, effect.Progress) effect.Receipt
	Done(context.Context, effect.Effect) (effect.Answer, effect.Receipt)
}

// recoverFrom does what the runner does after a crash: it asks, and does again what was not done.
func recoverFrom(t *testing.T, d driver, e effect.Effect) effect.LandResult {
	t.Helper()
	answer, receipt := d.Done(context.Background(), e)
	switch answer {
	case effect.DoneNo:
		receipt = d.Do(context.Background(), e, nil)
	case effect.DoneUnknown:
		t.Fatalf("unknown: %v", receipt.Err())
	}
	if err := receipt.Err(); err != nil {
		t.Fatalf("answer %s: %v", answer, err)
	}
	if again, _ := d.Done(context.Background(), e); again != effect.DoneYes {
		t.Errorf("after recovery the answer is %s", again)
	}
	result, err := effect.Decode[effect.LandResult](receipt.Result)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func TestKilledWhileLanding(t *testing.T) {
	t.Parallel()
	r, e := worked(t)
	base := r.Head()
	s, _ := effect.Decode[effect.LandSpec](e.Spec)
	gittest.Write(t, r.Dir, map[string]string{specFile: base + " " + s.Tree + " main"})
	gittest.KillEverywhere(t, "land", r.Dir, func(t *testing.T, dir string) {
		r := gittest.At(t, dir)
		e, err := sceneEffect(r.Dir)
		if err != nil {
			t.Fatal(err)
		}
		if result := recoverFrom(t, land.New(nil), e); result.Outcome != effect.Landed || result.Commit != r.Head() {
			t.Fatalf("%+v", result)
		}
		landed(t, r, base, s)
	})
}

// A landing that was killed is not always the next to be recovered: whoever lands first finishes what it finds half
// done, and waits for no lock of the dead.
func TestAnotherLandsAfterAKilledOne(t *testing.T) {
	t.Parallel()
	r, e := worked(t)
	base := r.Head()
	s, _ := effect.Decode[effect.LandSpec](e.Spec)
	gittest.Write(t, r.Dir, map[string]string{specFile: base + " " + s.Tree + " main"})
	var finished, landedFirst atomic.Int32
	gittest.KillEverywhere(t, "land", r.Dir, func(t *testing.T, dir string) {
		r := gittest.At(t, dir)
		first, err := sceneEffect(r.Dir)
		if err != nil {
			t.Fatal(err)
		}
		s, _ := effect.Decode[effect.LandSpec](first.Spec)
		s.Current, s.Subject = true, "Do other work"
		other := landing(first.Place, s)
		other.ID = "01F"
		receipt := land.New(nil).Do(context.Background(), other, nil)
		switch {
		case receipt.OK:
			landedFirst.Add(1)
		case receipt.Key == "land.moved":
			finished.Add(1)
		default:
			t.Fatalf("%+v", receipt.Err())
		}
		landed(t, r, base, s)
		if subject, moved := r.Git("log", "-1", "--format=%s",
			"main"), receipt.Key == "land.moved"; (subject == "Do the work") != moved {
			t.Errorf("moved %v, but main is at %q", moved, subject)
		}
	})
	if finished.Load() == 0 || landedFirst.Load() == 0 {
		t.Errorf("%d half landings were finished, %d were not to be", finished.Load(), landedFirst.Load())
	}
}

// What the user does between the crash and the recovery is the user's.
func TestEditedAfterTheCrash(t *testing.T) {
	t.Parallel()
	template, e := worked(t)
	s, _ := effect.Decode[effect.LandSpec](e.Spec)
	gittest.Write(t, template.Dir, map[string]string{specFile: template.Head() + " " + s.Tree + " main"})
	gittest.KillBefore(t, "land", template.Dir, "remove file")
	t.Run("files", func(t *testing.T) {
		r := gittest.At(t, gittest.Copy(t, template.Dir))
		r.Write(map[string]string{"a": "mine\n", "gone": "mine too\n"})
		e, err := sceneEffect(r.Dir)
		if err != nil {
			t.Fatal(err)
		}
		if result := recoverFrom(t, land.New(nil), e); result.Outcome != effect.Landed || result.Commit != r.Head() {
			t.Fatalf("%+v", result)
		}
		if got := r.Git("status", "--porcelain"); got != " M a\n?? gone" {
			t.Errorf("status:\n%s", got)
		}
		if got := r.Git("diff", "a"); !strings.Contains(got, "-worked\n+mine") {
			t.Errorf("diff:\n%s", got)
		}
		clean(t, r)
	})
	t.Run("commit", func(t *testing.T) {
		r := gittest.At(t, gittest.Copy(t, template.Dir))
		if _, err := r.Try("commit", "-qam", "half of it"); err == nil {
			t.Error("the lock did not keep the user from committing half a landing")
		}
		os.Remove(r.Path(".git/index.lock")) // as git advises
		r.Commit("mine")
		head, tree := r.Head(), gittest.Tree(t, r.Dir)
		e, err := sceneEffect(r.Dir)
		if err != nil {
			t.Fatal(err)
		}
		if result := recoverFrom(t, land.New(nil), e); result.Outcome != effect.Landed || r.Head() != head ||
			gittest.Tree(t, r.Dir) != tree {
			t.Fatalf("%+v", result)
		}
	})
	t.Run("given up", func(t *testing.T) {
		r := gittest.At(t, gittest.Copy(t, template.Dir))
		here := effect.Place{Workspace: r.Dir, Tree: r.Dir, Git: true}
		if err := land.Settle(t.Context(), nil, here); err != nil {
			t.Fatal(err)
		}
		if dirty := r.Git("status", "--porcelain"); dirty != "" || r.Git("log", "-1", "--format=%s") == s.Subject {
			t.Errorf("it was not taken back:\n%s", dirty)
		}
		clean(t, r)
		r.Write(map[string]string{".git/index.lock": "somebody's"})
		if err := land.Settle(t.Context(), nil, here); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Lstat(r.Path(".git/index.lock")); err != nil {
			t.Fatal("somebody else's lock was removed")
		}
	})
}

func TestKilledWhileKeeping(t *testing.T) {
	t.Parallel()
	gittest.Thorough(t)
	r, e := worked(t)
	s, _ := effect.Decode[effect.LandSpec](e.Spec)
	gittest.Write(t, r.Dir, map[string]string{specFile: r.Head() + " " + s.Tree + " -"})
	head, tree := r.Head(), gittest.Tree(t, r.Dir)
	gittest.KillEverywhere(t, "kept", r.Dir, func(t *testing.T, dir string) {
		r := gittest.At(t, dir)
		e, err := sceneEffect(r.Dir)
		if err != nil {
			t.Fatal(err)
		}
		result := recoverFrom(t, land.New(nil), e)
		if result.Outcome != effect.Kept || result.Branch != "pawl/T-1" ||
			r.Git("rev-parse", "pawl/T-1") != result.Commit {
			t.Fatalf("%+v", result)
		}
		if r.Head() != head || gittest.Tree(t, r.Dir) != tree {
			t.Error("something of the user's changed")
		}
	})
}

func TestKilledInPlace(t *testing.T) {
	t.Parallel()
	gittest.Thorough(t)
	r, s := inPlace(t)
	base := r.Head()
	gittest.Write(t, r.Dir, map[string]string{specFile: base + " " + s.Tree + " main", specFile + "-start": s.Start})
	gittest.KillEverywhere(t, "in place", r.Dir, func(t *testing.T, dir string) {
		r := gittest.At(t, dir)
		e, err := inPlaceEffect(r.Dir)
		if err != nil {
			t.Fatal(err)
		}
		if result := recoverFrom(t, land.New(nil), e); result.Outcome != effect.Landed {
			t.Fatalf("%+v", result)
		}
		landed(t, r, base, s)
	})
}

func TestKilledWhileReverting(t *testing.T) {
	t.Parallel()
	gittest.Thorough(t)
	r, e := worked(t)
	base := r.Git("rev-parse", "HEAD^{tree}")
	commit := do(t, e).Commit
	r.Write(map[string]string{"b": "later\n"})
	r.Commit("later")
	gittest.Write(t, r.Dir, map[string]string{specFile: commit})
	gittest.KillEverywhere(t, "revert", r.Dir, func(t *testing.T, dir string) {
		r := gittest.At(t, dir)
		e, err := revertEffect(r.Dir)
		if err != nil {
			t.Fatal(err)
		}
		if result := recoverFrom(t, land.NewRevert(nil), e); result.Outcome != effect.Landed {
			t.Fatalf("%+v", result)
		}
		if got := r.Git("diff", "--name-only", base, "HEAD"); got != "b" || r.Git("status", "--porcelain") != "" ||
			r.Git("rev-list", "--count", "HEAD") != "4" {
			t.Errorf("differs from the start at %q", got)
		}
		clean(t, r)
	})
}
