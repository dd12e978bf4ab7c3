package inspect

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"pawl/face/cli"
	"pawl/face/cli/auditlog"
	"pawl/face/cli/term"
	"pawl/kernel"
	"pawl/kernel/audit"
	"pawl/kernel/query"
	"pawl/kernel/view"
	"pawl/machine/session"
)

func newStatusCommand(a *cli.App) *cobra.Command {
	var watch bool
	c := a.Command("status", "cli.status", "  pawl status\n  pawl status --watch\n  pawl status --json", cli.Exactly(0),
		nil)
	c.RunE = func(c *cobra.Command, _ []string) error {
		return a.With(c.Context(), cli.Reading(), func(sess *cli.Session) error {
			if watch {
				return watchStatus(c.Context(), sess)
			}
			return PrintStatus(c.Context(), sess)
		})
	}
	c.Flags().BoolVarP(&watch, "watch", "w", false, a.Text("cli.flag.watch"))
	return c
}

// PrintStatus prints where the session stands, as `pawl status` does.
func PrintStatus(ctx context.Context, sess *cli.Session) error {
	st, err := initialised(ctx, sess)
	if err != nil {
		return err
	}
	if sess.JSON {
		return sess.PrintJSON(st)
	}
	cli.Warn(ctx, sess)
	if err := auditlog.Unwitnessed(ctx, sess); err != nil {
		cli.Remark(sess.Printer, err)
	}
	lines, err := statusLines(ctx, sess, st)
	for _, l := range lines {
		sess.Say(l)
	}
	return err
}

// initialised reads the status, or fails where the workspace has no session.
func initialised(ctx context.Context, sess *cli.Session) (view.Status, error) {
	st, err := cli.StatusOf(ctx, sess)
	if err == nil && st.ID == "" {
		_, err = sess.View(ctx)
	}
	return st, err
}

