package kernel

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"pawl"
	"pawl/kernel/audit"
	"pawl/kernel/effect"
	"pawl/machine/turn"
	"pawl/text/plan"
	"pawl/text/policy"
)

// workOn commits what comes next for an agent's step: the next of the calls that it asked for, or the next exchange.
func workOn(tx *Tx, s *plan.Step) error {
	t := tx.Task
	if tx.Talk == nil || tx.Talk.Step != s.StepID {
		session, earlier := "", []effect.ToolResult(nil)
		if tx.Talk != nil {
			session, earlier = tx.Talk.Session, lastResults(tx.Talk.Messages)
		}
		tx.Talk = &Conversation{Step: s.StepID, Agent: tx.Run.Agent, Session: session, Earlier: earlier}
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
		return failedWork(tx, pawl.Fail(pawl.CodeBudget, "kernel.calls_used", strconv.Itoa(tx.Config.MaxCalls)), "")
	}
	tx.Turn.Calls++
	tx.touch(tx.Turn)
	// An exchange may be had again: what it asked for is only done once it was committed.
	e := tx.emit(effect.KindWork, effect.WorkSpec{Agent: tx.Run.Agent, Goal: t.Plan.Goal, Step: s.StepID,
		Granted: t.Approval}, true)
	e.Effect.Timeout, e.Effect.Record = tx.Config.TaskTime, true
	return nil
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
		spec.Messages, spec.Session, spec.Notes, spec.Recent = tx.Talk.Messages, tx.Talk.Session, tx.Talk.Notes,
			tx.Talk.Earlier
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
	return failedWork(tx, pawl.Fail(pawl.CodeCannotPlan, "kernel.agent_gave_up", tx.Talk.Agent, result.Reason),
		result.Text)
}

// stepDone believes an agent that it has no more to do, which is all that it may say: whether it is done the checks
// decide.
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
		What: "step " + tx.Task.Cursor.Step, Class: kept.Class, Code: kept.Code, Key: kept.Key, Args: kept.Args,
		Output: clip(output), Tree: tx.Task.Tree,
	})
}

// callAsked commits the call that the agent asks for, or tells it why not. Done says that something is to be waited
// for.
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
		CallID: tx.newID(), Name: a.Name, Version: tool.Version, Args: a.Args, Permissions: tool.Permissions,
		TraceID: tx.Turn.Trace,
		StepID:  step, Fix: fix, Granted: granted, Network: len(sites) > 0, Sites: sites,
		Snapshot: slices.Contains(tool.Permissions, policy.ProcExec) || tx.Task.Place.InPlace && !tool.Idempotent,
	}
}

// admitCall judges a call that an agent asks for: its budget, its arguments, policy, and whether it leads anywhere.
// What policy asks about is covered by the word under which the plan was approved without asking, as far as it is not
// grave.
func admitCall(tx *Tx, a effect.Ask) (granted string, v policy.Verdict, err error) {
	if tx.Turn.Calls >= tx.Config.MaxCalls {
		return "", v, pawl.Fail(pawl.CodeBudget, "kernel.calls_used", strconv.Itoa(tx.Config.MaxCalls))
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
		Steps: []plan.Step{{StepID: "ask", Title: "ask", Intent: "ask", Status: plan.Pending,
			ToolCalls: []plan.ToolCallTemplate{c}}},
		Verification: plan.VerificationPolicy{Mode: plan.VerifyNone, Commands: []string{}},
	}
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

// askPerson parks the turn until a person says whether one call may be made.
func askPerson(tx *Tx, s *plan.Step, a effect.Ask, v policy.Verdict) error {
	tx.Turn.Return = string(turn.Executing)
	tx.touch(tx.Turn)
	sum := sha256.Sum256(encode(map[string]any{"task": tx.Task.ID, "step": s.StepID, "call": a,
		"n": len(tx.Talk.Messages)}))
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
		k.Notes = append(slices.Clip(k.Notes), "A person allowed this call, once and exactly as it was: "+k.Wanted.Name+
			" "+string(k.Wanted.Args)+" It was not made yet; make it again.")
		k.Wanted = nil
		tx.touch(k)
		return nil
	}
	workAgain(tx, a.ID)
	return nil
}

