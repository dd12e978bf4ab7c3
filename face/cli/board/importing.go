package board

import (
	"cmp"
	"context"
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"pawl"
	"pawl/face/cli"
	"pawl/face/host"
	"pawl/face/tui"
	"pawl/kernel"
	"pawl/kernel/effect"
	"pawl/kernel/issues"
	"pawl/kernel/projection"
	"pawl/machine/board"
	"pawl/text/backlog"
)

// intake are the flags of `pawl issue import`.
type intake struct {
	format, scope, back string
	branch              string
	labels              []string
	dry, update, loose  bool
	replan              bool
	all                 bool
}

func newImportCommand(a *cli.App) *cobra.Command {
	var f intake
	c := a.Command("import FILE|github:OWNER/REPO", "issue.import", `  pawl issue import state.json --dry-run
  pawl issue import backlog.md --scope website
  pawl issue import github:golang/example --labels bug
  pawl issue import github:golang/example --update --state-back comment`, cli.Exactly(1), nil)
	c.RunE = func(c *cobra.Command, args []string) error {
		if f.back != "" && f.back != "comment" && f.back != "label" {
			return cli.Usage("cli.flag_invalid", f.back, "--state-back", "comment, label")
		}
		if f.back != "" && !tracked(args[0]) {
			return cli.Usage("cli.flags_conflict", "--state-back", args[0])
		}
		format, ok := map[string]backlog.Format{"": backlog.Auto, "state": backlog.State, "records": backlog.Records,
			"markdown": backlog.Markdown}[f.format]
		if !ok {
			return cli.Usage("cli.flag_invalid", f.format, "--format", "state, records, markdown")
		}
		open := func(run func(*cli.Session) error) error { return making(c.Context(), a, run) }
		if f.dry {
			open = func(run func(*cli.Session) error) error { return a.With(c.Context(), cli.Reading(), run) }
		}
		return open(func(sess *cli.Session) error { return importIssues(c.Context(), sess, args[0], format, &f) })
	}
	c.Flags().StringVar(&f.format, "format", "", a.Text("issue.flag.format"))
	c.Flags().StringVar(&f.scope, "scope", "", a.Text("issue.flag.scope"))
	c.Flags().StringSliceVar(&f.labels, "labels", nil, a.Text("issue.flag.labels"))
	c.Flags().BoolVar(&f.all, "closed", false, a.Text("issue.flag.closed"))
	c.Flags().BoolVar(&f.loose, "loose", false, a.Text("issue.flag.loose"))
	c.Flags().BoolVar(&f.replan, "replan", false, a.Text("issue.flag.import_replan"))
	c.Flags().BoolVar(&f.dry, "dry-run", false, a.Text("issue.flag.dry_run"))
	c.Flags().StringVar(&f.branch, "branch", "", a.Text("issue.flag.branch"))
	c.Flags().BoolVar(&f.update, "update", false, a.Text("issue.flag.update"))
	c.Flags().StringVar(&f.back, "state-back", "", a.Text("issue.flag.state_back"))
	return c
}

// tracked reports whether a source is a repository of a tracker rather than a file.
func tracked(source string) bool {
	return strings.HasPrefix(source, "github:") || strings.HasPrefix(source, "https://")
}

