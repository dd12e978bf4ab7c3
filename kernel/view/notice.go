package view

import (
	"time"

	"pawl"
	"pawl/kernel/effect"
)

// Notice is a message to a person, as `pawl notify --json` shows it.
type Notice struct {
	ID      string       `json:"id"`
	Channel string       `json:"channel"`
	Topic   effect.Topic `json:"topic"`
	State   string       `json:"state"`
	Name    string       `json:"name,omitempty"`
	Title   string       `json:"title"`
	// Attempts counts how often it was sent, or tried to be, and Error is why it did not work last.
	Attempts int           `json:"attempts"`
	Error    *effect.Fault `json:"error,omitempty"`
	At       time.Time     `json:"at"`
	// Due is when it is tried next, where something is left to do.
	Due time.Time `json:"due,omitzero"`
}

// Waiting is something that a person may be told of: what waits for them, or what ended.
type Waiting struct {
	// About is what it is, in the form of kernel/notices; Session is the label of the session.
	About   string
	Session string
	Topic   effect.Topic
	Since   time.Time
	// Name is the run, the issue or the question, Goal the requirement, and Risk that of the plan, RiskLow where there
	// is none.
	Name, Goal string
	Risk       pawl.Risk
	// Asked is what an approval is about, and Text what an agent asks, in its own words; Why says why work stopped.
	Asked, Text string
	Why         *effect.Fault
	// Commit is what landed, "" where nothing did.
	Commit, Branch string
	Next           []Next
}
