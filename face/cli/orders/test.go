package orders

import (
	"context"
	"slices"
	"strconv"
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
	"pawl/text/pattern"
	"pawl/text/solution"
)

// testFlags are the flags of `pawl test`.
type testFlags struct {
	all, plan, noPlan bool
	only              string
	timeout           time.Duration
}

func newTestCommand(a *cli.App) *cobra.Command {
	var f testFlags
	c := a.Command("test [-- COMMAND]", "orders.test", "  pawl test\n  pawl test --all\n  pawl test -- go test ./api",
		cli.Between(0, 1000), nil)
	c.RunE = func(c *cobra.Command, args []string) error {
		if f.plan && f.noPlan {
			return cli.Usage("cli.flags_conflict", "--plan", "--no-plan")
		}
		command := strings.Join(args, " ")
		if c.ArgsLenAtDash() == 0 && len(args) > 1 {
			// The user's own shell has taken the quotes off, so that what is special in the words is meant literally.
			command = shell.QuoteAll(args)
		}
		return a.With(c.Context(), host.Open{Create: true, Sure: true},
			func(sess *cli.Session) error { return runTests(c.Context(), sess, command, f) })
	}
	c.Flags().BoolVar(&f.all, "all", false, a.Text("orders.flag.test_all"))
	c.Flags().StringVar(&f.only, "only", "", a.Text("orders.flag.only"))
	c.Flags().BoolVar(&f.plan, "plan", false, a.Text("orders.flag.test_plan"))
	c.Flags().BoolVar(&f.noPlan, "no-plan", false, a.Text("orders.flag.no_plan"))
	c.Flags().DurationVar(&f.timeout, "timeout", 0, a.Text("orders.flag.timeout"))
	return c
}

// runTests runs the project's tests behind the walls, and offers a package to mend what fails.
func runTests(ctx context.Context, sess *cli.Session, command string, f testFlags) error {
	if _, err := sess.Do(ctx, &planning.Init{Place: sess.Workspace.Place}); err != nil {
		return err
	}
	if err := free(ctx, sess); err != nil {
		return err
	}
	checks, err := pickChecks(ctx, sess, command, f)
	if err != nil {
		return err
	}
	spec := effect.VerifySpec{Checks: checks, Required: true, PerCheck: sess.Config.CheckTimeout,
		Twice: sess.Config.Twice}
	if f.timeout > 0 {
		spec.PerCheck = f.timeout
	}
	r, failed := carry(ctx, sess, "~test", effect.KindTest, spec)
	if pawl.CodeOf(failed) == pawl.CodeSandbox {
		return failed
	}
	result, err := effect.Decode[effect.VerifyResult](r.Result)
	if err != nil { // nothing ran: the failure is all there is to say
		if failed != nil {
			return failed
		}
		return err
	}
	wrong := failures(result)
	pack := ""
	if failed != nil {
		if !sess.JSON {
			sayOutcomes(sess.Printer, result)
		}
		if pack, err = offerFix(ctx, sess, wrong, result, f); err != nil {
			return err
		}
	}
	switch {
	case sess.JSON:
		err = sess.PrintJSON(map[string]any{"passed": result.Passed, "checks": result.Outcomes, "failures": wrong,
			"package": pack})
	case failed == nil:
		sayOutcomes(sess.Printer, result)
		sess.Say(sess.Style.OK() + " " + sess.Text("orders.test.passed"))
	case pack != "":
		sess.Say(sess.Style.OK() + " " + sess.Text("orders.package_made", ".pawl/"+pack))
	}
	if failed != nil && err == nil {
		err = cli.Shown(pawl.Fail(pawl.CodeOf(failed), "orders.test.failed", len(wrong)))
	}
	return err
}

// pickChecks says what is run: what a person typed, else the tests that the project has.
func pickChecks(ctx context.Context, sess *cli.Session, command string, f testFlags) ([]effect.Check, error) {
	if command = strings.TrimSpace(command); command != "" {
		return typed(command), nil
	}
	found, err := sess.Workspace.Project.Checks(ctx)
	if err != nil {
		return nil, err
	}
	tests := slices.DeleteFunc(slices.Clone(found.Checks),
		func(c effect.Check) bool { return c.Kind != "test" || f.only != "" && c.Name != f.only })
	switch {
	case len(tests) == 0 && f.only != "":
		return nil, pawl.Fail(pawl.CodeNotFound, "orders.test.unknown", f.only)
	case len(tests) == 0:
		return askTest(ctx, sess)
	case len(tests) == 1 || f.all:
		return tests, nil
	}
	return chooseTests(ctx, sess, tests)
}

// typed is a command that a person typed, as a test.
func typed(command string) []effect.Check {
	return []effect.Check{{Name: term.Clip(command, 40, "…"), Command: command, Kind: "test", Level: 2}}
}

// askTest asks for the command of a project whose tests are not known.
func askTest(ctx context.Context, sess *cli.Session) ([]effect.Check, error) {
	none := pawl.Fail(pawl.CodeUsage, "orders.test.none")
	if !sess.Present() {
		return nil, none
	}
	line, err := cli.AskText(ctx, sess.Printer, sess.Text("orders.test.which"))
	if err == nil && line == "" || err != nil && ctx.Err() == nil {
		err = none
	}
	return typed(line), err
}

