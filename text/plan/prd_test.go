package plan

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"pawl"
	"pawl/text/message"
)

// edit renders the sample, replaces one text, and parses the result.
func edit(t *testing.T, p Plan, l Labels, old, new string) (Plan, []Change, error) {
	t.Helper()
	text := RenderPRD(p, l)
	if strings.Count(text, old) != 1 {
		t.Fatalf("%q is there %d times:\n%s", old, strings.Count(text, old), text)
	}
	return ParsePRD(strings.Replace(text, old, new, 1), p)
}

const secondTask = "- [ ] T-002: [P0] `s2` Add a test\n  - Intent: So that it stays\n  - Depends on: `s1`\n"

// edits are changes that a person makes to the rendering of the sample, and what comes of them; those without a want
// are refused.
var edits = map[string]struct {
	old, new string
	want     func(*Plan)
	changes  []string
}{
	"goal": {"Rename Foo to Bar\n", "Rename Foo to Baz\n\nAnd say so.\n",
		func(p *Plan) { p.Goal = "Rename Foo to Baz\n\nAnd say so." }, []string{"goal changed"}},
	"goal in a block": {
		"Rename Foo to Bar\n", "```\n## 3. Atomic Task List\n  x\n```\n",
		func(p *Plan) { p.Goal = "## 3. Atomic Task List\n  x" }, []string{"goal changed"},
	},
	"constraints": {
		"- keep the public API\n", "- keep the API\n* no network\n-\n  ````\n  a\n  ```\n  b\n  ````\n",
		func(p *Plan) { p.Constraints = []string{"keep the API", "no network", "a\n```\nb"} },
		[]string{"constraints changed"},
	},
	"criteria": {
		"- `c2` [gone] Foo is gone\n  - Path: `a.go`\n  - Text: `Foo`\n",
		"- [person] It reads well\n* `c2` [Diff]\n  ```\n  one\n  two\n  ```\n  - 路径：docs/\n  - from:\n    ```\n    x\n    ```\n",
		func(p *Plan) {
			p.Criteria = []Criterion{p.Criteria[0], {ID: "c3", Text: "It reads well", Proof: ProofPerson},
				{ID: "c2", Text: "one\ntwo", From: "x", Proof: ProofDiff, Paths: []string{"docs/"}}}
		},
		[]string{"criterion c3 added: It reads well", "criterion c2: text changed", "criterion c2: from changed",
			"criterion c2: proof changed", "criterion c2: paths changed", "criterion c2: texts changed"},
	},
	"no criteria": {
		"- `c1` [check] Bar does what Foo did\n  - From: so that it says what it does\n  - Command: `go test ./bar`\n  - Test: `TestBar`\n  - Check: `test`\n  - Text: `Bar`\n- `c2` [gone] Foo is gone\n  - Path: `a.go`\n  - Text: `Foo`\n",
		"", func(p *Plan) { p.Criteria = nil }, []string{"criterion c1 removed", "criterion c2 removed"},
	},
	"skip": {"- [ ] T-001", "- [-] T-001", func(p *Plan) { p.Steps[0].Status = Skipped },
		[]string{"step s1 will be skipped"}},
	"remove": {secondTask, "", func(p *Plan) { p.Steps = p.Steps[:1] }, []string{"step s2 removed"}},
	"title": {"Add a test", "Add `two` tests", func(p *Plan) { p.Steps[1].Title = "Add `two` tests" },
		[]string{"step s2: title changed"}},
	"title between spans": {
		"Add a test", "`one` and `two`", func(p *Plan) { p.Steps[1].Title = "`one` and `two`" },
		[]string{"step s2: title changed"},
	},
	"title in a span": {"Add a test", "`` a`b ``", func(p *Plan) { p.Steps[1].Title = "a`b" },
		[]string{"step s2: title changed"}},
	"intent": {
		"So that it stays", "\n\n    ~~~ no fence", nil, nil,
	},
	"intent in a block": {
		"- Intent: So that it stays\n", "- Intent:\n    ```text\n    one\n\n     two\n    ```\n",
		func(p *Plan) { p.Steps[1].Intent = "one\n\n two" }, []string{"step s2: intent changed"},
	},
	"argument": {
		`"path": "a.go"`, `"path": "b.go", "mode": "0755"`,
		func(p *Plan) {
			p.Steps[0].ToolCalls[0].ArgsHint = []byte(`{"path":"b.go","mode":"0755","content":"package a\n"}`)
		},
		[]string{"step s1: tool_calls changed"},
	},
	"dependency": {
		"  - Depends on: `s1`\n", "", func(p *Plan) { p.Steps[1].DependsOn = nil },
		[]string{"step s2: depends_on changed"},
	},
	"command": {
		"- Command: `go test ./...`\n", "- Command: go vet ./...\n- command: `go test -race ./...`\n- required: no\n",
		nil, nil,
	},
	"commands": {
		"- Command: `go test ./...`\n", "- Command: go vet ./...\n- command：`go test -race ./...`\n",
		func(p *Plan) { p.Verification.Commands = []string{"go vet ./...", "go test -race ./..."} },
		[]string{"verification.commands changed"},
	},
	"mode without commands": {
		"custom\n- Required: true\n- Stop at first failure: true\n- Command: `go test ./...`",
		"test\n- Required: 否\n- Stop at first failure: false",
		func(p *Plan) { p.Verification = VerificationPolicy{Mode: VerifyTest, Commands: []string{}} },
		[]string{"verification.mode changed", "verification.commands changed", "verification.required changed",
			"verification.stop_on_fail changed"},
	},
	"risk": {"Risk level: low", "Risk level: High", func(p *Plan) { p.RiskLevel = pawl.RiskHigh },
		[]string{"risk_level changed"}},
	"artifact": {"Verify: file `a.go`", "Verify: command make",
		func(p *Plan) { p.Steps[0].ExpectedArtifacts[0] = Artifact{ArtifactCommand, "make"} },
		[]string{"step s1: expected_artifacts changed"}},
	"undo": {"  - Undo: git checkout a.go\n", "", func(p *Plan) { p.Steps[0].RollbackHint = "" },
		[]string{"step s1: rollback_hint changed"}},
	"new step": {
		"## 4. Risks", "- [ ] Write the changelog\n- [-] T-9: `s9` Tag it\n  - 意图：for users\n  - 依赖：s1，s2\n\n## 4. Risks",
		func(p *Plan) {
			p.Steps = append(p.Steps,
				Step{StepID: "step-3", Title: "Write the changelog", Intent: "Write the changelog", Status: Pending},
				Step{StepID: "s9", Title: "Tag it", Intent: "for users", Status: Skipped,
					DependsOn: []string{"s1", "s2"}})
		},
		[]string{"step step-3 added: Write the changelog", "step s9 added: Tag it"},
	},
	"blank lines and tabs": {"- [ ] T-002: [P0] `s2` Add a test\n", "\n\n-  [ ]\tT-002: [P0]\t`s2`\tAdd a test  \n\n",
		func(*Plan) {}, nil},
}

