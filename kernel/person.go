package kernel

import (
	"slices"
	"strings"

	"pawl"
	"pawl/kernel/audit"
	"pawl/kernel/effect"
	"pawl/machine/session"
	"pawl/machine/task"
	"pawl/machine/turn"
	"pawl/text/plan"
	"pawl/text/policy"
)

// minHash is the least number of characters of a hash that an approval may be given with.
const minHash = 8

// pendingApproval returns the open approval, checked against the hash that the person saw.
func pendingApproval(tx *Tx, hash string) (*Approval, error) {
	a := tx.Approval
	if a == nil || a.State != ApprovalPending {
		return nil, pawl.Fail(pawl.CodeInvalidTransition, "kernel.nothing_to_approve", stateName(tx))
	}
	if len(hash) < minHash || !strings.HasPrefix(a.Hash, strings.ToLower(hash)) {
		return nil, pawl.Fail(pawl.CodeApprovalStale, "kernel.approval_stale", hash, short(a.Hash))
	}
	return a, nil
}

func stateName(tx *Tx) string {
	if tx.Session == nil {
		return "-"
	}
	return tx.Session.State
}

// Decide grants the open question.
func (c *Approve) Decide(tx *Tx) error {
	a, err := pendingApproval(tx, c.Hash)
	if err != nil {
		return err
	}
	a.Way = c.Way
	if a.About == "plan" {
		return grantPlan(tx, tx.env.Actor, "approved")
	}
	answerApproval(tx, a, ApprovalGranted, tx.env.Actor, "")
	if a.About == aboutChecks {
		return checksAllowed(tx, a)
	}
	if a.About == "call" {
		return callAllowed(tx, a)
	}
	if err := tx.apply(FixAllowed, "allowed"); err != nil {
		return err
	}
	tx.Task.Approval = a.ID
	tx.Turn.Return = ""
	tx.Session.Approval = ""
	tx.touch(tx.Task)
	return tx.apply(FixPlanned, "allowed by "+string(tx.env.Actor))
}

// answerApproval settles an approval.
func answerApproval(tx *Tx, a *Approval, state string, by pawl.Actor, note string) {
	a.State, a.AnsweredBy, a.AnsweredAt, a.Note = state, by, tx.now, note
	level := audit.Info
	if state != ApprovalGranted {
		level = audit.Warn
	}
	data := map[string]any{"about": a.About, "hash": a.Hash, "by": by, "note": note}
	if a.Way != "" {
		data["way"] = a.Way
	}
	tx.record(a, auditApprovalAs.in(state), level, data)
}

// grantPlan approves the plan that waits, in the name of a person or of a policy, and queues its task.
func grantPlan(tx *Tx, by pawl.Actor, reason string) error {
	answerApproval(tx, tx.Approval, ApprovalGranted, by, "")
	grants, err := tx.Config.grants(tx.Task.Plan)
	if err != nil {
		return err
	}
	tx.Task.Approval, tx.Task.Named, tx.Task.Grants = tx.Approval.ID, namedFiles(tx, tx.Task.Plan), grants
	tx.Solution.Bound = true
	tx.touch(tx.Solution)
	tx.touch(tx.Task)
	tx.Task.Due = tx.now
	if err := tx.apply(approvalEvent(tx, by), reason); err != nil {
		return err
	}
	tx.Session.Approval = ""
	tx.result = tx.Task.ID
	return nil
}

// Decide refuses the open question.
func (c *Deny) Decide(tx *Tx) error {
	a := tx.Approval
	if a == nil || a.State != ApprovalPending {
		return pawl.Fail(pawl.CodeInvalidTransition, "kernel.nothing_to_approve", stateName(tx))
	}
	if a.About == "plan" {
		return declinePlan(tx, c.Reason, "declined")
	}
	answerApproval(tx, a, ApprovalRefused, tx.env.Actor, c.Reason)
	if a.About == aboutChecks {
		return checksRefused(tx, a, c.Reason)
	}
	tx.Session.Approval, tx.Turn.Return = "", string(turn.Recovering)
	if err := tx.apply(FixRefused, c.Reason); err != nil {
		return err
	}
	tx.Turn.Return = ""
	failure := effect.Failure{What: "repair refused", Class: pawl.ClassPolicyDenied, Code: pawl.CodeUserDenied, Output: c.Reason}
	if a.About == "call" {
		failure.What, failure.Output = "call refused", strings.TrimSpace(a.Detail+"\n"+c.Reason)
		wantedCalls(tx)
	}
	dropRepair(tx)
	return workFailed(tx, failure)
}

