package kernel

import (
	"time"

	"pawl"
	"pawl/kernel/audit"
	"pawl/kernel/effect"
	"pawl/machine/task"
	"pawl/machine/turn"
	"pawl/text/plan"
	"pawl/text/policy"
)

// Decide takes the lease on a queued task, or takes over a task at work whose runner is gone. Either way the token
// grows, so that whatever the former runner still sends is refused.
func (c *Claim) Decide(tx *Tx) error {
	t := tx.Task
	if t == nil {
		return pawl.Fail(pawl.CodeNotFound, "kernel.task_not_found", c.Task)
	}
	if tx.Session != nil && tx.Session.Paused() {
		return pawl.Fail(pawl.CodeBusy, "kernel.paused")
	}
	t.Epoch++
	t.Lease = Lease{Owner: c.Owner, Expires: tx.now.Add(tx.Config.LeaseTime)}
	tx.touch(t)
	tx.result = t.Epoch
	switch task.State(t.State) {
	case task.Running, task.Verifying:
		tx.record(t, AuditLeaseAdopted, audit.Info, map[string]any{"owner": c.Owner, "epoch": t.Epoch})
		if t.Effect == "" {
			tx.then(ThenAdvance)
		}
		return nil
	case task.Queued:
		if tx.now.Before(t.Due) {
			return pawl.Fail(pawl.CodeBusy, "kernel.not_due", t.Label, t.Due.UTC().Format(time.RFC3339))
		}
	}
	if t.StartedAt.IsZero() {
		t.StartedAt = tx.now
	}
	t.InterruptedStep = ""
	if err := tx.apply(Claimed, "claimed by "+c.Owner); err != nil {
		return err
	}
	if tx.Turn == nil || tx.Turn.State == string(turn.Idle) {
		if tx.Turn != nil || t.Turn == "" {
			newTurn(tx, t.ID)
			t.Turn = tx.Turn.ID
		}
		return tx.apply(NewAttempt, "attempt at the approved plan")
	}
	tx.then(ThenAdvance)
	return nil
}

// advance decides what comes next for the task at work and commits it as an effect. It is called after everything that
// moves the task on; while the session is paused or the task is to be canceled, nothing new is dispatched.
func advance(tx *Tx) error {
	t := tx.Task
	if tx.Session.Paused() || t.Effect != "" {
		return nil
	}
	if !t.CancelAt.IsZero() {
		tx.then(ThenCleanup)
		return nil
	}
	switch {
	case t.State == string(task.Verifying):
		return runGates(tx)
	case t.State != string(task.Running):
		return nil
	case !t.Place.InPlace && !t.Ready.Worktree:
		spec := effect.WorktreeSpec{Base: t.Base}
		if tx.Session.Number > 0 {
			spec.Branch = t.Branch // others have landed since the plan was made
		}
		tx.emit(effect.KindWorktree, spec, true)
		return nil
	case !t.Ready.Checkpoint:
		tx.emit(effect.KindCheckpoint, effect.CheckpointSpec{Name: checkpointName(tx)}, true)
		return nil
	}
	switch turn.State(tx.Turn.State) {
	case turn.Executing:
		if len(tx.Turn.Asked) > 0 && mayAsk(tx) {
			return parkTurn(tx)
		}
		return nextCall(tx)
	case turn.Verifying:
		tx.emit(effect.KindVerify, checksOf(tx, t), true).Effect.Record = t.Place.InPlace
	case turn.Recovering:
		askRepair(tx)
	}
	return nil
}

// nextCall commits the next call of the plan, or finishes the steps.
func nextCall(tx *Tx) error {
	t := tx.Task
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
			tx.touch(t)
			return workOn(tx, s)
		}
		if t.Cursor.Call < len(s.ToolCalls) {
			s.Status = plan.InProgress
			tx.touch(t)
			return callTool(tx, s, s.ToolCalls[t.Cursor.Call])
		}
		s.Status = plan.Done
		tx.touch(t)
		tx.record(t, AuditStepDone, audit.Info, map[string]any{"step": s.StepID, "title": s.Title})
		if t.Cursor.Failed == s.StepID {
			t.Cursor.Failed, t.Cursor.At = "", 0
		}
		t.Cursor.Step, t.Cursor.Call = "", 0
	}
}

// pickStep chooses the step to work on: the steps of the repair at work come before the plan's own, so that a step that
// failed is tried again only after its repair.
func pickStep(tx *Tx, p *plan.Plan) (int, bool) {
	if tx.Turn.Fix > 0 {
		for i, s := range p.Steps {
			if s.Repair() == tx.Turn.Fix && !s.Status.Closed() {
				return i, true
			}
		}
	}
	return plan.Next(*p)
}

func stepsDone(tx *Tx, p *plan.Plan) error {
	if stuck := plan.Stuck(*p); len(stuck) > 0 {
		return callFailed(tx, CallFailed, effect.Failure{
			What: "plan", Class: pawl.ClassInvalidArgs, Code: pawl.CodeInvalid, Output: "no step can run: " +
				p.Steps[stuck[0]].StepID + " is blocked",
		})
	}
	tx.touch(tx.Task)
	return tx.apply(StepsFinished, "all steps are done")
}

