package board

import (
	"bufio"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"pawl"
	"pawl/face/cli"
	"pawl/face/cli/term"
	"pawl/face/host"
	"pawl/face/tui"
	"pawl/kernel"
	"pawl/kernel/audit"
	"pawl/kernel/issues"
	"pawl/kernel/query"
	"pawl/kernel/view"
	"pawl/machine/board"
)

// defaultPage is how many issues are listed where nothing else is said.
const defaultPage = 100

// filter says which issues are listed.
type filter struct {
	states []string
	tags   []string
	search string
	limit  int
	all    bool
}

func newListCommand(a *cli.App) *cobra.Command {
	var f filter
	c := a.Command("list", "issue.list", `  pawl issue list
  pawl issue list --status failed,planned --tag parser
  pawl issue list --all --json`, cli.Exactly(0), nil)
	c.RunE = func(c *cobra.Command, _ []string) error {
		for _, s := range f.states {
			if !board.Issue.Known(board.IssueStatus(s)) {
				return cli.Usage("cli.flag_invalid", s, "--status", join(board.Issue.States()))
			}
		}
		if f.limit < 0 {
			return cli.Usage("cli.flag_invalid", strconv.Itoa(f.limit), "--limit", "0 …")
		}
		if f.all {
			f.limit = 0
		}
		left := false
		err := a.With(c.Context(), cli.Reading(), func(sess *cli.Session) (err error) {
			if err = listIssues(c.Context(), sess, &f); err == nil && !sess.JSON {
				left, err = leftListing(c.Context(), sess)
			}
			return err
		})
		if err != nil || !left {
			return err
		}
		err = a.With(c.Context(), host.Open{Still: true}, func(sess *cli.Session) error {
			_, err := sess.Do(c.Context(), &issues.MoveBoard{Action: board.List})
			return err
		})
		if err != nil { // what was asked for is on the screen
			a.Note(a.Style.Warn() + " " + a.Text("issue.list_phase", cli.Explain(a.Printer, err)))
		}
		return nil
	}
	c.Flags().StringSliceVar(&f.states, "status", nil, a.Text("issue.flag.status"))
	c.Flags().StringSliceVar(&f.tags, "tag", nil, a.Text("issue.flag.tag_filter"))
	c.Flags().StringVar(&f.search, "search", "", a.Text("issue.flag.search"))
	c.Flags().IntVar(&f.limit, "limit", defaultPage, a.Text("issue.flag.limit"))
	c.Flags().BoolVar(&f.all, "all", false, a.Text("issue.flag.all_list"))
	return c
}

func join[S ~string](list []S) string {
	var b strings.Builder
	for n, s := range list {
		if n > 0 {
			b.WriteString(", ")
		}
		b.WriteString(string(s))
	}
	return b.String()
}

// leftListing reports whether the batch has gone on from its list and nobody is at work: to look at the list is then an
// action of the batch (docs/spec/board.md#listing).
func leftListing(ctx context.Context, sess *cli.Session) (bool, error) {
	b, err := sess.Ask().Board().Batch(ctx)
	return b != nil && b.Status == board.RunRunning && b.Phase != board.PhaseListing && len(b.Workers) == 0, err
}

// listIssues streams issues in the order of their registration.
func listIssues(ctx context.Context, sess *cli.Session, f *filter) error {
	counts, err := sess.Ask().Board().Counts(ctx)
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(sess.Std.Out, 32<<10)
	n, more, most := 0, false, 0
	if f.limit > 0 {
		most = f.limit + 1 // one more tells whether there are further ones
	}
	for i, err := range sess.Ask().Board().Issues(ctx, query.Filter{States: f.states, Tags: f.tags, Search: f.search,
		Every: sess.JSON, Limit: most}) {
		if err != nil {
			return err
		}
		if more = f.limit > 0 && n == f.limit; more {
			break
		}
		if err := writeIssue(sess.Printer, out, &i.IssueLine); err != nil {
			return err
		}
		if n++; n%flushed == 0 {
			if err := out.Flush(); err != nil {
				return err
			}
		}
	}
	if err := out.Flush(); err != nil || sess.JSON {
		return err
	}
	if more {
		sess.Note(sess.Text("issue.list_more", n))
	}
	if counts.Total == 0 {
		sess.Note(sess.Text("issue.none"))
		return nil
	}
	sess.Note(countLine(sess.Printer, counts))
	return nil
}

// flushed is after how many issues a list shows what it has.
const flushed = 100

// writeIssue writes an issue of a list.
func writeIssue(pr *cli.Printer, out *bufio.Writer, l *view.IssueLine) error {
	if !pr.JSON {
		_, err := out.WriteString(issueLine(pr, l, cli.ListWidth(pr)) + "\n")
		return err
	}
	raw, err := json.Marshal(l)
	if err == nil {
		_, err = out.Write(append(raw, '\n'))
	}
	return err
}

