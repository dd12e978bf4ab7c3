package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/audit"
)

func testKeys(t *testing.T, backend Backend) {
	place := backend.Place(t)
	b := open(t, backend, place)
	r := b.row(kernel.KindTask, "draft")
	b.commit(insert(r))
	batch := move(b.get(r.ID), "approved")
	batch.Key, batch.Digest, batch.Result = "key-1", "digest", []byte("answer\x00")
	first := b.commit(batch)
	if first.Replayed || string(first.Result) != "answer\x00" || first.Size != 1 {
		t.Errorf("first: %+v", first)
	}
	b.commit(move(b.get(r.ID), "queued"))
	want := first
	want.Replayed = true
	again := batch
	again.Result = []byte("another answer")
	for _, s := range []*bench{b, open(t, backend, place)} {
		if got := s.commit(again); !cmp.Equal(got, want) {
			t.Errorf("replayed %+v, want %+v", got, want)
		}
	}
	if b.get(r.ID).State != "queued" || b.head().Size != 2 {
		t.Error("the batch was applied again")
	}
	again.Digest = "another digest"
	b.refuse(pawl.CodeConflict, again)
	// A key without an answer is remembered all the same, and one key more is no matter.
	batch = move(b.get(r.ID), "running")
	batch.Key = "key-2"
	b.commit(batch)
	if got := b.commit(batch); !got.Replayed || got.Result != nil {
		t.Errorf("replayed %+v", got)
	}
	b.verify()
}

func testKeysConcurrent(t *testing.T, backend Backend) {
	b := fresh(t, backend)
	r := b.row(kernel.KindTask, "draft")
	b.commit(insert(r))
	batch := move(b.get(r.ID), "approved")
	batch.Key = "same"
	var applied, replayed atomic.Int32
	var wait sync.WaitGroup
	for range 32 {
		wait.Go(func() {
			c, err := b.Commit(b.Context(), batch)
			switch {
			case err != nil:
				t.Error(err)
			case c.Replayed:
				replayed.Add(1)
			default:
				applied.Add(1)
			}
		})
	}
	wait.Wait()
	if applied.Load() != 1 || replayed.Load() != 31 {
		t.Errorf("applied %d times, replayed %d times", applied.Load(), replayed.Load())
	}
	b.verify()
}

// testSnapshot: the selections of one Load see one state, whatever is committed meanwhile.
func testSnapshot(t *testing.T, backend Backend) {
	b := fresh(t, backend)
	x, y := b.row(kernel.KindTask, "0"), b.row(kernel.KindTask, "0")
	b.commit(insert(x, y))
	stop := make(chan struct{})
	var wait sync.WaitGroup
	wait.Go(func() {
		for n := 1; ; n++ {
			select {
			case <-stop:
				return
			default:
			}
			wx, wy := step(b.get(x.ID)), step(b.get(y.ID))
			wx.State, wy.State = fmt.Sprint(n), fmt.Sprint(n)
			b.commit(kernel.Batch{Writes: []kernel.Write{wx, wy}})
		}
	})
	for range 200 {
		rows, err := b.Load(b.Context(), kernel.Select{ID: x.ID}, kernel.Select{ID: y.ID},
			kernel.Select{Kind: kernel.KindTask})
		if err != nil {
			t.Fatal(err)
		}
		if rows[0][0].State != rows[1][0].State || rows[2][0].State != rows[0][0].State {
			t.Fatalf("one load saw the states %s, %s, %s", rows[0][0].State, rows[1][0].State, rows[2][0].State)
		}
	}
	close(stop)
	wait.Wait()
}

