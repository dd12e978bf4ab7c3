package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"pawl"
	"pawl/cli/term"
	"pawl/kernel"
	"pawl/machine/task"
	"pawl/view"
)

func newTaskCommand(a *app) *cobra.Command {
	return a.group("task", "cli.task",
		newTaskCreateCommand(a), newTaskListCommand(a), newTaskShowCommand(a),
		moveCommand(a, "approve", task.Approved), moveCommand(a, "queue", task.Queued), newTaskCancelCommand(a),
		moveCommand(a, "retry", task.Queued, task.Failed), moveCommand(a, "unblock", task.Queued, task.Blocked),
		newTaskRestartCommand(a), newTaskLogCommand(a), newTaskMoveCommand(a))
}

func newTaskCreateCommand(a *app) *cobra.Command {
	var k kernel.CreateTask
	c := a.command("create TITLE", "cli.task.create", "  pawl task create \"measure the start-up time\" --mode test", exactly(1), nil)
	c.RunE = func(c *cobra.Command, args []string) error {
		return a.with(c.Context(), writing(), func(d *desk) error {
			k.Title, k.Place = args[0], workPlace(d.ws.Place, true)
			out, err := d.do(c.Context(), &k)
			if err != nil {
				return err
			}
			return d.printTask(c.Context(), id(out))
		})
	}
	c.Flags().StringVar(&k.Mode, "mode", "", a.text("cli.flag.task_mode"))
	c.Flags().StringSliceVar(&k.Gates, "gate", nil, a.text("cli.flag.gate"))
	return c
}

// printTask prints where a task stands after a command.
func (d *desk) printTask(ctx context.Context, id string) error {
	s, err := d.ws.Kernel.LookAt(ctx, id)
	if err != nil {
		return err
	}
	if d.flags.json {
		return d.printJSON(s.Task.View(s.Config))
	}
	d.say(d.taskLine(s.Task.Line(), d.screen()))
	return nil
}

// taskLine is a task on one line, in columns that do not depend on the other lines. With width above 0 the title is cut so
// that the line fits.
func (a *voice) taskLine(t view.TaskLine, width int) string {
	title, exit := display(firstLine(t.Title)), ""
	if t.Exit != "" {
		exit = "  " + display(t.Exit)
	}
	label := term.Pad(display(t.Label), 8) + "  "
	if width > 0 {
		title = term.Clip(title, max(width-term.Width(label)-11-term.Width(exit), 8), a.style.Ellipsis())
	}
	return label + a.taskState(t.State) + strings.Repeat(" ", max(0, 9-len(t.State))) + "  " + title + a.style.Dim(exit)
}

// screen is the width to which lists are cut: that of the terminal, and none where the output goes elsewhere.
func (a *terminal) screen() int {
	if a.std.TTY {
		return a.std.Width
	}
	return 0
}

func (a *voice) taskState(s task.State) string {
	switch s {
	case task.Done, task.Verified:
		return a.style.Green(string(s))
	case task.Failed, task.Blocked:
		return a.style.Red(string(s))
	case task.Running, task.Verifying, task.Queued:
		return a.style.Cyan(string(s))
	}
	return string(s)
}

func newTaskListCommand(a *app) *cobra.Command {
	var states []string
	var limit int
	var wide bool
	c := a.command("list", "cli.task.list", "  pawl task list\n  pawl task list --wide\n  pawl task list --state failed,blocked\n  pawl task list --json --limit 10", exactly(0), nil)
	c.RunE = func(c *cobra.Command, _ []string) error {
		sel := kernel.Select{Kind: kernel.KindTask, Limit: limit}
		for _, s := range states {
			state, err := task.Parse(s)
			if err != nil {
				return err
			}
			sel.States = append(sel.States, string(state))
		}
		if limit < 0 {
			return usage("cli.flag_invalid", fmt.Sprint(limit), "--limit", "0 …")
		}
		return a.with(c.Context(), reading(), func(d *desk) error { return tasks{d}.listTasks(c.Context(), sel, wide) })
	}
	c.Flags().BoolVarP(&wide, "wide", "w", false, a.text("cli.flag.wide"))
	c.Flags().StringSliceVar(&states, "state", nil, a.text("cli.flag.state"))
	c.Flags().IntVar(&limit, "limit", 0, a.text("cli.flag.limit"))
	return c
}

// tasks lists, shows and moves tasks.
type tasks struct{ *desk }

// listTasks streams tasks: the first one is written at once, the rest through a buffer, and none is kept.
func (d tasks) listTasks(ctx context.Context, sel kernel.Select, wide bool) error {
	width := d.screen()
	if wide {
		width = 0
	}
	out := bufio.NewWriterSize(d.std.Out, 32<<10)
	n := 0
	for row, err := range d.ws.Kernel.Store().Scan(ctx, sel) {
		if err != nil {
			return err
		}
		if err := d.listTask(out, row, width); err != nil {
			return err
		}
		if n++; n == 1 {
			if err := out.Flush(); err != nil {
				return err
			}
		}
	}
	if n == 0 && !d.flags.json {
		d.note(d.text("cli.task.none"))
	}
	return out.Flush()
}

