package kernel

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"time"

	"pawl"
	"pawl/audit"
	"pawl/machine"
	"pawl/machine/board"
	"pawl/machine/session"
	"pawl/machine/task"
	"pawl/machine/turn"
	"pawl/machine/workflow"
	"pawl/solution"
)

// Document is what a row says, with its row. The types of this package that embed Row are documents.
type Document interface{ hot() *Row }

func (r *Row) hot() *Row { return r }

// work is one decision in the making: the snapshot's rows as copies, what was touched, and the records so far.
type Tx struct {
	Snapshot
	env     *Envelope
	now     time.Time
	trace   string
	ids     *pawl.IDSource
	touched []Document
	// seen are those of a decision that touches many.
	seen    map[Document]bool
	entries []audit.Entry
	result  any
	// leased says that this very decision takes the lease, so that there is no older token to compare with.
	leased bool
}

// begin copies the snapshot's documents, so that deciding never changes what was loaded.
func begin(s *Snapshot, env *Envelope, now time.Time) *Tx {
	tx := &Tx{Snapshot: *s, env: env, now: now, trace: env.Trace}
	own(tx, s)
	return tx
}

// own copies the documents. It is apart from begin so that the compiler can put a begin in its caller's place, and the work
// on its caller's stack.
func own(tx *Tx, s *Snapshot) {
	tx.Session, tx.Run, tx.Flow = clone(s.Session), clone(s.Run), clone(s.Flow)
	tx.Issue, tx.Item, tx.Solution = clone(s.Issue), clone(s.Item), clone(s.Solution)
	tx.Approval, tx.Turn, tx.Task = clone(s.Approval), clone(s.Turn), clone(s.Task)
	tx.Effect, tx.Checkpoint, tx.Talk = clone(s.Effect), clone(s.Checkpoint), clone(s.Talk)
	tx.Near = maps.Clone(s.Near)
	tx.Board, tx.Taking = clone(s.Board), clone(s.Taking)
	tx.Links = nil
	for _, l := range s.Links {
		tx.Links = append(tx.Links, clone(l))
	}
	tx.Questions = nil
	for _, q := range s.Questions {
		tx.Questions = append(tx.Questions, clone(q))
	}
	tx.Budgets = nil
	for _, b := range s.Budgets {
		tx.Budgets = append(tx.Budgets, clone(b))
	}
	tx.Within = nil
	for _, e := range s.Within {
		tx.Within = append(tx.Within, clone(e))
	}
	if tx.trace == "" {
		tx.trace = tx.env.Key
	}
}

func clone[T any](p *T) *T {
	if p == nil {
		return nil
	}
	c := *p
	return &c
}

// newID makes an id for a new row. Its "randomness" is that of the command's nonce, so that the same command decides the
// same ids.
func (tx *Tx) newID() string {
	if tx.ids == nil {
		sum := sha256.Sum256(tx.env.Nonce[:])
		tx.ids = pawl.NewIDSource(tx.now, bytes.NewReader(sum[:]))
	}
	id, err := tx.ids.Next()
	if err != nil {
		// A hash has bytes enough for the first id, and a decision makes too few to come to the end of a millisecond's 2^80.
		panic(err)
	}
	return string(id)
}

// create makes the row of a new document and touches it.
func (tx *Tx) create(e Document, kind Kind, label, parent, state string) {
	*e.hot() = Row{Kind: kind, ID: tx.newID(), Label: label, Parent: parent, State: state, CreatedAt: tx.now, UpdatedAt: tx.now}
	tx.touch(e)
}

// touch marks a document as changed by this decision.
func (tx *Tx) touch(e Document) {
	if !touches(tx, e) {
		tx.touched = append(tx.touched, e)
	}
}

// maxFew is how many documents are gone through to find one.
const maxFew = 32

// touches reports whether a document is marked as changed.
func touches(tx *Tx, e Document) bool {
	if len(tx.touched) <= maxFew {
		return slices.Contains(tx.touched, e)
	}
	if len(tx.seen) > len(tx.touched) {
		tx.seen = nil
	}
	if tx.seen == nil {
		tx.seen = map[Document]bool{}
	}
	for _, marked := range tx.touched[len(tx.seen):] {
		tx.seen[marked] = true
	}
	return tx.seen[e]
}

