// Package steps carries out the plan of the task at work, by tools and with an agent that may ask.
package steps

import (
	"time"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/audit"
	"pawl/kernel/effect"
	"pawl/machine/task"
	"pawl/machine/turn"
	"pawl/text/plan"
	"pawl/text/policy"
)

// Decide takes the lease on a queued task, or takes over a task at work whose runner is gone. Either way the token
// grows, so that whatever the former runner still sends is refused.
func (c *Claim) Decide(tx *kernel.Tx) error {
	t := tx.Task
	if t == nil {
		return pawl.Fail(pawl.CodeNotFound, "kernel.task_not_found", c.Task)
	}
	if tx.Session != nil && tx.Session.Paused() {
		return pawl.Fail(pawl.CodeBusy, "kernel.paused")
	}
	alone := tx.Now.Sub(t.Lease.Expires)
	t.Epoch++
	t.Lease = kernel.Lease{Owner: c.Owner, Expires: tx.Now.Add(tx.Config.LeaseTime)}
	tx.Touch(t)
	tx.Result = t.Epoch
	switch task.State(t.State) {
	case task.Running, task.Verifying:
		tx.Record(t, kernel.AuditLeaseAdopted, audit.Info, map[string]any{"owner": c.Owner, "epoch": t.Epoch})
		// While nobody had it, nobody used up its time. What a turn waited for a person is counted by itself.
		if !t.StartedAt.IsZero() && alone > 0 && (tx.Turn == nil || tx.Turn.ParkedAt.IsZero()) {
			t.Waited += alone
		}
		if t.Effect == "" {
			tx.Then(kernel.ThenAdvance)
		}
		return nil
	case task.Queued:
		if tx.Now.Before(t.Due) {
			return pawl.Fail(pawl.CodeBusy, "kernel.not_due", t.Label, t.Due.UTC().Format(time.RFC3339))
		}
	}
	if t.StartedAt.IsZero() {
		t.StartedAt = tx.Now
	}
	t.InterruptedStep = ""
	if err := tx.Apply(kernel.Claimed, "claimed by "+c.Owner); err != nil {
		return err
	}
	if tx.Turn == nil || tx.Turn.State == string(turn.Idle) {
		if tx.Turn != nil || t.Turn == "" {
			kernel.NewTurn(tx, t.ID)
			t.Turn = tx.Turn.ID
		}
		return tx.Apply(kernel.NewAttempt, "attempt at the approved plan")
	}
	tx.Then(kernel.ThenAdvance)
	return nil
}

// Advance decides what comes next for the task at work and commits it as an effect. It is called after everything that
// moves the task on; while the session is paused or the task is to be canceled, nothing new is dispatched.
func Advance(tx *kernel.Tx) error {
	t := tx.Task
	if tx.Session.Paused() || t.Effect != "" {
		return nil
	}
	if !t.CancelAt.IsZero() {
		tx.Then(kernel.ThenCleanup)
		return nil
	}
	switch {
	case t.State == string(task.Verifying):
		return kernel.Take(tx, kernel.ThenGates)
	case t.State != string(task.Running):
		return nil
	case !t.Place.InPlace && !t.Ready.Worktree:
		spec := effect.WorktreeSpec{Base: t.Base}
		if tx.Session.Number > 0 {
			spec.Branch = t.Branch // others have landed since the plan was made
		}
		tx.Emit(effect.KindWorktree, spec, true)
		return nil
	case !t.Ready.Checkpoint:
		tx.Emit(effect.KindCheckpoint, effect.CheckpointSpec{Name: kernel.CheckpointName(tx),
			Ignored: t.Place.InPlace}, true)
		return nil
	}
	switch turn.State(tx.Turn.State) {
	case turn.Executing:
		if len(tx.Turn.Asked) > 0 && mayAsk(tx) {
			return parkTurn(tx)
		}
		return nextCall(tx)
	case turn.Verifying:
		return kernel.Take(tx, kernel.ThenVerify)
	case turn.Recovering:
		return kernel.Take(tx, kernel.ThenRepair)
	}
	return nil
}

