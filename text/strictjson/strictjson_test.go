package strictjson_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"pawl/text/strictjson"
)

// refused is a document and what is said of it, as "reason offset pointer: text".
var refused = []struct {
	doc  string
	o    strictjson.Options
	want string
}{
	{"", strictjson.Options{}, "CutOff 0 : unexpected end of JSON input"},
	{" \n", strictjson.Options{}, "CutOff 2 : unexpected end of JSON input"},
	{`{"a":1`, strictjson.Options{}, "CutOff 6 : unexpected end of JSON input"},
	{"{\"a\":[nul\n", strictjson.Options{}, "Syntax 9 /a/0: invalid character '\\n' in literal null (expecting 'l')"},
	{`{"a":[nul`, strictjson.Options{}, "CutOff 9 : unexpected end of JSON input"},
	{`{"a":"b`, strictjson.Options{}, "CutOff 7 : unexpected end of JSON input"},
	{`{"a":1,}`, strictjson.Options{}, "Syntax 7 : invalid character ',' at start of value"},
	{`[1,]`, strictjson.Options{}, "Syntax 3 : invalid character ',' at start of value"},
	{`{"a" 1}`, strictjson.Options{}, "Syntax 5 /a: invalid character '1' after object name (expecting ':')"},
	{`{"a":}`, strictjson.Options{}, "Syntax 5 /a: invalid character '}' at start of value"},
	{`{"a"}`, strictjson.Options{}, "Syntax 4 /a: invalid character '}' after object name (expecting ':')"},
	{`{a:1}`, strictjson.Options{}, "Syntax 1 : invalid character 'a' at start of value"},
	{`{1:1}`, strictjson.Options{}, "Syntax 1 : object member name must be a string"},
	{`{"a":{]}`, strictjson.Options{}, "Syntax 6 /a: invalid character ']' at start of value"},
	{`[01]`, strictjson.Options{}, "Syntax 2 : invalid character '1' after array element (expecting ',' or ']')"},
	{`{} {}`, strictjson.Options{}, "Trailing 3 : invalid character '{' after top-level value"},
	{"1\n\t字", strictjson.Options{}, "Trailing 3 : invalid character '字' after top-level value"},
	{"{\"a\":\"b\xff\"}", strictjson.Options{HalfPairs: true}, "NotText 7 : not UTF-8"},
	{`{"a":"\ud800"}`, strictjson.Options{}, "NotText 5 /a: half of a surrogate pair"},
	{`{"a":["b","\\\udc00x"]}`, strictjson.Options{}, "NotText 10 /a/1: half of a surrogate pair"},
	{`{"\ud800":1}`, strictjson.Options{}, "NotText 1 /�: half of a surrogate pair"},
	{`{"a":1,"a":2}`, strictjson.Options{}, `Repeated 7 /a: the member "a" is there twice`},
	{`[{"k":1, "\u006b":2}]`, strictjson.Options{}, `Repeated 9 /0/k: the member "k" is there twice`},
	{`{"x":{"path":1,"Path":2}}`, strictjson.Options{},
		`Repeated 15 /x/Path: the members "path" and "Path" are the same`},
	{"{\"k\":1,\"\u212a\":2}", strictjson.Options{},
		"Repeated 7 /\u212a: the members \"k\" and \"\u212a\" are the same"},
	{`{"a":[[]]}`, strictjson.Options{Depth: 1}, "TooDeep 6 /a: nested deeper than 1"},
	{strings.Repeat("[", 1e6), strictjson.Options{}, "TooDeep 10000"},
	{`[1,2]`, strictjson.Options{Bytes: 4}, "TooLarge 0 : larger than 4 bytes"},
}

func TestRefused(t *testing.T) {
	for _, c := range refused {
		_, err := strictjson.Parse([]byte(c.doc), c.o)
		if got := told(t, err); !strings.HasPrefix(got, c.want) {
			t.Errorf("%.60q: %s, want %s", c.doc, got, c.want)
		}
	}
}

