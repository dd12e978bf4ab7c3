// Package tasks is `pawl task` and `pawl context`: tasks that are looked at and moved one by one, and the operations of
// the context manager.
package tasks

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"pawl"
	"pawl/face/cli"
	"pawl/face/cli/auditlog"
	"pawl/face/cli/term"
	"pawl/face/tui"
	"pawl/kernel"
	"pawl/kernel/control"
	"pawl/kernel/planning"
	"pawl/kernel/query"
	"pawl/kernel/tasks"
	"pawl/kernel/view"
	"pawl/machine/task"
	"pawl/text/plan"
)

// Entries are the commands of the first level.
func Entries() []cli.Entry {
	return []cli.Entry{
		{Name: "task", Group: "look", Build: newTaskCommand},
		{Name: "context", Group: "look", Build: newContextCommand},
	}
}

// Cancel cancels one task. Where it is the task of the run, what the cancel asks for is carried out.
func Cancel(ctx context.Context, a *cli.App, given, reason string) error {
	return a.With(ctx, cli.Writing(), func(sess *cli.Session) error {
		s, err := cli.FindTask(ctx, sess, given)
		if err != nil {
			return err
		}
		give := func(sess *cli.Session) error {
			return cli.DoNow(ctx, sess, &control.CancelTask{Task: s.Task.ID, Reason: reason})
		}
		at, err := sess.View(ctx)
		if err != nil {
			return err
		}
		if s.Task.Session != "" && at.Run != "" && s.Task.Parent == at.Run {
			return cli.GoOn(ctx, sess, false, []string{"canceled", "skipped"}, give)
		}
		if err := give(sess); err != nil {
			return err
		}
		return Print(ctx, sess, s.Task.ID)
	})
}

func newTaskCommand(a *cli.App) *cobra.Command {
	return a.Group("task", "cli.task",
		newTaskCreateCommand(a), newTaskListCommand(a), newTaskShowCommand(a),
		moveCommand(a, "approve", task.Approved), moveCommand(a, "queue", task.Queued), newTaskCancelCommand(a),
		moveCommand(a, "retry", task.Queued, task.Failed), moveCommand(a, "unblock", task.Queued, task.Blocked),
		newTaskRestartCommand(a), newTaskLogCommand(a), newTaskMoveCommand(a))
}

func newTaskCreateCommand(a *cli.App) *cobra.Command {
	var k tasks.CreateTask
	c := a.Command("create TITLE", "cli.task.create", "  pawl task create \"measure the start-up time\" --mode test",
		cli.Exactly(1), nil)
	c.RunE = func(c *cobra.Command, args []string) error {
		return a.With(c.Context(), cli.Writing(), func(sess *cli.Session) error {
			k.Title, k.Place = args[0], cli.WorkPlace(sess.Workspace.Place, true)
			out, err := sess.Do(c.Context(), &k)
			if err != nil {
				return err
			}
			return Print(c.Context(), sess, cli.ID(out))
		})
	}
	c.Flags().StringVar(&k.Mode, "mode", "", a.Text("cli.flag.task_mode"))
	c.Flags().StringSliceVar(&k.Gates, "gate", nil, a.Text("cli.flag.gate"))
	return c
}

// Print prints where a task stands after a command.
func Print(ctx context.Context, sess *cli.Session, id string) error {
	s, err := sess.Workspace.Kernel.TaskSnapshot(ctx, id)
	if err != nil {
		return err
	}
	if sess.JSON {
		return sess.PrintJSON(query.TaskOf(s.Task, s.Config))
	}
	sess.Say(taskLine(sess.Printer, query.LineOf(s.Task), cli.ListWidth(sess.Printer)))
	return nil
}

// taskLine is a task on one line, in columns that do not depend on the other lines. With width above 0 the title is cut
// so that the line fits.
func taskLine(pr *cli.Printer, t view.TaskLine, width int) string {
	title, exit := cli.Display(cli.FirstLine(t.Title)), ""
	if t.Exit != "" {
		exit = "  " + cli.Display(t.Exit)
	}
	label := term.Pad(cli.Display(t.Label), 8) + "  "
	if width > 0 {
		title = term.Clip(title, max(width-term.Width(label)-11-term.Width(exit), 8), pr.Style.Ellipsis())
	}
	return label + taskStateText(pr, t.State) + strings.Repeat(" ", max(0, 9-len(t.State))) + "  " + title +
		pr.Style.Dim(exit)
}

