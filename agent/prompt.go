package agent

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"strings"

	"pawl/text/display"

	"pawl/kernel/effect"
	"pawl/text/plan"
)

//go:embed prompts/*.md
var promptFiles embed.FS

// GiveUpMark begins the line with which an external agent says that a step cannot be done.
const GiveUpMark = "PAWL-GIVE-UP:"

// AskMark begins the line with which an external agent asks the person, which ends its turn.
const AskMark = "PAWL-ASK:"

// DisputeMark begins the line with which an external agent says that a test of the plan is wrong, which ends its turn:
// the path of the test, a colon, and the reason.
const DisputeMark = "PAWL-DISPUTE:"

// Bounds of a prompt and of its parts, in bytes: one argument of a program holds 128 KiB on Linux.
const (
	maxPrompt  = 120 << 10
	maxGoal    = 16 << 10
	maxStep    = 8 << 10
	maxFailure = 24 << 10
	maxNotes   = 8 << 10
	maxPack    = 32 << 10

	maxQuestion  = 72 << 10
	maxSaidAgain = 16 << 10
)

// Prompt is what an agent is told, and the digest of the fixed part, by which the audit names it.
type Prompt struct{ Text, Digest string }

// NewPrompt writes the prompt for a step or a repair. Again says that the agent, or an earlier session of it, may have
// begun already.
func NewPrompt(spec effect.WorkSpec, chinese, again bool) Prompt {
	rules := Rules("external", chinese)
	text := rules.Text + "\n"
	if again {
		text += Section("Before", Rules("again", chinese).Text)
	}
	text += Section("Goal", head(spec.Goal, maxGoal)) + Section("Plan", head(Steps(spec.Plan, spec.Step), maxStep))
	if len(spec.Plan.Criteria) > 0 {
		text += Section("What has to hold in the end", head(Criteria(spec.Plan), maxStep))
	}
	if i, ok := spec.Plan.Find(spec.Step); ok {
		s := spec.Plan.Steps[i]
		text += Section("Your step", head(s.StepID+": "+s.Title+"\n"+s.Intent, maxGoal))
	}
	if f := spec.Failure; f != nil {
		text += Section("What failed", FailureText(*f))
	}
	if len(spec.Notes) > 0 {
		text += Section("Notes", tail(strings.Join(spec.Notes, "\n"), maxNotes))
	}
	text += checksText(spec.Context)
	if p := spec.Context.Pack; p != nil {
		text += head(PackText(*p), maxPack)
	}
	return Prompt{Text: head(clean(text), maxPrompt), Digest: rules.Digest}
}

// Rules are the fixed part of the prompts for a purpose, which comes first.
func Rules(purpose string, chinese bool) Prompt {
	lang := "en"
	if chinese {
		lang = "zh"
	}
	raw, err := promptFiles.ReadFile("prompts/" + purpose + "." + lang + ".md")
	if err != nil {
		panic(err) // the files are part of the program
	}
	sum := sha256.Sum256(raw)
	return Prompt{Text: string(raw), Digest: hex.EncodeToString(sum[:])}
}

// prompt writes the prompt for an agent that looks at the project itself. With a flaw it is shown its earlier answer as
// well: whether or not it remembers that, nothing is missing.
func (q Question) prompt(said string, flaw error) Prompt {
	rules := Rules(q.Purpose, q.Chinese)
	text := rules.Text + "\n" + Rules("asked", q.Chinese).Text + "\n" + q.Form() + head(q.Text, maxQuestion)
	if flaw != nil {
		text += Section("Your answer", head(said, maxSaidAgain)) + Again(flaw)
	}
	return Prompt{Text: head(clean(text), maxPrompt), Digest: rules.Digest}
}

func answersText(list []effect.Answered) string {
	var b strings.Builder
	for _, a := range list {
		if a.Answer == "" {
			a.Answer = "(no answer: go on with what there is)"
		}
		fmt.Fprintf(&b, "%s\n→ %s\n", Asked(a), a.Answer)
	}
	if b.Len() == 0 {
		return ""
	}
	return Section("Questions and answers", b.String())
}

// FactsText says what pawl found out about the workspace.
func FactsText(c effect.ContextResult) string {
	var b strings.Builder
	fmt.Fprintf(&b, "branch %s, %d files, ecosystems: %s\n", c.Branch, c.Files, strings.Join(c.Ecosystems, ", "))
	for _, check := range c.Checks {
		fmt.Fprintf(&b, "check %q (%s): %s\n", check.Name, check.Kind, check.Command)
	}
	return Section("Workspace", b.String())
}

// Section writes a part of a prompt under a heading. What follows a heading is data: a heading of its own is broken.
func Section(title, body string) string {
	body = strings.TrimSpace(strings.ReplaceAll("\n"+body, "\n## ", "\n # # "))
	return "## " + title + "\n" + body + "\n\n"
}

