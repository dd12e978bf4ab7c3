//go:build unix

package lockfile_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"pawl"
	"pawl/store/lockfile"
)

// TestForeign writes who holds a lock into no file that has another name, through no link, and waits for no pipe.
func TestForeign(t *testing.T) {
	for kind, put := range map[string]func(mine, at string) error{
		"link": os.Symlink, "hard link": os.Link,
		"pipe": func(_, at string) error { return unix.Mkfifo(at, 0o600) },
	} {
		dir := t.TempDir()
		mine, at := filepath.Join(dir, "mine"), filepath.Join(dir, "x.lock")
		if err := errors.Join(os.WriteFile(mine, []byte("mine"), 0o644), put(mine, at)); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		l, err := lockfile.Try(at)
		if linked := kind == "hard link"; linked != (l != nil) || !linked && pawl.CodeOf(err) != pawl.CodeDenied {
			t.Errorf("%s: %v %v", kind, l, err)
		}
		_ = l.Release()
		_ = lockfile.Held(at)
		_, _ = lockfile.Who(at)
		if err := lockfile.Clear(at); (kind == "hard link") != (err == nil) || err != nil && pawl.CodeOf(err) != pawl.CodeDenied {
			t.Errorf("%s: %v", kind, err)
		}
		if raw, err := os.ReadFile(mine); err != nil || string(raw) != "mine" || time.Since(start) > 10*time.Second {
			t.Errorf("%s: %q %v", kind, raw, err)
		}
	}
}
