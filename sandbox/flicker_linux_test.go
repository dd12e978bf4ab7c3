package sandbox

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"pawl/internal/need"
)

// flicker opens and closes sockets in a directory, and makes and removes files in another, until the test ends: each is
// there for two milliseconds and then gone for two, so that walls are never built without one of them coming or going.
func flicker(t *testing.T, sockets, files string) {
	t.Helper()
	done := make(chan struct{})
	var wg sync.WaitGroup
	loop := func(up, down func()) {
		wg.Go(func() {
			for {
				for _, f := range []func(){up, down} {
					f()
					select {
					case <-done:
						return
					case <-time.After(2 * time.Millisecond):
					}
				}
			}
		})
	}
	for _, name := range []string{"a", "b", "c"} {
		var l net.Listener
		loop(func() {
			var err error
			if l, err = net.Listen("unix", filepath.Join(sockets, name)); err != nil {
				t.Error(err)
			}
		}, func() {
			if l != nil {
				l.Close()
			}
		})
		file := filepath.Join(files, ".cookie-"+name)
		loop(func() { _ = os.WriteFile(file, []byte("s3cret\n"), 0o600) }, func() { _ = os.Remove(file) })
	}
	t.Cleanup(func() { close(done); wg.Wait() })
}

// Programs that open and close sockets, or rewrite what they keep in the home directory, keep no command from starting,
// and a secret that is there all the time stays hidden meanwhile. Nobody is shown what a try says that did not come to
// stand.
func TestWhatComesAndGoesStopsNothing(t *testing.T) {
	home, dir := outside(t), outside(t)
	write(t, filepath.Join(home, ".netrc"), "s3cret\n")
	flicker(t, dir, home)
	mechanisms(t, func(t *testing.T, m Mechanism) {
		b := box(t, Options{Mechanism: m, Home: home})
		s := spec(t, `cat "$1/.netrc" 2>/dev/null; echo ran`)
		s.Argv, s.Readable = append(s.Argv, "sh", home), []string{home, dir}
		seen := ""
		s.OnOutput = func(p []byte) { seen += string(p) }
		for range 12 {
			seen = ""
			if got := output(t, b, s); got != "ran\n" || seen != got {
				t.Fatalf("%q, seen %q", got, seen)
			}
		}
		s.OnOutput, s.Argv[2] = nil, `echo aside >&2; read word; echo "$word"`
		for range 12 {
			p, err := b.Start(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			_, _ = io.WriteString(p.Stdin, "word\n")
			out, _ := io.ReadAll(p.Stdout)
			aside, _ := io.ReadAll(p.Stderr)
			if r, err := p.Wait(); err != nil || string(out) != "word\n" || string(aside) != "aside\n" {
				t.Fatalf("%q, aside %q: %+v %v", out, aside, r, err)
			}
		}
	})
}

// What is to be hidden is left out where it is gone, tried again where it came back, and an error where it cannot be
// hidden although it is there.
func TestAHiddenPathMayBeGone(t *testing.T) {
	if !need.Mounts(t) {
		return
	}
	dir := t.TempDir()
	gonePath, link := filepath.Join(dir, "gone"), filepath.Join(dir, "link")
	if err := os.Symlink("elsewhere", link); err != nil {
		t.Fatal(err)
	}
	for _, k := range []mountKind{mountHideFile, mountHideDir} {
		if err := attach([]step{{mount{kind: k, path: gonePath}, -1, -1},
			{mount{kind: k, path: filepath.Join(gonePath, "deeper")}, -1, -1}}, 0); err != nil {
			t.Errorf("%c: %v", k, err)
		}
		if _, err := os.Lstat(gonePath); err == nil {
			t.Errorf("%c: a place was made for what is gone", k)
		}
	}
	steps, err := hold([]mount{{kind: mountRead, path: gonePath}})
	if err != nil || len(steps) != 0 {
		t.Error(steps, err)
	}
	// In a directory that the command may write to, it could make it anew.
	if _, err := hold([]mount{{kind: mountWrite, path: dir},
		{kind: mountRead, path: filepath.Join(dir, ".git")}}); err == nil {
		t.Error("a read-only path of a writable directory is gone, and nobody said so")
	}
	if _, err := hold([]mount{{kind: mountWrite, path: gonePath}}); err == nil {
		t.Error("a writable path is gone, and nobody said so")
	}
	if _, err := openNoLinks(link); err != unix.ELOOP || gone(err) {
		t.Errorf("a link in the place of a hidden path is taken for nothing: %v", err)
	}
}

// A socket that somebody else keeps to himself cannot be hidden, and keeps no command from starting: not even one of
// root's.
func TestSocketsOfOthersStopNothing(t *testing.T) {
	base := outside(t)
	dir := filepath.Join(base, "others")
	t.Cleanup(func() {
		for _, name := range []string{"", "kept", "mixed"} {
			_ = os.Chmod(filepath.Join(dir, name), 0o700) // else removing it fails
		}
	})
	for _, name := range []string{"kept/socket", "mixed/socket"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		l, err := net.Listen("unix", filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
	}
	write(t, filepath.Join(dir, "mixed/beside"), "x\n")
	// The folders belong to nobody that root's namespace knows, and where the test is not root's, nobody may enter
	// them.
	for _, name := range []string{"mixed", "kept", ""} {
		if os.Geteuid() == 0 {
			if err := os.Chown(filepath.Join(dir, name), 65533, 65533); err != nil {
				t.Fatal(err)
			}
		} else if err := os.Chmod(filepath.Join(dir, name), 0); err != nil {
			t.Fatal(err)
		}
	}
	mechanisms(t, func(t *testing.T, m Mechanism) {
		s := spec(t, `cat "$1/mixed/beside" 2>/dev/null; echo ran`)
		s.Argv, s.Readable = append(s.Argv, "sh", dir), []string{base}
		if got := output(t, box(t, Options{Mechanism: m}), s); got != "ran\n" {
			t.Errorf("%q", got)
		}
	})
}