// chooseTests asks which of several tests are run.
func chooseTests(ctx context.Context, sess *cli.Session, tests []effect.Check) ([]effect.Check, error) {
	if !sess.Present() {
		var names []string
		for _, c := range tests {
			names = append(names, c.Name)
		}
		return nil, pawl.Fail(pawl.CodeApprovalNeeded, "orders.test.many", strings.Join(names, ", "))
	}
	options := []option{{"a", sess.Text("orders.test.all")}}
	for n, t := range tests[:min(len(tests), 9)] {
		options = append(options, option{strconv.Itoa(n + 1), cli.Display(t.Name + "  " + t.Command)})
	}
	got, err := choose(ctx, sess.Printer, sess.Text("orders.test.ask"),
		append(options, option{"c", sess.Text("orders.cancel")}))
	switch {
	case err != nil:
		return nil, err
	case got == "a":
		return tests, nil
	case got == "c":
		sess.SayText("orders.left")
		return nil, cli.Shown(pawl.Fail(pawl.CodeUserDenied, "orders.declined"))
	}
	n, err := strconv.Atoi(got)
	return tests[n-1 : n], err
}

// failure is one test that failed, as far as the output names it.
type failure struct {
	Check string `json:"check"`
	Test  string `json:"test"`
}

// failing are the forms in which test programs name what failed.
var failing = []*pattern.Pattern{
	pattern.New(`(?m)^\s*--- FAIL: (\S+)`),                                  // Go
	pattern.New(`(?m)^FAILED (\S+::\S+)`),                                   // pytest
	pattern.New(`(?m)^(?:FAIL|ERROR): (\w+ \([\w.]+\))`),                    // unittest
	pattern.New(`(?m)^test (\S+) \.\.\. FAILED`),                            // Cargo
	pattern.New(`(?m)^\s+● (.+ › .+)$`),                                     // Jest
	pattern.New(`(?m)^\s*(?:✗|✕|×|not ok \d+ -)\s+(.+?)(?: \(\d+ ?ms\))?$`), // Vitest, Mocha, TAP
	pattern.New(`(?m)^\[ERROR\]\s+(\w[\w.]*\.\w+):\d+`),                     // Maven
}

// failures reads what failed out of the outputs. A check whose output names nothing counts as one failure.
func failures(r effect.VerifyResult) []failure {
	out := []failure{}
	for _, o := range r.Outcomes {
		if o.Status == effect.CheckPassed || o.Status == effect.CheckSkipped {
			continue
		}
		var names []string
		for _, form := range failing {
			for _, m := range form.Get().FindAllStringSubmatch(o.Output, 100) {
				names = append(names, strings.TrimSpace(m[1]))
			}
		}
		slices.Sort(names)
		// A test that failed because of one within it is named by that one.
		names = slices.DeleteFunc(slices.Compact(names), func(n string) bool {
			return slices.ContainsFunc(names, func(other string) bool { return strings.HasPrefix(other, n+"/") })
		})
		if len(names) == 0 {
			names = []string{o.Name}
		}
		for _, n := range names {
			out = append(out, failure{o.Name, n})
		}
	}
	return out
}

// maxTail is how many lines of a failed check are shown.
const maxTail = 20

func sayOutcomes(pr *cli.Printer, r effect.VerifyResult) {
	for _, o := range r.Outcomes {
		symbol := pr.Style.OK()
		switch o.Status {
		case effect.CheckFailed, effect.CheckError:
			symbol = pr.Style.Bad()
		case effect.CheckSkipped:
			symbol = pr.Style.Dot()
		}
		took := (time.Duration(o.DurationMS) * time.Millisecond).Round(10 * time.Millisecond).String()
		pr.Say(symbol + " " + cli.Display(o.Command) + "  " + pr.Style.Dim(took))
		if o.Status == effect.CheckPassed || o.Output == "" {
			continue
		}
		lines := strings.Split(strings.TrimRight(o.Output, "\n"), "\n")
		for _, l := range lines[max(0, len(lines)-maxTail):] {
			pr.Say("    " + pr.Style.Dim(cli.Display(strings.ReplaceAll(l, "\t", "    "))))
		}
		sayHint(pr, o)
	}
}

// offerFix makes a package to mend what failed, where that is wanted. It returns the package's folder, relative to
// .pawl.
func offerFix(ctx context.Context, sess *cli.Session, wrong []failure, r effect.VerifyResult,
	f testFlags) (string, error) {
	if len(wrong) == 0 || f.noPlan || !f.plan && !sess.Present() {
		return "", nil
	}
	if !f.plan {
		ok, err := cli.Confirm(ctx, sess.Printer, sess.Text("orders.test.offer", len(wrong)))
		if err != nil || !ok {
			return "", err
		}
	}
	var commands, output []string
	for _, o := range r.Outcomes {
		commands = append(commands, "`"+strings.ReplaceAll(o.Command, "`", "'")+"`")
		if o.Status == effect.CheckFailed || o.Status == effect.CheckError {
			lines := strings.Split(strings.TrimRight(o.Output, "\n"), "\n")
			for _, l := range lines[max(0, len(lines)-maxTail):] {
				output = append(output, "    "+cli.Display(l))
			}
		}
	}
	p := draft{
		feature: "fix-tests", title: written(sess, "orders.test.title"), kind: "fix", background: written(sess,
			"orders.test.background", len(wrong)) + "\n\n" + strings.Join(output, "\n"),
		goal: written(sess, "orders.test.goal"), accept: written(sess, "orders.test.accept",
			strings.Join(commands, ", ")), approach: written(sess, "orders.test.approach"),
	}
	for _, w := range wrong[:min(len(wrong), maxTasks)] {
		p.tasks = append(p.tasks, solution.Task{Status: solution.Pending,
			Title: written(sess, "orders.test.task", w.Test), Verify: []string{strings.Join(commands, ", ")}})
	}
	return makePackage(ctx, sess, "~test", p)
}
