package machine

import (
	"slices"
	"strings"
)

// Description is a table without its type parameters: what commands list, show, check and export, alike for every
// machine. It is a copy; changing it changes no machine. Its JSON form is part of the command line's contract. The
// Chinese fields are empty until Translate fills them in.
type Description struct {
	Name    string             `json:"name"`
	Seed    string             `json:"seed"`
	Initial string             `json:"initial"`
	Final   []string           `json:"final"`
	Resting []string           `json:"resting"`
	States  []StateDescription `json:"states"`
	Events  []EventDescription `json:"events"`
	Gates   []GateDescription  `json:"gates"`
	Opposed [][2]string        `json:"opposed_gates"`
	Rules   []RuleDescription  `json:"rules"`
}

// StateDescription is a StateInfo without its type parameter.
type StateDescription struct {
	State         string      `json:"state"`
	Title         string      `json:"title"`
	TitleZh       string      `json:"title_zh"`
	Description   string      `json:"description"`
	DescriptionZh string      `json:"description_zh"`
	Groups        []string    `json:"groups"`
	Operations    []Operation `json:"operations"`
	Unset         bool        `json:"unset"`
}

// Operation is something that a state lets a person do: a stable id and its name in the seed's language.
type Operation struct {
	ID     string `json:"id"`
	NameZh string `json:"name_zh"`
}

// EventDescription is an EventInfo without its type parameter.
type EventDescription struct {
	Event         string `json:"event"`
	Description   string `json:"description"`
	DescriptionZh string `json:"description_zh"`
	Named         bool   `json:"named"`
}

// GateDescription is a GateInfo with room for its Chinese.
type GateDescription struct {
	Name          string `json:"name"`
	Description   string `json:"description"`
	DescriptionZh string `json:"description_zh"`
}

// RuleDescription is a Rule without its type parameters.
type RuleDescription struct {
	ID            string   `json:"id"`
	From          string   `json:"from"`
	On            string   `json:"on"`
	When          string   `json:"when"`
	To            string   `json:"to"`
	Gates         []string `json:"gates"`
	Actors        []string `json:"actors"`
	AlsoActors    []string `json:"also_actors"`
	Priority      Priority `json:"priority"`
	Description   string   `json:"description"`
	DescriptionZh string   `json:"description_zh"`
	Source        string   `json:"source"`
	Ext           bool     `json:"ext"`
	Named         bool     `json:"named"`
	Idempotent    bool     `json:"idempotent"`
}

// Describe returns the machine's table without type parameters. Lists are never nil, so that JSON shows [] and not
// null.
func (m *Machine[S, E]) Describe() Description {
	t := m.table
	d := Description{
		Name: t.Name, Seed: t.Seed, Initial: string(t.Initial),
		Final: strs(t.Final), Resting: strs(t.Resting),
		Gates:   make([]GateDescription, 0, len(t.Gates)),
		Opposed: append([][2]string{}, t.Opposed...),
		States:  make([]StateDescription, 0, len(t.States)),
		Events:  make([]EventDescription, 0, len(t.Events)),
		Rules:   make([]RuleDescription, 0, len(t.Rules)),
	}
	for _, s := range t.States {
		operations := make([]Operation, len(s.Operations))
		for i, id := range s.Operations {
			operations[i].ID = id
		}
		d.States = append(d.States, StateDescription{
			State: string(s.State), Title: s.Title, Description: s.Description, Groups: strs(s.Groups),
			Operations: operations, Unset: s.Unset,
		})
	}
	for _, e := range t.Events {
		d.Events = append(d.Events, EventDescription{Event: string(e.Event), Description: e.Description,
			Named: e.Named})
	}
	for _, g := range t.Gates {
		d.Gates = append(d.Gates, GateDescription{Name: g.Name, Description: g.Description})
	}
	for _, r := range m.Rules() {
		d.Rules = append(d.Rules, RuleDescription{
			ID: r.ID, From: string(r.From), On: string(r.On), When: r.When, To: string(r.To), Gates: strs(r.Gates),
			Actors: strs(r.Actors), AlsoActors: strs(r.AlsoActors), Priority: r.Priority, Description: r.Description,
			Source: r.Source, Ext: r.Ext, Named: r.Named, Idempotent: r.Idempotent,
		})
	}
	return d
}

// Translate returns the description with its Chinese texts. They stand in the catalogue of texts, of which machines
// know nothing: zh returns the one of an id, or "" where there is none. Ids begin with the name of the machine, or with
// that of the table for states, and say what it is about: "task.T1", "board.run.state.pending" and its ".title",
// "task.event.APPROVE", "task.gate.lease", "session.operation.pause".
func (d Description) Translate(zh func(id string) string) Description {
	family, _, _ := strings.Cut(d.Name, ".")
	d.States, d.Events, d.Gates, d.Rules = slices.Clone(d.States), slices.Clone(d.Events), slices.Clone(d.Gates),
		slices.Clone(d.Rules)
	for i := range d.States {
		s := &d.States[i]
		id := d.Name + ".state." + node(s.State)
		s.TitleZh, s.DescriptionZh = zh(id+".title"), zh(id)
		s.Operations = slices.Clone(s.Operations)
		for j := range s.Operations {
			s.Operations[j].NameZh = zh(family + ".operation." + s.Operations[j].ID)
		}
	}
	for i := range d.Events {
		d.Events[i].DescriptionZh = zh(family + ".event." + d.Events[i].Event)
	}
	for i := range d.Gates {
		d.Gates[i].DescriptionZh = zh(family + ".gate." + d.Gates[i].Name)
	}
	for i := range d.Rules {
		d.Rules[i].DescriptionZh = zh(family + "." + d.Rules[i].ID)
	}
	return d
}

// Count returns the numbers that a check reports: states (without one that stands for "unset"), rows of the seed, and
// rows that the product adds.
func (d Description) Count() (states, seed, ext int) {
	for _, s := range d.States {
		if !s.Unset {
			states++
		}
	}
	for _, r := range d.Rules {
		if r.Ext {
			ext++
		} else {
			seed++
		}
	}
	return states, seed, ext
}

// rulesFor returns the rows of one state and event, in the order of the table.
func (d Description) rulesFor(from, on string) []RuleDescription {
	return slices.DeleteFunc(slices.Clone(d.Rules), func(r RuleDescription) bool {
		return r.From != from ||
			r.On != on
	})
}

func strs[T ~string](in []T) []string {
	out := make([]string, len(in))
	for i, s := range in {
		out[i] = string(s)
	}
	return out
}
