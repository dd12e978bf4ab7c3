package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pawl/driver/export"
)

// TestProjectionsOfTheDead: what a process that was killed behind its last commit has left unwritten is written by the
// next one that may write, at its end and while it lasts, whether or not it has something to commit itself.
func TestProjectionsOfTheDead(t *testing.T) {
	t.Parallel()
	u := backlogged(t)
	files := []string{"state.json", "active_context.md"}
	u.must(0, "issue", "add", "first")
	before := map[string]string{}
	for _, name := range files {
		before[name] = u.read(".pawl/" + name)
	}
	mark := u.ownText(export.MarkFile)
	u.must(0, "issue", "add", "second")
	after := u.read(".pawl/state.json")
	if !strings.Contains(after, "second") || before["state.json"] == after {
		t.Fatalf("state.json:\n%s", after)
	}
	killed := func() {
		for _, name := range files {
			u.write(".pawl/"+name, before[name])
		}
		u.setOwn(export.MarkFile, mark)
	}
	killed()
	u.must(0, "issue", "list")
	if got := u.read(".pawl/state.json"); got != before["state.json"] {
		t.Errorf("a command that reads wrote state.json:\n%s", got)
	}
	u.must(0, "worker", "--execute-only")
	if got := u.read(".pawl/state.json"); got != after {
		t.Errorf("state.json is as it was before the last commit:\n%s", got)
	}
	killed()
	p := u.start("worker", "--stay", "--execute-only")
	for end := time.Now().Add(patience); u.read(".pawl/state.json") != after; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("a worker that stays never wrote what another left")
		}
	}
	p.kill()
	// A mark that makes no sense is no reason to leave files as they are.
	for _, nonsense := range []string{"", "x", "99999999 99999999\n"} {
		u.write(".pawl/state.json", before["state.json"])
		u.setOwn(export.MarkFile, nonsense)
		u.must(0, "worker", "--execute-only")
		if got := u.read(".pawl/state.json"); got != after {
			t.Errorf("with the mark %q state.json is as it was:\n%s", nonsense, got)
		}
	}
	if err := os.Remove(u.own(export.MarkFile)); err != nil {
		t.Fatal(err)
	}
	info := func() time.Time {
		i, err := os.Stat(filepath.Join(u.dir, ".pawl", "state.json"))
		if err != nil {
			t.Fatal(err)
		}
		return i.ModTime()
	}
	u.must(0, "worker", "--execute-only")
	at := info()
	u.must(0, "worker", "--execute-only")
	if !info().Equal(at) {
		t.Error("state.json was written although nothing had changed")
	}
}
