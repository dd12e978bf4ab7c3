package main

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/looplab/fsm"
	"github.com/qmuntal/stateless"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/effect"
	"pawl/kernel/joined"
	"pawl/machine/task"
)

// pair is one asked-for move of a task: the event that would make it, and whether a row of the table allows it.
type pair struct {
	from, to task.State
	event    task.Event
	legal    bool
}

// pairs returns the moves of the table and the pairs of states between which no row leads, each with an event that the
// state does not take.
func pairs() (legal, refused []pair) {
	for _, from := range task.Table.States() {
		for _, to := range task.Table.States() {
			if from == to {
				continue
			}
			if r, ok := task.Table.Between(from, to); ok {
				legal = append(legal, pair{from, to, r.On, true})
				continue
			}
			refused = append(refused, pair{from, to, refusedEvent(from, to), false})
		}
	}
	return legal, refused
}

// refusedEvent returns the event that leads to a state from elsewhere and that from does not take; where from takes all
// of them, any event that it does not take.
func refusedEvent(from, to task.State) task.Event {
	takes := func(e task.Event) bool { _, ok := task.Table.Next(from, e, ""); return ok }
	for _, r := range task.Table.Rules() {
		if r.To == to && !takes(r.On) {
			return r.On
		}
	}
	for _, r := range task.Table.Rules() {
		if !takes(r.On) {
			return r.On
		}
	}
	return ""
}

// candidate is something that can be asked for a move. Try asks once and reports an answer that differs from the
// table's.
type candidate struct {
	name string
	try  func(i int) error
}

// decider returns a function that lets the kernel decide move i: gates, mode hook, copies of the rows, the move and its
// audit entry.
func decider(moves []pair) func(int) error {
	protocols, config := joined.Table(), kernel.Defaults()
	config.Retry.Max = 1 << 30
	now := time.Now().UTC().Truncate(time.Millisecond)
	snaps, envs := make([]*kernel.Snapshot, len(moves)), make([]*kernel.Envelope, len(moves))
	for i, m := range moves {
		t := evidence(m, now)
		snaps[i] = &kernel.Snapshot{Config: &config, Task: t, Trail: trail(m.from), TrailCount: 6}
		actor := pawl.Actor("user:bench")
		if r, ok := task.Table.Between(m.from, m.to); ok {
			actor = pawl.By(r.Actors[0], "bench")
		}
		envs[i] = &kernel.Envelope{Actor: actor, Trace: "01KAB0000000000000000TRACE", Command: &kernel.Transition{
			Task: t.ID, To: m.to, Reason: "benchmark", Exit: task.ExitException, Owner: "bench", Token: t.Epoch,
		}}
	}
	return func(i int) error {
		if _, err := kernel.Decide(protocols, snaps[i], envs[i], now); (err == nil) != moves[i].legal {
			return fmt.Errorf("kernel, %s to %s: %w", moves[i].from, moves[i].to, err)
		}
		return nil
	}
}

// tableLookup returns a function that does for move i just what the libraries do: it finds the row and asks its gates,
// and leaves out the decision that is made of it.
func tableLookup(moves []pair) func(int) error {
	seen := task.Evidence{
		LeaseEpoch: 1, Token: 1, ExitReason: task.ExitException, CleanupSummary: true, Tree: "t1", MaxRetries: 1 << 30,
		Checks: []task.Check{{Name: "doctor", Required: true, Passed: true, Tree: "t1"}}, Unblocked: true,
		AuditEvents: 6, AuditChainOK: true,
	}
	return func(i int) error {
		r, ok := task.Table.Next(moves[i].from, moves[i].event, "")
		if ok {
			if err := task.Admit(r, &seen); err != nil {
				return fmt.Errorf("table, %s to %s: %w", moves[i].from, moves[i].to, err)
			}
		}
		if ok != moves[i].legal {
			return fmt.Errorf("table, %s to %s: answered %t", moves[i].from, moves[i].to, ok)
		}
		return nil
	}
}

// statelessMachine returns a function that fires move i in a machine of qmuntal/stateless with the same table. The
// state lies outside the machine, so that setting it back costs an assignment.
func statelessMachine(moves []pair) func(int) error {
	ctx := context.Background()
	var state stateless.State
	m := stateless.NewStateMachineWithExternalStorage(
		func(context.Context) (stateless.State, error) { return state, nil },
		func(_ context.Context, next stateless.State) error { state = next; return nil }, stateless.FiringImmediate)
	for _, r := range task.Table.Rules() {
		if r.Idempotent {
			m.Configure(r.From).Ignore(r.On)
			continue
		}
		m.Configure(r.From).Permit(r.On, r.To)
	}
	return func(i int) error {
		state = moves[i].from
		if err := m.FireCtx(ctx, moves[i].event); (err == nil) != moves[i].legal {
			return fmt.Errorf("stateless, %s to %s: %w", moves[i].from, moves[i].to, err)
		}
		return nil
	}
}

