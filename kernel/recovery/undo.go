package recovery

import (
	"slices"
	"strings"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/audit"
	"pawl/kernel/effect"
	"pawl/machine/session"
	"pawl/text/plan"
	"pawl/text/solution"
)

// Decide undoes the result of the last run, or one step of the run whose tree is there.
func (c *Undo) Decide(tx *kernel.Tx) error {
	if c.Step != "" {
		return undoStep(tx, c.Step)
	}
	return reverseRun(tx, c.Run, false)
}

// Decide brings the undone step or result back, whichever was undone last.
func (c *Redo) Decide(tx *kernel.Tx) error {
	if c.Run != "" {
		return reverseRun(tx, c.Run, true)
	}
	s, t := tx.Session, tx.Task
	blocked := s != nil && s.State == string(session.Blocked)
	if blocked || t != nil && tx.Run != nil && len(t.Undone) > 0 && !tx.Run.Undone {
		return redoStep(tx)
	}
	return reverseRun(tx, "", true)
}

// reverseRun undoes the result of a run or, again, brings it back. Named is the run's id where it was named.
func reverseRun(tx *kernel.Tx, named string, again bool) error {
	if err := reversible(tx, named, again); err != nil {
		return err
	}
	s, r, t := tx.Session, tx.Run, tx.Task
	switch {
	case r.InTree(t):
		spec := backToCheckpoint(tx, "before-undo-")
		if again && r.Restored != nil {
			spec.Spans, spec.Target, spec.Expect = nil, r.Restored.Before, r.Restored.After
		} else if again {
			spec.Spans, spec.Target, spec.Expect = nil, t.Tree, t.Checkpoint.Tree
		}
		spec.Name = "undo"
		restoredForSession(tx, tx.Emit(effect.KindRestore, spec, true))
	case r.Land.Outcome == effect.Landed:
		commit, verb := r.Land.Commit, "Undo: "
		if again {
			commit, verb = r.Revert.Commit, "Redo: "
		}
		tx.Emit(effect.KindRevert, effect.RevertSpec{
			Commit: commit, Branch: r.Land.Branch, Keep: "pawl/undo-" +
				t.Label, Subject: kernel.FirstLine(verb + t.Title), Body: "Reverts commit " + commit +
				".\n", At: tx.Now, Kept: r.Ignored.Or(t.Place.Kept),
		}, true)
	case r.Pull != nil && r.Pull.Number > 0:
		if err := closePull(tx, again); err != nil {
			return err
		}
	default:
		return pawl.Fail(pawl.CodeNotFound, "kernel.nothing_landed", string(r.Land.Outcome))
	}
	if s.RolledBackRun == r.ID {
		s.LastRun, s.RolledBackRun = s.RolledBackRun, s.LastRun
	} else {
		s.LastRun, s.RolledBackRun = r.ID, ""
	}
	tx.Record(r, kernel.AuditUndoRequested, audit.Info, map[string]any{"redo": again})
	tx.Result = r.ID
	return nil
}

// closePull asks to close the pull request that is all that the result went to or, again, to open it.
func closePull(tx *kernel.Tx, again bool) error {
	p := tx.Run.Pull
	if tx.Config.Profile.NoNetwork {
		return pawl.Fail(pawl.CodeDenied, "pull.no_network")
	}
	tx.Emit(effect.KindClose, effect.CloseSpec{Target: p.Target, Number: p.Number, Head: p.Head, Commit: p.Commit,
		Again: again}, true)
	return nil
}

// reversible says why the result of a run cannot be undone now or, again, brought back.
func reversible(tx *kernel.Tx, named string, again bool) error {
	s, r, t := tx.Session, tx.Run, tx.Task
	switch {
	case s == nil || s.State != string(session.Idle) || s.Effect != "":
		return pawl.Fail(pawl.CodeInvalidTransition, "kernel.undo_when_idle", kernel.StateName(&tx.Snapshot))
	case r == nil || !r.InTree(t) && (r.Land == nil || r.Land.Outcome == effect.Empty):
		return pawl.Fail(pawl.CodeNotFound, "kernel.nothing_to_undo")
	case r.Undone && !again:
		return pawl.Fail(pawl.CodeNotFound, "kernel.undone_already", r.Label)
	case !r.Undone && again:
		return pawl.Fail(pawl.CodeNotFound, "kernel.not_undone", r.Label)
	case r.InTree(t) && named != "" && named != s.LastRun && named != s.RolledBackRun:
		return pawl.Fail(pawl.CodeInvalidTransition, "kernel.undo_in_order", r.Label)
	}
	return nil
}

