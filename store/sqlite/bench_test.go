package sqlite_test

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/audit"
	"pawl/store/sqlite"
)

func openBench(b testing.TB, tasks int) (*sqlite.Store, []string) {
	b.Helper()
	s, err := sqlite.Open(filepath.Join(b.TempDir(), "pawl.db"), sqlite.Options{Create: true})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := s.Close(); err != nil {
			b.Error(err)
		}
	})
	ids := make([]string, tasks)
	src := pawl.NewIDSource(time.Now(), constant{})
	session := next(b, src)
	var batch kernel.Batch
	batch.Writes = append(batch.Writes, kernel.Write{Row: kernel.Row{Kind: kernel.KindSession, ID: session,
		State: "EXECUTING", Version: 1}})
	for i := range ids {
		ids[i] = next(b, src)
		batch.Writes = append(batch.Writes, kernel.Write{Row: kernel.Row{Kind: kernel.KindTask, ID: ids[i],
			Label: fmt.Sprintf("T-%05d", i), Parent: session, State: "queued", Version: 1, Doc: make([]byte, 800)}})
		if len(batch.Writes) == 200 || i == tasks-1 {
			if _, err := s.Commit(context.Background(), batch); err != nil {
				b.Fatal(err)
			}
			batch.Writes = batch.Writes[:0]
		}
	}
	return s, ids
}

// constant is a source of bytes that are all alike; the IDs that come from it still differ, because they count up.
type constant struct{}

func (constant) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 7
	}
	return len(p), nil
}

func next(tb testing.TB, src *pawl.IDSource) string {
	id, err := src.Next()
	if err != nil {
		tb.Fatal(err)
	}
	return string(id)
}

// transition is the whole way of one transition through the store: read by ID, seal, compare-and-set with the record.
func transition(s kernel.Store, id string) error {
	ctx := context.Background()
	rows, err := s.Load(ctx, kernel.Select{ID: id})
	if err != nil {
		return err
	}
	row := rows[0][0]
	from, to := row.State, map[string]string{"queued": "running", "running": "verifying",
		"verifying": "queued"}[row.State]
	prev := row.AuditHash
	subject := audit.Subject{Kind: "task", ID: id}
	if row.AuditSeq == 0 {
		prev = audit.Genesis(subject)
	}
	rec := audit.Seal(audit.Entry{Subject: subject, Level: audit.Info, Event: "STATE_TRANSITION", At: time.Now(),
		Trace: "01KAB0000000000000000TRACE",
		Move: &audit.Transition{From: from, To: to, Rule: "T5", Event: "start", Actor: "runner:host/4711",
			Reason:   "claimed under a lease",
			Metadata: []byte(`{"lease":300,"epoch":7,"turn":"01KAB00000000000000000TURN","tree":"4b825dc642cb6eb9a060e54bf8d69288fbee4904"}`)}},
		row.AuditSeq+1, prev)
	w := kernel.Write{Row: row, From: row.Version, KeepDoc: true}
	w.Version++
	w.State, w.AuditSeq, w.AuditHash, w.UpdatedAt = to, rec.Seq, rec.Hash, rec.At
	_, err = s.Commit(ctx, kernel.Batch{At: rec.At, Writes: []kernel.Write{w}, Records: []audit.Sealed{rec}})
	return err
}

func BenchmarkLoadByID(b *testing.B) {
	s, ids := openBench(b, 10000)
	ctx := context.Background()
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		n++
		if rows, err := s.Load(ctx, kernel.Select{ID: ids[n*7919%len(ids)]}); err != nil || len(rows[0]) != 1 {
			b.Fatal(rows, err)
		}
	}
}

func BenchmarkOpenAndLoad(b *testing.B) {
	s, ids := openBench(b, 10000)
	path := s.Path()
	ctx := context.Background()
	for b.Loop() {
		s, err := sqlite.Open(path, sqlite.Options{ReadOnly: true})
		if err != nil {
			b.Fatal(err)
		}
		if rows, err := s.Load(ctx, kernel.Select{ID: ids[17]},
			kernel.Select{Kind: kernel.KindSession, Newest: true, Limit: 1}); err != nil || len(rows[1]) != 1 {
			b.Fatal(rows, err)
		}
		if n, err := s.Count(ctx, kernel.KindTask, ""); err != nil || n["queued"] != len(ids) {
			b.Fatal(n, err)
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkScanFirstOf100000(b *testing.B) {
	s, _ := openBench(b, 100000)
	for b.Loop() {
		for _, err := range s.Scan(context.Background(), kernel.Select{Kind: kernel.KindTask}) {
			if err != nil {
				b.Fatal(err)
			}
			break
		}
	}
	start, n := time.Now(), 0
	for _, err := range s.Scan(context.Background(), kernel.Select{Kind: kernel.KindTask, HotOnly: true}) {
		if err != nil {
			b.Fatal(err)
		}
		n++
	}
	b.ReportMetric(float64(time.Since(start).Milliseconds()), "ms-all")
	start = time.Now()
	for _, err := range s.Scan(context.Background(), kernel.Select{Kind: kernel.KindTask, States: []string{"failed"},
		HotOnly: true}) {
		b.Fatal("a failed task", err)
	}
	b.ReportMetric(float64(time.Since(start).Milliseconds()), "ms-none-by-state")
}

// BenchmarkVerify reads and verifies the log of a store, record by record.
func BenchmarkVerify(b *testing.B) {
	s, ids := openBench(b, 1000)
	var wait sync.WaitGroup
	const records = 50000
	for c := range 250 {
		wait.Go(func() {
			for n := range records / 250 {
				if err := transition(s, ids[c*4+n%4]); err != nil {
					b.Error(err)
				}
			}
		})
	}
	wait.Wait()
	for b.Loop() {
		head, err := s.Head(context.Background())
		if err != nil {
			b.Fatal(err)
		}
		if report, err := (audit.Log{Head: head, Records: s.Records(context.Background(), "", 0)}).Verify(); err != nil ||
			report.Size != records {
			b.Fatal(report, err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/records, "ns/record")
}
