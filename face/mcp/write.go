package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"pawl"
	"pawl/face/give"
	"pawl/kernel"
	"pawl/kernel/effect"
	"pawl/kernel/orders"
	"pawl/kernel/planning"
	"pawl/kernel/query"
	"pawl/kernel/steps"
	"pawl/kernel/tasks"
	"pawl/kernel/view"
	"pawl/machine/session"
)

// Bounds of what a client may write, in bytes, and of how long it may wait for an answer, in seconds.
const (
	maxSummary  = 4000
	maxNote     = 8000
	maxQuestion = 2000
	maxProposal = 256 << 10
	maxWait     = 120
)

// writeTools answers the tools that write.
type writeTools struct {
	read readTools
	// proposing makes proposals wait for each other, because each may start the work on its run.
	proposing *sync.Mutex
}

// give passes a command of a client on to the kernel. This is the wall between agents and everything that is a person's
// to decide: a command that is not named here never leaves the package, and a run is only ever taken up in a mode that
// asks.
func (s writeTools) give(ctx context.Context, c caller, key string, command kernel.Command) (string, error) {
	switch c := command.(type) {
	case *tasks.UpdateProgress:
		if c.Status != "" {
			return "", pawl.Fail(pawl.CodeDenied, "mcp.not_for_agents")
		}
	case *planning.Start:
		if c.AutoApprove != "" || c.RunMode != pawl.Assisted && c.RunMode != pawl.Interactive {
			return "", pawl.Fail(pawl.CodeDenied, "mcp.not_for_agents")
		}
	case *orders.RecordError, *orders.SaveDecision, *steps.Ask:
	default:
		return "", pawl.Fail(pawl.CodeDenied, "mcp.not_for_agents")
	}
	out, err := s.read.from.Kernel.Do(ctx, kernel.Envelope{Actor: c.actor(), Key: key, Command: command})
	if err != nil {
		return "", err
	}
	if s.read.from.Export != nil {
		// A projection that cannot be written now is written after a later commit; the store has what was said.
		_ = s.read.from.Export(context.WithoutCancel(ctx))
	}
	var id string
	_ = json.Unmarshal(out.Result, &id) // a result of another kind is no id
	return id, nil
}

// progress is what an agent reports of a task.
type progress struct {
	Task    string
	TaskID  string `json:"task_id"` // what the seed calls it
	Status  string
	Summary string
}

// updateProgress keeps a report. It moves nothing: a task becomes done only when pawl's own checks passed.
func (s writeTools) updateProgress(ctx context.Context, c caller, p progress) (any, error) {
	at, err := s.read.task(ctx, cmp.Or(p.Task, p.TaskID))
	if err != nil {
		return nil, err
	}
	t := at.Task
	text := strings.TrimSpace(p.Summary)
	if p.Status != "" {
		text = p.Status + ": " + text
	}
	if _, err := s.give(ctx, c, "", &tasks.UpdateProgress{Task: t.ID, Summary: text}); err != nil {
		return nil, err
	}
	return map[string]any{"task": t.Label, "state": t.State, "reported": text,
		"note": s.read.from.Lang.Text("mcp.reported")}, nil
}

func (s writeTools) recordError(ctx context.Context, c caller, a struct {
	Type  string `json:"error_type"`
	Cause string `json:"root_cause"`
	Fix   string `json:"fix_solution"`
	Scope string
}) (any, error) {
	id, err := s.give(ctx, c, "", &orders.RecordError{Type: a.Type, RootCause: a.Cause, Fix: a.Fix, Scope: a.Scope})
	if err != nil {
		return nil, err
	}
	return map[string]any{"id": id, "file": ".pawl/" + view.DecisionsFile}, nil
}

func (s writeTools) saveDecision(ctx context.Context, c caller, a struct {
	Type     string `json:"decision_type"`
	Content  string
	Replaces string
}) (any, error) {
	id, err := s.give(ctx, c, "", &orders.SaveDecision{Type: a.Type, Content: a.Content, Replaces: a.Replaces})
	if err != nil {
		return nil, err
	}
	return map[string]any{"id": id, "file": ".pawl/" + view.DecisionsFile}, nil
}

// asking is a question with how many seconds its answer is waited for.
type asking struct {
	Question string
	Wait     int
}

// askHuman puts a question to the person. Asked again while it is open, the same question of the same client is the
// same question.
func (s writeTools) askHuman(ctx context.Context, c caller, a asking) (any, error) {
	if strings.TrimSpace(a.Question) == "" {
		return nil, pawl.Fail(pawl.CodeInvalid, "mcp.question_empty")
	}
	id, err := s.give(ctx, c, "", &steps.Ask{Question: a.Question})
	if err != nil {
		return nil, err
	}
	return s.getAnswer(ctx, c, asking{id, a.Wait})
}

