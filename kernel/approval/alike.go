package approval

import (
	"pawl"
	"pawl/kernel"
	"pawl/text/plan"
	"pawl/text/policy"
)

// SoleRule is the one rule that all falls under that is to be confirmed in the plan of a session, where a confirmation
// of it can hold for a session; "" where it is more than that, or not known yet because an agent decides while it
// works.
func SoleRule(s *kernel.Snapshot) policy.Code {
	sol, p := s.Solution, planOf(s)
	if p == nil || sol == nil || reaches(s, p) {
		return ""
	}
	var verdicts []*policy.Verdict
	for _, step := range p.Steps {
		if len(step.ToolCalls) == 0 {
			return ""
		}
		for n := range step.ToolCalls {
			v := verdictOn(sol, step.StepID, n)
			if v == nil {
				return ""
			}
			verdicts = append(verdicts, v)
		}
	}
	for n := range sol.Plan.Verification.Commands {
		if v := verdictOn(sol, "verification", n); v != nil {
			verdicts = append(verdicts, v)
		}
	}
	rule := policy.CodeAllowed
	for _, v := range verdicts {
		switch {
		case v.Decision == policy.Allow:
		case v.Scope != policy.Session, v.Person, v.Network, len(v.Reasons) != 1, rule != policy.CodeAllowed &&
			rule != v.Code:
			return ""
		default:
			rule = v.Code
		}
	}
	return rule
}

// Risk is that of the plan of a session: what a plan does of extremely high risk is high, whatever it says.
func Risk(s *kernel.Snapshot) pawl.Risk {
	sol, p := s.Solution, planOf(s)
	switch {
	case p == nil || sol == nil:
		return ""
	case kernel.Dangerous(sol):
		return pawl.RiskHigh
	}
	for _, step := range p.Steps {
		for n := range step.ToolCalls {
			if v := verdictOn(sol, step.StepID, n); v != nil && v.Person {
				return pawl.RiskHigh
			}
		}
	}
	return p.RiskLevel
}

// Together is the rule under which the question of a session may be answered together with others of that rule: it is
// about a plan of low risk, in which nothing else is to be confirmed. It is "" where the question has to be looked at
// by itself, and where there is none.
func Together(s *kernel.Snapshot) policy.Code {
	if a := s.Approval; a == nil || a.State != kernel.ApprovalPending || a.About != "plan" || Risk(s) != pawl.RiskLow {
		return ""
	}
	return SoleRule(s)
}

// planOf is the plan of a session, as its task has it once there is one.
func planOf(s *kernel.Snapshot) *plan.Plan {
	switch {
	case s.Task != nil && s.Task.Plan != nil:
		return s.Task.Plan
	case s.Solution != nil:
		return &s.Solution.Plan
	}
	return nil
}

// reaches reports whether a plan asks for the network, also by a name that cannot be granted.
func reaches(s *kernel.Snapshot, p *plan.Plan) bool {
	return len(p.Network) > 0 || s.Task != nil && len(s.Task.Grants) > 0
}

// verdictOn is the policy's verdict on a call of a step, nil where there is none.
func verdictOn(sol *kernel.Solution, step string, call int) *policy.Verdict {
	for n := range sol.Verdicts {
		if j := &sol.Verdicts[n]; j.Step == step && j.Call == call {
			return &j.Verdict
		}
	}
	return nil
}
