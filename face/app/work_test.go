package app

import (
	"context"
	"crypto/rand"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"pawl"
	"pawl/driver/checkpoint"
	"pawl/kernel"
	"pawl/kernel/joined"
	"pawl/runner"
	"pawl/store/lockfile"
	"pawl/store/presence"
	"pawl/store/sqlite"
)

// pool counts what is asked of it.
type pool struct{ filled, drained atomic.Int64 }

func (p *pool) Fill(context.Context) error  { p.filled.Add(1); return nil }
func (p *pool) Drain(context.Context) error { p.drained.Add(1); return nil }

// TestCrewsOneAfterTheOther: a process that needs a crew again keeps no worktrees ready for the one before.
func TestCrewsOneAfterTheOther(t *testing.T) {
	dir := t.TempDir()
	store, err := sqlite.Open(filepath.Join(dir, "pawl.db"), sqlite.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	k := kernel.New(joined.Table(), store, kernel.Defaults(), pawl.ClockFunc(time.Now), rand.Reader)
	me := presence.New(dir)
	defer me.Close()
	var pools []*pool
	w := &work{me: me, kernel: k, parts: func() *parts {
		return &parts{warm: func() {}, pool: func(int) checkpoint.Ready {
			pools = append(pools, &pool{})
			return pools[len(pools)-1]
		}}
	}}
	gone := func(p *pool, f *checkpoint.Filler) {
		t.Helper()
		filled, drained := p.filled.Load(), p.drained.Load()
		taking(f, nil)(runner.Happened{What: runner.DidTake})
		f.Close() // does what is due
		if drained == 0 || p.filled.Load() != filled {
			t.Error("worktrees are still kept ready for a crew that has gone")
		}
	}
	var before *checkpoint.Filler
	for i := range 3 {
		if _, err := w.crew(runner.PoolOptions{Workers: 1}); err != nil {
			t.Fatal(err)
		}
		if before == w.fill {
			t.Fatal("a crew has the worktrees of another")
		}
		if before != nil {
			gone(pools[i-1], before)
		}
		before = w.fill
	}
	if !lockfile.Held(me.File()) {
		t.Error("a process at work says that it is gone")
	}
	if last := pools[2]; last.drained.Load() != 0 {
		t.Error("nothing is kept ready for the crew that is there")
	}
	w.close()
	gone(pools[2], before)
	me.Close()
	if lockfile.Held(me.File()) {
		t.Error("a process that is gone left something behind")
	}
}

// TestTaking: what makes worktrees ready is that work is taken which needs one.
func TestTaking(t *testing.T) {
	p := &pool{}
	f := checkpoint.NewFiller(p)
	var told []runner.Happened
	tell := taking(f, func(h runner.Happened) { told = append(told, h) })
	for _, h := range []runner.Happened{{What: runner.DidTake, Planning: true}, {What: runner.DidLeave}} {
		tell(h)
	}
	f.Close()
	if n := p.filled.Load(); n != 0 || len(told) != 2 {
		t.Errorf("filled %d times, told %v", n, told)
	}
	f = checkpoint.NewFiller(p)
	taking(f, nil)(runner.Happened{What: runner.DidTake})
	f.Close() // does what is due
	if n := p.filled.Load(); n != 1 || p.drained.Load() != 2 {
		t.Errorf("filled %d times, drained %d times", n, p.drained.Load())
	}
}
