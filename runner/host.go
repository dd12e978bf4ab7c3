package runner

import (
	"context"
	"encoding/json"
	"sync"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/budget"
	"pawl/kernel/effect"
	"pawl/kernel/effects"
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

// Call has a tool call judged, committed, made and reported.
func (h *host) Call(ctx context.Context, a effect.Ask) (effect.Receipt, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if ctx.Err() != nil {
		return effect.Receipt{}, pawl.Fail(pawl.CodeCanceled, "runner.canceled").Because(context.Cause(ctx))
	}
	d, known := h.r.opt.Tools[a.Name]
	ask := &steps.StartToolCall{Effect: h.e.ID, Token: h.e.Token, Ask: a, Day: h.r.kernel.Now()}
	var failed error
	if p, ok := d.(Preflighter); ok {
		probe := h.e
		probe.Kind, probe.Spec = effect.KindTool, effect.Encode(effect.ToolCall{Name: a.Name, Args: a.Args})
		ask.Images, failed = p.Preflight(ctx, probe)
	}
	out, err := h.r.do(ctx, ask)
	if err != nil {
		return effect.Receipt{}, err
	}
	var made steps.Made
	if err := json.Unmarshal(out.Result, &made); err != nil {
		return effect.Receipt{}, pawl.Fail(pawl.CodeInternal, "runner.result_malformed").Because(err)
	}
	if made.Refused != nil {
		return effect.Receipt{}, made.Refused.Err()
	}
	if !known {
		failed = pawl.Fail(pawl.CodeInvalid, "kernel.tool_unknown", a.Name)
	}
	if failed == nil {
		made.Effect.Before, failed = h.r.record(ctx, *made.Effect)
	}
	receipt, tree := effect.Failed(failed), ""
	if failed == nil {
		if receipt = h.r.tries(ctx, d, *made.Effect); !receipt.OK {
			// Without the tree it is only less well known what a call did that failed anyway.
			tree, _ = h.r.record(context.WithoutCancel(ctx), *made.Effect)
		}
	} else {
		receipt.Start = h.r.kernel.Now()
		receipt.End = receipt.Start
	}
	_, err = h.r.do(context.WithoutCancel(ctx), &effects.Report{Effect: made.Effect.ID, Token: made.Effect.Token,
		Receipt: receipt, Tree: tree})
	return receipt, err
}

// Judge has a tool call judged that the agent makes itself behind its walls.
func (h *host) Judge(ctx context.Context, a effect.Ask) error {
	out, err := h.r.do(ctx, &steps.StartToolCall{Effect: h.e.ID, Token: h.e.Token, Ask: a, Judge: true,
		Day: h.r.kernel.Now()})
	if err != nil {
		return err
	}
	var made steps.Made
	if err := json.Unmarshal(out.Result, &made); err != nil {
		return pawl.Fail(pawl.CodeInternal, "runner.result_malformed").Because(err)
	}
	if made.Refused != nil {
		return made.Refused.Err()
	}
	return nil
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

// within asks the drivers of the calls that were at work in the middle of an agent's effect whether they happened.
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
		found := effects.Recovered{Answer: effect.DoneUnknown}
		if d, err := r.driver(e.Effect); err == nil {
			found.Answer, found.Receipt = d.Done(ctx, e.Effect)
		}
		if found.Receipt.Start.IsZero() {
			found.Receipt.Start = r.kernel.Now()
			found.Receipt.End = found.Receipt.Start
		}
		out[e.ID] = found
	}
	return out, ctx.Err()
}
