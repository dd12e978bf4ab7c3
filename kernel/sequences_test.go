package kernel_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pawl"
	"pawl/internal/invariant"
	"pawl/kernel"
	"pawl/kernel/approval"
	"pawl/kernel/control"
	"pawl/kernel/effect"
	"pawl/kernel/orders"
	"pawl/kernel/planning"
	"pawl/kernel/steps"
	"pawl/machine/workflow"
	"pawl/text/triage"
)

// journey is one way through the stages: what begins it, how the requirement is judged, and what the person chooses
// where they are asked.
type journey struct {
	start      planning.Start
	evaluation triage.Evaluation
	choice     string
	files      []string
	stages     string
}

// journeys come through every stage in every mode in which it can be reached.
func journeys() map[string]journey {
	unclear := judged(4, medium)
	unclear.Questions = []triage.Question{{About: triage.Scope, Key: "triage.ask_scope"}}
	return map[string]journey{
		"auto": {planning.Start{Command: "~auto"}, judged(8, medium), "", []string{"a.go"},
			"EVALUATE ANALYZE DESIGN DEVELOP"},
		"auto tweak": {planning.Start{Command: "~auto"}, judged(9, small), "", []string{"a.go"}, "EVALUATE TWEAK"},
		"auto outgrown": {planning.Start{Command: "~auto"}, judged(9, small), "", []string{"a.go", "b.go", "c.go"},
			"EVALUATE TWEAK DEVELOP"},
		"auto unclear": {planning.Start{Command: "~auto"}, unclear, "", []string{"a.go"},
			"EVALUATE ANALYZE DESIGN DEVELOP"},
		"auto interactive": {planning.Start{Command: "~auto", Confirm: true}, judged(8, large),
			workflow.ChooseInteractive, []string{"a.go"}, "EVALUATE ANALYZE DESIGN DEVELOP"},
		"plan": {planning.Start{Command: "~plan"}, judged(8, medium), "", []string{"a.go"},
			"EVALUATE ANALYZE DESIGN"},
		"plan interactive": {planning.Start{Command: "~plan", Confirm: true}, judged(8, medium),
			workflow.ChooseInteractive, []string{"a.go"}, "EVALUATE ANALYZE DESIGN DEVELOP"},
		"words": {planning.Start{Confirm: true}, judged(8, medium), workflow.ChooseStart, []string{"a.go"},
			"EVALUATE ANALYZE DESIGN DEVELOP"},
		"words tweak": {planning.Start{Confirm: true}, judged(9, small), workflow.ChooseStart, []string{"a.go"},
			"EVALUATE TWEAK"},
		"exec": {*given("~exec"), judged(8, medium), "", []string{"a.go"}, "DEVELOP"},
	}
}

// given is a flow command as it can be given anywhere. A requirement in plain words is confirmed, so that it begins
// with its evaluation as docs/spec/workflow.md#evaluation says; a package of people's brings its plan along.
func given(name string) *planning.Start {
	s := &planning.Start{Command: name, Requirement: "add a flag", Place: place, RunMode: pawl.Assisted}
	switch name {
	case workflow.Request:
		s.Command, s.Confirm = "", true
	case "~exec":
		raw, err := json.Marshal(twoSteps())
		if err != nil {
			panic(err)
		}
		s.Package, s.Given, s.Name, s.AutoApprove = "202602081200_add-a-flag", raw, "tasks.json", "policy:~exec"
	}
	return s
}

// after is what docs/spec/workflow.md#commands says of the variables once a flow command was given at rest, by hand.
// ~exec comes to the point at which KB_SKIPPED is decided at once, which is "not skipped" in the default
// KB_CREATE_MODE, and knows its package.
var after = map[string]map[string]any{
	"~auto": {"WORKFLOW_MODE": "AUTO_FULL", "CURRENT_STAGE": "EVALUATE", "COMMAND": "~auto"},
	"~plan": {"WORKFLOW_MODE": "AUTO_PLAN", "CURRENT_STAGE": "EVALUATE", "COMMAND": "~plan"},
	"~exec": {"STAGE_ENTRY_MODE": "DIRECT", "CURRENT_STAGE": "DEVELOP", "COMMAND": "~exec",
		"CURRENT_PACKAGE": "plan/202602081200_add-a-flag", "KB_SKIPPED": "false"},
	workflow.Request: {"CURRENT_STAGE": "EVALUATE", "COMMAND": "request"},
}

