package kernel

import (
	"pawl"
	"pawl/audit"
	"pawl/effect"
	"pawl/machine/session"
	"pawl/machine/task"
	"pawl/plan"
	"pawl/policy"
)

// medic decides how a blocked session goes on, and what is undone.
type medic struct{ *work }

// blocked returns why the session is BLOCKED, or refuses.
func (w medic) blocked(op string) (*Blocked, error) {
	if w.Session == nil || w.Session.State != string(session.Blocked) || w.Session.Blocked == nil {
		return nil, pawl.Fail(pawl.CodeInvalidTransition, "kernel.not_blocked", op, w.stateName())
	}
	if w.Session.Rolling || w.Task != nil && w.Task.Effect != "" {
		return nil, pawl.Fail(pawl.CodeBusy, "kernel.winding_up", op)
	}
	return w.Session.Blocked, nil
}

// fix goes on after a person helped (HUMAN_INTERVENTION).
func (w medic) fix(c *Fix) error {
	b, err := w.blocked("fix")
	if err != nil {
		return err
	}
	if b.Kind == BlockedArchive {
		w.Session.Blocked = nil
		if err := w.raise(ArchiveRetried, c.Note); err != nil {
			return err
		}
		w.writeArchive()
		return nil
	}
	t := w.Task
	if t == nil {
		return pawl.Fail(pawl.CodeInvalidTransition, "kernel.nothing_to_fix")
	}
	if err := w.settle(b, c.Answer); err != nil {
		return err
	}
	if err := w.addSteps(c.Steps); err != nil {
		return err
	}
	// What a person mended does not count as the same failure again; how often a task is retried is bounded all the same.
	t.Fixes, t.Exit, t.Reason, t.Gate, t.GateNote, t.Retry.Reasons = 0, "", "", nil, "", nil
	w.Session.AutoFix, w.Session.Blocked = 0, nil
	w.record(t, "HUMAN_HELP", audit.Info, map[string]any{"note": c.Note, "steps": len(c.Steps), "answer": c.Answer})
	if t.State == string(task.Failed) {
		r, _ := task.Table.Next(task.Failed, task.Retry, "")
		if err := task.Admit(r, (witness{w.work}).taskEvidence(t)); err != nil {
			return err
		}
		if err := w.modeRetry(t); err != nil {
			return err
		}
		if err := w.raise(HelpedFailed, note(c.Note)); err != nil {
			return err
		}
		prover{w.work}.countRetry(t, 0)
		return nil
	}
	w.Approval = &Approval{About: "unblock", Subject: t.ID, Hash: t.PlanHash, Scope: policy.SingleAction, AnsweredBy: w.env.Actor, AnsweredAt: w.now, Note: c.Note}
	w.create(w.Approval, KindApproval, "", t.ID, ApprovalGranted)
	w.record(w.Approval, "APPROVAL_GRANTED", audit.Info, map[string]any{"about": "unblock", "task": t.ID, "note": c.Note})
	if err := w.raise(HelpedBlocked, note(c.Note)); err != nil {
		return err
	}
	t.Blocked, t.Due = nil, w.now
	w.touch(t)
	return nil
}

func note(s string) string {
	if s == "" {
		return "a person helped"
	}
	return s
}

// modeRetry asks the task's mode whether a retry makes sense (seed 003 §5, point 5).
func (w medic) modeRetry(t *Task) error {
	m, err := w.Config.modeOf(t.Mode)
	if err != nil {
		return err
	}
	if v := ask(func() Verdict { return m.EvaluateRetry(w.modeTask(t), t.Retry, w.Config.Retry) }); v.Decision != Approved {
		return pawl.Fail(pawl.CodeRetryNotAllowed, "kernel.mode_retry", t.modeName(), v.Reason)
	}
	return nil
}

