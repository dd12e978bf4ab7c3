package machine

import (
	"math"
	"slices"

	"pawl"
)

// Gate is a named condition on the evidence V. Pass returns nil when the condition holds and otherwise why it does not;
// it is a pure function.
type Gate[V any] struct {
	Name        string
	Description string
	Pass        func(V) *pawl.Error
}

// Gates are the implemented gates of one machine.
type Gates[V any] []Gate[V]

// Info describes the gates for a Table.
func (g Gates[V]) Info() []GateInfo {
	out := make([]GateInfo, len(g))
	for i, x := range g {
		out[i] = GateInfo{Name: x.Name, Description: x.Description}
	}
	return out
}

// Admit tries the gates that a row names, in the row's order, and returns the first refusal with the row and the gate
// filled in, or nil when all pass. A gate that is not implemented refuses: it never counts as passed.
func Admit[S, E ~string, V any](r *Rule[S, E], g Gates[V], v V) *pawl.Error {
	for i, name := range r.Gates {
		gate := g.find(name, r.places, i)
		if gate == nil {
			return pawl.Fail(pawl.CodeInternal, "machine.gate_unknown", name).At(r.ID, name)
		}
		if err := gate.Pass(v); err != nil {
			return err.At(r.ID, name)
		}
	}
	return nil
}

// find returns the gate of a name, or nil. It looks first where the row's gate number i stands in its table, whose list
// is made of these gates.
func (g Gates[V]) find(name string, places gatePlaces, i int) *Gate[V] {
	if i < len(places) {
		if at := int(places[i]); at < len(g) && g[at].Name == name {
			return &g[at]
		}
	}
	for i := range g {
		if g[i].Name == name {
			return &g[i]
		}
	}
	return nil
}

// gatePlaces says where the first gates of a row stand in the list of their table. It only saves a search: what stands
// there may be another gate, in a table of other gates or for a name that no gate has.
type gatePlaces [3]uint8

// place fills in the places of a row.
func (t *Table[S, E]) place(r *Rule[S, E]) {
	for i, name := range r.Gates {
		at := slices.IndexFunc(t.Gates, func(g GateInfo) bool { return g.Name == name })
		if i < len(r.places) && at >= 0 && at <= math.MaxUint8 {
			r.places[i] = uint8(at)
		}
	}
}
