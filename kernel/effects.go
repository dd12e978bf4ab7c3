package kernel

import (
	"pawl"
	"pawl/audit"
	"pawl/effect"
	"pawl/machine/session"
	"pawl/machine/task"
)

// courier decides about effects: their beginning, their receipts, and what a crash left of them.
type courier struct{ *work }

// beginEffect takes an effect to do it: the commit that must come before any act.
func (w courier) beginEffect(c *Begin) error {
	e := w.Effect
	if e == nil {
		return pawl.Fail(pawl.CodeNotFound, "kernel.effect_not_found", c.Effect)
	}
	if e.State != EffectPending {
		return pawl.Fail(pawl.CodeFenced, "kernel.effect_taken", e.ID, e.State)
	}
	if w.Session != nil && w.Session.Paused {
		return pawl.Fail(pawl.CodeBusy, "kernel.paused")
	}
	e.State = EffectRunning
	e.Epoch++
	e.Attempts++
	e.Effect.Token = e.Epoch
	e.Due = w.now.Add(w.Config.LeaseTime)
	if len(c.Images) > 0 {
		call, err := effect.Decode[effect.ToolCall](e.Effect.Spec)
		if err != nil {
			return err
		}
		call.Images = c.Images
		e.Effect.Spec = effect.Encode(call)
	}
	w.record(e, "EFFECT_STARTED", audit.Info, map[string]any{"effect": e.What(), "attempt": e.Attempts, "owner": c.Owner, "token": e.Epoch})
	w.result = e.Effect
	if e.What() == effect.KindTool && w.Turn != nil {
		return w.raise(CallMade, string(e.What()))
	}
	return nil
}

// report takes the receipt of an effect. A receipt for an effect that is no longer the reporter's is refused: it was taken
// over, canceled, or reported already.
func (w courier) report(c *Report) error {
	e := w.Effect
	if e == nil {
		return pawl.Fail(pawl.CodeNotFound, "kernel.effect_not_found", c.Effect)
	}
	if w.stopped() && e.Epoch == c.Token {
		w.late(c.Receipt)
		return nil
	}
	if e.State != EffectRunning || e.Epoch != c.Token {
		return pawl.Fail(pawl.CodeFenced, "kernel.effect_fenced", e.ID, e.State, c.Token, e.Epoch)
	}
	return w.settleEffect(c.Receipt)
}

// stopped reports whether the effect was taken out of its runner's hands by a stop, and nothing is known yet of how far it
// got.
func (w courier) stopped() bool {
	e, t, s := w.Effect, w.Task, w.Session
	return (e.State == EffectUnknown || e.State == EffectCanceled) && e.Receipt == nil && t != nil && e.Effect.Task == t.ID &&
		s != nil && !s.Rolling && s.State == string(session.Blocked) && s.Blocked != nil && s.Blocked.Kind == BlockedStopped
}

// late takes the receipt of an effect that was stopped. It moves nothing, and whether the effect did what it was for stays
// open; but the tree that it left is pawl's work, which a rollback has to know.
func (w courier) late(r effect.Receipt) {
	w.Effect.Receipt = &r
	if res, err := effect.Decode[effect.ToolResult](r.Result); err == nil && res.After != "" {
		w.Task.Tree = res.After
		w.touch(w.Task)
	}
	w.record(w.Effect, "EFFECT_STOPPED", audit.Warn, map[string]any{"effect": w.Effect.What(), "code": r.Code, "key": r.Key})
}

// settleEffect closes the effect and lets its kind decide what follows.
func (w courier) settleEffect(r effect.Receipt) error {
	e := w.Effect
	e.State = EffectDone
	if !r.OK {
		e.State = EffectFailed
	}
	e.Receipt = &r
	w.record(e, "EFFECT_"+upper(e.State), level(r.OK), map[string]any{
		"effect": e.What(), "code": r.Code, "key": r.Key, "ms": r.End.Sub(r.Start).Milliseconds(), "attempts": r.Attempts,
	})
	if w.Session != nil && w.Session.Effect == e.ID {
		w.Session.Effect = ""
		w.touch(w.Session)
	}
	if w.Task != nil && w.Task.Effect == e.ID {
		w.Task.Effect = ""
		w.touch(w.Task)
	}
	return w.follow(r)
}

