package steps

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/audit"
	"pawl/kernel/effect"
	"pawl/machine/turn"
	"pawl/text/plan"
	"pawl/text/policy"
)

// workOn commits what comes next for an agent's step: the next of the calls that it asked for, or the next exchange.
func workOn(tx *kernel.Tx, s *plan.Step) error {
	t := tx.Task
	if tx.Talk == nil || tx.Talk.Step != s.StepID {
		session, earlier := "", []effect.ToolResult(nil)
		if tx.Talk != nil {
			session, earlier = tx.Talk.Session, lastResults(tx.Talk.Messages)
		}
		tx.Talk = &kernel.Conversation{Step: s.StepID, Agent: tx.Run.Agent, Session: session, Earlier: earlier}
		tx.Create(tx.Talk, kernel.KindTalk, "", t.ID, "")
		t.Talk = tx.Talk.ID
		tx.Touch(t)
	}
	for tx.Talk.Next < len(tx.Talk.Asks) {
		if done, err := callAsked(tx, s, tx.Talk.Asks[tx.Talk.Next]); done || err != nil {
			return err
		}
	}
	if tx.Turn.Calls >= tx.Config.MaxCalls {
		return failedWork(tx, pawl.Fail(pawl.CodeBudget, "kernel.calls_used", strconv.Itoa(tx.Config.MaxCalls)), "")
	}
	tx.Turn.Calls++
	tx.Touch(tx.Turn)
	// An exchange may be had again: what it asked for is only done once it was committed.
	e := tx.Emit(effect.KindWork, effect.WorkSpec{Agent: tx.Run.Agent, Goal: t.Plan.Goal, Step: s.StepID,
		Granted: t.Approval}, true)
	e.Effect.Timeout, e.Effect.Record = tx.Config.TaskTime, true
	worked(tx)
	return nil
}

// FillWork completes a work effect with what is kept elsewhere, so that it is stored once and not with every exchange.
func FillWork(tx *kernel.Tx, e effect.Effect) (effect.Effect, error) {
	spec, err := effect.Decode[effect.WorkSpec](e.Spec)
	if err != nil {
		return e, err
	}
	spec.Plan = tx.Task.Plan.Withheld()
	if tx.Run.Context != nil {
		spec.Context = *tx.Run.Context
	}
	if tx.Talk != nil {
		spec.Messages, spec.Session, spec.Notes, spec.Recent = tx.Talk.Messages, tx.Talk.Session, tx.Talk.Notes,
			tx.Talk.Earlier
	}
	for _, said := range tx.Task.Help.Notes {
		spec.Notes = append(slices.Clip(spec.Notes), "A person says: "+said)
	}
	if tx.Turn.Fix > 0 && tx.Turn.Failure != nil {
		spec.Failure = tx.Turn.Failure
		spec.Notes = append(slices.Clip(spec.Notes), knownIncidents(tx, spec.Failure)...)
	}
	e.Spec = effect.Encode(spec)
	return e, nil
}

// AgentDone takes what an agent answered.
func AgentDone(tx *kernel.Tx, r effect.Receipt) error {
	result, err := effect.Decode[effect.WorkResult](r.Result)
	if err != nil && r.OK {
		return failedWork(tx, err, "")
	}
	if result.After != "" {
		tx.Task.Tree = result.After
		tx.Touch(tx.Task)
	}
	if tx.Talk != nil && err == nil {
		hearAgent(tx, result)
	}
	wanted := wantedCalls(tx)
	switch {
	case !r.OK && r.Code == pawl.CodeApprovalNeeded && wanted != nil:
		return askWanted(tx, wanted)
	case !r.OK && (kernel.Environmental(r.Code) || r.Code == pawl.CodeBudget || r.Code == pawl.CodeLogin):
		kind := kernel.BlockedEnvironment
		if r.Code == pawl.CodeBudget {
			kind = kernel.BlockedBudget
		}
		return kernel.Block(tx, kind, "", r.Err())
	case !r.OK:
		return failedWork(tx, r.Err(), result.Text)
	case tx.Talk == nil:
		return pawl.Fail(pawl.CodeInternal, "kernel.effect_unknown", string(effect.KindWork))
	}
	return agentSaid(tx, result)
}

