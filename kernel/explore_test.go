package kernel_test

import (
	"testing"

	"pawl/kernel"
)

func TestExploreTmp(t *testing.T) {
	e := kernel.Explore()
	t.Logf("%d comb %d trans %d rows; dead %d trapped %d unreach %v", e.Combinations, e.Transitions, e.Rows, len(e.DeadEnds), len(e.Trapped), e.Unreachable)
	for i, c := range e.DeadEnds {
		if i < 20 {
			t.Logf("dead %+v", c)
		}
	}
	for i, c := range e.Trapped {
		if i < 20 {
			t.Logf("trapped %+v", c)
		}
	}
}