func taskStateText(pr *cli.Printer, s task.State) string {
	switch s {
	case task.Done, task.Verified:
		return pr.Style.Green(string(s))
	case task.Failed, task.Blocked:
		return pr.Style.Red(string(s))
	case task.Running, task.Verifying, task.Queued:
		return pr.Style.Cyan(string(s))
	}
	return string(s)
}

func newTaskListCommand(a *cli.App) *cobra.Command {
	var states []string
	var limit int
	var wide bool
	c := a.Command("list", "cli.task.list",
		"  pawl task list\n  pawl task list --wide\n  pawl task list --state failed,blocked\n  pawl task list --json --limit 10", cli.Exactly(0), nil)
	c.RunE = func(c *cobra.Command, _ []string) error {
		page := query.Page{Limit: limit}
		for _, s := range states {
			state, err := task.Parse(s)
			if err != nil {
				return err
			}
			page.States = append(page.States, string(state))
		}
		if limit < 0 {
			return cli.Usage("cli.flag_invalid", fmt.Sprint(limit), "--limit", "0 …")
		}
		return a.With(c.Context(), cli.Reading(),
			func(sess *cli.Session) error { return listTasks(c.Context(), sess, page, wide) })
	}
	c.Flags().BoolVarP(&wide, "wide", "w", false, a.Text("cli.flag.wide"))
	c.Flags().StringSliceVar(&states, "state", nil, a.Text("cli.flag.state"))
	c.Flags().IntVar(&limit, "limit", 0, a.Text("cli.flag.limit"))
	return c
}

// listTasks streams tasks: the first one is written at once, the rest through a buffer, and none is kept.
func listTasks(ctx context.Context, sess *cli.Session, page query.Page, wide bool) error {
	width := cli.ListWidth(sess.Printer)
	if wide {
		width = 0
	}
	out := bufio.NewWriterSize(sess.Std.Out, 32<<10)
	n := 0
	for t, err := range sess.Ask().Tasks(ctx, page) {
		if err != nil {
			return err
		}
		if err := listTask(sess.Printer, out, t.Value, width); err != nil {
			return err
		}
		if n++; n == 1 {
			if err := out.Flush(); err != nil {
				return err
			}
		}
	}
	if n == 0 && !sess.JSON {
		sess.Note(sess.Text("cli.task.none"))
	}
	return out.Flush()
}

func listTask(pr *cli.Printer, out *bufio.Writer, line view.TaskLine, width int) error {
	if !pr.JSON {
		_, err := out.WriteString(taskLine(pr, line, width) + "\n")
		return err
	}
	raw, err := json.Marshal(line)
	if err == nil {
		_, err = out.Write(append(raw, '\n'))
	}
	return err
}

func newTaskShowCommand(a *cli.App) *cobra.Command {
	var long bool
	c := a.Command("show [TASK]", "cli.task.show", "  pawl task show T-001\n  pawl task show T-001 --long",
		cli.Between(0, 1), func(c *cobra.Command, args []string) error {
			return a.With(c.Context(), cli.Reading(), func(sess *cli.Session) error {
				s, err := taskOrCurrent(c.Context(), sess, args)
				if err != nil {
					return err
				}
				v := query.TaskOf(s.Task, s.Config)
				if a.JSON {
					return a.PrintJSON(v)
				}
				showTask(sess, v, s.Task.Title, long)
				return nil
			})
		})
	c.Flags().BoolVar(&long, "long", false, a.Text("cli.flag.long"))
	return c
}

