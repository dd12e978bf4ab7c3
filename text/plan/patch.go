package plan

import (
	"slices"
)

// Patch changes what is left of a plan while it is carried out (docs/spec/turn.md#plan-patch, docs/spec/turn.md#b6).
// Title replaces the goal, and Criteria (EXT) all criteria. Nothing of a patch is optional in effect: Apply does all of
// it or fails.
type Patch struct {
	Title       *string      `json:"title,omitempty"`
	RemoveSteps []string     `json:"remove_steps,omitempty"`
	UpdateSteps []StepUpdate `json:"update_steps,omitempty"`
	AddSteps    []Step       `json:"add_steps,omitempty"`
	Criteria    *[]Criterion `json:"criteria,omitempty"`
	Reason      string       `json:"reason,omitempty"`
}

// StepUpdate replaces fields of one step; a nil field is kept. Description is the step's intent, Dependencies its
// depends_on and ToolsExpected its tool_calls: the names are those of the protocol that agents speak. Title,
// ExpectedArtifacts and RollbackHint are EXT.
type StepUpdate struct {
	ID                string              `json:"id"`
	Title             *string             `json:"title,omitempty"`
	Description       *string             `json:"description,omitempty"`
	Dependencies      *[]string           `json:"dependencies,omitempty"`
	ToolsExpected     *[]ToolCallTemplate `json:"tools_expected,omitempty"`
	ExpectedArtifacts *[]Artifact         `json:"expected_artifacts,omitempty"`
	RollbackHint      *string             `json:"rollback_hint,omitempty"`
}

func (p Patch) empty() bool {
	return p.Title == nil && p.Criteria == nil && len(p.RemoveSteps)+len(p.UpdateSteps)+len(p.AddSteps) == 0
}

// Apply returns the plan with the patch carried out: removals, then updates, then additions at the end. Steps that are
// done stay as they are, and a patch that names one is refused. A skipped step may be updated but stays skipped; any
// other updated step is pending again, and so is every added step. The result must have unique ids, dependencies that
// exist and form no cycle, and no more steps than limits allows; a patch that adds too many is refused, never cut.
//
// The error is a *pawl.Error of CodeInvalid with a *Malformed whose fields are paths of the patch where the patch
// itself is at fault, and of the resulting plan otherwise. p is not changed. The tools of the result are for Check.
func Apply(p Plan, patch Patch, limits Limits) (Plan, error) {
	const op = "plan.Apply"
	var found problems
	shapeOfPatch(patch, &found)
	if max(len(patch.RemoveSteps), len(patch.UpdateSteps), len(patch.AddSteps)) > maxSteps {
		return Plan{}, found.err(op, "")
	}
	out := p.Clone()
	named := map[string]string{} // step id → where the patch named it
	a := applier{plan: p, named: named, found: &found}
	for i, id := range patch.RemoveSteps {
		a.claim(index("remove_steps", i), id)
	}
	for i, u := range patch.UpdateSteps {
		path := index("update_steps", i) + ".id"
		if at, ok := a.claim(path, u.ID); ok {
			u.apply(&out.Steps[at])
		}
	}
	out.Steps = slices.DeleteFunc(out.Steps, func(s Step) bool { return slices.Contains(patch.RemoveSteps, s.StepID) })
	for i, s := range patch.AddSteps {
		path := index("add_steps", i) + ".step_id"
		if s.Repair() > 0 {
			found.at(path, "plan.reserved_id", s.StepID)
		}
		if slices.ContainsFunc(out.Steps, func(o Step) bool { return o.StepID == s.StepID }) {
			found.at(path, "plan.duplicate_step", clip(s.StepID), "plan")
		}
		s = s.clone()
		s.Status = Pending
		out.Steps = append(out.Steps, s)
	}
	if err := found.err(op, ""); err != nil {
		return Plan{}, err
	}
	if patch.Title != nil {
		out.Goal = *patch.Title
	}
	if patch.Criteria != nil {
		out.Criteria = cloneCriteria(*patch.Criteria)
	}
	shapeOf(out, &found)
	limits.MaxRepairs = max(limits.MaxRepairs, lastRepair(p))
	limits.check(out, &found)
	graph(out, &found)
	if err := found.err(op, ""); err != nil {
		return Plan{}, err
	}
	return out, nil
}

// lastRepair returns the highest number of a repair in the plan, 0 without repairs.
func lastRepair(p Plan) (n int) {
	for _, s := range p.Steps {
		n = max(n, s.Repair())
	}
	return n
}

// applier checks which steps a patch touches.
type applier struct {
	plan  Plan
	named map[string]string
	found *problems
}

// claim returns the place of a step that the patch may touch, and reports why it may not.
func (a applier) claim(path, id string) (int, bool) {
	at, ok := a.plan.Find(id)
	if !ok {
		ids := make([]string, len(a.plan.Steps))
		for i, s := range a.plan.Steps {
			ids[i] = s.StepID
		}
		unknown(a.found, path, "plan.unknown_step", id, ids)
		return 0, false
	}
	if a.plan.Steps[at].Status == Done {
		a.found.at(path, "plan.done_step", id)
		return 0, false
	}
	if first, twice := a.named[id]; twice {
		a.found.at(path, "plan.named_twice", id, first)
		return 0, false
	}
	a.named[id] = path
	return at, true
}

func (u StepUpdate) apply(s *Step) {
	set(&s.Title, u.Title)
	set(&s.Intent, u.Description)
	set(&s.RollbackHint, u.RollbackHint)
	set(&s.DependsOn, u.Dependencies)
	set(&s.ToolCalls, u.ToolsExpected)
	set(&s.ExpectedArtifacts, u.ExpectedArtifacts)
	*s = s.clone() // nothing is shared with the patch
	if s.Status != Skipped {
		s.Status = Pending
	}
}

func set[T any](dst, src *T) {
	if src != nil {
		*dst = *src
	}
}
