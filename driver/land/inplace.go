package land

import (
	"context"
	"errors"

	"pawl"
	"pawl/kernel/effect"
	"pawl/sandbox/git"
)

// The reasons for which changes in the user's own tree are left without a commit, as keys of the catalogue.
const (
	reasonPlainDirty     = "land.in_place_dirty"
	reasonPlainDetached  = "land.in_place_detached"
	reasonPlainMoved     = "land.in_place_moved"
	reasonPlainOperation = "land.in_place_operation"
	reasonPlainLocked    = "land.in_place_locked"
	reasonPlainConverted = "land.in_place_converted"
	reasonPlainFiltered  = "land.in_place_filtered"
	reasonPlainFolder    = "land.in_place_folder"
)

// inPlace commits what stands in the user's tree, if the whole difference to the branch is pawl's change; otherwise it
// leaves the commit to the user.
func (j *job) inPlace(ctx context.Context, start string, filtered []string) (effect.LandResult, error) {
	if len(filtered) > 0 {
		files, err := git.Stats(ctx, j.repo, j.from, j.to)
		return effect.LandResult{Outcome: effect.InPlace, Tree: j.to, Files: files, Reason: reasonPlainFiltered,
			Named: few(filtered)}, err
	}
	ok, err := j.prepare(ctx)
	if err != nil {
		return effect.LandResult{}, err
	}
	if !ok {
		return effect.LandResult{Outcome: effect.Empty, Tree: j.to, Branch: j.branch}, nil
	}
	v := venue{here: true}
	defer v.close()
	reason, err := j.admitInPlace(ctx, start, &v)
	if err != nil {
		return effect.LandResult{}, err
	}
	if reason == "" {
		result, err := j.advance(ctx, &v)
		if !errors.Is(err, errMoved) {
			return result, err
		}
		reason = reasonPlainMoved
	}
	result := j.result(effect.InPlace)
	result.Commit, result.Reason = "", reason
	return result, nil
}

// admitInPlace decides whether the user's tree may be committed. The venue then holds the lock of the index.
func (j *job) admitInPlace(ctx context.Context, start string, v *venue) (reason string, err error) {
	switch {
	case j.branch == "":
		return reasonPlainDetached, nil
	case start != j.from:
		return reasonPlainDirty, nil
	case j.repo.Operation() != "":
		return reasonPlainOperation, nil
	}
	v.checkout, err = j.repo.Checkout(ctx, j.id)
	if pawl.CodeOf(err) == pawl.CodeBusy {
		return reasonPlainLocked, nil
	}
	if err != nil {
		return "", err
	}
	head, branch, err := j.repo.Refs.Head(ctx)
	if err != nil {
		return "", err
	}
	if branch != j.branch || head != j.base {
		return reasonPlainMoved, nil
	}
	staged, err := v.checkout.Staged(ctx, j.base)
	if err != nil || len(staged) > 0 {
		return reasonPlainDirty, err
	}
	o, err := v.checkout.Obstacles(ctx, j.from, j.to)
	if err != nil || len(o.Converted) > 0 {
		return reasonPlainConverted, err
	}
	// Only under the lock is what is committed also what stands there.
	found, err := j.repo.Snapshot(ctx)
	if err == nil && found != j.to {
		err = pawl.Fail(pawl.CodeConflict, "land.tree_changed", j.to, found)
	}
	return "", err
}

// landFolder brings the tree to a workspace that has no commit to build on: without git, or before its first commit.
func landFolder(ctx context.Context, repo *git.Repo, spec effect.LandSpec) (effect.LandResult, error) {
	if spec.Start == spec.Tree {
		return effect.LandResult{Outcome: effect.Empty, Tree: spec.Tree}, nil
	}
	result := effect.LandResult{Outcome: effect.InPlace, Tree: spec.Tree, Reason: reasonPlainFolder}
	if !repo.InPlace() {
		if spec.Start == "" {
			return effect.LandResult{}, pawl.Fail(pawl.CodeInvalid, "land.no_start")
		}
		if _, err := repo.Workspace().Restore(ctx, git.Restoration{Target: spec.Tree, Expect: spec.Start}); err != nil {
			return effect.LandResult{}, err
		}
	}
	if spec.Start == "" {
		return result, nil
	}
	files, err := git.Stats(ctx, repo, spec.Start, spec.Tree)
	result.Files = files
	return result, err
}
