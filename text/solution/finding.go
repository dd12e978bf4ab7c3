package solution

import (
	"slices"

	"pawl"
)

// At is the message that tells where a problem of a document is.
const At = "solution.at"

// maxPerFile bounds the issues, and the warnings, that are kept of one file.
const maxPerFile = 100

// findings collects what is found in a file. What goes beyond the limit is counted, and the last finding says how many.
type findings struct {
	file string
	list []pawl.Problem
	more int
}

func (s *findings) add(line int, key string, args ...any) {
	if len(s.list) == maxPerFile {
		s.more++
		return
	}
	s.list = append(s.list, pawl.Problem{File: s.file, Line: line, Key: key, Args: args})
}

// all returns the findings in the order of the file.
func (s *findings) all() []pawl.Problem {
	slices.SortStableFunc(s.list, func(a, b pawl.Problem) int { return a.Line - b.Line })
	if s.more > 0 {
		return append(s.list, pawl.Problem{File: s.file, Key: "solution.more", Args: []any{s.more}})
	}
	return s.list
}

// broken joins findings to one error, or nil where there are none.
func broken(op, file string, all []pawl.Problem) error {
	if len(all) == 0 {
		return nil
	}
	total := len(all)
	if last := all[total-1]; last.Key == "solution.more" {
		more, _ := last.Args[0].(int)
		total += more - 1
	}
	few := all[:min(len(all), pawl.MaxProblems)]
	return pawl.Fail(pawl.CodeInvalid, "solution.broken", file, total).In(op).
		Because(&pawl.Problems{At: At, List: few, More: total - len(few)})
}
