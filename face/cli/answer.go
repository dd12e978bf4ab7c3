package cli

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"pawl"
	"pawl/face/cli/term"
	"pawl/kernel"
	"pawl/kernel/effect"
	"pawl/kernel/query"
	"pawl/kernel/view"
	"pawl/text/plan"
	"pawl/text/policy"
)

func newApproveCommand(a *App) *cobra.Command { return approveCommand(a, "approve [HASH]") }

// approveCommand is `pawl approve`, which `pawl plan approve` is too.
func approveCommand(a *App, use string) *cobra.Command {
	var yes, noWait, every bool
	c := a.Command(use, "cli.approve", "  pawl approve\n  pawl approve 1a2b3c4d5e6f\n  pawl approve --all\n  pawl approve --yes --no-wait", Between(0, 1), nil)
	c.RunE = func(c *cobra.Command, args []string) error {
		hash := ""
		switch {
		case every && len(args) > 0:
			return Usage("cli.flags_conflict", "--all", args[0])
		case every && a.Flags.issue != "":
			return Usage("cli.flags_conflict", "--all", "--issue")
		case every:
			return a.With(c.Context(), Writing(), func(sess *Session) error { return approveAll(c.Context(), sess, yes) })
		}
		if len(args) > 0 {
			hash = args[0]
		}
		return openAndGoOn(c.Context(), a, noWait, []string{"completed"}, func(sess *Session) error { return approveOpen(c.Context(), sess, hash, yes) })
	}
	c.Flags().BoolVar(&yes, "yes", false, a.Text("cli.flag.yes_open"))
	c.Flags().BoolVar(&noWait, "no-wait", false, a.Text("cli.flag.no_wait"))
	c.Flags().BoolVar(&every, "all", false, a.Text("cli.flag.approve_all"))
	return c
}

// maxAll is how many questions `pawl approve --all` goes through at once: more than anybody reads.
const maxAll = 200

// approveAll puts each plan of the board that waits before the person. Those that need nothing confirmed but what one rule is about,
// and that for a whole session, are shown and approved together: with one word, or by --yes. Each other one is asked about by itself.
func approveAll(ctx context.Context, sess *Session, yes bool) error {
	asking, err := sess.Ask().Board().Asking(ctx, maxAll)
	if err != nil {
		return err
	}
	alike := map[policy.Code][]*waitingPlan{}
	var left []*view.Issue
	for _, i := range asking {
		if !yes && !sess.Present() {
			left = append(left, i) // nobody is there to say the one word
			continue
		}
		w, err := waitingOf(ctx, sess, i)
		switch {
		case err != nil:
			return err
		case w == nil:
			left = append(left, i)
		default:
			alike[w.rule] = append(alike[w.rule], w)
		}
	}
	approved := []string{}
	for _, rule := range slices.Sorted(maps.Keys(alike)) {
		ok := yes
		if !yes && sess.Present() {
			if ok, err = Confirm(ctx, sess.Printer, "\n"+sess.Text("cli.approve.alike", labelsOfPlans(alike[rule]), string(rule))); err != nil {
				return err
			}
		}
		for _, w := range alike[rule] {
			if !ok {
				left = append(left, w.issue)
				continue
			}
			if err := w.approve(ctx, sess, yes); err != nil {
				remark(sess.Printer, err) // it was answered elsewhere, or is another plan by now
				left = append(left, w.issue)
				continue
			}
			approved = append(approved, w.issue.Label)
		}
	}
	open, err := putEach(ctx, sess, left)
	if err != nil {
		return err
	}
	return approvedAll(sess.Printer, approved, open)
}

// waitingPlan is a plan of an issue that waits, and the rule that all falls under that is to be confirmed in it.
type waitingPlan struct {
	issue *view.Issue
	hash  string
	rule  policy.Code
}

func labelsOfPlans(plans []*waitingPlan) string {
	labels := make([]string, len(plans))
	for n, w := range plans {
		labels[n] = w.issue.Label
	}
	return strings.Join(labels, ", ")
}

// waitingOf shows the plan of an issue that can be approved together with others. It returns nil where there is none.
func waitingOf(ctx context.Context, sess *Session, i *view.Issue) (w *waitingPlan, err error) {
	err = inIssue(sess, i, func(at *Session) error {
		s, err := at.Workspace.Kernel.Look(ctx)
		if err != nil || s.Session == nil || s.Approval == nil || s.Approval.State != kernel.ApprovalPending {
			return err
		}
		rule := soleRule(s)
		if rule == "" {
			return nil
		}
		if sess.JSON {
			err = at.PrintLine(map[string]any{"type": "approval", "issue": i.Label, "approval": query.StatusOf(s).Approval, "plan": query.PlanOf(s)})
		} else if at.Say("\n" + at.Style.Bold(i.Label) + "  " + Display(i.Title)); showApproval(ctx, at, s, query.PlanOf(s), false) {
			return nil // what was not shown in full is asked about by itself
		}
		w = &waitingPlan{i, s.Approval.Hash, rule}
		return err
	})
	return w, err
}

