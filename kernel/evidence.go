package kernel

import (
	"slices"

	"pawl"
	"pawl/kernel/audit"
	"pawl/kernel/effect"
	"pawl/machine"
	"pawl/machine/board"
	"pawl/machine/session"
	"pawl/machine/task"
	"pawl/machine/turn"
	"pawl/machine/workflow"
	"pawl/text/solution"
)

// sessionEvidence gathers what the session's gates look at.
func sessionEvidence(tx *Tx) session.Evidence {
	e := session.Evidence{MaxFixes: tx.Config.MaxFixes, NothingChanged: true}
	if tx.Solution != nil {
		e.PlanHash, e.OnlyPerson = tx.Solution.Hash, tx.Solution.outward()
	}
	if a := tx.Approval; a != nil && a.State == ApprovalGranted {
		// Who grants whatever waits has not looked at it.
		e.ApprovalHash, e.ByPerson = a.Hash, a.AnsweredBy.Kind() == pawl.KindUser && a.Way != WayFlag
	}
	if t := tx.Task; t != nil {
		e.FixAttempts = t.Fixes
		e.FixVerified = t.Verified != nil && t.Verified.Passed || t.Cursor.Failed == ""
		if t.Ready.Checkpoint {
			e.NothingChanged = t.Ready.Cleaned
			if t.Checkpoint != nil {
				e.Checkpoint = t.Checkpoint.Name
			}
		}
		if open(t) {
			e.OpenTasks = 1
		}
	}
	return e
}

// open reports whether a task still asks for work: it is not final, and not resting with nobody at it.
func open(t *Task) bool {
	s := task.State(t.State)
	return !s.Final() && s != task.Failed
}

// turnEvidence gathers what the turn's gates look at.
func turnEvidence(tx *Tx) turn.Evidence {
	e := turn.Evidence{MaxRepairs: tx.Config.MaxFixes, AskedFrom: turn.Planning}
	if tx.Turn != nil {
		e.Rounds, e.Patches = tx.Turn.Rounds, tx.Turn.Patches
	}
	if tx.Turn != nil && tx.Turn.Return != "" {
		e.AskedFrom = turn.State(tx.Turn.Return)
	}
	if a := tx.Approval; a != nil {
		e.SubjectHash = a.Hash
		if a.State == ApprovalGranted {
			e.ApprovalHash = a.Hash
		}
	}
	if t := tx.Task; t != nil {
		e.Repairs = t.Fixes
		if v := t.Verified; v != nil {
			e.ChecksRan = true
			if !v.Passed && t.Plan != nil && t.Plan.Verification.Required {
				e.FailedRequired = countFailed(v.Outcomes)
			}
		}
	}
	return e
}

func countFailed(outcomes []effect.CheckOutcome) int {
	n := 0
	for _, o := range outcomes {
		if o.Status == effect.CheckFailed || o.Status == effect.CheckError {
			n++
		}
	}
	return max(n, 1)
}

// taskEvidence gathers what the gates of a row look at. What takes effort to gather is there only if the row asks for it.
func taskEvidence(tx *Tx, t *Task, r *machine.Rule[task.State, task.Event]) *task.Evidence {
	e := &task.Evidence{
		PlanHash: t.PlanHash, LeaseEpoch: t.Epoch, Token: token(tx, t), NoLease: t.Lease.Owner == "",
		ExitReason: task.ExitReason(t.Exit), CleanupSummary: t.Cleanup != nil,
		RetryCount: t.Retry.Count, MaxRetries: tx.Config.Retry.Max, LastReasons: t.Retry.Reasons,
		AuditWarnOnly: tx.Config.AuditWarn,
	}
	if a := tx.Approval; a != nil && a.State == ApprovalGranted {
		if a.About == "plan" && a.Subject == t.Parent || a.ID == t.Approval {
			e.ApprovalHash = a.Hash
		}
		e.Unblocked = a.About == "unblock" && a.Subject == t.ID || t.Blocked == nil
	}
	if t.Approval != "" && e.ApprovalHash == "" {
		e.ApprovalHash = t.PlanHash
	}
	if t.Blocked == nil {
		e.Unblocked = true
	}
	if slices.Contains(r.Gates, task.GateVerifiedTree) {
		e.Tree, e.Checks = gateEvidence(t)
	}
	if slices.Contains(r.Gates, task.GateChecksKept) {
		for _, v := range []*effect.VerifyResult{t.Verified, t.Gate} {
			if files, _ := touched(t, v); len(files) > 0 {
				e.Tampered = files
			}
		}
	}
	if slices.Contains(r.Gates, task.GateAuditChain) {
		e.AuditEvents, e.AuditChainOK = trail(tx, t)
	}
	return e
}

