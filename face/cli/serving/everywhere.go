package serving

import (
	"context"

	"pawl"
	"pawl/face/cli"
	"pawl/face/host"
)

// everywhere serves all workspaces of the user on one page.
func everywhere(ctx context.Context, a *cli.App, addr string) error {
	all := a.Host.(host.Lister).Workspaces()
	return all.Serve(ctx, host.Everywhere{Addr: addr, Lang: a.Lang,
		Look: func(ctx context.Context) []host.Sight { return cli.Look(ctx, a, all.List()) },
		Serve: func(ctx context.Context, dir string, ready func()) error {
			return offer(ctx, cli.Elsewhere(a, dir), ready)
		},
		Enter: func(ctx context.Context, dir string, person pawl.Actor) (address string, err error) {
			err = cli.Elsewhere(a, dir).With(ctx, cli.Quietly(), func(sess *cli.Session) error {
				address, _, err = sess.Workspace.Enter(ctx, person)
				return err
			})
			return address, err
		},
		Ready: func(at host.Offered) {
			if a.JSON {
				_ = a.PrintJSON(at) // who cannot be told asks the file
				return
			}
			a.SayText("cli.serve.ready_all", len(all.List()), at.URL)
			if err := enterEverywhere(a); err != nil {
				a.Say("  " + a.Style.Dim(a.Text("cli.serve.pages_how_all")))
			}
		}})
}

// enterEverywhere says where a person enters the page of all workspaces.
func enterEverywhere(a *cli.App) error {
	address, code, err := a.Host.(host.Lister).Workspaces().Enter(a.Actor())
	if err != nil {
		return err
	}
	return entrance(a, address, code)
}

// offer serves one workspace with its own pages until ctx ends.
func offer(ctx context.Context, a *cli.App, ready func()) error {
	err := a.With(ctx, host.Open{Unseen: true}, func(sess *cli.Session) error {
		return sess.Workspace.Offer(ctx, offering(ctx, sess, "127.0.0.1:0", func(host.Offered) { ready() }))
	})
	if err != nil && ctx.Err() == nil {
		cli.Remark(a.Printer, err)
	}
	return err
}
