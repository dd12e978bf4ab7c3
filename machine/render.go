package machine

import (
	"fmt"
	"slices"
	"strings"
)

// Matrix returns what every state answers to every event, one line for each pair in the order of the table: the row's
// id and target, with the argument and the gates where there are any, or "-" for a refusal. It is a golden text: a
// change of the table shows up as a change of exactly the lines that it concerns.
func (d Description) Matrix() string {
	var b strings.Builder
	for _, s := range d.States {
		for _, e := range d.Events {
			fmt.Fprintf(&b, "%-22s %-22s %s\n", Show(s.State), e.Event, d.answer(s.State, e.Event))
		}
	}
	return b.String()
}

func (d Description) answer(from, on string) string {
	var out []string
	for _, r := range d.rulesFor(from, on) {
		cell := r.ID + " " + Show(r.To)
		if r.When != "" {
			cell += " (" + r.When + ")"
		}
		if len(r.Gates) > 0 {
			cell += " [" + strings.Join(r.Gates, ", ") + "]"
		}
		switch {
		case r.Idempotent:
			cell += " idempotent"
		case r.Ext:
			cell += " EXT"
		}
		out = append(out, cell)
	}
	if len(out) == 0 {
		return "-"
	}
	return strings.Join(out, "; ")
}

// Mermaid returns the table as a Mermaid state diagram. Rows that the product adds are marked "+". The order is that of
// the table, so that the text is the same at each call.
func (d Description) Mermaid() string {
	var b strings.Builder
	b.WriteString("stateDiagram-v2\n")
	for _, s := range d.States {
		if node(s.State) != s.State {
			fmt.Fprintf(&b, "    state %q as %s\n", Show(s.State), node(s.State))
		}
	}
	fmt.Fprintf(&b, "    [*] --> %s\n", node(d.Initial))
	for _, r := range d.Rules {
		label := r.ID + " " + r.On
		if r.When != "" {
			label += "(" + r.When + ")"
		}
		if r.Ext {
			label = "+" + label
		}
		fmt.Fprintf(&b, "    %s --> %s: %s\n", node(r.From), node(r.To), label)
	}
	for _, f := range d.Final {
		fmt.Fprintf(&b, "    %s --> [*]\n", node(f))
	}
	return b.String()
}

// node is the name of a state in a diagram or an id, where the empty name and keywords are not allowed.
func node(state string) string {
	if state == "" {
		return "unset"
	}
	return state
}

// Table returns the rows as a Markdown table.
func (d Description) Table() string {
	var b strings.Builder
	b.WriteString("| id | from | event | to | gates | actors | priority | source | description | 描述 |\n")
	b.WriteString("|---|---|---|---|---|---|---|---|---|---|\n")
	for _, r := range d.Rules {
		event := r.On
		if r.When != "" {
			event += "(" + r.When + ")"
		}
		source := r.Source
		switch {
		case r.Ext:
			source += " **EXT**"
		case r.Named:
			source += " *named*"
		}
		actors := strings.Join(r.Actors, ", ")
		if len(r.AlsoActors) > 0 {
			actors += " + " + strings.Join(r.AlsoActors, ", ")
		}
		cells := []string{r.ID, Show(r.From), event, Show(r.To), strings.Join(r.Gates, ", "), actors,
			string(r.Priority), source, r.Description, r.DescriptionZh}
		b.WriteString("| " + strings.Join(escape(cells), " | ") + " |\n")
	}
	return b.String()
}

// Markdown returns the whole description as a section of a page: states, rows, gates, diagram and matrix.
func (d Description) Markdown() string {
	var b strings.Builder
	states, seed, ext := d.Count()
	fmt.Fprintf(&b, "## %s\n\nSeed %s · %d states · %d rows of the seed · %d added rows (EXT) · starts in `%s`\n\n",
		d.Name, d.Seed, states, seed, ext, Show(d.Initial))
	b.WriteString("### States\n\n| state | name | 名称 | description | 描述 | groups | operations | |\n|---|---|---|---|---|---|---|---|\n")
	for _, s := range d.States {
		ops := make([]string, len(s.Operations))
		for i, o := range s.Operations {
			ops[i] = o.ID + " (" + o.NameZh + ")"
		}
		cells := []string{"`" + Show(s.State) + "`", s.Title, s.TitleZh, s.Description, s.DescriptionZh,
			strings.Join(s.Groups, ", "), strings.Join(ops, ", "), d.standing(s.State)}
		b.WriteString("| " + strings.Join(escape(cells), " | ") + " |\n")
	}
	b.WriteString("\n### Events\n\n| event | description | 描述 | |\n|---|---|---|---|\n")
	for _, e := range d.Events {
		named := ""
		if e.Named {
			named = "named by pawl"
		}
		b.WriteString("| " + strings.Join(escape([]string{"`" + e.Event + "`", e.Description, e.DescriptionZh, named}),
			" | ") + " |\n")
	}
	b.WriteString("\n### Rows\n\n" + d.Table())
	if len(d.Gates) > 0 {
		b.WriteString("\n### Gates\n\n| gate | passes when | 条件 |\n|---|---|---|\n")
		for _, g := range d.Gates {
			b.WriteString("| " + strings.Join(escape([]string{"`" + g.Name + "`", g.Description, g.DescriptionZh}),
				" | ") + " |\n")
		}
	}
	b.WriteString("\n### Diagram\n\n```mermaid\n" + d.Mermaid() + "```\n")
	b.WriteString("\n### Every state × every event\n\n```text\n" + d.Matrix() + "```\n")
	return b.String()
}

// standing says whether a state is final or resting.
func (d Description) standing(s string) string {
	switch {
	case slices.Contains(d.Final, s):
		return "final"
	case slices.Contains(d.Resting, s):
		return "resting"
	}
	return ""
}

// escape keeps cells from breaking out of a Markdown table.
func escape(cells []string) []string {
	for i, c := range cells {
		cells[i] = strings.ReplaceAll(strings.ReplaceAll(c, "\n", " "), "|", `\|`)
	}
	return cells
}
