package flow

import (
	"github.com/spf13/cobra"

	"pawl/face/cli"
	"pawl/kernel/control"
)

// newToolCommand lets an external tool take the flow over and give it back: what wraps a tool calls both around it.
func newToolCommand(a *cli.App) *cobra.Command {
	return a.Group("tool", "cli.tool", newToolEnterCommand(a), newToolLeaveCommand(a))
}

func newToolEnterCommand(a *cli.App) *cobra.Command {
	return a.Command("enter NAME", "cli.tool.enter", "  pawl tool enter deploy-helper", cli.Exactly(1),
		func(c *cobra.Command, args []string) error {
			return a.With(c.Context(), cli.Writing(), func(sess *cli.Session) error {
				if _, err := sess.Do(c.Context(), &control.EnterTool{Tool: args[0]}); err != nil {
					return err
				}
				return variables(c, sess)
			})
		})
}

func newToolLeaveCommand(a *cli.App) *cobra.Command {
	var cancel bool
	c := a.Command("leave", "cli.tool.leave", "  pawl tool leave\n  pawl tool leave --cancel", cli.Exactly(0), nil)
	c.RunE = func(c *cobra.Command, _ []string) error {
		return a.With(c.Context(), cli.Writing(), func(sess *cli.Session) error {
			if _, err := sess.Do(c.Context(), &control.LeaveTool{Resume: !cancel}); err != nil {
				return err
			}
			return variables(c, sess)
		})
	}
	c.Flags().BoolVar(&cancel, "cancel", false, a.Text("cli.flag.tool_cancel"))
	return c
}

// variables prints the variables of the flow as they are.
func variables(c *cobra.Command, sess *cli.Session) error {
	s, err := sess.Workspace.Kernel.Snapshot(c.Context())
	if err != nil {
		return err
	}
	if sess.JSON {
		return sess.PrintJSON(s.Flow.Vars)
	}
	if s.Flow.ToolNesting > 0 {
		sess.SayText("cli.tool.active", cli.Display(s.Flow.ActiveTool), s.Flow.ToolNesting,
			string(s.Flow.SuspendedStage))
		return nil
	}
	sess.SayText("cli.tool.none", s.Session.State, string(s.Flow.Stage))
	return nil
}
