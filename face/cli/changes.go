package cli

import (
	"context"
	"slices"

	"pawl/kernel"
	"pawl/kernel/effect"
)

// Stays returns what pawl changed in the user's own tree, while that is in no commit and not undone.
func Stays(ctx context.Context, sess *Session, s *kernel.Snapshot) []effect.FileStat {
	t := s.Task
	if t == nil || !t.Place.InPlace || t.Checkpoint == nil || s.Run == nil || s.Run.Undone || s.Run.Land != nil ||
		s.Run.EndedAt.IsZero() && s.Session.State != "BLOCKED" {
		return nil
	}
	// What cannot be told here is told by the command that undoes it.
	changed, _ := ChangedBy(ctx, sess, t)
	return changed
}

// ChangedBy counts what a task changed since its checkpoint, leaving out what others changed meanwhile.
func ChangedBy(ctx context.Context, sess *Session, t *kernel.Task) ([]effect.FileStat, error) {
	if sess.Workspace.Diff == nil || t.Tree == "" || t.Tree == t.Checkpoint.Tree {
		return nil, nil
	}
	diff, err := sess.Workspace.Diff(ctx, t.Place, t.Checkpoint.Tree, t.Tree)
	if err != nil || !t.Ready.Tracked {
		return effect.DiffStat(diff), err
	}
	mine := map[string]bool{}
	for _, s := range t.Spans {
		if s.Undone {
			continue
		}
		part, err := sess.Workspace.Diff(ctx, t.Place, s.Before, s.After)
		if err != nil {
			return nil, err
		}
		for _, f := range effect.DiffStat(part) {
			if s.Files == nil || slices.Contains(s.Files, f.Path) {
				mine[f.Path] = true
			}
		}
	}
	return slices.DeleteFunc(effect.DiffStat(diff), func(f effect.FileStat) bool { return !mine[f.Path] }), nil
}
