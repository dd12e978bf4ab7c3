// Package orders carries out what is asked for beside the work: ~commands that are no flow, notes and checkpoints.
package orders

import (
	"slices"
	"strings"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/audit"
	"pawl/kernel/effect"
	"pawl/kernel/view"
	"pawl/machine/session"
	"pawl/machine/workflow"
)

// Decide carries out a command that is no flow. A command that writes is refused while a flow runs
// (docs/spec/workflow.md#c2).
func (c *Order) Decide(tx *kernel.Tx) error {
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
	e := tx.Emit(c.Kind, c.Spec, c.Idempotent)
	e.Effect.Place.Tree = e.Effect.Place.Workspace
	tx.Record(s, kernel.AuditCommandGiven, audit.Info, map[string]any{"command": c.Command, "effect": e.ID})
	tx.Result = e.ID
	return nil
}

// prepareDependencies has dependencies fetched. It is no ~command, changes nothing but a cache of pawl's own, and is
// what a person is told to do where a plan waits for a word or work stopped for the want of dependencies, so that it is
// let through there, too.
func prepareDependencies(tx *kernel.Tx, c *Order) error {
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
	e := tx.Emit(c.Kind, c.Spec, c.Idempotent)
	if e.Effect.Place.Tree = e.Effect.Place.Workspace; spec.Task && tx.Task != nil {
		e.Effect.Place = tx.Task.Place
	}
	tx.Record(s, kernel.AuditCommandGiven, audit.Info, map[string]any{"command": c.Command, "effect": e.ID})
	tx.Result = e.ID
	return nil
}

// CarriedOut takes what came of it.
func CarriedOut(tx *kernel.Tx, r effect.Receipt) error {
	s := tx.Session
	if s == nil {
		return nil
	}
	if tx.Effect.What() == effect.KindTest {
		if result, err := effect.Decode[effect.VerifyResult](r.Result); err == nil {
			s.Known = s.Known.With(result, tx.Now)
		}
	}
	if s.State == string(session.Idle) { // elsewhere it says why work stopped
		s.LastError = nil
		if !r.OK {
			kept := kernel.Info(r.Err())
			s.LastError = &kept
		}
	}
	tx.Record(s, kernel.AuditCommandDone, kernel.Level(r.OK),
		map[string]any{"effect": tx.Effect.ID, "kind": tx.Effect.What(),
			"code": r.Code})
	return nil
}

// Decide asks for a checkpoint on request. While work is at hand the work makes its own, and its tree is not still.
func (*CreateCheckpoint) Decide(tx *kernel.Tx) error {
	s := tx.Session
	switch {
	case s == nil:
		return pawl.Fail(pawl.CodeNotFound, "kernel.not_initialised")
	case s.State != string(session.Idle) || s.Effect != "":
		return pawl.Fail(pawl.CodeBusy, "kernel.session_active", s.State, s.Goal)
	}
	tx.Task, tx.Run, tx.Turn = nil, nil, nil
	e := tx.Emit(effect.KindCheckpoint, effect.CheckpointSpec{Name: kernel.CheckpointName(tx)}, true)
	tx.Result = e.ID
	return nil
}

// CheckpointMade takes a checkpoint that was made on request. It becomes the newest one and changes nothing else.
func CheckpointMade(tx *kernel.Tx, r effect.Receipt) error {
	s := tx.Session
	made, err := effect.Decode[effect.CheckpointResult](r.Result)
	if !r.OK || err != nil {
		kept := kernel.Info(kernel.FirstError(r.Err(), err))
		s.LastError = &kept
		tx.Record(s, kernel.AuditCheckpointFailed, audit.Warn, kept)
		return nil
	}
	kernel.KeepCheckpoint(tx, kernel.CheckpointDoc{CheckpointResult: made, Place: tx.Effect.Effect.Place}, s.ID,
		"requested")
	s.LastCheckpoint, s.LastError = made.Name, nil
	tx.Touch(s)
	return nil
}

// notable refuses a text that says nothing or far too much.
func notable(field, text string) error {
	if n := len(strings.TrimSpace(text)); n == 0 || n > kernel.MaxNote {
		return pawl.Fail(pawl.CodeInvalid, "kernel.note_size", field, kernel.MaxNote)
	}
	return nil
}

// Read finds whether the decision to be replaced is there. Decisions are never removed, so that it still is when the
// command is committed.
func (c *SaveDecision) Read(r *kernel.Reads, _ *kernel.Snapshot) error {
	if c.Replaces == "" {
		return nil
	}
	if f := r.Get(kernel.ByID(kernel.KindDecision, c.Replaces).Hot()); f != nil && len(f.Rows) == 0 {
		return pawl.Fail(pawl.CodeNotFound, "kernel.decision_not_found", c.Replaces)
	}
	return nil
}

func (c *SaveDecision) Decide(tx *kernel.Tx) error {
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
	d := &kernel.Ruling{Type: view.DecisionTypes()[i], Content: strings.TrimSpace(c.Content), Replaces: c.Replaces,
		By: tx.Env.Actor}
	tx.Create(d, kernel.KindDecision, "", tx.Session.ID, "")
	tx.Record(d, kernel.AuditDecisionSaved, audit.Info, map[string]any{"decision_type": d.Type, "content": d.Content,
		"replaces": d.Replaces})
	tx.Result = d.ID
	return nil
}

func (c *RecordError) Decide(tx *kernel.Tx) error {
	if tx.Session == nil {
		return pawl.Fail(pawl.CodeNotFound, "kernel.not_initialised")
	}
	for _, f := range [][2]string{{"error_type", c.Type}, {"root_cause", c.RootCause}, {"fix_solution", c.Fix}} {
		if err := notable(f[0], f[1]); err != nil {
			return err
		}
	}
	if len(c.Scope) > kernel.MaxNote {
		return pawl.Fail(pawl.CodeInvalid, "kernel.note_size", "scope", kernel.MaxNote)
	}
	i := &kernel.Incident{
		Type: strings.TrimSpace(c.Type), RootCause: strings.TrimSpace(c.RootCause), Fix: strings.TrimSpace(c.Fix),
		Scope: strings.TrimSpace(c.Scope), By: tx.Env.Actor,
	}
	tx.Create(i, kernel.KindIncident, "", tx.Session.ID, "")
	tx.Record(i, kernel.AuditErrorRecorded, audit.Info, i)
	tx.Result = i.ID
	return nil
}
