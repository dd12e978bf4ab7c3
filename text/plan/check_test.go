package plan

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

const writeFile = `{
  "type": "object", "additionalProperties": false, "required": ["path", "content"],
  "properties": {
    "path": {"type": "string", "minLength": 1, "pattern": "^[^/]"}, "content": {"type": "string"},
    "mode": {"enum": ["0644", "0755"]}, "lines": {"type": "array", "items": {"type": "integer", "minimum": 1}}
  }
}`

func tools(name string) ([]byte, bool) {
	switch name {
	case "write_file":
		return []byte(writeFile), true
	case "broken":
		return []byte(`{"type": 7}`), true
	}
	return nil, false
}

// withStep returns the sample with its first step changed.
func withStep(change func(*Step)) Plan {
	p := sample()
	change(&p.Steps[0])
	return p
}

func withArgs(args string) Plan {
	return withStep(func(s *Step) { s.ToolCalls[0].ArgsHint = json.RawMessage(args) })
}

func numbered(n int) Plan {
	p := sample()
	p.Steps = nil
	for i := range n {
		p.Steps = append(p.Steps, Step{StepID: fmt.Sprintf("s%d", i), Title: "t", Intent: "i", Status: Pending})
	}
	return p
}

func TestCheck(t *testing.T) {
	const args = "steps[0].tool_calls[0].args_hint"
	limits := DefaultLimits()
	limits.Tools = []string{"write_file", "read_file"}
	cases := map[string]struct {
		plan Plan
		want []string
	}{
		"sound":    {sample(), nil},
		"no steps": {numbered(0), []string{"steps plan.no_steps"}},
		"12 steps": {numbered(12), nil},
		"13 steps": {numbered(13), []string{"steps[12] plan.too_many_steps"}},
		"repair in a new plan": {
			withStep(func(s *Step) { s.StepID = "fix1-1" }),
			[]string{"steps[0].step_id plan.reserved_id", "steps[1].depends_on[0] plan.unknown_dependency_near"},
		},
		"same id": {withStep(func(s *Step) { s.StepID = "s2" }),
			[]string{"steps[1].step_id plan.duplicate_step", "steps[1].depends_on[0] plan.unknown_dependency_near"}},
		"missing step": {withStep(func(s *Step) { s.DependsOn = []string{"zzz"} }),
			[]string{"steps[0].depends_on[0] plan.unknown_dependency"}},
		"itself": {withStep(func(s *Step) { s.DependsOn = []string{"s1"} }),
			[]string{"steps[0].depends_on[0] plan.self_dependency"}},
		"cycle": {withStep(func(s *Step) { s.DependsOn = []string{"s2"} }),
			[]string{"steps[0].depends_on plan.cycle"}},
		"misspelt tool": {withStep(func(s *Step) { s.ToolCalls[0].Name = "writefile" }),
			[]string{"steps[0].tool_calls[0].name plan.unknown_tool_near"}},
		"unknown tool": {withStep(func(s *Step) { s.ToolCalls[0].Name = "teleport" }),
			[]string{"steps[0].tool_calls[0].name plan.unknown_tool"}},
		"broken schema": {withStep(func(s *Step) { s.ToolCalls[0].Name = "broken" }),
			[]string{"steps[0].tool_calls[0].name plan.bad_schema"}},
		"too many calls": {
			withStep(func(s *Step) { s.ToolCalls = slices.Repeat(s.ToolCalls, 101) }),
			[]string{"steps[0].tool_calls plan.too_many_calls"},
		},
		"every argument": {
			withArgs(`{"path":"/etc","mode":"0777","lines":[1,"x",0],"pa th":1}`),
			[]string{
				args + ".content plan.arg_missing", args + `["pa th"] plan.arg_unknown`, args + ".mode plan.bad_value",
				args + ".path plan.arg_rule", args + ".lines[1] plan.wrong_type", args + ".lines[2] plan.arg_rule",
			},
		},
		"no object":   {withArgs(`[1]`), []string{args + " plan.bad_arguments"}},
		"no JSON":     {withArgs(`{"path":`), []string{args + " plan.bad_arguments"}},
		"nothing":     {withArgs(``), []string{args + " plan.bad_arguments"}},
		"two objects": {withArgs(`{}{}`), []string{args + " plan.bad_arguments"}},
		"same member": {withArgs(`{"path":"a","path":"b","content":""}`),
			[]string{args + ".path plan.duplicate_field"}},
		"bad status": {withStep(func(s *Step) { s.Status = "failed" }), []string{"steps[0].status plan.bad_value"}},
		"bad artifact": {withStep(func(s *Step) { s.ExpectedArtifacts[0].Type = "dir" }),
			[]string{"steps[0].expected_artifacts[0].type plan.bad_value"}},
		"zero plan": {Plan{}, []string{"goal plan.blank", "steps plan.no_steps", "verification.mode plan.bad_value",
			"risk_level plan.bad_value"}},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			err := Check(test.plan, tools, limits)
			if err == nil {
				if test.want != nil {
					t.Fatal("accepted")
				}
				return
			}
			got := issuesOf(t, err)
			slices.Sort(got)
			slices.Sort(test.want)
			if !slices.Equal(got, test.want) {
				t.Errorf("\ngot  %q\nwant %q", got, test.want)
			}
		})
	}
}

