package kernel

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"pawl"
	"pawl/audit"
	"pawl/effect"
	"pawl/machine/turn"
	"pawl/plan"
	"pawl/policy"
)

// worker decides about the steps whose tool calls an agent finds while it works. An agent without a loop of its own is asked
// again after each round of its calls; one that has its own loop asks for calls in the middle of its work.
type worker struct{ *work }

// Talk is an agent's conversation about one step, and what it asked for last.
type Talk struct {
	Row      `json:"-"`
	Step     string           `json:"step"`
	Agent    string           `json:"agent"`
	Messages []effect.Message `json:"messages,omitempty"`
	// Asks are the calls that the agent's last answer asks for; Next is the first that is not settled.
	Asks []effect.Ask `json:"asks,omitempty"`
	Next int          `json:"next,omitempty"`
	// Granted is the approval of the call at Next, once a person gave it.
	Granted string `json:"granted,omitempty"`
	// Recent are digests of the newest calls, by which a loop is seen.
	Recent []string `json:"recent,omitempty"`
	// Session is the agent's own session.
	Session string `json:"session,omitempty"`
	// Wanted is the call for which the agent's work broke off, because a person has to allow it. Allowed are the approvals of
	// such calls by the calls' digests: each is good for one call, and for no other.
	Wanted  *effect.Ask       `json:"wanted,omitempty"`
	Allowed map[string]string `json:"allowed,omitempty"`
	// Notes are for the agent to read before it goes on.
	Notes []string     `json:"notes,omitempty"`
	Usage effect.Usage `json:"usage,omitzero"`
	// Earlier are the results of the last calls of the conversation before this one.
	Earlier []effect.ToolResult `json:"earlier,omitempty"`
	// Said is the first line of what the agent said last; no evidence of anything.
	Said string `json:"said,omitempty"`
}

// Traits is what the kernel knows of an agent.
type Traits struct {
	// Works says that the agent can carry out steps without calls; Intakes that requirements can be judged through it, and
	// Judges that it judges them by itself instead of by pawl's own rules; Reads that it wants a context pack.
	Works, Intakes, Judges, Reads bool
	// Process says that the agent is a program of its own, which is started for each piece of work.
	Process bool
}

// traits returns the traits of the run's agent.
func (w *work) traits() Traits {
	if w.Run == nil {
		return Traits{}
	}
	return w.Config.Agents[w.Run.Agent]
}

// forAgent reports whether a step is an agent's: it names no calls, and the run's agent works.
func (w worker) forAgent(s *plan.Step) bool { return len(s.ToolCalls) == 0 && w.traits().Works }

// workOn commits what comes next for an agent's step: the next of the calls that it asked for, or the next exchange.
func (w worker) workOn(s *plan.Step) error {
	t := w.Task
	if w.Talk == nil || w.Talk.Step != s.StepID {
		session, earlier := "", []effect.ToolResult(nil)
		if w.Talk != nil {
			session, earlier = w.Talk.Session, lastResults(w.Talk.Messages)
		}
		w.Talk = &Talk{Step: s.StepID, Agent: w.Run.Agent, Session: session, Earlier: earlier}
		w.create(w.Talk, KindTalk, "", t.ID, "")
		t.Talk = w.Talk.ID
		w.touch(t)
	}
	for w.Talk.Next < len(w.Talk.Asks) {
		if done, err := w.callAsked(s, w.Talk.Asks[w.Talk.Next]); done || err != nil {
			return err
		}
	}
	if w.Turn.Calls >= w.Config.MaxCalls {
		return w.failedWork(pawl.Fail(pawl.CodeBudget, "kernel.calls_used", itoa(w.Config.MaxCalls)), "")
	}
	w.Turn.Calls++
	w.touch(w.Turn)
	// An exchange may be had again: what it asked for is only done once it was committed.
	e := w.emit(effect.KindWork, effect.WorkSpec{Agent: w.Run.Agent, Goal: t.Plan.Goal, Step: s.StepID, Granted: t.Approval}, true)
	e.Effect.Timeout, e.Effect.Record = w.Config.TaskTime, true
	return nil
}

