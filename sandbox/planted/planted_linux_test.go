package planted

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"pawl/kernel/effect"
	"pawl/sandbox"
)

// runs is a Runner that does something in the place of a command.
type runs func()

func (runs) Layers(context.Context, string) (shows, layered bool) { return false, false }

func (r runs) Run(context.Context, sandbox.Spec) (sandbox.Result, error) {
	r()
	return sandbox.Result{}, nil
}

func write(t *testing.T, parts ...string) string {
	t.Helper()
	file := filepath.Join(parts[:len(parts)-1]...)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(parts[len(parts)-1]), 0o755); err != nil {
		t.Fatal(err)
	}
	return file
}

func repository(t *testing.T, parts ...string) {
	t.Helper()
	dir := filepath.Join(parts...)
	write(t, dir, "HEAD", "ref: refs/heads/main\n")
	write(t, dir, "config", "[core]\n\tfsmonitor = ./x\n")
	for _, d := range []string{"objects", "refs"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

func exists(parts ...string) bool {
	_, err := os.Lstat(filepath.Join(parts...))
	return err == nil
}

// TestPlanted takes out what a command left, in the user's own tree and in one of pawl's, and nothing that was there.
func TestPlanted(t *testing.T) {
	for _, inside := range []string{"", ".pawl/worktrees/t"} {
		tree, out := filepath.Join(t.TempDir(), inside), t.TempDir()
		repository(t, tree, ".git")
		repository(t, tree, "mine/.git")
		repository(t, tree, "fixtures/old.git")
		old := write(t, tree, "old-tool", "x")
		if err := os.Chmod(old, 0o755|os.ModeSetuid); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * slack)
		ctx, taken := Taking(t.Context())
		_, err := (&Box{Runner: runs(func() {
			repository(t, tree, "sub/.git")
			repository(t, tree, "b")
			repository(t, tree, "node_modules/x/.git")
			write(t, tree, "file/.git", "gitdir: ../b\n")
			write(t, tree, "split/HEAD", "ref: refs/heads/main\n")
			write(t, tree, "split/commondir", "../fixtures/old.git\n")
			write(t, tree, "plain/HEAD", "of the list\n")
			for _, d := range []string{"objects", "refs"} {
				write(t, tree, "plain", d, "x", "y")
			}
			repository(t, out, "away")
			_ = os.Symlink(out, filepath.Join(tree, "link"))
			_ = os.Mkdir(filepath.Join(tree, "linked"), 0o755)
			_ = os.Symlink(filepath.Join(out, "away"), filepath.Join(tree, "linked/.git"))
			_ = os.Chmod(write(t, tree, "tool", "x"), 0o755|os.ModeSetuid)
			_ = os.Chmod(write(t, tree, "team", "x"), 0o755|os.ModeSetgid)
		})}).Run(ctx, sandbox.Spec{Tree: tree})
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]effect.TakenKind{}
		for _, f := range taken() {
			got[f.Path] = f.What
			if f.Failed || inside == "" && f.What != effect.TakenRights && !exists(tree, f.To) {
				t.Errorf("%+v", f)
			}
		}
		want := map[string]effect.TakenKind{"sub/.git": effect.TakenRepository, "b": effect.TakenBare,
			"node_modules/x/.git": effect.TakenRepository, "file/.git": effect.TakenRepository, "split": effect.TakenBare,
			"linked/.git": effect.TakenRepository, "tool": effect.TakenRights, "team": effect.TakenRights}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("taken: %v\nwant: %v", got, want)
		}
		for _, gone := range []string{"sub/.git", "b/HEAD", "node_modules/x/.git", "file/.git", "split/HEAD", "linked/.git"} {
			if exists(tree, gone) {
				t.Errorf("%s is still there", gone)
			}
		}
		for _, kept := range []string{".git/HEAD", "mine/.git/HEAD", "fixtures/old.git/HEAD", "plain/HEAD", "b/config"} {
			if !exists(tree, kept) {
				t.Errorf("%s is gone", kept)
			}
		}
		if !exists(out, "away/HEAD") || !exists(out, "away/config") {
			t.Error("a link was followed")
		}
		for name, set := range map[string]bool{"old-tool": true, "tool": false, "team": false} {
			info, err := os.Stat(filepath.Join(tree, name))
			if err != nil || (info.Mode()&(os.ModeSetuid|os.ModeSetgid) != 0) != set || info.Mode().Perm() != 0o755 {
				t.Errorf("%s: %v, %v", name, info.Mode(), err)
			}
		}
	}
}

// TestForgets: what was kept of a user's tree is kept for a while, and no longer.
func TestForgets(t *testing.T) {
	tree := t.TempDir()
	write(t, tree, ".pawl/taken/1000/HEAD", "x")
	before := Look(tree, tree)
	repository(t, tree, "sub/.git")
	before.Clear(t.Context())
	all, err := os.ReadDir(filepath.Join(tree, ".pawl/taken"))
	if err != nil || len(all) != 1 || all[0].Name() == "1000" {
		t.Errorf("%v, %v", all, err)
	}
	if before = Look(tree, tree); before.known[".pawl/taken"] {
		t.Error("what is pawl's own is looked at")
	}
}

// TestForgetsNothingOfTheUser replaces the directory of what was taken by a link within the tree: what stands behind it
// is not pawl's, whatever it is called.
func TestForgetsNothingOfTheUser(t *testing.T) {
	for link, target := range map[string]string{".pawl": "lib", ".pawl/taken": "../lib"} {
		tree := t.TempDir()
		before := Look(tree, tree)
		write(t, tree, "lib/1000/HEAD", "x")
		write(t, tree, "lib/taken/1000/HEAD", "x")
		at := filepath.Join(tree, link)
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o700), os.Symlink(target, at)); err != nil {
			t.Fatal(err)
		}
		repository(t, tree, "sub/.git")
		before.Clear(t.Context())
		for _, mine := range []string{"lib/1000/HEAD", "lib/taken/1000/HEAD"} {
			if !exists(tree, mine) {
				t.Errorf("%s is a link: %s is gone", link, mine)
			}
		}
	}
}

func BenchmarkFiftyThousand(b *testing.B) {
	tree := b.TempDir()
	for d := range 2500 {
		dir := filepath.Join(tree, fmt.Sprintf("d%d/s%d", d%50, d))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			b.Fatal(err)
		}
		for f := range 20 {
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%d", f)), nil, 0o644); err != nil {
				b.Fatal(err)
			}
		}
	}
	for b.Loop() {
		Look(tree, tree).Clear(context.Background())
	}
}
