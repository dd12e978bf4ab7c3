// Package tasks makes the tasks that belong to no run, has their gates run, and keeps their leases.
package tasks

import (
	"fmt"
	"slices"
	"strings"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/audit"
	"pawl/kernel/effect"
	"pawl/machine/task"
)

// Decide makes a draft outside a run.
func (c *CreateTask) Decide(tx *kernel.Tx) error {
	if tx.Session == nil {
		return pawl.Fail(pawl.CodeNotFound, "kernel.not_initialised")
	}
	if strings.TrimSpace(c.Title) == "" {
		return pawl.Fail(pawl.CodeInvalid, "kernel.title_empty")
	}
	if _, err := tx.Config.ModeOf(c.Mode); err != nil {
		return err
	}
	for _, g := range c.Gates {
		if !slices.Contains(task.VerificationGates(), g) {
			return pawl.Fail(pawl.CodeInvalid, "kernel.gate_unknown", g, strings.Join(task.VerificationGates(), ", "))
		}
	}
	tx.Session.Tasks++
	tx.Touch(tx.Session)
	t := &kernel.Task{Title: strings.TrimSpace(c.Title), By: tx.Env.Actor, Mode: c.Mode, Number: tx.Session.Tasks,
		Place: c.Place, Gates: c.Gates}
	if len(t.Gates) == 0 {
		t.Gates = tx.Config.Gates
	}
	tx.Task = t
	tx.Create(t, kernel.KindTask, fmt.Sprintf("T-%03d", t.Number), "", string(task.Table.Initial()))
	tx.Record(t, kernel.AuditTaskCreated, audit.Info, map[string]any{"title": t.Title, "mode": t.ModeName()})
	tx.Result = t.ID
	return nil
}

// Decide asks for the gates of a task that is moved by hand, or that its runner has finished.
func (c *RequestGates) Decide(tx *kernel.Tx) error {
	t := tx.Task
	if t == nil {
		return pawl.Fail(pawl.CodeNotFound, "kernel.task_not_found", c.Task)
	}
	for _, g := range t.Gates {
		if err := kernel.AskGate(tx, t, g); err != nil {
			return err
		}
	}
	if c.Token != 0 {
		return finishTask(tx, c)
	}
	if t.State != string(task.Verifying) {
		return pawl.Fail(pawl.CodeInvalidTransition, "kernel.gates_when_verifying", t.Label, t.State)
	}
	if t.Effect != "" {
		tx.Result = t.Effect
		return nil
	}
	t.GateFault = nil
	tx.Result = emitGates(tx, 0).ID
	return nil
}

// finishTask hands a task over to verification under its runner's lease, and begins its gates. Asked again, it answers
// with the gates at work; gates that another lease or a person asked for are dropped, as they prove nothing about this
// runner's work.
func finishTask(tx *kernel.Tx, c *RequestGates) error {
	t := tx.Task
	if t.State != string(task.Verifying) {
		if err := (&kernel.Transition{Task: t.ID, To: task.Verifying, Token: c.Token, Reason: "finished by " +
			c.Owner}).Decide(tx); err != nil {
			return err
		}
	} else if t.Session != "" || t.Epoch != c.Token {
		return pawl.Fail(pawl.CodeFenced, "kernel.lease_lost", t.Label)
	}
	if t.Effect != "" {
		if e := tx.Effect; e != nil && e.ID == t.Effect && e.Lease() == c.Token {
			if e.State == kernel.EffectRunning {
				tx.Result = e.Effect
				return nil
			}
			return beginGates(tx, c.Owner)
		}
		kernel.DropEffect(tx)
	}
	tx.Effect = emitGates(tx, c.Token)
	return beginGates(tx, c.Owner)
}

// emitGates asks for the gates of a task outside a run, by hand or under a lease.
func emitGates(tx *kernel.Tx, lease int64) *kernel.EffectDoc {
	var checks []effect.Check
	for _, g := range tx.Task.Gates {
		checks = append(checks, effect.Check{Name: g, Kind: "gate"})
	}
	return tx.Emit(effect.KindGates, effect.VerifySpec{
		Checks: checks, StopOnFail: true, Required: true, PerCheck: tx.Config.PerCheck, Twice: tx.Config.Twice,
		Lease: lease,
	}, true)
}

