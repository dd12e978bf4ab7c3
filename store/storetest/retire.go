package storetest

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/audit"
)

// Retiring is the batch that takes the records before n and rows out of a store, with a record of it about the keeper.
func Retiring(ctx context.Context, s kernel.Store, keeper kernel.Row, n int64, rows ...kernel.Row) (kernel.Batch, error) {
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
	keeper, stays := b.row(kernel.KindSession, "IDLE"), b.row(kernel.KindTask, "draft")
	run, child, bare := b.row(kernel.KindRun, "pending"), b.row(kernel.KindTask, "draft"), b.row(kernel.KindAlias, "")
	child.Parent, bare.Parent, child.Label, child.Doc = run.ID, child.ID, "T-001", make([]byte, 5000)
	b.commit(insert(keeper, stays, run, child, bare))
	for _, id := range []string{keeper.ID, run.ID, child.ID, child.ID, stays.ID, keeper.ID} {
		b.commit(move(b.get(id), "x"))
	}
	keeper, run, child, bare = b.get(keeper.ID), b.get(run.ID), b.get(child.ID), b.get(bare.ID)
	full, whole := b.retiring(keeper, 5, run, child, bare), b.head()

	stale := child
	stale.Version--
	b.refuse(pawl.CodeConflict, b.retiring(keeper, 5, run, stale, bare))
	b.refuse(pawl.CodeConflict, b.retiring(keeper, 5, run))              // what is below it stays
	b.refuse(pawl.CodeConflict, b.retiring(keeper, 3, run, child, bare)) // it has a later record
	b.refuse(pawl.CodeConflict, b.retiring(keeper, 6, keeper))           // it is written by the same batch
	wrong := b.retiring(keeper, 5, run, child, bare)
	wrong.Retire.Front.Frontier[0][0] ^= 1
	b.refuse(pawl.CodeInvalid, wrong)
	none := b.retiring(keeper, 5)
	none.Retire.Front.Size = 0
	b.refuse(pawl.CodeConflict, none)
	none.Retire.Front.Size = 7
	b.refuse(pawl.CodeConflict, none)
	if now := b.head(); now.Root != whole.Root || len(b.pick(kernel.Select{Kind: kernel.KindTask})) != 2 {
		t.Fatal("what was refused changed something")
	}

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
		report := s.verify()
		if report.Front != 5 || report.Size != 7 || s.head().Size != 7 {
			t.Errorf("after it: %+v", report)
		}
		first := int64(-1)
		for rec, err := range s.Records(t.Context(), "", 0) {
			if first = rec.Index; err != nil {
				t.Fatal(err)
			}
			break
		}
		for rec, err := range s.Records(t.Context(), "task:"+stays.ID, 0) {
			t.Errorf("record %d of one whose records are all retired: %v", rec.Index, err)
		}
		counts, err := s.Count(t.Context(), kernel.KindTask, "")
		if err != nil || first != 5 || counts["draft"] != 0 || counts["x"] != 1 {
			t.Errorf("the log begins with %d, tasks are %v, %v", first, counts, err)
		}
		for _, row := range []kernel.Row{run, child, bare} {
			if len(s.pick(kernel.Select{ID: row.ID})) != 0 || len(s.pick(kernel.Select{Kind: row.Kind, Parent: row.Parent})) != 0 && row.Parent != "" {
				t.Errorf("%s is still there", row.Kind)
			}
		}
		if rows := s.pick(kernel.Select{Kind: kernel.KindTask, Label: "T-001"}); len(rows) != 0 {
			t.Error("what is gone still has its label")
		}
	}

	// Life goes on behind it: the label is free, rows go on from their tails, and more is retired.
	again := b.row(kernel.KindTask, "draft")
	again.Label = "T-001"
	b.commit(insert(again))
	other.commit(move(other.get(stays.ID), "y"))
	b.commit(move(b.get(again.ID), "x"))
	b.commit(b.retiring(b.get(keeper.ID), b.head().Size, b.get(again.ID)))
	if report := other.verify(); report.Front != 9 || report.Size != 10 || len(report.Tails) != 2 {
		t.Errorf("the second time: %+v", report)
	}
}
