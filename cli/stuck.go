package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"pawl"
	"pawl/effect"
	"pawl/kernel"
	"pawl/plan"
)

func newPauseCommand(a *app) *cobra.Command {
	return a.command("pause", "cli.pause", "  pawl pause", exactly(0), func(c *cobra.Command, _ []string) error {
		return a.with(c.Context(), writing(), func(d *desk) error {
			if _, err := d.do(c.Context(), &kernel.Pause{}); err != nil {
				return err
			}
			if a.flags.json {
				return d.given(c.Context())
			}
			a.sayText("cli.pause.done")
			return nil
		})
	})
}

func newStopCommand(a *app) *cobra.Command {
	var reason string
	c := a.command("stop", "cli.stop", "  pawl stop -m \"wrong branch\"", exactly(0), nil)
	c.RunE = func(c *cobra.Command, _ []string) error {
		return a.with(c.Context(), writing(), func(d *desk) error {
			if _, err := d.do(c.Context(), &kernel.Stop{Reason: reason}); err != nil {
				return err
			}
			if a.flags.json {
				return d.given(c.Context())
			}
			s, err := d.ws.Kernel.Look(c.Context())
			if err == nil {
				printBlocked(a, s)
			}
			return err
		})
	}
	c.Flags().StringVarP(&reason, "message", "m", "", a.text("cli.flag.reason"))
	return c
}

func newCancelCommand(a *app) *cobra.Command {
	var reason string
	c := a.command("cancel [TASK]", "cli.cancel", "  pawl cancel\n  pawl cancel T-003 -m \"not needed\"", between(0, 1), nil)
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) > 0 {
			return cancelTask(c.Context(), a, args[0], reason)
		}
		return a.goOn(c.Context(), false, []string{"canceled"}, func(d *desk) error {
			return d.doNow(c.Context(), &kernel.CancelRun{Reason: reason})
		})
	}
	c.Flags().StringVarP(&reason, "message", "m", "", a.text("cli.flag.reason"))
	return c
}

// cancelTask cancels one task. Where it is the task of the run, what the cancel asks for is carried out.
func cancelTask(ctx context.Context, a *app, given, reason string) error {
	return a.with(ctx, writing(), func(d *desk) error {
		s, err := d.task(ctx, given)
		if err != nil {
			return err
		}
		give := func(d *desk) error {
			return d.doNow(ctx, &kernel.CancelTask{Task: s.Task.ID, Reason: reason})
		}
		at, err := d.session(ctx)
		if err != nil {
			return err
		}
		if s.Task.Session != "" && at.Run != "" && s.Task.Parent == at.Run {
			return d.goOn(ctx, false, []string{"canceled", "skipped"}, give)
		}
		if err := give(d); err != nil {
			return err
		}
		return d.printTask(ctx, s.Task.ID)
	})
}

func newFixCommand(a *app) *cobra.Command {
	var note, file, answer string
	var noWait bool
	c := a.command("fix", "cli.fix", "  pawl fix -m \"installed the compiler\"\n  pawl fix --plan more-steps.yaml\n  pawl fix --answer done", exactly(0), nil)
	c.RunE = func(c *cobra.Command, _ []string) error {
		f := &kernel.Fix{Note: note, Answer: kernel.Answer(answer)}
		if f.Answer != kernel.AnswerNone && f.Answer != kernel.AnswerDone && f.Answer != kernel.AnswerRetry {
			return usage("cli.flag_invalid", answer, "--answer", "done|retry")
		}
		if file != "" {
			p, err := a.readSteps(file)
			if err != nil {
				return err
			}
			f.Steps = fresh(p.Steps)
		}
		return a.goOn(c.Context(), noWait, []string{"completed"}, func(d *desk) error {
			return d.doNow(c.Context(), f)
		})
	}
	c.Flags().StringVarP(&note, "message", "m", "", a.text("cli.flag.note"))
	c.Flags().StringVar(&file, "plan", "", a.text("cli.flag.fix_plan"))
	c.Flags().StringVar(&answer, "answer", "", a.text("cli.flag.answer"))
	c.Flags().BoolVar(&noWait, "no-wait", false, a.text("cli.flag.no_wait"))
	return c
}

// fresh returns steps that are all still to be done, whatever the file said of them.
func fresh(steps []plan.Step) []plan.Step {
	for i := range steps {
		steps[i].Status = plan.Pending
	}
	return steps
}

