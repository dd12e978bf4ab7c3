package board

import (
	"context"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"pawl"
	"pawl/audit"
	"pawl/cli"
	"pawl/effect"
	"pawl/kernel"
	"pawl/machine/board"
	"pawl/plan"
	"pawl/tui"
	"pawl/view"
)

func newBoardCommand(a *cli.App) *cobra.Command {
	var once bool
	c := a.Command("board", "issue.board", "  pawl board\n  pawl board --once\n  pawl board --json", cli.Exactly(0), nil)
	c.RunE = func(c *cobra.Command, _ []string) error {
		ctx := c.Context()
		return with(ctx, a, cli.Reading(), func(open shelf) error {
			d := &watcher{shelf: open}
			if d.Flags.JSON || once || !d.Std.TTY || d.Std.TermIn == nil {
				return d.glance(ctx)
			}
			return tui.Live{
				In: d.Std.TermIn, Out: d.Std.TermOut, Env: d.Std.Env, Lang: d.Lang, Style: d.Style,
				Refresh: func(ctx context.Context, q tui.Query) (tui.Board, error) {
					b, err := d.scene(ctx, q)
					return b.In(time.Local), err
				},
				Detail: func(ctx context.Context, id string) (tui.Detail, error) {
					i, err := d.detail(ctx, id)
					return i.In(time.Local), err
				},
			}.Run(ctx)
		})
	}
	c.Flags().BoolVar(&once, "once", false, a.Text("issue.flag.once"))
	return c
}

// watcher reads the board for the screen, one reading at a time.
type watcher struct {
	shelf
	// board and issue are what was read of the audit log about the board, and about the issue that was opened last.
	board, issue chronicle
}

// onceRows is how many issues of each column are written where the board is written once.
const onceRows = 20

// glance writes the board once.
func (d *watcher) glance(ctx context.Context) error {
	b, err := d.scene(ctx, tui.Query{PerColumn: onceRows})
	if err != nil {
		return err
	}
	if d.Flags.JSON {
		return d.PrintJSON(b)
	}
	_, err = d.Std.Out.Write([]byte(b.In(time.Local).Text(d.Lang, d.Std.Width)))
	return err
}

// scene reads the board as it is drawn: counts, and what heads each column. Its cost does not grow with the backlog, unless a
// filter has to look for what fits.
func (d *watcher) scene(ctx context.Context, q tui.Query) (tui.Board, error) {
	out := tui.Board{At: d.Workspace.Kernel.Now(), Status: board.Run.Initial(), Phase: board.Phase.Initial(), Filter: q.Filter}
	counts, all, err := d.counts(ctx)
	if err != nil {
		return out, err
	}
	b, err := d.batch(ctx)
	if err != nil {
		return out, err
	}
	if b != nil {
		out.Run, out.Status, out.Phase = b.Label, board.RunStatus(b.State), board.PhaseStatus(b.Phase)
		for _, busy := range b.Busy {
			out.Workers = append(out.Workers, d.atWork(ctx, busy))
		}
	}
	out.Totals = tui.Totals{Total: all, Completed: counts[board.IssueCompleted], Failed: counts[board.IssueFailed]}
	for _, status := range board.Issue.States() {
		c := tui.Column{Status: status, Count: counts[status]}
		head, fit, err := d.head(ctx, status, q)
		if err != nil {
			return out, err
		}
		if q.Filter != "" {
			c.Count = fit
		}
		near, err := d.around(ctx, head, false)
		if err != nil {
			return out, err
		}
		for _, i := range head {
			c.Issues = append(c.Issues, cardOf(i, near, out.At))
		}
		if status == board.IssueCompleted {
			out.Totals.Finished, out.Totals.Took = pace(head, max(1, len(out.Workers)))
		}
		out.Columns = append(out.Columns, c)
	}
	if out.Totals.Today, err = d.cost(ctx, kernel.ScopeDay+":"+out.At.Format(time.DateOnly)); err != nil {
		return out, err
	}
	out.Events, err = d.lately(ctx)
	return out, err
}

// maxLooked is how many issues of a status are looked at for a column.
const maxLooked = 5000

// head reads the first issues of a column, those that fit where there is a filter, and counts how many fit among those that it
// looked at.
func (d *watcher) head(ctx context.Context, status board.IssueStatus, q tui.Query) (out []*kernel.Issue, fit int, err error) {
	want := filter{search: q.Filter}
	// The issues of runs by themselves stand among those of the board, so that a page of rows may hold none of the board's.
	for row, err := range d.Workspace.Kernel.Store().Scan(ctx, kernel.Select{Kind: kernel.KindIssue, States: []string{string(status)}, ByRank: true, Limit: maxLooked}) {
		if err != nil {
			return nil, 0, err
		}
		i := new(kernel.Issue)
		if err := kernel.Decode(row, i); err != nil {
			return nil, 0, err
		}
		if i.Number == 0 || !want.fits(i) {
			continue
		}
		if fit++; fit <= q.PerColumn {
			out = append(out, i)
		}
		if q.Filter == "" && fit == q.PerColumn {
			break
		}
	}
	return out, fit, nil
}

