package machine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"pawl"
	"pawl/machine"
	"pawl/machine/machinetest"
)

type (
	state string
	event string
	table = machine.Table[state, event]
	rule  = machine.Rule[state, event]
)

var anyone = []pawl.ActorKind{pawl.KindUser}

// door is a small table without a mistake.
func door() table {
	return table{
		Name: "door", Seed: "none", Initial: "open", Final: []state{"gone"},
		States: []machine.StateInfo[state]{{State: "open", Groups: []string{"g"}},
			{State: "shut", Groups: []string{"g"}}, {State: "gone"}},
		Events:  []machine.EventInfo[event]{{Event: "push"}, {Event: "pull"}, {Event: "burn"}},
		Gates:   []machine.GateInfo{{Name: "key"}, {Name: "no-key"}},
		Opposed: [][2]string{{"key", "no-key"}},
		Rules: []rule{
			{ID: "D1", From: "open", On: "push", To: "shut", Actors: anyone, Gates: []string{"no-key"}},
			{ID: "D2", From: "shut", On: "pull", When: "hard", To: "open", Actors: anyone, Gates: []string{"key"}},
			{ID: "D3", From: "shut", On: "pull", To: "shut", Actors: anyone, Idempotent: true},
			{ID: "D4", From: "shut", On: "burn", To: "gone", Actors: anyone,
				AlsoActors: []pawl.ActorKind{pawl.KindSystem}},
			{ID: "D5", From: "open", On: "burn", To: "gone", Actors: anyone, Ext: true},
		},
	}
}

func TestLookups(t *testing.T) {
	m := machine.New(door())
	if r, ok := m.Next("shut", "pull", "hard"); !ok || r.ID != "D2" {
		t.Errorf("Next(shut, pull, hard) = %v, %v", r, ok)
	}
	if r, ok := m.Next("shut", "pull", ""); !ok || r.ID != "D3" {
		t.Errorf("Next(shut, pull) = %v, %v", r, ok)
	}
	for _, c := range [][3]string{{"shut", "pull", "soft"}, {"open", "pull", ""}, {"gone", "push", ""}, {"", "", ""},
		{"nowhere", "push", ""}} {
		if r, ok := m.Next(state(c[0]), event(c[1]), c[2]); ok {
			t.Errorf("Next%v = %s, want a refusal", c, r.ID)
		}
	}
	if r, ok := m.Between("open", "gone"); !ok || r.ID != "D5" {
		t.Errorf("Between(open, gone) = %v, %v", r, ok)
	}
	if _, ok := m.Between("gone", "open"); ok {
		t.Error("a way out of a final state")
	}
	if r, ok := m.Rule("D4"); !ok || !r.Admits(pawl.KindSystem) || !r.Admits(pawl.KindUser) ||
		r.Admits(pawl.KindAgent) {
		t.Errorf("Rule(D4) = %v, %v", r, ok)
	}
	if _, ok := m.Rule("D9"); ok {
		t.Error("Rule(D9) exists")
	}
	if got := machinetest.Group(m, "g"); !slices.Equal(got, []state{"open", "shut"}) {
		t.Errorf("Group(g) = %v", got)
	}
	if !m.Known("gone") || m.Known("") || !m.Final("gone") {
		t.Error("Known or Final is wrong")
	}
}

func TestRefusalNamesWhatIsTaken(t *testing.T) {
	m := machine.New(door())
	for _, c := range []struct {
		from state
		on   event
		key  string
		args string
	}{
		{"open", "pull", "machine.refused", "[door open pull push, burn]"},
		{"gone", "push", "machine.final_event", "[door gone push -]"},
		{"nowhere", "push", "machine.unknown", "[door]"},
		{"open", "", "machine.unknown", "[door]"},
	} {
		err := m.Refusal(c.from, c.on)
		if err.Code != pawl.CodeInvalidTransition || err.Key != c.key || fmt.Sprint(err.Args) != c.args {
			t.Errorf("Refusal(%s, %s) = %v", c.from, c.on, err)
		}
		strict := m.StrictRefusal(c.from, c.on)
		if args := strings.Replace(c.args, ", burn", "", 1); strict.Key != c.key || fmt.Sprint(strict.Args) != args {
			t.Errorf("StrictRefusal(%s, %s) = %v", c.from, c.on, strict)
		}
	}
}

func TestStrictDropsWhatIsAdded(t *testing.T) {
	m := machine.New(door())
	s := machinetest.Strict(m.Describe())
	if _, ok := machinetest.Between(s, "open", "gone"); ok {
		t.Error("the added row is still there")
	}
	if r, ok := machinetest.Find(s, func(r machine.RuleDescription) bool { return r.ID == "D4" }); !ok ||
		slices.Contains(slices.Concat(r.Actors, r.AlsoActors), string(pawl.KindSystem)) {
		t.Error("the added actor is still there")
	}
	if r, _ := m.Rule("D4"); !r.Admits(pawl.KindSystem) || len(m.Rules()) != 5 {
		t.Error("Strict changed the machine that it was taken from")
	}
}