func newSkipCommand(a *app) *cobra.Command {
	var reason string
	c := a.command("skip", "cli.skip", "  pawl skip -m \"do it by hand later\"", exactly(0), nil)
	c.RunE = func(c *cobra.Command, _ []string) error {
		return a.goOn(c.Context(), false, []string{"skipped"}, func(d *desk) error {
			return d.doNow(c.Context(), &kernel.Skip{Reason: reason})
		})
	}
	c.Flags().StringVarP(&reason, "message", "m", "", a.text("cli.flag.reason"))
	return c
}

func newRollbackCommand(a *app) *cobra.Command {
	var reason string
	var yes bool
	c := a.command("rollback", "cli.rollback", "  pawl rollback\n  pawl rollback --yes", exactly(0), nil)
	c.RunE = func(c *cobra.Command, _ []string) error {
		return a.with(c.Context(), writing(), func(d *desk) error { return rollback(c.Context(), d, reason, yes) })
	}
	c.Flags().StringVarP(&reason, "message", "m", "", a.text("cli.flag.reason"))
	c.Flags().BoolVar(&yes, "yes", false, a.text("cli.flag.yes"))
	return c
}

// rollback shows what is given up and asks, then brings the tree back.
func rollback(ctx context.Context, d *desk, reason string, yes bool) error {
	s, err := d.ws.Kernel.Look(ctx)
	if err != nil {
		return err
	}
	if s.Session != nil && s.Session.State != "IDLE" && !yes {
		discarded(ctx, d, s)
		ok, err := d.confirm(ctx, d.text("cli.rollback.ask"))
		if err != nil {
			return err
		}
		if !ok {
			d.sayText("cli.rollback.kept")
			return shown{pawl.Fail(pawl.CodeUserDenied, "cli.ended", "declined")}
		}
	}
	return d.goOn(ctx, false, []string{"rolled_back"}, func(d *desk) error {
		return d.doNow(ctx, &kernel.Rollback{Reason: reason})
	})
}

// discarded lists what a rollback gives up.
func discarded(ctx context.Context, d *desk, s *kernel.Snapshot) {
	if d.flags.json || s.Task == nil || s.Task.Checkpoint == nil {
		return
	}
	t := s.Task
	d.sayText("cli.rollback.to", t.Checkpoint.Name)
	if d.ws.Diff == nil || t.Tree == "" || t.Tree == t.Checkpoint.Tree {
		d.say("  " + d.text("cli.rollback.no_changes"))
		return
	}
	diff, err := d.ws.Diff(ctx, t.Place, t.Checkpoint.Tree, t.Tree)
	if err != nil {
		d.say("  " + d.text("cli.rollback.unknown"))
		return
	}
	for _, l := range d.fileLines(diffStat(diff), "  ") {
		d.say(l)
	}
}

// diffStat counts the lines of a unified diff by file.
func diffStat(diff string) []effect.FileStat {
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

func newUndoCommand(a *app) *cobra.Command {
	return a.command("undo", "cli.undo", "  pawl undo", exactly(0), func(c *cobra.Command, _ []string) error {
		return a.with(c.Context(), writing(), func(d *desk) error { return reverse(c.Context(), d, &kernel.Undo{}, "cli.undo.done", "pawl redo") })
	})
}

func newRedoCommand(a *app) *cobra.Command {
	return a.command("redo", "cli.redo", "  pawl redo", exactly(0), func(c *cobra.Command, _ []string) error {
		return a.with(c.Context(), writing(), func(d *desk) error { return reverse(c.Context(), d, &kernel.Redo{}, "cli.redo.done", "pawl undo") })
	})
}

// reverse undoes the result of the last run or brings it back.
func reverse(ctx context.Context, d *desk, command kernel.Command, done, back string) error {
	if _, err := d.session(ctx); err != nil {
		return err
	}
	release, err := d.mustOwn()
	if err != nil {
		return err
	}
	defer release()
	v := d.newDrive()
	if _, err := d.do(ctx, command); err != nil {
		return err
	}
	if _, err := v.foreground(ctx); err != nil {
		return err
	}
	s, err := d.ws.Kernel.LookLast(ctx)
	if err != nil {
		return err
	}
	if s.Session.LastError != nil {
		return s.Session.LastError.Err()
	}
	if d.flags.json {
		v.result(resultEnded, s)
		return nil
	}
	goal := ""
	if s.Run != nil {
		goal = firstLine(s.Run.Requirement)
	}
	d.say(d.style.OK() + " " + d.text(done, goal))
	d.say("  " + d.style.Dim(d.text("cli.undo.back", back)))
	return nil
}
