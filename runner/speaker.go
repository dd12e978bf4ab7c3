package runner

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/effect"
)

// speaker gives commands in a runner's name.
type speaker struct {
	kernel Kernel
	opt    Options
}

// storeTries is how often a command is given that the store has no turn for. Each takes as long as the store's own
// limit: what an effect did is worth minutes of waiting before it is left to be found out again.
const storeTries = 12

// firstPause is the longest pause after a command that lost a race for its rows. It doubles with each try.
const firstPause = 10 * time.Millisecond

// do gives a command in the runner's name, again while another process keeps the store locked or others write its rows
// first.
func (s speaker) do(ctx context.Context, c kernel.Command) (kernel.Outcome, error) {
	for try := 1; ; try++ {
		out, err := give(ctx, s, c)
		raced := storeRaced(err)
		switch {
		case !raced && !storeBusy(err):
			return out, err
		case ctx.Err() != nil:
			return out, ctx.Err()
		case try == storeTries:
			return out, heldUp{err}
		case raced: // a random pause parts those that meet
			select {
			case <-ctx.Done():
			case <-time.After(rand.N(firstPause << try)):
			}
			continue
		}
		s.opt.Waits(effect.Effect{}, pawl.Fail(pawl.CodeBusy, "lock.store").Because(err))
	}
}

// storeRaced reports whether an error of the kernel says that nothing was written because others wrote the same rows
// first, each time that the command was decided.
func storeRaced(err error) bool {
	var e *pawl.Error
	return errors.As(err, &e) && (e.Key == "store.stale" || e.Key == "store.exists" || e.Key == "store.label")
}

// give gives a command once.
func give(ctx context.Context, s speaker, c kernel.Command) (kernel.Outcome, error) {
	return s.kernel.Do(ctx, kernel.Envelope{Actor: pawl.By(pawl.KindRunner, s.opt.Owner), Claim: s.opt.Claim,
		Command: c})
}
