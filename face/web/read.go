package web

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/a-h/templ"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/audit"
	"pawl/kernel/effect"
	"pawl/kernel/query"
	"pawl/kernel/view"
	"pawl/machine"
	"pawl/machine/board"
	"pawl/machine/session"
	"pawl/machine/task"
	"pawl/machine/turn"
	"pawl/machine/workflow"
)

// How many rows a page has at most.
const (
	perPage   = 50
	perColumn = 50
	maxAsking = 50
	maxLanded = 8
)

// reader makes the pages that are only read.
type reader struct {
	Config
	ask   query.Reader
	shown *shown
}

// desk is a session as a page shows it: where it stands, and what it waits for a person with.
type desk struct {
	view.Status
	Need view.Need
}

// at returns the kernel of the session that a request is about.
func (s *reader) at(ctx context.Context, issue string) (*kernel.Kernel, *view.Issue, error) {
	if issue == "" {
		return s.Kernel, nil, nil
	}
	i, err := s.ask.Board().Issue(ctx, issue)
	if err != nil {
		return nil, nil, err
	}
	return s.Kernel.Session(i.Label), i, nil
}

// desk reads a session.
func (s *reader) desk(ctx context.Context, k *kernel.Kernel, i *view.Issue) (*desk, error) {
	n, st, err := query.NeedOf(ctx, k, s.Working, i)
	if err != nil {
		return nil, err
	}
	return &desk{st, n}, nil
}

// need is what waits for a person as a page shows it, with the nonces of the questions of agents.
type need struct {
	view.Need
	nonces map[string]string
}

// overview is what the first page shows.
type overview struct {
	Own     *desk
	Needs   []need
	More    bool
	Bundles []bundle
	Batch   *view.BoardBatch
	// Landed are the newest runs that ended, and Fresh how many have since the person looked last.
	Landed []view.RunLine
	Fresh  int
	Day    *view.Budget
	Limit  kernel.Limit
	// Free says that a requirement can be taken up.
	Free bool
}

// overview reads what the first page shows.
func (s *reader) overview(ctx context.Context, p *page) (o overview, err error) {
	o.Limit = s.Kernel.Config().Budgets["day"]
	if o.Own, err = s.desk(ctx, s.Kernel, nil); err != nil {
		return o, err
	}
	o.Free = s.Begin != nil && o.Own.State == session.Idle
	inbox, err := query.Inbox(ctx, s.Kernel, s.Working, maxAsking)
	if err != nil {
		return o, err
	}
	o.More = inbox.More
	for _, n := range inbox.Needs {
		shown := need{n, map[string]string{}}
		for _, q := range n.Questions {
			shown.nonces[q.ID] = s.shown.asked(p, n.Issue, q)
		}
		o.Needs = append(o.Needs, shown)
	}
	if o.Batch, err = s.ask.Board().Batch(ctx); err != nil {
		return o, err
	}
	for r, err := range s.ask.Runs(ctx, query.Page{Newest: true, Limit: perColumn}) {
		if err != nil {
			return o, err
		}
		if !r.Value.Over() {
			continue
		}
		if !p.since.IsZero() && r.Value.EndedAt.After(p.since) {
			o.Fresh++
		}
		if len(o.Landed) < maxLanded {
			o.Landed = append(o.Landed, r.Value)
		}
	}
	day, ok, err := s.ask.Ledger().Spent(ctx, "day:"+p.now.UTC().Format("2006-01-02"))
	if ok {
		o.Day = &day
	}
	return o, err
}

// column are the issues of one status.
type column struct {
	Status board.IssueStatus
	Total  int
	Issues []*view.Issue
}

// statuses are those of issues in the order in which they go through them.
func statuses() []board.IssueStatus {
	return []board.IssueStatus{board.IssueRegistered, board.IssuePlanning, board.IssuePlanned, board.IssueExecuting,
		board.IssueCompleted, board.IssueFailed}
}

