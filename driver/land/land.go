// Package land holds the drivers that bring a verified tree to the user's branch as one commit, and that take such a
// commit back by another one. They never overwrite: where the branch moved, the user has uncommitted changes in a file
// that the commit changes, a file is in the way or an operation is unfinished, the result stays on a branch of pawl's
// with the command that merges it, or, where other work builds on it (LandSpec.Current), nothing happens and the error
// says what a person can fix. Nothing is ever pushed.
//
// A landing is written down (journal.go) before the first reference moves. The reference moves before the files, by
// compare-and-set, while pawl holds the lock of the user's index; after a crash the journal says what to finish.
package land

import (
	"context"
	"errors"
	"strings"
	"time"

	"pawl"
	"pawl/kernel/effect"
	"pawl/sandbox/git"
	"pawl/sandbox/git/filter"
	"pawl/sandbox/git/layout"
)

// open finds the repository of an effect's place. What m knows of trees only makes it quicker: all state is in the
// trees and their repositories. m may be nil.
func open(ctx context.Context, m *git.Memory, p effect.Place) (*git.Repo, error) {
	return m.Open(ctx, layout.Of(p))
}

// Land is the driver of effect.KindLand. It is safe for concurrent use.
type Land struct{ memory *git.Memory }

// New returns the driver of effect.KindLand. It shares what m remembers; m may be nil.
func New(m *git.Memory) Land { return Land{m} }

// Do lands the tree, or keeps it where landing would overwrite something. It fails with CodeConflict when the tree is
// no longer the one that was verified. It may be repeated: what an attempt before a crash began is finished, never done
// twice.
func (d Land) Do(ctx context.Context, e effect.Effect, _ effect.Progress) effect.Receipt {
	result, err := d.land(ctx, e)
	if err != nil {
		return effect.Failed(err)
	}
	return effect.Succeeded(result)
}

// Done reports whether the journal of the effect is complete, and completes it when the reference has moved.
func (d Land) Done(ctx context.Context, e effect.Effect) (effect.Answer, effect.Receipt) {
	return done(ctx, d.memory, e)
}

func done(ctx context.Context, memory *git.Memory, e effect.Effect) (effect.Answer, effect.Receipt) {
	repo, err := open(ctx, memory, e.Place)
	if err != nil {
		return effect.DoneUnknown, effect.Failed(err)
	}
	result, ok, err := resume(ctx, repo, e.ID)
	switch {
	case err != nil:
		// Doing it again resumes in the same way and says what is wrong.
		return effect.DoneNo, effect.Failed(err)
	case !ok:
		return effect.DoneNo, effect.Receipt{}
	}
	return effect.DoneYes, effect.Succeeded(result)
}

func (d Land) land(ctx context.Context, e effect.Effect) (effect.LandResult, error) {
	spec, err := effect.Decode[effect.LandSpec](e.Spec)
	if err != nil {
		return effect.LandResult{}, err
	}
	repo, err := open(ctx, d.memory, e.Place)
	if err != nil {
		return effect.LandResult{}, err
	}
	if result, ok, err := resume(ctx, repo, e.ID); ok || err != nil {
		return result, err
	}
	found, err := repo.Snapshot(ctx)
	if err != nil {
		return effect.LandResult{}, err
	}
	if found != spec.Tree {
		return effect.LandResult{}, pawl.Fail(pawl.CodeConflict, "land.tree_changed", spec.Tree, found)
	}
	if !repo.Git() || spec.Base == "" {
		return landFolder(ctx, repo, spec)
	}
	from, err := repo.Objects.ResolveTree(ctx, spec.Base)
	if err != nil {
		return effect.LandResult{}, err
	}
	j := job{
		repo: repo, id: e.ID, base: spec.Base, from: from, to: spec.Tree, branch: spec.Branch, keep: spec.Keep,
		message: message(spec.Subject, spec.Body, spec.Trailers), at: spec.At,
	}
	// Before anything is written that a branch may name: a commit of pawl's would hold these files unfiltered.
	filtered, err := filter.Changed(ctx, repo, from, spec.Tree)
	if err != nil {
		return effect.LandResult{}, err
	}
	if j.plain = e.Place.InPlace; j.plain {
		return j.inPlace(ctx, spec.Start, filtered)
	}
	if len(filtered) > 0 {
		return effect.LandResult{}, pawl.Fail(pawl.CodeEnvironment, "land.blocked_filtered", few(filtered))
	}
	j.current = spec.Current
	return j.land(ctx)
}

// job is one commit on its way to a branch.
type job struct {
	repo     *git.Repo
	id       string // of the effect
	base     string // commit that is the parent
	from, to string // trees of the parent and of the commit
	branch   string // "" where there is none to land on
	keep     string
	message  string
	at       time.Time
	current  bool // fail where the branch moved, or another landing is at work
	plain    bool // the files stand in the user's own tree already
	commit   string
	files    []effect.FileStat
}

