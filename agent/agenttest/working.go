package agenttest

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"pawl"
	"pawl/agent"
	"pawl/internal/modeltest"
	"pawl/kernel/effect"
	"pawl/text/plan"
)

// working lists the scenes of agents that carry out steps with a model, as far as an agent does such things.
func working(traits Traits) []scene {
	var out []scene
	if traits.Plans {
		out = append(out, scene{"a malformed plan is asked for once more", malformedPlan},
			scene{"a change is reviewed", reviewed}, scene{"a disputed test is looked at again", rewritten})
	}
	if traits.Works {
		out = append(out, []scene{
			{"a step is carried out", carriedOut},
			{"a failure is mended", mended},
			{"another plan is asked for", replanned},
			{"a test is disputed", disputed},
			{"a lie is no evidence", lied},
			{"an endless loop is the host's to end", endless},
			{"a stream that is cut asks for nothing", cut},
			{"malformed calls are never made", malformedCalls},
			{"a refused key", unauthorized},
			{"asked to slow down", slowedDown},
			{"a server that fails", failing},
			{"a budget that is used up", broke},
			{"canceled in the middle", canceledAtWork},
		}...)
	}
	return out
}

// kinds are the effects that the agent answers.
func (s *suite) kinds() []effect.Kind {
	out := []effect.Kind{effect.KindPlan, effect.KindRepair}
	if s.traits.Intakes {
		out = append(out, effect.KindIntake)
	}
	if s.traits.Works {
		out = append(out, effect.KindWork)
	}
	return out
}

const planned = `{"goal":"mend it","constraints":[],"risk_level":"low","steps":[{"step_id":"s1","title":"Mend","intent":"Mend main.go"}],` +
	`"verification":{"mode":"test","commands":[]}}`

// plans adds the answer to planning to a script.
func plans(script modeltest.Script) modeltest.Script {
	script.JSON = map[string]json.RawMessage{"plan": json.RawMessage(planned)}
	return script
}

// step is the work that the scenes ask for.
func (s *suite) step() effect.WorkSpec {
	return effect.WorkSpec{Goal: "mend it", Step: "s1", Context: s.w.Context, Plan: plan.Plan{
		PlanID: "P-1", Goal: "mend it", Constraints: []string{}, RiskLevel: pawl.RiskLow,
		Steps: []plan.Step{
			{StepID: "s1", Title: "Mend", Intent: "Mend main.go", Status: plan.InProgress}, {StepID: "s2",
				Title: "Tell", Intent: "Write the notes", Status: plan.Pending},
		},
		Verification: plan.VerificationPolicy{Mode: plan.VerifyTest, Commands: []string{}, Required: true,
			StopOnFail: true},
	}}
}

// maxExchanges ends a conversation that has no end, as the kernel's budget of calls would.
const maxExchanges = 12

// work has a step carried out to its end: an agent that keeps no loop is asked again with the results of its calls, as
// the kernel does it.
func (s *suite) work(ctx context.Context, spec effect.WorkSpec) (effect.WorkResult, effect.Receipt) {
	s.Helper()
	for range maxExchanges {
		r := s.ask(ctx, effect.KindWork, spec)
		if !r.OK {
			return effect.WorkResult{}, r
		}
		result, err := effect.Decode[effect.WorkResult](r.Result)
		if err != nil {
			s.Fatal(err)
		}
		if result.Agent == "" {
			s.Error("the work is not signed")
		}
		if result.Control != effect.Calls {
			return result, r
		}
		if s.agent.Info().Kind != agent.KindModel {
			s.Fatalf("an agent with a loop of its own wants calls made: %+v", result)
		}
		if len(result.Asks) == 0 {
			s.Fatal("calls are wanted and none is named")
		}
		if result.Compacted {
			spec.Messages = nil
		}
		spec.Messages = append(spec.Messages, result.Messages...)
		for _, a := range result.Asks {
			made, err := s.host.Call(ctx, a)
			told := effect.Message{Role: effect.RoleTool, Call: a.ID, Text: string(made.Result), Failed: err != nil}
			if err != nil {
				told.Text = err.Error()
			}
			spec.Messages = append(spec.Messages, told)
		}
	}
	return effect.WorkResult{Control: effect.Calls}, effect.Receipt{OK: true}
}

