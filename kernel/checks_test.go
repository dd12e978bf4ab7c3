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
	"pawl/text/plan"
)

// touching answers as a world does whose work changed what it is judged by. Contents are asked at each verification and
// at each run of the gates.
type touching struct {
	*world
	contents func(k effect.Kind) map[string]string
	specs    []effect.VerifySpec
}

func (w *touching) answer(e effect.Effect) effect.Receipt {
	r := w.world.answer(e)
	if e.Kind != effect.KindVerify && e.Kind != effect.KindGates {
		return r
	}
	spec, _ := effect.Decode[effect.VerifySpec](e.Spec)
	w.specs = append(w.specs, spec)
	v, err := effect.Decode[effect.VerifyResult](r.Result)
	if err != nil {
		return r
	}
	v.Contents = w.contents(e.Kind)
	for f := range v.Contents {
		v.Tampered = append(v.Tampered, f)
	}
	slices.Sort(v.Tampered)
	return effect.Succeeded(v)
}

func always(c map[string]string) func(effect.Kind) map[string]string {
	return func(effect.Kind) map[string]string { return c }
}

// ask brings a bench to the question about changed checks.
func ask(t *testing.T, w *touching, mode pawl.RunMode) *bench {
	t.Helper()
	b := newBench(t)
	b.do(&planning.Start{Requirement: "do the work", Place: effect.Place{Workspace: "/w", Tree: "/w", Git: true},
		RunMode: mode, AutoApprove: "policy:test"})
	b.run(w.answer)
	s := b.look()
	if s.Turn.State != "AWAITING_CONFIRMATION" || s.Session.State != "EXECUTING" || s.Task.State != "running" ||
		s.Approval == nil || s.Approval.About != "checks" {
		t.Fatalf("session %s, turn %s, task %s, approval %+v", s.Session.State, s.Turn.State, s.Task.State, s.Approval)
	}
	return b
}

func (b *bench) taskState() string {
	b.t.Helper()
	return b.task("T-001").State
}

func (b *bench) task(label string) *kernel.Task {
	b.t.Helper()
	s, err := b.k.TaskSnapshot(b.t.Context(), label)
	if err != nil {
		b.t.Fatal(err)
	}
	return s.Task
}

func TestChangedChecksWaitForAPerson(t *testing.T) {
	for _, mode := range []pawl.RunMode{pawl.Assisted, pawl.Autonomous} {
		w := &touching{world: &world{plan: twoSteps()},
			contents: always(map[string]string{"Makefile": "1", "a_test.go": ""})}
		b := ask(t, w, mode)
		s := b.look()
		if st := query.StatusOf(s); st.Approval.Detail != "Makefile, a_test.go" ||
			st.Next[0].Command != "pawl approve "+s.Approval.Hash[:12] {
			t.Errorf("%+v", st)
		}
		if got := s.ChangedChecks(); !slices.Equal(got, []string{"Makefile", "a_test.go"}) {
			t.Error(got)
		}
		if w.specs[0].Base != "t0" {
			t.Errorf("base %q", w.specs[0].Base)
		}
		b.run(w.answer) // nobody has said anything
		if _, err := b.try(&approval.Approve{Hash: s.Task.PlanHash}); pawl.CodeOf(err) != pawl.CodeApprovalStale {
			t.Errorf("the plan's hash is not the change's: %v", err)
		}
		b.do(&approval.Approve{Hash: s.Approval.Hash})
		b.run(w.answer)
		if got := b.taskState(); got != "done" {
			t.Errorf("%s: task %s", mode, got)
		}
		b.wantStates("PLANNING CONFIRMING EXECUTING ARCHIVING IDLE")
		b.verifyAudit()
	}
}

