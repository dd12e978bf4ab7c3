// Package verification proves what was done: the checks of a turn, the gates of a task, and its landing.
package verification

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strings"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/audit"
	"pawl/kernel/effect"
	"pawl/machine/board"
	"pawl/machine/task"
	"pawl/machine/turn"
	"pawl/machine/workflow"
	"pawl/text/display"
	"pawl/text/plan"
	"pawl/text/policy"
)

// ChecksDone takes the result of a turn's verification.
func ChecksDone(tx *kernel.Tx, r effect.Receipt) error {
	t := tx.Task
	if spec, err := effect.Decode[effect.VerifySpec](tx.Effect.Effect.Spec); err == nil && spec.At != "" {
		return lookedBack(tx, spec.At, r)
	}
	result, err := effect.Decode[effect.VerifyResult](r.Result)
	if err != nil {
		return kernel.Block(tx, kernel.BlockedEnvironment, "", kernel.FirstError(r.Err(), err))
	}
	result.Outcomes = compared(t, result.Outcomes)
	t.Verified, t.Tree = &result, result.TreeAfter
	tx.Touch(t)
	tx.Record(t, kernel.AuditVerificationResult, kernel.Level(result.Passed), summary(result))
	if t.State == string(task.Verifying) {
		return verifiedAgain(tx, result, r)
	}
	for _, o := range result.Outcomes {
		if missingMachine(o) {
			return kernel.Block(tx, kernel.BlockedEnvironment, "",
				kernel.FirstError(r.Err(), pawl.Fail(pawl.CodeEnvironment, "verify.environment", o.Name)))
		}
	}
	if err := kernel.Take(tx, kernel.ThenMeasure); err != nil {
		return err
	}
	switch {
	case len(kernel.RefusedOf(&result)) > 0:
		return changeRefused(tx, result)
	case result.Passed && asksOfTests(tx, result):
		return nil
	case result.Passed || !t.Plan.Verification.Required:
		return testsCompared(tx, nil)
	case looksBack(tx, result):
		return nil
	}
	return checksFailed(tx, result)
}

// testsCompared goes on after a passing verification, with what the doubtful checks said on what the work started from,
// nil where nothing was asked. A check that has lost a test has failed.
func testsCompared(tx *kernel.Tx, before []effect.CheckOutcome) error {
	v := *tx.Task.Verified
	v.Outcomes = slices.Clone(v.Outcomes)
	var all []string
	for i := range v.Outcomes {
		o := &v.Outcomes[i]
		at := slices.IndexFunc(before, func(b effect.CheckOutcome) bool {
			return effect.CheckKey(b.Check) == effect.CheckKey(o.Check)
		})
		if at < 0 || o.Tests == nil || before[at].Environment {
			continue
		}
		if o.Lost = lost(*o.Tests, before[at].Tests); len(o.Lost) > 0 {
			o.Status = effect.CheckFailed
			all = append(all, o.Lost...)
		}
	}
	if len(all) == 0 {
		return prove(tx)
	}
	sum := sha256.Sum256([]byte(strings.Join(all, "\n")))
	v.Passed, v.Fingerprint = false, hex.EncodeToString(sum[:])
	tx.Record(tx.Task, kernel.AuditVerificationResult, kernel.Level(false), summary(v))
	return checksFailed(tx, v)
}

// canLookBack reports whether checks can be run on what the work started from: a commit, in a worktree of its own.
func canLookBack(t *kernel.Task) bool { return !t.Place.InPlace && t.Place.Git && t.Base != "" }

// changeRefused sends work back that the policy denies, whatever its checks say.
func changeRefused(tx *kernel.Tx, result effect.VerifyResult) error {
	t, why := tx.Task, refusal(&result)
	kept := result
	kept.Passed = false
	t.Verified = &kept
	if err := tx.Apply(kernel.CheckFailed, why.Error()); err != nil {
		return err
	}
	f := effect.Failure{What: "policy", Class: pawl.ClassPolicyDenied, Code: pawl.CodeDenied, Tree: result.Tree,
		Key: why.Key, Args: []string{why.Args[0].(string)}, Output: why.Args[0].(string)}
	return kernel.FailWork(tx, f)
}