// callTool commits one tool call. The policy is asked again, because the profile may have changed since the approval;
// what it asks about is covered by the plan's approval or, in a repair, by one of its own.
func callTool(tx *Tx, s *plan.Step, c plan.ToolCallTemplate) error {
	if tx.Turn.Calls >= tx.Config.MaxCalls {
		return callFailed(tx, CallFailed, effect.Failure{What: "step " + s.StepID, Class: pawl.ClassPolicyDenied,
			Code: pawl.CodeBudget, Output: "the turn has used its tool calls"})
	}
	v, err := judgeCall(tx, c)
	var sites []effect.Site
	if err == nil {
		sites, err = callSites(tx, c)
	}
	if err != nil {
		r := effect.Failed(err)
		return callFailed(tx, CallFailed, effect.Failure{
			What: "step " + s.StepID, Class: pawl.ClassPolicyDenied, Code: r.Code, Key: r.Key, Args: r.Args,
			Cause: r.Cause,
		})
	}
	tool := tx.Config.Tools[c.Name].Info
	granted := ""
	if v.Decision == policy.Ask {
		granted = tx.Task.Approval
	}
	e := tx.emit(effect.KindTool, effect.ToolCall{
		CallID: tx.newID(), Name: c.Name, Version: tool.Version, Args: c.ArgsHint, Permissions: tool.Permissions,
		TraceID: tx.Turn.Trace, StepID: s.StepID, Fix: s.Repair(), Granted: granted, Network: len(sites) > 0,
		Sites: sites, Snapshot: !tool.Idempotent,
	}, tx.Config.repeatable(c.Name, c.ArgsHint))
	e.Effect.Timeout, e.Effect.Record = tx.Config.Call, !tool.Idempotent
	if tool.Idempotent {
		e.Effect.Delays = tx.Config.ReadDelays
	}
	tx.Turn.Calls++
	tx.touch(tx.Turn)
	return nil
}

// worktreeMade notes the worktree of the task at work and goes on.
func worktreeMade(tx *Tx, r effect.Receipt) error {
	made, err := effect.Decode[effect.WorktreeResult](r.Result)
	if !r.OK || err != nil {
		return block(tx, BlockedEnvironment, "", firstError(r.Err(), err))
	}
	t := tx.Task
	if made.Base != "" && made.Base != t.Base {
		tx.record(t, AuditBaseMoved, audit.Info, map[string]any{"from": t.Base, "to": made.Base})
		t.Base, t.Moved = made.Base, true
	}
	t.Ready.Worktree = true
	tx.touch(t)
	tx.then(ThenAdvance)
	return nil
}

// taskCheckpointed notes the checkpoint from which the task at work begins and goes on.
func taskCheckpointed(tx *Tx, r effect.Receipt) error {
	made, err := effect.Decode[effect.CheckpointResult](r.Result)
	if !r.OK || err != nil {
		return block(tx, BlockedEnvironment, "", firstError(r.Err(), err))
	}
	t := tx.Task
	t.Ready.Checkpoint, t.Checkpoint, t.Tree = true, &made, made.Tree
	t.Ready.Tracked, t.Spans = true, nil
	t.Baseline = tx.Session.Known.Of(made.Tree)
	tx.touch(t)
	keepCheckpoint(tx, CheckpointDoc{CheckpointResult: made, Task: t.ID, Place: t.Place}, t.ID, "")
	tx.Session.LastCheckpoint = made.Name
	tx.touch(tx.Session)
	tx.then(ThenAdvance)
	return nil
}

// toolDone takes the receipt of a tool call.
func toolDone(tx *Tx, r effect.Receipt) error {
	call, err := effect.Decode[effect.ToolCall](tx.Effect.Effect.Spec)
	if err != nil {
		return err
	}
	switch {
	case r.Code == pawl.CodeOutcomeUnknown && tx.Effect.Within == "" && len(call.Images) == 0:
		return callLost(tx, call)
	case tx.Effect.Within != "":
		callTook(tx, call, r) // the agent is told by the caller
		return nil
	case r.Code == pawl.CodeBudget && !r.OK:
		if wasAsked(tx, call) {
			workAgain(tx, call.Granted)
		}
		return block(tx, BlockedBudget, "", r.Err())
	case wasAsked(tx, call):
		return callAnswered(tx, call, r)
	}
	if r.OK {
		return callWorked(tx, call, r)
	}
	if environmental(r.Code) {
		return block(tx, BlockedEnvironment, "", r.Err())
	}
	what := CallFailed
	if r.Class == pawl.ClassToolTimeout {
		what = CallTimedOut
	}
	output := r.Detail
	if r.Cause != nil { // it is kept as data, not as its technical text
		output = ""
	}
	if res, err := effect.Decode[effect.ToolResult](r.Result); err == nil {
		output += string(res.Payload)
	}
	return callFailed(tx, what, effect.Failure{
		What: "step " + call.StepID + ": " + call.Name, Class: r.Class, Code: r.Code, Key: r.Key, Args: r.Args,
		Cause: r.Cause, Output: clip(output), Tree: tx.Task.Tree,
	})
}

// callLost asks the person about a call that was cut off in a way that nobody knows whether it happened. Of a write
// that is known, because its files can be looked at.
func callLost(tx *Tx, call effect.ToolCall) error {
	tx.Effect.State = EffectUnknown
	return block(tx, BlockedQuestion, tx.Effect.ID, pawl.Fail(pawl.CodeOutcomeUnknown, "kernel.outcome_unknown",
		call.StepID, call.Name, string(call.Args)))
}

func callWorked(tx *Tx, call effect.ToolCall, r effect.Receipt) error {
	t := tx.Task
	if err := tx.apply(CallWorked, call.Name); err != nil {
		return err
	}
	t.Cursor.Call++
	if t.InterruptedStep == call.StepID {
		t.InterruptedStep = ""
	}
	if t.Cursor.Failed == t.Cursor.Step && t.Cursor.Failed != "" {
		t.Cursor.Failed, t.Cursor.At = "", 0
		if err := tx.apply(StepRepaired, "the step that failed works now"); err != nil {
			return err
		}
		fixHeld(tx)
	}
	tx.touch(t)
	return nil
}
