package kernel

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"pawl"
	"pawl/kernel/audit"
	"pawl/kernel/effect"
	"pawl/machine/task"
)

// Decide makes a draft outside a run.
func (c *CreateTask) Decide(tx *Tx) error {
	if tx.Session == nil {
		return pawl.Fail(pawl.CodeNotFound, "kernel.not_initialised")
	}
	if strings.TrimSpace(c.Title) == "" {
		return pawl.Fail(pawl.CodeInvalid, "kernel.title_empty")
	}
	if _, err := tx.Config.modeOf(c.Mode); err != nil {
		return err
	}
	tx.Session.Tasks++
	tx.touch(tx.Session)
	t := &Task{Title: strings.TrimSpace(c.Title), By: tx.env.Actor, Mode: c.Mode, Number: tx.Session.Tasks,
		Place: c.Place, Gates: c.Gates}
	if len(t.Gates) == 0 {
		t.Gates = tx.Config.Gates
	}
	tx.Task = t
	tx.create(t, KindTask, fmt.Sprintf("T-%03d", t.Number), "", string(task.Table.Initial()))
	tx.record(t, AuditTaskCreated, audit.Info, map[string]any{"title": t.Title, "mode": t.ModeName()})
	tx.result = t.ID
	return nil
}

// refuseEarly answers the two commonest outcomes of a transition without preparing a decision: the state is
// the present one already, or no row leads there. It allocates nothing.
func refuseEarly(s *Snapshot, c *Transition) (same bool, err error) {
	if s.Task == nil {
		return false, nil
	}
	from := task.State(s.Task.State)
	if from == c.To {
		if c.Check {
			return false, pawl.Fail(pawl.CodeAlreadyInState, "kernel.already_in_state", s.Task.Label, string(c.To))
		}
		return true, nil
	}
	if refusal := task.Refusal(from, c.To); refusal != nil {
		return false, refusal
	}
	return false, nil
}

// Decide is the transition of docs/spec/task.md#s4-1: one move of one task. Tasks of a run are moved by the run; only
// what a person may do to them is allowed here.
func (c *Transition) Decide(tx *Tx) error {
	t := tx.Task
	if t == nil {
		return pawl.Fail(pawl.CodeNotFound, "kernel.task_not_found", c.Task)
	}
	if t.Session != "" && c.To != task.Canceled {
		return pawl.Fail(pawl.CodeInvalidTransition, "kernel.task_of_run", t.Label, string(c.To))
	}
	if t.Session != "" {
		return (&CancelTask{Task: c.Task, Reason: c.Reason}).Decide(tx)
	}
	r, ok := task.Table.Between(task.State(t.State), c.To)
	if !ok {
		return task.Refusal(task.State(t.State), c.To)
	}
	if !r.Admits(tx.env.Actor.Kind()) {
		return pawl.Fail(pawl.CodeInvalidTransition, "kernel.actor_refused", string(tx.env.Actor), r.ID,
			kindsOf(r.Actors, r.AlsoActors)).At(r.ID, "actor")
	}
	meta, err := metadata(c.Metadata)
	if err != nil {
		return err
	}
	retried := c.To == task.Queued && (t.State == string(task.Failed) || t.State == string(task.Verifying))
	prepareMove(tx, t, c)
	if err := tx.move(t, string(r.On), r.When, c.Reason, meta); err != nil {
		return err
	}
	if retried {
		countRetry(tx, t, 0)
	}
	tx.result = t.Epoch
	return nil
}

// metadata reads what the caller wants kept with a move: a JSON object, or nothing.
func metadata(raw json.RawMessage) (any, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	var m map[string]any
	if err := json.Unmarshal(raw, &m); err != nil {
		return nil, pawl.Fail(pawl.CodeInvalid, "kernel.metadata").Because(err)
	}
	if len(m) == 0 {
		return nil, nil
	}
	return m, nil
}

func kindsOf(groups ...[]pawl.ActorKind) string {
	var out []string
	for _, k := range slices.Concat(groups...) {
		out = append(out, string(k))
	}
	return strings.Join(out, ", ")
}

// prepareMove puts in place what the row's gates look at: the lease for running, the reason for failed, the summary for
// canceled (docs/spec/task.md#s4-2: a missing one is made, and says so), the retry for queued.
func prepareMove(tx *Tx, t *Task, c *Transition) {
	switch c.To {
	case task.Running:
		t.Epoch++
		t.Lease = Lease{Owner: c.Owner, Expires: tx.now.Add(tx.Config.LeaseTime)}
		tx.leased = true
	case task.Failed:
		t.Exit, t.Reason = string(c.Exit), c.Reason
		t.Retry.because(c.Reason)
		disposeTask(tx, t)
	case task.Canceled:
		if t.Cleanup == nil {
			t.Cleanup = nothingToClean()
		}
	case task.Blocked:
		t.Blocked = &Blocked{Kind: BlockedApproval, Task: t.ID, Error: effect.Fault{Class: pawl.ClassPolicyDenied,
			Code: pawl.CodeApprovalNeeded, Key: "kernel.blocked_by_hand", Args: []string{c.Reason}}}
	case task.Queued:
		t.Due = tx.now
		if t.State == string(task.Blocked) {
			// The person who unblocks is the approval; it is recorded with the move (docs/spec/task.md#d6).
			tx.Approval = &Approval{About: "unblock", Subject: t.ID, Hash: t.PlanHash, AnsweredBy: tx.env.Actor,
				AnsweredAt: tx.now, Note: c.Reason}
			tx.create(tx.Approval, KindApproval, "", t.ID, ApprovalGranted)
			tx.record(tx.Approval, AuditApprovalGranted, audit.Info, map[string]any{"about": "unblock", "task": t.ID})
		}
	}
}

