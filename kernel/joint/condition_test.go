package joint

import (
	"slices"
	"testing"

	"pawl/kernel"
)

// TestEachConditionCounts takes every condition of every row away, one at a time: the joint machine has to become
// another one. A condition that changes nothing would be a sentence that nobody checks.
func TestEachConditionCounts(t *testing.T) {
	whole := Explore()
	rows, tried := kernel.Compositions(), 0
	for n := range rows {
		for i, c := range rows[n].If {
			less := slices.Clone(rows)
			less[n].If = slices.Delete(slices.Clone(rows[n].If), i, i+1)
			if e := explore(less); e.Combinations == whole.Combinations && e.Transitions == whole.Transitions {
				t.Errorf("row %s (%s) is the same without the condition %s", rows[n].ID, rows[n].What, c)
			}
			tried++
		}
	}
	if tried < 35 {
		t.Errorf("%d conditions in %d rows", tried, len(rows))
	}
}
