package plan

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"pgregory.net/rapid"

	"pawl"
)

// nasty are pieces of text that a format is most likely to stumble over.
var nasty = []string{
	"a", "Z", "9", " ", "  ", "\n", "\t", "`", "``", "```", "```json\n", "\n```\n", "\n````\n", " \n", "\n ", "~~~",
	"#", "# ", "- ", "- [ ] ", "- [x] T-001: ",
	"> ", "*", "_", "<!-- ", " -->", "<b>", "&lt;", "&", "![x](http://y)", "](", "\\", "\\n", ":", "：", "- Intent: x",
	"## 4. Risks", "目标", "漢字", "é", "🙂", "👨‍👩‍👧", "%d", "{", "}", "\"", "'", "|", "---", "...", "? ", "!", "@", "~",
	"null", "true", "1e3", "0x1F", "2026-01-01", "\u00a0", "\u3000", ", ", "[P0] ", "T-001: ",
}

func anyText() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		parts := rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom(nasty), rapid.StringMatching(`[ -~]{0,12}`)), 1,
			6).Draw(t, "parts")
		return strings.Join(parts, "")
	})
}

// prose is text that says something, of several lines.
func prose() *rapid.Generator[string] {
	return anyText().Filter(func(s string) bool { return strings.TrimSpace(s) != "" })
}

func oneLiner() *rapid.Generator[string] {
	return rapid.Map(prose(), func(s string) string { return strings.ReplaceAll(s, "\n", "¶") })
}

func maybe(g *rapid.Generator[string]) *rapid.Generator[string] {
	return rapid.OneOf(rapid.Just(""), g)
}

// anyArgs are arguments in the form in which Decode keeps them.
func anyArgs() *rapid.Generator[json.RawMessage] {
	leaf := rapid.OneOf(
		rapid.Map(anyText(), func(s string) any { return s + "\u202e\x01" }),
		rapid.Map(rapid.Int(), func(i int) any { return i }),
		rapid.Map(rapid.Bool(), func(b bool) any { return b }),
		rapid.Just[any](nil), rapid.Just[any](map[string]any{}), rapid.Just[any]([]any{}),
		rapid.Just[any](json.Number("123456789012345678901234567890")), rapid.Just[any](json.Number("1.50")),
		rapid.Map(rapid.SliceOfN(anyText(), 0, 3), func(s []string) any { return s }),
	)
	return rapid.Custom(func(t *rapid.T) json.RawMessage {
		m := rapid.MapOfN(anyText(), leaf, 0, 4).Draw(t, "args")
		data, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		v, err := parseJSON(data)
		if err != nil {
			t.Fatal(err)
		}
		return v.encode(nil)
	})
}

func anyStep(id string, earlier []string) *rapid.Generator[Step] {
	return rapid.Custom(func(t *rapid.T) Step {
		s := Step{
			StepID: id, Title: oneLiner().Draw(t, "title"), Intent: prose().Draw(t, "intent"),
			Status:       rapid.SampledFrom(statuses()).Draw(t, "status"),
			RollbackHint: maybe(prose()).Draw(t, "rollback"),
		}
		if len(earlier) > 0 {
			s.DependsOn = rapid.SliceOfNDistinct(rapid.SampledFrom(earlier), 0, len(earlier), rapid.ID).Draw(t, "deps")
		}
		for range rapid.IntRange(0, 2).Draw(t, "calls") {
			s.ToolCalls = append(s.ToolCalls, ToolCallTemplate{
				Name:     rapid.SampledFrom([]string{"write_file", "run_terminal_cmd", "mcp/x.y:z"}).Draw(t, "tool"),
				ArgsHint: anyArgs().Draw(t, "args"), Why: maybe(prose()).Draw(t, "why"),
			})
		}
		for range rapid.IntRange(0, 2).Draw(t, "artifacts") {
			s.ExpectedArtifacts = append(s.ExpectedArtifacts, Artifact{
				Type: rapid.SampledFrom(artifactTypes()).Draw(t, "type"), Value: prose().Draw(t, "value"),
			})
		}
		if len(s.DependsOn) == 0 {
			s.DependsOn = nil
		}
		return s
	})
}

