package kernel

import (
	"fmt"

	"pawl"
	"pawl/effect"
	"pawl/machine/task"
)

// DefaultMode is the mode of tasks that name none: the only one that may change files and commit (spec.md §4.3).
const DefaultMode = "implementation"

// builtin is a mode described by two facts. The built-in modes differ only in them.
type builtin struct {
	writes  bool // may carry out plans that change files or run commands
	approve bool // may pass an approval checkpoint alone when the risk is low
}

// BuiltinModes returns the modes of seed 003 (spec.md §4.3). Read-only modes refuse to start a task whose plan would
// change something.
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

func (b builtin) ValidateGate(ModeTask, string) Verdict { return Verdict{Approved, ""} }

// GateResult lets every failed gate be retried except one that failed for the environment, which a retry cannot mend.
func (b builtin) GateResult(_ ModeTask, g effect.CheckOutcome) bool { return !g.Environment }

func (b builtin) CanAutoApprove(t ModeTask, checkpoint string) Verdict {
	if b.approve && checkpoint == "open_plan" && t.Risk == pawl.RiskLow {
		return Verdict{Approved, "the mode approves low-risk plans"}
	}
	return Verdict{Refused, "the mode leaves approvals to a person"}
}

func (b builtin) Disposition(t ModeTask, exit string) Disposition {
	for _, g := range t.Gates {
		if g.Status != effect.CheckPassed && g.Status != effect.CheckSkipped {
			return Disposition{Verdict: "rejected", Reasoning: "gate " + g.Name + " did not pass; exit reason " + exit}
		}
	}
	if exit == string(task.ExitBlocked) {
		return Disposition{Verdict: "blocked", Reasoning: "exit reason " + exit}
	}
	return Disposition{Verdict: "rejected", Reasoning: "exit reason " + exit}
}

func (b builtin) EvaluateRetry(ModeTask, RetryState, RetryConfig) Verdict {
	return Verdict{Approved, ""}
}

// ask calls a mode and turns a panic into a refusal, so that a mode that crashes fails closed (spec.md §6.4 D10).
func ask(question func() Verdict) (v Verdict) {
	defer func() {
		if p := recover(); p != nil {
			v = Verdict{Deferred, fmt.Sprintf("the mode crashed: %v", p)}
		}
	}()
	return question()
}

// modeOf returns the mode of a task, or a refusal for a mode that nobody registered.
func (c *Config) modeOf(id string) (Mode, *pawl.Error) {
	if id == "" {
		id = DefaultMode
	}
	if m, ok := c.Modes[id]; ok && m != nil {
		return m, nil
	}
	return nil, pawl.Fail(pawl.CodeModeViolation, "kernel.mode_unknown", id)
}
