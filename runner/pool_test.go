package runner_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pawl"
	"pawl/internal/memory"
	"pawl/kernel"
	"pawl/kernel/effect"
	"pawl/kernel/issues"
	"pawl/kernel/joined"
	"pawl/kernel/planning"
	"pawl/runner"
)

// gang is a board with issues in memory, whose agents and checks do what a test tells them to.
type gang struct {
	t     *testing.T
	k     *kernel.Kernel
	store *shaky
	o     runner.PoolOptions

	mu   sync.Mutex
	told []runner.Happened
}

// shaky is a store that can be made to fail.
type shaky struct {
	kernel.Store
	mu  sync.Mutex
	err error
}

func (s *shaky) breaks(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = err
}

func (s *shaky) Commit(ctx context.Context, b kernel.Batch) (kernel.Committed, error) {
	s.mu.Lock()
	err := s.err
	s.mu.Unlock()
	if err != nil {
		return kernel.Committed{}, err
	}
	return s.Store.Commit(ctx, b)
}

func newGang(t *testing.T, drivers map[effect.Kind]runner.Driver, titles ...string) *gang {
	t.Helper()
	base := newScene(t, gives(effect.ToolResult{}), true)
	config := kernel.Defaults()
	config.Tools = base.k.Config().Tools
	config.Retry.Base = time.Hour
	g := &gang{t: t, store: &shaky{Store: memory.New()}}
	g.k = kernel.New(joined.Table(), g.store, config, pawl.ClockFunc(time.Now), rand.Reader)
	g.o = runner.PoolOptions{Options: base.o, Session: func(label string) runner.Kernel { return g.k.Session(label) },
		Tell: func(h runner.Happened) {
			g.mu.Lock()
			defer g.mu.Unlock()
			g.told = append(g.told, h)
		}}
	for k, d := range drivers {
		g.o.Drivers[k] = d
	}
	place := effect.Place{Workspace: "/w", Tree: "/w", Git: true}
	g.o.Start = planning.Start{Place: place, RunMode: pawl.Assisted, AutoApprove: "policy:test"}
	g.do(&planning.Init{Place: place})
	var listed []issues.NewIssue
	for _, title := range titles {
		listed = append(listed, issues.NewIssue{Title: title})
	}
	g.do(&issues.AddIssues{Issues: listed})
	return g
}

func (g *gang) do(c kernel.Command) kernel.Outcome {
	g.t.Helper()
	out, err := g.k.Do(context.Background(), kernel.Envelope{Actor: "user:ada", Command: c})
	if err != nil {
		g.t.Fatal(err)
	}
	return out
}

// count is how often something happened.
func (g *gang) count(what runner.What) (n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, h := range g.told {
		if h.What == what {
			n++
		}
	}
	return n
}

// TestIssueThatIsDueLaterIsLeftAlone fails the gates of an issue, which puts its next attempt an hour off: the pool
// must not take and leave it again and again until then.
func TestIssueThatIsDueLaterIsLeftAlone(t *testing.T) {
	failed := effect.VerifyResult{Tree: "t", TreeAfter: "t",
		Outcomes: []effect.CheckOutcome{{Check: effect.Check{Name: "doctor"}, Status: effect.CheckFailed}}}
	g := newGang(t, map[effect.Kind]runner.Driver{effect.KindGates: gives(failed)}, "act")
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	if err := runner.NewPool(g.k, g.o).Run(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("the pool does not wait for the next attempt: %v", err)
	}
	later := slices.ContainsFunc(g.told, func(h runner.Happened) bool { return h.Rest == runner.StopLater })
	if n := g.count(runner.DidTake); n > 3 || !later {
		t.Errorf("taken %d times: %+v", n, g.told)
	}
}

// TestStoreThatFailsEndsTheCrew has the store refuse to write: a pool that is to work on one issue must say so, as one
// that works on all does, and not try for ever.
func TestStoreThatFailsEndsTheCrew(t *testing.T) {
	full := pawl.Fail(pawl.CodeIO, "store.io", "full")
	for _, named := range []bool{false, true} {
		g := newGang(t, nil, "act")
		if named {
			out, err := g.k.Store().Load(context.Background(), kernel.Select{Kind: kernel.KindIssue})
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range out[0] {
				g.o.Issues = append(g.o.Issues, r.ID)
			}
		}
		g.store.breaks(full)
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		if err := runner.NewPool(g.k, g.o).Run(ctx); pawl.CodeOf(err) != pawl.CodeIO {
			t.Errorf("named %v: %v", named, err)
		}
		cancel()
	}
}

