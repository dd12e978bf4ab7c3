package kernel

import (
	"slices"
	"strconv"

	"pawl"
	"pawl/kernel/audit"
	"pawl/kernel/effect"
	"pawl/machine/task"
	"pawl/machine/turn"
	"pawl/text/plan"
	"pawl/text/policy"
)

// fixHeld clears the count of failed repairs after a success (docs/spec/session.md#a8).
func fixHeld(tx *Tx) {
	tx.Task.Fixes, tx.Session.AutoFix, tx.Turn.Fix = 0, 0, 0
	tx.touch(tx.Task)
	tx.touch(tx.Session)
	tx.touch(tx.Turn)
}

// callFailed takes a failed step to its repair, and a failed repair to the next one or to the fuse.
func callFailed(tx *Tx, what Event, f effect.Failure) error {
	t := tx.Task
	if t.Cursor.Failed == "" && tx.Turn.Fix == 0 || !inRepair(tx) {
		t.Cursor.Failed, t.Cursor.At = t.Cursor.Step, t.Cursor.Call
	}
	dropRepair(tx)
	t.Cursor.Step, t.Cursor.Call = "", 0
	if err := tx.apply(what, f.What); err != nil {
		return err
	}
	return workFailed(tx, f)
}

// inRepair reports whether the call at work belongs to the repair rather than to the plan.
func inRepair(tx *Tx) bool {
	i, ok := tx.Task.Plan.Find(tx.Task.Cursor.Step)
	return ok && tx.Task.Plan.Steps[i].Repair() > 0
}

// dropRepair skips what is left of the repair at work and puts a step in progress back to pending.
func dropRepair(tx *Tx) {
	p := tx.Task.Plan.Clone()
	for i := range p.Steps {
		s := &p.Steps[i]
		if s.Status == plan.InProgress {
			s.Status = plan.Pending
		}
		if s.Repair() > 0 && !s.Status.Closed() {
			s.Status = plan.Skipped
		}
	}
	tx.Task.Plan = &p
	tx.touch(tx.Task)
}

// disposeTask lets the task's mode judge its end (docs/spec/task.md#s5-4). A mode that crashes leaves a verdict of its
// own.
func disposeTask(tx *Tx, t *Task) {
	m, err := tx.Config.modeOf(t.Mode)
	if err != nil {
		return
	}
	func() {
		defer func() {
			if p := recover(); p != nil {
				t.Disposition = &Disposition{Verdict: "blocked", Reasoning: "the mode crashed"}
			}
		}()
		d := m.Disposition(modeTask(tx, t), t.Exit)
		t.Disposition = &d
	}()
	tx.touch(t)
}

// environmental reports whether a failure is one of the machine, which no repair of the work can mend
// (docs/spec/session.md#a13).
func environmental(c pawl.Code) bool {
	switch c {
	case pawl.CodeEnvironment, pawl.CodeDiskFull, pawl.CodeReadOnly, pawl.CodeSandbox, pawl.CodeIO:
		return true
	}
	return false
}

// block stops for an answer, an approval or the environment.
func block(tx *Tx, kind BlockedKind, effectID string, err error) error {
	t := tx.Task
	kept := info(err)
	b := &Blocked{Kind: kind, Task: t.ID, Effect: effectID, Error: kept}
	t.Blocked, tx.Session.Blocked = b, b
	t.Reason = kept.Key
	if t.State == string(task.Verifying) {
		t.Exit = string(task.ExitBlocked)
		return gatesFailed(tx, kind, err)
	}
	dropRepair(tx)
	tx.Turn.Outcome = string(turn.OutcomeFailed)
	tx.Turn.Fix = 0
	return tx.apply(Blocking, kept.Key)
}

