package task

import (
	"slices"
	"strings"

	"pawl"
)

// State is the state of a task, written in lower case as the seed writes it.
type State string

// The ten states of docs/spec/task.md#s1-1.
const (
	Draft     State = "draft"
	Approved  State = "approved"
	Queued    State = "queued"
	Running   State = "running"
	Verifying State = "verifying"
	Verified  State = "verified"
	Done      State = "done"
	Failed    State = "failed"
	Canceled  State = "canceled"
	Blocked   State = "blocked"
)

// Event causes a move of a task. The seed names the methods; the events are named after them.
type Event string

// The events, in the order of the methods of docs/spec/task.md#s3.
const (
	Approve  Event = "APPROVE"
	Queue    Event = "QUEUE"
	Start    Event = "START"
	Finish   Event = "FINISH"
	Fail     Event = "FAIL"
	Cancel   Event = "CANCEL"
	Block    Event = "BLOCK"
	Verify   Event = "VERIFY"
	GateFail Event = "GATE_FAIL"
	Close    Event = "CLOSE"
	Retry    Event = "RETRY"
	Unblock  Event = "UNBLOCK"
	Keep     Event = "KEEP"
)

// The groups of docs/spec/task.md#s1-2, as Table.Group takes them. Terminal means that the runner stops and the lease
// is released; failed and blocked are terminal and still have ways out, so only done and canceled are final
// (docs/spec/task.md#d1).
const (
	GroupInitial      = "initial"
	GroupApproval     = "approval"
	GroupExecution    = "execution"
	GroupVerification = "verification"
	GroupTerminal     = "terminal"
	GroupActive       = "active"
)

// ExitReason says why a task failed. The list is closed (docs/spec/task.md#s4-2, docs/spec/task.md#d3).
type ExitReason string

// The ten exit reasons.
const (
	ExitTimeout        ExitReason = "timeout"
	ExitRetryExhausted ExitReason = "retry_exhausted"
	ExitCanceled       ExitReason = "canceled"
	ExitException      ExitReason = "exception"
	ExitGateFailed     ExitReason = "gate_failed"
	ExitUserStopped    ExitReason = "user_stopped"
	ExitFatalError     ExitReason = "fatal_error"
	ExitMaxIterations  ExitReason = "max_iterations"
	ExitBlocked        ExitReason = "blocked"
	ExitUnknown        ExitReason = "unknown"
)

// exitReasons is the closed list in the seed's order.
var exitReasons = []ExitReason{
	ExitTimeout, ExitRetryExhausted, ExitCanceled, ExitException, ExitGateFailed,
	ExitUserStopped, ExitFatalError, ExitMaxIterations, ExitBlocked, ExitUnknown,
}

// ExitReasons returns the closed list in the seed's order.
func ExitReasons() []ExitReason { return slices.Clone(exitReasons) }

// Valid reports whether r is in the closed list.
func (r ExitReason) Valid() bool { return slices.Contains(exitReasons, r) }

// Terminal reports whether the runner has stopped and the lease is released: done, failed, canceled, blocked.
func (s State) Terminal() bool { return s == Done || s == Failed || s == Canceled || s == Blocked }

// Final reports whether no transition leaves s: done and canceled.
func (s State) Final() bool { return s == Done || s == Canceled }

// Active reports whether s is one of queued, running and verifying (docs/spec/task.md#s1-2).
func (s State) Active() bool { return s == Queued || s == Running || s == Verifying }

// Valid reports whether s is one of the ten states, in its exact spelling.
func (s State) Valid() bool { return ordinal(s) >= 0 }

// Parse reads a state as people and other systems write it: in any case, with blanks around it, and "cancelled" for
// canceled (docs/spec/task.md#d2), which is never written. Anything else is an error with code invalid.
func Parse(text string) (State, error) {
	s := State(strings.ToLower(strings.TrimSpace(text)))
	if s == "cancelled" {
		return Canceled, nil
	}
	if !s.Valid() {
		return "", pawl.Fail(pawl.CodeInvalid, "machine.task_state", text).In("task.Parse")
	}
	return s, nil
}

// order lists the ten states along the way of a task that succeeds, then those beside it.
var order = [10]State{Draft, Approved, Queued, Running, Verifying, Verified, Done, Failed, Canceled, Blocked}

// ordinal returns the place of s in order, or -1.
func ordinal(s State) int {
	switch s {
	case Draft:
		return 0
	case Approved:
		return 1
	case Queued:
		return 2
	case Running:
		return 3
	case Verifying:
		return 4
	case Verified:
		return 5
	case Done:
		return 6
	case Failed:
		return 7
	case Canceled:
		return 8
	case Blocked:
		return 9
	}
	return -1
}
