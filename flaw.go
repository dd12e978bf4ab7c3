package pawl

import (
	"fmt"
	"strings"
)

// Flaw is one problem of a document that somebody wrote: where it is, as people write it, and the message of the catalogue.
type Flaw struct {
	Place string
	Key   string
	Args  []any
}

// Flaws are the problems that one error lists, in the order of the document; More counts those that it leaves out.
type Flaws struct {
	List []Flaw
	More int
}

// String returns the technical form: every problem with its place, its key and its arguments.
func (f Flaws) String() string {
	var b strings.Builder
	for n, p := range f.List {
		if n > 0 {
			b.WriteString("; ")
		}
		b.WriteString(p.Place + ": " + p.Key)
		for _, a := range p.Args {
			fmt.Fprintf(&b, " %v", a)
		}
	}
	if f.More > 0 {
		fmt.Fprintf(&b, "; and %d more", f.More)
	}
	return b.String()
}

// Errors returns each problem as an error that the catalogue can render: the message at, which takes the place, caused by what
// is wrong there.
func (f Flaws) Errors(at string) []*Error {
	out := make([]*Error, len(f.List))
	for n, p := range f.List {
		out[n] = Fail(CodeInvalid, at, p.Place).Because(Fail(CodeInvalid, p.Key, p.Args...))
	}
	return out
}

// Causes returns what Errors returns, for an error's Unwrap: a face that knows nothing of lists still shows the first problem.
func (f Flaws) Causes(at string) []error {
	out := make([]error, len(f.List))
	for n, e := range f.Errors(at) {
		out[n] = e
	}
	return out
}
