package api

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"pawl/kernel"
)

// words are what stands in requests by chance: names that there are, and what nobody expects.
var words = []string{"ISS-1", "ISS-2", "RUN-1", "1", "T-001", "main", "", "0", "-1", "99999999999999999999", "x", "%00",
	"\x00", "\x1b[1m", "../../etc/passwd", "a/b", "..", "日本語", "é", "\u202e", "\U0001f600", strings.Repeat("a", 300), "null",
	"true", `"7"`, "*", "[]", "{}", "' OR 1=1 --", "\r\nX: y"}

// broken are bodies that are no JSON, or JSON that readers take in different ways.
var broken = []string{"{", `{"a":`, "[1,2", `{"digest":1}`, strings.Repeat("[", 5000), strings.Repeat(`{"a":`, 5000),
	`{"digest":"12345678","digest":"12345679"}`, `{"reason":"a","Reason":"b"}`, "{} {}", "{}x", "\xef\xbb\xbf{}", "{\"reason\":\"\xff\"}",
	`{"reason":"\ud800"}`, "{'reason':1}", "NaN", "{\"reason\":1e999}", "// {}\n{}"}

func pick[T any](f *fuzzer, from []T) T { return from[f.rand.IntN(len(from))] }

// open is the hash of what waits for an answer, in the session of the person or of an issue; zeros where nothing does.
func (f *fuzzer) open(label string) string {
	s, err := f.k.Session(label).Snapshot(f.Context())
	if err != nil || s.Approval == nil || s.Approval.State != kernel.ApprovalPending {
		return none64
	}
	return s.Approval.Hash
}

// none64 is the hash of nothing.
var none64 = strings.Repeat("0", 64)

// fit is a value as a schema wants it, with all that has to be there. Name is the property or parameter that it is for.
func (f *fuzzer) fit(s *openapi3.Schema, name string) any {
	switch {
	case len(s.Enum) > 0:
		return s.Enum[0]
	case s.Type.Is("object"):
		out := map[string]any{}
		for _, name := range s.Required {
			out[name] = f.fit(s.Properties[name].Value, name)
		}
		if name == "questions" { // one that may be answered together with others
			out["issue"], out["digest"] = "ISS-1", f.open("ISS-1")
		}
		if name == "revise" || name == "run" { // one of several parts has to be there, for which there is no word
			out[map[string]string{"revise": "feedback", "run": "requirement"}[name]] = "write it"
		}
		return out
	case s.Type.Is("array"):
		out := []any{}
		for range s.MinItems {
			out = append(out, f.fit(s.Items.Value, name))
		}
		return out
	case s.Type.Is("integer"):
		return int(least(s))
	case s.Type.Is("boolean"):
		return false
	}
	switch {
	case name == "digest":
		return f.open(kernel.SessionLabel)
	case name == "on":
		return "ISS-2"
	case name == "rule":
		return "allowed"
	case s.Format == "date-time":
		return "2026-02-08T12:00:00Z"
	case s.Pattern != "":
		return "1"
	}
	return strings.Repeat("a", int(max(s.MinLength, 1)))
}

func least(s *openapi3.Schema) float64 {
	if s.Min == nil {
		return 0
	}
	return *s.Min
}

// around are the values at the borders of a schema, and beyond them: each part of an object in turn, while the others
// are as they should be.
func (f *fuzzer) around(s *openapi3.Schema, name string) (out []any) {
	switch {
	case s.Type.Is("object"):
		return f.aroundObject(s, name)
	case s.Type.Is("array"):
		return f.aroundArray(s, name)
	case s.Type.Is("integer"):
		out = []any{0, 1, -1, least(s) - 1, least(s), 1 << 53, 1<<53 + 1, json.RawMessage("9223372036854775808"),
			json.RawMessage("1.0"), json.RawMessage("1e0"), json.RawMessage("1e400"), 1.5, "1", "1e1", "0x1", " 1", true, nil}
		if s.Max != nil {
			out = append(out, int64(*s.Max), int64(*s.Max)+1)
		}
		return out
	case s.Type.Is("boolean"):
		return []any{true, false, "true", "TRUE", "1", 1, nil}
	}
	out = []any{"", f.fit(s, name), 1, true, nil, []any{}, map[string]any{}, "a\x00b", "a\nb", "\u2028"}
	if s.MinLength > 0 {
		out = append(out, strings.Repeat("a", int(s.MinLength)-1), strings.Repeat("a", int(s.MinLength)))
	}
	if s.MaxLength != nil {
		most := int(*s.MaxLength)
		for _, c := range []string{"a", "é", "0"} {
			out = append(out, strings.Repeat(c, most), strings.Repeat(c, most+1))
		}
	}
	for _, e := range s.Enum {
		out = append(out, e, strings.ToUpper(fmt.Sprint(e)), fmt.Sprint(e, " "))
	}
	if s.Format == "date-time" {
		out = append(out, "now", "2026-02-08", "2026-02-30T00:00:00Z", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999999Z",
			"2026-02-08T12:00:00+23:59", "2026-02-08 12:00:00Z", "2026-02-08T12:00:00")
	}
	if s.Pattern != "" {
		out = append(out, "ABCDEF0123", "0123456789abcdeg", "1234567890123456", "12345678901234567", "12345678\n", "-1", "+1")
	}
	return out
}

