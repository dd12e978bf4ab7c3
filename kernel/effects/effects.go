// Package effects hands effects to those who do them, and takes back what became of them.
package effects

import (
	"slices"
	"strconv"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/audit"
	"pawl/kernel/effect"
	"pawl/machine/workflow"
)

// Decide takes an effect to do it: the commit that must come before any act.
func (c *Begin) Decide(tx *kernel.Tx) error {
	e := tx.Effect
	if e == nil {
		return pawl.Fail(pawl.CodeNotFound, "kernel.effect_not_found", c.Effect)
	}
	if e.State != kernel.EffectPending {
		return pawl.Fail(pawl.CodeFenced, "kernel.effect_taken", e.ID, e.State)
	}
	if tx.Session != nil && tx.Session.Paused() {
		return pawl.Fail(pawl.CodeBusy, "kernel.paused")
	}
	if refusal := tx.Protocols.Books.Begin(tx, e, c.Day); refusal != nil {
		return settleEffect(tx, effect.Failed(refusal))
	}
	if len(c.Images) > 0 {
		call, err := effect.Decode[effect.ToolCall](e.Effect.Spec)
		if err != nil {
			return err
		}
		call.Images = c.Images
		e.Effect.Spec = effect.Encode(call)
	}
	kernel.StartEffect(tx, e, c.Owner, c.Tree)
	if tx.Task != nil && e.Effect.Task == tx.Task.ID {
		endSpan(tx, c.Tree)
	}
	traceWrites(tx, c.Tree)
	if fill := tx.Protocols.Effects[e.What()].Fill; fill != nil {
		full, err := fill(tx, e.Effect)
		if err != nil {
			return err
		}
		tx.Result = full
	}
	if e.What() == effect.KindTool && tx.Turn != nil {
		return tx.Apply(kernel.CallMade, string(e.What()))
	}
	return nil
}

// Decide takes the receipt of an effect. A receipt for an effect that is no longer the reporter's is refused: it was
// taken over, canceled, or reported already.
func (c *Report) Decide(tx *kernel.Tx) error {
	e := tx.Effect
	if e == nil {
		return pawl.Fail(pawl.CodeNotFound, "kernel.effect_not_found", c.Effect)
	}
	if e.State != kernel.EffectRunning && e.Epoch == c.Token && tx.Task != nil && tx.Task.OrphanEffect == e.ID {
		return lateReceipt(tx, c.Receipt, c.Tree, !c.Receipt.OK)
	}
	if e.State != kernel.EffectRunning || e.Epoch != c.Token {
		return pawl.Fail(pawl.CodeFenced, "kernel.effect_fenced", e.ID, e.State, c.Token, e.Epoch)
	}
	traceEffect(tx, c.Receipt, c.Tree, c.Receipt.Code == pawl.CodeCanceled, false)
	return settleReported(tx, c.Receipt, c.refused)
}

// lateReceipt takes what became of an effect that was taken out of its runner's hands. It moves nothing, and whether
// the effect did what it was for stays open; but the tree that it left is pawl's work. A rollback that waited for that
// goes on.
func lateReceipt(tx *kernel.Tx, r effect.Receipt, tree string, cut bool) error {
	tx.Effect.Receipt = &r
	tx.Task.OrphanEffect = ""
	traceEffect(tx, r, tree, cut, true)
	tx.Touch(tx.Task)
	tx.Record(tx.Effect, kernel.AuditEffectStopped, audit.Warn,
		map[string]any{"effect": tx.Effect.What(), "code": r.Code,
			"key": r.Key})
	if tx.Session != nil && tx.Session.RollingBack() && tx.Task.Effect == "" {
		return kernel.Take(tx, kernel.ThenRestore)
	}
	return nil
}

// traceEffect notes what an effect changed in the tree. Tree is the tree as it was found behind an effect that did not
// end well. Found says that it was recorded only some time afterwards, when others may have changed something, too.
func traceEffect(tx *kernel.Tx, r effect.Receipt, tree string, cut, found bool) {
	e, t := tx.Effect, tx.Task
	if t == nil || e.Effect.Task != t.ID {
		return
	}
	s, ok := spanOf(tx, effect.Span{Before: e.Effect.Before, After: tree, Cut: cut}, r, found || tree != "")
	if !ok {
		return
	}
	if s.After != "" {
		t.Tree = s.After
	}
	if cut && s.Step != "" {
		t.InterruptedStep = s.Step
	}
	tx.Touch(t)
	addSpan(t, s)
}

