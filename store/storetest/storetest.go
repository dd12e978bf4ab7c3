// Package storetest is the suite that every kernel.Store must pass: what a store promises, tried from outside,
// including by killing processes that write. A store's own tests call Run, and Main from TestMain:
//
//	func TestMain(m *testing.M) { storetest.Main(m, backend) }
//	func TestStore(t *testing.T) { storetest.Run(t, backend) }
package storetest

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/audit"
)

// Backend is how the suite gets at an implementation.
type Backend struct {
	// Place returns a name for Open under which nothing is stored yet; what is stored there goes with the test.
	Place func(tb testing.TB) string
	// Open opens the store at a place and creates it if it is not there. It is also called in other processes.
	Open func(place string) (kernel.Store, error)
}

// Run tries everything that a store promises.
func Run(t *testing.T, b Backend) {
	for _, c := range []struct {
		name string
		try  func(*testing.T, Backend)
	}{
		{"RoundTrip", testRoundTrip}, {"OddText", testOddText}, {"HugeDocument", testHugeDocument},
		{"CompareAndSet", testCompareAndSet}, {"Reads", testReads}, {"WriteSkew", testWriteSkew}, {"AllOrNothing",
			testAllOrNothing}, {"MalformedBatch", testMalformed},
		{"Labels", testLabels}, {"Many", testMany}, {"Keys", testKeys}, {"KeysConcurrent", testKeysConcurrent},
		{"Select", testSelect}, {"States", testStates},
		{"Claims", testClaims}, {"Count", testCount}, {"Snapshot", testSnapshot},
		{"Scan", testScan}, {"Records", testRecords}, {"RecordsMustFit", testRecordsMustFit}, {"Log", testLog}, {"Retire", testRetire},
		{"Concurrent", testConcurrent}, {"TwoStores", testTwoStores}, {"Reopen", testReopen},
		{"Context", testContext}, {"Close", testClose}, {"Random", testRandom}, {"Kill", testKill},
	} {
		t.Run(c.name, func(t *testing.T) { c.try(t, b) })
	}
}

// bench is a store with what a test needs around it.
type bench struct {
	*testing.T
	kernel.Store
	ids *pawl.IDSource
}

// now is the instant at which the suite's rows are made: not a whole millisecond, and not in UTC.
var now = time.Date(2026, 1, 30, 10, 0, 0, 123456000, time.FixedZone("+02", 7200))

func open(t *testing.T, b Backend, place string) *bench {
	t.Helper()
	s, err := b.Open(place)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return &bench{t, s, pawl.NewIDSource(now, chaos{})}
}

// chaos is a source of random bytes.
type chaos struct{}

func (chaos) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(rand.Uint32())
	}
	return len(p), nil
}

func fresh(t *testing.T, b Backend) *bench { t.Helper(); return open(t, b, b.Place(t)) }

func (b *bench) id() string {
	b.Helper()
	id, err := b.ids.Next()
	if err != nil {
		b.Fatal(err)
	}
	return string(id)
}

// row is a new row of a kind, as an insert wants it.
func (b *bench) row(kind kernel.Kind, state string) kernel.Row {
	b.Helper()
	return kernel.Row{Kind: kind, ID: b.id(), State: state, Version: 1, CreatedAt: now, UpdatedAt: now}
}

func insert(rows ...kernel.Row) kernel.Batch {
	batch := kernel.Batch{At: now}
	for _, r := range rows {
		batch.Writes = append(batch.Writes, kernel.Write{Row: r})
	}
	return batch
}

// step is the write that brings a loaded row one version on.
func step(r kernel.Row) kernel.Write {
	w := kernel.Write{Row: r, From: r.Version, KeepDoc: true}
	w.Version++
	return w
}

// move is the batch that takes a loaded row to a state, with its audit record.
func move(r kernel.Row, to string) kernel.Batch {
	w := step(r)
	w.State = to
	rec := seal(&w, audit.Entry{Event: "STATE_TRANSITION", Move: &audit.Transition{From: r.State, To: to, Rule: "T1",
		Actor: "user"}})
	return kernel.Batch{At: now, Writes: []kernel.Write{w}, Records: []audit.Sealed{rec}}
}

// seal makes the next record about a row that is to be written, and notes it in the row.
func seal(w *kernel.Write, e audit.Entry) audit.Sealed {
	e.Subject = audit.Subject{Kind: string(w.Kind), ID: w.ID}
	e.Level, e.At = audit.Info, now
	prev := w.AuditHash
	if w.AuditSeq == 0 {
		prev = audit.Genesis(e.Subject)
	}
	rec := audit.Seal(e, w.AuditSeq+1, prev)
	w.AuditSeq, w.AuditHash = rec.Seq, rec.Hash
	return rec
}

func (b *bench) commit(batch kernel.Batch) kernel.Committed {
	b.Helper()
	c, err := b.Commit(b.Context(), batch)
	if err != nil {
		b.Fatal(err)
	}
	return c
}

// refuse commits a batch that must fail with a code.
func (b *bench) refuse(code pawl.Code, batch kernel.Batch) {
	b.Helper()
	if _, err := b.Commit(b.Context(), batch); pawl.CodeOf(err) != code {
		b.Errorf("commit: %v, want %s", err, code)
	}
}

// pick loads one selection.
func (b *bench) pick(sel kernel.Select) []kernel.Row {
	b.Helper()
	rows, err := b.Load(b.Context(), sel)
	if err != nil {
		b.Fatal(err)
	}
	if len(rows) != 1 {
		b.Fatalf("%d results for one selection", len(rows))
	}
	return rows[0]
}

// get loads the one row with an ID.
func (b *bench) get(id string) kernel.Row {
	b.Helper()
	rows := b.pick(kernel.Select{ID: id})
	if len(rows) != 1 {
		b.Fatalf("%d rows with ID %s", len(rows), id)
	}
	return rows[0]
}

// head loads the head of the log.
func (b *bench) head() audit.Head {
	b.Helper()
	h, err := b.Head(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	return h
}

// verify checks the whole audit log, and that every row stands where its records left it.
func (b *bench) verify() audit.Report {
	b.Helper()
	var report audit.Report
	err := b.Log(b.Context(), func(l audit.Log) (err error) {
		report, err = l.Verify()
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	for r, err := range b.Scan(b.Context(), kernel.Select{HotOnly: true}) {
		if err != nil {
			b.Fatal(err)
		}
		rec := report.Tails[audit.Subject{Kind: string(r.Kind), ID: r.ID}]
		if r.AuditSeq != rec.Seq || r.AuditHash != rec.Hash && r.AuditSeq > 0 {
			b.Errorf("%s %s stands at record %d, the log at %d", r.Kind, r.ID, r.AuditSeq, rec.Seq)
		}
	}
	return report
}

func idsOf(rows []kernel.Row) []string {
	var out []string
	for _, r := range rows {
		out = append(out, r.ID)
	}
	return out
}

func background() context.Context { return context.Background() }
