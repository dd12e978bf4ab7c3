package land_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"pawl/driver/land"
	"pawl/internal/gittest"
	"pawl/internal/need"
	"pawl/kernel/effect"
)

// mount puts another file system, with what is in it, in the place of a folder.
func mount(t *testing.T, dir string) {
	t.Helper()
	kept := filepath.Join(t.TempDir(), "kept")
	if err := os.CopyFS(kept, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=4m"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	if err := os.CopyFS(dir, os.DirFS(kept)); err != nil {
		t.Fatal(err)
	}
}

// remount lets a file system be written, or not.
func remount(t *testing.T, dir string, flags uintptr) {
	t.Helper()
	if err := syscall.Mount("", dir, "", syscall.MS_REMOUNT|flags, ""); err != nil {
		t.Fatal(err)
	}
}

// workedBeside is worked where some folders are on other file systems.
func workedBeside(t *testing.T, mounts ...string) (*gittest.Repo, effect.Effect) {
	t.Helper()
	r := gittest.New(t, files)
	for _, dir := range mounts {
		if err := os.MkdirAll(r.Path(dir), 0o755); err != nil {
			t.Fatal(err)
		}
		mount(t, r.Path(dir))
	}
	p := place(r)
	repo := opened(t, p)
	if _, err := repo.AddWorktree(t.Context(), r.Head()); err != nil {
		t.Fatal(err)
	}
	change(t, p.Tree)
	tree, err := repo.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return r, landing(p, spec(r.Head(), tree))
}

// together fails where branch, index and files are apart, or anything is left behind.
func together(t *testing.T, r *gittest.Repo) {
	t.Helper()
	if dirty := r.Git("status", "--porcelain"); dirty != "" {
		t.Errorf("branch, index and files are apart:\n%s", dirty)
	}
	for _, pattern := range []string{".git/*lock*", "*pawl-tmp*", ".pawl-tmp*", "d/.pawl-tmp*", ".pawl/git/tmp/checkout/*"} {
		if left, _ := filepath.Glob(r.Path(pattern)); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	}
}

// TestLandOnOtherFileSystems lands where pawl's own folder, or one of the tree, is a file system of its own.
func TestLandOnOtherFileSystems(t *testing.T) {
	if !need.Mounts(t) {
		return
	}
	for _, dirs := range [][]string{{".pawl"}, {"d"}, {".pawl", "d"}} {
		t.Run(strings.Join(dirs, " "), func(t *testing.T) {
			r, e := workedBeside(t, dirs...)
			if got := do(t, e); got.Outcome != effect.Landed {
				t.Errorf("%+v", got)
			}
			together(t, r)
			if link, err := os.Readlink(r.Path("d/x")); link != "../a" {
				t.Errorf("the link is %q, %v", link, err)
			}
			if info, err := os.Stat(r.Path("run")); err != nil || info.Mode().Perm() != 0o755 {
				t.Errorf("%v %v", info.Mode(), err)
			}
		})
	}
}

// TestLandWhereAFolderCannotBeWritten takes a landing back of which one folder cannot be written.
func TestLandWhereAFolderCannotBeWritten(t *testing.T) {
	if !need.Mounts(t) {
		return
	}
	r, e := workedBeside(t, ".pawl", "d")
	head := r.Head()
	remount(t, r.Path("d"), syscall.MS_RDONLY)
	if receipt := land.New(nil).Do(t.Context(), e, nil); receipt.OK {
		t.Errorf("landed: %+v", receipt)
	}
	if r.Head() != head {
		t.Error("the branch has moved")
	}
	together(t, r)
	remount(t, r.Path("d"), 0)
	if got := do(t, e); got.Outcome != effect.Landed {
		t.Errorf("%+v", got)
	}
	together(t, r)
}

// halfLanded leaves a landing that could neither be finished nor taken back, and ways to let that be mended.
func halfLanded(t *testing.T) (r *gittest.Repo, e effect.Effect, mend func()) {
	t.Helper()
	r, e = workedBeside(t, "d")
	written := 0
	ctx := gittest.Trace(t.Context(), func(name string) {
		if name != "write file" {
			return
		}
		if written++; written == 2 { // a file of the user's tree is the new one
			remount(t, r.Path("d"), syscall.MS_RDONLY)
			_ = syscall.Mount("tmpfs", r.Path(".pawl/git/tmp"), "tmpfs", syscall.MS_RDONLY, "")
		}
	})
	receipt := land.New(nil).Do(ctx, e, nil)
	if receipt.OK || receipt.Key != "land.half_done" {
		t.Fatalf("%+v", receipt)
	}
	return r, e, func() {
		_ = syscall.Unmount(r.Path(".pawl/git/tmp"), syscall.MNT_DETACH)
		remount(t, r.Path("d"), 0)
	}
}

// TestSettle: what is half done is locked against commits, is told for as long as it cannot be mended, and is then
// taken back.
func TestSettle(t *testing.T) {
	if !need.Mounts(t) {
		return
	}
	r, e, mend := halfLanded(t)
	if _, err := r.Try("commit", "-am", "x"); err == nil {
		t.Error("the half of it can be committed")
	}
	if err := land.Settle(t.Context(), nil, e.Place); err == nil {
		t.Error("it is said to be settled")
	}
	if _, err := os.Stat(r.Path(".git/index.lock")); err != nil {
		t.Error("the lock is gone")
	}
	mend()
	if err := land.Settle(t.Context(), nil, e.Place); err != nil {
		t.Fatal(err)
	}
	together(t, r)
	if got := do(t, e); got.Outcome != effect.Landed {
		t.Errorf("%+v", got)
	}
	together(t, r)
}
