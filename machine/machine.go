// Package machine is the one engine behind pawl's five state machines. A machine is data: a Table of states, events and
// rows. The engine looks rows up, refuses what no row allows, checks tables for mistakes, and renders them for people.
//
// The package is pure: it reads no clock and no file, starts nothing, and keeps no state besides the tables themselves.
// Whether a row's gates pass is decided by pure functions over evidence (Gates); carrying a move out is the kernel's
// work. A Machine is immutable after New and safe for concurrent use.
package machine

import (
	"slices"
	"strings"
	"sync"

	"pawl"
)

// Priority grades a row as docs/spec/task.md#s3 does. It is empty in machines whose seed grades nothing.
type Priority string

// The seed's three grades.
const (
	High   Priority = "HIGH"
	Medium Priority = "MEDIUM"
	Low    Priority = "LOW"
)

// Rule is one row: from one state, on one event, to one state. (From, On, When) is unique within a table. Rows handed
// out by a Machine are shared and must not be changed.
type Rule[S, E ~string] struct {
	// ID is the row's name for ever, alike in audit records, errors, diagrams and tests.
	ID   string
	From S
	On   E
	// When is the argument of the event that tells rows with the same state and event apart, such as "yes" and "no" of
	// a confirmation. It is empty where the event needs none, and is then matched by the empty argument only.
	When string
	To   S
	// Gates names the conditions that must all hold; each is one of the table's Gates.
	Gates  []string
	places gatePlaces
	// Actors are those whom the seed lets cause the move, AlsoActors those whom the product admits besides.
	Actors, AlsoActors []pawl.ActorKind
	Priority           Priority
	// Description says when the row applies. Its Chinese, like that of all that a table says, stands in the catalogue
	// of texts (Description.Translate).
	Description string
	// Source is the section of the seed, or the resolution, that the row comes from; docs/spec/README.md#sources says
	// how it is read.
	Source string
	// Ext marks a row that the product adds to its seed; Strict drops such rows.
	Ext bool
	// Named marks a row whose states are the seed's and whose event the product had to name.
	Named bool
	// Idempotent marks a row that keeps the state and writes nothing: no state, no audit record, no event.
	Idempotent bool
}

// Admits reports whether an actor of the given kind may cause the row. Automation may where the user may: whether its
// word is enough is for who takes the word to say.
func (r *Rule[S, E]) Admits(k pawl.ActorKind) bool {
	if k == pawl.KindAutomation {
		k = pawl.KindUser
	}
	return slices.Contains(r.Actors, k) || slices.Contains(r.AlsoActors, k)
}

// StateInfo describes one state for people.
type StateInfo[S ~string] struct {
	State              S
	Title, Description string
	// Groups names the seed's groups that the state belongs to.
	Groups []string
	// Operations are the stable ids of what a person may do in the state, as the seed lists them.
	Operations []string
	// Unset marks the stand-in for "no state at all". It is shown as "(unset)" and not counted as a state.
	Unset bool
}

// EventInfo describes one event for people.
type EventInfo[E ~string] struct {
	Event       E
	Description string
	// Named marks an event that the seed describes without a name, or that the product adds.
	Named bool
}

// GateInfo describes one gate for people.
type GateInfo struct {
	Name, Description string
}

// Table is a machine as data.
type Table[S, E ~string] struct {
	// Name is the machine's qualified name, such as "task" or "board.issue"; Seed the number of its seed document.
	Name, Seed string
	Initial    S
	// Final states have no way out. Resting states stop the work until somebody acts; they may have ways out.
	Final, Resting []S
	States         []StateInfo[S]
	Events         []EventInfo[E]
	// Gates are the implemented gates; a row that names another one can never apply.
	Gates []GateInfo
	// Opposed lists pairs of gates that can never pass together.
	Opposed [][2]string
	Rules   []Rule[S, E]
}

// Machine answers questions about a table without searching or allocating; only the first question builds the index.
type Machine[S, E ~string] struct {
	table Table[S, E]
	once  sync.Once
	index index[S, E]
}

// index is what a machine looks up: the rows that leave each state, and the error for each event in each state, in the
// order of the table. Single rows are found without a map, which would take longer than the gates of the row that it
// finds.
type index[S, E ~string] struct {
	from     map[S][]*Rule[S, E]
	byEvent  cells[S, E]
	byTarget cells[S, E]
	refusals map[S][]pawl.Error
	unknown  *pawl.Error
}

// New makes a machine of a table. It accepts any table, so that Check can report what is wrong with it; where two rows
// claim the same (From, On, When), the first wins. The table belongs to the machine from then on. New itself does next
// to nothing, because every start of a program pays for it; the index is built when it is first needed.
func New[S, E ~string](t Table[S, E]) *Machine[S, E] { return &Machine[S, E]{table: t} }

// indexed returns the index.
func (m *Machine[S, E]) indexed() *index[S, E] {
	m.once.Do(func() {
		m.index = index[S, E]{
			from:     make(map[S][]*Rule[S, E], len(m.table.States)),
			byEvent:  makeCells[S, E](len(m.table.Rules)),
			byTarget: makeCells[S, E](len(m.table.Rules)),
			refusals: make(map[S][]pawl.Error, len(m.table.States)),
			unknown:  pawl.Fail(pawl.CodeInvalidTransition, "machine.unknown", m.table.Name),
		}
		for i := range m.table.Rules {
			r := &m.table.Rules[i]
			m.table.place(r)
			m.index.from[r.From] = append(m.index.from[r.From], r)
			m.index.byEvent.put(spot(ends(r.From), ends(r.On)), r)
			m.index.byTarget.put(spot(ends(r.From), ends(r.To)), r)
		}
		m.refuseAll()
	})
	return &m.index
}

