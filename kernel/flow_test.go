package kernel_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"pawl"
	"pawl/internal/memory"
	"pawl/kernel"
	"pawl/kernel/approval"
	"pawl/kernel/audit"
	"pawl/kernel/control"
	"pawl/kernel/effect"
	"pawl/kernel/effects"
	"pawl/kernel/joined"
	"pawl/kernel/planning"
	"pawl/kernel/recovery"
	"pawl/kernel/replay"
	"pawl/kernel/steps"
	"pawl/text/plan"
	"pawl/text/policy"
)

// bench is a kernel on a store in memory, with a clock that a test moves and a runner that a test plays by hand.
type bench struct {
	t      testing.TB
	k      *kernel.Kernel
	store  *memory.Store
	now    time.Time
	states []string // of the session, as they were committed
	tree   func() string
	// unlike says that the settings change in the middle, so that the decisions would not be the same again.
	unlike bool
}

func newBench(t testing.TB, tune ...func(*kernel.Config)) *bench {
	t.Helper()
	b := &bench{t: t, store: memory.New(), tree: func() string { return "t0" },
		now: time.Date(2026, 2, 8, 12, 0, 0, 0, time.UTC)}
	config := kernel.Defaults()
	config.Tools = map[string]kernel.Tool{
		"write_file":       tool("write_file", false, policy.FSWrite),
		"run_terminal_cmd": tool("run_terminal_cmd", false, policy.ProcExec),
		"read_file":        tool("read_file", true, policy.FSRead),
	}
	config.Network = func(grant string) ([]effect.Site, error) { return []effect.Site{{Host: grant, Port: 443}}, nil }
	for _, f := range tune {
		f(&config)
	}
	b.k = kernel.New(joined.Table(), b.store, config, pawl.ClockFunc(func() time.Time { return b.now }), rand.Reader)
	b.k.OnCommit(func(o kernel.Outcome) {
		for _, e := range o.Entries {
			if e.Subject.Kind == string(kernel.KindSession) && e.Move != nil {
				b.states = append(b.states, e.Move.To)
			}
		}
	})
	b.k.OnDecide(func(d kernel.Decided) {
		if unused(d.Decision.Touched) {
			b.t.Errorf("a receipt was refused: %+v", d.Envelope.Command)
		}
	})
	b.record()
	b.do(&planning.Init{Place: effect.Place{Workspace: "/w", Tree: "/w", Git: true}})
	return b
}

// record records every decision of a test, and makes all of them again at its end.
func (b *bench) record() {
	var kept bytes.Buffer
	rec := replay.NewRecorder(&kept, nil)
	b.k.OnDecide(rec.Record)
	config := *b.k.Config()
	b.t.Cleanup(func() {
		if err := rec.Err(); err != nil {
			b.t.Error(err)
		}
		for f, err := range replay.Replay(&kept, &config) {
			if b.unlike {
				break
			}
			if err != nil || f.Lost || f.Differs() {
				b.t.Errorf("decided again: %+v, %v", f, err)
			}
		}
	})
}

func tool(name string, idempotent bool, p policy.Permission) kernel.Tool {
	return kernel.Tool{
		Info: effect.ToolInfo{Name: name, Version: "1.0.0", ArgsSchema: json.RawMessage(`{"type":"object"}`),
			Permissions: []policy.Permission{p}, Idempotent: idempotent},
		Request: func(args json.RawMessage) (policy.Request, error) {
			var a struct {
				Network bool `json:"network"`
			}
			_ = json.Unmarshal(args, &a)
			return policy.Request{Tool: name, Permissions: []policy.Permission{policy.FSRead}, Network: a.Network}, nil
		},
	}
}

func (b *bench) try(c kernel.Command) (kernel.Outcome, error) {
	b.now = b.now.Add(time.Second)
	return b.k.Do(context.Background(), kernel.Envelope{Actor: actorOf(c), Command: c})
}

func actorOf(c kernel.Command) pawl.Actor {
	switch c.(type) {
	case *steps.Claim, *effects.Begin, *effects.Report, *effects.Recover:
		return "runner:r1"
	}
	return "user:ada"
}

