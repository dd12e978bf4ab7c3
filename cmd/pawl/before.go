package main

import (
	"context"
	"os"
	"path/filepath"

	"pawl"
	"pawl/driver/checkpoint"
	"pawl/driver/verify"
	"pawl/effect"
	"pawl/sandbox/git"
	"pawl/workspace"
)

// before runs checks on a commit as well: in a worktree beside the task's own, behind the same walls, which is gone afterwards.
type before struct {
	*verify.Verify
	memory *git.Memory
}

// Do runs the checks where the spec says.
func (b before) Do(ctx context.Context, e effect.Effect, progress effect.Progress) effect.Receipt {
	spec, err := effect.Decode[effect.VerifySpec](e.Spec)
	if err != nil || spec.At == "" {
		return b.Verify.Do(ctx, e, progress)
	}
	e.Place = beside(e.Place)
	defer clearBeside(context.WithoutCancel(ctx), b.memory, e.Place)
	made := checkpoint.NewWorktree(b.memory).Do(ctx, effect.Effect{ID: e.ID, Kind: effect.KindWorktree, Place: e.Place, Spec: effect.Encode(effect.WorktreeSpec{Base: spec.At})}, nil)
	if !made.OK {
		return made
	}
	return b.Verify.Do(ctx, e, progress)
}

// beside is where a task's checks run on what its work started from.
func beside(p effect.Place) effect.Place {
	p.Tree += "-before"
	return p
}

// leftBeside reports whether a crash left something of that worktree: its folder, or its registration with git.
func leftBeside(task effect.Place) bool {
	tree := beside(task).Tree
	_, folder := os.Lstat(tree)
	_, known := os.Lstat(filepath.Join(task.Workspace, ".git", "worktrees", filepath.Base(tree)))
	return !task.InPlace && (folder == nil || known == nil)
}

// clearBeside removes that worktree and what was kept for it. What cannot be removed now goes with the task's own.
func clearBeside(ctx context.Context, m *git.Memory, p effect.Place) {
	_ = verify.Forget(p)
	_ = checkpoint.NewCleanup(m).Do(ctx, effect.Effect{Kind: effect.KindCleanup, Place: p, Spec: effect.Encode(effect.CleanupSpec{})}, nil)
}

// branchTree is where the facts about a branch are found that is not checked out.
func branchTree(e effect.Effect) effect.Place {
	p := e.Place
	p.Tree, p.InPlace = filepath.Join(p.Workspace, workspace.Dir, "worktrees", "branch-"+e.Session), false
	return p
}

// elsewhere lets effects look at branches that are not checked out.
type elsewhere struct{ memory *git.Memory }

// leave removes the worktree that enter has made.
func (d elsewhere) leave(ctx context.Context, p effect.Place) {
	clearBeside(context.WithoutCancel(ctx), d.memory, p)
}

// lodge is enter, and returns what ends it.
func (d elsewhere) lodge(ctx context.Context, e *effect.Effect, branch string) (leave func(), err error) {
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

// enter has an effect work on what a branch holds, in a worktree of its own, where another branch is checked out. It returns what
// the branch is at, and "" where the effect may look at the workspace as it is. Whoever is told of a commit clears the worktree.
func (d elsewhere) enter(ctx context.Context, e *effect.Effect, branch string) (tip string, err error) {
	if branch == "" || !e.Place.Git || e.Place.InPlace {
		return "", nil
	}
	repo, err := d.memory.Open(ctx, git.Place{Workspace: e.Place.Workspace, Tree: e.Place.Workspace, Git: true})
	if err != nil {
		return "", err
	}
	_, here, err := repo.Head(ctx)
	if err != nil || here == branch {
		return "", err
	}
	if tip, err = repo.Ref(ctx, git.BranchRef(branch)); err != nil {
		return "", err
	}
	if tip == "" {
		return "", pawl.Fail(pawl.CodeEnvironment, "land.branch_gone", branch)
	}
	e.Place = branchTree(*e)
	made := checkpoint.NewWorktree(d.memory).Do(ctx, effect.Effect{ID: e.ID, Kind: effect.KindWorktree, Place: e.Place, Spec: effect.Encode(effect.WorktreeSpec{Base: tip})}, nil)
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

// branchOf returns the name of a branch if there is one, and of the one that is checked out for "".
func branchOf(place effect.Place) func(ctx context.Context, name string) (string, error) {
	return func(ctx context.Context, name string) (string, error) {
		if !place.Git {
			if name != "" {
				return "", pawl.Fail(pawl.CodeRepository, "git.not_repository", place.Workspace)
			}
			return "", nil
		}
		memory := &git.Memory{}
		repo, err := memory.Open(ctx, git.Place{Workspace: place.Workspace, Tree: place.Workspace, Git: true})
		if err != nil {
			return "", err
		}
		if name == "" {
			_, name, err = repo.Head(ctx)
			return name, err
		}
		if tip, err := repo.Ref(ctx, git.BranchRef(name)); err != nil || tip == "" {
			return "", pawl.Fail(pawl.CodeNotFound, "git.no_branch", name).Because(err)
		}
		return name, nil
	}
}
