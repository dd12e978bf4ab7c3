package kernel_test

import (
	"slices"
	"strings"
	"testing"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/control"
	"pawl/kernel/effect"
	"pawl/kernel/effects"
	"pawl/kernel/planning"
	"pawl/kernel/query"
	"pawl/kernel/verification"
	"pawl/text/plan"
)

// reviewed answers as a world does in which work is reviewed: with each review in turn, the last one for ever, and with
// how the tests of objections end.
type reviewed struct {
	tried
	reviews []effect.Receipt
	asked   []effect.Effect
	ends    effect.Without
	tests   []effect.ProveSpec
	failed  *effect.Receipt // what the run of the tests comes to instead
	mode    pawl.RunMode
}

func (w *reviewed) answer(e effect.Effect) effect.Receipt {
	switch e.Kind {
	case effect.KindReview:
		w.asked = append(w.asked, e)
		return w.reviews[min(len(w.asked), len(w.reviews))-1]
	case effect.KindProve:
		spec, _ := effect.Decode[effect.ProveSpec](e.Spec)
		if len(spec.Objections) == 0 {
			break
		}
		if w.tests = append(w.tests, spec); w.failed != nil {
			return *w.failed
		}
		var seen effect.ProveResult
		for _, o := range spec.Objections {
			seen.Witnesses = append(seen.Witnesses, effect.Witness{Criterion: o.ID, Without: w.ends})
		}
		return effect.Succeeded(seen)
	}
	return w.tried.answer(e)
}

// onNewTrees answers so that the checks find another tree each time.
func (w *reviewed) onNewTrees() func(effect.Effect) effect.Receipt {
	trees := 0
	return func(e effect.Effect) effect.Receipt {
		r := w.answer(e)
		v, err := effect.Decode[effect.VerifyResult](r.Result)
		if err != nil || e.Kind != effect.KindVerify && e.Kind != effect.KindGates {
			return r
		}
		if e.Kind == effect.KindVerify {
			trees++
		}
		v.Tree = "t" + strings.Repeat("1", trees)
		v.TreeAfter = v.Tree
		r.Result = effect.Encode(v)
		return r
	}
}

func objecting(list ...effect.Objection) effect.Receipt {
	return effect.Succeeded(effect.ReviewResult{Said: effect.Said{Agent: "r", Model: "x"}, Objections: list})
}

var (
	cited   = effect.Objection{Criterion: "c1", File: "calc.go", Line: 3, Reason: "Sub adds"}
	withRun = effect.Objection{Reason: "negative numbers",
		Test: &effect.ReviewTest{Path: "neg_test.go", Content: "package calc", Run: "go test -run Neg"}}
	withTest = effect.Objection{Reason: "negative numbers",
		Test: &effect.ReviewTest{Path: "neg_test.go", Content: "package calc"}}
	nothingWrong = objecting()
)

// reviewing brings a bench with a worker, a reviewer and a plan behind its work. The tree is another one after each
// piece of work.
func reviewing(t *testing.T, w *reviewed, mode pawl.RunMode, tune ...func(*kernel.Config)) *bench {
	t.Helper()
	b := newBench(t, append([]func(*kernel.Config){proving, reviewer}, tune...)...)
	w.mode = mode
	w.start(b, "r", "m")
	b.run(w.answer)
	return b
}

func reviewer(c *kernel.Config) { c.Agents["r"] = kernel.Traits{Works: true, Judges: true} }

// start takes up a requirement whose work is shown, unless something else is to be seen.
func (w *reviewed) start(b *bench, reviewer, worker string) {
	w.mind = &mind{work: []effect.WorkResult{finished}}
	if w.plan = intent(); worker == "" {
		w.plan = twoSteps()
	}
	w.plan.Criteria = sub(plan.ProofCheck)
	if w.seen == nil {
		w.seen = []effect.ProveResult{shown}
	}
	if w.mode == "" {
		w.mode = pawl.Assisted
	}
	b.do(&planning.Start{Requirement: "Add a Sub function", Agent: worker, Reviewer: reviewer, RunMode: w.mode,
		AutoApprove: "policy:test", Place: effect.Place{Workspace: "/w", Tree: "/w", Git: true}})
}

