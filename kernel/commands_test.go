package kernel_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pawl"
	"pawl/internal/invariant"
	"pawl/kernel"
	"pawl/kernel/approval"
	"pawl/kernel/audit"
	"pawl/kernel/control"
	"pawl/kernel/effect"
	"pawl/kernel/planning"
	"pawl/kernel/steps"
	"pawl/machine/workflow"
	"pawl/text/plan"
	"pawl/text/triage"
)

// evaluating answers intakes with a judgement, besides what a world answers.
type evaluating struct {
	*world
	evaluation triage.Evaluation
	asked      int
}

func (e *evaluating) answer(f effect.Effect) effect.Receipt {
	if f.Kind == effect.KindIntake {
		e.asked++
		return effect.Succeeded(effect.IntakeResult{Evaluation: e.evaluation})
	}
	return e.world.answer(f)
}

func judged(score int, f triage.Factors, found ...triage.Finding) triage.Evaluation {
	return triage.Evaluation{By: triage.ByPawl, Class: triage.ClassFeature, Score: score, Risk: pawl.RiskLow,
		Factors: f, HighRisk: found}
}

var (
	small   = triage.Factors{Design: triage.DesignNone, Extent: triage.ExtentPoint}
	medium  = triage.Factors{Design: triage.DesignSimple, Extent: triage.ExtentLocal}
	large   = triage.Factors{Design: triage.DesignFull, Extent: triage.ExtentCross}
	action  = triage.Finding{Quote: "production", Stance: triage.StanceAction}
	mention = triage.Finding{Quote: "production", Stance: triage.StanceMention}
)

// flowBench is a bench whose default agent judges requirements.
func flowBench(t *testing.T) *bench {
	b := newBench(t)
	b.k.Config().Agents[""] = kernel.Traits{Intakes: true}
	b.unlike = true // the settings were changed after the recording began
	return b
}

func (b *bench) vars() workflow.Vars { return b.look().Flow.Vars }

func changing(files ...string) *world {
	p := twoSteps()
	for _, f := range files {
		p.Steps[0].ExpectedArtifacts = append(p.Steps[0].ExpectedArtifacts,
			plan.Artifact{Type: plan.ArtifactFile, Value: f})
	}
	return &world{plan: p}
}

// stages are the stages that the flow came through, with the rules.
func (b *bench) stages() string {
	b.t.Helper()
	var out []string
	for rec, err := range b.store.Records(context.Background(), "", 0) {
		if err != nil {
			b.t.Fatal(err)
		}
		p, err := audit.Parse(rec.Bytes)
		if err != nil {
			b.t.Fatal(err)
		}
		if m := p.Move; m != nil && strings.HasPrefix(m.Rule, "W") {
			out = append(out, m.Rule)
		}
	}
	return strings.Join(out, " ")
}

