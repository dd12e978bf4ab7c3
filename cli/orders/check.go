package orders

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"pawl"
	"pawl/cli"
	"pawl/cli/term"
	"pawl/effect"
	"pawl/kernel"
	"pawl/machine/session"
	"pawl/policy"
)

// orderFile is where the newest work order lies, relative to .pawl.
const orderFile = "work_order.md"

// NewCheckCommand is `pawl check`: what is proven on the tree as it is, and what an agent needs to mend the rest.
func NewCheckCommand(a *cli.App) *cobra.Command {
	c := a.Command("check", "orders.check", "  pawl check\n  pawl check --json", cli.Exactly(0), nil)
	c.RunE = func(c *cobra.Command, _ []string) error {
		return a.With(c.Context(), cli.Open{Create: true, Sure: true}, func(d *cli.Desk) error {
			if _, err := d.Do(c.Context(), &kernel.Init{Place: d.Workspace.Place}); err != nil {
				return err
			}
			if err := free(c.Context(), d); err != nil {
				return err
			}
			return runChecks(c.Context(), d, d.Text("orders.check.goal"), false)
		})
	}
	return c
}

// Unaided takes a requirement up that asks for the checks to pass where pawl's own agent has no program to mend anything with: a
// run could only be refused, and the checks can be run all the same. Where a run is at work it leaves that to be said elsewhere.
func Unaided(ctx context.Context, d *cli.Desk, s *kernel.Start) (bool, error) {
	if d.Workspace.Project.Unaided == nil || len(s.Given) > 0 || s.Package != "" {
		return false, nil
	}
	alone, err := d.Workspace.Project.Unaided(ctx, s.Agent, s.Requirement)
	if err != nil || !alone {
		return false, err
	}
	if _, err := d.Do(ctx, &kernel.Init{Place: d.Workspace.Place}); err != nil {
		return false, err
	}
	if at, err := d.Session(ctx); err != nil || at.State != session.Idle {
		return false, err
	}
	if err := free(ctx, d); err != nil {
		return false, err
	}
	return true, runChecks(ctx, d, s.Requirement, true)
}

// runChecks runs all checks of the user's tree and tells what came of it, for a goal that a work order names. Alone says that it stands
// for a run that could not be.
func runChecks(ctx context.Context, d *cli.Desk, goal string, alone bool) error {
	found, err := d.Workspace.Project.Checks(ctx)
	if err != nil {
		return err
	}
	if len(found.Checks) == 0 {
		return nothingToRun(ctx, d, found)
	}
	if alone {
		d.Note(d.Text("orders.check.alone", strings.Join(found.Ecosystems, ", ")))
	}
	r, failed := carry(ctx, d, "~test", effect.KindTest, effect.VerifySpec{Checks: found.Checks, Required: true, PerCheck: d.Config.CheckTimeout})
	if pawl.CodeOf(failed) == pawl.CodeSandbox {
		return failed // nothing of the project was seen
	}
	result, err := effect.Decode[effect.VerifyResult](r.Result)
	if err != nil { // nothing ran: the failure is all there is to say
		if failed != nil {
			return failed
		}
		return err
	}
	return reportChecks(ctx, d, goal, found, result)
}

// nothingToRun says that there is nothing to run, and the one thing to do about it.
func nothingToRun(ctx context.Context, d *cli.Desk, found effect.ContextResult) error {
	key := "orders.check.no_checks"
	if found.Files == 0 {
		key = "orders.check.empty"
	}
	if agent := installedAgent(ctx, d); agent != "" {
		return pawl.Fail(pawl.CodeCannotPlan, key+"_agent", agent)
	}
	return pawl.Fail(pawl.CodeCannotPlan, key)
}

// installedAgent names an agent of this machine that could do the work, "" where there is none.
func installedAgent(ctx context.Context, d *cli.Desk) string {
	var ready, untried string
	for _, a := range d.Host.Agents(d.Workspace.Place, d.Config).List(ctx, "") {
		switch {
		case a.Kind == "script":
		case a.State == "ready" && ready == "":
			ready = a.Name
		case a.State == "untested" && untried == "":
			untried = a.Name
		}
	}
	if ready != "" {
		return ready
	}
	return untried
}

