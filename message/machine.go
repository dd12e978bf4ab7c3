package message

// machineText is the part of the catalogue for keys that begin with "machine.".
var machineText = part{load: func() Table {
	return Table{
		// Refusals of the engine: machine, state, event, what the state takes instead.
		"machine.refused": {
			En: "%s: %s does not take %s", Zh: "%s：状态 %s 不接受 %s",
			HintEn: "In this state it takes: %[4]s", HintZh: "该状态接受：%[4]s",
		},
		"machine.final_event": {
			En: "%s: %s is final and takes no event, not even %s", Zh: "%s：%s 是最终状态，不接受任何事件（包括 %s）",
			HintEn: "Begin a new one; what is final stays as it is", HintZh: "请新建；最终状态不会再改变",
		},
		"machine.unknown": {
			En: "%s has no such state or event", Zh: "%s 没有这样的状态或事件",
			HintEn: "pawl machine show %s lists them", HintZh: "pawl machine show %s 会列出它们",
		},
		"machine.gate_unknown": {
			En: "the gate %q is not implemented, so it cannot pass", Zh: "门禁 %q 未实现，因此不能通过",
			HintEn: "This is a mistake in pawl: run pawl machine check and report what it says", HintZh: "这是 pawl 的错误：请运行 pawl machine check 并报告其输出",
		},

		// Refusals of the task: from, to, states that the reason is about, legal moves.
		"machine.task_final": {
			En: "a task that is %s is final and cannot become %s", Zh: "任务已处于最终状态 %s，不能变为 %s",
			HintEn: "pawl task restart makes a new draft from it", HintZh: "pawl task restart 会由它新建草稿",
		},
		"machine.task_resting": {
			En: "a task that is %s has come to rest and cannot become %s", Zh: "任务已停在终态 %s，不能变为 %s",
			HintEn: "From here it can become: %[4]s. pawl task restart makes a new draft from it", HintZh: "从这里可以变为：%[4]s。pawl task restart 会由它新建草稿",
		},
		"machine.task_to_draft": {
			En: "a task that is %s cannot become %s again: only a new task is a draft", Zh: "任务处于 %s，不能退回 %s：只有新建任务才是草稿",
			HintEn: "Cancel it, and make a new draft with pawl task restart. Other moves: %[4]s", HintZh: "请先取消，再用 pawl task restart 新建草稿。其他转换：%[4]s",
		},
		"machine.task_verified": {
			En: "a task that is %s cannot become %s: what is verified can only be closed", Zh: "任务处于 %s，不能变为 %s：已验证的任务只能关闭",
			HintEn: "From here it can become: %[4]s", HintZh: "从这里可以变为：%[4]s",
		},
		"machine.task_skips": {
			En: "a task that is %s cannot become %s at once: that would skip %s", Zh: "任务处于 %s，不能直接变为 %s：会跳过 %s",
			HintEn: "From here it can become: %[4]s", HintZh: "从这里可以变为：%[4]s",
		},
		"machine.task_sources": {
			En: "a task that is %s cannot become %s: only one that is %s can", Zh: "任务处于 %s，不能变为 %s：只有处于 %s 的任务才可以",
			HintEn: "From here it can become: %[4]s", HintZh: "从这里可以变为：%[4]s",
		},
		"machine.task_backward": {
			En: "a task that is %s cannot go back to %s", Zh: "任务处于 %s，不能退回 %s",
			HintEn: "From here it can become: %[4]s", HintZh: "从这里可以变为：%[4]s",
		},
		"machine.task_state": {
			En: "%q is not a state of a task", Zh: "%q 不是任务状态",
			HintEn: "The states are draft, approved, queued, running, verifying, verified, done, failed, canceled and blocked",
			HintZh: "状态有 draft、approved、queued、running、verifying、verified、done、failed、canceled、blocked",
		},

		// Gates.
		"machine.gate_approval": {
			En: "it is not approved", Zh: "尚未批准",
			HintEn: "Look at the plan with pawl plan show and approve it with pawl approve", HintZh: "请用 pawl plan show 查看计划，并用 pawl approve 批准",
		},
		"machine.gate_person": {
			En: "the plan does what reaches beyond this machine or cannot be taken back, and only a person can say yes to that", Zh: "计划中有会影响到本机之外或无法收回的操作，只有人能对其表示同意",
			HintEn: "Look at the plan with pawl plan show and approve it with pawl approve", HintZh: "请用 pawl plan show 查看计划，并用 pawl approve 批准",
		},
		"machine.gate_stale": {
			En: "what was approved is not what is there now", Zh: "已批准的内容与当前内容不一致",
			HintEn: "It was changed after the approval. Look at it again and approve it anew", HintZh: "批准后内容有改动，请重新查看并批准",
		},
		"machine.gate_lease": {
			En: "the caller's lease (%d) is not the one in force (%d)", Zh: "调用者的租约（%d）不是当前有效租约（%d）",
			HintEn: "Another runner has taken the task over; this one must stop working on it", HintZh: "任务已由其他执行器接管，当前执行器必须停止",
		},
		"machine.gate_exit_reason": {
			En: "%q is not an exit reason", Zh: "%q 不是有效的 exit_reason",
			HintEn: "Give one of timeout, retry_exhausted, canceled, exception, gate_failed, user_stopped, fatal_error, max_iterations, blocked, unknown",
			HintZh: "请使用 timeout、retry_exhausted、canceled、exception、gate_failed、user_stopped、fatal_error、max_iterations、blocked、unknown 之一",
		},
		"machine.gate_cleanup": {
			En: "no summary of the cleanup is recorded", Zh: "缺少 cleanup_summary",
			HintEn: "The task is canceled when its cleanup is finished, or given up after its deadline", HintZh: "清理完成或超过期限后任务才会取消",
		},
		"machine.gate_no_tree": {
			En: "it is not known which tree was verified", Zh: "不清楚验证的是哪个目录树",
			HintEn: "Run the verification again", HintZh: "请重新运行验证",
		},
		"machine.gate_check_failed": {
			En: "the required check %q did not pass", Zh: "必需检查 %q 未通过",
			HintEn: "pawl task log shows its output. Repair the cause and verify again", HintZh: "pawl task log 可查看输出。修复原因后重新验证",
		},
		"machine.gate_checks_kept": {
			En: "the work changed what it is judged by, and nobody has approved that: %s", Zh: "工作改动了用来评判它的文件，尚未获批：%s",
			HintEn: "Look at the change, then pawl approve HASH or pawl deny", HintZh: "请查看改动，然后运行 pawl approve 哈希 或 pawl deny",
		},
		"machine.gate_other_tree": {
			En: "the check %q ran on another tree than the present one", Zh: "检查 %q 不是在当前目录树上运行的",
			HintEn: "The files changed after the check. Verify again", HintZh: "检查之后文件有改动，请重新验证",
		},
		"machine.gate_no_checks": {
			En: "no check was run, so nothing is proved", Zh: "没有运行任何检查，无法证明结果",
			HintEn: "Name the commands that verify the work in the plan or in the configuration (verify.commands)", HintZh: "请在计划或配置（verify.commands）中给出验证命令",
		},
		"machine.gate_checks_failed": {
			En: "%d required checks did not pass", Zh: "%d 项必需检查未通过",
			HintEn: "Repair the cause and verify again", HintZh: "修复原因后重新验证",
		},
		"machine.gate_retries": {
			En: "the retries are used up (%d of %d)", Zh: "重试次数已用完（%d/%d）",
			HintEn: "pawl task restart makes a new draft, or allow more retries in the configuration", HintZh: "pawl task restart 可新建草稿，或在配置中增加重试次数",
		},
		"machine.gate_loop": {
			En: "the last %d failures are all alike: %s", Zh: "最近 %d 次失败原因相同：%s",
			HintEn: "Another retry would fail in the same way. Change the plan or repair the cause first", HintZh: "再次重试仍会失败，请先修改计划或修复原因",
		},
		"machine.gate_unblock": {
			En: "what the task waits for is not recorded", Zh: "任务等待的内容尚未记录",
			HintEn: "pawl status says what is asked; answer it, then unblock the task", HintZh: "pawl status 会显示所需内容；请先答复，再解除阻止",
		},
		"machine.gate_audit": {
			En: "the audit records of the task are not complete (%d found, at least %d needed, in an unbroken chain)", Zh: "任务审计记录不完整（现有 %d 条，至少 %d 条且链完整）",
			HintEn: "Run pawl audit verify to see where the chain breaks", HintZh: "请运行 pawl audit verify 查看断点",
		},
		"machine.gate_no_plan": {
			En: "there is no plan yet", Zh: "还没有计划",
			HintEn: "Give a requirement or a plan file with pawl run", HintZh: "请用 pawl run 提供需求或计划文件",
		},
		"machine.gate_fix_unproven": {
			En: "the repair is not proved: the failed checks have not passed on the repaired tree", Zh: "修复尚未证明：失败的检查还没有在修复后的目录树上通过",
			HintEn: "Run the checks again", HintZh: "请重新运行检查",
		},
		"machine.gate_fixes_left": {
			En: "only %d of %d repairs have failed", Zh: "失败的修复次数为 %d，上限为 %d",
			HintEn: "Try another repair, or stop with pawl stop", HintZh: "请继续修复，或用 pawl stop 停止",
		},
		"machine.gate_no_checkpoint": {
			En: "there is no checkpoint to return to", Zh: "没有可回滚的检查点",
			HintEn: "Help with pawl fix, or leave the task behind with pawl skip", HintZh: "请用 pawl fix 提供修复，或用 pawl skip 跳过任务",
		},
		"machine.gate_open_tasks": {
			En: "%d tasks are still open", Zh: "还有 %d 个任务未关闭",
			HintEn: "pawl task list shows them", HintZh: "pawl task list 可查看",
		},
		"machine.gate_rounds": {
			En: "%d of %d rounds of questions are used", Zh: "澄清已用 %d 轮，上限 %d 轮",
			HintEn: "State the requirement anew, with the answers in it", HintZh: "请重新描述需求，并包含上述问题的答案",
		},
		"machine.gate_repairs": {
			En: "%d of %d repairs have failed", Zh: "修复已失败 %d 次，上限 %d 次",
			HintEn: "Help with pawl fix, return with pawl rollback, or go on with pawl skip", HintZh: "请用 pawl fix 提供修复、pawl rollback 回滚，或 pawl skip 跳过",
		},
		"machine.gate_patches": {
			En: "the plan was changed %d times, and %d are allowed", Zh: "计划已修改 %d 次，上限 %d 次",
			HintEn: "Make a new plan", HintZh: "请重新制定计划",
		},
		"machine.gate_asked": {
			En: "this answer does not fit the question, which was asked in %s", Zh: "该回答与问题不符，问题由 %s 提出",
			HintEn: "pawl status shows the open question", HintZh: "pawl status 会显示待回答的问题",
		},
		"machine.gate_score": {
			En: "the requirement scores %d, and %d are needed", Zh: "需求评分为 %d，需要至少 %d",
			HintEn: "Say more about goal, result, scope and limits, or go on with the requirement as it is", HintZh: "请补充目标、完成标准、范围和限制，或选择以现有需求继续",
		},
		"machine.gate_package": {
			En: "the plan package is not there", Zh: "方案包尚未创建",
			HintEn: "Finish the design first", HintZh: "请先完成方案设计",
		},
		"machine.gate_mode": {
			En: "this needs the mode %s, and the mode is %s", Zh: "需要 %s 模式，当前为 %s",
			HintEn: "Confirm the step yourself, or cancel and start again with ~auto or ~plan", HintZh: "请手动确认，或取消后重新发起 ~auto/~plan",
		},
		"machine.gate_pending": {
			En: "%d tasks are not carried out yet", Zh: "还有 %d 个任务未执行",
			HintEn: "Carry them out or skip them", HintZh: "请执行或跳过它们",
		},
		"machine.gate_migrated": {
			En: "the plan package is not archived yet", Zh: "方案包尚未迁移至 archive/",
			HintEn: "Run the archive again; it goes on where it stopped", HintZh: "请重新归档，会从中断处继续",
		},
		"machine.gate_switch": {
			En: "the mode can only be chosen while the complexity is being confirmed (stage now: %s)", Zh: "只能在复杂度判定确认时选择执行方式（当前阶段：%s）",
			HintEn: "Cancel the flow and start it again to choose anew", HintZh: "请取消流程后重新发起",
		},
		"machine.gate_work_dir": {
			En: "the batch has no working directory", Zh: "批次没有工作目录",
			HintEn: "Run pawl init in the folder", HintZh: "请在目录中运行 pawl init ",
		},
		"machine.gate_executing": {
			En: "%d items are still being worked on", Zh: "还有 %d 个条目正在处理",
			HintEn: "Wait for them, or cancel them", HintZh: "请等待或取消它们",
		},
		"machine.gate_solution": {
			En: "no solution is bound to the issue", Zh: "议题尚未绑定方案",
			HintEn: "Plan the issue first", HintZh: "请先规划该议题",
		},
		"machine.gate_landed": {
			En: "the solution has not landed", Zh: "方案尚未落地",
			HintEn: "pawl status says what stands in the way", HintZh: "pawl status 会说明原因",
		},
		"machine.gate_plan_spent": {
			En: "planning failed %d times, and %d are allowed", Zh: "规划已失败 %d 次，上限 %d 次",
			HintEn: "Say more in the issue, then retry it", HintZh: "请补充议题的描述后重试",
		},
		"machine.gate_plan_left": {
			En: "planning failed %d times; only after %d is it given up", Zh: "规划失败 %d 次，达到 %d 次才放弃",
			HintEn: "Plan the issue again", HintZh: "请重新规划该议题",
		},
		"machine.gate_dependencies": {
			En: "%d items that it depends on are not completed", Zh: "还有 %d 个依赖条目未完成",
			HintEn: "Carry them out, retry them or skip them", HintZh: "请执行、重试或跳过它们",
		},

		// Commands and variables of the workflow.
		"machine.command_unknown": {
			En: "there is no command %q", Zh: "没有命令 %q",
			HintEn: "~help lists the commands", HintZh: "~help 会列出命令",
		},
		"machine.command_flow": {
			En: "%s cannot start while %s is running", Zh: "%[2]s 正在运行，不能开始 %[1]s",
			HintEn: "Give the running one up with --replace, or let it finish", HintZh: "可用 --replace 取消当前流程，或等待其完成",
		},
		"machine.command_write": {
			En: "%s changes things and cannot run while %s is running", Zh: "%[2]s 正在运行，不能执行会修改内容的 %[1]s",
			HintEn: "Let it finish or cancel it first", HintZh: "请先等待其完成或取消",
		},
		"machine.command_no_flow": {
			En: "%s starts no flow, so it replaces none", Zh: "%s 不是流程命令，不能替换当前流程",
			HintEn: "Cancel the running flow first", HintZh: "请先取消当前流程",
		},
		"machine.mode_choice": {
			En: "the choice %q is not offered in the mode %s", Zh: "%[2]s 模式下没有选项 %[1]q",
			HintEn: "In AUTO_FULL and AUTO_PLAN choose silent or interactive, in INTERACTIVE choose start", HintZh: "AUTO_FULL/AUTO_PLAN 可选 silent 或 interactive，INTERACTIVE 可选 start",
		},
		"machine.tool_unnamed": {
			En: "the external tool has no name", Zh: "外部工具没有名称",
			HintEn: "Name the tool that takes over", HintZh: "请给出接管的工具名称",
		},
		"machine.tool_none": {
			En: "no external tool is active", Zh: "没有活动的外部工具",
			HintEn: "pawl status shows what is running", HintZh: "pawl status 会显示正在运行的内容",
		},
		"machine.tool_nesting": {
			En: "%d external tools are nested, and the outer one is not named rightly", Zh: "外部工具嵌套 %d 层，外层工具名称不正确",
			HintEn: "Name the outer tool where one is left, and none where it was the last", HintZh: "仍有外层工具时请给出其名称，最后一层则留空",
		},

		// state.json.
		"machine.state_json": {
			En: "state.json is not a JSON object", Zh: "state.json 不是 JSON 对象",
			HintEn: "pawl export writes it anew from the store", HintZh: "pawl export 会由存储重新生成",
		},
		"machine.state_trailing": {
			En: "something follows after the end of the JSON", Zh: "JSON 结束后还有其他内容",
		},
		"machine.state_missing": {
			En: "state.json: missing: %s", Zh: "state.json：缺少 %s",
			HintEn: "Add the field, or write the file anew with pawl export", HintZh: "请补充该字段，或用 pawl export 重新生成",
		},
		"machine.state_object": {
			En: "state.json: %s must be an object", Zh: "state.json：%s 必须是对象",
			HintEn: "Write the file anew with pawl export", HintZh: "请用 pawl export 重新生成",
		},
		"machine.state_array": {
			En: "state.json: %s must be an array", Zh: "state.json：%s 必须是数组",
			HintEn: "Write the file anew with pawl export", HintZh: "请用 pawl export 重新生成",
		},
		"machine.state_value": {
			En: "state.json: invalid %s: %q", Zh: "state.json：%s 的值无效：%q",
			HintEn: "pawl machine show board lists the values", HintZh: "pawl machine show board 会列出可用的值",
		},
		"machine.state_phase": {
			En: "state.json: a run that is %s cannot be in phase %s", Zh: "state.json：运行状态 %s 与阶段 %s 不符",
			HintEn: "A pending run is in init, a completed one in complete", HintZh: "pending 对应 init，completed 对应 complete",
		},
		"machine.state_item": {
			En: "state.json: the queue has an item id twice, or none: %q", Zh: "state.json：队列条目 ID 重复或为空：%q",
			HintEn: "Give each item an id of its own", HintZh: "请为每个条目使用唯一 ID",
		},
		"machine.state_reference": {
			En: "state.json: %s names %q, which is not among the issues", Zh: "state.json：%s 引用的 %q 不在 issues 中",
			HintEn: "Add the issue, or remove the item", HintZh: "请添加该议题，或删除该条目",
		},
		"machine.state_solution": {
			En: "state.json: %s: %q is not a solution of %s", Zh: "state.json：%s：%q 不是 %s 的方案",
			HintEn: "Solution ids have the form SOL-<issue>-<number>", HintZh: "方案 ID 形如 SOL-<issue>-<序号>",
		},
		"machine.state_time": {
			En: "state.json: %s is not a time: %q", Zh: "state.json：%s 不是有效时间：%q",
			HintEn: "Times are written as 2026-01-30T10:00:00Z", HintZh: "时间格式如 2026-01-30T10:00:00Z",
		},
	}
}}
