package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pawl/machine/board"
)

// exportedState is the state.json of the board.
func (u *user) exportedState() (raw string, s board.State) {
	u.t.Helper()
	u.must(0, "issue", "export", "out.json")
	raw = u.read("out.json")
	if err := os.Remove(filepath.Join(u.dir, "out.json")); err != nil {
		u.t.Fatal(err)
	}
	s, err := board.ParseState([]byte(raw))
	if err != nil {
		u.t.Fatalf("%v:\n%s", err, raw)
	}
	return raw, s
}

// endedBoard is a board of which one issue is done, one failed at work, one could not be planned, and one waits to be.
func endedBoard(t *testing.T) *user {
	u := backlogged(t)
	u.must(0, "issue", "add", "part 0", "--plan", u.planFile("p0", partPlan(0, "", "", false)))
	u.must(0, "issue", "add", "part 1", "--plan", u.planFile("p1", partPlan(1, "", "exit 3", false)))
	u.must(1, "issue", "execute", "--all", "--yes")
	u.must(0, "issue", "add", "left for later")
	return u
}

// TestStateTellsOfFailures reads in state.json what an issue failed of: in words, with its time and its action.
func TestStateTellsOfFailures(t *testing.T) {
	t.Parallel()
	u := endedBoard(t)
	raw, s := u.exportedState()
	i := s.Issues["ISS-2"]
	if i.Status != board.IssueFailed || i.Error == nil || !strings.Contains(*i.Error, " ") ||
		strings.Contains(*i.Error, "kernel.") || i.ExecutedAt == "" {
		t.Errorf("the issue that failed: %+v\n%s", i, raw)
	}
	if len(s.Errors) == 0 {
		t.Fatalf("nothing in the log:\n%s", raw)
	}
	for _, e := range s.Errors {
		if e.IssueID != "ISS-2" || e.Action != "execute" || e.Timestamp == "" || e.Class == "" || e.Code == "" ||
			!strings.Contains(e.Message, " ") || strings.Contains(e.Message, "kernel.") {
			t.Errorf("%+v", e)
		}
	}
	if done := s.Issues["ISS-1"]; done.Error != nil || done.ExecutedAt == "" || done.PlannedAt == "" {
		t.Errorf("the issue that is done: %+v", done)
	}
	if strings.Contains(raw, `_at": ""`) || !strings.Contains(raw, `"planned_at": null`) {
		t.Errorf("a time that is not there is no null:\n%s", raw)
	}
}

// TestStateGoesRound imports what was exported: the board is the same one, and can be exported and imported again.
func TestStateGoesRound(t *testing.T) {
	t.Parallel()
	u := endedBoard(t)
	raw, want := u.exportedState()
	for range 2 {
		v := backlogged(t)
		v.write("old/state.json", raw)
		v.must(0, "issue", "import", "old/state.json")
		again, got := v.exportedState()
		got.WorkDir, got.CreatedAt, got.UpdatedAt = want.WorkDir, want.CreatedAt, want.UpdatedAt
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("the board that was imported: %s", d)
		}
		v.must(0, "audit", "verify")
		raw = again
	}
	// What failed is tried again like any other.
	u.must(0, "issue", "retry", "ISS-2")
}

// TestStateThatPersonsChanged warns before a state.json that was edited is written over.
func TestStateThatPersonsChanged(t *testing.T) {
	t.Parallel()
	u := backlogged(t)
	u.must(0, "issue", "add", "one")
	u.must(0, "export")
	if a := u.must(0, "status"); strings.Contains(a.err, "state.json") {
		t.Errorf("a warning about nothing: %v", a)
	}
	for _, text := range []string{strings.Replace(u.read(".pawl/state.json"), "one", "another", 1), "{", ""} {
		u.write(".pawl/state.json", text)
		if a := u.must(0, "status"); !strings.Contains(a.err, "state.json") {
			t.Errorf("no warning about %q: %v", text, a)
		}
		if a := u.must(0, "issue", "add", "two"); !strings.Contains(a.err, "state.json") {
			t.Errorf("written over without a word: %v", a)
		}
		u.must(0, "export")
		if _, err := board.ParseState([]byte(u.read(".pawl/state.json"))); err != nil {
			t.Errorf("not written anew: %v", err)
		}
	}
}

// TestExecuteSaysWhatWaits does not end as if all were done while plans wait for a word, and --yes is that word.
func TestExecuteSaysWhatWaits(t *testing.T) {
	t.Parallel()
	u := backlogged(t)
	u.must(0, "issue", "add", "part 0", "--plan", u.planFile("p0", partPlan(0, "", "", false)))
	u.must(0, "issue", "plan", "--all")
	a := u.must(9, "issue", "execute", "--all")
	u.says(a, "ISS-1")
	if !strings.Contains(a.err, "it waits for your answer") || !strings.Contains(a.err, "pawl approve --issue") {
		t.Errorf("%v", a)
	}
	u.issueIs("1", board.IssuePlanned, "asks")
	u.must(0, "issue", "execute", "--all", "--yes")
	u.issueIs("1", board.IssueCompleted, "")
}