// reportChecks reports the outcomes. What is red ends in a work order, unless the machine alone is at fault.
func reportChecks(ctx context.Context, d *cli.Desk, goal string, found effect.ContextResult, r effect.VerifyResult) error {
	var red, machine, left []effect.CheckOutcome
	for _, o := range r.Outcomes {
		switch {
		case o.LeftOut():
			left = append(left, o)
		case o.Status == effect.CheckPassed || o.Status == effect.CheckSkipped:
		case o.Environment:
			machine = append(machine, o)
		default:
			red = append(red, o)
		}
	}
	ran := len(r.Outcomes) - len(left)
	out := map[string]any{"passed": r.Passed, "tree": r.Tree, "checks": r.Outcomes, "failures": failures(r)}
	if !d.Flags.JSON {
		printOutcomes(d, r)
	}
	var fault error
	switch {
	case r.Passed && d.Flags.JSON:
	case r.Passed:
		d.Say("\n" + d.Style.OK() + " " + d.Text("orders.check.green", ran, r.Tree[:min(12, len(r.Tree))]))
	case len(red) == 0 && len(found.Needs) > 0:
		fault = pawl.Fail(pawl.CodeEnvironment, "orders.check.fetch", names(machine), cli.NeedsText(found.Needs), cli.FetchText(found.Needs))
	case len(red) == 0:
		fault = pawl.Fail(pawl.CodeEnvironment, "orders.check.machine", names(machine))
		if first := machine[0]; first.Missing != "" && !strings.ContainsRune(first.Missing, '/') {
			fault = pawl.Fail(pawl.CodeEnvironment, "kernel.check_program_missing", first.Missing, first.Name)
		}
	default:
		agent := installedAgent(ctx, d)
		if err := d.Workspace.Write(ctx, []effect.ProjectedFile{{Path: orderFile, Content: workOrder(d, goal, r, red)}}); err != nil {
			return err
		}
		file := orderPath(d)
		out["work_order"], out["agent"] = file, agent
		fault = pawl.Fail(pawl.CodeWorkOrder, "orders.check.red", len(red), ran, names(red), file)
		if agent != "" {
			fault = pawl.Fail(pawl.CodeWorkOrder, "orders.check.red_agent", len(red), ran, names(red), file, agent, policy.Quote(file))
		}
	}
	if d.Flags.JSON {
		if err := d.PrintJSON(out); err != nil {
			return err
		}
	}
	return fault
}

// orderPath is the work order's file as a command of the user's own shell finds it.
func orderPath(d *cli.Desk) string {
	whole := filepath.Join(d.Workspace.Place.Workspace, ".pawl", orderFile)
	if near, err := filepath.Rel(d.Std.Dir, whole); err == nil && filepath.IsLocal(near) && d.Std.Dir != "" {
		return near
	}
	return whole
}

func names(outcomes []effect.CheckOutcome) string {
	var out []string
	for _, o := range outcomes {
		out = append(out, o.Name)
	}
	return strings.Join(out, ", ")
}

// printOutcomes prints each outcome, and of what did not pass the lines that matter.
func printOutcomes(d *cli.Desk, r effect.VerifyResult) {
	for _, o := range r.Outcomes {
		if o.LeftOut() {
			d.Say(d.Style.Dot() + " " + cli.Display(o.Name) + "  " + d.Style.Yellow(d.Text("cli.check.left_out", o.Missing)))
			continue
		}
		symbol := d.Style.OK()
		took := (time.Duration(o.DurationMS) * time.Millisecond).Round(10 * time.Millisecond).String()
		said := d.Style.Dim(took)
		if o.Status != effect.CheckPassed {
			symbol, said = d.Style.Bad(), d.Text("cli.check.failed", o.ExitCode)+"  "+said
		}
		command := ""
		if o.Command != o.Name {
			command = "  " + d.Style.Dim(term.Clip(cli.Display(o.Command), max(30, d.Std.Width-40), d.Style.Ellipsis()))
		}
		d.Say(symbol + " " + cli.Display(o.Name) + command + "  " + said)
		if o.Status == effect.CheckPassed {
			continue
		}
		for _, l := range essential(o.Output) {
			d.Say("    " + d.Style.Dim(cli.Display(l)))
		}
	}
}

