package session_test

import (
	"strings"
	"testing"

	"pawl"
	"pawl/internal/golden"
	"pawl/machine"
	"pawl/machine/machinetest"
	"pawl/machine/session"
	"pawl/text/message"
)

// seedTriggers is the list of docs/spec/session.md#s3.
var seedTriggers = [][3]string{
	{"USER_INPUT_REQUIREMENT", "IDLE", "PLANNING"},
	{"PRD_GENERATED", "PLANNING", "CONFIRMING"},
	{"USER_CONFIRM", "CONFIRMING", "EXECUTING"},
	{"USER_CANCEL", "CONFIRMING", "IDLE"},
	{"USER_CANCEL", "PLANNING", "IDLE"},
	{"ERROR_DETECTED", "EXECUTING", "AUTO_FIX"},
	{"FIX_SUCCESS", "AUTO_FIX", "EXECUTING"},
	{"FIX_FAILED_3X", "AUTO_FIX", "BLOCKED"},
	{"HUMAN_INTERVENTION", "BLOCKED", "EXECUTING"},
	{"ROLLBACK", "BLOCKED", "IDLE"},
	{"ALL_TASKS_DONE", "EXECUTING", "ARCHIVING"},
	{"ARCHIVE_COMPLETE", "ARCHIVING", "IDLE"},
}

// addedTriggers are the ways that docs/spec/session.md#resolutions adds.
var addedTriggers = [][3]string{
	{"FORCE_STOP", "AUTO_FIX", "BLOCKED"},
	{"FORCE_STOP", "EXECUTING", "BLOCKED"},
	{"SKIP_TASK", "BLOCKED", "EXECUTING"},
	{"PLANNING_FAILED", "PLANNING", "IDLE"},
	{"ARCHIVE_FAILED", "ARCHIVING", "BLOCKED"},
}

func TestTriggers(t *testing.T) {
	strict := machinetest.Strict(session.Table.Describe())
	takes := func(w [3]string) (machine.RuleDescription, bool) {
		return machinetest.Find(strict, func(r machine.RuleDescription) bool { return r.From == w[1] && r.On == w[0] })
	}
	rules := map[[3]string]bool{}
	for _, r := range session.Table.Rules() {
		rules[[3]string{string(r.On), string(r.From), string(r.To)}] = r.Ext
	}
	for _, w := range seedTriggers {
		if ext, ok := rules[w]; !ok || ext {
			t.Errorf("the seed's %v: there %v, added %v", w, ok, ext)
		}
		if r, ok := takes(w); !ok || r.To != w[2] {
			t.Errorf("strict: the seed's %v is missing", w)
		}
	}
	for _, w := range addedTriggers {
		if ext, ok := rules[w]; !ok || !ext {
			t.Errorf("%v: there %v, added %v", w, ok, ext)
		}
		if r, ok := takes(w); ok {
			t.Errorf("strict: %s is still there", r.ID)
		}
	}
	if len(rules) != len(seedTriggers)+len(addedTriggers) {
		t.Errorf("%d rows", len(rules))
	}
}

func TestCheckAndCounts(t *testing.T) {
	if p := session.Table.Describe().Check(); len(p) != 0 {
		t.Errorf("problems: %v", p)
	}
	for _, p := range machinetest.Strict(session.Table.Describe()).Check() {
		if p.Kind != machine.UnusedEvent {
			t.Errorf("problem of the strict table: %v", p)
		}
	}
	if states, seed, ext := session.Table.Describe().Count(); states != 7 || seed != 12 || ext != 5 {
		t.Errorf("%d states, %d rows, %d added; want 7, 12, 5", states, seed, ext)
	}
	golden.Check(t, "../../docs/machines/session.md",
		machinetest.Page("session", message.Translation, session.Describe()...))
}

// TestNoShortcut: the work cannot be left for IDLE without archiving or a rollback (docs/spec/session.md#a3).
func TestNoShortcut(t *testing.T) {
	for _, from := range []session.State{session.Executing, session.AutoFix} {
		if r, ok := session.Table.Between(from, session.Idle); ok {
			t.Errorf("%s leads from %s to IDLE", r.ID, from)
		}
	}
	err := session.Table.Refusal(session.Executing, session.UserCancel)
	if err.Code != pawl.CodeInvalidTransition || !strings.Contains(err.Error(), "FORCE_STOP") {
		t.Errorf("the refusal does not name the way: %v", err)
	}
}

