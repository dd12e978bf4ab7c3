package sqlite

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"maps"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/audit"
)

// summaryText reads a line of the summary: counts, or, for "" and "", the head of the log.
const summaryText = "SELECT data FROM summary WHERE parent=? AND kind=?"

// group is what counts are kept for: the rows of a kind under a parent, or, with the parent "", all of the kind.
type group struct{ parent, kind string }

// kept reports whether the counts of a group stand in the summary. The rows of most kinds are so few under one parent
// that they are counted when somebody asks, and keeping their counts would be a row more to write with each of them.
func (g group) kept() bool {
	switch kernel.Kind(g.kind) {
	case kernel.KindTask, kernel.KindIssue, kernel.KindItem, kernel.KindRun:
		return true
	}
	return g.parent == ""
}

// counts are numbers of rows by state. A state that no row is in has no entry.
type counts map[string]int64

// add changes the count of a state.
func (c counts) add(state string, by int64) {
	if n := c[state] + by; n != 0 {
		c[state] = n
	} else {
		delete(c, state)
	}
}

// readCounts reads the counts of a group; one that was never written is empty.
func readCounts(s *stmt, g group) (counts, error) {
	c := counts{}
	found, err := s.one(g.parent, g.kind)
	if err != nil || !found {
		return c, err
	}
	if json.Unmarshal(s.bytes(0), &c) != nil || c == nil {
		return nil, pawl.Fail(pawl.CodeStoreDamaged, "store.count", g.kind).In("store.count")
	}
	return c, nil
}

// recount moves a row from its old group and state to its new ones; a new row has no old ones.
func (t *tx) recount(old, now *stored) error {
	if old.kind != "" {
		if err := t.count(old, -1); err != nil {
			return err
		}
	}
	return t.count(now, 1)
}

// count changes the counts that a row is in: those of its parent, if it has one, and those of all.
func (t *tx) count(r *stored, by int64) error {
	for _, parent := range [...]string{"", r.parent} {
		g := group{parent, r.kind}
		c, ok := t.counts[g]
		if !ok {
			var err error
			if c, err = readCounts(t.st.summary, g); err != nil {
				return err
			}
			t.counts[g] = c
		}
		c.add(r.state, by)
		t.changed[g] = true
		if r.parent == "" || !(group{r.parent, r.kind}).kept() {
			break
		}
	}
	return nil
}

// readHead reads the head of the log and makes sure that it agrees with itself.
func readHead(s *stmt) (audit.Head, error) {
	const size, hash = 8, len(audit.Hash{})
	found, err := s.one("", "")
	if err != nil {
		return audit.Head{}, err
	}
	damaged := pawl.Fail(pawl.CodeStoreDamaged, "store.head").In("store.head")
	if !found {
		return audit.Head{}, damaged
	}
	raw := s.bytes(0)
	if len(raw) < size+hash || (len(raw)-size)%hash != 0 {
		return audit.Head{}, damaged
	}
	head := audit.Head{Size: int64(binary.BigEndian.Uint64(raw)), Root: audit.Hash(raw[size : size+hash])}
	for rest := raw[size+hash:]; len(rest) > 0; rest = rest[hash:] {
		head.Frontier = append(head.Frontier, audit.Hash(rest[:hash]))
	}
	if !head.Valid() {
		return audit.Head{}, damaged
	}
	return head, nil
}

// encodeHead is the inverse of readHead.
func encodeHead(h audit.Head) []byte {
	b := binary.BigEndian.AppendUint64(nil, uint64(h.Size))
	b = append(b, h.Root[:]...)
	for _, tree := range h.Frontier {
		b = append(b, tree[:]...)
	}
	return b
}

// compareCounts holds the stored counts against those that were made from the rows.
func (c *conn) compareCounts(ctx context.Context, made map[group]counts) error {
	q, err := c.prepare("SELECT parent, kind, data FROM summary WHERE kind<>''")
	if err != nil {
		return err
	}
	if err := q.query(); err != nil {
		return err
	}
	defer func() { _ = q.done() }()
	for {
		ok, err := q.next()
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		g := group{q.text(0), q.text(1)}
		if !g.kept() {
			continue // older versions kept more
		}
		var stored counts
		if json.Unmarshal(q.bytes(2), &stored) != nil || !maps.Equal(stored, made[g]) {
			return pawl.Fail(pawl.CodeStoreDamaged, "store.count", g.kind).In("store.check")
		}
		delete(made, g)
		if ctx.Err() != nil {
			return canceled(ctx, "check")
		}
	}
	for g := range made {
		return pawl.Fail(pawl.CodeStoreDamaged, "store.count", g.kind).In("store.check")
	}
	return nil
}
