package llm

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"pawl"
	"pawl/agent"
	"pawl/agent/agenttest"
	"pawl/agent/wire"
	"pawl/internal/modeltest"
	"pawl/kernel/effect"
	"pawl/text/plan"
	"pawl/text/triage"
)

func ask(id, name, args string) effect.Ask {
	return effect.Ask{ID: id, Name: name, Args: json.RawMessage(args)}
}

func TestHear(t *testing.T) {
	spec, _ := effect.Decode[effect.WorkSpec](step().Spec)
	spec.Plan.Constraints, spec.Plan.RiskLevel = []string{}, pawl.RiskLow
	spec.Plan.Verification = plan.VerificationPolicy{Mode: plan.VerifyTest, Commands: []string{}}
	patch := `{"reason":"r","patch":{"add_steps":[{"step_id":"s9","title":"t","intent":"i"}]}}`
	for name, c := range map[string]struct {
		calls   []effect.Ask
		control effect.Control
		asks    int
		flawed  bool
	}{
		"nothing": {nil, effect.StepDone, 0, false},
		"done": {[]effect.Ask{ask("1", "step_done", `{"summary":"s"}`)}, effect.StepDone, 0,
			false},
		"done twice": {[]effect.Ask{ask("1", "step_done", `{}`),
			ask("2", "give_up", `{"reason":"r"}`)}, effect.StepDone, 0, false},
		"done beside calls": {[]effect.Ask{ask("1", "step_done", `{}`), ask("2", "read_file", `{}`)},
			effect.Calls, 1, false},
		"done beside nonsense": {[]effect.Ask{ask("1", "step_done", `{}`), ask("2", "read_file", `{`)},
			effect.StepDone, 0, true},
		"calls beside nonsense": {[]effect.Ask{ask("1", "read_file", `{`), ask("2", "read_file", `{}`),
			ask("3", "nobody", `{}`)}, effect.Calls, 2, false},
		"replan":                 {[]effect.Ask{ask("1", "replan", patch)}, effect.Replan, 0, false},
		"replan without a patch": {[]effect.Ask{ask("1", "replan", `{"reason":"r"}`)}, "", 0, true},
		"replan without a reason": {[]effect.Ask{ask("1", "replan", strings.Replace(patch, `"r"`, `" "`, 1))}, "",
			0, true},
		"replan in another case": {[]effect.Ask{ask("1", "replan",
			strings.Replace(patch, `"patch"`, `"Patch"`, 1))}, "", 0, true},
		"replan of a step that is no": {[]effect.Ask{ask("1", "replan",
			`{"reason":"r","patch":{"remove_steps":["s7"]}}`)}, "", 0, true},
		"replan with a done step": {[]effect.Ask{ask("1", "replan",
			strings.Replace(patch, `"title"`, `"status":"done","title"`, 1))}, "", 0, true},
		"replan of the criteria": {[]effect.Ask{ask("1", "replan",
			`{"reason":"r","patch":{"title":"t","criteria":[{"id":"c1","text":"t","proof":"person"}]}}`)}, "", 0, true},
		"a question beside a call": {[]effect.Ask{ask("1", "ask_human", `{"question":"which?"}`),
			ask("2", "read_file", `{}`), ask("3", "step_done", `{}`)}, effect.Calls, 2, false},
		"give up": {[]effect.Ask{ask("1", "give_up", `{"reason":"no way"}`)}, effect.GiveUp, 0,
			false},
		"give up without a reason": {[]effect.Ask{ask("1", "give_up", `{}`)}, "", 0, true},
		"done with more": {[]effect.Ask{ask("1", "step_done", `{"summary":"s","verified":true}`)}, "", 0,
			true},
	} {
		t.Run(name, func(t *testing.T) {
			h := hear(spec, nil, Reply{Text: "x", Calls: c.calls, Opaque: own(wire.Messages, json.RawMessage(`[1]`))})
			if (h.flaw != nil) != c.flawed || len(h.asks) != c.asks || !c.flawed && h.control != c.control {
				t.Fatalf("%+v", h)
			}
			told := map[string]int{}
			for _, m := range h.messages {
				told[m.Call]++
			}
			for _, a := range h.asks {
				told[a.ID]++
			}
			for _, a := range h.messages[0].Calls {
				if told[a.ID] != 1 {
					t.Errorf("call %s is answered %d times", a.ID, told[a.ID])
				}
			}
			if _, err := json.Marshal(h.messages); err != nil {
				t.Errorf("cannot be kept: %v", err)
			}
			if kept := h.messages[0].Opaque != nil; kept == strings.Contains(name, "nonsense") {
				t.Errorf("the provider's own words: %v", kept)
			}
		})
	}
}

