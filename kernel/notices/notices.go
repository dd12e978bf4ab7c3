// Package notices tells people what waits for them, and what became of the work. A message through one channel is a
// row, committed before it is sent and taken back when what it is about is over. A message never decides anything.
package notices

import (
	"slices"
	"time"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/audit"
	"pawl/kernel/effect"
)

// The states of a message. Append-only.
const (
	Pending     = kernel.EffectPending  // to be sent once it is due
	Running     = kernel.EffectRunning  // being sent
	Told        = "told"                // sent, and what it is about still waits
	Withdrawing = "withdrawing"         // to be taken back at its receiver
	Done        = kernel.EffectDone     // sent, and nothing is left to do
	Failed      = kernel.EffectFailed   // given up
	Unknown     = kernel.EffectUnknown  // nobody knows whether it arrived, and it may not be sent twice
	Canceled    = kernel.EffectCanceled // what it is about was over before it was sent
)

// Open are the states in which something is left to do.
func Open() []string { return []string{Pending, Running, Told, Withdrawing} }

// Limits of retries: the first wait, the longest one, how long is tried at all, and how often a message is begun.
const (
	firstWait   = 5 * time.Second
	longestWait = time.Hour
	Patience    = 24 * time.Hour
	maxAttempts = 60
)

// Decide commits the messages that were not committed before.
func (c *Tell) Decide(tx *kernel.Tx) error {
	if !c.About.waits(tx) {
		return nil
	}
	var made []string
	for i := range c.Messages {
		m := &c.Messages[i]
		label := c.About.label(m.Spec.Channel)
		if slices.ContainsFunc(tx.Within, func(e *kernel.EffectDoc) bool { return e.Label == label }) {
			continue
		}
		spec := m.Spec
		spec.About, spec.At, spec.Until = c.About.String(), tx.Now, tx.Now.Add(Patience)
		e := &kernel.EffectDoc{}
		tx.Create(e, kernel.KindNotice, label, c.About.parent(tx), Pending)
		e.Due = tx.Now.Add(time.Duration(m.Hold) * time.Millisecond)
		e.Effect = effect.Effect{ID: e.ID, Kind: effect.KindNotice, Session: tx.Session.ID, Idempotent: m.Repeatable,
			Spec: effect.Encode(spec)}
		tx.Record(e, kernel.AuditNoticeAs.In(Pending), audit.Info, map[string]any{"about": spec.About,
			"channel": spec.Channel, "topic": spec.Topic})
		made = append(made, e.ID)
	}
	tx.Result = made
	return nil
}

// notice is the message that a command is about.
func notice(tx *kernel.Tx, id string) (*kernel.EffectDoc, effect.NoticeSpec, error) {
	if tx.Effect == nil {
		return nil, effect.NoticeSpec{}, pawl.Fail(pawl.CodeNotFound, "kernel.effect_not_found", id)
	}
	spec, err := effect.Decode[effect.NoticeSpec](tx.Effect.Effect.Spec)
	return tx.Effect, spec, err
}

// move brings a message to a state.
func move(tx *kernel.Tx, e *kernel.EffectDoc, state string, level audit.Level, data map[string]any) {
	e.State = state
	tx.Record(e, kernel.AuditNoticeAs.In(state), level, data)
}

// Decide takes a message to send it.
func (c *Begin) Decide(tx *kernel.Tx) error {
	e, spec, err := notice(tx, c.Notice)
	switch {
	case err != nil:
		return err
	case e.State != Pending || e.Due.After(tx.Now):
		return pawl.Fail(pawl.CodeFenced, "kernel.effect_taken", e.ID, e.State)
	case !ParseAbout(spec.About).waits(tx):
		move(tx, e, Canceled, audit.Info, nil)
		return nil
	}
	e.Epoch++
	e.Attempts++
	e.Effect.Token = e.Epoch
	move(tx, e, Running, audit.Info, map[string]any{"channel": spec.Channel, "attempt": e.Attempts, "owner": c.Owner})
	tx.Result = e.Effect
	return nil
}

// Decide takes what came of sending a message. What did not work is tried again for a day, unless it may have worked
// and the receiver cannot tell.
func (c *Report) Decide(tx *kernel.Tx) error {
	e, spec, err := notice(tx, c.Notice)
	if err != nil {
		return err
	}
	if e.State != Running || e.Epoch != c.Token {
		return pawl.Fail(pawl.CodeFenced, "kernel.effect_fenced", e.ID, e.State, c.Token, e.Epoch)
	}
	e.Receipt = &c.Receipt
	data := map[string]any{"channel": spec.Channel, "code": c.Receipt.Code, "key": c.Receipt.Key}
	next := tx.Now.Add(max(wait(e.Attempts), time.Duration(c.After)*time.Millisecond))
	switch {
	case c.Receipt.OK && spec.Topic.Waits():
		move(tx, e, Told, audit.Info, data)
	case c.Receipt.OK:
		move(tx, e, Done, audit.Info, data)
	case c.Receipt.Code == pawl.CodeOutcomeUnknown && !e.Effect.Idempotent:
		move(tx, e, Unknown, audit.Warn, data)
	case c.Receipt.Code == pawl.CodeInvalid || spec.Topic == effect.TopicTest || next.After(spec.Until) ||
		e.Attempts >= maxAttempts:
		move(tx, e, Failed, audit.Warn, data)
	default:
		e.Due = next
		move(tx, e, Pending, audit.Warn, data)
	}
	return nil
}

// wait is how long is waited behind so many attempts.
func wait(attempts int) time.Duration {
	return min(firstWait<<min(max(attempts-1, 0), 16), longestWait)
}

// Decide settles a message that was being sent when its process died.
func (*Recover) Decide(tx *kernel.Tx) error {
	e := tx.Effect
	switch {
	case e == nil || e.State != Running:
	case e.Effect.Idempotent && e.Attempts < maxAttempts:
		e.Due = tx.Now
		move(tx, e, Pending, audit.Warn, map[string]any{"recovered": true})
	default:
		move(tx, e, Unknown, audit.Warn, map[string]any{"recovered": true})
	}
	return nil
}

// Decide cancels or takes back what is for nothing any more.
func (c *Settle) Decide(tx *kernel.Tx) error {
	e, spec, err := notice(tx, c.Notice)
	switch {
	case err != nil:
		return err
	case ParseAbout(spec.About).waits(tx):
	case e.State == Pending:
		move(tx, e, Canceled, audit.Info, nil)
	case e.State == Told && spec.Withdraws:
		e.Due, e.Attempts = tx.Now, 0
		move(tx, e, Withdrawing, audit.Info, nil)
	case e.State == Told:
		move(tx, e, Done, audit.Info, nil)
	}
	return nil
}

// Decide takes what came of taking a message back. What cannot be taken back in a day stays where it is.
func (c *Withdrawn) Decide(tx *kernel.Tx) error {
	e, spec, err := notice(tx, c.Notice)
	if err != nil || e.State != Withdrawing {
		return err
	}
	e.Attempts++
	e.Due = tx.Now.Add(wait(e.Attempts))
	if c.Receipt.OK || c.Receipt.Code == pawl.CodeInvalid || e.Due.After(spec.Until) {
		e.State = Done
	}
	tx.Record(e, kernel.AuditNoticeAs.In(e.State), kernel.Level(c.Receipt.OK), map[string]any{"withdrawn": c.Receipt.OK,
		"code": c.Receipt.Code, "key": c.Receipt.Key})
	return nil
}
