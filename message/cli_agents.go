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
		"cli.flag.go_on":       {En: "go on with what there is, without an answer", Zh: "不回答，按现有信息继续"},
		"cli.question":         {En: "Question %[1]d of %[2]d: %[3]s", Zh: "问题 %[1]d/%[2]d：%[3]s"},
		"cli.answer_how":       {En: `pawl answer "…" (one for each question), or pawl answer --go-on`, Zh: `pawl answer "…"（每个问题一个回答），或 pawl answer --go-on`},
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
