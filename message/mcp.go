package message

// mcpText is the part of the catalogue for keys that begin with "mcp.": errors of the server for agents.
var mcpText = part{load: func() Table {
	return Table{
		"mcp.next": {En: "Next step: %s", Zh: "下一步：%s"},
		"mcp.crash": {
			En: "the tool %[1]s crashed: %[2]s", Zh: "工具 %[1]s 崩溃：%[2]s",
			HintEn: "Go on without it, and tell the person what was called", HintZh: "请绕过它继续，并告诉用户调用了什么",
		},
		"mcp.answer": {
			En: "the answer cannot be written as JSON", Zh: "无法将结果写成 JSON",
			HintEn: "Tell the person what was called", HintZh: "请告诉用户调用了什么",
		},
		"mcp.answer_size": {
			En: "the answer is larger than %d KiB even with its texts cut", Zh: "即使截短文本，结果仍超过 %d KiB",
			HintEn: "Ask for less: a smaller limit, or one task or issue", HintZh: "请缩小范围：减小 limit，或只查询一个任务或议题",
		},
		"mcp.page": {
			En: "newest and after exclude each other", Zh: "newest 与 after 不能同时使用",
			HintEn: "Leave one of them out", HintZh: "去掉其中一个",
		},
		"mcp.no_plan": {
			En: "there is no plan yet", Zh: "还没有计划",
			HintEn: "Propose one with propose_plan, or read get_status", HintZh: "用 propose_plan 提出计划，或查看 get_status",
		},
		"mcp.no_run": {
			En: "nothing was run yet", Zh: "还没有运行过",
			HintEn: "Read get_status for what can be done", HintZh: "查看 get_status 了解可执行的操作",
		},
		"mcp.no_task": {
			En: "no task is at work", Zh: "没有进行中的任务",
			HintEn: "Name one: list_tasks shows which there are", HintZh: "请指定任务：list_tasks 列出所有任务",
		},
		"mcp.task_unknown": {
			En: "there is no task %s", Zh: "没有任务 %s",
			HintEn: "list_tasks shows which there are", HintZh: "用 list_tasks 查看有哪些任务",
		},
		"mcp.issue_unknown": {
			En: "there is no issue %s", Zh: "没有议题 %s",
			HintEn: "list_issues shows which there are", HintZh: "用 list_issues 查看有哪些议题",
		},
		"mcp.not_for_agents": {
			En: "that is for a person to decide", Zh: "此操作只能由人决定",
			HintEn: "Ask with ask_human, or propose a plan with propose_plan", HintZh: "用 ask_human 提问，或用 propose_plan 提出计划",
		},
		"mcp.reported": {
			En: "Kept as your report. It changes no state: a task is done when the checks that pawl runs itself have passed.",
			Zh: "已作为你的汇报保存。它不改变任何状态：只有 pawl 自己运行的检查通过后，任务才算完成。",
		},
		"mcp.question_empty": {
			En: "the question is empty", Zh: "问题为空",
			HintEn: "Write what you need to know", HintZh: "请写明需要了解什么",
		},
		"mcp.no_question": {
			En: "%s is no question of an agent", Zh: "%s 不是智能体提出的问题",
			HintEn: "Use the id that ask_human returned", HintZh: "请使用 ask_human 返回的编号",
		},
		"mcp.question_parked": {
			En: "The question is kept until the person answers it (pawl answer --question %[1]s \"…\") or dismisses it (pawl answer --question %[1]s --go-on). Read the answer later with get_answer, and do not guess it.",
			Zh: "问题会保留到用户回答（pawl answer --question %[1]s \"…\"）或跳过（pawl answer --question %[1]s --go-on）为止。稍后用 get_answer 读取回答，不要猜测。",
		},
		"mcp.not_idle": {
			En: "a plan can be proposed only while nothing is under way; the session is %s", Zh: "只有没有进行中的工作时才能提出计划；当前会话为 %s",
			HintEn: "Wait until get_status shows IDLE, or ask the person with ask_human", HintZh: "等到 get_status 显示 IDLE，或用 ask_human 询问用户",
		},
		"mcp.proposal_waits": {
			En: "The plan is kept. A person sees it and decides with: pawl resume", Zh: "计划已保存。用户通过 pawl resume 查看并决定",
		},
		"mcp.proposal_shown": {
			En: "The plan waits for a person: pawl plan show, then pawl approve %[1]s or pawl deny. Only a person can approve it.",
			Zh: "计划等待用户决定：pawl plan show 查看，然后 pawl approve %[1]s 或 pawl deny。只有用户能批准。",
		},
		"mcp.proposal_gone": {
			En: "the proposal was ended by somebody else meanwhile", Zh: "该计划在此期间已被他人结束",
			HintEn: "Read get_status, and propose again if it is still wanted", HintZh: "查看 get_status，如仍需要请重新提出",
		},
		"mcp.stream_broken": {
			En: "the connection to the client broke", Zh: "与客户端的连接中断",
			HintEn: "Start pawl mcp again; nothing that was acknowledged is lost", HintZh: "重新启动 pawl mcp；已确认的内容不会丢失",
		},
		"mcp.not_loopback": {
			En: "%s is no loopback address with a port", Zh: "%s 不是带端口的回环地址",
			HintEn: "Use 127.0.0.1:PORT, [::1]:PORT or localhost:PORT; port 0 takes a free one", HintZh: "使用 127.0.0.1:端口、[::1]:端口 或 localhost:端口；端口 0 表示自动选择",
		},
		"mcp.no_listener": {
			En: "cannot listen at %s", Zh: "无法监听 %s",
			HintEn: "Choose another port, or 0 for a free one", HintZh: "请换一个端口，或用 0 自动选择",
		},
		"mcp.token_short": {
			En: "the token has fewer than %d characters", Zh: "令牌少于 %d 个字符",
			HintEn: "Remove the file, and pawl writes a good one", HintZh: "删除该文件，pawl 会生成合格的令牌",
		},
		"mcp.host": {
			En: "the request names the host %s, which is not this server", Zh: "请求的主机 %s 不是本服务器",
			HintEn: "Connect to the address that pawl mcp printed", HintZh: "请连接 pawl mcp 输出的地址",
		},
		"mcp.origin": {
			En: "pages of other sites may not use this server: %s", Zh: "其他网站的页面不能使用本服务器：%s",
			HintEn: "Connect from a program, not from a browser", HintZh: "请从程序连接，而不是浏览器",
		},
		"mcp.path": {
			En: "there is nothing here; the server is at %s", Zh: "此处没有内容；服务位于 %s",
			HintEn: "Connect to the address that pawl mcp printed", HintZh: "请连接 pawl mcp 输出的地址",
		},
		"mcp.token": {
			En: "the bearer token is missing or wrong", Zh: "缺少或错误的 bearer 令牌",
			HintEn: "Send the header Authorization: Bearer TOKEN with the token of this pawl mcp", HintZh: "请发送请求头 Authorization: Bearer 令牌，使用此 pawl mcp 的令牌",
		},
	}
}}