// agentSaid goes on in the way that an agent said.
func agentSaid(tx *kernel.Tx, result effect.WorkResult) error {
	switch result.Control {
	case effect.Calls:
		if len(tx.Talk.Asks) == 0 {
			return failedWork(tx, pawl.Fail(pawl.CodeModel, "kernel.no_calls", tx.Talk.Agent), result.Text)
		}
		tx.Then(kernel.ThenAdvance)
		return nil
	case effect.Replan:
		return replan(tx, result)
	case effect.DisputeTest:
		return dispute(tx, result)
	case effect.StepDone:
		return stepDone(tx)
	case effect.Question:
		if err := askQuestion(tx, tx.Talk.Step, "", result.Reason); err != nil {
			return failedWork(tx, err, result.Text)
		}
		tx.Then(kernel.ThenAdvance)
		return nil
	}
	return failedWork(tx, pawl.Fail(pawl.CodeCannotPlan, "kernel.agent_gave_up", tx.Talk.Agent, result.Reason),
		result.Text)
}

// stepDone believes an agent that it has no more to do, which is all that it may say: whether it is done the checks
// decide.
func stepDone(tx *kernel.Tx) error {
	t := tx.Task
	t.Cursor.Call = 1
	tx.Touch(t)
	if t.Cursor.Failed == t.Cursor.Step {
		t.Cursor.Failed, t.Cursor.At = "", 0
		if err := tx.Apply(kernel.StepRepaired, "the step that failed works now"); err != nil {
			return err
		}
		kernel.FixHeld(tx)
	}
	tx.Then(kernel.ThenAdvance)
	return nil
}

// failedWork takes a failed agent's step to its repair.
func failedWork(tx *kernel.Tx, err error, text string) error {
	kept := kernel.Info(err)
	what := kernel.WorkFailed
	if kept.Class == pawl.ClassToolTimeout {
		what = kernel.CallTimedOut
	}
	output := text
	if kept.Detail != "" {
		output = strings.TrimSpace(output + "\n" + kept.Detail)
	}
	return kernel.FailCall(tx, what, effect.Failure{
		What: "step " + tx.Task.Cursor.Step, Class: kept.Class, Code: kept.Code, Key: kept.Key, Args: kept.Args,
		Output: kernel.Clip(output), Tree: tx.Task.Tree,
	})
}

// callAsked commits the call that the agent asks for, or tells it why not. Done says that something is to be waited
// for.
func callAsked(tx *kernel.Tx, s *plan.Step, a effect.Ask) (done bool, err error) {
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
		refuseCall(tx, a, verdict, refusal)
		return false, nil
	}
	e := tx.Emit(effect.KindTool, toolCall(tx, s.StepID, a, granted, verdict), tx.Config.Repeatable(a.Name, a.Args))
	callBound(tx, e, a.Name)
	return true, nil
}

// askHuman puts the agent's question to the person, and parks the turn until there is an answer.
func askHuman(tx *kernel.Tx, s *plan.Step, a effect.Ask) (done bool, err error) {
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
		refuseCall(tx, a, policy.Verdict{}, err)
		return false, nil
	}
	return true, parkTurn(tx)
}

// callBound gives a call its time and its retries, and counts it.
func callBound(tx *kernel.Tx, e *kernel.EffectDoc, name string) {
	e.Effect.Timeout = tx.Config.Call
	if tx.Config.Tools[name].Info.Idempotent {
		e.Effect.Delays = tx.Config.ReadDelays
	}
	tx.Turn.Calls++
	tx.Touch(tx.Turn)
}

