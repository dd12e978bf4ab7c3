package kernel

import (
	"slices"

	"pawl"
	"pawl/kernel/audit"
	"pawl/kernel/effect"
	"pawl/machine/task"
)

// Decide takes an effect to do it: the commit that must come before any act.
func (c *Begin) Decide(tx *Tx) error {
	e := tx.Effect
	if e == nil {
		return pawl.Fail(pawl.CodeNotFound, "kernel.effect_not_found", c.Effect)
	}
	if e.State != EffectPending {
		return pawl.Fail(pawl.CodeFenced, "kernel.effect_taken", e.ID, e.State)
	}
	if tx.Session != nil && tx.Session.Paused() {
		return pawl.Fail(pawl.CodeBusy, "kernel.paused")
	}
	if refusal := effectBegins(tx, e, c.Day); refusal != nil {
		return settleEffect(tx, effect.Failed(refusal))
	}
	e.State = EffectRunning
	e.Epoch++
	e.Attempts++
	e.Effect.Token, e.Effect.Before = e.Epoch, c.Tree
	e.Due = tx.now.Add(tx.Config.LeaseTime)
	if len(c.Images) > 0 {
		call, err := effect.Decode[effect.ToolCall](e.Effect.Spec)
		if err != nil {
			return err
		}
		call.Images = c.Images
		e.Effect.Spec = effect.Encode(call)
	}
	tx.record(e, AuditEffectStarted, audit.Info, map[string]any{"effect": e.What(), "attempt": e.Attempts,
		"owner": c.Owner, "token": e.Epoch})
	tx.result = e.Effect
	if e.What() == effect.KindWork {
		full, err := fillWork(tx, e.Effect)
		if err != nil {
			return err
		}
		tx.result = full
	}
	if e.What() == effect.KindTool && tx.Turn != nil {
		return tx.apply(CallMade, string(e.What()))
	}
	return nil
}

// Decide takes the receipt of an effect. A receipt for an effect that is no longer the reporter's is refused: it was
// taken over, canceled, or reported already.
func (c *Report) Decide(tx *Tx) error {
	e := tx.Effect
	if e == nil {
		return pawl.Fail(pawl.CodeNotFound, "kernel.effect_not_found", c.Effect)
	}
	if e.State != EffectRunning && e.Epoch == c.Token && tx.Task != nil && tx.Task.OrphanEffect == e.ID {
		return lateReceipt(tx, c.Receipt, c.Tree, !c.Receipt.OK)
	}
	if e.State != EffectRunning || e.Epoch != c.Token {
		return pawl.Fail(pawl.CodeFenced, "kernel.effect_fenced", e.ID, e.State, c.Token, e.Epoch)
	}
	traceEffect(tx, c.Receipt, c.Tree, c.Receipt.Code == pawl.CodeCanceled, false)
	return settleEffect(tx, c.Receipt)
}

// lateReceipt takes what became of an effect that was taken out of its runner's hands. It moves nothing, and whether
// the effect did what it was for stays open; but the tree that it left is pawl's work. A rollback that waited for that
// goes on.
func lateReceipt(tx *Tx, r effect.Receipt, tree string, cut bool) error {
	tx.Effect.Receipt = &r
	tx.Task.OrphanEffect = ""
	traceEffect(tx, r, tree, cut, true)
	tx.touch(tx.Task)
	tx.record(tx.Effect, AuditEffectStopped, audit.Warn, map[string]any{"effect": tx.Effect.What(), "code": r.Code,
		"key": r.Key})
	if tx.Session != nil && tx.Session.RollingBack() && tx.Task.Effect == "" {
		bringBack(tx)
	}
	return nil
}

