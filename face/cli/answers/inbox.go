package answers

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"pawl"
	"pawl/face/cli"
	"pawl/kernel"
	"pawl/kernel/query"
	"pawl/kernel/view"
)

func newInboxCommand(a *cli.App) *cobra.Command {
	return a.Command("inbox", "cli.inbox", "  pawl inbox\n  pawl inbox --issue ISS-7\n  pawl inbox --json", cli.Exactly(0),
		func(c *cobra.Command, _ []string) error {
			return a.With(c.Context(), cli.Reading(), func(sess *cli.Session) error { return inbox(c.Context(), sess) })
		})
}

// inbox says what waits for a person, the gravest first.
func inbox(ctx context.Context, sess *cli.Session) error {
	in, err := query.Inbox(ctx, sess.Workspace.Kernel, maxAll)
	if err != nil {
		return err
	}
	if label := sess.Label(); label != kernel.SessionLabel {
		in.Needs = slices.DeleteFunc(in.Needs, func(n view.Need) bool { return n.Issue != label })
	}
	if sess.JSON {
		return sess.PrintJSON(in)
	}
	if len(in.Needs) == 0 {
		sess.SayText("cli.inbox.nothing")
		return nil
	}
	sess.Say(sess.Style.Bold(sess.Text("cli.inbox.needs", len(in.Needs))))
	for n := range in.Needs {
		sess.Say("")
		printNeed(sess, &in.Needs[n])
	}
	if in.More {
		sess.Note(sess.Text("cli.inbox.more", maxAll))
	}
	return nil
}

// printNeed shows one thing that waits, with the commands that answer it.
func printNeed(sess *cli.Session, n *view.Need) {
	about := sess.Text("web.about." + n.About)
	if n.Blocked != nil && n.About == view.AboutBlocked {
		about = sess.Text("cli.blocked_kind." + n.Blocked.Kind)
	}
	head := []string{sess.Style.Bold(about)}
	switch n.Risk {
	case pawl.RiskHigh:
		head = append(head, sess.Style.Red(sess.Text("web.risk.high")))
	case pawl.RiskMedium:
		head = append(head, sess.Style.Yellow(sess.Text("web.risk.medium")))
	case pawl.RiskLow:
		head = append(head, sess.Text("web.risk.low"))
	}
	if n.Issue != "" {
		head = append(head, cli.Display(n.Issue))
	}
	head = append(head, sess.Style.Dim(sess.Text("cli.inbox.since", sess.Clock(n.Since))))
	if n.Digest != "" {
		head = append(head, sess.Style.Dim(n.Digest[:min(len(n.Digest), 12)]))
	}
	sess.Say(strings.Join(head, "  "))
	if n.Goal != "" {
		sess.Say("  " + cli.Glimpse(sess.Printer, n.Goal))
	}
	if n.Blocked != nil {
		sess.Say("  " + sess.Style.Red(cli.Explain(sess.Printer, n.Blocked.Error.Err())))
	}
	var whose []string
	if n.By != "" {
		whose = append(whose, sess.Text("cli.inbox.by", cli.Display(n.By.Name())))
	}
	if n.Agent != "" {
		whose = append(whose, sess.Text("cli.inbox.agent", cli.Display(n.Agent)))
	}
	if len(n.Behind) > 0 {
		whose = append(whose, sess.Text("cli.inbox.behind", len(n.Behind),
			strings.Join(n.Behind[:min(len(n.Behind), 5)], ", ")))
	}
	if len(whose) > 0 {
		sess.Say("  " + sess.Style.Dim(strings.Join(whose, "  ")))
	}
	for _, q := range n.Questions {
		sess.Say("  " + sess.Style.Yellow("?") + " " + cli.Display(q.Text) + "  " + sess.Style.Dim(cli.Display(string(q.By))))
		sess.Say("    " + sess.Style.Cyan(view.ForIssue("pawl answer --question "+q.ID, n.Issue)+` "`+
			sess.Text("cli.inbox.answer")+`"`))
	}
	if n.About == view.AboutQuestion {
		return
	}
	var next []string
	for _, c := range n.Next[:min(len(n.Next), 4)] {
		next = append(next, cli.NextText(sess.Printer, c))
	}
	if len(next) > 0 {
		sess.Say("  " + sess.Style.Cyan(strings.Join(next, "   ")))
	}
}
