package kernel

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"sync"
	"time"

	"pawl"
	"pawl/kernel/audit"
	"pawl/machine/task"
)

// maxConflicts is how often a command is decided anew because somebody else wrote first.
const maxConflicts = 16

// Kernel joins the pure decisions with a store, for one session of the workspace. The truth is the store's: what a
// Kernel remembers of it is a guess that every commit compares with the store. It is safe for concurrent use.
type Kernel struct {
	*core
	// lane is the label of the session that commands are about which name neither a task nor an effect.
	lane string
}

// core is what the kernels of all sessions of a workspace share.
type core struct {
	protocols *Protocols
	store     Store
	config    Config
	clock     pawl.Clock
	random    io.Reader
	hears     []func(Decided)
	cache     cache

	mu    sync.Mutex
	after []*func(Outcome) // replaced and never changed, so that it may be walked without the lock
}

// New returns a kernel over a store that decides by a table of protocols, for the session of the person who sits in the
// workspace. Random must be safe for concurrent use; crypto/rand.Reader is meant.
func New(p *Protocols, store Store, config Config, clock pawl.Clock, random io.Reader) *Kernel {
	return &Kernel{core: &core{protocols: p, store: store, config: config, clock: clock, random: random},
		lane: SessionLabel}
}

// Session returns the kernel for another session of the workspace: that of an issue of the board, by the issue's label.
// All kernels of a workspace share their store and what they remember of it.
func (k *Kernel) Session(label string) *Kernel { return &Kernel{core: k.core, lane: label} }

// OnCommit registers a function that is called after each commit in any session, in the goroutine of the committing
// call, with what was committed. It is for projections and for waking runners: it cannot change or refuse anything.
// What it returns ends that.
func (k *core) OnCommit(f func(Outcome)) (cancel func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.after = append(slices.Clip(k.after), &f)
	return func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.after = slices.DeleteFunc(slices.Clone(k.after), func(g *func(Outcome)) bool { return g == &f })
	}
}

// committed tells those who asked for it.
func (k *core) committed(out Outcome) {
	k.mu.Lock()
	after := k.after
	k.mu.Unlock()
	for _, f := range after {
		(*f)(out)
	}
}

// Decided is a decision that was committed, with all that it was decided from. Nothing of it may be changed.
type Decided struct {
	Snapshot *Snapshot
	Envelope Envelope
	Now      time.Time
	Decision Decision
	// Size is the size of the audit log after the commit.
	Size int64
}

// OnDecide registers a function that is called after each commit, in the goroutine of the committing call, with the
// decision and what it was decided from. Like those of OnCommit it cannot change or refuse anything, and is to be
// registered before the first Do. It may keep what it is given no longer than it runs.
func (k *core) OnDecide(f func(Decided)) { k.hears = append(k.hears, f) }

// Config returns the configuration that decisions are made with.
func (k *core) Config() *Config { return &k.config }

// Store returns the store for reading. Whatever writes goes through Do.
func (k *core) Store() Store { return k.store }

// Now returns the time of the kernel's clock.
func (k *core) Now() time.Time { return k.clock.Now().UTC().Truncate(time.Millisecond) }

// Outcome is what became of a command.
type Outcome struct {
	// Changed is false when the command asked for what is already so; nothing was written then.
	Changed bool
	// Replayed is true when a command with the same key had been committed before; Result is that command's.
	Replayed bool
	// Result is the answer as JSON: an id, a token, an effect, or null.
	Result json.RawMessage
	// Size is the size of the audit log after the commit.
	Size int64
	// Entries tell what happened, for live views.
	Entries []audit.Entry
}

// Do decides a command and commits the decision. When it returns without an error, everything that the decision says
// is on disk. A conflict with another writer is resolved by deciding anew on what the other one wrote. An error with
// code outcome_unknown means that the commit may or may not have happened; giving the command again with the same key
// is safe.
func (k *Kernel) Do(ctx context.Context, env Envelope) (Outcome, error) {
	if _, err := io.ReadFull(k.random, env.Nonce[:]); err != nil {
		return Outcome{}, pawl.Fail(pawl.CodeInternal, "kernel.no_randomness").Because(err)
	}
	if env.Trace == "" {
		env.Trace = hex.EncodeToString(env.Nonce[:])
	}
	for try := 0; ; try++ {
		out, err := k.once(ctx, &env, try > 0)
		if err == nil || !errors.Is(err, pawl.ErrConflict) || try >= maxConflicts || ctx.Err() != nil {
			return out, k.modeRefused(ctx, &env, err)
		}
		var e *pawl.Error
		if errors.As(err, &e) && e.Key != "store.stale" && e.Key != "store.exists" && e.Key != "store.label" {
			return out, err
		}
	}
}

