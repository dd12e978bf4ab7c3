package plan

import (
	"cmp"
	"strings"

	"pawl"
)

// problems collects what is wrong with a document, and remembers of everything where it is.
type problems struct {
	pawl.Problems
	exact map[string]bool // fields with a problem
	above map[string]bool // fields around those
}

func (s *problems) add(i pawl.Problem) {
	if s.exact == nil {
		s.exact, s.above = map[string]bool{}, map[string]bool{}
	}
	s.exact[i.Field] = true
	for path := i.Field; path != ""; path = outer(path) {
		s.above[path] = true
	}
	s.Add(i)
}

// at adds a problem whose position is not known.
func (s *problems) at(field, key string, args ...any) {
	s.add(pawl.Problem{Field: field, Key: key, Args: args})
}

// has reports whether a problem was found at the field, around it or inside it.
func (s *problems) has(field string) bool {
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
func (s *problems) err(op, file string) error {
	if len(s.List) == 0 {
		return nil
	}
	name := cmp.Or(file, "plan")
	s.At, s.Whole = "plan.at", "plan"
	for n := range s.List {
		s.List[n].File = file
	}
	return pawl.Fail(pawl.CodeInvalid, "plan.malformed", name, s.Total()).In(op).Because(&s.Problems)
}