// ordered are the commands that are no flow, each with an effect that it could ask for.
var ordered = map[string]effect.Kind{
	"~init": effect.KindKnowledge, "~upgrade": effect.KindKnowledge, "~clean": effect.KindRetire,
	"~test": effect.KindPackage, "~commit": effect.KindCommit,
	"~review": effect.KindPackage, "~validate": effect.KindKnowledge, "~rollback": effect.KindRewind,
	"~help": effect.KindKnowledge,
}

// told are the variables by the seed's names, over those of an idle system.
func told(t *testing.T, v workflow.Vars) map[string]any {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]any{}
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func resting() map[string]any {
	return map[string]any{
		"WORKFLOW_MODE": "INTERACTIVE", "CURRENT_STAGE": "", "STAGE_ENTRY_MODE": "NATURAL", "KB_SKIPPED": "",
		"CREATED_PACKAGE": "", "CURRENT_PACKAGE": "",
		"ACTIVE_TOOL": "", "SUSPENDED_STAGE": "", "TOOL_NESTING": 0.0, "SILENCE_BROKEN": false, "PATH": "",
		"COMMAND": "",
	}
}

// traveller plays a journey, and looks at each point of it that it has not been at before.
type traveller struct {
	*bench
	t    *testing.T
	w    *evaluating
	j    journey
	been map[string]bool
	at   func(point string)
}

func travel(t *testing.T, j journey) *traveller {
	b := flowBench(t)
	return &traveller{bench: b, t: t, j: j, w: &evaluating{world: changing(j.files...), evaluation: j.evaluation},
		been: map[string]bool{}}
}

// point names where the flow is, as far as a command could tell the difference.
func (v *traveller) point() string {
	s := v.look()
	out := fmt.Sprintf("%s %s %s", s.Flow.Mode, s.Flow.Stage, s.Session.State)
	if s.Effect != nil {
		out += fmt.Sprintf(" %s %s", s.Effect.What(), s.Effect.State)
	}
	if s.Approval != nil && s.Approval.State == kernel.ApprovalPending {
		out += " asks " + s.Approval.About
	}
	return out
}

func (v *traveller) visit() {
	if p := v.point(); v.at != nil && !v.been[p] {
		v.been[p] = true
		v.at(p)
	}
}

// answer answers an effect, and looks around while it is at work.
func (v *traveller) answer(e effect.Effect) effect.Receipt {
	v.visit()
	return v.w.answer(e)
}

// on goes one step on, as a runner does or as the person does who is asked; it is false at the end.
func (v *traveller) on() bool {
	v.visit()
	if v.act(v.answer) {
		return true
	}
	s := v.look()
	switch {
	case s.Session.State == "IDLE":
		return false
	case s.Approval != nil && s.Approval.State == kernel.ApprovalPending && s.Approval.About == "stage":
		choice := workflow.ChooseSilent
		if s.Run.Stage == workflow.Evaluate {
			choice = v.j.choice
		}
		v.do(&planning.Choose{Choice: choice, Hash: s.Approval.Hash})
	case s.Approval != nil && s.Approval.State == kernel.ApprovalPending:
		v.do(&approval.Approve{Hash: s.Approval.Hash})
	case len(s.Turn.Questions) > 0:
		v.w.evaluation = judged(8, medium)
		v.do(&steps.AnswerQuestions{Answers: []string{"the command line"}})
	default:
		v.t.Fatalf("nothing goes on at %s", v.point())
	}
	return true
}

// begin takes the journey's requirement up.
func (v *traveller) begin() {
	if v.j.start.Package != "" {
		v.j.start.Package = "202602081159_another"
	}
	v.j.start.Requirement, v.j.start.Place, v.j.start.RunMode = "add a flag", place, pawl.Assisted
	start := v.j.start
	v.do(&start)
}

