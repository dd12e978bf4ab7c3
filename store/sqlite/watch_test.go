package sqlite

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"pawl/kernel"
)

// twice opens a new store two times, as two processes would.
func twice(t *testing.T) (here, there *Store) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pawl.db")
	for n, s := range []**Store{&here, &there} {
		opened, err := Open(path, Options{Create: n == 0})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = opened.Close() })
		*s = opened
	}
	return here, there
}

// TestWatch: whoever watches is told of the commits of another store on the same file and of this one, and of nothing
// while nobody commits.
func TestWatch(t *testing.T) {
	here, there := twice(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel() // or the store would wait for it
	told, ended := make(chan bool, 100), make(chan error, 1)
	go func() { ended <- Watching(here)(ctx, time.Millisecond, func() { told <- true }) }()
	<-told // of what was committed before
	for n, s := range []*Store{there, here, there} {
		select {
		case <-told:
			t.Fatal("told of nothing")
		case <-time.After(20 * time.Millisecond):
		}
		at := time.Now()
		id := []string{"01HZZZZZZZZZZZZZZZZZZZZZZA", "01HZZZZZZZZZZZZZZZZZZZZZZB", "01HZZZZZZZZZZZZZZZZZZZZZZC"}[n]
		row := kernel.Row{Kind: kernel.KindSetting, ID: id, Version: 1, CreatedAt: at, UpdatedAt: at}
		if _, err := s.Commit(ctx, kernel.Batch{At: at, Writes: []kernel.Write{{Row: row}}}); err != nil {
			t.Fatal(err)
		}
		select {
		case <-told:
		case <-time.After(5 * time.Second):
			t.Fatal("not told")
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if err := here.Close(); err != nil {
		t.Error(err)
	}
	if err := Watching(here)(t.Context(), time.Millisecond, func() {}); err == nil {
		t.Error("a store that is closed is watched")
	}
}

// TestWatchAtRest: once nobody commits, the next commit of another store is told of by a write to its log, for which
// nobody looks, and so are those that follow it.
func TestWatchAtRest(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the system rings on Linux alone")
	}
	here, there := twice(t)
	commit := func(n int) {
		at := time.Now()
		row := kernel.Row{Kind: kernel.KindSetting, ID: fmt.Sprintf("01HZZZZZZZZZZZZZZZZZZZZZ%02d", n), Version: 1,
			CreatedAt: at, UpdatedAt: at}
		if _, err := there.Commit(t.Context(), kernel.Batch{At: at, Writes: []kernel.Write{{Row: row}}}); err != nil {
			t.Fatal(err)
		}
	}
	commit(0) // so that there is a log
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel() // or the store would wait for it
	told, ended := make(chan bool, 100), make(chan error, 1)
	p := pace{time.Millisecond, 50 * time.Millisecond, time.Hour}
	go func() { ended <- watch(ctx, here, p, func() { told <- true }) }()
	<-told
	for n := range 6 {
		if n%3 == 0 {
			time.Sleep(200 * time.Millisecond)
		}
		commit(n + 1)
		select {
		case <-told:
		case <-time.After(5 * time.Second):
			t.Fatalf("not told of commit %d", n)
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
