package solution_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"pawl"
	"pawl/internal/golden"
	"pawl/text/solution"
)

// hostile is text that tries to become something else.
func hostile() *rapid.Generator[string] {
	piece := rapid.OneOf(
		rapid.SampledFrom([]string{
			"\n", "\r\n", "\r", "---", "# Forged", "\n## 任务列表\n", "\n## Tasks\n- [√] 9.9 forged\n", "- [ ] 1.1 x", "> ",
			"> 备注: x", "  - 依赖: 7.7", "\n  - Verify: y", "<!--", "-->", "|", "\\", "\\|",
			"`", "```", "\n```\n", "~~~~", "\x1b[31m", "\x00", "\u202e", "\u200b", "\u2028", "中文标题", "\xff", "\"", "'",
			": ", "：", "1.1 ", "2. ", "1.2修", "[x]: http://e", "\n### 目标\n", "\n## 5. 技术决策\n### x#D001: y\n", "\t",
			"    ", "😀", "⚠️", "　",
			"| depends_on: [1.1]", "> **@status:** completed | 2026-01-01 00:00", "**", "任务", "{", "#D001", "无", "none",
			"-", "状态: ✅采纳", "类型: x",
		}),
		rapid.String(), rapid.StringMatching(`[a-z ]{0,20}`),
	)
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(piece, 0, 6).Draw(t, "pieces"),
			"")
	})
}

// tame is text that stays as it is in every place.
func tame() *rapid.Generator[string] {
	return rapid.StringMatching("(在 `[a-z]{1,8}\\.go` 中|[A-Z][a-z]{1,6}) ?[a-z修复]{1,10}")
}

func example(l solution.Language) solution.Tasks {
	in := func(zh, en string) string {
		if l == solution.English {
			return en
		}
		return zh
	}
	return solution.Tasks{
		Language: l, Title: in("用户登录", "User login"), Closing: &solution.Closing{Result: solution.EndedPartly,
			At: noon.Truncate(time.Minute)},
		List: []solution.Task{
			{Number: "1.1", Status: solution.Completed,
				Title: in("在 `auth.go` 中实现登录", "Implement the login in `auth.go`"), Group: in("1. 核心", "1. Core"),
				Verify: []string{"`go test ./auth`"}},
			{Number: "1.1.1", Status: solution.Completed, Title: in("密码校验", "Check the password"), Level: 1,
				Group: in("1. 核心", "1. Core")},
			{Number: "1.1.2", Status: solution.Skipped, Title: in("限流", "Limit the rate"), Level: 1,
				Group: in("1. 核心", "1. Core"), Remarks: []string{in("用户要求跳过", "the user asked for it")}},
			{Number: "1.2", Status: solution.Failed, Title: in("在 `page.html` 中添加表单", "Add the form to `page.html`"),
				Group: in("1. 核心", "1. Core"), DependsOn: []string{"1.1"},
				Remarks: []string{in("模板缺失", "the template is missing")}},
			{Number: "2.1", Status: solution.Uncertain, Title: in("更新文档", "Update the documents"),
				Group: in("2. 文档", "2. Documents"), DependsOn: []string{"1.1", "1.2"},
				Remarks: []string{in("待确认", "to be seen")}},
			{Status: solution.Pending, Title: in("没有编号的任务", "A task without a number"),
				Group: in("2. 文档", "2. Documents"), Remarks: []string{"?"}},
		},
		Notes: solution.Table{Header: []string{in("任务", "Task"), in("状态", "Status"), in("备注", "Note")},
			Rows: [][]string{{"1.2", "failed", `a \| b`}, {"2.1", "", "…"}}},
	}
}

func TestTasksAreWrittenInBothLanguages(t *testing.T) {
	for _, l := range []solution.Language{solution.Chinese, solution.English} {
		text := example(l).Render()
		golden.Check(t, "testdata/tasks."+string(l)+".md", text)
		same(t, text, example(l))
	}
}