// settle takes the person's word about an effect whose outcome was lost.
func (w medic) settle(b *Blocked, a Answer) error {
	if b.Effect == "" {
		return nil
	}
	if a == AnswerNone {
		return pawl.Fail(pawl.CodeBlocked, "kernel.answer_needed", b.Effect)
	}
	e := w.Effect
	if e == nil || e.ID != b.Effect || e.State != EffectUnknown {
		return nil
	}
	e.Answer = string(a)
	e.State = EffectCanceled
	if a == AnswerDone {
		e.State = EffectDone
		w.Task.Cursor.Call++
		if e.What() == effect.KindTool {
			w.restoreCursor(e, 1)
		}
	} else if e.What() == effect.KindTool {
		w.restoreCursor(e, 0)
	}
	w.record(e, "EFFECT_ANSWERED", audit.Warn, map[string]any{"answer": a, "by": w.env.Actor})
	return nil
}

// restoreCursor points the plan at the call of an effect, or behind it.
func (w medic) restoreCursor(e *EffectDoc, behind int) {
	call, err := effect.Decode[effect.ToolCall](e.Effect.Spec)
	if err != nil {
		return
	}
	i, ok := w.Task.Plan.Find(call.StepID)
	if !ok {
		return
	}
	p := w.Task.Plan.Clone()
	p.Steps[i].Status = plan.InProgress
	w.Task.Plan = &p
	w.Task.Cursor = Cursor{Step: call.StepID, Call: w.callIndex(call) + behind}
	w.touch(w.Task)
}

// callIndex finds a call in its step by its arguments; the cursor at the time was at that call.
func (w medic) callIndex(call effect.ToolCall) int {
	i, _ := w.Task.Plan.Find(call.StepID)
	for n, c := range w.Task.Plan.Steps[i].ToolCalls {
		if c.Name == call.Name && string(c.ArgsHint) == string(call.Args) {
			return n
		}
	}
	return 0
}

// addSteps appends steps that a person gives. The person stands for what the policy would ask about; what it denies stays
// denied.
func (w medic) addSteps(steps []plan.Step) error {
	if len(steps) == 0 {
		return nil
	}
	next, _, err := repairer{w.work}.planRepair(steps)
	if err != nil {
		return err
	}
	w.Task.Repairs++
	w.Task.Plan = &next
	w.touch(w.Task)
	return nil
}

// What returns the kind of the effect.
func (e *EffectDoc) What() effect.Kind { return e.Effect.Kind }

// skip leaves the task that failed behind and closes the run.
func (w medic) skip(c *Skip) error {
	b, err := w.blocked("skip")
	if err != nil {
		return err
	}
	if b.Kind == BlockedArchive {
		return pawl.Fail(pawl.CodeInvalidTransition, "kernel.archive_cannot_be_skipped")
	}
	w.Task.Cleanup = nothingToClean()
	w.Session.Blocked = nil
	if err := w.raise(Skipped, note(c.Reason)); err != nil {
		return err
	}
	w.Run.Outcome = "skipped"
	w.touch(w.Run)
	w.keepWork()
	return nil
}

func nothingToClean() *effect.CleanupResult {
	return &effect.CleanupResult{Performed: []string{}, Failed: []string{}, Skipped: []string{"no cleanup required"}}
}

// keepWork saves what a task leaves unfinished under a checkpoint of its own before its worktree goes, so that nothing is
// lost; without a worktree there is nothing to save.
func (w medic) keepWork() {
	t := w.Task
	if t.Ready.Worktree && !t.Ready.Cleaned {
		w.emit(effect.KindCheckpoint, effect.CheckpointSpec{Name: stepper{w.work}.checkpointName()}, true)
		return
	}
	w.emit(effect.KindCleanup, effect.CleanupSpec{}, true)
}

