//go:build unix

package verify

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"pawl/driver/verify/testlist"
	"pawl/text/testrun"
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

// TestTestsOfAHostileTree lists the tests of a tree whose go.mod is a named pipe, which nobody ever writes to.
func TestTestsOfAHostileTree(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "go.mod"), 0o644); err != nil {
		t.Fatal(err)
	}
	source := "package a\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) {}\n"
	if err := os.WriteFile(filepath.Join(dir, "a_test.go"), []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	tree, closer, err := OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer closer.Close()
	listed := make(chan []testrun.Name, 1)
	go func() { listed <- testlist.Names(testlist.Of(tree, testrun.Go, nil)) }()
	select {
	case got := <-listed:
		if len(got) != 1 || got[0].Test != "TestA" {
			t.Errorf("listed %v", got)
		}
	case <-time.After(time.Minute):
		t.Fatal("it waits for the pipe")
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