func (s *suite) play(steps ...modeltest.Step) {
	s.w.Model.Play(plans(modeltest.Script{Branches: []modeltest.Branch{{Steps: steps}}}))
}

func malformedPlan(s *suite) {
	for name, first := range map[string]string{
		"no JSON": `I would rather talk.`, "a repeated key": `{"goal":"a","goal":"b","steps":[]}`,
		"another case":     `{"Goal":"a","goal":"b","steps":[]}`,
		"no steps":         `{"goal":"a","constraints":[],"risk_level":"low","steps":[],"verification":{"mode":"test"}}`,
		"an unknown field": strings.Replace(planned, `"goal"`, `"mood":"fine","goal"`, 1),
	} {
		script := plans(modeltest.Script{Branches: []modeltest.Branch{{Steps: []modeltest.Step{{Text: "?"}}}}})
		script.JSON["plan"], script.JSON["plan#2"] = json.RawMessage(first), json.RawMessage(planned)
		s.w.Model.Play(script)
		before := len(s.w.Model.Requests())
		s.plan(effect.PlanSpec{Requirement: plannable, Context: s.w.Context})
		if n := len(s.w.Model.Requests()) - before; n != 2 {
			s.Errorf("%s: %d requests", name, n)
		}
		delete(script.JSON, "plan#2")
		s.w.Model.Play(script)
		before = len(s.w.Model.Requests())
		if r := s.ask(s.Context(), effect.KindPlan,
			effect.PlanSpec{Requirement: plannable, Context: s.w.Context}); r.OK || r.Code != pawl.CodeModel {
			s.Errorf("%s: %+v", name, r)
		}
		if n := len(s.w.Model.Requests()) - before; n != 2 {
			s.Errorf("%s: %d requests for a model that does not learn", name, n)
		}
	}
}

func carriedOut(s *suite) {
	s.w.Model.Play(plans(modeltest.FixBug("main.go", "wrong", "right")))
	result, r := s.work(s.Context(), s.step())
	if !r.OK || result.Control != effect.StepDone || s.host.File("main.go") != "wrong" {
		s.Fatalf("%+v %+v %v", r, result, s.host.Calls())
	}
	if s.host.Reserved() < 2 || s.host.Spent().InTokens == 0 || s.host.Spent().OutTokens == 0 {
		s.Errorf("%d reservations, spent %+v", s.host.Reserved(), s.host.Spent())
	}
}

func mended(s *suite) {
	s.w.Model.Play(plans(modeltest.FixBug("main.go", "wrong", "right")))
	spec := s.step()
	failure := s.broken(1).Failure
	spec.Failure = &failure
	result, r := s.work(s.Context(), spec)
	if !r.OK || result.Control != effect.StepDone || s.host.File("main.go") != "right" {
		s.Fatalf("%+v %+v %v", r, result, s.host.Calls())
	}
	if asked := s.w.Model.Requests(); !strings.Contains(asked[0].Body, "./main.go") {
		s.Error("the model was not told what failed")
	}
}

func replanned(s *suite) {
	if s.agent.Info().Kind != agent.KindModel {
		s.Skip("the agent has no word for it")
	}
	s.play(modeltest.Step{Calls: []modeltest.Call{{Name: "replan",
		Args: `{"reason":"s2 is not needed","patch":{"remove_steps":["s2"],"add_steps":[{"step_id":"s3","title":"Else","intent":"Something else"}]}}`}}})
	result, r := s.work(s.Context(), s.step())
	if !r.OK || result.Control != effect.Replan || result.Patch == nil || len(result.Patch.AddSteps) != 1 ||
		result.Reason != "s2 is not needed" {
		s.Fatalf("%+v %+v", r, result)
	}
	if _, err := plan.Apply(s.step().Plan, *result.Patch, plan.DefaultLimits()); err != nil {
		s.Errorf("the patch does not fit the plan: %v", err)
	}
}

func lied(s *suite) {
	s.w.Model.Play(plans(modeltest.Liar()))
	result, r := s.work(s.Context(), s.step())
	if !r.OK || result.Control != effect.StepDone || len(s.host.Calls()) != 0 {
		s.Fatalf("%+v %+v", r, result)
	}
}

