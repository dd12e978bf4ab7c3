package backlog

import (
	"cmp"

	"pawl"
)

const maxNotes = 100

// report gathers problems and notes up to their limits.
type report struct {
	problems  pawl.Problems
	notes     []Note
	moreNotes int
}

func (r *report) problem(file string, line int, pointer, key string, args ...any) {
	r.problems.Add(pawl.Problem{File: file, Line: line, Field: pointer, Key: key, Args: args})
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
	found := &r.problems
	if len(found.List) == 0 {
		return nil
	}
	name := cmp.Or(found.List[0].File, "backlog")
	found.At, found.Whole = "backlog.at", "backlog"
	return pawl.Fail(pawl.CodeInvalid, "backlog.malformed", name, found.Total()).In(op).Because(found)
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
