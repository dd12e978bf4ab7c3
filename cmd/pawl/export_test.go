package main

import (
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// TestProjectionsOfTheDead: what a process that was killed behind its last commit has left unwritten is written by the next one
// that may write, at its end and while it lasts, whether or not it has something to commit itself.
func TestProjectionsOfTheDead(t *testing.T) {
	t.Parallel()
	u := backlogged(t)
	files := []string{"state.json", "active_context.md", markFile}
	u.must(0, "issue", "add", "first")
	before := map[string]string{}
	for _, name := range files {
		before[name] = u.read(".pawl/" + name)
	}
	u.must(0, "issue", "add", "second")
	after := u.read(".pawl/state.json")
	if !strings.Contains(after, "second") || before["state.json"] == after {
		t.Fatalf("state.json:\n%s", after)
	}
	killed := func() {
		for _, name := range files {
			u.write(".pawl/"+name, before[name])
		}
	}
	killed()
	u.must(0, "issue", "list")
	if got := u.read(".pawl/state.json"); got != before["state.json"] {
		t.Errorf("a command that reads wrote state.json:\n%s", got)
	}
	u.must(0, "worker", "--execute-only")
	if got := u.read(".pawl/state.json"); got != after {
		t.Errorf("state.json is as it was before the last commit:\n%s", got)
	}
	killed()
	p := u.start("worker", "--stay", "--execute-only")
	for end := time.Now().Add(patience); u.read(".pawl/state.json") != after; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("a worker that stays never wrote what another left")
		}
	}
	p.kill()
	// A mark that makes no sense is no reason to leave files as they are.
	for _, nonsense := range []string{"", "x", "99999999 99999999\n"} {
		u.write(".pawl/state.json", before["state.json"])
		u.write(".pawl/"+markFile, nonsense)
		u.must(0, "worker", "--execute-only")
		if got := u.read(".pawl/state.json"); got != after {
			t.Errorf("with the mark %q state.json is as it was:\n%s", nonsense, got)
		}
	}
	if err := os.Remove(filepath.Join(u.dir, ".pawl", markFile)); err != nil {
		t.Fatal(err)
	}
	info := func() time.Time {
		i, err := os.Stat(filepath.Join(u.dir, ".pawl", "state.json"))
		if err != nil {
			t.Fatal(err)
		}
		return i.ModTime()
	}
	u.must(0, "worker", "--execute-only")
	at := info()
	u.must(0, "worker", "--execute-only")
	if !info().Equal(at) {
		t.Error("state.json was written although nothing had changed")
	}
}

// TestFollower: what is due sooner goes first, a commit that comes while one is followed is followed anew, and nothing is
// left undone, or done, after close.
func TestFollower(t *testing.T) {
	begun, goOn := make(chan int64), make(chan bool)
	var count atomic.Int64
	f := &follower{do: func() {
		begun <- count.Add(1)
		<-goOn
	}}
	f.within(time.Hour)
	f.within(0)
	if n := <-begun; n != 1 {
		t.Fatal(n)
	}
	f.within(time.Hour) // comes while it is being done
	f.within(0)
	goOn <- true
	if n := <-begun; n != 2 {
		t.Fatal(n)
	}
	f.within(time.Hour)
	closed := make(chan bool)
	go func() { f.close(); close(closed) }()
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
	f.within(0)
	f.close()
	if n := count.Load(); n != 3 || f.due != nil {
		t.Fatalf("done %d times, due %v", n, f.due)
	}
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
