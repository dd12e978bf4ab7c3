// Package flow is the ~commands (docs/spec/workflow.md) on the command line: what is said to pawl is routed, and what
// it asks for is begun or answered. It decides nothing of the flow itself: the stages, the modes and who may go on are
// the kernel's.
package flow

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"pawl"
	"pawl/face/cli"
	"pawl/face/cli/agents"
	"pawl/face/cli/answers"
	"pawl/face/cli/orders"
	"pawl/face/cli/settings"
	"pawl/face/host"
	"pawl/kernel"
	"pawl/kernel/approval"
	"pawl/kernel/control"
	"pawl/kernel/planning"
	"pawl/kernel/recovery"
	"pawl/kernel/steps"
	"pawl/machine/session"
	"pawl/machine/turn"
	"pawl/machine/workflow"
	"pawl/text/knowledge"
	"pawl/text/solution"
	"pawl/text/triage"
)

// Entries are the commands of the first level.
func Entries() []cli.Entry {
	return []cli.Entry{
		{Name: "run", Group: "work", Build: newRunCommand},
		{Name: "resume", Group: "work", Build: newResumeCommand},
		{Name: "check", Group: "work", Build: orders.NewCheckCommand},
		{Name: "auto", Group: "flow", Build: newAutoCommand},
		{Name: "plan", Group: "flow", Build: newPlanCommand},
		{Name: "exec", Group: "flow", Build: newExecCommand},
		{Name: "choose", Group: "answer", Build: newChooseCommand},
		{Name: "tool", Group: "setup", Build: newToolCommand},
		{Name: cli.Say, Group: "flow", Build: newSayCommand},
		{Name: cli.Ask, Group: "flow", Build: newPromptCommand},
	}
}

// flags are those of every command that begins a flow.
type flags struct {
	yes, inPlace, unattended, replace, asIs, twice bool
	agent                                          string
	// said says that the requirement was said rather than given to a command: its stages wait for whoever is not there
	// to confirm them.
	said bool
}

func (f *flags) bind(pr *cli.Printer, c *cobra.Command) *cobra.Command {
	c.Flags().BoolVar(&f.yes, "yes", false, pr.Text("cli.flow.flag.yes"))
	c.Flags().BoolVar(&f.inPlace, "in-place", false, pr.Text("cli.flag.in_place"))
	c.Flags().BoolVar(&f.unattended, "unattended", false, pr.Text("cli.flag.unattended"))
	c.Flags().BoolVar(&f.replace, "replace", false, pr.Text("cli.flow.flag.replace"))
	c.Flags().BoolVar(&f.asIs, "as-is", false, pr.Text("cli.flow.flag.as_is"))
	c.Flags().BoolVar(&f.twice, "twice", false, pr.Text("cli.flag.twice"))
	c.Flags().StringVar(&f.agent, "agent", "", pr.Text("cli.flag.agent"))
	return c
}

// overrides are what the flags put on top of the configuration, with the agent for a requirement if nothing names one.
func (f *flags) overrides(ctx context.Context, a *cli.App, requirement string) ([]func(*settings.Config) error, error) {
	chosen, err := agents.Default(ctx, a,
		agents.Need{Agent: f.agent, Requirement: requirement, Unattended: f.unattended})
	mode := ""
	if f.unattended {
		mode = string(pawl.Autonomous)
	}
	return []func(*settings.Config) error{settings.Override("run_mode", mode), settings.Override("agent", f.agent),
		chosen, settings.Switch("verify.twice", f.twice)}, err
}

func newAutoCommand(a *cli.App) *cobra.Command {
	var f flags
	return f.bind(a.Printer, a.Command("auto REQUIREMENT", "cli.flow.auto", `  pawl auto "make go vet and the tests pass"
  pawl '~auto make go vet and the tests pass'`, cobra.MinimumNArgs(1), func(c *cobra.Command, args []string) error {
		return start(c.Context(), a, f, &planning.Start{Command: "~auto", Requirement: strings.Join(args, " ")})
	}))
}

// newPlanCommand is the group of commands about the plan, which also takes a requirement to plan.
func newPlanCommand(a *cli.App) *cobra.Command {
	var f flags
	c := answers.NewPlanCommand(a)
	group := c.RunE
	c.Use = "plan [REQUIREMENT]"
	c.Example = "  pawl plan \"add a --json flag to the list command\"\n  pawl plan show"
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return group(c, args)
		}
		return start(c.Context(), a, f, &planning.Start{Command: "~plan", Requirement: strings.Join(args, " ")})
	}
	return f.bind(a.Printer, c)
}

