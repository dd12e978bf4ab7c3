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
	"pawl/kernel/word"
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
	// If is a row that has to be at its version still, or the command is CodeChanged: the session that it is about, its
	// task or an issue of the board. Without a kind nothing is asked for. Seen is the hash of the question that was
	// shown, or its beginning, which has to be the open one still; "" is for commands that were given without one.
	If   Read
	Seen string
	// Trace joins the command's records; "" takes the key of the batch.
	Trace string
	// Claim is the fencing token of the claim on an issue of the board under which a worker speaks, 0 for everybody
	// else. Once the claim is another's, nothing that it says is done, but for the receipt of what it began before.
	Claim int64
	// Nonce is randomness for the ids that the decision makes.
	Nonce   [16]byte
	Command Command
	// Word is the person's by a key of theirs, nil where somebody is seen who gives the command.
	Word *word.Signed
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
	// Talk is the agent's conversation about the task's step; Within are the calls at work inside the effect, and for a
	// command about notices those that there are.
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
	// ~exec names, Named the alias of one.
	Names  map[string]bool
	Taking *Solution
	Named  *Alias
}

// Stage returns the stage of the flow.
func (s *Snapshot) Stage() workflow.Stage {
	if s.Flow == nil {
		return workflow.None
	}
	return s.Flow.Stage
}

// Protocols is the table that joins the packages of the protocols. Each of them knows the kernel and none of the
// others; where one has another go on, it names a step, and the table says whose it is. A table is a value that is made
// once and never changed.
type Protocols struct {
	// Rows is the composition table, by what happened.
	Rows map[Event]Composition
	// Commands are the commands that there are, an empty one of each.
	Commands []Command
	// Steps carry out what decisions go on with.
	Steps map[Step]func(*Tx) error
	// Effects are carried on by what asked for them, by their kinds.
	Effects map[effect.Kind]Follow
	// Answers take a person's word about an approval, by what that is about; AnyAction takes it about everything else.
	Answers   map[string]Reply
	AnyAction Reply
	// Books keep what work costs.
	Books Books
	// Before are tried before anything is decided: an error refuses the command. After bring up to date what follows
	// the session, once all the rest is decided.
	Before, After []func(*Tx) error
}

// Follow is how an effect of a kind goes on.
type Follow struct {
	// Fill completes what its runner is given when it begins, from what is kept elsewhere. Nil adds nothing.
	Fill func(*Tx, effect.Effect) (effect.Effect, error)
	// Done takes its receipt.
	Done func(*Tx, effect.Receipt) error
	// Unwanted says that the receipt is left aside, and what is there cleaned up, when the task is to be canceled.
	Unwanted bool
}

// Reply is who takes a person's word about an approval.
type Reply struct {
	Granted func(tx *Tx, a *Approval) error
	Refused func(tx *Tx, a *Approval, reason string) error
}

// Books are who charges the budgets.
type Books struct {
	// Read gathers the budgets that a command may charge.
	Read func(r *Reads, s *Snapshot, c Command)
	// Begin charges an effect that is to begin on a day, and refuses one that does not fit.
	Begin func(tx *Tx, e *EffectDoc, day time.Time) error
	// End charges the time that an effect took, if it was begun.
	End func(tx *Tx, e *EffectDoc)
	// Call charges a call in the middle of an agent's effect, and refuses one that does not fit.
	Call func(tx *Tx, tool string, day time.Time) error
	// Forfeit counts what an effect still holds as spent.
	Forfeit func(tx *Tx, effectID string)
}

// Take carries out a step at once, in the middle of what is decided; then has the decision go on with one.
func Take(tx *Tx, s Step) error {
	f := tx.Protocols.Steps[s]
	if f == nil {
		return pawl.Fail(pawl.CodeInternal, "kernel.unknown_happening", string(s))
	}
	return f(tx)
}

// Tx is one decision in the making: the snapshot's rows as copies, what was touched, and the records so far.
type Tx struct {
	Snapshot
	// Protocols is the table by which is decided, Env the command with the word on which it is given, Now the instant,
	// and Trace what joins the records. None of them is changed.
	Protocols *Protocols
	Env       *Envelope
	Now       time.Time
	Trace     string
	// Result is the answer to the caller.
	Result any
	// Key is the fingerprint of the key by which a person's word was given, "" where none was asked for one.
	Key string
	// Voice is in whose name a person's word is given without the person: a policy, "" for nobody.
	Voice   pawl.Actor
	reads   *Reads
	ids     *pawl.IDSource
	touched []Document
	// seen are those of a decision that touches many.
	seen    map[Document]bool
	entries []audit.Entry
	// next is what the decision goes on with when its handler is done.
	next Step
	// leased says that this very decision takes the lease, so that there is no older token to compare with.
	leased bool
	// Retire is what is taken out of the store with this decision (Batch.Retire).
	Retire *Retirement
	// Attest says that what is decided is followed by something that may happen once (Batch.Attest).
	Attest bool
}

