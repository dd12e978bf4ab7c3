package runner

import (
	"context"
	"encoding/json"
	"sync"

	"pawl"
	"pawl/kernel/budget"
	"pawl/kernel/effect"
	"pawl/kernel/steps"
)

// Worker is a driver that needs pawl's word while it works: an agent.
type Worker interface {
	Work(ctx context.Context, e effect.Effect, host effect.Host, progress effect.Progress) effect.Receipt
}

// host serves one effect of an agent. Every call that the agent asks for is committed before it is made, and what a
// model call may cost is set aside before it is sent.
type host struct {
	r *Runner
	e effect.Effect
	// calls are made one after the other.
	mu sync.Mutex
}

// Call has a tool call judged, committed, made and reported. What came of it is reported even when the agent is wanted
// no longer: what was done in the middle of its work is known then before that is settled.
func (h *host) Call(ctx context.Context, ask effect.Ask) (effect.Receipt, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if ctx.Err() != nil {
		return effect.Receipt{}, pawl.Fail(pawl.CodeCanceled, "runner.canceled").Because(context.Cause(ctx))
	}
	probe := h.e
	probe.Kind, probe.Spec = effect.KindTool, effect.Encode(effect.ToolCall{Name: ask.Name, Args: ask.Args})
	a := h.r.prepare(ctx, probe)
	e, err := h.start(ctx, &steps.StartToolCall{Ask: ask, Images: a.images})
	if err != nil {
		return effect.Receipt{}, err
	}
	e.Before = a.before(ctx, *e)
	return a.finish(context.WithoutCancel(ctx), *e, func() effect.Receipt { return a.tries(ctx, *e) },
		func() error { return nil })
}

// Judge has a tool call judged that the agent makes itself behind its walls.
func (h *host) Judge(ctx context.Context, ask effect.Ask) error {
	_, err := h.start(ctx, &steps.StartToolCall{Ask: ask, Judge: true})
	return err
}

// start has a call judged, and returns it as it was committed, or why it must not be made.
func (h *host) start(ctx context.Context, c *steps.StartToolCall) (*effect.Effect, error) {
	c.Effect, c.Token, c.Day = h.e.ID, h.e.Token, h.r.kernel.Now()
	out, err := h.r.do(ctx, c)
	if err != nil {
		return nil, err
	}
	var made steps.Made
	if err := json.Unmarshal(out.Result, &made); err != nil {
		return nil, pawl.Fail(pawl.CodeInternal, "runner.result_malformed").Because(err)
	}
	if made.Refused != nil {
		return nil, made.Refused.Err()
	}
	return made.Effect, nil
}

// Reserve sets aside what a model call may cost.
func (h *host) Reserve(ctx context.Context, most effect.Usage) (func(effect.Usage), error) {
	day := h.r.kernel.Now()
	out, err := h.r.do(ctx, &budget.Reserve{Effect: h.e.ID, Token: h.e.Token, Day: day, Most: most})
	if err != nil {
		return nil, err
	}
	var id string
	if err := json.Unmarshal(out.Result, &id); err != nil {
		return nil, pawl.Fail(pawl.CodeInternal, "runner.result_malformed").Because(err)
	}
	var once sync.Once
	return func(cost effect.Usage) {
		once.Do(func() {
			// What cannot be settled stays set aside in full, which errs on the safe side.
			_, _ = h.r.do(context.WithoutCancel(ctx), &budget.Settle{Effect: h.e.ID, Day: day, Reservation: id,
				Cost: cost})
		})
	}, nil
}

// Bind keeps the agent's own session.
func (h *host) Bind(ctx context.Context, session string) error {
	_, err := h.r.do(ctx, &steps.AttachSession{Effect: h.e.ID, Token: h.e.Token, Session: session})
	return err
}
