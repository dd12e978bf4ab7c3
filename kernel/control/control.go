// Package control stops work, has it go on, and cancels it.
package control

import (
	"cmp"
	"slices"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/audit"
	"pawl/kernel/effect"
	"pawl/machine/session"
	"pawl/machine/task"
	"pawl/machine/turn"
	"pawl/machine/workflow"
)

// Decide stops dispatch at the next safe point; the state stays (docs/spec/session.md#a1).
func (*Pause) Decide(tx *kernel.Tx) error {
	s := tx.Session
	if s == nil || s.State != string(session.Planning) && s.State != string(session.Executing) &&
		s.State != string(session.AutoFix) {
		return pawl.Fail(pawl.CodeInvalidTransition, "kernel.nothing_to_pause", kernel.StateName(&tx.Snapshot))
	}
	if s.Paused() {
		return nil
	}
	s.PausedAt, s.PausedBy = tx.Now, tx.Env.Actor
	tx.Record(s, kernel.AuditSessionPaused, audit.Info, map[string]any{"state": s.State})
	return tx.Apply(kernel.SessionPaused, "")
}

// resumeWork goes on after a pause. Without one there is nothing to change; the runner is what goes on.
func (*Resume) Decide(tx *kernel.Tx) error {
	s := tx.Session
	if s == nil {
		return pawl.Fail(pawl.CodeNotFound, "kernel.not_initialised")
	}
	if !s.Paused() {
		return nil
	}
	if err := tx.Apply(kernel.SessionResumed, ""); err != nil {
		return err
	}
	s.PausedAt, s.PausedBy = tx.Now, ""
	tx.Record(s, kernel.AuditSessionResumed, audit.Info, map[string]any{"state": s.State})
	if tx.Task != nil && kernel.SessionWorks(tx) {
		tx.Then(kernel.ThenAdvance)
	}
	return nil
}

// Decide cancels at once what is not at work, and asks what is at work to stop and clean up first
// (docs/spec/task.md#d16).
func (c *CancelTask) Decide(tx *kernel.Tx) error {
	t := tx.Task
	if t == nil {
		return pawl.Fail(pawl.CodeNotFound, "kernel.task_not_found", c.Task)
	}
	at := task.State(t.State)
	if at == task.Canceled {
		return nil
	}
	if refusal := task.Refusal(at, task.Canceled); refusal != nil {
		return refusal
	}
	t.Reason = c.Reason
	if t.Session == "" || at == task.Blocked && !kernel.HoldsRun(tx, t) {
		if t.Cleanup == nil {
			t.Cleanup = kernel.NothingToClean()
		}
		return tx.Move(t, string(task.Cancel), "", cmp.Or(c.Reason, "canceled"), nil)
	}
	switch at {
	case task.Draft:
		return kernel.DeclinePlan(tx, c.Reason, "canceled")
	case task.Blocked:
		return kernel.Take(tx, kernel.ThenSkip)
	}
	if !t.CancelAt.IsZero() {
		return nil
	}
	t.CancelAt, t.CancelBy = tx.Now, tx.Env.Actor
	tx.Record(t, kernel.AuditTaskCancelRequested, audit.Info, map[string]any{"reason": c.Reason, "by": tx.Env.Actor})
	if tx.Effect != nil && tx.Effect.ID == t.Effect && tx.Effect.State == kernel.EffectRunning {
		return nil
	}
	kernel.DropEffect(tx)
	tx.Then(kernel.ThenCleanup)
	return nil
}

// Decide gives up what the session is doing, as far as it has come.
func (c *CancelRun) Decide(tx *kernel.Tx) error {
	s := tx.Session
	if s == nil {
		return pawl.Fail(pawl.CodeNotFound, "kernel.not_initialised")
	}
	switch session.State(s.State) {
	case session.Planning:
		kernel.DropEffect(tx)
		s.Effect = ""
		tx.Turn.Outcome = string(turn.OutcomeCanceled)
		if err := tx.Apply(kernel.PlanningCancel, c.Reason); err != nil {
			return err
		}
		kernel.EndRun(tx, "canceled")
		return nil
	case session.Confirming:
		return kernel.DeclinePlan(tx, c.Reason, "canceled")
	case session.Executing, session.AutoFix:
		if tx.Task != nil {
			return (&CancelTask{Task: tx.Task.ID, Reason: c.Reason}).Decide(tx)
		}
	case session.Blocked:
		return pawl.Fail(pawl.CodeInvalidTransition, "kernel.blocked_not_canceled", s.State)
	}
	return pawl.Fail(pawl.CodeInvalidTransition, "kernel.nothing_to_cancel", s.State)
}

