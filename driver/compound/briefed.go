package compound

import (
	"context"

	"pawl/agent"
	"pawl/driver/contextpack"
	"pawl/kernel/effect"
	"pawl/sandbox/git"
)

// Briefed shows an agent that begins a repair the places that the failure points at, as they are in the task's own
// tree. The pack of the run was built for the requirement, before anything failed.
//
// A plan for a branch that is not checked out is made where that branch is: the workspace holds another one's files.
type Briefed struct {
	agent.Set
	packs Packer
	branches
	// Secrets, where it is set, tells what is taken out of what agents say.
	Secrets Secrets
}

// NewBriefed returns the driver of what agents of a set do, with packs by packs. It shares what m remembers.
func NewBriefed(s agent.Set, packs Packer, m *git.Memory) Briefed {
	return Briefed{Set: s, packs: packs, branches: branches{m}}
}

// Work hands an effect to its agent, with a new pack where a repair begins. Where none can be built the agent gets the
// one that the run has.
func (b Briefed) Work(ctx context.Context, e effect.Effect, host effect.Host, progress effect.Progress) effect.Receipt {
	switch e.Kind {
	case effect.KindPlan:
		return b.plan(ctx, e, host, progress)
	case effect.KindReview:
		return b.review(ctx, e, host, progress)
	}
	r := b.work(ctx, e, host, progress)
	if e.Kind == effect.KindWork && b.Secrets != nil {
		r = unsaid(r, b.Secrets(e.Place.Workspace))
	}
	return r
}

// work has an agent work on a step or a repair.
func (b Briefed) work(ctx context.Context, e effect.Effect, host effect.Host, progress effect.Progress) effect.Receipt {
	spec, err := effect.Decode[effect.WorkSpec](e.Spec)
	if e.Kind != effect.KindWork || err != nil || spec.Failure == nil || len(spec.Messages) > 0 ||
		spec.Context.Pack == nil || spec.Context.Pack.Budget.Total < 1 {
		return b.Set.Work(ctx, e, host, progress)
	}
	pack, err := b.packs.Build(ctx, contextpack.Ask{
		Place: e.Place, Requirement: spec.Goal, Said: []string{agent.FailureText(*spec.Failure)},
		Tokens: spec.Context.Pack.Budget.Total, Recent: spec.Recent,
	})
	if err != nil {
		return b.Set.Work(ctx, e, host, progress)
	}
	spec.Context.Pack = &pack
	e.Spec = effect.Encode(spec)
	r := b.Set.Work(ctx, e, host, progress)
	if result, err := effect.Decode[effect.WorkResult](r.Result); err == nil && r.OK {
		note := pack.Note()
		result.Pack = &note
		r.Result = effect.Encode(result)
	}
	return r
}

// plan has a plan made from what the branch holds that it is for.
func (b Briefed) plan(ctx context.Context, e effect.Effect, host effect.Host, progress effect.Progress) effect.Receipt {
	spec, err := effect.Decode[effect.PlanSpec](e.Spec)
	if err == nil && len(spec.Given) == 0 {
		leave, err := b.lodge(ctx, &e, spec.Context.Branch)
		if err != nil {
			return effect.Failed(err)
		}
		defer leave()
	}
	return b.Set.Work(ctx, e, host, progress)
}

// Do is Work without a host.
func (b Briefed) Do(ctx context.Context, e effect.Effect, progress effect.Progress) effect.Receipt {
	return b.Work(ctx, e, nil, progress)
}
