package effects

import (
	"errors"
	"time"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/effect"
)

// Commands of the runner.
type (
	// Begin takes an effect to do it. It is the commit that must precede any act. Images are what a writing tool found
	// in its preflight, for Done to compare with. Tree is the tree that was recorded before, where the effect asks for
	// it.
	Begin struct {
		Effect string
		Owner  string
		Images []effect.FileImage
		Tree   string `json:",omitempty"`
		// Day is the day that the effect is charged to. An effect that does not fit its budgets is not begun: it has
		// failed then, and the answer is null.
		Day time.Time `json:",omitzero"`
	}
	// Report is the receipt of an effect, under the token that Begin gave. Tree is the tree behind an effect that
	// failed, where the effect asks for it.
	Report struct {
		Effect  string
		Token   int64
		Receipt effect.Receipt
		Tree    string `json:",omitempty"`
		refused error  // why the receipt could not be used, in the command that Refused returns
	}
	// Recover settles an effect that was at work when its runner died, with what the driver's Done said. Tree is the
	// tree as it was found then, where the effect asks for it and did not end.
	Recover struct {
		Effect  string
		Answer  effect.Answer
		Receipt effect.Receipt
		Tree    string `json:",omitempty"`
		// Within says the same of the calls that were at work in the middle of an agent's effect, by their ids.
		Within  map[string]Recovered `json:",omitempty"`
		refused error
	}
	// Recovered is what a driver's Done says of an effect.
	Recovered struct {
		Answer  effect.Answer
		Receipt effect.Receipt
	}
)

func (*Begin) UnderClaim() bool   { return true }
func (*Recover) UnderClaim() bool { return true }
func (*Report) UnderClaim() bool  { return false }

func (*Recover) Forfeits() {}

// Refused returns the report that the effect failed with the refusal. An effect that is not the reporter's stays as it
// is.
func (c *Report) Refused(err error) kernel.Command {
	if errors.Is(err, pawl.ErrFenced) {
		return nil
	}
	failed := *c
	failed.refused = err
	return &failed
}

// Refused is that of Report, for an effect whose receipt was found.
func (c *Recover) Refused(err error) kernel.Command {
	if errors.Is(err, pawl.ErrFenced) || c.Answer != effect.DoneYes {
		return nil
	}
	failed := *c
	failed.refused = err
	return &failed
}

func (c *Begin) ChargedDays(s *kernel.Snapshot) []time.Time {
	if !kernel.Charges(s.Config, s.Run) || s.Effect == nil || !kernel.Timed(s.Effect) {
		return nil
	}
	return []time.Time{c.Day}
}

func (c *Begin) AboutEffect() string   { return c.Effect }
func (c *Report) AboutEffect() string  { return c.Effect }
func (c *Recover) AboutEffect() string { return c.Effect }
func (*Report) Single()                {}
