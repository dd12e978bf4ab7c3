package task

import (
	"strings"

	"pawl"
	"pawl/machine"
)

// Names of the gates.
const (
	GateApproval     = "approval"
	GateLease        = "lease"
	GateExitReason   = "exit-reason"
	GateCleanup      = "cleanup-summary"
	GateVerifiedTree = "verified-tree"
	GateRetryBudget  = "retry-budget"
	GateUnblock      = "approval-recorded"
	GateAuditChain   = "audit-chain"
	GateChecksKept   = "checks-kept"
)

// MinAuditEvents is the least number of audit records of a task that may be closed (docs/spec/task.md#s4-2): the one of
// its creation and that of at least one transition.
const MinAuditEvents = 2

// LoopLength is the number of identical failure reasons in a row after which a retry is refused
// (docs/spec/task.md#retries).
const LoopLength = 3

// Check is the result of one verification gate that pawl ran.
type Check struct {
	Name     string
	Required bool
	Passed   bool
	// Tree is the tree that the check ran on.
	Tree string
}

// Evidence is what the gates of a row look at. The caller fills in what the row's gates need; a gate that finds its
// evidence missing refuses.
type Evidence struct {
	// PlanHash is the hash of the plan that the task carries out, "" for a task without a plan. ApprovalHash is the
	// hash that the recorded approval is bound to, "" without an approval.
	PlanHash, ApprovalHash string
	// LeaseEpoch is the fencing token that the store holds for the task, Token the one that the caller presents. Both
	// are at least 1 under a lease.
	LeaseEpoch, Token int64
	// NoLease states that the task has no live lease, so that the system may act in place of a lost runner.
	NoLease bool
	// ExitReason says why the task fails.
	ExitReason ExitReason
	// CleanupSummary states that a summary of the cleanup is recorded.
	CleanupSummary bool
	// Tree is the tree that the task has now; Checks are the results of its verification gates.
	Tree   string
	Checks []Check
	// Tampered are the files that decide how the work is judged, that the work changed, and that no person has
	// approved.
	Tampered []string
	// RetryCount is the number of retries that were used, MaxRetries the budget. LastReasons are the reasons of the
	// failures so far, oldest first, the present one included.
	RetryCount, MaxRetries int
	LastReasons            []string
	// Unblocked states that the approval, answer or repaired environment that the task waited for is recorded.
	Unblocked bool
	// AuditEvents is the number of the task's audit records; AuditChainOK states that their chain of states is unbroken
	// from creation to verified.
	AuditEvents  int
	AuditChainOK bool
	// AuditWarnOnly turns the audit gate into a warning (configuration gates.done.audit=warn).
	AuditWarnOnly bool
}

// gates are the implemented gates, in the order in which the rows first name them. They read the evidence in its place,
// because there is much of it and copies would cost more than most gates.
var gates = machine.Gates[*Evidence]{
	{Name: GateApproval, Pass: approval, Description: "a task with a plan needs an approval that is bound to this plan's hash"},
	{Name: GateCleanup, Pass: cleanup, Description: "a cleanup summary is recorded"},
	{Name: GateLease, Pass: lease, Description: "the caller holds the task's lease"},
	{Name: GateExitReason, Pass: exitReason, Description: "one of the ten exit reasons is given"},
	{Name: GateVerifiedTree, Pass: verifiedTree, Description: "every required check passed, on exactly this tree"},
	{Name: GateChecksKept, Pass: checksKept,
		Description: "what the work is judged by is unchanged, or a person approved its change"},
	{Name: GateRetryBudget, Pass: retryBudget,
		Description: "retries are left, and the last three failures are not all alike"},
	{Name: GateUnblock, Pass: unblock, Description: "what the task waited for is recorded"},
	{Name: GateAuditChain, Pass: auditChain,
		Description: "at least two audit records, and their chain of states is unbroken"},
}

// Admit tries the gates of a row on the evidence and returns the first refusal, naming row and gate, or nil.
func Admit(r *machine.Rule[State, Event], e *Evidence) *pawl.Error {
	return machine.Admit(r, gates, e)
}

func approval(e *Evidence) *pawl.Error {
	switch {
	case e.PlanHash == "" && e.ApprovalHash == "":
		return nil
	case e.ApprovalHash == "":
		return pawl.Fail(pawl.CodeApprovalNeeded, "machine.gate_approval")
	case e.ApprovalHash != e.PlanHash:
		return pawl.Fail(pawl.CodeApprovalStale, "machine.gate_stale")
	}
	return nil
}

func lease(e *Evidence) *pawl.Error {
	if e.NoLease && e.Token == 0 {
		return nil
	}
	if e.Token < 1 || e.Token != e.LeaseEpoch {
		return pawl.Fail(pawl.CodeFenced, "machine.gate_lease", e.Token, e.LeaseEpoch)
	}
	return nil
}

func exitReason(e *Evidence) *pawl.Error {
	if !e.ExitReason.Valid() {
		return pawl.Fail(pawl.CodeGate, "machine.gate_exit_reason", string(e.ExitReason))
	}
	return nil
}

func cleanup(e *Evidence) *pawl.Error {
	if !e.CleanupSummary {
		return pawl.Fail(pawl.CodeGate, "machine.gate_cleanup")
	}
	return nil
}

// verifiedTree refuses when nothing required ran, because an empty list of checks proves nothing.
func verifiedTree(e *Evidence) *pawl.Error {
	if e.Tree == "" {
		return pawl.Fail(pawl.CodeGate, "machine.gate_no_tree")
	}
	required := 0
	for _, c := range e.Checks {
		if !c.Required {
			continue
		}
		required++
		if !c.Passed {
			return pawl.Fail(pawl.CodeChecksFailed, "machine.gate_check_failed", c.Name)
		}
		if c.Tree != e.Tree {
			return pawl.Fail(pawl.CodeGate, "machine.gate_other_tree", c.Name)
		}
	}
	if required == 0 {
		return pawl.Fail(pawl.CodeGate, "machine.gate_no_checks")
	}
	return nil
}

func checksKept(e *Evidence) *pawl.Error {
	if len(e.Tampered) > 0 {
		return pawl.Fail(pawl.CodeApprovalNeeded, "machine.gate_checks_kept", strings.Join(e.Tampered, ", "))
	}
	return nil
}

func retryBudget(e *Evidence) *pawl.Error {
	if e.RetryCount >= e.MaxRetries {
		return pawl.Fail(pawl.CodeRetryNotAllowed, "machine.gate_retries", e.RetryCount, e.MaxRetries)
	}
	if reason, ok := loop(e.LastReasons); ok {
		return pawl.Fail(pawl.CodeRetryNotAllowed, "machine.gate_loop", LoopLength, reason)
	}
	return nil
}

// loop returns the reason that the last LoopLength failures share. Unstated reasons are not known to be alike.
func loop(reasons []string) (string, bool) {
	if len(reasons) < LoopLength {
		return "", false
	}
	last := reasons[len(reasons)-LoopLength:]
	for _, r := range last {
		if r == "" || r != last[0] {
			return "", false
		}
	}
	return last[0], true
}

func unblock(e *Evidence) *pawl.Error {
	if !e.Unblocked {
		return pawl.Fail(pawl.CodeApprovalNeeded, "machine.gate_unblock")
	}
	return nil
}

func auditChain(e *Evidence) *pawl.Error {
	if e.AuditWarnOnly || e.AuditEvents >= MinAuditEvents && e.AuditChainOK {
		return nil
	}
	return pawl.Fail(pawl.CodeAuditBroken, "machine.gate_audit", e.AuditEvents, MinAuditEvents)
}
