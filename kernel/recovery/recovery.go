// Package recovery mends what failed, ends what cannot go on, and takes back what was done.
package recovery

import (
	"cmp"
	"slices"
	"strings"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/audit"
	"pawl/kernel/effect"
	"pawl/machine/session"
	"pawl/machine/task"
	"pawl/machine/turn"
	"pawl/machine/workflow"
	"pawl/text/knowledge"
	"pawl/text/plan"
	"pawl/text/solution"
	"pawl/text/triage"
)

// Decide ends the work by force: the session is BLOCKED and a person decides how to go on.
func (c *Stop) Decide(tx *kernel.Tx) error {
	s := tx.Session
	if s == nil || !kernel.SessionWorks(tx) {
		return pawl.Fail(pawl.CodeInvalidTransition, "kernel.nothing_to_stop", kernel.StateName(&tx.Snapshot))
	}
	if tx.Task == nil || !kernel.Unfinished(tx.Task) {
		return pawl.Fail(pawl.CodeInvalidTransition, "kernel.nothing_to_stop", s.State)
	}
	t := tx.Task
	unknown := kernel.DropEffect(tx)
	s.Blocked = &kernel.Blocked{Kind: kernel.BlockedStopped, Task: t.ID, Effect: unknown, Error: effect.Fault{
		Class: pawl.ClassCanceled, Code: pawl.CodeCanceled, Key: "kernel.stopped", Args: []string{string(tx.Env.Actor),
			c.Reason},
	}}
	c.explain(&s.Blocked.Error)
	if t.State == string(task.Queued) {
		// The seed has no way from queued to failed; the task is taken first, so that the stop has a row to go by.
		t.Epoch++
		t.Lease.Owner = "stop"
		if err := tx.Apply(kernel.Claimed, "taken to be stopped"); err != nil {
			return err
		}
	}
	if a := tx.Approval; a != nil && a.State == kernel.ApprovalPending {
		// What was asked about belongs to the turn that ends here; whoever goes on is asked anew.
		kernel.AnswerApproval(tx, a, kernel.ApprovalStale, tx.Env.Actor, "stopped")
		s.Approval = ""
		if tx.Turn != nil {
			tx.Turn.Return = ""
		}
	}
	t.Exit, t.Reason, t.Blocked = string(task.ExitUserStopped), c.Reason, s.Blocked
	if t.Plan != nil {
		kernel.DropRepair(tx)
	}
	if tx.Turn != nil {
		tx.Turn.Outcome = string(turn.OutcomeCanceled)
	}
	kernel.DisposeTask(tx, t)
	return tx.Apply(kernel.Stopped, "stopped by "+string(tx.Env.Actor))
}

// explain says for what other reason than a word the work was stopped.
func (c *Stop) explain(f *effect.Fault) {
	if c.Lost {
		f.Key, f.Args = "kernel.stopped_lost", nil
	}
}

// byBoard reports whether the board's own policy asks for another attempt at an issue, which it may do a bounded number
// of times; a person may always.
func byBoard(tx *kernel.Tx) bool {
	return tx.Issue != nil && tx.Issue.Number > 0 && tx.Env.Actor.Kind() == pawl.KindPolicy
}

