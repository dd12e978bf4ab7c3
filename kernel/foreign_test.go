package kernel_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"pawl"
	"pawl/internal/invariant"
	"pawl/kernel"
	"pawl/kernel/approval"
	"pawl/kernel/effect"
	"pawl/kernel/planning"
	"pawl/kernel/recovery"
	"pawl/text/plan"
	"pawl/text/policy"
)

// foreign adds a tool of somebody else's to a bench.
func foreign(b *bench) {
	b.k.Config().Tools["docs__post"] = kernel.Tool{
		Info: effect.ToolInfo{Name: "docs__post", Version: "1.0.0", ArgsSchema: json.RawMessage(`{"type":"object"}`)},
		Request: func(json.RawMessage) (policy.Request, error) {
			return policy.Request{Tool: "docs__post", Foreign: "docs"}, nil
		},
	}
}

// A call that was sent and never answered is a question to the person, and made again only on their word.
func TestCallThatWasNotAnswered(t *testing.T) {
	unanswered := effect.Failed(pawl.Fail(pawl.CodeOutcomeUnknown, "mcptools.lost", "docs__post", "gone"))
	for name, c := range map[string]struct {
		answer kernel.Answer
		calls  int
		told   string
	}{"it happened": {kernel.AnswerDone, 1, "it did happen"}, "it did not": {kernel.AnswerRetry, 2, `"ok":true`}} {
		for _, planned := range []bool{false, true} {
			t.Run(name+map[bool]string{true: " in a plan"}[planned], func(t *testing.T) {
				ask := effect.Ask{ID: "a", Name: "docs__post", Args: json.RawMessage(`{"idempotent":true}`)}
				m := &mind{work: []effect.WorkResult{wants(ask), finished}}
				b := newBench(t)
				foreign(b)
				b.k.Config().Agents["m"] = kernel.Traits{Works: true}
				b.k.Config().Profile.MCPTools, b.unlike = []string{"docs__*"}, true
				m.plan = intent()
				if planned {
					m.plan.Steps[0].ToolCalls = []plan.ToolCallTemplate{{Name: ask.Name, ArgsHint: ask.Args}}
				}
				calls := 0
				answer := func(e effect.Effect) effect.Receipt {
					if e.Kind != effect.KindTool {
						return m.answer(e)
					}
					if e.Idempotent {
						t.Error("the word of an argument makes the call of a foreign tool repeatable")
					}
					if calls++; calls == 1 {
						return unanswered
					}
					return effect.Succeeded(effect.ToolResult{Payload: json.RawMessage(`{}`)})
				}
				b.do(&planning.Start{Requirement: "do", Agent: "m",
					Place: effect.Place{Workspace: "/w", Tree: "/w", Git: true}, RunMode: pawl.Assisted})
				b.run(answer)
				b.do(&approval.Approve{Hash: b.look().Solution.Hash})
				b.run(answer)
				s := b.look()
				if s.Session.State != "BLOCKED" || s.Session.Blocked.Kind != kernel.BlockedQuestion || calls != 1 {
					t.Fatalf("session %s %+v, %d calls", s.Session.State, s.Session.Blocked, calls)
				}
				b.do(&recovery.Fix{Answer: c.answer})
				b.run(answer)
				if s := b.look(); s.Session.State != "IDLE" || calls != c.calls {
					t.Errorf("session %s %+v, %d calls", s.Session.State, s.Session.Blocked, calls)
				}
				if !planned {
					last := m.asked[len(m.asked)-1].Messages
					if !slices.ContainsFunc(last,
						func(m effect.Message) bool { return m.Call == "a" && strings.Contains(m.Text, c.told) }) {
						t.Errorf("the agent was told %+v", last)
					}
				}
				if v := invariant.Check(context.Background(), b.k); len(v) > 0 {
					t.Errorf("%+v", v)
				}
				b.verifyAudit()
			})
		}
	}
}

// Whoever started the run, a foreign tool is asked about, and where nobody is there to be asked it is not called.
func TestForeignToolIsAskedAbout(t *testing.T) {
	for name, c := range map[string]struct {
		start   planning.Start
		allowed bool
		asked   bool
		calls   int
	}{
		"assisted":                {planning.Start{RunMode: pawl.Assisted}, false, true, 0},
		"approved without a look": {planning.Start{RunMode: pawl.Assisted, AutoApprove: "policy:yes"}, false, true, 0},
		"unattended": {planning.Start{RunMode: pawl.Autonomous, AutoApprove: "policy:yes"}, false, false,
			0},
		"unattended, and allowed": {planning.Start{RunMode: pawl.Autonomous, AutoApprove: "policy:yes"}, true, false,
			1},
		"assisted, and allowed": {planning.Start{RunMode: pawl.Assisted}, true, false, 1},
	} {
		t.Run(name, func(t *testing.T) {
			m := &mind{work: []effect.WorkResult{wants(effect.Ask{ID: "a", Name: "docs__post",
				Args: json.RawMessage(`{}`)}), finished}}
			b := newBench(t)
			foreign(b)
			b.k.Config().Agents["m"] = kernel.Traits{Works: true}
			if c.allowed {
				b.k.Config().Profile.MCPTools, b.unlike = []string{"docs__post"}, true
			}
			m.plan = intent()
			start := c.start
			start.Requirement, start.Agent, start.Place = "do", "m", effect.Place{Workspace: "/w", Tree: "/w",
				Git: true}
			b.do(&start)
			b.run(m.answer)
			if s := b.look(); s.Session.State == "CONFIRMING" {
				b.do(&approval.Approve{Hash: s.Solution.Hash})
				b.run(m.answer)
			}
			s := b.look()
			if asked := s.Approval != nil && s.Approval.About == "call" &&
				s.Approval.State == kernel.ApprovalPending; asked != c.asked || len(m.made) != c.calls {
				t.Errorf("asked %v, made %v, session %s", asked, m.made, s.Session.State)
			}
		})
	}
}
