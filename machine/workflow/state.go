package workflow

// Stage is the seed's CURRENT_STAGE.
type Stage string

// The five stages of docs/spec/workflow.md#variables, and None for the seed's unset variable, whose wire form is empty.
const (
	None     Stage = ""
	Evaluate Stage = "EVALUATE"
	Analyze  Stage = "ANALYZE"
	Design   Stage = "DESIGN"
	Develop  Stage = "DEVELOP"
	Tweak    Stage = "TWEAK"
)

// Mode is the seed's WORKFLOW_MODE.
type Mode string

// The three modes.
const (
	Interactive Mode = "INTERACTIVE"
	AutoFull    Mode = "AUTO_FULL"
	AutoPlan    Mode = "AUTO_PLAN"
)

// Auto reports whether m works in silence.
func (m Mode) Auto() bool { return m == AutoFull || m == AutoPlan }

// Entry is the seed's STAGE_ENTRY_MODE.
type Entry string

// The two ways into a stage: along the flow, or straight by a command.
const (
	Natural Entry = "NATURAL"
	Direct  Entry = "DIRECT"
)

// Path is the outcome of the complexity decision. It is kept apart from the stage (docs/spec/workflow.md#c8).
type Path string

// The three paths, and none before the decision.
const (
	PathNone     Path = ""
	PathTweak    Path = "tweak"
	PathLight    Path = "light"
	PathStandard Path = "standard"
)

// Flag is a variable that is true, false or not decided yet (docs/spec/workflow.md#c11).
type Flag string

// The three values of a Flag.
const (
	Undecided Flag = ""
	True      Flag = "true"
	False     Flag = "false"
)

// Unit is the status of an execution unit (docs/spec/workflow.md#external-tools).
type Unit string

// The six statuses. The seed's spelling CANCELLED is kept here, as it is a different word from the task's state.
const (
	UnitIdle      Unit = "IDLE"
	UnitRunning   Unit = "RUNNING"
	UnitWaiting   Unit = "WAITING"
	UnitCompleted Unit = "COMPLETED"
	UnitError     Unit = "ERROR"
	UnitCancelled Unit = "CANCELLED"
)

// Event causes a move of the stage or of the mode. The seed describes its events without naming them.
type Event string

// The events of both machines.
const (
	CommandGiven Event = "COMMAND"
	Complexity   Event = "COMPLEXITY"
	ContextReady Event = "CONTEXT_READY"
	PackageReady Event = "PACKAGE_READY"
	FlowDone     Event = "FLOW_DONE"
	CancelFlow   Event = "CANCEL"
	Interrupt    Event = "INTERRUPT"
	Choose       Event = "CHOOSE"
	ResetMode    Event = "RESET"
)

// Request is the argument of COMMAND for a whole flow that was asked for in plain words.
const Request = "request"

// Arguments of PACKAGE_READY: confirmed by the user, flowing on in AUTO_FULL, and ending there in AUTO_PLAN.
const (
	PackageConfirmed = "confirmed"
	PackageAuto      = "auto_full"
	PackagePlanOnly  = "plan_only"
)

// Arguments of CHOOSE: what the user picks when the complexity is confirmed.
const (
	ChooseSilent      = "silent"
	ChooseInteractive = "interactive"
	ChooseStart       = "start"
)
