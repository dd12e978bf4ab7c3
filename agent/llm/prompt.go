package llm

import (
	"pawl/agent"
	"pawl/kernel/effect"
)

// task is the first message about a step.
func task(spec effect.WorkSpec) string {
	out := agent.Section("Goal", spec.Goal) + agent.Section("Plan", agent.Steps(spec.Plan, spec.Step))
	if len(spec.Plan.Criteria) > 0 {
		out += agent.Section("What has to hold in the end", agent.Criteria(spec.Plan))
	}
	if i, ok := spec.Plan.Find(spec.Step); ok {
		s := spec.Plan.Steps[i]
		out += agent.Section("Your step", s.StepID+": "+s.Title+"\n"+s.Intent)
	}
	if f := spec.Failure; f != nil {
		out += agent.Section("What failed", agent.FailureText(*f))
	}
	for _, n := range spec.Notes {
		out += agent.Section("Note", n)
	}
	return out + agent.FactsText(spec.Context) + pack(spec.Context.Pack)
}

func pack(p *effect.ContextPack) string {
	if p == nil {
		return ""
	}
	return agent.PackText(*p)
}
