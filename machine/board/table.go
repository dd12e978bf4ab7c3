package board

import (
	"pawl"
	"pawl/machine"
)

type kinds = []pawl.ActorKind

// Those who cause events. The seed has no column for it: a person or the person's policy decides, the system and the
// runner carry out.
var (
	byPerson = kinds{pawl.KindUser, pawl.KindPolicy, pawl.KindSystem}
	byWork   = kinds{pawl.KindSystem, pawl.KindRunner}
	byAll    = kinds{pawl.KindUser, pawl.KindPolicy, pawl.KindSystem, pawl.KindRunner}
)

// Run is the batch as a whole.
var Run = machine.New(machine.Table[RunStatus, Event]{
	Name: "board.run", Seed: "004", Initial: RunPending, Final: []RunStatus{RunCompleted},
	States: []machine.StateInfo[RunStatus]{
		{State: RunPending, Title: "pending", Description: "not set up yet"},
		{State: RunRunning, Title: "running", Description: "issues are listed, planned and executed"},
		{State: RunCompleted, Title: "completed", Description: "finished, whatever the results of its issues"},
	},
	Events: about(Init, Complete), Gates: only(GateWorkDir, GateIdle), Rules: runRules,
})

// Phase is what a running batch is doing. Any loop is allowed while the batch runs (docs/spec/board.md#e4).
var Phase = machine.New(machine.Table[PhaseStatus, Event]{
	Name: "board.phase", Seed: "004", Initial: PhaseInit, Final: []PhaseStatus{PhaseComplete},
	States: []machine.StateInfo[PhaseStatus]{
		{State: PhaseInit, Title: "set up", Description: "nothing listed yet"},
		{State: PhaseListing, Title: "listing", Description: "issues are shown and chosen"},
		{State: PhasePlanning, Title: "planning", Description: "solutions are made and bound"},
		{State: PhaseExecuting, Title: "executing", Description: "bound solutions are carried out"},
		{State: PhaseComplete, Title: "complete", Description: "statistics and report are written"},
	},
	Events: about(List, Plan, Execute, Complete), Rules: phaseRules,
})

// Issue is one issue of the batch.
var Issue = machine.New(machine.Table[IssueStatus, Event]{
	Name: "board.issue", Seed: "004", Initial: IssueRegistered,
	Final: []IssueStatus{IssueCompleted}, Resting: []IssueStatus{IssueRegistered, IssueFailed},
	States: []machine.StateInfo[IssueStatus]{
		{State: IssueRegistered, Title: "registered", Description: "known, without a plan"},
		{State: IssuePlanning, Title: "planning", Description: "a solution is being made"},
		{State: IssuePlanned, Title: "planned", Description: "a solution is bound and queued"},
		{State: IssueExecuting, Title: "executing", Description: "the solution is being carried out"},
		{State: IssueCompleted, Title: "completed", Description: "the solution has landed"},
		{State: IssueFailed, Title: "failed", Description: "rests until it is retried"},
	},
	Events: about(Plan, Execute, PlanReady, PlanFailed, Succeed, Fail, Reject, Requeue, Retry, Skip),
	Gates:  only(GateSolution, GateLanded, GatePlanBudget, GatePlanSpent), Rules: issueRules,
	Opposed: [][2]string{{GatePlanBudget, GatePlanSpent}},
})

// Item is one place in the queue: a solution that waits for its execution.
var Item = machine.New(machine.Table[ItemStatus, Event]{
	Name: "board.item", Seed: "004", Initial: ItemPending,
	Final: []ItemStatus{ItemCompleted}, Resting: []ItemStatus{ItemFailed},
	States: []machine.StateInfo[ItemStatus]{
		{State: ItemPending, Title: "pending", Description: "waiting for its turn"},
		{State: ItemExecuting, Title: "executing", Description: "being carried out"},
		{State: ItemCompleted, Title: "completed", Description: "carried out and landed"},
		{State: ItemFailed, Title: "failed", Description: "rests until it is retried"},
	},
	Events: about(Execute, Succeed, Fail, Requeue, Retry, Skip), Gates: only(GateDependencies,
		GateLanded), Rules: itemRules,
})

// Describe returns the four tables for listing, showing, checking and exporting.
func Describe() []machine.Description {
	return []machine.Description{Run.Describe(), Phase.Describe(), Issue.Describe(), Item.Describe()}
}

// eventTexts describes every event of the board once.
var eventTexts = []machine.EventInfo[Event]{
	{Event: Init, Description: "Action-Init"},
	{Event: List, Description: "Action-List"},
	{Event: Plan, Description: "Action-Plan"},
	{Event: Execute, Description: "Action-Execute"},
	{Event: Complete, Description: "Action-Complete"},
	{Event: PlanReady, Description: "a solution is made and bound", Named: true},
	{Event: PlanFailed, Description: "no solution could be made", Named: true},
	{Event: Succeed, Description: "the solution has landed", Named: true},
	{Event: Fail, Description: "the solution failed", Named: true},
	{Event: Reject, Description: "the plan is declined, or planning canceled", Named: true},
	{Event: Requeue, Description: "the work goes back into the queue", Named: true},
	{Event: Retry, Description: "a failure is tried again", Named: true},
	{Event: Skip, Description: "left behind", Named: true},
}

// about picks the descriptions of some events.
func about(which ...Event) []machine.EventInfo[Event] {
	var out []machine.EventInfo[Event]
	for _, e := range which {
		for _, t := range eventTexts {
			if t.Event == e {
				out = append(out, t)
			}
		}
	}
	return out
}

// only picks the descriptions of some gates.
func only(which ...string) []machine.GateInfo {
	var out []machine.GateInfo
	for _, name := range which {
		for _, g := range gates.Info() {
			if g.Name == name {
				out = append(out, g)
			}
		}
	}
	return out
}