// mcpTools is what agents are told about the server, its tools and their arguments.
var mcpTools = part{load: func() Table {
	return Table{
		"mcp.instructions": {
			En: "pawl carries out approved plans, verifies the result itself and keeps the truth about the work. Read where it stands with get_status, report with update_progress, keep what you learnt with record_error and save_decision, ask the person with ask_human and come back for get_answer, and propose work with propose_plan. Nothing you say here approves or verifies anything: a person approves, and pawl's own checks verify.",
			Zh: "pawl 执行已批准的计划，自行验证结果，并保存工作的真实状态。用 get_status 查看状态，用 update_progress 汇报，用 record_error 和 save_decision 记录经验，用 ask_human 向用户提问并稍后用 get_answer 读取回答，用 propose_plan 提出工作。你在此所说的一切都不构成批准或验证：批准由人决定，验证由 pawl 自己的检查完成。",
		},
		"mcp.tool.get_status":      {En: "Where the session stands: state, goal, run, task, step, what waits for a person, the last result and what can be done next.", Zh: "会话的状态：状态、目标、运行、任务、步骤、等待用户决定的事项、上次结果以及下一步可做的事。"},
		"mcp.tool.get_plan":        {En: "The plan of the run in progress, or of the last one: steps with their calls and what the policy says of each, checks, risk and hash.", Zh: "当前（或上一次）运行的计划：步骤、每个调用及策略判定、检查、风险和哈希。"},
		"mcp.tool.get_summary":     {En: "What became of the run in progress, or of the last one: changed files, verification, failures, risks, landing.", Zh: "当前（或上一次）运行的结果：改动的文件、验证、失败、风险和落地情况。"},
		"mcp.tool.read_context":    {En: "The active context of the project as Markdown: goal, task queue, scratchpad, history, live workers.", Zh: "项目的活动上下文（Markdown）：目标、任务队列、草稿区、历史、活跃会话。"},
		"mcp.tool.list_tasks":      {En: "Tasks, the oldest first, one page at a time.", Zh: "按时间顺序分页列出任务。"},
		"mcp.tool.get_task":        {En: "One task with its steps, evidence, failures and newest progress report.", Zh: "一个任务的详情：步骤、证据、失败和最新进度汇报。"},
		"mcp.tool.list_issues":     {En: "Issues, the oldest first, one page at a time.", Zh: "按时间顺序分页列出议题。"},
		"mcp.tool.get_issue":       {En: "One issue with its state, feedback and error.", Zh: "一个议题的详情：状态、反馈和错误。"},
		"mcp.tool.read_audit":      {En: "The newest records of the audit log, of everything or of one task, as they were sealed.", Zh: "审计日志的最新记录（全部或某个任务），保持封存时的原样。"},
		"mcp.tool.get_answer":      {En: "What the person answered to a question of ask_human: open, answered or dismissed.", Zh: "用户对 ask_human 所提问题的回答：open、answered 或 dismissed。"},
		"mcp.tool.update_progress": {En: "Report progress on a task. It is kept with the task and shown in the active context, and moves no state.", Zh: "汇报任务进度。汇报随任务保存并显示在活动上下文中，不改变任何状态。"},
		"mcp.tool.record_error":    {En: "Keep what was learnt from an error, so that it is not made again: its type, root cause, fix and scope.", Zh: "记录一次错误的经验以免重犯：类型、根本原因、修复方法和影响范围。"},
		"mcp.tool.save_decision":   {En: "Keep a decision of the project: about architecture, a library or a rule.", Zh: "记录项目的一项决策：架构、库或规则。"},
		"mcp.tool.ask_human":       {En: "Ask the person a question. It waits durably, and so does work under way before its next call; the answer is read later with get_answer.", Zh: "向用户提一个问题。问题会持久保留，进行中的工作在下一次调用前也会等待；稍后用 get_answer 读取回答。"},
		"mcp.tool.propose_plan":    {En: "Propose a plan while nothing is under way. It is checked and shown to a person, who alone can approve it.", Zh: "在没有进行中的工作时提出计划。计划会被检查并展示给用户，只有用户能批准。"},
		"mcp.resource.decisions":   {En: "The decisions of the project and what was learnt from errors.", Zh: "项目决策以及从错误中得到的经验。"},
		"mcp.arg.task":             {En: "id or label of the task, such as T-001; left out: the task of the run in progress or of the last one", Zh: "任务的编号或标签，如 T-001；省略时为当前或上一次运行的任务"},
		"mcp.arg.issue":            {En: "id or label of the issue", Zh: "议题的编号或标签"},
		"mcp.arg.state":            {En: "only those in this state", Zh: "仅列出处于此状态的项"},
		"mcp.arg.limit":            {En: "how many at most; 20 unless given", Zh: "最多多少条；默认 20"},
		"mcp.arg.after":            {En: "go on behind this place: next of the page before", Zh: "从此位置之后继续：上一页的 next"},
		"mcp.arg.newest":           {En: "the newest first", Zh: "最新的在前"},
		"mcp.arg.status":           {En: "how you see the task", Zh: "你对任务状态的看法"},
		"mcp.arg.summary":          {En: "what was done and what is left", Zh: "已完成与剩余的内容"},
		"mcp.arg.error_type":       {En: "kind of error, such as E_BUILD_FAIL", Zh: "错误类型，如 E_BUILD_FAIL"},
		"mcp.arg.root_cause":       {En: "why it happened", Zh: "发生的原因"},
		"mcp.arg.fix_solution":     {En: "what fixed it", Zh: "修复方法"},
		"mcp.arg.scope":            {En: "what it affects", Zh: "影响范围"},
		"mcp.arg.decision_type":    {En: "what the decision is about", Zh: "决策的类别"},
		"mcp.arg.content":          {En: "the decision and its reason", Zh: "决策内容及理由"},
		"mcp.arg.replaces":         {En: "id of the decision that this one replaces", Zh: "被此决策取代的决策编号"},
		"mcp.arg.question":         {En: "the question, with what you know and the answers that you see", Zh: "问题，包括已知信息和可能的答案"},
		"mcp.arg.question_id":      {En: "what ask_human returned as question", Zh: "ask_human 返回的 question"},
		"mcp.arg.wait":             {En: "how many seconds to wait for the answer; 0 unless given", Zh: "等待回答的秒数；默认 0"},
		"mcp.arg.plan":             {En: "the plan as YAML or JSON, in the form of plan files (pawl plan validate --schema)", Zh: "YAML 或 JSON 格式的计划，与计划文件相同（pawl plan validate --schema）"},
		"mcp.arg.requirement":      {En: "what the plan is for; left out: its goal", Zh: "计划的目的；省略时为计划的 goal"},
	}
}}

