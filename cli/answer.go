package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"pawl"
	"pawl/cli/term"
	"pawl/effect"
	"pawl/kernel"
	"pawl/plan"
	"pawl/policy"
)

func newApproveCommand(a *App) *cobra.Command { return approveCommand(a, "approve [HASH]") }

// approveCommand is `pawl approve`, which `pawl plan approve` is too.
func approveCommand(a *App, use string) *cobra.Command {
	var yes, noWait bool
	c := a.Command(use, "cli.approve", "  pawl approve\n  pawl approve 1a2b3c4d5e6f\n  pawl approve --yes --no-wait", Between(0, 1), nil)
	c.RunE = func(c *cobra.Command, args []string) error {
		hash := ""
		if len(args) > 0 {
			hash = args[0]
		}
		return a.goOn(c.Context(), noWait, []string{"completed"}, func(d *Desk) error { return approveOpen(c.Context(), d, hash, yes) })
	}
	c.Flags().BoolVar(&yes, "yes", false, a.Text("cli.flag.yes_open"))
	c.Flags().BoolVar(&noWait, "no-wait", false, a.Text("cli.flag.no_wait"))
	return c
}

// approveOpen grants the open question. Without a hash the person is shown what is asked first; where nobody sits at a
// terminal, only --yes grants it, whatever hash is named.
func approveOpen(ctx context.Context, d *Desk, hash string, yes bool) error {
	if hash != "" && (yes || d.Std.TTY) {
		way := kernel.WayCommand
		if yes {
			way = kernel.WayFlag
		}
		_, err := d.Do(ctx, &kernel.Approve{Hash: hash, Way: way})
		return err
	}
	s, err := d.Workspace.Kernel.Look(ctx)
	if err != nil {
		return err
	}
	if s.Session == nil || s.Approval == nil || s.Approval.State != kernel.ApprovalPending {
		_, err := d.Do(ctx, &kernel.Approve{}) // the kernel's refusal says in which state the session is
		return err
	}
	if !yes && d.rep != nil {
		return nil // the work that follows puts the question
	}
	if !yes {
		asker{d}.tellHow(ctx, s, s.Plan())
		return shown{pawl.Fail(pawl.CodeApprovalNeeded, "cli.approval_needed", aboutText(d.voice, s.Approval.About), short(s.Approval.Hash))}
	}
	_, err = d.Do(ctx, &kernel.Approve{Hash: s.Approval.Hash, Way: kernel.WayFlag})
	return err
}

func newDenyCommand(a *App) *cobra.Command {
	var reason string
	c := a.Command("deny", "cli.deny", "  pawl deny -m \"not now\"", Exactly(0), nil)
	c.RunE = func(c *cobra.Command, _ []string) error {
		return a.goOn(c.Context(), false, []string{"declined"}, func(d *Desk) error {
			_, err := d.Do(c.Context(), &kernel.Deny{Reason: reason})
			return err
		})
	}
	c.Flags().StringVarP(&reason, "message", "m", "", a.Text("cli.flag.reason"))
	return c
}

func newReviseCommand(a *App) *cobra.Command {
	var note, file string
	var noWait bool
	c := a.Command("revise [FEEDBACK]", "cli.revise", "  pawl revise -m \"keep the old name as an alias\"\n  pawl revise --plan smaller.yaml", Between(0, 1), nil)
	c.RunE = func(c *cobra.Command, args []string) error {
		r := &kernel.Revise{Feedback: note}
		if len(args) > 0 {
			r.Feedback = args[0]
		}
		if r.Feedback == "" && file == "" {
			return Usage("cli.revise_nothing")
		}
		if file != "" {
			p, err := a.readPlan(file)
			if err != nil {
				return err
			}
			r.Given, r.Name = p.data, file
		}
		return a.goOn(c.Context(), noWait, []string{"completed"}, func(d *Desk) error {
			_, err := d.Do(c.Context(), r)
			return err
		})
	}
	c.Flags().StringVarP(&note, "message", "m", "", a.Text("cli.flag.feedback"))
	c.Flags().StringVar(&file, "plan", "", a.Text("cli.flag.plan"))
	c.Flags().BoolVar(&noWait, "no-wait", false, a.Text("cli.flag.no_wait"))
	return c
}

