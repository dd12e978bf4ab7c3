package message

// policyText is the part of the catalogue for keys that begin with "policy.".
var policyText = part{load: func() Table {
	return Table{
		"policy.allowed": {
			En: "allowed by the policy", Zh: "策略允许",
		},
		"policy.invalid_request": {
			En: "the tool call is malformed: %s", Zh: "工具调用格式不正确：%s",
			HintEn: "Correct the call; nothing was done", HintZh: "请更正该调用；未执行任何操作",
		},
		"policy.invalid_text": {
			En: "the call holds control characters or bytes that are not UTF-8", Zh: "调用中含有控制字符或非 UTF-8 字节",
			HintEn: "Send it again as plain UTF-8 text, without carriage returns, escapes or NUL", HintZh: "请以纯 UTF-8 文本重新发送，不含回车、转义或 NUL",
		},
		"policy.unparsable": {
			En: "the command is not valid shell text: %s", Zh: "命令不是有效的 shell 文本：%s",
			HintEn: "Correct the quotes and brackets. What cannot be read is never run", HintZh: "请更正引号与括号。无法解析的命令绝不会运行",
		},
		"policy.too_complex": {
			En: "the command is too large or nested too deep to be judged (%s)", Zh: "命令过大或嵌套过深，无法判定（%s）",
			HintEn: "Split it into several commands, or put the text into a file of the workspace", HintZh: "请拆成多条命令，或将文本写入工作区中的文件",
		},
		"policy.tool_disabled": {
			En: "the tool %s is switched off by the profile", Zh: "当前策略配置已禁用工具 %s",
			HintEn: "Use another tool, or change allowed_tools and disallowed_tools in the policy", HintZh: "请使用其他工具，或修改策略中的 allowed_tools 与 disallowed_tools",
		},
		"policy.path_escape": {
			En: "%s lies outside the workspace", Zh: "%s 位于工作区之外",
			HintEn: "Use a path inside the workspace, relative to its root; for temporary files, a folder in it", HintZh: "请使用工作区内、相对其根目录的路径；临时文件也请放在其中的目录里",
		},
		"policy.path_form": {
			En: "%s is not a plain relative path", Zh: "%s 不是规范的相对路径",
			HintEn: "Write it with slashes, without \".\", \"..\", escapes or invisible characters", HintZh: "请用斜杠书写，不含“.”、“..”、转义或不可见字符",
		},
		"policy.protected_path": {
			En: "%s belongs to git or to pawl itself and stays out of reach", Zh: "%s 属于 git 或 pawl 自身，不可触及",
			HintEn: "Change it yourself, outside of a run, if it has to change", HintZh: "如确需修改，请在运行之外亲自修改",
		},
		"policy.sensitive_path": {
			En: "%s decides what pipelines, editors, agents or deployments do", Zh: "%s 决定流水线、编辑器、智能体或部署的行为",
			HintEn: "Look at the change before you approve it", HintZh: "批准前请查看该改动",
		},
		"policy.secret": {
			En: "%s is known to hold credentials and is not read", Zh: "%s 通常含有凭据，不予读取",
			HintEn: "Use a sample such as .env.example that holds no secrets", HintZh: "请使用不含机密的样例文件，如 .env.example",
		},
		"policy.write": {
			En: "it writes %s", Zh: "将写入 %s",
			HintEn: "Approve it, or choose the standard profile to let undoable writes pass", HintZh: "请批准，或选用 standard 配置以放行可撤销的写入",
		},
		"policy.read_only": {
			En: "the profile only lets a call look: %s", Zh: "当前配置只允许查看：%s",
			HintEn: "Choose another profile if changes are wanted", HintZh: "若需要改动，请选用其他配置",
		},
		"policy.delete": {
			En: "it deletes %s", Zh: "将删除 %s",
			HintEn: "Check what is lost before you approve it", HintZh: "批准前请确认会丢失什么",
		},
		"policy.many_files": {
			En: "it changes %s files at once; %s pass without asking", Zh: "将一次改动 %s 个文件；不经询问的上限为 %s 个",
			HintEn: "Approve it, or have it done in smaller steps", HintZh: "请批准，或分成更小的步骤",
		},
		"policy.exec": {
			En: "the profile asks before every command: %s", Zh: "当前配置在每条命令前询问：%s",
			HintEn: "Approve it, or choose the standard profile", HintZh: "请批准，或选用 standard 配置",
		},
		"policy.not_allowlisted": {
			En: "it is not on the list of known commands: %s", Zh: "不在已知命令列表中：%s",
			HintEn: "Approve it, or add its first words to allowed_commands in the policy", HintZh: "请批准，或将其开头几个词加入策略的 allowed_commands",
		},
		"policy.dangerous_flag": {
			En: "%s: the part %s can run another program, write elsewhere or is not known", Zh: "%s：其中 %s 可能运行其他程序、写到别处，或不为所知",
			HintEn: "Approve it if you know what it does, or leave that part out", HintZh: "若清楚其作用请批准，否则请去掉该部分",
		},
		"policy.dynamic": {
			En: "what it does is only known once it runs: %s", Zh: "只有运行后才知道其作用：%s",
			HintEn: "Write the words out instead of computing them", HintZh: "请直接写出各个词，而不要由计算得出",
		},
		"policy.shell_feature": {
			En: "it uses a feature of the shell that can run text as code: %s", Zh: "使用了可将文本当作代码执行的 shell 特性：%s",
			HintEn: "Write plain commands", HintZh: "请改用普通命令",
		},
		"policy.environment": {
			En: "it sets %s, which can change what programs do", Zh: "设置了 %s，可能改变程序的行为",
			HintEn: "Leave the variable out", HintZh: "请去掉该变量",
		},
		"policy.hidden_text": {
			En: "the command holds characters that cannot be seen or that look like a space", Zh: "命令中含有不可见或形似空格的字符",
			HintEn: "Read it in its escaped form before you approve it", HintZh: "批准前请阅读其转义后的形式",
		},
		"policy.network": {
			En: "it connects to the network: %s", Zh: "将连接网络：%s",
			HintEn: "Approve it where it is asked about; where it is denied, leave it out or allow the network in the policy", HintZh: "若只是询问，批准即可；若被拒绝，请去掉它，或在策略中允许网络",
		},
		"policy.git_write": {
			En: "it changes the repository: %s", Zh: "将改动仓库：%s",
			HintEn: "pawl lands the result itself; approve it only if the task needs it", HintZh: "pawl 会自行落地结果；仅在任务需要时批准",
		},
		"policy.git_config": {
			En: "git may run a program that the repository's configuration names: %s", Zh: "git 可能运行仓库配置中指定的程序：%s",
			HintEn: "Look at the configuration of the repository; \"?\" means that it was not inspected", HintZh: "请检查仓库的配置；“?”表示尚未检查",
		},
		"policy.outward": {
			En: "it reaches beyond this machine or cannot be taken back: %s", Zh: "会影响到本机之外，或无法收回：%s",
			HintEn: "Only a person can say yes to it, to this very call; --yes does not cover it", HintZh: "只有人能对这一调用本身表示同意；--yes 不包括它",
		},
		"policy.destructive": {
			En: "it can destroy work or reach production: %s", Zh: "可能毁坏成果或影响生产环境：%s",
			HintEn: "Approve it only if you are certain; it may not be undoable", HintZh: "仅在确定时批准；它可能无法撤销",
		},
		"policy.privilege": {
			En: "it asks for the rights of another user or of the system: %s", Zh: "要求其他用户或系统的权限：%s",
			HintEn: "Do it yourself, outside of a run", HintZh: "请在运行之外亲自执行",
		},
		"policy.denied_command": {
			En: "the policy denies this command: %s", Zh: "策略禁止该命令：%s",
			HintEn: "Find another way, or change denied_commands in the policy", HintZh: "请改用其他办法，或修改策略中的 denied_commands",
		},
		"policy.no_walls": {
			En: "this machine cannot wall commands in, so it is asked for: %s", Zh: "本机无法隔离命令，因此需要询问：%s",
			HintEn: "Run pawl doctor to see what is missing", HintZh: "运行 pawl doctor 查看缺少什么",
		},
		"policy.foreign_tool": {
			En: "what the tool %[1]s does is only known to the MCP server %[2]s", Zh: "工具 %[1]s 会做什么只有 MCP 服务器 %[2]s 知道",
			HintEn: "Look at its arguments before you approve it; policy.mcp_tools in your own settings names tools that are not asked about", HintZh: "批准前请查看其参数；可在用户设置的 policy.mcp_tools 中列出无需询问的工具",
		},
		"policy.ambiguous": {
			En: "part of the command can be read in more than one way: %s", Zh: "命令中有一处可有多种读法：%s",
			HintEn: "Join no lines there with a backslash, begin comments behind a space, and quote a here-document's delimiter: <<'EOF'",
			HintZh: "请勿在该处用反斜杠续行，注释前请留空格，here-document 的结束标记请加引号：<<'EOF'",
		},
		"policy.profile_unknown": {
			En: "there is no policy profile named %s", Zh: "没有名为 %s 的策略配置",
			HintEn: "Choose strict, standard or readonly", HintZh: "请选择 strict、standard 或 readonly",
		},
		"policy.profile_field": {
			En: "the field %s of the policy profile cannot be %s", Zh: "策略配置的字段 %s 不能为 %s",
			HintEn: "Correct it", HintZh: "请更正",
		},
	}
}}
