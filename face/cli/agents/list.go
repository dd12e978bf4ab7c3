package agents

import (
	"cmp"

	"github.com/spf13/cobra"

	"pawl/face/cli"
	"pawl/face/cli/settings"
	"pawl/face/host"
)

func newListCommand(a *cli.App) *cobra.Command {
	return a.Command("list", "cli.agent.list", "  pawl agent list\n  pawl agent list --json", cli.Exactly(0),
		func(c *cobra.Command, _ []string) error {
			agents, err := cli.AgentsOf(a)
			if err != nil {
				return err
			}
			infos := agents.List(c.Context(), "")
			if a.JSON {
				return a.PrintJSON(map[string]any{"agents": infos})
			}
			rows := [][]string{}
			for _, i := range infos {
				what := i.Path
				if i.Key != "" {
					what = a.Text(i.Key, cli.Args(i.Args)...)
					// What is missing is the one thing to know of an agent that cannot work.
					if hint := a.Lang.Hint(i.Key, cli.Args(i.Args)...); hint != "" && i.State != "untested" {
						what = hint
					}
				}
				rows = append(rows, []string{i.Name, cli.AgentWord(a.Printer, "kind", i.Kind),
					cli.AgentWord(a.Printer, "state", i.State), i.Version, cli.Display(accountText(i)),
					cli.Display(i.Model), what})
			}
			cli.PrintTable(a.Printer, []string{a.Text("cli.col.agent"), a.Text("cli.col.kind"), a.Text("cli.col.state"),
				a.Text("cli.col.version"), a.Text("cli.col.account"), a.Text("cli.col.model"), ""}, rows)
			return printRoles(a)
		})
}

// printRoles says who plans, who works and who reviews, where these are not one.
func printRoles(a *cli.App) error {
	_, c, err := a.Configured()
	works, plans, reviews := c.Cast()
	if err != nil || plans == "" && c.Planner == c.Worker && c.Reviewer == "" {
		return err
	}
	name := func(agent, of string) string {
		if _, model := c.Role(of); model != "" {
			return agent + " (" + model + ")"
		}
		return cmp.Or(agent, "script")
	}
	a.Say(a.Text("cli.agent.roles", cli.Display(name(cmp.Or(plans, works), c.Planner)),
		cli.Display(name(works, c.Worker))))
	if reviews != "" && reviews != "script" && reviews != settings.Nobody {
		a.Say(a.Text("cli.agent.reviews", cli.Display(name(reviews, cmp.Or(c.Reviewer, c.Worker)))))
	}
	return nil
}

// accountText says whose login, or which key, an agent would work with.
func accountText(i host.AgentInfo) string {
	if i.Plan != "" && i.Account != i.Plan {
		return i.Account + " (" + i.Plan + ")"
	}
	return i.Account
}
