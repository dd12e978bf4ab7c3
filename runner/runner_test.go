package runner_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"pawl"
	"pawl/internal/memory"
	"pawl/kernel"
	"pawl/kernel/control"
	"pawl/kernel/effect"
	"pawl/kernel/joined"
	"pawl/kernel/planning"
	"pawl/kernel/recovery"
	"pawl/runner"
	"pawl/text/plan"
	"pawl/text/policy"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// driver is a driver that does what a test tells it to.
type driver struct {
	do   func(ctx context.Context, e effect.Effect) effect.Receipt
	done effect.Answer
}

func (d driver) Do(ctx context.Context, e effect.Effect, _ effect.Progress) effect.Receipt {
	return d.do(ctx, e)
}

func (d driver) Done(context.Context, effect.Effect) (effect.Answer, effect.Receipt) {
	return d.done, effect.Succeeded(effect.ToolResult{})
}

func gives(result any) driver {
	return driver{do: func(context.Context, effect.Effect) effect.Receipt { return effect.Succeeded(result) },
		done: effect.DoneNo}
}

// checkpoint makes the checkpoint that was asked for.
func checkpoint(_ context.Context, e effect.Effect) effect.Receipt {
	spec, err := effect.Decode[effect.CheckpointSpec](e.Spec)
	if err != nil {
		return effect.Failed(err)
	}
	return effect.Succeeded(effect.CheckpointResult{Name: spec.Name, Tree: "t"})
}

// scene is a kernel on a store in memory with drivers that succeed, and one tool whose driver a test chooses.
type scene struct {
	t *testing.T
	k *kernel.Kernel
	o runner.Options
}

func newScene(t *testing.T, tool driver, idempotent bool) *scene {
	t.Helper()
	config := kernel.Defaults()
	config.ReadDelays = []time.Duration{time.Millisecond, 2 * time.Millisecond, 3 * time.Millisecond}
	config.CancelGrace = time.Second
	config.Tools["act"] = kernel.Tool{
		Info: effect.ToolInfo{Name: "act", Version: "1.0.0", ArgsSchema: json.RawMessage(`{"type":"object"}`),
			Idempotent: idempotent},
		Request: func(json.RawMessage) (policy.Request, error) {
			return policy.Request{Tool: "act", Permissions: []policy.Permission{policy.FSRead}}, nil
		},
	}
	p := plan.Plan{
		Goal: "act", Constraints: []string{}, RiskLevel: pawl.RiskLow,
		Verification: plan.VerificationPolicy{Mode: plan.VerifyNone, Commands: []string{}},
		Steps: []plan.Step{{StepID: "s1", Title: "t", Intent: "i", Status: plan.Pending,
			ToolCalls: []plan.ToolCallTemplate{{Name: "act", ArgsHint: json.RawMessage(`{}`)}}}},
	}
	checked := effect.VerifyResult{Passed: true, Tree: "t", TreeAfter: "t",
		Outcomes: []effect.CheckOutcome{{Check: effect.Check{Name: "doctor"}, Status: effect.CheckPassed}}}
	s := &scene{t: t, k: kernel.New(joined.Table(), memory.New(), config, pawl.ClockFunc(time.Now), rand.Reader)}
	s.o = runner.Options{Owner: "one", Poll: 2 * time.Millisecond, Tools: map[string]runner.Driver{"act": tool},
		Drivers: map[effect.Kind]runner.Driver{
			effect.KindContext:  gives(effect.ContextResult{Head: "c", Branch: "main"}),
			effect.KindPlan:     gives(effect.PlanResult{Plan: &p}),
			effect.KindWorktree: gives(effect.WorktreeResult{Tree: "t"}), effect.KindCheckpoint: driver{do: checkpoint,
				done: effect.DoneNo},
			effect.KindVerify: gives(checked), effect.KindGates: gives(checked),
			effect.KindRepair:  gives(effect.RepairResult{}),
			effect.KindLand:    gives(effect.LandResult{Outcome: effect.Landed, Tree: "t", Commit: "c2"}),
			effect.KindCleanup: gives(effect.CleanupResult{Performed: []string{"all"}}),
			effect.KindArchive: gives(effect.ArchiveResult{}),
		}}
	place := effect.Place{Workspace: "/w", Tree: "/w", Git: true}
	s.do(&planning.Init{Place: place})
	s.do(&planning.Start{Requirement: "act", Place: place, RunMode: pawl.Assisted, AutoApprove: "policy:test"})
	return s
}

func (s *scene) do(c kernel.Command) {
	s.t.Helper()
	if _, err := s.k.Do(context.Background(), kernel.Envelope{Actor: "user:ada", Command: c}); err != nil {
		s.t.Fatal(err)
	}
}