func (b *bench) do(c kernel.Command) kernel.Outcome {
	b.t.Helper()
	out, err := b.try(c)
	if err != nil {
		b.t.Fatalf("%T: %v", c, err)
	}
	return out
}

func (b *bench) look() *kernel.Snapshot {
	b.t.Helper()
	s, err := b.k.Snapshot(context.Background())
	if err != nil {
		b.t.Fatal(err)
	}
	return s
}

// act does what a runner would: claim the queued task, or begin the pending effect and report what answer says.
func (b *bench) act(answer func(e effect.Effect) effect.Receipt) bool {
	b.t.Helper()
	s := b.look()
	if s.Task != nil && s.Task.OrphanEffect != "" {
		b.do(&effects.Recover{Effect: s.Task.OrphanEffect, Answer: effect.DoneUnknown, Tree: "t2"})
		return true
	}
	if e := s.Effect; e != nil && e.State == kernel.EffectPending &&
		(s.Session.Effect == e.ID || s.Task != nil && s.Task.Effect == e.ID) {
		begin := &effects.Begin{Effect: e.ID, Owner: "r1", Day: b.now}
		if e.Effect.Record {
			begin.Tree = b.tree()
		}
		out := b.do(begin)
		var begun effect.Effect
		if err := json.Unmarshal(out.Result, &begun); err != nil {
			b.t.Fatal(err)
		}
		if begun.ID == "" { // it does not fit a budget
			return true
		}
		b.do(&effects.Report{Effect: e.ID, Token: begun.Token, Receipt: answer(begun)})
		return true
	}
	if t := s.Task; t != nil && t.State == "queued" && s.Session.State != "IDLE" {
		b.now = t.Due.Add(time.Second)
		b.do(&steps.Claim{Task: t.ID, Owner: "r1"})
		return true
	}
	return false
}

// run acts until nothing is left to do.
func (b *bench) run(answer func(e effect.Effect) effect.Receipt) {
	b.t.Helper()
	for n := 0; b.act(answer); n++ {
		if n > 500 {
			b.t.Fatal("the run does not end")
		}
	}
}

// world answers effects as drivers in good order would, except that verification fails as often as told.
type world struct {
	plan        plan.Plan
	failChecks  int
	failGates   int
	apart       int // how many cleanups find a landing half done
	noRepair    bool
	failCall    int
	repairTool  string
	calls       []string
	repairs     int
	gateRuns    int
	environment bool
	// rebases are what the branch has become, one after the other; moved counts how often it moves while the work
	// lands.
	rebases []effect.RebaseResult
	moved   int
	// failLater fails that many verifications once the branch has moved.
	failLater int
	// changed is what verification finds changed.
	changed []effect.FileStat
	// logged is what the archive was given for the CHANGELOG.
	logged []effect.LogEntry
}

