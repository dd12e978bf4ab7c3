// Package kernel decides and commits. Decide is a pure function from a snapshot of the store, a command and an instant to
// a decision: which rows change, by which rows of the published tables, with which records, and which effects are to
// happen. Do loads the snapshot, decides, seals the records and commits everything in one transaction; only then does a
// caller learn of it and only then may anything act on it (ARCHITECTURE.md, "Decide, commit, act, report").
//
// The same Decide serves production, the crash sweeps, the exploration of the joint machine and the dry run.
package kernel

import (
	"time"

	"pawl"
	"pawl/audit"
	"pawl/effect"
	"pawl/machine/board"
	"pawl/machine/workflow"
)

// Decision is what a command comes to: the documents that change, already in their new form, and the records that tell of
// it. Nothing of it has happened yet.
type Decision struct {
	// Touched are the documents to write, in the order in which they were first changed.
	Touched []Document
	Entries []audit.Entry
	// Result is the answer to the caller: an id, a token, or nil.
	Result any
}

// Changed reports whether there is anything to commit. A command that asks for what is already so changes nothing.
func (d *Decision) Changed() bool { return len(d.Touched) > 0 }

// Decide decides one command on a snapshot at an instant. It is a pure function: the same arguments give the same decision,
// and the snapshot is not changed. An error means that nothing is to be written.
func Decide(s *Snapshot, env *Envelope, now time.Time) (Decision, error) {
	if c, ok := env.Command.(*Transition); ok {
		if done, err := refuseEarly(s, c); done || err != nil {
			return Decision{}, err
		}
		// The commonest command is not handled with the others, so that the compiler sees that its work ends with this call.
		w := begin(s, env, now)
		return decision(w, clerk{w}.transition(c))
	}
	if err := forAgents(env); err != nil {
		return Decision{}, err
	}
	w := begin(s, env, now)
	err := registrar{w}.claimed()
	if err == nil {
		err = w.decide()
	}
	if err == nil {
		flows{w}.silence()
		err = registrar{w}.follow()
	}
	return decision(w, err)
}

// decision returns what was decided, or nothing where it was refused.
func decision(w *work, err error) (Decision, error) {
	if err != nil {
		return Decision{}, err
	}
	return Decision{Touched: w.touched, Entries: w.entries, Result: w.result}, nil
}

// forAgents refuses what an agent must never do, by whatever way it comes: it reports, asks and proposes. Approving, undoing
// and moving tasks are for people, and for the policies that they wrote.
func forAgents(env *Envelope) error {
	if env.Actor.Kind() != pawl.KindAgent {
		return nil
	}
	switch c := env.Command.(type) {
	case *RecordError, *SaveDecision, *CreateTask, *Ask:
		return nil
	case *UpdateProgress:
		if c.Status == "" {
			return nil
		}
	case *Start:
		if c.AutoApprove == "" && c.RunMode != pawl.Autonomous {
			return nil
		}
	}
	return pawl.Fail(pawl.CodeDenied, "kernel.not_for_agents", string(env.Actor))
}

// decide picks the handler of the command.
func (w *work) decide() error {
	if err := (nester{w}).free(); err != nil {
		return err
	}
	switch c := w.env.Command.(type) {
	case *Init:
		return planner{w}.init(c)
	case *Relocate:
		return planner{w}.relocate(c)
	case *Start:
		return planner{w}.start(c)
	case *Approve:
		return desk{w}.approve(c)
	case *Deny:
		return desk{w}.deny(c)
	case *Revise:
		return desk{w}.revise(c)
	case *Give:
		return planner{w}.give(c)
	case *EditPlan:
		return desk{w}.editPlan(c)
	case *Pause:
		return desk{w}.pause()
	case *Resume:
		return desk{w}.resume()
	case *Stop:
		return desk{w}.stop(c)
	case *CancelRun:
		return desk{w}.cancelRun(c)
	case *Fix:
		return medic{w}.fix(c)
	case *Skip:
		return medic{w}.skip(c)
	case *Rollback:
		return medic{w}.rollback(c)
	case *Undo:
		return undoer{w}.undo(c)
	case *Redo:
		return undoer{w}.redo(c)
	case *Order:
		return flows{w}.order(c)
	case *Choose:
		return flows{w}.choose(c)
	case *EnterTool:
		return nester{w}.enter(c)
	case *LeaveTool:
		return nester{w}.leave(c)
	}
	if ofBoard(w.env.Command) {
		return registrar{w}.decide()
	}
	return w.decideTask()
}

