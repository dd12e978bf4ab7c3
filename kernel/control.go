package kernel

import (
	"pawl"
	"pawl/kernel/audit"
	"pawl/kernel/effect"
	"pawl/machine/session"
	"pawl/machine/task"
	"pawl/machine/turn"
	"pawl/machine/workflow"
	"slices"
)

// Decide stops dispatch at the next safe point; the state stays (docs/spec/session.md#a1).
func (*Pause) Decide(tx *Tx) error {
	s := tx.Session
	if s == nil || s.State == string(session.Idle) || s.State == string(session.Blocked) ||
		s.State == string(session.Archiving) {
		return pawl.Fail(pawl.CodeInvalidTransition, "kernel.nothing_to_pause", stateName(tx))
	}
	if s.Paused {
		return nil
	}
	s.Paused, s.PausedAt, s.PausedBy = true, tx.now, tx.env.Actor
	tx.record(s, AuditSessionPaused, audit.Info, map[string]any{"state": s.State})
	return nil
}

// resumeWork goes on after a pause. Without one there is nothing to change; the runner is what goes on.
func (*Resume) Decide(tx *Tx) error {
	s := tx.Session
	if s == nil {
		return pawl.Fail(pawl.CodeNotFound, "kernel.not_initialised")
	}
	if !s.Paused {
		return nil
	}
	s.Paused, s.PausedAt, s.PausedBy = false, tx.now, ""
	tx.record(s, AuditSessionResumed, audit.Info, map[string]any{"state": s.State})
	if tx.Task != nil && sessionWorks(tx) {
		tx.then(ThenAdvance)
	}
	return nil
}

// Decide cancels at once what is not at work, and asks what is at work to stop and clean up first
// (docs/spec/task.md#d16).
func (c *CancelTask) Decide(tx *Tx) error {
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
	if t.Session == "" || at == task.Blocked && !holdsRun(tx, t) {
		if t.Cleanup == nil {
			t.Cleanup = nothingToClean()
		}
		return tx.move(t, string(task.Cancel), "", note(c.Reason), nil)
	}
	switch at {
	case task.Draft:
		return declinePlan(tx, c.Reason, "canceled")
	case task.Blocked:
		return take(tx, ThenSkip)
	}
	if !t.CancelAt.IsZero() {
		return nil
	}
	t.CancelAt, t.CancelBy = tx.now, tx.env.Actor
	tx.record(t, AuditTaskCancelRequested, audit.Info, map[string]any{"reason": c.Reason, "by": tx.env.Actor})
	if tx.Effect != nil && tx.Effect.ID == t.Effect && tx.Effect.State == EffectRunning {
		return nil
	}
	dropEffect(tx)
	tx.then(ThenCleanup)
	return nil
}

// Decide gives up what the session is doing, as far as it has come.
func (c *CancelRun) Decide(tx *Tx) error {
	s := tx.Session
	if s == nil {
		return pawl.Fail(pawl.CodeNotFound, "kernel.not_initialised")
	}
	switch session.State(s.State) {
	case session.Planning:
		dropEffect(tx)
		s.Effect = ""
		tx.Turn.Outcome = string(turn.OutcomeCanceled)
		if err := tx.apply(PlanningCancel, c.Reason); err != nil {
			return err
		}
		endRun(tx, "canceled")
		return nil
	case session.Confirming:
		return declinePlan(tx, c.Reason, "canceled")
	case session.Executing, session.AutoFix:
		if tx.Task != nil {
			return (&CancelTask{Task: tx.Task.ID, Reason: c.Reason}).Decide(tx)
		}
	}
	return pawl.Fail(pawl.CodeInvalidTransition, "kernel.nothing_to_cancel", s.State)
}

// Decide hands the flow to an external tool (docs/spec/workflow.md#external-tools).
func (c *EnterTool) Decide(tx *Tx) error {
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
	tx.record(tx.Flow, AuditToolEntered, audit.Info, map[string]any{"tool": c.Tool, "nesting": next.ToolNesting,
		"suspended": next.SuspendedStage})
	if s.Run != "" && !s.Paused && s.State != string(session.Blocked) {
		s.Paused, s.PausedAt, s.PausedBy = true, tx.now, tx.env.Actor
		tx.touch(s)
		tx.Flow.Held = true
	}
	return nil
}

// Decide says that the innermost external tool is done.
func (c *LeaveTool) Decide(tx *Tx) error {
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
	tx.record(tx.Flow, AuditToolLeft, audit.Info,
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
	tx.Session.Paused = false
	tx.touch(tx.Session)
	if tx.Session.State == string(session.Blocked) {
		return nil
	}
	return (&CancelRun{Reason: "given up after an external tool"}).Decide(tx)
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

// cancel cancels the task for the reason that it has.
func cancel(tx *Tx) error { return (&CancelTask{Task: tx.Task.ID, Reason: tx.Task.Reason}).Decide(tx) }
