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

// left reports whether a crash left something of a ground, or of another worktree beside a task's own: its folder, or
// its registration with git.
func left(p effect.Place) bool {
	_, folder := os.Lstat(p.Tree)
	_, known := os.Lstat(filepath.Join(p.Workspace, ".git", "worktrees", filepath.Base(p.Tree)))
	return !p.InPlace && (folder == nil || known == nil)
}

// clearBeside removes such a worktree and what was kept for it. What cannot be removed now goes with the task's own.
func clearBeside(ctx context.Context, m *git.Memory, p effect.Place) {
	_ = verify.Forget(p)
	_ = checkpoint.NewCleanup(m).Do(ctx, effect.Effect{Kind: effect.KindCleanup, Place: p,
		Spec: effect.Encode(effect.CleanupSpec{})}, nil)
}
