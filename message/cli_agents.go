package message

// cliAgents is the part of the command line's catalogue about agents, their questions and what they cost.
var cliAgents = part{load: func() Table {
	return Table{
		"cli.agent.short":      {En: "agents: which there are, and whether they work here", Zh: "智能体：有哪些、在本机能否工作"},
		"cli.agent.long":       {En: "Agents plan and carry out work. The embedded one needs no model; the others are a model of your choice, or coding agents that are installed.", Zh: "智能体负责规划与执行。内置智能体不需要模型；其余为你选择的模型，或本机已安装的编码智能体。"},
		"cli.agent.list.short": {En: "list the agents and what was found of them", Zh: "列出智能体及其检测结果"},
		"cli.agent.list.long":  {En: "Lists every agent that a run may name with --agent, its version where it is installed, and what is missing where it is not.", Zh: "列出可用 --agent 指定的所有智能体：已安装的显示版本，未安装的说明缺少什么。"},
		"cli.answer.short":     {En: "answer the questions about an unclear requirement", Zh: "回答关于需求的澄清问题"},
		"cli.answer.long":      {En: "Answers the open questions in their order and goes on. Without answers it asks at the terminal; with --go-on the run goes on with what there is.", Zh: "按顺序回答待答问题并继续。不带参数时在终端逐个提问；--go-on 表示按现有信息继续。"},
		"cli.budget.short":     {En: "show what models cost and what they may", Zh: "查看模型花费与上限"},
		"cli.budget.long":      {En: "Shows what each run, issue and day (UTC) spent on model calls, what is set aside for calls in flight, and the limits. A call that does not fit is refused before it is made.", Zh: "显示每次运行、每个议题、每天（UTC）的模型花费，为进行中的调用预留的金额，以及上限。放不下的调用在发出前即被拒绝。"},
		"cli.flag.agent":       {En: "`NAME` of the agent that plans and works", Zh: "负责规划与执行的智能体 `NAME`"},
		"cli.replay.short":     {En: "make a recorded run's decisions again and compare", Zh: "重新做出已记录运行的决策并比较"},
		"cli.replay.long": {
			En: "Makes every decision of a run that was recorded (pawl run --record, or the setting record) again, with the settings and the program of today, and shows where the outcome would be another: the moves with the ids of their rules, the effects, the records and what was written. Nothing is changed and no model is asked. Ends with 0 when nothing would be different, with 6 when something would, and with 13 when the recording cannot be read.",
			Zh: "用当前的设置与程序重新做出已记录运行（pawl run --record 或设置 record）的每个决策，并指出结果不同之处：状态迁移及其规则编号、效果、记录与写入内容。不做任何更改，也不询问模型。全部相同时以 0 结束，有不同时以 6 结束，记录无法读取时以 13 结束。",
		},
		"cli.flag.record":    {En: "keep what is decided and what models say, for pawl replay", Zh: "保留决策与模型的往来，供 pawl replay 使用"},
		"cli.replay_same":    {En: "%[1]s: %[2]d decisions, all would be the same", Zh: "%[1]s：共 %[2]d 个决策，全部相同"},
		"cli.replay_differs": {En: "%[1]s: %[2]d decisions, %[3]d would be different", Zh: "%[1]s：共 %[2]d 个决策，其中 %[3]d 个会不同"},
		"cli.replay_lost":    {En: "%[1]d decisions were not compared: they depend on secrets, which a recording leaves out", Zh: "有 %[1]d 个决策未比较：它们取决于记录中略去的机密"},
		"cli.replay_bad":     {En: "%[1]d lines of the recording cannot be read; the first is shown", Zh: "记录中有 %[1]d 行无法读取；以下为第一处"},
		"cli.replay_line":    {En: "line %[1]d: %[2]s by %[3]s, %[4]s", Zh: "第 %[1]d 行：%[3]s 的 %[2]s，%[4]s"},
		"cli.replay_decided": {En: "decided  %[1]s", Zh: "当时  %[1]s"},
		"cli.replay_now":     {En: "now      %[1]s", Zh: "现在  %[1]s"},
		"cli.replay_refused": {En: "now      refused: %[1]s", Zh: "现在  被拒绝：%[1]s"},
		"cli.replay_setting": {En: "setting  %[1]s: %[2]s, now %[3]s", Zh: "设置  %[1]s：%[2]s，现在 %[3]s"},
		"cli.flag.go_on":     {En: "go on with what there is, without an answer", Zh: "不回答，按现有信息继续"},
		"cli.question":       {En: "Question %[1]d of %[2]d: %[3]s", Zh: "问题 %[1]d/%[2]d：%[3]s"},
		"cli.answer_how":     {En: `pawl answer "…" (one for each question), or pawl answer --go-on`, Zh: `pawl answer "…"（每个问题一个回答），或 pawl answer --go-on`},
		"cli.answers_needed": {
			En: "%[1]d questions wait for an answer", Zh: "有 %[1]d 个问题等待回答",
			HintEn: `Answer them with: pawl answer "…", or go on without: pawl answer --go-on`, HintZh: `用 pawl answer "…" 回答，或用 pawl answer --go-on 直接继续`,
		},
		"cli.agent_not_ready": {
			En: "the agent %s cannot work here", Zh: "智能体 %s 在本机无法工作",
			HintEn: "See what is missing with: pawl agent list. A plan file needs no agent: pawl run --plan FILE", HintZh: "用 pawl agent list 查看缺少什么。计划文件不需要智能体：pawl run --plan FILE",
		},
		"cli.budget_none":  {En: "nothing was spent yet", Zh: "尚无花费"},
		"cli.col.agent":    {En: "AGENT", Zh: "智能体"},
		"cli.col.kind":     {En: "KIND", Zh: "类型"},
		"cli.col.state":    {En: "STATE", Zh: "状态"},
		"cli.col.version":  {En: "VERSION", Zh: "版本"},
		"cli.col.scope":    {En: "SCOPE", Zh: "范围"},
		"cli.col.of":       {En: "OF", Zh: "上限"},
		"cli.col.tokens":   {En: "TOKENS", Zh: "令牌"},
		"cli.col.requests": {En: "REQUESTS", Zh: "请求"},
		"cli.col.held":     {En: "SET ASIDE", Zh: "已预留"},
	}
}}

