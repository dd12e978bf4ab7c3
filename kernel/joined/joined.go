// Package joined is where the packages of the protocols meet: the table by which the kernel decides.
package joined

import (
	"pawl/kernel"
	"pawl/kernel/approval"
	"pawl/kernel/budget"
	"pawl/kernel/composition"
	"pawl/kernel/control"
	"pawl/kernel/effect"
	"pawl/kernel/effects"
	"pawl/kernel/issues"
	"pawl/kernel/notices"
	"pawl/kernel/orders"
	"pawl/kernel/planning"
	"pawl/kernel/pulls"
	"pawl/kernel/recovery"
	"pawl/kernel/steps"
	"pawl/kernel/tasks"
	"pawl/kernel/verification"
)

// Table returns the table that joins all protocols. Nothing of it may be changed.
func Table() *kernel.Protocols {
	carried := kernel.Follow{Done: orders.CarriedOut}
	return &kernel.Protocols{
		Rows:     composition.By(),
		Commands: commands(),
		Steps: map[kernel.Step]func(*kernel.Tx) error{
			kernel.ThenIntake: planning.AskIntake, kernel.ThenContext: planning.BuildContext,
			kernel.ThenPlan: planning.MakePlan, kernel.ThenAdvance: steps.Advance,
			kernel.ThenCleanup: recovery.KeepWork, kernel.ThenArchive: recovery.WriteArchive,
			kernel.ThenJudge: planning.Evaluated, kernel.ThenMeasure: planning.ChangeMeasured,
			kernel.ThenRepair: recovery.AskRepair, kernel.ThenVerify: verification.RunChecks,
			kernel.ThenGates: verification.RunGates, kernel.ThenResolve: steps.CallResolved,
			kernel.ThenRestore: recovery.BringBack, kernel.ThenCancel: control.Cancel,
			kernel.ThenSkip: recovery.LeaveBehind, kernel.ThenPropose: pulls.Share,
		},
		Effects: map[effect.Kind]kernel.Follow{
			effect.KindIntake: {Done: planning.TakenIn}, effect.KindContext: {Done: planning.ContextBuilt},
			effect.KindPlan:       {Done: planning.PlanMade},
			effect.KindWork:       {Fill: steps.FillWork, Done: steps.AgentDone, Unwanted: true},
			effect.KindRepair:     {Done: recovery.RepairMade, Unwanted: true},
			effect.KindTool:       {Done: steps.ToolDone, Unwanted: true},
			effect.KindVerify:     {Done: verification.ChecksDone, Unwanted: true},
			effect.KindGates:      {Done: gated, Unwanted: true},
			effect.KindProve:      {Done: verification.ProofSeen, Unwanted: true},
			effect.KindReview:     {Done: verification.Reviewed, Unwanted: true},
			effect.KindRewrite:    {Done: steps.TestRewritten, Unwanted: true},
			effect.KindWorktree:   {Done: steps.WorktreeMade, Unwanted: true},
			effect.KindCheckpoint: {Done: checkpointed},
			effect.KindRebase:     {Done: verification.RebaseDone, Unwanted: true},
			effect.KindLand:       {Done: verification.LandingDone},
			effect.KindRevert:     {Done: recovery.RunUndone},
			effect.KindRestore:    {Done: recovery.WorkRestored},
			effect.KindCleanup:    {Done: recovery.WorkCleaned},
			effect.KindArchive:    {Done: recovery.RunArchived},
			effect.KindKnowledge:  carried,
			effect.KindPackage:    carried,
			effect.KindRetire:     carried,
			effect.KindCommit:     carried,
			effect.KindRewind:     carried,
			effect.KindTest:       carried,
			effect.KindPrepare:    carried,
			effect.KindPush:       {Done: pulls.Pushed},
			effect.KindPull:       {Done: pulls.Opened},
			effect.KindStatus:     {Done: pulls.Reported},
			effect.KindComment:    {Done: pulls.Commented},
			effect.KindClose:      {Done: recovery.RunUndone},
		},
		Answers: map[string]kernel.Reply{
			"plan":             {Granted: planning.PlanApproved, Refused: planning.PlanDeclined},
			kernel.AboutChecks: {Granted: verification.ChecksAllowed, Refused: verification.ChecksRefused},
			kernel.AboutProof:  {Granted: verification.ProofAccepted, Refused: verification.ProofRefused},
			"call":             {Granted: steps.CallAllowed, Refused: steps.CallRefused},
			kernel.AboutTest:   {Granted: steps.TestTaken, Refused: steps.TestKept},
		},
		AnyAction: kernel.Reply{Granted: recovery.RepairAllowed, Refused: recovery.RepairRefused},
		Books: kernel.Books{Read: budget.Read, Begin: budget.BeginEffect, End: budget.EndEffect,
			Call: budget.ChargeCall, Forfeit: budget.Forfeit},
		Before: []func(*kernel.Tx) error{issues.ClaimHolds},
		After:  []func(*kernel.Tx) error{issues.FollowBoard},
	}
}