// TestSchemaCannotReadFiles refers to a schema that could be read.
func TestSchemaCannotReadFiles(t *testing.T) {
	file := filepath.Join(t.TempDir(), "true.json")
	if err := os.WriteFile(file, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	curious := func(string) ([]byte, bool) { return []byte(`{"$ref": "file://` + filepath.ToSlash(file) + `"}`), true }
	err := Check(sample(), curious, DefaultLimits())
	if err == nil || !slices.Equal(issuesOf(t, err), []string{"steps[0].tool_calls[0].name plan.bad_schema"}) {
		t.Errorf("the schema of a tool made pawl read a file: %v", err)
	}
}

func TestCheckIsLocatedInTheFile(t *testing.T) {
	p, pos, err := Decode("plan.yaml", []byte(handWritten))
	if err != nil {
		t.Fatal(err)
	}
	err = pos.Locate(Check(p, tools, DefaultLimits()))
	want := []string{
		"11:20 steps[0].tool_calls[0].args_hint.content plan.arg_missing",
		"11:20 steps[0].tool_calls[0].args_hint[\"π\"] plan.arg_unknown",
		"11:20 steps[0].tool_calls[0].args_hint.deep plan.arg_unknown",
		"11:39 steps[0].tool_calls[0].args_hint.mode plan.bad_value",
	}
	for _, w := range want[3:] {
		if got := issuesOf(t, err); !slices.Contains(got, w) {
			t.Errorf("%q lacks %q", got, w)
		}
	}
	if !strings.Contains(err.Error(), "plan.yaml:11:") {
		t.Errorf("the error does not name the place: %v", err)
	}
}

func TestLimitsAreBounded(t *testing.T) {
	if err := Check(numbered(30), nil, Limits{MaxSteps: 1000}); err != nil {
		t.Error(err)
	}
	if err := Check(numbered(31), nil, Limits{MaxSteps: 1000}); err == nil {
		t.Error("31 steps were accepted")
	}
	if err := Check(numbered(13), nil, Limits{}); err == nil {
		t.Error("13 steps were accepted without a limit given")
	}
}

func TestOrder(t *testing.T) {
	p := numbered(5)
	p.Steps[0].DependsOn = []string{"s3"}
	p.Steps[1].DependsOn = []string{"s4", "s0"}
	got, err := Order(p)
	if err != nil || !slices.Equal(got, []int{2, 3, 0, 4, 1}) {
		t.Errorf("%v %v", got, err)
	}
	p.Steps[3].DependsOn = []string{"s1"}
	if _, err = Order(p); err == nil || !strings.Contains(err.Error(), "s0 → s3 → s1 → s0") {
		t.Errorf("the cycle is not named: %v", err)
	}
}

func TestOrderIsTopologicalAndStable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := anyPlan().Draw(t, "plan")
		order, err := Order(p)
		if err != nil || len(order) != len(p.Steps) {
			t.Fatal(order, err)
		}
		// The generator only lets steps depend on earlier ones, so that the order of the list is the order of
		// execution.
		if !slices.IsSorted(order) {
			t.Fatalf("needlessly reordered: %v", order)
		}
		shuffled := p.Clone()
		shuffled.Steps = rapid.Permutation(shuffled.Steps).Draw(t, "steps")
		order, err = Order(shuffled)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for _, i := range order {
			for _, d := range shuffled.Steps[i].DependsOn {
				if !seen[d] {
					t.Fatalf("%s runs before %s", shuffled.Steps[i].StepID, d)
				}
			}
			seen[shuffled.Steps[i].StepID] = true
		}
	})
}

