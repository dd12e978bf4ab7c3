package approval

import (
	"pawl/kernel"
	"pawl/text/policy"
)

// Commands of a person about the session.
type (
	// Approve grants the open approval if its subject still has the hash.
	Approve struct {
		Hash string
		// Way is how the person said so.
		Way kernel.Way `json:",omitempty"`
		// Rule has the question answered as one of several: it has to be one of those that the rule lets be answered
		// together. "" is a question that was looked at by itself.
		Rule policy.Code `json:",omitempty"`
	}
	// Deny refuses the open approval. For the plan that ends the run; for a single action the turn looks for another
	// way.
	Deny struct{ Reason string }
	// Show records that the open question with the hash was shown to the person, once for each person and question.
	Show struct{ Hash string }
)

func (*Approve) TakesFlowOn(*kernel.Tx) bool { return true }
func (*Deny) TakesFlowOn(*kernel.Tx) bool    { return true }
