// Package projection makes the files that show a workspace's state from its store: active_context.md, state.json,
// state-history.json, the solution package of the run in progress and project_decisions.md. It depends on nothing but
// the store, so the same rows always give the same bytes.
package projection

import (
	"context"
	"slices"
	"strings"
	"time"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/audit"
	"pawl/kernel/query"
	"pawl/kernel/view"
	"pawl/machine/board"
	"pawl/machine/task"
	"pawl/text/plan"
)

// Bounds of what is read for a projection, so that one stays cheap however large the workspace is.
const (
	maxQueue = 20  // open tasks in the queue of active_context.md
	maxSeen  = 32  // runs that are looked at for its history
	maxNotes = 500 // decisions and incidents in project_decisions.md, each
)

// Kernel is what the files are read from.
type Kernel interface {
	query.Looker
	Store() kernel.Store
}

// Files returns the files that show the present state, to be written below .pawl after each commit: active_context.md,
// the solution package of the run in progress and, unless a board of issues is the newest work (Board), state.json and
// state-history.json. It reads a bounded number of rows and depends on nothing but the store, so the same rows always
// give the same bytes.
func Files(ctx context.Context, k Kernel) ([]pawl.ProjectedFile, error) {
	s, err := k.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	past, err := history(ctx, k)
	if err != nil {
		return nil, err
	}
	c := query.ContextOf(s, past...)
	if err := queue(ctx, k, s, &c); err != nil {
		return nil, err
	}
	if s.Session != nil && s.Session.Questions > 0 {
		open, err := k.Questions(ctx)
		if err != nil {
			return nil, err
		}
		for _, q := range open {
			c.Pad = append(c.Pad, view.PadLine{Name: "question", Value: q.Label + " " + string(q.By) + ": " + q.Text})
		}
	}
	out := []pawl.ProjectedFile{{Path: view.ContextFile, Content: string(view.ActiveContext(c))}}
	newest, err := Newest(ctx, k)
	if err != nil {
		return nil, err
	}
	if !newest {
		batch, points, err := batch(ctx, k, s)
		if err != nil {
			return nil, err
		}
		out = append(out, pawl.ProjectedFile{Path: view.StateFile, Content: string(view.StateJSON(batch))},
			pawl.ProjectedFile{Path: view.HistoryFile, Content: string(view.StateHistory(points))})
	}
	live := ""
	if s.Session != nil && s.Session.Run != "" && s.Solution != nil && s.Solution.Package != "" {
		live = s.Solution.Package
		if !s.Solution.Theirs {
			out = append(out, s.Package().Live()...)
		}
	}
	kept, err := drafts(ctx, k, live)
	if err != nil {
		return nil, err
	}
	out = append(out, kept...)
	decided, incidents, err := decisions(ctx, k)
	if err == nil && len(decided)+len(incidents) > 0 {
		out = append(out, pawl.ProjectedFile{Path: view.DecisionsFile,
			Content: string(view.Decisions(decided, incidents, s.Session.UpdatedAt))})
	}
	return out, err
}

// maxDrafts bounds the packages that wait to be carried out and are written again.
const maxDrafts = 50

// drafts makes the packages that wait to be carried out, but for the one of the run in progress. A document that is
// there is left as it is: people may change it before it is carried out, and it is read then.
func drafts(ctx context.Context, k Kernel, live string) ([]pawl.ProjectedFile, error) {
	rows, err := k.Store().Load(ctx, kernel.Select{Kind: kernel.KindSolution, States: []string{kernel.SolutionDraft},
		Newest: true, Limit: maxDrafts})
	if err != nil {
		return nil, err
	}
	var out []pawl.ProjectedFile
	for _, r := range rows[0] {
		s := new(kernel.Solution)
		if err := kernel.Decode(r, s); err != nil {
			return nil, err
		}
		if s.Package == "" || s.Package == live || s.Theirs {
			continue
		}
		for _, f := range s.Draft().Live() {
			f.Keep = true
			out = append(out, f)
		}
	}
	return out, nil
}

