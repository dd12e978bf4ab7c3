package answers

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"pawl"
	"pawl/face/cli"
	"pawl/face/cli/policies"
	"pawl/face/cli/term"
	"pawl/kernel"
	"pawl/kernel/approval"
	"pawl/kernel/query"
	"pawl/text/plan"
	"pawl/text/policy"
)

// approve approves a plan exactly as it was shown.
func (w *waitingPlan) approve(ctx context.Context, sess *cli.Session, yes bool) error {
	way := kernel.WayTerminal
	if yes {
		way = kernel.WayFlag
	}
	return cli.InIssue(sess, w.issue, func(at *cli.Session) error {
		_, err := at.Do(ctx, &approval.Approve{Hash: w.hash, Way: way, Rule: w.rule})
		return err
	})
}

// NewPlanCommand is the group of commands about the plan that waits for an answer.
func NewPlanCommand(a *cli.App) *cobra.Command {
	return a.Group("plan", "cli.plan", newPlanShowCommand(a), newPlanEditCommand(a),
		approveCommand(a, "approve [HASH]"), newPlanNewCommand(a), newPlanValidateCommand(a))
}

func newPlanShowCommand(a *cli.App) *cobra.Command {
	var yaml, prd bool
	c := a.Command("show", "cli.plan.show",
		"  pawl plan show\n  pawl plan show --prd > plan.md\n  pawl plan show --yaml", cli.Exactly(0), nil)
	c.RunE = func(c *cobra.Command, _ []string) error {
		return a.With(c.Context(), cli.Reading(), func(sess *cli.Session) error {
			s, err := plannedWork(c.Context(), sess)
			if err != nil {
				return err
			}
			switch {
			case yaml:
				raw, err := plan.EncodeYAML(s.Solution.Plan)
				if err == nil {
					_, err = a.Std.Out.Write(raw)
				}
				return err
			case prd:
				_, err := a.Std.Out.Write([]byte(plan.RenderPRD(s.Solution.Plan, cli.PlanLabels(a.Printer))))
				return err
			case a.JSON:
				return a.PrintJSON(query.PlanOf(s))
			}
			for _, l := range cli.Proposal(sess, query.PlanOf(s)) {
				a.Say(l)
			}
			return nil
		})
	}
	c.Flags().BoolVar(&yaml, "yaml", false, a.Text("cli.flag.yaml"))
	c.Flags().BoolVar(&prd, "prd", false, a.Text("cli.flag.prd"))
	return c
}

// plannedWork reads the plan of the run in progress, or of the newest run that has one.
func plannedWork(ctx context.Context, sess *cli.Session) (*kernel.Snapshot, error) {
	if _, err := sess.View(ctx); err != nil {
		return nil, err
	}
	s, err := query.Planned(ctx, sess.Workspace.Kernel)
	if err == nil && s.Solution == nil {
		err = pawl.Fail(pawl.CodeNotFound, "cli.no_plan")
	}
	return s, err
}

func newPlanEditCommand(a *cli.App) *cobra.Command {
	var from string
	c := a.Command("edit", "cli.plan.edit",
		"  pawl plan edit\n  pawl plan show --prd > plan.md && pawl plan edit --from plan.md", cli.Exactly(0), nil)
	c.RunE = func(c *cobra.Command, _ []string) error {
		return a.With(c.Context(), cli.Writing(), func(sess *cli.Session) error {
			s, err := plannedWork(c.Context(), sess)
			if err != nil {
				return err
			}
			if s.Approval == nil || s.Approval.State != kernel.ApprovalPending || s.Approval.About != "plan" {
				// What nobody would take is not edited at all.
				return pawl.Fail(pawl.CodeInvalidTransition, "kernel.nothing_to_edit", cli.SessionState(s))
			}
			if from == "" {
				err = cli.EditPlan(c.Context(), sess, s)
			} else if text, readErr := a.ReadInput(from, plan.MaxBytes); readErr != nil {
				err = readErr
			} else {
				err = cli.ReplacePlan(c.Context(), sess, s, string(text))
			}
			if err != nil || !a.JSON {
				return err
			}
			if s, err = plannedWork(c.Context(), sess); err != nil {
				return err
			}
			return a.PrintJSON(query.PlanOf(s))
		})
	}
	c.Flags().StringVar(&from, "from", "", a.Text("cli.flag.from"))
	return c
}

