package effect

import (
	"time"

	"pawl"
	"pawl/text/plan"
)

// Dispute is the word of who works that a test of the plan is wrong: it asks for something else than the requirement.
type Dispute struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// RewriteSpec asks whoever planned to look at one of the plan's tests once more, with which somebody who works does not
// agree. It can change nothing else of the plan.
type RewriteSpec struct {
	Agent       string     `json:"agent"`
	Requirement string     `json:"requirement"`
	Answers     []Answered `json:"answers,omitempty"`
	// Lang is the language to answer in, "" for the agent's own settings.
	Lang string `json:"lang,omitempty"`
	// Criterion is what the test shows, without the tests that are held out, and Test the file as it was approved.
	Criterion plan.Criterion `json:"criterion"`
	Test      plan.TestFile  `json:"test"`
	// Reason is what is said against it, by somebody whom nobody has to believe.
	Reason string `json:"reason"`
}

// RewriteResult is the test as it should be.
type RewriteResult struct {
	Said
	// Content is the whole file, "" where the test stays as it is.
	Content string `json:"content,omitempty"`
	Why     string `json:"why"`
}

// Disputed is what became of a dispute.
type Disputed struct {
	Dispute
	// Agent says that the test is wrong, Criterion is the id of what the test shows, and Was its text then.
	Agent     string `json:"agent"`
	Criterion string `json:"criterion"`
	Was       string `json:"was"`
	// Answer is what whoever planned says, nil while it is not there; Fault says why there is none.
	Answer *RewriteResult `json:"answer,omitempty"`
	Fault  *Fault         `json:"fault,omitempty"`
	// By is whose word decided about another text, "" where there is none, and Taken says that it replaced the test.
	By    pawl.Actor `json:"answered_by,omitempty"`
	Taken bool       `json:"taken,omitempty"`
	At    time.Time  `json:"at"`
}

// Doubtful reports whether the work is judged by another test than the one that was approved, and no person has seen
// it.
func (d Disputed) Doubtful() bool { return d.Taken && d.By.Kind() != pawl.KindUser }
