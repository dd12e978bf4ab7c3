package flow

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"pawl"
	"pawl/kernel/effect"
	"pawl/kernel/view"
	"pawl/text/plan"
	"pawl/text/solution"
)

// madePackage is a package as pawl writes it, of two steps with all that a step may have, and its documents.
func madePackage(lang solution.Language) (view.Package, map[string][]byte) {
	step := func(id, title, file string) plan.Step {
		return plan.Step{StepID: id, Title: title, Intent: "why " + id, Status: plan.Pending, RollbackHint: "undo " + id,
			ToolCalls: []plan.ToolCallTemplate{{Name: "write_file", ArgsHint: json.RawMessage(`{"path":"` + file + `","content":"x"}`)}},
			ExpectedArtifacts: []plan.Artifact{{Type: plan.ArtifactFile, Value: file},
				{Type: plan.ArtifactCommand, Value: "test -f " + file}}}
	}
	made := view.Package{Name: "202602081200_notes", Title: "Notes", State: "draft", Lang: lang,
		Plan: plan.Plan{Goal: "Notes", RiskLevel: pawl.RiskLow, Constraints: []string{"short"},
			Steps: []plan.Step{step("a", "Write a < b", "a.txt"), step("b", "Write b", "b.txt")},
			Criteria: []plan.Criterion{
				{ID: "c1", Text: "a.txt says hello", Proof: plan.ProofDiff, Paths: []string{"a.txt"}, Texts: []string{"hello"}},
				{ID: "c2", Text: "Sum adds", Proof: plan.ProofKept, Tests: []string{"TestSum"}, From: "it has to add"},
			},
			Verification: plan.VerificationPolicy{Mode: plan.VerifyCustom, Commands: []string{"true"}, Required: true}},
		Checks: []effect.Check{{Name: "check 1", Command: "true"}},
	}
	files := map[string][]byte{}
	for _, f := range made.Live() {
		files[strings.TrimPrefix(f.Path, made.LiveDir()+"/")] = []byte(f.Content)
	}
	return made, files
}

// read is the plan of a package after an edit of its documents.
func read(t *testing.T, lang solution.Language, name string, edits ...string) (plan.Plan, error) {
	t.Helper()
	made, files := madePackage(lang)
	text := string(files[name])
	for i := 0; i+1 < len(edits); i += 2 {
		if !strings.Contains(text, edits[i]) {
			t.Fatalf("no %q in\n%s", edits[i], text)
		}
		text = strings.Replace(text, edits[i], edits[i+1], 1)
	}
	files[name] = []byte(text)
	s, err := planOf(made.Name, files, made)
	if err != nil {
		return plan.Plan{}, err
	}
	p, _, err := plan.Decode(s.Name, s.Given)
	return p, err
}

// TestAnEditedTaskKeepsItsStep: what a task does not say of its step stays as it was planned.
func TestAnEditedTaskKeepsItsStep(t *testing.T) {
	for _, lang := range []solution.Language{solution.English, solution.Chinese} {
		made, _ := madePackage(lang)
		verify := map[solution.Language]string{solution.English: "Verify", solution.Chinese: "验证"}[lang]
		for name, c := range map[string]struct {
			edits []string
			want  func(s []plan.Step)
		}{
			"nothing": {nil, func([]plan.Step) {}},
			"a title": {[]string{"1.1 Write a \\< b `a.txt`", "1.1 Write a again `a.txt`"}, func(s []plan.Step) { s[0].Title = "Write a again" }},
			"a title and its file": {[]string{"1.1 Write a \\< b `a.txt`", "1.1 Write c `c.txt`"}, func(s []plan.Step) {
				s[0].Title, s[0].ExpectedArtifacts[0].Value = "Write c", "c.txt"
			}},
			"a title alone": {[]string{"Write b `b.txt`", "Write it \\< now"}, func(s []plan.Step) { s[1].Title = "Write it < now" }},
			"what shows it": {[]string{verify + ": `test -f b.txt`", verify + ": it is there"}, func(s []plan.Step) {
				s[1].ExpectedArtifacts[1] = plan.Artifact{Type: plan.ArtifactNote, Value: "it is there"}
			}},
			"the order": {[]string{"1.1 Write a", "1.9 Write a", "1.2 Write b", "1.1 Write b"}, func([]plan.Step) {}},
		} {
			want := made.Plan.Clone()
			c.want(want.Steps)
			p, err := read(t, lang, solution.TasksName, c.edits...)
			if err != nil {
				t.Errorf("%s, %s: %v", lang, name, err)
				continue
			}
			for i := range want.Steps {
				want.Steps[i].StepID, want.Steps[i].DependsOn = p.Steps[i].StepID, p.Steps[i].DependsOn
			}
			if got, want := plan.Hash(p), plan.Hash(want); got != want {
				t.Errorf("%s, %s: %+v", lang, name, p)
			}
		}
		p, err := read(t, lang, solution.TasksName, "- [ ] 1.2", "- [ ] 1.3 Another one\n- [ ] 1.2")
		if err != nil || len(p.Steps) != 3 || len(p.Steps[1].ToolCalls) != 0 || p.Steps[1].Intent != "Another one" ||
			p.Steps[2].Intent != "why b" {
			t.Errorf("%s, a new task: %+v, %v", lang, p.Steps, err)
		}
	}
}

