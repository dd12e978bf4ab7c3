package plan

import (
	"bytes"
	"encoding/json"
)

// EncodeJSON returns the plan as indented JSON with a final line break. Decode reads it back as the same plan.
func EncodeJSON(p Plan) ([]byte, error) {
	v, err := p.value()
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := json.Indent(&out, v.encode(nil), "", "  "); err != nil {
		return nil, err
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}
