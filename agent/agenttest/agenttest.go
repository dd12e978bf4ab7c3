// Package agenttest is the suite that every agent must pass. It says nothing about how good a plan is; it holds an
// agent to the contract that the rest of pawl relies on: proposals are well formed, what cannot be planned is refused
// and named, a person's plan is not touched, a canceled question ends at once, and an agent changes nothing by itself.
package agenttest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pawl"
	"pawl/agent"
	"pawl/agent/wire"
	"pawl/internal/modeltest"
	"pawl/kernel/effect"
	"pawl/text/plan"
)

// Agent is what the suite tests.
type Agent = agent.Agent

// Traits say what the suite may expect of an agent besides the contract.
type Traits struct {
	// Unplannable is a requirement that the agent must refuse with CodeCannotPlan, "" when it takes any.
	Unplannable string
	// Explain returns an error as a person reads it, with the hint, or "" when there is no message for it. With nil,
	// messages are not looked at.
	Explain func(error) string
	// Random lets two answers to the same question differ.
	Random bool
	// Works says that the agent carries out steps without calls, with the model that Workspace.Model names: the suite
	// plays scripts on it. Form is the wire form in which it asks.
	Works bool
	Form  wire.Form
	// Intakes says that the agent answers agent.intake. Judges says that it asks the model for that judgement, and
	// Plans that it asks the model for its plans.
	Intakes, Judges, Plans bool
	// Edits describes an agent whose program changes the tree itself; nil for any other.
	Edits *Editing
}

// Workspace is the project that the suite makes for each test: a small Go module with a file that gofmt would change.
type Workspace struct {
	Place   effect.Place
	Context effect.ContextResult
	// Model is the server that answers an agent that works; nil for any other.
	Model *modeltest.Server
}

// Tools are the programs that are installed in the suite's world.
func Tools(program string) (string, bool) {
	switch program {
	case "go", "gofmt":
		return "/usr/bin/" + program, true
	}
	return "", false
}

// Run runs the suite. newAgent returns a fresh agent that may look at the workspace.
func Run(t *testing.T, newAgent func(t *testing.T, w Workspace) Agent, traits Traits) {
	if traits.Edits != nil {
		t.Run("a program that edits the tree", func(t *testing.T) { edits(t, traits) })
	}
	for _, c := range append(append(working(traits), intakes(traits)...), []scene{
		{"a plan file is handed on", (*suite).given},
		{"a malformed plan file is refused", (*suite).malformed},
		{"an empty requirement is refused", (*suite).empty},
		{"a requirement is planned", (*suite).planned},
		{"what cannot be planned is refused", (*suite).unplannable},
		{"a failed verification is repaired", (*suite).repaired},
		{"a repair is not repeated", (*suite).notRepeated},
		{"no repair for the machine", (*suite).noRepair},
		{"a canceled question ends at once", (*suite).canceled},
		{"the same question twice", (*suite).twice},
		{"a spec that is no spec", (*suite).hostile},
		{"an effect of somebody else", (*suite).foreign},
		{"asked whether it is done", (*suite).done},
		{"an agent says what it does", (*suite).told},
	}...) {
		t.Run(c.name, func(t *testing.T) {
			w := newWorkspace(t)
			if traits.Works || traits.Judges || traits.Plans {
				w.Model = modeltest.Go(t, plans(modeltest.Script{Branches: []modeltest.Branch{{Steps: []modeltest.Step{{Text: "Done."}}}}}))
			}
			before := digest(t, w.Place.Workspace)
			c.run(&suite{T: t, agent: newAgent(t, w), w: w, traits: traits, host: &Host{}})
			if digest(t, w.Place.Workspace) != before {
				t.Error("the agent changed the workspace by itself")
			}
		})
	}
}

// scene is one test of the suite.
type scene struct {
	name string
	run  func(s *suite)
}

type suite struct {
	*testing.T
	agent  Agent
	host   *Host
	w      Workspace
	traits Traits
}

