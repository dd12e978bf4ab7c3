package triage

import (
	"strings"
	"unicode"

	"pawl"
)

// maxIssues bounds the problems that one error lists; Malformed.More counts the rest.
const maxIssues = 20

// Issue is one problem of a document: the path of its field, "" for the whole, and the message of the catalogue.
type Issue struct {
	Field string
	Key   string
	Args  []any
}

// Malformed is the cause of every error about the contents of an evaluation. It lists at most 20 problems; More counts those
// that it leaves out.
type Malformed struct {
	Issues []Issue
	More   int
}

func (m *Malformed) flaws() pawl.Flaws {
	out := pawl.Flaws{More: m.More}
	for _, i := range m.Issues {
		out.List = append(out.List, pawl.Flaw{Place: i.place(), Key: i.Key, Args: i.Args})
	}
	return out
}

// Error returns the technical form: every problem with its place, its key and its arguments. A model that is asked again is
// shown this text.
func (m *Malformed) Error() string { return m.flaws().String() }

func (i Issue) place() string {
	if i.Field == "" {
		return "evaluation"
	}
	return i.Field
}

// Unwrap returns each problem as an error that the message catalogue can render: its place, caused by what is wrong there.
func (m *Malformed) Unwrap() []error { return m.flaws().Causes("triage.at") }

// clip keeps words short enough for a message and free of what a terminal would obey.
func clip(s string) string {
	s = strings.Map(func(r rune) rune {
		if unseen(r) {
			return '·'
		}
		return r
	}, strings.Join(strings.Fields(s), " "))
	if r := []rune(s); len(r) > 60 {
		return string(r[:59]) + "…"
	}
	return s
}

// unseen reports whether a character cannot be seen, or changes how others are seen.
func unseen(r rune) bool {
	return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == unicode.ReplacementChar)
}
