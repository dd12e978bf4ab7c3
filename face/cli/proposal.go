package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"pawl"
	"pawl/face/cli/term"
	"pawl/face/host"
	"pawl/kernel"
	"pawl/kernel/effect"
	"pawl/kernel/query"
	"pawl/kernel/view"
	"pawl/text/plan"
	"pawl/text/policy"
	"pawl/text/strictjson"
	"pawl/text/triage"
)

// shortValue is the number of lines of one argument that a proposal shows unless all of it is asked for.
const shortValue = 20

// sheet collects the lines of a document for a person. Cut says that something was left out, which a person must have
// seen before approving (security: what is approved is what was shown).
type sheet struct {
	pr    *Printer
	full  bool
	cut   bool
	lines []string
	// drafts are what the calls of a step would change, by the id of the step; none where that is not known.
	drafts map[string][]host.Draft
}

// Drafts tells what the calls of a plan that are still to be made would change in the user's files as they are now, by
// the ids of their steps, none where that cannot be told.
func Drafts(sess *Session, p view.Plan) map[string][]host.Draft {
	if sess.Workspace.Preview == nil {
		return nil
	}
	place := sess.Workspace.Place
	place.Tree = place.Workspace
	var calls []effect.ToolCall
	for _, step := range p.Steps {
		if step.Status.Closed() {
			continue
		}
		for _, c := range step.Calls {
			calls = append(calls, effect.ToolCall{Name: c.Tool, Args: c.Args, StepID: step.ID})
		}
	}
	found, err := sess.Workspace.Preview(place, calls)
	if err != nil {
		return nil // what is asked about is told by its arguments, too
	}
	out := map[string][]host.Draft{}
	for i, c := range calls {
		out[c.StepID] = append(out[c.StepID], found[i])
	}
	return out
}

func (s *sheet) add(line string) { s.lines = append(s.lines, line) }

// wrapped adds text that is wrapped to the width behind an indent.
func (s *sheet) wrapped(indent int, text string) {
	for _, l := range term.Wrap(text, s.pr.Std.Width-indent) {
		s.add(strings.Repeat(" ", indent) + l)
	}
}

// Proposal is a plan as it is put before a person, in full: each line of it.
func Proposal(sess *Session, p view.Plan) []string {
	return newProposal(sess.Printer, p, true, Drafts(sess, p)).lines
}

// planned is the plan that waits, with what an undo could not bring back if it changed that.
func planned(ctx context.Context, sess *Session, s *kernel.Snapshot) view.Plan {
	p := query.PlanOf(s)
	if r := s.Run; r != nil && r.Place.InPlace && sess.Workspace.Unkept != nil && s.Approval.About == "plan" {
		// What cannot be told here is told by the run's result.
		p.Unkept, _ = sess.Workspace.Unkept(ctx, r.Place)
	}
	return p
}

// highRisk says what is found of extremely high risk, in the words in which it stands there.
func highRisk(pr *Printer, f triage.Finding) string {
	mark, key := pr.Style.Middle(), "cli.stage.risk_mention"
	switch f.Stance {
	case triage.StanceAction:
		mark, key = pr.Style.Warn(), "cli.stage.risk_action"
	case triage.StanceUnsure:
		mark, key = pr.Style.Warn(), "cli.stage.risk_unsure"
	}
	return mark + " " + pr.Text(key, pr.Text("triage.kind_"+string(f.Kind)), Display(f.Quote),
		string(f.Kind))
}

