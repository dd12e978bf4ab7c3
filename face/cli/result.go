package cli

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"pawl"
	"pawl/face/cli/term"
	"pawl/kernel"
	"pawl/kernel/budget"
	"pawl/kernel/effect"
	"pawl/kernel/query"
	"pawl/kernel/view"
)

// ending is how a command that works ended, as its JSON result names it.
type ending string

// The endings.
const (
	resultEnded   ending = "ended"
	resultFailed  ending = "failed"
	resultBlocked ending = "blocked"
	resultPaused  ending = "paused"
	resultIdle    ending = "idle"
)

// maxTail is the number of lines of a failing command's output that are shown.
const maxTail = 20

// result prints how the work ended.
func (v *Drive) result(ctx context.Context, how ending, s *kernel.Snapshot) {
	left := Stays(ctx, v.sess, s)
	if v.sess.JSON {
		st := query.StatusOf(s)
		line := map[string]any{"type": "result", "result": how, "state": st.State, "status": st,
			"summary": query.SummaryOf(s)}
		if len(left) > 0 {
			line["left_in_tree"] = left
		}
		if r := s.Run; r != nil && len(r.SkippedFiles)+len(r.TruncatedFiles) > 0 {
			line["left_alone"], line["restored_of_interrupted"] = r.SkippedFiles, r.TruncatedFiles
		}
		if r := s.Run; r != nil && r.Ignored != nil && len(r.Ignored.Lost) > 0 {
			line["not_brought_back"] = r.Ignored.Lost
		}
		_ = v.sess.PrintLine(line)
		return
	}
	switch how {
	case resultEnded:
		printSummary(v.sess.Printer, s, v.wanted, left, costOf(ctx, v.sess, s))
	case resultBlocked:
		PrintBlocked(v.sess.Printer, s, left)
		if cost := costOf(ctx, v.sess, s); cost != "" {
			v.sess.Say("\n" + v.sess.Style.Dim(cost))
		}
	case resultFailed:
		if e := s.Session.LastError; e == nil || e.Code != pawl.CodeCannotPlan {
			PrintSection(v.sess.Printer, "cli.sum.next", CommandLines(v.sess.Printer, query.SummaryOf(s).Next))
		}
	case resultPaused:
		v.sess.SayText("cli.paused", s.Session.State)
	case resultIdle:
		v.sess.SayText("cli.state_now", s.Session.State)
	}
}

// printSummary prints what docs/spec/turn.md#s1-1 asks of SUMMARIZING: what changed, why, how it was verified, what is
// at risk, how to undo it and what to do next. Of a run that was given up there is no more to tell than that. Wanted
// are the outcomes that the command was given for, stays what pawl changed in the user's own tree and left there.
func printSummary(pr *Printer, s *kernel.Snapshot, wanted []string, stays []effect.FileStat, cost string) {
	sum := query.SummaryOf(s)
	symbol := EndMark(pr, sum)
	if sum.Outcome != "completed" && slices.Contains(wanted, sum.Outcome) {
		symbol = pr.Style.OK()
	}
	pr.Say("")
	PrintHead(pr, symbol, SummaryEnd(pr, sum), sum.Goal)
	if sum.Outcome != "completed" && sum.Outcome != "skipped" {
		printHalf(pr, sum)
		PrintSection(pr, "cli.sum.stays", FileLines(pr, stays, "  "))
		if s.Run != nil {
			PrintSection(pr, "cli.sum.cut", LeftLines(s.Run.TruncatedFiles))
			PrintSection(pr, "cli.sum.left", LeftLines(s.Run.SkippedFiles))
			if i := s.Run.Ignored; i != nil && len(i.Lost) > 0 {
				PrintSection(pr, "cli.sum.lost", LeftLines([]string{effect.Named(i.Lost)}))
			}
		}
		PrintSection(pr, "cli.sum.undo", CommandLines(pr, sum.Undo))
		PrintSection(pr, "cli.sum.next", CommandLines(pr, sum.Next))
		return
	}
	PrintShown(pr, sum.Proof)
	PrintChanged(pr, sum, sum.Files)
	PrintProof(pr, sum)
	if sum.Duration > 0 {
		pr.Say("")
		line := pr.Text("cli.sum.time", Duration(sum.Duration))
		if sum.Repairs > 0 {
			line += " " + pr.Style.Middle() + " " + pr.Text("cli.sum.repairs", sum.Repairs)
		}
		if cost != "" {
			line += " " + pr.Style.Middle() + " " + cost
		}
		pr.Say(pr.Style.Dim(line))
	}
}

