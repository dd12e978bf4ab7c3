package auditlog

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"pawl"
	"pawl/face/cli"
	"pawl/face/fault"
	"pawl/kernel/replay"
)

// replayed is what became of a recording whose decisions were made again.
type replayed struct {
	Run       string `json:"run"`
	Decisions int    `json:"decisions"`
	// Lost are those that the recording does not hold the whole of, because secrets were left out.
	Lost        int              `json:"lost"`
	Differences []replay.Finding `json:"differences"`
	Bad         []fault.Fault    `json:"errors,omitempty"`
}

func newReplayCommand(a *cli.App) *cobra.Command {
	return a.Command("replay RUN", "cli.replay", "  pawl replay RUN-3\n  pawl replay 3 --json", cli.Exactly(1),
		func(c *cobra.Command, args []string) error {
			return a.With(c.Context(), cli.Reading(), func(sess *cli.Session) error {
				run := strings.ToUpper(strings.TrimSpace(args[0]))
				if n, err := strconv.Atoi(run); err == nil {
					run = "RUN-" + strconv.Itoa(n)
				}
				return replayRun(c.Context(), sess, run)
			})
		})
}

// replayRun makes the decisions of a run again and says which would be different.
func replayRun(ctx context.Context, sess *cli.Session, run string) error {
	in, config, err := sess.Workspace.Recording(run)
	if err != nil {
		return err
	}
	defer in.Close()
	out := replayed{Run: run, Differences: []replay.Finding{}}
	var first error
	for f, err := range replay.Replay(in, config) {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			out.Bad = append(out.Bad, cli.Describe(sess.Printer, err))
			if first == nil {
				first = err
			}
			continue
		case f.Lost:
			out.Lost++
		case f.Differs():
			out.Differences = append(out.Differences, f)
			if !sess.JSON {
				printFinding(sess.Printer, &f)
			}
		}
		out.Decisions++
	}
	if sess.JSON {
		if err := sess.PrintJSON(out); err != nil {
			return err
		}
	} else {
		printReplayed(sess.Printer, &out)
	}
	switch {
	case first != nil:
		return first
	case len(out.Differences) > 0:
		return cli.Shown(pawl.Fail(pawl.CodeConflict, "cli.replay_differs", run, out.Decisions, len(out.Differences)))
	}
	return nil
}

// printReplayed prints how a replay came out.
func printReplayed(pr *cli.Printer, out *replayed) {
	if len(out.Bad) > 1 {
		pr.Note(pr.Style.Warn() + " " + pr.Text("cli.replay_bad", len(out.Bad)))
	}
	if out.Lost > 0 {
		pr.Say(pr.Style.Warn() + " " + pr.Text("cli.replay_lost", out.Lost))
	}
	said := map[string]bool{}
	for _, f := range out.Differences {
		for _, c := range f.Settings {
			line := pr.Text("cli.replay_setting", c.What, strings.Join(c.Decided, " "), strings.Join(c.Now, " "))
			if !said[line] {
				pr.Say(line)
			}
			said[line] = true
		}
	}
	if len(out.Differences) > 0 {
		pr.Say(pr.Style.Bad() + " " + pr.Text("cli.replay_differs", out.Run, out.Decisions, len(out.Differences)))
	} else if len(out.Bad) == 0 {
		pr.Say(pr.Style.OK() + " " + pr.Text("cli.replay_same", out.Run, out.Decisions))
	}
}

// changeText names what a decision would do differently.
func changeText(pr *cli.Printer, what string) string {
	switch what {
	case "moves", "effects", "records", "rows", "result", "refused":
		return pr.Text("cli.replay_what." + what)
	}
	return cli.Display(what)
}

// printFinding prints one decision that would be different.
func printFinding(pr *cli.Printer, f *replay.Finding) {
	pr.Say(pr.Style.Bold(pr.Text("cli.replay_line", f.Line, f.Command, string(f.Actor),
		f.At.Local().Format(time.DateTime))))
	line := func(m replay.Move) string { return strings.ReplaceAll(m.String(), "→", pr.Style.To()) }
	for _, m := range f.Decided {
		pr.Say("  " + pr.Text("cli.replay_decided", line(m)))
	}
	if f.Refused != nil {
		text := cli.Describe(pr, f.Refused)
		why := text.Message
		if label := cli.FaultLabel(pr, text); label != "" {
			why += " (" + label + ")"
		}
		pr.Say("  " + pr.Text("cli.replay_refused", why))
	} else if len(f.Now) == 0 {
		pr.Say("  " + pr.Text("cli.replay_now", pr.Style.None()))
	}
	for _, m := range f.Now {
		pr.Say("  " + pr.Text("cli.replay_now", line(m)))
	}
	moved := f.Refused != nil || slices.ContainsFunc(f.Changes, func(c replay.Change) bool { return c.What == "moves" })
	for _, c := range f.Changes {
		// What is recorded and written follows from the moves; it is shown where there is nothing else to show.
		if c.What == "moves" || c.What == "refused" || moved && c.What != "effects" {
			continue
		}
		pr.Say("  " + changeText(pr, c.What))
		for _, l := range c.Decided {
			pr.Say("    - " + cli.Display(l))
		}
		for _, l := range c.Now {
			pr.Say("    + " + cli.Display(l))
		}
	}
	pr.Say("")
}
