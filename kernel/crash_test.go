package kernel_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"pgregory.net/rapid"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/approval"
	"pawl/kernel/control"
	"pawl/kernel/effect"
	"pawl/kernel/effects"
	"pawl/kernel/planning"
	"pawl/kernel/recovery"
	"pawl/text/plan"
)

// TestAnyCommandAtAnyTimeKeepsTheHouseInOrder lets a person say anything at any moment, lets effects fail, and kills
// the runner between the beginning of an effect and its receipt. Whatever happens, no decision is refused for an
// internal reason, the audit verifies, a call that is not idempotent is started at most once unless a person said so,
// and the session can be brought back to IDLE.
func TestAnyCommandAtAnyTimeKeepsTheHouseInOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		b := newBench(t)
		w := &world{plan: twoSteps(), failChecks: rapid.IntRange(0, 5).Draw(rt, "failing checks"),
			failGates: rapid.IntRange(0, 4).Draw(rt, "failing gates"),
			failCall:  rapid.IntRange(0, 2).Draw(rt, "failing calls"), noRepair: rapid.Bool().Draw(rt, "no repair")}
		started := map[string]int{}
		retried := false
		answer := func(e effect.Effect) effect.Receipt { return w.answer(e) }
		for range rapid.IntRange(5, 60).Draw(rt, "length") {
			s := b.look()
			switch rapid.IntRange(0, 12).Draw(rt, "move") {
			case 0:
				b.say(rt, person(rt, s))
			case 1, 2:
				if e := pendingEffect(s); e != nil && !s.Session.Paused() {
					b.do(&effects.Begin{Effect: e.ID, Owner: "r1"})
					if e.What() == effect.KindTool {
						started[e.ID]++
					}
					b.do(&effects.Recover{Effect: e.ID,
						Answer: rapid.SampledFrom([]effect.Answer{effect.DoneNo, effect.DoneUnknown}).Draw(rt,
							"answer")})
					if got := b.effect(e.ID); got.State == kernel.EffectPending {
						started[e.ID]-- // the driver said that it did not happen
					}
				}
			case 3:
				if s.Session.State == "BLOCKED" {
					retried = true
					b.say(rt, &recovery.Fix{Answer: kernel.AnswerRetry})
				}
			default:
				if !s.Session.Paused() {
					b.act(answer)
				}
			}
		}
		for id, n := range started {
			if n > 1 && !retried {
				rt.Fatalf("effect %s was started %d times", id, n)
			}
		}
		b.home(rt, answer)
		b.verifyAudit()
	})
}

func pendingEffect(s *kernel.Snapshot) *kernel.EffectDoc {
	if e := s.Effect; e != nil && e.State == kernel.EffectPending &&
		(s.Session.Effect == e.ID || s.Task != nil && s.Task.Effect == e.ID) {
		return e
	}
	return nil
}

func (b *bench) effect(id string) *kernel.EffectDoc {
	b.t.Helper()
	e, err := b.k.Effect(context.Background(), id)
	if err != nil || e == nil {
		b.t.Fatal(err)
	}
	return e
}

// person draws something that a person may say.
func person(rt *rapid.T, s *kernel.Snapshot) kernel.Command {
	hash := "00000000"
	if s.Approval != nil {
		hash = s.Approval.Hash
	}
	return rapid.SampledFrom([]kernel.Command{
		&planning.Start{Requirement: "work", Place: effect.Place{Workspace: "/w", Tree: "/w", Git: true},
			RunMode: pawl.Assisted},
		&planning.Start{Requirement: "work", Place: inPlace, RunMode: pawl.Assisted},
		&approval.Approve{Hash: hash}, &approval.Approve{Hash: hash}, &approval.Approve{Hash: hash},
		&approval.Deny{Reason: "no"}, &planning.Revise{Feedback: "again"},
		&control.Pause{}, &control.Resume{}, &recovery.Stop{Reason: "stop"}, &control.CancelRun{},
		&recovery.Fix{Note: "helped"}, &recovery.Fix{Answer: kernel.AnswerDone},
		&recovery.Fix{Steps: []plan.Step{step("h", "write_file")}, Answer: kernel.AnswerRetry}, &recovery.Skip{},
		&recovery.Rollback{}, &recovery.Undo{}, &recovery.Redo{}, &control.Sweep{},
		&recovery.Undo{Step: "s1"}, &recovery.Undo{Step: "s2"},
	}).Draw(rt, "said")
}

// say gives a person's command; it may be refused, but only for a reason that the person can understand.
func (b *bench) say(rt *rapid.T, c kernel.Command) {
	if _, err := b.try(c); err != nil {
		var e *pawl.Error
		if !errors.As(err, &e) || e.Code == pawl.CodeInternal || e.Code == pawl.CodeStoreDamaged ||
			e.Code == pawl.CodeAuditBroken {
			raw, _ := json.Marshal(b.look().Session)
			rt.Fatalf("%T: %v in %s", c, err, raw)
		}
	}
}

// home brings the session back to IDLE by what a person would do.
func (b *bench) home(rt *rapid.T, answer func(effect.Effect) effect.Receipt) {
	for range 40 {
		s := b.look()
		switch {
		case s.Session.Paused():
			b.say(rt, &control.Resume{})
		case s.Task != nil && s.Task.OrphanEffect != "":
			b.run(answer)
		case pendingEffect(s) != nil || s.Task != nil && s.Task.State == "queued" && s.Session.State != "BLOCKED":
			b.run(answer)
		case s.Session.State == "IDLE":
			return
		case s.Session.State == "CONFIRMING":
			b.say(rt, &approval.Deny{Reason: "enough"})
		case s.Session.State == "BLOCKED":
			b.say(rt, &recovery.Rollback{})
			b.say(rt, &recovery.Fix{Answer: kernel.AnswerDone})
		case s.Turn != nil && s.Turn.State == "AWAITING_CONFIRMATION":
			b.say(rt, &approval.Deny{})
		default:
			b.run(answer)
		}
	}
	s := b.look()
	raw, _ := json.Marshal(s.Session)
	task, _ := json.Marshal(s.Task)
	rt.Fatalf("stuck: %s, effect %+v, session %s, task %s %s", s.Session.State, s.Effect, raw, s.Task.State, task)
}