// Decide goes on after a person helped (HUMAN_INTERVENTION).
func (c *Fix) Decide(tx *kernel.Tx) error {
	if i := tx.Issue; byBoard(tx) {
		if i.Retries >= tx.Config.BoardRetries {
			return pawl.Fail(pawl.CodeBudget, "kernel.board_retries", i.Label)
		}
		i.Retries++
		tx.Touch(i)
	}
	b, err := kernel.BlockedTask(tx, "fix")
	if err != nil {
		return err
	}
	if b.Kind == kernel.BlockedArchive {
		tx.Session.Blocked = nil
		return tx.Apply(kernel.ArchiveRetried, c.Note)
	}
	t := tx.Task
	if t == nil {
		return pawl.Fail(pawl.CodeInvalidTransition, "kernel.nothing_to_fix")
	}
	if err := c.about(tx); err != nil {
		return err
	}
	if err := settleUnknown(tx, b, c.Answer); err != nil {
		return err
	}
	if err := addSteps(tx, c.Steps); err != nil {
		return err
	}
	// What a person mended does not count as the same failure again; how often a task is retried is bounded all the
	// same.
	t.Fixes, t.Exit, t.Reason, t.Gate, t.GateNote, t.Retry.Reasons = 0, "", "", nil, "", nil
	if strings.TrimSpace(c.Note) != "" {
		t.Help = effect.Help{Notes: effect.Heard(t.Help.Notes, c.Note), Failures: len(t.Failures)}
	}
	tx.Session.AutoFix, tx.Session.Blocked = 0, nil
	tx.Record(t, kernel.AuditHumanHelp, audit.Info,
		map[string]any{"note": c.Note, "steps": len(c.Steps), "answer": c.Answer})
	if t.State == string(task.Failed) {
		r, _ := task.Table.Next(task.Failed, task.Retry, "")
		if err := task.Admit(r, kernel.TaskEvidence(tx, t, r)); err != nil {
			return err
		}
		if err := kernel.AskRetry(tx, t); err != nil {
			return err
		}
		if err := tx.Apply(kernel.HelpedFailed, kernel.Note(c.Note)); err != nil {
			return err
		}
		kernel.CountRetry(tx, t, 0)
		return nil
	}
	return kernel.Unblock(tx, c.Note)
}

// about refuses words about work that is another by now, and those that no agent would hear.
func (c *Fix) about(tx *kernel.Tx) error {
	p := tx.Task.Proof
	switch {
	case c.Tree == "":
		return nil
	case p == nil || p.Tree != c.Tree:
		return pawl.Fail(pawl.CodeApprovalStale, "kernel.work_changed", kernel.Short(c.Tree))
	case !tx.Task.Hears():
		return pawl.Fail(pawl.CodeInvalidTransition, "kernel.nobody_hears")
	}
	return nil
}

// settleUnknown takes the person's word about an effect whose outcome was lost.
func settleUnknown(tx *kernel.Tx, b *kernel.Blocked, a kernel.Answer) error {
	if b.Effect == "" {
		return nil
	}
	if a == kernel.AnswerNone {
		return pawl.Fail(pawl.CodeBlocked, "kernel.answer_needed", b.Effect)
	}
	e := tx.Effect
	if e == nil || e.ID != b.Effect || e.State != kernel.EffectUnknown {
		return nil
	}
	e.Answer = string(a)
	e.State = kernel.EffectCanceled
	if ownsEffect(tx, e) {
		if err := kernel.Take(tx, kernel.ThenResolve); err != nil {
			return err
		}
	} else if a == kernel.AnswerDone {
		e.State = kernel.EffectDone
		tx.Task.Cursor.Call++
		if e.What() == effect.KindTool {
			restoreCursor(tx, e, 1)
		}
	} else if e.What() == effect.KindTool {
		restoreCursor(tx, e, 0)
	}
	tx.Record(e, kernel.AuditEffectAnswered, audit.Warn, map[string]any{"answer": a, "by": tx.Env.Actor})
	return nil
}

// ownsEffect reports whether a call whose outcome was lost is one that an agent asked for.
func ownsEffect(tx *kernel.Tx, e *kernel.EffectDoc) bool {
	if tx.Talk == nil || e.What() != effect.KindTool {
		return false
	}
	call, err := effect.Decode[effect.ToolCall](e.Effect.Spec)
	return err == nil && call.StepID == tx.Talk.Step && (e.Within != "" || tx.Talk.Next < len(tx.Talk.Asks))
}

