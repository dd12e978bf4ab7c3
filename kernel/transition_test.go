package kernel_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/effect"
	"pawl/kernel/effects"
	"pawl/kernel/joined"
	"pawl/kernel/tasks"
	"pawl/machine/task"
)

// way lists the states from draft to each state, by legal moves.
var way = map[task.State][]task.State{
	task.Draft: {}, task.Approved: {task.Approved}, task.Queued: {task.Approved, task.Queued},
	task.Running:   {task.Approved, task.Queued, task.Running},
	task.Verifying: {task.Approved, task.Queued, task.Running, task.Verifying},
	task.Verified:  {task.Approved, task.Queued, task.Running, task.Verifying, task.Verified},
	task.Done:      {task.Approved, task.Queued, task.Running, task.Verifying, task.Verified, task.Done},
	task.Failed:    {task.Approved, task.Queued, task.Running, task.Failed},
	task.Canceled:  {task.Canceled},
	task.Blocked:   {task.Approved, task.Queued, task.Running, task.Blocked},
}

// move makes one move as its own actor would, with the evidence that its gates ask for.
func (b *bench) move(id string, to task.State) (kernel.Outcome, error) {
	b.t.Helper()
	s, err := b.k.TaskSnapshot(context.Background(), id)
	if err != nil {
		b.t.Fatal(err)
	}
	actor := pawl.Actor("user:ada")
	if r, ok := task.Table.Between(task.State(s.Task.State), to); ok {
		actor = pawl.By(r.Actors[0], "test")
	}
	if to == task.Verified && s.Task.State == string(task.Verifying) {
		b.gates(id)
	}
	return b.k.Do(context.Background(), kernel.Envelope{Actor: actor, Command: &kernel.Transition{
		Task: id, To: to, Reason: "test", Exit: task.ExitException, Owner: "r1", Token: s.Task.Epoch,
	}})
}

func (b *bench) gates(id string) {
	b.t.Helper()
	out := b.do(&tasks.RequestGates{Task: id})
	var effectID string
	if err := json.Unmarshal(out.Result, &effectID); err != nil {
		b.t.Fatal(err)
	}
	begun := b.do(&effects.Begin{Effect: effectID, Owner: "r1"})
	var e effect.Effect
	if err := json.Unmarshal(begun.Result, &e); err != nil {
		b.t.Fatal(err)
	}
	b.do(&effects.Report{Effect: effectID, Token: e.Token, Receipt: (&world{}).gates()})
}

func (b *bench) taskIn(state task.State) string {
	b.t.Helper()
	var id string
	if err := json.Unmarshal(b.do(&tasks.CreateTask{Title: "t"}).Result, &id); err != nil {
		b.t.Fatal(err)
	}
	for _, s := range way[state] {
		if _, err := b.move(id, s); err != nil {
			b.t.Fatalf("on the way to %s, to %s: %v", state, s, err)
		}
	}
	return id
}

func TestAllHundredPairsAgainstAStore(t *testing.T) {
	b := newBench(t)
	var legal, same, refused int
	for _, from := range task.Table.States() {
		for _, to := range task.Table.States() {
			id := b.taskIn(from)
			size := func() int64 { h, _ := b.store.Head(context.Background()); return h.Size }
			before := size()
			_, err := b.move(id, to)
			s, _ := b.k.TaskSnapshot(context.Background(), id)
			switch {
			case from == to:
				same++
				if err != nil || size() != before {
					t.Errorf("%s to itself: %v, %d records", from, err, size()-before)
				}
			case err == nil:
				legal++
				if s.Task.State != string(to) {
					t.Errorf("%s to %s left the task in %s", from, to, s.Task.State)
				}
			default:
				refused++
				if !errors.Is(err, pawl.ErrInvalidTransition) || s.Task.State != string(from) || size() != before {
					t.Errorf("%s to %s: %v, state %s, %d records", from, to, err, s.Task.State, size()-before)
				}
			}
		}
	}
	if legal != 18 || same != 10 || refused != 72 {
		t.Errorf("%d legal, %d same, %d refused; want 18, 10, 72", legal, same, refused)
	}
	b.verifyAudit()
}

