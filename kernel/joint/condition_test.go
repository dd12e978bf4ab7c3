package joint

import (
	"slices"
	"testing"

	"pawl/kernel"
)

// TestEachConditionCounts takes every condition of every row away, one at a time: the row has to apply in a reachable
// combination in which it does not apply with it, so that the joint machine becomes another one. A condition that
// changes nothing would be a sentence that nobody checks.
func TestEachConditionCounts(t *testing.T) {
	whole, tried := Explore(), 0
	for _, row := range kernel.Compositions() {
		for i, c := range row.If {
			less := row
			less.If = slices.Delete(slices.Clone(row.If), i, i+1)
			counts := func() bool {
				for at := range whole.reached {
					_, with := at.after(row)
					if _, without := at.after(less); with != without {
						return true
					}
				}
				return false
			}
			if !counts() {
				t.Errorf("row %s (%s) is the same without the condition %s", row.ID, row.What, c)
			}
			tried++
		}
	}
	if tried < 50 {
		t.Errorf("%d conditions are tried", tried)
	}
}
