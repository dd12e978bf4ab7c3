package cli

import (
	"strconv"
	"strings"

	"pawl/kernel/effect"
)

// ReviewLines lists what reviewers said of the work, and what became of it.
func ReviewLines(pr *Printer, reviews []effect.WorkReview) (out []string) {
	for _, v := range reviews {
		who := Display(v.Agent)
		if v.Model != "" {
			who += " (" + Display(v.Model) + ")"
		}
		symbol, what := pr.Style.Warn(), pr.Text("cli.review.objections", len(v.Objections))
		switch {
		case v.Fault != nil:
			what = pr.Text("cli.review.not", ReasonText(pr, v.Fault.Key, v.Fault.Args, v.Fault.Cause))
		case len(v.Objections) == 0:
			symbol, what = pr.Style.OK(), pr.Text("cli.review.none")
		case v.SentBack:
			what += " " + pr.Style.Middle() + " " + pr.Text("cli.review.sent_back")
		}
		out = append(out, "  "+symbol+" "+fold(pr, who+": "+what, 4, 0))
		for _, o := range v.Objections {
			out = append(out, "    "+fold(pr, Display(o.Reason), 4, 0), "    "+pr.Style.Dim(fold(pr, standing(pr, o), 4, 0)))
		}
	}
	return out
}

// standing says what there is to an objection that can be looked at.
func standing(pr *Printer, o effect.Objection) string {
	var parts []string
	if o.File != "" {
		parts = append(parts, Display(o.File)+":"+strconv.Itoa(o.Line))
	}
	if o.Criterion != "" {
		parts = append(parts, Display(o.Criterion))
	}
	if o.Test != nil {
		key := "cli.review.untried"
		switch {
		case o.Red():
			key = "cli.review.red"
		case o.Ended == effect.WithoutGreen:
			key = "cli.review.green"
		}
		parts = append(parts, pr.Text(key, Display(o.Test.Path)))
	}
	return strings.Join(parts, " "+pr.Style.Middle()+" ")
}