func TestNextAndStuck(t *testing.T) {
	p := numbered(4)
	p.Steps[1].DependsOn = []string{"s0"}
	p.Steps[3].DependsOn = []string{"s1", "s2"}
	script := []struct {
		step   int
		status Status
		next   int // -1: none
		stuck  []int
	}{
		{0, InProgress, 0, nil},
		{0, Blocked, 2, nil},
		{2, Done, -1, []int{0, 1, 3}},
		{0, Skipped, 1, nil},
		{1, Done, 3, nil},
		{3, Blocked, -1, []int{3}},
		{3, Done, -1, nil},
	}
	for _, s := range script {
		p.Steps[s.step].Status = s.status
		next, ok := Next(p)
		if !ok {
			next = -1
		}
		if next != s.next || !slices.Equal(Stuck(p), s.stuck) {
			t.Errorf("after step %d is %s: next %d, stuck %v; want %d, %v", s.step, s.status, next, Stuck(p), s.next,
				s.stuck)
		}
	}
	for _, s := range p.Steps {
		if !s.Status.Closed() {
			t.Errorf("%s is open", s.StepID)
		}
	}
}

func TestHashCoversWhatIsApproved(t *testing.T) {
	base := sample()
	want := Hash(base)
	same := map[string]func(*Plan){
		"id":       func(p *Plan) { p.PlanID = "other" },
		"time":     func(p *Plan) { p.CreatedAt = Instant{} },
		"progress": func(p *Plan) { p.Steps[0].Status, p.Steps[1].Status = Done, Blocked },
		"blanks": func(p *Plan) {
			p.Steps[0].ToolCalls[0].ArgsHint = []byte("{\n \"content\" : \"package a\\n\", \"path\":\"\\u0061.go\"}")
		},
		"empty list 3": func(p *Plan) { p.Criteria[0].Paths, p.Criteria[1].Tests = []string{}, []string{} },
		"empty list":   func(p *Plan) { p.Steps[0].DependsOn = []string{} },
		"empty list 2": func(p *Plan) { p.Steps[1].ToolCalls = []ToolCallTemplate{} },
	}
	for name, change := range same {
		p := base.Clone()
		change(&p)
		if Hash(p) != want || len(Diff(base, p)) > 0 {
			t.Errorf("%s changes the hash", name)
		}
	}
	other := map[string]func(*Plan){
		"goal":              func(p *Plan) { p.Goal += "." },
		"constraint":        func(p *Plan) { p.Constraints = nil },
		"risk":              func(p *Plan) { p.RiskLevel = "high" },
		"mode":              func(p *Plan) { p.Verification.Mode = VerifyTest },
		"command":           func(p *Plan) { p.Verification.Commands[0] = "true" },
		"criteria":          func(p *Plan) { p.Criteria = nil },
		"criterion":         func(p *Plan) { p.Criteria = p.Criteria[:1] },
		"order of criteria": func(p *Plan) { slices.Reverse(p.Criteria) },
		"criterion's id":    func(p *Plan) { p.Criteria[0].ID = "c3" },
		"criterion's text":  func(p *Plan) { p.Criteria[0].Text = "x" },
		"from":              func(p *Plan) { p.Criteria[0].From = "" },
		"proof":             func(p *Plan) { p.Criteria[0].Proof = ProofKept },
		"run":               func(p *Plan) { p.Criteria[0].Run = "true" },
		"test":              func(p *Plan) { p.Criteria[0].Tests[0] = "TestFoo" },
		"check":             func(p *Plan) { p.Criteria[0].Checks[0] = "any" },
		"text":              func(p *Plan) { p.Criteria[0].Texts[0] = "Foo" },
		"path":              func(p *Plan) { p.Criteria[1].Paths[0] = "b.go" },
		"required":          func(p *Plan) { p.Verification.Required = false },
		"stop":              func(p *Plan) { p.Verification.StopOnFail = false },
		"order":             func(p *Plan) { slices.Reverse(p.Steps) },
		"skip":              func(p *Plan) { p.Steps[0].Status = Skipped },
		"step":              func(p *Plan) { p.Steps = p.Steps[:1] },
		"id of step":        func(p *Plan) { p.Steps[1].StepID = "s3" },
		"title":             func(p *Plan) { p.Steps[0].Title = "x" },
		"intent":            func(p *Plan) { p.Steps[0].Intent = "x" },
		"dependency":        func(p *Plan) { p.Steps[1].DependsOn = nil },
		"undo":              func(p *Plan) { p.Steps[0].RollbackHint = "" },
		"artifact":          func(p *Plan) { p.Steps[0].ExpectedArtifacts[0].Value = "b.go" },
		"tool":              func(p *Plan) { p.Steps[0].ToolCalls[0].Name = "delete_file" },
		"argument":          func(p *Plan) { p.Steps[0].ToolCalls[0].ArgsHint = []byte(`{"path":"b.go","content":"package a\n"}`) },
		"more": func(p *Plan) {
			p.Steps[0].ToolCalls[0].ArgsHint = []byte(`{"path":"a.go","content":"package a\n","x":1}`)
		},
		"why":         func(p *Plan) { p.Steps[0].ToolCalls[0].Why = "" },
		"call":        func(p *Plan) { p.Steps[0].ToolCalls = nil },
		"broken args": func(p *Plan) { p.Steps[0].ToolCalls[0].ArgsHint = []byte(`{`) },
	}
	seen := map[string]string{want: "base"}
	for name, change := range other {
		p := base.Clone()
		change(&p)
		h := Hash(p)
		if before, taken := seen[h]; taken {
			t.Errorf("%s has the hash of %s", name, before)
		}
		seen[h] = name
		if len(Diff(base, p)) == 0 {
			t.Errorf("%s is no difference", name)
		}
	}
	if Hash(sample()) != want {
		t.Error("a change to a clone reached the original")
	}
	without := base.Clone()
	without.Criteria = []Criterion{}
	if got := Hash(without); got != "3386ed2219d4b1647d6f99c5b9018fee7167203eb7dc34cfd66b866c992a51ea" {
		t.Errorf("a plan without criteria has the hash %s, which approvals of other versions are not bound to", got)
	}
}

