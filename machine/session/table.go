package session

import (
	"pawl"
	"pawl/machine"
)

type (
	rule  = machine.Rule[State, Event]
	kinds = []pawl.ActorKind
)

// Those who cause triggers. The seed has no column for it; what a person does, a policy that the person wrote may do, and
// what happens below the session is raised by whoever reports it, or by the system in its place. Nobody but a person or such
// a policy gives a word.
var (
	byWord   = kinds{pawl.KindUser, pawl.KindPolicy}
	byPerson = kinds{pawl.KindUser, pawl.KindPolicy, pawl.KindSystem}
	byWork   = kinds{pawl.KindSystem, pawl.KindRunner, pawl.KindVerifier, pawl.KindGateRunner}
	byAnyone = kinds{pawl.KindUser, pawl.KindPolicy, pawl.KindSystem, pawl.KindRunner, pawl.KindVerifier, pawl.KindGateRunner}
)

// Table is the session of seed 000 §3. Where the seed's drawing and its table of triggers differ, the table counts
// (spec A5).
var Table = machine.New(machine.Table[State, Event]{
	Name: "session", Seed: "000", Initial: Idle,
	Resting: []State{Idle, Blocked},
	States:  states, Events: events, Gates: gates.Info(), Rules: rules,
})

// Describe returns the table for listing, showing, checking and exporting.
func Describe() []machine.Description { return []machine.Description{Table.Describe()} }

var rules = []rule{
	{ID: "S01", From: Idle, On: UserInputRequirement, To: Planning, Actors: byPerson, Source: "000 §3",
		Description: "the user gives a new requirement", DescriptionZh: "用户输入新需求"},
	{ID: "S02", From: Planning, On: PRDGenerated, To: Confirming, Gates: []string{GatePlan}, Actors: byAnyone, Source: "000 §3",
		Description: "the requirements document is complete", DescriptionZh: "PRD 文档生成完成"},
	{ID: "S03", From: Confirming, On: UserConfirm, To: Executing, Gates: []string{GateApproval, GatePerson}, Actors: byWord, Source: "000 §3",
		Description: "the user says go, bound to the plan's hash", DescriptionZh: "用户确认 \"Go/Yes/OK\""},
	{ID: "S04", From: Confirming, On: UserCancel, To: Idle, Actors: byPerson, Source: "000 §3",
		Description: "the user cancels or revises the requirement", DescriptionZh: "用户取消或修改需求"},
	{ID: "S05", From: Planning, On: UserCancel, To: Idle, Actors: byPerson, Source: "000 §3",
		Description: "the user cancels the planning", DescriptionZh: "用户主动取消规划"},
	{ID: "S06", From: Executing, On: ErrorDetected, To: AutoFix, Actors: byWork, Source: "000 §3",
		Description: "a check or a step failed", DescriptionZh: "`flutter analyze` 或 `flutter test` 失败（检查命令可配置）"},
	{ID: "S07", From: AutoFix, On: FixSuccess, To: Executing, Gates: []string{GateFixVerified}, Actors: byWork, Source: "000 §3",
		Description: "the repaired tree passed the checks", DescriptionZh: "自动修复后验证通过"},
	{ID: "S08", From: AutoFix, On: FixFailed3X, To: Blocked, Gates: []string{GateFixesSpent}, Actors: byWork, Source: "000 §3",
		Description: "three repairs in a row failed", DescriptionZh: "连续 3 次修复失败"},
	{ID: "S09", From: Blocked, On: HumanIntervention, To: Executing, Actors: byPerson, Source: "000 §3",
		Description: "a person gives a way to repair it", DescriptionZh: "人工提供修复方案"},
	{ID: "S10", From: Blocked, On: Rollback, To: Idle, Gates: []string{GateCheckpoint}, Actors: byPerson, Source: "000 §3",
		Description: "back to the last checkpoint", DescriptionZh: "回滚到上一个 Checkpoint"},
	{ID: "S11", From: Executing, On: AllTasksDone, To: Archiving, Gates: []string{GateNoOpenTasks}, Actors: byWork, Source: "000 §3",
		Description: "every task of the queue is closed", DescriptionZh: "任务队列全部完成"},
	{ID: "S12", From: Archiving, On: ArchiveComplete, To: Idle, Actors: byWork, Source: "000 §3",
		Description: "the archive is written", DescriptionZh: "归档完成"},
	{ID: "S13", From: AutoFix, On: ForceStop, To: Blocked, Actors: byAnyone, Source: "spec A2", Ext: true,
		Description: "stopped by force while a repair was under way, or the environment is broken", DescriptionZh: "自动修复中强制停止，或环境故障"},
	{ID: "S14", From: Executing, On: ForceStop, To: Blocked, Actors: byAnyone, Source: "spec A3", Ext: true,
		Description: "stopped by force while the work was under way, or the environment is broken", DescriptionZh: "执行中强制停止，或环境故障"},
	{ID: "S15", From: Blocked, On: SkipTask, To: Executing, Actors: byPerson, Source: "spec A4", Ext: true,
		Description: "leave the task behind and go on with the next one", DescriptionZh: "跳过当前任务，继续下一个"},
	{ID: "S16", From: Planning, On: PlanningFailed, To: Idle, Actors: byAnyone, Source: "spec A7", Ext: true,
		Description: "no plan could be made; nothing was changed", DescriptionZh: "规划失败，未做任何修改"},
	{ID: "S17", From: Archiving, On: ArchiveFailed, To: Blocked, Actors: byWork, Source: "spec A7", Ext: true,
		Description: "the archive could not be written", DescriptionZh: "归档失败"},
}

