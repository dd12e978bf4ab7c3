package solution_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"pawl"
	"pawl/internal/golden"
	"pawl/text/solution"
)

func proposal(l solution.Language) solution.Proposal {
	p := solution.Proposal{
		Language: l, Title: "用户登录 — User login", Kind: "feature", Type: solution.Implementation, Priority: solution.P1,
		State: "草稿", Created: "2026-02-08 12:00",
		More:       []solution.Field{{Name: "计划哈希", Value: `a "quoted" # value`}},
		Background: "- one\n- two", Goal: "> Users can log in.", Acceptance: "- `go test ./...`",
		Technical: "Text\n\n```go\n# not a heading\nfunc main() {\n\tprintln()\n}\n```\n\n#### Detail",
		Impact:    "- auth.go",
		Risks:     solution.Table{Header: []string{"风险", "等级", "应对"}, Rows: [][]string{{"lock-out", "low", ""}}},
		Design:    "A table of sessions", Scenarios: "- log in\n- log out",
		Decisions: []solution.Decision{
			{ID: "login#D001", Title: "Sessions, not tokens", Verdict: solution.Adopted, Body: "Because they end."},
			{ID: "login#D002", Title: "Own hashing", Verdict: solution.Abandoned},
			{ID: "登录#D003", Title: "单点登录", Verdict: solution.Shelved, Body: "- 以后"},
		},
	}
	if l == solution.English {
		p.Risks.Header, p.State = []string{"Risk", "Level", "Answer"}, "draft"
	}
	return p
}

func TestProposalsAreWrittenInBothLanguages(t *testing.T) {
	for _, l := range []solution.Language{solution.Chinese, solution.English} {
		text := proposal(l).Render()
		golden.Check(t, "testdata/proposal."+string(l)+".md", text)
		sameProposal(t, text, proposal(l))
	}
	golden.Check(t, "testdata/proposal_empty.md", solution.Proposal{}.Render())
}

func sameProposal(t interface{ Fatalf(string, ...any) }, text string, want solution.Proposal) *solution.ProposalFile {
	f, err := solution.ReadProposal([]byte(text))
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	got := f.Proposal
	got.Decisions = append([]solution.Decision(nil), got.Decisions...)
	for i := range got.Decisions {
		got.Decisions[i].Line = 0
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("read back\n%+v\nwant\n%+v\nfrom\n%s", got, want, text)
	}
	return f
}

func TestProposalRoundTrip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		want := proposal(rapid.SampledFrom([]solution.Language{solution.Chinese, solution.English}).Draw(rt,
			"language"))
		for _, s := range []*string{
			&want.Title, &want.Kind, &want.State, &want.Created, &want.More[0].Value, &want.Background, &want.Goal,
			&want.Constraints, &want.Acceptance,
			&want.Technical, &want.Impact, &want.Risks.Rows[0][1], &want.Decisions[0].Title, &want.Decisions[1].Body,
		} {
			*s = tame().Draw(rt, "text")
		}
		want.Type = rapid.SampledFrom([]solution.Type{solution.Implementation, solution.Overview}).Draw(rt, "type")
		want.Decisions = want.Decisions[:rapid.IntRange(0, 3).Draw(rt, "decisions")]
		if len(want.Decisions) == 0 {
			want.Decisions = nil
		}
		sameProposal(rt, want.Render(), want)
	})
}