var names = []string{
	"", "Syntax", "CutOff", "Trailing", "NotText", "TooLarge", "TooDeep", "Repeated", "Mismatch",
}

func told(t *testing.T, err error) string {
	t.Helper()
	var e *strictjson.Error
	if !errors.As(err, &e) {
		t.Fatalf("%T: %v", err, err)
	}
	return fmt.Sprintf("%s %d %s: %s", names[e.Reason], e.Offset, e.Pointer, e.Text)
}

// TestAllowed: what a caller has to live with passes, and only that.
func TestAllowed(t *testing.T) {
	for doc, o := range map[string]strictjson.Options{
		` {"a":[1,{"b":null}],"c":"x"} `: {}, `{"a":{"x":1},"b":{"x":1}}`: {}, `"\ud83d\ude00 \\ud800"`: {}, "1": {},
		`{"a":1,"A":2,"a":3}`: {Repeats: true}, `"\ud800"`: {HalfPairs: true}, `[[1]]`: {Depth: 2}, `[12]`: {Bytes: 4},
	} {
		if _, err := strictjson.Parse([]byte(doc), o); err != nil {
			t.Errorf("%s: %v", doc, err)
		}
	}
	v, err := strictjson.Parse([]byte(`"a\ud800b\u00e9"`), strictjson.Options{HalfPairs: true})
	if err != nil || v.Text() != "a\ufffdbé" {
		t.Errorf("%q, %v", v.Text(), err)
	}
}

// FuzzParse holds what Parse takes and gives against encoding/json, which is another writing of the same grammar.
func FuzzParse(f *testing.F) {
	for _, c := range refused {
		f.Add([]byte(c.doc))
	}
	f.Add([]byte("{\"a\":[1e3,-0.5,\"\\u00e9\\n\",true,false,null,{}],\n\"b\":{\"a\":\"\\ud83d\\ude00\"},\"a\":[]}"))
	f.Fuzz(func(t *testing.T, doc []byte) {
		if len(doc) > 1<<12 {
			return // walking costs depth times length
		}
		v, err := strictjson.Parse(doc, strictjson.Options{Repeats: true, HalfPairs: true})
		if fine := json.Valid(doc) && utf8.Valid(doc); fine != (err == nil) {
			t.Fatalf("%v, and for encoding/json it is valid: %v", err, fine)
		}
		if err != nil {
			var e *strictjson.Error
			if !errors.As(err, &e) || e.Offset < 0 || e.Offset > len(doc) || e.Text == "" {
				t.Fatalf("%#v", err)
			}
			return
		}
		d := json.NewDecoder(bytes.NewReader(doc))
		d.UseNumber()
		var want any
		if err := d.Decode(&want); err != nil {
			t.Fatal(err)
		}
		if got := tree(t, doc, v); !reflect.DeepEqual(got, want) {
			t.Fatalf("%#v, want %#v", got, want)
		}
		written := bytes.Count(bytes.ToLower(doc), []byte(`\ufffd`)) + bytes.Count(doc, []byte("\ufffd"))
		_, err = strictjson.Parse(doc, strictjson.Options{})
		if err == nil && strings.Count(text(v), "\ufffd") > written {
			t.Fatal("half of a pair passed")
		}
	})
}

// tree is a value as encoding/json reads it; the last member of a name counts there.
func tree(t *testing.T, doc []byte, v strictjson.Value) any {
	if !bytes.HasPrefix(doc[v.Offset():], v.Raw()) {
		t.Fatalf("%s does not stand at %d", v.Raw(), v.Offset())
	}
	switch v.Kind() {
	case strictjson.Object:
		out := map[string]any{}
		for m := range v.Members() {
			if doc[m.Offset] != '"' {
				t.Fatalf("%q does not stand at %d", m.Name, m.Offset)
			}
			out[m.Name] = tree(t, doc, m.Value)
		}
		return out
	case strictjson.Array:
		out := []any{}
		for i, item := range v.Items() {
			if i != len(out) {
				t.Fatalf("element %d is counted as %d", len(out), i)
			}
			out = append(out, tree(t, doc, item))
		}
		return out
	case strictjson.String:
		return v.Text()
	case strictjson.Number:
		return json.Number(v.Raw())
	case strictjson.True, strictjson.False:
		return v.Kind() == strictjson.True
	case strictjson.Null:
		return nil
	}
	t.Fatalf("a value of kind %q", v.Kind())
	return nil
}

