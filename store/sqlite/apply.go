package sqlite

import (
	"database/sql/driver"
	"time"
	"unicode/utf8"

	"pawl"
	"pawl/audit"
	"pawl/kernel"
)

// answerLife is how long the answer to an idempotency key is kept at least.
const answerLife = 48 * time.Hour

// maxBytes bounds a document, a result and a record. It is far above what pawl writes and far below what SQLite can take.
const maxBytes = 256 << 20

// statements are those of the writing connection.
type statements struct {
	begin, commit, rollback                  *stmt
	head, setHead                            *stmt
	find, label                              *stmt
	insert, update, updateState, updateWhole *stmt
	putDoc, dropDoc                          *stmt
	record                                   *stmt
	count                                    *stmt
	answer, putAnswer, expire                *stmt
}

func (st *statements) prepare(c *conn) error {
	for _, p := range []struct {
		to   **stmt
		text string
	}{
		{&st.begin, "BEGIN IMMEDIATE"},
		{&st.commit, "COMMIT"},
		{&st.rollback, "ROLLBACK"},
		{&st.head, "SELECT size, root, frontier FROM head"},
		{&st.setHead, "UPDATE head SET size=?, root=?, frontier=?"},
		{&st.find, `SELECT pos, version, state, rank, audit_seq, audit_at, kind, label, parent, created, doc_sum
			FROM entity WHERE id=?`},
		{&st.label, "SELECT id FROM entity WHERE kind=? AND label=?"},
		{&st.insert, `INSERT INTO entity (kind, id, label, parent, state, version, epoch, due, rank, audit_seq, audit_hash,
			audit_at, created, updated, doc_sum, sum) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)`},
		{&st.update, `UPDATE entity SET version=?, epoch=?, due=?, audit_seq=?, audit_hash=?, audit_at=?, updated=?,
			doc_sum=?, sum=? WHERE pos=?`},
		{&st.updateState, `UPDATE entity SET version=?, epoch=?, due=?, audit_seq=?, audit_hash=?, audit_at=?, updated=?,
			doc_sum=?, sum=?, state=?, rank=? WHERE pos=?`},
		{&st.updateWhole, `UPDATE entity SET version=?, epoch=?, due=?, audit_seq=?, audit_hash=?, audit_at=?, updated=?,
			doc_sum=?, sum=?, state=?, rank=?, label=?, parent=?, created=? WHERE pos=?`},
		{&st.putDoc, "INSERT INTO doc (pos, body) VALUES (?,?) ON CONFLICT (pos) DO UPDATE SET body=excluded.body"},
		{&st.dropDoc, "DELETE FROM doc WHERE pos=?"},
		{&st.record, "INSERT INTO audit (idx, ref, seq, back, hash, bytes) VALUES (?,?,?,?,?,?)"},
		{&st.count, `INSERT INTO tally (parent, kind, state, n) VALUES (?,?,?,?)
			ON CONFLICT DO UPDATE SET n=n+excluded.n`},
		{&st.answer, "SELECT digest, result, first, size, expires FROM answer WHERE key=?"},
		{&st.putAnswer, `INSERT OR REPLACE INTO answer (key, digest, result, first, size, expires) VALUES (?,?,?,?,?,?)`},
		{&st.expire, "DELETE FROM answer WHERE key IN (SELECT key FROM answer WHERE expires<? ORDER BY expires LIMIT 64)"},
	} {
		var err error
		if *p.to, err = c.prepare(p.text); err != nil {
			return err
		}
	}
	return nil
}

// plan is what is worked out for a batch: before the writer has it, what the batch itself tells; inside the transaction,
// what the stored rows add.
type plan struct {
	writes  []step
	outcome answer
}

// step is one write with what is known about its row.
type step struct {
	records int64 // records of the batch about this row
	last    int64 // index in the batch of the newest of them, or -1
	pos     int64
	audited int64 // stored number of audit records
	back    driver.Value
	docSum  driver.Value
	state   string
	rank    int64
	same    bool // label, parent and creation are as stored
	label   string
	parent  string
}

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

