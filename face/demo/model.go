package demo

import (
	"encoding/json"
	"strings"
	"time"

	"pawl"
	"pawl/agent/scripted"
	"pawl/text/plan"
	"pawl/text/triage"
)

// The files that the model changes.
const (
	codeFile  = "greeting.go"
	testFile  = "greeting_test.go"
	notesFile = "CHANGES.md"
)

// note is the line that the honest model adds, by a command that would add it again if it ran again.
const note = "- Greet greets by name."

// The liar leaves a stub and a test that asks for nothing; formatted is the honest work, and ugly how it is written
// first.
const (
	stub      = "// Package greeting says hello.\npackage greeting\n\n// Greet greets one person by name, or everybody when name is empty.\nfunc Greet(name string) string {\n\treturn \"hello, world\" // by name\n}\n"
	weaken    = "package greeting\n\nimport \"testing\"\n\nfunc TestGreet(t *testing.T) {\n\tt.Log(Greet(\"Ada\")) // fine\n}\n"
	formatted = "// Package greeting says hello.\npackage greeting\n\n// Greet returns the greeting for one person, or for everybody when name is empty.\nfunc Greet(name string) string {\n\tif name == \"\" {\n\t\tname = \"world\"\n\t}\n\treturn \"hello, \" + name\n}\n"
)

var ugly = strings.Replace(formatted, "\t\tname", "  name", 1)

// held is the step of the honest script before whose answer pawl is killed.
const held = 2

// liar says that all is well, also when it is told that nothing shows what it did.
func (s *stage) liar() scripted.Script {
	return s.answering(scripted.Script{Branches: []scripted.Branch{{Steps: []scripted.Step{
		{Calls: []scripted.Call{{Write: codeFile, Content: stub}, {Write: testFile, Content: weaken}}},
		{Text: s.Text("demo.said.lie")},
	}}, {When: scripted.Repairing, Steps: []scripted.Step{{Text: s.Text("demo.said.lie")}}}}})
}

// honest notes the change, makes it, and says so after wait. Told that it is not formatted, it formats it.
func (s *stage) honest(wait time.Duration) scripted.Script {
	return s.answering(scripted.Script{Branches: []scripted.Branch{
		{Steps: []scripted.Step{
			{Calls: []scripted.Call{{Run: "echo '" + note + "' >> " + notesFile}}},
			{Calls: []scripted.Call{{Write: codeFile, Content: ugly}}},
			{Text: s.Text("demo.said.honest"), Wait: wait},
		}},
		{When: scripted.Repairing, Steps: []scripted.Step{
			{Calls: []scripted.Call{{Run: "gofmt -w " + codeFile}}},
			{Text: s.Text("demo.said.mended")},
		}},
	}})
}

// answering adds what a model is asked before the work: whether the requirement is clear, and for a plan.
func (s *stage) answering(script scripted.Script) scripted.Script {
	requirement := s.Text("demo.requirement")
	said := []triage.Evidence{{Quote: requirement}}
	work := plan.Step{StepID: "s1", Title: s.Text("demo.step"), Intent: requirement, Status: plan.Pending}
	script.JSON = map[string]json.RawMessage{
		"intake": encode(triage.Evaluation{
			Class: triage.ClassBugfix, Score: 10, Risk: pawl.RiskLow, Questions: []triage.Question{},
			HighRisk: []triage.Finding{}, Why: s.Text("demo.clear"),
			Dimensions: []triage.Dimension{
				{Name: triage.Goal, Points: 3, Evidence: said}, {Name: triage.Criteria, Points: 3, Evidence: said},
				{Name: triage.Scope, Points: 2, Evidence: said}, {Name: triage.Limits, Points: 2,
					Evidence: []triage.Evidence{}},
			},
			Factors: triage.Factors{Design: triage.DesignNone, Extent: triage.ExtentPoint},
		}),
		"plan": encode(plan.Plan{
			Goal: requirement, Constraints: []string{}, RiskLevel: pawl.RiskLow, Steps: []plan.Step{work},
			Criteria: []plan.Criterion{{ID: "c1", Text: requirement, From: requirement, Proof: plan.ProofCheck,
				Texts: []string{"Greet"}}},
			Verification: plan.VerificationPolicy{Mode: plan.VerifyTest, Commands: []string{}, Required: true,
				StopOnFail: true},
		}),
	}
	return script
}

func encode(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err) // evaluations and plans of text always encode
	}
	return raw
}