func newPlanNewCommand(a *cli.App) *cobra.Command {
	return a.Command("new [FILE]", "cli.plan.new",
		"  pawl plan new plan.yaml\n  pawl plan new > plan.yaml\n  pawl plan validate plan.yaml\n  pawl run --plan plan.yaml", cli.Between(0, 1), func(_ *cobra.Command, args []string) error {
			text := planTemplate(a.Printer)
			if len(args) == 0 {
				_, err := io.WriteString(a.Std.Out, text)
				return err
			}
			return a.WriteNew(args[0], func(w io.Writer) error {
				if _, err := io.WriteString(w, text); err != nil {
					return pawl.Fail(pawl.CodeIO, "cli.file_unwritable", args[0]).Because(err)
				}
				if a.JSON {
					return a.PrintJSON(map[string]string{"path": a.Path(args[0])})
				}
				a.Say(a.Style.OK() + " " + cli.Display(args[0]))
				a.Say("  " + a.Style.Cyan(a.Text("cli.next")) + "pawl plan validate " + cli.Display(args[0]))
				return nil
			})
		})
}

// planTemplate is a plan file that can be carried out as it is, with what each part means beside it.
func planTemplate(pr *cli.Printer) string {
	note := func(key string) string { return "# " + pr.Text("cli.plan.template."+key) }
	return strings.Join([]string{
		note("head"),
		"",
		note("goal"),
		"goal: " + pr.Text("cli.plan.template.example"),
		note("risk"),
		"risk_level: low",
		note("constraints"),
		"constraints: []",
		note("criteria"),
		"# criteria:",
		"#   - id: c1",
		"#     text: " + pr.Text("cli.plan.template.criterion"),
		"#     proof: diff",
		"#     paths: [HELLO.md]",
		"#     texts: [Hello]",
		"",
		note("steps"),
		"steps:",
		"  - step_id: s1",
		"    title: " + pr.Text("cli.plan.template.example"),
		"    " + note("intent"),
		"    intent: " + pr.Text("cli.plan.template.why"),
		"    status: pending",
		"    " + note("calls"),
		"    tool_calls:",
		"      - name: write_file",
		"        args_hint:",
		"          path: HELLO.md",
		"          content: |",
		"            # Hello",
		"      " + note("others"),
		"      # - name: apply_patch",
		"      #   args_hint:",
		"      #     patch: |",
		"      #       *** Begin Patch",
		"      #       *** Update File: main.go",
		"      #       @@",
		"      #       -old line",
		"      #       +new line",
		"      #       *** End Patch",
		"      # - name: run_terminal_cmd",
		"      #   args_hint: {command: go generate ./...}",
		"    " + note("files"),
		"    expected_artifacts:",
		"      - {type: file, value: HELLO.md}",
		"  " + note("more"),
		"  # - step_id: s2",
		"  #   depends_on: [s1]",
		"",
		note("verification"),
		"verification:",
		"  " + note("mode"),
		"  mode: test",
		"  " + note("commands"),
		"  commands: []",
		"  " + note("required"),
		"  required: true",
		"  stop_on_fail: true",
		"",
	}, "\n")
}

func newPlanValidateCommand(a *cli.App) *cobra.Command {
	var schema bool
	c := a.Command("validate FILE", "cli.plan.validate",
		"  pawl plan validate rename.yaml\n  pawl plan validate --schema > plan.schema.json", cli.Between(0, 1), nil)
	c.RunE = func(_ *cobra.Command, args []string) error {
		if schema {
			_, err := a.Std.Out.Write(plan.Schema())
			return err
		}
		if len(args) == 0 {
			return cli.Usage("cli.args_few", c.UseLine(), c.CommandPath())
		}
		return validatePlan(a, args[0])
	}
	c.Flags().BoolVar(&schema, "schema", false, a.Text("cli.flag.schema"))
	return c
}

