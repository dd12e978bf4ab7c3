// Package answers is what a person says to what is asked: pawl approve, deny, revise, answer, and the plan that is
// asked about.
package answers

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"pawl"
	"pawl/face/cli"
	"pawl/kernel"
	"pawl/kernel/approval"
	"pawl/kernel/effect"
	"pawl/kernel/planning"
	"pawl/kernel/query"
	"pawl/kernel/steps"
	"pawl/kernel/verification"
	"pawl/kernel/view"
	"pawl/text/policy"
)

// Entries are the commands of the first level.
func Entries() []cli.Entry {
	return []cli.Entry{
		{Name: "inbox", Group: "answer", Build: newInboxCommand},
		{Name: "approve", Group: "answer", Build: newApproveCommand},
		{Name: "accept", Group: "answer", Build: newAcceptCommand},
		{Name: "deny", Group: "answer", Build: newDenyCommand},
		{Name: "revise", Group: "answer", Build: newReviseCommand},
		{Name: "answer", Group: "answer", Build: newAnswerCommand},
	}
}

func newAnswerCommand(a *cli.App) *cobra.Command {
	var skip, noWait bool
	var one string
	c := a.Command("answer [ANSWER]...", "cli.answer", `  pawl answer
  pawl answer "only the parser" "keep the old flag"
  pawl answer --question q-3 "the new one"
  pawl answer --go-on`, cli.Between(0, cli.MaxAnswers), nil)
	c.RunE = func(c *cobra.Command, args []string) error {
		if skip && len(args) > 0 {
			return cli.Usage("cli.flags_conflict", "--go-on", args[0])
		}
		return a.With(c.Context(), cli.Writing(), func(sess *cli.Session) error {
			s, err := sess.Workspace.Kernel.Snapshot(c.Context())
			if err != nil {
				return err
			}
			give := func(sess *cli.Session) error {
				var given kernel.Command = &steps.AnswerQuestions{Answers: args, Question: one}
				if !skip && len(args) == 0 {
					if given, err = cli.AskQuestions(c.Context(), sess, s, one); err != nil {
						return err
					}
				}
				return cli.DoNow(c.Context(), sess, given)
			}
			// What no work waits for is answered without working on anything.
			return cli.GoOn(c.Context(), sess, noWait || !cli.AwaitsAnswers(s), []string{"completed", "canceled"}, give)
		})
	}
	c.Flags().BoolVar(&skip, "go-on", false, a.Text("cli.flag.go_on"))
	c.Flags().StringVar(&one, "question", "", a.Text("cli.flag.question"))
	c.Flags().BoolVar(&noWait, "no-wait", false, a.Text("cli.flag.no_wait"))
	return c
}

func newApproveCommand(a *cli.App) *cobra.Command { return approveCommand(a, "approve [HASH]") }

// approveCommand is `pawl approve`, which `pawl plan approve` is too.
func approveCommand(a *cli.App, use string) *cobra.Command {
	var yes, noWait, every bool
	c := a.Command(use, "cli.approve", "  pawl approve\n  pawl approve 1a2b3c4d5e6f\n  pawl approve --all\n  pawl approve --yes --no-wait", cli.Between(0, 1), nil)
	c.RunE = func(c *cobra.Command, args []string) error {
		hash := ""
		switch {
		case every && len(args) > 0:
			return cli.Usage("cli.flags_conflict", "--all", args[0])
		case every && a.Issue() != "":
			return cli.Usage("cli.flags_conflict", "--all", "--issue")
		case every:
			return a.With(c.Context(), cli.Writing(),
				func(sess *cli.Session) error { return approveAll(c.Context(), sess, yes) })
		}
		if len(args) > 0 {
			hash = args[0]
		}
		return cli.OpenAndGoOn(c.Context(), a, noWait, []string{"completed"},
			func(sess *cli.Session) error { return cli.ApproveOpen(c.Context(), sess, hash, yes) })
	}
	c.Flags().BoolVar(&yes, "yes", false, a.Text("cli.flag.yes_open"))
	c.Flags().BoolVar(&noWait, "no-wait", false, a.Text("cli.flag.no_wait"))
	c.Flags().BoolVar(&every, "all", false, a.Text("cli.flag.approve_all"))
	return c
}

