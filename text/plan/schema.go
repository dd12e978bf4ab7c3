package plan

import _ "embed"

// Schema returns the JSON Schema (draft 2020-12) of a plan as it may be written by hand or by an agent: what Decode
// accepts, but for the size of the document, repeated members and characters that are not seen. It ends with a line
// break and is the same on every call.
func Schema() []byte { return []byte(planSchema) }

// PatchSchema returns the JSON Schema (draft 2020-12) of a plan patch.
func PatchSchema() []byte { return []byte(patchSchema) }

// The schemas are made from the types by a test, which also keeps docs/schema equal to them. What makes them is not
// part of the program, because every start would pay for the packages that it needs.
var (
	//go:embed schema/plan.schema.json
	planSchema string
	//go:embed schema/plan-patch.schema.json
	patchSchema string
)
