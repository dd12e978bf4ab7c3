package search

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pawl/sandbox/safeopen"
)

// TestWalkKeepsFewOpen counts the descriptors of a walk down a tree that is deeper than maxOpen, while it goes on and
// after each end that it may have.
func TestWalkKeepsFewOpen(t *testing.T) {
	dir := t.TempDir()
	const deep = 3 * maxOpen
	if err := os.MkdirAll(filepath.Join(dir, strings.Repeat("d/", deep)), 0o755); err != nil {
		t.Fatal(err)
	}
	root, err := safeopen.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	enough := errors.New("enough")
	walk := func(most int) (seen, highest int, err error) {
		w := walker{ctx: t.Context(), root: root, visit: func(*safeopen.Dir, string, fs.DirEntry) error {
			highest = max(highest, descriptors(t))
			if seen++; seen == most {
				return enough
			}
			return nil
		}}
		err = w.walk(".")
		return seen, highest, err
	}
	if _, _, err := walk(1); !errors.Is(err, enough) { // what the runtime opens once is open from here on
		t.Fatal(err)
	}
	before := descriptors(t)
	if seen, highest, err := walk(0); err != nil || seen != deep || highest-before > 2*maxOpen+8 {
		t.Errorf("%d folders, %d more descriptors, %v", seen, highest-before, err)
	}
	for most := 1; most <= deep; most += 37 {
		if _, _, err := walk(most); !errors.Is(err, enough) {
			t.Error(err)
		}
	}
	if n := descriptors(t); n != before {
		t.Errorf("%d descriptors are open, before %d", n, before)
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