// TestWhoConfirms: nobody confirms a plan but a person, or the policy that the person wrote.
func TestWhoConfirms(t *testing.T) {
	r, _ := session.Table.Next(session.Confirming, session.UserConfirm, "")
	if !r.Admits(pawl.KindUser) || !r.Admits(pawl.KindPolicy) || r.Admits(pawl.KindRunner) ||
		r.Admits(pawl.KindSystem) {
		t.Errorf("%v may confirm", r.Actors)
	}
	for _, r := range session.Table.Rules() {
		if r.Admits(pawl.KindAgent) {
			t.Errorf("%s: an agent reports, it never moves a session", r.ID)
		}
	}
}

func TestOperations(t *testing.T) {
	want := map[session.State]string{
		session.Idle: "require history", session.Planning: "cancel pause", session.Confirming: "confirm revise cancel",
		session.Executing: "pause progress", session.AutoFix: "errors stop", session.Blocked: "fix rollback skip",
		session.Archiving: "wait",
	}
	for _, s := range session.Table.Describe().States {
		var got []string
		for _, op := range s.Operations {
			got = append(got, op.ID)
			if !session.State(s.State).Allows(session.Operation(op.ID)) {
				t.Errorf("%s: %s", s.State, op.ID)
			}
		}
		if strings.Join(got, " ") != want[session.State(s.State)] {
			t.Errorf("%s allows %v, the seed says %s", s.State, got, want[session.State(s.State)])
		}
	}
	if session.Idle.Allows(session.OpPause) || session.State("").Allows(session.OpWait) {
		t.Error("an operation is allowed that the seed does not list")
	}
}

func TestGates(t *testing.T) {
	for _, c := range []struct {
		name, rule string
		ev         session.Evidence
		code       pawl.Code
	}{
		{"plan", "S02", session.Evidence{PlanHash: "a"}, ""},
		{"no plan", "S02", session.Evidence{}, pawl.CodeGate},
		{"confirmed", "S03", session.Evidence{PlanHash: "a", ApprovalHash: "a"}, ""},
		{"not confirmed", "S03", session.Evidence{PlanHash: "a"}, pawl.CodeApprovalNeeded},
		{"nothing to confirm", "S03", session.Evidence{}, pawl.CodeGate},
		{"a person allowed what cannot be taken back", "S03",
			session.Evidence{PlanHash: "a", ApprovalHash: "a", OnlyPerson: true, ByPerson: true}, ""},
		{"a policy allowed what cannot be taken back", "S03",
			session.Evidence{PlanHash: "a", ApprovalHash: "a", OnlyPerson: true}, pawl.CodeApprovalNeeded},
		{"edited since", "S03", session.Evidence{PlanHash: "b", ApprovalHash: "a"}, pawl.CodeApprovalStale},
		{"repair proved", "S07", session.Evidence{FixVerified: true}, ""},
		{"repair claimed", "S07", session.Evidence{}, pawl.CodeGate},
		{"third failure", "S08", session.Evidence{FixAttempts: 3}, ""},
		{"second failure", "S08", session.Evidence{FixAttempts: 2}, pawl.CodeGate},
		{"limit of one", "S08", session.Evidence{FixAttempts: 1, MaxFixes: 1}, ""},
		{"checkpoint", "S10", session.Evidence{Checkpoint: "chk-202601300900"}, ""},
		{"nothing changed", "S10", session.Evidence{NothingChanged: true}, ""},
		{"no checkpoint", "S10", session.Evidence{}, pawl.CodeGate},
		{"all closed", "S11", session.Evidence{}, ""},
		{"one open", "S11", session.Evidence{OpenTasks: 1}, pawl.CodeGate},
	} {
		r, ok := session.Table.Rule(c.rule)
		if !ok {
			t.Fatalf("no row %s", c.rule)
		}
		err := session.Admit(r, c.ev)
		if (err == nil) != (c.code == "") || err != nil &&
			(err.Code != c.code || err.Rule != c.rule || err.Gate == "") {
			t.Errorf("%s: %s: %v, want %q", c.name, c.rule, err, c.code)
		}
	}
}

func TestNoAllocation(t *testing.T) {
	if n := testing.AllocsPerRun(100, func() {
		session.Table.Next(session.Idle, session.UserInputRequirement, "")
		session.Table.Refusal(session.Idle, session.Rollback)
		session.Table.Between(session.Idle, session.Executing)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
