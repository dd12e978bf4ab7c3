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
	"pawl/machine/workflow"
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

// autoFull is in whose name AUTO_FULL approves what nobody has to be asked about (docs/spec/task.md#d21).
const autoFull pawl.Actor = "policy:auto_full"

// approvalEvent is what it is called when the plan is approved: that depends on the stage, and in AUTO_FULL on whose
// word it is.
func approvalEvent(tx *Tx, by pawl.Actor) Event {
	switch {
	case tx.Flow.Stage != workflow.Design:
		return PlanAllowed
	case by == autoFull:
		return PlanFlowsOn
	}
	return PlanApproved
}

// namedFiles lists the files that a plan says it changes.
func namedFiles(tx *Tx, p *plan.Plan) []string {
	var out []string
	for _, s := range p.Steps {
		for _, c := range s.ToolCalls {
			v, err := judgeCall(tx, c)
			if err != nil {
				continue // a call that is denied changes nothing
			}
			for _, path := range v.Paths {
				if path.Op != policy.OpRead {
					out = append(out, path.Rel)
				}
			}
		}
		for _, a := range s.ExpectedArtifacts {
			if a.Type == plan.ArtifactFile {
				out = append(out, strings.TrimPrefix(a.Value, "./"))
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// grantPlan approves the plan that waits, in the name of a person or of a policy, and queues its task.
func grantPlan(tx *Tx, by pawl.Actor, reason string) error {
	answerApproval(tx, tx.Approval, ApprovalGranted, by, "")
	grants, err := tx.Config.Grants(tx.Task.Plan)
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
	failure := effect.Failure{What: "repair refused", Class: pawl.ClassPolicyDenied, Code: pawl.CodeUserDenied,
		Output: c.Reason}
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
	tx.Task.Cleanup = nothingToClean()
	if reason != "" {
		tx.Issue.hear(reason)
	}
	if tx.Issue.Number > 0 && outcome != "revised" {
		// What a person has turned down is not planned again by itself.
		if err := holdIssue(tx, tx.Issue, true); err != nil {
			return err
		}
	}
	if err := tx.apply(PlanDeclined, reason); err != nil {
		return err
	}
	endRun(tx, outcome)
	return nil
}

// Decide replaces the plan that waits for approval. The approval of the old one is void, because it was bound to the
// old hash.
func (c *EditPlan) Decide(tx *Tx) error {
	if tx.Session == nil || tx.Session.State != string(session.Confirming) || tx.Approval == nil ||
		tx.Approval.State != ApprovalPending {
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
	if s == nil || s.State == string(session.Idle) || s.State == string(session.Blocked) ||
		s.State == string(session.Archiving) {
		return pawl.Fail(pawl.CodeInvalidTransition, "kernel.nothing_to_pause", stateName(tx))
	}
	if s.Paused() {
		return nil
	}
	s.PausedAt, s.PausedBy = tx.now, tx.env.Actor
	tx.record(s, AuditSessionPaused, audit.Info, map[string]any{"state": s.State})
	return tx.apply(SessionPaused, "")
}

// resumeWork goes on after a pause. Without one there is nothing to change; the runner is what goes on.
func (*Resume) Decide(tx *Tx) error {
	s := tx.Session
	if s == nil {
		return pawl.Fail(pawl.CodeNotFound, "kernel.not_initialised")
	}
	if !s.Paused() {
		return nil
	}
	if err := tx.apply(SessionResumed, ""); err != nil {
		return err
	}
	s.PausedAt, s.PausedBy = tx.now, ""
	tx.record(s, AuditSessionResumed, audit.Info, map[string]any{"state": s.State})
	if tx.Task != nil && sessionWorks(tx) {
		tx.then(ThenAdvance)
	}
	return nil
}

// Decide cancels at once what is not at work, and asks what is at work to stop and clean up first
// (docs/spec/task.md#d16).
func (c *CancelTask) Decide(tx *Tx) error {
	t := tx.Task
	if t == nil {
		return pawl.Fail(pawl.CodeNotFound, "kernel.task_not_found", c.Task)
	}
	at := task.State(t.State)
	if at == task.Canceled {
		return nil
	}
	if refusal := task.Refusal(at, task.Canceled); refusal != nil {
		return refusal
	}
	t.Reason = c.Reason
	if t.Session == "" || at == task.Blocked && !holdsRun(tx, t) {
		if t.Cleanup == nil {
			t.Cleanup = nothingToClean()
		}
		return tx.move(t, string(task.Cancel), "", note(c.Reason), nil)
	}
	switch at {
	case task.Draft:
		return declinePlan(tx, c.Reason, "canceled")
	case task.Blocked:
		return (&Skip{Reason: c.Reason}).Decide(tx)
	}
	if !t.CancelAt.IsZero() {
		return nil
	}
	t.CancelAt, t.CancelBy = tx.now, tx.env.Actor
	tx.record(t, AuditTaskCancelRequested, audit.Info, map[string]any{"reason": c.Reason, "by": tx.env.Actor})
	if tx.Effect != nil && tx.Effect.ID == t.Effect && tx.Effect.State == EffectRunning {
		return nil
	}
	dropEffect(tx)
	tx.then(ThenCleanup)
	return nil
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

// Decide hands the flow to an external tool (docs/spec/workflow.md#external-tools).
func (c *EnterTool) Decide(tx *Tx) error {
	s := tx.Session
	switch {
	case s == nil || tx.Flow == nil:
		return pawl.Fail(pawl.CodeNotFound, "kernel.not_initialised")
	case s.Effect != "" || tx.Task != nil && tx.Task.Effect != "" && s.Run != "":
		return pawl.Fail(pawl.CodeBusy, "kernel.tool_while_working", c.Tool)
	}
	next, err := workflow.EnterTool(tx.Flow.Vars, c.Tool)
	if err != nil {
		return err
	}
	tx.Flow.Vars, tx.Flow.Tools = next, append(slices.Clip(tx.Flow.Tools), c.Tool)
	tx.record(tx.Flow, AuditToolEntered, audit.Info, map[string]any{"tool": c.Tool, "nesting": next.ToolNesting,
		"suspended": next.SuspendedStage})
	if s.Run != "" && !s.Paused() && s.State != string(session.Blocked) {
		s.PausedAt, s.PausedBy, tx.Flow.Held = tx.now, tx.env.Actor, true
		return tx.apply(SessionPaused, "")
	}
	return nil
}

// Decide says that the innermost external tool is done.
func (c *LeaveTool) Decide(tx *Tx) error {
	if tx.Flow == nil {
		return pawl.Fail(pawl.CodeNotFound, "kernel.not_initialised")
	}
	outer := ""
	if n := len(tx.Flow.Tools); n > 1 {
		outer = tx.Flow.Tools[n-2]
	}
	suspended := tx.Flow.SuspendedStage
	next, err := workflow.LeaveTool(tx.Flow.Vars, outer, c.Resume || suspended != workflow.None)
	if err != nil {
		return err
	}
	tx.record(tx.Flow, AuditToolLeft, audit.Info,
		map[string]any{"tool": tx.Flow.ActiveTool, "nesting": next.ToolNesting, "resume": c.Resume})
	tx.Flow.Vars, tx.Flow.Tools = next, tx.Flow.Tools[:max(0, len(tx.Flow.Tools)-1)]
	if next.ToolNesting > 0 {
		return nil
	}
	held := tx.Flow.Held
	tx.Flow.Held = false
	switch {
	case tx.Session.Run == "" || c.Resume && !held: // a pause that somebody else asked for before stays
		return nil
	case c.Resume:
		return (&Resume{}).Decide(tx)
	}
	if tx.touch(tx.Session); tx.Session.Paused() {
		if err := tx.apply(SessionResumed, ""); err != nil {
			return err
		}
	}
	if tx.Session.State == string(session.Blocked) {
		return nil
	}
	return (&CancelRun{Reason: "given up after an external tool"}).Decide(tx)
}

// RouteState returns the command that takes the session to a state, for update_state of the context manager. Text is
// what the command needs: a requirement, the hash of the plan, a reason or a note. Moves that only work itself can
// cause are refused, and so are those that the session's machine does not have.
func (s *Snapshot) RouteState(to session.State, text string) (Command, error) {
	from := session.Table.Initial()
	if s.Session != nil {
		from = session.State(s.Session.State)
	}
	switch [2]session.State{from, to} {
	case [2]session.State{session.Idle, session.Planning}:
		start := &Start{Requirement: text, RunMode: pawl.Assisted}
		if s.Session != nil {
			start.Place, start.RunMode = s.Session.Place, s.Session.RunMode
		}
		return start, nil
	case [2]session.State{session.Planning, session.Idle}:
		return &CancelRun{Reason: text}, nil
	case [2]session.State{session.Confirming, session.Idle}:
		return &Deny{Reason: text}, nil
	case [2]session.State{session.Confirming, session.Executing}:
		return &Approve{Hash: text}, nil
	case [2]session.State{session.Executing, session.Blocked}, [2]session.State{session.AutoFix, session.Blocked}:
		return &Stop{Reason: text}, nil
	case [2]session.State{session.Blocked, session.Executing}:
		return &Fix{Note: text}, nil
	case [2]session.State{session.Blocked, session.Idle}:
		return &Rollback{Reason: text}, nil
	}
	if _, ok := session.Table.Between(from, to); ok {
		return nil, pawl.Fail(pawl.CodeInvalidTransition, "kernel.state_of_work", string(from), string(to))
	}
	return nil, pawl.Fail(pawl.CodeInvalidTransition, "kernel.state_unreachable", string(from), string(to))
}
