package project

import (
	"context"

	"pawl"
	"pawl/kernel/effect"
	"pawl/sandbox/git"
	"pawl/sandbox/git/layout"
)

// Branch returns what tells the name of a branch if there is one, and of the one that is checked out for "".
func Branch(place effect.Place) func(ctx context.Context, name string) (string, error) {
	return func(ctx context.Context, name string) (string, error) {
		if !place.Git {
			if name != "" {
				return "", pawl.Fail(pawl.CodeRepository, "git.not_repository", place.Workspace)
			}
			return "", nil
		}
		memory := &git.Memory{}
		repo, err := memory.Open(ctx, layout.Of(place).Top())
		if err != nil {
			return "", err
		}
		if name == "" {
			_, name, err = repo.Refs.Head(ctx)
			return name, err
		}
		if tip, err := repo.Refs.Lookup(ctx, git.BranchRef(name)); err != nil || tip == "" {
			return "", pawl.Fail(pawl.CodeNotFound, "git.no_branch", name).Because(err)
		}
		return name, nil
	}
}
