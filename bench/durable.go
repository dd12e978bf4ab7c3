package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/effect"
	"pawl/kernel/joined"
	"pawl/machine/task"
	"pawl/store/sqlite"
)

// fleetSize is the number of tasks that the callers share.
const fleetSize = 10000

// fleet is a store full of queued tasks, and the callers' knowledge of them.
type fleet struct {
	kernel *kernel.Kernel
	store  *sqlite.Store
	tasks  []*walker
}

// walker is one task on its way round: queued, running, failed, queued.
type walker struct {
	id    string
	at    task.State
	token int64
	lap   int
}

func openFleet(ctx context.Context, dir string, n int) (_ *fleet, err error) {
	store, err := sqlite.Open(filepath.Join(dir, "pawl.db"), sqlite.Options{Create: true})
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, store.Close())
		}
	}()
	config := kernel.Defaults()
	config.Retry = kernel.RetryConfig{Max: 1 << 40, Kind: "none"}
	f := &fleet{store: store, kernel: kernel.New(joined.Table(), store, config, pawl.ClockFunc(time.Now), rand.Reader)}
	ids, err := seed(ctx, f.kernel, effect.Place{Workspace: dir, Tree: dir}, n, task.Queued)
	for _, id := range ids {
		f.tasks = append(f.tasks, &walker{id: id, at: task.Queued})
	}
	return f, err
}

// ids returns the tasks' ids.
func (f *fleet) ids() []string {
	out := make([]string, len(f.tasks))
	for i, w := range f.tasks {
		out[i] = w.id
	}
	return out
}

// step moves a task to its next state, under a lease and with a reason of its own each time.
func (f *fleet) step(ctx context.Context, w *walker) error {
	c := &kernel.Transition{Task: w.id}
	actor := pawl.Actor("runner:bench/4711")
	switch w.at {
	case task.Queued:
		c.To, c.Owner, c.Reason = task.Running, "bench/4711", "claimed by bench/4711"
	case task.Running:
		w.lap++
		c.To, c.Token, c.Exit, c.Reason = task.Failed, w.token, task.ExitException,
			fmt.Sprintf("attempt %d ended with exit status 2", w.lap)
	default:
		c.To, c.Reason, actor = task.Queued, "try again", "user:bench"
	}
	out, err := f.kernel.Do(ctx, kernel.Envelope{Actor: actor, Command: c})
	if err != nil {
		return fmt.Errorf("task %s to %s: %w", w.id, c.To, err)
	}
	w.at = c.To
	if c.To == task.Running {
		return json.Unmarshal(out.Result, &w.token)
	}
	return nil
}

// load is how a store behaved while callers wrote to it.
type load struct {
	rate     float64 // acknowledged writes per second
	p50, p99 float64 // of the time that a caller waited, in nanoseconds
	cpu      float64 // processor time of the whole process per write, in nanoseconds
}

// note says what the rate alone does not.
func (l load) note() string {
	out := fmt.Sprintf("p50 %s, p99 %s", short(l.p50), short(l.p99))
	if l.cpu > 0 {
		out += fmt.Sprintf(", processor %s each", short(l.cpu))
	}
	return out
}

// drive lets callers write for the span, each one write after the other; write number n of caller c is write(c, n).
func drive(ctx context.Context, callers int, span time.Duration, write func(c, n int) error) (load, error) {
	ctx, stop := context.WithTimeout(ctx, span)
	defer stop()
	waits, faults := make([][]float64, callers), make([]error, callers)
	var all sync.WaitGroup
	start, cpu := time.Now(), cpuTime()
	for c := range callers {
		all.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				began := time.Now()
				if err := write(c, n); err != nil {
					faults[c] = err
					stop()
					return
				}
				waits[c] = append(waits[c], float64(time.Since(began)))
			}
		})
	}
	all.Wait()
	spent := time.Since(start)
	if err := errors.Join(faults...); err != nil {
		return load{}, err
	}
	if err := context.Cause(ctx); !errors.Is(err, context.DeadlineExceeded) {
		return load{}, err
	}
	each := slices.Concat(waits...)
	used := float64(cpuTime() - cpu)
	return load{rate: float64(len(each)) / spent.Seconds(), p50: quantile(each, 0.5), p99: quantile(each, 0.99),
		cpu: used / float64(len(each))}, nil
}