// spanOf completes what is known of what an effect changed in the task's tree, if it is one that does. Late says that
// it was recorded only some time afterwards.
func spanOf(tx *kernel.Tx, s effect.Span, r effect.Receipt, late bool) (effect.Span, bool) {
	e, t := tx.Effect, tx.Task
	switch e.What() {
	case effect.KindTool:
		s, open := traceOfCall(tx, s, r, late)
		if s.Before == "" && e.Effect.Record {
			s.Before = t.Tree
		}
		if open && s.Before != "" {
			t.Spans = append(slices.Clip(t.Spans), s)
		}
		return s, true
	case effect.KindVerify, effect.KindGates:
		if spec, err := effect.Decode[effect.VerifySpec](e.Effect.Spec); err == nil && spec.At != "" {
			return s, false // it ran in another tree
		}
		if v, err := effect.Decode[effect.VerifyResult](r.Result); err == nil && v.TreeAfter != "" {
			endSpan(tx, v.Tree)
			s.Before, s.After, s.Cut = v.Tree, v.TreeAfter, false
		}
		return s, true
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
		return s, true
	}
	return s, false
}

// traceWrites notes what the calls of an agent changed in a worktree since its last exchange: not each call that writes
// a file records the tree, but every exchange does. In the user's own tree each call does, because a change in between
// is the user's there.
func traceWrites(tx *kernel.Tx, tree string) {
	t := tx.Task
	if tx.Effect.What() != effect.KindWork || tx.Talk == nil || t == nil || t.Place.InPlace || tree == "" {
		return
	}
	addSpan(t, effect.Span{Step: tx.Talk.Step, Before: t.Tree, After: tree})
	t.Tree = tree
	tx.Touch(t)
}

