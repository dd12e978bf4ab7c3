package board

import "strings"

// RunStatus is the state of a whole batch, written in lower case as the seed writes it.
type RunStatus string

// The three states of a run.
const (
	RunPending   RunStatus = "pending"
	RunRunning   RunStatus = "running"
	RunCompleted RunStatus = "completed"
)

// PhaseStatus is what a run is doing.
type PhaseStatus string

// The five phases.
const (
	PhaseInit      PhaseStatus = "init"
	PhaseListing   PhaseStatus = "listing"
	PhasePlanning  PhaseStatus = "planning"
	PhaseExecuting PhaseStatus = "executing"
	PhaseComplete  PhaseStatus = "complete"
)

// IssueStatus is the state of an issue. Beside it stand the states of its four regions, of which ready, blocked and the
// other standings are computed (docs/spec/board.md#regions).
type IssueStatus string

// The six states of an issue.
const (
	IssueRegistered IssueStatus = "registered"
	IssuePlanning   IssueStatus = "planning"
	IssuePlanned    IssueStatus = "planned"
	IssueExecuting  IssueStatus = "executing"
	IssueCompleted  IssueStatus = "completed"
	IssueFailed     IssueStatus = "failed"
)

// ItemStatus is the state of a queue item.
type ItemStatus string

// The four states of a queue item.
const (
	ItemPending   ItemStatus = "pending"
	ItemExecuting ItemStatus = "executing"
	ItemCompleted ItemStatus = "completed"
	ItemFailed    ItemStatus = "failed"
)

// Event causes moves on the board. All its machines share the names, as one action moves several of them.
type Event string

// The actions of the seed: Action-Init, Action-List, Action-Plan, Action-Execute, Action-Complete.
const (
	Init     Event = "INIT"
	List     Event = "LIST"
	Plan     Event = "PLAN"
	Execute  Event = "EXECUTE"
	Complete Event = "COMPLETE"
)

// The results of actions, which the seed leaves without a name, and the events that the product adds.
const (
	PlanReady  Event = "PLAN_READY"
	PlanFailed Event = "PLAN_FAILED"
	Succeed    Event = "SUCCEED"
	Fail       Event = "FAIL"
	Reject     Event = "REJECT"
	Requeue    Event = "REQUEUE"
	Retry      Event = "RETRY"
	Skip       Event = "SKIP"
)

// The events of the regions beside the state of an issue.
const (
	Pause   Event = "PAUSE"
	Resume  Event = "RESUME"
	Wait    Event = "WAIT"
	GoOn    Event = "GO_ON"
	Drain   Event = "DRAIN"
	Acquire Event = "ACQUIRE"
	Release Event = "RELEASE"
	Unblock Event = "UNBLOCK"
)

// Replan is the argument of RETRY that asks for a new plan instead of another run of the present one.
const Replan = "replan"

// PlanGivenUp is the argument of PLAN_FAILED after the last planning attempt.
const PlanGivenUp = "final"

// ParsePhase reads a phase, and the two aliases that exports of other tools use (docs/spec/board.md#e3). It reports
// whether text is one.
func ParsePhase(text string) (PhaseStatus, bool) {
	switch p := PhaseStatus(strings.TrimSpace(text)); p {
	case "initialized":
		return PhaseInit, true
	case "completed":
		return PhaseComplete, true
	default:
		return p, Phase.Known(p)
	}
}
