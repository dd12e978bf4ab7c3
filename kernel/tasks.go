package kernel

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"pawl"
	"pawl/audit"
	"pawl/effect"
	"pawl/machine/task"
)

// clerk decides about single tasks (docs/spec/task.md#transition).
type clerk struct{ *work }

// createTask makes a draft outside a run.
func (w clerk) createTask(c *CreateTask) error {
	if w.Session == nil {
		return pawl.Fail(pawl.CodeNotFound, "kernel.not_initialised")
	}
	if strings.TrimSpace(c.Title) == "" {
		return pawl.Fail(pawl.CodeInvalid, "kernel.title_empty")
	}
	if _, err := w.Config.modeOf(c.Mode); err != nil {
		return err
	}
	w.Session.Tasks++
	w.touch(w.Session)
	t := &Task{Title: strings.TrimSpace(c.Title), By: w.env.Actor, Mode: c.Mode, Number: w.Session.Tasks, Place: c.Place, Gates: c.Gates}
	if len(t.Gates) == 0 {
		t.Gates = w.Config.Gates
	}
	w.Task = t
	w.create(t, KindTask, fmt.Sprintf("T-%03d", t.Number), "", string(task.Table.Initial()))
	w.record(t, "TASK_CREATED", audit.Info, map[string]any{"title": t.Title, "mode": t.modeName()})
	w.result = t.ID
	return nil
}

// refuseEarly answers the two commonest outcomes of transition() (docs/spec/task.md#s4-1) without preparing a decision:
// the state is the present one already, or no row leads there. It allocates nothing.
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