// home gives the flow up and waits until nothing of it is at work any more.
func (v *traveller) home() {
	v.t.Helper()
	if _, err := v.try(&control.CancelRun{Reason: "no longer wanted"}); err != nil {
		v.t.Fatalf("cancel at %s: %v", v.point(), err)
	}
	v.run(v.w.answer)
	v.rests("canceled")
}

// rests fails unless the session is at rest with every variable reset.
func (v *traveller) rests(when string) {
	v.t.Helper()
	if s := v.look(); s.Session.State != "IDLE" || s.Session.Effect != "" {
		v.t.Errorf("%s: %s", when, v.point())
	}
	v.says(when, resting())
}

func (v *traveller) says(when string, want map[string]any) {
	v.t.Helper()
	got := told(v.t, v.vars())
	for _, n := range slices.Sorted(maps.Keys(got)) {
		if got[n] != want[n] {
			v.t.Errorf("%s: %s = %v, the seed says %v", when, n, got[n], want[n])
		}
	}
}

// TestNoCommandDisturbsAFlow gives every command at every point of every journey: flows exclude flows, what writes is
// refused, and nothing of the running flow is changed by having been asked.
func TestNoCommandDisturbsAFlow(t *testing.T) {
	for name, j := range journeys() {
		t.Run(name, func(t *testing.T) {
			v := travel(t, j)
			var stages []string
			tried := 0
			v.at = func(point string) {
				s := v.look()
				if s.Session.State == "IDLE" {
					return
				}
				if st := string(s.Flow.Stage); len(stages) == 0 || stages[len(stages)-1] != st {
					stages = append(stages, st)
				}
				before, version := v.vars(), s.Session.Row.Version
				refused := func(what string, c kernel.Command, code pawl.Code) {
					t.Helper()
					if _, err := v.try(c); pawl.CodeOf(err) != code {
						t.Errorf("%s: %s gives %v, want %s", point, what, err, code)
					}
					tried++
				}
				for c := range after {
					refused(c, given(c), pawl.CodeBusy)
				}
				for c, kind := range ordered {
					refused(c, &orders.Order{Command: c, Kind: kind}, pawl.CodeBusy)
				}
				refused("~nosuch", &orders.Order{Command: "~nosuch", Kind: effect.KindCommit}, pawl.CodeUsage)
				if now := v.look(); v.vars() != before || now.Session.Row.Version != version || v.point() != point {
					t.Errorf("%s: asking has changed %+v to %+v, %s", point, before, v.vars(), v.point())
				}
			}
			v.begin()
			for v.on() {
			}
			v.rests("at the end")
			if got := strings.Join(stages, " "); got != j.stages {
				t.Errorf("came through %s, want %s", got, j.stages)
			}
			if tried < 14*len(stages) || len(v.been) < 5 {
				t.Errorf("%d tries at %d points", tried, len(v.been))
			}
			for _, bad := range invariant.Check(context.Background(), v.k) {
				t.Errorf("%+v", bad)
			}
		})
	}
}

// TestCommandsFollowEachOther ends every journey at each of its stages, by cancel or by its own end, and gives every
// command then: whichever way the one before has ended, each begins with exactly the variables that its row says.
func TestCommandsFollowEachOther(t *testing.T) {
	for name, j := range journeys() {
		for _, stage := range append(strings.Fields(j.stages), "") {
			t.Run(name+" "+stage, func(t *testing.T) {
				v := travel(t, j)
				v.begin()
				for string(v.vars().Stage) != stage && v.on() {
				}
				if stage != "" {
					v.home()
				}
				v.rests("before the next")
				for _, c := range []string{"~auto", "~plan", "~exec", workflow.Request} {
					v.do(given(c))
					want := resting()
					maps.Copy(want, after[c])
					v.says(c, want)
					v.home()
				}
				for c, kind := range ordered {
					v.do(&orders.Order{Command: c, Kind: kind, Idempotent: true})
					v.says(c, resting())
					if _, err := v.try(given("~auto")); pawl.CodeOf(err) != pawl.CodeBusy {
						t.Errorf("~auto while %s is at work: %v", c, err)
					}
					v.run(func(effect.Effect) effect.Receipt { return effect.Succeeded(struct{}{}) })
					v.rests(c)
				}
				for _, bad := range invariant.Check(context.Background(), v.k) {
					t.Errorf("%+v", bad)
				}
			})
		}
	}
}