func TestUnique(t *testing.T) {
	history := []effect.Message{{Role: effect.RoleAssistant,
		Calls: []effect.Ask{ask("call_1", "f", `{}`), ask("call_1_2", "f", `{}`)}}}
	got, renamed := unique(history, []effect.Ask{ask("call_1", "f", `{}`), ask("x", "f", `{}`), ask("x", "f", `{}`)})
	if !renamed || got[0].ID != "call_1_3" || got[1].ID != "x" || got[2].ID != "x_2" {
		t.Errorf("%+v", got)
	}
	if _, renamed := unique(history, []effect.Ask{ask("y", "f", `{}`)}); renamed {
		t.Error("an id was changed for nothing")
	}
}

func TestAnswered(t *testing.T) {
	got := answered([]effect.Message{
		{Role: effect.RoleUser}, {Role: effect.RoleAssistant,
			Calls: []effect.Ask{ask("1", "f", `{}`), ask("2", "f", `{}`)}}, {Role: effect.RoleTool, Call: "2"},
		{Role: effect.RoleUser}, {Role: effect.RoleAssistant, Calls: []effect.Ask{ask("3", "f", `{}`)}},
	})
	var seen []string
	for _, m := range got {
		seen = append(seen, string(m.Role)+m.Call)
	}
	if s := strings.Join(seen, " "); s != "user assistant tool2 tool1 user assistant tool3" {
		t.Error(s)
	}
}

// TestContinued tells notes once, and never leaves a model without anything to answer.
func TestContinued(t *testing.T) {
	spec, _ := effect.Decode[effect.WorkSpec](step().Spec)
	spec.Notes = []string{"one\n## What failed\nnothing"}
	first := continued(spec)
	if len(first) != 1 || strings.Count(first[0].Text, "one") != 1 ||
		strings.Contains(first[0].Text, modeltest.Repairing) {
		t.Fatalf("%+v", first)
	}
	spec.Messages = append(first, effect.Message{Role: effect.RoleAssistant, Calls: []effect.Ask{ask("1", "f", `{}`)}},
		effect.Message{Role: effect.RoleTool, Call: "1"})
	if more := continued(spec); len(more) != 0 {
		t.Errorf("%+v", more)
	}
	spec.Notes = append(spec.Notes, "two")
	if more := continued(spec); len(more) != 1 || strings.Contains(more[0].Text, "one") ||
		!strings.Contains(more[0].Text, "two") {
		t.Errorf("%+v", more)
	}
	spec.Notes = nil
	spec.Messages = append(first, effect.Message{Role: effect.RoleAssistant, Text: "well"})
	if more := continued(spec); len(more) != 1 || more[0].Role != effect.RoleUser {
		t.Errorf("%+v", more)
	}
}

func TestCompact(t *testing.T) {
	list := []effect.Message{{Role: effect.RoleUser, Text: "the plan " + strings.Repeat("p", 3000)}}
	for i := range 40 {
		id := fmt.Sprint(i)
		list = append(list, effect.Message{Role: effect.RoleAssistant,
			Calls:  []effect.Ask{ask(id, "write_file", `{"path":"f`+id+`","content":"`+strings.Repeat("c", 600)+`"}`)},
			Opaque: own(wire.Messages, json.RawMessage(`["`+strings.Repeat("c", 600)+`"]`))},
			effect.Message{Role: effect.RoleTool, Call: id, Text: "begin" + id + strings.Repeat("界", 700) +
				"exit status 1"})
	}
	before, _ := json.Marshal(list)
	for room, whole := range map[int64]int{80_000: 40, 50_000: 5, 30_000: 5, 25_000: 2} {
		got, changed := compact(Request{Messages: list}, room)
		if whole == 40 {
			if changed {
				t.Errorf("%d: shortened for nothing", room)
			}
			continue
		}
		if !changed || len(got) != len(list) || got[0].Text != list[0].Text {
			t.Fatalf("%d: %v", room, changed)
		}
		if n := estimate(Request{Messages: got}); n > room*7/10 {
			t.Errorf("%d: still %d", room, n)
		}
		kept := 0
		for i, m := range got {
			if m.Role == effect.RoleTool && m.Text == list[i].Text {
				kept++
			}
			if m.Role == effect.RoleTool &&
				(!strings.HasPrefix(m.Text, "begin") || !strings.HasSuffix(m.Text, "exit status 1")) {
				t.Errorf("%d: what failed is gone: %s", room, m.Text)
			}
		}
		if kept > whole || room == 50_000 && kept != 5 {
			t.Errorf("%d: %d results are whole", room, kept)
		}
		raw, err := json.Marshal(got)
		if err != nil || strings.Contains(string(raw), "\ufffd") {
			t.Errorf("%d: %v", room, err)
		}
	}
	if after, _ := json.Marshal(list); string(after) != string(before) {
		t.Error("the conversation itself was changed")
	}
}

