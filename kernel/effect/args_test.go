package effect

import (
	"strings"
	"testing"

	"pawl"
)

func TestDecodeArgs(t *testing.T) {
	o := Object{
		{Name: "s", Type: String, Required: true, Min: 1, Max: 4}, {Name: "e", Type: String, Enum: []string{"a", "b"}},
		{Name: "n", Type: Integer, Min: 1, Max: 9}, {Name: "b", Type: Boolean}, {Name: "l", Type: Strings},
		{Name: "o", Type: Objects, Fields: Object{{Name: "x", Type: Integer, Required: true}}},
	}
	type args struct {
		S, E string
		N    int
		B    bool
		L    []string
		O    []struct{ X int }
	}
	for in, key := range map[string]string{
		` {"s":"a","e":"b","n":9,"b":true,"l":["x"],"o":[{"x":-1}]} `: "",
		`{"s":"é"}`: "", `{"s":"\ud83d\ude00"}`: "", `{"s":"\\ud8"}`: "",
		"": "file.args_missing", "{}": "file.args_missing", "[]": "file.args_object", "1": "file.args_object",
		`{"s":"a"`: "file.args_json", `{"s":"a"}{}`: "file.args_json", `{"s":"a"} x`: "file.args_json",
		`{"s":"a","S":"a"}`: "file.args_unknown", `{"s":"a","s":"a"}`: "file.args_twice",
		`{"s":"a","":1}`: "file.args_unknown",
		`{"s":""}`:       "file.args_length", `{"s":"ééé"}`: "file.args_length", `{"s":null}`: "file.args_type",
		`{"s":1}`:           "file.args_type",
		`{"s":"a","e":"c"}`: "file.args_enum", `{"s":"a","n":0}`: "file.args_range",
		`{"s":"a","n":10}`:  "file.args_range",
		`{"s":"a","n":1.0}`: "file.args_type", `{"s":"a","n":1e0}`: "file.args_type",
		`{"s":"a","n":"1"}`:                  "file.args_type",
		`{"s":"a","n":99999999999999999999}`: "file.args_type", `{"s":"a","b":"true"}`: "file.args_type",
		`{"s":"a","l":[null]}`: "file.args_type", `{"s":"a","l":null}`: "file.args_type",
		`{"s":"a","l":[1]}`:  "file.args_type",
		`{"s":"a","o":[{}]}`: "file.args_missing", `{"s":"a","o":[1]}`: "file.args_object",
		`{"s":"\ud83d"}`: "file.args_text", `{"s":"\udc00"}`: "file.args_text", `{"s":"\ud83dx"}`: "file.args_text",
		"{\"s\":\"\xff\"}": "file.args_text", `{"s":"` + strings.Repeat("a", maxArgs) + `"}`: "file.args_size",
		strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000): "file.args_json",
	} {
		var a args
		err := o.Decode([]byte(in), &a)
		got := ""
		if e, ok := err.(*pawl.Error); ok {
			got = e.Key
		}
		if got != key || (err != nil && pawl.CodeOf(err) != pawl.CodeInvalid) {
			t.Errorf("%.60s: %v, want %q", in, err, key)
		}
	}
}

func TestPaths(t *testing.T) {
	for in, want := range map[string]struct {
		clean string
		code  pawl.Code
	}{
		"a/b": {"a/b", ""}, "./a//b/": {"a/b", ""}, "a/../b": {"b", ""}, ".": {".", ""}, "..x": {"..x",
			""}, "a/..": {".", ""},
		"..": {"..", pawl.CodeDenied}, "../x": {"../x", pawl.CodeDenied}, "a/../../x": {"../x",
			pawl.CodeDenied}, "/etc": {"/etc", pawl.CodeDenied},
		"": {"", pawl.CodeInvalid}, "a\x00": {"", pawl.CodeInvalid}, "a\xff": {"",
			pawl.CodeInvalid}, strings.Repeat("a", 4097): {"", pawl.CodeInvalid},
	} {
		clean, err := CleanPath(in)
		if clean != want.clean || (err != nil) != (want.code == pawl.CodeInvalid) {
			t.Errorf("CleanPath(%.20q) = %q, %v", in, clean, err)
		}
		if _, err := LocalPath(in); pawl.CodeOf(err) != want.code {
			t.Errorf("LocalPath(%.20q): %v", in, err)
		}
	}
}
