package compound

import (
	"context"
	"os"

	"pawl/driver/checkpoint"
	"pawl/driver/ground"
	"pawl/driver/verify"
	"pawl/kernel/effect"
	"pawl/sandbox/git"
)

// Cleanup removes a task's worktree, the caches that were kept for it, and what stood beside it.
type Cleanup struct {
	checkpoint.Cleanup
	memory *git.Memory
	settle func(context.Context, *git.Memory, effect.Place) error
}

// NewCleanup returns the driver. It shares what m remembers. Settle ends a landing that was left half done in the
// user's tree.
func NewCleanup(m *git.Memory, settle func(context.Context, *git.Memory, effect.Place) error) Cleanup {
	return Cleanup{checkpoint.NewCleanup(m), m, settle}
}

// Do forgets the caches and cleans up. Where branch, index and files of the user are apart and cannot be brought
// together, nothing is cleaned up.
func (c Cleanup) Do(ctx context.Context, e effect.Effect, progress effect.Progress) effect.Receipt {
	if err := c.settle(ctx, c.memory, e.Place); err != nil {
		return effect.FailedWith(err, effect.CleanupResult{Performed: []string{}, Skipped: []string{},
			Failed: []string{effect.CleanedLanding}})
	}
	if err := verify.Forget(e.Place); err != nil {
		return effect.Failed(err)
	}
	if p := branchTree(e); !e.Place.InPlace && e.Session != "" {
		if _, err := os.Lstat(p.Tree); err == nil {
			clearBeside(ctx, c.memory, p)
		}
	}
	if p := ground.Beside(e.Place); left(p) {
		clearBeside(ctx, c.memory, p)
	}
	r := c.Cleanup.Do(ctx, e, progress)
	own := effect.Place{Workspace: e.Place.Workspace, State: e.Place.State, Tree: e.Place.Workspace, Git: e.Place.Git}
	// The user's git fails on a reference that points to nothing.
	cleared, err := checkpoint.NewSnapshotter(c.memory).ClearDangling(ctx, own)
	if cleared && err == nil && progress != nil {
		progress("git.refs_gone")
	}
	return r
}
