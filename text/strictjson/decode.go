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
	if err == nil {
		return nil
	}
	e := &Error{Reason: Mismatch, Text: err.Error()}
	var repeated *jsontext.SyntacticError
	var wrong *json.SemanticError
	switch {
	case errors.As(err, &repeated):
		e = &Error{Repeated, int(repeated.ByteOffset), string(repeated.JSONPointer), ""}
		e.Text = fmt.Sprintf("the member %q is there twice", repeated.JSONPointer.LastToken())
	case errors.As(err, &wrong) && errors.Is(wrong.Err, json.ErrUnknownName):
		e = &Error{Unknown, int(wrong.ByteOffset), string(wrong.JSONPointer), ""}
		e.Text = fmt.Sprintf("the member %q is unknown", wrong.JSONPointer.LastToken())
	case errors.As(err, &wrong):
		e = &Error{Mismatch, int(wrong.ByteOffset), string(wrong.JSONPointer), mismatch(wrong)}
	}
	e.Offset += v.Offset()
	return e
}

// mismatch says what is there and what should be.
func mismatch(e *json.SemanticError) string {
	text := fmt.Sprintf("a JSON %v where a Go %v belongs", Kind(e.JSONKind), e.GoType)
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}
