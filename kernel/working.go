package kernel

import (
	"encoding/json"
	"slices"
	"time"

	"pawl"
	"pawl/audit"
	"pawl/effect"
	"pawl/machine/board"
	"pawl/machine/session"
	"pawl/machine/task"
	"pawl/machine/turn"
	"pawl/plan"
	"pawl/policy"
)

// claim takes the lease on a queued task, or takes over a task at work whose runner is gone. Either way the token grows, so
// that whatever the former runner still sends is refused.
func (w *work) claim(c *Claim) error {
	t := w.Task
	if t == nil {
		return pawl.Fail(pawl.CodeNotFound, "kernel.task_not_found", c.Task)
	}
	if w.Session != nil && w.Session.Paused {
		return pawl.Fail(pawl.CodeBusy, "kernel.paused")
	}
	t.Epoch++
	t.Lease = Lease{Owner: c.Owner, Expires: w.now.Add(w.Config.LeaseTime)}
	w.touch(t)
	w.result = t.Epoch
	switch task.State(t.State) {
	case task.Running, task.Verifying:
		w.record(t, "LEASE_ADOPTED", audit.Info, map[string]any{"owner": c.Owner, "epoch": t.Epoch})
		if t.Effect == "" {
			return w.advance()
		}
		return nil
	case task.Queued:
		if w.now.Before(t.Due) {
			return pawl.Fail(pawl.CodeBusy, "kernel.not_due", t.Label, t.Due.UTC().Format(time.RFC3339))
		}
	}
	if t.StartedAt.IsZero() {
		t.StartedAt = w.now
	}
	if err := w.raise(Claimed, "claimed by "+c.Owner); err != nil {
		return err
	}
	if w.Turn == nil || w.Turn.State == string(turn.Idle) {
		if w.Turn != nil || t.Turn == "" {
			w.newTurn(t.ID)
			t.Turn = w.Turn.ID
		}
		if err := w.raise(NewAttempt, "attempt at the approved plan"); err != nil {
			return err
		}
	}
	return w.advance()
}

// advance decides what comes next for the task at work and commits it as an effect. It is called after everything that
// moves the task on; while the session is paused or the task is to be canceled, nothing new is dispatched.
func (w *work) advance() error {
	t := w.Task
	if w.Session.Paused || t.Effect != "" {
		return nil
	}
	if !t.CancelAt.IsZero() {
		return w.beginCleanup()
	}
	switch {
	case t.State == string(task.Verifying):
		return w.runGates()
	case t.State != string(task.Running):
		return nil
	case !t.Place.InPlace && !t.Ready.Worktree:
		w.emit(effect.KindWorktree, effect.WorktreeSpec{Base: t.Base}, true)
		return nil
	case !t.Ready.Checkpoint:
		w.emit(effect.KindCheckpoint, effect.CheckpointSpec{Name: w.checkpointName()}, true)
		return nil
	}
	switch turn.State(w.Turn.State) {
	case turn.Executing:
		return w.nextCall()
	case turn.Verifying:
		w.emit(effect.KindVerify, effect.VerifySpec{
			Checks: t.Checks, StopOnFail: t.Plan.Verification.StopOnFail, Required: t.Plan.Verification.Required,
			PerCheck: w.Config.PerCheck, Pinned: t.Pinned,
		}, true)
	case turn.Recovering:
		w.askRepair()
	}
	return nil
}

// checkpointName is the seed's name for a checkpoint of this minute, with a number where the minute is taken (A9).
func (w *work) checkpointName() string {
	base := "chk-" + w.now.UTC().Format("200601021504")
	name := base
	for n := 2; slices.Contains(w.Taken, name); n++ {
		name = base + "-" + itoa(n)
	}
	return name
}

func itoa(n int) string {
	raw, _ := json.Marshal(n)
	return string(raw)
}