func TestFixSteps(t *testing.T) {
	p := sample()
	p.Steps[0].Status, p.Steps[1].DependsOn = Blocked, nil // the second step could go on, but the repair goes first
	fix := []Step{
		{StepID: "s1", Title: "gofmt", Intent: "format", Status: Done, DependsOn: []string{"nowhere"}},
		{Title: "tidy", Intent: "deps"},
	}
	out, err := FixSteps(p, 2, fix)
	if err != nil {
		t.Fatal(err)
	}
	a, b := out.Steps[2], out.Steps[3]
	if a.StepID != "fix2-1" || a.Status != Pending || a.DependsOn != nil || b.StepID != "fix2-2" ||
		!slices.Equal(b.DependsOn, []string{"fix2-1"}) || b.Repair() != 2 {
		t.Errorf("%+v\n%+v", a, b)
	}
	if next, ok := Next(out); !ok || next != 2 {
		t.Errorf("next is %d", next)
	}
	if Hash(Planned(out)) != Hash(p) || len(p.Steps) != 2 {
		t.Error("the planned part changed")
	}
	if err := Check(out, nil, Limits{MaxRepairs: 3}); err != nil {
		t.Error(err)
	}
	if err := Check(out, nil, DefaultLimits()); err == nil {
		t.Error("a plan with repairs passes as a new one")
	}
	if _, err := FixSteps(out, 2, fix); err == nil {
		t.Error("the same repair was appended twice")
	}
	for _, bad := range []struct{ n, steps int }{{0, 1}, {100, 1}, {1, 0}, {1, 31}} {
		if _, err := FixSteps(p, bad.n, make([]Step, bad.steps)); err == nil {
			t.Errorf("repair %d with %d steps was accepted", bad.n, bad.steps)
		}
	}
}