// begin copies the snapshot's documents, so that deciding never changes what was loaded.
func begin(p *Protocols, s *Snapshot, r *Reads, env *Envelope, now time.Time) *Tx {
	tx := &Tx{Snapshot: *s, Protocols: p, reads: r, Env: env, Now: now}
	own(tx)
	return tx
}

// own copies the documents. It is apart from begin so that the compiler can put a begin in its caller's place, and the
// work on its caller's stack.
func own(tx *Tx) {
	tx.Session, tx.Run, tx.Flow, tx.Issue, tx.Item = Clone(tx.Session), Clone(tx.Run), Clone(tx.Flow), Clone(tx.Issue),
		Clone(tx.Item)
	tx.Solution, tx.Approval, tx.Turn, tx.Task = Clone(tx.Solution), Clone(tx.Approval), Clone(tx.Turn), Clone(tx.Task)
	tx.Effect, tx.Talk, tx.Board, tx.Taking = Clone(tx.Effect), Clone(tx.Talk), Clone(tx.Board), Clone(tx.Taking)
	tx.Named = Clone(tx.Named)
	tx.Near = maps.Clone(tx.Near)
	tx.Links, tx.Questions, tx.Budgets, tx.Within = clones(tx.Links), clones(tx.Questions), clones(tx.Budgets),
		clones(tx.Within)
	tx.Trace = cmp.Or(tx.Env.Trace, tx.Env.Key)
}

// NewID makes an id for a new row. Its "randomness" is that of the command's nonce, so that the same command decides
// the same ids.
func (tx *Tx) NewID() string {
	if tx.ids == nil {
		sum := sha256.Sum256(tx.Env.Nonce[:])
		tx.ids = pawl.NewIDSource(tx.Now, bytes.NewReader(sum[:]))
	}
	id, err := tx.ids.Next()
	if err != nil {
		// A hash has bytes enough for the first id, and a decision makes too few to come to the end of a millisecond's
		// 2^80.
		panic(err)
	}
	return string(id)
}

// Create makes the row of a new document and touches it.
func (tx *Tx) Create(e Document, kind Kind, label, parent, state string) {
	*e.hot() = Row{Kind: kind, ID: tx.NewID(), Label: label, Parent: parent, State: state, CreatedAt: tx.Now,
		UpdatedAt: tx.Now}
	tx.Touch(e)
}

// Touch marks a document as changed by this decision.
func (tx *Tx) Touch(e Document) {
	if !Touches(tx, e) {
		tx.touched = append(tx.touched, e)
	}
}

// Touches reports whether a document is marked as changed.
func Touches(tx *Tx, e Document) bool {
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

// Discard has a decision change nothing, because everything is as it should be.
func Discard(tx *Tx) { tx.touched = nil }

// Changes reports whether a decision has changed, so far, a document of which something is so.
func Changes(tx *Tx, so func(Document) bool) bool { return slices.ContainsFunc(tx.touched, so) }

// LookAhead has issues read by their ids, before the decision is made again, that it will ask for next.
func LookAhead(tx *Tx, ahead func(r *Reads, load func(ids []string) error) error) {
	if r := tx.reads; r != nil {
		r.ahead = func(load func([]string) error) error { return ahead(r, load) }
	}
}

// Record adds an audit record that is not a transition.
func (tx *Tx) Record(e Document, event AuditEvent, level audit.Level, data any) {
	tx.Touch(e)
	tx.entries = append(tx.entries, audit.Entry{
		Subject: subject(e), Level: level, Event: string(event), Actor: tx.Env.Actor, Data: Encode(data), At: tx.Now,
		Trace: tx.Trace,
	})
}

// Level is the level of a record about something that worked, or did not.
func Level(ok bool) audit.Level {
	if ok {
		return audit.Info
	}
	return audit.Warn
}

func subject(e Document) audit.Subject {
	r := e.hot()
	return audit.Subject{Kind: string(r.Kind), ID: r.ID}
}

// Encode writes data of our own types as JSON; they always encode.
func Encode(v any) json.RawMessage {
	if v == nil {
		return nil
	}
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return raw
}

// Emit commits an effect to be done. It belongs to the task when there is one at work, else to the session.
func (tx *Tx) Emit(kind effect.Kind, spec any, idempotent bool) *EffectDoc {
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
	tx.Create(e, KindEffect, "", owner, EffectPending)
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
		tx.Touch(tx.Task)
	} else if parent != nil {
		parent.Effect = e.ID
		tx.Touch(parent)
	}
	tx.Record(e, AuditEffectRequested, audit.Info, map[string]any{"effect": kind, "idempotent": idempotent})
	return e
}

