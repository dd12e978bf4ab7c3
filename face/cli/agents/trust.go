package agents

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"pawl"
	"pawl/face/cli"
	"pawl/face/cli/term"
	"pawl/face/host"
)

func newTrustCommand(a *cli.App) *cobra.Command {
	yes := false
	c := a.Command("trust AGENT", "cli.agent.trust",
		"  pawl agent trust claude-code\n  pawl agent trust gemini-cli --yes\n  pawl agent trust opencode --json",
		cli.Exactly(1), nil)
	c.RunE = func(c *cobra.Command, args []string) error { return trust(c.Context(), a, args[0], yes) }
	c.Flags().BoolVar(&yes, "yes", false, a.Text("cli.flag.trust_yes"))
	return c
}

// trust shows what this project sets for an agent, and notes that the agent may obey exactly that, when the user says
// so.
func trust(ctx context.Context, a *cli.App, name string, yes bool) error {
	settings, err := settingsOf(ctx, a, name)
	if err != nil {
		return err
	}
	var wanted []string
	for _, s := range settings {
		if s.Digest != "" && !s.Trusted {
			wanted = append(wanted, s.Digest)
		}
	}
	if !a.JSON {
		show(a.Printer, name, settings)
	}
	if !yes && len(wanted) > 0 && a.Present() {
		if yes, err = cli.Confirm(ctx, a.Printer, a.Text("cli.trust.ask", name)); err != nil {
			return err
		}
	}
	file := ""
	if yes && len(wanted) > 0 {
		if file, err = TrustAgent(a, name, wanted); err != nil {
			return err
		}
		for i, s := range settings {
			settings[i].Trusted = s.Digest != ""
		}
	}
	if a.JSON {
		if err := a.PrintJSON(map[string]any{"agent": name, "project_settings": settings}); err != nil {
			return err
		}
	}
	switch {
	case len(wanted) > 0 && !yes:
		return pawl.Fail(pawl.CodeApprovalNeeded, "cli.trust.not_trusted", name)
	case file != "" && !a.JSON:
		a.Say(a.Style.OK() + " " + a.Text("cli.trust.trusted", name, file))
	}
	return nil
}

// settingsOf returns what this project sets for an agent.
func settingsOf(ctx context.Context, a *cli.App, name string) ([]host.ProjectSetting, error) {
	agents, err := cli.AgentsOf(a)
	if err != nil {
		return nil, err
	}
	infos := agents.List(ctx, name)
	i := slices.IndexFunc(infos, func(i host.AgentInfo) bool { return i.Name == name })
	switch {
	case i < 0:
		return nil, agents.Known(ctx, name)
	case infos[i].State == "missing":
		return nil, pawl.Fail(pawl.CodeEnvironment, "cli.agent_not_ready",
			name).Because(pawl.Fail(pawl.CodeEnvironment, infos[i].Key, cli.Args(infos[i].Args)...))
	}
	return append([]host.ProjectSetting{}, infos[i].Settings...), nil
}

// show lists the settings, each with what becomes of it.
func show(pr *cli.Printer, name string, settings []host.ProjectSetting) {
	if len(settings) == 0 {
		pr.SayText("cli.trust.none", name)
		return
	}
	pr.SayText("cli.trust.head", name)
	var t term.Table
	for _, s := range settings {
		state := "cli.trust.off"
		switch {
		case s.Trusted:
			state = "cli.trust.on"
		case s.Digest == "":
			state = "cli.trust.never"
		}
		t.Row("  "+cli.Display(s.Name), pr.Text(state), s.Digest)
	}
	pr.SayTable(&t, pr.Std.Width)
}

func newUntrustCommand(a *cli.App) *cobra.Command {
	return a.Command("untrust AGENT", "cli.agent.untrust", "  pawl agent untrust claude-code", cli.Exactly(1),
		func(_ *cobra.Command, args []string) error {
			file, err := TrustAgent(a, args[0], nil)
			if err != nil {
				return err
			}
			if a.JSON {
				return a.PrintJSON(map[string]any{"agent": args[0], "trusted": []string{}})
			}
			a.Say(a.Style.OK() + " " + a.Text("cli.trust.untrusted", args[0], file))
			return nil
		})
}
