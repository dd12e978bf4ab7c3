package api

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/audit"
	"pawl/kernel/query"
	"pawl/kernel/view"
)

// listed is how many items a page has unless more are asked for, and maxListed how many it has at most.
const (
	listed    = 50
	maxListed = 500
)

// readErrors are the errors that a reading declares, beside those of every request.
var readErrors = []int{400, 401, 403, 404, 406, 409, 422, 423, 500, 503, 504, 507}

// Answer is what a reading answers with. Tag is the version of the row that it is about, 0 where it is about none.
type answer[T any] struct {
	ETag string `header:"ETag" doc:"The version of the row, to be sent as If-Match with a command about it."`
	Body T
}

func tagged[T any](v T, version int64) *answer[T] {
	a := &answer[T]{Body: v}
	if version > 0 {
		a.ETag = strconv.Quote(strconv.FormatInt(version, 10))
	}
	return a
}

// Page is a page of a list.
type page[T any] struct {
	Items []T   `json:"items"`
	Next  int64 `json:"next,omitempty" doc:"Where the next page begins: its after. Left out where there is none."`
}

// reading registers a question. About is a key of the catalogue.
func reading[I, T any](s *Server, path, id, about string, f func(context.Context, *I) (T, int64, error)) {
	huma.Register(s.api, huma.Operation{
		Method: http.MethodGet, Path: path, OperationID: id, Summary: s.Lang.Text(about), Tags: []string{"read"},
		Security: []map[string][]string{{"token": {string(Read)}}}, Errors: readErrors,
	}, func(ctx context.Context, in *I) (*answer[T], error) {
		if _, err := callerOf(ctx, Read); err != nil {
			return nil, s.problem(err)
		}
		v, version, err := f(ctx, in)
		if err != nil {
			return nil, s.problem(err)
		}
		return tagged(v, version), nil
	})
}

// ofSession is a question about a session.
type ofSession struct {
	Issue string `query:"issue" maxLength:"200" doc:"An issue of the board, whose session is asked about."`
}

// OfPage picks a part of a list.
type OfPage struct {
	State  []string `query:"state" doc:"Only items in one of these states."`
	Limit  int      `query:"limit" minimum:"1" maximum:"500" default:"50" doc:"How many items at most."`
	After  int64    `query:"after" minimum:"0" maximum:"9007199254740991" doc:"Goes on behind an earlier page: its next."`
	Newest bool     `query:"newest" doc:"The newest first."`
}

func (p *OfPage) query() query.Page {
	return query.Page{States: p.State, Limit: p.Limit + 1, After: p.After, Newest: p.Newest}
}

// collected is a page of a list.
func collected[T any](limit int, list iter.Seq2[query.Item[T], error]) (page[T], int64, error) {
	items, next, err := query.Collect(limit, list)
	return page[T]{items, next}, 0, err
}

// looker remembers the session's row that a status was read from.
type looker struct {
	query.Looker
	version int64
}

func (l *looker) Snapshot(ctx context.Context) (*kernel.Snapshot, error) {
	s, err := l.Looker.Snapshot(ctx)
	if err == nil && s.Session != nil {
		l.version = s.Session.Version
	}
	return s, err
}

// status is the session's status with the process that works, and the version of its row.
func (s *Server) status(ctx context.Context, issue string) (view.Status, int64, error) {
	k, err := s.at(ctx, issue)
	if err != nil {
		return view.Status{}, 0, err
	}
	return s.statusOf(ctx, k)
}

func (s *Server) statusOf(ctx context.Context, k *kernel.Kernel) (view.Status, int64, error) {
	l := &looker{Looker: k}
	st, err := query.Status(ctx, l)
	if err == nil && st.ID == "" {
		err = pawl.Fail(pawl.CodeNotFound, "kernel.not_initialised")
	}
	if s.Owner != nil {
		st.Owner = s.Owner()
	}
	return st, l.version, err
}

// none is what a question takes that needs nothing.
type none struct{}

// readings registers every question.
func (s *Server) readings() {
	reading(s, "/status", "getStatus", "api.status",
		func(ctx context.Context, in *ofSession) (view.Status, int64, error) { return s.status(ctx, in.Issue) })
	reading(s, "/plan", "getPlan", "api.plan", func(ctx context.Context, in *ofSession) (view.Plan, int64, error) {
		k, err := s.at(ctx, in.Issue)
		if err != nil {
			return view.Plan{}, 0, err
		}
		at, err := query.Planned(ctx, k)
		if err == nil && at.Solution == nil {
			err = pawl.Fail(pawl.CodeNotFound, "cli.no_plan")
		}
		if err != nil {
			return view.Plan{}, 0, err
		}
		return query.PlanOf(at), at.Solution.Version, nil
	})
	glances(s)
	s.runs()
	s.tasks()
	board(s)
	ledger(s)
}