// refusal is why the change that was verified cannot land, nil where it can.
func refusal(v *effect.VerifyResult) *pawl.Error {
	var all []string
	for _, f := range kernel.RefusedOf(v) {
		all = append(all, display.Line(f.Path)+" ("+string(f.Code)+")")
	}
	if len(all) == 0 {
		return nil
	}
	return pawl.Fail(pawl.CodeDenied, "kernel.change_denied", kernel.Clip(strings.Join(all, ", ")))
}

// looksBack has the checks that failed first run on what the work started from, where that is a commit. Whoever repairs
// or judges the failure should know whether the work has anything to do with it.
func looksBack(tx *kernel.Tx, result effect.VerifyResult) bool {
	t := tx.Task
	if t.LookedBack || !canLookBack(t) {
		return false
	}
	var failing []effect.Check
	for _, o := range result.Outcomes {
		if o.Failed() && o.Command != "" && o.Fingerprint != "" {
			failing = append(failing, o.Check)
		}
	}
	if len(failing) == 0 || remembers(tx, failing) {
		return false
	}
	tx.Emit(effect.KindVerify, effect.VerifySpec{Checks: failing, Required: true, PerCheck: tx.Config.PerCheck,
		At: t.Base}, true)
	return true
}

// remembers takes what failed before the work began from what is known of its base, where that is known of all these
// checks, so that nothing is run twice.
func remembers(tx *kernel.Tx, failing []effect.Check) bool {
	t := tx.Task
	before := map[string]string{}
	for _, c := range failing {
		failure, known := t.Baseline.Of(c)
		if !known {
			return false
		}
		if failure != "" {
			before[c.Name] = failure
		}
	}
	t.LookedBack, t.FailingBefore = true, before
	tx.Touch(t)
	return true
}

// compared says of each outcome what the check said of the tree that the work started from.
func compared(t *kernel.Task, outcomes []effect.CheckOutcome) []effect.CheckOutcome {
	out := slices.Clone(outcomes)
	for i := range out {
		o := &out[i]
		failure, known := t.Baseline.Of(o.Check)
		switch _, failed := t.FailingBefore[o.Name]; {
		case failed || known && failure != "":
			o.Before = effect.CheckFailed
		case known:
			o.Before = effect.CheckPassed
		}
	}
	return out
}

// lookedBack notes which checks failed before the work began. What could not be found out stays open.
func lookedBack(tx *kernel.Tx, at string, r effect.Receipt) error {
	t := tx.Task
	asked := t.Verified.Passed // what failed was not looked at then
	t.LookedBack = t.LookedBack || !asked
	tx.Touch(t)
	result, err := effect.Decode[effect.VerifyResult](r.Result)
	if err == nil {
		t.FailingBefore = map[string]string{}
		for _, o := range result.Outcomes {
			if o.Failed() && !o.Environment {
				t.FailingBefore[o.Name] = o.Fingerprint
			}
		}
		tx.Session.Known = tx.Session.Known.With(result, tx.Now)
		tx.Touch(tx.Session)
		if known := tx.Session.Known.Of(result.Tree); known != nil {
			t.Baseline = known
		}
	}
	data := summary(result)
	data["at"], data["failing_before"] = at, failingBefore(marked(t, t.Verified.Outcomes))
	tx.Record(t, kernel.AuditCheckedBefore, audit.Info, data)
	if asked {
		return testsCompared(tx, result.Outcomes)
	}
	return checksFailed(tx, *t.Verified)
}

// failingBefore names the checks that failed before the work began.
func failingBefore(outcomes []effect.CheckOutcome) []string {
	out := []string{}
	for _, o := range outcomes {
		if o.FailingBefore {
			out = append(out, o.Name)
		}
	}
	return out
}

// marked marks the outcomes that failed in the same way before the work began.
func marked(t *kernel.Task, outcomes []effect.CheckOutcome) []effect.CheckOutcome {
	out := slices.Clone(outcomes)
	for i := range out {
		o := &out[i]
		o.FailingBefore = o.Failed() && o.Fingerprint != "" && t.FailingBefore[o.Name] == o.Fingerprint
	}
	return out
}

