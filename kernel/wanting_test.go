package kernel_test

import (
	"encoding/json"
	"strings"
	"testing"

	"pawl"
	"pawl/kernel/approval"
	"pawl/kernel/effect"
	"pawl/kernel/effects"
	"pawl/kernel/steps"
)

// wantsToDelete brings a bench to an agent with a loop of its own whose call needs a word, and whose work broke off
// there.
func wantsToDelete(t *testing.T, judge bool) (*bench, *mind) {
	t.Helper()
	m := &mind{work: []effect.WorkResult{finished}}
	b, e := begun(t, m)
	deleting(b)
	b.do(&steps.AttachSession{Effect: e.ID, Token: e.Token, Session: "own-7"})
	refused := b.make(e, call("a", "delete_file", "x"), judge).Refused
	if refused == nil || refused.Code != pawl.CodeApprovalNeeded {
		t.Fatalf("refused %+v", refused)
	}
	b.do(&effects.Report{Effect: e.ID, Token: e.Token,
		Receipt: effect.FailedWith(refused.Err(), effect.WorkResult{Said: effect.Said{Agent: "m"}})})
	return b, m
}

// beginNow begins an effect and returns it as its driver gets it.
func (b *bench) beginNow(id string) (e effect.Effect) {
	b.t.Helper()
	if err := json.Unmarshal(b.do(&effects.Begin{Effect: id, Owner: "r1", Day: b.now}).Result, &e); err != nil {
		b.t.Fatal(err)
	}
	return e
}

// make asks for a call in the middle of an agent's work.
func (b *bench) make(e effect.Effect, a effect.Ask, judge bool) (made steps.Made) {
	b.t.Helper()
	if err := json.Unmarshal(b.do(&steps.StartToolCall{Effect: e.ID, Token: e.Token, Ask: a, Judge: judge,
		Day: b.now}).Result, &made); err != nil {
		b.t.Fatal(err)
	}
	return made
}

// TestCallInTheMiddleThatNeedsAWord parks the work of an agent with a loop of its own on the call that the policy asks
// about, and goes on with the agent's own session; the word is good for exactly that call, once.
func TestCallInTheMiddleThatNeedsAWord(t *testing.T) {
	for name, judge := range map[string]bool{"made by pawl": false, "made by the agent": true} {
		t.Run(name, func(t *testing.T) {
			b, m := wantsToDelete(t, judge)
			s := b.look()
			if s.Turn.State != "AWAITING_CONFIRMATION" || s.Approval == nil || s.Approval.About != "call" ||
				s.Approval.Detail != `delete_file {"path":"x"}` {
				t.Fatalf("turn %s, approval %+v", s.Turn.State, s.Approval)
			}
			b.do(&approval.Approve{Hash: s.Approval.Hash})
			next := b.look().Effect
			if next == nil || next.What() != effect.KindWork {
				t.Fatalf("what follows is %+v", next)
			}
			again := b.beginNow(next.ID)
			spec, err := effect.Decode[effect.WorkSpec](again.Spec)
			if err != nil || spec.Session != "own-7" || len(spec.Notes) != 1 ||
				!strings.Contains(spec.Notes[0], `delete_file {"path":"x"}`) {
				t.Errorf("%v: goes on with %q, told %q", err, spec.Session, spec.Notes)
			}
			other := call("b", "delete_file", "y")
			if made := b.make(again, other, judge); made.Refused == nil ||
				made.Refused.Code != pawl.CodeApprovalNeeded {
				t.Errorf("the word covers another call: %+v", made)
			}
			made := b.make(again, call("c", "delete_file", "x"), judge)
			if made.Refused != nil || (made.Effect == nil) != judge {
				t.Fatalf("the call that is allowed: %+v", made)
			}
			if made.Effect != nil {
				spec, _ := effect.Decode[effect.ToolCall](made.Effect.Spec)
				if spec.Granted != s.Approval.ID {
					t.Errorf("made under %q, allowed by %q", spec.Granted, s.Approval.ID)
				}
				b.do(&effects.Report{Effect: made.Effect.ID, Token: made.Effect.Token,
					Receipt: effect.Succeeded(effect.ToolResult{})})
			}
			if made := b.make(again, call("d", "delete_file", "x"), judge); made.Refused == nil {
				t.Errorf("the word is good twice: %+v", made)
			}
			b.do(&effects.Report{Effect: again.ID, Token: again.Token, Receipt: effect.Succeeded(finished)})
			b.run(m.answer)
			if s := b.look(); s.Session.State != "IDLE" {
				t.Errorf("session %s %+v", s.Session.State, s.Session.Blocked)
			}
			b.verifyAudit()
		})
	}
}

// TestCallInTheMiddleThatIsDenied looks for another way, and never makes the call.
func TestCallInTheMiddleThatIsDenied(t *testing.T) {
	b, m := wantsToDelete(t, false)
	b.do(&approval.Deny{Reason: "keep it"})
	m.asked = nil
	b.run(m.answer)
	s := b.look()
	if s.Session.State != "IDLE" || len(m.made) != 0 || m.repairs != 1 {
		t.Errorf("session %s, made %v, %d repairs", s.Session.State, m.made, m.repairs)
	}
	if f := m.asked[0].Failure; f == nil || f.What != "call refused" || !strings.Contains(f.Output, "delete_file") ||
		!strings.Contains(f.Output, "keep it") {
		t.Errorf("the agent was told %+v", f)
	}
	b.verifyAudit()
}
