package plan

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pawl"
	"pawl/text/message"
)

const handWritten = `
goal: Rename Foo to Bar
steps:
  - step_id: s1
    title: Rename
    intent: |
      The old name
      misleads
    tool_calls:
      - name: write_file
        args_hint: {path: a.go, mode: 0x1F, deep: [1, 2.50, true, null, ~], "π": yes}
  - step_id: s2
    title: Test
    intent: So that it stays
    depends_on: [s1]
created_at: 1763721480
`

func TestDecodeFillsInWhatAPersonLeavesOut(t *testing.T) {
	p, pos, err := Decode("plan.yaml", []byte(handWritten))
	if err != nil {
		t.Fatal(err)
	}
	want := Plan{
		Goal: "Rename Foo to Bar", Constraints: []string{}, RiskLevel: pawl.RiskLow,
		Verification: VerificationPolicy{Mode: VerifyTest, Commands: []string{}, Required: true, StopOnFail: true},
		CreatedAt:    At(time.Unix(1763721480, 0)),
		Steps: []Step{
			{
				StepID: "s1", Title: "Rename", Intent: "The old name\nmisleads\n", Status: Pending,
				ToolCalls: []ToolCallTemplate{{
					Name:     "write_file",
					ArgsHint: json.RawMessage(`{"path":"a.go","mode":31,"deep":[1,2.50,true,null,null],"π":"yes"}`),
				}},
			},
			{StepID: "s2", Title: "Test", Intent: "So that it stays", Status: Pending, DependsOn: []string{"s1"}},
		},
	}
	if !reflect.DeepEqual(p, want) {
		t.Errorf("got  %+v\nwant %+v", p, want)
	}
	if line, col := pos.At("steps[0].tool_calls[0].args_hint.deep[1]"); line != 11 || col != 55 {
		t.Errorf("position %d:%d", line, col)
	}
	if line, _ := pos.At("steps[1].tool_calls[3].name"); line != 12 {
		t.Errorf("a field that is absent stands at line %d, not at that of its step", line)
	}
}

func TestInstant(t *testing.T) {
	for in, want := range map[string]string{
		`0`: "1970-01-01T00:00:00.000Z", `1763721480`: "2025-11-21T10:38:00.000Z",
		`1763721480123`:                    "2025-11-21T10:38:00.123Z",
		`"2025-11-21T12:38:00.1239+02:00"`: "2025-11-21T10:38:00.123Z",
		`-1`:                               "", `1.5`: "", `"yesterday"`: "", `true`: "", `99999999999999999999`: "",
		`253402300800000`: "", `"0000-01-01T00:00:00+14:00"`: "",
	} {
		var i Instant
		err := json.Unmarshal([]byte(in), &i)
		if got := i.String(); got != want || (err == nil) != (want != "") {
			t.Errorf("%s: got %q, %v; want %q", in, got, err, want)
		}
	}
	if i := At(time.Date(2026, 1, 2, 3, 4, 5, 6_789_000, time.FixedZone("", 3600))); i != At(i.Time) ||
		i.Nanosecond() != 6_000_000 {
		t.Errorf("%v is not cut to milliseconds", i.Time)
	}
	data, err := json.Marshal(struct{ A, B Instant }{A: At(time.UnixMilli(5))})
	if err != nil || string(data) != `{"A":"1970-01-01T00:00:00.005Z","B":""}` {
		t.Errorf("%s %v", data, err)
	}
	var back struct{ A, B Instant }
	if err := json.Unmarshal(data, &back); err != nil || !back.B.IsZero() || back.A != At(time.UnixMilli(5)) {
		t.Errorf("%+v %v", back, err)
	}
}

