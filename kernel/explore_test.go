package kernel_test

import (
	"strings"
	"testing"

	"pawl/kernel"
)

func TestTheJointMachineHasNoDeadEnds(t *testing.T) {
	e := kernel.Explore()
	for _, c := range append(e.DeadEnds, e.Trapped...) {
		t.Errorf("no way back to IDLE from %+v; rows that apply: %v", c, c.Rows())
	}
	if len(e.Unreachable) > 0 {
		t.Errorf("rows that never apply: %v", e.Unreachable)
	}
	if e.Rows != len(kernel.Compositions()) || e.Combinations < 100 || e.Transitions <= e.Combinations {
		t.Errorf("explored %d combinations and %d transitions of %d rows", e.Combinations, e.Transitions, e.Rows)
	}
	if again := kernel.Explore(); again.Combinations != e.Combinations || again.Transitions != e.Transitions {
		t.Errorf("another walk found %d and %d instead of %d and %d", again.Combinations, again.Transitions, e.Combinations, e.Transitions)
	}
}

// TestRowsThatApply pins what the exploration takes for possible in a few well-known places.
func TestRowsThatApply(t *testing.T) {
	planning := kernel.Combination{Session: "PLANNING", Turn: "PLANNING", Stage: "ANALYZE", Issue: "planning", Run: "running", Phase: "planning"}
	confirming := kernel.Combination{Session: "CONFIRMING", Turn: "AWAITING_CONFIRMATION", Task: "draft", Stage: "DESIGN", Issue: "planned", Item: "pending", Run: "running", Phase: "planning"}
	recovering := kernel.Combination{Session: "AUTO_FIX", Turn: "RECOVERING", Task: "running", Stage: "DEVELOP", Issue: "executing", Item: "executing", Run: "running", Phase: "executing"}
	blocked := kernel.Combination{Session: "BLOCKED", Turn: "IDLE", Task: "failed", Stage: "DEVELOP", Issue: "failed", Item: "failed", Run: "running", Phase: "executing"}
	over := kernel.Combination{Session: "IDLE", Turn: "IDLE", Task: "done", Issue: "completed", Item: "completed", Run: "completed", Phase: "complete"}
	broken := kernel.Combination{Session: "BLOCKED", Turn: "IDLE", Task: "done", Stage: "DEVELOP", Issue: "completed", Item: "completed", Run: "running", Phase: "executing"}
	known := kernel.Explore()
	for _, c := range []struct {
		name string
		at   kernel.Combination
		want string
	}{
		{"a new workspace", kernel.Combination{Session: "IDLE"}, "C01 C42"},
		{"planning", planning, "C03 C04 C05 C06"},
		{"confirming", confirming, "C07 C08"},
		{"recovering", recovering, "C12 C13 C14 C15 C48 C18 C19 C22 C25 C34 C35 C40 C41"},
		{"blocked", blocked, "C31 C36 C38 C39"},
		{"archive broken", broken, "C31"},
		{"over", over, "C01 C42"},
	} {
		if got := strings.Join(c.at.Rows(), " "); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		if !known.Reaches(c.at) {
			t.Errorf("%s is not reachable: %+v", c.name, c.at)
		}
	}
	if known.Reaches(kernel.Combination{Session: "EXECUTING"}) {
		t.Error("EXECUTING without a run is reachable")
	}
}
