package kernel

import (
	"strings"

	"pawl"
	"pawl/audit"
	"pawl/effect"
	"pawl/plan"
)

// caller decides about the calls in the middle of an agent's work.
type caller struct{ worker }

// make has a tool call judged that an agent with a loop of its own asks for in the middle of its work, and commits it as
// begun: the caller does it next. It belongs to the agent's effect, whose token it carries.
func (w caller) make(c *Make) error {
	parent, err := courier{w.work}.atWork(c.Effect, c.Token)
	if err != nil {
		return err
	}
	if w.Talk == nil || w.Task == nil {
		return pawl.Fail(pawl.CodeInternal, "kernel.effect_unknown", string(parent.What()))
	}
	granted, v, refusal := w.admit(c.Ask)
	if refusal != nil {
		if code := pawl.CodeOf(refusal); code == pawl.CodeLoop || code == pawl.CodeBudget {
			return refusal
		}
		if pawl.CodeOf(refusal) == pawl.CodeApprovalNeeded {
			asker{w.worker}.want(c.Ask)
		}
		// The refusal itself is worth a record, so it is an answer and not an error of the command.
		kept := info(refusal)
		w.record(w.Talk, "CALL_REFUSED", audit.Warn, map[string]any{"tool": c.Ask.Name, "code": kept.Code, "key": kept.Key, "args": kept.Args})
		w.result = Made{Refused: &kept}
		return nil
	}
	if err := (cashier{w.work}).calls(c.Ask.Name, c.Day); err != nil {
		return err
	}
	if c.Judge {
		w.Turn.Calls++
		w.touch(w.Turn)
		w.record(w.Talk, "CALL_ALLOWED", audit.Info, map[string]any{"tool": c.Ask.Name, "args": c.Ask.Args, "granted": granted})
		w.result = Made{}
		return nil
	}
	spec := w.toolCall(w.Talk.Step, c.Ask, granted, v)
	spec.Images = c.Images
	e := &EffectDoc{Within: parent.ID}
	w.create(e, KindEffect, "", parent.ID, EffectRunning)
	e.Epoch, e.Attempts = 1, 1
	e.Due = w.now.Add(w.Config.LeaseTime)
	e.Effect = effect.Effect{
		ID: e.ID, Kind: effect.KindTool, Session: parent.Effect.Session, Task: parent.Effect.Task, Turn: parent.Effect.Turn,
		Idempotent: w.Config.repeatable(c.Ask.Name, c.Ask.Args), Place: w.Task.Place, Spec: effect.Encode(spec), Token: 1,
		Record: !w.Config.Tools[c.Ask.Name].Info.Idempotent,
	}
	w.bound(e, c.Ask.Name)
	w.record(e, "EFFECT_STARTED", audit.Info, map[string]any{"effect": e.What(), "tool": c.Ask.Name, "within": parent.ID, "attempt": 1, "token": 1})
	w.result = Made{Effect: &e.Effect}
	return nil
}

// atWork returns the effect that a command speaks of, if it still is the caller's.
func (w courier) atWork(id string, token int64) (*EffectDoc, error) {
	e := w.Effect
	if e == nil {
		return nil, pawl.Fail(pawl.CodeNotFound, "kernel.effect_not_found", id)
	}
	if e.State != EffectRunning || e.Epoch != token {
		return nil, pawl.Fail(pawl.CodeFenced, "kernel.effect_fenced", e.ID, e.State, token, e.Epoch)
	}
	return e, nil
}

// bind keeps the agent's own session.
func (w caller) bind(c *Bind) error {
	if _, err := (courier{w.work}).atWork(c.Effect, c.Token); err != nil {
		return err
	}
	if w.Talk == nil || w.Talk.Session == c.Session {
		return nil
	}
	w.Talk.Session = c.Session
	w.record(w.Talk, "AGENT_SESSION", audit.Info, map[string]any{"agent": w.Talk.Agent, "session": c.Session})
	return nil
}

// ended takes the receipt of a call in the middle of an agent's work. The agent is told by the caller.
func (w caller) ended(call effect.ToolCall, r effect.Receipt) error {
	w.took(call, r)
	return nil
}

// owns reports whether a call whose outcome was lost is one that an agent asked for.
func (w worker) owns(e *EffectDoc) bool {
	if w.Talk == nil || e.What() != effect.KindTool {
		return false
	}
	call, err := effect.Decode[effect.ToolCall](e.Effect.Spec)
	return err == nil && call.StepID == w.Talk.Step && (e.Within != "" || w.Talk.Next < len(w.Talk.Asks))
}

