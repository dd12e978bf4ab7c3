package script

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"pawl"
	"pawl/agent"
	"pawl/kernel/effect"
	"pawl/text/plan"
)

// Name is how the agent signs its proposals.
const Name = "script"

// Config is what the agent may look at. LookPath and Open are required.
type Config struct {
	// LookPath says where a program is installed and whether it is, without running it.
	LookPath func(program string) (string, bool)
	// Open opens a folder for reading; paths that lead out of it must fail.
	Open func(dir string) (fs.FS, io.Closer, error)
	// Other returns the command that uses, or sets up, an agent which can plan what this one cannot, "" for none.
	Other func(ctx context.Context) string
}

// Agent is the driver for effect.KindIntake, effect.KindPlan and effect.KindRepair. It is safe for concurrent use.
type Agent struct{ config Config }

// New returns the agent.
func New(c Config) *Agent { return &Agent{config: c} }

// Info describes the agent.
func (a *Agent) Info() agent.Info {
	return agent.Info{Name: Name, Kind: agent.KindScript, Intakes: true}
}

// Do answers an IntakeSpec with an IntakeResult, a PlanSpec with a PlanResult and a RepairSpec with a RepairResult.
//
// A requirement is judged by its words alone (agent.Intake); one that is empty or too long is CodeInvalid.
//
// A plan that was given is decoded and handed on (its defects are CodeInvalid). Otherwise an empty requirement is
// CodeInvalid, and one that the agent does not know how to plan is CodeCannotPlan. A repair without steps is an answer,
// not an error: Why then names the message that says why there are none. CodeCanceled when the context ended.
func (a *Agent) Do(ctx context.Context, e effect.Effect, _ effect.Host, _ effect.Progress) effect.Receipt {
	start := time.Now()
	r := a.do(ctx, e)
	r.Start, r.End, r.Attempts = start, time.Now(), 1
	return r
}

// Done says no: proposing again is harmless and gives the same proposal.
func (a *Agent) Done(context.Context, effect.Effect) (effect.Answer, effect.Receipt) {
	return effect.DoneNo, effect.Receipt{}
}

func (a *Agent) do(ctx context.Context, e effect.Effect) effect.Receipt {
	if err := ctx.Err(); err != nil {
		code, key := pawl.CodeCanceled, "script.canceled"
		if errors.Is(err, context.DeadlineExceeded) {
			code, key = pawl.CodeTimeout, "script.out_of_time"
		}
		return effect.Failed(pawl.Fail(code, key).Because(err).In("script.Do"))
	}
	switch e.Kind {
	case effect.KindIntake:
		return receipt(a.intake(e))
	case effect.KindPlan:
		return receipt(a.plan(ctx, e))
	case effect.KindRepair:
		return receipt(a.repair(e))
	}
	return effect.Failed(pawl.Fail(pawl.CodeInternal, "script.foreign_effect", string(e.Kind)).In("script.Do"))
}

func receipt[T any](result T, err error) effect.Receipt {
	if err != nil {
		return effect.Failed(err)
	}
	return effect.Succeeded(result)
}

func (a *Agent) intake(e effect.Effect) (effect.IntakeResult, error) {
	spec, err := effect.Decode[effect.IntakeSpec](e.Spec)
	if err != nil {
		return effect.IntakeResult{}, err
	}
	return agent.Intake(spec, effect.Said{Agent: Name})
}

func (a *Agent) plan(ctx context.Context, e effect.Effect) (effect.PlanResult, error) {
	spec, err := effect.Decode[effect.PlanSpec](e.Spec)
	if err != nil {
		return effect.PlanResult{}, err
	}
	if spec.File != "" || len(spec.Given) > 0 {
		p, _, err := plan.Decode(spec.File, spec.Given)
		if err != nil {
			return effect.PlanResult{}, err
		}
		return effect.PlanResult{Plan: &p, Said: effect.Said{Agent: Name}}, nil
	}
	requirement := strings.TrimSpace(spec.Requirement)
	if requirement == "" {
		return effect.PlanResult{}, pawl.Fail(pawl.CodeInvalid, "script.empty_requirement").In("script.Plan")
	}
	goals, ok := understand(requirement)
	if n := len(spec.Feedback); n > 0 {
		// An answer to an earlier proposal that reads like a requirement of its own replaces it: "only the formatting".
		if revised, isGoal := understand(spec.Feedback[n-1]); isGoal {
			goals, ok = revised, true
		}
	}
	if !ok {
		failed := pawl.Fail(pawl.CodeCannotPlan, "script.cannot_plan", shorten(requirement))
		if a.config.Other != nil {
			if other := a.config.Other(ctx); other != "" {
				failed = pawl.Fail(pawl.CodeCannotPlan, "script.cannot_plan_agent", shorten(requirement), other)
			}
		}
		return effect.PlanResult{}, failed.In("script.Plan")
	}
	if len(spec.Context.Checks) == 0 {
		return effect.PlanResult{}, pawl.Fail(pawl.CodeCannotPlan, "script.no_checks").In("script.Plan")
	}
	steps := a.view(e.Place).steps(spec.Context, goals, requirement)
	if len(steps) == 0 {
		return effect.PlanResult{}, pawl.Fail(pawl.CodeCannotPlan, "script.no_fixer",
			strings.Join(spec.Context.Ecosystems, ", ")).In("script.Plan")
	}
	return effect.PlanResult{Said: effect.Said{Agent: Name}, Plan: &plan.Plan{
		Goal:        requirement,
		Constraints: []string{},
		Steps:       steps,
		Verification: plan.VerificationPolicy{
			Mode: plan.VerifyTest, Commands: []string{}, Required: true, StopOnFail: true,
		},
		RiskLevel: pawl.RiskLow,
	}}, nil
}

// Understands reports whether a requirement asks for nothing but what can be done without a model.
func Understands(requirement string) bool {
	_, ok := understand(strings.TrimSpace(requirement))
	return ok
}

// AsksForChecks reports whether a requirement asks for nothing but what can be said without a model, and for the
// project's checks to pass among it.
func AsksForChecks(requirement string) bool {
	goals, ok := understand(strings.TrimSpace(requirement))
	return ok && slices.Contains(goals, goalChecks)
}

// Fixes reports whether a program is installed that serves a requirement of which AsksForChecks is true.
func (a *Agent) Fixes(place effect.Place, found effect.ContextResult, requirement string) bool {
	goals, ok := understand(strings.TrimSpace(requirement))
	return ok && len(a.view(place).steps(found, goals, requirement)) > 0
}

// shorten keeps a requirement short enough for a message.
func shorten(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > 80 {
		return string(r[:79]) + "…"
	}
	return s
}
