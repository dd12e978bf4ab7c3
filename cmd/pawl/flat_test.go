package main

import (
	"flag"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

var flatRuns = flag.Int("flatruns", 8, "how many runs TestFlat makes in one workspace")

// What runs leave beside their results stays as much as the newest runs leave, however many there were: references in
// the user's repository, and files in .pawl/git.
func TestFlat(t *testing.T) {
	t.Parallel()
	const newest = 2
	u := newUser(t).repository()
	u.must(0, "init")
	u.must(0, "config", "set", "retain.runs", fmt.Sprint(newest))
	count := func() (refs, files int) {
		refs = strings.Count(u.git("for-each-ref", "refs/pawl")+"\n", "\n")
		return refs, strings.Count(u.run("find", filepath.Join(".pawl", "git"), "-type", "f"), "\n")
	}
	var refs, files int
	for n := 1; n <= *flatRuns; n++ {
		name := fmt.Sprintf("f%d.txt", n)
		u.must(0, "run", "--yes", "--plan", u.plan(fmt.Sprintf("goal: Write %s\nrisk_level: low\nsteps: [{step_id: s1, "+
			"title: Write, intent: x, status: pending, tool_calls: [{name: write_file, args_hint: {path: %s, content: x}}]}]\n"+
			"verification: {mode: none, commands: [], required: false, stop_on_fail: true}\n", name, name)))
		r, f := count()
		switch {
		case n == newest+3:
			refs, files = r, f
		case n > newest+3 && (r > refs+1 || f > files+1):
			t.Fatalf("after %d runs %d references and %d files, after %d %d and %d", n, r, f, newest+3, refs, files)
		}
	}
	t.Logf("%d references, %d files", refs, files)
	u.must(0, "gc")
	u.must(0, "audit", "verify")
	u.must(0, "undo", "RUN-1")
	u.git("fsck", "--no-dangling", "--no-progress")
}