func (w *world) answer(e effect.Effect) effect.Receipt {
	switch e.Kind {
	case effect.KindContext:
		return effect.Succeeded(effect.ContextResult{Head: "c0", Branch: "main",
			Checks: []effect.Check{{Name: "tests", Command: "true", Level: 2}}})
	case effect.KindPlan:
		return effect.Succeeded(effect.PlanResult{Plan: &w.plan, Said: effect.Said{Agent: "script"}})
	case effect.KindWorktree:
		return effect.Succeeded(effect.WorktreeResult{Tree: "t0"})
	case effect.KindCheckpoint:
		spec, _ := effect.Decode[effect.CheckpointSpec](e.Spec)
		return effect.Succeeded(effect.CheckpointResult{Name: spec.Name, Tree: "t0", Commit: "k", Ref: "refs/pawl/" +
			spec.Name})
	case effect.KindTool:
		call, _ := effect.Decode[effect.ToolCall](e.Spec)
		w.calls = append(w.calls, call.StepID)
		if w.failCall > 0 {
			w.failCall--
			return effect.Failed(pawl.Fail(pawl.CodeConflict, "file.conflict", "a.txt"))
		}
		return effect.Succeeded(effect.ToolResult{CallID: call.CallID, After: "t1"})
	case effect.KindVerify:
		return w.verify()
	case effect.KindGates:
		return w.gates()
	case effect.KindRepair:
		w.repairs++
		if w.noRepair {
			return effect.Succeeded(effect.RepairResult{Why: "nothing known"})
		}
		name := w.repairTool
		if name == "" {
			name = "write_file"
		}
		return effect.Succeeded(effect.RepairResult{Steps: []plan.Step{step("x", name)}, Why: "try",
			Said: effect.Said{Agent: "script"}})
	case effect.KindRebase:
		spec, _ := effect.Decode[effect.RebaseSpec](e.Spec)
		result := effect.RebaseResult{Base: spec.Base, Tree: spec.Tree}
		if len(w.rebases) > 0 {
			result, w.rebases = w.rebases[0], w.rebases[1:]
			w.failChecks, w.failLater = w.failLater, 0
		}
		return effect.Succeeded(result)
	case effect.KindLand:
		if w.moved--; w.moved >= 0 {
			return effect.Failed(pawl.Fail(pawl.CodeConflict, "land.moved", "main"))
		}
		return effect.Succeeded(effect.LandResult{Outcome: effect.Landed, Commit: "c1", Tree: "t1", Branch: "main"})
	case effect.KindRevert:
		return effect.Succeeded(effect.LandResult{Outcome: effect.Landed, Commit: "c2", Tree: "t0", Branch: "main"})
	case effect.KindRestore:
		return effect.Succeeded(effect.RestoreResult{Before: "t1", After: "t0", Changed: []string{"a.txt"}})
	case effect.KindCleanup:
		if w.apart--; w.apart >= 0 {
			return effect.FailedWith(pawl.Fail(pawl.CodeIO, "land.apart"),
				effect.CleanupResult{Failed: []string{effect.CleanedLanding}})
		}
		return effect.Succeeded(effect.CleanupResult{Performed: []string{"worktree"}})
	case effect.KindArchive:
		spec, _ := effect.Decode[effect.ArchiveSpec](e.Spec)
		w.logged = spec.Log
		return effect.Succeeded(effect.ArchiveResult{})
	}
	return effect.Failed(pawl.Fail(pawl.CodeInternal, "runner.no_driver", string(e.Kind)))
}

func (w *world) verify() effect.Receipt {
	out := effect.CheckOutcome{Check: effect.Check{Name: "tests", Command: "true"}, Status: effect.CheckPassed}
	if w.failChecks > 0 {
		w.failChecks--
		out.Status, out.ExitCode, out.Output, out.Environment = effect.CheckFailed, 1, "FAIL", w.environment
	}
	return effect.Succeeded(effect.VerifyResult{Outcomes: []effect.CheckOutcome{out},
		Passed: out.Status == effect.CheckPassed, Tree: "t1", TreeAfter: "t1", Fingerprint: fmt.Sprint(w.failChecks),
		Changed: w.changed})
}

func (w *world) gates() effect.Receipt {
	w.gateRuns++
	out := effect.CheckOutcome{Check: effect.Check{Name: "doctor"}, Status: effect.CheckPassed}
	if w.failGates > 0 {
		w.failGates--
		out.Status, out.Environment = effect.CheckFailed, w.environment
	}
	return effect.Succeeded(effect.VerifyResult{Outcomes: []effect.CheckOutcome{out},
		Passed: out.Status == effect.CheckPassed, Tree: "t1", TreeAfter: "t1"})
}

func step(id, tool string) plan.Step {
	return plan.Step{StepID: id, Title: "step " + id, Intent: "because", Status: plan.Pending,
		ToolCalls: []plan.ToolCallTemplate{{Name: tool, ArgsHint: json.RawMessage(`{"path":"` + id + `"}`)}}}
}

func twoSteps() plan.Plan {
	return plan.Plan{
		Goal: "do the work", Constraints: []string{}, Steps: []plan.Step{step("s1", "write_file"),
			step("s2", "write_file")}, RiskLevel: pawl.RiskLow,
		Verification: plan.VerificationPolicy{Mode: plan.VerifyTest, Commands: []string{}, Required: true,
			StopOnFail: true},
	}
}

// proposed brings a bench to CONFIRMING.
func proposed(t *testing.T, w *world) *bench {
	t.Helper()
	b := newBench(t)
	b.do(&planning.Start{Requirement: "do the work", Place: effect.Place{Workspace: "/w", Tree: "/w", Git: true},
		RunMode: pawl.Assisted})
	b.run(w.answer)
	if s := b.look(); s.Session.State != "CONFIRMING" {
		t.Fatalf("session %s: %+v", s.Session.State, s.Session.LastError)
	}
	return b
}

