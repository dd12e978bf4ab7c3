// Package machines is `pawl machine`: the published tables, and whether they hold.
package machines

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"pawl"
	"pawl/face/cli"
	"pawl/face/cli/term"
	"pawl/kernel/joint"
	"pawl/machine"
	"pawl/machine/board"
	"pawl/machine/session"
	"pawl/machine/task"
	"pawl/machine/turn"
	"pawl/machine/workflow"
	"pawl/text/message"
)

// Entries are the commands of the first level.
func Entries() []cli.Entry {
	return []cli.Entry{
		{Name: "machine", Group: "look", Build: newMachineCommand},
	}
}

// family is one of the five machines; the workflow and the board are made of several tables.
type family struct {
	name   string
	tables []machine.Description
}

// families are the five machines in the order of their seeds.
func families() []family {
	return []family{
		{"session", session.Describe()}, {"turn", turn.Describe()}, {"workflow", workflow.Describe()}, {"task",
			task.Describe()}, {"board", board.Describe()},
	}
}

// strictly leaves out the rows that pawl adds to the seed, and the actors.
func strictly(d machine.Description) machine.Description {
	d.Rules = slices.DeleteFunc(slices.Clone(d.Rules), func(r machine.RuleDescription) bool { return r.Ext })
	for i := range d.Rules {
		d.Rules[i].AlsoActors = []string{}
	}
	return d
}

func newMachineCommand(a *cli.App) *cobra.Command {
	return a.Group("machine", "cli.machine", newMachineListCommand(a), newMachineShowCommand(a),
		newMachineCheckCommand(a))
}

// machineLine is one line of `pawl machine list`.
type machineLine struct {
	Name    string `json:"name"`
	Table   string `json:"table"`
	Seed    string `json:"seed"`
	States  int    `json:"states"`
	Rows    int    `json:"seed_rows"`
	Added   int    `json:"added_rows"`
	Initial string `json:"initial"`
}

func newMachineListCommand(a *cli.App) *cobra.Command {
	return a.Command("list", "cli.machine.list", "  pawl machine list", cli.Exactly(0),
		func(*cobra.Command, []string) error {
			var lines []machineLine
			for _, f := range families() {
				for _, d := range f.tables {
					states, seed, ext := d.Count()
					lines = append(lines, machineLine{f.name, d.Name, d.Seed, states, seed, ext,
						machine.Show(d.Initial)})
				}
			}
			if a.JSON {
				return a.PrintJSON(lines)
			}
			var t term.Table
			t.Painted(a.Style.Dim, a.Text("cli.machine.name"), a.Text("cli.machine.seed"), a.Text("cli.machine.states"),
				a.Text("cli.machine.rows"), a.Text("cli.machine.added"), a.Text("cli.machine.initial"))
			for _, l := range lines {
				t.Row(l.Table, l.Seed, fmt.Sprint(l.States), fmt.Sprint(l.Rows), fmt.Sprint(l.Added), l.Initial)
			}
			a.SayTable(&t, 0)
			return nil
		})
}

func newMachineShowCommand(a *cli.App) *cobra.Command {
	var format string
	var strict bool
	c := a.Command("show MACHINE", "cli.machine.show",
		"  pawl machine show task\n  pawl machine show session --format mermaid", cli.Exactly(1), nil)
	c.RunE = func(_ *cobra.Command, args []string) error {
		tables, err := named(args[0])
		if err != nil {
			return err
		}
		if strict {
			for i := range tables {
				tables[i] = strictly(tables[i])
			}
		}
		if a.JSON {
			format = "json"
		}
		return showMachine(a.Printer, tables, format)
	}
	c.Flags().StringVar(&format, "format", "table", a.Text("cli.flag.format"))
	c.Flags().BoolVar(&strict, "strict", false, a.Text("cli.flag.strict"))
	return c
}

// named finds the tables of a machine, or one table of several.
func named(name string) ([]machine.Description, error) {
	var names []string
	for _, f := range families() {
		for _, d := range f.tables {
			if d.Name == name {
				return []machine.Description{d}, nil
			}
		}
		if f.name == name {
			return f.tables, nil
		}
		names = append(names, f.name)
	}
	return nil, pawl.Fail(pawl.CodeNotFound, "cli.machine.unknown", name, strings.Join(names, ", "))
}

