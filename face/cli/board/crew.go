package board

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"pawl"
	"pawl/face/cli"
	"pawl/face/cli/agents"
	"pawl/face/cli/settings"
	"pawl/face/cli/term"
	"pawl/kernel"
	"pawl/kernel/issues"
	"pawl/kernel/planning"
	"pawl/kernel/view"
	"pawl/machine/board"
	"pawl/runner"
)

// work are the flags of the commands that work on issues.
type work struct {
	workers     int
	yes, all    bool
	agent       string
	planOnly    bool
	executeOnly bool
	stay        bool
	branch      string
}

// maxWorkers is how many issues one process works on at the same time.
const maxWorkers = 64

func (w *work) flags(pr *cli.Printer, c *cobra.Command) {
	c.Flags().IntVarP(&w.workers, "workers", "w", 0, pr.Text("issue.flag.workers"))
	c.Flags().BoolVar(&w.yes, "yes", false, pr.Text("issue.flag.yes"))
	c.Flags().StringVar(&w.agent, "agent", "", pr.Text("issue.flag.agent"))
	c.Flags().StringVar(&w.branch, "branch", "", pr.Text("issue.flag.board_branch"))
}

func (w *work) check() error {
	if w.workers < 0 || w.workers > maxWorkers {
		return cli.Usage("cli.flag_invalid", strconv.Itoa(w.workers), "--workers", "1 - "+strconv.Itoa(maxWorkers))
	}
	if w.planOnly && w.executeOnly {
		return cli.Usage("cli.flags_conflict", "--plan-only", "--execute-only")
	}
	return nil
}

func newWorkerCommand(a *cli.App) *cobra.Command {
	var w work
	c := a.Command("worker", "issue.worker", `  pawl worker
  pawl worker --workers 4 --yes
  pawl worker --stay --plan-only --agent llm`, cli.Exactly(0), nil)
	c.RunE = func(c *cobra.Command, _ []string) error {
		return working(c.Context(), a, &w, nil, func(o *runner.PoolOptions) {
			o.Plan, o.Execute, o.Stay = !w.executeOnly, !w.planOnly, w.stay
		})
	}
	w.flags(a.Printer, c)
	c.Flags().BoolVar(&w.planOnly, "plan-only", false, a.Text("issue.flag.plan_only"))
	c.Flags().BoolVar(&w.executeOnly, "execute-only", false, a.Text("issue.flag.execute_only"))
	c.Flags().BoolVar(&w.stay, "stay", false, a.Text("issue.flag.stay"))
	return c
}

func newPlanCommand(a *cli.App) *cobra.Command {
	var w work
	c := a.Command("plan [ISSUE]...", "issue.plan", `  pawl issue plan ISS-3
  pawl issue plan --all --workers 4
  pawl issue plan --all --yes`, cli.Between(0, 1000), nil)
	c.RunE = func(c *cobra.Command, args []string) error {
		if w.all == (len(args) > 0) {
			return cli.Usage("issue.which", c.CommandPath())
		}
		return working(c.Context(), a, &w, args, func(o *runner.PoolOptions) { o.Plan = true })
	}
	w.flags(a.Printer, c)
	c.Flags().BoolVar(&w.all, "all", false, a.Text("issue.flag.all"))
	return c
}

func newExecuteCommand(a *cli.App) *cobra.Command {
	var w work
	c := a.Command("execute [ISSUE]...", "issue.execute", `  pawl issue execute ISS-3
  pawl issue execute --all --workers 4
  pawl issue execute --all --yes`, cli.Between(0, 1000), nil)
	c.RunE = func(c *cobra.Command, args []string) error {
		if w.all == (len(args) > 0) {
			return cli.Usage("issue.which", c.CommandPath())
		}
		return working(c.Context(), a, &w, args, func(o *runner.PoolOptions) {
			// What is approved by policy may be planned on the way; otherwise a person would be asked in the middle of
			// it.
			o.Plan, o.Execute = w.yes, true
		})
	}
	w.flags(a.Printer, c)
	c.Flags().BoolVar(&w.all, "all", false, a.Text("issue.flag.all"))
	return c
}

