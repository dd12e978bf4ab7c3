// Package agent is the contract of those who do the work: an agent says whether a requirement is clear, plans, carries
// out steps whose calls are not known beforehand, and proposes repairs. It reports and never writes state: nothing that
// it says is evidence, and nothing that it asks for happens outside policy, ledger and sandbox (ARCHITECTURE.md,
// "Agents"). The suite that every agent passes is agent/agenttest.
package agent

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"pawl"
	"pawl/kernel/effect"
	"pawl/text/plan"
	"pawl/text/triage"
)

// Kind says how an agent is reached.
type Kind string

// The kinds of agent.
const (
	KindScript   Kind = "script"   // embedded, deterministic
	KindModel    Kind = "llm"      // a model, driven by pawl's own loop
	KindACP      Kind = "acp"      // another coding agent, over the Agent Client Protocol
	KindHeadless Kind = "headless" // another coding agent, over its headless JSON mode
)

// Info describes an agent.
type Info struct {
	Name string
	Kind Kind
	// Works says that the agent can carry out steps that name no tool calls.
	Works bool
	// Intakes says that the agent answers agent.intake: with its model's judgement, or with pawl's own (Intake).
	Intakes bool
	// Reads says that the agent wants a context pack; one with its own search does not.
	Reads bool
}

// Agent is the driver of the agent kinds of effect. It is safe for concurrent use. Host is never nil while the effect
// is agent.work, agent.plan, agent.repair, agent.intake or agent.review.
type Agent interface {
	Info() Info
	Do(ctx context.Context, e effect.Effect, host effect.Host, progress effect.Progress) effect.Receipt
	// Done says whether the effect happened already, after a crash. An agent that can go on with its own session
	// answers no.
	Done(ctx context.Context, e effect.Effect) (effect.Answer, effect.Receipt)
}

// Set is the driver for all agent kinds: it hands each effect to the agent that its spec names. The first agent serves
// effects that name none.
type Set []Agent

// named reads the one field that all agent specs share.
func named(e effect.Effect) string {
	var spec struct {
		Agent string `json:"agent"`
	}
	_ = json.Unmarshal(e.Spec, &spec) // the agent itself refuses a malformed spec
	return spec.Agent
}

// Find returns the agent with a name, the first one for "".
func (s Set) Find(name string) (Agent, error) {
	if name == "" && len(s) > 0 {
		return s[0], nil
	}
	i := slices.IndexFunc(s, func(a Agent) bool { return a.Info().Name == name })
	if i < 0 {
		return nil, pawl.Fail(pawl.CodeInvalid, "agent.unknown", name, strings.Join(s.Names(), ", "))
	}
	return s[i], nil
}

// Names lists the agents' names in order.
func (s Set) Names() []string {
	var out []string
	for _, a := range s {
		out = append(out, a.Info().Name)
	}
	return out
}

// Work hands an effect to its agent.
func (s Set) Work(ctx context.Context, e effect.Effect, host effect.Host, progress effect.Progress) effect.Receipt {
	a, err := s.Find(named(e))
	if err != nil {
		return effect.Failed(err)
	}
	return a.Do(ctx, e, host, progress)
}

// Do is Work without a host, for effects of agents that need none.
func (s Set) Do(ctx context.Context, e effect.Effect, progress effect.Progress) effect.Receipt {
	return s.Work(ctx, e, nil, progress)
}

// Done asks the effect's agent.
func (s Set) Done(ctx context.Context, e effect.Effect) (effect.Answer, effect.Receipt) {
	a, err := s.Find(named(e))
	if err != nil {
		return effect.DoneNo, effect.Receipt{}
	}
	return a.Done(ctx, e)
}

// Given returns the plan that the user brought, if the spec has one. No agent changes it.
func Given(spec effect.PlanSpec, said effect.Said) (effect.PlanResult, bool, error) {
	if spec.File == "" && len(spec.Given) == 0 {
		return effect.PlanResult{}, false, nil
	}
	p, _, err := plan.Decode(spec.File, spec.Given)
	if err != nil {
		return effect.PlanResult{}, true, err
	}
	return effect.PlanResult{Said: said, Plan: &p}, true, nil
}

// Intake is the judgement that rests on the words of a requirement alone (triage.Evaluate): that of an agent which has
// none of its own. The same spec gets the same one every time. The error is CodeInvalid for a text that cannot be
// judged.
func Intake(spec effect.IntakeSpec, said effect.Said) (effect.IntakeResult, error) {
	e, err := triage.Evaluate(spec.Requirement, spec.Replies())
	if err != nil {
		return effect.IntakeResult{}, err
	}
	if spec.Continue {
		e = e.GoOn()
	}
	return effect.IntakeResult{Said: said, Evaluation: e}, nil
}

// Asked is a question as an agent is told of it. What pawl asked itself is a key of the catalogue, which tells an agent
// less than what the question is about.
func Asked(a effect.Answered) string {
	if a.About != "" && (a.Question == "" || strings.HasPrefix(a.Question, "triage.ask_")) {
		return a.About + ":"
	}
	return a.Question
}

// Mend is the repair of an agent that works: one step without calls, whose work is told of the failure.
func Mend(spec effect.RepairSpec, said effect.Said) effect.RepairResult {
	return effect.RepairResult{Said: said, Why: "agent.mends", Steps: []plan.Step{{
		StepID: "r1", Title: "Repair: " + spec.Failure.What, Intent: "Find why this fails and mend it: " +
			spec.Failure.What, Status: plan.Pending,
	}}}
}
