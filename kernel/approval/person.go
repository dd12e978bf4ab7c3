// Package approval takes a person's word about what waits for one.
package approval

import (
	"slices"
	"strings"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/audit"
)

// Decide grants the open question.
func (c *Approve) Decide(tx *kernel.Tx) error {
	if err := c.alike(tx); err != nil {
		return err
	}
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

// alike refuses a question that may not be answered as one of several of a rule, before a person is asked for a word on
// it. One that is not open is refused as that.
func (c *Approve) alike(tx *kernel.Tx) error {
	a := tx.Approval
	if c.Rule == "" || a == nil || !strings.HasPrefix(a.Hash, strings.ToLower(c.Hash)) ||
		c.Rule == Together(&tx.Snapshot) {
		return nil
	}
	return pawl.Fail(pawl.CodeConflict, "kernel.not_alike", kernel.Short(a.Hash), string(c.Rule))
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
		return pawl.Fail(pawl.CodeInvalidTransition, "kernel.nothing_to_approve", kernel.StateName(&tx.Snapshot))
	}
	if a.About == kernel.AboutStage {
		return choosing(a)
	}
	kernel.AnswerApproval(tx, a, kernel.ApprovalRefused, tx.Env.Actor, c.Reason)
	return repliesTo(tx, a).Refused(tx, a, c.Reason)
}

// Decide records that the question was shown. Only a person is shown anything.
func (c *Show) Decide(tx *kernel.Tx) error {
	a, by := tx.Approval, tx.Env.Actor
	switch {
	case a == nil || a.State != kernel.ApprovalPending:
		return pawl.Fail(pawl.CodeInvalidTransition, "kernel.nothing_to_approve", kernel.StateName(&tx.Snapshot))
	case c.Hash != a.Hash:
		return pawl.Fail(pawl.CodeApprovalStale, "kernel.approval_stale", kernel.Short(c.Hash), kernel.Short(a.Hash))
	case by.Kind() != pawl.KindUser:
		return pawl.Fail(pawl.CodeDenied, "kernel.shown_person", by.Label())
	case slices.Contains(a.ShownTo, by):
		return nil
	}
	a.ShownTo = append(slices.Clip(a.ShownTo), by)
	tx.Touch(a)
	tx.Record(a, kernel.AuditApprovalShown, audit.Info, map[string]any{"about": a.About, "hash": a.Hash, "to": by})
	return nil
}
