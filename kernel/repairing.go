package kernel

import (
	"slices"

	"pawl"
	"pawl/audit"
	"pawl/effect"
	"pawl/machine/task"
	"pawl/machine/turn"
	"pawl/plan"
	"pawl/policy"
)

// repairer decides about failures and their repairs, and when the fuse blows.
type repairer struct{ *work }

// fixHeld clears the count of failed repairs after a success (docs/spec/session.md#a8).
func (w repairer) fixHeld() {
	w.Task.Fixes, w.Session.AutoFix, w.Turn.Fix = 0, 0, 0
	w.touch(w.Task)
	w.touch(w.Session)
	w.touch(w.Turn)
}

// callFailed takes a failed step to its repair, and a failed repair to the next one or to the fuse.
func (w repairer) callFailed(what Happening, f effect.Failure) error {
	t := w.Task
	if t.Cursor.Failed == "" && w.Turn.Fix == 0 || !w.inRepair() {
		t.Cursor.Failed, t.Cursor.At = t.Cursor.Step, t.Cursor.Call
	}
	w.dropRepair()
	t.Cursor.Step, t.Cursor.Call = "", 0
	if err := w.raise(what, f.What); err != nil {
		return err
	}
	return w.failed(f)
}

// inRepair reports whether the call at work belongs to the repair rather than to the plan.
func (w repairer) inRepair() bool {
	i, ok := w.Task.Plan.Find(w.Task.Cursor.Step)
	return ok && w.Task.Plan.Steps[i].Repair() > 0
}

// dropRepair skips what is left of the repair at work and puts a step in progress back to pending.
func (w repairer) dropRepair() {
	p := w.Task.Plan.Clone()
	for i := range p.Steps {
		s := &p.Steps[i]
		if s.Status == plan.InProgress {
			s.Status = plan.Pending
		}
		if s.Repair() > 0 && !s.Status.Closed() {
			s.Status = plan.Skipped
		}
	}
	w.Task.Plan = &p
	w.touch(w.Task)
}

// failed counts a failure: the first one opens the repair, a later one means that the repair at work failed. The turn is
// in RECOVERING already.
func (w repairer) failed(f effect.Failure) error {
	t := w.Task
	again := len(t.Failures) > 0 && sameFailure(t.Failures[len(t.Failures)-1], f)
	t.Failures = append(slices.Clip(t.Failures), f)
	w.Turn.Failure = &f
	w.touch(t)
	w.touch(w.Turn)
	if w.Turn.Fix > 0 {
		w.fixFailed(again)
	}
	if t.Fixes >= w.Config.MaxFixes {
		return w.blowFuse(f, again)
	}
	return stepper{w.work}.advance()
}

// sameFailure reports whether a failure came back as it was, on the very tree on which it was seen before.
func sameFailure(before, now effect.Failure) bool {
	if before.What != now.What || before.Tree != now.Tree || now.Tree == "" {
		return false
	}
	return now.Fingerprint != "" && now.Fingerprint == before.Fingerprint || now.Fingerprint == "" && now.Output == before.Output
}

// fixFailed counts a repair that failed. Again says that it changed nothing and that the same failure came back.
func (w repairer) fixFailed(again bool) {
	w.Task.Fixes++
	w.Session.AutoFix = w.Task.Fixes
	w.touch(w.Session)
	w.record(w.Task, "FIX_FAILED", audit.Warn, map[string]any{"attempt": w.Task.Fixes, "repair": w.Turn.Fix, "failure": w.Turn.Failure.What, "again": again})
	w.Turn.Fix = 0
}

// blowFuse stops after the last repair failed: the session needs a person.
func (w repairer) blowFuse(f effect.Failure, again bool) error {
	t, key := w.Task, "kernel.fuse"
	if again {
		key = "kernel.fuse_again"
	}
	t.Exit, t.Reason = string(task.ExitRetryExhausted), f.What
	t.Retry.because(f.What + " " + f.Fingerprint)
	w.Turn.Outcome = string(turn.OutcomeFailed)
	w.Session.Blocked = &Blocked{Kind: BlockedFuse, Task: t.ID, Error: ErrorInfo{
		Class: pawl.ClassBuildFail, Code: pawl.CodeBlocked, Key: key, Args: []string{itoa(t.Fixes), f.What}, Detail: f.Output,
	}}
	w.dispose(t)
	if err := w.raise(FuseBlown, "the last repair failed: "+f.What); err != nil {
		return err
	}
	w.release(t)
	return nil
}

// dispose lets the task's mode judge its end (docs/spec/task.md#s5-4). A mode that crashes leaves a verdict of its own.
func (w *work) dispose(t *Task) {
	m, err := w.Config.modeOf(t.Mode)
	if err != nil {
		return
	}
	func() {
		defer func() {
			if p := recover(); p != nil {
				t.Disposition = &Disposition{Verdict: "blocked", Reasoning: "the mode crashed"}
			}
		}()
		d := m.Disposition(w.modeTask(t), t.Exit)
		t.Disposition = &d
	}()
	w.touch(t)
}

// release gives the lease back. The token stays, so that the former holder's reports are refused by the next claim.
func (w *work) release(t *Task) {
	t.Lease = Lease{}
	w.touch(t)
}

