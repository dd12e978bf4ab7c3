package golden

import (
	"os"
	"path/filepath"
	"testing"
)

// recorder notes whether a check failed, in place of a test that would.
type recorder struct {
	testing.TB
	failed bool
}

func (r *recorder) Helper()               {}
func (r *recorder) Errorf(string, ...any) { r.failed = true }

func TestCheck(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.txt")
	if err := os.WriteFile(path, []byte("one\ntwo\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path, got string
		fails     bool
	}{
		{path, "one\ntwo\n", false},
		{path, "one\ntwo", true},
		{path, "", true},
		{filepath.Join(dir, "missing"), "", true},
		{dir, "", true},
	} {
		r := &recorder{TB: t}
		Check(r, c.path, c.got)
		if r.failed != c.fails && !Updating() {
			t.Errorf("Check(%s, %q): failed %v, want %v", c.path, c.got, r.failed, c.fails)
		}
	}
}

func TestDiff(t *testing.T) {
	for _, c := range []struct {
		want, got, w, g string
		line            int
	}{
		{"", "", "", "", 0},
		{"a\nb", "a\nb", "", "", 0},
		{"a\nb\n", "a\nc\n", "b", "c", 2},
		{"a\n", "a\nb\n", "", "b", 2},
		{"a", "a\nb", "(end)", "b", 2},
		{"a\n", "a", "", "(end)", 2},
		{"x", "y", "x", "y", 1},
	} {
		line, w, g := Diff(c.want, c.got)
		if line != c.line || w != c.w || g != c.g {
			t.Errorf("Diff(%q, %q) = %d %q %q, want %d %q %q", c.want, c.got, line, w, g, c.line, c.w, c.g)
		}
	}
}