func TestNamedChecksMayChange(t *testing.T) {
	p := twoSteps()
	p.Steps[0].ExpectedArtifacts = []plan.Artifact{{Type: plan.ArtifactFile, Value: "./a_test.go"},
		{Type: plan.ArtifactFile, Value: "testdata/"}, {Type: plan.ArtifactNote, Value: "Makefile"}}
	w := &touching{world: &world{plan: p}, contents: always(map[string]string{"a_test.go": "1", "testdata/x/y": "2"})}
	b := approved2(t, w)
	if got := b.taskState(); got != "done" {
		t.Errorf("task %s", got)
	}
	w = &touching{world: &world{plan: p}, contents: always(map[string]string{"a_test.go": "1", "testdata": "2",
		"Makefile": "3"})}
	if got := ask(t, w, pawl.Assisted).look().ChangedChecks(); !slices.Equal(got, []string{"Makefile", "testdata"}) {
		t.Error(got)
	}
}

// approved2 is approved for a world that touches checks.
func approved2(t *testing.T, w *touching) *bench {
	t.Helper()
	b := newBench(t)
	b.do(&planning.Start{Requirement: "do the work", Place: effect.Place{Workspace: "/w", Tree: "/w", Git: true},
		RunMode: pawl.Assisted, AutoApprove: "policy:test"})
	b.run(w.answer)
	return b
}

// TestRepairsNameNothing: what a repair proposes was approved by nobody.
func TestRepairsNameNothing(t *testing.T) {
	w := &touching{world: &world{plan: twoSteps(), failChecks: 1}}
	w.contents = func(effect.Kind) map[string]string {
		if w.repairs == 0 {
			return nil
		}
		return map[string]string{"a_test.go": "1"}
	}
	b := newBench(t)
	b.do(&planning.Start{Requirement: "do the work", Place: effect.Place{Workspace: "/w", Tree: "/w", Git: true},
		RunMode: pawl.Assisted, AutoApprove: "policy:test"})
	b.run(w.answer)
	s := b.look()
	if s.Approval.About != "checks" || s.Session.State != "AUTO_FIX" {
		t.Fatalf("%s %+v", s.Session.State, s.Approval)
	}
	b.do(&approval.Approve{Hash: s.Approval.Hash})
	b.run(w.answer)
	b.wantStates("PLANNING CONFIRMING EXECUTING AUTO_FIX EXECUTING ARCHIVING IDLE")
	b.verifyAudit()
}

func TestRefusedChangeIsRepairedOrBlocks(t *testing.T) {
	w := &touching{world: &world{plan: twoSteps()}}
	w.contents = func(effect.Kind) map[string]string {
		if w.repairs > 0 {
			return nil // the repair put the file back
		}
		return map[string]string{"Makefile": "1"}
	}
	b := ask(t, w, pawl.Assisted)
	b.do(&approval.Deny{Reason: "leave it"})
	s := b.look()
	if s.Session.State != "AUTO_FIX" || s.Turn.State != "RECOVERING" || s.Task.Verified != nil {
		t.Errorf("session %s, turn %s, verified %v", s.Session.State, s.Turn.State, s.Task.Verified)
	}
	b.run(w.answer)
	if got := b.taskState(); got != "done" {
		t.Errorf("task %s", got)
	}
	b.wantStates("PLANNING CONFIRMING EXECUTING AUTO_FIX EXECUTING ARCHIVING IDLE")
	b.verifyAudit()

	w = &touching{world: &world{plan: twoSteps(), noRepair: true}, contents: always(map[string]string{"Makefile": "1"})}
	b = ask(t, w, pawl.Assisted)
	b.do(&approval.Deny{})
	b.run(w.answer)
	if s := b.look(); s.Session.State != "BLOCKED" || s.Task.State != "failed" {
		t.Errorf("session %s, task %s", s.Session.State, s.Task.State)
	}
	b.verifyAudit()
}