// restoreCursor points the plan at the call of an effect, or behind it.
func restoreCursor(tx *kernel.Tx, e *kernel.EffectDoc, behind int) {
	call, err := effect.Decode[effect.ToolCall](e.Effect.Spec)
	if err != nil {
		return
	}
	i, ok := tx.Task.Plan.Find(call.StepID)
	if !ok {
		return
	}
	p := tx.Task.Plan.Clone()
	p.Steps[i].Status = plan.InProgress
	tx.Task.Plan = &p
	tx.Task.Cursor = kernel.Cursor{Step: call.StepID, Call: callIndex(tx, call) + behind}
	tx.Touch(tx.Task)
}

// callIndex finds a call in its step by its arguments; the cursor at the time was at that call.
func callIndex(tx *kernel.Tx, call effect.ToolCall) int {
	i, _ := tx.Task.Plan.Find(call.StepID)
	for n, c := range tx.Task.Plan.Steps[i].ToolCalls {
		if c.Name == call.Name && string(c.ArgsHint) == string(call.Args) {
			return n
		}
	}
	return 0
}

// addSteps appends steps that a person gives. The person stands for what the policy would ask about; what it denies
// stays denied.
func addSteps(tx *kernel.Tx, steps []plan.Step) error {
	if len(steps) == 0 {
		return nil
	}
	next, _, err := planRepair(tx, steps)
	if err != nil {
		return err
	}
	tx.Task.Repairs++
	tx.Task.Plan = &next
	tx.Touch(tx.Task)
	return nil
}

// Decide leaves the task that failed behind and closes the run.
func (c *Skip) Decide(tx *kernel.Tx) error {
	b, err := kernel.BlockedTask(tx, "skip")
	if err != nil {
		return err
	}
	if b.Kind == kernel.BlockedArchive {
		return pawl.Fail(pawl.CodeInvalidTransition, "kernel.archive_cannot_be_skipped")
	}
	tx.Task.Cleanup = kernel.NothingToClean()
	tx.Session.Blocked = nil
	if err := tx.Apply(kernel.Skipped, cmp.Or(c.Reason, "skipped")); err != nil {
		return err
	}
	tx.Run.Outcome = "skipped"
	tx.Touch(tx.Run)
	return nil
}

// ranOnce reports whether calls of a task were begun that may run once: it is not begun anew without a word.
func ranOnce(t *kernel.Task) bool { return t != nil && len(t.Once) > 0 }

// Decide brings the tree back to the task's checkpoint. Work at hand is stopped first; what it did until then has to be
// known before the tree is restored.
func (c *Rollback) Decide(tx *kernel.Tx) error {
	s := tx.Session
	if i := tx.Issue; byBoard(tx) {
		if i.Conflicts > 0 || ranOnce(tx.Task) {
			return pawl.Fail(pawl.CodeBudget, "kernel.board_retries", i.Label)
		}
		i.Conflicts++
		tx.Touch(i)
	}
	switch {
	case s != nil && s.State == string(session.Blocked) && s.RollingBack():
		return nil
	case s != nil && s.State == string(session.Idle) && tx.Run != nil && tx.Run.Land == nil && tx.Run.InTree(tx.Task):
		return reverseRun(tx, "", false)
	case s != nil && kernel.SessionWorks(tx):
		if err := (&Stop{Reason: "rollback"}).Decide(tx); err != nil {
			return err
		}
	}
	b, err := kernel.BlockedTask(tx, "rollback")
	if err != nil {
		return err
	}
	if b.Kind == kernel.BlockedArchive {
		return pawl.Fail(pawl.CodeInvalidTransition, "kernel.landed_already")
	}
	if byBoard(tx) {
		tx.Issue.RestartReason = strings.TrimSpace(b.Error.Err().Error() + "\n" + b.Error.Detail)
	}
	if err := tx.Apply(kernel.RollbackAsked, ""); err != nil {
		return err
	}
	tx.Run.Outcome = "rolled_back"
	tx.Touch(tx.Run)
	tx.Record(s, kernel.AuditRollbackRequested, audit.Info,
		map[string]any{"checkpoint": s.LastCheckpoint, "reason": c.Reason})
	if tx.Task.OrphanEffect == "" {
		return BringBack(tx)
	}
	return nil
}

