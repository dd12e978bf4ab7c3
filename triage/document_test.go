package triage

import (
	"bytes"
	"encoding/json"
	"errors"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"

	"pawl"
	"pawl/internal/golden"
)

// TestPublishedSchema makes the schema anew; -update writes the one that the program holds and that of the documentation.
func TestPublishedSchema(t *testing.T) {
	for _, folder := range []string{"schema", filepath.Join("..", "docs", "schema")} {
		golden.Check(t, filepath.Join(folder, "evaluation.schema.json"), madeSchema())
	}
}

func TestEveryFieldHasANote(t *testing.T) {
	left := map[string]bool{}
	for name := range notes {
		left[name] = true
	}
	for _, typ := range []reflect.Type{
		reflect.TypeFor[Evaluation](), reflect.TypeFor[Dimension](), reflect.TypeFor[Evidence](), reflect.TypeFor[Question](),
		reflect.TypeFor[Factors](), reflect.TypeFor[Finding](),
	} {
		for _, f := range reflect.VisibleFields(typ) {
			if f.Anonymous {
				continue
			}
			tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if notes[typ.Name()+"."+tag].text == "" {
				t.Errorf("%s.%s has no note", typ.Name(), tag)
			}
			delete(left, typ.Name()+"."+tag)
		}
	}
	for name := range left {
		t.Errorf("%s is a note about nothing", name)
	}
}

func compiled(t testing.TB) *jsonschema.Schema {
	t.Helper()
	raw, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("urn:test", raw); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("urn:test")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func valid(s *jsonschema.Schema, doc []byte) error {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(doc))
	if err != nil {
		return err
	}
	return s.Validate(v)
}

// Whatever the embedded agent says is a document that the schema accepts, that Check accepts, and that Decode returns as it is.
func TestOwnEvaluationsAreDocuments(t *testing.T) {
	schema := compiled(t)
	pieces := []string{
		"fix", "the login page", "修复登录页", "when it fails", ".", "\n", "，", "`a b`", "\"", "rm -rf /", "drop table users", "不要", "tests pass", "100 ms", "~auto",
		"in parser.go", "only", "better", "优化一下", "\u200b", "\U0001f600", "é", "Ａ", "deploy to production", " ", "should return 400", "?", "为什么", "\x00", "ß", "İ",
	}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 12).Draw(t, "text"), " ")
		var answers []Answer
		for _, a := range rapid.SliceOfN(rapid.SampledFrom(Aspects()), 0, 4).Draw(t, "about") {
			answers = append(answers, Answer{a, rapid.SampledFrom(append(pieces, "", "none", "无")).Draw(t, "answer")})
		}
		e, err := Evaluate(text, answers)
		if strings.TrimSpace(text) == "" {
			if code(err) != pawl.CodeInvalid {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		merged := Merge(text, answers)
		if err := e.Check(merged); err != nil {
			t.Fatalf("%q: %v", merged, err)
		}
		raw, _ := json.Marshal(e)
		if err := valid(schema, raw); err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
		back, err := Decode(raw, merged)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(e, back); d != "" {
			t.Fatal(d)
		}
	})
}

// modelText and modelDocument are a requirement and what a model says of it.
const modelText = "Please add a CSV export to the orders page. It must open in Excel.\nDo not touch production."

func modelDocument() map[string]any {
	var doc map[string]any
	raw := `{"class":"feature","score":9,"risk":"low","why":"It names page, format and acceptance.",
	"dimensions":[
		{"name":"goal","points":3,"evidence":[{"quote":"add a CSV export"}]},
		{"name":"criteria","points":2,"evidence":[{"quote":"it must   open in excel"}]},
		{"name":"scope","points":2,"evidence":[{"quote":"the orders page","start":28,"end":43}]},
		{"name":"limits","points":2,"evidence":[]}],
	"questions":[],"factors":{"new":false,"major":false,"design":"simple","extent":"local"},"ehrb":[]}`
	if err := json.Unmarshal([]byte(raw), &doc); err != nil {
		panic(err)
	}
	return doc
}

func TestModelDocument(t *testing.T) {
	raw, _ := json.Marshal(modelDocument())
	e, err := Decode(raw, modelText)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range e.Dimensions {
		for _, q := range d.Evidence {
			if q.In(modelText) != q.Quote {
				t.Errorf("%+v", q)
			}
		}
	}
	if got := e.Dimensions[1].Evidence[0].Quote; got != "It must open in Excel" {
		t.Errorf("quote %q", got)
	}
	// What pawl finds is added: here only a mention.
	if len(e.EHRB) != 0 && e.EHRB[0].Stance != StanceMention || e.Dangerous() || e.Risk != pawl.RiskLow {
		t.Errorf("%+v %s", e.EHRB, e.Risk)
	}
	if path, _ := e.Path(); path != "light" {
		t.Error(path)
	}
}

