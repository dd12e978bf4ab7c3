package kernel_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"pawl"
	"pawl/internal/invariant"
	"pawl/kernel"
	"pawl/kernel/approval"
	"pawl/kernel/budget"
	"pawl/kernel/control"
	"pawl/kernel/effect"
	"pawl/kernel/effects"
	"pawl/kernel/orders"
	"pawl/kernel/planning"
	"pawl/kernel/recovery"
	"pawl/kernel/steps"
	"pawl/kernel/tasks"
	"pawl/text/plan"
	"pawl/text/policy"
	"pawl/text/triage"
)

// mind is an agent that a test plays: what it answers to each request for work, in order, the last one for ever.
type mind struct {
	world
	questions []string
	work      []effect.WorkResult
	asked     []effect.WorkSpec
	made      []string
}

func (m *mind) answer(e effect.Effect) effect.Receipt {
	switch e.Kind {
	case effect.KindIntake:
		spec, _ := effect.Decode[effect.IntakeSpec](e.Spec)
		r := effect.IntakeResult{Said: effect.Said{Agent: "m"},
			Evaluation: triage.Evaluation{Class: triage.ClassFeature, Score: 7}}
		if spec.Round <= len(m.questions) {
			r.Evaluation.Questions = []triage.Question{{About: triage.Scope, Text: m.questions[spec.Round-1]}}
		}
		return effect.Succeeded(r)
	case effect.KindRepair:
		m.repairs++
		return effect.Succeeded(effect.RepairResult{Said: effect.Said{Agent: "m"}, Why: "mend it",
			Steps: []plan.Step{{StepID: "r", Title: "mend", Intent: "mend", Status: plan.Pending}}})
	case effect.KindTool:
		call, _ := effect.Decode[effect.ToolCall](e.Spec)
		m.made = append(m.made, call.Name)
	case effect.KindWork:
		spec, _ := effect.Decode[effect.WorkSpec](e.Spec)
		m.asked = append(m.asked, spec)
		i := min(len(m.asked), len(m.work)) - 1
		return effect.Succeeded(m.work[i])
	}
	return m.world.answer(e)
}

func wants(calls ...effect.Ask) effect.WorkResult {
	return effect.WorkResult{Said: effect.Said{Agent: "m", Usage: effect.Usage{Requests: 1, InTokens: 10}},
		Control: effect.Calls, Asks: calls,
		Messages: []effect.Message{{Role: effect.RoleAssistant, Calls: calls}}}
}

func call(id, name, arg string) effect.Ask {
	return effect.Ask{ID: id, Name: name, Args: json.RawMessage(fmt.Sprintf(`{"path":%q}`, arg))}
}

var finished = effect.WorkResult{Said: effect.Said{Agent: "m"}, Control: effect.StepDone, Text: "all tests pass"}

func intent() plan.Plan {
	p := twoSteps()
	p.Steps = []plan.Step{{StepID: "s1", Title: "do it", Intent: "do it", Status: plan.Pending}}
	return p
}

// working brings a bench with an agent behind the approval of its plan.
func working(t *testing.T, m *mind, start planning.Start) *bench {
	t.Helper()
	b := newBench(t)
	b.k.Config().Agents["m"] = kernel.Traits{Works: true, Intakes: true, Judges: true}
	m.plan = intent()
	start.Requirement, start.Agent, start.Place = "do the work", "m", effect.Place{Workspace: "/w", Tree: "/w",
		Git: true}
	if start.RunMode == "" {
		start.RunMode = pawl.Assisted
	}
	b.do(&start)
	b.run(m.answer)
	if s := b.look(); s.Session.State == "CONFIRMING" {
		b.do(&approval.Approve{Hash: s.Solution.Hash})
		b.run(m.answer)
	}
	return b
}

