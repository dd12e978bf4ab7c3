package kernel

import (
	"encoding/json"
	"slices"
	"strings"

	"pawl"
	"pawl/kernel/audit"
	"pawl/kernel/effect"
	"pawl/machine/task"
)

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
	if t != nil && t.Session != "" && c.To == task.Queued && !HoldsRun(tx, t) {
		return pawl.Fail(pawl.CodeInvalidTransition, "kernel.task_left", t.Label)
	}
	if t != nil && t.Session != "" && c.To != task.Canceled {
		return pawl.Fail(pawl.CodeInvalidTransition, "kernel.task_of_run", t.Label, string(c.To))
	}
	if t != nil && t.Session != "" {
		t.Reason = c.Reason
		return Take(tx, ThenCancel)
	}
	return c.alone(tx)
}

// Decide records the refusal.
func (c *NoteRefusal) Decide(tx *Tx) error {
	if tx.Task == nil {
		return pawl.Fail(pawl.CodeNotFound, "kernel.task_not_found", c.Task)
	}
	tx.Record(tx.Task, AuditModeRefused, audit.Warn, map[string]any{"rule": c.Rule, "refusal": c.Refusal})
	return nil
}

// alone moves a task that belongs to no run.
func (c *Transition) alone(tx *Tx) error {
	t := tx.Task
	if t == nil {
		return pawl.Fail(pawl.CodeNotFound, "kernel.task_not_found", c.Task)
	}
	r, ok := task.Table.Between(task.State(t.State), c.To)
	if !ok {
		return task.Refusal(task.State(t.State), c.To)
	}
	if !r.Admits(tx.Env.Actor.Kind()) {
		return pawl.Fail(pawl.CodeInvalidTransition, "kernel.actor_refused", string(tx.Env.Actor), r.ID,
			kindsOf(r.Actors, r.AlsoActors)).At(r.ID, "actor")
	}
	if c.To == task.Approved || c.To == task.Queued && t.State == string(task.Blocked) { // a word that is an approval
		if err := PersonsWord(tx, t, "task", "", string(c.To), c.Reason); err != nil {
			return err
		}
	}
	meta, err := metadata(c.Metadata)
	if err != nil {
		return err
	}
	retried := c.To == task.Queued && (t.State == string(task.Failed) || t.State == string(task.Verifying))
	if retried {
		if err := AskRetry(tx, t); err != nil {
			return err
		}
	}
	prepareMove(tx, t, c)
	if err := tx.Move(t, string(r.On), r.When, c.Reason, meta); err != nil {
		return err
	}
	if retried {
		CountRetry(tx, t, 0)
	}
	tx.Result = t.Epoch
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
		t.Lease = Lease{Owner: c.Owner, Expires: tx.Now.Add(tx.Config.LeaseTime)}
		tx.leased = true
	case task.Failed:
		t.Exit, t.Reason = string(c.Exit), c.Reason
		t.Retry.Because(c.Reason)
		DisposeTask(tx, t)
	case task.Canceled:
		if t.Cleanup == nil {
			t.Cleanup = NothingToClean()
		}
	case task.Blocked:
		t.Blocked = &Blocked{Kind: BlockedApproval, Task: t.ID, Error: effect.Fault{Class: pawl.ClassPolicyDenied,
			Code: pawl.CodeApprovalNeeded, Key: "kernel.blocked_by_hand", Args: []string{c.Reason}}}
	case task.Queued:
		t.Due = tx.Now
		if t.State == string(task.Blocked) {
			// The person who unblocks is the approval; it is recorded with the move (docs/spec/task.md#d6).
			allowUnblock(tx, t, c.Reason, "", map[string]any{})
		}
	}
}
