package query

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"pawl/kernel"
	"pawl/kernel/budget"
	"pawl/kernel/effect"
	"pawl/kernel/view"
)

// Bounds of what is looked at for the costs.
const (
	maxLines   = 100
	maxAnswers = 20
	// maxBudgets is more than the runs of that many lines have budgets, and maxEffects than they have effects.
	maxBudgets = 1000
	maxEffects = 20_000
)

// Ledger answers questions about what work costs. It is safe for concurrent use.
type Ledger struct{ store kernel.Store }

// Ledger returns what answers questions about what work costs.
func (r Reader) Ledger() Ledger { return Ledger{r.store} }

// Budget is what a scope has spent of what it may.
type Budget struct {
	view.Budget
	Limit kernel.Limit `json:"limit"`
}

// Budgets tells what was spent and is held back, and against which limit, newest first, of at most the hundred newest
// scopes.
func (l Ledger) Budgets(ctx context.Context, limits map[string]kernel.Limit) ([]Budget, error) {
	var out []Budget
	newest := kernel.Select{Kind: kernel.KindBudget, Newest: true, Limit: 100}
	for b, err := range scan(ctx, l.store, newest, nil, budgetOf) {
		if err != nil {
			return nil, err
		}
		scope, _, _ := strings.Cut(b.Value.Scope, ":")
		out = append(out, Budget{b.Value, limits[scope]})
	}
	return out, nil
}

func budgetOf(b *kernel.Budget) (view.Budget, bool) {
	out := view.Budget{Scope: b.Label, Spent: b.Spent}
	for _, h := range b.Held {
		out.Held = out.Held.Plus(h)
	}
	return out, true
}

// Spent tells what one scope has spent, such as "day:2026-01-31" or "issue:ISS-3"; ok is false where nothing was
// charged to it.
func (l Ledger) Spent(ctx context.Context, scope string) (b view.Budget, ok bool, err error) {
	row := new(kernel.Budget)
	if ok, err = first(ctx, l.store, kernel.Select{Kind: kernel.KindBudget, Label: scope}, row); ok && err == nil {
		b, _ = budgetOf(row)
	}
	return b, ok, err
}

// Costs is what work has cost, by the budgets and against their limits.
func (l Ledger) Costs(ctx context.Context, limits map[string]kernel.Limit) (view.Costs, error) {
	out := view.Costs{Runs: []view.CostLine{}, Issues: []view.CostLine{}, Days: []view.CostLine{},
		Agents: []view.AgentCost{}, Calls: []view.CallCost{}}
	of := map[string]*[]view.CostLine{budget.ScopeRun: &out.Runs, budget.ScopeIssue: &out.Issues,
		budget.ScopeDay: &out.Days}
	n := 0
	for b, err := range scan(ctx, l.store, kernel.Select{Kind: kernel.KindBudget, Newest: true, Limit: maxBudgets},
		nil, budgetOf) {
		if err != nil {
			return out, err
		}
		n++
		scope, label, _ := strings.Cut(b.Value.Scope, ":")
		lines, ok := of[scope]
		if !ok {
			continue
		}
		if len(*lines) == maxLines {
			out.More = true
			continue
		}
		line := view.CostLine{Label: label, Held: b.Value.Held, Spent: b.Value.Spent, Limit: limits[scope].MicroUSD}
		if line.Limit > 0 {
			line.Left = max(line.Limit-line.Held.MicroUSD-line.Spent.MicroUSD, 0)
		}
		*lines = append(*lines, line)
	}
	out.More = out.More || n == maxBudgets
	return out, l.answers(ctx, &out)
}

// answers accounts for the runs of the costs by what agents answered.
func (l Ledger) answers(ctx context.Context, out *view.Costs) error {
	by, rest := map[view.AgentCost]effect.Usage{}, effect.Usage{}
	for _, r := range out.Runs {
		rest = rest.Plus(r.Spent)
	}
	owner, err := l.owners(ctx, out.Runs)
	if err != nil || len(out.Runs) == 0 {
		return err
	}
	for row, err := range l.store.Scan(ctx, kernel.Select{Kind: kernel.KindEffect, Newest: true, Limit: maxEffects}) {
		e := new(kernel.EffectDoc)
		if err == nil {
			err = kernel.Decode(row, e)
		}
		if err != nil {
			return err
		}
		var s effect.Said
		if e.Receipt == nil || !e.What().Agent() || json.Unmarshal(e.Receipt.Result, &s) != nil ||
			s.Usage == (effect.Usage{}) {
			continue
		}
		run, err := l.ownerOf(ctx, owner, e.Effect.Turn)
		if err != nil {
			return err
		}
		if run == "" {
			continue
		}
		key := view.AgentCost{Agent: s.Agent, Model: s.Model}
		by[key] = by[key].Plus(s.Usage)
		out.Calls = append(out.Calls, view.CallCost{Run: run, Kind: e.What(), Agent: s.Agent, Model: s.Model,
			At: e.UpdatedAt, Spent: s.Usage})
	}
	for key, u := range by {
		key.Spent = u
		out.Agents = append(out.Agents, key)
		rest.MicroUSD -= u.MicroUSD
	}
	slices.SortFunc(out.Agents, func(a, b view.AgentCost) int {
		return cmp.Or(cmp.Compare(b.Spent.MicroUSD, a.Spent.MicroUSD), cmp.Compare(a.Agent+a.Model, b.Agent+b.Model))
	})
	if rest.MicroUSD != 0 {
		out.Agents = append(out.Agents, view.AgentCost{Spent: effect.Usage{MicroUSD: rest.MicroUSD}})
	}
	slices.SortStableFunc(out.Calls, func(a, b view.CallCost) int {
		return cmp.Compare(b.Spent.MicroUSD, a.Spent.MicroUSD)
	})
	out.Calls = out.Calls[:min(len(out.Calls), maxAnswers)]
	return nil
}

// owners are the labels of the runs of lines, by the ids of the runs and of their tasks.
func (l Ledger) owners(ctx context.Context, lines []view.CostLine) (map[string]string, error) {
	out := map[string]string{}
	var sel []kernel.Select
	for _, r := range lines {
		sel = append(sel, kernel.Select{Kind: kernel.KindRun, Label: r.Label})
	}
	if len(sel) == 0 {
		return out, nil
	}
	rows, err := l.store.Load(ctx, sel...)
	if err != nil {
		return nil, err
	}
	for _, row := range slices.Concat(rows...) {
		run := new(kernel.Run)
		if err := kernel.Decode(row, run); err != nil {
			return nil, err
		}
		out[run.ID] = run.Label
		if run.Task != "" {
			out[run.Task] = run.Label
		}
	}
	return out, nil
}

// ownerOf is the label of the run that a turn belongs to, "" for none of the owners, among which it is kept.
func (l Ledger) ownerOf(ctx context.Context, owner map[string]string, turn string) (string, error) {
	run, known := owner[turn]
	if known || turn == "" {
		return run, nil
	}
	rows, err := l.store.Load(ctx, kernel.Select{Kind: kernel.KindTurn, ID: turn, HotOnly: true})
	if err != nil {
		return "", err
	}
	for _, row := range rows[0] {
		run = owner[row.Parent]
	}
	owner[turn] = run
	return run, nil
}
