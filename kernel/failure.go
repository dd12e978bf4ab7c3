package kernel

import (
	"pawl"
	"pawl/kernel/audit"
	"pawl/kernel/effect"
	"pawl/machine/task"
	"pawl/machine/turn"
	"pawl/text/plan"
	"slices"
	"strconv"
	"time"
)

// Block stops for an answer, an approval or the environment.
func Block(tx *Tx, kind BlockedKind, effectID string, err error) error {
	t := tx.Task
	kept := Info(err)
	b := &Blocked{Kind: kind, Task: t.ID, Effect: effectID, Error: kept}
	t.Blocked, tx.Session.Blocked = b, b
	t.Reason = kept.Key
	if t.State == string(task.Verifying) {
		t.Exit = string(task.ExitBlocked)
		return FailGates(tx, kind, err)
	}
	DropRepair(tx)
	tx.Turn.Outcome = string(turn.OutcomeFailed)
	tx.Turn.Fix = 0
	return tx.Apply(Blocking, kept.Key)
}

// FailGates ends the task for good and blocks the session.
func FailGates(tx *Tx, kind BlockedKind, failure error) error {
	t := tx.Task
	if t.Exit == "" {
		t.Exit = string(task.ExitGateFailed)
	}
	kept := Info(failure)
	t.Reason = kept.Key
	tx.Session.Blocked = &Blocked{Kind: kind, Task: t.ID, Error: kept}
	DisposeTask(tx, t)
	return tx.Apply(GatesFailed, kept.Key)
}

// FailCall takes a failed step to its repair, and a failed repair to the next one or to the fuse.
func FailCall(tx *Tx, what Event, f effect.Failure) error {
	t := tx.Task
	if t.Cursor.Failed == "" && tx.Turn.Fix == 0 || !inRepair(tx) {
		t.Cursor.Failed, t.Cursor.At = t.Cursor.Step, t.Cursor.Call
	}
	DropRepair(tx)
	t.Cursor.Step, t.Cursor.Call = "", 0
	if err := tx.Apply(what, f.What); err != nil {
		return err
	}
	return FailWork(tx, f)
}

// inRepair reports whether the call at work belongs to the repair rather than to the plan.
func inRepair(tx *Tx) bool {
	i, ok := tx.Task.Plan.Find(tx.Task.Cursor.Step)
	return ok && tx.Task.Plan.Steps[i].Repair() > 0
}

// FailWork counts a failure: the first one opens the repair, a later one means that the repair at work failed. The
// turn is in RECOVERING already.
func FailWork(tx *Tx, f effect.Failure) error {
	t := tx.Task
	again := len(t.Failures) > 0 && f.Repeats(t.Failures[len(t.Failures)-1])
	t.Failures = append(slices.Clip(t.Failures), f)
	tx.Turn.Failure = &f
	tx.Touch(t)
	tx.Touch(tx.Turn)
	if tx.Turn.Fix > 0 {
		FixFailed(tx, again)
	}
	if t.Fixes >= tx.Config.MaxFixes {
		return BlowFuse(tx, f, again)
	}
	tx.Then(ThenAdvance)
	return nil
}

// FixFailed counts a repair that failed. Again says that it changed nothing and that the same failure came back.
func FixFailed(tx *Tx, again bool) {
	tx.Task.Fixes++
	tx.Session.AutoFix = tx.Task.Fixes
	tx.Touch(tx.Session)
	tx.Record(tx.Task, AuditFixFailed, audit.Warn, map[string]any{"attempt": tx.Task.Fixes, "repair": tx.Turn.Fix,
		"failure": tx.Turn.Failure.What, "again": again})
	tx.Turn.Fix = 0
}

// BlowFuse stops after the last repair failed: the session needs a person.
func BlowFuse(tx *Tx, f effect.Failure, again bool) error {
	t, key := tx.Task, "kernel.fuse"
	if again {
		key = "kernel.fuse_again"
	}
	t.Exit, t.Reason = string(task.ExitRetryExhausted), f.What
	t.Retry.Because(f.What + " " + f.Fingerprint)
	tx.Turn.Outcome = string(turn.OutcomeFailed)
	tx.Session.Blocked = &Blocked{Kind: BlockedFuse, Task: t.ID, Error: effect.Fault{
		Class: pawl.ClassBuildFail, Code: pawl.CodeBlocked, Key: key, Args: []string{strconv.Itoa(t.Fixes),
			f.What}, Detail: f.Output,
	}}
	DisposeTask(tx, t)
	return tx.Apply(FuseBlown, "the last repair failed: "+f.What)
}

// FixHeld clears the count of failed repairs after a success (docs/spec/session.md#a8).
func FixHeld(tx *Tx) {
	tx.Task.Fixes, tx.Session.AutoFix, tx.Turn.Fix = 0, 0, 0
	tx.Touch(tx.Task)
	tx.Touch(tx.Session)
	tx.Touch(tx.Turn)
}

// CountRetry takes one retry from the budget and sets when the task may be claimed again.
func CountRetry(tx *Tx, t *Task, delay time.Duration) {
	t.Retry.Count++
	t.Retry.Last, t.Retry.Next = tx.Now, tx.Now.Add(delay)
	t.Due = t.Retry.Next
	t.Gate = nil
	tx.Record(t, AuditTaskRetryAttempt, audit.Info, retryAttempt{Next: t.Retry.Next, Count: t.Retry.Count})
}

// DropRepair skips what is left of the repair at work and puts a step in progress back to pending.
func DropRepair(tx *Tx) {
	p := tx.Task.Plan.Clone()
	for i := range p.Steps {
		s := &p.Steps[i]
		if s.Status == plan.InProgress {
			s.Status = plan.Pending
		}
		if s.Repair() > 0 && !s.Status.Closed() {
			s.Status = plan.Skipped
		}
	}
	tx.Task.Plan = &p
	tx.Touch(tx.Task)
}

// DisposeTask lets the task's mode judge its end (docs/spec/task.md#s5-4). A mode that crashes leaves a verdict of its
// own.
func DisposeTask(tx *Tx, t *Task) {
	m, err := tx.Config.ModeOf(t.Mode)
	if err != nil {
		return
	}
	func() {
		defer func() {
			if p := recover(); p != nil {
				t.Disposition = &effect.Disposition{Verdict: "blocked", Reasoning: "the mode crashed"}
			}
		}()
		d := m.Disposition(ModeTaskOf(tx, t), t.Exit)
		t.Disposition = &d
	}()
	tx.Touch(t)
}

// Environmental reports whether a failure is one of the machine, which no repair of the work can mend
// (docs/spec/session.md#a13).
func Environmental(c pawl.Code) bool {
	switch c {
	case pawl.CodeEnvironment, pawl.CodeDiskFull, pawl.CodeReadOnly, pawl.CodeSandbox, pawl.CodeIO:
		return true
	}
	return false
}

// RefuseAction takes a person's no to an action to the turn, which looks for another way.
func RefuseAction(tx *Tx, reason string) error {
	tx.Session.Approval, tx.Turn.Return = "", string(turn.Recovering)
	if err := tx.Apply(FixRefused, reason); err != nil {
		return err
	}
	tx.Turn.Return = ""
	return nil
}

// retryAttempt is the payload of the record of a retry.
type retryAttempt struct {
	Next  time.Time `json:"next_retry_after"`
	Count int       `json:"retry_count"`
}
