package turn

// State is the state of a turn, written in upper case as the seed writes it.
type State string

// The eleven states of docs/spec/turn.md#s2-1.
const (
	Idle                 State = "IDLE"
	Intake               State = "INTAKE"
	Clarifying           State = "CLARIFYING"
	ContextBuilding      State = "CONTEXT_BUILDING"
	Planning             State = "PLANNING"
	AwaitingConfirmation State = "AWAITING_CONFIRMATION"
	Executing            State = "EXECUTING"
	Verifying            State = "VERIFYING"
	Recovering           State = "RECOVERING"
	Summarizing          State = "SUMMARIZING"
	Done                 State = "DONE"
)

// Active reports whether a turn is under way in s: every state but IDLE and DONE.
func (s State) Active() bool { return s != Idle && s != Done && Table.Known(s) }

// Parked reports whether a turn in s waits for a person, so that its lease may be released meanwhile.
func (s State) Parked() bool { return s == Clarifying || s == AwaitingConfirmation }

// Event causes a move of a turn.
type Event string

// The events of docs/spec/turn.md#s2-2.
const (
	UserMessage         Event = "USER_MESSAGE"
	ClarificationAnswer Event = "CLARIFICATION_ANSWER"
	ToolCallRequest     Event = "TOOL_CALL_REQUEST"
	ToolCallResult      Event = "TOOL_CALL_RESULT"
	Confirm             Event = "CONFIRM"
	Timeout             Event = "TIMEOUT"
	Cancel              Event = "CANCEL"
)

// The events that docs/spec/turn.md#s2-3 describes without naming them, and those that the product adds.
const (
	NeedInfo           Event = "NEED_INFO"
	IntakeReady        Event = "INTAKE_READY"
	PolicyDenied       Event = "POLICY_DENIED"
	ContextReady       Event = "CONTEXT_READY"
	PlanRisky          Event = "PLAN_RISKY"
	PlanSafe           Event = "PLAN_SAFE"
	PlanningFailed     Event = "PLANNING_FAILED"
	ConfirmationNeeded Event = "CONFIRMATION_NEEDED"
	StepFailed         Event = "STEP_FAILED"
	StepsDone          Event = "STEPS_DONE"
	ChecksPassed       Event = "CHECKS_PASSED"
	ChecksFailed       Event = "CHECKS_FAILED"
	FixPlanned         Event = "FIX_PLANNED"
	GiveUp             Event = "GIVE_UP"
	SummaryReady       Event = "SUMMARY_READY"
	TurnClosed         Event = "TURN_CLOSED"
)

// Arguments of TOOL_CALL_RESULT. A tolerated failure is one after which the step goes on: a read that is tried again, a
// search that falls back to a simpler one, or a refusal that the agent was told of.
const (
	ResultOK        = "ok"
	ResultFailed    = "failed"
	ResultTolerated = "tolerated"
)

// Arguments of CONFIRM. Yes and no answer the question about the plan, and no ends the turn wherever it was asked. The
// others answer a question about a single action and lead back to where it was asked (docs/spec/turn.md#b4).
const (
	AnswerYes       = "yes"
	AnswerNo        = "no"
	AnswerYesStep   = "yes_step"
	AnswerYesRepair = "yes_repair"
	AnswerNoStep    = "no_step"
	AnswerYesChecks = "yes_checks"
	AnswerYesProof  = "yes_proof"
	AnswerNoTest    = "no_test"
)

// AnswerStep is the argument of CLARIFICATION_ANSWER when the question was asked in the middle of a step.
const AnswerStep = "step"

// ChecksOptional is the argument of CHECKS_FAILED when no failed check was required (docs/spec/turn.md#b10).
const ChecksOptional = "optional"

// ChecksTouched is the argument of CONFIRMATION_NEEDED when the work changed what it is judged by.
const ChecksTouched = "checks_touched"

// ProofMissing is the argument of CONFIRMATION_NEEDED and CHECKS_FAILED when every check passed and nothing shows that
// the work did what was wanted.
const ProofMissing = "unproven"

// Objected is the argument of CHECKS_FAILED when every check passed and a reviewer objects with a witness.
const Objected = "objected"

// FixPatch is the argument of FIX_PLANNED when the fix changes the plan (docs/spec/turn.md#b6).
const FixPatch = "patch"

// Outcome says how a turn ended, as its summary records it.
type Outcome string

// Every outcome of a turn.
const (
	OutcomeDone     Outcome = "done"
	OutcomeDeclined Outcome = "declined"
	OutcomeCanceled Outcome = "canceled"
	OutcomeDenied   Outcome = "denied"
	OutcomeUnclear  Outcome = "unclear"
	OutcomeFailed   Outcome = "failed"
	OutcomeTimeout  Outcome = "timeout"
)

// Scope says how far a confirmation reaches.
type Scope string

// The three scopes (docs/spec/turn.md#policy-decision).
const (
	ScopeAction    Scope = "single_action"
	ScopeSession   Scope = "session"
	ScopeWorkspace Scope = "workspace"
)
