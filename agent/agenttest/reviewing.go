package agenttest

import (
	"encoding/json"
	"os"
	"path/filepath"

	"pawl"
	"pawl/internal/modeltest"
	"pawl/kernel/effect"
	"pawl/text/plan"
)

// reviewable is a change of main.go to be reviewed.
var reviewable = effect.ReviewSpec{Requirement: plannable, Base: "a", Tree: "b", Patch: "+mended",
	Criteria: []effect.Met{{Criterion: plan.Criterion{ID: "c1", Text: "it is mended"}, Verdict: effect.Proven}},
	Files:    []effect.ReviewedFile{{FileStat: effect.FileStat{Path: "main.go", Status: "M"}, Lines: 3}}}

const objected = `{"verdict":"objections","objections":[{"criterion":"c1","file":"main.go","line":2,"reason":"it is not"}]}`

// reviewed: a review is a document of the form, in which each objection can be looked at; a malformed one is shown to
// the model once. The home of who works on the task is not the reviewer's.
func reviewed(s *suite) {
	kept := filepath.Join(s.w.Place.Workspace, ".pawl", "agents", "task-1", "home", "session")
	if err := os.MkdirAll(filepath.Dir(kept), 0o700); err != nil {
		s.Fatal(err)
	}
	if err := os.WriteFile(kept, []byte("of the worker"), 0o600); err != nil {
		s.Fatal(err)
	}
	for name, c := range map[string]struct {
		first, second string
		requests, n   int
		code          pawl.Code
	}{
		"no objection":    {`{"verdict":"no_objection","objections":[]}`, "", 1, 0, ""},
		"an objection":    {objected, "", 1, 1, ""},
		"a bad line":      {`{"verdict":"objections","objections":[{"criterion":"c1","file":"main.go","line":4,"reason":"x"}]}`, objected, 2, 1, ""},
		"talk":            {`I like it.`, objected, 2, 1, ""},
		"a contradiction": {`{"verdict":"no_objection","objections":[{"reason":"x"}]}`, "", 2, 0, pawl.CodeModel},
	} {
		script := plans(modeltest.Script{Branches: []modeltest.Branch{{Steps: []modeltest.Step{{Text: "?"}}}}})
		if script.JSON["review"] = json.RawMessage(c.first); c.second != "" {
			script.JSON["review#2"] = json.RawMessage(c.second)
		}
		s.w.Model.Play(script)
		before := len(s.w.Model.Requests())
		r := s.agent.Do(s.Context(), effect.Effect{ID: "01J", Task: "task-1", Kind: effect.KindReview, Place: s.w.Place,
			Spec: effect.Encode(reviewable)}, s.host, func(string) {})
		s.host.settled(s.T)
		got, _ := effect.Decode[effect.ReviewResult](r.Result)
		if r.OK != (c.code == "") || r.Code != c.code || len(got.Objections) != c.n || r.OK && got.Agent == "" {
			s.Errorf("%s: %+v %+v", name, r, got)
		}
		if n := len(s.w.Model.Requests()) - before; n != c.requests {
			s.Errorf("%s: %d requests", name, n)
		}
	}
	if raw, err := os.ReadFile(kept); err != nil || string(raw) != "of the worker" {
		s.Errorf("the worker's home: %q, %v", raw, err)
	}
	if err := os.RemoveAll(filepath.Join(s.w.Place.Workspace, ".pawl", "agents")); err != nil {
		s.Fatal(err)
	}
}