func (f *fuzzer) aroundObject(s *openapi3.Schema, name string) []any {
	out := []any{f.fit(s, name), nil, []any{}, "x", 1, map[string]any{}}
	with := func(change func(o map[string]any)) {
		o := f.fit(s, name).(map[string]any)
		change(o)
		out = append(out, o)
	}
	with(func(o map[string]any) { o["unheard"] = "of" })
	with(func(o map[string]any) { o[""] = 1 })
	for _, part := range slices.Sorted(maps.Keys(s.Properties)) {
		with(func(o map[string]any) { delete(o, part) })
		with(func(o map[string]any) { o[strings.ToUpper(part)] = o[part] })
		for _, v := range f.around(s.Properties[part].Value, part) {
			with(func(o map[string]any) { o[part] = v })
		}
	}
	return out
}

// maxTaken is how many items of a list are sent at most where that many are taken.
const maxTaken = 100

func (f *fuzzer) aroundArray(s *openapi3.Schema, name string) []any {
	many := func(n int) (out []any) {
		for range n {
			out = append(out, f.fit(s.Items.Value, name))
		}
		return out
	}
	out := []any{[]any{}, many(1), many(2), nil, "x", map[string]any{}, []any{nil}, []any{[]any{}}}
	if s.MaxItems != nil {
		if out = append(out, many(int(*s.MaxItems)+1)); *s.MaxItems <= maxTaken {
			out = append(out, many(int(*s.MaxItems)))
		}
	}
	for _, v := range f.around(s.Items.Value, name) {
		out = append(out, []any{v})
	}
	return out
}

// asText is a value as a parameter has it.
func asText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []any:
		texts := make([]string, len(v))
		for n := range v {
			texts[n] = asText(v[n])
		}
		return strings.Join(texts, ",")
	case json.RawMessage:
		return string(v)
	case float64:
		return fmt.Sprintf("%g", v)
	}
	return fmt.Sprint(v)
}

// texts are values for a parameter.
func (f *fuzzer) texts(p *openapi3.Parameter) (out []string) {
	for _, v := range f.around(p.Schema.Value, p.Name) {
		out = append(out, asText(v))
	}
	return out
}

// value is a value that mostly fits a schema.
func (f *fuzzer) value(s *openapi3.Schema, name string, deep int) any {
	if f.rand.IntN(20) == 0 || deep > 5 {
		return pick(f, []any{nil, 1, "x", []any{}, map[string]any{}, 1e300, true})
	}
	switch {
	case s.Type.Is("object"):
		out := map[string]any{}
		for _, part := range slices.Sorted(maps.Keys(s.Properties)) {
			if slices.Contains(s.Required, part) && f.rand.IntN(20) > 0 || f.rand.IntN(2) == 0 {
				out[part] = f.value(s.Properties[part].Value, part, deep+1)
			}
		}
		if f.rand.IntN(20) == 0 {
			out[pick(f, words)] = 1
		}
		return out
	case s.Type.Is("array"):
		out := []any{}
		for range f.rand.IntN(3) {
			out = append(out, f.value(s.Items.Value, name, deep+1))
		}
		return out
	case s.Type.Is("integer"):
		return f.rand.IntN(10)
	case s.Type.Is("boolean"):
		return f.rand.IntN(2) == 0
	case len(s.Enum) > 0:
		return pick(f, s.Enum)
	case s.Pattern != "":
		return pick(f, []string{"0123456789abcdef", f.open(kernel.SessionLabel), f.open("ISS-1"), "xyz"})
	}
	return pick(f, words)
}
