package task

import (
	"pawl"
	"pawl/machine"
)

type (
	rule  = machine.Rule[State, Event]
	kinds = []pawl.ActorKind
)

// Those who cause moves, as the seed's column Actor groups them.
var (
	bySystem   = kinds{pawl.KindSystem}
	byRunner   = kinds{pawl.KindRunner}
	byVerifier = kinds{pawl.KindVerifier}
	byGates    = kinds{pawl.KindGateRunner}
	byEither   = kinds{pawl.KindUser, pawl.KindSystem}
	orUser     = kinds{pawl.KindUser, pawl.KindPolicy}
	orPolicy   = kinds{pawl.KindPolicy}
	orRunner   = kinds{pawl.KindRunner}
	orSystem   = kinds{pawl.KindSystem}
)

// Table is the lifecycle of seed 003 §3.
var Table = machine.New(machine.Table[State, Event]{
	Name: "task", Seed: "003", Initial: Draft,
	Final:   []State{Done, Canceled},
	Resting: []State{Failed, Blocked},
	States:  states,
	Events:  events,
	Gates:   gates.Info(),
	Rules:   rules,
})

// Describe returns the table for listing, showing, checking and exporting.
func Describe() []machine.Description { return []machine.Description{Table.Describe()} }

// Same reports whether a transition asks for the state that the task is in. Such a call changes nothing, writes nothing and
// makes no audit record (seed 003 §7.2, spec D11).
func Same(from, to State) bool { return from == to && from.Valid() }

var rules = []rule{
	{ID: "T1", From: Draft, On: Approve, To: Approved, Gates: []string{GateApproval}, Actors: byEither, AlsoActors: orPolicy,
		Priority: machine.High, Source: "003 §3", Description: "approve the draft", DescriptionZh: "批准草稿任务"},
	{ID: "T2", From: Draft, On: Cancel, To: Canceled, Gates: []string{GateCleanup}, Actors: byEither,
		Priority: machine.Low, Source: "003 §3", Description: "cancel the draft", DescriptionZh: "取消草稿任务"},
	{ID: "T3", From: Approved, On: Queue, To: Queued, Actors: bySystem, AlsoActors: orUser,
		Priority: machine.High, Source: "003 §3", Description: "put the approved task into the queue", DescriptionZh: "将批准的任务入队"},
	{ID: "T4", From: Approved, On: Cancel, To: Canceled, Gates: []string{GateCleanup}, Actors: byEither,
		Priority: machine.Low, Source: "003 §3", Description: "cancel the approved task", DescriptionZh: "取消已批准任务"},
	{ID: "T5", From: Queued, On: Start, To: Running, Gates: []string{GateLease}, Actors: byRunner,
		Priority: machine.High, Source: "003 §3", Description: "start the work", DescriptionZh: "开始执行"},
	{ID: "T6", From: Queued, On: Cancel, To: Canceled, Gates: []string{GateCleanup}, Actors: byEither,
		Priority: machine.Low, Source: "003 §3", Description: "cancel the queued task", DescriptionZh: "取消排队任务"},
	{ID: "T7", From: Running, On: Finish, To: Verifying, Gates: []string{GateLease}, Actors: byRunner,
		Priority: machine.High, Source: "003 §3", Description: "the work is finished and is verified next", DescriptionZh: "执行完成进入验证"},
	{ID: "T8", From: Running, On: Fail, To: Failed, Gates: []string{GateLease, GateExitReason}, Actors: byRunner, AlsoActors: orSystem,
		Priority: machine.Medium, Source: "003 §3", Description: "the work failed", DescriptionZh: "执行失败"},
	{ID: "T9", From: Running, On: Cancel, To: Canceled, Gates: []string{GateCleanup}, Actors: byEither, AlsoActors: orRunner,
		Priority: machine.Low, Source: "003 §3", Description: "cancel the running task", DescriptionZh: "取消运行中的任务"},
	{ID: "T10", From: Running, On: Block, To: Blocked, Gates: []string{GateLease}, Actors: byRunner, AlsoActors: orSystem,
		Priority: machine.High, Source: "003 §3", Description: "an approval, an answer or the environment is missing and nobody is there to give it",
		DescriptionZh: "AUTONOMOUS模式在批准检查点"},
	{ID: "T11", From: Verifying, On: Verify, To: Verified, Gates: []string{GateVerifiedTree, GateChecksKept}, Actors: byVerifier, AlsoActors: byGates,
		Priority: machine.High, Source: "003 §3", Description: "every required gate passed", DescriptionZh: "验证通过"},
	{ID: "T12", From: Verifying, On: Fail, To: Failed, Gates: []string{GateExitReason}, Actors: byVerifier,
		AlsoActors: kinds{pawl.KindGateRunner, pawl.KindRunner, pawl.KindSystem},
		Priority:   machine.Medium, Source: "003 §3", Description: "verification failed for good", DescriptionZh: "验证失败"},
	{ID: "T13", From: Verifying, On: Cancel, To: Canceled, Gates: []string{GateCleanup}, Actors: byEither, AlsoActors: orRunner,
		Priority: machine.Low, Source: "003 §3", Description: "cancel while verifying", DescriptionZh: "验证过程中取消"},
	{ID: "T14", From: Verifying, On: GateFail, To: Queued, Gates: []string{GateRetryBudget}, Actors: byGates, AlsoActors: kinds{pawl.KindVerifier, pawl.KindRunner},
		Priority: machine.Medium, Source: "003 §3", Description: "a gate failed; back to the queue while the retry budget lasts", DescriptionZh: "门禁失败→返回规划重试"},
	{ID: "T15", From: Verified, On: Close, To: Done, Gates: []string{GateAuditChain}, Actors: bySystem,
		Priority: machine.Medium, Source: "003 §3", Description: "mark the task as done", DescriptionZh: "标记任务完成"},
	{ID: "T16", From: Failed, On: Retry, To: Queued, Gates: []string{GateRetryBudget}, Actors: bySystem, AlsoActors: orUser,
		Priority: machine.Medium, Source: "003 §3", Description: "retry the failed task", DescriptionZh: "失败任务重试"},
	{ID: "T17", From: Blocked, On: Unblock, To: Queued, Gates: []string{GateUnblock}, Actors: bySystem, AlsoActors: orUser,
		Priority: machine.High, Source: "003 §3", Description: "what was missing is recorded; back to the queue", DescriptionZh: "解除阻止并重新入队"},
	{ID: "T18", From: Blocked, On: Cancel, To: Canceled, Gates: []string{GateCleanup}, Actors: byEither,
		Priority: machine.Low, Source: "003 §3", Description: "cancel the blocked task", DescriptionZh: "取消被阻止的任务"},
	{ID: "T19", From: Running, On: Keep, To: Running, Actors: byRunner, Idempotent: true,
		Priority: machine.Low, Source: "003 §3", Description: "the task is running already", DescriptionZh: "幂等操作"},
	{ID: "T20", From: Queued, On: Keep, To: Queued, Actors: bySystem, Idempotent: true,
		Priority: machine.Low, Source: "003 §3", Description: "the task is queued already", DescriptionZh: "幂等操作"},
}

