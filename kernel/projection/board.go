package projection

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/audit"
	"pawl/kernel/view"
	"pawl/machine/board"
)

// Board makes state.json and state-history.json of a board of issues. It remembers what it has read of the board's
// records, so that a long history is read once. It is safe for concurrent use.
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

// Newest reports whether a board of issues is what state.json shows: there is one, and no run by itself was taken up or
// went on after it.
func Newest(ctx context.Context, k Kernel) (bool, error) {
	b, s, err := newestBoard(ctx, k)
	if err != nil || b == nil || s == nil {
		return false, err
	}
	if len(b.Busy) > 0 {
		return true, nil
	}
	rows, err := k.Store().Load(ctx, kernel.Select{Kind: kernel.KindRun, Parent: s.ID, Newest: true, Limit: 1,
		HotOnly: true})
	return err == nil && (len(rows[0]) == 0 || !rows[0][0].UpdatedAt.After(b.UpdatedAt)), err
}

// newestBoard reads the newest batch and the session of the workspace, nil where there is none.
func newestBoard(ctx context.Context, k Kernel) (*kernel.Board, *kernel.Session, error) {
	rows, err := k.Store().Load(ctx, kernel.Select{Kind: kernel.KindBoard, Newest: true, Limit: 1},
		kernel.Select{Kind: kernel.KindSession, Label: kernel.SessionLabel})
	if err != nil || len(rows[0]) == 0 || len(rows[1]) == 0 {
		return nil, nil, err
	}
	b, s := new(kernel.Board), new(kernel.Session)
	if err := kernel.Decode(rows[0][0], b); err != nil {
		return nil, nil, err
	}
	return b, s, kernel.Decode(rows[1][0], s)
}

// Shown is a state.json that Files has made, and an index in the audit log before which nothing changed what it shows.
type Shown struct {
	Content []byte
	Size    int64
}

// Files returns both files. Where an earlier state.json is given, only the issues are read of which the log has told
// since. Without one what the files cost grows with the number of issues, so they are not for every commit. updated_at
// is the newest instant of what was read, then or now. Without a board there are no files.
func (p *Board) Files(ctx context.Context, k Kernel, shown Shown) ([]pawl.ProjectedFile, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	b, s, err := newestBoard(ctx, k)
	if err != nil || b == nil {
		return nil, err
	}
	if err := p.read(ctx, k, b); err != nil {
		return nil, err
	}
	batch := view.Batch{
		Status: board.RunStatus(b.State), Phase: board.PhaseStatus(b.Phase), WorkDir: s.Place.Workspace + "/.pawl",
		Actions: p.actions, Created: b.CreatedAt, Updated: b.UpdatedAt,
	}
	state, err := changedState(ctx, k, b, batch, shown)
	if err == nil && state == nil {
		if err = readBatch(ctx, k, b, &batch); err == nil {
			state = view.StateJSON(batch)
		}
	}
	if err != nil {
		return nil, err
	}
	return []pawl.ProjectedFile{
		{Path: view.StateFile, Content: string(state)},
		{Path: view.HistoryFile, Content: string(view.StateHistory(p.points))},
	}, nil
}

// BoardState returns the state.json of the newest batch, or of an empty board.
func BoardState(ctx context.Context, k Kernel) ([]byte, error) {
	p := &Board{}
	files, err := p.Files(ctx, k, Shown{})
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return view.StateJSON(view.Batch{Status: board.Run.Initial(), Phase: board.Phase.Initial()}), nil
	}
	return []byte(files[0].Content), nil
}

// readBatch reads the issues of a batch: those that were registered in it, and older ones that are not completed.
func readBatch(ctx context.Context, k Kernel, b *kernel.Board, out *view.Batch) error {
	items := map[string]string{}
	for row, err := range k.Store().Scan(ctx, kernel.Select{Kind: kernel.KindItem, HotOnly: true}) {
		if err != nil {
			return err
		}
		items[row.ID] = row.State
	}
	for row, err := range k.Store().Scan(ctx, kernel.Select{Kind: kernel.KindIssue}) {
		if err != nil {
			return err
		}
		i := new(kernel.Issue)
		if err := kernel.Decode(row, i); err != nil {
			return err
		}
		addIssue(out, b, i, items)
	}
	out.Errors = out.Errors[:min(len(out.Errors), maxErrors)]
	return nil
}

