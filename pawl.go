// Package pawl holds the words that every other package shares: identifiers, actors, risk, the clock and the one error
// type. It imports nothing else of this module, performs no input or output and keeps no state.
//
// pawl is a durable orchestrator for AI coding agents. Its design is in ARCHITECTURE.md; the five state machines that
// it is made of are in machine/… and docs/machines, and what they have to be is said in docs/spec.
package pawl

import (
	"strings"
	"time"
)

// Clock tells the time. Pure packages never read a clock: they are handed the instant at which a decision is made.
type Clock interface{ Now() time.Time }

// ClockFunc lets a function serve as a Clock.
type ClockFunc func() time.Time

// Now calls f.
func (f ClockFunc) Now() time.Time { return f() }

// Risk grades a plan or an action (docs/spec/turn.md#s3-1).
type Risk string

// The three grades, as they are written in plans and records.
const (
	RiskLow    Risk = "low"
	RiskMedium Risk = "medium"
	RiskHigh   Risk = "high"
)

// Valid reports whether r is one of the three grades.
func (r Risk) Valid() bool { return r == RiskLow || r == RiskMedium || r == RiskHigh }

// AtLeast reports whether r is as grave as o or graver. An unknown grade counts as high, so that a typing error never
// makes an action look safer.
func (r Risk) AtLeast(o Risk) bool { return r.weight() >= o.weight() }

func (r Risk) weight() int {
	switch r {
	case RiskLow:
		return 0
	case RiskMedium:
		return 1
	default:
		return 2
	}
}

// RunMode says when a run stops for a person (docs/spec/task.md#run-modes).
type RunMode string

// The three run modes. Interactive asks for the plan, for execution and for rollback; assisted asks for the plan only;
// autonomous never waits for a person: what would need one blocks the task.
const (
	Interactive RunMode = "interactive"
	Assisted    RunMode = "assisted"
	Autonomous  RunMode = "autonomous"
)

// Valid reports whether m is a known run mode.
func (m RunMode) Valid() bool { return m == Interactive || m == Assisted || m == Autonomous }

// ActorKind classes those who may cause a transition (docs/spec/task.md#s3, column actor).
type ActorKind string

// The kinds of actor. Policy stands for a rule that the user wrote and that acts in the user's name; automation for a
// program that gives pawl commands while no person can be seen. It may cause whatever the user may, but its word is no
// person's: what has to be approved it approves only where a policy names it.
const (
	KindUser       ActorKind = "user"
	KindAutomation ActorKind = "automation"
	KindSystem     ActorKind = "system"
	KindRunner     ActorKind = "runner"
	KindVerifier   ActorKind = "verifier"
	KindGateRunner ActorKind = "gate_runner"
	KindPolicy     ActorKind = "policy"
	KindAgent      ActorKind = "agent"
)

// Actor names who acts, as "kind" or "kind:name": "user:ada", "runner:host/4711", "policy:auto_full", "system".
type Actor string

// By builds an Actor from its parts. An empty name leaves the kind alone.
func By(kind ActorKind, name string) Actor {
	if name == "" {
		return Actor(kind)
	}
	return Actor(string(kind) + ":" + name)
}

// Kind returns the part of a before the colon.
func (a Actor) Kind() ActorKind {
	kind, _, _ := strings.Cut(string(a), ":")
	return ActorKind(kind)
}

// Name returns the part of a after the colon, or "".
func (a Actor) Name() string {
	_, name, _ := strings.Cut(string(a), ":")
	return name
}

// Label is how a text names a: by its name or, as in records of earlier versions, by its kind alone.
func (a Actor) Label() string {
	if name := a.Name(); name != "" {
		return name
	}
	return string(a)
}

// ProjectedFile is one file of a projection, relative to .pawl.
type ProjectedFile struct {
	Path    string `json:"path"`
	Content string `json:"content"`
	// Append adds the content to the file's end unless Marker is in it already.
	Append bool   `json:"append,omitempty"`
	Marker string `json:"marker,omitempty"`
	Unique bool   `json:"unique,omitempty"` // never overwrite: the folder takes the next _vN
	Keep   bool   `json:"keep,omitempty"`   // leave a file that is there as it is
}
