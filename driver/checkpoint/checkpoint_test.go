package checkpoint_test

import (
	"context"
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pawl"
	"pawl/driver/checkpoint"
	"pawl/internal/gittest"
	"pawl/kernel/effect"
	"pawl/sandbox/git"
)

func TestMain(m *testing.M) {
	os.Exit(gittest.Isolate(m, map[string]gittest.Scene{"restore": sceneRestore, "worktree": sceneWorktree,
		"cleanup": sceneCleanup, "remember": sceneRemember, "fill": sceneFill, "refill": sceneRefill,
		"take": sceneTake, "ignored": sceneIgnored}))
}

type driver interface {
	Do(context.Context, effect.Effect, effect.Progress) effect.Receipt
	Done(context.Context, effect.Effect) (effect.Answer, effect.Receipt)
}

var files = map[string]string{
	"a": "a\n", "run": "#!/bin/sh\n", "link": "-> a", "d/x": "x\n", "bin": "\x00\xff", ".gitignore": "*.log\n/.pawl\n",
	"文":              "名\n",
	".gitattributes": "* text=auto eol=crlf\n",
}

func inPlace(dir string) effect.Place {
	return effect.Place{Workspace: dir, Tree: dir, Git: true, InPlace: true}
}

func inWorktree(dir string) effect.Place {
	return effect.Place{Workspace: dir, Tree: dir + "/.pawl/worktrees/t1", Git: true}
}

func made(id string, p effect.Place, spec any) effect.Effect {
	return effect.Effect{ID: id, Session: "S1", Task: "T1", Place: p, Spec: effect.Encode(spec)}
}

func do[T any](t testing.TB, d driver, e effect.Effect) T {
	t.Helper()
	return decoded[T](t, d.Do(context.Background(), e, nil))
}