// looplabMachine does the same with looplab/fsm.
func looplabMachine(moves []pair) func(int) error {
	ctx := context.Background()
	var events fsm.Events
	for _, r := range task.Table.Rules() {
		if !r.Idempotent {
			events = append(events, fsm.EventDesc{Name: string(r.On), Src: []string{string(r.From)}, Dst: string(r.To)})
		}
	}
	m := fsm.NewFSM(string(task.Table.Initial()), events, nil)
	return func(i int) error {
		m.SetState(string(moves[i].from))
		if err := m.Event(ctx, string(moves[i].event)); (err == nil) != moves[i].legal {
			return fmt.Errorf("looplab, %s to %s: %w", moves[i].from, moves[i].to, err)
		}
		return nil
	}
}

// benchDecide compares the decision of one transition with the same table in two libraries for state machines: refusals
// with refusals and acceptances with acceptances. Theirs look the move up and change the state; pawl's decision also
// tries the gates and the mode, copies the rows and makes the audit entry, so the row and its gates alone are shown
// beside it.
func benchDecide(ctx context.Context, s *settings, emit func(Result)) error {
	legal, refused := pairs()
	for _, c := range []struct {
		name  string
		moves []pair
	}{{"refuse", refused}, {"accept", legal}} {
		s.say("%s, %d moves", c.name, len(c.moves))
		candidates := []candidate{
			{"kernel.Decide", decider(c.moves)}, {"row and gates", tableLookup(c.moves)},
			{"stateless", statelessMachine(c.moves)}, {"looplab/fsm", looplabMachine(c.moves)},
		}
		costs, err := compare(ctx, candidates, len(c.moves), s.span/20)
		if err != nil {
			return err
		}
		for own := range 2 {
			for other := 2; other < len(candidates); other++ {
				// The libraries write no record of an accepted move, so like is compared with like there: the row and
				// its gates.
				likeForLike := (own > 0) == (c.name == "accept")
				emit(Result{
					Case: c.name + ", " + candidates[own].name, Pawl: tookNanos(costs[own].nanos),
					Beside: tookNanos(costs[other].nanos), Yardstick: candidates[other].name,
					Score: costs[other].nanos / costs[own].nanos, Unit: "×", Goal: 10, NoGoal: !likeForLike,
					Note: fmt.Sprintf("allocations %.0f beside %.0f", costs[own].allocs, costs[other].allocs),
				})
			}
		}
		if c.name == "refuse" {
			emit(Result{Case: "refuse, allocations", Pawl: count(costs[0].allocs, "allocs"), Score: costs[0].allocs,
				Unit: "allocs", AtMost: true})
		}
	}
	return nil
}

// cost is what one call takes.
type cost struct{ nanos, allocs float64 }

// rounds is how often each candidate has its turn.
const rounds = 11

// compare lets the candidates take turns for about the span and returns the median cost of a call of each. One turn
// goes through all n moves several times.
func compare(ctx context.Context, candidates []candidate, n int, span time.Duration) ([]cost, error) {
	turn := max(span/time.Duration(rounds*len(candidates)), time.Millisecond)
	times, allocs := make([][]float64, len(candidates)), make([][]float64, len(candidates))
	for range rounds {
		for c, candidate := range candidates {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			nanos, perCall, err := timed(candidate.try, n, turn)
			if err != nil {
				return nil, err
			}
			times[c], allocs[c] = append(times[c], nanos), append(allocs[c], perCall)
		}
	}
	out := make([]cost, len(candidates))
	for c := range out {
		out[c] = cost{median(times[c]), median(allocs[c])}
	}
	return out, nil
}

// timed calls try with 0 to n-1 again and again for at least the span, and returns time and allocations per call.
func timed(try func(int) error, n int, span time.Duration) (nanos, allocs float64, err error) {
	for i := range n {
		if err := try(i); err != nil {
			return 0, 0, err
		}
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start, calls := time.Now(), 0
	var spent time.Duration
	for spent < span {
		for i := range n {
			if err := try(i); err != nil {
				return 0, 0, err
			}
		}
		calls += n
		spent = time.Since(start)
	}
	runtime.ReadMemStats(&after)
	return float64(spent.Nanoseconds()) / float64(calls), float64(after.Mallocs-before.Mallocs) / float64(calls), nil
}

// evidence is a task in the state that a move leaves, with what the gates of every row ask for.
func evidence(m pair, now time.Time) *kernel.Task {
	return &kernel.Task{
		Row: kernel.Row{Kind: kernel.KindTask, ID: "01KAB0000000000000000000T1", Label: "T-001", State: string(m.from),
			Version: 4, Epoch: 1,
			AuditSeq: 4, CreatedAt: now, UpdatedAt: now},
		Title: "benchmark", By: "user:bench", Number: 1, Gates: []string{"doctor"},
		Lease: kernel.Lease{Owner: "bench", Expires: now.Add(time.Minute)},
		Gate: &effect.VerifyResult{Passed: true, Tree: "t1", TreeAfter: "t1",
			Outcomes: []effect.CheckOutcome{{Check: effect.Check{Name: "doctor"}, Status: effect.CheckPassed}}},
	}
}

// trail is the chain of states that leads to a state, as the audit log tells it.
func trail(to task.State) []string {
	var out []string
	for i := 1; i < len(straight); i++ {
		out = append(out, string(straight[i-1]), string(straight[i]))
		if straight[i] == to {
			break
		}
	}
	return out
}

// straight are the states of a task that meets no trouble, in their order.
var straight = []task.State{task.Draft, task.Approved, task.Queued, task.Running, task.Verifying, task.Verified,
	task.Done}
