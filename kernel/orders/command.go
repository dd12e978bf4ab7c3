package orders

import (
	"encoding/json"

	"pawl/kernel/effect"
)

// Order carries out a ~command that changes something and is no flow, as one effect of the session: nothing else
// may be at work. The answer is the effect's id; its receipt says what came of it.
type Order struct {
	// Command is the command by its name ("~init").
	Command string
	Kind    effect.Kind
	Spec    json.RawMessage
	// Idempotent says that the effect may be done again where it is not known whether it happened.
	Idempotent bool
}

// Commands of the context manager (docs/spec/session.md#context-manager) that no other command covers. read_context is
// Kernel.Status, archive_task is part of every run's end, and update_state is RouteState.
type (
	// SaveDecision keeps a decision of the project. Type is Architecture, Lib or Rule; Replaces is the id of the
	// decision that this one contradicts, which is marked as deprecated, or "".
	SaveDecision struct{ Type, Content, Replaces string }
	// RecordError keeps what was learnt from an error: its root cause, how it was fixed and what it affects.
	RecordError struct{ Type, RootCause, Fix, Scope string }
	// CreateCheckpoint makes a checkpoint of the tree on request, while nothing is at work.
	CreateCheckpoint struct{}
)

func (*RecordError) ForAgents() bool  { return true }
func (*SaveDecision) ForAgents() bool { return true }
