package board

import (
	"pawl"
	"pawl/machine"
)

type kinds = []pawl.ActorKind

// Those who cause events. The seed has no column for it: a person or the person's policy decides, the system and the
// runner carry out.
var (
	byPerson = kinds{pawl.KindUser, pawl.KindPolicy, pawl.KindSystem}
	byWork   = kinds{pawl.KindSystem, pawl.KindRunner}
	byAll    = kinds{pawl.KindUser, pawl.KindPolicy, pawl.KindSystem, pawl.KindRunner}
)

// Run is the batch as a whole.
var Run = machine.New(machine.Table[RunStatus, Event]{
	Name: "board.run", Seed: "004", Initial: RunPending, Final: []RunStatus{RunCompleted},
	States: []machine.StateInfo[RunStatus]{
		{State: RunPending, Title: "pending", TitleZh: "待开始", Description: "not set up yet", DescriptionZh: "尚未初始化"},
		{State: RunRunning, Title: "running", TitleZh: "进行中", Description: "issues are listed, planned and executed", DescriptionZh: "列出、规划、执行议题"},
		{State: RunCompleted, Title: "completed", TitleZh: "已完成", Description: "finished, whatever the results of its issues", DescriptionZh: "已结束（不论各议题结果）"},
	},
	Events: about(Init, Complete), Gates: only(GateWorkDir, GateIdle), Rules: runRules,
})

// Phase is what a running batch is doing. Any loop is allowed while the batch runs (spec E4).
var Phase = machine.New(machine.Table[PhaseStatus, Event]{
	Name: "board.phase", Seed: "004", Initial: PhaseInit, Final: []PhaseStatus{PhaseComplete},
	States: []machine.StateInfo[PhaseStatus]{
		{State: PhaseInit, Title: "set up", TitleZh: "初始化", Description: "nothing listed yet", DescriptionZh: "尚未列出议题"},
		{State: PhaseListing, Title: "listing", TitleZh: "列出", Description: "issues are shown and chosen", DescriptionZh: "展示并选择议题"},
		{State: PhasePlanning, Title: "planning", TitleZh: "规划", Description: "solutions are made and bound", DescriptionZh: "制定并绑定方案"},
		{State: PhaseExecuting, Title: "executing", TitleZh: "执行", Description: "bound solutions are carried out", DescriptionZh: "执行已绑定方案"},
		{State: PhaseComplete, Title: "complete", TitleZh: "完成", Description: "statistics and report are written", DescriptionZh: "统计与报告完成"},
	},
	Events: about(List, Plan, Execute, Complete), Rules: phaseRules,
})

// Issue is one issue of the batch.
var Issue = machine.New(machine.Table[IssueStatus, Event]{
	Name: "board.issue", Seed: "004", Initial: IssueRegistered,
	Final: []IssueStatus{IssueCompleted}, Resting: []IssueStatus{IssueRegistered, IssueFailed},
	States: []machine.StateInfo[IssueStatus]{
		{State: IssueRegistered, Title: "registered", TitleZh: "已登记", Description: "known, without a plan", DescriptionZh: "已登记，尚无计划"},
		{State: IssuePlanning, Title: "planning", TitleZh: "规划中", Description: "a solution is being made", DescriptionZh: "正在制定方案"},
		{State: IssuePlanned, Title: "planned", TitleZh: "已规划", Description: "a solution is bound and queued", DescriptionZh: "方案已绑定并入队"},
		{State: IssueExecuting, Title: "executing", TitleZh: "执行中", Description: "the solution is being carried out", DescriptionZh: "正在执行方案"},
		{State: IssueCompleted, Title: "completed", TitleZh: "已完成", Description: "the solution has landed", DescriptionZh: "方案已落地"},
		{State: IssueFailed, Title: "failed", TitleZh: "已失败", Description: "rests until it is retried", DescriptionZh: "失败，等待重试"},
	},
	Events: about(Plan, Execute, PlanReady, PlanFailed, Succeed, Fail, Reject, Requeue, Retry, Skip),
	Gates:  only(GateSolution, GateLanded, GatePlanBudget, GatePlanSpent), Rules: issueRules,
	Opposed: [][2]string{{GatePlanBudget, GatePlanSpent}},
})

// Item is one place in the queue: a solution that waits for its execution.
var Item = machine.New(machine.Table[ItemStatus, Event]{
	Name: "board.item", Seed: "004", Initial: ItemPending,
	Final: []ItemStatus{ItemCompleted}, Resting: []ItemStatus{ItemFailed},
	States: []machine.StateInfo[ItemStatus]{
		{State: ItemPending, Title: "pending", TitleZh: "待执行", Description: "waiting for its turn", DescriptionZh: "等待执行"},
		{State: ItemExecuting, Title: "executing", TitleZh: "执行中", Description: "being carried out", DescriptionZh: "正在执行"},
		{State: ItemCompleted, Title: "completed", TitleZh: "已完成", Description: "carried out and landed", DescriptionZh: "执行完成并落地"},
		{State: ItemFailed, Title: "failed", TitleZh: "已失败", Description: "rests until it is retried", DescriptionZh: "失败，等待重试"},
	},
	Events: about(Execute, Succeed, Fail, Requeue, Retry, Skip), Gates: only(GateDependencies, GateLanded), Rules: itemRules,
})

// Describe returns the four tables for listing, showing, checking and exporting.
func Describe() []machine.Description {
	return []machine.Description{Run.Describe(), Phase.Describe(), Issue.Describe(), Item.Describe()}
}

// eventTexts describes every event of the board once.
var eventTexts = []machine.EventInfo[Event]{
	{Event: Init, Description: "Action-Init", DescriptionZh: "初始化"},
	{Event: List, Description: "Action-List", DescriptionZh: "列出议题"},
	{Event: Plan, Description: "Action-Plan", DescriptionZh: "规划议题"},
	{Event: Execute, Description: "Action-Execute", DescriptionZh: "执行方案"},
	{Event: Complete, Description: "Action-Complete", DescriptionZh: "收尾"},
	{Event: PlanReady, Description: "a solution is made and bound", DescriptionZh: "方案已绑定", Named: true},
	{Event: PlanFailed, Description: "no solution could be made", DescriptionZh: "规划失败", Named: true},
	{Event: Succeed, Description: "the solution has landed", DescriptionZh: "执行成功", Named: true},
	{Event: Fail, Description: "the solution failed", DescriptionZh: "执行失败", Named: true},
	{Event: Reject, Description: "the plan is declined, or planning canceled", DescriptionZh: "计划被拒绝或规划被取消", Named: true},
	{Event: Requeue, Description: "the work goes back into the queue", DescriptionZh: "重新排队", Named: true},
	{Event: Retry, Description: "a failure is tried again", DescriptionZh: "重试", Named: true},
	{Event: Skip, Description: "left behind", DescriptionZh: "跳过", Named: true},
}

// about picks the descriptions of some events.
func about(which ...Event) []machine.EventInfo[Event] {
	var out []machine.EventInfo[Event]
	for _, e := range which {
		for _, t := range eventTexts {
			if t.Event == e {
				out = append(out, t)
			}
		}
	}
	return out
}

// only picks the descriptions of some gates.
func only(which ...string) []machine.GateInfo {
	var out []machine.GateInfo
	for _, name := range which {
		for _, g := range gates.Info() {
			if g.Name == name {
				out = append(out, g)
			}
		}
	}
	return out
}
