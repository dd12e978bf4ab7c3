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
const exportEvery = 150 * time.Millisecond

// exporter writes the projections behind commits: at once when it matters, else a little later and beside the work, so that
// no command waits for files that somebody may read. It is safe for concurrent use.
type exporter struct {
	write func()

	work sync.Mutex // held while writing
	mu   sync.Mutex
	due  *time.Timer
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

// behind writes what a commit changed: at once when it moved the session or ended something.
func (e *exporter) behind(done kernel.Outcome) {
	if done.Ended() || done.MovesSession() {
		e.now()
		return
	}
	e.soon()
}

// now writes before it returns.
func (e *exporter) now() {
	e.mu.Lock()
	if e.due != nil {
		e.due.Stop()
		e.due = nil
	}
	e.mu.Unlock()
	e.run()
}

// soon writes within exportEvery.
func (e *exporter) soon() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.due == nil && !e.shut {
		e.due = time.AfterFunc(exportEvery, func() {
			e.mu.Lock()
			e.due = nil
			e.mu.Unlock()
			e.run()
		})
	}
}

func (e *exporter) run() {
	e.work.Lock()
	defer e.work.Unlock()
	e.write()
}

// close writes what is due and returns when nothing is being written any more.
func (e *exporter) close() {
	e.mu.Lock()
	e.shut = true
	pending := e.due != nil && e.due.Stop()
	e.due = nil
	e.mu.Unlock()
	if pending {
		e.run()
		return
	}
	e.work.Lock()
	defer e.work.Unlock()
}
