// Package kernel decides and commits. Decide is a pure function from a snapshot of the store, a command and an instant
// to a decision: which rows change, by which rows of the published tables, with which records, and which effects are to
// happen. Do loads the snapshot, decides, seals the records and commits everything in one transaction; only then does a
// caller learn of it and only then may anything act on it (ARCHITECTURE.md, "Decide, commit, act, report").
//
// The same Decide serves production, the crash sweeps, the exploration of the joint machine and the dry run.
package kernel

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"pawl"
	"pawl/kernel/audit"
	"pawl/kernel/effect"
	"pawl/machine/turn"
	"pawl/machine/workflow"
)

// Command is what somebody wants to happen. Each is decided on its own and committed whole or not at all.
type Command interface {
	// Decide makes the decision on a transaction. An error means that nothing of it is to be written.
	Decide(tx *Tx) error
}

// Envelope carries a command with the word on which it is given.
type Envelope struct {
	Actor pawl.Actor
	// Key makes the command idempotent: given again with the same key it is answered with the first outcome.
	Key string
	// Trace joins the command's records; "" takes the key of the batch.
	Trace string
	// Claim is the fencing token of the claim on an issue of the board under which a worker speaks, 0 for everybody
	// else. Once the claim is another's, nothing that it says is done, but for the receipt of what it began before.
	Claim int64
	// Nonce is randomness for the ids that the decision makes.
	Nonce   [16]byte
	Command Command
}

// Snapshot is what a decision is made from: the rows that the command concerns, as they were at one moment. Decide
// works on copies and never changes a snapshot.
type Snapshot struct {
	Config  *Config
	Session *Session
	Run     *Run
	Flow    *Flow
	Issue   *Issue
	Item    *Item
	// Solution is the plan of the run, Approval the open question.
	Solution *Solution
	Approval *Approval
	Turn     *Turn
	// Task is the task that the command is about, or the run's; Effect likewise the effect.
	Task   *Task
	Effect *EffectDoc
	// Talk is the agent's conversation about the task's step; Within are the calls at work inside the effect.
	Talk   *Conversation
	Within []*EffectDoc
	// Incidents are what was learnt from earlier failures, newest first, for an agent that begins its work.
	Incidents []*Incident
	// Questions are the open questions, oldest first, for a command that is about them or a turn that waits for some.
	Questions []*Question
	// Budgets are those that the effect is charged to.
	Budgets []*Budget
	// Trail are the states that the task's audit records tell of, oldest first, with the number of records; they are
	// loaded when the task may become done.
	Trail      []string
	TrailCount int
	// Labels that are taken, for names that must be unique: checkpoints of this minute.
	Taken []string
	// Board is the batch at work; Near are the issues of the board that the command is about or that lie around it, by
	// id, and Links those that depend on the one that it is about.
	Board *Board
	Near  map[string]*Issue
	Links []*Link
	// AtWork is how many issues are being planned or carried out, for a command that ends the batch.
	AtWork int
	// Names says of names of packages, and of labels of issues, whether they are taken; Taking is the package that
	// ~exec names.
	Names  map[string]bool
	Taking *Solution
}

// Stage returns the stage of the flow.
func (s *Snapshot) Stage() workflow.Stage {
	if s.Flow == nil {
		return workflow.None
	}
	return s.Flow.Stage
}

// Step is what a decision goes on with: a handler notes what happened and does not call the next one.
type Step string

