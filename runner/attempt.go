package runner

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/effect"
	"pawl/kernel/effects"
)

// attempt is one attempt at an effect, whether the kernel asks for it or an agent in the middle of its own: what its
// driver has to say is asked, it is committed that it begins, it is done, and what came of it is reported. Whose it is
// shows in how it is committed, which is between prepare and finish.
type attempt struct {
	r      *Runner
	driver Driver
	// images are the files that the effect will change, as far as its driver knows beforehand.
	images []effect.FileImage
	// failed is why the effect cannot be done. It is begun all the same, so that this is what came of it.
	failed error
}

// prepare finds who does an effect, and has that say what it will change.
func (r *Runner) prepare(ctx context.Context, e effect.Effect) *attempt {
	a := &attempt{r: r}
	a.driver, a.failed = r.driver(e)
	if p, ok := a.driver.(Preflighter); ok && a.failed == nil {
		a.images, a.failed = p.Preflight(ctx, e)
	}
	return a
}

// before records the tree before the effect changes it.
func (a *attempt) before(ctx context.Context, e effect.Effect) (tree string) {
	if a.failed == nil {
		tree, a.failed = a.r.record(ctx, e)
	}
	return tree
}

// finish has an effect that has begun worked on, and reports what came of it. Where ctx has ended by then nothing is
// reported: the effect is found at work, as after a crash. A failure is not reported either where doubted returns an
// error, which says that it tells nothing of the effect.
func (a *attempt) finish(ctx context.Context, e effect.Effect, work func() effect.Receipt,
	doubted func() error) (receipt effect.Receipt, err error) {
	tree := ""
	if a.failed != nil {
		receipt = stamped(effect.Failed(a.failed), a.r.kernel.Now())
	} else if receipt = work(); !receipt.OK && ctx.Err() == nil {
		// Without the tree it is only less well known what an effect did that failed anyway.
		tree, _ = a.r.record(ctx, e)
	}
	if ctx.Err() != nil {
		return receipt, ctx.Err()
	}
	if err := doubted(); !receipt.OK && err != nil {
		return receipt, err
	}
	_, err = a.r.do(ctx, &effects.Report{Effect: e.ID, Token: e.Token, Receipt: receipt, Tree: tree})
	return receipt, err
}

// stamped is a receipt of what took no time, unless it says when it was.
func stamped(r effect.Receipt, at time.Time) effect.Receipt {
	if r.Start.IsZero() {
		r.Start, r.End = at, at
	}
	return r
}

// perform begins an effect that the kernel asks for, does it, and reports.
func (r *Runner) perform(ctx context.Context, doc *kernel.EffectDoc) error {
	if wanted, err := r.inTurn(ctx, doc); err != nil || !wanted {
		return err
	}
	a := r.prepare(ctx, doc.Effect)
	tree := a.before(ctx, doc.Effect)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err := r.opt.Holds(); a.failed != nil && err != nil {
		return err
	}
	out, err := r.do(ctx, &effects.Begin{Effect: doc.ID, Owner: r.opt.Owner, Day: r.kernel.Now(), Images: a.images,
		Tree: tree})
	if err != nil {
		return err
	}
	var e effect.Effect
	if err := json.Unmarshal(out.Result, &e); err != nil {
		return pawl.Fail(pawl.CodeInternal, "runner.result_malformed").Because(err)
	}
	if e.ID == "" { // it was refused, and has failed
		return nil
	}
	r.begun[doc.ID] = true
	defer delete(r.begun, doc.ID)
	_, err = a.finish(ctx, e, func() effect.Receipt { return a.watched(ctx, e) }, r.opt.Holds)
	if errors.Is(err, pawl.ErrFenced) {
		return nil
	}
	return err
}

// watched makes the tries at an effect, and stops them when the kernel's state says that it is no longer wanted.
func (a *attempt) watched(ctx context.Context, e effect.Effect) effect.Receipt {
	work, stop := context.WithCancel(ctx)
	defer stop()
	watched := make(chan struct{})
	over := make(chan struct{})
	go func() {
		defer close(watched)
		a.r.watch(ctx, over, stop, e)
	}()
	defer func() { close(over); <-watched }()
	return a.tries(work, e)
}

