package kernel_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/approval"
	"pawl/kernel/effect"
	"pawl/kernel/planning"
	"pawl/kernel/query"
	"pawl/kernel/recovery"
	"pawl/kernel/verification"
	"pawl/kernel/view"
	"pawl/machine/turn"
	"pawl/text/plan"
)

// disputing answers as a world does in which the agent at work disputes a test, and whoever planned answers.
type disputing struct {
	tried
	answers []effect.Receipt
	asked   []effect.RewriteSpec
	written []string // the contents of the plan's tests, as they were written
}

func (w *disputing) answer(e effect.Effect) effect.Receipt {
	switch e.Kind {
	case effect.KindRewrite:
		spec, _ := effect.Decode[effect.RewriteSpec](e.Spec)
		w.asked = append(w.asked, spec)
		return w.answers[min(len(w.asked), len(w.answers))-1]
	case effect.KindTool:
		call, _ := effect.Decode[effect.ToolCall](e.Spec)
		var args struct{ Content string }
		if json.Unmarshal(call.Args, &args) == nil && call.StepID == effect.TestsStep {
			w.written = append(w.written, args.Content)
		}
	}
	return w.tried.answer(e)
}

func disputes(path, reason string) effect.WorkResult {
	return effect.WorkResult{Said: effect.Said{Agent: "m"}, Control: effect.DisputeTest,
		Dispute: &effect.Dispute{Path: path, Reason: reason}}
}

func rewrites(content, why string) effect.Receipt {
	return effect.Succeeded(effect.RewriteResult{Said: effect.Said{Agent: "p"}, Content: content, Why: why})
}

// begin takes up work with a planned test that is shown and one that is held out.
func (w *disputing) begin(t *testing.T, mode pawl.RunMode, tune ...func(*kernel.Config)) *bench {
	t.Helper()
	met := redGreen
	met.Criterion = "c1"
	w.seen = []effect.ProveResult{{Changed: wroteSub, Witnesses: []effect.Witness{met}}}
	planner := func(c *kernel.Config) { c.Agents["p"] = kernel.Traits{Judges: true} }
	b := newBench(t, append([]func(*kernel.Config){proving, planner}, tune...)...)
	w.plan = intent()
	w.plan.Criteria = sub(plan.ProofCheck)
	w.plan.Criteria[0].Files = []plan.TestFile{{Path: "sub_test.go", Content: "first"},
		{Path: "more_test.go", Content: "hidden", Held: true}}
	b.do(&planning.Start{Requirement: "Add a Sub function", Agent: "m", Planner: "p", RunMode: mode,
		AutoApprove: "policy:test", Place: effect.Place{Workspace: "/w", Tree: "/w", Git: true}})
	b.run(w.answer)
	return b
}

// told are the notes that the agent at work got.
func (w *disputing) told() string {
	var out []string
	for _, spec := range w.mind.asked {
		out = append(out, spec.Notes...)
	}
	return strings.Join(out, "\n")
}

// A person chooses between two texts. The other one makes another plan, with a hash of its own.
func TestDisputedTestIsWrittenAnew(t *testing.T) {
	w := &disputing{answers: []effect.Receipt{rewrites("second", "Zero was forgotten.")}}
	w.mind = &mind{work: []effect.WorkResult{disputes("sub_test.go", "5 - 3 is 2"), finished}}
	b := w.begin(t, pawl.Assisted)
	s := b.look()
	if s.Approval == nil || s.Approval.About != kernel.AboutTest || s.Approval.State != kernel.ApprovalPending ||
		s.Approval.Hash == s.Task.PlanHash || s.Turn.State != string(turn.AwaitingConfirmation) {
		t.Fatalf("%+v in %s", s.Approval, s.Turn.State)
	}
	spec := w.asked[0]
	if spec.Agent != "p" || spec.Test.Content != "first" || spec.Reason != "5 - 3 is 2" || spec.Criterion.ID != "c1" ||
		len(spec.Criterion.Files) != 1 || spec.Criterion.Files[0].Held {
		t.Errorf("%+v", spec)
	}
	before, hash := s.Task.PlanHash, s.Approval.Hash
	b.do(&approval.Approve{Hash: hash})
	if now := b.look().Solution; s.Solution.Hash != before || now.Hash != hash || plan.Hash(now.Plan) != hash {
		t.Errorf("the solution has the hash %s, and had %s", now.Hash, s.Solution.Hash)
	}
	b.run(w.answer)
	task := b.task("T-001")
	if task.State != "done" || task.Proof.Verdict != effect.Proven || task.PlanHash != hash ||
		plan.Hash(plan.Planned(*task.Plan)) != hash || before == hash {
		t.Fatalf("%s %+v, hash %s", task.State, task.Proof, task.PlanHash)
	}
	if want := []string{"first", "second", "second"}; !slices.Equal(w.written, want) {
		t.Errorf("written were %q, want %q", w.written, want)
	}
	d := task.Disputed[0]
	if !d.Taken || d.By.Kind() != pawl.KindUser || d.Was != "first" || d.Answer.Content != "second" || d.Agent != "m" {
		t.Errorf("%+v", d)
	}
	if !strings.Contains(w.told(), "Zero was forgotten.") || b.count("TEST_DISPUTED") != 1 ||
		b.count("TEST_REWRITTEN") != 1 || b.count("TEST_RESTORED") != 0 {
		t.Errorf("told %q", w.told())
	}
	b.verifyAudit()
}

