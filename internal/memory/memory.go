// Package memory is a kernel.Store that forgets: what tests and the exploration of decisions run on. It is no store for
// users, as nothing outlives the process; those pass store/storetest.
package memory

import (
	"context"
	"iter"
	"slices"
	"sort"
	"sync"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/audit"
)

// Store is a store in memory. The zero value is not usable; New makes one.
type Store struct {
	mu      sync.RWMutex
	rows    []kernel.Row
	at      map[kernel.Kind]map[string]int
	labels  map[kernel.Kind]map[string]int
	records []audit.Stored
	head    audit.Head
	front   []byte
	keys    map[string]answered
}

type answered struct {
	digest    string
	committed kernel.Committed
}

var _ kernel.Store = (*Store)(nil)

// New returns an empty store.
func New() *Store {
	return &Store{at: map[kernel.Kind]map[string]int{}, labels: map[kernel.Kind]map[string]int{},
		keys: map[string]answered{}}
}

// Load reads the selected rows.
func (s *Store) Load(ctx context.Context, sel ...kernel.Select) ([][]kernel.Row, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	out := make([][]kernel.Row, len(sel))
	for i, q := range sel {
		out[i] = s.find(q)
	}
	return out, nil
}

func (s *Store) find(q kernel.Select) []kernel.Row {
	var out []kernel.Row
	for pos, r := range s.rows {
		if at := int64(pos) + 1; !match(r, q) || at == q.After || q.After != 0 && at < q.After == !q.Newest {
			continue
		}
		r.Pos, r.Doc = int64(pos)+1, slices.Clone(r.Doc)
		if q.HotOnly {
			r.Doc = nil
		}
		out = append(out, r)
	}
	if q.ByRank {
		sort.SliceStable(out, func(i, j int) bool { return out[i].Rank > out[j].Rank })
	}
	if q.Newest {
		slices.Reverse(out)
	}
	if q.Limit > 0 && len(out) > q.Limit {
		out = out[:q.Limit]
	}
	return out
}

func match(r kernel.Row, q kernel.Select) bool {
	return r.Kind != "" && (q.Kind == "" || r.Kind == q.Kind) &&
		(q.ID == "" || r.ID == q.ID) &&
		(q.Label == "" || r.Label == q.Label) &&
		(q.Parent == "" || r.Parent == q.Parent) &&
		(len(q.States) == 0 || slices.Contains(q.States, r.State)) &&
		(q.DueBy.IsZero() || !r.Due.IsZero() && !r.Due.After(q.DueBy))
}

// Scan streams the rows of a selection as they are when the loop begins.
func (s *Store) Scan(ctx context.Context, sel kernel.Select) iter.Seq2[kernel.Row, error] {
	return func(yield func(kernel.Row, error) bool) {
		s.mu.RLock()
		rows := s.find(sel)
		s.mu.RUnlock()
		for _, r := range rows {
			if err := ctx.Err(); err != nil {
				yield(kernel.Row{}, err)
				return
			}
			if !yield(r, nil) {
				return
			}
		}
	}
}

// Count counts the rows of a kind by state.
func (s *Store) Count(ctx context.Context, kind kernel.Kind, parent string) (map[string]int, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	out := map[string]int{}
	for _, r := range s.rows {
		if r.Kind == kind && (parent == "" || r.Parent == parent) {
			out[r.State]++
		}
	}
	return out, ctx.Err()
}

