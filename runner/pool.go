package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/audit"
	"pawl/kernel/effect"
	"pawl/kernel/issues"
	"pawl/kernel/planning"
	"pawl/kernel/recovery"
	"pawl/machine/board"
	"pawl/machine/session"
)

// Backlog is what a pool needs of the kernel beside what each runner needs.
type Backlog interface {
	Kernel
	Store() kernel.Store
	OnCommit(f func(kernel.Outcome)) (cancel func())
}

// PoolOptions are what a Pool is made of.
type PoolOptions struct {
	// Options are those of each runner. Owner is the name of the pool, of which those of its workers are made; Progress
	// is replaced by Tell.
	Options
	// Session returns the kernel of an issue's session.
	Session func(label string) Kernel
	// Workers is how many issues are worked on at the same time.
	Workers int
	// Plan and Execute say what the pool does; both unless one is set.
	Plan, Execute bool
	// Issues restricts the pool to some issues, by their ids; none means all.
	Issues []string
	// Start is what a plan is asked for with: place, run mode, agent, and the policy in whose name plans are approved.
	Start planning.Start
	// Alive says whether the process of a worker is known to be there; one that is known to be gone loses its claims at
	// once.
	Alive func(owner string) bool
	// Lease is how long a claim lasts that is not renewed.
	Lease time.Duration
	// Branch is the branch that a batch is begun for, "" where there is none.
	Branch string
	// Stay keeps the pool waiting for further issues; otherwise it ends when nothing is left that it could do.
	Stay bool
	// Tell is told what happens. It may be called from several goroutines.
	Tell func(Happened)
}

// Happened is one thing that a pool did.
type Happened struct {
	What  What   `json:"what"`
	Owner string `json:"worker"`
	Issue string `json:"issue"` // label
	// Planning says that it was taken to be planned.
	Planning bool `json:"planning,omitempty"`
	// Rest says why the issue was left, State its status then; Line is what an effect says while it is at work. Err is
	// what a worker stumbled over or waits for, and for an issue that was left blocked what a person has to mend. A
	// worker that waits for its next issue names none.
	Rest  StopReason `json:"rest,omitempty"`
	State string     `json:"state,omitempty"`
	// Branch is the branch that the result of an issue is on, once it is completed.
	Branch string      `json:"branch,omitempty"`
	Effect effect.Kind `json:"effect,omitempty"`
	Line   string      `json:"line,omitempty"`
	Err    error       `json:"-"`
}

// What says what happened.
type What string

// The things that a pool does.
const (
	DidTake    What = "taken"
	DidLeave   What = "left"
	DidRetry   What = "retried"
	DidWork    What = "working"
	DidEvict   What = "evicted"
	DidStumble What = "stumbled"
	DidWait    What = "waiting"
)

// Pool works on the issues of the board: several at a time, each in its own session and worktree. Several crews, also
// in several processes, may work on one board: every issue is claimed under a lease before anything is done for it.
type Pool struct {
	kernel Backlog
	opt    PoolOptions

	mu   sync.Mutex
	wake chan struct{} // closed, and replaced, when there may be something to claim
	busy int
	// seen is when the claims of others were last seen to have been renewed.
	seen map[string]renewal
	// others are those claims, and told says for which of them, by issue and owner, it was told that they are waited
	// for.
	others []kernel.Busy
	told   map[string]bool
}

// renewal is the end of a claim as it was seen, and since when it has been that. Clocks differ, so that a claim of
// another worker has run out only when it was not renewed for the time of a lease by the clock of this one alone.
type renewal struct {
	due   time.Time
	since time.Time
}

// NewPool returns a pool.
func NewPool(k Backlog, opt PoolOptions) *Pool {
	if opt.Workers <= 0 {
		opt.Workers = 1
	}
	if !opt.Plan && !opt.Execute {
		opt.Plan, opt.Execute = true, true
	}
	if opt.Tell == nil {
		opt.Tell = func(Happened) {}
	}
	if opt.Holds == nil {
		opt.Holds = func() error { return nil }
	}
	if opt.Alive == nil {
		opt.Alive = func(string) bool { return true }
	}
	return &Pool{kernel: k, opt: opt, wake: make(chan struct{}), told: map[string]bool{}}
}

