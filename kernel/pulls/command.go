package pulls

import (
	"cmp"

	"pawl/kernel"
	"pawl/kernel/effect"
)

// Commands about pull requests.
type (
	// Propose makes a pull request of what a run of the session has landed or kept, or brings the one that is there up
	// to what it is now. Run is the run's id, "" for the last one. Where the pull request says all of it already,
	// nothing happens. The answer is the id of the first effect, or "".
	Propose struct {
		Run string `json:",omitempty"`
	}
	// Note keeps what became of a run's pull request elsewhere: the state that it is in, and the comments that came
	// back.
	Note struct {
		Run   string
		State effect.PullState
		Seen  []string `json:",omitempty"`
	}
)

func (c *Propose) PastRun(s *kernel.Session) string { return cmp.Or(c.Run, s.LastRun) }
func (c *Note) PastRun(*kernel.Session) string      { return c.Run }