func TestWorkIsReviewed(t *testing.T) {
	w := &reviewed{reviews: []effect.Receipt{nothingWrong}}
	b := reviewing(t, w, pawl.Assisted)
	task := b.task("T-001")
	if task.State != "done" || len(w.asked) != 1 || len(task.Reviews) != 1 || w.repairs != 0 {
		t.Fatalf("%s, asked %d times, %+v", task.State, len(w.asked), task.Reviews)
	}
	if v := task.Reviews[0]; v.Agent != "r" || v.Tree != task.Verified.Tree || v.Fault != nil || v.SentBack {
		t.Errorf("%+v", v)
	}
	spec, _ := effect.Decode[effect.ReviewSpec](w.asked[0].Spec)
	if spec.Agent != "r" || spec.Requirement != "Add a Sub function" || spec.Base != "c0" ||
		spec.Tree != task.Verified.Tree || len(spec.Criteria) != 1 || spec.Criteria[0].Verdict != effect.Proven ||
		len(spec.Checks) != 1 || w.asked[0].Timeout <= 0 || !w.asked[0].Idempotent {
		t.Errorf("%+v %+v", spec, w.asked[0])
	}
	if b.recorded("REVIEW_RESULT") == "" {
		t.Error("nothing is recorded")
	}
	b.verifyAudit()
}

// What becomes of an objection depends on what there is to be looked at, and on nothing else.
func TestObjections(t *testing.T) {
	both := withTest
	both.Criterion, both.File, both.Line = "c1", "calc.go", 3
	broken := effect.Failed(pawl.Fail(pawl.CodeDiskFull, "store.disk_full"))
	for name, c := range map[string]struct {
		objection effect.Objection
		ends      effect.Without
		failed    *effect.Receipt
		back      bool
	}{
		"a criterion with its place":         {objection: cited, back: true},
		"a test that fails":                  {objection: withTest, ends: effect.WithoutAssertion, back: true},
		"a command that fails":               {objection: withRun, ends: effect.WithoutUnmet, back: true},
		"a test that passes":                 {objection: withTest, ends: effect.WithoutGreen},
		"a test that does not build":         {objection: withTest, ends: effect.WithoutBuild},
		"a test that flickers":               {objection: withTest, ends: effect.WithoutFlickers},
		"a test that the machine fails":      {objection: withTest, ends: effect.WithoutMachine},
		"a test that is there already":       {objection: withTest, ends: effect.WithoutAbsent},
		"a place whose test passes":          {objection: both, ends: effect.WithoutGreen},
		"a place whose test does not build":  {objection: both, ends: effect.WithoutBuild, back: true},
		"a test that could not be tried":     {objection: withTest, failed: &broken},
		"a place whose test cannot be tried": {objection: both, failed: &broken, back: true},
	} {
		t.Run(name, func(t *testing.T) {
			w := &reviewed{reviews: []effect.Receipt{objecting(c.objection), nothingWrong}, ends: c.ends, failed: c.failed}
			b := reviewing(t, w, pawl.Autonomous, func(k *kernel.Config) { k.Walled = true })
			task := b.task("T-001")
			if task.State != "done" || task.Proof.Verdict != effect.Proven || (w.repairs == 1) != c.back ||
				task.Reviews[0].SentBack != c.back {
				t.Fatalf("%s, repaired %d, %+v", task.State, w.repairs, task.Reviews)
			}
			if o := task.Reviews[0].Objections[0]; o.ID != "o1" || o.Ended != c.ends && c.failed == nil {
				t.Errorf("%+v", o)
			}
			if c.objection.Test != nil && (len(w.tests) != 1 || w.tests[0].Base != w.tests[0].Tree) {
				t.Errorf("%+v", w.tests)
			}
			b.verifyAudit()
		})
	}
}