// A model cannot talk a finding away.
func TestModelFindsMoreNeverLess(t *testing.T) {
	text := "Drop the users table, and wipe the logs of the old server."
	doc := modelDocument()
	doc["dimensions"].([]any)[0].(map[string]any)["evidence"] = []any{map[string]any{"quote": "Drop the users table"}}
	doc["dimensions"].([]any)[1].(map[string]any)["evidence"] = []any{map[string]any{"quote": "users"}}
	doc["dimensions"].([]any)[2].(map[string]any)["evidence"] = []any{map[string]any{"quote": "users table"}}
	doc["ehrb"] = []any{
		map[string]any{"kind": "data_loss", "quote": "Drop the users table", "stance": "mention"},
		map[string]any{"kind": "data_loss", "quote": "wipe the logs", "stance": "action"},
	}
	raw, _ := json.Marshal(doc)
	e, err := Decode(raw, text)
	if err != nil {
		t.Fatal(err)
	}
	if len(e.EHRB) != 2 || e.EHRB[0].Stance != StanceAction || e.EHRB[1].Quote != "wipe the logs" || e.Risk != pawl.RiskHigh {
		t.Errorf("%+v %s", e.EHRB, e.Risk)
	}
	// What pawl takes for a mention is an action where the model says so.
	doc = modelDocument()
	doc["ehrb"] = []any{map[string]any{"kind": "production", "quote": "touch production", "stance": "action"}}
	raw, _ = json.Marshal(doc)
	strict, err := Decode(raw, strings.Replace(modelText, "production", "the production database", 1))
	if err == nil || strict.Dangerous() {
		t.Errorf("a quote that is not there: %v", err)
	}
	doc["ehrb"] = []any{map[string]any{"kind": "production", "quote": "the production database", "stance": "action"}}
	raw, _ = json.Marshal(doc)
	if strict, err = Decode(raw, strings.Replace(modelText, "production", "the production database", 1)); err != nil || len(strict.EHRB) != 1 || !strict.Dangerous() {
		t.Errorf("%+v %v", strict.EHRB, err)
	}
	if path, why := e.Path(); path != "standard" || why[0].Key != "triage.path_ehrb" {
		t.Error(path, why)
	}
}

