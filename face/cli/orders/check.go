package orders

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"pawl/face/host"
	"pawl/text/shell"

	"github.com/spf13/cobra"

	"pawl"
	"pawl/face/cli"
	"pawl/face/cli/term"
	"pawl/kernel/effect"
	"pawl/kernel/planning"
	"pawl/machine/session"
	"pawl/text/pattern"
)

// orderFile is where the newest work order lies, relative to .pawl.
const orderFile = "work_order.md"

// NewCheckCommand is `pawl check`: what is proven on the tree as it is, and what an agent needs to mend the rest.
func NewCheckCommand(a *cli.App) *cobra.Command {
	twice := false
	c := a.Command("check", "orders.check", "  pawl check\n  pawl check --twice\n  pawl check --json", cli.Exactly(0), nil)
	c.RunE = func(c *cobra.Command, _ []string) error {
		return a.With(c.Context(), host.Open{Create: true, Sure: true}, func(sess *cli.Session) error {
			if _, err := sess.Do(c.Context(), &planning.Init{Place: sess.Workspace.Place}); err != nil {
				return err
			}
			if err := free(c.Context(), sess); err != nil {
				return err
			}
			sess.Config.Twice = sess.Config.Twice || twice
			return runChecks(c.Context(), sess, sess.Text("orders.check.goal"), false)
		})
	}
	c.Flags().BoolVar(&twice, "twice", false, a.Text("cli.flag.twice"))
	return c
}

// Unaided takes a requirement up that asks for the checks to pass where pawl's own agent has no program to mend
// anything with: a run could only be refused, and the checks can be run all the same. Where a run is at work it leaves
// that to be said elsewhere.
func Unaided(ctx context.Context, sess *cli.Session, s *planning.Start) (bool, error) {
	if sess.Workspace.Project.Unaided == nil || len(s.Given) > 0 || s.Package != "" {
		return false, nil
	}
	alone, err := sess.Workspace.Project.Unaided(ctx, cmp.Or(s.Planner, s.Agent), s.Requirement)
	if err != nil || !alone {
		return false, err
	}
	if _, err := sess.Do(ctx, &planning.Init{Place: sess.Workspace.Place}); err != nil {
		return false, err
	}
	if at, err := sess.View(ctx); err != nil || at.State != session.Idle {
		return false, err
	}
	if err := free(ctx, sess); err != nil {
		return false, err
	}
	return true, runChecks(ctx, sess, s.Requirement, true)
}

// runChecks runs all checks of the user's tree and tells what came of it, for a goal that a work order names. Alone
// says that it stands for a run that could not be.
func runChecks(ctx context.Context, sess *cli.Session, goal string, alone bool) error {
	found, err := sess.Workspace.Project.Checks(ctx)
	if err != nil {
		return err
	}
	if len(found.Checks) == 0 {
		return nothingToRun(ctx, sess, found)
	}
	if alone {
		sess.Note(sess.Text("orders.check.alone", strings.Join(found.Ecosystems, ", ")))
	}
	r, failed := carry(ctx, sess, "~test", effect.KindTest, effect.VerifySpec{Checks: found.Checks, Required: true,
		PerCheck: sess.Config.CheckTimeout, Twice: sess.Config.Twice})
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
	return reportChecks(ctx, sess, goal, found, result)
}

// nothingToRun says that there is nothing to run, and the one thing to do about it.
func nothingToRun(ctx context.Context, sess *cli.Session, found effect.ContextResult) error {
	key := "orders.check.no_checks"
	if found.Files == 0 {
		key = "orders.check.empty"
	}
	agent, setUp := otherAgent(ctx, sess)
	if agent != "" {
		return pawl.Fail(pawl.CodeCannotPlan, key+"_agent", agent)
	}
	return pawl.Fail(pawl.CodeCannotPlan, key, setUp)
}

// otherAgent names an agent of this machine that can do the work now, "" for none, and the command that leads to one.
func otherAgent(ctx context.Context, sess *cli.Session) (name, setUp string) {
	name, setUp = sess.App.Host.Agents(sess.Workspace.Place, sess.Config).Other(ctx)
	return name, cmp.Or(setUp, "pawl agent list")
}

