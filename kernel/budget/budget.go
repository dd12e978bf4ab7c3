// Package budget keeps what work costs: each effect is charged to every scope that it belongs to, or to none.
package budget

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/audit"
	"pawl/kernel/effect"
	"pawl/text/policy"
)

// The scopes of a budget. Those of a role are what one run may spend in it, and are kept where that is limited.
const (
	ScopeRun    = "run"
	ScopeIssue  = "issue"
	ScopeDay    = "day"    // in UTC
	ScopePlan   = "plan"   // to judge and to plan
	ScopeWork   = "work"   // to work and to repair, with the calls of plans
	ScopeReview = "review" // to look at work that is done
)

// Scopes lists all scopes.
func Scopes() []string {
	return []string{ScopeRun, ScopeIssue, ScopeDay, ScopePlan, ScopeWork, ScopeReview}
}

// role is the role in which an effect is done.
func role(e *kernel.EffectDoc) string {
	if e == nil {
		return ""
	}
	switch e.What() {
	case effect.KindIntake, effect.KindPlan, effect.KindRewrite:
		return ScopePlan
	case effect.KindReview:
		return ScopeReview
	}
	return ScopeWork
}

// scopes returns the labels of the budgets that an effect of the run is charged to on a day.
func scopes(s *kernel.Snapshot, day time.Time) []string {
	var out []string
	r, issue := s.Run, s.Issue
	if r != nil {
		out = append(out, ScopeRun+":"+r.Label)
		if played := role(s.Effect); s.Config.Budgets[played] != (kernel.Limit{}) {
			out = append(out, played+":"+r.Label)
		}
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
	ChargedDays(s *kernel.Snapshot) []time.Time
}

// forfeitingCommand is a command after which nobody knows any more what the effect's calls did cost.
type forfeitingCommand interface{ Forfeits() }

func (c *Reserve) ChargedDays(*kernel.Snapshot) []time.Time { return []time.Time{c.Day} }
func (c *Settle) ChargedDays(*kernel.Snapshot) []time.Time  { return []time.Time{c.Day} }

// Read gathers the budgets that a command may charge.
func Read(r *kernel.Reads, s *kernel.Snapshot, c kernel.Command) {
	var days []time.Time
	if c, ok := c.(chargingCommand); ok {
		days = c.ChargedDays(s)
	} else if s.Effect != nil && s.Effect.Clock != nil {
		days = []time.Time{s.Effect.Clock.Day}
	}
	for _, day := range days {
		for _, label := range scopes(s, day) {
			if b := kernel.One[kernel.Budget](r, kernel.ByLabel(kernel.KindBudget, label)); b != nil {
				s.Budgets = append(s.Budgets, b)
			}
		}
	}
	if _, ok := c.(forfeitingCommand); !ok || s.Effect == nil || !s.Effect.What().Agent() {
		return
	}
	// What the effect still holds is found by that, because one that went on past midnight holds something on two days.
	for _, b := range kernel.List[kernel.Budget](r, kernel.Newest(kernel.KindBudget, recentBudgets)) {
		held := false
		for id := range b.Held {
			held = held || strings.HasPrefix(id, s.Effect.ID+"/")
		}
		if held && !slices.ContainsFunc(s.Budgets, func(k *kernel.Budget) bool { return k.ID == b.ID }) {
			s.Budgets = append(s.Budgets, b)
		}
	}
}

// leastTime is the shortest time that anything is begun for.
const leastTime = time.Second

// BeginEffect charges an effect that is to begin, in every scope or in none: it counts as made, and its time is set
// aside. The effect may take no longer than what its budgets leave.
func BeginEffect(tx *kernel.Tx, e *kernel.EffectDoc, day time.Time) error {
	if !kernel.Charges(tx.Config, tx.Run) || !kernel.Timed(e) {
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
	for _, label := range scopes(&tx.Snapshot, day) {
		if l := limit(tx, label); l.WallMS > 0 {
			left := time.Duration(l.WallMS-budgetOf(tx, label).Used().WallMS) * time.Millisecond
			if left < most {
				most, e.Effect.Timeout = left, left
			}
		}
	}
	spendBudget(tx, day, cost)
	e.Clock = &kernel.Clock{Since: tx.Now, Day: day, Held: most.Milliseconds()}
	holdBudget(tx, day, e.ID+"/time", effect.Usage{WallMS: e.Clock.Held})
	return nil
}

// EndEffect charges the time that an effect took. What it took before a crash cannot be more than was held for it.
func EndEffect(tx *kernel.Tx, e *kernel.EffectDoc) {
	if e == nil || e.Clock == nil {
		return
	}
	took := effect.Usage{WallMS: min(max(tx.Now.Sub(e.Clock.Since).Milliseconds(), 0), e.Clock.Held)}
	for _, b := range tx.Budgets {
		if _, ok := b.Held[e.ID+"/time"]; ok {
			b.Held, b.Spent = without(b.Held, e.ID+"/time"), b.Spent.Plus(took)
			tx.Touch(b)
		}
	}
	e.Clock = nil
	tx.Touch(e)
}

// ChargeCall charges a call in the middle of an agent's work, which takes no time of its own.
func ChargeCall(tx *kernel.Tx, name string, day time.Time) error {
	if !kernel.Charges(tx.Config, tx.Run) {
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
func costOf(tx *kernel.Tx, e *kernel.EffectDoc) effect.Usage {
	if e.What() == effect.KindTool {
		call, _ := effect.Decode[effect.ToolCall](e.Effect.Spec) // one that cannot be read is refused by its driver
		return costOfCall(tx, call.Name)
	}
	cost := effect.Usage{Turns: 1}
	asks := e.What() == effect.KindIntake || e.What() == effect.KindRewrite ||
		e.What() == effect.KindPlan && len(tx.Run.Given) == 0
	if asks && kernel.PlannerTraits(tx).Process || e.What() == effect.KindWork && kernel.TraitsOf(tx).Process ||
		e.What() == effect.KindReview && tx.Config.Agents[tx.Run.Reviewer].Process {
		cost.Processes = 1
	}
	return cost
}

func costOfCall(tx *kernel.Tx, name string) effect.Usage {
	cost := effect.Usage{Calls: 1}
	if slices.Contains(tx.Config.Tools[name].Info.Permissions, policy.ProcExec) {
		cost.Processes = 1
	}
	return cost
}

// limit returns the limit of a budget by its label.
func limit(tx *kernel.Tx, label string) kernel.Limit {
	scope, _, _ := strings.Cut(label, ":")
	return tx.Config.Budgets[scope]
}

// fitsAll reports whether a cost fits in every scope.
func fitsAll(tx *kernel.Tx, day time.Time, more effect.Usage) error {
	for _, label := range scopes(&tx.Snapshot, day) {
		if err := fits(label, limit(tx, label), budgetOf(tx, label).Used(), more); err != nil {
			return err
		}
	}
	return nil
}

// spendBudget charges a cost in every scope, and hold sets one aside.
func spendBudget(tx *kernel.Tx, day time.Time, cost effect.Usage) {
	for _, label := range scopes(&tx.Snapshot, day) {
		b := budgetOf(tx, label)
		b.Spent = b.Spent.Plus(cost)
		tx.Touch(b)
	}
}

func holdBudget(tx *kernel.Tx, day time.Time, id string, most effect.Usage) {
	for _, label := range scopes(&tx.Snapshot, day) {
		b := budgetOf(tx, label)
		held := make(map[string]effect.Usage, len(b.Held)+1)
		maps.Copy(held, b.Held)
		held[id] = most
		b.Held = held
		tx.Touch(b)
	}
}

// Decide sets aside what a call may cost, in every scope or in none.
func (c *Reserve) Decide(tx *kernel.Tx) error {
	e, err := kernel.EffectAtWork(tx, c.Effect, c.Token)
	if err != nil {
		return err
	}
	if err := fitsAll(tx, c.Day, c.Most); err != nil {
		return err
	}
	id := e.ID + "/" + tx.NewID()
	holdBudget(tx, c.Day, id, c.Most)
	tx.Result = id
	return nil
}

// budgetOf returns the budget with a label, a new one where there is none yet.
func budgetOf(tx *kernel.Tx, label string) *kernel.Budget {
	for _, b := range tx.Budgets {
		if b.Label == label {
			return b
		}
	}
	b := &kernel.Budget{}
	parent := ""
	if tx.Session != nil {
		parent = tx.Session.ID
	}
	tx.Create(b, kernel.KindBudget, label, parent, "")
	tx.Budgets = append(tx.Budgets, b)
	return b
}

// fits reports whether a cost still fits below a limit.
func fits(label string, l kernel.Limit, used, more effect.Usage) error {
	if l.MicroUSD > 0 && more.Unpriced {
		return pawl.Fail(pawl.CodeBudget, "kernel.price_unknown", label)
	}
	over := func(what string, limit, used, more int64, show func(int64) string) error {
		if limit <= 0 || used+more <= limit {
			return nil
		}
		key, whose := "kernel.budget_used", label
		switch scope, _, _ := strings.Cut(label, ":"); scope {
		case ScopePlan, ScopeWork, ScopeReview:
			key, whose = "kernel.role_used", scope
		}
		return pawl.Fail(pawl.CodeBudget, key, whose, what, show(limit), show(used), show(more))
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
func (c *Settle) Decide(tx *kernel.Tx) error {
	found := false
	for _, b := range tx.Budgets {
		if _, ok := b.Held[c.Reservation]; !ok {
			continue
		}
		b.Held = without(b.Held, c.Reservation)
		b.Spent = b.Spent.Plus(c.Cost)
		tx.Touch(b)
		found = true
	}
	if !found {
		return nil
	}
	if tx.Run != nil {
		tx.Run.Usage = tx.Run.Usage.Plus(c.Cost)
		tx.Record(tx.Run, kernel.AuditBudgetSpent, audit.Info, map[string]any{"usage": c.Cost})
	}
	return nil
}

// Forfeit counts what an effect still holds as spent, because nobody knows what its calls did cost.
func Forfeit(tx *kernel.Tx, effectID string) {
	for _, b := range tx.Budgets {
		for _, id := range slices.Sorted(maps.Keys(b.Held)) {
			if held := b.Held[id]; strings.HasPrefix(id, effectID+"/") {
				b.Held = without(b.Held, id)
				b.Spent = b.Spent.Plus(held)
				tx.Touch(b)
				tx.Record(b, kernel.AuditBudgetForfeited, audit.Warn, map[string]any{"reservation": id, "usage": held})
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
