// Package strictjson reads JSON of models, people and other programs so that every reader takes the same from the same
// bytes.
//
// A document is one JSON value (RFC 8259) in UTF-8 with nothing but blanks around it. Names of an object that are the
// same, or the same but for case, are refused, as are halves of surrogate pairs, for which decoders put other
// characters; Options lets either pass where a caller has to live with it. Numbers stay as they are written. What is
// nested deeper than a limit, or is larger, is refused before anything is made of it. Every refusal is an *Error with
// its place.
//
// Parse gives a document as it is written, with the places of everything in it; Decode fills a Go value. Both are pure,
// and safe to call from several goroutines.
package strictjson

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// deepest is how deep values lie in others at most, whatever the caller allows: readers of trees recurse.
const deepest = 9_999

// Options are what a caller asks of a document beside being JSON. The zero Options is the strictest, without limits of
// its own.
type Options struct {
	// Bytes is the largest document, in bytes; 0 is no limit.
	Bytes int
	// Depth is how many objects and arrays may lie around a value; 0 is 9,999. Who walks a whole document sets it, as
	// walking costs its depth times its length.
	Depth int
	// Repeats lets Parse take an object whose names repeat, exactly or but for case: the caller judges them. Decode
	// never does.
	Repeats bool
	// HalfPairs lets an escape such as \ud800 stand for half of a surrogate pair. It reads as U+FFFD.
	HalfPairs bool
}

// Reason says what is wrong with a document.
type Reason int

// The reasons. Mismatch is Decode's alone.
const (
	Syntax   Reason = iota + 1 // it is no JSON
	CutOff                     // it ends in the middle of a value, or before one
	Trailing                   // something stands behind the value
	NotText                    // a byte that is no UTF-8, or a string with half of a surrogate pair
	TooLarge                   // more bytes than Options.Bytes
	TooDeep                    // nested deeper than Options.Depth
	Repeated                   // a name that is in its object already, exactly or but for case
	// a value that does not fit the type, or a name that the type does not have in this spelling
	Mismatch
)

// Error is the first thing that is wrong with a document.
type Error struct {
	Reason Reason
	// Offset is that of the first byte that is wrong, from 0: of the value or name that is refused, of the token or
	// character that cannot stand there, or the length of a document that is cut off.
	Offset int
	// Pointer is the JSON pointer (RFC 6901) of the value that is wrong or whose name is, or of what it is in, "" for
	// the whole.
	Pointer string
	// Text says what is wrong, in English, without the place.
	Text string
}

func (e *Error) Error() string {
	if e.Pointer == "" {
		return e.Text
	}
	return fmt.Sprintf("%s at %q", e.Text, e.Pointer)
}

// Kind is the kind of a value: the first byte of null, true, false, strings, objects and arrays, and '0' for every
// number.
type Kind byte

// The kinds.
const (
	Null   Kind = 'n'
	True   Kind = 't'
	False  Kind = 'f'
	String Kind = '"'
	Number Kind = '0'
	Object Kind = '{'
	Array  Kind = '['
)

var kindNames = [256]string{
	Null: "null", True: "boolean", False: "boolean", String: "string", Number: "number", Object: "object",
	Array: "array",
}

// String names the kind as JSON Schema does: true and false are both "boolean". What is no kind is "".
func (k Kind) String() string { return kindNames[k] }

// Value is a value of a document that Parse has taken. It shares the document's bytes, which must not change. The zero
// Value is of no kind and has nothing in it.
type Value struct {
	doc      []byte
	from, to int
}

// Member is a member of an object. Offset is that of its name in the document.
type Member struct {
	Name   string
	Offset int
	Value  Value
}

// Parse checks a document and returns its value. The error is an *Error.
func Parse(doc []byte, o Options) (Value, error) {
	if o.Bytes > 0 && len(doc) > o.Bytes {
		return Value{}, &Error{Reason: TooLarge, Text: fmt.Sprintf("larger than %d bytes", o.Bytes)}
	}
	if at := FirstInvalid(doc); at >= 0 {
		return Value{}, &Error{Reason: NotText, Offset: at, Text: "not UTF-8"}
	}
	if o.Depth <= 0 || o.Depth > deepest {
		o.Depth = deepest
	}
	c := checker{Options: o, doc: doc, in: decoder(doc)}
	if err := c.value(0); err != nil {
		return Value{}, err
	}
	from, to := blanks(doc, 0), int(c.in.InputOffset())
	if rest := blanks(doc, to); rest < len(doc) {
		r, _ := utf8.DecodeRune(doc[rest:])
		text := fmt.Sprintf("invalid character %q after top-level value", r)
		return Value{}, &Error{Reason: Trailing, Offset: rest, Text: text}
	}
	return Value{doc, from, to}, nil
}

// Kind returns the kind of the value.
func (v Value) Kind() Kind { return Kind(jsontext.Value(v.Raw()).Kind()) }

// Raw returns the value as it is written, without the blanks around it.
func (v Value) Raw() []byte { return v.doc[v.from:v.to:v.to] }

// Offset returns where the value begins in the document, in bytes.
func (v Value) Offset() int { return v.from }

// Text returns what a string says, and "" for every other value.
func (v Value) Text() string { return unquoted(v.Raw()) }

// Members gives the members of an object, in order, and nothing for every other value. Each call reads the object anew.
func (v Value) Members() iter.Seq[Member] {
	return func(yield func(Member) bool) {
		for in := v.enter(Object); in != nil && in.PeekKind() == jsontext.KindString; {
			name := v.next(in)
			if !yield(Member{name.Text(), name.from, v.next(in)}) {
				return
			}
		}
	}
}

