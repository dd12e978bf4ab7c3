package inspect

import (
	"slices"
	"strconv"
	"strings"

	"pawl/face/cli"
	"pawl/face/cli/term"
	"pawl/kernel"
	"pawl/kernel/effect"
	"pawl/kernel/view"
)

// Report prints a run as it is looked at from outside: what was asked for, on whose word, what was done, what was
// proven, what it cost and how it is undone. Files are what it changed so far, where that is not in the report itself.
func Report(sess *cli.Session, r *view.Report, files []effect.FileStat) {
	state, symbol := cli.SummaryEnd(sess.Printer, r.Summary), cli.EndMark(sess.Printer, r.Summary)
	unproven := waitsForAccept(r)
	switch {
	case unproven:
		state, symbol = sess.Text("cli.proof.waits"), sess.Style.Bad()
	case r.Waiting != nil:
		state, symbol = r.State, sess.Style.Bad()
	case r.State != "":
		state, symbol = r.State, sess.Style.Arrow()
	}
	cli.PrintHead(sess.Printer, symbol, state, r.Goal)
	sess.SayTable(facts(sess, r), sess.Std.Width)
	cli.PrintShown(sess.Printer, r.Proof)
	if len(files) == 0 {
		files = r.Files
	}
	cli.PrintChanged(sess.Printer, r.Summary, files)
	if n := len(r.Failures); n > 0 && r.Outcome != "completed" && !unproven {
		cli.PrintSection(sess.Printer, "cli.task.failure", append([]string{"  " + cli.Display(r.Failures[n-1].What)},
			cli.FailureLines(sess.Printer, r.Failures[n-1])...))
	}
	sum := r.Summary
	sum.Next = slices.DeleteFunc(slices.Clone(sum.Next), func(n view.Next) bool { return n.Op == "show" && unproven })
	if r.Worktree != "" { // on a line of its own, so that it can be copied
		cli.PrintSection(sess.Printer, "cli.blocked.tree", []string{"  " + cli.Display(r.Worktree)})
	}
	cli.PrintProof(sess.Printer, sum)
}

// waitsForAccept reports whether a run waits for a person to take work that nothing shows.
func waitsForAccept(r *view.Report) bool {
	if r.Waiting != nil {
		return r.Waiting.Kind == string(kernel.BlockedUnproven)
	}
	return slices.ContainsFunc(r.Approvals, func(a view.ApprovalLine) bool {
		return a.About == kernel.AboutProof && a.State == kernel.ApprovalPending
	})
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
	if b := r.Waiting; b != nil && !waitsForAccept(r) {
		row("cli.status.blocked", cli.ReasonText(sess.Printer, b.Error.Key, b.Error.Args, b.Error.Cause))
	} else if e := r.Error; e != nil && r.Outcome != "completed" {
		row("cli.status.error", cli.ReasonText(sess.Printer, e.Key, e.Args, e.Cause))
	}
	for _, a := range r.Approvals {
		key := "see.fact." + a.State
		if a.About == kernel.AboutProof && a.State == kernel.ApprovalGranted {
			key, a.Note = "see.fact.accepted", "" // the reason stands with what is not proven
		}
		row(key, cli.ApprovalText(sess, a))
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
	if p := r.Pull; p != nil {
		row("see.fact.pull", pullText(sess, p))
	}

	return t
}

// pullText says where a pull request is and what became of it, or why it is not there.
func pullText(sess *cli.Session, p *effect.Pull) string {
	if p.Fault != nil {
		return sess.Style.Warn() + " " + cli.Explain(sess.Printer, p.Fault.Err())
	}
	return strings.TrimSpace(cli.Display(p.URL) + "  " + sess.Style.Dim(string(p.State)))
}
