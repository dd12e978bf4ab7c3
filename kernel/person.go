package kernel

import (
	"slices"
	"strings"

	"pawl"
	"pawl/audit"
	"pawl/effect"
	"pawl/machine/session"
	"pawl/machine/task"
	"pawl/machine/turn"
	"pawl/plan"
	"pawl/policy"
)

// desk decides what a person says to the session.
type desk struct{ *work }

// minHash is the least number of characters of a hash that an approval may be given with.
const minHash = 8

// pending returns the open approval, checked against the hash that the person saw.
func (w desk) pending(hash string) (*Approval, error) {
	a := w.Approval
	if a == nil || a.State != ApprovalPending {
		return nil, pawl.Fail(pawl.CodeInvalidTransition, "kernel.nothing_to_approve", w.stateName())
	}
	if len(hash) < minHash || !strings.HasPrefix(a.Hash, strings.ToLower(hash)) {
		return nil, pawl.Fail(pawl.CodeApprovalStale, "kernel.approval_stale", hash, short(a.Hash))
	}
	return a, nil
}

func (w *work) stateName() string {
	if w.Session == nil {
		return "-"
	}
	return w.Session.State
}

// approve grants the open question.
func (w desk) approve(c *Approve) error {
	a, err := w.pending(c.Hash)
	if err != nil {
		return err
	}
	a.Way = c.Way
	if a.About == "plan" {
		return w.grantPlan(w.env.Actor, "approved")
	}
	w.answer(a, ApprovalGranted, w.env.Actor, "")
	if a.About == aboutChecks {
		return prover{w.work}.allowed(a)
	}
	if a.About == "call" {
		return asker{worker{w.work}}.allowed(a)
	}
	if err := w.raise(FixAllowed, "allowed"); err != nil {
		return err
	}
	w.Task.Approval = a.ID
	w.Turn.Return = ""
	w.Session.Approval = ""
	w.touch(w.Task)
	if err := w.raise(FixPlanned, "allowed by "+string(w.env.Actor)); err != nil {
		return err
	}
	return stepper{w.work}.advance()
}

// answer settles an approval.
func (w desk) answer(a *Approval, state string, by pawl.Actor, note string) {
	a.State, a.AnsweredBy, a.AnsweredAt, a.Note = state, by, w.now, note
	level := audit.Info
	if state != ApprovalGranted {
		level = audit.Warn
	}
	data := map[string]any{"about": a.About, "hash": a.Hash, "by": by, "note": note}
	if a.Way != "" {
		data["way"] = a.Way
	}
	w.record(a, "APPROVAL_"+upper(state), level, data)
}

// grantPlan approves the plan that waits, in the name of a person or of a policy, and queues its task.
func (w desk) grantPlan(by pawl.Actor, reason string) error {
	w.answer(w.Approval, ApprovalGranted, by, "")
	grants, err := w.Config.grants(w.Task.Plan)
	if err != nil {
		return err
	}
	w.Task.Approval, w.Task.Named, w.Task.Grants = w.Approval.ID, planner{w.work}.names(w.Task.Plan), grants
	w.Solution.Bound = true
	w.touch(w.Solution)
	w.touch(w.Task)
	w.Task.Due = w.now
	if err := w.raise(flows{w.work}.approved(by), reason); err != nil {
		return err
	}
	w.Session.Approval = ""
	w.result = w.Task.ID
	return nil
}

// deny refuses the open question.
func (w desk) deny(c *Deny) error {
	a := w.Approval
	if a == nil || a.State != ApprovalPending {
		return pawl.Fail(pawl.CodeInvalidTransition, "kernel.nothing_to_approve", w.stateName())
	}
	if a.About == "plan" {
		return w.declinePlan(c.Reason, "declined")
	}
	w.answer(a, ApprovalRefused, w.env.Actor, c.Reason)
	if a.About == aboutChecks {
		return prover{w.work}.refused(a, c.Reason)
	}
	w.Session.Approval, w.Turn.Return = "", string(turn.Recovering)
	if err := w.raise(FixRefused, c.Reason); err != nil {
		return err
	}
	w.Turn.Return = ""
	failure := effect.Failure{What: "repair refused", Class: pawl.ClassPolicyDenied, Code: pawl.CodeUserDenied, Output: c.Reason}
	if a.About == "call" {
		failure.What, failure.Output = "call refused", strings.TrimSpace(a.Detail+"\n"+c.Reason)
		asker{worker{w.work}}.wanted()
	}
	repairer{w.work}.dropRepair()
	return repairer{w.work}.failed(failure)
}

