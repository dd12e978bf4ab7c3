package kernel

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"pawl"
	"pawl/kernel/effect"
	"pawl/kernel/word"
	"pawl/machine/task"
	"pawl/machine/workflow"
	"pawl/text/knowledge"
	"pawl/text/plan"
	"pawl/text/policy"
)

// Config is what a decision depends on besides the store: the user's settings and the tools and modes that are wired
// in. It is read only once a Kernel is made from it.
type Config struct {
	// Strict leaves out every row and actor that the product adds to its seeds.
	Strict bool
	// MaxFixes is the number of failed repairs after which the fuse blows (docs/spec/session.md#a8; 3).
	MaxFixes int
	Retry    RetryConfig
	Profile  policy.Profile
	// Walled says that commands run behind walls or not at all, so that nobody is asked about what those hold.
	Walled bool
	// Tools are the tools that plans may call, by name.
	Tools map[string]Tool
	// Modes are the capability modes, by mode_id; an unknown one denies (docs/spec/task.md#modes).
	Modes map[string]Mode
	// Plan bounds the plans that are accepted.
	Plan plan.Limits
	// AuditWarn turns the audit gate of done into a warning (gates.done.audit=warn).
	AuditWarn bool
	// Gates are the gates of tasks that name none.
	Gates []string
	// PerCheck bounds one verification command, Call one tool call (docs/spec/composition.md#x13).
	PerCheck, Call time.Duration
	// Twice says that checks that decide run a second time, under other names.
	Twice bool
	// Proofs says that work has to be shown to have done what was wanted before it lands, or a person accepts it;
	// ProofTime bounds the time in which parts of the work are taken away for that.
	Proofs    bool
	ProofTime time.Duration
	// ReadDelays are the waits before the retries of failed reads (docs/spec/turn.md#s4-1).
	ReadDelays []time.Duration
	// LeaseTime is how long a lease lasts without a heartbeat, CancelGrace how long a runner may take to clean up.
	LeaseTime, CancelGrace time.Duration
	// Network says which places a network grant of a plan stands for; nil means that none can be granted.
	Network func(grant string) ([]effect.Site, error)
	// Vouch says whether a signature is a person's word about a decision; nil means that no key gives one.
	Vouch func(*word.Decision, *word.Signed) error
	// TaskTime bounds the work on one task; MaxCalls the tool calls of one turn.
	TaskTime time.Duration
	MaxCalls int
	// KnowledgeMode is KB_CREATE_MODE; AutoContinue are the stages that an interactive flow leaves without waiting for
	// a word (docs/spec/workflow.md#c6).
	KnowledgeMode knowledge.Mode
	AutoContinue  []workflow.Stage
	// Language is OUTPUT_LANGUAGE, "" for that of the person who gives the command.
	Language string
	// BoardRetries is how often the board tries a failed issue again by itself.
	BoardRetries int
	// Agents are the agents that are wired in, by name; "" is the embedded one.
	Agents map[string]Traits
	// PackTokens is the size of the context pack for agents that want one, in estimated tokens.
	PackTokens int
	// Budgets are the limits of model calls by scope.
	Budgets map[string]Limit
	// PullRequests has results go to a pull request instead of the branch.
	PullRequests bool
}

// RetryConfig is the policy of retries (docs/spec/task.md#retries).
type RetryConfig struct {
	Max  int
	Kind string // none fixed linear exponential
	Base time.Duration
	Cap  time.Duration
}

// Delay returns the wait before retry n, counted from 1 (docs/spec/task.md#d17: base·2^(n-1) for exponential).
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

// RetryState is the bookkeeping of retries (docs/spec/task.md#retries).
type RetryState struct {
	Count   int       `json:"retry_count"`
	Last    time.Time `json:"last_retry_at,omitzero"`
	Next    time.Time `json:"next_retry_after,omitzero"`
	Reasons []string  `json:"retry_history,omitempty"`
}

// keptReasons is how many reasons of failures are kept; the loop detection looks at the last three.
const keptReasons = 10

// Because adds the reason of a failure.
func (r *RetryState) Because(reason string) {
	all := append(slices.Clip(r.Reasons), reason)
	r.Reasons = all[max(0, len(all)-keptReasons):]
}