// working runs a crew until nothing is left that it could do, and says what came of it.
func working(ctx context.Context, a *cli.App, w *work, names []string, set func(*runner.PoolOptions)) error {
	if err := w.check(); err != nil {
		return err
	}
	agent, err := agents.Default(ctx, a, agents.Need{Agent: w.agent})
	if err != nil {
		return err
	}
	return a.With(ctx, cli.Writing(), func(sess *cli.Session) error {
		if _, err := sess.Ask().Board().Counts(ctx); err != nil {
			return err
		}
		chosen, err := findIssues(ctx, sess, names)
		if err != nil {
			return err
		}
		o := runner.PoolOptions{Workers: w.workers}
		if o.Branch, err = aimBoard(ctx, sess, w.branch); err != nil {
			return err
		}
		set(&o)
		for _, i := range chosen {
			o.Issues = append(o.Issues, i.ID)
		}
		if o.Workers == 0 {
			o.Workers = max(1, min(len(chosen), maxWorkers))
		}
		o.Start = planning.Start{Place: cli.WorkPlace(sess.Workspace.Place, false), RunMode: sess.Config.RunMode,
			Lang: string(sess.Lang)}
		o.Start.Agent, o.Start.Planner, o.Start.Reviewer = sess.Config.Cast()
		if err := agents.Ready(ctx, sess, o.Start.Planner, o.Start.Agent, o.Start.Reviewer); err != nil {
			return err
		}
		if w.yes {
			o.Start.AutoApprove = pawl.By(pawl.KindPolicy, "--yes")
		}
		return runCrew(ctx, sess, o, chosen, w.all)
	}, settings.Override("agent", w.agent), agent)
}

// aimBoard says for which branch a batch is begun: the one that is asked for or, where it is not begun yet, the one
// that is checked out now. It tells where that is another one than the person sees.
func aimBoard(ctx context.Context, sess *cli.Session, asked string) (string, error) {
	if sess.Workspace.Branch == nil {
		return "", nil
	}
	here, err := sess.Workspace.Branch(ctx, asked)
	if err != nil {
		return "", err
	}
	if asked != "" {
		_, err := sess.Do(ctx, &issues.AimBoard{Branch: asked})
		return asked, err
	}
	b, err := sess.Ask().Board().Batch(ctx)
	if err != nil || b == nil || b.Status == board.RunCompleted || b.Branch == "" || b.Branch == here {
		return here, err
	}
	sess.Note(sess.Style.Warn() + " " + sess.Text("issue.board_branch", b.Branch))
	return here, nil
}

// runCrew runs a crew in the foreground. Where a person is there, what waits for an answer is asked when nothing else
// is left to do, and the work goes on with what was answered. It ends with what is left.
func runCrew(ctx context.Context, sess *cli.Session, o runner.PoolOptions, chosen []*view.Issue, all bool) error {
	cli.Warn(ctx, sess)
	t := newCrewReporter(sess)
	o.Tell, t.all = t.tell, all
	if o.Execute && o.Start.AutoApprove != "" {
		if err := approveWaiting(ctx, sess, chosen); err != nil {
			return err
		}
	}
	for {
		if err := runOnce(ctx, sess, o, t); err != nil {
			return err
		}
		answered, err := askPerson(ctx, sess, chosen)
		if err == nil && answered && o.Execute {
			continue
		}
		if rest := reportRest(ctx, sess, o, t, chosen); err == nil {
			err = rest
		}
		return err
	}
}

// approveWaiting approves the plans that wait, for a command that says yes to them beforehand. What only a person may
// say yes to goes on waiting.
func approveWaiting(ctx context.Context, sess *cli.Session, chosen []*view.Issue) error {
	asking, err := askingIssues(ctx, sess, chosen)
	if err != nil {
		return err
	}
	for _, i := range asking {
		err := cli.InIssue(sess, i, func(at *cli.Session) error {
			s, err := at.Workspace.Kernel.Snapshot(ctx)
			if err != nil || s.Approval == nil || s.Approval.State != kernel.ApprovalPending || s.Approval.About != "plan" {
				return err
			}
			return cli.ApproveOpen(ctx, at, "", true)
		})
		if err != nil && ctx.Err() == nil {
			cli.Remark(sess.Printer, err)
		}
	}
	return ctx.Err()
}

