package llm_test

import (
	"testing"

	"pawl"
	"pawl/agent/llm"
	"pawl/agent/wire"
	"pawl/kernel/effect"
	"pawl/text/plan"
)

// Work is not begun without a tool that the user wants: the task stops for the person instead.
func TestToolsThatCannotBeOffered(t *testing.T) {
	a := llm.Open(llm.Settings{
		Kind: wire.OpenAI, BaseURL: "http://127.0.0.1:1/v1", Name: "m", Env: func(string) string { return "k" },
		Flaw: pawl.Fail(pawl.CodeConflict, "mcptools.conflict", "a_b__x", "a_b", "a-b"),
	})
	if err := a.Ready(); pawl.CodeOf(err) != pawl.CodeEnvironment {
		t.Errorf("ready: %v", err)
	}
	spec := effect.WorkSpec{Agent: llm.Name, Step: "s1",
		Plan: plan.Plan{Steps: []plan.Step{{StepID: "s1", Title: "t", Intent: "i"}}}}
	r := a.Do(t.Context(), effect.Effect{ID: "e1", Kind: effect.KindWork, Spec: effect.Encode(spec)}, nil, nil)
	if r.OK || r.Code != pawl.CodeEnvironment || r.Cause == nil || r.Cause.Key != "mcptools.conflict" {
		t.Errorf("%+v", r)
	}
}
