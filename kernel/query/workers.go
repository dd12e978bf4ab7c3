package query

import (
	"context"
	"slices"
	"time"

	"pawl/kernel"
	"pawl/kernel/topo"
	"pawl/kernel/view"
	"pawl/machine/board"
	"pawl/machine/task"
)

// lost reports whether a lease has ended without having been renewed.
func lost(l kernel.Lease, now time.Time) bool {
	return !l.Expires.IsZero() && !l.Expires.After(now)
}

// Workers are those who work in the workspace, each with what it says of itself: on issues of the board, and on tasks
// outside of it. One whose lease has ended comes first.
func (b Board) Workers(ctx context.Context) ([]view.Claim, error) {
	out, now := []view.Claim{}, b.now()
	batch, err := b.Batch(ctx)
	if err != nil {
		return nil, err
	}
	since := map[string]view.IssueWorker{}
	if batch != nil {
		for _, w := range batch.Workers {
			since[w.Issue] = w
		}
	}
	states := []string{string(board.IssueRegistered), string(board.IssuePlanning), string(board.IssuePlanned),
		string(board.IssueExecuting)}
	ids := []string{}
	for id := range since {
		ids = append(ids, id)
	}
	held, err := b.decoded(ctx, slices.Sorted(slices.Values(ids)))
	if err != nil {
		return nil, err
	}
	for _, i := range held {
		if i.Lease.Owner == "" || !slices.Contains(states, i.State) {
			continue
		}
		w := since[i.ID]
		out = append(out, view.Claim{Owner: i.Lease.Owner, Issue: i.Label, Title: i.Title, Planning: w.Planning,
			Since: w.Since, Until: i.Lease.Expires, Lost: lost(i.Lease, now)})
	}
	own := map[string]bool{}
	for row, err := range b.store.Scan(ctx, kernel.Select{Kind: kernel.KindSession, Label: kernel.SessionLabel,
		HotOnly: true}) {
		if err != nil {
			return nil, err
		}
		own[row.ID] = true
	}
	for row, err := range b.store.Scan(ctx, kernel.Select{Kind: kernel.KindTask,
		States: []string{string(task.Running), string(task.Verifying)}}) {
		t := new(kernel.Task)
		if err == nil {
			err = kernel.Decode(row, t)
		}
		if err != nil {
			return nil, err
		}
		if t.Lease.Owner != "" && (t.Session == "" || own[t.Session]) {
			out = append(out, view.Claim{Owner: t.Lease.Owner, Task: t.Label, Title: t.Title, Since: t.StartedAt,
				Until: t.Lease.Expires, Lost: lost(t.Lease, now)})
		}
	}
	slices.SortStableFunc(out, func(a, b view.Claim) int {
		switch {
		case a.Lost == b.Lost:
			return 0
		case a.Lost:
			return -1
		}
		return 1
	})
	return out, nil
}

// Graph is the board as a graph of at most so many issues, in the order of their registration.
func (b Board) Graph(ctx context.Context, most int) (view.Graph, error) {
	out, on, names := view.Graph{Nodes: []view.GraphNode{}}, map[string][]string{}, map[string]string{}
	var ids []string
	open := map[string]bool{}
	if _, err := b.Counts(ctx); err != nil {
		return out, err
	}
	for i, err := range b.Issues(ctx, Filter{Every: true, Limit: most + 1}) {
		if err != nil {
			return out, err
		}
		if len(ids) == most {
			out.More = true
			break
		}
		ids, names[i.ID] = append(ids, i.ID), i.Label
		for _, d := range i.Dependencies {
			on[i.ID] = append(on[i.ID], d.ID)
		}
		open[i.ID] = i.Status != board.IssueCompleted
		out.Nodes = append(out.Nodes, view.GraphNode{Label: i.Label, Title: i.Title, Status: i.Status,
			Standing: i.Standing})
	}
	layer, longest := topo.Layers(ids, func(id string) []string { return on[id] },
		func(id string) bool { return open[id] })
	for n, id := range ids {
		node := &out.Nodes[n]
		node.Layer = layer[id]
		for _, o := range on[id] {
			if names[o] == "" {
				node.Other++
			} else {
				node.After = append(node.After, names[o])
			}
		}
	}
	if len(longest) > 1 {
		for _, id := range longest {
			out.Critical = append(out.Critical, names[id])
		}
	}
	return out, nil
}