// issueLine is an issue on one line, in columns that do not depend on the other lines.
func issueLine(pr *cli.Printer, l *view.IssueLine, width int) string {
	label := term.Pad(cli.Display(l.Label), 8) + "  "
	mark := "p" + strconv.Itoa(l.Priority)
	title, tail := cli.Display(l.Title), ""
	if len(l.Tags) > 0 {
		tail = "  #" + cli.Display(strings.Join(l.Tags, " #"))
	}
	head := label + statusText(pr, l.Status) + strings.Repeat(" ", max(0, 10-len(l.Status))) + "  " +
		standingText(pr, l.Standing, 8) + "  " + mark + "  "
	if width > 0 {
		title = term.Clip(title, max(width-term.Width(label)-26-term.Width(tail), 8), pr.Style.Ellipsis())
	}
	return head + title + pr.Style.Dim(tail)
}

// standingText is a standing in its colour, padded.
func standingText(pr *cli.Printer, s view.Standing, width int) string {
	pad := strings.Repeat(" ", max(0, width-len(s)))
	switch s {
	case view.StandingWorking:
		return pr.Style.Cyan(string(s)) + pad
	case view.StandingReady:
		return pr.Style.Green(string(s)) + pad
	case view.StandingBlocked, view.StandingLost:
		return pr.Style.Red(string(s)) + pad
	case view.StandingAsks, view.StandingPaused:
		return pr.Style.Yellow(string(s)) + pad
	}
	return string(s) + pad
}

func newShowCommand(a *cli.App) *cobra.Command {
	return a.Command("show ISSUE", "issue.show", "  pawl issue show ISS-3\n  pawl issue show 3 --json",
		cli.Named(a.Printer), func(c *cobra.Command, args []string) error {
			return a.With(c.Context(), cli.Reading(), func(sess *cli.Session) error {
				name, err := pickIssue(c.Context(), sess, args)
				if err != nil {
					return err
				}
				return showIssue(c.Context(), sess, name, true)
			})
		})
}

// pickIssue returns the issue that was named, or lets a person choose one.
func pickIssue(ctx context.Context, sess *cli.Session, args []string) (string, error) {
	return cli.Pick(ctx, sess.Printer, args, "cli.pick.issue", func() (out []tui.Item, err error) {
		for i, err := range sess.Ask().Board().Issues(ctx, query.Filter{Limit: cli.MaxPicked}) {
			if err != nil {
				return nil, err
			}
			out = append(out, tui.Item{ID: i.Label, Title: i.Title, Note: string(i.Status)})
		}
		return out, nil
	})
}

// whole is an issue with all that belongs to it, as JSON.
type whole struct {
	*view.IssueDetail
	Error string `json:"error,omitempty"`
}

// showIssue prints an issue.
func showIssue(ctx context.Context, sess *cli.Session, name string, next bool) error {
	i, err := sess.Ask().Board().Issue(ctx, name)
	if err != nil {
		return err
	}
	w, err := sess.Ask().Board().Detail(ctx, i)
	if err != nil {
		return err
	}
	if sess.JSON {
		return sess.PrintJSON(whole{w, failureText(sess.Printer, &w.Issue)})
	}
	printIssue(sess.Printer, w, next)
	return nil
}

// failureText says what stopped an issue last, "" where nothing did.
func failureText(pr *cli.Printer, i *view.Issue) string {
	if i.Failure == nil {
		return ""
	}
	return cli.Explain(pr, i.Failure.Err())
}

// printIssue shows an issue to a person.
func printIssue(pr *cli.Printer, w *view.IssueDetail, next bool) {
	pr.Say(pr.Style.Bold(w.Label) + "  " + cli.Display(w.Title))
	var t term.Table
	add := func(key, value string) {
		if value != "" {
			t.Row("  "+pr.Text(key), value)
		}
	}
	status := string(w.Status)
	if w.Standing != view.StandingNone {
		status += " " + pr.Style.Middle() + " " + pr.Text("issue.standing."+string(w.Standing))
	}
	add("issue.show.status", status)
	add("issue.show.priority", strconv.Itoa(w.Priority))
	add("issue.show.tags", cli.Display(strings.Join(w.Tags, ", ")))
	branch := cli.Display(w.Branch)
	if w.Landed != "" {
		branch = pr.Text("issue.show.landed", w.Landed)
	}
	add("issue.show.branch", branch)
	add("issue.show.agent", cli.Display(w.Agent))
	add("issue.show.plan_file", cli.Display(w.PlanFile))
	var after []string
	for _, on := range w.Dependencies {
		after = append(after, on.Label+" "+string(on.Status))
	}
	add("issue.show.after", cli.Display(strings.Join(after, ", ")))
	add("issue.show.needed", cli.Display(strings.Join(w.Needed, ", ")))
	add("issue.show.external", cli.Display(strings.TrimSpace(w.External+"  "+w.URL)))
	add("issue.show.worker", cli.Display(w.Owner))
	add("issue.show.session", w.Session)
	if w.MicroUSD > 0 {
		add("issue.show.cost", cli.DollarsText(pr, w.MicroUSD, false))
	}
	for _, s := range w.Solutions {
		text := cli.Display(s.ID) + "  " + s.Hash[:min(12, len(s.Hash))] + "  " + string(s.Risk) + "  " +
			cli.Display(s.Goal)
		if s.Bound {
			text += "  " + pr.Style.OK()
		}
		add("issue.show.solution", text)
	}
	add("issue.show.files", cli.Display(strings.Join(w.Files, ", ")))
	add("issue.show.error", failureText(pr, &w.Issue))
	for _, f := range w.Feedback {
		add("issue.show.feedback", cli.Display(f))
	}
	pr.SayTable(&t, pr.Std.Width)
	if w.Context != "" {
		pr.Say("")
		for _, l := range strings.Split(w.Context, "\n") {
			pr.Say("  " + cli.Display(l))
		}
	}
	if next {
		printNext(pr, w)
	}
}