// Run works until ctx ends or nothing is left to do. The error is the first that keeps a worker from working at all;
// what goes wrong with one issue is told and leaves the others alone.
func (c *Pool) Run(ctx context.Context) error {
	defer c.kernel.OnCommit(func(o kernel.Outcome) {
		if ofBoard(o) {
			c.rouse()
		}
	})()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	errs := make([]error, c.opt.Workers)
	var all sync.WaitGroup
	for n := range c.opt.Workers {
		all.Add(1)
		go func() {
			defer all.Done()
			w := worker{Pool: c, owner: fmt.Sprintf("%s/%d", c.opt.Owner, n+1)}
			if errs[n] = w.run(ctx); errs[n] != nil {
				stop()
			}
		}()
	}
	all.Wait()
	for _, err := range errs {
		if err != nil && !errors.Is(err, context.Canceled) {
			return err
		}
	}
	return errors.Join(errs...)
}

// ofBoard reports whether a commit says something of an issue: nothing else makes one claimable.
func ofBoard(o kernel.Outcome) bool {
	return slices.ContainsFunc(o.Entries, func(e audit.Entry) bool {
		return e.Subject.Kind == string(kernel.KindIssue) || e.Subject.Kind == string(kernel.KindBoard)
	})
}

// rouse wakes every worker that waits.
func (c *Pool) rouse() {
	c.mu.Lock()
	defer c.mu.Unlock()
	close(c.wake)
	c.wake = make(chan struct{})
}

// roused is closed at the next rouse.
func (c *Pool) roused() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.wake
}

// worker is one of a pool.
type worker struct {
	*Pool
	owner string
}

// A worker with nothing to do looks again when this pool has written something of an issue, at most once in restless,
// and for what other processes write every idle.
const (
	idle     = 250 * time.Millisecond
	restless = 20 * time.Millisecond
)

func (w worker) run(ctx context.Context) error {
	for {
		if err := w.opt.Holds(); err != nil {
			return err
		}
		roused := w.roused() // before it looks, so that nothing is missed
		taken, planning, err := w.next(ctx)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case storeBusy(err): // by another process: it may go on at any time
			w.opt.Tell(Happened{What: DidWait, Owner: w.owner,
				Err: pawl.Fail(pawl.CodeBusy, "lock.store").Because(err)})
			continue
		case err != nil && !lost(err):
			return err
		case taken != nil:
			w.work(ctx, taken, planning)
			w.count(-1)
			w.rouse()
			continue
		}
		done, err := w.over(ctx)
		if storeBusy(err) {
			continue
		}
		if err != nil || done {
			return err
		}
		w.waits()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-roused:
			time.Sleep(restless)
		case <-time.After(idle):
		}
	}
}

// waits tells, once, for whom a pool waits that has nothing to do: a claim of a worker elsewhere goes on until it was
// not renewed for the time of a lease.
func (w worker) waits() {
	w.mu.Lock()
	others := slices.DeleteFunc(slices.Clone(w.others), func(b kernel.Busy) bool {
		return strings.HasPrefix(b.Owner, w.opt.Owner+"/") || w.told[b.Issue+" "+b.Owner]
	})
	if w.busy > 0 {
		others = nil
	}
	for _, b := range others {
		w.told[b.Issue+" "+b.Owner] = true
	}
	w.mu.Unlock()
	for _, b := range others {
		w.opt.Tell(Happened{What: DidWait, Owner: w.owner, Issue: b.Label,
			Err: pawl.Fail(pawl.CodeBusy, "kernel.issue_elsewhere", b.Owner, w.opt.Lease.String())})
	}
}

func (c *Pool) count(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.busy += n
}

