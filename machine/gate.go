package machine

import "pawl"

// Gate is a named condition on the evidence V. Pass returns nil when the condition holds and otherwise why it does not; it
// is a pure function.
type Gate[V any] struct {
	Name                       string
	Description, DescriptionZh string
	Pass                       func(V) *pawl.Error
}

// Gates are the implemented gates of one machine.
type Gates[V any] []Gate[V]

// Info describes the gates for a Table.
func (g Gates[V]) Info() []GateInfo {
	out := make([]GateInfo, len(g))
	for i, x := range g {
		out[i] = GateInfo{Name: x.Name, Description: x.Description, DescriptionZh: x.DescriptionZh}
	}
	return out
}

// Admit tries the gates that a row names, in the row's order, and returns the first refusal with the row and the gate
// filled in, or nil when all pass. A gate that is not implemented refuses: it never counts as passed.
func (g Gates[V]) Admit(rule string, names []string, v V) *pawl.Error {
	for _, name := range names {
		if err := g.try(name, v); err != nil {
			return err.At(rule, name)
		}
	}
	return nil
}

func (g Gates[V]) try(name string, v V) *pawl.Error {
	for i := range g {
		if g[i].Name == name {
			return g[i].Pass(v)
		}
	}
	return pawl.Fail(pawl.CodeInternal, "machine.gate_unknown", name)
}