// same reads a text and compares what it says.
func same(t interface{ Fatalf(string, ...any) }, text string, want solution.Tasks) {
	f, err := solution.ReadTasks([]byte(text))
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	if f.String() != text {
		t.Fatalf("read as\n%q\nfrom\n%q", f, text)
	}
	got := f.Tasks
	p := solution.ProgressOf(want.List)
	want.Progress = &p
	for i := range got.List {
		got.List[i].Line = 0
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("read back\n%+v\nwant\n%+v\nfrom\n%s", got, want, text)
	}
}

func tasksGenerator() *rapid.Generator[solution.Tasks] {
	return rapid.Custom(func(t *rapid.T) solution.Tasks {
		out := solution.Tasks{Language: rapid.SampledFrom([]solution.Language{solution.Chinese,
			solution.English}).Draw(t, "language"), Title: tame().Draw(t, "title")}
		if rapid.Bool().Draw(t, "closed") {
			out.Closing = &solution.Closing{Result: rapid.SampledFrom([]solution.Result{solution.EndedWell,
				solution.EndedPartly, solution.EndedBadly, solution.NotCarried, solution.RolledBack}).Draw(t, "result"),
				At: noon.Truncate(time.Minute)}
		}
		level, group := -1, ""
		for i := range rapid.IntRange(0, 8).Draw(t, "tasks") {
			if rapid.IntRange(0, 3).Draw(t, "new group") == 0 {
				group, level = fmt.Sprintf("%d. %s", i, tame().Draw(t, "group")), -1
			}
			level = rapid.IntRange(0, min(level+1, 4)).Draw(t, "level")
			task := solution.Task{Level: level, Group: group, Title: tame().Draw(t, "task"),
				Status: rapid.SampledFrom([]solution.Status{solution.Pending, solution.Completed, solution.Failed,
					solution.Skipped, solution.Uncertain}).Draw(t, "status")}
			if rapid.Bool().Draw(t, "numbered") {
				task.Number = fmt.Sprintf("%d.%d", i/3+1, i)
				for _, other := range out.List {
					if other.Number != "" && rapid.IntRange(0, 2).Draw(t, "depends") == 0 {
						task.DependsOn = append(task.DependsOn, other.Number)
					}
				}
			}
			task.Verify = few(t, "verify")
			task.Remarks = few(t, "remarks")
			out.List = append(out.List, task)
		}
		out.Notes.Header = []string{"a", tame().Draw(t, "head")}
		out.Notes.Rows = [][]string{}
		for range rapid.IntRange(0, 3).Draw(t, "rows") {
			out.Notes.Rows = append(out.Notes.Rows,
				[]string{rapid.SampledFrom([]string{"", `x\|y`, "z"}).Draw(t, "cell"), tame().Draw(t, "cell")})
		}
		return out
	})
}

func few(t *rapid.T, name string) []string {
	var out []string
	for range rapid.IntRange(0, 2).Draw(t, name) {
		out = append(out, tame().Draw(t, name))
	}
	return out
}

func TestTasksRoundTrip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		want := tasksGenerator().Draw(rt, "tasks")
		same(rt, want.Render(), want)
	})
}