// modeRefused records that a task's mode refused a command, and returns the refusal (docs/spec/task.md#d10).
func (k *Kernel) modeRefused(ctx context.Context, env *Envelope, refusal error) error {
	var e *pawl.Error
	c, ok := env.Command.(taskCommand)
	if !ok || c.AboutTask() == "" || !errors.As(refusal, &e) ||
		e.Code != pawl.CodeModeViolation && e.Key != "kernel.mode_retry" {
		return refusal
	}
	_, err := k.Do(ctx, Envelope{Actor: env.Actor, Trace: env.Trace,
		Command: &NoteRefusal{Task: c.AboutTask(), Rule: e.Rule, Refusal: Info(e)}})
	if err != nil {
		return errors.Join(refusal, err)
	}
	return refusal
}

// once decides and commits. A fresh decision guesses nothing.
func (k *Kernel) once(ctx context.Context, env *Envelope, fresh bool) (Outcome, error) {
	now := k.Now()
	var s *Snapshot
	var d Decision
	r, err := k.settle(ctx, env.Command, fresh, func(r *Reads) (bool, error) {
		err := r.gather(ctx, k.store, func() (err error) {
			if s, err = focus(k.protocols, r, &k.config, k.lane, env.Command); err == nil {
				err = env.holds(r, s)
			}
			if err == nil && len(r.open) == 0 && r.err == nil {
				d, err = decide(k.protocols, s, r, env, now)
			}
			return err
		})
		return d.Changed(), err
	})
	if env.Key != "" && (err != nil || !d.Changed()) {
		// What the command was given for may be so because it was given before.
		if out, before := k.givenBefore(ctx, env, now); before != nil || out.Replayed {
			return out, before
		}
	}
	if err != nil {
		return Outcome{}, err
	}
	result, err := json.Marshal(d.Result)
	if err != nil {
		return Outcome{}, pawl.Fail(pawl.CodeInternal, "kernel.result").Because(err)
	}
	if !d.Changed() {
		return Outcome{Result: result}, nil
	}
	batch, err := seal(&d, env, now, result)
	if err != nil {
		return Outcome{}, err
	}
	batch.Reads = r.onlyRead(&batch)
	done, err := k.store.Commit(ctx, batch)
	if err != nil {
		k.cache.forget(r, &batch)
		return Outcome{}, err
	}
	out := Outcome{Changed: true, Replayed: done.Replayed, Result: result, Size: done.Size, Entries: d.Entries}
	if done.Replayed {
		k.cache.forget(r, &batch)
		out.Result, out.Entries = done.Result, nil
	} else {
		for _, f := range k.hears {
			f(Decided{Snapshot: s, Envelope: *env, Now: now, Decision: d, Size: done.Size})
		}
		k.cache.committed(d.Touched, &batch)
	}
	k.committed(out)
	return out, nil
}

// guard sets the digest that guards the key.
func (b *Batch) guard(env *Envelope) error {
	if env.Key == "" {
		return nil
	}
	raw, err := json.Marshal(env.Command)
	if err != nil {
		return pawl.Fail(pawl.CodeInternal, "kernel.command").Because(err)
	}
	sum := sha256.Sum256(raw)
	b.Digest = hex.EncodeToString(sum[:])
	return nil
}

// givenBefore answers a command whose key was committed, with the outcome of then; without one it is no error, and not
// Replayed. It asks by a batch that changes nothing and can never be committed, as no row has that name.
func (k *Kernel) givenBefore(ctx context.Context, env *Envelope, now time.Time) (Outcome, error) {
	b := Batch{Key: env.Key, At: now, Reads: []Read{{Kind: KindSetting, ID: "never", Version: 1}}}
	if err := b.guard(env); err != nil {
		return Outcome{}, err
	}
	done, err := k.store.Commit(ctx, b)
	var e *pawl.Error
	if errors.As(err, &e) && e.Key != "store.key" {
		return Outcome{}, nil // it was not, or nobody can say: then the refusal stands
	}
	return Outcome{Changed: true, Replayed: done.Replayed, Result: done.Result, Size: done.Size}, err
}

