package solution_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pawl"
	"pawl/internal/golden"
	"pawl/text/message"
	"pawl/text/solution"
)

const soundProposal = "# T\n## 元信息\n```yaml\n方案类型: implementation\n```\n## 1. 需求\n## 2. 方案\n"

func files(proposal, tasks string) map[string][]byte {
	return map[string][]byte{"proposal.md": []byte(proposal), "tasks.md": []byte(tasks)}
}

func TestValidate(t *testing.T) {
	overview := strings.Replace(soundProposal, "implementation", "overview", 1)
	for _, c := range []struct {
		name              string
		files             map[string][]byte
		valid, executable bool
		findings          string
	}{
		{"whole", files(soundProposal, "- [ ] 1.1 a\n- [√] 1.2 b\n"), true, true, ""},
		{"nothing", nil, false, false, "proposal.md: solution.missing; tasks.md: solution.missing"},
		{"empty files", files("", ""), false, false, "proposal.md: solution.empty; tasks.md: solution.empty"},
		{"no task", files(soundProposal, "# T\n"), false, false, "tasks.md: solution.no_tasks"},
		{"overview", files(overview, "# T\n"), true, false, ""},
		{"overview with tasks", files(overview, "- [ ] 1.1 a\n"), true, false, ""},
		{"all done", files(soundProposal, "- [√] 1.1 a\n- [-] 1.2 b\n"), true, false, "tasks.md: solution.all_done"},
		{"failed", files(soundProposal, "- [√] 1.1 a\n- [X] 1.2 b\n"), true, true, "tasks.md: solution.some_failed 1"},
		{"uncertain", files(soundProposal, "- [?] 1.1 a\n"), true, true, ""},
		{"broken", files(soundProposal, "- [ ] 1.1 a\n- [y] 1.2 b\n"), false, false,
			"tasks.md:2: solution.bad_symbol y"},
		{"broken, and nothing else", files(soundProposal, "- [y] 1.2 b\n"), false, false,
			"tasks.md:1: solution.bad_symbol y"},
		{"done by another sign", files(soundProposal, "- [ ] 1.1 a\n- [x] 1.2 b\n"), true, true,
			"tasks.md:2: solution.read_as_done"},
		{"a part open", files(soundProposal, "- [√] 1.1 a\n  - [ ] 1.2 b\n"), true, true,
			"tasks.md:1: solution.part_open 2"},
		{"too early", files(soundProposal, "- [ ] 1.1 a\n- [√] 1.2 b\n  - 依赖: 1.1\n"), true, true,
			"tasks.md:2: solution.done_too_early 1.2 1.1"},
		{"an orphan", files(soundProposal, "## 任务列表\n    - [ ] 1.1 a\n"), true, true, "tasks.md:2: solution.no_parent"},
		{"concealed", files(soundProposal, "- [ ] 1.1 a\u202eb\n"), true, true, "tasks.md:1: solution.concealed"},
		{"a head that claims", files(soundProposal, "## 执行状态\n```\n总任务: 2\n已完成: 2\n```\n- [ ] 1.1 a\n- [√] 1.2 b\n"),
			true, true, "tasks.md:4: solution.head_claims 2 2 1 2"},
		{"a modest head", files(soundProposal, "## 执行状态\n```\n总任务: 1\n已完成: many\n```\n- [ ] 1.1 a\n- [√] 1.2 b\n"),
			true, true, "tasks.md:4: solution.bad_number many"},
		{"said to be done", files(soundProposal, "> **@status:** completed | tomorrow\n- [ ] 1.1 a\n"), true, true,
			"tasks.md:1: solution.bad_time tomorrow; tasks.md:1: solution.not_all_done 1; tasks.md:2: solution.no_remark 1.1"},
		{"an odd end", files(soundProposal, "> **@status:** splendid\n- [ ] 1.1 a\n"), true, true,
			"tasks.md:1: solution.bad_result splendid"},
		{"no metadata", files("## 1. 需求\n## 2. 方案\n", "- [ ] a\n"), true, true, "proposal.md: solution.no_type"},
		{"odd metadata", files(strings.Replace(soundProposal, "```\n##", "优先级: high\n```\n##", 1), "- [ ] a\n"), true,
			true, "proposal.md:5: solution.bad_priority high"},
	} {
		r := solution.Validate(c.files)
		var got []string
		for _, f := range append(slices.Clone(r.Issues), r.Warnings...) {
			got = append(got, f.String())
		}
		if r.Valid != c.valid || r.Executable != c.executable || strings.Join(got, "; ") != c.findings {
			t.Errorf("%s: valid %v, executable %v, %q", c.name, r.Valid, r.Executable, got)
		}
	}
}

// The keys of the report are those of docs/spec/workflow.md#validation; programs read them.
func TestTheReportIsPublic(t *testing.T) {
	whole := files(proposal(solution.Chinese).Render(), example(solution.Chinese).Render())
	whole["notes.txt"] = nil
	zh := func(f pawl.Problem) string { text, _ := message.Chinese.Error(f.Error(solution.At)); return text }
	data, err := solution.Validate(whole).JSON(zh)
	if err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "testdata/report.json", string(data))
	data, _ = solution.Validate(nil).JSON(nil)
	golden.Check(t, "testdata/report_empty.json", string(data))
	var got map[string]any
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	if len(got) != 7 {
		t.Errorf("fields %v", got)
	}
}

var keyForm = regexp.MustCompile(`"(solution\.[a-z_]+)"`)

// Every finding that the package can make has its text, and no text is for nothing.
func TestFindingsHaveTexts(t *testing.T) {
	sources, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	for _, name := range sources {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range keyForm.FindAllStringSubmatch(string(data), -1) {
			used[m[1]] = true
			if _, ok := message.Lookup(m[1]); !ok {
				t.Errorf("%s: no message %s", name, m[1])
			}
		}
	}
	used["solution.names_taken"] = true // in the errors that earlier versions stored
	for _, key := range message.Keys() {
		if strings.HasPrefix(key, "solution.") && !used[key] {
			t.Errorf("nothing says %s", key)
		}
	}
	if len(used) < 40 {
		t.Errorf("only %d keys found; the scan is broken", len(used))
	}
	_, err = solution.ReadTasks([]byte("- [v] a\n"))
	var b *pawl.Problems
	if !errors.As(err, &b) {
		t.Fatal(err)
	}
	en, hint := message.English.Error(b.List[0].Error(solution.At))
	if en != "tasks.md:1: [v] is not the symbol of a task" || !strings.Contains(hint, "[√]") {
		t.Errorf("%q, %q", en, hint)
	}
}