// PrintHead prints how something stands, with a mark, and what was asked for: beside it where there is room for that.
func PrintHead(pr *Printer, symbol, state, goal string) {
	goal = Glimpse(pr, goal)
	head := symbol + " " + pr.Style.Bold(state)
	if 2+term.Width(state)+2+term.Width(goal) <= pr.Std.Width {
		pr.Say(head + "  " + goal)
		return
	}
	pr.Say(head)
	for _, l := range term.Wrap(goal, pr.Std.Width-2) {
		pr.Say("  " + l)
	}
}

// PrintChanged lists the files that changed, or says that there are none of something that has ended.
func PrintChanged(pr *Printer, sum view.Summary, files []effect.FileStat) {
	lines := FileLines(pr, files, "  ")
	if len(files) == 0 && sum.Outcome == "completed" {
		lines = []string{"  " + pr.Text("cli.sum.nothing")}
	}
	PrintSection(pr, "cli.sum.changed", lines)
}

// PrintShown prints what was wanted under a title that says whether it is shown.
func PrintShown(pr *Printer, p *view.Proof) {
	title := "cli.sum.shown"
	if p != nil && (p.Verdict == effect.Unproven || p.Verdict == effect.Accepted) {
		title = "cli.sum.not_shown"
	}
	PrintSection(pr, title, ProofLines(pr, p))
}

// PrintProof prints the sections of a summary behind what changed.
func PrintProof(pr *Printer, sum view.Summary) {
	PrintSection(pr, "cli.sum.why", StepLines(pr, sum.Steps))
	PrintSection(pr, "cli.sum.review", ReviewLines(pr, sum.Reviews))
	PrintSection(pr, "cli.sum.disputed", DisputedLines(pr, sum.Disputed))
	PrintSection(pr, "cli.sum.verified", EvidenceLines(pr, sum))
	var risks []string
	for _, n := range sum.Risks {
		risks = append(risks, "  "+pr.Style.Warn()+" "+noteText(pr, n))
	}
	PrintSection(pr, "cli.sum.risks", risks)
	PrintSection(pr, "cli.sum.result", LandingLines(pr, sum.Landing))
	PrintSection(pr, "cli.sum.undo", CommandLines(pr, sum.Undo))
	PrintSection(pr, "cli.sum.next", CommandLines(pr, sum.Next))
}

// ApprovalText says on whose word something was done, and how it was given.
func ApprovalText(sess *Session, a view.ApprovalLine) string {
	text := AboutText(sess.Printer, a.About)
	if a.About == "plan" {
		text += " " + Short(a.Hash)
	}
	by := pawl.Actor(a.By)
	switch {
	case a.State == "pending":
		return text + "  " + sess.Text("cli.status.waiting", sess.Since(a.Asked))
	case by.Kind() == pawl.KindAutomation:
		text += "  " + sess.Text("see.by_program", by.Label())
	case by.Kind() == pawl.KindPolicy:
		text += "  " + sess.Text("see.by_policy", by.Label())
	case a.Way == string(kernel.WayCommand) && a.About == kernel.AboutProof:
		text += "  " + sess.Text("see.by_way.accept", by.Label())
	case a.Way != "":
		text += "  " + sess.Text("see.by_way."+a.Way, by.Label())
	case by.Kind() == pawl.KindUser:
		text += "  " + sess.Text("see.by_person", by.Label())
	default:
		text += "  " + Display(string(by))
	}
	if a.Key != "" {
		text += "  " + sess.Text("see.by_key", a.Key)
	}
	if !a.At.IsZero() {
		text += "  " + sess.Style.Dim(sess.Clock(a.At))
	}
	if a.Note != "" {
		text += "  " + sess.Style.Dim(Glimpse(sess.Printer, a.Note))
	}
	return text
}

