package kernel_test

import (
	"slices"
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
	"pawl/text/plan"
)

// tried answers as a world does in which work is tried with and without: what is seen each time, the last one for ever.
type tried struct {
	*mind
	seen  []effect.ProveResult
	specs []effect.ProveSpec
	land  []effect.LandSpec
	// touched are the files by which the work is judged that it changed.
	touched []string
}

func (w *tried) answer(e effect.Effect) effect.Receipt {
	switch e.Kind {
	case effect.KindProve:
		spec, _ := effect.Decode[effect.ProveSpec](e.Spec)
		w.specs = append(w.specs, spec)
		return effect.Succeeded(w.seen[min(len(w.specs), len(w.seen))-1])
	case effect.KindLand:
		spec, _ := effect.Decode[effect.LandSpec](e.Spec)
		w.land = append(w.land, spec)
	}
	r := w.mind.answer(e)
	if v, err := effect.Decode[effect.VerifyResult](r.Result); e.Kind == effect.KindVerify && err == nil {
		for i := range v.Outcomes {
			v.Outcomes[i].Kind = "test"
		}
		v.Tampered = w.touched
		r.Result = effect.Encode(v)
	}
	return r
}

// wroteSub is what a worker changed, and redGreen is its test, which tells.
var (
	wroteSub = []effect.FileStat{{Status: "M", Path: "calc.go"}}
	redGreen = effect.Witness{Check: "tests", Kind: "test", Test: "TestSub", Without: effect.WithoutAssertion, Own: true,
		Texts: []string{"sub"}}
	nothing = effect.ProveResult{Changed: wroteSub}
	shown   = effect.ProveResult{Changed: wroteSub, Witnesses: []effect.Witness{redGreen}}
)

// proving is a kernel that has work shown, with an agent.
func proving(c *kernel.Config) {
	c.Agents["m"], c.Proofs = kernel.Traits{Works: true}, true
}

// trying brings a bench with an agent and a plan behind its work.
func trying(t *testing.T, w *tried, criteria []plan.Criterion, mode pawl.RunMode) *bench {
	t.Helper()
	b := newBench(t, proving)
	w.mind = &mind{work: []effect.WorkResult{finished}}
	w.plan = intent()
	w.plan.Criteria = criteria
	b.do(&planning.Start{Requirement: "Add a Sub function", Agent: "m", AutoApprove: "policy:test", RunMode: mode,
		Place: effect.Place{Workspace: "/w", Tree: "/w", Git: true}})
	b.run(w.answer)
	return b
}

func sub(proof plan.Proof) []plan.Criterion {
	c := plan.Criterion{ID: "c1", Text: "Sub subtracts", From: "Add a Sub function", Proof: proof}
	switch proof {
	case plan.ProofCheck:
		c.Texts = []string{"Sub"}
	case plan.ProofGone, plan.ProofDiff:
		c.Paths = []string{"calc.go"}
	}
	return []plan.Criterion{c}
}

func TestWorkIsProven(t *testing.T) {
	w := &tried{seen: []effect.ProveResult{shown}}
	b := trying(t, w, sub(plan.ProofCheck), pawl.Assisted)
	task := b.task("T-001")
	if task.State != "done" || task.Proof == nil || task.Proof.Verdict != effect.Proven || len(w.specs) != 1 {
		t.Fatalf("%s %+v, tried %d times", task.State, task.Proof, len(w.specs))
	}
	if m := task.Proof.Criteria[0]; m.Why != effect.WhyRedGreen || !slices.Equal(m.Shown, []string{"TestSub"}) {
		t.Errorf("%+v", m)
	}
	if s := w.specs[0]; s.Base != "c0" || s.Tree != task.Verified.Tree || len(s.Checks) != 1 || len(s.Criteria) != 1 {
		t.Errorf("%+v", s)
	}
	if !slices.Contains(w.land[0].Trailers, "Pawl-Proof: proven") {
		t.Error(w.land[0].Trailers)
	}
	b.verifyAudit()
}

