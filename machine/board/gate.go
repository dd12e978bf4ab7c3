package board

import (
	"pawl"
	"pawl/machine"
)

// Names of the gates.
const (
	GateWorkDir      = "work-dir"
	GateIdle         = "nothing-executing"
	GateSolution     = "solution-bound"
	GateLanded       = "landed"
	GatePlanBudget   = "planning-budget"
	GatePlanSpent    = "planning-spent"
	GateDependencies = "dependencies-done"
	GateApproved     = "plan-approved"
	GateDue          = "due"
	GateLeaseOver    = "lease-over"
	GateSessionWaits = "session-waits"
	GateSessionRuns  = "session-runs"
	GateUnfinished   = "something-to-finish"
	GateFinished     = "nothing-to-finish"
)

// MaxPlanFailures is the default number of failed planning attempts after which an issue fails (docs/spec/board.md#e6).
const MaxPlanFailures = 3

// Evidence is what the gates of a row look at. The caller fills in what the row's gates need; a gate that finds its
// evidence missing refuses. A limit of 0 means the default.
type Evidence struct {
	// WorkDir is the working directory of the batch.
	WorkDir string
	// Executing is the number of items that are being executed, issues in planning included.
	Executing int
	// SolutionID is the solution bound to the issue.
	SolutionID string
	// Landed states that the solution's verified tree is on the branch that it was meant for.
	Landed bool
	// PlanFailures is the number of failed planning attempts of the issue, the present one included.
	PlanFailures, MaxPlanFailures int
	// OpenDependencies is the number of items that this one depends on and that are not completed.
	OpenDependencies int
	// Approved states that the plan is approved; Early that it is not to be claimed yet, after a failure;
	// Leased that a worker has it under a lease that is not over.
	Approved, Early, Leased bool
	// SessionWaits states that nothing goes on in the session before a person has said something, Unfinished
	// that it has something to finish although the issue rests or is canceled.
	SessionWaits, Unfinished bool
}

// gates are the implemented gates of the board's machines.
var gates = machine.Gates[Evidence]{
	{Name: GateWorkDir, Pass: workDir, Description: "the batch has a working directory"},
	{Name: GateIdle, Pass: idle, Description: "no item is being planned or executed"},
	{Name: GateSolution, Pass: solution, Description: "a solution is bound to the issue"},
	{Name: GateLanded, Pass: landed, Description: "the solution's verified tree has landed"},
	{Name: GatePlanBudget, Pass: planBudget, Description: "a planning attempt is left"},
	{Name: GatePlanSpent, Pass: planSpent, Description: "no planning attempt is left"},
	{Name: GateDependencies, Pass: dependencies, Description: "everything that the item depends on is completed"},
	{Name: GateApproved, Pass: approved, Description: "the issue's plan is approved"},
	{Name: GateDue, Pass: due, Description: "its time has come"},
	{Name: GateLeaseOver, Pass: leaseOver, Description: "the lease of the worker before is over"},
	{Name: GateSessionWaits, Pass: sessionWaits, Description: "the issue's session waits for a person"},
	{Name: GateSessionRuns, Pass: sessionRuns, Description: "the issue's session waits for nobody"},
	{Name: GateUnfinished, Pass: unfinished, Description: "the issue's session has something to finish"},
	{Name: GateFinished, Pass: finished, Description: "the issue's session has nothing left to finish"},
}

// Admit tries the gates that a row of any of the board's machines names, and returns the first refusal, naming row and
// gate, or nil.
func Admit[S ~string](r *machine.Rule[S, Event], e Evidence) *pawl.Error {
	return machine.Admit(r, gates, e)
}

func workDir(e Evidence) *pawl.Error {
	if e.WorkDir == "" {
		return pawl.Fail(pawl.CodeGate, "machine.gate_work_dir")
	}
	return nil
}

func idle(e Evidence) *pawl.Error {
	if e.Executing > 0 {
		return pawl.Fail(pawl.CodeGate, "machine.gate_executing", e.Executing)
	}
	return nil
}

func solution(e Evidence) *pawl.Error {
	if e.SolutionID == "" {
		return pawl.Fail(pawl.CodeGate, "machine.gate_solution")
	}
	return nil
}

func landed(e Evidence) *pawl.Error {
	if !e.Landed {
		return pawl.Fail(pawl.CodeGate, "machine.gate_landed")
	}
	return nil
}

func (e Evidence) planLimit() int {
	if e.MaxPlanFailures > 0 {
		return e.MaxPlanFailures
	}
	return MaxPlanFailures
}

func planBudget(e Evidence) *pawl.Error {
	if limit := e.planLimit(); e.PlanFailures >= limit {
		return pawl.Fail(pawl.CodeBudget, "machine.gate_plan_spent", e.PlanFailures, limit)
	}
	return nil
}

func planSpent(e Evidence) *pawl.Error {
	if limit := e.planLimit(); e.PlanFailures < limit {
		return pawl.Fail(pawl.CodeGate, "machine.gate_plan_left", e.PlanFailures, limit)
	}
	return nil
}

func dependencies(e Evidence) *pawl.Error {
	if e.OpenDependencies > 0 {
		return pawl.Fail(pawl.CodeGate, "machine.gate_dependencies", e.OpenDependencies)
	}
	return nil
}

func approved(e Evidence) *pawl.Error     { return need(e.Approved, "machine.gate_unapproved") }
func due(e Evidence) *pawl.Error          { return need(!e.Early, "machine.gate_early") }
func leaseOver(e Evidence) *pawl.Error    { return need(!e.Leased, "machine.gate_leased") }
func sessionWaits(e Evidence) *pawl.Error { return need(e.SessionWaits, "machine.gate_session_runs") }
func sessionRuns(e Evidence) *pawl.Error  { return need(!e.SessionWaits, "machine.gate_session_waits") }
func unfinished(e Evidence) *pawl.Error   { return need(e.Unfinished, "machine.gate_finished") }
func finished(e Evidence) *pawl.Error     { return need(!e.Unfinished, "machine.gate_unfinished") }

// need refuses with a message where something is not so.
func need(so bool, key string) *pawl.Error {
	if so {
		return nil
	}
	return pawl.Fail(pawl.CodeGate, key)
}
