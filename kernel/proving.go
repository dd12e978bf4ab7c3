package kernel

import (
	"errors"
	"slices"
	"strings"
	"time"

	"pawl"
	"pawl/kernel/audit"
	"pawl/kernel/effect"
	"pawl/machine/board"
	"pawl/machine/task"
	"pawl/machine/turn"
	"pawl/machine/workflow"
	"pawl/text/plan"
	"pawl/text/policy"
)

// checksDone takes the result of a turn's verification.
func checksDone(tx *Tx, r effect.Receipt) error {
	t := tx.Task
	if spec, err := effect.Decode[effect.VerifySpec](tx.Effect.Effect.Spec); err == nil && spec.At != "" {
		return lookedBack(tx, spec.At, r)
	}
	result, err := effect.Decode[effect.VerifyResult](r.Result)
	if err != nil {
		return block(tx, BlockedEnvironment, "", firstError(r.Err(), err))
	}
	result.Outcomes = t.compared(result.Outcomes)
	t.Verified, t.Tree = &result, result.TreeAfter
	tx.touch(t)
	tx.record(t, AuditVerificationResult, level(result.Passed), summary(result))
	if t.State == string(task.Verifying) {
		return verifiedAgain(tx, result, r)
	}
	for _, o := range result.Outcomes {
		if missingMachine(o) {
			return block(tx, BlockedEnvironment, "",
				firstError(r.Err(), pawl.Fail(pawl.CodeEnvironment, "verify.environment", o.Name)))
		}
	}
	if err := changeMeasured(tx, result.Changed); err != nil {
		return err
	}
	switch {
	case result.Passed:
		return passedUnlessTouched(tx)
	case !t.Plan.Verification.Required:
		return passedUnlessTouched(tx)
	}
	if looksBack(tx, result) {
		return nil
	}
	return checksFailed(tx, result)
}