// restoredForSession hands an effect from the task, whose work is over, to the session.
func restoredForSession(tx *kernel.Tx, e *kernel.EffectDoc) {
	e.Effect.Task, tx.Task.Effect, tx.Session.Effect = "", "", e.ID
	tx.Touch(tx.Session)
}

// undoable returns the task whose steps can be undone: its tree is there and nobody is at work in it.
func undoable(tx *kernel.Tx) (*kernel.Task, error) {
	s, t := tx.Session, tx.Task
	if s == nil {
		return nil, pawl.Fail(pawl.CodeNotFound, "kernel.not_initialised")
	}
	switch session.State(s.State) {
	case session.Idle:
		switch {
		case s.Effect != "":
			return nil, pawl.Fail(pawl.CodeBusy, "kernel.winding_up", "undo")
		case tx.Run == nil || t == nil || tx.Run.Undone:
			return nil, pawl.Fail(pawl.CodeNotFound, "kernel.nothing_to_undo")
		case !tx.Run.InTree(t):
			return nil, pawl.Fail(pawl.CodeInvalidTransition, "kernel.step_landed")
		}
	case session.Blocked:
		b, err := kernel.BlockedTask(tx, "undo")
		switch {
		case err != nil:
			return nil, err
		case b.Kind == kernel.BlockedArchive:
			return nil, pawl.Fail(pawl.CodeInvalidTransition, "kernel.landed_already")
		case t != nil && t.OrphanEffect != "":
			return nil, pawl.Fail(pawl.CodeBusy, "kernel.winding_up", "undo")
		}
	default:
		return nil, pawl.Fail(pawl.CodeInvalidTransition, "kernel.step_when_resting", s.State)
	}
	if t == nil || t.Plan == nil || !t.Ready.Checkpoint {
		return nil, pawl.Fail(pawl.CodeNotFound, "kernel.nothing_to_undo")
	}
	return t, nil
}

// undoStep takes back what one step changed. The step counts as skipped from then on, so that work that goes on leaves
// it out.
func undoStep(tx *kernel.Tx, step string) error {
	t, err := undoable(tx)
	if err != nil {
		return err
	}
	if _, ok := t.Plan.Find(step); !ok {
		var all []string
		for _, s := range t.Plan.Steps {
			all = append(all, s.StepID)
		}
		return pawl.Fail(pawl.CodeNotFound, "kernel.step_not_found", step, strings.Join(all, ", "))
	}
	if b := tx.Session.Blocked; b != nil && b.Effect != "" && tx.Effect != nil && tx.Effect.ID == b.Effect {
		if call, err := effect.Decode[effect.ToolCall](tx.Effect.Effect.Spec); err == nil && call.StepID == step {
			return pawl.Fail(pawl.CodeBlocked, "kernel.step_open", step)
		}
	}
	if !slices.ContainsFunc(t.Spans, func(s effect.Span) bool { return s.Step == step && !s.Undone }) {
		return pawl.Fail(pawl.CodeNotFound, "kernel.step_changed_nothing", step)
	}
	stepEffect(tx, effect.RestoreSpec{Name: "undo " + step, Step: step, Spans: t.Spans})
	tx.Record(t, kernel.AuditStepUndoRequested, audit.Info, map[string]any{"step": step})
	return nil
}

// redoStep brings back what the step changed that was undone last.
func redoStep(tx *kernel.Tx) error {
	t, err := undoable(tx)
	if err != nil {
		return err
	}
	if len(t.Undone) == 0 {
		return pawl.Fail(pawl.CodeNotFound, "kernel.nothing_to_undo")
	}
	u := t.Undone[0]
	stepEffect(tx, effect.RestoreSpec{Name: "redo " + u.Step, Step: u.Step, Target: u.Before, Expect: u.After})
	tx.Record(t, kernel.AuditStepUndoRequested, audit.Info, map[string]any{"step": u.Step, "redo": true})
	return nil
}

func stepEffect(tx *kernel.Tx, spec effect.RestoreSpec) {
	spec.Safety = "before-undo-" + kernel.CheckpointName(tx)
	e := tx.Emit(effect.KindRestore, spec, true)
	if tx.Session.State == string(session.Idle) {
		restoredForSession(tx, e)
	}
	tx.Result = tx.Task.ID
}

