package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var flatRuns = flag.Int("flatruns", 8, "how many runs TestFlat makes in one workspace")

// What runs leave beside their results stays as much as the newest runs leave, however many there were: references in
// the user's repository, and files in .pawl/git; and where the history is bounded, the store with its log.
func TestFlat(t *testing.T) {
	t.Parallel()
	const newest, enough = 2, 60 // runs after which the history is as long as it gets
	u := newUser(t).repository()
	u.must(0, "init")
	u.must(0, "config", "set", "retain.runs", fmt.Sprint(newest))
	long := *flatRuns > enough
	if long {
		u.must(0, "config", "set", "retain.days", "0")
		u.must(0, "config", "set", "retain.history_mb", "1")
	}
	size := func() int64 {
		info, err := os.Stat(u.own("pawl.db"))
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	var store int64
	count := func() (refs, files int) {
		refs = strings.Count(u.git("--git-dir="+u.own("git"), "for-each-ref", "refs/pawl")+"\n", "\n")
		return refs, strings.Count(u.run("find", u.own("git"), "-type", "f"), "\n")
	}
	run := func(n int) {
		name := fmt.Sprintf("f%d.txt", n)
		u.must(0, "run", "--yes", "--plan", u.plan(fmt.Sprintf("goal: Write %s\nrisk_level: low\nsteps: [{step_id: s1, "+
			"title: Write, intent: x, status: pending, tool_calls: [{name: write_file, args_hint: {path: %s, content: x}}]}]\n"+
			"verification: {mode: none, commands: [], required: false, stop_on_fail: true}\n", name, name)))
	}
	var refs, files int
	for n := 1; n <= *flatRuns; n++ {
		run(n)
		r, f := count()
		switch {
		case long && n == enough:
			store = size()
		case long && n > enough && size() > store+store/10:
			t.Fatalf("after %d runs the store takes %d bytes, after %d %d", n, size(), enough, store)
		}
		switch {
		case n == newest+3:
			refs, files = r, f
		case n > newest+3 && (r > refs+1 || f > files+1):
			t.Fatalf("after %d runs %d references and %d files, after %d %d and %d", n, r, f, newest+3, refs, files)
		}
		// An object without a reference stays for two hours, because work in progress may be about to name it.
		u.run("find", u.own("git", "objects"), "-type", "f", "-exec", "touch", "-d", "3 hours ago", "{}", "+")
	}
	t.Logf("%d references, %d files", refs, files)
	u.must(0, "gc")
	if !strings.Contains(u.must(0, "audit", "export").out, `"REMAINS_RETIRED"`) {
		t.Error("the log does not say what was removed")
	}
	u.must(0, "audit", "verify")
	u.git("fsck", "--no-dangling", "--no-progress")
	if !long {
		u.must(0, "undo", "RUN-1")
		run(*flatRuns + 1) // until then, the one that was undone is what redo means
		u.retired()
		return
	}
	u.must(3, "show", "RUN-2")
	u.must(0, "doctor")
	t.Logf("the store takes %d bytes, after %d runs %d", size(), enough, store)
}

// retired has the history of the runs so far retired, by a backlog that fills the log: what they are is then unknown,
// all else is as it was, and the log verifies against the checkpoints that were kept.
func (u *user) retired() {
	u.t.Helper()
	var backlog strings.Builder
	for n := range 2500 {
		fmt.Fprintf(&backlog, "- [ ] number %d of a list that is long enough\n", n)
	}
	u.write("backlog.md", backlog.String())
	u.must(0, "issue", "import", "backlog.md")
	u.must(0, "config", "set", "retain.days", "0")
	u.must(0, "config", "set", "retain.history_mb", "1")
	was := decode[struct{ Records, Retired int64 }](u, "audit", "verify")
	would := decode[struct{ History struct{ Records, Rows int64 } }](u, "gc", "--dry-run")
	done := decode[struct{ History struct{ Records, Rows int64 } }](u, "gc")
	now := decode[struct{ Records, Retired int64 }](u, "audit", "verify")
	if was.Retired != 0 || done != would || done.History.Rows < 20 || now.Retired != done.History.Records || now.Records != was.Records+2 {
		u.t.Errorf("%+v would go, %+v went; the log was %+v and is %+v", would, done, was, now)
	}
	u.must(3, "show", "RUN-1")
	u.must(3, "undo", "RUN-2")
	u.must(0, "doctor")
	if n := strings.Count(u.must(0, "issue", "list", "--all", "--json").out, "\n"); n != 2500 {
		u.t.Errorf("%d issues are left", n)
	}
}