func testScan(t *testing.T, backend Backend) {
	b := fresh(t, backend)
	var rows []kernel.Row
	for range 300 {
		rows = append(rows, b.row(kernel.KindTask, "draft"))
	}
	b.commit(insert(rows...))
	// The loop's body reads, writes and scans; the stream goes on over the state at its beginning.
	seen := 0
	for r, err := range b.Scan(b.Context(), kernel.Select{Kind: kernel.KindTask}) {
		if err != nil {
			t.Fatal(err)
		}
		if r.State != "draft" {
			t.Fatalf("row %d has the state %q of a later commit", seen, r.State)
		}
		if seen%30 == 0 {
			last := b.get(rows[len(rows)-1-seen/30].ID)
			b.commit(move(last, "approved"))
			b.commit(insert(b.row(kernel.KindTask, "new")))
			for range b.Scan(b.Context(), kernel.Select{Kind: kernel.KindTask, Newest: true}) {
				break
			}
			for range b.Records(b.Context(), "", 0) {
				break
			}
		}
		seen++
	}
	if seen != len(rows) {
		t.Errorf("scanned %d rows, want %d", seen, len(rows))
	}
	// Many loops that are broken off leave nothing behind that the next would wait for.
	for range 50 {
		for range b.Scan(b.Context(), kernel.Select{}) {
			break
		}
	}
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	seen = 0
	var ended error
	for _, err := range b.Scan(ctx, kernel.Select{}) {
		seen++
		ended = err
		cancel()
	}
	if seen > 100 || pawl.CodeOf(ended) != pawl.CodeCanceled {
		t.Errorf("a canceled scan went on for %d rows and ended with %v", seen, ended)
	}
}

// testConcurrent: many callers move few rows; each acknowledged move is there exactly once.
func testConcurrent(t *testing.T, backend Backend) {
	place := backend.Place(t)
	contend(t, open(t, backend, place), open(t, backend, place), 24, 12, 1)
}

func testTwoStores(t *testing.T, backend Backend) {
	place := backend.Place(t)
	x, y := open(t, backend, place), open(t, backend, place)
	r := x.row(kernel.KindTask, "draft")
	x.commit(insert(r))
	for n := range 20 {
		writer, reader := x, y
		if n%2 == 1 {
			writer, reader = y, x
		}
		writer.commit(move(reader.get(r.ID), fmt.Sprint(n)))
		if got := reader.get(r.ID); got.State != fmt.Sprint(n) || reader.head().Size != int64(n+1) {
			t.Fatalf("a commit through one store is not seen through the other: %+v", got)
		}
	}
	contend(t, x, y, 16, 10, 3)
}

// contend lets callers move the same rows through two stores, retrying conflicts, and compares what was acknowledged
// with what is stored.
func contend(t *testing.T, x, y *bench, callers, each, rows int) {
	t.Helper()
	var batch kernel.Batch
	for range rows {
		batch.Writes = append(batch.Writes, kernel.Write{Row: x.row(kernel.KindTask, "0")})
	}
	x.commit(batch)
	before := x.head().Size
	acks := make([]atomic.Int64, rows)
	var wait sync.WaitGroup
	for c := range callers {
		s := x
		if c%2 == 1 {
			s = y
		}
		wait.Go(func() {
			for n := 0; n < each; {
				i := (c + n) % rows
				id := batch.Writes[i].ID
				loaded, err := s.Load(s.Context(), kernel.Select{ID: id})
				if err != nil {
					t.Error(err)
					return
				}
				_, err = s.Commit(s.Context(), move(loaded[0][0], fmt.Sprintf("%d/%d", c, n)))
				switch {
				case err == nil:
					acks[i].Add(1)
					n++
				case !errors.Is(err, pawl.ErrConflict):
					t.Error(err)
					return
				}
			}
		})
	}
	wait.Wait()
	for i := range acks {
		if got := y.get(batch.Writes[i].ID); got.Version != acks[i].Load()+1 || got.AuditSeq != acks[i].Load() {
			t.Errorf("row %d: %d moves were acknowledged, version %d, %d records", i, acks[i].Load(), got.Version,
				got.AuditSeq)
		}
	}
	if n := x.verify().Size - before; n != int64(callers*each) {
		t.Errorf("%d records for %d moves", n, callers*each)
	}
}

