package query

import (
	"context"
	"regexp"
	"sync"
	"time"

	"pawl/kernel"
	"pawl/kernel/view"
	"pawl/machine/board"
	"pawl/machine/task"
)

// object matches ids of git in documents.
var object = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b(?:[0-9a-f]{64}|[0-9a-f]{40})\b`) })

// Kept says what may not be retired: what runs and tasks stand on that have not ended, and what the newest runs do.
// With newest 0 all that ended are old.
func Kept(ctx context.Context, of Kernel, newest int) (view.Kept, error) {
	k := keeper{store: of.Store(), out: view.Kept{Needs: map[string]bool{}}}
	err := k.open(ctx)
	if err == nil && newest > 0 {
		err = k.newest(ctx, newest)
	}
	for _, kind := range []kernel.Kind{kernel.KindSession, kernel.KindFlow, kernel.KindBoard} {
		if err == nil {
			_, err = k.note(ctx, kernel.Select{Kind: kind})
		}
	}
	return k.out, err
}

type keeper struct {
	store kernel.Store
	out   view.Kept
}

// open notes what has not ended: runs without an outcome, and tasks that are no part of a run and at rest.
func (k *keeper) open(ctx context.Context) error {
	runs, err := k.store.Load(ctx, kernel.Select{Kind: kernel.KindRun,
		States: []string{string(board.RunPending), string(board.RunRunning)}})
	if err != nil {
		return err
	}
	for _, row := range runs[0] {
		var run kernel.Run
		if err := kernel.Decode(row, &run); err != nil {
			return err
		}
		if run.Outcome == "" {
			k.out.Open = append(k.out.Open, row.Label)
			if err := k.below(ctx, row); err != nil {
				return err
			}
		}
	}
	var alive []string
	for _, s := range task.Table.States() {
		if s != task.Done && s != task.Failed && s != task.Canceled {
			alive = append(alive, string(s))
		}
	}
	tasks, err := k.store.Load(ctx, kernel.Select{Kind: kernel.KindTask, States: alive})
	if err != nil {
		return err
	}
	for _, row := range tasks[0] {
		var t kernel.Task
		if err := kernel.Decode(row, &t); err != nil {
			return err
		}
		rows, err := k.store.Load(ctx, kernel.Select{Kind: kernel.KindRun, ID: row.Parent, HotOnly: true})
		if err != nil {
			return err
		}
		if len(rows[0]) > 0 {
			continue // it ends with its run
		}
		k.out.Open = append(k.out.Open, row.Label)
		if err := k.below(ctx, row); err != nil {
			return err
		}
	}
	return nil
}

// newest notes what the newest runs stand on.
func (k *keeper) newest(ctx context.Context, n int) error {
	runs, err := k.store.Load(ctx, kernel.Select{Kind: kernel.KindRun, Newest: true, Limit: n + 1})
	if err != nil || len(runs[0]) <= n {
		return err
	}
	k.out.Since = runs[0][n-1].CreatedAt
	for _, row := range runs[0][:n] {
		if err := k.below(ctx, row); err != nil {
			return err
		}
	}
	return nil
}

// below notes what a row and all that is below it name.
func (k *keeper) below(ctx context.Context, row kernel.Row) error {
	k.add(row)
	for parents := []string{row.ID}; len(parents) > 0; {
		children, err := k.note(ctx, kernel.Select{Parent: parents[0]})
		if err != nil {
			return err
		}
		parents = append(parents[1:], children...)
	}
	return nil
}

// note notes what the selected rows name, and returns their ids.
func (k *keeper) note(ctx context.Context, sel kernel.Select) (ids []string, err error) {
	for row, err := range k.store.Scan(ctx, sel) {
		if err != nil {
			return nil, err
		}
		k.add(row)
		ids = append(ids, row.ID)
	}
	return ids, nil
}

func (k *keeper) add(row kernel.Row) {
	switch row.Kind {
	case kernel.KindEffect:
		k.out.Needs[row.ID] = true
	case kernel.KindCheckpoint:
		k.out.Needs[row.Label] = true
	}
	for _, id := range object().FindAll(row.Doc, -1) {
		k.out.Needs[string(id)] = true
	}
}

// Before is the instant before which what runs left is retired, where it is kept for some days.
func Before(k view.Kept, now time.Time, days int) time.Time {
	before := now.AddDate(0, 0, -days)
	if k.Since.After(before) {
		before = k.Since
	}
	return before
}
