package task

import (
	"pawl"
	"pawl/machine"
)

type (
	rule  = machine.Rule[State, Event]
	kinds = []pawl.ActorKind
)

// Those who cause moves, as the seed's column Actor groups them.
var (
	bySystem   = kinds{pawl.KindSystem}
	byRunner   = kinds{pawl.KindRunner}
	byVerifier = kinds{pawl.KindVerifier}
	byGates    = kinds{pawl.KindGateRunner}
	byEither   = kinds{pawl.KindUser, pawl.KindSystem}
	orUser     = kinds{pawl.KindUser, pawl.KindPolicy}
	orPolicy   = kinds{pawl.KindPolicy}
	orRunner   = kinds{pawl.KindRunner}
	orSystem   = kinds{pawl.KindSystem}
)

// Table is the lifecycle of docs/spec/task.md#s3.
var Table = machine.New(machine.Table[State, Event]{
	Name: "task", Seed: "003", Initial: Draft,
	Final:   []State{Done, Canceled},
	Resting: []State{Failed, Blocked},
	States:  states,
	Events:  events,
	Gates:   gates.Info(),
	Rules:   rules,
})

// Describe returns the table for listing, showing, checking and exporting.
func Describe() []machine.Description { return []machine.Description{Table.Describe()} }

// Same reports whether a transition asks for the state that the task is in. Such a call changes nothing, writes nothing
// and makes no audit record (docs/spec/task.md#s7-2, docs/spec/task.md#d11).
func Same(from, to State) bool { return from == to && from.Valid() }

var rules = []rule{
	{ID: "T1", From: Draft, On: Approve, To: Approved, Gates: []string{GateApproval}, Actors: byEither,
		AlsoActors: orPolicy,
		Priority:   machine.High, Source: "003 §3", Description: "approve the draft"},
	{ID: "T2", From: Draft, On: Cancel, To: Canceled, Gates: []string{GateCleanup}, Actors: byEither,
		Priority: machine.Low, Source: "003 §3", Description: "cancel the draft"},
	{ID: "T3", From: Approved, On: Queue, To: Queued, Actors: bySystem, AlsoActors: orUser,
		Priority: machine.High, Source: "003 §3", Description: "put the approved task into the queue"},
	{ID: "T4", From: Approved, On: Cancel, To: Canceled, Gates: []string{GateCleanup}, Actors: byEither,
		Priority: machine.Low, Source: "003 §3", Description: "cancel the approved task"},
	{ID: "T5", From: Queued, On: Start, To: Running, Gates: []string{GateLease}, Actors: byRunner,
		Priority: machine.High, Source: "003 §3", Description: "start the work"},
	{ID: "T6", From: Queued, On: Cancel, To: Canceled, Gates: []string{GateCleanup}, Actors: byEither,
		Priority: machine.Low, Source: "003 §3", Description: "cancel the queued task"},
	{ID: "T7", From: Running, On: Finish, To: Verifying, Gates: []string{GateLease}, Actors: byRunner,
		Priority: machine.High, Source: "003 §3", Description: "the work is finished and is verified next"},
	{ID: "T8", From: Running, On: Fail, To: Failed, Gates: []string{GateLease, GateExitReason}, Actors: byRunner,
		AlsoActors: orSystem,
		Priority:   machine.Medium, Source: "003 §3", Description: "the work failed"},
	{ID: "T9", From: Running, On: Cancel, To: Canceled, Gates: []string{GateCleanup}, Actors: byEither,
		AlsoActors: orRunner,
		Priority:   machine.Low, Source: "003 §3", Description: "cancel the running task"},
	{ID: "T10", From: Running, On: Block, To: Blocked, Gates: []string{GateLease}, Actors: byRunner,
		AlsoActors: orSystem,
		Priority:   machine.High, Source: "003 §3",
		Description: "an approval, an answer or the environment is missing and nobody is there to give it"},
	{ID: "T11", From: Verifying, On: Verify, To: Verified, Gates: []string{GateVerifiedTree, GateChecksKept},
		Actors: byVerifier, AlsoActors: byGates,
		Priority: machine.High, Source: "003 §3", Description: "every required gate passed"},
	{ID: "T12", From: Verifying, On: Fail, To: Failed, Gates: []string{GateExitReason}, Actors: byVerifier,
		AlsoActors: kinds{pawl.KindGateRunner, pawl.KindRunner, pawl.KindSystem},
		Priority:   machine.Medium, Source: "003 §3", Description: "verification failed for good"},
	{ID: "T13", From: Verifying, On: Cancel, To: Canceled, Gates: []string{GateCleanup}, Actors: byEither,
		AlsoActors: orRunner,
		Priority:   machine.Low, Source: "003 §3", Description: "cancel while verifying"},
	{ID: "T14", From: Verifying, On: GateFail, To: Queued, Gates: []string{GateRetryBudget}, Actors: byGates,
		AlsoActors: kinds{pawl.KindVerifier, pawl.KindRunner},
		Priority:   machine.Medium, Source: "003 §3",
		Description: "a gate failed; back to the queue while the retry budget lasts"},
	{ID: "T15", From: Verified, On: Close, To: Done, Gates: []string{GateAuditChain}, Actors: bySystem,
		Priority: machine.Medium, Source: "003 §3", Description: "mark the task as done"},
	{ID: "T16", From: Failed, On: Retry, To: Queued, Gates: []string{GateRetryBudget}, Actors: bySystem,
		AlsoActors: orUser,
		Priority:   machine.Medium, Source: "003 §3", Description: "retry the failed task"},
	{ID: "T17", From: Blocked, On: Unblock, To: Queued, Gates: []string{GateUnblock}, Actors: bySystem,
		AlsoActors: orUser,
		Priority:   machine.High, Source: "003 §3", Description: "what was missing is recorded; back to the queue"},
	{ID: "T18", From: Blocked, On: Cancel, To: Canceled, Gates: []string{GateCleanup}, Actors: byEither,
		Priority: machine.Low, Source: "003 §3", Description: "cancel the blocked task"},
	{ID: "T19", From: Running, On: Keep, To: Running, Actors: byRunner, Idempotent: true,
		Priority: machine.Low, Source: "003 §3", Description: "the task is running already"},
	{ID: "T20", From: Queued, On: Keep, To: Queued, Actors: bySystem, Idempotent: true,
		Priority: machine.Low, Source: "003 §3", Description: "the task is queued already"},
}