// check judges what needs no stored row: form, sizes, and that the records of the batch belong to rows that it writes and
// leave them at the number and hash that the rows name.
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
		for j := range b.Writes[:i] {
			if o := &b.Writes[j]; o.ID == w.ID || w.Label != "" && o.Label == w.Label && o.Kind == w.Kind {
				return invalid("store.twice", string(w.Kind), w.ID)
			}
		}
		p.writes[i].last = -1
	}
	for i := range b.Records {
		rec := &b.Records[i]
		s := p.about(b, rec.Subject)
		if s < 0 {
			return invalid("store.orphan", rec.Subject.String())
		}
		if prev := p.writes[s].last; prev >= 0 && b.Records[prev].Seq+1 != rec.Seq {
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

// about returns the index of the write whose row a record is about, or -1.
func (p *plan) about(b *kernel.Batch, s audit.Subject) int {
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

// tx is the state of one transaction.
type tx struct {
	st     *statements
	head   audit.Head
	leaves []audit.Hash
	counts map[tallyKey]int64
	dirty  bool
	keyed  bool
	sums   summer
}

type tallyKey struct{ parent, kind, state string }

// open reads the head of the log as it is in this transaction; another process may have moved it.
func (t *tx) open(st *statements) error {
	t.st, t.dirty, t.keyed = st, false, false
	t.leaves = t.leaves[:0]
	if t.counts == nil {
		t.counts = map[tallyKey]int64{}
	}
	clear(t.counts)
	h := st.head
	ok, err := h.one()
	if err != nil {
		return err
	}
	if ok && t.head.Size == h.int(0) && string(t.head.Root[:]) == string(h.bytes(1)) && t.head.Size > 0 {
		return nil
	}
	t.head, err = readHead(h, ok)
	return err
}

// readHead reads the columns size, root and frontier.
func readHead(s *stmt, ok bool) (audit.Head, error) {
	if !ok || len(s.bytes(1)) != len(audit.Hash{}) || len(s.bytes(2))%len(audit.Hash{}) != 0 {
		return audit.Head{}, pawl.Fail(pawl.CodeStoreDamaged, "store.head").In("store.head")
	}
	head := audit.Head{Size: s.int(0), Root: audit.Hash(s.bytes(1))}
	for raw := s.bytes(2); len(raw) > 0; raw = raw[len(audit.Hash{}):] {
		head.Frontier = append(head.Frontier, audit.Hash(raw[:len(audit.Hash{})]))
	}
	if !head.Valid() {
		return audit.Head{}, pawl.Fail(pawl.CodeStoreDamaged, "store.head").In("store.head")
	}
	return head, nil
}

// batch writes one batch, or refuses it with an error of ours and leaves everything as it was. Any other error concerns
// the whole transaction.
func (t *tx) batch(b *kernel.Batch, p *plan, now time.Time) (kernel.Committed, error) {
	if b.Key != "" {
		if old, found, err := t.replay(b, now); err != nil || found {
			return old, err
		}
	}
	for i := range b.Writes {
		if err := t.fits(&b.Writes[i], &p.writes[i]); err != nil {
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
	if err := t.records(b, p); err != nil {
		return kernel.Committed{}, err
	}
	if b.Key != "" {
		t.keyed = true
		expires := now.Add(answerLife).UnixMicro()
		if _, err := t.st.putAnswer.exec(b.Key, b.Digest, b.Result, out.First, out.Size, expires); err != nil {
			return kernel.Committed{}, err
		}
		t.dirty = true
	}
	return out, nil
}

// replay looks for the answer to an earlier batch with the same key.
func (t *tx) replay(b *kernel.Batch, now time.Time) (kernel.Committed, bool, error) {
	s := t.st.answer
	ok, err := s.one(b.Key)
	if err != nil || !ok || s.int(4) < now.UnixMicro() {
		return kernel.Committed{}, false, err
	}
	if s.text(0) != b.Digest {
		return kernel.Committed{}, false, conflict("store.key", b.Key)
	}
	return kernel.Committed{Replayed: true, Result: s.bytes(1), First: s.int(2), Size: s.int(3)}, true, nil
}

// fits compares a write with the stored row and keeps in the step what writing it needs to know.
func (t *tx) fits(w *kernel.Write, s *step) error {
	f := t.st.find
	found, err := f.one(w.ID)
	if err != nil {
		return err
	}
	if !found {
		if w.From != 0 {
			return conflict("store.gone", string(w.Kind), w.ID)
		}
		s.audited, s.back, s.docSum, s.same, s.label = 0, nil, nil, false, ""
	} else {
		if w.From == 0 {
			return conflict("store.exists", string(w.Kind), w.ID)
		}
		if f.int(1) != w.From || f.text(6) != string(w.Kind) {
			return conflict("store.stale", string(w.Kind), w.ID, w.From, f.int(1))
		}
		s.pos, s.state, s.rank, s.audited, s.back = f.int(0), f.text(2), f.int(3), f.int(4), f.dest[5]
		s.label, s.parent, s.docSum = f.text(7), f.text(8), f.dest[10]
		s.same = s.label == w.Label && s.parent == w.Parent && f.dest[9] == instant(w.CreatedAt)
	}
	if w.AuditSeq != s.audited+s.records {
		return conflict("store.chain", string(w.Kind), w.ID, s.audited, w.AuditSeq)
	}
	if w.Label == "" || w.Label == s.label {
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

// write inserts or replaces one row. first is the place in the log of the batch's first record.
func (t *tx) write(w *kernel.Write, s *step, first int64) error {
	at := s.back
	if s.last >= 0 {
		at = first + s.last
	}
	var err error
	docSum := driver.Value(nil)
	switch {
	case w.KeepDoc:
		docSum = s.docSum
	case len(w.Doc) > 0:
		docSum = sumOf(w.Doc)
	}
	due, updated, hash, sum := instant(w.Due), instant(w.UpdatedAt), w.AuditHash[:], t.sums.row(&w.Row, docSum)
	switch {
	case w.From == 0:
		var res driver.Result
		res, err = t.st.insert.exec(string(w.Kind), w.ID, orNull(w.Label), orNull(w.Parent), w.State, w.Version, w.Epoch,
			due, w.Rank, w.AuditSeq, hash, at, instant(w.CreatedAt), updated, docSum, sum)
		if err == nil {
			s.pos, err = res.LastInsertId()
		}
		t.tally(w.Parent, string(w.Kind), w.State, 1)
	case !s.same:
		_, err = t.st.updateWhole.exec(w.Version, w.Epoch, due, w.AuditSeq, hash, at, updated, docSum, sum, w.State, w.Rank,
			orNull(w.Label), orNull(w.Parent), instant(w.CreatedAt), s.pos)
	case s.state != w.State || s.rank != w.Rank:
		_, err = t.st.updateState.exec(w.Version, w.Epoch, due, w.AuditSeq, hash, at, updated, docSum, sum, w.State, w.Rank, s.pos)
	default:
		_, err = t.st.update.exec(w.Version, w.Epoch, due, w.AuditSeq, hash, at, updated, docSum, sum, s.pos)
	}
	if err != nil {
		return err
	}
	if w.From != 0 && (s.state != w.State || s.parent != w.Parent) {
		t.tally(s.parent, string(w.Kind), s.state, -1)
		t.tally(w.Parent, string(w.Kind), w.State, 1)
	}
	t.dirty = true
	if w.KeepDoc {
		return nil
	}
	if len(w.Doc) > 0 {
		_, err = t.st.putDoc.exec(s.pos, w.Doc)
	} else if w.From != 0 {
		_, err = t.st.dropDoc.exec(s.pos)
	}
	return err
}

// records appends the batch's records to the log, each with the way back to its subject's previous one.
func (t *tx) records(b *kernel.Batch, p *plan) error {
	for i := range b.Records {
		rec := &b.Records[i]
		s := &p.writes[p.about(b, rec.Subject)]
		at := t.head.Size + int64(len(t.leaves))
		if _, err := t.st.record.exec(at, s.pos, rec.Seq, s.back, rec.Hash[:], rec.Bytes); err != nil {
			return err
		}
		s.back = at
		t.leaves = append(t.leaves, rec.Hash)
		t.dirty = true
	}
	return nil
}

// tally notes a change of a count, under the parent and in all.
func (t *tx) tally(parent, kind, state string, by int64) {
	t.counts[tallyKey{"", kind, state}] += by
	if parent != "" {
		t.counts[tallyKey{parent, kind, state}] += by
	}
}

// close writes what belongs to the transaction as a whole: counts and the head of the log.
func (t *tx) close() error {
	for k, by := range t.counts {
		if by == 0 {
			continue
		}
		if _, err := t.st.count.exec(k.parent, k.kind, k.state, by); err != nil {
			return err
		}
	}
	if t.keyed {
		if _, err := t.st.expire.exec(time.Now().UnixMicro()); err != nil {
			return err
		}
	}
	if len(t.leaves) == 0 {
		return nil
	}
	head := t.head.Append(t.leaves...)
	frontier := make([]byte, 0, len(head.Frontier)*len(audit.Hash{}))
	for _, h := range head.Frontier {
		frontier = append(frontier, h[:]...)
	}
	if _, err := t.st.setHead.exec(head.Size, head.Root[:], frontier); err != nil {
		return err
	}
	t.head = head
	return nil
}