// Commit applies a batch, all of it or nothing.
func (s *Store) Commit(ctx context.Context, b kernel.Batch) (kernel.Committed, error) {
	if err := ctx.Err(); err != nil {
		return kernel.Committed{}, pawl.Fail(pawl.CodeTimeout, "store.canceled").Because(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if a, ok := s.keys[b.Key]; ok && b.Key != "" {
		if a.digest != b.Digest {
			return kernel.Committed{}, pawl.Fail(pawl.CodeConflict, "store.key", b.Key)
		}
		c := a.committed
		c.Replayed = true
		return c, nil
	}
	if err := s.check(b); err != nil {
		return kernel.Committed{}, err
	}
	for _, w := range b.Writes {
		s.apply(w)
	}
	if b.Retire != nil {
		s.retire(b.Retire)
	}
	c := kernel.Committed{Result: b.Result, First: s.head.Size}
	for _, r := range b.Records {
		s.records = append(s.records, audit.Stored{Index: s.head.Size, Subject: r.Subject, Seq: r.Seq,
			Bytes: r.Bytes, Hash: r.Hash})
		s.head = s.head.Append(r.Hash)
	}
	c.Size = s.head.Size
	if b.Key != "" {
		s.keys[b.Key] = answered{b.Digest, c}
	}
	return c, nil
}

// retire takes records and rows out. What is wrong with a retirement is for a store to find that keeps something.
func (s *Store) retire(r *kernel.Retirement) {
	s.records = s.records[len(s.records)-int(s.head.Size-r.Front.Size):]
	s.front = r.Front.Bytes()
	for _, row := range r.Rows {
		i := s.at[row.Kind][row.ID]
		delete(s.at[row.Kind], row.ID)
		delete(s.labels[row.Kind], s.rows[i].Label)
		s.rows[i] = kernel.Row{}
	}
}

func (s *Store) check(b kernel.Batch) error {
	reads := b.Reads
	if b.Retire != nil {
		reads = slices.Concat(reads, b.Retire.Rows)
	}
	for _, r := range reads {
		version := int64(0)
		if i, found := s.at[r.Kind][r.ID]; found {
			version = s.rows[i].Version
		}
		if version != r.Version {
			return pawl.Fail(pawl.CodeConflict, "store.stale", string(r.Kind), r.ID)
		}
	}
	for _, w := range b.Writes {
		i, found := s.at[w.Kind][w.ID]
		switch {
		case w.From == 0 && found, w.From != 0 && (!found || s.rows[i].Version != w.From):
			return pawl.Fail(pawl.CodeConflict, "store.stale", string(w.Kind), w.ID)
		case w.From == 0 && w.Label != "":
			if _, taken := s.labels[w.Kind][w.Label]; taken {
				return pawl.Fail(pawl.CodeConflict, "store.label", string(w.Kind), w.Label)
			}
		}
	}
	return nil
}

func (s *Store) apply(w kernel.Write) {
	row := w.Row
	i, found := s.at[w.Kind][w.ID]
	if found && w.KeepDoc {
		row.Doc = s.rows[i].Doc
	} else {
		row.Doc = slices.Clone(row.Doc)
	}
	if found {
		s.rows[i] = row
		return
	}
	if s.at[w.Kind] == nil {
		s.at[w.Kind], s.labels[w.Kind] = map[string]int{}, map[string]int{}
	}
	s.at[w.Kind][w.ID] = len(s.rows)
	if w.Label != "" {
		s.labels[w.Kind][w.Label] = len(s.rows)
	}
	s.rows = append(s.rows, row)
}

// Records streams the audit log.
func (s *Store) Records(ctx context.Context, subject string, first int64) iter.Seq2[audit.Stored, error] {
	return func(yield func(audit.Stored, error) bool) {
		s.mu.RLock()
		all := s.records
		s.mu.RUnlock()
		for _, r := range all {
			if r.Index < first || subject != "" && r.Subject.String() != subject {
				continue
			}
			if err := ctx.Err(); err != nil {
				yield(audit.Stored{}, err)
				return
			}
			if !yield(r, nil) {
				return
			}
		}
	}
}

// Head returns the head of the audit log.
func (s *Store) Head(ctx context.Context) (audit.Head, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.head, ctx.Err()
}

// Log shows the audit log as it is now. Every store in memory has the same identity.
func (s *Store) Log(ctx context.Context, read func(audit.Log) error) error {
	s.mu.RLock()
	head, records, front := s.head, s.records, s.front
	s.mu.RUnlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	known := func() ([]byte, error) { return front, nil }
	return read(audit.Log{Identity: "MEMORY", Head: head, Front: known, Records: func(yield func(audit.Stored, error) bool) {
		for _, r := range records {
			if !yield(r, ctx.Err()) {
				return
			}
		}
	}})
}

// Close does nothing.
func (s *Store) Close() error { return nil }