func TestBrokenDocuments(t *testing.T) {
	dim := func(d map[string]any, i int) map[string]any { return d["dimensions"].([]any)[i].(map[string]any) }
	quote := func(d map[string]any, q map[string]any) { dim(d, 0)["evidence"] = []any{q} }
	question := func(about, text string) map[string]any { return map[string]any{"about": about, "text": text} }
	unclear := func(d map[string]any, qs ...any) {
		dim(d, 1)["points"], dim(d, 2)["points"], d["score"], d["questions"] = 0, 0, 5, qs
	}
	for name, c := range map[string]struct {
		field, key string
		change     func(d map[string]any)
	}{
		"too many points":    {"dimensions[2].points", "triage.bad_points", func(d map[string]any) { dim(d, 2)["points"], d["score"] = 3, 10 }},
		"negative points":    {"dimensions[0].points", "triage.bad_points", func(d map[string]any) { dim(d, 0)["points"], d["score"] = -1, 5 }},
		"another sum":        {"score", "triage.bad_score", func(d map[string]any) { d["score"] = 10 }},
		"no evidence":        {"dimensions[0].evidence", "triage.no_evidence", func(d map[string]any) { dim(d, 0)["evidence"] = []any{} }},
		"made up":            {"dimensions[0].evidence[0].quote", "triage.not_said", func(d map[string]any) { quote(d, map[string]any{"quote": "add a PDF export"}) }},
		"blank quote":        {"dimensions[0].evidence[0].quote", "triage.blank", func(d map[string]any) { quote(d, map[string]any{"quote": " \u200b"}) }},
		"another place":      {"dimensions[0].evidence[0].quote", "triage.not_said", func(d map[string]any) { quote(d, map[string]any{"quote": "nowhere", "start": 0, "end": 7}) }},
		"repeated dimension": {"dimensions[3].name", "triage.repeated", func(d map[string]any) { dim(d, 3)["name"] = "goal" }},
		"unknown dimension":  {"dimensions[3].name", "triage.bad_value", func(d map[string]any) { dim(d, 3)["name"] = "mood" }},
		"no dimension":       {"dimensions", "triage.no_dimension", func(d map[string]any) { d["dimensions"] = []any{} }},
		"five dimensions":    {"dimensions", "triage.too_many", func(d map[string]any) { d["dimensions"] = append(d["dimensions"].([]any), dim(d, 0)) }},
		"needless questions": {"questions", "triage.needless_questions", func(d map[string]any) { d["questions"] = []any{question("criteria", "Why?")} }},
		"no questions":       {"questions", "triage.question_count", func(d map[string]any) { unclear(d) }},
		"four questions": {"questions", "triage.question_count", func(d map[string]any) {
			unclear(d, question("scope", "a"), question("scope", "b"), question("scope", "c"), question("scope", "d"))
		}},
		"same question": {"questions[1].text", "triage.repeated", func(d map[string]any) {
			unclear(d, question("scope", "Which page?"), question("scope", "which  PAGE?"))
		}},
		"question about enough": {"questions[0].about", "triage.nothing_missing", func(d map[string]any) { unclear(d, question("goal", "What?")) }},
		"blank question":        {"questions[0].text", "triage.blank", func(d map[string]any) { unclear(d, question("scope", " ")) }},
		"hidden question":       {"questions[0].text", "triage.hidden_character", func(d map[string]any) { unclear(d, question("scope", "a\u202eb")) }},
		"long question":         {"questions[0].text", "triage.prose_too_long", func(d map[string]any) { unclear(d, question("scope", strings.Repeat("字", 501))) }},
		"foreign key":           {"questions[0].key", "triage.bad_value", func(d map[string]any) { unclear(d, map[string]any{"about": "scope", "key": "cli.version"}) }},
		"class":                 {"class", "triage.bad_value", func(d map[string]any) { d["class"] = "epic" }},
		"risk":                  {"risk", "triage.bad_value", func(d map[string]any) { d["risk"] = "" }},
		"extent":                {"factors.extent", "triage.bad_value", func(d map[string]any) { d["factors"].(map[string]any)["extent"] = "galaxy" }},
		"kind of risk": {"ehrb[0].kind", "triage.bad_value", func(d map[string]any) {
			d["ehrb"] = []any{map[string]any{"kind": "mood", "quote": "Excel", "stance": "action"}}
		}},
		"long reason":    {"why", "triage.prose_too_long", func(d map[string]any) { d["why"] = strings.Repeat("a", 2001) }},
		"unknown member": {"", "triage.syntax", func(d map[string]any) { d["path"] = "tweak" }},
		"wrong type":     {"", "triage.syntax", func(d map[string]any) { d["score"] = "9" }},
	} {
		doc := modelDocument()
		c.change(doc)
		raw, _ := json.Marshal(doc)
		_, err := Decode(raw, modelText)
		var m *Malformed
		if code(err) != pawl.CodeInvalid || !errors.As(err, &m) || !slices.ContainsFunc(m.Issues, func(i Issue) bool { return i.Field == c.field && i.Key == c.key }) {
			t.Errorf("%s: %v", name, err)
		}
	}
	good, _ := json.Marshal(modelDocument())
	for name, raw := range map[string]string{
		"nothing": "", "cut off": string(good[:len(good)-1]), "two documents": string(good) + "{}", "a list": "[]", "null": "null", "a number": "7", "repeated member": `{"score":1,"Score":2}`,
		"nested": strings.Repeat(`{"a":`, 1000), "large": strings.Repeat(" ", MaxDocument+1), "closed twice": string(good) + "}", "not text": "\xff",
	} {
		if _, err := Decode([]byte(raw), modelText); code(err) != pawl.CodeInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Decode(good, ""); code(err) != pawl.CodeInvalid {
		t.Errorf("without a text: %v", err)
	}
}

func TestManyProblemsAreCounted(t *testing.T) {
	doc := modelDocument()
	var bad []any
	for range 40 {
		bad = append(bad, map[string]any{"kind": "x", "quote": "nowhere", "stance": "action"})
	}
	doc["ehrb"] = bad
	raw, _ := json.Marshal(doc)
	_, err := Decode(raw, modelText)
	var m *Malformed
	if !errors.As(err, &m) || len(m.Issues) != maxIssues || m.More == 0 || !strings.Contains(m.Error(), "more") {
		t.Errorf("%v", err)
	}
}
