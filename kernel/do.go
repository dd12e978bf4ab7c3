package kernel

import (
	"bytes"
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
	"pawl/audit"
	"pawl/effect"
	"pawl/machine/session"
	"pawl/machine/task"
)

// maxConflicts is how often a command is decided anew because somebody else wrote first.
const maxConflicts = 16

// Kernel joins the pure decisions with a store, for one session of the workspace. The truth is the store's: what a Kernel
// remembers of it is a guess that every commit compares with the store. It is safe for concurrent use.
type Kernel struct {
	*core
	// lane is the label of the session that commands are about which name neither a task nor an effect.
	lane string
}

// core is what the kernels of all sessions of a workspace share.
type core struct {
	store  Store
	config Config
	clock  pawl.Clock
	random io.Reader
	hears  []func(Decided)
	recent recent
	memory memory

	mu    sync.Mutex
	after []*func(Outcome) // replaced and never changed, so that it may be walked without the lock
}

// New returns a kernel over a store, for the session of the person who sits in the workspace. Random must be safe for
// concurrent use; crypto/rand.Reader is meant.
func New(store Store, config Config, clock pawl.Clock, random io.Reader) *Kernel {
	return &Kernel{core: &core{store: store, config: config, clock: clock, random: random}, lane: SessionLabel}
}

// Lane returns the kernel for another session of the workspace: that of an issue of the board, by the label. All
// kernels of a workspace share their store and what they remember of it.
func (k *Kernel) Lane(label string) *Kernel { return &Kernel{core: k.core, lane: label} }

// OnCommit registers a function that is called after each commit in any session, in the goroutine of the committing call,
// with what was committed. It is for projections and for waking runners: it cannot change or refuse anything. What it
// returns ends that.
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
// decision and what it was decided from. Like those of OnCommit it cannot change or refuse anything, and is to be registered
// before the first Do. It may keep what it is given no longer than it runs.
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

// Ended reports whether the commit closed a task for good or brought the session to rest, which is when a checkpoint of
// the audit log is worth signing.
func (o Outcome) Ended() bool {
	for _, e := range o.Entries {
		if e.Move == nil {
			continue
		}
		switch Kind(e.Subject.Kind) {
		case KindTask:
			if task.State(e.Move.To).Terminal() {
				return true
			}
		case KindSession:
			if e.Move.To == string(session.Idle) || e.Move.To == string(session.Blocked) {
				return true
			}
		}
	}
	return false
}

// MovesSession reports whether the commit changed the session's state.
func (o Outcome) MovesSession() bool {
	for _, e := range o.Entries {
		if e.Subject.Kind == string(KindSession) {
			return true
		}
	}
	return false
}

// Do decides a command and commits the decision. When it returns without an error, everything that the decision says is
// on disk. A conflict with another writer is resolved by deciding anew on what the other one wrote. An error with code
// outcome_unknown means that the commit may or may not have happened; giving the command again with the same key is safe.
func (k *Kernel) Do(ctx context.Context, env Envelope) (Outcome, error) {
	if _, err := io.ReadFull(k.random, env.Nonce[:]); err != nil {
		return Outcome{}, pawl.Fail(pawl.CodeInternal, "kernel.no_randomness").Because(err)
	}
	if env.Trace == "" {
		env.Trace = hex.EncodeToString(env.Nonce[:])
	}
	for try := 0; ; try++ {
		out, err := k.once(ctx, &env)
		if err == nil || !errors.Is(err, pawl.ErrConflict) || try >= maxConflicts || ctx.Err() != nil {
			return out, err
		}
		var e *pawl.Error
		if errors.As(err, &e) && e.Key != "store.stale" && e.Key != "store.exists" && e.Key != "store.label" {
			return out, err
		}
	}
}

// HeldUp reports whether an error of Do says that nothing was written because the store's turn did not come: another process has
// its lock, or is far behind. The same command may be given again.
func HeldUp(err error) bool {
	var e *pawl.Error
	return errors.As(err, &e) && (e.Key == "store.busy" || e.Key == "store.timeout")
}

