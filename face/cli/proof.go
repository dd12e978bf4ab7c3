package cli

import (
	"context"
	"strings"

	"pawl"
	"pawl/face/cli/term"
	"pawl/face/tui"
	"pawl/kernel"
	"pawl/kernel/effect"
	"pawl/kernel/verification"
	"pawl/kernel/view"
)

// maxParts is how many parts of the work that nothing noticed are listed in one place.
const maxParts = 8

// EndText says how a run ended and, where it came to that, whether what was wanted is shown, and on whose word it
// counts otherwise.
func EndText(pr *Printer, outcome string, v effect.Verdict, by pawl.Actor) string {
	text := OutcomeText(pr, outcome)
	switch {
	case v == "" || outcome != "completed":
		return text
	case v == effect.AlreadySo:
		return pr.Text("cli.proof.already_so")
	case v == effect.Accepted:
		return text + " " + pr.Style.Middle() + " " + pr.Text("cli.proof.accepted", Display(by.Name()))
	}
	return text + " " + pr.Style.Middle() + " " + pr.Text("cli.proof."+string(v))
}

// SummaryEnd says how the run of a summary ended.
func SummaryEnd(pr *Printer, sum view.Summary) string {
	if sum.Proof == nil {
		return OutcomeText(pr, sum.Outcome)
	}
	return EndText(pr, sum.Outcome, sum.Proof.Verdict, sum.Proof.By)
}

// ProofLines lists what was wanted, with what shows it or why nothing does, and what nothing noticed.
func ProofLines(pr *Printer, p *view.Proof) []string {
	if p == nil {
		return nil
	}
	var out []string
	for _, c := range p.Criteria {
		symbol := pr.Style.Warn()
		if c.Verdict != effect.Unproven {
			symbol = pr.Style.OK()
		}
		lines := term.Hang(Display(c.Text), 4, pr.Std.Width, MaxTitle, pr.Style.Ellipsis())
		lines[0] = "  " + symbol + " " + lines[0]
		out = append(out, lines...)
		why := pr.Text("proof." + string(c.Why))
		if len(c.Shown) > 0 {
			why += ": " + Display(strings.Join(c.Shown, ", "))
		}
		for _, l := range term.Wrap(why, pr.Std.Width-4) {
			out = append(out, "    "+pr.Style.Dim(l))
		}
	}
	if n := len(p.Unnoticed); n > 0 {
		out = append(out, "  "+pr.Style.Warn()+" "+pr.Text("cli.proof.unnoticed", n))
		for _, part := range p.Unnoticed[:min(n, maxParts)] {
			out = append(out, "    "+Display(part.String()))
		}
	}
	if p.Unreached > 0 {
		out = append(out, "  "+pr.Style.Dim(pr.Text("cli.proof.unreached", p.Unreached)))
	}
	if p.Verdict == effect.Accepted {
		out = append(out, "  "+pr.Style.Warn()+" "+pr.Text("cli.proof.accepted_because", Display(p.By.Name()),
			Display(p.Reason)))
	}
	return out
}

// showProof prints what is asked of a person who is to take work without proof.
func showProof(sess *Session, s *kernel.Snapshot) {
	p := view.ProofOf(s.Task.Proof)
	sess.Say("")
	for _, l := range term.Wrap(sess.Text("cli.ask.unproven"), sess.Std.Width) {
		sess.Say(l)
	}
	for _, l := range ProofLines(sess.Printer, p) {
		sess.Say(l)
	}
	sess.Say("")
	sess.Say("  " + sess.Text("cli.plan.hash") + "  " + s.Approval.Hash)
	sess.Say("")
}

// Accept takes work that nothing shows to have done what was wanted. Tree is the one that was shown, "" where the
// person looks at it now; whoever gives no reason is asked for it.
func Accept(ctx context.Context, sess *Session, tree, reason string) error {
	s, err := sess.Workspace.Kernel.Snapshot(ctx)
	if err != nil {
		return err
	}
	c := &verification.Accept{Tree: tree, Reason: reason, Way: kernel.WayCommand}
	if s.Task != nil && s.Task.Proof != nil && s.Task.Proof.Verdict == effect.Unproven && sess.Present() {
		if c.Tree == "" {
			PrintSection(sess.Printer, "cli.sum.shown", ProofLines(sess.Printer, view.ProofOf(s.Task.Proof)))
			c.Tree, c.Way = s.Task.Proof.Tree, kernel.WayTerminal
		}
		if c.Reason == "" {
			if c.Reason, err = askReason(ctx, sess); err != nil {
				return err
			}
		}
	}
	return DoNow(ctx, sess, c)
}

// askReason asks why work is taken without proof.
func askReason(ctx context.Context, sess *Session) (string, error) {
	return sess.Screen.Ask(ctx, tui.Question{Text: sess.Text("cli.ask.accept_reason"), Free: true})
}