// GatesUnrun takes the receipt of gates of a task outside a run that could not be run at all, such as one without a
// command: none of them passed, and the record says why. The task stays where it is, and may be verified again.
func GatesUnrun(tx *kernel.Tx, r effect.Receipt) error {
	t := tx.Task
	if lease := tx.Effect.Lease(); lease != 0 && lease != t.Epoch {
		return nil
	}
	kept := kernel.Info(r.Err())
	t.Gate, t.GateFault, t.GateNote = nil, &kept, r.Err().Error()
	tx.Touch(t)
	tx.Record(t, kernel.AuditGateVerificationResult, audit.Error,
		map[string]any{"passed": false, "gates": t.Gates, "status": effect.CheckError, "error": kept})
	return nil
}

// Decide makes a new draft from a task that ended (docs/spec/task.md#restart).
func (*RestartTask) Decide(tx *kernel.Tx) error {
	old := tx.Task
	if old == nil {
		return pawl.Fail(pawl.CodeNotFound, "kernel.task_not_found", "")
	}
	if !task.State(old.State).Terminal() {
		return pawl.Fail(pawl.CodeInvalidTransition, "kernel.restart_when_ended", old.Label, old.State)
	}
	if err := (&CreateTask{Title: old.Title, Mode: old.Mode, Gates: old.Gates,
		Place: old.Place}).Decide(tx); err != nil {
		return err
	}
	tx.Task.Restart = old.ID
	tx.Record(tx.Task, kernel.AuditTaskRestarted, audit.Info, map[string]any{"restart_source": old.ID})
	return nil
}

// Decide prolongs a lease. It is no state change and leaves no record.
func (c *Heartbeat) Decide(tx *kernel.Tx) error {
	t := tx.Task
	if t == nil {
		return pawl.Fail(pawl.CodeNotFound, "kernel.task_not_found", c.Task)
	}
	if t.Epoch != c.Token || t.Lease.Owner == "" {
		return pawl.Fail(pawl.CodeFenced, "kernel.lease_lost", t.Label)
	}
	t.Lease.Expires = tx.Now.Add(tx.Config.LeaseTime)
	tx.Touch(t)
	return nil
}

// progressStates are the states that the words of update_progress ask for.
var progressStates = map[string]task.State{"PENDING": task.Queued, "DONE": task.Done, "BLOCKED": task.Blocked}

func (c *UpdateProgress) Decide(tx *kernel.Tx) error {
	t := tx.Task
	if t == nil {
		return pawl.Fail(pawl.CodeNotFound, "kernel.task_not_found", c.Task)
	}
	if len(c.Summary) > kernel.MaxNote {
		return pawl.Fail(pawl.CodeInvalid, "kernel.note_size", "summary", kernel.MaxNote)
	}
	if c.Status != "" {
		to, ok := progressStates[strings.ToUpper(c.Status)]
		if !ok {
			parsed, err := task.Parse(c.Status)
			if err != nil {
				return err
			}
			to = parsed
		}
		if !task.Same(task.State(t.State), to) {
			if err := (&kernel.Transition{Task: t.ID, To: to, Reason: kernel.Note(c.Summary)}).Decide(tx); err != nil {
				return err
			}
		}
	}
	if strings.TrimSpace(c.Summary) != "" {
		t.Progress = &kernel.Progress{Text: strings.TrimSpace(c.Summary), By: tx.Env.Actor, At: tx.Now}
		tx.Record(t, kernel.AuditTaskProgress, audit.Info, map[string]any{"summary": c.Summary, "status": t.State})
	}
	tx.Result = t.ID
	return nil
}

// beginGates begins the gates of a task outside a run, which cost nothing, as any other effect is begun.
func beginGates(tx *kernel.Tx, owner string) error {
	if tx.Effect.State != kernel.EffectPending {
		return pawl.Fail(pawl.CodeFenced, "kernel.effect_taken", tx.Effect.ID, tx.Effect.State)
	}
	if tx.Session != nil && tx.Session.Paused() {
		return pawl.Fail(pawl.CodeBusy, "kernel.paused")
	}
	kernel.StartEffect(tx, tx.Effect, owner, "")
	return nil
}
