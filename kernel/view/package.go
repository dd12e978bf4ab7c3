package view

import (
	"fmt"
	"strings"

	"pawl"
	"pawl/kernel/effect"
	"pawl/text/plan"
	"pawl/text/solution"
)

// taskStatuses are the statuses of the tasks of tasks.md by those of the plan's steps.
var taskStatuses = map[plan.Status]solution.Status{
	plan.Pending: solution.Pending, plan.InProgress: solution.Pending, plan.Done: solution.Completed,
	plan.Blocked: solution.Uncertain, plan.Skipped: solution.Skipped,
}

// packageStates are the states of a package by the state of its task.
var packageStates = map[string][2]string{
	"draft": {"待确认", "to be confirmed"}, "approved": {"已确认", "confirmed"}, "queued": {"已确认", "confirmed"},
	"running": {"执行中", "at work"}, "verifying": {"验证中", "being verified"}, "verified": {"验证中", "being verified"},
	"done": {"已完成", "completed"}, "failed": {"失败", "failed"}, "canceled": {"已取消", "canceled"},
	"blocked": {"已阻塞", "blocked"}, rolledBack: {"已回滚", "rolled back"},
}

// rolledBack is the outcome of a run whose work was taken back.
const rolledBack = "rolled_back"

// proven says of a criterion what became of it.
var proven = map[effect.Verdict][2]string{
	effect.Proven: {"✅ 已证明", "✅ proven"}, effect.AlreadySo: {"✅ 原已如此", "✅ already so"},
	effect.Unproven: {"⛔ 未证明", "⛔ unproven"}, effect.Accepted: {"⚠️ 已接受", "⚠️ accepted"},
}

// in picks a word in the language of the package's documents.
func (p Package) in(words [2]string) string {
	if p.Lang == solution.English {
		return words[1]
	}
	return words[0]
}

// shown says what became of a criterion, with what shows it, or who accepted it without a proof, and why.
func (p Package) shown(id string) string {
	if p.Proof == nil {
		return ""
	}
	for _, c := range p.Proof.Criteria {
		if c.ID != id {
			continue
		}
		v, why := c.Verdict, strings.Join(c.Shown, ", ")
		if v == effect.Unproven && p.Proof.Verdict == effect.Accepted {
			v, why = effect.Accepted, p.Proof.By.Label()+": "+p.Proof.Reason
		}
		return " — " + strings.TrimSuffix(p.in(proven[v])+": "+line(why, maxCell), ": ")
	}
	return ""
}

// priorities are the priorities of a package by the plan's risk: the graver, the sooner it is looked at.
var priorities = map[pawl.Risk]solution.Priority{pawl.RiskHigh: solution.P0, pawl.RiskMedium: solution.P1,
	pawl.RiskLow: solution.P2}

// proposal is the package's proposal.md (docs/spec/workflow.md#proposal).
func (p Package) proposal() string {
	state := p.State
	if p.Outcome == rolledBack {
		state = p.Outcome
	}
	out := solution.Proposal{
		Title: line(p.Title, maxTitle), Kind: "feature", Type: solution.Implementation, Priority: priorities[p.Risk],
		Language: p.Lang, State: p.in(packageStates[state]),
		Created: stamp(p.Created), More: []solution.Field{{Name: p.in([2]string{"计划哈希", "Plan hash"}), Value: p.Hash}},
		Background: fmt.Sprintf(p.in([2]string{"- 任务: %s\n- 规划者: %s", "- Task: %s\n- Planner: %s"}), cell(p.Label),
			cell(p.Agent)),
		Goal:        quoted(p.Plan.Goal),
		Constraints: list(p.Plan.Constraints),
		Impact:      list(touched(p.Plan)),
		Risks:       solution.Table{Header: strings.Fields(p.in([2]string{"风险 等级 撤销方式", "Risk Level Undo"}))},
	}
	var b strings.Builder
	for _, c := range p.Plan.Criteria {
		fmt.Fprintf(&b, "- %s (%s): %s%s\n", c.ID, c.Proof, line(c.Text, maxCell), p.shown(c.ID))
	}
	for _, c := range p.Checks {
		fmt.Fprintf(&b, "- %s: %s\n", line(c.Name, maxTitle), span(c.Command))
	}
	out.Acceptance = b.String()
	b.Reset()
	for i, s := range p.Plan.Steps {
		fmt.Fprintf(&b, "%d. %s: %s\n", i+1, line(s.Title, maxTitle), line(s.Intent, maxCell))
		if s.RollbackHint != "" {
			out.Risks.Rows = append(out.Risks.Rows, []string{cell(s.Title), cell(string(p.Risk)), cell(s.RollbackHint)})
		}
	}
	out.Technical = b.String()
	if len(out.Risks.Rows) == 0 {
		out.Risks.Rows = [][]string{{"-", cell(string(p.Risk)), "`pawl undo`"}}
	}
	return out.Render()
}

// list writes texts as a list.
func list(texts []string) string {
	var b strings.Builder
	for _, t := range texts {
		b.WriteString("- " + start(t, maxCell) + "\n")
	}
	return b.String()
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

// tasks is the package's tasks.md (docs/spec/workflow.md#tasks-file). The head counts the plan's own steps, the list
// shows repairs as well.
func (p Package) tasks() string {
	out := solution.Tasks{Language: p.Lang, Title: line(p.Title, maxTitle), Notes: p.notes()}
	if p.Outcome != "" {
		out.Closing = &solution.Closing{Result: p.Ending(), At: p.Ended}
	}
	done, all := p.count()
	out.Progress = &solution.Progress{Total: all, Done: done}
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
		out.List = append(out.List, p.task(s, number))
	}
	return out.Render()
}

// status is the status of a step's task.
func (p Package) status(s plan.Step) solution.Status {
	if s.Status == plan.InProgress && p.State == "failed" {
		return solution.Failed
	}
	return taskStatuses[s.Status]
}

func (p Package) task(s plan.Step, number map[string]string) solution.Task {
	t := solution.Task{Number: number[s.StepID], Status: p.status(s), Title: line(s.Title, maxTitle)}
	if f := fileOf(s); f != "" {
		t.Title += " " + span(f)
	}
	for _, a := range s.ExpectedArtifacts {
		if a.Type != plan.ArtifactFile {
			t.Verify = append(t.Verify, span(a.Value))
		}
	}
	for _, id := range s.DependsOn {
		t.DependsOn = append(t.DependsOn, number[id])
	}
	if p.Outcome != "" && s.Status != plan.Done {
		reason := p.Reason
		if reason == "" {
			reason = string(s.Status)
		}
		t.Remarks = []string{line(reason, maxCell)}
	}
	return t
}

// notes is the table of what was verified.
func (p Package) notes() solution.Table {
	t := solution.Table{Header: strings.Fields(p.in([2]string{"检查 命令 结果 目录树", "Check Command Result Tree"}))}
	for _, e := range p.Evidence {
		for _, c := range e.Checks {
			t.Rows = append(t.Rows, []string{cell(c.Name), cell(c.Command), verdict(c), short(e.Tree)})
		}
	}
	return t
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
