package cli

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"pawl"
	"pawl/face/cli/settings"
	"pawl/face/cli/term"
	"pawl/face/host"
	"pawl/face/tui"
	"pawl/kernel"
	"pawl/kernel/approval"
	"pawl/kernel/control"
	"pawl/kernel/planning"
	"pawl/kernel/query"
	"pawl/kernel/verification"
	"pawl/kernel/view"
	"pawl/machine/session"
	"pawl/machine/workflow"
	"pawl/text/plan"
	"pawl/text/policy"
	"pawl/text/triage"
)

// approval puts the open question before a person. Again says that the work goes on.
func (v *Drive) approval(ctx context.Context, s *kernel.Snapshot) (again bool, err error) {
	if s.Approval == nil {
		return false, pawl.Fail(pawl.CodeInternal, "cli.no_approval")
	}
	if s.Approval.About == aboutStage {
		return v.stage(ctx, s)
	}
	p := planned(ctx, v.sess, s)
	if v.sess.JSON {
		if err := v.sess.PrintLine(map[string]any{"type": "approval", "approval": query.StatusOf(s).Approval,
			"plan": p}); err != nil {
			return false, err
		}
	}
	if !v.ask {
		tellHow(ctx, v.sess, s, p)
		return false, Shown(left(v.sess, s))
	}
	cut := ShowApproval(ctx, v.sess, s, p, false)
	for {
		answer, err := v.question(ctx, s, cut)
		if errors.Is(err, tui.ErrSettled) {
			v.sess.SayText("cli.ask.settled")
			return true, nil
		}
		if err != nil {
			return false, err
		}
		switch answer {
		case "y":
			if cut {
				cut = ShowApproval(ctx, v.sess, s, p, true)
				continue
			}
			if s.Approval.About == kernel.AboutProof {
				return v.accept(ctx, s)
			}
			_, err = v.sess.Do(ctx, &approval.Approve{Hash: s.Approval.Hash, Way: kernel.WayTerminal})
			return err == nil, err
		case "v":
			cut = ShowApproval(ctx, v.sess, s, p, true)
		case "n":
			_, err = v.sess.Do(ctx, &approval.Deny{})
			return err == nil, err
		case canceling:
			_, err = v.sess.Do(ctx, &control.CancelRun{Reason: v.sess.Text("cli.ask.canceled")})
			return err == nil, err
		case "r":
			again, err := v.askRevise(ctx)
			if errors.Is(err, tui.ErrLeft) {
				continue // whoever has nothing to say to it is asked about the plan again
			}
			return again, err
		case "e":
			if err := EditPlan(ctx, v.sess, s); err != nil {
				ReportError(v.sess.Printer, err)
				continue
			}
			// The edited plan is another question, which the next round asks.
			return true, nil
		}
	}
}

// Put puts the open question of an issue before the person at the terminal, without going on with the work. Open is
// false where there is none. It fails with approval_needed where nobody can be asked, after it has shown the question
// and how to answer it.
func Put(ctx context.Context, sess *Session, i *view.Issue) (open bool, err error) {
	err = InIssue(sess, i, func(at *Session) error {
		at.rep = newReporter(at)
		s, err := at.Workspace.Kernel.Snapshot(ctx)
		if err != nil || s.Session == nil || s.Approval == nil || s.Approval.State != kernel.ApprovalPending {
			return err
		}
		open = true
		_, err = (&Drive{sess: at, ask: sess.Present()}).approval(ctx, s)
		return err
	})
	return open, err
}

// ShowApproval prints what is asked about and reports whether something was left out.
func ShowApproval(ctx context.Context, sess *Session, s *kernel.Snapshot, p view.Plan, full bool) (cut bool) {
	a := sess.App
	switch s.Approval.About {
	case kernel.AboutChecks:
		return showChecks(ctx, sess, s, full)
	case kernel.AboutProof:
		return showProof(ctx, sess, s, full)
	case kernel.AboutTest:
		return showTest(sess, s, full)
	}
	if s.Approval.About == "call" {
		// The question is about this call alone; the plan was approved before.
		a.Say("\n" + a.Text("cli.ask.call_wanted"))
		return showCall(sess, s, full)
	}
	if s.Approval.About == "action" {
		p = repairOf(sess, s, p)
		a.Say("\n" + a.Text("cli.ask.repair", a.Wordy(s.Approval.Detail)))
	}
	sheet := newProposal(a.Printer, p, full, Drafts(sess, p))
	for _, l := range sheet.lines {
		a.Say(l)
	}
	return sheet.cut
}

