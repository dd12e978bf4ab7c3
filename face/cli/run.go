package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/effect"
	"pawl/machine/session"
	"pawl/text/plan"
	"pawl/text/policy"
)

// runFlags are the flags of `pawl run`.
type runFlags struct {
	plan, mode, profile, agent       string
	yes, inPlace, unattended, noWait bool
	record, prepare                  bool
	instead                          Instead
}

// Instead carries a requirement out in another way than by a run, and reports whether it did. It is asked before anything is begun.
type Instead func(ctx context.Context, sess *Session, s *kernel.Start) (done bool, err error)

func newRunCommand(a *App) *cobra.Command { return NewRunCommand(a, nil) }

// NewRunCommand is `pawl run`. Instead may be nil.
func NewRunCommand(a *App, instead Instead) *cobra.Command {
	var f runFlags
	f.instead = instead
	c := a.Command("run [REQUIREMENT]", "cli.run", `  pawl run "make the checks pass"
  pawl run --plan rename.yaml
  pawl run --plan rename.yaml --yes --json`, Between(0, 1), nil)
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
	c.Flags().BoolVar(&f.record, "record", false, a.Text("cli.flag.record"))
	c.Flags().StringVar(&f.agent, "agent", "", a.Text("cli.flag.agent"))
	c.Flags().StringVar(&f.profile, "profile", "", a.Text("cli.flag.profile"))
	return c
}

// Override puts a flag on top of the configuration.
func Override(name, value string) func(*Config) error {
	return func(c *Config) error {
		if value == "" {
			return nil
		}
		s, _ := findSetting(name)
		if err := s.set(c, []string{value}); err != nil {
			return pawl.Fail(pawl.CodeUsage, "cli.flag_setting", "--"+strings.TrimPrefix(name, "run_")).Because(err)
		}
		return nil
	}
}

func runWork(ctx context.Context, a *App, f runFlags, requirement string) error {
	if f.unattended {
		if f.mode != "" && f.mode != string(pawl.Autonomous) {
			return Usage("cli.flags_conflict", "--unattended", "--mode "+f.mode)
		}
		f.mode = string(pawl.Autonomous)
	}
	if a.Flags.issue != "" {
		return Usage("cli.flags_conflict", "run", "--issue")
	}
	start := &kernel.Start{Requirement: strings.TrimSpace(requirement)}
	if f.plan != "" {
		p, err := readPlan(a, f.plan)
		if err != nil {
			return err
		}
		start.Given, start.Name = p.data, f.plan
		if start.Requirement == "" {
			start.Requirement = p.Goal
		}
	}
	if start.Requirement == "" {
		return Usage("cli.run_nothing")
	}
	if f.yes {
		start.AutoApprove = pawl.By(pawl.KindPolicy, "--yes")
	}
	if err := offerLogin(ctx, a, f.agent); err != nil {
		return err
	}
	record := func(c *Config) error { c.Record = c.Record || f.record; return nil }
	looked := false
	work := func() error {
		return a.With(ctx, Open{Create: true, Sure: f.yes}, func(sess *Session) error {
			if !looked {
				looked = true
				if err := offerDependencies(ctx, sess, f); err != nil {
					return err
				}
			}
			return startRun(ctx, sess, start, f)
		}, record, Override("run_mode", f.mode), Override("profile", f.profile), Override("agent", f.agent))
	}
	err := work()
	if errors.Is(err, errFetch) {
		if err = Within(ctx, a, []string{"prepare", "--yes"}); err == nil {
			err = work()
		}
	}
	return err
}

// errFetch says that dependencies are to be fetched before the work begins.
var errFetch = errors.New("dependencies are to be fetched")

// offerDependencies looks, before anything is planned, for dependencies that the checks would not find. A person is asked whether they
// are to be fetched; where nobody is there, or nobody wants it, the way to them is said, and the work begins.
func offerDependencies(ctx context.Context, sess *Session, f runFlags) error {
	if sess.Workspace.Project.Lacks == nil {
		return nil
	}
	lacks, err := sess.Workspace.Project.Lacks(ctx, WorkPlace(sess.Workspace.Place, true), false)
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
		ok, err := Confirm(ctx, sess.Printer, sess.Text("cli.run.fetch", Display(strings.Join(paths, ", ")), strings.Join(hosts, ", ")))
		if err != nil {
			return err
		}
		if ok {
			return errFetch
		}
	}
	sess.Note(sess.Style.Warn() + " " + sess.Text("cli.run.lacks", Display(strings.Join(paths, ", "))))
	return nil
}

// planFile is a plan as a file gave it.
type planFile struct {
	plan.Plan
	at   plan.Positions
	data []byte
}