func TestCheckFindsEachMistake(t *testing.T) {
	if p := machine.New(door()).Describe().Check(); len(p) != 0 {
		t.Fatalf("the table is sound, but: %v", p)
	}
	for _, c := range []struct {
		want  string
		spoil func(*table)
	}{
		{"duplicate_id: D1", func(d *table) { d.Rules[1].ID = "D1" }},
		{"duplicate_rule: D2", func(d *table) {
			d.Rules[2].When = "hard"
			d.Rules[1], d.Rules[2] = d.Rules[2],
				d.Rules[1]
		}},
		{"duplicate_name: open", func(d *table) { d.States = append(d.States, d.States[0]) }},
		{"duplicate_name: burn", func(d *table) { d.Events = append(d.Events, d.Events[2]) }},
		{"duplicate_name: key", func(d *table) { d.Gates = append(d.Gates, d.Gates[0]) }},
		{"unknown_state: D4", func(d *table) { d.Rules[3].To = "ash" }},
		{"unknown_state: D2", func(d *table) { d.Rules[1].From = "ajar" }},
		{"unknown_state: nowhere", func(d *table) { d.Resting = []state{"nowhere"} }},
		{"unknown_event: D1", func(d *table) { d.Rules[0].On = "kick" }},
		{"unreachable_state: shut", func(d *table) { d.Rules = d.Rules[1:] }},
		{"unreachable_state: shut", func(d *table) { d.Rules[0].Gates = []string{"key", "no-key"} }},
		{"unreachable_by_gate: D1", func(d *table) { d.Rules[0].Gates = []string{"key", "no-key"} }},
		{"unreachable_by_gate: D2", func(d *table) { d.Rules[1].Gates = []string{"magic"} }},
		{"dead_end: gone", func(d *table) { d.Final = nil }},
		{"dead_end: shut", func(d *table) {
			d.Rules = slices.DeleteFunc(d.Rules, func(r rule) bool { return r.ID == "D2" || r.ID == "D4" })
		}},
		{"leaves_final: D1", func(d *table) { d.Final = append(d.Final, "open") }},
		{"no_actor: D3", func(d *table) { d.Rules[2].Actors = nil }},
		{"bad_idempotent: D1", func(d *table) { d.Rules[0].Idempotent = true }},
		{"unused_event: knock", func(d *table) {
			d.Events = append(d.Events,
				machine.EventInfo[event]{Event: "knock"})
		}},
		{"unused_gate: spare", func(d *table) { d.Gates = append(d.Gates, machine.GateInfo{Name: "spare"}) }},
	} {
		d := door()
		c.spoil(&d)
		found := machine.New(d).Describe().Check()
		if !slices.ContainsFunc(found, func(p machine.Problem) bool {
			return strings.Contains(p.String(), "door: "+
				c.want+":")
		}) {
			t.Errorf("want %q, found %v", c.want, found)
		}
	}
}

func TestRestingStateNeedsNoWayOut(t *testing.T) {
	d := door()
	d.Final, d.Resting = nil, []state{"gone"}
	if p := machine.New(d).Describe().Check(); len(p) != 0 {
		t.Errorf("a resting state is no dead end: %v", p)
	}
}

func TestEmptyTable(t *testing.T) {
	m := machine.New(table{Name: "empty"})
	if _, ok := m.Next("", "", ""); ok {
		t.Error("an empty table has a row")
	}
	if err := m.Refusal("", ""); err == nil {
		t.Error("an empty table refuses nothing")
	}
	if p := m.Describe().Check(); len(p) == 0 {
		t.Error("an initial state that is not there is a problem")
	}
}

func TestGates(t *testing.T) {
	g := machine.Gates[int]{
		{Name: "even", Pass: func(n int) *pawl.Error {
			if n%2 != 0 {
				return pawl.Fail(pawl.CodeGate, "machine.gate_score", n, 2)
			}
			return nil
		}},
		{Name: "small", Pass: func(n int) *pawl.Error {
			if n > 9 {
				return pawl.Fail(pawl.CodeBudget, "machine.gate_score", n, 9)
			}
			return nil
		}},
	}
	admit := func(names []string, n int) *pawl.Error {
		return machine.Admit(&machine.Rule[string, string]{ID: "X1", Gates: names}, g, n)
	}
	if err := admit([]string{"even", "small"}, 4); err != nil {
		t.Errorf("4: %v", err)
	}
	if err := admit(nil, 11); err != nil {
		t.Errorf("a row without gates refused: %v", err)
	}
	for _, c := range []struct {
		gates []string
		n     int
		gate  string
		code  pawl.Code
	}{
		{[]string{"even", "small"}, 11, "even", pawl.CodeGate},
		{[]string{"even", "small"}, 12, "small", pawl.CodeBudget},
		{[]string{"small", "even"}, 11, "small", pawl.CodeBudget},
		{[]string{"even", "missing"}, 4, "missing", pawl.CodeInternal},
	} {
		err := admit(c.gates, c.n)
		if err == nil || err.Gate != c.gate || err.Code != c.code || err.Rule != "X1" {
			t.Errorf("Admit(%v, %d) = %v", c.gates, c.n, err)
		}
	}
	// A table that lists the gates otherwise than they are implemented must not make one pass for another.
	m := machine.New(machine.Table[string, string]{
		Gates: []machine.GateInfo{{Name: "small"}, {Name: "even"}, {Name: "missing"}},
		Rules: []machine.Rule[string, string]{{ID: "X2", Gates: []string{"even"}},
			{ID: "X3", Gates: []string{"missing"}}},
	})
	for i, gate := range []string{"even", "missing"} {
		if err := machine.Admit(&m.Rules()[i], g, 3); err == nil || err.Gate != gate {
			t.Errorf("%s on 3: %v", gate, err)
		}
	}
	if err := machine.Admit(&m.Rules()[0], g, 12); err != nil {
		t.Errorf("even on 12: %v", err)
	}
}

