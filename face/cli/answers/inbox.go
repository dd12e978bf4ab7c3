package answers

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"pawl"
	"pawl/face/cli"
	"pawl/face/fault"
	"pawl/face/host"
	"pawl/kernel"
	"pawl/kernel/query"
	"pawl/kernel/view"
	"pawl/machine/session"
)

func newInboxCommand(a *cli.App) *cobra.Command {
	var all bool
	c := a.Command("inbox", "cli.inbox", "  pawl inbox\n  pawl inbox --issue ISS-7\n  pawl inbox --all\n  pawl inbox --json",
		cli.Exactly(0), nil)
	c.RunE = func(c *cobra.Command, _ []string) error {
		switch {
		case all && a.Issue() != "":
			return cli.Usage("cli.flags_conflict", "--all", "--issue")
		case all:
			return everywhere(c.Context(), a)
		}
		return a.With(c.Context(), cli.Reading(), func(sess *cli.Session) error { return inbox(c.Context(), sess) })
	}
	c.Flags().BoolVar(&all, "all", false, a.Text("cli.flag.inbox_all"))
	return c
}

// inbox says what waits for a person, the gravest first.
func inbox(ctx context.Context, sess *cli.Session) error {
	in, err := query.Inbox(ctx, sess.Workspace.Kernel, sess.Working(), maxAll)
	if err != nil {
		return err
	}
	if label := sess.Label(); label != kernel.SessionLabel {
		in.Needs = slices.DeleteFunc(in.Needs,
			func(n view.Need) bool { return n.Issue != label && !slices.Contains(n.Behind, label) })
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
		printNeed(sess.Printer, &in.Needs[n], sess.Workspace.Kernel.Now(), "")
	}
	if in.More {
		sess.Note(sess.Text("cli.inbox.more", maxAll))
	}
	return nil
}

// sight is a workspace as `pawl inbox --all --json` tells of it. Error says why nothing is known of it.
type sight struct {
	Workspace string        `json:"workspace"`
	State     session.State `json:"state,omitempty"`
	Needs     int           `json:"needs"`
	// More says that there may be more than was looked at.
	More  bool         `json:"more,omitempty"`
	Error *fault.Fault `json:"error,omitempty"`
}

// everywhere says what waits for a person in any of their workspaces, the gravest first. A workspace that cannot be
// read is told, and the others are listed all the same.
func everywhere(ctx context.Context, a *cli.App) error {
	sights := cli.Look(ctx, a, a.Host.(host.Lister).Workspaces().List())
	needs, read := host.Gravest(sights), 0
	for _, s := range sights {
		if s.Err == nil {
			read++
		}
	}
	if a.JSON {
		all := []sight{}
		for _, s := range sights {
			one := sight{Workspace: s.Dir, State: s.Status.State, Needs: len(s.Inbox.Needs), More: s.Inbox.More}
			if s.Err != nil {
				f := cli.Describe(a.Printer, s.Err)
				one.Error = &f
			}
			all = append(all, one)
		}
		return a.PrintJSON(map[string]any{"needs": needs, "workspaces": all})
	}
	switch {
	case len(sights) == 0:
		a.SayText("cli.inbox.nowhere")
	case len(needs) == 0:
		a.SayText("cli.inbox.nothing_all", read)
	default:
		a.Say(a.Style.Bold(a.Text("cli.inbox.needs_all", len(needs), read)))
	}
	for n := range needs {
		a.Say("")
		printNeed(a.Printer, &needs[n].Need, needs[n].At, needs[n].Workspace)
	}
	for _, s := range sights {
		switch {
		case s.Err != nil:
			a.Note(a.Style.Warn() + " " + cli.Display(s.Dir) + ": " + cli.Explain(a.Printer, s.Err))
		case s.Inbox.More:
			a.Note(cli.Display(s.Dir) + ": " + a.Text("cli.inbox.more", cli.MostNeeds))
		}
	}
	return nil
}

// printNeed shows one thing that waits, with the commands that answer it. Where is the workspace, "" for the one that
// is spoken of anyway.
func printNeed(pr *cli.Printer, n *view.Need, now time.Time, where string) {
	about := pr.Text("web.about." + n.About)
	if n.Blocked != nil && n.About == view.AboutBlocked {
		about = pr.Text("cli.blocked_kind." + n.Blocked.Kind)
	}
	head := []string{pr.Style.Bold(about)}
	if where != "" {
		head = []string{pr.Style.Bold(cli.Display(filepath.Base(where))), about}
	}
	switch n.Risk {
	case pawl.RiskHigh:
		head = append(head, pr.Style.Red(pr.Text("web.risk.high")))
	case pawl.RiskMedium:
		head = append(head, pr.Style.Yellow(pr.Text("web.risk.medium")))
	case pawl.RiskLow:
		head = append(head, pr.Text("web.risk.low"))
	}
	if n.Issue != "" {
		head = append(head, cli.Display(n.Issue))
	}
	head = append(head, pr.Style.Dim(pr.Text("cli.inbox.since", cli.ClockAt(now, n.Since))))
	if n.Digest != "" {
		head = append(head, pr.Style.Dim(n.Digest[:min(len(n.Digest), 12)]))
	}
	pr.Say(strings.Join(head, "  "))
	if n.Goal != "" {
		pr.Say("  " + cli.Glimpse(pr, n.Goal))
	}
	if n.Blocked != nil {
		pr.Say("  " + pr.Style.Red(cli.Explain(pr, n.Blocked.Error.Err())))
	}
	var whose []string
	if n.By != "" {
		whose = append(whose, pr.Text("cli.inbox.by", cli.Display(n.By.Label())))
	}
	if n.Agent != "" {
		whose = append(whose, pr.Text("cli.inbox.agent", cli.Display(n.Agent)))
	}
	if len(n.Behind) > 0 {
		whose = append(whose, pr.Text("cli.inbox.behind", len(n.Behind),
			strings.Join(n.Behind[:min(len(n.Behind), 5)], ", ")))
	}
	if len(whose) > 0 {
		pr.Say("  " + pr.Style.Dim(strings.Join(whose, "  ")))
	}
	if printQuestions(pr, n, where); n.About == view.AboutQuestion {
		return
	}
	var next []string
	for _, c := range n.Next[:min(len(n.Next), 4)] {
		next = append(next, cli.NextText(pr, c))
	}
	if len(next) > 0 {
		pr.Say("  " + pr.Style.Cyan(strings.Join(next, "   ")))
	}
}

// printQuestions shows what is asked, with the commands that answer it.
func printQuestions(pr *cli.Printer, n *view.Need, where string) {
	answer := func(command string, answers int) {
		pr.Say("    " + pr.Style.Cyan(cli.In(where, view.ForIssue(command, n.Issue))+
			strings.Repeat(` "`+pr.Text("cli.inbox.answer")+`"`, answers)))
	}
	for _, q := range n.Questions {
		pr.Say("  " + pr.Style.Yellow("?") + " " + cli.Display(q.Text) + "  " + pr.Style.Dim(cli.Display(string(q.By))))
		if q.ID != "" {
			answer("pawl answer --question "+q.ID, 1)
		}
	}
	if n.About == view.AboutUnclear {
		answer("pawl answer", len(n.Questions))
	}
}
