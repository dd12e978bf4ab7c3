package flow

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"pawl"
	"pawl/face/cli"
	"pawl/face/cli/agents"
	"pawl/face/cli/orders"
	"pawl/face/cli/settings"
	"pawl/face/host"
	"pawl/kernel/control"
	"pawl/kernel/planning"
	"pawl/machine/session"
)

// runFlags are the flags of `pawl run`.
type runFlags struct {
	plan, mode, profile, agent       string
	yes, inPlace, unattended, noWait bool
	record, prepare, twice           bool
}

func newRunCommand(a *cli.App) *cobra.Command {
	var f runFlags
	c := a.Command("run [REQUIREMENT]", "cli.run", `  pawl run "make the checks pass"
  pawl run --plan rename.yaml
  pawl run --plan rename.yaml --yes --json`, cli.Between(0, 1), nil)
	c.RunE = func(c *cobra.Command, args []string) error {
		return runWork(c.Context(), a, f, strings.Join(args, " "))
	}
	c.Flags().StringVar(&f.plan, "plan", "", a.Text("cli.flag.plan"))
	c.Flags().BoolVar(&f.yes, "yes", false, a.Text("cli.flag.yes_plan"))
	c.Flags().BoolVar(&f.inPlace, "in-place", false, a.Text("cli.flag.in_place"))
	c.Flags().StringVar(&f.mode, "mode", "", a.Text("cli.flag.mode"))
	c.Flags().BoolVar(&f.unattended, "unattended", false, a.Text("cli.flag.unattended"))
	c.Flags().BoolVar(&f.noWait, "no-wait", false, a.Text("cli.flag.no_wait"))
	c.Flags().BoolVar(&f.prepare, "prepare", false, a.Text("cli.flag.prepare"))
	c.Flags().BoolVar(&f.twice, "twice", false, a.Text("cli.flag.twice"))
	c.Flags().BoolVar(&f.record, "record", false, a.Text("cli.flag.record"))
	c.Flags().StringVar(&f.agent, "agent", "", a.Text("cli.flag.agent"))
	c.Flags().StringVar(&f.profile, "profile", "", a.Text("cli.flag.profile"))
	return c
}

func runWork(ctx context.Context, a *cli.App, f runFlags, requirement string) error {
	if f.unattended {
		if f.mode != "" && f.mode != string(pawl.Autonomous) {
			return cli.Usage("cli.flags_conflict", "--unattended", "--mode "+f.mode)
		}
		f.mode = string(pawl.Autonomous)
	}
	if a.Issue() != "" {
		return cli.Usage("cli.flags_conflict", "run", "--issue")
	}
	start := &planning.Start{Requirement: strings.TrimSpace(requirement)}
	need := agents.Need{Agent: f.agent, Unattended: f.mode == string(pawl.Autonomous)}
	if f.plan != "" {
		p, err := cli.ReadPlan(a, f.plan)
		if err != nil {
			return err
		}
		start.Given, start.Name, need.Planned = p.Data, f.plan, p.Complete()
		if start.Requirement == "" {
			start.Requirement = p.Goal
		}
	}
	if start.Requirement == "" {
		return cli.Usage("cli.run_nothing")
	}
	if f.yes {
		start.AutoApprove = pawl.By(pawl.KindPolicy, "--yes")
	}
	need.Requirement = start.Requirement
	chosen, err := agents.Default(ctx, a, need)
	if err != nil {
		return err
	}
	record := func(c *settings.Config) error { c.Record = c.Record || f.record; return nil }
	looked := false
	work := func() error {
		return a.With(ctx, host.Open{Create: true, Sure: f.yes}, func(sess *cli.Session) error {
			if !looked {
				looked = true
				if err := offerDependencies(ctx, sess, f); err != nil {
					return err
				}
			}
			err := startRun(ctx, sess, start, f)
			if err == nil && !f.noWait {
				tellLeftovers(ctx, sess)
			}
			return err
		}, record, settings.Override("run_mode", f.mode), settings.Override("profile", f.profile),
			settings.Override("agent", f.agent), chosen, settings.Switch("verify.twice", f.twice))
	}
	err = work()
	if errors.Is(err, errFetch) {
		if err = cli.Within(ctx, a, []string{"prepare", "--yes"}); err == nil {
			err = work()
		}
	}
	return err
}