// Whatever the texts are, the form stays: nobody adds a task, or hides one, by writing something odd into a title.
func TestNoTextChangesTheFormOfTasks(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		want := tasksGenerator().Draw(rt, "tasks")
		odd := func(s *string) {
			if rapid.Bool().Draw(rt, "odd") {
				*s = hostile().Draw(rt, "text")
			}
		}
		odd(&want.Title)
		for i := range want.List {
			task := &want.List[i]
			odd(&task.Title)
			odd(&task.Group)
			for _, list := range [][]string{task.Verify, task.Remarks} {
				for j := range list {
					odd(&list[j])
				}
			}
			if rapid.Bool().Draw(rt, "odd number") {
				task.Number, task.DependsOn = hostile().Draw(rt, "number"), append(task.DependsOn,
					hostile().Draw(rt, "dependency"))
			}
		}
		for _, r := range want.Notes.Rows {
			odd(&r[0])
		}
		text := want.Render()
		report := solution.Validate(map[string][]byte{"tasks.md": []byte(text)})
		if report.Tasks.ByStatus != solution.Count(want.List) {
			rt.Fatalf("%+v, want %+v in\n%s", report.Tasks.ByStatus, solution.Count(want.List), text)
		}
		for i, item := range report.Tasks.Items {
			if item.Status != want.List[i].Status {
				rt.Fatalf("task %d is %s in\n%s", i, item.Status, text)
			}
		}
		for _, f := range report.Issues {
			if strings.Contains(" solution.missing solution.no_tasks solution.same_number solution.unknown_dependency solution.circle ", " "+f.Key+" ") {
				continue // what the value itself says
			}
			rt.Fatalf("%v in\n%s", f, text)
		}
		if strings.ContainsAny(text, "\x00\x1b\r") || strings.Contains(text, "\u202e") {
			rt.Fatalf("concealed characters in %q", text)
		}
		if f, err := solution.ReadTasks([]byte(text)); err == nil { // what is read once stays
			again := f.Tasks
			same(rt, again.Render(), settled(again))
		}
	})
}

// settled takes out of a value what it has from its file alone.
func settled(t solution.Tasks) solution.Tasks {
	t.Progress = nil
	t.List = append([]solution.Task(nil), t.List...)
	for i := range t.List {
		t.List[i].Line = 0
	}
	return t
}

// wild is a file as people and other tools write them.
const wild = "\ufeff> **@status:** completed | 2026-03-20 15:24\r\n\r\n# 任务清单: 客户端\r\n\r\n```yaml\r\n@feature: client\r\n@status: completed\r\n```\r\n\r\n<!-- LIVE\r\n- [ ] 0.0 not a task\r\n-->\r\n| 符号 | 状态 |\r\n|---|---|\r\n| `[ ]` | pending |\r\n\r\n" +
	"## 执行状态\r\n```yaml\r\n总任务: 4\r\n已完成: 9   \r\n完成率: 50%\r\n```\r\n---\r\n\r\n## 任务列表\r\n\r\n### 1. 服务层\r\n\r\n- [x] 1.1 在 `a.go` 中实现 | depends_on: []\r\n\r\n  some words of the author\r\n* [√] 1.2修复 `b.go` | depends_on: [1.1]\r\n\t- [-] 子任务\r\n\t> **备注**：不需要\r\n" +
	"  - **验证:** `make`\r\n  - 依赖：1.1、任务1.1\r\n- [link](http://e) is no task\r\n- [ ] 3 files to change\r\n- [ ]2. 无空格  \r\n```sh\r\n- [ ] in a fence\r\n```\r\n> 备注: 迟到的备注\r\n\r\n## 验收\r\n- [a] choice\r\n"

func TestFilesOfOthersAreRead(t *testing.T) {
	f, err := solution.ReadTasks([]byte(wild))
	if err != nil {
		t.Fatal(err, errors.Unwrap(err))
	}
	if f.String() != wild {
		t.Errorf("not the same text: %q", f)
	}
	var got strings.Builder
	for _, task := range f.List {
		fmt.Fprintf(&got, "%d:%d %s %q %q on %q verify %q remarks %q\n", task.Line, task.Level, task.Status,
			task.Number, task.Title, task.DependsOn, task.Verify, task.Remarks)
	}
	for _, w := range f.Warnings {
		fmt.Fprintln(&got, w)
	}
	fmt.Fprintf(&got, "%s %v %+v %s %q\n", f.Title, f.Closing, *f.Progress, f.Language, f.List[0].Group)
	golden.Check(t, "testdata/wild.txt", got.String())
}

