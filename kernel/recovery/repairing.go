package recovery

import (
	"pawl"
	"pawl/kernel"
	"pawl/kernel/audit"
	"pawl/kernel/effect"
	"pawl/machine/task"
	"pawl/machine/turn"
	"pawl/text/plan"
	"pawl/text/policy"
)

// AskRepair asks the agent for a repair of the present failure.
func AskRepair(tx *kernel.Tx) error {
	t := tx.Task
	spec := effect.RepairSpec{Agent: tx.Run.Agent, Plan: t.Plan.Withheld(), Attempt: t.Fixes + 1, Failure: *tx.Turn.Failure,
		Earlier: t.Failures[:max(0, len(t.Failures)-1)]}
	if tx.Run.Context != nil {
		spec.Context = *tx.Run.Context
	}
	for _, s := range t.Plan.Steps {
		if s.Repair() > 0 {
			spec.Proposed = append(spec.Proposed, s)
		}
	}
	tx.Emit(effect.KindRepair, spec, true)
	return nil
}

// RepairMade takes the agent's repair: it is checked and judged like a plan. No repair, or one that is not allowed,
// counts as a failed one. An agent that would know none the next time either is not asked again: nothing was tried, and
// a person is needed now.
func RepairMade(tx *kernel.Tx, r effect.Receipt) error {
	if r.Code == pawl.CodeBudget {
		return kernel.Block(tx, kernel.BlockedBudget, "", r.Err())
	}
	result, err := effect.Decode[effect.RepairResult](r.Result)
	if err == nil && r.OK && len(result.Steps) == 0 && result.Final {
		tx.Record(tx.Task, kernel.AuditFixUnknown, audit.Warn,
			map[string]any{"failure": tx.Turn.Failure.What, "why": result.Why, "failed": tx.Task.Fixes})
		unknown := pawl.Fail(pawl.CodeBuildFail, "kernel.no_repair", tx.Turn.Failure.What)
		if result.Why != "" {
			unknown = unknown.Because(pawl.Fail(pawl.CodeBlocked, result.Why))
		}
		if tx.Issue != nil && tx.Issue.Number != 0 {
			return giveUp(tx, unknown)
		}
		return kernel.Block(tx, kernel.BlockedNoRepair, "", unknown)
	}
	if err == nil && r.OK && len(result.Steps) > 0 {
		next, asks, err := planRepair(tx, result.Steps)
		if err == nil {
			return startRepair(tx, next, asks, result.Why)
		}
		tx.Record(tx.Task, kernel.AuditFixRefused, audit.Warn, kernel.Info(err))
	}
	tx.Turn.Fix = tx.Task.Repairs
	kernel.FixFailed(tx, false)
	if tx.Task.Fixes >= tx.Config.MaxFixes {
		return kernel.BlowFuse(tx, *tx.Turn.Failure, false)
	}
	tx.Then(kernel.ThenAdvance)
	return nil
}

// giveUp fails the task of an issue for which no repair is known: the board goes on with others, and tells the issues
// that depend on this one, instead of waiting with them for a person.
func giveUp(tx *kernel.Tx, unknown error) error {
	t := tx.Task
	kept := kernel.Info(unknown)
	t.Exit, t.Reason = string(task.ExitFatalError), kept.Key
	tx.Session.Blocked = &kernel.Blocked{Kind: kernel.BlockedNoRepair, Task: t.ID, Error: kept}
	kernel.DropRepair(tx)
	tx.Turn.Outcome, tx.Turn.Fix = string(turn.OutcomeFailed), 0
	kernel.DisposeTask(tx, t)
	return tx.Apply(kernel.RepairUnknown, "no repair is known: "+tx.Turn.Failure.What)
}

// planRepair appends the steps of a repair to the plan and reports whether the policy asks about one of their calls.
func planRepair(tx *kernel.Tx, steps []plan.Step) (plan.Plan, bool, error) {
	next, err := plan.FixSteps(*tx.Task.Plan, tx.Task.Repairs+1, steps)
	if err != nil {
		return plan.Plan{}, false, err
	}
	limits := tx.Config.Plan
	limits.MaxRepairs = tx.Task.Repairs + 1
	if err := plan.Check(next, tx.Config.Schema, limits); err != nil {
		return plan.Plan{}, false, err
	}
	asks := false
	for _, s := range steps {
		for _, c := range s.ToolCalls {
			v, err := kernel.JudgeCall(tx, c)
			if err == nil {
				_, err = kernel.CallSites(tx, c)
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
func startRepair(tx *kernel.Tx, next plan.Plan, asks bool, why string) error {
	t := tx.Task
	if asks && tx.Session.RunMode == pawl.Autonomous {
		tx.Record(t, kernel.AuditAutonomousBlocked, audit.Warn, map[string]any{"why": why})
		return kernel.Block(tx, kernel.BlockedApproval, "", pawl.Fail(pawl.CodeApprovalNeeded, "kernel.repair_asks",
			why))
	}
	t.Plan = &next
	t.Repairs++
	tx.Turn.Fix = t.Repairs
	tx.Touch(t)
	tx.Touch(tx.Turn)
	tx.Record(t, kernel.AuditFixPlanned, audit.Info, map[string]any{"repair": t.Repairs, "attempt": t.Fixes + 1,
		"why": why})
	if asks {
		tx.Turn.Return = string(turn.Recovering)
		kernel.AskFor(tx, "action", t.ID, plan.Hash(next), policy.SingleAction, why)
		return tx.Apply(kernel.FixAsks, why)
	}
	return tx.Apply(kernel.FixPlanned, why)
}

// RepairAllowed makes the repair that a person allowed.
func RepairAllowed(tx *kernel.Tx, a *kernel.Approval) error {
	if err := tx.Apply(kernel.FixAllowed, "allowed"); err != nil {
		return err
	}
	tx.Task.Approval = a.ID
	tx.Turn.Return = ""
	tx.Session.Approval = ""
	tx.Touch(tx.Task)
	return tx.Apply(kernel.FixPlanned, "allowed by "+string(tx.Env.Actor))
}

// RepairRefused looks for another repair.
func RepairRefused(tx *kernel.Tx, _ *kernel.Approval, reason string) error {
	if err := kernel.RefuseAction(tx, reason); err != nil {
		return err
	}
	kernel.DropRepair(tx)
	return kernel.FailWork(tx, effect.Failure{What: "repair refused", Class: pawl.ClassPolicyDenied,
		Code: pawl.CodeUserDenied, Output: reason})
}