// approved brings a bench behind the approval.
func approved(t *testing.T, w *world) *bench {
	t.Helper()
	b := proposed(t, w)
	b.do(&approval.Approve{Hash: b.look().Solution.Hash})
	b.run(w.answer)
	return b
}

func (b *bench) wantStates(want string) {
	b.t.Helper()
	if got := strings.Join(b.states, " "); got != want {
		b.t.Errorf("session went\n %s, want\n %s", got, want)
	}
}

// verifyAudit checks the whole log as `pawl audit verify` does.
func (b *bench) verifyAudit() {
	b.t.Helper()
	err := b.store.Log(context.Background(), func(l audit.Log) error {
		_, err := l.Verify()
		return err
	})
	if err != nil {
		b.t.Errorf("audit: %v", err)
	}
}

func TestRunToDone(t *testing.T) {
	w := &world{plan: twoSteps()}
	b := approved(t, w)
	b.wantStates("PLANNING CONFIRMING EXECUTING ARCHIVING IDLE")
	s, err := b.k.TaskSnapshot(context.Background(), "T-001")
	if err != nil {
		t.Fatal(err)
	}
	if s.Task.State != "done" || s.Task.Land == nil || s.Task.Land.Commit != "c1" {
		t.Errorf("task %s, landed %+v", s.Task.State, s.Task.Land)
	}
	if got := strings.Join(w.calls, " "); got != "s1 s2" {
		t.Errorf("calls %s", got)
	}
	b.verifyAudit()
}

func TestRepairThenDone(t *testing.T) {
	w := &world{plan: twoSteps(), failChecks: 1}
	b := approved(t, w)
	b.wantStates("PLANNING CONFIRMING EXECUTING AUTO_FIX EXECUTING ARCHIVING IDLE")
	if got := strings.Join(w.calls, " "); got != "s1 s2 fix1-1" {
		t.Errorf("calls %s", got)
	}
	b.verifyAudit()
}

func TestFuseAfterExactlyThreeFailedFixes(t *testing.T) {
	for name, w := range map[string]*world{
		"repairs that do not help": {plan: twoSteps(), failChecks: 99},
		"no repair known":          {plan: twoSteps(), failChecks: 99, noRepair: true},
	} {
		t.Run(name, func(t *testing.T) {
			b := approved(t, w)
			b.wantStates("PLANNING CONFIRMING EXECUTING AUTO_FIX BLOCKED")
			s := b.look()
			if w.repairs != 3 || s.Session.AutoFix != 3 || s.Task.Exit != "retry_exhausted" ||
				s.Task.State != "failed" || s.Session.Blocked.Kind != kernel.BlockedFuse {
				t.Errorf("%d repairs, session %+v, task %s %s", w.repairs, s.Session, s.Task.State, s.Task.Exit)
			}
			b.verifyAudit()
		})
	}
}

func TestStepFailureIsRepairedAndRetried(t *testing.T) {
	w := &world{plan: twoSteps(), failCall: 1}
	b := approved(t, w)
	b.wantStates("PLANNING CONFIRMING EXECUTING AUTO_FIX EXECUTING ARCHIVING IDLE")
	if got := strings.Join(w.calls, " "); got != "s1 fix1-1 s1 s2" {
		t.Errorf("calls %s", got)
	}
}

func TestFixSkipRollbackOutOfBlocked(t *testing.T) {
	t.Run("fix", func(t *testing.T) {
		w := &world{plan: twoSteps(), failChecks: 4}
		b := approved(t, w)
		b.do(&recovery.Fix{Note: "I mended it"})
		b.run(w.answer)
		b.wantStates("PLANNING CONFIRMING EXECUTING AUTO_FIX BLOCKED EXECUTING ARCHIVING IDLE")
		b.verifyAudit()
	})
	t.Run("skip", func(t *testing.T) {
		w := &world{plan: twoSteps(), failChecks: 99}
		b := approved(t, w)
		b.do(&recovery.Skip{})
		b.run(w.answer)
		b.wantStates("PLANNING CONFIRMING EXECUTING AUTO_FIX BLOCKED EXECUTING ARCHIVING IDLE")
	})
	t.Run("rollback", func(t *testing.T) {
		w := &world{plan: twoSteps(), failChecks: 99}
		b := approved(t, w)
		b.do(&recovery.Rollback{})
		b.run(w.answer)
		b.wantStates("PLANNING CONFIRMING EXECUTING AUTO_FIX BLOCKED IDLE")
	})
}