// addSpan adds a span in which something changed to those of a task, joined with the last one where it goes on there.
func addSpan(t *kernel.Task, s effect.Span) {
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

// endSpan ends the span of a call behind which the tree could not be recorded, with the tree as it was recorded next.
func endSpan(tx *kernel.Tx, tree string) {
	t := tx.Task
	if n := len(t.Spans) - 1; n >= 0 && t.Spans[n].After == "" && tree != "" {
		open := t.Spans[n]
		t.Spans, open.After, t.Tree = t.Spans[:n:n], tree, tree
		addSpan(t, open)
		tx.Touch(t)
	}
}

// follows reports whether a span goes on where the last one ended, in the same step.
func follows(last, s effect.Span) bool {
	return last.Step == s.Step && last.After == s.Before && last.Files == nil && !last.Undone && last.Cut == s.Cut
}

// traceOfCall completes the span of a tool call. Of a call that writes it is known which files it could change. Where
// the tree behind the call could not be recorded the span is open, unless it is part of an agent's own.
func traceOfCall(tx *kernel.Tx, s effect.Span, r effect.Receipt, files bool) (_ effect.Span, open bool) {
	call, err := effect.Decode[effect.ToolCall](tx.Effect.Effect.Spec)
	if err != nil {
		return s, false
	}
	s.Step = call.StepID
	did, err := effect.Decode[effect.ToolResult](r.Result)
	if err == nil && did.After != "" {
		s.After = did.After
		if s.Before == "" {
			s.Before = did.Before
		}
	}
	if did.Unrecorded != nil {
		tx.Record(tx.Effect, kernel.AuditTreeUnrecorded, audit.Warn, did.Unrecorded)
		open, files, s.Cut = s.After == "" && tx.Effect.Within == "", true, len(call.Images) == 0
	}
	if files {
		for _, im := range call.Images {
			s.Files = append(s.Files, im.Path)
		}
	}
	return s, open
}

// settleReported closes the effect with its receipt, or as failed if the receipt was refused. The result stays with the
// effect: it may have been paid for.
func settleReported(tx *kernel.Tx, r effect.Receipt, refused error) error {
	if refused == nil {
		return settleEffect(tx, r)
	}
	e, failed := tx.Effect, effect.Failed(refused)
	failed.Refused, failed.Taken, failed.Start, failed.End, failed.Attempts = true, r.Taken, r.Start, r.End, r.Attempts
	err := settleEffect(tx, failed)
	e.Receipt.Result = r.Result
	return err
}

// settleEffect closes the effect and lets its kind decide what follows.
func settleEffect(tx *kernel.Tx, r effect.Receipt) error {
	e := tx.Effect
	tx.Protocols.Books.End(tx, e)
	e.State = kernel.EffectDone
	if !r.OK {
		e.State = kernel.EffectFailed
	}
	e.Receipt = &r
	tx.Record(e, kernel.AuditEffectAs.In(e.State), kernel.Level(r.OK), map[string]any{
		"effect": e.What(), "code": r.Code, "key": r.Key, "ms": r.End.Sub(r.Start).Milliseconds(),
		"attempts": r.Attempts,
	})
	if len(r.Taken) > 0 {
		cleared(tx, r.Taken)
	}
	if tx.Session != nil && tx.Session.Effect == e.ID {
		tx.Session.Effect = ""
		tx.Touch(tx.Session)
	}
	if tx.Task != nil && tx.Task.Effect == e.ID {
		tx.Task.Effect = ""
		tx.Touch(tx.Task)
	}
	return followEffect(tx, r)
}

// cleared tells what was taken out of the tree behind an effect.
func cleared(tx *kernel.Tx, taken []effect.Taken) {
	tx.Record(tx.Effect, kernel.AuditTreeCleared, audit.Warn, map[string]any{"taken": taken})
	if t := tx.Task; t != nil && len(t.Taken) < maxTold {
		t.Taken = append(slices.Clip(t.Taken), taken...)
		tx.Touch(t)
	}
}

// maxTold bounds what is kept with a task of what was taken out of its tree.
const maxTold = 100

// followEffect hands a receipt to the part of the flow that asked for it. It is left aside when the task is to be
// canceled and the effect was for nothing else.
func followEffect(tx *kernel.Tx, r effect.Receipt) error {
	follow, ok := tx.Protocols.Effects[tx.Effect.What()]
	switch {
	case !ok:
		return pawl.Fail(pawl.CodeInternal, "kernel.effect_unknown", string(tx.Effect.What()))
	case follow.Unwanted && tx.Task != nil && !tx.Task.CancelAt.IsZero() && tx.Run != nil:
		tx.Then(kernel.ThenCleanup)
		return nil
	}
	return follow.Done(tx, r)
}

// maxAttempts bounds how often one effect is begun, across restarts, so that one that takes the runner down each time
// is given up.
const maxAttempts = 20

// Decide settles an effect that was at work when its runner died. What happened is taken as done; what did not may be
// done; where nobody can know, only an idempotent effect is done again, and every other one becomes a question. In any
// case what it changed in the tree is noted.
func (c *Recover) Decide(tx *kernel.Tx) error {
	e := tx.Effect
	if e == nil {
		return pawl.Fail(pawl.CodeNotFound, "kernel.effect_not_found", c.Effect)
	}
	lost := c.Answer != effect.DoneYes
	if e.State != kernel.EffectRunning {
		if tx.Task != nil && tx.Task.OrphanEffect == e.ID {
			return lateReceipt(tx, c.Receipt, c.Tree, lost)
		}
		return nil
	}
	tx.Record(e, kernel.AuditEffectRecovered, audit.Warn,
		map[string]any{"effect": e.What(), "answer": c.Answer, "idempotent": e.Effect.Idempotent})
	if err := flowInterrupted(tx, string(e.What())); err != nil {
		return err
	}
	traceEffect(tx, c.Receipt, c.Tree, lost, true)
	tx.Protocols.Books.End(tx, e)
	tx.Protocols.Books.Forfeit(tx, e.ID)
	switch {
	case !lost:
		return settleReported(tx, c.Receipt, c.refused)
	case effectUnwanted(tx):
		kernel.DropEffect(tx)
		tx.Task.OrphanEffect = ""
		tx.Then(kernel.ThenCleanup)
		return nil
	case e.Attempts >= maxAttempts:
		return settleEffect(tx, effect.Failed(pawl.Fail(pawl.CodeLoop, "kernel.effect_loops", string(e.What()),
			strconv.Itoa(e.Attempts))))
	case len(tx.Within) > 0:
		return recoverWithin(tx, c)
	case c.Answer == effect.DoneNo || e.Effect.Idempotent:
		e.State = kernel.EffectPending
		return nil
	}
	e.State = kernel.EffectUnknown
	if tx.Task == nil {
		return nil
	}
	tx.Task.Effect = ""
	tx.Touch(tx.Task)
	call, _ := effect.Decode[effect.ToolCall](e.Effect.Spec)
	return kernel.Block(tx, kernel.BlockedQuestion, e.ID, pawl.Fail(pawl.CodeOutcomeUnknown, "kernel.outcome_unknown",
		call.StepID,
		call.Name, string(call.Args)))
}

// effectUnwanted reports whether the effect belongs to work that is to be canceled, and nothing of it has to be
// finished.
func effectUnwanted(tx *kernel.Tx) bool {
	t := tx.Task
	if t == nil || tx.Run == nil || t.CancelAt.IsZero() || t.Effect != tx.Effect.ID {
		return false
	}
	switch tx.Effect.What() {
	case effect.KindTool, effect.KindVerify, effect.KindGates, effect.KindProve, effect.KindReview,
		effect.KindRewrite, effect.KindRepair, effect.KindWork:
		return true
	}
	return false
}

// recoverWithin settles the calls that were at work inside an agent's effect when the runner died, and then the effect.
// A call that nobody knows of and that may not be repeated becomes the question; the agent's work goes on after the
// answer.
func recoverWithin(tx *kernel.Tx, c *Recover) error {
	parent := tx.Effect
	unknown := ""
	for _, e := range tx.Within {
		if e.State != kernel.EffectRunning {
			continue
		}
		found := c.Within[e.ID]
		tx.Record(e, kernel.AuditEffectRecovered, audit.Warn, map[string]any{"effect": e.What(), "answer": found.Answer,
			"idempotent": e.Effect.Idempotent})
		switch {
		case found.Answer == effect.DoneYes:
			e.State, e.Receipt = kernel.EffectDone, &found.Receipt
			if !found.Receipt.OK {
				e.State = kernel.EffectFailed
			}
			if _, err := effect.Decode[effect.ToolCall](e.Effect.Spec); err == nil {
				kernel.CallTook(tx, found.Receipt)
			}
		case found.Answer == effect.DoneNo || e.Effect.Idempotent:
			// The agent asks again for what it still needs.
			e.State = kernel.EffectCanceled
		default:
			e.State = kernel.EffectUnknown
			unknown = e.ID
		}
	}
	if unknown == "" {
		parent.State = kernel.EffectPending
		return nil
	}
	parent.State = kernel.EffectCanceled
	tx.Record(parent, kernel.AuditEffectCanceled, audit.Warn,
		map[string]any{"effect": parent.What(), "unknown": unknown})
	tx.Task.Effect = ""
	tx.Touch(tx.Task)
	for _, e := range tx.Within {
		if e.ID == unknown {
			call, _ := effect.Decode[effect.ToolCall](e.Effect.Spec)
			return kernel.Block(tx, kernel.BlockedQuestion, e.ID,
				pawl.Fail(pawl.CodeOutcomeUnknown, "kernel.outcome_unknown",
					call.StepID, call.Name, string(call.Args)))
		}
	}
	return nil
}

// flowInterrupted notes that a flow was cut off by a crash: its stage is kept, and it goes on from there.
func flowInterrupted(tx *kernel.Tx, what string) error {
	if tx.Flow == nil || !tx.Has(tx.Flow, string(workflow.Interrupt), "") {
		return nil
	}
	return tx.Move(tx.Flow, string(workflow.Interrupt), "", "interrupted in "+what, nil)
}
