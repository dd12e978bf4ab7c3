package projection

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/audit"
	"pawl/kernel/view"
	"pawl/machine/board"
)

// Board makes state.json and state-history.json of a board of issues. It remembers what it has read of the board's records, so
// that a long history is read once. It is safe for concurrent use.
type Board struct {
	mu      sync.Mutex
	id      string
	next    int64 // index in the audit log behind what was read
	points  []view.BoardPoint
	actions []string
	count   int // of all actions
}

// Bounds of what the files of a board tell of its past.
const (
	maxPoints  = 1000
	maxErrors  = 100
	maxActions = 1000
)

// Newest reports whether a board of issues is what state.json shows: there is one, and no run by itself was taken up or went on
// after it.
func Newest(ctx context.Context, k Kernel) (bool, error) {
	b, s, err := newestBoard(ctx, k)
	if err != nil || b == nil || s == nil {
		return false, err
	}
	if len(b.Busy) > 0 {
		return true, nil
	}
	rows, err := k.Store().Load(ctx, kernel.Select{Kind: kernel.KindRun, Parent: s.ID, Newest: true, Limit: 1, HotOnly: true})
	return err == nil && (len(rows[0]) == 0 || !rows[0][0].UpdatedAt.After(b.UpdatedAt)), err
}

// newestBoard reads the newest batch and the session of the workspace, nil where there is none.
func newestBoard(ctx context.Context, k Kernel) (*kernel.Board, *kernel.Session, error) {
	rows, err := k.Store().Load(ctx, kernel.Select{Kind: kernel.KindBoard, Newest: true, Limit: 1}, kernel.Select{Kind: kernel.KindSession, Label: kernel.SessionLabel})
	if err != nil || len(rows[0]) == 0 || len(rows[1]) == 0 {
		return nil, nil, err
	}
	b, s := new(kernel.Board), new(kernel.Session)
	if err := kernel.Decode(rows[0][0], b); err != nil {
		return nil, nil, err
	}
	return b, s, kernel.Decode(rows[1][0], s)
}

// Files returns both files. What they cost grows with the number of issues, so they are not for every commit. Without a board
// there are none.
func (p *Board) Files(ctx context.Context, k Kernel) ([]pawl.ProjectedFile, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	b, s, err := newestBoard(ctx, k)
	if err != nil || b == nil {
		return nil, err
	}
	batch, err := batchOf(ctx, k, b, s)
	if err != nil {
		return nil, err
	}
	if err := p.read(ctx, k, b); err != nil {
		return nil, err
	}
	batch.Actions = p.actions
	return []pawl.ProjectedFile{
		{Path: view.StateFile, Content: string(view.StateJSON(batch))},
		{Path: view.HistoryFile, Content: string(view.StateHistory(p.points))},
	}, nil
}

// BoardState returns the state.json of the newest batch, or of an empty board.
func BoardState(ctx context.Context, k Kernel) ([]byte, error) {
	p := &Board{}
	files, err := p.Files(ctx, k)
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return view.StateJSON(view.Batch{Status: board.Run.Initial(), Phase: board.Phase.Initial()}), nil
	}
	return []byte(files[0].Content), nil
}

// batchOf reads the issues of a batch: those that were registered in it, and older ones that are not completed.
func batchOf(ctx context.Context, k Kernel, b *kernel.Board, s *kernel.Session) (view.Batch, error) {
	out := view.Batch{Status: board.RunStatus(b.State), Phase: board.PhaseStatus(b.Phase), WorkDir: s.Place.Workspace + "/.pawl", Created: b.CreatedAt, Updated: b.UpdatedAt}
	items := map[string]string{}
	for row, err := range k.Store().Scan(ctx, kernel.Select{Kind: kernel.KindItem, HotOnly: true}) {
		if err != nil {
			return out, err
		}
		items[row.ID] = row.State
	}
	for row, err := range k.Store().Scan(ctx, kernel.Select{Kind: kernel.KindIssue}) {
		if err != nil {
			return out, err
		}
		i := new(kernel.Issue)
		if err := kernel.Decode(row, i); err != nil {
			return out, err
		}
		if i.Number == 0 || i.Batch != b.Number && i.State == string(board.IssueCompleted) || !board.IsIssueID(i.Label) {
			continue
		}
		out.Updated = later(out.Updated, i.UpdatedAt)
		solution := ""
		if i.Solution != "" {
			solution = fmt.Sprintf("SOL-%s-%d", i.Label, i.Solutions)
		}
		state, failed := stateOf(i, solution, i.UpdatedAt)
		if out.Issues = append(out.Issues, state); len(out.Errors) < maxErrors {
			out.Errors = append(out.Errors, failed...)
		}
		if at, ok := items[i.Item]; ok && i.Item != "" && solution != "" {
			out.Queue = append(out.Queue, board.QueueItem{ItemID: fmt.Sprintf("S-%d", i.Number), IssueID: i.Label, SolutionID: solution, Status: board.ItemStatus(at)})
		}
	}
	return out, nil
}

// read reads what is new in the board's records: the phases that it has gone through.
func (p *Board) read(ctx context.Context, k Kernel, b *kernel.Board) error {
	if p.id != b.ID {
		p.id, p.next, p.points, p.actions, p.count = b.ID, 0, []view.BoardPoint{}, []string{}, 0
	}
	for rec, err := range k.Store().Records(ctx, audit.Subject{Kind: string(kernel.KindBoard), ID: b.ID}.String(), p.next) {
		if err != nil {
			return err
		}
		parsed, err := audit.Parse(rec.Bytes)
		if err != nil {
			return err
		}
		p.next = rec.Index + 1
		phase, action, ok := phaseOf(parsed.Event)
		if !ok {
			continue
		}
		var data struct {
			Issues int `json:"issues"`
		}
		if err := json.Unmarshal(parsed.Data, &data); err != nil && len(parsed.Data) > 0 {
			return err
		}
		p.actions = append(p.actions, action)
		p.count++
		p.points = append(p.points, view.BoardPoint{At: parsed.At, Phase: phase, Actions: p.count, Issues: data.Issues})
	}
	p.points = p.points[max(0, len(p.points)-maxPoints):]
	p.actions = p.actions[max(0, len(p.actions)-maxActions):]
	return nil
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