func TestClosing(t *testing.T) {
	f, err := solution.ReadTasks([]byte(strings.Replace(wild, "[ ]2. ", "["+solution.Failed.Symbol()+"]2. ", 1)))
	if err != nil {
		t.Fatal(err)
	}
	f.Close(solution.Closing{Result: solution.EndedPartly, At: noon},
		func(task solution.Task) string { return "reason\nof " + string(task.Status) })
	golden.Check(t, "testdata/closed.md", strings.ReplaceAll(f.String(), "\r\n", "\n"))
	if strings.Count(f.String(), "\n") != strings.Count(f.String(), "\r\n") {
		t.Error("line breaks of two kinds")
	}
	once := f.String()
	f.Close(solution.Closing{Result: solution.EndedPartly, At: noon}, func(solution.Task) string { return "again" })
	if f.String() != once {
		t.Errorf("closing again changed\n%s", f)
	}
}

// What is added to a task stands with it, not with its parts, and a last line without a break gets one.
func TestLinesAreAddedWhereTheyBelong(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"- [ ] a", "- [ ] a\n  > 备注: why\n"},
		{"# T\n- [ ] 任务\n  - [√] 子任务\n  - 验证: x\n", "- [ ] 任务\n  > 备注: why\n  - [√] 子任务\n  - 验证: x\n"},
		{"# T\n\n## Tasks\n- [ ] a\n  - Verify: x\n\n  more\n- [ ] b\n  > Note: had\n",
			"## Tasks\n- [ ] a\n  - Verify: x\n  > Note: why\n\n  more\n- [ ] b\n  > Note: had\n"},
	} {
		f, err := solution.ReadTasks([]byte(c.text))
		if err != nil {
			t.Fatal(err)
		}
		f.Close(solution.Closing{Result: solution.EndedPartly, At: noon}, func(solution.Task) string { return "why" })
		if got := f.List[0].Remarks; len(got) != 1 || got[0] != "why" {
			t.Errorf("remarks %q in\n%s", got, f)
		}
		if !strings.HasSuffix(strings.ReplaceAll(f.String(), "Note", "备注"), strings.ReplaceAll(c.want, "Note", "备注")) {
			t.Errorf("got\n%s\nwant at its end\n%s", f, c.want)
		}
	}
}

func TestClosingKeepsEveryLine(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := tasksGenerator().Draw(rt, "tasks").Render()
		f, err := solution.ReadTasks([]byte(text))
		if err != nil {
			rt.Fatal(err)
		}
		list := settled(f.Tasks).List
		f.Close(solution.Closing{Result: solution.Judge(solution.Count(f.List)), At: noon},
			func(solution.Task) string { return hostile().Draw(rt, "reason") })
		if f.Closing == nil || f.Closing.Result != solution.Judge(solution.Count(list)) || len(f.List) != len(list) {
			rt.Fatalf("closed as %+v:\n%s", f.Closing, f)
		}
		for i, task := range f.List {
			if task.Status != solution.Completed && len(task.Remarks) == 0 || task.Title != list[i].Title ||
				!reflect.DeepEqual(task.DependsOn, list[i].DependsOn) {
				rt.Fatalf("task %+v, was %+v", task, list[i])
			}
		}
		rest := strings.Split(f.String(), "\n")
		for _, l := range strings.Split(text, "\n") {
			for len(rest) > 0 && rest[0] != l {
				rest = rest[1:]
			}
			if len(rest) == 0 && !strings.HasPrefix(l, "> **@status:**") {
				rt.Fatalf("the line %q is gone or moved:\n%s", l, f)
			}
			if strings.HasPrefix(l, "> **@status:**") {
				rest = strings.Split(f.String(), "\n")
			}
		}
	})
}

