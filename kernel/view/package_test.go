package view_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"pawl"
	"pawl/internal/golden"
	"pawl/kernel/effect"
	"pawl/kernel/view"
	"pawl/machine/board"
	"pawl/text/plan"
)

// carriedOut is a package whose run is over.
func carriedOut() view.Package {
	step := func(id, title string, status plan.Status, file string, on ...string) plan.Step {
		return plan.Step{StepID: id, Title: title, Intent: "why " + id, Status: status, DependsOn: on,
			ExpectedArtifacts: []plan.Artifact{{Type: plan.ArtifactFile, Value: file},
				{Type: plan.ArtifactCommand, Value: "go test ./..."}}}
	}
	p := plan.Plan{
		Goal: "Rename Foo to Bar", Constraints: []string{"no change of the API",
			"# no heading"}, RiskLevel: pawl.RiskMedium,
		Steps: []plan.Step{step("s1", "Rename", plan.Done, "foo.go"),
			step("s2", "Document", plan.Skipped, "README.md", "s1"), step("fix1-1", "Format", plan.Done, "foo.go")},
	}
	p.Steps[0].RollbackHint = "git checkout foo.go"
	tree := "f00dfeedf00dfeed"
	return view.Package{
		Name: "202602081200_rename-foo-to-bar", Plan: p, Hash: "abcdef0123456789", Risk: pawl.RiskMedium,
		Agent: "script",
		Task:  "01JKG3V6ZZ0000000000000002", Label: "T-002", Title: "Rename Foo to Bar", State: "done",
		Outcome: "completed",
		Checks:  []effect.Check{{Name: "go test", Command: "go test ./..."}},
		Evidence: []view.Evidence{{Passed: true, Tree: tree, TreeAfter: tree, Checks: []view.Outcome{
			{Name: "go test", Command: "go test ./... | tee log", Status: effect.CheckPassed}, {Name: "lint",
				Status: effect.CheckSkipped},
		}}},
		Land: &view.Landing{Outcome: effect.Landed, Commit: "c0ffee1234567890", Branch: "main",
			Files: []effect.FileStat{
				{Path: "foo.go", Status: "M", Added: 3, Removed: 2}, {Path: "cmd/a|b.go", Status: "A",
					Added: 10}, {Path: "cmd/c.go", Status: "D", Removed: 4},
			}},
		Created: noon, Ended: noon.Add(90 * time.Minute),
	}
}

// left is what the package leaves behind, where nothing is moved.
func left(p view.Package) []pawl.ProjectedFile {
	files, _ := p.Archive()
	return files
}

func TestPackageFiles(t *testing.T) {
	p := carriedOut()
	files := map[string]string{}
	for _, f := range left(p) {
		files[f.Path] += f.Content
		if f.Append == f.Unique {
			t.Errorf("%s is neither added to nor kept apart: %+v", f.Path, f)
		}
		if f.Append && (f.Marker == "" || !strings.Contains(f.Content, f.Marker)) {
			t.Errorf("%s: marker %q is not in the content", f.Path, f.Marker)
		}
	}
	for path, name := range map[string]string{
		"archive/2026-02/202602081200_rename-foo-to-bar/proposal.md": "proposal.md",
		"archive/2026-02/202602081200_rename-foo-to-bar/tasks.md":    "tasks.md",
		"archive/_index.md": "index.md", "history/task_archive_202602.md": "task_archive.md",
	} {
		golden.Check(t, "testdata/"+name, files[path])
	}
	p.Outcome, p.State = "", "running"
	for _, f := range p.Live() {
		if !strings.HasPrefix(f.Path, "plan/202602081200_rename-foo-to-bar/") || f.Append || f.Unique ||
			strings.Contains(f.Content, "@status") {
			t.Errorf("live file %+v", f)
		}
	}
}

func TestEnding(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*view.Package)
		want   view.Ending
	}{
		{"a skipped step", func(*view.Package) {}, view.EndedPartly},
		{"all done", func(p *view.Package) { p.Plan.Steps[1].Status = plan.Done }, view.EndedWell},
		{"kept on a branch", func(p *view.Package) { p.Plan.Steps[1].Status, p.Land.Outcome = plan.Done, effect.Kept },
			view.EndedPartly},
		{"a tolerated failure", func(p *view.Package) {
			p.Plan.Steps[1].Status, p.Evidence[0].Passed = plan.Done,
				false
		}, view.EndedPartly},
		{"skipped", func(p *view.Package) { p.Outcome = "skipped" }, view.EndedBadly},
		{"canceled", func(p *view.Package) { p.Outcome = "canceled" }, view.EndedBadly},
		{"not over", func(p *view.Package) { p.Outcome = "" }, view.EndedBadly},
		{"declined", func(p *view.Package) { p.Outcome = "declined" }, view.NotCarried},
		{"rolled back", func(p *view.Package) { p.Outcome = "rolled_back" }, view.RolledBack},
	} {
		p := carriedOut()
		c.change(&p)
		if got := p.Ending(); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	if got := view.EndedPartly.Icon() + view.EndedWell.Icon(); got != "⚠️✅" {
		t.Errorf("icons %s", got)
	}
}

// taskLine is the expression by which the seed's validator finds tasks (docs/spec/workflow.md#validation).
var taskLine = regexp.MustCompile(`(?m)^[-*]\s*\[([ √X\-?])\]\s*(.+)$`)

