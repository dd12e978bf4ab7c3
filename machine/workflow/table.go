package workflow

import (
	"pawl"
	"pawl/machine"
)

type (
	stageRule = machine.Rule[Stage, Event]
	modeRule  = machine.Rule[Mode, Event]
	kinds     = []pawl.ActorKind
)

// Those who cause events: a person or the person's policy, the system in their place where no word is given, and those who
// do the work.
var (
	byWord   = kinds{pawl.KindUser, pawl.KindPolicy}
	byPerson = kinds{pawl.KindUser, pawl.KindPolicy, pawl.KindSystem}
	byWork   = kinds{pawl.KindSystem, pawl.KindRunner}
)

// Stages is the machine of CURRENT_STAGE.
var Stages = machine.New(machine.Table[Stage, Event]{
	Name: "workflow.stage", Seed: "002", Initial: None, Resting: []Stage{None},
	States: []machine.StateInfo[Stage]{
		{State: None, Title: "no flow", TitleZh: "无流程", Description: "no command is running", DescriptionZh: "系统处于 IDLE 状态", Unset: true},
		{State: Evaluate, Title: "evaluation", TitleZh: "需求评估", Description: "the requirement is scored and its complexity decided", DescriptionZh: "评分与复杂度判定"},
		{State: Analyze, Title: "analysis", TitleZh: "项目分析", Description: "the context of the project is collected", DescriptionZh: "获取项目上下文"},
		{State: Design, Title: "design", TitleZh: "方案设计", Description: "the solution is designed and its package created", DescriptionZh: "设计方案并创建方案包"},
		{State: Develop, Title: "development", TitleZh: "开发实施", Description: "the tasks of the package are carried out", DescriptionZh: "执行方案包任务"},
		{State: Tweak, Title: "tweak", TitleZh: "微调模式", Description: "a small change without a package", DescriptionZh: "无方案包的小改动"},
	},
	Events: []machine.EventInfo[Event]{
		{Event: CommandGiven, Description: "a flow command is typed", DescriptionZh: "输入流程命令", Named: true},
		{Event: Complexity, Description: "the complexity is decided", DescriptionZh: "复杂度判定", Named: true},
		{Event: ContextReady, Description: "the project context is collected", DescriptionZh: "项目上下文获取完成", Named: true},
		{Event: PackageReady, Description: "the package is created", DescriptionZh: "方案包创建完成", Named: true},
		{Event: FlowDone, Description: "everything is carried out", DescriptionZh: "流程完成", Named: true},
		{Event: CancelFlow, Description: "the user cancels the flow", DescriptionZh: "用户取消", Named: true},
		{Event: Interrupt, Description: "a move between stages is interrupted", DescriptionZh: "阶段流转中断", Named: true},
	},
	Gates: gates.Info()[:stageGates], Rules: stageRules,
})

// Modes is the machine of WORKFLOW_MODE.
var Modes = machine.New(machine.Table[Mode, Event]{
	Name: "workflow.mode", Seed: "002", Initial: Interactive, Resting: []Mode{Interactive},
	States: []machine.StateInfo[Mode]{
		{State: Interactive, Title: "interactive", TitleZh: "交互", Description: "every stage shows its result and waits", DescriptionZh: "每阶段输出结果并等待确认"},
		{State: AutoFull, Title: "automatic", TitleZh: "全自动", Description: "silent until the flow is complete", DescriptionZh: "静默执行直到流程完成"},
		{State: AutoPlan, Title: "automatic planning", TitleZh: "自动规划", Description: "silent until the design is complete", DescriptionZh: "静默执行直到方案设计完成"},
	},
	Events: []machine.EventInfo[Event]{
		{Event: CommandGiven, Description: "a flow command is typed", DescriptionZh: "输入流程命令", Named: true},
		{Event: Choose, Description: "the user picks the way of working", DescriptionZh: "用户选择执行方式", Named: true},
		{Event: ResetMode, Description: "the variables are reset", DescriptionZh: "状态重置", Named: true},
	},
	Gates: gates.Info()[stageGates:], Rules: modeRules,
})

// Describe returns the two tables for listing, showing, checking and exporting.
func Describe() []machine.Description {
	return []machine.Description{Stages.Describe(), Modes.Describe()}
}