// replayText is about recordings of what runs decided.
var replayText = part{load: func() Table {
	return Table{
		"replay.none": {
			En: "there is no recording of %[1]s", Zh: "没有 %[1]s 的记录",
			HintEn: "Recorded are: %[2]s. Record a run with: pawl run --record, or all with: pawl config set record true", HintZh: "已记录：%[2]s。用 pawl run --record 记录一次运行，或用 pawl config set record true 记录所有运行",
		},
		"replay.line": {
			En: "line %[1]d of the recording cannot be used", Zh: "记录的第 %[1]d 行无法使用",
			HintEn: "The other lines were replayed; remove this one to leave it out", HintZh: "其余各行已重放；删除此行即可略过",
		},
		"replay.cut": {
			En: "the line is cut off", Zh: "该行不完整",
			HintEn: "The program ended while it was written. The other lines were replayed; remove this one to leave it out", HintZh: "写入时程序已结束。其余各行已重放；删除此行即可略过",
		},
		"replay.damaged": {
			En: "the line is damaged", Zh: "该行已损坏",
			HintEn: "Take the recording from where it was made; the other lines were replayed", HintZh: "请从原处重新取得记录；其余各行已重放",
		},
		"replay.foreign": {
			En: "the line is no decision of pawl's", Zh: "该行不是 pawl 的决策",
			HintEn: "A recording of decisions is called decisions.jsonl", HintZh: "决策记录的文件名为 decisions.jsonl",
		},
		"replay.newer": {
			En: "the line is of a newer form (%[1]s)", Zh: "该行的格式较新（%[1]s）",
			HintEn: "Replay it with the pawl that recorded it, or a newer one", HintZh: "请使用记录它的 pawl 或更新版本重放",
		},
		"replay.empty": {
			En: "the recording is empty", Zh: "记录为空",
			HintEn: "Record a run with: pawl run --record", HintZh: "用 pawl run --record 记录一次运行",
		},
		"replay.crashed": {
			En: "nothing can be decided on what the recording holds: %[1]s", Zh: "无法根据记录内容做出决策：%[1]s",
			HintEn: "The recording was changed, or this is a fault of pawl's", HintZh: "记录被改动过，或这是 pawl 的缺陷",
		},
		"replay.unread": {
			En: "line %[1]d of the recording cannot be read", Zh: "无法读取记录的第 %[1]d 行",
			HintEn: "Look at the file's permissions and the disk", HintZh: "检查文件权限与磁盘",
		},
		"replay.unwritten": {
			En: "the recording is not complete: it could not be written", Zh: "记录不完整：无法写入",
			HintEn: "The work itself is not affected. Look at free space and permissions of .pawl/recordings", HintZh: "运行本身不受影响。检查 .pawl/recordings 的剩余空间与权限",
		},
	}
}}