func decoded[T any](t testing.TB, r effect.Receipt) T {
	t.Helper()
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	v, err := effect.Decode[T](r.Result)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func wantDone(t testing.TB, d driver, e effect.Effect, want effect.Answer) effect.Receipt {
	t.Helper()
	answer, r := d.Done(context.Background(), e)
	if answer != want {
		t.Fatalf("done: %s (%v), want %s", answer, r.Err(), want)
	}
	return r
}

func snapshot(t testing.TB, p effect.Place) string {
	t.Helper()
	tree, err := checkpoint.NewSnapshotter(&git.Memory{}).Snapshot(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// docs/spec/session.md#a9: names as the seed writes them, and two in a minute.
func TestPoint(t *testing.T) {
	t.Parallel()
	r := gittest.New(t, files)
	r.Write(map[string]string{"untracked": "u", "x.log": "no"})
	d := checkpoint.NewPoint(nil)
	e := made("01", inPlace(r.Dir), effect.CheckpointSpec{Name: "chk-202602081200"})
	wantDone(t, d, e, effect.DoneNo)
	status, index := r.Git("status", "--porcelain"), r.Git("ls-files", "-s")
	one := do[effect.CheckpointResult](t, d, e)
	if one.Name != "chk-202602081200" || one.Ref != "refs/pawl/chk-202602081200" ||
		r.Own("rev-parse", one.Ref) != one.Commit || r.Own("rev-parse", one.Ref+"^{tree}") != one.Tree {
		t.Fatalf("%+v", one)
	}
	if got := r.Own("ls-tree", "-r", "--name-only", one.Ref); !strings.Contains(got, "untracked") ||
		strings.Contains(got, "x.log") {
		t.Fatal(got)
	}
	if again := decoded[effect.CheckpointResult](t, wantDone(t, d, e, effect.DoneYes)); !reflect.DeepEqual(again, one) {
		t.Fatalf("%+v", again)
	}
	r.Write(map[string]string{"a": "later"})
	if again := do[effect.CheckpointResult](t, d, e); !reflect.DeepEqual(again, one) {
		t.Fatalf("a repetition made another checkpoint: %+v", again)
	}
	other := made("02", inPlace(r.Dir), effect.CheckpointSpec{Name: "chk-202602081200"})
	two := do[effect.CheckpointResult](t, d, other)
	if two.Name != "chk-202602081200-2" || two.Tree == one.Tree {
		t.Fatalf("%+v", two)
	}
	if got := wantDone(t, d, other, effect.DoneYes); !json.Valid(got.Result) {
		t.Fatal("no result")
	}
	if r.Git("tag") != "" || r.Git("ls-files", "-s") != index ||
		!strings.Contains(r.Git("status", "--porcelain"), status) {
		t.Fatal("the user's repository shows the checkpoint")
	}
	if undone := d.Undo(context.Background(), e, effect.Succeeded(one)); undone.Err() != nil {
		t.Fatal(undone.Err())
	}
	wantDone(t, d, e, effect.DoneNo)
	for _, name := range []string{"", "a b", "../x", "-x", "x.lock", "a/b", strings.Repeat("x", 200)} {
		if bad := d.Do(context.Background(), made("03", inPlace(r.Dir), effect.CheckpointSpec{Name: name}),
			nil); bad.Code != pawl.CodeInvalid {
			t.Errorf("name %q: %+v", name, bad)
		}
	}
}

func TestWorktree(t *testing.T) {
	t.Parallel()
	r := gittest.New(t, files)
	base := r.Head()
	r.Write(map[string]string{"a": "dirty", "untracked": "u"})
	tree := gittest.Tree(t, r.Dir)
	p := inWorktree(r.Dir)
	d := checkpoint.NewWorktree(nil)
	e := made("01", p, effect.WorktreeSpec{Base: base})
	wantDone(t, d, e, effect.DoneNo)
	if got := do[effect.WorktreeResult](t, d, e).Tree; got != r.Git("rev-parse", base+"^{tree}") {
		t.Fatal(got)
	}
	clean := gittest.New(t, files)
	if got, want := gittest.Tree(t, p.Tree), gittest.Tree(t, clean.Dir); got != want {
		t.Fatalf("got\n%s\nwant\n%s", got, want)
	}
	if gittest.Tree(t, r.Dir) != tree || r.Head() != base {
		t.Fatal("the user's tree changed")
	}
	inside := gittest.At(t, p.Tree)
	if got := inside.Git("status", "--porcelain"); got != "" || inside.Head() != base ||
		inside.Git("branch", "--show-current") != "" {
		t.Errorf("status inside: %q", got)
	}
	wantDone(t, d, e, effect.DoneYes)
	do[effect.WorktreeResult](t, d, e)
	// Half made, moved away, or spoiled: made again.
	gittest.Write(t, p.Tree, map[string]string{"a": "spoiled", ".git": "gitdir: /nowhere\n"})
	spoiled := snapshot(t, p)
	wantDone(t, d, e, effect.DoneNo)
	do[effect.WorktreeResult](t, d, e)
	r.Own("cat-file", "-e", spoiled+"^{tree}") // what was there is not lost
	os.RemoveAll(p.Tree)
	wantDone(t, d, e, effect.DoneNo)
	do[effect.WorktreeResult](t, d, e)
	if got := strings.Count(r.Git("worktree", "list"), "\n"); got != 1 {
		t.Fatalf("%s", r.Git("worktree", "list"))
	}
	c := checkpoint.NewCleanup(nil)
	kept := do[effect.CleanupResult](t, c, made("02", p, effect.CleanupSpec{KeepTree: true}))
	if len(kept.Skipped) != 1 || len(kept.Performed) != 1 {
		t.Fatalf("%+v", kept)
	}
	os.MkdirAll(p.Tree+"/locked/inner", 0o755)
	os.Chmod(p.Tree+"/locked", 0o500)
	for range 2 {
		sum := do[effect.CleanupResult](t, c, made("03", p, effect.CleanupSpec{}))
		if len(sum.Performed) != 2 || len(sum.Failed)+len(sum.Skipped) != 0 {
			t.Fatalf("%+v", sum)
		}
	}
	if _, err := os.Lstat(p.Tree); err == nil || strings.Contains(r.Git("worktree", "list"), "t1") {
		t.Fatal("the worktree is still there")
	}
	if gittest.Tree(t, r.Dir) != tree {
		t.Fatal("the user's tree changed")
	}
}

func TestWorktreeRefusals(t *testing.T) {
	t.Parallel()
	r := gittest.New(t, files)
	d := checkpoint.NewWorktree(nil)
	fails := func(e effect.Effect, key string) {
		t.Helper()
		if receipt := d.Do(context.Background(), e, nil); receipt.Key != key {
			t.Errorf("%+v, want %s", receipt, key)
		}
	}
	p := inWorktree(r.Dir)
	base := r.Head()
	fails(made("01", p, effect.WorktreeSpec{Base: "main"}), "git.bad_id")
	fails(made("01", p, effect.WorktreeSpec{Base: strings.Repeat("1", 40)}), "git.object_missing")
	fails(made("01", p, effect.WorktreeSpec{}), "git.bad_id")
	out := p
	out.Tree = t.TempDir()
	fails(made("01", out, effect.WorktreeSpec{Base: base}), "git.outside")
	r.Write(map[string]string{".git/MERGE_HEAD": base + "\n"})
	fails(made("01", p, effect.WorktreeSpec{Base: base}), "git.operation")
	os.Remove(r.Path(".git/MERGE_HEAD"))
	r.Git("checkout", "-q", "--orphan", "fresh")
	fails(made("01", p, effect.WorktreeSpec{Base: base}), "git.unborn")
	if _, err := os.Lstat(p.Tree); err == nil {
		t.Error("a refused worktree was made")
	}
}

// A worktree of a worktree of the user's, and one with submodules.
func TestWorktreeOfLinkedWorktree(t *testing.T) {
	t.Parallel()
	r := gittest.New(t, files)
	sub := gittest.New(t, map[string]string{"s": "s"})
	r.Git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", sub.Dir, "mod")
	r.Commit("with submodule")
	linked := t.TempDir() + "/linked 文"
	r.Git("worktree", "add", "-q", "-b", "side", linked)
	p := inWorktree(linked)
	d := checkpoint.NewWorktree(nil)
	e := made("01", p, effect.WorktreeSpec{Base: r.Head()})
	tree := do[effect.WorktreeResult](t, d, e).Tree
	if tree != r.Git("rev-parse", "HEAD^{tree}") || snapshot(t, p) != tree {
		t.Fatal(tree)
	}
	wantDone(t, d, e, effect.DoneYes)
	do[effect.CheckpointResult](t, checkpoint.NewPoint(nil), made("02", p, effect.CheckpointSpec{Name: "chk-1"}))
	if got := gittest.At(t, linked).Own("for-each-ref", "--format=%(refname)", "refs/pawl/chk-1"); got == "" {
		t.Fatal("no checkpoint in pawl's own git directory")
	}
	do[effect.CleanupResult](t, checkpoint.NewCleanup(nil), made("03", p, effect.CleanupSpec{}))
	if got := strings.Count(r.Git("worktree", "list"), "\n"); got != 1 {
		t.Fatal(r.Git("worktree", "list"))
	}
}

func TestRestore(t *testing.T) {
	t.Parallel()
	r := gittest.New(t, files)
	p := inPlace(r.Dir)
	r.Write(map[string]string{"mine": "untracked", "x.log": "ignored", "empty/": ""})
	before := gittest.Tree(t, r.Dir)
	point := do[effect.CheckpointResult](t, checkpoint.NewPoint(nil),
		made("01", p, effect.CheckpointSpec{Name: "chk-202602081200"}))
	os.Remove(r.Path("link"))
	os.RemoveAll(r.Path("d"))
	r.Write(map[string]string{"a": "pawl", "d": "-> a", "new/n": "n", "mine": "pawl too"})
	os.Remove(r.Path("empty"))
	left, after := snapshot(t, p), gittest.Tree(t, r.Dir)
	d := checkpoint.NewRestore(nil)
	e := made("02", p, effect.RestoreSpec{Name: point.Name, Target: point.Tree, Expect: left,
		Safety: "before-rollback-chk-1"})
	wantDone(t, d, e, effect.DoneNo)
	result := do[effect.RestoreResult](t, d, e)
	if got := gittest.Tree(t, r.Dir); got != before {
		t.Fatalf("got\n%s\nwant\n%s", got, before)
	}
	if result.Before != left || result.After != point.Tree ||
		strings.Join(result.Changed, ",") != "a,d,d/x,link,mine,new/n" || len(result.Kept) > 0 {
		t.Fatalf("%+v", result)
	}
	if got := r.Own("rev-parse", "refs/pawl/before-rollback-chk-1^{tree}"); got != left {
		t.Fatal("the safety reference is not what was there")
	}
	if again := decoded[effect.RestoreResult](t, wantDone(t, d, e, effect.DoneYes)); again.Before != left ||
		again.After != point.Tree || len(again.Changed) != 6 {
		t.Fatalf("%+v", again)
	}
	do[effect.RestoreResult](t, d, e)
	if undone := d.Undo(context.Background(), e, effect.Succeeded(result)); undone.Err() != nil ||
		gittest.Tree(t, r.Dir) != after {
		t.Fatalf("%v", undone.Err())
	}
	// Somebody else's change stops it; nothing of it is lost.
	r.Write(map[string]string{"a": "somebody"})
	changed := gittest.Tree(t, r.Dir)
	e = made("03", p, effect.RestoreSpec{Target: point.Tree, Expect: left})
	if receipt := d.Do(context.Background(), e, nil); receipt.Code != pawl.CodeConflict ||
		gittest.Tree(t, r.Dir) != changed {
		t.Fatalf("%+v", receipt)
	}
	wantDone(t, d, e, effect.DoneNo)
}

// history is a tree in which a person and pawl take turns.
type history struct {
	*gittest.Repo
	place effect.Place
	start string
	spans []effect.Span
}

func newHistory(t *testing.T) *history {
	r := gittest.New(t, files)
	h := &history{Repo: r, place: inPlace(r.Dir)}
	h.start = snapshot(t, h.place)
	return h
}

// pawl lets pawl write files in a step.
func (h *history) pawl(t *testing.T, step string, files map[string]string) {
	before := snapshot(t, h.place)
	h.Write(files)
	h.spans = append(h.spans, effect.Span{Step: step, Before: before, After: snapshot(t, h.place)})
}

func (h *history) last() *effect.Span { return &h.spans[len(h.spans)-1] }

func (h *history) restore(id, step string) effect.Effect {
	return made(id, h.place, effect.RestoreSpec{Name: "back", Target: h.start, Expect: h.start, Step: step,
		Spans: h.spans})
}

// Only what pawl changed comes back, whatever a person did before, between and after.
func TestRestoreOfSpans(t *testing.T) {
	t.Parallel()
	h := newHistory(t)
	h.Write(map[string]string{"mine": "before\n", "文": "mine\n"})
	h.pawl(t, "s1", map[string]string{"a": "one\n", "new/n": "n"})
	h.Write(map[string]string{"mine": "between\n", "d/x": "mine\n"})
	h.pawl(t, "s2", map[string]string{"a": "two\n", "bin": "2", "cut": "off"})
	h.last().Cut = true
	// What a person changed and put back is no conflict.
	h.Write(map[string]string{"later": "after\n", "new/n": "mine"})
	h.pawl(t, "s3", map[string]string{"later3": "3"})
	h.last().Undone = true
	os.Remove(h.Path("later3"))
	h.Write(map[string]string{"new/n": "n"})
	h.pawl(t, "s4", map[string]string{"four": "4"})
	e := h.restore("01", "")
	result := do[effect.RestoreResult](t, checkpoint.NewRestore(nil), e)
	for name, want := range map[string]string{"a": "a\n", "bin": "\x00\xff", "mine": "between\n", "d/x": "mine\n",
		"文": "mine\n", "later": "after\n", "new/n": "", "cut": "", "four": ""} {
		if got, _ := os.ReadFile(h.Path(name)); string(got) != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if got := strings.Join(result.Changed, ","); got != "a,bin,cut,four,new/n" {
		t.Errorf("changed %s", got)
	}
	if got := strings.Join(result.Cut, ","); got != "a,bin,cut" {
		t.Errorf("changed by what was cut off: %s", got)
	}
	slices.Sort(result.Kept)
	if got := strings.Join(result.Kept, ","); got != "d/x,later,mine,文" {
		t.Errorf("kept %s", got)
	}
	again := decoded[effect.RestoreResult](t, wantDone(t, checkpoint.NewRestore(nil), e, effect.DoneYes))
	if strings.Join(again.Changed, ",") != "a,bin,cut,four,new/n" || strings.Join(again.Cut, ",") != "a,bin,cut" {
		t.Errorf("%+v", again)
	}
	// The way there and back again.
	back := made("02", h.place, effect.RestoreSpec{Name: "redo", Target: result.Before, Expect: result.After})
	do[effect.RestoreResult](t, checkpoint.NewRestore(nil), back)
	if got, _ := os.ReadFile(h.Path("a")); string(got) != "two\n" {
		t.Errorf("brought back %q", got)
	}
}

// A file of pawl's that a person changed too stops the restoration, whenever that was.
func TestRestoreOfSpansConflicts(t *testing.T) {
	t.Parallel()
	mine := map[string]string{"a": "mine\n"}
	for name, play := range map[string]func(h *history){
		"before": func(h *history) { h.Write(mine); h.pawl(t, "s1", map[string]string{"a": "pawl\n"}) },
		"between": func(h *history) {
			h.pawl(t, "s1", map[string]string{"a": "pawl\n"})
			h.Write(mine)
			h.pawl(t, "s2", map[string]string{"bin": "2"})
		},
		"after": func(h *history) { h.pawl(t, "s1", map[string]string{"a": "pawl\n"}); h.Write(mine) },
		"while only another file could be written": func(h *history) {
			h.pawl(t, "s1", map[string]string{"a": "pawl\n"})
			h.pawl(t, "s2", map[string]string{"a": "mine\n", "bin": "2"})
			h.last().Cut, h.last().Files = true, []string{"bin"}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHistory(t)
			play(h)
			there := gittest.Tree(t, h.Dir)
			r := checkpoint.NewRestore(nil).Do(context.Background(), h.restore("01", ""), nil)
			if r.Code != pawl.CodeConflict || len(r.Args) == 0 || r.Args[0] != `"a"` ||
				gittest.Tree(t, h.Dir) != there {
				t.Errorf("%+v", r)
			}
			wantDone(t, checkpoint.NewRestore(nil), h.restore("01", ""), effect.DoneNo)
		})
	}
}

func TestRestoreOfAStep(t *testing.T) {
	t.Parallel()
	h := newHistory(t)
	h.pawl(t, "s1", map[string]string{"a": "one\n"})
	h.pawl(t, "s2", map[string]string{"a": "two\n", "bin": "2"})
	h.pawl(t, "s3", map[string]string{"文": "3\n", "new/n": "n"})
	h.Write(map[string]string{"mine": "m"})
	d := checkpoint.NewRestore(nil)
	for step, key := range map[string]string{"s1": "point.later_step", "s9": "point.nothing_to_undo"} {
		if r := d.Do(context.Background(), h.restore("0"+step, step), nil); r.Key != key {
			t.Errorf("step %s: %+v, want %s", step, r, key)
		}
	}
	result := do[effect.RestoreResult](t, d, h.restore("02", "s2"))
	if got, _ := os.ReadFile(h.Path("a")); string(got) != "one\n" || strings.Join(result.Changed, ",") != "a,bin" ||
		len(result.Kept) > 0 {
		t.Fatalf("%q %+v", got, result)
	}
	// With the later step undone, the earlier one can be undone as well, and then the rest.
	h.spans[1].Undone = true
	h.spans = append(h.spans, effect.Span{Before: result.Before, After: result.After, Undone: true})
	result = do[effect.RestoreResult](t, d, h.restore("03", "s1"))
	h.spans[0].Undone = true
	h.spans = append(h.spans, effect.Span{Before: result.Before, After: result.After, Undone: true})
	result = do[effect.RestoreResult](t, d, h.restore("04", ""))
	if strings.Join(result.Changed, ",") != "new/n,文" || strings.Join(result.Kept, ",") != "mine" {
		t.Fatalf("%+v", result)
	}
}

func TestSnapshotter(t *testing.T) {
	t.Parallel()
	r := gittest.New(t, files)
	p := inPlace(r.Dir)
	s := checkpoint.NewSnapshotter(&git.Memory{})
	ctx := context.Background()
	from := snapshot(t, p)
	r.Write(map[string]string{"a": "b\n"})
	to := snapshot(t, p)
	stats, err := s.Diff(ctx, p, from, to)
	if err != nil || len(stats) != 1 || stats[0] != (effect.FileStat{Path: "a", Status: "M", Added: 1, Removed: 1}) {
		t.Fatalf("%+v %v", stats, err)
	}
	if patch, cut, err := checkpoint.Patch(ctx, p, from, to); err != nil || cut ||
		!strings.Contains(patch, "-a\n+b\n") {
		t.Fatalf("%q %v", patch, err)
	}
	if stats, err := s.Diff(ctx, p, "", to); err != nil || len(stats) != len(files) {
		t.Fatalf("%+v %v", stats, err)
	}
	if _, err := s.Diff(ctx, p, "--output=x", to); pawl.CodeOf(err) != pawl.CodeInvalid {
		t.Fatal(err)
	}
}

// Cases 31 to 37 of docs/spec/threats.md#git, through the drivers.
func TestHostileRepository(t *testing.T) {
	t.Parallel()
	r := gittest.New(t, gittest.HostileFiles())
	p := inWorktree(r.Dir)
	canary := r.Trap()
	raw, err := os.ReadFile(r.Path(".git/refs/heads/main"))
	if err != nil {
		t.Fatal(err)
	}
	base := strings.TrimSpace(string(raw))
	do[effect.WorktreeResult](t, checkpoint.NewWorktree(nil), made("01", p, effect.WorktreeSpec{Base: base}))
	gittest.Quiet(t, canary)
	for _, at := range []effect.Place{p, inPlace(r.Dir)} {
		point := do[effect.CheckpointResult](t, checkpoint.NewPoint(nil),
			made("02"+at.Tree[len(at.Tree)-1:], at, effect.CheckpointSpec{Name: "chk-1"}))
		gittest.Write(t, at.Tree, map[string]string{"a": "changed", "d/new": "n",
			"sub/.git/config": "[core]\n\tfsmonitor = touch x\n", "sub/f": "f"})
		gittest.Quiet(t, canary)
		do[effect.RestoreResult](t, checkpoint.NewRestore(nil),
			made("03"+at.Tree[len(at.Tree)-1:], at, effect.RestoreSpec{Target: point.Tree}))
		gittest.Quiet(t, canary)
	}
	do[effect.CleanupResult](t, checkpoint.NewCleanup(nil), made("04", p, effect.CleanupSpec{}))
	gittest.Quiet(t, canary)
}
