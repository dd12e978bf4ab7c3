package runner

import (
	"context"

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

// do gives a command in the runner's name, again while another process keeps the store locked.
func (s speaker) do(ctx context.Context, c kernel.Command) (kernel.Outcome, error) {
	for try := 1; ; try++ {
		out, err := give(ctx, s, c)
		switch {
		case !storeBusy(err):
			return out, err
		case ctx.Err() != nil:
			return out, ctx.Err()
		case try == storeTries:
			return out, heldUp{err}
		}
		s.opt.Waits(effect.Effect{}, pawl.Fail(pawl.CodeBusy, "lock.store").Because(err))
	}
}

// give gives a command once.
func give(ctx context.Context, s speaker, c kernel.Command) (kernel.Outcome, error) {
	return s.kernel.Do(ctx, kernel.Envelope{Actor: pawl.By(pawl.KindRunner, s.opt.Owner), Claim: s.opt.Claim,
		Command: c})
}