// transitions lets callers move tasks, each its own: one task is never moved by two callers.
func (f *fleet) transitions(ctx context.Context, callers int, span time.Duration) (load, error) {
	background := context.WithoutCancel(ctx)
	return drive(ctx, callers, span, func(c, n int) error {
		own := (len(f.tasks) - c + callers - 1) / callers
		return f.step(background, f.tasks[c+n%own*callers])
	})
}

// check compares a part of the store with what was acknowledged.
func (f *fleet) check(ctx context.Context) error {
	for i := 0; i < len(f.tasks); i += 97 {
		w := f.tasks[i]
		s, err := f.kernel.TaskSnapshot(ctx, w.id)
		if err != nil {
			return err
		}
		if s.Task.State != string(w.at) || s.Task.Retry.Count < w.lap-1 {
			return fmt.Errorf("task %s is %s after %d retries in the store, and was acknowledged as %s in lap %d",
				w.id, s.Task.State, s.Task.Retry.Count, w.at, w.lap)
		}
	}
	return nil
}

// benchDurable measures acknowledged transitions per second, through the kernel and the store, as a multiple of R_a.
func benchDurable(ctx context.Context, s *settings, emit func(Result)) error {
	d, err := openDisk(s.dir)
	if err != nil {
		return err
	}
	defer d.close()
	s.say("a store with %d queued tasks", fleetSize)
	f, err := openFleet(ctx, s.dir, fleetSize)
	if err != nil {
		return err
	}
	defer f.store.Close()
	m := durable{settings: s, disk: d, fleet: f, emit: emit}
	if err := m.alternate(ctx); err != nil {
		return err
	}
	if err := m.sustained(ctx); err != nil {
		return err
	}
	return f.check(ctx)
}

// durable is one run of the measurement.
type durable struct {
	*settings
	disk  *disk
	fleet *fleet
	emit  func(Result)
}

// alternate measures 1 and 16 callers in rounds of R_a, one, R_a, sixteen.
func (m durable) alternate(ctx context.Context) error {
	const turns = 5
	cases := []struct {
		name    string
		callers int
		goal    float64
	}{{"1 caller", 1, 0.7}, {"16 callers", 16, 3}}
	ratios, yards, loads := make([][]float64, len(cases)), make([][]float64, len(cases)), make([][]load, len(cases))
	before, err := m.disk.rate(m.span / 60)
	if err != nil {
		return err
	}
	for turn := range turns {
		m.say("round %d of %d: 1 and 16 callers", turn+1, turns)
		for i, c := range cases {
			l, err := m.fleet.transitions(ctx, c.callers, m.span/4/turns)
			if err != nil {
				return err
			}
			after, err := m.disk.rate(m.span / 60)
			if err != nil {
				return err
			}
			yard := (before + after) / 2
			ratios[i], yards[i], loads[i] = append(ratios[i], l.rate/yard), append(yards[i], yard), append(loads[i], l)
			before = after
		}
	}
	for i, c := range cases {
		l := middle(loads[i])
		m.emit(Result{Case: c.name, Pawl: rate(l.rate), Beside: rate(median(yards[i])), Yardstick: "R_a",
			Score: median(ratios[i]), Unit: "×", Goal: c.goal, Note: l.note()})
	}
	return nil
}