// maxEarlier is how many results of calls are told to the next conversation.
const maxEarlier = 5

// lastResults are the answers to the last calls of a conversation, each with its call.
func lastResults(list []effect.Message) []effect.ToolResult {
	asked := map[string]effect.Ask{}
	var out []effect.ToolResult
	for _, m := range list {
		for _, a := range m.Calls {
			asked[a.ID] = a
		}
		if m.Role == effect.RoleTool {
			a := asked[m.Call]
			out = append(out, effect.ToolResult{CallID: m.Call, Payload: encode(map[string]any{"tool": a.Name, "args": a.Args, "result": m.Text, "failed": m.Failed})})
		}
	}
	return out[max(0, len(out)-maxEarlier):]
}

// fill completes a work effect with what is kept elsewhere, so that it is stored once and not with every exchange.
func (w worker) fill(e effect.Effect) (effect.Effect, error) {
	spec, err := effect.Decode[effect.WorkSpec](e.Spec)
	if err != nil {
		return e, err
	}
	spec.Plan = *w.Task.Plan
	if w.Run.Context != nil {
		spec.Context = *w.Run.Context
	}
	if w.Talk != nil {
		spec.Messages, spec.Session, spec.Notes, spec.Recent = w.Talk.Messages, w.Talk.Session, w.Talk.Notes, w.Talk.Earlier
	}
	if w.Turn.Fix > 0 && w.Turn.Failure != nil {
		spec.Failure = w.Turn.Failure
		spec.Notes = append(slices.Clip(spec.Notes), lessons{w.work}.known(spec.Failure)...)
	}
	e.Spec = effect.Encode(spec)
	return e, nil
}

// worked takes what an agent answered.
func (w worker) worked(r effect.Receipt) error {
	result, err := effect.Decode[effect.WorkResult](r.Result)
	if err != nil && r.OK {
		return w.failedWork(err, "")
	}
	if result.After != "" {
		w.Task.Tree = result.After
		w.touch(w.Task)
	}
	if w.Talk != nil && err == nil {
		w.hear(result)
	}
	wanted := asker{w}.wanted()
	switch {
	case !r.OK && r.Code == pawl.CodeApprovalNeeded && wanted != nil:
		return asker{w}.askWanted(wanted)
	case !r.OK && (environmental(r.Code) || r.Code == pawl.CodeBudget || r.Code == pawl.CodeLogin):
		kind := BlockedEnvironment
		if r.Code == pawl.CodeBudget {
			kind = BlockedBudget
		}
		return stepper{w.work}.block(kind, "", r.Err())
	case !r.OK:
		return w.failedWork(r.Err(), result.Text)
	case w.Talk == nil:
		return pawl.Fail(pawl.CodeInternal, "kernel.effect_unknown", string(effect.KindWork))
	}
	switch result.Control {
	case effect.Calls:
		if len(w.Talk.Asks) == 0 {
			return w.failedWork(pawl.Fail(pawl.CodeModel, "kernel.no_calls", w.Talk.Agent), result.Text)
		}
		return stepper{w.work}.advance()
	case effect.Replan:
		return w.replan(result)
	case effect.StepDone:
		return w.stepDone()
	case effect.Question:
		if err := (inquirer{w.work}).ask(w.Talk.Step, "", result.Reason); err != nil {
			return w.failedWork(err, result.Text)
		}
		return stepper{w.work}.advance()
	}
	return w.failedWork(pawl.Fail(pawl.CodeCannotPlan, "kernel.agent_gave_up", w.Talk.Agent, result.Reason), result.Text)
}