func toolCall(tx *kernel.Tx, step string, a effect.Ask, granted string, v policy.Verdict) effect.ToolCall {
	tool := tx.Config.Tools[a.Name].Info
	fix := 0
	if i, ok := tx.Task.Plan.Find(step); ok {
		fix = tx.Task.Plan.Steps[i].Repair()
	}
	if granted != "" && granted != tx.Task.Approval {
		seen(tx, v)
	}
	// A call without a place to connect to was refused when it was admitted; whatever slips through gets no network.
	sites, _ := kernel.CallSites(tx, plan.ToolCallTemplate{Name: a.Name, ArgsHint: a.Args})
	return effect.ToolCall{
		CallID: tx.NewID(), Name: a.Name, Version: tool.Version, Args: a.Args, Permissions: tool.Permissions,
		TraceID: tx.Turn.Trace,
		StepID:  step, Fix: fix, Granted: granted, Network: len(sites) > 0, Sites: sites,
		Snapshot: slices.Contains(tool.Permissions, policy.ProcExec) || tx.Task.Place.InPlace && !tool.Idempotent,
	}
}

// seen notes the files that the policy asks about and that a person has let a call change: the same is not asked about
// again in what the work leaves behind.
func seen(tx *kernel.Tx, v policy.Verdict) {
	t := tx.Task
	for _, p := range v.Paths {
		if p.Op != policy.OpRead && !slices.Contains(t.Named, p.Rel) &&
			slices.ContainsFunc(v.Reasons, func(r policy.Reason) bool { return r.Code == policy.CodeSensitivePath }) {
			t.Named = append(slices.Clip(t.Named), p.Rel)
			tx.Touch(t)
		}
	}
}

// admitCall judges a call that an agent asks for: its budget, its arguments, policy, and whether it leads anywhere.
// What policy asks about is covered by the word under which the plan was approved without asking, as far as it is not
// grave.
func admitCall(tx *kernel.Tx, a effect.Ask) (granted string, v policy.Verdict, err error) {
	if tx.Turn.Calls >= tx.Config.MaxCalls {
		return "", v, pawl.Fail(pawl.CodeBudget, "kernel.calls_used", strconv.Itoa(tx.Config.MaxCalls))
	}
	call := plan.ToolCallTemplate{Name: a.Name, ArgsHint: a.Args}
	if err := plan.Check(single(call), tx.Config.Schema, tx.Config.Plan); err != nil {
		return "", v, err
	}
	if err := agentLooping(tx, a); err != nil {
		return "", v, err
	}
	v, err = kernel.JudgeCall(tx, call)
	if err == nil {
		_, err = kernel.CallSites(tx, call)
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
		Steps: []plan.Step{{StepID: "ask", Title: "ask", Intent: "ask", Status: plan.Pending,
			ToolCalls: []plan.ToolCallTemplate{c}}},
		Verification: plan.VerificationPolicy{Mode: plan.VerifyNone, Commands: []string{}},
	}
}

// callAnswered takes the receipt of a call that an agent asked for. A failed one is the agent's to deal with.
func callAnswered(tx *kernel.Tx, call effect.ToolCall, r effect.Receipt) error {
	kernel.CallTook(tx, r)
	if kernel.Environmental(r.Code) && !r.OK {
		return kernel.Block(tx, kernel.BlockedEnvironment, "", r.Err())
	}
	what := kernel.CallTolerated
	if r.OK {
		what = kernel.CallWorked
	}
	tellAgent(tx, tx.Talk.Asks[tx.Talk.Next], toldOf(r), !r.OK)
	return tx.Apply(what, call.Name)
}

// askPerson parks the turn until a person says whether one call may be made.
func askPerson(tx *kernel.Tx, s *plan.Step, a effect.Ask, v policy.Verdict) error {
	tx.Turn.Return = string(turn.Executing)
	tx.Touch(tx.Turn)
	sum := sha256.Sum256(effect.Encode(map[string]any{"task": tx.Task.ID, "step": s.StepID, "call": a,
		"n": len(tx.Talk.Messages)}))
	kernel.AskFor(tx, "call", tx.Task.ID, hex.EncodeToString(sum[:]), policy.SingleAction, a.Name+" "+string(a.Args))
	tx.Record(tx.Talk, kernel.AuditCallAsked, audit.Info,
		map[string]any{"tool": a.Name, "args": a.Args, "reasons": v.Reasons})
	return tx.Apply(kernel.CallAsks, a.Name)
}

