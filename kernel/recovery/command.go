package recovery

import (
	"cmp"

	"pawl/kernel"
	"pawl/text/plan"
)

// Commands of a person about the session.
type (
	// Stop ends the work by force and leaves the session BLOCKED. Lost says that the end of the store was lost, and
	// with it maybe what was done.
	Stop struct {
		Reason string
		Lost   bool `json:",omitempty"`
	}
	// Fix goes on after a person helped: with further steps, an answer about an effect whose outcome is unknown, or
	// because something outside was repaired.
	//
	// The agent that goes on is told the Note. With a Tree it is about the work as it was shown, which has to be that
	// tree yet, and an agent has to be there that hears it.
	Fix struct {
		Note   string
		Steps  []plan.Step
		Answer kernel.Answer
		Tree   string `json:",omitempty"`
	}
	// Skip leaves the task that failed behind.
	Skip struct{ Reason string }
	// Rollback brings the tree back to the last checkpoint and ends the run. What is at work is stopped first, and what
	// it did is recorded. When the last run worked in the user's own tree and has ended without a result, it is the
	// same as Undo.
	Rollback struct{ Reason string }
	// Undo undoes what a run of the session landed or left in the user's own tree, and Redo brings it back. Run is the
	// run's id, "" for the one that was landed, undone or brought back last; one that is named and landed is that from
	// then on. With a Step, Undo takes back what that step changed, while the tree of its run is there and nothing is
	// at work, and leaves the step out; the next Redo brings that back.
	Undo struct {
		Run  string `json:",omitempty"`
		Step string `json:",omitempty"`
	}
	Redo struct {
		Run string `json:",omitempty"`
	}
)

func (c *Undo) PastRun(s *kernel.Session) string   { return cmp.Or(c.Run, s.LastRun) }
func (*Rollback) PastRun(s *kernel.Session) string { return s.LastRun }
func (c *Redo) PastRun(s *kernel.Session) string   { return cmp.Or(c.Run, s.RolledBackRun, s.LastRun) }
func (*Fix) TakesFlowOn(*kernel.Tx) bool           { return true }
func (*Skip) TakesFlowOn(*kernel.Tx) bool          { return true }
func (*Rollback) TakesFlowOn(*kernel.Tx) bool      { return true }
