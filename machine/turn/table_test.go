package turn_test

import (
	"testing"

	"pawl"
	"pawl/internal/golden"
	"pawl/machine"
	"pawl/machine/machinetest"
	"pawl/machine/turn"
	"pawl/text/message"
)

// seedEdges are the moves that docs/spec/turn.md#s2-3 prints, in its order.
var seedEdges = [][2]turn.State{
	{turn.Idle, turn.Intake},
	{turn.Intake, turn.Clarifying}, {turn.Intake, turn.ContextBuilding},
	{turn.ContextBuilding, turn.Planning},
	{turn.Planning, turn.AwaitingConfirmation}, {turn.Planning, turn.Executing},
	{turn.Executing, turn.Recovering}, {turn.Executing, turn.Verifying},
	{turn.Verifying, turn.Summarizing}, {turn.Verifying, turn.Recovering},
	{turn.Recovering, turn.Executing}, {turn.Recovering, turn.Summarizing},
	{turn.Summarizing, turn.Done}, {turn.Done, turn.Idle},
}

// addedEdges is the list of docs/spec/turn.md#edges without the moves of the seed's text, CANCEL and moves that stay.
var addedEdges = [][2]turn.State{
	{turn.AwaitingConfirmation, turn.Executing},
	{turn.Clarifying, turn.Intake},
	{turn.Intake, turn.Summarizing},
	{turn.AwaitingConfirmation, turn.Summarizing}, {turn.AwaitingConfirmation, turn.Recovering},
	{turn.Executing, turn.AwaitingConfirmation}, {turn.Recovering, turn.AwaitingConfirmation},
	{turn.Planning, turn.Summarizing},
	// The question about changed checks (docs/spec/composition.md#checks) is asked where the checks ran and leads back
	// there.
	{turn.Verifying, turn.AwaitingConfirmation}, {turn.AwaitingConfirmation, turn.Verifying},
	// The question of an agent at work (docs/spec/composition.md#questions) is asked in its step and leads back there.
	{turn.Executing, turn.Clarifying}, {turn.Clarifying, turn.Executing},
}

func TestEdges(t *testing.T) {
	strict := machinetest.Strict(turn.Table.Describe())
	want := map[[2]turn.State]bool{}
	for _, e := range seedEdges {
		want[e] = true
		if _, ok := machinetest.Between(strict, e[0], e[1]); !ok {
			t.Errorf("strict: the seed's %v is missing", e)
		}
	}
	for _, e := range addedEdges {
		want[e] = true
	}
	for _, r := range turn.Table.Rules() {
		e := [2]turn.State{r.From, r.To}
		if r.From != r.To && r.On != turn.Cancel && !want[e] {
			t.Errorf("%s: nobody asked for %v", r.ID, e)
		}
		if r.Ext && r.Named {
			t.Errorf("%s is marked as the seed's and as added", r.ID)
		}
		if r.Idempotent {
			t.Errorf("%s: a turn that goes on is on record", r.ID)
		}
	}
	for e := range want {
		if _, ok := turn.Table.Between(e[0], e[1]); !ok {
			t.Errorf("%v is missing", e)
		}
	}
}

// TestSeedEvents: each event of docs/spec/turn.md#s2-2 moves something, and the one rule that the seed prints with its
// event is as printed.
func TestSeedEvents(t *testing.T) {
	used := map[turn.Event]bool{}
	for _, r := range turn.Table.Rules() {
		used[r.On] = true
	}
	for _, e := range []turn.Event{turn.UserMessage, turn.ClarificationAnswer, turn.ToolCallRequest,
		turn.ToolCallResult, turn.Confirm, turn.Timeout, turn.Cancel} {
		if !used[e] {
			t.Errorf("%s moves nothing", e)
		}
	}
	if r, ok := turn.Table.Next(turn.Idle, turn.UserMessage, ""); !ok || r.To != turn.Intake || r.Ext || r.Named {
		t.Errorf("IDLE + USER_MESSAGE = %v", r)
	}
}

func TestCancelFromEveryActiveState(t *testing.T) {
	for _, s := range turn.Table.States() {
		r, ok := turn.Table.Next(s, turn.Cancel, "")
		if ok != s.Active() || ok && r.To != turn.Summarizing {
			t.Errorf("%s + CANCEL = %v, %v", s, r, ok)
		}
	}
	if turn.State("").Active() || turn.State("idle").Active() {
		t.Error("what is no state is active")
	}
}

func TestTimeouts(t *testing.T) {
	for from, to := range map[turn.State]turn.State{
		turn.AwaitingConfirmation: turn.Summarizing, turn.Clarifying: turn.Clarifying, turn.Executing: turn.Recovering,
		turn.Verifying: turn.Recovering, turn.Planning: turn.Summarizing,
	} {
		if r, ok := turn.Table.Next(from, turn.Timeout, ""); !ok || r.To != to || !r.Ext {
			t.Errorf("%s + TIMEOUT = %v, want %s", from, r, to)
		}
	}
}