// errFetch says that dependencies are to be fetched before the work begins.
var errFetch = errors.New("dependencies are to be fetched")

// offerDependencies looks, before anything is planned, for dependencies that the checks would not find. A person is
// asked whether they are to be fetched; where nobody is there, or nobody wants it, the way to them is said, and the
// work begins.
func offerDependencies(ctx context.Context, sess *cli.Session, f runFlags) error {
	if sess.Workspace.Project.Lacks == nil {
		return nil
	}
	lacks, err := sess.Workspace.Project.Lacks(ctx, cli.WorkPlace(sess.Workspace.Place, true), false)
	if err != nil {
		return nil // whoever needs them says what is wrong
	}
	var paths, hosts []string
	for _, l := range lacks {
		if l.Err != nil {
			continue
		}
		paths = append(paths, l.Set.Path)
		for _, s := range l.Set.Sites {
			if !slices.Contains(hosts, s.Host) {
				hosts = append(hosts, s.Host)
			}
		}
	}
	switch {
	case len(paths) == 0:
		return nil
	case f.prepare:
		return errFetch
	case sess.Present() && !f.yes && sess.Config.RunMode != pawl.Autonomous:
		ok, err := cli.Confirm(ctx, sess.Printer, sess.Text("cli.run.fetch", cli.Display(strings.Join(paths, ", ")),
			strings.Join(hosts, ", ")))
		if err != nil {
			return err
		}
		if ok {
			return errFetch
		}
	}
	sess.Note(sess.Style.Warn() + " " + sess.Text("cli.run.lacks", cli.Display(strings.Join(paths, ", "))))
	return nil
}

// startRun takes the requirement up and works on it.
func startRun(ctx context.Context, sess *cli.Session, start *planning.Start, f runFlags) error {
	start.Agent, start.Planner, start.Reviewer = sess.Config.Cast()
	if done, err := orders.Unaided(ctx, sess, start); done || err != nil {
		return err
	}
	release, err := sess.MustOwn()
	if err != nil {
		return err
	}
	defer func() { release() }()
	cli.Warn(ctx, sess)
	v := cli.NewDrive(sess, "completed")
	if sess.Config.RunMode == pawl.Autonomous {
		v.AskNobody()
	}
	if _, err := sess.Do(ctx, &planning.Init{Place: sess.Workspace.Place}); err != nil {
		return err
	}
	if err := agents.Ready(ctx, sess, start.Planner, start.Agent, start.Reviewer); err != nil {
		return err
	}
	start.RunMode, start.Place, start.Lang = sess.Config.RunMode, cli.WorkPlace(sess.Workspace.Place, f.inPlace),
		string(sess.Lang)
	out, err := sess.Do(ctx, start)
	if err != nil {
		return err
	}
	if f.noWait {
		release()
		release = func() {}
		return cli.PrintState(ctx, sess)
	}
	return v.Work(ctx, cli.ID(out))
}

func newResumeCommand(a *cli.App) *cobra.Command {
	var noWait, accept bool
	c := a.Command("resume", "cli.resume", "  pawl resume", cli.Exactly(0), nil)
	c.RunE = func(c *cobra.Command, _ []string) error {
		return a.With(c.Context(), host.Open{Accept: accept},
			func(sess *cli.Session) error { return resumeRun(c.Context(), sess, noWait) })
	}
	c.Flags().BoolVar(&noWait, "no-wait", false, a.Text("cli.flag.no_wait"))
	c.Flags().BoolVar(&accept, "accept-loss", false, a.Text("cli.flag.accept_loss"))
	return c
}

// resumeRun goes on with whatever was left: after a pause, an interrupt or a crash.
func resumeRun(ctx context.Context, sess *cli.Session, noWait bool) error {
	s, err := sess.View(ctx)
	if err != nil {
		return err
	}
	if s.State == session.Idle && s.Effect == "" {
		// A crash may have come between the last commit and the writing of the files that show it.
		if _, err := sess.Workspace.Export(ctx); err != nil {
			return err
		}
		if sess.JSON {
			return cli.PrintState(ctx, sess)
		}
		sess.SayText("cli.resume.nothing")
		return nil
	}
	return cli.GoOn(ctx, sess, noWait, []string{"completed", "canceled", "declined", "rolled_back", "skipped"},
		func(sess *cli.Session) error {
			_, err := sess.Do(ctx, &control.Resume{})
			return err
		})
}
