package checkpoint_test

import (
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"pawl/driver/checkpoint"
	"pawl/internal/gittest"
	"pawl/kernel/effect"
	"pawl/sandbox/git"
)

// manifest reads a folder: type, all mode bits, target or content of every path, and which names are one file.
func manifest(t testing.TB, dir string) string {
	t.Helper()
	var lines []string
	first := map[uint64]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		if rel == ".git" || rel == ".pawl" {
			return fs.SkipDir
		}
		info, err := d.Info()
		if err != nil || rel == "." {
			return err
		}
		line := fmt.Sprintf("%q %v", rel, info.Mode())
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			lines = append(lines, fmt.Sprintf("%q link %q", rel, target))
			return err
		case info.Mode().IsRegular():
			raw, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			st := info.Sys().(*syscall.Stat_t)
			if one, ok := first[st.Ino]; ok {
				line += fmt.Sprintf(" = %q", one)
			} else {
				first[st.Ino] = rel
			}
			line += fmt.Sprintf(" %q", raw)
		}
		lines = append(lines, line)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	sort.Strings(lines)
	return strings.Join(lines, "\n")
}

// scriptNames are what the scripts use: tracked, untracked and ignored ones, some each other's folders, some odd.
var scriptNames = []string{"a", "d/x", "d", "run", "link", "文", "bin", "u", "u/v", "new/deep/er", "x.log", "d/y.log",
	"ign/data", "ign/sub/z", "ign", "build.log/in", "sp ace", "-dash.log", "q'uo\"te", "new\nline.log", "$(id)",
	"back\\slash", "e/", "ign/e/", "u/e/", "d/e/", strings.Repeat("long", 50) + ".log", "ign/" + strings.Repeat("n", 200)}

// script is a shell script of random edits. What the disk refuses, such as a file below a file, is no edit.
func script(r *rand.Rand) string {
	var b strings.Builder
	name := func() string {
		return "'./" + strings.ReplaceAll(scriptNames[r.IntN(len(scriptNames))], "'", `'\''`) + "'"
	}
	texts := []string{"", "text\\n", "crlf\\r\\n", "\\0\\377bin", "no end", strings.Repeat("long ", 400)}
	text := func() string { return "'" + texts[r.IntN(len(texts))] + strconv.Itoa(r.IntN(9)) + "'" }
	modes := []string{"640", "600", "4755", "2755", "1777", "700", "750", "444", "755", "644"}
	for range 1 + r.IntN(12) {
		a := name()
		switch r.IntN(14) {
		case 0, 1:
			fmt.Fprintf(&b, "mkdir -p \"$(dirname -- %s)\"; [ -p %s ] || printf %s > %s\n", a, a, text(), a)
		case 2:
			fmt.Fprintf(&b, "[ -p %s ] || printf %s >> %s\n", a, text(), a)
		case 3:
			fmt.Fprintf(&b, "[ -p %s ] || : > %s\n", a, a)
		case 4, 5:
			fmt.Fprintf(&b, "chmod %s -- %s\n", modes[r.IntN(len(modes))], a)
		case 6:
			fmt.Fprintf(&b, "mv -f -- %s %s\n", a, name())
		case 7:
			fmt.Fprintf(&b, "rm -f -- %s\n", a)
		case 8:
			fmt.Fprintf(&b, "rm -rf -- %s\n", a)
		case 9:
			fmt.Fprintf(&b, "ln -sfn -- %s %s\n", name(), a)
		case 10:
			fmt.Fprintf(&b, "ln -f -- %s %s\n", name(), a)
		case 11:
			fmt.Fprintf(&b, "mkdir -p -- %s\n", a)
		case 12:
			fmt.Fprintf(&b, "rm -rf -- %s; mkdir -p -- %s; printf %s > %s/in\n", a, a, text(), a)
		case 13:
			fmt.Fprintf(&b, "mkfifo -m 600 -- %s\n", a)
		}
	}
	return b.String()
}

func play(t *testing.T, dir, text string) {
	t.Helper()
	cmd := exec.Command("sh", "-c", "umask 022\n"+text)
	cmd.Dir = dir
	_ = cmd.Run() // an edit that is refused is none
}

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
	play(t, repo.Dir, script(r)+script(r)+script(r))
	repo.Write(map[string]string{".gitignore": "*.log\nign\n/.pawl\n"})
	return repo.Dir
}

// How many random scripts are tried: a few unless all are asked for.
func scripts() int {
	if n, err := strconv.Atoi(os.Getenv("PAWL_SCRIPTS")); err == nil {
		return n
	}
	return 40
}

func TestScriptsInPlace(t *testing.T) {
	t.Parallel()
	for seed := range scripts() {
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
	before, text := manifest(t, dir), script(r)
	play(t, dir, text)
	p.Kept = made1.Name
	left := snapshot(t, p)
	after := manifest(t, dir)
	undo := made("02", p, effect.RestoreSpec{Target: made1.Tree, Expect: left, Kept: made1.Name, Safety: "safe-1"})
	undone := do[effect.RestoreResult](t, restore, undo)
	if got := manifest(t, dir); got != before {
		t.Fatalf("seed %d undo: %s\n%s\nscript\n%s", seed, differing(got, before), lost(undone), text)
	}
	wantDone(t, restore, undo, effect.DoneYes)
	redo := made("03", p, effect.RestoreSpec{Target: undone.Before, Expect: undone.After,
		Kept: undone.Ignored.Kept, Safety: "safe-2"})
	redone := do[effect.RestoreResult](t, restore, redo)
	if got := manifest(t, dir); got != after {
		t.Fatalf("seed %d redo: %s\n%s\nscript\n%s", seed, differing(got, after), lost(redone), text)
	}
	do[effect.RestoreResult](t, restore, made("04", p, effect.RestoreSpec{Target: redone.Before, Expect: redone.After,
		Kept: redone.Ignored.Kept, Safety: "safe-3"}))
	if got := manifest(t, dir); got != before {
		t.Fatalf("seed %d undo again: %s\nscript\n%s", seed, differing(got, before), text)
	}
}

func lost(r effect.RestoreResult) string {
	if r.Ignored == nil {
		return ""
	}
	return fmt.Sprintf("%+v kept %q", *r.Ignored, r.Kept)
}

func differing(got, want string) string {
	var b strings.Builder
	in := func(list, l string) bool { return strings.Contains("\n"+list+"\n", "\n"+l+"\n") }
	for l := range strings.SplitSeq(got, "\n") {
		if !in(want, l) {
			b.WriteString("\n got  " + l[:min(len(l), 200)])
		}
	}
	for l := range strings.SplitSeq(want, "\n") {
		if !in(got, l) {
			b.WriteString("\n want " + l[:min(len(l), 200)])
		}
	}
	return b.String()
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
	play(t, r.Dir, "echo new > big.log; echo new > small.log; echo new > mine.log; echo new > a")
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
	play(t, r.Dir, "ln one.log hard.log; chmod 4750 two.log; chmod 700 e")
	want := manifest(t, r.Dir)
	gittest.KillEverywhere(t, "ignored", r.Dir, func(t *testing.T, dir string) {
		e, err := ignoredEffect(dir)
		if err != nil {
			t.Fatal(err)
		}
		_, restore := keeping()
		recoverFrom(t, restore, e)
		if got := manifest(t, dir); got != want {
			t.Fatal(differing(got, want))
		}
	})
}
