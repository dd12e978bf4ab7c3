package runner_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/control"
	"pawl/kernel/effect"
	"pawl/kernel/issues"
	"pawl/runner"
)

// counted is the kernel of a lane that counts how often its runner looks.
type counted struct {
	*kernel.Kernel
	looks *atomic.Int64
}

func (c counted) Snapshot(ctx context.Context) (*kernel.Snapshot, error) {
	c.looks.Add(1)
	return c.Kernel.Snapshot(ctx)
}

// lanes are the labels of the issues of a gang, whose runners count their looks.
func (g *gang) lanes() (labels []string, looks map[string]*atomic.Int64) {
	g.t.Helper()
	rows, err := g.k.Store().Load(context.Background(), kernel.Select{Kind: kernel.KindIssue})
	if err != nil {
		g.t.Fatal(err)
	}
	looks = map[string]*atomic.Int64{}
	for _, r := range rows[0] {
		labels, looks[r.Label] = append(labels, r.Label), new(atomic.Int64)
	}
	g.o.Session = func(label string) runner.Kernel { return counted{g.k.Session(label), looks[label]} }
	return labels, looks
}

// soon waits until something is so.
func soon(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

// TestCommitWakesTheRunnerThatItConcerns has four lanes at work, none of which looks by itself for a long time: what is
// written in one of them wakes its runner and leaves the others alone.
func TestCommitWakesTheRunnerThatItConcerns(t *testing.T) {
	var at atomic.Int32
	waits := driver{do: func(ctx context.Context, _ effect.Effect) effect.Receipt {
		at.Add(1)
		<-ctx.Done()
		return effect.Failed(ctx.Err())
	}, done: effect.DoneNo}
	g := newGang(t, map[effect.Kind]runner.Driver{effect.KindPlan: waits}, "one", "two", "three", "four")
	labels, looks := g.lanes()
	g.o.Workers, g.o.Poll, g.o.Beat = 4, time.Hour, time.Hour
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	over := make(chan error, 1)
	go func() { over <- runner.NewPool(g.k, g.o).Run(ctx) }()
	soon(t, "four plans", func() bool { return at.Load() == 4 })
	sum := func() (n int64) {
		for _, c := range looks {
			n += c.Load()
		}
		return n
	}
	was := int64(-1)
	soon(t, "calm", func() bool {
		before := was
		was = sum()
		time.Sleep(20 * time.Millisecond)
		return was == before && sum() == was
	})
	before := map[string]int64{}
	for l, n := range looks {
		before[l] = n.Load()
	}
	lane := g.k.Session(labels[0])
	const commits = 20
	for n := range commits {
		seen := looks[labels[0]].Load()
		var c kernel.Command = &control.Pause{}
		if n%2 == 1 {
			c = &control.Resume{}
		}
		if out, err := lane.Do(context.Background(), kernel.Envelope{Actor: "user:ada", Command: c}); err != nil ||
			!out.Changed {
			t.Fatalf("%+v, %v", out, err)
		}
		soon(t, "the runner of the lane to look", func() bool { return looks[labels[0]].Load() > seen })
	}
	time.Sleep(20 * time.Millisecond)
	t.Logf("%d looks for %d commits in one of four lanes", sum()-was, commits)
	for _, l := range labels[1:] {
		if n := looks[l].Load() - before[l]; n != 0 {
			t.Errorf("the runner of %s looked %d times for what was written in %s", l, n, labels[0])
		}
	}
	cancel()
	if err := <-over; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestWaitForTheTurnToLandHearsAPerson cancels, pauses or takes away work that waits for its turn to land, while
// somebody else has the turn for as long as it takes: the waiting ends at once, nothing is landed, and the turn is not
// kept.
func TestWaitForTheTurnToLandHearsAPerson(t *testing.T) {
	for name, c := range map[string]struct {
		give kernel.Command
		ends func(h runner.Happened) bool
	}{
		"canceled": {&control.CancelRun{Reason: "enough"},
			func(h runner.Happened) bool { return h.What == runner.DidLeave && h.Rest == runner.StopIdle }},
		"paused": {&control.Pause{}, func(h runner.Happened) bool {
			return h.What == runner.DidLeave &&
				h.Rest == runner.StopPaused
		}},
		"evicted": {&issues.ReleaseIssue{Owner: "one/1"},
			func(h runner.Happened) bool { return h.What == runner.DidStumble && errors.Is(h.Err, pawl.ErrFenced) }},
	} {
		t.Run(name, func(t *testing.T) {
			var rebased atomic.Bool
			g := newGang(t, map[effect.Kind]runner.Driver{
				effect.KindRebase: driver{do: func(context.Context, effect.Effect) effect.Receipt {
					rebased.Store(true)
					return effect.Succeeded(effect.RebaseResult{})
				}, done: effect.DoneNo},
			}, "act")
			labels, _ := g.lanes()
			g.o.Poll, g.o.Beat = time.Hour, time.Hour
			waiting := make(chan struct{})
			var once sync.Once
			g.o.Turn = func(ctx context.Context, _ func(error)) (func(), error) {
				once.Do(func() { close(waiting) })
				<-ctx.Done()
				return nil, ctx.Err()
			}
			ctx, cancel := context.WithCancel(context.Background())
			over := make(chan error, 1)
			go func() { over <- runner.NewPool(g.k, g.o).Run(ctx) }()
			defer func() { cancel(); <-over }()
			select {
			case <-waiting:
			case <-time.After(time.Minute):
				t.Fatalf("it does not come to wait for its turn: %+v", g.told)
			}
			if _, err := g.k.Session(labels[0]).Do(ctx,
				kernel.Envelope{Actor: "user:ada", Command: c.give}); err != nil {
				t.Fatal(err)
			}
			soon(t, "the end of the waiting", func() bool {
				g.mu.Lock()
				defer g.mu.Unlock()
				return slices.ContainsFunc(g.told, c.ends)
			})
			if rebased.Load() {
				t.Error("it was brought to the branch all the same")
			}
		})
	}
}

// TestEveryLandingHasItsTurn: a landing that comes without a rebase before it, as that of a run by itself and that
// which a dead runner had begun, waits for its turn like any other, and gives it back.
func TestEveryLandingHasItsTurn(t *testing.T) {
	s := newScene(t, gives(effect.ToolResult{}), true)
	var held, given, landed atomic.Int32
	s.o.Turn = func(context.Context, func(error)) (func(), error) {
		given.Add(1)
		held.Add(1)
		return func() { held.Add(-1) }, nil
	}
	for kind, d := range s.o.Drivers {
		s.o.Drivers[kind] = driver{do: func(ctx context.Context, e effect.Effect) effect.Receipt {
			if mine := held.Load() == 1; mine != (kind == effect.KindLand) {
				t.Errorf("%s: has the turn to land: %v", kind, mine)
			}
			if kind == effect.KindLand {
				landed.Add(1)
			}
			return d.Do(ctx, e, nil)
		}, done: effect.DoneNo}
	}
	if rest, err := runner.New(s.k, s.o).Run(context.Background()); err != nil || rest != runner.StopIdle {
		t.Fatalf("%s, %v", rest, err)
	}
	if landed.Load() != 1 || given.Load() != 1 || held.Load() != 0 {
		t.Errorf("landed %d times, had its turn %d times, %d not given back", landed.Load(), given.Load(), held.Load())
	}
}
