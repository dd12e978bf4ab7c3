package kernel_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"pawl"
	"pawl/internal/invariant"
	"pawl/kernel"
	"pawl/kernel/effect"
	"pawl/kernel/effects"
	"pawl/kernel/planning"
	"pawl/kernel/recovery"
)

// TestCrashInAnAskedCall loses the outcome of a command that an agent asked for between two exchanges. When it happened
// the agent is told so; when it did not, pawl makes it again, and the agent need not ask for it once more.
func TestCrashInAnAskedCall(t *testing.T) {
	for answer, want := range map[kernel.Answer]string{kernel.AnswerDone: "", kernel.AnswerRetry: "run_terminal_cmd"} {
		t.Run(string(answer), func(t *testing.T) {
			ask := effect.Ask{ID: "a", Name: "run_terminal_cmd", Args: json.RawMessage(`{"command":"true"}`)}
			m := &mind{work: []effect.WorkResult{wants(ask), finished}}
			b := newBench(t)
			b.k.Config().Agents["m"] = kernel.Traits{Works: true}
			m.plan = intent()
			b.do(&planning.Start{Requirement: "do", Agent: "m", Place: effect.Place{Workspace: "/w", Tree: "/w",
				Git: true}, RunMode: pawl.Assisted, AutoApprove: "policy:test"})
			for n := 0; ; n++ {
				s := b.look()
				if s.Effect != nil && s.Effect.What() == effect.KindTool {
					break
				}
				if n > 30 || !b.act(m.answer) {
					t.Fatalf("no call: session %s", s.Session.State)
				}
			}
			id := b.look().Effect.ID
			b.do(&effects.Begin{Effect: id, Owner: "r1"})
			b.do(&effects.Recover{Effect: id, Answer: effect.DoneUnknown})
			if s := b.look(); s.Session.State != "BLOCKED" || s.Session.Blocked.Kind != kernel.BlockedQuestion ||
				s.Session.Blocked.Effect != id {
				t.Fatalf("session %s %+v", s.Session.State, s.Session.Blocked)
			}
			b.do(&recovery.Fix{Answer: answer})
			b.run(m.answer)
			if got := strings.Join(m.made, " "); got != want {
				t.Errorf("made %q, want %q", got, want)
			}
			if told := m.asked[len(m.asked)-1].Messages; len(m.asked) != 2 || len(told) != 2 || told[1].Call != "a" ||
				told[1].Failed {
				t.Errorf("after %d exchanges the agent was told %+v", len(m.asked), told)
			}
			if s := b.look(); s.Session.State != "IDLE" {
				t.Errorf("session %s %+v", s.Session.State, s.Session.Blocked)
			}
			if v := invariant.Check(context.Background(), b.k); len(v) > 0 {
				t.Errorf("%+v", v)
			}
			b.verifyAudit()
		})
	}
}
