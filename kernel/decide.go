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
		tx := begin(s, env, now)
		return decision(tx, c.Decide(tx))
	}
	if err := forAgents(env); err != nil {
		return Decision{}, err
	}
	tx := begin(s, env, now)
	err := claimHolds(tx)
	if err == nil {
		err = flowFree(tx)
	}
	if err == nil && tx.Session == nil && ofBoard(env.Command) {
		err = pawl.Fail(pawl.CodeNotFound, "kernel.not_initialised")
	}
	if err == nil {
		err = env.Command.Decide(tx)
	}
	if err == nil {
		keepSilence(tx)
		err = followBoard(tx)
	}
	return decision(tx, err)
}

// decision returns what was decided, or nothing where it was refused.
func decision(tx *Tx, err error) (Decision, error) {
	if err != nil {
		return Decision{}, err
	}
	return Decision{Touched: tx.touched, Entries: tx.entries, Result: tx.result}, nil
}

// agentCommand is a command that an agent may give, some in certain forms only.
type agentCommand interface{ forAgents() bool }

func (*RecordError) forAgents() bool      { return true }
func (*SaveDecision) forAgents() bool     { return true }
func (*CreateTask) forAgents() bool       { return true }
func (*Ask) forAgents() bool              { return true }
func (c *UpdateProgress) forAgents() bool { return c.Status == "" }
func (c *Start) forAgents() bool          { return c.AutoApprove == "" && c.RunMode != pawl.Autonomous }

// forAgents refuses what an agent must never do, by whatever way it comes: it reports, asks and proposes. Approving, undoing
// and moving tasks are for people, and for the policies that they wrote.
func forAgents(env *Envelope) error {
	if env.Actor.Kind() != pawl.KindAgent {
		return nil
	}
	if c, ok := env.Command.(agentCommand); ok && c.forAgents() {
		return nil
	}
	return pawl.Fail(pawl.CodeDenied, "kernel.not_for_agents", string(env.Actor))
}

// apply makes the moves of one row of the composition table, in order.
func (tx *Tx) apply(what Happening, reason string) error {
	row, ok := compositions()[what]
	if !ok {
		return pawl.Fail(pawl.CodeInternal, "kernel.unknown_happening", string(what))
	}
	if unmet := row.Unmet(tx.states()); unmet != "" {
		return pawl.Fail(pawl.CodeInternal, "kernel.unmet", row.ID, string(unmet))
	}
	defer turnMoved(tx, tx.Turn, turnParked(tx))
	for _, r := range row.Raises {
		if r.Kind == KindPhase {
			if err := movePhase(tx, board.Event(r.Event), reason); err != nil {
				return err
			}
			continue
		}
		e := tx.on(r.Kind)
		if e == nil {
			if r.May {
				continue
			}
			return pawl.Fail(pawl.CodeInternal, "kernel.no_row", string(what), string(r.Kind))
		}
		when := r.When
		if r.Kind == KindFlow && r.Event == string(workflow.CommandGiven) {
			when = commandOr(tx, r.When)
		}
		if r.Kind == KindIssue && r.Event == string(board.PlanFailed) && tx.Issue.Failures >= board.MaxPlanFailures {
			when = board.PlanGivenUp // which of the two rows applies is a matter of the count alone
		}
		if r.May && !tx.has(e, r.Event, when) {
			continue
		}
		if err := tx.move(e, r.Event, when, reason, nil); err != nil {
			return err
		}
	}
	return nil
}

// states are the states of the run together, as the decision has them.
func (tx *Tx) states() (s States) {
	for _, kind := range []Kind{KindSession, KindTurn, KindTask, KindFlow, KindRun, KindIssue, KindItem} {
		if e := tx.on(kind); e != nil {
			s = s.With(kind, e.hot().State)
		}
	}
	if tx.Run != nil {
		s.Phase = board.PhaseStatus(tx.Run.Phase)
	}
	return s
}

// on returns the row of a kind that the composition speaks of, or nil.
func (tx *Tx) on(kind Kind) Document {
	switch {
	case kind == KindSession && tx.Session != nil:
		return tx.Session
	case kind == KindTurn && tx.Turn != nil:
		return tx.Turn
	case kind == KindTask && tx.Task != nil:
		return tx.Task
	case kind == KindFlow && tx.Flow != nil:
		return tx.Flow
	case kind == KindRun && tx.Run != nil:
		return tx.Run
	case kind == KindIssue && tx.Issue != nil:
		return tx.Issue
	case kind == KindItem && tx.Item != nil:
		return tx.Item
	}
	return nil
}

// emit commits an effect to be done. It belongs to the task when there is one at work, else to the session.
func (tx *Tx) emit(kind effect.Kind, spec any, idempotent bool) *EffectDoc {
	e := &EffectDoc{}
	parent := tx.Session
	owner := ""
	if parent != nil {
		owner = parent.ID
	}
	place := effect.Place{}
	if tx.Run != nil {
		place, owner = tx.Run.Place, tx.Run.ID
	} else if parent != nil {
		place = parent.Place
	}
	forTask := tx.Task != nil && !sessionEffect(kind)
	if forTask {
		place, owner = tx.Task.Place, tx.Task.ID
	}
	tx.create(e, KindEffect, "", owner, EffectPending)
	e.Effect = effect.Effect{
		ID: e.ID, Kind: kind, Idempotent: idempotent, Place: place, Spec: effect.Encode(spec),
	}
	if parent != nil {
		e.Effect.Session = parent.ID
	}
	if tx.Turn != nil {
		e.Effect.Turn = tx.Turn.ID
	}
	if forTask {
		e.Effect.Task = tx.Task.ID
		tx.Task.Effect = e.ID
		tx.touch(tx.Task)
	} else if parent != nil {
		parent.Effect = e.ID
		tx.touch(parent)
	}
	tx.record(e, AuditEffectRequested, audit.Info, map[string]any{"effect": kind, "idempotent": idempotent})
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
