package kernel

import (
	"slices"
	"strings"

	"pawl"
	"pawl/audit"
	"pawl/effect"
	"pawl/machine/session"
	"pawl/machine/task"
	"pawl/plan"
	"pawl/policy"
)

// medic decides how a blocked session goes on, and how a run ends.
type medic struct{ *work }

// byBoard reports whether the board's own policy asks for another attempt at an issue, which it may do a bounded number of
// times; a person may always.
func (w medic) byBoard() bool {
	return w.Issue != nil && w.Issue.Number > 0 && w.env.Actor.Kind() == pawl.KindPolicy
}

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
	if i := w.Issue; w.byBoard() {
		if i.Retries >= w.Config.BoardRetries {
			return pawl.Fail(pawl.CodeBudget, "kernel.board_retries", i.Label)
		}
		i.Retries++
		w.touch(i)
	}
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
		if err := task.Admit(r, witness{w.work}.taskEvidence(t, r)); err != nil {
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

// modeRetry asks the task's mode whether a retry makes sense (docs/spec/task.md#s5-5).
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
	if (worker{w.work}).owns(e) {
		worker{w.work}.resolved(e, a)
	} else if a == AnswerDone {
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

// rollback brings the tree back to the task's checkpoint. Work at hand is stopped first; what it did until then has to be
// known before the tree is restored.
func (w medic) rollback(c *Rollback) error {
	s := w.Session
	if i := w.Issue; w.byBoard() {
		if i.Conflicts > 0 {
			return pawl.Fail(pawl.CodeBudget, "kernel.board_retries", i.Label)
		}
		i.Conflicts++
		w.touch(i)
	}
	switch {
	case s != nil && s.State == string(session.Blocked) && s.Rolling:
		return nil
	case s != nil && s.State == string(session.Idle) && w.Run != nil && w.Run.Land == nil && w.Run.inTree(w.Task):
		return undoer{w.work}.reverse("", false)
	case s != nil && w.running():
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
	if w.byBoard() {
		w.Issue.Anew = strings.TrimSpace(b.Error.Err().Error() + "\n" + b.Error.Detail)
	}
	s.Rolling = true
	w.Run.Outcome = "rolled_back"
	w.touch(s)
	w.touch(w.Run)
	w.record(s, "ROLLBACK_REQUESTED", audit.Info, map[string]any{"checkpoint": s.LastCheckpoint, "reason": c.Reason})
	if w.Task.Half == "" {
		w.bringBack()
	}
	return nil
}

// bringBack asks for what a rollback needs, once it is known what was changed: the restoration of the user's own tree, or
// the end of the worktree.
func (w medic) bringBack() {
	if t := w.Task; t.Place.InPlace && t.Ready.Checkpoint {
		w.emit(effect.KindRestore, undoer{w.work}.backToCheckpoint("before-rollback-"), true)
		return
	}
	w.keepWork()
}

// backToCheckpoint asks to undo everything that the task changed in the tree.
func (w undoer) backToCheckpoint(safety string) effect.RestoreSpec {
	t := w.Task
	spec := effect.RestoreSpec{Name: t.Checkpoint.Name, Target: t.Checkpoint.Tree, Expect: t.Tree, Safety: safety + stepper{w.work}.checkpointName()}
	if t.Ready.Tracked {
		spec.Expect, spec.Spans = spec.Target, t.Spans
	}
	return spec
}

// inTree reports whether the run's work stands in the user's own tree and in no commit.
func (r *Run) inTree(t *Task) bool {
	return t != nil && t.Place.InPlace && t.Checkpoint != nil && (r.Land == nil || r.Land.Outcome == effect.InPlace)
}

// changed reports whether the task has left something in its tree that is not undone.
func (t *Task) changed() bool {
	if !t.Ready.Tracked {
		return t.Checkpoint != nil && t.Tree != t.Checkpoint.Tree
	}
	return slices.ContainsFunc(t.Spans, func(s effect.Span) bool { return !s.Undone })
}

// restored takes the result of a restore: of a rollback, of an undo in place, or of one step.
func (w medic) restored(r effect.Receipt) error {
	spec, err := effect.Decode[effect.RestoreSpec](w.Effect.Effect.Spec)
	if err != nil {
		return err
	}
	s := w.Session
	switch {
	case spec.Step != "":
		return undoer{w.work}.stepRestored(spec, r)
	case s.State == string(session.Idle):
		return undoer{w.work}.undone(r)
	case !r.OK:
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
	undoer{w.work}.tookBack(result)
	w.emit(effect.KindCleanup, effect.CleanupSpec{}, true)
	return nil
}

// tookBack notes what a rollback, an undo or a redo of the whole run left in the user's own tree.
func (w undoer) tookBack(result effect.RestoreResult) {
	w.record(w.Task, "TREE_RESTORED", audit.Info, map[string]any{
		"before": result.Before, "after": result.After, "changed": len(result.Changed), "kept": result.Kept, "cut": result.Cut,
	})
	w.restoredBy(result)
	w.Run.Left, w.Run.Cut, w.Run.Restored = result.Kept, result.Cut, &effect.Span{Before: result.Before, After: result.After}
	w.touch(w.Run)
}

// restoredBy notes a restoration among the task's spans: it is no change of its own to be undone, but it is no one else's
// either.
func (w undoer) restoredBy(result effect.RestoreResult) {
	t := w.Task
	t.Tree = result.After
	if result.Before != result.After {
		t.Spans = append(slices.Clip(t.Spans), effect.Span{Before: result.Before, After: result.After, Undone: true})
	}
	w.touch(t)
}

// saved takes the checkpoint of unfinished work and goes on to the cleanup.
func (w medic) saved(r effect.Receipt) error {
	if r.OK {
		if made, err := effect.Decode[effect.CheckpointResult](r.Result); err == nil {
			c := &CheckpointDoc{CheckpointResult: made, Task: w.Task.ID, Place: w.Task.Place}
			w.create(c, KindCheckpoint, made.Name, w.Task.ID, "")
			w.record(c, "CHECKPOINT_CREATED", audit.Info, map[string]any{"name": made.Name, "tree": made.Tree, "ref": made.Ref, "unfinished": true})
			w.Run.Saved = made.Ref
			w.touch(w.Run)
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
		if back := w.Run.Restored; back != nil && back.Before != back.After {
			w.Run.Undone, s.Rolled = true, w.Run.ID
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
	w.emit(effect.KindArchive, effect.ArchiveSpec{Files: archiveFiles(w.work), Log: flows{w.work}.changelog()}, true)
}

// archived ends the run, or blocks until the archive can be written.
func (w medic) archived(r effect.Receipt) error {
	s := w.Session
	if !r.OK {
		s.Blocked = &Blocked{Kind: BlockedArchive, Error: info(r.Err())}
		return w.raise(ArchiveBroken, r.Key)
	}
	if r.Cause != nil {
		w.Run.Amiss = r.Cause
		w.record(w.Run, "ARCHIVE_INCOMPLETE", audit.Warn, r.Cause)
	}
	if err := w.raise(Archived, "archived"); err != nil {
		return err
	}
	if w.Run.Land != nil || w.Run.inTree(w.Task) && w.Task.changed() {
		s.LastRun = w.Run.ID
	}
	w.endRun(w.Run.Outcome)
	return nil
}

// undoer decides what is undone and brought back.
type undoer struct{ *work }

// undo undoes the result of the last run, or one step of the run whose tree is there.
func (w undoer) undo(c *Undo) error {
	if c.Step != "" {
		return w.undoStep(c.Step)
	}
	return w.reverse(c.Run, false)
}

// redo brings the undone step or result back, whichever was undone last.
func (w undoer) redo(c *Redo) error {
	if c.Run != "" {
		return w.reverse(c.Run, true)
	}
	s, t := w.Session, w.Task
	blocked := s != nil && s.State == string(session.Blocked)
	if blocked || t != nil && w.Run != nil && len(t.Undone) > 0 && !w.Run.Undone {
		return w.redoStep()
	}
	return w.reverse("", true)
}

// reverse undoes the result of a run or, again, brings it back. Named is the run's id where it was named.
func (w undoer) reverse(named string, again bool) error {
	s := w.Session
	if s == nil || s.State != string(session.Idle) || s.Effect != "" {
		return pawl.Fail(pawl.CodeInvalidTransition, "kernel.undo_when_idle", w.stateName())
	}
	r, t := w.Run, w.Task
	switch {
	case r == nil || !r.inTree(t) && (r.Land == nil || r.Land.Outcome == effect.Empty):
		return pawl.Fail(pawl.CodeNotFound, "kernel.nothing_to_undo")
	case r.Undone && !again:
		return pawl.Fail(pawl.CodeNotFound, "kernel.undone_already", r.Label)
	case !r.Undone && again:
		return pawl.Fail(pawl.CodeNotFound, "kernel.not_undone", r.Label)
	case r.inTree(t) && named != "" && named != s.LastRun && named != s.Rolled:
		return pawl.Fail(pawl.CodeInvalidTransition, "kernel.undo_in_order", r.Label)
	case r.inTree(t):
		spec := w.backToCheckpoint("before-undo-")
		if again && r.Restored != nil {
			spec.Spans, spec.Target, spec.Expect = nil, r.Restored.Before, r.Restored.After
		} else if again {
			spec.Spans, spec.Target, spec.Expect = nil, t.Tree, t.Checkpoint.Tree
		}
		spec.Name = "undo"
		w.forSession(w.emit(effect.KindRestore, spec, true))
	case r.Land.Outcome == effect.Landed:
		commit, verb := r.Land.Commit, "Undo: "
		if again {
			commit, verb = r.Revert.Commit, "Redo: "
		}
		w.emit(effect.KindRevert, effect.RevertSpec{
			Commit: commit, Branch: r.Land.Branch, Keep: "pawl/undo-" + t.Label, Subject: firstLine(verb + t.Title), Body: "Reverts commit " + commit + ".\n", At: w.now,
		}, true)
	default:
		return pawl.Fail(pawl.CodeNotFound, "kernel.nothing_landed", string(r.Land.Outcome))
	}
	if s.Rolled == r.ID {
		s.LastRun, s.Rolled = s.Rolled, s.LastRun
	} else {
		s.LastRun, s.Rolled = r.ID, ""
	}
	w.record(r, "UNDO_REQUESTED", audit.Info, map[string]any{"redo": again})
	w.result = r.ID
	return nil
}

// forSession hands an effect from the task, whose work is over, to the session.
func (w undoer) forSession(e *EffectDoc) {
	e.Effect.Task, w.Task.Effect, w.Session.Effect = "", "", e.ID
	w.touch(w.Session)
}

// undoable returns the task whose steps can be undone: its tree is there and nobody is at work in it.
func (w undoer) undoable() (*Task, error) {
	s, t := w.Session, w.Task
	if s == nil {
		return nil, pawl.Fail(pawl.CodeNotFound, "kernel.not_initialised")
	}
	switch session.State(s.State) {
	case session.Idle:
		switch {
		case s.Effect != "":
			return nil, pawl.Fail(pawl.CodeBusy, "kernel.winding_up", "undo")
		case w.Run == nil || t == nil || w.Run.Undone:
			return nil, pawl.Fail(pawl.CodeNotFound, "kernel.nothing_to_undo")
		case !w.Run.inTree(t):
			return nil, pawl.Fail(pawl.CodeInvalidTransition, "kernel.step_landed")
		}
	case session.Blocked:
		b, err := medic{w.work}.blocked("undo")
		switch {
		case err != nil:
			return nil, err
		case b.Kind == BlockedArchive:
			return nil, pawl.Fail(pawl.CodeInvalidTransition, "kernel.landed_already")
		case t != nil && t.Half != "":
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

// undoStep takes back what one step changed. The step counts as skipped from then on, so that work that goes on leaves it
// out.
func (w undoer) undoStep(step string) error {
	t, err := w.undoable()
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
	if b := w.Session.Blocked; b != nil && b.Effect != "" && w.Effect != nil && w.Effect.ID == b.Effect {
		if call, err := effect.Decode[effect.ToolCall](w.Effect.Effect.Spec); err == nil && call.StepID == step {
			return pawl.Fail(pawl.CodeBlocked, "kernel.step_open", step)
		}
	}
	if !slices.ContainsFunc(t.Spans, func(s effect.Span) bool { return s.Step == step && !s.Undone }) {
		return pawl.Fail(pawl.CodeNotFound, "kernel.step_changed_nothing", step)
	}
	w.stepEffect(effect.RestoreSpec{Name: "undo " + step, Step: step, Spans: t.Spans})
	w.record(t, "STEP_UNDO_REQUESTED", audit.Info, map[string]any{"step": step})
	return nil
}

// redoStep brings back what the step changed that was undone last.
func (w undoer) redoStep() error {
	t, err := w.undoable()
	if err != nil {
		return err
	}
	if len(t.Undone) == 0 {
		return pawl.Fail(pawl.CodeNotFound, "kernel.nothing_to_undo")
	}
	u := t.Undone[0]
	w.stepEffect(effect.RestoreSpec{Name: "redo " + u.Step, Step: u.Step, Target: u.Before, Expect: u.After})
	w.record(t, "STEP_UNDO_REQUESTED", audit.Info, map[string]any{"step": u.Step, "redo": true})
	return nil
}

func (w undoer) stepEffect(spec effect.RestoreSpec) {
	spec.Safety = "before-undo-" + stepper{w.work}.checkpointName()
	e := w.emit(effect.KindRestore, spec, true)
	if w.Session.State == string(session.Idle) {
		w.forSession(e)
	}
	w.result = w.Task.ID
}

// stepRestored takes the result of undoing a step, which had the spans in its spec, or of redoing it.
func (w undoer) stepRestored(spec effect.RestoreSpec, r effect.Receipt) error {
	s, t := w.Session, w.Task
	w.touch(s)
	result, err := effect.Decode[effect.RestoreResult](r.Result)
	if !r.OK || err != nil {
		kept := info(firstError(r.Err(), err))
		s.LastError = &kept
		w.record(t, "STEP_UNDO_FAILED", audit.Warn, kept)
		return nil
	}
	undone := len(spec.Spans) > 0
	t.Spans = slices.Clone(t.Spans)
	for i := range t.Spans {
		if t.Spans[i].Step == spec.Step {
			t.Spans[i].Undone = undone
		}
	}
	w.restoredBy(result)
	p := t.Plan.Clone()
	t.Plan, t.Gate, s.LastError = &p, nil, nil
	if i, ok := p.Find(spec.Step); ok && undone {
		t.Undone = append([]UndoneStep{{Step: spec.Step, Status: p.Steps[i].Status, Before: result.Before, After: result.After}}, t.Undone...)
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
	event := "STEP_UNDONE"
	if !undone {
		event = "STEP_REDONE"
	}
	w.record(t, event, audit.Info, map[string]any{"step": spec.Step, "changed": len(result.Changed), "before": result.Before, "after": result.After})
	return nil
}

// undone takes the result of an undo or a redo.
func (w undoer) undone(r effect.Receipt) error {
	if !r.OK {
		kept := info(r.Err())
		w.Session.LastError = &kept
		w.record(w.Run, "UNDO_FAILED", audit.Warn, kept)
		if s := w.Session; w.Run.Outcome == "rolled_back" && w.Run.Undone {
			s.LastRun, s.Rolled = s.Rolled, s.LastRun
		}
		return nil
	}
	if w.Effect.What() == effect.KindRestore {
		result, err := effect.Decode[effect.RestoreResult](r.Result)
		if err != nil {
			return err
		}
		w.tookBack(result)
	}
	w.Session.Rolled = ""
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