// hear adds an answer to the conversation.
func (w worker) hear(result effect.WorkResult) {
	k := w.Talk
	if result.Compacted {
		k.Messages = nil
	}
	k.Messages = append(slices.Clip(k.Messages), result.Messages...)
	k.Asks, k.Next = nil, 0
	if result.Control == effect.Calls {
		k.Asks = result.Asks
	}
	k.Usage = k.Usage.Plus(result.Usage)
	if result.Session != "" {
		k.Session = result.Session
	}
	k.Said, k.Notes = firstLine(result.Text), nil
	w.touch(k)
	if result.Pack != nil {
		w.record(k, "CONTEXT_BUILT", audit.Info, result.Pack)
	}
	said := map[string]any{
		"agent": result.Agent, "version": result.Version, "model": result.Model, "prompt": result.Prompt, "control": result.Control,
		"calls": len(k.Asks), "usage": result.Usage, "reason": result.Reason,
	}
	if result.Login != "" {
		said["login"] = result.Login
	}
	w.record(k, "AGENT_SAID", audit.Info, said)
}

// stepDone believes an agent that it has no more to do, which is all that it may say: whether it is done the checks decide.
func (w worker) stepDone() error {
	t := w.Task
	t.Cursor.Call = 1
	w.touch(t)
	if t.Cursor.Failed == t.Cursor.Step {
		t.Cursor.Failed, t.Cursor.At = "", 0
		if err := w.raise(StepRepaired, "the step that failed works now"); err != nil {
			return err
		}
		repairer{w.work}.fixHeld()
	}
	return stepper{w.work}.advance()
}

// failedWork takes a failed agent's step to its repair.
func (w worker) failedWork(err error, text string) error {
	kept := info(err)
	what := WorkFailed
	if kept.Class == pawl.ClassToolTimeout {
		what = CallTimedOut
	}
	output := text
	if kept.Detail != "" {
		output = strings.TrimSpace(output + "\n" + kept.Detail)
	}
	return repairer{w.work}.callFailed(what, effect.Failure{
		What: "step " + w.Task.Cursor.Step, Class: kept.Class, Code: kept.Code, Key: kept.Key, Args: kept.Args, Output: clip(output), Tree: w.Task.Tree,
	})
}

// callAsked commits the call that the agent asks for, or tells it why not. Done says that something is to be waited for.
func (w worker) callAsked(s *plan.Step, a effect.Ask) (done bool, err error) {
	if a.Name == effect.AskHuman {
		return asker{w}.askHuman(s, a)
	}
	granted, verdict, refusal := w.admit(a)
	if w.Talk.Granted != "" {
		granted, refusal = w.Talk.Granted, nil
	}
	switch {
	case pawl.CodeOf(refusal) == pawl.CodeLoop:
		return true, w.failedWork(refusal, "")
	case pawl.CodeOf(refusal) == pawl.CodeApprovalNeeded && w.Session.RunMode != pawl.Autonomous:
		return true, asker{w}.askPerson(s, a, verdict)
	case refusal != nil:
		w.refuse(a, refusal)
		return false, nil
	}
	e := w.emit(effect.KindTool, w.toolCall(s.StepID, a, granted, verdict), w.Config.repeatable(a.Name, a.Args))
	w.bound(e, a.Name)
	return true, nil
}

// asker decides about what an agent at work wants of the person: an answer, or a word about one call.
type asker struct{ worker }

// askHuman puts the agent's question to the person, and parks the turn until there is an answer.
func (w asker) askHuman(s *plan.Step, a effect.Ask) (done bool, err error) {
	var args struct {
		Question string `json:"question"`
	}
	err = w.looping(a)
	if pawl.CodeOf(err) == pawl.CodeLoop {
		return true, w.failedWork(err, "")
	}
	if json.Unmarshal(a.Args, &args) != nil {
		args.Question = ""
	}
	if err = (inquirer{w.work}).ask(s.StepID, a.ID, args.Question); err != nil {
		w.refuse(a, err)
		return false, nil
	}
	return true, inquirer{w.work}.park()
}

// bound gives a call its time and its retries, and counts it.
func (w worker) bound(e *EffectDoc, name string) {
	e.Effect.Timeout = w.Config.Call
	if w.Config.Tools[name].Info.Idempotent {
		e.Effect.Delays = w.Config.ReadDelays
	}
	w.Turn.Calls++
	w.touch(w.Turn)
}

