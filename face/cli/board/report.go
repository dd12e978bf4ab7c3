package board

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"pawl"
	"pawl/face/cli"
	"pawl/kernel/issues"
	"pawl/kernel/query"
	"pawl/kernel/view"
	"pawl/machine/board"
)

// statistics are the numbers of a batch.
type statistics struct {
	Batch     string                    `json:"batch"`
	Status    string                    `json:"status"`
	Issues    int                       `json:"issues"`
	ByStatus  map[board.IssueStatus]int `json:"by_status"`
	Success   float64                   `json:"success_rate"` // percent of those that ended
	Quality   quality                   `json:"quality"`
	Plans     int                       `json:"plans"`
	Retries   int                       `json:"retries"`
	Conflicts int                       `json:"conflicts"`
	Cost      int64                     `json:"cost_micros,omitempty"`
	Begun     time.Time                 `json:"begun"`
	Ended     time.Time                 `json:"ended,omitzero"`
	Failed    []failure                 `json:"failed"`
	more      int                       // failed issues that are not listed
}

// failure is an issue that failed, and why.
type failure struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	Error string `json:"error,omitempty"`
}

// quality is the score of a batch: four parts of a quarter each, in percent.
type quality struct {
	// Completeness is how many of the issues are completed, Consistency how many of those that ended did so without a
	// conflict with what others landed, Correctness how many of those that ended were completed without a further
	// attempt at the work, and Clarity how many of those that were planned needed one plan only.
	Completeness float64 `json:"completeness"`
	Consistency  float64 `json:"consistency"`
	Correctness  float64 `json:"correctness"`
	Clarity      float64 `json:"clarity"`
	Score        float64 `json:"score"`
	Verdict      string  `json:"verdict"` // pass, review or fail
}

// The bounds of the verdicts, and of a success rate that is good enough, in percent.
const (
	passes      = 80
	reviews     = 60
	goodSuccess = 80
	maxFailures = 100
)

func newCompleteCommand(a *cli.App) *cobra.Command {
	var dry bool
	c := a.Command("complete", "issue.complete", "  pawl issue complete\n  pawl issue complete --dry-run --json",
		cli.Exactly(0), nil)
	c.RunE = func(c *cobra.Command, _ []string) error {
		open := cli.Writing()
		if dry {
			open = cli.Reading()
		}
		return a.With(c.Context(), open, func(sess *cli.Session) error { return completeBatch(c.Context(), sess, dry) })
	}
	c.Flags().BoolVar(&dry, "dry-run", false, a.Text("issue.flag.dry_report"))
	return c
}

// completeBatch ends the batch and writes its report. It is refused while something is at work. A batch that is
// completed already only has its report written again, because the disk may have refused it behind the end of the
// batch.
func completeBatch(ctx context.Context, sess *cli.Session, dry bool) error {
	b, err := sess.Ask().Board().Batch(ctx)
	if err != nil {
		return err
	}
	if !dry && (b == nil || b.Status != board.RunCompleted) {
		if _, err := sess.Do(ctx, &issues.MoveBoard{Action: board.Complete}); err != nil {
			return err
		}
	}
	s, err := computeStatistics(ctx, sess)
	if err != nil {
		return err
	}
	text := reportText(sess.Printer, s)
	if !dry {
		if err := sess.Workspace.Write(ctx,
			[]pawl.ProjectedFile{{Path: "final-report.md", Content: text}}); err != nil {
			return err
		}
	}
	if sess.JSON {
		err = sess.PrintJSON(s)
	} else {
		for l := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
			sess.Say(cli.Display(l))
		}
		if !dry {
			sess.Note(sess.Text("issue.report_written", sess.Workspace.Place.Workspace+"/.pawl/final-report.md"))
		}
	}
	if n := s.ByStatus[board.IssueFailed]; err == nil && n > 0 && !dry {
		err = cli.Shown(pawl.Fail(pawl.CodeChecksFailed, "issue.failed", n))
	}
	return err
}

