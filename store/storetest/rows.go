package storetest

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/audit"
)

func testRoundTrip(t *testing.T, backend Backend) {
	b := fresh(t, backend)
	full := kernel.Row{Kind: kernel.KindTask, ID: b.id(), Label: "T-001", Parent: b.id(), State: "queued", Version: 1,
		Epoch: math.MaxInt64, Due: now.Add(time.Hour), Rank: -7, Doc: []byte(`{"title":"任务"}`), CreatedAt: now,
		UpdatedAt: now.Add(time.Minute)}
	bare := kernel.Row{Kind: kernel.KindSetting, ID: b.id(), Version: 1}
	if c := b.commit(insert(full, bare)); c.Replayed || c.Result != nil || c.First != 0 || c.Size != 0 {
		t.Errorf("committed %+v", c)
	}
	for i, want := range []kernel.Row{full, bare} {
		got := b.get(want.ID)
		want.Pos = int64(i + 1)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("read back (-want +got):\n%s", diff)
		}
		if got.CreatedAt.Location() != time.UTC {
			t.Errorf("instants are in %v", got.CreatedAt.Location())
		}
	}
	if rows := b.pick(kernel.Select{ID: full.ID, HotOnly: true}); rows[0].Doc != nil {
		t.Error("HotOnly brought a document")
	}

	w := kernel.Write{Row: full, From: 1}
	w.Version, w.Label, w.Parent, w.State, w.Epoch, w.Due, w.Rank = 2, "T-002", "", "running", 0, time.Time{}, 9
	w.Doc, w.UpdatedAt = []byte(`{}`), now.Add(time.Hour)
	b.commit(kernel.Batch{Writes: []kernel.Write{w}})
	want := w.Row
	want.Pos = 1
	if diff := cmp.Diff(want, b.get(full.ID)); diff != "" {
		t.Errorf("replaced (-want +got):\n%s", diff)
	}
	w.From, w.Version, w.KeepDoc, w.Doc = 2, 3, true, []byte("ignored")
	b.commit(kernel.Batch{Writes: []kernel.Write{w}})
	if got := b.get(full.ID); string(got.Doc) != "{}" {
		t.Errorf("KeepDoc left %q", got.Doc)
	}
	w.From, w.Version, w.KeepDoc, w.Doc = 3, 4, false, nil
	b.commit(kernel.Batch{Writes: []kernel.Write{w}})
	if got := b.get(full.ID); got.Doc != nil {
		t.Errorf("a document that was taken away is still %q", got.Doc)
	}
	if rows := b.pick(kernel.Select{ID: "01KAB000000000000000000000"}); len(rows) != 0 {
		t.Errorf("found %v", rows)
	}
	empty := b.commit(kernel.Batch{})
	if empty.Replayed || empty.Size != 0 {
		t.Errorf("the empty batch: %+v", empty)
	}
}

