package board

import (
	"context"

	"github.com/spf13/cobra"

	"pawl"
	"pawl/face/cli"
	"pawl/kernel"
	"pawl/kernel/control"
	"pawl/kernel/issues"
	"pawl/kernel/planning"
	"pawl/kernel/recovery"
	"pawl/kernel/view"
	"pawl/machine/board"
	"pawl/machine/session"
	"pawl/runner"
	"pawl/text/plan"
)

func newBindCommand(a *cli.App) *cobra.Command {
	return a.Command("bind ISSUE SOLUTION", "issue.bind",
		"  pawl issue bind ISS-3 SOL-ISS-3-1\n  pawl issue bind ISS-3 1", cli.Exactly(2), func(c *cobra.Command,
			args []string) error {
			return a.With(c.Context(), cli.Writing(),
				func(sess *cli.Session) error { return bindPlan(c.Context(), sess, args[0], args[1]) })
		})
}

// bindPlan chooses a plan that was made before. It is judged anew on the present branch and asked about, like any plan.
func bindPlan(ctx context.Context, sess *cli.Session, name, which string) error {
	i, err := sess.Ask().Board().Issue(ctx, name)
	if err != nil {
		return err
	}
	s, err := sess.Ask().Board().Plan(ctx, i, which)
	if err != nil {
		return err
	}
	given, err := plan.EncodeYAML(s.Plan)
	if err != nil {
		return err
	}
	lane := sess.Workspace.Kernel.Session(i.Label)
	at, err := lane.Snapshot(ctx)
	if err != nil {
		return err
	}
	switch {
	case at.Session != nil && at.Session.State == string(session.Confirming):
		if at.Solution != nil && at.Solution.ID == s.ID {
			if sess.JSON {
				return showIssue(ctx, sess, i.ID, false)
			}
			sess.SayText("issue.bound_already", s.Label)
			return nil
		}
		_, err = lane.Do(ctx, kernel.Envelope{Actor: sess.App.Actor(),
			Command: &planning.Revise{Feedback: s.Label, Given: given, Name: s.Label + ".yaml"}})
	case at.Session != nil && at.Session.State != string(session.Idle) && at.Session.State != string(session.Blocked):
		return pawl.Fail(pawl.CodeBusy, "kernel.session_active", at.Session.State, at.Session.Goal)
	default:
		if at.Session != nil && at.Session.State == string(session.Blocked) {
			if err := windUp(ctx, sess, i,
				&recovery.Rollback{Reason: sess.Text("issue.because.bound", s.Label)}); err != nil {
				return err
			}
		}
		if _, err = sess.Do(ctx, &issues.EditIssue{Issue: i.ID, Given: &given, GivenName: s.Label +
			".yaml"}); err == nil && i.Status == board.IssueFailed {
			_, err = sess.Do(ctx, &issues.RetryIssue{Issue: i.ID})
		}
	}
	if err != nil {
		return err
	}
	if sess.JSON {
		return showIssue(ctx, sess, i.ID, false)
	}
	sess.Say(sess.Style.OK() + " " + sess.Text("issue.bound", i.Label, s.Label))
	sess.Say("  " + sess.Style.Cyan(sess.Text("cli.next")) + "pawl issue plan " + i.Label)
	return nil
}

// windUp gives a command in an issue's session after which it has something to finish, and finishes it, unless a worker
// does.
func windUp(ctx context.Context, sess *cli.Session, i *view.Issue, c kernel.Command) error {
	if _, err := sess.Workspace.Kernel.Session(i.Label).Do(ctx,
		kernel.Envelope{Actor: sess.App.Actor(), Command: c}); err != nil {
		return err
	}
	found, err := sess.Ask().Board().ByID(ctx, []string{i.ID})
	if err != nil || len(found) == 0 || !found[0].Winding || found[0].Owner != "" {
		return err
	}
	crew, err := sess.Workspace.Crew(runner.PoolOptions{Workers: 1, Execute: true, Issues: []string{i.ID}})
	if err != nil {
		return err
	}
	return crew.Run(ctx)
}

func newRetryCommand(a *cli.App) *cobra.Command {
	var replan bool
	var note string
	c := a.Command("retry ISSUE...", "issue.retry",
		"  pawl issue retry ISS-3\n  pawl issue retry ISS-3 --replan --note \"the API has moved\"",
		cli.Between(1, 1000), nil)
	c.RunE = func(c *cobra.Command, args []string) error {
		return each(c.Context(), a, args, func(sess *cli.Session, i *view.Issue) (string, error) {
			return retryIssue(c.Context(), sess, i, note, replan)
		})
	}
	c.Flags().BoolVar(&replan, "replan", false, a.Text("issue.flag.replan"))
	c.Flags().StringVarP(&note, "note", "m", "", a.Text("issue.flag.note"))
	return c
}

