package kernel_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"pawl"
	"pawl/internal/memory"
	"pawl/kernel"
	"pawl/kernel/approval"
	"pawl/kernel/audit"
	"pawl/kernel/control"
	"pawl/kernel/effect"
	"pawl/kernel/effects"
	"pawl/kernel/joined"
	"pawl/kernel/planning"
	"pawl/kernel/tasks"
	"pawl/machine/task"
)

// as gives a command to a kernel in somebody's name, and reads the answer unless into is nil.
func as(k *kernel.Kernel, actor pawl.Actor, into any, c kernel.Command) error {
	out, err := k.Do(context.Background(), kernel.Envelope{Actor: actor, Command: c})
	if err != nil || into == nil {
		return err
	}
	return json.Unmarshal(out.Result, into)
}

// finished hands a running task over under a token, and returns its gates at work.
func (b *bench) finished(k *kernel.Kernel, id string, token int64) effect.Effect {
	b.t.Helper()
	var e effect.Effect
	if err := as(k, "runner:r1", &e, &tasks.RequestGates{Task: id, Token: token, Owner: "r1"}); err != nil {
		b.t.Fatal(err)
	}
	return e
}

// told lists the events of a task, the moves by the states that they lead to.
func (b *bench) told(id string) string {
	b.t.Helper()
	var out []string
	for rec, err := range b.store.Records(b.t.Context(), "task:"+id, 0) {
		if err != nil {
			b.t.Fatal(err)
		}
		e, err := audit.Parse(rec.Bytes)
		if err != nil {
			b.t.Fatal(err)
		}
		if e.Move != nil {
			e.Event = e.Move.To
		}
		out = append(out, e.Event)
	}
	return strings.Join(out, " ")
}

const wholeStory = "TASK_CREATED approved queued running verifying GATE_VERIFICATION_RESULT verified done"

// report is the receipt of gates.
func report(e effect.Effect, failing int) *effects.Report {
	return &effects.Report{Effect: e.ID, Token: e.Token, Receipt: (&world{failGates: failing}).gates()}
}

func (b *bench) wantTask(id string, state task.State) *kernel.Task {
	b.t.Helper()
	got := b.task(id)
	if got.State != string(state) {
		b.t.Fatalf("the task is %s, want %s; %s", got.State, state, b.told(id))
	}
	return got
}

func TestRunnerFinishesATask(t *testing.T) {
	b := newBench(t)
	id := b.taskIn(task.Running)
	e := b.finished(b.k, id, 1)
	if got := b.effect(e.ID); got.State != kernel.EffectRunning || got.Attempts != 1 || e.Token != got.Epoch ||
		e.Kind != effect.KindGates {
		t.Fatalf("gates %+v, answered with %+v", got, e)
	}
	b.wantTask(id, task.Verifying)
	if err := as(b.k, "runner:r1", nil, report(e, 0)); err != nil {
		t.Fatal(err)
	}
	if got := b.wantTask(id, task.Done); got.Lease.Owner != "" || got.EndedAt.IsZero() || got.Effect != "" ||
		got.Gate == nil {
		t.Errorf("%+v", got)
	}
	if got := b.told(id); got != wholeStory {
		t.Errorf("told: %s", got)
	}
	b.verifyAudit()
}

// TestFinishingIsFenced: only the holder of the newest lease hands a task over, and nothing of a refused command is
// written.
func TestFinishingIsFenced(t *testing.T) {
	b := newBench(t)
	id := b.taskIn(task.Running)
	refused := func(actor pawl.Actor, token int64, want error) {
		t.Helper()
		before := b.told(id)
		err := as(b.k, actor, nil, &tasks.RequestGates{Task: id, Token: token, Owner: "x"})
		if !errors.Is(err, want) || b.told(id) != before {
			t.Errorf("%s with token %d: %v", actor, token, err)
		}
	}
	refused("runner:r0", 99, pawl.ErrFenced)
	refused("runner:r0", -1, pawl.ErrFenced)
	refused("user:ada", 1, pawl.ErrInvalidTransition)
	b.wantTask(id, task.Running)
	b.finished(b.k, id, 1)
	refused("runner:r0", 2, pawl.ErrFenced)
	if err := as(b.k, "runner:r1", nil, &tasks.RequestGates{Task: id, Token: 1}); err != nil {
		t.Errorf("the holder asks again: %v", err)
	}
	queued := b.taskIn(task.Queued)
	if err := as(b.k, "runner:r1", nil, &tasks.RequestGates{Task: queued, Token: 1}); !errors.Is(err,
		pawl.ErrInvalidTransition) {
		t.Errorf("a task that nobody works on: %v", err)
	}
	b.verifyAudit()
}

