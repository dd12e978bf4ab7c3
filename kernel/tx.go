// Package kernel decides and commits. Decide is a pure function from a snapshot of the store, a command and an instant to
// a decision: which rows change, by which rows of the published tables, with which records, and which effects are to
// happen. Do loads the snapshot, decides, seals the records and commits everything in one transaction; only then does a
// caller learn of it and only then may anything act on it (ARCHITECTURE.md, "Decide, commit, act, report").
//
// The same Decide serves production, the crash sweeps, the exploration of the joint machine and the dry run.
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
	"pawl/kernel/audit"
	"pawl/kernel/effect"
	"pawl/machine"
	"pawl/machine/board"
	"pawl/machine/session"
	"pawl/machine/task"
	"pawl/machine/turn"
	"pawl/machine/workflow"
	"pawl/text/solution"
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
	return decide(s, nil, env, now)
}

// decide is Decide with the reads that the snapshot was made of, of which more may be asked. Without them the snapshot is all
// that there is.
func decide(s *Snapshot, r *reads, env *Envelope, now time.Time) (Decision, error) {
	if c, ok := env.Command.(*Transition); ok {
		if done, err := refuseEarly(s, c); done || err != nil {
			return Decision{}, err
		}
		// The commonest command is not handled with the others, so that the compiler sees that its work ends with this call.
		tx := begin(s, r, env, now)
		return decision(tx, followUp(tx, c.Decide(tx)))
	}
	if err := forAgents(env); err != nil {
		return Decision{}, err
	}
	tx := begin(s, r, env, now)
	err := claimHolds(tx)
	if err == nil {
		err = flowFree(tx)
	}
	if err == nil && tx.Session == nil && ofBoard(env.Command) {
		err = pawl.Fail(pawl.CodeNotFound, "kernel.not_initialised")
	}
	if err == nil {
		err = followUp(tx, env.Command.Decide(tx))
	}
	if err == nil {
		keepSilence(tx)
		err = followBoard(tx)
	}
	return decision(tx, err)
}

// followUp takes the steps that follow on what was decided, one after the other.
func followUp(tx *Tx, err error) error {
	for err == nil && tx.next != ThenNothing {
		step := tx.next
		tx.next = ThenNothing
		switch step {
		case ThenIntake:
			askIntake(tx)
		case ThenContext:
			buildContext(tx)
		case ThenPlan:
			err = makePlan(tx)
		case ThenAdvance:
			err = advance(tx)
		case ThenCleanup:
			keepWork(tx)
		case ThenArchive:
			writeArchive(tx)
		default:
			err = pawl.Fail(pawl.CodeInternal, "kernel.unknown_happening", string(step))
		}
	}
	return err
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
func (tx *Tx) apply(what Event, reason string) error {
	row, ok := compositions()[what]
	if !ok {
		return pawl.Fail(pawl.CodeInternal, "kernel.unknown_happening", string(what))
	}
	if unmet := row.Unmet(tx.states()); unmet != "" {
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
	if row.Then != ThenNothing {
		tx.then(row.Then)
	}
	return nil
}

// then has the decision go on with a step when its handler is done.
func (tx *Tx) then(s Step) { tx.next = s }

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
func info(err error) effect.Fault { return effect.Failed(err).Fault() }

// Document is what a row says, with its row. The types of this package that embed Row are documents.
type Document interface{ hot() *Row }

func (r *Row) hot() *Row { return r }

// Tx is one decision in the making: the snapshot's rows as copies, what was touched, and the records so far.
type Tx struct {
	Snapshot
	reads   *reads
	env     *Envelope
	now     time.Time
	trace   string
	ids     *pawl.IDSource
	touched []Document
	// seen are those of a decision that touches many.
	seen    map[Document]bool
	entries []audit.Entry
	result  any
	// next is what the decision goes on with when its handler is done.
	next Step
	// leased says that this very decision takes the lease, so that there is no older token to compare with.
	leased bool
}

// begin copies the snapshot's documents, so that deciding never changes what was loaded.
func begin(s *Snapshot, r *reads, env *Envelope, now time.Time) *Tx {
	tx := &Tx{Snapshot: *s, reads: r, env: env, now: now, trace: env.Trace}
	own(tx)
	return tx
}

// own copies the documents. It is apart from begin so that the compiler can put a begin in its caller's place, and the work
// on its caller's stack.
func own(tx *Tx) {
	tx.Session, tx.Run, tx.Flow, tx.Issue, tx.Item = clone(tx.Session), clone(tx.Run), clone(tx.Flow), clone(tx.Issue), clone(tx.Item)
	tx.Solution, tx.Approval, tx.Turn, tx.Task = clone(tx.Solution), clone(tx.Approval), clone(tx.Turn), clone(tx.Task)
	tx.Effect, tx.Talk, tx.Board, tx.Taking = clone(tx.Effect), clone(tx.Talk), clone(tx.Board), clone(tx.Taking)
	tx.Near = maps.Clone(tx.Near)
	tx.Links, tx.Questions, tx.Budgets, tx.Within = clones(tx.Links), clones(tx.Questions), clones(tx.Budgets), clones(tx.Within)
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

func clones[T any](list []*T) (out []*T) {
	for _, p := range list {
		out = append(out, clone(p))
	}
	return out
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
		err := apply(tx, task.Table, e, on, when, reason, meta, func(r *machine.Rule[task.State, task.Event]) *pawl.Error {
			if err := task.Admit(r, taskEvidence(tx, tx.Task, r)); err != nil {
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

// movePhase takes the run to another phase. The phase is a second state of the run's row (docs/spec/board.md#transitions), so its moves are
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
