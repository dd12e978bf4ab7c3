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
type work struct {
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
func begin(s *Snapshot, env *Envelope, now time.Time) *work {
	w := &work{Snapshot: *s, env: env, now: now, trace: env.Trace}
	own(w, s)
	return w
}

// own copies the documents. It is apart from begin so that the compiler can put a begin in its caller's place, and the work
// on its caller's stack.
func own(w *work, s *Snapshot) {
	w.Session, w.Run, w.Flow = clone(s.Session), clone(s.Run), clone(s.Flow)
	w.Issue, w.Item, w.Solution = clone(s.Issue), clone(s.Item), clone(s.Solution)
	w.Approval, w.Turn, w.Task = clone(s.Approval), clone(s.Turn), clone(s.Task)
	w.Effect, w.Checkpoint, w.Talk = clone(s.Effect), clone(s.Checkpoint), clone(s.Talk)
	w.Near = maps.Clone(s.Near)
	w.Board, w.Taking = clone(s.Board), clone(s.Taking)
	w.Links = nil
	for _, l := range s.Links {
		w.Links = append(w.Links, clone(l))
	}
	w.Questions = nil
	for _, q := range s.Questions {
		w.Questions = append(w.Questions, clone(q))
	}
	w.Budgets = nil
	for _, b := range s.Budgets {
		w.Budgets = append(w.Budgets, clone(b))
	}
	w.Within = nil
	for _, e := range s.Within {
		w.Within = append(w.Within, clone(e))
	}
	if w.trace == "" {
		w.trace = w.env.Key
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
func (w *work) newID() string {
	if w.ids == nil {
		sum := sha256.Sum256(w.env.Nonce[:])
		w.ids = pawl.NewIDSource(w.now, bytes.NewReader(sum[:]))
	}
	id, err := w.ids.Next()
	if err != nil {
		// A hash has bytes enough for the first id, and a decision makes too few to come to the end of a millisecond's 2^80.
		panic(err)
	}
	return string(id)
}

// create makes the row of a new document and touches it.
func (w *work) create(e Document, kind Kind, label, parent, state string) {
	*e.hot() = Row{Kind: kind, ID: w.newID(), Label: label, Parent: parent, State: state, CreatedAt: w.now, UpdatedAt: w.now}
	w.touch(e)
}

// touch marks a document as changed by this decision.
func (w *work) touch(e Document) {
	if !touches(w, e) {
		w.touched = append(w.touched, e)
	}
}

// maxFew is how many documents are gone through to find one.
const maxFew = 32

// touches reports whether a document is marked as changed.
func touches(w *work, e Document) bool {
	if len(w.touched) <= maxFew {
		return slices.Contains(w.touched, e)
	}
	if len(w.seen) > len(w.touched) {
		w.seen = nil
	}
	if w.seen == nil {
		w.seen = map[Document]bool{}
	}
	for _, marked := range w.touched[len(w.seen):] {
		w.seen[marked] = true
	}
	return w.seen[e]
}

// record adds an audit record that is not a transition.
func (w *work) record(e Document, event string, level audit.Level, data any) {
	w.touch(e)
	w.entries = append(w.entries, audit.Entry{
		Subject: subject(e), Level: level, Event: event, Actor: w.env.Actor, Data: encode(data), At: w.now, Trace: w.trace,
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
func (w *work) has(e Document, on, when string) bool {
	s := e.hot().State
	switch e.hot().Kind {
	case KindSession:
		return known(w, session.Table, s, on, when)
	case KindTurn:
		return known(w, turn.Table, s, on, when)
	case KindTask:
		return known(w, task.Table, s, on, when)
	case KindFlow:
		return known(w, workflow.Stages, s, on, when)
	case KindRun:
		return known(w, board.Run, s, on, when)
	case KindIssue:
		return known(w, board.Issue, s, on, when)
	case KindItem:
		return known(w, board.Item, s, on, when)
	}
	return false
}

func known[S, E ~string](w *work, m *machine.Machine[S, E], state, on, when string) bool {
	r, ok := m.Next(S(state), E(on), when)
	return ok && !(w.Config.Strict && r.Ext)
}

// move takes one entity along one row of its machine: the row must exist, its gates must pass on the evidence at hand, and
// for tasks the mode must agree. The transition is recorded; nothing else of the entity changes.
func (w *work) move(e Document, on, when, reason string, meta any) error {
	switch e.hot().Kind {
	case KindSession:
		return apply(w, session.Table, e, on, when, reason, meta, func(r *machine.Rule[session.State, session.Event]) *pawl.Error {
			return session.Admit(r, witness{w}.sessionEvidence())
		})
	case KindTurn:
		return apply(w, turn.Table, e, on, when, reason, meta, func(r *machine.Rule[turn.State, turn.Event]) *pawl.Error {
			return turn.Admit(r, witness{w}.turnEvidence())
		})
	case KindTask:
		return apply(w, task.Table, e, on, when, reason, meta, func(r *machine.Rule[task.State, task.Event]) *pawl.Error {
			if err := task.Admit(r, witness{w}.taskEvidence(w.Task, r)); err != nil {
				return err
			}
			return w.askMode(w.Task, string(r.From), string(r.To), r.ID)
		})
	case KindFlow:
		return w.moveFlow(workflow.Event(on), when, reason, meta)
	case KindRun:
		return apply(w, board.Run, e, on, when, reason, meta, admitBoard[board.RunStatus](w))
	case KindIssue:
		return apply(w, board.Issue, e, on, when, reason, meta, admitBoard[board.IssueStatus](w))
	case KindItem:
		return apply(w, board.Item, e, on, when, reason, meta, admitBoard[board.ItemStatus](w))
	}
	return pawl.Fail(pawl.CodeInternal, "kernel.no_machine", string(e.hot().Kind))
}

// moveFlow moves the stage, and with it the variables that the seed sets with the stage.
func (w *work) moveFlow(on workflow.Event, when, reason string, meta any) error {
	var next workflow.Vars
	var err error
	if on == workflow.CommandGiven {
		next, err = workflow.Command(when, w.Flow.Vars)
	} else {
		next, err = workflow.Advance(w.Flow.Vars, on, when, witness{w}.flowEvidence())
	}
	if err != nil {
		return err
	}
	if err := apply(w, workflow.Stages, w.Flow, string(on), when, reason, meta, nil); err != nil {
		return err
	}
	if next.Stage == workflow.Develop && w.Run != nil && w.Run.Package != "" {
		next.CurrentPackage = solution.LiveDir(w.Run.Package) // development works on one package, whoever has made it
	}
	w.Flow.Vars = next
	return nil
}

func admitBoard[S ~string](w *work) func(*machine.Rule[S, board.Event]) *pawl.Error {
	return func(r *machine.Rule[S, board.Event]) *pawl.Error { return board.Admit(r, witness{w}.boardEvidence()) }
}

// movePhase takes the run to another phase. The phase is a second state of the run's row
// (docs/spec/board.md#transitions), so its moves are recorded under the run.
func (w *work) movePhase(on board.Event, reason string) error {
	r, ok := board.Phase.Next(board.PhaseStatus(w.Run.Phase), on, "")
	if !ok {
		return board.Phase.Refusal(board.PhaseStatus(w.Run.Phase), on).Traced(w.trace)
	}
	if r.From == r.To {
		return nil
	}
	w.Run.Phase = string(r.To)
	w.record(w.Run, "PHASE_"+upper(string(r.To)), audit.Info, map[string]any{
		"from_phase": r.From, "to_phase": r.To, "rule": r.ID, "reason": reason,
	})
	return nil
}

func apply[S, E ~string](w *work, m *machine.Machine[S, E], e Document, on, when, reason string, meta any,
	admit func(*machine.Rule[S, E]) *pawl.Error) error {
	h := e.hot()
	r, ok := m.Next(S(h.State), E(on), when)
	if !ok || w.Config.Strict && r.Ext {
		return m.Refusal(S(h.State), E(on)).Traced(w.trace)
	}
	if admit != nil {
		if err := admit(r); err != nil {
			return err.Traced(w.trace)
		}
	}
	from := h.State
	h.State = string(r.To)
	w.touch(e)
	if r.Idempotent {
		return nil
	}
	w.entries = append(w.entries, audit.Entry{
		Subject: subject(e), Level: audit.Info, Event: transitionEvent(h.Kind, h.State),
		Move: &audit.Transition{From: from, To: h.State, Rule: r.ID, Event: on, Actor: actorFor(w.env.Actor, r), Reason: reason, Metadata: encode(meta)},
		At:   w.now, Trace: w.trace,
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
// (docs/spec/task.md#d10).
func (w *work) askMode(t *Task, from, to, rule string) *pawl.Error {
	if to == string(task.Canceled) {
		return nil
	}
	m, err := w.Config.modeOf(t.Mode)
	if err != nil {
		return err.At(rule, "mode")
	}
	v := ask(func() Verdict { return m.ValidateTransition(w.modeTask(t), from, to) })
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
func (w *work) modeTask(t *Task) ModeTask {
	m := ModeTask{ID: t.ID, State: t.State, Title: t.Title, Mode: t.modeName(), HasPlan: t.Plan != nil}
	if w.Session != nil && t.Session != "" {
		m.RunMode = w.Session.RunMode
	}
	if t.Plan != nil {
		m.Risk = t.Plan.RiskLevel
		for _, s := range t.Plan.Steps {
			for _, c := range s.ToolCalls {
				m.Writes = m.Writes || !w.Config.Tools[c.Name].Info.Idempotent
			}
		}
	}
	if t.Gate != nil {
		m.Gates = t.Gate.Outcomes
	}
	return m
}
