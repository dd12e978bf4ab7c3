package message

// agentText is the part of the catalogue for keys that begin with "agent.".
var agentText = part{load: func() Table {
	return Table{
		"agent.unknown": {
			En: "there is no agent %[1]s; there are: %[2]s", Zh: "没有名为 %[1]s 的智能体；可用的有：%[2]s",
			HintEn: "See what is installed with: pawl agent list", HintZh: "用 pawl agent list 查看已安装的智能体",
		},
		"agent.no_model": {
			En: "no model is named", Zh: "未指定模型",
			HintEn: "Name one: pawl config set model.name NAME (and model.kind, model.base_url); a plan file needs none: pawl run --plan FILE",
			HintZh: "用 pawl config set model.name 名称（以及 model.kind、model.base_url）指定；计划文件不需要模型：pawl run --plan 文件",
		},
		"agent.untested": {
			En: "%[1]s %[2]s is a version that pawl was not tried with", Zh: "pawl 未在 %[1]s %[2]s 版本上测试过",
			HintEn: "It may work; try it with: pawl agent check NAME", HintZh: "可能可以工作；用 pawl agent check 名称 试一试",
		},
		"agent.mends": {En: "the agent finds out why it fails and mends it", Zh: "由智能体查明失败原因并修复"},
	}
}}

// agentGateway is what goes wrong on the way of external agents to their models.
var agentGateway = part{load: func() Table {
	return Table{
		"agent.gateway_url": {
			En: "the base URL of model endpoint %[1]s is none", Zh: "模型端点 %[1]s 的基础 URL 无效",
			HintEn: "Set one that begins with http:// or https://: pawl config set model.base_url URL",
			HintZh: "请设置以 http:// 或 https:// 开头的地址：pawl config set model.base_url 地址",
		},
		"agent.gateway_ca": {
			En: "no certificate authority can be read from %[1]s", Zh: "无法从 %[1]s 读取证书颁发机构",
			HintEn: "Name a PEM file: pawl config set model.ca_file FILE", HintZh: "请指定 PEM 文件：pawl config set model.ca_file 文件",
		},
		"agent.gateway_listener": {
			En: "the agent's way to its model broke off", Zh: "智能体通往模型的通道中断",
			HintEn: "Go on with: pawl resume", HintZh: "可继续执行：pawl resume",
		},
		"agent.gateway_unreachable": {
			En: "the model endpoint %[1]s cannot be reached", Zh: "无法连接模型端点 %[1]s",
			HintEn: "Check the network, the proxy (HTTPS_PROXY) and model.base_url or agents.NAME.base_url, then go on with: pawl fix",
			HintZh: "检查网络、代理（HTTPS_PROXY）以及 model.base_url 或 agents.名称.base_url，然后继续：pawl fix",
		},
		"agent.gateway_silent": {
			En: "the model endpoint %[1]s did not answer in time", Zh: "模型端点 %[1]s 未及时响应",
			HintEn: "Go on later with: pawl fix", HintZh: "稍后继续：pawl fix",
		},
		"agent.gateway_cut": {
			En: "the model endpoint %[1]s broke off its answer", Zh: "模型端点 %[1]s 的回答中断",
			HintEn: "Go on with: pawl resume", HintZh: "可继续执行：pawl resume",
		},
		"agent.gateway_key": {
			En: "the model endpoint %[1]s refuses the key", Zh: "模型端点 %[1]s 拒绝了密钥",
			HintEn: "Put a valid key where model.key_env or model.key_file says (pawl config show), then go on with: pawl fix",
			HintZh: "在 model.key_env 或 model.key_file 指定的位置（见 pawl config show）放入有效密钥，然后继续：pawl fix",
		},
		"agent.gateway_login": {
			En: "the agent's makers at %[1]s refuse the login (status %[2]s)", Zh: "%[1]s 的厂商拒绝该登录（状态 %[2]s）",
			HintEn: "See what it may be used for with: pawl agent list; log in again if you have to, then go on with: pawl fix", HintZh: "用 pawl agent list 查看其用途；必要时重新登录，然后继续：pawl fix",
		},
		"agent.gateway_spent": {
			En: "the plan or the account at %[1]s has nothing left for now", Zh: "%[1]s 的套餐或账户当前已用尽",
			HintEn: "Wait until it has, or choose another agent or model, then go on with: pawl fix", HintZh: "等额度恢复，或选择其他智能体或模型，然后继续：pawl fix",
		},
		"agent.gateway_rate": {
			En: "the model endpoint %[1]s takes no more calls at the moment", Zh: "模型端点 %[1]s 暂时不再接受调用",
			HintEn: "Go on later with: pawl fix", HintZh: "稍后继续：pawl fix",
		},
		"agent.gateway_status": {
			En: "the model endpoint %[2]s answered with an error (status %[1]s)", Zh: "模型端点 %[2]s 返回错误（状态 %[1]s）",
			HintEn: "Look whether its provider has trouble, and check model.name (pawl config show), then go on with: pawl fix", HintZh: "查看服务商是否有故障，并检查 model.name（pawl config show），然后继续：pawl fix",
		},
		"agent.gateway_body": {
			En: "the agent sent its model more than %[1]s MB at once", Zh: "智能体一次向模型发送的内容超过 %[1]s MB",
			HintEn: "Give the agent a smaller task", HintZh: "请给智能体更小的任务",
		},
		"agent.gateway_reply": {
			En: "the model's answer is longer than %[1]s MB", Zh: "模型的回答超过 %[1]s MB",
			HintEn: "Go on with: pawl resume", HintZh: "可继续执行：pawl resume",
		},
		"agent.gateway_token": {
			En: "the agent showed its model another token than it was given", Zh: "智能体向模型出示的令牌不是交给它的那一个",
			HintEn: "Look for what led it there: pawl audit log", HintZh: "请查明原因：pawl audit log",
		},
		"agent.gateway_hidden": {
			En: "the agent asked its model for something that pawl does not let through: %[1]s", Zh: "智能体向模型请求了 pawl 不放行的内容：%[1]s",
			HintEn: "Switch off the agent's tools that its provider runs, such as its own web search", HintZh: "请关闭该智能体由提供商运行的工具，例如自带的网页搜索",
		},
		"agent.recording_damaged": {
			En: "line %[1]s of the recording is no exchange", Zh: "录制文件第 %[1]s 行不是有效的交互",
			HintEn: "Record the run again", HintZh: "请重新录制该运行",
		},
		"agent.recording_unread": {En: "the recording cannot be read", Zh: "无法读取录制文件", HintEn: "Check the file and its permissions", HintZh: "检查文件及其权限"},
		"agent.replay_differs": {
			En: "the request differs from recorded exchange %[1]s at %[2]s", Zh: "请求在 %[2]s 处与录制的第 %[1]s 次交互不同",
			HintEn: "Something that the model is told has changed since; record the run again to go on from it",
			HintZh: "发给模型的内容已发生变化；如需以此继续，请重新录制该运行",
		},
		"agent.replay_ended": {
			En: "the recording has no further answer to %[1]s", Zh: "录制中没有对 %[1]s 的更多回答",
			HintEn: "The run asks its model more often than when it was recorded; record it again", HintZh: "该运行向模型提问的次数多于录制时；请重新录制",
		},
	}
}}

