package leftover_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pawl"
	"pawl/driver/leftover"
	"pawl/internal/gittest"
	"pawl/kernel/effect"
	"pawl/store/lockfile"
)

// ended is what the name of a process that has ended says of it.
func ended(t *testing.T) string {
	t.Helper()
	c := exec.Command(os.Args[0], "-test.run=^TestMaker$", "-test.v")
	c.Env = append(os.Environ(), "PAWL_TEST_MAKER=1")
	out, err := c.CombinedOutput()
	at := strings.Index(string(out), "maker=")
	if err != nil || at < 0 {
		t.Fatalf("%v\n%s", err, out)
	}
	name, _, _ := strings.Cut(string(out)[at+len("maker="):], "\n")
	return name
}

// TestMaker is the process of ended.
func TestMaker(t *testing.T) {
	if os.Getenv("PAWL_TEST_MAKER") == "" {
		t.Skip("is run by others")
	}
	os.Stdout.WriteString("maker=" + lockfile.Maker() + "\n")
}

// What a process left that has ended goes at once, however young it is; what a living one writes stays, however old.
func TestSweep(t *testing.T) {
	r := gittest.New(t, map[string]string{"a.txt": "a\n"})
	place := effect.Place{Workspace: r.Dir, Tree: r.Dir, Git: true}
	gone, here := ended(t), lockfile.Maker()
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	dead := strings.Split(gone, "-")[2]
	old := time.Now().Add(-48 * time.Hour)
	write := func(name string, at time.Time) string {
		path := filepath.Join(r.Dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
		return path
	}
	var left, kept []string
	for _, name := range []string{".pawl/pawl.db.new-*-a", ".pawl/pawl.db.new-*-a-journal", ".pawl/git/tmp/index-*-1",
		".pawl/git/tmp/index-*-1.lock", ".pawl/git/.new-*-1", ".pawl/git/land/.new-*-1", ".pawl/.pawl-tmp-*-1",
		".pawl/archive/2026-11/a/.pawl-tmp-*-1", ".pawl/history/.new-*-1", ".git/objects/tmp_obj_pawl_*-1",
		".pawl/git/refs/pawl/trees/20261126/.new-*-1", ".git/pawl.lock-*-1"} {
		left = append(left, write(strings.Replace(name, "*", gone, 1), time.Now()))
		kept = append(kept, write(strings.Replace(name, "*", here, 1), old))
	}
	left = append(left, write(".pawl/workers/"+host+"~"+dead+"~abcdef.lock", time.Now()),
		write(".pawl/git/objects/ab/tmp_obj_Abc123", time.Now()))
	elsewhere := "of-" + strings.Repeat("0", 24) + "-1-1" // of another host
	otherSpace := gone[:len("of-")+16] + "00000000" + gone[len("of-")+24:]
	earlier := gone[:len("of-")+8] + "00000000" + gone[len("of-")+16:] // before this host was started
	left = append(left, write(".pawl/git/tmp/remote-"+earlier+"-1", time.Now()))
	for _, name := range []string{".git/objects/ab/tmp_obj_Abc123", ".git/objects/tmp_objdir-incoming-a/ab/tmp_obj_x",
		".pawl/.pawl-tmp-0123", ".pawl/history/of.md", ".pawl/git/tmp/Photos/a", ".pawl/git/tmp/.ssh/id",
		".pawl/git/tmp/Photos-" + gone + "-1", ".pawl/git/tmp/index-" + elsewhere + "-1",
		".pawl/git/tmp/index-" + otherSpace + "-1", ".pawl/workers/Cargo.lock", ".pawl/pawl.db.new-1",
		".git/objects/tmp_obj_pawl_1", ".git/pawl.lock-1"} {
		kept = append(kept, write(name, old))
	}
	for _, dir := range []string{".git/objects/tmp_objdir-incoming-a", ".pawl/git/tmp/Photos", ".pawl/git/tmp/.ssh"} {
		if err := os.Chtimes(filepath.Join(r.Dir, dir), old, old); err != nil {
			t.Fatal(err)
		}
	}
	open := write(".pawl/git/objects/ab/tmp_obj_open", old)
	held := exec.Command("sleep", "60")
	if held.Stdin, err = os.Open(open); err != nil {
		t.Fatal(err)
	}
	if err := held.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = held.Process.Kill(); _ = held.Wait() }()
	kept = append(kept, open)

	found := leftover.Find(place)
	if len(found) != len(left) {
		t.Errorf("found %d of %d: %v", len(found), len(left), found)
	}
	if swept, err := leftover.Sweep(context.Background(), place); err != nil || len(swept) != len(left) {
		t.Errorf("swept %d of %d: %v", len(swept), len(left), err)
	}
	for _, path := range left {
		if _, err := os.Lstat(path); err == nil {
			t.Errorf("%s is still there", path)
		}
	}
	for _, path := range kept {
		if _, err := os.Lstat(path); err != nil {
			t.Errorf("%v: it is somebody's", err)
		}
	}
	if again := leftover.Find(place); len(again) != 0 {
		t.Errorf("after sweeping: %v", again)
	}
}