// TestCriteriaOfAProposalAreRead: a criterion that is changed, added or taken out in proposal.md is one of the plan.
func TestCriteriaOfAProposalAreRead(t *testing.T) {
	for _, lang := range []solution.Language{solution.English, solution.Chinese} {
		made, _ := madePackage(lang)
		for name, c := range map[string]struct {
			edits []string
			want  func(c []plan.Criterion) []plan.Criterion
		}{
			"another part": {[]string{"> Notes", "> Notes of mine"}, func(c []plan.Criterion) []plan.Criterion { return c }},
			"its words": {[]string{"Sum adds", "Sum adds two numbers"}, func(c []plan.Criterion) []plan.Criterion {
				c[1].Text = "Sum adds two numbers"
				return c
			}},
			"over two lines": {[]string{"Sum adds", "Sum adds\n  two numbers"}, func(c []plan.Criterion) []plan.Criterion {
				c[1].Text = "Sum adds two numbers"
				return c
			}},
			"what it names": {[]string{"a.txt says hello", "b.txt says nothing more"}, func(c []plan.Criterion) []plan.Criterion {
				c[0].Text, c[0].Paths, c[0].Texts = "b.txt says nothing more", []string{"b.txt"}, []string{}
				return c
			}},
			"its proof": {[]string{"c2 (kept)", "c2 (person)"}, func(c []plan.Criterion) []plan.Criterion {
				c[1] = plan.Criterion{ID: "c2", Text: "Sum adds", Proof: plan.ProofPerson}
				return c
			}},
			"one more": {[]string{"- c2 (kept)", "- c7 (person): it is pretty\n- c2 (kept)"}, func(c []plan.Criterion) []plan.Criterion {
				return []plan.Criterion{c[0], {ID: "c7", Text: "it is pretty", Proof: plan.ProofPerson}, c[1]}
			}},
			"one less": {[]string{"- c2 (kept): Sum adds\n", ""}, func(c []plan.Criterion) []plan.Criterion { return c[:1] }},
		} {
			p, err := read(t, lang, solution.ProposalName, c.edits...)
			want := made.Plan.Clone()
			want.Criteria = c.want(want.Criteria)
			if got := p.Clone(); err != nil || !slices.EqualFunc(got.Criteria, want.Criteria, func(a, b plan.Criterion) bool {
				x, y := plan.Plan{Criteria: []plan.Criterion{a}}, plan.Plan{Criteria: []plan.Criterion{b}}
				return plan.Hash(x) == plan.Hash(y)
			}) {
				t.Errorf("%s, %s: %+v, %v", lang, name, p.Criteria, err)
			}
		}
		p, err := read(t, lang, solution.ProposalName, "- c2 (kept)", "- it is pretty\n- c2 (kept)")
		if err != nil || len(p.Criteria) != 3 || p.Criteria[1].Text != "it is pretty" || p.Criteria[1].ID != "c3" || p.Criteria[1].Proof == "" {
			t.Errorf("%s, words alone: %+v, %v", lang, p.Criteria, err)
		}
		for name, c := range map[string]struct {
			edits []string
			key   string
		}{
			"no entry":           {[]string{"- c2 (kept): Sum adds", "c2 Sum adds"}, "cli.flow.criterion_unread"},
			"no such proof":      {[]string{"c2 (kept)", "c2 (magic)"}, "cli.flow.criterion_proof"},
			"twice":              {[]string{"c2 (kept)", "c1 (kept)"}, "cli.flow.criterion_twice"},
			"a check changed":    {[]string{"check 1: `true`", "check 1: `false`"}, "cli.flow.checks_changed"},
			"a check gone":       {[]string{"- check 1: `true`\n", ""}, "cli.flow.checks_changed"},
			"cut":                {[]string{"Sum adds", "Sum adds…"}, "cli.flow.criterion_unread"},
			"nothing to look at": {[]string{"a.txt says hello", "it is pretty"}, "plan.diff_paths"},
		} {
			if _, err := read(t, lang, solution.ProposalName, c.edits...); err == nil || pawl.CodeOf(err) != pawl.CodeInvalid || !strings.Contains(told(err), c.key) {
				t.Errorf("%s, %s: %v", lang, name, err)
			}
		}
	}
}

// told are the keys of an error and of what it has found.
func told(err error) (keys string) {
	if e, ok := err.(*pawl.Error); ok {
		keys = e.Key
	}
	return keys + " " + err.Error()
}
