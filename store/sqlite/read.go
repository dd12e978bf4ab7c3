package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"iter"
	"strconv"
	"strings"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/audit"
)

// columns are read in the order of row.
const columns = "SELECT e.pos, e.kind, e.id, e.label, e.parent, e.state, e.version, e.epoch, e.due, e.rank, e.audit_seq, " +
	"e.audit_hash, e.created, e.updated, e.doc_sum, e.sum"

// document reads a row's document, which stands in the row if it is short.
const document = ", CASE WHEN e.body IS NULL AND e.doc_sum IS NOT NULL " +
	"THEN (SELECT d.body FROM long_doc d WHERE d.pos=e.pos) ELSE e.body END"

// The selection of one row by its ID, which every transition makes.
const (
	byID    = columns + document + " FROM entity e WHERE e.id=?"
	byIDHot = columns + " FROM entity e WHERE e.id=?"
)

// row reads the current row of a selection, and refuses it if it is not what was written.
func (c *conn) row(s *stmt) (kernel.Row, error) {
	r := kernel.Row{
		Pos: s.int(0), Kind: kernel.Kind(s.text(1)), ID: s.text(2), Label: s.text(3), Parent: s.text(4),
		State:   s.text(5),
		Version: s.int(6), Epoch: s.int(7), Due: s.time(8), Rank: s.int(9), AuditSeq: s.int(10),
		CreatedAt: s.time(12), UpdatedAt: s.time(13),
	}
	whole := copy(r.AuditHash[:], s.bytes(11)) == len(r.AuditHash) && c.sums.row(&r, s.dest[14]) == s.int(15)
	if whole && len(s.dest) > 16 {
		r.Doc = s.bytes(16)
		whole = s.null(14) == s.null(16) && (s.null(14) || sumOf(r.Doc) == s.int(14))
	}
	if !whole {
		return kernel.Row{}, pawl.Fail(pawl.CodeStoreDamaged, "store.row", r.ID).In("store.load")
	}
	return r, nil
}

// Load implements kernel.Store.
func (s *Store) Load(ctx context.Context, sel ...kernel.Select) ([][]kernel.Row, error) {
	c, err := s.reader(ctx, "load")
	if err != nil {
		return nil, err
	}
	defer s.give(c)
	out := make([][]kernel.Row, len(sel))
	if len(sel) == 1 {
		out[0], err = load(ctx, c, &sel[0])
	} else {
		err = c.snapshot(func() error { return loadAll(ctx, c, sel, out) })
	}
	if err != nil {
		return nil, s.fault("load", err)
	}
	return out, nil
}

// snapshot runs several reads on one state of the database, that of the snapshot around it if there is one.
func (c *conn) snapshot(read func() error) (err error) {
	if c.within {
		return read()
	}
	begin, err := c.prepare("BEGIN")
	if err != nil {
		return err
	}
	end, err := c.prepare("ROLLBACK")
	if err != nil {
		return err
	}
	if _, err := begin.exec(); err != nil {
		return err
	}
	c.within = true
	defer func() { // also where a loop over the rows is left in another way than by its end
		c.within = false
		_, ended := end.exec()
		err = errors.Join(err, ended)
	}()
	return read()
}

func load(ctx context.Context, c *conn, sel *kernel.Select) ([]kernel.Row, error) {
	var out []kernel.Row
	err := each(ctx, c, sel, func(r kernel.Row) bool {
		out = append(out, r)
		return true
	})
	return out, err
}

// each runs a selection and calls yield with its rows until that says no.
func each(ctx context.Context, c *conn, sel *kernel.Select, yield func(kernel.Row) bool) error {
	if merges(sel) {
		return c.snapshot(func() error { return c.merged(ctx, sel, yield) })
	}
	text, args := query(sel)
	return c.rowsOf(ctx, text, args, yield)
}

// rowsOf runs a statement for rows and calls yield with them until that says no.
func (c *conn) rowsOf(ctx context.Context, text string, args []driver.Value, yield func(kernel.Row) bool) error {
	s, err := c.prepare(text)
	if err != nil {
		return err
	}
	if err := s.query(args...); err != nil {
		return err
	}
	defer func() { _ = s.done() }()
	for n := 1; ; n++ {
		ok, err := s.next()
		if err != nil || !ok {
			return err
		}
		r, err := c.row(s)
		if err != nil {
			return err
		}
		if !yield(r) {
			return nil
		}
		if n%64 == 0 && ctx.Err() != nil {
			return canceled(ctx, "read")
		}
	}
}

