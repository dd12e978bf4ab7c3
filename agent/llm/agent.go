package llm

import (
	"context"
	"time"

	"pawl"
	"pawl/agent"
	"pawl/kernel/effect"
	"pawl/text/plan"
)

// Name is how the agent signs.
const Name = "llm"

// Config is what an agent is made of.
type Config struct {
	// Provider answers. Where it is nil, Connect returns it: it is called before the first exchange and, while it
	// fails, before each.
	Provider Provider
	Connect  func() (Provider, error)
	// Intent, Planning, Work and Review are the models by purpose; Fallbacks are tried in order where one cannot
	// answer.
	Intent, Planning, Work, Review string
	Fallbacks                      []string
	// Tools are the tools that the model may ask for; Limits bound its plans, the zero value as plan.Limits says.
	Tools  []effect.ToolInfo
	Limits plan.Limits
	// Window is the size of the models' context, 0 for what is known of each, and MaxOut that of an answer, in tokens.
	Window, MaxOut int64
	// Price returns what a model costs, and whether it is known; KnownPrice unless set.
	Price func(model string) (Price, bool, error)
	// Limit bounds one exchange with all its tries, 10 minutes unless set. A stream that trickles for ever ends there.
	Limit time.Duration
	// Pause waits between two tries; it is set by tests.
	Pause func(context.Context, time.Duration) error
	// Chinese writes prompts in Chinese.
	Chinese bool
}

// Agent is a model as an agent. It is safe for concurrent use.
type Agent struct {
	config   Config
	settings Settings
	once     connecting
}

// New returns an agent. Nothing is read or dialled before its first exchange.
func New(c Config) *Agent {
	if c.MaxOut <= 0 {
		c.MaxOut = 8192
	}
	if c.Limit <= 0 {
		c.Limit = 10 * time.Minute
	}
	if c.Price == nil {
		c.Price = func(model string) (Price, bool, error) { p, ok := KnownPrice(model); return p, ok, nil }
	}
	if c.Pause == nil {
		c.Pause = pause
	}
	if c.Provider != nil {
		c.Connect = func() (Provider, error) { return c.Provider, nil }
	}
	c.Intent, c.Planning, c.Review = first(c.Intent, c.Work), first(c.Planning, c.Work), first(c.Review, c.Work)
	return &Agent{config: c}
}

func first(list ...string) string {
	for _, s := range list {
		if s != "" {
			return s
		}
	}
	return ""
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

// Info describes the agent.
func (a *Agent) Info() agent.Info {
	return agent.Info{Name: Name, Kind: agent.KindModel, Works: true, Intakes: true, Reads: true}
}

// Done says no: an exchange whose answer was lost is had again. What it cost was counted in full.
func (a *Agent) Done(context.Context, effect.Effect) (effect.Answer, effect.Receipt) {
	return effect.DoneNo, effect.Receipt{}
}

// Do answers an effect of an agent: agent.intake, agent.plan, agent.work, agent.repair, agent.review and agent.rewrite.
// Any other kind is CodeInternal. An exchange that failed is CodeModel, and CodeLogin where the key is missing or
// refused; CodeBudget where the host set nothing aside, so that nothing was sent; CodeCanceled or CodeTimeout when the
// context ended.
func (a *Agent) Do(ctx context.Context, e effect.Effect, host effect.Host, progress effect.Progress) effect.Receipt {
	start := time.Now()
	if progress == nil {
		progress = func(string) {}
	}
	r := a.do(ctx, e, exchange{a: a, host: host, progress: progress, chinese: a.config.Chinese})
	r.Start, r.End, r.Attempts = start, time.Now(), 1
	return r
}

func (a *Agent) do(ctx context.Context, e effect.Effect, x exchange) effect.Receipt {
	if ctx.Err() != nil {
		return effect.Failed(ended(ctx))
	}
	switch e.Kind {
	case effect.KindIntake:
		return receipt(x.intake(ctx, e))
	case effect.KindPlan:
		return receipt(x.plan(ctx, e))
	case effect.KindReview:
		return receipt(x.review(ctx, e))
	case effect.KindRewrite:
		return receipt(x.rewrite(ctx, e))
	case effect.KindWork:
		return receipt(x.work(ctx, e))
	case effect.KindRepair:
		return receipt(mend(e))
	}
	return effect.Failed(pawl.Fail(pawl.CodeInternal, "llm.foreign_effect", string(e.Kind)).In("llm.Do"))
}

func receipt[T any](result T, err error) effect.Receipt {
	if err != nil {
		return effect.Failed(err)
	}
	return effect.Succeeded(result)
}

// mend proposes a repair: one step, in which the model finds out what is wrong. What the machine lacks no model mends.
func mend(e effect.Effect) (effect.RepairResult, error) {
	spec, err := effect.Decode[effect.RepairSpec](e.Spec)
	if err != nil {
		return effect.RepairResult{}, err
	}
	lacking := spec.Failure.Code == pawl.CodeEnvironment
	for _, c := range spec.Failure.Checks {
		lacking = lacking || c.Environment
	}
	if lacking {
		return effect.RepairResult{Said: effect.Said{Agent: Name}, Why: "llm.machine_lacks"}, nil
	}
	return agent.Mend(spec, effect.Said{Agent: Name}), nil
}
