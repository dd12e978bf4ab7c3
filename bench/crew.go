package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/audit"
	"pawl/kernel/effect"
	"pawl/kernel/effects"
	"pawl/kernel/joined"
	"pawl/kernel/tasks"
	"pawl/machine/task"
	"pawl/store/sqlite"
)

// candidates are the next tasks of the queue, read ahead for all workers of one process. Each is handed out once and in
// the order of the ranks, so that workers who ask at the same time get different tasks without asking for the same row.
// What a page says is a guess: a claim is decided on the row as it is stored, and one that another process has taken is
// refused.
type candidates struct {
	kernel *kernel.Kernel
	mu     sync.Mutex
	page   []*kernel.Task
	read   time.Time
	// given are handed out, and their claims not yet decided: a page that is read meanwhile still shows them.
	given map[string]bool
}

// The length of a page, and how long one is good: so long a task of a higher rank waits at most for those that were
// read before it came.
const (
	pageLength = 64
	pageLife   = 50 * time.Millisecond
)

func newCandidates(k *kernel.Kernel) *candidates {
	return &candidates{kernel: k, given: map[string]bool{}}
}

// take returns the next task to claim, or "" when the queue is empty. settle must follow when the claim is decided.
func (c *candidates) take(ctx context.Context) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := time.Now(); len(c.page) == 0 || now.Sub(c.read) > pageLife {
		tasks, err := c.kernel.Queued(ctx, pageLength)
		if err != nil {
			return "", err
		}
		c.page, c.read = c.page[:0], now
		for _, t := range tasks {
			if !c.given[t.ID] {
				c.page = append(c.page, t)
			}
		}
	}
	if len(c.page) == 0 {
		return "", nil
	}
	id := c.page[0].ID
	c.page = c.page[1:]
	c.given[id] = true
	return id, nil
}

// settle says that the claim of a task is decided.
func (c *candidates) settle(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.given, id)
}

// crew are the workers of one process, on a store of their own or one that they share with other crews.
type crew struct {
	name   string
	kernel *kernel.Kernel
	store  *sqlite.Store
	queue  *candidates
}

func openCrew(name, dir string) (*crew, error) {
	store, err := sqlite.Open(filepath.Join(dir, "pawl.db"), sqlite.Options{Create: true})
	if err != nil {
		return nil, err
	}
	k := kernel.New(joined.Table(), store, kernel.Defaults(), pawl.ClockFunc(time.Now), rand.Reader)
	return &crew{name: name, store: store, queue: newCandidates(k), kernel: k}, nil
}

// work lets so many workers carry out tasks until the queue is empty, and returns how long each task took, in
// nanoseconds.
func (c *crew) work(ctx context.Context, workers int) ([]float64, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var all sync.WaitGroup
	var mu sync.Mutex
	var took []float64
	for w := range workers {
		all.Go(func() {
			own, err := c.loop(ctx, fmt.Sprintf("%s/%d", c.name, w+1))
			if err != nil {
				stop(err)
			}
			mu.Lock()
			defer mu.Unlock()
			took = append(took, own...)
		})
	}
	all.Wait()
	return took, context.Cause(ctx)
}

// loop is one worker.
func (c *crew) loop(ctx context.Context, owner string) (took []float64, err error) {
	for {
		id, err := c.queue.take(ctx)
		if err != nil || id == "" {
			return took, err
		}
		start := time.Now()
		token, err := c.claim(ctx, owner, id)
		c.queue.settle(id)
		if errors.Is(err, pawl.ErrAlreadyInState) || errors.Is(err, pawl.ErrInvalidTransition) {
			continue // another process was faster
		}
		if err == nil {
			err = c.carryOut(ctx, owner, id, token)
		}
		if err != nil {
			return took, fmt.Errorf("task %s: %w", id, err)
		}
		took = append(took, float64(time.Since(start)))
	}
}

// claim takes the lease on a queued task and returns its fencing token.
func (c *crew) claim(ctx context.Context, owner, id string) (token int64, err error) {
	return token, c.do(ctx, pawl.Actor("runner:"+owner), &token,
		&kernel.Transition{Task: id, To: task.Running, Owner: owner, Check: true, Reason: "claimed by " + owner})
}

// gatesPassed is the receipt of gates on a tree without work.
var gatesPassed = effect.VerifyResult{Passed: true, Tree: "t1", TreeAfter: "t1",
	Outcomes: []effect.CheckOutcome{{Check: effect.Check{Name: "doctor", Kind: "gate"}, Status: effect.CheckPassed}}}