func TestAgentsStep(t *testing.T) {
	m := &mind{world: world{failChecks: 1}, work: []effect.WorkResult{
		wants(call("a", "read_file", "x"), call("b", "no_such_tool", "x"), call("c", "write_file", "x")), finished,
		wants(call("d", "write_file", "y")), finished,
	}}
	b := working(t, m, planning.Start{})
	b.wantStates("PLANNING CONFIRMING EXECUTING AUTO_FIX EXECUTING ARCHIVING IDLE")
	if got := strings.Join(m.made, " "); got != "read_file write_file write_file" {
		t.Errorf("made %s", got)
	}
	second := m.asked[1].Messages
	if len(second) != 4 || second[1].Call != "a" || second[1].Failed || second[2].Call != "b" || !second[2].Failed ||
		!strings.Contains(second[2].Text, "no_such_tool") {
		t.Errorf("the agent was told %+v", second)
	}
	if f := m.asked[2].Failure; f == nil || f.Output == "" && len(f.Checks) == 0 || m.asked[0].Failure != nil {
		t.Errorf("the repair was told %+v", f)
	}
	again := &mind{world: world{failChecks: 1}, work: []effect.WorkResult{finished}}
	again.plan = intent()
	b.do(&planning.Start{Requirement: "more work", Agent: "m",
		Place: effect.Place{Workspace: "/w", Tree: "/w", Git: true}, RunMode: pawl.Assisted})
	b.run(again.answer)
	b.do(&approval.Approve{Hash: b.look().Solution.Hash})
	b.run(again.answer)
	if n := again.asked[1].Notes; len(n) != 1 || !strings.Contains(n[0], "all tests pass") {
		t.Errorf("of the earlier failure the agent was told %q", n)
	}
	if len(m.asked[2].Messages) != 0 {
		t.Error("the repair goes on with the conversation of another step")
	}
	b.verifyAudit()
}

func TestAgentsWordIsNoEvidence(t *testing.T) {
	m := &mind{world: world{failChecks: 99}, work: []effect.WorkResult{finished}}
	b := working(t, m, planning.Start{})
	b.wantStates("PLANNING CONFIRMING EXECUTING AUTO_FIX BLOCKED")
	if s := b.look(); s.Session.AutoFix != 3 || m.repairs != 3 {
		t.Errorf("%d fixes, %d repairs", s.Session.AutoFix, m.repairs)
	}
}

func TestAgentGoesRoundInCircles(t *testing.T) {
	m := &mind{work: []effect.WorkResult{wants(call("a", "read_file", "x"), call("b", "read_file", "y"))}}
	b := working(t, m, planning.Start{})
	s := b.look()
	if s.Session.State != "BLOCKED" || len(m.made) > 4*8 {
		t.Fatalf("session %s after %d calls", s.Session.State, len(m.made))
	}
	if !slices.ContainsFunc(s.Task.Failures, func(f effect.Failure) bool { return f.Code == pawl.CodeLoop }) {
		t.Errorf("failures %+v", s.Task.Failures)
	}
}

func TestQuestionsAreParked(t *testing.T) {
	m := &mind{questions: []string{"which one?", "really?"}, work: []effect.WorkResult{finished}}
	b := working(t, m, planning.Start{})
	s := b.look()
	if s.Session.State != "PLANNING" || s.Turn.State != "CLARIFYING" ||
		strings.Join(s.Turn.Questions, "") != "which one?" {
		t.Fatalf("%s %s %v", s.Session.State, s.Turn.State, s.Turn.Questions)
	}
	if _, err := b.try(&steps.AnswerQuestions{Answers: []string{"a", "b"}}); pawl.CodeOf(err) != pawl.CodeInvalid {
		t.Errorf("two answers to one question: %v", err)
	}
	b.do(&steps.AnswerQuestions{Answers: []string{"the first"}})
	b.run(m.answer)
	if s = b.look(); s.Turn.State != "CLARIFYING" || s.Turn.Questions[0] != "really?" {
		t.Fatalf("%s %v", s.Turn.State, s.Turn.Questions)
	}
	b.do(&steps.AnswerQuestions{})
	b.run(m.answer)
	s = b.look()
	if s.Session.State != "CONFIRMING" || len(s.Run.Answers) != 2 || s.Run.Answers[0].Answer != "the first" {
		t.Errorf("%s %+v", s.Session.State, s.Run.Answers)
	}
	if _, err := b.try(&steps.AnswerQuestions{}); pawl.CodeOf(err) != pawl.CodeInvalidTransition {
		t.Errorf("an answer to nothing: %v", err)
	}
}