// newProposal renders a plan as it is put before a person: goal, steps with each call and its verdict, risk, checks,
// files and hash.
func newProposal(pr *Printer, p view.Plan, full bool, drafts map[string][]host.Draft) *sheet {
	s := &sheet{pr: pr, full: full, drafts: drafts}
	s.add("")
	head := pr.Text("cli.plan.head", Short(p.Hash))
	if p.Agent != "" {
		head += " " + pr.Style.Middle() + " " + pr.Text("cli.plan.by", p.Agent)
	}
	s.add(pr.Style.Bold(head) + " " + pr.Style.Middle() + " " + riskText(pr, p.Risk))
	if p.Stated != "" {
		s.add("  " + pr.Style.Dim(pr.Text("cli.plan.risk_stated", string(p.Stated))))
	}
	for _, f := range p.HighRisk {
		s.add("  " + highRisk(pr, f))
	}
	s.add("")
	s.value(2, p.Goal)
	for _, c := range p.Constraints {
		for i, l := range term.Hang(Display(c), 6, s.pr.Std.Width, 0, "") {
			if i == 0 {
				l = "    - " + l
			}
			s.add(l)
		}
	}
	for _, g := range p.Network {
		for _, l := range term.Wrap(s.pr.Text("cli.plan.network", Display(g.Name), places(g)), s.pr.Std.Width-2) {
			s.add("  " + s.pr.Style.Red(l))
		}
	}
	s.criteria(p)
	for i, step := range p.Steps {
		s.step(i, step)
	}
	s.add("")
	s.facts(p)
	if len(p.Unkept) > 0 {
		s.add("")
		s.wrapped(2, pr.Text("cli.plan.unkept", Display(effect.Named(p.Unkept))))
	}
	if len(p.Needs) > 0 {
		s.add("")
		for _, l := range term.Wrap(s.pr.Text("cli.plan.needs", NeedsText(p.Needs)), s.pr.Std.Width-2) {
			s.add("  " + s.pr.Style.Yellow(l))
		}
		s.add("  " + Display(FetchText(p.Needs))) // whole, so that it can be copied
	}
	s.outward(p)
	s.add("")
	return s
}

// criteria adds what has to hold once the plan is carried out, and how that is shown. That pawl can show nothing of it
// is said to whoever approves.
func (s *sheet) criteria(p view.Plan) {
	s.add("")
	if len(p.Criteria) > 0 {
		s.add("  " + s.pr.Text("cli.plan.criteria"))
	}
	for _, c := range p.Criteria {
		how := strings.Join(slices.Concat(c.Tests, c.Checks, c.Paths, c.Texts), ", ")
		if c.Run != "" {
			how = strings.TrimSuffix(c.Run+", "+how, ", ")
		}
		word := s.pr.Text("cli.plan.proof." + string(c.Proof))
		s.hung("    "+s.pr.Style.Cyan(word)+"  ", 6+term.Width(word), Display(c.Text), Display(how))
		for _, f := range c.Files {
			key := "cli.plan.test_file"
			if f.Held {
				key = "cli.plan.test_held"
			}
			s.wrapped(6, s.pr.Text(key, Display(f.Path)))
			s.value(8, f.Content)
		}
	}
	if !(plan.Plan{Criteria: p.Criteria}).Shown() {
		for _, l := range term.Wrap(s.pr.Text("cli.plan.unshown"), s.pr.Std.Width-2) {
			s.add("  " + s.pr.Style.Yellow(l))
		}
	}
}

// NeedsText names what checks need and the machine has not.
func NeedsText(needs []effect.Need) string {
	var out []string
	for _, n := range needs {
		text := n.Ecosystem + ": " + strings.Join(n.Missing, ", ")
		if more := n.Count - len(n.Missing); more > 0 {
			text += fmt.Sprintf(", +%d", more)
		}
		out = append(out, text)
	}
	return strings.Join(out, "; ")
}

// FetchText is the one command that fetches all of it.
func FetchText(needs []effect.Need) string {
	var out []string
	for _, n := range needs {
		out = append(out, n.Next())
	}
	return strings.Join(out, " && ")
}

// outward names the calls that only a person's own yes covers, so that whoever says it has read them.
func (s *sheet) outward(p view.Plan) {
	first := true
	for _, step := range p.Steps {
		for _, c := range step.Calls {
			if c.Verdict == nil || !c.Verdict.Person {
				continue
			}
			if first {
				s.add("")
				for _, l := range term.Wrap(s.pr.Text("cli.plan.outward"), s.pr.Std.Width-2) {
					s.add("  " + s.pr.Style.Red(l))
				}
				first = false
			}
			for _, r := range c.Verdict.Reasons {
				if r.Code == policy.CodeOutward && len(r.Args) > 0 {
					s.hung("    ", 4, r.Args[0], Display(step.ID))
				}
			}
		}
	}
}