// CostText says what was spent on models, "" where none was asked.
func CostText(pr *Printer, u effect.Usage) string {
	if u.Requests == 0 {
		return ""
	}
	money := DollarsText(pr, u.MicroUSD, u.Unpriced)
	if u.MicroUSD > 0 {
		money = pr.Text("cli.sum.usd", money)
	}
	return pr.Text("cli.sum.cost", money, Count(u.InTokens+u.OutTokens), Count(u.Requests))
}

// costOf says what a run has spent on models, "" where it asked none.
func costOf(ctx context.Context, sess *Session, s *kernel.Snapshot) string {
	if s.Run == nil {
		return ""
	}
	// What cannot be read here is told by `pawl budget`.
	b, _, _ := sess.Ask().Ledger().Spent(ctx, budget.ScopeRun+":"+s.Run.Label)
	return CostText(sess.Printer, b.Spent)
}

// printHalf says what was cut off, and where what was unfinished is kept.
func printHalf(pr *Printer, sum view.Summary) {
	var half []string
	for _, n := range sum.Risks {
		if n.Key == "kernel.risk_cut" || n.Key == "kernel.risk_saved" {
			half = append(half, "  "+pr.Style.Warn()+" "+Display(noteText(pr, n)))
		}
	}
	PrintSection(pr, "cli.sum.half", half)
}

// PrintSection prints lines under a title, or nothing when there are none.
func PrintSection(pr *Printer, title string, lines []string) {
	if len(lines) == 0 {
		return
	}
	pr.Say("\n" + pr.Style.Bold(pr.Text(title)))
	for _, l := range lines {
		pr.Say(l)
	}
}

// OutcomeText is how a run ended, in words.
func OutcomeText(pr *Printer, outcome string) string {
	switch outcome {
	case "completed", "failed", "canceled", "rolled_back", "declined", "revised", "skipped":
		return pr.Text("cli.outcome." + outcome)
	}
	return Display(outcome)
}

// EndText says how a run ended and, where it came to that, whether what was wanted is shown, and on whose word it
// counts otherwise.
func EndText(pr *Printer, outcome string, v effect.Verdict, by pawl.Actor) string {
	text := OutcomeText(pr, outcome)
	switch {
	case outcome != "completed":
		return text
	case v == "":
		return text + " " + pr.Style.Middle() + " " + pr.Text("web.claimed")
	case v == effect.AlreadySo:
		return pr.Text("cli.proof.already_so")
	case v == effect.Accepted:
		return pr.Text("cli.proof.accepted", Display(by.Label()))
	}
	return text + " " + pr.Style.Middle() + " " + pr.Text("cli.proof."+string(v))
}

// EndMark is the mark of how a run ended, one for each verdict: whoever sees no colours tells them apart as well.
func EndMark(pr *Printer, sum view.Summary) string {
	if sum.Outcome != "completed" {
		return pr.Style.Warn()
	}
	if sum.Proof == nil {
		return VerdictMark(pr, "")
	}
	return VerdictMark(pr, sum.Proof.Verdict)
}

// SummaryEnd says how the run of a summary ended.
func SummaryEnd(pr *Printer, sum view.Summary) string {
	if sum.Proof == nil {
		return EndText(pr, sum.Outcome, "", "")
	}
	return EndText(pr, sum.Outcome, sum.Proof.Verdict, sum.Proof.By)
}

func noteText(pr *Printer, n view.Note) string {
	return pr.Text(n.Key, Args(n.Args)...)
}