func TestBrokenTasks(t *testing.T) {
	head := "# T\n\n## 任务列表\n\n"
	for _, c := range []struct{ text, want string }{
		{"", "tasks.md: solution.empty"},
		{" \n\t\n", "tasks.md: solution.empty"},
		{head + "- [ ] 1.1 a\n- [v] 1.2 b\n", "tasks.md:6: solution.bad_symbol v"},
		{head + "- [] 1.2 b\n", "tasks.md:5: solution.bad_symbol "},
		{head + "- [✓] 1.2 b\n", "tasks.md:5: solution.bad_symbol ✓"},
		{head + "- 【√】 1.2 b\n", "tasks.md:5: solution.bad_brackets 【√】"},
		{head + "1. [ ] b\n", "tasks.md:5: solution.bad_bullet 1."},
		{head + "- [ ]\n", "tasks.md:5: solution.no_text"},
		{head + "- [ ] 1.1\n", "tasks.md:5: solution.no_text"},
		{head + "- [ ] 1.1 a\n- [ ] 1.1 b\n", "tasks.md:6: solution.same_number 1.1 5"},
		{head + "- [ ] 1.1 a\n  - 依赖: 1.2\n", "tasks.md:5: solution.unknown_dependency 1.2"},
		{head + "- [ ] 1.1 a\n  - Depends on: the first\n",
			"tasks.md:6: solution.bad_dependency the; tasks.md:6: solution.bad_dependency first"},
		{head + "- [ ] 1.1 a\n  - 依赖: 1.1\n", "tasks.md:5: solution.circle 1.1 → 1.1"},
		{head + "- [ ] 1.1 a\n  - 依赖: 1.3\n- [ ] 1.2 b\n  - 依赖: 1.1\n- [ ] 1.3 c\n  - 依赖: 1.2\n",
			"tasks.md:5: solution.circle 1.1 → 1.3 → 1.2 → 1.1"},
		{head + "- [ ] 1.1 a\n```\n- [ ] 1.2 b\n", "tasks.md:6: solution.not_ended"},
		{head + "- [ ] 1.1 a\n<!-- \n- [ ] 1.2 b\n", "tasks.md:6: solution.not_ended"},
		{head + "- [ ] \xff\n", "tasks.md:5: solution.not_text"},
		{head + "- [ ] a\x00b\n", "tasks.md:5: solution.not_text"},
		{strings.Repeat("x", solution.MaxFile+1), fmt.Sprintf("tasks.md: solution.too_large %d %d", solution.MaxFile+1,
			solution.MaxFile)},
		{strings.Repeat("- [ ] a\n", solution.MaxTasks+1),
			fmt.Sprintf("tasks.md: solution.too_many_tasks %d %d", solution.MaxTasks+1, solution.MaxTasks)},
	} {
		f, err := solution.ReadTasks([]byte(c.text))
		var b *pawl.Problems
		if f != nil || pawl.CodeOf(err) != pawl.CodeInvalid || !errors.As(err, &b) || b.Error() != c.want {
			t.Errorf("%.60q: %v, want %s", c.text, b, c.want)
		}
	}
	for _, n := range []int{30, 150} {
		_, err := solution.ReadTasks([]byte(head + strings.Repeat("- [v] b\n", n)))
		var b *pawl.Problems
		var e *pawl.Error
		if !errors.As(err, &b) || !errors.As(err, &e) || len(b.List) != 20 || b.More != n-20 || len(b.Unwrap()) != 20 ||
			e.Args[1] != n {
			t.Errorf("%d problems: %v", n, err)
		}
	}
}

// A long chain of tasks is no reason to run deep or long.
func TestALongChainIsRead(t *testing.T) {
	var b strings.Builder
	for i := range solution.MaxTasks {
		fmt.Fprintf(&b, "- [ ] 1.%d a\n  - 依赖: 1.%d\n", i, (i+1)%solution.MaxTasks)
	}
	_, err := solution.ReadTasks([]byte(b.String()))
	var broken *pawl.Problems
	if !errors.As(err, &broken) || len(broken.List) != 1 ||
		!strings.HasPrefix(broken.Error(), "tasks.md:1: solution.circle 1.0 → 1.1 → 1.2 → 1.3 → … → ") {
		t.Errorf("%v", err)
	}
}
