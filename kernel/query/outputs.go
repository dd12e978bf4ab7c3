package query

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"pawl/kernel"
	"pawl/kernel/effect"
	"pawl/kernel/view"
	"pawl/machine/session"
)

// Outputs tell what commands, checks and agents said for a run, in the order in which they were begun. The run is named
// as for Run.
func (r Reader) Outputs(ctx context.Context, label, name string) (view.RunOutputs, error) {
	id, err := r.runID(ctx, label, name)
	if err != nil {
		return view.RunOutputs{}, err
	}
	run, at := new(kernel.Run), new(kernel.Session)
	if ok, err := first(ctx, r.store, kernel.Select{Kind: kernel.KindRun, ID: id}, run); err != nil || !ok {
		return view.RunOutputs{}, cmp.Or(err, notFound("see.run_unknown", name))
	}
	out := view.RunOutputs{Run: run.Label}
	if ok, err := first(ctx, r.store, kernel.Select{Kind: kernel.KindSession, ID: run.Parent}, at); err != nil {
		return out, err
	} else if ok && at.Run == run.ID {
		out.State = session.State(at.State)
	}
	i := new(kernel.Issue)
	if run.Issue != "" {
		if _, err := first(ctx, r.store, kernel.Select{Kind: kernel.KindIssue, ID: run.Issue}, i); err != nil {
			return out, err
		}
		out.Claimed = i.Lease.Owner != ""
	}
	own := []kernel.Select{{Kind: kernel.KindEffect, Parent: run.ID}}
	if run.Task != "" {
		own = append(own, kernel.Select{Kind: kernel.KindEffect, Parent: run.Task})
	}
	if out.Outputs, err = r.outputs(ctx, own...); err != nil {
		return out, err
	}
	var within []kernel.Select
	for _, o := range out.Outputs {
		if o.Kind.Agent() {
			within = append(within, kernel.Select{Kind: kernel.KindEffect, Parent: o.Effect})
		}
	}
	asked, err := r.outputs(ctx, within...)
	out.Outputs = append(out.Outputs, asked...)
	slices.SortStableFunc(out.Outputs, func(a, b view.Output) int { return cmp.Compare(a.Effect, b.Effect) })
	return out, err
}

// maxAtWork bounds how many effects that are at work are looked at.
const maxAtWork = 200

// AtWork are the calls, checks and agents that are at work now.
func AtWork(ctx context.Context, r Reader) ([]view.Output, error) {
	return r.outputs(ctx, kernel.Select{Kind: kernel.KindEffect, States: []string{kernel.EffectRunning},
		Limit: maxAtWork})
}

// outputs reads the effects that a selection picks, without those that say nothing that anybody would read.
func (r Reader) outputs(ctx context.Context, sel ...kernel.Select) ([]view.Output, error) {
	if len(sel) == 0 {
		return nil, nil
	}
	rows, err := r.store.Load(ctx, sel...)
	if err != nil {
		return nil, err
	}
	var out []view.Output
	for _, row := range slices.Concat(rows...) {
		e := new(kernel.EffectDoc)
		if err := kernel.Decode(row, e); err != nil {
			return nil, err
		}
		if o, ok := outputOf(e); ok {
			out = append(out, o)
		}
	}
	return out, nil
}

// outputOf tells what is known of an effect that says something: a call, an agent at work, or checks.
func outputOf(e *kernel.EffectDoc) (view.Output, bool) {
	o := view.Output{Effect: e.ID, Kind: e.Effect.Kind, State: e.State, Within: e.Within}
	result := json.RawMessage(nil)
	if r := e.Receipt; r != nil {
		o.Began, o.Ended, result = r.Start, r.End, r.Result
	}
	switch o.Kind {
	case effect.KindTool:
		var call effect.ToolCall
		_ = json.Unmarshal(e.Effect.Spec, &call) // what cannot be read has no name and no words
		o.Name, o.Step, o.Args = call.Name, call.StepID, call.Args
		o.Kept = keptOfCall(result)
	case effect.KindWork:
		var work effect.WorkSpec
		_ = json.Unmarshal(e.Effect.Spec, &work)
		o.Name, o.Step = work.Agent, work.Step
	case effect.KindPlan, effect.KindRepair, effect.KindIntake, effect.KindReview, effect.KindRewrite,
		effect.KindPrepare:
	case effect.KindVerify, effect.KindGates, effect.KindTest:
		var checks effect.VerifySpec
		_ = json.Unmarshal(e.Effect.Spec, &checks)
		o.Before = checks.At != ""
		o.Kept = keptOfChecks(result)
	default:
		return o, false
	}
	return o, true
}

// keptOfCall is what the store holds of the output of a command.
func keptOfCall(result json.RawMessage) []view.KeptOutput {
	var r effect.ToolResult
	var ran struct {
		Exit      int    `json:"exit_code"`
		Output    string `json:"output"`
		Truncated bool   `json:"truncated"`
		Bytes     int64  `json:"output_bytes"`
		Digest    string `json:"output_digest"`
	}
	if json.Unmarshal(result, &r) != nil || json.Unmarshal(r.Payload, &ran) != nil || ran.Digest == "" {
		return nil
	}
	return []view.KeptOutput{{Exit: ran.Exit, Failed: ran.Exit != 0, Text: ran.Output, Cut: ran.Truncated,
		Bytes: ran.Bytes, Digest: ran.Digest}}
}

// keptOfChecks is what the store holds of the output of each check that ran.
func keptOfChecks(result json.RawMessage) []view.KeptOutput {
	var r effect.VerifyResult
	if json.Unmarshal(result, &r) != nil {
		return nil
	}
	var out []view.KeptOutput
	for _, o := range r.Outcomes {
		if o.Status == effect.CheckSkipped {
			continue
		}
		out = append(out, view.KeptOutput{
			Name: o.Name, Exit: o.ExitCode, Failed: o.Status != effect.CheckPassed,
			Text: o.Output, Cut: o.OutputBytes > int64(len(o.Output)), Bytes: o.OutputBytes, Digest: o.Digest,
		})
	}
	return out
}