// NewPlanCommand is the group of commands about the plan that waits for an answer.
func NewPlanCommand(a *App) *cobra.Command {
	return a.Group("plan", "cli.plan", newPlanShowCommand(a), newPlanEditCommand(a), approveCommand(a, "approve [HASH]"), newPlanNewCommand(a), newPlanValidateCommand(a))
}

func newPlanShowCommand(a *App) *cobra.Command {
	var yaml, prd bool
	c := a.Command("show", "cli.plan.show", "  pawl plan show\n  pawl plan show --prd > plan.md\n  pawl plan show --yaml", Exactly(0), nil)
	c.RunE = func(c *cobra.Command, _ []string) error {
		return a.With(c.Context(), Reading(), func(d *Desk) error {
			s, err := d.planned(c.Context())
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
				_, err := a.Std.Out.Write([]byte(plan.RenderPRD(s.Solution.Plan, labelsOf(a.voice))))
				return err
			case a.Flags.JSON:
				return a.PrintJSON(s.Plan())
			}
			for _, l := range newProposal(a, s.Plan(), true, Drafts(d, s.Plan())).lines {
				a.Say(l)
			}
			return nil
		})
	}
	c.Flags().BoolVar(&yaml, "yaml", false, a.Text("cli.flag.yaml"))
	c.Flags().BoolVar(&prd, "prd", false, a.Text("cli.flag.prd"))
	return c
}

// planned reads the plan of the run in progress, or of the newest run that has one.
func (d *Desk) planned(ctx context.Context) (*kernel.Snapshot, error) {
	if _, err := d.Session(ctx); err != nil {
		return nil, err
	}
	s, err := d.Workspace.Kernel.Look(ctx)
	if err != nil || s.Solution != nil {
		return s, err
	}
	if s, err = d.Workspace.Kernel.LookLast(ctx); err == nil && s.Solution == nil {
		err = pawl.Fail(pawl.CodeNotFound, "cli.no_plan")
	}
	return s, err
}

func newPlanEditCommand(a *App) *cobra.Command {
	var from string
	c := a.Command("edit", "cli.plan.edit", "  pawl plan edit\n  pawl plan show --prd > plan.md && pawl plan edit --from plan.md", Exactly(0), nil)
	c.RunE = func(c *cobra.Command, _ []string) error {
		return a.With(c.Context(), Writing(), func(d *Desk) error {
			s, err := d.planned(c.Context())
			if err != nil {
				return err
			}
			if s.Approval == nil || s.Approval.State != kernel.ApprovalPending || s.Approval.About != "plan" {
				// What nobody would take is not edited at all.
				return pawl.Fail(pawl.CodeInvalidTransition, "kernel.nothing_to_edit", sessionState(s))
			}
			if from == "" {
				err = asker{d}.editPlan(c.Context(), s)
			} else if text, readErr := a.ReadInput(from, plan.MaxBytes); readErr != nil {
				err = readErr
			} else {
				err = asker{d}.replacePlan(c.Context(), s, string(text))
			}
			if err != nil || !a.Flags.JSON {
				return err
			}
			if s, err = d.planned(c.Context()); err != nil {
				return err
			}
			return a.PrintJSON(s.Plan())
		})
	}
	c.Flags().StringVar(&from, "from", "", a.Text("cli.flag.from"))
	return c
}

func newPlanNewCommand(a *App) *cobra.Command {
	return a.Command("new [FILE]", "cli.plan.new", "  pawl plan new plan.yaml\n  pawl plan new > plan.yaml\n  pawl plan validate plan.yaml\n  pawl run --plan plan.yaml", Between(0, 1), func(_ *cobra.Command, args []string) error {
		text := planTemplate(a.voice)
		if len(args) == 0 {
			_, err := io.WriteString(a.Std.Out, text)
			return err
		}
		return a.writeTo(args[0], func(w io.Writer) error {
			if _, err := io.WriteString(w, text); err != nil {
				return pawl.Fail(pawl.CodeIO, "cli.file_unwritable", args[0]).Because(err)
			}
			if a.Flags.JSON {
				return a.PrintJSON(map[string]string{"path": a.Path(args[0])})
			}
			a.Say(a.Style.OK() + " " + Display(args[0]))
			a.Say("  " + a.Style.Cyan(a.Text("cli.next")) + "pawl plan validate " + Display(args[0]))
			return nil
		})
	})
}