func TestEditsOfThePRD(t *testing.T) {
	for name, test := range edits {
		t.Run(name, func(t *testing.T) {
			got, changes, err := edit(t, sample(), English(), test.old, test.new)
			if test.want == nil {
				if err == nil {
					t.Fatalf("accepted: %+v", got)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			want := sample()
			test.want(&want)
			if Hash(got) != Hash(want) || got.PlanID != want.PlanID || got.CreatedAt != want.CreatedAt {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
			var said []string
			for _, c := range changes {
				said = append(said, message.English.Text(c.Key, c.Args...))
			}
			if !slices.Equal(said, test.changes) {
				t.Errorf("changes %q, want %q", said, test.changes)
			}
			if (Hash(got) == Hash(sample())) != (len(test.changes) == 0) {
				t.Error("hash and changes disagree")
			}
		})
	}
}

// TestWhatNobodyEditedStaysAsItWas parses a document of a plan whose values are not in the form that Decode gives them.
func TestWhatNobodyEditedStaysAsItWas(t *testing.T) {
	p := sample()
	p.Constraints, p.Verification.Mode, p.Verification.Commands = nil, VerifyTest, nil
	p.Criteria[0].Paths, p.Criteria[1].Tests = []string{}, []string{}
	p.Steps[0].DependsOn, p.Steps[1].ToolCalls = []string{}, []ToolCallTemplate{}
	p.Steps[0].ToolCalls[0].ArgsHint = []byte("{ \"path\" : \"\\u0061.go\" }")
	got, changes, err := ParsePRD(RenderPRD(p, English()), p)
	if err != nil || len(changes) > 0 || !reflect.DeepEqual(got, p) {
		t.Errorf("got  %+v\nwant %+v\n%v %v", got, p, changes, err)
	}
}

func TestReorderedTasks(t *testing.T) {
	p := sample()
	p.Steps[1].DependsOn = nil
	text := RenderPRD(p, Chinese())
	first, second := strings.Index(text, "- [ ] T-001"), strings.Index(text, "- [ ] T-002")
	end := strings.Index(text, "## 4.")
	got, changes, err := ParsePRD(text[:first]+text[second:end]+text[first:second]+text[end:], p)
	if err != nil || got.Steps[0].StepID != "s2" || len(changes) != 1 || changes[0].Key != "plan.change_order" {
		t.Errorf("%v %v %v", got.Steps, changes, err)
	}
}

func TestBadEditsOfThePRD(t *testing.T) {
	p := sample()
	p.Steps = append(p.Steps, Step{StepID: "s0", Title: "Look", Intent: "first", Status: Done})
	cases := map[string]struct{ old, new, want string }{
		"a note between": {"## 2. Technical Specs\n", "## 2. Technical Specs\n\nNB: ask Ada\n",
			"36:1 plan.prd_line"},
		"a heading":       {"## 4. Risks", "## Notes\n\n## 4. Risks", "63:1 plan.prd_heading"},
		"a heading twice": {"## 4. Risks", "## 3. Atomic Task List\n## 4. Risks", "63:1 plan.prd_heading"},
		"a label":         {"  - Undo:", "  - Undoo:", "54:1 plan.prd_label"},
		"a label twice":   {"  - Undo:", "  - Intent: x\n  - Undo:", "54:1 plan.prd_repeated"},
		"an open block":   {"    ```\n  - Verify", "  - Verify", "47:1 plan.prd_fence"},
		"bad JSON":        {`"path": "a.go",`, `"path": "a.go"`, "50:7 steps[0].tool_calls[0].args_hint plan.syntax"},
		"JSON twice": {`"path": "a.go",`, `"path": "a.go", "path": "b.go",`,
			"49:23 steps[0].tool_calls[0].args_hint.path plan.duplicate_field"},
		"a JSON list":       {"    {\n", "    [\n", "49:15 steps[0].tool_calls[0].args_hint plan.syntax"},
		"no arguments":      {"    ```json\n", "", "plan.prd_line"},
		"done by hand":      {"- [ ] T-001", "- [x] T-001", "43:1 plan.prd_status"},
		"undone by hand":    {"- [x] T-003", "- [ ] T-003", "60:1 plan.prd_status"},
		"an unknown mark":   {"- [ ] T-001", "- [?] T-001", "43:1 plan.prd_status"},
		"done step edited":  {"Look", "Listen", "60:1 steps[2] plan.done_step"},
		"done step removed": {"- [x] T-003: [P0] `s0` Look\n  - Intent: first\n", "", "steps plan.done_step"},
		"an id twice":       {"`s2` Add", "`s1` Add", "56:1 steps[1].step_id plan.duplicate_step"},
		"a bad id":          {"`s2` Add", "`s 2` Add", "56:1 steps[1].step_id plan.bad_id"},
		"a cycle":           {"  - Undo:", "  - Depends on: s2\n  - Undo:", "54:1 steps[0].depends_on plan.cycle"},
		"no goal":           {"Rename Foo to Bar\n", "", "goal plan.blank"},
		"no title":          {"Add a test", "", "56:1 steps[1].title plan.blank"},
		"no verification":   {"- Verification: custom\n", "", "plan.missing_field"},
		"no commands":       {"- Command: `go test ./...`\n", "", "verification.commands plan.no_commands"},
		"an empty command":  {"`go test ./...`", "", "39:1 verification.commands[0] plan.blank"},
		"a bad mode":        {"custom", "tests", "36:1 verification.mode plan.bad_value"},
		"a bad risk":        {"low\n", "none\n", "65:1 risk_level plan.bad_value"},
		"a bad boolean":     {"Required: true", "Required: perhaps", "37:1 plan.bad_value"},
		"an artifact":       {"file `a.go`", "folder `a`", "53:1 steps[0].expected_artifacts[0].type plan.bad_value"},
		"a hidden word":     {"Add a test", "Add a \u202etest", "56:1 steps[1].title plan.hidden_character"},
		"a bad proof":       {"[check]", "[checked]", "24:1 criteria[0].proof plan.bad_value"},
		"a criterion twice": {"`c2` [gone]", "`c1` [gone]", "30:1 criteria[1].id plan.duplicate_criterion"},
		"a path out":        {"Path: `a.go`", "Path: ../a.go", "31:1 criteria[1].paths[0] plan.bad_path"},
		"a proof without":   {"  - Path: `a.go`\n  - Text: `Foo`\n", "", "30:1 criteria[1].texts plan.gone_what"},
		"a field of others": {"[gone] Foo", "[kept] Foo", "31:1 criteria[1].paths plan.proof_field"},
		"two commands":      {"  - Test: ", "  - Command: x\n  - Test: ", "27:1 plan.prd_repeated"},
		"an entry of none":  {"- `c1` [check] Bar does what Foo did\n", "", "24:1 plan.prd_line"},
		"no hash":           {"- Hash: ", "- Status: ", "5:1 plan.prd_repeated"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			got, _, err := edit(t, p, English(), test.old, test.new)
			if err == nil {
				t.Fatalf("accepted: %+v", got)
			}
			if all := issuesOf(t, err); all[0] != test.want && !strings.HasSuffix(all[0], test.want) {
				t.Errorf("got %q, want %q", all, test.want)
			}
			if _, hint := message.Chinese.Error(err); hint == "" {
				t.Error("no hint")
			}
		})
	}
	for name, text := range map[string]string{"nothing": "", "another document": "# README\n\nHello.\n",
		"not text": "\xff", "too much": strings.Repeat("x", MaxBytes+1)} {
		if _, _, err := ParsePRD(text, p); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestDocumentOfAnotherVersionIsRefused(t *testing.T) {
	old := sample()
	text := RenderPRD(old, English())
	newer := sample()
	newer.Goal = "Something else"
	other := sample()
	other.PlanID = "01J00000000000000000000001"
	for name, p := range map[string]Plan{"newer version": newer, "other plan": other} {
		_, _, err := ParsePRD(text, p)
		if !errors.Is(err, pawl.ErrConflict) {
			t.Errorf("%s: %v", name, err)
		}
	}
	carriedOut := sample()
	carriedOut.Steps[0].Status = Done
	if _, _, err := ParsePRD(strings.Replace(text, "- [ ] T-001", "- [x] T-001", 1), carriedOut); err != nil {
		t.Errorf("progress made the document stale: %v", err)
	}
}

// TestNothingIsHidden renders texts with which an agent might hide something from the person who approves.
func TestNothingIsHidden(t *testing.T) {
	for _, text := range []string{
		"fine <!-- rm -rf / -->", "x <details>y</details>", "![](http://evil/p.png)", "[ok](javascript:x)",
		"a &#x202e; b", "&lt;", "\\*x", "- x", "# x",
	} {
		p := withStep(func(s *Step) { s.Title, s.Intent = text, text })
		doc := RenderPRD(p, English())
		for line := range strings.Lines(doc) {
			if strings.Contains(line, text) && !strings.Contains(line, "`"+text+"`") {
				t.Errorf("markup is live: %s", line)
			}
		}
	}
	p := withArgs(`{"path":"a","content":"x\u202e\u200b\udb40\udc41\u0007é👍"}`)
	if doc := RenderPRD(p, English()); !strings.Contains(doc, `"x\u202e\u200b\udb40\udc41\u0007é👍"`) {
		t.Errorf("invisible characters are not shown:\n%s", doc)
	}
}

// TestAnEditChangesTheHash changes one line of a random document: if the result is accepted and says something else,
// the hash is another.
func TestAnEditChangesTheHash(t *testing.T) {
	accepted := 0
	rapid.Check(t, func(t *rapid.T) {
		p := anyPlan().Draw(t, "plan")
		lines := strings.Split(RenderPRD(p, English()), "\n")
		at := rapid.IntRange(0, len(lines)-1).Draw(t, "line")
		switch rapid.IntRange(0, 2).Draw(t, "how") {
		case 0:
			lines = slices.Delete(lines, at, at+1)
		case 1:
			lines[at] += anyText().Draw(t, "more")
		default:
			lines[at] = strings.Replace(lines[at], "- [ ]", "- [-]", 1)
		}
		got, changes, err := ParsePRD(strings.Join(lines, "\n"), p)
		if err != nil {
			return
		}
		accepted++
		if (Hash(got) != Hash(p)) != (len(changes) > 0) {
			t.Fatalf("changes %v but hashes %s and %s", changes, Hash(p), Hash(got))
		}
		again, more, err := ParsePRD(RenderPRD(got, Chinese()), got)
		if err != nil || len(more) > 0 || Hash(again) != Hash(got) {
			t.Fatalf("the edited plan does not read back: %v %v", more, err)
		}
	})
	if accepted == 0 {
		t.Error("no edit was ever accepted")
	}
}

func FuzzParsePRD(f *testing.F) {
	p := sample()
	text := RenderPRD(p, English())
	f.Add(text)
	f.Add(RenderPRD(p, Chinese()))
	f.Add(strings.Replace(text, "- [ ] T-001", "- [-] T-001", 1))
	f.Add(strings.Replace(text, "low", "```\n````", 1))
	f.Fuzz(func(t *testing.T, text string) {
		got, changes, err := ParsePRD(text, p)
		if err != nil {
			if pawl.CodeOf(err) == pawl.CodeInternal {
				t.Fatal(err)
			}
			return
		}
		if (Hash(got) != Hash(p)) != (len(changes) > 0) {
			t.Fatalf("changes %v do not fit the hashes", changes)
		}
		if err := Check(got, nil, Limits{MaxSteps: 30, MaxRepairs: 99}); err != nil && len(got.Steps) <= 30 {
			t.Fatalf("an unsound plan was accepted: %v", err)
		}
		again, more, err := ParsePRD(RenderPRD(got, English()), got)
		if err != nil || len(more) > 0 || Hash(again) != Hash(got) {
			t.Fatalf("does not read back: %v %v", more, err)
		}
	})
}