// cardOf is an issue as a line of its column.
func cardOf(i *kernel.Issue, near map[string]*kernel.Issue, now time.Time) tui.Issue {
	c := tui.Issue{ID: i.Label, Title: i.Title, Priority: priority(i), Since: i.UpdatedAt, Attempt: i.Retries + i.Conflicts + 1}
	switch standingOf(i, near, now) {
	case ready:
		c.Flag = tui.FlagReady
	case blocked, waits, asks:
		c.Flag = tui.FlagBlocked
	case paused:
		c.Flag = tui.FlagPaused
	}
	return c
}

// pace says how long the newest finished issues took, from the time between them.
func pace(done []*kernel.Issue, workers int) (finished int, took time.Duration) {
	var first, last time.Time
	for _, i := range done {
		if i.ExecutedAt.IsZero() {
			continue
		}
		finished++
		if first.IsZero() || i.ExecutedAt.Before(first) {
			first = i.ExecutedAt
		}
		if i.ExecutedAt.After(last) {
			last = i.ExecutedAt
		}
	}
	if finished < 2 {
		return 0, 0
	}
	return finished - 1, last.Sub(first) * time.Duration(workers)
}

// atWork says what a worker does now.
func (d *watcher) atWork(ctx context.Context, b kernel.Busy) tui.Worker {
	w := tui.Worker{Name: short(b.Owner), Issue: b.Label, Since: b.Since}
	s, err := d.Workspace.Kernel.Lane(b.Label).Look(ctx)
	if err != nil || s.Session == nil {
		return w
	}
	if w.Step = s.Session.State; s.Effect != nil && s.Effect.State == kernel.EffectRunning {
		w.Step += " " + d.Text("cli.effect."+string(s.Effect.What()))
	}
	if t := s.Task; t != nil {
		if step := view.StepOf(t.Plan, t.Cursor.Step); step != nil {
			w.Step = "[" + itoa(step.Done+1) + "/" + itoa(step.Total) + "] " + step.Title
		}
	}
	return w
}

// maxEvents is how many of the last events are shown, of the board and of an issue. To find those of the board the audit log is
// read backwards, by windows of lookedBack records and no further than furthest, or to what was read before.
const (
	maxEvents  = 30
	lookedBack = 500
	furthest   = 20 * lookedBack
)

// chronicle is what was read of the audit log about one thing, so that only what is new has to be read.
type chronicle struct {
	of     string
	next   int64       // the index of the first record that was not read yet
	events []tui.Event // newest first, at most maxEvents
}

// tell puts events, newest first, before those that are older.
func (c *chronicle) tell(events []tui.Event) {
	c.events = append(events, c.events...)
	c.events = c.events[:min(len(c.events), maxEvents)]
}

// lately reads the last moves of issues.
func (d *watcher) lately(ctx context.Context) ([]tui.Event, error) {
	head, err := d.Workspace.Kernel.Store().Head(ctx)
	if err != nil {
		return nil, err
	}
	var events []tui.Event
	since := max(d.board.next, head.Size-furthest)
	for until := head.Size; until > since && len(events) < maxEvents; until -= lookedBack {
		older, err := d.moves(ctx, max(since, until-lookedBack), until)
		if err != nil {
			return nil, err
		}
		events = append(events, older...)
	}
	d.board.next = head.Size
	d.board.tell(events)
	return d.board.events, nil
}

// moves reads the moves of the board's issues in a part of the audit log, newest first.
func (d *watcher) moves(ctx context.Context, from, until int64) ([]tui.Event, error) {
	type happened struct {
		id string
		p  audit.Parsed
	}
	var moves []happened
	var ids []string
	for rec, err := range d.Workspace.Kernel.Store().Records(ctx, "", from) {
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
			moves, ids = append(moves, happened{rec.Subject.ID, p}), append(ids, rec.Subject.ID)
		}
	}
	issues, err := d.issues(ctx, ids)
	if err != nil {
		return nil, err
	}
	labels := map[string]string{}
	for _, i := range issues {
		if i.Number > 0 {
			labels[i.ID] = i.Label
		}
	}
	var out []tui.Event
	for _, m := range slices.Backward(moves) {
		if labels[m.id] != "" {
			out = append(out, eventOf(labels[m.id], m.p))
		}
	}
	return out, nil
}