// printNext tells what can be done next with an issue.
func printNext(pr *cli.Printer, w *view.IssueDetail) {
	if out := nextOf(pr, &w.IssueLine); len(out) > 0 {
		pr.Say("\n" + pr.Style.Cyan(pr.Text("cli.next")) + strings.Join(out, "   "))
	}
}

// nextOf are the commands that take an issue on.
func nextOf(pr *cli.Printer, w *view.IssueLine) (out []string) {
	at := " --issue " + w.Label
	switch {
	case w.Standing == view.StandingAsks && w.Status == board.IssuePlanned:
		answer := "pawl status" + at // names the command that approves the very plan
		if pr.Std.TTY {
			answer = cli.NextText(pr, view.Next{Command: "pawl approve" + at})
		}
		out = []string{answer, "pawl deny" + at, "pawl plan show" + at}
	case w.Standing == view.StandingAsks:
		out = []string{"pawl status" + at}
	case w.Standing == view.StandingPaused:
		out = []string{"pawl issue edit " + w.Label + " --paused=false"}
	case w.Status == board.IssueRegistered && w.Standing != view.StandingWorking:
		out = []string{"pawl issue plan " + w.Label}
	case w.Status == board.IssuePlanned && w.Standing == view.StandingReady:
		out = []string{"pawl issue execute " + w.Label}
	case w.Status == board.IssueFailed:
		out = []string{"pawl issue retry " + w.Label, "pawl issue retry " + w.Label + " --replan", "pawl issue skip " +
			w.Label, "pawl status" + at}
	}
	return out
}

func newHistoryCommand(a *cli.App) *cobra.Command {
	var limit int
	c := a.Command("history [ISSUE]", "issue.history", "  pawl issue history\n  pawl issue history ISS-3 --json",
		cli.Between(0, 1), nil)
	c.RunE = func(c *cobra.Command, args []string) error {
		if limit < 0 {
			return cli.Usage("cli.flag_invalid", strconv.Itoa(limit), "--limit", "0 …")
		}
		return a.With(c.Context(), cli.Reading(), func(sess *cli.Session) error {
			subject := audit.Subject{Kind: string(kernel.KindBoard)}
			if len(args) > 0 {
				i, err := sess.Ask().Board().Issue(c.Context(), args[0])
				if err != nil {
					return err
				}
				subject = audit.Subject{Kind: string(kernel.KindIssue), ID: i.ID}
			} else {
				b, err := sess.Ask().Board().Batch(c.Context())
				if err != nil {
					return err
				}
				if b == nil {
					return pawl.Fail(pawl.CodeNotFound, "kernel.board_empty")
				}
				subject.ID = b.ID
			}
			return printHistory(c.Context(), sess, subject, limit)
		})
	}
	c.Flags().IntVarP(&limit, "limit", "n", 200, a.Text("issue.flag.limit"))
	return c
}

// printHistory prints the newest records about an issue or a batch, the oldest of them first.
func printHistory(ctx context.Context, sess *cli.Session, subject audit.Subject, limit int) error {
	var last []audit.Parsed
	for rec, err := range sess.Ask().Log().Records(ctx, subject, 0) {
		if err != nil {
			return err
		}
		p, err := audit.Parse(rec.Bytes)
		if err != nil {
			return err
		}
		if last = append(last, p); limit > 0 && len(last) > 2*limit {
			last = slices.Clone(last[len(last)-limit:])
		}
	}
	if limit > 0 && len(last) > limit {
		last = last[len(last)-limit:]
	}
	var t term.Table
	for _, p := range last {
		if sess.JSON {
			if err := sess.PrintJSON(map[string]any{"at": p.At, "event": p.Event, "level": p.Level, "actor": p.Actor,
				"move": p.Move, "data": p.Data}); err != nil {
				return err
			}
			continue
		}
		text := cli.Display(p.Event)
		if p.Move != nil {
			text = p.Move.From + " " + sess.Style.To() + " " + p.Move.To + "  " +
				sess.Style.Dim(cli.Display(p.Move.Reason))
		} else if len(p.Data) > 2 {
			text += "  " + sess.Style.Dim(cli.Display(string(p.Data)))
		}
		t.Row(sess.Clock(p.At), cli.Display(string(p.Actor)), text)
	}
	sess.SayTable(&t, cli.ListWidth(sess.Printer))
	return nil
}