// Whoever takes work without proof takes with it what it changed of what it is judged by, and is asked once; work that
// is proven is asked about for that alone.
func TestChangedChecksAreAcceptedWithTheWork(t *testing.T) {
	for _, mode := range []pawl.RunMode{pawl.Assisted, pawl.Autonomous} {
		w := &tried{seen: []effect.ProveResult{nothing}, touched: []string{"calc_test.go"}}
		b := trying(t, w, sub(plan.ProofCheck), mode)
		b.do(&verification.Accept{Tree: b.look().Task.Proof.Tree, Reason: "I tried it by hand"})
		b.run(w.answer)
		if task := b.task("T-001"); task.State != "done" || task.Proof.Verdict != effect.Accepted {
			t.Errorf("%s: %s %+v, asked about %+v", mode, task.State, task.Proof, b.look().Approval)
		}
		b.verifyAudit()
	}
	w := &tried{seen: []effect.ProveResult{shown}, touched: []string{"calc_test.go"}}
	b := trying(t, w, sub(plan.ProofCheck), pawl.Assisted)
	if a := b.look().Approval; a == nil || a.About != kernel.AboutChecks {
		t.Errorf("proven work that changed its checks is not asked about: %+v", a)
	}
}

// Work that nothing shows goes back to the agent once, and then waits for a person, who says why it is taken.
func TestUnprovenWorkIsSentBackOnceAndAccepted(t *testing.T) {
	w := &tried{seen: []effect.ProveResult{nothing}}
	b := trying(t, w, sub(plan.ProofCheck), pawl.Assisted)
	s := b.look()
	if s.Turn.State != "AWAITING_CONFIRMATION" || s.Approval.About != kernel.AboutProof || len(w.specs) != 2 ||
		w.repairs != 1 {
		t.Fatalf("%s %+v, tried %d times, repaired %d", s.Turn.State, s.Approval, len(w.specs), w.repairs)
	}
	if f := s.Task.Failures[0]; len(f.Unproven) != 1 || f.Unproven[0].Why != effect.WhyNoWitness {
		t.Errorf("%+v", f)
	}
	if next := query.StatusOf(s).Next; !slices.ContainsFunc(next, func(n view.Next) bool {
		return n.Command == "pawl accept "+s.Task.Proof.Tree+" -m REASON"
	}) {
		t.Errorf("%+v", next)
	}
	if _, err := b.try(&approval.Approve{Hash: s.Approval.Hash}); pawl.CodeOf(err) != pawl.CodeInvalid {
		t.Errorf("without a reason: %v", err)
	}
	for _, c := range []*verification.Accept{{Tree: s.Task.Proof.Tree}, {Tree: "", Reason: "fine"},
		{Tree: "deadbeef", Reason: "fine"}} {
		if _, err := b.try(c); err == nil {
			t.Errorf("%+v was taken", c)
		}
	}
	b.do(&verification.Accept{Tree: s.Task.Proof.Tree, Reason: "I tried it by hand"})
	b.run(w.answer)
	task := b.task("T-001")
	if p := task.Proof; task.State != "done" || p.Verdict != effect.Accepted || p.By.Kind() != pawl.KindUser ||
		p.Reason != "I tried it by hand" || len(w.specs) != 2 {
		t.Fatalf("%s %+v", task.State, task.Proof)
	}
	if got := w.land[0].Trailers; got[len(got)-1] != "Pawl-Proof: accepted without proof by "+task.Proof.By.Name()+
		": I tried it by hand" {
		t.Error(got)
	}
	if _, err := b.try(&verification.Accept{Tree: task.Proof.Tree, Reason: "again"}); err == nil {
		t.Error("it was accepted twice")
	}
	b.verifyAudit()
}