// importIssues reads issues and registers those that are new.
func importIssues(ctx context.Context, sess *cli.Session, source string, format backlog.Format, f *intake) error {
	if err := checkBranch(ctx, sess, f.branch); err != nil {
		return err
	}
	live := tui.NewScreen(nil, sess.Std.Err, nil, nil, sess.Present(), sess.Std.Width, sess.Std.Env)
	defer live.Status("", nil)
	opt := backlog.Options{Scope: f.scope, Loose: f.loose}
	read, err := readBacklog(ctx, sess, source, format, f, opt, live)
	if err != nil {
		return err
	}
	if !sess.JSON {
		printNotes(sess.Printer, &read.Backlog)
	}
	if read.Backlog.State != nil { // its issues have no order of their own
		slices.SortStableFunc(read.Backlog.Issues, func(a, b backlog.Issue) int {
			return cmp.Compare(board.Ordinal(a.ID), board.Ordinal(b.ID))
		})
	}
	ids := make([]string, len(read.Backlog.Issues))
	for n := range read.Backlog.Issues {
		ids[n] = read.Backlog.Issues[n].ID
	}
	known, err := sess.Ask().Board().External(ctx, ids)
	if err != nil {
		return err
	}
	c := backlog.Compare(known, read.Backlog.Issues)
	if err := withoutPlans(c.Added, f.replan); err != nil {
		return err
	}
	empty, err := atBeginning(ctx, sess)
	if err != nil {
		return err
	}
	if !f.dry {
		todo := c.Added
		if f.update {
			todo = append(todo, c.Changed...)
		}
		if err := registerIssues(ctx, sess, todo, f.branch, live); err != nil {
			return err
		}
		if empty && !f.replan {
			if err := goThrough(ctx, sess, read.Backlog.State); err != nil {
				return err
			}
		}
	}
	back := 0
	if f.back != "" && !f.dry {
		if back, err = writeBack(ctx, sess, source, f.back, read.Backlog.Issues, live); err != nil {
			return err
		}
	}
	live.Status("", nil)
	return tellImport(sess, source, f, &read, c, back)
}

// tellImport says what an import found and did.
func tellImport(sess *cli.Session, source string, f *intake, read *host.TrackerRead, c backlog.Comparison,
	back int) error {
	if sess.JSON {
		return sess.PrintJSON(map[string]any{
			"source": source, "issues": len(read.Backlog.Issues), "added": len(c.Added), "changed": len(c.Changed),
			"same": c.Same, "updated": f.update && !f.dry, "dry_run": f.dry,
			"notes": len(read.Backlog.Notes) +
				read.Backlog.MoreNotes, "pages": read.Pages, "unchanged_pages": read.Unchanged,
			"requests":               read.Requests,
			"unconditional_requests": read.Unconditional, "written_back": back,
		})
	}
	key := "issue.imported"
	if f.dry {
		key = "issue.import_dry"
	}
	sess.Say(sess.Style.OK() + " " + sess.Text(key, len(read.Backlog.Issues), len(c.Added), len(c.Changed), c.Same))
	if len(c.Changed) > 0 && !f.update {
		sess.Say("  " + sess.Text("issue.import_changed", len(c.Changed)))
	}
	if back > 0 {
		sess.Say("  " + sess.Text("issue.import_back", back))
	}
	return nil
}

// readBacklog reads a file or a repository.
func readBacklog(ctx context.Context, sess *cli.Session, source string, format backlog.Format, f *intake,
	opt backlog.Options, live *tui.Screen) (host.TrackerRead, error) {
	if tracked(source) {
		say := func(key string, args ...any) { live.Status("  "+sess.Text(key, args...), sess.Style.Dim) }
		return sess.Workspace.Tracker.Read(ctx, host.TrackerQuery{Source: source, All: f.all, Labels: f.labels,
			Options: opt}, say)
	}
	in, err := cli.OpenInput(sess.App, source)
	if err != nil {
		return host.TrackerRead{}, err
	}
	defer in.Close()
	b, err := backlog.Read(in, source, format, opt)
	return host.TrackerRead{Backlog: b}, err
}

// printNotes tells what was understood and not kept.
func printNotes(pr *cli.Printer, b *backlog.Backlog) {
	for _, n := range b.Notes {
		at := ""
		if n.File != "" && n.Line > 0 {
			at = cli.Display(n.File) + ":" + strconv.Itoa(n.Line) + "  "
		}
		pr.Note(pr.Style.Warn() + " " + at + pr.Text(n.Key, n.Args...))
	}
	if b.MoreNotes > 0 {
		pr.Note("  " + pr.Text("issue.more_notes", b.MoreNotes))
	}
}