// holds refuses a command that was given in view of something that is no more so.
func (env *Envelope) holds(r *Reads, s *Snapshot) error {
	at := int64(0)
	switch env.If.Kind {
	case KindSession:
		if s.Session != nil {
			at = s.Session.Version
		}
	case KindTask:
		if t := One[Task](r, ByID(KindTask, env.If.ID)); t != nil {
			at = t.Version
		}
	case KindIssue:
		if i := One[Issue](r, ByID(KindIssue, env.If.ID)); i != nil {
			at = i.Version
		}
	}
	if env.If.Kind != "" && at != env.If.Version {
		return pawl.Fail(pawl.CodeChanged, "kernel.changed", string(env.If.Kind), env.If.Version, at)
	}
	if env.Seen == "" {
		return nil
	}
	return seen(s, env.Seen)
}

// settle has a decision made, first by guess. One that changes something is compared with the store when it is
// committed. Any other answer counts if all guesses were right at one moment behind it, and is otherwise found anew
// on what the store holds.
func (k *Kernel) settle(
	ctx context.Context, c Command, fresh bool, decide func(*Reads) (changes bool, err error),
) (*Reads, error) {
	for {
		r := &Reads{}
		// Little of the board is cached, and a worker's question whether there is something to claim is mostly
		// answered with no: it is read once, not first guessed and then compared.
		if !OfBoard(c) {
			r.cache, r.guess = &k.cache, !fresh
		}
		changes, err := decide(r)
		if changes && err == nil {
			return r, nil
		}
		right, lost := r.hold(ctx, k.store)
		if right || lost != nil {
			return r, cmp.Or(err, lost)
		}
		fresh = true
	}
}

// seal gives the records their places in their subjects' chains and turns the documents into rows. It runs in the
// caller's goroutine, so that the one writer of the store has little to do.
func seal(d *Decision, env *Envelope, now time.Time, result []byte) (Batch, error) {
	b := Batch{Key: env.Key, Result: result, At: now, Attest: d.Attest, Retire: d.Retire}
	if err := b.guard(env); err != nil {
		return Batch{}, err
	}
	b.Records = make([]audit.Sealed, 0, len(d.Entries))
	rows := d.rows()
	for i := range d.Entries {
		entry := &d.Entries[i]
		r := rows[entry.Subject]
		if rows == nil {
			r = d.row(entry.Subject)
		}
		prev := r.AuditHash
		if r.AuditSeq == 0 {
			prev = audit.Genesis(entry.Subject)
		}
		s := audit.Seal(*entry, r.AuditSeq+1, prev)
		r.AuditSeq, r.AuditHash = s.Seq, s.Hash
		b.Records = append(b.Records, s)
	}
	b.Writes = make([]Write, len(d.Touched))
	for i, e := range d.Touched {
		doc, err := json.Marshal(e)
		if err != nil {
			return Batch{}, pawl.Fail(pawl.CodeInternal, "kernel.document").Because(err)
		}
		w := &b.Writes[i]
		w.Row = *e.hot()
		w.From = w.Version
		w.Version++
		w.UpdatedAt = now
		w.KeepDoc = w.From > 0 && bytes.Equal(doc, w.Doc)
		w.Doc = doc
	}
	return b, nil
}

// rows returns the touched rows by the subjects of their records where they are many, and otherwise nil.
func (d *Decision) rows() map[audit.Subject]*Row {
	if len(d.Touched) <= maxFew {
		return nil
	}
	rows := make(map[audit.Subject]*Row, len(d.Touched))
	for _, e := range d.Touched {
		rows[subject(e)] = e.hot()
	}
	return rows
}

// row returns the row that a record is about. It is among the few that the decision touched.
func (d *Decision) row(s audit.Subject) *Row {
	for _, e := range d.Touched {
		if r := e.hot(); r.ID == s.ID && string(r.Kind) == s.Kind {
			return r
		}
	}
	return nil
}