// StepLines lists steps with their state, and why each is there.
func StepLines(pr *Printer, steps []view.SummaryStep) []string {
	var out []string
	for _, st := range steps {
		symbol := pr.Style.Dot()
		switch st.Status {
		case "done":
			if symbol = pr.Style.OK(); st.Unchanged {
				symbol = pr.Style.Dot()
			}
		case "blocked":
			symbol = pr.Style.Bad()
		}
		lines := term.Hang(Display(st.Title), 4, pr.Std.Width, MaxTitle, pr.Style.Ellipsis())
		lines[0] = "  " + symbol + " " + lines[0]
		if st.Unchanged {
			lines[len(lines)-1] += "  " + pr.Style.Dim(pr.Text("cli.sum.unchanged_step"))
		}
		why := st.Why
		if st.Repair > 0 {
			lines[len(lines)-1] += "  " + pr.Style.Dim(pr.Text("cli.sum.repair_step", st.Repair))
			if why != "" {
				why = pr.Text("cli.plan.why", why)
			}
		}
		out = append(out, lines...)
		if why != "" && why != st.Title {
			for _, l := range term.Wrap(Display(why), pr.Std.Width-4) {
				out = append(out, "    "+pr.Style.Dim(l))
			}
		}
	}
	return out
}

// EvidenceLines lists what pawl ran to verify: each command with its exit status and time, and the tree.
func EvidenceLines(pr *Printer, sum view.Summary) []string {
	var out []string
	for _, e := range sum.Verification {
		for _, c := range e.Checks {
			o := effect.CheckOutcome{Check: effect.Check{Name: c.Name, Command: c.Command, Missing: c.Missing},
				Status: c.Status, ExitCode: c.ExitCode, DurationMS: c.DurationMS, Before: c.Before, Twice: c.Twice}
			line := "  " + outcomeLine(pr, o)
			if c.Status == effect.CheckPassed {
				line += "  " + pr.Style.Dim(pr.Text("cli.check.exit", c.ExitCode))
			}
			if c.Tests != nil {
				line += "  " + pr.Style.Dim(testsText(pr, c.Tests))
			}
			out = append(out, line)
		}
	}
	out = append(out, wallsLine(pr, sum)...)
	if names := sum.InOwnTree(); len(names) > 0 {
		out = append(out, "  "+pr.Style.Warn()+" "+pr.Text("cli.sum.ignored", Display(strings.Join(names, ", "))))
	}
	if n := len(sum.Verification); n > 0 && sum.Verification[n-1].Tree != "" {
		out = append(out, "  "+pr.Style.Dim(pr.Text("cli.sum.tree", Short(sum.Verification[n-1].Tree))))
		for _, d := range sum.Verification[n-1].Dependencies {
			out = append(out, "  "+pr.Style.Dim(dependencyLine(pr, d)))
		}
	}
	return out
}

// testsText says in a few words how many tests ended in which way. What did not happen is left out.
func testsText(pr *Printer, r *effect.TestRun) string {
	parts := []string{pr.Text("cli.check.tests", r.Passed)}
	if r.Failed > 0 {
		parts = append(parts, pr.Text("cli.check.tests_failed", r.Failed))
	}
	if r.Skipped > 0 {
		parts = append(parts, pr.Text("cli.check.tests_skipped", r.Skipped))
	}
	if n := len(r.Silent); n > 0 {
		parts = append(parts, pr.Text("cli.check.tests_silent", n))
	}
	return strings.Join(parts, ", ")
}

// wallsLine says what held the commands where it was less than namespaces of their own, nothing where it was not.
func wallsLine(pr *Printer, sum view.Summary) []string {
	var bare []string
	for _, e := range sum.Verification {
		for _, c := range e.Checks {
			if len(c.Walls) > 0 && !slices.Contains(c.Walls, "namespaces") && !slices.Contains(c.Walls, "bwrap") {
				bare = c.Walls
			}
		}
	}
	switch {
	case bare == nil:
		return nil
	case slices.Contains(bare, "outer"):
		return []string{"  " + pr.Style.Warn() + " " + pr.Text("cli.sum.outer", strings.Join(bare[1:], ", "))}
	}
	return []string{"  " + pr.Style.Warn() + " " + pr.Text("cli.sum.floor", strings.Join(bare, ", "))}
}

