package reads_test

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"pawl/driver/verify/reads"
)

// TestRead marks files that were made this instant and has a program read some of them.
func TestRead(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("access times are read on Linux alone")
	}
	dir := t.TempDir()
	for _, name := range []string{"read", "left", "written", "gone", "empty", "times", "sub/read", "listed"} {
		path := filepath.Join(dir, name)
		text := []byte("x")
		if name == "empty" {
			text = nil
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("left", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	before, err := os.Stat(filepath.Join(dir, "read"))
	if err != nil {
		t.Fatal(err)
	}
	m := reads.Mark(root, []string{"left", "read", "written", "gone", "empty", "times", "sub/read", "listed", "link", "nowhere"})
	if !m.Known {
		t.Skip("the file system of TMPDIR does not tell when files are read")
	}
	seen := map[string]bool{}
	if m.Read(seen); len(seen) != 0 {
		t.Fatalf("read at once: %v", seen)
	}
	script := "cat read sub/read empty; ls -l listed; stat left; echo y > written; rm gone; touch -a -d @1 times"
	cmd := exec.Command("sh", "-c", script)
	if cmd.Dir = dir; cmd.Run() != nil {
		t.Fatal("the script failed")
	}
	m.Read(seen)
	if got := slices.Sorted(maps.Keys(seen)); !slices.Equal(got, []string{"empty", "gone", "read", "sub/read", "times", "written"}) {
		t.Errorf("read: %v", got)
	}
	after, err := os.Stat(filepath.Join(dir, "read"))
	if err != nil || !after.ModTime().Equal(before.ModTime()) {
		t.Errorf("the file looks changed: %v, %v", after.ModTime(), err)
	}
}

// TestMarkTwice sees each of two readings by its own marks.
func TestMarkTwice(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a"), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for range 3 {
		m := reads.Mark(root, []string{"a"})
		if !m.Known {
			t.Skip("the file system of TMPDIR does not tell when files are read")
		}
		none, seen := map[string]bool{}, map[string]bool{}
		m.Read(none)
		if _, err := os.ReadFile(filepath.Join(dir, "a")); err != nil {
			t.Fatal(err)
		}
		if m.Read(seen); len(none) != 0 || !seen["a"] {
			t.Fatalf("before %v, after %v", none, seen)
		}
		time.Sleep(time.Millisecond)
	}
}
