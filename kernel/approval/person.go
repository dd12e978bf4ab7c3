// Package approval takes a person's word about what waits for one.
package approval

import (
	"strings"

	"pawl"
	"pawl/kernel"
)

// Decide grants the open question.
func (c *Approve) Decide(tx *kernel.Tx) error {
	a, err := kernel.PendingApproval(tx, c.Hash, strings.TrimSpace("approve "+string(c.Way)))
	if err != nil {
		return err
	}
	if a.About == kernel.AboutStage {
		return choosing(a)
	}
	a.Way = c.Way
	kernel.AnswerApproval(tx, a, kernel.ApprovalGranted, tx.Env.Actor, "")
	return repliesTo(tx, a).Granted(tx, a)
}

// choosing refuses a yes or no to the question of a stage, which asks for one of several ways.
func choosing(a *kernel.Approval) error {
	return pawl.Fail(pawl.CodeInvalidTransition, "kernel.stage_chooses", kernel.Short(a.Hash))
}

// repliesTo finds who takes a person's word about an approval.
func repliesTo(tx *kernel.Tx, a *kernel.Approval) kernel.Reply {
	if r, ok := tx.Protocols.Answers[a.About]; ok {
		return r
	}
	return tx.Protocols.AnyAction
}

// Decide refuses the open question.
func (c *Deny) Decide(tx *kernel.Tx) error {
	a := tx.Approval
	if a == nil || a.State != kernel.ApprovalPending {
		return pawl.Fail(pawl.CodeInvalidTransition, "kernel.nothing_to_approve", kernel.StateName(tx))
	}
	if a.About == kernel.AboutStage {
		return choosing(a)
	}
	kernel.AnswerApproval(tx, a, kernel.ApprovalRefused, tx.Env.Actor, c.Reason)
	return repliesTo(tx, a).Refused(tx, a, c.Reason)
}
