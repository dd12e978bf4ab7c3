package kernel

import (
	"context"
	"slices"
	"strings"
	"time"

	"pawl/audit"
	"pawl/effect"
	"pawl/machine/board"
	"pawl/machine/session"
	"pawl/machine/task"
	"pawl/plan"
	"pawl/view"
)

// Bounds of what is read for a projection, so that one stays cheap however large the workspace is.
const (
	maxQueue = 20  // open tasks in the queue of active_context.md
	maxSeen  = 32  // runs that are looked at for its history
	maxNotes = 500 // decisions and incidents in project_decisions.md, each
)

// archiveFiles returns what the end of the run leaves behind. Its content depends on the run alone and not on the moment,
// so that an archive that is tried again writes the same files.
func archiveFiles(w *work) []effect.ProjectedFile {
	if w.Run == nil || w.Solution == nil || w.Task == nil {
		return nil
	}
	if w.Task.EndedAt.IsZero() { // a task that failed ends when it is left behind
		w.Task.EndedAt = w.now
		w.touch(w.Task)
	}
	return w.solutionPackage().Archive()
}

// solutionPackage returns the run's solution package.
func (s *Snapshot) solutionPackage() view.Package {
	r, sol, t := s.Run, s.Solution, s.Task
	p := view.Package{
		Name: strings.TrimPrefix(packageDir(r, sol), "plan/"), Plan: sol.Plan, Hash: sol.Hash, Risk: sol.Risk, Agent: sol.Agent,
		Outcome: r.Outcome, Checks: sol.Checks, Created: r.StartedAt,
	}
	if t == nil {
		return p
	}
	p.Task, p.Label, p.Title, p.State, p.Land, p.Ended = t.ID, t.Label, t.Title, t.State, view.LandingOf(t.Land), endedAt(r, t)
	if t.Plan != nil {
		p.Plan = *t.Plan
	}
	if t.State != string(task.Done) {
		p.Reason = strings.TrimSpace(t.Exit + " " + t.Reason)
	}
	for _, e := range []*view.Evidence{view.EvidenceOf(t.Verified), view.EvidenceOf(t.Gate)} {
		if e != nil {
			p.Evidence = append(p.Evidence, *e)
		}
	}
	return p
}

// Context returns what active_context.md shows of the snapshot, with a history that the caller has read.
func (s *Snapshot) Context(history ...view.HistoryLine) view.Context {
	c := view.Context{State: session.Table.Initial(), History: history}
	if len(history) > 0 {
		c.Ended = history[0].Ended
	}
	at := s.Session
	if at == nil {
		return c
	}
	c.SessionID, c.State, c.Attempts, c.Checkpoint = at.ID, session.State(at.State), at.AutoFix, at.LastCheckpoint
	c.Updated, c.Goal = at.UpdatedAt, at.Goal
	if at.Paused {
		c.Ended = at.PausedAt
	}
	if at.Run == "" {
		c.Goal = ""
	}
	if t := s.Task; t != nil && at.Run != "" {
		line := view.ContextTask{Label: t.Label, Title: t.Title, State: task.State(t.State), Steps: view.StepsOf(t.Plan)}
		if len(line.Steps) > 0 {
			line.File = line.Steps[0].File
		}
		c.Tasks = append(c.Tasks, line)
		c.Summary = t.Label
		if step := view.StepOf(t.Plan, t.Cursor.Step); step != nil {
			c.Summary += " " + itoa(step.Done) + "/" + itoa(step.Total) + " " + step.Title
		}
		if t.Lease.Owner != "" {
			c.Workers = append(c.Workers, view.Worker{Task: t.Label, Session: t.Turn, State: t.State, Note: t.Lease.Owner})
		}
	}
	c.Pad = s.pad()
	return c
}

