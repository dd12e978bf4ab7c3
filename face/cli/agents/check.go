package agents

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"pawl"
	"pawl/face/cli"
	"pawl/face/cli/term"
	"pawl/face/fault"
	"pawl/face/host"
)

// checkLimit bounds a check unless the user says otherwise.
const checkLimit = 2 * time.Minute

func newCheckCommand(a *cli.App) *cobra.Command {
	check := host.Check{Limit: checkLimit}
	c := a.Command("check AGENT", "cli.agent.check", "  pawl agent check codex\n  pawl agent check llm --json",
		cli.Named(a.Printer), func(c *cobra.Command, args []string) error {
			agents, err := cli.AgentsOf(a)
			if err != nil {
				return err
			}
			if check.Limit <= 0 {
				return cli.Usage("cli.flag_invalid", check.Limit.String(), "--limit", cli.Takes(a.Printer, "duration"))
			}
			if check.Agent, err = PickAgent(c.Context(), a, args, nil); err != nil {
				return err
			}
			check.Lang = string(a.Lang)
			took, passed, failed := time.Duration(0), 0, ""
			check.Stage = func(s host.Stage) {
				took += s.Took
				if s.Err != nil {
					failed = s.Name
				} else {
					passed++
				}
				printStage(a.Printer, s)
			}
			kept, err := agents.Check(c.Context(), check)
			if kept != "" {
				a.Note(a.Text("cli.check_kept", kept))
			}
			if err != nil {
				return err
			}
			if a.JSON {
				if err := json.NewEncoder(a.Std.Out).Encode(map[string]any{"type": "result", "agent": check.Agent,
					"ok": failed == "", "passed": passed, "ms": took.Milliseconds()}); err != nil {
					return err
				}
			} else if failed == "" {
				a.Say(a.Text("cli.check_works", check.Agent, took.Round(100*time.Millisecond).String()))
			}
			if failed != "" {
				return pawl.Fail(pawl.CodeEnvironment, "cli.check_failed", check.Agent, a.Text("check."+failed))
			}
			return nil
		})
	c.Flags().DurationVar(&check.Limit, "limit", checkLimit, a.Text("cli.flag.check_limit"))
	c.Flags().BoolVar(&check.Keep, "keep", false, a.Text("cli.flag.check_keep"))
	return c
}

// printStage prints one stage of a check when it is over.
func printStage(pr *cli.Printer, s host.Stage) {
	var saw []string
	for _, p := range s.Saw {
		saw = append(saw, pr.Text(p.Key, cli.Args(p.Args)...))
	}
	line := struct {
		Type  string       `json:"type"`
		Stage string       `json:"stage"`
		OK    bool         `json:"ok"`
		MS    int64        `json:"ms"`
		Saw   []string     `json:"saw,omitempty"`
		Error *fault.Fault `json:"error,omitempty"`
		Said  []string     `json:"said,omitempty"`
	}{Type: "stage", Stage: s.Name, OK: s.Err == nil, MS: s.Took.Milliseconds(), Saw: saw, Said: s.Said}
	if s.Err != nil {
		f := cli.Describe(pr, s.Err)
		line.Error = &f
	}
	if pr.JSON {
		// what cannot be written is seen at the result, which is written last
		_ = json.NewEncoder(pr.Std.Out).Encode(line)
		return
	}
	symbol := pr.Style.OK()
	text := strings.Join(saw, " "+pr.Style.Middle()+" ")
	if s.Err != nil {
		symbol, text = pr.Style.Bad(), line.Error.Message
	}
	const titles, times = 26, 8
	head := term.Pad(pr.Text("check."+s.Name), titles) + term.Pad(fmt.Sprintf("%.1f s", s.Took.Seconds()), times)
	for i, l := range term.Hang(text, titles+times+2, pr.Std.Width, 0, "") {
		if i == 0 {
			l = symbol + " " + head + l
		}
		pr.Say(strings.TrimRight(l, " "))
	}
	if s.Err == nil {
		return
	}
	for _, l := range s.Said {
		pr.Say("    " + pr.Style.Dim(term.Clip("> "+cli.Display(l), pr.Std.Width-4, pr.Style.Ellipsis())))
	}
	if line.Error.Hint != "" {
		pr.Say("  " + pr.Style.Cyan(pr.Text("cli.next")) + line.Error.Hint)
	}
}
