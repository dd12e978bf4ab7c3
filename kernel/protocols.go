package kernel

import (
	"time"

	"pawl"
	"pawl/kernel/effect"
)

// Protocols is the table that joins the packages of the protocols. Each of them knows the kernel and none of the others;
// where one has another go on, it names a step, and the table says whose it is. A table is a value that is made once and
// never changed.
type Protocols struct {
	// Commands are the commands that there are, an empty one of each.
	Commands []Command
	// Steps carry out what decisions go on with.
	Steps map[Step]func(*Tx) error
	// Effects are carried on by what asked for them, by their kinds.
	Effects map[effect.Kind]Follow
	// Answers take a person's word about an approval, by what that is about; AnyAction takes it about everything else.
	Answers   map[string]Reply
	AnyAction Reply
	// Books keep what work costs.
	Books Books
	// Before are tried before anything is decided: an error refuses the command. After bring up to date what follows
	// the session, once all the rest is decided.
	Before, After []func(*Tx) error
}

// Follow is how an effect of a kind goes on.
type Follow struct {
	// Fill completes what its runner is given when it begins, from what is kept elsewhere. Nil adds nothing.
	Fill func(*Tx, effect.Effect) (effect.Effect, error)
	// Done takes its receipt.
	Done func(*Tx, effect.Receipt) error
	// Unwanted says that the receipt is left aside, and what is there cleaned up, when the task is to be canceled.
	Unwanted bool
}

// Reply is who takes a person's word about an approval.
type Reply struct {
	Granted func(tx *Tx, a *Approval) error
	Refused func(tx *Tx, a *Approval, reason string) error
}

// Books are who charges the budgets.
type Books struct {
	// Read gathers the budgets that a command may charge.
	Read func(r *reads, s *Snapshot, c Command)
	// Begin charges an effect that is to begin on a day, and refuses one that does not fit.
	Begin func(tx *Tx, e *EffectDoc, day time.Time) error
	// End charges the time that an effect took, if it was begun.
	End func(tx *Tx, e *EffectDoc)
	// Call charges a call in the middle of an agent's effect, and refuses one that does not fit.
	Call func(tx *Tx, tool string, day time.Time) error
	// Forfeit counts what an effect still holds as spent.
	Forfeit func(tx *Tx, effectID string)
}

// take carries out a step at once, in the middle of what is decided; then has the decision go on with one.
func take(tx *Tx, s Step) error {
	f := tx.protocols.Steps[s]
	if f == nil {
		return pawl.Fail(pawl.CodeInternal, "kernel.unknown_happening", string(s))
	}
	return f(tx)
}