func TestGatesOfSingleTasks(t *testing.T) {
	b := newBench(t)
	id := b.taskIn(task.Verifying)
	if _, err := b.k.Do(context.Background(),
		kernel.Envelope{Actor: "verifier",
			Command: &kernel.Transition{Task: id, To: task.Verified}}); pawl.CodeOf(err) != pawl.CodeGate {
		t.Errorf("verified without a gate's evidence: %v", err)
	}
	id = b.taskIn(task.Running)
	if _, err := b.k.Do(context.Background(), kernel.Envelope{Actor: "runner:other",
		Command: &kernel.Transition{Task: id, To: task.Verifying, Token: 99}}); !errors.Is(err, pawl.ErrFenced) {
		t.Errorf("finish under a foreign token: %v", err)
	}
	if _, err := b.k.Do(context.Background(), kernel.Envelope{Actor: "runner:r1",
		Command: &kernel.Transition{Task: id, To: task.Failed, Exit: "tired",
			Token: 1}}); pawl.CodeOf(err) != pawl.CodeGate {
		t.Errorf("failed for a reason that is not on the list: %v", err)
	}
	if _, err := b.k.Do(context.Background(), kernel.Envelope{Actor: "agent:x",
		Command: &kernel.Transition{Task: id, To: task.Verifying, Token: 1}}); !errors.Is(err,
		pawl.ErrInvalidTransition) {
		t.Errorf("an agent moved a task: %v", err)
	}
	if _, err := b.k.Do(context.Background(), kernel.Envelope{Actor: "runner:r1",
		Command: &kernel.Transition{Task: id, To: task.Running, Check: true}}); !errors.Is(err,
		pawl.ErrAlreadyInState) {
		t.Errorf("strict same state: %v", err)
	}
	if _, err := b.try(&kernel.Transition{Task: "01ARZ3NDEKTSV4RRFFQ69G5FAV", To: task.Approved}); !errors.Is(err,
		pawl.ErrTaskNotFound) {
		t.Errorf("a task that is not there: %v", err)
	}
}

func TestRetryBudgetAndLoop(t *testing.T) {
	b := newBench(t)
	id := b.taskIn(task.Running)
	fail := func(reason string) error {
		s, _ := b.k.TaskSnapshot(context.Background(), id)
		if s.Task.State == string(task.Queued) {
			if _, err := b.move(id, task.Running); err != nil {
				t.Fatal(err)
			}
			s, _ = b.k.TaskSnapshot(context.Background(), id)
		}
		_, err := b.k.Do(context.Background(), kernel.Envelope{Actor: "runner:r1",
			Command: &kernel.Transition{Task: id, To: task.Failed, Exit: task.ExitException, Reason: reason,
				Token: s.Task.Epoch}})
		if err != nil {
			t.Fatal(err)
		}
		_, err = b.move(id, task.Queued)
		return err
	}
	for _, reason := range []string{"a", "b", "c"} {
		if err := fail(reason); err != nil {
			t.Fatalf("retry after %s: %v", reason, err)
		}
	}
	if err := fail("d"); !errors.Is(err, pawl.ErrRetryNotAllowed) {
		t.Errorf("fourth retry: %v", err)
	}
	id = b.taskIn(task.Running)
	if err := fail("same"); err != nil {
		t.Fatal(err)
	}
	if err := fail("same"); err != nil {
		t.Fatal(err)
	}
	if err := fail("same"); !errors.Is(err, pawl.ErrRetryNotAllowed) {
		t.Errorf("retry after three failures alike: %v", err)
	}
}

// crashing is a mode that panics wherever it is asked.
type crashing struct{ kernel.Mode }

func (crashing) ValidateTransition(kernel.ModeTask, string, string) kernel.Verdict { panic("boom") }

// refusing is a mode that refuses to start anything.
type refusing struct{ kernel.Mode }

func (refusing) ValidateTransition(_ kernel.ModeTask, _, to string) kernel.Verdict {
	if to == string(task.Running) {
		return kernel.Verdict{Decision: kernel.Rejected, Reason: "not today"}
	}
	return kernel.Verdict{Decision: kernel.Approved}
}

