// Package composition is the table that makes one flow of the five machines (ARCHITECTURE.md, "Five machines, one
// flow").
package composition

import (
	"slices"
	"sync"

	"pawl/kernel"
	"pawl/machine/board"
	"pawl/machine/composed"
	"pawl/machine/session"
	"pawl/machine/task"
	"pawl/machine/turn"
	"pawl/machine/workflow"
)

func onSession(e session.Event) kernel.Move {
	return kernel.Move{Kind: kernel.KindSession, Event: string(e)}
}
func onTurn(e turn.Event) kernel.Move { return kernel.Move{Kind: kernel.KindTurn, Event: string(e)} }
func onTurnWhen(e turn.Event, w string) kernel.Move {
	return kernel.Move{Kind: kernel.KindTurn, Event: string(e), When: w}
}
func onTask(e task.Event) kernel.Move { return kernel.Move{Kind: kernel.KindTask, Event: string(e)} }
func onFlow(e workflow.Event, w string) kernel.Move {
	return kernel.Move{Kind: kernel.KindFlow, Event: string(e), When: w}
}
func onRun(e board.Event) kernel.Move   { return kernel.Move{Kind: kernel.KindRun, Event: string(e)} }
func onPhase(e board.Event) kernel.Move { return kernel.Move{Kind: kernel.KindPhase, Event: string(e)} }
func onIssue(e board.Event) kernel.Move { return kernel.Move{Kind: kernel.KindIssue, Event: string(e)} }
func onItem(e board.Event) kernel.Move  { return kernel.Move{Kind: kernel.KindItem, Event: string(e)} }

func onBeside(region string, e session.Event) kernel.Move {
	return kernel.Move{Kind: kernel.KindSession, Region: region, Event: string(e)}
}
func onRegion(region string, e board.Event, w string) kernel.Move {
	return kernel.Move{Kind: kernel.KindIssue, Region: region, Event: string(e), When: w}
}

func may(r kernel.Move) kernel.Move { r.May = true; return r }

// Rows that are made with others, or taken as they are.
var (
	anIssue       = kernel.NewRow{Kind: kernel.KindIssue, State: string(board.Issue.Initial())}
	aPlannedIssue = kernel.NewRow{Kind: kernel.KindIssue, State: string(board.IssuePlanned)}
	anItem        = kernel.NewRow{Kind: kernel.KindItem, State: string(board.Item.Initial())}
	aTask         = kernel.NewRow{Kind: kernel.KindTask, State: string(task.Table.Initial())}
)

// line is a row as it is written down here.
type line kernel.Composition

func row(id string, what kernel.Event, text string, moves ...kernel.Move) line {
	return line{ID: id, What: what, Text: text, Moves: moves}
}

// when is the row under conditions. What the moves themselves need is none: their machines refuse it.
func (c line) when(ifs ...composed.Condition) line {
	c.If = ifs
	return c
}

// begins is the row as one that takes a run up, of whose rows some are made or taken with it.
func (c line) begins(made ...kernel.NewRow) line {
	c.Begins = true
	return c.making(append([]kernel.NewRow{
		{Kind: kernel.KindRun, State: string(board.Run.Initial())},
		{Kind: kernel.KindPhase, State: string(board.Phase.Initial())},
		{Kind: kernel.KindTurn, State: string(turn.Table.Initial())},
	}, made...)...)
}

// then is the row with what follows on it.
func (c line) then(s kernel.Step) line {
	c.Then = s
	return c
}

// ends is the row as one that ends a run, and a pause with it.
func (c line) ends() line {
	c.Moves = append(c.Moves, onPhase(board.Complete), onRun(board.Complete),
		may(onBeside(session.Dispatch.Name(), session.Resume)))
	return c
}

// making is the row with rows that are made with it.
func (c line) making(made ...kernel.NewRow) line {
	c.Makes = made
	return c
}

// Rows returns the table. Rows are append-only; their ids appear in the documentation and in the exploration of the
// joint machine.
func Rows() []kernel.Composition {
	var out []kernel.Composition
	for _, l := range slices.Concat(planningRows(), workingRows(), proofRows(), endingRows(), boardRows(),
		besideRows()) {
		out = append(out, kernel.Composition(l))
	}
	return out
}