func (w worker) toolCall(step string, a effect.Ask, granted string, v policy.Verdict) effect.ToolCall {
	tool := w.Config.Tools[a.Name].Info
	fix := 0
	if i, ok := w.Task.Plan.Find(step); ok {
		fix = w.Task.Plan.Steps[i].Repair()
	}
	// A call without a place to connect to was refused when it was admitted; whatever slips through gets no network.
	sites, _ := planner{w.work}.sites(plan.ToolCallTemplate{Name: a.Name, ArgsHint: a.Args})
	return effect.ToolCall{
		CallID: w.newID(), Name: a.Name, Version: tool.Version, Args: a.Args, Permissions: tool.Permissions, TraceID: w.Turn.Trace,
		StepID: step, Fix: fix, Granted: granted, Network: len(sites) > 0, Sites: sites,
		Snapshot: slices.Contains(tool.Permissions, policy.ProcExec) || w.Task.Place.InPlace && !tool.Idempotent,
	}
}

// Loops: the same call this often in a row, or a cycle of at most this length gone through that often, is no progress.
const (
	sameCalls  = 3
	cycleCalls = 6
)

// admit judges a call that an agent asks for: its budget, its arguments, policy, and whether it leads anywhere. What policy
// asks about is covered by the word under which the plan was approved without asking, as far as it is not grave.
func (w worker) admit(a effect.Ask) (granted string, v policy.Verdict, err error) {
	if w.Turn.Calls >= w.Config.MaxCalls {
		return "", v, pawl.Fail(pawl.CodeBudget, "kernel.calls_used", itoa(w.Config.MaxCalls))
	}
	call := plan.ToolCallTemplate{Name: a.Name, ArgsHint: a.Args}
	if err := plan.Check(single(call), w.schema, w.Config.Plan); err != nil {
		return "", v, err
	}
	if err := w.looping(a); err != nil {
		return "", v, err
	}
	v, err = planner{w.work}.judgeCall(call)
	if err == nil {
		_, err = planner{w.work}.sites(call)
	}
	if err != nil || v.Decision != policy.Ask {
		return "", v, err
	}
	if w.Run.AutoApprove != "" && !v.Person && !v.Risk.AtLeast(pawl.RiskHigh) {
		return w.Task.Approval, v, nil
	}
	if id := (asker{w}).spendWord(a); id != "" {
		return id, v, nil
	}
	return "", v, pawl.Fail(pawl.CodeApprovalNeeded, "kernel.call_asks", a.Name)
}

// single is a plan of one call, by which a call is checked as in any other plan.
func single(c plan.ToolCallTemplate) plan.Plan {
	return plan.Plan{
		PlanID: "ask", Goal: "ask", Constraints: []string{}, RiskLevel: pawl.RiskLow,
		Steps:        []plan.Step{{StepID: "ask", Title: "ask", Intent: "ask", Status: plan.Pending, ToolCalls: []plan.ToolCallTemplate{c}}},
		Verification: plan.VerificationPolicy{Mode: plan.VerifyNone, Commands: []string{}},
	}
}

// digest is what a call is known by: its name and its arguments, however they are spaced.
func digest(a effect.Ask) string {
	var args bytes.Buffer
	if json.Compact(&args, a.Args) != nil {
		args.Reset()
		args.Write(a.Args)
	}
	sum := sha256.Sum256(append([]byte(a.Name+"\x00"), args.Bytes()...))
	return hex.EncodeToString(sum[:])
}

// looping notes a call and reports whether the newest ones only repeat themselves.
func (w worker) looping(a effect.Ask) error {
	w.Talk.Recent = append(slices.Clip(w.Talk.Recent), digest(a)[:16])
	if n := len(w.Talk.Recent) - sameCalls*cycleCalls; n > 0 {
		w.Talk.Recent = w.Talk.Recent[n:]
	}
	w.touch(w.Talk)
	for length := 1; length <= cycleCalls; length++ {
		if repeats(w.Talk.Recent, length) {
			return pawl.Fail(pawl.CodeLoop, "kernel.agent_loops", w.Talk.Agent, a.Name, itoa(length))
		}
	}
	return nil
}