// TestPausedByAnotherProcess: no gates begin while the session is paused, although the task is remembered.
func TestPausedByAnotherProcess(t *testing.T) {
	b := newBench(t)
	id := b.taskIn(task.Running)
	b.atWork(&world{plan: twoSteps()})
	other := b.another()
	for _, c := range []kernel.Command{&control.Pause{}, &control.Resume{}} {
		if err := as(other, "user:bob", nil, c); err != nil {
			t.Fatal(err)
		}
		err := as(b.k, "runner:r1", nil, &tasks.RequestGates{Task: id, Token: 1, Owner: "r1"})
		if _, paused := c.(*control.Pause); paused != (pawl.CodeOf(err) == pawl.CodeBusy) || !paused && err != nil {
			t.Errorf("%T: %v", c, err)
		}
	}
	b.wantTask(id, task.Verifying)
}

// requeued fails a task in verification, and has another runner claim it.
func (b *bench) requeued(k *kernel.Kernel, id string) {
	b.t.Helper()
	for _, c := range []struct {
		actor pawl.Actor
		move  kernel.Transition
	}{
		{"verifier:v", kernel.Transition{To: task.Failed, Exit: task.ExitGateFailed}},
		{"user:ada", kernel.Transition{To: task.Queued}},
		{"runner:r2", kernel.Transition{To: task.Running, Owner: "r2"}},
	} {
		c.move.Task, c.move.Reason = id, "test"
		if err := as(k, c.actor, nil, &c.move); err != nil {
			b.t.Fatal(err)
		}
	}
}

// TestGatesOfALeaseThatIsGone: what an earlier runner's gates say is no evidence for its successor, and closes nothing.
func TestGatesOfALeaseThatIsGone(t *testing.T) {
	for _, other := range []bool{false, true} {
		b := newBench(t)
		id := b.taskIn(task.Running)
		first, k := b.finished(b.k, id, 1), b.k
		if other {
			k = b.another()
		}
		b.requeued(k, id)
		if other {
			// The successor has asked for gates of its own: the old ones are dropped, so that their receipt is refused.
			second := b.finished(k, id, 2)
			if got := b.effect(first.ID); got.State != kernel.EffectCanceled || second.ID == first.ID {
				t.Errorf("the old gates are %s", got.State)
			}
			if err := as(b.k, "runner:r1", nil, report(first, 0)); !errors.Is(err, pawl.ErrFenced) {
				t.Errorf("the receipt of gates that were dropped: %v", err)
			}
			b.wantTask(id, task.Verifying)
			if err := as(k, "runner:r2", nil, report(second, 0)); err != nil {
				t.Fatal(err)
			}
			b.wantTask(id, task.Done)
			continue
		}
		if err := as(k, "runner:r2", nil, &kernel.Transition{Task: id, To: task.Verifying, Token: 2}); err != nil {
			t.Fatal(err)
		}
		if err := as(b.k, "runner:r1", nil, report(first, 0)); err != nil {
			t.Fatal(err)
		}
		if got := b.wantTask(id, task.Verifying); got.Gate != nil {
			t.Errorf("evidence of another lease: %+v", got.Gate)
		}
		b.verifyAudit()
	}
}

