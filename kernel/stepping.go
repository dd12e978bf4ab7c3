package kernel

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"pawl"
	"pawl/audit"
	"pawl/effect"
	"pawl/machine/session"
	"pawl/machine/task"
	"pawl/machine/turn"
	"pawl/plan"
	"pawl/policy"
)

// stepper decides the next step of the task at work.
type stepper struct{ *work }

// claim takes the lease on a queued task, or takes over a task at work whose runner is gone. Either way the token grows, so
// that whatever the former runner still sends is refused.
func (w stepper) claim(c *Claim) error {
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
	t.Cut = ""
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
func (w stepper) advance() error {
	t := w.Task
	if w.Session.Paused || t.Effect != "" {
		return nil
	}
	if !t.CancelAt.IsZero() {
		return courier{w.work}.beginCleanup()
	}
	switch {
	case t.State == string(task.Verifying):
		return prover{w.work}.runGates()
	case t.State != string(task.Running):
		return nil
	case !t.Place.InPlace && !t.Ready.Worktree:
		spec := effect.WorktreeSpec{Base: t.Base}
		if w.Session.Number > 0 {
			spec.Branch = t.Branch // others have landed since the plan was made
		}
		w.emit(effect.KindWorktree, spec, true)
		return nil
	case !t.Ready.Checkpoint:
		w.emit(effect.KindCheckpoint, effect.CheckpointSpec{Name: w.checkpointName()}, true)
		return nil
	}
	switch turn.State(w.Turn.State) {
	case turn.Executing:
		if len(w.Turn.Asked) > 0 && (inquirer{w.work}).mayAsk() {
			return inquirer{w.work}.park()
		}
		return w.nextCall()
	case turn.Verifying:
		w.emit(effect.KindVerify, prover{w.work}.checksOf(t), true).Effect.Record = t.Place.InPlace
	case turn.Recovering:
		repairer{w.work}.askRepair()
	}
	return nil
}

// checkpointName is the seed's name for a checkpoint of this minute, with a number where the minute is taken
// (docs/spec/session.md#a9). The sessions of issues work at the same time, so each has names of its own.
func (w stepper) checkpointName() string {
	base := "chk-" + w.now.UTC().Format("200601021504")
	if w.Session.Number == 0 {
		last := ""
		if len(w.Taken) > 0 {
			last = w.Taken[0]
		}
		return behind(last, base)
	}
	w.Session.LastPoint = behind(w.Session.LastPoint, base+"-i"+strconv.FormatInt(w.Session.Number, 10))
	w.touch(w.Session)
	return w.Session.LastPoint
}

// behind is the name for the next checkpoint of a minute behind the last one.
func behind(last, base string) string {
	suffix, same := strings.CutPrefix(last, base)
	if !same {
		return base
	}
	n, err := strconv.Atoi(strings.TrimPrefix(suffix, "-"))
	if err != nil {
		n = 1
	}
	return base + "-" + itoa(n+1)
}

func itoa(n int) string {
	raw, _ := json.Marshal(n)
	return string(raw)
}

// nextCall commits the next call of the plan, or finishes the steps.
func (w stepper) nextCall() error {
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
		if (worker{w.work}).forAgent(s) && t.Cursor.Call == 0 {
			s.Status = plan.InProgress
			w.touch(t)
			return worker{w.work}.workOn(s)
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
func (w stepper) pick(p *plan.Plan) (int, bool) {
	if w.Turn.Fix > 0 {
		for i, s := range p.Steps {
			if s.Repair() == w.Turn.Fix && !s.Status.Closed() {
				return i, true
			}
		}
	}
	return plan.Next(*p)
}

func (w stepper) stepsDone(p *plan.Plan) error {
	if stuck := plan.Stuck(*p); len(stuck) > 0 {
		return repairer{w.work}.callFailed(CallFailed, effect.Failure{
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
func (w stepper) call(s *plan.Step, c plan.ToolCallTemplate) error {
	if w.Turn.Calls >= w.Config.MaxCalls {
		return repairer{w.work}.callFailed(CallFailed, effect.Failure{What: "step " + s.StepID, Class: pawl.ClassPolicyDenied, Code: pawl.CodeBudget, Output: "the turn has used its tool calls"})
	}
	v, err := planner{w.work}.judgeCall(c)
	var sites []effect.Site
	if err == nil {
		sites, err = planner{w.work}.sites(c)
	}
	if err != nil {
		r := effect.Failed(err)
		return repairer{w.work}.callFailed(CallFailed, effect.Failure{
			What: "step " + s.StepID, Class: pawl.ClassPolicyDenied, Code: r.Code, Key: r.Key, Args: r.Args, Cause: r.Cause,
		})
	}
	tool := w.Config.Tools[c.Name].Info
	granted := ""
	if v.Decision == policy.Ask {
		granted = w.Task.Approval
	}
	e := w.emit(effect.KindTool, effect.ToolCall{
		CallID: w.newID(), Name: c.Name, Version: tool.Version, Args: c.ArgsHint, Permissions: tool.Permissions,
		TraceID: w.Turn.Trace, StepID: s.StepID, Fix: s.Repair(), Granted: granted, Network: len(sites) > 0, Sites: sites, Snapshot: !tool.Idempotent,
	}, w.Config.repeatable(c.Name, c.ArgsHint))
	e.Effect.Timeout, e.Effect.Record = w.Config.Call, !tool.Idempotent
	if tool.Idempotent {
		e.Effect.Delays = w.Config.ReadDelays
	}
	w.Turn.Calls++
	w.touch(w.Turn)
	return nil
}

// repeatable reports whether a call may be made again: the tool says so, or the plan's own word about its command does. In
// the arguments of any other tool that word means something else.
func (c *Config) repeatable(name string, args json.RawMessage) bool {
	tool := c.Tools[name].Info
	var a struct {
		Idempotent bool `json:"idempotent"`
	}
	return tool.Idempotent || slices.Contains(tool.Permissions, policy.ProcExec) && json.Unmarshal(args, &a) == nil && a.Idempotent
}

// prepared notes what a preparing effect made and goes on.
func (w stepper) prepared(kind effect.Kind, r effect.Receipt) error {
	if !r.OK {
		return w.block(BlockedEnvironment, "", r.Err())
	}
	t := w.Task
	if kind == effect.KindWorktree {
		made, err := effect.Decode[effect.WorktreeResult](r.Result)
		if err != nil {
			return w.block(BlockedEnvironment, "", err)
		}
		if made.Base != "" && made.Base != t.Base {
			w.record(t, "BASE_MOVED", audit.Info, map[string]any{"from": t.Base, "to": made.Base})
			t.Base, t.Moved = made.Base, true
		}
		t.Ready.Worktree = true
		w.touch(t)
		return w.advance()
	}
	made, err := effect.Decode[effect.CheckpointResult](r.Result)
	if err != nil {
		return w.block(BlockedEnvironment, "", err)
	}
	t.Ready.Checkpoint, t.Checkpoint, t.Tree = true, &made, made.Tree
	t.Ready.Tracked, t.Spans = true, nil
	t.Baseline = w.Session.known(made.Tree)
	w.touch(t)
	c := &CheckpointDoc{CheckpointResult: made, Task: t.ID, Place: t.Place}
	w.create(c, KindCheckpoint, made.Name, t.ID, "")
	w.record(c, "CHECKPOINT_CREATED", audit.Info, map[string]any{"name": made.Name, "tree": made.Tree, "ref": made.Ref})
	w.Session.LastCheckpoint = made.Name
	w.touch(w.Session)
	return w.advance()
}

// called takes the receipt of a tool call.
func (w stepper) called(r effect.Receipt) error {
	call, err := effect.Decode[effect.ToolCall](w.Effect.Effect.Spec)
	if err != nil {
		return err
	}
	switch {
	case r.Code == pawl.CodeOutcomeUnknown && w.Effect.Within == "" && len(call.Images) == 0:
		return w.lost(call)
	case w.Effect.Within != "":
		return caller{worker{w.work}}.ended(call, r)
	case r.Code == pawl.CodeBudget && !r.OK:
		if (worker{w.work}).asked(call) {
			worker{w.work}.again(call.Granted)
		}
		return w.block(BlockedBudget, "", r.Err())
	case worker{w.work}.asked(call):
		return worker{w.work}.answered(call, r)
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
	if r.Cause != nil { // it is kept as data, not as its technical text
		output = ""
	}
	if res, err := effect.Decode[effect.ToolResult](r.Result); err == nil {
		output += string(res.Payload)
	}
	return repairer{w.work}.callFailed(what, effect.Failure{
		What: "step " + call.StepID + ": " + call.Name, Class: r.Class, Code: r.Code, Key: r.Key, Args: r.Args, Cause: r.Cause, Output: clip(output), Tree: w.Task.Tree,
	})
}

// lost asks the person about a call that was cut off in a way that nobody knows whether it happened. Of a write that is known,
// because its files can be looked at.
func (w stepper) lost(call effect.ToolCall) error {
	w.Effect.State = EffectUnknown
	return w.block(BlockedQuestion, w.Effect.ID, pawl.Fail(pawl.CodeOutcomeUnknown, "kernel.outcome_unknown", call.StepID, call.Name, string(call.Args)))
}

// clip keeps the tail of an output; the whole is in the effect's receipt.
func clip(s string) string {
	const limit = 16 << 10
	if len(s) > limit {
		s = s[len(s)-limit:]
	}
	return s
}

// environmental reports whether a failure is one of the machine, which no repair of the work can mend
// (docs/spec/session.md#a13).
func environmental(c pawl.Code) bool {
	switch c {
	case pawl.CodeEnvironment, pawl.CodeDiskFull, pawl.CodeReadOnly, pawl.CodeSandbox, pawl.CodeIO:
		return true
	}
	return false
}

func (w stepper) callWorked(call effect.ToolCall, r effect.Receipt) error {
	t := w.Task
	if err := w.raise(CallWorked, call.Name); err != nil {
		return err
	}
	t.Cursor.Call++
	if t.Cut == call.StepID {
		t.Cut = ""
	}
	if t.Cursor.Failed == t.Cursor.Step && t.Cursor.Failed != "" {
		t.Cursor.Failed, t.Cursor.At = "", 0
		if err := w.raise(StepRepaired, "the step that failed works now"); err != nil {
			return err
		}
		repairer{w.work}.fixHeld()
	}
	w.touch(t)
	return w.advance()
}

// block stops for an answer, an approval or the environment.
func (w stepper) block(kind BlockedKind, effectID string, err error) error {
	t := w.Task
	kept := info(err)
	b := &Blocked{Kind: kind, Task: t.ID, Effect: effectID, Error: kept}
	t.Blocked, w.Session.Blocked = b, b
	t.Reason = kept.Key
	if t.State == string(task.Verifying) {
		t.Exit = string(task.ExitBlocked)
		return prover{w.work}.gatesFailed(kind, err)
	}
	repairer{w.work}.dropRepair()
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
