package kernel

import (
	"slices"

	"pawl/machine/board"
	"pawl/machine/session"
	"pawl/machine/task"
	"pawl/machine/turn"
	"pawl/machine/workflow"
)

// States are the states of the five machines together, as far as one run is about them. An empty field is a row that is not there,
// except for Stage, where it means that no flow runs.
type States struct {
	Session session.State     `json:"session"`
	Turn    turn.State        `json:"turn,omitempty"`
	Task    task.State        `json:"task,omitempty"`
	Stage   workflow.Stage    `json:"flow"`
	Issue   board.IssueStatus `json:"issue,omitempty"`
	Item    board.ItemStatus  `json:"item,omitempty"`
	Run     board.RunStatus   `json:"run,omitempty"`
	Phase   board.PhaseStatus `json:"phase,omitempty"`
}

// Condition names what has to be so of the states together before a row of the composition table applies, as a gate names what has to
// be so of the evidence. Conditions are append-only.
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
	return false
}

// NewRow is a row that is made with what happened, or taken up as it is, and the state in which the moves find it.
type NewRow struct {
	Kind  Kind
	State string
}

// Unmet is the first of a row's conditions that is not met, "" where it applies.
func (c *Composition) Unmet(s States) Condition {
	if i := slices.IndexFunc(c.If, func(i Condition) bool { return !s.Holds(i) }); i >= 0 {
		return c.If[i]
	}
	return ""
}

// Made are the states in which the moves of a row find the rows of the run: with those that are made with what happened. A row that
// takes a run up leaves the run before out.
func (c *Composition) Made(s States) States {
	if c.Begins {
		s = States{Session: s.Session, Stage: s.Stage}
	}
	for _, m := range c.Makes {
		s = s.With(m.Kind, m.State)
	}
	return s
}

// With are the states with that of one row changed.
func (s States) With(kind Kind, state string) States {
	switch kind {
	case KindSession:
		s.Session = session.State(state)
	case KindTurn:
		s.Turn = turn.State(state)
	case KindTask:
		s.Task = task.State(state)
	case KindFlow:
		s.Stage = workflow.Stage(state)
	case KindIssue:
		s.Issue = board.IssueStatus(state)
	case KindItem:
		s.Item = board.ItemStatus(state)
	case KindRun:
		s.Run = board.RunStatus(state)
	case KindPhase:
		s.Phase = board.PhaseStatus(state)
	}
	return s
}