func TestCommandsThroughTheirStages(t *testing.T) {
	for name, c := range map[string]struct {
		start      planning.Start
		evaluation triage.Evaluation
		world      *world
		rules      string
		outcome    string
	}{
		"~auto, light": {planning.Start{Command: "~auto"}, judged(8, medium), changing("a.go"),
			"W01 W06 W08 W10 W11", "completed"},
		"~auto, standard": {planning.Start{Command: "~auto"}, judged(8, large), changing("a.go"),
			"W01 W07 W08 W10 W11", "completed"},
		"~auto, tweak": {planning.Start{Command: "~auto"}, judged(9, small), changing("a.go"), "W01 W05 W12",
			"completed"},
		"~auto, tweak that grows": {planning.Start{Command: "~auto"}, judged(9, small),
			changing("a.go", "b.go", "c.go"), "W01 W05 W24 W08 W10 W11", "completed"},
		"~plan, light": {planning.Start{Command: "~plan"}, judged(8, medium), changing("a.go"),
			"W02 W06 W08 W13", "planned"},
		"~plan, tweak": {planning.Start{Command: "~plan"}, judged(8, small), changing("a.go"),
			"W02 W06 W08 W13", "planned"},
		"words, approved by a flag": {planning.Start{AutoApprove: "policy:--yes"}, judged(8, medium), changing("a.go"),
			"W04 W06 W08 W09 W11", "completed"},
	} {
		t.Run(name, func(t *testing.T) {
			b := flowBench(t)
			w := &evaluating{world: c.world, evaluation: c.evaluation}
			c.start.Requirement, c.start.Place, c.start.RunMode = "add a flag", place, pawl.Assisted
			b.do(&c.start)
			if v := b.vars(); (v.Stage != workflow.Evaluate && c.start.Command != "") ||
				v.Mode == workflow.Interactive != (c.start.Command == "") {
				t.Errorf("at first %+v", v)
			}
			b.run(w.answer)
			if v := b.vars(); v != workflow.Initial() {
				t.Errorf("not reset: %+v", v)
			}
			if got := b.stages(); got != c.rules {
				t.Errorf("came through %s, want %s", got, c.rules)
			}
			s, err := b.k.LastRun(context.Background())
			if err != nil || s.Run.Outcome != c.outcome {
				t.Errorf("ended %+v, %v", s.Run, err)
			}
			files, _ := s.Package().Archive()
			if tweak := strings.Contains(c.rules, "W12"); (s.Run.Package == "") != tweak || tweak &&
				slices.ContainsFunc(files, func(f pawl.ProjectedFile) bool {
					return strings.HasPrefix(f.Path, "archive/")
				}) {
				t.Errorf("package %q", s.Run.Package)
			}
			for _, v := range invariant.Check(context.Background(), b.k) {
				t.Errorf("%+v", v)
			}
		})
	}
}

func TestAChangeThatOutgrowsATweak(t *testing.T) {
	big := []effect.FileStat{{Path: "a/a.go", Status: "M", Added: 40}}
	for name, c := range map[string]struct {
		start    planning.Start
		changed  []effect.FileStat
		rules    string
		outgrown bool
		kind     string
	}{
		"small": {planning.Start{Command: "~auto"},
			[]effect.FileStat{{Path: "a/a.go", Status: "M", Added: 3}}, "W01 W05 W12", false, "tweaked"},
		"AUTO_FULL": {planning.Start{Command: "~auto"}, big, "W01 W05 W24 W08 W10 W11", false, "added"},
		"approved by a person": {planning.Start{Command: "~auto", Confirm: true}, big, "W01 W05 W12", true,
			"out_of_scope"},
	} {
		t.Run(name, func(t *testing.T) {
			b := flowBench(t)
			w := &evaluating{world: changing("a.go"), evaluation: judged(9, small)}
			w.changed = c.changed
			c.start.Requirement, c.start.Place, c.start.RunMode = "add a flag", place, pawl.Assisted
			b.do(&c.start)
			b.run(w.answer)
			if c.start.Confirm {
				b.do(&planning.Choose{Choice: workflow.ChooseInteractive, Hash: b.look().Approval.Hash})
				b.run(w.answer)
				b.do(&approval.Approve{Hash: b.look().Approval.Hash})
				b.run(w.answer)
			}
			s, err := b.k.LastRun(context.Background())
			if err != nil || s.Run.Outcome != "completed" || s.Run.Outgrown != c.outgrown {
				t.Fatalf("%+v %v", s.Run, err)
			}
			if got := b.stages(); got != c.rules {
				t.Errorf("came through %s, want %s", got, c.rules)
			}
			if w.logged == nil || w.logged[0].Kind != c.kind ||
				(w.logged[0].Package == "") != (c.rules == "W01 W05 W12") {
				t.Errorf("logged %+v", w.logged)
			}
		})
	}
}

