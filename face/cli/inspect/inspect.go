// Package inspect is what a person looks at: runs as a list (`pawl log`), one run with who approved it and what was
// proven (`pawl show`), and what it changed (`pawl diff`) and what its commands wrote (`pawl logs`). It asks the store
// by package kernel/query and changes nothing.
package inspect

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"pawl"
	"pawl/face/cli"
	"pawl/face/cli/term"
	"pawl/kernel/effect"
	"pawl/kernel/query"
	"pawl/kernel/view"
	"pawl/machine/session"
)

// Entries are the commands of the first level.
func Entries() []cli.Entry {
	return []cli.Entry{
		{Name: "show", Group: "work", Build: newShowCommand},
		{Name: "log", Group: "work", Build: newLogCommand},
		{Name: "diff", Group: "work", Build: newDiffCommand},
		{Name: "attach", Group: "work", Build: newAttachCommand},
		{Name: "logs", Group: "work", Build: newLogsCommand},
		{Name: "status", Group: "work", Build: newStatusCommand},
		{Name: "budget", Group: "look", Build: newBudgetCommand},
	}
}

func newShowCommand(a *cli.App) *cobra.Command {
	return a.Command("show [RUN|TASK|ISSUE|COMMIT]", "see.show",
		"  pawl show\n  pawl show RUN-3\n  pawl show T-003\n  pawl show ISS-2\n  pawl show 4f1c2ab --json",
		cli.Between(0, 1), func(c *cobra.Command, args []string) error {
			return a.With(c.Context(), cli.Reading(),
				func(sess *cli.Session) error { return report(c.Context(), sess, args) })
		})
}

// report shows a run.
func report(ctx context.Context, sess *cli.Session, args []string) error {
	r, err := find(ctx, sess, args)
	if err != nil {
		return err
	}
	if sess.JSON {
		return sess.PrintJSON(r)
	}
	var files []effect.FileStat
	if len(r.Files) == 0 {
		files, err = changed(ctx, sess, r)
		if err != nil {
			sess.Note(sess.Style.Warn() + " " + cli.Explain(sess.Printer, err)) // the rest is worth seeing all the same
		}
	}
	Report(sess, r, files)
	return nil
}

// find reads the run that is named, or the one that the session is at.
func find(ctx context.Context, sess *cli.Session, args []string) (*view.Report, error) {
	name := ""
	if len(args) > 0 {
		name = args[0]
	}
	return sess.Ask().Run(ctx, sess.Label(), name)
}

// shown is how many runs are listed unless more are asked for.
const shown = 30

func newLogCommand(a *cli.App) *cobra.Command {
	var limit int
	var all bool
	c := a.Command("log", "see.log", "  pawl log\n  pawl log -n 5\n  pawl log --all --json", cli.Exactly(0), nil)
	c.RunE = func(c *cobra.Command, _ []string) error {
		switch {
		case limit < 1:
			return cli.Usage("cli.flag_invalid", limit, "--limit", "1 …")
		case all:
			limit = 0
		}
		return a.With(c.Context(), cli.Reading(),
			func(sess *cli.Session) error { return list(c.Context(), sess, limit) })
	}
	c.Flags().IntVarP(&limit, "limit", "n", shown, a.Text("see.flag.limit"))
	c.Flags().BoolVar(&all, "all", false, a.Text("see.flag.all"))
	return c
}

// list streams runs, the newest first.
func list(ctx context.Context, sess *cli.Session, limit int) error {
	if _, err := sess.View(ctx); err != nil {
		return err
	}
	out := bufio.NewWriterSize(sess.Std.Out, 32<<10)
	n := 0
	for r, err := range sess.Ask().Runs(ctx, query.Page{Limit: limit, Newest: true}) {
		if err != nil {
			return err
		}
		n++
		if sess.JSON {
			raw, err := json.Marshal(r.Value)
			if err == nil {
				_, err = out.Write(append(raw, '\n'))
			}
			if err != nil {
				return err
			}
			continue
		}
		if _, err := out.WriteString(line(sess.Printer, r.Value) + "\n"); err != nil {
			return err
		}
	}
	if err := out.Flush(); err != nil {
		return err
	}
	if n == 0 {
		sess.Note(sess.Text("see.no_runs"))
	}
	return nil
}