// Queued returns the tasks outside runs that may be claimed next, the highest rank first, found among the first so
// many that are queued. They are remembered, so that claiming one of them takes no further read; nothing of them may
// be changed.
func (k *Kernel) Queued(ctx context.Context, most int) ([]*Task, error) {
	rows, err := k.store.Load(ctx, Select{Kind: KindTask, States: []string{string(task.Queued)}, ByRank: true,
		Limit: most})
	if err != nil {
		return nil, err
	}
	var out []*Task
	for _, row := range rows[0] {
		t := new(Task)
		if err := Decode(row, t); err != nil {
			return nil, err
		}
		if t.Session == "" && !t.Due.After(k.Now()) {
			k.cache.put(row, t)
			out = append(out, t)
		}
	}
	return out, nil
}

// Decision is what a command comes to: the documents that change, already in their new form, and the records that tell
// of it. Nothing of it has happened yet.
type Decision struct {
	// Touched are the documents to write, in the order in which they were first changed.
	Touched []Document
	Entries []audit.Entry
	// Result is the answer to the caller: an id, a token, or nil.
	Result any
	// Attest and Retire are those of the batch.
	Attest bool        `json:"-"`
	Retire *Retirement `json:"-"`
}

// Changed reports whether there is anything to commit. A command that asks for what is already so changes nothing.
func (d *Decision) Changed() bool { return len(d.Touched) > 0 }

// Decide decides one command by a table of protocols, on a snapshot at an instant. It is a pure function: the same
// arguments give the same decision, and the snapshot is not changed. An error means that nothing is to be written.
func Decide(p *Protocols, s *Snapshot, env *Envelope, now time.Time) (Decision, error) {
	return decide(p, s, nil, env, now)
}

// decide is Decide with the reads that the snapshot was made of, of which more may be asked. Without them the snapshot
// is all that there is. A command that reports what was done says by Refused which command to decide instead if it is
// refused, nil for none: what was done must not be done again because of a refusal.
func decide(p *Protocols, s *Snapshot, r *Reads, env *Envelope, now time.Time) (Decision, error) {
	d, err := decideOn(p, s, r, env, now)
	c, ok := env.Command.(interface{ Refused(err error) Command })
	if err == nil || !ok || r != nil && (len(r.open) > 0 || r.err != nil) {
		return d, err // or more must be read first
	}
	instead := *env
	if instead.Command = c.Refused(err); instead.Command != nil {
		if other, refused := decideOn(p, s, r, &instead, now); refused == nil {
			return other, nil
		}
	}
	return d, err
}

// decideOn decides a command as it was given.
func decideOn(p *Protocols, s *Snapshot, r *Reads, env *Envelope, now time.Time) (Decision, error) {
	if c, ok := env.Command.(*Transition); ok {
		if done, err := refuseEarly(s, c); done || err != nil {
			return Decision{}, err
		}
		if s.Task == nil || s.Task.Session == "" {
			// The commonest command is not handled with the others, so that the compiler sees that its work ends with
			// this call.
			tx := begin(p, s, r, env, now)
			return decision(tx, c.alone(tx))
		}
		tx := begin(p, s, r, env, now)
		return decision(tx, followUp(tx, c.Decide(tx)))
	}
	if err := forAgents(env); err != nil {
		return Decision{}, err
	}
	tx := begin(p, s, r, env, now)
	for _, check := range p.Before {
		if err := check(tx); err != nil {
			return Decision{}, err
		}
	}
	if err := flowFree(tx); err != nil {
		return Decision{}, err
	}
	if tx.Session == nil && OfBoard(env.Command) {
		return Decision{}, pawl.Fail(pawl.CodeNotFound, "kernel.not_initialised")
	}
	err := followUp(tx, env.Command.Decide(tx))
	if err == nil {
		keepSilence(tx)
	}
	for _, follow := range p.After {
		if err == nil {
			err = follow(tx)
		}
	}
	return decision(tx, err)
}

// followUp takes the steps that follow on what was decided, one after the other.
func followUp(tx *Tx, err error) error {
	for err == nil && tx.next != ThenNothing {
		step := tx.next
		tx.next = ThenNothing
		err = Take(tx, step)
	}
	return err
}

// decision returns what was decided, or nothing where it was refused.
func decision(tx *Tx, err error) (Decision, error) {
	if err != nil {
		return Decision{}, err
	}
	return Decision{Touched: tx.touched, Entries: tx.entries, Result: tx.Result, Attest: tx.Attest,
		Retire: tx.Retire}, nil
}

// agentCommand is a command that an agent may give, some in certain forms only.
type agentCommand interface{ ForAgents() bool }

