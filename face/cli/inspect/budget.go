package inspect

import (
	"github.com/spf13/cobra"

	"pawl/face/cli"
	"pawl/face/cli/settings"
	"pawl/kernel"
	"pawl/kernel/budget"
	"pawl/kernel/effect"
	"pawl/kernel/query"
	"pawl/kernel/view"
)

func newBudgetCommand(a *cli.App) *cobra.Command {
	return a.Command("budget", "cli.budget", "  pawl budget\n  pawl budget --json\n  pawl config set budget.run.usd 2",
		cli.Exactly(0), func(c *cobra.Command, _ []string) error {
			return a.With(c.Context(), cli.Reading(), func(sess *cli.Session) error {
				lines, err := sess.Ask().Ledger().Budgets(c.Context(), sess.Workspace.Kernel.Config().Budgets)
				if err != nil {
					return err
				}
				if a.JSON {
					return a.PrintJSON(map[string]any{"budgets": lines})
				}
				if len(lines) == 0 {
					a.SayText("cli.budget_none")
					// What may be spent is worth knowing before anything is.
					if lines = limitsOf(sess.Config); len(lines) == 0 {
						return nil
					}
				}
				rows := [][]string{}
				for _, l := range lines {
					rows = append(rows, rowsOf(a.Printer, l)...)
				}
				cli.PrintTable(a.Printer, []string{a.Text("cli.col.scope"), a.Text("cli.col.what"),
					a.Text("cli.col.spent"),
					a.Text("cli.col.of"), a.Text("cli.col.held")}, rows)
				return nil
			})
		})
}

// rowsOf are the measures of a scope of which there is something to say, the scope's name before the first.
func rowsOf(pr *cli.Printer, l query.Budget) [][]string {
	dollars := func(u effect.Usage) string { return cli.DollarsText(pr, u.MicroUSD, u.Unpriced) }
	counted := func(of func(effect.Usage) int64, show func(int64) string) func(effect.Usage) string {
		return func(u effect.Usage) string { return show(of(u)) }
	}
	var out [][]string
	scope := l.Scope
	for _, m := range []struct {
		what  string
		of    func(effect.Usage) int64
		limit int64
		show  func(int64) string
	}{
		{"usd", func(u effect.Usage) int64 { return u.MicroUSD }, l.Limit.MicroUSD, budget.Dollars},
		{"tokens", func(u effect.Usage) int64 { return u.InTokens + u.OutTokens }, l.Limit.Tokens, cli.Count},
		{"requests", func(u effect.Usage) int64 { return u.Requests }, l.Limit.Requests, cli.Count},
		{"turns", func(u effect.Usage) int64 { return u.Turns }, l.Limit.Turns, cli.Count},
		{"calls", func(u effect.Usage) int64 { return u.Calls }, l.Limit.Calls, cli.Count},
		{"processes", func(u effect.Usage) int64 { return u.Processes }, l.Limit.Processes, cli.Count},
		{"minutes", func(u effect.Usage) int64 { return u.WallMS }, l.Limit.WallMS, budget.Minutes},
	} {
		text := counted(m.of, m.show)
		if m.what == "usd" {
			text = dollars
		} else if m.of(l.Spent) == 0 && m.of(l.Held) == 0 && m.limit == 0 {
			continue
		}
		held := "–"
		if m.of(l.Held) != 0 {
			held = text(l.Held)
		}
		out = append(out, []string{scope, pr.Text("cli.budget_what." + m.what), text(l.Spent), limitOf(m.limit, m.show),
			held})
		scope = ""
	}
	return out
}

// limitsOf are the budgets that are set, each with nothing spent.
func limitsOf(c settings.Config) []query.Budget {
	var out []query.Budget
	for _, scope := range budget.Scopes() {
		if l := c.Budgets[scope]; l != (kernel.Limit{}) {
			out = append(out, query.Budget{Budget: view.Budget{Scope: scope}, Limit: l})
		}
	}
	return out
}

func limitOf(n int64, show func(int64) string) string {
	if n == 0 {
		return "–"
	}
	return show(n)
}
