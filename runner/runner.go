// Package runner does the work that the kernel committed. It claims tasks and effects, hands each effect to its driver
// and feeds the receipt back; it holds the only goroutines of the core. Nothing is done before the kernel has committed
// that it is begun, so that after a crash every effect that was at work is known, and its driver is asked whether it
// happened before anything is done again (ARCHITECTURE.md, "Decide, commit, act, report").
//
// The caller must own the workspace's runner lock for as long as a Runner works.
package runner

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/audit"
	"pawl/kernel/control"
	"pawl/kernel/effect"
	"pawl/kernel/steps"
	"pawl/kernel/tasks"
	"pawl/machine/session"
	"pawl/machine/task"
	"pawl/machine/turn"
)

// Driver does the effects of one kind, or the calls of one tool.
type Driver interface {
	// Do makes one attempt. It returns early when ctx ends, leaving nothing running.
	Do(ctx context.Context, e effect.Effect, progress effect.Progress) effect.Receipt
	// Done says whether the effect happened already; with DoneYes it returns the receipt that Do would have.
	Done(ctx context.Context, e effect.Effect) (effect.Answer, effect.Receipt)
}

// Preflighter is a driver that can say beforehand which files a call will write, and refuse a call that cannot work.
// The images are committed before the call is made.
type Preflighter interface {
	Preflight(ctx context.Context, e effect.Effect) ([]effect.FileImage, error)
}

// Kernel is what the runner needs of the kernel.
type Kernel interface {
	Do(ctx context.Context, env kernel.Envelope) (kernel.Outcome, error)
	Snapshot(ctx context.Context) (*kernel.Snapshot, error)
	Effect(ctx context.Context, id string) (*kernel.EffectDoc, error)
	ToolCalls(ctx context.Context, id string) ([]*kernel.EffectDoc, error)
	Now() time.Time
}

// Options are what a Runner is made of.
type Options struct {
	// Owner names this runner in leases and records: host, process, and a part that no other runner has.
	Owner string
	// Claim is the token of the claim on an issue of the board that the work is done under, 0 where there is none.
	Claim int64
	// Drivers do the effects by kind, Tools the calls of KindTool by the tool's name.
	Drivers map[effect.Kind]Driver
	Tools   map[string]Driver
	// Record records the tree of a place and returns its id, for effects that ask for it. Nil records nothing.
	Record func(ctx context.Context, place effect.Place) (tree string, err error)
	// Progress is told what happens while an effect is at work. It may be nil.
	Progress func(e effect.Effect, line string)
	// Log has what an effect's driver writes kept while it is at work, by the context that the driver is given. It may
	// be nil.
	Log func(ctx context.Context, e effect.Effect) (_ context.Context, end func())
	// Taking has noted what is taken out of a tree by who is given the context, and tells of it. It may be nil.
	Taking func(ctx context.Context) (_ context.Context, taken func() []effect.Taken)
	// Poll is how often the store is asked for what other processes wrote; 50 ms unless set.
	Poll time.Duration
	// Beat is how often leases are prolonged; 30 s unless set.
	Beat time.Duration
	// Patience is the longest wait for the next attempt at a task; where it is set, Run rests instead of waiting
	// longer.
	Patience time.Duration
	// PlanOnly rests as soon as the plan is approved: when its work begins is decided elsewhere.
	PlanOnly bool
	// Turn waits for the runner's turn to bring work to a branch that several land on, and returns what ends it.
	// Landings that meet are safe without it, and only undo each other's verification. Tell is told what it waits for.
	// It may be nil.
	Turn func(ctx context.Context, tell func(error)) (end func(), err error)
	// Holds fails where the workspace is no longer where it was. Nothing is begun then, and what fails says nothing:
	// the effect stays at work until a runner finds it where the workspace is. Nil takes it for granted.
	Holds func() error
	// Waits is told what the work waits for that other processes have: the turn to land, or the store. It may be nil.
	Waits func(e effect.Effect, why error)
}

// StopReason says why a runner has nothing to do.
type StopReason string

// The reasons to rest.
const (
	StopIdle     StopReason = "idle"     // no run
	StopApproval StopReason = "approval" // a plan or an action waits for a person
	StopBlocked  StopReason = "blocked"
	StopPaused   StopReason = "paused"
	StopQuestion StopReason = "question" // the requirement is not clear, and a person is asked
	StopLater    StopReason = "later"    // the next attempt is due later than the runner's patience lasts
	StopPlanned  StopReason = "planned"  // the plan is approved, and its work is to begin elsewhere
)

// Runner works for one workspace. Run and Effect must not be called concurrently.
type Runner struct {
	speaker
	wake chan struct{}
	// about are the ids of what the runner saw when it looked last, nil before that.
	about atomic.Pointer[[]string]
	// begun are the effects that this runner began itself; any other that is at work was left by a dead one.
	begun map[string]bool
	// turn ends the runner's turn to land, nil while it has none.
	turn func()
}

