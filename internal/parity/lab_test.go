package parity

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pawl"
	"pawl/internal/memory"
	"pawl/kernel"
	"pawl/kernel/approval"
	"pawl/kernel/effect"
	"pawl/kernel/effects"
	"pawl/kernel/joined"
	"pawl/kernel/planning"
	"pawl/kernel/steps"
	"pawl/text/plan"
	"pawl/text/policy"
	"pawl/text/triage"
)

// lab is a workspace with a clock that a test moves and a runner that it plays by hand: each commit is looked at on
// every face.
type lab struct {
	*faces
	own *kernel.Kernel // of the person's session
	k   *kernel.Kernel // that commands are given to
	now time.Time
	all *atlas
}

func newLab(t *testing.T, all *atlas, tune ...func(*kernel.Config)) *lab {
	t.Helper()
	l := &lab{all: all, now: time.Date(2026, 2, 8, 12, 0, 0, 0, time.UTC)}
	config := kernel.Defaults()
	config.Tools = map[string]kernel.Tool{"write_file": tool("write_file", policy.FSWrite), "run": tool("run", policy.ProcExec)}
	config.Agents["m"] = kernel.Traits{Works: true, Intakes: true, Judges: true}
	config.Agents[""] = kernel.Traits{Intakes: true, Works: true}
	config.Budgets = map[string]kernel.Limit{"run": {MicroUSD: 3_000_000}, "day": {MicroUSD: 9_000_000}}
	for _, f := range tune {
		f(&config)
	}
	store, clock := memory.New(), pawl.ClockFunc(func() time.Time { return l.now })
	l.own = kernel.New(joined.Table(), store, config, clock, rand.Reader)
	l.k = l.own
	// The faces ask a kernel of their own: what they say is what the store holds.
	l.faces = facesOf(t, &machine{dir: t.TempDir(), store: store,
		k: kernel.New(joined.Table(), store, config, clock, rand.Reader)})
	l.do(&planning.Init{Place: place()})
	return l
}

func place() effect.Place { return effect.Place{Workspace: "/w", Tree: "/w", Git: true} }

func tool(name string, p policy.Permission) kernel.Tool {
	return kernel.Tool{
		Info: effect.ToolInfo{Name: name, Version: "1.0.0", ArgsSchema: json.RawMessage(`{"type":"object"}`),
			Permissions: []policy.Permission{p}},
		Request: func(args json.RawMessage) (policy.Request, error) {
			var a struct{ Command string }
			_ = json.Unmarshal(args, &a)
			return policy.Request{Tool: name, Permissions: []policy.Permission{policy.FSRead}, Command: a.Command}, nil
		},
	}
}

func (l *lab) try(by pawl.Actor, c kernel.Command) (kernel.Outcome, error) {
	l.Helper()
	l.now = l.now.Add(time.Second)
	out, err := l.k.Do(context.Background(), kernel.Envelope{Actor: by, Command: c})
	if err == nil {
		l.look()
	}
	return out, err
}

func (l *lab) do(c kernel.Command) kernel.Outcome {
	l.Helper()
	by := pawl.Actor("user:ada")
	switch c.(type) {
	case *steps.Claim, *effects.Begin, *effects.Report, *effects.Recover:
		by = "runner:r1"
	}
	return l.by(by, c)
}

func (l *lab) by(by pawl.Actor, c kernel.Command) kernel.Outcome {
	l.Helper()
	out, err := l.try(by, c)
	if err != nil {
		l.Fatalf("%T: %v", c, err)
	}
	return out
}

func (l *lab) at() *kernel.Snapshot {
	l.Helper()
	s, err := l.k.Snapshot(context.Background())
	if err != nil {
		l.Fatal(err)
	}
	return s
}

