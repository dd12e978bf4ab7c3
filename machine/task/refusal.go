package task

import (
	"slices"
	"strings"
	"sync"

	"pawl"
)

// refusals holds an error for each of the 72 pairs of states between which no transition leads, and nil elsewhere.
var refusals = sync.OnceValue(buildRefusals)

// unknownState answers for text that is no state at all.
var unknownState = sync.OnceValue(func() *pawl.Error {
	return pawl.Fail(pawl.CodeInvalidTransition, "machine.unknown",
		"task")
})

// Refusal returns why no transition leads from one state to another: code invalid_transition and a message that names
// the reason and the moves that are legal instead. It returns nil for the legal moves and for a state to itself. The
// errors are built once and shared: they must not be changed, and the copying methods of pawl.Error add to them.
// Refusal does not allocate.
func Refusal(from, to State) *pawl.Error {
	i, j := ordinal(from), ordinal(to)
	if i < 0 || j < 0 {
		return unknownState()
	}
	return refusals()[i][j]
}

// ways holds, for each state by its ordinal, the other states that it can move to.
type ways [len(order)][]State

func buildRefusals() *[len(order)][len(order)]*pawl.Error {
	var out [len(order)][len(order)]*pawl.Error
	var w ways
	for i, from := range order {
		for _, r := range Table.From(from) {
			if r.To != from && !slices.Contains(w[i], r.To) {
				w[i] = append(w[i], r.To)
			}
		}
	}
	for i, from := range order {
		for j, to := range order {
			if from != to && !slices.Contains(w[i], to) {
				out[i][j] = w.refuse(from, to)
			}
		}
	}
	return &out
}

// refuse picks the reason for a pair without a transition, from the most certain to the most general.
func (w *ways) refuse(from, to State) *pawl.Error {
	fail := func(key string, about ...State) *pawl.Error {
		return pawl.Fail(pawl.CodeInvalidTransition, key, string(from), string(to), list(about), list(w[ordinal(from)]))
	}
	switch {
	case from.Final():
		return fail("machine.task_final")
	case from.Terminal():
		return fail("machine.task_resting")
	case to == Draft:
		return fail("machine.task_to_draft")
	case from == Verified:
		return fail("machine.task_verified")
	}
	skipped := w.between(from, to)
	switch {
	case forward(from, to, skipped):
		return fail("machine.task_skips", skipped...)
	case to.Terminal():
		return fail("machine.task_sources", w.sources(to)...)
	default:
		return fail("machine.task_backward")
	}
}

// forward reports whether the target and the states on the way to it all lie ahead of from, so that a direct move would
// skip them.
func forward(from, to State, way []State) bool {
	return len(way) > 0 && ordinal(to) > ordinal(from) &&
		!slices.ContainsFunc(way, func(s State) bool { return ordinal(s) <= ordinal(from) })
}

// between returns the states on the shortest legal way from one state to another, without both ends.
func (w *ways) between(from, to State) []State {
	open := [][]State{{from}}
	seen := []State{from}
	for len(open) > 0 {
		way := open[0]
		open = open[1:]
		for _, next := range w[ordinal(way[len(way)-1])] {
			if next == to {
				return way[1:]
			}
			if !slices.Contains(seen, next) {
				seen = append(seen, next)
				open = append(open, append(slices.Clone(way), next))
			}
		}
	}
	return nil
}

// sources returns the states that can move to a state.
func (w *ways) sources(to State) (out []State) {
	for i, from := range order {
		if slices.Contains(w[i], to) {
			out = append(out, from)
		}
	}
	return out
}

func list(states []State) string {
	if len(states) == 0 {
		return "-"
	}
	out := make([]string, len(states))
	for i, s := range states {
		out[i] = string(s)
	}
	return strings.Join(out, ", ")
}