// pad lists what somebody who comes back should know first.
func (s *Snapshot) pad() []view.PadLine {
	var out []view.PadLine
	add := func(name, value string) {
		if value != "" {
			out = append(out, view.PadLine{Name: name, Value: value})
		}
	}
	at := s.Session
	if at.Paused {
		add("paused", string(at.PausedBy))
	}
	if b := at.Blocked; b != nil {
		add("blocked", string(b.Kind)+" "+b.Error.view().Technical())
	}
	if at.Run == "" {
		if at.LastError != nil {
			add("last_error", at.LastError.view().Technical())
		}
		return out
	}
	if t := s.Turn; t != nil {
		add("turn", t.State)
	}
	if t := s.Task; t != nil && t.Cursor.Step != "" {
		add("step", t.Cursor.Step)
	}
	if t := s.Task; t != nil && t.Progress != nil {
		out = append(out, t.Progress.pad(t.Label))
	}
	if t := s.Turn; t != nil && t.Failure != nil {
		add("failure", string(t.Failure.Code)+" "+t.Failure.What)
	}
	if t := s.Task; t != nil && t.GateNote != "" {
		add("gate_failure_context", t.GateNote)
	}
	if a := s.Approval; a != nil && a.State == ApprovalPending {
		add("approval", a.About+" "+a.Hash)
	}
	for _, n := range s.next() {
		add("next", n.Command)
	}
	return out
}

