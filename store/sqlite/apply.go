package sqlite

import (
	"database/sql/driver"
	"encoding/json"
	"strings"
	"time"
	"unicode/utf8"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/audit"
)

// answerLife is how long the answer to an idempotency key is kept at least.
const answerLife = 48 * time.Hour

// maxBytes bounds a document, a result and a record. It is far above what pawl writes and far below what SQLite can
// take.
const maxBytes = 256 << 20

// maxShort is the length of the longest document that is kept in its row. Two such rows fit into a page.
const maxShort = 1700

// statements are those of the writing connection.
type statements struct {
	begin, commit, rollback      *stmt
	version, summary, setSummary *stmt
	dropSummary                  *stmt
	find, label                  *stmt
	putDoc, dropDoc              *stmt
	answer, putAnswer, expire    *stmt
	// The others come in several forms, of which most processes need few: they are made on first use.
	conn    *conn
	updates [3][2]*stmt
	inserts [len(manyRows)]*stmt
	records [len(manyRows)]*stmt
}

// manyRows are the numbers of rows and of records that one statement inserts, the largest first: running a statement
// costs as much as several rows. What goes wrong in one ends the whole transaction, so they say OR FAIL, which takes
// nothing back by itself: to be able to, SQLite would copy every page that the statement changes.
var manyRows = [...]int{16, 4, 1}

func (st *statements) prepare(c *conn) error {
	for _, p := range []struct {
		to   **stmt
		text string
	}{
		{&st.begin, "BEGIN IMMEDIATE"},
		{&st.commit, "COMMIT"},
		{&st.rollback, "ROLLBACK"},
		{&st.version, "PRAGMA data_version"},
		{&st.summary, summaryText},
		{&st.setSummary, `INSERT INTO summary (parent, kind, data) VALUES (?,?,?)
			ON CONFLICT DO UPDATE SET data=excluded.data`},
		{&st.dropSummary, "DELETE FROM summary WHERE parent=? AND kind=?"},
		{&st.find, `SELECT pos, version, state, rank, audit_seq, audit_at, kind, label, parent, created, doc_sum, audit_hash,
			body IS NULL AND doc_sum IS NOT NULL FROM entity WHERE id=?`},
		// Where the planner is left to choose, a bound kind makes it look at entity_issue, which holds one kind only,
		// and prepare the statement anew whenever it is run.
		{&st.label, "SELECT id FROM entity INDEXED BY entity_label WHERE kind=? AND label=?"},
		{&st.putDoc, "INSERT INTO long_doc (pos, body) VALUES (?,?) ON CONFLICT (pos) DO UPDATE SET body=excluded.body"},
		{&st.dropDoc, "DELETE FROM long_doc WHERE pos=?"},
		{&st.answer, "SELECT digest, result, first, size, expires FROM answer WHERE key=?"},
		{&st.putAnswer, `INSERT OR REPLACE INTO answer (key, digest, result, first, size, expires) VALUES (?,?,?,?,?,?)`},
		{&st.expire, "DELETE FROM answer WHERE key IN (SELECT key FROM answer WHERE expires<? ORDER BY expires LIMIT 64)"},
	} {
		var err error
		if *p.to, err = c.prepare(p.text); err != nil {
			return err
		}
	}
	st.conn, st.updates, st.inserts, st.records = c, [3][2]*stmt{}, [len(manyRows)]*stmt{}, [len(manyRows)]*stmt{}
	return nil
}

// The columns of a row that a write changes: the fewer, the fewer indexes are touched.
const (
	hot      = iota // those that every write changes
	hotState        // and state and rank
	hotWhole        // and label, parent and the instant of creation
)

// update returns the statement that changes columns, and the document in the row if body is set.
func (st *statements) update(columns int, body bool) (*stmt, error) {
	with := 0
	if body {
		with = 1
	}
	if s := st.updates[columns][with]; s != nil {
		return s, nil
	}
	text := "UPDATE entity SET version=?, epoch=?, due=?, audit_seq=?, audit_hash=?, audit_at=?, updated=?, doc_sum=?, sum=?"
	if columns >= hotState {
		text += ", state=?, rank=?"
	}
	if columns >= hotWhole {
		text += ", label=?, parent=?, created=?"
	}
	if body {
		text += ", body=?"
	}
	var err error
	st.updates[columns][with], err = st.conn.prepare(text + " WHERE pos=?")
	return st.updates[columns][with], err
}

