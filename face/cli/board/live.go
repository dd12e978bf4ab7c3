package board

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"pawl"
	"pawl/face/cli"
	"pawl/face/tui"
	"pawl/kernel"
	"pawl/kernel/approval"
	"pawl/kernel/audit"
	"pawl/kernel/budget"
	"pawl/kernel/effect"
	"pawl/kernel/query"
	"pawl/kernel/view"
	"pawl/machine/board"
	"pawl/text/plan"
)

func newBoardCommand(a *cli.App) *cobra.Command {
	var once bool
	c := a.Command("board", "issue.board", "  pawl board\n  pawl board --once\n  pawl board --json", cli.Exactly(0),
		nil)
	c.RunE = func(c *cobra.Command, _ []string) error {
		ctx := c.Context()
		return a.With(ctx, cli.Reading(), func(open *cli.Session) error {
			d := &boardReader{sess: open}
			if d.sess.JSON || once || !d.sess.Std.TTY || d.sess.Std.TermIn == nil {
				return d.glance(ctx)
			}
			return tui.Live{
				Screen: d.sess.Screen,
				Refresh: func(ctx context.Context, q tui.Query) (tui.Board, error) {
					b, err := d.scene(ctx, q)
					return b.In(time.Local), err
				},
				Detail: func(ctx context.Context, id string) (tui.Detail, error) {
					i, err := d.detail(ctx, id)
					return i.In(time.Local), err
				},
				Decide: func(ctx context.Context, id string,
					verdict tui.Verdict) error {
					return decide(ctx, a, id, verdict)
				},
			}.Run(ctx)
		})
	}
	c.Flags().BoolVar(&once, "once", false, a.Text("issue.flag.once"))
	return c
}

// decide puts what an issue asks before the person.
func decide(ctx context.Context, a *cli.App, id string, verdict tui.Verdict) error {
	return a.With(ctx, cli.Writing(), func(sess *cli.Session) error {
		i, err := sess.Ask().Board().Issue(ctx, id)
		if err != nil {
			return err
		}
		put := cli.Put
		if verdict == tui.Deny {
			put = refuse
		}
		asked, err := put(ctx, sess, i)
		if err == nil && !asked {
			err = pawl.Fail(pawl.CodeNotFound, "issue.asks_nothing", i.Label)
		}
		return err
	})
}

// boardReader reads the board for the screen, one reading at a time.
type boardReader struct {
	sess *cli.Session
	// board and issue are what was read of the audit log about the board, and about the issue that was opened last.
	board, issue chronicle
}

// onceRows is how many issues of each column are written where the board is written once.
const onceRows = 20

// glance writes the board once.
func (d *boardReader) glance(ctx context.Context) error {
	b, err := d.scene(ctx, tui.Query{PerColumn: onceRows})
	if err != nil {
		return err
	}
	if d.sess.JSON {
		return d.sess.PrintJSON(b)
	}
	_, err = d.sess.Std.Out.Write([]byte(b.In(time.Local).Text(d.sess.Lang, d.sess.Std.Width)))
	return err
}

// scene reads the board as it is drawn: counts, and what heads each column. Its cost does not grow with the backlog,
// unless a filter has to look for what fits.
func (d *boardReader) scene(ctx context.Context, q tui.Query) (tui.Board, error) {
	out := tui.Board{At: d.sess.Workspace.Kernel.Now(), Status: board.Run.Initial(), Phase: board.Phase.Initial(),
		Filter: q.Filter}
	counts, err := d.sess.Ask().Board().Counts(ctx)
	if err != nil {
		return out, err
	}
	b, err := d.sess.Ask().Board().Batch(ctx)
	if err != nil {
		return out, err
	}
	if b != nil {
		out.Run, out.Status, out.Phase = b.Label, b.Status, b.Phase
		for _, busy := range b.Workers {
			out.Workers = append(out.Workers, d.atWork(ctx, busy))
		}
	}
	out.Totals = tui.Totals{Total: counts.Total, Completed: counts.ByStatus[board.IssueCompleted],
		Failed: counts.ByStatus[board.IssueFailed]}
	for _, status := range board.Issue.States() {
		c := tui.Column{Status: status, Count: counts.ByStatus[status]}
		head, fit, err := d.head(ctx, status, q)
		if err != nil {
			return out, err
		}
		if q.Filter != "" {
			c.Count = fit
		}
		for _, i := range head {
			c.Issues = append(c.Issues, cardOf(i))
		}
		if status == board.IssueCompleted {
			out.Totals.Finished, out.Totals.Took = pace(head, max(1, len(out.Workers)))
		}
		out.Columns = append(out.Columns, c)
	}
	if out.Totals.Today, err = d.cost(ctx, budget.ScopeDay+":"+out.At.Format(time.DateOnly)); err != nil {
		return out, err
	}
	out.Events, err = d.lately(ctx)
	return out, err
}

