package setup

import (
	"strings"

	"pawl/face/cli"
	"pawl/face/cli/term"
	"pawl/face/host"
	"pawl/text/display"

	"github.com/spf13/cobra"
)

func newGCCommand(a *cli.App) *cobra.Command {
	dry, all := false, false
	c := a.Command("gc", "cli.gc", "  pawl gc --dry-run\n  pawl gc\n  pawl gc --dry-run --all --json", cli.Exactly(0), nil)
	c.RunE = func(c *cobra.Command, _ []string) error {
		open := cli.Writing()
		if dry {
			open = cli.Reading()
		}
		return a.With(c.Context(), open, func(sess *cli.Session) error {
			if _, err := sess.View(c.Context()); err != nil {
				return err
			}
			if !dry {
				release, err := sess.Workspace.Own("pawl gc")
				if err != nil {
					return err
				}
				defer release()
			}
			found, err := sess.Workspace.Collect(c.Context(), dry, reading(a.Printer, "cli.gc.reading"))
			if a.JSON {
				if said := a.PrintJSON(found); err == nil {
					err = said
				}
				return err
			}
			sayCollected(a, found, all)
			return err
		})
	}
	c.Flags().BoolVar(&dry, "dry-run", false, a.Text("cli.flag.gc_dry"))
	c.Flags().BoolVar(&all, "all", false, a.Text("cli.flag.gc_all"))
	return c
}

// sayHistory says what was retired of the history, or would be, and what keeps the rest.
func sayHistory(a *cli.App, found host.Collected) {
	h := found.History
	if h == nil {
		a.Say(a.Text("cli.gc.history_kept"))
		return
	}
	if h.Records > 0 {
		key := "cli.gc.history_done"
		switch {
		case h.More:
			key = "cli.gc.history_more"
		case found.Dry:
			key = "cli.gc.history_would"
		}
		a.Say(a.Style.OK() + " " + a.Text(key, h.Records, h.Rows, display.Size(uint64(h.Bytes)), h.Begin.Local().Format("2006-01-02 15:04")))
	} else {
		a.Say(a.Text("cli.gc.history_none"))
	}
	if h.Held != "" {
		a.Say("  " + a.Text("cli.gc.history_held", display.Line(h.Held)))
	}
}

// kinds are the texts for the kinds of things.
var kinds = map[string]string{"left": "cli.gc.left", "checkpoint": "cli.gc.checkpoint", "tree": "cli.gc.tree",
	"kept": "cli.gc.kept_files", "journal": "cli.gc.journal", "log": "cli.gc.log"}

// shown is how many things are named without --all.
const shown = 10

// sayCollected says what was retired, or would be, and why the rest is kept.
func sayCollected(a *cli.App, found host.Collected, all bool) {
	key := "cli.gc.done"
	switch {
	case len(found.Items) == 0:
		key = "cli.gc.nothing"
	case found.Dry:
		key = "cli.gc.would"
	}
	if h := found.History; len(found.Items) > 0 || h == nil || h.Records == 0 {
		a.Say(a.Style.OK() + " " + a.Text(key, len(found.Items), display.Size(uint64(found.Bytes))))
	}
	var t term.Table
	for n, i := range found.Items {
		if n == shown && !all {
			break
		}
		at := ""
		if !i.At.IsZero() {
			at = i.At.Local().Format("2006-01-02 15:04")
		}
		t.Row("  "+a.Text(kinds[i.What]), at, display.Size(uint64(i.Bytes)), display.Line(i.Name))
	}
	a.SayTable(&t, a.Std.Width)
	if more := len(found.Items) - shown; more > 0 && !all {
		a.Say("  " + a.Text("cli.gc.more", more))
	}
	if found.Runs > 0 {
		a.Say(a.Text("cli.gc.kept_runs", found.Days, found.Runs))
	} else {
		a.Say(a.Text("cli.gc.kept", found.Days))
	}
	sayHistory(a, found)
	if len(found.Open) > 0 {
		a.Say(a.Text("cli.gc.open", strings.Join(found.Open, ", ")))
	}
}