// rows returns the statement that inserts as many rows as manyRows says at i.
func (st *statements) rows(i int) (*stmt, error) {
	if s := st.inserts[i]; s != nil {
		return s, nil
	}
	var err error
	const columns = 17
	st.inserts[i], err = st.conn.prepare(`INSERT OR FAIL INTO entity (kind, id, label, parent, state, version, epoch, due, rank, audit_seq,
		audit_hash, audit_at, created, updated, doc_sum, sum, body) VALUES (` + places(columns) + ")" +
		strings.Repeat(",("+places(columns)+")", manyRows[i]-1))
	return st.inserts[i], err
}

// append returns the statement that appends as many records as manyRows says at i.
func (st *statements) append(i int) (*stmt, error) {
	if s := st.records[i]; s != nil {
		return s, nil
	}
	var err error
	st.records[i], err = st.conn.prepare("INSERT OR FAIL INTO audit (idx, ref, seq, back, hash, bytes) VALUES (?,?,?,?,?,?)" +
		strings.Repeat(",(?,?,?,?,?,?)", manyRows[i]-1))
	return st.records[i], err
}

// plan is what is worked out for a batch: before the writer has it, what the batch itself tells; inside the
// transaction, what the stored rows add.
type plan struct {
	writes  []step
	places  map[audit.Subject]int // of the writes, where they are many
	outcome answer
}

// step is one write with what is known about its row.
type step struct {
	records int64 // records of the batch about this row
	first   int64 // index in the batch of the oldest of them, or -1
	last    int64 // index in the batch of the newest of them, or -1
	absent  bool  // the row is known not to be there
	unnamed bool  // nobody is known to have its label
	old     stored
}

// stored is what the writer needs to know of a row as it is, to judge a write and to carry it out.
type stored struct {
	pos                 int64
	version             int64
	kind, label, parent string
	state               string
	rank                int64
	audited             int64        // number of audit records
	newest              driver.Value // place in the log of the newest of them
	hash                audit.Hash   // its hash
	docSum, created     driver.Value
	apart               bool // the document is long and in a table of its own
}

// line is one line of the log on its way into it.
type line struct {
	ref, seq int64
	back     driver.Value
	record   *audit.Sealed
}

// maxKnown bounds the rows that the writer remembers between transactions.
const maxKnown = 1 << 15

func invalid(key string, args ...any) error {
	return pawl.Fail(pawl.CodeInvalid, key, args...).In("store.commit")
}

func conflict(key string, args ...any) error {
	return pawl.Fail(pawl.CodeConflict, key, args...).In("store.commit")
}

// clean reports whether every database can keep the text as it is.
func clean(text string) bool {
	for i := range len(text) {
		if text[i] == 0 {
			return false
		}
	}
	return utf8.ValidString(text)
}

// check judges what needs no stored row: form, sizes, and that the records of the batch belong to rows that it writes
// and leave them at the number and hash that the rows name.
func (p *plan) check(b *kernel.Batch) error {
	if !clean(b.Key) || !clean(b.Digest) {
		return invalid("store.text", "key")
	}
	if len(b.Result) > maxBytes {
		return invalid("store.large", "result")
	}
	p.writes = make([]step, len(b.Writes))
	for i := range b.Writes {
		w := &b.Writes[i]
		if err := form(w); err != nil {
			return err
		}
		p.writes[i].first, p.writes[i].last = -1, -1
	}
	if at := p.twice(b); at >= 0 {
		return invalid("store.twice", string(b.Writes[at].Kind), b.Writes[at].ID)
	}
	for i := range b.Records {
		rec := &b.Records[i]
		s := p.about(b, rec.Subject)
		if s < 0 {
			return invalid("store.orphan", rec.Subject.String())
		}
		if last := p.writes[s].last; last < 0 {
			p.writes[s].first = int64(i)
		} else if prev := &b.Records[last]; prev.Seq+1 != rec.Seq || !audit.Follows(rec.Bytes, prev.Hash) {
			return invalid("store.order", rec.Subject.String(), rec.Seq)
		}
		if len(rec.Bytes) == 0 || len(rec.Bytes) > maxBytes {
			return invalid("store.large", rec.Subject.String())
		}
		p.writes[s].records++
		p.writes[s].last = int64(i)
	}
	for i, s := range p.writes {
		if s.last < 0 {
			continue
		}
		if w, rec := &b.Writes[i], &b.Records[s.last]; w.AuditSeq != rec.Seq || w.AuditHash != rec.Hash {
			return invalid("store.order", rec.Subject.String(), rec.Seq)
		}
	}
	return nil
}

// maxFew is how many writes are gone through to find one.
const maxFew = 32

