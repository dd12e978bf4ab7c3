package checkpoint_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"pawl/driver/checkpoint"
	"pawl/internal/gittest"
	"pawl/kernel/effect"
	"pawl/sandbox/git"
)

// limit is what keeps may copy in tests.
const limit = 1 << 20

// keeping are the drivers of a workspace.
func keeping() (checkpoint.Point, checkpoint.Restore) {
	m := &git.Memory{}
	i := checkpoint.NewIgnored(m, limit)
	return checkpoint.NewPoint(m).Keeping(i), checkpoint.NewRestore(m).Keeping(i)
}

// scripted is a person's folder, with all that a script may find.
func scripted(t *testing.T, r *rand.Rand) string {
	t.Helper()
	repo := gittest.New(t, files)
	repo.Write(map[string]string{".gitignore": "*.log\nign\n/.pawl\n", "d/x": "x", "u": "untracked"})
	gittest.Play(t, repo.Dir, gittest.Script(r)+gittest.Script(r)+gittest.Script(r))
	repo.Write(map[string]string{".gitignore": "*.log\nign\n/.pawl\n"})
	return repo.Dir
}

func TestScriptsInPlace(t *testing.T) {
	t.Parallel()
	for seed := range gittest.Scripts() {
		t.Run(strconv.Itoa(seed), func(t *testing.T) {
			t.Parallel()
			tryScript(t, seed)
		})
	}
}

// tryScript has a script work in a person's folder.
func tryScript(t *testing.T, seed int) {
	r := rand.New(rand.NewPCG(uint64(seed), 15))
	thereAndBack(t, r, seed, inPlace(scripted(t, r)))
}

// thereAndBack plays a script in a tree, takes back what it did, brings it back, and takes it back again.
func thereAndBack(t *testing.T, r *rand.Rand, seed int, p effect.Place) {
	t.Helper()
	dir := p.Tree
	point, restore := keeping()
	made1 := do[effect.CheckpointResult](t, point, made("01", p, effect.CheckpointSpec{Name: "chk-1", Ignored: true}))
	before, text := gittest.Manifest(t, dir), gittest.Script(r)
	gittest.Play(t, dir, text)
	p.Kept = made1.Name
	left := snapshot(t, p)
	after := gittest.Manifest(t, dir)
	undo := made("02", p, effect.RestoreSpec{Target: made1.Tree, Expect: left, Kept: made1.Name, Safety: "safe-1"})
	undone := do[effect.RestoreResult](t, restore, undo)
	if got := gittest.Manifest(t, dir); got != before {
		t.Fatalf("seed %d undo: %s\n%s\nscript\n%s", seed, gittest.Differing(got, before), lost(undone), text)
	}
	wantDone(t, restore, undo, effect.DoneYes)
	redo := made("03", p, effect.RestoreSpec{Target: undone.Before, Expect: undone.After,
		Kept: undone.Ignored.Kept, Safety: "safe-2"})
	redone := do[effect.RestoreResult](t, restore, redo)
	if got := gittest.Manifest(t, dir); got != after {
		t.Fatalf("seed %d redo: %s\n%s\nscript\n%s", seed, gittest.Differing(got, after), lost(redone), text)
	}
	do[effect.RestoreResult](t, restore, made("04", p, effect.RestoreSpec{Target: redone.Before, Expect: redone.After,
		Kept: redone.Ignored.Kept, Safety: "safe-3"}))
	if got := gittest.Manifest(t, dir); got != before {
		t.Fatalf("seed %d undo again: %s\nscript\n%s", seed, gittest.Differing(got, before), text)
	}
}

func lost(r effect.RestoreResult) string {
	if r.Ignored == nil {
		return ""
	}
	return fmt.Sprintf("%+v kept %q", *r.Ignored, r.Kept)
}

// What is ignored may have been moved into a folder that stands where git has a file.
func TestIgnoredInTheWayOfAFile(t *testing.T) {
	t.Parallel()
	r := gittest.New(t, map[string]string{"a": "a", ".gitignore": "*.log\n/.pawl\n"})
	r.Write(map[string]string{"b.log/in": "kept"})
	before := gittest.Manifest(t, r.Dir)
	point, restore := keeping()
	p := inPlace(r.Dir)
	one := do[effect.CheckpointResult](t, point, made("01", p, effect.CheckpointSpec{Name: "chk-1", Ignored: true}))
	gittest.Play(t, r.Dir, "rm a; mkdir a; echo new > a/in; mv b.log a")
	p.Kept = one.Name
	undo := effect.RestoreSpec{Target: one.Tree, Expect: snapshot(t, p), Kept: one.Name, Safety: "safe"}
	do[effect.RestoreResult](t, restore, made("02", p, undo))
	if got := gittest.Manifest(t, r.Dir); got != before {
		t.Fatal(gittest.Differing(got, before))
	}
}