// bad is a plan file and what must be said about it: places as "line:col field key".
var bad = map[string]struct {
	in   string
	want []string
}{
	"empty":          {"", []string{"1:1 plan.empty"}},
	"blank":          {" \n\t\n", []string{"1:1 plan.empty"}},
	"only a comment": {"# nothing\n", []string{"1:1 plan.empty"}},
	"NUL":            {"goal: x\nsteps: \x00", []string{"2:8 plan.not_text"}},
	"not UTF-8":      {"goal: \xff", []string{"1:7 plan.not_text"}},
	"UTF-16":         {"\xff\xfeg\x00", []string{"1:1 plan.not_text"}},
	"escaped NUL": {`{"goal":"\u0000","steps":[{"step_id":"a","title":"t","intent":"i"}]}`,
		[]string{"1:9 goal plan.hidden_character"}},
	"half character":  {`{"goal":"\ud800"}`, []string{"1:9 plan.not_text"}},
	"a list":          {"- a\n- b\n", []string{"1:1 plan.wrong_type"}},
	"a word":          {"hello", []string{"1:1 plan.wrong_type"}},
	"null":            {"null", []string{"1:1 plan.wrong_type"}},
	"second document": {"goal: x\n---\ngoal: y\n", []string{"2:1 plan.second_document"}},
	"rubbish after":   {"goal: x\n---\n[", []string{"4:1 plan.syntax"}},
	"second JSON":     {"{\"goal\": \"x\"}\n {\"goal\": \"y\"}", []string{"2:2 plan.second_document"}},
	"cut off JSON":    {"{\"goal\": \"x\",\n", []string{"2:1 plan.syntax"}},
	"bad YAML":        {"goal: x\n\tsteps: []\n", []string{"2:1 plan.syntax"}},
	"two mistakes in one step": {
		"goal: g\nsteps:\n  - step_id: s 1\n    title: \"\"\n    intent: i\n",
		[]string{"3:14 steps[0].step_id plan.bad_id", "4:12 steps[0].title plan.blank"},
	},
	"unknown fields": {
		"goal: g\ngaol: h\nsteps:\n- step_id: a\n  title: t\n  intent: i\n  colour: red\n",
		[]string{"2:1 gaol plan.unknown_field_near", "7:3 steps[0].colour plan.unknown_field"},
	},
	"repeated field": {"goal: g\ngoal: h\nsteps: []\n",
		[]string{"2:1 goal plan.duplicate_field", "3:8 steps plan.no_steps"}},
	"repeated argument": {
		`{"goal":"g","steps":[{"step_id":"a","title":"t","intent":"i","tool_calls":[{"name":"x","args_hint":{"o":{"p":1,"p":2}}}]}]}`,
		[]string{"1:112 steps[0].tool_calls[0].args_hint.o.p plan.duplicate_field"},
	},
	"missing fields": {
		"plan_id: p\nsteps:\n- tool_calls:\n  - why: w\n",
		[]string{
			"1:1 goal plan.missing_field", "3:3 steps[0].step_id plan.missing_field",
			"3:3 steps[0].title plan.missing_field",
			"3:3 steps[0].intent plan.missing_field", "4:5 steps[0].tool_calls[0].name plan.missing_field",
			"4:5 steps[0].tool_calls[0].args_hint plan.missing_field",
		},
	},
	"wrong types": {
		"goal: 7\nconstraints: none\nsteps:\n- step_id: a\n  title: t\n  intent:\n  tool_calls: [{name: x, args_hint: [1]}]\nverification: {mode: test, required: maybe}\ncreated_at: soon\n",
		[]string{
			"1:7 goal plan.wrong_type", "2:14 constraints plan.wrong_type", "6:10 steps[0].intent plan.wrong_type",
			"7:37 steps[0].tool_calls[0].args_hint plan.wrong_type", "8:38 verification.required plan.wrong_type",
			"9:13 created_at plan.bad_time",
		},
	},
	"bad values": {
		"goal: g\nrisk_level: none\nverification: {mode: tests}\nsteps:\n- {step_id: a, title: t, intent: i, status: failed, expected_artifacts: [{type: dir, value: x}]}\n",
		[]string{
			"2:13 risk_level plan.bad_value", "3:22 verification.mode plan.bad_value",
			"5:45 steps[0].status plan.bad_value", "5:81 steps[0].expected_artifacts[0].type plan.bad_value",
		},
	},
	"custom without commands": {
		"goal: g\nverification: {mode: custom}\nsteps:\n- {step_id: a, title: t, intent: i}\n",
		[]string{"2:15 verification.commands plan.no_commands"},
	},
	"none with commands": {
		"goal: g\nverification: {mode: none, commands: [x]}\nsteps:\n- {step_id: a, title: t, intent: i}\n",
		[]string{"2:38 verification.commands plan.needless_commands"},
	},
	"bidi override": {
		"goal: g\nverification: {mode: custom, commands: [\"echo \u202etxt\"]}\nsteps:\n- {step_id: a, title: \"t\\nu\", intent: i}\n",
		[]string{"2:41 verification.commands[0] plan.hidden_character", "4:23 steps[0].title plan.one_line"},
	},
	"long title": {
		"goal: g\nsteps:\n- {step_id: a, intent: i, title: " + strings.Repeat("字", 301) + "}\n",
		[]string{"3:34 steps[0].title plan.too_long"},
	},
	"bad criteria": {
		"goal: g\ncriteria:\n- {id: a b, text: t, proof: kept, texts: [x]}\n- {id: b, text: \"\", proof: tested}\n" +
			"- {id: b, text: t, proof: diff, run: make}\n- {id: c, text: t, proof: gone, path: x}\n" +
			"- {id: d, text: t, proof: gone, paths: [/etc, a/../b, 'a\\b', ./a, a//b, .., 'C:/x'], tests: [1]}\n" +
			"- {text: t}\n- [x]\nsteps:\n- {step_id: a, title: t, intent: i}\n",
		[]string{
			"3:8 criteria[0].id plan.bad_criterion_id", "3:42 criteria[0].texts plan.proof_field",
			"4:17 criteria[1].text plan.blank", "4:28 criteria[1].proof plan.bad_value",
			"5:3 criteria[2].paths plan.diff_paths", "5:8 criteria[2].id plan.duplicate_criterion",
			"5:38 criteria[2].run plan.proof_field", "6:3 criteria[3].texts plan.gone_what",
			"6:33 criteria[3].path plan.unknown_field_near",
			"7:41 criteria[4].paths[0] plan.bad_path", "7:47 criteria[4].paths[1] plan.bad_path",
			"7:55 criteria[4].paths[2] plan.bad_path", "7:62 criteria[4].paths[3] plan.bad_path",
			"7:67 criteria[4].paths[4] plan.bad_path", "7:73 criteria[4].paths[5] plan.bad_path",
			"7:77 criteria[4].paths[6] plan.bad_path", "7:94 criteria[4].tests[0] plan.wrong_type",
			"8:3 criteria[5].id plan.missing_field", "8:3 criteria[5].proof plan.missing_field",
			"9:3 criteria[6] plan.wrong_type",
		},
	},
	"bad files of tests": {
		"goal: g\ncriteria:\n- {id: a, text: t, proof: check, files: [{path: ../a_test.go, content: x}, {path: sub.go, content: x},\n" +
			"  {path: a_test.go, content: x}, {path: b_test.go, content: ' '}, {path: conftest.py, content: x}]}\n" +
			"- {id: b, text: t, proof: kept, files: [{path: a_test.go, content: y, held: true}, {path: c_test.go}]}\n" +
			"- {id: c, text: t, proof: gone, texts: [x], files: [{path: d_test.go, content: x}]}\n" +
			"- {id: d, text: t, proof: check, files: [{path: e_test.go, content: x, held: maybe}]}\n" +
			"steps:\n- {step_id: a, title: t, intent: i}\n",
		[]string{
			"3:49 criteria[0].files[0].path plan.no_test_file", "3:83 criteria[0].files[1].path plan.no_test_file",
			"4:61 criteria[0].files[3].content plan.blank", "4:74 criteria[0].files[4].path plan.no_test_file",
			"5:48 criteria[1].files[0].path plan.duplicate_file", "5:84 criteria[1].files[1].content plan.missing_field",
			"6:52 criteria[2].files plan.proof_field", "7:78 criteria[3].files[0].held plan.wrong_type",
		},
	},
	"too many criteria": {
		"goal: g\nsteps:\n- {step_id: a, title: t, intent: i}\ncriteria:\n" +
			strings.Repeat("- {id: a, text: t, proof: kept}\n", maxCriteria+1),
		[]string{"5:1 criteria plan.too_many"},
	},
	"too much of a criterion": {
		"goal: g\nsteps:\n- {step_id: a, title: t, intent: i}\ncriteria:\n- id: a\n  proof: diff\n  text: " +
			strings.Repeat("字", maxClaim+1) + "\n  paths: [" + strings.Repeat("a,", maxNamed+1) + "]\n  texts: [\"a\\nb\"]\n",
		[]string{"7:9 criteria[0].text plan.too_long", "8:10 criteria[0].paths plan.too_many",
			"9:11 criteria[0].texts[0] plan.one_line"},
	},
	"tag":            {"goal: !!binary aGk=\n", []string{"1:7 plan.yaml_feature"}},
	"own tag":        {"goal: !secret x\n", []string{"1:7 plan.yaml_feature"}},
	"merge key":      {"a: &a {goal: x}\n<<: *a\n", []string{"2:1 plan.yaml_feature"}},
	"number as name": {"goal: x\n1: y\n", []string{"2:1 plan.key"}},
	"infinite number": {
		"goal: g\nsteps: [{step_id: a, title: t, intent: i, tool_calls: [{name: x, args_hint: {n: .inf}}]}]\n",
		[]string{"2:81 plan.number"},
	},
	"gigantic exponent": {`{"goal":"g","steps":[{"tool_calls":[{"args_hint":{"n":1e999999999}}]}]}`,
		[]string{"1:55 plan.number"}},
	"deep": {strings.Repeat("[", 70) + strings.Repeat("]", 70), []string{"1:66 plan.too_deep"}},
	"deep JSON": {`{"goal":` + strings.Repeat("[", 70) + strings.Repeat("]", 70) + "}",
		[]string{"1:73 plan.too_deep"}},
	"alias to itself": {"goal: &a [*a]\n", []string{"1:7 plan.too_deep"}},
	"alias bomb":      {bomb(), []string{"plan.too_many_values"}},
	"too large":       {"goal: " + strings.Repeat("x", MaxBytes), []string{"plan.too_large"}},
}

