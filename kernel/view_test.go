package kernel_test

import (
	"context"
	"encoding/json"
	"testing"

	"pgregory.net/rapid"

	"pawl/effect"
	"pawl/kernel"
	"pawl/plan"
	"pawl/policy"
)

// watch checks after each commit that the session is where what lies below it says, and that the states together are among
// those that the exploration knows.
func (b *bench) watch() {
	known := kernel.Explore()
	b.k.OnCommit(func(kernel.Outcome) {
		s, err := b.k.Look(context.Background())
		if err != nil {
			b.t.Fatal(err)
		}
		if got := kernel.Derived(s); string(got) != s.Session.State {
			b.t.Errorf("session %s, derived %s: %+v", s.Session.State, got, s.Combination())
		}
		if c := s.Combination(); !known.Reaches(c) {
			b.t.Errorf("the exploration does not know %+v", c)
		}
	})
}

var _ = json.Marshal
var _ = rapid.Check
var _ plan.Plan
var _ policy.Scope
var _ effect.Kind

func TestDerivedAlongEveryWay(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		b := newBench(t)
		b.watch()
		w := &world{
			plan: twoSteps(), failChecks: rapid.IntRange(0, 5).Draw(rt, "failing checks"), failGates: rapid.IntRange(0, 4).Draw(rt, "failing gates"),
			failCall: rapid.IntRange(0, 2).Draw(rt, "failing calls"), noRepair: rapid.Bool().Draw(rt, "no repair"),
		}
		for range rapid.IntRange(5, 80).Draw(rt, "length") {
			s := b.look()
			switch {
			case rapid.IntRange(0, 6).Draw(rt, "move") == 0:
				b.say(rt, person(rt, s))
			case s.Session.State == "IDLE" && s.Session.Effect == "":
				b.say(rt, &kernel.Start{Requirement: "work", Place: effect.Place{Workspace: "/w", Tree: "/w", Git: true}, RunMode: "assisted"})
			case s.Session.State == "CONFIRMING":
				b.say(rt, &kernel.Approve{Hash: s.Approval.Hash})
			case s.Session.Paused:
				b.say(rt, &kernel.Resume{})
			default:
				b.act(w.answer)
			}
			if t.Failed() {
				rt.FailNow()
			}
		}
	})
}