func (d tasks) listTask(out *bufio.Writer, row kernel.Row, width int) error {
	t := &kernel.Task{}
	if err := kernel.Decode(row, t); err != nil {
		return err
	}
	line := t.Line()
	if !d.flags.json {
		_, err := out.WriteString(d.taskLine(line, width) + "\n")
		return err
	}
	raw, err := json.Marshal(line)
	if err == nil {
		_, err = out.Write(append(raw, '\n'))
	}
	return err
}

func newTaskShowCommand(a *app) *cobra.Command {
	var long bool
	c := a.command("show [TASK]", "cli.task.show", "  pawl task show T-001\n  pawl task show T-001 --long", between(0, 1), func(c *cobra.Command, args []string) error {
		return a.with(c.Context(), reading(), func(d *desk) error {
			s, err := d.taskOrCurrent(c.Context(), args)
			if err != nil {
				return err
			}
			v := s.Task.View(s.Config)
			if a.flags.json {
				return a.printJSON(v)
			}
			tasks{d}.showTask(v, s.Task.Title, long)
			return nil
		})
	})
	c.Flags().BoolVar(&long, "long", false, a.text("cli.flag.long"))
	return c
}

// taskOrCurrent finds the named task, or the one of the run in progress or of the last run.
func (d *desk) taskOrCurrent(ctx context.Context, args []string) (*kernel.Snapshot, error) {
	if len(args) > 0 {
		return d.task(ctx, args[0])
	}
	if _, err := d.session(ctx); err != nil {
		return nil, err
	}
	s, err := d.ws.Kernel.Look(ctx)
	if err != nil || s.Task != nil {
		return s, err
	}
	if s, err = d.ws.Kernel.LookLast(ctx); err == nil && s.Task == nil {
		err = usage("cli.task.which")
	}
	return s, err
}

func (d tasks) showTask(v view.Task, title string, long bool) {
	head := v.Label + "  " + string(v.State) + "  "
	for i, l := range term.Hang(display(firstLine(title)), len(head), d.std.Width, maxTitle, d.style.Ellipsis()) {
		if i == 0 {
			l = d.style.Bold(v.Label) + "  " + d.taskState(v.State) + "  " + l
		}
		d.say(l)
	}
	var t term.Table
	row := func(key, text string) {
		if text != "" {
			t.Painted(d.style.Dim, "  "+d.text(key), text)
		}
	}
	row("cli.task.id", v.ID)
	row("cli.task.mode", v.Mode)
	row("cli.task.by", display(string(v.By)))
	row("cli.task.created", d.clock(v.CreatedAt))
	if !v.EndedAt.IsZero() {
		row("cli.task.ended", d.clock(v.EndedAt))
	}
	if long {
		row("cli.task.hash", v.PlanHash)
	} else {
		row("cli.task.hash", short(v.PlanHash))
	}
	row("cli.task.gates", display(strings.Join(v.Gates, ", ")))
	row("cli.task.exit", display(v.Exit))
	if v.Retries.Count > 0 {
		row("cli.task.retries", fmt.Sprintf("%d / %d", v.Retries.Count, v.Retries.Max))
	}
	if v.Fixes > 0 {
		row("cli.status.attempts", fmt.Sprint(v.Fixes))
	}
	if v.Lease != nil {
		row("cli.task.lease", display(v.Lease.Owner)+"  "+d.clock(v.Lease.Expires))
	}
	row("cli.task.checkpoint", display(v.Checkpoint))
	row("cli.task.restarted", v.Restart)
	if v.Blocked != nil {
		row("cli.status.blocked", d.reason(v.Blocked.Error.Key, v.Blocked.Error.Args, v.Blocked.Error.Cause))
	}
	width := d.std.Width
	if long {
		width = 0 // what is asked for in full is not broken either
	}
	for _, l := range t.Lines(width) {
		d.say(l)
	}
	var steps []view.SummaryStep
	for _, s := range v.Steps {
		steps = append(steps, view.SummaryStep{StepLine: s})
	}
	d.section("cli.task.steps", d.stepLines(steps))
	sum := view.Summary{}
	for _, e := range []*view.Evidence{v.Verified, v.Gate} {
		if e != nil {
			sum.Verification = append(sum.Verification, *e)
		}
	}
	d.section("cli.sum.verified", d.evidenceLines(sum))
	if n := len(v.Failures); n > 0 {
		f := v.Failures[n-1]
		d.section("cli.task.failure", append([]string{"  " + display(f.What)}, d.failureLines(f)...))
	}
	d.section("cli.sum.result", d.landingLines(v.Land))
}

func newTaskCancelCommand(a *app) *cobra.Command {
	var reason string
	c := a.command("cancel TASK", "cli.task.cancel", "  pawl task cancel T-003 -m \"not needed\"", exactly(1), nil)
	c.RunE = func(c *cobra.Command, args []string) error { return cancelTask(c.Context(), a, args[0], reason) }
	c.Flags().StringVarP(&reason, "message", "m", "", a.text("cli.flag.reason"))
	return c
}