func newExecCommand(a *cli.App) *cobra.Command {
	var f flags
	return f.bind(a.Printer, a.Command("exec [PACKAGE]", "cli.flow.exec", `  pawl exec
  pawl exec 202602081200_add-a-flag
  pawl '~exec add-a-flag'`, cli.Between(0, 1), func(c *cobra.Command, args []string) error {
		return exec(c.Context(), a, f, strings.Join(args, " "))
	}))
}

func newSayCommand(a *cli.App) *cobra.Command {
	var f flags
	return f.bind(a.Printer, a.Command("say WORDS", "cli.flow.say", `  pawl say "~auto make the tests pass"
  pawl say "what is going on?"
  pawl '~validate'`, cobra.MinimumNArgs(1), func(c *cobra.Command, args []string) error {
		return Hear(c.Context(), a, f, strings.Join(args, " "))
	}))
}

func newChooseCommand(a *cli.App) *cobra.Command {
	var path string
	c := a.Command("choose CHOICE HASH", "cli.flow.choose", `  pawl choose silent 4f2a91cc
  pawl choose interactive 4f2a91cc
  pawl choose start 4f2a91cc --path light`, cli.Exactly(2), nil)
	c.RunE = func(c *cobra.Command, args []string) error {
		return a.With(c.Context(), cli.Writing(), func(sess *cli.Session) error {
			return cli.GoOn(c.Context(), sess, false, wanted(), func(sess *cli.Session) error {
				_, err := sess.Do(c.Context(),
					&planning.Choose{Choice: args[0], Hash: args[1], Path: workflow.Path(path)})
				return err
			})
		})
	}
	c.Flags().StringVar(&path, "path", "", a.Text("cli.flow.flag.path"))
	return c
}

// wanted are the outcomes that a flow is begun for.
func wanted() []string { return []string{"completed", kernel.OutcomePlanned} }

// Hear carries out what a person says: a command wherever it stands, an answer to what is asked, a requirement or a
// question.
func Hear(ctx context.Context, a *cli.App, f flags, words string) error {
	// Whoever asks about the work gets an answer and gives none, also while something is asked.
	if known, err := inquiry(ctx, a, words); known {
		return err
	}
	now, err := situation(ctx, a)
	if err != nil {
		return err
	}
	r, err := triage.Decide(words, now)
	if err != nil {
		return err
	}
	for _, other := range r.Others {
		a.Note(a.Style.Warn() + " " + a.Text("cli.flow.one_at_a_time", other))
	}
	switch r.Kind {
	case triage.KindCommand:
		return command(ctx, a, f, r.Command, r.Argument)
	case triage.KindUnknownCommand:
		if len(r.Near) > 0 {
			return cli.Usage("cli.flow.unknown_near", r.Command, strings.Join(r.Near, ", "))
		}
		return cli.Usage("cli.flow.unknown", r.Command)
	case triage.KindTool, triage.KindUnknownTool, triage.KindToolInput:
		if len(r.Near) > 0 {
			return cli.Usage("cli.flow.tool_near", r.Tool, strings.Join(r.Near, ", "))
		}
		return cli.Usage("cli.flow.tool", r.Tool)
	case triage.KindReply:
		return reply(ctx, a, f, r)
	case triage.KindControl:
		return hold(ctx, a, r.Control)
	case triage.KindContinue:
		return a.With(ctx, cli.Writing(), func(sess *cli.Session) error {
			return cli.GoOn(ctx, sess, false, wanted(),
				func(sess *cli.Session) error { _, err := sess.Do(ctx, &control.Resume{}); return err })
		})
	case triage.KindChange:
		f.said = true
		return start(ctx, a, f, &planning.Start{Requirement: r.Argument})
	}
	return answer(ctx, a)
}

// command carries out a command by its name.
func command(ctx context.Context, a *cli.App, f flags, name, argument string) error {
	switch name {
	case "~exec":
		return exec(ctx, a, f, argument)
	case "~auto", "~plan":
		if argument == "" {
			return cli.Usage("cli.flow.no_requirement", name)
		}
		return start(ctx, a, f, &planning.Start{Command: name, Requirement: argument})
	}
	return orders.Run(ctx, a, name, argument)
}