// record adds an audit record that is not a transition.
func (tx *Tx) record(e Document, event AuditEvent, level audit.Level, data any) {
	tx.touch(e)
	tx.entries = append(tx.entries, audit.Entry{
		Subject: subject(e), Level: level, Event: string(event), Actor: tx.env.Actor, Data: encode(data), At: tx.now, Trace: tx.trace,
	})
}

func subject(e Document) audit.Subject {
	r := e.hot()
	return audit.Subject{Kind: string(r.Kind), ID: r.ID}
}

// encode writes data of our own types as JSON; they always encode.
func encode(v any) json.RawMessage {
	if v == nil {
		return nil
	}
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return raw
}

// has reports whether the entity's machine has a row for the event in its present state.
func (tx *Tx) has(e Document, on, when string) bool {
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

// move takes one entity along one row of its machine: the row must exist, its gates must pass on the evidence at hand, and
// for tasks the mode must agree. The transition is recorded; nothing else of the entity changes.
func (tx *Tx) move(e Document, on, when, reason string, meta any) error {
	switch e.hot().Kind {
	case KindSession:
		return apply(tx, session.Table, e, on, when, reason, meta, func(r *machine.Rule[session.State, session.Event]) *pawl.Error {
			return session.Admit(r, sessionEvidence(tx))
		})
	case KindTurn:
		return apply(tx, turn.Table, e, on, when, reason, meta, func(r *machine.Rule[turn.State, turn.Event]) *pawl.Error {
			return turn.Admit(r, turnEvidence(tx))
		})
	case KindTask:
		return apply(tx, task.Table, e, on, when, reason, meta, func(r *machine.Rule[task.State, task.Event]) *pawl.Error {
			if err := task.Admit(r, taskEvidence(tx, tx.Task, r)); err != nil {
				return err
			}
			return askMode(tx, tx.Task, string(r.From), string(r.To), r.ID)
		})
	case KindFlow:
		return moveFlow(tx, workflow.Event(on), when, reason, meta)
	case KindRun:
		return apply(tx, board.Run, e, on, when, reason, meta, admitBoard[board.RunStatus](tx))
	case KindIssue:
		return apply(tx, board.Issue, e, on, when, reason, meta, admitBoard[board.IssueStatus](tx))
	case KindItem:
		return apply(tx, board.Item, e, on, when, reason, meta, admitBoard[board.ItemStatus](tx))
	}
	return pawl.Fail(pawl.CodeInternal, "kernel.no_machine", string(e.hot().Kind))
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
	if err := apply(tx, workflow.Stages, tx.Flow, string(on), when, reason, meta, nil); err != nil {
		return err
	}
	if next.Stage == workflow.Develop && tx.Run != nil && tx.Run.Package != "" {
		next.CurrentPackage = solution.LiveDir(tx.Run.Package) // development works on one package, whoever has made it
	}
	tx.Flow.Vars = next
	return nil
}

func admitBoard[S ~string](tx *Tx) func(*machine.Rule[S, board.Event]) *pawl.Error {
	return func(r *machine.Rule[S, board.Event]) *pawl.Error { return board.Admit(r, boardEvidence(tx)) }
}

// movePhase takes the run to another phase. The phase is a second state of the run's row (seed 004), so its moves are
// recorded under the run.
func movePhase(tx *Tx, on board.Event, reason string) error {
	r, ok := board.Phase.Next(board.PhaseStatus(tx.Run.Phase), on, "")
	if !ok {
		return board.Phase.Refusal(board.PhaseStatus(tx.Run.Phase), on).Traced(tx.trace)
	}
	if r.From == r.To {
		return nil
	}
	tx.Run.Phase = string(r.To)
	tx.record(tx.Run, auditPhaseAs.in(string(r.To)), audit.Info, map[string]any{
		"from_phase": r.From, "to_phase": r.To, "rule": r.ID, "reason": reason,
	})
	return nil
}

func apply[S, E ~string](tx *Tx, m *machine.Machine[S, E], e Document, on, when, reason string, meta any,
	admit func(*machine.Rule[S, E]) *pawl.Error) error {
	h := e.hot()
	r, ok := m.Next(S(h.State), E(on), when)
	if !ok || tx.Config.Strict && r.Ext {
		return m.Refusal(S(h.State), E(on)).Traced(tx.trace)
	}
	if admit != nil {
		if err := admit(r); err != nil {
			return err.Traced(tx.trace)
		}
	}
	from := h.State
	h.State = string(r.To)
	tx.touch(e)
	if r.Idempotent {
		return nil
	}
	tx.entries = append(tx.entries, audit.Entry{
		Subject: subject(e), Level: audit.Info, Event: transitionEvent(h.Kind, h.State),
		Move: &audit.Transition{From: from, To: h.State, Rule: r.ID, Event: on, Actor: actorFor(tx.env.Actor, r), Reason: reason, Metadata: encode(meta)},
		At:   tx.now, Trace: tx.trace,
	})
	return nil
}

// transitionEvent names the audit event as seed 003 §8 does: STATE_TRANSITION_ and the state in capitals.
func transitionEvent(kind Kind, state string) string {
	if kind == KindTask {
		if e, ok := taskEvents()[task.State(state)]; ok {
			return e
		}
	}
	return "STATE_TRANSITION_" + upper(state)
}

// taskEvents saves building the name for the transitions that happen most.
var taskEvents = sync.OnceValue(func() map[task.State]string {
	out := map[task.State]string{}
	for _, s := range task.Table.States() {
		out[s] = "STATE_TRANSITION_" + upper(string(s))
	}
	return out
})

func upper(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'a' <= c && c <= 'z' {
			b[i] = c - 'a' + 'A'
		}
	}
	return string(b)
}

