package kernel

import "pawl/kernel/effect"

// Joined is the table.
func Joined() *Protocols {
	carried := Follow{Done: carriedOut}
	return &Protocols{
		Commands: commands(),
		Steps: map[Step]func(*Tx) error{
			ThenIntake: askIntake, ThenContext: buildContext, ThenPlan: makePlan, ThenAdvance: advance,
			ThenCleanup: keepWork, ThenArchive: writeArchive, ThenJudge: evaluated, ThenMeasure: changeMeasured,
			ThenRepair: askRepair, ThenVerify: runChecks, ThenGates: runGates, ThenResolve: callResolved,
			ThenRestore: bringBack, ThenCancel: cancel, ThenSkip: skip,
		},
		Effects: map[effect.Kind]Follow{
			effect.KindIntake: {Done: takenIn}, effect.KindContext: {Done: contextBuilt}, effect.KindPlan: {Done: planMade},
			effect.KindWork:       {Fill: fillWork, Done: agentDone, Unwanted: true},
			effect.KindRepair:     {Done: repairMade, Unwanted: true},
			effect.KindTool:       {Done: toolDone, Unwanted: true},
			effect.KindVerify:     {Done: checksDone, Unwanted: true},
			effect.KindGates:      {Done: gatesDone, Unwanted: true},
			effect.KindWorktree:   {Done: worktreeMade, Unwanted: true},
			effect.KindCheckpoint: {Done: checkpointed},
			effect.KindRebase:     {Done: rebaseDone, Unwanted: true},
			effect.KindLand:       {Done: landingDone},
			effect.KindRevert:     {Done: runUndone},
			effect.KindRestore:    {Done: workRestored},
			effect.KindCleanup:    {Done: workCleaned},
			effect.KindArchive:    {Done: runArchived},
			effect.KindKnowledge:  carried,
			effect.KindPackage:    carried,
			effect.KindRetire:     carried,
			effect.KindCommit:     carried,
			effect.KindRewind:     carried,
			effect.KindTest:       carried,
			effect.KindPrepare:    carried,
		},
		Answers: map[string]Reply{
			"plan":      {Granted: planApproved, Refused: planDeclined},
			aboutChecks: {Granted: checksAllowed, Refused: checksRefused},
			"call":      {Granted: callAllowed, Refused: callRefused},
		},
		AnyAction: Reply{Granted: repairAllowed, Refused: repairRefused},
		Books:     Books{Read: readBudgets, Begin: beginEffect, End: endEffect, Call: chargeCall, Forfeit: forfeit},
		Before:    []func(*Tx) error{claimHolds},
		After:     []func(*Tx) error{followBoard},
	}
}

func checkpointed(tx *Tx, r effect.Receipt) error {
	switch {
	case tx.Effect.Effect.Task == "":
		return checkpointMade(tx, r)
	case runEnding(tx):
		return workSaved(tx, r)
	}
	return taskCheckpointed(tx, r)
}

// commands are the commands that there are, an empty one of each.
func commands() []Command {
	return []Command{
		new(Init),
		new(Start),
		new(AnswerQuestions),
		new(Approve),
		new(Deny),
		new(Revise),
		new(EditPlan),
		new(Pause),
		new(Resume),
		new(Stop),
		new(CancelRun),
		new(Fix),
		new(Skip),
		new(Rollback),
		new(Undo),
		new(Redo),
		new(CreateTask),
		new(Transition),
		new(RequestGates),
		new(CancelTask),
		new(RestartTask),
		new(Claim),
		new(Heartbeat),
		new(Begin),
		new(Report),
		new(Recover),
		new(StartToolCall),
		new(Reserve),
		new(Settle),
		new(AttachSession),
		new(Sweep),
		new(SaveDecision),
		new(RecordError),
		new(UpdateProgress),
		new(CreateCheckpoint),
		new(Ask),
		new(Order),
		new(AddIssues),
		new(EditIssue),
		new(AddDependency),
		new(ClaimIssue),
		new(RenewIssue),
		new(ReleaseIssue),
		new(Release),
		new(RetryIssue),
		new(Choose),
		new(EnterTool),
		new(LeaveTool),
		new(MoveBoard),
		new(Relocate),
		new(AimBoard),
	}
}