// BringBack asks for what a rollback needs, once it is known what was changed: the restoration of the user's own tree,
// or the end of the worktree.
func BringBack(tx *kernel.Tx) error {
	if t := tx.Task; t.Place.InPlace && t.Ready.Checkpoint {
		tx.Emit(effect.KindRestore, backToCheckpoint(tx, "before-rollback-"), true)
		return nil
	}
	return KeepWork(tx)
}

// backToCheckpoint asks to undo everything that the task changed in the tree.
func backToCheckpoint(tx *kernel.Tx, safety string) effect.RestoreSpec {
	t := tx.Task
	spec := effect.RestoreSpec{Name: t.Checkpoint.Name, Target: t.Checkpoint.Tree, Expect: t.Tree, Safety: safety +
		kernel.CheckpointName(tx), Kept: tx.Run.Ignored.Or(t.Place.Kept)}
	if t.Ready.Tracked {
		spec.Expect, spec.Spans = spec.Target, t.Spans
	}
	return spec
}

// KeepWork saves what a task leaves unfinished under a checkpoint of its own before its worktree goes, so that nothing
// is lost; without a worktree there is nothing to save.
func KeepWork(tx *kernel.Tx) error {
	t := tx.Task
	if t.Ready.Worktree && !t.Ready.Cleaned {
		tx.Emit(effect.KindCheckpoint, effect.CheckpointSpec{Name: kernel.CheckpointName(tx)}, true)
		return nil
	}
	tx.Emit(effect.KindCleanup, effect.CleanupSpec{}, true)
	return nil
}

// WorkRestored takes the result of a restore: of a rollback, of an undo in place, or of one step.
func WorkRestored(tx *kernel.Tx, r effect.Receipt) error {
	spec, err := effect.Decode[effect.RestoreSpec](tx.Effect.Effect.Spec)
	if err != nil {
		return err
	}
	s := tx.Session
	switch {
	case spec.Step != "":
		return stepRestored(tx, spec, r)
	case s.State == string(session.Idle):
		return RunUndone(tx, r)
	case !r.OK:
		return notBack(tx, r)
	}
	result, err := effect.Decode[effect.RestoreResult](r.Result)
	if err != nil {
		return err
	}
	stepTakenBack(tx, result)
	tx.Emit(effect.KindCleanup, effect.CleanupSpec{}, true)
	return nil
}

// notBack leaves a rollback that could not be done to the person.
func notBack(tx *kernel.Tx, r effect.Receipt) error {
	if err := tx.Apply(kernel.RollbackFailed, ""); err != nil {
		return err
	}
	tx.Session.Blocked.Error = kernel.Info(r.Err())
	tx.Record(tx.Session, kernel.AuditRollbackFailed, audit.Error, tx.Session.Blocked.Error)
	return nil
}

// stepTakenBack notes what a rollback, an undo or a redo of the whole run left in the user's own tree.
func stepTakenBack(tx *kernel.Tx, result effect.RestoreResult) {
	tx.Record(tx.Task, kernel.AuditTreeRestored, audit.Info, map[string]any{
		"before": result.Before, "after": result.After, "changed": len(result.Changed), "kept": result.Kept,
		"cut": result.Cut, "ignored": result.Ignored,
	})
	restoredBy(tx, result)
	tx.Run.SkippedFiles, tx.Run.TruncatedFiles = result.Kept, result.Cut
	tx.Run.Ignored, tx.Run.Restored = result.Ignored, &effect.Span{Before: result.Before, After: result.After}
	tx.Touch(tx.Run)
}

// restoredBy notes a restoration among the task's spans: it is no change of its own to be undone, but it is no one
// else's either.
func restoredBy(tx *kernel.Tx, result effect.RestoreResult) {
	t := tx.Task
	t.Tree = result.After
	if result.Before != result.After {
		t.Spans = append(slices.Clip(t.Spans), effect.Span{Before: result.Before, After: result.After, Undone: true})
	}
	tx.Touch(t)
}