// Criteria lists what has to hold once a plan is carried out, and how that is shown: by which command, tests and
// checks, in which paths, and of which texts a test has to speak.
func Criteria(p plan.Plan) string {
	var b strings.Builder
	add := func(what string, list ...string) {
		if text := strings.Join(list, ", "); text != "" {
			b.WriteString("; " + what + ": " + text)
		}
	}
	for _, c := range p.Criteria {
		fmt.Fprintf(&b, "%s (%s): %s", c.ID, c.Proof, c.Text)
		add("run", c.Run)
		add("tests", c.Tests...)
		add("checks", c.Checks...)
		add("paths", c.Paths...)
		add("texts", c.Texts...)
		for _, f := range c.Files {
			if !f.Held {
				add("tests that are there and stay as they are", f.Path)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// Steps lists the steps of a plan with a mark at the one that is at work.
func Steps(p plan.Plan, current string) string {
	var b strings.Builder
	for _, s := range p.Steps {
		mark := " "
		if s.StepID == current {
			mark = ">"
		}
		fmt.Fprintf(&b, "%s [%s] %s: %s\n", mark, s.Status, s.StepID, s.Title)
	}
	return b.String()
}

// FailureText says what failed as pawl saw it. Of a long output the end is kept, where the reason usually stands.
func FailureText(f effect.Failure) string {
	out := fmt.Sprintf("%s (%s)\n", f.What, f.Class)
	bad := 0
	for _, c := range f.Checks {
		if c.Status == effect.CheckFailed || c.Status == effect.CheckError {
			bad++
		}
	}
	for _, c := range f.Checks {
		if c.Status == effect.CheckFailed || c.Status == effect.CheckError {
			out += fmt.Sprintf("$ %s\nexit status %d\n%s\n", c.Command, c.ExitCode, tail(c.Output, maxFailure/bad))
			if len(c.Lost) > 0 {
				out += "These tests ran before the work and end no more, or are new and never end: " +
					strings.Join(c.Lost, ", ") + "\n"
			}
			if c.FailingBefore {
				out += "This check failed in the same way before the work began.\n"
			}
		}
	}
	if bad == 0 {
		out += tail(f.Output, maxFailure)
	}
	if len(f.Unproven) > 0 {
		out += "Every check passed, and nothing shows yet that this was done:\n"
		for _, c := range f.Unproven {
			why := strings.ReplaceAll(string(c.Why), "_", " ")
			switch {
			case c.Why == effect.WhyHeldOut: // which tests those are is what is held out
				why += ": it holds for the cases that you see in the tests, and not for others of the same kind"
			case len(c.Shown) > 0:
				why += ": " + strings.Join(c.Shown, ", ")
			}
			out += fmt.Sprintf("- %s (%s)\n", c.Text, why)
		}
		out += "Do what is missing. Then add a test that fails without the change, because of a wrong result and not\n" +
			"of a missing name, and that passes with it.\n"
	}
	return out + objectionsText(f.Objections)
}

// objectionsText says what a reviewer objects to, with the tests that fail.
func objectionsText(list []effect.Objection) string {
	if len(list) == 0 {
		return ""
	}
	out := "Every check passed, and a reviewer objects:\n"
	for _, o := range list {
		out += "- " + o.Reason + "\n"
		if o.File != "" {
			out += fmt.Sprintf("  %s:%d (%s)\n", o.File, o.Line, o.Criterion)
		}
		if t := o.Test; t != nil && o.Red() {
			out += fmt.Sprintf("  This test fails: %s %s\n%s\n", t.Path, t.Run, t.Content)
		}
	}
	return out + "Mend what is wrong, and add a test for it. Leave the work as it is where the reviewer is mistaken.\n"
}

func checksText(c effect.ContextResult) string {
	var b strings.Builder
	for _, check := range c.Checks {
		fmt.Fprintf(&b, "%s (%s): %s\n", check.Name, check.Kind, check.Command)
	}
	if b.Len() == 0 {
		return ""
	}
	return Section("Checks of the project", head(b.String(), maxStep))
}

// PackText writes a context pack.
func PackText(p effect.ContextPack) string {
	var out string
	if p.WorkspaceSummary != "" {
		out += Section("Summary of the workspace", p.WorkspaceSummary)
	}
	if len(p.Constraints) > 0 {
		out += Section("Rules of the project", strings.Join(p.Constraints, "\n"))
	}
	out += recent(p.RecentActions)
	var b strings.Builder
	for _, h := range p.Hits {
		fmt.Fprintf(&b, "%s:%s (%s) %s\n", h.Path, h.Lines, h.Source, h.Summary)
	}
	if b.Len() > 0 {
		out += Section("Places that may matter", b.String())
	}
	for _, s := range p.Snippets {
		out += Section(fmt.Sprintf("%s, lines %d-%d", s.Path, s.StartLine, s.EndLine), s.Content)
	}
	return out
}

// recent writes the results of the last calls as they are: shortening them is the business of whoever built the pack.
func recent(list []effect.ToolResult) string {
	var b strings.Builder
	for _, r := range list {
		fmt.Fprintf(&b, "%s\n", r.Payload)
		if len(r.Artifacts.FilesChanged) > 0 {
			fmt.Fprintf(&b, "files changed: %s\n", strings.Join(r.Artifacts.FilesChanged, ", "))
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return Section("Results of the last calls, newest last", b.String())
}

// head keeps the beginning of a text and tail its end, between runes.
func head(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return display.Head(s, n) + "\n… (cut)\n"
}

func tail(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return "(cut) …\n" + display.Tail(s, n)
}

// clean makes a text fit for an argument of a program: valid UTF-8 without NUL.
func clean(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

// lastWord returns what follows a mark when a text ends with a line that begins with it.
func lastWord(text, mark string) (said string, ok bool) {
	text = strings.TrimSpace(text)
	line := text[strings.LastIndexByte(text, '\n')+1:]
	if said, ok = strings.CutPrefix(strings.TrimLeft(line, "*`> "), mark); !ok {
		return "", false
	}
	return strings.Trim(said, " *`"), true
}
