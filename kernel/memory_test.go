package kernel_test

import (
	"context"
	"crypto/rand"
	"errors"
	"reflect"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/approval"
	"pawl/kernel/control"
	"pawl/kernel/effect"
	"pawl/kernel/joined"
	"pawl/kernel/planning"
	"pawl/kernel/steps"
	"pawl/kernel/tasks"
)

// another returns a second kernel on the bench's store, as another process would have it.
func (b *bench) another() *kernel.Kernel {
	return kernel.New(joined.Table(), b.store, *b.k.Config(), pawl.ClockFunc(b.k.Now), rand.Reader)
}

// sameAsStored compares what the bench's kernel sees, remembered or not, with what one sees that remembers nothing.
func (b *bench) sameAsStored() {
	b.t.Helper()
	fresh, err := b.another().Snapshot(context.Background())
	if err != nil {
		b.t.Fatal(err)
	}
	fresh.Config = b.k.Config()
	if got := b.look(); !reflect.DeepEqual(got, fresh) {
		b.t.Fatalf("remembered: %+v\nstored: %+v", got, fresh)
	}
}

// atWork brings a run to where its task has a runner.
func (b *bench) atWork(w *world) {
	b.t.Helper()
	b.do(&planning.Start{Requirement: "mend it", Place: effect.Place{Workspace: "/w", Tree: "/w", Git: true},
		RunMode: pawl.Assisted})
	b.run(w.answer)
	b.do(&approval.Approve{Hash: b.look().Approval.Hash})
	for b.look().Task.Lease.Owner == "" {
		b.act(w.answer)
	}
}

// TestTwoProcesses: kernels that share a store see what the other one wrote, in whatever order they take turns; what
// one remembers is always what is stored, whatever was decided, refused or lost a race in between.
func TestTwoProcesses(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		b := newBench(t)
		other := b.another()
		w := &world{plan: twoSteps(), failChecks: rapid.IntRange(0, 2).Draw(rt, "failing checks"),
			failCall: rapid.IntRange(0, 2).Draw(rt, "failing calls")}
		answer := func(e effect.Effect) effect.Receipt { return w.answer(e) }
		b.atWork(w)
		for range rapid.IntRange(3, 20).Draw(rt, "length") {
			if rapid.Bool().Draw(rt, "other") {
				b.k, other = other, b.k
			}
			s := b.look()
			switch rapid.IntRange(0, 9).Draw(rt, "move") {
			case 0:
				b.say(rt, person(rt, s))
			default:
				if !s.Session.Paused() {
					b.act(answer)
				}
			}
			b.sameAsStored()
		}
		b.verifyAudit()
	})
}

// TestPauseByAnotherProcess: a runner that remembers its session sees at its next look that somebody paused it, and
// nothing is refused for what is remembered alone.
func TestPauseByAnotherProcess(t *testing.T) {
	b := newBench(t)
	b.atWork(&world{plan: twoSteps()})
	other := b.another()
	say := func(c kernel.Command) {
		t.Helper()
		if _, err := other.Do(context.Background(), kernel.Envelope{Actor: "user:bob", Command: c}); err != nil {
			t.Fatal(err)
		}
	}
	say(&control.Pause{})
	if !b.look().Session.Paused() {
		t.Fatal("the pause is not seen")
	}
	say(&control.Resume{})
	if out := b.do(&control.Pause{}); !out.Changed {
		t.Fatal("what was remembered passed for the truth")
	}
	b.sameAsStored()
}

// TestLeaseProlongedByAnotherProcess: a prolonged lease leaves no record, so it is the row's version that tells.
func TestLeaseProlongedByAnotherProcess(t *testing.T) {
	b := newBench(t)
	b.atWork(&world{plan: twoSteps()})
	at := b.look().Task
	beat := kernel.Envelope{Actor: "runner:r1", Command: &tasks.Heartbeat{Task: at.ID, Token: at.Epoch}}
	b.now = b.now.Add(time.Minute)
	if _, err := b.another().Do(context.Background(), beat); err != nil {
		t.Fatal(err)
	}
	b.do(&tasks.UpdateProgress{Task: at.ID, Summary: "half way"})
	if got := b.look().Task; got.Version != at.Version+2 || !got.Lease.Expires.After(at.Lease.Expires) ||
		got.Progress == nil {
		t.Fatalf("%+v", got)
	}
	b.sameAsStored()
}

