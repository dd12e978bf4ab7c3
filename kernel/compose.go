package kernel

import (
	"slices"
	"strings"
	"sync"

	"pawl"
	"pawl/kernel/audit"
	"pawl/kernel/effect"
	"pawl/machine"
	"pawl/machine/board"
	"pawl/machine/composed"
	"pawl/machine/session"
	"pawl/machine/task"
	"pawl/machine/turn"
	"pawl/machine/workflow"
	"pawl/text/solution"
)

// commandOr is the ~command that the run is taken up for.
func commandOr(tx *Tx, otherwise string) string {
	if tx.Run != nil && tx.Run.Command != "" {
		return tx.Run.Command
	}
	return otherwise
}

// Apply makes the moves of one row of the composition table, in order.
func (tx *Tx) Apply(what Event, reason string) error {
	row, ok := tx.Protocols.Rows[what]
	if !ok {
		return pawl.Fail(pawl.CodeInternal, "kernel.unknown_happening", string(what))
	}
	if unmet := tx.states().Unmet(row.If); unmet != "" {
		return pawl.Fail(pawl.CodeInternal, "kernel.unmet", row.ID, string(unmet))
	}
	defer turnMoved(tx, tx.Turn, turnParked(tx))
	for _, r := range row.Moves {
		if r.Kind == KindPhase {
			if err := movePhase(tx, board.Event(r.Event), reason); err != nil {
				return err
			}
			continue
		}
		if r.Region != "" {
			if err := tx.moveBeside(r); err != nil && !r.May {
				return err.Traced(tx.Trace)
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
		if r.May && !tx.Has(e, r.Event, when) {
			continue
		}
		if err := tx.Move(e, r.Event, when, reason, nil); err != nil {
			return err
		}
	}
	if row.Then != ThenNothing {
		tx.Then(row.Then)
	}
	return nil
}

// Then has the decision go on with a step when its handler is done.
func (tx *Tx) Then(s Step) { tx.next = s }

// states are the states of the run together, as the decision has them.
func (tx *Tx) states() (s composed.States) {
	for _, kind := range []Kind{KindSession, KindTurn, KindTask, KindFlow, KindRun, KindIssue, KindItem} {
		if e := tx.on(kind); e != nil {
			s = s.With(string(kind), e.hot().State)
		}
	}
	if tx.Run != nil {
		s.Phase = board.PhaseStatus(tx.Run.Phase)
	}
	if tx.Session != nil {
		s.Beside = tx.Session.Beside
	}
	if i := tx.Issue; i != nil && i.Number > 0 {
		s.Regions = i.Regions
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

// Has reports whether the entity's machine has a row for the event in its present state.
func (tx *Tx) Has(e Document, on, when string) bool {
	s := e.hot().State
	switch e.hot().Kind {
	case KindSession:
		return known(tx, session.Table, s, on, when)
	case KindTurn:
		return known(tx, turn.Table, s, on, when)
	case KindTask:
		return known(tx, task.Table, s, on, when)
	case KindFlow:
		return known(tx, workflow.Stages, s, on, when)
	case KindRun:
		return known(tx, board.Run, s, on, when)
	case KindIssue:
		return known(tx, board.Issue, s, on, when)
	case KindItem:
		return known(tx, board.Item, s, on, when)
	}
	return false
}

func known[S, E ~string](tx *Tx, m *machine.Machine[S, E], state, on, when string) bool {
	r, ok := m.Next(S(state), E(on), when)
	return ok && !(tx.Config.Strict && r.Ext)
}

// Move takes one entity along one row of its machine: the row must exist, its gates must pass on the evidence at hand,
// and for tasks the mode must agree. The transition is recorded; nothing else of the entity changes.
func (tx *Tx) Move(e Document, on, when, reason string, meta any) error {
	switch e.hot().Kind {
	case KindSession:
		return MoveBy(tx, session.Table, e, on, when, reason, meta,
			func(r *machine.Rule[session.State, session.Event]) *pawl.Error {
				return session.Admit(r, sessionEvidence(tx))
			})
	case KindTurn:
		return MoveBy(tx, turn.Table, e, on, when, reason, meta,
			func(r *machine.Rule[turn.State, turn.Event]) *pawl.Error {
				return turn.Admit(r, turnEvidence(tx))
			})
	case KindTask:
		if r, ok := task.Table.Next(task.State(tx.Task.State), task.Event(on), when); ok {
			meta = endOf(tx.Task, r.To, meta)
		}
		err := MoveBy(tx, task.Table, e, on, when, reason, meta,
			func(r *machine.Rule[task.State, task.Event]) *pawl.Error {
				if err := task.Admit(r, TaskEvidence(tx, tx.Task, r)); err != nil {
					return err
				}
				return askMode(tx, tx.Task, string(r.From), string(r.To), r.ID)
			})
		if at := task.State(tx.Task.State); err == nil && (at.Terminal() || at == task.Queued && tx.Run != nil) {
			// The lease goes back. Its token stays, so that whatever the former holder still reports is refused.
			tx.Task.Lease = Lease{}
		}
		return err
	case KindFlow:
		return moveFlow(tx, workflow.Event(on), when, reason, meta)
	case KindRun:
		return MoveBy(tx, board.Run, e, on, when, reason, meta, admitBoard[board.RunStatus](tx))
	case KindIssue:
		err := MoveBy(tx, board.Issue, e, on, when, reason, meta, admitBoard[board.IssueStatus](tx))
		if err == nil {
			issueMoved(tx, board.Event(on), reason)
		}
		return err
	case KindItem:
		return MoveBy(tx, board.Item, e, on, when, reason, meta, admitBoard[board.ItemStatus](tx))
	}
	return pawl.Fail(pawl.CodeInternal, "kernel.no_machine", string(e.hot().Kind))
}

// issueMoved keeps what an issue failed of with it, which outlives what the session knows of it, and lets go of that
// when it is tried again or succeeds.
func issueMoved(tx *Tx, on board.Event, reason string) {
	i := tx.Issue
	switch on {
	case board.Fail, board.Skip:
		f := effect.Fault{Class: pawl.ClassCanceled, Code: pawl.CodeCanceled, Key: "kernel.issue_left",
			Args: []string{reason}}
		switch {
		case tx.Session != nil && tx.Session.Blocked != nil:
			f = tx.Session.Blocked.Error
		case tx.Task != nil && tx.Task.Blocked != nil:
			f = tx.Task.Blocked.Error
		}
		if i.Failed("execute", f, tx.Now); tx.Task != nil && !tx.Task.StartedAt.IsZero() {
			i.ExecutedAt = tx.Now
		}
	case board.Retry, board.Succeed:
		i.Error = nil
	}
}

// moveBeside moves what stands beside the state of a row. A record of what raises the move tells of it, so that it has
// none of its own.
func (tx *Tx) moveBeside(r Move) *pawl.Error {
	if r.Kind == KindSession {
		tx.Touch(tx.Session)
		return tx.Session.Move(r.Region, session.Event(r.Event))
	}
	tx.Touch(tx.Issue)
	return tx.Issue.Move(r.Region, board.Event(r.Event), r.When, BoardEvidence(tx))
}

// moveFlow moves the stage, and with it the variables that the seed sets with the stage.
func moveFlow(tx *Tx, on workflow.Event, when, reason string, meta any) error {
	var next workflow.Vars
	var err error
	if on == workflow.CommandGiven {
		next, err = workflow.Command(when, tx.Flow.Vars)
	} else {
		next, err = workflow.Advance(tx.Flow.Vars, on, when, flowEvidence(tx))
	}
	if err != nil {
		return err
	}
	if err := MoveBy(tx, workflow.Stages, tx.Flow, string(on), when, reason, meta, nil); err != nil {
		return err
	}
	if next.Stage == workflow.Develop && tx.Run != nil && tx.Run.Package != "" {
		next.CurrentPackage = solution.LiveDir(tx.Run.Package) // development works on one package, whoever has made it
	}
	before := tx.Flow.Mode
	if tx.Flow.Vars = next; before != next.Mode && on == workflow.CommandGiven {
		ModeMoved(tx, before, string(on), when)
	}
	return nil
}

// ModeMoved records the row of the mode's machine by which it has got where it is.
func ModeMoved(tx *Tx, from workflow.Mode, on, when string) {
	r, ok := workflow.Modes.Next(from, workflow.Event(on), when)
	if !ok || r.To != tx.Flow.Mode || on == string(workflow.ResetMode) && r.From == r.To {
		return
	}
	tx.Record(tx.Flow, AuditModeAs.In(string(r.To)), audit.Info,
		map[string]any{"from": r.From, "to": r.To, "rule": r.ID, "event": on, "argument": when})
}

func admitBoard[S ~string](tx *Tx) func(*machine.Rule[S, board.Event]) *pawl.Error {
	return func(r *machine.Rule[S, board.Event]) *pawl.Error { return board.Admit(r, BoardEvidence(tx)) }
}

// movePhase takes the run to another phase. The phase is a second state of the run's row
// (docs/spec/board.md#transitions), so its moves are recorded under the run.
func movePhase(tx *Tx, on board.Event, reason string) error {
	r, ok := board.Phase.Next(board.PhaseStatus(tx.Run.Phase), on, "")
	if !ok {
		return board.Phase.Refusal(board.PhaseStatus(tx.Run.Phase), on).Traced(tx.Trace)
	}
	if r.From == r.To {
		return nil
	}
	tx.Run.Phase = string(r.To)
	tx.Record(tx.Run, AuditPhaseAs.In(string(r.To)), audit.Info, map[string]any{
		"from_phase": r.From, "to_phase": r.To, "rule": r.ID, "reason": reason,
	})
	return nil
}

// MoveBy takes an entity along a row of a machine, if it has one that Admit lets through; nil lets all through. The
// transition is recorded with the reason and with what the caller wants kept, Meta.
func MoveBy[S, E ~string](tx *Tx, m *machine.Machine[S, E], e Document, on, when, reason string, meta any,
	admit func(*machine.Rule[S, E]) *pawl.Error) error {
	h := e.hot()
	r, ok := m.Next(S(h.State), E(on), when)
	if tx.Config.Strict && (!ok || r.Ext) {
		return m.StrictRefusal(S(h.State), E(on)).Traced(tx.Trace)
	}
	if !ok {
		return m.Refusal(S(h.State), E(on)).Traced(tx.Trace)
	}
	if admit != nil {
		if err := admit(r); err != nil {
			return err.Traced(tx.Trace)
		}
	}
	from := h.State
	h.State = string(r.To)
	tx.Touch(e)
	if r.Idempotent {
		return nil
	}
	tx.entries = append(tx.entries, audit.Entry{
		Subject: subject(e), Level: audit.Info, Event: transitionEvent(h.Kind, h.State),
		Move: &audit.Transition{From: from, To: h.State, Rule: r.ID, Event: on, Actor: actorFor(tx, r),
			Reason: reason, Metadata: Encode(meta)},
		At: tx.Now, Trace: tx.Trace,
	})
	return nil
}

// transitionEvent names the audit event as docs/spec/task.md#s8 does: STATE_TRANSITION_ and the state in capitals.
func transitionEvent(kind Kind, state string) string {
	if kind == KindTask {
		if e, ok := taskEvents()[task.State(state)]; ok {
			return e
		}
	}
	if state == "" {
		state = "UNSET" // the stage of a flow that has ended
	}
	return "STATE_TRANSITION_" + strings.ToUpper(state)
}

// taskEvents saves building the name for the transitions that happen most.
var taskEvents = sync.OnceValue(func() map[task.State]string {
	out := map[task.State]string{}
	for _, s := range task.Table.States() {
		out[s] = "STATE_TRANSITION_" + strings.ToUpper(string(s))
	}
	return out
})

// actorFor names who stands behind a move. What a person has to say is said by the policy in whose name it is decided,
// where there is one. A row that does not list the commander's kind is raised by pawl itself as a consequence of the
// command: by the system, or by the kind that the row lists; never by a user who did not speak.
func actorFor[S, E ~string](tx *Tx, r *machine.Rule[S, E]) pawl.Actor {
	commander := tx.Env.Actor
	switch {
	case tx.Voice != "" && (slices.Contains(r.Actors, pawl.KindUser) || slices.Contains(r.Actors, pawl.KindPolicy)):
		return tx.Voice
	case len(r.Actors) == 0 || r.Admits(commander.Kind()):
		return commander
	}
	kind := r.Actors[0]
	if r.Admits(pawl.KindSystem) || kind == pawl.KindUser {
		kind = pawl.KindSystem
	}
	return pawl.By(kind, "for "+string(commander))
}