// taskOrCurrent finds the named task, or the one of the run in progress or of the last run.
func taskOrCurrent(ctx context.Context, sess *cli.Session, args []string) (*kernel.Snapshot, error) {
	if len(args) > 0 {
		return cli.FindTask(ctx, sess, args[0])
	}
	if _, err := sess.View(ctx); err != nil {
		return nil, err
	}
	s, err := sess.Workspace.Kernel.Snapshot(ctx)
	if err != nil || s.Task != nil {
		return s, err
	}
	if cli.Picks(sess.Printer) {
		name, err := cli.Pick(ctx, sess.Printer, nil, "cli.pick.task", func() (out []tui.Item, err error) {
			for t, err := range sess.Ask().Tasks(ctx, query.Page{Limit: cli.MaxPicked}) {
				if err != nil {
					return nil, err
				}
				out = append(out, tui.Item{ID: t.Value.Label, Title: t.Value.Title, Note: string(t.Value.State)})
			}
			return out, nil
		})
		if err != nil {
			return nil, err
		}
		return cli.FindTask(ctx, sess, name)
	}
	if s, err = sess.Workspace.Kernel.LastRun(ctx); err == nil && s.Task == nil {
		err = cli.Usage("cli.task.which")
	}
	return s, err
}

func showTask(sess *cli.Session, v view.Task, title string, long bool) {
	head := v.Label + "  " + string(v.State) + "  "
	for i, l := range term.Hang(cli.Display(cli.FirstLine(title)), len(head), sess.Std.Width, cli.MaxTitle,
		sess.Style.Ellipsis()) {
		if i == 0 {
			l = sess.Style.Bold(v.Label) + "  " + taskStateText(sess.Printer, v.State) + "  " + l
		}
		sess.Say(l)
	}
	var t term.Table
	row := func(key, text string) {
		if text != "" {
			t.Painted(sess.Style.Dim, "  "+sess.Text(key), text)
		}
	}
	row("cli.task.id", v.ID)
	row("cli.task.mode", v.Mode)
	row("cli.task.by", cli.Display(string(v.By)))
	row("cli.task.created", sess.Clock(v.CreatedAt))
	if !v.EndedAt.IsZero() {
		row("cli.task.ended", sess.Clock(v.EndedAt))
	}
	if long {
		row("cli.task.hash", v.PlanHash)
	} else {
		row("cli.task.hash", cli.Short(v.PlanHash))
	}
	row("cli.task.gates", cli.Display(strings.Join(v.Gates, ", ")))
	row("cli.task.exit", cli.Display(v.Exit))
	if v.Retries.Count > 0 {
		row("cli.task.retries", fmt.Sprintf("%d / %d", v.Retries.Count, v.Retries.Max))
	}
	if v.Fixes > 0 {
		row("cli.status.attempts", fmt.Sprint(v.Fixes))
	}
	if v.Lease != nil {
		row("cli.task.lease", cli.Display(v.Lease.Owner)+"  "+sess.Clock(v.Lease.Expires))
	}
	row("cli.task.checkpoint", cli.Display(v.Checkpoint))
	row("cli.task.restarted", v.Restart)
	if v.Blocked != nil {
		row("cli.status.blocked", cli.ReasonText(sess.Printer, v.Blocked.Error.Key, v.Blocked.Error.Args,
			v.Blocked.Error.Cause))
	}
	width := sess.Std.Width
	if long {
		width = 0 // what is asked for in full is not broken either
	}
	sess.SayTable(&t, width)
	var steps []view.SummaryStep
	for _, s := range v.Steps {
		steps = append(steps, view.SummaryStep{StepLine: s})
	}
	cli.PrintSection(sess.Printer, "cli.task.steps", cli.StepLines(sess.Printer, steps))
	sum := view.Summary{}
	for _, e := range []*view.Evidence{v.Verified, v.Gate} {
		if e != nil {
			sum.Verification = append(sum.Verification, *e)
		}
	}
	cli.PrintSection(sess.Printer, "cli.sum.shown", cli.ProofLines(sess.Printer, v.Proof))
	cli.PrintSection(sess.Printer, "cli.sum.review", cli.ReviewLines(sess.Printer, v.Reviews))
	cli.PrintSection(sess.Printer, "cli.sum.disputed", cli.DisputedLines(sess.Printer, v.Disputed))
	cli.PrintSection(sess.Printer, "cli.sum.verified", cli.EvidenceLines(sess.Printer, sum))
	if n := len(v.Failures); n > 0 {
		f := v.Failures[n-1]
		cli.PrintSection(sess.Printer, "cli.task.failure",
			append([]string{"  " + cli.Display(f.What)}, cli.FailureLines(sess.Printer, f)...))
	}
	cli.PrintSection(sess.Printer, "cli.sum.result", cli.LandingLines(sess.Printer, v.Land))
}