func testReopen(t *testing.T, backend Backend) {
	place := backend.Place(t)
	var want []kernel.Row
	for n := range 3 {
		s, err := backend.Open(place)
		if err != nil {
			t.Fatal(err)
		}
		b := &bench{t, s, pawl.NewIDSource(now.Add(time.Duration(n)*time.Second), chaos{})}
		if got := b.pick(kernel.Select{}); !cmp.Equal(got, want) {
			t.Errorf("opening %d: %s", n, cmp.Diff(want, got))
		}
		r := b.row(kernel.KindTask, "draft")
		r.Doc = []byte("{}")
		b.commit(insert(r))
		b.commit(move(b.get(r.ID), "approved"))
		want = b.pick(kernel.Select{})
		b.verify()
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func testContext(t *testing.T, backend Backend) {
	b := fresh(t, backend)
	r := b.row(kernel.KindTask, "draft")
	b.commit(insert(r))
	canceled, cancel := context.WithCancel(b.Context())
	cancel()
	late, end := context.WithDeadline(b.Context(), time.Now().Add(-time.Second))
	defer end()
	for want, ctx := range map[pawl.Code]context.Context{pawl.CodeCanceled: canceled, pawl.CodeTimeout: late} {
		_, committed := b.Commit(ctx, move(b.get(r.ID), "approved"))
		_, loaded := b.Load(ctx, kernel.Select{ID: r.ID})
		_, counted := b.Count(ctx, kernel.KindTask, "")
		_, head := b.Head(ctx)
		errs := []error{committed, loaded, counted, head}
		for _, err := range b.Scan(ctx, kernel.Select{}) {
			errs = append(errs, err)
		}
		for _, err := range b.Records(ctx, "", 0) {
			errs = append(errs, err)
		}
		for i, err := range errs {
			if pawl.CodeOf(err) != want {
				t.Errorf("call %d with an ended context: %v, want %s", i, err, want)
			}
		}
	}
	if got := b.get(r.ID); got.State != "draft" || b.head().Size != 0 {
		t.Error("a commit whose context had ended was written")
	}
	// Whatever the moment at which a caller gives up, its answer is true: applied, not applied, or unknown.
	state, applied := "draft", 0
	for n := range 60 {
		ctx, cancel := context.WithTimeout(b.Context(), time.Duration(n*20)*time.Microsecond)
		next := fmt.Sprint(n)
		before := b.get(r.ID)
		_, err := b.Commit(ctx, move(before, next))
		cancel()
		switch pawl.CodeOf(err) {
		case "":
			state = next
			applied++
		case pawl.CodeTimeout:
		case pawl.CodeOutcomeUnknown:
			// A second writer behind it in line tells that the first has ended.
			b.commit(kernel.Batch{Key: next, Digest: next})
			state = b.get(r.ID).State
			if state != next && state != before.State {
				t.Fatalf("after an unknown outcome the state is %q", state)
			}
		default:
			t.Fatal(err)
		}
		if got := b.get(r.ID).State; got != state {
			t.Fatalf("round %d ended with %v, and the state is %q instead of %q", n, err, got, state)
		}
	}
	if applied == 0 {
		t.Error("no commit was in time")
	}
	b.verify()
}

func testClose(t *testing.T, backend Backend) {
	s, err := backend.Open(backend.Place(t))
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t, s, pawl.NewIDSource(now, chaos{})}
	r := b.row(kernel.KindTask, "draft")
	b.commit(insert(r))
	var acked atomic.Int64
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			for {
				rows, err := s.Load(background(), kernel.Select{ID: r.ID})
				if err == nil {
					_, err = s.Commit(background(), move(rows[0][0], "x"))
				}
				if err == nil {
					acked.Add(1)
				} else if !errors.Is(err, pawl.ErrConflict) {
					if pawl.CodeOf(err) != pawl.CodeCanceled {
						t.Errorf("during Close: %v", err)
					}
					return
				}
			}
		})
	}
	time.Sleep(20 * time.Millisecond)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	wait.Wait()
	if err := s.Close(); err != nil {
		t.Errorf("closing again: %v", err)
	}
	if _, err := s.Commit(background(), kernel.Batch{}); pawl.CodeOf(err) != pawl.CodeCanceled {
		t.Errorf("a commit after Close: %v", err)
	}
	for _, err := range s.Scan(background(), kernel.Select{}) {
		if pawl.CodeOf(err) != pawl.CodeCanceled {
			t.Errorf("a scan after Close: %v", err)
		}
	}
}