// prepare makes the commit. ok is false when there is nothing to commit.
func (j *job) prepare(ctx context.Context) (ok bool, err error) {
	if j.from == j.to {
		return false, nil
	}
	if j.at.IsZero() {
		j.at = time.Now()
	}
	if j.files, err = git.Stats(ctx, j.repo, j.from, j.to); err != nil {
		return false, err
	}
	j.commit, err = j.repo.Objects.WriteCommit(ctx, git.Commit{
		Tree: j.to, Parents: []string{j.base}, Message: j.message, By: j.repo.Identity(), At: j.at,
	})
	return err == nil, err
}

// result is what becomes of the job, less what each outcome adds.
func (j *job) result(outcome effect.LandOutcome) effect.LandResult {
	return effect.LandResult{Outcome: outcome, Commit: j.commit, Tree: j.to, Files: j.files}
}

// land brings the commit to its branch, or keeps it.
func (j *job) land(ctx context.Context) (effect.LandResult, error) {
	ok, err := j.prepare(ctx)
	if err != nil {
		return effect.LandResult{}, err
	}
	if !ok {
		return effect.LandResult{Outcome: effect.Empty, Tree: j.to, Branch: j.branch}, nil
	}
	where, err := j.admit(ctx)
	if err != nil {
		return effect.LandResult{}, err
	}
	defer where.close()
	if where.reason == "" {
		result, err := j.advance(ctx, &where)
		switch {
		case errors.Is(err, errMoved):
			where.reason = reasonMoved
		case pawl.CodeOf(err) == pawl.CodeConflict:
			where.reason, where.cause = reasonUntracked, err // it came while files were written, which were taken back
		default:
			return result, err
		}
	}
	where.close()
	if j.current {
		if err := where.refusal(j.branch); err != nil {
			return effect.LandResult{}, err
		}
	}
	return j.park(ctx, where)
}

// refusal is what keeps the result from its branch as an error, where that passes or a person can mend it, and nil
// where only a branch of its own is left for it.
func (v *venue) refusal(branch string) error {
	switch v.reason {
	case reasonMoved:
		return pawl.Fail(pawl.CodeConflict, "land.moved", branch)
	case reasonLocked:
		return pawl.Fail(pawl.CodeEnvironment, "land.blocked_locked").Because(v.cause)
	case reasonDirty:
		return pawl.Fail(pawl.CodeEnvironment, "land.blocked_dirty", few(v.files))
	case reasonUntracked:
		return pawl.Fail(pawl.CodeEnvironment, "land.blocked_untracked", few(v.files)).Because(v.cause)
	case reasonOperation:
		return pawl.Fail(pawl.CodeEnvironment, "land.blocked_operation", few(v.files))
	case reasonElsewhere:
		return pawl.Fail(pawl.CodeEnvironment, "land.blocked_elsewhere", branch, v.at)
	case reasonGone:
		return pawl.Fail(pawl.CodeEnvironment, "land.blocked_gone", branch)
	}
	return nil
}

// few names the first of many files.
func few(files []string) string {
	const most = 5
	if len(files) > most {
		return strings.Join(files[:most], ", ") + ", …"
	}
	return strings.Join(files, ", ")
}

// The reasons for which a result is kept instead of landed, as keys of the catalogue.
const (
	reasonDetached  = "land.kept_detached"
	reasonMoved     = "land.kept_moved"
	reasonGone      = "land.kept_gone"
	reasonElsewhere = "land.kept_elsewhere"
	reasonOperation = "land.kept_operation"
	reasonLocked    = "land.kept_locked"
	reasonDirty     = "land.kept_dirty"
	reasonUntracked = "land.kept_untracked"
	reasonSparse    = "land.kept_sparse"
	reasonConverted = "land.kept_converted"
)

// venue says where a job may go: to its branch when reason is empty, and then with the checked-out tree when that is
// here.
type venue struct {
	reason   string
	checkout *git.Checkout // the lock of the user's index; nil where it is not needed
	here     bool          // the branch is the one that is checked out
	at       string        // the other working tree that has the branch, for reasonElsewhere
	// what is in the way, for reasonDirty and reasonUntracked, and the operation for reasonOperation
	files []string
	cause error // for reasonLocked, and for what was found out only while files were written
}

func (v *venue) close() {
	if v.checkout != nil {
		_ = v.checkout.Close() // a lock that cannot be removed is found by the next attempt, or by a cleanup
	}
}

// admit decides whether the job may go to its branch. What it checks of the checked-out tree it checks under the lock
// of the index, which the venue then holds.
func (j *job) admit(ctx context.Context) (v venue, err error) {
	if j.branch == "" {
		return venue{reason: reasonDetached}, nil
	}
	others, err := j.repo.Refs.CheckedOutAt(ctx, j.branch)
	if err != nil {
		return v, err
	}
	if len(others) > 0 {
		return venue{reason: reasonElsewhere, at: others[0]}, nil
	}
	if op := j.repo.Operation(); op != "" {
		return venue{reason: reasonOperation, files: []string{op}}, nil
	}
	v.checkout, err = j.lock(ctx)
	if pawl.CodeOf(err) == pawl.CodeBusy {
		return venue{reason: reasonLocked, cause: err}, nil
	}
	if err != nil {
		return v, err
	}
	if v.reason, err = j.tip(ctx); err == nil && v.reason == "" { // not before, because finishing another landing may move it
		v.reason, err = j.obstacle(ctx, &v)
	}
	if err != nil {
		v.close()
	}
	return v, err
}