// CallAllowed makes the call that a person allowed.
func CallAllowed(tx *kernel.Tx, a *kernel.Approval) error {
	if err := tx.Apply(kernel.CallAllowed, "allowed by "+string(tx.Env.Actor)); err != nil {
		return err
	}
	tx.Turn.Return, tx.Session.Approval = "", ""
	if k := tx.Talk; k.Wanted != nil {
		allowed := map[string]string{digest(*k.Wanted): a.ID}
		maps.Copy(allowed, k.Allowed)
		k.Allowed = allowed
		k.Notes = append(slices.Clip(k.Notes), "A person allowed this call, once and exactly as it was: "+k.Wanted.Name+
			" "+string(k.Wanted.Args)+" It was not made yet; make it again.")
		k.Wanted = nil
		tx.Touch(k)
		return nil
	}
	workAgain(tx, a.ID)
	return nil
}

// askWanted parks the turn until a person says whether that call may be made. The agent goes on with its own session
// then.
func askWanted(tx *kernel.Tx, a *effect.Ask) error {
	s := plan.Step{StepID: tx.Talk.Step}
	v, err := kernel.JudgeCall(tx, plan.ToolCallTemplate{Name: a.Name, ArgsHint: a.Args})
	if err != nil {
		return failedWork(tx, err, "")
	}
	tx.Talk.Wanted = a
	return askPerson(tx, &s, *a, v)
}

// replan changes the steps that are not done yet (docs/spec/turn.md#b6). What is new in it is judged like the plan was.
func replan(tx *kernel.Tx, result effect.WorkResult) error {
	t := tx.Task
	if result.Patch == nil {
		return failedWork(tx, pawl.Fail(pawl.CodeModel, "kernel.replan_empty", tx.Talk.Agent), result.Reason)
	}
	if result.Patch.Criteria != nil { // who is judged does not say by what
		return failedWork(tx, pawl.Fail(pawl.CodeDenied, "kernel.replan_criteria", tx.Talk.Agent), result.Reason)
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
			if v, err := kernel.JudgeCall(tx, c); err != nil || v.Person || v.Decision == policy.Ask &&
				(tx.Run.AutoApprove == "" || v.Risk.AtLeast(pawl.RiskHigh)) {
				return failedWork(tx, pawl.Fail(pawl.CodeApprovalNeeded, "kernel.replan_asks", s.StepID, c.Name),
					result.Reason)
			}
		}
	}
	if err := tx.Apply(kernel.WorkFailed, "another way: "+result.Reason); err != nil {
		return err
	}
	t.Plan, t.Cursor.Step, t.Cursor.Call = &next, "", 0
	tx.Turn.Patches++
	tx.Touch(t)
	tx.Touch(tx.Turn)
	tx.Record(t, kernel.AuditPlanPatched, audit.Info, map[string]any{"reason": result.Reason, "hash": plan.Hash(next),
		"patch": result.Patch})
	return tx.Apply(kernel.Replanned, result.Reason)
}

