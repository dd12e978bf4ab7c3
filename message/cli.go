package message

// cliErrors are the errors of the command line itself.
var cliErrors = part{load: func() Table {
	return Table{
		"cli.args_few": {
			En: "an argument is missing: %s", Zh: "缺少参数：%s",
			HintEn: "See examples with: %[2]s --help", HintZh: "用 %[2]s --help 查看示例",
		},
		"cli.args_many": {
			En: "there is an argument too many: %s", Zh: "多出的参数：%s",
			HintEn: "Put text of several words in quotes; see: %[2]s --help", HintZh: "多个单词的文本请加引号；见 %[2]s --help",
		},
		"cli.unknown_command": {
			En: "there is no command %q in %s", Zh: "%[2]s 没有命令 %[1]q",
			HintEn: "List the commands with: %[2]s --help", HintZh: "用 %[2]s --help 列出命令",
		},
		"cli.unknown_command_near": {
			En: "there is no command %q in %s", Zh: "%[2]s 没有命令 %[1]q",
			HintEn: "Did you mean: %[3]s?", HintZh: "是否想用：%[3]s？",
		},
		"cli.unknown_flag": {
			En: "there is no flag %s for %s", Zh: "%[2]s 没有选项 %[1]s",
			HintEn: "List the flags with: %[2]s --help", HintZh: "用 %[2]s --help 列出选项",
		},
		"cli.unknown_flag_near": {
			En: "there is no flag %s for %s", Zh: "%[2]s 没有选项 %[1]s",
			HintEn: "Did you mean %[3]s?", HintZh: "是否想用 %[3]s？",
		},
		"cli.flag_value": {
			En: "the flag %s needs a value", Zh: "选项 %s 需要一个值",
			HintEn: "See: %[2]s --help", HintZh: "见 %[2]s --help",
		},
		"cli.flag_invalid": {
			En: "%q is no value for %s", Zh: "%[2]s 不接受 %[1]q",
			HintEn: "It takes: %[3]s", HintZh: "可用的值：%[3]s",
		},
		"cli.flag_setting": {En: "the flag %s cannot be used like this", Zh: "选项 %s 的用法有误"},
		"cli.flag_syntax": {
			En: "%q is not written as a flag", Zh: "%q 不是选项的写法",
			HintEn: "Flags are written --name or --name=value; see: %[2]s --help", HintZh: "选项写作 --名称 或 --名称=值；见 %[2]s --help",
		},
		"cli.flag_other": {
			En: "the flags of %s cannot be read: %s", Zh: "无法解析 %s 的选项：%s",
			HintEn: "See: %[1]s --help", HintZh: "见 %[1]s --help",
		},
		"cli.flags_conflict": {
			En: "%s and %s do not go together", Zh: "%s 与 %s 不能同时使用",
			HintEn: "Leave one of them out", HintZh: "请去掉其中一个",
		},
		"cli.audit.prove_what": {
			En: "say what to prove: either one record or a task", Zh: "请说明要证明什么：一条记录或一个任务",
			HintEn: "pawl audit prove 12, or pawl audit prove --task T-001; pawl audit log shows the numbers", HintZh: "pawl audit prove 12，或 pawl audit prove --task T-001；编号见 pawl audit log",
		},
		"cli.audit.no_record": {
			En: "the audit log has no record %q", Zh: "审计日志中没有记录 %q",
			HintEn: "pawl audit log shows the numbers, and with --json the ids", HintZh: "编号见 pawl audit log，id 见其 --json 输出",
		},
		"cli.audit.no_records": {
			En: "the audit log has no records of %q", Zh: "审计日志中没有 %q 的记录",
			HintEn: "See what there is with: pawl audit log", HintZh: "用 pawl audit log 查看已有记录",
		},
		"cli.audit.key_alone": {
			En: "--key is only for checking a proof", Zh: "--key 仅用于验证证明",
			HintEn: "Name the proof as well: pawl audit verify --proof FILE --key KEY", HintZh: "请同时指定证明：pawl audit verify --proof 文件 --key 密钥",
		},
		"cli.plan.document_bad": {
			En: "the plan's document cannot be used (problems: %d)", Zh: "无法使用该计划文档（问题数：%d）",
			HintEn: "Correct it, or begin anew: pawl plan show --prd > plan.md, then pawl plan edit --from plan.md", HintZh: "请修正，或重新开始：pawl plan show --prd > plan.md，然后 pawl plan edit --from plan.md",
		},
		"cli.plan.denied_calls": {
			En: "%s is well formed, but the policy denies %d of its calls: a run of it would end before it begins", Zh: "%s 格式正确，但策略拒绝其中 %d 个调用：运行会在开始前结束",
			HintEn: "Change these calls, or see what the policy allows with: pawl config show", HintZh: "请修改这些调用，或用 pawl config show 查看策略允许的内容",
		},
		"cli.run_nothing": {
			En: "there is nothing to do: neither a requirement nor a plan was given", Zh: "没有可做的事：既没有需求也没有计划",
			HintEn: "Say what is wanted: pawl run \"make the checks pass\", or give a plan: pawl run --plan FILE", HintZh: "说明需求：pawl run \"让检查通过\"，或给出计划：pawl run --plan 文件",
		},
		"cli.revise_nothing": {
			En: "nothing is said about what should be different", Zh: "没有说明要修改什么",
			HintEn: "Say it: pawl revise -m \"WHAT\", or give another plan: pawl revise --plan FILE", HintZh: "请说明：pawl revise -m \"修改内容\"，或给出另一个计划：pawl revise --plan 文件",
		},
		"cli.crash": {
			En: "pawl itself failed: %s", Zh: "pawl 自身出错：%s",
			HintEn: "Nothing that was acknowledged is lost: go on with pawl resume, and report this with what follows", HintZh: "已确认的内容不会丢失：用 pawl resume 继续，并附上以下内容报告此问题",
		},
		"cli.owned": {
			En: "process %[1]d on %[2]s works here since %[3]s: %[4]s", Zh: "%[2]s 上的进程 %[1]d 自 %[3]s 起在此工作：%[4]s",
			HintEn: "Watch it with pawl status --watch; ask it to stop with pawl pause or pawl stop", HintZh: "用 pawl status --watch 查看；用 pawl pause 或 pawl stop 让它停下",
		},
		"cli.owner_halted": {
			En: "process %[1]d on %[2]s has the work here since %[3]s, and it is stopped: %[4]s", Zh: "%[2]s 上的进程 %[1]d 自 %[3]s 起在此工作，但它已被暂停：%[4]s",
			HintEn: "Let it go on with kill -CONT %[1]d, or end it with kill -9 %[1]d; what was said meanwhile is done then", HintZh: "用 kill -CONT %[1]d 让它继续，或用 kill -9 %[1]d 结束它；其间所说的随后会执行",
		},
		"cli.output_failed": {
			En: "the output could not be written in full; nothing was changed", Zh: "输出未能完整写出；未做任何更改",
			HintEn: "Send it where there is room for it, and repeat the command", HintZh: "请把输出送到有空间的位置，然后重试该命令",
		},
		"cli.output_failed_done": {
			En: "the output could not be written in full; what was done until then stands", Zh: "输出未能完整写出；此前已完成的操作均有效",
			HintEn: "Do not repeat the command; see what was done with: pawl status, pawl audit log", HintZh: "请勿重试该命令；请用 pawl status 和 pawl audit log 查看已完成的操作",
		},
		"cli.output_failed_made": {
			En: "%s is added; only the output could not be written", Zh: "已添加 %s；只是输出未能写出",
			HintEn: "Do not repeat the command", HintZh: "请勿重试该命令",
		},
		"cli.confirm_needed": {
			En: "this needs a yes, and there is no terminal to ask on", Zh: "此操作需要确认，但没有可询问的终端",
			HintEn: "Look at what it would do, then give --yes", HintZh: "先确认其影响，然后加上 --yes",
		},
		"cli.approval_needed": {
			En: "%s (%s) waits for your word", Zh: "%s（%s）等待你的决定",
			HintEn: "Approve it with: pawl approve %[2]s --yes", HintZh: "用 pawl approve %[2]s --yes 批准",
		},
		"cli.no_approval": {
			En: "something waits for approval, but it cannot be read", Zh: "有内容等待批准，但无法读取",
			HintEn: "Run: pawl status", HintZh: "请运行：pawl status",
		},
		"cli.ended": {En: "the run ended: %s", Zh: "运行已结束：%s"},
		"cli.run_failed": {
			En: "the run failed and left no reason", Zh: "运行失败，且未记录原因",
			HintEn: "See: pawl audit log -n 20", HintZh: "见 pawl audit log -n 20",
		},
		"cli.blocked": {
			En: "work stopped and needs a person", Zh: "工作已停止，需要人工处理",
			HintEn: "See the ways on with: pawl status", HintZh: "用 pawl status 查看后续方式",
		},
		"cli.blocked_by": {
			En: "work stopped and needs a person (%s)", Zh: "工作已停止，需要人工处理（%s）",
			HintEn: "Help with pawl fix, return with pawl rollback, or leave the task with pawl skip", HintZh: "用 pawl fix 帮助、pawl rollback 回滚，或 pawl skip 跳过任务",
		},
		"cli.no_plan": {
			En: "no run has a plan yet", Zh: "还没有任何计划",
			HintEn: "Begin with: pawl run \"REQUIREMENT\"", HintZh: "请先运行：pawl run \"需求\"",
		},
		"cli.no_dir": {
			En: "there is no folder %s", Zh: "没有目录 %s",
			HintEn: "Name an existing folder with -C", HintZh: "请用 -C 指定存在的目录",
		},
		"cli.dir": {
			En: "the folder %s cannot be used", Zh: "无法使用目录 %s",
			HintEn: "Check that it exists and may be read and written", HintZh: "请检查它是否存在、是否可读写",
		},
		"cli.workspace_plain": {
			En: "%s is no workspace and no git repository, so it is not certain that it is meant to become one", Zh: "%s 既不是工作区也不是 git 仓库，无法确定是否要将其设为工作区",
			HintEn: "Make it one with: pawl init", HintZh: "用 pawl init 将其设为工作区",
		},
		"cli.workspace_many": {
			En: "%[1]s is no workspace, and %[2]d projects lie in it (%[3]s): all of them would be open to the work", Zh: "%[1]s 不是工作区，其中有 %[2]d 个项目（如 %[3]s）：它们都会对工作开放",
			HintEn: "Go to one of them, or make this folder a workspace with: pawl init", HintZh: "请进入其中一个项目，或用 pawl init 将此目录设为工作区",
		},
		"cli.workspace_below": {
			En: "%[1]s is no workspace, and it lies inside one: %[2]s", Zh: "%[1]s 不是工作区，但位于另一个工作区之内：%[2]s",
			HintEn: "Make it one of its own with: pawl init", HintZh: "用 pawl init 将其设为独立的工作区",
		},
		"cli.workspace_home": {
			En: "%s is no place for a workspace: everything in it would be open to the work", Zh: "%s 不能作为工作区：其中的一切都会对工作开放",
			HintEn: "Go to the folder of one project", HintZh: "请进入某个项目的目录",
		},
		"cli.workspace_gone": {
			En: "the workspace is no longer at %s: it was moved, removed or replaced while pawl was at work", Zh: "工作区已不在 %s：pawl 工作期间它被移动、删除或替换",
			HintEn: "Nothing that was acknowledged is lost. Go to where the workspace is now and run: pawl resume", HintZh: "已确认的内容没有丢失。请到工作区现在的位置运行：pawl resume",
		},
		"cli.workspace_moved": {
			En: "this workspace was at %s and has moved; everything goes on here", Zh: "此工作区原位于 %s，现已移动；一切在此继续",
		},
		"cli.workspace_copied": {
			En: "this workspace is a copy of %s; from now on it is a workspace of its own, and nothing that is done here touches the other", Zh: "此工作区是 %s 的副本；从现在起它是独立的工作区，此处的任何操作都不会影响原工作区",
		},
		"cli.workspace_copied_stopped": {
			En: "this workspace is a copy of %[1]s; from now on it is a workspace of its own, and nothing that is done here touches the other. What was under way over there was stopped here: %[2]s (pawl status says what to do)", Zh: "此工作区是 %[1]s 的副本；从现在起它是独立的工作区，此处的任何操作都不会影响原工作区。复制时正在进行的工作在此处已停止：%[2]s（pawl status 会说明下一步）",
		},
		"cli.workspace_shared": {
			En: "%[1]s is a copy of %[2]s and uses the same git directory: whatever is done to the branch here happens over there", Zh: "%[1]s 是 %[2]s 的副本，且使用同一个 git 目录：此处对分支的任何操作都会影响原工作区",
			HintEn: "Work over there, or make a worktree of its own with git worktree add and run pawl in that", HintZh: "请在原工作区中工作，或用 git worktree add 新建独立的工作树并在其中运行 pawl",
		},
		"cli.workspace_tied": {
			En: "%[1]s and %[2]s have the same store file, as hard or symbolic links make it", Zh: "%[1]s 与 %[2]s 使用同一个存储文件（硬链接或符号链接所致）",
			HintEn: "Two workspaces on one store would damage it. Copy .pawl again without links (cp -a), or remove it here and run pawl init", HintZh: "两个工作区共用一个存储会将其损坏。请不带链接重新复制 .pawl（cp -a），或在此处删除它并运行 pawl init",
		},
		"cli.workspace_readonly": {
			En: "%s cannot be written", Zh: "无法写入 %s",
			HintEn: "Check the permissions and whether the disk is mounted read-only", HintZh: "请检查权限，以及磁盘是否以只读方式挂载",
		},
		"cli.file_missing": {
			En: "there is no file %s", Zh: "没有文件 %s",
			HintEn: "Check the name; it is looked up from the current folder", HintZh: "请检查名称；它相对于当前目录",
		},
		"cli.file_unreadable": {
			En: "%s cannot be read", Zh: "无法读取 %s",
			HintEn: "Check that it is a file and may be read", HintZh: "请检查它是否为可读文件",
		},
		"cli.edit_kept": {
			En: "it is not done, and what you wrote is kept in %s", Zh: "未完成；你写的内容保存在 %s",
		},
		"cli.file_unwritable": {
			En: "%s cannot be written", Zh: "无法写入 %s",
			HintEn: "Check the folder, its permissions and the space on the disk", HintZh: "请检查目录、权限和磁盘空间",
		},
		"cli.file_exists": {
			En: "%s exists already and is left as it is", Zh: "%s 已存在，未作更改",
			HintEn: "Choose another name, or remove it first", HintZh: "请换一个名称，或先删除它",
		},
		"cli.file_large": {
			En: "%s is larger than the %d bytes that are read", Zh: "%s 超过可读取的 %d 字节",
			HintEn: "Give a smaller file", HintZh: "请使用更小的文件",
		},
		"cli.no_editor": {
			En: "there is no editor %s", Zh: "没有编辑器 %s",
			HintEn: "Set $EDITOR, or edit a file of your own: pawl plan show --prd > plan.md, then pawl plan edit --from plan.md", HintZh: "请设置 $EDITOR，或自行编辑文件：pawl plan show --prd > plan.md，然后 pawl plan edit --from plan.md",
		},
		"cli.editor_failed": {
			En: "the editor %s ended with an error; nothing was changed", Zh: "编辑器 %s 出错退出；没有任何更改",
			HintEn: "Try again, or: pawl plan show --prd > plan.md, then pawl plan edit --from plan.md", HintZh: "请重试，或：pawl plan show --prd > plan.md，然后 pawl plan edit --from plan.md",
		},
		"cli.task_unknown": {
			En: "there is no task %s", Zh: "没有任务 %s",
			HintEn: "List the tasks with: pawl task list", HintZh: "用 pawl task list 列出任务",
		},
		"cli.task_unknown_near": {
			En: "there is no task %s", Zh: "没有任务 %s",
			HintEn: "The nearest is %[2]s; list all with: pawl task list", HintZh: "最接近的是 %[2]s；用 pawl task list 列出全部",
		},
		"cli.issue_unnamed": {
			En: "an issue has no name", Zh: "没有指明议题",
			HintEn: "Name it as ISS-12, as 12, or by its id elsewhere; pawl issue list shows them", HintZh: "可写作 ISS-12、12 或其他系统中的编号；见 pawl issue list",
		},
		"cli.issue_unknown": {
			En: "there is no issue %[1]s", Zh: "没有议题 %[1]s",
			HintEn: "List the issues with: pawl issue list", HintZh: "用 pawl issue list 列出议题",
		},
		"cli.issue_unknown_near": {
			En: "there is no issue %[1]s", Zh: "没有议题 %[1]s",
			HintEn: "The nearest is %[2]s; list all with: pawl issue list", HintZh: "最接近的是 %[2]s；用 pawl issue list 列出全部",
		},
		"cli.issue_untouched": {
			En: "nothing was done for %[1]s yet", Zh: "%[1]s 尚未开始处理",
			HintEn: "Make a plan with: pawl issue plan %[1]s", HintZh: "先制定计划：pawl issue plan %[1]s",
		},
		"cli.task_wrong_state": {
			En: "task %s is %s; this is for tasks that are %s", Zh: "任务 %s 处于 %s；此命令用于处于 %s 的任务",
			HintEn: "See what it can become with: pawl machine show task", HintZh: "用 pawl machine show task 查看可行的转换",
		},
		"cli.tool_unknown": {
			En: "there is no tool %s", Zh: "没有工具 %s",
			HintEn: "The tools are: %[2]s", HintZh: "工具有：%[2]s",
		},
		"cli.machine.unknown": {
			En: "there is no machine %s", Zh: "没有状态机 %s",
			HintEn: "The machines are: %[2]s", HintZh: "状态机有：%[2]s",
		},
		"cli.task.which": {
			En: "no run has a task yet, so a task must be named", Zh: "还没有运行中的任务，请指定任务",
			HintEn: "List the tasks with: pawl task list", HintZh: "用 pawl task list 列出任务",
		},

		"cli.config_at":         {En: "the configuration at %s (%s) cannot be used", Zh: "%s 处的配置（%s）不可用"},
		"cli.config_unreadable": {En: "the configuration %s cannot be read", Zh: "无法读取配置 %s", HintEn: "Check its permissions; where files are looked for: pawl config path", HintZh: "请检查权限；文件位置见 pawl config path"},
		"cli.config_syntax":     {En: "the configuration %s is not YAML", Zh: "配置 %s 不是有效的 YAML", HintEn: "Correct it and check it with: pawl config validate", HintZh: "修正后用 pawl config validate 检查"},
		"cli.config_mapping":    {En: "names with values are wanted here", Zh: "此处应为名称和值", HintEn: "See every name with: pawl config show", HintZh: "用 pawl config show 查看所有名称"},
		"cli.config_twice":      {En: "the name is given twice, or is no text", Zh: "名称重复，或不是文本", HintEn: "Keep one of the two", HintZh: "请只保留一个"},
		"cli.config_unknown":    {En: "there is no setting %s", Zh: "没有设置项 %s", HintEn: "See every setting with: pawl config show", HintZh: "用 pawl config show 查看所有设置"},
		"cli.config_unknown_near": {
			En: "there is no setting %s", Zh: "没有设置项 %s",
			HintEn: "Did you mean %[2]s?", HintZh: "是否应为 %[2]s？",
		},
		"cli.config_scalar": {En: "a single value is wanted here", Zh: "此处应为单个值", HintEn: "Put text in quotes", HintZh: "文本请加引号"},
		"cli.config_list":   {En: "a list is wanted here", Zh: "此处应为列表", HintEn: "Write [a, b] or one item per line with a dash", HintZh: "写作 [a, b]，或每行一项并以短横线开头"},
		"cli.config_value":  {En: "%q is not a value that it takes", Zh: "不接受值 %q", HintEn: "It takes: %[2]s", HintZh: "可用的值：%[2]s"},
		"cli.config_user_only": {
			En: "a project may not set this, because it would loosen what its user chose", Zh: "项目不能设置此项，因为这会放宽用户的选择",
			HintEn: "Set it in your own file, %s, or take it out", HintZh: "请在自己的文件 %s 中设置，或将其删除",
		},
		"cli.config_no_home": {
			En: "the environment names no home, so there is no place for your configuration", Zh: "环境中没有主目录，无法确定配置位置",
			HintEn: "Set HOME or XDG_CONFIG_HOME", HintZh: "请设置 HOME 或 XDG_CONFIG_HOME",
		},
		"cli.doctor.bad": {
			En: "what keeps pawl from working here: %d found", Zh: "有 %d 项问题使 pawl 无法在此工作",
			HintEn: "Mend what is marked above and run pawl doctor again", HintZh: "请解决上面标出的问题，再运行 pawl doctor",
		},
		"cli.doctor.failed": {En: "%s", Zh: "%s"},
		"cli.demo_not_empty": {
			En: "%s is not empty", Zh: "%s 不是空目录",
			HintEn: "Name a folder that does not exist yet: pawl demo --keep DIR", HintZh: "请指定尚不存在的目录：pawl demo --keep 目录",
		},
		"cli.demo_unpack": {
			En: "the sample repository cannot be unpacked into %s", Zh: "无法将示例仓库解压到 %s",
			HintEn: "Check the permissions and the space on the disk", HintZh: "请检查权限和磁盘空间",
		},
		"cli.demo_git": {
			En: "git failed while the sample repository was made: %s", Zh: "创建示例仓库时 git 失败：%s",
			HintEn: "See whether git works here with: pawl doctor", HintZh: "用 pawl doctor 检查 git 是否可用",
		},
		"cli.projection_edited": {
			En: "active_context.md was changed by hand; it is never read as truth and is written anew", Zh: "active_context.md 被手工修改过；它不作为依据，将被重新生成",
			HintEn: "Change the session with commands instead", HintZh: "请用命令修改会话",
		},
	}
}}