// planTemplate is a plan file that can be carried out as it is, with what each part means beside it.
func planTemplate(a *voice) string {
	note := func(key string) string { return "# " + a.Text("cli.plan.template."+key) }
	return strings.Join([]string{
		note("head"),
		"",
		note("goal"),
		"goal: " + a.Text("cli.plan.template.example"),
		note("risk"),
		"risk_level: low",
		note("constraints"),
		"constraints: []",
		"",
		note("steps"),
		"steps:",
		"  - step_id: s1",
		"    title: " + a.Text("cli.plan.template.example"),
		"    " + note("intent"),
		"    intent: " + a.Text("cli.plan.template.why"),
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

func newPlanValidateCommand(a *App) *cobra.Command {
	var schema bool
	c := a.Command("validate FILE", "cli.plan.validate", "  pawl plan validate rename.yaml\n  pawl plan validate --schema > plan.schema.json", Between(0, 1), nil)
	c.RunE = func(_ *cobra.Command, args []string) error {
		if schema {
			_, err := a.Std.Out.Write(plan.Schema())
			return err
		}
		if len(args) == 0 {
			return Usage("cli.args_few", c.UseLine(), c.CommandPath())
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

// judge tells what the policy says of a plan file.
type judge struct{ *App }

// calls asks the policy about everything that a plan would do, as the kernel does before it asks for approval.
func (a judge) calls(f planFile) ([]judgedCall, error) {
	place, err := a.Found()
	if err != nil {
		return nil, err
	}
	c, err := a.config(place)
	if err != nil {
		return nil, err
	}
	tools := a.Host.Tools()
	there := kernel.Snapshot{Config: &kernel.Config{}, Run: &kernel.Run{Place: WorkPlace(place, false), Context: &effect.ContextResult{}}}
	if h, ok := a.Host.(Grounds); ok {
		there.Run.Context.Repo, there.Config.Walled = h.Grounds(place, c)
	}
	out := []judgedCall{}
	add := func(path, step, tool string, r policy.Request) {
		line, _ := f.at.At(path)
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
		add(fmt.Sprintf("verification.commands[%d]", i), "", "verify", policy.Request{Tool: "verify", Permissions: []policy.Permission{policy.ProcExec}, Command: command})
	}
	return out, nil
}

// validatePlan checks a plan file as `pawl run` does before any work, and says what the policy will ask about or deny.
func validatePlan(a *App, name string) error {
	p, err := a.readPlan(name)
	if err != nil {
		return err
	}
	calls, err := judge{a}.calls(p)
	if err != nil {
		return err
	}
	denied := 0
	for _, c := range calls {
		if c.Verdict.Decision == policy.Deny {
			denied++
		}
	}
	if a.Flags.JSON {
		err = a.PrintJSON(map[string]any{"valid": denied == 0, "goal": p.Goal, "steps": len(p.Steps), "calls": calls})
	} else {
		judge{a}.print(name, len(p.Steps), calls)
	}
	if denied > 0 && err == nil {
		err = pawl.Fail(pawl.CodeDenied, "cli.plan.denied_calls", name, denied)
	}
	return err
}

// print lists what the policy does not simply allow, with its reasons and their codes.
func (a judge) print(name string, steps int, calls []judgedCall) {
	a.Say(a.Style.OK() + " " + a.Text("cli.plan.valid", name, steps))
	for _, c := range calls {
		symbol := a.Style.Warn()
		switch c.Verdict.Decision {
		case policy.Allow:
			continue
		case policy.Deny:
			symbol = a.Style.Bad()
		}
		where := c.Path
		if c.Line > 0 {
			where = fmt.Sprintf("%s:%d", name, c.Line)
		}
		text, paint := a.verdict(&c.Verdict)
		a.Say(symbol + " " + Display(where) + " " + a.Style.Bold(Display(strings.TrimSpace(c.Step+" "+c.Tool))))
		for _, l := range term.Wrap(text, a.Std.Width-2) {
			a.Say("  " + paint(l))
		}
		var codes []string
		for _, r := range c.Verdict.Reasons {
			if !slices.Contains(codes, string(r.Code)) {
				codes = append(codes, string(r.Code))
			}
		}
		a.Say("  " + a.Style.Dim(a.Text("cli.rule", strings.Join(codes, ", "))))
	}
}
