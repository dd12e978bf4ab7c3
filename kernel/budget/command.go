package budget

import (
	"time"

	"pawl/kernel/effect"
)

// Commands of the runner.
type (
	// Reserve sets aside what one model call of an effect may cost at most, on a day; it is answered with the
	// reservation. Settle says what the call did cost.
	Reserve struct {
		Effect string
		Token  int64
		Day    time.Time
		Most   effect.Usage
	}
	Settle struct {
		Effect      string
		Day         time.Time
		Reservation string
		Cost        effect.Usage
	}
)

func (c *Reserve) AboutEffect() string { return c.Effect }
func (c *Settle) AboutEffect() string  { return c.Effect }