// nextCall commits the next call of the plan, or finishes the steps.
func nextCall(tx *kernel.Tx) error {
	t := tx.Task
	if put, err := putTest(tx); put || err != nil {
		return err
	}
	p := t.Plan.Clone()
	t.Plan = &p
	for {
		i, ok := pickStep(tx, &p)
		if !ok {
			return stepsDone(tx, &p)
		}
		s := &p.Steps[i]
		if t.Cursor.Step != s.StepID {
			t.Cursor.Step, t.Cursor.Call = s.StepID, 0
			if t.Cursor.Failed == s.StepID {
				t.Cursor.Call = t.Cursor.At
			}
		}
		if forAgent(tx, s) && t.Cursor.Call == 0 {
			s.Status = plan.InProgress
			tx.Touch(t)
			return workOn(tx, s)
		}
		if t.Cursor.Call < len(s.ToolCalls) {
			s.Status = plan.InProgress
			tx.Touch(t)
			return callTool(tx, s, s.ToolCalls[t.Cursor.Call])
		}
		s.Status = plan.Done
		tx.Touch(t)
		tx.Record(t, kernel.AuditWorkItemCompleted, audit.Info, map[string]any{"step": s.StepID, "title": s.Title})
		if t.Cursor.Failed == s.StepID {
			t.Cursor.Failed, t.Cursor.At = "", 0
		}
		t.Cursor.Step, t.Cursor.Call = "", 0
	}
}

// pickStep chooses the step to work on: the steps of the repair at work come before the plan's own, so that a step that
// failed is tried again only after its repair.
func pickStep(tx *kernel.Tx, p *plan.Plan) (int, bool) {
	if tx.Turn.Fix > 0 {
		for i, s := range p.Steps {
			if s.Repair() == tx.Turn.Fix && !s.Status.Closed() {
				return i, true
			}
		}
	}
	return plan.Next(*p)
}

func stepsDone(tx *kernel.Tx, p *plan.Plan) error {
	if stuck := plan.Stuck(*p); len(stuck) > 0 {
		return kernel.FailCall(tx, kernel.CallFailed, effect.Failure{
			What: "plan", Class: pawl.ClassInvalidArgs, Code: pawl.CodeInvalid, Output: "no step can run: " +
				p.Steps[stuck[0]].StepID + " is blocked",
		})
	}
	tx.Touch(tx.Task)
	if r := &tx.Task.Ready; r.Worked {
		r.Tests, r.Worked = 0, false
		if put, err := putTest(tx); put || err != nil {
			return err
		}
	}
	return tx.Apply(kernel.StepsFinished, "all steps are done")
}

// callTool commits one tool call. The policy is asked again, because the profile may have changed since the approval;
// what it asks about is covered by the plan's approval or, in a repair, by one of its own.
func callTool(tx *kernel.Tx, s *plan.Step, c plan.ToolCallTemplate) error {
	if tx.Turn.Calls >= tx.Config.MaxCalls {
		return kernel.FailCall(tx, kernel.CallFailed,
			effect.Failure{What: "step " + s.StepID, Class: pawl.ClassPolicyDenied,
				Code: pawl.CodeBudget, Output: "the turn has used its tool calls"})
	}
	v, err := kernel.JudgeCall(tx, c)
	var sites []effect.Site
	if err == nil {
		sites, err = kernel.CallSites(tx, c)
	}
	if err != nil {
		r := effect.Failed(err)
		return kernel.FailCall(tx, kernel.CallFailed, effect.Failure{
			What: "step " + s.StepID, Class: pawl.ClassPolicyDenied, Code: r.Code, Key: r.Key, Args: r.Args,
			Cause: r.Cause,
		})
	}
	tool := tx.Config.Tools[c.Name].Info
	e := tx.Emit(effect.KindTool, effect.ToolCall{
		CallID: tx.NewID(), Name: c.Name, Version: tool.Version, Args: c.ArgsHint, Permissions: tool.Permissions,
		TraceID: tx.Turn.Trace, StepID: s.StepID, Fix: s.Repair(), Granted: granted(tx, v), Network: len(sites) > 0,
		Sites: sites, Snapshot: !tool.Idempotent,
	}, tx.Config.Repeatable(c.Name, c.ArgsHint))
	e.Effect.Timeout, e.Effect.Record = tx.Config.Call, !tool.Idempotent
	if tool.Idempotent {
		e.Effect.Delays = tx.Config.ReadDelays
	}
	tx.Turn.Calls++
	tx.Touch(tx.Turn)
	worked(tx)
	return nil
}

// granted is the approval that covers a call of the plan, "" where policy allows it without one.
func granted(tx *kernel.Tx, v policy.Verdict) string {
	if v.Decision == policy.Ask {
		return tx.Task.Approval
	}
	return ""
}

// worked notes that somebody is at work on the tree, after whom the tests of the plan are written again.
func worked(tx *kernel.Tx) {
	if t := tx.Task; t.Ready.Placed && !t.Ready.Worked {
		t.Ready.Worked = true
		tx.Touch(t)
	}
}