// TestWorkerThatLostItsClaimStops takes a claim from a worker that is at work, as another process does that holds it
// for dead: the work is stopped, and what is told is why.
func TestWorkerThatLostItsClaimStops(t *testing.T) {
	started, stopped := make(chan struct{}), make(chan struct{})
	var once, end sync.Once
	waits := driver{do: func(ctx context.Context, _ effect.Effect) effect.Receipt {
		once.Do(func() { close(started) })
		<-ctx.Done()
		end.Do(func() { close(stopped) })
		return effect.Failed(ctx.Err())
	}, done: effect.DoneNo}
	g := newGang(t, map[effect.Kind]runner.Driver{effect.KindPlan: waits}, "act")
	g.o.Beat = 10 * time.Millisecond
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	over := make(chan error, 1)
	go func() { over <- runner.NewPool(g.k, g.o).Run(ctx) }()
	<-started
	g.do(&issues.ReleaseIssue{Owner: "one/1"})
	select {
	case <-stopped:
	case <-ctx.Done():
		t.Error("the work goes on without a claim")
	}
	for g.count(runner.DidStumble) == 0 && ctx.Err() == nil {
		time.Sleep(time.Millisecond)
	}
	cancel()
	<-over
	if i := slices.IndexFunc(g.told, func(h runner.Happened) bool { return h.What == runner.DidStumble }); i < 0 ||
		!errors.Is(g.told[i].Err, pawl.ErrFenced) {
		t.Errorf("%+v", g.told)
	}
}

// TestClockAheadTakesNoLivingClaim: the clock of this pool is far ahead of the one by which another worker has a claim,
// which it renews. The claim is taken only when it was not renewed for the time of a lease.
func TestClockAheadTakesNoLivingClaim(t *testing.T) {
	g := newGang(t, newScene(t, gives(effect.ToolResult{}), true).o.Drivers, "act")
	out := g.do(&issues.ClaimIssue{Owner: "there/1", Planning: true, Now: g.k.Now()})
	var taken issues.Taken
	if err := json.Unmarshal(out.Result, &taken); err != nil || taken.Issue == "" {
		t.Fatalf("%+v %v", taken, err)
	}
	g.o.Lease, g.o.Stay = time.Second, true
	ahead := kernel.New(joined.Table(), g.store, *g.k.Config(), pawl.ClockFunc(func() time.Time {
		return time.Now().Add(24 * time.Hour)
	}), rand.Reader)
	g.o.Session = func(label string) runner.Kernel { return ahead.Session(label) }
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	over := make(chan error, 1)
	go func() { over <- runner.NewPool(ahead, g.o).Run(ctx) }()
	for end := time.Now().Add(2 * time.Second); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		g.do(&issues.RenewIssue{Issue: taken.Issue, Token: taken.Token})
		if n := g.count(runner.DidWait); n > 1 {
			t.Fatalf("it is told %d times that the claim is waited for", n)
		}
		if g.count(runner.DidTake) > 0 {
			t.Fatal("a claim that is renewed was taken")
		}
	}
	for g.count(runner.DidTake) == 0 && ctx.Err() == nil {
		time.Sleep(10 * time.Millisecond)
	}
	if g.count(runner.DidTake) == 0 {
		t.Error("a claim that is renewed no more was never taken")
	}
	if g.count(runner.DidWait) == 0 {
		t.Error("nobody is told for whom the pool waits")
	}
	cancel()
	<-over
}

// TestWorkerThatSleptThroughItsClaimDoesNothingMore has another worker take the issue while the first one is at an
// effect and its heartbeat does not come to it: what it did is taken down, and it begins nothing more.
func TestWorkerThatSleptThroughItsClaimDoesNothingMore(t *testing.T) {
	var g *gang
	var lost atomic.Bool
	var after sync.Map // the kinds of effects that were done once the claim was lost
	base := newScene(t, gives(effect.ToolResult{}), true).o.Drivers
	watched := map[effect.Kind]runner.Driver{}
	for kind, d := range base {
		watched[kind] = driver{do: func(ctx context.Context, e effect.Effect) effect.Receipt {
			if lost.Load() {
				after.Store(kind, true)
			} else if kind == effect.KindPlan {
				g.do(&issues.ReleaseIssue{Owner: "one/1"})
				g.do(&issues.ClaimIssue{Owner: "another", Planning: true, Now: g.k.Now()})
				lost.Store(true)
			}
			return d.Do(ctx, e, nil)
		}, done: effect.DoneNo}
	}
	g = newGang(t, watched, "act")
	g.o.Beat = time.Hour
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	over := make(chan error, 1)
	go func() { over <- runner.NewPool(g.k, g.o).Run(ctx) }()
	for g.count(runner.DidLeave) == 0 && ctx.Err() == nil {
		time.Sleep(time.Millisecond)
	}
	cancel()
	<-over
	after.Range(func(kind, _ any) bool {
		t.Errorf("%v was begun under a lost claim", kind)
		return true
	})
	if i := slices.IndexFunc(g.told, func(h runner.Happened) bool { return h.What == runner.DidStumble }); i < 0 ||
		!errors.Is(g.told[i].Err, pawl.ErrFenced) {
		t.Errorf("%+v", g.told)
	}
}
