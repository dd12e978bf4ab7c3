package mcp

import (
	"context"
	"encoding/json"
	"iter"
	"strings"
	"time"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/audit"
	"pawl/kernel/effect"
	"pawl/kernel/query"
	"pawl/kernel/view"
	"pawl/machine/board"
	"pawl/machine/task"
)

// listed is how many rows a list has unless more are asked for, and maxListed how many it has at most.
const (
	listed    = 20
	maxListed = 100
)

// readTools answers the tools that read.
type readTools struct{ from *Config }

// none is what tools take that need no arguments.
type none struct{}

// page picks a part of a list.
type page struct {
	State  string
	Limit  int
	After  int64
	Newest bool
}

// query is the page as it is asked for. One item more than wanted tells whether there are further ones.
func (p page) query() (query.Page, error) {
	if p.Limit == 0 {
		p.Limit = listed
	}
	if p.Newest && p.After > 0 {
		return query.Page{}, pawl.Fail(pawl.CodeInvalid, "mcp.page")
	}
	q := query.Page{Limit: p.Limit + 1, After: p.After, Newest: p.Newest}
	if p.State != "" {
		q.States = []string{p.State}
	}
	return q, nil
}

// pageOf reads a page of a list. Next is where the next one begins, 0 for none.
func pageOf[T any](p page, list func(query.Page) iter.Seq2[query.Item[T], error]) (out []T, next int64, err error) {
	q, err := p.query()
	if err != nil {
		return nil, 0, err
	}
	out, next, err = query.Collect(q.Limit-1, list(q))
	if q.Newest {
		next = 0
	}
	return out, next, err
}

func (s readTools) getStatus(ctx context.Context, _ caller, _ none) (any, error) {
	st, err := query.Status(ctx, s.from.Kernel)
	if err != nil {
		return nil, err
	}
	return map[string]any{"status": st}, nil
}

// readContext returns active_context.md as the store has it at this moment, which the file may lag behind.
func (s readTools) readContext(ctx context.Context, _ caller, _ none) (any, error) {
	text, err := s.projection(ctx, view.ContextFile)
	if err != nil {
		return nil, err
	}
	return map[string]any{"file": ".pawl/" + view.ContextFile, "content": text}, nil
}

// projection returns the content of one projected file, "" where there is none.
func (s readTools) projection(ctx context.Context, name string) (string, error) {
	files, err := s.from.Projections(ctx)
	if err != nil {
		return "", err
	}
	for _, f := range files {
		if f.Path == name {
			return f.Content, nil
		}
	}
	return "", nil
}

func (s readTools) getPlan(ctx context.Context, _ caller, _ none) (any, error) {
	at, err := query.Planned(ctx, s.from.Kernel)
	if err == nil && at.Solution == nil {
		err = pawl.Fail(pawl.CodeNotFound, "mcp.no_plan")
	}
	if err != nil {
		return nil, err
	}
	return map[string]any{"plan": query.PlanOf(at)}, nil
}

func (s readTools) getSummary(ctx context.Context, _ caller, _ none) (any, error) {
	at, err := query.Current(ctx, s.from.Kernel)
	if err == nil && at.Run == nil {
		err = pawl.Fail(pawl.CodeNotFound, "mcp.no_run")
	}
	if err != nil {
		return nil, err
	}
	sum := query.SummaryOf(at)
	if at.Session.Run == at.Run.ID {
		sum.Outcome = at.Run.Outcome // whatever became of the task, the run is not over
	}
	return map[string]any{"summary": sum}, nil
}

func (s readTools) listTasks(ctx context.Context, _ caller, p page) (any, error) {
	tasks, next, err := pageOf(p, func(q query.Page) iter.Seq2[query.Item[view.TaskLine],
		error] {
		return s.from.Query.Tasks(ctx, q)
	})
	for i := range tasks {
		tasks[i].Title = clip(tasks[i].Title, 200)
	}
	return map[string]any{"tasks": tasks, "next": next}, err
}

// about names a task; "" means that of the run in progress.
type about struct{ Task string }

// task finds a task by its ULID or its label, where T-1, t-001 and 1 mean T-001.
func (s readTools) task(ctx context.Context, given string) (*kernel.Snapshot, error) {
	if given == "" {
		at, err := query.Current(ctx, s.from.Kernel)
		if err == nil && at.Task == nil {
			err = pawl.Fail(pawl.CodeNotFound, "mcp.no_task")
		}
		return at, err
	}
	at, err := s.from.Kernel.TaskSnapshot(ctx, query.TaskLabel(given))
	if pawl.CodeOf(err) == pawl.CodeNotFound {
		err = pawl.Fail(pawl.CodeNotFound, "mcp.task_unknown", given)
	}
	return at, err
}