// computeStatistics counts the issues of the newest batch.
func computeStatistics(ctx context.Context, sess *cli.Session) (*statistics, error) {
	b, err := sess.Ask().Board().Batch(ctx)
	if err != nil {
		return nil, err
	}
	if b == nil {
		return nil, pawl.Fail(pawl.CodeNotFound, "kernel.board_empty")
	}
	s := &statistics{Batch: b.Label, Status: string(b.Status), ByStatus: map[board.IssueStatus]int{}, Begun: b.Begun,
		Ended: b.Ended, Failed: []failure{}}
	var ended, smooth, first, planned, once int
	for i, err := range sess.Ask().Board().Issues(ctx, query.Filter{}) {
		if err != nil {
			return nil, err
		}
		state := i.Status
		if i.Batch != b.Number && state == board.IssueCompleted {
			continue
		}
		s.Issues++
		s.ByStatus[state]++
		s.Plans += i.Plans
		s.Retries += i.Retries
		s.Conflicts += i.Conflicts
		s.Cost += i.MicroUSD
		if state == board.IssueCompleted || state == board.IssueFailed {
			ended++
			smooth += one(i.Conflicts == 0)
			first += one(state == board.IssueCompleted && i.Retries == 0)
		}
		if i.Plans > 0 {
			planned++
			once += one(i.Plans == 1 && i.Failures == 0)
		}
		if state == board.IssueFailed {
			addFailure(ctx, sess, s, i)
		}
	}
	done := s.ByStatus[board.IssueCompleted]
	s.Success = percent(done, ended)
	s.Quality = quality{Completeness: percent(done, s.Issues), Consistency: percent(smooth, ended),
		Correctness: percent(first, ended), Clarity: percent(once, planned)}
	s.Quality.Score = (s.Quality.Completeness + s.Quality.Consistency + s.Quality.Correctness + s.Quality.Clarity) / 4
	switch {
	case s.Quality.Score >= passes:
		s.Quality.Verdict = "pass"
	case s.Quality.Score >= reviews:
		s.Quality.Verdict = "review"
	default:
		s.Quality.Verdict = "fail"
	}
	return s, nil
}

func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// percent is a part of a whole; of nothing everything is there.
func percent(part, whole int) float64 {
	if whole == 0 {
		return 100
	}
	return float64(part*1000/whole) / 10
}

// addFailure lists a failed issue with what stopped it.
func addFailure(ctx context.Context, sess *cli.Session, s *statistics, i *view.Issue) {
	if len(s.Failed) == maxFailures {
		s.more++
		return
	}
	f := failure{ID: i.Label, Title: i.Title}
	switch s, err := sess.Ask().Session(ctx, i.Label); {
	case err == nil && s.Failure != nil:
		f.Error = cli.Explain(sess.Printer, s.Failure.Err())
	case i.Failure != nil:
		f.Error = cli.Explain(sess.Printer, i.Failure.Err())
	case len(i.Feedback) > 0:
		f.Error = i.Feedback[len(i.Feedback)-1]
	}
	s.Failed = append(s.Failed, f)
}

// reportText is the final report in Markdown.
func reportText(pr *cli.Printer, s *statistics) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("# %s", pr.Text("issue.report.title", s.Batch))
	line("")
	line("| %s | |", pr.Text("issue.report.what"))
	line("|---|---|")
	row := func(key, format string, args ...any) { line("| "+pr.Text(key)+" | "+format+" |", args...) }
	row("issue.report.status", "%s", s.Status)
	row("issue.report.issues", "%d", s.Issues)
	for _, state := range board.Issue.States() {
		if n := s.ByStatus[state]; n > 0 || state == board.IssueCompleted || state == board.IssueFailed {
			line("| %s | %d |", state, n)
		}
	}
	row("issue.report.success", "%.1f %% (%s)", s.Success,
		pr.Text(map[bool]string{true: "issue.report.good", false: "issue.report.poor"}[s.Success >= goodSuccess],
			goodSuccess))
	row("issue.report.plans", "%d", s.Plans)
	row("issue.report.retries", "%d", s.Retries)
	row("issue.report.conflicts", "%d", s.Conflicts)
	row("issue.report.begun", "%s", s.Begun.UTC().Format(time.RFC3339))
	if !s.Ended.IsZero() {
		row("issue.report.ended", "%s", s.Ended.UTC().Format(time.RFC3339))
	}
	line("")
	line("## %s", pr.Text("issue.report.quality"))
	line("")
	line("| %s | %% | |", pr.Text("issue.report.part"))
	line("|---|---|---|")
	for _, p := range []struct {
		key   string
		value float64
	}{{"completeness", s.Quality.Completeness}, {"consistency", s.Quality.Consistency},
		{"correctness", s.Quality.Correctness}, {"clarity", s.Quality.Clarity}} {
		line("| %s (25 %%) | %.1f | %s |", pr.Text("issue.quality."+p.key), p.value,
			pr.Text("issue.quality_what."+p.key))
	}
	line("| **%s** | **%.1f** | %s |", pr.Text("issue.report.score"), s.Quality.Score,
		pr.Text("issue.verdict."+s.Quality.Verdict))
	if len(s.Failed) == 0 {
		return b.String()
	}
	line("")
	line("## %s", pr.Text("issue.report.failed"))
	line("")
	for _, f := range s.Failed {
		line("- **%s** %s%s", f.ID, oneLine(f.Title), reason(f.Error))
	}
	if s.more > 0 {
		line("- +%d", s.more)
	}
	return b.String()
}

func reason(text string) string {
	if text == "" {
		return ""
	}
	return ": " + oneLine(text)
}

// oneLine keeps a text from being read as anything but a line of a list.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