func TestRendering(t *testing.T) {
	d := door()
	d.States = append(d.States, machine.StateInfo[state]{State: "", Unset: true, Description: "a | b\nc",
		Operations: []string{"knock"}})
	d.Rules = append(d.Rules, rule{ID: "D6", From: "", On: "push", To: "open", Actors: anyone, Named: true,
		Source: "x"})
	x := machine.New(d).Describe()
	if states, seed, ext := x.Count(); states != 3 || seed != 5 || ext != 1 {
		t.Errorf("Count = %d %d %d", states, seed, ext)
	}
	matrix := x.Matrix()
	if n := strings.Count(matrix, "\n"); n != 4*3 {
		t.Errorf("the matrix has %d lines", n)
	}
	zh := func(id string) string { return "zh of " + id }
	page := machinetest.Page("door", zh, x)
	for _, part := range []string{
		"D2 open (hard) [key]; D3 shut idempotent", "(unset)", "D5 gone EXT", "    [*] --> open\n",
		"    gone --> [*]\n",
		"    state \"(unset)\" as unset\n", "    unset --> open: D6 push\n", "    open --> gone: +D5 burn\n",
		`a \| b c`, "x *named*", "user + system",
		"| zh of door.state.unset.title | a \\| b c | zh of door.state.unset |", "| zh of door.event.burn |",
		"| zh of door.gate.key |", "| zh of door.D4 |",
		"knock (zh of door.operation.knock)",
	} {
		if !strings.Contains(page, part) {
			t.Errorf("the page lacks %q", part)
		}
	}
	if page != machinetest.Page("door", zh, machine.New(d).Describe()) {
		t.Error("two pages of one table differ")
	}
	if last := x.States[len(x.States)-1]; last.TitleZh != "" || last.Operations[0].NameZh != "" ||
		x.Rules[0].DescriptionZh != "" {
		t.Error("a translation changed the description that it was made of")
	}
}

// TestNextAgreesWithScan compares the index with the plain reading of the table, on tables of any shape.
func TestNextAgreesWithScan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom([]string{"", "a", "b", "c", "d"})
		var d table
		for _, s := range []state{"a", "b", "c"} {
			d.States = append(d.States, machine.StateInfo[state]{State: s})
			d.Events = append(d.Events, machine.EventInfo[event]{Event: event(s)})
		}
		for i := range rapid.IntRange(0, 30).Draw(t, "rows") {
			d.Rules = append(d.Rules, rule{ID: fmt.Sprint(i), From: state(name.Draw(t, "from")),
				On:   event(name.Draw(t, "on")),
				When: name.Draw(t, "when"), To: state(name.Draw(t, "to"))})
		}
		m := machine.New(d)
		from, on, when, to := state(name.Draw(t, "from")), event(name.Draw(t, "on")), name.Draw(t,
			"when"), state(name.Draw(t, "to"))
		at := slices.IndexFunc(d.Rules, func(r rule) bool { return r.From == from && r.On == on && r.When == when })
		if r, ok := m.Next(from, on, when); ok != (at >= 0) || ok && r.ID != d.Rules[at].ID {
			t.Fatalf("Next(%q, %q, %q) = %v, %v; the scan found %d", from, on, when, r, ok, at)
		}
		at = slices.IndexFunc(d.Rules, func(r rule) bool { return r.From == from && r.To == to })
		if r, ok := m.Between(from, to); ok != (at >= 0) || ok && r.ID != d.Rules[at].ID {
			t.Fatalf("Between(%q, %q) = %v, %v; the scan found %d", from, to, r, ok, at)
		}
		x := m.Describe()
		x.Check()
		x.Matrix()
	})
}

func TestLookupsDoNotAllocate(t *testing.T) {
	m := machine.New(door())
	if n := testing.AllocsPerRun(100, func() {
		m.Next("shut", "pull", "hard")
		m.Next("gone", "push", "")
		m.Between("open", "gone")
		m.Between("gone", "open")
		m.Refusal("open", "pull")
		m.Refusal("nowhere", "pull")
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