// next does what is due on the board and claims an issue: one whose work can go on before one to plan.
func (w worker) next(ctx context.Context) (*issues.Taken, bool, error) {
	living, err := w.tidy(ctx)
	if err != nil {
		return nil, false, err
	}
	issues := w.opt.Issues
	if len(issues) == 0 {
		issues = []string{""}
	}
	for _, planning := range []bool{false, true} {
		if planning && !w.opt.Plan || !planning && !w.opt.Execute {
			continue
		}
		for _, issue := range issues {
			taken, err := w.take(ctx, issue, planning, living)
			if taken != nil || err != nil && (issue == "" || !refuses(err)) {
				return taken, planning, err
			}
		}
	}
	return nil, false, nil
}

// storeBusy reports whether an error of the kernel says that nothing was written because the store's turn did not come:
// another process has its lock, or is far behind. The same command may be given again.
func storeBusy(err error) bool {
	var e *pawl.Error
	return errors.As(err, &e) && (e.Key == "store.busy" || e.Key == "store.timeout")
}

// refuses reports whether an error only says that the issue cannot be claimed now. Anything else, such as a store that
// cannot be read, would come back for ever.
func refuses(err error) bool {
	switch pawl.CodeOf(err) {
	case pawl.CodeNotFound, pawl.CodeBlocked, pawl.CodeInvalidTransition:
		return true
	}
	return lost(err)
}

// take claims an issue, the one that is named if one is.
func (w worker) take(ctx context.Context, issue string, planning bool, living []string) (*issues.Taken, error) {
	w.count(1)
	out, err := w.do(ctx, &issues.ClaimIssue{Owner: w.owner, Planning: planning, Issue: issue, Now: w.kernel.Now(),
		Branch: w.opt.Branch, Living: living})
	var taken *issues.Taken
	if err == nil {
		err = json.Unmarshal(out.Result, &taken)
	}
	if err != nil || taken == nil {
		w.count(-1)
		return nil, err
	}
	w.opt.Tell(Happened{What: DidTake, Owner: w.owner, Issue: taken.Session, Planning: planning})
	return taken, nil
}

// tidy takes the claims of workers that are gone, and tells those that depend on what was completed. Living are the
// owners of claims that go on.
func (w worker) tidy(ctx context.Context) (living []string, err error) {
	rows, err := w.kernel.Store().Load(ctx,
		kernel.Select{Kind: kernel.KindBoard, Newest: true, Limit: 1},
		kernel.Select{Kind: kernel.KindIssue, States: []string{string(board.IssueCompleted)}, ByRank: true, Limit: 16,
			HotOnly: true})
	if err != nil {
		return nil, err
	}
	for _, r := range rows[1] {
		if r.Rank <= 0 {
			break // nobody waits to be told of it
		}
		if _, err := w.do(ctx, &issues.Release{Issue: r.ID}); err != nil {
			return nil, err
		}
	}
	for _, r := range rows[0] {
		b := new(kernel.Board)
		if err := kernel.Decode(r, b); err != nil {
			return nil, err
		}
		if living, err = w.living(ctx, b.Busy); err != nil {
			return nil, err
		}
		gone := map[string]bool{}
		for _, busy := range b.Busy {
			if gone[busy.Owner] || w.opt.Alive(busy.Owner) {
				continue
			}
			gone[busy.Owner] = true
			out, err := w.do(ctx, &issues.ReleaseIssue{Owner: busy.Owner})
			if err != nil {
				return nil, err
			}
			if out.Changed { // otherwise another worker was faster
				w.opt.Tell(Happened{What: DidEvict, Owner: busy.Owner, Issue: busy.Label})
			}
		}
	}
	return living, nil
}