// registerIssues registers issues piece by piece, each behind those that it depends on. An import that is interrupted
// goes on with the next one, because what is on the board already is found again.
func registerIssues(ctx context.Context, sess *cli.Session, list []backlog.Issue, branch string,
	live *tui.Screen) error {
	list, height := sorted(list)
	fresh, err := startsBatch(ctx, sess)
	if err != nil {
		return err
	}
	for at := 0; at < len(list); {
		c := issues.AddIssues{Fresh: fresh && at == 0}
		size := 0
		for at+len(c.Issues) < len(list) && len(c.Issues) < issues.MaxIssues && size < maxPiece {
			n := newIssue(&list[at+len(c.Issues)])
			n.Branch = branch
			n.Height = height[n.External]
			size += len(n.Context) + len(n.Title)
			c.Issues = append(c.Issues, n)
		}
		if _, err := sess.Do(ctx, &c); err != nil {
			return err
		}
		at += len(c.Issues)
		live.Status("  "+sess.Text("issue.importing", at, len(list)), sess.Style.Dim)
	}
	return nil
}

// maxPiece bounds the text of what is registered with one command, in bytes.
const maxPiece = 4 << 20

// newIssue is the command for an issue of a backlog.
func newIssue(i *backlog.Issue) issues.NewIssue {
	n := issues.NewIssue{Title: i.Title, Context: i.Body, Priority: i.Priority, Tags: i.Tags, After: i.DependsOn,
		External: i.ID, Digest: i.Digest(), URL: i.URL,
		Paused: i.Paused, Closed: i.Status == board.IssueCompleted}
	for _, name := range []string{i.Ref, i.ID} {
		if board.IsIssueID(name) {
			n.Label = name
			break
		}
	}
	n.State = stateOf(i.State)
	for _, f := range i.Feedback {
		n.Feedback = append(n.Feedback, strings.TrimSpace(string(f.Type)+" "+f.Stage+": "+f.Content))
	}
	return n
}

// withoutPlans refuses issues of a state.json whose plan would be needed to go on with them and is not part of it,
// unless they are to be planned anew.
func withoutPlans(list []backlog.Issue, replan bool) error {
	var names []string
	for n := range list {
		s := list[n].State
		if s != nil && (s.Status == board.IssuePlanned || s.Status == board.IssueExecuting) {
			names = append(names, s.ID)
		}
	}
	if len(names) == 0 || replan {
		return nil
	}
	return pawl.Fail(pawl.CodeInvalid, "issue.import_planned", len(names),
		strings.Join(names[:min(len(names), 5)], ", "))
}

// atBeginning reports whether what is registered next begins a batch.
func atBeginning(ctx context.Context, sess *cli.Session) (bool, error) {
	b, err := sess.Ask().Board().Batch(ctx)
	return b == nil || b.Status == board.RunCompleted, err
}

// goThrough takes a new batch through the actions that the batch of a state.json has gone through, so that it stands
// where that one stood.
func goThrough(ctx context.Context, sess *cli.Session, s *board.State) error {
	if s == nil || len(s.Issues) == 0 {
		return nil
	}
	at := string(board.PhaseListing)
	for _, a := range s.CompletedActions {
		on := board.Event(strings.ToUpper(a))
		r, ok := board.Phase.Next(board.PhaseStatus(at), on, "")
		if !ok || string(r.To) == at {
			continue
		}
		if _, err := sess.Do(ctx, &issues.MoveBoard{Action: on}); err != nil {
			return err
		}
		at = string(r.To)
	}
	return nil
}

// stateOf is what a state.json says of an issue that has ended, and of the failures of one that has not.
func stateOf(s *backlog.IssueState) *issues.IssueState {
	if s == nil {
		return nil
	}
	out := &issues.IssueState{Failed: s.Status == board.IssueFailed}
	for _, e := range s.Errors {
		out.Errors = append(out.Errors, kernel.IssueError{At: instant(e.Timestamp), Action: e.Action,
			Fault: effect.Fault{Class: pawl.Class(e.Class), Code: pawl.Code(e.Code), Key: kernel.ImportedError,
				Args: []string{e.Message}}})
	}
	if s.Error != nil {
		out.Error = &effect.Fault{Code: pawl.CodeInvalid, Key: kernel.ImportedError, Args: []string{*s.Error}}
	}
	if s.Status == board.IssueFailed || s.Status == board.IssueCompleted {
		out.PlannedAt, out.Executed = instant(string(s.PlannedAt)), instant(string(s.ExecutedAt))
		out.Came = kernel.Came{Solution: s.SolutionID, Item: s.Item}
	}
	return out
}