func showMachine(pr *cli.Printer, tables []machine.Description, format string) error {
	for i := range tables {
		tables[i] = tables[i].Translate(message.Translation)
	}
	switch format {
	case "json":
		if len(tables) == 1 {
			return pr.PrintJSON(tables[0])
		}
		return pr.PrintJSON(tables)
	case "mermaid", "matrix":
		for _, d := range tables {
			text := d.Mermaid()
			if format == "matrix" {
				text = d.Matrix()
			}
			if _, err := pr.Std.Out.Write([]byte(text)); err != nil {
				return err
			}
		}
	case "table":
		for _, d := range tables {
			machineTable(pr, d)
		}
	default:
		return cli.Usage("cli.flag_invalid", format, "--format", "table|mermaid|json|matrix")
	}
	return nil
}

// machineTable prints states and rows in aligned columns.
func machineTable(pr *cli.Printer, d machine.Description) {
	states, seed, ext := d.Count()
	pr.Say(pr.Style.Bold(d.Name) + "  " + pr.Style.Dim(pr.Text("cli.machine.head", d.Seed, states, seed, ext)))
	pr.Say("")
	var t term.Table
	for _, s := range d.States {
		t.Row("  "+machine.Show(s.State), pr.Choose(s.Title, s.TitleZh), pr.Choose(s.Description, s.DescriptionZh))
	}
	pr.SayTable(&t, pr.Std.Width)
	pr.Say("")
	t = term.Table{}
	for _, r := range d.Rules {
		on := r.On
		if r.When != "" {
			on += "(" + r.When + ")"
		}
		id := r.ID
		if r.Ext {
			id += "+"
		}
		t.Row("  "+id, machine.Show(r.From)+" "+pr.Style.To()+" "+machine.Show(r.To), on, strings.Join(r.Gates, ", "),
			strings.Join(slices.Concat(r.Actors, r.AlsoActors), ", "))
	}
	pr.SayTable(&t, 0)
	pr.Say("")
}

func newMachineCheckCommand(a *cli.App) *cobra.Command {
	var strict bool
	c := a.Command("check", "cli.machine.check", "  pawl machine check\n  pawl machine check --strict", cli.Exactly(0),
		nil)
	c.RunE = func(*cobra.Command, []string) error { return checkMachines(a.Printer, strict) }
	c.Flags().BoolVar(&strict, "strict", false, a.Text("cli.flag.strict"))
	return c
}

// checkMachines checks every table, and walks the machine that they make together.
func checkMachines(pr *cli.Printer, strict bool) error {
	problems := []machine.Problem{}
	var lines []machineLine
	for _, f := range families() {
		for _, d := range f.tables {
			// What only added rows use is no mistake of the seed's part, so the table is checked as a whole.
			problems = append(problems, d.Check()...)
			if strict {
				d = strictly(d)
			}
			states, seed, ext := d.Count()
			lines = append(lines, machineLine{f.name, d.Name, d.Seed, states, seed, ext, machine.Show(d.Initial)})
		}
	}
	joint := joint.Explore()
	wrong := len(problems) + len(joint.DeadEnds) + len(joint.Trapped) + len(joint.Unreachable)
	if pr.JSON {
		if err := pr.PrintJSON(map[string]any{"machines": lines, "problems": problems, "joint": joint}); err != nil {
			return err
		}
	} else {
		checkText(pr, lines, problems, joint, wrong)
	}
	if wrong > 0 {
		return cli.Shown(pawl.Fail(pawl.CodeInvalid, "cli.machine.problems", wrong))
	}
	return nil
}

func checkText(pr *cli.Printer, lines []machineLine, problems []machine.Problem, joint joint.Exploration, wrong int) {
	for _, l := range lines {
		pr.Say(pr.Style.OK() + " " + term.Pad(l.Table, 18) +
			pr.Text("cli.machine.head", l.Seed, l.States, l.Rows, l.Added))
	}
	for _, p := range problems {
		pr.Say(pr.Style.Bad() + " " + cli.Display(p.String()))
	}
	symbol := pr.Style.OK()
	if len(joint.DeadEnds)+len(joint.Trapped)+len(joint.Unreachable) > 0 {
		symbol = pr.Style.Bad()
	}
	pr.Say(symbol + " " + term.Pad(pr.Text("cli.machine.joint"), 18) +
		pr.Text("cli.machine.joint_found", joint.Combinations, joint.Transitions, joint.Rows, len(joint.DeadEnds)))
	for _, c := range slices.Concat(joint.DeadEnds, joint.Trapped) {
		pr.Say("  " + cli.Display(fmt.Sprintf("%+v", c)))
	}
	for _, id := range joint.Unreachable {
		pr.Say("  " + pr.Text("cli.machine.unreachable", id))
	}
	pr.SayText("cli.machine.problems", wrong)
}
