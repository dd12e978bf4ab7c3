package control

import (
	"time"

	"pawl/kernel"
)

// Commands of a person about the session.
type (
	// Pause stops dispatch at the next safe point, Resume goes on.
	Pause  struct{}
	Resume struct{}
	// CancelRun gives up a plan that is being made or waits for approval, or cancels the task that is at work.
	CancelRun struct{ Reason string }
	// CancelTask cancels a task; one that is at work is asked to stop and cleans up first (docs/spec/task.md#d16).
	CancelTask struct{ Task, Reason string }
	// EnterTool hands the flow to an external tool: nothing of it may be at work, and nothing goes on until the tool
	// has been left. LeaveTool says that the innermost tool is done; Resume goes on with the stage, and otherwise the
	// flow is given up.
	EnterTool struct{ Tool string }
	LeaveTool struct{ Resume bool }
)

// Sweep does what time asks for: leases that ended, cancels whose grace is over, tasks past their time.
type Sweep struct{ Owner string }

// Retire takes history out of the store: records of the audit log, and the rows of what had ended Before (query.Old).
// The records must have been verified.
type Retire struct {
	kernel.Retirement
	Before time.Time
}

// Discard has what runs left beside their results removed, outside of the store: Before is the instant before which
// what it was of had ended.
type Discard struct {
	Before time.Time   `json:"before"`
	Things []Discarded `json:"things"`
}

// Discarded are things of one kind: how many, of how many bytes as far as that is known, and the names of the first.
type Discarded struct {
	What  string   `json:"what"`
	Count int      `json:"count"`
	Bytes int64    `json:"bytes"`
	Names []string `json:"names"`
}

func (*Resume) ChargedDays(*kernel.Snapshot) []time.Time { return nil }
func (c *CancelTask) AboutTask() string                  { return c.Task }
func (*Resume) TakesFlowOn(*kernel.Tx) bool              { return true }
func (*CancelRun) TakesFlowOn(*kernel.Tx) bool           { return true }

func (*CancelTask) TakesFlowOn(tx *kernel.Tx) bool {
	return tx.Task != nil && kernel.HoldsRun(tx, tx.Task)
}