// checksFailed takes a failed verification to its repair.
func checksFailed(tx *kernel.Tx, result effect.VerifyResult) error {
	t := tx.Task
	result.Outcomes = compared(t, marked(t, result.Outcomes))
	t.Verified = &result
	tx.Touch(t)
	f := effect.Failure{What: "verification", Class: pawl.ClassBuildFail, Code: pawl.CodeChecksFailed,
		Fingerprint: result.Fingerprint, Tree: result.Tree, Checks: result.Outcomes}
	for _, o := range result.Outcomes {
		if o.Failed() {
			if f.What, f.Output = o.Name, kernel.Clip(o.Output); len(o.Lost) > 0 {
				f.Key, f.Args, f.Output = "kernel.tests_lost", []string{strings.Join(o.Lost, ", ")}, ""
			}
			break
		}
	}
	if err := tx.Apply(kernel.CheckFailed, f.What); err != nil {
		return err
	}
	return kernel.FailWork(tx, f)
}

// summary is what the audit keeps of a verification: everything but the outputs, whose digests stand for them.
func summary(v effect.VerifyResult) map[string]any {
	outcomes := make([]map[string]any, 0, len(v.Outcomes))
	for _, o := range v.Outcomes {
		line := map[string]any{
			"gate_name": o.Name, "command": o.Command, "status": o.Status, "exit_code": o.ExitCode,
			"duration_ms": o.DurationMS, "output_digest": o.Digest,
		}
		if o.LeftOut() {
			line["missing"] = o.Missing
		}
		if o.Before != "" {
			line["before"] = o.Before
		}
		if o.Tests != nil {
			line["tests"] = map[string]any{"runner": o.Tests.Runner, "passed": o.Tests.Passed, "failed": o.Tests.Failed,
				"skipped": o.Tests.Skipped, "silent": len(o.Tests.Silent), "whole": o.Tests.Whole}
		}
		if len(o.Lost) > 0 {
			line["lost"] = o.Lost
		}
		outcomes = append(outcomes, line)
	}
	out := map[string]any{"passed": v.Passed, "tree": v.Tree, "env_digest": v.EnvDigest, "gates_executed": outcomes,
		"tampered": v.Tampered}
	if len(v.Found) > 0 {
		out["policy"] = v.Found[:min(len(v.Found), maxMet)]
	}
	if len(v.Dependencies) > 0 {
		out["dependencies"] = v.Dependencies
	}
	return out
}

// passedUnlessTouched lets a verification count, after a person has approved that the work changed what it is judged
// by. A run that nobody attends waits for its person just the same (docs/spec/task.md#d7).
func passedUnlessTouched(tx *kernel.Tx) error {
	t := tx.Task
	files, hash := kernel.Touched(t, t.Verified)
	if len(files) == 0 {
		return judged(tx)
	}
	if tx.Session.RunMode == pawl.Autonomous {
		tx.Record(t, kernel.AuditAutonomousBlocked, audit.Warn,
			map[string]any{"checkpoint": "checks_touched", "files": files})
	}
	tx.Turn.Return = string(turn.Verifying)
	tx.Touch(tx.Turn)
	kernel.AskFor(tx, kernel.AboutChecks, t.ID, hash, policy.SingleAction, strings.Join(files, ", "))
	return tx.Apply(kernel.ChecksAsk, "the work changed "+strings.Join(files, ", "))
}

// judged goes on after a verification that counts.
func judged(tx *kernel.Tx) error {
	if tx.Task.Verified.Passed {
		return checksPassed(tx, kernel.ChecksPassed, "the checks passed")
	}
	return checksPassed(tx, kernel.ChecksTolerated, "only checks that are not required failed")
}

// ChecksAllowed goes on after a person approved the change of the checks.
func ChecksAllowed(tx *kernel.Tx, a *kernel.Approval) error {
	tx.Task.Accepted, tx.Session.Approval = a.Hash, ""
	tx.Touch(tx.Task)
	if err := tx.Apply(kernel.ChecksAllowed, "allowed by "+string(tx.Env.Actor)); err != nil {
		return err
	}
	tx.Turn.Return = ""
	return judged(tx)
}

