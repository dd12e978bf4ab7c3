package pawl

import (
	"fmt"
	"strings"
)

// Problem is what is wrong at one place of a document that somebody wrote. Line and Col count from 1, and are 0 where
// they are not known or the whole is meant. Field is where it is within the document, in the form of that document: a
// path such as "steps[2].intent", or a JSON pointer (RFC 6901). Key and Args name the message of the catalogue.
type Problem struct {
	File      string
	Line, Col int
	Field     string
	Key       string
	Args      []any
}

// Place returns "file:line:col field" without the parts that are not known.
func (p Problem) Place() string {
	place := p.File
	if p.Line > 0 {
		place = strings.TrimPrefix(fmt.Sprintf("%s:%d", place, p.Line), ":")
	}
	if p.Line > 0 && p.Col > 0 {
		place = fmt.Sprintf("%s:%d", place, p.Col)
	}
	return strings.TrimSpace(place + " " + p.Field)
}

// String returns the technical form: place, key and arguments.
func (p Problem) String() string {
	var b strings.Builder
	b.WriteString(p.Place() + ": " + p.Key)
	for _, a := range p.Args {
		fmt.Fprintf(&b, " %v", a)
	}
	return b.String()
}

// Error returns the problem as an error that the catalogue can render: the message at, which takes the place, caused by
// what is wrong there.
func (p Problem) Error(at string) *Error {
	return Fail(CodeInvalid, at, p.Place()).Because(Fail(CodeInvalid, p.Key, p.Args...))
}

// MaxProblems bounds the problems that one error lists.
const MaxProblems = 20

// Problems is the cause of an error about the contents of a document: what is wrong with it, in the order of the
// document or of discovery. More counts what is left out. At is the message that tells where a problem is, and Whole
// what a problem without a place is about. A *Problems is an error once it lists something.
type Problems struct {
	At, Whole string
	List      []Problem
	More      int
}

// Add takes in a problem, or counts it where MaxProblems are listed already.
func (p *Problems) Add(one Problem) {
	if len(p.List) >= MaxProblems {
		p.More++
		return
	}
	p.List = append(p.List, one)
}

// Total counts all problems, those that are left out included.
func (p *Problems) Total() int { return len(p.List) + p.More }

// Error returns the technical form of all problems. A model that is asked again is shown this text.
func (p *Problems) Error() string {
	var all []string
	for _, one := range p.List {
		all = append(all, p.named(one).String())
	}
	if p.More > 0 {
		all = append(all, fmt.Sprintf("and %d more", p.More))
	}
	return strings.Join(all, "; ")
}

// named gives a problem without a place the name of the whole.
func (p *Problems) named(one Problem) Problem {
	if one.Place() == "" {
		one.Field = p.Whole
	}
	return one
}

// Errors returns each problem as an error that the catalogue can render.
func (p *Problems) Errors() []*Error {
	out := make([]*Error, len(p.List))
	for n, one := range p.List {
		out[n] = p.named(one).Error(p.At)
	}
	return out
}

// Rest is how many problems are left out.
func (p *Problems) Rest() int { return p.More }

// Unwrap returns what Errors returns: a face that knows nothing of lists still shows the first problem.
func (p *Problems) Unwrap() []error {
	out := make([]error, len(p.List))
	for n, e := range p.Errors() {
		out[n] = e
	}
	return out
}
