package cli

import (
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"pawl"
	"pawl/kernel"
	"pawl/kernel/effect"
)

// DisputedLines lists the tests of a plan that whoever worked says are wrong, with what became of that and how the one
// text differs from the other.
func DisputedLines(pr *Printer, list []effect.Disputed) (out []string) {
	for _, d := range list {
		out = append(out, disputed(pr, d)...)
		for line := range strings.Lines(testDiff(d)) {
			out = append(out, "    "+pr.Style.DiffLine(strings.TrimSuffix(line, "\n")))
		}
	}
	return out
}

// disputed says who says what of a test.
func disputed(pr *Printer, d effect.Disputed) []string {
	out := []string{disputes(pr, d)}
	if a := d.Answer; a != nil {
		key := "cli.disputed.keeps"
		if a.Content != "" {
			key = "cli.disputed.rewrites"
		}
		out = append(out, "    "+fold(pr, pr.Text(key, Display(a.Agent), Display(a.Why)), 4, 0))
	}
	return append(out, "    "+pr.Style.Dim(fold(pr, settledText(pr, d), 4, 0)))
}

// disputes says who disputes a test, and why.
func disputes(pr *Printer, d effect.Disputed) string {
	return "  " + pr.Style.Warn() + " " +
		fold(pr, pr.Text("cli.disputed.says", Display(d.Agent), Display(d.Path), Display(d.Reason)), 4, 0)
}

// settledText says which of the two texts counts, on whose word.
func settledText(pr *Printer, d effect.Disputed) string {
	switch {
	case d.Fault != nil:
		return pr.Text("cli.disputed.not", ReasonText(pr, d.Fault.Key, d.Fault.Args, d.Fault.Cause))
	case d.Doubtful():
		return pr.Text("cli.disputed.unseen")
	case d.Taken:
		return pr.Text("cli.disputed.taken", Display(d.By.Label()))
	case d.By.Kind() == pawl.KindUser:
		return pr.Text("cli.disputed.kept_by", Display(d.By.Label()))
	case d.Answer != nil && d.Answer.Content != "":
		return pr.Text("cli.disputed.open")
	}
	return pr.Text("cli.disputed.kept")
}

// testDiff is how the other text of a disputed test differs from the one that was approved, "" where there is none.
func testDiff(d effect.Disputed) string {
	if d.Answer == nil || d.Answer.Content == "" {
		return ""
	}
	return udiff.Unified("a/"+d.Path, "b/"+d.Path, d.Was, d.Answer.Content)
}

// showTest prints a test that was written anew, and what it was, and reports whether something of it was left out.
func showTest(sess *Session, s *kernel.Snapshot, full bool) (cut bool) {
	sheet := &sheet{pr: sess.Printer, full: full}
	sheet.add("")
	sheet.wrapped(0, sess.Text("cli.ask.test_wanted"))
	if n := len(s.Task.Disputed); n > 0 {
		d := s.Task.Disputed[n-1]
		sheet.lines = append(sheet.lines, disputed(sess.Printer, d)...)
		sheet.add("")
		sheet.value(2, testDiff(d))
	}
	sheet.add("")
	sheet.add("  " + sess.Text("cli.plan.hash") + "  " + s.Approval.Hash)
	sheet.add("")
	for _, l := range sheet.lines {
		sess.Say(l)
	}
	return sheet.cut
}
