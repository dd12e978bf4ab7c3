package kernel

import (
	"encoding/json"
	"time"

	"pawl"
	"pawl/effect"
	"pawl/plan"
	"pawl/policy"
)

// Config is what a decision depends on besides the store: the user's settings and the tools and modes that are wired in.
// It is read only once a Kernel is made from it.
type Config struct {
	// Strict leaves out every row and actor that the product adds to its seeds.
	Strict bool
	// MaxFixes is the number of failed repairs after which the fuse blows (seed 000; 3).
	MaxFixes int
	Retry    RetryConfig
	Profile  policy.Profile
	// Tools are the tools that plans may call, by name.
	Tools map[string]Tool
	// Modes are the capability modes, by mode_id; an unknown one denies (spec.md §4.3).
	Modes map[string]Mode
	// Plan bounds the plans that are accepted.
	Plan plan.Limits
	// AuditWarn turns the audit gate of done into a warning (gates.done.audit=warn).
	AuditWarn bool
	// Gates are the gates of tasks that name none.
	Gates []string
	// PerCheck bounds one verification command, Call one tool call (spec.md §6.6 X13).
	PerCheck, Call time.Duration
	// ReadDelays are the waits before the retries of failed reads (seed 001 §4.1).
	ReadDelays []time.Duration
	// LeaseTime is how long a lease lasts without a heartbeat, CancelGrace how long a runner may take to clean up.
	LeaseTime, CancelGrace time.Duration
	// TaskTime bounds the work on one task; MaxCalls the tool calls of one turn.
	TaskTime time.Duration
	MaxCalls int
}

// RetryConfig is seed 003's retry policy (spec.md §4.5).
type RetryConfig struct {
	Max  int
	Kind string // none fixed linear exponential
	Base time.Duration
	Cap  time.Duration
}

// Delay returns the wait before retry n, counted from 1 (spec.md §6.4 D17: base·2^(n-1) for exponential).
func (r RetryConfig) Delay(n int) time.Duration {
	if n < 1 {
		n = 1
	}
	var d time.Duration
	switch r.Kind {
	case "none":
		return 0
	case "fixed":
		d = r.Base
	case "linear":
		d = r.Base * time.Duration(n)
	default:
		d = r.Base
		for i := 1; i < n && d < r.Cap; i++ {
			d *= 2
		}
	}
	return min(d, r.Cap)
}

// Defaults returns the configuration with the numbers of the seeds and no tools.
func Defaults() Config {
	return Config{
		MaxFixes:    3,
		Retry:       RetryConfig{Max: 3, Kind: "exponential", Base: time.Minute, Cap: time.Hour},
		Profile:     policy.Standard(),
		Tools:       map[string]Tool{},
		Modes:       BuiltinModes(),
		Plan:        plan.DefaultLimits(),
		Gates:       []string{"doctor"},
		PerCheck:    300 * time.Second,
		Call:        300 * time.Second,
		ReadDelays:  []time.Duration{200 * time.Millisecond, 500 * time.Millisecond, time.Second},
		LeaseTime:   300 * time.Second,
		CancelGrace: 30 * time.Second,
		TaskTime:    time.Hour,
		MaxCalls:    1000,
	}
}

// Tool is what the kernel knows of a tool: its contract, and the pure function that reduces a call to what policy judges.
type Tool struct {
	Info    effect.ToolInfo
	Request func(args json.RawMessage) (policy.Request, error)
}

// Mode is a capability mode of seed 003 §5, with the seed's five integration points. Its methods are pure: they are asked
// inside a decision and answer from what they are given. A mode that panics is treated as one that refuses.
type Mode interface {
	// ValidateTransition may refuse a transition after the table allowed it and before anything is written (point 1).
	ValidateTransition(t ModeTask, from, to string) Verdict
	// ValidateGate may refuse to run a gate; GateResult learns of its outcome and says whether a retry makes sense (2).
	ValidateGate(t ModeTask, gate string) Verdict
	GateResult(t ModeTask, gate effect.CheckOutcome) (retry bool)
	// CanAutoApprove says whether an approval checkpoint may be passed without a person (3).
	CanAutoApprove(t ModeTask, checkpoint string) Verdict
	// Disposition judges how the task ended (4).
	Disposition(t ModeTask, exit string) Disposition
	// EvaluateRetry may refuse a retry (5).
	EvaluateRetry(t ModeTask, r RetryState, c RetryConfig) Verdict
}

// ModeTask is what a mode is told of a task.
type ModeTask struct {
	ID, State, Title string
	Mode             string
	RunMode          pawl.RunMode
	HasPlan          bool
	Risk             pawl.Risk
	Writes           bool // the plan has calls that change files or run commands
	Gates            []effect.CheckOutcome
}

// Verdict is a mode's answer (spec.md §4.3).
type Verdict struct {
	Decision VerdictKind
	Reason   string
}

// VerdictKind is the kind of a mode's answer.
type VerdictKind string

// The four verdicts. Everything but Approved keeps the transition from happening.
const (
	Approved VerdictKind = "APPROVED"
	Rejected VerdictKind = "REJECTED"
	Refused  VerdictKind = "BLOCKED"
	Deferred VerdictKind = "DEFERRED"
)

// Disposition is seed 003 §5, point 4.
type Disposition struct {
	Verdict    string  `json:"mode_verdict"`
	Reasoning  string  `json:"mode_reasoning"`
	Confidence float64 `json:"mode_confidence"`
}
