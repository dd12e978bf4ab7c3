package kernel

import (
	"pawl"
	"pawl/kernel/audit"
	"pawl/kernel/effect"
	"pawl/kernel/view"
	"pawl/machine/session"
	"pawl/machine/workflow"
	"slices"
	"strings"
)

// Decide carries out a command that is no flow. A command that writes is refused while a flow runs
// (docs/spec/workflow.md#c2).
func (c *Order) Decide(tx *Tx) error {
	s := tx.Session
	if s == nil || tx.Flow == nil {
		return pawl.Fail(pawl.CodeNotFound, "kernel.not_initialised")
	}
	if c.Kind == effect.KindPrepare {
		return prepareDependencies(tx, c)
	}
	if _, err := workflow.Command(c.Command, tx.Flow.Vars); err != nil {
		return err
	}
	if info, _ := workflow.LookupCommand(c.Command); info.Flow() || !c.Kind.Ordered() {
		return pawl.Fail(pawl.CodeInternal, "kernel.no_order", c.Command, string(c.Kind))
	}
	if s.State != string(session.Idle) || s.Effect != "" {
		return pawl.Fail(pawl.CodeBusy, "kernel.session_active", s.State, s.Goal)
	}
	e := tx.emit(c.Kind, c.Spec, c.Idempotent)
	e.Effect.Place.Tree = e.Effect.Place.Workspace
	tx.record(s, AuditCommandGiven, audit.Info, map[string]any{"command": c.Command, "effect": e.ID})
	tx.result = e.ID
	return nil
}

// prepareDependencies has dependencies fetched. It is no ~command, changes nothing but a cache of pawl's own, and is
// what a person is told to do where a plan waits for a word or work stopped for the want of dependencies, so that it is
// let through there, too.
func prepareDependencies(tx *Tx, c *Order) error {
	s := tx.Session
	resting := s.State == string(session.Idle) || s.State == string(session.Confirming) ||
		s.State == string(session.Blocked)
	if !resting || s.Effect != "" || tx.Task != nil && tx.Task.Effect != "" {
		return pawl.Fail(pawl.CodeBusy, "kernel.session_active", s.State, s.Goal)
	}
	if tx.Config.Profile.NoNetwork {
		return pawl.Fail(pawl.CodeDenied, "kernel.prepare_no_network")
	}
	spec, err := effect.Decode[effect.PrepareSpec](c.Spec)
	if err != nil {
		return err
	}
	e := tx.emit(c.Kind, c.Spec, c.Idempotent)
	if e.Effect.Place.Tree = e.Effect.Place.Workspace; spec.Task && tx.Task != nil {
		e.Effect.Place = tx.Task.Place
	}
	tx.record(s, AuditCommandGiven, audit.Info, map[string]any{"command": c.Command, "effect": e.ID})
	tx.result = e.ID
	return nil
}

// carriedOut takes what came of it.
func carriedOut(tx *Tx, r effect.Receipt) error {
	s := tx.Session
	if s == nil {
		return nil
	}
	if tx.Effect.What() == effect.KindTest {
		if result, err := effect.Decode[effect.VerifyResult](r.Result); err == nil {
			s.remember(result, tx.now)
		}
	}
	if s.State == string(session.Idle) { // elsewhere it says why work stopped
		s.LastError = nil
		if !r.OK {
			kept := info(r.Err())
			s.LastError = &kept
		}
	}
	tx.record(s, AuditCommandDone, level(r.OK), map[string]any{"effect": tx.Effect.ID, "kind": tx.Effect.What(),
		"code": r.Code})
	return nil
}