// twice returns the index of a write of a row, or with a label, that an earlier one has, or -1. Of many writes it notes
// their places.
func (p *plan) twice(b *kernel.Batch) int {
	if len(b.Writes) <= maxFew {
		for i := range b.Writes {
			w := &b.Writes[i]
			for j := range b.Writes[:i] {
				if o := &b.Writes[j]; o.ID == w.ID || w.Label != "" && o.Label == w.Label && o.Kind == w.Kind {
					return i
				}
			}
		}
		return -1
	}
	p.places = make(map[audit.Subject]int, len(b.Writes))
	ids, labels := make(map[string]bool, len(b.Writes)), map[audit.Subject]bool{}
	for i := range b.Writes {
		w := &b.Writes[i]
		label := audit.Subject{Kind: string(w.Kind), ID: w.Label}
		if ids[w.ID] || w.Label != "" && labels[label] {
			return i
		}
		ids[w.ID], labels[label] = true, true
		p.places[audit.Subject{Kind: string(w.Kind), ID: w.ID}] = i
	}
	return -1
}

// about returns the index of the write whose row a record is about, or -1.
func (p *plan) about(b *kernel.Batch, s audit.Subject) int {
	if p.places != nil {
		if i, ok := p.places[s]; ok {
			return i
		}
		return -1
	}
	for i := range b.Writes {
		if b.Writes[i].ID == s.ID && string(b.Writes[i].Kind) == s.Kind {
			return i
		}
	}
	return -1
}

func form(w *kernel.Write) error {
	switch {
	case w.Kind == "" || w.ID == "" || len(w.ID) > 255 || len(w.Label) > 255:
		return invalid("store.identity", string(w.Kind), w.ID)
	case !clean(string(w.Kind)) || !clean(w.ID) || !clean(w.Label) || !clean(w.Parent) || !clean(w.State):
		return invalid("store.text", w.ID)
	case w.From < 0 || w.Version != w.From+1:
		return invalid("store.version", string(w.Kind), w.ID, w.From, w.Version)
	case len(w.Doc) > maxBytes:
		return invalid("store.large", w.ID)
	}
	return nil
}

// tx is the state of one transaction, and what the writer remembers from one to the next.
type tx struct {
	st      *statements
	leaves  []audit.Hash
	lines   []line // of the log, in order, the same as leaves
	fresh   []newcomer
	args    []driver.Value
	changed map[group]bool
	dirty   bool
	keyed   bool
	now     time.Time
	sums    summer
	// head, known and counts are as this connection wrote or found them last. They hold as long as no other connection
	// writes, which the database's data version tells. Schema is that of the store then.
	version int64
	schema  int64
	head    audit.Head
	known   map[string]stored
	counts  map[group]counts
}

// open finds out whether another process has written since the last transaction, and if so, what it left.
func (t *tx) open(st *statements, now time.Time) error {
	t.st, t.now, t.dirty, t.keyed = st, now, false, false
	t.leaves = t.leaves[:0]
	clear(t.lines)
	t.lines = t.lines[:0]
	clear(t.fresh)
	t.fresh = t.fresh[:0]
	if t.changed == nil {
		t.changed = map[group]bool{}
	}
	clear(t.changed)
	if _, err := st.version.one(); err != nil {
		return err
	}
	version := st.version.int(0)
	if t.known != nil && version == t.version && len(t.known)+len(t.counts) < maxKnown {
		return nil
	}
	t.forget()
	head, err := readHead(st.summary)
	if err == nil {
		t.schema, err = st.conn.number("PRAGMA user_version")
	}
	if err != nil {
		return err
	}
	t.version, t.head, t.known, t.counts = version, head, map[string]stored{}, map[group]counts{}
	return nil
}

// forget drops what was remembered; after a rollback it is not what the database holds.
func (t *tx) forget() { t.known, t.counts = nil, nil }