func TestExecFinishesWhatPlanMade(t *testing.T) {
	b := flowBench(t)
	w := &evaluating{world: changing("a.go"), evaluation: judged(8, medium)}
	b.do(&planning.Start{Command: "~plan", Requirement: "add a flag", Place: place, RunMode: pawl.Assisted})
	b.run(w.answer)
	s, _ := b.k.LastRun(context.Background())
	name := s.Run.Package
	if name == "" || s.Solution.State != kernel.SolutionDraft || s.Issue.State != "planned" {
		t.Fatalf("%q %+v %s", name, s.Solution, s.Issue.State)
	}
	b.do(&planning.Start{Command: "~exec", Package: name, Requirement: s.Run.Requirement, Place: place,
		RunMode: pawl.Assisted, AutoApprove: "policy:~exec"})
	if v := b.vars(); v.Stage != workflow.Develop || v.Entry != workflow.Direct || v.Mode != workflow.Interactive {
		t.Errorf("at first %+v", v)
	}
	b.run(w.answer)
	done, _ := b.k.LastRun(context.Background())
	if done.Run.Outcome != "completed" || done.Issue.ID != s.Issue.ID || done.Issue.State != "completed" ||
		done.Solution.State != kernel.SolutionUsed || done.Run.Package != name {
		t.Errorf("%+v %s %s", done.Run, done.Issue.State, done.Solution.State)
	}
	if w.asked != 1 {
		t.Errorf("evaluated %d times", w.asked)
	}
	if _, err := b.try(&planning.Start{Command: "~exec", Package: name, Requirement: "x",
		Place: place}); pawl.CodeOf(err) != pawl.CodeInvalidTransition {
		t.Errorf("carried out twice: %v", err)
	}
	for _, v := range invariant.Check(context.Background(), b.k) {
		t.Errorf("%+v", v)
	}
}

func TestPackagesOfOneMinute(t *testing.T) {
	b := flowBench(t)
	w := &evaluating{world: changing("a.go"), evaluation: judged(8, medium)}
	var names []string
	for range 3 {
		b.now = b.now.Truncate(0)
		at := b.now
		b.do(&planning.Start{Command: "~plan", Requirement: "add a flag", Place: place, RunMode: pawl.Assisted})
		b.run(w.answer)
		s, _ := b.k.LastRun(context.Background())
		names = append(names, s.Run.Package)
		b.now = at
	}
	if names[1] != names[0]+"_v2" || names[2] != names[0]+"_v3" {
		t.Errorf("names %v", names)
	}
}

func TestTheModeIsChosenOnce(t *testing.T) {
	for _, c := range []struct {
		command, choice string
		path            workflow.Path
		mode            workflow.Mode
		code            pawl.Code
		stops           string
	}{
		{"~auto", workflow.ChooseSilent, "", workflow.AutoFull, "", ""},
		{"~auto", workflow.ChooseInteractive, "", workflow.Interactive, "", "ANALYZE"},
		{"~plan", workflow.ChooseInteractive, workflow.PathTweak, workflow.Interactive, "", "plan"},
		{"~auto", workflow.ChooseStart, "", "", pawl.CodeInvalidTransition, ""},
		{"", workflow.ChooseStart, "", workflow.Interactive, "", "ANALYZE"},
		{"", workflow.ChooseSilent, "", "", pawl.CodeInvalidTransition, ""},
		{"~auto", workflow.ChooseSilent, "sideways", "", pawl.CodeInvalid, ""},
	} {
		t.Run(fmt.Sprint(c.command, c.choice, c.path), func(t *testing.T) {
			b := flowBench(t)
			w := &evaluating{world: changing("a.go"), evaluation: judged(8, medium)}
			b.do(&planning.Start{Command: c.command, Requirement: "add a flag", Place: place, RunMode: pawl.Assisted,
				Confirm: true})
			b.run(w.answer)
			s := b.look()
			if s.Approval == nil || s.Approval.About != "stage" || s.Run.Stage != workflow.Evaluate ||
				s.Session.State != "PLANNING" || s.Flow.SilenceBroken {
				t.Fatalf("nothing asks: %+v %+v", s.Approval, s.Run)
			}
			_, err := b.try(&planning.Choose{Choice: c.choice, Path: c.path, Hash: s.Approval.Hash})
			if pawl.CodeOf(err) != c.code {
				t.Fatalf("chosen: %v", err)
			}
			if err != nil {
				return
			}
			if got := b.vars().Mode; got != c.mode {
				t.Errorf("mode %s", got)
			}
			b.run(w.answer)
			s = b.look()
			switch stop := ""; {
			case s.Approval != nil && s.Approval.State == kernel.ApprovalPending && s.Approval.About == "stage":
				if stop = string(s.Run.Stage); stop != c.stops {
					t.Errorf("stops at %s", stop)
				}
				if _, err := b.try(&planning.Choose{Choice: workflow.ChooseSilent, Hash: s.Approval.Hash}); err != nil {
					t.Error(err)
				}
				b.run(w.answer)
				if s := b.look(); s.Session.State != "CONFIRMING" || s.Flow.Mode != workflow.Interactive {
					t.Errorf("behind the analysis: %s in %s", s.Session.State, s.Flow.Mode)
				}
			case s.Session.State == "CONFIRMING":
				if c.stops != "plan" {
					t.Errorf("stops at the plan")
				}
			default:
				if c.stops != "" {
					t.Errorf("does not stop: %s", s.Session.State)
				}
			}
		})
	}
}