type info = machine.StateInfo[State]

var states = []info{
	{State: Draft, Title: "draft", Groups: []string{GroupInitial},
		Description: "created, not yet approved"},
	{State: Approved, Title: "approved", Groups: []string{GroupApproval},
		Description: "approved, ready for the queue"},
	{State: Queued, Title: "queued", Groups: []string{GroupExecution, GroupActive},
		Description: "waiting in the queue"},
	{State: Running, Title: "running", Groups: []string{GroupExecution, GroupActive},
		Description: "being carried out"},
	{State: Verifying, Title: "verifying", Groups: []string{GroupVerification, GroupActive},
		Description: "carried out, being verified"},
	{State: Verified, Title: "verified", Groups: []string{GroupVerification},
		Description: "verified"},
	{State: Done, Title: "done", Groups: []string{GroupTerminal},
		Description: "finished with success"},
	{State: Failed, Title: "failed", Groups: []string{GroupTerminal},
		Description: "failed; rests until it is retried"},
	{State: Canceled, Title: "canceled", Groups: []string{GroupTerminal},
		Description: "canceled"},
	{State: Blocked, Title: "blocked", Groups: []string{GroupTerminal},
		Description: "stopped for want of an approval, an answer or an environment; rests until it is given"},
}

var events = []machine.EventInfo[Event]{
	{Event: Approve, Description: "approve_task()"},
	{Event: Queue, Description: "queue_task()"},
	{Event: Start, Description: "start_task()"},
	{Event: Finish, Description: "complete_task_execution()"},
	{Event: Fail, Description: "fail_task()"},
	{Event: Cancel, Description: "cancel_task()"},
	{Event: Block, Description: "blocked at an approval checkpoint", Named: true},
	{Event: Verify, Description: "verify_task()"},
	{Event: GateFail, Description: "a done gate failed", Named: true},
	{Event: Close, Description: "mark_task_done()"},
	{Event: Retry, Description: "retry_failed_task()"},
	{Event: Unblock, Description: "unblock_task()", Named: true},
	{Event: Keep, Description: "the state that the task is in already", Named: true},
}
