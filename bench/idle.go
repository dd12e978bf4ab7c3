package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"time"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/approval"
	"pawl/kernel/effect"
	"pawl/kernel/joined"
	"pawl/kernel/planning"
	"pawl/machine/task"
	"pawl/runner"
	"pawl/store/sqlite"
	"pawl/text/plan"
	"pawl/text/policy"
)

// instant is a driver that succeeds at once, so that a run costs what the kernel, the store and the runner cost.
type instant struct {
	receipt func(effect.Effect) effect.Receipt
}

func (d instant) Do(_ context.Context, e effect.Effect, _ effect.Progress) effect.Receipt {
	return d.receipt(e)
}

func (instant) Done(context.Context, effect.Effect) (effect.Answer, effect.Receipt) {
	return effect.DoneNo, effect.Receipt{}
}

// idleTool is the one tool of these runs.
const idleTool = "write_file"

// instantDrivers answers every kind of effect as drivers in good order do.
func instantDrivers() map[effect.Kind]runner.Driver {
	checked := effect.VerifyResult{Passed: true, Tree: "t1", TreeAfter: "t1",
		Outcomes: []effect.CheckOutcome{{Check: effect.Check{Name: "doctor", Command: "true"},
			Status: effect.CheckPassed}}}
	proposal := plan.Plan{
		Goal: "write one file", Constraints: []string{}, RiskLevel: pawl.RiskLow,
		Steps: []plan.Step{{StepID: "s1", Title: "write it", Intent: "it is asked for", Status: plan.Pending,
			ToolCalls: []plan.ToolCallTemplate{{Name: idleTool,
				ArgsHint: json.RawMessage(`{"path":"a.txt","content":"a"}`)}}}},
		Verification: plan.VerificationPolicy{Mode: plan.VerifyTest, Commands: []string{}, Required: true,
			StopOnFail: true},
	}
	out := map[effect.Kind]runner.Driver{}
	for kind, result := range map[effect.Kind]any{
		effect.KindContext: effect.ContextResult{Head: "c0", Branch: "main",
			Checks: []effect.Check{{Name: "doctor", Command: "true", Level: 2}}},
		effect.KindPlan:     effect.PlanResult{Plan: &proposal, Said: effect.Said{Agent: "script"}},
		effect.KindWorktree: effect.WorktreeResult{Tree: "t0"},
		effect.KindVerify:   checked,
		effect.KindGates:    checked,
		effect.KindLand:     effect.LandResult{Outcome: effect.Landed, Commit: "c1", Tree: "t1", Branch: "main"},
		effect.KindCleanup:  effect.CleanupResult{Performed: []string{"worktree"}},
		effect.KindArchive:  effect.ArchiveResult{},
	} {
		out[kind] = instant{func(effect.Effect) effect.Receipt { return effect.Succeeded(result) }}
	}
	out[effect.KindCheckpoint] = instant{func(e effect.Effect) effect.Receipt {
		spec, err := effect.Decode[effect.CheckpointSpec](e.Spec)
		if err != nil {
			return effect.Failed(err)
		}
		return effect.Succeeded(effect.CheckpointResult{Name: spec.Name, Tree: "t0", Commit: "k", Ref: "refs/pawl/" +
			spec.Name})
	}}
	return out
}

// office is a workspace whose runner waits in the background, as in a process that serves several faces.
type office struct {
	kernel *kernel.Kernel
	store  *sqlite.Store
	runner *runner.Runner
	// more tells the runner's goroutine that something was committed, rested the person's that nothing is left to do.
	more   chan struct{}
	rested chan runner.StopReason
	// queued and running are when the newest task came into the state, in nanoseconds since begun.
	begun           time.Time
	queued, running atomic.Int64
	// ahead is how far the kernel's clock is ahead: checkpoints are named by the minute, and each lap has one of its
	// own.
	ahead atomic.Int64
}

func openOffice(ctx context.Context, dir string) (*office, error) {
	store, err := sqlite.Open(filepath.Join(dir, "pawl.db"), sqlite.Options{Create: true})
	if err != nil {
		return nil, err
	}
	config := kernel.Defaults()
	config.Tools[idleTool] = kernel.Tool{
		Info: effect.ToolInfo{Name: idleTool, Version: "1.0.0", ArgsSchema: json.RawMessage(`{"type":"object"}`),
			Permissions: []policy.Permission{policy.FSWrite}},
		Request: func(json.RawMessage) (policy.Request, error) {
			return policy.Request{Tool: idleTool, Permissions: []policy.Permission{policy.FSRead}}, nil
		},
	}
	o := &office{store: store, begun: time.Now(), more: make(chan struct{}, 1), rested: make(chan runner.StopReason, 1)}
	clock := pawl.ClockFunc(func() time.Time { return time.Now().Add(time.Duration(o.ahead.Load())) })
	o.kernel = kernel.New(joined.Table(), store, config, clock, rand.Reader)
	o.runner = runner.New(o.kernel, runner.Options{Owner: "bench/4711", Drivers: instantDrivers(),
		Tools: map[string]runner.Driver{
			idleTool: instant{func(effect.Effect) effect.Receipt { return effect.Succeeded(effect.ToolResult{After: "t1"}) }},
		}})
	o.kernel.OnCommit(o.committed)
	_, err = o.do(ctx, &planning.Init{Place: effect.Place{Workspace: dir, Tree: dir, Git: true}})
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return o, nil
}

