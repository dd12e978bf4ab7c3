package follow

import (
	"sync/atomic"
	"testing"
	"time"
)

// TestFollower: what is due sooner goes first, a commit that comes while one is followed is followed anew, and nothing
// is left undone, or done, after close.
func TestFollower(t *testing.T) {
	begun, goOn := make(chan int64), make(chan bool)
	var count atomic.Int64
	f := New(func() {
		begun <- count.Add(1)
		<-goOn
	})
	f.Within(time.Hour)
	f.Within(0)
	if n := <-begun; n != 1 {
		t.Fatal(n)
	}
	f.Within(time.Hour) // comes while it is being done
	f.Within(0)
	goOn <- true
	if n := <-begun; n != 2 {
		t.Fatal(n)
	}
	f.Within(time.Hour)
	closed := make(chan bool)
	go func() { f.Close(); close(closed) }()
	goOn <- true
	if n := <-begun; n != 3 {
		t.Fatal(n)
	}
	select {
	case <-closed:
		t.Fatal("closed while it was being done")
	default:
	}
	goOn <- true
	<-closed
	f.Within(0)
	f.Close()
	if n := count.Load(); n != 3 || f.due != nil {
		t.Fatalf("done %d times, due %v", n, f.due)
	}
}

// TestFollowerClosesWhileDue: a follower that is closed in the moment that it falls due still does it, once.
func TestFollowerClosesWhileDue(t *testing.T) {
	for range 200 {
		var done atomic.Int64
		f := New(func() { done.Add(1) })
		f.Within(0)
		f.Close()
		if n := done.Load(); n != 1 {
			t.Fatalf("done %d times", n)
		}
	}
}