// showCall prints the one call that an agent asks for, with what the policy has against it.
func showCall(sess *Session, s *kernel.Snapshot, full bool) (cut bool) {
	sheet := &sheet{pr: sess.Printer, full: full}
	tool, args, _ := strings.Cut(s.Approval.Detail, " ")
	if c := (view.PlanCall{Tool: tool, Args: json.RawMessage(args)}); json.Valid(c.Args) {
		c.Verdict = verdictOf(sess, s, c)
		sheet.call(c, host.Draft{})
	} else {
		sheet.value(2, s.Approval.Detail)
	}
	sheet.add("")
	sheet.add("  " + sess.Text("cli.plan.hash") + "  " + s.Approval.Hash)
	sheet.add("")
	for _, l := range sheet.lines {
		sess.Say(l)
	}
	return sheet.cut
}

// showProof prints what is asked of a person who is to take work without proof, and reports whether something of it
// was left out.
func showProof(ctx context.Context, sess *Session, s *kernel.Snapshot, full bool) (cut bool) {
	p := view.ProofOf(s.Task.Proof)
	sess.Say("")
	for _, l := range term.Wrap(sess.Text("cli.ask.unproven"), sess.Std.Width) {
		sess.Say(l)
	}
	for _, l := range ProofLines(sess.Printer, p) {
		sess.Say(l)
	}
	PrintSection(sess.Printer, "cli.sum.review", ReviewLines(sess.Printer, s.Task.Reviews))
	PrintSection(sess.Printer, "cli.sum.disputed", DisputedLines(sess.Printer, s.Task.Disputed))
	cut = PrintChecks(ctx, sess, s, "cli.ask.checks_too", full)
	sess.Say("")
	return cut
}

// showChecks prints how the work changed what it is judged by.
func showChecks(ctx context.Context, sess *Session, s *kernel.Snapshot, full bool) (cut bool) {
	cut = PrintChecks(ctx, sess, s, "cli.ask.checks_changed", full)
	sess.Say("\n  " + sess.Text("cli.plan.hash") + "  " + s.Approval.Hash + "\n")
	return cut
}

// PrintChecks prints what the work changed of what it is judged by, below a text, and what the policy asks about in the
// change, and reports whether something was left out; it prints nothing where there is no such change that somebody has
// to take.
func PrintChecks(ctx context.Context, sess *Session, s *kernel.Snapshot, text string, full bool) (cut bool) {
	t, files := s.Task, s.ChangedChecks()
	asked, shown := s.AskedChanges()
	sheet := &sheet{pr: sess.Printer, full: full}
	sheet.below(text, files)
	sheet.below("cli.ask.change_asked", reasonsOf(sess.Printer, &policy.Verdict{Reasons: asked}))
	if len(sheet.lines) == 0 {
		return false
	}
	if sess.Workspace.Diff != nil && t != nil && t.Checkpoint != nil && t.Verified != nil {
		// A change that cannot be shown is told by its files and its hash alone.
		diff, _ := sess.Workspace.Diff(ctx, t.Place, t.Checkpoint.Tree, t.Verified.Tree)
		if part := diffOf(diff, append(files, shown...)); part != "" {
			sheet.add("")
			sheet.value(2, part)
		}
	}
	sess.Say(strings.Join(sheet.lines, "\n"))
	return sheet.cut
}

// below adds lines below a text, if there are any.
func (s *sheet) below(text string, lines []string) {
	if len(lines) > 0 {
		s.add("")
		s.wrapped(0, s.pr.Text(text))
	}
	for _, l := range lines {
		s.wrapped(2, s.pr.Style.Yellow(Display(l)))
	}
}