func (s *scene) look() *kernel.Snapshot {
	s.t.Helper()
	snap, err := s.k.Snapshot(context.Background())
	if err != nil {
		s.t.Fatal(err)
	}
	return snap
}

func TestReadsAreRetriedWritesAreNot(t *testing.T) {
	for _, idempotent := range []bool{true, false} {
		var calls atomic.Int32
		s := newScene(t, driver{do: func(context.Context, effect.Effect) effect.Receipt {
			if calls.Add(1) < 4 {
				return effect.Failed(pawl.Fail(pawl.CodeTimeout, "file.timeout"))
			}
			return effect.Succeeded(effect.ToolResult{})
		}, done: effect.DoneNo}, idempotent)
		rest, err := runner.New(s.k, s.o).Run(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if idempotent && (rest != runner.StopIdle || calls.Load() != 4) {
			t.Errorf("a read was tried %d times and the run came to rest %s", calls.Load(), rest)
		}
		if !idempotent && (rest != runner.StopBlocked || calls.Load() != 1) {
			t.Errorf("a write was tried %d times and the run came to rest %s", calls.Load(), rest)
		}
	}
}

func TestCancelStopsTheDriverAndCleansUp(t *testing.T) {
	started := make(chan struct{})
	var stopped atomic.Bool
	s := newScene(t, driver{do: func(ctx context.Context, _ effect.Effect) effect.Receipt {
		close(started)
		<-ctx.Done()
		stopped.Store(true)
		return effect.Failed(pawl.Fail(pawl.CodeCanceled, "runner.canceled"))
	}, done: effect.DoneUnknown}, false)
	var cleaned atomic.Bool
	s.o.Drivers[effect.KindCleanup] = driver{do: func(context.Context, effect.Effect) effect.Receipt {
		cleaned.Store(stopped.Load())
		return effect.Succeeded(effect.CleanupResult{Performed: []string{"worktree"}})
	}}
	go func() {
		<-started
		s.do(&control.CancelRun{Reason: "enough"})
	}()
	rest, err := runner.New(s.k, s.o).Run(context.Background())
	if err != nil || rest != runner.StopIdle || !cleaned.Load() {
		t.Fatalf("rest %s, %v; cleaned after the driver stopped: %v", rest, err, cleaned.Load())
	}
	task, err := s.k.TaskSnapshot(context.Background(), "T-001")
	if err != nil || task.Task.State != "canceled" || !slices.Equal(task.Task.Cleanup.Performed, []string{"worktree"}) {
		t.Errorf("task %s with cleanup %+v, %v", task.Task.State, task.Task.Cleanup, err)
	}
}

func TestADeadRunnersEffectIsSettledByAskingTheDriver(t *testing.T) {
	for answer, want := range map[effect.Answer]struct {
		rest  runner.StopReason
		calls int32
	}{
		effect.DoneYes: {runner.StopIdle, 0}, effect.DoneNo: {runner.StopIdle,
			1}, effect.DoneUnknown: {runner.StopBlocked, 0},
	} {
		t.Run(string(answer), func(t *testing.T) {
			ctx, die := context.WithCancel(context.Background())
			s := newScene(t, driver{do: func(ctx context.Context, _ effect.Effect) effect.Receipt {
				die()
				<-ctx.Done()
				return effect.Receipt{}
			}}, false)
			if _, err := runner.New(s.k, s.o).Run(ctx); !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			var calls atomic.Int32
			s.o.Owner = "two"
			s.o.Tools["act"] = driver{do: func(context.Context, effect.Effect) effect.Receipt {
				calls.Add(1)
				return effect.Succeeded(effect.ToolResult{})
			}, done: answer}
			rest, err := runner.New(s.k, s.o).Run(context.Background())
			if err != nil || rest != want.rest || calls.Load() != want.calls {
				t.Errorf("rest %s after %d further calls, %v; want %s after %d", rest, calls.Load(), err, want.rest,
					want.calls)
			}
		})
	}
}

// The tree is recorded before an effect that may change it and behind one that failed or was cut off, and what a
// command did that was stopped is known before the rollback restores anything, whether its runner lives or not.
func TestARollbackKnowsWhatTheStoppedCallDid(t *testing.T) {
	for name, dies := range map[string]bool{"the runner lives": false, "the runner dies": true} {
		t.Run(name, func(t *testing.T) {
			ctx, die := context.WithCancel(context.Background())
			defer die()
			var s *scene
			s = newScene(t, driver{do: func(ctx context.Context, _ effect.Effect) effect.Receipt {
				if dies {
					die()
				} else {
					s.do(&recovery.Rollback{})
				}
				<-ctx.Done()
				return effect.Failed(pawl.Fail(pawl.CodeCanceled, "shell.canceled"))
			}, done: effect.DoneUnknown}, false)
			var trees atomic.Int32
			s.o.Record = func(context.Context, effect.Place) (string, error) {
				return "seen" + strconv.Itoa(int(trees.Add(1))), nil
			}
			var spec effect.RestoreSpec
			s.o.Drivers[effect.KindRestore] = driver{do: func(_ context.Context, e effect.Effect) effect.Receipt {
				spec, _ = effect.Decode[effect.RestoreSpec](e.Spec)
				return effect.Succeeded(effect.RestoreResult{})
			}}
			s.do(&control.CancelRun{})
			place := effect.Place{Workspace: "/w", Tree: "/w", Git: true, InPlace: true}
			s.do(&planning.Start{Requirement: "act", Place: place, RunMode: pawl.Assisted, AutoApprove: "policy:test"})
			_, err := runner.New(s.k, s.o).Run(ctx)
			if dies {
				if !errors.Is(err, context.Canceled) {
					t.Fatal(err)
				}
				s.do(&recovery.Rollback{})
				s.o.Owner = "two"
				_, err = runner.New(s.k, s.o).Run(context.Background())
			}
			if got := s.look().Session.State; err != nil || got != "IDLE" {
				t.Fatalf("%s, %v", got, err)
			}
			if len(spec.Spans) != 1 || spec.Spans[0].Before != "seen1" || spec.Spans[0].After != "seen2" ||
				!spec.Spans[0].Cut {
				t.Errorf("%+v", spec)
			}
		})
	}
}

func TestAPanickingDriverFailsItsCallOnly(t *testing.T) {
	s := newScene(t, driver{do: func(context.Context, effect.Effect) effect.Receipt { panic("boom") }}, false)
	rest, err := runner.New(s.k, s.o).Run(context.Background())
	if err != nil || rest != runner.StopBlocked {
		t.Errorf("rest %s, %v", rest, err)
	}
}

func TestPauseStopsAtTheNextSafePoint(t *testing.T) {
	s := newScene(t, driver{}, false)
	s.o.Tools["act"] = driver{do: func(context.Context, effect.Effect) effect.Receipt {
		s.do(&control.Pause{})
		return effect.Succeeded(effect.ToolResult{})
	}}
	r := runner.New(s.k, s.o)
	if rest, err := r.Run(context.Background()); err != nil || rest != runner.StopPaused {
		t.Fatalf("rest %s, %v", rest, err)
	}
	if got := s.look(); got.Session.State != "EXECUTING" || got.Task.Effect != "" {
		t.Errorf("paused in %s with effect %q", got.Session.State, got.Task.Effect)
	}
	s.do(&control.Resume{})
	if rest, err := r.Run(context.Background()); err != nil || rest != runner.StopIdle {
		t.Errorf("after resume: %s, %v", rest, err)
	}
}

// Where the workspace is taken away, what fails for that says nothing, and what succeeds all the same is kept; whoever
// finds the workspace goes on.
func TestAWorkspaceThatIsTakenAway(t *testing.T) {
	for name, works := range map[string]bool{"the call fails": false, "the call succeeds": true} {
		t.Run(name, func(t *testing.T) {
			var gone atomic.Bool
			var calls atomic.Int32
			s := newScene(t, driver{do: func(context.Context, effect.Effect) effect.Receipt {
				calls.Add(1)
				gone.Store(true)
				if !works {
					return effect.Failed(pawl.Fail(pawl.CodeIO, "file.io"))
				}
				return effect.Succeeded(effect.ToolResult{})
			}, done: effect.DoneUnknown}, false)
			away := pawl.Fail(pawl.CodeIO, "cli.workspace_gone", "/w")
			s.o.Holds = func() error {
				if gone.Load() {
					return away
				}
				return nil
			}
			if _, err := runner.New(s.k, s.o).Run(context.Background()); !errors.Is(err, away) {
				t.Fatalf("it ended with %v", err)
			}
			if snap := s.look(); snap.Session.State != "EXECUTING" {
				t.Errorf("the session is %s", snap.Session.State)
			}
			gone.Store(false)
			s.o.Owner, s.o.Tools = "two", map[string]runner.Driver{"act": driver{do: func(context.Context,
				effect.Effect) effect.Receipt {
				calls.Add(1)
				return effect.Succeeded(effect.ToolResult{})
			}, done: effect.DoneNo}}
			rest, err := runner.New(s.k, s.o).Run(context.Background())
			want := int32(2)
			if works {
				want = 1
			}
			if err != nil || rest != runner.StopIdle || calls.Load() != want {
				t.Errorf("rest %s after %d calls, %v; want %d", rest, calls.Load(), err, want)
			}
		})
	}
}