// Decide asks for a checkpoint on request. While work is at hand the work makes its own, and its tree is not still.
func (*CreateCheckpoint) Decide(tx *Tx) error {
	s := tx.Session
	switch {
	case s == nil:
		return pawl.Fail(pawl.CodeNotFound, "kernel.not_initialised")
	case s.State != string(session.Idle) || s.Effect != "":
		return pawl.Fail(pawl.CodeBusy, "kernel.session_active", s.State, s.Goal)
	}
	tx.Task, tx.Run, tx.Turn = nil, nil, nil
	e := tx.emit(effect.KindCheckpoint, effect.CheckpointSpec{Name: checkpointName(tx)}, true)
	tx.result = e.ID
	return nil
}

// checkpointMade takes a checkpoint that was made on request. It becomes the newest one and changes nothing else.
func checkpointMade(tx *Tx, r effect.Receipt) error {
	s := tx.Session
	made, err := effect.Decode[effect.CheckpointResult](r.Result)
	if !r.OK || err != nil {
		kept := info(firstError(r.Err(), err))
		s.LastError = &kept
		tx.record(s, AuditCheckpointFailed, audit.Warn, kept)
		return nil
	}
	keepCheckpoint(tx, CheckpointDoc{CheckpointResult: made, Place: tx.Effect.Effect.Place}, s.ID, "requested")
	s.LastCheckpoint, s.LastError = made.Name, nil
	tx.touch(s)
	return nil
}

// notable refuses a text that says nothing or far too much.
func notable(field, text string) error {
	if n := len(strings.TrimSpace(text)); n == 0 || n > maxNote {
		return pawl.Fail(pawl.CodeInvalid, "kernel.note_size", field, maxNote)
	}
	return nil
}

// read finds whether the decision to be replaced is there. Decisions are never removed, so that it still is when the
// command is committed.
func (c *SaveDecision) read(r *reads, _ *Snapshot) error {
	if c.Replaces == "" {
		return nil
	}
	if f := r.get(byID(KindDecision, c.Replaces).hot()); f != nil && len(f.rows) == 0 {
		return pawl.Fail(pawl.CodeNotFound, "kernel.decision_not_found", c.Replaces)
	}
	return nil
}

func (c *SaveDecision) Decide(tx *Tx) error {
	i := slices.IndexFunc(view.DecisionTypes(), func(t string) bool { return strings.EqualFold(t, c.Type) })
	switch {
	case tx.Session == nil:
		return pawl.Fail(pawl.CodeNotFound, "kernel.not_initialised")
	case i < 0:
		return pawl.Fail(pawl.CodeInvalid, "kernel.decision_type", c.Type, strings.Join(view.DecisionTypes(), ", "))
	}
	if err := notable("content", c.Content); err != nil {
		return err
	}
	d := &Ruling{Type: view.DecisionTypes()[i], Content: strings.TrimSpace(c.Content), Replaces: c.Replaces,
		By: tx.env.Actor}
	tx.create(d, KindDecision, "", tx.Session.ID, "")
	tx.record(d, AuditDecisionSaved, audit.Info, map[string]any{"decision_type": d.Type, "content": d.Content,
		"replaces": d.Replaces})
	tx.result = d.ID
	return nil
}

func (c *RecordError) Decide(tx *Tx) error {
	if tx.Session == nil {
		return pawl.Fail(pawl.CodeNotFound, "kernel.not_initialised")
	}
	for _, f := range [][2]string{{"error_type", c.Type}, {"root_cause", c.RootCause}, {"fix_solution", c.Fix}} {
		if err := notable(f[0], f[1]); err != nil {
			return err
		}
	}
	if len(c.Scope) > maxNote {
		return pawl.Fail(pawl.CodeInvalid, "kernel.note_size", "scope", maxNote)
	}
	i := &Incident{
		Type: strings.TrimSpace(c.Type), RootCause: strings.TrimSpace(c.RootCause), Fix: strings.TrimSpace(c.Fix),
		Scope: strings.TrimSpace(c.Scope), By: tx.env.Actor,
	}
	tx.create(i, KindIncident, "", tx.Session.ID, "")
	tx.record(i, AuditErrorRecorded, audit.Info, i)
	tx.result = i.ID
	return nil
}