// diffOf keeps of a unified diff what is about some files.
func diffOf(diff string, files []string) string {
	out, keep := []string{}, false
	for l := range strings.SplitSeq(diff, "\n") {
		if rest, ok := strings.CutPrefix(l, "diff --git "); ok {
			_, name, _ := strings.Cut(rest, " b/")
			keep = slices.Contains(files, name)
		}
		if keep && !strings.HasPrefix(l, "index ") {
			out = append(out, l)
		}
	}
	return strings.Join(out, "\n")
}

// repairOf keeps of a plan the steps of its repairs that are still to be done, with what the policy says of their
// calls.
func repairOf(sess *Session, s *kernel.Snapshot, p view.Plan) view.Plan {
	var steps []view.PlanStep
	for _, step := range p.Steps {
		if step.Repair == 0 || step.Status.Closed() {
			continue
		}
		for i := range step.Calls {
			step.Calls[i].Verdict = verdictOf(sess, s, step.Calls[i])
		}
		steps = append(steps, step)
	}
	p.Steps, p.Hash = steps, s.Approval.Hash
	return p
}

// verdictOf asks the policy about a call as the kernel does.
func verdictOf(sess *Session, s *kernel.Snapshot, c view.PlanCall) *policy.Verdict {
	tool, ok := s.Config.Tools[c.Tool]
	if !ok {
		return nil
	}
	request, err := tool.Request(c.Args)
	if err != nil {
		return nil
	}
	v := policy.Judge(s.Situate(request), s.Config.Profile)
	return &v
}

// question asks until something was answered; who leaves it leaves it open.
func (v *Drive) question(ctx context.Context, s *kernel.Snapshot, cut bool) (string, error) {
	about := s.Approval.About
	key := "cli.ask.plan"
	if about == "call" || about == "action" || about == "checks" || about == kernel.AboutProof ||
		about == kernel.AboutTest {
		key = "cli.ask." + about
	}
	yes := way(v.sess.Printer, "cli.ask.does."+about, "y", "yes", "是")
	if cut && about != "action" && about != kernel.AboutProof {
		key += "_cut"
		yes.Does = v.sess.Text("cli.ask.does.yes_cut")
	}
	ways := []tui.Way{yes}
	if about != "action" && (cut || about == "checks" || about == "plan" || about == kernel.AboutTest) {
		ways = append(ways, way(v.sess.Printer, "cli.ask.does.view", "v", "view"))
	}
	if about == "plan" {
		ways = append(ways, way(v.sess.Printer, "cli.ask.does.edit", "e", "edit"),
			way(v.sess.Printer, "cli.ask.does.revise", "r", "revise"))
	}
	no := "cli.ask.does.no"
	switch about {
	case kernel.AboutProof:
		no = "cli.ask.does.no_proof"
	case kernel.AboutTest:
		no = "cli.ask.does.no_test"
	}
	ways = append(ways, way(v.sess.Printer, no, "n", "no", "否"),
		way(v.sess.Printer, "cli.ask.does.cancel", canceling))
	answer, err := v.sess.Screen.Ask(ctx, tui.Question{Text: v.sess.Text(key, Short(s.Approval.Hash)), Ways: ways,
		Settled: func() bool { return v.settled(ctx, s.Approval.ID) }, Means: Answering(triage.WaitChoice)})
	if errors.Is(err, tui.ErrLeft) {
		err = left(v.sess, s)
	}
	return answer, err
}

// accept takes work without proof, on a reason that the person gives.
func (v *Drive) accept(ctx context.Context, s *kernel.Snapshot) (bool, error) {
	reason, err := AskReason(ctx, v.sess)
	if err != nil {
		return false, err
	}
	_, err = v.sess.Do(ctx, &verification.Accept{Tree: s.Task.Proof.Tree, Reason: reason, Way: kernel.WayTerminal})
	return err == nil, err
}

// left is the error for a question that is left open. Its hint is a command that this caller can give.
func left(sess *Session, s *kernel.Snapshot) error {
	return pawl.Fail(pawl.CodeApprovalNeeded, "cli.approval_needed", AboutText(sess.Printer, s.Approval.About),
		Short(s.Approval.Hash), granting(sess, s))
}

// granting is the command by which this caller grants the open question.
func granting(sess *Session, s *kernel.Snapshot) string {
	next := query.StatusOf(s).Next
	i := slices.IndexFunc(next, func(n view.Next) bool { return n.Op == "accept" || n.Op == string(session.OpConfirm) })
	if i < 0 {
		return NextText(sess.Printer, view.Next{Command: "pawl approve " + Short(s.Approval.Hash)})
	}
	return NextText(sess.Printer, next[i])
}