// tokenCommand is a command that presents the fencing token of a task's lease.
type tokenCommand interface{ token() int64 }

func (c *Transition) token() int64   { return c.Token }
func (c *RequestGates) token() int64 { return c.Token }

// token is the fencing token that the command presents for a task: its own, or that of the task itself when pawl acts inside the same
// transaction that checked the report's token, or that takes the lease.
func token(tx *Tx, t *Task) int64 {
	if c, ok := tx.env.Command.(tokenCommand); ok && !tx.leased {
		return c.token()
	}
	return t.Epoch
}

// gateEvidence joins the outcomes that pawl has for the task: those of the gates, and those of the turn's verification of
// the same tree. Each carries the tree that it ran on.
func gateEvidence(t *Task) (tree string, checks []task.Check) {
	if t.Gate == nil {
		return "", nil
	}
	tree = t.Gate.Tree
	add := func(v *effect.VerifyResult, required bool) {
		for _, o := range v.Outcomes {
			if o.LeftOut() || o.Status == effect.CheckSkipped && !required {
				continue
			}
			checks = append(checks, task.Check{Name: o.Name, Required: required, Passed: o.Status == effect.CheckPassed && v.Tree == v.TreeAfter, Tree: v.Tree})
		}
	}
	add(t.Gate, true)
	if t.Verified != nil {
		add(t.Verified, t.Plan == nil || t.Plan.Verification.Required)
	}
	return tree, checks
}

// trail counts the task's audit records, those of this decision included, and reports whether the states that they tell
// of form one unbroken chain from the creation to the present state.
func trail(tx *Tx, t *Task) (int, bool) {
	tx.want(trailOf(t.ID))
	count, states := tx.TrailCount, tx.Trail
	for _, e := range tx.entries {
		if e.Subject != (audit.Subject{Kind: string(KindTask), ID: t.ID}) {
			continue
		}
		count++
		if e.Move != nil {
			states = append(states[:len(states):len(states)], e.Move.From, e.Move.To)
		}
	}
	last := string(task.Draft)
	for i := 0; i+1 < len(states); i += 2 {
		if states[i] != last {
			return count, false
		}
		last = states[i+1]
	}
	return count, last == t.State
}

// boardEvidence gathers what the board's gates look at.
func boardEvidence(tx *Tx) board.Evidence {
	e := board.Evidence{}
	if tx.Run != nil {
		e.WorkDir = tx.Run.Place.Workspace
	}
	if tx.Solution != nil {
		e.SolutionID = tx.Solution.ID
	}
	if tx.Issue != nil {
		e.PlanFailures, e.OpenDependencies = tx.Issue.Failures, len(tx.Issue.Open)
	}
	if t := tx.Task; t != nil && t.Land != nil {
		e.Landed = t.State == string(task.Done)
	}
	return e
}

// flowEvidence gathers what the flow's gates look at. Where nothing was evaluated, a person stated the requirement and is asked
// about its plan, which is the seed's "go on with the requirement as it is".
func flowEvidence(tx *Tx) workflow.Evidence {
	e := workflow.Evidence{Continue: true, Archived: tx.Run != nil && tx.Run.Outcome != ""}
	if tx.Run != nil && tx.Run.Evaluation != nil {
		e.Score, e.Continue = tx.Run.Evaluation.Score, tx.Run.AsIs
	}
	if tx.Run != nil && tx.Run.Package != "" {
		e.Package = solution.LiveDir(tx.Run.Package)
	}
	if tx.Task != nil && open(tx.Task) {
		e.Pending = 1
	}
	return e
}