// New returns a runner.
func New(k Kernel, opt Options) *Runner {
	if opt.Poll <= 0 {
		opt.Poll = 50 * time.Millisecond
	}
	if opt.Beat <= 0 {
		opt.Beat = 30 * time.Second
	}
	if opt.Progress == nil {
		opt.Progress = func(effect.Effect, string) {}
	}
	if opt.Log == nil {
		opt.Log = func(ctx context.Context, _ effect.Effect) (context.Context, func()) { return ctx, func() {} }
	}
	if opt.Taking == nil {
		opt.Taking = func(ctx context.Context) (context.Context, func() []effect.Taken) {
			return ctx, func() []effect.Taken { return nil }
		}
	}
	if opt.Holds == nil {
		opt.Holds = func() error { return nil }
	}
	if opt.Waits == nil {
		opt.Waits = func(effect.Effect, error) {}
	}
	return &Runner{speaker: speaker{k, opt}, wake: make(chan struct{}, 1), begun: map[string]bool{}}
}

// Wake tells the runner that something was committed. It never blocks and may be called from any goroutine.
func (r *Runner) Wake() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// Heard is for kernel.OnCommit where several runners share a kernel: it wakes the runner if a commit says something of
// what it saw last, which is all that its next step depends on. It may be called from any goroutine.
func (r *Runner) Heard(o kernel.Outcome) {
	about := r.about.Load()
	if about == nil || slices.ContainsFunc(o.Entries,
		func(e audit.Entry) bool { return slices.Contains(*about, e.Subject.ID) }) {
		r.Wake()
	}
}

// look reads what the runner works on, and keeps the ids of that for Heard.
func (r *Runner) look(ctx context.Context) (*kernel.Snapshot, error) {
	s, err := r.kernel.Snapshot(ctx)
	if err != nil || s.Session == nil {
		return s, err
	}
	about := []string{s.Session.ID}
	if s.Run != nil {
		about = append(about, s.Run.ID)
	}
	if s.Issue != nil {
		about = append(about, s.Issue.ID)
	}
	if s.Turn != nil {
		about = append(about, s.Turn.ID)
	}
	if s.Task != nil {
		about = append(about, s.Task.ID)
	}
	if s.Effect != nil {
		about = append(about, s.Effect.ID)
	}
	if s.Approval != nil {
		about = append(about, s.Approval.ID)
	}
	r.about.Store(&about)
	return s, nil
}

// Run works until there is nothing to do, and says why. It ends early with ctx's error when ctx ends; what was at work
// then is found and settled by the next Run, as after a crash.
func (r *Runner) Run(ctx context.Context) (StopReason, error) {
	defer r.endTurn()
	for {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		if err := r.opt.Holds(); err != nil {
			return "", err
		}
		s, err := r.look(ctx)
		if err != nil {
			return "", err
		}
		if err := r.holds(s); err != nil {
			return "", err // whoever has the claim now goes on
		}
		rest, wait, err := r.step(ctx, s)
		switch {
		case err != nil && !lost(err):
			return "", cmp.Or(ctx.Err(), err)
		case rest != "":
			return rest, nil
		case wait > 0 || err != nil:
			if err := r.sleep(ctx, min(max(wait, time.Millisecond), time.Second)); err != nil {
				return "", err
			}
		}
	}
}

// heldUp is an error about a lock that another process did not give up. Whoever waited for it has waited long enough.
type heldUp struct{ error }

func (h heldUp) Unwrap() error { return h.error }

// lost reports whether an error means only that somebody else was faster, so that the next look at the store shows
// something else to do. Any other refusal would come back with each retry.
func lost(err error) bool {
	var held heldUp
	var e *pawl.Error
	if errors.As(err, &held) || !errors.As(err, &e) {
		return false
	}
	return e.Code == pawl.CodeFenced || e.Code == pawl.CodeBusy && strings.HasPrefix(e.Key, "kernel.") || storeRaced(err)
}

// step does the one next thing for a snapshot: an effect, a claim, or a wait.
func (r *Runner) step(ctx context.Context, s *kernel.Snapshot) (StopReason, time.Duration, error) {
	if s.Session == nil {
		return StopIdle, 0, nil
	}
	if s.Task != nil && s.Task.OrphanEffect != "" {
		return "", 0, r.lookBack(ctx, s.Task.OrphanEffect)
	}
	if e := s.Effect; e != nil && current(s, e) {
		switch {
		case e.State == kernel.EffectRunning && !r.begun[e.ID]:
			return "", 0, r.recover(ctx, e)
		case e.State == kernel.EffectPending && s.Session.Paused():
			return StopPaused, 0, nil
		case e.State == kernel.EffectPending:
			return "", 0, r.perform(ctx, e)
		}
	}
	if rest := resting(s); rest != "" {
		return rest, 0, nil
	}
	if t := s.Task; t != nil {
		return r.stepTask(ctx, s, t)
	}
	return "", r.opt.Poll, nil
}

