package triage

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pawl/machine/workflow"
	"pawl/text/message"
	"pawl/text/plan"
	"pawl/text/policy"
)

// TestPathTable walks every combination of the factors against the rules of docs/spec/workflow.md#complexity, written a
// second time.
func TestPathTable(t *testing.T) {
	for bits := range 8 {
		for _, d := range []Design{DesignUnknown, DesignNone, DesignSimple, DesignFull} {
			for _, x := range []Extent{ExtentUnknown, ExtentPoint, ExtentLocal, ExtentCross} {
				f := Factors{New: bits&1 > 0, Major: bits&2 > 0, Design: d, Extent: x}
				ehrb := bits&4 > 0
				want := workflow.PathLight
				if f.New || f.Major || ehrb || d == DesignFull || x == ExtentCross {
					want = workflow.PathStandard
				} else if d == DesignNone && x == ExtentPoint {
					want = workflow.PathTweak
				}
				got, why := f.Path(ehrb)
				if got != want || len(why) == 0 {
					t.Errorf("%+v %v: %s %v, want %s", f, ehrb, got, why, want)
				}
				known(t, why...)
			}
		}
	}
}

func known(t *testing.T, why ...Reason) {
	t.Helper()
	for _, r := range why {
		args := make([]any, len(r.Args))
		for i, a := range r.Args {
			args[i] = a
		}
		if _, ok := message.Lookup(r.Key); !ok || strings.Contains(message.Chinese.Text(r.Key, args...), "%!") {
			t.Errorf("message %s %v", r.Key, r.Args)
		}
	}
}

func TestOutgrown(t *testing.T) {
	for _, c := range []struct {
		path workflow.Path
		f    Facts
		want workflow.Path
		key  string
	}{
		{workflow.PathTweak, Facts{Files: 2, Lines: 30, Modules: 1}, workflow.PathTweak, ""},
		{workflow.PathTweak, Facts{Files: 3, Lines: 3, Modules: 1}, workflow.PathLight, "triage.grown_files"},
		{workflow.PathTweak, Facts{Files: 1, Lines: 31, Modules: 1}, workflow.PathLight, "triage.grown_lines"},
		{workflow.PathTweak, Facts{Files: 2, Lines: 2, Modules: 2}, workflow.PathLight, "triage.grown_modules"},
		{workflow.PathTweak, Facts{HighRisk: true}, workflow.PathLight, "triage.grown_ehrb"},
		{workflow.PathTweak, Facts{}, workflow.PathTweak, ""},
		{workflow.PathLight, Facts{Files: 10, Lines: 500, Modules: 1}, workflow.PathLight, ""},
		{workflow.PathLight, Facts{Files: 11, Modules: 1}, workflow.PathStandard, "triage.grown_files"},
		{workflow.PathLight, Facts{Files: 1, Lines: 501}, workflow.PathStandard, "triage.grown_lines"},
		{workflow.PathLight, Facts{Modules: 2}, workflow.PathStandard, "triage.grown_modules"},
		{workflow.PathLight, Facts{HighRisk: true}, workflow.PathStandard, "triage.grown_ehrb"},
		{workflow.PathStandard, Facts{Files: 999, Lines: 9999, Modules: 9, HighRisk: true}, workflow.PathStandard, ""},
		{workflow.PathNone, Facts{Files: 999}, workflow.PathNone, ""},
	} {
		got, why := Outgrown(c.path, c.f)
		if got != c.want || why.Key != c.key {
			t.Errorf("%s %+v: %s %s", c.path, c.f, got, why.Key)
		}
		if why.Key != "" {
			known(t, why)
		}
	}
}

func TestMeasure(t *testing.T) {
	for _, c := range []struct {
		files []Changed
		want  Facts
	}{
		{nil, Facts{}},
		{[]Changed{{"README.md", 3, 1}}, Facts{Files: 1, Lines: 4, Modules: 1}},
		{[]Changed{{"cli/a.go", 3, 0}, {"cli/a_test.go", 5, 0}, {"go.mod", 1, 1}},
			Facts{Files: 3, Lines: 10, Modules: 1}},
		{[]Changed{{"internal/a/x.go", 1, 0}, {"internal/b/x.go", 1, 0}}, Facts{Files: 2, Lines: 2, Modules: 2}},
		{[]Changed{{"src/a/x.ts", 1, 0}, {"tests/a/x.ts", 1, 0}}, Facts{Files: 2, Lines: 2, Modules: 1}},
		{[]Changed{{"a/x", 1, 0}, {"a/./x", 1, 0}, {".pawl/active_context.md", 99, 0}},
			Facts{Files: 1, Lines: 2, Modules: 1}},
		{[]Changed{{`a\x`, -5, 2}}, Facts{Files: 1, Lines: 2, Modules: 1}},
	} {
		if got := Measure(c.files); got != c.want {
			t.Errorf("%v: %+v, want %+v", c.files, got, c.want)
		}
	}
}

