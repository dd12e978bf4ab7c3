//go:build unix

package owndir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"pawl"
)

// place makes a directory own with a file and a subdirectory, next to a canary that no test may change.
func place(t *testing.T) (base, own, canary string) {
	t.Helper()
	base = t.TempDir()
	own, canary = filepath.Join(base, "own"), filepath.Join(base, "canary")
	for _, dir := range []string{own, filepath.Join(own, "sub"), canary} {
		must(t, os.Mkdir(dir, 0o700))
	}
	for _, file := range []string{own + "/file", own + "/sub/file", canary + "/file"} {
		must(t, os.WriteFile(file, []byte("mine"), 0o644))
	}
	must(t, os.Chmod(canary, 0o755))
	print := fingerprint(t, canary)
	t.Cleanup(func() {
		if now := fingerprint(t, canary); now != print {
			t.Errorf("the canary was changed:\n%s\nnow:\n%s", print, now)
		}
	})
	return base, own, canary
}

func fingerprint(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	must(t, filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		info, err := os.Lstat(p)
		if err != nil {
			return err
		}
		b.WriteString(p + " " + info.Mode().String() + " " + info.ModTime().String())
		if info.Mode().IsRegular() {
			raw, err := os.ReadFile(p)
			must(t, err)
			b.WriteString(" " + string(raw))
		}
		b.WriteString("\n")
		return nil
	}))
	return b.String()
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// foreign puts each kind of entry that pawl never makes at a path.
func foreign(t *testing.T, canary string) map[string]func(path string) error {
	t.Helper()
	return map[string]func(path string) error{
		"link out":      func(p string) error { return os.Symlink(canary, p) },
		"link out file": func(p string) error { return os.Symlink(filepath.Join(canary, "file"), p) },
		"link within":   func(p string) error { return os.Symlink("sub", p) },
		"link to file":  func(p string) error { return os.Symlink("file", p) },
		"broken link":   func(p string) error { return os.Symlink("absent", p) },
		"pipe":          func(p string) error { return unix.Mkfifo(p, 0o600) },
	}
}

// TestForeign refuses every operation on, and below, an entry that pawl never makes, without waiting for a pipe.
func TestForeign(t *testing.T) {
	_, _, canary := place(t)
	for kind, put := range foreign(t, canary) {
		t.Run(kind, func(t *testing.T) {
			base, own, _ := place(t)
			must(t, put(filepath.Join(own, "x")))
			d, err := Open(base, "own")
			must(t, err)
			defer d.Close()
			use := func(f *os.File, err error) error {
				if err == nil {
					_ = f.Close()
				}
				return err
			}
			enter := func(d *Dir, err error) error {
				if err == nil {
					_ = d.Close()
				}
				return err
			}
			ops := map[string]func(name string) error{
				"write":      func(n string) error { return use(d.OpenFile(n, os.O_WRONLY|os.O_CREATE|os.O_TRUNC)) },
				"ReadDir":    func(n string) error { _, err := d.ReadDir(n); return err },
				"Make":       func(n string) error { return enter(Make(base, "own/"+n)) },
				"RemoveAll":  d.RemoveAll,
				"RemoveAll'": func(n string) error { return RemoveAll(base, "own/"+n) },
			}
			for op, do := range ops {
				for _, name := range []string{"x", "x/file", "x/new"} {
					if strings.HasPrefix(kind, "broken") && name != "x" && strings.HasPrefix(op, "Remove") {
						continue
					}
					start := time.Now()
					if err := do(name); pawl.CodeOf(err) != pawl.CodeDenied || time.Since(start) > 10*time.Second {
						t.Errorf("%s %s: %v", op, name, err)
					}
				}
			}
			if _, err := os.Lstat(filepath.Join(own, "x")); err != nil {
				t.Errorf("the entry is gone: %v", err)
			}
			for _, file := range []string{"file", "sub/file"} {
				if raw, err := os.ReadFile(filepath.Join(own, file)); err != nil || string(raw) != "mine" {
					t.Errorf("%s was changed: %q %v", file, raw, err)
				}
			}
			if info, err := os.Lstat(filepath.Join(own, "x")); err != nil || plain(info.Mode()) {
				t.Errorf("%v %v", info, err)
			}
		})
	}
}