// decideTask picks the handler of a command about a task or an effect.
func (w *work) decideTask() error {
	switch c := w.env.Command.(type) {
	case *CreateTask:
		return clerk{w}.createTask(c)
	case *RequestGates:
		return clerk{w}.requestGates(c)
	case *CancelTask:
		return clerk{w}.cancelTask(c)
	case *RestartTask:
		return clerk{w}.restartTask()
	case *Claim:
		return stepper{w}.claim(c)
	case *Heartbeat:
		return clerk{w}.heartbeat(c)
	case *Begin:
		return courier{w}.beginEffect(c)
	case *Report:
		return courier{w}.report(c)
	case *Recover:
		return courier{w}.recover(c)
	case *Sweep:
		return courier{w}.sweep()
	case *Make:
		return caller{worker{w}}.make(c)
	case *Reserve:
		return cashier{w}.reserve(c)
	case *Settle:
		return cashier{w}.settled(c)
	case *Bind:
		return caller{worker{w}}.bind(c)
	}
	return w.decideContext()
}

// raise makes the moves of one row of the composition table, in order.
func (w *work) raise(what Happening, reason string) error {
	row, ok := compositions()[what]
	if !ok {
		return pawl.Fail(pawl.CodeInternal, "kernel.unknown_happening", string(what))
	}
	defer inquirer{w}.moved(w.Turn, inquirer{w}.parked())
	for _, r := range row.Raises {
		if r.Kind == KindPhase {
			if err := w.movePhase(board.Event(r.Event), reason); err != nil {
				return err
			}
			continue
		}
		e := w.on(r.Kind)
		if e == nil {
			if r.May {
				continue
			}
			return pawl.Fail(pawl.CodeInternal, "kernel.no_row", string(what), string(r.Kind))
		}
		when := r.When
		if r.Kind == KindFlow && r.Event == string(workflow.CommandGiven) {
			when = flows{w}.command(r.When)
		}
		if r.Kind == KindIssue && r.Event == string(board.PlanFailed) && w.Issue.Failures >= board.MaxPlanFailures {
			when = board.PlanGivenUp // which of the two rows applies is a matter of the count alone
		}
		if r.May && !w.has(e, r.Event, when) {
			continue
		}
		if err := w.move(e, r.Event, when, reason, nil); err != nil {
			return err
		}
	}
	return nil
}

// on returns the row of a kind that the composition speaks of, or nil.
func (w *work) on(kind Kind) Document {
	switch {
	case kind == KindSession && w.Session != nil:
		return w.Session
	case kind == KindTurn && w.Turn != nil:
		return w.Turn
	case kind == KindTask && w.Task != nil:
		return w.Task
	case kind == KindFlow && w.Flow != nil:
		return w.Flow
	case kind == KindRun && w.Run != nil:
		return w.Run
	case kind == KindIssue && w.Issue != nil:
		return w.Issue
	case kind == KindItem && w.Item != nil:
		return w.Item
	}
	return nil
}

// emit commits an effect to be done. It belongs to the task when there is one at work, else to the session.
func (w *work) emit(kind effect.Kind, spec any, idempotent bool) *EffectDoc {
	e := &EffectDoc{}
	parent := w.Session
	owner := ""
	if parent != nil {
		owner = parent.ID
	}
	place := effect.Place{}
	if w.Run != nil {
		place, owner = w.Run.Place, w.Run.ID
	} else if parent != nil {
		place = parent.Place
	}
	forTask := w.Task != nil && !sessionEffect(kind)
	if forTask {
		place, owner = w.Task.Place, w.Task.ID
	}
	w.create(e, KindEffect, "", owner, EffectPending)
	e.Effect = effect.Effect{
		ID: e.ID, Kind: kind, Idempotent: idempotent, Place: place, Spec: effect.Encode(spec),
	}
	if parent != nil {
		e.Effect.Session = parent.ID
	}
	if w.Turn != nil {
		e.Effect.Turn = w.Turn.ID
	}
	if forTask {
		e.Effect.Task = w.Task.ID
		w.Task.Effect = e.ID
		w.touch(w.Task)
	} else if parent != nil {
		parent.Effect = e.ID
		w.touch(parent)
	}
	w.record(e, "EFFECT_REQUESTED", audit.Info, map[string]any{"effect": kind, "idempotent": idempotent})
	return e
}

// sessionEffect reports whether an effect of the kind belongs to the session as a whole rather than to a task.
func sessionEffect(k effect.Kind) bool {
	switch k {
	case effect.KindIntake, effect.KindContext, effect.KindPlan, effect.KindArchive, effect.KindRevert:
		return true
	}
	return k.Ordered()
}

// info keeps an error as data.
func info(err error) ErrorInfo {
	r := effect.Failed(err)
	return ErrorInfo{Class: r.Class, Code: r.Code, Key: r.Key, Args: r.Args, Detail: r.Detail, Cause: r.Cause}
}

// Err returns the kept error as an error.
func (e *ErrorInfo) Err() error {
	return e.View().Err()
}