// Defaults returns the configuration with the numbers of the seeds and no tools.
func Defaults() Config {
	return Config{
		MaxFixes:     3,
		Retry:        RetryConfig{Max: 3, Kind: "exponential", Base: time.Minute, Cap: time.Hour},
		Profile:      policy.Standard(),
		Tools:        map[string]Tool{},
		Modes:        BuiltinModes(),
		Plan:         plan.DefaultLimits(),
		Gates:        []string{"doctor"},
		PerCheck:     300 * time.Second,
		Call:         300 * time.Second,
		ProofTime:    time.Minute,
		ReadDelays:   []time.Duration{200 * time.Millisecond, 500 * time.Millisecond, time.Second},
		LeaseTime:    300 * time.Second,
		CancelGrace:  30 * time.Second,
		TaskTime:     time.Hour,
		MaxCalls:     1000,
		BoardRetries: 2, KnowledgeMode: knowledge.OnDemandAutoCoding,
		Agents:     map[string]Traits{},
		PackTokens: 8000,
	}
}

// Tool is what the kernel knows of a tool: its contract, and the pure function that reduces a call to what policy
// judges.
type Tool struct {
	Info    effect.ToolInfo
	Request func(args json.RawMessage) (policy.Request, error)
}

// Schema is the JSON Schema of a tool's arguments.
func (c *Config) Schema(tool string) ([]byte, bool) {
	t, ok := c.Tools[tool]
	return t.Info.ArgsSchema, ok
}

// Grants looks up what the network grants of a plan stand for.
func (c *Config) Grants(p *plan.Plan) ([]effect.Grant, error) {
	var out []effect.Grant
	for _, name := range p.Network {
		if c.Network == nil {
			return nil, pawl.Fail(pawl.CodeDenied, "kernel.no_network", name)
		}
		sites, err := c.Network(name)
		if err != nil {
			return nil, err
		}
		out = append(out, effect.Grant{Name: name, Sites: sites})
	}
	return out, nil
}

// Connects reports whether a call asks for the network.
func (c *Config) Connects(call plan.ToolCallTemplate) bool {
	tool, ok := c.Tools[call.Name]
	if !ok {
		return false
	}
	request, err := tool.Request(call.ArgsHint)
	return err == nil && request.Network
}

// Repeatable reports whether a call may be made again: the tool says so, or the plan's own word about its command does.
// In the arguments of any other tool that word means something else.
func (c *Config) Repeatable(name string, args json.RawMessage) bool {
	tool := c.Tools[name].Info
	var a struct {
		Idempotent bool `json:"idempotent"`
	}
	return tool.Idempotent || slices.Contains(tool.Permissions, policy.ProcExec) && json.Unmarshal(args, &a) == nil &&
		a.Idempotent
}

// Traits is what the kernel knows of an agent.
type Traits struct {
	// Works says that the agent can carry out steps without calls; Intakes that requirements can be judged through it,
	// and Judges that it judges them by itself instead of by pawl's own rules; Reads that it wants a context pack.
	Works, Intakes, Judges, Reads bool
	// Process says that the agent is a program of its own, which is started for each piece of work.
	Process bool
}

// Limit is what one scope may cost; a zero field is no limit. The fields are those of effect.Usage.
type Limit struct {
	Requests  int64 `json:"requests,omitempty"`
	Tokens    int64 `json:"tokens,omitempty"`
	MicroUSD  int64 `json:"micro_usd,omitempty"`
	Turns     int64 `json:"turns,omitempty"`
	Calls     int64 `json:"calls,omitempty"`
	Processes int64 `json:"processes,omitempty"`
	WallMS    int64 `json:"wall_ms,omitempty"`
}

// ofWork reports whether something is limited that pawl itself counts.
func (l Limit) ofWork() bool { return l.Turns > 0 || l.Calls > 0 || l.Processes > 0 || l.WallMS > 0 }