// repeats reports whether the end of a list is one sequence of the given length, three times.
func repeats(list []string, length int) bool {
	n := length * sameCalls
	if len(list) < n {
		return false
	}
	end := list[len(list)-n:]
	for i := length; i < n; i++ {
		if end[i] != end[i-length] {
			return false
		}
	}
	return true
}

// refuse tells the agent that a call was not made, and why.
func (w worker) refuse(a effect.Ask, err error) {
	kept := info(err)
	w.tell(a, map[string]any{"ok": false, "made": false, "error": map[string]any{"class": kept.Class, "code": kept.Code, "message": err.Error()}}, true)
	w.record(w.Talk, "CALL_REFUSED", audit.Warn, map[string]any{"tool": a.Name, "code": kept.Code, "key": kept.Key, "args": kept.Args})
}

// tell answers a call in the conversation and goes on to the next.
func (w worker) tell(a effect.Ask, answer any, failed bool) {
	k := w.Talk
	k.Messages = append(slices.Clip(k.Messages), effect.Message{Role: effect.RoleTool, Call: a.ID, Text: string(encode(answer)), Failed: failed})
	k.Next++
	k.Granted = ""
	w.touch(k)
}

// asked reports whether the call at work is one that an agent asked for between two exchanges.
func (w worker) asked(call effect.ToolCall) bool {
	k := w.Talk
	return k != nil && k.Step == call.StepID && k.Next < len(k.Asks) && w.Effect.Within == ""
}

// answered takes the receipt of a call that an agent asked for. A failed one is the agent's to deal with.
func (w worker) answered(call effect.ToolCall, r effect.Receipt) error {
	w.took(call, r)
	if environmental(r.Code) && !r.OK {
		return stepper{w.work}.block(BlockedEnvironment, "", r.Err())
	}
	what := CallTolerated
	if r.OK {
		what = CallWorked
	}
	w.tell(w.Talk.Asks[w.Talk.Next], toldOf(r), !r.OK)
	if err := w.raise(what, call.Name); err != nil {
		return err
	}
	return stepper{w.work}.advance()
}

// took notes the tree that a call left.
func (w worker) took(_ effect.ToolCall, r effect.Receipt) {
	if res, err := effect.Decode[effect.ToolResult](r.Result); err == nil && res.After != "" {
		w.Task.Tree = res.After
		w.touch(w.Task)
	}
}

// toldOf is what an agent is told of a call that was made.
func toldOf(r effect.Receipt) any {
	out := map[string]any{"ok": r.OK, "made": true}
	if res, err := effect.Decode[effect.ToolResult](r.Result); err == nil {
		out["payload"], out["files_changed"] = res.Payload, res.Artifacts.FilesChanged
	}
	if !r.OK {
		out["error"] = map[string]any{"class": r.Class, "code": r.Code, "message": r.Err().Error(), "detail": clip(r.Detail)}
	}
	return out
}

// askPerson parks the turn until a person says whether one call may be made.
func (w asker) askPerson(s *plan.Step, a effect.Ask, v policy.Verdict) error {
	w.Turn.Return = string(turn.Executing)
	w.touch(w.Turn)
	sum := sha256.Sum256(encode(map[string]any{"task": w.Task.ID, "step": s.StepID, "call": a, "n": len(w.Talk.Messages)}))
	planner{w.work}.askFor("call", w.Task.ID, hex.EncodeToString(sum[:]), policy.SingleAction, a.Name+" "+string(a.Args))
	w.record(w.Talk, "CALL_ASKED", audit.Info, map[string]any{"tool": a.Name, "args": a.Args, "reasons": v.Reasons})
	return w.raise(CallAsks, a.Name)
}

