package compound

import (
	"context"
	"os"
	"path/filepath"

	"pawl/driver/checkpoint"
	"pawl/driver/verify"
	"pawl/kernel/effect"
	"pawl/sandbox/git"
)

// Verify runs checks (driver/verify), on a commit as well: in a worktree beside the task's own, behind the same walls,
// which is gone afterwards.
type Verify struct {
	*verify.Verify
	memory *git.Memory
}

// NewVerify returns the driver that runs checks with v. It shares what m remembers.
func NewVerify(v *verify.Verify, m *git.Memory) Verify { return Verify{v, m} }

// Do runs the checks where the spec says.
func (b Verify) Do(ctx context.Context, e effect.Effect, progress effect.Progress) effect.Receipt {
	spec, err := effect.Decode[effect.VerifySpec](e.Spec)
	if err != nil || spec.At == "" {
		return b.Verify.Do(ctx, e, progress)
	}
	e.Place = beside(e.Place)
	defer clearBeside(context.WithoutCancel(ctx), b.memory, e.Place)
	made := checkpoint.NewWorktree(b.memory).Do(ctx, effect.Effect{ID: e.ID, Kind: effect.KindWorktree, Place: e.Place,
		Spec: effect.Encode(effect.WorktreeSpec{Base: spec.At})}, nil)
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

// left reports whether a crash left something of such a worktree: its folder, or its registration with git.
func left(p effect.Place) bool {
	_, folder := os.Lstat(p.Tree)
	_, known := os.Lstat(filepath.Join(p.Workspace, ".git", "worktrees", filepath.Base(p.Tree)))
	return !p.InPlace && (folder == nil || known == nil)
}

// clearBeside removes that worktree and what was kept for it. What cannot be removed now goes with the task's own.
func clearBeside(ctx context.Context, m *git.Memory, p effect.Place) {
	_ = verify.Forget(p)
	_ = checkpoint.NewCleanup(m).Do(ctx, effect.Effect{Kind: effect.KindCleanup, Place: p,
		Spec: effect.Encode(effect.CleanupSpec{})}, nil)
}
