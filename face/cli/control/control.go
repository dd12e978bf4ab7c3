// Package control is what takes hold of work: pawl pause, stop, cancel, fix, skip, undo and redo, and giving up a run.
package control

import (
	"context"

	"github.com/spf13/cobra"

	"pawl"
	"pawl/face/cli"
	"pawl/face/cli/tasks"
	"pawl/kernel"
	"pawl/kernel/control"
	"pawl/kernel/recovery"
	"pawl/text/plan"
)

// Entries are the commands of the first level.
func Entries() []cli.Entry {
	return []cli.Entry{
		{Name: "pause", Group: "stuck", Build: newPauseCommand},
		{Name: "cancel", Group: "stuck", Build: newCancelCommand},
		{Name: "stop", Group: "stuck", Build: newStopCommand},
		{Name: "fix", Group: "stuck", Build: newFixCommand},
		{Name: "skip", Group: "stuck", Build: newSkipCommand},
		{Name: "undo", Group: "stuck", Build: newUndoCommand},
		{Name: "redo", Group: "stuck", Build: newRedoCommand},
	}
}

func newPauseCommand(a *cli.App) *cobra.Command {
	return a.Command("pause", "cli.pause", "  pawl pause", cli.Exactly(0), func(c *cobra.Command, _ []string) error {
		return a.With(c.Context(), cli.Writing(), func(sess *cli.Session) error {
			if _, err := sess.Do(c.Context(), &control.Pause{}); err != nil {
				return err
			}
			if a.JSON {
				return cli.PrintState(c.Context(), sess)
			}
			a.SayText("cli.pause.done")
			return nil
		})
	})
}

func newStopCommand(a *cli.App) *cobra.Command {
	var reason string
	c := a.Command("stop", "cli.stop", "  pawl stop -m \"wrong branch\"", cli.Exactly(0), nil)
	c.RunE = func(c *cobra.Command, _ []string) error {
		return a.With(c.Context(), cli.Writing(),
			func(sess *cli.Session) error { return stop(c.Context(), sess, reason) })
	}
	c.Flags().StringVarP(&reason, "message", "m", "", a.Text("cli.flag.reason"))
	return c
}

// stop stops the work. Where no process is at work, what the one that died left behind is looked at.
func stop(ctx context.Context, sess *cli.Session, reason string) error {
	release, _, err := sess.Own()
	if err == nil {
		defer release()
	}
	owned := err == nil
	if _, err := sess.Do(ctx, &recovery.Stop{Reason: reason}); err != nil {
		return err
	}
	if owned {
		if _, err := cli.NewDrive(sess).Foreground(ctx); err != nil {
			return err
		}
	}
	if sess.JSON {
		return cli.PrintState(ctx, sess)
	}
	s, err := sess.Workspace.Kernel.Snapshot(ctx)
	if err == nil {
		cli.PrintBlocked(sess.Printer, s, cli.Stays(ctx, sess, s))
	}
	return err
}

func newCancelCommand(a *cli.App) *cobra.Command {
	var reason string
	c := a.Command("cancel [TASK]", "cli.cancel", "  pawl cancel\n  pawl cancel T-003 -m \"not needed\"",
		cli.Between(0, 1), nil)
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) > 0 {
			return tasks.Cancel(c.Context(), a, args[0], reason)
		}
		return cli.OpenAndGoOn(c.Context(), a, false, []string{"canceled"}, func(sess *cli.Session) error {
			return cli.DoNow(c.Context(), sess, &control.CancelRun{Reason: reason})
		})
	}
	c.Flags().StringVarP(&reason, "message", "m", "", a.Text("cli.flag.reason"))
	return c
}