// runOnce has workers do what can be done.
func runOnce(ctx context.Context, sess *cli.Session, o runner.PoolOptions, t *crewReporter) error {
	crew, err := sess.Workspace.Crew(o)
	if err != nil {
		return err
	}
	told := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(told)
		t.interrupted()
	})
	err = crew.Run(ctx)
	if !stop() {
		<-told
	}
	t.done()
	return err
}

// askPerson puts what waits for an answer before the person who is there, and reports whether anything was answered. It
// ends where one is left open.
func askPerson(ctx context.Context, sess *cli.Session, chosen []*view.Issue) (answered bool, err error) {
	for sess.Present() {
		asking, err := askingIssues(ctx, sess, chosen)
		if err != nil {
			return answered, err
		}
		open := false
		for _, i := range asking {
			put, err := cli.Put(ctx, sess, i)
			if err != nil {
				return answered, err
			}
			open, answered = open || put, answered || put
		}
		if !open {
			break
		}
	}
	return answered, nil
}

// crewReporter says what the workers do: one line for each thing that happened and, on a terminal, one live line; with
// --json each as a line of JSON. It is called from the goroutines of the crew.
type crewReporter struct {
	sess *cli.Session

	mu     sync.Mutex
	doing  map[string]string // what is done about an issue
	begun  map[string]time.Time
	failed map[string]bool // issues that were left as failed
	left   map[string]bool // issues that were worked on
	all    bool            // all issues were asked for, by that word
}

func newCrewReporter(sess *cli.Session) *crewReporter {
	return &crewReporter{sess: sess, doing: map[string]string{}, begun: map[string]time.Time{},
		failed: map[string]bool{}, left: map[string]bool{}}
}

// event is the JSON form of what happened.
type event struct {
	Type string    `json:"type"`
	At   time.Time `json:"at"`
	runner.Happened
	Error string `json:"error,omitempty"`
}

func (t *crewReporter) tell(h runner.Happened) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch h.What {
	case runner.DidTake:
		t.begun[h.Issue] = time.Now()
	case runner.DidLeave:
		t.left[h.Issue] = true
		t.failed[h.Issue] = h.State == string(board.IssueFailed)
		delete(t.doing, h.Issue)
	case runner.DidWork:
		t.doing[h.Issue] = t.effect(h)
	}
	if t.sess.JSON {
		e := event{Type: "worker", At: t.sess.Workspace.Kernel.Now(), Happened: h}
		if h.Err != nil {
			e.Error = cli.Explain(t.sess.Printer, h.Err)
		}
		_ = t.sess.PrintLine(e)
		return
	}
	if line := t.line(h); line != "" {
		t.sess.Say(line)
	}
	t.draw()
}

// effect says what a worker is doing.
func (t *crewReporter) effect(h runner.Happened) string {
	text := t.sess.Text("cli.effect." + string(h.Effect))
	if h.Line != "" {
		text += "  " + cli.Display(t.sess.Wordy(h.Line))
	}
	return text
}

// maxReason is how many lines are given to what an issue is blocked by. All of it is in pawl status.
const maxReason = 2

// line is what happened on one line, or "" where there is nothing to say.
func (t *crewReporter) line(h runner.Happened) string {
	who, issue := t.sess.Style.Dim(t.sess.Text("issue.live.worker", short(h.Owner))), t.sess.Style.Bold(h.Issue)
	switch h.What {
	case runner.DidTake:
		key := "issue.live.executes"
		if h.Planning {
			key = "issue.live.plans"
		}
		return t.sess.Style.Arrow() + " " + issue + "  " + t.sess.Text(key) + "  " + who
	case runner.DidLeave:
		line := t.ended(h, issue) + "  " + who
		if h.Err != nil {
			const indent = 4
			why := term.Hang(cli.Explain(t.sess.Printer, h.Err), indent, t.sess.Std.Width, maxReason,
				t.sess.Style.Ellipsis())
			line += "\n" + strings.Repeat(" ", indent) + strings.Join(why, "\n")
		}
		return line
	case runner.DidRetry:
		return t.sess.Style.Warn() + " " + issue + "  " + t.sess.Text("issue.live.retried") + "  " + who
	case runner.DidEvict:
		return t.sess.Style.Warn() + " " + issue + "  " + t.sess.Text("issue.live.evicted", h.Owner)
	case runner.DidWait:
		if issue = t.sess.Style.Warn() + " " + issue; h.Issue == "" {
			issue = t.sess.Style.Warn()
		}
		return issue + "  " + cli.Explain(t.sess.Printer, h.Err) + "  " + who + "\n    " +
			nextStep(t.sess.Printer, h.Err)
	case runner.DidStumble:
		return t.sess.Style.Bad() + " " + issue + "  " + cli.Explain(t.sess.Printer, h.Err) + "  " + who
	}
	return ""
}