// ChecksRefused has the change of the checks repaired: what passed with it proves nothing.
func ChecksRefused(tx *kernel.Tx, a *kernel.Approval, reason string) error {
	tx.Session.Approval, tx.Task.Verified = "", nil
	if err := tx.Apply(kernel.ChecksRefused, reason); err != nil {
		return err
	}
	tx.Turn.Return = ""
	return kernel.FailWork(tx, effect.Failure{
		What: "checks changed: " + a.Detail, Class: pawl.ClassPolicyDenied, Code: pawl.CodeUserDenied,
		Key: "kernel.checks_refused", Args: []string{a.Detail}, Output: reason,
	})
}

// checksPassed ends the turn and hands the task to its gates.
func checksPassed(tx *kernel.Tx, what kernel.Event, reason string) error {
	tx.Turn.Outcome = string(turn.OutcomeDone)
	tx.Task.Cursor.Failed, tx.Task.GateNote = "", ""
	if tx.Turn.Fix > 0 {
		learn(tx)
	}
	kernel.FixHeld(tx)
	return tx.Apply(what, reason)
}

// RunGates asks for the task's gates on the tree that the turn verified, minus what its verification has proven already
// on that very tree.
func RunGates(tx *kernel.Tx) error {
	t := tx.Task
	if t.Gate != nil && t.Gate.Passed && t.Gate.Tree == t.Tree {
		toBranch(tx)
		return nil
	}
	var checks []effect.Check
	for _, name := range t.Gates {
		if err := kernel.AskGate(tx, t, name); err != nil {
			return kernel.FailGates(tx, kernel.BlockedFuse, err)
		}
		checks = append(checks, effect.Check{Name: name, Kind: "gate"})
	}
	spec := checksOf(tx, t)
	spec.Checks, spec.StopOnFail, spec.Required = checks, true, true
	tx.Emit(effect.KindGates, spec, true).Effect.Record = t.Place.InPlace
	return nil
}

// GatesDone takes the result of the gates. A gate that failed sends the task back to the queue while the retry budget
// lasts, and ends it otherwise (docs/spec/task.md#d5).
func GatesDone(tx *kernel.Tx, r effect.Receipt) error {
	if tx.Run == nil {
		return gatedAlone(tx, r)
	}
	t := tx.Task
	result, err := effect.Decode[effect.VerifyResult](r.Result)
	if err != nil {
		return kernel.FailGates(tx, kernel.BlockedFuse, kernel.FirstError(r.Err(), err))
	}
	retry := keepGates(tx, result)
	if why := refusal(&result); why != nil {
		return kernel.FailGates(tx, kernel.BlockedFuse, why)
	}
	if files, _ := kernel.Touched(t, &result); len(files) > 0 {
		return kernel.FailGates(tx, kernel.BlockedFuse, pawl.Fail(pawl.CodeApprovalNeeded, "machine.gate_checks_kept",
			strings.Join(files, ", ")))
	}
	verified := result.TreeAfter
	if t.Verified != nil && verified == result.Tree {
		verified = t.Verified.TreeAfter
	}
	if result.Passed && result.Tree == verified {
		t.Tree = result.Tree
		tx.Then(kernel.ThenAdvance)
		return nil
	}
	if result.Passed {
		return kernel.FailGates(tx, kernel.BlockedFuse, pawl.Fail(pawl.CodeGate, "kernel.tree_changed", result.Tree,
			verified))
	}
	failure := kernel.FirstError(r.Err(), pawl.Fail(pawl.CodeChecksFailed, "kernel.gate_failed", result.FailedNames()))
	if r.Code == pawl.CodeEnvironment || slices.ContainsFunc(result.Outcomes, missingMachine) {
		// the machine does not mend itself (docs/spec/session.md#a13)
		return kernel.FailGates(tx, kernel.BlockedEnvironment, failure)
	}
	if !retry {
		return kernel.FailGates(tx, kernel.BlockedFuse, failure)
	}
	return gatesRetry(tx, failure)
}

// keepGates keeps the result of the gates with the task, and returns whether every failed gate may be retried.
func keepGates(tx *kernel.Tx, result effect.VerifyResult) (retry bool) {
	tx.Task.Gate = &result
	tx.Touch(tx.Task)
	tx.Record(tx.Task, kernel.AuditGateVerificationResult, kernel.Level(result.Passed), summary(result))
	return gateResults(tx, result)
}

