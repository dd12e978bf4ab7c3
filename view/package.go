package view

import (
	"fmt"
	"strings"

	"pawl"
	"pawl/effect"
	"pawl/plan"
)

// symbols are the signs of tasks.md (seed 002, spec.md §3.6).
var symbols = map[plan.Status]string{
	plan.Pending: " ", plan.InProgress: " ", plan.Done: "√", plan.Blocked: "?", plan.Skipped: "-",
}

// packageStates are the states of a package by the state of its task.
var packageStates = map[string]string{
	"draft": "待确认", "approved": "已确认", "queued": "已确认", "running": "执行中", "verifying": "验证中", "verified": "验证中",
	"done": "已完成", "failed": "失败", "canceled": "已取消", "blocked": "已阻塞",
}

// priorities are the priorities of a package by the plan's risk: the graver, the sooner it is looked at.
var priorities = map[pawl.Risk]string{pawl.RiskHigh: "P0", pawl.RiskMedium: "P1", pawl.RiskLow: "P2"}

// proposal is the package's proposal.md (spec.md §3.10).
func (p Package) proposal() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n## 元信息\n\n```yaml\n类型: feature\n方案类型: implementation\n优先级: %s\n状态: %s\n创建: %s\n计划哈希: %s\n```\n",
		line(p.Title, maxTitle), priorities[p.Risk], packageStates[p.State], scalar(stamp(p.Created)), scalar(p.Hash))
	b.WriteString("\n## 1. 需求\n\n### 背景\n\n")
	fmt.Fprintf(&b, "- 任务: %s\n- 规划者: %s\n", cell(p.Label), cell(p.Agent))
	b.WriteString("\n### 目标\n\n" + quoted(p.Plan.Goal))
	b.WriteString("\n### 约束\n\n")
	list(&b, p.Plan.Constraints)
	b.WriteString("\n### 验收标准\n\n")
	if len(p.Checks) == 0 {
		b.WriteString("- 无\n")
	}
	for _, c := range p.Checks {
		fmt.Fprintf(&b, "- %s: %s\n", line(c.Name, maxTitle), span(c.Command))
	}
	b.WriteString("\n## 2. 方案\n\n### 技术方案\n\n")
	for i, s := range p.Plan.Steps {
		fmt.Fprintf(&b, "%d. %s: %s\n", i+1, line(s.Title, maxTitle), line(s.Intent, maxCell))
	}
	b.WriteString("\n### 影响范围\n\n")
	list(&b, touched(p.Plan))
	b.WriteString("\n### 风险\n\n| 风险 | 等级 | 撤销方式 |\n| --- | --- | --- |\n")
	rows := 0
	for _, s := range p.Plan.Steps {
		if s.RollbackHint != "" {
			fmt.Fprintf(&b, "| %s | %s | %s |\n", cell(s.Title), cell(string(p.Risk)), cell(s.RollbackHint))
			rows++
		}
	}
	if rows == 0 {
		fmt.Fprintf(&b, "| - | %s | `pawl undo` |\n", cell(string(p.Risk)))
	}
	return b.String()
}

// list writes texts as a list, or a dash for none.
func list(b *strings.Builder, texts []string) {
	if len(texts) == 0 {
		b.WriteString("- 无\n")
	}
	for _, t := range texts {
		b.WriteString("- " + start(t, maxCell) + "\n")
	}
}

// touched lists the files that a plan says it will leave behind, each once.
func touched(p plan.Plan) []string {
	var out []string
	seen := map[string]bool{}
	for _, s := range p.Steps {
		for _, a := range s.ExpectedArtifacts {
			if a.Type == plan.ArtifactFile && !seen[a.Value] {
				seen[a.Value] = true
				out = append(out, a.Value)
			}
		}
	}
	return out
}

// tasks is the package's tasks.md (spec.md §3.10). Its task lines have the form that the seed's validator reads.
func (p Package) tasks() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n", line(p.Title, maxTitle))
	if p.Outcome != "" {
		fmt.Fprintf(&b, "> **@status:** %s | %s\n\n", packageStatus(p.Ending()), minute(p.Ended))
	}
	b.WriteString("`[ ]` 待执行 · `[√]` 已完成 · `[X]` 失败 · `[-]` 跳过 · `[?]` 待确认\n\n## 执行状态\n\n")
	done, all := p.count()
	rate := 0
	if all > 0 {
		rate = 100 * done / all
	}
	fmt.Fprintf(&b, "```yaml\n总任务: %d\n已完成: %d\n完成率: %d%%\n```\n\n## 任务列表\n\n", all, done, rate)
	number := map[string]string{}
	group, n := 0, 0
	for _, s := range p.Plan.Steps {
		if r := s.Repair(); r != group {
			group, n = r, 0
		}
		n++
		number[s.StepID] = fmt.Sprintf("%d.%d", group+1, n)
	}
	for _, s := range p.Plan.Steps {
		p.task(&b, s, number)
	}
	p.notes(&b)
	return b.String()
}

func (p Package) task(b *strings.Builder, s plan.Step, number map[string]string) {
	sign := symbols[s.Status]
	if s.Status == plan.InProgress && p.State == "failed" {
		sign = "X"
	}
	where := ""
	if f := fileOf(s); f != "" {
		where = " " + span(f)
	}
	fmt.Fprintf(b, "- [%s] %s %s%s\n", sign, number[s.StepID], line(s.Title, maxTitle), where)
	for _, a := range s.ExpectedArtifacts {
		if a.Type != plan.ArtifactFile {
			fmt.Fprintf(b, "  - 验证: %s\n", span(a.Value))
		}
	}
	if len(s.DependsOn) > 0 {
		var on []string
		for _, id := range s.DependsOn {
			on = append(on, number[id])
		}
		fmt.Fprintf(b, "  - 依赖: %s\n", strings.Join(on, ", "))
	}
	if p.Outcome != "" && s.Status != plan.Done {
		reason := p.Reason
		if reason == "" {
			reason = string(s.Status)
		}
		fmt.Fprintf(b, "  > 备注: %s\n", line(reason, maxCell))
	}
}

// notes is the table of what was verified.
func (p Package) notes(b *strings.Builder) {
	b.WriteString("\n## 执行备注\n\n| 检查 | 命令 | 结果 | 目录树 |\n| --- | --- | --- | --- |\n")
	for _, e := range p.Evidence {
		for _, c := range e.Checks {
			fmt.Fprintf(b, "| %s | %s | %s | %s |\n", cell(c.Name), cell(c.Command), verdict(c), short(e.Tree))
		}
	}
}

func verdict(o Outcome) string {
	sign := "✅"
	switch o.Status {
	case effect.CheckFailed, effect.CheckError:
		sign = "⛔"
	case effect.CheckSkipped:
		sign = "ℹ️"
	}
	return fmt.Sprintf("%s %s (%d)", sign, o.Status, o.ExitCode)
}

// packageStatus is the word of the @status line.
func packageStatus(e Ending) string {
	switch e {
	case EndedWell:
		return "completed"
	case EndedPartly:
		return "partial"
	case RolledBack:
		return "rolled_back"
	case NotCarried:
		return "skipped"
	}
	return "failed"
}