// By returns the table by what happened.
var By = sync.OnceValue(func() map[kernel.Event]kernel.Composition {
	out := map[kernel.Event]kernel.Composition{}
	for _, c := range Rows() {
		out[c.What] = c
	}
	return out
})

// planningRows are the rows from the requirement to the answer about its plan.
func planningRows() []line {
	return []line{
		row("C01", kernel.TakenUp, "a requirement is taken up",
			onSession(session.UserInputRequirement), onFlow(workflow.CommandGiven, workflow.Request), onRun(board.Init),
			onPhase(board.Plan),
			onIssue(board.Plan), onTurn(turn.UserMessage), onTurn(turn.IntakeReady)).begins(anIssue),
		row("C02", kernel.ContextReady, "the facts about the workspace are there",
			onTurn(turn.ContextReady), may(onFlow(workflow.ContextReady, ""))).when(
			composed.IfJudged).then(kernel.ThenPlan),
		row("C03", kernel.ContextFailed, "the workspace cannot be worked in",
			onTurn(turn.Cancel), onTurn(turn.SummaryReady), onTurn(turn.TurnClosed), onSession(session.PlanningFailed),
			onFlow(workflow.CancelFlow, ""), onIssue(board.PlanFailed)).ends(),
		row("C04", kernel.PlanExists, "a plan and its document exist",
			onSession(session.PRDGenerated), onTurn(turn.PlanRisky), onIssue(board.PlanReady)).making(anItem, aTask),
		row("C05", kernel.PlanFailed, "no plan could be made",
			onTurn(turn.PlanningFailed), onTurn(turn.SummaryReady), onTurn(turn.TurnClosed),
			onSession(session.PlanningFailed),
			onFlow(workflow.CancelFlow, ""), onIssue(board.PlanFailed)).ends(),
		row("C91", kernel.PlanTimedOut, "the planning took too long",
			onTurn(turn.Timeout), onTurn(turn.SummaryReady), onTurn(turn.TurnClosed),
			onSession(session.PlanningFailed),
			onFlow(workflow.CancelFlow, ""), onIssue(board.PlanFailed)).ends(),
		row("C06", kernel.PlanningCancel, "the planning is canceled",
			onTurn(turn.Cancel), onTurn(turn.SummaryReady), onTurn(turn.TurnClosed), onSession(session.UserCancel),
			onFlow(workflow.CancelFlow, ""), onIssue(board.Reject)).when(composed.IfPlanning).ends(),
		row("C07", kernel.PlanApproved, "the plan is approved, bound to its hash",
			onSession(session.UserConfirm), onTurnWhen(turn.Confirm, turn.AnswerYes), onFlow(workflow.PackageReady,
				workflow.PackageConfirmed), onPhase(board.Execute),
			onTask(task.Approve), onTask(task.Queue)),
		row("C60", kernel.SizedTweak, "the requirement is a tweak",
			onFlow(workflow.Complexity, string(workflow.PathTweak))).when(composed.IfSizing).then(kernel.ThenContext),
		row("C61", kernel.SizedLight, "the requirement takes a light iteration",
			onFlow(workflow.Complexity, string(workflow.PathLight))).when(composed.IfSizing).then(kernel.ThenContext),
		row("C62", kernel.SizedStandard, "the requirement takes standard development",
			onFlow(workflow.Complexity, string(workflow.PathStandard))).when(
			composed.IfSizing).then(kernel.ThenContext),
		row("C63", kernel.Outgrew, "the plan has outgrown a tweak",
			onFlow(workflow.Complexity, string(workflow.PathLight)),
			onFlow(workflow.ContextReady, "")).when(composed.IfTurnPlans),
		row("C64", kernel.PlanFlowsOn, "the plan flows on in AUTO_FULL",
			onSession(session.UserConfirm), onTurnWhen(turn.Confirm, turn.AnswerYes), onFlow(workflow.PackageReady,
				workflow.PackageAuto), onPhase(board.Execute),
			onTask(task.Approve), onTask(task.Queue)),
		row("C65", kernel.PlanKept, "the package is kept for later: AUTO_PLAN ends with the design",
			onSession(session.UserCancel), onTurnWhen(turn.Confirm, turn.AnswerNo), onTurn(turn.SummaryReady),
			onTurn(turn.TurnClosed),
			onFlow(workflow.PackageReady, workflow.PackagePlanOnly), onTask(task.Cancel)).ends(),
		row("C66", kernel.PackageTaken, "a package is to be carried out",
			onSession(session.UserInputRequirement), onFlow(workflow.CommandGiven, kernel.ExecCommand),
			onRun(board.Init),
			onPhase(board.Plan),
			onTurn(turn.UserMessage), onTurn(turn.IntakeReady)).begins(aPlannedIssue, anItem).then(kernel.ThenContext),
		row("C67", kernel.PackageReady, "the plan of the package is there", onSession(session.PRDGenerated),
			onTurn(turn.PlanRisky)).when(composed.IfDeveloping).making(aTask),
		row("C68", kernel.PlanAllowed, "the plan of a tweak or of a package is approved",
			onSession(session.UserConfirm), onTurnWhen(turn.Confirm, turn.AnswerYes), onPhase(board.Execute),
			onTask(task.Approve), onTask(task.Queue)).when(composed.IfNoPackage),
		row("C42", kernel.Received, "a requirement is taken up and has to be judged first",
			onSession(session.UserInputRequirement), onFlow(workflow.CommandGiven, workflow.Request), onRun(board.Init),
			onPhase(board.Plan),
			onIssue(board.Plan), onTurn(turn.UserMessage)).begins(anIssue).then(kernel.ThenIntake),
		row("C43", kernel.Clear, "the requirement is clear", onTurn(turn.IntakeReady)),
		row("C44", kernel.Unclear, "questions are put to the person", onTurn(turn.NeedInfo)).when(composed.IfPlanning),
		row("C45", kernel.Answered, "the person answers", onTurn(turn.ClarificationAnswer)).when(composed.IfPlanning),
		row("C46", kernel.StillUnclear, "it is still unclear after the last round, or could not be judged",
			onTurn(turn.GiveUp), onTurn(turn.SummaryReady), onTurn(turn.TurnClosed), onSession(session.PlanningFailed),
			onFlow(workflow.CancelFlow, ""), onIssue(board.PlanFailed)).ends(),
		row("C08", kernel.PlanDeclined, "the plan is declined, or sent back",
			onSession(session.UserCancel), onTurnWhen(turn.Confirm, turn.AnswerNo), onTurn(turn.SummaryReady),
			onTurn(turn.TurnClosed),
			onFlow(workflow.CancelFlow, ""), onTask(task.Cancel), onItem(board.Skip), onIssue(board.Reject)).ends(),
	}
}