// sessionEffect reports whether an effect of the kind belongs to the session as a whole rather than to a task.
func sessionEffect(k effect.Kind) bool {
	switch k {
	case effect.KindIntake, effect.KindContext, effect.KindPlan, effect.KindArchive, effect.KindRevert,
		effect.KindClose:
		return true
	}
	return k.Ordered()
}

// EffectAtWork returns the effect that a command speaks of, if it still is the caller's.
func EffectAtWork(tx *Tx, id string, token int64) (*EffectDoc, error) {
	e := tx.Effect
	if e == nil {
		return nil, pawl.Fail(pawl.CodeNotFound, "kernel.effect_not_found", id)
	}
	if e.State != EffectRunning || e.Epoch != token {
		return nil, pawl.Fail(pawl.CodeFenced, "kernel.effect_fenced", e.ID, e.State, token, e.Epoch)
	}
	return e, nil
}

// PlannerTraits returns the traits of the agent that judges and plans in the run.
func PlannerTraits(tx *Tx) Traits {
	if tx.Run == nil {
		return Traits{}
	}
	return tx.Config.Agents[tx.Run.Plans()]
}

// TraitsOf returns the traits of the run's agent.
func TraitsOf(tx *Tx) Traits {
	if tx.Run == nil {
		return Traits{}
	}
	return tx.Config.Agents[tx.Run.Agent]
}

// Want has the decision made anew once a query is answered, unless it is already.
func (tx *Tx) Want(a Query) {
	if tx.reads != nil {
		tx.reads.Get(a)
	}
}

// IsTaken reports whether a name is taken that a row would have.
func IsTaken(tx *Tx, kind Kind, prefix, name string) bool {
	tx.Want(ByLabel(kind, prefix+name).Hot())
	return tx.Names[name]
}

// PackageNamed returns the alias of a package, nil for one that is not known.
func PackageNamed(tx *Tx, name string) *Alias {
	tx.Want(ByLabel(KindAlias, PackageAlias+name))
	if a := tx.Named; a != nil && a.Label == PackageAlias+name {
		return a
	}
	return nil // of an earlier guess at a name
}

// boardCommand is a command about the board, which is there once the workspace has a session.
type boardCommand interface{ OfBoard() }

// OfBoard reports whether a command is about the board.
func OfBoard(c Command) bool {
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
		u.ParkedAt = tx.Now
	case was && !is && !u.ParkedAt.IsZero():
		if tx.Task != nil && !tx.Task.StartedAt.IsZero() {
			tx.Task.Waited += tx.Now.Sub(u.ParkedAt)
			tx.Touch(tx.Task)
		}
		u.ParkedAt = time.Time{}
	}
	if len(u.Asked) == 0 || turn.State(u.State).Active() {
		return
	}
	for _, q := range slices.Clone(tx.Questions) {
		if q.Step != "" && q.State == QuestionOpen && slices.Contains(u.Asked, q.ID) {
			CloseQuestion(tx, q, "")
		}
	}
	u.Asked, u.Questions = nil, nil
}

// CloseQuestion settles a question; without an answer it is dismissed.
func CloseQuestion(tx *Tx, q *Question, answer string) {
	q.State, q.Answer, q.AnsweredBy, q.AnsweredAt = QuestionAnswered, answer, tx.Env.Actor, tx.Now
	if answer == "" {
		q.State = QuestionDismissed
	}
	tx.Record(q, auditQuestionAs.In(q.State), audit.Info,
		map[string]any{"question": q.Label, "answer": answer, "by": tx.Env.Actor})
	if u := tx.Turn; u != nil {
		if i := slices.Index(u.Asked, q.ID); i >= 0 {
			u.Asked, u.Questions = slices.Delete(slices.Clone(u.Asked), i, i+
				1), slices.Delete(slices.Clone(u.Questions), i, i+1)
			tx.Touch(u)
		}
	}
}