// places names what a network grant stands for.
func places(g effect.Grant) string {
	var out []string
	for _, site := range g.Sites {
		out = append(out, net.JoinHostPort(Display(site.Host), strconv.Itoa(int(site.Port))))
	}
	return strings.Join(out, ", ")
}

// Short is the beginning of a hash or an id, by which people name it.
func Short(hash string) string { return hash[:min(12, len(hash))] }

func riskText(pr *Printer, r pawl.Risk) string {
	text := pr.Text("cli.plan.risk", string(r))
	switch {
	case r == pawl.RiskLow:
		return pr.Style.Green(text)
	case r == pawl.RiskMedium:
		return pr.Style.Yellow(text)
	}
	return pr.Style.Red(text)
}

func (s *sheet) step(i int, step view.PlanStep) {
	s.add("")
	number := fmt.Sprintf("%d.", i+1)
	s.hung("  "+s.pr.Style.Bold(number)+" ", len(number)+3, Display(step.Title), Display(step.ID))
	if step.Status != "" && step.Status != "pending" {
		s.add("     " + s.pr.Style.Dim(string(step.Status)))
	}
	if step.Intent != "" && step.Intent != step.Title {
		s.wrapped(5, Display(step.Intent))
	}
	if len(step.DependsOn) > 0 {
		for _, l := range term.Wrap(s.pr.Text("cli.plan.depends", strings.Join(step.DependsOn, ", ")),
			s.pr.Std.Width-5) {
			s.add("     " + s.pr.Style.Dim(l))
		}
	}
	drafts := s.drafts[step.ID]
	for n, c := range step.Calls {
		if n < len(drafts) {
			s.call(c, drafts[n])
		} else {
			s.call(c, host.Draft{})
		}
	}
}

// call adds one call with its verdict and its arguments.
func (s *sheet) call(c view.PlanCall, draft host.Draft) {
	head, at := "     "+s.pr.Style.Arrow()+" "+s.pr.Style.Bold(Display(c.Tool))+"  ", 9+term.Width(Display(c.Tool))
	if at > s.pr.Std.Width/2 {
		s.add(head)
		head, at = "       ", 7
	}
	text, paint := VerdictText(s.pr, c.Verdict)
	reasons := reasonsOf(s.pr, c.Verdict)
	if len(reasons) > 1 {
		// Several reasons are read one by one.
		text = s.pr.Text("cli.plan.asks_for", len(reasons))
		if c.Verdict.Decision != policy.Ask {
			text = s.pr.Text("cli.plan.denied_for", len(reasons))
		}
	}
	for i, l := range term.Wrap(text, s.pr.Std.Width-at) {
		if i > 0 {
			head = strings.Repeat(" ", at)
		}
		s.add(head + paint(l))
	}
	for i := 0; len(reasons) > 1 && i < len(reasons); i++ {
		for j, l := range term.Hang(reasons[i], 9, s.pr.Std.Width, 0, "") {
			if j == 0 {
				l = "       " + s.pr.Style.Dot() + " " + paint(l)
			}
			s.add(l)
		}
	}
	if c.Why != "" {
		s.wrapped(7, s.pr.Text("cli.plan.why", c.Why))
	}
	if s.draft(draft) {
		return
	}
	args, err := strictjson.Parse(c.Args, strictjson.Options{Repeats: true, HalfPairs: true})
	if err != nil || args.Kind() != strictjson.Object {
		s.member(7, "", c.Args)
	}
	for m := range args.Members() {
		s.member(7, m.Name, m.Value.Raw())
	}
}