// agentExternal is the part of the area "agent" about external agents.
var agentExternal = part{load: func() Table {
	return Table{
		"agent.canceled": {En: "%[1]s was stopped", Zh: "%[1]s 已停止"},
		"agent.cut_off": {
			En: "%[1]s ended without saying that it is done", Zh: "%[1]s 未声明完成就结束了",
			HintEn: "Go on with: pawl resume", HintZh: "用 pawl resume 继续",
		},
		"agent.died": {
			En: "%[1]s ended unexpectedly with exit status %[2]d", Zh: "%[1]s 意外结束，退出码 %[2]d",
			HintEn: "Go on with pawl resume; if it happens again, look at it with: pawl agent check %[1]s", HintZh: "用 pawl resume 继续；若再次发生，用 pawl agent check %[1]s 检查",
		},
		"agent.empty_requirement": {
			En: "the requirement is empty", Zh: "需求为空",
			HintEn: "Say what is to be done: pawl run \"…\"", HintZh: "请说明要做什么：pawl run \"…\"",
		},
		"agent.foreign_effect": {En: "an external agent cannot do %[1]s", Zh: "外部智能体无法执行 %[1]s"},
		"agent.login_needed": {
			En: "%[1]s, or the model behind it, does not accept the key", Zh: "%[1]s 或其背后的模型不接受密钥",
			HintEn: "Give pawl the provider's key (OPENAI_API_KEY, ANTHROPIC_API_KEY, GEMINI_API_KEY, or: pawl config set model.key_env NAME), then: pawl fix. Agents themselves need no login",
			HintZh: "请为 pawl 提供该服务商的密钥（OPENAI_API_KEY、ANTHROPIC_API_KEY、GEMINI_API_KEY，或：pawl config set model.key_env 名称），然后用 pawl fix 继续。智能体自身无需登录",
		},
		"agent.machine": {En: "the failure is one of this machine, not of the work", Zh: "失败源于本机环境，而非所做的工作"},
		"agent.model_failed": {
			En: "%[1]s could not get an answer from its model", Zh: "%[1]s 未能从模型获得答复",
			HintEn: "Go on with pawl resume when the model answers again", HintZh: "模型恢复后用 pawl resume 继续",
		},
		"agent.model_name": {
			En: "%[1]s needs the name of a model, and %[2]q is none", Zh: "%[1]s 需要模型名称，%[2]q 不是有效的名称",
			HintEn: "Name one that it has: pawl config set model.name NAME (and model.base_url for an endpoint of your own)",
			HintZh: "请指定它支持的模型：pawl config set model.name 名称（自有端点还需 model.base_url）",
		},
		"agent.no_home": {
			En: "the folder for %[1]s below .pawl/agents could not be made", Zh: "无法在 .pawl/agents 下为 %[1]s 建立目录",
			HintEn: "Check the disk and the permissions of .pawl", HintZh: "请检查磁盘和 .pawl 的权限",
		},
		"agent.no_host": {En: "an external agent was asked to work without a host", Zh: "外部智能体在没有宿主的情况下被要求工作"},
		"agent.no_version": {
			En: "%[1]s does not say its version (exit status %[2]d)", Zh: "%[1]s 没有报告版本（退出码 %[2]d）",
			HintEn: "Run it by hand with --version to see why", HintZh: "请手动运行 --version 查看原因",
		},
		"agent.not_judged": {
			En: "%[1]s may not run commands by itself, because nobody is there to judge them", Zh: "%[1]s 不能自行运行命令，因为没有可作判断的一方",
			HintEn: "Let it run them through pawl's terminal", HintZh: "请让它通过 pawl 的终端运行",
		},
		"agent.not_understood": {
			En: "%[1]s asked for permission for something that pawl cannot judge", Zh: "%[1]s 请求的权限 pawl 无法判断",
			HintEn: "Give the step calls of its own, or choose another agent", HintZh: "请在步骤中写明调用，或选择其他智能体",
		},
		"agent.not_installed": {
			En: "%[1]s is not installed", Zh: "%[1]s 未安装",
			HintEn: "Install it with %[2]s, or choose another agent; plans with explicit calls work without any", HintZh: "用 %[2]s 安装，或选择其他智能体；带明确调用的计划无需智能体",
		},
		"agent.out_of_time": {
			En: "%[1]s did not finish in time", Zh: "%[1]s 未能按时完成",
			HintEn: "Go on with: pawl resume", HintZh: "用 pawl resume 继续",
		},
		"agent.protocol_version": {
			En: "%[1]s speaks version %[2]d of the Agent Client Protocol, and pawl version %[3]d", Zh: "%[1]s 使用 Agent Client Protocol 第 %[2]d 版，而 pawl 使用第 %[3]d 版",
			HintEn: "Install a version of it that pawl was tried with; pawl agent list names them", HintZh: "请安装 pawl 测试过的版本；pawl agent list 会列出",
		},
		"agent.protocol": {
			En: "%[1]s did not keep to the Agent Client Protocol", Zh: "%[1]s 未遵守 Agent Client Protocol",
			HintEn: "Look at it with: pawl agent check %[1]s", HintZh: "用 pawl agent check %[1]s 检查",
		},
		"agent.quirk_exit":       {En: "reports success even where its model failed", Zh: "模型出错时仍报告成功"},
		"agent.quirk_licence":    {En: "proprietary: its makers' terms apply", Zh: "专有软件：适用其开发者的条款"},
		"agent.quirk_no_resume":  {En: "begins anew after an interruption", Zh: "中断后会重新开始"},
		"agent.quirk_slow_retry": {En: "retries a failing model for long", Zh: "模型出错时会长时间重试"},
		"agent.rate_limited": {
			En: "the model behind %[1]s takes no more requests at the moment", Zh: "%[1]s 背后的模型暂不接受更多请求",
			HintEn: "Wait, then go on with: pawl fix", HintZh: "稍后用 pawl fix 继续",
		},
		"agent.usage_limit": {
			En: "%[1]s has reached the limit of its plan", Zh: "%[1]s 已达到其套餐的用量上限",
			HintEn: "Wait until it is over, or choose another agent, then go on with: pawl fix", HintZh: "等限制解除，或选择其他智能体，然后用 pawl fix 继续",
		},
		"agent.login_ended": {
			En: "%[1]s says that its login does not hold any more", Zh: "%[1]s 表示其登录已失效",
			HintEn: "Log in again with: %[2]s, then: pawl fix", HintZh: "请重新登录：%[2]s，然后：pawl fix",
		},
		"agent.silent": {
			En: "%[1]s gave no sign of life for %[2]s", Zh: "%[1]s 在 %[2]s 内没有任何动静",
			HintEn: "Go on with: pawl resume", HintZh: "用 pawl resume 继续",
		},
		"agent.stopped_short": {
			En: "%[1]s stopped before the step was done: %[2]s", Zh: "%[1]s 在步骤完成前停止：%[2]s",
			HintEn: "Make the step smaller, or go on with: pawl resume", HintZh: "请缩小步骤，或用 pawl resume 继续",
		},
		"agent.too_much_output": {
			En: "%[1]s wrote more than %[2]d MiB and was ended", Zh: "%[1]s 输出超过 %[2]d MiB，已被终止",
			HintEn: "Go on with: pawl resume", HintZh: "用 pawl resume 继续",
		},
	}
}}