// instant is a time that was checked when it was read, or none.
func instant(s string) time.Time {
	t, _ := time.Parse(time.RFC3339, s)
	return t
}

// sorted brings issues into an order in which each stands behind those that it depends on, and measures the longest
// chain of issues that waits for each. A backlog has no circles.
func sorted(list []backlog.Issue) ([]backlog.Issue, map[string]int64) {
	at := make(map[string]int, len(list))
	for n := range list {
		at[list[n].ID] = n
	}
	open := make([]int, len(list)) // how many that it depends on do not stand yet
	next := make([][]int, len(list))
	for n := range list {
		for _, id := range list[n].DependsOn {
			if on, ok := at[id]; ok {
				open[n]++
				next[on] = append(next[on], n)
			}
		}
	}
	order := make([]int, 0, len(list))
	for n := range list {
		if open[n] == 0 {
			order = append(order, n)
		}
	}
	for k := 0; k < len(order); k++ {
		for _, n := range next[order[k]] {
			if open[n]--; open[n] == 0 {
				order = append(order, n)
			}
		}
	}
	out := make([]backlog.Issue, 0, len(order))
	height := make(map[string]int64, len(order))
	for _, n := range order {
		out = append(out, list[n])
	}
	for k := len(order) - 1; k >= 0; k-- {
		id := list[order[k]].ID
		for _, n := range next[order[k]] {
			height[id] = max(height[id], height[list[n].ID]+1)
		}
	}
	return out, height
}

// writeBack writes to the tracker what became of issues that ended, at most once for each ending.
func writeBack(ctx context.Context, sess *cli.Session, source, how string, list []backlog.Issue,
	live *tui.Screen) (int, error) {
	n := 0
	for at := range list {
		found, err := sess.Ask().Board().Issue(ctx, list[at].ID)
		if pawl.CodeOf(err) == pawl.CodeNotFound {
			continue
		}
		if err != nil {
			return n, err
		}
		if found.Plans == 0 || found.Status != board.IssueCompleted && found.Status != board.IssueFailed {
			continue // nothing of pawl's own
		}
		state := string(found.Status)
		text := sess.Text("issue.back."+state, found.Label)
		did, err := sess.Workspace.Tracker.Back(ctx, host.TrackerWord{Source: source, External: found.External,
			How: how, Mark: "pawl:" + found.ID + ":" + state, State: state, Text: text})
		if err != nil {
			return n, err
		}
		if did {
			n++
			live.Status("  "+sess.Text("issue.import_back", n), sess.Style.Dim)
		}
	}
	return n, nil
}

func newExportCommand(a *cli.App) *cobra.Command {
	return a.Command("export [FILE]", "issue.export", "  pawl issue export\n  pawl issue export board.json",
		cli.Between(0, 1), func(c *cobra.Command, args []string) error {
			return a.With(c.Context(), cli.Reading(), func(sess *cli.Session) error {
				if _, err := sess.Ask().Board().Counts(c.Context()); err != nil {
					return err
				}
				raw, err := projection.BoardState(c.Context(), sess.Workspace.Kernel)
				if err != nil {
					return err
				}
				if len(args) == 0 {
					_, err := a.Std.Out.Write(raw)
					return err
				}
				f, err := os.OpenFile(a.Path(args[0]), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
				if os.IsExist(err) {
					return pawl.Fail(pawl.CodeConflict, "cli.file_exists", args[0])
				}
				if err == nil {
					_, err = f.Write(raw)
					err = errors.Join(err, f.Close())
				}
				if err != nil {
					return pawl.Fail(pawl.CodeIO, "cli.file_unwritable", args[0]).Because(err)
				}
				if a.JSON {
					return a.PrintJSON(map[string]any{"files": []string{a.Path(args[0])}})
				}
				a.Say(a.Style.OK() + " " + a.Text("cli.export.written", a.Path(args[0])))
				return nil
			})
		})
}