const givenPlan = `goal: rename it
steps:
  - step_id: a
    title: Rename
    intent: Carry out the rename
    tool_calls:
      - name: run_terminal_cmd
        args_hint: {command: "sed -i s/a/b/ main.go"}
verification: {mode: custom, commands: ["go vet ./..."], required: true, stop_on_fail: true}
`

const plannable = "make the checks pass"

func (s *suite) ask(ctx context.Context, kind effect.Kind, spec any) effect.Receipt {
	s.Helper()
	r := s.agent.Do(ctx, effect.Effect{ID: "01J", Kind: kind, Place: s.w.Place, Spec: effect.Encode(spec)}, s.host,
		func(line string) {
			if kind != effect.KindWork && strings.ContainsAny(line[:1], "{}[]\"`") {
				s.Errorf("%s shows a piece of its answer, which is a document: %s", kind, line)
			}
		})
	s.host.settled(s.T)
	if !r.OK && s.traits.Explain != nil && s.traits.Explain(r.Err()) == "" {
		s.Errorf("no message for %q (%s)", r.Key, r.Code)
	}
	return r
}

func (s *suite) plan(spec effect.PlanSpec) (plan.Plan, effect.Receipt) {
	s.Helper()
	r := s.ask(s.Context(), effect.KindPlan, spec)
	if !r.OK {
		s.Fatalf("refused: %s %s %v %s", r.Code, r.Key, r.Args, r.Detail)
	}
	result, err := effect.Decode[effect.PlanResult](r.Result)
	if err != nil {
		s.Fatal(err)
	}
	if result.Agent == "" {
		s.Error("the plan is not signed")
	}
	if result.Plan == nil {
		s.Fatalf("no plan, questions: %q", result.Questions)
	}
	if err := plan.Check(*result.Plan, runSchema, plan.DefaultLimits()); err != nil {
		s.Errorf("the plan does not hold: %v", err)
	}
	return *result.Plan, r
}

func (s *suite) repair(spec effect.RepairSpec) (effect.RepairResult, effect.Receipt) {
	s.Helper()
	r := s.ask(s.Context(), effect.KindRepair, spec)
	if !r.OK {
		s.Fatalf("refused: %s %s %s", r.Code, r.Key, r.Detail)
	}
	result, err := effect.Decode[effect.RepairResult](r.Result)
	if err != nil {
		s.Fatal(err)
	}
	if result.Why == "" || result.Agent == "" {
		s.Errorf("a repair without a reason or a name: %+v", result)
	}
	return result, r
}

// runSchema knows the one tool that a plan of this suite may use.
func runSchema(name string) ([]byte, bool) {
	return []byte(`{"type":"object","required":["command"],"additionalProperties":false,"properties":{` +
			`"command":{"type":"string","minLength":1},"idempotent":{"type":"boolean"},"timeout_ms":{"type":"integer"}}}`),
		name == "run_terminal_cmd"
}

func (s *suite) given() {
	got, _ := s.plan(effect.PlanSpec{Requirement: "whatever it says", File: "plan.yaml", Given: []byte(givenPlan),
		Context: s.w.Context})
	want, _, err := plan.Decode("plan.yaml", []byte(givenPlan))
	if err != nil {
		s.Fatal(err)
	}
	if plan.Hash(got) != plan.Hash(want) {
		s.Errorf("the plan is not the one that was given:\n%+v\n%+v", want, got)
	}
}

func (s *suite) malformed() {
	for _, given := range []string{"", "goal: [", `{"goal": 1}`, "goal: x\nsteps: []\n"} {
		if r := s.ask(s.Context(), effect.KindPlan, effect.PlanSpec{Requirement: plannable, File: "plan.yaml",
			Given: []byte(given), Context: s.w.Context}); r.OK || r.Code != pawl.CodeInvalid {
			s.Errorf("%q: %+v", given, r)
		}
	}
}

func (s *suite) empty() {
	for _, requirement := range []string{"", " \n\t "} {
		if r := s.ask(s.Context(), effect.KindPlan,
			effect.PlanSpec{Requirement: requirement, Context: s.w.Context}); r.OK || r.Code != pawl.CodeInvalid {
			s.Errorf("%q: %+v", requirement, r)
		}
	}
}