// WorktreeMade notes the worktree of the task at work and goes on.
func WorktreeMade(tx *kernel.Tx, r effect.Receipt) error {
	made, err := effect.Decode[effect.WorktreeResult](r.Result)
	if !r.OK || err != nil {
		return kernel.Block(tx, kernel.BlockedEnvironment, "", kernel.FirstError(r.Err(), err))
	}
	t := tx.Task
	if made.Base != "" && made.Base != t.Base {
		tx.Record(t, kernel.AuditBaseMoved, audit.Info, map[string]any{"from": t.Base, "to": made.Base})
		t.Base, t.Moved = made.Base, true
	}
	t.Ready.Worktree = true
	tx.Touch(t)
	tx.Then(kernel.ThenAdvance)
	return nil
}

// TaskCheckpointed notes the checkpoint from which the task at work begins and goes on.
func TaskCheckpointed(tx *kernel.Tx, r effect.Receipt) error {
	made, err := effect.Decode[effect.CheckpointResult](r.Result)
	if !r.OK || err != nil {
		return kernel.Block(tx, kernel.BlockedEnvironment, "", kernel.FirstError(r.Err(), err))
	}
	t := tx.Task
	t.Ready.Checkpoint, t.Checkpoint, t.Tree = true, &made, made.Tree
	t.Ready.Tracked, t.Spans = true, nil
	if t.Place.InPlace {
		t.Place.Kept = made.Name
	}
	t.Baseline = tx.Session.Known.Of(made.Tree)
	tx.Touch(t)
	kernel.KeepCheckpoint(tx, kernel.CheckpointDoc{CheckpointResult: made, Task: t.ID, Place: t.Place}, t.ID, "")
	tx.Session.LastCheckpoint = made.Name
	tx.Touch(tx.Session)
	tx.Then(kernel.ThenAdvance)
	return nil
}

// ToolDone takes the receipt of a tool call.
func ToolDone(tx *kernel.Tx, r effect.Receipt) error {
	call, err := effect.Decode[effect.ToolCall](tx.Effect.Effect.Spec)
	if err != nil {
		return err
	}
	if call.StepID == effect.TestsStep {
		return testPut(tx, r)
	}
	switch {
	case r.Code == pawl.CodeOutcomeUnknown && tx.Effect.Within == "" && len(call.Images) == 0:
		return callLost(tx, call)
	case tx.Effect.Within != "":
		kernel.CallTook(tx, r) // the agent is told by the caller
		return nil
	case r.Code == pawl.CodeBudget && !r.OK:
		if wasAsked(tx, call) {
			workAgain(tx, call.Granted)
		}
		return kernel.Block(tx, kernel.BlockedBudget, "", r.Err())
	case wasAsked(tx, call):
		return callAnswered(tx, call, r)
	}
	if r.OK {
		return callWorked(tx, call, r)
	}
	if kernel.Environmental(r.Code) {
		return kernel.Block(tx, kernel.BlockedEnvironment, "", r.Err())
	}
	what := kernel.CallFailed
	if r.Class == pawl.ClassToolTimeout {
		what = kernel.CallTimedOut
	}
	output := r.Detail
	if r.Cause != nil { // it is kept as data, not as its technical text
		output = ""
	}
	if res, err := effect.Decode[effect.ToolResult](r.Result); err == nil {
		output += string(res.Payload)
	}
	return kernel.FailCall(tx, what, effect.Failure{
		What: "step " + call.StepID + ": " + call.Name, Class: r.Class, Code: r.Code, Key: r.Key, Args: r.Args,
		Cause: r.Cause, Output: kernel.Clip(output), Tree: tx.Task.Tree,
	})
}

// callLost asks the person about a call that was cut off in a way that nobody knows whether it happened. Of a write
// that is known, because its files can be looked at.
func callLost(tx *kernel.Tx, call effect.ToolCall) error {
	tx.Effect.State = kernel.EffectUnknown
	return kernel.Block(tx, kernel.BlockedQuestion, tx.Effect.ID,
		pawl.Fail(pawl.CodeOutcomeUnknown, "kernel.outcome_unknown",
			call.StepID, call.Name, string(call.Args)))
}

func callWorked(tx *kernel.Tx, call effect.ToolCall, r effect.Receipt) error {
	t := tx.Task
	if err := tx.Apply(kernel.CallWorked, call.Name); err != nil {
		return err
	}
	t.Cursor.Call++
	if t.InterruptedStep == call.StepID {
		t.InterruptedStep = ""
	}
	if t.Cursor.Failed == t.Cursor.Step && t.Cursor.Failed != "" {
		t.Cursor.Failed, t.Cursor.At = "", 0
		if err := tx.Apply(kernel.StepRepaired, "the step that failed works now"); err != nil {
			return err
		}
		kernel.FixHeld(tx)
	}
	tx.Touch(t)
	return nil
}