// dependencyLine says with which dependencies checks ran.
func dependencyLine(pr *Printer, d effect.Dependency) string {
	by := strings.Join(d.Locks, ", ")
	if d.Digest != "" {
		by += " " + Short(d.Digest)
	}
	by = cmp.Or(by, pr.Text("cli.sum.no_lock"))
	key := "cli.sum.with_used"
	switch d.State {
	case "prepared":
		key = "cli.sum.with_prepared"
	case "own":
		key = "cli.sum.with_own"
	}
	return pr.Text(key, Display(d.Path), Display(by))
}

// LandingLines says where the result is.
func LandingLines(pr *Printer, l *view.Landing) []string {
	if l == nil {
		return nil
	}
	switch l.Outcome {
	case effect.Landed:
		return []string{"  " + pr.Text("cli.land.landed", Short(l.Commit), l.Branch)}
	case effect.InPlace:
		out := []string{"  " + pr.Text("cli.land.in_place")}
		if l.Named != "" {
			out = append(out, "  "+pr.Text(l.Reason, Display(l.Named)))
		}
		return out
	case effect.Empty:
		return []string{"  " + pr.Text("cli.land.empty")}
	}
	out := []string{"  " + pr.Text("cli.land.kept", l.Branch)}
	if l.Reason != "" {
		reason := "  " + pr.Text(l.Reason)
		if l.Named != "" {
			reason += ": " + Display(l.Named)
		}
		out = append(out, reason)
	}
	if l.Command != "" {
		out = append(out, "  "+pr.Style.Arrow()+" "+Display(l.Command))
	}
	return out
}

// CommandLines lists commands that a person can give next.
func CommandLines(pr *Printer, next []view.Next) []string {
	var out []string
	for _, n := range next {
		out = append(out, "  "+NextText(pr, n))
	}
	return out
}

// PrintBlocked explains why work stopped: the failure with the end of its output, what was cut off, where the work is,
// and the ways on.
func PrintBlocked(pr *Printer, s *kernel.Snapshot, stays []effect.FileStat) {
	b := s.Session.Blocked
	if b == nil {
		return
	}
	f := Describe(pr, b.Error.Err())
	pr.Say("")
	pr.Say(pr.Style.Bad() + " " + pr.Style.Bold(pr.Text("cli.blocked.head", kindOfBlock(pr, string(b.Kind)))))
	for _, l := range term.Wrap(ReasonText(pr, b.Error.Key, b.Error.Args, b.Error.Cause), pr.Std.Width-2) {
		pr.Say("  " + l)
	}
	sum := query.SummaryOf(s)
	if b.Kind == kernel.BlockedUnproven {
		PrintShown(pr, sum.Proof)
		PrintSection(pr, "cli.sum.review", ReviewLines(pr, sum.Reviews))
		PrintSection(pr, "cli.sum.disputed", DisputedLines(pr, sum.Disputed))
	}
	if n := len(sum.Verification); n > 0 && !sum.Verification[n-1].Passed {
		PrintSection(pr, "cli.blocked.checks", EvidenceLines(pr, view.Summary{Verification: sum.Verification[n-1:]}))
	}
	if n := len(sum.Failures); n > 0 {
		PrintSection(pr, "cli.blocked.output", FailureLines(pr, sum.Failures[n-1]))
	} else if b.Error.Cause == nil && b.Error.Detail != "" {
		PrintSection(pr, "cli.blocked.output", tail(b.Error.Detail, pr.Std.Width))
	}
	printHalf(pr, sum)
	PrintSection(pr, "cli.sum.so_far", FileLines(pr, stays, "  "))
	if t := s.Task; t != nil && t.Place.Tree != "" && !t.Place.InPlace && t.Ready.Worktree {
		PrintSection(pr, "cli.blocked.tree", []string{"  " + Display(t.Place.Tree)})
	}
	if needs := lacking(s); len(needs) > 0 {
		f.Hint = pr.Text("cli.blocked.fetch", FetchText(needs))
	}
	if f.Hint != "" && (len(sum.Next) == 0 || b.Kind == "environment") {
		next := pr.Text("cli.next")
		pr.Say("\n" + pr.Style.Cyan(next) + fold(pr, f.Hint, 2, term.Width(next)-2))
	}
	var t term.Table
	for _, n := range sum.Next {
		t.Row("  "+n.Command, wayText(pr, n, s.Session.LastCheckpoint))
	}
	PrintSection(pr, "cli.blocked.ways", t.Lines(pr.Std.Width))
}