// traceEffect notes what an effect changed in the tree. Tree is the tree as it was found behind an effect that did not
// end well. Found says that it was recorded only some time afterwards, when others may have changed something, too.
func traceEffect(tx *Tx, r effect.Receipt, tree string, cut, found bool) {
	e, t := tx.Effect, tx.Task
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
		// The calls that an agent asks for are noted on their own. Only when its runner died is anything else in the
		// tree taken for its doing: nobody knows how far the call at work got.
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
		t.InterruptedStep = s.Step
	}
	tx.touch(t)
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
func settleEffect(tx *Tx, r effect.Receipt) error {
	e := tx.Effect
	effectEnds(tx, e)
	e.State = EffectDone
	if !r.OK {
		e.State = EffectFailed
	}
	e.Receipt = &r
	tx.record(e, auditEffectAs.in(e.State), level(r.OK), map[string]any{
		"effect": e.What(), "code": r.Code, "key": r.Key, "ms": r.End.Sub(r.Start).Milliseconds(),
		"attempts": r.Attempts,
	})
	if tx.Session != nil && tx.Session.Effect == e.ID {
		tx.Session.Effect = ""
		tx.touch(tx.Session)
	}
	if tx.Task != nil && tx.Task.Effect == e.ID {
		tx.Task.Effect = ""
		tx.touch(tx.Task)
	}
	return followEffect(tx, r)
}

// followEffect hands a receipt to the part of the flow that asked for it.
func followEffect(tx *Tx, r effect.Receipt) error {
	switch tx.Effect.What() {
	case effect.KindIntake:
		return takenIn(tx, r)
	case effect.KindWork:
		return canceledOr(tx, r, agentDone)
	case effect.KindContext:
		return contextBuilt(tx, r)
	case effect.KindPlan:
		return planMade(tx, r)
	case effect.KindRepair:
		return canceledOr(tx, r, repairMade)
	case effect.KindTool:
		return canceledOr(tx, r, toolDone)
	case effect.KindVerify:
		return canceledOr(tx, r, checksDone)
	case effect.KindGates:
		return canceledOr(tx, r, gatesDone)
	case effect.KindWorktree:
		return canceledOr(tx, r, worktreeMade)
	case effect.KindCheckpoint:
		if tx.Effect.Effect.Task == "" {
			return checkpointMade(tx, r)
		}
		if runEnding(tx) {
			return workSaved(tx, r)
		}
		return taskCheckpointed(tx, r)
	case effect.KindRebase:
		return canceledOr(tx, r, rebaseDone)
	case effect.KindLand:
		return landingDone(tx, r)
	case effect.KindRevert:
		return runUndone(tx, r)
	case effect.KindRestore:
		return workRestored(tx, r)
	case effect.KindCleanup:
		return workCleaned(tx, r)
	case effect.KindArchive:
		return runArchived(tx, r)
	}
	if tx.Effect.What().Ordered() {
		return carriedOut(tx, r)
	}
	return pawl.Fail(pawl.CodeInternal, "kernel.effect_unknown", string(tx.Effect.What()))
}

// canceledOr leaves a receipt aside when the task is to be canceled, and cleans up instead.
func canceledOr(tx *Tx, r effect.Receipt, next func(*Tx, effect.Receipt) error) error {
	if tx.Task != nil && !tx.Task.CancelAt.IsZero() && tx.Run != nil {
		tx.then(ThenCleanup)
		return nil
	}
	return next(tx, r)
}

// runEnding reports whether a checkpoint is the last one of a run that ends without landing.
func runEnding(tx *Tx) bool {
	t := tx.Task
	return tx.Session.RollingBack() || !t.CancelAt.IsZero() || task.State(t.State).Terminal()
}

// maxAttempts bounds how often one effect is begun, across restarts, so that one that takes the runner down each time
// is given up.
const maxAttempts = 20