// TestRollbackWhileALandingIsHalfDone: a rollback that leaves branch and files apart is none, and may be asked for again.
func TestRollbackWhileALandingIsHalfDone(t *testing.T) {
	w := &world{plan: twoSteps(), failChecks: 99, apart: 1}
	b := approved(t, w)
	b.do(&recovery.Rollback{})
	b.run(w.answer)
	if s := b.look(); s.Session.State != "BLOCKED" || s.Session.Blocked.Error.Key != "land.apart" {
		t.Fatalf("%s: %+v", s.Session.State, s.Session.Blocked)
	}
	b.do(&recovery.Rollback{})
	b.run(w.answer)
	b.wantStates("PLANNING CONFIRMING EXECUTING AUTO_FIX BLOCKED IDLE")
	b.verifyAudit()
}

func TestGateFailureUsesTheRetryBudget(t *testing.T) {
	w := &world{plan: twoSteps(), failGates: 1}
	b := approved(t, w)
	b.wantStates("PLANNING CONFIRMING EXECUTING AUTO_FIX EXECUTING ARCHIVING IDLE")
	w = &world{plan: twoSteps(), failGates: 99}
	b = approved(t, w)
	s := b.look()
	if s.Session.State != "BLOCKED" || s.Task.State != "failed" || s.Task.Exit != "retry_exhausted" || w.gateRuns != 3 {
		t.Errorf("session %s, task %s %s after %d gate runs", s.Session.State, s.Task.State, s.Task.Exit, w.gateRuns)
	}
	b.verifyAudit()
}

func TestDenyReviseEdit(t *testing.T) {
	w := &world{plan: twoSteps()}
	b := proposed(t, w)
	b.do(&approval.Deny{Reason: "no"})
	b.wantStates("PLANNING CONFIRMING IDLE")
	b = proposed(t, w)
	b.do(&planning.Revise{Feedback: "smaller"})
	b.run(w.answer)
	b.wantStates("PLANNING CONFIRMING IDLE PLANNING CONFIRMING")
	if got := b.look().Run.Feedback; len(got) != 1 || got[0] != "smaller" {
		t.Errorf("feedback %v", got)
	}
	b = proposed(t, w)
	s := b.look()
	edited := s.Solution.Plan.Clone()
	edited.Goal = "do other work"
	b.do(&planning.EditPlan{Plan: edited, Base: s.Solution.Hash})
	if _, err := b.try(&approval.Approve{Hash: s.Solution.Hash}); pawl.CodeOf(err) != pawl.CodeApprovalStale {
		t.Errorf("approving the old hash: %v", err)
	}
	b.do(&approval.Approve{Hash: b.look().Solution.Hash})
	b.verifyAudit()
}

func TestUnknownOutcomeBecomesAQuestion(t *testing.T) {
	w := &world{plan: twoSteps()}
	b := proposed(t, w)
	b.do(&approval.Approve{Hash: b.look().Solution.Hash})
	for {
		s := b.look()
		if s.Effect != nil && s.Effect.What() == effect.KindTool && s.Effect.State == kernel.EffectPending {
			break
		}
		b.act(w.answer)
	}
	id := b.look().Effect.ID
	b.do(&effects.Begin{Effect: id, Owner: "r1"})
	b.do(&effects.Recover{Effect: id, Answer: effect.DoneUnknown})
	s := b.look()
	if s.Session.State != "BLOCKED" || s.Session.Blocked.Kind != kernel.BlockedQuestion || s.Task.State != "blocked" {
		t.Fatalf("session %s, task %s", s.Session.State, s.Task.State)
	}
	if _, err := b.try(&recovery.Fix{}); pawl.CodeOf(err) != pawl.CodeBlocked {
		t.Errorf("fix without an answer: %v", err)
	}
	b.do(&recovery.Fix{Answer: kernel.AnswerDone})
	b.run(w.answer)
	if got := strings.Join(w.calls, " "); got != "s2" {
		t.Errorf("calls after the answer: %s", got)
	}
	b.verifyAudit()
}