// between is a store on which somebody else is quick: before a commit, or before something is read.
type between struct {
	kernel.Store
	beforeCommit, beforeLoad func()
}

func (s *between) Commit(ctx context.Context, batch kernel.Batch) (kernel.Committed, error) {
	if f := s.beforeCommit; f != nil {
		s.beforeCommit = nil
		f()
	}
	return s.Store.Commit(ctx, batch)
}

func (s *between) Load(ctx context.Context, sel ...kernel.Select) ([][]kernel.Row, error) {
	if f := s.beforeLoad; f != nil {
		s.beforeLoad = nil
		f()
	}
	return s.Store.Load(ctx, sel...)
}

// TestSomebodyElseIsQuick: what another process commits between a command's reading and its commit is seen by the next
// look, and a command is refused only for what is stored.
func TestSomebodyElseIsQuick(t *testing.T) {
	b := newBench(t)
	b.atWork(&world{plan: twoSteps()})
	other := b.k
	store := &between{Store: b.store}
	b.k = kernel.New(joined.Table(), store, *other.Config(), pawl.ClockFunc(other.Now), rand.Reader)
	say := func(c kernel.Command) func() {
		return func() {
			if _, err := other.Do(context.Background(), kernel.Envelope{Actor: "user:bob", Command: c}); err != nil {
				t.Fatal(err)
			}
		}
	}
	b.look()
	store.beforeCommit = say(&control.Pause{})
	b.do(&tasks.UpdateProgress{Task: b.look().Task.ID, Summary: "half way"})
	if !b.look().Session.Paused() {
		t.Fatal("the pause is not seen")
	}
	b.do(&control.Resume{})
	b.look()
	store.beforeLoad = say(&control.Pause{})
	if out := b.do(&control.Resume{}); !out.Changed {
		t.Fatal("what was remembered passed for the truth")
	}
	b.sameAsStored()
}

// TestWhatWasOnlyReadIsCompared: a claim does not write the session; that it was paused in the last moment counts all
// the same.
func TestWhatWasOnlyReadIsCompared(t *testing.T) {
	b := newBench(t)
	b.atWork(&world{plan: twoSteps()})
	store := &between{Store: b.store}
	k := kernel.New(joined.Table(), store, *b.k.Config(), pawl.ClockFunc(b.k.Now), rand.Reader)
	s, err := k.Snapshot(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	store.beforeCommit = func() { b.do(&control.Pause{}) }
	var e *pawl.Error
	if err := as(k, "runner:r9", nil, &steps.Claim{Task: s.Task.ID, Owner: "r9"}); !errors.As(err, &e) ||
		e.Key != "kernel.paused" {
		t.Errorf("claimed in a session that is paused: %v", err)
	}
	if at := b.look(); at.Task.Epoch != s.Task.Epoch {
		t.Error("the lease changed hands")
	}
}

// TestFewReads: what was read or committed once is not read again for a command, and compared at once for a look.
func TestFewReads(t *testing.T) {
	b := newBench(t)
	b.atWork(&world{plan: twoSteps()})
	store := &counting{Store: b.store}
	k := kernel.New(joined.Table(), store, *b.k.Config(), pawl.ClockFunc(b.k.Now), rand.Reader)
	look := func() *kernel.Snapshot {
		t.Helper()
		s, err := k.Snapshot(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	at := look()
	for n := range 3 {
		store.loads = 0
		note := &tasks.UpdateProgress{Task: at.Task.ID, Summary: strconv.Itoa(n)}
		if err := as(k.Session(kernel.SessionLabel), "user:ada", nil, note); err != nil || store.loads != 0 {
			t.Errorf("%d reads for a command, %v", store.loads, err)
		}
		if s := look(); s.Task.Progress.Text != strconv.Itoa(n) || store.loads != 1 {
			t.Errorf("%d reads for a look at %+v", store.loads, s.Task.Progress)
		}
	}
}
