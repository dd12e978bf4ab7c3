package session

import (
	"pawl"
	"pawl/machine"
)

// Names of the gates.
const (
	GatePlan        = "plan-exists"
	GateApproval    = "approval"
	GatePerson      = "persons-word"
	GateFixVerified = "fix-verified"
	GateFixesSpent  = "fixes-spent"
	GateCheckpoint  = "checkpoint"
	GateNoOpenTasks = "no-open-tasks"
)

// MaxFixes is the default number of failed repairs after which the fuse blows.
const MaxFixes = 3

// Evidence is what the gates of a row look at. The caller fills in what the row's gates need; a gate that finds its
// evidence missing refuses.
type Evidence struct {
	// PlanHash is the hash of the plan under discussion, ApprovalHash the one that the user's word is bound to.
	PlanHash, ApprovalHash string
	// OnlyPerson states that the plan has calls which reach beyond the machine or cannot be taken back, or is of
	// extremely high risk, ByPerson that the word is that of a person, who saw that, rather than that of a policy in a
	// person's name.
	OnlyPerson, ByPerson bool
	// FixVerified states that pawl ran the failed checks on the repaired tree and that they passed.
	FixVerified bool
	// FixAttempts is the number of failed repairs in a row; MaxFixes the limit, where 0 means the default.
	FixAttempts, MaxFixes int
	// Checkpoint names the checkpoint to return to. NothingChanged states that the session has changed no file, so that
	// there is nothing to return from.
	Checkpoint     string
	NothingChanged bool
	// OpenTasks is the number of the session's tasks that are not closed and not left behind.
	OpenTasks int
}

// gates are the implemented gates, in the order in which the rows first name them.
var gates = machine.Gates[Evidence]{
	{Name: GatePlan, Pass: planExists, Description: "a plan with its hash exists"},
	{Name: GateApproval, Pass: approval, Description: "the user's word is bound to this plan's hash"},
	{Name: GatePerson, Pass: personsWord, Description: "what cannot be taken back has a person's own word"},
	{Name: GateFixVerified, Pass: fixVerified, Description: "the checks passed on the repaired tree"},
	{Name: GateFixesSpent, Pass: fixesSpent, Description: "as many repairs failed in a row as are allowed"},
	{Name: GateCheckpoint, Pass: checkpoint, Description: "there is a checkpoint to return to"},
	{Name: GateNoOpenTasks, Pass: noOpenTasks, Description: "no task is open"},
}

// Admit tries the gates of a row on the evidence and returns the first refusal, naming row and gate, or nil.
func Admit(r *machine.Rule[State, Event], e Evidence) *pawl.Error {
	return machine.Admit(r, gates, e)
}

func planExists(e Evidence) *pawl.Error {
	if e.PlanHash == "" {
		return pawl.Fail(pawl.CodeGate, "machine.gate_no_plan")
	}
	return nil
}

func approval(e Evidence) *pawl.Error {
	switch {
	case e.PlanHash == "":
		return pawl.Fail(pawl.CodeGate, "machine.gate_no_plan")
	case e.ApprovalHash == "":
		return pawl.Fail(pawl.CodeApprovalNeeded, "machine.gate_approval")
	case e.ApprovalHash != e.PlanHash:
		return pawl.Fail(pawl.CodeApprovalStale, "machine.gate_stale")
	}
	return nil
}

func personsWord(e Evidence) *pawl.Error {
	if e.OnlyPerson && !e.ByPerson {
		return pawl.Fail(pawl.CodeApprovalNeeded, "machine.gate_person")
	}
	return nil
}

func fixVerified(e Evidence) *pawl.Error {
	if !e.FixVerified {
		return pawl.Fail(pawl.CodeGate, "machine.gate_fix_unproven")
	}
	return nil
}

func fixesSpent(e Evidence) *pawl.Error {
	limit := e.MaxFixes
	if limit == 0 {
		limit = MaxFixes
	}
	if e.FixAttempts < limit {
		return pawl.Fail(pawl.CodeGate, "machine.gate_fixes_left", e.FixAttempts, limit)
	}
	return nil
}

func checkpoint(e Evidence) *pawl.Error {
	if e.Checkpoint == "" && !e.NothingChanged {
		return pawl.Fail(pawl.CodeGate, "machine.gate_no_checkpoint")
	}
	return nil
}

func noOpenTasks(e Evidence) *pawl.Error {
	if e.OpenTasks > 0 {
		return pawl.Fail(pawl.CodeGate, "machine.gate_open_tasks", e.OpenTasks)
	}
	return nil
}
