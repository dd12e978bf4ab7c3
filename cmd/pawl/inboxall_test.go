package main

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestInboxOfEveryWorkspace: what waits in any workspace of the user is one list, from wherever they are. A store that is
// no store, one that has been taken away and a folder that is gone keep nobody from the rest, and no file of any
// workspace is written.
func TestInboxOfEveryWorkspace(t *testing.T) {
	u := newUser(t)
	top := u.dir
	plan := u.plan("goal: write a note\nsteps:\n  - step_id: s1\n    title: write\n    intent: so that it is there\n    tool_calls:\n" +
		"      - name: write_file\n        args_hint: {path: note.txt, content: hello}\n" +
		"verification: {mode: custom, commands: [test -f note.txt]}\n")
	in := func(name string) string {
		t.Helper()
		u.dir = filepath.Join(top, name)
		if err := os.Mkdir(u.dir, 0o755); err != nil {
			t.Fatal(err)
		}
		u.repository()
		u.must(9, "run", "--plan", plan)
		return u.dir
	}
	first, second, broken, gone := in("first"), in("second one"), in("broken"), in("gone")
	if err := os.WriteFile(u.in(broken).own("pawl.db"), []byte(strings.Repeat("no store ", 4000)), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(gone); err != nil {
		t.Fatal(err)
	}
	u.dir = u.home
	before := held(t, top)
	a := u.must(0, "inbox", "--all")
	for _, want := range []string{"2 waiting for you (workspaces: 2)", "\nfirst  ", "\nsecond one  ", "pawl -C " + first + " approve ",
		"pawl -C '" + second + "' approve "} {
		if !strings.Contains(a.out, want) {
			t.Errorf("without %q: %s", want, a)
		}
	}
	if !strings.Contains(a.err, broken) || strings.Contains(a.String(), gone) {
		t.Errorf("%s", a)
	}
	type inbox struct {
		Needs      []struct{ Workspace, Digest string }
		Workspaces []struct {
			Workspace string
			Needs     int
			Error     *struct{ Code, Hint string }
		}
	}
	got := decode[inbox](u, "inbox", "--all")
	if len(got.Needs) != 2 || len(got.Workspaces) != 3 || got.Workspaces[0].Error == nil || got.Workspaces[0].Error.Hint == "" {
		t.Errorf("%+v", got)
	}
	after := held(t, top)
	for path, was := range before {
		if now, ok := after[path]; now != was {
			t.Errorf("%s (still there: %t): %s, before %s", path, ok, now, was)
		}
		delete(after, path)
	}
	for path := range after {
		// Whoever reads a store by SQLite lays these beside it: the log of what is written next, and its index.
		info, err := os.Stat(path)
		if err != nil || !strings.HasSuffix(path, "-shm") && (!strings.HasSuffix(path, "-wal") || info.Size() > 0) {
			t.Errorf("%s is new, %v", path, err)
		}
	}
	u.must(0, "-C", first, "approve", got.Needs[0].Digest[:12], "--yes")
	u.must(0, "-C", second, "deny")
	if a := u.must(0, "inbox", "--all"); !strings.Contains(a.out, "Nothing needs you (workspaces: 2)") {
		t.Errorf("%s", a)
	}
}

// held is what stands in all files below a folder, and when each was written.
func held(t *testing.T, top string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil || !info.Mode().IsRegular() {
			return err
		}
		raw, err := os.ReadFile(path)
		out[path] = fmt.Sprintf("%s %x", info.ModTime(), sha256.Sum256(raw))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