// Gone names the packages in plan/ of the newest runs that have ended and left theirs behind: it is in the archive, or
// was declined. What people put into plan/ is not among them.
func Gone(ctx context.Context, of Kernel) ([]string, error) {
	rows, err := of.Store().Load(ctx, kernel.Select{Kind: kernel.KindRun, Newest: true, Limit: maxSeen})
	if err != nil {
		return nil, err
	}
	var names []string
	var sel []kernel.Select
	for _, row := range rows[0] {
		r := new(kernel.Run)
		if err := kernel.Decode(row, r); err != nil {
			return nil, err
		}
		if r.Package != "" && !r.EndedAt.IsZero() {
			names, sel = append(names, r.Package), append(sel, kernel.Select{Kind: kernel.KindSolution, ID: r.Solution})
		}
	}
	if len(sel) == 0 {
		return nil, nil
	}
	solutions, err := of.Store().Load(ctx, sel...)
	if err != nil {
		return nil, err
	}
	var gone []string
	for n, found := range solutions {
		if len(found) == 0 || found[0].State != kernel.SolutionUsed {
			continue
		}
		s := new(kernel.Solution)
		if err := kernel.Decode(found[0], s); err != nil {
			return nil, err
		}
		if !s.Theirs {
			gone = append(gone, names[n])
		}
	}
	return gone, nil
}

// history reads the newest tasks of runs that are over.
func history(ctx context.Context, k Kernel) ([]view.HistoryLine, error) {
	var runs []*kernel.Run
	var sel []kernel.Select
	seen := 0
	for row, err := range k.Store().Scan(ctx, kernel.Select{Kind: kernel.KindRun, Newest: true, Limit: maxSeen}) {
		if err != nil {
			return nil, err
		}
		r := new(kernel.Run)
		if err := kernel.Decode(row, r); err != nil {
			return nil, err
		}
		if r.Task != "" && !r.EndedAt.IsZero() && !slices.Contains([]string{"declined", "revised"}, r.Outcome) {
			runs, sel = append(runs, r), append(sel, kernel.Select{Kind: kernel.KindTask, ID: r.Task})
		}
		if seen++; len(runs) == view.MaxHistory || seen == maxSeen {
			break
		}
	}
	if len(sel) == 0 {
		return nil, nil
	}
	rows, err := k.Store().Load(ctx, sel...)
	if err != nil {
		return nil, err
	}
	var out []view.HistoryLine
	for i, r := range runs {
		if len(rows[i]) == 0 {
			continue
		}
		t := new(kernel.Task)
		if err := kernel.Decode(rows[i][0], t); err != nil {
			return nil, err
		}
		s := kernel.Snapshot{Run: r, Task: t, Solution: &kernel.Solution{}}
		h := view.HistoryLine{
			Label: t.Label, Title: t.Title, Result: s.Package().Ending(), Ended: kernel.EndedAt(r, t),
			Archived: archived(r, t),
		}
		if t.Land != nil {
			h.Commit = t.Land.Commit
		}
		if r.Undone {
			h.Result = view.RolledBack
		}
		out = append(out, h)
	}
	return out, nil
}

// archived reports whether the end of a run left an entry in the archive of its month.
func archived(r *kernel.Run, t *kernel.Task) bool {
	switch r.Outcome {
	case "completed", "skipped":
		return true
	case "canceled":
		return !t.StartedAt.IsZero()
	case "rolled_back":
		return r.ArchiveWarning == nil
	}
	return false
}

// openStates are the states of tasks that wait or are at work.
var openStates = []string{
	string(task.Draft), string(task.Approved), string(task.Queued), string(task.Running), string(task.Verifying),
	string(task.Verified), string(task.Blocked),
}