func TestSilenceIsBroken(t *testing.T) {
	unclear := judged(4, medium)
	unclear.Questions = []triage.Question{{About: triage.Scope, Key: "triage.ask_scope"}}
	b := flowBench(t)
	w := &evaluating{world: changing("a.go"), evaluation: unclear}
	b.do(&planning.Start{Command: "~auto", Requirement: "improve it", Place: place, RunMode: pawl.Assisted})
	b.run(w.answer)
	if v := b.vars(); !v.SilenceBroken || v.Mode != workflow.AutoFull || v.Stage != workflow.Evaluate {
		t.Errorf("a low score: %+v", v)
	}
	w.evaluation = judged(8, medium, action)
	w.plan.Steps[0].Title = "drop the production database"
	b.do(&steps.AnswerQuestions{Answers: []string{"all of it"}})
	if v := b.vars(); v.SilenceBroken {
		t.Errorf("answered: %+v", v)
	}
	b.run(w.answer)
	s := b.look()
	if s.Session.State != "PLANNING" || s.Approval == nil || s.Approval.About != "stage" || !s.Flow.SilenceBroken {
		t.Errorf("a dangerous requirement: %s %+v", s.Session.State, s.Flow.Vars)
	}
	b.do(&planning.Choose{Choice: workflow.ChooseSilent, Hash: s.Approval.Hash})
	b.run(w.answer)
	s = b.look()
	if s.Run.Answers[0].About != "scope" || s.Session.State != "CONFIRMING" || !s.Flow.SilenceBroken ||
		s.Run.Path != workflow.PathStandard {
		t.Errorf("danger: %s %+v %+v", s.Session.State, s.Flow.Vars, s.Run.Answers)
	}
	b.do(&approval.Approve{Hash: s.Approval.Hash})
	b.run(w.answer)
	if last, _ := b.k.LastRun(context.Background()); last.Run.Outcome != "completed" {
		t.Errorf("%+v", last.Run)
	}
}

func TestGoingOnWithWhatThereIs(t *testing.T) {
	unclear := judged(4, medium)
	unclear.Questions = []triage.Question{{About: triage.Scope, Key: "triage.ask_scope"}}
	b := flowBench(t)
	w := &evaluating{world: changing("a.go"), evaluation: unclear}
	b.do(&planning.Start{Command: "~auto", Requirement: "improve it", Place: place, RunMode: pawl.Assisted})
	b.run(w.answer)
	b.do(&steps.AnswerQuestions{})
	b.run(w.answer)
	if last, _ := b.k.LastRun(context.Background()); last.Run.Outcome != "completed" || w.asked != 1 {
		t.Errorf("%+v", last.Run)
	}
}

