package check

import (
	"encoding/json"

	"pawl"
	"pawl/agent"
	"pawl/agent/scripted"
	"pawl/text/plan"
	"pawl/text/triage"
)

// requirement is what the agent is asked for.
const requirement = "Sum(2, 3) is not 5"

// sample is a repository with a fault, and how an agent comes to mend it.
type sample struct {
	files map[string]string
	// file holds the fault; first is what it holds after the first edit, and right what lands.
	file, fault, first, right string
	// repaired says that the first edit is wrong, so that a repair follows.
	repaired bool
	// plans are files outside of the repository, and honest and lying the arguments that ask for the work.
	plans         map[string]string
	honest, lying []string
	// script is what the model does in the honest run.
	script scripted.Script
}

// The module and its one test.
const (
	goMod   = "module example.org/sum\n\ngo 1.21\n"
	goFault = "package sum\n\n// Sum adds.\nfunc Sum(a, b int) int { return a - b }\n"
	goWrong = "package sum\n\n// Sum adds.\nfunc Sum(a, b int) int { return a * b }\n"
	goUgly  = "package sum\n\n// Sum adds.\nfunc Sum(a, b int) int {   return a + b }\n"
	goRight = "package sum\n\n// Sum adds.\nfunc Sum(a, b int) int { return a + b }\n"
	goTest  = "package sum\n\nimport \"testing\"\n\nfunc TestSum(t *testing.T) {\n\tif got := Sum(2, 3); got != 5 {\n\t\tt.Errorf(\"Sum(2, 3) = %d\", got)\n\t}\n}\n"
)

// The same without Go.
const (
	shFault = "echo $(($1 - $2))\n"
	shWrong = "echo $(($1 * $2))\n"
	shRight = "echo $(($1 + $2))\n"
	shTest  = "got=$(sh sum.sh 2 3)\ntest \"$got\" = 5 || { echo \"sum 2 3 = $got\"; exit 1; }\n"
	shCheck = "sh check.sh"
)

// judged is what a model answers that is asked whether the requirement is clear.
func judged() triage.Evaluation {
	said := []triage.Evidence{{Quote: requirement}}
	return triage.Evaluation{
		Class: triage.ClassBugfix, Score: 10, Risk: pawl.RiskLow, Questions: []triage.Question{},
		HighRisk: []triage.Finding{}, Why: "It is clear.",
		Dimensions: []triage.Dimension{
			{Name: triage.Goal, Points: 3, Evidence: said}, {Name: triage.Criteria, Points: 3, Evidence: said},
			{Name: triage.Scope, Points: 2, Evidence: said}, {Name: triage.Limits, Points: 2,
				Evidence: []triage.Evidence{}},
		},
		Factors: triage.Factors{Design: triage.DesignNone, Extent: triage.ExtentPoint},
	}
}

func sampleFor(o Options) sample {
	s := sample{file: "sum.go", fault: goFault, first: goWrong, right: goRight, repaired: true}
	s.files = map[string]string{"go.mod": goMod, "sum.go": goFault, "sum_test.go": goTest}
	check := plan.VerificationPolicy{Mode: plan.VerifyTest, Commands: []string{}, Required: true, StopOnFail: true}
	if !o.Go {
		s.file, s.fault, s.first, s.right = "sum.sh", shFault, shWrong, shRight
		s.files = map[string]string{"sum.sh": shFault, "check.sh": shTest}
		check.Mode, check.Commands = plan.VerifyCustom, []string{shCheck}
	}
	s.honest = []string{"run", requirement, "--agent", o.Agent, "--yes"}
	s.lying = s.honest
	work := plan.Step{StepID: "s1", Title: "Mend the sum", Intent: requirement, Status: plan.Pending}
	switch {
	case o.Kind == agent.KindScript:
		// The embedded agent is told what to write. Its repairs are formatters, so the first edit is one that needs it.
		s.first, s.repaired = s.right, o.Go
		if o.Go {
			s.first = goUgly
		}
		write, read := work, work
		write.ToolCalls = []plan.ToolCallTemplate{call("write_file",
			map[string]string{"path": s.file, "content": s.first})}
		read.ToolCalls = []plan.ToolCallTemplate{call("read_file", map[string]string{"path": s.file})}
		s.plans = map[string]string{"honest.json": planFile(write, check), "lying.json": planFile(read, check)}
		s.honest = []string{"run", "--plan", "../honest.json", "--agent", o.Agent, "--yes"}
		s.lying = []string{"run", "--plan", "../lying.json", "--agent", o.Agent, "--yes"}
	case !o.Go:
		// Without an ecosystem pawl knows no checks by itself: the plan names one, and leaves its step to the agent.
		s.plans = map[string]string{"work.json": planFile(work, check)}
		s.honest = []string{"run", "--plan", "../work.json", "--agent", o.Agent, "--yes"}
		s.lying = s.honest
	}
	s.script = answering(scripted.FixBug(s.file, s.first, s.right), work, check)
	return s
}

// answering adds the answers to what pawl asks a model of its own before the work.
func answering(s scripted.Script, work plan.Step, check plan.VerificationPolicy) scripted.Script {
	s.JSON = map[string]json.RawMessage{"intake": encode(judged()), "plan": json.RawMessage(planFile(work, check))}
	return s
}

func planFile(step plan.Step, check plan.VerificationPolicy) string {
	return string(encode(plan.Plan{Goal: requirement, Constraints: []string{}, RiskLevel: pawl.RiskLow,
		Steps: []plan.Step{step}, Verification: check}))
}

func call(tool string, args map[string]string) plan.ToolCallTemplate {
	return plan.ToolCallTemplate{Name: tool, ArgsHint: encode(args)}
}

func encode(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err) // plans and maps of text always encode
	}
	return raw
}
