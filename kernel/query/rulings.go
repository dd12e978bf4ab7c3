package query

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"pawl/kernel"
	"pawl/kernel/audit"
	"pawl/kernel/effect"
	"pawl/kernel/view"
	"pawl/text/policy"
)

// Rulings are what the policy asked about or refused, the oldest first: each call of a plan that waited for a word, and
// each call of an agent that was asked about or refused. What it let through without a word is not among them.
func (r Reader) Rulings(ctx context.Context) ([]view.Ruling, error) {
	var out []view.Ruling
	for row, err := range r.store.Scan(ctx, kernel.Select{Kind: kernel.KindApproval}) {
		a := new(kernel.Approval)
		if err == nil {
			err = kernel.Decode(row, a)
		}
		if err != nil {
			return nil, err
		}
		switch a.About {
		case "plan":
			about, err := r.ofPlan(ctx, a)
			if err != nil {
				return nil, err
			}
			out = append(out, about...)
		case "call":
			tool, args, _ := strings.Cut(a.Detail, " ")
			v := view.Ruling{Tool: tool, Call: effect.Gist([]byte(args)), Decision: policy.Ask}
			task := new(kernel.Task)
			if _, err := first(ctx, r.store, kernel.Select{Kind: kernel.KindTask, ID: a.Subject}, task); err != nil {
				return nil, err
			}
			v.InPlace = task.Place.InPlace
			out = append(out, answered(v, a))
		}
	}
	refused, err := r.refusedCalls(ctx)
	out = append(out, refused...)
	slices.SortStableFunc(out, func(a, b view.Ruling) int { return a.At.Compare(b.At) })
	return out, err
}

// answered adds the question and its answer.
func answered(v view.Ruling, a *kernel.Approval) view.Ruling {
	v.At, v.Answer, v.By = a.CreatedAt, a.State, string(a.AnsweredBy)
	return v
}

// ofPlan are the calls of the plan that a question was about.
func (r Reader) ofPlan(ctx context.Context, a *kernel.Approval) ([]view.Ruling, error) {
	run, s := new(kernel.Run), new(kernel.Solution)
	if ok, err := first(ctx, r.store, kernel.Select{Kind: kernel.KindRun, ID: a.Subject}, run); err != nil || !ok {
		return nil, err
	}
	ok, err := first(ctx, r.store, kernel.Select{Kind: kernel.KindSolution, ID: run.Solution}, s)
	if err != nil || !ok || s.Hash != a.Hash {
		return nil, err // the plan was edited after this question
	}
	var out []view.Ruling
	for _, j := range s.Verdicts {
		if j.Verdict.Decision == policy.Allow {
			continue
		}
		v := view.Ruling{Run: run.Label, Step: j.Step, Tool: j.Tool, Decision: j.Verdict.Decision,
			Reasons: j.Verdict.Reasons, Person: j.Verdict.Person, InPlace: run.Place.InPlace}
		for _, step := range s.Plan.Steps {
			if step.StepID == j.Step && j.Call < len(step.ToolCalls) {
				v.Call = effect.Gist(step.ToolCalls[j.Call].ArgsHint)
			}
		}
		out = append(out, answered(v, a))
	}
	return out, nil
}

// refusedCalls are the calls of agents that were refused without a question, by the audit log.
func (r Reader) refusedCalls(ctx context.Context) ([]view.Ruling, error) {
	var out []view.Ruling
	for rec, err := range r.store.Records(ctx, "", 0) {
		if err != nil {
			return nil, err
		}
		if !bytes.Contains(rec.Bytes, []byte(kernel.AuditCallRefused)) {
			continue
		}
		p, err := audit.Parse(rec.Bytes)
		if err != nil {
			return nil, err
		}
		var data struct {
			Tool string   `json:"tool"`
			Key  string   `json:"key"`
			Args []string `json:"args"`
			effect.RefusedCall
		}
		if p.Event != string(kernel.AuditCallRefused) || json.Unmarshal(p.Data, &data) != nil {
			continue
		}
		code, denied := strings.CutPrefix(data.Key, "policy.")
		if len(data.Reasons) == 0 && denied { // a record of an earlier version
			data.Reasons = []policy.Reason{{Code: policy.Code(code), Key: data.Key, Args: data.Args}}
		}
		if len(data.Reasons) > 0 {
			out = append(out, view.Ruling{At: p.At, Run: data.Run, Tool: data.Tool, Call: data.Call,
				Decision: policy.Deny, Reasons: data.Reasons, Person: data.Person})
		}
	}
	return out, nil
}