// refuseAll builds the error for every event in every state; the errors of one state share their memory. A final state
// has a message of its own, because no other event would help there.
func (m *Machine[S, E]) refuseAll() {
	events := make([]any, len(m.table.Events))
	for i, e := range m.table.Events {
		events[i] = string(e.Event)
	}
	var name any = m.table.Name
	for _, s := range m.table.States {
		key, from, ways := "machine.refused", any(Show(s.State)), any(m.ways(s.State, false))
		if m.Final(s.State) {
			key = "machine.final_event"
		}
		row := make([]pawl.Error, len(events))
		args := make([]any, 0, 4*len(events))
		for i, on := range events {
			at := len(args)
			args = append(args, name, from, on, ways)
			row[i] = pawl.Error{Code: pawl.CodeInvalidTransition, Key: key, Args: args[at:len(args):len(args)]}
		}
		m.index.refusals[s.State] = row
	}
}

// ways lists the events that a state takes, each once, in the order of the table. Strict leaves out those that only
// rows of pawl's own take.
func (m *Machine[S, E]) ways(from S, strict bool) string {
	var out []string
	for _, r := range m.index.from[from] {
		if !slices.Contains(out, string(r.On)) && !(strict && r.Ext) {
			out = append(out, string(r.On))
		}
	}
	if len(out) == 0 {
		return "-"
	}
	return strings.Join(out, ", ")
}

// Name returns the machine's qualified name.
func (m *Machine[S, E]) Name() string { return m.table.Name }

// Initial returns the state that a new object starts in.
func (m *Machine[S, E]) Initial() S { return m.table.Initial }

// Next returns the row for an event and its argument in a state, and whether there is one. It does not allocate.
func (m *Machine[S, E]) Next(from S, on E, when string) (*Rule[S, E], bool) {
	rows := m.indexed().byEvent
	for at := spot(ends(from), ends(on)); ; at++ {
		r := rows.at(at)
		if r == nil {
			return nil, false
		}
		if r.On == on && r.From == from && (len(r.When)+len(when) == 0 || r.When == when) {
			return r, true
		}
	}
}

// Between returns the first row that leads from one state to another, and whether there is one. It does not allocate.
func (m *Machine[S, E]) Between(from, to S) (*Rule[S, E], bool) {
	rows := m.indexed().byTarget
	for at := spot(ends(from), ends(to)); ; at++ {
		r := rows.at(at)
		if r == nil {
			return nil, false
		}
		if r.To == to && r.From == from {
			return r, true
		}
	}
}

// From returns the rows that leave a state, in the order of the table. The slice is shared and must not be changed.
func (m *Machine[S, E]) From(from S) []*Rule[S, E] { return m.indexed().from[from] }

// Rule returns the row with an id, and whether there is one.
func (m *Machine[S, E]) Rule(id string) (*Rule[S, E], bool) {
	m.indexed()
	for i := range m.table.Rules {
		if m.table.Rules[i].ID == id {
			return &m.table.Rules[i], true
		}
	}
	return nil, false
}

// Refusal returns the error for an event that Next has no row for: code invalid_transition, naming the machine, the
// state, the event and the events that the state takes instead. The error is built once and shared: it must not be
// changed, and the copying methods of pawl.Error are to be used to add to it. It does not allocate.
func (m *Machine[S, E]) Refusal(from S, on E) *pawl.Error {
	x := m.indexed()
	row := x.refusals[from]
	for i := range row {
		if m.table.Events[i].Event == on {
			return &row[i]
		}
	}
	return x.unknown
}

// StrictRefusal is Refusal where the rows do not count that pawl adds to the seeds.
func (m *Machine[S, E]) StrictRefusal(from S, on E) *pawl.Error {
	e := *m.Refusal(from, on)
	if e.Key == "machine.refused" {
		e.Args = append(slices.Clone(e.Args[:3]), m.ways(from, true))
	}
	return &e
}

// Known reports whether s is a state of the machine.
func (m *Machine[S, E]) Known(s S) bool { _, ok := m.indexed().refusals[s]; return ok }

// Final reports whether no row may leave s.
func (m *Machine[S, E]) Final(s S) bool { return slices.Contains(m.table.Final, s) }

// States returns the states in the order of the table, including one that stands for "unset".
func (m *Machine[S, E]) States() []S {
	out := make([]S, len(m.table.States))
	for i, s := range m.table.States {
		out[i] = s.State
	}
	return out
}

// Rules returns the rows in the order of the table. The slice is shared and must not be changed.
func (m *Machine[S, E]) Rules() []Rule[S, E] {
	m.indexed()
	return m.table.Rules
}

// Move takes a state along the row for an event and its argument, if admit lets it; the state stays as it is on an
// error.
func (m *Machine[S, E]) Move(at *S, on E, when string, admit func(*Rule[S, E]) *pawl.Error) *pawl.Error {
	row, ok := m.Next(*at, on, when)
	if !ok {
		return m.Refusal(*at, on)
	}
	if err := admit(row); err != nil {
		return err
	}
	*at = row.To
	return nil
}

// Settle gives a state that was read from a document its value where that is not spelled out: another one than the
// initial state, if an earlier version says by a flag that it was in that, and otherwise the initial one.
func (m *Machine[S, E]) Settle(at *S, flag bool, other S) {
	if flag {
		*at = other
	} else if *at == "" {
		*at = m.table.Initial
	}
}

// Show returns a state or an event as it is shown to people: the empty one as "(unset)".
func Show[T ~string](s T) string {
	if s == "" {
		return "(unset)"
	}
	return string(s)
}