// stepRestored takes the result of undoing a step, which had the spans in its spec, or of redoing it.
func stepRestored(tx *kernel.Tx, spec effect.RestoreSpec, r effect.Receipt) error {
	s, t := tx.Session, tx.Task
	tx.Touch(s)
	result, err := effect.Decode[effect.RestoreResult](r.Result)
	if !r.OK || err != nil {
		kept := kernel.Info(kernel.FirstError(r.Err(), err))
		s.LastError = &kept
		tx.Record(t, kernel.AuditStepUndoFailed, audit.Warn, kept)
		return nil
	}
	undone := len(spec.Spans) > 0
	t.Spans = slices.Clone(t.Spans)
	for i := range t.Spans {
		if t.Spans[i].Step == spec.Step {
			t.Spans[i].Undone = undone
		}
	}
	restoredBy(tx, result)
	p := t.Plan.Clone()
	t.Plan, t.Gate, s.LastError = &p, nil, nil
	if i, ok := p.Find(spec.Step); ok && undone {
		t.Undone = append([]kernel.UndoneStep{{Step: spec.Step, Status: p.Steps[i].Status, Before: result.Before,
			After: result.After}}, t.Undone...)
		p.Steps[i].Status = plan.Skipped
	} else if ok && len(t.Undone) > 0 {
		p.Steps[i].Status, t.Undone = t.Undone[0].Status, slices.Clone(t.Undone[1:])
	}
	if t.Cursor.Step == spec.Step {
		t.Cursor.Step, t.Cursor.Call = "", 0
	}
	if t.Cursor.Failed == spec.Step {
		t.Cursor.Failed, t.Cursor.At = "", 0
	}
	event := kernel.AuditStepUndone
	if !undone {
		event = kernel.AuditStepRedone
	}
	tx.Record(t, event, audit.Info, map[string]any{"step": spec.Step, "changed": len(result.Changed),
		"before": result.Before, "after": result.After})
	return nil
}

// RunUndone takes the result of an undo or a redo.
func RunUndone(tx *kernel.Tx, r effect.Receipt) error {
	if !r.OK {
		kept := kernel.Info(r.Err())
		tx.Session.LastError = &kept
		tx.Record(tx.Run, kernel.AuditUndoFailed, audit.Warn, kept)
		if s := tx.Session; tx.Run.Outcome == "rolled_back" && tx.Run.Undone {
			s.LastRun, s.RolledBackRun = s.RolledBackRun, s.LastRun
		}
		return nil
	}
	switch tx.Effect.What() {
	case effect.KindRestore:
		result, err := effect.Decode[effect.RestoreResult](r.Result)
		if err != nil {
			return err
		}
		stepTakenBack(tx, result)
	case effect.KindClose:
		result, err := effect.Decode[effect.PullResult](r.Result)
		if err != nil {
			return err
		}
		p := *tx.Run.Pull
		p.State, tx.Run.Pull = result.State, &p
	}
	tx.Session.RolledBackRun = ""
	if result, err := effect.Decode[effect.LandResult](r.Result); err == nil && result.Commit != "" {
		if result.Outcome != effect.Landed {
			kept := kernel.Info(pawl.Fail(pawl.CodeConflict, "kernel.undo_kept", result.Branch, result.Command))
			tx.Session.LastError = &kept
			tx.Record(tx.Run, kernel.AuditUndoKept, audit.Warn,
				map[string]any{"branch": result.Branch, "commit": result.Commit})
			return nil
		}
		tx.Run.Ignored = result.Ignored
		if tx.Run.Undone {
			tx.Run.Land, tx.Run.Revert = &result, nil
		} else {
			tx.Run.Revert = &result
		}
	}
	tx.Run.Undone = !tx.Run.Undone
	packageMoved(tx)
	tx.Session.LastError = nil
	tx.Record(tx.Run, kernel.AuditResultUndone, audit.Info, map[string]any{"undone": tx.Run.Undone})
	return nil
}

// packageMoved has the package of a person follow the result that was carried out: with the undo it comes back from the
// archive as it was written, with the redo it goes there again.
func packageMoved(tx *kernel.Tx) {
	a, w := tx.Run.Archived, tx.Run.Written
	if a == nil || w == nil {
		return
	}
	move := *a
	if tx.Run.Undone {
		move = effect.Retired{From: a.To, To: a.From, Result: string(solution.RolledBack)}
		if a.Tasks.Path != "" {
			move.Tasks = effect.NewDocument(a.To+"/"+solution.TasksName, w.Tasks, []byte(a.Tasks.Content), true)
		}
	}
	e := tx.Emit(effect.KindRetire, effect.RetireSpec{Packages: []effect.Retired{move}}, true)
	e.Effect.Place.Tree = e.Effect.Place.Workspace
}