// Decide settles an effect that was at work when its runner died. What happened is taken as done; what did not may be
// done; where nobody can know, only an idempotent effect is done again, and every other one becomes a question. In any
// case what it changed in the tree is noted.
func (c *Recover) Decide(tx *Tx) error {
	e := tx.Effect
	if e == nil {
		return pawl.Fail(pawl.CodeNotFound, "kernel.effect_not_found", c.Effect)
	}
	lost := c.Answer != effect.DoneYes
	if e.State != EffectRunning {
		if tx.Task != nil && tx.Task.OrphanEffect == e.ID {
			return lateReceipt(tx, c.Receipt, c.Tree, lost)
		}
		return nil
	}
	tx.record(e, AuditEffectRecovered, audit.Warn,
		map[string]any{"effect": e.What(), "answer": c.Answer, "idempotent": e.Effect.Idempotent})
	if err := flowInterrupted(tx, string(e.What())); err != nil {
		return err
	}
	traceEffect(tx, c.Receipt, c.Tree, lost, true)
	effectEnds(tx, e)
	forfeitReservations(tx, e.ID)
	switch {
	case !lost:
		return settleEffect(tx, c.Receipt)
	case effectUnwanted(tx):
		dropEffect(tx)
		tx.Task.OrphanEffect = ""
		tx.then(ThenCleanup)
		return nil
	case e.Attempts >= maxAttempts:
		return settleEffect(tx, effect.Failed(pawl.Fail(pawl.CodeLoop, "kernel.effect_loops", string(e.What()),
			itoa(e.Attempts))))
	case len(tx.Within) > 0:
		return recoverWithin(tx, c)
	case c.Answer == effect.DoneNo || e.Effect.Idempotent:
		e.State = EffectPending
		return nil
	}
	e.State = EffectUnknown
	if tx.Task == nil {
		return nil
	}
	tx.Task.Effect = ""
	tx.touch(tx.Task)
	call, _ := effect.Decode[effect.ToolCall](e.Effect.Spec)
	return block(tx, BlockedQuestion, e.ID, pawl.Fail(pawl.CodeOutcomeUnknown, "kernel.outcome_unknown", call.StepID,
		call.Name, string(call.Args)))
}

// effectUnwanted reports whether the effect belongs to work that is to be canceled, and nothing of it has to be
// finished.
func effectUnwanted(tx *Tx) bool {
	t := tx.Task
	if t == nil || tx.Run == nil || t.CancelAt.IsZero() || t.Effect != tx.Effect.ID {
		return false
	}
	switch tx.Effect.What() {
	case effect.KindTool, effect.KindVerify, effect.KindGates, effect.KindRepair, effect.KindWork:
		return true
	}
	return false
}

// Decide does what time asks for: a cancel whose grace is over is forced, and a task past its time fails.
func (*Sweep) Decide(tx *Tx) error {
	t := tx.Task
	if t == nil || tx.Session == nil || !sessionWorks(tx) {
		return nil
	}
	if !t.CancelAt.IsZero() && tx.now.Sub(t.CancelAt) > tx.Config.CancelGrace && tx.Effect != nil &&
		tx.Effect.State == EffectRunning && tx.Effect.What() != effect.KindCleanup {
		dropEffect(tx)
		tx.then(ThenCleanup)
		return nil
	}
	overdue := !t.StartedAt.IsZero() && tx.now.Sub(t.StartedAt)-t.Waited > tx.Config.TaskTime
	if overdue && t.State == string(task.Running) && t.CancelAt.IsZero() {
		unknown := dropEffect(tx)
		t.Exit, t.Reason = string(task.ExitTimeout), "task time exceeded"
		tx.Session.Blocked = &Blocked{Kind: BlockedStopped, Task: t.ID, Effect: unknown, Error: effect.Fault{
			Class: pawl.ClassToolTimeout, Code: pawl.CodeTimeout, Key: "kernel.task_timeout",
			Args: []string{tx.Config.TaskTime.String()},
		}}
		dropRepair(tx)
		disposeTask(tx, t)
		t.StartedAt, t.Waited = tx.now, 0
		if err := tx.apply(Stopped, "the task's time is over"); err != nil {
			return err
		}
	}
	return nil
}