func newTaskCancelCommand(a *cli.App) *cobra.Command {
	var reason string
	c := a.Command("cancel TASK", "cli.task.cancel", "  pawl task cancel T-003 -m \"not needed\"", cli.Exactly(1), nil)
	c.RunE = func(c *cobra.Command, args []string) error { return Cancel(c.Context(), a, args[0], reason) }
	c.Flags().StringVarP(&reason, "message", "m", "", a.Text("cli.flag.reason"))
	return c
}

func newTaskRestartCommand(a *cli.App) *cobra.Command {
	return a.Command("restart TASK", "cli.task.restart", "  pawl task restart T-003", cli.Exactly(1),
		func(c *cobra.Command, args []string) error {
			return a.With(c.Context(), cli.Writing(), func(sess *cli.Session) error {
				s, err := cli.FindTask(c.Context(), sess, args[0])
				if err != nil {
					return err
				}
				if s.Task.Session != "" && s.Task.Plan != nil {
					return again(c.Context(), sess, s)
				}
				out, err := sess.Do(c.Context(), &tasks.RestartTask{Task: s.Task.ID})
				if err != nil {
					return err
				}
				return Print(c.Context(), sess, cli.ID(out))
			})
		})
}

// again takes the plan of a task up once more whose run is over. It is judged and approved as any other, and its task
// says which one it comes from (docs/spec/task.md#restart).
func again(ctx context.Context, sess *cli.Session, s *kernel.Snapshot) error {
	t := s.Task
	now, err := sess.Workspace.Kernel.Snapshot(ctx)
	issue, _, _ := strings.Cut(strings.TrimPrefix(t.Label, "T-"), ".")
	switch {
	case err != nil:
		return err
	case !task.State(t.State).Terminal():
		return pawl.Fail(pawl.CodeInvalidTransition, "kernel.restart_when_ended", t.Label, t.State)
	case now.Session != nil && now.Session.ID != t.Session:
		return pawl.Fail(pawl.CodeInvalidTransition, "cli.task.of_issue", t.Label, issue)
	}
	p := plan.Planned(*t.Plan)
	p.PlanID, p.CreatedAt = "", plan.Instant{}
	for i := range p.Steps {
		p.Steps[i].Status = plan.Pending
	}
	raw, err := json.Marshal(p)
	if err != nil {
		return pawl.Fail(pawl.CodeInternal, "cli.flow.plan").Because(err)
	}
	start := &planning.Start{Requirement: p.Goal, Given: raw, Name: t.Label + ".json", RunMode: sess.Config.RunMode,
		Place: cli.WorkPlace(sess.Workspace.Place, t.Place.InPlace), Lang: string(sess.Lang), Restart: t.ID}
	start.Agent, start.Planner, start.Reviewer = sess.Config.Cast()
	if r := s.Run; r != nil && sess.Config.Agent == "" {
		start.Agent, start.Planner, start.Reviewer = r.Agent, r.Planner, r.Reviewer
	}
	return cli.GoOn(ctx, sess, false, []string{"completed"}, func(sess *cli.Session) error {
		_, err := sess.Do(ctx, start)
		return err
	})
}

func newTaskLogCommand(a *cli.App) *cobra.Command {
	return auditlog.NewLogCommand(a, "log TASK", "cli.task.log", "  pawl task log T-001", cli.Exactly(1))
}

// moveCommand is one of the seed's service methods that are a single transition: to a state, and only out of some
// states where the name of the method says so.
func moveCommand(a *cli.App, name string, to task.State, from ...task.State) *cobra.Command {
	var reason string
	c := a.Command(name+" TASK", "cli.task."+name, "  pawl task "+name+" T-003", cli.Exactly(1), nil)
	c.RunE = func(c *cobra.Command, args []string) error {
		return a.With(c.Context(), cli.Writing(), func(sess *cli.Session) error {
			m := move{to: to, reason: reason, from: from}
			return moveTask(c.Context(), sess, args[0], m)
		})
	}
	c.Flags().StringVarP(&reason, "message", "m", "", a.Text("cli.flag.reason"))
	return c
}

// move is a transition that a person asks for.
type move struct {
	to     task.State
	from   []task.State // states that the command is meant for, any when empty
	as     pawl.ActorKind
	reason string
	exit   string
	strict bool
	meta   string
}

