package planning

import (
	"slices"
	"strings"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/audit"
	"pawl/machine/workflow"
	"pawl/text/knowledge"
	"pawl/text/plan"
	"pawl/text/policy"
	"pawl/text/solution"
	"pawl/text/triage"
)

// sizeFlow takes the flow to the stage of a path. ~plan is there for its package, so that a tweak becomes light
// (docs/spec/workflow.md#c4).
func sizeFlow(tx *kernel.Tx, path workflow.Path, reason string) error {
	if path == workflow.PathTweak && tx.Flow.Mode == workflow.AutoPlan {
		path = workflow.PathLight
	}
	if tx.Flow.Stage != workflow.Evaluate {
		return nil // ~exec has gone straight into development
	}
	tx.Run.Path = path
	tx.Touch(tx.Run)
	what, at := kernel.SizedLight, knowledge.AtAnalyze
	switch path {
	case workflow.PathTweak:
		what, at = kernel.SizedTweak, knowledge.AtTweak
	case workflow.PathStandard:
		what = kernel.SizedStandard
	}
	if err := tx.Apply(what, reason); err != nil {
		return err
	}
	decideKnowledge(tx, at)
	return nil
}

// decideKnowledge sets KB_SKIPPED when the flow comes to a point that decides it, and carries it otherwise.
func decideKnowledge(tx *kernel.Tx, at knowledge.Point) {
	// The variable depends on the mode and the point alone; what becomes of the documents is asked when they are read.
	d, err := knowledge.Decide(knowledge.Question{Mode: tx.Config.KnowledgeMode, Condition: knowledge.Fine,
		Coding: true, At: at})
	if err != nil {
		return // a mode that does not exist is refused with the settings
	}
	tx.Flow.KBSkipped = knowledge.Carry(tx.Flow.KBSkipped, d)
	tx.Touch(tx.Flow)
}

// setVars changes variables beside the stage. A change of the mode is a move of its machine and is recorded as one.
func setVars(tx *kernel.Tx, next workflow.Vars, on, when string) {
	before := tx.Flow.Vars
	tx.Flow.Vars = next
	tx.Touch(tx.Flow)
	kernel.ModeMoved(tx, before.Mode, on, when)
}

// outgrows reports whether a change is too large or too dangerous for a tweak, and notes the path that it needs.
func outgrows(tx *kernel.Tx, changed []triage.Changed) bool {
	facts := triage.Measure(changed)
	facts.HighRisk = kernel.Dangerous(tx.Solution)
	path, why := triage.Outgrown(workflow.PathTweak, facts)
	if path == workflow.PathTweak {
		return false
	}
	tx.Record(tx.Run, kernel.AuditPathOutgrown, audit.Warn,
		map[string]any{"from": workflow.PathTweak, "to": path, "why": why,
			"facts": facts})
	tx.Run.Path, tx.Flow.KBSkipped = path, workflow.Undecided
	return true
}

// packSolution gives the solution its package.
func packSolution(tx *kernel.Tx, p *plan.Plan) (err error) {
	name := tx.Run.Package
	if name == "" {
		if name, err = packageName(tx, p); err != nil {
			return err
		}
	}
	tx.Solution.Package, tx.Run.Package = name, name
	tx.Touch(tx.Run)
	return nil
}

// packageName names the package after the plan's goal, or after the requirement where nothing in the goal can be a
// name.
func packageName(tx *kernel.Tx, p *plan.Plan) (string, error) {
	taken := func(name string) bool { return kernel.IsTaken(tx, kernel.KindAlias, kernel.PackageAlias, name) }
	text := p.Goal
	if _, err := solution.Feature(text); err != nil {
		if text = tx.Run.Requirement; tx.Run.Requirement == "" {
			text = tx.Run.Label
		}
	}
	name, err := solution.NewName(text, tx.Run.StartedAt, taken)
	return name.String(), err
}

