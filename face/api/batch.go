package api

import (
	"context"
	"errors"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/approval"
	"pawl/kernel/view"
	"pawl/text/policy"
)

// several is a request to approve questions that are alike.
type several struct {
	Key  string `header:"Idempotency-Key" maxLength:"200" doc:"Names the request, as for the other commands: each question is answered once under it."`
	Body struct {
		Rule      string `json:"rule" minLength:"1" maxLength:"200" doc:"The rule that the inbox names for each of the questions."`
		Questions []asks `json:"questions" nullable:"false" minItems:"1" maxItems:"500" doc:"The questions, each in view of what was shown of it."`
	}
}

// asks is a question of a batch.
type asks struct {
	Seen
	Issue string `json:"issue,omitempty" maxLength:"200" doc:"The issue that asks. Left out: the person's own session."`
}

// BatchOutcome is what became of a question of a batch.
type BatchOutcome struct {
	Issue    string    `json:"issue,omitempty" doc:"The issue that asks, as it was named."`
	Digest   string    `json:"digest" doc:"What was approved, as it was named."`
	Approved bool      `json:"approved" doc:"Whether the approval counts."`
	Replayed bool      `json:"replayed,omitempty" doc:"Whether it had been given before, under this key."`
	Code     pawl.Code `json:"code,omitempty" doc:"Why it does not count."`
	Detail   string    `json:"detail,omitempty" doc:"The same, for a person."`
	Hint     string    `json:"hint,omitempty" doc:"The next step, for a person."`
	// Now is what the session asks instead.
	Now *view.Approval `json:"now,omitempty" doc:"What waits for an answer there now, where it is another question."`
}

// batched is what became of a batch of which every question is approved.
type batched struct {
	Outcomes []BatchOutcome `json:"outcomes" doc:"What became of each question, in their order."`
}

// batches registers the command that approves several questions of one rule and of low risk. Each is a command of its
// own, which the kernel refuses where the question may not be answered together with others.
func batches(s *Server) {
	huma.Register(s.api, huma.Operation{
		Method: http.MethodPost, Path: "/commands/batch", OperationID: "batch", Summary: s.Lang.Text("api.batch"),
		Tags: []string{"act"}, Security: []map[string][]string{{"token": {string(Act)}}}, Errors: actErrors,
	}, func(ctx context.Context, in *several) (*answer[batched], error) {
		if _, err := callerOf(ctx, Act); err != nil {
			return nil, s.problem(err)
		}
		out, refused := &answer[batched]{}, []*Problem{}
		for _, q := range in.Body.Questions {
			o, err := in.approve(ctx, s, q)
			if err != nil {
				refused = append(refused, err)
			}
			out.Body.Outcomes = append(out.Body.Outcomes, o)
		}
		if len(refused) > 0 {
			return nil, incomplete(s, refused, out.Body.Outcomes)
		}
		return out, nil
	})
}

// approve approves a question of a batch.
func (in *several) approve(ctx context.Context, s *Server, q asks) (BatchOutcome, *Problem) {
	o := BatchOutcome{Issue: q.Issue, Digest: q.Digest}
	done, err := s.command(ctx, q.Issue, "", in.Key, func(g *given) error {
		g.command = &approval.Approve{Hash: q.Digest, Way: kernel.WayAPI, Rule: policy.Code(in.Body.Rule)}
		g.decides = true
		return nil
	})
	if err == nil {
		o.Approved, o.Replayed = true, done.Body.Replayed
		return o, nil
	}
	var p *Problem
	if !errors.As(err, &p) {
		p = s.problem(err)
	}
	o.Code, o.Detail, o.Hint, o.Now = p.Code, p.Detail, p.Hint, p.Now
	return o, p
}

// incomplete says that a batch was not approved in whole: by the reason of its refusals, where they have the same one.
func incomplete(s *Server, refused []*Problem, outcomes []BatchOutcome) *Problem {
	code := refused[0].Code
	for _, p := range refused {
		if p.Code != code {
			code = pawl.CodeConflict
		}
	}
	p := s.problem(pawl.Fail(code, "api.batch_refused", len(refused), len(outcomes)))
	p.Outcomes = outcomes
	return p
}