// actorFor names who stands behind a move. A row that does not list the commander's kind is raised by pawl itself as a
// consequence: the system acts where the row admits it, else the row's first actor, and the commander is named behind it.
func actorFor[S, E ~string](commander pawl.Actor, r *machine.Rule[S, E]) pawl.Actor {
	if len(r.Actors) == 0 || r.Admits(commander.Kind()) {
		return commander
	}
	kind := r.Actors[0]
	if r.Admits(pawl.KindSystem) {
		kind = pawl.KindSystem
	}
	return pawl.By(kind, "for "+string(commander))
}

// askMode asks the task's mode about a transition. Cancels pass without it, so that a mode can never hold on to a task
// (spec.md §6.4 D10).
func askMode(tx *Tx, t *Task, from, to, rule string) *pawl.Error {
	if to == string(task.Canceled) {
		return nil
	}
	m, err := tx.Config.modeOf(t.Mode)
	if err != nil {
		return err.At(rule, "mode")
	}
	v := ask(func() Verdict { return m.ValidateTransition(modeTask(tx, t), from, to) })
	if v.Decision != Approved {
		return pawl.Fail(pawl.CodeModeViolation, "kernel.mode_refused", t.modeName(), from, to, string(v.Decision), v.Reason).At(rule, "mode")
	}
	return nil
}

func (t *Task) modeName() string {
	if t.Mode == "" {
		return DefaultMode
	}
	return t.Mode
}

// modeTask reduces a task to what modes are told.
func modeTask(tx *Tx, t *Task) ModeTask {
	m := ModeTask{ID: t.ID, State: t.State, Title: t.Title, Mode: t.modeName(), HasPlan: t.Plan != nil}
	if tx.Session != nil && t.Session != "" {
		m.RunMode = tx.Session.RunMode
	}
	if t.Plan != nil {
		m.Risk = t.Plan.RiskLevel
		for _, s := range t.Plan.Steps {
			for _, c := range s.ToolCalls {
				m.Writes = m.Writes || !tx.Config.Tools[c.Name].Info.Idempotent
			}
		}
	}
	if t.Gate != nil {
		m.Gates = t.Gate.Outcomes
	}
	return m
}