// The steps. Each is taken in the transaction of what it follows on, after all else of it.
const (
	ThenNothing Step = ""
	ThenIntake  Step = "intake"  // the requirement is judged
	ThenContext Step = "context" // the facts about the workspace are looked for
	ThenPlan    Step = "plan"    // a plan is made
	ThenAdvance Step = "advance" // what comes next for the task at work
	ThenCleanup Step = "cleanup" // what the task leaves unfinished is saved, and its worktree goes
	ThenArchive Step = "archive" // the archive's files are written
	ThenJudge   Step = "judge"   // a requirement that is clear gets its way of working
	ThenMeasure Step = "measure" // what a tweak has really changed is looked at
	ThenRepair  Step = "repair"  // a repair of the present failure is asked for
	ThenVerify  Step = "verify"  // the checks of the turn run
	ThenGates   Step = "gates"   // the gates of the task run
	ThenResolve Step = "resolve" // an agent's call goes on with what a person says of its outcome
	ThenRestore Step = "restore" // what a rollback needs is asked for
	ThenCancel  Step = "cancel"  // the task is canceled, for the reason that it has
	ThenSkip    Step = "skip"    // the task is left behind, for the reason that it has
)

// Tx is one decision in the making: the snapshot's rows as copies, what was touched, and the records so far.
type Tx struct {
	Snapshot
	protocols *Protocols
	reads     *reads
	env       *Envelope
	now       time.Time
	trace     string
	ids       *pawl.IDSource
	touched   []Document
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
func begin(p *Protocols, s *Snapshot, r *reads, env *Envelope, now time.Time) *Tx {
	tx := &Tx{Snapshot: *s, protocols: p, reads: r, env: env, now: now}
	own(tx)
	return tx
}

// own copies the documents. It is apart from begin so that the compiler can put a begin in its caller's place, and the
// work on its caller's stack.
func own(tx *Tx) {
	tx.Session, tx.Run, tx.Flow, tx.Issue, tx.Item = clone(tx.Session), clone(tx.Run), clone(tx.Flow), clone(tx.Issue),
		clone(tx.Item)
	tx.Solution, tx.Approval, tx.Turn, tx.Task = clone(tx.Solution), clone(tx.Approval), clone(tx.Turn), clone(tx.Task)
	tx.Effect, tx.Talk, tx.Board, tx.Taking = clone(tx.Effect), clone(tx.Talk), clone(tx.Board), clone(tx.Taking)
	tx.Near = maps.Clone(tx.Near)
	tx.Links, tx.Questions, tx.Budgets, tx.Within = clones(tx.Links), clones(tx.Questions), clones(tx.Budgets),
		clones(tx.Within)
	tx.trace = cmp.Or(tx.env.Trace, tx.env.Key)
}

// newID makes an id for a new row. Its "randomness" is that of the command's nonce, so that the same command decides
// the same ids.
func (tx *Tx) newID() string {
	if tx.ids == nil {
		sum := sha256.Sum256(tx.env.Nonce[:])
		tx.ids = pawl.NewIDSource(tx.now, bytes.NewReader(sum[:]))
	}
	id, err := tx.ids.Next()
	if err != nil {
		// A hash has bytes enough for the first id, and a decision makes too few to come to the end of a millisecond's
		// 2^80.
		panic(err)
	}
	return string(id)
}

// create makes the row of a new document and touches it.
func (tx *Tx) create(e Document, kind Kind, label, parent, state string) {
	*e.hot() = Row{Kind: kind, ID: tx.newID(), Label: label, Parent: parent, State: state, CreatedAt: tx.now,
		UpdatedAt: tx.now}
	tx.touch(e)
}

// touch marks a document as changed by this decision.
func (tx *Tx) touch(e Document) {
	if !touches(tx, e) {
		tx.touched = append(tx.touched, e)
	}
}

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

// discard has a decision change nothing, because everything is as it should be.
func discard(tx *Tx) { tx.touched = nil }

// changes reports whether a decision has changed, so far, a document of which something is so.
func changes(tx *Tx, so func(Document) bool) bool { return slices.ContainsFunc(tx.touched, so) }

// lookAhead has issues read by their ids, before the decision is made again, that it will ask for next.
func lookAhead(tx *Tx, ahead func(r *reads, load func(ids []string) error) error) {
	if r := tx.reads; r != nil {
		r.ahead = func(load func([]string) error) error { return ahead(r, load) }
	}
}

// record adds an audit record that is not a transition.
func (tx *Tx) record(e Document, event AuditEvent, level audit.Level, data any) {
	tx.touch(e)
	tx.entries = append(tx.entries, audit.Entry{
		Subject: subject(e), Level: level, Event: string(event), Actor: tx.env.Actor, Data: encode(data), At: tx.now,
		Trace: tx.trace,
	})
}

func level(ok bool) audit.Level {
	if ok {
		return audit.Info
	}
	return audit.Warn
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

// effectAtWork returns the effect that a command speaks of, if it still is the caller's.
func effectAtWork(tx *Tx, id string, token int64) (*EffectDoc, error) {
	e := tx.Effect
	if e == nil {
		return nil, pawl.Fail(pawl.CodeNotFound, "kernel.effect_not_found", id)
	}
	if e.State != EffectRunning || e.Epoch != token {
		return nil, pawl.Fail(pawl.CodeFenced, "kernel.effect_fenced", e.ID, e.State, token, e.Epoch)
	}
	return e, nil
}

// traits returns the traits of the run's agent.
func traits(tx *Tx) Traits {
	if tx.Run == nil {
		return Traits{}
	}
	return tx.Config.Agents[tx.Run.Agent]
}

// want has the decision made anew once a query is answered, unless it is already.
func (tx *Tx) want(a query) {
	if tx.reads != nil {
		tx.reads.get(a)
	}
}

// isTaken reports whether a name is taken that a row would have.
func isTaken(tx *Tx, kind Kind, prefix, name string) bool {
	tx.want(byLabel(kind, prefix+name).hot())
	return tx.Names[name]
}

// boardCommand is a command about the board, which is there once the workspace has a session.
type boardCommand interface{ ofBoard() }

// ofBoard reports whether a command is about the board.
func ofBoard(c Command) bool {
	_, ok := c.(boardCommand)
	return ok
}

// turnParked reports whether the turn waits for a person.
func turnParked(tx *Tx) bool { return tx.Turn != nil && turn.State(tx.Turn.State).Parked() }

// turnMoved is called behind every event. Time in which a turn waits for a person is noted, and a turn that is over
// waits for no answer any more: what only its own agent wanted to know is dismissed.
func turnMoved(tx *Tx, u *Turn, was bool) {
	if u == nil || u != tx.Turn {
		return
	}
	switch is := turnParked(tx); {
	case is && !was:
		u.ParkedAt = tx.now
	case was && !is && !u.ParkedAt.IsZero():
		if tx.Task != nil && !tx.Task.StartedAt.IsZero() {
			tx.Task.Waited += tx.now.Sub(u.ParkedAt)
			tx.touch(tx.Task)
		}
		u.ParkedAt = time.Time{}
	}
	if len(u.Asked) == 0 || turn.State(u.State).Active() {
		return
	}
	for _, q := range slices.Clone(tx.Questions) {
		if q.Step != "" && q.State == QuestionOpen && slices.Contains(u.Asked, q.ID) {
			closeQuestion(tx, q, "")
		}
	}
	u.Asked, u.Questions = nil, nil
}

// closeQuestion settles a question; without an answer it is dismissed.
func closeQuestion(tx *Tx, q *Question, answer string) {
	q.State, q.Answer, q.AnsweredBy, q.AnsweredAt = QuestionAnswered, answer, tx.env.Actor, tx.now
	if answer == "" {
		q.State = QuestionDismissed
	}
	tx.record(q, auditQuestionAs.in(q.State), audit.Info,
		map[string]any{"question": q.Label, "answer": answer, "by": tx.env.Actor})
	if u := tx.Turn; u != nil {
		if i := slices.Index(u.Asked, q.ID); i >= 0 {
			u.Asked, u.Questions = slices.Delete(slices.Clone(u.Asked), i, i+
				1), slices.Delete(slices.Clone(u.Questions), i, i+1)
			tx.touch(u)
		}
	}
}
