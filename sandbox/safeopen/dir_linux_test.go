package safeopen

import (
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"pawl"
)

// TestDir reads by the single names of an open directory: nothing else is reached from it, whatever stands there by
// then.
func TestDir(t *testing.T) {
	r, dir, neighbour := tree(t)
	link(t, "sub", filepath.Join(dir, "s"))
	link(t, neighbour, filepath.Join(dir, "out"))
	link(t, "a.txt", filepath.Join(dir, "l.txt"))
	write(t, filepath.Join(dir, "ten"), "0123456789")
	if err := unix.Mkfifo(filepath.Join(dir, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]pawl.Code{"s": "", "sub": "", ".": "", "out": pawl.CodeDenied,
		"..": pawl.CodeDenied, "a.txt": pawl.CodeInvalid, "absent": pawl.CodeNotFound} {
		d, err := OpenDir(r, name)
		if pawl.CodeOf(err) != want {
			t.Errorf("open %s: %v", name, err)
		}
		if err == nil {
			_ = d.Close()
		}
	}
	d, err := OpenDir(r, ".")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for name, want := range map[string]pawl.Code{
		"sub/b.txt": pawl.CodeInvalid, "..": pawl.CodeInvalid, ".": pawl.CodeInvalid, "": pawl.CodeInvalid,
		"a\x00": pawl.CodeInvalid,
		"l.txt": pawl.CodeDenied, "sub": pawl.CodeDenied, "fifo": pawl.CodeDenied, "absent": pawl.CodeNotFound,
		"ten": pawl.CodeInvalid,
	} {
		start := time.Now()
		if got, err := d.ReadFile(name, 9, nil); pawl.CodeOf(err) != want || time.Since(start) > time.Minute {
			t.Errorf("read %q: %q %v", name, got, err)
		}
	}
	buf := make([]byte, 3, 100)
	if got, err := d.ReadFile("ten", 10, buf); err != nil || string(got) != "0123456789" || &got[0] != &buf[0] {
		t.Errorf("%q %v", got, err)
	}
	for _, name := range []string{"s", "out", "a.txt", "..", "sub/x"} {
		if _, err := d.Enter(name); err == nil {
			t.Errorf("entered %s", name)
		}
	}
	sub, err := d.Enter("sub")
	if err != nil {
		t.Fatal(err)
	}
	defer sub.Close()
	for range 2 {
		list, err := sub.List()
		if err != nil || len(list) != 1 || list[0].Name() != "b.txt" || !list[0].Type().IsRegular() {
			t.Errorf("%v %v", list, err)
		}
	}
}