func (s *suite) planned() {
	p, _ := s.plan(effect.PlanSpec{Requirement: plannable, Context: s.w.Context})
	if len(p.Steps) == 0 || p.Verification.Mode == plan.VerifyNone {
		s.Errorf("%+v", p)
	}
	for _, step := range p.Steps {
		if step.Status != plan.Pending {
			s.Errorf("step %s is %s before it began", step.StepID, step.Status)
		}
	}
}

func (s *suite) unplannable() {
	if s.traits.Unplannable == "" {
		s.Skip("this agent takes any requirement")
	}
	r := s.ask(s.Context(), effect.KindPlan, effect.PlanSpec{Requirement: s.traits.Unplannable, Context: s.w.Context})
	if r.OK || r.Code != pawl.CodeCannotPlan {
		s.Fatalf("%+v", r)
	}
	if s.traits.Explain == nil {
		return
	}
	if text := s.traits.Explain(r.Err()); !strings.Contains(text, "pawl run --plan") {
		s.Errorf("the refusal names no way to go on: %q", text)
	}
}

// broken is a repair of a verification that failed because a file is not formatted.
func (s *suite) broken(attempt int) effect.RepairSpec {
	p, _, err := plan.Decode("plan.yaml", []byte(givenPlan))
	if err != nil {
		s.Fatal(err)
	}
	c := s.w.Context.Checks[0]
	return effect.RepairSpec{Plan: p, Attempt: attempt, Context: s.w.Context, Failure: effect.Failure{
		What: c.Name, Class: pawl.ClassBuildFail, Code: pawl.CodeChecksFailed, Output: "./main.go", Fingerprint: "f1",
		Checks: []effect.CheckOutcome{{Check: c, Status: effect.CheckFailed, ExitCode: 1, Output: "./main.go"}},
	}}
}

func (s *suite) repaired() {
	spec := s.broken(1)
	result, _ := s.repair(spec)
	if len(result.Steps) == 0 {
		s.Fatalf("no repair: %s", result.Why)
	}
	fixed, err := plan.FixSteps(spec.Plan, 1, result.Steps)
	if err != nil {
		s.Fatal(err)
	}
	limits := plan.DefaultLimits()
	limits.MaxRepairs = 1
	if err := plan.Check(fixed, runSchema, limits); err != nil {
		s.Errorf("the repair does not hold: %v", err)
	}
}

func (s *suite) notRepeated() {
	seen := map[string]int{}
	spec := s.broken(1)
	for attempt := 1; attempt <= 3; attempt++ {
		spec.Attempt = attempt
		result, _ := s.repair(spec)
		if len(result.Steps) == 0 {
			return
		}
		if s.agent.Info().Works && len(calls(result.Steps)) == 0 {
			return // what the steps do is found out when it is their turn
		}
		key, err := json.Marshal(calls(result.Steps))
		if err != nil {
			s.Fatal(err)
		}
		if before, ok := seen[string(key)]; ok {
			s.Fatalf("attempt %d proposes what attempt %d did, for the same failure: %s", attempt, before, key)
		}
		seen[string(key)] = attempt
		fixed, err := plan.FixSteps(spec.Plan, attempt, result.Steps)
		if err != nil {
			s.Fatal(err)
		}
		spec.Proposed = append(spec.Proposed, fixed.Steps[len(spec.Plan.Steps):]...)
		spec.Plan, spec.Earlier = fixed, append(spec.Earlier, spec.Failure)
	}
}

func calls(steps []plan.Step) []plan.ToolCallTemplate {
	var out []plan.ToolCallTemplate
	for _, s := range steps {
		out = append(out, s.ToolCalls...)
	}
	return out
}

func (s *suite) noRepair() {
	spec := s.broken(1)
	spec.Failure.Code, spec.Failure.Checks[0].Environment = pawl.CodeEnvironment, true
	if result, _ := s.repair(spec); len(result.Steps) != 0 {
		s.Errorf("steps against a missing program: %+v", result.Steps)
	}
}

