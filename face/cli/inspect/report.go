package inspect

import (
	"strconv"
	"strings"

	"pawl/face/cli"
	"pawl/face/cli/term"
	"pawl/kernel/effect"
	"pawl/kernel/view"
)

// Report prints a run as it is looked at from outside: what was asked for, on whose word, what was done, what was
// proven, what it cost and how it is undone. Files are what it changed so far, where that is not in the report itself.
func Report(sess *cli.Session, r *view.Report, files []effect.FileStat) {
	state, symbol := cli.SummaryEnd(sess.Printer, r.Summary), sess.Style.Warn()
	switch {
	case r.State != "":
		state, symbol = r.State, sess.Style.Arrow()
		if r.Waiting != nil {
			symbol = sess.Style.Bad()
		}
	case r.Outcome == "completed":
		symbol = sess.Style.OK()
	}
	sess.Say(symbol + " " + sess.Style.Bold(state) + "  " + cli.Glimpse(sess.Printer, r.Goal))
	sess.SayTable(facts(sess, r), sess.Std.Width)
	if len(files) == 0 {
		files = r.Files
	}
	cli.PrintSection(sess.Printer, "cli.sum.changed", cli.FileLines(sess.Printer, files, "  "))
	if len(files) == 0 && r.Outcome == "completed" {
		cli.PrintSection(sess.Printer, "cli.sum.changed", []string{"  " + sess.Text("cli.sum.nothing")})
	}
	if n := len(r.Failures); n > 0 && r.Outcome != "completed" {
		cli.PrintSection(sess.Printer, "cli.task.failure", append([]string{"  " + cli.Display(r.Failures[n-1].What)},
			cli.FailureLines(sess.Printer, r.Failures[n-1])...))
	}
	cli.PrintProof(sess.Printer, r.Summary)
}

// facts are who and when: what stands above the sections of a report.
func facts(sess *cli.Session, r *view.Report) *term.Table {
	t := new(term.Table)
	row := func(key, text string) {
		if text != "" {
			t.Painted(sess.Style.Dim, "  "+sess.Text(key), text)
		}
	}
	middle := " " + sess.Style.Middle() + " "
	var names []string
	for _, n := range []string{r.Run, r.Task, r.Issue} {
		if n != "" {
			names = append(names, cli.Display(n))
		}
	}
	row("see.fact.run", strings.Join(names, middle))
	if b := r.Waiting; b != nil {
		row("cli.status.blocked", cli.ReasonText(sess.Printer, b.Error.Key, b.Error.Args, b.Error.Cause))
	} else if e := r.Error; e != nil && r.Outcome != "completed" {
		row("cli.status.error", cli.ReasonText(sess.Printer, e.Key, e.Args, e.Cause))
	}
	for _, a := range r.Approvals {
		row("see.fact."+a.State, cli.ApprovalText(sess, a))
	}
	if len(r.Approvals) == 0 && r.State == "" {
		row("see.fact.granted", sess.Text("see.nobody"))
	}
	if r.Reversal != "" {
		row("cli.status.undone", sess.Text("cli.land.landed", cli.Short(r.Reversal), r.Branch))
	}
	row("see.fact.agent", cli.Display(r.Agent))
	when := sess.Clock(r.StartedAt)
	if r.Duration > 0 {
		when += middle + sess.Text("cli.sum.time", cli.Duration(r.Duration))
	}
	row("see.fact.begun", when)
	if r.Repairs > 0 {
		row("see.fact.repairs", strconv.Itoa(r.Repairs))
	}
	if c := r.Cost; c != nil {
		row("see.fact.cost", cli.CostText(sess.Printer, c.Spent))
	}
	row("cli.blocked.tree", cli.Display(r.Worktree))
	return t
}