// living are the owners among those that have claims whose claims were renewed within the time of a lease, as far as
// this pool has seen.
func (w worker) living(ctx context.Context, busy []kernel.Busy) (owners []string, err error) {
	sel := make([]kernel.Select, len(busy))
	for i, b := range busy {
		sel[i] = kernel.Select{Kind: kernel.KindIssue, ID: b.Issue, HotOnly: true}
	}
	rows, err := w.kernel.Store().Load(ctx, sel...)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	now, still := time.Now(), make(map[string]renewal, len(busy))
	for i, b := range busy {
		if len(rows[i]) == 0 {
			continue
		}
		at, known := w.seen[b.Issue]
		if due := rows[i][0].Due; !known || !due.Equal(at.due) {
			at = renewal{due, now}
		}
		still[b.Issue] = at
		if now.Sub(at.since) < w.opt.Lease {
			owners = append(owners, b.Owner)
		}
	}
	w.seen, w.others = still, busy
	return owners, nil
}

// over reports whether the pool is done: none of its workers works, and nothing is to be claimed now or at a known
// time.
func (w worker) over(ctx context.Context) (bool, error) {
	if w.opt.Stay {
		return false, nil
	}
	w.mu.Lock()
	busy := w.busy
	w.mu.Unlock()
	if busy > 0 {
		return false, nil
	}
	var states []string
	if w.opt.Execute {
		states = append(states, string(board.IssueExecuting), string(board.IssuePlanned), string(board.IssueCompleted),
			string(board.IssueFailed))
	}
	if w.opt.Plan {
		states = append(states, string(board.IssueRegistered), string(board.IssuePlanning))
	}
	var sel []kernel.Select
	for _, id := range w.opt.Issues {
		sel = append(sel, kernel.Select{Kind: kernel.KindIssue, ID: id, States: states, HotOnly: true})
	}
	if len(sel) == 0 {
		// What may be claimed at some time comes first in the order; what waits for something else is put off for ever.
		for _, state := range states {
			sel = append(sel, kernel.Select{Kind: kernel.KindIssue, States: []string{state}, ByRank: true, Limit: 1,
				HotOnly: true})
		}
	}
	rows, err := w.kernel.Store().Load(ctx, sel...)
	if err != nil {
		return false, err
	}
	return !slices.ContainsFunc(rows, func(found []kernel.Row) bool { return len(found) > 0 && found[0].Rank > 0 }), nil
}

// work does what a claimed issue needs until it rests, and leaves it.
func (w worker) work(ctx context.Context, t *issues.Taken, planning bool) {
	work, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	kept := make(chan struct{})
	go func() {
		defer close(kept)
		w.keep(work, stop, t)
	}()
	rest, err := w.drive(work, t, planning)
	stop(nil)
	<-kept
	if cause := context.Cause(work); err != nil && lost(cause) {
		err = cause // the claim, which says more than that the work was stopped
	}
	if err != nil && ctx.Err() == nil && w.opt.Holds() == nil {
		w.opt.Tell(Happened{What: DidStumble, Owner: w.owner, Issue: t.Session, Err: err})
	}
	w.leave(ctx, t, rest, err)
}

// pauseAfterError is how long an issue is left alone that could not be worked on for a reason of pawl's own.
const pauseAfterError = 30 * time.Second

// leave ends the claim, also when the pool is to end: what it did is settled, and the next one goes on from there.
func (w worker) leave(ctx context.Context, t *issues.Taken, rest StopReason, err error) {
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	leave := &issues.ReleaseIssue{Issue: t.Issue, Token: t.Token}
	if err != nil && ctx.Err() == nil && !lost(err) && w.opt.Holds() == nil {
		leave.Again = w.kernel.Now().Add(pauseAfterError)
	}
	if _, err := w.do(late, leave); err != nil && !lost(err) {
		w.opt.Tell(Happened{What: DidStumble, Owner: w.owner, Issue: t.Session, Err: err})
	}
	i := new(kernel.Issue)
	if rows, err := w.kernel.Store().Load(late, kernel.Select{Kind: kernel.KindIssue, ID: t.Issue}); err == nil &&
		len(rows[0]) > 0 {
		_ = kernel.Decode(rows[0][0], i) // what cannot be read is not told
	}
	left := Happened{What: DidLeave, Owner: w.owner, Issue: t.Session, Rest: rest, State: i.State, Branch: i.Landed}
	if rest == StopBlocked {
		if s, err := w.opt.Session(t.Session).Snapshot(late); err == nil && s.Session != nil &&
			s.Session.Blocked != nil {
			left.Err = s.Session.Blocked.Error.Err()
		}
	}
	w.opt.Tell(left)
}

