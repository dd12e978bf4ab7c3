package turn

import (
	"pawl"
	"pawl/machine"
)

// Names of the gates.
const (
	GateRounds        = "clarify-rounds"
	GateAskedByPlan   = "asked-by-plan"
	GateAskedByStep   = "asked-by-step"
	GateAskedByRepair = "asked-by-repair"
	GateAskedByWork   = "asked-by-work"
	GateAskedByChecks = "asked-by-checks"
	GateApproval      = "approval"
	GateChecks        = "checks"
	GateRepairs       = "repair-budget"
	GatePatches       = "patch-budget"
)

// Defaults of the turn's budgets: rounds of questions (docs/spec/turn.md#b1), failed repairs (docs/spec/session.md#s3)
// and plan patches (docs/spec/turn.md#b6).
const (
	MaxRounds  = 3
	MaxRepairs = 3
	MaxPatches = 2
)

// Evidence is what the gates of a row look at. The caller fills in what the row's gates need; a gate that finds its
// evidence missing refuses. A limit of 0 means the default.
type Evidence struct {
	// Rounds is the number of rounds of questions asked so far in this turn.
	Rounds, MaxRounds int
	// AskedFrom is the state that the open confirmation was asked in.
	AskedFrom State
	// SubjectHash is the hash of what is asked, ApprovalHash the one that the answer is bound to.
	SubjectHash, ApprovalHash string
	// FailedRequired is the number of required checks that did not pass. ChecksRan states that pawl ran the checks, or
	// that the plan asks for none.
	FailedRequired int
	ChecksRan      bool
	// Repairs is the number of failed repairs so far, Patches that of plan patches.
	Repairs, MaxRepairs int
	Patches, MaxPatches int
}

// gates are the implemented gates, in the order in which the rows first name them.
var gates = machine.Gates[Evidence]{
	{Name: GateRounds, Pass: rounds, Description: "a round of questions is left"},
	{Name: GateChecks, Pass: checks, Description: "the checks ran, and no required one failed"},
	{Name: GateRepairs, Pass: repairs, Description: "a repair is left"},
	{Name: GateAskedByPlan, Pass: askedBy(Planning), Description: "it was asked in PLANNING"},
	{Name: GateApproval, Pass: approval, Description: "the answer is bound to what was asked"},
	{Name: GateAskedByStep, Pass: askedBy(Executing), Description: "it was asked in EXECUTING"},
	{Name: GateAskedByRepair, Pass: askedBy(Recovering), Description: "it was asked in RECOVERING"},
	{Name: GateAskedByWork, Pass: askedBy(Executing, Recovering, Verifying),
		Description: "it was asked in EXECUTING, RECOVERING or VERIFYING"},
	{Name: GatePatches, Pass: patches, Description: "a plan patch is left"},
	{Name: GateAskedByChecks, Pass: askedBy(Verifying), Description: "it was asked in VERIFYING"},
}

// Admit tries the gates of a row on the evidence and returns the first refusal, naming row and gate, or nil.
func Admit(r *machine.Rule[State, Event], e Evidence) *pawl.Error {
	return machine.Admit(r, gates, e)
}

func rounds(e Evidence) *pawl.Error {
	return budget("machine.gate_rounds", e.Rounds, e.MaxRounds, MaxRounds)
}

func repairs(e Evidence) *pawl.Error {
	return budget("machine.gate_repairs", e.Repairs, e.MaxRepairs, MaxRepairs)
}

func patches(e Evidence) *pawl.Error {
	return budget("machine.gate_patches", e.Patches, e.MaxPatches, MaxPatches)
}

func budget(key string, used, limit, standard int) *pawl.Error {
	if limit == 0 {
		limit = standard
	}
	if used >= limit {
		return pawl.Fail(pawl.CodeBudget, key, used, limit)
	}
	return nil
}

func askedBy(states ...State) func(Evidence) *pawl.Error {
	return func(e Evidence) *pawl.Error {
		for _, s := range states {
			if e.AskedFrom == s {
				return nil
			}
		}
		return pawl.Fail(pawl.CodeGate, "machine.gate_asked", machine.Show(e.AskedFrom))
	}
}

func approval(e Evidence) *pawl.Error {
	switch {
	case e.SubjectHash == "" || e.ApprovalHash == "":
		return pawl.Fail(pawl.CodeApprovalNeeded, "machine.gate_approval")
	case e.SubjectHash != e.ApprovalHash:
		return pawl.Fail(pawl.CodeApprovalStale, "machine.gate_stale")
	}
	return nil
}

func checks(e Evidence) *pawl.Error {
	if !e.ChecksRan {
		return pawl.Fail(pawl.CodeGate, "machine.gate_no_checks")
	}
	if e.FailedRequired > 0 {
		return pawl.Fail(pawl.CodeChecksFailed, "machine.gate_checks_failed", e.FailedRequired)
	}
	return nil
}
