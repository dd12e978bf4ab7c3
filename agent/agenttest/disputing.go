package agenttest

import (
	"encoding/json"
	"strings"

	"pawl"
	"pawl/agent"
	"pawl/internal/modeltest"
	"pawl/kernel/effect"
	"pawl/text/plan"
)

// rewritable is a test of a plan that somebody disputes.
var rewritable = effect.RewriteSpec{Requirement: plannable, Reason: "2 is right",
	Criterion: plan.Criterion{ID: "c1", Text: "it is mended", Proof: plan.ProofCheck},
	Test:      plan.TestFile{Path: "main_test.go", Content: "want 3"}}

// disputed: who works says that a test of the plan is wrong, a model by a call and a program by its last line.
func disputed(s *suite) {
	step := modeltest.Step{Text: "I looked.\n" + agent.DisputeMark + " main_test.go: 2 is right"}
	if s.agent.Info().Kind == agent.KindModel {
		step = modeltest.Step{Calls: []modeltest.Call{{Name: "dispute_test",
			Args: `{"path":"main_test.go","reason":"2 is right"}`}}}
	}
	s.play(step)
	result, r := s.work(s.Context(), s.step())
	if want := (effect.Dispute{Path: "main_test.go", Reason: "2 is right"}); !r.OK ||
		result.Control != effect.DisputeTest || result.Dispute == nil || *result.Dispute != want {
		s.Fatalf("%+v %+v", r, result)
	}
}

// rewritten: what is said of a disputed test is a document of the form, and a malformed one is shown to the model once.
func rewritten(s *suite) {
	keep, anew := `{"verdict":"keep","reason":"It asks for 3."}`, `{"verdict":"rewrite","reason":"Yes.","content":"want 2"}`
	for name, c := range map[string]struct {
		first, second, content string
		code                   pawl.Code
	}{
		"it stays":                  {first: keep},
		"it is written anew":        {first: anew, content: "want 2"},
		"talk":                      {first: "You are right.", second: anew, content: "want 2"},
		"kept with another text":    {first: strings.Replace(anew, "rewrite", "keep", 1), second: keep},
		"written anew without text": {first: strings.Replace(keep, "keep", "rewrite", 1), second: anew, content: "want 2"},
		"the same text":             {first: strings.Replace(anew, "want 2", "want 3", 1), code: pawl.CodeModel},
		"without a reason":          {first: `{"verdict":"keep","reason":" "}`, code: pawl.CodeModel},
		"no verdict":                {first: `{"verdict":"maybe","reason":"x"}`, code: pawl.CodeModel},
	} {
		script := plans(modeltest.Script{Branches: []modeltest.Branch{{Steps: []modeltest.Step{{Text: "?"}}}}})
		if script.JSON["rewrite"] = json.RawMessage(c.first); c.second != "" {
			script.JSON["rewrite#2"] = json.RawMessage(c.second)
		}
		s.w.Model.Play(script)
		before := len(s.w.Model.Requests())
		r := s.ask(s.Context(), effect.KindRewrite, rewritable)
		got, _ := effect.Decode[effect.RewriteResult](r.Result)
		if r.OK != (c.code == "") || r.Code != c.code ||
			r.OK && (got.Content != c.content || got.Why == "" || got.Agent == "") {
			s.Errorf("%s: %+v %+v", name, r, got)
		}
		asked := s.w.Model.Requests()[before:]
		if want := 1 + min(1, len(c.second)+len(c.code)); len(asked) != want {
			s.Errorf("%s: %d requests, want %d", name, len(asked), want)
		}
		for _, text := range []string{"main_test.go", "want 3", "2 is right", "it is mended"} {
			if !strings.Contains(asked[0].Body, text) {
				s.Errorf("%s: the model was not told %q", name, text)
			}
		}
	}
}
