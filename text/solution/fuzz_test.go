package solution_test

import (
	"fmt"
	"strings"
	"testing"

	"pawl/text/solution"
)

func FuzzTasks(f *testing.F) {
	f.Add([]byte(wild))
	f.Add([]byte(example(solution.Chinese).Render()))
	f.Add([]byte(example(solution.English).Render()))
	f.Add([]byte("- [ ] a\r- [x] b\r\n\t- [-]c\n```\n> 备注:\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		solution.Validate(map[string][]byte{"tasks.md": data})
		file, err := solution.ReadTasks(data)
		if err != nil {
			return
		}
		if file.String() != string(data) {
			t.Fatalf("read as %q", file)
		}
		list := settled(file.Tasks).List
		file.Close(solution.Closing{Result: solution.EndedPartly, At: noon},
			func(solution.Task) string { return "why" })
		if len(file.List) != len(list) {
			t.Fatalf("%d tasks, had %d:\n%s", len(file.List), len(list), file)
		}
		for i, task := range file.List {
			if task.Status != list[i].Status || task.Title != list[i].Title || task.Number != list[i].Number ||
				task.Level != list[i].Level {
				t.Fatalf("%+v, was %+v:\n%s", task, list[i], file)
			}
			if task.Status != solution.Completed && len(task.Remarks) == 0 {
				t.Fatalf("no remark at %+v:\n%s", task, file)
			}
		}
		if file.Closing == nil || file.Closing.Result != solution.EndedPartly {
			t.Fatalf("not closed:\n%s", file)
		}
	})
}

func FuzzProposal(f *testing.F) {
	f.Add([]byte(proposal(solution.Chinese).Render()))
	f.Add([]byte(proposal(solution.English).Render()))
	f.Add([]byte("# T\r\n## 元信息\r\n状态:a\r\n## 1. 需求\n## 2. 方案\n## 5. 技术决策\n### #D001\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		solution.Validate(map[string][]byte{"proposal.md": data})
		file, err := solution.ReadProposal(data)
		if err != nil {
			return
		}
		if again, err := solution.ReadProposal([]byte(file.Render())); err != nil {
			// A decision may be made twice only where the file itself says so, which is an error above.
			t.Fatalf("%v:\n%s", err, file.Render())
		} else if again.Type != file.Type || len(again.Decisions) != len(file.Decisions) {
			t.Fatalf("%+v rendered as %+v", file.Proposal, again.Proposal)
		}
	})
}

func FuzzIndex(f *testing.F) {
	f.Add(others)
	f.Add(solution.IndexTitle(solution.English) + solution.IndexHead(solution.English))
	f.Fuzz(func(t *testing.T, index string) {
		r := solution.Row{Stamp: "202602081200", Name: "a", Dir: "2026-02/202602081200_a", Result: solution.EndedWell,
			Marker: "<!-- pawl:1 -->"}
		before, _, err := solution.ReadIndex([]byte(index))
		grown := solution.AddRow(index, r, solution.Chinese)
		if err != nil {
			return
		}
		if after, _, err := solution.ReadIndex([]byte(grown)); err == nil && len(after) < len(before) ||
			len(grown) < len(index) {
			t.Fatalf("%d rows, had %d: %q", len(after), len(before), grown)
		}
	})
}

func FuzzName(f *testing.F) {
	f.Add("202602081200_a_v2")
	f.Add("202602081200__v9")
	f.Fuzz(func(t *testing.T, s string) {
		if n, err := solution.ParseName(s); err == nil && n.String() != s {
			t.Fatalf("%q read as %q", s, n)
		}
		if feature, err := solution.Feature(s); err == nil {
			if again, err := solution.Feature(feature); err != nil || again != feature {
				t.Fatalf("%q made %q, and that %q", s, feature, again)
			}
		}
	})
}

// Files that are made to cost much are read like others.
func TestHugeFiles(t *testing.T) {
	const some = 300_000
	for name, tasks := range map[string]string{
		"dependencies":   "- [ ] 1.1 a\n  - 依赖: 1.1" + strings.Repeat(", 1.2, 1.3", some) + "\n",
		"dependency row": "- [ ] 1.1 a\n" + strings.Repeat("  - 依赖: 1.1\n", some/2),
		"columns":        "## 执行备注\n" + strings.Repeat("|", some) + "\n|---|\n" + strings.Repeat("||\n", some),
		"deep":           deep(2500),
		"one line":       "- [ ] " + strings.Repeat("1.", some*4) + "\n",
		"fences":         strings.Repeat("```\n", some),
		"symbols":        strings.Repeat("- [v] a\n", some),
		"headings":       strings.Repeat("## 任务列表\n", some/2),
	} {
		if len(tasks) > solution.MaxFile {
			t.Fatalf("%s: too large to be read at all", name)
		}
		r := solution.Validate(files(soundProposal, tasks))
		if n := len(r.Issues) + len(r.Warnings); n > 202 {
			t.Errorf("%s: %d findings", name, n)
		}
	}
	var ids strings.Builder
	for i := range some {
		fmt.Fprintf(&ids, "#D%06d \u202e\n", i)
	}
	r := solution.Validate(files(soundProposal+ids.String(), "- [ ] a\n"))
	if n := len(r.Warnings); n != 101 || r.Warnings[100].Key != "solution.more" || len(r.Proposal.Decisions) != 10_000 {
		t.Errorf("%d warnings, %d decisions", n, len(r.Proposal.Decisions))
	}
	file, err := solution.ReadTasks([]byte(strings.Repeat("- [ ] a\n", solution.MaxTasks)))
	if err != nil {
		t.Fatal(err)
	}
	file.Close(solution.Closing{Result: solution.NotCarried, At: noon}, func(solution.Task) string { return "x" })
	if n := strings.Count(file.String(), "\n"); n != 2*solution.MaxTasks+2 {
		t.Errorf("%d lines", n)
	}
}

// deep is a task in a task in a task.
func deep(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat(" ", i) + "- [ ] a\n")
	}
	return b.String()
}