// follow hands a receipt to the part of the flow that asked for it.
func (w courier) follow(r effect.Receipt) error {
	switch w.Effect.What() {
	case effect.KindContext:
		return planner{w.work}.contextBuilt(r)
	case effect.KindPlan:
		return planner{w.work}.planMade(r)
	case effect.KindRepair:
		return w.canceledOr(r, repairer{w.work}.repairMade)
	case effect.KindTool:
		return w.canceledOr(r, stepper{w.work}.called)
	case effect.KindVerify:
		return w.canceledOr(r, prover{w.work}.checked)
	case effect.KindGates:
		return w.canceledOr(r, prover{w.work}.gated)
	case effect.KindWorktree:
		return w.canceledOr(r, func(r effect.Receipt) error { return stepper{w.work}.prepared(effect.KindWorktree, r) })
	case effect.KindCheckpoint:
		if w.Effect.Effect.Task == "" {
			return notary{w.work}.pointed(r)
		}
		if w.ending() {
			return medic{w.work}.saved(r)
		}
		return stepper{w.work}.prepared(effect.KindCheckpoint, r)
	case effect.KindLand:
		return prover{w.work}.landed(r)
	case effect.KindRevert:
		return medic{w.work}.undone(r)
	case effect.KindRestore:
		return medic{w.work}.restored(r)
	case effect.KindCleanup:
		return medic{w.work}.cleaned(r)
	case effect.KindArchive:
		return medic{w.work}.archived(r)
	}
	return pawl.Fail(pawl.CodeInternal, "kernel.effect_unknown", string(w.Effect.What()))
}

// canceledOr leaves a receipt aside when the task is to be canceled, and cleans up instead.
func (w courier) canceledOr(r effect.Receipt, next func(effect.Receipt) error) error {
	if w.Task != nil && !w.Task.CancelAt.IsZero() && w.Run != nil {
		return w.beginCleanup()
	}
	return next(r)
}

// ending reports whether a checkpoint is the last one of a run that ends without landing.
func (w courier) ending() bool {
	t := w.Task
	return w.Session.Rolling || !t.CancelAt.IsZero() || task.State(t.State).Terminal()
}

// beginCleanup starts the second phase of a cancel.
func (w courier) beginCleanup() error {
	medic{w.work}.keepWork()
	return nil
}

// maxAttempts bounds how often one effect is begun, across restarts, so that one that takes the runner down each time is
// given up.
const maxAttempts = 20

// recover settles an effect that was at work when its runner died. What happened is taken as done; what did not may be
// done; where nobody can know, only an idempotent effect is done again, and every other one becomes a question.
func (w courier) recover(c *Recover) error {
	e := w.Effect
	if e == nil {
		return pawl.Fail(pawl.CodeNotFound, "kernel.effect_not_found", c.Effect)
	}
	if e.State != EffectRunning {
		return nil
	}
	w.record(e, "EFFECT_RECOVERED", audit.Warn, map[string]any{"effect": e.What(), "answer": c.Answer, "idempotent": e.Effect.Idempotent})
	switch {
	case c.Answer == effect.DoneYes:
		return w.settleEffect(c.Receipt)
	case e.Attempts >= maxAttempts:
		return w.settleEffect(effect.Failed(pawl.Fail(pawl.CodeLoop, "kernel.effect_loops", string(e.What()), itoa(e.Attempts))))
	case c.Answer == effect.DoneNo || e.Effect.Idempotent:
		e.State = EffectPending
		return nil
	}
	e.State = EffectUnknown
	if w.Task == nil {
		return nil
	}
	w.Task.Effect = ""
	w.touch(w.Task)
	call, _ := effect.Decode[effect.ToolCall](e.Effect.Spec)
	return stepper{w.work}.block(BlockedQuestion, e.ID, pawl.Fail(pawl.CodeOutcomeUnknown, "kernel.outcome_unknown", call.StepID, call.Name, string(call.Args)))
}

// interrupted says that the runner stopped an effect before it ended. For a cancel the cleanup follows; when the process
// merely ends, the effect waits to be recovered as after a crash.
func (w courier) interrupted(c *Interrupted) error {
	e := w.Effect
	if e == nil || e.State != EffectRunning || e.Epoch != c.Token {
		return nil
	}
	if w.Task == nil || w.Task.CancelAt.IsZero() {
		return nil
	}
	desk{w.work}.dropEffect()
	return w.beginCleanup()
}

// sweep does what time asks for: a cancel whose grace is over is forced, and a task past its time fails.
func (w courier) sweep() error {
	t := w.Task
	if t == nil || w.Session == nil || !w.running() {
		return nil
	}
	if !t.CancelAt.IsZero() && w.now.Sub(t.CancelAt) > w.Config.CancelGrace && w.Effect != nil && w.Effect.State == EffectRunning && w.Effect.What() != effect.KindCleanup {
		desk{w.work}.dropEffect()
		return w.beginCleanup()
	}
	overdue := !t.StartedAt.IsZero() && w.now.Sub(t.StartedAt) > w.Config.TaskTime
	if overdue && t.State == string(task.Running) && t.CancelAt.IsZero() {
		unknown := desk{w.work}.dropEffect()
		t.Exit, t.Reason = string(task.ExitTimeout), "task time exceeded"
		w.Session.Blocked = &Blocked{Kind: BlockedStopped, Task: t.ID, Effect: unknown, Error: ErrorInfo{
			Class: pawl.ClassToolTimeout, Code: pawl.CodeTimeout, Key: "kernel.task_timeout", Args: []string{w.Config.TaskTime.String()},
		}}
		repairer{w.work}.dropRepair()
		w.dispose(t)
		t.StartedAt = w.now
		if err := w.raise(Stopped, "the task's time is over"); err != nil {
			return err
		}
		w.release(t)
	}
	return nil
}
