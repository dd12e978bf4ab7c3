package message

// seeText is the part of the catalogue for keys that begin with "see.": what is looked at by pawl show, log and diff.
var seeText = part{load: func() Table {
	return Table{
		"see.show.short": {En: "Show a run: who approved it, what was done and proven, what it cost, how to undo it", Zh: "显示一次运行：谁批准、做了什么、证明了什么、花费多少、如何撤销"},
		"see.show.long": {
			En: "Shows one run in full: what was asked for, on whose word it was done and how that was given, its steps, what each check proved, what changed, what it cost, what is at risk and how to undo it. A run is named by its label or number, by its task, by an issue of the board, or by the beginning of a commit that it made. Without a name it is the run at work, or else the last one.",
			Zh: "完整显示一次运行：需求是什么、由谁以何种方式批准、有哪些步骤、每项检查证明了什么、更改了什么、花费多少、有何风险以及如何撤销。可以用运行的标签或编号、它的任务、看板上的议题，或它所做提交的开头来指定运行。不指定时，为正在进行的运行，否则为最近一次。",
		},
		"see.log.short": {En: "List the runs, the newest first", Zh: "列出所有运行，最新的在前"},
		"see.log.long": {
			En: "Lists runs on one line each: how they ended, when, the commit that they made, and what was asked for. All of one is shown by pawl show.",
			Zh: "每行列出一次运行：如何结束、何时结束、所做的提交以及需求。用 pawl show 查看某次运行的全部内容。",
		},
		"see.diff.short": {En: "Show what a run changed", Zh: "显示一次运行所做的更改"},
		"see.diff.long": {
			En: "Prints what a run changed as a unified diff: of a result what was verified, of work that is under way what it has changed so far. A run is named as for pawl show. In a pipe it is a patch that git apply takes.",
			Zh: "以统一 diff 格式输出一次运行所做的更改：已有结果时为经过验证的内容，仍在进行时为目前已更改的内容。指定运行的方式与 pawl show 相同。用于管道时，输出是 git apply 可以应用的补丁。",
		},
		"see.flag.limit": {En: "how many runs to list", Zh: "列出的运行数量"},
		"see.flag.all":   {En: "list every run", Zh: "列出所有运行"},
		"see.flag.step":  {En: "only what one step of the plan changed, such as s2", Zh: "仅显示计划中某一步骤的更改，例如 s2"},
		"see.flag.stat":  {En: "only the files, with the lines that were added and removed", Zh: "仅显示文件及其增删行数"},
		"see.no_run": {
			En: "there was no run in this workspace yet", Zh: "此工作区尚无任何运行",
			HintEn: "Begin one with: pawl run REQUIREMENT", HintZh: "用 pawl run 需求 开始一次运行",
		},
		"see.no_runs": {En: "There was no run yet.", Zh: "尚无任何运行。"},
		"see.run_unknown": {
			En: "there is no run %s", Zh: "没有运行 %s",
			HintEn: "See which there are with: pawl log", HintZh: "用 pawl log 查看有哪些运行",
		},
		"see.run_unknown_near": {
			En: "there is no run %[1]s", Zh: "没有运行 %[1]s",
			HintEn: "Did you mean %[2]s? See which there are with: pawl log", HintZh: "是否指 %[2]s？用 pawl log 查看有哪些运行",
		},
		"see.commit_unknown": {
			En: "no run made the commit %s", Zh: "没有运行产生过提交 %s",
			HintEn: "See which commits runs made with: pawl log", HintZh: "用 pawl log 查看各次运行产生的提交",
		},
		"see.task_alone": {
			En: "task %s belongs to no run", Zh: "任务 %s 不属于任何运行",
			HintEn: "Show the task itself with: pawl task show TASK", HintZh: "用 pawl task show 任务 查看该任务",
		},
		"see.step_unknown": {
			En: "%[1]s has no step %[2]s; its steps are: %[3]s", Zh: "%[1]s 没有步骤 %[2]s；其步骤有：%[3]s",
			HintEn: "See all of it with: pawl diff", HintZh: "用 pawl diff 查看全部",
		},
		"see.planned":         {En: "This is what the plan would change; nothing of it has been done.", Zh: "这是计划将要做的更改；尚未执行任何一步。"},
		"see.planned_open":    {En: "%[1]s: what %[2]s changes is known only once it ran", Zh: "%[1]s：%[2]s 会更改什么，运行之后才能知道"},
		"see.planned_fails":   {En: "%[1]s: as the files are now, %[2]s would fail: %[3]s", Zh: "%[1]s：以当前文件的状态，%[2]s 会失败：%[3]s"},
		"see.planned_agent":   {En: "%[1]s: the agent decides what it changes while it works", Zh: "%[1]s：更改什么由智能体在执行时决定"},
		"see.no_changes":      {En: "%s has changed nothing.", Zh: "%s 没有更改任何内容。"},
		"see.fact.run":        {En: "run", Zh: "运行"},
		"see.fact.granted":    {En: "approved", Zh: "已批准"},
		"see.fact.pending":    {En: "waits for", Zh: "等待批准"},
		"see.fact.refused":    {En: "refused", Zh: "已拒绝"},
		"see.fact.stale":      {En: "replaced", Zh: "已被取代"},
		"see.fact.agent":      {En: "agent", Zh: "智能体"},
		"see.fact.begun":      {En: "begun", Zh: "开始"},
		"see.fact.repairs":    {En: "repairs", Zh: "修复次数"},
		"see.fact.cost":       {En: "cost", Zh: "花费"},
		"see.nobody":          {En: "nothing was asked of anybody", Zh: "未向任何人请求批准"},
		"see.by_policy":       {En: "without being asked, by %s", Zh: "未经询问，依据 %s"},
		"see.by_person":       {En: "by %s", Zh: "由 %s"},
		"see.by_way.terminal": {En: "by %s, at the terminal", Zh: "由 %s 在终端批准"},
		"see.by_way.command":  {En: "by %s, with pawl approve HASH", Zh: "由 %s 用 pawl approve 哈希 批准"},
		"see.by_way.flag":     {En: "by %s, with pawl approve --yes", Zh: "由 %s 用 pawl approve --yes 批准"},
	}
}}