// bomb is a small file that its aliases blow up to ten to the ninth values.
func bomb() string {
	b := "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n"
	for i := 1; i < 9; i++ {
		b += fmt.Sprintf("a%d: &a%d [%s*a%d]\n", i, i, strings.Repeat(fmt.Sprintf("*a%d,", i-1), 9), i-1)
	}
	return b
}

// issuesOf returns the problems of an error as "line:col field key".
func issuesOf(t *testing.T, err error) []string {
	t.Helper()
	var e *pawl.Error
	var m *pawl.Problems
	if !errors.As(err, &e) || e.Code != pawl.CodeInvalid || !errors.As(err, &m) {
		t.Fatalf("not an error about the contents: %v", err)
	}
	var out []string
	for _, i := range m.List {
		s := i.Key
		if i.Field != "" {
			s = i.Field + " " + s
		}
		if i.Line > 0 {
			s = fmt.Sprintf("%d:%d %s", i.Line, i.Col, s)
		}
		out = append(out, s)
	}
	return out
}

func TestDecodeNamesEveryProblem(t *testing.T) {
	for name, test := range bad {
		t.Run(name, func(t *testing.T) {
			p, _, err := Decode("plan.yaml", []byte(test.in))
			if err == nil {
				t.Fatalf("accepted: %+v", p)
			}
			if !reflect.DeepEqual(p, Plan{}) {
				t.Errorf("a plan comes with the error: %+v", p)
			}
			got := issuesOf(t, err)
			if name == "alias bomb" {
				got[0] = regexp.MustCompile(`^\d+:\d+ `).ReplaceAllString(got[0], "")
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("\ngot  %q\nwant %q", got, test.want)
			}
			for _, lang := range []message.Lang{message.English, message.Chinese} {
				text, hint := lang.Error(err)
				if strings.Contains(text+hint, "%!") || hint == "" || strings.Contains(text, "plan.") &&
					!strings.Contains(text, "plan.yaml") {
					t.Errorf("%s: %q, %q", lang, text, hint)
				}
			}
		})
	}
}