func (s readTools) getTask(ctx context.Context, _ caller, a about) (any, error) {
	at, err := s.task(ctx, a.Task)
	if err != nil {
		return nil, err
	}
	out := map[string]any{"task": query.TaskOf(at.Task, s.from.Kernel.Config())}
	if p := at.Task.Progress; p != nil {
		out["progress"] = p
	}
	return out, nil
}

// issueLine is an issue in a list. State is its status once more, under the name that tasks have for theirs.
type issueLine struct {
	view.IssueLine
	State     board.IssueStatus `json:"state"`
	PlannedAt time.Time         `json:"planned_at,omitzero"`
}

// issue is a whole issue, with the ids of its run, or batch, and of its newest plan.
type issue struct {
	*view.IssueDetail
	State    board.IssueStatus `json:"state"`
	Run      string            `json:"run"`
	Solution string            `json:"solution,omitempty"`
	Error    *effect.Fault     `json:"error,omitempty"`
}

// listIssues lists the issues of the board, as every face does.
func (s readTools) listIssues(ctx context.Context, _ caller, p page) (any, error) {
	found, next, err := pageOf(p, func(q query.Page) iter.Seq2[query.Item[*view.Issue], error] {
		f := query.Filter{States: q.States, After: q.After, Limit: q.Limit, Newest: q.Newest, Every: true}
		return func(yield func(query.Item[*view.Issue], error) bool) {
			for i, err := range s.from.Query.Board().Issues(ctx, f) {
				item := query.Item[*view.Issue]{Value: i}
				if err == nil {
					item.Cursor = i.Pos
				}
				if !yield(item, err) {
					return
				}
			}
		}
	})
	issues := []issueLine{}
	for _, i := range found {
		line := issueLine{i.IssueLine, i.Status, i.PlannedAt}
		line.Title = clip(line.Title, 200)
		issues = append(issues, line)
	}
	return map[string]any{"issues": issues, "next": next}, err
}

// getIssue finds an issue of the board by any of its names, or that of a run by itself, which no list has.
func (s readTools) getIssue(ctx context.Context, _ caller, a struct{ Issue string }) (any, error) {
	b := s.from.Query.Board()
	i, err := b.Issue(ctx, a.Issue)
	if pawl.CodeOf(err) == pawl.CodeNotFound {
		own, ok, failed := b.Row(ctx, strings.ToUpper(strings.TrimSpace(a.Issue)))
		switch {
		case failed != nil:
			err = failed
		case ok:
			i, err = own, nil
		default:
			err = pawl.Fail(pawl.CodeNotFound, "mcp.issue_unknown", a.Issue)
		}
	}
	if err != nil {
		return nil, err
	}
	whole, err := b.Detail(ctx, i)
	if err != nil {
		return nil, err
	}
	return map[string]any{"issue": issue{whole, i.Status, i.Parent, i.SolutionID, whole.Failure}}, nil
}

// readAudit returns the newest records, oldest first, as they were sealed.
func (s readTools) readAudit(ctx context.Context, _ caller, a struct {
	Task  string
	Limit int
}) (any, error) {
	if a.Limit == 0 {
		a.Limit = listed
	}
	var about audit.Subject
	first := int64(0)
	head, err := s.from.Query.Log().Head(ctx)
	if err != nil {
		return nil, err
	}
	if a.Task == "" {
		first = max(0, head.Size-int64(a.Limit))
	} else {
		at, err := s.task(ctx, a.Task)
		if err != nil {
			return nil, err
		}
		about = audit.Subject{Kind: string(kernel.KindTask), ID: at.Task.ID}
	}
	type line struct {
		Index  int64           `json:"index"`
		Record json.RawMessage `json:"record"`
	}
	records := []line{}
	for rec, err := range s.from.Query.Log().Records(ctx, about, first) {
		if err != nil {
			return nil, err
		}
		if records = append(records, line{rec.Index, rec.Bytes}); len(records) > a.Limit {
			records = records[1:]
		}
	}
	return map[string]any{"size": head.Size, "records": records}, nil
}

// taskStates and issueStates are the states that lists may be narrowed to.
func taskStates() []string {
	var out []string
	for _, st := range task.Table.States() {
		out = append(out, string(st))
	}
	return out
}

func issueStates() []string {
	var out []string
	for _, st := range board.Issue.States() {
		out = append(out, string(st))
	}
	return out
}