// A checkout on which something was being proven goes, with what the repository knows of it, unless another process
// works in the workspace.
func TestSweepGround(t *testing.T) {
	r := gittest.New(t, map[string]string{"a.txt": "a\n"})
	place := effect.Place{Workspace: r.Dir, Tree: r.Dir, Git: true}
	ground := filepath.Join(r.Dir, ".pawl", "worktrees", "01M8HS0ATMBQ0JD2D76B4MT7P3-proof")
	foreign := filepath.Join(r.Dir, ".pawl", "worktrees", "my-proof-of-concept")
	if err := os.MkdirAll(foreign, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(ground), 0o755); err != nil {
		t.Fatal(err)
	}
	r.Git("worktree", "add", "--detach", ground)
	other := filepath.Join(r.Dir, ".pawl", "worktrees", "01")
	r.Git("worktree", "add", "--detach", other)
	if err := os.WriteFile(filepath.Join(ground, "left.txt"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if swept, err := leftover.Sweep(context.Background(), place); err != nil || len(swept) != 1 ||
		swept[0].Path != ground {
		t.Fatalf("swept %v, %v", swept, err)
	}
	if _, err := os.Lstat(ground); err == nil {
		t.Error("the checkout is still there")
	}
	if _, err := os.Lstat(foreign); err != nil {
		t.Errorf("%v: pawl did not make it", err)
	}
	names, _ := filepath.Glob(filepath.Join(r.Dir, ".git", "worktrees", "*"))
	if !slices.Equal(names, []string{filepath.Join(r.Dir, ".git", "worktrees", "01")}) {
		t.Errorf("registered are %v", names)
	}
}

// TestSweepLink stops at a link, out of the workspace and within it, whatever the names behind it are.
func TestSweepLink(t *testing.T) {
	name := "index-" + ended(t) + "-1"
	for _, link := range []string{".pawl/git", ".pawl/git/tmp"} {
		for _, within := range []bool{true, false} {
			r := gittest.New(t, map[string]string{"a.txt": "a\n"})
			place := effect.Place{Workspace: r.Dir, Tree: r.Dir, Git: true}
			target := filepath.Join(r.Dir, "lib")
			if !within {
				target = t.TempDir()
			}
			at := filepath.Join(r.Dir, filepath.FromSlash(link))
			theirs := filepath.Join(target, name)
			if link == ".pawl/git" {
				theirs = filepath.Join(target, "tmp", name)
			}
			if err := errors.Join(os.MkdirAll(filepath.Join(theirs, "deep"), 0o755), os.MkdirAll(filepath.Dir(at), 0o755),
				os.Symlink(target, at)); err != nil {
				t.Fatal(err)
			}
			before := gittest.Tree(t, target)
			if _, err := leftover.Sweep(t.Context(), place); pawl.CodeOf(err) != pawl.CodeDenied {
				t.Errorf("%s: %v", link, err)
			}
			if now := gittest.Tree(t, target); now != before {
				t.Errorf("%s: changed\n%s", link, now)
			}
		}
	}
}
