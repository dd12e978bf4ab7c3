package workflow

import (
	"pawl"
	"pawl/machine"
)

type (
	stageRule = machine.Rule[Stage, Event]
	modeRule  = machine.Rule[Mode, Event]
	kinds     = []pawl.ActorKind
)

// Those who cause events: a person or the person's policy, the system in their place where no word is given, and those
// who do the work.
var (
	byWord   = kinds{pawl.KindUser, pawl.KindPolicy}
	byPerson = kinds{pawl.KindUser, pawl.KindPolicy, pawl.KindSystem}
	byWork   = kinds{pawl.KindSystem, pawl.KindRunner}
)

// Stages is the machine of CURRENT_STAGE.
var Stages = machine.New(machine.Table[Stage, Event]{
	Name: "workflow.stage", Seed: "002", Initial: None, Resting: []Stage{None},
	States: []machine.StateInfo[Stage]{
		{State: None, Title: "no flow", Description: "no command is running", Unset: true},
		{State: Evaluate, Title: "evaluation", Description: "the requirement is scored and its complexity decided"},
		{State: Analyze, Title: "analysis", Description: "the context of the project is collected"},
		{State: Design, Title: "design", Description: "the solution is designed and its package created"},
		{State: Develop, Title: "development", Description: "the tasks of the package are carried out"},
		{State: Tweak, Title: "tweak", Description: "a small change without a package"},
	},
	Events: []machine.EventInfo[Event]{
		{Event: CommandGiven, Description: "a flow command is typed", Named: true},
		{Event: Complexity, Description: "the complexity is decided", Named: true},
		{Event: ContextReady, Description: "the project context is collected", Named: true},
		{Event: PackageReady, Description: "the package is created", Named: true},
		{Event: FlowDone, Description: "everything is carried out", Named: true},
		{Event: CancelFlow, Description: "the user cancels the flow", Named: true},
		{Event: Interrupt, Description: "a move between stages is interrupted", Named: true},
	},
	Gates: gates.Info()[:stageGates], Rules: stageRules,
})

// Modes is the machine of WORKFLOW_MODE.
var Modes = machine.New(machine.Table[Mode, Event]{
	Name: "workflow.mode", Seed: "002", Initial: Interactive, Resting: []Mode{Interactive},
	States: []machine.StateInfo[Mode]{
		{State: Interactive, Title: "interactive", Description: "every stage shows its result and waits"},
		{State: AutoFull, Title: "automatic", Description: "silent until the flow is complete"},
		{State: AutoPlan, Title: "automatic planning", Description: "silent until the design is complete"},
	},
	Events: []machine.EventInfo[Event]{
		{Event: CommandGiven, Description: "a flow command is typed", Named: true},
		{Event: Choose, Description: "the user picks the way of working", Named: true},
		{Event: ResetMode, Description: "the variables are reset", Named: true},
	},
	Gates: gates.Info()[stageGates:], Rules: modeRules,
})

// Describe returns the two tables for listing, showing, checking and exporting.
func Describe() []machine.Description {
	return []machine.Description{Stages.Describe(), Modes.Describe()}
}