// askWanted parks the turn until a person says whether that call may be made. The agent goes on with its own session
// then.
func askWanted(tx *Tx, a *effect.Ask) error {
	s := plan.Step{StepID: tx.Talk.Step}
	v, err := judgeCall(tx, plan.ToolCallTemplate{Name: a.Name, ArgsHint: a.Args})
	if err != nil {
		return failedWork(tx, err, "")
	}
	tx.Talk.Wanted = a
	return askPerson(tx, &s, *a, v)
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
			if v, err := judgeCall(tx, c); err != nil || v.Person || v.Decision == policy.Ask &&
				tx.Run.AutoApprove == "" {
				return failedWork(tx, pawl.Fail(pawl.CodeApprovalNeeded, "kernel.replan_asks", s.StepID, c.Name),
					result.Reason)
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
	tx.record(t, AuditPlanPatched, audit.Info, map[string]any{"reason": result.Reason, "hash": plan.Hash(next),
		"patch": result.Patch})
	return tx.apply(Replanned, result.Reason)
}

// Decide has a tool call judged that an agent with a loop of its own asks for in the middle of its work, and commits it
// as begun: the caller does it next. It belongs to the agent's effect, whose token it carries.
func (c *StartToolCall) Decide(tx *Tx) error {
	parent, err := effectAtWork(tx, c.Effect, c.Token)
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
		kept := info(refusal)
		tx.record(tx.Talk, AuditCallRefused, audit.Warn,
			map[string]any{"tool": c.Ask.Name, "code": kept.Code, "key": kept.Key, "args": kept.Args})
		tx.result = Made{Refused: &kept}
		return nil
	}
	if err := callFits(tx, c.Ask.Name, c.Day); err != nil {
		return err
	}
	if c.Judge {
		tx.Turn.Calls++
		tx.touch(tx.Turn)
		tx.record(tx.Talk, AuditCallAllowed, audit.Info, map[string]any{"tool": c.Ask.Name, "args": c.Ask.Args,
			"granted": granted})
		tx.result = Made{}
		return nil
	}
	spec := toolCall(tx, tx.Talk.Step, c.Ask, granted, v)
	spec.Images = c.Images
	e := &EffectDoc{Within: parent.ID}
	tx.create(e, KindEffect, "", parent.ID, EffectRunning)
	e.Epoch, e.Attempts = 1, 1
	e.Due = tx.now.Add(tx.Config.LeaseTime)
	e.Effect = effect.Effect{
		ID: e.ID, Kind: effect.KindTool, Session: parent.Effect.Session, Task: parent.Effect.Task,
		Turn:       parent.Effect.Turn,
		Idempotent: tx.Config.repeatable(c.Ask.Name, c.Ask.Args), Place: tx.Task.Place, Spec: effect.Encode(spec),
		Token:  1,
		Record: !tx.Config.Tools[c.Ask.Name].Info.Idempotent,
	}
	callBound(tx, e, c.Ask.Name)
	tx.record(e, AuditEffectStarted, audit.Info,
		map[string]any{"effect": e.What(), "tool": c.Ask.Name, "within": parent.ID, "attempt": 1, "token": 1})
	tx.result = Made{Effect: &e.Effect}
	return nil
}

// Decide keeps the agent's own session.
func (c *AttachSession) Decide(tx *Tx) error {
	if _, err := effectAtWork(tx, c.Effect, c.Token); err != nil {
		return err
	}
	if tx.Talk == nil || tx.Talk.Session == c.Session {
		return nil
	}
	tx.Talk.Session = c.Session
	tx.record(tx.Talk, AuditAgentSession, audit.Info, map[string]any{"agent": tx.Talk.Agent, "session": c.Session})
	return nil
}

