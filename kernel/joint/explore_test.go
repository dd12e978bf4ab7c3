package joint_test

import (
	"strings"
	"testing"

	"pawl/kernel"
	"pawl/kernel/joint"
)

func TestTheJointMachineHasNoDeadEnds(t *testing.T) {
	e := joint.Explore()
	for _, c := range append(e.DeadEnds, e.Trapped...) {
		t.Errorf("no way back to IDLE from %+v; rows that apply: %v", c, c.Rows())
	}
	if len(e.Unreachable) > 0 {
		t.Errorf("rows that never apply: %v", e.Unreachable)
	}
	if e.Rows != len(kernel.Compositions()) || e.Combinations < 100 || e.Transitions <= e.Combinations {
		t.Errorf("explored %d combinations and %d transitions of %d rows", e.Combinations, e.Transitions, e.Rows)
	}
	if again := joint.Explore(); again.Combinations != e.Combinations || again.Transitions != e.Transitions {
		t.Errorf("another walk found %d and %d instead of %d and %d", again.Combinations, again.Transitions,
			e.Combinations, e.Transitions)
	}
}

// TestRowsThatApply pins what the exploration takes for possible in a few well-known places.
func TestRowsThatApply(t *testing.T) {
	planning := joint.Combination{Session: "PLANNING", Turn: "PLANNING", Stage: "DESIGN", Issue: "planning",
		Run: "running", Phase: "planning"}
	confirming := joint.Combination{Session: "CONFIRMING", Turn: "AWAITING_CONFIRMATION", Task: "draft",
		Stage: "DESIGN", Issue: "planned", Item: "pending", Run: "running", Phase: "planning"}
	recovering := joint.Combination{Session: "AUTO_FIX", Turn: "RECOVERING", Task: "running", Stage: "DEVELOP",
		Issue: "executing", Item: "executing", Run: "running", Phase: "executing"}
	blocked := joint.Combination{Session: "BLOCKED", Turn: "IDLE", Task: "failed", Stage: "DEVELOP", Issue: "failed",
		Item: "failed", Run: "running", Phase: "executing"}
	over := joint.Combination{Session: "IDLE", Turn: "IDLE", Task: "done", Issue: "completed", Item: "completed",
		Run: "completed", Phase: "complete"}
	broken := joint.Combination{Session: "BLOCKED", Turn: "IDLE", Task: "done", Stage: "DEVELOP", Issue: "completed",
		Item: "completed", Run: "running", Phase: "executing"}
	known := joint.Explore()
	for _, c := range []struct {
		name string
		at   joint.Combination
		want string
	}{
		{"a new workspace", joint.Combination{Session: "IDLE"}, "C01 C66 C42"},
		{"planning", planning, "C03 C04 C05 C91 C06 C83"},
		{"confirming", confirming, "C07 C64 C65 C08 C83"},
		{"recovering", recovering, "C12 C13 C14 C15 C48 C18 C19 C22 C25 C70 C34 C35 C40 C41 C83"},
		{"blocked", blocked, "C31 C36 C38 C85"},
		{"archive broken", broken, "C31 C85"},
		{"over", over, "C01 C66 C42"},
	} {
		c.at.Beside.Settle()
		if got := strings.Join(c.at.Rows(), " "); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		if !known.Reaches(c.at) {
			t.Errorf("%s is not reachable: %+v", c.name, c.at)
		}
	}
	if known.Reaches(joint.Combination{Session: "EXECUTING"}) {
		t.Error("EXECUTING without a run is reachable")
	}
}