// Decide hands the flow to an external tool (docs/spec/workflow.md#external-tools).
func (c *EnterTool) Decide(tx *kernel.Tx) error {
	s := tx.Session
	switch {
	case s == nil || tx.Flow == nil:
		return pawl.Fail(pawl.CodeNotFound, "kernel.not_initialised")
	case s.Effect != "" || tx.Task != nil && tx.Task.Effect != "" && s.Run != "":
		return pawl.Fail(pawl.CodeBusy, "kernel.tool_while_working", c.Tool)
	}
	next, err := workflow.EnterTool(tx.Flow.Vars, c.Tool)
	if err != nil {
		return err
	}
	tx.Flow.Vars, tx.Flow.Tools = next, append(slices.Clip(tx.Flow.Tools), c.Tool)
	tx.Record(tx.Flow, kernel.AuditToolEntered, audit.Info, map[string]any{"tool": c.Tool, "nesting": next.ToolNesting,
		"suspended": next.SuspendedStage})
	if s.Run != "" && !s.Paused() && s.State != string(session.Blocked) {
		s.PausedAt, s.PausedBy, tx.Flow.Held = tx.Now, tx.Env.Actor, true
		return tx.Apply(kernel.SessionPaused, "")
	}
	return nil
}

// Decide says that the innermost external tool is done.
func (c *LeaveTool) Decide(tx *kernel.Tx) error {
	if tx.Flow == nil {
		return pawl.Fail(pawl.CodeNotFound, "kernel.not_initialised")
	}
	outer := ""
	if n := len(tx.Flow.Tools); n > 1 {
		outer = tx.Flow.Tools[n-2]
	}
	suspended := tx.Flow.SuspendedStage
	next, err := workflow.LeaveTool(tx.Flow.Vars, outer, c.Resume || suspended != workflow.None)
	if err != nil {
		return err
	}
	tx.Record(tx.Flow, kernel.AuditToolLeft, audit.Info,
		map[string]any{"tool": tx.Flow.ActiveTool, "nesting": next.ToolNesting, "resume": c.Resume})
	tx.Flow.Vars, tx.Flow.Tools = next, tx.Flow.Tools[:max(0, len(tx.Flow.Tools)-1)]
	if next.ToolNesting > 0 {
		return nil
	}
	held := tx.Flow.Held
	tx.Flow.Held = false
	switch {
	case tx.Session.Run == "" || c.Resume && !held: // a pause that somebody else asked for before stays
		return nil
	case c.Resume:
		return (&Resume{}).Decide(tx)
	}
	if tx.Touch(tx.Session); tx.Session.Paused() {
		if err := tx.Apply(kernel.SessionResumed, ""); err != nil {
			return err
		}
	}
	if tx.Session.State == string(session.Blocked) {
		return nil
	}
	return (&CancelRun{Reason: "given up after an external tool"}).Decide(tx)
}

// Decide does what time asks for: a cancel whose grace is over is forced, and a task past its time fails.
func (*Sweep) Decide(tx *kernel.Tx) error {
	t := tx.Task
	if t == nil || tx.Session == nil || !kernel.SessionWorks(tx) {
		return nil
	}
	if !t.CancelAt.IsZero() && tx.Now.Sub(t.CancelAt) > tx.Config.CancelGrace && tx.Effect != nil &&
		tx.Effect.State == kernel.EffectRunning && tx.Effect.What() != effect.KindCleanup {
		kernel.DropEffect(tx)
		tx.Then(kernel.ThenCleanup)
		return nil
	}
	overdue := !t.StartedAt.IsZero() && tx.Now.Sub(t.StartedAt)-t.Waited > tx.Config.TaskTime
	if overdue && t.State == string(task.Running) && t.CancelAt.IsZero() {
		unknown := kernel.DropEffect(tx)
		t.Exit, t.Reason = string(task.ExitTimeout), "task time exceeded"
		tx.Session.Blocked = &kernel.Blocked{Kind: kernel.BlockedStopped, Task: t.ID, Effect: unknown,
			Error: effect.Fault{
				Class: pawl.ClassToolTimeout, Code: pawl.CodeTimeout, Key: "kernel.task_timeout",
				Args: []string{tx.Config.TaskTime.String()},
			}}
		kernel.DropRepair(tx)
		kernel.DisposeTask(tx, t)
		t.StartedAt, t.Waited = tx.Now, 0
		if err := tx.Apply(kernel.Stopped, "the task's time is over"); err != nil {
			return err
		}
	}
	return nil
}

// Cancel cancels the task for the reason that it has.
func Cancel(tx *kernel.Tx) error {
	return (&CancelTask{Task: tx.Task.ID, Reason: tx.Task.Reason}).Decide(tx)
}

// Decide says in the log what is no longer in it.
func (c *Retire) Decide(tx *kernel.Tx) error {
	if tx.Session == nil {
		return pawl.Fail(pawl.CodeNotFound, "kernel.not_initialised")
	}
	tx.Touch(tx.Session)
	tx.Record(tx.Session, kernel.AuditHistoryRetired, audit.Info, audit.Retired{Records: c.Front.Size,
		Front: c.Front.Digest(), Root: c.Front.Tree().Hash, Rows: len(c.Rows), Before: c.Before.UTC()})
	tx.Retire = &c.Retirement
	return nil
}

// Decide says in the log what goes, before it goes: who is killed at it has removed nothing that the log does not name.
func (c *Discard) Decide(tx *kernel.Tx) error {
	if tx.Session == nil {
		return pawl.Fail(pawl.CodeNotFound, "kernel.not_initialised")
	}
	tx.Touch(tx.Session)
	tx.Record(tx.Session, kernel.AuditRemainsRetired, audit.Info, *c)
	return nil
}
