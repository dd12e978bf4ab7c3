package doctor

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"pawl/kernel/effect"
)

func TestProject(t *testing.T) {
	find := func(program string) (string, bool) { return "/bin/" + program, program == "npm" }
	if got := Project(effect.ContextResult{}, nil, find); len(got) != 1 || got[0].Key != "cli.doctor_no_checks" ||
		got[0].State != Warn {
		t.Errorf("%+v", got)
	}
	found := effect.ContextResult{
		Ecosystems: []string{"node", "go"},
		Checks: []effect.Check{
			{Name: "eslint", Command: "npx eslint .", Missing: "eslint"}, {Name: "npm test", Command: "npm test",
				Level: 2},
			{Name: "go build", Command: "go build ./...", Level: 1, Missing: "go"}, {Name: "go test",
				Command: "go test ./...", Level: 2, Missing: "go"},
		},
		Needs: []effect.Need{{Ecosystem: "node", Dir: "web", Missing: []string{"a", "b"}, Count: 7, Command: "npm ci"}},
	}
	want := []Finding{
		{Name: "checks", State: OK, Key: "cli.doctor_checks", Args: []string{"4"}, Value: "node, go"},
		{Name: "  go", State: Fail, Key: "cli.doctor_runner_missing", Args: []string{"go build"}},
		{Name: "  eslint", State: Warn, Key: "cli.doctor_linter_missing", Args: []string{"eslint"}},
		{Name: "  npm", State: OK, Key: "cli.doctor_tool", Value: "/bin/npm"},
		{Name: "  node", State: Warn, Key: "cli.doctor_needs", Args: []string{"a, b, +5"}, Value: "(cd web && npm ci)"},
	}
	if diff := cmp.Diff(want, Project(found, []string{"go", "node", "npm"}, find)); diff != "" {
		t.Error(diff)
	}
}
