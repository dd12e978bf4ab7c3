package flow

import (
	"context"

	"pawl"
	"pawl/face/cli"
	"pawl/kernel/view"
	"pawl/text/triage"
)

// looks are the commands that answer a topic by what they show.
var looks = map[triage.Topic][]string{
	triage.TopicHelp: {"help"}, triage.TopicPause: {"pause"}, triage.TopicChange: {"diff"}, triage.TopicLog: {"log"},
	triage.TopicOutput: {"logs"},
	triage.TopicReport: {"show"}, triage.TopicStatus: {"status"},
}

// inquiry answers what a person asks about the present work in words of their own: from the store, with no model. It
// reports whether it was that.
func inquiry(ctx context.Context, a *cli.App, line string) (known bool, err error) {
	topic, known := triage.Inquire(line)
	if !known {
		return false, nil
	}
	if argv, ok := looks[topic]; ok {
		err = cli.Within(ctx, a, argv)
	} else {
		err = a.With(ctx, cli.Reading(), func(sess *cli.Session) error { return lookUp(ctx, sess, topic) })
	}
	if pawl.CodeOf(err) == pawl.CodeNotFound {
		cli.ReportError(a.Printer, err) // that there is nothing yet is an answer as well
		err = nil
	}
	return true, err
}

// lookUp tells what the last run says of a topic.
func lookUp(ctx context.Context, sess *cli.Session, topic triage.Topic) error {
	r, err := sess.Ask().Run(ctx, sess.Label(), "")
	if err != nil {
		return err
	}
	if sess.JSON {
		return sess.PrintJSON(r)
	}
	sess.Say(sess.Style.Dim(r.Run) + "  " + cli.Glimpse(sess.Printer, r.Goal))
	lines, none := answerTo(sess, r, topic)
	if len(lines) == 0 {
		lines = []string{"  " + sess.Text(none)}
	}
	for _, l := range lines {
		sess.Say(l)
	}
	return nil
}

// answerTo is what a report says about a topic, with the message for a report that says nothing of it.
func answerTo(sess *cli.Session, r *view.Report, topic triage.Topic) (lines []string, none string) {
	switch topic {
	case triage.TopicApproval:
		for _, ap := range r.Approvals {
			lines = append(lines, "  "+sess.Text("see.fact."+ap.State)+"  "+cli.ApprovalText(sess, ap))
		}
		return lines, "see.nobody"
	case triage.TopicProof:
		return append(cli.ProofLines(sess.Printer, r.Proof), cli.EvidenceLines(sess.Printer, r.Summary)...),
			"cli.inquiry.no_proof"
	case triage.TopicCost:
		if c := r.Cost; c != nil && c.Spent.Requests > 0 {
			lines = []string{"  " + cli.CostText(sess.Printer, c.Spent)}
		}
		return lines, "cli.inquiry.no_cost"
	case triage.TopicUndo:
		return cli.CommandLines(sess.Printer, r.Undo), "cli.inquiry.no_undo"
	}
	if b := r.Waiting; b != nil {
		lines = append(lines, "  "+cli.ReasonText(sess.Printer, b.Error.Key, b.Error.Args, b.Error.Cause))
	} else if e := r.Error; e != nil {
		lines = append(lines, "  "+cli.ReasonText(sess.Printer, e.Key, e.Args, e.Cause))
	}
	if n := len(r.Failures); n > 0 {
		lines = append(append(lines, "  "+cli.Display(r.Failures[n-1].What)),
			cli.FailureLines(sess.Printer, r.Failures[n-1])...)
		lines = append(lines, "  "+sess.Style.Cyan(sess.Text("cli.next"))+sess.Text("cli.inquiry.logs"))
	}
	return lines, "cli.inquiry.no_failure"
}