// gatesFailed ends the task for good and blocks the session.
func gatesFailed(tx *Tx, kind BlockedKind, failure error) error {
	t := tx.Task
	if t.Exit == "" {
		t.Exit = string(task.ExitGateFailed)
	}
	kept := info(failure)
	t.Reason = kept.Key
	tx.Session.Blocked = &Blocked{Kind: kind, Task: t.ID, Error: kept}
	disposeTask(tx, t)
	return tx.apply(GatesFailed, kept.Key)
}

// workFailed counts a failure: the first one opens the repair, a later one means that the repair at work failed. The
// turn is in RECOVERING already.
func workFailed(tx *Tx, f effect.Failure) error {
	t := tx.Task
	again := len(t.Failures) > 0 && sameFailure(t.Failures[len(t.Failures)-1], f)
	t.Failures = append(slices.Clip(t.Failures), f)
	tx.Turn.Failure = &f
	tx.touch(t)
	tx.touch(tx.Turn)
	if tx.Turn.Fix > 0 {
		fixFailed(tx, again)
	}
	if t.Fixes >= tx.Config.MaxFixes {
		return blowFuse(tx, f, again)
	}
	tx.then(ThenAdvance)
	return nil
}

// sameFailure reports whether a failure came back as it was, on the very tree on which it was seen before.
func sameFailure(before, now effect.Failure) bool {
	if before.What != now.What || before.Tree != now.Tree || now.Tree == "" {
		return false
	}
	return now.Fingerprint != "" && now.Fingerprint == before.Fingerprint || now.Fingerprint == "" &&
		now.Output == before.Output
}

// fixFailed counts a repair that failed. Again says that it changed nothing and that the same failure came back.
func fixFailed(tx *Tx, again bool) {
	tx.Task.Fixes++
	tx.Session.AutoFix = tx.Task.Fixes
	tx.touch(tx.Session)
	tx.record(tx.Task, AuditFixFailed, audit.Warn, map[string]any{"attempt": tx.Task.Fixes, "repair": tx.Turn.Fix,
		"failure": tx.Turn.Failure.What, "again": again})
	tx.Turn.Fix = 0
}

// blowFuse stops after the last repair failed: the session needs a person.
func blowFuse(tx *Tx, f effect.Failure, again bool) error {
	t, key := tx.Task, "kernel.fuse"
	if again {
		key = "kernel.fuse_again"
	}
	t.Exit, t.Reason = string(task.ExitRetryExhausted), f.What
	t.Retry.because(f.What + " " + f.Fingerprint)
	tx.Turn.Outcome = string(turn.OutcomeFailed)
	tx.Session.Blocked = &Blocked{Kind: BlockedFuse, Task: t.ID, Error: effect.Fault{
		Class: pawl.ClassBuildFail, Code: pawl.CodeBlocked, Key: key, Args: []string{strconv.Itoa(t.Fixes),
			f.What}, Detail: f.Output,
	}}
	disposeTask(tx, t)
	return tx.apply(FuseBlown, "the last repair failed: "+f.What)
}

// askRepair asks the agent for a repair of the present failure.
func askRepair(tx *Tx) {
	t := tx.Task
	spec := effect.RepairSpec{Agent: tx.Run.Agent, Plan: *t.Plan, Attempt: t.Fixes + 1, Failure: *tx.Turn.Failure,
		Earlier: t.Failures[:max(0, len(t.Failures)-1)]}
	if tx.Run.Context != nil {
		spec.Context = *tx.Run.Context
	}
	for _, s := range t.Plan.Steps {
		if s.Repair() > 0 {
			spec.Proposed = append(spec.Proposed, s)
		}
	}
	tx.emit(effect.KindRepair, spec, true)
}

