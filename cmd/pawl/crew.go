package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"pawl"
	"pawl/cli"
	"pawl/driver/checkpoint"
	"pawl/effect"
	"pawl/kernel"
	"pawl/lockfile"
	"pawl/logs"
	"pawl/runner"
)

// Where processes that work on issues say that they are there, and where they wait for their turn to land, below .pawl.
const (
	workersDir  = "workers"
	landingLock = "landing.lock"
)

// hand is this process among those that work on the issues of a workspace. It holds the lock of a file that is named after it
// for as long as it lives, so that the others see at once when it is gone.
type hand struct {
	dir  string // .pawl
	name string
	// holds fails where the workspace is no longer where it was.
	holds func() error

	once sync.Once
	lock *lockfile.Lock
	err  error
	fill *filler       // keeps worktrees ready for the crew, nil while there is none
	land chan struct{} // full while a worker of this process has the turn to land, so that they do not ask the disk for each other
}

func newHand(dir string) *hand {
	return &hand{dir: dir, name: ownerName(), land: make(chan struct{}, 1)}
}

// here says that the process is there, from the first call on.
func (h *hand) here() error {
	h.once.Do(func() {
		if h.err = os.MkdirAll(filepath.Join(h.dir, workersDir), 0o700); h.err == nil {
			h.sweep()
			h.lock, h.err = lockfile.Try(h.file(h.name))
		}
	})
	return h.err
}

// file is where a process says that it is there.
func (h *hand) file(name string) string {
	return filepath.Join(h.dir, workersDir, strings.ReplaceAll(name, "/", "~")+".lock")
}

// sweepAge is how old a file is at least that is looked into: a younger one may be about to be locked.
const sweepAge = time.Minute

// sweep removes what dead processes left. What cannot be removed does no harm.
func (h *hand) sweep() {
	entries, _ := os.ReadDir(filepath.Join(h.dir, workersDir))
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || time.Since(info.ModTime()) < sweepAge || !strings.HasSuffix(e.Name(), ".lock") {
			continue
		}
		if l, err := lockfile.Try(filepath.Join(h.dir, workersDir, e.Name())); err == nil && l != nil {
			_ = l.Remove()
		}
	}
}

// alive reports whether the process of a worker is known to be there, or may be: nobody here can say that of another machine.
func (h *hand) alive(owner string) bool {
	name := owner
	if strings.Count(owner, "/") == 3 { // a worker of a crew
		name = owner[:strings.LastIndexByte(owner, '/')]
	}
	host, _, ok := strings.Cut(name, "/")
	if !ok || host != hostname() || name == h.name {
		return true
	}
	return lockfile.Held(h.file(name))
}

// landing is how long the turn to land is waited for: a turn takes as long as the checks of the merged work, so one that goes on is
// waited for long and audibly, and one that is stopped is not.
var landing = lockfile.Patience{Halted: 10 * time.Second, One: 45 * time.Minute, After: 2 * time.Second}

// turn waits for the turn to land, and tells behind whom.
func (h *hand) turn(ctx context.Context, tell func(error)) (func(), error) {
	select {
	case h.land <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	p := landing
	p.Tell = func(why *pawl.Error) { tell(pawl.Fail(pawl.CodeBusy, "lock.landing").Because(why)) }
	l, err := lockfile.Wait(ctx, filepath.Join(h.dir, landingLock), p)
	if err != nil {
		<-h.land
		if pawl.CodeOf(err) == pawl.CodeBusy {
			err = pawl.Fail(pawl.CodeBusy, "lock.landing_given_up").Because(err)
		}
		return nil, err
	}
	return func() { _ = l.Release(); <-h.land }, nil
}

func (h *hand) close() {
	h.once.Do(func() {}) // nobody comes any more
	if h.fill != nil {
		h.fill.close()
	}
	if h.lock != nil {
		_ = h.lock.Remove()
	}
}

// keptLogs is how many bytes of logs a workspace keeps before the oldest go.
const keptLogs = 4 << 30

// begins is asked before work begins (runner.Options.Holds). A command that ends without any starts no launcher.
func (h *hand) begins(p *parts) func() error {
	warm := sync.OnceFunc(func() {
		p.warm()
		logs.Of(filepath.Dir(h.dir)).Prune(keptLogs)
	})
	return func() error { warm(); return h.holds() }
}

// runner makes runners that carry out the work of a workspace, or of the issue that it is turned to by then, in this process. Tell
// is told what work waits for.
func (h *hand) runner(w *cli.Workspace, parts func() *parts, tell func(error)) func(progress func(effect.Effect, string)) *runner.Runner {
	return func(progress func(effect.Effect, string)) *runner.Runner {
		p := parts()
		opt := p.options(h.name, progress)
		opt.Turn, opt.Holds = h.turn, h.begins(p)
		opt.Waits = func(_ effect.Effect, why error) { tell(why) }
		r := runner.New(w.Kernel, opt)
		w.Kernel.OnCommit(func(kernel.Outcome) { r.Wake() })
		return r
	}
}

// crew makes crews that work on the issues of a workspace in this process.
func (h *hand) crew(k *kernel.Kernel, parts func() *parts) func(runner.CrewOptions) (*runner.Crew, error) {
	return func(o runner.CrewOptions) (*runner.Crew, error) {
		if err := h.here(); err != nil {
			return nil, pawl.Fail(pawl.CodeIO, "store.io", h.file(h.name)).Because(err)
		}
		p := parts()
		o.Options = p.options(h.name, nil)
		o.Turn, o.Alive, o.Holds = h.turn, h.alive, h.begins(p)
		o.Lane = func(label string) runner.Kernel { return k.Lane(label) }
		if h.fill != nil {
			h.fill.close() // a command may make one crew after another
		}
		h.fill = newFiller(p.pool(max(1, o.Workers)))
		o.Tell = h.fill.after(o.Tell)
		return runner.NewCrew(k, o), nil
	}
}

// filler keeps worktrees ready beside the work of a crew.
type filler struct {
	pool   checkpoint.Pool
	stop   context.CancelFunc
	follow *follower
}

// fillAfter is how long a worktree may lack that was taken: the work that took it begins first.
const fillAfter = 200 * time.Millisecond

func newFiller(p checkpoint.Pool) *filler {
	ctx, stop := context.WithCancel(context.Background())
	// A worktree that is not ready is made when it is needed.
	return &filler{pool: p, stop: stop, follow: &follower{do: func() { _ = p.Fill(ctx) }}}
}

// after has the pool filled whenever an issue is taken whose work needs a worktree, and tells what happened on.
func (f *filler) after(tell func(runner.Happened)) func(runner.Happened) {
	return func(h runner.Happened) {
		if h.What == runner.DidTake && !h.Planning {
			f.follow.within(fillAfter)
		}
		if tell != nil {
			tell(h)
		}
	}
}

// close ends the filling and removes what is left over, so that a workspace at rest holds nothing.
func (f *filler) close() {
	f.stop()
	f.follow.close()
	_ = f.pool.Drain(context.Background()) // what cannot be removed is found by the next cleanup
}