// telling matches the lines of an output that say what is wrong: a failure by its name, an error, a place in a file.
var telling = sync.OnceValue(func() func(string) bool {
	form := lazily(`(?i)\b(fail(ed|ure)?|error|panic|fatal|exception|assert\w*|expected|actual|want|got|cannot|undefined|unexpected|not found|missing)\b|` +
		`^\s*(✗|✕|×|not ok|E  )|[\w./-]+\.\w+:\d+`)
	return form().MatchString
})

// essential keeps the lines of an output that matter, at most maxTail: all of a short one, otherwise those that say what is wrong,
// and its end. Where lines are left out between two that are kept stands "…".
func essential(output string) []string {
	if strings.TrimSpace(output) == "" {
		return nil
	}
	lines := strings.Split(strings.TrimRight(strings.ReplaceAll(output, "\t", "    "), "\n"), "\n")
	if len(lines) <= maxTail {
		return lines
	}
	const end = 4
	var keep []int
	for i, l := range lines[:len(lines)-end] {
		if len(keep) < maxTail-end && telling()(l) {
			keep = append(keep, i)
		}
	}
	for i := max(0, len(lines)-max(end, maxTail-len(keep))); i < len(lines); i++ {
		if !slices.Contains(keep, i) {
			keep = append(keep, i)
		}
	}
	slices.Sort(keep)
	var out []string
	last := -1
	for _, i := range keep {
		if i != last+1 {
			out = append(out, "…")
		}
		out, last = append(out, lines[i]), i
	}
	return out
}

// maxOrder bounds the text of a work order, which is meant to be handed to an agent as one argument.
const maxOrder = 24 << 10

// workOrder is the work order: what is red and how to see it, what is green and has to stay so, and what an agent must leave alone.
func workOrder(d *cli.Desk, goal string, r effect.VerifyResult, red []effect.CheckOutcome) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n%s\n", cli.Display(strings.Join(strings.Fields(goal), " ")), written(d, "orders.check.order_head", names(red), r.Tree[:min(12, len(r.Tree))]))
	for _, o := range red {
		dir := o.Dir
		if dir == "" {
			dir = "."
		}
		lines := essential(o.Output)
		fence := strings.Repeat("`", 3)
		for strings.Contains(strings.Join(lines, "\n"), fence) {
			fence += "`"
		}
		fmt.Fprintf(&b, "\n## %s\n\n%s\n", cli.Display(o.Name), written(d, "orders.check.order_run", dir, o.ExitCode))
		fmt.Fprintf(&b, "\n    %s\n", cli.Display(o.Command))
		if len(lines) > 0 {
			fmt.Fprintf(&b, "\n%s\n", fence)
			for _, l := range lines {
				b.WriteString(cli.Display(l) + "\n")
			}
			b.WriteString(fence + "\n")
		}
		if b.Len() > maxOrder {
			break // what is red is named above, and `pawl check` shows the rest
		}
	}
	var green, left []string
	for _, o := range r.Outcomes {
		switch {
		case o.Status == effect.CheckPassed:
			green = append(green, o.Name)
		case o.LeftOut():
			left = append(left, o.Name+" ("+o.Missing+")")
		}
	}
	b.WriteString("\n")
	if len(green) > 0 {
		b.WriteString("- " + written(d, "orders.check.order_green", strings.Join(green, ", ")) + "\n")
	}
	if len(left) > 0 {
		b.WriteString("- " + written(d, "orders.check.order_left", strings.Join(left, ", ")) + "\n")
	}
	b.WriteString("- " + written(d, "orders.check.order_keep") + "\n- " + written(d, "orders.check.order_done") + "\n")
	return b.String()
}