// line is a run on one line, in columns that do not depend on the other lines.
func line(pr *cli.Printer, r view.RunLine) string {
	symbol, state := pr.Style.Arrow(), r.State
	switch {
	case r.Undone:
		symbol, state = pr.Style.Dot(), pr.Text("cli.status.undone")
	case r.Proof == effect.Unproven && r.Outcome == "", r.Proof != "" && r.Over() && r.Outcome == "completed":
		symbol, state = cli.VerdictMark(pr, r.Proof), pr.Text("see.verdict."+string(r.Proof))
	case state == string(session.Blocked):
		symbol = pr.Style.Bad()
	case !r.Over():
	case r.Outcome == "completed":
		symbol, state = pr.Style.Warn(), pr.Text("web.claimed")
	case r.Outcome != "":
		symbol, state = pr.Style.Warn(), cli.Display(r.Outcome)
	}
	when := r.EndedAt
	if when.IsZero() {
		when = r.StartedAt
	}
	width := cli.ListWidth(pr)
	narrow := width > 0 && width < 70
	head := symbol + " " + term.Pad(cli.Display(r.Label), 8) + "  "
	if !narrow {
		head += pr.Style.Dim(when.Local().Format("2006-01-02 15:04")) + "  "
	}
	head += term.Pad(state, 12) + "  "
	tail := ""
	if r.Commit != "" && !narrow {
		tail = "  " + pr.Style.Dim(r.Commit[:min(10, len(r.Commit))]+" "+cli.Display(r.Branch))
	}
	goal, _, _ := strings.Cut(strings.TrimSpace(r.Goal), "\n")
	goal = cli.Display(goal)
	if width > 0 {
		goal = term.Clip(goal, max(width-term.Width(head)-term.Width(tail), 8), pr.Style.Ellipsis())
	}
	return head + goal + tail
}

// changed counts what a run changed, by file.
func changed(ctx context.Context, sess *cli.Session, r *view.Report) ([]effect.FileStat, error) {
	text, err := whole(ctx, sess, r.Changes)
	return effect.DiffStat(text), err
}

// whole is the unified diff of all that a run changed, "" where nothing was recorded.
func whole(ctx context.Context, sess *cli.Session, c view.Changes) (string, error) {
	if c.From == "" || c.To == "" || c.From == c.To {
		return "", nil
	}
	return sess.Workspace.Diff(ctx, c.Place, c.From, c.To)
}

func newDiffCommand(a *cli.App) *cobra.Command {
	var step string
	var stat, plain bool
	c := a.Command("diff [RUN|TASK|ISSUE|COMMIT]", "see.diff",
		"  pawl diff\n  pawl diff RUN-3 --stat\n  pawl diff --step s2\n  pawl diff ISS-2 > change.patch",
		cli.Between(0, 1), nil)
	c.RunE = func(c *cobra.Command, args []string) error {
		return a.With(c.Context(), cli.Reading(), func(sess *cli.Session) error {
			r, err := find(c.Context(), sess, args)
			if err != nil {
				return err
			}
			return diff(c.Context(), sess, r, step, stat, plain)
		})
	}
	c.Flags().StringVar(&step, "step", "", a.Text("see.flag.step"))
	c.Flags().BoolVar(&stat, "stat", false, a.Text("see.flag.stat"))
	c.Flags().BoolVar(&plain, "no-pager", false, a.Text("see.flag.no_pager"))
	return c
}

// diff prints what a run changed, or one of its steps.
func diff(ctx context.Context, sess *cli.Session, r *view.Report, step string, stat, plain bool) error {
	text, err := patch(ctx, sess, r, step)
	if err != nil {
		return err
	}
	if len(r.Planned) > 0 {
		sess.Note(sess.Style.Warn() + " " + sess.Text("see.planned"))
	}
	files := effect.DiffStat(text)
	if sess.JSON {
		return sess.PrintJSON(map[string]any{"run": r.Run, "step": step, "from": r.Changes.From, "to": r.Changes.To,
			"files": append([]effect.FileStat{}, files...), "patch": text})
	}
	switch {
	case text == "" && len(r.Planned) > 0:
		return nil // what it leaves open was told
	case text == "":
		sess.Note(sess.Text("see.no_changes", r.Run))
		return nil
	case stat:
		for _, l := range cli.FileLines(sess.Printer, files, "") {
			sess.Say(l)
		}
		return nil
	}
	return paint(sess.Printer, text, plain)
}

