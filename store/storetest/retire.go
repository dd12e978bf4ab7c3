package storetest

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/audit"
)

// Retiring is the batch that takes the records before n and rows out of a store, with a record of it about the keeper.
func Retiring(ctx context.Context, s kernel.Store, keeper kernel.Row, n int64,
	rows ...kernel.Row) (kernel.Batch, error) {
	r := &kernel.Retirement{}
	gone := map[audit.Subject]bool{}
	for _, row := range rows {
		r.Rows = append(r.Rows, kernel.Read{Kind: row.Kind, ID: row.ID, Version: row.Version})
		gone[audit.Subject{Kind: string(row.Kind), ID: row.ID}] = true
	}
	err := s.Log(ctx, func(l audit.Log) (err error) {
		r.Front, err = l.Advance(func(at int64, _ time.Time) bool { return at == n })
		return err
	})
	if err != nil {
		return kernel.Batch{}, err
	}
	r.Front = r.Front.Without(func(s audit.Subject) bool { return gone[s] })
	w := step(keeper)
	data, err := json.Marshal(audit.Retired{Records: n, Front: r.Front.Digest(), Root: r.Front.Tree().Hash,
		Rows: len(rows)})
	rec := seal(&w, audit.Entry{Event: audit.EventRetired, Data: data})
	return kernel.Batch{At: now, Writes: []kernel.Write{w}, Records: []audit.Sealed{rec}, Retire: r}, err
}

// retiring is Retiring in a test.
func (b *bench) retiring(keeper kernel.Row, n int64, rows ...kernel.Row) kernel.Batch {
	b.Helper()
	batch, err := Retiring(b.Context(), b, keeper, n, rows...)
	if err != nil {
		b.Fatal(err)
	}
	return batch
}

// testRetire takes the front of the log away, with rows, while others read, and goes on behind it.
func testRetire(t *testing.T, backend Backend) {
	place := backend.Place(t)
	b := open(t, backend, place)
	r := b.retirement()
	r.refusals()
	full, whole := b.retiring(b.get(r.keeper), 5, r.gone...), b.head()

	other := open(t, backend, place)
	err := other.Log(t.Context(), func(l audit.Log) error { // as it was, whatever is retired meanwhile
		b.commit(full)
		report, err := l.Verify(whole.Tree())
		if err == nil && (report.Size != 6 || report.Front != 0) {
			t.Errorf("the log as it was: %+v", report)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []*bench{b, other, open(t, backend, place)} {
		r.bench = s
		r.isGone()
	}

	// Life goes on behind it: the label is free, rows go on from their tails, and more is retired.
	again := b.row(kernel.KindTask, "draft")
	again.Label = "T-001"
	b.commit(insert(again))
	other.commit(move(other.get(r.stays), "y"))
	b.commit(move(b.get(again.ID), "x"))
	b.commit(b.retiring(b.get(r.keeper), b.head().Size, b.get(again.ID)))
	if report := other.verify(); report.Front != 9 || report.Size != 10 || len(report.Tails) != 2 {
		t.Errorf("the second time: %+v", report)
	}
}

// retirement is a store with a run and what is below it, about which the log says something in its first five records.
type retirement struct {
	*bench
	keeper, stays string
	gone          []kernel.Row
}

func (b *bench) retirement() *retirement {
	b.Helper()
	keeper, stays := b.row(kernel.KindSession, "IDLE"), b.row(kernel.KindTask, "draft")
	run, child, bare := b.row(kernel.KindRun, "pending"), b.row(kernel.KindTask, "draft"), b.row(kernel.KindAlias, "")
	child.Parent, bare.Parent, child.Label, child.Doc = run.ID, child.ID, "T-001", make([]byte, 5000)
	b.commit(insert(keeper, stays, run, child, bare))
	for _, id := range []string{keeper.ID, run.ID, child.ID, child.ID, stays.ID, keeper.ID} {
		b.commit(move(b.get(id), "x"))
	}
	return &retirement{b, keeper.ID, stays.ID, []kernel.Row{b.get(run.ID), b.get(child.ID), b.get(bare.ID)}}
}

// refusals tries what a store must not do.
func (r *retirement) refusals() {
	r.Helper()
	keeper, before := r.get(r.keeper), r.head()
	stale := slices.Clone(r.gone)
	stale[1].Version--
	r.refuse(pawl.CodeConflict, r.retiring(keeper, 5, stale...))
	r.refuse(pawl.CodeConflict, r.retiring(keeper, 5, r.gone[0])) // what is below it stays
	r.refuse(pawl.CodeConflict, r.retiring(keeper, 3, r.gone...)) // one has a later record
	r.refuse(pawl.CodeConflict, r.retiring(keeper, 6, keeper))    // it is written by the same batch
	wrong := r.retiring(keeper, 5, r.gone...)
	wrong.Retire.Front.Frontier[0][0] ^= 1
	r.refuse(pawl.CodeInvalid, wrong)
	for _, size := range []int64{0, 7} {
		wrong := r.retiring(keeper, 5)
		wrong.Retire.Front.Size = size
		r.refuse(pawl.CodeConflict, wrong)
	}
	if now := r.head(); now.Root != before.Root || len(r.pick(kernel.Select{Kind: kernel.KindTask})) != 2 {
		r.Fatal("what was refused changed something")
	}
}

// isGone fails where something of what was retired is there, or something else is not.
func (r *retirement) isGone() {
	r.Helper()
	if report := r.verify(); report.Front != 5 || report.Size != 7 || r.head().Size != 7 {
		r.Errorf("after it: %+v", report)
	}
	first := int64(-1)
	for rec, err := range r.Records(r.Context(), "", 0) {
		if first = rec.Index; err != nil {
			r.Fatal(err)
		}
		break
	}
	for rec, err := range r.Records(r.Context(), "task:"+r.stays, 0) {
		r.Errorf("record %d of one whose records are all retired: %v", rec.Index, err)
	}
	counts, err := r.Count(r.Context(), kernel.KindTask, "")
	if err != nil || first != 5 || counts["draft"] != 0 || counts["x"] != 1 {
		r.Errorf("the log begins with %d, tasks are %v, %v", first, counts, err)
	}
	for _, row := range r.gone {
		if len(r.pick(kernel.Select{ID: row.ID})) != 0 ||
			row.Parent != "" && len(r.pick(kernel.Select{Kind: row.Kind, Parent: row.Parent})) != 0 {
			r.Errorf("%s is still there", row.Kind)
		}
	}
	if rows := r.pick(kernel.Select{Kind: kernel.KindTask, Label: "T-001"}); len(rows) != 0 {
		r.Error("what is gone still has its label")
	}
}