// repairMade takes the agent's repair: it is checked and judged like a plan. No repair, or one that is not allowed,
// counts as a failed one. An agent that would know none the next time either is not asked again: nothing was tried, and
// a person is needed now.
func repairMade(tx *Tx, r effect.Receipt) error {
	if r.Code == pawl.CodeBudget {
		return block(tx, BlockedBudget, "", r.Err())
	}
	result, err := effect.Decode[effect.RepairResult](r.Result)
	if err == nil && r.OK && len(result.Steps) == 0 && result.Final {
		tx.record(tx.Task, AuditFixUnknown, audit.Warn,
			map[string]any{"failure": tx.Turn.Failure.What, "why": result.Why, "failed": tx.Task.Fixes})
		unknown := pawl.Fail(pawl.CodeBuildFail, "kernel.no_repair", tx.Turn.Failure.What)
		if result.Why != "" {
			unknown = unknown.Because(pawl.Fail(pawl.CodeBlocked, result.Why))
		}
		if tx.Issue != nil && tx.Issue.Number != 0 {
			return giveUp(tx, unknown)
		}
		return block(tx, BlockedNoRepair, "", unknown)
	}
	if err == nil && r.OK && len(result.Steps) > 0 {
		next, asks, err := planRepair(tx, result.Steps)
		if err == nil {
			return startRepair(tx, next, asks, result.Why)
		}
		tx.record(tx.Task, AuditFixRefused, audit.Warn, info(err))
	}
	tx.Turn.Fix = tx.Task.Repairs
	fixFailed(tx, false)
	if tx.Task.Fixes >= tx.Config.MaxFixes {
		return blowFuse(tx, *tx.Turn.Failure, false)
	}
	tx.then(ThenAdvance)
	return nil
}

// giveUp fails the task of an issue for which no repair is known: the board goes on with others, and tells the issues
// that depend on this one, instead of waiting with them for a person.
func giveUp(tx *Tx, unknown error) error {
	t := tx.Task
	kept := info(unknown)
	t.Exit, t.Reason = string(task.ExitFatalError), kept.Key
	tx.Session.Blocked = &Blocked{Kind: BlockedNoRepair, Task: t.ID, Error: kept}
	dropRepair(tx)
	tx.Turn.Outcome, tx.Turn.Fix = string(turn.OutcomeFailed), 0
	disposeTask(tx, t)
	return tx.apply(RepairUnknown, "no repair is known: "+tx.Turn.Failure.What)
}

// planRepair appends the steps of a repair to the plan and reports whether the policy asks about one of their calls.
func planRepair(tx *Tx, steps []plan.Step) (plan.Plan, bool, error) {
	next, err := plan.FixSteps(*tx.Task.Plan, tx.Task.Repairs+1, steps)
	if err != nil {
		return plan.Plan{}, false, err
	}
	limits := tx.Config.Plan
	limits.MaxRepairs = tx.Task.Repairs + 1
	if err := plan.Check(next, tx.Config.schema, limits); err != nil {
		return plan.Plan{}, false, err
	}
	asks := false
	for _, s := range steps {
		for _, c := range s.ToolCalls {
			v, err := judgeCall(tx, c)
			if err == nil {
				_, err = callSites(tx, c)
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
func startRepair(tx *Tx, next plan.Plan, asks bool, why string) error {
	t := tx.Task
	if asks && tx.Session.RunMode == pawl.Autonomous {
		tx.record(t, AuditAutonomousBlocked, audit.Warn, map[string]any{"why": why})
		return block(tx, BlockedApproval, "", pawl.Fail(pawl.CodeApprovalNeeded, "kernel.repair_asks", why))
	}
	t.Plan = &next
	t.Repairs++
	tx.Turn.Fix = t.Repairs
	tx.touch(t)
	tx.touch(tx.Turn)
	tx.record(t, AuditFixPlanned, audit.Info, map[string]any{"repair": t.Repairs, "attempt": t.Fixes + 1, "why": why})
	if asks {
		tx.Turn.Return = string(turn.Recovering)
		askFor(tx, "action", t.ID, plan.Hash(next), policy.SingleAction, why)
		return tx.apply(FixAsks, why)
	}
	return tx.apply(FixPlanned, why)
}
