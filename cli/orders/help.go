package orders

import (
	"strings"

	"pawl/cli"
	"pawl/cli/term"
	"pawl/machine/workflow"
	"pawl/message"
)

// help shows the commands of seed 002 with what each does. It needs no workspace and changes nothing.
func help(a *cli.App) error {
	type row struct {
		Name   string `json:"name"`
		Class  string `json:"class"`
		Effect string `json:"effect"`
		Text   string `json:"text"`
	}
	rows := []row{}
	for _, c := range workflow.Commands() {
		rows = append(rows, row{c.Name, a.Choose(string(c.Class), message.Translation("workflow.class."+string(c.Class))), string(c.Effect), a.Text("orders.help." + strings.TrimPrefix(c.Name, "~"))})
	}
	if a.JSON {
		return a.PrintJSON(rows)
	}
	var t term.Table
	for _, r := range rows {
		t.Row("  "+r.Name, r.Class, r.Text)
	}
	a.Say(a.Style.Bold(a.Text("orders.help.title")))
	a.SayTable(&t, a.Std.Width)
	a.Say("")
	a.SayText("orders.help.more")
	return nil
}