// nextStep says what to do about an error, on one line and escaped, or "".
func nextStep(pr *cli.Printer, err error) string {
	hint := cli.Describe(pr, err).Hint
	if hint == "" {
		return ""
	}
	return pr.Style.Cyan(pr.Text("cli.next")) + hint
}

// ended says how an issue was left.
func (t *crewReporter) ended(h runner.Happened, issue string) string {
	took := t.sess.Style.Dim(time.Since(t.begun[h.Issue]).Round(100 * time.Millisecond).String())
	text := func(symbol, key string) string { return symbol + " " + issue + "  " + t.sess.Text(key) + "  " + took }
	switch {
	case h.State == string(board.IssueCompleted):
		line := text(t.sess.Style.OK(), "issue.live.completed")
		if h.Branch != "" {
			line += "  " + t.sess.Text("issue.live.landed", h.Branch)
		}
		return line
	case h.State == string(board.IssueFailed):
		return text(t.sess.Style.Bad(), "issue.live.failed")
	case h.Rest == runner.StopApproval:
		return text(t.sess.Style.Warn(), "issue.live.approval")
	case h.Rest == runner.StopQuestion:
		return text(t.sess.Style.Warn(), "issue.live.question")
	case h.Rest == runner.StopBlocked:
		return text(t.sess.Style.Warn(), "issue.live.blocked")
	case h.Rest == runner.StopPlanned:
		return text(t.sess.Style.OK(), "issue.live.planned")
	}
	return text(t.sess.Style.Dot(), "issue.live.left")
}

// short is the number of a worker in its process.
func short(owner string) string { return owner[strings.LastIndexByte(owner, '/')+1:] }

// draw sets the live line: what each worker does.
func (t *crewReporter) draw() {
	var parts []string
	for _, issue := range slices.Sorted(maps.Keys(t.doing)) {
		parts = append(parts, issue+" "+t.doing[issue])
	}
	t.sess.Status(strings.Join(parts, "   "), t.sess.Style.Dim)
}

// interrupted says at once that the workers are ending.
func (t *crewReporter) interrupted() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.sess.JSON {
		t.sess.Say(t.sess.Style.Warn() + " " + t.sess.Text("issue.live.interrupted"))
	}
}

func (t *crewReporter) done() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sess.Status("", nil)
}

// failures counts the issues that were worked on here and are failed.
func (t *crewReporter) failures() int {
	n := 0
	for _, failed := range t.failed {
		if failed {
			n++
		}
	}
	return n
}

// maxNamed is how many issues are named in a list of those that need a person.
const maxNamed = 20

// reportRest says what came of it and what is left for a person. The error tells the exit status: some issues failed,
// one that was named could not be worked on, or all were to be carried out and some wait for an answer.
func reportRest(ctx context.Context, sess *cli.Session, o runner.PoolOptions, t *crewReporter,
	chosen []*view.Issue) error {
	var errs []error
	for _, c := range chosen {
		if t.left[c.Label] {
			continue
		}
		if err := whyIdle(ctx, sess, c.ID, o); err != nil {
			errs = append(errs, err)
			if !sess.JSON {
				sess.Note(sess.Style.Bad() + " " + cli.Explain(sess.Printer, err))
			}
		}
	}
	asking, err := askingIssues(ctx, sess, chosen)
	if err != nil {
		return err
	}
	if err := printSummary(ctx, sess, t, asking); err != nil {
		return err
	}
	if n := t.failures(); n > 0 {
		errs = append(errs, pawl.Fail(pawl.CodeChecksFailed, "issue.failed", n))
	}
	if t.all && o.Execute && len(asking) > 0 && len(errs) == 0 {
		left := pawl.Fail(pawl.CodeApprovalNeeded, "issue.left_asking", len(asking))
		if errs = append(errs, left); !sess.JSON {
			cli.Remark(sess.Printer, left)
		}
	}
	return told(errs)
}

