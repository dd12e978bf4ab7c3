package main

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pawl/driver/leftover"
	"pawl/kernel/effect"
)

// Nothing is left of commands that were killed while they made a store, nor of runs that were, once another command has
// begun work.
func TestKilledLeavesNothing(t *testing.T) {
	t.Parallel()
	u := newUser(t).module().repository()
	plan := u.renaming(right)
	place := effect.Place{Workspace: u.dir, State: u.own(), Tree: u.dir, Git: true}
	drafts := 0
	for delay := 2 * time.Millisecond; delay < 150*time.Millisecond && drafts < 1; delay += 5 * time.Millisecond {
		p := u.start("run", "--plan", plan, "--yes", "--json")
		wait(p, delay)
		p.kill()
		names, err := filepath.Glob(u.own("pawl.db.new-*"))
		if err != nil {
			t.Fatal(err)
		}
		drafts = len(names)
		if u.ownText("pawl.db") != "" {
			break
		}
	}
	t.Logf("%d files of half a store", drafts)
	if a := u.pawl("run", "--plan", plan, "--yes", "--json"); a.code == 7 { // the one that was killed has begun
		u.must(0, "resume", "--json")
	} else if a.code != 0 {
		t.Fatal(a)
	}
	for _, f := range leftover.Find(place) {
		t.Errorf("left behind: %s", f.Path)
	}
	if names := u.run("ls", u.own()); strings.Contains(names, ".new-") {
		t.Errorf("left behind:\n%s", names)
	}
	u.must(0, "audit", "verify")
}
