package plan

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"

	"pawl/internal/golden"
)

// TestPublishedSchemas makes the schemas anew; -update writes those that the program holds and those of the
// documentation.
func TestPublishedSchemas(t *testing.T) {
	for _, folder := range []string{"schema", filepath.Join("..", "..", "docs", "schema")} {
		golden.Check(t, filepath.Join(folder, "plan.schema.json"), madeSchema())
		golden.Check(t, filepath.Join(folder, "plan-patch.schema.json"), madePatchSchema())
	}
}

func TestEveryFieldHasANote(t *testing.T) {
	left := map[string]bool{}
	for name := range notes {
		left[name] = true
	}
	for _, typ := range []reflect.Type{
		reflect.TypeFor[Plan](), reflect.TypeFor[Step](), reflect.TypeFor[ToolCallTemplate](),
		reflect.TypeFor[Artifact](), reflect.TypeFor[Criterion](), reflect.TypeFor[TestFile](),
		reflect.TypeFor[VerificationPolicy](), reflect.TypeFor[Patch](), reflect.TypeFor[StepUpdate](),
	} {
		for f := range typ.Fields() {
			tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			name := typ.Name() + "." + tag
			if notes[name].text == "" {
				t.Errorf("%s has no note", name)
			}
			delete(left, name)
		}
	}
	for name := range left {
		t.Errorf("%s is a note about nothing", name)
	}
}

// accepts reports whether a schema of ours accepts a document, by a validator that is not the one we use.
func accepts(t interface{ Fatal(...any) }, schema []byte, doc []byte) bool {
	raw, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
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
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(doc))
	if err != nil {
		return false
	}
	return s.Validate(v) == nil
}

func TestSchemaAcceptsWhatDecodeAccepts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data, err := EncodeJSON(anyPlan().Draw(t, "plan"))
		if err != nil {
			t.Fatal(err)
		}
		if !accepts(t, Schema(), data) {
			t.Fatalf("the schema refuses %s", data)
		}
	})
	for name, doc := range map[string]string{
		"least":  `{"goal":"g","steps":[{"step_id":"a","title":"t","intent":"i"}]}`,
		"dated":  `{"goal":"g","created_at":5,"steps":[{"step_id":"a","title":"t","intent":"i"}]}`,
		"custom": `{"goal":"g","verification":{"mode":"custom","commands":["x"]},"steps":[{"step_id":"a","title":"t","intent":"i"}]}`,
	} {
		if _, _, err := Decode("p", []byte(doc)); err != nil || !accepts(t, Schema(), []byte(doc)) {
			t.Errorf("%s: decode says %v, the schema %t", name, err, accepts(t, Schema(), []byte(doc)))
		}
	}
}

func TestSchemaRefusesWhatDecodeRefuses(t *testing.T) {
	// What no schema can say: names given twice, the size of the document, characters that are not seen.
	beyond := map[string]bool{"repeated field": true, "repeated argument": true, "escaped NUL": true,
		"gigantic exponent": true}
	tried := 0
	for name, test := range bad {
		v, err := parse([]byte(test.in))
		if err != nil || beyond[name] {
			continue
		}
		tried++
		if accepts(t, Schema(), v.encode(nil)) {
			t.Errorf("%s: the schema accepts it", name)
		}
	}
	if tried < 12 {
		t.Errorf("only %d examples were tried", tried)
	}
}

// TestSchemaAndDecodeAgree changes one thing in a good plan and compares what the two say.
func TestSchemaAndDecodeAgree(t *testing.T) {
	junk := []any{nil, true, 7, -1, 1.5, "", " ", "x", "two\nlines", "a b", "pending", []any{}, []any{"x"}, []any{1},
		map[string]any{}}
	disagree := func(doc any) (string, bool) {
		data, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = Decode("p", data)
		return string(data), (err == nil) != accepts(t, Schema(), data)
	}
	data, err := EncodeJSON(sample())
	if err != nil {
		t.Fatal(err)
	}
	var doc any
	if err := json.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	var walk func(v any, args bool)
	walk = func(v any, args bool) {
		switch v := v.(type) {
		case map[string]any:
			for k, old := range v {
				for _, j := range junk {
					v[k] = j
					if s, no := disagree(doc); no && !args {
						t.Errorf("%s = %v: decode and schema disagree: %s", k, j, s)
					}
				}
				delete(v, k)
				if s, no := disagree(doc); no {
					t.Errorf("without %s: decode and schema disagree: %s", k, s)
				}
				v[k] = old
				walk(old, args || k == "args_hint")
			}
		case []any:
			for _, item := range v {
				walk(item, args)
			}
		}
	}
	walk(doc, false)
}

func TestPatchSchemaAgreesWithDecodePatch(t *testing.T) {
	for _, doc := range []string{
		`{}`, `{"reason":"r"}`, `{"title":"t"}`, `{"title":""}`, `{"remove_steps":[]}`, `{"remove_steps":["a"]}`,
		`{"remove_steps":["a b"]}`,
		`{"update_steps":[{"id":"a"}]}`, `{"update_steps":[{"title":"a"}]}`,
		`{"update_steps":[{"id":"a","dependencies":[1]}]}`,
		`{"update_steps":[{"id":"a","tools_expected":[{"name":"x","args_hint":{}}]}]}`,
		`{"add_steps":[{"step_id":"a","title":"t","intent":"i"}]}`, `{"add_steps":[{"step_id":"a","title":"t"}]}`,
		`{"add_steps":[],"x":1}`, `7`, `{"criteria":[]}`, `{"criteria":[{"id":"a","text":"t","proof":"kept"}]}`,
		`{"criteria":[{"id":"a","text":"t","proof":"diff"}]}`, `{"criteria":null}`,
	} {
		_, _, err := DecodePatch("p", []byte(doc))
		if (err == nil) != accepts(t, PatchSchema(), []byte(doc)) {
			t.Errorf("%s: decode says %v, the schema the opposite", doc, err)
		}
	}
}