// readPlan reads a plan file and checks its form, its graph, its tools and their arguments, so that a mistake in it costs
// nothing and is shown with its line.
func readPlan(a *App, name string) (planFile, error) {
	f, err := readSteps(a, name)
	if err != nil {
		return f, err
	}
	schemas := map[string][]byte{}
	limits := plan.DefaultLimits()
	for _, t := range a.Host.Tools() {
		schemas[t.Info.Name] = t.Info.ArgsSchema
		limits.Tools = append(limits.Tools, t.Info.Name)
	}
	if dir, err := startFolder(a); err == nil {
		if place, err := a.Host.Find(dir); err == nil {
			c, err := loadConfig(a, place)
			if err != nil {
				return f, err
			}
			limits.MaxSteps = c.MaxPlanSteps
		}
	}
	tool := func(name string) ([]byte, bool) { s, ok := schemas[name]; return s, ok }
	return f, f.at.Locate(plan.Check(f.Plan, tool, limits))
}

// readSteps reads a plan file and checks its form alone: steps that are added to a plan may depend on steps that only that
// plan has.
func readSteps(a *App, name string) (f planFile, err error) {
	if f.data, err = a.ReadInput(name, plan.MaxBytes); err == nil {
		f.Plan, f.at, err = plan.Decode(name, f.data)
	}
	return f, err
}

// ReadInput reads a file that the user named; "-" is the standard input.
func (a *App) ReadInput(name string, limit int64) ([]byte, error) {
	if name == "-" {
		data, err := readAtMost(a.Std.In, name, limit)
		if err != nil {
			return nil, pawl.Fail(pawl.CodeIO, "cli.file_unreadable", name).Because(err)
		}
		return data, nil
	}
	data, err := readFile(a.Path(name), limit)
	switch {
	case err == nil:
		return data, nil
	case os.IsNotExist(err):
		return nil, pawl.Fail(pawl.CodeNotFound, "cli.file_missing", name)
	case pawl.CodeOf(err) == pawl.CodeInvalid:
		return nil, err
	}
	return nil, pawl.Fail(pawl.CodeIO, "cli.file_unreadable", name).Because(err)
}

// Path makes a name that the user typed absolute.
func (a *App) Path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(a.Std.Dir, name)
}

// startRun takes the requirement up and works on it.
func startRun(ctx context.Context, sess *Session, start *kernel.Start, f runFlags) error {
	start.Agent = sess.Config.Agent
	if f.instead != nil {
		if done, err := f.instead(ctx, sess, start); done || err != nil {
			return err
		}
	}
	release, err := sess.MustOwn()
	if err != nil {
		return err
	}
	defer func() { release() }()
	Warn(ctx, sess)
	v := NewDrive(sess, "completed")
	v.ask = v.ask && sess.Config.RunMode != pawl.Autonomous
	if _, err := sess.Do(ctx, &kernel.Init{Place: sess.Workspace.Place}); err != nil {
		return err
	}
	if err := Ready(ctx, sess, start.Agent); err != nil {
		return err
	}
	start.RunMode, start.Place = sess.Config.RunMode, WorkPlace(sess.Workspace.Place, f.inPlace)
	out, err := sess.Do(ctx, start)
	if err != nil {
		return err
	}
	if f.noWait {
		release()
		release = func() {}
		return PrintState(ctx, sess)
	}
	return v.Work(ctx, ID(out))
}

// WorkPlace says where the work happens. Without git there is no other place than the folder itself.
func WorkPlace(p effect.Place, inPlace bool) effect.Place {
	p.Tree = p.Workspace
	p.InPlace = inPlace || !p.Git
	return p
}

func newResumeCommand(a *App) *cobra.Command {
	var noWait bool
	c := a.Command("resume", "cli.resume", "  pawl resume", Exactly(0), nil)
	c.RunE = func(c *cobra.Command, _ []string) error {
		return a.With(c.Context(), Writing(), func(sess *Session) error { return resumeRun(c.Context(), sess, noWait) })
	}
	c.Flags().BoolVar(&noWait, "no-wait", false, a.Text("cli.flag.no_wait"))
	return c
}

// resumeRun goes on with whatever was left: after a pause, an interrupt or a crash.
func resumeRun(ctx context.Context, sess *Session, noWait bool) error {
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
			return PrintState(ctx, sess)
		}
		sess.SayText("cli.resume.nothing")
		return nil
	}
	return GoOn(ctx, sess, noWait, []string{"completed", "canceled", "declined", "rolled_back", "skipped"}, func(sess *Session) error {
		_, err := sess.Do(ctx, &kernel.Resume{})
		return err
	})
}

// Display escapes text of others for one line.
func Display(s string) string { return policy.Display(s) }