// nextCall commits the next call of the plan, or finishes the steps.
func (w *work) nextCall() error {
	t := w.Task
	p := t.Plan.Clone()
	t.Plan = &p
	for {
		i, ok := w.pick(&p)
		if !ok {
			return w.stepsDone(&p)
		}
		s := &p.Steps[i]
		if t.Cursor.Step != s.StepID {
			t.Cursor.Step, t.Cursor.Call = s.StepID, 0
			if t.Cursor.Failed == s.StepID {
				t.Cursor.Call = t.Cursor.At
			}
		}
		if t.Cursor.Call < len(s.ToolCalls) {
			s.Status = plan.InProgress
			w.touch(t)
			return w.call(s, s.ToolCalls[t.Cursor.Call])
		}
		s.Status = plan.Done
		w.touch(t)
		w.record(t, "STEP_DONE", audit.Info, map[string]any{"step": s.StepID, "title": s.Title})
		if t.Cursor.Failed == s.StepID {
			t.Cursor.Failed, t.Cursor.At = "", 0
		}
		t.Cursor.Step, t.Cursor.Call = "", 0
	}
}

// pick chooses the step to work on: the steps of the repair at work come before the plan's own, so that a step that failed
// is tried again only after its repair.
func (w *work) pick(p *plan.Plan) (int, bool) {
	if w.Turn.Fix > 0 {
		for i, s := range p.Steps {
			if s.Repair() == w.Turn.Fix && !s.Status.Closed() {
				return i, true
			}
		}
	}
	return plan.Next(*p)
}

func (w *work) stepsDone(p *plan.Plan) error {
	if stuck := plan.Stuck(*p); len(stuck) > 0 {
		return w.callFailed(CallFailed, effect.Failure{
			What: "plan", Class: pawl.ClassInvalidArgs, Code: pawl.CodeInvalid, Output: "no step can run: " + p.Steps[stuck[0]].StepID + " is blocked",
		})
	}
	w.touch(w.Task)
	if err := w.raise(StepsFinished, "all steps are done"); err != nil {
		return err
	}
	return w.advance()
}

// call commits one tool call. The policy is asked again, because the profile may have changed since the approval; what it
// asks about is covered by the plan's approval or, in a repair, by one of its own.
func (w *work) call(s *plan.Step, c plan.ToolCallTemplate) error {
	if w.Turn.Calls >= w.Config.MaxCalls {
		return w.callFailed(CallFailed, effect.Failure{What: "step " + s.StepID, Class: pawl.ClassPolicyDenied, Code: pawl.CodeBudget, Output: "the turn has used its tool calls"})
	}
	v, err := w.judgeCall(c)
	if err != nil {
		return w.callFailed(CallFailed, effect.Failure{What: "step " + s.StepID, Class: pawl.ClassPolicyDenied, Code: pawl.CodeOf(err), Output: err.Error()})
	}
	tool := w.Config.Tools[c.Name].Info
	granted := ""
	if v.Decision == policy.Ask {
		granted = w.Task.Approval
	}
	command := slices.Contains(tool.Permissions, policy.ProcExec)
	e := w.emit(effect.KindTool, effect.ToolCall{
		CallID: w.newID(), Name: c.Name, Version: tool.Version, Args: c.ArgsHint, Permissions: tool.Permissions,
		TraceID: w.Turn.Trace, StepID: s.StepID, Fix: s.Repair(), Granted: granted, Network: v.Network && granted != "", Snapshot: command,
	}, tool.Idempotent || declaredIdempotent(c.ArgsHint))
	e.Effect.Timeout = w.Config.Call
	if tool.Idempotent {
		e.Effect.Delays = w.Config.ReadDelays
	}
	w.Turn.Calls++
	w.touch(w.Turn)
	return nil
}

// declaredIdempotent reads the plan's own word that a command may be repeated.
func declaredIdempotent(args json.RawMessage) bool {
	var a struct {
		Idempotent bool `json:"idempotent"`
	}
	return json.Unmarshal(args, &a) == nil && a.Idempotent
}