// lacking are the dependencies that the machine lacks where that may be why a session is BLOCKED, and its error does
// not name them.
func lacking(s *kernel.Snapshot) []effect.Need {
	e, r := s.Session.Blocked.Error, s.Run
	if e.Code != pawl.CodeEnvironment || e.Key == "verify.lacks" || r == nil || r.Context == nil {
		return nil
	}
	return r.Context.Needs
}

// kindOfBlock says what kind of help a session that is BLOCKED needs.
func kindOfBlock(pr *Printer, kind string) string {
	switch kernel.BlockedKind(kind) {
	case kernel.BlockedFuse, kernel.BlockedApproval, kernel.BlockedDependency, kernel.BlockedEnvironment,
		kernel.BlockedQuestion,
		kernel.BlockedStopped, kernel.BlockedArchive, kernel.BlockedBudget, kernel.BlockedNoRepair,
		kernel.BlockedUnproven:
		return pr.Text("cli.blocked_kind." + kind)
	}
	return Display(kind)
}

// FailureLines tell what went wrong in a failure: its message where it has one, and the end of its output.
func FailureLines(pr *Printer, f view.Failure) []string {
	width := pr.Std.Width
	var out []string
	if f.Error.Key != "" {
		for _, l := range term.Wrap(ReasonText(pr, f.Error.Key, f.Error.Args, f.Error.Cause), width-2) {
			out = append(out, "  "+l)
		}
	}
	if f.Output != "" {
		out = append(out, tail(f.Output, width)...)
	}
	if f.FailingBefore {
		for _, l := range term.Wrap(pr.Text("cli.failing_before", f.What), width-2) {
			out = append(out, "  "+pr.Style.Yellow(l))
		}
	}
	return out
}

// wayText says what a way on does for a session that is BLOCKED.
func wayText(pr *Printer, n view.Next, checkpoint string) string {
	switch {
	case strings.HasSuffix(n.Command, "--answer "+string(kernel.AnswerDone)):
		return pr.Text("cli.way.done")
	case strings.HasSuffix(n.Command, "--answer "+string(kernel.AnswerRetry)):
		return pr.Text("cli.way.retry")
	case n.Op == "fix":
		return pr.Text("cli.way.fix")
	case n.Op == "rollback" && checkpoint == "":
		return pr.Text("cli.way.end")
	case n.Op == "rollback":
		return pr.Text("cli.way.rollback", checkpoint)
	case n.Op == "skip":
		return pr.Text("cli.way.skip")
	}
	return ""
}

// tail returns the last lines of an output, escaped and cut to the width.
func tail(output string, width int) []string {
	lines := strings.Split(strings.TrimRight(output, "\n"), "\n")
	if len(lines) > maxTail {
		lines = lines[len(lines)-maxTail:]
	}
	for i, l := range lines {
		lines[i] = "  " + term.Clip(term.Visible(l), width-2, "…")
	}
	return lines
}

// StatusOf is the session's status with the process that works, for `pawl status` and for commands that only give
// orders.
func StatusOf(ctx context.Context, sess *Session) (view.Status, error) {
	st, err := query.Status(ctx, sess.Workspace.Kernel)
	if err == nil {
		st.Owner = sess.Workspace.Worker()
	}
	return st, err
}

// Since writes how long ago an instant was.
func (sess *Session) Since(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	if gap := sess.Workspace.Kernel.Now().Sub(t); gap >= time.Second {
		return Duration(gap.Truncate(time.Second))
	}
	return "0s"
}

// LeftLines names the files that a rollback left alone.
func LeftLines(paths []string) []string {
	out := make([]string, 0, len(paths))
	for _, p := range paths {
		out = append(out, "  "+Display(p))
	}
	return out
}