// situation reads what the routing has to know. A workspace that was never initialised is an idle one.
func situation(ctx context.Context, a *cli.App) (triage.Situation, error) {
	now := triage.Situation{Vars: workflow.Initial()}
	err := a.With(ctx, cli.Reading(), func(sess *cli.Session) error {
		s, err := sess.Workspace.Kernel.Snapshot(ctx)
		if err != nil || s.Session == nil {
			return err
		}
		if s.Flow != nil {
			now.Vars = s.Flow.Vars
		}
		switch asks(s) {
		case "":
		case "questions":
			now.Waiting = triage.WaitWords
		case "plan":
			now.Waiting = triage.WaitChange
		default:
			now.Waiting = triage.WaitChoice
		}
		return nil
	})
	if pawl.CodeOf(err) == pawl.CodeNotFound {
		return now, nil
	}
	return now, err
}

// asks says what the session waits for a person with: an approval, questions, help, or nothing.
func asks(s *kernel.Snapshot) string {
	switch {
	case s.Session == nil || s.Session.Run == "":
		return ""
	case s.Approval != nil && s.Approval.State == kernel.ApprovalPending && s.Approval.ID == s.Session.Approval:
		return s.Approval.About
	case s.Turn != nil && s.Turn.State == string(turn.Clarifying):
		return "questions"
	}
	return ""
}

