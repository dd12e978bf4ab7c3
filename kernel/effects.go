package kernel

import (
	"slices"

	"pawl"
	"pawl/audit"
	"pawl/effect"
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
	if refusal := (cashier{w.work}).begins(e, c.Day); refusal != nil {
		return w.settleEffect(effect.Failed(refusal))
	}
	e.State = EffectRunning
	e.Epoch++
	e.Attempts++
	e.Effect.Token, e.Effect.Before = e.Epoch, c.Tree
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
	if e.What() == effect.KindWork {
		full, err := worker{w.work}.fill(e.Effect)
		if err != nil {
			return err
		}
		w.result = full
	}
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
	if e.State != EffectRunning && e.Epoch == c.Token && w.Task != nil && w.Task.Half == e.ID {
		return w.late(c.Receipt, c.Tree, !c.Receipt.OK)
	}
	if e.State != EffectRunning || e.Epoch != c.Token {
		return pawl.Fail(pawl.CodeFenced, "kernel.effect_fenced", e.ID, e.State, c.Token, e.Epoch)
	}
	w.trace(c.Receipt, c.Tree, c.Receipt.Code == pawl.CodeCanceled, false)
	return w.settleEffect(c.Receipt)
}

// late takes what became of an effect that was taken out of its runner's hands. It moves nothing, and whether the effect did
// what it was for stays open; but the tree that it left is pawl's work. A rollback that waited for that goes on.
func (w courier) late(r effect.Receipt, tree string, cut bool) error {
	w.Effect.Receipt = &r
	w.Task.Half = ""
	w.trace(r, tree, cut, true)
	w.touch(w.Task)
	w.record(w.Effect, "EFFECT_STOPPED", audit.Warn, map[string]any{"effect": w.Effect.What(), "code": r.Code, "key": r.Key})
	if w.Session != nil && w.Session.Rolling && w.Task.Effect == "" {
		medic{w.work}.bringBack()
	}
	return nil
}

// trace notes what an effect changed in the tree. Tree is the tree as it was found behind an effect that did not end well.
// Found says that it was recorded only some time afterwards, when others may have changed something, too.
func (w courier) trace(r effect.Receipt, tree string, cut, found bool) {
	e, t := w.Effect, w.Task
	if t == nil || e.Effect.Task != t.ID {
		return
	}
	s := effect.Span{Before: e.Effect.Before, After: tree, Cut: cut}
	switch e.What() {
	case effect.KindTool:
		s = traceOfCall(s, e, r, found || tree != "")
		if s.Before == "" && e.Effect.Record {
			s.Before = t.Tree
		}
	case effect.KindVerify, effect.KindGates:
		if spec, err := effect.Decode[effect.VerifySpec](e.Effect.Spec); err == nil && spec.At != "" {
			return // it ran in another tree
		}
		if v, err := effect.Decode[effect.VerifyResult](r.Result); err == nil && v.TreeAfter != "" {
			s.Before, s.After, s.Cut = v.Tree, v.TreeAfter, false
		}
	case effect.KindWork:
		// The calls that an agent asks for are noted on their own. Only when its runner died is anything else in the tree
		// taken for its doing: nobody knows how far the call at work got.
		if s.Before = t.Tree; r.OK || r.Code != "" {
			s.After = ""
		}
		if spec, err := effect.Decode[effect.WorkSpec](e.Effect.Spec); err == nil {
			s.Step = spec.Step
		}
		if did, err := effect.Decode[effect.WorkResult](r.Result); err == nil && did.After != "" {
			s.Before, s.After = did.Before, did.After
		}
	default:
		return
	}
	if s.After != "" {
		t.Tree = s.After
	}
	if cut && s.Step != "" {
		t.Cut = s.Step
	}
	w.touch(t)
	if s.Before == "" || s.After == "" || s.Before == s.After {
		return
	}
	t.Spans = slices.Clip(t.Spans)
	if n := len(t.Spans) - 1; n >= 0 && s.Files == nil && follows(t.Spans[n], s) {
		joined := t.Spans[n]
		joined.After = s.After
		t.Spans = append(t.Spans[:n:n], joined)
		return
	}
	t.Spans = append(t.Spans, s)
}

// follows reports whether a span goes on where the last one ended, in the same step.
func follows(last, s effect.Span) bool {
	return last.Step == s.Step && last.After == s.Before && last.Files == nil && !last.Undone && last.Cut == s.Cut
}