func TestAgentsDecideNothing(t *testing.T) {
	m := &mind{work: []effect.WorkResult{finished}}
	b := newBench(t)
	b.k.Config().Agents["m"] = kernel.Traits{Works: true}
	m.plan = intent()
	b.do(&planning.Start{Requirement: "do", Agent: "m", Place: effect.Place{Workspace: "/w", Tree: "/w", Git: true},
		RunMode: pawl.Assisted})
	b.run(m.answer)
	as := func(c kernel.Command) pawl.Code {
		_, err := b.k.Do(context.Background(), kernel.Envelope{Actor: "agent:mcp/x", Command: c})
		return pawl.CodeOf(err)
	}
	for _, c := range []kernel.Command{
		&approval.Approve{Hash: b.look().Solution.Hash}, &approval.Deny{}, &planning.Revise{Feedback: "x"},
		&steps.AnswerQuestions{}, &recovery.Fix{}, &recovery.Skip{}, &recovery.Rollback{},
		&recovery.Undo{}, &control.CancelRun{}, &control.CancelTask{Task: b.look().Task.ID},
		&tasks.UpdateProgress{Task: b.look().Task.ID, Status: "canceled"},
		&planning.Start{Requirement: "x", AutoApprove: "policy:x"}, &planning.Start{Requirement: "x",
			RunMode: pawl.Autonomous}, &steps.Claim{Task: b.look().Task.ID, Owner: "x"},
	} {
		if got := as(c); got != pawl.CodeDenied {
			t.Errorf("%T: %q", c, got)
		}
	}
	if got := as(&orders.RecordError{Type: "x", RootCause: "y", Fix: "z"}); got != "" {
		t.Errorf("a report: %q", got)
	}
}

func TestStillUnclearAfterThreeRounds(t *testing.T) {
	m := &mind{questions: []string{"1", "2", "3", "4"}}
	b := working(t, m, planning.Start{})
	for range 3 {
		b.do(&steps.AnswerQuestions{Answers: []string{"hm"}})
		b.run(m.answer)
	}
	if s := b.look(); s.Session.State != "IDLE" || s.Session.LastError == nil ||
		s.Session.LastError.Key != "kernel.still_unclear" {
		t.Errorf("%s %+v", s.Session.State, s.Session.LastError)
	}
}

// deleting makes the policy ask about a tool.
func deleting(b *bench) {
	b.k.Config().Tools["delete_file"] = kernel.Tool{
		Info: effect.ToolInfo{Name: "delete_file", Version: "1.0.0", ArgsSchema: json.RawMessage(`{"type":"object"}`),
			Permissions: []policy.Permission{policy.FSDelete}},
		Request: func(json.RawMessage) (policy.Request, error) {
			return policy.Request{Tool: "delete_file", Permissions: []policy.Permission{policy.FSDelete},
				Paths: []policy.Path{{Rel: "x", Op: policy.OpDelete}}, Root: "/w"}, nil
		},
	}
}

func TestCallThatNeedsAWord(t *testing.T) {
	for name, answer := range map[string]kernel.Command{"allowed": &approval.Approve{},
		"refused": &approval.Deny{Reason: "keep it"}} {
		t.Run(name, func(t *testing.T) {
			m := &mind{work: []effect.WorkResult{wants(call("a", "delete_file", "x")), finished}}
			b := newBench(t)
			b.k.Config().Agents["m"] = kernel.Traits{Works: true}
			deleting(b)
			m.plan = intent()
			b.do(&planning.Start{Requirement: "do", Agent: "m",
				Place: effect.Place{Workspace: "/w", Tree: "/w", Git: true}, RunMode: pawl.Assisted})
			b.run(m.answer)
			b.do(&approval.Approve{Hash: b.look().Solution.Hash})
			b.run(m.answer)
			s := b.look()
			if s.Turn.State != "AWAITING_CONFIRMATION" || s.Approval == nil || s.Approval.About != "call" ||
				len(m.made) != 0 {
				t.Fatalf("turn %s, approval %+v, made %v", s.Turn.State, s.Approval, m.made)
			}
			if a, ok := answer.(*approval.Approve); ok {
				a.Hash = s.Approval.Hash
			}
			b.do(answer)
			b.run(m.answer)
			if got := strings.Join(m.made, " "); name == "allowed" && got != "delete_file" || name == "refused" &&
				got != "" {
				t.Errorf("made %q", got)
			}
			if s := b.look(); s.Session.State != "IDLE" {
				t.Errorf("session %s %+v", s.Session.State, s.Session.Blocked)
			}
			b.verifyAudit()
		})
	}
}