func (s *Server) runs() {
	reading(s, "/runs", "listRuns", "api.runs", func(ctx context.Context, in *OfPage) (page[view.RunLine], int64, error) {
		return collected(in.Limit, s.ask.Runs(ctx, in.query()))
	})
	type one struct {
		Run string `path:"run" maxLength:"200" doc:"Its label, number or id, its task, issue, or the commit that it made."`
	}
	reading(s, "/runs/{run}", "getRun", "api.run", func(ctx context.Context, in *one) (*view.Report, int64, error) {
		r, err := s.ask.Run(ctx, kernel.SessionLabel, in.Run)
		if err != nil {
			return nil, 0, err
		}
		return r, r.Version, nil
	})
	reading(s, "/runs/{run}/outputs", "getOutputs", "api.outputs",
		func(ctx context.Context, in *one) (view.RunOutputs, int64, error) {
			out, err := s.ask.Outputs(ctx, kernel.SessionLabel, in.Run)
			return out, 0, err
		})
}

func (s *Server) tasks() {
	type sought struct {
		OfPage
		Search string    `query:"search" maxLength:"500" doc:"Only tasks that hold each of these words."`
		Agent  string    `query:"agent" maxLength:"200" doc:"Only tasks of runs of this agent."`
		Since  time.Time `query:"since" doc:"Only tasks that changed since then."`
	}
	reading(s, "/tasks", "listTasks", "api.tasks",
		func(ctx context.Context, in *sought) (page[view.TaskLine], int64, error) {
			f := query.TaskFilter{Page: in.query(), Search: in.Search, Agent: in.Agent, Since: in.Since}
			f.Limit = in.Limit
			items, next, err := query.FindTasks(ctx, s.ask, f)
			return page[view.TaskLine]{items, next}, 0, err
		})
	type one struct {
		Task string `path:"task" maxLength:"200" doc:"Its label, number or id."`
	}
	reading(s, "/tasks/{task}", "getTask", "api.task", func(ctx context.Context, in *one) (view.Task, int64, error) {
		at, err := s.task(ctx, in.Task)
		if err != nil {
			return view.Task{}, 0, err
		}
		return query.TaskOf(at.Task, s.Kernel.Config()), at.Task.Version, nil
	})
}

// task finds a task by its label, number or id.
func (s *Server) task(ctx context.Context, given string) (*kernel.Snapshot, error) {
	at, err := s.Kernel.TaskSnapshot(ctx, query.TaskLabel(given))
	if pawl.CodeOf(err) == pawl.CodeNotFound {
		err = pawl.Fail(pawl.CodeNotFound, "cli.task_unknown", given)
	}
	return at, err
}

// boardNow is the board at a glance.
type boardNow struct {
	Counts view.IssueCounts `json:"counts"`
	Batch  *view.BoardBatch `json:"batch,omitempty"`
}

func board(s *Server) {
	b := s.ask.Board()
	reading(s, "/board", "getBoard", "api.board", func(ctx context.Context, _ *none) (out boardNow, _ int64, err error) {
		if out.Counts, err = b.Counts(ctx); err == nil {
			out.Batch, err = b.Batch(ctx)
		}
		return out, 0, err
	})
	type filter struct {
		OfPage
		Tag    []string `query:"tag" doc:"Only issues that bear all of these."`
		Search string   `query:"search" maxLength:"500" doc:"Only issues that hold each of these words."`
	}
	reading(s, "/issues", "listIssues", "api.issues",
		func(ctx context.Context, in *filter) (page[view.IssueLine], int64, error) {
			f := query.Filter{States: in.State, Tags: in.Tag, Search: in.Search, After: in.After,
				Limit: in.Limit + 1, Every: true}
			return collected(in.Limit, func(yield func(query.Item[view.IssueLine], error) bool) {
				for i, err := range b.Issues(ctx, f) {
					item := query.Item[view.IssueLine]{}
					if err == nil {
						item = query.Item[view.IssueLine]{Value: i.IssueLine, Cursor: i.Pos}
					}
					if !yield(item, err) {
						return
					}
				}
			})
		})
	type one struct {
		Issue string `path:"issue" maxLength:"200" doc:"Its label, number or id, or that of where it was imported from."`
	}
	reading(s, "/issues/{issue}", "getIssue", "api.issue",
		func(ctx context.Context, in *one) (*view.IssueDetail, int64, error) {
			i, err := b.Issue(ctx, in.Issue)
			if err != nil {
				return nil, 0, err
			}
			d, err := b.Detail(ctx, i)
			return d, i.Version, err
		})
	reading(s, "/asking", "listAsking", "api.asking",
		func(ctx context.Context, _ *none) (page[*view.Issue], int64, error) {
			found, err := b.Asking(ctx, maxListed)
			return page[*view.Issue]{Items: append([]*view.Issue{}, found...)}, 0, err
		})
}