// settled reports whether a question is no longer open.
func (v *Drive) settled(ctx context.Context, id string) bool {
	s, err := v.sess.Workspace.Kernel.Snapshot(ctx)
	return err == nil && (s.Approval == nil || s.Approval.ID != id || s.Approval.State != kernel.ApprovalPending)
}

func (v *Drive) askRevise(ctx context.Context) (bool, error) {
	note, err := v.sess.Screen.Ask(ctx, tui.Question{Text: v.sess.Text("cli.ask.revise"), Free: true,
		Means: Answering(triage.WaitWords)})
	if err == nil && (note == canceling || note == goingOn) {
		err = tui.ErrLeft // to cancel here is to leave the plan as it is
	}
	if err != nil {
		return false, err
	}
	_, err = v.sess.Do(ctx, &planning.Revise{Feedback: note})
	return err == nil, err
}

// tellHow prints the question and the exact commands that answer it, for when nobody is there to ask.
func tellHow(ctx context.Context, sess *Session, s *kernel.Snapshot, p view.Plan) {
	if sess.JSON {
		return
	}
	// Only the question has the arguments of a call and a replaced test, so all of them are shown.
	about := s.Approval.About
	if ShowApproval(ctx, sess, s, p, about == "call" || about == kernel.AboutTest) {
		inDiff := about == kernel.AboutChecks || about == kernel.AboutProof
		key := map[bool]string{false: "cli.ask.see_all", true: "cli.ask.see_diff"}[inDiff]
		sess.Say(sess.Style.Yellow(sess.Text(key)))
	}
	sess.Say(sess.Text("cli.ask.how"))
	ways := []string{"  " + granting(sess, s), "  pawl deny"}
	if about == kernel.AboutProof {
		ways = []string{ways[0], "    " + sess.Style.Dim(sess.Text("cli.ask.does.proof")), ways[1],
			"    " + sess.Style.Dim(sess.Text("cli.ask.does.no_proof")), "  pawl diff"}
	}
	if about == "plan" {
		ways = append(ways, "  pawl revise -m \""+sess.Text("cli.ask.what_differs")+"\"")
	}
	for _, w := range ways {
		sess.Say(view.ForIssue(w, sess.Printer.issue))
	}
}

// ApproveOpen grants the open question. Without a hash the person is shown what is asked first; where nobody sits at a
// terminal, only --yes grants it, whatever hash is named, unless a key is to be touched for it.
func ApproveOpen(ctx context.Context, sess *Session, hash string, yes bool) error {
	if hash != "" && (yes || sess.Std.TTY || sess.keyed()) {
		_, err := sess.Do(ctx, &approval.Approve{Hash: hash, Way: kernel.WayCommand})
		return err
	}
	s, err := sess.Workspace.Kernel.Snapshot(ctx)
	if err != nil {
		return err
	}
	if s.Session == nil || s.Approval == nil || s.Approval.State != kernel.ApprovalPending {
		_, err := sess.Do(ctx, &approval.Approve{}) // the kernel's refusal says in which state the session is
		return err
	}
	if !yes && sess.rep != nil {
		return nil // the work that follows puts the question
	}
	if !yes {
		tellHow(ctx, sess, s, query.PlanOf(s))
		return Shown(left(sess, s))
	}
	_, err = sess.Do(ctx, &approval.Approve{Hash: s.Approval.Hash, Way: kernel.WayFlag})
	return err
}