// What was missing is there after the one repair: nobody is asked.
func TestUnprovenWorkIsMended(t *testing.T) {
	w := &tried{seen: []effect.ProveResult{nothing, shown}}
	b := trying(t, w, sub(plan.ProofCheck), pawl.Autonomous)
	if task := b.task("T-001"); task.State != "done" || task.Proof.Verdict != effect.Proven || w.repairs != 1 {
		t.Fatalf("%s %+v, repaired %d", task.State, task.Proof, w.repairs)
	}
}

// Where nobody attends, unproven work is BLOCKED; a person takes it then, and it is not tried again.
func TestUnprovenWorkIsBlockedUnattended(t *testing.T) {
	w := &tried{seen: []effect.ProveResult{nothing}}
	b := trying(t, w, sub(plan.ProofCheck), pawl.Autonomous)
	s := b.look()
	if s.Session.State != "BLOCKED" || s.Session.Blocked.Kind != kernel.BlockedUnproven || s.Task.State != "blocked" {
		t.Fatalf("%s %+v %s", s.Session.State, s.Session.Blocked, s.Task.State)
	}
	b.do(&recovery.Fix{})
	b.run(w.answer)
	if s = b.look(); s.Session.State != "BLOCKED" || len(w.specs) != 3 || w.repairs != 1 {
		t.Fatalf("%s, tried %d times, repaired %d", s.Session.State, len(w.specs), w.repairs)
	}
	b.do(&verification.Accept{Tree: s.Task.Proof.Tree, Reason: "fine"})
	b.run(w.answer)
	if task := b.task("T-001"); task.State != "done" || task.Proof.Verdict != effect.Accepted || len(w.specs) != 3 {
		t.Fatalf("%s %+v, tried %d times", task.State, task.Proof, len(w.specs))
	}
	b.verifyAudit()
}

// What a person says who helps is heard: unproven work goes back once more to its agent, which is told those words with
// every step from then on. Words about a tree that is no longer the work's are refused, and so are words that no agent
// would hear.
func TestHelpIsHeard(t *testing.T) {
	w := &tried{seen: []effect.ProveResult{nothing}}
	b := trying(t, w, sub(plan.ProofCheck), pawl.Autonomous)
	before := len(w.asked)
	if _, err := b.try(&recovery.Fix{Note: "calc.go:3: no", Tree: "another"}); pawl.CodeOf(err) != pawl.CodeApprovalStale {
		t.Errorf("about another tree: %v", err)
	}
	for n, words := range []string{"calc.go:3: test the borrow, too", "and the carry"} {
		b.do(&recovery.Fix{Note: words, Tree: b.look().Task.Proof.Tree})
		b.run(w.answer)
		if s := b.look(); s.Session.State != "BLOCKED" || w.repairs != n+2 || len(w.asked) != before+n+1 {
			t.Fatalf("%q: %s, repaired %d, asked %d", words, s.Session.State, w.repairs, len(w.asked)-before)
		}
	}
	if !slices.ContainsFunc(query.StatusOf(b.look()).Next, view.Next.Heard) {
		t.Error("nobody is told that words are heard")
	}
	notes := w.asked[len(w.asked)-1].Notes
	if !slices.Equal(notes, []string{"A person says: calc.go:3: test the borrow, too", "A person says: and the carry"}) {
		t.Errorf("%q", notes)
	}
	if w.asked[before].Failure == nil || len(w.asked[before].Notes) != 1 || len(w.asked[before-1].Notes) != 0 {
		t.Errorf("%+v", w.asked[before-1:])
	}
	b.verifyAudit()

	b = newBench(t, func(c *kernel.Config) { c.Proofs = true })
	red := redGreen
	red.Failed = true
	w = &tried{seen: []effect.ProveResult{{Changed: wroteSub, Witnesses: []effect.Witness{red}}}, mind: new(mind)}
	w.plan = twoSteps()
	w.plan.Criteria = sub(plan.ProofCheck)
	b.do(&planning.Start{Requirement: "Add a Sub function", Agent: "script", AutoApprove: "policy:test",
		RunMode: pawl.Autonomous, Place: effect.Place{Workspace: "/w", Tree: "/w", Git: true}})
	b.run(w.answer)
	s := b.look()
	if s.Task == nil || s.Task.Proof == nil || s.Session.State != "BLOCKED" {
		t.Fatalf("%+v", s.Session)
	}
	if _, err := b.try(&recovery.Fix{Note: "no", Tree: s.Task.Proof.Tree}); pawl.CodeOf(err) != pawl.CodeInvalidTransition {
		t.Errorf("nobody hears it: %v", err)
	}
}