// gatedAlone takes the result of the gates of a task outside a run. Whoever moves the task by hand has the evidence
// with that, and makes the move. Where the task's runner asked for the gates and all of them passed, the task is
// verified and closed. Where the task has got another lease since, they say nothing about what its runner does.
func gatedAlone(tx *kernel.Tx, r effect.Receipt) error {
	t, lease := tx.Task, tx.Effect.Lease()
	if lease != 0 && lease != t.Epoch {
		return nil
	}
	result, err := effect.Decode[effect.VerifyResult](r.Result)
	if err != nil {
		t.GateNote = kernel.FirstError(r.Err(), err).Error()
		tx.Touch(t)
		return nil
	}
	keepGates(tx, result)
	if lease == 0 || !result.Passed || t.State != string(task.Verifying) {
		return nil
	}
	for _, what := range []kernel.Event{kernel.Proven, kernel.Closed} {
		if err := tx.Apply(what, "every gate passed on tree "+kernel.Short(result.Tree)); err != nil {
			// The gates have run, whatever a mode thinks of closing the task: that is somebody else's move then.
			t.GateNote = err.Error()
			return nil
		}
	}
	t.EndedAt = tx.Now
	return nil
}

// gateResults tells the task's mode of each outcome and returns whether every failed gate may be retried.
func gateResults(tx *kernel.Tx, v effect.VerifyResult) bool {
	m, err := tx.Config.ModeOf(tx.Task.Mode)
	if err != nil {
		return false
	}
	retry := true
	for _, o := range v.Outcomes {
		verdict := kernel.Guarded(func() kernel.Verdict {
			if again := m.GateResult(kernel.ModeTaskOf(tx, tx.Task), o); !again && o.Status != effect.CheckPassed {
				return kernel.Verdict{Decision: kernel.Rejected}
			}
			return kernel.Verdict{Decision: kernel.Approved}
		})
		retry = retry && verdict.Decision == kernel.Approved
	}
	return retry
}

func gatesRetry(tx *kernel.Tx, failure error) error {
	t := tx.Task
	t.GateNote = failure.Error()
	t.Retry.Because("gate: " + t.GateNote)
	r, _ := task.Table.Next(task.Verifying, task.GateFail, "")
	if task.Admit(r, kernel.TaskEvidence(tx, t, r)) != nil {
		t.Exit = string(task.ExitRetryExhausted)
		return kernel.FailGates(tx, kernel.BlockedFuse, failure)
	}
	if err := tx.Apply(kernel.GatesRetried, t.GateNote); err != nil {
		return err
	}
	kernel.CountRetry(tx, t, tx.Config.Retry.Delay(t.Retry.Count+1))
	return nil
}

// missingMachine reports whether a check did not pass because of the machine that it ran on.
func missingMachine(o effect.CheckOutcome) bool {
	return o.Environment && o.Status != effect.CheckPassed
}

// toBranch lands the verified tree. An issue of the board is one of many whose work lands on the same branch: it is
// brought onto what the branch has become first.
func toBranch(tx *kernel.Tx) {
	t := tx.Task
	if tx.Session.Number == 0 || t.Place.InPlace || t.Branch == "" || t.UpToDate {
		land(tx)
		return
	}
	tx.Emit(effect.KindRebase, effect.RebaseSpec{Branch: t.Branch, Base: t.Base, Tree: t.Tree}, true)
}