func hashOf(s *kernel.Snapshot) string {
	if s.Approval == nil {
		return ""
	}
	return s.Approval.Hash
}

// TestToolsBetweenStages hands a flow to an external tool wherever it waits for a person: no command begins meanwhile,
// and after the tool the flow is where it was, or reset where nobody wants it back.
func TestToolsBetweenStages(t *testing.T) {
	entered := map[string]bool{}
	for name, j := range journeys() {
		for _, resume := range []bool{true, false} {
			v := travel(t, j)
			over := false
			v.at = func(point string) {
				if over {
					return
				}
				before := v.vars()
				if _, err := v.try(&control.EnterTool{Tool: "deploy"}); err != nil {
					if pawl.CodeOf(err) != pawl.CodeBusy || v.vars() != before {
						t.Errorf("%s at %s: %v", name, point, err)
					}
					return
				}
				idle := before.Stage == workflow.None
				entered[string(before.Mode)+" "+string(before.Stage)] = true
				want := told(t, before)
				want["SUSPENDED_STAGE"], want["CURRENT_STAGE"], want["ACTIVE_TOOL"],
					want["TOOL_NESTING"] = string(before.Stage), "", "deploy", 1.0
				v.says("inside the tool at "+point, want)
				for c := range after {
					if _, err := v.try(given(c)); pawl.CodeOf(err) != pawl.CodeBusy {
						t.Errorf("%s inside the tool at %s: %v", c, point, err)
					}
				}
				for c, kind := range ordered {
					_, err := v.try(&orders.Order{Command: c, Kind: kind})
					// At rest what only reads may be asked for inside a tool, too (docs/spec/workflow.md#c2).
					reads := c == "~help" || c == "~validate" || c == "~review"
					if idle && reads && err == nil {
						v.run(func(effect.Effect) effect.Receipt { return effect.Succeeded(struct{}{}) })
					} else if idle && reads || pawl.CodeOf(err) != pawl.CodeBusy {
						t.Errorf("%s inside the tool at %s: %v", c, point, err)
					}
				}
				for _, c := range []kernel.Command{
					&control.Resume{}, &steps.AnswerQuestions{Answers: []string{"all"}}, &steps.AnswerQuestions{},
					&approval.Approve{Hash: hashOf(v.look())},
					&planning.Choose{Choice: v.j.choice, Hash: hashOf(v.look())}, &approval.Deny{},
					&planning.Revise{Feedback: "smaller"},
				} {
					_, gives := c.(*steps.AnswerQuestions) // what is not asked is refused as such
					if _, err := v.try(c); err == nil && !idle || !gives && pawl.CodeOf(err) != pawl.CodeBusy && !idle {
						t.Errorf("%T inside the tool at %s: %v, %+v", c, point, err, v.vars())
					}
				}
				v.says("still inside the tool at "+point, want)
				v.do(&control.LeaveTool{Resume: resume})
				if idle || resume {
					v.says("back at "+point, told(t, before))
					return
				}
				over = true
				v.run(v.w.answer)
				v.rests("given up at " + point)
			}
			v.begin()
			for !over && v.on() {
			}
			v.rests(name)
		}
	}
	want := []string{
		"AUTO_FULL DEVELOP", "AUTO_FULL EVALUATE", "AUTO_FULL TWEAK", "AUTO_PLAN EVALUATE", "INTERACTIVE ",
		"INTERACTIVE ANALYZE", "INTERACTIVE DESIGN",
		"INTERACTIVE DEVELOP", "INTERACTIVE EVALUATE", "INTERACTIVE TWEAK",
	}
	if got := slices.Sorted(maps.Keys(entered)); !slices.Equal(got, want) {
		t.Errorf("tools were entered at %q, want %q", got, want)
	}
}
