package contextpack

import (
	"context"

	"pawl"
	"pawl/kernel/effect"
	"pawl/sandbox/safeopen"
)

// Builder builds packs of the files that Walk visits. It is safe for concurrent use.
type Builder struct{ Walk Walk }

// The shares of a budget, with the most tokens of each. What a part does not use is left for the snippets, which come
// last and are what an agent reads.
var shares = struct{ recent, summary, constraints, hits share }{
	recent: share{30, 1 << 30}, summary: share{10, 160}, constraints: share{12, 220}, hits: share{14, 240},
}

type share struct{ percent, most int }

func (s share) of(total int) int { return min(s.most, total*s.percent/100) }

// Build builds a pack for the tree of a place; a place whose tree is not made yet is described by its workspace. Files
// that were left out are named in Degraded and are no error. The errors are CodeInvalid for a budget below 1,
// CodeCanceled, and those of opening and listing the tree.
func (b Builder) Build(ctx context.Context, a Ask) (effect.ContextPack, error) {
	const op = "contextpack.Build"
	if a.Tokens < 1 {
		return effect.ContextPack{}, pawl.Fail(pawl.CodeInvalid, "context.no_budget", a.Tokens).In(op)
	}
	root, err := safeopen.OpenRoot(a.Place.Tree)
	if pawl.CodeOf(err) == pawl.CodeNotFound || a.Place.Tree == "" {
		root, err = safeopen.OpenRoot(a.Place.Workspace)
	}
	if err != nil {
		return effect.ContextPack{}, err
	}
	defer root.Close()
	q := ask(a.text())
	s, err := scan(ctx, root, b.Walk, q)
	if ctx.Err() != nil {
		return effect.ContextPack{}, pawl.Fail(pawl.CodeCanceled, "context.canceled").In(op).Because(context.Cause(ctx))
	}
	if err != nil {
		return effect.ContextPack{}, err
	}
	r := rank(q, s, root)
	pieces := r.pieces()
	total := a.Tokens
	out := effect.ContextPack{Lexical: effect.LexicalScan,
		Budget: effect.TokenBudget{Total: total, Limits: limitsFor(total)}}
	if s.cut {
		out.Degraded = []string{"context.too_many"}
	}
	out.RecentActions = recentActions(a.Recent, shares.recent.of(total))
	out.WorkspaceSummary = s.summary(shares.summary.of(total))
	out.Constraints = constraints(root, a.Place.Workspace, shares.constraints.of(total))
	out.Hits = hits(pieces, shares.hits.of(total))
	out.Snippets = r.snippets(pieces, out.Budget.Limits, total-Cost(out))
	out.Budget.Used = Cost(out)
	return out, nil
}

// limitsFor bounds the snippets of a pack by its size.
func limitsFor(tokens int) effect.PackLimits {
	return effect.PackLimits{MaxSnippets: max(1, min(40, tokens/150)), MaxLinesPerSnippet: 120}
}
