package cli

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"pawl"
	"pawl/effect"
	"pawl/kernel"
	"pawl/plan"
	"pawl/policy"
)

// runFlags are the flags of `pawl run`.
type runFlags struct {
	plan, mode, profile, agent       string
	yes, inPlace, unattended, noWait bool
	record                           bool
}

func newRunCommand(a *app) *cobra.Command {
	var f runFlags
	c := a.command("run [REQUIREMENT]", "cli.run", `  pawl run "make the checks pass"
  pawl run --plan rename.yaml
  pawl run --plan rename.yaml --yes --json`, between(0, 1), nil)
	c.RunE = func(c *cobra.Command, args []string) error {
		return runWork(c.Context(), a, f, strings.Join(args, " "))
	}
	c.Flags().StringVar(&f.plan, "plan", "", a.text("cli.flag.plan"))
	c.Flags().BoolVar(&f.yes, "yes", false, a.text("cli.flag.yes_plan"))
	c.Flags().BoolVar(&f.inPlace, "in-place", false, a.text("cli.flag.in_place"))
	c.Flags().StringVar(&f.mode, "mode", "", a.text("cli.flag.mode"))
	c.Flags().BoolVar(&f.unattended, "unattended", false, a.text("cli.flag.unattended"))
	c.Flags().BoolVar(&f.noWait, "no-wait", false, a.text("cli.flag.no_wait"))
	c.Flags().BoolVar(&f.record, "record", false, a.text("cli.flag.record"))
	c.Flags().StringVar(&f.agent, "agent", "", a.text("cli.flag.agent"))
	c.Flags().StringVar(&f.profile, "profile", "", a.text("cli.flag.profile"))
	return c
}