// committed notes when a task is queued and when it runs, and wakes the runner.
func (o *office) committed(out kernel.Outcome) {
	for _, e := range out.Entries {
		if e.Move == nil || e.Subject.Kind != string(kernel.KindTask) {
			continue
		}
		switch task.State(e.Move.To) {
		case task.Queued:
			o.queued.Store(int64(time.Since(o.begun)))
		case task.Running:
			o.running.Store(int64(time.Since(o.begun)))
		}
	}
	o.runner.Wake()
	select {
	case o.more <- struct{}{}:
	default:
	}
}

func (o *office) do(ctx context.Context, c kernel.Command) (kernel.Outcome, error) {
	return o.kernel.Do(ctx, kernel.Envelope{Actor: "user:bench", Command: c})
}

// serve works whenever something was committed, and says when it rests.
func (o *office) serve(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-o.more:
		}
		rest, err := o.runner.Run(ctx)
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
		select {
		case o.rested <- rest:
		default:
		}
	}
}

// until waits for the runner to rest for a reason.
func (o *office) until(ctx context.Context, want runner.StopReason) error {
	for {
		select {
		case rest := <-o.rested:
			switch rest {
			case want:
				return nil
			case runner.StopBlocked, runner.StopPaused:
				return fmt.Errorf("the runner rests: %s, not %s", rest, want)
			}
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(30 * time.Second):
			return fmt.Errorf("the runner did not come to rest: %s", want)
		}
	}
}

// lap takes one requirement from start to landing and returns how long its task was queued, and how long it all took
// from the approval on.
func (o *office) lap(ctx context.Context, n int) (wait, whole time.Duration, err error) {
	o.ahead.Add(int64(time.Minute))
	if _, err := o.do(ctx, &planning.Start{Requirement: fmt.Sprintf("write file %d", n), RunMode: pawl.Assisted,
		Place: effect.Place{Workspace: "/bench", Tree: "/bench", Git: true}}); err != nil {
		return 0, 0, err
	}
	if err := o.until(ctx, runner.StopApproval); err != nil {
		return 0, 0, err
	}
	s, err := o.kernel.Snapshot(ctx)
	if err != nil {
		return 0, 0, err
	}
	start := time.Now()
	if _, err := o.do(ctx, &approval.Approve{Hash: s.Approval.Hash}); err != nil {
		return 0, 0, err
	}
	if err := o.until(ctx, runner.StopIdle); err != nil {
		return 0, 0, err
	}
	whole = time.Since(start)
	wait = time.Duration(o.running.Load() - o.queued.Load())
	if wait <= 0 {
		return 0, 0, errors.New("the task did not run")
	}
	return wait, whole, nil
}

// benchIdle measures how long a task stays queued when a runner waits for it in the same process: from the commit of
// queued to the commit of running, lease and first effect included.
func benchIdle(ctx context.Context, s *settings, emit func(Result)) error {
	o, err := openOffice(ctx, s.dir)
	if err != nil {
		return err
	}
	defer o.store.Close()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		stop(o.serve(ctx))
	}()
	var waits, wholes []float64
	for start := time.Now(); time.Since(start) < s.span/4 || len(waits) < 20; {
		wait, whole, err := o.lap(ctx, len(waits))
		if err != nil {
			return errors.Join(err, context.Cause(ctx))
		}
		waits, wholes = append(waits, float64(wait)), append(wholes, float64(whole))
		if len(waits) == 1 {
			s.say("requirements, one after the other")
		}
	}
	stop(nil)
	<-ended
	half := median(waits)
	emit(Result{Case: "queued to running, p50", Pawl: tookNanos(half), Score: half / 1e6, Unit: "ms", Goal: 2,
		AtMost: true,
		Note: fmt.Sprintf("p99 %s, %d tasks; approval to landed with instant drivers %s", short(quantile(waits, 0.99)),
			len(waits), short(median(wholes)))})
	return nil
}