// ownsEffect reports whether a call whose outcome was lost is one that an agent asked for.
func ownsEffect(tx *Tx, e *EffectDoc) bool {
	if tx.Talk == nil || e.What() != effect.KindTool {
		return false
	}
	call, err := effect.Decode[effect.ToolCall](e.Effect.Spec)
	return err == nil && call.StepID == tx.Talk.Step && (e.Within != "" || tx.Talk.Next < len(tx.Talk.Asks))
}

// callResolved takes the person's word about a call of an agent whose outcome was lost. A call that pawl makes between
// two exchanges is made again when it did not happen; an agent with a loop of its own is told, and asks again for what
// it needs.
func callResolved(tx *Tx, e *EffectDoc, a Answer) {
	call, _ := effect.Decode[effect.ToolCall](e.Effect.Spec)
	note := "The connection was lost while this call was made. A person looked: it did not happen, or may be done again."
	if a == AnswerDone {
		e.State = EffectDone
		note = "The connection was lost while this call was made. A person looked: it did happen. Do not make it again."
	}
	switch {
	case e.Within != "":
		tx.Talk.Notes = append(tx.Talk.Notes[:len(tx.Talk.Notes):len(tx.Talk.Notes)], call.Name+" "+string(call.Args)+
			": "+note)
		tx.touch(tx.Talk)
	case a == AnswerDone:
		tellAgent(tx, tx.Talk.Asks[tx.Talk.Next], map[string]any{"ok": true, "made": true, "note": note}, false)
	default:
		workAgain(tx, call.Granted)
	}
	p := tx.Task.Plan.Clone()
	if i, ok := p.Find(call.StepID); ok {
		p.Steps[i].Status = plan.InProgress
	}
	tx.Task.Plan, tx.Task.Cursor = &p, Cursor{Step: call.StepID}
	tx.touch(tx.Task)
}

// recoverWithin settles the calls that were at work inside an agent's effect when the runner died, and then the effect.
// A call that nobody knows of and that may not be repeated becomes the question; the agent's work goes on after the
// answer.
func recoverWithin(tx *Tx, c *Recover) error {
	parent := tx.Effect
	unknown := ""
	for _, e := range tx.Within {
		if e.State != EffectRunning {
			continue
		}
		found := c.Within[e.ID]
		tx.record(e, AuditEffectRecovered, audit.Warn, map[string]any{"effect": e.What(), "answer": found.Answer,
			"idempotent": e.Effect.Idempotent})
		switch {
		case found.Answer == effect.DoneYes:
			e.State, e.Receipt = EffectDone, &found.Receipt
			if !found.Receipt.OK {
				e.State = EffectFailed
			}
			if call, err := effect.Decode[effect.ToolCall](e.Effect.Spec); err == nil {
				callTook(tx, call, found.Receipt)
			}
		case found.Answer == effect.DoneNo || e.Effect.Idempotent:
			// The agent asks again for what it still needs.
			e.State = EffectCanceled
		default:
			e.State = EffectUnknown
			unknown = e.ID
		}
	}
	if unknown == "" {
		parent.State = EffectPending
		return nil
	}
	parent.State = EffectCanceled
	tx.record(parent, AuditEffectCanceled, audit.Warn, map[string]any{"effect": parent.What(), "unknown": unknown})
	tx.Task.Effect = ""
	tx.touch(tx.Task)
	for _, e := range tx.Within {
		if e.ID == unknown {
			call, _ := effect.Decode[effect.ToolCall](e.Effect.Spec)
			return block(tx, BlockedQuestion, e.ID, pawl.Fail(pawl.CodeOutcomeUnknown, "kernel.outcome_unknown",
				call.StepID, call.Name, string(call.Args)))
		}
	}
	return nil
}
