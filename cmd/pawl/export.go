package main

import (
	"context"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"pawl/audit"
	"pawl/driver/archive"
	"pawl/effect"
	"pawl/kernel"
	"pawl/kernel/projection"
	"pawl/store/sqlite"
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

// exporter writes the projections of a workspace. Several processes may work on one: each writes what it reads while it holds
// the lock, so that an older state never replaces a newer one.
type exporter struct {
	k     *kernel.Kernel
	dir   string
	board projection.Board
	took  atomic.Int64 // how long the files of the board took last, in nanoseconds
}

// exportLock is held while the projections are written.
const exportLock = "export.lock"

// boardShare is the part of the time that goes into the files of the board at most: one of so many.
const boardShare = 20

// boardEvery is how long the files of the board may lag behind.
func (x *exporter) boardEvery() time.Duration {
	return max(exportEvery, boardShare*time.Duration(x.took.Load()))
}

// all writes every projection and returns their paths.
func (x *exporter) all(ctx context.Context) ([]string, error) {
	return x.write(ctx, func() ([]effect.ProjectedFile, error) {
		files, err := projection.Files(ctx, x.k)
		if err != nil {
			return nil, err
		}
		more, err := x.ofBoard(ctx)
		return append(files, more...), err
	}, true)
}

// quick writes the projections that cost the same however large the workspace is.
func (x *exporter) quick(ctx context.Context) {
	_, _ = x.write(ctx, func() ([]effect.ProjectedFile, error) { return projection.Files(ctx, x.k) }, true)
}

// boards writes the files of the board, if they are what is shown.
func (x *exporter) boards(ctx context.Context) {
	_, _ = x.write(ctx, func() ([]effect.ProjectedFile, error) { return x.ofBoard(ctx) }, false)
}

func (x *exporter) ofBoard(ctx context.Context) ([]effect.ProjectedFile, error) {
	begun := time.Now()
	newest, err := projection.Newest(ctx, x.k)
	if err != nil || !newest {
		return nil, err
	}
	files, err := x.board.Files(ctx, x.k)
	x.took.Store(int64(time.Since(begun)))
	return files, err
}

func (x *exporter) write(ctx context.Context, read func() ([]effect.ProjectedFile, error), prune bool) ([]string, error) {
	lock, err := sqlite.WaitLock(ctx, filepath.Join(x.dir, exportLock))
	if err != nil {
		return nil, err
	}
	defer lock.Release()
	files, err := read()
	if err != nil {
		return nil, err
	}
	written, err := archive.Write(ctx, x.dir, files)
	if err == nil && prune {
		var gone []string
		if gone, err = projection.Gone(ctx, x.k); err == nil {
			err = archive.Prune(x.dir, "plan", gone)
		}
	}
	return written, err
}

// ofIssues reports whether a commit changed what the files of the board show.
func ofIssues(o kernel.Outcome) bool {
	return slices.ContainsFunc(o.Entries, func(e audit.Entry) bool {
		switch kernel.Kind(e.Subject.Kind) {
		case kernel.KindIssue, kernel.KindItem, kernel.KindBoard:
			return true
		}
		return false
	})
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
