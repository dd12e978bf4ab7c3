package known_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pawl/store/known"
)

const store = ".pawl/pawl.db"

// workspace is a folder with a store.
func workspace(t *testing.T, name string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	if err := os.MkdirAll(filepath.Join(dir, ".pawl"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, store), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestList(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	l := known.In(state, store)
	if got := l.Workspaces(); len(got) != 0 {
		t.Errorf("of nobody: %q", got)
	}
	a, b := workspace(t, "a b"), workspace(t, "工作")
	for range 2 {
		for _, w := range []string{b, a} {
			if err := l.Add(w); err != nil {
				t.Fatal(err)
			}
		}
	}
	want := []string{a, b}
	slices.Sort(want)
	if got := known.In(state, store).Workspaces(); !slices.Equal(got, want) {
		t.Errorf("%q, not %q", got, want)
	}
}

// A workspace that was removed leaves the list; one on a disk that is away is back with it.
func TestGone(t *testing.T) {
	t.Parallel()
	l := known.In(t.TempDir(), store)
	removed, away := workspace(t, "removed"), workspace(t, "away")
	for _, w := range []string{removed, away} {
		if err := l.Add(w); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.RemoveAll(filepath.Join(removed, ".pawl")); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(away, away+"-"); err != nil {
		t.Fatal(err)
	}
	if got := l.Workspaces(); len(got) != 0 {
		t.Errorf("%q", got)
	}
	if err := os.Rename(away+"-", away); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(removed, ".pawl"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(removed, store), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := l.Workspaces(); !slices.Equal(got, []string{away}) {
		t.Errorf("%q, not %q", got, away)
	}
}

// What others left in the folder is no workspace, and hinders none.
func TestHostile(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	l, w := known.In(state, store), workspace(t, "w")
	if err := l.Add(w); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"empty": "", "relative": "w\n", "long": "/" + strings.Repeat("x", 1<<20), "zero": "/\x00\n"} {
		if err := os.WriteFile(filepath.Join(state, "workspaces", name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("folder", filepath.Join(state, "workspaces", "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(state, "workspaces", "folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	if got := l.Workspaces(); !slices.Equal(got, []string{w}) {
		t.Errorf("%q, not %q", got, w)
	}
	if err := l.Add("/" + strings.Repeat("x", 1<<20)); err != nil {
		t.Error(err)
	}
}
