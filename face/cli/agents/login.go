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
	row("cli.lend.as", cli.Display(who)+", "+cli.Display(l.Where))
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

// AgreeToLogin notes in the user's settings that an agent may work with the login of an account, or with "" that it may
// not any more. It returns the file.
func AgreeToLogin(a *cli.App, name, account string) (string, error) {
	return keepForAgent(a, name, "login", func(settings.Agent) []string {
		if account == "" {
			return nil
		}
		return []string{account}
	})
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

// OfferLogin asks, once, for what is missing before an agent can work: the user's word for the login that there is. It
// is asked where a person is there, and changes nothing otherwise: then the run says what to do.
func OfferLogin(ctx context.Context, a *cli.App, named string) error {
	if !a.Present() {
		return nil
	}
	place, c, err := a.Configured()
	if err != nil {
		return err
	}
	if named == "" {
		named = c.Agent
	}
	agents := a.Host.Agents(place, c)
	if named == "" || agents.Login == nil {
		return nil
	}
	for _, i := range agents.List(ctx, named) {
		if i.Name != named || !i.Offer {
			continue
		}
		l, err := agents.Login(ctx, named)
		if err != nil {
			return err
		}
		ShowLogin(a.Printer, l)
		yes, err := cli.Confirm(ctx, a.Printer, a.Text("cli.lend.ask", l.Title))
		if err != nil || !yes {
			return err
		}
		_, err = AgreeToLogin(a, named, l.Account)
		return err
	}
	return nil
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
	var names []string
	for _, i := range sess.App.Host.Agents(sess.Workspace.Place, sess.Config).List(ctx, name) {
		if i.Name != name {
			names = append(names, i.Name)
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
	return pawl.Fail(pawl.CodeInvalid, "agent.unknown", name, strings.Join(names, ", "))
}

// PickAgent returns the name of an agent that was given, or lets a person choose one of those that fit.
func PickAgent(ctx context.Context, a *cli.App, args []string, fits func(host.AgentInfo) bool) (string, error) {
	return cli.Pick(ctx, a.Printer, args, "cli.pick.agent", func() ([]tui.Item, error) {
		agents, err := cli.AgentsOf(a)
		if err != nil {
			return nil, err
		}
		var out []tui.Item
		for _, i := range agents.List(ctx, "") {
			if fits == nil || fits(i) {
				out = append(out, tui.Item{ID: i.Name, Title: cli.AgentWord(a.Printer, "kind", i.Kind) + "  " +
					i.Version, Note: cli.AgentWord(a.Printer, "state", i.State)})
			}
		}
		return out, nil
	})
}