// workingRows are the rows from the claim of a task to its proof.
func workingRows() []line {
	return []line{
		row("C10", kernel.Claimed, "a runner takes the task",
			onTask(task.Start), may(onItem(board.Execute)), may(onIssue(board.Execute))),
		row("C11", kernel.NewAttempt, "a new attempt at an approved plan",
			onTurn(turn.UserMessage), onTurn(turn.IntakeReady), onTurn(turn.ContextReady),
			onTurn(turn.PlanSafe)).when(composed.IfAtWork).then(kernel.ThenAdvance),
		row("C12", kernel.CallMade, "a tool is called", may(onTurn(turn.ToolCallRequest))).when(composed.IfAtWork),
		row("C13", kernel.CallWorked, "the call worked",
			onTurnWhen(turn.ToolCallResult, turn.ResultOK)).when(composed.IfAtWork).then(kernel.ThenAdvance),
		row("C14", kernel.CallFailed, "the call failed",
			onTurnWhen(turn.ToolCallResult, turn.ResultFailed),
			may(onSession(session.ErrorDetected))).when(composed.IfAtWork),
		row("C15", kernel.CallTimedOut, "the call timed out", onTurn(turn.Timeout),
			may(onSession(session.ErrorDetected))).when(composed.IfAtWork),
		row("C47", kernel.WorkFailed, "an agent could not do a step, or wants another way",
			onTurn(turn.StepFailed), may(onSession(session.ErrorDetected))).when(composed.IfAtWork),
		row("C48", kernel.Replanned, "the rest of the plan is changed", onTurnWhen(turn.FixPlanned, turn.FixPatch),
			may(onSession(session.FixSuccess))).when(composed.IfAtWork).then(kernel.ThenAdvance),
		row("C49", kernel.CallTolerated, "an agent's call failed and its step goes on",
			onTurnWhen(turn.ToolCallResult, turn.ResultTolerated)).when(composed.IfAtWork).then(kernel.ThenAdvance),
		row("C50", kernel.CallAsks, "a call of an agent needs a word",
			onTurn(turn.ConfirmationNeeded)).when(composed.IfAtWork,
			composed.IfExecuting),
		row("C51", kernel.CallAllowed, "the call is allowed",
			onTurnWhen(turn.Confirm, turn.AnswerYesStep)).when(composed.IfAtWork).then(kernel.ThenAdvance),
		row("C93", kernel.TestAsks, "a test of the plan was written anew, which needs a word",
			onTurn(turn.ConfirmationNeeded)).when(composed.IfAtWork, composed.IfExecuting),
		row("C94", kernel.TestTaken, "a person has the test count that was written anew",
			onTurnWhen(turn.Confirm, turn.AnswerYesStep)).when(composed.IfAtWork).then(kernel.ThenAdvance),
		row("C95", kernel.TestKept, "a person has the test count that was approved",
			onTurnWhen(turn.Confirm, turn.AnswerNoTest)).when(composed.IfAtWork).then(kernel.ThenAdvance),
		row("C58", kernel.WorkAsks, "an agent at work asks the person", onTurn(turn.NeedInfo)).when(composed.IfAtWork),
		row("C59", kernel.WorkAnswered, "the person answers the agent at work",
			onTurnWhen(turn.ClarificationAnswer, turn.AnswerStep)).when(composed.IfAtWork).then(kernel.ThenAdvance),
		row("C16", kernel.StepsFinished, "all steps are done",
			onTurn(turn.StepsDone)).when(composed.IfAtWork).then(kernel.ThenAdvance),
		row("C17", kernel.CheckFailed, "a check failed", onTurn(turn.ChecksFailed),
			may(onSession(session.ErrorDetected))).when(composed.IfAtWork),
		row("C18", kernel.FixPlanned, "a repair is planned",
			onTurn(turn.FixPlanned)).when(composed.IfAtWork).then(kernel.ThenAdvance),
		row("C19", kernel.FixAsks, "a repair needs a word", onTurn(turn.ConfirmationNeeded)).when(composed.IfAtWork),
		row("C20", kernel.FixAllowed, "the repair is allowed",
			onTurnWhen(turn.Confirm, turn.AnswerYesRepair)).when(composed.IfAtWork),
		row("C21", kernel.FixRefused, "the repair is refused",
			onTurnWhen(turn.Confirm, turn.AnswerNoStep), may(onSession(session.ErrorDetected))).when(composed.IfAtWork),
		row("C22", kernel.StepRepaired, "the step that failed works now",
			may(onSession(session.FixSuccess))).then(kernel.ThenAdvance),
		row("C23", kernel.ChecksPassed, "the checks passed",
			onTurn(turn.ChecksPassed), onTurn(turn.SummaryReady), onTurn(turn.TurnClosed),
			may(onSession(session.FixSuccess)), onTask(task.Finish)).then(kernel.ThenAdvance),
		row("C24", kernel.ChecksTolerated, "only checks that are not required failed",
			onTurnWhen(turn.ChecksFailed, turn.ChecksOptional), onTurn(turn.SummaryReady), onTurn(turn.TurnClosed),
			may(onSession(session.FixSuccess)), onTask(task.Finish)).then(kernel.ThenAdvance),
		row("C55", kernel.ChecksAsk, "the work changed what it is judged by, which needs a word",
			onTurnWhen(turn.ConfirmationNeeded, turn.ChecksTouched)).when(composed.IfAtWork),
		row("C56", kernel.ChecksAllowed, "the change of the checks is allowed",
			onTurnWhen(turn.Confirm, turn.AnswerYesChecks)).when(composed.IfAtWork),
		row("C57", kernel.ChecksRefused, "the change of the checks is refused",
			onTurnWhen(turn.Confirm, turn.AnswerNoStep), may(onSession(session.ErrorDetected))).when(composed.IfAtWork),
		row("C25", kernel.FuseBlown, "the last repair failed",
			onSession(session.FixFailed3X), onTurn(turn.GiveUp), onTurn(turn.SummaryReady), onTurn(turn.TurnClosed),
			onTask(task.Fail), may(onItem(board.Fail)), may(onIssue(board.Fail))),
		row("C70", kernel.RepairUnknown, "no repair is known; an issue of the board fails at once, and others go on",
			onSession(session.ForceStop), onTurn(turn.Cancel), onTurn(turn.SummaryReady), onTurn(turn.TurnClosed),
			onTask(task.Fail), may(onItem(board.Fail)), may(onIssue(board.Fail))),
		row("C26", kernel.GatesRetried, "a gate failed and a retry is left",
			onTask(task.GateFail), may(onSession(session.ErrorDetected))),
		row("C27", kernel.GatesFailed, "verification failed for good",
			onTask(task.Fail), onSession(session.ForceStop), may(onItem(board.Fail)),
			may(onIssue(board.Fail))).when(composed.IfVerifying),
		row("C28", kernel.Proven, "the gates passed and the result is where it belongs", onTask(task.Verify)),
		row("C69", kernel.GrewAtWork, "the change has outgrown a tweak; AUTO_FULL goes on with a package",
			onFlow(workflow.Complexity, string(workflow.PathLight)), onFlow(workflow.ContextReady, ""),
			onFlow(workflow.PackageReady, workflow.PackageAuto)).when(composed.IfAtWork),
		row("C29", kernel.Closed, "the task is closed", onTask(task.Close)),
	}
}

