package view

import (
	"slices"
	"time"

	"pawl"
	"pawl/kernel/effect"
)

// Summary is what docs/spec/turn.md#s1-1 asks of SUMMARIZING: what changed and why, how it was verified, what is at
// risk, how to undo it and what to do next.
type Summary struct {
	Run     string `json:"run,omitempty"`
	Task    string `json:"task,omitempty"`
	Goal    string `json:"goal"`
	Outcome string `json:"outcome"`
	// Steps and Files are what changed; a step's intent is why.
	Steps []SummaryStep     `json:"steps"`
	Files []effect.FileStat `json:"files"`
	// Verification is what the turn's checks and the gates have proven. Evidence of pawl's own commands is the only
	// kind.
	Verification []Evidence `json:"verification"`
	// Proof is what shows that the work did what was wanted, nil where that was not tried.
	Proof *Proof `json:"proof,omitempty"`
	// Reviews are what reviewers said of the work, one for each tree that they looked at; nothing of it is evidence.
	Reviews []effect.WorkReview `json:"reviews,omitempty"`
	// Disputed are the tests of the plan that whoever worked says are wrong, and what became of that.
	Disputed []effect.Disputed `json:"disputed,omitempty"`
	// Repairs are the repairs that were made, Failures what made them necessary.
	Repairs  int       `json:"repairs"`
	Failures []Failure `json:"failures,omitempty"`
	Landing  *Landing  `json:"landing,omitempty"`
	Risk     pawl.Risk `json:"risk_level"`
	Risks    []Note    `json:"risks"`
	// Undo lists the commands that undo the result, the gentlest first; it is empty when nothing was changed.
	Undo      []Next        `json:"undo"`
	Next      []Next        `json:"next"`
	Error     *effect.Fault `json:"error,omitempty"`
	StartedAt time.Time     `json:"started_at,omitzero"`
	EndedAt   time.Time     `json:"ended_at,omitzero"`
	Duration  time.Duration `json:"duration_ns"`
}

// SummaryStep is a step that was carried out or left out, with the reason for which it was planned.
type SummaryStep struct {
	StepLine
	Why string `json:"why"`
}

// InOwnTree names the checks that ran last in the user's own tree, because they need files that no commit holds.
func (s Summary) InOwnTree() []string {
	var names []string
	for _, c := range s.Verification[max(len(s.Verification)-1, 0):] {
		for _, o := range c.Checks {
			if slices.Contains(o.Weaker, effect.WeakIgnored) {
				names = append(names, o.Name)
			}
		}
	}
	return names
}
