// Package composed has the states of the five machines together, as far as one run is about them, and the conditions on
// them that the rows of the composition table name (docs/spec/composition.md#table). It is pure.
package composed

import (
	"pawl/machine/board"
	"pawl/machine/session"
	"pawl/machine/task"
	"pawl/machine/turn"
	"pawl/machine/workflow"
)

// States are the states of the five machines together, as far as one run is about them. An empty field is a row that is
// not there, except for Stage, where it means that no flow runs.
type States struct {
	Session session.State     `json:"session"`
	Turn    turn.State        `json:"turn,omitempty"`
	Task    task.State        `json:"task,omitempty"`
	Stage   workflow.Stage    `json:"flow"`
	Issue   board.IssueStatus `json:"issue,omitempty"`
	Item    board.ItemStatus  `json:"item,omitempty"`
	Run     board.RunStatus   `json:"run,omitempty"`
	Phase   board.PhaseStatus `json:"phase,omitempty"`
	// What stands beside the state of the session.
	session.Beside
	// The regions of an issue of the board; any other issue has none.
	board.Regions
}

// Condition names what has to be so of the states together before a row of the composition table applies, as a gate
// names what has to be so of the evidence. Conditions are append-only.
type Condition string

// The conditions.
const (
	// IfAtWork: the session is at work.
	IfAtWork Condition = "at-work"
	// IfExecuting: the turn carries out steps.
	IfExecuting Condition = "turn-executing"
	// IfPlanning: the session plans.
	IfPlanning Condition = "session-planning"
	// IfTurnPlans: the turn makes a plan.
	IfTurnPlans Condition = "turn-planning"
	// IfJudged: the requirement is evaluated, or need not be.
	IfJudged Condition = "evaluated"
	// IfSizing: the requirement is clear and its way of working not yet chosen.
	IfSizing Condition = "sizing"
	// IfDeveloping: the flow is in development.
	IfDeveloping Condition = "developing"
	// IfNoPackage: the flow goes on without a package that has to be confirmed.
	IfNoPackage Condition = "no-package"
	// IfVerifying: the task is being verified.
	IfVerifying Condition = "task-verifying"
	// IfClosed: the task is closed, or has failed.
	IfClosed Condition = "task-closed"
	// IfNotFinal: the task can still go on.
	IfNotFinal Condition = "task-not-final"
	// IfOpen: nobody holds the issue back.
	IfOpen Condition = "issue-open"
	// IfRunnable: the work on the issue can go on. IfDraining: something of it is to be finished.
	IfRunnable Condition = "issue-runnable"
	IfDraining Condition = "issue-draining"
	// IfRegistered: the issue has no plan. IfPlanned: it has one, which waits. IfUnderWay: it is being planned or
	// carried out. IfCompleted: it came to that end.
	IfRegistered Condition = "issue-registered"
	IfPlanned    Condition = "issue-planned"
	IfUnderWay   Condition = "issue-under-way"
	IfCompleted  Condition = "issue-completed"
	// IfIdle: the session is at rest.
	IfIdle Condition = "session-idle"
	// IfBusy: the session is neither at rest nor blocked. IfBlocked: it is blocked. IfNoRollback: no rollback is under
	// way.
	IfBusy       Condition = "session-busy"
	IfBlocked    Condition = "session-blocked"
	IfNoRollback Condition = "no-rollback"
)

// Holds reports whether a condition is met.
func (s States) Holds(c Condition) bool {
	switch c {
	case IfAtWork:
		return s.Session == session.Executing || s.Session == session.AutoFix
	case IfExecuting:
		return s.Turn == turn.Executing
	case IfPlanning:
		return s.Session == session.Planning
	case IfTurnPlans:
		return s.Turn == turn.Planning
	case IfJudged:
		return s.Stage != workflow.Evaluate
	case IfSizing:
		return s.Stage == workflow.Evaluate && (s.Turn == turn.ContextBuilding || s.Turn == turn.Intake)
	case IfDeveloping:
		return s.Stage == workflow.Develop
	case IfNoPackage:
		return s.Stage == workflow.Tweak || s.Stage == workflow.Develop
	case IfVerifying:
		return s.Task == task.Verifying
	case IfClosed:
		return s.Task.Final() || s.Task == task.Failed
	case IfNotFinal:
		return !s.Task.Final()
	}
	return s.atRest(c) || s.ofIssue(c)
}

// atRest is Holds for a condition on what the session rests in.
func (s States) atRest(c Condition) bool {
	switch c {
	case IfIdle:
		return s.Session == session.Idle
	case IfBusy:
		return s.Session != session.Idle && s.Session != session.Blocked
	case IfBlocked:
		return s.Session == session.Blocked
	case IfNoRollback:
		return !s.RollingBack()
	}
	return false
}

// ofIssue is Holds for a condition on the issue.
func (s States) ofIssue(c Condition) bool {
	switch c {
	case IfOpen:
		return s.Hold == board.HoldOpen
	case IfRunnable:
		return s.Work == board.WorkRunnable
	case IfDraining:
		return s.Work == board.WorkDraining
	case IfRegistered:
		return s.Issue == board.IssueRegistered
	case IfPlanned:
		return s.Issue == board.IssuePlanned
	case IfUnderWay:
		return s.Issue == board.IssuePlanning || s.Issue == board.IssueExecuting
	case IfCompleted:
		return s.Issue == board.IssueCompleted
	}
	return false
}

// Unmet is the first of some conditions that is not met, "" where all are.
func (s States) Unmet(ifs []Condition) Condition {
	for _, c := range ifs {
		if !s.Holds(c) {
			return c
		}
	}
	return ""
}

// With are the states with that of one row changed. Part is the kind of the row, as the kernel names it, or the name of
// what stands beside one.
func (s States) With(part, state string) States {
	switch part {
	case "session":
		s.Session = session.State(state)
	case "turn":
		s.Turn = turn.State(state)
	case "task":
		s.Task = task.State(state)
	case "flow":
		s.Stage = workflow.Stage(state)
	case "issue":
		s.Issue = board.IssueStatus(state)
	case "item":
		s.Item = board.ItemStatus(state)
	case "run":
		s.Run = board.RunStatus(state)
	case "phase":
		s.Phase = board.PhaseStatus(state)
	}
	return s
}