// ChangeMeasured looks at what the work on a tweak has really changed. AUTO_FULL goes on as a light iteration, with a
// package; where a person has approved the plan as it is, it stays a tweak that went beyond its scope, and is logged as
// one.
func ChangeMeasured(tx *kernel.Tx) error {
	files := tx.Task.Verified.Changed
	if tx.Flow == nil || tx.Flow.Stage != workflow.Tweak || len(files) == 0 || tx.Run.Outgrown {
		return nil
	}
	changed := make([]triage.Changed, len(files))
	for n, f := range files {
		changed[n] = triage.Changed{Path: f.Path, Added: f.Added, Removed: f.Removed}
	}
	skipped := tx.Flow.KBSkipped
	switch {
	case !outgrows(tx, changed):
		return nil
	case tx.Flow.Mode != workflow.AutoFull:
		tx.Run.Path, tx.Run.Outgrown, tx.Flow.KBSkipped = workflow.PathTweak, true, skipped
		return nil
	}
	if err := packSolution(tx, &tx.Solution.Plan); err != nil {
		return err
	}
	tx.Touch(tx.Solution)
	nameSolution(tx)
	if err := tx.Apply(kernel.GrewAtWork, "the change"); err != nil {
		return err
	}
	decideKnowledge(tx, knowledge.AtAnalyze)
	return nil
}

// autoFull is in whose name AUTO_FULL approves what nobody has to be asked about (docs/spec/task.md#d21).
const autoFull pawl.Actor = "policy:auto_full"

// autoPlan is in whose name AUTO_PLAN ends with the design.
const autoPlan pawl.Actor = "policy:auto_plan"

// approvalEvent is what it is called when the plan is approved: that depends on the stage, and in AUTO_FULL on whose
// word it is.
func approvalEvent(tx *kernel.Tx, by pawl.Actor) kernel.Event {
	switch {
	case tx.Flow.Stage != workflow.Design:
		return kernel.PlanAllowed
	case by == autoFull:
		return kernel.PlanFlowsOn
	}
	return kernel.PlanApproved
}

// namedFiles lists the files that a plan says it changes.
func namedFiles(tx *kernel.Tx, p *plan.Plan) []string {
	var out []string
	for _, s := range p.Steps {
		for _, c := range s.ToolCalls {
			v, err := kernel.JudgeCall(tx, c)
			if err != nil {
				continue // a call that is denied changes nothing
			}
			for _, path := range v.Paths {
				if path.Op != policy.OpRead {
					out = append(out, path.Rel)
				}
			}
		}
		for _, a := range s.ExpectedArtifacts {
			if a.Type == plan.ArtifactFile {
				out = append(out, strings.TrimPrefix(a.Value, "./"))
			}
		}
	}
	for _, f := range p.TestFiles() {
		out = append(out, f.Path)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// grantPlan approves the plan that waits, in the name of a person or of a policy, and queues its task.
func grantPlan(tx *kernel.Tx, by pawl.Actor, reason string) error {
	grants, err := tx.Config.Grants(tx.Task.Plan)
	if err != nil {
		return err
	}
	tx.Task.Approval, tx.Task.Named, tx.Task.Grants = tx.Approval.ID, namedFiles(tx, tx.Task.Plan), grants
	tx.Task.Unseen = tx.Config.Proofs && len(tx.Run.Given) == 0 && kernel.TraitsOf(tx).Works &&
		(by.Kind() != pawl.KindUser || tx.Approval.Way == kernel.WayFlag)
	tx.Solution.Bound = true
	tx.Touch(tx.Solution)
	tx.Touch(tx.Task)
	tx.Task.Due = tx.Now
	if by != tx.Env.Actor {
		tx.Voice = by
		defer func() { tx.Voice = "" }()
	}
	if err := tx.Apply(approvalEvent(tx, by), reason); err != nil {
		return err
	}
	tx.Session.Approval = ""
	tx.Result = tx.Task.ID
	return nil
}

// PlanApproved takes a person's yes to the plan. Who grants whatever waits has not looked at it.
func PlanApproved(tx *kernel.Tx, a *kernel.Approval) error {
	if tx.Config.Proofs && a.Way != kernel.WayFlag {
		tx.Task.ApprovedBy = tx.Env.Actor
	}
	return grantPlan(tx, tx.Env.Actor, "approved")
}

// PlanDeclined takes a person's no to the plan.
func PlanDeclined(tx *kernel.Tx, _ *kernel.Approval, reason string) error {
	return kernel.EndPlan(tx, reason, "declined")
}