func (s *reader) board(ctx context.Context, p *page, r *http.Request) (templ.Component, error) {
	p.title, p.here = p.Text("web.board"), "board"
	b, q := s.ask.Board(), r.URL.Query()
	counts, err := b.Counts(ctx)
	if err != nil {
		return nil, err
	}
	f := query.Filter{Search: q.Get("q"), Limit: perPage + 1}
	if state := q.Get("state"); state != "" || f.Search != "" {
		if state != "" {
			f.States = []string{state}
		}
		f.After, _ = strconv.ParseInt(q.Get("after"), 10, 64)
		var list []*view.Issue
		for i, err := range b.Issues(ctx, f) {
			if err != nil {
				return nil, err
			}
			list = append(list, i)
		}
		more := int64(0)
		if len(list) > perPage {
			list = list[:perPage]
			more = list[perPage-1].Pos
		}
		return issuesView(p, list, state, f.Search, more), nil
	}
	var columns []column
	for _, state := range statuses() {
		c := column{Status: state, Total: counts.ByStatus[state]}
		if c.Total > 0 {
			f := query.Filter{States: []string{string(state)}, Limit: perColumn, ByRank: ranked(state)}
			for i, err := range b.Issues(ctx, f) {
				if err != nil {
					return nil, err
				}
				c.Issues = append(c.Issues, i)
			}
		}
		columns = append(columns, c)
	}
	return boardView(p, columns, counts), nil
}

func (s *reader) issue(ctx context.Context, p *page, r *http.Request) (templ.Component, error) {
	k, i, err := s.at(ctx, r.PathValue("issue"))
	if err != nil {
		return nil, err
	}
	p.title, p.here = i.Label+" · "+title(i.Title), "board"
	whole, err := s.ask.Board().Detail(ctx, i)
	if err != nil {
		return nil, err
	}
	var d *desk
	if whole.Session != "" {
		if d, err = s.desk(ctx, k, i); err != nil {
			return nil, err
		}
	}
	return issueView(p, whole, d), nil
}

// turning reads which part of a list is asked for.
func turning(r *http.Request) (query.Page, string) {
	q := query.Page{Newest: true, Limit: perPage + 1}
	q.After, _ = strconv.ParseInt(r.URL.Query().Get("after"), 10, 64)
	state := r.URL.Query().Get("state")
	if state != "" {
		q.States = []string{state}
	}
	return q, state
}

// sought is what tasks are searched by, as the address says it.
type sought struct{ State, Words, Agent, Age string }

// path is the address of the tasks that are sought, with another state, behind a place.
func (f sought) path(state string, after int64) string {
	at := ""
	if after > 0 {
		at = strconv.FormatInt(after, 10)
	}
	return with("/tasks", "state", state, "q", f.Words, "agent", f.Agent, "age", f.Age, "after", at)
}

// ages are how long ago a task may have changed at most.
func ages() map[string]time.Duration {
	const day = 24 * time.Hour
	return map[string]time.Duration{"hour": time.Hour, "day": day, "week": 7 * day, "month": 30 * day}
}

func (s *reader) tasks(ctx context.Context, p *page, r *http.Request) (templ.Component, error) {
	p.title, p.here = p.Text("web.tasks"), "tasks"
	q, state := turning(r)
	q.Limit = perPage
	asked := r.URL.Query()
	f := sought{State: state, Words: asked.Get("q"), Agent: asked.Get("agent"), Age: asked.Get("age")}
	filter := query.TaskFilter{Page: q, Search: f.Words, Agent: f.Agent}
	if age, ok := ages()[f.Age]; ok {
		filter.Since = p.now.Add(-age)
	}
	list, next, err := query.FindTasks(ctx, s.ask, filter)
	return tasksView(p, list, task.Table.States(), f, next), err
}

func (s *reader) runs(ctx context.Context, p *page, r *http.Request) (templ.Component, error) {
	p.title, p.here = p.Text("web.runs"), "runs"
	q, _ := turning(r)
	list, next, err := query.Collect(perPage, s.ask.Runs(ctx, q))
	return runsView(p, list, next), err
}

func (s *reader) report(ctx context.Context, p *page, r *http.Request) (*view.Report, error) {
	p.here = "runs"
	out, err := s.ask.Run(ctx, kernel.SessionLabel, r.PathValue("run"))
	if err == nil {
		p.title = out.Run + " · " + title(out.Goal)
	}
	return out, err
}

func (s *reader) run(ctx context.Context, p *page, r *http.Request) (templ.Component, error) {
	report, err := s.report(ctx, p, r)
	if err != nil {
		return nil, err
	}
	var d *desk
	if report.State != "" {
		k, i, err := s.at(ctx, report.Issue)
		if err != nil {
			return nil, err
		}
		if d, err = s.desk(ctx, k, i); err != nil {
			return nil, err
		}
	}
	return runView(p, report, d), nil
}

