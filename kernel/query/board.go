package query

import (
	"context"
	"slices"
	"time"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/audit"
	"pawl/kernel/view"
	"pawl/machine/board"
)

// Board answers questions about the issues of a workspace. It is safe for concurrent use.
type Board struct {
	store kernel.Store
	now   func() time.Time
}

// Counts counts the issues of the board by their status. Where nothing was initialised it fails with CodeNotFound.
func (b Board) Counts(ctx context.Context) (view.IssueCounts, error) {
	rows, err := b.store.Load(ctx, kernel.Select{Kind: kernel.KindSession, Label: kernel.SessionLabel, HotOnly: true})
	switch {
	case err != nil:
		return view.IssueCounts{}, err
	case len(rows[0]) == 0:
		return view.IssueCounts{}, pawl.Fail(pawl.CodeNotFound, "kernel.not_initialised")
	}
	found, err := b.store.Count(ctx, kernel.KindIssue, rows[0][0].ID)
	out := view.IssueCounts{ByStatus: map[board.IssueStatus]int{}}
	for state, n := range found {
		out.ByStatus[board.IssueStatus(state)] = n
		out.Total += n
	}
	return out, err
}

// Batch reads the newest batch of the board, nil where there is none.
func (b Board) Batch(ctx context.Context) (*view.BoardBatch, error) {
	row := new(kernel.Board)
	if ok, err := first(ctx, b.store, kernel.Select{Kind: kernel.KindBoard, Newest: true, Limit: 1}, row); err != nil ||
		!ok {
		return nil, err
	}
	out := &view.BoardBatch{
		ID: row.ID, Label: row.Label, Number: row.Number, Status: board.RunStatus(row.State),
		Phase: board.PhaseStatus(row.Phase), Branch: row.Branch,
		Begun: row.CreatedAt, Ended: row.EndedAt,
	}
	ids := make([]string, len(row.Busy))
	for n, w := range row.Busy {
		ids[n] = w.Issue
	}
	held, err := b.decoded(ctx, ids)
	if err != nil {
		return nil, err
	}
	leases := map[string]kernel.Lease{}
	for _, i := range held {
		leases[i.ID] = i.Lease
	}
	for _, w := range row.Busy {
		out.Workers = append(out.Workers, view.IssueWorker{Issue: w.Issue, Label: w.Label, Owner: w.Owner,
			Since: w.Since, Planning: w.Planning, Files: w.Files, Lost: lost(leases[w.Issue], b.now())})
	}
	return out, nil
}

// Move is a record of the audit log about an issue of the board, with the label of the issue.
type Move struct {
	Issue string
	audit.Parsed
}

// Moves reads the moves of the board's issues in a part of the audit log, from one index to before another, newest
// first.
func (b Board) Moves(ctx context.Context, from, until int64) ([]Move, error) {
	var moves []audit.Parsed
	var ids []string
	for rec, err := range b.store.Records(ctx, "", from) {
		if err != nil {
			return nil, err
		}
		if rec.Index >= until {
			break
		}
		if rec.Subject.Kind != string(kernel.KindIssue) {
			continue
		}
		p, err := audit.Parse(rec.Bytes)
		if err != nil {
			return nil, err
		}
		if p.Move != nil {
			moves, ids = append(moves, p), append(ids, rec.Subject.ID)
		}
	}
	issues, err := b.decoded(ctx, ids)
	if err != nil {
		return nil, err
	}
	labels := map[string]string{}
	for _, i := range issues {
		labels[i.ID] = i.Label
	}
	var out []Move
	for n, p := range slices.Backward(moves) {
		if label := labels[ids[n]]; label != "" {
			out = append(out, Move{label, p})
		}
	}
	return out, nil
}
