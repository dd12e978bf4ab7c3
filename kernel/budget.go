package kernel

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"pawl"
	"pawl/kernel/audit"
	"pawl/kernel/effect"
	"pawl/text/policy"
)

// The scopes of a budget.
const (
	ScopeRun   = "run"
	ScopeIssue = "issue"
	ScopeDay   = "day" // in UTC
)

// scopes returns the labels of the budgets that an effect of the run is charged to on a day.
func scopes(r *Run, issue *Issue, day time.Time) []string {
	var out []string
	if r != nil {
		out = append(out, ScopeRun+":"+r.Label)
	}
	if issue != nil {
		out = append(out, ScopeIssue+":"+issue.Label)
	}
	if day.IsZero() {
		return out
	}
	return append(out, ScopeDay+":"+day.UTC().Format(time.DateOnly))
}

// recentBudgets is how many of the newest budgets are looked at for what a dead runner left set aside.
const recentBudgets = 50

// chargingCommand is a command that charges budgets on other days than the effect that it is about, or on none.
type chargingCommand interface {
	chargedDays(s *Snapshot) []time.Time
}

// forfeitingCommand is a command after which nobody knows any more what the effect's calls did cost.
type forfeitingCommand interface{ forfeits() }

func (*Recover) forfeits() {}

func (c *Reserve) chargedDays(*Snapshot) []time.Time { return []time.Time{c.Day} }
func (c *Settle) chargedDays(*Snapshot) []time.Time  { return []time.Time{c.Day} }

func (c *Begin) chargedDays(s *Snapshot) []time.Time {
	if !charges(s.Config, s.Run) || s.Effect == nil || !timed(s.Effect) {
		return nil
	}
	return []time.Time{c.Day}
}

func (c *StartToolCall) chargedDays(s *Snapshot) []time.Time {
	if !charges(s.Config, s.Run) {
		return nil
	}
	return []time.Time{c.Day}
}

func (*Resume) chargedDays(*Snapshot) []time.Time        { return nil }
func (*Heartbeat) chargedDays(*Snapshot) []time.Time     { return nil }
func (*AttachSession) chargedDays(*Snapshot) []time.Time { return nil }

// readBudgets gathers the budgets that a command may charge.
func readBudgets(r *reads, s *Snapshot, c Command) {
	var days []time.Time
	if c, ok := c.(chargingCommand); ok {
		days = c.chargedDays(s)
	} else if s.Effect != nil && s.Effect.Clock != nil {
		days = []time.Time{s.Effect.Clock.Day}
	}
	for _, day := range days {
		for _, label := range scopes(s.Run, s.Issue, day) {
			if b := one[Budget](r, byLabel(KindBudget, label)); b != nil {
				s.Budgets = append(s.Budgets, b)
			}
		}
	}
	if _, ok := c.(forfeitingCommand); !ok || s.Effect == nil || !s.Effect.What().Agent() {
		return
	}
	// What the effect still holds is found by that, because one that went on past midnight holds something on two days.
	for _, b := range list[Budget](r, newest(KindBudget, recentBudgets)) {
		held := false
		for id := range b.Held {
			held = held || strings.HasPrefix(id, s.Effect.ID+"/")
		}
		if held && !slices.ContainsFunc(s.Budgets, func(k *Budget) bool { return k.ID == b.ID }) {
			s.Budgets = append(s.Budgets, b)
		}
	}
}

// leastTime is the shortest time that anything is begun for.
const leastTime = time.Second

