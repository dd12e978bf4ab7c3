package kernel

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	json "github.com/go-json-experiment/json/v1"

	"pawl"
	"pawl/kernel/audit"
	"pawl/kernel/effect"
	"pawl/machine/task"
)

// Query is what a decision asks the store for. It can be compared, so that nothing is read twice for one decision.
type Query struct {
	Kind              Kind
	ID, label, Parent string
	States            string // names of states with blanks between them
	Limit             int
	ByRank, newest    bool
	HotOnly           bool
	// trail asks not for the row with the id but for the states that the records about it tell of.
	trail bool
}

// ByID asks for the row with an id, ByLabel for the one with a label, Below for those below a parent, and Newest for so
// many of the newest.
func ByID(kind Kind, id string) Query       { return Query{Kind: kind, ID: id} }
func ByLabel(kind Kind, label string) Query { return Query{Kind: kind, label: label} }
func Below(kind Kind, parent string) Query  { return Query{Kind: kind, Parent: parent} }
func Newest(kind Kind, most int) Query      { return Query{Kind: kind, newest: true, Limit: most} }
func trailOf(id string) Query               { return Query{Kind: KindTask, ID: id, trail: true} }

// Hot asks for the rows without their documents.
func (a Query) Hot() Query {
	a.HotOnly = true
	return a
}

// Single reports whether the query is for one row with its document, by a name of its own.
func (a Query) Single() bool { return !a.trail && !a.HotOnly && (a.ID != "" || a.label != "") }

func (a Query) selection() Select {
	return Select{
		Kind: a.Kind, ID: a.ID, Label: a.label, Parent: a.Parent, States: strings.Fields(a.States), Limit: a.Limit,
		ByRank: a.ByRank, Newest: a.newest, HotOnly: a.HotOnly,
	}
}

// Found is a query with what was read for it, once that has been done.
type Found struct {
	Query
	known   bool
	guessed bool       // from the cache
	Rows    []Row      // in the order of the selection
	docs    []Document // of the rows, each nil until it was looked at
	states  []string   // those of a trail, with the number of records
	records int
}

// Reads is what one decision has read so far, and what it asks for. What is asked for and has not been read looks as
// if there were nothing; a decision that was made on that is thrown away, and made again once it has been read. So
// nobody who decides has to break off, and asks that are known at once are answered at once. A row is read once, so
// that it is the same throughout the decision.
type Reads struct {
	answers []*Found
	index   map[Query]*Found // of the answers, where they are many
	open    []*Found         // those that have yet to be read
	err     error            // of a document that cannot be read
	// cache keeps the documents that are read one by one, nil for none; guess says that they may be taken from there.
	cache *cache
	guess bool
	// ahead, where it is set, reads issues by their ids that will be asked for next; climbs counts how often that was
	// done.
	ahead  func(load func(ids []string) error) error
	climbs int
}

// find returns the answer to a query that was made before, or nil.
func (r *Reads) find(a Query) *Found {
	if len(r.answers) <= maxFew {
		for _, f := range r.answers {
			if f.Query == a {
				return f
			}
		}
		return nil
	}
	if r.index == nil {
		r.index = make(map[Query]*Found, 2*len(r.answers))
	}
	for _, f := range r.answers[len(r.index):] {
		r.index[f.Query] = f
	}
	return r.index[a]
}

// Get returns the answer to a query. One that has not been read is asked for, and nil.
func (r *Reads) Get(a Query) *Found {
	f := r.find(a)
	if f == nil {
		f = &Found{Query: a}
		if r.guess && a.Single() {
			f.known = r.cache.find(f)
			f.guessed = f.known
		}
		if !f.known {
			r.open = append(r.open, f)
		}
		r.answers = append(r.answers, f)
	}
	if !f.known {
		return nil
	}
	return f
}

// document is a pointer to a document of type T.
type document[T any] interface {
	*T
	Document
}

// Clone copies a document that a decision is to change.
func Clone[T any](p *T) *T {
	if p == nil {
		return nil
	}
	c := *p
	return &c
}

func clones[T any](list []*T) (out []*T) {
	for _, p := range list {
		out = append(out, Clone(p))
	}
	return out
}

// maxFew is how many documents are gone through to find one.
const maxFew = 32

// One returns the document of the row with an id or a label, nil where there is none and where the query names none.
func One[T any, P document[T]](r *Reads, a Query) P {
	if a.ID == "" && a.label == "" {
		return nil
	}
	if f := r.Get(a); f != nil && len(f.Rows) > 0 {
		return DocAt[T, P](r, f, 0)
	}
	return nil
}

// List returns the documents of the rows of a selection.
func List[T any, P document[T]](r *Reads, a Query) []P {
	f := r.Get(a)
	if f == nil {
		return nil
	}
	var out []P
	for i := range f.Rows {
		if doc := DocAt[T, P](r, f, i); doc != nil {
			out = append(out, doc)
		}
	}
	return out
}