func newTaskMoveCommand(a *cli.App) *cobra.Command {
	var m move
	var to, as string
	c := a.Command("move TASK --to STATE", "cli.task.move",
		"  pawl task move T-003 --to approved\n  pawl task move T-003 --to failed --as runner --exit-reason timeout",
		cli.Exactly(1), nil)
	c.RunE = func(c *cobra.Command, args []string) error {
		var err error
		if m.to, err = task.Parse(to); err != nil {
			return err
		}
		kinds := []pawl.ActorKind{pawl.KindUser, pawl.KindSystem, pawl.KindRunner, pawl.KindVerifier,
			pawl.KindGateRunner, pawl.KindPolicy}
		m.as = pawl.ActorKind(as)
		if !slices.Contains(kinds, m.as) {
			return cli.Usage("cli.flag_invalid", as, "--as", "user|system|runner|verifier|gate_runner|policy")
		}
		if m.exit != "" && !task.ExitReason(m.exit).Valid() {
			return cli.Usage("cli.flag_invalid", m.exit, "--exit-reason", cli.Joined(task.ExitReasons()))
		}
		return a.With(c.Context(), cli.Writing(),
			func(sess *cli.Session) error { return moveTask(c.Context(), sess, args[0], m) })
	}
	c.Flags().StringVar(&to, "to", "", a.Text("cli.flag.to"))
	c.Flags().StringVar(&as, "as", string(pawl.KindUser), a.Text("cli.flag.as"))
	c.Flags().StringVar(&m.reason, "reason", "", a.Text("cli.flag.reason"))
	c.Flags().StringVar(&m.exit, "exit-reason", "", a.Text("cli.flag.exit_reason"))
	c.Flags().StringVar(&m.meta, "metadata", "", a.Text("cli.flag.metadata"))
	c.Flags().BoolVar(&m.strict, "strict", false, a.Text("cli.flag.strict_move"))
	return c
}

// moveTask gives transition() (docs/spec/task.md#s4-1). For verified the gates are run first, because nothing else is
// evidence.
func moveTask(ctx context.Context, sess *cli.Session, given string, m move) error {
	s, err := cli.FindTask(ctx, sess, given)
	if err != nil {
		return err
	}
	t := s.Task
	if len(m.from) > 0 && !slices.Contains(m.from, task.State(t.State)) && t.State != string(m.to) {
		return pawl.Fail(pawl.CodeInvalidTransition, "cli.task_wrong_state", t.Label, t.State, cli.Joined(m.from))
	}
	if m.to == task.Verified && t.State == string(task.Verifying) && t.Session == "" {
		if err := runGates(ctx, sess, t); err != nil {
			return err
		}
		if s, err = cli.FindTask(ctx, sess, t.ID); err != nil {
			return err
		}
		if t = s.Task; t.GateFault != nil {
			return t.GateFault.Err()
		}
	}
	if m.as == "" {
		m.as = pawl.KindUser
	}
	by := sess.App.Actor()
	name := by.Name()
	holder := "cli:" + name
	c := &kernel.Transition{Task: t.ID, To: m.to, Reason: m.reason, Exit: task.ExitReason(m.exit), Owner: holder,
		Check: m.strict, Metadata: []byte(m.meta)}
	if t.Lease.Owner == holder {
		c.Token = t.Epoch
	}
	if by.Kind() != pawl.KindAutomation || m.as != pawl.KindUser && m.as != pawl.KindPolicy {
		by = pawl.By(m.as, name)
	}
	out, err := sess.DoAs(ctx, by, c)
	if err != nil {
		return err
	}
	if !out.Changed && !sess.JSON {
		sess.Note(sess.Text("cli.task.already", t.Label, string(m.to)))
	}
	return Print(ctx, sess, t.ID)
}

// runGates runs the gates of a task that is moved by hand.
func runGates(ctx context.Context, sess *cli.Session, t *kernel.Task) error {
	release, err := sess.MustOwn()
	if err != nil {
		return err
	}
	defer release()
	v := cli.NewDrive(sess)
	out, err := sess.Do(ctx, &tasks.RequestGates{Task: t.ID})
	if err != nil {
		return err
	}
	return v.Effect(ctx, cli.ID(out))
}