// draft shows what a call would change, in place of its arguments, and reports whether that says all of it: a diff
// does.
func (s *sheet) draft(d host.Draft) bool {
	if d.Err != nil {
		s.hung("       "+s.pr.Style.Bad()+" ", 9, s.pr.Text("cli.plan.would_fail", Explain(s.pr, d.Err)), "")
	}
	if !d.Known || d.Err != nil || d.Patch == "" {
		return false
	}
	lines := strings.Split(strings.TrimSuffix(d.Patch, "\n"), "\n")
	left := 0
	if !s.full && len(lines) > shortValue {
		left, lines = len(lines)-shortValue, lines[:shortValue]
		s.cut = true
	}
	for _, l := range lines {
		paint := s.pr.Style.DiffColor(l)
		for _, part := range term.Wrap(term.Visible(l), s.pr.Std.Width-7) {
			s.add("       " + paint(part))
		}
	}
	if left > 0 {
		s.add("       " + s.pr.Style.Yellow(s.pr.Text("cli.plan.left_out", left)))
	}
	s.flag(7, d.Patch)
	return true
}

// hung adds text behind a head that takes at columns, wrapped below itself, and then a name, on the last line where it
// fits and else on one of its own.
func (s *sheet) hung(head string, at int, text, name string) {
	lines := term.Hang(text, at, s.pr.Std.Width, 0, "")
	last := len(lines) - 1
	taken := term.Width(lines[last])
	if last == 0 {
		taken += at
	}
	lines[0] = head + lines[0]
	if taken+2+term.Width(name) <= s.pr.Std.Width {
		lines[last] += s.pr.Style.Dim("  " + name)
	} else {
		lines = append(lines, strings.Repeat(" ", at)+s.pr.Style.Dim(name))
	}
	for _, l := range lines {
		s.add(l)
	}
}

// VerdictText says what the policy says, nothing is asked, or what is and why, and how to paint it.
func VerdictText(pr *Printer, v *policy.Verdict) (string, func(string) string) {
	if v == nil {
		return "", pr.Style.Dim
	}
	text := strings.Join(reasonsOf(pr, v), pr.Choose("; ", "；"))
	switch v.Decision {
	case policy.Allow:
		return pr.Text("cli.plan.allowed"), pr.Style.Green
	case policy.Ask:
		return pr.Text("cli.plan.asks", text), pr.Style.Yellow
	}
	return pr.Text("cli.plan.denied", text), pr.Style.Red
}

// reasonsOf are what the policy has against a call, each in its own words.
func reasonsOf(pr *Printer, v *policy.Verdict) []string {
	if v == nil {
		return nil
	}
	var out []string
	for _, r := range v.Reasons {
		if r.Code != policy.CodeAllowed {
			out = append(out, pr.Text(r.Key, Args(r.Args)...))
		}
	}
	return out
}

// member adds one argument. Text is shown as it is, everything else as JSON.
func (s *sheet) member(indent int, name string, raw json.RawMessage) {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		text = string(raw)
	}
	if !strings.Contains(text, "\n") && term.Width(text)+len(name)+indent+2 <= s.pr.Std.Width {
		s.add(strings.Repeat(" ", indent) + s.pr.Style.Dim(Display(name)+":") + " " + term.Visible(text))
		s.flag(indent, text)
		return
	}
	s.add(strings.Repeat(" ", indent) + s.pr.Style.Dim(Display(name)+":"))
	s.value(indent+2, text)
}

// value adds text of any length, line by line and wrapped, and leaves out what is too much at once.
func (s *sheet) value(indent int, text string) {
	var all []string
	for l := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		all = append(all, term.Wrap(term.Visible(l), s.pr.Std.Width-indent)...)
	}
	left := 0
	if !s.full && len(all) > shortValue {
		left = len(all) - shortValue
		all = all[:shortValue]
		s.cut = true
	}
	for _, l := range all {
		s.add(strings.Repeat(" ", indent) + l)
	}
	if left > 0 {
		s.add(strings.Repeat(" ", indent) + s.pr.Style.Yellow(s.pr.Text("cli.plan.left_out", left)))
	}
	s.flag(indent, text)
}