// RebaseDone lands the work where the branch is still what the gates ran on. Otherwise what has come out of the merge
// is verified as a whole before it may land.
func RebaseDone(tx *kernel.Tx, r effect.Receipt) error {
	t := tx.Task
	result, err := effect.Decode[effect.RebaseResult](r.Result)
	if !r.OK || err != nil {
		return kernel.FailGates(tx, kernel.BlockedEnvironment, kernel.FirstError(r.Err(), err))
	}
	if len(result.Conflicts) > 0 {
		var at []string
		for _, c := range result.Conflicts {
			at = append(at, c.Path+" ("+string(c.Kind)+")")
			if i := tx.Issue; !slices.Contains(i.ConflictFiles, c.Path) && len(i.ConflictFiles) < maxMet {
				i.ConflictFiles = append(slices.Clip(i.ConflictFiles), c.Path)
				tx.Touch(i)
			}
		}
		tx.Record(t, kernel.AuditLandingConflict, audit.Warn,
			map[string]any{"onto": result.Onto, "conflicts": result.Conflicts})
		failure := pawl.Fail(pawl.CodeConflict, "kernel.landing_conflict", t.Branch, strings.Join(at, ", "))
		if len(t.Once) > 0 {
			failure = pawl.Fail(pawl.CodeConflict, "kernel.landing_conflict_once", t.Branch, strings.Join(at, ", "),
				strings.Join(t.Once, ", "))
		}
		return kernel.FailGates(tx, kernel.BlockedDependency,
			failure.Because(errors.New(conflictText(result.Conflicts))))
	}
	if t.UpToDate = true; !result.Moved {
		tx.Touch(t)
		land(tx)
		return nil
	}
	tx.Record(t, kernel.AuditResultRebased, audit.Info,
		map[string]any{"from": t.Base, "onto": result.Base, "tree": result.Tree})
	t.Base, t.Tree, t.Gate, t.Moved = result.Base, result.Tree, nil, true
	tx.Touch(t)
	tx.Emit(effect.KindVerify, checksOf(tx, t), true)
	return nil
}

// maxMet bounds the files that are remembered of conflicts.
const maxMet = 200

// maxConflict bounds what is told of conflicts, in bytes.
const maxConflict = 8 << 10

func conflictText(list []effect.Conflict) string {
	var b strings.Builder
	for _, c := range list {
		if c.Detail != "" && b.Len()+len(c.Detail) < maxConflict {
			b.WriteString(c.Path + ":\n" + c.Detail + "\n")
		}
	}
	return strings.TrimSpace(b.String())
}

// checksOf are the checks of the plan, to be run on the task's tree.
func checksOf(tx *kernel.Tx, t *kernel.Task) effect.VerifySpec {
	spec := effect.VerifySpec{
		Measure: tx.Flow != nil && tx.Flow.Stage == workflow.Tweak,
		Checks:  t.Checks, StopOnFail: t.Plan.Verification.StopOnFail, Required: t.Plan.Verification.Demanding(),
		PerCheck: tx.Config.PerCheck, Twice: tx.Config.Twice,
		Pinned: t.Pinned, Base: started(t), Moved: t.Moved,
	}
	if t.Moved {
		spec.Base = t.Base
	}
	return spec
}

// verifiedAgain takes the verification of work that was brought onto another base. What does not hold there is repaired
// like any failure of a gate.
func verifiedAgain(tx *kernel.Tx, result effect.VerifyResult, r effect.Receipt) error {
	switch why := refusal(&result); {
	case why != nil:
		return kernel.FailGates(tx, kernel.BlockedFuse, why)
	case result.Passed || !tx.Task.Plan.Verification.Required:
		return RunGates(tx)
	case r.Code == pawl.CodeEnvironment || slices.ContainsFunc(result.Outcomes, missingMachine):
		return kernel.FailGates(tx, kernel.BlockedEnvironment,
			kernel.FirstError(r.Err(), pawl.Fail(pawl.CodeEnvironment, "verify.environment", result.FailedNames())))
	}
	return gatesRetry(tx, kernel.FirstError(r.Err(),
		pawl.Fail(pawl.CodeChecksFailed, "kernel.gate_failed", result.FailedNames())))
}

// land asks to land the verified tree. Everything that can fail happens before VERIFIED (docs/spec/task.md#d4).
func land(tx *kernel.Tx) {
	t := tx.Task
	base := "pawl/" + t.Label
	spec := effect.LandSpec{
		Tree: t.Tree, Base: t.Base, Branch: t.Branch, Keep: base, Subject: kernel.FirstLine(t.Title), Body: landBody(t),
		Trailers: []string{"Pawl-Task: " + t.ID, "Pawl-Plan: " + t.PlanHash, "Pawl-Trace: " + tx.Trace}, At: tx.Now,
	}
	if t.Proof != nil {
		spec.Trailers = append(spec.Trailers, "Pawl-Proof: "+proofLine(t.Proof))
	}
	if t.Place.InPlace && t.Checkpoint != nil {
		spec.Start = t.Checkpoint.Tree
	}
	spec.Current = tx.Session.Number > 0
	if tx.Config.PullRequests && !effect.OfPull(t.Branch) {
		spec.Branch, spec.Current = "", false // it stays on a branch of its own, and that is shared
	}
	t.UpToDate = false
	tx.Emit(effect.KindLand, spec, true)
}

