package session

import (
	"pawl"
	"pawl/machine"
)

type (
	rule  = machine.Rule[State, Event]
	kinds = []pawl.ActorKind
)

// Those who cause triggers. The seed has no column for it; what a person does, a policy that the person wrote may do,
// and what happens below the session is raised by whoever reports it, or by the system in its place. Nobody but a
// person or such a policy gives a word.
var (
	byWord   = kinds{pawl.KindUser, pawl.KindPolicy}
	byPerson = kinds{pawl.KindUser, pawl.KindPolicy, pawl.KindSystem}
	byWork   = kinds{pawl.KindSystem, pawl.KindRunner, pawl.KindVerifier, pawl.KindGateRunner}
	byAnyone = kinds{pawl.KindUser, pawl.KindPolicy, pawl.KindSystem, pawl.KindRunner, pawl.KindVerifier,
		pawl.KindGateRunner}
)

// Table is the session of docs/spec/session.md#s3. Where the seed's drawing and its table of triggers differ, the table
// counts (docs/spec/session.md#a5).
var Table = machine.New(machine.Table[State, Event]{
	Name: "session", Seed: "000", Initial: Idle,
	Resting: []State{Idle, Blocked},
	States:  states, Events: events, Gates: gates.Info(), Rules: rules,
})

// Describe returns the tables for listing, showing, checking and exporting.
func Describe() []machine.Description {
	return []machine.Description{Table.Describe(), Dispatch.Describe(), Restoring.Describe()}
}

var rules = []rule{
	{ID: "S01", From: Idle, On: UserInputRequirement, To: Planning, Actors: byPerson, Source: "000 §3",
		Description: "the user gives a new requirement"},
	{ID: "S02", From: Planning, On: PRDGenerated, To: Confirming, Gates: []string{GatePlan}, Actors: byAnyone,
		Source:      "000 §3",
		Description: "the requirements document is complete"},
	{ID: "S03", From: Confirming, On: UserConfirm, To: Executing, Gates: []string{GateApproval, GatePerson},
		Actors: byWord, Source: "000 §3",
		Description: "the user says go, bound to the plan's hash"},
	{ID: "S04", From: Confirming, On: UserCancel, To: Idle, Actors: byPerson, Source: "000 §3",
		Description: "the user cancels or revises the requirement"},
	{ID: "S05", From: Planning, On: UserCancel, To: Idle, Actors: byPerson, Source: "000 §3",
		Description: "the user cancels the planning"},
	{ID: "S06", From: Executing, On: ErrorDetected, To: AutoFix, Actors: byWork, Source: "000 §3",
		Description: "a check or a step failed"},
	{ID: "S07", From: AutoFix, On: FixSuccess, To: Executing, Gates: []string{GateFixVerified}, Actors: byWork,
		Source:      "000 §3",
		Description: "the repaired tree passed the checks"},
	{ID: "S08", From: AutoFix, On: FixFailed3X, To: Blocked, Gates: []string{GateFixesSpent}, Actors: byWork,
		Source:      "000 §3",
		Description: "three repairs in a row failed"},
	{ID: "S09", From: Blocked, On: HumanIntervention, To: Executing, Actors: byPerson, Source: "000 §3",
		Description: "a person gives a way to repair it"},
	{ID: "S10", From: Blocked, On: Rollback, To: Idle, Gates: []string{GateCheckpoint}, Actors: byPerson,
		Source:      "000 §3",
		Description: "back to the last checkpoint"},
	{ID: "S11", From: Executing, On: AllTasksDone, To: Archiving, Gates: []string{GateNoOpenTasks}, Actors: byWork,
		Source:      "000 §3",
		Description: "every task of the queue is closed"},
	{ID: "S12", From: Archiving, On: ArchiveComplete, To: Idle, Actors: byWork, Source: "000 §3",
		Description: "the archive is written"},
	{ID: "S13", From: AutoFix, On: ForceStop, To: Blocked, Actors: byAnyone, Source: "spec A2", Ext: true,
		Description: "stopped by force while a repair was under way, or the environment is broken"},
	{ID: "S14", From: Executing, On: ForceStop, To: Blocked, Actors: byAnyone, Source: "spec A3", Ext: true,
		Description: "stopped by force while the work was under way, or the environment is broken"},
	{ID: "S15", From: Blocked, On: SkipTask, To: Executing, Actors: byPerson, Source: "spec A4", Ext: true,
		Description: "leave the task behind and go on with the next one"},
	{ID: "S16", From: Planning, On: PlanningFailed, To: Idle, Actors: byAnyone, Source: "spec A7", Ext: true,
		Description: "no plan could be made; nothing was changed"},
	{ID: "S17", From: Archiving, On: ArchiveFailed, To: Blocked, Actors: byWork, Source: "spec A7", Ext: true,
		Description: "the archive could not be written"},
}

func operations(ids ...Operation) []string {
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = string(id)
	}
	return out
}

var states = []machine.StateInfo[State]{
	{State: Idle, Title: "idle", Description: "no active task; waiting for the user",
		Operations: operations(OpRequire, OpHistory)},
	{State: Planning, Title: "planning", Description: "the requirements document is being made",
		Operations: operations(OpCancel, OpPause)},
	{State: Confirming, Title: "to be confirmed", Description: "the document is made; waiting for the user's word",
		Operations: operations(OpConfirm, OpRevise, OpCancel)},
	{State: Executing, Title: "executing", Description: "the task queue is being carried out",
		Operations: operations(OpPause, OpProgress)},
	{State: AutoFix, Title: "automatic repair", Description: "an error came up and is being repaired",
		Operations: operations(OpErrors, OpStop)},
	{State: Blocked, Title: "blocked", Description: "the fuse has blown; a person is needed",
		Operations: operations(OpFix, OpRollback, OpSkip)},
	{State: Archiving, Title: "archiving", Description: "all tasks are done; the archive is being written",
		Operations: operations(OpWait)},
}

var events = []machine.EventInfo[Event]{
	{Event: UserInputRequirement, Description: "the user gives a requirement"},
	{Event: PRDGenerated, Description: "the requirements document is complete"},
	{Event: UserConfirm, Description: "the user confirms"},
	{Event: UserCancel, Description: "the user cancels"},
	{Event: ErrorDetected, Description: "an error came up"},
	{Event: FixSuccess, Description: "the repair holds"},
	{Event: FixFailed3X, Description: "the third repair failed"},
	{Event: HumanIntervention, Description: "a person steps in"},
	{Event: Rollback, Description: "return to the last checkpoint"},
	{Event: AllTasksDone, Description: "all tasks are done"},
	{Event: ArchiveComplete, Description: "the archive is complete"},
	{Event: ForceStop, Description: "stop by force", Named: true},
	{Event: SkipTask, Description: "skip the task", Named: true},
	{Event: PlanningFailed, Description: "planning failed", Named: true},
	{Event: ArchiveFailed, Description: "archiving failed", Named: true},
}