// query returns the text and the arguments for a selection. The texts are few: they differ by the fields that are set
// and by the limit, not by other values.
func query(sel *kernel.Select) (string, []driver.Value) {
	if onlyID(sel) {
		if sel.HotOnly {
			return byIDHot, []driver.Value{sel.ID}
		}
		return byID, []driver.Value{sel.ID}
	}
	var b strings.Builder
	var args []driver.Value
	b.WriteString(columns)
	if !sel.HotOnly {
		b.WriteString(document)
	}
	b.WriteString(" FROM entity e" + index(sel))
	word := " WHERE "
	where := func(cond string, arg ...driver.Value) {
		b.WriteString(word + cond)
		args = append(args, arg...)
		word = " AND "
	}
	if sel.ID != "" {
		where("e.id=?", sel.ID)
	}
	switch {
	case issuesOf(sel):
		where("e.kind='issue'") // a bound kind does not tell the planner that the index holds all that is asked for
	case sel.Kind != "":
		where("e.kind=?", string(sel.Kind))
	}
	if sel.Label != "" {
		where("e.label=?", sel.Label)
	}
	if sel.Parent != "" {
		where("e.parent=?", sel.Parent)
	}
	if len(sel.States) > 0 {
		states := make([]driver.Value, len(sel.States))
		for i, state := range sel.States {
			states[i] = state
		}
		where("e.state IN (?"+strings.Repeat(",?", len(states)-1)+")", states...)
	}
	if !sel.DueBy.IsZero() {
		where("e.due<=?", sel.DueBy.UnixMicro())
	}
	if sel.After != 0 {
		where(map[bool]string{false: "e.pos>?", true: "e.pos<?"}[sel.Newest], sel.After)
	}
	switch {
	case sel.ByRank:
		b.WriteString(" ORDER BY e.rank DESC, e.pos")
	case sel.Newest:
		b.WriteString(" ORDER BY e.pos DESC")
	default:
		b.WriteString(" ORDER BY e.pos")
	}
	if sel.Limit > 0 {
		// The planner looks at the value of a bound limit, and the statement would be prepared anew at every run.
		b.WriteString(" LIMIT " + strconv.Itoa(sel.Limit))
	}
	return b.String(), args
}

// onlyID reports whether a selection names nothing but an ID.
func onlyID(sel *kernel.Select) bool {
	return sel.ID != "" && sel.Kind == "" && sel.Label == "" && sel.Parent == "" && len(sel.States) == 0 &&
		sel.DueBy.IsZero() && sel.After == 0
}

// index names the index that a selection shall use. The planner has no statistics to choose by, and we know more:
// labels and IDs are unique, children of a parent are few, and lists without a limit must come in order without being
// sorted first.
func index(sel *kernel.Select) string {
	switch {
	case sel.ID != "":
		return " INDEXED BY entity_id"
	case sel.Label != "" && sel.Kind != "":
		return " INDEXED BY entity_label"
	case sel.Parent != "":
		return " INDEXED BY entity_parent"
	case issuesOf(sel):
		return " INDEXED BY entity_issue"
	case sel.Kind != "" && len(sel.States) > 0 && (sel.ByRank || sel.Limit > 0 || !sel.DueBy.IsZero()):
		return " INDEXED BY entity_state"
	case sel.Kind != "":
		return " INDEXED BY entity_kind"
	}
	return ""
}

// issuesOf reports whether a selection lists the issues of one status in the order of their registration.
func issuesOf(sel *kernel.Select) bool {
	return sel.Kind == kernel.KindIssue && len(sel.States) == 1 && !sel.ByRank && sel.DueBy.IsZero() && sel.ID == "" &&
		sel.Label == "" &&
		sel.Parent == ""
}

// Scan implements kernel.Store.
func (s *Store) Scan(ctx context.Context, sel kernel.Select) iter.Seq2[kernel.Row, error] {
	return func(yield func(kernel.Row, error) bool) {
		c, err := s.stream(ctx, "scan")
		if err != nil {
			yield(kernel.Row{}, err)
			return
		}
		defer s.finish(c)
		stopped := false
		err = each(ctx, c, &sel, func(r kernel.Row) bool {
			stopped = !yield(r, nil)
			return !stopped
		})
		if err != nil && !stopped {
			yield(kernel.Row{}, s.fault("scan", err))
		}
	}
}