// looksBack has the checks that failed first run on what the work started from, where that is a commit. Whoever repairs
// or judges the failure should know whether the work has anything to do with it.
func looksBack(tx *Tx, result effect.VerifyResult) bool {
	t := tx.Task
	if t.LookedBack || t.Place.InPlace || !t.Place.Git || t.Base == "" {
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
	tx.emit(effect.KindVerify, effect.VerifySpec{Checks: failing, Required: true, PerCheck: tx.Config.PerCheck,
		At: t.Base}, true)
	return true
}

// remembers takes what failed before the work began from what is known of its base, where that is known of all these
// checks, so that nothing is run twice.
func remembers(tx *Tx, failing []effect.Check) bool {
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
	tx.touch(t)
	return true
}

// compared says of each outcome what the check said of the tree that the work started from.
func (t *Task) compared(outcomes []effect.CheckOutcome) []effect.CheckOutcome {
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
func lookedBack(tx *Tx, at string, r effect.Receipt) error {
	t := tx.Task
	t.LookedBack = true
	tx.touch(t)
	result, err := effect.Decode[effect.VerifyResult](r.Result)
	if err == nil {
		t.FailingBefore = map[string]string{}
		for _, o := range result.Outcomes {
			if o.Failed() && !o.Environment {
				t.FailingBefore[o.Name] = o.Fingerprint
			}
		}
		tx.Session.Known = tx.Session.Known.With(result, tx.now)
		tx.touch(tx.Session)
		if known := tx.Session.Known.Of(result.Tree); known != nil {
			t.Baseline = known
		}
	}
	data := summary(result)
	data["at"], data["failing_before"] = at, failingBefore(t.marked(t.Verified.Outcomes))
	tx.record(t, AuditCheckedBefore, audit.Info, data)
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
func (t *Task) marked(outcomes []effect.CheckOutcome) []effect.CheckOutcome {
	out := slices.Clone(outcomes)
	for i := range out {
		o := &out[i]
		o.FailingBefore = o.Failed() && o.Fingerprint != "" && t.FailingBefore[o.Name] == o.Fingerprint
	}
	return out
}

// checksFailed takes a failed verification to its repair.
func checksFailed(tx *Tx, result effect.VerifyResult) error {
	t := tx.Task
	result.Outcomes = t.compared(t.marked(result.Outcomes))
	t.Verified = &result
	tx.touch(t)
	f := effect.Failure{What: "verification", Class: pawl.ClassBuildFail, Code: pawl.CodeChecksFailed,
		Fingerprint: result.Fingerprint, Tree: result.Tree, Checks: result.Outcomes}
	for _, o := range result.Outcomes {
		if o.Failed() {
			f.What, f.Output = o.Name, clip(o.Output)
			break
		}
	}
	if err := tx.apply(CheckFailed, f.What); err != nil {
		return err
	}
	return workFailed(tx, f)
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
		outcomes = append(outcomes, line)
	}
	out := map[string]any{"passed": v.Passed, "tree": v.Tree, "env_digest": v.EnvDigest, "gates_executed": outcomes,
		"tampered": v.Tampered}
	if len(v.Dependencies) > 0 {
		out["dependencies"] = v.Dependencies
	}
	return out
}

// passedUnlessTouched lets a verification count, after a person has approved that the work changed what it is judged
// by. A run that nobody attends waits for its person just the same (docs/spec/task.md#d7).
func passedUnlessTouched(tx *Tx) error {
	t := tx.Task
	files, hash := touched(t, t.Verified)
	if len(files) == 0 {
		return judged(tx)
	}
	if tx.Session.RunMode == pawl.Autonomous {
		tx.record(t, AuditAutonomousBlocked, audit.Warn, map[string]any{"checkpoint": "checks_touched", "files": files})
	}
	tx.Turn.Return = string(turn.Verifying)
	tx.touch(tx.Turn)
	askFor(tx, aboutChecks, t.ID, hash, policy.SingleAction, strings.Join(files, ", "))
	return tx.apply(ChecksAsk, "the work changed "+strings.Join(files, ", "))
}

// judged goes on after a verification that counts.
func judged(tx *Tx) error {
	if tx.Task.Verified.Passed {
		return checksPassed(tx, ChecksPassed, "the checks passed")
	}
	return checksPassed(tx, ChecksTolerated, "only checks that are not required failed")
}

// checksAllowed goes on after a person approved the change of the checks.
func checksAllowed(tx *Tx, a *Approval) error {
	tx.Task.Accepted, tx.Session.Approval = a.Hash, ""
	tx.touch(tx.Task)
	if err := tx.apply(ChecksAllowed, "allowed by "+string(tx.env.Actor)); err != nil {
		return err
	}
	tx.Turn.Return = ""
	return judged(tx)
}

// checksRefused has the change of the checks repaired: what passed with it proves nothing.
func checksRefused(tx *Tx, a *Approval, reason string) error {
	tx.Session.Approval, tx.Task.Verified = "", nil
	if err := tx.apply(ChecksRefused, reason); err != nil {
		return err
	}
	tx.Turn.Return = ""
	return workFailed(tx, effect.Failure{
		What: "checks changed: " + a.Detail, Class: pawl.ClassPolicyDenied, Code: pawl.CodeUserDenied,
		Key: "kernel.checks_refused", Args: []string{a.Detail}, Output: reason,
	})
}

// checksPassed ends the turn and hands the task to its gates.
func checksPassed(tx *Tx, what Event, reason string) error {
	tx.Turn.Outcome = string(turn.OutcomeDone)
	tx.Task.Cursor.Failed, tx.Task.GateNote = "", ""
	if tx.Turn.Fix > 0 {
		learn(tx)
	}
	fixHeld(tx)
	return tx.apply(what, reason)
}

// runGates asks for the task's gates on the tree that the turn verified, minus what its verification has proven already
// on that very tree.
func runGates(tx *Tx) error {
	t := tx.Task
	if t.Gate != nil && t.Gate.Passed && t.Gate.Tree == t.Tree {
		toBranch(tx)
		return nil
	}
	m, err := tx.Config.modeOf(t.Mode)
	if err != nil {
		return gatesFailed(tx, BlockedFuse, err)
	}
	var checks []effect.Check
	for _, name := range t.Gates {
		if v := ask(func() Verdict { return m.ValidateGate(modeTask(tx, t), name) }); v.Decision != Approved {
			return gatesFailed(tx, BlockedFuse, pawl.Fail(pawl.CodeModeViolation, "kernel.mode_gate", t.ModeName(),
				name, v.Reason))
		}
		checks = append(checks, effect.Check{Name: name, Kind: "gate"})
	}
	spec := checksOf(tx, t)
	spec.Checks, spec.StopOnFail, spec.Required = checks, true, true
	tx.emit(effect.KindGates, spec, true).Effect.Record = t.Place.InPlace
	return nil
}

// gatesDone takes the result of the gates. A gate that failed sends the task back to the queue while the retry budget
// lasts, and ends it otherwise (docs/spec/task.md#d5).
func gatesDone(tx *Tx, r effect.Receipt) error {
	if tx.Run == nil {
		return gatedAlone(tx, r)
	}
	t := tx.Task
	result, err := effect.Decode[effect.VerifyResult](r.Result)
	if err != nil {
		return gatesFailed(tx, BlockedFuse, firstError(r.Err(), err))
	}
	retry := keepGates(tx, result)
	if files, _ := touched(t, &result); len(files) > 0 {
		return gatesFailed(tx, BlockedFuse, pawl.Fail(pawl.CodeApprovalNeeded, "machine.gate_checks_kept",
			strings.Join(files, ", ")))
	}
	if result.Passed && (t.Verified == nil || result.Tree == t.Verified.TreeAfter) {
		t.Tree = result.Tree
		tx.then(ThenAdvance)
		return nil
	}
	if result.Passed {
		return gatesFailed(tx, BlockedFuse, pawl.Fail(pawl.CodeGate, "kernel.tree_changed", result.Tree,
			t.Verified.TreeAfter))
	}
	failure := firstError(r.Err(), pawl.Fail(pawl.CodeChecksFailed, "kernel.gate_failed", result.FailedNames()))
	if r.Code == pawl.CodeEnvironment || slices.ContainsFunc(result.Outcomes, missingMachine) {
		// the machine does not mend itself (docs/spec/session.md#a13)
		return gatesFailed(tx, BlockedEnvironment, failure)
	}
	if !retry {
		return gatesFailed(tx, BlockedFuse, failure)
	}
	return gatesRetry(tx, failure)
}

// keepGates keeps the result of the gates with the task, and returns whether every failed gate may be retried.
func keepGates(tx *Tx, result effect.VerifyResult) (retry bool) {
	tx.Task.Gate = &result
	tx.touch(tx.Task)
	tx.record(tx.Task, AuditGateVerificationResult, level(result.Passed), summary(result))
	return gateResults(tx, result)
}

// gatedAlone takes the result of the gates of a task outside a run. Whoever moves the task by hand has the evidence
// with that, and makes the move. Where the task's runner asked for the gates and all of them passed, the task is
// verified and closed. Where the task has got another lease since, they say nothing about what its runner does.
func gatedAlone(tx *Tx, r effect.Receipt) error {
	t, lease := tx.Task, tx.Effect.lease()
	if lease != 0 && lease != t.Epoch {
		return nil
	}
	result, err := effect.Decode[effect.VerifyResult](r.Result)
	if err != nil {
		t.GateNote = firstError(r.Err(), err).Error()
		tx.touch(t)
		return nil
	}
	keepGates(tx, result)
	if lease == 0 || !result.Passed || t.State != string(task.Verifying) {
		return nil
	}
	for _, what := range []Event{Proven, Closed} {
		if err := tx.apply(what, "every gate passed on tree "+short(result.Tree)); err != nil {
			// The gates have run, whatever a mode thinks of closing the task: that is somebody else's move then.
			t.GateNote = err.Error()
			return nil
		}
	}
	t.EndedAt = tx.now
	return nil
}

// lease is the token of the runner that asked for the gates of a task outside a run, 0 for none.
func (e *EffectDoc) lease() int64 {
	if e.What() != effect.KindGates {
		return 0
	}
	spec, err := effect.Decode[effect.VerifySpec](e.Effect.Spec)
	if err != nil {
		return 0
	}
	return spec.Lease
}

// gateResults tells the task's mode of each outcome and returns whether every failed gate may be retried.
func gateResults(tx *Tx, v effect.VerifyResult) bool {
	m, err := tx.Config.modeOf(tx.Task.Mode)
	if err != nil {
		return false
	}
	retry := true
	for _, o := range v.Outcomes {
		verdict := ask(func() Verdict {
			if again := m.GateResult(modeTask(tx, tx.Task), o); !again && o.Status != effect.CheckPassed {
				return Verdict{Decision: Rejected}
			}
			return Verdict{Decision: Approved}
		})
		retry = retry && verdict.Decision == Approved
	}
	return retry
}

func gatesRetry(tx *Tx, failure error) error {
	t := tx.Task
	t.GateNote = failure.Error()
	t.Retry.because("gate: " + t.GateNote)
	r, _ := task.Table.Next(task.Verifying, task.GateFail, "")
	if task.Admit(r, taskEvidence(tx, t, r)) != nil {
		t.Exit = string(task.ExitRetryExhausted)
		return gatesFailed(tx, BlockedFuse, failure)
	}
	if err := tx.apply(GatesRetried, t.GateNote); err != nil {
		return err
	}
	countRetry(tx, t, tx.Config.Retry.Delay(t.Retry.Count+1))
	return nil
}

// countRetry takes one retry from the budget and sets when the task may be claimed again.
func countRetry(tx *Tx, t *Task, delay time.Duration) {
	t.Retry.Count++
	t.Retry.Last, t.Retry.Next = tx.now, tx.now.Add(delay)
	t.Due = t.Retry.Next
	t.Gate = nil
	tx.record(t, AuditTaskRetryAttempt, audit.Info, retryAttempt{Next: t.Retry.Next, Count: t.Retry.Count})
}

// retryAttempt is the payload of the record of a retry.
type retryAttempt struct {
	Next  time.Time `json:"next_retry_after"`
	Count int       `json:"retry_count"`
}

// missingMachine reports whether a check did not pass because of the machine that it ran on.
func missingMachine(o effect.CheckOutcome) bool {
	return o.Environment && o.Status != effect.CheckPassed
}

// toBranch lands the verified tree. An issue of the board is one of many whose work lands on the same branch: it is
// brought onto what the branch has become first.
func toBranch(tx *Tx) {
	t := tx.Task
	if tx.Session.Number == 0 || t.Place.InPlace || t.Branch == "" || t.UpToDate {
		land(tx)
		return
	}
	tx.emit(effect.KindRebase, effect.RebaseSpec{Branch: t.Branch, Base: t.Base, Tree: t.Tree}, true)
}

// rebaseDone lands the work where the branch is still what the gates ran on. Otherwise what has come out of the merge
// is verified as a whole before it may land.
func rebaseDone(tx *Tx, r effect.Receipt) error {
	t := tx.Task
	result, err := effect.Decode[effect.RebaseResult](r.Result)
	if !r.OK || err != nil {
		return gatesFailed(tx, BlockedEnvironment, firstError(r.Err(), err))
	}
	if len(result.Conflicts) > 0 {
		var at []string
		for _, c := range result.Conflicts {
			at = append(at, c.Path+" ("+string(c.Kind)+")")
			if i := tx.Issue; !slices.Contains(i.ConflictFiles, c.Path) && len(i.ConflictFiles) < maxMet {
				i.ConflictFiles = append(slices.Clip(i.ConflictFiles), c.Path)
				tx.touch(i)
			}
		}
		tx.record(t, AuditLandingConflict, audit.Warn,
			map[string]any{"onto": result.Onto, "conflicts": result.Conflicts})
		failure := pawl.Fail(pawl.CodeConflict, "kernel.landing_conflict", t.Branch, strings.Join(at, ", "))
		return gatesFailed(tx, BlockedDependency, failure.Because(errors.New(conflictText(result.Conflicts))))
	}
	if t.UpToDate = true; !result.Moved {
		tx.touch(t)
		land(tx)
		return nil
	}
	tx.record(t, AuditResultRebased, audit.Info,
		map[string]any{"from": t.Base, "onto": result.Base, "tree": result.Tree})
	t.Base, t.Tree, t.Gate, t.Moved = result.Base, result.Tree, nil, true
	tx.touch(t)
	tx.emit(effect.KindVerify, checksOf(tx, t), true)
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
func checksOf(tx *Tx, t *Task) effect.VerifySpec {
	spec := effect.VerifySpec{
		Measure: tx.Flow != nil && tx.Flow.Stage == workflow.Tweak,
		Checks:  t.Checks, StopOnFail: t.Plan.Verification.StopOnFail, Required: t.Plan.Verification.Demanding(),
		PerCheck: tx.Config.PerCheck, Pinned: t.Pinned, Base: t.started(), Moved: t.Moved,
	}
	if t.Moved {
		spec.Base = t.Base
	}
	return spec
}

// verifiedAgain takes the verification of work that was brought onto another base. What does not hold there is repaired
// like any failure of a gate.
func verifiedAgain(tx *Tx, result effect.VerifyResult, r effect.Receipt) error {
	switch {
	case result.Passed || !tx.Task.Plan.Verification.Required:
		return runGates(tx)
	case r.Code == pawl.CodeEnvironment || slices.ContainsFunc(result.Outcomes, missingMachine):
		return gatesFailed(tx, BlockedEnvironment,
			firstError(r.Err(), pawl.Fail(pawl.CodeEnvironment, "verify.environment", result.FailedNames())))
	}
	return gatesRetry(tx, firstError(r.Err(),
		pawl.Fail(pawl.CodeChecksFailed, "kernel.gate_failed", result.FailedNames())))
}

// land asks to land the verified tree. Everything that can fail happens before VERIFIED (docs/spec/task.md#d4).
func land(tx *Tx) {
	t := tx.Task
	base := "pawl/" + t.Label
	spec := effect.LandSpec{
		Tree: t.Tree, Base: t.Base, Branch: t.Branch, Keep: base, Subject: firstLine(t.Title), Body: landBody(t),
		Trailers: []string{"Pawl-Task: " + t.ID, "Pawl-Plan: " + t.PlanHash, "Pawl-Trace: " + tx.trace}, At: tx.now,
	}
	if t.Place.InPlace && t.Checkpoint != nil {
		spec.Start = t.Checkpoint.Tree
	}
	spec.Current = tx.Session.Number > 0
	t.UpToDate = false
	tx.emit(effect.KindLand, spec, true)
}

func landBody(t *Task) string {
	body := ""
	for _, s := range t.Plan.Steps {
		if s.Status == plan.Done {
			body += "- " + s.Title + "\n"
		}
	}
	return body
}

// landingDone closes the task: verified with its proof, then done, which is bookkeeping.
func landingDone(tx *Tx, r effect.Receipt) error {
	result, err := effect.Decode[effect.LandResult](r.Result)
	if r.Key == "land.moved" {
		toBranch(tx) // somebody else landed first
		return nil
	}
	if r.Code == pawl.CodeEnvironment { // the work is proven, and lands once a person has mended what is in its way
		return gatesFailed(tx, BlockedEnvironment, r.Err())
	}
	if !r.OK || err != nil {
		tx.Task.Exit = string(task.ExitFatalError)
		return gatesFailed(tx, BlockedFuse, firstError(r.Err(), err))
	}
	t := tx.Task
	t.Land, tx.Run.Land = &result, &result
	tx.touch(t)
	tx.touch(tx.Run)
	tx.record(t, auditResultAs.in(string(result.Outcome)), audit.Info, map[string]any{
		"commit": result.Commit, "tree": result.Tree, "branch": result.Branch, "reason": result.Reason,
	})
	if err := tx.apply(Proven, "every gate passed on tree "+short(result.Tree)); err != nil {
		return err
	}
	if err := tx.apply(Closed, string(result.Outcome)); err != nil {
		return err
	}
	t.EndedAt = tx.now
	if t.Verified != nil {
		tx.Session.Known = tx.Session.Known.With(*t.Verified, tx.now)
		tx.touch(tx.Session)
	}
	tx.Run.Outcome = string(board.IssueCompleted)
	tx.Issue.ExecutedAt, tx.Issue.Landed = tx.now, result.Branch
	tx.touch(tx.Issue)
	tx.emit(effect.KindCleanup, effect.CleanupSpec{}, true)
	return nil
}

// started is the tree that the work started from, "" when it is not known.
func (t *Task) started() string {
	if t.Checkpoint == nil {
		return ""
	}
	return t.Checkpoint.Tree
}