// Edit lets a person write a text in their editor, beginning with what is given. It returns what was written and the
// name of its file, which stays until the caller has used the text: no failure of what comes behind loses it.
func Edit(ctx context.Context, a *App, pattern, given string, limit int64) (text, name string, err error) {
	f, err := os.CreateTemp("", pattern)
	if err != nil {
		return "", "", pawl.Fail(pawl.CodeIO, "cli.file_unwritable", os.TempDir()).Because(err)
	}
	name = f.Name()
	_, err = f.WriteString(given)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		_ = os.Remove(name) // a file that stays in the temporary folder harms nothing
		return "", "", pawl.Fail(pawl.CodeIO, "cli.file_unwritable", name).Because(err)
	}
	failed := a.Screen.Suspend(func() error { return a.Host.Edit(ctx, name) })
	raw, err := settings.ReadFile(name, limit)
	switch {
	case failed == nil && err == nil:
		return string(raw), name, nil
	case failed == nil && pawl.CodeOf(err) == pawl.CodeInvalid: // it is too large
	case failed == nil:
		err = pawl.Fail(pawl.CodeIO, "cli.file_unreadable", name).Because(err)
	case err == nil && string(raw) == given:
		_ = os.Remove(name)
		return "", "", failed
	default:
		err = failed
	}
	return "", "", Kept(err, name)
}

// Kept adds to an error where the text is that was meant to be used.
func Kept(err error, name string) error {
	return pawl.Fail(pawl.CodeOf(err), "cli.edit_kept", name).Because(err)
}

// EditPlan lets the person edit the plan's document and puts the result in its place. What was written is kept when it
// cannot be used.
func EditPlan(ctx context.Context, sess *Session, s *kernel.Snapshot) error {
	text, name, err := Edit(ctx, sess.App, "pawl-plan-*.md", plan.RenderPRD(s.Solution.Plan, PlanLabels(sess.Printer)),
		plan.MaxBytes)
	if err != nil {
		return err
	}
	if err := ReplacePlan(ctx, sess, s, text); err != nil {
		if sess.JSON {
			return Kept(err, name)
		}
		sess.SayText("cli.plan.edit_kept", name)
		return err
	}
	_ = os.Remove(name)
	return nil
}

// ReplacePlan reads an edited document and gives the plan that it says.
func ReplacePlan(ctx context.Context, sess *Session, s *kernel.Snapshot, text string) error {
	base := s.Solution.Plan
	edited, changes, err := plan.ParsePRD(text, base)
	var bad *pawl.Problems
	if errors.As(err, &bad) {
		return pawl.Fail(pawl.CodeInvalid, "cli.plan.document_bad", len(bad.Errors())+bad.More).Because(bad)
	}
	if err != nil {
		return err
	}
	out, err := sess.Do(ctx, &planning.EditPlan{Plan: edited, Base: s.Solution.Hash})
	if err != nil {
		return err
	}
	if sess.JSON {
		return nil
	}
	if len(changes) == 0 {
		sess.SayText("cli.plan.unchanged")
		return nil
	}
	for _, c := range changes {
		sess.Say("  " + sess.Style.Dot() + " " + sess.Text(c.Key, c.Args...))
	}
	sess.SayText("cli.plan.edited", Short(ID(out)))
	return nil
}

// PlanLabels are the words of a plan's document in the language of the call.
func PlanLabels(pr *Printer) plan.Labels {
	if pr.Choose("en", "zh") == "zh" {
		return plan.Chinese()
	}
	return plan.English()
}

// stage puts the question that a stage ends with before a person: what was found, and the ways on.
func (v *Drive) stage(ctx context.Context, s *kernel.Snapshot) (again bool, err error) {
	if v.sess.JSON {
		line := map[string]any{"type": "approval", "approval": query.StatusOf(s).Approval, "stage": s.Run.Stage,
			"evaluation": s.Run.Evaluation, "path": s.Run.Path}
		if err := v.sess.PrintLine(line); err != nil {
			return false, err
		}
		return false, Shown(left(v.sess, s))
	}
	for _, l := range stageSheet(v.sess.Printer, s) {
		v.sess.Say(l)
	}
	if !v.ask {
		return false, v.openStage(s)
	}
	return v.askStage(ctx, s)
}

// openStage says how the question of a stage that is left open is answered.
func (v *Drive) openStage(s *kernel.Snapshot) error {
	for _, n := range query.StatusOf(s).Next {
		v.sess.Say("  " + NextText(v.sess.Printer, n))
	}
	return Shown(left(v.sess, s))
}

