package plan

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"pawl/text/display"

	"pawl/text/strictjson"
)

// Limits on what is read. They keep a hostile file from costing more than a plan is worth.
const (
	// MaxBytes is the largest plan, patch or document that is read, in bytes.
	MaxBytes = 4 << 20

	maxDepth  = 64       // nesting of objects and lists
	maxValues = 200_000  // values after aliases are expanded
	maxText   = 16 << 20 // bytes of text after aliases are expanded
)

// kind is the kind of a value, named as JSON Schema names it.
type kind string

const (
	kindText   kind = "string"
	kindNumber kind = "number"
	kindBool   kind = "boolean"
	kindNull   kind = "null"
	kindObject kind = "object"
	kindList   kind = "array"
)

// position is a place in a text; both count from 1, columns in characters.
type position struct{ line, col int }

// value is a document read from JSON or YAML: what both have in common, with the position of everything. Members keep
// their order and their duplicates, so that the reader of the value can name them.
type value struct {
	kind    kind
	text    string // of text, number ("-1.5e3") and boolean ("true")
	members []member
	items   []*value
	at      position
}

type member struct {
	name  string
	at    position
	value *value
}

// member returns the value of the first member with that name, or nil.
func (v *value) member(name string) *value {
	for i := range v.members {
		if v.members[i].name == name {
			return v.members[i].value
		}
	}
	return nil
}

// plain returns the value as package encoding/json would decode it with numbers kept as json.Number.
func (v *value) plain() any {
	switch v.kind {
	case kindText:
		return v.text
	case kindNumber:
		return json.Number(v.text)
	case kindBool:
		return v.text == "true"
	case kindObject:
		out := make(map[string]any, len(v.members))
		for _, m := range v.members {
			out[m.name] = m.value.plain()
		}
		return out
	case kindList:
		out := make([]any, len(v.items))
		for i, item := range v.items {
			out[i] = item.plain()
		}
		return out
	default:
		return nil
	}
}

// decoded returns the value as package encoding/json decodes it by default, with numbers as float64.
func (v *value) decoded() any {
	switch v.kind {
	case kindNumber:
		n, _ := strconv.ParseFloat(v.text, 64)
		return n
	case kindObject:
		out := make(map[string]any, len(v.members))
		for _, m := range v.members {
			out[m.name] = m.value.decoded()
		}
		return out
	case kindList:
		out := make([]any, len(v.items))
		for i, item := range v.items {
			out[i] = item.decoded()
		}
		return out
	default:
		return v.plain()
	}
}

// is reports whether the value is of a type as JSON Schema names it.
func (v *value) is(want string) bool {
	if want != "integer" {
		return string(v.kind) == want
	}
	n, err := strconv.ParseFloat(v.text, 64)
	return v.kind == kindNumber && err == nil && n == math.Trunc(n)
}

// encode appends the value as compact JSON. Members keep their order. Characters that a screen does not show are
// escaped, so that nothing in a rendering of the JSON is invisible.
func (v *value) encode(dst []byte) []byte {
	switch v.kind {
	case kindText:
		return appendText(dst, v.text)
	case kindNumber, kindBool:
		return append(dst, v.text...)
	case kindObject:
		dst = append(dst, '{')
		for i, m := range v.members {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(appendText(dst, m.name), ':')
			dst = m.value.encode(dst)
		}
		return append(dst, '}')
	case kindList:
		dst = append(dst, '[')
		for i, item := range v.items {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = item.encode(dst)
		}
		return append(dst, ']')
	default:
		return append(dst, "null"...)
	}
}

// appendText appends s as a JSON string.
func appendText(dst []byte, s string) []byte {
	const digits = "0123456789abcdef"
	unit := func(r rune) {
		dst = append(dst, '\\', 'u', digits[r>>12&15], digits[r>>8&15], digits[r>>4&15], digits[r&15])
	}
	dst = append(dst, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			dst = append(dst, '\\', byte(r))
		case r == '\n':
			dst = append(dst, '\\', 'n')
		case r == '\t':
			dst = append(dst, '\\', 't')
		case r == '\r':
			dst = append(dst, '\\', 'r')
		case !hidden(r):
			dst = utf8.AppendRune(dst, r)
		case r > 0xFFFF:
			unit(0xD800 + (r-0x10000)>>10)
			unit(0xDC00 + (r-0x10000)&0x3FF)
		default:
			unit(r)
		}
	}
	return append(dst, '"')
}