// WorkSaved takes the checkpoint of unfinished work and goes on to the cleanup.
func WorkSaved(tx *kernel.Tx, r effect.Receipt) error {
	if r.OK {
		if made, err := effect.Decode[effect.CheckpointResult](r.Result); err == nil {
			kernel.KeepCheckpoint(tx, kernel.CheckpointDoc{CheckpointResult: made, Task: tx.Task.ID,
				Place: tx.Task.Place},
				tx.Task.ID, "unfinished")
			tx.Run.Saved = made.Ref
			tx.Touch(tx.Run)
		}
	}
	tx.Emit(effect.KindCleanup, effect.CleanupSpec{KeepTree: !r.OK}, true)
	return nil
}

// WorkCleaned takes the cleanup's summary and does what the cleanup was for: close a cancel, a rollback, or the run.
func WorkCleaned(tx *kernel.Tx, r effect.Receipt) error {
	t, s := tx.Task, tx.Session
	result, err := effect.Decode[effect.CleanupResult](r.Result)
	if err != nil {
		result = effect.CleanupResult{Failed: []string{r.Key + " " + r.Detail}}
	}
	apart := slices.Contains(result.Failed, effect.CleanedLanding)
	t.Cleanup, t.Ready.Cleaned = &result, !apart
	tx.Touch(t)
	switch {
	case s.RollingBack() && apart:
		return notBack(tx, r)
	case s.RollingBack():
		return WriteArchive(tx)
	case !t.CancelAt.IsZero() && !task.State(t.State).Terminal():
		if tx.Turn != nil {
			tx.Turn.Outcome = "canceled"
		}
		if err := tx.Apply(kernel.CanceledAtWork, t.Reason); err != nil {
			return err
		}
		t.EndedAt = tx.Now
		tx.Run.Outcome = "canceled"
		tx.Touch(tx.Run)
	}
	if s.State == string(session.AutoFix) {
		if err := tx.Apply(kernel.RepairLeft, "the task was canceled"); err != nil {
			return err
		}
	}
	return tx.Apply(kernel.AllDone, "every task is landed or closed")
}

// maxLogged is how many changed files an entry of the CHANGELOG names.
const maxLogged = 20

// changelog is what the run has to say in the CHANGELOG: what landed, and that a person has confirmed an extremely high
// risk (docs/spec/workflow.md#knowledge-base, docs/spec/workflow.md#ehrb).
func changelog(tx *kernel.Tx) []effect.LogEntry {
	r, t := tx.Run, tx.Task
	if r == nil || t == nil || r.Land == nil || tx.Solution == nil {
		return nil
	}
	e := effect.LogEntry{At: t.EndedAt, Kind: string(kindOf(r)), Text: kernel.FirstLine(tx.Solution.Plan.Goal),
		Commit: r.Land.Commit, ID: t.ID, Language: tx.Config.Language}
	if e.Language == "" {
		e.Language = r.Lang
	}
	for _, f := range r.Land.Files {
		if len(e.Files) < maxLogged {
			e.Files = append(e.Files, f.Path)
		}
		if m := triage.Module(f.Path); m != "" && !slices.Contains(e.Modules, m) {
			e.Modules = append(e.Modules, m)
		}
	}
	if r.Package != "" {
		e.Package, e.Folder = r.Package, solution.ArchiveDir(r.Package)
	}
	out := []effect.LogEntry{e}
	by, at := r.RiskBy, t.StartedAt
	if a := tx.Approval; kernel.Dangerous(tx.Solution) && a != nil && a.State == kernel.ApprovalGranted &&
		a.AnsweredBy.Kind() == pawl.KindUser {
		by, at = a.AnsweredBy, a.AnsweredAt
	}
	if by != "" {
		risk := e
		risk.Kind, risk.ID, risk.Files, risk.At = string(knowledge.RiskConfirmed), t.ID+"-risk", nil, at
		risk.Text += " (" + string(by) + ")"
		out = append(out, risk)
	}
	return out
}