// tip is the reason why nothing can be put on the branch, "" where it is what the commit is made for.
func (j *job) tip(ctx context.Context) (reason string, err error) {
	tip, err := j.repo.Refs.Lookup(ctx, git.BranchRef(j.branch))
	switch {
	case err != nil:
		return "", err
	case tip == "":
		return reasonGone, nil
	case tip != j.base:
		return reasonMoved, nil
	}
	return "", nil
}

// The user's own git holds the index for moments. Where the result cannot be kept elsewhere these are waited for.
const (
	lockPatience = 10 * time.Second
	lockPoll     = 50 * time.Millisecond
)

// lock takes the lock of the user's index. What a landing of a process that is gone has left half done is finished
// first, so that nobody waits for a lock that nobody will give back.
func (j *job) lock(ctx context.Context) (*git.Checkout, error) {
	for until := time.Now().Add(lockPatience); ; {
		checkout, err := j.repo.Checkout(ctx, j.id)
		if pawl.CodeOf(err) != pawl.CodeBusy {
			return checkout, err
		}
		if left := git.Abandoned(j.repo); left != "" {
			if err := settle(ctx, j.repo, left, complete, recede); err != nil {
				return nil, err
			}
			continue
		}
		if !j.current || time.Now().After(until) {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(lockPoll):
		}
	}
}

// obstacle looks for what landing in the checked-out tree would overwrite. When the branch is not checked out, there is
// no such tree; the lock still keeps it from being checked out halfway.
func (j *job) obstacle(ctx context.Context, v *venue) (string, error) {
	_, branch, err := j.repo.Refs.Head(ctx)
	if err != nil {
		return "", err
	}
	if v.here = branch == j.branch; !v.here {
		return "", nil
	}
	dirty, err := v.checkout.Dirty(ctx, j.base, j.to)
	if err != nil {
		return "", err
	}
	if len(dirty) > 0 {
		v.files = dirty
		return reasonDirty, nil
	}
	o, err := v.checkout.Obstacles(ctx, j.from, j.to)
	switch {
	case err != nil:
		return "", err
	case len(o.Untracked) > 0:
		v.files = o.Untracked
		return reasonUntracked, nil
	case len(o.Sparse) > 0:
		return reasonSparse, nil
	case len(o.Converted) > 0:
		return reasonConverted, nil
	}
	return "", nil
}

// errMoved says that the branch moved before pawl could.
var errMoved = errors.New("the branch moved")

// advance moves the branch, and the checked-out tree with it. It fails with errMoved, and nothing has changed, when the
// branch moved first, and with CodeConflict, and all was taken back, when something came to stand in the way of a file.
func (j *job) advance(ctx context.Context, v *venue) (effect.LandResult, error) {
	result := j.result(effect.Landed)
	result.Branch = j.branch
	entry := entry{
		Ref: git.BranchRef(j.branch), Commit: j.commit, Base: j.base, From: j.from, To: j.to, Here: v.here,
		Plain: j.plain, Result: result,
	}
	err := entry.write(ctx, j.repo, j.id)
	if err == nil && v.here {
		err = rememberModes(j.repo, j.files)
	}
	if err != nil {
		return effect.LandResult{}, err
	}
	if err := j.repo.Refs.Set(ctx, entry.Ref, j.commit, j.base, "pawl: land"); err != nil {
		if pawl.CodeOf(err) == pawl.CodeConflict {
			err = orFirst(drop(j.repo, j.id), errMoved)
		}
		return effect.LandResult{}, err
	}
	// From here on stopping halfway would leave the user's tree behind its branch.
	ctx = context.WithoutCancel(ctx)
	if v.here {
		_, err := v.checkout.Advance(ctx, j.from, j.to)
		if err == nil {
			err = recallModes(j.repo, j.files)
		}
		if err != nil {
			return effect.LandResult{}, j.retreat(ctx, v, entry, err)
		}
	}
	return result, entry.finish(ctx, j.repo, j.id)
}

func orFirst(first, otherwise error) error {
	if first != nil {
		return first
	}
	return otherwise
}

// retreat takes a landing back whose files could not be written, for want of space or permission. Where that fails as
// well the journal stays, and the lock with it so that nobody commits the half of it; the next attempt, or Settle, goes
// on from there.
func (j *job) retreat(ctx context.Context, v *venue, entry entry, cause error) error {
	err := entry.takeBack(ctx, j.repo, v.checkout)
	if err != nil {
		left := v.checkout.Abandon()
		v.checkout = nil
		return pawl.Fail(pawl.CodeIO, "land.half_done", j.branch).Because(errors.Join(cause, err, left))
	}
	return orFirst(drop(j.repo, j.id), cause)
}
