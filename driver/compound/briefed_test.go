package compound

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"pawl/agent"
	"pawl/driver/contextpack"
	"pawl/kernel/effect"
)

// shown notes what it was shown.
type shown struct {
	agent.Agent
	spec effect.WorkSpec
}

func (*shown) Info() agent.Info { return agent.Info{Name: "shown"} }

func (s *shown) Do(_ context.Context, e effect.Effect, _ effect.Host, _ effect.Progress) effect.Receipt {
	s.spec, _ = effect.Decode[effect.WorkSpec](e.Spec)
	return effect.Succeeded(effect.WorkResult{Said: effect.Said{Agent: "shown"}, Control: effect.StepDone})
}

// packing notes what packs were for.
type packing struct {
	asks []contextpack.Ask
	err  error
}

func (p *packing) Build(_ context.Context, a contextpack.Ask) (effect.ContextPack, error) {
	p.asks = append(p.asks, a)
	return effect.ContextPack{WorkspaceSummary: "new", Degraded: []string{"context.too_many"}}, p.err
}

// TestRepairsAreShownTheFailuresPlaces builds a pack for the failure when a repair begins, and never else.
func TestRepairsAreShownTheFailuresPlaces(t *testing.T) {
	old := effect.ContextResult{Pack: &effect.ContextPack{WorkspaceSummary: "old",
		Budget: effect.TokenBudget{Total: 500}}}
	failure := &effect.Failure{What: "tests",
		Checks: []effect.CheckOutcome{{Status: effect.CheckFailed, Output: "--- FAIL: TestSum"}}}
	for _, c := range []struct {
		name string
		spec effect.WorkSpec
		err  error
		anew bool
	}{
		{"a step", effect.WorkSpec{Context: old}, nil, false},
		{"a repair", effect.WorkSpec{Context: old, Failure: failure, Recent: []effect.ToolResult{{CallID: "1"}}}, nil,
			true},
		{"a repair that goes on", effect.WorkSpec{Context: old, Failure: failure, Messages: []effect.Message{{}}}, nil,
			false},
		{"an agent that reads for itself", effect.WorkSpec{Failure: failure}, nil, false},
		{"no pack can be built", effect.WorkSpec{Context: old, Failure: failure}, errors.New("no"), false},
	} {
		s, p := &shown{}, &packing{err: c.err}
		c.spec.Agent, c.spec.Goal = "shown", "mend Sum"
		r := Briefed{Set: agent.Set{s}, packs: p}.Work(t.Context(),
			effect.Effect{Kind: effect.KindWork, Place: effect.Place{Tree: "/t"}, Spec: effect.Encode(c.spec)}, nil,
			nil)
		result, err := effect.Decode[effect.WorkResult](r.Result)
		if err != nil || !r.OK || (result.Pack != nil) != c.anew {
			t.Fatalf("%s: %+v %v", c.name, result, err)
		}
		if pack := s.spec.Context.Pack; pack != nil && (pack.WorkspaceSummary == "new") != c.anew {
			t.Errorf("%s: shown %q", c.name, pack.WorkspaceSummary)
		}
		if !c.anew {
			continue
		}
		a := p.asks[0]
		if a.Tokens != 500 || a.Place.Tree != "/t" || a.Requirement != "mend Sum" || len(a.Recent) != 1 ||
			!strings.Contains(strings.Join(a.Said, ""), "TestSum") {
			t.Errorf("%s: asked for %+v", c.name, a)
		}
		if !slices.Equal(result.Pack.Degraded, []string{"context.too_many"}) {
			t.Errorf("%s: noted %+v", c.name, result.Pack)
		}
	}
	said := saidOf(effect.ContextSpec{Answers: []effect.Answered{{Question: "which?", Answer: "Sum"},
		{Question: "why?"}}, Feedback: []string{"old", "new"}})
	if !slices.Equal(said, []string{"new", "old", "which?\nSum"}) {
		t.Errorf("said %q", said)
	}
}