// cliMCP is the part of the command line's catalogue about the server for agents.
var cliMCP = part{load: func() Table {
	return Table{
		"cli.mcp.short": {En: "serve this workspace to agents over MCP", Zh: "通过 MCP 向智能体提供此工作区"},
		"cli.mcp.long": {
			En: "Serves the workspace over the Model Context Protocol: agents read where the work stands, report progress, keep decisions and errors, ask you, and propose plans. They can approve and verify nothing. Without --http one client speaks over the standard streams and usually starts this command itself; with it, clients connect on this machine and need the token.",
			Zh: "通过模型上下文协议（MCP）提供此工作区：智能体可以查看工作状态、汇报进度、记录决策与错误、向你提问并提出计划，但不能批准或验证任何内容。不带 --http 时，由一个客户端通过标准输入输出通信（通常由它启动此命令）；带 --http 时，客户端从本机连接并需要令牌。",
		},
		"cli.flag.http":       {En: "serve HTTP at the loopback `ADDRESS` instead of the standard streams; port 0 takes a free one", Zh: "在回环地址 `ADDRESS` 上提供 HTTP，而不是使用标准输入输出；端口 0 表示自动选择"},
		"cli.flag.token_file": {En: "`FILE` with the token, written if it does not exist; without it the token is new each time", Zh: "保存令牌的文件 `FILE`，不存在时创建；不指定则每次生成新令牌"},
		"cli.mcp.ready":       {En: "Serving agents at %s", Zh: "正在为智能体提供服务：%s"},
		"cli.mcp.token":       {En: "Authorization: Bearer %s", Zh: "Authorization: Bearer %s"},
		"cli.mcp.token_kept":  {En: "The token is in %s", Zh: "令牌保存在 %s"},
		"cli.mcp.token_alone": {
			En: "--token-file is for --http", Zh: "--token-file 需与 --http 一起使用",
			HintEn: "Add --http 127.0.0.1:0, or leave it out: over the standard streams no token is needed", HintZh: "请加上 --http 127.0.0.1:0，或去掉该选项：标准输入输出不需要令牌",
		},
		"cli.mcp.token_open": {
			En: "others can read the token file %s", Zh: "其他用户可以读取令牌文件 %s",
			HintEn: "Close it: chmod 600 %[1]s; or remove it, and pawl writes a new one", HintZh: "收紧权限：chmod 600 %[1]s；或删除它，由 pawl 重新生成",
		},
		"cli.mcp.token_form": {
			En: "%s holds no token", Zh: "%s 中没有令牌",
			HintEn: "Name another file; one that does not exist is written with a good token", HintZh: "请指定其他文件；不存在的文件会写入合格的令牌",
		},
	}
}}