// TestAgentThatInsists: whoever asks for the same call after every refusal ends blocked, like any work that cannot be
// mended.
func TestAgentThatInsists(t *testing.T) {
	m := &mind{}
	for i := range 9 {
		m.work = append(m.work, wants(call(fmt.Sprint("c", i), "delete_file", "x")))
	}
	b := newBench(t)
	b.k.Config().Agents["m"] = kernel.Traits{Works: true}
	deleting(b)
	m.plan = intent()
	b.do(&planning.Start{Requirement: "do", Agent: "m", Place: effect.Place{Workspace: "/w", Tree: "/w", Git: true},
		RunMode: pawl.Assisted})
	b.run(m.answer)
	b.do(&approval.Approve{Hash: b.look().Solution.Hash})
	refusals := 0
	for b.run(m.answer); b.look().Session.State != "BLOCKED" && refusals < 9; b.run(m.answer) {
		b.do(&approval.Deny{Reason: "keep it"})
		refusals++
	}
	s := b.look()
	if s.Session.State != "BLOCKED" || s.Session.Blocked.Kind != kernel.BlockedFuse ||
		refusals != 1+b.k.Config().MaxFixes || len(m.made) != 0 {
		t.Errorf("session %s %+v after %d refusals, made %v", s.Session.State, s.Session.Blocked, refusals, m.made)
	}
	b.verifyAudit()
}

// begun brings a bench to an agent's work that has begun, and returns its effect.
func begun(t *testing.T, m *mind) (*bench, effect.Effect) {
	t.Helper()
	b := newBench(t)
	b.k.Config().Agents["m"] = kernel.Traits{Works: true}
	m.plan = intent()
	b.do(&planning.Start{Requirement: "do", Agent: "m", Place: effect.Place{Workspace: "/w", Tree: "/w", Git: true},
		RunMode: pawl.Assisted})
	b.run(m.answer)
	b.do(&approval.Approve{Hash: b.look().Solution.Hash})
	for n := 0; ; n++ {
		if s := b.look(); s.Effect != nil && s.Effect.What() == effect.KindWork {
			break
		}
		if n > 20 || !b.act(m.answer) {
			t.Fatal("no work")
		}
	}
	var e effect.Effect
	out := b.do(&effects.Begin{Effect: b.look().Effect.ID, Owner: "r1"})
	if err := json.Unmarshal(out.Result, &e); err != nil {
		t.Fatal(err)
	}
	return b, e
}