// text joins all strings of a value.
func text(v strictjson.Value) string {
	out := v.Text()
	for m := range v.Members() {
		out += m.Name + text(m.Value)
	}
	for _, item := range v.Items() {
		out += text(item)
	}
	return out
}

func TestZeroValue(t *testing.T) {
	var v strictjson.Value
	for range v.Members() {
		t.Error("a member")
	}
	for range v.Items() {
		t.Error("an element")
	}
	if v.Text() != "" || len(v.Raw()) > 0 || v.Kind() == strictjson.Null {
		t.Errorf("%q", v.Kind())
	}
}

func TestDecode(t *testing.T) {
	type inner struct {
		N int `json:"n"`
	}
	type form struct {
		Name  string         `json:"name"`
		Inner []inner        `json:"inner"`
		Free  map[string]any `json:"free"`
	}
	for doc, want := range map[string]string{
		` {"name":"é","inner":[{"n":-7}],"free":{"a":1,"A":2}} `: "", `{"inner":null}`: "", "{}": "",
		`{"name":"a","name":"b"}`:             `Repeated 12 /name: the member "name" is there twice`,
		`{"free":{"x":[{"a":1,"a":1}]}}`:      `Repeated 21 /free/x/0/a: the member "a" is there twice`,
		` {"name":"a","Name":"b"}`:            `Mismatch 13 /Name: the member "Name" is unknown`,
		`{"inner":[{"n":1},{"n":1,"m":{}}]}`:  `Mismatch 25 /inner/1/m: the member "m" is unknown`,
		` {"inner":[{"n":"1"}]}`:              "Mismatch 16 /inner/0/n: a JSON string where a Go int belongs",
		`{"inner":[{"n":1.5}]}`:               "Mismatch 15 /inner/0/n: a JSON number where a Go int belongs: invalid syntax",
		`[]`:                                  "Mismatch 0 : a JSON array where a Go strictjson_test.form belongs",
		`{"name":1}{}`:                        "Trailing 10 ",
		`{"name":"\ud800"}`:                   "NotText 8 /name: half of a surrogate pair",
		`{"free":[[[[1]]]]}`:                  "TooDeep 12 /free/0/0/0: nested deeper than 4",
		`{"name":"` + strings.Repeat("x", 60): "TooLarge 0 ",
	} {
		var got form
		err := strictjson.Decode([]byte(doc), &got, strictjson.Options{Depth: 4, Bytes: 60})
		if want == "" {
			var same form
			if err != nil || json.Unmarshal([]byte(doc), &same) != nil || !reflect.DeepEqual(got, same) {
				t.Errorf("%s: %+v, want %+v; %v", doc, got, same, err)
			}
			continue
		}
		if got := told(t, err); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s, want %s", doc, got, want)
		}
	}
	var got form
	err := strictjson.Decode([]byte(`{"name":"\ud800"}`), &got, strictjson.Options{HalfPairs: true})
	if err != nil || got.Name != "\ufffd" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestLines(t *testing.T) {
	l := strictjson.Lines{Text: []byte("a字b\n\n{")}
	for _, c := range [][3]int{{0, 1, 1}, {4, 1, 3}, {5, 1, 4}, {6, 2, 1}, {7, 3, 1}, {99, 3, 2}, {1, 1, 2},
		{8, 3, 2}} {
		if line, col := l.At(c[0]); line != c[1] || col != c[2] {
			t.Errorf("byte %d is at %d:%d, want %d:%d", c[0], line, col, c[1], c[2])
		}
	}
}
