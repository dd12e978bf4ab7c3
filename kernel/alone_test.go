package kernel_test

import (
	"testing"
	"time"

	"pawl"
	"pawl/kernel/control"
	"pawl/kernel/effect"
	"pawl/kernel/planning"
	"pawl/kernel/steps"
)

// The time of a task does not run while nobody has it: whoever takes it up the next day, after the machine was switched
// off, has as much of it left as there was. While somebody works it does.
func TestTimeWhileNobodyWorks(t *testing.T) {
	b := newBench(t)
	w := &world{plan: twoSteps()}
	b.do(&planning.Start{Requirement: "do the work", Place: place, RunMode: pawl.Assisted, AutoApprove: "policy:test"})
	claimed := false
	b.run(func(e effect.Effect) effect.Receipt {
		if e.Kind != effect.KindTool || claimed {
			return w.answer(e)
		}
		claimed = true
		work := b.look().Task
		b.now = b.now.Add(48 * time.Hour)
		b.do(&steps.Claim{Task: work.ID, Owner: "another"})
		b.do(&control.Sweep{Owner: "another"})
		if got := b.look(); got.Session.State != "EXECUTING" || got.Task.Waited < 47*time.Hour || got.Task.Waited > 48*time.Hour {
			t.Errorf("taken up two days later: %s, waited %s", got.Session.State, got.Task.Waited)
		}
		b.now = b.now.Add(b.k.Config().TaskTime + time.Minute)
		b.do(&control.Sweep{Owner: "another"})
		if got := b.look(); got.Session.State != "BLOCKED" {
			t.Errorf("past its time: %s", got.Session.State)
		}
		return w.answer(e)
	})
	if !claimed {
		t.Error("no work was begun")
	}
}
