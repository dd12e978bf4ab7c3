package board_test

import (
	"fmt"
	"strings"
	"testing"

	"pawl"
	"pawl/internal/golden"
	"pawl/machine"
	"pawl/machine/board"
	"pawl/machine/machinetest"
	"pawl/text/message"
)

func TestCheckAndCounts(t *testing.T) {
	var counts []string
	for _, d := range board.Describe() {
		if p := d.Check(); len(p) != 0 {
			t.Errorf("%s: problems: %v", d.Name, p)
		}
		states, seed, ext := d.Count()
		counts = append(counts, fmt.Sprintf("%s %d/%d+%d", d.Name, states, seed, ext))
	}
	if got, want := strings.Join(counts, ", "),
		"board.run 3/2+0, board.phase 5/16+0, board.issue 6/5+8, board.item 4/3+3, "+
			"board.hold 2/0+2, board.work 3/0+6, board.claim 2/0+9, board.dependents 2/0+1"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	golden.Check(t, "../../docs/machines/board.md", machinetest.Page("board", message.Translation, board.Describe()...))
}

// TestStrict: without the added rows only the seed's ways are left, and nothing but unused names is lost.
func TestStrict(t *testing.T) {
	for _, problems := range [][]machine.Problem{
		machinetest.Strict(board.Run.Describe()).Check(), machinetest.Strict(board.Phase.Describe()).Check(),
		machinetest.Strict(board.Issue.Describe()).Check(), machinetest.Strict(board.Item.Describe()).Check(),
	} {
		for _, p := range problems {
			if p.Kind != machine.UnusedEvent && p.Kind != machine.UnusedGate {
				t.Errorf("problem of a strict table: %v", p)
			}
		}
	}
	if _, ok := machinetest.Between(machinetest.Strict(board.Issue.Describe()), board.IssueFailed,
		board.IssuePlanned); ok {
		t.Error("the retry is still there")
	}
}

func TestRunGoesOneWay(t *testing.T) {
	for _, c := range []struct {
		from, to board.RunStatus
		ok       bool
	}{
		{board.RunPending, board.RunRunning, true}, {board.RunRunning, board.RunCompleted, true},
		{board.RunPending, board.RunCompleted, false}, {board.RunRunning, board.RunPending, false}, {board.RunCompleted,
			board.RunRunning, false},
	} {
		if _, ok := board.Run.Between(c.from, c.to); ok != c.ok {
			t.Errorf("%s → %s: %v", c.from, c.to, ok)
		}
	}
}

// TestPhaseLoops: while the batch runs, any of list, plan and execute may follow any other (docs/spec/board.md#e4).
func TestPhaseLoops(t *testing.T) {
	loop := []board.PhaseStatus{board.PhaseListing, board.PhasePlanning, board.PhaseExecuting}
	for _, from := range append(loop, board.PhaseInit) {
		for _, to := range append(loop, board.PhaseComplete) {
			if _, ok := board.Phase.Between(from, to); !ok {
				t.Errorf("%s → %s is missing", from, to)
			}
		}
		if _, ok := board.Phase.Between(from, board.PhaseInit); ok {
			t.Errorf("%s leads back to init", from)
		}
	}
	if len(board.Phase.From(board.PhaseComplete)) != 0 {
		t.Error("complete can be left")
	}
}

func TestIssueAndItemGates(t *testing.T) {
	issue := func(from board.IssueStatus, on board.Event, when string, e board.Evidence) *pawl.Error {
		r, ok := board.Issue.Next(from, on, when)
		if !ok {
			t.Fatalf("no row for %s in %s", on, from)
		}
		return board.Admit(r, e)
	}
	item := func(on board.Event, e board.Evidence) *pawl.Error {
		from := board.ItemPending
		if on == board.Succeed {
			from = board.ItemExecuting
		}
		r, ok := board.Item.Next(from, on, "")
		if !ok {
			t.Fatalf("no row for %s in %s", on, from)
		}
		return board.Admit(r, e)
	}
	run := func(from board.RunStatus, on board.Event, e board.Evidence) *pawl.Error {
		r, _ := board.Run.Next(from, on, "")
		return board.Admit(r, e)
	}
	for _, c := range []struct {
		name string
		err  *pawl.Error
		code pawl.Code
	}{
		{"solution bound", issue(board.IssuePlanning, board.PlanReady, "", board.Evidence{SolutionID: "SOL-ISS-1-1"}),
			""},
		{"no solution", issue(board.IssuePlanning, board.PlanReady, "", board.Evidence{}), pawl.CodeGate},
		{"second planning failure", issue(board.IssuePlanning, board.PlanFailed, "", board.Evidence{PlanFailures: 2}),
			""},
		{"third planning failure", issue(board.IssuePlanning, board.PlanFailed, "", board.Evidence{PlanFailures: 3}),
			pawl.CodeBudget},
		{"given up after the third", issue(board.IssuePlanning, board.PlanFailed, board.PlanGivenUp,
			board.Evidence{PlanFailures: 3}), ""},
		{"given up too early", issue(board.IssuePlanning, board.PlanFailed, board.PlanGivenUp,
			board.Evidence{PlanFailures: 2}), pawl.CodeGate},
		{"own limit", issue(board.IssuePlanning, board.PlanFailed, board.PlanGivenUp,
			board.Evidence{PlanFailures: 1, MaxPlanFailures: 1}), ""},
		{"landed", issue(board.IssueExecuting, board.Succeed, "", board.Evidence{Landed: true}), ""},
		{"not landed", issue(board.IssueExecuting, board.Succeed, "", board.Evidence{}), pawl.CodeGate},
		{"retry with its solution", issue(board.IssueFailed, board.Retry, "", board.Evidence{SolutionID: "s"}), ""},
		{"retry without one", issue(board.IssueFailed, board.Retry, "", board.Evidence{}), pawl.CodeGate},
		{"plan anew", issue(board.IssueFailed, board.Retry, board.Replan, board.Evidence{}), ""},
		{"dependencies done", item(board.Execute, board.Evidence{}), ""},
		{"dependency open", item(board.Execute, board.Evidence{OpenDependencies: 1}), pawl.CodeGate},
		{"item not landed", item(board.Succeed, board.Evidence{}), pawl.CodeGate},
		{"work dir", run(board.RunPending, board.Init, board.Evidence{WorkDir: "/w"}), ""},
		{"no work dir", run(board.RunPending, board.Init, board.Evidence{}), pawl.CodeGate},
		{"all at rest", run(board.RunRunning, board.Complete, board.Evidence{}), ""},
		{"one at work", run(board.RunRunning, board.Complete, board.Evidence{Executing: 1}), pawl.CodeGate},
	} {
		if (c.err == nil) != (c.code == "") || c.err != nil && (c.err.Code != c.code || c.err.Gate == "") {
			t.Errorf("%s: %v, want %q", c.name, c.err, c.code)
		}
	}
}

func TestSharedRowIDs(t *testing.T) {
	seen := map[string]string{}
	for _, d := range board.Describe() {
		for _, r := range d.Rules {
			if other := seen[r.ID]; other != "" {
				t.Errorf("%s is in %s and in %s", r.ID, other, d.Name)
			}
			seen[r.ID] = d.Name
		}
	}
}
