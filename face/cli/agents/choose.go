package agents

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"pawl"
	"pawl/face/cli"
	"pawl/face/cli/settings"
	"pawl/face/host"
	"pawl/face/tui"
)

// Need is what is known of the work that an agent is chosen for.
type Need struct {
	// Agent is the one that the command names, "" for none.
	Agent string
	// Requirement is what is asked for, "" if that is not known yet.
	Requirement string
	// Planned says that a plan is given whose steps all have their calls, so that the embedded agent is enough.
	Planned bool
	// Unattended says that nobody is asked.
	Unattended bool
}

// Default returns an override that fills in the agent that Choose finds.
func Default(ctx context.Context, a *cli.App, n Need) (func(*settings.Config) error, error) {
	place, c, err := a.Configured()
	if err != nil {
		return nil, err
	}
	chosen, err := Choose(ctx, a, a.Host.Agents(place, c), c, n)
	return func(c *settings.Config) error { c.Agent = cmp.Or(c.Agent, chosen); return nil }, err
}

// Choose returns the agent to use if neither the command nor a setting names one. Of the agents that are installed and
// can work, those that the user agreed to go first. At a terminal the user chooses among several, once, and sees once
// what the use of an agent means; elsewhere either is an error that names the commands. It returns "" for the embedded
// agent, which works if no other one can, or if it can do what is asked for and nobody chooses another one.
func Choose(ctx context.Context, a *cli.App, agents host.Agents, c settings.Config, n Need) (chosen string, err error) {
	plans, _ := c.Role(c.Planner)
	works, _ := c.Role(c.Worker)
	ask := a.Present() && !n.Unattended && c.RunMode != pawl.Autonomous
	switch named := cmp.Or(n.Agent, c.Agent); {
	case agents.Installed == nil:
	case named != "" && ask:
		// without consent the run fails with what to do
		for _, i := range agents.Installed(ctx) {
			if i.Name == named && i.Offer {
				_, err = disclose(ctx, a, agents, named)
			}
		}
	case named == "" && (plans == "" || works == "") && !n.Planned:
		chosen, err = choose(ctx, a, agents, c, ask)
		if code := pawl.CodeOf(err); (code == pawl.CodeApprovalNeeded || code == pawl.CodeUserDenied) &&
			agents.Embedded(n.Requirement) {
			err = nil
		}
	}
	return chosen, err
}

// agreed reports whether the user has agreed to the use of an agent. A model is one that the user has set.
func agreed(i host.AgentInfo) bool { return i.Agreed || i.Kind == "llm" }

// choose returns the agent to use, "" if none can work.
func choose(ctx context.Context, a *cli.App, agents host.Agents, c settings.Config, ask bool) (string, error) {
	all := agents.Installed(ctx)
	fit := slices.DeleteFunc(slices.Clone(all), func(i host.AgentInfo) bool { return !i.Agreed || i.State == "unset" })
	if len(fit) == 0 {
		fit = slices.DeleteFunc(all, func(i host.AgentInfo) bool { return i.State == "unset" && !i.Offer })
	}
	if len(fit) == 0 {
		return "", nil
	}
	i, err := pick(ctx, a, fit, ask)
	switch {
	case err != nil || agreed(i):
	case !ask:
		err = pawl.Fail(pawl.CodeApprovalNeeded, "cli.agent_unseen", i.Name)
	default:
		var yes bool
		if yes, err = disclose(ctx, a, agents, i.Name); err == nil && !yes {
			err = pawl.Fail(pawl.CodeUserDenied, "cli.agent_unseen", i.Name)
		}
	}
	if err != nil {
		return "", err
	}
	key := "cli.agent_chosen"
	if len(fit) > 1 {
		s, err := settings.Find("agent")
		if err == nil {
			err = c.Change(s, []string{i.Name})
		}
		if err != nil {
			return "", err
		}
		key = "cli.agent_stored"
	}
	a.Note(a.Style.Dot() + " " + a.Text(key, i.Name))
	return i.Name, nil
}

// pick returns the one agent that there is, or the one that a user at a terminal chooses.
func pick(ctx context.Context, a *cli.App, fit []host.AgentInfo, ask bool) (out host.AgentInfo, err error) {
	if len(fit) == 1 {
		return fit[0], nil
	}
	var names, commands []string
	for _, i := range fit {
		names, commands = append(names, i.Name), append(commands, "pawl config set agent "+i.Name)
	}
	if !ask || !cli.Picks(a.Printer) {
		return out, pawl.Fail(pawl.CodeApprovalNeeded, "cli.agent_which", strings.Join(names, ", "),
			strings.Join(commands, " | "))
	}
	name, err := cli.Pick(ctx, a.Printer, nil, "cli.pick.agent",
		func() ([]tui.Item, error) { return items(a.Printer, fit, nil), nil })
	if err == nil {
		out = fit[slices.Index(names, name)]
	}
	return out, err
}
