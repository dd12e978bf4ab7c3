package sqlite

import (
	"context"
	"database/sql/driver"
	"strings"

	"pawl/kernel"
)

// together is how many rows are looked for with one statement: running one costs as much as looking for several. Fewer
// than some are looked for one by one, so that the forms of the statements stay few.
const (
	together = 64
	some     = 8
)

// places are question marks for so many arguments.
func places(n int) string { return "?" + strings.Repeat(",?", n-1) }

// pieces calls f with the arguments for a statement that looks for keys, as many at a time as it has places for. The
// last key fills those that are left, and is found once. Extra arguments stand before the keys.
func pieces(keys []string, f func(args []driver.Value) error, extra ...driver.Value) error {
	args := make([]driver.Value, len(extra)+together)
	copy(args, extra)
	for at := 0; at < len(keys); at += together {
		for i := range together {
			args[len(extra)+i] = keys[min(at+i, len(keys)-1)]
		}
		if err := f(args); err != nil {
			return err
		}
	}
	return nil
}

// single is what selections of one row each have in common that can be read together.
type single struct {
	kind    kernel.Kind
	byLabel bool
	hotOnly bool
}

// singleOf returns the ID or label by which a selection asks for one row, "" where it asks for something else.
func singleOf(sel *kernel.Select) (single, string) {
	if sel.Kind == "" || sel.Parent != "" || len(sel.States) > 0 || !sel.DueBy.IsZero() || sel.After != 0 ||
		sel.ID != "" && sel.Label != "" {
		return single{}, ""
	}
	return single{sel.Kind, sel.Label != "", sel.HotOnly}, sel.ID + sel.Label
}

// loadAll reads selections. Those of one row each are read together where they are many.
func loadAll(ctx context.Context, c *conn, sel []kernel.Select, out [][]kernel.Row) error {
	groups := map[single][]int{}
	for i := range sel {
		if g, key := singleOf(&sel[i]); key != "" && len(sel) >= some {
			groups[g] = append(groups[g], i)
			continue
		}
		var err error
		if out[i], err = load(ctx, c, &sel[i]); err != nil {
			return err
		}
	}
	for g, members := range groups {
		if err := loadGroup(ctx, c, g, members, sel, out); err != nil {
			return err
		}
	}
	return nil
}

// loadGroup reads the selections at some places, which have in common what the group says.
func loadGroup(ctx context.Context, c *conn, g single, members []int, sel []kernel.Select, out [][]kernel.Row) error {
	if len(members) < some {
		for _, i := range members {
			var err error
			if out[i], err = load(ctx, c, &sel[i]); err != nil {
				return err
			}
		}
		return nil
	}
	text, name := columns, "id"
	if !g.hotOnly {
		text += document
	}
	if g.byLabel {
		name = "label"
	}
	text += " FROM entity e INDEXED BY entity_" + name + " WHERE e.kind=? AND e." + name + " IN (" + places(together) +
		")"
	at := make(map[string][]int, len(members))
	keys := make([]string, 0, len(members))
	for _, i := range members {
		_, key := singleOf(&sel[i])
		if at[key] == nil {
			keys = append(keys, key)
		}
		at[key] = append(at[key], i)
	}
	return pieces(keys, func(args []driver.Value) error {
		return c.rowsOf(ctx, text, args, func(r kernel.Row) bool {
			key := r.ID
			if g.byLabel {
				key = r.Label
			}
			for _, i := range at[key] {
				out[i] = []kernel.Row{r}
			}
			return true
		})
	}, string(g.kind))
}

// newcomers notes which rows of a batch that are to be new are not there yet, and which of their labels nobody has.
// Where they are few, each is looked for when it is compared.
func (t *tx) newcomers(b *kernel.Batch, p *plan) error {
	var ids []string
	labels := map[kernel.Kind][]string{}
	for i := range b.Writes {
		if w := &b.Writes[i]; w.From == 0 {
			ids = append(ids, w.ID)
			if w.Label != "" {
				labels[w.Kind] = append(labels[w.Kind], w.Label)
			}
		}
	}
	if len(ids) < some {
		return nil
	}
	there := map[kernel.Kind]map[string]bool{} // ids below no kind
	note := func(kind kernel.Kind, text string, keys []string, extra ...driver.Value) error {
		there[kind] = map[string]bool{}
		q, err := t.st.conn.prepare(text + " IN (" + places(together) + ")")
		if err != nil {
			return err
		}
		return pieces(keys, func(args []driver.Value) error { return q.strings(there[kind], args) }, extra...)
	}
	if err := note("", "SELECT id FROM entity WHERE id", ids); err != nil {
		return err
	}
	for kind, named := range labels {
		if err := note(kind, "SELECT label FROM entity INDEXED BY entity_label WHERE kind=? AND label", named,
			string(kind)); err != nil {
			return err
		}
	}
	for i := range b.Writes {
		w, s := &b.Writes[i], &p.writes[i]
		s.absent = w.From == 0 && !there[""][w.ID]
		s.unnamed = s.absent && !there[w.Kind][w.Label]
	}
	return nil
}

// strings adds what a query for one column of text finds to a set.
func (s *stmt) strings(to map[string]bool, args []driver.Value) error {
	if err := s.query(args...); err != nil {
		return err
	}
	defer func() { _ = s.done() }()
	for {
		ok, err := s.next()
		if err != nil || !ok {
			return err
		}
		to[s.text(0)] = true
	}
}

// newcomer is a row that is inserted.
type newcomer struct {
	write *kernel.Write
	step  *step
	now   stored
}

// insertNew inserts the new rows of a batch in their order, many with one statement.
func (t *tx) insertNew() error {
	left := t.fresh
	for i, n := range manyRows {
		for ; len(left) >= n; left = left[n:] {
			args := t.args[:0]
			for j := range left[:n] {
				args = t.columns(args, &left[j])
			}
			t.args = args
			s, err := t.st.rows(i)
			if err != nil {
				return err
			}
			res, err := s.exec(args...)
			if err != nil {
				return err
			}
			last, err := res.LastInsertId()
			if err != nil {
				return err
			}
			for j := range left[:n] {
				if err := t.inserted(&left[j], last-int64(n-1-j)); err != nil {
					return err
				}
			}
		}
	}
	clear(t.fresh)
	t.fresh = t.fresh[:0]
	return nil
}

// columns adds the columns of a new row to the arguments of the statement that inserts it.
func (t *tx) columns(args []driver.Value, f *newcomer) []driver.Value {
	w, now := f.write, &f.now
	var body driver.Value
	if !w.KeepDoc && !now.apart && len(w.Doc) > 0 {
		body = w.Doc
	}
	return append(args, now.kind, w.ID, orNull(w.Label), orNull(w.Parent), w.State, w.Version, w.Epoch, instant(w.Due),
		w.Rank,
		w.AuditSeq, w.AuditHash[:], now.newest, now.created, instant(w.UpdatedAt), now.docSum,
		t.sums.row(&w.Row, now.docSum), body)
}

// inserted does what follows on the insertion of a row at a place.
func (t *tx) inserted(f *newcomer, pos int64) error {
	f.now.pos, f.step.old.pos = pos, pos
	t.known[f.write.ID] = f.now
	if err := t.recount(&stored{}, &f.now); err != nil || !f.now.apart {
		return err
	}
	_, err := t.st.putDoc.exec(pos, f.write.Doc)
	return err
}