// maxGraph is how many issues a graph has at most.
const maxGraph = 2000

// glances are the questions of the pages that show much at once.
func glances(s *Server) {
	reading(s, "/inbox", "getInbox", "api.inbox", func(ctx context.Context, _ *none) (view.Inbox, int64, error) {
		in, err := query.Inbox(ctx, s.Kernel, s.Working, maxListed)
		return in, 0, err
	})
	reading(s, "/workers", "listWorkers", "api.workers",
		func(ctx context.Context, _ *none) (page[view.Claim], int64, error) {
			found, err := s.ask.Board().Workers(ctx)
			return page[view.Claim]{Items: found}, 0, err
		})
	reading(s, "/graph", "getGraph", "api.graph", func(ctx context.Context, _ *none) (view.Graph, int64, error) {
		g, err := s.ask.Board().Graph(ctx, maxGraph)
		return g, 0, err
	})
	reading(s, "/costs", "getCosts", "api.costs", func(ctx context.Context, _ *none) (view.Costs, int64, error) {
		c, err := s.ask.Ledger().Costs(ctx, s.Kernel.Config().Budgets)
		return c, 0, err
	})
}

// record is a record of the audit log, as it was sealed.
type record struct {
	Index  int64           `json:"index" doc:"Its place in the log."`
	Record json.RawMessage `json:"record" doc:"The record, byte for byte."`
}

func ledger(s *Server) {
	type named struct {
		Question string `path:"question" maxLength:"200" doc:"Its name, such as q-3."`
	}
	reading(s, "/questions/{question}", "getQuestion", "api.question",
		func(ctx context.Context, in *named) (view.Asked, int64, error) {
			q, err := s.ask.Question(ctx, in.Question)
			return q, 0, err
		})
	reading(s, "/budgets", "listBudgets", "api.budgets",
		func(ctx context.Context, _ *none) (page[query.Budget], int64, error) {
			found, err := s.ask.Ledger().Budgets(ctx, s.Kernel.Config().Budgets)
			return page[query.Budget]{Items: append([]query.Budget{}, found...)}, 0, err
		})
	reading(s, "/rulings", "listRulings", "api.rulings",
		func(ctx context.Context, _ *none) (page[view.Ruling], int64, error) {
			found, err := s.ask.Rulings(ctx)
			return page[view.Ruling]{Items: append([]view.Ruling{}, found...)}, 0, err
		})
	reading(s, "/packages", "listPackages", "api.packages",
		func(ctx context.Context, _ *none) (map[string]view.Package, int64, error) {
			found, err := s.ask.Packages(ctx)
			return found, 0, err
		})
	type part struct {
		From  int64 `query:"from" minimum:"0" maximum:"9007199254740991" doc:"The index of the first record."`
		Limit int   `query:"limit" minimum:"1" maximum:"500" default:"50" doc:"How many records at most."`
	}
	type log struct {
		Size    int64    `json:"size" doc:"How many records the log has: the cursor of the next one."`
		Root    string   `json:"root" doc:"The root of the tree over all records."`
		Records []record `json:"records"`
	}
	reading(s, "/log", "getLog", "api.log", func(ctx context.Context, in *part) (log, int64, error) {
		out := log{Records: []record{}}
		head, err := s.ask.Log().Head(ctx)
		if err != nil {
			return out, 0, err
		}
		out.Size, out.Root = head.Size, head.Root.String()
		for rec, err := range s.ask.Log().Records(ctx, audit.Subject{}, in.From) {
			if err != nil {
				return out, 0, err
			}
			if len(out.Records) == in.Limit {
				break
			}
			out.Records = append(out.Records, record{rec.Index, rec.Bytes})
		}
		return out, 0, nil
	})
}
