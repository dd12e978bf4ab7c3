package main

import (
	"context"
	"sync"
	"time"

	"pawl/driver/archive"
	"pawl/kernel"
)

// exportEvery is how long the projections may lag behind commits that leave the session's state as it is. A step takes
// several commits within milliseconds, and nobody reads between them.
const exportEvery = 300 * time.Millisecond

// follower does something behind commits and beside the work, so that no command waits for files that somebody may read.
// It is safe for concurrent use.
type follower struct {
	do func()

	work sync.Mutex // held while at it
	mu   sync.Mutex
	due  *time.Timer // nil when nothing is due
	at   time.Time   // when due fires
	shut bool
}

// export writes every projection and returns their paths.
func export(ctx context.Context, k *kernel.Kernel, dir string) ([]string, error) {
	files, err := k.Projections(ctx)
	if err != nil {
		return nil, err
	}
	written, err := archive.Write(ctx, dir, files)
	if err == nil {
		err = archive.Prune(dir, "plan", files)
	}
	return written, err
}

// within sees to it that what was committed until now is followed no later than that.
func (f *follower) within(d time.Duration) {
	at := time.Now().Add(d)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.shut || f.due != nil && (!at.Before(f.at) || !f.due.Stop()) {
		return // the one that is due comes in time, or has just begun to wait for its turn
	}
	f.due, f.at = time.AfterFunc(d, f.follow), at
}

// follow does what is due. A commit that comes meanwhile is due anew.
func (f *follower) follow() {
	f.work.Lock()
	defer f.work.Unlock()
	f.mu.Lock()
	due := f.due != nil
	f.due = nil
	f.mu.Unlock()
	if due {
		f.do()
	}
}

// close does what is due and returns when nothing is being done any more.
func (f *follower) close() {
	f.mu.Lock()
	f.shut = true
	if f.due != nil {
		f.due.Stop()
	}
	f.mu.Unlock()
	f.follow()
}
