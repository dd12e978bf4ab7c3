package checkpoint

import (
	"context"
	"errors"

	"pawl"
	"pawl/kernel/effect"
	"pawl/sandbox/git"
)

// Worktree is the driver of effect.KindWorktree: it makes the task's own tree, from a warm one where a Pool left one
// ready. In place it only records the tree that is there. It is safe for concurrent use.
type Worktree struct{ memory *git.Memory }

// NewWorktree returns the driver of effect.KindWorktree. It shares what m remembers; m may be nil.
func NewWorktree(m *git.Memory) Worktree { return Worktree{m} }

// Do makes the worktree at the base commit, or a copy of the workspace where there is no git. It may be repeated.
func (d Worktree) Do(ctx context.Context, e effect.Effect, _ effect.Progress) effect.Receipt {
	spec, err := effect.Decode[effect.WorktreeSpec](e.Spec)
	if err != nil {
		return effect.Failed(err)
	}
	repo, err := open(ctx, d.memory, e.Place)
	if err != nil {
		return effect.Failed(err)
	}
	base, err := baseOf(ctx, repo, spec)
	if err != nil {
		return effect.Failed(err)
	}
	tree, err := makeTree(ctx, repo, base)
	if err != nil {
		return effect.Failed(err)
	}
	return effect.Succeeded(resultOf(spec, tree, base))
}

func resultOf(spec effect.WorktreeSpec, tree, base string) effect.WorktreeResult {
	r := effect.WorktreeResult{Tree: tree}
	if spec.Branch != "" {
		r.Base = base
	}
	return r
}

// baseOf is the commit to make the worktree at: where a branch is asked for, that of a worktree that stands whole
// already, or what the branch is at.
func baseOf(ctx context.Context, repo *git.Repo, spec effect.WorktreeSpec) (string, error) {
	if spec.Branch == "" || repo.InPlace() || !repo.Git() {
		return spec.Base, nil
	}
	if at, err := standing(ctx, repo); err != nil || at != "" {
		return at, err
	}
	tip, err := repo.Refs.Lookup(ctx, git.BranchRef(spec.Branch))
	if tip == "" {
		tip = spec.Base
	}
	return tip, err
}

// standing is the commit of a worktree that holds exactly what the commit does, or "".
func standing(ctx context.Context, repo *git.Repo) (string, error) {
	linked, err := git.NewLinked(repo)
	if err != nil {
		return "", nil // there is none
	}
	at, err := linked.Head(ctx)
	if err != nil || at == "" {
		return "", nil // half made
	}
	ok, err := repo.WorktreeIs(ctx, at)
	if err != nil || !ok {
		return "", err
	}
	return at, nil
}

func makeTree(ctx context.Context, repo *git.Repo, base string) (string, error) {
	switch {
	case repo.InPlace():
		if o := repo.Operation(); o != "" {
			return "", pawl.Fail(pawl.CodeRepository, "git.operation", o)
		}
		return repo.Snapshot(ctx)
	case repo.Git():
		if err := repo.Ready(ctx); err != nil {
			return "", err
		}
		return repo.AddWorktree(ctx, base)
	}
	return repo.CopyTree(ctx)
}

// Done reports whether the worktree stands with exactly the content of its base, or of a commit that its branch was at.
func (d Worktree) Done(ctx context.Context, e effect.Effect) (effect.Answer, effect.Receipt) {
	spec, err := effect.Decode[effect.WorktreeSpec](e.Spec)
	if err != nil {
		return effect.DoneUnknown, effect.Failed(err)
	}
	repo, err := open(ctx, d.memory, e.Place)
	if err != nil {
		return effect.DoneUnknown, effect.Failed(err)
	}
	if repo.InPlace() || !repo.Git() {
		return effect.DoneNo, effect.Receipt{} // recording and copying may be repeated
	}
	base := spec.Base
	if spec.Branch != "" {
		if base, err = standing(ctx, repo); err != nil || base == "" {
			return effect.DoneNo, effect.Receipt{}
		}
	}
	ok, err := repo.WorktreeIs(ctx, base)
	if err != nil || !ok {
		return effect.DoneNo, effect.Receipt{}
	}
	tree, err := repo.Objects.ResolveTree(ctx, base)
	if err != nil {
		return effect.DoneUnknown, effect.Failed(err)
	}
	return effect.DoneYes, effect.Succeeded(resultOf(spec, tree, base))
}

// Undo removes the worktree.
func (d Worktree) Undo(ctx context.Context, e effect.Effect, _ effect.Receipt) effect.Receipt {
	return Cleanup(d).Do(ctx, effect.Effect{ID: e.ID, Place: e.Place, Spec: effect.Encode(effect.CleanupSpec{})}, nil)
}

// Cleanup is the driver of effect.KindCleanup: it removes the task's worktree, its registration and temporary files,
// and what crashes left of warm worktrees. Checkpoints stay. It is safe for concurrent use.
type Cleanup struct{ memory *git.Memory }

// NewCleanup returns the driver of effect.KindCleanup. It shares what m remembers; m may be nil.
func NewCleanup(m *git.Memory) Cleanup { return Cleanup{m} }

// What a cleanup is made of, as its summary names it.
const (
	partWorktree  = "worktree"
	partTemporary = "temporary_files"
)

// Do removes what the task left and says what was done, what failed and what was skipped. It fails only where something
// could not be removed; the summary is in the receipt then as well. It may be repeated.
func (d Cleanup) Do(ctx context.Context, e effect.Effect, _ effect.Progress) effect.Receipt {
	spec, err := effect.Decode[effect.CleanupSpec](e.Spec)
	if err != nil {
		return effect.Failed(err)
	}
	repo, err := open(ctx, d.memory, e.Place)
	if err != nil {
		return effect.Failed(err)
	}
	sum := effect.CleanupResult{Performed: []string{}, Failed: []string{}, Skipped: []string{}}
	var failure error
	note := func(part string, err error) {
		if err != nil {
			sum.Failed, failure = append(sum.Failed, part), err
			return
		}
		sum.Performed = append(sum.Performed, part)
	}
	note(partTemporary, errors.Join(repo.Sweep(ctx), git.NewWarm(repo).Tidy(ctx)))
	if repo.InPlace() || spec.KeepTree {
		sum.Skipped = append(sum.Skipped, partWorktree)
	} else {
		note(partWorktree, repo.RemoveWorktree(ctx))
	}
	if failure != nil {
		return effect.FailedWith(failure, sum)
	}
	return effect.Succeeded(sum)
}

// Done always answers no: cleaning up again is the way to know that everything is gone.
func (d Cleanup) Done(context.Context, effect.Effect) (effect.Answer, effect.Receipt) {
	return effect.DoneNo, effect.Receipt{}
}