func TestUnprovenWorkIsRefused(t *testing.T) {
	w := &tried{seen: []effect.ProveResult{nothing}}
	b := trying(t, w, sub(plan.ProofCheck), pawl.Assisted)
	b.do(&approval.Deny{Reason: "there is no test"})
	w.seen = []effect.ProveResult{shown}
	b.run(w.answer)
	if task := b.task("T-001"); task.State != "done" || task.Proof.Verdict != effect.Proven || w.repairs != 2 {
		t.Fatalf("%s %+v, repaired %d", task.State, task.Proof, w.repairs)
	}
}

// weighed is the verdict on what was seen, by what was wanted.
func TestVerdicts(t *testing.T) {
	test := func(w effect.Witness) effect.ProveResult {
		return effect.ProveResult{Changed: wroteSub, Witnesses: []effect.Witness{w}}
	}
	named := func(without effect.Without, failed bool) effect.ProveResult {
		return test(effect.Witness{Criterion: "c1", Check: "x", Without: without, Failed: failed})
	}
	hollow, elsewhere := redGreen, redGreen
	hollow.Without, elsewhere.Texts = effect.WithoutBuild, []string{"mul"}
	confirmed, failed, green := hollow, redGreen, redGreen
	confirmed.Confirmed, failed.Failed, green.Without = true, true, effect.WithoutGreen
	known, own, idle := redGreen, green, green
	known.Doubt, known.At, own.Own, own.Confirmed, idle.Own = effect.WhyMemorised, []string{"sub.go:3"}, true, true, true
	unrun, partly := nothing, nothing
	unrun.Measured, unrun.Unrun = true, []effect.Lines{{Path: "calc.go", Line: 3, To: 9, Name: "Sub"}}
	partly.Measured, partly.Unrun = true, []effect.Lines{{Path: "calc.go", Line: 3, To: 9}}
	run := sub(plan.ProofCheck)
	run[0].Run = "./check"
	for name, c := range map[string]struct {
		criteria []plan.Criterion
		seen     effect.ProveResult
		verdict  effect.Verdict
		why      effect.Why
	}{
		"nothing was changed":               {sub(plan.ProofCheck), effect.ProveResult{}, effect.Unproven, effect.WhyNothing},
		"no test tells":                     {sub(plan.ProofCheck), nothing, effect.Unproven, effect.WhyNoWitness},
		"green before":                      {sub(plan.ProofCheck), test(green), effect.Unproven, effect.WhyBefore},
		"only a name is missing":            {sub(plan.ProofCheck), test(hollow), effect.Unproven, effect.WhyHollow},
		"red where what was added is empty": {sub(plan.ProofCheck), test(confirmed), effect.Proven, effect.WhyRedGreen},
		"about something else":              {sub(plan.ProofCheck), test(elsewhere), effect.Unproven, effect.WhyElsewhere},
		"red with the work":                 {sub(plan.ProofCheck), test(failed), effect.Unproven, effect.WhyNotMet},
		"its test is known by heart":        {sub(plan.ProofCheck), test(known), effect.Unproven, effect.WhyMemorised},
		"a test that notices":               {sub(plan.ProofTest), test(own), effect.Proven, effect.WhyTested},
		"a test that notices nothing":       {sub(plan.ProofTest), test(idle), effect.Unproven, effect.WhyIdle},
		"a test that is not there":          {sub(plan.ProofTest), nothing, effect.Unproven, effect.WhyNoTests},
		"a test of new behaviour":           {sub(plan.ProofTest), shown, effect.Proven, effect.WhyTested},
		"a command":                         {run, named(effect.WithoutUnmet, false), effect.Proven, effect.WhyRedGreen},
		"a command that was green":          {run, named(effect.WithoutGreen, false), effect.Unproven, effect.WhyBefore},
		"a command that the machine lacks":  {run, named(effect.WithoutMachine, false), effect.Unproven, effect.WhyMachine},
		"a command that was not tried":      {run, nothing, effect.Unproven, effect.WhyUntried},
		"it is gone":                        {sub(plan.ProofGone), named(effect.WithoutUnmet, false), effect.Proven, effect.WhyGone},
		"it is not gone":                    {sub(plan.ProofGone), named(effect.WithoutUnmet, true), effect.Unproven, effect.WhyNotMet},
		"the file says so":                  {sub(plan.ProofDiff), named(effect.WithoutUnmet, false), effect.Proven, effect.WhyDiff},
		"nothing is lost":                   {sub(plan.ProofKept), nothing, effect.Proven, effect.WhyKept},
		"nothing runs what is to be kept":   {sub(plan.ProofKept), unrun, effect.Unproven, effect.WhyUnrun},
		"a part of it runs":                 {sub(plan.ProofKept), partly, effect.Proven, effect.WhyKept},
		"nothing is lost, as nothing is":    {sub(plan.ProofKept), effect.ProveResult{}, effect.Unproven, effect.WhyNothing},
		"somebody has to look":              {sub(plan.ProofPerson), shown, effect.Unproven, effect.WhyPerson},
		"a reviewer proves nothing":         {sub(plan.ProofReview), shown, effect.Unproven, effect.WhyReview},
		"it was so": {run, effect.ProveResult{Witnesses: named(effect.WithoutGreen, false).Witnesses}, effect.AlreadySo,
			effect.WhyBefore},
	} {
		t.Run(name, func(t *testing.T) {
			w := &tried{seen: []effect.ProveResult{c.seen}}
			p := trying(t, w, c.criteria, pawl.Autonomous).task("T-001").Proof
			if p == nil || p.Verdict != c.verdict || p.Criteria[0].Why != c.why {
				t.Errorf("%+v", p)
			}
		})
	}
}