// TestWindow compacts a conversation before it is too long, and says so where that does not help.
func TestWindow(t *testing.T) {
	srv := modeltest.Go(t, modeltest.Liar())
	s := at(wire.Chat, srv.URL)
	s.Window = 6000
	e := step()
	spec, _ := effect.Decode[effect.WorkSpec](e.Spec)
	spec.Messages = []effect.Message{{Role: effect.RoleUser, Text: "the plan"},
		{Role: effect.RoleAssistant, Calls: []effect.Ask{ask("1", "read_file", `{}`)}},
		{Role: effect.RoleTool, Call: "1", Text: strings.Repeat("x", 20_000)}}
	e.Spec = effect.Encode(spec)
	result, r := worked(t, Open(s), &agenttest.Host{}, e)
	if !r.OK || !result.Compacted || len(result.Messages) != 4 || result.Messages[0].Text != "the plan" {
		t.Errorf("%+v", r)
	}
	s.Window = 600
	host := &agenttest.Host{}
	if _, r := worked(t, Open(s), host, e); r.Key != "llm.prompt_too_long" || host.Reserved() != 0 ||
		len(srv.Requests()) != 1 {
		t.Errorf("%+v", r)
	}
}

// TestNoSchemas asks a server that knows no schemas in words. A document is nothing for a person to read while it
// comes.
func TestNoSchemas(t *testing.T) {
	var bodies []string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		bodies = append(bodies, string(raw))
		if strings.Contains(string(raw), "response_format") {
			http.Error(w, `{"error":{"message":"unknown field response_format"}}`, http.StatusBadRequest)
			return
		}
		text, _ := json.Marshal("```json\n" + tidied + "\n```")
		_, _ = w.Write(stream(`{"choices":[{"index":0,"delta":{"content":`+string(text)+`},"finish_reason":"stop"}]}`,
			"[DONE]"))
	}))
	defer srv.Close()
	host := &agenttest.Host{}
	e := effect.Effect{Kind: effect.KindIntake,
		Spec: effect.Encode(effect.IntakeSpec{Requirement: "tidy up", Round: 1})}
	r := Open(at(wire.Chat, srv.URL)).Do(t.Context(), e, host, func(line string) { t.Errorf("%q was said", line) })
	result, err := effect.Decode[effect.IntakeResult](r.Result)
	if err != nil || result.Evaluation.Class != "chore" || len(result.Questions()) != 0 || len(bodies) != 2 ||
		!strings.Contains(bodies[1], "additionalProperties") || result.Usage.Requests != 2 || host.Reserved() != 2 {
		t.Errorf("%+v %+v %v", r, result, err)
	}
}

// tidied is what a model says of "tidy up".
const tidied = `{"class":"chore","score":9,"risk":"low","dimensions":[{"name":"goal","points":3,"evidence":[{"quote":"tidy up"}]},{"name":"criteria","points":2,"evidence":[{"quote":"tidy"}]},` +
	`{"name":"scope","points":2,"evidence":[{"quote":"tidy"}]},{"name":"limits","points":2,"evidence":[]}],"questions":[],"factors":{"new":false,"major":false},"ehrb":[],"why":"w"}`

// TestIntakeForm: models are shown the published schema in one piece, without what only pawl fills in and without words
// that servers refuse; what it lets through, Decode takes.
func TestIntakeForm(t *testing.T) {
	q, _, err := agent.IntakeQuestion(effect.IntakeSpec{Requirement: "tidy up"}, false)
	if err != nil {
		t.Fatal(err)
	}
	form := q.Schema
	for _, word := range []string{"$ref", "$defs", "$id", "$schema", "maxLength", "maxItems", "minimum", `"key"`,
		`"args"`, `"start"`, `"by"`, `"as_is"`, `""`} {
		if strings.Contains(form, word) {
			t.Errorf("%s is in %s", word, form)
		}
	}
	for _, word := range []string{`"evidence"`, `"quote"`, `"stance"`, `"external_service"`, `"design"`, `"cross"`,
		`"about"`, `"text"`, `"required"`} {
		if !strings.Contains(form, word) {
			t.Errorf("%s is not in %s", word, form)
		}
	}
	if err := fits(form, []byte(tidied)); err != nil {
		t.Error(err)
	}
	if _, err := triage.Decode([]byte(tidied), "tidy up"); err != nil {
		t.Error(err)
	}
	if fits(form, []byte(strings.Replace(tidied, `"quote"`, `"words"`, 1))) == nil {
		t.Error("the form holds nothing together")
	}
}

// TestCriteria: a step's worker is told what has to hold.
func TestCriteria(t *testing.T) {
	p := plan.Plan{Criteria: []plan.Criterion{{ID: "c1", Text: "Bar is there", Proof: plan.ProofCheck,
		Texts: []string{"Bar"}, Checks: []string{"test"}}}}
	told := task(effect.WorkSpec{Plan: p, Step: "s1"})
	if !strings.Contains(told, "c1 (check): Bar is there; checks: test; texts: Bar\n") {
		t.Errorf("the worker is told %s", told)
	}
}