// mcptoolsText is the part of the catalogue for keys that begin with "mcptools.": MCP servers whose tools models are offered.
var mcptoolsText = part{load: func() Table {
	return Table{
		"mcptools.settings": {
			En: "the settings of the MCP server %[1]s do not fit together: %[2]s", Zh: "MCP 服务器 %[1]s 的设置相互矛盾：%[2]s",
			HintEn: "Give either command, with env and network, or url, with key_env or key_file, below mcp.servers.%[1]s", HintZh: "请在 mcp.servers.%[1]s 下设置 command（可带 env 与 network）或 url（可带 key_env 或 key_file），二者取一",
		},
		"mcptools.server_name": {
			En: "%[1]s cannot be the name of an MCP server", Zh: "%[1]s 不能作为 MCP 服务器的名称",
			HintEn: "Use at most %[2]d lower-case letters and digits, with single dashes or underscores in between", HintZh: "最多使用 %[2]d 个小写字母与数字，中间可用单个短横线或下划线",
		},
		"mcptools.url": {
			En: "the address of the MCP server %[1]s cannot be used", Zh: "MCP 服务器 %[1]s 的地址无法使用",
			HintEn: "Use https, or http on 127.0.0.1, without a user name or a password in it; a key belongs into key_env or key_file", HintZh: "请使用 https，或 127.0.0.1 上的 http，地址中不得含有用户名或密码；密钥请放在 key_env 或 key_file 中",
		},
		"mcptools.unknown": {
			En: "the settings name no MCP server %[1]s", Zh: "设置中没有 MCP 服务器 %[1]s",
			HintEn: "See which there are with: pawl mcp list", HintZh: "用 pawl mcp list 查看有哪些服务器",
		},
		"mcptools.file": {
			En: "a file that the MCP server %[1]s is started with cannot be read: %[2]s", Zh: "无法读取启动 MCP 服务器 %[1]s 所用的文件：%[2]s",
			HintEn: "Check the path and its permissions", HintZh: "请检查路径与权限",
		},
		"mcptools.no_variable": {
			En: "the MCP server %[1]s needs the variable %[2]s, which is not set", Zh: "MCP 服务器 %[1]s 需要变量 %[2]s，但它未设置",
			HintEn: "Set %[2]s in the environment of pawl and go on with: pawl resume", HintZh: "请在 pawl 的环境中设置 %[2]s，再用 pawl resume 继续",
		},
		"mcptools.no_key": {
			En: "there is no key for the MCP server %[1]s", Zh: "缺少 MCP 服务器 %[1]s 的密钥",
			HintEn: "Set what mcp.servers.%[1]s.key_env or key_file names, and go on with: pawl resume", HintZh: "请设置 mcp.servers.%[1]s 的 key_env 或 key_file 所指的内容，再用 pawl resume 继续",
		},
		"mcptools.not_started": {
			En: "the MCP server %[1]s cannot be started", Zh: "无法启动 MCP 服务器 %[1]s",
			HintEn: "Check mcp.servers.%[1]s.command; or do without it: pawl mcp untrust %[1]s", HintZh: "请检查 mcp.servers.%[1]s.command；或不使用它：pawl mcp untrust %[1]s",
		},
		"mcptools.unreached": {
			En: "the MCP server %[1]s cannot be reached: %[2]s", Zh: "无法连接 MCP 服务器 %[1]s：%[2]s",
			HintEn: "Try it with: pawl mcp trust %[1]s. It has no network but the places in mcp.servers.%[1]s.network. Or do without it: pawl mcp untrust %[1]s", HintZh: "用 pawl mcp trust %[1]s 试一试。除 mcp.servers.%[1]s.network 中的地址外它没有网络。也可不使用它：pawl mcp untrust %[1]s",
		},
		"mcptools.silent": {
			En: "the MCP server %[1]s was not ready in time. %[2]s", Zh: "MCP 服务器 %[1]s 未能及时就绪。%[2]s",
			HintEn: "Try it with: pawl mcp trust %[1]s. One that installs itself needs the network for that: mcp.servers.%[1]s.network", HintZh: "用 pawl mcp trust %[1]s 试一试。需要自行安装的服务器要有网络：mcp.servers.%[1]s.network",
		},
		"mcptools.changed": {
			En: "the MCP server %[1]s is not what you trusted: %[2]s", Zh: "MCP 服务器 %[1]s 与你信任的不同：%[2]s",
			HintEn: "Nothing was asked of it. Look at it and trust it again: pawl mcp trust %[1]s, or do without it: pawl mcp untrust %[1]s; then pawl resume", HintZh: "未向它发出任何请求。查看后重新信任：pawl mcp trust %[1]s，或不再使用：pawl mcp untrust %[1]s；然后 pawl resume",
		},
		"mcptools.not_kept": {
			En: "what you trusted of the MCP server %[1]s is not there any more", Zh: "你所信任的 MCP 服务器 %[1]s 的内容已不存在",
			HintEn: "Look at it and trust it again: pawl mcp trust %[1]s, or do without it: pawl mcp untrust %[1]s", HintZh: "查看后重新信任：pawl mcp trust %[1]s，或不再使用：pawl mcp untrust %[1]s",
		},
		"mcptools.conflict": {
			En: "the tool %[1]s of the MCP server %[2]s has the name of one of %[3]s", Zh: "MCP 服务器 %[2]s 的工具 %[1]s 与 %[3]s 的工具同名",
			HintEn: "Give one of the servers another name in mcp.servers, or do without one: pawl mcp untrust %[2]s", HintZh: "请在 mcp.servers 中为其中一个服务器改名，或不再使用其中一个：pawl mcp untrust %[2]s",
		},
		"mcptools.twice": {
			En: "the MCP server %[1]s offers %[2]s and %[3]s, which a model cannot tell apart", Zh: "MCP 服务器 %[1]s 同时提供 %[2]s 与 %[3]s，模型无法区分",
			HintEn: "Tell its makers, or use another version of it; no tool of it is offered", HintZh: "请告知其作者，或改用其他版本；不会提供它的任何工具",
		},
		"mcptools.tool_name": {
			En: "the MCP server %[1]s has a tool whose name no model can be offered: %[2]s", Zh: "MCP 服务器 %[1]s 有一个工具的名称无法提供给模型：%[2]s",
			HintEn: "Tell its makers, or use another version of it; no tool of it is offered", HintZh: "请告知其作者，或改用其他版本；不会提供它的任何工具",
		},
		"mcptools.tool_long": {
			En: "the name of the tool %[2]s of the MCP server %[1]s is too long: providers take %[3]d characters, the server's name included", Zh: "MCP 服务器 %[1]s 的工具名 %[2]s 过长：连同服务器名，提供商最多接受 %[3]d 个字符",
			HintEn: "Give the server a shorter name in mcp.servers", HintZh: "请在 mcp.servers 中为该服务器取一个更短的名称",
		},
		"mcptools.schema": {
			En: "the MCP server %[1]s has a tool whose arguments cannot be used: %[2]s", Zh: "MCP 服务器 %[1]s 有一个工具的参数无法使用：%[2]s",
			HintEn: "Tell its makers: the schema has to be one of an object, of at most 64 KiB; no tool of it is offered", HintZh: "请告知其作者：参数模式必须是对象，且不超过 64 KiB；不会提供它的任何工具",
		},
		"mcptools.too_many": {
			En: "the MCP server %[1]s offers more than %[2]d tools", Zh: "MCP 服务器 %[1]s 提供的工具超过 %[2]d 个",
			HintEn: "Start it with fewer; most servers have an option for that. No model handles so many well", HintZh: "请用更少的工具启动它；多数服务器有此选项。模型也难以处理这么多工具",
		},
		"mcptools.too_large": {
			En: "what the MCP server %[1]s says of its tools is larger than %[2]d KiB", Zh: "MCP 服务器 %[1]s 的工具说明超过 %[2]d KiB",
			HintEn: "Start it with fewer tools; most servers have an option for that", HintZh: "请用更少的工具启动它；多数服务器有此选项",
		},
		"mcptools.args": {
			En: "the arguments of %[1]s are no JSON object", Zh: "%[1]s 的参数不是 JSON 对象",
			HintEn: "Correct the call; nothing was done", HintZh: "请更正该调用；未执行任何操作",
		},
		"mcptools.args_large": {
			En: "the arguments of %[1]s are larger than %[2]d KiB", Zh: "%[1]s 的参数超过 %[2]d KiB",
			HintEn: "Send less at once", HintZh: "请减少单次发送的内容",
		},
		"mcptools.failed": {
			En: "the tool %[1]s says that it failed", Zh: "工具 %[1]s 报告失败",
			HintEn: "Read its answer, and correct the call", HintZh: "请阅读其回答并更正调用",
		},
		"mcptools.refused": {
			En: "the MCP server %[1]s refused the call: %[2]s", Zh: "MCP 服务器 %[1]s 拒绝了调用：%[2]s",
			HintEn: "Correct the call, or find another way", HintZh: "请更正调用，或改用其他办法",
		},
		"mcptools.wants_input": {
			En: "the MCP server %[1]s wants to ask the user something first, which pawl does not offer", Zh: "MCP 服务器 %[1]s 想先向用户提问，pawl 不支持",
			HintEn: "Find another way, or ask for less", HintZh: "请改用其他办法，或缩小请求",
		},
		"mcptools.slow": {
			En: "the tool %[1]s did not answer within %[2]s; nobody knows what it did", Zh: "工具 %[1]s 未在 %[2]s 内回答，无从得知它做了什么",
			HintEn: "Look at what it should have done, and then answer with pawl fix", HintZh: "请查看它本应完成的事情，再用 pawl fix 回答",
		},
		"mcptools.lost": {
			En: "the connection was lost while %[1]s was called; nobody knows what it did: %[2]s", Zh: "调用 %[1]s 时连接中断，无从得知它做了什么：%[2]s",
			HintEn: "Look at what it should have done, and then answer with pawl fix", HintZh: "请查看它本应完成的事情，再用 pawl fix 回答",
		},
		"mcptools.canceled": {
			En: "the call of the MCP server %[1]s was canceled", Zh: "对 MCP 服务器 %[1]s 的调用已取消",
			HintEn: "Go on with: pawl resume", HintZh: "用 pawl resume 继续",
		},
	}
}}