// declinePlan ends the run whose plan waits for approval; nothing was changed.
func (w desk) declinePlan(reason, outcome string) error {
	w.answer(w.Approval, ApprovalRefused, w.env.Actor, reason)
	w.Turn.Outcome = string(turn.OutcomeDeclined)
	w.Task.Cleanup = &effect.CleanupResult{Performed: []string{}, Failed: []string{}, Skipped: []string{"no cleanup required"}}
	if reason != "" {
		w.Issue.hear(reason)
	}
	if w.Issue.Number > 0 && outcome != "revised" {
		w.Issue.Paused = true // what a person has turned down is not planned again by itself
	}
	if err := w.raise(PlanDeclined, reason); err != nil {
		return err
	}
	w.endRun(outcome)
	return nil
}

// revise sends the plan back to planning: the decline and the new requirement in one transaction (docs/spec/session.md#a6).
func (w desk) revise(c *Revise) error {
	if w.Session == nil || w.Session.State != string(session.Confirming) || w.Run == nil || w.Approval == nil {
		return pawl.Fail(pawl.CodeInvalidTransition, "kernel.nothing_to_revise", w.stateName())
	}
	last := *w.Run
	next := &Start{
		Requirement: last.Requirement, Given: last.Given, Name: last.GivenName, Place: last.Place,
		RunMode: w.Session.RunMode, AutoApprove: "", Agent: last.Agent,
		Command: last.Command, Lang: last.Lang, AsIs: true,
	}
	if len(c.Given) > 0 {
		next.Given, next.Name = c.Given, c.Name
	}
	feedback := slices.Clone(last.Feedback)
	if c.Feedback != "" {
		feedback = append(feedback, c.Feedback)
	}
	if err := w.declinePlan(c.Feedback, "revised"); err != nil {
		return err
	}
	return planner{w.work}.takeUp(next, feedback)
}

// editPlan replaces the plan that waits for approval. The approval of the old one is void, because it was bound to the
// old hash.
func (w desk) editPlan(c *EditPlan) error {
	if w.Session == nil || w.Session.State != string(session.Confirming) || w.Approval == nil || w.Approval.State != ApprovalPending {
		return pawl.Fail(pawl.CodeInvalidTransition, "kernel.nothing_to_edit", w.stateName())
	}
	if c.Base != w.Solution.Hash {
		return pawl.Fail(pawl.CodeConflict, "kernel.edit_stale", short(c.Base), short(w.Solution.Hash))
	}
	p := c.Plan
	p.PlanID, p.CreatedAt = w.Solution.Plan.PlanID, w.Solution.Plan.CreatedAt
	verdicts, err := planner{w.work}.judge(&p)
	if err == nil {
		err = planner{w.work}.checkable(p)
	}
	if err != nil {
		return err
	}
	hash := plan.Hash(p)
	if hash == w.Solution.Hash {
		w.result = hash
		return nil
	}
	w.answer(w.Approval, ApprovalStale, w.env.Actor, "the plan was edited")
	s, t := w.Solution, w.Task
	s.Plan, s.Hash, s.Verdicts, s.Risk = p, hash, verdicts, p.RiskLevel
	s.Checks = effect.SelectChecks(p.Verification, w.Run.Context.Checks)
	t.Plan, t.PlanHash, t.Checks, t.Title = &p, hash, s.Checks, p.Goal
	w.touch(s)
	w.touch(t)
	w.record(s, "PLAN_EDITED", audit.Info, map[string]any{"from": c.Base, "to": hash})
	planner{w.work}.askFor("plan", w.Run.ID, hash, policy.Session, p.Goal)
	w.result = hash
	return nil
}

// pause stops dispatch at the next safe point; the state stays (docs/spec/session.md#a1).
func (w desk) pause() error {
	s := w.Session
	if s == nil || s.State == string(session.Idle) || s.State == string(session.Blocked) || s.State == string(session.Archiving) {
		return pawl.Fail(pawl.CodeInvalidTransition, "kernel.nothing_to_pause", w.stateName())
	}
	if s.Paused {
		return nil
	}
	s.Paused, s.PausedAt, s.PausedBy = true, w.now, w.env.Actor
	w.record(s, "SESSION_PAUSED", audit.Info, map[string]any{"state": s.State})
	return nil
}