// keep prolongs the claim, and stops the work when it is lost.
func (w worker) keep(ctx context.Context, stop context.CancelCauseFunc, t *issues.Taken) {
	beat := w.opt.Beat
	if beat <= 0 {
		beat = 30 * time.Second
	}
	ticker := time.NewTicker(beat)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if _, err := w.do(ctx, &issues.RenewIssue{Issue: t.Issue, Token: t.Token}); errors.Is(err, pawl.ErrFenced) {
			stop(err)
			return
		}
	}
}

// patience is how long a worker waits for the next attempt at an issue before it turns to another one.
const patience = 2 * time.Second

// drive runs the issue's session until it rests, and helps it on as far as the policy of the board goes.
func (w worker) drive(ctx context.Context, t *issues.Taken, planning bool) (StopReason, error) {
	k := w.opt.Session(t.Session)
	o := w.opt.Options
	o.Owner, o.Claim, o.PlanOnly, o.Patience = w.owner, t.Token, planning, patience
	o.Progress = func(e effect.Effect, line string) {
		w.opt.Tell(Happened{What: DidWork, Owner: w.owner, Issue: t.Session, Effect: e.Kind, Line: line})
	}
	o.Waits = func(_ effect.Effect, why error) {
		w.opt.Tell(Happened{What: DidWait, Owner: w.owner, Issue: t.Session, Err: why})
	}
	r := New(k, o)
	defer w.kernel.OnCommit(r.Heard)()
	if planning {
		s, err := k.Snapshot(ctx)
		if err != nil {
			return "", err
		}
		if s.Session == nil || s.Session.State == string(session.Idle) {
			start := w.opt.Start
			start.Issue, start.Token = t.Issue, t.Token
			if _, err := w.give(ctx, k, pawl.By(pawl.KindRunner, w.owner), t.Token, &start); err != nil {
				return "", err
			}
		}
	}
	for {
		rest, err := r.Run(ctx)
		if err != nil || rest != StopBlocked {
			return rest, err
		}
		if err = w.help(ctx, k, t); err != nil {
			if pawl.CodeOf(err) == pawl.CodeBudget || lost(err) {
				err = nil // a person has to help
			}
			return rest, err
		}
	}
}

// byPolicy is who tries again.
var byPolicy = pawl.By(pawl.KindPolicy, "board/retry")

// help tries again what failed, within the budget of the board. Work that conflicts with what landed meanwhile is taken
// back to begin anew on the present branch, once, and is told of the conflict.
func (w worker) help(ctx context.Context, k Kernel, t *issues.Taken) error {
	s, err := k.Snapshot(ctx)
	if err != nil {
		return err
	}
	refused := pawl.Fail(pawl.CodeBudget, "kernel.board_retries", t.Session)
	if s.Session == nil || s.Session.Blocked == nil {
		return refused
	}
	switch b := s.Session.Blocked; b.Kind {
	case kernel.BlockedDependency:
		_, err = w.give(ctx, k, byPolicy, t.Token, &recovery.Rollback{Reason: b.Error.Key})
	case kernel.BlockedFuse:
		_, err = w.give(ctx, k, byPolicy, t.Token, &recovery.Fix{})
	default:
		return refused
	}
	if err == nil {
		w.opt.Tell(Happened{What: DidRetry, Owner: w.owner, Issue: t.Session})
	}
	return err
}

func (w worker) do(ctx context.Context, c kernel.Command) (kernel.Outcome, error) {
	return w.give(ctx, w.kernel, pawl.By(pawl.KindRunner, w.owner), 0, c)
}

func (w worker) give(ctx context.Context, k Kernel, by pawl.Actor, claim int64,
	c kernel.Command) (kernel.Outcome, error) {
	return k.Do(ctx, kernel.Envelope{Actor: by, Claim: claim, Command: c})
}
