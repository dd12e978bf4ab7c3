package checkpoint

import (
	"context"
	"time"

	"pawl/store/follow"
)

// Ready is what a Filler keeps filled; a Pool is one.
type Ready interface {
	Fill(ctx context.Context) error
	Drain(ctx context.Context) error
}

// Filler keeps worktrees ready beside the work that takes them. It is safe for concurrent use.
type Filler struct {
	ready  Ready
	stop   context.CancelFunc
	follow *follow.Follower
}

// fillAfter is how long a worktree may lack that was taken: the work that took it begins first.
const fillAfter = 200 * time.Millisecond

// NewFiller returns what fills r whenever something was taken. Nothing is made before that.
func NewFiller(r Ready) *Filler {
	ctx, stop := context.WithCancel(context.Background())
	// A worktree that is not ready is made when it is needed.
	return &Filler{ready: r, stop: stop, follow: follow.New(func() { _ = r.Fill(ctx) })}
}

// Taken says that work has begun that needs a worktree. It does not wait.
func (f *Filler) Taken() { f.follow.Within(fillAfter) }

// Close ends the filling and removes what is left over, so that a workspace at rest holds nothing. Nothing is filled
// afterwards.
func (f *Filler) Close() {
	f.stop()
	f.follow.Close()
	_ = f.ready.Drain(context.Background()) // what cannot be removed is found by the next cleanup
}