func newTaskRestartCommand(a *app) *cobra.Command {
	return a.command("restart TASK", "cli.task.restart", "  pawl task restart T-003", exactly(1), func(c *cobra.Command, args []string) error {
		return a.with(c.Context(), writing(), func(d *desk) error {
			s, err := d.task(c.Context(), args[0])
			if err != nil {
				return err
			}
			out, err := d.do(c.Context(), &kernel.RestartTask{Task: s.Task.ID})
			if err != nil {
				return err
			}
			return d.printTask(c.Context(), id(out))
		})
	})
}

func newTaskLogCommand(a *app) *cobra.Command {
	return logCommand(a, "log TASK", "cli.task.log", "  pawl task log T-001", exactly(1))
}

// moveCommand is one of the seed's service methods that are a single transition: to a state, and only out of some states
// where the name of the method says so.
func moveCommand(a *app, name string, to task.State, from ...task.State) *cobra.Command {
	var reason string
	c := a.command(name+" TASK", "cli.task."+name, "  pawl task "+name+" T-003", exactly(1), nil)
	c.RunE = func(c *cobra.Command, args []string) error {
		return a.with(c.Context(), writing(), func(d *desk) error {
			m := move{to: to, reason: reason, from: from}
			return tasks{d}.move(c.Context(), args[0], m)
		})
	}
	c.Flags().StringVarP(&reason, "message", "m", "", a.text("cli.flag.reason"))
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
}

func newTaskMoveCommand(a *app) *cobra.Command {
	var m move
	var to, as string
	c := a.command("move TASK --to STATE", "cli.task.move", "  pawl task move T-003 --to approved\n  pawl task move T-003 --to failed --as runner --exit-reason timeout", exactly(1), nil)
	c.RunE = func(c *cobra.Command, args []string) error {
		var err error
		if m.to, err = task.Parse(to); err != nil {
			return err
		}
		kinds := []pawl.ActorKind{pawl.KindUser, pawl.KindSystem, pawl.KindRunner, pawl.KindVerifier, pawl.KindGateRunner, pawl.KindPolicy}
		m.as = pawl.ActorKind(as)
		if !slices.Contains(kinds, m.as) {
			return usage("cli.flag_invalid", as, "--as", "user|system|runner|verifier|gate_runner|policy")
		}
		if m.exit != "" && !task.ExitReason(m.exit).Valid() {
			return usage("cli.flag_invalid", m.exit, "--exit-reason", joined(task.ExitReasons()))
		}
		return a.with(c.Context(), writing(), func(d *desk) error { return tasks{d}.move(c.Context(), args[0], m) })
	}
	c.Flags().StringVar(&to, "to", "", a.text("cli.flag.to"))
	c.Flags().StringVar(&as, "as", string(pawl.KindUser), a.text("cli.flag.as"))
	c.Flags().StringVar(&m.reason, "reason", "", a.text("cli.flag.reason"))
	c.Flags().StringVar(&m.exit, "exit-reason", "", a.text("cli.flag.exit_reason"))
	c.Flags().BoolVar(&m.strict, "strict", false, a.text("cli.flag.strict_move"))
	return c
}

func joined[T ~string](in []T) string {
	out := make([]string, len(in))
	for i, s := range in {
		out[i] = string(s)
	}
	return strings.Join(out, "|")
}

// move gives seed 003's transition(). For verified the gates are run first, because nothing else is evidence.
func (d tasks) move(ctx context.Context, given string, m move) error {
	s, err := d.task(ctx, given)
	if err != nil {
		return err
	}
	t := s.Task
	if len(m.from) > 0 && !slices.Contains(m.from, task.State(t.State)) && t.State != string(m.to) {
		return pawl.Fail(pawl.CodeInvalidTransition, "cli.task_wrong_state", t.Label, t.State, joined(m.from))
	}
	if m.to == task.Verified && t.State == string(task.Verifying) && t.Session == "" {
		if err := d.runGates(ctx, t); err != nil {
			return err
		}
	}
	if m.as == "" {
		m.as = pawl.KindUser
	}
	holder := "cli:" + d.user()
	c := &kernel.Transition{Task: t.ID, To: m.to, Reason: m.reason, Exit: task.ExitReason(m.exit), Owner: holder, Check: m.strict}
	if t.Lease.Owner == holder {
		c.Token = t.Epoch
	}
	out, err := d.doAs(ctx, pawl.By(m.as, d.user()), c)
	if err != nil {
		return err
	}
	if !out.Changed && !d.flags.json {
		d.note(d.text("cli.task.already", t.Label, string(m.to)))
	}
	return d.printTask(ctx, t.ID)
}

// runGates runs the gates of a task that is moved by hand.
func (d tasks) runGates(ctx context.Context, t *kernel.Task) error {
	release, err := d.mustOwn()
	if err != nil {
		return err
	}
	defer release()
	v := d.newDrive()
	out, err := d.do(ctx, &kernel.RequestGates{Task: t.ID})
	if err != nil {
		return err
	}
	return v.run.Effect(ctx, id(out))
}