// Count implements kernel.Store.
func (s *Store) Count(ctx context.Context, kind kernel.Kind, parent string) (map[string]int, error) {
	c, err := s.reader(ctx, "count")
	if err != nil {
		return nil, err
	}
	defer s.give(c)
	g := group{parent, string(kind)}
	if !g.kept() {
		out, err := countFew(ctx, c, g)
		return out, s.fault("count", err)
	}
	q, err := c.prepare(summaryText)
	if err != nil {
		return nil, s.fault("count", err)
	}
	stored, err := readCounts(q, g)
	if err != nil {
		return nil, s.fault("count", err)
	}
	out := make(map[string]int, len(stored))
	for state, n := range stored {
		out[state] = int(n)
	}
	return out, nil
}

// countFew counts the rows of a group whose counts are not kept.
func countFew(ctx context.Context, c *conn, g group) (map[string]int, error) {
	out := map[string]int{}
	err := each(ctx, c, &kernel.Select{Kind: kernel.Kind(g.kind), Parent: g.parent, HotOnly: true},
		func(r kernel.Row) bool {
			out[r.State]++
			return true
		})
	return out, err
}

// Head implements kernel.Store.
func (s *Store) Head(ctx context.Context) (audit.Head, error) {
	c, err := s.reader(ctx, "head")
	if err != nil {
		return audit.Head{}, err
	}
	defer s.give(c)
	q, err := c.prepare(summaryText)
	if err != nil {
		return audit.Head{}, s.fault("head", err)
	}
	head, err := readHead(q)
	return head, s.fault("head", err)
}

// Log implements kernel.Store.
func (s *Store) Log(ctx context.Context, read func(audit.Log) error) error {
	c, err := s.stream(ctx, "log")
	if err != nil {
		return err
	}
	defer s.finish(c)
	var said error
	err = c.snapshot(func() error {
		log, err := c.log(ctx, s.fault)
		if err == nil {
			said = read(log)
		}
		return err
	})
	if said != nil {
		return said
	}
	return s.fault("log", err)
}

// log is the audit log in the snapshot that the connection has. What goes wrong while its records are read passes
// through fault.
func (c *conn) log(ctx context.Context, fault func(op string, err error) error) (audit.Log, error) {
	q, err := c.prepare(summaryText)
	if err != nil {
		return audit.Log{}, err
	}
	l := audit.Log{Front: c.front}
	if l.Head, err = readHead(q); err != nil {
		return audit.Log{}, err
	}
	if l.Identity, l.Unnamed, err = c.identity(); err != nil {
		return audit.Log{}, err
	}
	subjects, err := c.names()
	if err != nil {
		return audit.Log{}, err
	}
	l.Records = func(yield func(audit.Stored, error) bool) {
		stopped := false
		err := c.records(ctx, recordColumns+" WHERE idx>=? ORDER BY idx", 0, subjects, func(rec audit.Stored) bool {
			stopped = !yield(rec, nil)
			return !stopped
		})
		if err != nil && !stopped {
			yield(audit.Stored{}, fault("log", err))
		}
	}
	return l, nil
}

// identity reads the store's identity, and whether the log was begun before there was one.
func (c *conn) identity() (id string, unnamed bool, err error) {
	q, err := c.prepare("SELECT identity, unnamed, sum FROM meta")
	if err != nil {
		return "", false, err
	}
	found, err := q.one()
	if err == nil && (!found || q.text(0) == "" || sumOf([]byte(q.text(0))) != q.int(2)) {
		err = pawl.Fail(pawl.CodeStoreDamaged, "store.name").In("store.log")
	}
	if err != nil {
		return "", false, err
	}
	return q.text(0), q.int(1) != 0, nil
}

// recordColumns are read in the order of records. The subject's name is looked up once per subject, not joined to each
// row.
const recordColumns = "SELECT idx, seq, hash, bytes, ref FROM audit"

// maxNames bounds the names that are remembered while records are read.
const maxNames = 1 << 16

// names finds the subjects that audit records refer to.
type names struct {
	q    *stmt
	seen map[int64]audit.Subject
}

func (c *conn) names() (*names, error) {
	q, err := c.prepare("SELECT kind, id FROM entity WHERE pos=?")
	return &names{q, map[int64]audit.Subject{}}, err
}

