package llm

import (
	"strings"

	"pawl/text/criteria"
	"pawl/text/plan"
)

// planSchema is the form of a plan as a model gives it: the plan of docs/spec/turn.md#plan without what pawl fills in
// itself.
const planSchema = `{"type":"object","additionalProperties":false,"required":["goal","steps","verification","risk_level"],"properties":{` +
	`"goal":{"type":"string"},"constraints":{"type":"array","items":{"type":"string"}},"risk_level":{"type":"string","enum":["low","medium","high"]},` +
	`"network":{"type":"array","items":{"type":"string"},"description":"package registries that a step has to reach, such as go or npm; nothing else"},` +
	`"criteria":{"type":"array","description":"what holds once the work is done, and how the system can show it","items":{"type":"object","additionalProperties":false,"required":["id","text","proof"],"properties":{` +
	`"id":{"type":"string"},"text":{"type":"string"},"from":{"type":"string"},"proof":{"type":"string","enum":["check","kept","gone","diff","review","person"]},"run":{"type":"string"},` +
	`"tests":{"type":"array","items":{"type":"string"}},"checks":{"type":"array","items":{"type":"string"}},"paths":{"type":"array","items":{"type":"string"}},"texts":{"type":"array","items":{"type":"string"}}}}},` +
	`"steps":{"type":"array","minItems":1,"items":{"type":"object","additionalProperties":false,"required":["step_id","title","intent"],"properties":{` +
	`"step_id":{"type":"string"},"title":{"type":"string"},"intent":{"type":"string"},"depends_on":{"type":"array","items":{"type":"string"}},` +
	`"expected_artifacts":{"type":"array","items":{"type":"object","additionalProperties":false,"required":["type","value"],"properties":{"type":{"type":"string","enum":["file","command","note"]},"value":{"type":"string"}}}},` +
	`"tool_calls":{"type":"array","items":{"type":"object","additionalProperties":false,"required":["name","args_hint"],"properties":{"name":{"type":"string"},"args_hint":{"type":"object"},"why":{"type":"string"}}}}}}},` +
	`"verification":{"type":"object","additionalProperties":false,"required":["mode"],"properties":{` +
	`"mode":{"type":"string","enum":["lint","test","build","custom"]},"commands":{"type":"array","items":{"type":"string"}}}}}}`

// proposal reads a plan as a model gave it, as strictly as one of a file, and checks it as every plan is checked. Steps
// are pending whatever the model says, a verification that proves nothing is not the model's to choose, and where it
// names no criteria they are those of the requirement's words.
func (a *Agent) proposal(raw []byte, requirement string) (plan.Plan, error) {
	p, at, err := plan.Decode("plan", raw)
	if err != nil {
		return p, err
	}
	p.PlanID, p.CreatedAt = "", plan.Instant{}
	for i := range p.Steps {
		p.Steps[i].Status = plan.Pending
	}
	if v := &p.Verification; v.Mode == plan.VerifyNone {
		*v = plan.VerificationPolicy{Mode: plan.VerifyTest, Commands: []string{}}
	}
	p.Verification.Required, p.Verification.StopOnFail = true, true
	if len(p.Criteria) == 0 {
		p.Criteria = criteria.Of(requirement)
	}
	if strings.TrimSpace(string(p.RiskLevel)) == "" {
		p.RiskLevel = "medium"
	}
	limits := a.config.Limits
	for _, t := range a.config.Tools {
		limits.Tools = append(limits.Tools[:len(limits.Tools):len(limits.Tools)], t.Name)
	}
	if err := plan.Check(p, a.schema, limits); err != nil {
		return p, at.Locate(err)
	}
	return p, nil
}

func (a *Agent) schema(name string) ([]byte, bool) {
	for _, t := range a.config.Tools {
		if t.Name == name {
			return t.ArgsSchema, true
		}
	}
	return nil, false
}
