package land

import (
	"context"
	"strings"

	"pawl"
	"pawl/kernel/effect"
	"pawl/sandbox/git"
	"pawl/sandbox/git/layout"
)

// Revert is the driver of effect.KindRevert: it takes a landed commit back by a commit that undoes it, by the same
// rules as landing. It is safe for concurrent use.
type Revert struct{ memory *git.Memory }

// NewRevert returns the driver of effect.KindRevert. It shares what m remembers; m may be nil.
func NewRevert(m *git.Memory) Revert { return Revert{m} }

// Do makes the commit that undoes another on top of what the branch is by now. It fails with CodeConflict, and nothing
// has changed, where later commits touched the same lines. It may be repeated.
func (d Revert) Do(ctx context.Context, e effect.Effect, _ effect.Progress) effect.Receipt {
	result, err := d.revert(ctx, e)
	if err != nil {
		return effect.Failed(err)
	}
	return effect.Succeeded(result)
}

// Done reports whether the journal of the effect is complete, and completes it when the reference has moved.
func (d Revert) Done(ctx context.Context, e effect.Effect) (effect.Answer, effect.Receipt) {
	return done(ctx, d.memory, e)
}

func (d Revert) revert(ctx context.Context, e effect.Effect) (effect.LandResult, error) {
	spec, err := effect.Decode[effect.RevertSpec](e.Spec)
	if err != nil {
		return effect.LandResult{}, err
	}
	repo, err := open(ctx, d.memory, e.Place)
	if err != nil {
		return effect.LandResult{}, err
	}
	if result, ok, err := resume(ctx, repo, e.ID); ok || err != nil {
		return result, err
	}
	if !repo.Git() {
		return effect.LandResult{}, pawl.Fail(pawl.CodeRepository, "land.no_history")
	}
	tip, err := revertTip(ctx, repo, spec)
	if err != nil {
		return effect.LandResult{}, err
	}
	tree, err := revertedTree(ctx, repo, tip, spec.Commit)
	if err != nil {
		return effect.LandResult{}, err
	}
	from, err := repo.Objects.ResolveTree(ctx, tip)
	if err != nil {
		return effect.LandResult{}, err
	}
	j := job{
		repo: repo, id: e.ID, base: tip, from: from, to: tree, branch: spec.Branch, keep: spec.Keep,
		message: message(spec.Subject, spec.Body, spec.Trailers), at: spec.At,
	}
	return j.land(ctx)
}

// revertTip is the commit that the undoing one goes on top of. The commit to undo must be in its history.
func revertTip(ctx context.Context, repo *git.Repo, spec effect.RevertSpec) (tip string, err error) {
	if spec.Branch == "" {
		tip, _, err = repo.Refs.Head(ctx)
	} else {
		tip, err = repo.Refs.Lookup(ctx, git.BranchRef(spec.Branch))
	}
	if err != nil {
		return "", err
	}
	in, err := repo.Objects.Contains(ctx, tip, spec.Commit)
	if err == nil && !in {
		err = pawl.Fail(pawl.CodeConflict, "land.revert_absent", spec.Commit, spec.Branch)
	}
	return tip, err
}

// revertedTree is the tree of tip without the change of a commit: the merge of tip with a commit that stands on the one
// to undo and has its parent's tree.
func revertedTree(ctx context.Context, repo *git.Repo, tip, commit string) (string, error) {
	c, err := repo.Objects.ReadCommit(ctx, commit)
	if err != nil {
		return "", err
	}
	if len(c.Parents) != 1 {
		return "", pawl.Fail(pawl.CodeInvalid, "land.revert_shape", commit)
	}
	before, err := repo.Objects.ResolveTree(ctx, c.Parents[0])
	if err != nil || tip == commit {
		return before, err
	}
	inverse, err := repo.Objects.WriteCommit(ctx,
		git.Commit{Tree: before, Parents: []string{commit}, Message: "inverse\n", By: layout.Pawl, At: c.At})
	if err != nil {
		return "", err
	}
	tree, conflicts, err := repo.Objects.Combine(ctx, tip, inverse)
	if err == nil && len(conflicts) > 0 {
		err = pawl.Fail(pawl.CodeConflict, "land.revert_conflict", git.Listing(conflicts), commit)
	}
	return tree, err
}

// Undo takes a landing back: a landed commit by one that undoes it, a kept one by removing its branch, changes in a
// folder by restoring the files that are still as pawl left them.
func (d Land) Undo(ctx context.Context, e effect.Effect, r effect.Receipt) effect.Receipt {
	result, err := d.undo(ctx, e, r)
	if err != nil {
		return effect.Failed(err)
	}
	return effect.Succeeded(result)
}

func (d Land) undo(ctx context.Context, e effect.Effect, r effect.Receipt) (effect.LandResult, error) {
	landed, err := effect.Decode[effect.LandResult](r.Result)
	if err != nil {
		return landed, err
	}
	spec, err := effect.Decode[effect.LandSpec](e.Spec)
	if err != nil {
		return landed, err
	}
	repo, err := open(ctx, d.memory, e.Place)
	if err != nil {
		return landed, err
	}
	switch landed.Outcome {
	case effect.Empty:
		return landed, nil
	case effect.Kept:
		return effect.LandResult{Outcome: effect.Empty, Tree: landed.Tree}, repo.Refs.Delete(ctx,
			git.BranchRef(landed.Branch), landed.Commit)
	case effect.InPlace:
		if spec.Start == "" {
			err = pawl.Fail(pawl.CodeInvalid, "land.no_start")
		} else {
			_, err = repo.Workspace().Restore(ctx, git.Restoration{Target: spec.Start, Expect: spec.Tree})
		}
		return effect.LandResult{Outcome: effect.InPlace, Tree: spec.Start, Reason: reasonPlainFolder}, err
	}
	e.ID += "-undo"
	subject := "Revert \"" + strings.TrimSpace(oneLine(spec.Subject)) + "\""
	e.Spec = effect.Encode(effect.RevertSpec{
		Commit: landed.Commit, Branch: landed.Branch, Keep: spec.Keep +
			"-undo", Subject: subject, Trailers: spec.Trailers, At: r.End,
	})
	return Revert(d).revert(ctx, e)
}
