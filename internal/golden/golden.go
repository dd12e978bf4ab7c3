// Package golden compares what a test produced with a file that is kept beside the code. It is for tests only.
package golden

import (
	"bytes"
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// update is the flag that writes the files instead of comparing them.
var update = flag.Bool("update", false, "write the golden files instead of comparing them")

// Updating reports whether the test run writes golden files.
func Updating() bool { return *update }

// Check fails the test when got differs from the file's content, and says at which line. With -update it writes the
// file and its folder instead, and leaves a file alone that is right already. Line endings are compared as they are.
func Check(t testing.TB, path, got string) {
	t.Helper()
	want, err := os.ReadFile(path)
	if err == nil && bytes.Equal(want, []byte(got)) {
		return
	}
	if Updating() {
		write(t, path, got)
		return
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		t.Errorf("%s is missing; run the test with -update to write it", path)
	case err != nil:
		t.Errorf("read golden file: %v", err)
	default:
		line, w, g := Diff(string(want), got)
		t.Errorf("%s differs at line %d; run the test with -update if the change is meant\nwant: %s\n got: %s", path,
			line, w, g)
	}
}

func write(t testing.TB, path, got string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Errorf("write golden file: %v", err)
		return
	}
	if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
		t.Errorf("write golden file: %v", err)
	}
}

// Diff returns the number of the first line in which two texts differ, counted from 1, and that line of each; a line
// that one text does not have is shown as "(end)". Equal texts give line 0.
func Diff(want, got string) (line int, wantLine, gotLine string) {
	if want == got {
		return 0, "", ""
	}
	for line = 1; ; line++ {
		w, wantRest, wantMore := strings.Cut(want, "\n")
		g, gotRest, gotMore := strings.Cut(got, "\n")
		if w != g || wantMore != gotMore {
			if wantMore != gotMore && w == g {
				return line + 1, end(wantRest, wantMore), end(gotRest, gotMore)
			}
			return line, w, g
		}
		want, got = wantRest, gotRest
	}
}

func end(rest string, more bool) string {
	if !more {
		return "(end)"
	}
	line, _, _ := strings.Cut(rest, "\n")
	return line
}