// maxAll is how many questions `pawl approve --all` goes through at once: more than anybody reads.
const maxAll = 200

// approveAll puts each plan of the board that waits before the person. Those of low risk that need nothing confirmed
// but what one rule is about, and that for a whole session, are shown and approved together: with one word, or by
// --yes. Each other one is asked about by itself.
func approveAll(ctx context.Context, sess *cli.Session, yes bool) error {
	asking, err := sess.Ask().Board().Asking(ctx, maxAll)
	if err != nil {
		return err
	}
	alike := map[policy.Code][]*waitingPlan{}
	var left []*view.Issue
	for _, i := range asking {
		if !yes && !sess.Present() {
			left = append(left, i) // nobody is there to say the one word
			continue
		}
		w, err := waitingOf(ctx, sess, i)
		switch {
		case err != nil:
			return err
		case w == nil:
			left = append(left, i)
		default:
			alike[w.rule] = append(alike[w.rule], w)
		}
	}
	approved := []string{}
	for _, rule := range slices.Sorted(maps.Keys(alike)) {
		ok := yes
		if !yes && sess.Present() {
			if ok, err = cli.Confirm(ctx, sess.Printer, "\n"+sess.Text("cli.approve.alike", labelsOfPlans(alike[rule]),
				string(rule))); err != nil {
				return err
			}
		}
		for _, w := range alike[rule] {
			if !ok {
				left = append(left, w.issue)
				continue
			}
			if err := w.approve(ctx, sess, yes); err != nil {
				cli.Remark(sess.Printer, err) // it was answered elsewhere, or is another plan by now
				left = append(left, w.issue)
				continue
			}
			approved = append(approved, w.issue.Label)
		}
	}
	open, err := putEach(ctx, sess, left)
	if err != nil {
		return err
	}
	return approvedAll(sess.Printer, approved, open)
}

// waitingPlan is a plan of an issue that waits, and the rule that all falls under that is to be confirmed in it.
type waitingPlan struct {
	issue *view.Issue
	hash  string
	rule  policy.Code
}

func labelsOfPlans(plans []*waitingPlan) string {
	labels := make([]string, len(plans))
	for n, w := range plans {
		labels[n] = w.issue.Label
	}
	return strings.Join(labels, ", ")
}

// waitingOf shows the plan of an issue that can be approved together with others. It returns nil where there is none.
func waitingOf(ctx context.Context, sess *cli.Session, i *view.Issue) (w *waitingPlan, err error) {
	err = cli.InIssue(sess, i, func(at *cli.Session) error {
		s, err := at.Workspace.Kernel.Snapshot(ctx)
		if err != nil {
			return err
		}
		rule := approval.Together(s)
		if rule == "" {
			return nil
		}
		if sess.JSON {
			err = at.PrintLine(map[string]any{"type": "approval", "issue": i.Label,
				"approval": query.StatusOf(s).Approval, "plan": query.PlanOf(s)})
		} else if at.Say("\n" + at.Style.Bold(i.Label) + "  " + cli.Display(i.Title)); cli.ShowApproval(ctx, at, s,
			query.PlanOf(s), false) {
			return nil // what was not shown in full is asked about by itself
		}
		w = &waitingPlan{i, s.Approval.Hash, rule}
		return err
	})
	return w, err
}

// putEach asks about issues one by one and returns those that are still open. Without a terminal all of them are, and
// how each is answered is told.
func putEach(ctx context.Context, sess *cli.Session, issues []*view.Issue) (open []string, err error) {
	for _, i := range issues {
		asked, err := cli.Put(ctx, sess, i)
		switch needed := pawl.CodeOf(err) == pawl.CodeApprovalNeeded; {
		case err != nil && !needed:
			return nil, err
		case needed || !asked:
			open = append(open, i.Label)
		}
	}
	return open, nil
}

// approvedAll says what was approved and what is left.
func approvedAll(pr *cli.Printer, approved, open []string) error {
	if pr.JSON {
		if err := pr.PrintLine(map[string]any{"type": "result", "approved": approved,
			"waiting_for_a_person": append([]string{}, open...)}); err != nil {
			return err
		}
	} else {
		for _, label := range approved {
			pr.Say(pr.Style.OK() + " " + pr.Text("cli.approve.did", label))
		}
		switch {
		case len(approved)+len(open) == 0:
			pr.Note(pr.Text("cli.approve.none"))
		case len(approved) > 0:
			pr.Say("  " + pr.Style.Cyan(pr.Text("cli.next")) + "pawl worker")
		}
	}
	if len(open) > 0 {
		return pawl.Fail(pawl.CodeApprovalNeeded, "cli.approve.open", strings.Join(open, ", "), open[0])
	}
	return nil
}