// queue adds the open tasks that belong to no run: the first to be claimed or, where there are very many, the newest,
// which are found without sorting all.
func queue(ctx context.Context, k Kernel, s *kernel.Snapshot, c *view.Context) error {
	counts, err := k.Store().Count(ctx, kernel.KindTask, "")
	if err != nil {
		return err
	}
	open := 0
	for _, state := range openStates {
		open += counts[state]
	}
	if len(c.Tasks) > 0 && slices.Contains(openStates, string(c.Tasks[0].State)) {
		open-- // the task of the run
	}
	if open == 0 {
		return nil
	}
	sel := kernel.Select{Kind: kernel.KindTask, States: openStates, ByRank: true, Limit: maxQueue + 1}
	if open > 10*maxQueue {
		sel = kernel.Select{Kind: kernel.KindTask, Newest: true, Limit: maxQueue + 1}
	}
	rows, err := k.Store().Load(ctx, sel)
	if err != nil {
		return err
	}
	shown := 0
	for _, row := range rows[0] {
		if shown == maxQueue || s.Task != nil && row.ID == s.Task.ID || !slices.Contains(openStates, row.State) {
			continue
		}
		t := new(kernel.Task)
		if err := kernel.Decode(row, t); err != nil {
			return err
		}
		c.Tasks = append(c.Tasks, view.ContextTask{Label: t.Label, Title: t.Title, State: task.State(t.State)})
		if t.Progress != nil {
			c.Pad = append(c.Pad, t.Progress.Pad(t.Label))
		}
		shown++
	}
	c.More = open - shown
	return nil
}

// batch reads the newest run in the form of state.json (docs/spec/board.md#persistence).
func batch(ctx context.Context, k Kernel, s *kernel.Snapshot) (view.Batch, []view.BoardPoint, error) {
	b := view.Batch{Status: board.Run.Initial(), Phase: board.Phase.Initial()}
	at := s
	if s.Session == nil || s.Session.Run == "" {
		last, err := k.LastRun(ctx)
		if err != nil {
			return b, nil, err
		}
		at = last
	}
	r := at.Run
	if s.Session != nil {
		b.Created, b.Updated = s.Session.CreatedAt, s.Session.CreatedAt
	}
	if r == nil {
		return b, nil, nil
	}
	b.Status, b.Phase, b.WorkDir = board.RunStatus(r.State), board.PhaseStatus(r.Phase), r.Place.Workspace+"/.pawl"
	b.Created, b.Updated = r.CreatedAt, latest(r.UpdatedAt, at)
	solution := ""
	if at.Solution != nil {
		solution = at.Solution.Label
	}
	if i := at.Issue; i != nil {
		state, failed := stateOf(i, solution, r.EndedAt)
		b.Issues, b.Errors = append(b.Issues, state), append(b.Errors, failed...)
		if q := at.Item; q != nil {
			_, id, _ := strings.Cut(q.Label, ":")
			b.Queue = append(b.Queue, board.QueueItem{ItemID: id, IssueID: i.Label, SolutionID: solution,
				Status: board.ItemStatus(q.State)})
		}
		failing := i.State != string(board.IssueFailed) // what it failed of is its own
		if failing && at.Session != nil && at.Session.Run == r.ID && at.Session.Blocked != nil {
			b.Errors = append(b.Errors, view.BoardError{At: at.Session.UpdatedAt, Action: "execute", Issue: i.Label,
				Error: at.Session.Blocked.Error})
		}
	}
	points, actions, err := phases(ctx, k, r, len(b.Issues))
	b.Actions = actions
	return b, points, err
}

// stateOf is an issue as state.json has it (docs/spec/board.md#issue), and its entries of the error log. What earlier
// versions kept of a failure is that of planning, and has the time that is given.
func stateOf(i *kernel.Issue, solution string, at time.Time) (board.IssueState, []view.BoardError) {
	state := board.IssueState{
		ID: i.Label, Title: i.Title, Status: board.IssueStatus(i.State), SolutionID: solution,
		PlannedAt: rfc(i.PlannedAt), ExecutedAt: rfc(i.ExecutedAt),
	}
	if i.Error != nil {
		text := view.Said(*i.Error)
		state.Error = &text
	}
	var failed []view.BoardError
	for _, e := range i.Errors {
		failed = append(failed, view.BoardError{At: e.At, Action: e.Action, Issue: i.Label, Error: e.Fault})
	}
	if i.Error != nil && len(failed) == 0 && i.Came == nil {
		failed = append(failed, view.BoardError{At: at, Action: "plan", Issue: i.Label, Error: *i.Error})
	}
	return state, failed
}

