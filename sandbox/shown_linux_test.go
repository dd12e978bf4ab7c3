package sandbox

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pawl"
	"pawl/sandbox/links"
)

// shownSpec is a command in a workspace that is shown a folder elsewhere, in which there is a file and a link that
// leads up.
func shownSpec(t *testing.T, script string) (Spec, string) {
	t.Helper()
	s := spec(t, script)
	from := filepath.Join(t.TempDir(), "packages")
	for name, text := range map[string]string{"a/a.txt": "theirs\n", "b.txt": "b\n"} {
		p := filepath.Join(from, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../src", filepath.Join(from, "up")); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(s.Dir, "src"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.Dir, "src", "own.txt"), []byte("own\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	s.Shown = []Shown{{From: from, At: filepath.Join(s.Dir, "deps")}}
	return s, from
}

func entries(t *testing.T, dir string) string {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range list {
		names = append(names, e.Name())
	}
	return strings.Join(names, " ")
}

func TestAFolderIsShownAtAnotherPath(t *testing.T) {
	each(t, func(t *testing.T, b *Box) {
		// A link of the folder that leads up leads into the tree in which the folder is shown.
		s, from := shownSpec(t, "cat deps/a/a.txt deps/b.txt deps/up/own.txt; rm -rf deps/a; echo mine > deps/b.txt; mkdir -p deps/.cache && echo c > deps/.cache/c; rmdir deps; true")
		if got := output(t, b, s); !strings.HasPrefix(got, "theirs\nb\nown\n") {
			t.Errorf("%q", got)
		}
		s.Argv[2] = "cat deps/b.txt; ls -A deps deps/a"
		if got := output(t, b, s); got != "b\ndeps:\na\nb.txt\nup\n\ndeps/a:\na.txt\n" {
			t.Errorf("the next command sees what the one before wrote: %q", got)
		}
		if got := entries(t, from) + entries(t, filepath.Join(from, "a")); got != "a b.txt upa.txt" {
			t.Errorf("the folder itself changed: %s", got)
		}
		if got := entries(t, s.Dir); got != "src" {
			t.Errorf("something is left in the tree: %s", got)
		}
	})
}

// What a command writes where a folder is shown is taken by a layer of its own.
func TestWhatIsShownCanBeWrittenTo(t *testing.T) {
	b := box(t, Options{Mechanism: MechanismNamespaces})
	s, from := shownSpec(t, "set -e; mkdir deps/.cache; echo c > deps/.cache/c; echo mine > deps/a/a.txt; rm -r deps/up; mv deps/b.txt deps/c.txt; rm -r deps/a; mkdir deps/a; cat deps/.cache/c; ls -A deps/a; stat -c %a deps")
	if got := output(t, b, s); got != "c\n755\n" {
		t.Errorf("%q", got)
	}
	if raw, err := os.ReadFile(filepath.Join(from, "a", "a.txt")); err != nil || string(raw) != "theirs\n" {
		t.Errorf("the folder itself changed: %q %v", raw, err)
	}
}

// A folder that stands where another is shown is covered, stays, and keeps what is in it.
func TestWhatIsCoveredStays(t *testing.T) {
	each(t, func(t *testing.T, b *Box) {
		s, _ := shownSpec(t, "ls -A deps")
		if err := os.MkdirAll(filepath.Join(s.Dir, "deps", "planted"), 0o755); err != nil {
			t.Fatal(err)
		}
		if b.bare(t.Context()) {
			// Links cover nothing, so that nothing is run beside what was planted.
			if _, err := b.Run(t.Context(), s); pawl.CodeOf(err) != pawl.CodeDenied {
				t.Errorf("what was planted: %v", err)
			}
		} else if got := output(t, b, s); got != "a\nb.txt\nup\n" {
			t.Errorf("%q", got)
		}
		if got := entries(t, filepath.Join(s.Dir, "deps")); got != "planted" {
			t.Errorf("%q", got)
		}
	})
}

func TestNothingIsShownThroughALink(t *testing.T) {
	b := box(t, Options{Mechanism: MechanismNamespaces})
	outside := t.TempDir()
	refused := func(what string, code pawl.Code, change func(s *Spec)) {
		t.Helper()
		s, _ := shownSpec(t, "echo ran")
		change(&s)
		if res, err := b.Run(context.Background(), s); pawl.CodeOf(err) != code || len(res.Output) > 0 {
			t.Errorf("%s: %v %q", what, err, res.Output)
		}
		if got := entries(t, outside); got != "" {
			t.Errorf("%s: outside there is %s", what, got)
		}
	}
	link := func(s *Spec, name, to string) {
		if err := os.Symlink(to, filepath.Join(s.Dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	refused("a link in its place", pawl.CodeDenied, func(s *Spec) { link(s, "deps", outside) })
	refused("a file in its place", pawl.CodeDenied, func(s *Spec) {
		if err := os.WriteFile(filepath.Join(s.Dir, "deps"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	})
	refused("a link above", pawl.CodeDenied, func(s *Spec) {
		link(s, "sub", outside)
		s.Shown[0].At = filepath.Join(s.Dir, "sub", "deps")
	})
	refused("outside", pawl.CodeDenied, func(s *Spec) { s.Shown[0].At = filepath.Join(outside, "deps") })
	refused("the tree itself", pawl.CodeDenied, func(s *Spec) { s.Shown[0].At = s.Dir })
	refused("nothing there", pawl.CodeNotFound, func(s *Spec) { s.Shown[0].From = filepath.Join(outside, "gone") })
	refused("no folder", pawl.CodeInvalid, func(s *Spec) { s.Shown[0].From = filepath.Join(s.Dir, "src", "own.txt") })
	refused("no parent", pawl.CodeNotFound, func(s *Spec) { s.Shown[0].At = filepath.Join(s.Dir, "x", "deps") })
	refused("not absolute", pawl.CodeInvalid, func(s *Spec) { s.Shown[0].At = "deps" })
}

// Commands that run at the same time in one tree are shown the same folder; the place goes with the last of them.
func TestPlacesAreSharedByCommands(t *testing.T) {
	b := box(t, Options{Mechanism: MechanismNamespaces})
	s, _ := shownSpec(t, "echo up; read go; cat deps/b.txt")
	first, err := b.Start(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = first.Stderr.Read(make([]byte, 1)) }()
	buf := make([]byte, 100)
	if n, err := first.Stdout.Read(buf); err != nil || string(buf[:n]) != "up\n" {
		t.Fatalf("%q %v", buf[:n], err)
	}
	second := s
	second.Argv = []string{"sh", "-c", "cat deps/b.txt"}
	if got := output(t, b, second); got != "b\n" {
		t.Errorf("%q", got)
	}
	if _, err := first.Stdin.WriteString("go\n"); err != nil {
		t.Fatal(err)
	}
	n, _ := first.Stdout.Read(buf)
	if res, err := first.Wait(); err != nil || res.Exit != 0 || string(buf[:n]) != "b\n" {
		t.Errorf("%q %v %v", buf[:n], res, err)
	}
	if got := entries(t, s.Dir); got != "src" {
		t.Errorf("something is left in the tree: %s", got)
	}
}

// Without mounts, a folder of links stands in for what is shown. What a command leaves in it goes with it.
func TestAFolderIsShownByLinks(t *testing.T) {
	b := box(t, Options{Mechanism: MechanismLandlock})
	s, from := shownSpec(t, "cat deps/a/a.txt deps/up/own.txt deps/@s/up/own.txt deps/@s/real/x; echo no > deps/a/a.txt; rm -rf deps/a; mkdir -p deps/.cache && echo c > deps/.cache/c && cat deps/.cache/c")
	if err := os.MkdirAll(filepath.Join(from, "@s", "real"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(from, "@s", "real", "x"), []byte("x\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../../src", filepath.Join(from, "@s", "up")); err != nil {
		t.Fatal(err)
	}
	s.Hidden = []string{from}
	got := output(t, b, s)
	if !strings.HasPrefix(got, "theirs\nown\nown\nx\n") || !strings.HasSuffix(got, "c\n") {
		t.Errorf("%q", got)
	}
	if got := entries(t, from) + " " + entries(t, filepath.Join(from, "a")); got != "@s a b.txt up a.txt" {
		t.Errorf("the folder itself changed: %s", got)
	}
	if raw, err := os.ReadFile(filepath.Join(from, "a", "a.txt")); err != nil || string(raw) != "theirs\n" {
		t.Errorf("the folder itself changed: %q %v", raw, err)
	}
	if got := entries(t, s.Dir); got != "src" {
		t.Errorf("something is left in the tree: %s", got)
	}
	// What a killed pawl left there is made anew.
	root, err := os.OpenRoot(s.Dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if err := errors.Join(root.Mkdir("deps", 0o755), links.Make(root, "deps", from)); err != nil {
		t.Fatal(err)
	}
	if got := output(t, b, s); !strings.HasPrefix(got, "theirs\n") {
		t.Errorf("after a crash: %q", got)
	}
	// What stands there cannot be covered, and is never taken for what is to be shown.
	if err := os.MkdirAll(filepath.Join(s.Dir, "deps", "planted"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Run(context.Background(), s); pawl.CodeOf(err) != pawl.CodeDenied {
		t.Errorf("planted: %v", err)
	}
	if got := entries(t, filepath.Join(s.Dir, "deps")); got != "planted" {
		t.Errorf("%q", got)
	}
}

// A folder in the home of a command: one that is kept takes what is written, one that is not stays as it is, and both
// are there under the path of the home alone. On the floor there are none.
func TestFoldersInTheHome(t *testing.T) {
	each(t, func(t *testing.T, b *Box) {
		s, from := shownSpec(t, `cd "$HOME" || exit; ls -A; echo new >kept/new; cat shown/in/b.txt; echo no >shown/in/b.txt; cat shown/in/b.txt`)
		kept := t.TempDir()
		s.Shown = []Shown{{From: kept, At: Home + "/kept", Kept: true}, {From: from, At: Home + "/shown/in"}}
		shows, layered := b.Layers(t.Context(), from)
		r := run(t, b, s)
		want := "kept\nshown\nb\n"
		if layered {
			want += "no\n"
		} else {
			want += "sh: 1: cannot create shown/in/b.txt: Read-only file system\nb\n"
		}
		switch {
		case !shows:
			if strings.Contains(string(r.Output), "kept\n") || entries(t, kept) != "" {
				t.Errorf("on the floor: %s, %s", r.Output, entries(t, kept))
			}
		case string(r.Output) != want || entries(t, kept) != "new":
			t.Errorf("%q, want %q, kept %s", r.Output, want, entries(t, kept))
		}
		if text, err := os.ReadFile(filepath.Join(from, "b.txt")); err != nil || string(text) != "b\n" {
			t.Errorf("the folder changed: %q %v", text, err)
		}
		s.Argv = []string{"true"} // were one of these let through, nothing would be written to it
		for what, sh := range map[string]Shown{
			"kept in a tree":     {From: kept, At: filepath.Join(s.Dir, "deps"), Kept: true},
			"a system directory": {From: "/usr", At: Home + "/kept", Kept: true},
			"the home itself":    {From: kept, At: Home, Kept: true},
			"out of the home":    {From: kept, At: Home + "/../../root", Kept: true},
		} {
			s.Shown = []Shown{sh}
			if _, err := b.Run(t.Context(), s); pawl.CodeOf(err) != pawl.CodeDenied {
				t.Errorf("%s: %v", what, err)
			}
		}
	})
}

// What lies in the tree itself may be shown at its own path, so that it is not written to. On the floor it is as it is.
func TestAFolderIsShownWhereItIs(t *testing.T) {
	each(t, func(t *testing.T, b *Box) {
		s := spec(t, "echo evil >deps/a; cat deps/a; true")
		deps := filepath.Join(s.Dir, "deps")
		if err := errors.Join(os.Mkdir(deps, 0o755), os.WriteFile(filepath.Join(deps, "a"), []byte("ours\n"), 0o644)); err != nil {
			t.Fatal(err)
		}
		s.Shown = []Shown{{From: deps, At: deps}}
		r := run(t, b, s)
		text, err := os.ReadFile(filepath.Join(deps, "a"))
		if shows, _ := b.Layers(t.Context(), deps); err != nil || shows == (string(text) != "ours\n") {
			t.Errorf("%q after %s, %v", text, r.Output, err)
		}
	})
}
