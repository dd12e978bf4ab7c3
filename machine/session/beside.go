package session

import (
	"encoding/json"

	"pawl"
	"pawl/machine"
)

// DispatchState says whether anything new is begun.
type DispatchState string

// The two states of dispatch.
const (
	DispatchRunning DispatchState = "running"
	DispatchPaused  DispatchState = "paused"
)

// IsZero reports whether a document need not say it: that of a session that is not paused.
func (s DispatchState) IsZero() bool { return s == "" || s == DispatchRunning }

// RollbackState says whether a rollback is being carried out.
type RollbackState string

// The two states of a rollback.
const (
	RollbackNone     RollbackState = "none"
	RollbackUnderWay RollbackState = "under_way"
)

// IsZero reports whether a document need not say it: that of a session that is not rolled back.
func (s RollbackState) IsZero() bool { return s == "" || s == RollbackNone }

// Dispatch is the region in which the session is paused.
var Dispatch = machine.New(machine.Table[DispatchState, Event]{
	Name: "session.dispatch", Seed: "000", Initial: DispatchRunning, Resting: []DispatchState{DispatchRunning},
	States: []machine.StateInfo[DispatchState]{
		{State: DispatchRunning, Title: "running", Description: "what comes next is begun"},
		{State: DispatchPaused, Title: "paused", Description: "nothing new is begun from the next safe point on"},
	},
	Events: besideEvents[:2],
	Rules: []machine.Rule[DispatchState, Event]{
		{ID: "S18", From: DispatchRunning, On: Pause, To: DispatchPaused, Actors: byAnyone, Source: "spec A1", Ext: true,
			Description: "a person pauses the work, or hands the flow to an external tool"},
		{ID: "S19", From: DispatchPaused, On: Resume, To: DispatchRunning, Actors: byAnyone, Source: "spec A1", Ext: true,
			Description: "the person goes on, leaves the tool, or the run is over"},
	},
})

// Restoring is the region in which a rollback is carried out.
var Restoring = machine.New(machine.Table[RollbackState, Event]{
	Name: "session.rollback", Seed: "000", Initial: RollbackNone, Resting: []RollbackState{RollbackNone},
	States: []machine.StateInfo[RollbackState]{
		{State: RollbackNone, Title: "none", Description: "no rollback is asked for"},
		{State: RollbackUnderWay, Title: "under way",
			Description: "the tree is being brought back; no other help is taken until that is done"},
	},
	Events: besideEvents[2:],
	Rules: []machine.Rule[RollbackState, Event]{
		{ID: "S20", From: RollbackNone, On: RollbackAsked, To: RollbackUnderWay, Actors: byPerson, Source: "spec A14",
			Ext:         true,
			Description: "a rollback is asked for"},
		{ID: "S21", From: RollbackUnderWay, On: RollbackFailed, To: RollbackNone, Actors: byWork, Source: "spec A14",
			Ext:         true,
			Description: "the tree could not be brought back; the session stays blocked"},
		{ID: "S22", From: RollbackUnderWay, On: RollbackEnded, To: RollbackNone, Actors: byWork, Source: "spec A14",
			Ext:         true,
			Description: "the tree is brought back and tidied up"},
	},
})

var besideEvents = []machine.EventInfo[Event]{
	{Event: Pause, Description: "stop at the next safe point", Named: true},
	{Event: Resume, Description: "go on", Named: true},
	{Event: RollbackAsked, Description: "a rollback is asked for", Named: true},
	{Event: RollbackFailed, Description: "the rollback failed", Named: true},
	{Event: RollbackEnded, Description: "the rollback is done", Named: true},
}

// Beside are the states of a session that stand beside its own (docs/spec/session.md#beside). A document says of them
// what is not initial.
type Beside struct {
	Dispatch DispatchState `json:"dispatch,omitzero"`
	Rollback RollbackState `json:"rollback,omitzero"`
	earlier
}

// earlier is what earlier versions kept in their place (docs/spec/session.md#earlier). It is read and never written.
type earlier struct {
	WasPaused  bool `json:"paused,omitempty"`
	WasRolling bool `json:"rolling,omitempty"`
}

// Outdated reports whether a document of a session has something that earlier versions kept in the place of its states.
func Outdated(doc []byte) bool {
	var was earlier
	return json.Unmarshal(doc, &was) == nil && was != (earlier{})
}

// Settle gives what was read from a document the states that it does not spell out: those that an earlier version kept
// as flags, and initial ones. It is the one place where that is decided.
func (b *Beside) Settle() {
	Dispatch.Settle(&b.Dispatch, b.WasPaused, DispatchPaused)
	Restoring.Settle(&b.Rollback, b.WasRolling, RollbackUnderWay)
	b.earlier = earlier{}
}

// Paused reports whether nothing new is to be begun.
func (b *Beside) Paused() bool { return b.Dispatch == DispatchPaused }

// RollingBack reports whether a rollback is being carried out.
func (b *Beside) RollingBack() bool { return b.Rollback == RollbackUnderWay }

// Move takes the region of a name, which is that of its table, to another state by a row of the table.
func (b *Beside) Move(region string, on Event) *pawl.Error {
	if region == Dispatch.Name() {
		return Dispatch.Move(&b.Dispatch, on, "", func(*machine.Rule[DispatchState, Event]) *pawl.Error { return nil })
	}
	return Restoring.Move(&b.Rollback, on, "", func(*machine.Rule[RollbackState, Event]) *pawl.Error { return nil })
}
