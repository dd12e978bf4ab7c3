package kernel

import (
	"pawl"
)

// Decide grants the open question.
func (c *Approve) Decide(tx *Tx) error {
	a, err := pendingApproval(tx, c.Hash)
	if err != nil {
		return err
	}
	a.Way = c.Way
	answerApproval(tx, a, ApprovalGranted, tx.env.Actor, "")
	return repliesTo(tx, a).Granted(tx, a)
}

// repliesTo finds who takes a person's word about an approval.
func repliesTo(tx *Tx, a *Approval) Reply {
	if r, ok := tx.protocols.Answers[a.About]; ok {
		return r
	}
	return tx.protocols.AnyAction
}

// Decide refuses the open question.
func (c *Deny) Decide(tx *Tx) error {
	a := tx.Approval
	if a == nil || a.State != ApprovalPending {
		return pawl.Fail(pawl.CodeInvalidTransition, "kernel.nothing_to_approve", stateName(tx))
	}
	answerApproval(tx, a, ApprovalRefused, tx.env.Actor, c.Reason)
	return repliesTo(tx, a).Refused(tx, a, c.Reason)
}
