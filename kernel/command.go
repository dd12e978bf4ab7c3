package kernel

import (
	"pawl/kernel/effect"
	"pawl/machine/task"
)

// Answer is what a person says about an effect whose outcome was lost in a crash.
type Answer string

// The answers: it happened, it did not and may be done, or try it again in any case.
const (
	AnswerNone  Answer = ""
	AnswerDone  Answer = "done"
	AnswerRetry Answer = "retry"
)

// Way is how a person answered a question.
type Way string

// The ways to answer. A face that does not say leaves it empty.
const (
	WayTerminal Way = "terminal" // typed where the question was asked
	WayCommand  Way = "command"  // given with the hash of what was shown before
	WayFlag     Way = "flag"     // granted by --yes, for whatever waits
	WayAPI      Way = "api"      // over HTTP, with the hash of what was shown, by a token that a person made for that
	WayPage     Way = "page"     // on a page of the dashboard that showed what the hash is of
)

// Transition is that of docs/spec/task.md#s4-1: move a task to a state, if its table, gates and mode allow it.
type Transition struct {
	Task     string
	To       task.State
	Reason   string
	Exit     task.ExitReason
	Metadata []byte // JSON
	Owner    string // who takes the lease, for running
	Token    int64  // fencing token of the caller's lease, 0 for none
	// Check asks for TaskAlreadyInState instead of the idempotent answer (docs/spec/task.md#d11).
	Check bool
}

// NoteRefusal records that the mode of a task refused a command about it, which itself left nothing behind.
type NoteRefusal struct {
	Task, Rule string
	Refusal    effect.Fault
}
