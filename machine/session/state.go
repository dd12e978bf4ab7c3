package session

import "slices"

// State is the state of a session, written in upper case as the seed writes it.
type State string

// The seven states of docs/spec/session.md#s1.
const (
	Idle       State = "IDLE"
	Planning   State = "PLANNING"
	Confirming State = "CONFIRMING"
	Executing  State = "EXECUTING"
	AutoFix    State = "AUTO_FIX"
	Blocked    State = "BLOCKED"
	Archiving  State = "ARCHIVING"
)

// Event is a trigger of a session.
type Event string

// The triggers of docs/spec/session.md#s3.
const (
	UserInputRequirement Event = "USER_INPUT_REQUIREMENT"
	PRDGenerated         Event = "PRD_GENERATED"
	UserConfirm          Event = "USER_CONFIRM"
	UserCancel           Event = "USER_CANCEL"
	ErrorDetected        Event = "ERROR_DETECTED"
	FixSuccess           Event = "FIX_SUCCESS"
	FixFailed3X          Event = "FIX_FAILED_3X"
	HumanIntervention    Event = "HUMAN_INTERVENTION"
	Rollback             Event = "ROLLBACK"
	AllTasksDone         Event = "ALL_TASKS_DONE"
	ArchiveComplete      Event = "ARCHIVE_COMPLETE"
)

// The triggers that the product adds for operations that the seed allows without naming a trigger
// (docs/spec/session.md#a2 to docs/spec/session.md#a7).
const (
	ForceStop      Event = "FORCE_STOP"
	SkipTask       Event = "SKIP_TASK"
	PlanningFailed Event = "PLANNING_FAILED"
	ArchiveFailed  Event = "ARCHIVE_FAILED"
)

// The events of what stands beside the state.
const (
	Pause          Event = "PAUSE"
	Resume         Event = "RESUME"
	RollbackAsked  Event = "ROLLBACK_ASKED"
	RollbackFailed Event = "ROLLBACK_FAILED"
	RollbackEnded  Event = "ROLLBACK_ENDED"
)

// Operation is what a state lets a person do, as the last column of docs/spec/session.md#s1 lists it.
type Operation string

// The seed's operations.
const (
	OpRequire  Operation = "require"
	OpHistory  Operation = "history"
	OpCancel   Operation = "cancel"
	OpPause    Operation = "pause"
	OpConfirm  Operation = "confirm"
	OpRevise   Operation = "revise"
	OpProgress Operation = "progress"
	OpErrors   Operation = "errors"
	OpStop     Operation = "stop"
	OpFix      Operation = "fix"
	OpRollback Operation = "rollback"
	OpSkip     Operation = "skip"
	OpWait     Operation = "wait"
)

// Allows reports whether the seed lets a person do op while the session is in s.
func (s State) Allows(op Operation) bool {
	for _, info := range states {
		if info.State != s {
			continue
		}
		return slices.Contains(info.Operations, string(op))
	}
	return false
}
