package cli

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/effect"
	"pawl/kernel/view"
	"pawl/text/plan"
)

func newPauseCommand(a *App) *cobra.Command {
	return a.Command("pause", "cli.pause", "  pawl pause", Exactly(0), func(c *cobra.Command, _ []string) error {
		return a.With(c.Context(), Writing(), func(sess *Session) error {
			if _, err := sess.Do(c.Context(), &kernel.Pause{}); err != nil {
				return err
			}
			if a.JSON {
				return PrintState(c.Context(), sess)
			}
			a.SayText("cli.pause.done")
			return nil
		})
	})
}

func newStopCommand(a *App) *cobra.Command {
	var reason string
	c := a.Command("stop", "cli.stop", "  pawl stop -m \"wrong branch\"", Exactly(0), nil)
	c.RunE = func(c *cobra.Command, _ []string) error {
		return a.With(c.Context(), Writing(), func(sess *Session) error { return stop(c.Context(), sess, reason) })
	}
	c.Flags().StringVarP(&reason, "message", "m", "", a.Text("cli.flag.reason"))
	return c
}

// stop stops the work. Where no process is at work, what the one that died left behind is looked at.
func stop(ctx context.Context, sess *Session, reason string) error {
	release, _, err := sess.Own()
	if err == nil {
		defer release()
	}
	owned := err == nil
	if _, err := sess.Do(ctx, &kernel.Stop{Reason: reason}); err != nil {
		return err
	}
	if owned {
		if _, err := NewDrive(sess).foreground(ctx); err != nil {
			return err
		}
	}
	if sess.JSON {
		return PrintState(ctx, sess)
	}
	s, err := sess.Workspace.Kernel.Look(ctx)
	if err == nil {
		printBlocked(sess.Printer, s, stays(ctx, sess, s))
	}
	return err
}

func newCancelCommand(a *App) *cobra.Command {
	var reason string
	c := a.Command("cancel [TASK]", "cli.cancel", "  pawl cancel\n  pawl cancel T-003 -m \"not needed\"", Between(0, 1), nil)
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) > 0 {
			return cancelTask(c.Context(), a, args[0], reason)
		}
		return openAndGoOn(c.Context(), a, false, []string{"canceled"}, func(sess *Session) error {
			return doNow(c.Context(), sess, &kernel.CancelRun{Reason: reason})
		})
	}
	c.Flags().StringVarP(&reason, "message", "m", "", a.Text("cli.flag.reason"))
	return c
}

// cancelTask cancels one task. Where it is the task of the run, what the cancel asks for is carried out.
func cancelTask(ctx context.Context, a *App, given, reason string) error {
	return a.With(ctx, Writing(), func(sess *Session) error {
		s, err := findTask(ctx, sess, given)
		if err != nil {
			return err
		}
		give := func(sess *Session) error {
			return doNow(ctx, sess, &kernel.CancelTask{Task: s.Task.ID, Reason: reason})
		}
		at, err := sess.View(ctx)
		if err != nil {
			return err
		}
		if s.Task.Session != "" && at.Run != "" && s.Task.Parent == at.Run {
			return GoOn(ctx, sess, false, []string{"canceled", "skipped"}, give)
		}
		if err := give(sess); err != nil {
			return err
		}
		return printTask(ctx, sess, s.Task.ID)
	})
}