func op(id Operation, zh string) machine.Operation {
	return machine.Operation{ID: string(id), NameZh: zh}
}

var states = []machine.StateInfo[State]{
	{State: Idle, Title: "idle", TitleZh: "空闲", Description: "no active task; waiting for the user", DescriptionZh: "无活跃任务，等待用户输入",
		Operations: []machine.Operation{op(OpRequire, "接收需求"), op(OpHistory, "查看历史")}},
	{State: Planning, Title: "planning", TitleZh: "规划中", Description: "the requirements document is being made", DescriptionZh: "正在生成 PRD",
		Operations: []machine.Operation{op(OpCancel, "取消"), op(OpPause, "暂停")}},
	{State: Confirming, Title: "to be confirmed", TitleZh: "待确认", Description: "the document is made; waiting for the user's word", DescriptionZh: "PRD 已生成，等待用户确认",
		Operations: []machine.Operation{op(OpConfirm, "确认"), op(OpRevise, "修改"), op(OpCancel, "取消")}},
	{State: Executing, Title: "executing", TitleZh: "执行中", Description: "the task queue is being carried out", DescriptionZh: "正在执行任务队列",
		Operations: []machine.Operation{op(OpPause, "暂停"), op(OpProgress, "查看进度")}},
	{State: AutoFix, Title: "automatic repair", TitleZh: "自动修复", Description: "an error came up and is being repaired", DescriptionZh: "遇到错误，正在尝试自动修复",
		Operations: []machine.Operation{op(OpErrors, "查看错误"), op(OpStop, "强制停止")}},
	{State: Blocked, Title: "blocked", TitleZh: "阻塞", Description: "the fuse has blown; a person is needed", DescriptionZh: "熔断，需要人工介入",
		Operations: []machine.Operation{op(OpFix, "提供修复"), op(OpRollback, "回滚"), op(OpSkip, "跳过")}},
	{State: Archiving, Title: "archiving", TitleZh: "归档中", Description: "all tasks are done; the archive is being written", DescriptionZh: "所有任务完成，正在归档",
		Operations: []machine.Operation{op(OpWait, "等待完成")}},
}

var events = []machine.EventInfo[Event]{
	{Event: UserInputRequirement, Description: "the user gives a requirement", DescriptionZh: "用户输入需求"},
	{Event: PRDGenerated, Description: "the requirements document is complete", DescriptionZh: "PRD 生成完成"},
	{Event: UserConfirm, Description: "the user confirms", DescriptionZh: "用户确认"},
	{Event: UserCancel, Description: "the user cancels", DescriptionZh: "用户取消"},
	{Event: ErrorDetected, Description: "an error came up", DescriptionZh: "遇到错误"},
	{Event: FixSuccess, Description: "the repair holds", DescriptionZh: "修复成功"},
	{Event: FixFailed3X, Description: "the third repair failed", DescriptionZh: "3 次修复失败"},
	{Event: HumanIntervention, Description: "a person steps in", DescriptionZh: "人工介入"},
	{Event: Rollback, Description: "return to the last checkpoint", DescriptionZh: "回滚"},
	{Event: AllTasksDone, Description: "all tasks are done", DescriptionZh: "所有任务完成"},
	{Event: ArchiveComplete, Description: "the archive is complete", DescriptionZh: "归档完成"},
	{Event: ForceStop, Description: "stop by force", DescriptionZh: "强制停止", Named: true},
	{Event: SkipTask, Description: "skip the task", DescriptionZh: "跳过任务", Named: true},
	{Event: PlanningFailed, Description: "planning failed", DescriptionZh: "规划失败", Named: true},
	{Event: ArchiveFailed, Description: "archiving failed", DescriptionZh: "归档失败", Named: true},
}