func TestModesBind(t *testing.T) {
	b := newBench(t)
	b.k.Config().Modes["crash"] = crashing{}
	b.k.Config().Modes["refuse"] = refusing{kernel.BuiltinModes()[kernel.DefaultMode]}
	make := func(mode string) string {
		var id string
		_ = json.Unmarshal(b.do(&tasks.CreateTask{Title: "t", Mode: mode}).Result, &id)
		return id
	}
	id := make("crash")
	if _, err := b.move(id, task.Approved); !errors.Is(err, pawl.ErrModeViolation) ||
		!errors.Is(err, pawl.ErrInvalidTransition) {
		t.Errorf("a crashing mode: %v", err)
	}
	if _, err := b.move(id, task.Canceled); err != nil {
		t.Errorf("a mode held on to its task: %v", err)
	}
	id = make("refuse")
	for _, to := range []task.State{task.Approved, task.Queued} {
		if _, err := b.move(id, to); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.move(id, task.Running); !errors.Is(err, pawl.ErrModeViolation) {
		t.Errorf("a refusing mode: %v", err)
	}
	if _, err := b.try(&tasks.CreateTask{Title: "t", Mode: "nobody"}); !errors.Is(err, pawl.ErrModeViolation) {
		t.Errorf("an unknown mode: %v", err)
	}
}

func TestKeysMakeCommandsIdempotent(t *testing.T) {
	b := newBench(t)
	env := kernel.Envelope{Actor: "user:ada", Key: "k1", Command: &tasks.CreateTask{Title: "once"}}
	first, err := b.k.Do(context.Background(), env)
	if err != nil {
		t.Fatal(err)
	}
	again, err := b.k.Do(context.Background(), env)
	if err != nil || !again.Replayed || string(again.Result) != string(first.Result) {
		t.Errorf("again: %+v, %v; first %s", again, err, first.Result)
	}
	env.Command = &tasks.CreateTask{Title: "something else"}
	if _, err := b.k.Do(context.Background(), env); !errors.Is(err, pawl.ErrConflict) {
		t.Errorf("the same key for something else: %v", err)
	}
}

func TestRefusalsAllocateNothing(t *testing.T) {
	protocols, config := joined.Table(), kernel.Defaults()
	s := &kernel.Snapshot{Config: &config, Task: &kernel.Task{Row: kernel.Row{State: string(task.Draft)}}}
	env := &kernel.Envelope{Actor: "user:ada", Command: &kernel.Transition{To: task.Done}}
	now := s.Task.CreatedAt
	if n := testing.AllocsPerRun(1000, func() {
		if _, err := kernel.Decide(protocols, s, env, now); err == nil {
			t.Fatal("draft became done")
		}
	}); n != 0 {
		t.Errorf("%v allocations on the refusal path", n)
	}
}

// TestAcceptingAllocatesLittle keeps an accepted move to what it hands out: the task, its evidence, its record with the
// move, the list of what was touched, and the answer. The decision itself stays on the stack.
func TestAcceptingAllocatesLittle(t *testing.T) {
	protocols, config := joined.Table(), kernel.Defaults()
	now := time.Date(2026, 1, 30, 10, 0, 0, 0, time.UTC)
	for _, c := range []struct{ from, to task.State }{{task.Draft, task.Approved}, {task.Queued, task.Running},
		{task.Running, task.Verifying}} {
		s := &kernel.Snapshot{Config: &config,
			Task: &kernel.Task{Row: kernel.Row{Kind: kernel.KindTask, ID: "t", State: string(c.from), Epoch: 1 << 20}}}
		r, _ := task.Table.Between(c.from, c.to)
		env := &kernel.Envelope{Actor: pawl.By(r.Actors[0], ""), Command: &kernel.Transition{To: c.to, Token: 1 << 20}}
		if n := testing.AllocsPerRun(1000, func() {
			if _, err := kernel.Decide(protocols, s, env, now); err != nil {
				t.Fatal(err)
			}
		}); n > 6 {
			t.Errorf("%s to %s: %v allocations", c.from, c.to, n)
		}
		if s.Task.State != string(c.from) {
			t.Errorf("deciding changed the snapshot: %s", s.Task.State)
		}
	}
}
