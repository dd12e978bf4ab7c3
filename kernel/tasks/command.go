package tasks

import (
	"time"

	"pawl/kernel"
	"pawl/kernel/effect"
)

// Commands about single tasks (docs/spec/task.md#transition).
type (
	// CreateTask makes a draft.
	CreateTask struct {
		Title string
		Mode  string
		Gates []string
		Place effect.Place
	}
	// RequestGates asks for the gates of a task outside a run. Without a token the task is being verified by hand, the
	// answer is the effect's id, and whoever moves the task does the rest. A runner that has finished the work gives
	// the Token of its lease: the same commit hands the task over to verification and begins the gates, the answer is
	// the effect as that of Begin is, and when all gates have passed the commit of their Report verifies and closes the
	// task.
	RequestGates struct {
		Task  string
		Token int64  `json:",omitempty"`
		Owner string `json:",omitempty"`
	}
	// RestartTask makes a new draft from a task that ended, with its lineage.
	RestartTask struct{ Task string }
	// Heartbeat prolongs the lease.
	Heartbeat struct {
		Task  string
		Token int64
	}
	// UpdateProgress notes the progress of a task. Status is PENDING, DONE, BLOCKED, or a state of a task; a change of
	// state goes through the task's machine like any other (docs/spec/session.md#a11). An empty Status notes the
	// summary alone.
	UpdateProgress struct{ Task, Status, Summary string }
)

func (*Heartbeat) ChargedDays(*kernel.Snapshot) []time.Time { return nil }
func (*CreateTask) ForAgents() bool                         { return true }
func (c *UpdateProgress) ForAgents() bool                   { return c.Status == "" }
func (c *RequestGates) LeaseToken() int64                   { return c.Token }
func (c *RequestGates) AboutTask() string                   { return c.Task }
func (c *UpdateProgress) AboutTask() string                 { return c.Task }
func (c *RestartTask) AboutTask() string                    { return c.Task }
func (c *Heartbeat) AboutTask() string                      { return c.Task }

func (*RequestGates) AboutGates() {}
func (*Heartbeat) Single()        {}
