package cli

import (
	"context"
	"slices"
	"strings"

	"pawl/face/cli/term"
	"pawl/face/tui"
	"pawl/kernel/effect"
	"pawl/kernel/view"
)

// maxParts is how many parts of the work that nothing noticed are listed in one place.
const maxParts = 8

// ProofLines lists what was wanted, with what shows it or why nothing does, and what nothing noticed.
func ProofLines(pr *Printer, p *view.Proof) []string {
	if p == nil {
		return nil
	}
	var out []string
	for _, c := range p.Criteria {
		symbol := VerdictMark(pr, c.Verdict)
		lines := term.Hang(Display(c.Text), 4, pr.Std.Width, MaxTitle, pr.Style.Ellipsis())
		lines[0] = "  " + symbol + " " + lines[0]
		out = append(out, lines...)
		why := pr.Text("proof." + string(c.Why))
		if len(c.Shown) > 0 {
			why += pr.Choose(": ", "：") + Display(strings.Join(c.Shown, ", "))
		}
		for _, l := range term.Wrap(why, pr.Std.Width-4) {
			out = append(out, "    "+pr.Style.Dim(l))
		}
	}
	if n := len(p.Unnoticed); n > 0 {
		out = append(out, marked(pr, pr.Text("cli.proof.unnoticed", n))...)
		for _, part := range p.Unnoticed[:min(n, maxParts)] {
			out = append(out, "    "+Display(part.String()))
		}
	}
	if n := len(p.Unrun); n > 0 {
		out = append(out, marked(pr, pr.Text("cli.proof.unrun", n))...)
		for _, lines := range p.Unrun[:min(n, maxParts)] {
			out = append(out, "    "+Display(lines.String()))
		}
	}
	if !p.Measured && slices.ContainsFunc(p.Criteria, func(c effect.Met) bool { return c.Why == effect.WhyKept }) {
		out = append(out, "  "+pr.Style.Dim(pr.Text("cli.proof.unmeasured")))
	}
	if p.Unreached > 0 {
		out = append(out, "  "+pr.Style.Dim(pr.Text("cli.proof.unreached", p.Unreached)))
	}
	if p.Verdict == effect.Accepted {
		out = append(out, marked(pr, pr.Text("cli.proof.accepted_because", Display(p.By.Label()), Display(p.Reason)))...)
	}
	return out
}

// marked is a text behind a mark that warns.
func marked(pr *Printer, text string) []string {
	lines := term.Hang(text, 4, pr.Std.Width, 0, "")
	lines[0] = "  " + pr.Style.Warn() + " " + lines[0]
	return lines
}

// VerdictMark is the mark of a verdict on work that has ended; "" is that of work which nobody tried to show.
func VerdictMark(pr *Printer, v effect.Verdict) string {
	switch v {
	case effect.Accepted, "":
		return pr.Style.Warn()
	case effect.AlreadySo:
		return pr.Style.Dot()
	case effect.Unproven:
		return pr.Style.Bad()
	}
	return pr.Style.OK()
}

// AskReason asks why work is taken without proof.
func AskReason(ctx context.Context, sess *Session) (string, error) {
	return sess.Screen.Ask(ctx, tui.Question{Text: sess.Text("cli.ask.accept_reason"), Free: true})
}
