package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pawl/internal/modeltest"
)

// TestRefusedCalls has an agent that nobody attends want what only a person can allow, what a setting would allow, and
// what the policy denies: nothing of it runs, the work goes on, and every face names the calls.
func TestRefusedCalls(t *testing.T) {
	t.Parallel()
	wants := []string{"git push origin main", "git push origin main", "make deploy", "sudo reboot"}
	var calls []modeltest.Step
	for _, w := range wants {
		args, _ := json.Marshal(map[string]string{"command": w})
		calls = append(calls, modeltest.Step{Calls: []modeltest.Call{{Name: "run_terminal_cmd", Args: string(args)}}})
	}
	s := asking(modeltest.Script{Branches: []modeltest.Branch{{Steps: append(calls,
		modeltest.Step{Calls: []modeltest.Call{{Write: "add.sh", Content: addRight}}}, modeltest.Step{Text: "Done."})}}})
	s.JSON["plan"] = json.RawMessage(planOf)
	u, _ := adding(t, s)
	told := u.must(0, "run", "Sum(2, 3) is not 5", "--yes", "--unattended").out
	lines := map[string]string{
		"git push origin main": "Only you can approve it",
		"make deploy":          `To allow it, add "make deploy" to policy.allowed_commands`,
		"sudo reboot":          "(privilege)",
	}
	for face, out := range map[string]string{"run": told, "show": u.must(0, "show").out} {
		out = strings.Join(strings.Fields(out), " ")
		for call, way := range lines {
			if n := strings.Count(out, "wanted, not allowed: "+call+" ("); n != 1 || !strings.Contains(out, way) {
				t.Errorf("%s names %q %d times, with %q:\n%s", face, call, n, way, out)
			}
		}
	}
	var log []struct {
		Run, Tool, Call, Decision string
		Reasons                   []struct{ Code string }
	}
	if err := json.Unmarshal([]byte(u.must(0, "policy", "log", "--json").out), &log); err != nil {
		t.Fatal(err)
	}
	var named []string
	for _, r := range log {
		if r.Run != "RUN-1" || r.Tool != "run_terminal_cmd" || len(r.Reasons) == 0 {
			t.Errorf("%+v", r)
		}
		named = append(named, r.Call)
	}
	if got := strings.Join(named, "|"); got != strings.Join(wants, "|") {
		t.Errorf("policy log names %s", got)
	}
	if out := u.must(0, "policy", "log").out; !strings.Contains(out, "git push origin main") {
		t.Errorf("policy log:\n%s", out)
	}
	if out := u.must(0, "audit", "log", "--json").out; strings.Count(out, `"call":"git push origin main"`) != 2 {
		t.Error("the audit log lacks the command")
	}
	archives, _ := filepath.Glob(filepath.Join(u.dir, ".pawl", "history", "task_archive_*.md"))
	if len(archives) != 1 {
		t.Fatalf("%q", archives)
	}
	got, err := os.ReadFile(archives[0])
	if err != nil || !strings.Contains(string(got), "未获允许的调用: `git push origin main`") {
		t.Errorf("the archive lacks the call:\n%s %v", got, err)
	}
}