// cliServers is the part of the command line's catalogue about MCP servers whose tools models are offered.
var cliServers = part{load: func() Table {
	return Table{
		"cli.mcp.list.short": {En: "list the MCP servers of your settings", Zh: "列出设置中的 MCP 服务器"},
		"cli.mcp.list.long":  {En: "Lists the MCP servers that your own settings name, whether you trust them, and the tools that models are offered of them. None is started for that.", Zh: "列出用户设置中的 MCP 服务器、是否已信任，以及提供给模型的工具。不会启动任何服务器。"},
		"cli.mcp.trust.short": {
			En: "look at the tools of an MCP server and trust them", Zh: "查看并信任一个 MCP 服务器的工具",
		},
		"cli.mcp.trust.long": {
			En: "Starts the server for a moment behind the walls, shows every tool with its description and its schema, and the digest of exactly this and of how the server is reached. When you say yes, the digest is kept in your own settings, and models are offered these tools as server__tool. A server that offers anything else later is refused until you look again. Without a terminal nothing is trusted unless --digest names what you looked at.",
			Zh: "在隔离墙内短暂启动该服务器，显示每个工具及其说明与参数模式，以及这些内容与连接方式的摘要。确认后，摘要保存在用户设置中，模型即可使用名为 server__tool 的工具。服务器此后若提供任何不同的内容，都会被拒绝，直到你再次查看。不在终端中时，只有用 --digest 指明所查看的内容才会信任。",
		},
		"cli.mcp.untrust.short": {En: "no longer offer the tools of an MCP server", Zh: "不再提供某个 MCP 服务器的工具"},
		"cli.mcp.untrust.long":  {En: "Takes the digest of a server out of your own settings, so that no model is offered its tools. The server's other settings stay.", Zh: "从用户设置中移除该服务器的摘要，模型将不再获得其工具。服务器的其他设置保持不变。"},
		"cli.flag.digest":       {En: "`DIGEST` that was looked at; trusts exactly that without asking", Zh: "已查看的摘要 `DIGEST`；不再询问，只信任与之完全一致的内容"},
		"cli.col.server":        {En: "SERVER", Zh: "服务器"},
		"cli.col.tools":         {En: "TOOLS", Zh: "工具"},
		"cli.mcp.state.trusted": {En: "trusted", Zh: "已信任"},
		"cli.mcp.state.untrusted": {
			En: "untrusted", Zh: "未信任",
		},
		"cli.mcp.state.broken": {En: "broken", Zh: "不可用"},
		"cli.mcp.look":         {En: "look at its tools: pawl mcp trust %s", Zh: "查看其工具：pawl mcp trust %s"},
		"cli.mcp.none":         {En: "your settings name no MCP server; add one below mcp.servers in %s", Zh: "设置中没有 MCP 服务器；可在 %s 的 mcp.servers 下添加"},
		"cli.mcp.reaches":      {En: "may connect to: %s", Zh: "可连接：%s"},
		"cli.mcp.input":        {En: "arguments", Zh: "参数"},
		"cli.mcp.output":       {En: "answer", Zh: "结果"},
		"cli.mcp.hints":        {En: "what it says of itself", Zh: "自述"},
		"cli.mcp.changed":      {En: "it is not what you trusted; differences: %s", Zh: "与你信任的不同；差异数：%s"},
		"cli.mcp.digest":       {En: "digest: %s", Zh: "摘要：%s"},
		"cli.mcp.trust_ask":    {En: "Offer exactly these tools of %s to models? [y/N]", Zh: "向模型提供 %s 的这些工具吗？[y/N]"},
		"cli.mcp.trusted":      {En: "%[1]s is trusted; its digest is in %[2]s", Zh: "已信任 %[1]s；摘要保存在 %[2]s"},
		"cli.mcp.untrusted":    {En: "%s is not trusted; no model is offered its tools", Zh: "未信任 %s；不向模型提供其工具"},
		"cli.mcp.not_trusted": {
			En: "%[1]s was not trusted", Zh: "未信任 %[1]s",
			HintEn: "Trust exactly what was shown with: pawl mcp trust %[1]s --digest %[2]s", HintZh: "若要信任所显示的内容：pawl mcp trust %[1]s --digest %[2]s",
		},
		"cli.mcp.other_digest": {
			En: "%[1]s offers something else: %[2]s instead of %[3]s", Zh: "%[1]s 提供的内容不同：是 %[2]s，而非 %[3]s",
			HintEn: "Look at what it offers now: pawl mcp trust %[1]s", HintZh: "查看它现在提供的内容：pawl mcp trust %[1]s",
		},
		"cli.mcp.unknown": {
			En: "your settings name no MCP server %[1]s", Zh: "设置中没有 MCP 服务器 %[1]s",
			HintEn: "There are: %[2]s. Add it below mcp.servers in %[3]s", HintZh: "现有：%[2]s。请在 %[3]s 的 mcp.servers 下添加",
		},
	}
}}

