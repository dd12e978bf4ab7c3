package view

import (
	"fmt"
	"strings"
	"time"
)

// Decision is a line of project_decisions.md (save_decision of docs/spec/session.md#context-manager). Type is
// Architecture, Lib or Rule.
type Decision struct {
	ID, Type, Content string
	By                string
	At                time.Time
	// ReplacedBy and ReplacedAt are set once a later decision contradicts this one.
	ReplacedBy string
	ReplacedAt time.Time
}

// Incident is a row of the known issues (docs/spec/session.md#known-issues).
type Incident struct {
	ID, Type, Cause, Fix, Scope string
	At                          time.Time
}

// keepReplaced is how long a replaced decision is still shown.
const keepReplaced = 7 * 24 * time.Hour

// DecisionTypes returns the types of a decision in the order of the file's sections.
func DecisionTypes() []string { return []string{"Architecture", "Lib", "Rule"} }

// Decisions returns the content of project_decisions.md. Replaced decisions are marked and shown for a week after their
// replacement; now says what a week ago was.
func Decisions(decisions []Decision, incidents []Incident, now time.Time) []byte {
	var b strings.Builder
	b.WriteString("# Project Decisions\n\n## 1. Overview\n\n| 类型 | 数量 |\n| --- | --- |\n")
	counts := map[string]int{}
	for _, d := range decisions {
		if d.ReplacedBy == "" {
			counts[d.Type]++
		}
	}
	for _, t := range DecisionTypes() {
		fmt.Fprintf(&b, "| %s | %d |\n", t, counts[t])
	}
	fmt.Fprintf(&b, "| Known Issues | %d |\n", len(incidents))
	for i, t := range DecisionTypes() {
		fmt.Fprintf(&b, "\n## %d. %s\n\n", i+2, t)
		for _, d := range decisions {
			if d.Type == t && d.ReplacedBy == "" {
				d.write(&b, "")
			}
		}
	}
	b.WriteString("\n## 5. Known Issues\n\n| 日期 | 错误类型 | 根因分析 | 修复方案 | 影响范围 |\n| --- | --- | --- | --- | --- |\n")
	for _, i := range incidents {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", i.At.UTC().Format(time.DateOnly), cell(i.Type), cell(i.Cause),
			cell(i.Fix), cell(i.Scope))
	}
	b.WriteString("\n## 6. Deprecated\n\n")
	for _, d := range decisions {
		if d.ReplacedBy != "" && now.Sub(d.ReplacedAt) < keepReplaced {
			d.write(&b, "[Deprecated] ")
		}
	}
	return []byte(b.String())
}

func (d Decision) write(b *strings.Builder, sign string) {
	fmt.Fprintf(b, "- %s%s %s: %s", sign, d.At.UTC().Format(time.DateOnly), span(d.ID), line(d.Content, maxGoal))
	if d.ReplacedBy != "" {
		b.WriteString(" → " + span(d.ReplacedBy))
	}
	b.WriteString("\n")
}