// DocAt returns the document of a row of an answer.
func DocAt[T any, P document[T]](r *Reads, f *Found, i int) P {
	if f.docs == nil {
		f.docs = make([]Document, len(f.Rows))
	}
	doc, _ := f.docs[i].(P)
	switch {
	case doc == nil:
		doc = new(T)
		if err := Decode(f.Rows[i], doc); err != nil {
			r.err = err
			return nil
		}
	case doc.hot().Version != f.Rows[i].Version: // it was kept in an earlier version, and has not changed since
		doc = Clone[T](doc)
		*doc.hot() = f.Rows[i]
	default:
		return doc
	}
	f.docs[i] = doc
	if r.cache != nil && f.Single() {
		r.cache.put(f.Rows[i], doc)
	}
	return doc
}

// Decode fills a document from its row.
func Decode(r Row, doc Document) error {
	if len(r.Doc) > 0 {
		if err := json.Unmarshal(r.Doc, doc); err != nil {
			return pawl.Fail(pawl.CodeStoreDamaged, "kernel.row_unreadable", string(r.Kind), r.ID).Because(err)
		}
	}
	*doc.hot() = r
	switch d := doc.(type) {
	case *Issue:
		d.Settle(d.Lease.Owner != "")
	case *Session:
		d.Settle()
	}
	if r.Root.Workspace != "" {
		moveTo(doc, r.Root)
	}
	return nil
}

// moveTo has a document speak of where the workspace is now. It is the one place where that is decided.
func moveTo(doc Document, now effect.Place) {
	switch d := doc.(type) {
	case *Session:
		if d.Home == "" && d.Label == SessionLabel {
			d.Home = d.Place.Workspace // a store of an older version
		}
		d.Place = d.Place.At(now)
	case *Run:
		d.Place = d.Place.At(now)
	case *Task:
		d.Place = d.Place.At(now)
	case *CheckpointDoc:
		d.Place = d.Place.At(now)
	case *EffectDoc:
		d.Effect.Place = d.Effect.Place.At(now)
	}
}

// gather calls focus, which gathers documents from the reads and changes nothing else, until all that it asks for is
// read.
func (r *Reads) gather(ctx context.Context, st Store, focus func() error) error {
	for {
		err := focus()
		switch {
		case r.err != nil:
			return r.err
		case len(r.open) == 0:
			return err
		}
		if err := r.fetch(ctx, st); err != nil {
			return err
		}
		if err := r.fetchAhead(ctx, st); err != nil {
			return err
		}
	}
}

// fetch reads what is asked for: all rows in one consistent snapshot.
func (r *Reads) fetch(ctx context.Context, st Store) error {
	open, sel := make([]*Found, 0, len(r.open)), make([]Select, 0, len(r.open))
	for _, f := range r.open {
		if !f.trail {
			open, sel = append(open, f), append(sel, f.selection())
		} else if err := f.readTrail(ctx, st); err != nil {
			return err
		}
		f.known = true
	}
	r.open = r.open[:0]
	if len(sel) == 0 {
		return nil
	}
	rows, err := st.Load(ctx, sel...)
	if err != nil {
		return err
	}
	for i, f := range open {
		f.Rows = rows[i]
	}
	return nil
}

// readTrail reads the states that the records about a row tell of, and counts these.
func (a *Found) readTrail(ctx context.Context, st Store) error {
	for rec, err := range st.Records(ctx, audit.Subject{Kind: string(a.Kind), ID: a.ID}.String(), 0) {
		if err != nil {
			return err
		}
		a.records++
		parsed, err := audit.Parse(rec.Bytes)
		if err != nil {
			return err
		}
		if m := parsed.Move; m != nil {
			a.states = append(a.states, m.From, m.To)
		}
	}
	return nil
}

// fetchAhead reads the issues that are known to be asked for next.
func (r *Reads) fetchAhead(ctx context.Context, st Store) error {
	ahead := r.ahead
	if r.ahead = nil; ahead == nil {
		return nil
	}
	r.climbs++
	return ahead(func(ids []string) error {
		for _, id := range ids {
			r.Get(ByID(KindIssue, id))
		}
		if len(r.open) == 0 {
			return nil
		}
		return r.fetch(ctx, st)
	})
}

// Pending reports whether something was asked for that has yet to be read.
func (r *Reads) Pending() bool { return len(r.open) > 0 }

// Size is how much was asked for so far.
func (r *Reads) Size() int { return len(r.answers) }

// Reach is the size up to which is read ahead, which grows from one time to the next.
func (r *Reads) Reach() int { return len(r.answers) + 32<<r.climbs }

// guesses are the rows that were taken from the cache.
func (r *Reads) guesses() (out []*Row) {
	for _, f := range r.answers {
		if f.guessed {
			out = append(out, &f.Rows[0])
		}
	}
	return out
}

