package runner_test

import (
	"context"
	"crypto/rand"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"pawl"
	"pawl/internal/memory"
	"pawl/kernel"
	"pawl/kernel/effect"
	"pawl/kernel/joined"
	"pawl/kernel/planning"
	"pawl/runner"
)

// refusing is the table of the kernel, which refuses each plan that was made.
func refusing(code pawl.Code) *kernel.Protocols {
	table := joined.Table()
	made := table.Effects[effect.KindPlan].Done
	table.Effects[effect.KindPlan] = kernel.Follow{Done: func(tx *kernel.Tx, r effect.Receipt) error {
		if err := made(tx, r); err != nil || !r.OK {
			return err
		}
		return pawl.Fail(code, "solution.names_taken", "a", 100)
	}}
	return table
}

// TestRefusedReceiptRepeatsNothing: a call that the kernel refuses the receipt of is not made again. The effect fails
// with the refusal and keeps the result, and the attempt ends with the reason.
func TestRefusedReceiptRepeatsNothing(t *testing.T) {
	for _, code := range []pawl.Code{pawl.CodeConflict, pawl.CodeBusy, pawl.CodeInvalid} {
		t.Run(string(code), func(t *testing.T) {
			s := newScene(t, gives(effect.ToolResult{}), true)
			s.k = kernel.New(refusing(code), memory.New(), *s.k.Config(), pawl.ClockFunc(time.Now), rand.Reader)
			place := effect.Place{Workspace: "/w", Tree: "/w", Git: true}
			s.do(&planning.Init{Place: place})
			s.do(&planning.Start{Requirement: "act", Place: place, RunMode: pawl.Assisted})
			calls, last := countPlans(s.o.Drivers)
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			if rest, err := runner.New(s.k, s.o).Run(ctx); err != nil || rest != runner.StopIdle {
				t.Fatalf("rest %s, %v", rest, err)
			}
			if failed := s.look().Session.LastError; failed == nil || failed.Key != "solution.names_taken" ||
				failed.Code != code {
				t.Errorf("it failed with %+v", failed)
			}
			e, err := s.k.Effect(t.Context(), *last)
			if calls.Load() != 1 || err != nil || e.State != kernel.EffectFailed || !e.Receipt.Refused ||
				e.Receipt.Key != "solution.names_taken" || len(e.Receipt.Result) == 0 {
				t.Errorf("%d calls, the effect is %s with %+v: %v", calls.Load(), e.State, e.Receipt, err)
			}
		})
	}
}

// TestRefusedReceiptOnTheBoard: nor does the board plan an issue again whose plan was refused.
func TestRefusedReceiptOnTheBoard(t *testing.T) {
	g := newGang(t, nil, "act")
	calls, _ := countPlans(g.o.Drivers)
	g.k = kernel.New(refusing(pawl.CodeConflict), g.store, *g.k.Config(), pawl.ClockFunc(time.Now), rand.Reader)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if err := runner.NewPool(g.k, g.o).Run(ctx); err != nil {
		t.Fatal(err)
	}
	rows, err := g.k.Store().Load(t.Context(), kernel.Select{Kind: kernel.KindIssue})
	i := new(kernel.Issue)
	if err = errors.Join(err, kernel.Decode(rows[0][0], i)); err != nil {
		t.Fatal(err)
	}
	if calls.Load() != 1 || i.State != "failed" || i.Error == nil || i.Error.Key != "solution.names_taken" {
		t.Errorf("%d calls; the issue is %s with %+v", calls.Load(), i.State, i.Error)
	}
}

// TestReceiptThatWasFoundIsRefused: what a dead runner's planner is found to have made is not made again either.
func TestReceiptThatWasFoundIsRefused(t *testing.T) {
	s := newScene(t, gives(effect.ToolResult{}), true)
	s.k = kernel.New(refusing(pawl.CodeConflict), memory.New(), *s.k.Config(), pawl.ClockFunc(time.Now), rand.Reader)
	place := effect.Place{Workspace: "/w", Tree: "/w", Git: true}
	s.do(&planning.Init{Place: place})
	s.do(&planning.Start{Requirement: "act", Place: place, RunMode: pawl.Assisted})
	ctx, die := context.WithCancel(t.Context())
	made := s.o.Drivers[effect.KindPlan].Do(ctx, effect.Effect{}, nil)
	s.o.Drivers[effect.KindPlan] = driver{do: func(context.Context, effect.Effect) effect.Receipt {
		die()
		return made
	}}
	if _, err := runner.New(s.k, s.o).Run(ctx); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	s.o.Owner, s.o.Drivers[effect.KindPlan] = "two", found{made}
	late, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	rest, err := runner.New(s.k, s.o).Run(late)
	if failed := s.look().Session.LastError; err != nil || rest != runner.StopIdle || failed == nil ||
		failed.Key != "solution.names_taken" {
		t.Errorf("rest %s, %v, %+v", rest, err, failed)
	}
}

// found is a driver whose effect happened.
type found struct{ made effect.Receipt }

func (f found) Do(context.Context, effect.Effect, effect.Progress) effect.Receipt {
	return effect.Failed(pawl.Fail(pawl.CodeInternal, "runner.driver_crashed", "plan", "done again"))
}

func (f found) Done(context.Context, effect.Effect) (effect.Answer, effect.Receipt) {
	return effect.DoneYes, f.made
}

// countPlans counts the calls of the planner, and keeps the id of the effect.
func countPlans(drivers map[effect.Kind]runner.Driver) (calls *atomic.Int32, last *string) {
	calls, last = new(atomic.Int32), new(string)
	plans := drivers[effect.KindPlan]
	drivers[effect.KindPlan] = driver{do: func(ctx context.Context, e effect.Effect) effect.Receipt {
		calls.Add(1)
		*last = e.ID
		return plans.Do(ctx, e, nil)
	}, done: effect.DoneNo}
	return calls, last
}