// declinePlan ends the run whose plan waits for approval; nothing was changed.
func declinePlan(tx *Tx, reason, outcome string) error {
	answerApproval(tx, tx.Approval, ApprovalRefused, tx.env.Actor, reason)
	tx.Turn.Outcome = string(turn.OutcomeDeclined)
	tx.Task.Cleanup = &effect.CleanupResult{Performed: []string{}, Failed: []string{}, Skipped: []string{"no cleanup required"}}
	if reason != "" {
		tx.Issue.hear(reason)
	}
	if tx.Issue.Number > 0 && outcome != "revised" {
		tx.Issue.Paused = true // what a person has turned down is not planned again by itself
	}
	if err := tx.apply(PlanDeclined, reason); err != nil {
		return err
	}
	endRun(tx, outcome)
	return nil
}

// Decide sends the plan back to planning: the decline and the new requirement in one transaction (docs/spec/session.md#a6).
func (c *Revise) Decide(tx *Tx) error {
	if tx.Session == nil || tx.Session.State != string(session.Confirming) || tx.Run == nil || tx.Approval == nil {
		return pawl.Fail(pawl.CodeInvalidTransition, "kernel.nothing_to_revise", stateName(tx))
	}
	last := *tx.Run
	next := &Start{
		Requirement: last.Requirement, Given: last.Given, Name: last.GivenName, Place: last.Place,
		RunMode: tx.Session.RunMode, AutoApprove: "", Agent: last.Agent,
		Command: last.Command, Lang: last.Lang, AsIs: true,
	}
	if len(c.Given) > 0 {
		next.Given, next.Name = c.Given, c.Name
	}
	feedback := slices.Clone(last.Feedback)
	if c.Feedback != "" {
		feedback = append(feedback, c.Feedback)
	}
	if err := declinePlan(tx, c.Feedback, "revised"); err != nil {
		return err
	}
	return takeUp(tx, next, feedback)
}

// Decide replaces the plan that waits for approval. The approval of the old one is void, because it was bound to the
// old hash.
func (c *EditPlan) Decide(tx *Tx) error {
	if tx.Session == nil || tx.Session.State != string(session.Confirming) || tx.Approval == nil || tx.Approval.State != ApprovalPending {
		return pawl.Fail(pawl.CodeInvalidTransition, "kernel.nothing_to_edit", stateName(tx))
	}
	if c.Base != tx.Solution.Hash {
		return pawl.Fail(pawl.CodeConflict, "kernel.edit_stale", short(c.Base), short(tx.Solution.Hash))
	}
	p := c.Plan
	p.PlanID, p.CreatedAt = tx.Solution.Plan.PlanID, tx.Solution.Plan.CreatedAt
	verdicts, err := judgePlan(tx, &p)
	if err == nil {
		err = checkable(tx, p)
	}
	if err != nil {
		return err
	}
	hash := plan.Hash(p)
	if hash == tx.Solution.Hash {
		tx.result = hash
		return nil
	}
	answerApproval(tx, tx.Approval, ApprovalStale, tx.env.Actor, "the plan was edited")
	s, t := tx.Solution, tx.Task
	s.Plan, s.Hash, s.Verdicts, s.Risk = p, hash, verdicts, p.RiskLevel
	s.Checks = effect.SelectChecks(p.Verification, tx.Run.Context.Checks)
	t.Plan, t.PlanHash, t.Checks, t.Title = &p, hash, s.Checks, p.Goal
	tx.touch(s)
	tx.touch(t)
	tx.record(s, AuditPlanEdited, audit.Info, map[string]any{"from": c.Base, "to": hash})
	askFor(tx, "plan", tx.Run.ID, hash, policy.Session, p.Goal)
	tx.result = hash
	return nil
}

// Decide stops dispatch at the next safe point; the state stays (docs/spec/session.md#a1).
func (*Pause) Decide(tx *Tx) error {
	s := tx.Session
	if s == nil || s.State == string(session.Idle) || s.State == string(session.Blocked) || s.State == string(session.Archiving) {
		return pawl.Fail(pawl.CodeInvalidTransition, "kernel.nothing_to_pause", stateName(tx))
	}
	if s.Paused {
		return nil
	}
	s.Paused, s.PausedAt, s.PausedBy = true, tx.now, tx.env.Actor
	tx.record(s, AuditSessionPaused, audit.Info, map[string]any{"state": s.State})
	return nil
}

