package criteria

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"pawl"
	"pawl/text/plan"
)

// TestOfGivesWhatAPlanMayHold builds requirements of the pieces that the package looks for and of others.
func TestOfGivesWhatAPlanMayHold(t *testing.T) {
	pieces := []string{"rename", " Foo ", "`a b`", "to", " ", "，", ", ", "and ", "删除", "把", "改成", "README.md", "../x", "/etc/passwd",
		"C:\\x", "from 1 to 2", "->", "'a' -> 'b'", "\n- ", "\n", "1) ", "(1) ", "2) ", "①", "a/b/", "./c.go", "\u202e", "\x00", "\xff",
		"İ", "ﬁ", "```\n", "“”", "“引号”", "?", "？", "。", "; ", "without changing ", "不要", "最多 50 ms", "at most 50 ms", "docs/",
		"fix typo", "typo", "the tests pass", "让测试通过", "--flag", "a.b.c", "函数 Sub", "\u3164", "remove ", "drop the ", strings.Repeat("x", 700),
		strings.Repeat("长", 700), ".github/", "...", "..a", "a//b", "x/.", "x/./y.go", "~/x.go", "http://a/b.go", "📦", "👨‍👩‍👧", "=>"}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom(pieces), rapid.String()), 1, 14).Draw(t, "pieces"), "")
		got := Of(text)
		if (len(got) == 0) != (clip(strings.ToValidUTF8(text, " ")) == "") || len(got) > maxOf {
			t.Fatalf("%q gives %d criteria", text, len(got))
		}
		if !reflect.DeepEqual(got, Of(text)) {
			t.Fatalf("%q gives something else the second time", text)
		}
		p := plan.Plan{Goal: "g", Criteria: got, RiskLevel: pawl.RiskLow,
			Steps:        []plan.Step{{StepID: "s", Title: "t", Intent: "i", Status: plan.Pending}},
			Verification: plan.VerificationPolicy{Mode: plan.VerifyTest}}
		if err := plan.Check(p, nil, plan.DefaultLimits()); err != nil {
			t.Fatalf("%q: %v\n%+v", text, err, got)
		}
	})
}

// TestNothingIsLost: what is more than twelve criteria, or behind what is read, is left to a person.
func TestNothingIsLost(t *testing.T) {
	list := "Add a `F0` function"
	for i := range 20 {
		list += fmt.Sprintf("\n- add a `F%d` function", i+1)
	}
	got := Of(list)
	if last := got[len(got)-1]; len(got) != maxOf || last.Proof != plan.ProofPerson || got[10].Texts[0] != "F10" ||
		!strings.Contains(last.Text, "`F11`") || !strings.Contains(last.Text, "`F20`") {
		t.Errorf("%d criteria, the last %+v", len(got), last)
	}
	got = Of("Add a `Sub` function. " + strings.Repeat("\n\n", maxRead) + "Remove `Add`.")
	if len(got) != 2 || got[0].Texts[0] != "Sub" || got[1].Proof != plan.ProofPerson || got[1].Text != "Remove `Add`." {
		t.Errorf("%+v", got)
	}
}

// TestPlainSentences: a word beside a noun such as "struct" is no name where it only goes on with the sentence.
func TestPlainSentences(t *testing.T) {
	for text, want := range map[string]string{
		"Fix the encoding of fields whose struct cannot be compared": "check",
		"Fix decoding a struct into another one":                     "check",
		"Fix decoding a struct Inner into another one":               "check {Inner}",
		"Numbers in strings may begin with a decimal point":          "check",
	} {
		if got := label(Of(text)); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// TestLongRequirements: of a text of any size, whatever it repeats, a plan gets no more criteria than it may have.
func TestLongRequirements(t *testing.T) {
	for _, piece := range []string{", add x", "把，", "，增加", "`", "'", "a/", "a.b ", "A", "from a to ", "- x\n", "(1) ", "without changing ",
		"and ", "最多", "rename x to ", "删除", "“", "1", "：\n", ", "} {
		if got := Of(strings.Repeat(piece, 1<<20/len(piece))); len(got) == 0 || len(got) > maxOf {
			t.Errorf("%q: %d criteria", piece, len(got))
		}
	}
}
