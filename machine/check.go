package machine

import (
	"fmt"
	"slices"
)

// ProblemKind classes what Check finds. Kinds are append-only.
type ProblemKind string

// Every kind of problem.
const (
	DuplicateID       ProblemKind = "duplicate_id"
	DuplicateRule     ProblemKind = "duplicate_rule"
	DuplicateName     ProblemKind = "duplicate_name"
	UnknownState      ProblemKind = "unknown_state"
	UnknownEvent      ProblemKind = "unknown_event"
	UnreachableState  ProblemKind = "unreachable_state"
	DeadEnd           ProblemKind = "dead_end"
	LeavesFinal       ProblemKind = "leaves_final"
	UnreachableByGate ProblemKind = "unreachable_by_gate"
	UnusedEvent       ProblemKind = "unused_event"
	UnusedGate        ProblemKind = "unused_gate"
	NoActor           ProblemKind = "no_actor"
	BadIdempotent     ProblemKind = "bad_idempotent"
)

// Problem is one mistake in a table. Where names the row, state, event or gate that it is about.
type Problem struct {
	Machine string      `json:"machine"`
	Kind    ProblemKind `json:"kind"`
	Where   string      `json:"where"`
	Detail  string      `json:"detail"`
}

// String returns the problem on one line.
func (p Problem) String() string {
	return fmt.Sprintf("%s: %s: %s: %s", p.Machine, p.Kind, p.Where, p.Detail)
}

// checker collects the problems of one description.
type checker struct {
	d     Description
	found []Problem
}

// Check finds duplicate names, duplicate rows, unknown states and events, states that cannot be reached from the
// initial one, states that are neither final nor resting and have no way out, rows that leave a final state, rows that
// can never apply because of their gates (a gate that is not implemented, or two that cannot pass together), and names
// that nothing uses. A row that can never apply opens no way. The order is that of the table; nil means that nothing is
// wrong.
func (d Description) Check() []Problem {
	c := &checker{d: d}
	c.names()
	live := c.rows()
	c.ways(live)
	c.uses()
	return c.found
}

func (c *checker) add(k ProblemKind, where, format string, args ...any) {
	c.found = append(c.found, Problem{c.d.Name, k, where, fmt.Sprintf(format, args...)})
}

// names checks that states, events and gates are named once, and that the initial, final and resting states exist.
func (c *checker) names() {
	once := func(what string, names []string) {
		for i, n := range names {
			if slices.Contains(names[:i], n) {
				c.add(DuplicateName, n, "%s is listed twice", what)
			}
		}
	}
	states := c.states()
	once("state", states)
	once("event", c.events())
	once("gate", c.gates())
	for _, s := range slices.Concat([]string{c.d.Initial}, c.d.Final, c.d.Resting) {
		if !slices.Contains(states, s) {
			c.add(UnknownState, Show(s), "named as initial, final or resting, but not a state")
		}
	}
}

// rows checks each row by itself and against the earlier ones, and returns the rows that can apply.
func (c *checker) rows() []RuleDescription {
	var live []RuleDescription
	states, events := c.states(), c.events()
	for i, r := range c.d.Rules {
		ok := c.gatesOf(r)
		for _, e := range c.d.Rules[:i] {
			if e.ID == r.ID {
				c.add(DuplicateID, r.ID, "two rows have this id")
			}
			if e.From == r.From && e.On == r.On && e.When == r.When {
				c.add(DuplicateRule, r.ID, "%s already answers %s in %s", e.ID, r.On, Show(r.From))
				ok = false
			}
		}
		for _, s := range []string{r.From, r.To} {
			if !slices.Contains(states, s) {
				c.add(UnknownState, r.ID, "%s is not a state", Show(s))
				ok = false
			}
		}
		if !slices.Contains(events, r.On) {
			c.add(UnknownEvent, r.ID, "%s is not an event", Show(r.On))
			ok = false
		}
		if slices.Contains(c.d.Final, r.From) {
			c.add(LeavesFinal, r.ID, "leaves final state %s", Show(r.From))
		}
		if len(r.Actors) == 0 {
			c.add(NoActor, r.ID, "nobody may cause it")
		}
		if r.Idempotent && r.From != r.To {
			c.add(BadIdempotent, r.ID, "marked idempotent, but moves from %s to %s", Show(r.From), Show(r.To))
		}
		if ok {
			live = append(live, r)
		}
	}
	return live
}

// gatesOf reports whether the gates of a row can all pass.
func (c *checker) gatesOf(r RuleDescription) bool {
	ok, known := true, c.gates()
	for _, g := range r.Gates {
		if !slices.Contains(known, g) {
			c.add(UnreachableByGate, r.ID, "gate %s is not implemented", g)
			ok = false
		}
	}
	for _, pair := range c.d.Opposed {
		if slices.Contains(r.Gates, pair[0]) && slices.Contains(r.Gates, pair[1]) {
			c.add(UnreachableByGate, r.ID, "gates %s and %s can never pass together", pair[0], pair[1])
			ok = false
		}
	}
	return ok
}

// ways checks that every state can be reached and, unless it is final or resting, left.
func (c *checker) ways(live []RuleDescription) {
	reached := []string{c.d.Initial}
	for i := 0; i < len(reached); i++ {
		for _, r := range live {
			if r.From == reached[i] && !slices.Contains(reached, r.To) {
				reached = append(reached, r.To)
			}
		}
	}
	for _, s := range c.states() {
		if !slices.Contains(reached, s) {
			c.add(UnreachableState, Show(s), "no way leads here from %s", Show(c.d.Initial))
		}
		out := slices.ContainsFunc(live, func(r RuleDescription) bool { return r.From == s && r.To != s })
		if !out && !slices.Contains(c.d.Final, s) && !slices.Contains(c.d.Resting, s) {
			c.add(DeadEnd, Show(s), "neither final nor resting, and no way leads out")
		}
	}
}

// uses checks that every event and gate is named by a row.
func (c *checker) uses() {
	for _, e := range c.events() {
		if !slices.ContainsFunc(c.d.Rules, func(r RuleDescription) bool { return r.On == e }) {
			c.add(UnusedEvent, e, "no row answers it")
		}
	}
	for _, g := range c.gates() {
		if !slices.ContainsFunc(c.d.Rules, func(r RuleDescription) bool { return slices.Contains(r.Gates, g) }) {
			c.add(UnusedGate, g, "no row names it")
		}
	}
}

func (c *checker) states() []string {
	return pluck(c.d.States, func(s StateDescription) string { return s.State })
}
func (c *checker) events() []string {
	return pluck(c.d.Events, func(e EventDescription) string { return e.Event })
}
func (c *checker) gates() []string {
	return pluck(c.d.Gates, func(g GateDescription) string { return g.Name })
}

func pluck[T any](in []T, name func(T) string) []string {
	out := make([]string, len(in))
	for i, x := range in {
		out[i] = name(x)
	}
	return out
}
