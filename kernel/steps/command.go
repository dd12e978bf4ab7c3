package steps

import (
	"time"

	"pawl/kernel"
	"pawl/kernel/effect"
	"pawl/machine/turn"
)

// AnswerQuestions answers the open questions, in their order: those that the work waits for or, where it waits for
// none, all others. Question names one of them. Without answers the asker goes on with what there is.
type AnswerQuestions struct {
	Answers  []string
	Question string `json:",omitempty"`
}

// Ask puts a question to the person. It is answered with the question's label; asked again by the same actor while
// it is open, it is the same question. Work that goes on meanwhile waits for the answer before its next call.
type Ask struct{ Question string }

// Commands of the runner.
type (
	// Claim takes the lease on a queued task (T5), or on a running one whose runner is gone.
	Claim struct{ Task, Owner string }
	// StartToolCall has a call judged that an agent asks for in the middle of its work, and commits it as begun. It is
	// answered with Made.
	StartToolCall struct {
		Effect string
		Token  int64
		Ask    effect.Ask
		Images []effect.FileImage
		// Judge asks for the judgement alone: the agent makes the call itself, behind its walls.
		Judge bool `json:",omitempty"`
		// Day is the day that the call is charged to.
		Day time.Time `json:",omitzero"`
	}
	// AttachSession keeps the agent's own session, so that a later attempt goes on with it.
	AttachSession struct {
		Effect  string
		Token   int64
		Session string
	}
)

// Made is the answer to Make: the call to do next, or why it must not be made.
type Made struct {
	Effect  *effect.Effect `json:"effect,omitempty"`
	Refused *effect.Fault  `json:"refused,omitempty"`
}

func (c *StartToolCall) ChargedDays(s *kernel.Snapshot) []time.Time {
	if !kernel.Charges(s.Config, s.Run) {
		return nil
	}
	return []time.Time{c.Day}
}
func (*AttachSession) ChargedDays(*kernel.Snapshot) []time.Time { return nil }
func (*Ask) ForAgents() bool                                    { return true }
func (c *Claim) AboutTask() string                              { return c.Task }
func (c *StartToolCall) AboutEffect() string                    { return c.Effect }
func (c *AttachSession) AboutEffect() string                    { return c.Effect }

// What agents ask beside the work goes on.
func (*AnswerQuestions) TakesFlowOn(tx *kernel.Tx) bool {
	return tx.Turn != nil && tx.Turn.State == string(turn.Clarifying)
}
