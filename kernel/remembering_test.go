package kernel_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/effect"
	"pawl/kernel/effects"
	"pawl/kernel/tasks"
	"pawl/machine/task"
)

// TestTaskTakenByAnotherProcess: a kernel remembers the lease of a single task that it claimed. When another process
// has given the task to a runner of its own meanwhile, the store's word counts, for heartbeats as for moves.
func TestTaskTakenByAnotherProcess(t *testing.T) {
	b := newBench(t)
	id := b.taskIn(task.Running)
	beat := func(token int64) error {
		_, err := b.k.Do(context.Background(),
			kernel.Envelope{Actor: "runner:r1", Command: &tasks.Heartbeat{Task: id, Token: token}})
		return err
	}
	if err := beat(1); err != nil {
		t.Fatal(err)
	}
	other := b.another()
	for _, c := range []struct {
		actor pawl.Actor
		move  kernel.Transition
	}{
		{"runner:r1", kernel.Transition{To: task.Failed, Exit: task.ExitException, Token: 1}},
		{"user:ada", kernel.Transition{To: task.Queued}},
		{"runner:r2", kernel.Transition{To: task.Running, Owner: "r2"}},
	} {
		c.move.Task, c.move.Reason = id, "test"
		if _, err := other.Do(context.Background(), kernel.Envelope{Actor: c.actor, Command: &c.move}); err != nil {
			t.Fatal(err)
		}
	}
	if err := beat(1); !errors.Is(err, pawl.ErrFenced) {
		t.Errorf("a heartbeat for a lease that is gone: %v", err)
	}
	if _, err := b.k.Do(context.Background(), kernel.Envelope{Actor: "runner:r1",
		Command: &kernel.Transition{Task: id, To: task.Verifying, Token: 1}}); !errors.Is(err, pawl.ErrFenced) {
		t.Errorf("a move under a lease that is gone: %v", err)
	}
	if err := beat(2); err != nil {
		t.Errorf("a heartbeat for the lease that there is: %v", err)
	}
	b.verifyAudit()
}

// TestGatesByAnotherProcess: a task that is remembered without the evidence of its gates is decided anew on what is
// stored.
func TestGatesByAnotherProcess(t *testing.T) {
	b := newBench(t)
	id := b.taskIn(task.Verifying)
	other := b.another()
	do := func(c kernel.Command, into any) {
		t.Helper()
		out, err := other.Do(context.Background(), kernel.Envelope{Actor: "runner:r2", Command: c})
		if err == nil {
			err = json.Unmarshal(out.Result, into)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	var gates string
	var begun effect.Effect
	do(&tasks.RequestGates{Task: id}, &gates)
	do(&effects.Begin{Effect: gates, Owner: "r2"}, &begun)
	do(&effects.Report{Effect: gates, Token: begun.Token, Receipt: (&world{}).gates()}, new(any))
	for _, c := range []struct {
		actor pawl.Actor
		to    task.State
	}{{"verifier:r1", task.Verified}, {"system", task.Done}} {
		if _, err := b.k.Do(context.Background(),
			kernel.Envelope{Actor: c.actor, Command: &kernel.Transition{Task: id, To: c.to}}); err != nil {
			t.Errorf("%s: %v", c.to, err)
		}
	}
	b.verifyAudit()
}