func (s *suite) canceled() {
	ctx, cancel := context.WithCancel(s.Context())
	cancel()
	start := time.Now()
	specs := map[effect.Kind]any{
		effect.KindPlan:   effect.PlanSpec{Requirement: plannable, Context: s.w.Context},
		effect.KindRepair: s.broken(1),
	}
	if s.traits.Works {
		specs[effect.KindWork] = s.step()
	}
	if s.traits.Plans {
		specs[effect.KindReview], specs[effect.KindRewrite] = reviewable, rewritable
	}
	if s.traits.Intakes {
		specs[effect.KindIntake] = effect.IntakeSpec{Requirement: plannable, Round: 1}
	}
	for kind, spec := range specs {
		if r := s.ask(ctx, kind, spec); r.OK || r.Code != pawl.CodeCanceled {
			s.Errorf("%s: %+v", kind, r)
		}
	}
	if took := time.Since(start); took > 2*time.Second {
		s.Errorf("took %s", took)
	}
}

func (s *suite) twice() {
	if s.traits.Random {
		s.Skip("this agent may answer differently")
	}
	_, one := s.plan(effect.PlanSpec{Requirement: plannable, Context: s.w.Context})
	_, two := s.plan(effect.PlanSpec{Requirement: plannable, Context: s.w.Context})
	if !bytes.Equal(one.Result, two.Result) {
		s.Errorf("two plans:\n%s\n%s", one.Result, two.Result)
	}
	_, one = s.repair(s.broken(2))
	_, two = s.repair(s.broken(2))
	if !bytes.Equal(one.Result, two.Result) {
		s.Errorf("two repairs:\n%s\n%s", one.Result, two.Result)
	}
}

func (s *suite) hostile() {
	for _, spec := range []string{"", "null x", `{"requirement":`, `[]`, `{"context":{"checks":"no"},"failure":7}`} {
		for _, kind := range s.kinds() {
			if r := s.agent.Do(s.Context(), effect.Effect{Kind: kind, Place: s.w.Place, Spec: json.RawMessage(spec)},
				s.host, nil); r.OK {
				s.Errorf("%s took %q", kind, spec)
			}
		}
	}
}

func (s *suite) foreign() {
	if r := s.ask(s.Context(), effect.KindLand, effect.LandSpec{}); r.OK {
		s.Errorf("%+v", r)
	}
}

// told: what the agent says of itself is what the suite may expect of it.
func (s *suite) told() {
	if info := s.agent.Info(); info.Name == "" || info.Kind == "" || info.Intakes != s.traits.Intakes {
		s.Errorf("%+v, expected %+v", info, s.traits)
	}
}

func (s *suite) done() {
	e := effect.Effect{Kind: effect.KindPlan, Place: s.w.Place,
		Spec: effect.Encode(effect.PlanSpec{Requirement: plannable})}
	if answer, _ := s.agent.Done(s.Context(), e); answer == effect.DoneYes {
		s.Error("a plan that nobody received is not done")
	}
}

// newWorkspace makes the suite's project.
func newWorkspace(t *testing.T) Workspace {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":  "module sample\n\ngo 1.24\n",
		"main.go": "package main\nfunc main() {\n  println(1) }\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return Workspace{
		Place: effect.Place{Workspace: dir, Tree: dir, InPlace: true},
		Context: effect.ContextResult{Ecosystems: []string{"go"}, Files: 2, Checks: []effect.Check{
			{Name: "gofmt", Command: "! gofmt -l . 2>&1 | grep .", Kind: "format"},
			{Name: "go vet", Command: "go vet ./...", Kind: "lint"},
			{Name: "go test", Command: "go test ./...", Kind: "test", Level: 2},
		}},
	}
}

// digest is the content of a folder in one value.
func digest(t *testing.T, dir string) string {
	t.Helper()
	h := sha256.New()
	err := filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(p)
		h.Write([]byte(p + "\x00"))
		h.Write(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return hex.EncodeToString(h.Sum(nil))
}