// TestApprovedChangeIsBoundToItsContents: what differs from what was approved is asked again, and never lands unseen.
func TestApprovedChangeIsBoundToItsContents(t *testing.T) {
	w := &touching{world: &world{plan: twoSteps(), failGates: 1}}
	say := "1"
	w.contents = func(effect.Kind) map[string]string { return map[string]string{"Makefile": say} }
	b := ask(t, w, pawl.Assisted)
	b.do(&approval.Approve{Hash: b.look().Approval.Hash})
	b.run(w.answer) // a gate fails, and the task is tried again with the same change
	if got := b.taskState(); got != "done" || w.gateRuns != 2 {
		t.Errorf("task %s after %d runs of the gates", got, w.gateRuns)
	}

	w = &touching{world: &world{plan: twoSteps(), failGates: 1}}
	w.contents = func(effect.Kind) map[string]string { return map[string]string{"Makefile": say} }
	b = ask(t, w, pawl.Assisted)
	first := b.look().Approval.Hash
	b.do(&approval.Approve{Hash: first})
	for w.gateRuns == 0 && b.act(w.answer) {
	}
	say = "2"
	b.run(w.answer)
	if a := b.look().Approval; a.State != kernel.ApprovalPending || a.About != "checks" || a.Hash == first {
		t.Errorf("%+v", a)
	}

	w = &touching{world: &world{plan: twoSteps()}}
	w.contents = func(k effect.Kind) map[string]string {
		if k == effect.KindGates {
			return map[string]string{"Makefile": "other"}
		}
		return map[string]string{"Makefile": "1"}
	}
	b = ask(t, w, pawl.Assisted)
	b.do(&approval.Approve{Hash: b.look().Approval.Hash})
	b.run(w.answer)
	s := b.look()
	if s.Task.State != "failed" || s.Task.Land != nil ||
		!strings.Contains(strings.Join(s.Session.Blocked.Error.Args, " "), "Makefile") {
		t.Errorf("task %s, %+v", s.Task.State, s.Session.Blocked)
	}
}

// TestStopWithdrawsTheQuestion: after a stop there is nothing to approve, and who goes on is asked anew.
func TestStopWithdrawsTheQuestion(t *testing.T) {
	w := &touching{world: &world{plan: twoSteps()}, contents: always(map[string]string{"Makefile": "1"})}
	b := ask(t, w, pawl.Assisted)
	first := b.look().Approval.Hash
	b.do(&recovery.Stop{Reason: "enough"})
	if s := b.look(); s.Session.State != "BLOCKED" || query.StatusOf(s).Approval != nil ||
		query.StatusOf(s).Next[0].Command != "pawl fix" {
		t.Errorf("%+v", query.StatusOf(s))
	}
	if _, err := b.try(&approval.Approve{Hash: first}); pawl.CodeOf(err) != pawl.CodeInvalidTransition {
		t.Error(err)
	}
	b.run(w.answer)
	b.do(&recovery.Fix{})
	b.run(w.answer)
	if s := b.look(); s.Turn.State != "AWAITING_CONFIRMATION" || s.Approval.Hash != first {
		t.Fatalf("turn %s, %+v", s.Turn.State, s.Approval)
	}
	b.do(&approval.Approve{Hash: first})
	b.run(w.answer)
	if got := b.taskState(); got != "done" {
		t.Errorf("task %s", got)
	}
	b.verifyAudit()
}

