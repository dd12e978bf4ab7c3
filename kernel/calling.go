package kernel

import (
	"strings"

	"pawl"
	"pawl/kernel/audit"
	"pawl/kernel/effect"
	"pawl/text/plan"
)

// Decide has a tool call judged that an agent with a loop of its own asks for in the middle of its work, and commits it as
// begun: the caller does it next. It belongs to the agent's effect, whose token it carries.
func (c *Make) Decide(tx *Tx) error {
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
		tx.record(tx.Talk, AuditCallRefused, audit.Warn, map[string]any{"tool": c.Ask.Name, "code": kept.Code, "key": kept.Key, "args": kept.Args})
		tx.result = Made{Refused: &kept}
		return nil
	}
	if err := callFits(tx, c.Ask.Name, c.Day); err != nil {
		return err
	}
	if c.Judge {
		tx.Turn.Calls++
		tx.touch(tx.Turn)
		tx.record(tx.Talk, AuditCallAllowed, audit.Info, map[string]any{"tool": c.Ask.Name, "args": c.Ask.Args, "granted": granted})
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
		ID: e.ID, Kind: effect.KindTool, Session: parent.Effect.Session, Task: parent.Effect.Task, Turn: parent.Effect.Turn,
		Idempotent: tx.Config.repeatable(c.Ask.Name, c.Ask.Args), Place: tx.Task.Place, Spec: effect.Encode(spec), Token: 1,
		Record: !tx.Config.Tools[c.Ask.Name].Info.Idempotent,
	}
	callBound(tx, e, c.Ask.Name)
	tx.record(e, AuditEffectStarted, audit.Info, map[string]any{"effect": e.What(), "tool": c.Ask.Name, "within": parent.ID, "attempt": 1, "token": 1})
	tx.result = Made{Effect: &e.Effect}
	return nil
}

// effectAtWork returns the effect that a command speaks of, if it still is the caller's.
func effectAtWork(tx *Tx, id string, token int64) (*EffectDoc, error) {
	e := tx.Effect
	if e == nil {
		return nil, pawl.Fail(pawl.CodeNotFound, "kernel.effect_not_found", id)
	}
	if e.State != EffectRunning || e.Epoch != token {
		return nil, pawl.Fail(pawl.CodeFenced, "kernel.effect_fenced", e.ID, e.State, token, e.Epoch)
	}
	return e, nil
}

// Decide keeps the agent's own session.
func (c *Bind) Decide(tx *Tx) error {
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

// callEnded takes the receipt of a call in the middle of an agent's work. The agent is told by the caller.
func callEnded(tx *Tx, call effect.ToolCall, r effect.Receipt) error {
	callTook(tx, call, r)
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

// callResolved takes the person's word about a call of an agent whose outcome was lost. A call that pawl makes between two
// exchanges is made again when it did not happen; an agent with a loop of its own is told, and asks again for what it needs.
func callResolved(tx *Tx, e *EffectDoc, a Answer) {
	call, _ := effect.Decode[effect.ToolCall](e.Effect.Spec)
	note := "The connection was lost while this call was made. A person looked: it did not happen, or may be done again."
	if a == AnswerDone {
		e.State = EffectDone
		note = "The connection was lost while this call was made. A person looked: it did happen. Do not make it again."
	}
	switch {
	case e.Within != "":
		tx.Talk.Notes = append(tx.Talk.Notes[:len(tx.Talk.Notes):len(tx.Talk.Notes)], call.Name+" "+string(call.Args)+": "+note)
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

// learn keeps what mended a failure, for the agents of later failures of its kind (docs/spec/session.md#known-issues).
func learn(tx *Tx) {
	f := tx.Turn.Failure
	if f == nil || tx.Talk == nil || !traits(tx).Works {
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
	i := &Incident{Type: string(f.Class), RootCause: f.What + " " + f.Fingerprint, Fix: firstLine(said), Scope: tx.Task.Plan.Goal, By: pawl.By(pawl.KindAgent, tx.Talk.Agent)}
	tx.create(i, KindIncident, "", tx.Session.ID, "")
	tx.record(i, AuditErrorRecorded, audit.Info, i)
}

// maxKnown bounds what an agent is told of earlier failures.
const maxKnown = 5

// knownIncidents says how earlier failures of the same kind were mended, the likest first.
func knownIncidents(tx *Tx, f *effect.Failure) []string {
	var same, like []string
	for _, i := range tx.Incidents {
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
func recoverWithin(tx *Tx, c *Recover) error {
	parent := tx.Effect
	unknown := ""
	for _, e := range tx.Within {
		if e.State != EffectRunning {
			continue
		}
		found := c.Within[e.ID]
		tx.record(e, AuditEffectRecovered, audit.Warn, map[string]any{"effect": e.What(), "answer": found.Answer, "idempotent": e.Effect.Idempotent})
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
			return block(tx, BlockedQuestion, e.ID, pawl.Fail(pawl.CodeOutcomeUnknown, "kernel.outcome_unknown", call.StepID, call.Name, string(call.Args)))
		}
	}
	return nil
}
