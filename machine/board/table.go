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

// Hold is the region of an issue in which a person holds it back.
var Hold = machine.New(machine.Table[HoldStatus, Event]{
	Name: "board.hold", Seed: "004", Initial: HoldOpen, Resting: []HoldStatus{HoldOpen, HoldPaused},
	States: []machine.StateInfo[HoldStatus]{
		{State: HoldOpen, Title: "open", Description: "nobody holds the issue back"},
		{State: HoldPaused, Title: "paused", Description: "not begun before a person lets it go on"},
	},
	Events: about(Pause, Resume), Rules: holdRules,
})

// Work is the region of an issue that follows its session.
var Work = machine.New(machine.Table[WorkStatus, Event]{
	Name: "board.work", Seed: "004", Initial: WorkRunnable, Resting: []WorkStatus{WorkRunnable, WorkWaiting},
	States: []machine.StateInfo[WorkStatus]{
		{State: WorkRunnable, Title: "runnable", Description: "a worker can go on with it"},
		{State: WorkWaiting, Title: "waiting", Description: "nothing goes on before a person has said something"},
		{State: WorkDraining, Title: "draining",
			Description: "what was begun is brought to its end, whatever else holds the issue back"},
	},
	Events: about(Wait, GoOn, Drain), Gates: only(GateSessionWaits, GateSessionRuns, GateUnfinished, GateFinished),
	Opposed: [][2]string{{GateSessionWaits, GateSessionRuns}, {GateUnfinished, GateFinished}}, Rules: workRules,
})

// Claim is the region of an issue in which workers have it.
var Claim = machine.New(machine.Table[ClaimStatus, Event]{
	Name: "board.claim", Seed: "004", Initial: ClaimFree, Resting: []ClaimStatus{ClaimFree},
	States: []machine.StateInfo[ClaimStatus]{
		{State: ClaimFree, Title: "free", Description: "no worker has it"},
		{State: ClaimClaimed, Title: "claimed", Description: "a worker has it, under a lease and a fencing token"},
	},
	Events: about(Acquire, Release), Gates: only(GateDependencies, GateApproved, GateDue, GateLeaseOver),
	Rules: claimRules,
})

// Dependents is the region of an issue that tells those which depend on it.
var Dependents = machine.New(machine.Table[DependentsStatus, Event]{
	Name: "board.dependents", Seed: "004", Initial: DependentsHeld, Final: []DependentsStatus{DependentsReleased},
	States: []machine.StateInfo[DependentsStatus]{
		{State: DependentsHeld, Title: "held", Description: "those that depend on the issue wait for it"},
		{State: DependentsReleased, Title: "released", Description: "none waits for it any more"},
	},
	Events: about(Unblock), Rules: dependentsRules,
})

// Describe returns the tables for listing, showing, checking and exporting.
func Describe() []machine.Description {
	return []machine.Description{Run.Describe(), Phase.Describe(), Issue.Describe(), Item.Describe(), Hold.Describe(),
		Work.Describe(), Claim.Describe(), Dependents.Describe()}
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
	{Event: Pause, Description: "a person holds the issue back", Named: true},
	{Event: Resume, Description: "a person lets it go on", Named: true},
	{Event: Wait, Description: "the issue's session waits for a person", Named: true},
	{Event: GoOn, Description: "the issue's session can go on", Named: true},
	{Event: Drain, Description: "the issue's session has something to finish", Named: true},
	{Event: Acquire, Description: "a worker takes the issue", Named: true},
	{Event: Release, Description: "the worker gives it back", Named: true},
	{Event: Unblock, Description: "those that depend on the issue are told", Named: true},
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
