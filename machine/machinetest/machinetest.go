// Package machinetest holds what only the tests of the machines need: their tables as the seeds print them, and the
// generated pages.
package machinetest

import (
	"slices"
	"strings"

	"pawl/machine"
)

// Strict returns a table as its seed prints it: without the rows and the actors that the product adds.
func Strict(d machine.Description) machine.Description {
	rules := []machine.RuleDescription{}
	for _, r := range d.Rules {
		if !r.Ext {
			r.AlsoActors = []string{}
			rules = append(rules, r)
		}
	}
	d.Rules = rules
	return d
}

// Find returns the first row of a table that fits, and whether there is one.
func Find(d machine.Description, fits func(machine.RuleDescription) bool) (machine.RuleDescription, bool) {
	i := slices.IndexFunc(d.Rules, fits)
	if i < 0 {
		return machine.RuleDescription{}, false
	}
	return d.Rules[i], true
}

// Between returns the first row that leads from one state to another, and whether there is one.
func Between[S ~string](d machine.Description, from, to S) (machine.RuleDescription, bool) {
	return Find(d, func(r machine.RuleDescription) bool { return r.From == string(from) && r.To == string(to) })
}

// Events returns the events of a machine in the order of its table.
func Events[S, E ~string](m *machine.Machine[S, E]) (out []E) {
	for _, e := range m.Describe().Events {
		out = append(out, E(e.Event))
	}
	return out
}

// Group returns the states of one of the seed's groups in the order of the table.
func Group[S, E ~string](m *machine.Machine[S, E], name string) (out []S) {
	for _, s := range m.Describe().States {
		if slices.Contains(s.Groups, name) {
			out = append(out, S(s.State))
		}
	}
	return out
}

// Page returns a Markdown page on one or several machines that belong together. The texts of zh are those of Translate.
func Page(title string, zh func(id string) string, ds ...machine.Description) string {
	parts := make([]string, 0, len(ds)+1)
	parts = append(parts, "# "+title+"\n\nThis page is generated from the table in `machine/"+title+
		"` by `go test ./machine/"+title+" -update`.\n")
	for _, d := range ds {
		parts = append(parts, d.Translate(zh).Markdown())
	}
	return strings.Join(parts, "\n")
}
