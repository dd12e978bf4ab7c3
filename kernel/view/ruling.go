package view

import (
	"time"

	"pawl/text/policy"
)

// Ruling is what the policy said of a call and what came of it.
type Ruling struct {
	At   time.Time `json:"at"`
	Run  string    `json:"run,omitempty"`
	Step string    `json:"step,omitempty"`
	Tool string    `json:"tool"`
	// InPlace says that it was for the person's own tree.
	InPlace bool `json:"in_place,omitempty"`
	// Call is what would be done: the command or the path of a call, its arguments where it has neither.
	Call     string          `json:"call,omitempty"`
	Decision policy.Decision `json:"decision"`
	Reasons  []policy.Reason `json:"reasons"`
	// Answer is the state of the question about it: pending, granted, refused or stale, "" where nothing was asked. By
	// says who answered, and Person that only a person could.
	Answer string `json:"answer,omitempty"`
	By     string `json:"answered_by,omitempty"`
	Person bool   `json:"person,omitempty"`
}