// TestCrashBetweenHandOverAndReport: the gates of a runner that died are run again by another one, and close the task
// then.
func TestCrashBetweenHandOverAndReport(t *testing.T) {
	b := newBench(t)
	id := b.taskIn(task.Running)
	e := b.finished(b.k, id, 1)
	if again := b.finished(b.k, id, 1); !reflect.DeepEqual(again, e) {
		t.Errorf("asked again: %+v, not %+v", again, e)
	}
	next := b.another()
	if err := as(next, "runner:r2", nil, &effects.Recover{Effect: e.ID, Answer: effect.DoneUnknown}); err != nil {
		t.Fatal(err)
	}
	if err := as(b.k, "runner:r1", nil, report(e, 0)); !errors.Is(err, pawl.ErrFenced) {
		t.Errorf("the receipt of the runner that was taken for dead: %v", err)
	}
	second := b.finished(next, id, 1)
	if second.ID != e.ID || second.Token <= e.Token {
		t.Errorf("begun again as %+v, after %+v", second, e)
	}
	if err := as(next, "runner:r2", nil, report(second, 0)); err != nil {
		t.Fatal(err)
	}
	b.wantTask(id, task.Done)
	if got := b.told(id); got != wholeStory {
		t.Errorf("told: %s", got)
	}
	// What Done says of gates that ended closes the task as their report would have.
	id = b.taskIn(task.Running)
	e = b.finished(b.k, id, 1)
	if err := as(next, "runner:r2", nil, &effects.Recover{Effect: e.ID, Answer: effect.DoneYes,
		Receipt: (&world{}).gates()}); err != nil {
		t.Fatal(err)
	}
	b.wantTask(id, task.Done)
	b.verifyAudit()
}

// TestAnswersOfAFinishedTaskAreKept: a command given again with its key is answered with its first outcome.
func TestAnswersOfAFinishedTaskAreKept(t *testing.T) {
	b := newBench(t)
	id := b.taskIn(task.Running)
	twice := func(key string, c kernel.Command) (out kernel.Outcome) {
		t.Helper()
		env := kernel.Envelope{Actor: "runner:r1", Key: key, Command: c}
		first, err := b.k.Do(t.Context(), env)
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range []*kernel.Kernel{b.another(), b.k} {
			again, err := k.Do(t.Context(), env)
			if c, ok := c.(*effects.Report); ok && errors.Is(err, pawl.ErrFenced) && c.Effect != "" {
				continue // the effect is settled, so there is nothing to commit under the key
			}
			if err != nil || string(again.Result) != string(first.Result) {
				t.Errorf("%T again: %+v, %v", c, again, err)
			}
		}
		return first
	}
	var e effect.Effect
	if err := json.Unmarshal(twice("finish", &tasks.RequestGates{Task: id, Token: 1, Owner: "r1"}).Result,
		&e); err != nil {
		t.Fatal(err)
	}
	twice("report", report(e, 0))
	b.wantTask(id, task.Done)
	if got := b.told(id); got != wholeStory {
		t.Errorf("told: %s", got)
	}
}

// TestGatesThatFail: the task stays where it is with the evidence, and goes on by somebody's move.
func TestGatesThatFail(t *testing.T) {
	b := newBench(t)
	id := b.taskIn(task.Running)
	if err := as(b.k, "runner:r1", nil, report(b.finished(b.k, id, 1), 1)); err != nil {
		t.Fatal(err)
	}
	if got := b.wantTask(id, task.Verifying); got.Gate == nil || got.Gate.Passed || got.Effect != "" ||
		got.Lease.Owner == "" {
		t.Errorf("%+v", got)
	}
	// Gates that changed the tree or were tampered with did not pass, whatever each of them says.
	r := report(b.finished(b.k, id, 1), 0)
	v, _ := effect.Decode[effect.VerifyResult](r.Receipt.Result)
	v.Passed = false
	r.Receipt.Result = effect.Encode(v)
	if err := as(b.k, "runner:r1", nil, r); err != nil {
		t.Fatal(err)
	}
	b.wantTask(id, task.Verifying)
	// A driver that could not even run them leaves no result: that is the task's trouble, not the session's.
	e := b.finished(b.k, id, 1)
	if err := as(b.k, "runner:r1", nil, &effects.Report{Effect: e.ID, Token: e.Token,
		Receipt: effect.Failed(pawl.Fail(pawl.CodeIO, "store.halted", "/x"))}); err != nil {
		t.Fatal(err)
	}
	if got := b.wantTask(id, task.Verifying); got.GateNote == "" || b.look().Session.Blocked != nil {
		t.Errorf("note %q, session %+v", got.GateNote, b.look().Session)
	}
	if err := as(b.k, "runner:r1", nil, report(b.finished(b.k, id, 1), 1)); err != nil {
		t.Fatal(err)
	}
	if err := as(b.k, "verifier:v", nil, &kernel.Transition{Task: id,
		To: task.Verified}); pawl.CodeOf(err) != pawl.CodeChecksFailed {
		t.Errorf("verified by gates that failed: %v", err)
	}
	b.requeued(b.k, id)
	if err := as(b.k, "runner:r2", nil, report(b.finished(b.k, id, 2), 0)); err != nil {
		t.Fatal(err)
	}
	b.wantTask(id, task.Done)
	b.verifyAudit()
}