// rollback brings the tree back to the task's checkpoint. Work at hand is stopped first.
func (w medic) rollback(c *Rollback) error {
	if w.Session != nil && w.running() {
		if err := (desk{w.work}).stop(&Stop{Reason: "rollback"}); err != nil {
			return err
		}
	}
	b, err := w.blocked("rollback")
	if err != nil {
		return err
	}
	if b.Kind == BlockedArchive {
		return pawl.Fail(pawl.CodeInvalidTransition, "kernel.landed_already")
	}
	s, t := w.Session, w.Task
	s.Rolling = true
	w.Run.Outcome = "rolled_back"
	w.touch(s)
	w.touch(w.Run)
	w.record(s, "ROLLBACK_REQUESTED", audit.Info, map[string]any{"checkpoint": s.LastCheckpoint, "reason": c.Reason})
	if t.Place.InPlace && t.Ready.Checkpoint {
		w.emit(effect.KindRestore, effect.RestoreSpec{
			Name: t.Checkpoint.Name, Target: t.Checkpoint.Tree, Expect: t.Tree, Safety: "before-rollback-" + stepper{w.work}.checkpointName(),
		}, true)
		return nil
	}
	w.keepWork()
	return nil
}

// restored takes the result of a restore: of a rollback, or of an undo in place.
func (w medic) restored(r effect.Receipt) error {
	s := w.Session
	if s.State == string(session.Idle) {
		return w.undone(r)
	}
	if !r.OK {
		s.Rolling = false
		s.Blocked.Error = info(r.Err())
		w.touch(s)
		w.record(s, "ROLLBACK_FAILED", audit.Error, s.Blocked.Error)
		return nil
	}
	result, err := effect.Decode[effect.RestoreResult](r.Result)
	if err != nil {
		return err
	}
	w.record(w.Task, "TREE_RESTORED", audit.Info, map[string]any{"before": result.Before, "after": result.After, "changed": len(result.Changed), "kept": result.Kept})
	w.Task.Tree, w.Run.Left = result.After, result.Kept
	w.touch(w.Run)
	w.emit(effect.KindCleanup, effect.CleanupSpec{}, true)
	return nil
}

// saved takes the checkpoint of unfinished work and goes on to the cleanup.
func (w medic) saved(r effect.Receipt) error {
	if r.OK {
		if made, err := effect.Decode[effect.CheckpointResult](r.Result); err == nil {
			c := &CheckpointDoc{CheckpointResult: made, Task: w.Task.ID, Place: w.Task.Place}
			w.create(c, KindCheckpoint, made.Name, w.Task.ID, "")
			w.record(c, "CHECKPOINT_CREATED", audit.Info, map[string]any{"name": made.Name, "tree": made.Tree, "ref": made.Ref, "unfinished": true})
		}
	}
	w.emit(effect.KindCleanup, effect.CleanupSpec{KeepTree: !r.OK}, true)
	return nil
}

// cleaned takes the cleanup's summary and does what the cleanup was for: close a cancel, a rollback, or the run.
func (w medic) cleaned(r effect.Receipt) error {
	t, s := w.Task, w.Session
	result, err := effect.Decode[effect.CleanupResult](r.Result)
	if err != nil {
		result = effect.CleanupResult{Failed: []string{r.Key + " " + r.Detail}}
	}
	t.Cleanup, t.Ready.Cleaned = &result, true
	w.touch(t)
	switch {
	case s.Rolling:
		w.Turn = nil
		if err := w.raise(RolledBack, "back at "+s.LastCheckpoint); err != nil {
			return err
		}
		w.endRun("rolled_back")
		return nil
	case !t.CancelAt.IsZero() && !task.State(t.State).Terminal():
		if w.Turn != nil {
			w.Turn.Outcome = "canceled"
		}
		if err := w.raise(CanceledAtWork, t.Reason); err != nil {
			return err
		}
		t.EndedAt = w.now
		w.release(t)
		w.Run.Outcome = "canceled"
		w.touch(w.Run)
	}
	if s.State == string(session.AutoFix) {
		if err := w.raise(RepairLeft, "the task was canceled"); err != nil {
			return err
		}
	}
	if err := w.raise(AllDone, "every task is landed or closed"); err != nil {
		return err
	}
	w.writeArchive()
	return nil
}