// reportChecks reports the outcomes. What is red ends in a work order, unless the machine alone is at fault.
func reportChecks(ctx context.Context, sess *cli.Session, goal string, found effect.ContextResult,
	r effect.VerifyResult) error {
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
	if !sess.JSON {
		printOutcomes(sess.Printer, r)
	}
	var fault error
	switch {
	case r.Passed && sess.JSON:
	case r.Passed:
		sess.Say("\n" + sess.Style.OK() + " " + sess.Text("orders.check.green", ran, r.Tree[:min(12, len(r.Tree))]))
	case len(red) == 0 && len(found.Needs) > 0:
		fault = pawl.Fail(pawl.CodeEnvironment, "orders.check.fetch", names(machine), cli.NeedsText(found.Needs),
			cli.FetchText(found.Needs))
	case len(red) == 0:
		fault = pawl.Fail(pawl.CodeEnvironment, "orders.check.machine", names(machine))
		if first := machine[0]; first.Missing != "" && !strings.ContainsRune(first.Missing, '/') {
			fault = pawl.Fail(pawl.CodeEnvironment, "kernel.check_program_missing", first.Missing, first.Name)
		}
	default:
		agent, setUp := otherAgent(ctx, sess)
		if err := sess.Workspace.Write(ctx,
			[]pawl.ProjectedFile{{Path: orderFile, Content: workOrder(sess, goal, r, red)}}); err != nil {
			return err
		}
		file := orderPath(sess)
		out["work_order"], out["agent"] = file, agent
		fault = pawl.Fail(pawl.CodeWorkOrder, "orders.check.red", len(red), ran, names(red), file, setUp)
		if agent != "" {
			fault = pawl.Fail(pawl.CodeWorkOrder, "orders.check.red_agent", len(red), ran, names(red), file, agent,
				shell.Quote(file))
		}
	}
	if sess.JSON {
		if err := sess.PrintJSON(out); err != nil {
			return err
		}
	}
	return fault
}

// orderPath is the work order's file as a command of the user's own shell finds it.
func orderPath(sess *cli.Session) string {
	whole := filepath.Join(sess.Workspace.Place.Workspace, ".pawl", orderFile)
	if near, err := filepath.Rel(sess.Std.Dir, whole); err == nil && filepath.IsLocal(near) && sess.Std.Dir != "" {
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
func printOutcomes(pr *cli.Printer, r effect.VerifyResult) {
	for _, o := range r.Outcomes {
		if o.LeftOut() {
			pr.Say(pr.Style.Dot() + " " + cli.Display(o.Name) + "  " +
				pr.Style.Yellow(pr.Text("cli.check.left_out", o.Missing)))
			continue
		}
		symbol := pr.Style.OK()
		took := (time.Duration(o.DurationMS) * time.Millisecond).Round(10 * time.Millisecond).String()
		said := pr.Style.Dim(took) + cli.Times(pr, o)
		if o.Status != effect.CheckPassed {
			symbol, said = pr.Style.Bad(), pr.Text("cli.check.failed", o.ExitCode)+"  "+said
		}
		if t := o.Tests; o.Status == effect.CheckPassed && t != nil && !t.Whole && len(t.Silent) > 0 {
			symbol = pr.Style.Warn()
			said += "  " + pr.Style.Yellow(pr.Text("cli.check.tests_unconfirmed", len(t.Silent)))
		}
		command := ""
		if o.Command != o.Name {
			command = "  " + pr.Style.Dim(term.Clip(cli.Display(o.Command), max(30, pr.Std.Width-40),
				pr.Style.Ellipsis()))
		}
		pr.Say(symbol + " " + cli.Display(o.Name) + command + "  " + said)
		if o.Status == effect.CheckPassed {
			continue
		}
		for _, l := range essential(o.Output) {
			pr.Say("    " + pr.Style.Dim(cli.Display(l)))
		}
		sayHint(pr, o)
	}
}

// sayHint prints what the person may do about what commands cannot read.
func sayHint(pr *cli.Printer, o effect.CheckOutcome) {
	if o.Hint != "" {
		pr.Say("    " + pr.Style.Cyan(cli.Display(o.Hint)))
	}
}

// telling matches the lines of an output that say what is wrong: a failure by its name, an error, a place in a file.
var telling = pattern.New(`(?i)\b(fail(ed|ure)?|error|panic|fatal|exception|assert\w*|expected|actual|want|got|cannot|undefined|unexpected|not found|missing)\b|` +
	`^\s*(✗|✕|×|not ok|E  )|[\w./-]+\.\w+:\d+`)

// essential keeps the lines of an output that matter, at most maxTail: all of a short one, otherwise those that say
// what is wrong, and its end. Where lines are left out between two that are kept stands "…".
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
		if len(keep) < maxTail-end && telling.Get().MatchString(l) {
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

// workOrder is the work order: what is red and how to see it, what is green and has to stay so, and what an agent must
// leave alone.
func workOrder(sess *cli.Session, goal string, r effect.VerifyResult, red []effect.CheckOutcome) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n%s\n", cli.Display(strings.Join(strings.Fields(goal), " ")),
		written(sess, "orders.check.order_head", names(red), r.Tree[:min(12, len(r.Tree))]))
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
		fmt.Fprintf(&b, "\n## %s\n\n%s\n", cli.Display(o.Name),
			written(sess, "orders.check.order_run", dir, o.ExitCode))
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
		b.WriteString("- " + written(sess, "orders.check.order_green", strings.Join(green, ", ")) + "\n")
	}
	if len(left) > 0 {
		b.WriteString("- " + written(sess, "orders.check.order_left", strings.Join(left, ", ")) + "\n")
	}
	b.WriteString("- " + written(sess, "orders.check.order_keep") + "\n- " + written(sess, "orders.check.order_done") +
		"\n")
	return b.String()
}