// prepared notes what a preparing effect made and goes on.
func (w *work) prepared(kind effect.Kind, r effect.Receipt) error {
	if !r.OK {
		return w.block(BlockedEnvironment, "", r.Err())
	}
	t := w.Task
	if kind == effect.KindWorktree {
		t.Ready.Worktree = true
		w.touch(t)
		return w.advance()
	}
	made, err := effect.Decode[effect.CheckpointResult](r.Result)
	if err != nil {
		return w.block(BlockedEnvironment, "", err)
	}
	t.Ready.Checkpoint, t.Checkpoint, t.Tree = true, &made, made.Tree
	w.touch(t)
	c := &CheckpointDoc{CheckpointResult: made, Task: t.ID, Place: t.Place}
	w.create(c, KindCheckpoint, made.Name, t.ID, "")
	w.record(c, "CHECKPOINT_CREATED", audit.Info, map[string]any{"name": made.Name, "tree": made.Tree, "ref": made.Ref})
	w.Session.LastCheckpoint = made.Name
	w.touch(w.Session)
	return w.advance()
}

// called takes the receipt of a tool call.
func (w *work) called(r effect.Receipt) error {
	call, err := effect.Decode[effect.ToolCall](w.Effect.Effect.Spec)
	if err != nil {
		return err
	}
	if r.OK {
		return w.callWorked(call, r)
	}
	if environmental(r.Code) {
		return w.block(BlockedEnvironment, "", r.Err())
	}
	what := CallFailed
	if r.Class == pawl.ClassToolTimeout {
		what = CallTimedOut
	}
	output := r.Detail
	if res, err := effect.Decode[effect.ToolResult](r.Result); err == nil {
		output += string(res.Payload)
	}
	return w.callFailed(what, effect.Failure{
		What: "step " + call.StepID + ": " + call.Name, Class: r.Class, Code: r.Code, Key: r.Key, Args: r.Args, Output: clip(output), Tree: w.Task.Tree,
	})
}

// clip keeps the tail of an output; the whole is in the effect's receipt.
func clip(s string) string {
	const limit = 16 << 10
	if len(s) > limit {
		s = s[len(s)-limit:]
	}
	return s
}

// environmental reports whether a failure is one of the machine, which no repair of the work can mend (A13).
func environmental(c pawl.Code) bool {
	switch c {
	case pawl.CodeEnvironment, pawl.CodeDiskFull, pawl.CodeReadOnly, pawl.CodeSandbox, pawl.CodeIO:
		return true
	}
	return false
}

func (w *work) callWorked(call effect.ToolCall, r effect.Receipt) error {
	t := w.Task
	if res, err := effect.Decode[effect.ToolResult](r.Result); err == nil && res.After != "" {
		t.Tree = res.After
	}
	if err := w.raise(CallWorked, call.Name); err != nil {
		return err
	}
	t.Cursor.Call++
	if t.Cursor.Failed == t.Cursor.Step && t.Cursor.Failed != "" {
		t.Cursor.Failed, t.Cursor.At = "", 0
		if err := w.raise(StepRepaired, "the step that failed works now"); err != nil {
			return err
		}
		w.fixHeld()
	}
	w.touch(t)
	return w.advance()
}

// fixHeld clears the count of failed repairs after a success (A8).
func (w *work) fixHeld() {
	w.Task.Fixes, w.Session.AutoFix, w.Turn.Fix = 0, 0, 0
	w.touch(w.Task)
	w.touch(w.Session)
	w.touch(w.Turn)
}

// callFailed takes a failed step to its repair, and a failed repair to the next one or to the fuse.
func (w *work) callFailed(what Happening, f effect.Failure) error {
	t := w.Task
	if t.Cursor.Failed == "" && w.Turn.Fix == 0 || !w.inRepair() {
		t.Cursor.Failed, t.Cursor.At = t.Cursor.Step, t.Cursor.Call
	}
	w.dropRepair()
	t.Cursor.Step, t.Cursor.Call = "", 0
	if err := w.raise(what, f.What); err != nil {
		return err
	}
	return w.failed(f)
}

// inRepair reports whether the call at work belongs to the repair rather than to the plan.
func (w *work) inRepair() bool {
	i, ok := w.Task.Plan.Find(w.Task.Cursor.Step)
	return ok && w.Task.Plan.Steps[i].Repair() > 0
}

