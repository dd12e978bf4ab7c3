package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os/exec"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
)

// riverQueue is River in a PostgreSQL.
type riverQueue struct {
	pool *pgxpool.Pool
	// stop ends the server, if it is ours.
	stop func() error
	// drains counts the queues that were drained: each has a name of its own.
	drains int
}

// riverConns is the number of connections, enough for River's fetching, completing and leading at once; more make it
// slower.
const riverConns = 16

// openRiver opens River in the server that the settings name, or in one of this run's own.
func openRiver(ctx context.Context, s *settings) (_ *riverQueue, err error) {
	r := &riverQueue{stop: func() error { return nil }}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.close())
		}
	}()
	dsn := s.postgres
	if dsn == "" {
		s.say("a PostgreSQL of its own")
		if dsn, r.stop, err = servePostgres(s.parent); err != nil {
			return r, err
		}
	}
	config, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return r, err
	}
	config.MaxConns = riverConns
	if r.pool, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return r, err
	}
	for _, name := range []string{"fsync", "synchronous_commit"} {
		var value string
		if err := r.pool.QueryRow(ctx, "SELECT current_setting($1)", name).Scan(&value); err != nil {
			return r, err
		}
		if value != "on" {
			return r, fmt.Errorf("PostgreSQL has %s = %s, which would acknowledge what is not on the disk", name, value)
		}
	}
	m, err := rivermigrate.New(riverpgxv5.New(r.pool), &rivermigrate.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return r, err
	}
	_, err = m.Migrate(ctx, rivermigrate.DirectionUp, nil)
	return r, err
}

func (r *riverQueue) close() error {
	if r.pool != nil {
		r.pool.Close()
	}
	return r.stop()
}

// servePostgres starts a server with its data on the disk of a folder. It serves until stop, or until this process
// ends.
func servePostgres(parent string) (dsn string, stop func() error, err error) {
	var errs bytes.Buffer
	c := exec.Command("../scripts/postgres.sh", "serve", parent) // benchmarks are started in their own folder
	c.Stderr = &errs
	in, err := c.StdinPipe()
	if err != nil {
		return "", nil, err
	}
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		return "", func() error { return nil }, err
	}
	stop = func() error { return errors.Join(in.Close(), c.Wait()) }
	dsn, err = bufio.NewReader(out).ReadString('\n')
	if err == io.EOF {
		ended := stop()
		return "", func() error { return nil }, fmt.Errorf("%s (%w)", strings.TrimSpace(errs.String()), ended)
	}
	return strings.TrimSpace(dsn), stop, err
}

// nothing are the arguments of a job in which nothing is to be done.
type nothing struct{}

func (nothing) Kind() string { return "nothing" }

type doNothing struct{ river.WorkerDefaults[nothing] }

func (doNothing) Work(context.Context, *river.Job[nothing]) error { return nil }

// tune returns the number of workers with which River is fastest here.
func (r *riverQueue) tune(ctx context.Context, s *settings) (best int, err error) {
	top := 0.0
	for _, workers := range riverSettings {
		rate, err := r.drain(ctx, workers)
		if err != nil {
			return 0, err
		}
		s.say("River with %d workers: %s/s", workers, grouped(rate))
		if rate > top {
			best, top = workers, rate
		}
	}
	return best, nil
}

// drain inserts jobs, has one client work them off and returns the jobs per second, from the moment at which the client
// is given the queue to the last completion that is in the database.
func (r *riverQueue) drain(ctx context.Context, workers int) (rate float64, err error) {
	r.drains++
	queue := fmt.Sprintf("drain_%d", r.drains)
	workersOf := river.NewWorkers()
	river.AddWorker(workersOf, doNothing{})
	client, err := river.NewClient(riverpgxv5.New(r.pool),
		&river.Config{Workers: workersOf, Logger: slog.New(slog.DiscardHandler),
			Queues:        map[string]river.QueueConfig{queue + "_warm": {MaxWorkers: 1}},
			FetchCooldown: river.FetchCooldownMin})
	if err != nil {
		return 0, err
	}
	if err := r.insert(ctx, client, queue, queueTasks); err != nil {
		return 0, err
	}
	done, unsubscribe := client.SubscribeConfig(&river.SubscribeConfig{Kinds: []river.EventKind{river.EventKindJobCompleted, river.EventKindJobFailed},
		ChanSize: queueTasks + 1})
	defer unsubscribe()
	if err := client.Start(ctx); err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, client.Stop(context.WithoutCancel(ctx))) }()
	// The first job shows that the client is up.
	if _, err := client.Insert(ctx, nothing{}, &river.InsertOpts{Queue: queue + "_warm"}); err != nil {
		return 0, err
	}
	if err := await(ctx, done, 1); err != nil {
		return 0, err
	}
	start := time.Now()
	if err := client.Queues().Add(queue, river.QueueConfig{MaxWorkers: workers}); err != nil {
		return 0, err
	}
	if err := await(ctx, done, queueTasks); err != nil {
		return 0, err
	}
	spent := time.Since(start)
	var completed int
	if err := r.pool.QueryRow(ctx, "SELECT count(*) FROM river_job WHERE queue=$1 AND state='completed' AND attempt=1",
		queue).Scan(&completed); err != nil {
		return 0, err
	}
	if completed != queueTasks {
		return 0, fmt.Errorf("%d of River's %d jobs are completed", completed, queueTasks)
	}
	return queueTasks / spent.Seconds(), nil
}

// insert empties the table and fills it with jobs, and tells the planner of them.
func (r *riverQueue) insert(ctx context.Context, client *river.Client[pgx.Tx], queue string, n int) error {
	if _, err := r.pool.Exec(ctx, "TRUNCATE river_job"); err != nil {
		return err
	}
	jobs := make([]river.InsertManyParams, n)
	for i := range jobs {
		jobs[i] = river.InsertManyParams{Args: nothing{}, InsertOpts: &river.InsertOpts{Queue: queue}}
	}
	if _, err := client.InsertManyFast(ctx, jobs); err != nil {
		return err
	}
	for _, text := range []string{"VACUUM ANALYZE river_job", "CHECKPOINT"} {
		if _, err := r.pool.Exec(ctx, text); err != nil {
			return err
		}
	}
	return nil
}

// await waits for so many jobs to be completed.
func await(ctx context.Context, done <-chan *river.Event, n int) error {
	late := time.NewTimer(time.Minute)
	defer late.Stop()
	for i := range n {
		select {
		case e, open := <-done:
			if !open || e.Kind != river.EventKindJobCompleted {
				return fmt.Errorf("River lost a job after %d of %d", i, n)
			}
		case <-ctx.Done():
			return ctx.Err()
		case <-late.C:
			return fmt.Errorf("River completed %d of %d jobs in a minute", i, n)
		}
	}
	return nil
}