// A step's artifacts have to be there, whatever else is shown.
func TestArtifactsAreMade(t *testing.T) {
	w := &tried{}
	b := newBench(t, proving)
	w.mind = &mind{work: []effect.WorkResult{finished}}
	w.plan = intent()
	w.plan.Criteria = sub(plan.ProofCheck)
	w.plan.Steps[0].ExpectedArtifacts = []plan.Artifact{{Type: plan.ArtifactFile, Value: "login.go"}}
	missing := shown
	missing.Witnesses = append(slices.Clone(shown.Witnesses), effect.Witness{Criterion: "s1:login.go", Kind: "files",
		Check: "login.go", Without: effect.WithoutUnmet, Failed: true})
	w.seen = []effect.ProveResult{missing}
	b.do(&planning.Start{Requirement: "Add a Sub function", Agent: "m", AutoApprove: "policy:test",
		RunMode: pawl.Autonomous, Place: effect.Place{Workspace: "/w", Tree: "/w", Git: true}})
	b.run(w.answer)
	task := b.task("T-001")
	if task.Proof.Verdict != effect.Unproven || len(task.Proof.Open()) != 1 || task.Proof.Open()[0].ID != "s1:login.go" {
		t.Fatalf("%+v", task.Proof)
	}
	if got := w.specs[0].Criteria; len(got) != 2 || got[1].Paths[0] != "login.go" {
		t.Errorf("%+v", got)
	}
}

