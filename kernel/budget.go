package kernel

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"pawl"
	"pawl/audit"
	"pawl/effect"
)

// The scopes of a budget.
const (
	ScopeRun   = "run"
	ScopeIssue = "issue"
	ScopeDay   = "day" // in UTC
)

// Limit is what one scope may cost; a zero field is no limit.
type Limit struct {
	Requests int64 `json:"requests,omitempty"`
	Tokens   int64 `json:"tokens,omitempty"`
	MicroUSD int64 `json:"micro_usd,omitempty"`
}

// Budget is what the model calls of one scope cost. Its label is the scope and what it is about: "run:RUN-3",
// "issue:ISS-20260102-001", "day:2026-01-02".
type Budget struct {
	Row   `json:"-"`
	Spent effect.Usage `json:"spent"`
	// Held is what calls in flight may cost at most, by reservation. One that a crash left counts as spent in full.
	Held map[string]effect.Usage `json:"held,omitempty"`
}

// Used is what is spent and held together.
func (b *Budget) Used() effect.Usage {
	u := b.Spent
	for _, h := range b.Held {
		u = u.Plus(h)
	}
	return u
}

// cashier decides about budgets: what a call may cost is set aside before it is made and settled after it.
type cashier struct{ *work }

// scopes returns the labels of the budgets that an effect of the run is charged to on a day.
func scopes(r *Run, issue *Issue, day time.Time) []string {
	var out []string
	if r != nil {
		out = append(out, ScopeRun+":"+r.Label)
	}
	if issue != nil {
		out = append(out, ScopeIssue+":"+issue.Label)
	}
	return append(out, ScopeDay+":"+day.UTC().Format(time.DateOnly))
}

// reserve sets aside what a call may cost, in every scope or in none.
func (w cashier) reserve(c *Reserve) error {
	e, err := courier{w.work}.atWork(c.Effect, c.Token)
	if err != nil {
		return err
	}
	most := c.Most
	id := e.ID + "/" + w.newID()
	for _, label := range scopes(w.Run, w.Issue, c.Day) {
		b := w.budget(label)
		scope, _, _ := strings.Cut(label, ":")
		if err := fits(label, w.Config.Budgets[scope], b.Used(), most); err != nil {
			return err
		}
		held := make(map[string]effect.Usage, len(b.Held)+1)
		for k, v := range b.Held {
			held[k] = v
		}
		held[id] = most
		b.Held = held
		w.touch(b)
	}
	w.result = id
	return nil
}

// budget returns the budget with a label, a new one where there is none yet.
func (w cashier) budget(label string) *Budget {
	for _, b := range w.Budgets {
		if b.Label == label {
			return b
		}
	}
	b := &Budget{}
	parent := ""
	if w.Session != nil {
		parent = w.Session.ID
	}
	w.create(b, KindBudget, label, parent, "")
	w.Budgets = append(w.Budgets, b)
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
	return over("USD", l.MicroUSD, used.MicroUSD, more.MicroUSD, Dollars)
}

func number(n int64) string { return strconv.FormatInt(n, 10) }

// Dollars writes millionths of a dollar, to the hundredth of a cent.
func Dollars(micro int64) string { return strconv.FormatFloat(float64(micro)/1e6, 'f', 4, 64) }

// settled takes what a call did cost instead of what was set aside for it. It is taken whatever became of the effect.
func (w cashier) settled(c *Settle) error {
	found := false
	for _, b := range w.Budgets {
		if _, ok := b.Held[c.Reservation]; !ok {
			continue
		}
		b.Held = without(b.Held, c.Reservation)
		b.Spent = b.Spent.Plus(c.Cost)
		w.touch(b)
		found = true
	}
	if !found {
		return nil
	}
	if w.Run != nil {
		w.Run.Usage = w.Run.Usage.Plus(c.Cost)
		w.record(w.Run, "BUDGET_SPENT", audit.Info, map[string]any{"usage": c.Cost})
	}
	return nil
}

// forfeit counts what an effect still holds as spent, because nobody knows what its calls did cost.
func (w cashier) forfeit(effectID string) {
	for _, b := range w.Budgets {
		for _, id := range slices.Sorted(maps.Keys(b.Held)) {
			if held := b.Held[id]; strings.HasPrefix(id, effectID+"/") {
				b.Held = without(b.Held, id)
				b.Spent = b.Spent.Plus(held)
				w.touch(b)
				w.record(b, "BUDGET_FORFEITED", audit.Warn, map[string]any{"reservation": id, "usage": held})
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
