package message

// kernelText is the part of the catalogue for keys that begin with "kernel.".
var kernelText = part{load: func() Table {
	return Table{
		"kernel.effect_loops": {
			En: "%s was begun %s times and never ended; it is given up", Zh: "%s 已开始 %s 次仍未结束，现放弃",
			HintEn: "See what stops it with: pawl doctor", HintZh: "用 pawl doctor 查看原因",
		},
		// The session and its requirement.
		"kernel.not_initialised": {
			En: "this workspace has no session yet", Zh: "本工作区还没有会话",
			HintEn: "Make one with: pawl init", HintZh: "用 pawl init 创建",
		},
		"kernel.prepare_no_network": {
			En: "dependencies cannot be fetched: policy.no_network denies every connection", Zh: "无法获取依赖：policy.no_network 禁止一切连接",
			HintEn: "Install them in your own tree; worktrees are shown what is there", HintZh: "请在你自己的目录中安装依赖；工作树会看到其中的内容",
		},
		"kernel.session_active": {
			En: "the session is %[1]s with: %[2]s", Zh: "会话处于 %[1]s，正在处理：%[2]s",
			HintEn: "pawl status shows it, and the commands that go on with it or give it up", HintZh: "用 pawl status 查看，其中列出了继续或放弃它的命令",
		},
		"kernel.requirement_empty": {
			En: "there is neither a requirement nor a plan", Zh: "既没有需求也没有计划",
			HintEn: "Say what is wanted: pawl run \"REQUIREMENT\", or give a plan: pawl run --plan FILE", HintZh: "说明需求：pawl run \"需求\"，或给出计划文件：pawl run --plan 文件",
		},
		"kernel.paused": {
			En: "the session is paused", Zh: "会话已暂停",
			HintEn: "Go on with: pawl resume", HintZh: "用 pawl resume 继续",
		},
		"kernel.nothing_to_pause": {
			En: "a session in state %s has no work to pause", Zh: "%s 状态的会话没有可暂停的工作",
			HintEn: "See what can be done now with: pawl status", HintZh: "用 pawl status 查看当前可执行的操作",
		},
		"kernel.nothing_to_stop": {
			En: "a session in state %s has no work to stop", Zh: "%s 状态的会话没有可停止的工作",
			HintEn: "See what can be done now with: pawl status", HintZh: "用 pawl status 查看当前可执行的操作",
		},
		"kernel.nothing_to_cancel": {
			En: "a session in state %s has nothing to cancel", Zh: "%s 状态的会话没有可取消的内容",
			HintEn: "See what can be done now with: pawl status", HintZh: "用 pawl status 查看当前可执行的操作",
		},

		// The plan and its approval.
		"kernel.plan_missing": {
			En: "no plan could be made; what is not clear: %s", Zh: "无法生成计划；不清楚之处：%s",
			HintEn: "Answer in a new requirement: pawl run \"REQUIREMENT\", or give a plan: pawl run --plan FILE", HintZh: "请在新的需求中说明：pawl run \"需求\"，或给出计划文件：pawl run --plan 文件",
		},
		"kernel.network_unnamed": {
			En: "a call of %s asks for the network, and the plan names no place that it may connect to", Zh: "%s 的调用要求网络，但计划没有列出允许连接的地址",
			HintEn: "Name the places in the plan: network: [go] or network: [\"host:443\"]", HintZh: "请在计划中列出地址：network: [go] 或 network: [\"host:443\"]",
		},
		"kernel.no_network": {
			En: "the network grant %q of the plan cannot be given here", Zh: "此处无法给出计划中的网络授权 %q",
			HintEn: "Take it out of the plan", HintZh: "请从计划中去掉它",
		},
		"kernel.no_checks": {
			En: "the plan asks for verification (%s), but no check was found here that could prove the result", Zh: "计划要求验证（%s），但这里没有找到任何能证明结果的检查",
			HintEn: "Name the commands in the plan (verification.mode: custom, commands: […]) and check it with: pawl plan validate FILE", HintZh: "请在计划中写明命令（verification.mode: custom，commands: […]），并用 pawl plan validate 文件 检查",
		},
		"kernel.check_program_missing": {
			En: "%[1]s is not installed, and the check %[2]q needs it", Zh: "未安装 %[1]s，而检查 %[2]q 需要它",
			HintEn: "Nothing was begun. Install %[1]s, or put it on PATH, until this finds it: command -v %[1]s; then give the same command again",
			HintZh: "尚未开始任何工作。请安装 %[1]s 或将其加入 PATH，直到 command -v %[1]s 能找到它；然后重新运行同一命令",
		},
		"kernel.check_package_missing": {
			En: "%[1]s is not there, and the check %[2]q needs it", Zh: "没有 %[1]s，而检查 %[2]q 需要它",
			HintEn: "Nothing was begun. Install the project's packages (for PHP: composer install), then give the same command again",
			HintZh: "尚未开始任何工作。请安装项目的依赖包（PHP：composer install），然后重新运行同一命令",
		},
		"kernel.tool_unknown": {
			En: "there is no tool named %q", Zh: "没有名为 %q 的工具",
			HintEn: "List the tools with: pawl tools", HintZh: "用 pawl tools 列出所有工具",
		},
		"kernel.nothing_to_approve": {
			En: "nothing waits for an answer (session %s)", Zh: "没有等待答复的事项（会话 %s）",
			HintEn: "See what can be done now with: pawl status", HintZh: "用 pawl status 查看当前可执行的操作",
		},
		"kernel.approval_stale": {
			En: "the hash %[1]q is not that of what waits for approval (%[2]s)", Zh: "哈希 %[1]q 与等待批准的内容（%[2]s）不符",
			HintEn: "Look at the plan as it is now with pawl plan show, then: pawl approve %[2]s", HintZh: "先用 pawl plan show 查看当前计划，再运行：pawl approve %[2]s",
		},
		"kernel.nothing_to_revise": {
			En: "only a plan that waits for approval can be revised (session %s)", Zh: "只有等待批准的计划才能退回修改（会话 %s）",
			HintEn: "See what can be done now with: pawl status", HintZh: "用 pawl status 查看当前可执行的操作",
		},
		"kernel.nothing_to_edit": {
			En: "only a plan that waits for approval can be edited (session %s)", Zh: "只有等待批准的计划才能编辑（会话 %s）",
			HintEn: "See what can be done now with: pawl status", HintZh: "用 pawl status 查看当前可执行的操作",
		},
		"kernel.edit_stale": {
			En: "the plan was changed meanwhile: the edit is based on %[1]s, the plan is %[2]s", Zh: "计划在此期间已变更：编辑基于 %[1]s，当前为 %[2]s",
			HintEn: "Edit the plan as it is now: pawl plan edit", HintZh: "请在当前计划上重新编辑：pawl plan edit",
		},
		"kernel.repair_asks": {
			En: "a repair needs an approval and nobody is asked in autonomous mode: %s", Zh: "修复需要批准，而自主模式不会询问任何人：%s",
			HintEn: "Allow it and go on with pawl fix, leave the task with pawl skip, or go back with pawl rollback", HintZh: "用 pawl fix 允许并继续，用 pawl skip 跳过任务，或用 pawl rollback 回滚",
		},

		// BLOCKED, and the ways out of it.
		"kernel.checks_refused": {
			En: "the change of what the work is judged by was refused: %s", Zh: "对评判依据的改动被拒绝：%s",
			HintEn: "Put the files back as they were, or name them in the plan", HintZh: "请将这些文件恢复原状，或在计划中列出它们",
		},
		"kernel.fuse_again": {
			En: "%[1]s repairs in a row failed; the last changed nothing, and the same failure came back: %[2]s", Zh: "连续 %[1]s 次修复失败；最后一次没有任何改动，同样的失败再次出现：%[2]s",
			HintEn: "Repair it yourself and go on with pawl fix, leave the task with pawl skip, or go back with pawl rollback", HintZh: "自行修复后用 pawl fix 继续，用 pawl skip 跳过任务，或用 pawl rollback 回滚",
		},
		"kernel.no_repair": {
			En: "pawl knows no repair for this failure: %s", Zh: "pawl 没有针对此失败的修复办法：%s",
			HintEn: "Repair it yourself and go on with pawl fix, leave the task with pawl skip, or go back with pawl rollback", HintZh: "自行修复后用 pawl fix 继续，用 pawl skip 跳过任务，或用 pawl rollback 回滚",
		},
		"kernel.fuse": {
			En: "%[1]s repairs in a row failed, the last at: %[2]s", Zh: "连续 %[1]s 次修复失败，最后失败于：%[2]s",
			HintEn: "Repair it yourself and go on with pawl fix, leave the task with pawl skip, or go back with pawl rollback", HintZh: "自行修复后用 pawl fix 继续，用 pawl skip 跳过任务，或用 pawl rollback 回滚",
		},
		"kernel.stopped": {
			En: "stopped by %[1]s: %[2]s", Zh: "已被 %[1]s 停止：%[2]s",
			HintEn: "Go on with pawl fix, leave the task with pawl skip, or go back with pawl rollback", HintZh: "用 pawl fix 继续，用 pawl skip 跳过任务，或用 pawl rollback 回滚",
		},
		"kernel.issue_branch": {
			En: "the work on %[1]s has begun (%[2]s), for the branch %[3]s", Zh: "%[1]s 的工作已经开始（%[2]s），目标分支为 %[3]s",
			HintEn: "Only an issue that is registered or failed gets another branch. Have it planned anew: pawl issue retry --replan, or take the result over by git", HintZh: "只有 registered 或 failed 状态的议题可以更换分支。请用 pawl issue retry --replan 重新规划，或用 git 自行移植结果",
		},
		"kernel.stopped_copy": {
			En: "this workspace is a copy of %s, and what was under way in it when it was copied belongs there", Zh: "此工作区是 %s 的副本，复制时正在进行的工作属于原工作区",
			HintEn: "It goes on over there, untouched. Here: pawl rollback takes back what it did, pawl skip keeps it and ends, pawl fix goes on with it in this copy", HintZh: "原工作区中的工作不受影响，可在那里继续。在此副本中：pawl rollback 撤回其改动，pawl skip 保留改动并结束，pawl fix 在副本中继续",
		},
		"kernel.task_timeout": {
			En: "the task took longer than %s", Zh: "任务用时超过 %s",
			HintEn: "Go on with pawl fix, leave the task with pawl skip, or go back with pawl rollback", HintZh: "用 pawl fix 继续，用 pawl skip 跳过任务，或用 pawl rollback 回滚",
		},
		"kernel.outcome_unknown": {
			En: "nobody can say whether this call happened before the interruption: step %[1]s, %[2]s %[3]s", Zh: "无法判断中断之前该调用是否已经执行：步骤 %[1]s，%[2]s %[3]s",
			HintEn: "Look, then answer: pawl fix --answer done if it happened, pawl fix --answer retry if it is to be done again", HintZh: "请检查后回答：已执行则运行 pawl fix --answer done，需要重做则运行 pawl fix --answer retry",
		},
		"kernel.answer_needed": {
			En: "the question about effect %s has to be answered first", Zh: "必须先回答关于操作 %s 的问题",
			HintEn: "pawl fix --answer done if it happened, pawl fix --answer retry if it is to be done again", HintZh: "已执行则运行 pawl fix --answer done，需要重做则运行 pawl fix --answer retry",
		},
		"kernel.blocked_by_hand": {
			En: "blocked by hand: %s", Zh: "被手动阻止：%s",
			HintEn: "Go on with: pawl task unblock TASK", HintZh: "用 pawl task unblock 任务 继续",
		},
		"kernel.not_blocked": {
			En: "%[1]s is for a session that is BLOCKED; this one is %[2]s", Zh: "%[1]s 只用于 BLOCKED 状态的会话，当前为 %[2]s",
			HintEn: "See what can be done now with: pawl status", HintZh: "用 pawl status 查看当前可执行的操作",
		},
		"kernel.winding_up": {
			En: "%s has to wait: the work is still being tidied up", Zh: "%s 需要等待：正在收尾清理",
			HintEn: "Finish the tidying with: pawl resume", HintZh: "用 pawl resume 完成收尾",
		},
		"kernel.nothing_to_fix": {
			En: "there is no task to help with", Zh: "没有需要帮助的任务",
			HintEn: "See what can be done now with: pawl status", HintZh: "用 pawl status 查看当前可执行的操作",
		},
		"kernel.archive_cannot_be_skipped": {
			En: "the work is done and only its archive is missing; there is no task to skip", Zh: "工作已完成，只差归档；没有可跳过的任务",
			HintEn: "Remove what keeps .pawl from being written, then: pawl fix", HintZh: "排除导致 .pawl 无法写入的原因，然后运行：pawl fix",
		},
		"kernel.landed_already": {
			En: "the result has landed already; a rollback would not remove it", Zh: "结果已经落地，回滚无法将其移除",
			HintEn: "Finish with pawl fix, then undo the result with: pawl undo", HintZh: "先用 pawl fix 完成，再用 pawl undo 撤销结果",
		},

		// Undo and redo.
		"kernel.undo_when_idle": {
			En: "undo and redo are for a session that is IDLE; this one is %s", Zh: "撤销和重做只用于 IDLE 状态的会话，当前为 %s",
			HintEn: "Finish or cancel the present work first: pawl status", HintZh: "请先完成或取消当前工作：pawl status",
		},
		"kernel.nothing_to_undo": {
			En: "there is no result to undo or redo", Zh: "没有可撤销或重做的结果",
			HintEn: "See the last result with: pawl status", HintZh: "用 pawl status 查看上一次结果",
		},
		"kernel.step_when_resting": {
			En: "a step is undone while nothing is at work; the session is %s", Zh: "只有在没有工作进行时才能撤销步骤，当前会话状态为 %s",
			HintEn: "Stop the work first: pawl stop", HintZh: "请先停止工作：pawl stop",
		},
		"kernel.step_landed": {
			En: "the last run is one commit and its tree is gone, so that no step of it can be undone alone", Zh: "上次运行已成为一个提交且其工作目录已不存在，无法单独撤销其中的步骤",
			HintEn: "Undo the whole result with: pawl undo", HintZh: "用 pawl undo 撤销整个结果",
		},
		"kernel.step_not_found": {
			En: "the plan has no step %[1]s; its steps are %[2]s", Zh: "计划中没有步骤 %[1]s；现有步骤：%[2]s",
			HintEn: "See the steps with: pawl plan show", HintZh: "用 pawl plan show 查看步骤",
		},
		"kernel.step_changed_nothing": {
			En: "nothing that step %s changed is left to be undone", Zh: "步骤 %s 没有可撤销的更改",
			HintEn: "See what the steps did with: pawl task log", HintZh: "用 pawl task log 查看各步骤做了什么",
		},
		"kernel.step_open": {
			En: "it is not known whether a call of step %s was carried out, so its end is not known", Zh: "不清楚步骤 %s 的一次调用是否已执行，因此不知其结果",
			HintEn: "Say what happened with pawl fix --answer done|retry, or go back as a whole with pawl rollback", HintZh: "用 pawl fix --answer done|retry 说明情况，或用 pawl rollback 整体回滚",
		},
		"kernel.nothing_landed": {
			En: "the last run put nothing on your branch (its result: %s), so there is nothing to undo there", Zh: "上次运行没有在你的分支上留下内容（结果：%s），无需撤销",
			HintEn: "See where it is with: pawl status", HintZh: "用 pawl status 查看结果所在位置",
		},
		"kernel.undo_kept": {
			En: "the branch has moved on; the undo is kept on %s", Zh: "分支已有新的提交，撤销结果保留在 %s 上",
			HintEn: "Take it over with: %[2]s", HintZh: "用以下命令合入：%[2]s",
		},

		// Tasks.
		"kernel.task_not_found": {
			En: "there is no task %q", Zh: "没有任务 %q",
			HintEn: "List the tasks with: pawl task list", HintZh: "用 pawl task list 列出任务",
		},
		"kernel.title_empty": {
			En: "a task needs a title", Zh: "任务需要标题",
			HintEn: "pawl task create \"TITLE\"", HintZh: "pawl task create \"标题\"",
		},
		"kernel.already_in_state": {
			En: "task %[1]s is %[2]s already", Zh: "任务 %[1]s 已处于 %[2]s",
			HintEn: "Look at it with: pawl task show %[1]s", HintZh: "用 pawl task show %[1]s 查看",
		},
		"kernel.task_of_run": {
			En: "task %[1]s belongs to the session's run, which moves it; it cannot be set to %[2]s by hand", Zh: "任务 %[1]s 属于会话的运行，由运行推进，不能手动设为 %[2]s",
			HintEn: "Use the session's commands: pawl status names them", HintZh: "请使用会话命令：pawl status 会列出",
		},
		"kernel.actor_refused": {
			En: "%[1]s may not make move %[2]s; it is for: %[3]s", Zh: "%[1]s 不能执行转换 %[2]s；允许的执行者：%[3]s",
			HintEn: "See who may do what with: pawl machine show task", HintZh: "用 pawl machine show task 查看各转换的执行者",
		},
		"kernel.metadata": {
			En: "the metadata is not a JSON object", Zh: "元数据不是 JSON 对象",
			HintEn: "Give an object such as {\"ticket\": 7}", HintZh: "请给出对象，例如 {\"ticket\": 7}",
		},
		"kernel.gates_when_verifying": {
			En: "gates run for a task that is verifying; %[1]s is %[2]s", Zh: "只有 verifying 状态的任务才运行门禁；%[1]s 处于 %[2]s",
			HintEn: "Look at the task with: pawl task show %[1]s", HintZh: "用 pawl task show %[1]s 查看任务",
		},
		"kernel.restart_when_ended": {
			En: "only a task that has ended can be restarted; %[1]s is %[2]s", Zh: "只有已结束的任务才能重新开始；%[1]s 处于 %[2]s",
			HintEn: "Look at the task with: pawl task show %[1]s", HintZh: "用 pawl task show %[1]s 查看任务",
		},
		"kernel.not_due": {
			En: "task %[1]s waits for its retry until %[2]s", Zh: "任务 %[1]s 将等到 %[2]s 再重试",
			HintEn: "Wait, or watch it with: pawl status --watch", HintZh: "请等待，或用 pawl status --watch 观察",
		},
		"kernel.lease_lost": {
			En: "the lease on %s belongs to somebody else now", Zh: "%s 的租约已归他人所有",
			HintEn: "See who works with: pawl status", HintZh: "用 pawl status 查看正在工作的进程",
		},

		// Gates and modes.
		"kernel.gate_failed": {
			En: "gates failed: %s", Zh: "门禁未通过：%s",
			HintEn: "Read their output with: pawl task show", HintZh: "用 pawl task show 查看输出",
		},
		"kernel.tree_changed": {
			En: "the gates ran on tree %[1]s, but %[2]s was verified", Zh: "门禁运行于目录树 %[1]s，而已验证的是 %[2]s",
			HintEn: "Something changed the files during verification; go back with pawl rollback, or verify again with pawl fix", HintZh: "验证期间有文件被改动；用 pawl rollback 回滚，或用 pawl fix 重新验证",
		},
		"kernel.mode_unknown": {
			En: "there is no mode %q", Zh: "没有模式 %q",
			HintEn: "Use implementation, design, chat, ops, test, planning, debug, release or experimental_open_plan", HintZh: "请使用 implementation、design、chat、ops、test、planning、debug、release 或 experimental_open_plan",
		},
		"kernel.mode_refused": {
			En: "mode %[1]s answers %[4]s to the move from %[2]s to %[3]s: %[5]s", Zh: "模式 %[1]s 对 %[2]s → %[3]s 的答复是 %[4]s：%[5]s",
			HintEn: "Use a task of another mode: pawl task create --mode implementation", HintZh: "改用其他模式的任务：pawl task create --mode implementation",
		},
		"kernel.mode_gate": {
			En: "mode %[1]s refuses to run gate %[2]s: %[3]s", Zh: "模式 %[1]s 拒绝运行门禁 %[2]s：%[3]s",
			HintEn: "Correct the mode or the task's gates, then: pawl fix", HintZh: "修正模式或任务的门禁后运行：pawl fix",
		},
		"kernel.mode_retry": {
			En: "mode %[1]s refuses another try: %[2]s", Zh: "模式 %[1]s 拒绝再次重试：%[2]s",
			HintEn: "Leave the task with pawl skip, or go back with pawl rollback", HintZh: "用 pawl skip 跳过任务，或用 pawl rollback 回滚",
		},

		// Effects.
		"kernel.effect_not_found": {
			En: "there is no effect %s", Zh: "没有操作 %s",
			HintEn: "See what is at work with: pawl status", HintZh: "用 pawl status 查看正在进行的操作",
		},
		"kernel.effect_taken": {
			En: "effect %[1]s cannot begin: it is %[2]s", Zh: "操作 %[1]s 无法开始：其状态为 %[2]s",
			HintEn: "Another runner was faster; see pawl status", HintZh: "另一个执行者已先行处理；请看 pawl status",
		},
		"kernel.effect_fenced": {
			En: "the result of effect %[1]s comes too late: it is %[2]s, and token %[3]v is not %[4]v", Zh: "操作 %[1]s 的结果来得太晚：其状态为 %[2]s，令牌 %[3]v 不是 %[4]v",
			HintEn: "Somebody else took it over or it was canceled; see pawl status", HintZh: "该操作已被接管或取消；请看 pawl status",
		},

		// What a person should know before relying on a result.
		"kernel.risk_level":      {En: "the plan's risk is %s", Zh: "计划的风险等级为 %s"},
		"kernel.risk_unverified": {En: "the plan asked for no verification: nothing proves the result", Zh: "计划未要求验证：没有任何证据证明结果"},
		"kernel.risk_tolerated":  {En: "checks failed that the plan does not require: %s", Zh: "以下非必需检查未通过：%s"},
		"kernel.risk_tampered":   {En: "files that define the checks were changed by the work: %s", Zh: "定义检查的文件被本次工作修改：%s"},
		"kernel.risk_skipped":    {En: "step %s was not carried out: %s", Zh: "步骤 %s 未执行：%s"},
		"kernel.risk_kept":       {En: "the result is not on your branch but on %s; take it over with: %s", Zh: "结果不在你的分支上，而在 %s；用以下命令合入：%s"},
		"kernel.risk_cut":        {En: "step %s was cut off before its end: %s", Zh: "步骤 %s 在完成前被中断：%s"},
		"kernel.risk_saved":      {En: "what was unfinished is kept under %s", Zh: "未完成的内容保存在 %s"},
		"kernel.risk_cleanup":    {En: "could not be tidied up: %s", Zh: "未能清理：%s"},

		// Projections.
		"kernel.context_malformed": {
			En: "this is not an active_context.md: its front matter cannot be read", Zh: "这不是 active_context.md：无法读取其 front matter",
			HintEn: "Write it again from the store with: pawl export", HintZh: "用 pawl export 从存储重新生成",
		},
		"kernel.context_status": {
			En: "%q is not a state of a session", Zh: "%q 不是会话状态",
			HintEn: "The seven states are in: pawl machine show session", HintZh: "七种状态见：pawl machine show session",
		},

		// The context manager.
		"kernel.decision_type": {
			En: "%[1]q is not a type of decision; there are: %[2]s", Zh: "%[1]q 不是决策类型；可用的有：%[2]s",
			HintEn: "Choose one of them", HintZh: "请选择其中之一",
		},
		"kernel.decision_not_found": {
			En: "there is no decision %s to replace", Zh: "没有可替换的决策 %s",
			HintEn: "The ids are in .pawl/project_decisions.md; write it again with: pawl export", HintZh: "编号见 .pawl/project_decisions.md，可用 pawl export 重新生成",
		},
		"kernel.note_size": {
			En: "%[1]s must say something, in at most %[2]v bytes", Zh: "%[1]s 不能为空，且不超过 %[2]v 字节",
			HintEn: "Fill in every field, and keep each short", HintZh: "请填写每个字段，并保持简短",
		},
		"kernel.state_of_work": {
			En: "the session goes from %[1]s to %[2]s by its work, not on request", Zh: "会话从 %[1]s 到 %[2]s 由工作本身触发，不能直接请求",
			HintEn: "Let the work go on with: pawl resume", HintZh: "用 pawl resume 让工作继续",
		},
		"kernel.state_unreachable": {
			En: "State: %[1]s → %[2]s is not allowed", Zh: "State: %[1]s → %[2]s 不被允许",
			HintEn: "The legal ways are in: pawl machine show session", HintZh: "合法的转换见：pawl machine show session",
		},

		// Breaches of the invariants.
		"kernel.invariant_derived":    {En: "the session is stored as %[1]s, but its tasks, turns and approvals say %[2]s", Zh: "会话存储为 %[1]s，但任务、轮次和批准表明应为 %[2]s", HintEn: reportEn, HintZh: reportZh},
		"kernel.invariant_fixes":      {En: "%[1]s failed repairs are more than the %[2]s that are allowed", Zh: "失败修复次数 %[1]s 超过上限 %[2]s", HintEn: reportEn, HintZh: reportZh},
		"kernel.invariant_retries":    {En: "%[1]s retries are more than the %[2]s that are allowed", Zh: "重试次数 %[1]s 超过上限 %[2]s", HintEn: reportEn, HintZh: reportZh},
		"kernel.invariant_calls":      {En: "%[1]s tool calls in one turn are more than the %[2]s that are allowed", Zh: "单轮工具调用次数 %[1]s 超过上限 %[2]s", HintEn: reportEn, HintZh: reportZh},
		"kernel.invariant_lease":      {En: "task %[1]s holds a lease although it is %[2]s", Zh: "任务 %[1]s 处于 %[2]s 却仍持有租约", HintEn: reportEn, HintZh: reportZh},
		"kernel.invariant_token":      {En: "the effect at work has token %[1]s, its row has %[2]s", Zh: "进行中的操作令牌为 %[1]s，而其记录为 %[2]s", HintEn: reportEn, HintZh: reportZh},
		"kernel.invariant_orphan":     {En: "an effect of kind %s is in flight and nobody waits for it", Zh: "有一个 %s 类操作在进行，却没有任何等待者", HintEn: reportEn, HintZh: reportZh},
		"kernel.invariant_proof":      {En: "task %[1]s is done without its proof: %[2]s", Zh: "任务 %[1]s 已完成但缺少证明：%[2]s", HintEn: restoreEn, HintZh: restoreZh},
		"kernel.invariant_move":       {En: "a %[1]s went from %[2]s on %[3]s to %[4]s by row %[5]s, which its table does not say", Zh: "%[1]s 从 %[2]s 经 %[3]s 到 %[4]s（规则 %[5]s），与其状态表不符", HintEn: restoreEn, HintZh: restoreZh},
		"kernel.invariant_state":      {En: "a %[1]s is stored as %[2]s, but its records end in %[3]s", Zh: "%[1]s 存储为 %[2]s，但其审计记录止于 %[3]s", HintEn: restoreEn, HintZh: restoreZh},
		"kernel.invariant_unrecorded": {En: "a %[1]s stands at audit record %[2]s, which is not in the log", Zh: "%[1]s 指向第 %[2]s 条审计记录，但日志中没有", HintEn: restoreEn, HintZh: restoreZh},

		// Faults of pawl or of its store.
		"kernel.run_missing": {
			En: "the store has no run %s although the session points at it", Zh: "会话指向运行 %s，但存储中不存在",
			HintEn: restoreEn, HintZh: restoreZh,
		},
		"kernel.row_unreadable": {
			En: "the stored %[1]s %[2]s cannot be read", Zh: "存储的 %[1]s %[2]s 无法读取",
			HintEn: restoreEn, HintZh: restoreZh,
		},
		"kernel.no_randomness":     {En: "the system gives no random numbers", Zh: "系统无法提供随机数", HintEn: doctorEn, HintZh: doctorZh},
		"kernel.result":            {En: "the answer cannot be written as JSON", Zh: "答复无法写成 JSON", HintEn: reportEn, HintZh: reportZh},
		"kernel.command":           {En: "the command cannot be written as JSON", Zh: "命令无法写成 JSON", HintEn: reportEn, HintZh: reportZh},
		"kernel.document":          {En: "a document cannot be written as JSON", Zh: "文档无法写成 JSON", HintEn: reportEn, HintZh: reportZh},
		"kernel.unknown_command":   {En: "the kernel does not know this command", Zh: "内核不认识该命令", HintEn: reportEn, HintZh: reportZh},
		"kernel.unknown_happening": {En: "the composition table has no row for %q", Zh: "组合表中没有 %q 这一行", HintEn: reportEn, HintZh: reportZh},
		"kernel.no_row":            {En: "%[1]s asks for a %[2]s where there is none", Zh: "%[1]s 需要一个 %[2]s，但不存在", HintEn: reportEn, HintZh: reportZh},
		"kernel.no_machine":        {En: "rows of kind %s have no machine", Zh: "%s 类型的行没有状态机", HintEn: reportEn, HintZh: reportZh},
		"kernel.effect_unknown":    {En: "nothing follows an effect of kind %s", Zh: "没有处理 %s 类操作结果的步骤", HintEn: reportEn, HintZh: reportZh},
	}
}}