// traceOfCall completes the span of a tool call. Of a call that writes it is known which files it could change.
func traceOfCall(s effect.Span, e *EffectDoc, r effect.Receipt, files bool) effect.Span {
	call, err := effect.Decode[effect.ToolCall](e.Effect.Spec)
	if err != nil {
		return s
	}
	s.Step = call.StepID
	if did, err := effect.Decode[effect.ToolResult](r.Result); err == nil && did.After != "" {
		s.After = did.After
		if s.Before == "" {
			s.Before = did.Before
		}
	}
	if files {
		for _, im := range call.Images {
			s.Files = append(s.Files, im.Path)
		}
	}
	return s
}

// settleEffect closes the effect and lets its kind decide what follows.
func (w courier) settleEffect(r effect.Receipt) error {
	e := w.Effect
	cashier{w.work}.ends(e)
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
	case effect.KindIntake:
		return flows{w.work}.takenIn(r)
	case effect.KindWork:
		return w.canceledOr(r, worker{w.work}.worked)
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
	case effect.KindRebase:
		return w.canceledOr(r, prover{w.work}.rebased)
	case effect.KindLand:
		return prover{w.work}.landed(r)
	case effect.KindRevert:
		return undoer{w.work}.undone(r)
	case effect.KindRestore:
		return medic{w.work}.restored(r)
	case effect.KindCleanup:
		return medic{w.work}.cleaned(r)
	case effect.KindArchive:
		return medic{w.work}.archived(r)
	}
	if w.Effect.What().Ordered() {
		return flows{w.work}.carriedOut(r)
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
// done; where nobody can know, only an idempotent effect is done again, and every other one becomes a question. In any case
// what it changed in the tree is noted.
func (w courier) recover(c *Recover) error {
	e := w.Effect
	if e == nil {
		return pawl.Fail(pawl.CodeNotFound, "kernel.effect_not_found", c.Effect)
	}
	lost := c.Answer != effect.DoneYes
	if e.State != EffectRunning {
		if w.Task != nil && w.Task.Half == e.ID {
			return w.late(c.Receipt, c.Tree, lost)
		}
		return nil
	}
	w.record(e, "EFFECT_RECOVERED", audit.Warn, map[string]any{"effect": e.What(), "answer": c.Answer, "idempotent": e.Effect.Idempotent})
	if err := (flows{w.work}).interrupted(string(e.What())); err != nil {
		return err
	}
	w.trace(c.Receipt, c.Tree, lost, true)
	cashier{w.work}.ends(e)
	cashier{w.work}.forfeit(e.ID)
	switch {
	case !lost:
		return w.settleEffect(c.Receipt)
	case w.unwanted():
		desk{w.work}.dropEffect()
		w.Task.Half = ""
		return w.beginCleanup()
	case e.Attempts >= maxAttempts:
		return w.settleEffect(effect.Failed(pawl.Fail(pawl.CodeLoop, "kernel.effect_loops", string(e.What()), itoa(e.Attempts))))
	case len(w.Within) > 0:
		return w.recoverWithin(c)
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

// unwanted reports whether the effect belongs to work that is to be canceled, and nothing of it has to be finished.
func (w courier) unwanted() bool {
	t := w.Task
	if t == nil || w.Run == nil || t.CancelAt.IsZero() || t.Effect != w.Effect.ID {
		return false
	}
	switch w.Effect.What() {
	case effect.KindTool, effect.KindVerify, effect.KindGates, effect.KindRepair, effect.KindWork:
		return true
	}
	return false
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
	overdue := !t.StartedAt.IsZero() && w.now.Sub(t.StartedAt)-t.Waited > w.Config.TaskTime
	if overdue && t.State == string(task.Running) && t.CancelAt.IsZero() {
		unknown := desk{w.work}.dropEffect()
		t.Exit, t.Reason = string(task.ExitTimeout), "task time exceeded"
		w.Session.Blocked = &Blocked{Kind: BlockedStopped, Task: t.ID, Effect: unknown, Error: ErrorInfo{
			Class: pawl.ClassToolTimeout, Code: pawl.CodeTimeout, Key: "kernel.task_timeout", Args: []string{w.Config.TaskTime.String()},
		}}
		repairer{w.work}.dropRepair()
		w.dispose(t)
		t.StartedAt, t.Waited = w.now, 0
		if err := w.raise(Stopped, "the task's time is over"); err != nil {
			return err
		}
		w.release(t)
	}
	return nil
}