// each does something for each of the issues that were named, and goes on when one of them fails.
func each(ctx context.Context, a *cli.App, names []string,
	do func(*cli.Session, *view.Issue) (key string, err error)) error {
	return a.With(ctx, cli.Writing(), func(sess *cli.Session) error {
		found, err := findIssues(ctx, sess, names)
		if err != nil {
			return err
		}
		var errs []error
		for _, i := range found {
			key, err := do(sess, i)
			switch {
			case err != nil && len(found) == 1:
				return err
			case err != nil:
				errs = append(errs, err)
				sess.Note(sess.Style.Bad() + " " + i.Label + "  " + cli.Explain(sess.Printer, err))
			case a.JSON:
				if err := showIssue(ctx, sess, i.ID, false); err != nil {
					return err
				}
			default:
				sess.Say(sess.Style.OK() + " " + sess.Style.Bold(i.Label) + "  " + sess.Text(key))
			}
		}
		return told(errs)
	})
}

// retryIssue has a failed issue tried again: its plan, or with replan a new one.
func retryIssue(ctx context.Context, sess *cli.Session, i *view.Issue, note string, replan bool) (string, error) {
	lane := sess.Workspace.Kernel.Session(i.Label)
	at, err := lane.Snapshot(ctx)
	if err != nil {
		return "", err
	}
	stopped := at.Session != nil && at.Session.State == string(session.Blocked)
	if stopped && !replan {
		_, err := lane.Do(ctx, kernel.Envelope{Actor: sess.App.Actor(), Command: &recovery.Fix{Note: note}})
		return "issue.retried", err
	}
	if stopped {
		if at.Session.Blocked != nil && note == "" {
			note = cli.Explain(sess.Printer, at.Session.Blocked.Error.Err())
		}
		if err := windUp(ctx, sess, i, &recovery.Rollback{Reason: sess.Text("issue.replanned")}); err != nil {
			return "", err
		}
	}
	_, err = sess.Do(ctx, &issues.RetryIssue{Issue: i.ID, Note: note})
	return "issue.replanned", err
}

func newSkipCommand(a *cli.App) *cobra.Command {
	var reason string
	var release bool
	c := a.Command("skip ISSUE...", "issue.skip",
		"  pawl issue skip ISS-3 --reason \"no longer wanted\"\n  pawl issue skip ISS-3 --release",
		cli.Between(1, 1000), nil)
	c.RunE = func(c *cobra.Command, args []string) error {
		return each(c.Context(), a, args, func(sess *cli.Session, i *view.Issue) (string, error) {
			return skipIssue(c.Context(), sess, i, reason, release)
		})
	}
	c.Flags().StringVarP(&reason, "reason", "m", "", a.Text("cli.flag.reason"))
	c.Flags().BoolVar(&release, "release", false, a.Text("issue.flag.release"))
	return c
}

// skipIssue leaves an issue behind. What was not begun is held back, everything else fails. With release those that
// depend on it no longer wait for it.
func skipIssue(ctx context.Context, sess *cli.Session, i *view.Issue, reason string,
	release bool) (key string, err error) {
	at, err := sess.Workspace.Kernel.Session(i.Label).Snapshot(ctx)
	if err != nil {
		return "", err
	}
	key = "issue.skipped"
	held := true
	switch state := i.Status; {
	case state == board.IssueCompleted:
		return "", pawl.Fail(pawl.CodeInvalidTransition, "kernel.issue_not_ready", i.Label, string(i.Status))
	case at.Session == nil || at.Session.State == string(session.Idle):
	case at.Session.State == string(session.Blocked):
		err = windUp(ctx, sess, i, &recovery.Skip{Reason: reason})
	default:
		err = windUp(ctx, sess, i, &control.CancelRun{Reason: reason})
	}
	if i.Status == board.IssueRegistered || i.Status == board.IssuePlanning || i.Status == board.IssuePlanned &&
		!i.Bound {
		key = "issue.held"
	} else {
		held = i.Status == board.IssueFailed // which nobody is asked about any more
	}
	if err == nil && held {
		_, err = sess.Do(ctx, &issues.EditIssue{Issue: i.ID, Paused: &held, Feedback: reason})
	}
	if err != nil || !release {
		return key, err
	}
	w, err := sess.Ask().Board().Detail(ctx, i)
	if err != nil {
		return "", err
	}
	for _, label := range w.Needed {
		j, err := sess.Ask().Board().Issue(ctx, label)
		if err == nil {
			_, err = sess.Do(ctx, &issues.AddDependency{Issue: j.ID, On: i.ID, Remove: true})
		}
		if err != nil {
			return "", err
		}
	}
	return key, nil
}