// askStage asks until one of the ways was picked.
func (v *Drive) askStage(ctx context.Context, s *kernel.Snapshot) (again bool, err error) {
	path := workflow.PathNone
	q := tui.Question{Text: v.sess.Text("cli.stage.ask_interactive"),
		Settled: func() bool { return v.settled(ctx, s.Approval.ID) },
		Means:   Answering(triage.WaitChoice),
		Ways:    []tui.Way{way(v.sess.Printer, "cli.stage.does.start", "y", "yes", "是")}}
	auto, evaluated := s.Flow.Mode.Auto() && s.Run.Stage == workflow.Evaluate, s.Run.Stage == workflow.Evaluate
	switch {
	case auto:
		q.Text = v.sess.Text("cli.stage.ask_auto")
		q.Ways = []tui.Way{way(v.sess.Printer, "cli.stage.does.silent", "y", "yes", "是"),
			way(v.sess.Printer, "cli.stage.does.interactive", "i", "interactive")}
	case !evaluated:
		q.Text = v.sess.Text("cli.stage.ask_on")
	}
	if evaluated {
		for _, p := range []string{"tweak", "light", "standard"} {
			q.Ways = append(q.Ways, way(v.sess.Printer, "cli.stage.does."+p, p))
		}
	}
	q.Ways = append(q.Ways, way(v.sess.Printer, "cli.stage.does.cancel", "n", "no", "否", "cancel"))
	for {
		answer, err := v.sess.Screen.Ask(ctx, q)
		switch {
		case errors.Is(err, tui.ErrSettled):
			v.sess.SayText("cli.ask.settled")
			return true, nil
		case errors.Is(err, tui.ErrLeft):
			return false, v.openStage(s)
		case err != nil:
			return false, err
		}
		choice := workflow.ChooseStart
		switch {
		case answer == "n", answer == canceling:
			_, err := v.sess.Do(ctx, &control.CancelRun{Reason: v.sess.Text("cli.stage.canceled")})
			return err == nil, err
		case answer == "i":
			choice = workflow.ChooseInteractive
		case answer != "y":
			path = workflow.Path(answer)
			v.sess.SayText("cli.stage.path_set", answer)
			continue
		case auto:
			choice = workflow.ChooseSilent
		}
		if _, err = v.sess.Do(ctx, &planning.Choose{Choice: choice, Path: path, Hash: s.Approval.Hash}); err == nil {
			return true, nil
		}
		ReportError(v.sess.Printer, err)
	}
}

// stageSheet tells what a stage has found.
func stageSheet(pr *Printer, s *kernel.Snapshot) []string {
	if s.Run.Stage != workflow.Evaluate || s.Run.Evaluation == nil {
		out := []string{"", pr.Style.Bold(pr.Text("cli.stage.analyzed"))}
		if c := s.Run.Context; c != nil {
			out = append(out, "  "+pr.Text("cli.stage.files", c.Files, strings.Join(c.Ecosystems, ", ")))
			for _, check := range c.Checks {
				line := "  " + pr.Style.Middle() + " " + Display(check.Name) + "  " +
					pr.Style.Dim(Display(check.Command))
				if check.Missing != "" {
					line += "  " + pr.Style.Yellow(pr.Text("cli.check.not_installed", Display(check.Missing)))
				}
				out = append(out, line)
			}
		}
		return out
	}
	e := s.Run.Evaluation
	out := []string{"", pr.Style.Bold(pr.Text("cli.stage.evaluated", e.Score, e.By))}
	for _, d := range e.Dimensions {
		words := make([]string, 0, len(d.Evidence))
		for _, q := range d.Evidence {
			words = append(words, "“"+Display(q.Quote)+"”")
		}
		if len(words) == 0 {
			words = []string{pr.Style.Dim(pr.Text("cli.stage.no_evidence"))}
		}
		out = append(out, "  "+pr.Text("cli.stage.dimension", pr.Text("cli.stage.aspect."+string(d.Name)), d.Points,
			d.Name.Most())+"  "+strings.Join(words, " "))
	}
	_, why := e.Path()
	reasons := make([]string, 0, len(why))
	for _, r := range why {
		reasons = append(reasons, pr.Text(r.Key, Args(r.Args)...))
	}
	out = append(out, "  "+pr.Text("cli.stage.path", string(s.Run.Path), strings.Join(reasons, "; ")))
	for _, f := range e.HighRisk {
		out = append(out, "  "+highRisk(pr, f))
	}
	return out
}