// batch writes one batch, or refuses it with an error of ours and leaves everything as it was. Any other error concerns
// the whole transaction.
func (t *tx) batch(b *kernel.Batch, p *plan) (kernel.Committed, error) {
	if b.Key != "" {
		if old, found, err := t.replay(b); err != nil || found {
			return old, err
		}
	}
	if err := t.newcomers(b, p); err != nil {
		return kernel.Committed{}, err
	}
	for i := range b.Writes {
		if err := t.fits(b, &b.Writes[i], &p.writes[i]); err != nil {
			return kernel.Committed{}, err
		}
	}
	for i := range b.Reads {
		if err := t.holds(&b.Reads[i]); err != nil {
			return kernel.Committed{}, err
		}
	}
	var gone []stored
	if b.Retire != nil {
		var err error
		if gone, err = t.retirable(b); err != nil {
			return kernel.Committed{}, err
		}
	}
	out := kernel.Committed{Result: b.Result, First: t.head.Size + int64(len(t.leaves))}
	out.Size = out.First + int64(len(b.Records))
	for i := range b.Writes {
		if err := t.write(&b.Writes[i], &p.writes[i], out.First); err != nil {
			return kernel.Committed{}, err
		}
	}
	if err := t.insertNew(); err != nil {
		return kernel.Committed{}, err
	}
	if b.Retire != nil {
		if err := t.retire(b.Retire, gone); err != nil {
			return kernel.Committed{}, err
		}
	}
	t.records(b, p)
	if b.Key != "" {
		t.keyed = true
		expires := t.now.Add(answerLife).UnixMicro()
		if _, err := t.st.putAnswer.exec(b.Key, b.Digest, b.Result, out.First, out.Size, expires); err != nil {
			return kernel.Committed{}, err
		}
		t.dirty = true
	}
	return out, nil
}

// replay looks for the answer to an earlier batch with the same key.
func (t *tx) replay(b *kernel.Batch) (kernel.Committed, bool, error) {
	s := t.st.answer
	ok, err := s.one(b.Key)
	if err != nil || !ok || s.int(4) < t.now.UnixMicro() {
		return kernel.Committed{}, false, err
	}
	if s.text(0) != b.Digest {
		return kernel.Committed{}, false, conflict("store.key", b.Key)
	}
	return kernel.Committed{Replayed: true, Result: s.bytes(1), First: s.int(2), Size: s.int(3)}, true, nil
}

// find returns the row with an ID as it is stored.
func (t *tx) find(id string) (stored, bool, error) {
	if old, ok := t.known[id]; ok {
		return old, true, nil
	}
	f := t.st.find
	if found, err := f.one(id); err != nil || !found {
		return stored{}, false, err
	}
	return stored{pos: f.int(0), version: f.int(1), state: f.text(2), rank: f.int(3), audited: f.int(4),
		newest: f.dest[5],
		kind:   f.text(6), label: f.text(7), parent: f.text(8), created: f.dest[9], docSum: f.dest[10],
		hash:  hashOf(f.bytes(11)),
		apart: f.int(12) != 0}, true, nil
}

// hashOf reads a hash; bytes of another length, which only damage makes, are no hash that anything could follow.
func hashOf(b []byte) (h audit.Hash) {
	if len(b) == len(h) {
		copy(h[:], b)
	}
	return h
}

// fits compares a write with the stored row and keeps that in the step.
func (t *tx) fits(b *kernel.Batch, w *kernel.Write, s *step) error {
	var old stored
	var found bool
	var err error
	if !s.absent {
		old, found, err = t.find(w.ID)
	}
	switch {
	case err != nil:
		return err
	case !found && w.From != 0:
		return conflict("store.gone", string(w.Kind), w.ID)
	case found && w.From == 0:
		return conflict("store.exists", string(w.Kind), w.ID)
	case old.version != w.From || found && old.kind != string(w.Kind):
		return conflict("store.stale", string(w.Kind), w.ID, w.From, old.version)
	case w.AuditSeq != old.audited+s.records || !continues(b, w, s, &old):
		return conflict("store.chain", string(w.Kind), w.ID, old.audited, w.AuditSeq)
	}
	s.old = old
	if w.Label == "" || w.Label == old.label || s.unnamed {
		return nil
	}
	taken, err := t.st.label.one(string(w.Kind), w.Label)
	if err != nil {
		return err
	}
	if taken {
		return conflict("store.label", string(w.Kind), w.Label, t.st.label.text(0))
	}
	return nil
}

// holds compares a row that was read with the stored one.
func (t *tx) holds(r *kernel.Read) error {
	old, found, err := t.find(r.ID)
	if err == nil && found {
		t.known[r.ID] = old // the next batch was probably decided on it, too
	}
	if err == nil && (old.version != r.Version || found && old.kind != string(r.Kind)) {
		err = conflict("store.stale", string(r.Kind), r.ID, r.Version, old.version)
	}
	return err
}

// continues reports whether the batch's records about a row begin where the stored ones end; without any, the end must
// stay.
func continues(b *kernel.Batch, w *kernel.Write, s *step, old *stored) bool {
	switch {
	case s.first < 0:
		return w.AuditHash == old.hash
	case old.audited == 0:
		return audit.Follows(b.Records[s.first].Bytes, audit.Genesis(b.Records[s.first].Subject))
	}
	return audit.Follows(b.Records[s.first].Bytes, old.hash)
}