// anyCriterion generates a criterion that has what its proof needs.
func anyCriterion(id string) *rapid.Generator[Criterion] {
	return rapid.Custom(func(t *rapid.T) Criterion {
		c := Criterion{ID: id, Text: prose().Draw(t, "text"), From: maybe(prose()).Draw(t, "from"),
			Proof: rapid.SampledFrom(Proofs()).Draw(t, "proof")}
		names := func(what string, of *rapid.Generator[string], least int) []string {
			return append([]string(nil), rapid.SliceOfN(of, least, 3).Draw(t, what)...)
		}
		path := rapid.SampledFrom([]string{"a.go", "docs/", "..a/...", ".github/x y`.yml", "文档/说明.md"})
		switch c.Proof {
		case ProofCheck:
			c.Texts = names("texts", oneLiner(), 0)
			fallthrough
		case ProofKept:
			c.Run = maybe(prose()).Draw(t, "run")
			c.Tests, c.Checks = names("tests", oneLiner(), 0), names("checks", oneLiner(), 0)
			for i := range rapid.IntRange(0, 2).Draw(t, "files") {
				form := rapid.SampledFrom([]string{"%s%d_test.go", "a/..b/%s%d.test.mjs", "测试/test_%s%d.py",
					"tests/%s%d.rs"}).Draw(t, "file")
				c.Files = append(c.Files, TestFile{Path: fmt.Sprintf(form, id, i), Content: prose().Draw(t, "content"),
					Held: rapid.Bool().Draw(t, "held")})
			}
		case ProofDiff:
			c.Paths, c.Texts = names("paths", path, 1), names("texts", oneLiner(), 0)
		case ProofGone:
			c.Paths = names("paths", path, 0)
			c.Texts = names("texts", oneLiner(), 1-min(1, len(c.Paths)))
		}
		return c
	})
}

// anyPlan generates plans that pass Check without tools.
func anyPlan() *rapid.Generator[Plan] {
	return rapid.Custom(func(t *rapid.T) Plan {
		p := Plan{
			PlanID: maybe(oneLiner()).Draw(t, "id"), Goal: prose().Draw(t, "goal"),
			Network: append([]string(nil),
				rapid.SliceOfN(rapid.SampledFrom([]string{"go", "npm", "example.com", ".example.com:8443",
					"127.0.0.1:11434", "intranet:80"}), 0, 3).Draw(t, "network")...),
			Constraints:  append([]string{}, rapid.SliceOfN(prose(), 0, 3).Draw(t, "constraints")...),
			RiskLevel:    rapid.SampledFrom(risks()).Draw(t, "risk"),
			Verification: defaultVerification(),
		}
		v := &p.Verification
		v.Mode = rapid.SampledFrom(modes()).Draw(t, "mode")
		v.Required, v.StopOnFail = rapid.Bool().Draw(t, "required"), rapid.Bool().Draw(t, "stop")
		if v.Mode != VerifyNone {
			v.Commands = append(v.Commands, rapid.SliceOfN(prose(), 1, 3).Draw(t, "commands")...)
		}
		for i := range rapid.IntRange(0, 4).Draw(t, "criteria") {
			p.Criteria = append(p.Criteria, anyCriterion(fmt.Sprintf("c.%d", i)).Draw(t, "criterion"))
		}
		var ids []string
		for i := range rapid.IntRange(1, 5).Draw(t, "steps") {
			id := fmt.Sprintf("%s%d", rapid.SampledFrom([]string{"s", "Step.", "a-b_", "1"}).Draw(t, "prefix"), i)
			p.Steps = append(p.Steps, anyStep(id, ids).Draw(t, "step"))
			ids = append(ids, id)
		}
		if rapid.Bool().Draw(t, "dated") {
			p.CreatedAt = At(time.UnixMilli(rapid.Int64Range(0, maxMillis).Draw(t, "created")))
		}
		return p
	})
}

// sample is a plan as somebody would write it.
func sample() Plan {
	return Plan{
		PlanID: "01J00000000000000000000000", Goal: "Rename Foo to Bar", Constraints: []string{"keep the public API"},
		Criteria: []Criterion{
			{ID: "c1", Text: "Bar does what Foo did", From: "so that it says what it does", Proof: ProofCheck, Run: "go test ./bar",
				Tests: []string{"TestBar"}, Checks: []string{"test"}, Texts: []string{"Bar"}},
			{ID: "c2", Text: "Foo is gone", Proof: ProofGone, Paths: []string{"a.go"}, Texts: []string{"Foo"}},
		},
		Steps: []Step{
			{
				StepID: "s1", Title: "Rename the function", Intent: "The old name misleads", Status: Pending,
				ToolCalls: []ToolCallTemplate{{
					Name: "write_file", ArgsHint: json.RawMessage(`{"path":"a.go","content":"package a\n"}`),
					Why: "the new name",
				}},
				ExpectedArtifacts: []Artifact{{ArtifactFile, "a.go"}},
				RollbackHint:      "git checkout a.go",
			},
			{StepID: "s2", Title: "Add a test", Intent: "So that it stays", Status: Pending, DependsOn: []string{"s1"}},
		},
		Verification: VerificationPolicy{Mode: VerifyCustom, Commands: []string{"go test ./..."}, Required: true,
			StopOnFail: true},
		RiskLevel: pawl.RiskLow,
		CreatedAt: At(time.Date(2026, 11, 21, 10, 38, 0, 123_000_000, time.UTC)),
	}
}
