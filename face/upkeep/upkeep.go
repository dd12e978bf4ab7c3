// Package upkeep keeps what a workspace holds within its limits: what killed processes left goes before work begins,
// and what runs left when its time is over; `pawl gc` does the same and says what.
package upkeep

import (
	"context"
	"slices"
	"sync"
	"time"

	"pawl"
	"pawl/driver/leftover"
	"pawl/driver/retention"
	"pawl/face/cli/settings"
	"pawl/face/host"
	"pawl/kernel"
	"pawl/kernel/audit"
	"pawl/kernel/control"
	"pawl/kernel/effect"
	"pawl/kernel/query"
	"pawl/store/logs"
)

// Upkeep is that of one workspace. It is safe for concurrent use.
type Upkeep struct {
	place  effect.Place
	kernel *kernel.Kernel
	seal   Seal
	config settings.Retain

	mu   sync.Mutex
	last time.Time
}

// Seal verifies the audit log against what was signed of it, and signs its head (package notary).
type Seal interface {
	Verify(ctx context.Context, store kernel.Store, notes ...[]byte) (audit.Report, error)
	Sign(ctx context.Context, store kernel.Store) ([]byte, error)
}

// Of is the upkeep of a place.
func Of(place effect.Place, k *kernel.Kernel, s Seal, c settings.Retain) *Upkeep {
	return &Upkeep{place: place, kernel: k, seal: s, config: c}
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
		logs.Of(u.place.Own()).Prune(u.config.Logs())
		return
	}
	_, _ = u.history(ctx, false) // doctor says what is wrong with a log that does not verify
	if plan, _, err := u.plan(ctx); err == nil {
		_ = u.carry(ctx, plan.Without(retention.Left), func(retention.Item) {})
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
	if err == nil {
		out.History, err = u.history(ctx, dry)
	}
	if err != nil {
		return out, err
	}
	add := func(i retention.Item) {
		out.Items = append(out.Items, host.Retired{What: string(i.What), Name: i.Name, At: i.At, Bytes: i.Bytes})
		out.Bytes += i.Bytes
		tell(int64(len(out.Items)), int64(len(plan.Items)))
	}
	if !dry {
		return out, u.carry(ctx, plan, add)
	}
	for _, i := range plan.Items {
		add(i)
	}
	return out, nil
}

// carry retires what is planned, after the log says so.
func (u *Upkeep) carry(ctx context.Context, plan retention.Plan, tell func(retention.Item)) error {
	c := control.Discard{Before: u.kernel.Now().AddDate(0, 0, -u.config.Days).UTC()}
	for _, i := range plan.Without(retention.Left).Items {
		n := slices.IndexFunc(c.Things, func(d control.Discarded) bool { return d.What == string(i.What) })
		if n < 0 {
			n = len(c.Things)
			c.Things = append(c.Things, control.Discarded{What: string(i.What)})
		}
		d := &c.Things[n]
		if d.Count++; len(d.Names) < named {
			d.Names = append(d.Names, i.Name)
		}
		d.Bytes += i.Bytes
	}
	if len(c.Things) > 0 {
		if _, err := u.kernel.Do(ctx, kernel.Envelope{Actor: byRetention, Command: &c}); err != nil {
			return err
		}
	}
	return plan.Carry(ctx, tell)
}

// named is how many things of a kind the log names; of the others it has the number.
const named = 100

// byRetention is who retires history.
var byRetention = pawl.By(pawl.KindSystem, "retention")

// history retires what is older, or more, than is to be kept of it, nil where all of it is. The log is verified before,
// and its head is signed before and afterwards: what was retired is believed as far as a checkpoint reaches that was
// kept.
func (u *Upkeep) history(ctx context.Context, dry bool) (*host.History, error) {
	c := u.config
	if c.HistoryDays == 0 && c.HistoryMB == 0 {
		return nil, nil
	}
	now := u.kernel.Now()
	keep := query.Keep{Ended: now.AddDate(0, 0, -c.Days), Bytes: int64(c.HistoryMB) << 20}
	if c.HistoryDays > 0 {
		keep.Since = now.AddDate(0, 0, -c.HistoryDays)
	}
	out := &host.History{Days: c.HistoryDays, MB: c.HistoryMB}
	for more := true; more; {
		old, err := query.Old(ctx, u.kernel, keep)
		out.Held = old.Held
		if more = err == nil && old.Records > 0; !more {
			return out, err
		}
		if more = !dry && old.More; !dry {
			if err := u.retire(ctx, old, keep.Ended, out.Records == 0); err != nil {
				return out, err
			}
		}
		out.Records += old.Records
		out.Rows += len(old.Rows)
		out.Bytes += old.Bytes
		out.Begin, out.More = &old.Begin, dry && old.More
	}
	return out, nil
}

// retire commits a retirement, of a log that is verified if it was not.
func (u *Upkeep) retire(ctx context.Context, old query.History, ended time.Time, verify bool) error {
	store := u.kernel.Store()
	if verify {
		if _, err := u.seal.Verify(ctx, store); err != nil {
			return err
		}
		if _, err := u.seal.Sign(ctx, store); err != nil {
			return pawl.Fail(pawl.CodeOf(err), "audit.retain_unsigned").Because(err)
		}
	}
	if _, err := u.kernel.Do(ctx, kernel.Envelope{Actor: byRetention,
		Command: &control.Retire{Retirement: old.Retirement, Before: ended}}); err != nil {
		return err
	}
	_, err := u.seal.Sign(ctx, store)
	return err
}