// writeArchive asks for the archive's files; what they say is made from the run as it is now.
func (w medic) writeArchive() {
	w.emit(effect.KindArchive, effect.ArchiveSpec{Files: archiveFiles(w.work)}, true)
}

// archived ends the run, or blocks until the archive can be written.
func (w medic) archived(r effect.Receipt) error {
	s := w.Session
	if !r.OK {
		s.Blocked = &Blocked{Kind: BlockedArchive, Error: info(r.Err())}
		return w.raise(ArchiveBroken, r.Key)
	}
	if err := w.raise(Archived, "archived"); err != nil {
		return err
	}
	if w.Run.Land != nil {
		s.LastRun = w.Run.ID
	}
	w.endRun(w.Run.Outcome)
	return nil
}

// undo undoes the landed result of the last run.
func (w medic) undo() error { return w.reverse(false) }

// redo brings the undone result of the last run back.
func (w medic) redo() error { return w.reverse(true) }

func (w medic) reverse(again bool) error {
	s := w.Session
	if s == nil || s.State != string(session.Idle) || s.Effect != "" {
		return pawl.Fail(pawl.CodeInvalidTransition, "kernel.undo_when_idle", w.stateName())
	}
	r := w.Run
	if r == nil || r.Land == nil || r.Undone != again {
		return pawl.Fail(pawl.CodeNotFound, "kernel.nothing_to_undo")
	}
	t := w.Task
	switch {
	case r.Land.Outcome == effect.Landed:
		commit, verb := r.Land.Commit, "Undo: "
		if again {
			commit, verb = r.Revert.Commit, "Redo: "
		}
		w.emit(effect.KindRevert, effect.RevertSpec{
			Commit: commit, Branch: r.Land.Branch, Keep: "pawl/undo-" + t.Label, Subject: firstLine(verb + t.Title), Body: "Reverts commit " + commit + ".\n", At: w.now,
		}, true)
	case r.Land.Outcome == effect.InPlace && t.Checkpoint != nil:
		target, expect := t.Checkpoint.Tree, t.Tree
		if again {
			target, expect = expect, target
		}
		e := w.emit(effect.KindRestore, effect.RestoreSpec{Name: "undo", Target: target, Expect: expect, Safety: "before-undo-" + stepper{w.work}.checkpointName()}, true)
		e.Effect.Task, t.Effect, s.Effect = "", "", e.ID
		w.touch(s)
	default:
		return pawl.Fail(pawl.CodeNotFound, "kernel.nothing_landed", string(r.Land.Outcome))
	}
	w.record(r, "UNDO_REQUESTED", audit.Info, map[string]any{"redo": again})
	w.result = r.ID
	return nil
}

// undone takes the result of an undo or a redo.
func (w medic) undone(r effect.Receipt) error {
	if !r.OK {
		kept := info(r.Err())
		w.Session.LastError = &kept
		w.record(w.Run, "UNDO_FAILED", audit.Warn, kept)
		return nil
	}
	if result, err := effect.Decode[effect.LandResult](r.Result); err == nil && result.Commit != "" {
		if result.Outcome != effect.Landed {
			kept := info(pawl.Fail(pawl.CodeConflict, "kernel.undo_kept", result.Branch, result.Command))
			w.Session.LastError = &kept
			w.record(w.Run, "UNDO_KEPT", audit.Warn, map[string]any{"branch": result.Branch, "commit": result.Commit})
			return nil
		}
		if w.Run.Undone {
			w.Run.Land, w.Run.Revert = &result, nil
		} else {
			w.Run.Revert = &result
		}
	}
	w.Run.Undone = !w.Run.Undone
	w.Session.LastError = nil
	w.record(w.Run, "RESULT_UNDONE", audit.Info, map[string]any{"undone": w.Run.Undone})
	return nil
}