// transition is the one of docs/spec/task.md#s4-1: one move of one task. Tasks of a run are moved by the run; only what
// a person may do to them is allowed here.
func (w clerk) transition(c *Transition) error {
	t := w.Task
	if t == nil {
		return pawl.Fail(pawl.CodeNotFound, "kernel.task_not_found", c.Task)
	}
	if t.Session != "" && c.To != task.Canceled {
		return pawl.Fail(pawl.CodeInvalidTransition, "kernel.task_of_run", t.Label, string(c.To))
	}
	if t.Session != "" {
		return w.cancelTask(&CancelTask{Task: c.Task, Reason: c.Reason})
	}
	r, ok := task.Table.Between(task.State(t.State), c.To)
	if !ok {
		return task.Refusal(task.State(t.State), c.To)
	}
	if !r.Admits(w.env.Actor.Kind()) {
		return pawl.Fail(pawl.CodeInvalidTransition, "kernel.actor_refused", string(w.env.Actor), r.ID, kindsOf(r.Actors, r.AlsoActors)).At(r.ID, "actor")
	}
	meta, err := metadata(c.Metadata)
	if err != nil {
		return err
	}
	retried := c.To == task.Queued && (t.State == string(task.Failed) || t.State == string(task.Verifying))
	w.prepareMove(t, c)
	if err := w.move(t, string(r.On), r.When, c.Reason, meta); err != nil {
		return err
	}
	if retried {
		prover{w.work}.countRetry(t, 0)
	}
	if task.State(t.State).Terminal() {
		w.release(t)
	}
	w.result = t.Epoch
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
func (w clerk) prepareMove(t *Task, c *Transition) {
	switch c.To {
	case task.Running:
		t.Epoch++
		t.Lease = Lease{Owner: c.Owner, Expires: w.now.Add(w.Config.LeaseTime)}
		w.leased = true
	case task.Failed:
		t.Exit, t.Reason = string(c.Exit), c.Reason
		t.Retry.because(c.Reason)
		w.dispose(t)
	case task.Canceled:
		if t.Cleanup == nil {
			t.Cleanup = nothingToClean()
		}
	case task.Blocked:
		t.Blocked = &Blocked{Kind: BlockedApproval, Task: t.ID, Error: ErrorInfo{Class: pawl.ClassPolicyDenied, Code: pawl.CodeApprovalNeeded, Key: "kernel.blocked_by_hand", Args: []string{c.Reason}}}
	case task.Queued:
		t.Due = w.now
		if t.State == string(task.Blocked) {
			// The person who unblocks is the approval; it is recorded with the move (docs/spec/task.md#d6).
			w.Approval = &Approval{About: "unblock", Subject: t.ID, Hash: t.PlanHash, AnsweredBy: w.env.Actor, AnsweredAt: w.now, Note: c.Reason}
			w.create(w.Approval, KindApproval, "", t.ID, ApprovalGranted)
			w.record(w.Approval, "APPROVAL_GRANTED", audit.Info, map[string]any{"about": "unblock", "task": t.ID})
		}
	}
}

// requestGates asks for the gates of a task that is moved by hand, or that its runner has finished.
func (w clerk) requestGates(c *RequestGates) error {
	t := w.Task
	if t == nil {
		return pawl.Fail(pawl.CodeNotFound, "kernel.task_not_found", c.Task)
	}
	if c.Token != 0 {
		return w.finish(c)
	}
	if t.State != string(task.Verifying) {
		return pawl.Fail(pawl.CodeInvalidTransition, "kernel.gates_when_verifying", t.Label, t.State)
	}
	if t.Effect != "" {
		w.result = t.Effect
		return nil
	}
	w.result = w.emitGates(0).ID
	return nil
}

// finish hands a task over to verification under its runner's lease, and begins its gates. Asked again, it answers with the
// gates at work; gates that another lease or a person asked for are dropped, as they prove nothing about this runner's work.
func (w clerk) finish(c *RequestGates) error {
	t := w.Task
	if t.State != string(task.Verifying) {
		if err := w.transition(&Transition{Task: t.ID, To: task.Verifying, Token: c.Token, Reason: "finished by " + c.Owner}); err != nil {
			return err
		}
	} else if t.Session != "" || t.Epoch != c.Token {
		return pawl.Fail(pawl.CodeFenced, "kernel.lease_lost", t.Label)
	}
	if t.Effect != "" {
		if e := w.Effect; e != nil && e.ID == t.Effect && e.lease() == c.Token {
			if e.State == EffectRunning {
				w.result = e.Effect
				return nil
			}
			return courier{w.work}.beginEffect(&Begin{Effect: e.ID, Owner: c.Owner})
		}
		desk{w.work}.dropEffect()
	}
	w.Effect = w.emitGates(c.Token)
	return courier{w.work}.beginEffect(&Begin{Effect: w.Effect.ID, Owner: c.Owner})
}

// emitGates asks for the gates of a task outside a run, by hand or under a lease.
func (w clerk) emitGates(lease int64) *EffectDoc {
	var checks []effect.Check
	for _, g := range w.Task.Gates {
		checks = append(checks, effect.Check{Name: g, Kind: "gate"})
	}
	return w.emit(effect.KindGates, effect.VerifySpec{
		Checks: checks, StopOnFail: true, Required: true, PerCheck: w.Config.PerCheck, Lease: lease,
	}, true)
}

// cancelTask cancels at once what is not at work, and asks what is at work to stop and clean up first
// (docs/spec/task.md#d16).
func (w clerk) cancelTask(c *CancelTask) error {
	t := w.Task
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
	if t.Session == "" || at == task.Blocked && !w.holdsRun(t) {
		if t.Cleanup == nil {
			t.Cleanup = nothingToClean()
		}
		return w.move(t, string(task.Cancel), "", note(c.Reason), nil)
	}
	switch at {
	case task.Draft:
		return desk{w.work}.declinePlan(c.Reason, "canceled")
	case task.Blocked:
		return medic{w.work}.skip(&Skip{Reason: c.Reason})
	}
	if !t.CancelAt.IsZero() {
		return nil
	}
	t.CancelAt, t.CancelBy = w.now, w.env.Actor
	w.record(t, "TASK_CANCEL_REQUESTED", audit.Info, map[string]any{"reason": c.Reason, "by": w.env.Actor})
	if w.Effect != nil && w.Effect.ID == t.Effect && w.Effect.State == EffectRunning {
		return nil
	}
	desk{w.work}.dropEffect()
	return courier{w.work}.beginCleanup()
}

// holdsRun reports whether the task is the one that the session's present run is about.
func (w clerk) holdsRun(t *Task) bool {
	return w.Run != nil && w.Session.Run == w.Run.ID && w.Run.Task == t.ID
}

// restartTask makes a new draft from a task that ended (docs/spec/task.md#restart).
func (w clerk) restartTask() error {
	old := w.Task
	if old == nil {
		return pawl.Fail(pawl.CodeNotFound, "kernel.task_not_found", "")
	}
	if !task.State(old.State).Terminal() {
		return pawl.Fail(pawl.CodeInvalidTransition, "kernel.restart_when_ended", old.Label, old.State)
	}
	if err := w.createTask(&CreateTask{Title: old.Title, Mode: old.Mode, Gates: old.Gates, Place: old.Place}); err != nil {
		return err
	}
	w.Task.Restart = old.ID
	w.record(w.Task, "TASK_RESTARTED", audit.Info, map[string]any{"restart_source": old.ID})
	return nil
}

// heartbeat prolongs a lease. It is no state change and leaves no record.
func (w clerk) heartbeat(c *Heartbeat) error {
	t := w.Task
	if t == nil {
		return pawl.Fail(pawl.CodeNotFound, "kernel.task_not_found", c.Task)
	}
	if t.Epoch != c.Token || t.Lease.Owner == "" {
		return pawl.Fail(pawl.CodeFenced, "kernel.lease_lost", t.Label)
	}
	t.Lease.Expires = w.now.Add(w.Config.LeaseTime)
	w.touch(t)
	return nil
}
