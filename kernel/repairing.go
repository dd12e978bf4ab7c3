package kernel

import (
	"pawl"
	"pawl/kernel/audit"
	"pawl/kernel/effect"
	"pawl/machine/task"
	"pawl/machine/turn"
	"pawl/text/plan"
	"pawl/text/policy"
)

// askRepair asks the agent for a repair of the present failure.
func askRepair(tx *Tx) error {
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
	return nil
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

// repairAllowed makes the repair that a person allowed.
func repairAllowed(tx *Tx, a *Approval) error {
	if err := tx.apply(FixAllowed, "allowed"); err != nil {
		return err
	}
	tx.Task.Approval = a.ID
	tx.Turn.Return = ""
	tx.Session.Approval = ""
	tx.touch(tx.Task)
	return tx.apply(FixPlanned, "allowed by "+string(tx.env.Actor))
}

// repairRefused looks for another repair.
func repairRefused(tx *Tx, _ *Approval, reason string) error {
	if err := refuseAction(tx, reason); err != nil {
		return err
	}
	dropRepair(tx)
	return workFailed(tx, effect.Failure{What: "repair refused", Class: pawl.ClassPolicyDenied,
		Code: pawl.CodeUserDenied, Output: reason})
}