func eventOf(label string, p audit.Parsed) tui.Event {
	e := tui.Event{At: p.At, Issue: label, Mark: tui.MarkMove, Text: p.Event}
	if p.Move == nil {
		e.Mark = tui.MarkNone
		return e
	}
	e.Text = p.Move.From + " → " + p.Move.To
	switch board.IssueStatus(p.Move.To) {
	case board.IssueCompleted:
		e.Mark = tui.MarkOK
	case board.IssueFailed:
		e.Mark = tui.MarkBad
	}
	return e
}

// detail reads one issue as it is opened.
func (d *watcher) detail(ctx context.Context, id string) (tui.Detail, error) {
	i, err := d.FindIssue(ctx, id)
	if err != nil {
		return tui.Detail{}, err
	}
	w, err := d.wholeOf(ctx, i)
	if err != nil {
		return tui.Detail{}, err
	}
	out := tui.Detail{Issue: cardOf(i, w.near, d.Workspace.Kernel.Now()), Status: board.IssueStatus(i.State), Text: i.Context, Blocked: w.Error, Next: nextOf(w)}
	s, err := d.Workspace.Kernel.Lane(i.Label).LookLast(ctx)
	if pawl.CodeOf(err) != pawl.CodeNotFound && err != nil {
		return out, err
	}
	if err == nil && s.Session != nil {
		if s.Session.Blocked != nil {
			out.Blocked = d.Explain(s.Session.Blocked.Error.Err())
		}
		out.Plan, out.Evidence = planLines(s), evidenceLines(s)
	}
	if out.Cost, err = d.cost(ctx, kernel.ScopeIssue+":"+i.Label); err != nil {
		return out, err
	}
	out.History, err = d.historyOf(ctx, i)
	return out, err
}

// historyOf reads the last records of an issue. While its detail is open only those are read that are new.
func (d *watcher) historyOf(ctx context.Context, i *kernel.Issue) ([]tui.Event, error) {
	if d.issue.of != i.ID {
		d.issue = chronicle{of: i.ID}
	}
	var last []audit.Stored
	for rec, err := range d.Workspace.Kernel.Store().Records(ctx, audit.Subject{Kind: string(kernel.KindIssue), ID: i.ID}.String(), d.issue.next) {
		if err != nil {
			return nil, err
		}
		last = append(last[max(0, len(last)+1-maxEvents):], rec)
	}
	var events []tui.Event
	for _, rec := range slices.Backward(last) {
		p, err := audit.Parse(rec.Bytes)
		if err != nil {
			return nil, err
		}
		events = append(events, eventOf(i.Label, p))
	}
	if len(last) > 0 {
		d.issue.next = last[len(last)-1].Index + 1
	}
	d.issue.tell(events)
	return d.issue.events, nil
}

// cost reads what the work of one scope has cost. It is not known where nothing is charged, or where a price is missing.
func (d *watcher) cost(ctx context.Context, label string) (tui.Cost, error) {
	rows, err := d.Workspace.Kernel.Store().Load(ctx, kernel.Select{Kind: kernel.KindBudget, Label: label})
	if err != nil || len(rows[0]) == 0 {
		return tui.Cost{}, err
	}
	b := new(kernel.Budget)
	err = kernel.Decode(rows[0][0], b)
	return tui.Cost{MicroUSD: b.Spent.MicroUSD, Known: !b.Spent.Unpriced}, err
}

func planLines(s *kernel.Snapshot) (out []tui.DetailLine) {
	p := (*plan.Plan)(nil)
	switch {
	case s.Task != nil && s.Task.Plan != nil:
		p = s.Task.Plan
	case s.Solution != nil:
		p = &s.Solution.Plan
	default:
		return nil
	}
	marks := map[plan.Status]tui.Mark{plan.Done: tui.MarkOK, plan.Blocked: tui.MarkBad, plan.Skipped: tui.MarkWarn, plan.InProgress: tui.MarkMove}
	for _, step := range p.Steps {
		out = append(out, tui.DetailLine{Mark: marks[step.Status], Text: step.Title, Note: string(step.Status)})
	}
	return out
}

func evidenceLines(s *kernel.Snapshot) (out []tui.DetailLine) {
	if s.Task == nil {
		return nil
	}
	marks := map[effect.CheckStatus]tui.Mark{effect.CheckPassed: tui.MarkOK, effect.CheckFailed: tui.MarkBad, effect.CheckError: tui.MarkBad}
	for _, v := range []*effect.VerifyResult{s.Task.Verified, s.Task.Gate} {
		if v == nil {
			continue
		}
		for _, o := range v.Outcomes {
			out = append(out, tui.DetailLine{Mark: marks[o.Status], Text: o.Name, Note: o.Command})
		}
	}
	return out
}
