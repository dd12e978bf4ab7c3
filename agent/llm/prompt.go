package llm

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"strings"

	"pawl/agent"
	"pawl/kernel/effect"
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

func answers(list []effect.Answered) string {
	var b strings.Builder
	for _, a := range list {
		if a.Answer == "" {
			a.Answer = "(no answer: go on with what there is)"
		}
		fmt.Fprintf(&b, "%s\n→ %s\n", agent.Asked(a), a.Answer)
	}
	if b.Len() == 0 {
		return ""
	}
	return agent.Section("Questions and answers", b.String())
}

// facts says what pawl found out about the workspace.
func facts(c effect.ContextResult) string {
	var b strings.Builder
	fmt.Fprintf(&b, "branch %s, %d files, ecosystems: %s\n", c.Branch, c.Files, strings.Join(c.Ecosystems, ", "))
	for _, check := range c.Checks {
		fmt.Fprintf(&b, "check %q (%s): %s\n", check.Name, check.Kind, check.Command)
	}
	return agent.Section("Workspace", b.String())
}

// task is the first message about a step.
func task(spec effect.WorkSpec) string {
	out := agent.Section("Goal", spec.Goal) + agent.Section("Plan", agent.Steps(spec.Plan, spec.Step))
	if len(spec.Plan.Criteria) > 0 {
		out += agent.Section("What has to hold in the end", agent.Criteria(spec.Plan))
	}
	if i, ok := spec.Plan.Find(spec.Step); ok {
		s := spec.Plan.Steps[i]
		out += agent.Section("Your step", s.StepID+": "+s.Title+"\n"+s.Intent)
	}
	if f := spec.Failure; f != nil {
		out += agent.Section("What failed", agent.FailureText(*f))
	}
	for _, n := range spec.Notes {
		out += agent.Section("Note", n)
	}
	return out + facts(spec.Context) + pack(spec.Context.Pack)
}

func pack(p *effect.ContextPack) string {
	if p == nil {
		return ""
	}
	return agent.PackText(*p)
}