func TestDisputedTestIsKept(t *testing.T) {
	w := &disputing{answers: []effect.Receipt{rewrites("second", "")}}
	w.mind = &mind{work: []effect.WorkResult{disputes("sub_test.go", "no"), finished}}
	b := w.begin(t, pawl.Assisted)
	b.do(&approval.Deny{Reason: "5 - 3 is 2"})
	b.run(w.answer)
	task := b.task("T-001")
	if d := task.Disputed[0]; task.State != "done" || task.Proof.Verdict != effect.Proven || d.Taken ||
		d.By.Kind() != pawl.KindUser || slices.Contains(w.written, "second") || task.Fixes != 0 {
		t.Fatalf("%s %+v, written %q", task.State, d, w.written)
	}
	if !strings.Contains(w.told(), "It stays as it is. 5 - 3 is 2") {
		t.Errorf("told %q", w.told())
	}
	b.verifyAudit()
}

// Where nobody attends, the other text counts, and what it shows is not proven until a person takes it.
func TestDisputedUnattended(t *testing.T) {
	w := &disputing{answers: []effect.Receipt{rewrites("second", "Zero was forgotten.")}}
	w.mind = &mind{work: []effect.WorkResult{disputes("sub_test.go", "no"), finished}}
	b := w.begin(t, pawl.Autonomous)
	s := b.look()
	if s.Session.Blocked == nil || s.Session.Blocked.Kind != kernel.BlockedUnproven || w.repairs != 0 ||
		s.Task.Proof.Verdict != effect.Unproven {
		t.Fatalf("%+v, repaired %d", s.Session.Blocked, w.repairs)
	}
	if m := s.Task.Proof.Criteria[0]; m.Why != effect.WhyDisputed || !slices.Equal(m.Shown, []string{"sub_test.go"}) {
		t.Errorf("%+v", m)
	}
	if d := s.Task.Disputed[0]; !d.Doubtful() || d.By.Kind() != pawl.KindPolicy {
		t.Errorf("%+v", d)
	}
	// What is said of it goes to no agent, so it is neither asked for nor taken.
	if next := query.StatusOf(s).Next; slices.ContainsFunc(next, view.Next.Heard) {
		t.Errorf("%+v", next)
	}
	if _, err := b.try(&recovery.Fix{Note: "no", Tree: s.Task.Proof.Tree}); pawl.CodeOf(err) != pawl.CodeInvalidTransition {
		t.Errorf("nobody hears it: %v", err)
	}
	b.do(&verification.Accept{Tree: s.Task.Proof.Tree, Reason: "the new test is right"})
	b.run(w.answer)
	if task := b.task("T-001"); task.State != "done" || task.Proof.Verdict != effect.Accepted {
		t.Errorf("%s %+v", task.State, task.Proof)
	}
	b.verifyAudit()
}

// What nobody rewrites stays as it is, and the agent is told and goes on.
func TestDisputesThatChangeNothing(t *testing.T) {
	keeps := rewrites("", "It is right.")
	deaf := func(c *kernel.Config) { c.Agents["p"] = kernel.Traits{} }
	for name, c := range map[string]struct {
		work    []effect.WorkResult
		answer  effect.Receipt
		tune    func(*kernel.Config)
		told    string
		asked   int
		noted   int
		faulted bool
	}{
		"the planner keeps it": {work: []effect.WorkResult{disputes("sub_test.go", "no")}, answer: keeps, told: "It is right.",
			asked: 1, noted: 1},
		"the planner fails": {work: []effect.WorkResult{disputes("sub_test.go", "no")},
			answer: effect.Failed(pawl.Fail(pawl.CodeModel, "llm.malformed_twice", "rewrite")), told: "stays as it is",
			asked: 1, noted: 1, faulted: true},
		"the planner writes too much": {work: []effect.WorkResult{disputes("sub_test.go", "no")},
			answer: rewrites(strings.Repeat("x", 1<<17), "x"), told: "stays as it is", asked: 1, noted: 1, faulted: true},
		"nobody can be asked": {work: []effect.WorkResult{disputes("sub_test.go", "no")}, answer: keeps, tune: deaf,
			told: "Nobody can look at sub_test.go", noted: 1},
		"a test that is not there": {work: []effect.WorkResult{disputes("x_test.go", "no")}, answer: keeps,
			told: "No test of the plan that you were shown is named x_test.go."},
		"a test that is held out": {work: []effect.WorkResult{disputes("more_test.go", "no")}, answer: keeps,
			told: "No test of the plan that you were shown is named more_test.go."},
		"without a reason": {work: []effect.WorkResult{disputes("sub_test.go", " ")}, answer: keeps, told: "needs a reason"},
		"without anything": {work: []effect.WorkResult{{Said: effect.Said{Agent: "m"}, Control: effect.DisputeTest}},
			answer: keeps, told: "No test of the plan"},
		"a second time": {work: []effect.WorkResult{disputes("sub_test.go", "no"), disputes("sub_test.go", "still no")},
			answer: keeps, told: "A test was disputed already", asked: 1, noted: 1},
	} {
		t.Run(name, func(t *testing.T) {
			w := &disputing{answers: []effect.Receipt{c.answer}}
			w.mind = &mind{work: append(c.work, finished)}
			var tune []func(*kernel.Config)
			if c.tune != nil {
				tune = append(tune, c.tune)
			}
			b := w.begin(t, pawl.Assisted, tune...)
			task := b.task("T-001")
			if task.State != "done" || task.Proof.Verdict != effect.Proven || len(w.asked) != c.asked ||
				len(task.Disputed) != c.noted || !strings.Contains(w.told(), c.told) {
				t.Fatalf("%s, asked %d times, %+v, told %q", task.State, len(w.asked), task.Disputed, w.told())
			}
			if slices.ContainsFunc(w.written, func(text string) bool { return text != "first" }) {
				t.Errorf("written were %q", w.written)
			}
			if c.noted > 0 && (task.Disputed[0].Fault != nil) != c.faulted {
				t.Errorf("%+v", task.Disputed[0])
			}
			b.verifyAudit()
		})
	}
}
