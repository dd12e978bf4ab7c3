// Package upkeep keeps what a workspace holds within its limits: what killed processes left goes before work begins,
// and what runs left when its time is over; `pawl gc` does the same and says what.
package upkeep

import (
	"context"
	"sync"
	"time"

	"pawl/driver/leftover"
	"pawl/driver/retention"
	"pawl/face/cli/settings"
	"pawl/face/host"
	"pawl/kernel/effect"
	"pawl/kernel/query"
	"pawl/store/logs"
)

// Upkeep is that of one workspace. It is safe for concurrent use.
type Upkeep struct {
	place  effect.Place
	kernel query.Kernel
	config settings.Retain

	mu   sync.Mutex
	last time.Time
}

// Of is the upkeep of a place.
func Of(place effect.Place, k query.Kernel, c settings.Retain) *Upkeep {
	return &Upkeep{place: place, kernel: k, config: c}
}

// every is how long a process that stays lets things be.
const every = time.Hour

// Begin is called before work begins. What cannot be done now is done the next time.
func (u *Upkeep) Begin() {
	u.mu.Lock()
	defer u.mu.Unlock()
	first := u.last.IsZero()
	if !first && time.Since(u.last) < every {
		return
	}
	u.last = time.Now()
	ctx := context.Background()
	if first { // later, what is found may be this process's own
		_, _ = leftover.Sweep(ctx, u.place)
	}
	if !u.config.Auto {
		logs.Of(u.place.Workspace).Prune(u.config.Logs())
		return
	}
	if plan, _, err := u.plan(ctx); err == nil {
		_ = plan.Without(retention.Left).Carry(ctx, func(retention.Item) {})
	}
}

// plan is what may go now, and the work that has not ended.
func (u *Upkeep) plan(ctx context.Context) (retention.Plan, []string, error) {
	kept, err := query.Kept(ctx, u.kernel, u.config.Runs)
	if err != nil {
		return retention.Plan{}, nil, err
	}
	p, err := retention.Find(ctx, u.place, retention.Limits{Before: query.Before(kept, u.kernel.Now(), u.config.Days),
		Needs: kept.Needs, Logs: u.config.Logs()})
	return p, kept.Open, err
}

// Collect retires what may go, or, dry, only says what that is. Tell hears how much of how much is done.
func (u *Upkeep) Collect(ctx context.Context, dry bool, tell func(done, all int64)) (host.Collected, error) {
	plan, open, err := u.plan(ctx)
	out := host.Collected{Items: []host.Retired{}, Open: append([]string{}, open...), Days: u.config.Days,
		Runs: u.config.Runs, Dry: dry}
	if err != nil {
		return out, err
	}
	add := func(i retention.Item) {
		out.Items = append(out.Items, host.Retired{What: string(i.What), Name: i.Name, At: i.At, Bytes: i.Bytes})
		out.Bytes += i.Bytes
		tell(int64(len(out.Items)), int64(len(plan.Items)))
	}
	if !dry {
		return out, plan.Carry(ctx, add)
	}
	for _, i := range plan.Items {
		add(i)
	}
	return out, nil
}