func (n *names) of(ref int64) (audit.Subject, error) {
	if s, ok := n.seen[ref]; ok {
		return s, nil
	}
	ok, err := n.q.one(ref)
	if err == nil && !ok {
		err = pawl.Fail(pawl.CodeStoreDamaged, "store.rows", 1).In("store.records")
	}
	if err != nil {
		return audit.Subject{}, err
	}
	if len(n.seen) >= maxNames {
		clear(n.seen)
	}
	s := audit.Subject{Kind: n.q.text(0), ID: n.q.text(1)}
	n.seen[ref] = s
	return s, nil
}

// Records implements kernel.Store.
func (s *Store) Records(ctx context.Context, subject string, first int64) iter.Seq2[audit.Stored, error] {
	return func(yield func(audit.Stored, error) bool) {
		c, err := s.stream(ctx, "records")
		if err != nil {
			yield(audit.Stored{}, err)
			return
		}
		defer s.finish(c)
		stopped := false
		each := func(rec audit.Stored) bool {
			stopped = !yield(rec, nil)
			return !stopped
		}
		subjects, err := c.names()
		switch {
		case err != nil:
		case subject == "":
			err = c.records(ctx, recordColumns+" WHERE idx>=? ORDER BY idx", first, subjects, each)
		default:
			err = c.snapshot(func() error { return c.chain(ctx, subject, first, subjects, each) })
		}
		if err != nil && !stopped {
			yield(audit.Stored{}, s.fault("records", err))
		}
	}
}

// records runs a query for audit records.
func (c *conn) records(
	ctx context.Context, text string, arg int64, subjects *names, yield func(audit.Stored) bool,
) error {
	q, err := c.prepare(text)
	if err != nil {
		return err
	}
	if err := q.query(arg); err != nil {
		return err
	}
	defer func() { _ = q.done() }()
	for n := 1; ; n++ {
		ok, err := q.next()
		if err != nil || !ok {
			return err
		}
		rec := audit.Stored{Index: q.int(0), Seq: q.int(1), Bytes: q.bytes(3)}
		if rec.Subject, err = subjects.of(q.int(4)); err != nil {
			return err
		}
		if copy(rec.Hash[:], q.bytes(2)) != len(rec.Hash) {
			return pawl.Fail(pawl.CodeStoreDamaged, "store.record", rec.Index).In("store.records")
		}
		if !yield(rec) {
			return nil
		}
		if n%64 == 0 && ctx.Err() != nil {
			return canceled(ctx, "records")
		}
	}
}

// places are those of a subject's records in the log, from the newest back to the first that is asked for.
func (c *conn) places(id, kind string, first int64) ([]int64, error) {
	q, err := c.prepare(`WITH RECURSIVE way (idx) AS (
		SELECT audit_at FROM entity INDEXED BY entity_id WHERE id=? AND kind=?
		UNION ALL SELECT a.back FROM way JOIN audit a ON a.idx=way.idx) SELECT idx FROM way`)
	if err != nil {
		return nil, err
	}
	if err := q.query(id, kind); err != nil {
		return nil, err
	}
	defer func() { _ = q.done() }()
	var out []int64
	for {
		ok, err := q.next()
		if err != nil || !ok || q.null(0) || q.int(0) < first {
			return out, err
		}
		// Each step leads to an earlier record; a damaged one that does not would lead in a circle.
		if len(out) > 0 && q.int(0) >= out[len(out)-1] {
			return nil, pawl.Fail(pawl.CodeStoreDamaged, "store.record", out[len(out)-1]).In("store.records")
		}
		out = append(out, q.int(0))
	}
}

// chain follows a subject's records back from its newest one, then yields them in order.
func (c *conn) chain(
	ctx context.Context, subject string, first int64, subjects *names, yield func(audit.Stored) bool,
) error {
	kind, id, _ := strings.Cut(subject, ":")
	places, err := c.places(id, kind, first)
	if err != nil {
		return err
	}
	for i := len(places) - 1; i >= 0; i-- {
		stop := false
		err := c.records(ctx, recordColumns+" WHERE idx=?", places[i], subjects, func(rec audit.Stored) bool {
			stop = !yield(rec)
			return !stop
		})
		if err != nil || stop {
			return err
		}
	}
	return nil
}
