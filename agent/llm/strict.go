package llm

import (
	"errors"

	"pawl/text/strictjson"
)

// maxDepth bounds how deep a document of a model may be nested.
const maxDepth = 100

// strict reports what keeps a text from being one JSON object that every reader understands alike: text that is no
// object, anything behind it, and keys that repeat or differ by case alone.
func strict(raw []byte) error {
	v, err := strictjson.Parse(raw, strictjson.Options{Depth: maxDepth, HalfPairs: true})
	if err == nil && v.Kind() != strictjson.Object {
		return errors.New("not a JSON object")
	}
	return err
}
