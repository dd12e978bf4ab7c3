package sqlite_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// baseline is R_a: 4 KiB appended and flushed by one thread, per second.
func baseline(b testing.TB, d time.Duration) float64 {
	b.Helper()
	f, err := os.Create(filepath.Join(b.TempDir(), "append"))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	page := make([]byte, 4096)
	n, start := 0, time.Now()
	for time.Since(start) < d {
		if _, err := f.Write(page); err != nil {
			b.Fatal(err)
		}
		if err := syscall.Fdatasync(int(f.Fd())); err != nil {
			b.Fatal(err)
		}
		n++
	}
	return float64(n) / time.Since(start).Seconds()
}

// cpuTime is the processor time that this process has used; unlike the clock's it tells little of what else runs here.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func BenchmarkTransitions(b *testing.B) {
	for _, callers := range []int{1, 16, 256} {
		b.Run(fmt.Sprint(callers, "callers"), func(b *testing.B) {
			s, ids := openBench(b, 10000)
			before := baseline(b, 500*time.Millisecond)
			var turn atomic.Int64
			latencies := make([][]time.Duration, callers)
			var wait sync.WaitGroup
			cpu := cpuTime()
			b.ResetTimer()
			for c := range callers {
				wait.Go(func() {
					for {
						n := turn.Add(1)
						if n > int64(b.N) {
							return
						}
						start := time.Now()
						if err := transition(s, ids[int(n*7919)%len(ids)]); err != nil {
							b.Error(err)
							return
						}
						latencies[c] = append(latencies[c], time.Since(start))
					}
				})
			}
			wait.Wait()
			b.StopTimer()
			b.ReportMetric(float64((cpuTime()-cpu).Microseconds())/float64(b.N), "cpu-µs/op")
			rate := float64(b.N) / b.Elapsed().Seconds()
			after := baseline(b, 500*time.Millisecond)
			all := slices.Concat(latencies...)
			slices.Sort(all)
			b.ReportMetric(rate, "transitions/s")
			b.ReportMetric(rate/((before+after)/2), "×R_a")
			b.ReportMetric((before+after)/2, "R_a/s")
			b.ReportMetric(float64(all[len(all)*99/100].Microseconds())/1000, "p99-ms")
		})
	}
}
