package contract

import (
	"encoding/json"
	"flag"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

// update publishes what has come to the API: it writes the published document, unless clients of it would break.
var update = flag.Bool("update", false, "publish what has come to the API")

// Where the document is that the server has, and what was published of it.
const (
	document  = "../../docs/schema/openapi.json"
	published = "testdata/published.json"
)

// TestPublished: what was published of the API stays. What has come to it is published with -update; what breaks a
// client is not, unless the document has the next version.
func TestPublished(t *testing.T) {
	is, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	now, err := Wire(is)
	if err != nil {
		t.Fatal(err)
	}
	was, err := os.ReadFile(published)
	if os.IsNotExist(err) && *update {
		was, err = now, os.WriteFile(published, now, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	breaks, err := Breaks(was, now)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range breaks {
		t.Error(b)
	}
	switch {
	case len(breaks) > 0:
		t.Log("clients of the API would break; keep what they use, or give it the next version (Version in face/api)")
	case string(was) != string(now) && *update:
		if err := os.WriteFile(published, now, 0o644); err != nil {
			t.Error(err)
		}
	case string(was) != string(now):
		t.Errorf("%s has more than was published; run the test with -update if it is to stay", document)
	}
}

// TestBreaks changes the document in ways that break clients, and in ways that do not.
func TestBreaks(t *testing.T) {
	was, err := os.ReadFile(published)
	if err != nil {
		t.Fatal(err)
	}
	type object = map[string]any
	var some object
	if err := json.Unmarshal(was, &some); err != nil {
		t.Fatal(err)
	}
	// A few operations are enough, and quicker.
	maps.DeleteFunc(some["paths"].(object), func(path string, _ any) bool {
		return !slices.Contains([]string{"/graph", "/events", "/commands/stop", "/commands/deny", "/commands/fix"}, path)
	})
	if was, err = json.Marshal(some); err != nil {
		t.Fatal(err)
	}
	at := func(doc any, path ...string) object {
		for _, name := range path {
			doc = doc.(object)[name]
		}
		return doc.(object)
	}
	schema := func(doc object, name string) object { return at(doc, "components", "schemas", name) }
	for name, c := range map[string]struct {
		change func(doc object)
		breaks string
	}{
		"nothing":              {func(object) {}, ""},
		"an operation is gone": {func(d object) { delete(at(d, "paths"), "/graph") }, "api-path-removed"},
		"a parameter is gone": {func(d object) {
			op := at(d, "paths", "/events", "get")
			op["parameters"] = op["parameters"].([]any)[1:]
		}, "request-parameter-removed"},
		"a part of an answer is gone": {func(d object) { delete(at(schema(d, "Commanded"), "properties"), "cursor") },
			"response-required-property-removed"},
		"a part of an answer is another thing": {func(d object) {
			at(schema(d, "Commanded"), "properties", "cursor")["type"] = "string"
		}, "response-property-type-changed"},
		"a part of an answer may be missing": {func(d object) { schema(d, "Commanded")["required"] = []any{"status"} },
			"response-property-became-optional"},
		"a body needs what it did not": {func(d object) { schema(d, "Denial")["required"] = []any{"digest", "reason"} },
			"request-property-became-required"},
		"less is taken": {func(d object) { at(schema(d, "Why"), "properties", "reason")["maxLength"] = 10 },
			"request-property-max-length-decreased"},
		"a word is no longer taken": {func(d object) {
			at(schema(d, "Help"), "properties", "answer")["enum"] = []any{"done"}
		}, "request-property-enum-value-removed"},
		"an error is no longer told": {func(d object) {
			delete(at(d, "paths", "/events", "get", "responses"), "410")
		}, ""},
		"a stream is gone": {func(d object) {
			delete(at(d, "paths", "/events", "get", "responses", "200", "content"), "text/event-stream")
		}, "response-media-type-removed"},
		"more may be asked for": {func(d object) {
			at(schema(d, "Why"), "properties")["more"] = object{"type": "string"}
		}, ""},
		"more is answered": {func(d object) {
			at(schema(d, "Commanded"), "properties")["more"] = object{"type": "string"}
		}, ""},
		"an operation more": {func(d object) {
			at(d, "paths", "/graph")["post"] = object{"operationId": "more",
				"responses": object{"204": object{"description": ""}}}
		}, ""},
		"an earlier version": {func(d object) { at(d, "info")["version"] = "0" }, "comes behind"},
		"the next version": {func(d object) {
			at(d, "info")["version"] = "2"
			delete(at(d, "paths"), "/graph")
		}, ""},
	} {
		var doc object
		if err := json.Unmarshal(was, &doc); err != nil {
			t.Fatal(err)
		}
		c.change(doc)
		now, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		breaks, err := Breaks(was, now)
		if got := strings.Join(breaks, "\n"); err != nil || (got == "") != (c.breaks == "") ||
			!strings.Contains(got, c.breaks) {
			t.Errorf("%s: %q, want %q, %v", name, got, c.breaks, err)
		}
	}
}

// TestWire: the words of a document are not published, and everything else is.
func TestWire(t *testing.T) {
	got, err := Wire([]byte(`{"description":"a","properties":{"description":{"type":"string","summary":"b"}},"x":["description"]}`))
	want := `{"description":"","properties":{"description":{"summary":"","type":"string"}},"x":["description"]}`
	if flat := strings.NewReplacer("\n", "", " ", "").Replace(string(got)); err != nil || flat != want {
		t.Errorf("%s %v", flat, err)
	}
}
