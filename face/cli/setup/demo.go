package setup

import (
	"context"

	"github.com/spf13/cobra"

	"pawl/face/cli"
	"pawl/face/cli/settings"
	"pawl/face/host"
)

func newDemoCommand(a *cli.App) *cobra.Command {
	return a.Command("demo [DIR]", "cli.demo", "  pawl demo\n  pawl demo ./pawl-demo", cli.Between(0, 1),
		func(c *cobra.Command, args []string) error {
			return runDemo(c.Context(), a, args)
		})
}

// runDemo shows what pawl does, in a folder that stays. Where it is interrupted, what was made is removed.
func runDemo(ctx context.Context, a *cli.App, args []string) error {
	dir := ""
	if len(args) > 0 {
		dir = a.Path(args[0])
	}
	config, err := settings.Load(a.Std.Env, "") // no project has a word in it
	if err != nil {
		return err
	}
	s := &demoScreen{pr: a.Printer}
	made, err := a.Host.Demo(ctx, host.Demo{Dir: dir, Lang: string(a.Lang), Color: a.Style.Color, Config: config,
		Text: a.Text, Scene: s.see})
	s.rested()
	if ctx.Err() != nil {
		a.Note(a.Style.Warn() + " " + a.Text("cli.demo.interrupted"))
		return ctx.Err()
	}
	if made.Dir != "" {
		s.end(made)
	}
	return err
}

// demoScreen shows the scenes of the demo.
type demoScreen struct {
	pr   *cli.Printer
	rest int // lines of output that were left out
}
