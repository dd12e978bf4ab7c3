package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"pawl/kernel"
	"pawl/kernel/control"
	"pawl/kernel/issues"
)

// orderAbout is a request to do something about a row that its path names.
type orderAbout[T any] struct {
	Name  string `path:"name" maxLength:"200" doc:"Its label, number or id."`
	Match string `header:"If-Match" maxLength:"40" doc:"The ETag of the row that the command was given in view of. Another version by now is 412."`
	Key   string `header:"Idempotency-Key" maxLength:"200" doc:"Names the request, as for the other commands."`
	Body  T
}

// about registers a command about a row of its own.
func about[T any](s *Server, path, id, key string, make func(context.Context, *orderAbout[T], *given) error) {
	huma.Register(s.api, huma.Operation{
		Method: http.MethodPost, Path: path, OperationID: id, Summary: s.Lang.Text(key), Tags: []string{"act"},
		Security: []map[string][]string{{"token": {string(Act)}}}, Errors: actErrors,
	}, func(ctx context.Context, in *orderAbout[T]) (*answer[commanded], error) {
		return s.command(ctx, "", in.Match, in.Key, func(g *given) error { return make(ctx, in, g) })
	})
}

// newIssue is an issue to register.
type newIssue struct {
	Title    string   `json:"title" minLength:"1" maxLength:"1000" doc:"What is to be done, in one line."`
	Context  string   `json:"context,omitempty" doc:"More of it."`
	Priority int      `json:"priority,omitempty" minimum:"0" maximum:"5" doc:"From 1, critical, to 5."`
	Tags     []string `json:"tags,omitempty" maxItems:"100"`
	After    []string `json:"after,omitempty" maxItems:"200" doc:"Issues that must be completed first."`
	Paused   bool     `json:"paused,omitempty" doc:"It is not worked on until that ends."`
}

// registered are the commands about tasks and about the issues of the board.
func registered(s *Server) {
	about(s, "/tasks/{name}/cancel", "cancelTask", "api.cancel_task",
		func(ctx context.Context, in *orderAbout[Why], g *given) error {
			at, err := s.task(ctx, in.Name)
			if err != nil {
				return err
			}
			g.match, g.id = kernel.KindTask, at.Task.ID
			g.command = &control.CancelTask{Task: at.Task.ID, Reason: in.Body.Reason}
			return nil
		})
	type more struct {
		Issues []newIssue `json:"issues" nullable:"false" minItems:"1" maxItems:"1000"`
	}
	commanding(s, "/issues", "addIssues", "api.add_issues", func(_ context.Context, in *order[more], g *given) error {
		add := &issues.AddIssues{}
		for _, i := range in.Body.Issues {
			add.Issues = append(add.Issues, issues.NewIssue{Title: i.Title, Context: i.Context, Priority: i.Priority,
				Tags: i.Tags, After: i.After, Paused: i.Paused})
		}
		g.command, g.rests = add, true
		return nil
	})
	type edit struct {
		Title    *string   `json:"title,omitempty" maxLength:"1000"`
		Context  *string   `json:"context,omitempty"`
		Priority *int      `json:"priority,omitempty" minimum:"0" maximum:"5"`
		Tags     *[]string `json:"tags,omitempty"`
		Paused   *bool     `json:"paused,omitempty" doc:"Whether it is held back from being worked on."`
		Feedback string    `json:"feedback,omitempty" maxLength:"20000" doc:"Is added to what the next attempt is told."`
	}
	onIssue(s, "edit", "editIssue", "api.edit_issue", func(_ context.Context, id string, in *edit, g *given) error {
		g.command = &issues.EditIssue{Issue: id, Title: in.Title, Context: in.Context, Priority: in.Priority,
			Tags: in.Tags, Paused: in.Paused, Feedback: in.Feedback}
		return nil
	})
	type retry struct {
		Note string `json:"note,omitempty" maxLength:"20000" doc:"What the next attempt is told."`
	}
	onIssue(s, "retry", "retryIssue", "api.retry_issue", func(_ context.Context, id string, in *retry, g *given) error {
		g.command = &issues.RetryIssue{Issue: id, Note: in.Note}
		return nil
	})
	type edge struct {
		On     string `json:"on" minLength:"1" maxLength:"200" doc:"The other issue."`
		Remove bool   `json:"remove,omitempty" doc:"It waits for that one no longer."`
	}
	onIssue(s, "depend", "dependIssue", "api.depend_issue",
		func(ctx context.Context, id string, in *edge, g *given) error {
			on, err := s.ask.Board().Issue(ctx, in.On)
			if err != nil {
				return err
			}
			g.command = &issues.AddDependency{Issue: id, On: on.ID, Remove: in.Remove}
			return nil
		})
}

// onIssue registers a command about an issue of the board, which rests: whoever works there goes on by itself.
func onIssue[T any](s *Server, name, id, key string, make func(context.Context, string, *T, *given) error) {
	about(s, "/issues/{name}/"+name, id, key, func(ctx context.Context, in *orderAbout[T], g *given) error {
		i, err := s.ask.Board().Issue(ctx, in.Name)
		if err != nil {
			return err
		}
		g.match, g.id, g.rests = kernel.KindIssue, i.ID, true
		return make(ctx, i.ID, &in.Body, g)
	})
}
