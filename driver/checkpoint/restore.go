package checkpoint

import (
	"context"
	"slices"

	"pawl"
	"pawl/effect"
	"pawl/sandbox/git"
)

// Restore is the driver of effect.KindRestore: it brings a tree back to a recorded state, after taking a safety reference,
// so that the restoration can itself be undone. It is stateless and safe for concurrent use.
type Restore struct{}

// NewRestore returns the driver of effect.KindRestore.
func NewRestore() Restore { return Restore{} }

// Do takes the safety reference and restores. On a conflict nothing but the reference has changed. After a crash it may be
// repeated and completes what is left; the safety reference then still holds the tree before the first attempt.
func (Restore) Do(ctx context.Context, e effect.Effect, _ effect.Progress) effect.Receipt {
	spec, err := effect.Decode[effect.RestoreSpec](e.Spec)
	if err != nil {
		return effect.Failed(err)
	}
	repo, err := open(ctx, e.Place)
	if err != nil {
		return effect.Failed(err)
	}
	safety, err := mark(ctx, repo, e, safetyName(e, spec))
	if err != nil {
		return effect.Failed(err)
	}
	done, err := repo.Restore(ctx, restoration(spec, safety.Tree))
	if err != nil {
		return effect.Failed(err)
	}
	result, err := summary(ctx, repo, spec, safety.Tree, done)
	if err != nil {
		return effect.Failed(err)
	}
	return effect.Succeeded(result)
}

// safetyName is the name of the safety reference: the spec's, or one made from the effect's id.
func safetyName(e effect.Effect, spec effect.RestoreSpec) string {
	if spec.Safety != "" {
		return spec.Safety
	}
	return "safety-" + e.ID
}

func restoration(spec effect.RestoreSpec, origin string) git.Restoration {
	return git.Restoration{Target: spec.Target, Expect: spec.Expect, Origin: origin, Force: spec.Force}
}

// summary tells the whole restoration, across crashes, from the tree before the first attempt to the one that was left. What
// still differs from the target afterwards was left alone, because it is not known to be pawl's change.
func summary(ctx context.Context, repo *git.Repo, spec effect.RestoreSpec, origin string, done git.Restored) (effect.RestoreResult, error) {
	result := effect.RestoreResult{Before: origin, After: done.After, Changed: []string{}, Kept: done.Kept}
	changes, err := repo.Diff(ctx, origin, done.After)
	for _, c := range changes {
		result.Changed = append(result.Changed, c.Path)
	}
	if err != nil {
		return result, err
	}
	left, err := repo.Diff(ctx, spec.Target, done.After)
	for _, c := range left {
		if !slices.Contains(result.Kept, c.Path) {
			result.Kept = append(result.Kept, c.Path)
		}
	}
	return result, err
}

// Done reports whether nothing is left to restore, once the safety reference shows that the effect began.
func (Restore) Done(ctx context.Context, e effect.Effect) (effect.Answer, effect.Receipt) {
	spec, err := effect.Decode[effect.RestoreSpec](e.Spec)
	if err != nil {
		return effect.DoneUnknown, effect.Failed(err)
	}
	repo, err := open(ctx, e.Place)
	if err != nil {
		return effect.DoneUnknown, effect.Failed(err)
	}
	safety, _, err := find(ctx, repo, e, safetyName(e, spec))
	if err != nil {
		return effect.DoneUnknown, effect.Failed(err)
	}
	if safety.Commit == "" {
		return effect.DoneNo, effect.Receipt{}
	}
	pending, err := repo.Pending(ctx, restoration(spec, safety.Tree))
	if err != nil || len(pending) > 0 {
		return effect.DoneNo, effect.Receipt{} // Do finds the same and says what is in the way
	}
	after, err := repo.Snapshot(ctx)
	if err != nil {
		return effect.DoneUnknown, effect.Failed(err)
	}
	result, err := summary(ctx, repo, spec, safety.Tree, git.Restored{After: after})
	if err != nil {
		return effect.DoneUnknown, effect.Failed(err)
	}
	return effect.DoneYes, effect.Succeeded(result)
}

// Undo brings back the tree that the restoration found, as far as nobody has changed the files since.
func (d Restore) Undo(ctx context.Context, e effect.Effect, r effect.Receipt) effect.Receipt {
	result, err := effect.Decode[effect.RestoreResult](r.Result)
	if err != nil {
		return effect.Failed(err)
	}
	if result.Before == "" || result.After == "" {
		return effect.Failed(pawl.Fail(pawl.CodeInvalid, "point.nothing_to_undo", e.ID))
	}
	back := e
	back.ID += "-undo"
	back.Spec = effect.Encode(effect.RestoreSpec{Name: "undo " + e.ID, Target: result.Before, Expect: result.After})
	return d.Do(ctx, back, nil)
}