// Mode is a capability mode, with the five points at which it takes part (docs/spec/task.md#s5). Its methods are pure:
// they are asked inside a decision and answer from what they are given. A mode that panics is treated as one that
// refuses.
type Mode interface {
	// ValidateTransition may refuse a transition after the table allowed it and before anything is written (point 1).
	ValidateTransition(t ModeTask, from, to string) Verdict
	// TransitionMade is told of a transition with the task as it is then. Nothing is written yet, so that an answer
	// other than Approved leaves the task where it was.
	TransitionMade(t ModeTask, from, to string) Verdict
	// ValidateGate may refuse to run a gate; GateResult learns of its outcome and says whether a retry makes sense (2).
	ValidateGate(t ModeTask, gate string) Verdict
	GateResult(t ModeTask, gate effect.CheckOutcome) (retry bool)
	// CanAutoApprove says whether an approval checkpoint may be passed without a person (3).
	CanAutoApprove(t ModeTask, checkpoint string) Verdict
	// Disposition judges how the task ended (4).
	Disposition(t ModeTask, exit string) effect.Disposition
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

// Verdict is a mode's answer (docs/spec/task.md#modes).
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

// DefaultMode is the mode of tasks that name none: the only one that may change files and commit
// (docs/spec/task.md#modes).
const DefaultMode = "implementation"

// builtin is a mode described by two facts. The built-in modes differ only in them.
type builtin struct {
	writes  bool // may carry out plans that change files or run commands
	approve bool // may pass an approval checkpoint alone when the risk is low
}

// BuiltinModes returns the modes that there are (docs/spec/task.md#modes). Read-only modes refuse to start a task whose
// plan would change something.
func BuiltinModes() map[string]Mode {
	return map[string]Mode{
		DefaultMode:              builtin{writes: true},
		"design":                 builtin{},
		"chat":                   builtin{},
		"ops":                    builtin{writes: true},
		"test":                   builtin{writes: true},
		"planning":               builtin{},
		"debug":                  builtin{writes: true},
		"release":                builtin{writes: true},
		"experimental_open_plan": builtin{writes: true, approve: true},
	}
}

func (b builtin) ValidateTransition(t ModeTask, _, to string) Verdict {
	if to == string(task.Running) && t.Writes && !b.writes {
		return Verdict{Rejected, "the mode is read only and the plan changes something"}
	}
	return Verdict{Approved, ""}
}

func (b builtin) TransitionMade(ModeTask, string, string) Verdict { return Verdict{Approved, ""} }

func (b builtin) ValidateGate(ModeTask, string) Verdict { return Verdict{Approved, ""} }

// GateResult lets every failed gate be retried except one that failed for the environment, which a retry cannot mend.
func (b builtin) GateResult(_ ModeTask, g effect.CheckOutcome) bool { return !g.Environment }

func (b builtin) CanAutoApprove(t ModeTask, checkpoint string) Verdict {
	if b.approve && checkpoint == "open_plan" && t.Risk == pawl.RiskLow {
		return Verdict{Approved, "the mode approves low-risk plans"}
	}
	return Verdict{Refused, "the mode leaves approvals to a person"}
}

// Disposition is certain where a gate says it, and a guess from the exit reason otherwise.
func (b builtin) Disposition(t ModeTask, exit string) effect.Disposition {
	for _, g := range t.Gates {
		if g.Status != effect.CheckPassed && g.Status != effect.CheckSkipped {
			return effect.Disposition{Verdict: "rejected", Confidence: 1,
				Reasoning: "gate " + g.Name + " did not pass; exit reason " + exit}
		}
	}
	if exit == string(task.ExitBlocked) {
		return effect.Disposition{Verdict: "blocked", Reasoning: "exit reason " + exit}
	}
	return effect.Disposition{Verdict: "rejected", Reasoning: "exit reason " + exit}
}

func (b builtin) EvaluateRetry(ModeTask, RetryState, RetryConfig) Verdict {
	return Verdict{Approved, ""}
}

// Guarded calls a mode and turns a panic into a refusal, so that a mode that crashes fails closed
// (docs/spec/task.md#d10).
func Guarded(question func() Verdict) (v Verdict) {
	defer func() {
		if p := recover(); p != nil {
			v = Verdict{Deferred, fmt.Sprintf("the mode crashed: %v", p)}
		}
	}()
	return question()
}

// ModeOf returns the mode of a task, or a refusal for a mode that nobody registered.
func (c *Config) ModeOf(id string) (Mode, *pawl.Error) {
	if id == "" {
		id = DefaultMode
	}
	if m, ok := c.Modes[id]; ok && m != nil {
		return m, nil
	}
	return nil, pawl.Fail(pawl.CodeModeViolation, "kernel.mode_unknown", id)
}