// whyIdle says why nothing was done for an issue that was named, or returns nil where nothing was to be done.
func whyIdle(ctx context.Context, sess *cli.Session, id string, o runner.PoolOptions) error {
	found, err := sess.Ask().Board().ByID(ctx, []string{id})
	if err != nil || len(found) == 0 {
		return err
	}
	i := found[0]
	switch state := i.Status; {
	case state == board.IssueCompleted:
		return nil
	case state == board.IssuePlanned && !o.Execute && i.Owner == "":
		return nil // it has its plan
	case state == board.IssueRegistered && !o.Plan:
		return pawl.Fail(pawl.CodeInvalidTransition, "issue.unplanned", i.Label)
	case state == board.IssueFailed:
		return pawl.Fail(pawl.CodeInvalidTransition, "issue.is_failed", i.Label)
	}
	switch i.Standing {
	case view.StandingWorking:
		return pawl.Fail(pawl.CodeBusy, "kernel.issue_taken", i.Label, i.Owner)
	case view.StandingPaused:
		return pawl.Fail(pawl.CodeBlocked, "kernel.issue_paused", i.Label)
	case view.StandingAsks:
		return pawl.Fail(pawl.CodeApprovalNeeded, "kernel.issue_asks", i.Label)
	case view.StandingWaits, view.StandingBlocked:
		return pawl.Fail(pawl.CodeBlocked, "kernel.issue_waits", i.Label, i.Open)
	}
	return pawl.Fail(pawl.CodeInvalidTransition, "kernel.issue_not_ready", i.Label, string(i.Status))
}

// askingIssues lists issues that wait for a person: those that were chosen, or the first of all.
func askingIssues(ctx context.Context, sess *cli.Session, chosen []*view.Issue) ([]*view.Issue, error) {
	var out []*view.Issue
	if len(chosen) > 0 {
		ids := make([]string, len(chosen))
		for n, i := range chosen {
			ids[n] = i.ID
		}
		found, err := sess.Ask().Board().ByID(ctx, ids)
		for _, i := range found {
			if i.Standing == view.StandingAsks {
				out = append(out, i)
			}
		}
		return out, err
	}
	return sess.Ask().Board().Asking(ctx, maxNamed+1)
}

// printSummary prints how the board stands.
func printSummary(ctx context.Context, sess *cli.Session, t *crewReporter, asking []*view.Issue) error {
	counts, err := sess.Ask().Board().Counts(ctx)
	if err != nil {
		return err
	}
	if sess.JSON {
		labels := []string{}
		for _, i := range asking {
			labels = append(labels, i.Label)
		}
		return sess.PrintLine(map[string]any{"type": "result", "issues": counts.Total, "by_status": counts.ByStatus,
			"worked_on": len(t.left), "failed": t.failures(), "waiting_for_a_person": labels})
	}
	sess.Say(countLine(sess.Printer, counts))
	for n, i := range asking {
		if n == maxNamed {
			sess.Say("  " + sess.Text("issue.more"))
			break
		}
		sess.Say("  " + sess.Style.Warn() + " " + i.Label + "  " + sess.Text("issue.asks_person", i.Label))
	}
	return nil
}

// countLine is the number of issues by status on one line.
func countLine(pr *cli.Printer, counts view.IssueCounts) string {
	parts := []string{pr.Text("issue.count", counts.Total)}
	for _, s := range board.Issue.States() {
		if n := counts.ByStatus[s]; n > 0 {
			parts = append(parts, statusText(pr, s)+" "+strconv.Itoa(n))
		}
	}
	return strings.Join(parts, " "+pr.Style.Middle()+" ")
}

// statusText is a status in its colour.
func statusText(pr *cli.Printer, s board.IssueStatus) string {
	switch s {
	case board.IssueCompleted:
		return pr.Style.Green(string(s))
	case board.IssueFailed:
		return pr.Style.Red(string(s))
	case board.IssuePlanning, board.IssueExecuting:
		return pr.Style.Cyan(string(s))
	}
	return string(s)
}
