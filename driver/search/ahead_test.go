package search

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"pawl/sandbox/safeopen"
)

// TestAhead compares a walk that lists folders before it is their turn with one that does not, also where the visitor
// ends it, and counts the descriptors that stay open.
func TestAhead(t *testing.T) {
	dir := t.TempDir()
	for i := range 60 {
		p := filepath.Join(dir, fmt.Sprintf("d%d/e%d/f%d", i%4, i%5, i%3))
		if err := os.MkdirAll(p, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(p, fmt.Sprintf("%d.txt", i)), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "d1/.gitignore"), []byte("e2/\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	root, err := safeopen.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	enough := errors.New("enough")
	seen := func(ahead, most int) (out []string, err error) {
		w := walker{ctx: t.Context(), root: root, ahead: ahead,
			visit: func(_ *folder, rel string, d fs.DirEntry) error {
				if out = append(out, rel); len(out) == most {
					return enough
				}
				return nil
			}}
		err = w.walk(".")
		return out, err
	}
	// The runtime opens its poller when it is first needed, which is now.
	r, w, err := os.Pipe()
	if err := errors.Join(err, r.SetReadDeadline(time.Now()), r.Close(), w.Close()); err != nil {
		t.Fatal(err)
	}
	open := descriptors(t)
	for most := range 130 {
		want, wantErr := seen(0, most)
		for _, ahead := range []int{1, 2, 7} {
			if got, err := seen(ahead, most); !slices.Equal(got, want) || !errors.Is(err, wantErr) {
				t.Fatalf("%d ahead, at most %d: %v %v, want %v %v", ahead, most, got, err, want, wantErr)
			}
		}
	}
	if n := descriptors(t); n != open {
		t.Errorf("%d descriptors are open, before %d", n, open)
	}
}

// descriptors counts what is open, 0 where the system does not tell.
func descriptors(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(list)
}
