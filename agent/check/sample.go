package check

import (
	"encoding/json"

	"pawl"
	"pawl/agent"
	"pawl/agent/scripted"
	"pawl/text/plan"
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
	// script is what the model does in the honest run. It judges the requirement as clear.
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
	if o.Kind == agent.KindScript {
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
	}
	s.script = scripted.FixBug(s.file, s.first, s.right)
	s.script.JSON = map[string]json.RawMessage{"plan": encode(map[string]any{
		"goal": requirement, "risk_level": pawl.RiskLow,
		"steps":        []any{map[string]any{"step_id": work.StepID, "title": work.Title, "intent": work.Intent}},
		"verification": map[string]any{"mode": check.Mode, "commands": check.Commands},
	})}
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
