package effect

import (
	"bytes"
	"encoding/json"
	"errors"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"pawl"
	"pawl/text/strictjson"
)

// maxArgs bounds the arguments of one call, in bytes of JSON.
const maxArgs = 10 << 20

// ValueType is the type of a member of an Object.
type ValueType string

// The types. Strings is an array of strings, Objects an array of objects.
const (
	String  ValueType = "string"
	Integer ValueType = "integer"
	Boolean ValueType = "boolean"
	Strings ValueType = "strings"
	Objects ValueType = "objects"
)

// Field is one member of the JSON object that a tool takes or returns.
type Field struct {
	Name     string
	Type     ValueType
	Required bool
	// Min and Max bound an integer, or the length of a string in bytes; both 0 means unbounded.
	Min, Max int64
	Enum     []string
	// Fields are the members of each element when Type is Objects.
	Fields Object
	// About tells a model what the member means.
	About string
}

// Object describes the arguments or the result of a tool. It is the one source of the published JSON Schema and of the
// check of what arrives, so that the two cannot disagree.
type Object []Field

// Schema returns the JSON Schema (2020-12) of the object. Members that are not listed are forbidden.
func (o Object) Schema() json.RawMessage {
	m := o.schema()
	m["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	return Encode(m)
}

func (o Object) schema() map[string]any {
	properties := map[string]any{}
	required := []string{}
	for _, f := range o {
		properties[f.Name] = f.schema()
		if f.Required {
			required = append(required, f.Name)
		}
	}
	return map[string]any{"type": "object", "additionalProperties": false, "properties": properties,
		"required": required}
}

func (f Field) schema() map[string]any {
	m := map[string]any{"type": string(f.Type)}
	switch f.Type {
	case Strings:
		m["type"], m["items"] = "array", map[string]any{"type": "string"}
	case Objects:
		m["type"], m["items"] = "array", f.Fields.schema()
	case Integer:
		if f.bounded() {
			m["minimum"], m["maximum"] = f.Min, f.Max
		}
	case String:
		// JSON Schema counts characters and Max counts bytes, so the published bound is the looser one.
		if f.bounded() {
			m["minLength"], m["maxLength"] = min(f.Min, 1), f.Max
		}
	}
	if f.Enum != nil {
		m["enum"] = f.Enum
	}
	if f.About != "" {
		m["description"] = f.About
	}
	return m
}

func (f Field) bounded() bool { return f.Min != 0 || f.Max != 0 }

// Decode reads the arguments of a call into a struct whose JSON names are those of the object. Whatever is not exactly
// as the object says is refused with pawl.CodeInvalid: a member that is unknown, that appears twice or whose name
// differs in case, a missing required member, a null, a value of another type or out of its bounds, more than 10 MiB,
// invalid UTF-8 or half a surrogate pair. Integers are written without fraction and exponent. No bytes at all count as
// an empty object.
func (o Object) Decode(raw json.RawMessage, into any) error {
	if len(bytes.TrimSpace(raw)) == 0 {
		raw = json.RawMessage("{}")
	}
	args, err := strictjson.Parse(raw, strictjson.Options{Bytes: maxArgs, Repeats: true})
	var refused *strictjson.Error
	if errors.As(err, &refused) {
		switch refused.Reason {
		case strictjson.TooLarge:
			return badArgs("file.args_size", maxArgs>>20)
		case strictjson.NotText:
			return badArgs("file.args_text")
		}
		return badArgs("file.args_json").Because(err)
	}
	if err := o.check(args); err != nil {
		return err
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return badArgs("file.args_json").Because(err)
	}
	return nil
}

func (o Object) check(v strictjson.Value) error {
	if v.Kind() != strictjson.Object {
		return badArgs("file.args_object")
	}
	seen := map[string]bool{}
	for m := range v.Members() {
		i := slices.IndexFunc(o, func(f Field) bool { return f.Name == m.Name })
		if i < 0 {
			return badArgs("file.args_unknown", m.Name, o.names())
		}
		if seen[m.Name] {
			return badArgs("file.args_twice", m.Name)
		}
		seen[m.Name] = true
		if err := o[i].check(m.Value); err != nil {
			return err
		}
	}
	for _, f := range o {
		if f.Required && !seen[f.Name] {
			return badArgs("file.args_missing", f.Name)
		}
	}
	return nil
}

func (f Field) check(v strictjson.Value) error {
	wrong := badArgs("file.args_type", f.Name, string(f.Type))
	switch f.Type {
	case String:
		if v.Kind() != strictjson.String {
			return wrong
		}
		return f.checkText(v.Text())
	case Integer:
		n, err := strconv.ParseInt(string(v.Raw()), 10, 64)
		if err != nil {
			return wrong
		}
		return f.bind(n, "file.args_range")
	case Boolean:
		if v.Kind() != strictjson.True && v.Kind() != strictjson.False {
			return wrong
		}
	case Strings, Objects:
		if v.Kind() != strictjson.Array {
			return wrong
		}
		for _, e := range v.Items() {
			if f.Type == Objects {
				if err := f.Fields.check(e); err != nil {
					return err
				}
			} else if e.Kind() != strictjson.String {
				return wrong
			}
		}
	}
	return nil
}

func (f Field) checkText(s string) error {
	if err := f.bind(int64(len(s)), "file.args_length"); err != nil {
		return err
	}
	if f.Enum != nil && !slices.Contains(f.Enum, s) {
		return badArgs("file.args_enum", f.Name, strings.Join(f.Enum, ", "))
	}
	return nil
}

// bind refuses, with the message of the key, a number that is not within the bounds.
func (f Field) bind(n int64, key string) error {
	if f.bounded() && (n < f.Min || n > f.Max) {
		return badArgs(key, f.Name, f.Min, f.Max)
	}
	return nil
}

func (o Object) names() string {
	out := make([]string, len(o))
	for i, f := range o {
		out[i] = f.Name
	}
	return strings.Join(out, ", ")
}

func badArgs(key string, args ...any) *pawl.Error {
	return pawl.Fail(pawl.CodeInvalid, key, args...).In("effect.decode")
}

// CleanPath returns the canonical form of a path argument: separated by slashes and lexically clean, so that policy and
// driver read the same path. It refuses with pawl.CodeInvalid what can name no file: an empty path, one with a NUL or
// invalid UTF-8, and one longer than 4096 bytes. The result may still leave the workspace; policy denies that, and
// LocalPath refuses it.
func CleanPath(p string) (string, error) {
	if p == "" || len(p) > 4096 || !utf8.ValidString(p) || strings.ContainsRune(p, 0) {
		return "", badArgs("file.path_form", p)
	}
	return path.Clean(p), nil
}

// LocalPath is CleanPath for a driver: a path that would leave the workspace is refused with pawl.CodeDenied.
func LocalPath(p string) (string, error) {
	clean, err := CleanPath(p)
	if err != nil {
		return "", err
	}
	if clean == ".." || strings.HasPrefix(clean, "../") || path.IsAbs(clean) {
		return "", pawl.Fail(pawl.CodeDenied, "file.path_escape", p).In("effect.path")
	}
	return clean, nil
}