func newFixCommand(a *App) *cobra.Command {
	var note, file, answer string
	var noWait bool
	c := a.Command("fix", "cli.fix", "  pawl fix -m \"installed the compiler\"\n  pawl fix --plan more-steps.yaml\n  pawl fix --answer done", Exactly(0), nil)
	c.RunE = func(c *cobra.Command, _ []string) error {
		f := &kernel.Fix{Note: note, Answer: kernel.Answer(answer)}
		if f.Answer != kernel.AnswerNone && f.Answer != kernel.AnswerDone && f.Answer != kernel.AnswerRetry {
			return Usage("cli.flag_invalid", answer, "--answer", "done|retry")
		}
		if file != "" {
			p, err := readSteps(a, file)
			if err != nil {
				return err
			}
			f.Steps = fresh(p.Steps)
		}
		return openAndGoOn(c.Context(), a, noWait, []string{"completed"}, func(sess *Session) error {
			return doNow(c.Context(), sess, f)
		})
	}
	c.Flags().StringVarP(&note, "message", "m", "", a.Text("cli.flag.note"))
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

func newSkipCommand(a *App) *cobra.Command {
	var reason string
	c := a.Command("skip", "cli.skip", "  pawl skip -m \"do it by hand later\"", Exactly(0), nil)
	c.RunE = func(c *cobra.Command, _ []string) error {
		return openAndGoOn(c.Context(), a, false, []string{"skipped"}, func(sess *Session) error {
			return doNow(c.Context(), sess, &kernel.Skip{Reason: reason})
		})
	}
	c.Flags().StringVarP(&reason, "message", "m", "", a.Text("cli.flag.reason"))
	return c
}

// Rollback shows what is given up and asks, then brings the tree back. When the run has ended already and left its work in
// the user's own tree, that is an undo.
func Rollback(ctx context.Context, sess *Session, reason string, yes bool) error {
	s, err := sess.Workspace.Kernel.Look(ctx)
	if err != nil {
		return err
	}
	idle := s.Session != nil && s.Session.State == "IDLE"
	if idle {
		if s, err = sess.Workspace.Kernel.LookLast(ctx); err != nil {
			return err
		}
	}
	if (!idle || len(stays(ctx, sess, s)) > 0) && s.Session != nil && !s.Session.Rolling && !yes {
		discarded(ctx, sess, s)
		ok, err := Confirm(ctx, sess.Printer, sess.Text("cli.rollback.ask"))
		if err != nil {
			return err
		}
		if !ok {
			sess.SayText("cli.rollback.kept")
			return shown{pawl.Fail(pawl.CodeUserDenied, "cli.ended", "declined")}
		}
	}
	if idle {
		return reverse(ctx, sess, &kernel.Rollback{Reason: reason}, "cli.undo.done", "pawl redo")
	}
	return GoOn(ctx, sess, false, []string{"rolled_back"}, func(sess *Session) error {
		return doNow(ctx, sess, &kernel.Rollback{Reason: reason})
	})
}

// discarded lists what a rollback gives up.
func discarded(ctx context.Context, sess *Session, s *kernel.Snapshot) {
	if sess.JSON || s.Task == nil || s.Task.Checkpoint == nil {
		return
	}
	t := s.Task
	sess.SayText("cli.rollback.to", t.Checkpoint.Name)
	if sess.Workspace.Diff == nil || t.Tree == "" || t.Tree == t.Checkpoint.Tree {
		sess.Say("  " + sess.Text("cli.rollback.no_changes"))
		return
	}
	changed, err := changedBy(ctx, sess, t)
	if err != nil {
		sess.Say("  " + sess.Text("cli.rollback.unknown"))
		return
	}
	for _, l := range FileLines(sess.Printer, changed, "  ") {
		sess.Say(l)
	}
}

// stays returns what pawl changed in the user's own tree, while that is in no commit and not undone.
func stays(ctx context.Context, sess *Session, s *kernel.Snapshot) []effect.FileStat {
	t := s.Task
	if t == nil || !t.Place.InPlace || t.Checkpoint == nil || s.Run == nil || s.Run.Undone || s.Run.Land != nil || s.Run.EndedAt.IsZero() && s.Session.State != "BLOCKED" {
		return nil
	}
	// What cannot be told here is told by the command that undoes it.
	changed, _ := changedBy(ctx, sess, t)
	return changed
}

// changedBy counts what a task changed since its checkpoint, leaving out what others changed meanwhile.
func changedBy(ctx context.Context, sess *Session, t *kernel.Task) ([]effect.FileStat, error) {
	if sess.Workspace.Diff == nil || t.Tree == "" || t.Tree == t.Checkpoint.Tree {
		return nil, nil
	}
	diff, err := sess.Workspace.Diff(ctx, t.Place, t.Checkpoint.Tree, t.Tree)
	if err != nil || !t.Ready.Tracked {
		return DiffStat(diff), err
	}
	mine := map[string]bool{}
	for _, s := range t.Spans {
		if s.Undone {
			continue
		}
		part, err := sess.Workspace.Diff(ctx, t.Place, s.Before, s.After)
		if err != nil {
			return nil, err
		}
		for _, f := range DiffStat(part) {
			if s.Files == nil || slices.Contains(s.Files, f.Path) {
				mine[f.Path] = true
			}
		}
	}
	return slices.DeleteFunc(DiffStat(diff), func(f effect.FileStat) bool { return !mine[f.Path] }), nil
}

// DiffStat counts the lines of a unified diff by file.
func DiffStat(diff string) []effect.FileStat {
	var out []effect.FileStat
	for l := range strings.SplitSeq(diff, "\n") {
		if rest, ok := strings.CutPrefix(l, "diff --git "); ok {
			_, name, _ := strings.Cut(rest, " b/")
			out = append(out, effect.FileStat{Path: name, Status: "M"})
			continue
		}
		if len(out) == 0 {
			continue
		}
		f := &out[len(out)-1]
		switch {
		case strings.HasPrefix(l, "new file "):
			f.Status = "A"
		case strings.HasPrefix(l, "deleted file "):
			f.Status = "D"
		case strings.HasPrefix(l, "+") && !strings.HasPrefix(l, "+++"):
			f.Added++
		case strings.HasPrefix(l, "-") && !strings.HasPrefix(l, "---"):
			f.Removed++
		}
	}
	return out
}

func newUndoCommand(a *App) *cobra.Command {
	var step string
	c := a.Command("undo [RUN|TASK|ISSUE|COMMIT]", "cli.undo", "  pawl undo\n  pawl undo RUN-3\n  pawl undo 4f1c2ab\n  pawl undo --step s3", Between(0, 1), nil)
	c.RunE = func(c *cobra.Command, args []string) error {
		if step != "" && len(args) > 0 {
			return Usage("cli.flags_conflict", "--step", args[0])
		}
		return a.With(c.Context(), Writing(), func(sess *Session) error {
			run, err := runOf(c.Context(), sess, args)
			if err != nil {
				return err
			}
			return reverse(c.Context(), sess, &kernel.Undo{Run: run, Step: step}, "cli.undo.done", "redo")
		})
	}
	c.Flags().StringVar(&step, "step", "", a.Text("cli.flag.undo_step"))
	return c
}

func newRedoCommand(a *App) *cobra.Command {
	return a.Command("redo [RUN|TASK|ISSUE|COMMIT]", "cli.redo", "  pawl redo\n  pawl redo RUN-3", Between(0, 1), func(c *cobra.Command, args []string) error {
		return a.With(c.Context(), Writing(), func(sess *Session) error {
			run, err := runOf(c.Context(), sess, args)
			if err != nil {
				return err
			}
			return reverse(c.Context(), sess, &kernel.Redo{Run: run}, "cli.redo.done", "undo")
		})
	})
}

// runOf finds the run that an argument names, "" without one, and goes into the session that it belongs to.
func runOf(ctx context.Context, sess *Session, args []string) (run string, err error) {
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

// reverse undoes the result of a run or one of its steps, or brings it back. Back is the command that does the opposite.
func reverse(ctx context.Context, sess *Session, command kernel.Command, done, back string) error {
	if _, err := sess.View(ctx); err != nil {
		return err
	}
	release, err := sess.MustOwn()
	if err != nil {
		return err
	}
	defer release()
	v := NewDrive(sess)
	before, err := reversed(ctx, sess)
	if err != nil {
		return err
	}
	given, err := sess.Do(ctx, command)
	if err != nil {
		return err
	}
	if _, err := v.foreground(ctx); err != nil {
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
		v.result(ctx, resultEnded, s)
		return nil
	}
	way := "pawl " + back
	if step := stepBetween(before, s); step != "" {
		if back == "undo" {
			way += " --step " + step
		}
		sess.Say(sess.Style.OK() + " " + sess.Text(done, sess.Text("cli.undo.step", step)))
	} else if err := tellReversed(ctx, sess, ID(given), done); err != nil {
		return err
	}
	sess.Say("  " + sess.Style.Dim(view.ForIssue(sess.Text("cli.undo.back", way), sess.Printer.issue)))
	return nil
}

// tellReversed says of a run that it was undone or brought back, by which commit, and what was left as it is.
func tellReversed(ctx context.Context, sess *Session, run, done string) error {
	r, err := sess.Ask().Run(ctx, sess.Label(), run)
	if err != nil {
		return err
	}
	line := sess.Style.OK() + " " + sess.Text(done, firstLine(r.Goal))
	commit := r.Reversal
	if l := r.Landing; commit == "" && l != nil {
		commit = l.Commit
	}
	if commit != "" {
		line += "  " + sess.Style.Dim(sess.Text("cli.land.landed", Short(commit), r.Branch))
	}
	sess.Say(line)
	PrintSection(sess.Printer, "cli.sum.cut_back", leftLines(r.Cut))
	PrintSection(sess.Printer, "cli.sum.left", leftLines(r.Left))
	return nil
}

// reversed reads the run that an undo is about: the one in progress, else the last one.
func reversed(ctx context.Context, sess *Session) (*kernel.Snapshot, error) {
	s, err := sess.Workspace.Kernel.Look(ctx)
	if err != nil || s.Session == nil || s.Session.Run != "" {
		return s, err
	}
	return sess.Workspace.Kernel.LookLast(ctx)
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