func landBody(t *kernel.Task) string {
	body := ""
	for _, s := range t.Plan.Steps {
		if s.Status == plan.Done {
			body += "- " + s.Title + "\n"
		}
	}
	return body
}

// LandingDone closes the task: verified with its proof, then done, which is bookkeeping.
func LandingDone(tx *kernel.Tx, r effect.Receipt) error {
	result, err := effect.Decode[effect.LandResult](r.Result)
	if r.Key == "land.moved" {
		toBranch(tx) // somebody else landed first
		return nil
	}
	if r.Code == pawl.CodeEnvironment { // the work is proven, and lands once a person has mended what is in its way
		return kernel.FailGates(tx, kernel.BlockedEnvironment, r.Err())
	}
	if !r.OK || err != nil {
		tx.Task.Exit = string(task.ExitFatalError)
		return kernel.FailGates(tx, kernel.BlockedFuse, kernel.FirstError(r.Err(), err))
	}
	t := tx.Task
	if tx.Config.PullRequests && result.Reason == "land.kept_detached" {
		result.Reason = "land.kept_pull" // no branch was asked for
	}
	t.Land, tx.Run.Land = &result, &result
	tx.Touch(t)
	tx.Touch(tx.Run)
	tx.Record(t, kernel.AuditResultAs.In(string(result.Outcome)), audit.Info, map[string]any{
		"commit": result.Commit, "tree": result.Tree, "branch": result.Branch, "reason": result.Reason,
	})
	if err := tx.Apply(kernel.Proven, "every gate passed on tree "+kernel.Short(result.Tree)); err != nil {
		return err
	}
	if err := tx.Apply(kernel.Closed, string(result.Outcome)); err != nil {
		return err
	}
	t.EndedAt = tx.Now
	if t.Verified != nil {
		tx.Session.Known = tx.Session.Known.With(*t.Verified, tx.Now)
		tx.Touch(tx.Session)
	}
	tx.Run.Outcome = string(board.IssueCompleted)
	tx.Issue.ExecutedAt, tx.Issue.Landed = tx.Now, result.Branch
	tx.Touch(tx.Issue)
	if tx.Config.PullRequests && result.Commit != "" {
		tx.Then(kernel.ThenPropose)
		return nil
	}
	tx.Emit(effect.KindCleanup, effect.CleanupSpec{}, true)
	return nil
}

// started is the tree that the work started from, "" when it is not known.
func started(t *kernel.Task) string {
	if t.Checkpoint == nil {
		return ""
	}
	return t.Checkpoint.Tree
}

// learn keeps what mended a failure, for the agents of later failures of its kind (docs/spec/session.md#known-issues).
func learn(tx *kernel.Tx) {
	f := tx.Turn.Failure
	if f == nil || tx.Talk == nil || !kernel.TraitsOf(tx).Works {
		return
	}
	said := ""
	for _, m := range tx.Talk.Messages {
		if m.Role == effect.RoleAssistant && m.Text != "" {
			said = m.Text
		}
	}
	if said == "" {
		said = tx.Talk.Said
	}
	if strings.TrimSpace(said) == "" {
		return
	}
	i := &kernel.Incident{Type: string(f.Class), RootCause: f.What + " " + f.Fingerprint, Fix: kernel.FirstLine(said),
		Scope: tx.Task.Plan.Goal, By: pawl.By(pawl.KindAgent, tx.Talk.Agent)}
	tx.Create(i, kernel.KindIncident, "", tx.Session.ID, "")
	tx.Record(i, kernel.AuditErrorRecorded, audit.Info, i)
}

// RunChecks asks for the checks that the turn ends with.
func RunChecks(tx *kernel.Tx) error {
	tx.Emit(effect.KindVerify, checksOf(tx, tx.Task), true).Effect.Record = tx.Task.Place.InPlace
	return nil
}