func newFixCommand(a *cli.App) *cobra.Command {
	var note, file, answer string
	var noWait bool
	c := a.Command("fix", "cli.fix", "  pawl fix -m \"installed the compiler\"\n  pawl fix -m \"the borrow needs a test, too\"\n  pawl fix --plan more-steps.yaml\n  pawl fix --answer done", cli.Exactly(0), nil)
	c.RunE = func(c *cobra.Command, _ []string) error {
		f := &recovery.Fix{Note: note, Answer: kernel.Answer(answer)}
		if f.Answer != kernel.AnswerNone && f.Answer != kernel.AnswerDone && f.Answer != kernel.AnswerRetry {
			return cli.Usage("cli.flag_invalid", answer, "--answer", "done|retry")
		}
		if file != "" {
			p, err := cli.ReadSteps(a, file)
			if err != nil {
				return err
			}
			f.Steps = fresh(p.Steps)
		}
		return cli.OpenAndGoOn(c.Context(), a, noWait, []string{"completed"}, func(sess *cli.Session) error {
			return cli.DoNow(c.Context(), sess, f)
		})
	}
	c.Flags().StringVarP(&note, "message", "m", "", a.Text("cli.flag.fix_note"))
	c.Flags().StringVar(&file, "plan", "", a.Text("cli.flag.fix_plan"))
	c.Flags().StringVar(&answer, "answer", "", a.Text("cli.flag.answer"))
	c.Flags().BoolVar(&noWait, "no-wait", false, a.Text("cli.flag.no_wait"))
	return c
}

// fresh returns steps that are all still to be done, whatever the file said of them.
func fresh(steps []plan.Step) []plan.Step {
	for i := range steps {
		steps[i].Status = plan.Pending
	}
	return steps
}

func newSkipCommand(a *cli.App) *cobra.Command {
	var reason string
	c := a.Command("skip", "cli.skip", "  pawl skip -m \"do it by hand later\"", cli.Exactly(0), nil)
	c.RunE = func(c *cobra.Command, _ []string) error {
		return cli.OpenAndGoOn(c.Context(), a, false, []string{"skipped"}, func(sess *cli.Session) error {
			return cli.DoNow(c.Context(), sess, &recovery.Skip{Reason: reason})
		})
	}
	c.Flags().StringVarP(&reason, "message", "m", "", a.Text("cli.flag.reason"))
	return c
}

// Rollback shows what is given up and asks, then brings the tree back. When the run has ended already and left its work
// in the user's own tree, that is an undo.
func Rollback(ctx context.Context, sess *cli.Session, reason string, yes bool) error {
	s, err := sess.Workspace.Kernel.Snapshot(ctx)
	if err != nil {
		return err
	}
	idle := s.Session != nil && s.Session.State == "IDLE"
	if idle {
		if s, err = sess.Workspace.Kernel.LastRun(ctx); err != nil {
			return err
		}
	}
	if (!idle || len(cli.Stays(ctx, sess, s)) > 0) && s.Session != nil && !s.Session.RollingBack() && !yes {
		discarded(ctx, sess, s)
		ok, err := cli.Confirm(ctx, sess.Printer, sess.Text("cli.rollback.ask"))
		if err != nil {
			return err
		}
		if !ok {
			sess.SayText("cli.rollback.kept")
			return cli.Shown(pawl.Fail(pawl.CodeUserDenied, "cli.ended", "declined"))
		}
	}
	if idle {
		return reverse(ctx, sess, &recovery.Rollback{Reason: reason}, "cli.undo.done", "pawl redo")
	}
	return cli.GoOn(ctx, sess, false, []string{"rolled_back"}, func(sess *cli.Session) error {
		return cli.DoNow(ctx, sess, &recovery.Rollback{Reason: reason})
	})
}

// discarded lists what a rollback gives up.
func discarded(ctx context.Context, sess *cli.Session, s *kernel.Snapshot) {
	if sess.JSON || s.Task == nil || s.Task.Checkpoint == nil {
		return
	}
	t := s.Task
	sess.SayText("cli.rollback.to", t.Checkpoint.Name)
	cli.PrintSection(sess.Printer, "cli.sum.unkept", unkeptLines(sess.Printer, t.Checkpoint.Unkept))
	if sess.Workspace.Diff == nil || t.Tree == "" || t.Tree == t.Checkpoint.Tree {
		sess.Say("  " + sess.Text("cli.rollback.no_changes"))
		return
	}
	changed, err := cli.ChangedBy(ctx, sess, t)
	if err != nil {
		sess.Say("  " + sess.Text("cli.rollback.unknown"))
		return
	}
	for _, l := range cli.FileLines(sess.Printer, changed, "  ") {
		sess.Say(l)
	}
}