// Hints for what only pawl's makers, or the machine's owner, can mend.
const (
	reportEn = "This is a mistake in pawl; report it with the output of: pawl doctor"
	reportZh = "这是 pawl 自身的错误，请附上 pawl doctor 的输出进行反馈"
	doctorEn = "Look at the machine with: pawl doctor"
	doctorZh = "用 pawl doctor 检查本机"
)

// kernelAgents is the part of the kernel's catalogue about agents at work, questions and budgets.
var kernelAgents = part{load: func() Table {
	return Table{
		"kernel.calls_used": {
			En: "the turn has used its %s tool calls", Zh: "本轮的 %s 次工具调用已用完",
			HintEn: "Go on with pawl fix, or allow more with: pawl config set max_calls N", HintZh: "用 pawl fix 继续，或用 pawl config set max_calls 数值 放宽",
		},
		"kernel.no_calls": {
			En: "the agent %s wants calls made and names none", Zh: "智能体 %s 要求调用工具却未给出调用",
			HintEn: "Try again with pawl fix, or another agent", HintZh: "用 pawl fix 重试，或换一个智能体",
		},
		"kernel.agent_gave_up": {
			En: "the agent %[1]s gave up: %[2]s", Zh: "智能体 %[1]s 放弃：%[2]s",
			HintEn: "Help it with pawl fix, leave the task with pawl skip, or go back with pawl rollback", HintZh: "用 pawl fix 帮助它，用 pawl skip 跳过任务，或用 pawl rollback 回滚",
		},
		"kernel.agent_loops": {
			En: "the agent %[1]s goes round in circles: %[2]s again and again (cycle of %[3]s)", Zh: "智能体 %[1]s 原地打转：反复调用 %[2]s（循环长度 %[3]s）",
			HintEn: "Say more about what is wanted with pawl fix, or take another agent", HintZh: "用 pawl fix 补充说明，或换一个智能体",
		},
		"kernel.call_asks": {
			En: "%s needs a person's word", Zh: "%s 需要人工确认",
			HintEn: "Answer with pawl approve or pawl deny; a plan that names the call needs one word for all", HintZh: "用 pawl approve 或 pawl deny 回答；写进计划的调用可一次批准",
		},
		"kernel.replan_empty": {
			En: "the agent %s wants another plan and names none", Zh: "智能体 %s 要求改计划却未给出修改",
			HintEn: "Try again with pawl fix, or another agent", HintZh: "用 pawl fix 重试，或换一个智能体",
		},
		"kernel.replan_asks": {
			En: "the changed plan needs a person's word: step %[1]s calls %[2]s", Zh: "修改后的计划需要人工确认：步骤 %[1]s 调用 %[2]s",
			HintEn: "Name the call in a plan of your own: pawl run --plan FILE", HintZh: "在自己的计划中写明该调用：pawl run --plan 文件",
		},
		"kernel.still_unclear": {
			En: "the requirement is still unclear after %[1]s rounds of questions: %[2]s", Zh: "经过 %[1]s 轮澄清，需求仍不清楚：%[2]s",
			HintEn: "Say it in other words: pawl run \"…\", or bring a plan: pawl run --plan FILE", HintZh: "换一种说法：pawl run \"…\"，或自带计划：pawl run --plan 文件",
		},
		"kernel.not_for_agents": {
			En: "%s is an agent, and this is a person's to decide", Zh: "%s 是智能体，此事须由人决定",
			HintEn: "Report, ask or propose instead; a person answers with pawl approve, deny, answer or fix", HintZh: "请改为汇报、提问或提议；由人用 pawl approve、deny、answer 或 fix 决定",
		},
		"kernel.nothing_asked": {
			En: "nothing is asked (session %s)", Zh: "当前没有待答问题（会话 %s）",
			HintEn: "See where it stands with: pawl status", HintZh: "用 pawl status 查看状态",
		},
		"kernel.question_unknown": {
			En: "there is no open question %s", Zh: "没有待答问题 %s",
			HintEn: "See which are open with: pawl status", HintZh: "用 pawl status 查看待答问题",
		},
		"kernel.questions_open": {
			En: "%s questions wait for the person already", Zh: "已有 %s 个问题在等待用户回答",
			HintEn: "Wait for their answers, or go on without this one", HintZh: "等待这些问题的回答，或不问此问题继续",
		},
		"kernel.asks_used": {
			En: "the agent has asked its %s questions of this turn", Zh: "智能体本轮的 %s 个提问已用完",
			HintEn: "Go on with what there is, or give the step up", HintZh: "用现有信息继续，或放弃该步骤",
		},
		"kernel.nobody_asked": {
			En: "nobody can be asked in an unattended run", Zh: "无人值守的运行中无法提问",
			HintEn: "Say more in the requirement, or run it without: --mode autonomous", HintZh: "在需求中写得更清楚，或不使用 --mode autonomous 运行",
		},
		"kernel.answers_count": {
			En: "questions that are open: %[1]s, answers that were given: %[2]s", Zh: "有 %[1]s 个待答问题，却给出了 %[2]s 个回答",
			HintEn: "Give one answer for each question, \"\" to leave one open", HintZh: "每个问题给一个回答，用 \"\" 表示不答",
		},
		"kernel.budget_used": {
			En: "the budget of %[1]s does not allow it: %[2]s limit %[3]s, used %[4]s, this call at most %[5]s", Zh: "%[1]s 的预算不允许：%[2]s 上限 %[3]s，已用 %[4]s，本次最多 %[5]s",
			HintEn: "See pawl budget; allow more with pawl config set budget.run.%[2]s N, then try again with pawl run, or with pawl fix where the session is BLOCKED", HintZh: "用 pawl budget 查看；用 pawl config set budget.run.%[2]s 数值 放宽，然后用 pawl run 重试；会话处于 BLOCKED 时用 pawl fix 继续",
		},
		"kernel.price_unknown": {
			En: "the budget of %s is in money, and the model's price is not known", Zh: "%s 的预算以金额计，而该模型的价格未知",
			HintEn: "Name the price in a file: pawl config set model.prices FILE, or limit tokens instead", HintZh: "在文件中给出价格：pawl config set model.prices 文件，或改用 token 上限",
		},
	}
}}