// getAnswer says what became of a question, at once or as soon as it is answered while the client waits.
func (s writeTools) getAnswer(ctx context.Context, _ caller, a asking) (any, error) {
	over := time.After(time.Duration(a.Wait) * time.Second)
	commits := s.read.from.Feed.Listen()
	defer commits.Close()
	for waiting := a.Wait > 0; ; {
		q, err := s.read.from.Query.Question(ctx, strings.ToLower(strings.TrimSpace(a.Question)))
		if err != nil {
			return nil, err
		}
		if q.State != kernel.QuestionOpen || !waiting {
			return s.became(q), nil
		}
		select {
		case <-ctx.Done():
			return nil, pawl.Fail(pawl.CodeCanceled, "runner.canceled").Because(ctx.Err())
		case <-over:
			waiting = false
		case <-commits.C:
		}
	}
}

// became is what a client is told of a question.
func (s writeTools) became(q view.Asked) map[string]any {
	out := map[string]any{"question": q.ID, "text": q.Text, "state": q.State}
	switch {
	case q.Open:
		out["next"] = s.read.from.Lang.Text("mcp.question_parked", q.ID)
	default:
		out["answer"], out["by"] = q.Answer, q.By
	}
	return out
}

// placeOf is where a run or a task of the session works unless its plan says otherwise.
func placeOf(at *kernel.Session) effect.Place {
	p := at.Place
	p.Tree = p.Workspace
	return p
}

// proposePlan takes up a run with a plan that a client brings. The plan is checked first, so that a mistake costs
// nothing; then it goes the way of every plan, is judged by the policy and waits for a person's approval, which nothing
// in this package can give. It is taken only while nothing else is under way, so that it can displace nothing a person
// looks at.
func (s writeTools) proposePlan(ctx context.Context, c caller, a struct{ Plan, Requirement string }) (any, error) {
	s.proposing.Lock()
	defer s.proposing.Unlock()
	at, err := s.read.from.Kernel.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	switch {
	case at.Session == nil:
		return nil, pawl.Fail(pawl.CodeNotFound, "kernel.not_initialised")
	case at.Session.State != string(session.Idle) || at.Session.Effect != "":
		return nil, pawl.Fail(pawl.CodeBusy, "mcp.not_idle", at.Session.State)
	}
	p, err := give.Plan(s.read.from.Kernel.Config(), []byte(a.Plan))
	if err != nil {
		return nil, err
	}
	start := &planning.Start{
		Requirement: strings.TrimSpace(a.Requirement), Given: []byte(a.Plan), Name: proposalName(c),
		Place: placeOf(at.Session), RunMode: pawl.Assisted, Lang: string(s.read.from.Lang),
	}
	if start.Requirement == "" {
		start.Requirement = p.Goal
	}
	if at.Session.RunMode == pawl.Interactive {
		start.RunMode = pawl.Interactive
	}
	run, err := s.give(ctx, c, "", start)
	if err != nil {
		return nil, err
	}
	if s.read.from.Advance != nil {
		if err := s.read.from.Advance(ctx); err != nil {
			return nil, err
		}
	}
	return s.proposed(ctx, run)
}

// proposalName is what stands for the name of the plan's file.
func proposalName(c caller) string { return "proposal of mcp/" + c.name }

// proposed says what became of a proposal: it waits for a person, it was refused by what judges plans, or nobody has
// looked at it yet.
func (s writeTools) proposed(ctx context.Context, run string) (any, error) {
	at, err := s.read.from.Kernel.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	if at.Session.Run != run {
		// The run is over already: what it was refused for is the session's last error.
		if at.Session.LastError != nil {
			return nil, at.Session.LastError.Err()
		}
		return nil, pawl.Fail(pawl.CodeConflict, "mcp.proposal_gone")
	}
	out := map[string]any{"run": at.Run.Label, "state": at.Session.State, "approved": false,
		"next": s.read.from.Lang.Text("mcp.proposal_waits")}
	if a := at.Approval; a != nil && a.About == "plan" && a.State == kernel.ApprovalPending {
		v := query.PlanOf(at)
		out["plan_hash"], out["risk"], out["steps"] = v.Hash, v.Risk, len(v.Steps)
		out["next"] = s.read.from.Lang.Text("mcp.proposal_shown", fmt.Sprintf("%.12s", v.Hash))
	}
	return out, nil
}
