package message

// cliAgents is the part of the command line's catalogue about agents, their questions and what they cost.
var cliAgents = part{load: func() Table {
	return Table{
		"cli.agent.short":       {En: "agents: which there are, and whether they work here", Zh: "智能体：有哪些、在本机能否工作"},
		"cli.agent.long":        {En: "Agents plan and carry out work. The embedded one needs no model; the others are a model of your choice, or coding agents that are installed.", Zh: "智能体负责规划与执行。内置智能体不需要模型；其余为你选择的模型，或本机已安装的编码智能体。"},
		"cli.agent.list.short":  {En: "list the agents and what was found of them", Zh: "列出智能体及其检测结果"},
		"cli.agent.list.long":   {En: "Lists every agent that a run may name with --agent, its version where it is installed, and what is missing where it is not.", Zh: "列出可用 --agent 指定的所有智能体：已安装的显示版本，未安装的说明缺少什么。"},
		"cli.agent.check.short": {En: "try out an agent with a scripted model", Zh: "用脚本化模型试用一个智能体"},
		"cli.agent.check.long": {
			En: "Shows in at most two minutes whether an agent works here. In a temporary folder, a scripted model has it mend a small fault: the first edit is wrong, pawl's own check fails, the repair follows, and the proven result lands; then a model that lies must come to nothing. Your own model is not called, and nothing of yours is read or changed. Ends with 0 only where every stage passed.",
			Zh: "在两分钟内显示智能体在本机能否工作。在临时目录中，由脚本化模型让它修复一个小缺陷：第一次修改有误，pawl 自己的检查失败，随后修复，经证明的结果落地；然后模型说谎，必须一无所成。不会调用你自己的模型，也不读取或更改你的任何内容。仅当每个阶段都通过时以 0 结束。",
		},
		"cli.flag.check_limit": {En: "`TIME` that the whole check may take", Zh: "整个检查最多使用的时长 `TIME`"},
		"cli.flag.check_keep":  {En: "leave the temporary folder where it is", Zh: "保留临时目录"},
		"cli.check_kept":       {En: "The folder of the check is kept: %[1]s", Zh: "检查的目录已保留：%[1]s"},
		"cli.check_works":      {En: "%[1]s works here (%[2]s)", Zh: "%[1]s 在本机可以工作（%[2]s）"},
		"cli.check_failed": {
			En: "%[1]s does not work here; the check did not get past: %[2]s", Zh: "%[1]s 在本机无法工作；未通过的阶段：%[2]s",
			HintEn: "Look at what it left with: pawl agent check %[1]s --keep; others are listed by: pawl agent list",
			HintZh: "用 pawl agent check %[1]s --keep 查看留下的内容；其他智能体见 pawl agent list",
		},
		"cli.answer.short": {En: "answer questions of agents", Zh: "回答智能体的问题"},
		"cli.answer.long":  {En: "Answers the open questions in their order and goes on: those that work waits for, about a requirement or from an agent at work, or else those of agents beside it. Without answers it asks at the terminal; --question answers one by its id (see pawl status), and with --go-on the work goes on with what there is.", Zh: "按顺序回答待答问题并继续：优先回答工作正在等待的问题（关于需求的澄清，或执行中的智能体所提），否则回答其他智能体的问题。不带参数时在终端逐个提问；--question 按编号回答其中一个（见 pawl status）；--go-on 表示按现有信息继续。"},
		"cli.budget.short": {En: "show what work cost and what it may", Zh: "查看工作的花费与上限"},
		"cli.budget.long":  {En: "Shows what each run, issue and day (UTC) spent on agents, their models and their calls, what is set aside for what is at work, and the limits. What does not fit is refused before it is begun. Time is that of agents and calls: checks and waiting for you do not count.", Zh: "显示每次运行、每个议题、每天（UTC）在智能体、模型与工具调用上的花费，为进行中的工作预留的部分，以及上限。放不下的工作在开始前即被拒绝。时间只计智能体与工具调用：检查和等待用户不计。"},
		"cli.flag.agent":   {En: "`NAME` of the agent that plans and works", Zh: "负责规划与执行的智能体 `NAME`"},
		"cli.replay.short": {En: "make a recorded run's decisions again and compare", Zh: "重新做出已记录运行的决策并比较"},
		"cli.replay.long": {
			En: "Makes every decision of a run that was recorded (pawl run --record, or the setting record) again, with the settings and the program of today, and shows where the outcome would be another: the moves with the ids of their rules, the effects, the records and what was written. Nothing is changed and no model is asked. Ends with 0 when nothing would be different, with 6 when something would, and with 13 when the recording cannot be read.",
			Zh: "用当前的设置与程序重新做出已记录运行（pawl run --record 或设置 record）的每个决策，并指出结果不同之处：状态转换及其规则编号、操作、记录与写入内容。不做任何更改，也不询问模型。全部相同时以 0 结束，有不同时以 6 结束，记录无法读取时以 13 结束。",
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
		"cli.replay_setting": {En: "the setting %[1]s: %[2]s, now %[3]s", Zh: "设置 %[1]s：%[2]s，现在 %[3]s"},
		"cli.flag.question":  {En: "answer the question with this `ID` alone", Zh: "只回答编号为 `ID` 的问题"},
		"cli.flag.go_on":     {En: "go on with what there is, without an answer", Zh: "不回答，按现有信息继续"},
		"cli.question":       {En: "Question %[1]d of %[2]d: %[3]s", Zh: "问题 %[1]d/%[2]d：%[3]s"},
		"cli.answer_how":     {En: `pawl answer "…" (one for each question), or pawl answer --go-on`, Zh: `pawl answer "…"（每个问题一个回答），或 pawl answer --go-on`},
		"cli.answers_needed": {
			En: "%[1]d questions wait for an answer", Zh: "有 %[1]d 个问题等待回答",
			HintEn: `Answer them with: pawl answer "…", or go on without: pawl answer --go-on`, HintZh: `用 pawl answer "…" 回答，或用 pawl answer --go-on 直接继续`,
		},
		"cli.agent_not_ready": {
			En: "the agent %s cannot work here", Zh: "智能体 %s 在本机无法工作",
		},
		"cli.config.set.short":   {En: "change a setting in your own file", Zh: "修改用户配置中的设置"},
		"cli.config.set.long":    {En: "Changes one setting in your own configuration file and keeps everything else in it, comments included. A value that makes no sense changes nothing. The names are those of pawl config show.", Zh: "修改用户配置文件中的一项设置，其余内容（包括注释）保持不变；无效的值不会造成任何改动。名称见 pawl config show。"},
		"cli.config.unset.short": {En: "take a setting out of your own file", Zh: "从用户配置中移除设置"},
		"cli.config.unset.long":  {En: "Takes one setting out of your own configuration file, so that its default counts again.", Zh: "从用户配置文件中移除一项设置，恢复默认值。"},
		"cli.isolation_question": {En: "With isolation: outer, commands are held by the container or VM around pawl, and by pawl only as far as it can without namespaces. Whoever can change this machine's files through a command can change all of them. Is this machine there for that? [y/N]", Zh: "设为 isolation: outer 后，命令由 pawl 所在的容器或虚拟机隔离，pawl 只在没有命名空间的情况下尽力隔离。能通过命令更改本机文件者，即可更改全部文件。本机是否专用于此？[y/N]"},
		"cli.isolation_kept": {
			En: "isolation was left as it is", Zh: "isolation 保持不变",
			HintEn: "See what this machine can do with: pawl doctor", HintZh: "运行 pawl doctor 查看本机能力",
		},
		"cli.config_changed": {En: "%[1]s is changed in %[2]s", Zh: "已在 %[2]s 中修改 %[1]s"},
		"cli.file_unwritten": {
			En: "%s cannot be written", Zh: "无法写入 %s",
			HintEn: "Check the folder's permissions and the space on the disk", HintZh: "请检查目录权限和磁盘空间",
		},
		"cli.agent_kind.script":     {En: "embedded", Zh: "内置"},
		"cli.agent_kind.llm":        {En: "model", Zh: "模型"},
		"cli.agent_kind.acp":        {En: "ACP", Zh: "ACP"},
		"cli.agent_kind.headless":   {En: "headless", Zh: "无界面"},
		"cli.agent_state.ready":     {En: "ready", Zh: "可用"},
		"cli.agent_state.missing":   {En: "missing", Zh: "未安装"},
		"cli.agent_state.unset":     {En: "not set up", Zh: "未设置"},
		"cli.agent_state.untested":  {En: "untested", Zh: "未测试"},
		"cli.replay_what.moves":     {En: "moves", Zh: "状态转换"},
		"cli.replay_what.effects":   {En: "effects", Zh: "操作"},
		"cli.replay_what.records":   {En: "audit records", Zh: "审计记录"},
		"cli.replay_what.rows":      {En: "what is stored", Zh: "写入的内容"},
		"cli.replay_what.result":    {En: "answer", Zh: "答复"},
		"cli.replay_what.refused":   {En: "refusal", Zh: "拒绝"},
		"cli.price_unknown":         {En: "price unknown", Zh: "价格未知"},
		"cli.price_at_least":        {En: "at least %s", Zh: "至少 %s"},
		"cli.budget_none":           {En: "nothing was spent yet", Zh: "尚无花费"},
		"cli.col.agent":             {En: "AGENT", Zh: "智能体"},
		"cli.col.kind":              {En: "KIND", Zh: "类型"},
		"cli.col.state":             {En: "STATE", Zh: "状态"},
		"cli.col.version":           {En: "VERSION", Zh: "版本"},
		"cli.col.scope":             {En: "SCOPE", Zh: "范围"},
		"cli.col.of":                {En: "OF", Zh: "上限"},
		"cli.col.what":              {En: "WHAT", Zh: "项目"},
		"cli.col.spent":             {En: "SPENT", Zh: "已用"},
		"cli.budget_what.usd":       {En: "USD", Zh: "美元"},
		"cli.budget_what.tokens":    {En: "tokens", Zh: "token"},
		"cli.budget_what.requests":  {En: "requests to models", Zh: "模型请求"},
		"cli.budget_what.turns":     {En: "turns of agents", Zh: "智能体轮次"},
		"cli.budget_what.calls":     {En: "tool calls", Zh: "工具调用"},
		"cli.budget_what.processes": {En: "processes", Zh: "进程"},
		"cli.budget_what.minutes":   {En: "minutes", Zh: "分钟"},
		"cli.col.held":              {En: "SET ASIDE", Zh: "已预留"},
	}
}}

// replayText is about recordings of what runs decided.
var replayText = part{load: func() Table {
	return Table{
		"replay.none": {
			En: "there is no recording of %[1]s", Zh: "没有 %[1]s 的记录",
			HintEn: "Recorded are: %[2]s. Record a run with: pawl run --record, or all with the setting record: true", HintZh: "已记录：%[2]s。用 pawl run --record 记录一次运行，或用设置 record: true 记录所有运行",
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

// checkText is what `pawl agent check` says of its stages.
var checkText = part{load: func() Table {
	return Table{
		"check.found":   {En: "installed", Zh: "已安装"},
		"check.planned": {En: "plan made, approved", Zh: "计划已制定并批准"},
		"check.edited":  {En: "edited in its worktree", Zh: "在其工作树中修改"},
		"check.refused": {En: "fault found by pawl", Zh: "pawl 发现缺陷"},
		"check.mended":  {En: "repaired", Zh: "已修复"},
		"check.proven":  {En: "proven", Zh: "已证明"},
		"check.landed":  {En: "landed", Zh: "已落地"},
		"check.undone":  {En: "undone", Zh: "已撤销"},
		"check.liar":    {En: "a lie is not believed", Zh: "谎言不被采信"},
		"check.quiet":   {En: "no process is left", Zh: "没有残留进程"},

		"check.saw_embedded":   {En: "embedded; it needs no model and none is called", Zh: "内置；不需要模型，也不调用模型"},
		"check.saw_wire":       {En: "your own model is not called; the wire form %[1]s is checked with a scripted one", Zh: "不调用你自己的模型；用脚本化模型检查通信格式 %[1]s"},
		"check.saw_version":    {En: "%[1]s %[2]s, tested from %[3]s to %[4]s", Zh: "%[1]s %[2]s，测试范围 %[3]s 至 %[4]s"},
		"check.saw_tested":     {En: "tested from %[1]s to %[2]s", Zh: "测试范围 %[1]s 至 %[2]s"},
		"check.saw_plan_given": {En: "from a file of the check", Zh: "来自检查的计划文件"},
		"check.saw_plan_model": {En: "by the model, checked against the schema", Zh: "由模型制定，并按 schema 校验"},
		"check.saw_plan_step":  {En: "one step, which the agent works out itself", Zh: "一个步骤，由智能体自行完成"},
		"check.saw_requests":   {En: "model requests through pawl: %[1]d", Zh: "经由 pawl 的模型请求：%[1]d"},
		"check.saw_each":       {En: "every call made by pawl", Zh: "每个调用都由 pawl 执行"},
		"check.saw_asked":      {En: "permissions asked of pawl: %[1]d", Zh: "向 pawl 请求许可：%[1]d"},
		"check.saw_walls":      {En: "asks for no permission: held by the walls alone", Zh: "不请求许可：仅由隔离墙约束"},
		"check.saw_failure":    {En: "%[1]s failed", Zh: "%[1]s 失败"},
		"check.saw_resumed":    {En: "in the same session, which it remembers", Zh: "在同一会话中，且保有记忆"},
		"check.saw_anew":       {En: "in a new session", Zh: "在新会话中"},
		"check.saw_proof":      {En: "%[1]s on tree %[2]s", Zh: "%[1]s，树 %[2]s"},
		"check.saw_commit":     {En: "commit %[1]s on %[2]s", Zh: "提交 %[1]s，分支 %[2]s"},
		"check.saw_blocked":    {En: "BLOCKED, nothing landed", Zh: "BLOCKED，未落地任何内容"},

		"check.told":         {En: "%[1]s", Zh: "%[1]s"},
		"check.status":       {En: "%[1]s ended with status %[2]d instead of %[3]d: %[4]s", Zh: "%[1]s 以状态 %[2]d 而非 %[3]d 结束：%[4]s"},
		"check.not_edited":   {En: "%[1]s does not hold what the model wrote", Zh: "%[1]s 的内容与模型所写不符"},
		"check.outside":      {En: "%[1]s was changed outside of the task's worktree", Zh: "%[1]s 在任务的工作树之外被更改"},
		"check.foreign_key":  {En: "the model was called with another key than pawl's", Zh: "模型被以 pawl 之外的密钥调用"},
		"check.believed":     {En: "the wrong edit passed the checks", Zh: "错误的修改通过了检查"},
		"check.other_tree":   {En: "tree %[2]s landed, but %[1]s was proven", Zh: "落地的是树 %[2]s，而被证明的是 %[1]s"},
		"check.not_landed":   {En: "%[1]s is not as it was mended", Zh: "%[1]s 与修复结果不符"},
		"check.not_undone":   {En: "%[1]s is not as it was before", Zh: "%[1]s 未恢复原状"},
		"check.lie_believed": {En: "the run ended as %[1]s, or changed something", Zh: "运行以 %[1]s 结束，或更改了内容"},
		"check.not_seen":     {En: "the run ended without it", Zh: "运行结束而未到达此阶段"},
		"check.not_quiet":    {En: "processes are left: %[1]s", Zh: "残留进程：%[1]s"},
		"check.out_of_time": {
			En: "the check took too long", Zh: "检查超时",
			HintEn: "On a slow or busy machine give it more time: pawl agent check NAME --limit 5m", HintZh: "机器较慢或繁忙时可延长时间：pawl agent check 名称 --limit 5m",
		},
		"check.no_model": {
			En: "the scripted model cannot listen on loopback", Zh: "脚本化模型无法在回环地址监听",
			HintEn: "Allow programs to listen on 127.0.0.1", HintZh: "请允许程序在 127.0.0.1 上监听",
		},
		"check.no_folder": {
			En: "no temporary folder can be made in %[1]s", Zh: "无法在 %[1]s 中创建临时目录",
			HintEn: "Set TMPDIR to a folder that you may write in", HintZh: "将 TMPDIR 设置为可写的目录",
		},
		"check.no_git": {
			En: "git cannot make a repository: %[1]s", Zh: "git 无法创建仓库：%[1]s",
			HintEn: "See what is missing with: pawl doctor", HintZh: "用 pawl doctor 查看缺少什么",
		},
	}
}}
