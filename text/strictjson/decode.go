package strictjson

import (
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Decode checks a document and fills the value that into points to, which should be a zero value. A name counts only in
// the exact spelling of the type, and one that the type does not have is refused; in a map every name may stand once. A
// member that is absent or null leaves the zero value, and telling which are required is the caller's. The error is an
// *Error, and what into holds then is of no use.
func Decode(doc []byte, into any, o Options) error {
	o.Repeats = true // the decoder sees to it, as it knows which names are those of a map
	v, err := Parse(doc, o)
	if err != nil {
		return err
	}
	err = json.Unmarshal(v.Raw(), into, json.RejectUnknownMembers(true), jsontext.AllowInvalidUTF8(o.HalfPairs))
	var repeated *jsontext.SyntacticError
	var wrong *json.SemanticError
	switch {
	case errors.As(err, &repeated):
		at, name := repeated.JSONPointer, repeated.JSONPointer.LastToken()
		return &Error{Repeated, v.from + int(repeated.ByteOffset), string(at), again(name)}
	case errors.As(err, &wrong):
		return &Error{Mismatch, v.from + int(wrong.ByteOffset), string(wrong.JSONPointer), mismatch(wrong)}
	}
	return err
}

// mismatch says what is there and what should be.
func mismatch(e *json.SemanticError) string {
	switch {
	case errors.Is(e.Err, json.ErrUnknownName):
		return fmt.Sprintf("the member %q is unknown", e.JSONPointer.LastToken())
	case e.Err != nil:
		return fmt.Sprintf("a JSON %v where a Go %v belongs: %v", Kind(e.JSONKind), e.GoType, e.Err)
	}
	return fmt.Sprintf("a JSON %v where a Go %v belongs", Kind(e.JSONKind), e.GoType)
}