// dropRepair skips what is left of the repair at work and puts a step in progress back to pending.
func (w *work) dropRepair() {
	p := w.Task.Plan.Clone()
	for i := range p.Steps {
		s := &p.Steps[i]
		if s.Status == plan.InProgress {
			s.Status = plan.Pending
		}
		if s.Repair() > 0 && !s.Status.Closed() {
			s.Status = plan.Skipped
		}
	}
	w.Task.Plan = &p
	w.touch(w.Task)
}

// failed counts a failure: the first one opens the repair, a later one means that the repair at work failed. The turn is
// in RECOVERING already.
func (w *work) failed(f effect.Failure) error {
	t := w.Task
	t.Failures = append(slices.Clip(t.Failures), f)
	w.Turn.Failure = &f
	w.touch(t)
	w.touch(w.Turn)
	if w.Turn.Fix > 0 {
		w.fixFailed()
	}
	if t.Fixes >= w.Config.MaxFixes {
		return w.blowFuse(f)
	}
	return w.advance()
}

func (w *work) fixFailed() {
	w.Task.Fixes++
	w.Session.AutoFix = w.Task.Fixes
	w.touch(w.Session)
	w.record(w.Task, "FIX_FAILED", audit.Warn, map[string]any{"attempt": w.Task.Fixes, "repair": w.Turn.Fix, "failure": w.Turn.Failure.What})
	w.Turn.Fix = 0
}

// blowFuse stops after the last repair failed: the session needs a person.
func (w *work) blowFuse(f effect.Failure) error {
	t := w.Task
	t.Exit, t.Reason = string(task.ExitRetryExhausted), f.What
	t.Retry.Reasons = append(slices.Clip(t.Retry.Reasons), f.What+" "+f.Fingerprint)
	w.Turn.Outcome = string(turn.OutcomeFailed)
	w.Session.Blocked = &Blocked{Kind: BlockedFuse, Task: t.ID, Error: ErrorInfo{
		Class: pawl.ClassBuildFail, Code: pawl.CodeBlocked, Key: "kernel.fuse", Args: []string{itoa(t.Fixes), f.What}, Detail: f.Output,
	}}
	w.dispose(t)
	if err := w.raise(FuseBlown, "the last repair failed: "+f.What); err != nil {
		return err
	}
	w.release(t)
	return nil
}

// dispose lets the task's mode judge its end (seed 003 §5, point 4). A mode that crashes leaves a verdict of its own.
func (w *work) dispose(t *Task) {
	m, err := w.Config.modeOf(t.Mode)
	if err != nil {
		return
	}
	func() {
		defer func() {
			if p := recover(); p != nil {
				t.Disposition = &Disposition{Verdict: "blocked", Reasoning: "the mode crashed"}
			}
		}()
		d := m.Disposition(w.modeTask(t), t.Exit)
		t.Disposition = &d
	}()
	w.touch(t)
}

// release gives the lease back. The token stays, so that the former holder's reports are refused by the next claim.
func (w *work) release(t *Task) {
	t.Lease = Lease{}
	w.touch(t)
}

// askRepair asks the agent for a repair of the present failure.
func (w *work) askRepair() {
	t := w.Task
	spec := effect.RepairSpec{Plan: *t.Plan, Attempt: t.Fixes + 1, Failure: *w.Turn.Failure, Earlier: t.Failures[:max(0, len(t.Failures)-1)]}
	if w.Run.Context != nil {
		spec.Context = *w.Run.Context
	}
	for _, s := range t.Plan.Steps {
		if s.Repair() > 0 {
			spec.Proposed = append(spec.Proposed, s)
		}
	}
	w.emit(effect.KindRepair, spec, true)
}

// repairMade takes the agent's repair: it is checked and judged like a plan. No repair, or one that is not allowed, counts
// as a failed one.
func (w *work) repairMade(r effect.Receipt) error {
	result, err := effect.Decode[effect.RepairResult](r.Result)
	if err == nil && r.OK && len(result.Steps) > 0 {
		next, asks, err := w.planRepair(result.Steps)
		if err == nil {
			return w.startRepair(next, asks, result.Why)
		}
		w.record(w.Task, "FIX_REFUSED", audit.Warn, info(err))
	}
	w.Turn.Fix = w.Task.Repairs
	w.fixFailed()
	if w.Task.Fixes >= w.Config.MaxFixes {
		return w.blowFuse(*w.Turn.Failure)
	}
	return w.advance()
}