func TestNothingBreaksTheFormOfAPackage(t *testing.T) {
	want := map[string]string{}
	for _, f := range left(carriedOut()) {
		want[f.Path+f.Marker] = strings.Join(form([]byte(plainNames(f.Content))), "\n")
	}
	rapid.Check(t, func(rt *rapid.T) {
		p := carriedOut()
		for _, s := range []*string{
			&p.Plan.Goal, &p.Plan.Constraints[1], &p.Plan.Steps[0].Title, &p.Plan.Steps[0].Intent,
			&p.Plan.Steps[1].RollbackHint, &p.Plan.Steps[0].ExpectedArtifacts[0].Value,
			&p.Plan.Steps[0].ExpectedArtifacts[1].Value, &p.Title, &p.Agent, &p.Checks[0].Command,
			&p.Evidence[0].Checks[0].Command, &p.Land.Files[1].Path, &p.Reason,
		} {
			*s = text().Draw(rt, "text")
		}
		p.Plan.Steps[1].RollbackHint = "" // each hint is a row of the table of risks
		for _, f := range left(p) {
			if got := strings.Join(form([]byte(plainNames(f.Content))), "\n"); got != want[f.Path+f.Marker] {
				rt.Fatalf("%s: the form is\n%s\nwant\n%s\nin\n%s", f.Path, got, want[f.Path+f.Marker], f.Content)
			}
			if strings.HasSuffix(f.Path, "tasks.md") &&
				len(taskLine.FindAllString(f.Content, -1)) != len(p.Plan.Steps) {
				rt.Fatalf("not one task line for each step:\n%s", f.Content)
			}
			if strings.ContainsAny(f.Content, "\x00\x1b\r\t") {
				rt.Fatalf("unsafe characters in %q", f.Content)
			}
		}
	})
}

// plainNames takes the titles out of headings, so that what is left is the form.
func plainNames(content string) string {
	return regexp.MustCompile(`(?m)^(## Task-002|#):? .*$`).ReplaceAllString(content, "$1")
}

func TestStateJSONIsValid(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		status := rapid.SampledFrom(board.Issue.States()).Draw(rt, "status")
		message := text().Draw(rt, "error")
		b := view.Batch{
			Status: board.RunRunning, Phase: board.PhaseExecuting, WorkDir: "/w/.pawl", Actions: []string{"init",
				"plan", "execute"}, Created: noon, Updated: noon,
			Issues: []board.IssueState{{ID: "ISS-20260208-001", Title: text().Draw(rt, "title"), Status: status,
				SolutionID: "SOL-ISS-20260208-001-1", PlannedAt: "2026-02-08T12:00:00.000Z", Error: &message}},
			Queue: []board.QueueItem{{ItemID: "S-1", IssueID: "ISS-20260208-001", SolutionID: "SOL-ISS-20260208-001-1",
				Status: board.ItemExecuting}},
			Errors: []view.BoardError{{At: noon, Action: "plan", Issue: "ISS-20260208-001",
				Error: effect.Fault{Class: pawl.ClassModel, Code: pawl.CodeCannotPlan, Key: "k",
					Args: []string{message}}}},
		}
		s, err := board.ParseState(view.StateJSON(b))
		if err != nil {
			rt.Fatal(err)
		}
		if s.Context.TotalIssues != 1 || (s.Context.FailedCount == 1) != (status == board.IssueFailed) ||
			len(s.Errors) != 1 || len(s.CompletedActions) != 3 {
			rt.Fatalf("read back %+v", s)
		}
	})
	empty := view.StateJSON(view.Batch{Status: board.RunPending, Phase: board.PhaseInit, Created: noon, Updated: noon})
	if _, err := board.ParseState(empty); err != nil {
		t.Errorf("initial state: %v", err)
	}
	golden.Check(t, "testdata/state.json", string(empty))
	history := view.StateHistory([]view.BoardPoint{{At: noon, Phase: board.PhasePlanning, Actions: 2, Issues: 1}})
	golden.Check(t, "testdata/state-history.json", string(history))
	var list []map[string]any
	if err := json.Unmarshal(view.StateHistory(nil), &list); err != nil || list == nil {
		t.Errorf("empty history: %v %v", list, err)
	}
}

func TestDecisions(t *testing.T) {
	week := 7 * 24 * time.Hour
	decisions := []view.Decision{
		{ID: "d1", Type: "Architecture", Content: "one | process", At: noon.Add(-2 * week)},
		{ID: "d2", Type: "Lib", Content: "old", At: noon.Add(-2 * week), ReplacedBy: "d3",
			ReplacedAt: noon.Add(-week + time.Second)},
		{ID: "d3", Type: "Lib", Content: "new\n## 5. Forged", At: noon.Add(-week + time.Second)},
		{ID: "d4", Type: "Rule", Content: "forgotten", At: noon.Add(-3 * week), ReplacedBy: "d5",
			ReplacedAt: noon.Add(-week)},
	}
	incidents := []view.Incident{{ID: "e1", Type: "E_IO", Cause: "disk | full", Fix: "more disk", At: noon}}
	golden.Check(t, "testdata/project_decisions.md", string(view.Decisions(decisions, incidents, noon)))
}