// watchStatus prints the status again whenever something was committed, until the session is idle. On a terminal it
// redraws in place; elsewhere, and with --json, each state is printed below the last.
func watchStatus(ctx context.Context, sess *cli.Session) error {
	size, drawn := int64(-1), 0
	commits := sess.Workspace.Feed.Listen()
	defer commits.Close()
	for {
		head, err := sess.Ask().Log().Head(ctx)
		if err != nil {
			return err
		}
		if head.Size != size {
			size = head.Size
			st, err := initialised(ctx, sess)
			if err != nil {
				return err
			}
			if drawn, err = redrawStatus(ctx, sess, st, drawn); err != nil {
				return err
			}
			if st.State == "IDLE" && st.Doing == nil {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-commits.C:
		}
	}
}

// redrawStatus prints the status over the lines that were drawn before and returns how many it drew.
func redrawStatus(ctx context.Context, sess *cli.Session, st view.Status, drawn int) (int, error) {
	if sess.JSON {
		return 0, sess.PrintLine(st)
	}
	lines, err := statusLines(ctx, sess, st)
	if err != nil {
		return 0, err
	}
	if sess.Std.TTY && drawn > 0 {
		fmt.Fprintf(sess.Std.Out, "\x1b[%dA\x1b[J", drawn)
	} else if drawn > 0 {
		sess.Say("")
	}
	for _, l := range lines {
		sess.Say(l)
	}
	return len(lines), nil
}

// statusRow is a line of the status. One without a key has no heading: it goes on with what the row above it says. One
// without a text is not shown.
type statusRow struct{ key, text string }

// statusLines renders the status at one glance.
func statusLines(ctx context.Context, sess *cli.Session, st view.Status) ([]string, error) {
	last, err := sess.Ask().Log().Last(ctx)
	if err != nil {
		return nil, err
	}
	in, err := query.Inbox(ctx, sess.Workspace.Kernel, sess.Working(), cli.MostNeeds)
	if err != nil {
		return nil, err
	}
	state, others := "", ""
	// The inbox is named if it lists more than the session itself.
	own := strings.TrimPrefix(sess.Label(), kernel.SessionLabel)
	if n := len(in.Needs); n > 1 || n == 1 && in.Needs[0].Issue != own {
		others = sess.Text("cli.inbox.needs", n) + "  pawl inbox"
	}
	if _, _, ok := standing(sess, st); ok && st.Approval == nil {
		state = string(st.State) + "  " + cli.StateText(sess.Printer, string(st.State))
	}
	rows := slices.Concat(workRows(sess, st), waitingRows(sess, st), []statusRow{
		{"cli.status.last", lastText(sess.Printer, st.Last, state != "" && st.State == session.Idle, st.Goal)},
		{"cli.status.owner", ownerText(sess, st)},
		{"cli.status.state", state},
		{"cli.status.checkpoint", cli.Display(st.Checkpoint)},
		{"cli.status.inbox", others},
	})
	if last != nil {
		rows = append(rows, statusRow{"cli.status.event", sess.Clock(last.At) + "  " + recordText(sess.Printer, *last)})
	}
	key := "cli.status.next"
	for _, n := range st.Next {
		rows, key = append(rows, statusRow{key, cli.NextText(sess.Printer, n)}), ""
	}
	var t term.Table
	for _, r := range rows {
		if r.text != "" {
			t.Painted(sess.Style.Dim, sess.Text(r.key), r.text)
		}
	}
	out := []string{headline(sess, st)}
	for _, l := range t.Lines(sess.Std.Width - 2) {
		out = append(out, "  "+l)
	}
	return out, nil
}

// workRows say what is worked on.
func workRows(sess *cli.Session, st view.Status) []statusRow {
	rows := []statusRow{{"cli.status.goal", cli.Glimpse(sess.Printer, st.Goal)}}
	if st.Task != nil {
		rows = append(rows, statusRow{"cli.status.task", st.Task.Label + "  " + string(st.Task.State) + "  " +
			cli.Glimpse(sess.Printer, st.Task.Title)})
	}
	rows = append(rows, statusRow{"cli.status.step", cli.Glimpse(sess.Printer, stepText(st.Step))})
	if st.Doing != nil {
		what := cli.KindText(sess.Printer, st.Doing.Kind)
		if st.Doing.Tool != "" {
			what = cli.Display(st.Doing.Tool)
		}
		rows = append(rows, statusRow{"cli.status.doing", what + "  " + st.Doing.State + "  " +
			sess.Since(st.Doing.Since)})
	}
	if st.Attempts > 0 {
		rows = append(rows, statusRow{"cli.status.attempts", fmt.Sprintf("%d / %d", st.Attempts, st.MaxAttempts)})
	}
	return rows
}

// waitingRows say what the work waits for, and what went wrong.
func waitingRows(sess *cli.Session, st view.Status) (rows []statusRow) {
	if b := st.Blocked; b != nil {
		rows = append(rows, statusRow{"cli.status.blocked", cli.ReasonText(sess.Printer, b.Error.Key, b.Error.Args,
			b.Error.Cause)})
	}
	if ap := st.Approval; ap != nil {
		what := cli.AboutText(sess.Printer, ap.About) + "  "
		if ap.About != kernel.AboutProof { // which is accepted by its tree
			what += cli.Short(ap.Hash) + "  "
		}
		rows = append(rows, statusRow{"cli.status.approval", what + sess.Text("cli.status.waiting",
			sess.Since(ap.Since))})
		if ap.About == "call" || ap.About == "action" {
			rows = append(rows, statusRow{"", cli.Glimpse(sess.Printer, sess.Wordy(ap.Detail))})
		}
	}
	for _, q := range st.Questions {
		text := strings.TrimSpace(q.ID + "  " + cli.Glimpse(sess.Printer, q.Text))
		rows = append(rows, statusRow{"cli.status.question", text + "  " + sess.Text("cli.status.waiting",
			sess.Since(q.Since))})
	}
	if e := st.LastError; e != nil && st.Blocked == nil {
		rows = append(rows, statusRow{"cli.status.error", cli.ReasonText(sess.Printer, e.Key, e.Args, e.Cause)})
	}
	if st.Run != nil {
		for _, text := range cli.DegradedTexts(sess.Printer, st.Run.Degraded) {
			rows = append(rows, statusRow{"cli.status.context", text})
		}
	}
	return rows
}

// ownerText says who works, or that nobody does though there is work.
func ownerText(sess *cli.Session, st view.Status) string {
	o := st.Owner
	switch {
	case o != nil && o.State != "":
		return sess.Text("cli.status.owned", o.PID, o.Host, o.Command) + "  " +
			sess.Style.Red(sess.Text("cli.status.owner_halted", o.PID))
	case o != nil:
		return sess.Text("cli.status.owned", o.PID, o.Host, o.Command)
	case sess.Label() == kernel.SessionLabel && st.Interrupted():
		return sess.Text("cli.status.nobody")
	}
	return ""
}

// standing is how the work stands where more is to be said of it than the state of the session: that it is not proven,
// or how it has ended.
func standing(sess *cli.Session, st view.Status) (symbol, text string, ok bool) {
	pr := sess.Printer
	switch l := st.Last; {
	case st.Approval != nil && st.Approval.About == kernel.AboutProof,
		st.Blocked != nil && st.Blocked.Kind == string(kernel.BlockedUnproven):
		return pr.Style.Bad(), pr.Text("cli.proof.waits"), true
	case l == nil || st.State != session.Idle || st.Paused || st.Approval != nil || st.Blocked != nil:
	case l.Undone:
		return pr.Style.Dot(), pr.Text("cli.proof.undone"), true
	case l.Outcome == "completed":
		return cli.VerdictMark(pr, l.Proof), cli.EndText(pr, l.Outcome, l.Proof, l.AcceptedBy), true
	case l.Outcome != "":
		return pr.Style.Warn(), cli.OutcomeText(pr, l.Outcome), true
	}
	return "", "", false
}

// headline is how the work stands, or the state with its meaning.
func headline(sess *cli.Session, st view.Status) string {
	symbol, text, ok := standing(sess, st)
	if ok {
		return symbol + " " + sess.Style.Bold(text)
	}
	switch {
	case st.Blocked != nil:
		symbol = sess.Style.Bad()
	case st.Approval != nil || st.Paused || st.Unclear():
		symbol = sess.Style.Warn()
	case st.State == "IDLE":
		symbol = sess.Style.OK()
	default:
		symbol = sess.Style.Arrow()
	}
	text = cli.StateText(sess.Printer, string(st.State))
	if st.Approval != nil && st.State != session.Confirming {
		text = sess.Text("cli.state.waits")
	}
	if st.Unclear() {
		text = sess.Text("cli.state.asks")
	}
	line := symbol + " " + sess.Style.Bold(string(st.State)) + "  " + sess.Style.Dim(text)
	if st.Paused {
		line += "  " + sess.Style.Yellow(sess.Text("cli.status.paused", sess.Clock(st.PausedAt), string(st.PausedBy)))
	}
	return line
}

func stepText(s *view.Step) string {
	if s == nil {
		return ""
	}
	text := fmt.Sprintf("%d / %d", s.Done, s.Total)
	if s.Title != "" {
		text += "  " + s.Title
	}
	return text
}

// lastText is the result of the last run in one line, without what stands above it where that is told: how it ended,
// and its goal.
func lastText(pr *cli.Printer, r *view.Result, told bool, goal string) string {
	if r == nil {
		return ""
	}
	var parts []string
	switch {
	case told:
	case r.Undone:
		parts = append(parts, pr.Text("cli.proof.undone"))
	default:
		parts = append(parts, cli.EndText(pr, r.Outcome, r.Proof, r.AcceptedBy))
	}
	if r.Objections > 0 {
		parts = append(parts, pr.Text("cli.review.objections", r.Objections))
	}
	if r.Commit != "" {
		parts = append(parts, pr.Text("cli.land.landed", cli.Short(r.Commit), r.Branch))
	}
	if !told || r.Goal != goal {
		parts = append(parts, cli.Glimpse(pr, r.Goal))
	}
	return strings.Join(parts, "  ")
}

// recordText is an audit record in one line, without its time and the id of its rule, which pawl audit log tells.
func recordText(pr *cli.Printer, p audit.Parsed) string {
	text := p.Subject.Kind + "  " + cli.Display(p.Event)
	if m := p.Move; m != nil {
		text = p.Subject.Kind + "  " + cli.MoveText(pr, m.From, m.To)
	}
	return text
}
