package main

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestFollower: what is due is done once and in time, a commit that comes while it is being done is followed anew, and
// nothing is left undone, or done, after close.
func TestFollower(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var at []time.Duration
		var began, ended atomic.Int64
		f := &follower{do: func() {
			at = append(at, time.Since(start))
			began.Add(1)
			time.Sleep(50 * time.Millisecond)
			ended.Add(1)
		}}
		f.within(300 * time.Millisecond)
		f.within(300 * time.Millisecond) // is done with the first
		time.Sleep(100 * time.Millisecond)
		f.within(0) // brings it forward
		time.Sleep(10 * time.Millisecond)
		f.within(0) // comes while it is being done
		time.Sleep(500 * time.Millisecond)
		f.within(time.Hour)
		f.close()
		if n := began.Load(); n != 3 || ended.Load() != n {
			t.Fatalf("%d begun, %d ended", n, ended.Load())
		}
		f.within(0)
		f.close()
		time.Sleep(2 * time.Hour)
		want := []time.Duration{100 * time.Millisecond, 150 * time.Millisecond, 610 * time.Millisecond}
		if len(at) != len(want) || at[0] != want[0] || at[1] != want[1] || at[2] != want[2] {
			t.Fatalf("done at %v, want %v", at, want)
		}
	})
}

// TestFollowerClosesWhileDue: a follower that is closed in the moment that it falls due still does it, once.
func TestFollowerClosesWhileDue(t *testing.T) {
	for range 200 {
		var done atomic.Int64
		f := &follower{do: func() { done.Add(1) }}
		f.within(0)
		f.close()
		if n := done.Load(); n != 1 {
			t.Fatalf("done %d times", n)
		}
	}
}