// Work goes back once, with the reasons. What is objected to after that is shown, and the proof counts.
func TestObjectionsSendBackOnce(t *testing.T) {
	w := &reviewed{reviews: []effect.Receipt{objecting(cited)}}
	b := reviewing(t, w, pawl.Assisted)
	task := b.task("T-001")
	f := task.Failures[0]
	if task.State != "done" || w.repairs != 1 || len(task.Failures) != 1 || f.What != "review" || f.Key != "kernel.objected" ||
		!slices.Equal(f.Args, []string{"r", "calc.go:3"}) || len(f.Objections) != 1 {
		t.Fatalf("%s, repaired %d, %+v", task.State, w.repairs, task.Failures)
	}
	told := w.mind.asked[len(w.mind.asked)-1]
	if told.Failure == nil || len(told.Failure.Objections) != 1 || task.Fixes != 0 {
		t.Errorf("%+v", told.Failure)
	}
	if !task.Reviews[0].SentBack {
		t.Errorf("%+v", task.Reviews)
	}
}

// The mended work is another tree, which is looked at anew, and goes back no more.
func TestMendedWorkIsReviewedAnew(t *testing.T) {
	w := &reviewed{reviews: []effect.Receipt{objecting(cited), objecting(cited, withTest)}, ends: effect.WithoutAssertion}
	b := newBench(t, proving, reviewer)
	w.start(b, "r", "m")
	b.run(w.onNewTrees())
	task := b.task("T-001")
	if task.State != "done" || w.repairs != 1 || len(task.Reviews) != 2 || !task.Reviews[0].SentBack ||
		task.Reviews[1].SentBack || len(task.Reviews[1].Objections) != 2 || len(w.tests) != 1 {
		t.Fatalf("%s, repaired %d, %+v", task.State, w.repairs, task.Reviews)
	}
	b.verifyAudit()
}

// A review that fails, in whatever way, stops nothing, and is told as what it is.
func TestReviewsThatFail(t *testing.T) {
	for name, r := range map[string]effect.Receipt{
		"malformed":   effect.Failed(pawl.Fail(pawl.CodeModel, "agent.malformed_twice", "r", "review")),
		"late":        effect.Failed(pawl.Fail(pawl.CodeTimeout, "agent.out_of_time", "r")),
		"no budget":   effect.Failed(pawl.Fail(pawl.CodeBudget, "kernel.budget_used", "run", "turns", "1", "1", "1")),
		"no login":    effect.Failed(pawl.Fail(pawl.CodeLogin, "llm.no_key", "KEY")),
		"no program":  effect.Failed(pawl.Fail(pawl.CodeEnvironment, "agent.not_installed", "R", "npm")),
		"no disk":     effect.Failed(pawl.Fail(pawl.CodeDiskFull, "store.disk_full")),
		"pawl's own":  effect.Failed(pawl.Fail(pawl.CodeInternal, "runner.driver_crashed", "r", "x")),
		"it wrote":    effect.Failed(pawl.Fail(pawl.CodeDenied, "agent.asked_and_wrote", "r")),
		"no document": {OK: true},
	} {
		t.Run(name, func(t *testing.T) {
			w := &reviewed{reviews: []effect.Receipt{r}}
			task := reviewing(t, w, pawl.Autonomous).task("T-001")
			if task.State != "done" || len(w.asked) != 1 || len(task.Reviews) != 1 || task.Reviews[0].Fault == nil ||
				task.Reviews[0].Agent != "r" || w.repairs != 0 {
				t.Fatalf("%s, %+v", task.State, task.Reviews)
			}
		})
	}
}

// Who cannot judge is not asked: nobody, the embedded agent, and one that is not there.
func TestNobodyReviews(t *testing.T) {
	for _, name := range []string{"", "script", "none", "gone"} {
		w := &reviewed{reviews: []effect.Receipt{objecting(cited)}}
		b := newBench(t, proving, func(c *kernel.Config) { c.Agents["script"] = kernel.Traits{Intakes: true} })
		w.start(b, name, "m")
		b.run(w.answer)
		if task := b.task("T-001"); task.State != "done" || len(w.asked) > 0 || len(task.Reviews) > 0 {
			t.Errorf("%q: %s, %+v", name, task.State, task.Reviews)
		}
	}
}

