package llm

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"strings"

	"pawl/effect"
)

//go:embed prompts/*.md
var files embed.FS

// prompt is a system prompt and its digest, by which the audit names it.
type prompt struct{ text, digest string }

// prompts reads the system prompt for a purpose.
func prompts(purpose string, chinese bool) prompt {
	lang := "en"
	if chinese {
		lang = "zh"
	}
	raw, err := files.ReadFile("prompts/" + purpose + "." + lang + ".md")
	if err != nil {
		panic(err) // the files are part of the program
	}
	sum := sha256.Sum256(raw)
	return prompt{text: string(raw), digest: hex.EncodeToString(sum[:])}
}

// section writes a part of a message under a heading. What follows a heading is data, never a heading itself.
func section(title, body string) string {
	body = strings.TrimSpace(strings.ReplaceAll("\n"+body, "\n## ", "\n # # "))
	return "## " + title + "\n" + body + "\n\n"
}

func answers(list []effect.Answered) string {
	var b strings.Builder
	for _, a := range list {
		if a.Answer == "" {
			a.Answer = "(no answer: go on with what there is)"
		}
		fmt.Fprintf(&b, "%s\n→ %s\n", a.Question, a.Answer)
	}
	if b.Len() == 0 {
		return ""
	}
	return section("Questions and answers", b.String())
}

// facts says what pawl found out about the workspace.
func facts(c effect.ContextResult) string {
	var b strings.Builder
	fmt.Fprintf(&b, "branch %s, %d files, ecosystems: %s\n", c.Branch, c.Files, strings.Join(c.Ecosystems, ", "))
	for _, check := range c.Checks {
		fmt.Fprintf(&b, "check %q (%s): %s\n", check.Name, check.Kind, check.Command)
	}
	return section("Workspace", b.String())
}

// packText writes a context pack.
func packText(p *effect.ContextPack) string {
	if p == nil {
		return ""
	}
	out := section("Summary of the workspace", p.WorkspaceSummary)
	if len(p.Constraints) > 0 {
		out += section("Rules of the project", strings.Join(p.Constraints, "\n"))
	}
	var b strings.Builder
	for _, h := range p.Hits {
		fmt.Fprintf(&b, "%s:%s (%s) %s\n", h.Path, h.Lines, h.Source, h.Summary)
	}
	if b.Len() > 0 {
		out += section("Places that may matter", b.String())
	}
	for _, s := range p.Snippets {
		out += section(fmt.Sprintf("%s, lines %d-%d", s.Path, s.StartLine, s.EndLine), s.Content)
	}
	return out
}

// task is the first message about a step.
func task(spec effect.WorkSpec) string {
	var b strings.Builder
	for _, s := range spec.Plan.Steps {
		mark := " "
		if s.StepID == spec.Step {
			mark = ">"
		}
		fmt.Fprintf(&b, "%s [%s] %s: %s\n", mark, s.Status, s.StepID, s.Title)
	}
	out := section("Goal", spec.Goal) + section("Plan", b.String())
	if i, ok := spec.Plan.Find(spec.Step); ok {
		s := spec.Plan.Steps[i]
		out += section("Your step", s.StepID+": "+s.Title+"\n"+s.Intent)
	}
	if f := spec.Failure; f != nil {
		out += section("What failed", failure(*f))
	}
	for _, n := range spec.Notes {
		out += section("Note", n)
	}
	return out + facts(spec.Context) + packText(spec.Context.Pack)
}

// failure says what failed as pawl saw it.
func failure(f effect.Failure) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s (%s)\n", f.What, f.Class)
	for _, c := range f.Checks {
		if c.Status == effect.CheckFailed || c.Status == effect.CheckError {
			fmt.Fprintf(&b, "$ %s\nexit status %d\n%s\n", c.Command, c.ExitCode, c.Output)
		}
	}
	if len(f.Checks) == 0 {
		b.WriteString(f.Output)
	}
	return b.String()
}
