// Package notifying is `pawl notify`: the messages that tell people what waits for them, and whether they arrive.
package notifying

import (
	"context"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"pawl"
	"pawl/face/cli"
	"pawl/face/cli/term"
	"pawl/face/host"
	"pawl/kernel/notices"
	"pawl/kernel/query"
	"pawl/kernel/view"
)

// shown is how many messages are listed with which nothing is left to do.
const shown = 50

// Entries are the commands of the first level.
func Entries() []cli.Entry {
	return []cli.Entry{{Name: "notify", Group: "setup", Build: newNotifyCommand}}
}

func newNotifyCommand(a *cli.App) *cobra.Command {
	c := a.Command("notify", "cli.notify", "  pawl notify\n  pawl notify --json\n  pawl notify test",
		func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return cli.UnknownCommand(a, c, args[0])
			}
			return nil
		},
		func(c *cobra.Command, _ []string) error {
			return a.With(c.Context(), cli.Reading(), func(sess *cli.Session) error { return list(c.Context(), sess) })
		})
	c.SuggestionsMinimumDistance = 2
	c.AddCommand(newTestCommand(a))
	return c
}

// channel is a channel as --json shows it.
type channel struct {
	Name  string   `json:"name"`
	Kind  string   `json:"kind"`
	Place string   `json:"place,omitempty"`
	Rules []string `json:"rules"`
	// Error is what is wrong with its settings.
	Error string `json:"error,omitempty"`
}

// list shows the channels and the messages.
func list(ctx context.Context, sess *cli.Session) error {
	messages, err := query.Notices(sess.Ask()).List(ctx, shown)
	if err != nil {
		return err
	}
	channels := []channel{}
	for _, c := range sess.Workspace.Notices.Channels {
		flaw := ""
		if c.Flaw != nil {
			flaw, _ = sess.Lang.Error(c.Flaw)
		}
		channels = append(channels, channel{c.Name, c.Kind, place(c), append([]string{}, c.Rules...), flaw})
	}
	if sess.JSON {
		return sess.PrintJSON(map[string]any{"channels": channels, "notices": append([]view.Notice{}, messages...)})
	}
	if len(channels) == 0 {
		sess.Note(sess.Text("cli.notify.none"))
	}
	t := &term.Table{}
	for _, c := range channels {
		rules := strings.Join(c.Rules, "; ")
		if rules == "" {
			rules = sess.Text("cli.notify.usual")
		}
		if c.Error != "" {
			rules = c.Error
		}
		t.Row(c.Name, c.Kind, cli.Display(c.Place), cli.Display(rules))
	}
	sess.SayTable(t, sess.Std.Width)
	show(sess, messages)
	return nil
}

// place is where a channel leads, without what may be a secret in its address.
func place(c host.Channel) string {
	u, err := url.Parse(c.Place)
	if err != nil {
		return ""
	}
	return u.Host
}

// show lists messages, the newest first.
func show(sess *cli.Session, messages []view.Notice) {
	t := &term.Table{}
	for _, n := range messages {
		paint := sess.Style.Dim
		switch n.State {
		case notices.Failed, notices.Unknown:
			paint = sess.Style.Red
		case notices.Told, notices.Done:
			paint = sess.Style.Green
		}
		what := n.Title
		if n.Error != nil {
			why, _ := sess.Lang.Error(n.Error.Err())
			what += ": " + why
		}
		t.Row(sess.Clock(n.At), n.Channel, paint(sess.Text("cli.notify.state."+n.State)), cli.Display(what))
	}
	sess.SayTable(t, sess.Std.Width)
}

func newTestCommand(a *cli.App) *cobra.Command {
	return a.Command("test [CHANNEL]", "cli.notify.test", "  pawl notify test\n  pawl notify test phone", cli.Between(0, 1),
		func(c *cobra.Command, args []string) error {
			return a.With(c.Context(), cli.Writing(), func(sess *cli.Session) error {
				return test(c.Context(), sess, strings.Join(args, ""))
			})
		})
}

// test sends a message by a channel, or by all of them, and fails where one did not arrive.
func test(ctx context.Context, sess *cli.Session, name string) error {
	if _, err := sess.View(ctx); err != nil {
		return err
	}
	channels := sess.Workspace.Notices.Channels
	if len(channels) == 0 {
		return pawl.Fail(pawl.CodeNotFound, "notify.none")
	}
	for _, c := range channels {
		if (name == "" || c.Name == name) && c.Flaw != nil {
			return c.Flaw
		}
	}
	sent, err := sess.Workspace.Notices.Test(ctx, name)
	if err != nil {
		return err
	}
	if sess.JSON {
		err = sess.PrintJSON(map[string]any{"notices": sent})
	} else {
		show(sess, sent)
	}
	for _, n := range sent {
		if err == nil && n.State != notices.Done {
			err = cli.Shown(pawl.Fail(pawl.CodeEnvironment, "notify.test_failed", n.Channel))
		}
	}
	return err
}
