package commit

import (
	"context"
	"fmt"
	"slices"
	"time"

	"pawl"
	"pawl/kernel/effect"
	"pawl/sandbox/git"
	"pawl/sandbox/git/layout"
)

// Standing is what there is to commit, and where it would go.
type Standing struct {
	Head, Branch string // "" before the first commit, "" where the head is detached
	From         string // tree of Head
	By           layout.Identity
	// Staged says that the index holds changes, which are then what is committed. Tree is what would be committed, and
	// Files what it changes.
	Staged bool
	Tree   string
	Files  []effect.FileStat
	// Beside are files with changes that would not be committed, because others are staged: one that was staged and
	// then changed again is among Files as well.
	Beside []string
}

// Look finds out what there is to commit: what is staged or, where nothing is or all is asked for, everything that
// differs from the commit and that nothing ignores. It writes objects and nothing else.
func Look(ctx context.Context, m *git.Memory, place effect.Place, all bool) (Standing, error) {
	s := Standing{}
	repo, err := openPlace(ctx, m, place)
	if err != nil {
		return s, err
	}
	status, err := repo.Status(ctx)
	if err != nil {
		return s, err
	}
	if status.Operation != "" {
		return s, pawl.Fail(pawl.CodeRepository, "git.operation", status.Operation)
	}
	s.Head, s.Branch, s.By = status.Head, status.Branch, repo.Identity()
	if s.Branch == "" {
		return s, pawl.Fail(pawl.CodeRepository, "orders.detached")
	}
	if s.From, err = fromTree(ctx, repo, s.Head); err != nil {
		return s, err
	}
	staged, err := git.StagedIn(ctx, repo, s.Head)
	if err != nil {
		return s, err
	}
	if s.Staged = len(staged.Files) > 0 && !all; s.Staged {
		s.Tree = staged.Tree
		s.Beside = slices.Concat(status.Unstaged, status.Untracked)
	} else if s.Tree, err = repo.Snapshot(ctx); err != nil {
		return s, err
	}
	s.Files, err = git.Stats(ctx, repo, s.From, s.Tree)
	return s, err
}

func openPlace(ctx context.Context, m *git.Memory, place effect.Place) (*git.Repo, error) {
	if !place.Git {
		return nil, pawl.Fail(pawl.CodeRepository, "git.not_repository", place.Workspace)
	}
	return m.Open(ctx, layout.Of(place).Top())
}

func fromTree(ctx context.Context, repo *git.Repo, head string) (string, error) {
	if head == "" {
		return repo.Objects.EmptyTree(ctx)
	}
	return repo.Objects.ResolveTree(ctx, head)
}

// Upstream says where the checked-out branch is shared.
func Upstream(ctx context.Context, m *git.Memory, place effect.Place, branch string) (git.Upstream, error) {
	repo, err := openPlace(ctx, m, place)
	if err != nil {
		return git.Upstream{}, err
	}
	return git.NewRemotes(repo).Upstream(ctx, branch)
}

// Past is what a branch can go back to.
type Past struct {
	Head, Branch, From string
	By                 layout.Identity
	Dirty              []string
	repo               *git.Repo
}

// LookBack opens the history of the checked-out branch.
func LookBack(ctx context.Context, m *git.Memory, place effect.Place) (*Past, error) {
	repo, err := openPlace(ctx, m, place)
	if err != nil {
		return nil, err
	}
	status, err := repo.Status(ctx)
	if err != nil {
		return nil, err
	}
	if err := status.Ready(); err != nil {
		return nil, err
	}
	if status.Branch == "" {
		return nil, pawl.Fail(pawl.CodeRepository, "orders.detached")
	}
	p := &Past{Head: status.Head, Branch: status.Branch, By: repo.Identity(), Dirty: status.Dirty, repo: repo}
	p.From, err = repo.Objects.ResolveTree(ctx, p.Head)
	return p, err
}

// Newest returns the newest commits of the branch, the one that it is at first.
func (p *Past) Newest(ctx context.Context, n int) ([]git.Commit, error) {
	return p.repo.Objects.History(ctx, p.Head, n)
}

// Find returns the commit that a person names. It must be one of the branch's history.
func (p *Past) Find(ctx context.Context, name string) (git.Commit, error) {
	id, err := p.repo.Refs.Find(ctx, name)
	if err != nil {
		return git.Commit{}, err
	}
	in, err := p.repo.Objects.Contains(ctx, p.Head, id)
	if err == nil && !in {
		err = pawl.Fail(pawl.CodeNotFound, "orders.not_of_branch", name, p.Branch)
	}
	if err != nil {
		return git.Commit{}, err
	}
	return p.repo.Objects.ReadCommit(ctx, id)
}

// At returns the commit that the branch was at, at an instant.
func (p *Past) At(ctx context.Context, at time.Time) (git.Commit, error) {
	return p.repo.Objects.Until(ctx, p.Head, at)
}

// Free returns the first name of a branch that is not taken.
func (p *Past) Free(ctx context.Context, name string) (string, error) {
	free := name
	for n := 2; ; n++ {
		id, err := p.repo.Refs.Lookup(ctx, git.BranchRef(free))
		if err != nil || id == "" {
			return free, err
		}
		free = fmt.Sprintf("%s-%d", name, n)
	}
}

// Stats tells what going from one tree to another changes.
func (p *Past) Stats(ctx context.Context, from, to string) ([]effect.FileStat, error) {
	return git.Stats(ctx, p.repo, from, to)
}

// Recent lists the files that the last commits changed and that are not committed, for a review of what is new.
func Recent(ctx context.Context, m *git.Memory, place effect.Place, commits int) ([]string, error) {
	repo, err := openPlace(ctx, m, place)
	if err != nil {
		return nil, err
	}
	status, err := repo.Status(ctx)
	if err != nil {
		return nil, err
	}
	out := slices.Concat(status.Dirty, status.Untracked)
	if status.Head != "" {
		list, err := repo.Objects.History(ctx, status.Head, commits+1)
		if err != nil {
			return nil, err
		}
		base, err := repo.Objects.EmptyTree(ctx)
		if err != nil {
			return nil, err
		}
		if len(list) > commits {
			base = list[commits].Tree
		}
		changed, err := repo.Objects.Diff(ctx, base, list[0].Tree)
		if err != nil {
			return nil, err
		}
		for _, c := range changed {
			if c.Status != "D" {
				out = append(out, c.Path)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// StagedFiles lists the files that the index changes.
func StagedFiles(ctx context.Context, m *git.Memory, place effect.Place) ([]string, error) {
	repo, err := openPlace(ctx, m, place)
	if err != nil {
		return nil, err
	}
	head, _, err := repo.Refs.Head(ctx)
	if err != nil {
		return nil, err
	}
	s, err := git.StagedIn(ctx, repo, head)
	return s.Files, err
}