// patch is the unified diff of a run, or of one of its steps.
func patch(ctx context.Context, sess *cli.Session, r *view.Report, step string) (string, error) {
	c := r.Changes
	if known := slices.ContainsFunc(r.Steps, func(s view.SummaryStep) bool { return s.ID == step }); step != "" &&
		!known {
		ids := make([]string, 0, len(r.Steps))
		for _, s := range r.Steps {
			ids = append(ids, s.ID)
		}
		return "", pawl.Fail(pawl.CodeNotFound, "see.step_unknown", r.Run, step, strings.Join(ids, ", "))
	}
	if len(r.Planned) > 0 {
		return planned(sess, r, step), nil
	}
	if step == "" {
		return whole(ctx, sess, c)
	}
	var out strings.Builder
	for _, s := range c.Steps {
		if s.Step != step || s.Before == s.After {
			continue
		}
		part, err := sess.Workspace.Diff(ctx, c.Place, s.Before, s.After)
		if err != nil {
			return "", err
		}
		out.WriteString(part)
	}
	return out.String(), nil
}

// planned is what a plan that has not begun would change in the files as they are now, or one of its steps. What it
// leaves open is told beside it.
func planned(sess *cli.Session, r *view.Report, only string) string {
	drafts := cli.Drafts(sess, view.Plan{Steps: r.Planned})
	var out strings.Builder
	for _, s := range r.Planned {
		if only != "" && s.ID != only {
			continue
		}
		for n, c := range s.Calls {
			switch of := drafts[s.ID]; {
			case n >= len(of) || !of[n].Known:
				sess.Note("  " + sess.Style.Dot() + " " + sess.Text("see.planned_open", s.ID, c.Tool))
			case of[n].Err != nil:
				sess.Note("  " + sess.Style.Bad() + " " +
					sess.Text("see.planned_fails", s.ID, c.Tool, cli.Explain(sess.Printer, of[n].Err)))
			default:
				out.WriteString(of[n].Patch)
			}
		}
		if len(s.Calls) == 0 {
			sess.Note("  " + sess.Style.Dot() + " " + sess.Text("see.planned_agent", s.ID))
		}
	}
	return out.String()
}

// paint writes a diff: to a program as it is, to a person in colours, with what could act on the terminal made visible
// and with a mark at files that judge the work.
func paint(pr *cli.Printer, text string, plain bool) error {
	return paged(pr, plain, func(out io.Writer) error {
		for l := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
			if pr.Std.TTY {
				mark := judging(pr, l)
				l = pr.Style.DiffLine(l) + mark
			}
			if _, err := io.WriteString(out, l+"\n"); err != nil {
				return err
			}
		}
		return nil
	})
}

// judging marks the line of a diff at which a file begins that tests, or that decides what is run: there a change may
// be meant to make the work pass.
func judging(pr *cli.Printer, line string) string {
	_, name, ok := strings.Cut(line, " b/")
	if !ok || !strings.HasPrefix(line, "diff --git ") {
		return ""
	}
	switch kind := view.KindOf(name); kind {
	case view.TestFile, view.CIFile:
		return "  " + pr.Style.Yellow(pr.Text("see.judges."+string(kind)))
	}
	return ""
}

// paged has output written to the person's pager where a person looks, or plainly.
func paged(pr *cli.Printer, plain bool, write func(io.Writer) error) error {
	if pr.Present() && !plain && pr.Std.Pager != nil {
		// Without a pager it is printed: nobody is kept from reading by a missing program.
		if p, ok := pr.Std.Pager(); ok {
			err := write(p)
			closed := p.Close()
			if errors.Is(err, syscall.EPIPE) {
				return nil // the person has seen enough
			}
			return cmp.Or(err, closed)
		}
	}
	out := bufio.NewWriterSize(pr.Std.Out, 64<<10)
	if err := write(out); err != nil {
		return err
	}
	return out.Flush()
}