// current reports whether the effect is the one that the session or its task waits for.
func current(s *kernel.Snapshot, e *kernel.EffectDoc) bool {
	return s.Session.Effect == e.ID || s.Task != nil && s.Task.Effect == e.ID
}

// resting says why nothing is to be done in the session's state, or "".
func resting(s *kernel.Snapshot) StopReason {
	switch session.State(s.Session.State) {
	case session.Idle:
		return StopIdle
	case session.Confirming:
		return StopApproval
	case session.Blocked:
		return StopBlocked
	}
	if s.Session.Paused() {
		return StopPaused
	}
	if a := s.Approval; a != nil && a.State == kernel.ApprovalPending && a.ID == s.Session.Approval {
		return StopApproval
	}
	if s.Turn == nil {
		return ""
	}
	switch turn.State(s.Turn.State) {
	case turn.AwaitingConfirmation:
		return StopApproval
	case turn.Clarifying:
		return StopQuestion
	}
	return ""
}

// stepTask takes the lease on the run's task where this runner does not hold it.
func (r *Runner) stepTask(ctx context.Context, s *kernel.Snapshot, t *kernel.Task) (StopReason, time.Duration, error) {
	switch task.State(t.State) {
	case task.Queued:
		if r.opt.PlanOnly {
			return StopPlanned, 0, nil
		}
		if wait := t.Due.Sub(r.kernel.Now()); wait > 0 {
			if r.opt.Patience > 0 && wait > r.opt.Patience {
				return StopLater, 0, nil
			}
			return "", wait, nil
		}
	case task.Running, task.Verifying:
		if t.Lease.Owner == r.opt.Owner {
			return "", r.opt.Poll, nil
		}
	default:
		return "", r.opt.Poll, nil
	}
	_, err := r.do(ctx, &steps.Claim{Task: t.ID, Owner: r.opt.Owner})
	return "", 0, err
}

func (r *Runner) sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
	case <-r.wake:
	}
	return nil
}

// Effect performs one effect that belongs to no run, such as the gates of a task that is moved by hand.
func (r *Runner) Effect(ctx context.Context, id string) error {
	e, err := r.kernel.Effect(ctx, id)
	if err != nil {
		return err
	}
	if e == nil {
		return pawl.Fail(pawl.CodeNotFound, "kernel.effect_not_found", id)
	}
	if e.State == kernel.EffectRunning {
		if err := r.recover(ctx, e); err != nil {
			return err
		}
		if e, err = r.kernel.Effect(ctx, id); err != nil {
			return err
		}
	}
	if e.State != kernel.EffectPending {
		return nil
	}
	return r.perform(ctx, e)
}

// driver finds who does an effect.
func (r *Runner) driver(e effect.Effect) (Driver, error) {
	if e.Kind != effect.KindTool {
		if d, ok := r.opt.Drivers[e.Kind]; ok {
			return d, nil
		}
		return nil, pawl.Fail(pawl.CodeInternal, "runner.no_driver", string(e.Kind))
	}
	var call effect.ToolCall
	if err := json.Unmarshal(e.Spec, &call); err != nil {
		return nil, pawl.Fail(pawl.CodeInternal, "runner.result_malformed").Because(err)
	}
	if d, ok := r.opt.Tools[call.Name]; ok {
		return d, nil
	}
	return nil, pawl.Fail(pawl.CodeInvalid, "kernel.tool_unknown", call.Name)
}

// lookBack finds out what an effect left in the tree that was taken out of a runner's hands, when that runner is gone.
// While it lives it says so itself, with its report.
func (r *Runner) lookBack(ctx context.Context, id string) error {
	e, err := r.kernel.Effect(ctx, id)
	if err != nil {
		return err
	}
	if e == nil {
		return pawl.Fail(pawl.CodeNotFound, "kernel.effect_not_found", id)
	}
	return r.recover(ctx, e)
}

// inTurn waits for the turn to land before the work is brought to its branch, and ends it with anything that is not
// part of that. A landing has its turn however it came to it: its rebase may have been another runner's, which died. It
// reports whether the effect is still wanted: the turns of others may take long, and a person may cancel or pause the
// work meanwhile.
func (r *Runner) inTurn(ctx context.Context, doc *kernel.EffectDoc) (wanted bool, err error) {
	switch doc.Effect.Kind {
	case effect.KindRebase, effect.KindLand:
		if r.turn == nil && r.opt.Turn != nil {
			return r.awaitTurn(ctx, doc.Effect)
		}
	case effect.KindVerify, effect.KindGates:
	default:
		r.endTurn()
	}
	return true, nil
}