// override puts a flag on top of the configuration.
func override(name, value string) func(*Config) error {
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

func runWork(ctx context.Context, a *app, f runFlags, requirement string) error {
	if f.unattended {
		if f.mode != "" && f.mode != string(pawl.Autonomous) {
			return usage("cli.flags_conflict", "--unattended", "--mode "+f.mode)
		}
		f.mode = string(pawl.Autonomous)
	}
	start := &kernel.Start{Requirement: strings.TrimSpace(requirement)}
	if f.plan != "" {
		p, err := a.readPlan(f.plan)
		if err != nil {
			return err
		}
		start.Given, start.Name = p.data, f.plan
		if start.Requirement == "" {
			start.Requirement = p.Goal
		}
	}
	if start.Requirement == "" {
		return usage("cli.run_nothing")
	}
	if f.yes {
		start.AutoApprove = pawl.By(pawl.KindPolicy, "--yes")
	}
	record := func(c *Config) error { c.Record = c.Record || f.record; return nil }
	return a.with(ctx, Open{Create: true}, func(d *desk) error {
		return startRun(ctx, d, start, f)
	}, record, override("run_mode", f.mode), override("profile", f.profile), override("agent", f.agent))
}

// planFile is a plan as a file gave it.
type planFile struct {
	plan.Plan
	at   plan.Positions
	data []byte
}

// readPlan reads a plan file and checks its form, its graph, its tools and their arguments, so that a mistake in it costs
// nothing and is shown with its line.
func (a *app) readPlan(name string) (planFile, error) {
	f, err := a.readSteps(name)
	if err != nil {
		return f, err
	}
	schemas := map[string][]byte{}
	limits := plan.DefaultLimits()
	for _, t := range a.host.Tools() {
		schemas[t.Info.Name] = t.Info.ArgsSchema
		limits.Tools = append(limits.Tools, t.Info.Name)
	}
	if dir, err := a.start(); err == nil {
		if place, err := a.host.Find(dir); err == nil {
			c, err := a.config(place)
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
func (a *app) readSteps(name string) (f planFile, err error) {
	if f.data, err = a.readInput(name, plan.MaxBytes); err == nil {
		f.Plan, f.at, err = plan.Decode(name, f.data)
	}
	return f, err
}

// readInput reads a file that the user named; "-" is the standard input.
func (a *app) readInput(name string, limit int64) ([]byte, error) {
	if name == "-" {
		data, err := readAtMost(a.std.In, name, limit)
		if err != nil {
			return nil, pawl.Fail(pawl.CodeIO, "cli.file_unreadable", name).Because(err)
		}
		return data, nil
	}
	data, err := readFile(a.path(name), limit)
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

// path makes a name that the user typed absolute.
func (a *app) path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(a.std.Dir, name)
}

// startRun takes the requirement up and works on it.
func startRun(ctx context.Context, d *desk, start *kernel.Start, f runFlags) error {
	release, err := d.mustOwn()
	if err != nil {
		return err
	}
	defer func() { release() }()
	d.warn(ctx)
	v := d.newDrive("completed")
	v.ask = v.ask && d.cfg.RunMode != pawl.Autonomous
	if _, err := d.do(ctx, &kernel.Init{Place: d.ws.Place}); err != nil {
		return err
	}
	start.Agent = d.cfg.Agent
	if err := d.ready(ctx, start.Agent); err != nil {
		return err
	}
	start.RunMode, start.Place = d.cfg.RunMode, workPlace(d.ws.Place, f.inPlace)
	out, err := d.do(ctx, start)
	if err != nil {
		return err
	}
	if f.noWait {
		release()
		release = func() {}
		return d.given(ctx)
	}
	return v.work(ctx, id(out))
}

// workPlace says where the work happens. Without git there is no other place than the folder itself.
func workPlace(p effect.Place, inPlace bool) effect.Place {
	p.Tree = p.Workspace
	p.InPlace = inPlace || !p.Git
	return p
}

func newInitCommand(a *app) *cobra.Command {
	return a.command("init", "cli.init", "  pawl init\n  pawl init -C ../service", exactly(0), func(c *cobra.Command, _ []string) error {
		return a.with(c.Context(), Open{Create: true}, func(d *desk) error {
			out, err := d.do(c.Context(), &kernel.Init{Place: d.ws.Place})
			if err != nil {
				return err
			}
			if a.flags.json {
				return a.printJSON(map[string]any{"workspace": d.ws.Place.Workspace, "git": d.ws.Place.Git, "session": id(out), "created": out.Changed})
			}
			key := "cli.init.exists"
			if out.Changed {
				key = "cli.init.done"
			}
			a.say(a.style.OK() + " " + a.text(key, d.ws.Place.Workspace))
			if !d.ws.Place.Git {
				a.say("  " + a.text("cli.init.no_git"))
			}
			a.say("  " + a.text("cli.init.next"))
			return nil
		})
	})
}

func newResumeCommand(a *app) *cobra.Command {
	var noWait bool
	c := a.command("resume", "cli.resume", "  pawl resume", exactly(0), nil)
	c.RunE = func(c *cobra.Command, _ []string) error {
		return a.with(c.Context(), writing(), func(d *desk) error { return resumeRun(c.Context(), d, noWait) })
	}
	c.Flags().BoolVar(&noWait, "no-wait", false, a.text("cli.flag.no_wait"))
	return c
}

// resumeRun goes on with whatever was left: after a pause, an interrupt or a crash.
func resumeRun(ctx context.Context, d *desk, noWait bool) error {
	s, err := d.session(ctx)
	if err != nil {
		return err
	}
	if s.State == "IDLE" && s.Effect == "" {
		// A crash may have come between the last commit and the writing of the files that show it.
		if _, err := d.ws.Export(ctx); err != nil {
			return err
		}
		if d.flags.json {
			return d.given(ctx)
		}
		d.sayText("cli.resume.nothing")
		return nil
	}
	return d.goOn(ctx, noWait, []string{"completed", "canceled", "declined", "rolled_back", "skipped"}, func(d *desk) error {
		_, err := d.do(ctx, &kernel.Resume{})
		return err
	})
}

// display escapes text of others for one line.
func display(s string) string { return policy.Display(s) }
