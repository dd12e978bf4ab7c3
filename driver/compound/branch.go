package compound

import (
	"context"

	"pawl"
	"pawl/driver/checkpoint"
	"pawl/kernel/effect"
	"pawl/sandbox/git"
	"pawl/sandbox/git/layout"
)

// branchTree is where the facts about a branch are found that is not checked out.
func branchTree(e effect.Effect) effect.Place {
	p := e.Place
	p.Tree, p.InPlace = p.Own("worktrees", "branch-"+e.Session), false
	return p
}

// branches lets effects look at branches that are not checked out.
type branches struct{ memory *git.Memory }

// leave removes the worktree that enter has made.
func (d branches) leave(ctx context.Context, p effect.Place) {
	clearBeside(context.WithoutCancel(ctx), d.memory, p)
}

// lodge is enter, and returns what ends it.
func (d branches) lodge(ctx context.Context, e *effect.Effect, branch string) (leave func(), err error) {
	tip, err := d.enter(ctx, e, branch)
	if place := e.Place; tip != "" {
		leave = func() { d.leave(ctx, place) }
		if err == nil {
			return leave, nil
		}
		leave()
	}
	return func() {}, err
}

// enter has an effect work on what a branch holds, in a worktree of its own, where another branch is checked out. It
// returns what the branch is at, and "" where the effect may look at the workspace as it is. Whoever is told of a
// commit clears the worktree.
func (d branches) enter(ctx context.Context, e *effect.Effect, branch string) (tip string, err error) {
	if branch == "" || !e.Place.Git || e.Place.InPlace {
		return "", nil
	}
	repo, err := d.memory.Open(ctx, layout.Of(e.Place).Top())
	if err != nil {
		return "", err
	}
	_, here, err := repo.Refs.Head(ctx)
	if err != nil || here == branch {
		return "", err
	}
	if tip, err = repo.Refs.Lookup(ctx, git.BranchRef(branch)); err != nil {
		return "", err
	}
	if tip == "" {
		return "", pawl.Fail(pawl.CodeEnvironment, "land.branch_gone", branch)
	}
	e.Place = branchTree(*e)
	made := checkpoint.NewWorktree(d.memory).Do(ctx, effect.Effect{ID: e.ID, Kind: effect.KindWorktree, Place: e.Place,
		Spec: effect.Encode(effect.WorktreeSpec{Base: tip})}, nil)
	return tip, made.Err()
}

// standsAt is what was found of a branch that is not checked out.
func standsAt(r effect.Receipt, tip, branch string) effect.Receipt {
	facts, err := effect.Decode[effect.ContextResult](r.Result)
	if err != nil {
		return effect.Failed(err)
	}
	facts.Head, facts.Branch = tip, branch
	r.Result = effect.Encode(facts)
	return r
}