// addIssue adds an issue to what a batch shows, if it is of the batch.
func addIssue(out *view.Batch, b *kernel.Board, i *kernel.Issue, items map[string]string) {
	if i.Number == 0 || i.Batch != b.Number && i.State == string(board.IssueCompleted) || !board.IsIssueID(i.Label) {
		return
	}
	out.Updated = later(out.Updated, i.UpdatedAt)
	solution := ""
	switch {
	case i.Solution != "":
		solution = fmt.Sprintf("SOL-%s-%d", i.Label, i.Solutions)
	case i.Came != nil:
		solution = i.Came.Solution
	}
	state, failed := stateOf(i, solution, i.UpdatedAt)
	out.Issues, out.Errors = append(out.Issues, state), append(out.Errors, failed...)
	if i.Came != nil && i.Came.Item != nil {
		out.Queue = append(out.Queue, *i.Came.Item)
	} else if at, ok := items[i.Item]; ok && i.Item != "" && solution != "" {
		out.Queue = append(out.Queue, board.QueueItem{
			ItemID: fmt.Sprintf("S-%d", i.Number), IssueID: i.Label, SolutionID: solution, Status: board.ItemStatus(at),
		})
	}
}

// maxChanged is of how many changed issues at most a state.json is brought up to date rather than made anew.
const maxChanged = 5000

// changedState brings an earlier state.json of a batch up to date, nil where it cannot be.
func changedState(ctx context.Context, k Kernel, b *kernel.Board, batch view.Batch, shown Shown) ([]byte, error) {
	file, ok := view.OpenBoardFile(shown.Content)
	if !ok || !file.Of(batch) {
		return nil, nil
	}
	ids, err := changedIssues(ctx, k, shown.Size)
	if err != nil || len(ids) > maxChanged {
		return nil, err
	}
	for _, busy := range b.Busy { // what is at work may be written without a record
		ids[busy.Issue] = true
	}
	var sel []kernel.Select
	for id := range ids {
		sel = append(sel, kernel.Select{Kind: kernel.KindIssue, ID: id})
	}
	// The log of errors tells of the first ones that failed, and those may have been written without a record since.
	failed := file.Failed()
	for _, label := range failed {
		sel = append(sel, kernel.Select{Kind: kernel.KindIssue, Label: label})
	}
	issues, err := load[kernel.Issue](ctx, k, sel)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(issues, func(a, b *kernel.Issue) int { return cmp.Compare(a.Pos, b.Pos) })
	issues = slices.CompactFunc(issues, func(a, b *kernel.Issue) bool { return a.ID == b.ID })
	sel = nil
	for _, i := range issues {
		if i.Item != "" {
			sel = append(sel, kernel.Select{Kind: kernel.KindItem, ID: i.Item})
		}
	}
	found, err := load[kernel.Item](ctx, k, sel)
	if err != nil {
		return nil, err
	}
	items := map[string]string{}
	for _, i := range found {
		items[i.ID] = i.State
	}
	var changed []string
	told := 0 // of the errors, those that stand no further behind than the last one that the file tells of
	for _, i := range issues {
		changed = append(changed, i.Label)
		addIssue(&batch, b, i, items)
		if len(failed) > 0 && i.Label == failed[len(failed)-1] {
			told = len(batch.Errors)
		}
	}
	if len(failed) >= maxErrors && told < maxErrors {
		return nil, nil // the file does not say which one comes next
	}
	batch.Errors = batch.Errors[:min(len(batch.Errors), maxErrors)]
	return file.With(batch, changed), nil
}

// changedIssues are the ids of the issues that the log tells of from an index on, or of whose queue items it does.
func changedIssues(ctx context.Context, k Kernel, from int64) (map[string]bool, error) {
	ids := map[string]bool{}
	var sel []kernel.Select
	for rec, err := range k.Store().Records(ctx, "", from) {
		if err != nil || len(ids) > maxChanged {
			return ids, err
		}
		switch kernel.Kind(rec.Subject.Kind) {
		case kernel.KindIssue:
			ids[rec.Subject.ID] = true
		case kernel.KindItem:
			sel = append(sel, kernel.Select{Kind: kernel.KindItem, ID: rec.Subject.ID})
		}
	}
	items, err := load[kernel.Item](ctx, k, sel)
	for _, i := range items {
		ids[i.Issue] = true
	}
	return ids, err
}

// load reads the documents of selections of one row each.
func load[T any, P interface {
	*T
	kernel.Document
}](ctx context.Context, k Kernel, sel []kernel.Select) (out []P, err error) {
	if len(sel) == 0 {
		return nil, nil
	}
	rows, err := k.Store().Load(ctx, sel...)
	if err != nil {
		return nil, err
	}
	for _, found := range rows {
		for _, row := range found {
			doc := P(new(T))
			if err := kernel.Decode(row, doc); err != nil {
				return nil, err
			}
			out = append(out, doc)
		}
	}
	return out, nil
}

// read reads what is new in the board's records: the phases that it has gone through.
func (p *Board) read(ctx context.Context, k Kernel, b *kernel.Board) error {
	if p.id != b.ID {
		p.id, p.next, p.points, p.actions, p.count = b.ID, 0, []view.BoardPoint{}, []string{}, 0
	}
	for rec, err := range k.Store().Records(ctx, audit.Subject{Kind: string(kernel.KindBoard), ID: b.ID}.String(),
		p.next) {
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
