package sandbox

import (
	"io"
	"os"
	"path/filepath"
	"testing"
)

// TestALayerLasts: what a command writes over a shown directory is there for later commands with the same Layer, and
// for nobody else. The directory never changes.
func TestALayerLasts(t *testing.T) {
	b := box(t, Options{Mechanism: MechanismNamespaces})
	s, from := shownSpec(t, "set -e; echo mine > deps/b.txt; echo c > deps/c.txt; rm deps/a/a.txt; rm deps/up")
	layer := t.TempDir()
	s.Shown[0].Layer = layer
	output(t, b, s)
	s.Argv[2] = "cat deps/b.txt deps/c.txt; ls deps/a"
	if got := output(t, b, s); got != "mine\nc\n" {
		t.Errorf("a later command sees %q", got)
	}
	for _, other := range []string{"", t.TempDir()} {
		s.Shown[0].Layer = other
		s.Argv[2] = "cat deps/b.txt; ls deps"
		if got := output(t, b, s); got != "b\na\nb.txt\nup\n" {
			t.Errorf("a command with another layer sees %q", got)
		}
	}

	// Two mounts of one layer at a time would disturb each other.
	s.Shown[0].Layer, s.Argv[2] = layer, "echo first > deps/d.txt; echo begun; cat; cat deps/d.txt"
	p, err := b.Start(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	begun := make([]byte, len("begun\n"))
	if _, err := io.ReadFull(p.Stdout, begun); err != nil {
		t.Fatal(err)
	}
	s.Argv[2] = "cat deps/b.txt; echo second > deps/d.txt"
	if got := output(t, b, s); got != "b\n" {
		t.Errorf("a command at the same time sees %q", got)
	}
	_ = p.Stdin.Close()
	rest, _ := io.ReadAll(p.Stdout)
	if r, err := p.Wait(); err != nil || r.Exit != 0 || string(rest) != "first\n" {
		t.Errorf("the first command: %v %+v %q", err, r, rest)
	}
	if raw, err := os.ReadFile(filepath.Join(from, "b.txt")); err != nil || string(raw) != "b\n" ||
		entries(t, from)+entries(t, filepath.Join(from, "a")) != "a b.txt upa.txt" {
		t.Errorf("the directory itself changed: %q %v", raw, err)
	}
}
