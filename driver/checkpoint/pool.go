package checkpoint

import (
	"context"

	"pawl/kernel/effect"
	"pawl/sandbox/git"
)

// Pool keeps worktrees of a workspace ready, so that a task need not wait until its files are written. All state is in
// the workspace: any number of processes may have a Pool of it, and the driver Worktree takes from what is ready
// without one. Without git there is nothing to keep, and nothing is done. It is safe for concurrent use.
type Pool struct {
	memory *git.Memory
	at     effect.Place
	size   int
}

// NewPool returns the pool of the workspace of a place, of which size worktrees are to be ready. It shares what m
// remembers; m may be nil.
func NewPool(m *git.Memory, at effect.Place, size int) Pool {
	at.Tree = at.Workspace
	return Pool{m, at, max(size, 0)}
}

// Take makes a worktree that is ready the tree of a place, at the commit base, and returns the id of its tree. ok is
// false where none is ready and where something stands at the tree; nothing is changed then. What somebody touched is
// removed and never handed out. After a crash the driver Worktree goes on from whatever is there.
func (p Pool) Take(ctx context.Context, to effect.Place, base string) (tree string, ok bool, err error) {
	repo, err := open(ctx, p.memory, to)
	if err != nil {
		return "", false, err
	}
	return git.NewWarm(repo).Take(ctx, repo, base)
}

// Fill makes ready what is missing, at the commit that the workspace is at, and brings what stands elsewhere to it. It
// is for the background, after each landing and each worktree that was taken; it takes a second and what the worktrees
// take. Where another process is filling the pool it does nothing.
func (p Pool) Fill(ctx context.Context) error {
	repo, err := open(ctx, p.memory, p.at)
	if err != nil {
		return err
	}
	return git.NewWarm(repo).Fill(ctx, p.size)
}

// Drain removes every worktree that is ready, and what was cut short. Those that are being taken at the moment are no
// longer the pool's.
func (p Pool) Drain(ctx context.Context) error {
	repo, err := open(ctx, p.memory, p.at)
	if err != nil {
		return err
	}
	return git.NewWarm(repo).Drain(ctx)
}
