package view

import (
	"encoding/json"

	"pawl"
	"pawl/kernel/effect"
	"pawl/text/plan"
	"pawl/text/policy"
	"pawl/text/triage"
)

// Plan is the answer to `pawl plan show --json`: what is to be done, what the policy says of each call, how it will be
// judged, and the hash that an approval is bound to.
type Plan struct {
	ID          string   `json:"plan_id"`
	Hash        string   `json:"hash"`
	Goal        string   `json:"goal"`
	Constraints []string `json:"constraints"`
	// Criteria are what has to hold once the plan is carried out, each with the way in which that is shown.
	Criteria []plan.Criterion `json:"criteria,omitempty"`
	Risk     pawl.Risk        `json:"risk_level"`
	// Stated is the risk that the plan says it has, where pawl judges it graver.
	Stated pawl.Risk `json:"stated_risk_level,omitempty"`
	// HighRisk is what the plan would do of extremely high risk, each once.
	HighRisk []triage.Finding `json:"ehrb,omitempty"`
	// Network are the network grants that the plan names, with the places that they stand for on this machine. Where
	// these cannot be found out, a grant has none.
	Network []effect.Grant `json:"network,omitempty"`
	Agent   string         `json:"agent,omitempty"`
	Task    string         `json:"task,omitempty"`
	Steps   []PlanStep     `json:"steps"`
	// Verification is what the plan asks for; Checks are the commands that this comes to, Commands the verdicts on
	// those that the plan names itself.
	Verification plan.VerificationPolicy `json:"verification"`
	Checks       []effect.Check          `json:"checks"`
	Commands     []policy.Verdict        `json:"command_verdicts,omitempty"`
	// Red and Green name the checks that failed and passed when pawl ran them on the very tree that the work starts
	// from, as far as that is known when the plan waits for approval.
	Red   []string `json:"red_before,omitempty"`
	Green []string `json:"green_before,omitempty"`
	// Needs is what the checks need and what was not on the machine when the plan was made; a plan that waits for
	// approval has it.
	Needs []effect.Need `json:"needs,omitempty"`
	// Unkept is what an undo could not bring back if the plan changed it, where it is to be carried out in place.
	Unkept    []effect.Unkept `json:"unkept,omitempty"`
	Gates     []string        `json:"gates"`
	Approval  *Approval       `json:"approval,omitempty"`
	CreatedAt plan.Instant    `json:"created_at,omitzero"`
	// Package is the folder below .pawl that shows the plan.
	Package string `json:"package,omitempty"`
}

// PlanStep is one step with its calls.
type PlanStep struct {
	StepLine
	Intent    string          `json:"intent"`
	DependsOn []string        `json:"depends_on,omitempty"`
	Calls     []PlanCall      `json:"tool_calls"`
	Artifacts []plan.Artifact `json:"expected_artifacts,omitempty"`
	Undo      string          `json:"rollback_hint,omitempty"`
}

// PlanCall is one call with the policy's verdict, which is nil for a call that was not part of the approved plan.
type PlanCall struct {
	Tool    string          `json:"tool"`
	Args    json.RawMessage `json:"args"`
	Why     string          `json:"why,omitempty"`
	Verdict *policy.Verdict `json:"verdict,omitempty"`
}

// PlanOf fills the part of a Plan that the plan itself says. Verdict returns the policy's verdict on call n of a step,
// or nil.
func PlanOf(p *plan.Plan, verdict func(step string, n int) *policy.Verdict) Plan {
	out := Plan{Constraints: []string{}, Steps: []PlanStep{}, Checks: []effect.Check{}, Gates: []string{}}
	if p == nil {
		return out
	}
	out.ID, out.Goal, out.Risk, out.Verification, out.CreatedAt = p.PlanID, p.Goal, p.RiskLevel, p.Verification,
		p.CreatedAt
	out.Constraints, out.Criteria = append(out.Constraints, p.Constraints...), p.Criteria
	for _, n := range p.Network {
		out.Network = append(out.Network, effect.Grant{Name: n})
	}
	for i, line := range StepsOf(p) {
		s := p.Steps[i]
		step := PlanStep{StepLine: line, Intent: s.Intent, DependsOn: s.DependsOn, Artifacts: s.ExpectedArtifacts,
			Undo: s.RollbackHint, Calls: []PlanCall{}}
		for n, c := range s.ToolCalls {
			args := c.ArgsHint
			if len(args) == 0 {
				args = json.RawMessage("{}")
			}
			step.Calls = append(step.Calls,
				PlanCall{Tool: c.Name, Args: args, Why: c.Why, Verdict: verdict(s.StepID, n)})
		}
		out.Steps = append(out.Steps, step)
	}
	return out
}