func TestAMentionedDangerStopsNobody(t *testing.T) {
	b := flowBench(t)
	w := &evaluating{world: changing("a.go"), evaluation: judged(8, medium, mention)}
	b.do(&planning.Start{Command: "~auto", Requirement: "do not touch production", Place: place,
		RunMode: pawl.Assisted})
	b.run(w.answer)
	if last, _ := b.k.LastRun(context.Background()); last.Run.Outcome != "completed" {
		t.Errorf("%+v", last.Run)
	}
}

func TestExternalToolsSuspendTheFlow(t *testing.T) {
	b := flowBench(t)
	w := &evaluating{world: changing("a.go"), evaluation: judged(8, medium)}
	b.do(&planning.Start{Requirement: "add a flag", Place: place, RunMode: pawl.Assisted})
	if _, err := b.try(&control.EnterTool{Tool: "deploy"}); pawl.CodeOf(err) != pawl.CodeBusy {
		t.Fatalf("while something is at work: %v", err)
	}
	b.run(w.answer)
	b.do(&control.EnterTool{Tool: "deploy"})
	b.do(&control.EnterTool{Tool: "inner"})
	if v := b.vars(); v.ToolNesting != 2 || v.ActiveTool != "inner" || v.SuspendedStage != workflow.Design ||
		v.Stage != workflow.None {
		t.Errorf("nested: %+v", v)
	}
	if _, err := b.try(&planning.Start{Command: "~auto", Requirement: "other",
		Place: place}); pawl.CodeOf(err) != pawl.CodeBusy {
		t.Errorf("a flow inside a tool: %v", err)
	}
	if _, err := b.try(&control.CancelTask{Task: b.look().Task.ID}); pawl.CodeOf(err) != pawl.CodeBusy {
		t.Errorf("a cancel of the task inside a tool: %v", err)
	}
	b.do(&control.LeaveTool{})
	b.do(&control.LeaveTool{Resume: true})
	if v := b.vars(); v.ToolNesting != 0 || v.Stage != workflow.Design || b.look().Session.Paused() {
		t.Errorf("left: %+v", v)
	}
	if _, err := b.try(&control.Pause{}); pawl.CodeOf(err) != pawl.CodeInvalidTransition {
		t.Errorf("a plan that waits was paused: %v", err)
	}
	b.do(&control.EnterTool{Tool: "deploy"})
	b.do(&control.LeaveTool{})
	if s := b.look(); s.Session.State != "IDLE" || s.Flow.Vars != workflow.Initial() {
		t.Errorf("given up: %s %+v", s.Session.State, s.Flow.Vars)
	}
}

// Whoever had paused the flow before the tool came is the one who lets it go on.
func TestAToolKeepsThePauseBeforeIt(t *testing.T) {
	unclear := judged(4, medium)
	unclear.Questions = []triage.Question{{About: triage.Scope, Key: "triage.ask_scope"}}
	b := flowBench(t)
	w := &evaluating{world: changing("a.go"), evaluation: unclear}
	b.do(&planning.Start{Command: "~auto", Requirement: "improve it", Place: place, RunMode: pawl.Assisted})
	b.run(w.answer)
	b.do(&control.Pause{})
	b.do(&control.EnterTool{Tool: "deploy"})
	b.do(&control.LeaveTool{Resume: true})
	if v := b.vars(); v.Stage != workflow.Evaluate || !b.look().Session.Paused() {
		t.Errorf("the tool took back a pause that was there before: %+v", v)
	}
}