// tries makes one try, and again after each of the effect's delays while it fails in a way that may pass.
func (a *attempt) tries(ctx context.Context, e effect.Effect) effect.Receipt {
	ctx, end := a.r.opt.Log(ctx, e)
	defer end()
	ctx, taken := a.r.opt.Taking(ctx)
	for n := 0; ; n++ {
		start := a.r.kernel.Now()
		receipt := a.once(ctx, e)
		receipt.Start, receipt.End, receipt.Attempts = start, a.r.kernel.Now(), n+1
		receipt.Taken = taken()
		if receipt.OK || n >= len(e.Delays) || !passing(receipt.Class) || ctx.Err() != nil {
			return receipt
		}
		timer := time.NewTimer(e.Delays[n])
		select {
		case <-ctx.Done():
		case <-timer.C:
		}
		timer.Stop()
	}
}

// once makes one try within its time. A driver that panics has failed; it must not take the runner with it.
func (a *attempt) once(ctx context.Context, e effect.Effect) (receipt effect.Receipt) {
	if e.Timeout > 0 {
		var cancel context.CancelFunc
		// The driver's own limit fires first and ends in an orderly way; this one is for a driver that hangs.
		ctx, cancel = context.WithTimeout(ctx, e.Timeout+15*time.Second)
		defer cancel()
	}
	defer func() {
		if p := recover(); p != nil {
			receipt = effect.Failed(pawl.Fail(pawl.CodeInternal, "runner.driver_crashed", string(e.Kind), p))
		}
	}()
	progress := func(line string) { a.r.opt.Progress(e, line) }
	if w, ok := a.driver.(Worker); ok {
		return w.Work(ctx, e, &host{r: a.r, e: e}, progress)
	}
	return a.driver.Do(ctx, e, progress)
}

// passing reports whether a failure of the class may pass by itself.
func passing(c pawl.Class) bool { return c == pawl.ClassIO || c == pawl.ClassToolTimeout }

// recover settles an effect that a dead runner left at work, with the calls that were at work in the middle of it.
func (r *Runner) recover(ctx context.Context, e *kernel.EffectDoc) error {
	r.opt.Progress(e.Effect, "")
	c := &effects.Recover{Effect: e.ID}
	c.Answer, c.Receipt = r.happened(ctx, e.Effect)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err := r.opt.Holds(); c.Answer != effect.DoneYes && err != nil {
		return err
	}
	var err error
	if c.Answer != effect.DoneYes {
		if c.Tree, err = r.record(ctx, e.Effect); err != nil {
			return err
		}
	}
	if c.Within, err = r.within(ctx, e); err != nil {
		return err
	}
	_, err = r.do(ctx, c)
	return err
}

// within asks whether the calls happened that were at work in the middle of an agent's effect.
func (r *Runner) within(ctx context.Context, parent *kernel.EffectDoc) (map[string]effects.Recovered, error) {
	if !parent.What().Agent() {
		return nil, nil
	}
	calls, err := r.kernel.ToolCalls(ctx, parent.ID)
	if err != nil {
		return nil, err
	}
	out := map[string]effects.Recovered{}
	for _, e := range calls {
		answer, receipt := r.happened(ctx, e.Effect)
		out[e.ID] = effects.Recovered{Answer: answer, Receipt: receipt}
	}
	return out, ctx.Err()
}

// happened asks the driver of an effect whose outcome was lost.
func (r *Runner) happened(ctx context.Context, e effect.Effect) (effect.Answer, effect.Receipt) {
	answer, receipt := effect.DoneUnknown, effect.Receipt{}
	if d, err := r.driver(e); err == nil {
		answer, receipt = d.Done(ctx, e)
	}
	return answer, stamped(receipt, r.kernel.Now())
}

// record records the tree of an effect that asks for it.
func (r *Runner) record(ctx context.Context, e effect.Effect) (string, error) {
	if !e.Record || r.opt.Record == nil {
		return "", nil
	}
	return r.opt.Record(ctx, e.Place)
}