// hold carries out the command that a word stands for. Work that is not going on cannot be stopped, only given up.
func hold(ctx context.Context, a *cli.App, c triage.Control) error {
	if c == triage.ControlStop {
		err := a.With(ctx, cli.Reading(), func(sess *cli.Session) error {
			s, err := sess.Workspace.Kernel.Snapshot(ctx)
			if err == nil && s.Session != nil && (s.Session.State == string(session.Planning) ||
				s.Session.State == string(session.Confirming)) {
				c = triage.ControlCancel
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return cli.Within(ctx, a, []string{string(c)})
}

// reply answers what the session waits for.
func reply(ctx context.Context, a *cli.App, f flags, r triage.Route) error {
	return a.With(ctx, cli.Writing(), func(sess *cli.Session) error {
		return cli.GoOn(ctx, sess, false, append(wanted(), "canceled", "declined"), func(sess *cli.Session) error {
			s, err := sess.Workspace.Kernel.Snapshot(ctx)
			if err != nil {
				return err
			}
			c := replyTo(s, r)
			yes, ok := c.(*approval.Approve)
			_, chosen := c.(*planning.Choose)
			switch {
			case chosen && !sess.Std.TTY && s.Run.AsksRisk():
				return nil // it is asked about anew
			case c == nil && asks(s) == "plan":
				return cli.Usage("cli.flow.reply_plan", cli.Display(r.Argument))
			case c == nil:
				return cli.Usage("cli.flow.reply", cli.Display(r.Argument))
			case ok && !sess.Std.TTY:
				return cli.ApproveOpen(ctx, sess, "", f.yes) // words in a pipe are nobody's word
			case ok:
				yes.Way = kernel.WayTerminal
			}
			_, err = sess.Do(ctx, c)
			return err
		})
	})
}

// replyTo is the command that a reply stands for, or nil.
func replyTo(s *kernel.Snapshot, r triage.Route) kernel.Command {
	about := asks(s)
	switch {
	case r.Choice == triage.ChoiceCancel:
		return &control.CancelRun{Reason: r.Argument}
	case about == "":
		return nil // somebody else has answered meanwhile
	case about == "questions" && (r.Choice == triage.ChoiceAsIs || r.Choice == triage.ChoiceYes):
		return &steps.AnswerQuestions{}
	case about == "questions" && len(s.Turn.Questions) == 1:
		return &steps.AnswerQuestions{Answers: []string{r.Argument}}
	case about == "questions":
		lines := slices.DeleteFunc(strings.Split(r.Argument, "\n"),
			func(l string) bool { return strings.TrimSpace(l) == "" })
		return &steps.AnswerQuestions{Answers: lines}
	case about == "stage" && r.Choice == triage.ChoiceYes:
		choice := workflow.ChooseStart
		if s.Flow.Mode.Auto() {
			choice = workflow.ChooseSilent
		}
		return &planning.Choose{Choice: choice, Hash: s.Approval.Hash}
	case r.Choice == triage.ChoiceYes:
		return &approval.Approve{Hash: s.Approval.Hash}
	case r.Choice == triage.ChoiceNo && about == "stage":
		return &control.CancelRun{Reason: r.Argument}
	case r.Choice == triage.ChoiceNo:
		return &approval.Deny{}
	case about == "plan" && r.Choice == triage.ChoiceMore:
		return &planning.Revise{Feedback: r.Argument}
	}
	return nil
}

// answer says what a person who asks can see: pawl itself knows where the work stands, and no more.
func answer(ctx context.Context, a *cli.App) error {
	a.SayText("cli.flow.question")
	if status := cli.Again(ctx, a, []string{"status"}); status != 0 && status != pawl.CodeNotFound.Info().Exit {
		return pawl.Fail(pawl.CodeInternal, "cli.flow.status", status)
	}
	return nil
}

// start begins a flow. One that is running is given up first where the person says so (docs/spec/workflow.md#c1).
func start(ctx context.Context, a *cli.App, f flags, s *planning.Start) error {
	if strings.TrimSpace(s.Requirement) == "" && s.Package == "" {
		return cli.Usage("cli.run_nothing")
	}
	overrides, err := f.overrides(ctx, a, s.Requirement)
	if err != nil {
		return err
	}
	return a.With(ctx, host.Open{Create: true, Sure: f.yes},
		func(sess *cli.Session) error { return whole(ctx, sess, f, s) }, overrides...)
}

// whole begins a flow and works on it, and brings the knowledge base in line with what has landed. That can be done
// again at any time, so that its failure is told and is none of the flow.
func whole(ctx context.Context, sess *cli.Session, f flags, s *planning.Start) error {
	if s.Command != "~plan" && s.Package == "" {
		s.Agent, s.Planner, s.Reviewer = sess.Config.Cast()
		if done, err := orders.Unaided(ctx, sess, s); done || err != nil {
			return err
		}
	}
	if err := begin(ctx, sess, f, s); err != nil {
		return err
	}
	tellLeftovers(ctx, sess)
	last, err := sess.Workspace.Kernel.LastRun(ctx)
	if err != nil || last.Run == nil || last.Run.Land == nil || last.Run.Outcome != "completed" {
		return err
	}
	at := knowledge.AtAnalyze
	switch {
	case last.Run.Path == workflow.PathTweak:
		at = knowledge.AtTweak
	case s.Command == "~exec":
		at = knowledge.AtExec
	}
	if err := orders.Sync(ctx, sess, at); err != nil {
		sess.Note(sess.Style.Warn() + " " + sess.Text("cli.flow.not_synced", cli.Explain(sess.Printer, err)))
	}
	return nil
}

// tellLeftovers lists the packages in plan/ that the flow which has ended left there or found there, but for its own
// (docs/spec/workflow.md#leftovers). They harm nobody, so that one that cannot be read is no failure of the flow.
func tellLeftovers(ctx context.Context, sess *cli.Session) {
	if sess.Workspace.Project.Packages == nil {
		return
	}
	found, err := sess.Workspace.Project.Packages(ctx)
	last, failed := sess.Workspace.Kernel.LastRun(ctx)
	if err != nil || failed != nil || sess.JSON || last.Run == nil {
		return
	}
	left := solution.Leftovers(found.Names, last.Run.Package)
	if len(left) == 0 {
		return
	}
	sess.Say("\n" + sess.Style.Bold(sess.Text("cli.flow.leftovers", len(left))))
	for _, l := range left[:min(len(left), maxLeft)] {
		sess.Say("  " + cli.Display(".pawl/plan/"+l.Name))
	}
	sess.Say("  " + sess.Style.Cyan(sess.Text("cli.next")) + "pawl exec / pawl clean")
}

// maxLeft is how many leftovers are named.
const maxLeft = 10

func begin(ctx context.Context, sess *cli.Session, f flags, s *planning.Start) error {
	cli.Warn(ctx, sess)
	if _, err := sess.Do(ctx, &planning.Init{Place: sess.Workspace.Place}); err != nil {
		return err
	}
	s.Agent, s.Planner, s.Reviewer = sess.Config.Cast()
	if err := agents.Ready(ctx, sess, s.Planner, s.Agent, s.Reviewer); err != nil {
		return err
	}
	way, err := giveWay(ctx, sess, f, s.Command)
	if err != nil {
		return err
	}
	release, err := take(ctx, sess, way)
	if err != nil {
		return err
	}
	defer release()
	person := sess.Present() && sess.Config.RunMode != pawl.Autonomous
	s.RunMode, s.Place, s.Lang = sess.Config.RunMode, cli.WorkPlace(sess.Workspace.Place, f.inPlace), string(sess.Lang)
	s.Confirm, s.AsIs = (person || f.said && sess.Config.RunMode != pawl.Autonomous) && !f.yes, f.asIs
	switch {
	case f.yes:
		s.AutoApprove = pawl.By(pawl.KindPolicy, "--yes")
	case s.Command == "~exec" && !person:
		// Whoever names a package where nobody can be asked wants exactly that one carried out.
		s.AutoApprove = pawl.By(pawl.KindPolicy, "~exec")
	}
	v := cli.NewDrive(sess, wanted()...)
	out, err := sess.Do(ctx, s)
	if err != nil {
		return err
	}
	return v.Work(ctx, cli.ID(out))
}

// giveWay makes room for a flow: the one that is running is canceled when the person agrees, and resets its variables.
// It reports whether there was one.
func giveWay(ctx context.Context, sess *cli.Session, f flags, name string) (bool, error) {
	s, err := sess.Workspace.Kernel.Snapshot(ctx)
	if err != nil || s.Session == nil || s.Session.State == string(session.Idle) {
		return false, err
	}
	if name == "" {
		name = sess.Text("cli.flow.request")
	}
	if !f.replace {
		if !sess.Present() {
			return false, pawl.Fail(pawl.CodeBusy, "cli.flow.active", name, s.Session.State, s.Session.Goal)
		}
		yes, err := cli.Confirm(ctx, sess.Printer, sess.Text("cli.flow.replace", cli.Display(s.Session.Goal),
			s.Session.State, name))
		if err != nil {
			return false, err
		}
		if !yes {
			return false, pawl.Fail(pawl.CodeUserDenied, "cli.flow.kept")
		}
	}
	reason := sess.Text("cli.flow.replaced", name)
	var give kernel.Command = &control.CancelRun{Reason: reason}
	if s.Session.State == string(session.Blocked) {
		give = &recovery.Rollback{Reason: reason}
	}
	return true, windUp(ctx, sess, s.Session.Run, give)
}

// windUp gives what ends a run, and sees to its end. Where another process works on it, that one hears of the end and
// cleans up; where that process dies meanwhile, the rest is done here.
func windUp(ctx context.Context, sess *cli.Session, run string, give kernel.Command) error {
	release, other, err := sess.Own()
	if err != nil && other == nil {
		return err
	}
	v := cli.NewDrive(sess, "canceled", "rolled_back", "declined")
	if _, err := sess.Do(ctx, give); err != nil {
		if other == nil {
			release()
		}
		return err
	}
	if s, err := sess.View(ctx); err == nil && s.Paused {
		// what is cleaned up does not wait for anybody; where nothing is left, there is nothing to resume
		_, _ = sess.Do(ctx, &control.Resume{})
	}
	halted := time.Time{}
	for other != nil {
		s, err := sess.View(ctx)
		if err != nil || s.State == session.Idle && s.Effect == "" {
			return err
		}
		if err := cli.Halted(sess, other); err == nil {
			halted = time.Time{}
		} else if halted.IsZero() {
			halted = time.Now()
		} else if time.Since(halted) > patience {
			return err
		}
		if err := rest(ctx); err != nil {
			return err
		}
		if release, other, err = sess.Own(); err != nil && other == nil {
			return err
		}
	}
	defer release()
	return v.Work(ctx, run)
}

// patience bounds the wait for a process that has nothing left to do and is about to end.
const patience = 10 * time.Second

// take takes the right to run work. Behind a flow that gave way, its process may need a moment to leave.
func take(ctx context.Context, sess *cli.Session, wait bool) (release func(), err error) {
	for end := time.Now().Add(patience); ; {
		release, err = sess.MustOwn()
		if pawl.CodeOf(err) != pawl.CodeBusy || !wait || time.Now().After(end) {
			return release, err
		}
		if err := rest(ctx); err != nil {
			return nil, err
		}
	}
}

// rest waits for as long as a process may go without being looked at.
func rest(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(20 * time.Millisecond):
		return nil
	}
}
