package safeopen

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"pawl"
	"pawl/internal/need"
)

// tree opens a Root with a neighbour beside it that nothing may reach.
func tree(t testing.TB, opts ...RootOption) (r *Root, dir, neighbour string) {
	t.Helper()
	base := t.TempDir()
	dir, neighbour = filepath.Join(base, "ws"), filepath.Join(base, "ws-evil")
	write(t, filepath.Join(dir, "a.txt"), "a")
	write(t, filepath.Join(dir, "sub", "b.txt"), "b")
	write(t, filepath.Join(dir, ".git", "config"), "c")
	write(t, filepath.Join(dir, ".pawl", "pawl.db"), "d")
	write(t, filepath.Join(neighbour, "secret"), "secret")
	r, err := OpenRoot(dir, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r, dir, neighbour
}

func write(t testing.TB, name, data string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(data), 0o644); err != nil {
		t.Fatal(err)
	}
}

func link(t testing.TB, target, name string) {
	t.Helper()
	if err := os.Symlink(target, name); err != nil {
		t.Fatal(err)
	}
}

func content(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// actions are all methods that take a name, so that no case forgets one.
func actions(r *Root) map[string]func(name string) error {
	visit := func(string, fs.DirEntry) error { return nil }
	return map[string]func(string) error{
		"read":  func(n string) error { _, err := r.ReadFile(n, 0); return err },
		"range": func(n string) error { _, err := r.ReadRange(n, 0, 1); return err },
		"open": func(n string) error {
			f, err := r.Open(n)
			if err == nil {
				f.Close()
			}
			return err
		},
		"stat":    func(n string) error { _, err := r.Stat(n); return err },
		"list":    func(n string) error { _, err := r.ReadDir(n); return err },
		"resolve": func(n string) error { _, err := r.Resolve(n); return err },
		"write":   func(n string) error { return r.WriteFile(n, []byte("x"), 0) },
		"chmod":   func(n string) error { return r.Chmod(n, 0o777) },
		"mkdir":   func(n string) error { return r.MkdirAll(n+"/d", 0o755) },
		"remove":  func(n string) error { return r.Remove(n) },
		"symlink": func(n string) error { return r.Symlink("a.txt", n) },
		"rename":  func(n string) error { return r.Rename("a.txt", n) },
		"take":    func(n string) error { return r.Rename(n, "taken") },
		"walk":    func(n string) error { return r.Walk(context.Background(), n, visit) },
	}
}

// looks are those of the actions that change nothing.
var looks = []string{"range", "open", "stat", "list", "resolve", "walk"}

func TestNamesThatLeadOutside(t *testing.T) {
	r, dir, neighbour := tree(t)
	link(t, "../ws-evil", filepath.Join(dir, "out"))
	link(t, neighbour, filepath.Join(dir, "abs"))
	link(t, "../ws-evil/secret", filepath.Join(dir, "file"))
	link(t, "../ws-evil/new", filepath.Join(dir, "dangling"))
	link(t, "sub/../../ws-evil/secret", filepath.Join(dir, "winding"))
	link(t, "loop", filepath.Join(dir, "loop"))
	link(t, "/proc/self/root"+neighbour, filepath.Join(dir, "proc"))
	for _, name := range []string{
		"../ws-evil/secret", "..", "../", "../ws/a.txt", neighbour + "/secret", "a/../../ws-evil/secret", "sub/../../x",
		"out/secret", "out/", "out/new", "abs/secret", "file/", "loop/x", "winding/", "proc/secret", "./../ws-evil",
	} {
		for what, do := range actions(r) {
			if err := do(name); pawl.CodeOf(err) != pawl.CodeDenied {
				t.Errorf("%s %q: %v", what, name, err)
			}
		}
	}
	// Without a slash behind it, the link itself may be looked at, removed, replaced and moved, but not followed.
	for _, name := range []string{"file", "dangling", "loop", "winding", "out", "abs"} {
		for _, what := range []string{"read", "range", "open", "stat", "list", "resolve", "write", "chmod", "mkdir",
			"walk"} {
			if err := actions(r)[what](name); pawl.CodeOf(err) != pawl.CodeDenied {
				t.Errorf("%s %q: %v", what, name, err)
			}
		}
	}
	if content(t, filepath.Join(neighbour, "secret")) != "secret" || content(t, filepath.Join(dir, "a.txt")) != "a" {
		t.Error("a file changed")
	}
	if list, _ := os.ReadDir(neighbour); len(list) != 1 {
		t.Error(list)
	}
}

func TestInternalsAreNotForTools(t *testing.T) {
	r, dir, _ := tree(t)
	link(t, ".git", filepath.Join(dir, "g"))
	link(t, "../.pawl", filepath.Join(dir, "sub", "p"))
	names := []string{
		".git/config", ".git/hooks/pre-commit", ".git", ".pawl/pawl.db", ".pawl/x", ".GIT/config", ".Pawl/x",
		"sub/.git/config",
		".g\u200cit/config", ".git /config", ".git./config", ".git::$INDEX_ALLOCATION/config", "GIT~1/config",
		"g/config", "g/new", "sub/p/pawl.db", "sub/../.git/config",
	}
	for _, d := range []string{".GIT", ".Pawl", "sub/.git", ".g\u200cit", ".git ", ".git.", ".git::$INDEX_ALLOCATION",
		"GIT~1"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range names {
		for _, what := range []string{"write", "remove", "symlink", "rename", "take"} {
			err := actions(r)[what](name)
			if code := pawl.CodeOf(err); code != pawl.CodeDenied && !(what == "take" && code == pawl.CodeNotFound) {
				t.Errorf("%s %q: %v", what, name, err)
			}
		}
	}
	if err := r.Symlink(".git/config", "new"); pawl.CodeOf(err) != pawl.CodeDenied {
		t.Error(err)
	}
	if _, err := r.ReadFile(".git/config", 0); err != nil {
		t.Error("reading is the policy's to judge: ", err)
	}
	own, _, _ := tree(t, WithInternal())
	if err := own.WriteFile(".pawl/state.json", []byte("{}"), 0o600); err != nil {
		t.Error(err)
	}
	for _, fine := range []string{".gitignore", ".github", "git", ".pawls", "pawl~2"} {
		if err := r.WriteFile(fine, nil, 0); err != nil {
			t.Errorf("%s: %v", fine, err)
		}
	}
}

func TestSpecialFilesAreRefusedAtOnce(t *testing.T) {
	r, dir, neighbour := tree(t)
	if err := unix.Mkfifo(filepath.Join(dir, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(s)
	if err := unix.Bind(s, &unix.SockaddrUnix{Name: filepath.Join(dir, "sock")}); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(filepath.Join(neighbour, "secret"), filepath.Join(dir, "hard")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ what, name string }{
		{"read", "fifo"}, {"open", "fifo"}, {"write", "fifo"}, {"chmod", "fifo"}, {"take", "fifo"},
		{"read", "sock"}, {"write", "sock"}, {"write", "hard"}, {"chmod", "hard"}, {"take", "hard"},
	} {
		done := make(chan error, 1)
		go func() { done <- actions(r)[c.what](c.name) }()
		select {
		case err := <-done:
			if pawl.CodeOf(err) != pawl.CodeDenied {
				t.Errorf("%s %s: %v", c.what, c.name, err)
			}
		case <-time.After(time.Minute):
			t.Fatalf("%s %s hangs", c.what, c.name)
		}
	}
	if content(t, filepath.Join(neighbour, "secret")) != "secret" {
		t.Error("written through a hard link")
	}
}

func TestReading(t *testing.T) {
	r, dir, _ := tree(t)
	link(t, "sub", filepath.Join(dir, "s"))
	link(t, "../a.txt", filepath.Join(dir, "sub", "up"))
	link(t, filepath.Join(r.Dir(), "a.txt"), filepath.Join(dir, "own"))
	for name, want := range map[string]string{"a.txt": "a", "./sub//b.txt": "b", "s/b.txt": "b", "s/up": "a",
		"own": "a"} {
		if got, err := r.ReadFile(name, 10); err != nil || string(got) != want {
			t.Errorf("%s: %q %v", name, got, err)
		}
	}
	if got, err := r.Resolve("s/up"); err != nil || got != "a.txt" {
		t.Error(got, err)
	}
	if got, err := r.Resolve("s/new"); err != nil || got != "sub/new" {
		t.Error(got, err)
	}
	if got, err := r.Readlink("s"); err != nil || got != "sub" {
		t.Error(got, err)
	}
	write(t, filepath.Join(dir, "ten"), "0123456789")
	if _, err := r.ReadFile("ten", 9); pawl.CodeOf(err) != pawl.CodeInvalid {
		t.Error(err)
	}
	if got, err := r.ReadFile("ten", 10); err != nil || len(got) != 10 {
		t.Error(got, err)
	}
	for _, c := range []struct {
		off, n int64
		want   string
	}{{0, 3, "012"}, {8, 5, "89"}, {10, 5, ""}, {99, 5, ""}, {2, 0, ""}} {
		if got, err := r.ReadRange("ten", c.off, c.n); err != nil || string(got) != c.want {
			t.Errorf("%v: %q %v", c, got, err)
		}
	}
	for name, want := range map[string]pawl.Code{
		"": pawl.CodeInvalid, "a\x00b": pawl.CodeInvalid, "absent": pawl.CodeNotFound, "absent/x": pawl.CodeNotFound,
		"a.txt/x": pawl.CodeInvalid, "sub": pawl.CodeInvalid, ".": pawl.CodeInvalid, strings.Repeat("n",
			300): pawl.CodeDenied,
	} {
		if _, err := r.ReadFile(name, 0); pawl.CodeOf(err) != want {
			t.Errorf("%.20q: %v", name, err)
		}
	}
	if _, err := r.ReadRange("ten", -1, 1); pawl.CodeOf(err) != pawl.CodeInvalid {
		t.Error(err)
	}
	if _, err := OpenRoot(filepath.Join(dir, "absent")); pawl.CodeOf(err) != pawl.CodeNotFound {
		t.Error(err)
	}
}

func TestWriting(t *testing.T) {
	r, dir, _ := tree(t)
	link(t, "a.txt", filepath.Join(dir, "l"))
	if err := os.Chmod(filepath.Join(dir, "a.txt"), 0o751); err != nil {
		t.Fatal(err)
	}
	if err := r.WriteFile("l", []byte("through"), 0); err != nil {
		t.Fatal(err)
	}
	info, _ := os.Lstat(filepath.Join(dir, "a.txt"))
	if content(t, filepath.Join(dir, "a.txt")) != "through" || info.Mode().Perm() != 0o751 {
		t.Error(info.Mode())
	}
	if info, _ := os.Lstat(filepath.Join(dir, "l")); info.Mode()&fs.ModeSymlink == 0 {
		t.Error("the link is gone")
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Error(err)
		}
	}
	must(r.MkdirAll("x/y/z", 0o755))
	must(r.MkdirAll("x/y/z", 0o755))
	must(r.WriteFile("x/y/z/f", nil, 0o600))
	must(r.Symlink("../y/z/f", "x/link"))
	must(r.Rename("x/y/z/f", "x/g"))
	must(r.Rename("x/y", "x/moved"))
	must(r.Chmod("x/g", 0o755))
	must(r.Remove("x/moved/z"))
	must(r.Remove("x/link"))
	for name, c := range map[string]struct {
		err  error
		code pawl.Code
	}{
		"mkdir that is there":  {r.Mkdir("sub", 0o755), pawl.CodeConflict},
		"remove non-empty":     {r.Remove("sub"), pawl.CodeConflict},
		"remove absent":        {r.Remove("absent"), pawl.CodeNotFound},
		"write to directory":   {r.WriteFile("sub", nil, 0), pawl.CodeInvalid},
		"write without parent": {r.WriteFile("no/such/file", nil, 0), pawl.CodeNotFound},
		"root itself":          {r.Remove("."), pawl.CodeDenied},
		"rename absent":        {r.Rename("absent", "x/h"), pawl.CodeNotFound},
		"rename into itself":   {r.Rename("x", "x/moved/x"), pawl.CodeIO},
		"chmod absent":         {r.Chmod("absent", 0o600), pawl.CodeNotFound},
		"link out":             {r.Symlink("../../ws-evil", "x/out"), pawl.CodeDenied},
		"absolute link":        {r.Symlink(dir, "x/out"), pawl.CodeDenied},
		"empty link":           {r.Symlink("", "x/out"), pawl.CodeInvalid},
		"link over file":       {r.Symlink("a.txt", "x/g"), pawl.CodeConflict},
		"mkdir through file":   {r.MkdirAll("a.txt/d", 0o755), pawl.CodeInvalid},
		"moved link leads away": {errors.Join(r.Symlink("../a.txt", "sub/up"), r.Rename("sub/up", "up")),
			pawl.CodeDenied},
	} {
		if pawl.CodeOf(c.err) != c.code {
			t.Errorf("%s: %v", name, c.err)
		}
	}
}

func TestAFullDiskLeavesTheOldFile(t *testing.T) {
	if !need.Mounts(t) {
		return
	}
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"); err != nil {
		t.Fatal(err)
	}
	defer unix.Unmount(dir, unix.MNT_DETACH)
	r, err := OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := r.WriteFile("f", []byte("old"), 0); err != nil {
		t.Fatal(err)
	}
	if err := r.WriteFile("f", make([]byte, 1<<20), 0); pawl.CodeOf(err) != pawl.CodeDiskFull {
		t.Error(err)
	}
	list, _ := os.ReadDir(dir)
	if content(t, filepath.Join(dir, "f")) != "old" || len(list) != 1 {
		t.Error("not as before: ", list)
	}
	if err := unix.Mount("", dir, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	if err := r.WriteFile("f", []byte("new"), 0); pawl.CodeOf(err) != pawl.CodeReadOnly {
		t.Error(err)
	}
}

func TestWalkAndSweep(t *testing.T) {
	r, dir, neighbour := tree(t)
	link(t, neighbour, filepath.Join(dir, "out"))
	write(t, filepath.Join(dir, "sub", tempPrefix+"ABC"), "left by a crash")
	collect := func(skip string) string {
		var names []string
		err := r.Walk(context.Background(), ".", func(rel string, d fs.DirEntry) error {
			names = append(names, rel)
			if rel == skip {
				return fs.SkipDir
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		return strings.Join(names, " ")
	}
	if n, err := r.Sweep(context.Background()); n != 1 || err != nil {
		t.Error(n, err)
	}
	if got := collect(""); got != "a.txt out sub sub/b.txt" {
		t.Error(got)
	}
	if got := collect("sub"); got != "a.txt out sub" {
		t.Error(got)
	}
	ctx, cancel := context.WithCancel(context.Background())
	err := r.Walk(ctx, ".", func(string, fs.DirEntry) error { cancel(); return nil })
	if pawl.CodeOf(err) != pawl.CodeCanceled {
		t.Error(err)
	}
	mine := errors.New("mine")
	if err := r.Walk(context.Background(), "sub", func(string, fs.DirEntry) error { return mine }); err != mine {
		t.Error(err)
	}
}

// TestRace swaps a directory for a link to the neighbour, and another for a link to .git, while every method works on
// names through them. The neighbour and .git must stay as they are, and what is read must never be the neighbour's
// secret.
func TestRace(t *testing.T) {
	t.Parallel()
	r, dir, neighbour := tree(t)
	write(t, filepath.Join(dir, "door", "secret"), "inside")
	aside := filepath.Join(dir, "aside")
	link(t, neighbour, aside)
	write(t, filepath.Join(dir, "gate", "config"), "inside")
	link(t, ".git", filepath.Join(dir, "beside"))
	stop := time.Now().Add(time.Second)
	var tries, escapes atomic.Int64
	var wg sync.WaitGroup
	wg.Go(func() {
		for time.Now().Before(stop) {
			_ = unix.Renameat2(unix.AT_FDCWD, filepath.Join(dir, "door"), unix.AT_FDCWD, aside, unix.RENAME_EXCHANGE)
			_ = unix.Renameat2(unix.AT_FDCWD, filepath.Join(dir, "gate"), unix.AT_FDCWD, filepath.Join(dir, "beside"),
				unix.RENAME_EXCHANGE)
		}
	})
	for w := range 3 {
		wg.Go(func() {
			for i := 0; time.Now().Before(stop); i++ {
				name := fmt.Sprintf("door/n%d-%d", w, i%4)
				_ = r.Mkdir(name, 0o755)
				_ = r.Remove(name)
				_ = r.WriteFile("door/secret", []byte("inside"), 0o644)
				_ = r.WriteFile("gate/config", []byte("inside"), 0o644)
				_ = r.Mkdir(fmt.Sprintf("gate/n%d", w), 0o755)
				_ = r.Chmod("door/secret", 0o640)
				_ = r.Symlink("secret", name)
				_ = r.Rename(name, name+"x")
				_ = r.Remove(name + "x")
				if b, err := r.ReadFile("door/secret", 0); err == nil && bytes.Equal(b, []byte("secret")) {
					escapes.Add(1)
				}
				if l, err := r.ReadDir("door"); err == nil && len(l) == 1 && l[0].Name() == "canary" {
					escapes.Add(1)
				}
				tries.Add(11)
			}
		})
	}
	wg.Wait()
	info, err := os.Stat(filepath.Join(neighbour, "secret"))
	list, _ := os.ReadDir(neighbour)
	if err != nil || len(list) != 1 || info.Mode().Perm() != 0o644 ||
		content(t, filepath.Join(neighbour, "secret")) != "secret" || escapes.Load() > 0 {
		t.Errorf("%d escapes: %v %v %v", escapes.Load(), err, list, info.Mode())
	}
	own, _ := os.ReadDir(filepath.Join(dir, ".git"))
	if len(own) != 1 || content(t, filepath.Join(dir, ".git", "config")) != "c" {
		t.Error(".git was changed: ", own)
	}
	t.Logf("%d tries", tries.Load())
}

func FuzzNames(f *testing.F) {
	for _, s := range []string{"a.txt", "../x", "sub/../../x", ".git/config", "/", "../../../../etc", "", "a//b/./c/..",
		"\x00", "out/secret", "~/x", "%2e%2e/"} {
		f.Add(s)
	}
	r, dir, neighbour := tree(f)
	link(f, neighbour, filepath.Join(dir, "out"))
	f.Fuzz(func(t *testing.T, name string) {
		// A name that leads out of the test's own folder is only looked at: should a fault let it, nothing is changed
		// there.
		away := filepath.IsAbs(name) || !strings.HasPrefix(filepath.Join(dir, name), filepath.Dir(dir)+"/")
		for what, do := range actions(r) {
			if !away || slices.Contains(looks, what) {
				_ = do(name)
			}
		}
		if b, err := os.ReadFile(filepath.Join(neighbour, "secret")); err != nil || string(b) != "secret" {
			t.Fatalf("%q reached outside", name)
		}
		if b, err := os.ReadFile(filepath.Join(dir, ".git", "config")); err != nil || string(b) != "c" {
			t.Fatalf("%q changed .git", name)
		}
	})
}

func BenchmarkWriteFile(b *testing.B) {
	r, _, _ := tree(b)
	for b.Loop() {
		if err := r.WriteFile("sub/f", []byte("content"), 0o644); err != nil {
			b.Fatal(err)
		}
	}
}
