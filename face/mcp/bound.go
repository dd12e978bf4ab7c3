package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"pawl/text/display"

	"pawl"
)

// maxOutput bounds the JSON of one answer, in bytes: what a model can read at once without its window being filled.
const maxOutput = 48 << 10

// cuts are the measures that are tried one after the other until an answer fits: how long a text and a list may be.
var cuts = []struct{ text, list int }{{4000, 200}, {1000, 60}, {300, 25}, {80, 10}}

// bounded returns the JSON of an answer. Where it is too large, long texts and lists are cut, each saying how much was
// left out, and the answer has "truncated": true.
func bounded(answer any) (json.RawMessage, error) {
	raw, err := json.Marshal(answer)
	if err != nil {
		return nil, pawl.Fail(pawl.CodeInternal, "mcp.answer").Because(err)
	}
	if len(raw) <= maxOutput {
		return raw, nil
	}
	for _, c := range cuts {
		d := json.NewDecoder(bytes.NewReader(raw))
		d.UseNumber()
		var m map[string]any
		if err := d.Decode(&m); err != nil {
			return nil, pawl.Fail(pawl.CodeInternal, "mcp.answer").Because(err)
		}
		short, _ := cut(m, c.text, c.list).(map[string]any)
		short["truncated"] = true
		if out, err := json.Marshal(short); err == nil && len(out) <= maxOutput {
			return out, nil
		}
	}
	return nil, pawl.Fail(pawl.CodeInvalid, "mcp.answer_size", maxOutput>>10)
}

// cut shortens every text and every list of a JSON value.
func cut(v any, text, list int) any {
	switch v := v.(type) {
	case string:
		return clip(v, text)
	case []any:
		left := len(v) - list
		if left > 0 {
			v = append(slices.Clone(v[:list]), fmt.Sprintf("… +%d", left))
		}
		for i := range v {
			v[i] = cut(v[i], text, list)
		}
		return v
	case map[string]any:
		for k := range v {
			v[k] = cut(v[k], text, list)
		}
	}
	return v
}

// clip cuts a text to a number of bytes, at a character, and says how many bytes were left out.
func clip(s string, most int) string {
	head := display.Head(s, most)
	if head == s {
		return s
	}
	return head + fmt.Sprintf("… (+%d bytes)", len(s)-len(head))
}