// planRepair appends the steps of a repair to the plan and reports whether the policy asks about one of their calls.
func (w *work) planRepair(steps []plan.Step) (plan.Plan, bool, error) {
	next, err := plan.FixSteps(*w.Task.Plan, w.Task.Repairs+1, steps)
	if err != nil {
		return plan.Plan{}, false, err
	}
	limits := w.Config.Plan
	limits.MaxRepairs = w.Task.Repairs + 1
	if err := plan.Check(next, w.schema, limits); err != nil {
		return plan.Plan{}, false, err
	}
	asks := false
	for _, s := range steps {
		for _, c := range s.ToolCalls {
			v, err := w.judgeCall(c)
			if err != nil {
				return plan.Plan{}, false, err
			}
			asks = asks || v.Decision == policy.Ask
		}
	}
	return next, asks, nil
}

// startRepair begins a repair, after asking where the policy wants to be asked: unattended runs block instead (D7).
func (w *work) startRepair(next plan.Plan, asks bool, why string) error {
	t := w.Task
	if asks && w.Session.RunMode == pawl.Autonomous {
		w.record(t, "AUTONOMOUS_BLOCKED", audit.Warn, map[string]any{"why": why})
		return w.block(BlockedApproval, "", pawl.Fail(pawl.CodeApprovalNeeded, "kernel.repair_asks", why))
	}
	t.Plan = &next
	t.Repairs++
	w.Turn.Fix = t.Repairs
	w.touch(t)
	w.touch(w.Turn)
	w.record(t, "FIX_PLANNED", audit.Info, map[string]any{"repair": t.Repairs, "attempt": t.Fixes + 1, "why": why})
	if asks {
		w.Turn.Return = string(turn.Recovering)
		w.askFor("action", t.ID, plan.Hash(next), policy.SingleAction, why)
		return w.raise(FixAsks, why)
	}
	if err := w.raise(FixPlanned, why); err != nil {
		return err
	}
	return w.advance()
}

// checked takes the result of a turn's verification.
func (w *work) checked(r effect.Receipt) error {
	t := w.Task
	result, err := effect.Decode[effect.VerifyResult](r.Result)
	if err != nil {
		return w.block(BlockedEnvironment, "", firstError(r.Err(), err))
	}
	t.Verified, t.Tree = &result, result.TreeAfter
	w.touch(t)
	w.record(t, "VERIFICATION_RESULT", level(result.Passed), summary(result))
	for _, o := range result.Outcomes {
		if o.Environment && o.Status != effect.CheckPassed {
			return w.block(BlockedEnvironment, "", firstError(r.Err(), pawl.Fail(pawl.CodeEnvironment, "verify.environment", o.Name)))
		}
	}
	switch {
	case result.Passed:
		return w.passed(ChecksPassed, "the checks passed")
	case !t.Plan.Verification.Required:
		return w.passed(ChecksTolerated, "only checks that are not required failed")
	}
	f := effect.Failure{What: "verification", Class: pawl.ClassBuildFail, Code: pawl.CodeChecksFailed, Fingerprint: result.Fingerprint, Tree: result.Tree, Checks: result.Outcomes}
	for _, o := range result.Outcomes {
		if o.Status == effect.CheckFailed || o.Status == effect.CheckError {
			f.What, f.Output = o.Name, clip(o.Output)
			break
		}
	}
	if err := w.raise(CheckFailed, f.What); err != nil {
		return err
	}
	return w.failed(f)
}

func level(ok bool) audit.Level {
	if ok {
		return audit.Info
	}
	return audit.Warn
}

// summary is what the audit keeps of a verification: everything but the outputs, whose digests stand for them.
func summary(v effect.VerifyResult) map[string]any {
	outcomes := make([]map[string]any, 0, len(v.Outcomes))
	for _, o := range v.Outcomes {
		outcomes = append(outcomes, map[string]any{
			"gate_name": o.Name, "command": o.Command, "status": o.Status, "exit_code": o.ExitCode, "duration_ms": o.DurationMS, "output_digest": o.Digest,
		})
	}
	return map[string]any{"passed": v.Passed, "tree": v.Tree, "env_digest": v.EnvDigest, "gates_executed": outcomes, "tampered": v.Tampered}
}

