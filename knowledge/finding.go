package knowledge

import (
	"fmt"
	"strings"

	"pawl"
)

// Finding is something that was found in a document, or between the documents and the code. Line counts from 1 and is 0
// where the whole file is meant. Key and Args name the message of the catalogue.
type Finding struct {
	File string
	Line int
	Key  string
	Args []any
}

// Place returns "file:line".
func (f Finding) Place() string {
	if f.Line == 0 {
		return f.File
	}
	return fmt.Sprintf("%s:%d", f.File, f.Line)
}

// Error returns the finding as an error that the message catalogue can render: its place, caused by what is wrong there.
func (f Finding) Error() *pawl.Error {
	return pawl.Fail(pawl.CodeInvalid, "knowledge.at", f.Place()).Because(pawl.Fail(pawl.CodeInvalid, f.Key, f.Args...))
}

// String returns the technical form: place, key and arguments.
func (f Finding) String() string {
	return strings.TrimSpace(f.Place() + ": " + f.Key + " " + strings.TrimSpace(fmt.Sprintln(f.Args...)))
}

// failed returns the finding as an error, or nil for one without a key.
func (f Finding) failed(op string) error {
	if f.Key == "" {
		return nil
	}
	return f.Error().In(op)
}