// middle returns the medians of several loads.
func middle(loads []load) load {
	pick := func(f func(load) float64) float64 {
		var all []float64
		for _, l := range loads {
			all = append(all, f(l))
		}
		return median(all)
	}
	return load{
		rate: pick(func(l load) float64 { return l.rate }), p50: pick(func(l load) float64 { return l.p50 }),
		p99: pick(func(l load) float64 { return l.p99 }), cpu: pick(func(l load) float64 { return l.cpu }),
	}
}

// plain is the design without groups, with one number of connections.
type plain struct {
	name  string
	goal  float64
	naive *naive
	loads []load
}

// openPlain opens the design as it does best, which the goal is about, and as database/sql does it when nothing is
// said.
func (m durable) openPlain(ctx context.Context, callers int) (all []*plain, err error) {
	writing, err := m.fleet.sizes(ctx)
	if err != nil {
		return nil, err
	}
	for _, way := range []struct {
		name  string
		goal  float64
		conns int
	}{{"one transaction per call", 10, naivePool}, {"the same, a connection each", 0, callers}} {
		n, err := openNaive(ctx, filepath.Join(m.dir, fmt.Sprintf("naive-%d.db", way.conns)), way.conns, m.fleet.ids(),
			writing)
		if err != nil {
			return all, err
		}
		all = append(all, &plain{name: way.name, goal: way.goal, naive: n})
	}
	return all, nil
}

// sustained measures 256 callers over the whole span in one piece, with R_a and the design without groups before and
// after.
func (m durable) sustained(ctx context.Context) error {
	const callers = 256
	others, err := m.openPlain(ctx, callers)
	defer func() {
		for _, o := range others {
			_ = o.naive.close()
		}
	}()
	if err != nil {
		return err
	}
	var yards []float64
	around := func() error {
		for i := range len(others) + 1 {
			yard, err := m.disk.rate(m.span / 40)
			if err != nil {
				return err
			}
			yards = append(yards, yard)
			if i == len(others) {
				break
			}
			m.say("%s, %d callers", others[i].name, callers)
			l, err := others[i].naive.transitions(ctx, callers, m.span/8)
			if err != nil {
				return err
			}
			others[i].loads = append(others[i].loads, l)
		}
		return nil
	}
	if err := around(); err != nil {
		return err
	}
	m.say("%d callers for %s", callers, m.span)
	l, err := m.fleet.transitions(ctx, callers, m.span)
	if err != nil {
		return err
	}
	if err := around(); err != nil {
		return err
	}
	yard := median(yards)
	m.emit(Result{Case: "256 callers", Pawl: rate(l.rate), Beside: rate(yard), Yardstick: "R_a", Score: l.rate / yard,
		Unit: "×", Goal: 4, Note: l.note()})
	for _, o := range others {
		theirs := middle(o.loads)
		m.emit(Result{Case: "256 callers", Pawl: rate(l.rate), Beside: rate(theirs.rate), Yardstick: o.name,
			Score: l.rate / theirs.rate, Unit: "×", Goal: o.goal, NoGoal: o.goal == 0,
			Note: "theirs " + theirs.note()})
	}
	return nil
}

// sizes returns the mean sizes of what a transition writes.
func (f *fleet) sizes(ctx context.Context) (sizes, error) {
	var out sizes
	records := 0
	for rec, err := range f.store.Records(ctx, "task:"+f.tasks[0].id, 0) {
		if err != nil {
			return sizes{}, err
		}
		out.record += len(rec.Bytes)
		records++
	}
	rows, err := f.store.Load(ctx, kernel.Select{Kind: kernel.KindTask, Limit: 100})
	if err != nil {
		return sizes{}, err
	}
	for _, r := range rows[0] {
		out.doc += len(r.Doc)
	}
	head, err := f.store.Head(ctx)
	if err != nil {
		return sizes{}, err
	}
	if records == 0 || len(rows[0]) == 0 {
		return sizes{}, os.ErrNotExist
	}
	return sizes{doc: out.doc / len(rows[0]), record: out.record / records,
		head: len(head.Root) * (1 + len(head.Frontier))}, nil
}