// passed ends the turn and hands the task to its gates.
func (w *work) passed(what Happening, reason string) error {
	w.Turn.Outcome = string(turn.OutcomeDone)
	w.Task.Cursor.Failed = ""
	w.fixHeld()
	if err := w.raise(what, reason); err != nil {
		return err
	}
	return w.advance()
}

// runGates asks for the task's gates on the tree that the turn verified, minus what its verification has proven already
// on that very tree.
func (w *work) runGates() error {
	t := w.Task
	if t.Gate != nil && t.Gate.Passed && t.Gate.Tree == t.Tree {
		w.land()
		return nil
	}
	m, err := w.Config.modeOf(t.Mode)
	if err != nil {
		return w.gatesFailed(effect.VerifyResult{}, err)
	}
	var checks []effect.Check
	for _, name := range t.Gates {
		if v := ask(func() Verdict { return m.ValidateGate(w.modeTask(t), name) }); v.Decision != Approved {
			return w.gatesFailed(effect.VerifyResult{}, pawl.Fail(pawl.CodeModeViolation, "kernel.mode_gate", t.modeName(), name, v.Reason))
		}
		checks = append(checks, effect.Check{Name: name, Kind: "gate"})
	}
	w.emit(effect.KindGates, effect.VerifySpec{Checks: checks, StopOnFail: true, Required: true, PerCheck: w.Config.PerCheck, Pinned: t.Pinned}, true)
	return nil
}

// gated takes the result of the gates. A gate that failed sends the task back to the queue while the retry budget lasts,
// and ends it otherwise (spec.md §6.4 D5).
func (w *work) gated(r effect.Receipt) error {
	t := w.Task
	result, err := effect.Decode[effect.VerifyResult](r.Result)
	if err != nil {
		return w.gatesFailed(result, firstError(r.Err(), err))
	}
	t.Gate = &result
	w.touch(t)
	w.record(t, "GATE_VERIFICATION_RESULT", level(result.Passed), summary(result))
	retry := w.gateResults(result)
	if w.Run == nil {
		return nil // a task that is moved by hand: the gates' evidence is there, the move is the person's
	}
	if result.Passed && (t.Verified == nil || result.Tree == t.Verified.TreeAfter) {
		t.Tree = result.Tree
		return w.advance()
	}
	if result.Passed {
		return w.gatesFailed(result, pawl.Fail(pawl.CodeGate, "kernel.tree_changed", result.Tree, t.Verified.TreeAfter))
	}
	failure := firstError(r.Err(), pawl.Fail(pawl.CodeChecksFailed, "kernel.gate_failed", failedNames(result)))
	if !retry {
		return w.gatesFailed(result, failure)
	}
	return w.gatesRetry(failure)
}

// gateResults tells the task's mode of each outcome and returns whether every failed gate may be retried.
func (w *work) gateResults(v effect.VerifyResult) bool {
	m, err := w.Config.modeOf(w.Task.Mode)
	if err != nil {
		return false
	}
	retry := true
	for _, o := range v.Outcomes {
		verdict := ask(func() Verdict {
			if again := m.GateResult(w.modeTask(w.Task), o); !again && o.Status != effect.CheckPassed {
				return Verdict{Decision: Rejected}
			}
			return Verdict{Decision: Approved}
		})
		retry = retry && verdict.Decision == Approved
	}
	return retry
}

func failedNames(v effect.VerifyResult) string {
	out := ""
	for _, o := range v.Outcomes {
		if o.Status == effect.CheckFailed || o.Status == effect.CheckError {
			if out != "" {
				out += ", "
			}
			out += o.Name
		}
	}
	return out
}