// allowed makes the call that a person allowed.
func (w asker) allowed(a *Approval) error {
	if err := w.raise(CallAllowed, "allowed by "+string(w.env.Actor)); err != nil {
		return err
	}
	w.Turn.Return, w.Session.Approval = "", ""
	if k := w.Talk; k.Wanted != nil {
		allowed := map[string]string{digest(*k.Wanted): a.ID}
		maps.Copy(allowed, k.Allowed)
		k.Allowed = allowed
		k.Notes = append(slices.Clip(k.Notes), "A person allowed this call, once and exactly as it was: "+k.Wanted.Name+" "+string(k.Wanted.Args)+" It was not made yet; make it again.")
		k.Wanted = nil
		w.touch(k)
		return stepper{w.work}.advance()
	}
	w.again(a.ID)
	return stepper{w.work}.advance()
}

// want keeps the call that an agent with a loop of its own may not make without a person's word. Its work breaks off there.
func (w asker) want(a effect.Ask) {
	if w.Session.RunMode == pawl.Autonomous || w.Talk.Wanted != nil {
		return
	}
	w.Talk.Wanted = &effect.Ask{Name: a.Name, Args: a.Args}
	w.touch(w.Talk)
}

// wanted takes the call for which the agent's work broke off.
func (w asker) wanted() *effect.Ask {
	if w.Talk == nil || w.Talk.Wanted == nil {
		return nil
	}
	a := w.Talk.Wanted
	w.Talk.Wanted = nil
	w.touch(w.Talk)
	return a
}

// askWanted parks the turn until a person says whether that call may be made. The agent goes on with its own session then.
func (w asker) askWanted(a *effect.Ask) error {
	s := plan.Step{StepID: w.Talk.Step}
	v, err := planner{w.work}.judgeCall(plan.ToolCallTemplate{Name: a.Name, ArgsHint: a.Args})
	if err != nil {
		return w.failedWork(err, "")
	}
	w.Talk.Wanted = a
	return w.askPerson(&s, *a, v)
}

// spendWord returns the approval of exactly this call, which is used up by that, or "".
func (w asker) spendWord(a effect.Ask) string {
	key := digest(a)
	id := w.Talk.Allowed[key]
	if id != "" {
		left := maps.Clone(w.Talk.Allowed)
		delete(left, key)
		w.Talk.Allowed = left
		w.touch(w.Talk)
	}
	return id
}

// again has the call that is next judged once more, under a person's word where there is one. That must not count as the
// agent asking twice.
func (w worker) again(granted string) {
	w.Talk.Granted = granted
	if n := len(w.Talk.Recent); n > 0 {
		w.Talk.Recent = w.Talk.Recent[:n-1]
	}
	w.touch(w.Talk)
}

// replan changes the steps that are not done yet (docs/spec/turn.md#b6). What is new in it is judged like the plan was.
func (w worker) replan(result effect.WorkResult) error {
	t := w.Task
	if result.Patch == nil {
		return w.failedWork(pawl.Fail(pawl.CodeModel, "kernel.replan_empty", w.Talk.Agent), result.Reason)
	}
	p := t.Plan.Clone()
	if i, ok := p.Find(t.Cursor.Step); ok && p.Steps[i].Status == plan.InProgress {
		p.Steps[i].Status = plan.Pending
	}
	next, err := plan.Apply(p, *result.Patch, w.Config.Plan)
	if err != nil {
		return w.failedWork(err, result.Reason)
	}
	for _, s := range next.Steps {
		for _, c := range s.ToolCalls {
			if v, err := (planner{w.work}).judgeCall(c); err != nil || v.Person || v.Decision == policy.Ask && w.Run.AutoApprove == "" {
				return w.failedWork(pawl.Fail(pawl.CodeApprovalNeeded, "kernel.replan_asks", s.StepID, c.Name), result.Reason)
			}
		}
	}
	if err := w.raise(WorkFailed, "another way: "+result.Reason); err != nil {
		return err
	}
	t.Plan, t.Cursor.Step, t.Cursor.Call = &next, "", 0
	w.Turn.Patches++
	w.touch(t)
	w.touch(w.Turn)
	w.record(t, "PLAN_PATCHED", audit.Info, map[string]any{"reason": result.Reason, "hash": plan.Hash(next), "patch": result.Patch})
	if err := w.raise(Replanned, result.Reason); err != nil {
		return err
	}
	return stepper{w.work}.advance()
}