func testOddText(t *testing.T, backend Backend) {
	b := fresh(t, backend)
	for _, doc := range []string{"\x00", "a\x00b", "\xff\xfe\x80", "'; DROP TABLE entity; --",
		strings.Repeat("漢", 3000)} {
		r := b.row(kernel.KindTask, "draft")
		r.Doc = []byte(doc)
		b.commit(insert(r))
		if got := b.get(r.ID); string(got.Doc) != doc {
			t.Errorf("document %.20q came back as %.20q", doc, got.Doc)
		}
	}
	for _, text := range []string{"'; --", `"%_\`, "任务 \u202e", " "} {
		r := b.row(kernel.KindTask, text)
		r.Label, r.Parent = text, text
		b.commit(insert(r))
		if got := b.get(r.ID); got.Label != text || got.Parent != text || got.State != text {
			t.Errorf("text %q came back as %+v", text, got)
		}
		for _, sel := range []kernel.Select{{Kind: kernel.KindTask, Label: text}, {Parent: text},
			{Kind: kernel.KindTask, States: []string{text}}} {
			if rows := b.pick(sel); len(rows) != 1 || rows[0].ID != r.ID {
				t.Errorf("selection %+v found %v", sel, idsOf(rows))
			}
		}
	}
	// What not every database can keep in its text columns is refused by all of them alike.
	for _, text := range []string{"a\x00b", "\xff"} {
		for _, spoil := range []func(*kernel.Row){
			func(r *kernel.Row) { r.ID = text }, func(r *kernel.Row) { r.Label = text },
			func(r *kernel.Row) { r.Parent = text },
			func(r *kernel.Row) { r.State = text }, func(r *kernel.Row) { r.Kind = kernel.Kind(text) },
		} {
			r := b.row(kernel.KindTask, "draft")
			spoil(&r)
			b.refuse(pawl.CodeInvalid, insert(r))
		}
		batch := insert(b.row(kernel.KindTask, "draft"))
		batch.Key = text
		b.refuse(pawl.CodeInvalid, batch)
	}
}

func testHugeDocument(t *testing.T, backend Backend) {
	b := fresh(t, backend)
	r := b.row(kernel.KindTask, "draft")
	r.Doc = bytes.Repeat([]byte("0123456789abcdef"), 10<<20/16)
	b.commit(insert(r))
	if got := b.get(r.ID); !bytes.Equal(got.Doc, r.Doc) {
		t.Errorf("a document of 10 MiB came back with %d bytes", len(got.Doc))
	}
	b.commit(move(b.get(r.ID), "approved"))
	if got := b.get(r.ID); len(got.Doc) != len(r.Doc) || got.State != "approved" {
		t.Errorf("after a move it has %d bytes", len(got.Doc))
	}
}

func testCompareAndSet(t *testing.T, backend Backend) {
	b := fresh(t, backend)
	r := b.row(kernel.KindTask, "draft")
	b.commit(insert(r))
	first := b.get(r.ID)
	b.commit(move(first, "approved"))
	want := b.get(r.ID)
	b.refuse(pawl.CodeConflict, move(first, "canceled"))
	b.refuse(pawl.CodeConflict, insert(r))
	ahead := want
	ahead.Version = 9
	b.refuse(pawl.CodeConflict, kernel.Batch{Writes: []kernel.Write{step(ahead)}})
	stranger := b.row(kernel.KindTask, "draft")
	b.refuse(pawl.CodeConflict, kernel.Batch{Writes: []kernel.Write{step(stranger)}})
	other := want
	other.Kind = kernel.KindTurn
	b.refuse(pawl.CodeConflict, kernel.Batch{Writes: []kernel.Write{step(other)}})
	if diff := cmp.Diff(want, b.get(r.ID)); diff != "" {
		t.Errorf("a refused write left a trace (-want +got):\n%s", diff)
	}
	if n := len(b.pick(kernel.Select{Kind: kernel.KindTask})); n != 1 {
		t.Errorf("%d tasks", n)
	}
	b.verify()
}

// testReads: a batch is refused where a row is not as it was when the batch was decided on, although it does not write
// it.
func testReads(t *testing.T, backend Backend) {
	place := backend.Place(t)
	b, other := open(t, backend, place), open(t, backend, place)
	r := b.row(kernel.KindSession, "idle")
	b.commit(insert(r))
	seen := func(id string, version int64) kernel.Read {
		return kernel.Read{Kind: kernel.KindSession, ID: id, Version: version}
	}
	deciding := func(reads ...kernel.Read) kernel.Batch {
		batch := insert(b.row(kernel.KindTask, "draft"))
		batch.Reads = reads
		return batch
	}
	never := b.id()
	b.commit(deciding(seen(r.ID, 1), seen(never, 0)))
	for what, bad := range map[string]kernel.Read{
		"ahead": seen(r.ID, 2), "not there then": seen(r.ID, 0), "not there now": seen(never, 1),
		"of another kind": {Kind: kernel.KindTurn, ID: r.ID, Version: 1},
	} {
		t.Log(what)
		b.refuse(pawl.CodeConflict, deciding(seen(r.ID, 1), bad))
	}
	// What the writer remembers of a row that it only compared is forgotten with what another one writes.
	other.commit(move(other.get(r.ID), "planning"))
	b.refuse(pawl.CodeConflict, deciding(seen(r.ID, 1)))
	again := deciding(seen(r.ID, 2))
	again.Key = "k"
	b.commit(again)
	b.commit(move(b.get(r.ID), "idle"))
	b.refuse(pawl.CodeConflict, deciding(seen(r.ID, 2)))
	if c := b.commit(again); !c.Replayed {
		t.Error("a batch that is committed already was compared again")
	}
	if n := len(b.pick(kernel.Select{Kind: kernel.KindTask})); n != 2 {
		t.Errorf("%d tasks", n)
	}
	b.verify()
}

// testWriteSkew: of two batches that each write what the other one has read, one comes too late.
func testWriteSkew(t *testing.T, backend Backend) {
	b := fresh(t, backend)
	x, y := b.row(kernel.KindTask, "draft"), b.row(kernel.KindTask, "draft")
	b.commit(insert(x, y))
	for round := range 20 {
		rows := []kernel.Row{b.get(x.ID), b.get(y.ID)}
		answers := make(chan error, 2)
		for i, r := range rows {
			seen := rows[1-i]
			batch := kernel.Batch{At: now, Writes: []kernel.Write{step(r)},
				Reads: []kernel.Read{{Kind: seen.Kind, ID: seen.ID, Version: seen.Version}}}
			go func() {
				_, err := b.Commit(b.Context(), batch)
				answers <- err
			}()
		}
		first, second := pawl.CodeOf(<-answers), pawl.CodeOf(<-answers)
		if first+second != pawl.CodeConflict {
			t.Fatalf("round %d: %q and %q", round, first, second)
		}
	}
}

func testAllOrNothing(t *testing.T, backend Backend) {
	b := fresh(t, backend)
	x, y := b.row(kernel.KindTask, "draft"), b.row(kernel.KindTask, "draft")
	y.Label = "T-2"
	b.commit(insert(x, y))
	b.commit(move(b.get(x.ID), "approved"))
	before := b.get(x.ID)
	head := b.head()
	bad := []func(*kernel.Batch){
		func(batch *kernel.Batch) { batch.Writes = append(batch.Writes, step(x)) }, // stale
		func(batch *kernel.Batch) { batch.Writes = append(batch.Writes, kernel.Write{Row: y}) },
		func(batch *kernel.Batch) {
			r := b.row(kernel.KindTask, "draft")
			r.Label = "T-2"
			batch.Writes = append(batch.Writes, kernel.Write{Row: r})
		},
	}
	for i, spoil := range bad {
		n := b.row(kernel.KindTask, "draft")
		batch := move(b.get(y.ID), "approved")
		if i > 0 {
			batch = kernel.Batch{}
		}
		batch.Writes = append([]kernel.Write{{Row: n}}, batch.Writes...)
		batch.Key = "k"
		spoil(&batch)
		b.refuse(pawl.CodeConflict, batch)
		if rows := b.pick(kernel.Select{ID: n.ID}); len(rows) != 0 {
			t.Errorf("case %d: part of a refused batch was written", i)
		}
	}
	if b.get(y.ID).State != "draft" || b.head().Size != head.Size || !cmp.Equal(before, b.get(x.ID)) {
		t.Error("a refused batch left a trace")
	}
	counts, err := b.Count(b.Context(), kernel.KindTask, "")
	if err != nil || !cmp.Equal(counts, map[string]int{"draft": 1, "approved": 1}) {
		t.Errorf("counts %v, %v", counts, err)
	}
	// The key of a refused batch is free.
	batch := move(b.get(y.ID), "approved")
	batch.Key = "k"
	if c := b.commit(batch); c.Replayed {
		t.Error("a refused batch was remembered")
	}
	b.verify()
}

func testMalformed(t *testing.T, backend Backend) {
	b := fresh(t, backend)
	good := b.row(kernel.KindTask, "draft")
	for name, spoil := range map[string]func(*kernel.Batch){
		"no kind":         func(x *kernel.Batch) { x.Writes[0].Kind = "" },
		"no id":           func(x *kernel.Batch) { x.Writes[0].ID = "" },
		"long id":         func(x *kernel.Batch) { x.Writes[0].ID = strings.Repeat("x", 256) },
		"version 0":       func(x *kernel.Batch) { x.Writes[0].Version = 0 },
		"version 2 first": func(x *kernel.Batch) { x.Writes[0].Version = 2 },
		"negative":        func(x *kernel.Batch) { x.Writes[0].From = -1; x.Writes[0].Version = 0 },
		"twice":           func(x *kernel.Batch) { x.Writes = append(x.Writes, x.Writes[0]) },
		"label twice": func(x *kernel.Batch) {
			r := b.row(kernel.KindTask, "draft")
			r.Label, x.Writes[0].Label = "T-1", "T-1"
			x.Writes = append(x.Writes, kernel.Write{Row: r})
		},
		"twice among many": func(x *kernel.Batch) {
			x.Writes = append(x.Writes, b.many()...)
			x.Writes = append(x.Writes, x.Writes[0])
		},
		"label twice among many": func(x *kernel.Batch) {
			x.Writes = append(x.Writes, b.many()...)
			x.Writes[0].Label, x.Writes[50].Label = "T-1", "T-1"
		},
	} {
		batch := insert(good)
		spoil(&batch)
		if _, err := b.Commit(b.Context(), batch); pawl.CodeOf(err) != pawl.CodeInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := len(b.pick(kernel.Select{})); n != 0 {
		t.Errorf("%d rows", n)
	}
}

// many are the writes of rows so many that they are not told apart one by one.
func (b *bench) many() (out []kernel.Write) {
	for range 100 {
		out = append(out, insert(b.row(kernel.KindTask, "draft")).Writes...)
	}
	return out
}

func testLabels(t *testing.T, backend Backend) {
	b := fresh(t, backend)
	one := b.row(kernel.KindTask, "draft")
	one.Label = "T-001"
	b.commit(insert(one))
	two := b.row(kernel.KindTask, "draft")
	two.Label = "T-001"
	b.refuse(pawl.CodeConflict, insert(two))
	turn := b.row(kernel.KindTurn, "IDLE")
	turn.Label = "T-001"
	b.commit(insert(turn, b.row(kernel.KindTask, "draft"), b.row(kernel.KindTask, "draft"))) // no label is no clash
	if rows := b.pick(kernel.Select{Kind: kernel.KindTask, Label: "T-001"}); len(rows) != 1 || rows[0].ID != one.ID {
		t.Errorf("by label: %v", idsOf(rows))
	}
	w := step(b.get(one.ID))
	w.Label = "T-009"
	b.commit(kernel.Batch{Writes: []kernel.Write{w}})
	b.commit(insert(two))
	if rows := b.pick(kernel.Select{Kind: kernel.KindTask, Label: "T-001"}); len(rows) != 1 || rows[0].ID != two.ID {
		t.Errorf("by label after the change: %v", idsOf(rows))
	}
	w = step(b.get(two.ID))
	w.Label = "T-009"
	b.refuse(pawl.CodeConflict, kernel.Batch{Writes: []kernel.Write{w}})
}

func testSelect(t *testing.T, backend Backend) {
	b := fresh(t, backend)
	parents := []string{b.id(), b.id()}
	var rows []kernel.Row
	for i := range 24 {
		kind, state := kernel.KindTask, []string{"draft", "queued", "done"}[i%3]
		if i%6 == 5 {
			kind = kernel.KindTurn
		}
		r := b.row(kind, state)
		r.Parent = parents[i%2]
		r.Rank = int64(i % 4)
		if i%2 == 0 {
			r.Due = now.Add(time.Duration(i) * time.Minute)
		}
		rows = append(rows, r)
	}
	// Several transactions, and not in the order of the IDs.
	slices.Reverse(rows)
	for chunk := range slices.Chunk(rows, 7) {
		b.commit(insert(chunk...))
	}
	for i := range rows {
		rows[i].Pos = int64(i + 1)
	}
	expect := func(sel kernel.Select, keep func(kernel.Row) bool) { t.Helper(); b.expect(sel, rows, keep) }
	task := func(r kernel.Row) bool { return r.Kind == kernel.KindTask }
	in := func(r kernel.Row, states ...string) bool { return slices.Contains(states, r.State) }
	due := now.Add(10 * time.Minute)
	for _, base := range []kernel.Select{{}, {Newest: true}, {ByRank: true}, {Limit: 3}, {Limit: 3, ByRank: true},
		{Limit: 2, Newest: true}, {HotOnly: true}} {
		with := func(change func(*kernel.Select)) kernel.Select { s := base; change(&s); return s }
		expect(base, func(kernel.Row) bool { return true })
		expect(with(func(s *kernel.Select) { s.Kind = kernel.KindTask }), task)
		expect(with(func(s *kernel.Select) { s.Parent = parents[1] }),
			func(r kernel.Row) bool { return r.Parent == parents[1] })
		expect(with(func(s *kernel.Select) {
			s.Kind, s.Parent, s.States = kernel.KindTask, parents[0],
				[]string{"done"}
		}),
			func(r kernel.Row) bool { return task(r) && r.Parent == parents[0] && in(r, "done") })
		expect(with(func(s *kernel.Select) { s.Kind, s.States = kernel.KindTask, []string{"queued", "done"} }),
			func(r kernel.Row) bool { return task(r) && in(r, "queued", "done") })
		expect(with(func(s *kernel.Select) { s.Kind, s.DueBy = kernel.KindTask, due }),
			func(r kernel.Row) bool { return task(r) && !r.Due.IsZero() && !r.Due.After(due) })
		expect(with(func(s *kernel.Select) { s.Kind, s.States, s.DueBy = kernel.KindTask, []string{"queued"}, due }),
			func(r kernel.Row) bool { return task(r) && in(r, "queued") && !r.Due.IsZero() && !r.Due.After(due) })
		expect(with(func(s *kernel.Select) { s.ID, s.Kind = rows[3].ID, rows[3].Kind }),
			func(r kernel.Row) bool { return r.ID == rows[3].ID })
		expect(with(func(s *kernel.Select) { s.ID, s.Kind = rows[3].ID, kernel.KindRun }),
			func(kernel.Row) bool { return false })
		expect(with(func(s *kernel.Select) { s.States = []string{"draft"} }),
			func(r kernel.Row) bool { return in(r, "draft") })
		expect(with(func(s *kernel.Select) { s.Kind, s.After = kernel.KindTask, 9 }),
			func(r kernel.Row) bool { return task(r) && (r.Pos > 9) == !base.Newest && r.Pos != 9 })
	}
	b.pages()
}

// testStates lists the rows in some states, which have few ranks or many, page by page in either direction.
func testStates(t *testing.T, backend Backend) {
	for _, ranks := range []int{1, 5, 40} {
		for _, kind := range []kernel.Kind{kernel.KindTask, kernel.KindRun, kernel.KindIssue, kernel.KindSetting} {
			b := fresh(t, backend)
			var rows []kernel.Row
			for i := range 120 {
				r := b.row(kind, []string{"draft", "queued", "queued", "done"}[i%4])
				r.Rank = int64(i*7%ranks) - 2
				rows = append(rows, r)
			}
			rows[3].Rank, rows[7].Rank = math.MinInt64, math.MaxInt64
			b.commit(insert(rows...))
			for i := range rows {
				rows[i].Pos = int64(i + 1)
			}
			for _, states := range [][]string{{"done"}, {"queued", "done"}, {"done", "done"},
				{"draft", "none", "queued", "done"}, {"none"}} {
				for _, sel := range []kernel.Select{{}, {Newest: true}, {Limit: 7}, {Limit: 7, Newest: true},
					{Limit: 7, After: 50}, {Limit: 7, After: 50, Newest: true}, {After: 119},
					{After: 1, Newest: true}} {
					sel.Kind, sel.States = kind, states
					b.expect(sel, rows, func(r kernel.Row) bool {
						return slices.Contains(states, r.State) && (sel.After == 0 || r.Pos != sel.After &&
							(r.Pos > sel.After) == !sel.Newest)
					})
				}
			}
		}
	}
}

// expect compares what a selection brings, loaded and scanned, with the rows that it should.
func (b *bench) expect(sel kernel.Select, rows []kernel.Row, keep func(kernel.Row) bool) {
	b.Helper()
	var want []kernel.Row
	for _, r := range rows {
		if keep(r) {
			want = append(want, r)
		}
	}
	if sel.Newest {
		slices.Reverse(want)
	}
	if sel.ByRank {
		slices.SortStableFunc(want, func(x, y kernel.Row) int { return int(y.Rank - x.Rank) })
	}
	if sel.Limit > 0 && len(want) > sel.Limit {
		want = want[:sel.Limit]
	}
	if got := b.pick(sel); !slices.Equal(idsOf(got), idsOf(want)) {
		b.Errorf("%+v: got %d rows, want %d:\n%v\n%v", sel, len(got), len(want), idsOf(got), idsOf(want))
	}
	var scanned []string
	for r, err := range b.Scan(b.Context(), sel) {
		if err != nil {
			b.Fatal(err)
		}
		scanned = append(scanned, r.ID)
	}
	if !slices.Equal(scanned, idsOf(want)) {
		b.Errorf("%+v: scanned %d rows, want %d", sel, len(scanned), len(want))
	}
}

// pages visits everything by Pos, page by page.
func (b *bench) pages() {
	b.Helper()
	var paged []string
	for after := int64(0); ; {
		page := b.pick(kernel.Select{Kind: kernel.KindTask, After: after, Limit: 3})
		if len(page) == 0 {
			break
		}
		paged = append(paged, idsOf(page)...)
		after = page[len(page)-1].Pos
	}
	if all := idsOf(b.pick(kernel.Select{Kind: kernel.KindTask})); !slices.Equal(paged, all) {
		b.Errorf("paged %v, want %v", paged, all)
	}
}

func testClaims(t *testing.T, backend Backend) {
	b := fresh(t, backend)
	for i, rank := range []int64{0, 5, 5, -1} {
		r := b.row(kernel.KindTask, "queued")
		r.Label, r.Rank, r.Due = string(rune('a'+i)), rank, now
		b.commit(insert(r))
	}
	late := b.row(kernel.KindTask, "queued")
	late.Label, late.Rank, late.Due = "late", 99, now.Add(time.Hour)
	b.commit(insert(late))
	var order string
	for {
		rows := b.pick(kernel.Select{Kind: kernel.KindTask, States: []string{"queued"}, DueBy: now, ByRank: true,
			Limit: 1})
		if len(rows) == 0 {
			break
		}
		order += rows[0].Label
		batch := move(rows[0], "running")
		batch.Writes[0].Epoch++
		batch.Writes[0].Due = now.Add(5 * time.Minute)
		b.commit(batch)
	}
	if order != "bcad" {
		t.Errorf("claimed in the order %q", order)
	}
	lapsed := b.pick(kernel.Select{Kind: kernel.KindTask, States: []string{"running"}, DueBy: now.Add(5 * time.Minute)})
	if len(lapsed) != 4 || lapsed[0].Epoch != 1 {
		t.Errorf("leases that lapsed: %v", idsOf(lapsed))
	}
	b.verify()
}

func testCount(t *testing.T, backend Backend) {
	b := fresh(t, backend)
	parent := b.id()
	var tasks []kernel.Row
	for i := range 6 {
		r := b.row(kernel.KindTask, "draft")
		if i%2 == 0 {
			r.Parent = parent
		}
		tasks = append(tasks, r)
	}
	b.commit(insert(append(tasks, b.row(kernel.KindTurn, "IDLE"))...))
	// Some kinds are counted as they are written, and others when somebody asks.
	effects := []kernel.Row{b.row(kernel.KindEffect, "done"), b.row(kernel.KindEffect, "done"),
		b.row(kernel.KindEffect, "failed"), b.row(kernel.KindEffect, "done")}
	for i := range effects[:3] {
		effects[i].Parent = parent
	}
	b.commit(insert(effects...))
	for _, r := range tasks[:3] {
		b.commit(move(b.get(r.ID), "approved"))
	}
	w := step(b.get(tasks[2].ID))
	w.Parent = ""
	b.commit(kernel.Batch{Writes: []kernel.Write{w}})
	for _, c := range []struct {
		kind   kernel.Kind
		parent string
		want   map[string]int
	}{
		{kernel.KindTask, "", map[string]int{"draft": 3, "approved": 3}},
		{kernel.KindTask, parent, map[string]int{"draft": 1, "approved": 1}},
		{kernel.KindTurn, "", map[string]int{"IDLE": 1}},
		{kernel.KindTurn, parent, map[string]int{}},
		{kernel.KindEffect, "", map[string]int{"done": 3, "failed": 1}},
		{kernel.KindEffect, parent, map[string]int{"done": 2, "failed": 1}},
		{kernel.KindRun, "", map[string]int{}},
	} {
		if got, err := b.Count(b.Context(), c.kind, c.parent); err != nil || !cmp.Equal(got, c.want) {
			t.Errorf("count %s under %q: %v, %v; want %v", c.kind, c.parent, got, err, c.want)
		}
	}
}

func testRecords(t *testing.T, backend Backend) {
	b := fresh(t, backend)
	if h := b.head(); h.Size != 0 || h.Root != (audit.Head{}).Append().Root {
		t.Errorf("the head of an empty log is %+v", h)
	}
	var want []audit.Sealed
	rows := []kernel.Row{b.row(kernel.KindTask, "draft"), b.row(kernel.KindTurn, "IDLE")}
	batch := insert(rows...)
	for range 3 {
		for i := range batch.Writes {
			batch.Records = append(batch.Records,
				seal(&batch.Writes[i], audit.Entry{Event: "NOTE", Actor: "system", Data: []byte(`{"n":1}`)}))
		}
	}
	want = append(want, batch.Records...)
	if c := b.commit(batch); c.First != 0 || c.Size != 6 {
		t.Errorf("committed %+v", c)
	}
	for range 4 {
		m := move(b.get(rows[0].ID), "draft")
		want = append(want, m.Records...)
		if c := b.commit(m); c.First != int64(len(want)-1) || c.Size != int64(len(want)) {
			t.Errorf("committed %+v", c)
		}
	}
	for _, subject := range []string{"", "task:" + rows[0].ID, "turn:" + rows[1].ID, "task:" + rows[1].ID,
		"task:nobody", "odd"} {
		for _, first := range []int64{0, 3, 7, int64(len(want)), 99} {
			b.recorded(subject, first, want)
		}
	}
	for range b.Records(b.Context(), "", 0) {
		break
	}
	if report := b.verify(); report.Size != 10 || report.Moves != 4 {
		t.Errorf("%+v", report)
	}
}

// recorded reads the records about a subject from one on, and compares them with all that there are.
func (b *bench) recorded(subject string, first int64, all []audit.Sealed) {
	b.Helper()
	var expected, got []string
	for i, rec := range all {
		if int64(i) >= first && (subject == "" || rec.Subject.String() == subject) {
			expected = append(expected, string(rec.Bytes))
		}
	}
	for rec, err := range b.Records(b.Context(), subject, first) {
		if err != nil {
			b.Fatal(err)
		}
		if i := rec.Index; i < first || !bytes.Equal(all[i].Bytes, rec.Bytes) || all[i].Hash != rec.Hash ||
			all[i].Seq != rec.Seq || all[i].Subject != rec.Subject {
			b.Errorf("record %d came back as %+v", i, rec)
		}
		got = append(got, string(rec.Bytes))
	}
	if !slices.Equal(got, expected) {
		b.Errorf("records of %q from %d: %d, want %d", subject, first, len(got), len(expected))
	}
}

func testRecordsMustFit(t *testing.T, backend Backend) {
	b := fresh(t, backend)
	r := b.row(kernel.KindTask, "draft")
	b.commit(insert(r))
	b.commit(move(b.get(r.ID), "approved"))
	stored := b.get(r.ID)
	for name, c := range map[string]struct {
		code  pawl.Code
		spoil func(*kernel.Batch)
	}{
		"about nobody":     {pawl.CodeInvalid, func(x *kernel.Batch) { x.Records[0].Subject.ID = b.id() }},
		"about another":    {pawl.CodeInvalid, func(x *kernel.Batch) { x.Records[0].Subject.Kind = "turn" }},
		"another hash":     {pawl.CodeInvalid, func(x *kernel.Batch) { x.Writes[0].AuditHash[0] ^= 1 }},
		"another number":   {pawl.CodeInvalid, func(x *kernel.Batch) { x.Writes[0].AuditSeq++ }},
		"no bytes":         {pawl.CodeInvalid, func(x *kernel.Batch) { x.Records[0].Bytes = nil }},
		"a gap":            {pawl.CodeConflict, func(x *kernel.Batch) { x.Writes[0].AuditSeq++; x.Records[0].Seq++ }},
		"a record missing": {pawl.CodeConflict, func(x *kernel.Batch) { x.Records = nil }},
		"only a hash": {pawl.CodeConflict, func(x *kernel.Batch) {
			x.Records, x.Writes[0].AuditSeq = nil, stored.AuditSeq
		}},
		"another predecessor": {pawl.CodeConflict, func(x *kernel.Batch) {
			w := step(stored)
			w.AuditHash[3] ^= 1
			x.Records[0] = seal(&w, audit.Entry{Event: "NOTE"})
			x.Writes[0] = w
		}},
		"the same twice": {pawl.CodeInvalid, func(x *kernel.Batch) { x.Records = append(x.Records, x.Records[0]) }},
	} {
		for _, others := range [][]kernel.Write{nil, b.many()} {
			batch := move(stored, "queued")
			c.spoil(&batch)
			batch.Writes = append(batch.Writes, others...)
			if _, err := b.Commit(b.Context(), batch); pawl.CodeOf(err) != c.code {
				t.Errorf("%s, beside %d others: %v, want %s", name, len(others), err, c.code)
			}
		}
	}
	if b.head().Size != 1 || !cmp.Equal(stored, b.get(r.ID)) {
		t.Error("a refused record left a trace")
	}
	batch := move(stored, "queued")
	batch.Writes = append(b.many(), batch.Writes...)
	b.commit(batch)
	b.verify()
}