// resolved takes the person's word about a call of an agent whose outcome was lost. A call that pawl makes between two
// exchanges is made again when it did not happen; an agent with a loop of its own is told, and asks again for what it needs.
func (w worker) resolved(e *EffectDoc, a Answer) {
	call, _ := effect.Decode[effect.ToolCall](e.Effect.Spec)
	note := "The connection was lost while this call was made. A person looked: it did not happen, or may be done again."
	if a == AnswerDone {
		e.State = EffectDone
		note = "The connection was lost while this call was made. A person looked: it did happen. Do not make it again."
	}
	switch {
	case e.Within != "":
		w.Talk.Notes = append(w.Talk.Notes[:len(w.Talk.Notes):len(w.Talk.Notes)], call.Name+" "+string(call.Args)+": "+note)
		w.touch(w.Talk)
	case a == AnswerDone:
		w.tell(w.Talk.Asks[w.Talk.Next], map[string]any{"ok": true, "made": true, "note": note}, false)
	default:
		w.again(call.Granted)
	}
	p := w.Task.Plan.Clone()
	if i, ok := p.Find(call.StepID); ok {
		p.Steps[i].Status = plan.InProgress
	}
	w.Task.Plan, w.Task.Cursor = &p, Cursor{Step: call.StepID}
	w.touch(w.Task)
}

// lessons keeps what was learnt from failures.
type lessons struct{ *work }

// learn keeps what mended a failure, for the agents of later failures of its kind (docs/spec/session.md#known-issues).
func (w lessons) learn() {
	f := w.Turn.Failure
	if f == nil || w.Talk == nil || !w.traits().Works {
		return
	}
	said := ""
	for _, m := range w.Talk.Messages {
		if m.Role == effect.RoleAssistant && m.Text != "" {
			said = m.Text
		}
	}
	if said == "" {
		said = w.Talk.Said
	}
	if strings.TrimSpace(said) == "" {
		return
	}
	i := &Incident{Type: string(f.Class), RootCause: f.What + " " + f.Fingerprint, Fix: firstLine(said), Scope: w.Task.Plan.Goal, By: pawl.By(pawl.KindAgent, w.Talk.Agent)}
	w.create(i, KindIncident, "", w.Session.ID, "")
	w.record(i, "ERROR_RECORDED", audit.Info, i)
}

// maxKnown bounds what an agent is told of earlier failures.
const maxKnown = 5

// known says how earlier failures of the same kind were mended, the likest first.
func (w lessons) known(f *effect.Failure) []string {
	var same, like []string
	for _, i := range w.Incidents {
		line := i.RootCause + ": " + i.Fix
		switch {
		case f.Fingerprint != "" && strings.Contains(i.RootCause, f.Fingerprint):
			same = append(same, line)
		case i.Type == string(f.Class):
			like = append(like, line)
		}
	}
	all := append(same, like...)
	return all[:min(len(all), maxKnown)]
}

// recoverWithin settles the calls that were at work inside an agent's effect when the runner died, and then the effect. A
// call that nobody knows of and that may not be repeated becomes the question; the agent's work goes on after the answer.
func (w courier) recoverWithin(c *Recover) error {
	parent := w.Effect
	unknown := ""
	for _, e := range w.Within {
		if e.State != EffectRunning {
			continue
		}
		found := c.Within[e.ID]
		w.record(e, "EFFECT_RECOVERED", audit.Warn, map[string]any{"effect": e.What(), "answer": found.Answer, "idempotent": e.Effect.Idempotent})
		switch {
		case found.Answer == effect.DoneYes:
			e.State, e.Receipt = EffectDone, &found.Receipt
			if !found.Receipt.OK {
				e.State = EffectFailed
			}
			if call, err := effect.Decode[effect.ToolCall](e.Effect.Spec); err == nil {
				worker{w.work}.took(call, found.Receipt)
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
	w.record(parent, "EFFECT_CANCELED", audit.Warn, map[string]any{"effect": parent.What(), "unknown": unknown})
	w.Task.Effect = ""
	w.touch(w.Task)
	for _, e := range w.Within {
		if e.ID == unknown {
			call, _ := effect.Decode[effect.ToolCall](e.Effect.Spec)
			return stepper{w.work}.block(BlockedQuestion, e.ID, pawl.Fail(pawl.CodeOutcomeUnknown, "kernel.outcome_unknown", call.StepID, call.Name, string(call.Args)))
		}
	}
	return nil
}
