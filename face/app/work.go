package app

import (
	"context"
	"io"
	"sync"
	"time"

	"pawl"
	"pawl/driver/checkpoint"
	"pawl/face/host"
	"pawl/face/upkeep"
	"pawl/kernel"
	"pawl/kernel/effect"
	"pawl/runner"
	"pawl/store/logs"
	"pawl/store/presence"
)

// work is what carries out the work of a workspace in this process.
type work struct {
	me     *presence.Process
	of     *host.Workspace // whose Kernel may be turned to an issue until its work begins
	kernel *kernel.Kernel  // that of the workspace itself
	parts  func() *parts
	lease  time.Duration // how long a claim lasts
	tell   func(error)   // is told what the work waits for
	keep   *upkeep.Upkeep
	fill   *checkpoint.Filler // keeps worktrees ready for the crew, nil while there is none
}

// begins is asked before work begins (runner.Options.Holds). A command that ends without any starts no launcher.
func (w *work) begins(p *parts) func() error {
	warm := sync.OnceFunc(p.warm)
	return func() error {
		warm()
		w.of.Notices.Start()
		w.keep.Begin()
		return w.of.Holds()
	}
}

// runner makes runners that carry out the work of the workspace, or of the issue that it is turned to by then.
func (w *work) runner(progress func(effect.Effect, string)) *runner.Runner {
	p := w.parts()
	opt := p.options(w.me.Name(), progress)
	opt.Turn, opt.Holds = w.me.Turn, w.begins(p)
	opt.Waits = func(_ effect.Effect, why error) { w.tell(why) }
	r := runner.New(w.of.Kernel, opt)
	w.of.Kernel.OnCommit(func(kernel.Outcome) { r.Wake() })
	return r
}

// crew makes crews that work on the issues of the workspace.
func (w *work) crew(o runner.PoolOptions) (*runner.Pool, error) {
	if err := w.me.Here(); err != nil {
		return nil, pawl.Fail(pawl.CodeIO, "store.io", w.me.File()).Because(err)
	}
	p := w.parts()
	o.Options = p.options(w.me.Name(), nil)
	o.Turn, o.Alive, o.Holds, o.Lease = w.me.Turn, w.me.Alive, w.begins(p), w.lease
	o.Session = func(label string) runner.Kernel { return w.kernel.Session(label) }
	w.close() // a command may make one crew after another
	fill := checkpoint.NewFiller(p.pool(max(1, o.Workers)))
	w.fill, o.Tell = fill, taking(fill, o.Tell)
	return runner.NewPool(w.kernel, o), nil
}

// taking has worktrees made ready whenever an issue is taken whose work needs one, and tells what happened on.
func taking(f *checkpoint.Filler, tell func(runner.Happened)) func(runner.Happened) {
	return func(h runner.Happened) {
		if h.What == runner.DidTake && !h.Planning {
			f.Taken()
		}
		if tell != nil {
			tell(h)
		}
	}
}

// close ends what works beside a crew.
func (w *work) close() {
	if w.fill != nil {
		w.fill.Close()
	}
}

// keepLogs keeps what the drivers of an effect write in the workspace that it works for.
func (p *parts) keepLogs(ctx context.Context, e effect.Effect) (context.Context, func()) {
	return logs.Of(e.Place.Own()).Record(ctx, e.ID, func(emit func([]byte)) io.WriteCloser {
		return p.secrets(e.Place.Workspace).Writer(emit)
	})
}