func newAcceptCommand(a *cli.App) *cobra.Command {
	var reason string
	var noWait bool
	c := a.Command("accept [TREE]", "cli.accept", "  pawl accept\n  pawl accept 1a2b3c4d5e6f -m \"only the wording of a message\"",
		cli.Between(0, 1), nil)
	c.RunE = func(c *cobra.Command, args []string) error {
		tree := ""
		if len(args) > 0 {
			tree = args[0]
		}
		return cli.OpenAndGoOn(c.Context(), a, noWait, []string{"completed"},
			func(sess *cli.Session) error { return accept(c.Context(), sess, tree, reason) })
	}
	c.Flags().StringVarP(&reason, "message", "m", "", a.Text("cli.flag.reason"))
	c.Flags().BoolVar(&noWait, "no-wait", false, a.Text("cli.flag.no_wait"))
	return c
}

// accept takes work that nothing shows to have done what was wanted. Tree is the one that was shown, "" where the
// person looks at it now; whoever gives no reason is asked for it.
func accept(ctx context.Context, sess *cli.Session, tree, reason string) error {
	s, err := sess.Workspace.Kernel.Snapshot(ctx)
	if err != nil {
		return err
	}
	c := &verification.Accept{Tree: tree, Reason: reason, Way: kernel.WayCommand}
	if s.Task != nil && s.Task.Proof != nil && s.Task.Proof.Verdict == effect.Unproven && sess.Present() {
		if c.Tree == "" {
			cli.PrintShown(sess.Printer, view.ProofOf(s.Task.Proof))
			cli.PrintChecks(ctx, sess, s, "cli.ask.checks_too", true)
			c.Tree, c.Way = s.Task.Proof.Tree, kernel.WayTerminal
		}
		if c.Reason == "" {
			if c.Reason, err = cli.AskReason(ctx, sess); err != nil {
				return err
			}
		}
	}
	return cli.DoNow(ctx, sess, c)
}

func newDenyCommand(a *cli.App) *cobra.Command {
	var reason string
	c := a.Command("deny", "cli.deny", "  pawl deny -m \"not now\"", cli.Exactly(0), nil)
	c.RunE = func(c *cobra.Command, _ []string) error {
		return cli.OpenAndGoOn(c.Context(), a, false, []string{"declined"}, func(sess *cli.Session) error {
			_, err := sess.Do(c.Context(), &approval.Deny{Reason: reason})
			return err
		})
	}
	c.Flags().StringVarP(&reason, "message", "m", "", a.Text("cli.flag.reason"))
	return c
}

func newReviseCommand(a *cli.App) *cobra.Command {
	var note, file string
	var noWait bool
	c := a.Command("revise [FEEDBACK]", "cli.revise",
		"  pawl revise -m \"keep the old name as an alias\"\n  pawl revise --plan smaller.yaml", cli.Between(0, 1), nil)
	c.RunE = func(c *cobra.Command, args []string) error {
		r := &planning.Revise{Feedback: note}
		if len(args) > 0 {
			r.Feedback = args[0]
		}
		if r.Feedback == "" && file == "" {
			return cli.Usage("cli.revise_nothing")
		}
		if file != "" {
			p, err := cli.ReadPlan(a, file)
			if err != nil {
				return err
			}
			r.Given, r.Name = p.Data, file
		}
		return cli.OpenAndGoOn(c.Context(), a, noWait, []string{"completed"}, func(sess *cli.Session) error {
			_, err := sess.Do(c.Context(), r)
			return err
		})
	}
	c.Flags().StringVarP(&note, "message", "m", "", a.Text("cli.flag.feedback"))
	c.Flags().StringVar(&file, "plan", "", a.Text("cli.flag.plan"))
	c.Flags().BoolVar(&noWait, "no-wait", false, a.Text("cli.flag.no_wait"))
	return c
}
