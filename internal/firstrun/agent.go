package firstrun

import (
	"encoding/json"
	"fmt"
	"path/filepath"

	"pawl"
	"pawl/agent/scripted"
	"pawl/text/plan"
	"pawl/text/triage"
)

// verification is what a plan for the folder asks for.
func (f *Folder) verification() plan.VerificationPolicy {
	v := plan.VerificationPolicy{Mode: plan.VerifyTest, Commands: []string{}, Required: true, StopOnFail: true}
	if f.custom {
		v.Mode, v.Commands = plan.VerifyCustom, []string{f.test}
	}
	return v
}

// plan is a plan that does the work: by the calls given, or without any by an agent.
func (f *Folder) plan(calls ...plan.ToolCallTemplate) plan.Plan {
	return plan.Plan{
		Goal: f.asks, Constraints: []string{}, RiskLevel: pawl.RiskLow, Verification: f.verification(),
		Steps: []plan.Step{{StepID: "s1", Title: "Mend the sum", Intent: f.asks, Status: plan.Pending,
			ToolCalls: calls}},
	}
}

// handPlan is the plan of a person who knows what is wrong.
func (f *Folder) handPlan() plan.Plan {
	return f.plan(plan.ToolCallTemplate{Name: "write_file",
		ArgsHint: encode(map[string]string{"path": f.file, "content": f.right})})
}

// script is what a model does that is asked for the work: it judges the requirement clear, plans one step, and does it.
func (f *Folder) script() scripted.Script {
	said := []triage.Evidence{{Quote: f.asks}}
	judged := triage.Evaluation{
		Class: triage.ClassBugfix, Score: 10, Risk: pawl.RiskLow, Questions: []triage.Question{},
		HighRisk: []triage.Finding{}, Why: "It is clear.",
		Dimensions: []triage.Dimension{
			{Name: triage.Goal, Points: 3, Evidence: said}, {Name: triage.Criteria, Points: 3, Evidence: said},
			{Name: triage.Scope, Points: 2, Evidence: said}, {Name: triage.Limits, Points: 2,
				Evidence: []triage.Evidence{}},
		},
		Factors: triage.Factors{Design: triage.DesignNone, Extent: triage.ExtentPoint},
	}
	steps := []scripted.Step{{Calls: []scripted.Call{{Write: f.file, Content: f.right}}}, {Text: "Done."}}
	if f.wrong != "" {
		steps = append([]scripted.Step{{Calls: []scripted.Call{{Read: f.file}}}}, steps...)
	}
	return scripted.Script{
		Branches: []scripted.Branch{{Steps: steps}},
		JSON:     map[string]json.RawMessage{"intake": encode(judged), "plan": encode(f.plan())},
	}
}

// modelled writes the scripted model into the user's settings, and makes it the agent of every run if it is to be.
func (m *maker) modelled(url string, always bool) error {
	key := filepath.Join(m.base, "key")
	text := fmt.Sprintf("model:\n  kind: openai\n  base_url: %s/v1\n  name: mock-model\n  key_file: %s\n", url, key)
	if always {
		text = "agent: llm\n" + text
	}
	if err := writeFile(key, "key-of-the-sample\n", 0o600); err != nil {
		return err
	}
	return writeFile(filepath.Join(m.home, ".config", "pawl", "config.yaml"), text, 0o600)
}

func encode(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err) // plans, judgements and maps of text always encode
	}
	return raw
}
