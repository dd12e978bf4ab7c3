package turn

import (
	"pawl"
	"pawl/machine"
)

type (
	rule  = machine.Rule[State, Event]
	kinds = []pawl.ActorKind
)

// Those who cause events: those who may give a word, which are a person and the policy that the person wrote; those who
// may begin or end a turn for a person; and those who do the work. An agent reports to its runner and causes nothing
// itself.
var (
	byWord   = kinds{pawl.KindUser, pawl.KindPolicy}
	byPerson = kinds{pawl.KindUser, pawl.KindPolicy, pawl.KindSystem, pawl.KindRunner}
	byWork   = kinds{pawl.KindSystem, pawl.KindRunner, pawl.KindVerifier, pawl.KindGateRunner}
)

// Table is the turn of seed 001 §2.3 with the edges of spec §6.2.
var Table = machine.New(machine.Table[State, Event]{
	Name: "turn", Seed: "001", Initial: Idle,
	Resting: []State{Idle},
	States:  states, Events: events, Gates: gates.Info(), Rules: rules,
	Opposed: [][2]string{
		{GateAskedByPlan, GateAskedByStep}, {GateAskedByPlan, GateAskedByRepair}, {GateAskedByPlan, GateAskedByWork},
		{GateAskedByStep, GateAskedByRepair}, {GateAskedByPlan, GateAskedByChecks}, {GateAskedByStep, GateAskedByChecks},
		{GateAskedByRepair, GateAskedByChecks},
	},
})

// Describe returns the table for listing, showing, checking and exporting.
func Describe() []machine.Description { return []machine.Description{Table.Describe()} }

var states = []machine.StateInfo[State]{
	{State: Idle, Title: "idle", TitleZh: "空闲", Description: "waiting for the user", DescriptionZh: "等待用户输入"},
	{State: Intake, Title: "intake", TitleZh: "接入", Description: "the input is read, judged by policy and graded by risk",
		DescriptionZh: "解析输入、策略预判、风险分级"},
	{State: Clarifying, Title: "clarifying", TitleZh: "澄清", Description: "one to three questions are put to the user", DescriptionZh: "提出澄清问题（可选）"},
	{State: ContextBuilding, Title: "building context", TitleZh: "上下文构建", Description: "file tree, search hits and snippets are collected",
		DescriptionZh: "收集上下文（文件树、搜索结果、文件片段）"},
	{State: Planning, Title: "planning", TitleZh: "规划", Description: "a plan is made: steps, dependencies, verification", DescriptionZh: "生成计划（步骤、依赖、验证）"},
	{State: AwaitingConfirmation, Title: "awaiting confirmation", TitleZh: "等待确认", Description: "something dangerous waits for a person's word",
		DescriptionZh: "危险操作等待确认（写/删/执行/网络）"},
	{State: Executing, Title: "executing", TitleZh: "执行", Description: "the steps are carried out with tools", DescriptionZh: "按步骤执行（调用工具）"},
	{State: Verifying, Title: "verifying", TitleZh: "验证", Description: "lint, tests, build or commands of the plan are run",
		DescriptionZh: "运行 lint/test/build 或自定义验证"},
	{State: Recovering, Title: "recovering", TitleZh: "恢复", Description: "a failure is handled: retry, undo, fall back or re-plan",
		DescriptionZh: "处理失败，重试/回滚/降级/重规划"},
	{State: Summarizing, Title: "summarizing", TitleZh: "总结", Description: "the summary and the next steps are written", DescriptionZh: "生成总结与下一步建议"},
	{State: Done, Title: "done", TitleZh: "完成", Description: "the turn is over", DescriptionZh: "本轮结束"},
}

var events = []machine.EventInfo[Event]{
	{Event: UserMessage, Description: "the user's message", DescriptionZh: "用户消息"},
	{Event: ClarificationAnswer, Description: "the user's answer to the questions", DescriptionZh: "澄清回答"},
	{Event: ToolCallRequest, Description: "a tool is to be called", DescriptionZh: "请求调用工具"},
	{Event: ToolCallResult, Description: "a tool has answered", DescriptionZh: "工具调用结果"},
	{Event: Confirm, Description: "the user's yes or no, with a scope", DescriptionZh: "用户确认或拒绝（带范围）"},
	{Event: Timeout, Description: "a time limit has passed", DescriptionZh: "超时"},
	{Event: Cancel, Description: "the user cancels", DescriptionZh: "取消"},
	{Event: NeedInfo, Description: "key context is missing", DescriptionZh: "缺关键上下文", Named: true},
	{Event: IntakeReady, Description: "the input is clear and allowed", DescriptionZh: "输入清楚且被允许", Named: true},
	{Event: PolicyDenied, Description: "policy forbids it", DescriptionZh: "策略拒绝", Named: true},
	{Event: ContextReady, Description: "the context is collected", DescriptionZh: "上下文就绪", Named: true},
	{Event: PlanRisky, Description: "the plan needs a word", DescriptionZh: "计划含危险动作", Named: true},
	{Event: PlanSafe, Description: "the plan needs no word", DescriptionZh: "计划不含危险动作", Named: true},
	{Event: PlanningFailed, Description: "no plan could be made", DescriptionZh: "规划失败", Named: true},
	{Event: ConfirmationNeeded, Description: "a single action needs a word", DescriptionZh: "单个动作需要确认", Named: true},
	{Event: StepFailed, Description: "a step failed", DescriptionZh: "步骤失败", Named: true},
	{Event: StepsDone, Description: "all steps are done", DescriptionZh: "步骤完成", Named: true},
	{Event: ChecksPassed, Description: "the checks passed, or none is asked for", DescriptionZh: "验证通过", Named: true},
	{Event: ChecksFailed, Description: "a check failed", DescriptionZh: "验证失败", Named: true},
	{Event: FixPlanned, Description: "repair steps are made", DescriptionZh: "已生成修复步骤", Named: true},
	{Event: GiveUp, Description: "no way to go on", DescriptionZh: "无法继续", Named: true},
	{Event: SummaryReady, Description: "the summary is written", DescriptionZh: "总结完成", Named: true},
	{Event: TurnClosed, Description: "the turn is closed", DescriptionZh: "本轮关闭", Named: true},
}
