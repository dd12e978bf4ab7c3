package compound

import (
	"context"
	"errors"

	"pawl/driver/checkpoint"
	"pawl/kernel/effect"
)

// Revert takes a landed commit back by another one, and brings back what git ignores where the commit was made in the
// person's own tree.
type Revert struct {
	commit  Reverting
	ignored checkpoint.Ignored
}

// Reverting takes a landed commit back.
type Reverting interface {
	Do(ctx context.Context, e effect.Effect, progress effect.Progress) effect.Receipt
	Done(ctx context.Context, e effect.Effect) (effect.Answer, effect.Receipt)
}

// NewRevert returns the driver, for which commit does what git records.
func NewRevert(commit Reverting, ignored checkpoint.Ignored) Revert { return Revert{commit, ignored} }

// Do makes the commit and brings back what belongs to it. Where the commit did not land nothing is brought back.
func (d Revert) Do(ctx context.Context, e effect.Effect, progress effect.Progress) effect.Receipt {
	spec, err := effect.Decode[effect.RevertSpec](e.Spec)
	if err != nil || spec.Kept == "" {
		return d.commit.Do(ctx, e, progress)
	}
	var r effect.Receipt
	var result effect.LandResult
	stays := false
	back, err := d.ignored.Around(ctx, e.Place, spec.Kept, "safety-"+e.ID, func() (err error) {
		r = d.commit.Do(ctx, e, progress)
		if err = r.Err(); err == nil {
			result, err = effect.Decode[effect.LandResult](r.Result)
		}
		if stays = err == nil && result.Outcome == effect.Kept; stays {
			return errStays
		}
		return err
	})
	switch {
	case stays:
		return r
	case err != nil:
		return effect.Failed(err)
	}
	result.Ignored = back
	r.Result = effect.Encode(result)
	return r
}

// Done reports whether both have happened.
func (d Revert) Done(ctx context.Context, e effect.Effect) (effect.Answer, effect.Receipt) {
	answer, r := d.commit.Done(ctx, e)
	spec, err := effect.Decode[effect.RevertSpec](e.Spec)
	if err != nil || spec.Kept == "" || answer != effect.DoneYes {
		return answer, r
	}
	result, err := effect.Decode[effect.LandResult](r.Result)
	if err != nil || result.Outcome == effect.Kept {
		return answer, r
	}
	back, ok := d.ignored.Finished(e.Place, spec.Kept, "safety-"+e.ID)
	if !ok {
		return effect.DoneNo, effect.Receipt{} // doing it again makes no second commit
	}
	result.Ignored = back
	r.Result = effect.Encode(result)
	return answer, r
}

// errStays ends what is around a commit that did not land.
var errStays = errors.New("the commit is on a branch of its own")