// TestConfirmationReturns: an answer leads back to where it was asked, and fits no other question.
func TestConfirmationReturns(t *testing.T) {
	for _, c := range []struct {
		asked  turn.State
		answer string
		to     turn.State
	}{
		{turn.Planning, turn.AnswerYes, turn.Executing}, {turn.Planning, turn.AnswerNo, turn.Summarizing},
		{turn.Executing, turn.AnswerYesStep, turn.Executing}, {turn.Executing, turn.AnswerNoStep, turn.Recovering},
		{turn.Recovering, turn.AnswerYesRepair, turn.Recovering}, {turn.Recovering, turn.AnswerNoStep, turn.Recovering},
		{turn.Verifying, turn.AnswerYesChecks, turn.Verifying}, {turn.Verifying, turn.AnswerNoStep, turn.Recovering},
	} {
		r, ok := turn.Table.Next(turn.AwaitingConfirmation, turn.Confirm, c.answer)
		if !ok || r.To != c.to {
			t.Fatalf("asked in %s, answer %s: %v", c.asked, c.answer, r)
		}
		ev := turn.Evidence{AskedFrom: c.asked, SubjectHash: "h", ApprovalHash: "h"}
		if err := turn.Admit(r, ev); err != nil {
			t.Errorf("asked in %s, answer %s: %v", c.asked, c.answer, err)
		}
		if c.answer == turn.AnswerNo || c.answer == turn.AnswerNoStep {
			continue
		}
		for _, other := range []turn.State{turn.Planning, turn.Executing, turn.Recovering, turn.Verifying, ""} {
			ev.AskedFrom = other
			if err := turn.Admit(r, ev); (err == nil) != (other == c.asked) {
				t.Errorf("%s, asked in %q: %v", r.ID, other, err)
			}
		}
		for _, hash := range []string{"", "other"} {
			if err := turn.Admit(r, turn.Evidence{AskedFrom: c.asked, SubjectHash: "h",
				ApprovalHash: hash}); err == nil {
				t.Errorf("%s passes on an approval of %q", r.ID, hash)
			}
		}
	}
}

// TestWhoGivesAWord: nobody confirms or answers but a person, or the policy that the person wrote.
func TestWhoGivesAWord(t *testing.T) {
	for _, r := range turn.Table.Rules() {
		word := r.On == turn.Confirm || r.On == turn.ClarificationAnswer
		if !r.Admits(pawl.KindUser) && word || word && (r.Admits(pawl.KindRunner) || r.Admits(pawl.KindSystem)) ||
			r.Admits(pawl.KindAgent) {
			t.Errorf("%s: %v may cause it", r.ID, r.Actors)
		}
	}
}

func TestBudgets(t *testing.T) {
	for _, c := range []struct {
		from turn.State
		on   turn.Event
		when string
		ev   turn.Evidence
		code pawl.Code
	}{
		{turn.Intake, turn.NeedInfo, "", turn.Evidence{Rounds: 2}, ""},
		{turn.Intake, turn.NeedInfo, "", turn.Evidence{Rounds: 3}, pawl.CodeBudget},
		{turn.Intake, turn.NeedInfo, "", turn.Evidence{Rounds: 3, MaxRounds: 4}, ""},
		{turn.Recovering, turn.FixPlanned, "", turn.Evidence{Repairs: 2}, ""},
		{turn.Recovering, turn.FixPlanned, "", turn.Evidence{Repairs: 3}, pawl.CodeBudget},
		{turn.Recovering, turn.FixPlanned, turn.FixPatch, turn.Evidence{Patches: 1}, ""},
		{turn.Recovering, turn.FixPlanned, turn.FixPatch, turn.Evidence{Patches: 2}, pawl.CodeBudget},
		{turn.Verifying, turn.ChecksPassed, "", turn.Evidence{ChecksRan: true}, ""},
		{turn.Verifying, turn.ChecksPassed, "", turn.Evidence{}, pawl.CodeGate},
		{turn.Verifying, turn.ChecksPassed, "", turn.Evidence{ChecksRan: true, FailedRequired: 1},
			pawl.CodeChecksFailed},
		{turn.Verifying, turn.ChecksFailed, turn.ChecksOptional, turn.Evidence{ChecksRan: true, FailedRequired: 1},
			pawl.CodeChecksFailed},
	} {
		r, ok := turn.Table.Next(c.from, c.on, c.when)
		if !ok {
			t.Fatalf("%s + %s(%s): no row", c.from, c.on, c.when)
		}
		err := turn.Admit(r, c.ev)
		if (err == nil) != (c.code == "") || err != nil && err.Code != c.code {
			t.Errorf("%s with %+v: %v, want %q", r.ID, c.ev, err, c.code)
		}
	}
}

func TestCheckAndCounts(t *testing.T) {
	if p := turn.Table.Describe().Check(); len(p) != 0 {
		t.Errorf("problems: %v", p)
	}
	// The seed prints no way out of CLARIFYING; that is the gap that the product closes (docs/spec/turn.md#b1).
	for _, p := range machinetest.Strict(turn.Table.Describe()).Check() {
		gap := p.Kind == machine.DeadEnd && p.Where == "CLARIFYING"
		if !gap && p.Kind != machine.UnusedEvent && p.Kind != machine.UnusedGate {
			t.Errorf("problem of the strict table: %v", p)
		}
	}
	states, seed, ext := turn.Table.Describe().Count()
	if states != 11 || seed != 18 || ext != len(turn.Table.Rules())-18 {
		t.Errorf("%d states, %d rows of the seed, %d added", states, seed, ext)
	}
	golden.Check(t, "../../docs/machines/turn.md", machinetest.Page("turn", message.Translation, turn.Describe()...))
}

func TestNoAllocation(t *testing.T) {
	if n := testing.AllocsPerRun(100, func() {
		turn.Table.Next(turn.AwaitingConfirmation, turn.Confirm, turn.AnswerNoStep)
		turn.Table.Refusal(turn.Done, turn.Cancel)
		turn.Table.Between(turn.Idle, turn.Done)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