// proofRows are the rows of work that nothing shows to have done what was wanted.
func proofRows() []line {
	return []line{
		row("C87", kernel.ProofAsks, "nothing shows that the work did what was wanted, which needs a word",
			onTurnWhen(turn.ConfirmationNeeded, turn.ProofMissing)).when(composed.IfAtWork),
		row("C88", kernel.ProofAccepted, "a person accepts the work without proof",
			onTurnWhen(turn.Confirm, turn.AnswerYesProof)).when(composed.IfAtWork),
		row("C89", kernel.ProofRefused, "a person does not accept the work without proof",
			onTurnWhen(turn.Confirm, turn.AnswerNoStep), may(onSession(session.ErrorDetected))).when(composed.IfAtWork),
		row("C90", kernel.ProofMissing, "nothing shows that the work did what was wanted, and it is sent back",
			onTurnWhen(turn.ChecksFailed, turn.ProofMissing),
			may(onSession(session.ErrorDetected))).when(composed.IfAtWork),
		row("C92", kernel.ReviewObjects, "a reviewer objects to the work with a witness, and it is sent back",
			onTurnWhen(turn.ChecksFailed, turn.Objected),
			may(onSession(session.ErrorDetected))).when(composed.IfAtWork),
	}
}

// endingRows are the rows in which work stops, goes on after help, or ends.
func endingRows() []line {
	closeTurn := []kernel.Move{may(onTurn(turn.Cancel)), may(onTurn(turn.SummaryReady)), may(onTurn(turn.TurnClosed))}
	return []line{
		row("C30", kernel.AllDone, "every task is landed or closed",
			onSession(session.AllTasksDone), may(onItem(board.Succeed)),
			may(onIssue(board.Succeed))).when(composed.IfClosed).then(kernel.ThenArchive),
		row("C31", kernel.ArchiveRetried, "archiving is tried again", onSession(session.HumanIntervention),
			onSession(session.AllTasksDone)).when(composed.IfNoRollback, composed.IfClosed).then(kernel.ThenArchive),
		row("C32", kernel.Archived, "the archive is written",
			onSession(session.ArchiveComplete), onFlow(workflow.FlowDone, "")).ends(),
		row("C33", kernel.ArchiveBroken, "the archive could not be written", onSession(session.ArchiveFailed)),
		row("C34", kernel.Blocking, "an answer, an approval or the environment is missing",
			append(closeTurn, onTask(task.Block), onSession(session.ForceStop))...),
		row("C35", kernel.Stopped, "stopped by force",
			append(closeTurn, onTask(task.Fail), onSession(session.ForceStop), may(onItem(board.Fail)),
				may(onIssue(board.Fail)))...),
		row("C36", kernel.HelpedFailed, "a person helps with a task that failed",
			onSession(session.HumanIntervention), onTask(task.Retry), may(onItem(board.Retry)),
			may(onIssue(board.Retry))).when(composed.IfNoRollback),
		row("C37", kernel.HelpedBlocked, "a person helps with a task that is blocked",
			onSession(session.HumanIntervention), onTask(task.Unblock)).when(composed.IfNoRollback),
		row("C38", kernel.Skipped, "the task is left behind",
			onSession(session.SkipTask), may(onTask(task.Cancel)), may(onItem(board.Fail)),
			may(onIssue(board.Fail))).when(composed.IfNoRollback, composed.IfNotFinal).then(kernel.ThenCleanup),
		row("C39", kernel.RolledBack, "the tree is back at the checkpoint",
			onSession(session.Rollback), may(onTask(task.Cancel)), may(onItem(board.Fail)), may(onIssue(board.Fail)),
			onBeside(session.Restoring.Name(), session.RollbackEnded),
			onFlow(workflow.CancelFlow, "")).when(composed.IfNotFinal).ends(),
		row("C40", kernel.CanceledAtWork, "the task at work is canceled and cleaned up",
			append(closeTurn, onTask(task.Cancel), may(onItem(board.Fail)), may(onItem(board.Skip)),
				may(onIssue(board.Fail)), may(onIssue(board.Skip)))...).when(composed.IfAtWork),
		row("C41", kernel.RepairLeft, "a repair is left behind with its task",
			onSession(session.ForceStop), onSession(session.SkipTask)),
	}
}

