package orders

import (
	"strings"

	"pawl/face/cli"
	"pawl/face/cli/term"
	"pawl/machine/workflow"
	"pawl/text/message"
)

// help shows the ~commands (docs/spec/workflow.md#command-behaviour) with what each does. It needs no workspace and
// changes nothing.
func help(pr *cli.Printer) error {
	type row struct {
		Name   string `json:"name"`
		Class  string `json:"class"`
		Effect string `json:"effect"`
		Text   string `json:"text"`
	}
	rows := []row{}
	for _, c := range workflow.Commands() {
		rows = append(rows, row{c.Name, pr.Choose(string(c.Class), message.Translation("workflow.class."+
			string(c.Class))), string(c.Effect), pr.Text("orders.help." + strings.TrimPrefix(c.Name, "~"))})
	}
	if pr.JSON {
		return pr.PrintJSON(rows)
	}
	var t term.Table
	for _, r := range rows {
		t.Row("  "+r.Name, r.Class, r.Text)
	}
	pr.Say(pr.Style.Bold(pr.Text("orders.help.title")))
	pr.SayTable(&t, pr.Std.Width)
	pr.Say("")
	pr.SayText("orders.help.more")
	return nil
}