// write replaces one row, or has it inserted with the others. first is the place in the log of the batch's first
// record.
func (t *tx) write(w *kernel.Write, s *step, first int64) error {
	old := s.old
	now := stored{pos: old.pos, version: w.Version, kind: string(w.Kind), label: w.Label, parent: w.Parent,
		state: w.State,
		rank:  w.Rank, audited: w.AuditSeq, newest: old.newest, hash: w.AuditHash, created: instant(w.CreatedAt)}
	if s.last >= 0 {
		now.newest = first + s.last
	}
	switch {
	case w.KeepDoc:
		now.docSum, now.apart = old.docSum, old.apart
	case len(w.Doc) > 0:
		now.docSum, now.apart = sumOf(w.Doc), len(w.Doc) > maxShort
	}
	t.dirty = true
	if w.From == 0 {
		t.fresh = append(t.fresh, newcomer{w, s, now})
		return nil
	}
	if err := t.put(w, &old, &now); err != nil {
		return err
	}
	t.known[w.ID] = now
	if old.state != now.state || old.parent != now.parent {
		if err := t.recount(&old, &now); err != nil {
			return err
		}
	}
	var err error
	switch {
	case w.KeepDoc:
	case now.apart:
		_, err = t.st.putDoc.exec(now.pos, w.Doc)
	case old.apart:
		_, err = t.st.dropDoc.exec(now.pos)
	}
	return err
}

// put runs the statement that changes the row, the narrowest that does.
func (t *tx) put(w *kernel.Write, old, now *stored) error {
	due, updated, hash, sum := instant(w.Due), instant(w.UpdatedAt), w.AuditHash[:], t.sums.row(&w.Row, now.docSum)
	var body driver.Value
	if !w.KeepDoc && !now.apart && len(w.Doc) > 0 {
		body = w.Doc
	}
	columns := hot
	args := append(t.args[:0], w.Version, w.Epoch, due, w.AuditSeq, hash, now.newest, updated, now.docSum, sum)
	switch {
	case old.label != now.label || old.parent != now.parent || old.created != now.created:
		columns = hotWhole
		args = append(args, w.State, w.Rank, orNull(w.Label), orNull(w.Parent), now.created)
	case old.state != now.state || old.rank != now.rank:
		columns = hotState
		args = append(args, w.State, w.Rank)
	}
	if !w.KeepDoc {
		args = append(args, body)
	}
	t.args = append(args, now.pos)
	update, err := t.st.update(columns, !w.KeepDoc)
	if err == nil {
		_, err = update.exec(t.args...)
	}
	return err
}

// records adds the batch's records to the log, each with the way back to its subject's previous one.
func (t *tx) records(b *kernel.Batch, p *plan) {
	for i := range b.Records {
		rec := &b.Records[i]
		s := &p.writes[p.about(b, rec.Subject)]
		t.lines = append(t.lines, line{ref: s.old.pos, seq: rec.Seq, back: s.old.newest, record: rec})
		s.old.newest = t.head.Size + int64(len(t.leaves))
		t.leaves = append(t.leaves, rec.Hash)
		t.dirty = true
	}
}

// appendLines writes the lines of the transaction to the log, many with one statement.
func (t *tx) appendLines() error {
	at := t.head.Size
	left := t.lines
	for i, n := range manyRows {
		for ; len(left) >= n; left = left[n:] {
			args := t.args[:0]
			for _, l := range left[:n] {
				args = append(args, at, l.ref, l.seq, l.back, l.record.Hash[:], l.record.Bytes)
				at++
			}
			t.args = args
			s, err := t.st.append(i)
			if err == nil {
				_, err = s.exec(args...)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// close writes what belongs to the transaction as a whole: counts and the head of the log.
func (t *tx) close() error {
	for g := range t.changed {
		if err := t.putCounts(g); err != nil {
			return err
		}
	}
	if t.keyed {
		if _, err := t.st.expire.exec(t.now.UnixMicro()); err != nil {
			return err
		}
	}
	if len(t.leaves) == 0 {
		return nil
	}
	if err := t.appendLines(); err != nil {
		return err
	}
	t.head = t.head.Append(t.leaves...)
	_, err := t.st.setSummary.exec("", "", encodeHead(t.head))
	return err
}

// putCounts writes the counts of a group. One that is empty is as one that was never written.
func (t *tx) putCounts(g group) error {
	if len(t.counts[g]) == 0 {
		_, err := t.st.dropSummary.exec(g.parent, g.kind)
		return err
	}
	data, err := json.Marshal(t.counts[g])
	if err == nil {
		_, err = t.st.setSummary.exec(g.parent, g.kind, data)
	}
	return err
}