// closeless is a mode that lets nobody close a task.
type closeless struct{ kernel.Mode }

func (closeless) ValidateTransition(_ kernel.ModeTask, _, to string) kernel.Verdict {
	if to == string(task.Done) {
		return kernel.Verdict{Decision: kernel.Rejected, Reason: "not yet"}
	}
	return kernel.Verdict{Decision: kernel.Approved}
}

// TestModeKeepsATaskOpen: a mode may refuse what the gates' receipt would do, but never the receipt.
func TestModeKeepsATaskOpen(t *testing.T) {
	b := newBench(t)
	b.unlike = true
	b.k.Config().Modes["closeless"] = closeless{b.k.Config().Modes[kernel.DefaultMode]}
	var id string
	if err := as(b.k, "user:ada", &id, &tasks.CreateTask{Title: "t", Mode: "closeless"}); err != nil {
		t.Fatal(err)
	}
	for _, to := range way[task.Running] {
		if _, err := b.move(id, to); err != nil {
			t.Fatal(err)
		}
	}
	e := b.finished(b.k, id, 1)
	if err := as(b.k, "runner:r1", nil, report(e, 0)); err != nil {
		t.Fatal(err)
	}
	if got := b.wantTask(id, task.Verified); !strings.Contains(got.GateNote, "not yet") ||
		b.effect(e.ID).State != kernel.EffectDone {
		t.Errorf("note %q, effect %s", got.GateNote, b.effect(e.ID).State)
	}
}

// TestRememberedGatesThatAnotherProcessChanged: whatever another process does to a task while its gates run is seen by
// the versions, at the latest when the report is committed.
func TestRememberedGatesThatAnotherProcessChanged(t *testing.T) {
	for _, late := range []bool{false, true} {
		b := newBench(t)
		other := b.k
		store := &between{Store: b.store}
		b.k = kernel.New(joined.Table(), store, *other.Config(), pawl.ClockFunc(other.Now), rand.Reader)
		id := b.taskIn(task.Running)
		progress := func() {
			if err := as(other, "user:bob", nil, &tasks.UpdateProgress{Task: id, Summary: "half way"}); err != nil {
				t.Fatal(err)
			}
		}
		fail := func() {
			if err := as(other, "verifier:v", nil,
				&kernel.Transition{Task: id, To: task.Failed, Exit: task.ExitGateFailed, Reason: "no"}); err != nil {
				t.Fatal(err)
			}
		}
		meanwhile := func(f func()) {
			if late {
				store.beforeCommit = f
			} else {
				f()
			}
		}
		e := b.finished(b.k, id, 1)
		meanwhile(progress)
		if err := as(b.k, "runner:r1", nil, report(e, 0)); err != nil {
			t.Fatal(err)
		}
		if got := b.wantTask(id, task.Done); got.Progress == nil {
			t.Errorf("the other process's change is lost")
		}
		id = b.taskIn(task.Running)
		e = b.finished(b.k, id, 1)
		meanwhile(fail)
		if err := as(b.k, "runner:r1", nil, report(e, 0)); err != nil {
			t.Fatal(err)
		}
		b.wantTask(id, task.Failed)
		// The same where it is the hand-over that comes too late.
		id = b.taskIn(task.Running)
		meanwhile(func() {
			if err := as(other, "runner:r1", nil,
				&kernel.Transition{Task: id, To: task.Failed, Exit: task.ExitException, Reason: "no",
					Token: 1}); err != nil {
				t.Fatal(err)
			}
		})
		if err := as(b.k, "runner:r1", nil, &tasks.RequestGates{Task: id, Token: 1, Owner: "r1"}); !errors.Is(err,
			pawl.ErrInvalidTransition) {
			t.Errorf("late %v: %v", late, err)
		}
		b.wantTask(id, task.Failed)
		b.verifyAudit()
	}
}