// soleRule is the one rule that all falls under that is to be confirmed in a plan, where a confirmation of it can hold for a session; ""
// where it is more than that, or not known yet because an agent decides while it works.
func soleRule(s *kernel.Snapshot) policy.Code {
	p := query.PlanOf(s)
	if s.Approval.About != "plan" || len(p.Network) > 0 {
		return ""
	}
	verdicts := slices.Clone(p.Commands)
	for _, step := range p.Steps {
		if len(step.Calls) == 0 {
			return ""
		}
		for _, c := range step.Calls {
			if c.Verdict == nil {
				return ""
			}
			verdicts = append(verdicts, *c.Verdict)
		}
	}
	rule := policy.CodeAllowed
	for _, v := range verdicts {
		switch {
		case v.Decision == policy.Allow:
		case v.Scope != policy.Session, v.Person, v.Network, len(v.Reasons) != 1, rule != policy.CodeAllowed && rule != v.Code:
			return ""
		default:
			rule = v.Code
		}
	}
	return rule
}

// approve approves a plan exactly as it was shown.
func (w *waitingPlan) approve(ctx context.Context, sess *Session, yes bool) error {
	way := kernel.WayTerminal
	if yes {
		way = kernel.WayFlag
	}
	return inIssue(sess, w.issue, func(at *Session) error {
		_, err := at.Do(ctx, &kernel.Approve{Hash: w.hash, Way: way})
		return err
	})
}

// putEach asks about issues one by one and returns those that are still open. Without a terminal all of them are, and how each is
// answered is told.
func putEach(ctx context.Context, sess *Session, issues []*view.Issue) (open []string, err error) {
	for _, i := range issues {
		asked, err := Put(ctx, sess, i)
		switch needed := pawl.CodeOf(err) == pawl.CodeApprovalNeeded; {
		case err != nil && !needed:
			return nil, err
		case needed || !asked:
			open = append(open, i.Label)
		}
	}
	return open, nil
}

// approvedAll says what was approved and what is left.
func approvedAll(pr *Printer, approved, open []string) error {
	if pr.JSON {
		if err := pr.PrintLine(map[string]any{"type": "result", "approved": approved, "waiting_for_a_person": append([]string{}, open...)}); err != nil {
			return err
		}
	} else {
		for _, label := range approved {
			pr.Say(pr.Style.OK() + " " + pr.Text("cli.approve.did", label))
		}
		switch {
		case len(approved)+len(open) == 0:
			pr.Note(pr.Text("cli.approve.none"))
		case len(approved) > 0:
			pr.Say("  " + pr.Style.Cyan(pr.Text("cli.next")) + "pawl worker")
		}
	}
	if len(open) > 0 {
		return pawl.Fail(pawl.CodeApprovalNeeded, "cli.approve.open", strings.Join(open, ", "), open[0])
	}
	return nil
}

// approveOpen grants the open question. Without a hash the person is shown what is asked first; where nobody sits at a
// terminal, only --yes grants it, whatever hash is named.
func approveOpen(ctx context.Context, sess *Session, hash string, yes bool) error {
	if hash != "" && (yes || sess.Std.TTY) {
		_, err := sess.Do(ctx, &kernel.Approve{Hash: hash, Way: kernel.WayCommand})
		return err
	}
	s, err := sess.Workspace.Kernel.Look(ctx)
	if err != nil {
		return err
	}
	if s.Session == nil || s.Approval == nil || s.Approval.State != kernel.ApprovalPending {
		_, err := sess.Do(ctx, &kernel.Approve{}) // the kernel's refusal says in which state the session is
		return err
	}
	if !yes && sess.rep != nil {
		return nil // the work that follows puts the question
	}
	if !yes {
		tellHow(ctx, sess, s, query.PlanOf(s))
		return shown{pawl.Fail(pawl.CodeApprovalNeeded, "cli.approval_needed", aboutText(sess.Printer, s.Approval.About), Short(s.Approval.Hash))}
	}
	_, err = sess.Do(ctx, &kernel.Approve{Hash: s.Approval.Hash, Way: kernel.WayFlag})
	return err
}

