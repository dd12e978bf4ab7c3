package solution

import (
	"fmt"
	"slices"
	"strings"

	"pawl"
)

// maxFindings bounds the problems that one error lists; Broken.More counts the rest.
const maxFindings = 20

// maxPerFile bounds the issues, and the warnings, that are kept of one file.
const maxPerFile = 100

// findings collects what is found in a file. What goes beyond the limit is counted, and the last finding says how many.
type findings struct {
	file string
	list []Finding
	more int
}

func (s *findings) add(line int, key string, args ...any) {
	if len(s.list) == maxPerFile {
		s.more++
		return
	}
	s.list = append(s.list, Finding{File: s.file, Line: line, Key: key, Args: args})
}

// all returns the findings in the order of the file.
func (s *findings) all() []Finding {
	slices.SortStableFunc(s.list, func(a, b Finding) int { return a.Line - b.Line })
	if s.more > 0 {
		return append(s.list, Finding{File: s.file, Key: "solution.more", Args: []any{s.more}})
	}
	return s.list
}

// Finding is something that was found in a file of a package. Line counts from 1 and is 0 where the whole file is meant. Key
// and Args name the message of the catalogue.
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
	return pawl.Fail(pawl.CodeInvalid, "solution.at", f.Place()).Because(pawl.Fail(pawl.CodeInvalid, f.Key, f.Args...))
}

// String returns the technical form: place, key and arguments.
func (f Finding) String() string {
	var b strings.Builder
	b.WriteString(f.Place() + ": " + f.Key)
	for _, a := range f.Args {
		fmt.Fprintf(&b, " %v", a)
	}
	return b.String()
}

// Broken is the cause of every error about the contents of a file: at most 20 findings, in the order of the file. More counts
// those that it leaves out.
type Broken struct {
	Findings []Finding
	More     int
}

// Error returns the technical form of every finding.
func (b *Broken) Error() string {
	var all []string
	for _, f := range b.Findings {
		all = append(all, f.String())
	}
	if b.More > 0 {
		all = append(all, fmt.Sprintf("and %d more", b.More))
	}
	return strings.Join(all, "; ")
}

// Unwrap returns the findings as errors, so that a face that knows nothing of Broken still shows the first.
func (b *Broken) Unwrap() []error {
	var out []error
	for _, f := range b.Findings {
		out = append(out, f.Error())
	}
	return out
}

// broken joins findings to one error, or nil where there are none.
func broken(op, file string, all []Finding) error {
	if len(all) == 0 {
		return nil
	}
	total := len(all)
	if last := all[total-1]; last.Key == "solution.more" {
		more, _ := last.Args[0].(int)
		total += more - 1
	}
	few := all[:min(len(all), maxFindings)]
	return pawl.Fail(pawl.CodeInvalid, "solution.broken", file, total).In(op).Because(&Broken{Findings: few, More: total - len(few)})
}