// hidden reports whether a character changes how text looks without being seen: controls, overrides of the writing
// direction, tags, separators of lines, and most characters without width. The joiners that emoji and some scripts need
// are not hidden.
func hidden(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r < 0x20 || r >= 0x7F && r < 0xA0:
		return true
	case r == 0x200C || r == 0x200D:
		return false
	case r >= 0xE0000 && r <= 0xE0FFF:
		return true
	default:
		return unicode.Is(unicode.Cf, r) || r == 0x2028 || r == 0x2029 || r == 0x115F || r == 0x1160 || r == 0x3164 ||
			r == 0xFFA0
	}
}

// problem is an error of reading, before there is a plan to speak of.
type problem struct {
	at    position
	field string
	key   string
	args  []any
}

func (p *problem) Error() string { return p.key }

func fault(at position, key string, args ...any) error { return &problem{at: at, key: key, args: args} }

// parse reads a JSON or YAML document. What begins like a JSON object and is one is read as JSON; everything else is
// YAML.
func parse(data []byte) (*value, error) {
	if len(data) > MaxBytes {
		return nil, fault(position{}, "plan.too_large", len(data), MaxBytes)
	}
	if i := firstInvalid(data); i >= 0 {
		line := 1 + bytes.Count(data[:i], []byte{'\n'})
		col := i - bytes.LastIndexByte(data[:i], '\n')
		return nil, fault(position{line, col}, "plan.not_text")
	}
	body := bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if len(bytes.TrimSpace(body)) == 0 {
		return nil, fault(position{1, 1}, "plan.empty")
	}
	if bytes.TrimLeft(body, " \t\r\n")[0] != '{' {
		return parseYAML(body)
	}
	v, err := parseJSON(body)
	var syntax *problem
	if errors.As(err, &syntax) && syntax.key == "plan.syntax" {
		if v, yamlErr := parseYAML(body); yamlErr == nil {
			return v, nil // a YAML mapping in flow style
		}
	}
	return v, err
}

// firstInvalid returns the offset of the first NUL or byte that is not UTF-8, or -1.
func firstInvalid(data []byte) int {
	invalid, nul := strictjson.FirstInvalid(data), bytes.IndexByte(data, 0)
	if invalid < 0 || nul >= 0 && nul < invalid {
		return nul
	}
	return invalid
}

// jsonReader builds a value from a document that is JSON.
type jsonReader struct {
	lines  strictjson.Lines
	values int
}

func parseJSON(data []byte) (*value, error) {
	r := &jsonReader{lines: strictjson.Lines{Text: data}}
	doc, err := strictjson.Parse(data, strictjson.Options{Depth: maxDepth, Repeats: true})
	var refused *strictjson.Error
	if !errors.As(err, &refused) {
		return r.build(doc)
	}
	at := r.place(refused.Offset)
	switch refused.Reason {
	case strictjson.NotText:
		return nil, fault(at, "plan.not_text")
	case strictjson.TooDeep:
		return nil, fault(at, "plan.too_deep", maxDepth)
	case strictjson.Trailing:
		return nil, fault(at, "plan.second_document")
	}
	return nil, fault(at, "plan.syntax", refused.Text)
}

func (r *jsonReader) place(offset int) position {
	line, col := r.lines.At(offset)
	return position{line, col}
}

func (r *jsonReader) build(from strictjson.Value) (*value, error) {
	v := &value{kind: kind(from.Kind().String()), at: r.place(from.Offset())}
	if r.values++; r.values > maxValues {
		return nil, fault(v.at, "plan.too_many_values", maxValues)
	}
	switch v.kind {
	case kindText:
		v.text = from.Text()
	case kindBool:
		v.text = string(from.Raw())
	case kindNumber:
		return number(string(from.Raw()), v.at)
	}
	for m := range from.Members() {
		at := r.place(m.Offset)
		inner, err := r.build(m.Value)
		if err != nil {
			return nil, err
		}
		v.members = append(v.members, member{m.Name, at, inner})
	}
	for _, item := range from.Items() {
		inner, err := r.build(item)
		if err != nil {
			return nil, err
		}
		v.items = append(v.items, inner)
	}
	return v, nil
}

// number accepts a number of JSON whose size a program can hold: schema checkers compute with exact fractions, which a
// large exponent would make gigantic.
func number(text string, at position) (*value, error) {
	_, exponent, _ := strings.Cut(strings.ToLower(text), "e")
	e, err := strconv.Atoi("0" + strings.TrimLeft(exponent, "+-0"))
	if len(text) > 64 || err != nil || e > 400 {
		return nil, fault(at, "plan.number", clip(text))
	}
	return &value{kind: kindNumber, text: text, at: at}, nil
}

// clip shortens a text that a message quotes.
func clip(s string) string {
	return display.Clip(s, 60)
}