// boardRefusals are what the kernel says about the board.
var kernelBoard = part{load: func() Table {
	return Table{
		"kernel.issue_not_found": {
			En: "there is no issue %[1]s", Zh: "没有议题 %[1]s",
			HintEn: "pawl issue list shows them", HintZh: "用 pawl issue list 查看",
		},
		"kernel.issues_count": {
			En: "%[1]d issues in one command, and 1 to %[2]d are possible", Zh: "一条命令包含 %[1]d 个议题，允许 1 到 %[2]d 个",
			HintEn: "Add them in several commands", HintZh: "请分多条命令添加",
		},
		"kernel.issue_title": {
			En: "an issue needs a title of one line with at most %[1]d bytes", Zh: "议题需要一行标题，最多 %[1]d 字节",
			HintEn: "Put the rest into its description", HintZh: "其余内容请写入描述",
		},
		"kernel.issue_context": {
			En: "the description of an issue may have at most %[1]d bytes", Zh: "议题描述最多 %[1]d 字节",
			HintEn: "Shorten it, or name a file that holds it", HintZh: "请缩短，或写明存放内容的文件",
		},
		"kernel.issue_priority": {
			En: "the priority %[1]d is not between 1 (critical) and 5", Zh: "优先级 %[1]d 不在 1（最紧急）到 5 之间",
			HintEn: "3 is the usual one", HintZh: "一般为 3",
		},
		"kernel.issue_after": {
			En: "an issue with %[1]d dependencies; at most %[2]d are possible", Zh: "议题有 %[1]d 个依赖，最多 %[2]d 个",
			HintEn: "Let it depend on an issue that depends on them", HintZh: "可让它依赖另一个汇总这些依赖的议题",
		},
		"kernel.issue_external": {
			En: "the external id %.60[1]q begins with %[2]s, which names solution packages", Zh: "外部 ID %.60[1]q 以 %[2]s 开头，该前缀用于方案包",
			HintEn: "Give the issue another id in its source", HintZh: "请在来源中为该议题改用其他 ID",
		},
		"kernel.dependency_unknown": {
			En: "%[1]s depends on %[2]s, which does not exist", Zh: "%[1]s 依赖不存在的 %[2]s",
			HintEn: "Add that issue first, or leave the dependency out", HintZh: "请先添加该议题，或去掉此依赖",
		},
		"kernel.dependency_none": {
			En: "%[1]s does not depend on %[2]s", Zh: "%[1]s 不依赖 %[2]s",
			HintEn: "pawl issue show names what it depends on", HintZh: "用 pawl issue show 查看其依赖",
		},
		"kernel.dependency_circle": {
			En: "the dependencies would form a circle: %[1]s", Zh: "依赖会形成环：%[1]s",
			HintEn: "Take one of them back first: pawl issue edit ISSUE --not-after OTHER", HintZh: "请先去掉其中一个：pawl issue edit ISSUE --not-after OTHER",
		},
		"kernel.owner_empty": {
			En: "a claim needs the name of its worker", Zh: "领取任务需要工作进程的名称",
			HintEn: "This is a mistake in the caller of the kernel", HintZh: "这是内核调用方的错误",
		},
		"kernel.board_empty": {
			En: "the board has no issues yet", Zh: "看板还没有议题",
			HintEn: "pawl issue add TITLE adds one, pawl issue import FILE many", HintZh: "用 pawl issue add TITLE 添加，或用 pawl issue import FILE 批量导入",
		},
		"kernel.board_completed": {
			En: "%[1]s is completed", Zh: "%[1]s 已完成",
			HintEn: "The next pawl issue add opens a new one", HintZh: "下一次 pawl issue add 会开启新的批次",
		},
		"kernel.issue_taken": {
			En: "%[1]s is being worked on by %[2]s", Zh: "%[1]s 正由 %[2]s 处理",
			HintEn: "pawl board shows how far it is", HintZh: "用 pawl board 查看进度",
		},
		"kernel.issue_paused": {
			En: "%[1]s is held back", Zh: "%[1]s 已被暂缓",
			HintEn: "pawl issue retry lets it go on", HintZh: "用 pawl issue retry 继续",
		},
		"kernel.issue_waits": {
			En: "%[1]s waits for %[2]d other issues", Zh: "%[1]s 在等待另外 %[2]d 个议题",
			HintEn: "pawl issue show names them", HintZh: "用 pawl issue show 查看",
		},
		"kernel.issue_asks": {
			En: "%[1]s waits for a person", Zh: "%[1]s 在等待人工处理",
			HintEn: "pawl status --issue %[1]s says what it asks", HintZh: "用 pawl status --issue %[1]s 查看",
		},
		"kernel.issue_not_ready": {
			En: "%[1]s is %[2]s, and cannot be taken up for that", Zh: "%[1]s 处于 %[2]s，不能这样领取",
			HintEn: "pawl issue show says what comes next for it", HintZh: "用 pawl issue show 查看下一步",
		},
		"kernel.issue_not_failed": {
			En: "%[1]s is %[2]s; only a failed issue is tried again", Zh: "%[1]s 处于 %[2]s；只有失败的议题可以重试",
			HintEn: "pawl issue show says what comes next for it", HintZh: "用 pawl issue show 查看下一步",
		},
		"kernel.landing_conflict": {
			En: "the work and what landed on %[1]s meanwhile changed the same: %[2]s", Zh: "该更改与期间落到 %[1]s 的更改冲突：%[2]s",
			HintEn: "pawl issue retry --replan begins anew on the present branch, with the conflict as feedback", HintZh: "用 pawl issue retry --replan 在当前分支上重新开始，并把冲突作为反馈",
		},
		"kernel.board_retries": {
			En: "%[1]s was tried again as often as the board does by itself", Zh: "%[1]s 已达到看板自动重试的次数上限",
			HintEn: "pawl issue show says why it failed; pawl issue retry tries it again", HintZh: "用 pawl issue show 查看失败原因，用 pawl issue retry 重试",
		},
		"kernel.no_stage_asks": {
			En: "no stage asks for a choice in %[1]s", Zh: "%[1]s 中没有等待选择的阶段",
			HintEn: "pawl status shows what is asked", HintZh: "用 pawl status 查看",
		},
		"kernel.path_dangerous": {
			En: "the requirement is of extremely high risk, and cannot take the way %[1]s", Zh: "该需求存在极高风险，不能采用路径 %[1]s",
			HintEn: "Only standard is open to it", HintZh: "只能采用 standard",
		},
		"kernel.path_unknown": {
			En: "there is no way %[1]s", Zh: "没有路径 %[1]s",
			HintEn: "It is tweak, light or standard", HintZh: "可选 tweak、light 或 standard",
		},
		"kernel.package_used": {
			En: "the package %[1]s was carried out already, or was taken back", Zh: "方案包 %[1]s 已执行过或已撤回",
			HintEn: "pawl '~plan …' makes a new one", HintZh: "用 pawl '~plan …' 创建新的方案包",
		},
		"kernel.package_unknown": {
			En: "there is no package %[1]s", Zh: "没有方案包 %[1]s",
			HintEn: "pawl validate lists those that there are", HintZh: "用 pawl validate 查看现有方案包",
		},
		"kernel.tool_while_working": {
			En: "%[1]s cannot take over while something is at work", Zh: "正在执行操作，%[1]s 不能接管",
			HintEn: "Wait for it, or pause first: pawl pause", HintZh: "请等待，或先暂停：pawl pause",
		},
		"kernel.tool_active": {
			En: "the external tool %[1]s has taken over", Zh: "外部工具 %[1]s 已接管流程",
			HintEn: "The flow goes on, or is given up, when the tool is done: pawl status", HintZh: "工具结束后流程继续或放弃：pawl status",
		},
		"kernel.no_order": {
			En: "%[1]s is not carried out by %[2]s", Zh: "%[1]s 不由 %[2]s 执行",
			HintEn: "This is a mistake in the caller of the kernel", HintZh: "这是内核调用方的错误",
		},
		"kernel.command_unknown": {
			En: "the kernel does not know the command %[1]s", Zh: "内核不认识命令 %[1]s",
			HintEn: "This is a mistake in the caller of the kernel", HintZh: "这是内核调用方的错误",
		},
	}
}}