// TestMovedByHandIsDue: a task that a person puts into the queue is found by those who look for what is due.
func TestMovedByHandIsDue(t *testing.T) {
	b := newBench(t)
	for _, from := range []task.State{task.Approved, task.Blocked} {
		id := b.taskIn(from)
		if _, err := b.move(id, task.Queued); err != nil {
			t.Fatal(err)
		}
		if got := b.task(id); !got.Due.Equal(b.now) {
			t.Errorf("from %s: due at %v", from, got.Due)
		}
	}
	rows, err := b.store.Load(t.Context(), kernel.Select{Kind: kernel.KindTask, States: []string{string(task.Queued)},
		DueBy: b.now})
	if err != nil || len(rows[0]) != 2 {
		t.Errorf("%d tasks are due, %v", len(rows[0]), err)
	}
}

// TestQueued: the tasks that may be claimed come in the order of their ranks, without those of runs or of a later time,
// and what is remembered of them is a guess.
func TestQueued(t *testing.T) {
	b := newBench(t)
	first, taken, later := b.taskIn(task.Queued), b.taskIn(task.Queued), b.taskIn(task.Queued)
	b.postpone(later, 30*time.Minute)
	b.do(&planning.Start{Requirement: "mend it", Place: effect.Place{Workspace: "/w", Tree: "/w", Git: true},
		RunMode: pawl.Assisted})
	b.run((&world{plan: twoSteps()}).answer)
	b.do(&approval.Approve{Hash: b.look().Approval.Hash})
	if at := b.look().Task; at.State != string(task.Queued) {
		t.Fatalf("the run's task is %s", at.State)
	}
	reads := &counting{Store: b.store}
	k := kernel.New(joined.Table(), reads, *b.k.Config(), pawl.ClockFunc(b.k.Now), rand.Reader)
	tasks, err := k.Queued(t.Context(), 10)
	if err != nil || len(tasks) != 2 || tasks[0].ID != first || tasks[1].ID != taken {
		t.Fatalf("%+v, %v", tasks, err)
	}
	b.now = b.now.Add(time.Hour)
	if tasks, err = k.Queued(t.Context(), 10); err != nil || len(tasks) != 3 || tasks[2].ID != later {
		t.Fatalf("an hour later: %+v, %v", tasks, err)
	}
	claim := func(id string) error {
		return as(k, "runner:r9", nil, &kernel.Transition{Task: id, To: task.Running, Owner: "r9", Check: true})
	}
	if _, err := b.move(taken, task.Running); err != nil {
		t.Fatal(err)
	}
	if err := claim(taken); !errors.Is(err, pawl.ErrAlreadyInState) {
		t.Errorf("a task that another process has claimed: %v", err)
	}
	reads.loads = 0
	if err := claim(first); err != nil || reads.loads != 0 {
		t.Errorf("%d reads, %v", reads.loads, err)
	}
	b.wantTask(first, task.Running)
}

// postpone writes a later time into a queued task.
func (b *bench) postpone(id string, by time.Duration) {
	b.t.Helper()
	rows, err := b.store.Load(b.t.Context(), kernel.Select{Kind: kernel.KindTask, ID: id})
	if err != nil {
		b.t.Fatal(err)
	}
	w := kernel.Write{Row: rows[0][0], From: rows[0][0].Version}
	w.Version++
	w.Due = b.now.Add(by)
	if _, err := b.store.Commit(b.t.Context(), kernel.Batch{At: b.now, Writes: []kernel.Write{w}}); err != nil {
		b.t.Fatal(err)
	}
}

// counting counts what is read.
type counting struct {
	kernel.Store
	loads int
}

func (s *counting) Load(ctx context.Context, sel ...kernel.Select) ([][]kernel.Row, error) {
	s.loads++
	return s.Store.Load(ctx, sel...)
}