// Projections returns the files that show the present state, to be written below .pawl after each commit:
// active_context.md, state.json, state-history.json, and the solution package of the run in progress. It reads a bounded
// number of rows and depends on nothing but the store, so the same rows always give the same bytes.
func (k *Kernel) Projections(ctx context.Context) ([]effect.ProjectedFile, error) {
	s, err := k.Look(ctx)
	if err != nil {
		return nil, err
	}
	history, err := k.history(ctx)
	if err != nil {
		return nil, err
	}
	c := s.Context(history...)
	if err := k.queue(ctx, s, &c); err != nil {
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
	batch, points, err := k.batch(ctx, s)
	if err != nil {
		return nil, err
	}
	out := []effect.ProjectedFile{
		{Path: view.ContextFile, Content: string(view.ActiveContext(c))},
		{Path: view.StateFile, Content: string(view.StateJSON(batch))},
		{Path: view.HistoryFile, Content: string(view.StateHistory(points))},
	}
	if s.Session != nil && s.Session.Run != "" && s.Solution != nil {
		out = append(out, s.solutionPackage().Live()...)
	}
	decisions, incidents, err := k.decisions(ctx)
	if err == nil && len(decisions)+len(incidents) > 0 {
		out = append(out, effect.ProjectedFile{Path: view.DecisionsFile, Content: string(view.Decisions(decisions, incidents, s.Session.UpdatedAt))})
	}
	return out, err
}

// history reads the newest tasks of runs that are over.
func (k *Kernel) history(ctx context.Context) ([]view.HistoryLine, error) {
	var runs []*Run
	var sel []Select
	seen := 0
	for row, err := range k.store.Scan(ctx, Select{Kind: KindRun, Newest: true, Limit: maxSeen}) {
		if err != nil {
			return nil, err
		}
		r := new(Run)
		if err := Decode(row, r); err != nil {
			return nil, err
		}
		if r.Task != "" && !r.EndedAt.IsZero() && !slices.Contains([]string{"declined", "revised"}, r.Outcome) {
			runs, sel = append(runs, r), append(sel, Select{Kind: KindTask, ID: r.Task})
		}
		if seen++; len(runs) == view.MaxHistory || seen == maxSeen {
			break
		}
	}
	if len(sel) == 0 {
		return nil, nil
	}
	rows, err := k.store.Load(ctx, sel...)
	if err != nil {
		return nil, err
	}
	var out []view.HistoryLine
	for i, r := range runs {
		if len(rows[i]) == 0 {
			continue
		}
		t := new(Task)
		if err := Decode(rows[i][0], t); err != nil {
			return nil, err
		}
		s := Snapshot{Run: r, Task: t, Solution: &Solution{}}
		h := view.HistoryLine{
			Label: t.Label, Title: t.Title, Result: s.solutionPackage().Ending(), Ended: endedAt(r, t),
			Archived: r.Outcome == "completed" || r.Outcome == "skipped" || r.Outcome == "canceled" && !t.StartedAt.IsZero(),
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

// openStates are the states of tasks that wait or are at work.
var openStates = []string{
	string(task.Draft), string(task.Approved), string(task.Queued), string(task.Running), string(task.Verifying), string(task.Verified), string(task.Blocked),
}

// queue adds the open tasks that belong to no run: the first to be claimed or, where there are very many, the newest, which
// are found without sorting all.
func (k *Kernel) queue(ctx context.Context, s *Snapshot, c *view.Context) error {
	counts, err := k.store.Count(ctx, KindTask, "")
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
	sel := Select{Kind: KindTask, States: openStates, ByRank: true, Limit: maxQueue + 1}
	if open > 10*maxQueue {
		sel = Select{Kind: KindTask, Newest: true, Limit: maxQueue + 1}
	}
	rows, err := k.store.Load(ctx, sel)
	if err != nil {
		return err
	}
	shown := 0
	for _, row := range rows[0] {
		if shown == maxQueue || s.Task != nil && row.ID == s.Task.ID || !slices.Contains(openStates, row.State) {
			continue
		}
		t := new(Task)
		if err := Decode(row, t); err != nil {
			return err
		}
		c.Tasks = append(c.Tasks, view.ContextTask{Label: t.Label, Title: t.Title, State: task.State(t.State)})
		if t.Progress != nil {
			c.Pad = append(c.Pad, t.Progress.pad(t.Label))
		}
		shown++
	}
	c.More = open - shown
	return nil
}

// batch reads the newest run in the form of seed 004.
func (k *Kernel) batch(ctx context.Context, s *Snapshot) (view.Batch, []view.BoardPoint, error) {
	b := view.Batch{Status: board.Run.Initial(), Phase: board.Phase.Initial()}
	at := s
	if s.Session == nil || s.Session.Run == "" {
		last, err := k.LookLast(ctx)
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
		state := board.IssueState{
			ID: i.Label, Title: i.Title, Status: board.IssueStatus(i.State), SolutionID: solution, PlannedAt: rfc(i.PlannedAt), ExecutedAt: rfc(i.ExecutedAt),
		}
		if i.Error != nil {
			text := i.Error.view().Technical()
			state.Error = &text
			b.Errors = append(b.Errors, view.BoardError{At: r.EndedAt, Action: "plan", Issue: i.Label, Error: *i.Error.view()})
		}
		b.Issues = append(b.Issues, state)
		if q := at.Item; q != nil {
			_, id, _ := strings.Cut(q.Label, ":")
			b.Queue = append(b.Queue, board.QueueItem{ItemID: id, IssueID: i.Label, SolutionID: solution, Status: board.ItemStatus(q.State)})
		}
		if at.Session != nil && at.Session.Run == r.ID && at.Session.Blocked != nil {
			b.Errors = append(b.Errors, view.BoardError{At: at.Session.UpdatedAt, Action: "execute", Issue: i.Label, Error: *at.Session.Blocked.Error.view()})
		}
	}
	points, actions, err := k.phases(ctx, r, len(b.Issues))
	b.Actions = actions
	return b, points, err
}

// latest returns the newest change of the run's rows.
func latest(t time.Time, s *Snapshot) time.Time {
	if s.Issue != nil && s.Issue.UpdatedAt.After(t) {
		t = s.Issue.UpdatedAt
	}
	if s.Item != nil && s.Item.UpdatedAt.After(t) {
		t = s.Item.UpdatedAt
	}
	return t
}

func rfc(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return plan.At(t).String()
}

// actionOf names the seed's action that leads into a phase.
var actionOf = map[board.PhaseStatus]string{
	board.PhaseListing: "list", board.PhasePlanning: "plan", board.PhaseExecuting: "execute", board.PhaseComplete: "complete",
}

// phases reads from the run's records which phases it has gone through and when. A run has few records.
func (k *Kernel) phases(ctx context.Context, r *Run, issues int) ([]view.BoardPoint, []string, error) {
	points := []view.BoardPoint{}
	actions := []string{}
	for rec, err := range k.store.Records(ctx, subject(r).String(), 0) {
		if err != nil {
			return nil, nil, err
		}
		p, err := audit.Parse(rec.Bytes)
		if err != nil {
			return nil, nil, err
		}
		phase := board.Phase.Initial()
		name, ok := strings.CutPrefix(p.Event, "PHASE_")
		switch {
		case p.Event == "STATE_TRANSITION_RUNNING":
			actions = append(actions, "init")
		case ok:
			phase = board.PhaseStatus(strings.ToLower(name))
			actions = append(actions, actionOf[phase])
		default:
			continue
		}
		points = append(points, view.BoardPoint{At: p.At, Phase: phase, Actions: len(actions), Issues: issues})
	}
	return points, actions, nil
}