// beginEffect charges an effect that is to begin, in every scope or in none: it counts as made, and its time is set
// aside. The effect may take no longer than what its budgets leave.
func beginEffect(tx *Tx, e *EffectDoc, day time.Time) error {
	if !charges(tx.Config, tx.Run) || !timed(e) {
		return nil
	}
	cost := costOf(tx, e)
	if err := fitsAll(tx, day, cost.Plus(effect.Usage{WallMS: leastTime.Milliseconds()})); err != nil {
		return err
	}
	most := e.Effect.Timeout
	if most <= 0 {
		most = tx.Config.TaskTime
	}
	for _, label := range scopes(tx.Run, tx.Issue, day) {
		if l := limit(tx, label); l.WallMS > 0 {
			left := time.Duration(l.WallMS-budgetOf(tx, label).Used().WallMS) * time.Millisecond
			if left < most {
				most, e.Effect.Timeout = left, left
			}
		}
	}
	spendBudget(tx, day, cost)
	e.Clock = &Clock{Since: tx.now, Day: day, Held: most.Milliseconds()}
	holdBudget(tx, day, e.ID+"/time", effect.Usage{WallMS: e.Clock.Held})
	return nil
}

// endEffect charges the time that an effect took. What it took before a crash cannot be more than was held for it.
func endEffect(tx *Tx, e *EffectDoc) {
	if e == nil || e.Clock == nil {
		return
	}
	took := effect.Usage{WallMS: min(max(tx.now.Sub(e.Clock.Since).Milliseconds(), 0), e.Clock.Held)}
	for _, b := range tx.Budgets {
		if _, ok := b.Held[e.ID+"/time"]; ok {
			b.Held, b.Spent = without(b.Held, e.ID+"/time"), b.Spent.Plus(took)
			tx.touch(b)
		}
	}
	e.Clock = nil
	tx.touch(e)
}

// chargeCall charges a call in the middle of an agent's work, which takes no time of its own.
func chargeCall(tx *Tx, name string, day time.Time) error {
	if !charges(tx.Config, tx.Run) {
		return nil
	}
	cost := costOfCall(tx, name)
	if err := fitsAll(tx, day, cost); err != nil {
		return err
	}
	spendBudget(tx, day, cost)
	return nil
}

// costOf is what is counted of an effect.
func costOf(tx *Tx, e *EffectDoc) effect.Usage {
	if e.What() == effect.KindTool {
		call, _ := effect.Decode[effect.ToolCall](e.Effect.Spec) // one that cannot be read is refused by its driver
		return costOfCall(tx, call.Name)
	}
	cost := effect.Usage{Turns: 1}
	if e.What() == effect.KindWork && traits(tx).Process {
		cost.Processes = 1
	}
	return cost
}

func costOfCall(tx *Tx, name string) effect.Usage {
	cost := effect.Usage{Calls: 1}
	if slices.Contains(tx.Config.Tools[name].Info.Permissions, policy.ProcExec) {
		cost.Processes = 1
	}
	return cost
}

// limit returns the limit of a budget by its label.
func limit(tx *Tx, label string) Limit {
	scope, _, _ := strings.Cut(label, ":")
	return tx.Config.Budgets[scope]
}

// fitsAll reports whether a cost fits in every scope.
func fitsAll(tx *Tx, day time.Time, more effect.Usage) error {
	for _, label := range scopes(tx.Run, tx.Issue, day) {
		if err := fits(label, limit(tx, label), budgetOf(tx, label).Used(), more); err != nil {
			return err
		}
	}
	return nil
}

// spendBudget charges a cost in every scope, and hold sets one aside.
func spendBudget(tx *Tx, day time.Time, cost effect.Usage) {
	for _, label := range scopes(tx.Run, tx.Issue, day) {
		b := budgetOf(tx, label)
		b.Spent = b.Spent.Plus(cost)
		tx.touch(b)
	}
}

func holdBudget(tx *Tx, day time.Time, id string, most effect.Usage) {
	for _, label := range scopes(tx.Run, tx.Issue, day) {
		b := budgetOf(tx, label)
		held := make(map[string]effect.Usage, len(b.Held)+1)
		maps.Copy(held, b.Held)
		held[id] = most
		b.Held = held
		tx.touch(b)
	}
}

// Decide sets aside what a call may cost, in every scope or in none.
func (c *Reserve) Decide(tx *Tx) error {
	e, err := effectAtWork(tx, c.Effect, c.Token)
	if err != nil {
		return err
	}
	if err := fitsAll(tx, c.Day, c.Most); err != nil {
		return err
	}
	id := e.ID + "/" + tx.newID()
	holdBudget(tx, c.Day, id, c.Most)
	tx.result = id
	return nil
}

