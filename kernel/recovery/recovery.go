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
		return pawl.Fail(pawl.CodeInvalidTransition, "kernel.nothing_to_stop", kernel.StateName(tx))
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
	switch {
	case c.Lost:
		f.Key, f.Args = "kernel.stopped_lost", nil
	case c.Copied != "":
		f.Key, f.Args = "kernel.stopped_copy", []string{c.Copied}
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
	if err := settleUnknown(tx, b, c.Answer); err != nil {
		return err
	}
	if err := addSteps(tx, c.Steps); err != nil {
		return err
	}
	// What a person mended does not count as the same failure again; how often a task is retried is bounded all the
	// same.
	t.Fixes, t.Exit, t.Reason, t.Gate, t.GateNote, t.Retry.Reasons = 0, "", "", nil, "", nil
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
	if kernel.OwnsEffect(tx, e) {
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
	e := effect.LogEntry{At: t.EndedAt, Kind: string(knowledge.Changed), Text: kernel.FirstLine(tx.Solution.Plan.Goal),
		Commit: r.Land.Commit, ID: t.ID, Language: tx.Config.Language}
	if e.Language == "" {
		e.Language = r.Lang
	}
	switch {
	case r.Outgrown:
		e.Kind = string(knowledge.OutOfScope)
	case r.Path == workflow.PathTweak:
		e.Kind = string(knowledge.Tweaked)
	case r.Evaluation != nil && r.Evaluation.Class == triage.ClassFeature:
		e.Kind = string(knowledge.Added)
	case r.Evaluation != nil && r.Evaluation.Class == triage.ClassBugfix:
		e.Kind = string(knowledge.Fixed)
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

// Decide undoes the result of the last run, or one step of the run whose tree is there.
func (c *Undo) Decide(tx *kernel.Tx) error {
	if c.Step != "" {
		return undoStep(tx, c.Step)
	}
	return reverseRun(tx, c.Run, false)
}

// Decide brings the undone step or result back, whichever was undone last.
func (c *Redo) Decide(tx *kernel.Tx) error {
	if c.Run != "" {
		return reverseRun(tx, c.Run, true)
	}
	s, t := tx.Session, tx.Task
	blocked := s != nil && s.State == string(session.Blocked)
	if blocked || t != nil && tx.Run != nil && len(t.Undone) > 0 && !tx.Run.Undone {
		return redoStep(tx)
	}
	return reverseRun(tx, "", true)
}

// reverseRun undoes the result of a run or, again, brings it back. Named is the run's id where it was named.
func reverseRun(tx *kernel.Tx, named string, again bool) error {
	s := tx.Session
	if s == nil || s.State != string(session.Idle) || s.Effect != "" {
		return pawl.Fail(pawl.CodeInvalidTransition, "kernel.undo_when_idle", kernel.StateName(tx))
	}
	r, t := tx.Run, tx.Task
	switch {
	case r == nil || !r.InTree(t) && (r.Land == nil || r.Land.Outcome == effect.Empty):
		return pawl.Fail(pawl.CodeNotFound, "kernel.nothing_to_undo")
	case r.Undone && !again:
		return pawl.Fail(pawl.CodeNotFound, "kernel.undone_already", r.Label)
	case !r.Undone && again:
		return pawl.Fail(pawl.CodeNotFound, "kernel.not_undone", r.Label)
	case r.InTree(t) && named != "" && named != s.LastRun && named != s.RolledBackRun:
		return pawl.Fail(pawl.CodeInvalidTransition, "kernel.undo_in_order", r.Label)
	case r.InTree(t):
		spec := backToCheckpoint(tx, "before-undo-")
		if again && r.Restored != nil {
			spec.Spans, spec.Target, spec.Expect = nil, r.Restored.Before, r.Restored.After
		} else if again {
			spec.Spans, spec.Target, spec.Expect = nil, t.Tree, t.Checkpoint.Tree
		}
		spec.Name = "undo"
		restoredForSession(tx, tx.Emit(effect.KindRestore, spec, true))
	case r.Land.Outcome == effect.Landed:
		commit, verb := r.Land.Commit, "Undo: "
		if again {
			commit, verb = r.Revert.Commit, "Redo: "
		}
		tx.Emit(effect.KindRevert, effect.RevertSpec{
			Commit: commit, Branch: r.Land.Branch, Keep: "pawl/undo-" +
				t.Label, Subject: kernel.FirstLine(verb + t.Title), Body: "Reverts commit " + commit +
				".\n", At: tx.Now, Kept: r.Ignored.Or(t.Place.Kept),
		}, true)
	default:
		return pawl.Fail(pawl.CodeNotFound, "kernel.nothing_landed", string(r.Land.Outcome))
	}
	if s.RolledBackRun == r.ID {
		s.LastRun, s.RolledBackRun = s.RolledBackRun, s.LastRun
	} else {
		s.LastRun, s.RolledBackRun = r.ID, ""
	}
	tx.Record(r, kernel.AuditUndoRequested, audit.Info, map[string]any{"redo": again})
	tx.Result = r.ID
	return nil
}

// restoredForSession hands an effect from the task, whose work is over, to the session.
func restoredForSession(tx *kernel.Tx, e *kernel.EffectDoc) {
	e.Effect.Task, tx.Task.Effect, tx.Session.Effect = "", "", e.ID
	tx.Touch(tx.Session)
}

// undoable returns the task whose steps can be undone: its tree is there and nobody is at work in it.
func undoable(tx *kernel.Tx) (*kernel.Task, error) {
	s, t := tx.Session, tx.Task
	if s == nil {
		return nil, pawl.Fail(pawl.CodeNotFound, "kernel.not_initialised")
	}
	switch session.State(s.State) {
	case session.Idle:
		switch {
		case s.Effect != "":
			return nil, pawl.Fail(pawl.CodeBusy, "kernel.winding_up", "undo")
		case tx.Run == nil || t == nil || tx.Run.Undone:
			return nil, pawl.Fail(pawl.CodeNotFound, "kernel.nothing_to_undo")
		case !tx.Run.InTree(t):
			return nil, pawl.Fail(pawl.CodeInvalidTransition, "kernel.step_landed")
		}
	case session.Blocked:
		b, err := kernel.BlockedTask(tx, "undo")
		switch {
		case err != nil:
			return nil, err
		case b.Kind == kernel.BlockedArchive:
			return nil, pawl.Fail(pawl.CodeInvalidTransition, "kernel.landed_already")
		case t != nil && t.OrphanEffect != "":
			return nil, pawl.Fail(pawl.CodeBusy, "kernel.winding_up", "undo")
		}
	default:
		return nil, pawl.Fail(pawl.CodeInvalidTransition, "kernel.step_when_resting", s.State)
	}
	if t == nil || t.Plan == nil || !t.Ready.Checkpoint {
		return nil, pawl.Fail(pawl.CodeNotFound, "kernel.nothing_to_undo")
	}
	return t, nil
}

// undoStep takes back what one step changed. The step counts as skipped from then on, so that work that goes on leaves
// it out.
func undoStep(tx *kernel.Tx, step string) error {
	t, err := undoable(tx)
	if err != nil {
		return err
	}
	if _, ok := t.Plan.Find(step); !ok {
		var all []string
		for _, s := range t.Plan.Steps {
			all = append(all, s.StepID)
		}
		return pawl.Fail(pawl.CodeNotFound, "kernel.step_not_found", step, strings.Join(all, ", "))
	}
	if b := tx.Session.Blocked; b != nil && b.Effect != "" && tx.Effect != nil && tx.Effect.ID == b.Effect {
		if call, err := effect.Decode[effect.ToolCall](tx.Effect.Effect.Spec); err == nil && call.StepID == step {
			return pawl.Fail(pawl.CodeBlocked, "kernel.step_open", step)
		}
	}
	if !slices.ContainsFunc(t.Spans, func(s effect.Span) bool { return s.Step == step && !s.Undone }) {
		return pawl.Fail(pawl.CodeNotFound, "kernel.step_changed_nothing", step)
	}
	stepEffect(tx, effect.RestoreSpec{Name: "undo " + step, Step: step, Spans: t.Spans})
	tx.Record(t, kernel.AuditStepUndoRequested, audit.Info, map[string]any{"step": step})
	return nil
}

// redoStep brings back what the step changed that was undone last.
func redoStep(tx *kernel.Tx) error {
	t, err := undoable(tx)
	if err != nil {
		return err
	}
	if len(t.Undone) == 0 {
		return pawl.Fail(pawl.CodeNotFound, "kernel.nothing_to_undo")
	}
	u := t.Undone[0]
	stepEffect(tx, effect.RestoreSpec{Name: "redo " + u.Step, Step: u.Step, Target: u.Before, Expect: u.After})
	tx.Record(t, kernel.AuditStepUndoRequested, audit.Info, map[string]any{"step": u.Step, "redo": true})
	return nil
}

func stepEffect(tx *kernel.Tx, spec effect.RestoreSpec) {
	spec.Safety = "before-undo-" + kernel.CheckpointName(tx)
	e := tx.Emit(effect.KindRestore, spec, true)
	if tx.Session.State == string(session.Idle) {
		restoredForSession(tx, e)
	}
	tx.Result = tx.Task.ID
}

// stepRestored takes the result of undoing a step, which had the spans in its spec, or of redoing it.
func stepRestored(tx *kernel.Tx, spec effect.RestoreSpec, r effect.Receipt) error {
	s, t := tx.Session, tx.Task
	tx.Touch(s)
	result, err := effect.Decode[effect.RestoreResult](r.Result)
	if !r.OK || err != nil {
		kept := kernel.Info(kernel.FirstError(r.Err(), err))
		s.LastError = &kept
		tx.Record(t, kernel.AuditStepUndoFailed, audit.Warn, kept)
		return nil
	}
	undone := len(spec.Spans) > 0
	t.Spans = slices.Clone(t.Spans)
	for i := range t.Spans {
		if t.Spans[i].Step == spec.Step {
			t.Spans[i].Undone = undone
		}
	}
	restoredBy(tx, result)
	p := t.Plan.Clone()
	t.Plan, t.Gate, s.LastError = &p, nil, nil
	if i, ok := p.Find(spec.Step); ok && undone {
		t.Undone = append([]kernel.UndoneStep{{Step: spec.Step, Status: p.Steps[i].Status, Before: result.Before,
			After: result.After}}, t.Undone...)
		p.Steps[i].Status = plan.Skipped
	} else if ok && len(t.Undone) > 0 {
		p.Steps[i].Status, t.Undone = t.Undone[0].Status, slices.Clone(t.Undone[1:])
	}
	if t.Cursor.Step == spec.Step {
		t.Cursor.Step, t.Cursor.Call = "", 0
	}
	if t.Cursor.Failed == spec.Step {
		t.Cursor.Failed, t.Cursor.At = "", 0
	}
	event := kernel.AuditStepUndone
	if !undone {
		event = kernel.AuditStepRedone
	}
	tx.Record(t, event, audit.Info, map[string]any{"step": spec.Step, "changed": len(result.Changed),
		"before": result.Before, "after": result.After})
	return nil
}

// RunUndone takes the result of an undo or a redo.
func RunUndone(tx *kernel.Tx, r effect.Receipt) error {
	if !r.OK {
		kept := kernel.Info(r.Err())
		tx.Session.LastError = &kept
		tx.Record(tx.Run, kernel.AuditUndoFailed, audit.Warn, kept)
		if s := tx.Session; tx.Run.Outcome == "rolled_back" && tx.Run.Undone {
			s.LastRun, s.RolledBackRun = s.RolledBackRun, s.LastRun
		}
		return nil
	}
	if tx.Effect.What() == effect.KindRestore {
		result, err := effect.Decode[effect.RestoreResult](r.Result)
		if err != nil {
			return err
		}
		stepTakenBack(tx, result)
	}
	tx.Session.RolledBackRun = ""
	if result, err := effect.Decode[effect.LandResult](r.Result); err == nil && result.Commit != "" {
		if result.Outcome != effect.Landed {
			kept := kernel.Info(pawl.Fail(pawl.CodeConflict, "kernel.undo_kept", result.Branch, result.Command))
			tx.Session.LastError = &kept
			tx.Record(tx.Run, kernel.AuditUndoKept, audit.Warn,
				map[string]any{"branch": result.Branch, "commit": result.Commit})
			return nil
		}
		tx.Run.Ignored = result.Ignored
		if tx.Run.Undone {
			tx.Run.Land, tx.Run.Revert = &result, nil
		} else {
			tx.Run.Revert = &result
		}
	}
	tx.Run.Undone = !tx.Run.Undone
	packageMoved(tx)
	tx.Session.LastError = nil
	tx.Record(tx.Run, kernel.AuditResultUndone, audit.Info, map[string]any{"undone": tx.Run.Undone})
	return nil
}

// packageMoved has the package of a person follow the result that was carried out: with the undo it comes back from the
// archive as it was written, with the redo it goes there again.
func packageMoved(tx *kernel.Tx) {
	a, w := tx.Run.Archived, tx.Run.Written
	if a == nil || w == nil {
		return
	}
	move := *a
	if tx.Run.Undone {
		move = effect.Retired{From: a.To, To: a.From, Result: string(solution.RolledBack)}
		if a.Tasks.Path != "" {
			move.Tasks = effect.NewDocument(a.To+"/"+solution.TasksName, w.Tasks, []byte(a.Tasks.Content), true)
		}
	}
	e := tx.Emit(effect.KindRetire, effect.RetireSpec{Packages: []effect.Retired{move}}, true)
	e.Effect.Place.Tree = e.Effect.Place.Workspace
}

// RunEnding reports whether a checkpoint is the last one of a run that ends without landing.
func RunEnding(tx *kernel.Tx) bool {
	t := tx.Task
	return tx.Session.RollingBack() || !t.CancelAt.IsZero() || task.State(t.State).Terminal()
}

// LeaveBehind leaves the task behind for the reason that it has.
func LeaveBehind(tx *kernel.Tx) error { return (&Skip{Reason: tx.Task.Reason}).Decide(tx) }