// besideRows are the rows of what stands beside the state of a session.
func besideRows() []line {
	return []line{
		row("C83", kernel.SessionPaused, "the work is paused",
			onBeside(session.Dispatch.Name(), session.Pause)).when(composed.IfBusy),
		row("C84", kernel.SessionResumed, "the work goes on after a pause",
			onBeside(session.Dispatch.Name(), session.Resume)),
		row("C85", kernel.RollbackAsked, "a rollback is asked for",
			onBeside(session.Restoring.Name(), session.RollbackAsked)).when(composed.IfBlocked),
		row("C86", kernel.RollbackFailed, "the tree could not be brought back",
			onBeside(session.Restoring.Name(), session.RollbackFailed)),
	}
}

// boardRows are the rows of an issue of the board beside its run.
func boardRows() []line {
	return []line{
		row("C71", kernel.HeldBack, "an issue is held back", onRegion(board.Hold.Name(), board.Pause, "")),
		row("C72", kernel.LetGo, "an issue is let go on", onRegion(board.Hold.Name(), board.Resume, "")),
		row("C73", kernel.WorkWaits, "the issue's session waits for a person",
			onRegion(board.Work.Name(), board.Wait, "")),
		row("C74", kernel.WorkGoesOn, "the issue's session can go on", onRegion(board.Work.Name(), board.GoOn, "")),
		row("C75", kernel.WorkDrains, "the issue's session has something to finish",
			onRegion(board.Work.Name(), board.Drain, "")),
		row("C76", kernel.ClaimedToPlan, "a worker takes an issue to plan it",
			onRegion(board.Claim.Name(), board.Acquire, board.ForPlan)).when(composed.IfRegistered, composed.IfOpen,
			composed.IfRunnable),
		row("C77", kernel.ClaimedToDo, "a worker takes an issue to carry its plan out",
			onRegion(board.Claim.Name(), board.Acquire, board.ForExecute)).when(composed.IfPlanned, composed.IfOpen,
			composed.IfRunnable),
		row("C78", kernel.ClaimedToGoOn, "a worker goes on with an issue that is under way",
			onRegion(board.Claim.Name(), board.Acquire, board.ForGoingOn)).when(composed.IfUnderWay,
			composed.IfRunnable),
		row("C79", kernel.ClaimedToDrain, "a worker finishes what is left of an issue",
			onRegion(board.Claim.Name(), board.Acquire, board.ForDrain)).when(composed.IfDraining),
		row("C80", kernel.GivenBack, "a worker gives an issue back", onRegion(board.Claim.Name(), board.Release, "")),
		row("C81", kernel.DependentsTold, "those that depend on an issue are told",
			onRegion(board.Dependents.Name(), board.Unblock, "")).when(composed.IfCompleted),
		row("C82", kernel.BegunAnew, "an issue whose conflicting work is rolled back is begun anew",
			kernel.Move{Kind: kernel.KindIssue, Event: string(board.Retry), When: board.Replan}).when(composed.IfIdle),
	}
}