func (s *reader) task(ctx context.Context, p *page, r *http.Request) (templ.Component, error) {
	p.here = "tasks"
	name := r.PathValue("task")
	at, err := s.Kernel.TaskSnapshot(ctx, query.TaskLabel(name))
	if pawl.CodeOf(err) == pawl.CodeNotFound {
		err = pawl.Fail(pawl.CodeNotFound, "cli.task_unknown", name)
	}
	if err != nil {
		return nil, err
	}
	t := query.TaskOf(at.Task, s.Kernel.Config())
	p.title = t.Label + " · " + title(t.Title)
	var out []view.Output
	if t.Run != "" {
		all, err := s.ask.Outputs(ctx, kernel.SessionLabel, t.Run)
		if err != nil {
			return nil, err
		}
		out = all.Outputs
	}
	return taskView(p, t, query.PlanOf(at), out), nil
}

func (s *reader) evidence(ctx context.Context, p *page, r *http.Request) (templ.Component, error) {
	report, err := s.report(ctx, p, r)
	if err != nil {
		return nil, err
	}
	out, err := s.ask.Outputs(ctx, kernel.SessionLabel, report.ID)
	return evidenceView(p, report, out.Outputs), err
}

// diffOf is what a run changed until now, by file.
func (s *reader) diffOf(ctx context.Context, r *view.Report) ([]fileDiff, error) {
	c := r.Changes
	if s.Diff == nil || c.From == "" || c.To == "" || c.From == c.To {
		return nil, nil
	}
	raw, err := s.Diff(ctx, c.Place, c.From, c.To)
	if err != nil {
		return nil, err
	}
	return parseDiff(raw)
}

// logged is a record with what it is about.
type logged struct {
	Index int64
	Name  string
	audit.Parsed
}

// checked is what became of the verification of the log.
type checked struct {
	Report audit.Report
	Err    error
}

func (s *reader) audit(ctx context.Context, p *page, r *http.Request) (templ.Component, error) {
	p.title, p.here = p.Text("web.audit"), "audit"
	log, end := s.ask.Log(), p.at
	if n, err := strconv.ParseInt(r.URL.Query().Get("before"), 10, 64); err == nil && n > 0 && n < end {
		end = n
	}
	front := audit.Front{}
	if err := log.At(ctx, func(l audit.Log) (err error) { front, err = l.Beginning(); return err }); err != nil {
		return nil, err
	}
	begin := max(end-perPage, front.Size)
	var list []logged
	for rec, err := range log.Records(ctx, audit.Subject{}, begin) {
		if err != nil {
			return nil, err
		}
		if rec.Index >= end {
			break
		}
		parsed, err := audit.Parse(rec.Bytes)
		if err != nil {
			return nil, err
		}
		list = append(list, logged{rec.Index, log.NameOf(ctx, rec.Subject), parsed})
	}
	slices.Reverse(list)
	head, err := log.Head(ctx)
	if err != nil {
		return nil, err
	}
	var c *checked
	if r.URL.Query().Has("verify") && s.Verify != nil {
		c = new(checked)
		c.Report, c.Err = s.Verify(ctx)
	}
	return auditView(p, list, head, front.Size, begin, c), nil
}

// table is a machine with the state that it is in for the session of the person, "" for none.
type table struct {
	machine.Description
	Now string
}

func (s *reader) machines(ctx context.Context, p *page, r *http.Request) (templ.Component, error) {
	p.title, p.here = p.Text("web.machines"), "machines"
	st, err := query.Status(ctx, s.Kernel)
	if err != nil {
		return nil, err
	}
	present := map[string]string{"session": string(st.State)}
	if st.Turn != nil {
		present["turn"] = string(st.Turn.State)
	}
	if st.Task != nil {
		present["task"] = string(st.Task.State)
	}
	if st.Flow != nil {
		present["workflow.stage"], present["workflow.mode"] = string(st.Flow.Stage), string(st.Flow.Mode)
	}
	if st.Run != nil {
		present["board.run"], present["board.phase"] = string(st.Run.Status), st.Run.Phase
	}
	if st.Board != nil {
		present["board.issue"], present["board.item"] = string(st.Board.IssueStatus), string(st.Board.ItemStatus)
	}
	var all []table
	for _, d := range slices.Concat(session.Describe(), turn.Describe(), workflow.Describe(), task.Describe(),
		board.Describe()) {
		all = append(all, table{d, present[d.Name]})
	}
	chosen := slices.IndexFunc(all, func(t table) bool { return t.Name == r.URL.Query().Get("name") })
	return machinesView(p, all, max(chosen, 0)), nil
}

// usageOf is what a run has cost.
func usageOf(r *view.Report) effect.Usage {
	if r.Cost == nil {
		return effect.Usage{}
	}
	return r.Cost.Spent
}