// What does not fit is told, by name, before and after; what somebody changed since is left alone and told.
func TestUnkeptIsTold(t *testing.T) {
	t.Parallel()
	r := gittest.New(t, map[string]string{"a": "a", ".gitignore": "*.log\n/.pawl\n"})
	r.Write(map[string]string{"big.log": strings.Repeat("b", limit+1), "mine.log": "m", "small.log": "s"})
	point, restore := keeping()
	p := inPlace(r.Dir)
	one := do[effect.CheckpointResult](t, point, made("01", p, effect.CheckpointSpec{Name: "chk-1", Ignored: true}))
	foreseen, err := checkpoint.NewIgnored(nil, limit).Foresee(context.Background(), p)
	want := effect.Unkept{Path: "big.log", Size: limit + 1, Why: effect.UnkeptLarge}
	if err != nil || len(one.Unkept) != 1 || one.Unkept[0] != want || len(foreseen) != 1 || foreseen[0] != want {
		t.Fatal(one.Unkept, foreseen, err)
	}
	gittest.Play(t, r.Dir, "echo new > big.log; echo new > small.log; echo new > mine.log; echo new > a")
	p.Kept = one.Name
	left := snapshot(t, p)
	r.Write(map[string]string{"mine.log": "changed since"})
	e := made("02", p, effect.RestoreSpec{Target: one.Tree, Expect: left, Kept: one.Name, Safety: "safe"})
	got := do[effect.RestoreResult](t, restore, e)
	if l := got.Ignored.Lost; len(l) != 2 || l[0].Path != "mine.log" || l[0].Why != effect.UnkeptChanged ||
		l[1].Path != "big.log" || l[1].Why != effect.UnkeptLarge {
		t.Fatalf("%+v", got.Ignored)
	}
	for name, want := range map[string]string{"big.log": "new\n", "mine.log": "changed since", "small.log": "s",
		"a": "a"} {
		if raw, err := os.ReadFile(r.Path(name)); string(raw) != want {
			t.Errorf("%s: %.20q %v", name, raw, err)
		}
	}
	again := decoded[effect.RestoreResult](t, wantDone(t, restore, e, effect.DoneYes))
	if len(again.Ignored.Lost) != 2 {
		t.Errorf("%+v", again.Ignored)
	}
}

func ignoredEffect(dir string) (effect.Effect, error) {
	e, err := restoreEffect(dir)
	if err != nil {
		return e, err
	}
	spec, err := effect.Decode[effect.RestoreSpec](e.Spec)
	spec.Kept = "chk-1"
	e.Spec = effect.Encode(spec)
	e.Place.Kept = "chk-1"
	return e, err
}

// sceneIgnored takes a checkpoint, has a run leave its work, and is traced while that is taken back.
func sceneIgnored(ctx context.Context, dir string) error {
	point, restore := keeping()
	p := inPlace(dir)
	one := point.Do(context.Background(), made("01", p, effect.CheckpointSpec{Name: "chk-1", Ignored: true}), nil)
	result, err := effect.Decode[effect.CheckpointResult](one.Result)
	if err != nil {
		return err
	}
	edits := exec.Command("sh", "-c", "umask 022; rm -rf one.log deep.log e d; echo n > deep.log; echo n >> two.log\n"+
		"chmod 600 a; mkfifo p; echo n > n.log; echo n > d")
	edits.Dir = dir
	if err := edits.Run(); err != nil {
		return err
	}
	p.Kept = "chk-1"
	left, err := checkpoint.NewSnapshotter(nil).Snapshot(context.Background(), p)
	if err != nil {
		return err
	}
	if err := os.WriteFile(dir+noteFile, []byte(result.Tree+" "+left), 0o644); err != nil {
		return err
	}
	e, err := ignoredEffect(dir)
	if err != nil {
		return err
	}
	return restore.Do(ctx, e, nil).Err()
}

func TestKilledWhileBringingBackIgnored(t *testing.T) {
	t.Parallel()
	r := gittest.New(t, files)
	r.Write(map[string]string{"one.log": "one", "two.log": "two", "deep.log/in": "in", "e/": "", "mine": "u"})
	gittest.Play(t, r.Dir, "ln one.log hard.log; chmod 4750 two.log; chmod 700 e")
	want := gittest.Manifest(t, r.Dir)
	gittest.KillEverywhere(t, "ignored", r.Dir, func(t *testing.T, dir string) {
		e, err := ignoredEffect(dir)
		if err != nil {
			t.Fatal(err)
		}
		_, restore := keeping()
		recoverFrom(t, restore, e)
		if got := gittest.Manifest(t, dir); got != want {
			t.Fatal(gittest.Differing(got, want))
		}
	})
}