// Decide asks for the gates of a task that is moved by hand, or that its runner has finished.
func (c *RequestGates) Decide(tx *Tx) error {
	t := tx.Task
	if t == nil {
		return pawl.Fail(pawl.CodeNotFound, "kernel.task_not_found", c.Task)
	}
	if c.Token != 0 {
		return finishTask(tx, c)
	}
	if t.State != string(task.Verifying) {
		return pawl.Fail(pawl.CodeInvalidTransition, "kernel.gates_when_verifying", t.Label, t.State)
	}
	if t.Effect != "" {
		tx.result = t.Effect
		return nil
	}
	tx.result = emitGates(tx, 0).ID
	return nil
}

// finishTask hands a task over to verification under its runner's lease, and begins its gates. Asked again, it answers
// with the gates at work; gates that another lease or a person asked for are dropped, as they prove nothing about this
// runner's work.
func finishTask(tx *Tx, c *RequestGates) error {
	t := tx.Task
	if t.State != string(task.Verifying) {
		if err := (&Transition{Task: t.ID, To: task.Verifying, Token: c.Token, Reason: "finished by " +
			c.Owner}).Decide(tx); err != nil {
			return err
		}
	} else if t.Session != "" || t.Epoch != c.Token {
		return pawl.Fail(pawl.CodeFenced, "kernel.lease_lost", t.Label)
	}
	if t.Effect != "" {
		if e := tx.Effect; e != nil && e.ID == t.Effect && e.lease() == c.Token {
			if e.State == EffectRunning {
				tx.result = e.Effect
				return nil
			}
			return (&Begin{Effect: e.ID, Owner: c.Owner}).Decide(tx)
		}
		dropEffect(tx)
	}
	tx.Effect = emitGates(tx, c.Token)
	return (&Begin{Effect: tx.Effect.ID, Owner: c.Owner}).Decide(tx)
}

// emitGates asks for the gates of a task outside a run, by hand or under a lease.
func emitGates(tx *Tx, lease int64) *EffectDoc {
	var checks []effect.Check
	for _, g := range tx.Task.Gates {
		checks = append(checks, effect.Check{Name: g, Kind: "gate"})
	}
	return tx.emit(effect.KindGates, effect.VerifySpec{
		Checks: checks, StopOnFail: true, Required: true, PerCheck: tx.Config.PerCheck, Lease: lease,
	}, true)
}

// Decide makes a new draft from a task that ended (docs/spec/task.md#restart).
func (*RestartTask) Decide(tx *Tx) error {
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
	tx.record(tx.Task, AuditTaskRestarted, audit.Info, map[string]any{"restart_source": old.ID})
	return nil
}

// Decide prolongs a lease. It is no state change and leaves no record.
func (c *Heartbeat) Decide(tx *Tx) error {
	t := tx.Task
	if t == nil {
		return pawl.Fail(pawl.CodeNotFound, "kernel.task_not_found", c.Task)
	}
	if t.Epoch != c.Token || t.Lease.Owner == "" {
		return pawl.Fail(pawl.CodeFenced, "kernel.lease_lost", t.Label)
	}
	t.Lease.Expires = tx.now.Add(tx.Config.LeaseTime)
	tx.touch(t)
	return nil
}

// progressStates are the states that the words of update_progress ask for.
var progressStates = map[string]task.State{"PENDING": task.Queued, "DONE": task.Done, "BLOCKED": task.Blocked}

func (c *UpdateProgress) Decide(tx *Tx) error {
	t := tx.Task
	if t == nil {
		return pawl.Fail(pawl.CodeNotFound, "kernel.task_not_found", c.Task)
	}
	if len(c.Summary) > maxNote {
		return pawl.Fail(pawl.CodeInvalid, "kernel.note_size", "summary", maxNote)
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
			if err := (&Transition{Task: t.ID, To: to, Reason: note(c.Summary)}).Decide(tx); err != nil {
				return err
			}
		}
	}
	if strings.TrimSpace(c.Summary) != "" {
		t.Progress = &Progress{Text: strings.TrimSpace(c.Summary), By: tx.env.Actor, At: tx.now}
		tx.record(t, AuditTaskProgress, audit.Info, map[string]any{"summary": c.Summary, "status": t.State})
	}
	tx.result = t.ID
	return nil
}
