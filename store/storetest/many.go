package storetest

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pawl"
	"pawl/kernel"
)

// testMany: what a store may do for many rows at once comes to the same as one after the other.
func testMany(t *testing.T, backend Backend) {
	b := fresh(t, backend)
	rows := make([]kernel.Row, 150)
	for i := range rows {
		rows[i] = b.row(kernel.KindIssue, "registered")
		if i%3 > 0 {
			rows[i].Label = fmt.Sprintf("ISS-%d", i)
			rows[i].Doc = []byte(fmt.Sprintf(`{"n":%d}`, i))
		}
		if i%50 == 7 {
			rows[i].Doc = []byte(strings.Repeat("long ", 1000))
		}
	}
	b.commit(insert(rows...))
	var sel []kernel.Select
	var want []string
	ask := func(s kernel.Select, found ...int) {
		sel = append(sel, s)
		var ids string
		for _, i := range found {
			ids += rows[i].ID
			if !s.HotOnly {
				ids += string(rows[i].Doc)
			}
		}
		want = append(want, ids)
	}
	for i, r := range rows {
		ask(kernel.Select{Kind: r.Kind, ID: r.ID}, i)
		ask(kernel.Select{Kind: r.Kind, ID: r.ID, HotOnly: true}, i)
		ask(kernel.Select{Kind: kernel.KindTask, ID: r.ID})
		if r.Label != "" {
			ask(kernel.Select{Kind: r.Kind, Label: r.Label, HotOnly: true}, i)
			ask(kernel.Select{Kind: kernel.KindAlias, Label: r.Label})
		}
		if i%10 == 0 {
			ask(kernel.Select{Kind: r.Kind, ID: r.ID}, i) // asked for twice
			ask(kernel.Select{Kind: r.Kind, ID: b.id()})
			ask(kernel.Select{Kind: r.Kind, ID: r.ID, States: []string{"completed"}})
		}
	}
	found, err := b.Load(context.Background(), sel...)
	if err != nil {
		t.Fatal(err)
	}
	for n, rs := range found {
		got := ""
		for _, r := range rs {
			got += r.ID + string(r.Doc)
		}
		if got != want[n] {
			t.Errorf("%+v: %.80q, not %.80q", sel[n], got, want[n])
		}
	}
	for i, r := range b.pick(kernel.Select{Kind: kernel.KindIssue}) {
		rows[i].Pos = int64(i + 1)
		if diff := cmp.Diff(rows[i], r); diff != "" {
			t.Fatalf("row %d (-want +got):\n%s", i, diff)
		}
	}
	b.refuseMany(rows)
	other := b.row(kernel.KindTask, "draft")
	other.Label = "ISS-101" // a label is one kind's only
	more := make([]kernel.Row, 20)
	for i := range more {
		more[i] = b.row(kernel.KindTask, "draft")
	}
	b.commit(insert(append(more, other)...))
}

// refuseMany: one that does not fit among many new rows is refused with all of them.
func (b *bench) refuseMany(rows []kernel.Row) {
	for _, c := range []struct {
		key   string
		spoil func(*kernel.Row)
	}{
		{"store.exists", func(r *kernel.Row) { r.ID = rows[100].ID }},
		{"store.label", func(r *kernel.Row) { r.Label = "ISS-101" }},
	} {
		batch := make([]kernel.Row, 100)
		for i := range batch {
			batch[i] = b.row(kernel.KindIssue, "registered")
		}
		c.spoil(&batch[77])
		var e *pawl.Error
		_, err := b.Commit(context.Background(), insert(batch...))
		if e, _ = err.(*pawl.Error); e == nil || e.Code != pawl.CodeConflict || e.Key != c.key {
			b.Errorf("%s: %v", c.key, err)
		}
		if n := len(b.pick(kernel.Select{Kind: kernel.KindIssue})); n != len(rows) {
			b.Errorf("%s: %d rows, not %d", c.key, n, len(rows))
		}
	}
}
