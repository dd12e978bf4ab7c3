package solution_test

import (
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"pawl"
	"pawl/internal/golden"
	"pawl/text/solution"
)

func TestJudge(t *testing.T) {
	for _, c := range []struct {
		counts solution.Counts
		want   solution.Result
	}{
		{solution.Counts{}, solution.EndedWell},
		{solution.Counts{Completed: 3}, solution.EndedWell},
		{solution.Counts{Completed: 3, Skipped: 1}, solution.EndedPartly},
		{solution.Counts{Completed: 1, Failed: 9}, solution.EndedPartly},
		{solution.Counts{Completed: 1, Pending: 1}, solution.EndedPartly},
		{solution.Counts{Failed: 1, Skipped: 2}, solution.EndedBadly},
		{solution.Counts{Failed: 1, Pending: 2, Uncertain: 1}, solution.EndedBadly},
		{solution.Counts{Uncertain: 1, Pending: 1}, solution.EndedPartly},
		{solution.Counts{Pending: 2}, solution.NotCarried},
		{solution.Counts{Skipped: 2}, solution.NotCarried},
	} {
		if got := solution.Judge(c.counts); got != c.want {
			t.Errorf("%+v: %s, want %s", c.counts, got, c.want)
		}
	}
}

func TestResults(t *testing.T) {
	for _, r := range []solution.Result{solution.EndedWell, solution.EndedPartly, solution.EndedBadly,
		solution.NotCarried, solution.RolledBack} {
		for _, s := range []string{string(r), r.Word(), r.In(solution.English), " " +
			strings.Replace(string(r), r.Icon(), r.Icon()+" ", 1), strings.ReplaceAll(string(r), "\ufe0f", "")} {
			if got, ok := solution.ParseResult(s); got != r || !ok {
				t.Errorf("%q is read as %q", s, got)
			}
		}
	}
	if got, ok := solution.ParseResult("overview"); got != solution.EndedWell || !ok {
		t.Errorf("overview: %q", got)
	}
	for _, s := range []string{"", "done", "✅"} {
		if got, ok := solution.ParseResult(s); ok {
			t.Errorf("%q is read as %q", s, got)
		}
	}
}

func retiring() solution.Retiring {
	return solution.Retiring{
		Name: "202602081200_login", Files: files(proposal(solution.Chinese).Render(),
			strings.ReplaceAll(example(solution.Chinese).Render(), "> **@status:** partial | 2026-02-08 12:00\n\n",
				"")),
		At: noon, Modules: "auth, web", Marker: "<!-- pawl:01 -->", Exists: none,
	}
}