// TestBaseThatIsAPipe waits for nobody to write to it.
func TestBaseThatIsAPipe(t *testing.T) {
	base := filepath.Join(t.TempDir(), "base")
	must(t, unix.Mkfifo(base, 0o600))
	done := make(chan error, 1)
	go func() { _, err := Open(base, "."); done <- err }()
	select {
	case err := <-done:
		if pawl.CodeOf(err) != pawl.CodeDenied {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Error("it waits")
	}
}

// TestOutside refuses names that leave the directory.
func TestOutside(t *testing.T) {
	base, _, canary := place(t)
	d, err := Open(base, "own")
	must(t, err)
	defer d.Close()
	for _, name := range []string{"", ".", "..", "../canary", "sub/../../canary", canary, "sub/.."} {
		if err := d.RemoveAll(name); pawl.CodeOf(err) != pawl.CodeInvalid {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// TestHardLink writes no file that has another name elsewhere.
func TestHardLink(t *testing.T) {
	base, own, canary := place(t)
	must(t, os.Link(filepath.Join(canary, "file"), filepath.Join(own, "x")))
	d, err := Open(base, "own")
	must(t, err)
	defer d.Close()
	if f, err := d.OpenFile("x", os.O_RDWR|os.O_TRUNC); pawl.CodeOf(err) != pawl.CodeDenied {
		t.Errorf("%v %v", f, err)
	}
	if err := d.Plain(func(string) bool { return false }); pawl.CodeOf(err) != pawl.CodeDenied {
		t.Errorf("a file with two names is plain: %v", err)
	}
	must(t, Replace(d.root, "x", []byte("new"))) // another file of that name
	must(t, d.Plain(func(string) bool { return false }))
}

// TestFiles uses a directory as pawl does.
func TestFiles(t *testing.T) {
	base, own, _ := place(t)
	d, err := Make(base, "own/a/b")
	must(t, err)
	defer d.Close()
	if info, err := os.Stat(filepath.Join(own, "a")); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v %v", info, err)
	}
	must(t, Replace(d.root, "one", []byte("1")))
	must(t, Replace(d.root, "one", []byte("2")))
	f, err := d.OpenFile("two", os.O_RDWR|os.O_CREATE)
	must(t, err)
	must(t, f.Close())
	if _, err := d.OpenFile("two", os.O_WRONLY|os.O_CREATE|os.O_EXCL); !errors.Is(err, fs.ErrExist) {
		t.Error(err)
	}
	must(t, os.MkdirAll(filepath.Join(own, "a", "b", "c", "d"), 0o700))
	must(t, os.Rename(filepath.Join(own, "a", "b", "two"), filepath.Join(own, "a", "b", "c", "three")))
	entries, err := d.ReadDir(".")
	must(t, err)
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if !slices.Equal(names, []string{"c", "one"}) {
		t.Error(names)
	}
	if raw, err := os.ReadFile(filepath.Join(own, "a", "b", "one")); err != nil || string(raw) != "2" {
		t.Errorf("%q %v", raw, err)
	}
	must(t, d.RemoveAll("c"))
	must(t, d.RemoveAll("c"))
	must(t, d.Chmod(0o500))
	if info, err := os.Lstat(filepath.Join(own, "a", "b")); err != nil || info.Mode().Perm() != 0o500 {
		t.Errorf("%v %v", info, err)
	}
	must(t, RemoveAll(base, "own/a"))
	must(t, RemoveAll(filepath.Join(base, "absent"), "x"))
}

// TestRemoveAll removes trees that forbid it, and links in them without what they lead to.
func TestRemoveAll(t *testing.T) {
	base, own, canary := place(t)
	tree := filepath.Join(own, "tree")
	must(t, os.MkdirAll(filepath.Join(tree, "a", "b"), 0o700))
	must(t, os.WriteFile(filepath.Join(tree, "a", "b", "f"), nil, 0o400))
	must(t, os.Symlink(canary, filepath.Join(tree, "a", "out")))
	must(t, os.Link(filepath.Join(canary, "file"), filepath.Join(tree, "a", "hard")))
	must(t, unix.Mkfifo(filepath.Join(tree, "a", "pipe"), 0o600))
	must(t, os.Chmod(filepath.Join(tree, "a", "b"), 0o500))
	must(t, os.Chmod(filepath.Join(tree, "a"), 0))
	must(t, RemoveAll(base, "own/tree"))
	if _, err := os.Lstat(tree); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// TestSwap removes a tree while its directories are swapped for links and for hard links to a file outside. Nothing
// outside changes, its mode included.
func TestSwap(t *testing.T) {
	base, own, canary := place(t)
	must(t, os.Chmod(filepath.Join(canary, "file"), 0o444))
	before := fingerprint(t, canary)
	for end := time.Now().Add(time.Second); time.Now().Before(end); {
		tree := filepath.Join(own, "tree")
		must(t, os.MkdirAll(filepath.Join(tree, "a"), 0o700))
		must(t, os.Chmod(filepath.Join(tree, "a"), 0o500))
		stop := make(chan struct{})
		done := make(chan struct{})
		go func() {
			defer close(done)
			aside := filepath.Join(own, "aside")
			for n := 0; ; n++ {
				select {
				case <-stop:
					_ = os.RemoveAll(aside)
					return
				default:
				}
				_ = os.Rename(filepath.Join(tree, "a"), aside)
				if n%2 == 0 {
					_ = os.Symlink(canary, filepath.Join(tree, "a"))
				} else {
					_ = os.Link(filepath.Join(canary, "file"), filepath.Join(tree, "a"))
				}
				_ = os.Remove(filepath.Join(tree, "a"))
				_ = os.Rename(aside, filepath.Join(tree, "a"))
			}
		}()
		for range 20 {
			_ = RemoveAll(base, "own/tree")
		}
		close(stop)
		<-done
		_ = RemoveAll(base, "own/tree")
	}
	if now := fingerprint(t, canary); now != before {
		t.Errorf("changed outside:\n%s\nnow:\n%s", before, now)
	}
	must(t, os.Chmod(filepath.Join(canary, "file"), 0o644))
}