// TestRememberingChangesNothing: two processes that remember what they did, and as many that look at the store for
// every command, come to the same rows and refusals, whatever they are told.
func TestRememberingChangesNothing(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		now := time.Date(2026, 2, 8, 12, 0, 0, 0, time.UTC)
		clock := pawl.ClockFunc(func() time.Time { return now })
		seed := rapid.Uint64().Draw(rt, "seed")
		noise := func() *bytes.Reader {
			var raw []byte
			for i := range uint64(4000) {
				raw = append(raw, new(big.Int).SetUint64((seed+i)*0x9e3779b97f4a7c15|1<<63).Bytes()...)
			}
			return bytes.NewReader(raw)
		}
		stores, noises := [2]*memory.Store{memory.New(), memory.New()}, [2]*bytes.Reader{noise(), noise()}
		kernels := [2]*kernel.Kernel{}
		for i := range kernels {
			kernels[i] = kernel.New(joined.Table(), stores[0], kernel.Defaults(), clock, noises[0])
		}
		both := func(by int, actor pawl.Actor, c kernel.Command) json.RawMessage {
			rt.Helper()
			env := kernel.Envelope{Actor: actor, Command: c}
			got, gotErr := kernels[by].Do(context.Background(), env)
			want, wantErr := kernel.New(joined.Table(), stores[1], kernel.Defaults(), clock,
				noises[1]).Do(context.Background(), env)
			if fmt.Sprint(gotErr) != fmt.Sprint(wantErr) || string(got.Result) != string(want.Result) ||
				got.Changed != want.Changed {
				rt.Fatalf("%T %+v\nremembering: %s, %v\nlooking: %s, %v", c, c, got.Result, gotErr, want.Result,
					wantErr)
			}
			return got.Result
		}
		both(0, "user:ada", &planning.Init{Place: effect.Place{Workspace: "/w", Tree: "/w"}})
		var id string
		if err := json.Unmarshal(both(0, "user:ada", &tasks.CreateTask{Title: "t"}), &id); err != nil {
			rt.Fatal(err)
		}
		gates := []effect.Effect{{ID: id}}
		for _, to := range way[task.Running] {
			both(0, pawl.Actor("user:ada"), &kernel.Transition{Task: id, To: to, Owner: "r1"})
		}
		for range rapid.IntRange(1, 40).Draw(rt, "length") {
			now = now.Add(time.Second)
			by, token := rapid.IntRange(0, 1).Draw(rt, "by"), rapid.Int64Range(0, 4).Draw(rt, "token")
			switch rapid.IntRange(0, 9).Draw(rt, "what") {
			case 0, 1:
				to := rapid.SampledFrom(slices.DeleteFunc(task.Table.States(), task.State.Final)).Draw(rt, "to")
				actor := rapid.SampledFrom([]pawl.Actor{"user:ada", "runner:r1", "verifier:v", "system"}).Draw(rt,
					"actor")
				both(by, actor, &kernel.Transition{Task: id, To: to, Owner: "r1", Token: token,
					Exit: task.ExitException, Reason: fmt.Sprint(token)})
			case 2:
				both(by, "runner:r1", &tasks.Heartbeat{Task: id, Token: token})
			case 3:
				both(by, "user:ada", &tasks.UpdateProgress{Task: id, Summary: fmt.Sprint(token)})
			case 4, 5, 6:
				raw := both(by, "runner:r1", &tasks.RequestGates{Task: id, Token: token, Owner: "r1"})
				var e effect.Effect
				if json.Unmarshal(raw, &e) == nil && e.ID != "" {
					gates = append(gates, e)
				}
			default:
				e := gates[len(gates)-1-min(rapid.IntRange(0, 2).Draw(rt, "which"), len(gates)-1)]
				if rapid.IntRange(0, 4).Draw(rt, "recover") == 0 {
					both(by, "runner:r1", &effects.Recover{Effect: e.ID, Answer: effect.DoneUnknown})
				} else {
					both(by, "runner:r1", report(e, rapid.IntRange(0, 1).Draw(rt, "failing")))
				}
			}
		}
		rows := [2][]kernel.Row{}
		for i, store := range stores {
			for _, kind := range []kernel.Kind{kernel.KindTask, kernel.KindEffect, kernel.KindSession} {
				got, err := store.Load(context.Background(), kernel.Select{Kind: kind})
				if err != nil {
					rt.Fatal(err)
				}
				rows[i] = append(rows[i], got[0]...)
			}
		}
		if !reflect.DeepEqual(rows[0], rows[1]) {
			rt.Fatalf("remembering: %+v\nlooking: %+v", rows[0], rows[1])
		}
	})
}
