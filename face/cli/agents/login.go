package agents

import (
	"context"
	"slices"
	"strings"
	"time"

	"pawl"
	"pawl/face/cli"
	"pawl/face/cli/settings"
	"pawl/face/cli/term"
	"pawl/face/host"
	"pawl/face/tui"
)

// ShowLogin says what is lent, to whom it is shown and who can read it.
func ShowLogin(pr *cli.Printer, l host.AgentLogin) {
	var t term.Table
	row := func(key, text string) { t.Row("  "+pr.Text(key), text) }
	who := l.Account
	if l.Plan != "" && l.Plan != l.Account {
		who += " (" + l.Plan + ")"
	}
	pr.Say(pr.Style.Bold(l.Title) + "  " + cli.Display(strings.TrimSpace(l.Version+"  "+l.Path)))
	if l.Where != "" && l.Where != who {
		who += ", " + l.Where
	}
	row("cli.lend.as", cli.Display(who))
	switch {
	case l.Renewer != "" && l.Expires != nil:
		row("cli.lend.until", pr.Text("cli.lend.renewed", l.Expires.Local().Format(time.DateTime), l.Renewer))
	case l.Expires != nil:
		row("cli.lend.until", l.Expires.Local().Format(time.DateTime))
	}
	model := l.Model
	if model == "" {
		model = pr.Text("cli.lend.own_model")
	}
	row("cli.lend.model", cli.Display(model))
	row("cli.lend.what", pr.Text("cli.lend.what_"+l.Kind))
	way := "cli.lend.gateway"
	if l.Way == "tunnel" {
		way = "cli.lend.tunnel"
	}
	row("cli.lend.goes", pr.Text(way, strings.Join(l.Sites, ", ")))
	row("cli.lend.commands", pr.Text(map[bool]string{true: "cli.lend.readable",
		false: "cli.lend.unreadable"}[l.Readable]))
	row("cli.lend.limits", pr.Text(map[bool]string{true: "cli.lend.priced",
		false: "cli.lend.unpriced"}[l.Kind == "key"]))
	row("cli.lend.terms", pr.Text("cli.lend.yours", l.Maker))
	pr.SayTable(&t, pr.Std.Width)
}

// agree notes in the user's settings that an agent may work with a login or a key, and returns the file.
func agree(a *cli.App, l host.AgentLogin) (string, error) {
	what := "login"
	if l.Where == "" {
		what = "key"
	}
	return keepForAgent(a, l.Agent, what, func(settings.Agent) []string { return []string{l.Account} })
}

// disclose shows what it means that an agent is used, once, and notes whether it may be.
func disclose(ctx context.Context, a *cli.App, agents host.Agents, name string) (yes bool, err error) {
	l, err := agents.Login(ctx, name)
	if err != nil {
		return false, err
	}
	ShowLogin(a.Printer, l)
	if yes, err = cli.Confirm(ctx, a.Printer, a.Text("cli.lend.ask", l.Title)); yes && err == nil {
		_, err = agree(a, l)
	}
	return yes, err
}

// keepForAgent changes a setting of an installed agent in the user's own settings, and returns their file.
func keepForAgent(a *cli.App, agent, what string, values func(now settings.Agent) []string) (string, error) {
	_, c, err := a.Configured()
	if err != nil {
		return "", err
	}
	s, err := settings.OfAgent(agent, what)
	if err != nil {
		return "", pawl.Fail(pawl.CodeInvalid, "login.unknown", agent)
	}
	return c.File, c.Change(s, values(c.Agents[agent]))
}

// TrustAgent notes in the user's settings that an agent may obey what projects set for it with these digests, besides
// those that it may already, or with none that it may not obey any project. It returns the file.
func TrustAgent(a *cli.App, agent string, digests []string) (string, error) {
	return keepForAgent(a, agent, "trust", func(now settings.Agent) []string {
		if len(digests) == 0 {
			return nil
		}
		all := append(slices.Clone(now.Trust), digests...)
		slices.Sort(all)
		return slices.Compact(all)
	})
}

// Ready refuses a run of whose agents one cannot work, before anything is begun.
func Ready(ctx context.Context, sess *cli.Session, names ...string) error {
	for n, name := range names {
		if name == "" || name == settings.Nobody || slices.Contains(names[:n], name) {
			continue
		}
		if err := ready(ctx, sess, name); err != nil {
			return err
		}
	}
	return nil
}

func ready(ctx context.Context, sess *cli.Session, name string) error {
	agents := sess.App.Host.Agents(sess.Workspace.Place, sess.Config)
	for _, i := range agents.List(ctx, name) {
		if i.Name != name {
			continue
		}
		if i.State == "missing" || i.State == "unset" {
			return pawl.Fail(pawl.CodeEnvironment, "cli.agent_not_ready",
				name).Because(pawl.Fail(pawl.CodeEnvironment, i.Key, cli.Args(i.Args)...))
		}
		if i.Key != "" {
			sess.Note(sess.Style.Warn() + " " + sess.Text(i.Key, cli.Args(i.Args)...))
		}
		if off := i.LeftOut(); len(off) > 0 {
			sess.Note(sess.Style.Warn() + " " +
				sess.Text("cli.trust.left_out", name, cli.Display(strings.Join(off, ", "))))
		}
		return nil
	}
	return agents.Known(ctx, name)
}

// PickAgent returns the name of an agent that was given, or lets a person choose one of those that fit.
func PickAgent(ctx context.Context, a *cli.App, args []string, fits func(host.AgentInfo) bool) (string, error) {
	return cli.Pick(ctx, a.Printer, args, "cli.pick.agent", func() ([]tui.Item, error) {
		agents, err := cli.AgentsOf(a)
		if err != nil {
			return nil, err
		}
		return items(a.Printer, agents.List(ctx, ""), fits), nil
	})
}

// items are the agents that fit, to choose from. One that only lacks the user's consent is shown with its account.
func items(pr *cli.Printer, agents []host.AgentInfo, fits func(host.AgentInfo) bool) (out []tui.Item) {
	for _, i := range agents {
		if fits != nil && !fits(i) {
			continue
		}
		note := cli.AgentWord(pr, "state", i.State)
		if i.Offer {
			note = cli.Display(i.Account)
		}
		out = append(out, tui.Item{ID: i.Name, Title: cli.AgentWord(pr, "kind", i.Kind) + "  " + i.Version, Note: note})
	}
	return out
}