// latest returns the newest change of the run's rows.
func latest(t time.Time, s *kernel.Snapshot) time.Time {
	if s.Issue != nil && s.Issue.UpdatedAt.After(t) {
		t = s.Issue.UpdatedAt
	}
	if s.Item != nil && s.Item.UpdatedAt.After(t) {
		t = s.Item.UpdatedAt
	}
	return t
}

func rfc(t time.Time) board.Instant {
	if t.IsZero() {
		return ""
	}
	return board.Instant(plan.At(t).String())
}

// actionOf names the seed's action that leads into a phase.
var actionOf = map[board.PhaseStatus]string{
	board.PhaseListing: "list", board.PhasePlanning: "plan", board.PhaseExecuting: "execute",
	board.PhaseComplete: "complete",
}

// phaseOf returns the phase that a record of a run or a board says was entered, and the seed's action that led there.
func phaseOf(event string) (phase board.PhaseStatus, action string, ok bool) {
	if event == "STATE_TRANSITION_RUNNING" {
		return board.Phase.Initial(), "init", true
	}
	name, ok := strings.CutPrefix(event, "PHASE_")
	phase = board.PhaseStatus(strings.ToLower(name))
	return phase, actionOf[phase], ok
}

// phases reads from the run's records which phases it has gone through and when. A run has few records.
func phases(ctx context.Context, k Kernel, r *kernel.Run, issues int) ([]view.BoardPoint, []string, error) {
	points := []view.BoardPoint{}
	actions := []string{}
	for rec, err := range k.Store().Records(ctx, audit.Subject{Kind: string(kernel.KindRun), ID: r.ID}.String(), 0) {
		if err != nil {
			return nil, nil, err
		}
		p, err := audit.Parse(rec.Bytes)
		if err != nil {
			return nil, nil, err
		}
		phase, action, ok := phaseOf(p.Event)
		if !ok {
			continue
		}
		actions = append(actions, action)
		points = append(points, view.BoardPoint{At: p.At, Phase: phase, Actions: len(actions), Issues: issues})
	}
	return points, actions, nil
}

// decisions reads the newest decisions and incidents for project_decisions.md, oldest first.
func decisions(ctx context.Context, k Kernel) ([]view.Decision, []view.Incident, error) {
	rows, err := k.Store().Load(ctx, kernel.Select{Kind: kernel.KindDecision, Newest: true, Limit: maxNotes},
		kernel.Select{Kind: kernel.KindIncident, Newest: true, Limit: maxNotes})
	if err != nil {
		return nil, nil, err
	}
	replaced := map[string]*kernel.Ruling{}
	var decisions []view.Decision
	for _, row := range rows[0] { // the newest first, so that a replacement is seen before what it replaces
		d := new(kernel.Ruling)
		if err := kernel.Decode(row, d); err != nil {
			return nil, nil, err
		}
		v := view.Decision{ID: d.ID, Type: d.Type, Content: d.Content, By: string(d.By), At: d.CreatedAt}
		if by := replaced[d.ID]; by != nil {
			v.ReplacedBy, v.ReplacedAt = by.ID, by.CreatedAt
		}
		if d.Replaces != "" && replaced[d.Replaces] == nil {
			replaced[d.Replaces] = d
		}
		decisions = append(decisions, v)
	}
	var incidents []view.Incident
	for _, row := range rows[1] {
		i := new(kernel.Incident)
		if err := kernel.Decode(row, i); err != nil {
			return nil, nil, err
		}
		incidents = append(incidents, view.Incident{ID: i.ID, Type: i.Type, Cause: i.RootCause, Fix: i.Fix,
			Scope: i.Scope, At: i.CreatedAt})
	}
	slices.Reverse(decisions)
	slices.Reverse(incidents)
	return decisions, incidents, nil
}
