package kernel

import (
	"pawl/machine/composed"
)

// Move is one move of a composition: an event for the machine of one kind of row.
type Move struct {
	Kind Kind
	// Region is the name of the table where the event is for what stands beside the state of the row, "" otherwise.
	Region string
	Event  string
	When   string
	// May leaves the move out where the machine has no row for it in its present state. A move without May must be
	// legal, or the whole command is refused.
	May bool
}

// Event names a row of the composition table. Events are append-only.
type Event string

// Composition is one row of the table that makes one flow of the five machines: what happened, under which conditions
// on the states together, and which moves it raises, in order, in the transaction that commits it (ARCHITECTURE.md,
// "Five machines, one flow").
type Composition struct {
	ID   string
	What Event
	Text string
	// If are the conditions, all of which have to be met before anything of it is made.
	If []composed.Condition
	// Begins says that it takes a run up, so that the run before has no part in it. Makes are the rows that are made
	// with it.
	Begins bool
	Makes  []NewRow
	Moves  []Move
	// Then is what the same decision goes on with once everything of it is noted.
	Then Step
}

// NewRow is a row that is made with what happened, or taken up as it is, and the state in which the moves find it.
type NewRow struct {
	Kind  Kind
	State string
}

// Made are the states in which the moves of a row find the rows of the run: with those that are made with what
// happened. A row that takes a run up leaves the run before out.
func (c *Composition) Made(s composed.States) composed.States {
	if c.Begins {
		s = composed.States{Session: s.Session, Stage: s.Stage, Beside: s.Beside, Regions: s.Regions}
	}
	for _, m := range c.Makes {
		s = s.With(string(m.Kind), m.State)
	}
	return s
}

// The events.
const (
	TakenUp         Event = "taken_up"
	ContextReady    Event = "context_ready"
	ContextFailed   Event = "context_failed"
	PlanExists      Event = "plan_exists"
	PlanFailed      Event = "plan_failed"
	PlanTimedOut    Event = "plan_timed_out"
	PlanningCancel  Event = "planning_canceled"
	PlanApproved    Event = "plan_approved"
	PlanDeclined    Event = "plan_declined"
	Claimed         Event = "claimed"
	NewAttempt      Event = "new_attempt"
	CallMade        Event = "call_made"
	CallWorked      Event = "call_worked"
	CallFailed      Event = "call_failed"
	CallTimedOut    Event = "call_timed_out"
	StepsFinished   Event = "steps_finished"
	CheckFailed     Event = "check_failed"
	FixPlanned      Event = "fix_planned"
	FixAsks         Event = "fix_asks"
	FixAllowed      Event = "fix_allowed"
	FixRefused      Event = "fix_refused"
	StepRepaired    Event = "step_repaired"
	ChecksPassed    Event = "checks_passed"
	ChecksTolerated Event = "checks_tolerated"
	FuseBlown       Event = "fuse_blown"
	RepairUnknown   Event = "repair_unknown"
	GatesRetried    Event = "gates_retried"
	GatesFailed     Event = "gates_failed"
	Proven          Event = "proven"
	Closed          Event = "closed"
	AllDone         Event = "all_done"
	ArchiveRetried  Event = "archive_retried"
	Archived        Event = "archived"
	ArchiveBroken   Event = "archive_broken"
	Blocking        Event = "blocking"
	Stopped         Event = "stopped"
	HelpedFailed    Event = "helped_failed"
	HelpedBlocked   Event = "helped_blocked"
	Skipped         Event = "skipped"
	RolledBack      Event = "rolled_back"
	CanceledAtWork  Event = "canceled_at_work"
	RepairLeft      Event = "repair_left"
	WorkFailed      Event = "work_failed"
	Replanned       Event = "replanned"
	CallTolerated   Event = "call_tolerated"
	CallAsks        Event = "call_asks"
	CallAllowed     Event = "call_allowed"
	TestAsks        Event = "test_asks"
	TestTaken       Event = "test_taken"
	TestKept        Event = "test_kept"
	ChecksAsk       Event = "checks_ask"
	ChecksAllowed   Event = "checks_allowed"
	ChecksRefused   Event = "checks_refused"
	ProofAsks       Event = "proof_asks"
	ProofAccepted   Event = "proof_accepted"
	ProofRefused    Event = "proof_refused"
	ProofMissing    Event = "proof_missing"
	ReviewObjects   Event = "review_objects"
	Received        Event = "received"
	Clear           Event = "clear"
	Unclear         Event = "unclear"
	Answered        Event = "answered"
	StillUnclear    Event = "still_unclear"
	WorkAsks        Event = "work_asks"
	WorkAnswered    Event = "work_answered"
	SizedTweak      Event = "sized_tweak"
	SizedLight      Event = "sized_light"
	SizedStandard   Event = "sized_standard"
	Outgrew         Event = "outgrew"
	PlanFlowsOn     Event = "plan_flows_on"
	PlanKept        Event = "plan_kept"
	PackageTaken    Event = "package_taken"
	PackageReady    Event = "package_ready"
	PlanAllowed     Event = "plan_allowed"
	GrewAtWork      Event = "grew_at_work"
	HeldBack        Event = "held_back"
	LetGo           Event = "let_go"
	WorkWaits       Event = "work_waits"
	WorkGoesOn      Event = "work_goes_on"
	WorkDrains      Event = "work_drains"
	ClaimedToPlan   Event = "claimed_to_plan"
	ClaimedToDo     Event = "claimed_to_execute"
	ClaimedToGoOn   Event = "claimed_to_go_on"
	ClaimedToDrain  Event = "claimed_to_drain"
	GivenBack       Event = "given_back"
	DependentsTold  Event = "dependents_told"
	BegunAnew       Event = "begun_anew"
	SessionPaused   Event = "session_paused"
	SessionResumed  Event = "session_resumed"
	RollbackAsked   Event = "rollback_asked"
	RollbackFailed  Event = "rollback_failed"
)

// Step is what a decision goes on with: a handler notes what happened and does not call the next one.
type Step string

// The steps. Each is taken in the transaction of what it follows on, after all else of it.
const (
	ThenNothing Step = ""
	ThenIntake  Step = "intake"  // the requirement is judged
	ThenContext Step = "context" // the facts about the workspace are looked for
	ThenPlan    Step = "plan"    // a plan is made
	ThenAdvance Step = "advance" // what comes next for the task at work
	ThenCleanup Step = "cleanup" // what the task leaves unfinished is saved, and its worktree goes
	ThenArchive Step = "archive" // the archive's files are written
	ThenJudge   Step = "judge"   // a requirement that is clear gets its way of working
	ThenMeasure Step = "measure" // what a tweak has really changed is looked at
	ThenRepair  Step = "repair"  // a repair of the present failure is asked for
	ThenVerify  Step = "verify"  // the checks of the turn run
	ThenGates   Step = "gates"   // the gates of the task run
	ThenResolve Step = "resolve" // an agent's call goes on with what a person says of its outcome
	ThenRestore Step = "restore" // what a rollback needs is asked for
	ThenCancel  Step = "cancel"  // the task is canceled, for the reason that it has
	ThenSkip    Step = "skip"    // the task is left behind, for the reason that it has
	ThenPropose Step = "propose" // the result becomes a pull request
)
