package plan

import (
	"fmt"
	"strings"

	"pawl"
)

// maxIssues bounds the problems that one error lists; Malformed.More counts the rest.
const maxIssues = 20

// Issue is one problem of a plan, a patch or a document. Line and Col count from 1 and are 0 where the position is not
// known. Field is the path of the field, as "steps[2].tool_calls[0].args_hint.path", and "" for the whole. Key and Args
// name the message of the catalogue.
type Issue struct {
	Line  int
	Col   int
	Field string
	Key   string
	Args  []any
}

// place returns "file:line:col field", leaving out the parts that are not known.
func (i Issue) place(file string) string {
	var b strings.Builder
	b.WriteString(file)
	if i.Line > 0 {
		if file != "" {
			b.WriteByte(':')
		}
		fmt.Fprintf(&b, "%d:%d", i.Line, i.Col)
	}
	if i.Field != "" {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(i.Field)
	}
	if b.Len() == 0 {
		return "plan"
	}
	return b.String()
}

// Malformed is the cause of every error about the contents of a plan. It lists at most 20 problems, in the order of the
// document; More counts those that it leaves out. File is the name that was given to Decode, "" for a plan that did not come
// from a file.
type Malformed struct {
	File   string
	Issues []Issue
	More   int
}

func (m *Malformed) flaws() pawl.Flaws {
	out := pawl.Flaws{More: m.More}
	for _, i := range m.Issues {
		out.List = append(out.List, pawl.Flaw{Place: i.place(m.File), Key: i.Key, Args: i.Args})
	}
	return out
}

// Error returns the technical form: every problem with its place, its key and its arguments.
func (m *Malformed) Error() string { return m.flaws().String() }

// Errors returns each problem as an error that the message catalogue can render: its place, caused by what is wrong there.
func (m *Malformed) Errors() []*pawl.Error { return m.flaws().Errors("plan.at") }

// Rest is how many problems are left out.
func (m *Malformed) Rest() int { return m.More }

// Unwrap returns what Errors returns.
func (m *Malformed) Unwrap() []error { return m.flaws().Causes("plan.at") }

// issues collects problems up to the limit, and remembers of all of them where they are.
type issues struct {
	list  []Issue
	more  int
	exact map[string]bool // fields with a problem
	above map[string]bool // fields around those
}

func (s *issues) add(i Issue) {
	if s.exact == nil {
		s.exact, s.above = map[string]bool{}, map[string]bool{}
	}
	s.exact[i.Field] = true
	for path := i.Field; path != ""; path = outer(path) {
		s.above[path] = true
	}
	if len(s.list) == maxIssues {
		s.more++
		return
	}
	s.list = append(s.list, i)
}

// at adds a problem whose position is not known.
func (s *issues) at(field, key string, args ...any) { s.add(Issue{Field: field, Key: key, Args: args}) }

// has reports whether a problem was found at the field, around it or inside it.
func (s *issues) has(field string) bool {
	if s.above[field] || s.exact[""] {
		return true
	}
	for path := field; path != ""; path = outer(path) {
		if s.exact[path] {
			return true
		}
	}
	return false
}

// outer returns the path of the field around a field, "" for the outermost.
func outer(path string) string { return path[:max(0, strings.LastIndexAny(path, ".["))] }

// err returns the collected problems as one error, or nil when there are none.
func (s *issues) err(op, file string) error {
	if len(s.list) == 0 {
		return nil
	}
	name := file
	if name == "" {
		name = "plan"
	}
	return pawl.Fail(pawl.CodeInvalid, "plan.malformed", name, len(s.list)+s.more).In(op).
		Because(&Malformed{File: file, Issues: s.list, More: s.more})
}