// Decide has a tool call judged that an agent with a loop of its own asks for in the middle of its work, and commits it
// as begun: the caller does it next. It belongs to the agent's effect, whose token it carries.
func (c *StartToolCall) Decide(tx *kernel.Tx) error {
	parent, err := kernel.EffectAtWork(tx, c.Effect, c.Token)
	if err != nil {
		return err
	}
	if tx.Talk == nil || tx.Task == nil {
		return pawl.Fail(pawl.CodeInternal, "kernel.effect_unknown", string(parent.What()))
	}
	granted, v, refusal := admitCall(tx, c.Ask)
	if refusal != nil {
		if code := pawl.CodeOf(refusal); code == pawl.CodeLoop || code == pawl.CodeBudget {
			return refusal
		}
		if pawl.CodeOf(refusal) == pawl.CodeApprovalNeeded {
			wantCall(tx, c.Ask)
		}
		// The refusal itself is worth a record, so it is an answer and not an error of the command.
		kept := recordRefusal(tx, c.Ask, v, refusal)
		tx.Result = Made{Refused: &kept}
		return nil
	}
	if err := tx.Protocols.Books.Call(tx, c.Ask.Name, c.Day); err != nil {
		return err
	}
	if c.Judge {
		tx.Turn.Calls++
		tx.Touch(tx.Turn)
		tx.Record(tx.Talk, kernel.AuditCallAllowed, audit.Info, map[string]any{"tool": c.Ask.Name, "args": c.Ask.Args,
			"granted": granted})
		tx.Result = Made{}
		return nil
	}
	spec := toolCall(tx, tx.Talk.Step, c.Ask, granted, v)
	spec.Images = c.Images
	e := &kernel.EffectDoc{Within: parent.ID}
	tx.Create(e, kernel.KindEffect, "", parent.ID, kernel.EffectRunning)
	e.Epoch, e.Attempts = 1, 1
	e.Due = tx.Now.Add(tx.Config.LeaseTime)
	e.Effect = effect.Effect{
		ID: e.ID, Kind: effect.KindTool, Session: parent.Effect.Session, Task: parent.Effect.Task,
		Turn:       parent.Effect.Turn,
		Idempotent: tx.Config.Repeatable(c.Ask.Name, c.Ask.Args), Place: tx.Task.Place, Spec: effect.Encode(spec),
		Token:  1,
		Record: !tx.Config.Tools[c.Ask.Name].Info.Idempotent,
	}
	callBound(tx, e, c.Ask.Name)
	kernel.NoteOnce(tx, e)
	tx.Record(e, kernel.AuditEffectStarted, audit.Info,
		map[string]any{"effect": e.What(), "tool": c.Ask.Name, "within": parent.ID, "attempt": 1, "token": 1})
	tx.Result = Made{Effect: &e.Effect}
	return nil
}

// Decide keeps the agent's own session.
func (c *AttachSession) Decide(tx *kernel.Tx) error {
	if _, err := kernel.EffectAtWork(tx, c.Effect, c.Token); err != nil {
		return err
	}
	if tx.Talk == nil || tx.Talk.Session == c.Session {
		return nil
	}
	tx.Talk.Session = c.Session
	tx.Record(tx.Talk, kernel.AuditAgentSession, audit.Info,
		map[string]any{"agent": tx.Talk.Agent, "session": c.Session})
	return nil
}

// CallResolved takes the person's word about a call of an agent whose outcome was lost. A call that pawl makes between
// two exchanges is made again when it did not happen; an agent with a loop of its own is told, and asks again for what
// it needs.
func CallResolved(tx *kernel.Tx) error {
	e, a := tx.Effect, kernel.Answer(tx.Effect.Answer)
	call, _ := effect.Decode[effect.ToolCall](e.Effect.Spec)
	note := "The connection was lost while this call was made. A person looked: it did not happen, or may be done again."
	if a == kernel.AnswerDone {
		e.State = kernel.EffectDone
		note = "The connection was lost while this call was made. A person looked: it did happen. Do not make it again."
	}
	switch {
	case e.Within != "":
		tx.Talk.Notes = append(tx.Talk.Notes[:len(tx.Talk.Notes):len(tx.Talk.Notes)], call.Name+" "+string(call.Args)+
			": "+note)
		tx.Touch(tx.Talk)
	case a == kernel.AnswerDone:
		tellAgent(tx, tx.Talk.Asks[tx.Talk.Next], map[string]any{"ok": true, "made": true, "note": note}, false)
	default:
		workAgain(tx, call.Granted)
	}
	p := tx.Task.Plan.Clone()
	if i, ok := p.Find(call.StepID); ok {
		p.Steps[i].Status = plan.InProgress
	}
	tx.Task.Plan, tx.Task.Cursor = &p, kernel.Cursor{Step: call.StepID}
	tx.Touch(tx.Task)
	return nil
}

// CallRefused has the agent's step repaired, whose call a person did not allow.
func CallRefused(tx *kernel.Tx, a *kernel.Approval, reason string) error {
	if err := kernel.RefuseAction(tx, reason); err != nil {
		return err
	}
	wantedCalls(tx)
	kernel.DropRepair(tx)
	return kernel.FailWork(tx, effect.Failure{What: "call refused", Class: pawl.ClassPolicyDenied,
		Code: pawl.CodeUserDenied, Output: strings.TrimSpace(a.Detail + "\n" + reason)})
}