func TestRetire(t *testing.T) {
	r := retiring()
	got, err := solution.Retire(r)
	if err != nil {
		t.Fatal(err)
	}
	if got.From != "plan/202602081200_login" || got.To != "archive/2026-02/202602081200_login" ||
		got.Result != solution.EndedPartly {
		t.Errorf("%+v", got)
	}
	golden.Check(t, "testdata/retired.md", got.Tasks)
	golden.Check(t, "testdata/index.md", got.Index)

	r.Index, r.Exists = got.Index, func(dir string) bool { return dir == got.To }
	r.Marker, r.Result = "", solution.NotCarried
	again, err := solution.Retire(r)
	if err != nil {
		t.Fatal(err)
	}
	if again.To != got.To+"_v2" || !strings.HasPrefix(again.Index, got.Index) ||
		!strings.Contains(again.Index, "[login_v2](2026-02/202602081200_login_v2/)") ||
		!strings.HasSuffix(again.Index, "| ⏸未执行 |\n") {
		t.Errorf("the second: %+v", again)
	}
	for name, c := range map[string]struct {
		change func(*solution.Retiring)
		code   pawl.Code
		result solution.Result
	}{
		"bad name":   {func(r *solution.Retiring) { r.Name = "../x" }, pawl.CodeInvalid, ""},
		"odd result": {func(r *solution.Retiring) { r.Result = "great" }, pawl.CodeInvalid, ""},
		"broken tasks": {func(r *solution.Retiring) { r.Files["tasks.md"] = []byte("- [y] a") }, pawl.CodeInvalid,
			""},
		"broken and skipped": {func(r *solution.Retiring) {
			r.Files["tasks.md"], r.Result = []byte("- [y] a"),
				solution.NotCarried
		}, "", solution.NotCarried},
		"no files": {func(r *solution.Retiring) { r.Files = nil }, pawl.CodeInvalid, ""},
		"no files, given up": {func(r *solution.Retiring) { r.Files, r.Result = nil, solution.EndedBadly }, "",
			solution.EndedBadly},
		"overview alone": {func(r *solution.Retiring) {
			r.Files = map[string][]byte{"proposal.md": []byte("类型\n## 元信息\n方案类型: overview\n")}
		}, "", solution.EndedWell},
		"judged by its tasks": {func(r *solution.Retiring) { r.Files["tasks.md"] = []byte("- [√] a") }, "",
			solution.EndedWell},
	} {
		r := retiring()
		c.change(&r)
		got, err := solution.Retire(r)
		if pawl.CodeOf(err) != c.code || got.Result != c.result {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		if err == nil && string(r.Files["tasks.md"]) == "- [y] a" && got.Tasks != "- [y] a" {
			t.Errorf("%s: a file that cannot be read was changed: %q", name, got.Tasks)
		}
	}
}

// others is an index as other tools write it, with sections behind the table.
const others = "# 方案归档索引\n\n> 历史年份: 暂无\n\n## 快速索引（当前年份）\n\n| 时间戳 | 名称 | 类型 | 涉及模块 | 决策 | 结果 |\n|--------|------|------|---------|------|------|\n| 202601301516 | gh-issue | standard | a/b | gh-issue#D001,#D002 | ⏸ 未执行 |\n| {YYYYMMDDHHMM} | {feature} | {类型} | {模块列表} | - | ✅完成 |\n| 202602012031 | old | - | - | - | 好 |\n\n## 按月归档\n\n### 2026-01\n- [x](./2026-01/x/)\n"

func TestIndex(t *testing.T) {
	rows, warnings, err := solution.ReadIndex([]byte(others))
	want := []solution.Row{
		{Stamp: "202601301516", Name: "gh-issue", Type: "standard", Modules: "a/b", Decisions: "gh-issue#D001,#D002",
			Result: solution.NotCarried, Line: 9},
		{Stamp: "202602012031", Name: "old", Line: 11},
	}
	if err != nil || !reflect.DeepEqual(rows, want) || len(warnings) != 1 || warnings[0].Line != 11 {
		t.Errorf("%+v, %v, %v", rows, warnings, err)
	}
	if _, _, err := solution.ReadIndex([]byte("\xff")); pawl.CodeOf(err) != pawl.CodeInvalid {
		t.Errorf("no text: %v", err)
	}
	if rows, _, err := solution.ReadIndex(nil); rows != nil || err != nil {
		t.Errorf("no index: %v, %v", rows, err)
	}
}

func TestARowIsAddedOnce(t *testing.T) {
	english := solution.IndexTitle(solution.English) + solution.IndexHead(solution.English)
	r := solution.Row{Stamp: "202602081200", Name: "a", Dir: "2026-02/202602081200_a", Result: solution.NotCarried,
		Marker: "<!-- pawl:1 -->"}
	index := solution.AddRow(english, r, solution.Chinese)
	if want := english + "| 202602081200 | [a](2026-02/202602081200_a/) | - | - | - | ⏸not carried out <!-- pawl:1 --> |\n"; index != want {
		t.Errorf("a row in an English index:\n%s", index)
	}
	moved, other := r, r
	moved.Dir, other.Marker = r.Dir+"_v2", ""
	for _, again := range []solution.Row{r, moved, other} {
		if got := solution.AddRow(index, again, solution.English); got != index {
			t.Errorf("%+v is added again:\n%s", again, got)
		}
	}
}

func TestRowsAreOnlyAdded(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		index := rapid.SampledFrom([]string{"", "\ufeff", others, strings.ReplaceAll(others, "\n", "\r\n"),
			solution.IndexTitle(solution.English) + solution.IndexHead(solution.English), "# Something else",
			"text\n```\nopen\n"}).Draw(rt, "index")
		ours := index == "" || strings.HasPrefix(index, "# Archive")
		l := rapid.SampledFrom([]solution.Language{solution.Chinese, solution.English}).Draw(rt, "language")
		for i := range rapid.IntRange(1, 4).Draw(rt, "rows") {
			r := solution.Row{
				Stamp: "202602081200", Name: hostile().Draw(rt, "name"), Dir: "2026-02/202602081200_x_v" +
					strings.Repeat("1", i+1), Type: hostile().Draw(rt, "type"),
				Modules: hostile().Draw(rt, "modules"), Decisions: hostile().Draw(rt,
					"decisions"), Result: solution.RolledBack, Marker: "<!-- pawl:" + strings.Repeat("1", i+1) + " -->",
			}
			grown := solution.AddRow(index, r, l)
			rest := strings.Split(grown, "\n")
			for _, line := range strings.Split(strings.TrimSuffix(strings.TrimPrefix(index, "\ufeff"), "\n"), "\n") {
				for len(rest) > 0 && strings.Trim(rest[0], "\r\ufeff") != strings.TrimRight(line, "\r") {
					rest = rest[1:]
				}
				if len(rest) == 0 {
					rt.Fatalf("the line %q is gone:\n%s", line, grown)
				}
			}
			if ours && !strings.HasPrefix(grown, index) {
				rt.Fatalf("not added to:\n%s", grown)
			}
			if again := solution.AddRow(grown, r, l); again != grown {
				rt.Fatalf("added twice:\n%s", again)
			}
			before, _, _ := solution.ReadIndex([]byte(index))
			after, _, err := solution.ReadIndex([]byte(grown))
			if open := strings.Contains(index, "open"); err != nil || !open && (len(after) != len(before)+1 ||
				after[len(after)-1].Result != r.Result || after[len(after)-1].Dir != r.Dir ||
				after[len(after)-1].Marker != r.Marker) {
				rt.Fatalf("read %+v, %v from\n%s", after, err, grown)
			}
			index = grown
			if strings.Contains(index, "open") {
				return
			}
		}
	})
}

func TestLeftovers(t *testing.T) {
	names := []string{"notes", "202602081201_b", "202602081200_current", ".tmp", "202602081200_a", "", "drafts"}
	var got []string
	for _, l := range solution.Leftovers(names, ".pawl/plan/202602081200_current/") {
		got = append(got, l.Name)
		if l.Package != strings.Contains(l.Name, "_") || l.Package && l.Feature == "" {
			t.Errorf("%+v", l)
		}
	}
	if want := "202602081200_a 202602081201_b drafts notes"; strings.Join(got, " ") != want {
		t.Errorf("%v, want %s", got, want)
	}
	if got := solution.Leftovers(names[2:4], "202602081200_current"); len(got) != 0 {
		t.Errorf("%v", got)
	}
}