func TestDetectPlan(t *testing.T) {
	args := func(v map[string]string) json.RawMessage {
		raw, _ := json.Marshal(v)
		return raw
	}
	p := plan.Plan{
		Goal:        "Clean the store",
		Constraints: []string{"Do not touch the production database", "Never drop tables"},
		Steps: []plan.Step{
			{StepID: "s1", Title: "Drop the users table", Intent: "It is empty.", ToolCalls: []plan.ToolCallTemplate{
				{Name: "run_terminal_cmd", ArgsHint: args(map[string]string{"command": "git push -f"})},
				{Name: "write_file", ArgsHint: args(map[string]string{"path": "m/1.sql",
					"content": "SELECT 1;\nDROP TABLE users;\n"})},
				{Name: "apply_patch", ArgsHint: args(map[string]string{"patch": "*** Begin Patch\n*** Update File: ops/a.sh\n@@\n-x\n+rm -rf /srv\n*** Add File: a_test.go\n+// DROP TABLE x\n*** End Patch\n"})},
				{Name: "delete_file", ArgsHint: args(map[string]string{"path": ".env"})},
				{Name: "other", ArgsHint: json.RawMessage(`[1]`)},
			}},
			{StepID: "s2", Title: "Format the code",
				ExpectedArtifacts: []plan.Artifact{{Type: plan.ArtifactCommand, Value: "sudo make install"},
					{Type: plan.ArtifactNote, Value: "sudo"}}},
		},
		Verification: plan.VerificationPolicy{Commands: []string{"go test ./...", "npm publish"}},
	}
	got := map[string]string{}
	for _, f := range DetectPlan(p) {
		got[f.Where] += fmt.Sprintf("%s %s %q; ", f.Stance, f.Kind, f.Quote)
	}
	for where, want := range map[string]string{
		"constraints[0]": `mention production "touch the production database"; `,
		"constraints[1]": `mention data_loss "drop tables"; `,
		"steps[0].title": `action data_loss "Drop the users table"; `,
		"steps[0].tool_calls[0].args_hint.command": `action history "git push -f"; `,
		"steps[0].tool_calls[1].args_hint.content": `action data_loss "DROP TABLE"; `,
		"steps[0].tool_calls[2].args_hint.patch":   `action data_loss "rm -rf /srv"; mention data_loss "DROP TABLE x"; `,
		"steps[0].tool_calls[3].args_hint.path":    `action secret ".env"; `,
		"steps[1].expected_artifacts[0].value":     `action privilege "sudo make install"; `,
		"verification.commands[1]":                 `action external_service "npm publish"; `,
	} {
		if got[where] != want {
			t.Errorf("%s: %s, want %s", where, got[where], want)
		}
		delete(got, where)
	}
	if len(got) > 0 {
		t.Errorf("more: %v", got)
	}
}

// The range of a finding in a patch is one of the patch.
func TestRangesOfAPatch(t *testing.T) {
	patch := "--- a/x.sh\n+++ b/x.sh\n@@ -1 +1,2 @@\n a\n+  rm -rf /srv\n"
	got := detectPatch(patch)
	if len(got) != 1 || got[0].In(patch) != got[0].Quote || got[0].Quote != "rm -rf /srv" {
		t.Errorf("%+v", got)
	}
	if DetectChange("a.sql", policy.OpRead, "DROP TABLE x") != nil {
		t.Error("reading changes nothing")
	}
}

// What is found stays within bounds, actions first, and hostile text takes time in proportion to its length.
func TestManyFindings(t *testing.T) {
	text := strings.Repeat("Do not drop the users table. ", 400) + "Drop the users table."
	got := Detect(text)
	if len(got) != maxFound || got[len(got)-1].Stance != StanceAction || got[len(got)-1].End != len(text)-1 {
		t.Errorf("%d findings, last %+v", len(got), got[len(got)-1])
	}
	for _, in := range []string{"rm - ", "drop table x ", "`", "\"a ", "never, ", "不要删除所有数据", "deploy to ",
		"password=aaaa1111 ", "- \n", "```\n", "~~", "“"} {
		Detect(strings.Repeat(in, MaxText/len(in)))
	}
}