// askRepair asks the agent for a repair of the present failure.
func (w repairer) askRepair() {
	t := w.Task
	spec := effect.RepairSpec{Agent: w.Run.Agent, Plan: *t.Plan, Attempt: t.Fixes + 1, Failure: *w.Turn.Failure, Earlier: t.Failures[:max(0, len(t.Failures)-1)]}
	if w.Run.Context != nil {
		spec.Context = *w.Run.Context
	}
	for _, s := range t.Plan.Steps {
		if s.Repair() > 0 {
			spec.Proposed = append(spec.Proposed, s)
		}
	}
	w.emit(effect.KindRepair, spec, true)
}

// repairMade takes the agent's repair: it is checked and judged like a plan. No repair, or one that is not allowed, counts
// as a failed one. An agent that would know none the next time either is not asked again: nothing was tried, and a person is
// needed now.
func (w repairer) repairMade(r effect.Receipt) error {
	if r.Code == pawl.CodeBudget {
		return stepper{w.work}.block(BlockedBudget, "", r.Err())
	}
	result, err := effect.Decode[effect.RepairResult](r.Result)
	if err == nil && r.OK && len(result.Steps) == 0 && result.Final {
		w.record(w.Task, "FIX_UNKNOWN", audit.Warn, map[string]any{"failure": w.Turn.Failure.What, "why": result.Why, "failed": w.Task.Fixes})
		unknown := pawl.Fail(pawl.CodeBuildFail, "kernel.no_repair", w.Turn.Failure.What)
		if result.Why != "" {
			unknown = unknown.Because(pawl.Fail(pawl.CodeBlocked, result.Why))
		}
		if w.Issue != nil && w.Issue.Number != 0 {
			return w.giveUp(unknown)
		}
		return stepper{w.work}.block(BlockedNoRepair, "", unknown)
	}
	if err == nil && r.OK && len(result.Steps) > 0 {
		next, asks, err := w.planRepair(result.Steps)
		if err == nil {
			return w.startRepair(next, asks, result.Why)
		}
		w.record(w.Task, "FIX_REFUSED", audit.Warn, info(err))
	}
	w.Turn.Fix = w.Task.Repairs
	w.fixFailed(false)
	if w.Task.Fixes >= w.Config.MaxFixes {
		return w.blowFuse(*w.Turn.Failure, false)
	}
	return stepper{w.work}.advance()
}

// giveUp fails the task of an issue for which no repair is known: the board goes on with others, and tells the issues that depend on
// this one, instead of waiting with them for a person.
func (w repairer) giveUp(unknown error) error {
	t := w.Task
	kept := info(unknown)
	t.Exit, t.Reason = string(task.ExitFatalError), kept.Key
	w.Session.Blocked = &Blocked{Kind: BlockedNoRepair, Task: t.ID, Error: kept}
	w.dropRepair()
	w.Turn.Outcome, w.Turn.Fix = string(turn.OutcomeFailed), 0
	w.dispose(t)
	if err := w.raise(RepairUnknown, "no repair is known: "+w.Turn.Failure.What); err != nil {
		return err
	}
	w.release(t)
	return nil
}

// planRepair appends the steps of a repair to the plan and reports whether the policy asks about one of their calls.
func (w repairer) planRepair(steps []plan.Step) (plan.Plan, bool, error) {
	next, err := plan.FixSteps(*w.Task.Plan, w.Task.Repairs+1, steps)
	if err != nil {
		return plan.Plan{}, false, err
	}
	limits := w.Config.Plan
	limits.MaxRepairs = w.Task.Repairs + 1
	if err := plan.Check(next, w.schema, limits); err != nil {
		return plan.Plan{}, false, err
	}
	asks := false
	for _, s := range steps {
		for _, c := range s.ToolCalls {
			v, err := planner{w.work}.judgeCall(c)
			if err == nil {
				_, err = planner{w.work}.sites(c)
			}
			if err != nil {
				return plan.Plan{}, false, err
			}
			asks = asks || v.Decision == policy.Ask
		}
	}
	return next, asks, nil
}

// startRepair begins a repair, after asking where the policy wants to be asked: unattended runs block instead
// (docs/spec/task.md#d7).
func (w repairer) startRepair(next plan.Plan, asks bool, why string) error {
	t := w.Task
	if asks && w.Session.RunMode == pawl.Autonomous {
		w.record(t, "AUTONOMOUS_BLOCKED", audit.Warn, map[string]any{"why": why})
		return stepper{w.work}.block(BlockedApproval, "", pawl.Fail(pawl.CodeApprovalNeeded, "kernel.repair_asks", why))
	}
	t.Plan = &next
	t.Repairs++
	w.Turn.Fix = t.Repairs
	w.touch(t)
	w.touch(w.Turn)
	w.record(t, "FIX_PLANNED", audit.Info, map[string]any{"repair": t.Repairs, "attempt": t.Fixes + 1, "why": why})
	if asks {
		w.Turn.Return = string(turn.Recovering)
		planner{w.work}.askFor("action", t.ID, plan.Hash(next), policy.SingleAction, why)
		return w.raise(FixAsks, why)
	}
	if err := w.raise(FixPlanned, why); err != nil {
		return err
	}
	return stepper{w.work}.advance()
}