// act does what a runner would do next, and reports whether there was anything.
func (l *lab) act(w *world) bool {
	l.Helper()
	s := l.at()
	if e := s.Effect; e != nil && e.State == kernel.EffectPending &&
		(s.Session.Effect == e.ID || s.Task != nil && s.Task.Effect == e.ID) {
		begin := &effects.Begin{Effect: e.ID, Owner: "r1", Day: l.now}
		if e.Effect.Record {
			begin.Tree = "t0"
		}
		var begun effect.Effect
		if err := json.Unmarshal(l.do(begin).Result, &begun); err != nil {
			l.Fatal(err)
		}
		if begun.ID != "" { // it fits its budgets
			l.do(&effects.Report{Effect: e.ID, Token: begun.Token, Receipt: w.answer(begun)})
		}
		return true
	}
	if t := s.Task; t != nil && t.State == "queued" && s.Session.State != "IDLE" {
		l.now = t.Due.Add(time.Second)
		l.do(&steps.Claim{Task: t.ID, Owner: "r1"})
		return true
	}
	return false
}

// run acts until nothing is left to do, or until the session and what is at work are in states of that name.
func (l *lab) run(w *world, until ...string) {
	l.Helper()
	for n := 0; ; n++ {
		s := l.at()
		for _, want := range until {
			if s.Session.State == want || s.Turn != nil && "turn "+s.Turn.State == want || s.Task != nil && "task "+s.Task.State == want {
				return
			}
		}
		if n > 300 {
			l.Fatal("it does not end")
		}
		if !l.act(w) {
			if len(until) > 0 {
				l.Fatalf("%v was not reached: %s, %+v", until, s.Session.State, s.Session.LastError)
			}
			return
		}
	}
}

// start takes a requirement up, and has its plan made and approved.
func (l *lab) start(w *world, start planning.Start) {
	l.Helper()
	start.Requirement, start.RunMode = cmp.Or(start.Requirement, "do the work"), cmp.Or(start.RunMode, pawl.Assisted)
	start.Place = place()
	l.do(&start)
	l.run(w, "CONFIRMING")
	// Said by a flag, nobody has looked: what nothing shows is then not taken for approved as it is.
	l.do(&approval.Approve{Hash: l.at().Approval.Hash, Way: kernel.WayFlag})
}

// world answers effects as drivers in good order would, except for what it is told.
type world struct {
	plan       plan.Plan
	failChecks int // so many checks fail
	failGates  int
	failPlan   bool
	evaluation triage.Evaluation
	questions  []string
	prove      *effect.ProveResult
	work       []effect.WorkResult
}

func usage() effect.Usage {
	return effect.Usage{Requests: 1, InTokens: 1200, OutTokens: 34, MicroUSD: 120_000}
}

func (w *world) answer(e effect.Effect) effect.Receipt {
	said := effect.Said{Agent: "m", Model: "m-1", Usage: usage()}
	switch e.Kind {
	case effect.KindIntake:
		spec, _ := effect.Decode[effect.IntakeSpec](e.Spec)
		r := effect.IntakeResult{Said: said, Evaluation: w.evaluation}
		if spec.Round <= len(w.questions) {
			r.Evaluation.Questions = []triage.Question{{About: triage.Scope, Text: w.questions[spec.Round-1]}}
		}
		return effect.Succeeded(r)
	case effect.KindContext:
		return effect.Succeeded(effect.ContextResult{Head: "c0", Branch: "main",
			Checks: []effect.Check{{Name: "tests", Command: "true", Level: 2}}})
	case effect.KindPlan:
		if w.failPlan {
			return effect.Failed(pawl.Fail(pawl.CodeModel, "agent.no_plan", "m"))
		}
		return effect.Succeeded(effect.PlanResult{Plan: &w.plan, Said: said})
	case effect.KindWorktree:
		return effect.Succeeded(effect.WorktreeResult{Tree: "t0"})
	case effect.KindCheckpoint:
		spec, _ := effect.Decode[effect.CheckpointSpec](e.Spec)
		return effect.Succeeded(effect.CheckpointResult{Name: spec.Name, Tree: "t0", Commit: "k", Ref: "refs/pawl/" + spec.Name})
	case effect.KindTool:
		call, _ := effect.Decode[effect.ToolCall](e.Spec)
		return effect.Succeeded(effect.ToolResult{CallID: call.CallID, After: "t1"})
	case effect.KindWork:
		r := effect.WorkResult{Said: said, Control: effect.StepDone, Text: "done"}
		if len(w.work) > 0 {
			r, w.work = w.work[0], w.work[1:]
		}
		return effect.Succeeded(r)
	case effect.KindVerify, effect.KindGates, effect.KindTest:
		return w.checked(e.Kind)
	case effect.KindProve:
		r := effect.ProveResult{}
		if w.prove != nil {
			r = *w.prove
		}
		r.Tree = "t1"
		return effect.Succeeded(r)
	case effect.KindRepair:
		return effect.Succeeded(effect.RepairResult{Steps: []plan.Step{step("x", "write_file")}, Why: "try", Said: said})
	case effect.KindRebase:
		spec, _ := effect.Decode[effect.RebaseSpec](e.Spec)
		return effect.Succeeded(effect.RebaseResult{Base: spec.Base, Tree: spec.Tree})
	case effect.KindLand:
		return effect.Succeeded(effect.LandResult{Outcome: effect.Landed, Commit: strings.Repeat("c", 40), Tree: "t1", Branch: "main"})
	case effect.KindRevert:
		return effect.Succeeded(effect.LandResult{Outcome: effect.Landed, Commit: strings.Repeat("d", 40), Tree: "t0", Branch: "main"})
	case effect.KindRestore:
		return effect.Succeeded(effect.RestoreResult{Before: "t1", After: "t0", Changed: []string{"a.txt"}})
	case effect.KindCleanup:
		return effect.Succeeded(effect.CleanupResult{Performed: []string{"worktree"}})
	case effect.KindArchive:
		return effect.Succeeded(effect.ArchiveResult{})
	}
	return effect.Failed(pawl.Fail(pawl.CodeInternal, "runner.no_driver", string(e.Kind)))
}