// onlyRead are the guesses that a batch does not write, which its commit is to compare.
func (r *Reads) onlyRead(b *Batch) []Read {
	var out []Read
	for _, g := range r.guesses() {
		if !slices.ContainsFunc(b.Writes, func(w Write) bool { return w.ID == g.ID }) {
			out = append(out, Read{Kind: g.Kind, ID: g.ID, Version: g.Version})
		}
	}
	return out
}

// hold reports whether all guesses were right, in one consistent snapshot of the store. Otherwise they are forgotten.
func (r *Reads) hold(ctx context.Context, st Store) (bool, error) {
	guesses := r.guesses()
	if len(guesses) == 0 {
		return true, nil
	}
	sel := make([]Select, len(guesses))
	for i, g := range guesses {
		sel[i] = Select{Kind: g.Kind, ID: g.ID, HotOnly: true}
	}
	rows, err := st.Load(ctx, sel...)
	if err != nil {
		return false, err
	}
	right := true
	for i, g := range guesses {
		if len(rows[i]) == 0 || rows[i][0].Version != g.Version {
			right = false
		}
	}
	if !right {
		r.cache.forget(r, &Batch{})
	}
	return right, nil
}

// maxCached bounds what is kept in memory, in bytes, where each row counts as overhead beside its document.
const (
	maxCached = 32 << 20
	overhead  = 1 << 10
)

// cache keeps documents as this process has read or committed them last, for all sessions. What it holds is a guess:
// another process may have written since. So a commit compares the versions of all rows that were guessed, and an
// answer without a commit is given only after they were compared, too. Documents are never changed once they are
// kept, so they may be shared. Budgets are not kept: sessions that work side by side write them all the time. The
// zero value is empty. It is safe for concurrent use.
type cache struct {
	mu   sync.Mutex
	rows map[string]*cached   // by id
	ids  map[[2]string]string // by kind and label
	size int
}

// cached is a row, and the document as it stood in some version of the row with the same content, unless it has yet
// to be decoded.
type cached struct {
	row Row
	doc Document
}

// find answers a query for a single row, if that is known.
func (c *cache) find(f *Found) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	id := f.ID
	if id == "" {
		id = c.ids[[2]string{string(f.Kind), f.label}]
	}
	k := c.rows[id]
	if k == nil || k.row.Kind != f.Kind || f.label != "" && k.row.Label != f.label {
		return false
	}
	f.Rows, f.docs = []Row{k.row}, []Document{k.doc}
	return true
}

// put keeps a document that was read, unless a newer version is known.
func (c *cache) put(row Row, doc Document) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if old := c.rows[row.ID]; row.Kind != KindBudget && (old == nil || old.row.Version <= row.Version) {
		c.set(row, doc)
	}
}

func (c *cache) set(row Row, doc Document) {
	c.drop(row.ID)
	if c.size += len(row.Doc) + overhead; c.rows == nil || c.size > maxCached {
		c.rows, c.ids, c.size = map[string]*cached{}, map[[2]string]string{}, len(row.Doc)+overhead
	}
	c.rows[row.ID] = &cached{row, doc}
	if row.Label != "" {
		c.ids[[2]string{string(row.Kind), row.Label}] = row.ID
	}
}

func (c *cache) drop(id string) {
	if old := c.rows[id]; old != nil {
		c.size -= len(old.row.Doc) + overhead
		delete(c.rows, id)
	}
}

// forget drops what a decision has guessed, and what it would have written.
func (c *cache) forget(r *Reads, b *Batch) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, g := range r.guesses() {
		c.drop(g.ID)
	}
	for i := range b.Writes {
		c.drop(b.Writes[i].ID)
	}
}

// committed brings what is kept up to date with a batch. Of rows that are not kept only tasks outside of runs, with
// their gates at work, are: they are moved on by what claimed them, again and again. The others are read when they
// are needed.
func (c *cache) committed(touched []Document, b *Batch) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, e := range touched {
		w := &b.Writes[i]
		old := c.rows[w.ID]
		single, ends := alone(e)
		switch {
		case ends || old != nil && old.row.Version > w.Version:
			c.drop(w.ID)
		case single:
			*e.hot() = w.Row
			c.set(w.Row, e)
		case old != nil:
			row, doc := w.Row, old.doc
			row.Pos, row.Due = old.row.Pos, row.Due.UTC().Truncate(time.Microsecond)
			if !w.KeepDoc || old.row.Version != w.From {
				doc = nil
			}
			c.set(row, doc)
		}
	}
}

// alone reports whether a document is a task outside of a run, or gates of one, and whether nothing more is done with
// it.
func alone(e Document) (single, ends bool) {
	switch doc := e.(type) {
	case *Task:
		return doc.Session == "", doc.Session == "" && task.State(doc.State).Final()
	case *EffectDoc:
		gates := doc.What() == effect.KindGates
		return gates && doc.State == EffectRunning, gates && doc.State != EffectRunning
	}
	return false, false
}