// checkpointed takes a checkpoint that was made: one that a person asked for, the last one of a run that ends without
// landing, or the one from which a task begins.
func checkpointed(tx *kernel.Tx, r effect.Receipt) error {
	switch {
	case tx.Effect.Effect.Task == "":
		return orders.CheckpointMade(tx, r)
	case recovery.RunEnding(tx):
		return recovery.WorkSaved(tx, r)
	}
	return steps.TaskCheckpointed(tx, r)
}

// gated takes what gates proved, or that those of a task outside a run could not be run.
func gated(tx *kernel.Tx, r effect.Receipt) error {
	if _, err := effect.Decode[effect.VerifyResult](r.Result); err != nil && !r.OK && tx.Run == nil {
		return tasks.GatesUnrun(tx, r)
	}
	return verification.GatesDone(tx, r)
}

// commands are the commands that there are, an empty one of each.
func commands() []kernel.Command {
	return []kernel.Command{
		new(kernel.Transition), new(kernel.NoteRefusal),
		new(issues.AddIssues), new(issues.EditIssue), new(issues.AddDependency),
		new(issues.ClaimIssue), new(issues.RenewIssue), new(issues.ReleaseIssue), new(issues.Release),
		new(issues.RetryIssue), new(issues.MoveBoard), new(issues.AimBoard),
		new(approval.Approve), new(approval.Deny), new(approval.Show),
		new(budget.Reserve), new(budget.Settle),
		new(control.Pause), new(control.Resume), new(control.CancelRun), new(control.CancelTask), new(control.Sweep),
		new(control.Retire), new(control.Discard),
		new(control.EnterTool), new(control.LeaveTool),
		new(effects.Begin), new(effects.Report), new(effects.Recover),
		new(notices.Tell), new(notices.Begin), new(notices.Report), new(notices.Recover), new(notices.Settle),
		new(notices.Withdrawn),
		new(orders.SaveDecision), new(orders.RecordError), new(orders.CreateCheckpoint), new(orders.Order),
		new(planning.Init), new(planning.Start), new(planning.Revise), new(planning.EditPlan), new(planning.Choose),
		new(planning.Relocate),
		new(pulls.Propose), new(pulls.Note),
		new(recovery.Stop), new(recovery.Fix), new(recovery.Skip), new(recovery.Rollback), new(recovery.Undo),
		new(recovery.Redo),
		new(steps.AnswerQuestions), new(steps.Claim), new(steps.StartToolCall), new(steps.AttachSession),
		new(steps.Ask),
		new(tasks.CreateTask), new(tasks.RequestGates), new(tasks.RestartTask), new(tasks.Heartbeat),
		new(tasks.UpdateProgress),
		new(verification.Accept),
	}
}