// testRandom applies random batches and compares the store with a model of a few lines. Each round has a parent of its
// own, so that all of them share one store.
func testRandom(t *testing.T, backend Backend) {
	b := fresh(t, backend)
	rapid.Check(t, func(rt *rapid.T) {
		m := model{bench: b, parent: b.id(), rows: map[string]kernel.Row{}, log: b.head().Size}
		for range rapid.IntRange(1, 8).Draw(rt, "batches") {
			m.round(rt)
		}
		m.compare(rt)
	})
	b.verify()
}

// model is what a store should hold under one parent.
type model struct {
	*bench
	parent string
	rows   map[string]kernel.Row
	order  []string
	log    int64
}

// round commits one random batch, which in some cases does not fit.
func (m *model) round(rt *rapid.T) {
	var batch kernel.Batch
	fits := true
	used := map[string]bool{}
	for range rapid.IntRange(1, 4).Draw(rt, "writes") {
		w := kernel.Write{Row: m.row(kernel.KindTask, "new")}
		w.Parent = m.parent
		if len(m.order) > 0 && rapid.Bool().Draw(rt, "update") {
			old := m.rows[rapid.SampledFrom(m.order).Draw(rt, "row")]
			if used[old.ID] {
				continue
			}
			w = step(old)
			w.State = rapid.SampledFrom([]string{"queued", "running", "done"}).Draw(rt, "state")
			if rapid.IntRange(0, 9).Draw(rt, "stale") == 0 {
				w.From++
				w.Version++
				fits = false
			}
		}
		used[w.ID] = true
		w.Rank = rapid.Int64Range(-2, 2).Draw(rt, "rank")
		for range rapid.IntRange(0, 2).Draw(rt, "records") {
			batch.Records = append(batch.Records, seal(&w, audit.Entry{Event: "NOTE", Data: []byte(`[1]`)}))
		}
		batch.Writes = append(batch.Writes, w)
	}
	_, err := m.Commit(background(), batch)
	if fits != (err == nil) || !fits && !errors.Is(err, pawl.ErrConflict) {
		rt.Fatalf("commit: %v, and it fits: %v", err, fits)
	}
	if !fits {
		return
	}
	m.log += int64(len(batch.Records))
	for _, w := range batch.Writes {
		if w.From == 0 {
			m.order = append(m.order, w.ID)
		}
		m.rows[w.ID] = w.Row
	}
}

func (m *model) compare(rt *rapid.T) {
	rows, err := m.Load(background(), kernel.Select{Parent: m.parent})
	if err != nil {
		rt.Fatal(err)
	}
	counts := map[string]int{}
	var want []kernel.Row
	for _, id := range m.order {
		want = append(want, m.rows[id])
		counts[m.rows[id].State]++
	}
	if diff := cmp.Diff(want, rows[0], cmpopts.IgnoreFields(kernel.Row{}, "Pos")); diff != "" {
		rt.Fatalf("rows (-want +got):\n%s", diff)
	}
	if got, err := m.Count(background(), kernel.KindTask, m.parent); err != nil || !cmp.Equal(got, counts) {
		rt.Fatalf("counts %v, %v; want %v", got, err, counts)
	}
	head, err := m.Head(background())
	if err != nil || head.Size != m.log {
		rt.Fatalf("head %+v, %v; want %d records", head, err, m.log)
	}
	if _, err := (audit.Log{Head: head, Records: m.Records(background(), "", 0)}).Verify(); err != nil {
		rt.Fatal(err)
	}
}
