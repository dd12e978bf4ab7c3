package tasks

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"pawl"
	"pawl/face/cli"
	"pawl/face/cli/inspect"
	"pawl/kernel"
	"pawl/kernel/approval"
	"pawl/kernel/joined"
	"pawl/kernel/orders"
	"pawl/kernel/recovery"
	"pawl/kernel/tasks"
	"pawl/machine/session"
)

// newContextCommand is `pawl context`: the operations of the context manager (docs/spec/session.md#context-manager),
// each routed through the store. Archiving a task needs no command, because every run ends with it.
func newContextCommand(a *cli.App) *cobra.Command {
	return a.Group("context", "cli.context", newContextReadCommand(a), newContextProgressCommand(a),
		newContextStateCommand(a),
		newContextCheckpointCommand(a), newContextDecisionCommand(a), newContextErrorCommand(a))
}

func newContextReadCommand(a *cli.App) *cobra.Command {
	c := a.Command("read", "cli.context.read", "  pawl context read --json", cli.Exactly(0), nil)
	c.RunE = func(c *cobra.Command, _ []string) error {
		return a.With(c.Context(), cli.Reading(),
			func(sess *cli.Session) error { return inspect.PrintStatus(c.Context(), sess) })
	}
	return c
}

// doAndTell gives a command that leaves nothing to do and says that it was done; programs are told where the session
// stands.
func doAndTell(ctx context.Context, a *cli.App, command kernel.Command, done string) error {
	return a.With(ctx, cli.Writing(), func(sess *cli.Session) error {
		if _, err := sess.Do(ctx, command); err != nil {
			return err
		}
		if sess.JSON {
			return cli.PrintState(ctx, sess)
		}
		sess.Say(sess.Style.OK() + " " + sess.Text(done))
		return nil
	})
}

func newContextProgressCommand(a *cli.App) *cobra.Command {
	var note string
	c := a.Command("progress TASK STATUS", "cli.context.progress",
		"  pawl context progress T-001 DONE -m \"parser finished\"", cli.Between(1, 2), nil)
	c.RunE = func(c *cobra.Command, args []string) error {
		return cli.OpenAndGoOn(c.Context(), a, true, nil, func(sess *cli.Session) error {
			s, err := sess.Workspace.Kernel.TaskSnapshot(c.Context(), args[0])
			if err != nil {
				return err
			}
			_, err = sess.Do(c.Context(), &tasks.UpdateProgress{Task: s.Task.ID, Status: strings.Join(args[1:], ""),
				Summary: note})
			return err
		})
	}
	c.Flags().StringVarP(&note, "message", "m", "", a.Text("cli.flag.note"))
	return c
}

func newContextStateCommand(a *cli.App) *cobra.Command {
	var yes bool
	c := a.Command("state STATE [TEXT]", "cli.context.state",
		"  pawl context state BLOCKED \"it hangs\"\n  pawl context state PLANNING \"make the checks pass\"",
		cli.Between(1, 2), nil)
	c.RunE = func(c *cobra.Command, args []string) error {
		to := session.State(strings.ToUpper(args[0]))
		if !slices.Contains(session.Table.States(), to) {
			return cli.Usage("cli.context.state_unknown", args[0])
		}
		return a.With(c.Context(), cli.Writing(), func(sess *cli.Session) error {
			return moveState(c.Context(), sess, to, strings.Join(args[1:], ""), yes)
		})
	}
	c.Flags().BoolVar(&yes, "yes", false, a.Text("cli.flag.yes_open"))
	return c
}

// moveState takes the session to a state by the command that the way there is, and says from where to where it went. A
// rollback is asked about and carried out to its end.
func moveState(ctx context.Context, sess *cli.Session, to session.State, text string, yes bool) error {
	s, err := sess.Workspace.Kernel.Snapshot(ctx)
	if err != nil {
		return err
	}
	from := cli.SessionState(s)
	command, err := joined.RouteState(s, to, text)
	if err != nil {
		return err
	}
	switch c := command.(type) {
	case *approval.Approve:
		err = cli.ApproveOpen(ctx, sess, c.Hash, yes)
	case *recovery.Rollback:
		if !yes {
			if ok, err := cli.Confirm(ctx, sess.Printer, sess.Text("cli.rollback.ask")); err != nil || !ok {
				return cmp.Or(err, cli.Shown(pawl.Fail(pawl.CodeUserDenied, "cli.ended", "declined")))
			}
		}
		err = cli.GoOn(ctx, sess, false, []string{"rolled_back"},
			func(sess *cli.Session) error { _, err := sess.Do(ctx, c); return err })
	default:
		_, err = sess.Do(ctx, command)
	}
	if err != nil {
		return err
	}
	if sess.JSON {
		return cli.PrintState(ctx, sess)
	}
	if s, err = sess.Workspace.Kernel.Snapshot(ctx); err == nil {
		sess.SayText("cli.context.moved", from, cli.SessionState(s))
	}
	return err
}

func newContextCheckpointCommand(a *cli.App) *cobra.Command {
	c := a.Command("checkpoint", "cli.context.checkpoint", "  pawl context checkpoint", cli.Exactly(0), nil)
	c.RunE = func(c *cobra.Command, _ []string) error {
		return a.With(c.Context(), cli.Writing(),
			func(sess *cli.Session) error { return makeCheckpoint(c.Context(), sess) })
	}
	return c
}

// makeCheckpoint asks for a checkpoint and makes it, unless another process runs the workspace's work and will make it.
func makeCheckpoint(ctx context.Context, sess *cli.Session) error {
	release, other, err := sess.Own()
	if err != nil && other == nil {
		return err
	}
	if _, err := sess.Do(ctx, &orders.CreateCheckpoint{}); err != nil {
		return err
	}
	if other == nil {
		defer release()
		if _, err := sess.Workspace.Runner(nil).Run(ctx); err != nil {
			return err
		}
	}
	st, err := cli.StatusOf(ctx, sess)
	if err != nil {
		return err
	}
	if sess.JSON {
		return sess.PrintJSON(st)
	}
	sess.SayText("cli.context.made", st.Checkpoint)
	return nil
}

func newContextDecisionCommand(a *cli.App) *cobra.Command {
	var replaces string
	c := a.Command("decision TYPE TEXT", "cli.context.decision", "  pawl context decision Lib \"yaml v4 for plans\"",
		cli.Exactly(2), nil)
	c.RunE = func(c *cobra.Command, args []string) error {
		return doAndTell(c.Context(), a, &orders.SaveDecision{Type: args[0], Content: args[1], Replaces: replaces},
			"cli.context.decided")
	}
	c.Flags().StringVar(&replaces, "replaces", "", a.Text("cli.flag.replaces"))
	return c
}

func newContextErrorCommand(a *cli.App) *cobra.Command {
	var cause, fix, scope string
	c := a.Command("error TYPE", "cli.context.error",
		"  pawl context error E_BUILD_FAIL --cause \"stale go.sum\" --fix \"go mod tidy\" --scope build",
		cli.Exactly(1), nil)
	c.RunE = func(c *cobra.Command, args []string) error {
		return doAndTell(c.Context(), a, &orders.RecordError{Type: args[0], RootCause: cause, Fix: fix, Scope: scope},
			"cli.context.learnt")
	}
	f := c.Flags()
	f.StringVar(&cause, "cause", "", a.Text("cli.flag.cause"))
	f.StringVar(&fix, "fix", "", a.Text("cli.flag.fix"))
	f.StringVar(&scope, "scope", "", a.Text("cli.flag.scope"))
	return c
}