func (k *Kernel) once(ctx context.Context, env *Envelope) (Outcome, error) {
	now := k.Now()
	var d Decision
	snap, err := k.recall(ctx, env.Command)
	if err == nil && snap != nil {
		d, err = Decide(snap, env, now)
	}
	if err != nil || !d.Changed() {
		// What this process wrote last says no. Another one may have written since, so only the store can refuse.
		if snap, d, err = k.loader().decide(ctx, env, now); err != nil {
			return Outcome{}, err
		}
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
	done, err := k.store.Commit(ctx, batch)
	for _, f := range k.hears {
		if err == nil && !done.Replayed {
			f(Decided{Snapshot: snap, Envelope: *env, Now: now, Decision: d, Size: done.Size})
		}
	}
	k.recent.keep(&d, &batch, err == nil && !done.Replayed)
	if err != nil {
		k.memory.forget()
		return Outcome{}, err
	}
	if !done.Replayed {
		k.memory.committed(&batch, &done)
	}
	out := Outcome{Changed: true, Replayed: done.Replayed, Result: result, Size: done.Size, Entries: d.Entries}
	if done.Replayed {
		out.Result, out.Entries = done.Result, nil
	}
	k.committed(out)
	return out, nil
}

// seal gives the records their places in their subjects' chains and turns the documents into rows. It runs in the caller's
// goroutine, so that the one writer of the store has little to do.
func seal(d *Decision, env *Envelope, now time.Time, result []byte) (Batch, error) {
	b := Batch{Key: env.Key, Result: result, At: now}
	if env.Key != "" {
		raw, err := json.Marshal(env.Command)
		if err != nil {
			return Batch{}, pawl.Fail(pawl.CodeInternal, "kernel.command").Because(err)
		}
		sum := sha256.Sum256(raw)
		b.Digest = hex.EncodeToString(sum[:])
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

// maxRecent bounds the tasks that are remembered.
const maxRecent = 1 << 14

// recent remembers single tasks as this process committed them last, with their gates at work, so that moving one on needs
// few reads. It is never the word that refuses: a move that it allows is checked by the store, which compares the versions
// of the rows that are written, as each remembered row is, and everything else is decided anew on what the store holds.
type recent struct {
	mu    sync.Mutex
	tasks map[string]*Task
	gates map[string]*EffectDoc // by their own ids
}

// keep remembers the task of a committed decision, or forgets the tasks of one that was not committed.
func (r *recent) keep(d *Decision, b *Batch, committed bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, e := range d.Touched {
		switch doc := e.(type) {
		case *Task:
			if at := task.State(doc.State); doc.Session != "" || !committed || at == task.Verified || at.Final() {
				delete(r.tasks, doc.ID)
				continue
			}
			doc.Row = b.Writes[i].Row
			remember(&r.tasks, doc.ID, doc)
		case *EffectDoc:
			if !committed || doc.State != EffectRunning || doc.What() != effect.KindGates {
				delete(r.gates, doc.ID)
				continue
			}
			doc.Row = b.Writes[i].Row
			remember(&r.gates, doc.ID, doc)
		}
	}
}

func remember[T any](m *map[string]*T, id string, doc *T) {
	if *m == nil || len(*m) >= maxRecent && (*m)[id] == nil {
		*m = map[string]*T{}
	}
	(*m)[id] = doc
}

// recalledCommand is a command that can be decided on a task outside a run, or on its gates, as this process committed them last, with
// what else is read for it.
type recalledCommand interface {
	recalled(r *recent) (*Task, *EffectDoc)
	rest(ctx context.Context, k loader, s *Snapshot) error
}

func (c *Transition) recalled(r *recent) (*Task, *EffectDoc)      { return r.tasks[c.Task], nil }
func (*Transition) rest(context.Context, loader, *Snapshot) error { return nil }
func (c *Heartbeat) recalled(r *recent) (*Task, *EffectDoc)       { return r.tasks[c.Task], nil }
func (*Heartbeat) rest(context.Context, loader, *Snapshot) error  { return nil }
func (c *RequestGates) recalled(r *recent) (*Task, *EffectDoc) {
	if t := r.tasks[c.Task]; t != nil && t.Effect == "" {
		return t, nil
	}
	return nil, nil
}

func (*RequestGates) rest(ctx context.Context, k loader, s *Snapshot) error {
	return load(ctx, k.store, &s.Session, k.session(s))
}

func (c *Report) recalled(r *recent) (*Task, *EffectDoc) {
	if e := r.gates[c.Effect]; e != nil {
		return r.tasks[e.Effect.Task], e
	}
	return nil, nil
}

func (*Report) rest(ctx context.Context, k loader, s *Snapshot) error { return k.loadTrail(ctx, s) }

// read remembers a task outside a run as it was read, unless this process knows better.
func (r *recent) read(t *Task) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if old := r.tasks[t.ID]; t.Session == "" && (old == nil || old.Version < t.Version) {
		remember(&r.tasks, t.ID, t)
	}
}

// Queued returns the tasks outside runs that may be claimed next, the highest rank first, found among the first so many that
// are queued. They are remembered, so that claiming one of them takes no further read; nothing of them may be changed.
func (k *Kernel) Queued(ctx context.Context, most int) ([]*Task, error) {
	rows, err := k.store.Load(ctx, Select{Kind: KindTask, States: []string{string(task.Queued)}, ByRank: true, Limit: most})
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
			k.recent.read(t)
			out = append(out, t)
		}
	}
	return out, nil
}