// flag warns of characters that are not seen; they are shown as escapes.
func (s *sheet) flag(indent int, text string) {
	for l := range strings.SplitSeq(text, "\n") {
		plain := strings.ReplaceAll(l, "\t", "")
		if Display(plain) != plain {
			s.add(strings.Repeat(" ", indent) + s.pr.Style.Red("! "+s.pr.Text("cli.plan.hidden")))
			return
		}
	}
}

// facts adds what the plan comes to: checks, files, gates and hash.
func (s *sheet) facts(p view.Plan) {
	var t term.Table
	run, left := effect.LeaveOut(p.Checks, func(effect.Check) bool { return true })
	for i, c := range run {
		name := ""
		if i == 0 {
			name = s.pr.Text("cli.plan.checks")
		}
		command := Display(c.Name)
		if c.Command != "" && c.Command != c.Name {
			command += ": " + term.Visible(c.Command)
		}
		t.Row("  "+name, command)
	}
	if len(p.Checks) == 0 {
		t.Row("  "+s.pr.Text("cli.plan.checks"), s.pr.Text("cli.plan.no_checks"))
	}
	for i, c := range left {
		name := ""
		if i == 0 {
			name = s.pr.Text("cli.plan.left_out_checks")
		}
		t.Row("  "+name, s.pr.Text("cli.plan.left_out_check", Display(c.Name), Display(c.Missing)))
	}
	if len(p.Red) > 0 {
		t.Row("  "+s.pr.Text("cli.plan.red"), Display(strings.Join(p.Red, ", ")))
	}
	if len(p.Green) > 0 {
		t.Row("  "+s.pr.Text("cli.plan.green"), Display(strings.Join(p.Green, ", ")))
	}
	if len(p.Gates) > 0 {
		t.Row("  "+s.pr.Text("cli.plan.gates"), Display(strings.Join(p.Gates, ", ")))
	}
	if files := touched(p); len(files) > 0 {
		t.Row("  "+s.pr.Text("cli.plan.files"), Display(strings.Join(files, ", ")))
	}
	// The hash is what an approval is bound to: it is shown whole and never broken, so that it can be copied.
	label := "  " + s.pr.Text("cli.plan.hash")
	t.Row(label, p.Hash)
	lines := t.Lines(s.pr.Std.Width)
	if at := slices.IndexFunc(lines, func(l string) bool {
		return strings.HasPrefix(l,
			label)
	}); !strings.HasSuffix(lines[at], p.Hash) {
		lines = append(lines[:at], label, p.Hash)
	}
	for _, l := range lines {
		s.add(l)
	}
	for _, v := range p.Commands {
		if v.Decision != policy.Allow {
			text, paint := VerdictText(s.pr, &v)
			for _, l := range term.Wrap(text, s.pr.Std.Width-2) {
				s.add("  " + paint(l))
			}
		}
	}
}

// touched lists the files that the calls of a plan name for writing or deleting.
func touched(p view.Plan) []string {
	var out []string
	seen := map[string]bool{}
	for _, step := range p.Steps {
		for _, c := range step.Calls {
			if c.Verdict == nil {
				continue
			}
			for _, path := range c.Verdict.Paths {
				if path.Op != policy.OpRead && !seen[path.Rel] {
					seen[path.Rel] = true
					out = append(out, path.Rel)
				}
			}
		}
	}
	return out
}

// FileLines renders the statistics of changed files.
func FileLines(pr *Printer, files []effect.FileStat, indent string) []string {
	var t term.Table
	for _, f := range files {
		mark := f.Status
		paint := pr.Style.Yellow
		switch f.Status {
		case "A":
			paint = pr.Style.Green
		case "D":
			paint = pr.Style.Red
		}
		t.Painted(func(s string) string { return indent + paint(strings.TrimPrefix(s, indent)) }, indent+mark,
			fmt.Sprintf("+%d", f.Added), fmt.Sprintf("-%d", f.Removed), Display(f.Path))
	}
	return t.Lines(0)
}
