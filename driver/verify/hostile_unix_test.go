//go:build unix

package verify

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestDetectHostile looks at a real folder with what a repository may bring: links, pipes, folders in the place of
// files.
func TestDetectHostile(t *testing.T) {
	dir := t.TempDir()
	makeHostile(t, dir)
	tree, closer, err := OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer closer.Close()
	got, err := Detect(tree, everything)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Checks) != 0 {
		t.Errorf("checks = %v", show(got.Checks))
	}
	for name := range got.Definitions {
		t.Errorf("definition %s", name)
	}
	if _, err := readLimited(tree, "Makefile", 10); err == nil {
		t.Error("a named pipe was read")
	}
}

// makeHostile fills a folder with things in the place of the files that detection reads.
func makeHostile(t *testing.T, dir string) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	outside := t.TempDir()
	must(os.WriteFile(filepath.Join(outside, "package.json"), []byte(`{"scripts":{"test":"x"}}`), 0o644))
	must(os.WriteFile(filepath.Join(outside, "go.mod"), []byte("module x"), 0o644))
	must(syscall.Mkfifo(filepath.Join(dir, "Makefile"), 0o644))
	must(syscall.Mkfifo(filepath.Join(dir, "pyproject.toml"), 0o644))
	must(os.Mkdir(filepath.Join(dir, "Cargo.toml"), 0o755))
	must(os.Symlink(filepath.Join(outside, "package.json"), filepath.Join(dir, "package.json")))
	must(os.Symlink(outside, filepath.Join(dir, "linked")))
	must(os.Symlink(".", filepath.Join(dir, "loop")))
	must(os.Symlink(outside, filepath.Join(dir, ".github")))
}