// commits is how many commits a task takes from its claim to its end: the claim, and those of carryOut.
const commits = 4

// carryOut does a task in which nothing is to be done, each step committed before the next: a heartbeat, the hand-over
// to verification, which asks for the gates and begins them as an effect of their own, and their report, which verifies
// and closes the task.
func (c *crew) carryOut(ctx context.Context, owner, id string, token int64) error {
	runner := pawl.Actor("runner:" + owner)
	var gates effect.Effect
	if err := c.do(ctx, runner, nil, &tasks.Heartbeat{Task: id, Token: token}); err != nil {
		return err
	}
	if err := c.do(ctx, runner, &gates, &tasks.RequestGates{Task: id, Token: token, Owner: owner}); err != nil {
		return err
	}
	return c.do(ctx, runner, nil, &effects.Report{Effect: gates.ID, Token: gates.Token,
		Receipt: effect.Succeeded(gatesPassed)})
}

// do gives a command and reads its answer, unless into is nil.
func (c *crew) do(ctx context.Context, actor pawl.Actor, into any, command kernel.Command) error {
	out, err := c.kernel.Do(ctx, kernel.Envelope{Actor: actor, Command: command})
	if err != nil || into == nil {
		return err
	}
	return json.Unmarshal(out.Result, into)
}

// story is what a drained task's records tell of, after its way into the queue.
var story = []string{string(task.Running), string(task.Verifying), "GATE_VERIFICATION_RESULT", string(task.Verified),
	string(task.Done)}

// verify checks that every one of n tasks was claimed once, and done once, by what the rows say and by what the audit
// log says, whose chains and root it verifies. At any moment no more than slack tasks may have been passed over by one
// of a lower rank: those that workers held whose claims were about to be committed.
func (c *crew) verify(ctx context.Context, n, slack int) error {
	ranks, waiting := map[string]int64{}, map[int64]int{}
	for row, err := range c.store.Scan(ctx, kernel.Select{Kind: kernel.KindTask}) {
		if err != nil {
			return err
		}
		t := new(kernel.Task)
		if err := kernel.Decode(row, t); err != nil {
			return err
		}
		if row.State != string(task.Done) || row.Epoch != 1 || t.Lease.Owner != "" {
			return fmt.Errorf("task %s is %s, was leased %d times, and its lease belongs to %q", row.Label, row.State,
				row.Epoch, t.Lease.Owner)
		}
		ranks[row.ID] = row.Rank
		waiting[row.Rank]++
	}
	if len(ranks) != n {
		return fmt.Errorf("%d tasks in the store, not %d", len(ranks), n)
	}
	head, err := c.store.Head(ctx)
	if err != nil {
		return err
	}
	told := map[string]int{}
	_, err = audit.Log{Head: head, Records: func(yield func(audit.Stored, error) bool) {
		for rec, err := range c.store.Records(ctx, "", 0) {
			if err == nil && rec.Subject.Kind == string(kernel.KindTask) {
				err = tell(rec, ranks, waiting, told, slack)
			}
			if !yield(rec, err) {
				return
			}
		}
	}}.Verify()
	if err != nil {
		return err
	}
	for id := range ranks {
		if told[id] != len(story) {
			return fmt.Errorf("the audit log tells of %d of the %d events of task %s", told[id], len(story), id)
		}
	}
	return nil
}

// tell follows the story of a task by one record.
func tell(rec audit.Stored, ranks map[string]int64, waiting map[int64]int, told map[string]int, slack int) error {
	e, err := audit.Parse(rec.Bytes)
	if err != nil {
		return err
	}
	what := e.Event
	if e.Move != nil {
		what = e.Move.To
	}
	switch what {
	case "TASK_CREATED", string(task.Approved), string(task.Queued):
		return nil
	}
	id := rec.Subject.ID
	if told[id] >= len(story) || story[told[id]] != what {
		return fmt.Errorf("task %s: %s as event %d", id, what, told[id]+1)
	}
	if told[id]++; told[id] > 1 {
		return nil
	}
	rank, passed := ranks[id], 0
	waiting[rank]--
	for other, n := range waiting {
		if other > rank {
			passed += n
		}
	}
	if passed > slack {
		return fmt.Errorf("task %s of rank %d was claimed before %d tasks of a higher rank", id, rank, passed)
	}
	return nil
}