// forAgents refuses what an agent must never do, by whatever way it comes: it reports, asks and proposes. Approving,
// undoing and moving tasks are for people, and for the policies that they wrote.
func forAgents(env *Envelope) error {
	if env.Actor.Kind() != pawl.KindAgent {
		return nil
	}
	if c, ok := env.Command.(agentCommand); ok && c.ForAgents() {
		return nil
	}
	return pawl.Fail(pawl.CodeDenied, "kernel.not_for_agents", string(env.Actor))
}

// look is a command that needs what everybody does, and decides nothing.
type look struct{}

func (look) Decide(*Tx) error { return nil }

func (look) ChargedDays(*Snapshot) []time.Time { return nil }

// Snapshot reads the session with the run, the task, the turn and the effect that it is at, for runners and faces.
// Before the workspace is initialised the snapshot has no session.
func (k *Kernel) Snapshot(ctx context.Context) (s *Snapshot, err error) {
	_, err = k.settle(ctx, look{}, false, func(r *Reads) (bool, error) {
		err := r.gather(ctx, k.store, func() (err error) {
			s, err = focus(k.protocols, r, &k.config, k.lane, look{})
			return err
		})
		return false, err
	})
	return s, err
}

// TaskSnapshot reads one task with its effect and its run, wherever it belongs. The id may be a ULID or a label such as
// T-001.
func (k *Kernel) TaskSnapshot(ctx context.Context, id string) (*Snapshot, error) {
	s, r := &Snapshot{Config: &k.config}, &Reads{}
	named := ByID(KindTask, id)
	if len(id) != IDLength {
		named = ByLabel(KindTask, id)
	}
	err := r.gather(ctx, k.store, func() error {
		if s.Task = One[Task](r, named); s.Task == nil {
			return notFound(id)
		}
		s.Effect, s.Turn = One[EffectDoc](r, ByID(KindEffect, s.Task.Effect)), One[Turn](r, ByID(KindTurn, s.Task.Turn))
		s.Run = One[Run](r, ByID(KindRun, s.Task.Parent))
		return nil
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Effect reads one effect.
func (k *Kernel) Effect(ctx context.Context, id string) (e *EffectDoc, err error) {
	r := &Reads{}
	err = r.gather(ctx, k.store, func() error {
		e = One[EffectDoc](r, ByID(KindEffect, id))
		return nil
	})
	return e, err
}

// ToolCalls reads the calls that are at work in the middle of an agent's effect.
func (k *Kernel) ToolCalls(ctx context.Context, id string) ([]*EffectDoc, error) {
	return listed[EffectDoc](ctx, k.store, within(id))
}

// LastRun reads the newest run that has ended, with all that belongs to it, for its summary. The snapshot has no run
// when none has ended.
func (k *Kernel) LastRun(ctx context.Context) (s *Snapshot, err error) {
	r := &Reads{}
	err = r.gather(ctx, k.store, func() error {
		at := One[Session](r, ByLabel(KindSession, k.lane))
		if s = k.lastRun(r, at); s == nil {
			s = &Snapshot{Config: &k.config, Session: at}
			return nil
		}
		turnID := s.Run.Turn
		if s.Task != nil {
			turnID = s.Task.Turn
		}
		s.Issue, s.Item = One[Issue](r, ByID(KindIssue, s.Run.Issue)), One[Item](r, ByID(KindItem, s.Run.Item))
		s.Solution, s.Turn = One[Solution](r, ByID(KindSolution, s.Run.Solution)), One[Turn](r, ByID(KindTurn, turnID))
		return nil
	})
	return s, err
}

// lastRun gathers the newest run that is over and its task, or returns nil.
func (k *Kernel) lastRun(r *Reads, at *Session) *Snapshot {
	if at == nil {
		return nil
	}
	runs := Below(KindRun, at.ID)
	runs.newest, runs.Limit = true, 2
	for _, run := range List[Run](r, runs) {
		if run.ID != at.Run {
			return &Snapshot{Config: &k.config, Session: at, Run: run, Task: One[Task](r, ByID(KindTask, run.Task))}
		}
	}
	return nil
}

// Questions reads the open questions, oldest first.
func (k *Kernel) Questions(ctx context.Context) ([]*Question, error) {
	return listed[Question](ctx, k.store, OpenQuestions)
}