// A requirement whose own words are of extremely high risk, or may be, is asked about before it is planned, in every
// mode and whatever was said beforehand. Who says yes is on record, and is asked about the requirement no second time.
func TestADangerousRequirementWaits(t *testing.T) {
	unsure := action
	unsure.Stance = triage.StanceUnsure
	for name, c := range map[string]struct {
		start *planning.Start
		found triage.Finding
	}{
		"auto":        {&planning.Start{Command: "~auto", RunMode: pawl.Assisted}, action},
		"plain":       {&planning.Start{RunMode: pawl.Assisted}, action},
		"unattended":  {&planning.Start{Command: "~auto", RunMode: pawl.Autonomous}, action},
		"said before": {&planning.Start{Command: "~auto", RunMode: pawl.Assisted, AutoApprove: "policy:--yes"}, action},
		"plain, said before": {&planning.Start{RunMode: pawl.Assisted, AutoApprove: "policy:--yes"},
			action},
		"unsure, said before": {&planning.Start{Command: "~auto", RunMode: pawl.Assisted, AutoApprove: "policy:--yes"},
			unsure},
		"unattended, said before": {&planning.Start{Command: "~auto", RunMode: pawl.Autonomous,
			AutoApprove: "policy:--yes"}, action},
	} {
		t.Run(name, func(t *testing.T) {
			b := flowBench(t)
			w := &evaluating{world: changing("a.go"), evaluation: judged(8, medium, c.found)}
			c.start.Requirement, c.start.Place = "drop the users table of production", place
			b.do(c.start)
			b.run(w.answer)
			s := b.look()
			if b.count("RISK_FOUND") != 1 {
				t.Errorf("found %d times", b.count("RISK_FOUND"))
			}
			if s.Session.State != "PLANNING" || s.Approval == nil || s.Approval.About != "stage" ||
				s.Run.Context != nil || s.Flow.Mode.Auto() != s.Flow.SilenceBroken ||
				(b.count("AUTONOMOUS_BLOCKED") == 1) != (c.start.RunMode == pawl.Autonomous) {
				t.Fatalf("%s, silence broken %t", s.Session.State, s.Flow.SilenceBroken)
			}
			for _, yes := range []kernel.Command{&approval.Approve{Hash: s.Approval.Hash}, &approval.Deny{}} {
				if _, err := b.try(yes); pawl.CodeOf(err) != pawl.CodeInvalidTransition {
					t.Errorf("%T: %v", yes, err)
				}
			}
			choice := workflow.ChooseStart
			if s.Flow.Mode.Auto() {
				choice = workflow.ChooseSilent
			}
			b.do(&planning.Choose{Choice: choice, Hash: s.Approval.Hash})
			b.run(w.answer)
			if s = b.look(); s.Session.State == "CONFIRMING" {
				b.do(&planning.Revise{Feedback: "smaller"})
				b.run(w.answer)
			}
			if a := b.look().Approval; b.count("RISK_CONFIRMED") != 1 || a != nil && a.About == "stage" &&
				a.State == kernel.ApprovalPending {
				t.Errorf("confirmed %d times", b.count("RISK_CONFIRMED"))
			}
		})
	}
}

// A plan that took too long ends its turn by TIMEOUT, and the run as any other plan that could not be made.
func TestAPlanThatTakesTooLong(t *testing.T) {
	b := flowBench(t)
	w := &evaluating{world: changing("a.go"), evaluation: judged(8, medium)}
	b.do(&planning.Start{Command: "~auto", Requirement: "add a flag", Place: place, RunMode: pawl.Assisted})
	b.run(func(e effect.Effect) effect.Receipt {
		if e.Kind == effect.KindPlan {
			return effect.Failed(pawl.Fail(pawl.CodeTimeout, "kernel.task_timeout", "30m"))
		}
		return w.answer(e)
	})
	if s := b.look(); s.Session.State != "IDLE" || b.count("TIMEOUT") != 1 || s.Session.LastError == nil ||
		s.Session.LastError.Code != pawl.CodeTimeout {
		t.Errorf("%s, %d timeouts, %+v", s.Session.State, b.count("TIMEOUT"), s.Session.LastError)
	}
}