func newDenyCommand(a *App) *cobra.Command {
	var reason string
	c := a.Command("deny", "cli.deny", "  pawl deny -m \"not now\"", Exactly(0), nil)
	c.RunE = func(c *cobra.Command, _ []string) error {
		return openAndGoOn(c.Context(), a, false, []string{"declined"}, func(sess *Session) error {
			_, err := sess.Do(c.Context(), &kernel.Deny{Reason: reason})
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
			p, err := readPlan(a, file)
			if err != nil {
				return err
			}
			r.Given, r.Name = p.data, file
		}
		return openAndGoOn(c.Context(), a, noWait, []string{"completed"}, func(sess *Session) error {
			_, err := sess.Do(c.Context(), r)
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
		return a.With(c.Context(), Reading(), func(sess *Session) error {
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
				_, err := a.Std.Out.Write([]byte(plan.RenderPRD(s.Solution.Plan, labelsOf(a.Printer))))
				return err
			case a.JSON:
				return a.PrintJSON(query.PlanOf(s))
			}
			for _, l := range newProposal(a.Printer, query.PlanOf(s), true, Drafts(sess, query.PlanOf(s))).lines {
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
func plannedWork(ctx context.Context, sess *Session) (*kernel.Snapshot, error) {
	if _, err := sess.View(ctx); err != nil {
		return nil, err
	}
	s, err := sess.Workspace.Kernel.Look(ctx)
	if err != nil || s.Solution != nil {
		return s, err
	}
	if s, err = sess.Workspace.Kernel.LookLast(ctx); err == nil && s.Solution == nil {
		err = pawl.Fail(pawl.CodeNotFound, "cli.no_plan")
	}
	return s, err
}

func newPlanEditCommand(a *App) *cobra.Command {
	var from string
	c := a.Command("edit", "cli.plan.edit", "  pawl plan edit\n  pawl plan show --prd > plan.md && pawl plan edit --from plan.md", Exactly(0), nil)
	c.RunE = func(c *cobra.Command, _ []string) error {
		return a.With(c.Context(), Writing(), func(sess *Session) error {
			s, err := plannedWork(c.Context(), sess)
			if err != nil {
				return err
			}
			if s.Approval == nil || s.Approval.State != kernel.ApprovalPending || s.Approval.About != "plan" {
				// What nobody would take is not edited at all.
				return pawl.Fail(pawl.CodeInvalidTransition, "kernel.nothing_to_edit", sessionState(s))
			}
			if from == "" {
				err = editPlan(c.Context(), sess, s)
			} else if text, readErr := a.ReadInput(from, plan.MaxBytes); readErr != nil {
				err = readErr
			} else {
				err = replacePlan(c.Context(), sess, s, string(text))
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

func newPlanNewCommand(a *App) *cobra.Command {
	return a.Command("new [FILE]", "cli.plan.new", "  pawl plan new plan.yaml\n  pawl plan new > plan.yaml\n  pawl plan validate plan.yaml\n  pawl run --plan plan.yaml", Between(0, 1), func(_ *cobra.Command, args []string) error {
		text := planTemplate(a.Printer)
		if len(args) == 0 {
			_, err := io.WriteString(a.Std.Out, text)
			return err
		}
		return writeTo(a, args[0], func(w io.Writer) error {
			if _, err := io.WriteString(w, text); err != nil {
				return pawl.Fail(pawl.CodeIO, "cli.file_unwritable", args[0]).Because(err)
			}
			if a.JSON {
				return a.PrintJSON(map[string]string{"path": a.Path(args[0])})
			}
			a.Say(a.Style.OK() + " " + Display(args[0]))
			a.Say("  " + a.Style.Cyan(a.Text("cli.next")) + "pawl plan validate " + Display(args[0]))
			return nil
		})
	})
}

// planTemplate is a plan file that can be carried out as it is, with what each part means beside it.
func planTemplate(pr *Printer) string {
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

// judgeCalls asks the policy about everything that a plan would do, as the kernel does before it asks for approval.
func judgeCalls(a *App, f planFile) ([]judgedCall, error) {
	place, err := a.Found()
	if err != nil {
		return nil, err
	}
	c, err := loadConfig(a, place)
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
	p, err := readPlan(a, name)
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
func printJudged(pr *Printer, name string, steps int, calls []judgedCall) {
	pr.Say(pr.Style.OK() + " " + pr.Text("cli.plan.valid", name, steps))
	for _, c := range calls {
		symbol := pr.Style.Warn()
		switch c.Verdict.Decision {
		case policy.Allow:
			continue
		case policy.Deny:
			symbol = pr.Style.Bad()
		}
		where := c.Path
		if c.Line > 0 {
			where = fmt.Sprintf("%s:%d", name, c.Line)
		}
		text, paint := verdictText(pr, &c.Verdict)
		pr.Say(symbol + " " + Display(where) + " " + pr.Style.Bold(Display(strings.TrimSpace(c.Step+" "+c.Tool))))
		for _, l := range term.Wrap(text, pr.Std.Width-2) {
			pr.Say("  " + paint(l))
		}
		var codes []string
		for _, r := range c.Verdict.Reasons {
			if !slices.Contains(codes, string(r.Code)) {
				codes = append(codes, string(r.Code))
			}
		}
		pr.Say("  " + pr.Style.Dim(pr.Text("cli.rule", strings.Join(codes, ", "))))
	}
}