// A plan of a person's calls is what was wanted: carried out as it was written, it needs no test that tells.
func TestApprovedCallsAreTheWork(t *testing.T) {
	w := &tried{mind: &mind{}, seen: []effect.ProveResult{nothing}}
	w.plan = twoSteps()
	b := newBench(t, proving)
	b.do(&planning.Start{Requirement: "do the work", Place: effect.Place{Workspace: "/w", Tree: "/w", Git: true},
		RunMode: pawl.Assisted, AutoApprove: "policy:test"})
	b.run(w.answer)
	if p := b.task("T-001").Proof; p == nil || p.Verdict != effect.Proven || p.Criteria[0].Why != effect.WhyAsApproved {
		t.Fatalf("%+v", p)
	}
}

func TestNobodysStepIsRefusedAtPlanning(t *testing.T) {
	w := &world{plan: intent()}
	b := newBench(t)
	b.do(&planning.Start{Requirement: "do the work", Place: effect.Place{Workspace: "/w", Tree: "/w", Git: true},
		RunMode: pawl.Assisted})
	b.run(w.answer)
	if e := b.look().Session.LastError; e == nil || e.Key != "kernel.nobody_does" {
		t.Errorf("%+v", e)
	}
}

// Work whose checks had to be repaired first is sent back for its proof all the same, and that repair did not fail.
func TestRepairedWorkIsSentBackForItsProof(t *testing.T) {
	w := &tried{mind: &mind{work: []effect.WorkResult{finished}}, seen: []effect.ProveResult{nothing, shown}}
	w.plan, w.failChecks = intent(), 1
	w.plan.Criteria = sub(plan.ProofCheck)
	b := newBench(t, proving)
	b.do(&planning.Start{Requirement: "Add a Sub function", Agent: "m", AutoApprove: "policy:test",
		RunMode: pawl.Assisted, Place: effect.Place{Workspace: "/w", Tree: "/w", Git: true}})
	b.run(w.answer)
	if task := b.task("T-001"); task.State != "done" || task.Proof.Verdict != effect.Proven || w.repairs != 2 ||
		task.Fixes != 0 {
		t.Fatalf("%s %+v, repaired %d", task.State, task.Proof, w.repairs)
	}
	b.verifyAudit()
}

// What a model planned is not a person's because nobody looked: its calls need to be shown like any work.
func TestUnseenCallsAreNotApproved(t *testing.T) {
	w := &tried{mind: &mind{work: []effect.WorkResult{finished}}, seen: []effect.ProveResult{nothing}}
	w.plan = twoSteps()
	w.plan.Criteria = sub(plan.ProofCheck)
	b := newBench(t, proving)
	b.do(&planning.Start{Requirement: "Add a Sub function", Agent: "m", AutoApprove: "policy:test",
		RunMode: pawl.Assisted, Place: effect.Place{Workspace: "/w", Tree: "/w", Git: true}})
	b.run(w.answer)
	if s := b.look(); s.Task == nil || s.Task.Proof == nil || s.Task.Proof.Verdict != effect.Unproven {
		t.Fatalf("%+v", s.Task)
	}
}