// A call that takes too long is a TIMEOUT of its turn, which goes to RECOVERING and is repaired as any other failure.
func TestACallThatTakesTooLong(t *testing.T) {
	b := newBench(t)
	w := &world{plan: twoSteps()}
	b.do(&planning.Start{Requirement: "do the work", Place: place, RunMode: pawl.Assisted, AutoApprove: "policy:test"})
	late := false
	b.run(func(e effect.Effect) effect.Receipt {
		if e.Kind == effect.KindTool && !late {
			late = true
			return effect.Failed(pawl.Fail(pawl.CodeTimeout, "shell.timeout", "5m"))
		}
		return w.answer(e)
	})
	if s := b.look(); b.count("TIMEOUT") != 1 || b.count("STATE_TRANSITION_RECOVERING") != 1 ||
		s.Session.State != "IDLE" && s.Session.State != "BLOCKED" {
		t.Errorf("%s, %d timeouts, %d times recovering", s.Session.State, b.count("TIMEOUT"),
			b.count("STATE_TRANSITION_RECOVERING"))
	}
	b.verifyAudit()
}

// The records name who really confirmed: the policy where nobody was asked, and never a user who did not speak.
func TestRecordsNameWhoConfirmed(t *testing.T) {
	for name, c := range map[string]struct {
		start *planning.Start
		by    string
		moves int // of those that a person or a policy makes
	}{
		"yes":        {&planning.Start{RunMode: pawl.Assisted, AutoApprove: "policy:--yes"}, "policy:--yes", 4},
		"unattended": {&planning.Start{RunMode: pawl.Autonomous}, "policy:run_mode/autonomous", 4},
		"auto":       {&planning.Start{Command: "~auto", RunMode: pawl.Assisted}, "policy:auto_full", 3},
		"plan":       {&planning.Start{Command: "~plan", RunMode: pawl.Assisted}, "policy:auto_plan", 1},
	} {
		b := flowBench(t)
		w := &evaluating{world: changing("a.go"), evaluation: judged(8, medium)}
		c.start.Requirement, c.start.Place = "add a flag", place
		b.do(c.start)
		b.run(w.answer)
		said := 0
		for rec, err := range b.store.Records(b.t.Context(), "", 0) {
			if err != nil {
				t.Fatal(err)
			}
			text := string(rec.Bytes)
			if strings.Contains(text, "user:for") || strings.Contains(text, `"STATE_TRANSITION_"`) {
				t.Errorf("%s: %s", name, text)
			}
			for _, event := range []string{"USER_CONFIRM", "CONFIRM", "PACKAGE_READY", "APPROVE"} {
				if strings.Contains(text, `"event":"`+event+`"`) && strings.Contains(text, `"actor":"`+c.by+`"`) {
					said++
				}
			}
		}
		if said != c.moves {
			t.Errorf("%s: %d records of the confirmation name %s, want %d", name, said, c.by, c.moves)
		}
	}
}

// TestAPauseEndsWithItsRun: the next run is not paused because the one before was, and a session at rest cannot be.
func TestAPauseEndsWithItsRun(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	if _, err := b.try(&control.Pause{}); pawl.CodeOf(err) != pawl.CodeInvalidTransition {
		t.Errorf("paused at rest: %v", err)
	}
	b.do(&planning.Start{Requirement: "x", Place: effect.Place{Workspace: "/w", Tree: "/w", Git: true}})
	b.do(&control.Pause{})
	if s := b.look().Session; !s.Paused() || s.State != "PLANNING" {
		t.Fatalf("%s is not paused", s.State)
	}
	b.do(&control.CancelRun{Reason: "not needed"})
	if s := b.look().Session; s.Paused() || s.State != "IDLE" {
		t.Errorf("%s, dispatch %s", s.State, s.Dispatch)
	}
}
