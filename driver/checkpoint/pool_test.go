package checkpoint_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"pawl"
	"pawl/driver/checkpoint"
	"pawl/internal/gittest"
	"pawl/kernel/effect"
	"pawl/sandbox/git"
)

func poolOf(dir string, size int) checkpoint.Pool {
	return checkpoint.NewPool(nil, effect.Place{Workspace: dir, Tree: dir, Git: true}, size)
}

func filled(t testing.TB, dir string, size int) checkpoint.Pool {
	t.Helper()
	p := poolOf(dir, size)
	fill(t, p)
	return p
}

func fill(t testing.TB, p checkpoint.Pool) {
	t.Helper()
	if err := p.Fill(context.Background()); err != nil {
		t.Fatal(err)
	}
}

func task(dir string, n int) effect.Place {
	return effect.Place{Workspace: dir, Tree: fmt.Sprintf("%s/.pawl/worktrees/t%d", dir, n), Git: true}
}

func take(t testing.TB, p checkpoint.Pool, to effect.Place, base string) (tree string, ok bool) {
	t.Helper()
	tree, ok, err := p.Take(context.Background(), to, base)
	if err != nil {
		t.Fatal(err)
	}
	return tree, ok
}

// warm names the folders of warm worktrees.
func warm(t testing.TB, dir string) []string {
	t.Helper()
	found, err := filepath.Glob(dir + "/.pawl/worktrees/warm-*")
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// sound checks what must hold of a repository's worktrees at any time: the user's git knows each of them, none is gone,
// and beside those named there are only warm ones, each with its note.
func sound(t testing.TB, dir string, ready int, tasks ...effect.Place) {
	t.Helper()
	r := gittest.At(t, dir)
	list := r.Git("worktree", "list", "--porcelain")
	if got := strings.Count(list, "\nworktree "); got != ready+len(tasks) || strings.Contains(list, "prunable") ||
		strings.Contains(r.Git("worktree", "prune", "-n", "-v"), "Removing") {
		t.Errorf("want %d and %d worktrees:\n%s", ready, len(tasks), list)
	}
	if strings.Count(list, "locked pawl: kept ready for a task\n") != ready ||
		strings.Contains(list, "branch refs/heads/main\n\nbranch") {
		t.Errorf("want %d that are locked:\n%s", ready, list)
	}
	for _, p := range tasks {
		if !strings.Contains(list, "\nworktree "+p.Tree+"\n") {
			t.Errorf("%s is not a worktree", p.Tree)
		}
	}
	notes, _ := filepath.Glob(dir + "/.pawl/git/warm/warm-*")
	folders, _ := os.ReadDir(dir + "/.pawl/worktrees")
	if len(notes) != 2*ready || len(folders) != ready+len(tasks) || len(warm(t, dir)) != ready {
		t.Errorf("notes %q, folders %v", notes, folders)
	}
}

// is checks that a task's worktree is what Worktree would have made.
func is(t testing.TB, dir string, p effect.Place, base, want string) {
	t.Helper()
	inside := gittest.At(t, p.Tree)
	if got := inside.Git("status", "--porcelain", "--ignored"); got != "" || inside.Head() != base ||
		inside.Git("branch", "--show-current") != "" {
		t.Errorf("%s is at %s with %q", p.Tree, inside.Head(), got)
	}
	if got := gittest.Tree(t, p.Tree); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	e := made("01", p, effect.WorktreeSpec{Base: base})
	result := decoded[effect.WorktreeResult](t, wantDone(t, checkpoint.NewWorktree(nil), e, effect.DoneYes))
	if result.Tree != gittest.At(t, dir).Git("rev-parse", base+"^{tree}") || snapshot(t, p) != result.Tree {
		t.Errorf("the tree is %s", result.Tree)
	}
}

func TestPool(t *testing.T) {
	t.Parallel()
	r := gittest.New(t, files)
	clean := gittest.Tree(t, r.Dir)
	first := r.Head()
	r.Write(map[string]string{"a": "second\n", "d2/new": "n\n"})
	os.RemoveAll(r.Path("d"))
	head := r.Commit("second")
	second := gittest.Tree(t, r.Dir)
	r.Write(map[string]string{"a": "dirty\n", "untracked": "u"})
	before, refs := gittest.Tree(t, r.Dir), r.Git("for-each-ref", "refs/heads")
	p := filled(t, r.Dir, 3)
	sound(t, r.Dir, 3)
	fill(t, p)
	sound(t, r.Dir, 3)

	if tree, ok := take(t, p, task(r.Dir, 1), head); !ok || tree != r.Git("rev-parse", head+"^{tree}") {
		t.Fatalf("took %q %t", tree, ok)
	}
	is(t, r.Dir, task(r.Dir, 1), head, second)
	// Another commit than the pool's.
	if tree, ok := take(t, p, task(r.Dir, 2), first); !ok || tree != r.Git("rev-parse", first+"^{tree}") {
		t.Fatalf("took %q %t", tree, ok)
	}
	is(t, r.Dir, task(r.Dir, 2), first, clean)
	sound(t, r.Dir, 1, task(r.Dir, 1), task(r.Dir, 2))
	// The driver takes what is ready, and makes one where nothing is.
	for n := 3; n <= 4; n++ {
		do[effect.WorktreeResult](t, checkpoint.NewWorktree(&git.Memory{}),
			made("01", task(r.Dir, n), effect.WorktreeSpec{Base: head}))
		is(t, r.Dir, task(r.Dir, n), head, second)
	}
	sound(t, r.Dir, 0, task(r.Dir, 1), task(r.Dir, 2), task(r.Dir, 3), task(r.Dir, 4))
	if _, ok := take(t, p, task(r.Dir, 5), head); ok {
		t.Fatal("took one where none is ready")
	}
	fill(t, p)
	if _, ok := take(t, p, task(r.Dir, 4), head); ok {
		t.Fatal("took one over a task's own")
	}
	// A removal that was cut short after the folder leaves nothing either, once any cleanup has run.
	os.RemoveAll(task(r.Dir, 1).Tree)
	for n := 2; n <= 4; n++ {
		do[effect.CleanupResult](t, checkpoint.NewCleanup(nil), made("02", task(r.Dir, n), effect.CleanupSpec{}))
	}
	sound(t, r.Dir, 3)
	if gittest.Tree(t, r.Dir) != before || r.Git("for-each-ref", "refs/heads") != refs || r.Head() != head {
		t.Error("something of the user's changed")
	}
	// After the branch has moved they go with it, and surplus ones go.
	r.Git("stash", "-q", "-u")
	r.Git("reset", "-q", "--hard", first)
	p = filled(t, r.Dir, 2)
	sound(t, r.Dir, 2)
	for _, dir := range warm(t, r.Dir) {
		if gittest.At(t, dir).Head() != first || gittest.Tree(t, dir) != clean {
			t.Errorf("%s is not at the branch", dir)
		}
	}
	if err := p.Drain(context.Background()); err != nil {
		t.Fatal(err)
	}
	sound(t, r.Dir, 0)
}

// One that anybody touched, in whatever way, is thrown away: by Take, and by Fill.
func TestTouched(t *testing.T) {
	t.Parallel()
	r := gittest.New(t, files)
	head, want := r.Head(), gittest.Tree(t, r.Dir)
	ways := map[string]func(dir string) error{
		"content": func(dir string) error { return os.WriteFile(dir+"/a", []byte("b\n"), 0o644) },
		"content and time": func(dir string) error {
			info, err := os.Stat(dir + "/a")
			if err == nil {
				err = os.WriteFile(dir+"/a", []byte("b\n"), 0o644)
			}
			if err == nil {
				err = os.Chtimes(dir+"/a", info.ModTime(), info.ModTime())
			}
			return err
		},
		"ignored":    func(dir string) error { return os.WriteFile(dir+"/d/x.log", nil, 0o644) },
		"untracked":  func(dir string) error { return os.WriteFile(dir+"/u", nil, 0o644) },
		"folder":     func(dir string) error { return os.Mkdir(dir+"/empty", 0o755) },
		"permission": func(dir string) error { return os.Chmod(dir+"/a", 0o600) },
		"gone":       func(dir string) error { return os.Remove(dir + "/d/x") },
		"other name": func(dir string) error { return os.Link(dir+"/a", r.Path(".pawl/another-name")) },
		"git file": func(dir string) error {
			return os.WriteFile(dir+"/.git", []byte("gitdir: "+r.Path(".git")+"\n"), 0o644)
		},
		"moved": func(dir string) error { return os.Rename(dir, dir+"-away") },
	}
	p := filled(t, r.Dir, len(ways))
	i, dirs := 0, warm(t, r.Dir)
	for name, touch := range ways {
		if err := touch(dirs[i]); err != nil {
			t.Fatal(name, err)
		}
		i++
	}
	if _, ok := take(t, p, task(r.Dir, 1), head); ok {
		t.Fatal("one that was touched was handed out")
	}
	if _, err := os.Lstat(task(r.Dir, 1).Tree); err == nil {
		t.Fatal("one that was touched stands at the task's place")
	}
	p = filled(t, r.Dir, 1)
	sound(t, r.Dir, 1)
	if err := ways["ignored"](warm(t, r.Dir)[0]); err != nil {
		t.Fatal(err)
	}
	fill(t, p)
	sound(t, r.Dir, 1)
	if _, ok := take(t, p, task(r.Dir, 1), head); !ok {
		t.Fatal("nothing was ready")
	}
	is(t, r.Dir, task(r.Dir, 1), head, want)
}

// However many take and fill at the same time, each worktree goes to one of them.
func TestPoolRace(t *testing.T) {
	t.Parallel()
	r := gittest.New(t, files)
	head, want := r.Head(), gittest.Tree(t, r.Dir)
	const ready, takers = 4, 9
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			if err := poolOf(r.Dir, ready).Fill(context.Background()); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	sound(t, r.Dir, ready)
	var mu sync.Mutex
	var places []effect.Place
	for n := range takers {
		all.Go(func() {
			_, ok, err := poolOf(r.Dir, ready).Take(context.Background(), task(r.Dir, n), head)
			mu.Lock()
			defer mu.Unlock()
			if ok {
				places = append(places, task(r.Dir, n))
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Go(func() {
		if err := poolOf(r.Dir, 0).Drain(context.Background()); err != nil {
			t.Error(err)
		}
	})
	all.Wait()
	if len(places) > ready {
		t.Errorf("%d of %d were taken", len(places), ready)
	}
	for _, p := range places {
		is(t, r.Dir, p, head, want)
	}
	if err := poolOf(r.Dir, 0).Drain(context.Background()); err != nil {
		t.Fatal(err)
	}
	sound(t, r.Dir, 0, places...)
}

// Nothing of the repository's runs for a warm worktree either.
func TestPoolHostile(t *testing.T) {
	t.Parallel()
	r := gittest.New(t, gittest.HostileFiles())
	first := r.Head()
	r.Write(map[string]string{"d/b": "c\n"})
	head := r.Commit("second")
	canary := r.Trap()
	p := filled(t, r.Dir, 2)
	if _, ok := take(t, p, task(r.Dir, 1), r.Head()); !ok || r.Head() == head {
		t.Fatal("nothing was ready")
	}
	if _, ok := take(t, p, task(r.Dir, 2), first); !ok {
		t.Fatal("nothing was ready")
	}
	fill(t, p)
	gittest.Quiet(t, canary)
	if !r.Springs(canary) {
		t.Fatal("the trap does not work")
	}
}

func TestPoolWithoutGit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	gittest.Write(t, dir, map[string]string{"a": "a"})
	at := effect.Place{Workspace: dir, Tree: dir}
	p := checkpoint.NewPool(nil, at, 2)
	fill(t, p)
	to := at
	to.Tree = dir + "/.pawl/worktrees/t1"
	if _, ok := take(t, p, to, ""); ok || len(warm(t, dir)) > 0 {
		t.Error("there is a pool without git")
	}
	if err := p.Drain(context.Background()); err != nil {
		t.Error(err)
	}
	unborn := gittest.At(t, t.TempDir())
	unborn.Git("init", "-q")
	fill(t, poolOf(unborn.Dir, 2))
	if len(warm(t, unborn.Dir)) > 0 {
		t.Error("there is a pool before the first commit")
	}
}

func TestTakeRefusals(t *testing.T) {
	t.Parallel()
	r := gittest.New(t, files)
	p := filled(t, r.Dir, 1)
	for base, code := range map[string]pawl.Code{"main": pawl.CodeInvalid, strings.Repeat("1", 40): pawl.CodeRepository,
		"": pawl.CodeInvalid} {
		if _, ok, err := p.Take(context.Background(), task(r.Dir, 1), base); ok || pawl.CodeOf(err) != code {
			t.Errorf("%q: %t %v", base, ok, err)
		}
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if _, ok, err := p.Take(ended, task(r.Dir, 1), r.Head()); ok || pawl.CodeOf(err) != pawl.CodeCanceled {
		t.Errorf("%t %v", ok, err)
	}
	if _, ok := take(t, p, effect.Place{Workspace: r.Dir, Tree: r.Dir, Git: true}, r.Head()); ok {
		t.Error("the workspace was taken for a place")
	}
	sound(t, r.Dir, 1)
}

func sceneFill(ctx context.Context, dir string) error { return poolOf(dir, 1).Fill(ctx) }

func sceneTake(ctx context.Context, dir string) error {
	if err := sceneFill(context.Background(), dir); err != nil {
		return err
	}
	return sceneWorktree(ctx, dir)
}

func sceneRefill(ctx context.Context, dir string) error {
	if err := sceneFill(context.Background(), dir); err != nil {
		return err
	}
	raw, err := os.ReadFile(dir + noteFile)
	if err == nil {
		err = os.WriteFile(dir+"/.git/refs/heads/main", raw, 0o644)
	}
	if err != nil {
		return err
	}
	return sceneFill(ctx, dir)
}

func TestKilledWhileFilling(t *testing.T) {
	t.Parallel()
	r := gittest.New(t, files)
	other := r.Git("commit-tree", "-m", "other", r.Git("rev-parse", "HEAD:d"))
	gittest.Write(t, r.Dir, map[string]string{noteFile: other + "\n"})
	for _, scene := range []string{"fill", "refill"} {
		t.Run(scene, func(t *testing.T) {
			t.Parallel()
			gittest.KillEverywhere(t, scene, r.Dir, func(t *testing.T, dir string) {
				e, err := worktreeEffect(dir)
				if err != nil {
					t.Fatal(err)
				}
				// Before anything is tidied a task gets what is right.
				recoverFrom(t, checkpoint.NewWorktree(nil), e)
				if inside := gittest.At(t, e.Place.Tree); inside.Head() != gittest.At(t, dir).Head() ||
					inside.Git("status", "--porcelain", "--ignored") != "" {
					t.Error("the task's worktree is not what it should be")
				}
				do[effect.CleanupResult](t, checkpoint.NewCleanup(nil), made("06", e.Place, effect.CleanupSpec{}))
				sound(t, dir, len(warm(t, dir)))
				filled(t, dir, 1)
				sound(t, dir, 1)
			})
		})
	}
}

func TestKilledWhileTaking(t *testing.T) {
	t.Parallel()
	r := gittest.New(t, files)
	want := gittest.Tree(t, r.Dir)
	steps := 0
	for ; ; steps++ {
		dir := gittest.Copy(t, r.Dir)
		if !gittest.KillAt(t, "take", dir, steps+1) {
			break
		}
		e, err := worktreeEffect(dir)
		if err != nil {
			t.Fatal(err)
		}
		recoverFrom(t, checkpoint.NewWorktree(nil), e)
		is(t, dir, e.Place, gittest.At(t, dir).Head(), want)
		do[effect.CleanupResult](t, checkpoint.NewCleanup(nil), made("06", inPlace(dir), effect.CleanupSpec{}))
		sound(t, dir, len(warm(t, dir)), e.Place)
	}
	if steps < 5 {
		t.Errorf("the scene has only %d steps", steps)
	}
}
