package serving

import (
	"context"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"pawl"
	"pawl/face/cli"
	"pawl/face/host"
	"pawl/kernel/query"
	"pawl/text/shell"
)

const (
	// patience is how long one workspace may take to say how it is: its disk may be a network's.
	patience = 3 * time.Second
	// atOnce is how many workspaces are looked at together, and mostNeeds how many sessions of each.
	atOnce    = 8
	mostNeeds = 200
)

// everywhere serves all workspaces of the user on one page.
func everywhere(ctx context.Context, a *cli.App, addr string) error {
	all := a.Host.(host.Lister).Workspaces()
	return all.Serve(ctx, host.Everywhere{Addr: addr, Lang: a.Lang,
		Look: func(ctx context.Context) []host.Sight { return look(ctx, a, all.List()) },
		Serve: func(ctx context.Context, dir string, ready func()) error {
			return offer(ctx, cli.Elsewhere(a, dir), ready)
		},
		Enter: func(ctx context.Context, dir string, person pawl.Actor) (address string, err error) {
			err = cli.Elsewhere(a, dir).With(ctx, quietly(), func(sess *cli.Session) error {
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

// quietly opens a workspace without a change to it, not even to the form of its store.
func quietly() host.Open { return host.Open{ReadOnly: true, Still: true} }

// look says how workspaces are, in their order. Nothing is written to any of them.
func look(ctx context.Context, a *cli.App, dirs []string) []host.Sight {
	out := make([]host.Sight, len(dirs))
	var group errgroup.Group
	group.SetLimit(atOnce)
	for n, dir := range dirs {
		group.Go(func() error {
			ctx, cancel := context.WithTimeout(ctx, patience)
			defer cancel()
			out[n] = host.Sight{Dir: dir}
			out[n].Err = cli.Elsewhere(a, dir).With(ctx, quietly(), func(sess *cli.Session) (err error) {
				if out[n].Status, err = query.Status(ctx, sess.Workspace.Kernel); err != nil {
					return err
				}
				out[n].Inbox, err = query.Inbox(ctx, sess.Workspace.Kernel, mostNeeds)
				for _, need := range out[n].Inbox.Needs {
					for i, next := range need.Next {
						// Here it is to be typed in another folder than that of the workspace.
						need.Next[i].Command = strings.Replace(next.Command, "pawl ", "pawl -C "+shell.Quote(dir)+" ", 1)
					}
				}
				return err
			})
			return nil
		})
	}
	_ = group.Wait() // each has its own error
	return out
}