// looking are the commands that only look, so that they can be given while something is asked; those of a group are
// named behind it.
var looking = map[string][]string{
	"status": nil, "show": nil, "diff": nil, "log": nil, "logs": nil, "budget": nil, "doctor": nil, "version": nil,
	"help":  nil,
	"audit": {"log", "show", "verify"}, "task": {"list", "show", "log"}, "issue": {"list", "show"}, "plan": {"show"},
	"agent": {"list"}, "config": {"show", "get"}, "mcp": {"list"}, "skill": {"list", "show"}, "question": {"list"},
}

// hear carries out what was typed at a question and is no answer to it. It reports whether it meant anything.
func hear(ctx context.Context, a *App, line string) bool {
	words := strings.Fields(line)
	if len(words) == 0 {
		return false
	}
	first, command := strings.CutPrefix(words[0], "/")
	if first == "pawl" && len(words) > 1 {
		words, command = words[1:], true
		first = words[0]
	}
	if !slices.Contains(Names(a), first) || !command && len(words) > 3 {
		return hearWords(ctx, a, line)
	}
	args := append([]string{first}, words[1:]...)
	if group, ok := looking[first]; !ok || group != nil && (len(words) < 2 || !slices.Contains(group, words[1])) {
		return later(a, "pawl "+strings.Join(args, " "))
	}
	return whileAsked(a, func() { Again(ctx, a, args) })
}

// hearWords carries out a ~command that only reads, and what asks; a flow takes the place of what asks, and everything
// else has to wait. What the words are is judged as if nothing waited: what waits would make a reply of them.
func hearWords(ctx context.Context, a *App, line string) bool {
	topic, known := triage.Inquire(line)
	r, err := triage.Decide(line, triage.Situation{})
	info, _ := workflow.LookupCommand(r.Command)
	switch {
	case known && topic == triage.TopicPause:
		return later(a, "pawl pause")
	case err == nil && info.Flow():
		a.Screen.Next = line
		return true
	case r.Kind == triage.KindControl:
		return later(a, "pawl "+string(r.Control))
	case info.Effect == workflow.Write:
		return later(a, r.Command)
	case known, r.Kind == triage.KindCommand, r.Kind == triage.KindUnknownCommand,
		r.Kind == triage.KindQuestion && len([]rune(line)) >= wordy:
		return whileAsked(a, func() { Again(ctx, a, []string{Say, "--", line}) })
	}
	return false
}

// wordy is how many characters a question has at least: what is shorter is a mistyped answer.
const wordy = 5

// later says that a command has to wait until the question is answered.
func later(a *App, command string) bool {
	a.Say(a.Style.Warn() + " " + a.Text("cli.ask.later", command))
	return true
}

// whileAsked runs a command line while a question is open; it tells by itself what went wrong.
func whileAsked(a *App, run func()) bool {
	lang, style, hear := a.Screen.Lang, a.Screen.Style, a.Screen.Hear
	run()
	a.Screen.Lang, a.Screen.Style, a.Screen.Hear = lang, style, hear
	return true
}

// Named accepts one name, or none where a person can choose it: on a terminal, and never in a pipe or with --json.
func Named(pr *Printer) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) == 0 && Picks(pr) {
			return nil
		}
		return Exactly(1)(c, args)
	}
}

// Picks reports whether a person can choose from a list: on a terminal that draws, and never with --json.
func Picks(pr *Printer) bool { return pr.Present() && pr.Screen.Drawn() }

// Pick returns the name that was given, or lets a person choose one of the items.
func Pick(ctx context.Context, pr *Printer, args []string, title string,
	items func() ([]tui.Item, error)) (string, error) {
	if len(args) > 0 {
		return args[0], nil
	}
	list, err := items()
	if err != nil {
		return "", err
	}
	if len(list) == 0 {
		return "", pawl.Fail(pawl.CodeNotFound, "cli.pick.empty")
	}
	i, err := pr.Screen.Pick(ctx, pr.Text(title), list)
	if errors.Is(err, tui.ErrLeft) {
		err = Shown(pawl.Fail(pawl.CodeCanceled, "cli.ended", "canceled"))
	}
	return i.ID, err
}

// MaxPicked is how many things a person is offered to choose from.
const MaxPicked = 1000