// skillText is the part of the catalogue for keys that begin with "skill.": what coding agents are told of pawl.
var skillText = part{load: func() Table {
	return Table{
		"skill.root.short":    {En: "teach coding agents to work with pawl", Zh: "让编码智能体学会与 pawl 协作"},
		"skill.root.long":     {En: "The skill context-manager teaches a coding agent to read the state and to report through pawl, by the command line or MCP, and never to write the files below .pawl.", Zh: "技能 context-manager 让编码智能体通过 pawl 的命令行或 MCP 读取状态并汇报，而不去修改 .pawl 下的文件。"},
		"skill.install.short": {En: "Install the skill and the section of AGENTS.md", Zh: "安装技能与 AGENTS.md 中的说明"},
		"skill.install.long": {
			En: "Writes the skill context-manager into .agents/skills and .claude/skills of the project, which most agents read, and a section into its AGENTS.md; with --agent, where that agent looks. The rest of AGENTS.md stays as it is. To install again brings both up to date or into another language (--lang).\n\nA file that pawl did not write, or that somebody has changed since, is not written over. Links are refused.",
			Zh: "将技能 context-manager 写入项目的 .agents/skills 与 .claude/skills（多数智能体会读取），并在 AGENTS.md 中写入一节说明；使用 --agent 时写入该智能体读取的位置。AGENTS.md 的其余内容保持不变。再次安装会更新内容，或切换语言（--lang）。\n\n不是由 pawl 写入、或写入后被修改过的文件不会被覆盖。不会经由链接写入。",
		},
		"skill.show.short":   {En: "Show what agents are told", Zh: "显示告知智能体的内容"},
		"skill.show.long":    {En: "Prints the skill, or the section of AGENTS.md, in the language of --lang. Nothing is written.", Zh: "按 --lang 的语言输出技能，或 AGENTS.md 中的说明。不写入任何文件。"},
		"skill.flag.global":  {En: "into your home, for all projects", Zh: "安装到用户主目录，对所有项目生效"},
		"skill.flag.agent":   {En: "where `AGENT` looks: %s; may be given again", Zh: "写入 `AGENT` 读取的位置：%s；可重复使用"},
		"skill.flag.remove":  {En: "take both back", Zh: "移除技能与说明"},
		"skill.flag.force":   {En: "write over a file of somebody else's, and keep it as a backup", Zh: "覆盖他人的文件，并保留备份"},
		"skill.flag.dry_run": {En: "only say what would be done", Zh: "只显示将要执行的操作"},
		"skill.done.create":  {En: "written: %s", Zh: "已写入：%s"},
		"skill.done.update":  {En: "brought up to date: %s", Zh: "已更新：%s"},
		"skill.done.same":    {En: "up to date already: %s", Zh: "已是最新：%s"},
		"skill.done.remove":  {En: "taken back: %s", Zh: "已移除：%s"},
		"skill.done.absent":  {En: "nothing of pawl's: %s", Zh: "没有 pawl 的内容：%s"},
		"skill.would.create": {En: "would be written: %s", Zh: "将写入：%s"},
		"skill.would.update": {En: "would be brought up to date: %s", Zh: "将更新：%s"},
		"skill.would.same":   {En: "is up to date: %s", Zh: "已是最新：%s"},
		"skill.would.remove": {En: "would be taken back: %s", Zh: "将移除：%s"},
		"skill.would.absent": {En: "holds nothing of pawl's: %s", Zh: "没有 pawl 的内容：%s"},
		"skill.kept":         {En: "what was there is kept as %s", Zh: "原有内容保留为 %s"},
		"skill.next":         {En: "agents find it when their next session begins; it is taken back with pawl skill install --remove", Zh: "智能体在下次会话开始时即可读取；可用 pawl skill install --remove 移除"},
		"skill.agent_unknown": {
			En: "where %[1]s looks for skills is not known; known are: %[2]s", Zh: "不知道 %[1]s 在哪里读取技能；已知的有：%[2]s",
			HintEn: "Without --agent the skill goes where most agents look", HintZh: "不使用 --agent 时，技能会写入多数智能体读取的位置",
		},
		"skill.show_what": {
			En: "there is no %[1]s to show", Zh: "没有可显示的 %[1]s",
			HintEn: "Say skill or section", HintZh: "请使用 skill 或 section",
		},
		"skill.no_home": {
			En: "the home folder cannot be found: %[1]s", Zh: "找不到用户主目录：%[1]s",
			HintEn: "Set HOME, or install into the project without --global", HintZh: "请设置 HOME，或去掉 --global 安装到项目中",
		},
		"skill.other": {
			En: "%[1]s was not written by pawl", Zh: "%[1]s 不是由 pawl 写入的",
			HintEn: "Nothing was changed. Move it away, or give --force, which keeps it as %[2]s", HintZh: "没有更改任何内容。请移开该文件，或使用 --force，原文件会保留为 %[2]s",
		},
		"skill.changed": {
			En: "%[1]s was changed since pawl wrote it", Zh: "%[1]s 在 pawl 写入后被修改过",
			HintEn: "Nothing was changed. Give --force, which keeps it as %[2]s", HintZh: "没有更改任何内容。使用 --force 时会把它保留为 %[2]s",
		},
		"skill.not_plain": {
			En: "%[1]s is a link, or no plain file or folder", Zh: "%[1]s 是链接，或者不是普通的文件或目录",
			HintEn: "Nothing was changed. Put a real one in its place, or choose where to install with --agent", HintZh: "没有更改任何内容。请换成真正的文件或目录，或用 --agent 选择安装位置",
		},
		"skill.backups": {
			En: "%[1]s has %[2]d backups already", Zh: "%[1]s 已有 %[2]d 个备份",
			HintEn: "Remove those that are not needed", HintZh: "请删除不需要的备份",
		},
		"skill.in_file": {
			En: "no section can be written into %[1]s", Zh: "无法在 %[1]s 中写入说明",
			HintEn: "Nothing was changed. Mend the file, or choose where to install with --agent", HintZh: "没有更改任何内容。请修复该文件，或用 --agent 选择安装位置",
		},
		"skill.markers":    {En: "line %[1]d: the markers of pawl's section do not fit together", Zh: "第 %[1]d 行：pawl 说明的标记不成对"},
		"skill.doc_large":  {En: "%[1]d bytes are more than %[2]d", Zh: "大小 %[1]d 字节，超过 %[2]d"},
		"skill.doc_binary": {En: "it is no text in UTF-8", Zh: "不是 UTF-8 文本"},
	}
}}