// awaitTurn waits for the turn to land, and no longer than the effect that needs it is wanted.
func (r *Runner) awaitTurn(ctx context.Context, e effect.Effect) (wanted bool, err error) {
	wait, stop := context.WithCancel(ctx)
	defer stop()
	over, watched := make(chan struct{}), make(chan struct{})
	wanted = true
	go func() {
		defer close(watched)
		r.follow(ctx, over, e, func(s *kernel.Snapshot, doc *kernel.EffectDoc) bool {
			if wanted = !s.Session.Paused() && doc != nil && doc.State == kernel.EffectPending &&
				r.holds(s) == nil; !wanted {
				stop()
			}
			return !wanted
		})
	}()
	r.turn, err = r.opt.Turn(wait, func(why error) { r.opt.Waits(e, why) })
	close(over)
	<-watched
	if pawl.CodeOf(err) == pawl.CodeBusy {
		err = heldUp{err}
	}
	if !wanted && ctx.Err() == nil {
		err = nil // whatever ended the wait, Run finds out why the effect is not wanted
	}
	return wanted, err
}

// holds returns an error where the claim that the work is done under is somebody else's now.
func (r *Runner) holds(s *kernel.Snapshot) error {
	if r.opt.Claim == 0 || s.Issue == nil {
		return nil
	}
	return s.Issue.Held(r.opt.Claim)
}

func (r *Runner) endTurn() {
	if r.turn != nil {
		r.turn()
		r.turn = nil
	}
}

// watch stops an effect that is at work when it was canceled, stopped or taken over. It goes on until the effect is
// over: a driver that does not end is what a sweep is for.
func (r *Runner) watch(ctx context.Context, over <-chan struct{}, stop func(), e effect.Effect) {
	r.follow(ctx, over, e, func(s *kernel.Snapshot, doc *kernel.EffectDoc) bool {
		if s.Task != nil && s.Task.ID == e.Task && !s.Task.CancelAt.IsZero() && interruptible(e.Kind) {
			stop()
		}
		if doc == nil || doc.State != kernel.EffectRunning || doc.Epoch != e.Token {
			stop()
			return true
		}
		return false
	})
}

// follow has what the store says of an effect judged, again and again, until it is over or judged to need no more of
// that. Meanwhile it prolongs the lease, and looks for overdue cancels.
func (r *Runner) follow(ctx context.Context, over <-chan struct{}, e effect.Effect,
	judge func(*kernel.Snapshot, *kernel.EffectDoc) (enough bool)) {
	poll := time.NewTicker(4 * r.opt.Poll)
	defer poll.Stop()
	lastBeat, lastSweep := r.kernel.Now(), r.kernel.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-over:
			return
		case <-poll.C:
		case <-r.wake:
		}
		if r.kernel.Now().Sub(lastBeat) >= r.opt.Beat {
			lastBeat = r.kernel.Now()
			r.heartbeat(ctx)
		}
		if r.kernel.Now().Sub(lastSweep) >= sweepEvery {
			lastSweep = r.kernel.Now()
			// What cannot be swept now is swept the next time.
			_, _ = give(ctx, r.speaker, &control.Sweep{Owner: r.opt.Owner})
		}
		s, err := r.look(ctx)
		if err != nil || s.Session == nil {
			continue
		}
		doc := s.Effect
		if doc == nil || doc.ID != e.ID {
			if doc, err = r.kernel.Effect(ctx, e.ID); err != nil {
				continue
			}
		}
		if judge(s, doc) {
			return
		}
	}
}

// sweepEvery is how often overdue cancels and tasks past their time are looked for while an effect is at work.
const sweepEvery = 2 * time.Second

// interruptible reports whether a cancel may stop an effect of the kind. What tidies up or lands is short and is
// finished.
func interruptible(k effect.Kind) bool {
	switch k {
	case effect.KindTool, effect.KindWork, effect.KindVerify, effect.KindGates, effect.KindProve, effect.KindRepair,
		effect.KindReview, effect.KindRewrite, effect.KindIntake, effect.KindPlan, effect.KindContext:
		return true
	}
	return false
}

func (r *Runner) heartbeat(ctx context.Context) {
	s, err := r.look(ctx)
	if err != nil || s.Task == nil || s.Task.Lease.Owner != r.opt.Owner {
		return
	}
	// A lease that cannot be prolonged shows in the next report, which is refused.
	_, _ = give(ctx, r.speaker, &tasks.Heartbeat{Task: s.Task.ID, Token: s.Task.Epoch})
}
