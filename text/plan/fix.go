package plan

import (
	"fmt"
	"strconv"

	"pawl/text/pattern"

	"pawl"
)

// repairID is the id of a step that a repair appended: "fix2-1" is the first step of the second repair.
var repairID = pattern.New(`^fix([1-9][0-9]?)-([1-9][0-9]?)$`)

// Repair returns the number of the repair that a step belongs to, and 0 for a step of the plan itself.
func (s Step) Repair() int {
	m := repairID.Get().FindStringSubmatch(s.StepID)
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(m[1]) // two digits at most, by the expression
	return n
}

// FixSteps returns a copy of the plan with the steps of repair n, from 1 to 99, at its end. They are named fix<n>-1,
// fix<n>-2 and so on, are pending, and follow each other; the ids and dependencies that the agent gave them are
// dropped, and what they repair is not among their dependencies, since it may be blocked. It fails when the plan has
// this repair already or when there are no steps or more than 30.
func FixSteps(p Plan, n int, steps []Step) (Plan, error) {
	if n < 1 || n > 99 || len(steps) == 0 || len(steps) > hardMaxSteps {
		return Plan{}, pawl.Fail(pawl.CodeInvalid, "plan.repair_size", n, len(steps), hardMaxSteps).In("plan.FixSteps")
	}
	out := p.Clone()
	for _, s := range p.Steps {
		if s.Repair() == n {
			return Plan{}, pawl.Fail(pawl.CodeConflict, "plan.repair_exists", n).In("plan.FixSteps")
		}
	}
	last := ""
	for i, s := range steps {
		s = s.clone()
		s.StepID, s.Status, s.DependsOn = fmt.Sprintf("fix%d-%d", n, i+1), Pending, nil
		if last != "" {
			s.DependsOn = []string{last}
		}
		last = s.StepID
		out.Steps = append(out.Steps, s)
	}
	return out, nil
}

// Planned returns a copy of the plan without the steps that repairs appended: what was approved, when the plan was
// approved before its first repair. Check keeps such ids out of a plan that is up for approval.
func Planned(p Plan) Plan {
	out := p.Clone()
	out.Steps = out.Steps[:0]
	for _, s := range p.Steps {
		if s.Repair() == 0 {
			out.Steps = append(out.Steps, s.clone())
		}
	}
	return out
}