func TestManyProblemsAreCounted(t *testing.T) {
	_, _, err := Decode("p", []byte("goal: g\nsteps: ["+strings.Repeat("{},", 50)+"]\n"))
	var m *pawl.Problems
	if !errors.As(err, &m) || len(m.List) != 20 || m.More != 130 {
		t.Errorf("%d issues and %d more", len(m.List), m.More)
	}
}

func TestErrorReadsWell(t *testing.T) {
	_, _, err := Decode("plan.yaml", []byte("goal: g\nsteps:\n- {step_id: a, title: t, intent: i, tool_calls: [{name: x, args_hint: 3}]}\n"))
	text, hint := message.English.Error(err)
	if want := "plan.yaml is not valid (problems: 1): plan.yaml:3:71 steps[0].tool_calls[0].args_hint: object wanted, number found"; text != want {
		t.Errorf("got  %q\nwant %q", text, want)
	}
	if hint != "Correct it and check it with: pawl plan validate FILE" {
		t.Errorf("hint %q", hint)
	}
}

// TestEveryKeyIsInTheCatalogue reads the keys from the source, so that none can be forgotten.
func TestEveryKeyIsInTheCatalogue(t *testing.T) {
	used := map[string]bool{}
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	key := regexp.MustCompile(`"(plan\.[a-z_]+)"`)
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		src, err := os.ReadFile(f.Name())
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range key.FindAllSubmatch(src, -1) {
			used[string(m[1])] = true
		}
		for _, m := range regexp.MustCompile(`"(plan\.unknown_(?:dependency|tool|step))"`).FindAllSubmatch(src, -1) {
			used[string(m[1])+"_near"] = true
		}
	}
	for k := range used {
		if e, ok := message.Lookup(k); !ok || e.En == "" || e.Zh == "" {
			t.Errorf("%s is not in the catalogue in both languages", k)
		}
	}
	for _, k := range message.Keys() {
		if strings.HasPrefix(k, "plan.") && !used[k] {
			t.Errorf("%s is in the catalogue but nowhere used", k)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(handWritten))
	for _, test := range bad {
		if len(test.in) < 1000 {
			f.Add([]byte(test.in))
		}
	}
	if data, err := EncodeJSON(sample()); err == nil {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, _, err := Decode("p", data)
		if err != nil {
			if len(issuesOf(t, err)) == 0 {
				t.Fatal("an error without a problem")
			}
			return
		}
		for _, encode := range []func(Plan) ([]byte, error){EncodeJSON, EncodeYAML} {
			out, err := encode(p)
			if err != nil {
				t.Fatal(err)
			}
			again, _, err := Decode("p", out)
			if err != nil || Hash(again) != Hash(p) {
				t.Fatalf("does not survive being written: %v\n%s", err, out)
			}
		}
		if _, _, err := ParsePRD(RenderPRD(p, English()), p); err != nil &&
			Check(p, nil, Limits{MaxSteps: 30, MaxRepairs: 99}) == nil {
			t.Fatal(err)
		}
	})
}