// recall returns a snapshot of what is remembered, with all else that the command is decided on, or nil.
func (k *Kernel) recall(ctx context.Context, c Command) (*Snapshot, error) {
	rc, ok := c.(recalledCommand)
	if !ok {
		return nil, nil
	}
	k.recent.mu.Lock()
	t, e := rc.recalled(&k.recent)
	k.recent.mu.Unlock()
	if t == nil {
		return nil, nil
	}
	s := &Snapshot{Config: &k.config, Task: t, Effect: e}
	return s, rc.rest(ctx, k.loader(), s)
}

// maxKept bounds the documents that are remembered: those of the run at work, several times.
const maxKept = 128

// memory keeps documents as they were read or committed last, for as long as the audit log has the size that it had then:
// nobody else's records are in it. A row that another process wrote without a record, which only prolongs a lease, shows
// when its version is compared. Documents are never changed once they are kept, so they may be shared. Budgets are not
// kept, because setting them aside leaves no record. The zero value is empty. It is safe for concurrent use.
type memory struct {
	mu   sync.Mutex
	size int64 // of the audit log that all this is the truth of
	// writes counts what was committed or forgotten: what was read before is not kept after.
	writes int64
	docs   map[string]*kept     // by id
	ids    map[[2]string]string // by kind and label
	// taken is what loadNames found, if named.
	taken []string
	named bool
}

// kept is a row and, unless its document has yet to be decoded, the document as it stood in some version of the row with
// the same content.
type kept struct {
	row Row
	doc Document
}

// open prepares for reading at a size of the audit log, and returns the number of writes so far.
func (m *memory) open(size int64) int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.size != size {
		m.clear()
		m.size = size
	}
	return m.writes
}

// forget drops what is remembered.
func (m *memory) forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.clear()
}

func (m *memory) clear() {
	m.writes++
	clear(m.docs)
	clear(m.ids)
	m.named = false
}

// committed brings the remembered rows of a batch up to date. Rows that are not remembered are read when they are needed.
func (m *memory) committed(b *Batch, c *Committed) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.size == c.First:
		m.size = c.Size
		m.writes++
	case m.size >= c.Size: // read anew after this commit
		m.writes++
	default: // somebody else's records lie between
		m.clear()
		m.size = c.Size
		return
	}
	for i := range b.Writes {
		w := &b.Writes[i]
		if w.Kind == KindCheckpoint {
			m.named = false
		}
		old := m.docs[w.ID]
		if old == nil || old.row.Version >= w.Version {
			continue
		}
		row := w.Row
		row.Pos, row.Due = old.row.Pos, row.Due.UTC().Truncate(time.Microsecond)
		doc := old.doc
		if !w.KeepDoc || old.row.Version != w.From {
			doc = nil
		}
		m.docs[w.ID] = &kept{row, doc}
	}
}

// reader is a store as one command reads it: what is remembered is not read again.
type reader struct {
	Store
	memory   *memory
	writes   int64
	fresh    bool
	recalled bool
}

// recall takes the document of a row from memory, if the store is read with one that has it.
func recall[T any, P document[T]](st Store, into *P, sel Select) bool {
	r, ok := st.(*reader)
	if !ok || r.fresh {
		return false
	}
	m := r.memory
	m.mu.Lock()
	defer m.mu.Unlock()
	id := sel.ID
	if id == "" {
		id = m.ids[[2]string{string(sel.Kind), sel.Label}]
	}
	k := m.docs[id]
	if k == nil || k.row.Kind != sel.Kind || sel.Label != "" && k.row.Label != sel.Label {
		return false
	}
	doc, _ := k.doc.(P)
	switch {
	case doc == nil:
		doc = new(T)
		if Decode(k.row, doc) != nil {
			return false // the store says what is wrong with it
		}
	case doc.hot().Version != k.row.Version:
		doc = clone[T](doc)
		*doc.hot() = k.row
	}
	k.doc, *into, r.recalled = doc, doc, true
	return true
}

// keep remembers a document that was read, unless something was written since.
func (r *reader) keep(doc Document) {
	m, row := r.memory, *doc.hot()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.writes != r.writes || row.Kind == KindBudget {
		return
	}
	if m.docs == nil || len(m.docs) >= maxKept {
		m.docs, m.ids = map[string]*kept{}, map[[2]string]string{}
	}
	m.docs[row.ID] = &kept{row, doc}
	if row.Label != "" {
		m.ids[[2]string{string(row.Kind), row.Label}] = row.ID
	}
}

// names takes the names of loadNames from memory, if they are remembered.
func (r *reader) names(into *[]string) bool {
	m := r.memory
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.named || r.fresh {
		return false
	}
	*into, r.recalled = append(*into, m.taken...), true
	return true
}

// keepNames remembers the names of loadNames, unless something was written since.
func (r *reader) keepNames(taken []string) {
	m := r.memory
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.writes == r.writes {
		m.taken, m.named = slices.Clone(taken), true
	}
}