func endless(s *suite) {
	s.w.Model.Play(plans(modeltest.Endless("main.go")))
	result, r := s.work(s.Context(), s.step())
	if !r.OK || result.Control != effect.Calls {
		s.Fatalf("%+v %+v", r, result)
	}
	seen := map[string]bool{}
	for _, c := range s.host.Calls() {
		if seen[c.ID] {
			s.Errorf("two calls are named %s", c.ID)
		}
		seen[c.ID] = true
	}
}

func cut(s *suite) {
	whole := modeltest.Recorded(s.traits.Form, modeltest.Call{Args: `{"path":"main.go","content":"half"}`},
		"write_file")
	for _, n := range []int{1, len(whole) / 3, len(whole) / 2, len(whole) - len(whole)/8} {
		s.play(modeltest.Step{Text: "I will do it.", Calls: []modeltest.Call{{Write: "main.go", Content: "half"}},
			Cut: n})
		before := len(s.w.Model.Requests())
		_, r := s.work(s.Context(), s.step())
		if r.OK || r.Code != pawl.CodeEnvironment {
			s.Errorf("cut at %d: %+v", n, r)
		}
		if tries := len(s.w.Model.Requests()) - before; tries < 1 || tries > 4 {
			s.Errorf("cut at %d: %d requests", n, tries)
		}
	}
	if len(s.host.Calls()) != 0 {
		s.Errorf("a call was made that nobody finished asking for: %v", s.host.Calls())
	}
}

func malformedCalls(s *suite) {
	s.w.Model.Play(plans(modeltest.Malformed("write_file")))
	_, r := s.work(s.Context(), s.step())
	if r.OK || r.Code != pawl.CodeModel {
		s.Errorf("%+v", r)
	}
	s.play(modeltest.Step{Calls: []modeltest.Call{{Name: "write_file", Args: `{"path":"a","PATH":"b","content":""}`}}},
		modeltest.Step{Calls: []modeltest.Call{{Write: "main.go", Content: "right"}}}, modeltest.Step{Text: "Done."})
	result, r := s.work(s.Context(), s.step())
	if !r.OK || result.Control != effect.StepDone || s.host.File("main.go") != "right" || len(s.host.Calls()) != 1 {
		s.Errorf("a model that learns: %+v %+v %v", r, result, s.host.Calls())
	}
}

func unauthorized(s *suite) {
	s.w.Model.Play(plans(modeltest.Failing(401)))
	_, r := s.work(s.Context(), s.step())
	if r.OK || r.Code != pawl.CodeLogin || len(s.w.Model.Requests()) != 1 {
		s.Errorf("%+v after %d requests", r, len(s.w.Model.Requests()))
	}
}

func slowedDown(s *suite) {
	s.w.Model.Play(plans(modeltest.Passing(429, 2, "0")))
	if result, r := s.work(s.Context(), s.step()); !r.OK || result.Control != effect.StepDone ||
		len(s.w.Model.Requests()) != 3 {
		s.Errorf("%+v after %d requests", r, len(s.w.Model.Requests()))
	}
}

func failing(s *suite) {
	s.w.Model.Play(plans(modeltest.Failing(503)))
	if _, r := s.work(s.Context(), s.step()); r.OK || r.Code != pawl.CodeEnvironment || len(s.w.Model.Requests()) != 4 {
		s.Errorf("%+v after %d requests", r, len(s.w.Model.Requests()))
	}
}

func broke(s *suite) {
	s.w.Model.Play(plans(modeltest.Endless("main.go")))
	s.host.Budget = 2
	if _, r := s.work(s.Context(), s.step()); r.OK || r.Code != pawl.CodeBudget || len(s.w.Model.Requests()) != 2 {
		s.Errorf("%+v after %d requests", r, len(s.w.Model.Requests()))
	}
}

func canceledAtWork(s *suite) {
	s.play(modeltest.Step{Text: strings.Repeat("word ", 2000), Drip: time.Hour})
	ctx, cancel := context.WithCancel(s.Context())
	go func() {
		for len(s.w.Model.Requests()) == 0 && ctx.Err() == nil {
			time.Sleep(time.Millisecond)
		}
		cancel()
	}()
	start := time.Now()
	if _, r := s.work(ctx, s.step()); r.OK || r.Code != pawl.CodeCanceled {
		s.Errorf("%+v", r)
	}
	if took := time.Since(start); took > 5*time.Second {
		s.Errorf("took %s", took)
	}
}
