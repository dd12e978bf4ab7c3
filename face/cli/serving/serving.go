// Package serving is `pawl serve`: the workspace for programs and pages, and the tokens by which they use it.
package serving

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"pawl"
	"pawl/face/cli"
	"pawl/face/cli/agents"
	"pawl/face/cli/settings"
	"pawl/face/cli/term"
	"pawl/face/give"
	"pawl/face/host"
	"pawl/kernel"
	"pawl/kernel/planning"
)

// Entries are the commands of the first level.
func Entries() []cli.Entry {
	return []cli.Entry{{Name: "serve", Group: "setup", Build: newServeCommand},
		{Name: "open", Group: "setup", Build: newOpenCommand}}
}

// approve is the scope that makes a decision the person's.
const approve = "approve"

// scopes are what a token may be made for, the least first.
func scopes() []string { return []string{"read", "act", approve} }

func newServeCommand(a *cli.App) *cobra.Command {
	var addr string
	var all bool
	none := func(c *cobra.Command, args []string) error {
		if len(args) > 0 {
			return cli.UnknownCommand(a, c, args[0])
		}
		return nil
	}
	c := a.Command("serve", "cli.serve",
		"  pawl serve\n  pawl serve --addr 127.0.0.1:7296\n  pawl serve --all\n  pawl serve token new ci --scope read\n  pawl serve token list", none, nil)
	c.RunE = func(c *cobra.Command, _ []string) error {
		if all {
			return everywhere(c.Context(), a, addr)
		}
		return a.With(c.Context(), host.Open{Unseen: true}, func(sess *cli.Session) error {
			if _, err := sess.View(c.Context()); err != nil {
				return err
			}
			return sess.Workspace.Offer(c.Context(), offering(c.Context(), sess, addr, func(at host.Offered) {
				ready(c.Context(), sess, at)
			}))
		})
	}
	c.Flags().StringVar(&addr, "addr", "127.0.0.1:0", a.Text("cli.flag.serve_addr"))
	c.Flags().BoolVar(&all, "all", false, a.Text("cli.flag.serve_all"))
	c.SuggestionsMinimumDistance = 2
	c.AddCommand(newTokenCommand(a))
	return c
}

// offering is how a workspace is served.
func offering(ctx context.Context, sess *cli.Session, addr string, ready func(host.Offered)) host.Offering {
	return host.Offering{Addr: addr, Lang: sess.Lang, Advance: cli.Advancer(sess), Ready: ready,
		Begin: func(ctx context.Context, r host.Requirement) (kernel.Command, error) { return begin(ctx, sess, r) },
		Failed: func(err error) {
			if err != nil && ctx.Err() == nil {
				cli.Remark(sess.Printer, err)
			}
		}}
}

// begin makes the command by which a requirement is taken up, as `pawl run` does.
func begin(ctx context.Context, sess *cli.Session, r host.Requirement) (kernel.Command, error) {
	c := sess.Config
	if err := errors.Join(settings.Override("agent", r.Agent)(&c), settings.Override("run_mode", r.Mode)(&c)); err != nil {
		return nil, err
	}
	start := &planning.Start{Requirement: strings.TrimSpace(r.Text), RunMode: c.RunMode, Lang: string(sess.Lang),
		Place: cli.WorkPlace(sess.Workspace.Place, r.InPlace)}
	planned := false
	if r.Plan != "" {
		start.Given, start.Name = []byte(r.Plan), "plan.yaml"
		p, err := give.Plan(sess.Workspace.Kernel.Config(), start.Given)
		if err != nil {
			return nil, err
		}
		start.Requirement, planned = cmp.Or(start.Requirement, p.Goal), p.Complete()
	}
	if start.Requirement == "" {
		return nil, pawl.Fail(pawl.CodeInvalid, "cli.run_nothing")
	}
	chosen, err := agents.Choose(ctx, sess.App, sess.App.Host.Agents(sess.Workspace.Place, c), c,
		agents.Need{Requirement: start.Requirement, Planned: planned, Unattended: true})
	if err != nil {
		return nil, err
	}
	c.Agent = cmp.Or(c.Agent, chosen)
	start.Agent, start.Planner, start.Reviewer = c.Cast()
	return start, agents.Ready(ctx, sess, start.Planner, start.Agent, start.Reviewer)
}

// ready says where the server is and how to get in.
func ready(ctx context.Context, sess *cli.Session, at host.Offered) {
	if sess.JSON {
		_ = sess.PrintJSON(at) // who cannot be told asks the file
		return
	}
	sess.SayText("cli.serve.ready", at.URL)
	if at.Socket != "" {
		sess.Say("  " + sess.Style.Dim(sess.Text("cli.serve.socket", at.Socket)))
	}
	sess.Say("  " + sess.Style.Dim(sess.Text("cli.serve.token_how")))
	// Who is no person at a terminal does not get in.
	if err := enter(ctx, sess); err != nil {
		sess.Say("  " + sess.Style.Dim(sess.Text("cli.serve.pages_how")))
	}
}