// kindOf is the kind of change that a run made, as the CHANGELOG says it.
func kindOf(r *kernel.Run) knowledge.Kind {
	switch {
	case r.Outgrown:
		return knowledge.OutOfScope
	case r.Path == workflow.PathTweak:
		return knowledge.Tweaked
	case r.Evaluation != nil && r.Evaluation.Class == triage.ClassFeature:
		return knowledge.Added
	case r.Evaluation != nil && r.Evaluation.Class == triage.ClassBugfix:
		return knowledge.Fixed
	}
	return knowledge.Changed
}

// archiveFiles returns what the end of the run leaves behind. Its content depends on the run alone and not on the
// moment, so that an archive that is tried again writes the same files.
func archiveFiles(tx *kernel.Tx) (files []pawl.ProjectedFile, moved *effect.Retired) {
	if tx.Run == nil || tx.Solution == nil || tx.Task == nil {
		return nil, nil
	}
	if tx.Task.EndedAt.IsZero() { // a task that failed ends when it is left behind
		tx.Task.EndedAt = tx.Now
		tx.Touch(tx.Task)
	}
	return tx.Package().Archive()
}

// WriteArchive asks for the archive's files; what they say is made from the run as it is now.
func WriteArchive(tx *kernel.Tx) error {
	files, moved := archiveFiles(tx)
	tx.Emit(effect.KindArchive, effect.ArchiveSpec{Files: files, Package: moved, Log: changelog(tx)}, true)
	return nil
}

// RunArchived ends the run, or blocks until the archive can be written. A rollback is over all the same: what it has
// brought back does not depend on what is told of it.
func RunArchived(tx *kernel.Tx, r effect.Receipt) error {
	s := tx.Session
	if s.RollingBack() {
		return rolledBack(tx, r)
	}
	if !r.OK {
		s.Blocked = &kernel.Blocked{Kind: kernel.BlockedArchive, Error: kernel.Info(r.Err())}
		return tx.Apply(kernel.ArchiveBroken, r.Key)
	}
	if r.Cause != nil {
		tx.Run.ArchiveWarning = r.Cause
		tx.Record(tx.Run, kernel.AuditArchiveIncomplete, audit.Warn, r.Cause)
	}
	if made, err := effect.Decode[effect.ArchiveResult](r.Result); err == nil {
		tx.Run.Archived = made.Package
	}
	if err := tx.Apply(kernel.Archived, "archived"); err != nil {
		return err
	}
	if tx.Run.Land != nil || tx.Run.InTree(tx.Task) && tx.Task.Changed() {
		s.LastRun = tx.Run.ID
	}
	kernel.EndRun(tx, tx.Run.Outcome)
	return nil
}

// rolledBack ends the run whose tree is back at its checkpoint.
func rolledBack(tx *kernel.Tx, r effect.Receipt) error {
	if !r.OK {
		kept := kernel.Info(r.Err())
		tx.Run.ArchiveWarning = &kept
		tx.Record(tx.Run, kernel.AuditArchiveIncomplete, audit.Warn, kept)
	}
	s := tx.Session
	tx.Turn = nil
	if err := tx.Apply(kernel.RolledBack, "back at "+s.LastCheckpoint); err != nil {
		return err
	}
	if back := tx.Run.Restored; back != nil && back.Before != back.After {
		tx.Run.Undone, s.RolledBackRun = true, tx.Run.ID
	}
	kernel.EndRun(tx, "rolled_back")
	return nil
}

// RunEnding reports whether a checkpoint is the last one of a run that ends without landing.
func RunEnding(tx *kernel.Tx) bool {
	t := tx.Task
	return tx.Session.RollingBack() || !t.CancelAt.IsZero() || task.State(t.State).Terminal()
}

// LeaveBehind leaves the task behind for the reason that it has.
func LeaveBehind(tx *kernel.Tx) error { return (&Skip{Reason: tx.Task.Reason}).Decide(tx) }
