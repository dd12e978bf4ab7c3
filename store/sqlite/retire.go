package sqlite

import (
	"slices"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/audit"
)

// front reads what is known of the records that were retired, nil where none were.
func (c *conn) front() ([]byte, error) {
	q, err := c.prepare("SELECT size, data FROM front")
	if err != nil {
		return nil, err
	}
	found, err := q.one()
	if err == nil && (!found || (q.int(0) == 0) != q.null(1)) {
		err = pawl.Fail(pawl.CodeStoreDamaged, "store.front_lost").In("store.log")
	}
	if err != nil {
		return nil, err
	}
	return q.bytes(1), nil
}

// retirable makes sure that a retirement fits what is stored, and returns the rows that it removes as they are: the
// front is that of the records, every record about a row that goes is before it, and no row that stays is below one
// that goes.
func (t *tx) retirable(b *kernel.Batch) ([]stored, error) {
	r := b.Retire
	if err := t.amounts(&r.Front); err != nil {
		return nil, err
	}
	gone := make([]stored, len(r.Rows))
	below := make(map[string]int64, len(r.Rows))
	for i := range r.Rows {
		if err := t.holds(&r.Rows[i]); err != nil {
			return nil, err
		}
		old, found, err := t.find(r.Rows[i].ID)
		if err != nil {
			return nil, err
		}
		last, recorded := old.newest.(int64)
		if !found || recorded && last >= r.Front.Size ||
			slices.ContainsFunc(b.Writes, func(w kernel.Write) bool { return w.ID == r.Rows[i].ID }) {
			return nil, conflict("store.retired_row", string(r.Rows[i].Kind), r.Rows[i].ID)
		}
		gone[i] = old
		below[old.parent]++
	}
	children, err := t.st.conn.prepare("SELECT count(*) FROM entity INDEXED BY entity_parent WHERE parent=?")
	if err != nil {
		return nil, err
	}
	for _, row := range r.Rows {
		if _, err := children.one(row.ID); err != nil {
			return nil, err
		}
		if children.int(0) != below[row.ID] {
			return nil, conflict("store.retired_parent", string(row.Kind), row.ID)
		}
	}
	return gone, nil
}

// amounts makes sure that a front is what the records before it amount to. Those of the transaction are not among them.
func (t *tx) amounts(f *audit.Front) error {
	data, err := t.st.conn.front()
	if err != nil {
		return err
	}
	now, err := audit.ParseFront(data)
	if err != nil {
		return err
	}
	if f.Size <= now.Size || f.Size > t.head.Size {
		return conflict("store.front", f.Size, now.Size, t.head.Size)
	}
	q, err := t.st.conn.prepare("SELECT hash FROM audit WHERE idx<? ORDER BY idx")
	if err != nil {
		return err
	}
	if err := q.query(f.Size); err != nil {
		return err
	}
	defer func() { _ = q.done() }()
	leaves := make([]audit.Hash, 0, f.Size-now.Size)
	for {
		ok, err := q.next()
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		leaves = append(leaves, hashOf(q.bytes(0)))
	}
	head := audit.Head{Size: now.Size, Frontier: now.Frontier}.Append(leaves...)
	if head.Size != f.Size || !slices.Equal(head.Frontier, f.Frontier) {
		return invalid("store.front", f.Size, now.Size, t.head.Size)
	}
	return nil
}

// retire takes records and rows out, which retirable has found to fit.
func (t *tx) retire(r *kernel.Retirement, gone []stored) error {
	for _, s := range []struct {
		text string
		args []any
	}{
		{"UPDATE front SET size=?, data=?", []any{r.Front.Size, r.Front.Bytes()}},
		{"DELETE FROM audit WHERE idx<?", []any{r.Front.Size}},
	} {
		if err := t.run(s.text, s.args...); err != nil {
			return err
		}
	}
	for i := range gone {
		if err := t.run("DELETE FROM long_doc WHERE pos=?", gone[i].pos); err != nil {
			return err
		}
		if err := t.run("DELETE FROM entity WHERE pos=?", gone[i].pos); err != nil {
			return err
		}
		if err := t.count(&gone[i], -1); err != nil {
			return err
		}
		delete(t.known, r.Rows[i].ID)
	}
	t.dirty = true
	return nil
}

// run executes a statement that is seldom needed.
func (t *tx) run(text string, args ...any) error {
	s, err := t.st.conn.prepare(text)
	if err != nil {
		return err
	}
	t.args = t.args[:0]
	for _, a := range args {
		t.args = append(t.args, a)
	}
	_, err = s.exec(t.args...)
	return err
}