// resume goes on after a pause. Without one there is nothing to change; the runner is what goes on.
func (w desk) resume() error {
	s := w.Session
	if s == nil {
		return pawl.Fail(pawl.CodeNotFound, "kernel.not_initialised")
	}
	if !s.Paused {
		return nil
	}
	s.Paused, s.PausedAt, s.PausedBy = false, w.now, ""
	w.record(s, "SESSION_RESUMED", audit.Info, map[string]any{"state": s.State})
	if w.Task != nil && w.running() {
		return stepper{w.work}.advance()
	}
	return nil
}

// stop ends the work by force: the session is BLOCKED and a person decides how to go on.
func (w desk) stop(c *Stop) error {
	s := w.Session
	if s == nil || !w.running() {
		return pawl.Fail(pawl.CodeInvalidTransition, "kernel.nothing_to_stop", w.stateName())
	}
	if w.Task == nil || !open(w.Task) {
		return pawl.Fail(pawl.CodeInvalidTransition, "kernel.nothing_to_stop", s.State)
	}
	t := w.Task
	unknown := w.dropEffect()
	s.Blocked = &Blocked{Kind: BlockedStopped, Task: t.ID, Effect: unknown, Error: ErrorInfo{
		Class: pawl.ClassCanceled, Code: pawl.CodeCanceled, Key: "kernel.stopped", Args: []string{string(w.env.Actor), c.Reason},
	}}
	if c.Copied != "" {
		s.Blocked.Error.Key, s.Blocked.Error.Args = "kernel.stopped_copy", []string{c.Copied}
	}
	if t.State == string(task.Queued) {
		// The seed has no way from queued to failed; the task is taken first, so that the stop has a row to go by.
		t.Epoch++
		t.Lease.Owner = "stop"
		if err := w.raise(Claimed, "taken to be stopped"); err != nil {
			return err
		}
	}
	if a := w.Approval; a != nil && a.State == ApprovalPending {
		// What was asked about belongs to the turn that ends here; whoever goes on is asked anew.
		w.answer(a, ApprovalStale, w.env.Actor, "stopped")
		s.Approval = ""
		if w.Turn != nil {
			w.Turn.Return = ""
		}
	}
	t.Exit, t.Reason, t.Blocked = string(task.ExitUserStopped), c.Reason, s.Blocked
	if t.Plan != nil {
		repairer{w.work}.dropRepair()
	}
	if w.Turn != nil {
		w.Turn.Outcome = string(turn.OutcomeCanceled)
	}
	w.dispose(t)
	if err := w.raise(Stopped, "stopped by "+string(w.env.Actor)); err != nil {
		return err
	}
	w.release(t)
	return nil
}

// dropEffect takes the task's effect out of the runner's hands. One that had not begun is canceled; one that was at work
// and may not be repeated leaves the question whether it happened, and its id is returned.
func (w desk) dropEffect() string {
	e := w.Effect
	if w.Task != nil {
		w.Task.Effect = ""
		w.touch(w.Task)
	}
	if e == nil || e.State != EffectPending && e.State != EffectRunning {
		return ""
	}
	unknown := e.State == EffectRunning && !e.Effect.Idempotent
	if e.State == EffectRunning && e.Effect.Record && w.Task != nil && e.Effect.Task == w.Task.ID {
		w.Task.Half = e.ID
	}
	cashier{w.work}.ends(e)
	e.State = EffectCanceled
	if unknown {
		e.State = EffectUnknown
	}
	w.record(e, "EFFECT_"+upper(e.State), audit.Warn, map[string]any{"effect": e.What()})
	if unknown {
		return e.ID
	}
	return ""
}

// cancelRun gives up what the session is doing, as far as it has come.
func (w desk) cancelRun(c *CancelRun) error {
	s := w.Session
	if s == nil {
		return pawl.Fail(pawl.CodeNotFound, "kernel.not_initialised")
	}
	switch session.State(s.State) {
	case session.Planning:
		w.dropEffect()
		s.Effect = ""
		w.Turn.Outcome = string(turn.OutcomeCanceled)
		if err := w.raise(PlanningCancel, c.Reason); err != nil {
			return err
		}
		w.endRun("canceled")
		return nil
	case session.Confirming:
		return w.declinePlan(c.Reason, "canceled")
	case session.Executing, session.AutoFix:
		if w.Task != nil {
			return clerk{w.work}.cancelTask(&CancelTask{Task: w.Task.ID, Reason: c.Reason})
		}
	}
	return pawl.Fail(pawl.CodeInvalidTransition, "kernel.nothing_to_cancel", s.State)
}