// resumeWork goes on after a pause. Without one there is nothing to change; the runner is what goes on.
func (*Resume) Decide(tx *Tx) error {
	s := tx.Session
	if s == nil {
		return pawl.Fail(pawl.CodeNotFound, "kernel.not_initialised")
	}
	if !s.Paused {
		return nil
	}
	s.Paused, s.PausedAt, s.PausedBy = false, tx.now, ""
	tx.record(s, AuditSessionResumed, audit.Info, map[string]any{"state": s.State})
	if tx.Task != nil && sessionWorks(tx) {
		tx.then(ThenAdvance)
	}
	return nil
}

// Decide ends the work by force: the session is BLOCKED and a person decides how to go on.
func (c *Stop) Decide(tx *Tx) error {
	s := tx.Session
	if s == nil || !sessionWorks(tx) {
		return pawl.Fail(pawl.CodeInvalidTransition, "kernel.nothing_to_stop", stateName(tx))
	}
	if tx.Task == nil || !open(tx.Task) {
		return pawl.Fail(pawl.CodeInvalidTransition, "kernel.nothing_to_stop", s.State)
	}
	t := tx.Task
	unknown := dropEffect(tx)
	s.Blocked = &Blocked{Kind: BlockedStopped, Task: t.ID, Effect: unknown, Error: effect.Fault{
		Class: pawl.ClassCanceled, Code: pawl.CodeCanceled, Key: "kernel.stopped", Args: []string{string(tx.env.Actor), c.Reason},
	}}
	if c.Copied != "" {
		s.Blocked.Error.Key, s.Blocked.Error.Args = "kernel.stopped_copy", []string{c.Copied}
	}
	if t.State == string(task.Queued) {
		// The seed has no way from queued to failed; the task is taken first, so that the stop has a row to go by.
		t.Epoch++
		t.Lease.Owner = "stop"
		if err := tx.apply(Claimed, "taken to be stopped"); err != nil {
			return err
		}
	}
	if a := tx.Approval; a != nil && a.State == ApprovalPending {
		// What was asked about belongs to the turn that ends here; whoever goes on is asked anew.
		answerApproval(tx, a, ApprovalStale, tx.env.Actor, "stopped")
		s.Approval = ""
		if tx.Turn != nil {
			tx.Turn.Return = ""
		}
	}
	t.Exit, t.Reason, t.Blocked = string(task.ExitUserStopped), c.Reason, s.Blocked
	if t.Plan != nil {
		dropRepair(tx)
	}
	if tx.Turn != nil {
		tx.Turn.Outcome = string(turn.OutcomeCanceled)
	}
	disposeTask(tx, t)
	return tx.apply(Stopped, "stopped by "+string(tx.env.Actor))
}

// dropEffect takes the task's effect out of the runner's hands. One that had not begun is canceled; one that was at work
// and may not be repeated leaves the question whether it happened, and its id is returned.
func dropEffect(tx *Tx) string {
	e := tx.Effect
	if tx.Task != nil {
		tx.Task.Effect = ""
		tx.touch(tx.Task)
	}
	if e == nil || e.State != EffectPending && e.State != EffectRunning {
		return ""
	}
	unknown := e.State == EffectRunning && !e.Effect.Idempotent
	if e.State == EffectRunning && e.Effect.Record && tx.Task != nil && e.Effect.Task == tx.Task.ID {
		tx.Task.Half = e.ID
	}
	effectEnds(tx, e)
	e.State = EffectCanceled
	if unknown {
		e.State = EffectUnknown
	}
	tx.record(e, auditEffectAs.in(e.State), audit.Warn, map[string]any{"effect": e.What()})
	if unknown {
		return e.ID
	}
	return ""
}

// Decide gives up what the session is doing, as far as it has come.
func (c *CancelRun) Decide(tx *Tx) error {
	s := tx.Session
	if s == nil {
		return pawl.Fail(pawl.CodeNotFound, "kernel.not_initialised")
	}
	switch session.State(s.State) {
	case session.Planning:
		dropEffect(tx)
		s.Effect = ""
		tx.Turn.Outcome = string(turn.OutcomeCanceled)
		if err := tx.apply(PlanningCancel, c.Reason); err != nil {
			return err
		}
		endRun(tx, "canceled")
		return nil
	case session.Confirming:
		return declinePlan(tx, c.Reason, "canceled")
	case session.Executing, session.AutoFix:
		if tx.Task != nil {
			return (&CancelTask{Task: tx.Task.ID, Reason: c.Reason}).Decide(tx)
		}
	}
	return pawl.Fail(pawl.CodeInvalidTransition, "kernel.nothing_to_cancel", s.State)
}