func TestEnvironmentBlocksAtOnce(t *testing.T) {
	for name, w := range map[string]*world{"check": {failChecks: 1}, "gate": {failGates: 1}} {
		t.Run(name, func(t *testing.T) {
			w.plan, w.environment = twoSteps(), true
			b := approved(t, w)
			b.wantStates("PLANNING CONFIRMING EXECUTING BLOCKED")
			s := b.look()
			if s.Session.Blocked.Kind != kernel.BlockedEnvironment || w.repairs != 0 || s.Task.Retry.Count != 0 {
				t.Errorf("%+v, %d repairs, %d retries for a broken environment", s.Session.Blocked, w.repairs,
					s.Task.Retry.Count)
			}
			b.do(&recovery.Fix{Note: "installed it"})
			b.run(w.answer)
			if s := b.look(); s.Session.State != "IDLE" {
				t.Errorf("session %s", s.Session.State)
			}
		})
	}
}

func TestStopCancelPause(t *testing.T) {
	w := &world{plan: twoSteps()}
	until := func(b *bench, kind effect.Kind) {
		for n := 0; n < 50; n++ {
			if s := b.look(); s.Effect != nil && s.Effect.What() == kind && s.Effect.State == kernel.EffectPending {
				return
			}
			b.act(w.answer)
		}
		t.Fatalf("never came to %s", kind)
	}
	b := proposed(t, w)
	b.do(&approval.Approve{Hash: b.look().Solution.Hash})
	until(b, effect.KindTool)
	b.do(&recovery.Stop{})
	if s := b.look(); s.Session.State != "BLOCKED" || s.Task.Exit != "user_stopped" {
		t.Errorf("after stop: %s %s", s.Session.State, s.Task.Exit)
	}
	b.do(&recovery.Fix{})
	b.run(w.answer)
	if s := b.look(); s.Session.State != "IDLE" {
		t.Errorf("after stop and fix: %s", s.Session.State)
	}
	b = proposed(t, w)
	b.do(&approval.Approve{Hash: b.look().Solution.Hash})
	until(b, effect.KindTool)
	b.do(&control.CancelRun{Reason: "changed my mind"})
	b.run(w.answer)
	s, _ := b.k.TaskSnapshot(context.Background(), "T-001")
	if s.Task.State != "canceled" || s.Task.Cleanup == nil || len(s.Task.Cleanup.Performed) == 0 ||
		b.look().Session.State != "IDLE" {
		t.Errorf("after cancel: task %s, cleanup %+v, session %s", s.Task.State, s.Task.Cleanup, b.look().Session.State)
	}
	b.verifyAudit()
	b = proposed(t, w)
	b.do(&approval.Approve{Hash: b.look().Solution.Hash})
	until(b, effect.KindTool)
	b.do(&control.Pause{})
	if _, err := b.try(&effects.Begin{Effect: b.look().Effect.ID, Owner: "r1"}); pawl.CodeOf(err) != pawl.CodeBusy {
		t.Errorf("begin while paused: %v", err)
	}
	b.do(&control.Resume{})
	b.run(w.answer)
	if s := b.look(); s.Session.State != "IDLE" {
		t.Errorf("after pause and resume: %s", s.Session.State)
	}
}

func TestUndoRedo(t *testing.T) {
	w := &world{plan: twoSteps()}
	b := approved(t, w)
	b.do(&recovery.Undo{})
	b.run(w.answer)
	if _, err := b.try(&recovery.Undo{}); pawl.CodeOf(err) != pawl.CodeNotFound {
		t.Errorf("undo twice: %v", err)
	}
	b.do(&recovery.Redo{})
	b.run(w.answer)
	if _, err := b.try(&recovery.Redo{}); pawl.CodeOf(err) != pawl.CodeNotFound {
		t.Errorf("redo twice: %v", err)
	}
	b.verifyAudit()
}
