package kernel

import (
	"slices"
	"sync"

	"pawl"
	"pawl/kernel/audit"
	"pawl/kernel/effect"
	"pawl/machine"
	"pawl/machine/board"
	"pawl/machine/composed"
	"pawl/machine/session"
	"pawl/machine/task"
	"pawl/machine/turn"
	"pawl/machine/workflow"
	"pawl/text/solution"
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
	ChecksAsk       Event = "checks_ask"
	ChecksAllowed   Event = "checks_allowed"
	ChecksRefused   Event = "checks_refused"
	ProofAsks       Event = "proof_asks"
	ProofAccepted   Event = "proof_accepted"
	ProofRefused    Event = "proof_refused"
	ProofMissing    Event = "proof_missing"
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

func onSession(e session.Event) Move { return Move{Kind: KindSession, Event: string(e)} }
func onTurn(e turn.Event) Move       { return Move{Kind: KindTurn, Event: string(e)} }
func onTurnWhen(e turn.Event, w string) Move {
	return Move{Kind: KindTurn, Event: string(e), When: w}
}
func onTask(e task.Event) Move { return Move{Kind: KindTask, Event: string(e)} }
func onFlow(e workflow.Event, w string) Move {
	return Move{Kind: KindFlow, Event: string(e), When: w}
}
func onRun(e board.Event) Move   { return Move{Kind: KindRun, Event: string(e)} }
func onPhase(e board.Event) Move { return Move{Kind: KindPhase, Event: string(e)} }
func onIssue(e board.Event) Move { return Move{Kind: KindIssue, Event: string(e)} }
func onItem(e board.Event) Move  { return Move{Kind: KindItem, Event: string(e)} }

func onBeside(region string, e session.Event) Move {
	return Move{Kind: KindSession, Region: region, Event: string(e)}
}
func onRegion(region string, e board.Event, w string) Move {
	return Move{Kind: KindIssue, Region: region, Event: string(e), When: w}
}

func may(r Move) Move { r.May = true; return r }

// execCommand is the command that goes straight into development.
const execCommand = "~exec"

// Rows that are made with others, or taken as they are.
var (
	anIssue       = NewRow{KindIssue, string(board.Issue.Initial())}
	aPlannedIssue = NewRow{KindIssue, string(board.IssuePlanned)}
	anItem        = NewRow{KindItem, string(board.Item.Initial())}
	aTask         = NewRow{KindTask, string(task.Table.Initial())}
)

func row(id string, what Event, text string, moves ...Move) Composition {
	return Composition{ID: id, What: what, Text: text, Moves: moves}
}

// when is the row under conditions. What the moves themselves need is none: their machines refuse it.
func (c Composition) when(ifs ...composed.Condition) Composition {
	c.If = ifs
	return c
}

// begins is the row as one that takes a run up, of whose rows some are made or taken with it.
func (c Composition) begins(made ...NewRow) Composition {
	c.Begins = true
	return c.making(append([]NewRow{
		{KindRun, string(board.Run.Initial())}, {KindPhase, string(board.Phase.Initial())}, {KindTurn,
			string(turn.Table.Initial())},
	}, made...)...)
}

// then is the row with what follows on it.
func (c Composition) then(s Step) Composition {
	c.Then = s
	return c
}

// ends is the row as one that ends a run, and a pause with it.
func (c Composition) ends() Composition {
	c.Moves = append(c.Moves, onPhase(board.Complete), onRun(board.Complete),
		may(onBeside(session.Dispatch.Name(), session.Resume)))
	return c
}

// making is the row with rows that are made with it.
func (c Composition) making(made ...NewRow) Composition {
	c.Makes = made
	return c
}

// Compositions is the table. Rows are append-only; their ids appear in the documentation and in the exploration of the
// joint machine.
func Compositions() []Composition {
	return slices.Concat(planningRows(), workingRows(), endingRows(), boardRows(), besideRows())
}

// compositions is the table by what happened.
var compositions = sync.OnceValue(func() map[Event]Composition {
	out := map[Event]Composition{}
	for _, c := range Compositions() {
		out[c.What] = c
	}
	return out
})

// CompositionOf returns the row for what happened, and whether there is one.
func CompositionOf(what Event) (row Composition, ok bool) {
	row, ok = compositions()[what]
	return row, ok
}

// planningRows are the rows from the requirement to the answer about its plan.
func planningRows() []Composition {
	return []Composition{
		row("C01", TakenUp, "a requirement is taken up",
			onSession(session.UserInputRequirement), onFlow(workflow.CommandGiven, workflow.Request), onRun(board.Init),
			onPhase(board.Plan),
			onIssue(board.Plan), onTurn(turn.UserMessage), onTurn(turn.IntakeReady)).begins(anIssue),
		row("C02", ContextReady, "the facts about the workspace are there",
			onTurn(turn.ContextReady), may(onFlow(workflow.ContextReady, ""))).when(composed.IfJudged).then(ThenPlan),
		row("C03", ContextFailed, "the workspace cannot be worked in",
			onTurn(turn.Cancel), onTurn(turn.SummaryReady), onTurn(turn.TurnClosed), onSession(session.PlanningFailed),
			onFlow(workflow.CancelFlow, ""), onIssue(board.PlanFailed)).ends(),
		row("C04", PlanExists, "a plan and its document exist",
			onSession(session.PRDGenerated), onTurn(turn.PlanRisky), onIssue(board.PlanReady)).making(anItem, aTask),
		row("C05", PlanFailed, "no plan could be made",
			onTurn(turn.PlanningFailed), onTurn(turn.SummaryReady), onTurn(turn.TurnClosed),
			onSession(session.PlanningFailed),
			onFlow(workflow.CancelFlow, ""), onIssue(board.PlanFailed)).ends(),
		row("C91", PlanTimedOut, "the planning took too long",
			onTurn(turn.Timeout), onTurn(turn.SummaryReady), onTurn(turn.TurnClosed),
			onSession(session.PlanningFailed),
			onFlow(workflow.CancelFlow, ""), onIssue(board.PlanFailed)).ends(),
		row("C06", PlanningCancel, "the planning is canceled",
			onTurn(turn.Cancel), onTurn(turn.SummaryReady), onTurn(turn.TurnClosed), onSession(session.UserCancel),
			onFlow(workflow.CancelFlow, ""), onIssue(board.Reject)).when(composed.IfPlanning).ends(),
		row("C07", PlanApproved, "the plan is approved, bound to its hash",
			onSession(session.UserConfirm), onTurnWhen(turn.Confirm, turn.AnswerYes), onFlow(workflow.PackageReady,
				workflow.PackageConfirmed), onPhase(board.Execute),
			onTask(task.Approve), onTask(task.Queue)),
		row("C60", SizedTweak, "the requirement is a tweak",
			onFlow(workflow.Complexity, string(workflow.PathTweak))).when(composed.IfSizing).then(ThenContext),
		row("C61", SizedLight, "the requirement takes a light iteration",
			onFlow(workflow.Complexity, string(workflow.PathLight))).when(composed.IfSizing).then(ThenContext),
		row("C62", SizedStandard, "the requirement takes standard development",
			onFlow(workflow.Complexity, string(workflow.PathStandard))).when(composed.IfSizing).then(ThenContext),
		row("C63", Outgrew, "the plan has outgrown a tweak",
			onFlow(workflow.Complexity, string(workflow.PathLight)),
			onFlow(workflow.ContextReady, "")).when(composed.IfTurnPlans),
		row("C64", PlanFlowsOn, "the plan flows on in AUTO_FULL",
			onSession(session.UserConfirm), onTurnWhen(turn.Confirm, turn.AnswerYes), onFlow(workflow.PackageReady,
				workflow.PackageAuto), onPhase(board.Execute),
			onTask(task.Approve), onTask(task.Queue)),
		row("C65", PlanKept, "the package is kept for later: AUTO_PLAN ends with the design",
			onSession(session.UserCancel), onTurnWhen(turn.Confirm, turn.AnswerNo), onTurn(turn.SummaryReady),
			onTurn(turn.TurnClosed),
			onFlow(workflow.PackageReady, workflow.PackagePlanOnly), onTask(task.Cancel)).ends(),
		row("C66", PackageTaken, "a package is to be carried out",
			onSession(session.UserInputRequirement), onFlow(workflow.CommandGiven, execCommand), onRun(board.Init),
			onPhase(board.Plan),
			onTurn(turn.UserMessage), onTurn(turn.IntakeReady)).begins(aPlannedIssue, anItem).then(ThenContext),
		row("C67", PackageReady, "the plan of the package is there", onSession(session.PRDGenerated),
			onTurn(turn.PlanRisky)).when(composed.IfDeveloping).making(aTask),
		row("C68", PlanAllowed, "the plan of a tweak or of a package is approved",
			onSession(session.UserConfirm), onTurnWhen(turn.Confirm, turn.AnswerYes), onPhase(board.Execute),
			onTask(task.Approve), onTask(task.Queue)).when(composed.IfNoPackage),
		row("C42", Received, "a requirement is taken up and has to be judged first",
			onSession(session.UserInputRequirement), onFlow(workflow.CommandGiven, workflow.Request), onRun(board.Init),
			onPhase(board.Plan),
			onIssue(board.Plan), onTurn(turn.UserMessage)).begins(anIssue).then(ThenIntake),
		row("C43", Clear, "the requirement is clear", onTurn(turn.IntakeReady)),
		row("C44", Unclear, "questions are put to the person", onTurn(turn.NeedInfo)).when(composed.IfPlanning),
		row("C45", Answered, "the person answers", onTurn(turn.ClarificationAnswer)).when(composed.IfPlanning),
		row("C46", StillUnclear, "it is still unclear after the last round, or could not be judged",
			onTurn(turn.GiveUp), onTurn(turn.SummaryReady), onTurn(turn.TurnClosed), onSession(session.PlanningFailed),
			onFlow(workflow.CancelFlow, ""), onIssue(board.PlanFailed)).ends(),
		row("C08", PlanDeclined, "the plan is declined, or sent back",
			onSession(session.UserCancel), onTurnWhen(turn.Confirm, turn.AnswerNo), onTurn(turn.SummaryReady),
			onTurn(turn.TurnClosed),
			onFlow(workflow.CancelFlow, ""), onTask(task.Cancel), onItem(board.Skip), onIssue(board.Reject)).ends(),
	}
}

// workingRows are the rows from the claim of a task to its proof.
func workingRows() []Composition {
	return []Composition{
		row("C10", Claimed, "a runner takes the task",
			onTask(task.Start), may(onItem(board.Execute)), may(onIssue(board.Execute))),
		row("C11", NewAttempt, "a new attempt at an approved plan",
			onTurn(turn.UserMessage), onTurn(turn.IntakeReady), onTurn(turn.ContextReady),
			onTurn(turn.PlanSafe)).when(composed.IfAtWork).then(ThenAdvance),
		row("C12", CallMade, "a tool is called", may(onTurn(turn.ToolCallRequest))).when(composed.IfAtWork),
		row("C13", CallWorked, "the call worked",
			onTurnWhen(turn.ToolCallResult, turn.ResultOK)).when(composed.IfAtWork).then(ThenAdvance),
		row("C14", CallFailed, "the call failed",
			onTurnWhen(turn.ToolCallResult, turn.ResultFailed),
			may(onSession(session.ErrorDetected))).when(composed.IfAtWork),
		row("C15", CallTimedOut, "the call timed out", onTurn(turn.Timeout),
			may(onSession(session.ErrorDetected))).when(composed.IfAtWork),
		row("C47", WorkFailed, "an agent could not do a step, or wants another way",
			onTurn(turn.StepFailed), may(onSession(session.ErrorDetected))).when(composed.IfAtWork),
		row("C48", Replanned, "the rest of the plan is changed", onTurnWhen(turn.FixPlanned, turn.FixPatch),
			may(onSession(session.FixSuccess))).when(composed.IfAtWork).then(ThenAdvance),
		row("C49", CallTolerated, "an agent's call failed and its step goes on",
			onTurnWhen(turn.ToolCallResult, turn.ResultTolerated)).when(composed.IfAtWork).then(ThenAdvance),
		row("C50", CallAsks, "a call of an agent needs a word", onTurn(turn.ConfirmationNeeded)).when(composed.IfAtWork,
			composed.IfExecuting),
		row("C51", CallAllowed, "the call is allowed",
			onTurnWhen(turn.Confirm, turn.AnswerYesStep)).when(composed.IfAtWork).then(ThenAdvance),
		row("C58", WorkAsks, "an agent at work asks the person", onTurn(turn.NeedInfo)).when(composed.IfAtWork),
		row("C59", WorkAnswered, "the person answers the agent at work",
			onTurnWhen(turn.ClarificationAnswer, turn.AnswerStep)).when(composed.IfAtWork).then(ThenAdvance),
		row("C16", StepsFinished, "all steps are done",
			onTurn(turn.StepsDone)).when(composed.IfAtWork).then(ThenAdvance),
		row("C17", CheckFailed, "a check failed", onTurn(turn.ChecksFailed),
			may(onSession(session.ErrorDetected))).when(composed.IfAtWork),
		row("C18", FixPlanned, "a repair is planned",
			onTurn(turn.FixPlanned)).when(composed.IfAtWork).then(ThenAdvance),
		row("C19", FixAsks, "a repair needs a word", onTurn(turn.ConfirmationNeeded)).when(composed.IfAtWork),
		row("C20", FixAllowed, "the repair is allowed",
			onTurnWhen(turn.Confirm, turn.AnswerYesRepair)).when(composed.IfAtWork),
		row("C21", FixRefused, "the repair is refused",
			onTurnWhen(turn.Confirm, turn.AnswerNoStep), may(onSession(session.ErrorDetected))).when(composed.IfAtWork),
		row("C22", StepRepaired, "the step that failed works now",
			may(onSession(session.FixSuccess))).then(ThenAdvance),
		row("C23", ChecksPassed, "the checks passed",
			onTurn(turn.ChecksPassed), onTurn(turn.SummaryReady), onTurn(turn.TurnClosed),
			may(onSession(session.FixSuccess)), onTask(task.Finish)).then(ThenAdvance),
		row("C24", ChecksTolerated, "only checks that are not required failed",
			onTurnWhen(turn.ChecksFailed, turn.ChecksOptional), onTurn(turn.SummaryReady), onTurn(turn.TurnClosed),
			may(onSession(session.FixSuccess)), onTask(task.Finish)).then(ThenAdvance),
		row("C55", ChecksAsk, "the work changed what it is judged by, which needs a word",
			onTurnWhen(turn.ConfirmationNeeded, turn.ChecksTouched)).when(composed.IfAtWork),
		row("C56", ChecksAllowed, "the change of the checks is allowed",
			onTurnWhen(turn.Confirm, turn.AnswerYesChecks)).when(composed.IfAtWork),
		row("C57", ChecksRefused, "the change of the checks is refused",
			onTurnWhen(turn.Confirm, turn.AnswerNoStep), may(onSession(session.ErrorDetected))).when(composed.IfAtWork),
		row("C87", ProofAsks, "nothing shows that the work did what was wanted, which needs a word",
			onTurnWhen(turn.ConfirmationNeeded, turn.ProofMissing)).when(composed.IfAtWork),
		row("C88", ProofAccepted, "a person accepts the work without proof",
			onTurnWhen(turn.Confirm, turn.AnswerYesProof)).when(composed.IfAtWork),
		row("C89", ProofRefused, "a person does not accept the work without proof",
			onTurnWhen(turn.Confirm, turn.AnswerNoStep), may(onSession(session.ErrorDetected))).when(composed.IfAtWork),
		row("C90", ProofMissing, "nothing shows that the work did what was wanted, and it is sent back",
			onTurnWhen(turn.ChecksFailed, turn.ProofMissing),
			may(onSession(session.ErrorDetected))).when(composed.IfAtWork),
		row("C25", FuseBlown, "the last repair failed",
			onSession(session.FixFailed3X), onTurn(turn.GiveUp), onTurn(turn.SummaryReady), onTurn(turn.TurnClosed),
			onTask(task.Fail), may(onItem(board.Fail)), may(onIssue(board.Fail))),
		row("C70", RepairUnknown, "no repair is known; an issue of the board fails at once, and others go on",
			onSession(session.ForceStop), onTurn(turn.Cancel), onTurn(turn.SummaryReady), onTurn(turn.TurnClosed),
			onTask(task.Fail), may(onItem(board.Fail)), may(onIssue(board.Fail))),
		row("C26", GatesRetried, "a gate failed and a retry is left",
			onTask(task.GateFail), may(onSession(session.ErrorDetected))),
		row("C27", GatesFailed, "verification failed for good",
			onTask(task.Fail), onSession(session.ForceStop), may(onItem(board.Fail)),
			may(onIssue(board.Fail))).when(composed.IfVerifying),
		row("C28", Proven, "the gates passed and the result is where it belongs", onTask(task.Verify)),
		row("C69", GrewAtWork, "the change has outgrown a tweak; AUTO_FULL goes on with a package",
			onFlow(workflow.Complexity, string(workflow.PathLight)), onFlow(workflow.ContextReady, ""),
			onFlow(workflow.PackageReady, workflow.PackageAuto)).when(composed.IfAtWork),
		row("C29", Closed, "the task is closed", onTask(task.Close)),
	}
}

// endingRows are the rows in which work stops, goes on after help, or ends.
func endingRows() []Composition {
	closeTurn := []Move{may(onTurn(turn.Cancel)), may(onTurn(turn.SummaryReady)), may(onTurn(turn.TurnClosed))}
	return []Composition{
		row("C30", AllDone, "every task is landed or closed",
			onSession(session.AllTasksDone), may(onItem(board.Succeed)),
			may(onIssue(board.Succeed))).when(composed.IfClosed).then(ThenArchive),
		row("C31", ArchiveRetried, "archiving is tried again", onSession(session.HumanIntervention),
			onSession(session.AllTasksDone)).when(composed.IfNoRollback, composed.IfClosed).then(ThenArchive),
		row("C32", Archived, "the archive is written",
			onSession(session.ArchiveComplete), onFlow(workflow.FlowDone, "")).ends(),
		row("C33", ArchiveBroken, "the archive could not be written", onSession(session.ArchiveFailed)),
		row("C34", Blocking, "an answer, an approval or the environment is missing",
			append(closeTurn, onTask(task.Block), onSession(session.ForceStop))...),
		row("C35", Stopped, "stopped by force",
			append(closeTurn, onTask(task.Fail), onSession(session.ForceStop), may(onItem(board.Fail)),
				may(onIssue(board.Fail)))...),
		row("C36", HelpedFailed, "a person helps with a task that failed",
			onSession(session.HumanIntervention), onTask(task.Retry), may(onItem(board.Retry)),
			may(onIssue(board.Retry))).when(composed.IfNoRollback),
		row("C37", HelpedBlocked, "a person helps with a task that is blocked",
			onSession(session.HumanIntervention), onTask(task.Unblock)).when(composed.IfNoRollback),
		row("C38", Skipped, "the task is left behind",
			onSession(session.SkipTask), may(onTask(task.Cancel)), may(onItem(board.Fail)),
			may(onIssue(board.Fail))).when(composed.IfNoRollback, composed.IfNotFinal).then(ThenCleanup),
		row("C39", RolledBack, "the tree is back at the checkpoint",
			onSession(session.Rollback), may(onTask(task.Cancel)), may(onItem(board.Fail)), may(onIssue(board.Fail)),
			onBeside(session.Restoring.Name(), session.RollbackEnded),
			onFlow(workflow.CancelFlow, "")).when(composed.IfNotFinal).ends(),
		row("C40", CanceledAtWork, "the task at work is canceled and cleaned up",
			append(closeTurn, onTask(task.Cancel), may(onItem(board.Fail)), may(onItem(board.Skip)),
				may(onIssue(board.Fail)), may(onIssue(board.Skip)))...).when(composed.IfAtWork),
		row("C41", RepairLeft, "a repair is left behind with its task",
			onSession(session.ForceStop), onSession(session.SkipTask)),
	}
}

// besideRows are the rows of what stands beside the state of a session.
func besideRows() []Composition {
	return []Composition{
		row("C83", SessionPaused, "the work is paused",
			onBeside(session.Dispatch.Name(), session.Pause)).when(composed.IfBusy),
		row("C84", SessionResumed, "the work goes on after a pause",
			onBeside(session.Dispatch.Name(), session.Resume)),
		row("C85", RollbackAsked, "a rollback is asked for",
			onBeside(session.Restoring.Name(), session.RollbackAsked)).when(composed.IfBlocked),
		row("C86", RollbackFailed, "the tree could not be brought back",
			onBeside(session.Restoring.Name(), session.RollbackFailed)),
	}
}

// boardRows are the rows of an issue of the board beside its run.
func boardRows() []Composition {
	return []Composition{
		row("C71", HeldBack, "an issue is held back", onRegion(board.Hold.Name(), board.Pause, "")),
		row("C72", LetGo, "an issue is let go on", onRegion(board.Hold.Name(), board.Resume, "")),
		row("C73", WorkWaits, "the issue's session waits for a person", onRegion(board.Work.Name(), board.Wait, "")),
		row("C74", WorkGoesOn, "the issue's session can go on", onRegion(board.Work.Name(), board.GoOn, "")),
		row("C75", WorkDrains, "the issue's session has something to finish",
			onRegion(board.Work.Name(), board.Drain, "")),
		row("C76", ClaimedToPlan, "a worker takes an issue to plan it",
			onRegion(board.Claim.Name(), board.Acquire, board.ForPlan)).when(composed.IfRegistered, composed.IfOpen,
			composed.IfRunnable),
		row("C77", ClaimedToDo, "a worker takes an issue to carry its plan out",
			onRegion(board.Claim.Name(), board.Acquire, board.ForExecute)).when(composed.IfPlanned, composed.IfOpen,
			composed.IfRunnable),
		row("C78", ClaimedToGoOn, "a worker goes on with an issue that is under way",
			onRegion(board.Claim.Name(), board.Acquire, board.ForGoingOn)).when(composed.IfUnderWay,
			composed.IfRunnable),
		row("C79", ClaimedToDrain, "a worker finishes what is left of an issue",
			onRegion(board.Claim.Name(), board.Acquire, board.ForDrain)).when(composed.IfDraining),
		row("C80", GivenBack, "a worker gives an issue back", onRegion(board.Claim.Name(), board.Release, "")),
		row("C81", DependentsTold, "those that depend on an issue are told",
			onRegion(board.Dependents.Name(), board.Unblock, "")).when(composed.IfCompleted),
		row("C82", BegunAnew, "an issue whose conflicting work is rolled back is begun anew",
			Move{Kind: KindIssue, Event: string(board.Retry), When: board.Replan}).when(composed.IfIdle),
	}
}

// commandOr is the ~command that the run is taken up for.
func commandOr(tx *Tx, otherwise string) string {
	if tx.Run != nil && tx.Run.Command != "" {
		return tx.Run.Command
	}
	return otherwise
}

// Apply makes the moves of one row of the composition table, in order.
func (tx *Tx) Apply(what Event, reason string) error {
	row, ok := compositions()[what]
	if !ok {
		return pawl.Fail(pawl.CodeInternal, "kernel.unknown_happening", string(what))
	}
	if unmet := tx.states().Unmet(row.If); unmet != "" {
		return pawl.Fail(pawl.CodeInternal, "kernel.unmet", row.ID, string(unmet))
	}
	defer turnMoved(tx, tx.Turn, turnParked(tx))
	for _, r := range row.Moves {
		if r.Kind == KindPhase {
			if err := movePhase(tx, board.Event(r.Event), reason); err != nil {
				return err
			}
			continue
		}
		if r.Region != "" {
			if err := tx.moveBeside(r); err != nil && !r.May {
				return err.Traced(tx.Trace)
			}
			continue
		}
		e := tx.on(r.Kind)
		if e == nil {
			if r.May {
				continue
			}
			return pawl.Fail(pawl.CodeInternal, "kernel.no_row", string(what), string(r.Kind))
		}
		when := r.When
		if r.Kind == KindFlow && r.Event == string(workflow.CommandGiven) {
			when = commandOr(tx, r.When)
		}
		if r.Kind == KindIssue && r.Event == string(board.PlanFailed) && tx.Issue.Failures >= board.MaxPlanFailures {
			when = board.PlanGivenUp // which of the two rows applies is a matter of the count alone
		}
		if r.May && !tx.Has(e, r.Event, when) {
			continue
		}
		if err := tx.Move(e, r.Event, when, reason, nil); err != nil {
			return err
		}
	}
	if row.Then != ThenNothing {
		tx.Then(row.Then)
	}
	return nil
}

// Then has the decision go on with a step when its handler is done.
func (tx *Tx) Then(s Step) { tx.next = s }

// states are the states of the run together, as the decision has them.
func (tx *Tx) states() (s composed.States) {
	for _, kind := range []Kind{KindSession, KindTurn, KindTask, KindFlow, KindRun, KindIssue, KindItem} {
		if e := tx.on(kind); e != nil {
			s = s.With(string(kind), e.hot().State)
		}
	}
	if tx.Run != nil {
		s.Phase = board.PhaseStatus(tx.Run.Phase)
	}
	if tx.Session != nil {
		s.Beside = tx.Session.Beside
	}
	if i := tx.Issue; i != nil && i.Number > 0 {
		s.Regions = i.Regions
	}
	return s
}

// on returns the row of a kind that the composition speaks of, or nil.
func (tx *Tx) on(kind Kind) Document {
	switch {
	case kind == KindSession && tx.Session != nil:
		return tx.Session
	case kind == KindTurn && tx.Turn != nil:
		return tx.Turn
	case kind == KindTask && tx.Task != nil:
		return tx.Task
	case kind == KindFlow && tx.Flow != nil:
		return tx.Flow
	case kind == KindRun && tx.Run != nil:
		return tx.Run
	case kind == KindIssue && tx.Issue != nil:
		return tx.Issue
	case kind == KindItem && tx.Item != nil:
		return tx.Item
	}
	return nil
}

// Has reports whether the entity's machine has a row for the event in its present state.
func (tx *Tx) Has(e Document, on, when string) bool {
	s := e.hot().State
	switch e.hot().Kind {
	case KindSession:
		return known(tx, session.Table, s, on, when)
	case KindTurn:
		return known(tx, turn.Table, s, on, when)
	case KindTask:
		return known(tx, task.Table, s, on, when)
	case KindFlow:
		return known(tx, workflow.Stages, s, on, when)
	case KindRun:
		return known(tx, board.Run, s, on, when)
	case KindIssue:
		return known(tx, board.Issue, s, on, when)
	case KindItem:
		return known(tx, board.Item, s, on, when)
	}
	return false
}

func known[S, E ~string](tx *Tx, m *machine.Machine[S, E], state, on, when string) bool {
	r, ok := m.Next(S(state), E(on), when)
	return ok && !(tx.Config.Strict && r.Ext)
}

// Move takes one entity along one row of its machine: the row must exist, its gates must pass on the evidence at hand,
// and for tasks the mode must agree. The transition is recorded; nothing else of the entity changes.
func (tx *Tx) Move(e Document, on, when, reason string, meta any) error {
	switch e.hot().Kind {
	case KindSession:
		return MoveBy(tx, session.Table, e, on, when, reason, meta,
			func(r *machine.Rule[session.State, session.Event]) *pawl.Error {
				return session.Admit(r, sessionEvidence(tx))
			})
	case KindTurn:
		return MoveBy(tx, turn.Table, e, on, when, reason, meta,
			func(r *machine.Rule[turn.State, turn.Event]) *pawl.Error {
				return turn.Admit(r, turnEvidence(tx))
			})
	case KindTask:
		err := MoveBy(tx, task.Table, e, on, when, reason, meta,
			func(r *machine.Rule[task.State, task.Event]) *pawl.Error {
				if err := task.Admit(r, TaskEvidence(tx, tx.Task, r)); err != nil {
					return err
				}
				return askMode(tx, tx.Task, string(r.From), string(r.To), r.ID)
			})
		if at := task.State(tx.Task.State); err == nil && (at.Terminal() || at == task.Queued && tx.Run != nil) {
			// The lease goes back. Its token stays, so that whatever the former holder still reports is refused.
			tx.Task.Lease = Lease{}
		}
		return err
	case KindFlow:
		return moveFlow(tx, workflow.Event(on), when, reason, meta)
	case KindRun:
		return MoveBy(tx, board.Run, e, on, when, reason, meta, admitBoard[board.RunStatus](tx))
	case KindIssue:
		err := MoveBy(tx, board.Issue, e, on, when, reason, meta, admitBoard[board.IssueStatus](tx))
		if err == nil {
			issueMoved(tx, board.Event(on), reason)
		}
		return err
	case KindItem:
		return MoveBy(tx, board.Item, e, on, when, reason, meta, admitBoard[board.ItemStatus](tx))
	}
	return pawl.Fail(pawl.CodeInternal, "kernel.no_machine", string(e.hot().Kind))
}

// issueMoved keeps what an issue failed of with it, which outlives what the session knows of it, and lets go of that
// when it is tried again or succeeds.
func issueMoved(tx *Tx, on board.Event, reason string) {
	i := tx.Issue
	switch on {
	case board.Fail, board.Skip:
		f := effect.Fault{Class: pawl.ClassCanceled, Code: pawl.CodeCanceled, Key: "kernel.issue_left",
			Args: []string{reason}}
		switch {
		case tx.Session != nil && tx.Session.Blocked != nil:
			f = tx.Session.Blocked.Error
		case tx.Task != nil && tx.Task.Blocked != nil:
			f = tx.Task.Blocked.Error
		}
		if i.Failed("execute", f, tx.Now); tx.Task != nil && !tx.Task.StartedAt.IsZero() {
			i.ExecutedAt = tx.Now
		}
	case board.Retry, board.Succeed:
		i.Error = nil
	}
}

// moveBeside moves what stands beside the state of a row. A record of what raises the move tells of it, so that it has
// none of its own.
func (tx *Tx) moveBeside(r Move) *pawl.Error {
	if r.Kind == KindSession {
		tx.Touch(tx.Session)
		return tx.Session.Move(r.Region, session.Event(r.Event))
	}
	tx.Touch(tx.Issue)
	return tx.Issue.Move(r.Region, board.Event(r.Event), r.When, BoardEvidence(tx))
}

// moveFlow moves the stage, and with it the variables that the seed sets with the stage.
func moveFlow(tx *Tx, on workflow.Event, when, reason string, meta any) error {
	var next workflow.Vars
	var err error
	if on == workflow.CommandGiven {
		next, err = workflow.Command(when, tx.Flow.Vars)
	} else {
		next, err = workflow.Advance(tx.Flow.Vars, on, when, flowEvidence(tx))
	}
	if err != nil {
		return err
	}
	if err := MoveBy(tx, workflow.Stages, tx.Flow, string(on), when, reason, meta, nil); err != nil {
		return err
	}
	if next.Stage == workflow.Develop && tx.Run != nil && tx.Run.Package != "" {
		next.CurrentPackage = solution.LiveDir(tx.Run.Package) // development works on one package, whoever has made it
	}
	before := tx.Flow.Mode
	if tx.Flow.Vars = next; before != next.Mode && on == workflow.CommandGiven {
		ModeMoved(tx, before, string(on), when)
	}
	return nil
}

// ModeMoved records the row of the mode's machine by which it has got where it is.
func ModeMoved(tx *Tx, from workflow.Mode, on, when string) {
	r, ok := workflow.Modes.Next(from, workflow.Event(on), when)
	if !ok || r.To != tx.Flow.Mode || on == string(workflow.ResetMode) && r.From == r.To {
		return
	}
	tx.Record(tx.Flow, AuditModeAs.In(string(r.To)), audit.Info,
		map[string]any{"from": r.From, "to": r.To, "rule": r.ID, "event": on, "argument": when})
}

func admitBoard[S ~string](tx *Tx) func(*machine.Rule[S, board.Event]) *pawl.Error {
	return func(r *machine.Rule[S, board.Event]) *pawl.Error { return board.Admit(r, BoardEvidence(tx)) }
}

// movePhase takes the run to another phase. The phase is a second state of the run's row
// (docs/spec/board.md#transitions), so its moves are recorded under the run.
func movePhase(tx *Tx, on board.Event, reason string) error {
	r, ok := board.Phase.Next(board.PhaseStatus(tx.Run.Phase), on, "")
	if !ok {
		return board.Phase.Refusal(board.PhaseStatus(tx.Run.Phase), on).Traced(tx.Trace)
	}
	if r.From == r.To {
		return nil
	}
	tx.Run.Phase = string(r.To)
	tx.Record(tx.Run, AuditPhaseAs.In(string(r.To)), audit.Info, map[string]any{
		"from_phase": r.From, "to_phase": r.To, "rule": r.ID, "reason": reason,
	})
	return nil
}

// MoveBy takes an entity along a row of a machine, if it has one that Admit lets through; nil lets all through. The
// transition is recorded with the reason and with what the caller wants kept, Meta.
func MoveBy[S, E ~string](tx *Tx, m *machine.Machine[S, E], e Document, on, when, reason string, meta any,
	admit func(*machine.Rule[S, E]) *pawl.Error) error {
	h := e.hot()
	r, ok := m.Next(S(h.State), E(on), when)
	if !ok || tx.Config.Strict && r.Ext {
		return m.Refusal(S(h.State), E(on)).Traced(tx.Trace)
	}
	if admit != nil {
		if err := admit(r); err != nil {
			return err.Traced(tx.Trace)
		}
	}
	from := h.State
	h.State = string(r.To)
	tx.Touch(e)
	if r.Idempotent {
		return nil
	}
	tx.entries = append(tx.entries, audit.Entry{
		Subject: subject(e), Level: audit.Info, Event: transitionEvent(h.Kind, h.State),
		Move: &audit.Transition{From: from, To: h.State, Rule: r.ID, Event: on, Actor: actorFor(tx, r),
			Reason: reason, Metadata: Encode(meta)},
		At: tx.Now, Trace: tx.Trace,
	})
	return nil
}

// transitionEvent names the audit event as docs/spec/task.md#s8 does: STATE_TRANSITION_ and the state in capitals.
func transitionEvent(kind Kind, state string) string {
	if kind == KindTask {
		if e, ok := taskEvents()[task.State(state)]; ok {
			return e
		}
	}
	if state == "" {
		state = "UNSET" // the stage of a flow that has ended
	}
	return "STATE_TRANSITION_" + upper(state)
}

// taskEvents saves building the name for the transitions that happen most.
var taskEvents = sync.OnceValue(func() map[task.State]string {
	out := map[task.State]string{}
	for _, s := range task.Table.States() {
		out[s] = "STATE_TRANSITION_" + upper(string(s))
	}
	return out
})

// actorFor names who stands behind a move. What a person has to say is said by the policy in whose name it is decided,
// where there is one. A row that does not list the commander's kind is raised by pawl itself as a consequence of the
// command: by the system, or by the kind that the row lists; never by a user who did not speak.
func actorFor[S, E ~string](tx *Tx, r *machine.Rule[S, E]) pawl.Actor {
	commander := tx.Env.Actor
	switch {
	case tx.Voice != "" && (slices.Contains(r.Actors, pawl.KindUser) || slices.Contains(r.Actors, pawl.KindPolicy)):
		return tx.Voice
	case len(r.Actors) == 0 || r.Admits(commander.Kind()):
		return commander
	}
	kind := r.Actors[0]
	if r.Admits(pawl.KindSystem) || kind == pawl.KindUser {
		kind = pawl.KindSystem
	}
	return pawl.By(kind, "for "+string(commander))
}