// A command that needs a word is not run, because nobody has seen it.
func TestCommandsOfReviewersNeedNoWord(t *testing.T) {
	w := &reviewed{reviews: []effect.Receipt{objecting(withRun), nothingWrong}, ends: effect.WithoutUnmet}
	b := reviewing(t, w, pawl.Autonomous, func(c *kernel.Config) { c.Profile.DisallowedTools = []string{"run_terminal_cmd"} })
	if task := b.task("T-001"); task.State != "done" || len(w.tests) > 0 || task.Reviews[0].SentBack {
		t.Fatalf("%s, %+v", task.State, w.tests)
	}
}

// Who is asked to take work without proof is shown what a reviewer objects to, and who took it is not asked again.
func TestUnprovenWorkIsReviewedBeforeAPersonIsAsked(t *testing.T) {
	w := &reviewed{reviews: []effect.Receipt{objecting(withTest)}, ends: effect.WithoutGreen}
	w.seen = []effect.ProveResult{nothing}
	b := reviewing(t, w, pawl.Assisted)
	s := b.look()
	if s.Turn.State != "AWAITING_CONFIRMATION" || len(s.Task.Reviews) != 1 || len(w.asked) != 1 || w.repairs != 1 {
		t.Fatalf("%s, asked %d times, repaired %d, %+v", s.Turn.State, len(w.asked), w.repairs, s.Task.Reviews)
	}
	if sum := query.SummaryOf(s); len(sum.Reviews) != 1 || len(sum.Reviews[0].Objections) != 1 {
		t.Errorf("%+v", sum.Reviews)
	}
	b.do(&verification.Accept{Tree: s.Task.Proof.Tree, Reason: "fine"})
	b.run(w.answer)
	if task := b.task("T-001"); task.State != "done" || task.Proof.Verdict != effect.Accepted || len(w.asked) != 1 {
		t.Fatalf("%s, asked %d times", task.State, len(w.asked))
	}
}

// A worker that only carries out calls can do nothing about an objection, which is shown.
func TestObjectionsToCallsAreShown(t *testing.T) {
	w := &reviewed{reviews: []effect.Receipt{objecting(cited)}}
	b := newBench(t, proving, reviewer)
	w.start(b, "r", "")
	b.run(w.answer)
	if task := b.task("T-001"); task.State != "done" || w.repairs != 0 || len(task.Reviews) != 1 ||
		task.Reviews[0].SentBack {
		t.Fatalf("%s, repaired %d, %+v", task.State, w.repairs, task.Reviews)
	}
}

// A review whose runner died is asked for again.
func TestLostReviews(t *testing.T) {
	w := &reviewed{reviews: []effect.Receipt{nothingWrong}}
	b := newBench(t, proving, reviewer)
	w.start(b, "r", "m")
	for s := b.look(); s.Effect == nil || s.Effect.What() != effect.KindReview; s = b.look() {
		if !b.act(w.answer) {
			t.Fatal("nobody reviews")
		}
	}
	id := b.look().Effect.ID
	b.do(&effects.Begin{Effect: id, Owner: "r0", Day: b.now})
	b.do(&effects.Recover{Effect: id, Answer: effect.DoneNo})
	b.run(w.answer)
	if task := b.task("T-001"); task.State != "done" || len(task.Reviews) != 1 || len(w.asked) != 1 {
		t.Fatalf("%s, %+v", task.State, task.Reviews)
	}
	b.verifyAudit()
}

// What is canceled while it is reviewed is cleaned up, whatever the reviewer says.
func TestCanceledReviews(t *testing.T) {
	w := &reviewed{reviews: []effect.Receipt{objecting(cited)}}
	b := newBench(t, proving, reviewer)
	w.start(b, "r", "m")
	b.run(func(e effect.Effect) effect.Receipt {
		if e.Kind == effect.KindReview {
			b.do(&control.CancelRun{Reason: "not needed"})
		}
		return w.answer(e)
	})
	if task := b.task("T-001"); task.State != "canceled" || len(task.Reviews) > 0 || w.repairs > 0 {
		t.Fatalf("%s, %+v", task.State, task.Reviews)
	}
}