func made(t *testing.T, b *bench, e effect.Effect, a effect.Ask) steps.Made {
	t.Helper()
	var m steps.Made
	if err := json.Unmarshal(b.do(&steps.StartToolCall{Effect: e.ID, Token: e.Token, Ask: a}).Result, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func TestCallsInTheMiddleOfWork(t *testing.T) {
	m := &mind{work: []effect.WorkResult{finished}}
	b, e := begun(t, m)
	b.do(&steps.AttachSession{Effect: e.ID, Token: e.Token, Session: "own-1"})
	one := made(t, b, e, call("a", "write_file", "x"))
	if one.Effect == nil {
		t.Fatalf("refused: %+v", one.Refused)
	}
	var judged steps.Made
	if err := json.Unmarshal(b.do(&steps.StartToolCall{Effect: e.ID, Token: e.Token, Ask: call("j", "write_file", "z"),
		Judge: true}).Result, &judged); err != nil || judged.Effect != nil || judged.Refused != nil {
		t.Errorf("judged: %+v %v", judged, err)
	}
	if two := made(t, b, e, call("b", "no_such_tool", "x")); two.Refused == nil || two.Effect != nil {
		t.Errorf("an unknown tool: %+v", two)
	}
	b.do(&effects.Report{Effect: one.Effect.ID, Token: one.Effect.Token,
		Receipt: effect.Succeeded(effect.ToolResult{After: "t9"})})
	if s := b.look(); s.Effect.ID != e.ID || s.Task.Tree != "t9" || s.Talk.Session != "own-1" {
		t.Errorf("effect %s, tree %s, session %s", s.Effect.ID, s.Task.Tree, s.Talk.Session)
	}
	if _, err := b.try(&steps.StartToolCall{Effect: e.ID, Token: e.Token + 1,
		Ask: call("c", "write_file", "x")}); pawl.CodeOf(err) != pawl.CodeFenced {
		t.Errorf("with another token: %v", err)
	}
	b.do(&effects.Report{Effect: e.ID, Token: e.Token, Receipt: effect.Succeeded(finished)})
	b.run(m.answer)
	b.wantStates("PLANNING CONFIRMING EXECUTING ARCHIVING IDLE")
	if v := invariant.Check(context.Background(), b.k); len(v) > 0 {
		t.Errorf("%+v", v)
	}
}

func TestCrashInTheMiddleOfWork(t *testing.T) {
	for name, c := range map[string]struct {
		tool   string
		answer effect.Answer
		state  string
	}{
		"a read is forgotten":           {"read_file", effect.DoneUnknown, "EXECUTING"},
		"a write that happened is kept": {"write_file", effect.DoneYes, "EXECUTING"},
		"a write that did not happen":   {"write_file", effect.DoneNo, "EXECUTING"},
		"a command nobody knows of":     {"run_terminal_cmd", effect.DoneUnknown, "BLOCKED"},
	} {
		t.Run(name, func(t *testing.T) {
			m := &mind{work: []effect.WorkResult{finished}}
			b, e := begun(t, m)
			b.do(&steps.AttachSession{Effect: e.ID, Token: e.Token, Session: "own-1"})
			one := made(t, b, e, call("a", c.tool, "x"))
			found := effects.Recovered{Answer: c.answer}
			if c.answer == effect.DoneYes {
				found.Receipt = effect.Succeeded(effect.ToolResult{After: "t9"})
			}
			b.do(&effects.Recover{Effect: e.ID, Answer: effect.DoneNo,
				Within: map[string]effects.Recovered{one.Effect.ID: found}})
			s := b.look()
			if s.Session.State != c.state {
				t.Fatalf("session %s", s.Session.State)
			}
			if c.state == "BLOCKED" {
				if s.Session.Blocked.Kind != kernel.BlockedQuestion || s.Session.Blocked.Effect != one.Effect.ID {
					t.Fatalf("%+v", s.Session.Blocked)
				}
				b.do(&recovery.Fix{Answer: kernel.AnswerDone})
			}
			b.run(m.answer)
			if len(m.asked) != 1 || m.asked[0].Session != "own-1" {
				t.Errorf("the work goes on with %+v", m.asked)
			}
			if s := b.look(); s.Session.State != "IDLE" {
				t.Errorf("session %s %+v", s.Session.State, s.Session.Blocked)
			}
			if v := invariant.Check(context.Background(), b.k); len(v) > 0 {
				t.Errorf("%+v", v)
			}
			b.verifyAudit()
		})
	}
}

func TestReplan(t *testing.T) {
	patch := &plan.Patch{Reason: "another way",
		AddSteps: []plan.Step{{StepID: "s2", Title: "more", Intent: "more", Status: plan.Pending}}}
	other := effect.WorkResult{Control: effect.Replan, Reason: "another way", Patch: patch}
	m := &mind{work: []effect.WorkResult{other, finished}}
	b := working(t, m, planning.Start{})
	if s, _ := b.k.TaskSnapshot(context.Background(), "T-001"); s.Task.State != "done" || len(s.Task.Plan.Steps) != 2 {
		t.Errorf("task %s with %d steps", s.Task.State, len(s.Task.Plan.Steps))
	}
	b.verifyAudit()
}

func TestBudgetRefuses(t *testing.T) {
	m := &mind{work: []effect.WorkResult{finished}}
	b, e := begun(t, m)
	b.k.Config().Budgets = map[string]kernel.Limit{budget.ScopeRun: {MicroUSD: 10_000}}
	reserve := func(u effect.Usage) (string, error) {
		out, err := b.try(&budget.Reserve{Effect: e.ID, Token: e.Token, Day: b.now, Most: u})
		var id string
		_ = json.Unmarshal(out.Result, &id)
		return id, err
	}
	first, err := reserve(effect.Usage{Requests: 1, MicroUSD: 6_000})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := reserve(effect.Usage{MicroUSD: 6_000}); pawl.CodeOf(err) != pawl.CodeBudget {
		t.Errorf("what is held does not count: %v", err)
	}
	if _, err := reserve(effect.Usage{Unpriced: true}); pawl.CodeOf(err) != pawl.CodeBudget {
		t.Errorf("an unknown price fits: %v", err)
	}
	b.do(&budget.Settle{Effect: e.ID, Day: b.now, Reservation: first, Cost: effect.Usage{Requests: 1, MicroUSD: 1_000}})
	b.do(&budget.Settle{Effect: e.ID, Day: b.now, Reservation: first, Cost: effect.Usage{Requests: 1, MicroUSD: 1_000}})
	if s := b.look(); s.Run.Usage.MicroUSD != 1_000 {
		t.Errorf("settled twice: %+v", s.Run.Usage)
	}
	if _, err := reserve(effect.Usage{MicroUSD: 9_000}); err != nil {
		t.Errorf("what was not used is not given back: %v", err)
	}
	b.do(&effects.Recover{Effect: e.ID, Answer: effect.DoneNo})
	b.do(&effects.Begin{Effect: e.ID, Owner: "r1"})
	if _, err := b.try(&budget.Reserve{Effect: e.ID, Token: e.Token + 1, Day: b.now,
		Most: effect.Usage{MicroUSD: 1}}); pawl.CodeOf(err) != pawl.CodeBudget {
		t.Errorf("what a crash left is given back: %v", err)
	}
	b.do(&effects.Report{Effect: e.ID, Token: e.Token + 1,
		Receipt: effect.Failed(pawl.Fail(pawl.CodeBudget, "kernel.budget_used"))})
	if s := b.look(); s.Session.State != "BLOCKED" || s.Session.Blocked.Kind != kernel.BlockedBudget {
		t.Errorf("%s %+v", s.Session.State, s.Session.Blocked)
	}
}

// TestForfeitsComeInOneOrder: what a crash left set aside is recorded in the same order however often it is decided,
// which the bench's recording checks at the end.
func TestForfeitsComeInOneOrder(t *testing.T) {
	b, e := begun(t, &mind{work: []effect.WorkResult{finished}})
	for range 8 {
		b.do(&budget.Reserve{Effect: e.ID, Token: e.Token, Day: b.now, Most: effect.Usage{Requests: 1}})
	}
	b.do(&effects.Recover{Effect: e.ID, Answer: effect.DoneUnknown, Tree: "t0"})
	forfeited := 0
	for rec, err := range b.store.Records(context.Background(), "", 0) {
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(rec.Bytes), "BUDGET_FORFEITED") {
			forfeited++
		}
	}
	if forfeited != 8*3 {
		t.Errorf("%d forfeits in the three scopes", forfeited)
	}
}

// TestBudgetRace has eight workers reserve against one budget at once: what they may do together never exceeds it.
func TestBudgetRace(t *testing.T) {
	m := &mind{work: []effect.WorkResult{finished}}
	b, e := begun(t, m)
	b.k.Config().Budgets = map[string]kernel.Limit{budget.ScopeRun: {MicroUSD: 10_000}}
	at := b.now
	var granted atomic.Int64
	var workers sync.WaitGroup
	for range 8 {
		workers.Go(func() {
			for {
				_, err := b.k.Do(context.Background(), kernel.Envelope{Actor: "runner:r1",
					Command: &budget.Reserve{Effect: e.ID, Token: e.Token, Day: at,
						Most: effect.Usage{Requests: 1, MicroUSD: 700}}})
				switch pawl.CodeOf(err) {
				case "":
					granted.Add(700)
				case pawl.CodeConflict:
				default:
					if pawl.CodeOf(err) != pawl.CodeBudget {
						t.Errorf("refused for another reason: %v", err)
					}
					return
				}
			}
		})
	}
	workers.Wait()
	if got := granted.Load(); got != 9_800 {
		t.Errorf("%d were granted of 10000 in steps of 700", got)
	}
}

// TestAnotherPlans: the agent that plans is asked for the judgement and the plan, and the other one for the work; a plan
// that is sent back goes to the one that planned.
func TestAnotherPlans(t *testing.T) {
	b := newBench(t)
	b.k.Config().Agents["m"] = kernel.Traits{Works: true}
	b.k.Config().Agents["p"] = kernel.Traits{Works: true, Intakes: true, Judges: true}
	m := &mind{work: []effect.WorkResult{finished}}
	m.plan = intent()
	asked := map[effect.Kind]string{}
	answer := func(e effect.Effect) effect.Receipt {
		var spec struct {
			Agent string `json:"agent"`
		}
		_ = json.Unmarshal(e.Spec, &spec)
		asked[e.Kind] = spec.Agent
		return m.answer(e)
	}
	b.do(&planning.Start{Requirement: "do the work", Agent: "m", Planner: "p", RunMode: pawl.Assisted,
		Place: effect.Place{Workspace: "/w", Tree: "/w", Git: true}})
	b.run(answer)
	b.do(&planning.Revise{Feedback: "smaller"})
	b.run(answer)
	if asked[effect.KindIntake] != "p" || asked[effect.KindPlan] != "p" {
		t.Errorf("asked: %v", asked)
	}
	b.do(&approval.Approve{Hash: b.look().Solution.Hash})
	b.run(answer)
	if asked[effect.KindWork] != "m" {
		t.Errorf("asked: %v", asked)
	}
}