// TestNetworkIsGivenWhereItIsAskedFor: a call gets the places of the approved plan, and only one that asks.
func TestNetworkIsGivenWhereItIsAskedFor(t *testing.T) {
	asking := json.RawMessage(`{"network":true}`)
	p := twoSteps()
	p.Network, p.Steps[0].ToolCalls[0].ArgsHint = []string{"go", "a.example"}, asking
	var calls []effect.ToolCall
	w := &world{plan: p}
	answer := func(e effect.Effect) effect.Receipt {
		if e.Kind == effect.KindTool {
			call, _ := effect.Decode[effect.ToolCall](e.Spec)
			calls = append(calls, call)
		}
		return w.answer(e)
	}
	start := &planning.Start{Requirement: "do the work", Place: effect.Place{Workspace: "/w", Tree: "/w", Git: true},
		RunMode: pawl.Assisted, AutoApprove: "policy:test"}
	b := newBench(t)
	b.do(start)
	b.run(answer)
	if len(calls) != 2 || !calls[0].Network || len(calls[0].Sites) != 2 || calls[0].Sites[1].Host != "a.example" ||
		calls[1].Network || calls[1].Sites != nil {
		t.Errorf("%+v", calls)
	}

	p = twoSteps()
	p.Steps[1].ToolCalls[0].ArgsHint = asking
	w.plan = p
	b = newBench(t)
	b.do(start)
	b.run(answer)
	if e := b.look().Session.LastError; e == nil || e.Key != "kernel.network_unnamed" {
		t.Errorf("%+v", e)
	}

	// Nor does a step that comes later: a person's step is refused, too, where the plan names nothing.
	w = &world{plan: twoSteps(), failChecks: 99}
	b = approved(t, w)
	more := step("x", "write_file")
	more.ToolCalls[0].ArgsHint = asking
	if _, err := b.try(&recovery.Fix{Steps: []plan.Step{more}}); pawl.CodeOf(err) != pawl.CodeDenied {
		t.Error(err)
	}
}

// A linter that is not installed keeps no work from being done; what builds, tests or is named by the plan does, before
// anybody is asked.
func TestMissingPrograms(t *testing.T) {
	start := &planning.Start{Requirement: "do the work", Place: effect.Place{Workspace: "/w", Tree: "/w", Git: true},
		RunMode: pawl.Assisted}
	lint := effect.Check{Name: "lint", Command: "golangci-lint run", Missing: "golangci-lint"}
	for name, c := range map[string]struct {
		checks  []effect.Check
		mode    plan.Mode
		command string
		key     string
	}{
		"a linter": {[]effect.Check{lint, {Name: "tests", Command: "true", Level: 2}}, plan.VerifyTest, "",
			""},
		"nothing else": {[]effect.Check{lint}, plan.VerifyTest, "", "kernel.check_program_missing"},
		"a runner of tests": {[]effect.Check{{Name: "tests", Command: "npm test", Level: 2, Missing: "npm"}},
			plan.VerifyTest, "", "kernel.check_program_missing"},
		"a package": {[]effect.Check{{Name: "unit", Command: "vendor/bin/phpunit", Level: 2,
			Missing: "vendor/bin/phpunit"}}, plan.VerifyTest, "", "kernel.check_package_missing"},
		"named by the plan": {[]effect.Check{lint, {Name: "tests", Command: "true", Level: 2}}, plan.VerifyCustom,
			"golangci-lint run ./api", "kernel.check_program_missing"},
		"another is named": {[]effect.Check{lint, {Name: "tests", Command: "true", Level: 2}}, plan.VerifyCustom,
			"go vet ./api", ""},
		"a linter and a cmd": {[]effect.Check{lint}, plan.VerifyLint, "go vet ./api", ""},
	} {
		b := newBench(t)
		w := &world{plan: twoSteps()}
		w.plan.Verification.Mode = c.mode
		if c.command != "" {
			w.plan.Verification.Commands = []string{c.command}
		}
		b.do(start)
		b.run(func(e effect.Effect) effect.Receipt {
			if e.Kind == effect.KindContext {
				return effect.Succeeded(effect.ContextResult{Head: "c0", Branch: "main", Checks: c.checks})
			}
			return w.answer(e)
		})
		s := b.look()
		got := ""
		if s.Session.LastError != nil {
			got = s.Session.LastError.Key
		}
		if got != c.key || (s.Session.State == "CONFIRMING") != (c.key == "") {
			t.Errorf("%s: %s with %q", name, s.Session.State, got)
		}
	}
}
