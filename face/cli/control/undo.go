package control

import (
	"context"

	"github.com/spf13/cobra"

	"pawl/face/cli"
	"pawl/kernel"
	"pawl/kernel/effect"
	"pawl/kernel/recovery"
)

func newUndoCommand(a *cli.App) *cobra.Command {
	var step string
	c := a.Command("undo [RUN|TASK|ISSUE|COMMIT]", "cli.undo",
		"  pawl undo\n  pawl undo RUN-3\n  pawl undo 4f1c2ab\n  pawl undo --step s3", cli.Between(0, 1), nil)
	c.RunE = func(c *cobra.Command, args []string) error {
		if step != "" && len(args) > 0 {
			return cli.Usage("cli.flags_conflict", "--step", args[0])
		}
		return a.With(c.Context(), cli.Writing(), func(sess *cli.Session) error {
			run, err := runOf(c.Context(), sess, args)
			if err != nil {
				return err
			}
			return reverse(c.Context(), sess, &recovery.Undo{Run: run, Step: step}, "cli.undo.done", "redo")
		})
	}
	c.Flags().StringVar(&step, "step", "", a.Text("cli.flag.undo_step"))
	return c
}

func newRedoCommand(a *cli.App) *cobra.Command {
	return a.Command("redo [RUN|TASK|ISSUE|COMMIT]", "cli.redo", "  pawl redo\n  pawl redo RUN-3", cli.Between(0, 1),
		func(c *cobra.Command, args []string) error {
			return a.With(c.Context(), cli.Writing(), func(sess *cli.Session) error {
				run, err := runOf(c.Context(), sess, args)
				if err != nil {
					return err
				}
				return reverse(c.Context(), sess, &recovery.Redo{Run: run}, "cli.redo.done", "undo")
			})
		})
}

// runOf finds the run that an argument names, "" without one, and goes into the session that it belongs to.
func runOf(ctx context.Context, sess *cli.Session, args []string) (run string, err error) {
	if len(args) == 0 {
		return "", nil
	}
	r, err := sess.Ask().Run(ctx, sess.Label(), args[0])
	if err != nil {
		return "", err
	}
	if r.Issue != "" && r.Issue != sess.Label() {
		i, err := sess.Ask().Board().Issue(ctx, r.Issue)
		if err != nil {
			return "", err
		}
		sess.Enter(i)
	}
	return r.ID, nil
}

// reverse undoes the result of a run or one of its steps, or brings it back. Back is the command that does the
// opposite.
func reverse(ctx context.Context, sess *cli.Session, command kernel.Command, done, back string) error {
	if _, err := sess.View(ctx); err != nil {
		return err
	}
	release, err := sess.MustOwn()
	if err != nil {
		return err
	}
	defer release()
	v := cli.NewDrive(sess)
	before, err := reversed(ctx, sess)
	if err != nil {
		return err
	}
	given, err := sess.Do(ctx, command)
	if err != nil {
		return err
	}
	if _, err := v.Foreground(ctx); err != nil {
		return err
	}
	s, err := reversed(ctx, sess)
	if err != nil {
		return err
	}
	if s.Session.LastError != nil {
		return s.Session.LastError.Err()
	}
	if sess.JSON {
		v.Ended(ctx, s)
		return nil
	}
	way := "pawl " + back
	if step := stepBetween(before, s); step != "" {
		if back == "undo" {
			way += " --step " + step
		}
		sess.Say(sess.Style.OK() + " " + sess.Text(done, sess.Text("cli.undo.step", step)))
		if s.Task.Place.InPlace {
			sess.Say("  " + sess.Text("cli.undo.step_only"))
		}
	} else if err := tellReversed(ctx, sess, cli.ID(given), done); err != nil {
		return err
	}
	sess.Say("  " + sess.Style.Dim(sess.Text("cli.undo.back", way)))
	return nil
}

// tellReversed says of a run that it was undone or brought back, by which commit, and what was left as it is.
func tellReversed(ctx context.Context, sess *cli.Session, run, done string) error {
	r, err := sess.Ask().Run(ctx, sess.Label(), run)
	if err != nil {
		return err
	}
	line := sess.Style.OK() + " " + sess.Text(done, cli.FirstLine(r.Goal))
	if p := r.Pull; p != nil && r.Landing != nil && r.Landing.Outcome == effect.Kept {
		sess.Say(line)
		sess.Say("  " + sess.Text("pull.seen."+string(p.State), r.Run, cli.Display(p.URL)))
		return nil
	}
	commit := r.Reversal
	if l := r.Landing; commit == "" && l != nil {
		commit = l.Commit
	}
	if commit != "" {
		line += "  " + sess.Style.Dim(sess.Text("cli.land.landed", cli.Short(commit), r.Branch))
	}
	sess.Say(line)
	cli.PrintSection(sess.Printer, "cli.sum.cut_back", cli.LeftLines(r.Cut))
	cli.PrintSection(sess.Printer, "cli.sum.left", cli.LeftLines(r.Left))
	cli.PrintSection(sess.Printer, "cli.sum.lost", unkeptLines(sess.Printer, r.Lost))
	return nil
}

// unkeptLines names what cannot be brought back, and why.
func unkeptLines(pr *cli.Printer, all []effect.Unkept) (out []string) {
	for _, u := range all {
		line := "  " + cli.Display(effect.Named([]effect.Unkept{{Path: u.Path, Size: u.Size}})) + ": " +
			pr.Text("cli.unkept."+u.Why)
		if u.How != "" {
			line += "; " + pr.Text("cli.unkept.with", u.How)
		}
		if out = append(out, line); u.More > 0 {
			out = append(out, "  "+pr.Text("cli.unkept.more", u.More))
		}
	}
	return out
}

// reversed reads the run that an undo is about: the one in progress, else the last one.
func reversed(ctx context.Context, sess *cli.Session) (*kernel.Snapshot, error) {
	s, err := sess.Workspace.Kernel.Snapshot(ctx)
	if err != nil || s.Session == nil || s.Session.Run != "" {
		return s, err
	}
	return sess.Workspace.Kernel.LastRun(ctx)
}

// stepBetween names the step that was undone or brought back between two looks at a run, or returns "".
func stepBetween(before, after *kernel.Snapshot) string {
	if before.Task == nil || after.Task == nil || len(before.Task.Undone) == len(after.Task.Undone) {
		return ""
	}
	longer := before.Task.Undone
	if len(after.Task.Undone) > len(longer) {
		longer = after.Task.Undone
	}
	return longer[0].Step
}
