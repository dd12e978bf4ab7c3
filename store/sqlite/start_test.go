package sqlite_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"pawl"
	"pawl/kernel"
	"pawl/store/sqlite"
)

func BenchmarkOpenLoad(b *testing.B) {
	path := filepath.Join(b.TempDir(), "pawl.db")
	s, _ := sqlite.Open(path, sqlite.Options{Create: true})
	src := pawl.NewIDSource(time.Now(), constant{})
	id := next(b, src)
	s.Commit(context.Background(), kernel.Batch{Writes: []kernel.Write{{Row: kernel.Row{Kind: "session", ID: id, Version: 1}}}})
	s.Close()
	var open, load, count, cl time.Duration
	for b.Loop() {
		t0 := time.Now()
		s, err := sqlite.Open(path, sqlite.Options{ReadOnly: true})
		if err != nil {
			b.Fatal(err)
		}
		t1 := time.Now()
		s.Load(context.Background(), kernel.Select{Kind: "session", Newest: true, Limit: 1})
		t2 := time.Now()
		s.Count(context.Background(), "task", "")
		t3 := time.Now()
		s.Close()
		t4 := time.Now()
		open += t1.Sub(t0)
		load += t2.Sub(t1)
		count += t3.Sub(t2)
		cl += t4.Sub(t3)
	}
	n := float64(b.N) * 1000
	b.ReportMetric(float64(open.Nanoseconds())/n, "µs-open")
	b.ReportMetric(float64(load.Nanoseconds())/n, "µs-load")
	b.ReportMetric(float64(count.Nanoseconds())/n, "µs-count")
	b.ReportMetric(float64(cl.Nanoseconds())/n, "µs-close")
}