// maxLooked is how many issues of a status are looked at for a column.
const maxLooked = 5000

// head reads the first issues of a column, those that fit where there is a filter, and counts how many fit among those
// that it looked at.
func (d *boardReader) head(ctx context.Context, status board.IssueStatus,
	q tui.Query) (out []*view.Issue, fit int, err error) {
	// The issues of runs by themselves stand among those of the board, so that a page of rows may hold none of the
	// board's.
	f := query.Filter{States: []string{string(status)}, Search: q.Filter, ByRank: true, Looked: maxLooked,
		Limit: max(1, q.PerColumn)}
	for i, err := range d.sess.Ask().Board().Issues(ctx, f) {
		if err != nil {
			return nil, 0, err
		}
		out = append(out, i)
	}
	if fit = len(out); q.Filter != "" && fit == f.Limit {
		fit, err = d.sess.Ask().Board().Fitting(ctx, f)
	}
	return out[:min(len(out), q.PerColumn)], fit, err
}

// cardOf is an issue as a line of its column.
func cardOf(i *view.Issue) tui.Issue {
	c := tui.Issue{ID: i.Label, Title: i.Title, Priority: i.Priority, Since: i.UpdatedAt, Attempt: i.Retries +
		i.Conflicts + 1}
	switch i.Standing {
	case view.StandingReady:
		c.Flag = tui.FlagReady
	case view.StandingBlocked, view.StandingWaits, view.StandingAsks, view.StandingLost:
		c.Flag = tui.FlagBlocked
	case view.StandingPaused:
		c.Flag = tui.FlagPaused
	}
	return c
}

