package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"pawl/kernel/effect"
	"pawl/machine/task"
)

// The queue that is drained, and how often: its tasks in several ranks, and its workers.
const (
	queueTasks   = 10000
	queueRanks   = 7
	queueWorkers = 8
	queueRounds  = 3
)

// riverSettings are the numbers of workers among which River's best is looked for.
var riverSettings = []int{64, 256, 1024, 4096}

// benchQueue measures how fast workers drain a queue of tasks in which nothing is to be done, beside River, a queue in
// PostgreSQL, and its jobs in which nothing is to be done. What is done for one differs: River fetches a job and marks
// it as completed, many with one statement each, and answers nobody meanwhile; pawl takes a lease, prolongs it, proves
// and closes the task, each step decided, audited and flushed to the disk before the worker goes on.
func benchQueue(ctx context.Context, s *settings, emit func(Result)) (err error) {
	r, err := openRiver(ctx, s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	best, err := r.tune(ctx, s)
	if err != nil {
		return err
	}
	d, err := openDisk(s.dir)
	if err != nil {
		return err
	}
	defer d.close()
	var own, few, many, disk []float64
	var loads []load
	for round := range queueRounds {
		s.say("round %d of %d: %d tasks, and as many of River's jobs with %d and %d workers", round+1, queueRounds,
			queueTasks, queueWorkers, best)
		append4, err := d.rate(s.span / 60)
		if err != nil {
			return err
		}
		disk = append(disk, append4)
		l, err := drainTasks(ctx, filepath.Join(s.dir, fmt.Sprint(round)))
		if err != nil {
			return err
		}
		own, loads = append(own, l.rate), append(loads, l)
		for _, way := range []struct {
			workers int
			rates   *[]float64
		}{{queueWorkers, &few}, {best, &many}} {
			rate, err := r.drain(ctx, way.workers)
			if err != nil {
				return err
			}
			*way.rates = append(*way.rates, rate)
		}
	}
	l, name := middle(loads), fmt.Sprintf("%s no-op tasks, %d workers", grouped(queueTasks), queueWorkers)
	emit(Result{Case: name, Pawl: rate(l.rate), Score: math.Round(l.rate), Unit: "/s", Goal: 2000,
		Note: fmt.Sprintf("%s; one takes %s, p99 %s, processor %s; %d commits and %d records; R_a %s; %d rounds",
			spread(own), short(l.p50),
			short(l.p99), short(l.cpu), commits, len(story), rate(median(disk)), queueRounds)})
	emit(Result{Case: name, Pawl: rate(l.rate), Beside: rate(median(few)),
		Yardstick: fmt.Sprintf("River, %d workers", queueWorkers),
		Score:     l.rate / median(few), Unit: "×", NoGoal: true, Note: "theirs " + spread(few)})
	emit(Result{Case: name, Pawl: rate(l.rate), Beside: rate(median(many)),
		Yardstick: fmt.Sprintf("River, %s workers", grouped(float64(best))),
		Score:     l.rate / median(many), Unit: "×", NoGoal: true, Note: "theirs " + spread(many) +
			"; its best number of workers here"})
	return nil
}

// spread says between which values the rounds lay.
func spread(rates []float64) string {
	return fmt.Sprintf("%s to %s", grouped(slices.Min(rates)), rate(slices.Max(rates)))
}

// drainTasks makes a store with queued tasks, lets a crew carry them out, and verifies what became of them.
func drainTasks(ctx context.Context, dir string) (_ load, err error) {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return load{}, err
	}
	c, err := openCrew("bench", dir)
	if err != nil {
		return load{}, err
	}
	defer func() { err = errors.Join(err, c.store.Close(), os.RemoveAll(dir)) }()
	if _, err := seedRanks(ctx, c.kernel, effect.Place{Workspace: dir, Tree: dir}, queueTasks, queueRanks,
		task.Queued); err != nil {
		return load{}, err
	}
	start, cpu := time.Now(), cpuTime()
	took, err := c.work(ctx, queueWorkers)
	spent, used := time.Since(start), cpuTime()-cpu
	if err != nil {
		return load{}, err
	}
	if err := c.verify(ctx, queueTasks, queueWorkers-1); err != nil {
		return load{}, err
	}
	return load{rate: queueTasks / spent.Seconds(), p50: median(took), p99: quantile(took, 0.99),
		cpu: float64(used) / queueTasks}, nil
}