func (w *world) checked(kind effect.Kind) effect.Receipt {
	name, left := "tests", &w.failChecks
	if kind == effect.KindGates {
		name, left = "doctor", &w.failGates
	}
	out := effect.CheckOutcome{Check: effect.Check{Name: name, Command: "true"}, Status: effect.CheckPassed}
	if *left > 0 {
		*left--
		out.Status, out.ExitCode, out.Output = effect.CheckFailed, 1, "FAIL"
	}
	return effect.Succeeded(effect.VerifyResult{Outcomes: []effect.CheckOutcome{out}, Passed: out.Status == effect.CheckPassed,
		Tree: "t1", TreeAfter: "t1", Fingerprint: fmt.Sprint(*left)})
}

func step(id, tool string) plan.Step {
	return plan.Step{StepID: id, Title: "step " + id, Intent: "because", Status: plan.Pending,
		ToolCalls: []plan.ToolCallTemplate{{Name: tool, ArgsHint: json.RawMessage(`{"path":"` + id + `"}`)}}}
}

// twoSteps is a world whose plan has two of them.
func twoSteps() *world {
	return &world{plan: plan.Plan{Goal: "do the work", Constraints: []string{}, RiskLevel: pawl.RiskLow,
		Steps: []plan.Step{step("s1", "write_file"), step("s2", "write_file")},
		Verification: plan.VerificationPolicy{Mode: plan.VerifyTest, Commands: []string{}, Required: true,
			StopOnFail: true}},
		evaluation: judged(8, triage.Factors{Design: triage.DesignSimple, Extent: triage.ExtentLocal})}
}

// oneTask is a world whose plan leaves its only step to an agent.
func oneTask(work ...effect.WorkResult) *world {
	w := twoSteps()
	w.plan.Steps = []plan.Step{{StepID: "s1", Title: "do it", Intent: "do it", Status: plan.Pending}}
	w.work = work
	return w
}

func judged(score int, f triage.Factors) triage.Evaluation {
	return triage.Evaluation{By: triage.ByPawl, Class: triage.ClassFeature, Score: score, Risk: pawl.RiskLow, Factors: f}
}

// rows are all that the store holds.
func (l *lab) rows() []kernel.Row {
	l.Helper()
	found, err := l.machine.store.Load(context.Background(), kernel.Select{})
	if err != nil {
		l.Fatal(err)
	}
	return slices.DeleteFunc(found[0], func(r kernel.Row) bool { return r.Kind == "" })
}
