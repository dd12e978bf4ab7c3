package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"pawl"
)

// approved is what an approval is about: everything in a plan that says what will be done and how it will be judged.
type approved struct {
	Constraints  []string           `json:"constraints,omitempty"`
	Criteria     []Criterion        `json:"criteria,omitempty"`
	Goal         string             `json:"goal"`
	Network      []string           `json:"network,omitempty"`
	Risk         pawl.Risk          `json:"risk_level"`
	Steps        []approvedStep     `json:"steps"`
	Verification VerificationPolicy `json:"verification"`
}

type approvedStep struct {
	Artifacts []Artifact     `json:"expected_artifacts,omitempty"`
	DependsOn []string       `json:"depends_on,omitempty"`
	ID        string         `json:"step_id"`
	Intent    string         `json:"intent"`
	Rollback  string         `json:"rollback_hint,omitempty"`
	Skipped   bool           `json:"skipped,omitempty"`
	Title     string         `json:"title"`
	Calls     []approvedCall `json:"tool_calls,omitempty"`
}

type approvedCall struct {
	Args any    `json:"args_hint"`
	Name string `json:"name"`
	Why  string `json:"why,omitempty"`
}

// Hash returns the SHA-256 of a plan, in hexadecimal: what an approval is bound to. It covers everything that a person
// approves: the goal, the constraints, the criteria, the network grants, each step with its dependencies, calls,
// artifacts and undo hint, the order of the steps, the verification and the risk. It leaves out plan_id and created_at,
// which say who keeps the plan and since when, and the progress of the steps, so that carrying a plan out does not
// change its hash. That a step is skipped is a decision, not progress, and is covered.
//
// The hash does not depend on how the plan was written: order of members, blanks, escapes, and absent or empty lists
// make no difference. Repairs that were appended are part of the plan; Planned takes them off.
func Hash(p Plan) string {
	a := approved{Constraints: p.Constraints, Criteria: p.Criteria, Goal: p.Goal, Network: p.Network,
		Risk: p.RiskLevel, Verification: p.Verification}
	for _, s := range p.Steps {
		step := approvedStep{
			Artifacts: s.ExpectedArtifacts, DependsOn: s.DependsOn, ID: s.StepID, Intent: s.Intent,
			Rollback: s.RollbackHint, Skipped: s.Status == Skipped, Title: s.Title,
		}
		for _, c := range s.ToolCalls {
			step.Calls = append(step.Calls, approvedCall{canonical(c.ArgsHint), c.Name, c.Why})
		}
		a.Steps = append(a.Steps, step)
	}
	// The values are strings, booleans, numbers that were read from JSON, and lists and maps of these: they always
	// encode.
	data, _ := json.Marshal(a)
	sum := sha256.Sum256(append([]byte("pawl plan 1\n"), data...))
	return hex.EncodeToString(sum[:])
}

// canonical returns arguments in a form whose encoding has sorted members. Arguments that are not JSON stand for
// themselves, in a form that no JSON arguments have.
func canonical(raw json.RawMessage) any {
	v, err := parseJSON(raw)
	if err != nil {
		return [1]string{hex.EncodeToString(raw)}
	}
	return v.plain()
}