// Items gives the elements of an array, in order, and nothing for every other value. Each call reads the array anew.
func (v Value) Items() iter.Seq2[int, Value] {
	return func(yield func(int, Value) bool) {
		in := v.enter(Array)
		for i := 0; in != nil; i++ {
			if k := in.PeekKind(); k == jsontext.KindEndArray || k == jsontext.KindInvalid || !yield(i, v.next(in)) {
				return
			}
		}
	}
}

// enter returns a decoder behind the brace or bracket of a value of that kind, and nil for another one.
func (v Value) enter(kind Kind) *jsontext.Decoder {
	if v.Kind() != kind {
		return nil
	}
	in := decoder(v.Raw())
	_, _ = in.ReadToken() // the document is valid
	return in
}

// next reads the next value in v.
func (v Value) next(in *jsontext.Decoder) Value {
	raw, _ := in.ReadValue() // the document is valid
	end := v.from + int(in.InputOffset())
	return Value{v.doc, end - len(raw), end}
}

// decoder reads without a judgement on texts and names, which the checker gives.
func decoder(raw []byte) *jsontext.Decoder {
	return jsontext.NewDecoder(bytes.NewBuffer(raw), jsontext.AllowInvalidUTF8(true),
		jsontext.AllowDuplicateNames(true))
}

// checker reads a document once, from its beginning to the end of its value.
type checker struct {
	Options
	doc []byte
	in  *jsontext.Decoder
}

// value checks the next value, around which depth objects and arrays lie.
func (c *checker) value(depth int) error {
	if depth > c.Depth {
		return c.fault(TooDeep, c.at(), fmt.Sprintf("nested deeper than %d", c.Depth))
	}
	switch c.in.PeekKind() {
	case jsontext.KindBeginObject:
		return c.object(depth)
	case jsontext.KindBeginArray:
		_, _ = c.in.ReadToken() // it was looked at
		for c.in.PeekKind() != jsontext.KindEndArray {
			if err := c.value(depth + 1); err != nil {
				return err
			}
		}
		_, _ = c.in.ReadToken()
		return nil
	}
	_, err := c.scalar()
	return err
}

func (c *checker) object(depth int) error {
	_, _ = c.in.ReadToken() // it was looked at
	seen := map[string]string{}
	for c.in.PeekKind() != jsontext.KindEndObject {
		at := c.at()
		raw, err := c.scalar()
		if err != nil {
			return err
		}
		if !c.Repeats {
			name := unquoted(raw)
			folded := fold(name)
			other, twice := seen[folded]
			switch {
			case twice && other == name:
				return c.fault(Repeated, at, again(name))
			case twice:
				return c.fault(Repeated, at, fmt.Sprintf("the members %q and %q are the same", other, name))
			}
			seen[folded] = name
		}
		if err := c.value(depth + 1); err != nil {
			return err
		}
	}
	_, _ = c.in.ReadToken()
	return nil
}

// scalar checks a value that is no object and no array, or a name.
func (c *checker) scalar() (jsontext.Value, error) {
	at := c.at()
	raw, err := c.in.ReadValue()
	if err != nil {
		return nil, c.malformed(err, at)
	}
	if !c.HalfPairs && raw.Kind() == jsontext.KindString && bytes.IndexByte(raw, '\\') >= 0 {
		if _, err := jsontext.AppendUnquote(nil, raw); err != nil {
			return nil, c.fault(NotText, at, "half of a surrogate pair")
		}
	}
	return raw, nil
}

// at returns where the next value or name begins.
func (c *checker) at() int {
	at := blanks(c.doc, int(c.in.InputOffset()))
	if at < len(c.doc) && (c.doc[at] == ',' || c.doc[at] == ':') {
		at = blanks(c.doc, at+1)
	}
	return at
}

func again(name string) string { return fmt.Sprintf("the member %q is there twice", name) }

func (c *checker) fault(why Reason, at int, text string) error {
	return &Error{Reason: why, Offset: at, Pointer: string(c.in.StackPointer()), Text: text}
}

// malformed turns what the decoder says of the token at an offset into an Error.
func (c *checker) malformed(err error, at int) error {
	var s *jsontext.SyntacticError
	if !errors.As(err, &s) || errors.Is(err, io.ErrUnexpectedEOF) {
		return &Error{Reason: CutOff, Offset: len(c.doc), Text: "unexpected end of JSON input"}
	}
	return &Error{Reason: Syntax, Offset: max(int(s.ByteOffset), at), Pointer: string(s.JSONPointer),
		Text: s.Err.Error()}
}

// unquoted returns what a string says, "" for what is none.
func unquoted(raw []byte) string {
	if len(raw) == 0 || raw[0] != '"' {
		return ""
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1])
	}
	text, _ := jsontext.AppendUnquote(nil, raw) // half of a pair is no text, and reads as U+FFFD
	return string(text)
}

func blanks(doc []byte, from int) int {
	for from < len(doc) && (doc[from] == ' ' || doc[from] == '\t' || doc[from] == '\r' || doc[from] == '\n') {
		from++
	}
	return from
}

// fold returns one spelling for all texts that differ by case alone, in the sense of Unicode.
func fold(s string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for n := unicode.SimpleFold(r); n != r; n = unicode.SimpleFold(n) {
			least = min(least, n)
		}
		return least
	}, s)
}