// A fence is ended by one as long as itself, a cell by a bar that no backslash escapes.
func TestBlocksAndCellsOfAnyKind(t *testing.T) {
	want := proposal(solution.English)
	want.Technical = "````md\n```\n## 5. Technical decisions\n```\n````\n\n~~~\n```\n# text\n~~~"
	want.Risks.Rows = [][]string{{`a\|b`, `c\\\|d`, `e\\`}, {`\`, "`x\\|y`", "⚠️"}}
	sameProposal(t, want.Render(), want)
	want.Risks.Rows = [][]string{{"a|b", `c\\|d`, "e\nf|"}}
	got, err := solution.ReadProposal([]byte(want.Render()))
	if rows := [][]string{{`a\|b`, `c\\\|d`, `e f\|`}}; err != nil || !reflect.DeepEqual(got.Risks.Rows, rows) {
		t.Errorf("%q, %v", got.Risks.Rows, err)
	}
}

func TestNoTextChangesTheFormOfAProposal(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := proposal(rapid.SampledFrom([]solution.Language{solution.Chinese, solution.English}).Draw(rt, "language"))
		for _, s := range []*string{
			&p.Title, &p.Kind, &p.State, &p.Created, &p.More[0].Name, &p.More[0].Value, &p.Background, &p.Goal,
			&p.Constraints, &p.Acceptance, &p.Technical, &p.Impact,
			&p.Risks.Rows[0][1], &p.Design, &p.Scenarios, &p.Decisions[0].ID, &p.Decisions[0].Title,
			&p.Decisions[1].Body,
		} {
			if rapid.Bool().Draw(rt, "odd") {
				*s = hostile().Draw(rt, "text")
			}
		}
		text := p.Render()
		f, err := solution.ReadProposal([]byte(text))
		if err != nil {
			rt.Fatalf("%v in\n%s", err, text)
		}
		if f.Type != p.Type || f.Priority != p.Priority || len(f.Decisions) != 3 || len(f.Risks.Rows) != 1 {
			rt.Fatalf("read %+v from\n%s", f.Proposal, text)
		}
		for i, d := range f.Decisions {
			if d.Verdict != p.Decisions[i].Verdict {
				rt.Fatalf("decision %+v from\n%s", d, text)
			}
		}
		again := f.Proposal
		again.Decisions = append([]solution.Decision(nil), again.Decisions...)
		for i := range again.Decisions {
			again.Decisions[i].Line = 0
		}
		sameProposal(rt, again.Render(), again) // what is read once stays
	})
}

func TestBrokenProposals(t *testing.T) {
	whole := "# T\n## 元信息\n```yaml\n方案类型: implementation\n```\n## 1. 需求\n## 2. 方案\n"
	for _, c := range []struct{ text, want string }{
		{"", "proposal.md: solution.empty"},
		{"# T\n## 1. 需求分析\n## 2. 方案\n", "proposal.md: solution.no_section 需求 Requirement"},
		{"# T\n", "proposal.md: solution.no_section 需求 Requirement; proposal.md: solution.no_section 方案 Approach"},
		{strings.Replace(whole, "implementation", "implementation | overview", 1),
			"proposal.md:4: solution.bad_type implementation | overview"},
		{whole + "## 5. 技术决策\n### a#D001: x\n### a#D001: y\n", "proposal.md:10: solution.same_decision a#D001 9"},
		{whole + "```\n", "proposal.md:8: solution.not_ended"},
	} {
		_, err := solution.ReadProposal([]byte(c.text))
		var b *pawl.Problems
		if !errors.As(err, &b) || b.Error() != c.want {
			t.Errorf("%q: %v, want %s", c.text, err, c.want)
		}
	}
	f, err := solution.ReadProposal([]byte(whole +
		"## 5. 技术决策（可选）\n### a#D001: 模板\n**状态**: ✅采纳 / ❌废弃 / ⏸搁置\n### 其他\n**状态**: ❌废弃\n### #D002: b\n- 状态：⏸ 搁置\nsee b#D009,#D010\n"))
	if err != nil || len(f.Decisions) != 2 || f.Decisions[0].Verdict != solution.Undecided ||
		f.Decisions[1].Verdict != solution.Shelved || f.Decisions[1].ID != "#D002" ||
		!reflect.DeepEqual(f.IDs, []string{"a#D001", "#D002", "b#D009", "#D010"}) || len(f.Warnings) != 1 ||
		f.Warnings[0].Key != "solution.no_verdict" {
		t.Errorf("decisions of others: %+v, %v", f, err)
	}
}