// enter says where a person enters the pages.
func enter(ctx context.Context, sess *cli.Session) error {
	address, code, err := sess.Workspace.Enter(ctx, sess.App.Actor())
	if err != nil {
		return err
	}
	return entrance(sess.App, address, code)
}

// entrance says where and by which code a person enters pages.
func entrance(a *cli.App, address, code string) error {
	if a.JSON {
		return a.PrintJSON(map[string]string{"url": address, "code": code})
	}
	a.SayText("cli.open.at", address)
	a.Say("  " + a.Style.Dim(a.Text("cli.open.once", code)))
	return nil
}

func newOpenCommand(a *cli.App) *cobra.Command {
	var all bool
	c := a.Command("open", "cli.open", "  pawl open\n  pawl open --all", cli.Exactly(0), nil)
	c.RunE = func(c *cobra.Command, _ []string) error {
		if all {
			return enterEverywhere(a)
		}
		return a.With(c.Context(), cli.Reading(), func(sess *cli.Session) error { return enter(c.Context(), sess) })
	}
	c.Flags().BoolVar(&all, "all", false, a.Text("cli.flag.open_all"))
	return c
}

func newTokenCommand(a *cli.App) *cobra.Command {
	return a.Group("token", "cli.serve.token", newTokenNewCommand(a), newTokenListCommand(a), newTokenRevokeCommand(a))
}

func newTokenNewCommand(a *cli.App) *cobra.Command {
	var scope string
	c := a.Command("new NAME", "cli.serve.token.new",
		"  pawl serve token new ci\n  pawl serve token new editor --scope act", cli.Exactly(1), nil)
	c.RunE = func(c *cobra.Command, args []string) error {
		most := slices.Index(scopes(), scope)
		switch {
		case most < 0:
			return cli.Usage("cli.flag_invalid", scope, "--scope", strings.Join(scopes(), "|"))
		case scope == approve && a.Actor().Kind() != pawl.KindUser:
			// To approve is a person's: nobody else can hand that on.
			return pawl.Fail(pawl.CodeDenied, "serve.approve_person", a.Actor().Label())
		}
		return a.With(c.Context(), cli.Reading(), func(sess *cli.Session) error {
			of := host.Token{Name: args[0], Scopes: scopes()[:most+1]}
			token, err := sess.Workspace.Tokens.New(c.Context(), of, a.Actor())
			if err != nil {
				return err
			}
			if a.JSON {
				return a.PrintJSON(map[string]any{"name": of.Name, "scopes": of.Scopes, "token": token})
			}
			a.SayText("cli.serve.token.made", of.Name, strings.Join(of.Scopes, ", "))
			a.Say(token)
			a.Note("  " + a.Style.Dim(a.Text("cli.serve.token.once")))
			return nil
		})
	}
	c.Flags().StringVar(&scope, "scope", "read", a.Text("cli.flag.serve_scope"))
	return c
}

func newTokenListCommand(a *cli.App) *cobra.Command {
	return a.Command("list", "cli.serve.token.list", "  pawl serve token list", cli.Exactly(0),
		func(c *cobra.Command, _ []string) error {
			return a.With(c.Context(), cli.Reading(), func(sess *cli.Session) error {
				return list(c.Context(), sess)
			})
		})
}

func list(ctx context.Context, sess *cli.Session) error {
	all, err := sess.Workspace.Tokens.List(ctx)
	if err != nil {
		return err
	}
	if sess.JSON {
		return sess.PrintJSON(map[string]any{"tokens": all})
	}
	if len(all) == 0 {
		sess.Note(sess.Text("cli.serve.token.none"))
		return nil
	}
	t := &term.Table{}
	for _, k := range all {
		t.Row(cli.Display(k.Name), strings.Join(k.Scopes, ", "), sess.Style.Dim(sess.Clock(k.Made)))
	}
	sess.SayTable(t, sess.Std.Width)
	return nil
}

func newTokenRevokeCommand(a *cli.App) *cobra.Command {
	return a.Command("revoke NAME", "cli.serve.token.revoke", "  pawl serve token revoke ci", cli.Exactly(1),
		func(c *cobra.Command, args []string) error {
			return a.With(c.Context(), cli.Reading(), func(sess *cli.Session) error {
				if err := sess.Workspace.Tokens.Revoke(c.Context(), args[0]); err != nil {
					return err
				}
				if a.JSON {
					return a.PrintJSON(map[string]any{"revoked": args[0]})
				}
				a.SayText("cli.serve.token.revoked", args[0])
				return nil
			})
		})
}