// TestPlannedTestsAreKept writes the tests of the plan before the work and once more before the checks, says which of
// them the work had changed, and keeps those that are held out from whoever works.
func TestPlannedTestsAreKept(t *testing.T) {
	criteria := sub(plan.ProofCheck)
	criteria[0].Files = []plan.TestFile{{Path: "sub_test.go", Content: "shown"},
		{Path: "more_test.go", Content: "hidden", Held: true}, {Path: "a/b_test.go", Content: "too"}}
	changed := effect.Witness{Criterion: "c1", Check: "tests", Kind: "test", Test: "TestMore",
		Without: effect.WithoutAssertion, Held: true, Failed: true}
	met := changed
	met.Failed = false
	w := &tried{seen: []effect.ProveResult{
		{Changed: wroteSub, Witnesses: []effect.Witness{redGreen, changed}},
		{Changed: wroteSub, Witnesses: []effect.Witness{redGreen, met}}}}
	w.mind = &mind{work: []effect.WorkResult{finished}}
	w.plan = intent()
	w.plan.Criteria = criteria
	var order []string
	b := newBench(t, proving)
	b.do(&planning.Start{Requirement: "Add a Sub function", Agent: "m", AutoApprove: "policy:test", RunMode: pawl.Assisted,
		Place: effect.Place{Workspace: "/w", Tree: "/w", Git: true}})
	b.run(func(e effect.Effect) effect.Receipt {
		r := w.answer(e)
		switch e.Kind {
		case effect.KindTool:
			call, _ := effect.Decode[effect.ToolCall](e.Spec)
			order = append(order, string(call.Args))
			if did, err := effect.Decode[effect.ToolResult](r.Result); err == nil && len(order) == 4 {
				did.Artifacts.FilesChanged = []string{"a/b_test.go"} // it is not what it was any more
				r.Result = effect.Encode(did)
			}
			if call.StepID != effect.TestsStep || !e.Record {
				t.Errorf("%+v", call)
			}
		case effect.KindWork, effect.KindVerify, effect.KindProve:
			order = append(order, string(e.Kind))
		}
		return r
	})
	first, last := `{"content":"shown","path":"sub_test.go"}`, `{"content":"too","path":"a/b_test.go"}`
	once := []string{first, last, "agent.work", first, last, "verify.run", "proof.run"}
	if want := slices.Concat(once, once[2:]); !slices.Equal(order, want) {
		t.Errorf("it went %q, want %q", order, want)
	}
	task := b.task("T-001")
	if task.State != "done" || task.Proof.Verdict != effect.Proven {
		t.Fatalf("%s %+v", task.State, task.Proof)
	}
	if f := task.Failures[0]; f.Unproven[0].Why != effect.WhyHeldOut {
		t.Errorf("%+v", f)
	}
	if got := task.Plan.Criteria[0].Files; !slices.Equal(got, criteria[0].Files) {
		t.Errorf("the plan has %+v", got)
	}
	for _, spec := range w.asked {
		if got := spec.Plan.Criteria[0].Files; len(got) != 2 || got[0].Held || got[1].Held {
			t.Errorf("the worker sees %+v", got)
		}
	}
	if !slices.Contains(task.Named, "sub_test.go") || slices.Contains(task.Named, "more_test.go") {
		t.Error(task.Named)
	}
	if n := b.count(string(kernel.AuditTestRestored)); n != 1 {
		t.Errorf("%d restorations are recorded", n)
	}
	b.verifyAudit()
}

// A command that could not be run, or that fails with the work alone, says why; a test is known by its name.
func TestWhatFallsShortSaysWhy(t *testing.T) {
	run := sub(plan.ProofCheck)
	run[0].Texts, run[0].Run = nil, "tool --check"
	for name, c := range map[string]struct {
		w    effect.Witness
		want string
	}{
		"not there":  {effect.Witness{Without: effect.WithoutMachine, Said: "x\nsh: 1: tool: not found\n"}, "tool --check: sh: 1: tool: not found"},
		"no end":     {effect.Witness{Without: effect.WithoutGreen, Failed: true, Said: "\ntimeout after 5s"}, "tool --check: timeout after 5s"},
		"not met":    {effect.Witness{Without: effect.WithoutUnmet, Failed: true, Said: "as it was before"}, "tool --check"},
		"one test":   {effect.Witness{Without: effect.WithoutMachine, Test: "TestX", Said: "y"}, "TestX"},
		"not a word": {effect.Witness{Without: effect.WithoutMachine}, "tool --check"},
	} {
		c.w.Criterion, c.w.Check, c.w.Kind = "c1", "tool --check", "custom"
		w := &tried{seen: []effect.ProveResult{{Changed: wroteSub, Witnesses: []effect.Witness{c.w}}}}
		b := trying(t, w, run, pawl.Assisted)
		if m := b.look().Task.Proof.Criteria[0]; m.Verdict != effect.Unproven || !slices.Equal(m.Shown, []string{c.want}) {
			t.Errorf("%s: %+v", name, m)
		}
	}
}
