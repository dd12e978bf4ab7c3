package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"time"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/effect"
	"pawl/kernel/joined"
	"pawl/kernel/query"
	"pawl/machine/task"
	"pawl/store/sqlite"
)

// growthSizes are the numbers of tasks in the stores that are read.
var growthSizes = []float64{1000, 10000, 100000}

// firstPage is how many tasks a list shows at first.
const firstPage = 50

// growthReads are what is read, each with the most that it may take in the largest store.
var growthReads = []struct {
	name string
	most time.Duration
	read func(context.Context, kernel.Store) error
}{
	{"next queued task", 5 * time.Millisecond, func(ctx context.Context, st kernel.Store) error {
		rows, err := st.Load(ctx, kernel.Select{Kind: kernel.KindTask, States: []string{string(task.Queued)},
			ByRank: true, Limit: 1})
		if err == nil && len(rows[0]) != 1 {
			err = errors.New("no queued task was found")
		}
		return err
	}},
	{"task list first page", 20 * time.Millisecond, func(ctx context.Context, st kernel.Store) error {
		rows, err := st.Load(ctx, kernel.Select{Kind: kernel.KindTask, Limit: firstPage})
		if err == nil && len(rows[0]) != firstPage {
			err = fmt.Errorf("a page of %d tasks", len(rows[0]))
		}
		if err != nil {
			return err
		}
		for _, r := range rows[0] {
			t := new(kernel.Task)
			if err := kernel.Decode(r, t); err != nil {
				return err
			}
			_ = query.LineOf(t)
		}
		return nil
	}},
}

// benchGrowth measures how reading grows with the number of tasks, and plots it.
func benchGrowth(ctx context.Context, s *settings, emit func(Result)) error {
	stores := make([]*sqlite.Store, len(growthSizes))
	for i, n := range growthSizes {
		s.say("a store with %s tasks", grouped(n))
		store, err := growthStore(ctx, filepath.Join(s.dir, fmt.Sprint(n)), int(n))
		if err != nil {
			return err
		}
		defer store.Close()
		stores[i] = store
	}
	var series []Series
	for _, g := range growthReads {
		s.say("%s", g.name)
		var reads []candidate
		for i := range stores {
			reads = append(reads, candidate{grouped(growthSizes[i]), func(int) error { return g.read(ctx, stores[i]) }})
		}
		costs, err := compare(ctx, reads, 20, s.span/10)
		if err != nil {
			return err
		}
		line := Series{Name: g.name}
		for _, c := range costs {
			line.Ys = append(line.Ys, c.nanos)
		}
		series = append(series, line)
		emitGrowth(line, growthSizes, g.most, emit)
	}
	if s.plots == "" {
		return nil
	}
	name, err := Plot(s.plots, "Reading a store with many tasks", growthSizes, series)
	if err == nil {
		s.say("wrote %s", name)
	}
	return err
}

// emitGrowth holds the growth of a series against that of the logarithm, and its last value against the most that it
// may be.
func emitGrowth(line Series, sizes []float64, most time.Duration, emit func(Result)) {
	last := len(sizes) - 1
	note := ""
	for i, n := range sizes {
		note += fmt.Sprintf(", %s: %s", grouped(n), short(line.Ys[i]))
	}
	emit(Result{Case: line.Name, Pawl: tookNanos(line.Ys[last]), Beside: tookNanos(line.Ys[0]), Yardstick: "of " +
		grouped(sizes[0]),
		Score: line.Ys[last] / line.Ys[0], Unit: "×",
		Goal: math.Round(100*math.Log(sizes[last])/math.Log(sizes[0])) / 100, AtMost: true,
		Note: "at most logarithmic" + note})
	emit(Result{Case: line.Name + " of " + grouped(sizes[last]), Pawl: tookNanos(line.Ys[last]),
		Score: line.Ys[last] / 1e6, Unit: "ms",
		Goal: float64(most.Milliseconds()), AtMost: true})
}

// growthStore makes a store with tasks in several states and ranks.
func growthStore(ctx context.Context, dir string, n int) (*sqlite.Store, error) {
	store, err := sqlite.Open(filepath.Join(dir, "pawl.db"), sqlite.Options{Create: true})
	if err != nil {
		return nil, err
	}
	k := kernel.New(joined.Table(), store, kernel.Defaults(), pawl.ClockFunc(time.Now), rand.Reader)
	if _, err := seedRanks(ctx, k, effect.Place{Workspace: dir, Tree: dir}, n, queueRanks, task.Draft, task.Queued,
		task.Running, task.Done); err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return store, nil
}
