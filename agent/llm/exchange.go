package llm

import (
	"context"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"pawl"
	"pawl/agent"
	"pawl/agent/wire"
	"pawl/kernel/effect"
	"pawl/store/logs"
)

// exchange is one effect at work.
type exchange struct {
	a        *Agent
	host     effect.Host
	progress effect.Progress
	chinese  bool // of the prompts
}

// ask has one exchange, within the budget, with the first model that can answer.
func (x exchange) ask(ctx context.Context, purpose, model string, r Request) (Reply, effect.Said, error) {
	p := agent.Rules(purpose, x.chinese)
	r.System = p.Text
	said := effect.Said{Agent: Name, Prompt: p.Digest}
	if model == "" {
		return Reply{}, said, pawl.Fail(pawl.CodeEnvironment, "llm.no_model").In("llm.Do")
	}
	if x.host == nil {
		return Reply{}, said, pawl.Fail(pawl.CodeInternal, "llm.no_host").In("llm.Do")
	}
	provider, err := x.a.provider()
	if err != nil {
		return Reply{}, said, err
	}
	var failed error
	for _, m := range append([]string{model}, x.a.config.Fallbacks...) {
		r.Model = m
		reply, err := x.persist(ctx, provider, r)
		said.Model, said.Usage = first(reply.Model, m), said.Usage.Plus(reply.Usage)
		if err == nil {
			return reply, said, nil
		}
		err = unknownModel(ctx, provider, m, err)
		// The first model is the one that was wanted, so its failure is the one to tell of, unless there is a graver
		// one.
		another := pawl.CodeOf(err) == pawl.CodeModel || pawl.CodeOf(err) == pawl.CodeEnvironment
		if failed == nil || !another {
			failed = err
		}
		if !another {
			break
		}
	}
	return Reply{}, said, failed
}

// lister is a provider that can say which models it has.
type lister interface {
	Models(context.Context) ([]string, error)
}

// maxListed is how many models an explanation names.
const maxListed = 12

// unknownModel says which models there are where the one that was asked for is not among them.
func unknownModel(ctx context.Context, provider Provider, model string, err error) error {
	var e *pawl.Error
	l, can := provider.(lister)
	if !can || !errors.As(err, &e) || e.Key != "llm.not_found" {
		return err
	}
	names, listErr := l.Models(ctx)
	if listErr != nil || len(names) == 0 || slices.Contains(names, wire.BareModel(model)) {
		return err
	}
	if near := pawl.Suggest(model, names); near != "" {
		names = append([]string{near}, slices.DeleteFunc(names, func(n string) bool { return n == near })...)
	}
	if len(names) > maxListed {
		names = append(names[:maxListed:maxListed], "…")
	}
	return pawl.Fail(pawl.CodeEnvironment, "llm.not_found_near", e.Args[0], model,
		line(strings.Join(names, ", "))).Because(err).In("llm.Do")
}

// noFault is the error of a provider that does not answer, which is no fault of the work: no repair of it mends that.
func noFault(err error) error {
	var e *pawl.Error
	if !errors.As(err, &e) || e.Code != pawl.CodeModel {
		return err
	}
	c := *e
	c.Code = pawl.CodeEnvironment
	return &c
}

// persist has one exchange with one model, and has it again while it fails in passing.
func (x exchange) persist(ctx context.Context, provider Provider, r Request) (Reply, error) {
	r.MaxOut = x.a.room(r.Model)
	in := estimate(r)
	if window := x.a.window(r.Model); in+r.MaxOut > window {
		figures := strconv.FormatInt(in, 10) + " + " + strconv.FormatInt(r.MaxOut, 10) + " > " +
			strconv.FormatInt(window, 10)
		return Reply{}, pawl.Fail(pawl.CodeModel, "llm.prompt_too_long", figures).In("llm.Do")
	}
	ctx, cancel := context.WithTimeoutCause(ctx, x.a.config.Limit, errSlow)
	defer cancel()
	var spent effect.Usage
	for try := 0; ; try++ {
		reply, err := x.once(ctx, provider, r, in)
		spent = spent.Plus(reply.Usage)
		reply.Usage = spent
		var p *problem
		if err == nil || !errors.As(err, &p) {
			return reply, err
		}
		if try >= len(delays) {
			return reply, noFault(p.error)
		}
		if x.a.config.Pause(ctx, max(p.after, delays[try])) != nil {
			return reply, ended(ctx)
		}
	}
}

// once sends a request once: what it may cost is set aside before, and settled after it with what it did cost.
func (x exchange) once(ctx context.Context, provider Provider, r Request, in int64) (reply Reply, err error) {
	if ctx.Err() != nil {
		return Reply{}, ended(ctx)
	}
	price, known, err := x.a.config.Price(r.Model)
	if err != nil {
		return Reply{}, err
	}
	most := price.of(effect.Usage{Requests: 1, InTokens: in, OutTokens: r.MaxOut}, in, known)
	settle, err := x.host.Reserve(ctx, most)
	if err != nil {
		return Reply{}, err
	}
	// Should the provider's code fail in a way that nobody thought of, all of it counts.
	cost := most
	defer func() { settle(cost) }()
	out := lines{out: func(l string) { x.progress(logs.Mask(ctx, l)) }, log: logs.New(ctx, Name)}
	if r.Name != "" {
		out.out = func(string) {} // a document is nothing to be read while it comes; the log has it
	}
	reply, err = provider.Stream(ctx, r, out.add)
	out.end()
	_, _ = io.WriteString(out.log, "\n")
	used := charged(reply, in, err == nil)
	cost = price.of(used, min(max(reply.Written, 0), used.InTokens), known)
	reply.Usage = cost
	return reply, err
}

// charged is what an exchange cost: what the provider says of it and, as far as it says nothing or was cut off, what it
// must have cost by what went over the wire. Figures that make no sense are not taken.
func charged(r Reply, in int64, whole bool) effect.Usage {
	u := r.Usage
	u.Requests = 1
	u.InTokens, u.OutTokens, u.CachedTokens = sane(u.InTokens), sane(u.OutTokens), sane(u.CachedTokens)
	if u.InTokens == 0 && r.Begun {
		u.InTokens = in
	}
	if u.OutTokens == 0 || !whole {
		u.OutTokens = max(u.OutTokens, r.Seen)
	}
	u.CachedTokens = min(u.CachedTokens, u.InTokens)
	return u
}

func sane(tokens int64) int64 { return min(max(tokens, 0), 1e9) }