// budgetOf returns the budget with a label, a new one where there is none yet.
func budgetOf(tx *Tx, label string) *Budget {
	for _, b := range tx.Budgets {
		if b.Label == label {
			return b
		}
	}
	b := &Budget{}
	parent := ""
	if tx.Session != nil {
		parent = tx.Session.ID
	}
	tx.create(b, KindBudget, label, parent, "")
	tx.Budgets = append(tx.Budgets, b)
	return b
}

// fits reports whether a cost still fits below a limit.
func fits(label string, l Limit, used, more effect.Usage) error {
	if l.MicroUSD > 0 && more.Unpriced {
		return pawl.Fail(pawl.CodeBudget, "kernel.price_unknown", label)
	}
	over := func(what string, limit, used, more int64, show func(int64) string) error {
		if limit <= 0 || used+more <= limit {
			return nil
		}
		return pawl.Fail(pawl.CodeBudget, "kernel.budget_used", label, what, show(limit), show(used), show(more))
	}
	if err := over("requests", l.Requests, used.Requests, more.Requests, number); err != nil {
		return err
	}
	if err := over("tokens", l.Tokens, used.InTokens+used.OutTokens, more.InTokens+more.OutTokens, number); err != nil {
		return err
	}
	if err := over("turns", l.Turns, used.Turns, more.Turns, number); err != nil {
		return err
	}
	if err := over("calls", l.Calls, used.Calls, more.Calls, number); err != nil {
		return err
	}
	if err := over("processes", l.Processes, used.Processes, more.Processes, number); err != nil {
		return err
	}
	if err := over("minutes", l.WallMS, used.WallMS, more.WallMS, Minutes); err != nil {
		return err
	}
	return over("usd", l.MicroUSD, used.MicroUSD, more.MicroUSD, Dollars)
}

func number(n int64) string { return strconv.FormatInt(n, 10) }

// Dollars writes millionths of a dollar, to the hundredth of a cent.
func Dollars(micro int64) string { return strconv.FormatFloat(float64(micro)/1e6, 'f', 4, 64) }

// Minutes writes milliseconds as minutes.
func Minutes(ms int64) string { return strconv.FormatFloat(float64(ms)/60e3, 'f', 2, 64) }

// Decide takes what a call did cost instead of what was set aside for it. It is taken whatever became of the effect.
func (c *Settle) Decide(tx *Tx) error {
	found := false
	for _, b := range tx.Budgets {
		if _, ok := b.Held[c.Reservation]; !ok {
			continue
		}
		b.Held = without(b.Held, c.Reservation)
		b.Spent = b.Spent.Plus(c.Cost)
		tx.touch(b)
		found = true
	}
	if !found {
		return nil
	}
	if tx.Run != nil {
		tx.Run.Usage = tx.Run.Usage.Plus(c.Cost)
		tx.record(tx.Run, AuditBudgetSpent, audit.Info, map[string]any{"usage": c.Cost})
	}
	return nil
}

// forfeit counts what an effect still holds as spent, because nobody knows what its calls did cost.
func forfeit(tx *Tx, effectID string) {
	for _, b := range tx.Budgets {
		for _, id := range slices.Sorted(maps.Keys(b.Held)) {
			if held := b.Held[id]; strings.HasPrefix(id, effectID+"/") {
				b.Held = without(b.Held, id)
				b.Spent = b.Spent.Plus(held)
				tx.touch(b)
				tx.record(b, AuditBudgetForfeited, audit.Warn, map[string]any{"reservation": id, "usage": held})
			}
		}
	}
}

func without(held map[string]effect.Usage, id string) map[string]effect.Usage {
	out := make(map[string]effect.Usage, len(held))
	for k, v := range held {
		if k != id {
			out[k] = v
		}
	}
	return out
}
