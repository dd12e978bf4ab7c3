package backlog

import (
	"strconv"
	"strings"

	"pawl"
)

const (
	maxProblems = 20
	maxNotes    = 100
)

// Problem is one reason why a backlog is not imported. Line counts from 1 and is 0 where it concerns the whole. Pointer is a
// JSON pointer (RFC 6901) into the file, or into the record of that line, and "" for the whole or where there is no JSON.
type Problem struct {
	File    string
	Line    int
	Pointer string
	Key     string
	Args    []any
}

// place returns "file:line /pointer" without the parts that are not known.
func (p Problem) place() string {
	var b strings.Builder
	b.WriteString(p.File)
	if p.Line > 0 {
		if p.File != "" {
			b.WriteByte(':')
		}
		b.WriteString(strconv.Itoa(p.Line))
	}
	if p.Pointer != "" {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(p.Pointer)
	}
	if b.Len() == 0 {
		return "backlog"
	}
	return b.String()
}

// Malformed is the cause of the error of an import that found problems. It lists at most 20, in the order of their
// discovery; More counts those that it leaves out.
type Malformed struct {
	Problems []Problem
	More     int
}

func (m *Malformed) flaws() pawl.Flaws {
	out := pawl.Flaws{More: m.More}
	for _, p := range m.Problems {
		out.List = append(out.List, pawl.Flaw{Place: p.place(), Key: p.Key, Args: p.Args})
	}
	return out
}

// Error returns the technical form: every problem with its place, its key and its arguments.
func (m *Malformed) Error() string { return m.flaws().String() }

// Errors returns each problem as an error that the catalogue can render: its place, caused by what is wrong there.
func (m *Malformed) Errors() []*pawl.Error { return m.flaws().Errors("backlog.at") }

// Rest is how many problems are left out.
func (m *Malformed) Rest() int { return m.More }

// Unwrap returns what Errors returns.
func (m *Malformed) Unwrap() []error { return m.flaws().Causes("backlog.at") }

// report gathers problems and notes up to their limits.
type report struct {
	problems  []Problem
	more      int
	notes     []Note
	moreNotes int
}

func (r *report) problem(file string, line int, pointer, key string, args ...any) {
	if len(r.problems) == maxProblems {
		r.more++
		return
	}
	r.problems = append(r.problems, Problem{file, line, pointer, key, args})
}

func (r *report) note(file string, line int, key string, args ...any) {
	if len(r.notes) == maxNotes {
		r.moreNotes++
		return
	}
	r.notes = append(r.notes, Note{file, line, key, args})
}

// err returns the problems as one error, or nil when there are none.
func (r *report) err(op string) error {
	if len(r.problems) == 0 {
		return nil
	}
	name := r.problems[0].File
	if name == "" {
		name = "backlog"
	}
	return pawl.Fail(pawl.CodeInvalid, "backlog.malformed", name, len(r.problems)+r.more).In(op).
		Because(&Malformed{Problems: r.problems, More: r.more})
}

// clip shortens a text from outside for a message.
func clip(s string) string {
	const most = 60
	s = oneLine(s)
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}
