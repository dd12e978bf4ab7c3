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
	"pawl/kernel/audit"
	"pawl/kernel/effect"
	"pawl/machine/turn"
	"pawl/text/plan"
	"pawl/text/policy"
)

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
func traits(tx *Tx) Traits {
	if tx.Run == nil {
		return Traits{}
	}
	return tx.Config.Agents[tx.Run.Agent]
}

// forAgent reports whether a step is an agent's: it names no calls, and the run's agent works.
func forAgent(tx *Tx, s *plan.Step) bool { return len(s.ToolCalls) == 0 && traits(tx).Works }

// workOn commits what comes next for an agent's step: the next of the calls that it asked for, or the next exchange.
func workOn(tx *Tx, s *plan.Step) error {
	t := tx.Task
	if tx.Talk == nil || tx.Talk.Step != s.StepID {
		session, earlier := "", []effect.ToolResult(nil)
		if tx.Talk != nil {
			session, earlier = tx.Talk.Session, lastResults(tx.Talk.Messages)
		}
		tx.Talk = &Talk{Step: s.StepID, Agent: tx.Run.Agent, Session: session, Earlier: earlier}
		tx.create(tx.Talk, KindTalk, "", t.ID, "")
		t.Talk = tx.Talk.ID
		tx.touch(t)
	}
	for tx.Talk.Next < len(tx.Talk.Asks) {
		if done, err := callAsked(tx, s, tx.Talk.Asks[tx.Talk.Next]); done || err != nil {
			return err
		}
	}
	if tx.Turn.Calls >= tx.Config.MaxCalls {
		return failedWork(tx, pawl.Fail(pawl.CodeBudget, "kernel.calls_used", itoa(tx.Config.MaxCalls)), "")
	}
	tx.Turn.Calls++
	tx.touch(tx.Turn)
	// An exchange may be had again: what it asked for is only done once it was committed.
	e := tx.emit(effect.KindWork, effect.WorkSpec{Agent: tx.Run.Agent, Goal: t.Plan.Goal, Step: s.StepID, Granted: t.Approval}, true)
	e.Effect.Timeout, e.Effect.Record = tx.Config.TaskTime, true
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

// fillWork completes a work effect with what is kept elsewhere, so that it is stored once and not with every exchange.
func fillWork(tx *Tx, e effect.Effect) (effect.Effect, error) {
	spec, err := effect.Decode[effect.WorkSpec](e.Spec)
	if err != nil {
		return e, err
	}
	spec.Plan = *tx.Task.Plan
	if tx.Run.Context != nil {
		spec.Context = *tx.Run.Context
	}
	if tx.Talk != nil {
		spec.Messages, spec.Session, spec.Notes, spec.Recent = tx.Talk.Messages, tx.Talk.Session, tx.Talk.Notes, tx.Talk.Earlier
	}
	if tx.Turn.Fix > 0 && tx.Turn.Failure != nil {
		spec.Failure = tx.Turn.Failure
		spec.Notes = append(slices.Clip(spec.Notes), knownIncidents(tx, spec.Failure)...)
	}
	e.Spec = effect.Encode(spec)
	return e, nil
}

// agentDone takes what an agent answered.
func agentDone(tx *Tx, r effect.Receipt) error {
	result, err := effect.Decode[effect.WorkResult](r.Result)
	if err != nil && r.OK {
		return failedWork(tx, err, "")
	}
	if result.After != "" {
		tx.Task.Tree = result.After
		tx.touch(tx.Task)
	}
	if tx.Talk != nil && err == nil {
		hearAgent(tx, result)
	}
	wanted := wantedCalls(tx)
	switch {
	case !r.OK && r.Code == pawl.CodeApprovalNeeded && wanted != nil:
		return askWanted(tx, wanted)
	case !r.OK && (environmental(r.Code) || r.Code == pawl.CodeBudget || r.Code == pawl.CodeLogin):
		kind := BlockedEnvironment
		if r.Code == pawl.CodeBudget {
			kind = BlockedBudget
		}
		return block(tx, kind, "", r.Err())
	case !r.OK:
		return failedWork(tx, r.Err(), result.Text)
	case tx.Talk == nil:
		return pawl.Fail(pawl.CodeInternal, "kernel.effect_unknown", string(effect.KindWork))
	}
	switch result.Control {
	case effect.Calls:
		if len(tx.Talk.Asks) == 0 {
			return failedWork(tx, pawl.Fail(pawl.CodeModel, "kernel.no_calls", tx.Talk.Agent), result.Text)
		}
		tx.then(ThenAdvance)
		return nil
	case effect.Replan:
		return replan(tx, result)
	case effect.StepDone:
		return stepDone(tx)
	case effect.Question:
		if err := askQuestion(tx, tx.Talk.Step, "", result.Reason); err != nil {
			return failedWork(tx, err, result.Text)
		}
		tx.then(ThenAdvance)
		return nil
	}
	return failedWork(tx, pawl.Fail(pawl.CodeCannotPlan, "kernel.agent_gave_up", tx.Talk.Agent, result.Reason), result.Text)
}

// hearAgent adds an answer to the conversation.
func hearAgent(tx *Tx, result effect.WorkResult) {
	k := tx.Talk
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
	tx.touch(k)
	if result.Pack != nil {
		tx.record(k, AuditContextBuilt, audit.Info, result.Pack)
	}
	said := map[string]any{
		"agent": result.Agent, "version": result.Version, "model": result.Model, "prompt": result.Prompt, "control": result.Control,
		"calls": len(k.Asks), "usage": result.Usage, "reason": result.Reason,
	}
	if result.Login != "" {
		said["login"] = result.Login
	}
	tx.record(k, AuditAgentSaid, audit.Info, said)
}

// stepDone believes an agent that it has no more to do, which is all that it may say: whether it is done the checks decide.
func stepDone(tx *Tx) error {
	t := tx.Task
	t.Cursor.Call = 1
	tx.touch(t)
	if t.Cursor.Failed == t.Cursor.Step {
		t.Cursor.Failed, t.Cursor.At = "", 0
		if err := tx.apply(StepRepaired, "the step that failed works now"); err != nil {
			return err
		}
		fixHeld(tx)
	}
	tx.then(ThenAdvance)
	return nil
}

// failedWork takes a failed agent's step to its repair.
func failedWork(tx *Tx, err error, text string) error {
	kept := info(err)
	what := WorkFailed
	if kept.Class == pawl.ClassToolTimeout {
		what = CallTimedOut
	}
	output := text
	if kept.Detail != "" {
		output = strings.TrimSpace(output + "\n" + kept.Detail)
	}
	return callFailed(tx, what, effect.Failure{
		What: "step " + tx.Task.Cursor.Step, Class: kept.Class, Code: kept.Code, Key: kept.Key, Args: kept.Args, Output: clip(output), Tree: tx.Task.Tree,
	})
}

// callAsked commits the call that the agent asks for, or tells it why not. Done says that something is to be waited for.
func callAsked(tx *Tx, s *plan.Step, a effect.Ask) (done bool, err error) {
	if a.Name == effect.AskHuman {
		return askHuman(tx, s, a)
	}
	granted, verdict, refusal := admitCall(tx, a)
	if tx.Talk.Granted != "" {
		granted, refusal = tx.Talk.Granted, nil
	}
	switch {
	case pawl.CodeOf(refusal) == pawl.CodeLoop:
		return true, failedWork(tx, refusal, "")
	case pawl.CodeOf(refusal) == pawl.CodeApprovalNeeded && tx.Session.RunMode != pawl.Autonomous:
		return true, askPerson(tx, s, a, verdict)
	case refusal != nil:
		refuseCall(tx, a, refusal)
		return false, nil
	}
	e := tx.emit(effect.KindTool, toolCall(tx, s.StepID, a, granted, verdict), tx.Config.repeatable(a.Name, a.Args))
	callBound(tx, e, a.Name)
	return true, nil
}

// askHuman puts the agent's question to the person, and parks the turn until there is an answer.
func askHuman(tx *Tx, s *plan.Step, a effect.Ask) (done bool, err error) {
	var args struct {
		Question string `json:"question"`
	}
	err = agentLooping(tx, a)
	if pawl.CodeOf(err) == pawl.CodeLoop {
		return true, failedWork(tx, err, "")
	}
	if json.Unmarshal(a.Args, &args) != nil {
		args.Question = ""
	}
	if err = askQuestion(tx, s.StepID, a.ID, args.Question); err != nil {
		refuseCall(tx, a, err)
		return false, nil
	}
	return true, parkTurn(tx)
}

// callBound gives a call its time and its retries, and counts it.
func callBound(tx *Tx, e *EffectDoc, name string) {
	e.Effect.Timeout = tx.Config.Call
	if tx.Config.Tools[name].Info.Idempotent {
		e.Effect.Delays = tx.Config.ReadDelays
	}
	tx.Turn.Calls++
	tx.touch(tx.Turn)
}

func toolCall(tx *Tx, step string, a effect.Ask, granted string, v policy.Verdict) effect.ToolCall {
	tool := tx.Config.Tools[a.Name].Info
	fix := 0
	if i, ok := tx.Task.Plan.Find(step); ok {
		fix = tx.Task.Plan.Steps[i].Repair()
	}
	// A call without a place to connect to was refused when it was admitted; whatever slips through gets no network.
	sites, _ := callSites(tx, plan.ToolCallTemplate{Name: a.Name, ArgsHint: a.Args})
	return effect.ToolCall{
		CallID: tx.newID(), Name: a.Name, Version: tool.Version, Args: a.Args, Permissions: tool.Permissions, TraceID: tx.Turn.Trace,
		StepID: step, Fix: fix, Granted: granted, Network: len(sites) > 0, Sites: sites,
		Snapshot: slices.Contains(tool.Permissions, policy.ProcExec) || tx.Task.Place.InPlace && !tool.Idempotent,
	}
}

// Loops: the same call this often in a row, or a cycle of at most this length gone through that often, is no progress.
const (
	sameCalls  = 3
	cycleCalls = 6
)

// admitCall judges a call that an agent asks for: its budget, its arguments, policy, and whether it leads anywhere. What policy
// asks about is covered by the word under which the plan was approved without asking, as far as it is not grave.
func admitCall(tx *Tx, a effect.Ask) (granted string, v policy.Verdict, err error) {
	if tx.Turn.Calls >= tx.Config.MaxCalls {
		return "", v, pawl.Fail(pawl.CodeBudget, "kernel.calls_used", itoa(tx.Config.MaxCalls))
	}
	call := plan.ToolCallTemplate{Name: a.Name, ArgsHint: a.Args}
	if err := plan.Check(single(call), tx.Config.schema, tx.Config.Plan); err != nil {
		return "", v, err
	}
	if err := agentLooping(tx, a); err != nil {
		return "", v, err
	}
	v, err = judgeCall(tx, call)
	if err == nil {
		_, err = callSites(tx, call)
	}
	if err != nil || v.Decision != policy.Ask {
		return "", v, err
	}
	if tx.Run.AutoApprove != "" && !v.Person && !v.Risk.AtLeast(pawl.RiskHigh) {
		return tx.Task.Approval, v, nil
	}
	if id := spendWord(tx, a); id != "" {
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

// agentLooping notes a call and reports whether the newest ones only repeat themselves.
func agentLooping(tx *Tx, a effect.Ask) error {
	tx.Talk.Recent = append(slices.Clip(tx.Talk.Recent), digest(a)[:16])
	if n := len(tx.Talk.Recent) - sameCalls*cycleCalls; n > 0 {
		tx.Talk.Recent = tx.Talk.Recent[n:]
	}
	tx.touch(tx.Talk)
	for length := 1; length <= cycleCalls; length++ {
		if repeats(tx.Talk.Recent, length) {
			return pawl.Fail(pawl.CodeLoop, "kernel.agent_loops", tx.Talk.Agent, a.Name, itoa(length))
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

// refuseCall tells the agent that a call was not made, and why.
func refuseCall(tx *Tx, a effect.Ask, err error) {
	kept := info(err)
	tellAgent(tx, a, map[string]any{"ok": false, "made": false, "error": map[string]any{"class": kept.Class, "code": kept.Code, "message": err.Error()}}, true)
	tx.record(tx.Talk, AuditCallRefused, audit.Warn, map[string]any{"tool": a.Name, "code": kept.Code, "key": kept.Key, "args": kept.Args})
}

// tellAgent answers a call in the conversation and goes on to the next.
func tellAgent(tx *Tx, a effect.Ask, answer any, failed bool) {
	k := tx.Talk
	k.Messages = append(slices.Clip(k.Messages), effect.Message{Role: effect.RoleTool, Call: a.ID, Text: string(encode(answer)), Failed: failed})
	k.Next++
	k.Granted = ""
	tx.touch(k)
}

// wasAsked reports whether the call at work is one that an agent asked for between two exchanges.
func wasAsked(tx *Tx, call effect.ToolCall) bool {
	k := tx.Talk
	return k != nil && k.Step == call.StepID && k.Next < len(k.Asks) && tx.Effect.Within == ""
}

// callAnswered takes the receipt of a call that an agent asked for. A failed one is the agent's to deal with.
func callAnswered(tx *Tx, call effect.ToolCall, r effect.Receipt) error {
	callTook(tx, call, r)
	if environmental(r.Code) && !r.OK {
		return block(tx, BlockedEnvironment, "", r.Err())
	}
	what := CallTolerated
	if r.OK {
		what = CallWorked
	}
	tellAgent(tx, tx.Talk.Asks[tx.Talk.Next], toldOf(r), !r.OK)
	return tx.apply(what, call.Name)
}

// callTook notes the tree that a call left.
func callTook(tx *Tx, _ effect.ToolCall, r effect.Receipt) {
	if res, err := effect.Decode[effect.ToolResult](r.Result); err == nil && res.After != "" {
		tx.Task.Tree = res.After
		tx.touch(tx.Task)
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
func askPerson(tx *Tx, s *plan.Step, a effect.Ask, v policy.Verdict) error {
	tx.Turn.Return = string(turn.Executing)
	tx.touch(tx.Turn)
	sum := sha256.Sum256(encode(map[string]any{"task": tx.Task.ID, "step": s.StepID, "call": a, "n": len(tx.Talk.Messages)}))
	askFor(tx, "call", tx.Task.ID, hex.EncodeToString(sum[:]), policy.SingleAction, a.Name+" "+string(a.Args))
	tx.record(tx.Talk, AuditCallAsked, audit.Info, map[string]any{"tool": a.Name, "args": a.Args, "reasons": v.Reasons})
	return tx.apply(CallAsks, a.Name)
}

// callAllowed makes the call that a person allowed.
func callAllowed(tx *Tx, a *Approval) error {
	if err := tx.apply(CallAllowed, "allowed by "+string(tx.env.Actor)); err != nil {
		return err
	}
	tx.Turn.Return, tx.Session.Approval = "", ""
	if k := tx.Talk; k.Wanted != nil {
		allowed := map[string]string{digest(*k.Wanted): a.ID}
		maps.Copy(allowed, k.Allowed)
		k.Allowed = allowed
		k.Notes = append(slices.Clip(k.Notes), "A person allowed this call, once and exactly as it was: "+k.Wanted.Name+" "+string(k.Wanted.Args)+" It was not made yet; make it again.")
		k.Wanted = nil
		tx.touch(k)
		return nil
	}
	workAgain(tx, a.ID)
	return nil
}

// wantCall keeps the call that an agent with a loop of its own may not make without a person's word. Its work breaks off there.
func wantCall(tx *Tx, a effect.Ask) {
	if tx.Session.RunMode == pawl.Autonomous || tx.Talk.Wanted != nil {
		return
	}
	tx.Talk.Wanted = &effect.Ask{Name: a.Name, Args: a.Args}
	tx.touch(tx.Talk)
}

// wantedCalls takes the call for which the agent's work broke off.
func wantedCalls(tx *Tx) *effect.Ask {
	if tx.Talk == nil || tx.Talk.Wanted == nil {
		return nil
	}
	a := tx.Talk.Wanted
	tx.Talk.Wanted = nil
	tx.touch(tx.Talk)
	return a
}

// askWanted parks the turn until a person says whether that call may be made. The agent goes on with its own session then.
func askWanted(tx *Tx, a *effect.Ask) error {
	s := plan.Step{StepID: tx.Talk.Step}
	v, err := judgeCall(tx, plan.ToolCallTemplate{Name: a.Name, ArgsHint: a.Args})
	if err != nil {
		return failedWork(tx, err, "")
	}
	tx.Talk.Wanted = a
	return askPerson(tx, &s, *a, v)
}

// spendWord returns the approval of exactly this call, which is used up by that, or "".
func spendWord(tx *Tx, a effect.Ask) string {
	key := digest(a)
	id := tx.Talk.Allowed[key]
	if id != "" {
		left := maps.Clone(tx.Talk.Allowed)
		delete(left, key)
		tx.Talk.Allowed = left
		tx.touch(tx.Talk)
	}
	return id
}

// workAgain has the call that is next judged once more, under a person's word where there is one. That must not count as the
// agent asking twice.
func workAgain(tx *Tx, granted string) {
	tx.Talk.Granted = granted
	if n := len(tx.Talk.Recent); n > 0 {
		tx.Talk.Recent = tx.Talk.Recent[:n-1]
	}
	tx.touch(tx.Talk)
}

// replan changes the steps that are not done yet (docs/spec/turn.md#b6). What is new in it is judged like the plan was.
func replan(tx *Tx, result effect.WorkResult) error {
	t := tx.Task
	if result.Patch == nil {
		return failedWork(tx, pawl.Fail(pawl.CodeModel, "kernel.replan_empty", tx.Talk.Agent), result.Reason)
	}
	p := t.Plan.Clone()
	if i, ok := p.Find(t.Cursor.Step); ok && p.Steps[i].Status == plan.InProgress {
		p.Steps[i].Status = plan.Pending
	}
	next, err := plan.Apply(p, *result.Patch, tx.Config.Plan)
	if err != nil {
		return failedWork(tx, err, result.Reason)
	}
	for _, s := range next.Steps {
		for _, c := range s.ToolCalls {
			if v, err := judgeCall(tx, c); err != nil || v.Person || v.Decision == policy.Ask && tx.Run.AutoApprove == "" {
				return failedWork(tx, pawl.Fail(pawl.CodeApprovalNeeded, "kernel.replan_asks", s.StepID, c.Name), result.Reason)
			}
		}
	}
	if err := tx.apply(WorkFailed, "another way: "+result.Reason); err != nil {
		return err
	}
	t.Plan, t.Cursor.Step, t.Cursor.Call = &next, "", 0
	tx.Turn.Patches++
	tx.touch(t)
	tx.touch(tx.Turn)
	tx.record(t, AuditPlanPatched, audit.Info, map[string]any{"reason": result.Reason, "hash": plan.Hash(next), "patch": result.Patch})
	return tx.apply(Replanned, result.Reason)
}