// pace says how long the newest finished issues took, from the time between them.
func pace(done []*view.Issue, workers int) (finished int, took time.Duration) {
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
func (d *boardReader) atWork(ctx context.Context, b view.IssueWorker) tui.Worker {
	w := tui.Worker{Name: short(b.Owner), Issue: b.Label, Since: b.Since}
	if b.Lost {
		w.Step = d.sess.Text("issue.standing." + string(view.StandingLost))
		return w
	}
	s, err := d.sess.Workspace.Kernel.Session(b.Label).Snapshot(ctx)
	if err != nil || s.Session == nil {
		return w
	}
	if w.Step = s.Session.State; s.Effect != nil && s.Effect.State == kernel.EffectRunning {
		w.Step += " " + d.sess.Text("cli.effect."+string(s.Effect.What()))
	}
	if t := s.Task; t != nil {
		if step := view.StepOf(t.Plan, t.Cursor.Step); step != nil {
			w.Step = "[" + strconv.Itoa(step.Done+1) + "/" + strconv.Itoa(step.Total) + "] " + step.Title
		}
	}
	return w
}

// maxEvents is how many of the last events are shown, of the board and of an issue. To find those of the board the
// audit log is read backwards, by windows of lookedBack records and no further than furthest, or to what was read
// before.
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
func (d *boardReader) lately(ctx context.Context) ([]tui.Event, error) {
	head, err := d.sess.Ask().Log().Head(ctx)
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
func (d *boardReader) moves(ctx context.Context, from, until int64) ([]tui.Event, error) {
	moves, err := d.sess.Ask().Board().Moves(ctx, from, until)
	var out []tui.Event
	for _, m := range moves {
		out = append(out, eventOf(m.Issue, m.Parsed))
	}
	return out, err
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
func (d *boardReader) detail(ctx context.Context, id string) (tui.Detail, error) {
	i, err := d.sess.Ask().Board().Issue(ctx, id)
	if err != nil {
		return tui.Detail{}, err
	}
	w, err := d.sess.Ask().Board().Detail(ctx, i)
	if err != nil {
		return tui.Detail{}, err
	}
	out := tui.Detail{Issue: cardOf(i), Status: i.Status, Text: i.Context,
		Blocked: failureText(d.sess.Printer, &w.Issue), Next: nextOf(d.sess.Printer, &i.IssueLine)}
	s, err := d.sess.Workspace.Kernel.Session(i.Label).LastRun(ctx)
	if pawl.CodeOf(err) != pawl.CodeNotFound && err != nil {
		return out, err
	}
	if err == nil && s.Session != nil {
		if s.Session.Blocked != nil {
			out.Blocked = cli.Explain(d.sess.Printer, s.Session.Blocked.Error.Err())
		}
		out.Plan, out.Evidence = planLines(s), evidenceLines(s)
	}
	if out.Cost, err = d.cost(ctx, budget.ScopeIssue+":"+i.Label); err != nil {
		return out, err
	}
	out.History, err = d.historyOf(ctx, i)
	return out, err
}

// historyOf reads the last records of an issue. While its detail is open only those are read that are new.
func (d *boardReader) historyOf(ctx context.Context, i *view.Issue) ([]tui.Event, error) {
	if d.issue.of != i.ID {
		d.issue = chronicle{of: i.ID}
	}
	var last []audit.Stored
	for rec, err := range d.sess.Ask().Log().Records(ctx, audit.Subject{Kind: string(kernel.KindIssue), ID: i.ID},
		d.issue.next) {
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

// cost reads what the work of one scope has cost. It is not known where nothing is charged, or where a price is
// missing.
func (d *boardReader) cost(ctx context.Context, label string) (tui.Cost, error) {
	b, ok, err := d.sess.Ask().Ledger().Spent(ctx, label)
	if err != nil || !ok {
		return tui.Cost{}, err
	}
	return tui.Cost{MicroUSD: b.Spent.MicroUSD, Known: !b.Spent.Unpriced}, nil
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
	marks := map[plan.Status]tui.Mark{plan.Done: tui.MarkOK, plan.Blocked: tui.MarkBad, plan.Skipped: tui.MarkWarn,
		plan.InProgress: tui.MarkMove}
	for _, step := range p.Steps {
		out = append(out, tui.DetailLine{Mark: marks[step.Status], Text: step.Title, Note: string(step.Status)})
	}
	return out
}

func evidenceLines(s *kernel.Snapshot) (out []tui.DetailLine) {
	if s.Task == nil {
		return nil
	}
	marks := map[effect.CheckStatus]tui.Mark{effect.CheckPassed: tui.MarkOK, effect.CheckFailed: tui.MarkBad,
		effect.CheckError: tui.MarkBad}
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

// refuse shows the open question of an issue and denies it once the person has said so. Open is false where there is
// none.
func refuse(ctx context.Context, sess *cli.Session, i *view.Issue) (open bool, err error) {
	err = cli.InIssue(sess, i, func(at *cli.Session) error {
		s, err := at.Workspace.Kernel.Snapshot(ctx)
		if err != nil || s.Session == nil || s.Approval == nil || s.Approval.State != kernel.ApprovalPending {
			return err
		}
		open = true
		cli.ShowApproval(ctx, at, s, query.PlanOf(s), false)
		ok, err := cli.Confirm(ctx, at.Printer, at.Text("cli.ask.deny", i.Label))
		if err != nil || !ok {
			return err
		}
		_, err = at.Do(ctx, &approval.Deny{})
		return err
	})
	return open, err
}
