package turn

import (
	"pawl"
	"pawl/machine"
)

type (
	rule  = machine.Rule[State, Event]
	kinds = []pawl.ActorKind
)

// Those who cause events: those who may give a word, which are a person and the policy that the person wrote; those who
// may begin or end a turn for a person; and those who do the work. An agent reports to its runner and causes nothing
// itself.
var (
	byWord   = kinds{pawl.KindUser, pawl.KindPolicy}
	byPerson = kinds{pawl.KindUser, pawl.KindPolicy, pawl.KindSystem, pawl.KindRunner}
	byWork   = kinds{pawl.KindSystem, pawl.KindRunner, pawl.KindVerifier, pawl.KindGateRunner}
)

// Table is the turn of docs/spec/turn.md#s2-3 with the edges of docs/spec/turn.md#edges.
var Table = machine.New(machine.Table[State, Event]{
	Name: "turn", Seed: "001", Initial: Idle,
	Resting: []State{Idle},
	States:  states, Events: events, Gates: gates.Info(), Rules: rules,
	Opposed: [][2]string{
		{GateAskedByPlan, GateAskedByStep}, {GateAskedByPlan, GateAskedByRepair}, {GateAskedByPlan, GateAskedByWork},
		{GateAskedByStep, GateAskedByRepair}, {GateAskedByPlan, GateAskedByChecks}, {GateAskedByStep,
			GateAskedByChecks},
		{GateAskedByRepair, GateAskedByChecks},
	},
})

// Describe returns the table for listing, showing, checking and exporting.
func Describe() []machine.Description { return []machine.Description{Table.Describe()} }

var states = []machine.StateInfo[State]{
	{State: Idle, Title: "idle", Description: "waiting for the user"},
	{State: Intake, Title: "intake", Description: "the input is read, judged by policy and graded by risk"},
	{State: Clarifying, Title: "clarifying", Description: "one to three questions are put to the user"},
	{State: ContextBuilding, Title: "building context",
		Description: "file tree, search hits and snippets are collected"},
	{State: Planning, Title: "planning", Description: "a plan is made: steps, dependencies, verification"},
	{State: AwaitingConfirmation, Title: "awaiting confirmation",
		Description: "something dangerous waits for a person's word"},
	{State: Executing, Title: "executing", Description: "the steps are carried out with tools"},
	{State: Verifying, Title: "verifying", Description: "lint, tests, build or commands of the plan are run"},
	{State: Recovering, Title: "recovering", Description: "a failure is handled: retry, undo, fall back or re-plan"},
	{State: Summarizing, Title: "summarizing", Description: "the summary and the next steps are written"},
	{State: Done, Title: "done", Description: "the turn is over"},
}

var events = []machine.EventInfo[Event]{
	{Event: UserMessage, Description: "the user's message"},
	{Event: ClarificationAnswer, Description: "the user's answer to the questions"},
	{Event: ToolCallRequest, Description: "a tool is to be called"},
	{Event: ToolCallResult, Description: "a tool has answered"},
	{Event: Confirm, Description: "the user's yes or no, with a scope"},
	{Event: Timeout, Description: "a time limit has passed"},
	{Event: Cancel, Description: "the user cancels"},
	{Event: NeedInfo, Description: "key context is missing", Named: true},
	{Event: IntakeReady, Description: "the input is clear and allowed", Named: true},
	{Event: PolicyDenied, Description: "policy forbids it", Named: true},
	{Event: ContextReady, Description: "the context is collected", Named: true},
	{Event: PlanRisky, Description: "the plan needs a word", Named: true},
	{Event: PlanSafe, Description: "the plan needs no word", Named: true},
	{Event: PlanningFailed, Description: "no plan could be made", Named: true},
	{Event: ConfirmationNeeded, Description: "a single action needs a word", Named: true},
	{Event: StepFailed, Description: "a step failed", Named: true},
	{Event: StepsDone, Description: "all steps are done", Named: true},
	{Event: ChecksPassed, Description: "the checks passed, or none is asked for", Named: true},
	{Event: ChecksFailed, Description: "a check failed", Named: true},
	{Event: FixPlanned, Description: "repair steps are made", Named: true},
	{Event: GiveUp, Description: "no way to go on", Named: true},
	{Event: SummaryReady, Description: "the summary is written", Named: true},
	{Event: TurnClosed, Description: "the turn is closed", Named: true},
}