func (w *work) gatesRetry(failure error) error {
	t := w.Task
	t.GateNote = failure.Error()
	t.Retry.Reasons = append(slices.Clip(t.Retry.Reasons), "gate: "+t.GateNote)
	r, _ := task.Table.Next(task.Verifying, task.GateFail, "")
	if task.Admit(r, w.taskEvidence(t)) != nil {
		t.Exit = string(task.ExitRetryExhausted)
		return w.gatesFailed(effect.VerifyResult{}, failure)
	}
	w.countRetry(t, w.Config.Retry.Delay(t.Retry.Count+1))
	w.release(t)
	w.Turn = nil
	return w.raise(GatesRetried, t.GateNote)
}

// countRetry takes one retry from the budget and sets when the task may be claimed again.
func (w *work) countRetry(t *Task, delay time.Duration) {
	t.Retry.Count++
	t.Retry.Last, t.Retry.Next = w.now, w.now.Add(delay)
	t.Due = t.Retry.Next
	t.Gate = nil
	w.record(t, "TASK_RETRY_ATTEMPT", audit.Info, map[string]any{"retry_count": t.Retry.Count, "next_retry_after": t.Retry.Next})
}

// gatesFailed ends the task for good and blocks the session.
func (w *work) gatesFailed(_ effect.VerifyResult, failure error) error {
	t := w.Task
	if t.Exit == "" {
		t.Exit = string(task.ExitGateFailed)
	}
	kept := info(failure)
	t.Reason = kept.Key
	w.Session.Blocked = &Blocked{Kind: BlockedFuse, Task: t.ID, Error: kept}
	w.dispose(t)
	if err := w.raise(GatesFailed, kept.Key); err != nil {
		return err
	}
	w.release(t)
	return nil
}

// land asks to land the verified tree. In seed 003's words: everything that can fail happens before VERIFIED (D4).
func (w *work) land() {
	t := w.Task
	base := "pawl/" + t.Label
	w.emit(effect.KindLand, effect.LandSpec{
		Tree: t.Tree, Base: t.Base, Branch: t.Branch, Keep: base, Subject: firstLine(t.Title), Body: landBody(t),
		Trailers: []string{"Pawl-Task: " + t.ID, "Pawl-Plan: " + t.PlanHash, "Pawl-Trace: " + w.trace}, At: w.now,
	}, true)
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

// landed closes the task: verified with its proof, then done, which is bookkeeping.
func (w *work) landed(r effect.Receipt) error {
	result, err := effect.Decode[effect.LandResult](r.Result)
	if !r.OK || err != nil {
		w.Task.Exit = string(task.ExitFatalError)
		return w.gatesFailed(effect.VerifyResult{}, firstError(r.Err(), err))
	}
	t := w.Task
	t.Land, w.Run.Land = &result, &result
	w.touch(t)
	w.touch(w.Run)
	w.record(t, "RESULT_"+upper(string(result.Outcome)), audit.Info, map[string]any{
		"commit": result.Commit, "tree": result.Tree, "branch": result.Branch, "reason": result.Reason,
	})
	if err := w.raise(Proven, "every gate passed on tree "+short(result.Tree)); err != nil {
		return err
	}
	if err := w.raise(Closed, string(result.Outcome)); err != nil {
		return err
	}
	t.EndedAt = w.now
	w.release(t)
	w.Run.Outcome = string(board.IssueCompleted)
	w.Issue.ExecutedAt = w.now
	w.emit(effect.KindCleanup, effect.CleanupSpec{}, true)
	return nil
}

// block stops for an answer, an approval or the environment.
func (w *work) block(kind BlockedKind, effectID string, err error) error {
	t := w.Task
	kept := info(err)
	b := &Blocked{Kind: kind, Task: t.ID, Effect: effectID, Error: kept}
	t.Blocked, w.Session.Blocked = b, b
	t.Reason = kept.Key
	if t.State == string(task.Verifying) {
		t.Exit = string(task.ExitBlocked)
		return w.gatesFailed(effect.VerifyResult{}, err)
	}
	w.dropRepair()
	w.Turn.Outcome = string(turn.OutcomeFailed)
	w.Turn.Fix = 0
	if err := w.raise(Blocking, kept.Key); err != nil {
		return err
	}
	w.release(t)
	return nil
}

// running reports whether the session is in a state in which tasks are worked on.
func (w *work) running() bool {
	s := session.State(w.Session.State)
	return s == session.Executing || s == session.AutoFix
}
