package joint

import (
	"slices"
	"testing"

	"pawl/kernel/composition"
	"pawl/machine/session"
)

// TestEachConditionCounts takes every condition of every row away, one at a time: the row has to apply in a reachable
// combination in which it does not apply with it, so that the joint machine becomes another one. A condition that
// changes nothing would be a sentence that nobody checks.
func TestEachConditionCounts(t *testing.T) {
	whole, tried := Explore(), 0
	for _, row := range composition.Rows() {
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

// TestNothingStandsBesideRest: a pause ends with its run, and a rollback before it does.
func TestNothingStandsBesideRest(t *testing.T) {
	rests := 0
	for at := range Explore().reached {
		if at.Session != session.Idle {
			continue
		}
		rests++
		if at.Paused() || at.RollingBack() {
			t.Fatalf("at rest with %s, %s: %+v", at.Dispatch, at.Rollback, at)
		}
	}
	if rests == 0 {
		t.Error("no combination is at rest")
	}
}