// judgedCall is a call or a verification command of a plan file with what the policy says of it.
type judgedCall struct {
	Path    string         `json:"path"` // in the document
	Line    int            `json:"line,omitempty"`
	Step    string         `json:"step,omitempty"`
	Tool    string         `json:"tool"`
	Verdict policy.Verdict `json:"verdict"`
}

// judgeCalls asks the policy about everything that a plan would do, as the kernel does before it asks for approval.
func judgeCalls(a *cli.App, f cli.PlanFile) ([]judgedCall, error) {
	there, c, err := policies.WouldBe(a, false)
	if err != nil {
		return nil, err
	}
	tools := a.Host.Tools()
	out := []judgedCall{}
	add := func(path, step, tool string, r policy.Request) {
		line, _ := f.At.At(path)
		out = append(out, judgedCall{path, line, step, tool, policy.Judge(there.Situate(r), c.Profile)})
	}
	for i, s := range f.Steps {
		for j, call := range s.ToolCalls {
			tool := slices.IndexFunc(tools, func(t kernel.Tool) bool { return t.Info.Name == call.Name })
			if tool < 0 { // the plan was checked, so that all of its tools exist
				return nil, pawl.Fail(pawl.CodeInvalid, "kernel.tool_unknown", call.Name)
			}
			r, err := tools[tool].Request(call.ArgsHint)
			if err != nil {
				return nil, err
			}
			add(fmt.Sprintf("steps[%d].tool_calls[%d]", i, j), s.StepID, call.Name, r)
		}
	}
	for i, command := range f.Verification.Commands {
		add(fmt.Sprintf("verification.commands[%d]", i), "", "verify",
			policy.Request{Tool: "verify", Permissions: []policy.Permission{policy.ProcExec}, Command: command})
	}
	return out, nil
}

// validatePlan checks a plan file as `pawl run` does before any work, and says what the policy will ask about or deny.
func validatePlan(a *cli.App, name string) error {
	p, err := cli.ReadPlan(a, name)
	if err != nil {
		return err
	}
	calls, err := judgeCalls(a, p)
	if err != nil {
		return err
	}
	denied := 0
	for _, c := range calls {
		if c.Verdict.Decision == policy.Deny {
			denied++
		}
	}
	if a.JSON {
		err = a.PrintJSON(map[string]any{"valid": denied == 0, "goal": p.Goal, "steps": len(p.Steps), "calls": calls})
	} else {
		printJudged(a.Printer, name, len(p.Steps), calls)
	}
	if denied > 0 && err == nil {
		err = pawl.Fail(pawl.CodeDenied, "cli.plan.denied_calls", name, denied)
	}
	return err
}

// printJudged lists what the policy does not simply allow, with its reasons and their codes.
func printJudged(pr *cli.Printer, name string, steps int, calls []judgedCall) {
	pr.Say(pr.Style.OK() + " " + pr.Text("cli.plan.valid", name, steps))
	for _, c := range calls {
		if c.Verdict.Decision == policy.Allow {
			continue
		}
		where := c.Path
		if c.Line > 0 {
			where = fmt.Sprintf("%s:%d", name, c.Line)
		}
		text, paint := cli.VerdictText(pr, &c.Verdict)
		pr.Say(policies.Mark(pr, c.Verdict.Decision) + " " + cli.Display(where) + " " +
			pr.Style.Bold(cli.Display(strings.TrimSpace(c.Step+" "+c.Tool))))
		for _, l := range term.Wrap(text, pr.Std.Width-2) {
			pr.Say("  " + paint(l))
		}
		pr.Say("  " + pr.Style.Dim(pr.Text("cli.rule", policies.Codes(c.Verdict.Reasons))))
	}
}