type info = machine.StateInfo[State]

var states = []info{
	{State: Draft, Title: "draft", TitleZh: "草稿", Groups: []string{GroupInitial},
		Description: "created, not yet approved", DescriptionZh: "任务被创建但尚未批准"},
	{State: Approved, Title: "approved", TitleZh: "已批准", Groups: []string{GroupApproval},
		Description: "approved, ready for the queue", DescriptionZh: "任务已批准，准备入队执行"},
	{State: Queued, Title: "queued", TitleZh: "排队中", Groups: []string{GroupExecution, GroupActive},
		Description: "waiting in the queue", DescriptionZh: "任务在执行队列中等待"},
	{State: Running, Title: "running", TitleZh: "执行中", Groups: []string{GroupExecution, GroupActive},
		Description: "being carried out", DescriptionZh: "任务正在执行"},
	{State: Verifying, Title: "verifying", TitleZh: "验证中", Groups: []string{GroupVerification, GroupActive},
		Description: "carried out, being verified", DescriptionZh: "任务执行完成，进行验证"},
	{State: Verified, Title: "verified", TitleZh: "已验证", Groups: []string{GroupVerification},
		Description: "verified", DescriptionZh: "任务已验证成功"},
	{State: Done, Title: "done", TitleZh: "已完成", Groups: []string{GroupTerminal},
		Description: "finished with success", DescriptionZh: "任务成功完成"},
	{State: Failed, Title: "failed", TitleZh: "已失败", Groups: []string{GroupTerminal},
		Description: "failed; rests until it is retried", DescriptionZh: "任务执行失败"},
	{State: Canceled, Title: "canceled", TitleZh: "已取消", Groups: []string{GroupTerminal},
		Description: "canceled", DescriptionZh: "任务被取消"},
	{State: Blocked, Title: "blocked", TitleZh: "被阻止", Groups: []string{GroupTerminal},
		Description:   "stopped for want of an approval, an answer or an environment; rests until it is given",
		DescriptionZh: "任务被阻止（例如AUTONOMOUS模式在需要批准的检查点）"},
}

var events = []machine.EventInfo[Event]{
	{Event: Approve, Description: "approve_task()", DescriptionZh: "批准任务"},
	{Event: Queue, Description: "queue_task()", DescriptionZh: "任务入队"},
	{Event: Start, Description: "start_task()", DescriptionZh: "开始执行"},
	{Event: Finish, Description: "complete_task_execution()", DescriptionZh: "执行完成"},
	{Event: Fail, Description: "fail_task()", DescriptionZh: "任务失败"},
	{Event: Cancel, Description: "cancel_task()", DescriptionZh: "取消任务"},
	{Event: Block, Description: "blocked at an approval checkpoint", DescriptionZh: "在批准检查点被阻止", Named: true},
	{Event: Verify, Description: "verify_task()", DescriptionZh: "验证通过"},
	{Event: GateFail, Description: "a done gate failed", DescriptionZh: "DONE门禁失败", Named: true},
	{Event: Close, Description: "mark_task_done()", DescriptionZh: "标记完成"},
	{Event: Retry, Description: "retry_failed_task()", DescriptionZh: "重试失败任务"},
	{Event: Unblock, Description: "unblock_task()", DescriptionZh: "解除阻止", Named: true},
	{Event: Keep, Description: "the state that the task is in already", DescriptionZh: "状态保持", Named: true},
}
