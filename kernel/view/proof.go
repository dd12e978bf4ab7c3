package view

import (
	"pawl"
	"pawl/kernel/effect"
)

// Proof is what shows that work did what was wanted.
type Proof struct {
	Verdict effect.Verdict `json:"verdict"`
	Tree    string         `json:"tree"`
	// Derived says that the plan names no criteria.
	Derived  bool         `json:"derived,omitempty"`
	Criteria []effect.Met `json:"criteria"`
	// Changed counts the files that differ from what the work started from. Unnoticed are the parts of the work that
	// were taken away for once without a check that failed then, and Unreached counts those that were not.
	Changed   int           `json:"changed"`
	Unnoticed []effect.Part `json:"unnoticed,omitempty"`
	Unreached int           `json:"unreached,omitempty"`
	// Measured says that checks told which lines they ran, and Unrun are those that the work changed and none ran.
	Measured bool           `json:"measured,omitempty"`
	Unrun    []effect.Lines `json:"unrun,omitempty"`
	// By is the person who took the work without proof, with the reason.
	By     pawl.Actor `json:"accepted_by,omitempty"`
	Reason string     `json:"reason,omitempty"`
}

// ProofOf returns what a proof says, or nil where none was made.
func ProofOf(p *effect.Proof) *Proof {
	if p == nil {
		return nil
	}
	return &Proof{Verdict: p.Verdict, Tree: p.Tree, Derived: p.Derived, Criteria: p.Criteria, Changed: p.Changed,
		Unnoticed: p.Unnoticed, Unreached: p.Unreached, Measured: p.Measured,
		Unrun: p.Unrun, By: p.By, Reason: p.Reason}
}
