package known_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pawl/store/known"
)

// workspace is a directory that is listed and has a store.
func workspace(t *testing.T, l known.List, name string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	if err := os.MkdirAll(filepath.Join(dir, ".pawl"), 0o755); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := l.Add(dir); err != nil {
			t.Fatal(err)
		}
	}
	if l.Has(dir) {
		t.Fatal("there is no store yet")
	}
	if err := os.WriteFile(filepath.Join(l.State(dir), known.Store), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestList(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	l := known.In(state)
	if got := l.Workspaces(); len(got) != 0 {
		t.Errorf("of nobody: %q", got)
	}
	want := []string{workspace(t, l, "a b"), workspace(t, l, "工作"), workspace(t, l, "-"), workspace(t, l, strings.Repeat("x", 200))}
	slices.Sort(want)
	if got := known.In(state).Workspaces(); !slices.Equal(got, want) {
		t.Errorf("%q, not %q", got, want)
	}
	for _, w := range want {
		in := filepath.Join(l.State(w), "worktrees", "T")
		if got := l.Owner(in); got != w || l.Owner(w) != "" || l.Owner(filepath.Dir(l.State(w))) != "" {
			t.Errorf("%s belongs to %q, not to %q", in, got, w)
		}
		if info, err := os.Stat(l.State(w)); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%v, %v", info.Mode(), err)
		}
	}
}

// TestMoved: a directory that was moved is known by its identity, and only while nothing is where it was.
func TestMoved(t *testing.T) {
	t.Parallel()
	l := known.In(t.TempDir())
	from := workspace(t, l, "w")
	to := from + "-moved"
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
	if got := l.Workspaces(); len(got) != 0 {
		t.Errorf("%q", got)
	}
	if got := l.Moved(to); got != from || l.Moved(t.TempDir()) != "" {
		t.Errorf("it was moved from %q, not %q", got, from)
	}
	if err := os.Mkdir(from, 0o755); err != nil {
		t.Fatal(err)
	}
	if got := l.Moved(to); got != "" {
		t.Errorf("%q is there", got)
	}
}

// TestNextDirectory has the file system reuse the numbers of removed directories: a new one is never taken for one that
// was removed.
func TestNextDirectory(t *testing.T) {
	t.Parallel()
	l := known.In(t.TempDir())
	for range 20 {
		gone := workspace(t, l, "gone")
		if err := os.RemoveAll(gone); err != nil {
			t.Fatal(err)
		}
		clone := filepath.Join(filepath.Dir(gone), "clone")
		if err := os.Mkdir(clone, 0o755); err != nil {
			t.Fatal(err)
		}
		if from := l.Moved(clone); from != "" {
			t.Fatalf("a new directory is taken for %s", from)
		}
		if err := os.RemoveAll(clone); err != nil {
			t.Fatal(err)
		}
	}
}

// TestHostile: what else is in the directory is no workspace, and hinders none.
func TestHostile(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	l := known.In(state)
	w := workspace(t, l, "w")
	dir := filepath.Join(state, "workspaces")
	for name, text := range map[string]string{"empty": "", "relative": "w\n", "long": "/" + strings.Repeat("x", 1<<20), "zero": "/\x00\n",
		"other": w + "\n"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name, "path"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "ca4289348a0db3c4"), []byte(w+"\n"), 0o600); err != nil { // of earlier versions
		t.Fatal(err)
	}
	if got := l.Workspaces(); !slices.Equal(got, []string{w}) {
		t.Errorf("%q, not %q", got, w)
	}
}
