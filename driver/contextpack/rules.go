package contextpack

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"strings"

	"pawl/kernel/effect"
	"pawl/sandbox/ignore"
	"pawl/sandbox/safeopen"
)

// ruleFiles are the files in which projects tell agents and contributors how to work, in the order in which they are
// asked.
var ruleFiles = []string{"AGENTS.md", "CLAUDE.md", ".github/copilot-instructions.md", "GEMINI.md", ".cursorrules",
	"CONTRIBUTING.md", ".github/CONTRIBUTING.md", "docs/CONTRIBUTING.md"}

const (
	maxRules    = 14  // lines of one file
	maxRule     = 240 // bytes of one line
	maxRuleFile = 64 << 10
)

// constraints quote the first lines of the project's own rules. Each names the file that it is from and stands in
// quotes: whoever can change that file has written it, so it tells an agent what the project wants and nothing about
// what pawl lets it do.
func constraints(root *safeopen.Root, workspace string, budget int) []string {
	out := []string{}
	seen := map[[32]byte]bool{}
	hidden, err := ignore.Open(root, workspace)
	if err != nil {
		return out
	}
	defer hidden.Close()
	for _, name := range ruleFiles {
		if hidden.Refuse(name) != nil {
			continue
		}
		data, err := root.ReadFile(name, maxRuleFile)
		if err != nil || bytes.IndexByte(data, 0) >= 0 || seen[sha256.Sum256(data)] {
			continue
		}
		seen[sha256.Sum256(data)] = true
		n, fenced := 0, false
		for line := range bytes.Lines(data) {
			text := oneLine(strings.TrimLeft(string(line), "#>*- \t"), maxRule)
			if strings.HasPrefix(text, "```") {
				fenced = !fenced
				continue
			}
			if fenced || text == "" || strings.HasPrefix(text, "<") || strings.HasPrefix(text, "[!") ||
				strings.HasPrefix(text, "![") {
				continue
			}
			rule := fmt.Sprintf("%s says: %q", name, text)
			cost := textCost(rule)
			if n++; n > maxRules || cost > budget {
				break
			}
			budget -= cost
			out = append(out, rule)
		}
	}
	return out
}

// The last tool results that a pack repeats. Older ones are in the conversation, or were left out of it on purpose.
const (
	maxRecent = 5
	headBytes = 600 // of a result that is too long to be repeated
)

// recentActions repeats the last results as a whole, newest first while they fit, and of one that does not fit its
// beginning and its end. Undo data is left out: it tells nothing that the tree does not.
func recentActions(all []effect.ToolResult, budget int) []effect.ToolResult {
	out := []effect.ToolResult{}
	all = all[max(0, len(all)-maxRecent):]
	for i := len(all) - 1; i >= 0; i-- {
		r := all[i]
		r.Inverse = nil
		if actionCost(r) > budget {
			r = shortened(r)
		}
		if actionCost(r) > budget {
			break
		}
		budget -= actionCost(r)
		out = append([]effect.ToolResult{r}, out...)
	}
	return out
}

// shortened replaces a long payload by its ends.
func shortened(r effect.ToolResult) effect.ToolResult {
	text := clean(string(r.Payload))
	tail := text[max(0, len(text)-headBytes):]
	r.Payload = effect.Encode(map[string]any{
		"shortened": true, "bytes": len(r.Payload), "head": clip(text, headBytes), "tail": strings.ToValidUTF8(tail,
			""),
	})
	return r
}
