// Package agents is `pawl agent`: which agents there are and whether they work, whose logins they may work with, and
// which projects they may obey.
package agents

import (
	"context"

	"github.com/spf13/cobra"

	"pawl"
	"pawl/face/cli"
	"pawl/face/cli/settings"
	"pawl/face/host"
)

// Entries are the commands of the first level.
func Entries() []cli.Entry {
	return []cli.Entry{{Name: "agent", Group: "setup", Build: newAgentCommand}}
}

func newAgentCommand(a *cli.App) *cobra.Command {
	return a.Group("agent", "cli.agent", newListCommand(a), newCheckCommand(a), newAddCommand(a), newRemoveCommand(a),
		newTrustCommand(a), newUntrustCommand(a))
}

func newAddCommand(a *cli.App) *cobra.Command {
	yes := false
	c := a.Command("add AGENT", "cli.agent.add",
		"  pawl agent add codex\n  pawl agent add claude-code --yes\n  pawl agent add codex --json",
		cli.Named(a.Printer), nil)
	c.RunE = func(c *cobra.Command, args []string) error {
		name, err := PickAgent(c.Context(), a, args, func(i host.AgentInfo) bool { return i.Offer || i.Account != "" })
		if err != nil {
			return err
		}
		return add(c.Context(), a, name, yes)
	}
	c.Flags().BoolVar(&yes, "yes", false, a.Text("cli.flag.lend_yes"))
	return c
}

// add shows what it means that an agent works with its user's login, and notes that it may, when the user says so.
func add(ctx context.Context, a *cli.App, name string, yes bool) error {
	agents, err := cli.AgentsOf(a)
	if err != nil {
		return err
	}
	l, err := agents.Login(ctx, name)
	if err != nil {
		return err
	}
	if !a.JSON {
		ShowLogin(a.Printer, l)
	}
	agreed := l.Agreed || yes
	if !agreed && a.Present() {
		if agreed, err = cli.Confirm(ctx, a.Printer, a.Text("cli.lend.ask", l.Title)); err != nil {
			return err
		}
	}
	file := ""
	if agreed && !l.Agreed {
		if file, err = agree(a, l); err != nil {
			return err
		}
	}
	l.Agreed = agreed
	if a.JSON {
		if err := a.PrintJSON(l); err != nil {
			return err
		}
	}
	if !agreed {
		return pawl.Fail(pawl.CodeApprovalNeeded, "cli.lend.not_agreed", name)
	}
	if a.JSON {
		return nil
	}
	key := "cli.lend.agreed"
	if file == "" {
		key = "cli.lend.agreed_before"
	}
	a.Say(a.Style.OK() + " " + a.Text(key, name, file))
	a.Say("  " + a.Style.Cyan(a.Text("cli.next")) + a.Text("cli.lend.next", name))
	return nil
}

func newRemoveCommand(a *cli.App) *cobra.Command {
	return a.Command("remove AGENT", "cli.agent.remove", "  pawl agent remove codex", cli.Exactly(1),
		func(c *cobra.Command, args []string) error {
			return remove(a, args[0])
		})
}

// remove takes the word back, and every copy that was left behind. The login itself is the user's and stays as it is.
func remove(a *cli.App, name string) error {
	agents, err := cli.AgentsOf(a)
	if err != nil {
		return err
	}
	gone, err := agents.Forget(name)
	if err != nil {
		return err
	}
	file := ""
	for _, what := range []string{"login", "key"} {
		if file, err = keepForAgent(a, name, what, func(settings.Agent) []string { return nil }); err != nil {
			return err
		}
	}
	if a.JSON {
		return a.PrintJSON(map[string]any{"agent": name, "agreed": false, "copies_removed": gone})
	}
	a.Say(a.Style.OK() + " " + a.Text("cli.lend.taken_back", name, file, gone))
	return nil
}
