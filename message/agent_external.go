package message

// agentExternal is the part of the area "agent" about external agents.
var agentExternal = part{load: func() Table {
	return Table{
		"agent.canceled": {En: "%[1]s was stopped", Zh: "%[1]s 已停止"},
		"agent.cut_off": {
			En: "%[1]s ended without saying that it is done", Zh: "%[1]s 未声明完成就结束了",
			HintEn: "Go on with: pawl resume", HintZh: "用 pawl resume 继续",
		},
		"agent.died": {
			En: "%[1]s ended unexpectedly with exit status %[2]d", Zh: "%[1]s 意外结束，退出状态 %[2]d",
			HintEn: "Go on with pawl resume; if it happens again, look at it with: pawl agent check %[1]s", HintZh: "用 pawl resume 继续；若再次发生，用 pawl agent check %[1]s 检查",
		},
		"agent.empty_requirement": {
			En: "The requirement is empty", Zh: "需求为空",
			HintEn: "Say what is to be done: pawl run \"…\"", HintZh: "请说明要做什么：pawl run \"…\"",
		},
		"agent.foreign_effect": {En: "An external agent cannot do %[1]s", Zh: "外部智能体无法执行 %[1]s"},
		"agent.login_needed": {
			En: "%[1]s, or the model behind it, does not accept the key", Zh: "%[1]s 或其背后的模型不接受密钥",
			HintEn: "Set the provider's key for pawl; agents themselves need no login.", HintZh: "请为 pawl 设置该服务商的密钥；智能体自身无需登录。",
		},
		"agent.machine": {En: "the failure is one of this machine, not of the work", Zh: "失败源于本机环境，而非所做的工作"},
		"agent.model_failed": {
			En: "%[1]s could not get an answer from its model", Zh: "%[1]s 未能从模型获得答复",
			HintEn: "Go on with pawl resume when the model answers again.", HintZh: "模型恢复后用 pawl resume 继续。",
		},
		"agent.model_name": {
			En: "%[1]s needs the name of a model, and %[2]q is none", Zh: "%[1]s 需要模型名称，%[2]q 不是有效的名称",
			HintEn: "Set the model in pawl's configuration.", HintZh: "请在 pawl 的配置中设置模型。",
		},
		"agent.no_home": {
			En: "The folder for %[1]s below .pawl/agents could not be made", Zh: "无法在 .pawl/agents 下为 %[1]s 建立目录",
			HintEn: "Check the disk and the permissions of .pawl.", HintZh: "请检查磁盘和 .pawl 的权限。",
		},
		"agent.no_host": {En: "An external agent was asked to work without a host", Zh: "外部智能体在没有宿主的情况下被要求工作"},
		"agent.no_version": {
			En: "%[1]s does not say its version (exit status %[2]d)", Zh: "%[1]s 没有报告版本（退出状态 %[2]d）",
			HintEn: "Run it by hand with --version to see why.", HintZh: "请手动运行 --version 查看原因。",
		},
		"agent.not_judged": {
			En: "%[1]s may not run commands by itself, because nobody is there to judge them", Zh: "%[1]s 不能自行运行命令，因为没有可作判断的一方",
			HintEn: "Let it run them through pawl's terminal.", HintZh: "请让它通过 pawl 的终端运行。",
		},
		"agent.not_understood": {
			En: "%[1]s asked for permission for something that pawl cannot judge", Zh: "%[1]s 请求的权限 pawl 无法判断",
			HintEn: "Give the step calls of its own, or choose another agent.", HintZh: "请在步骤中写明调用，或选择其他智能体。",
		},
		"agent.not_installed": {
			En: "%[1]s is not installed", Zh: "%[1]s 未安装",
			HintEn: "Install it with %[2]s, or choose another agent; plans with explicit calls work without any.", HintZh: "用 %[2]s 安装，或选择其他智能体；带明确调用的计划无需智能体。",
		},
		"agent.out_of_time": {
			En: "%[1]s did not finish in time", Zh: "%[1]s 未能按时完成",
			HintEn: "Go on with: pawl resume", HintZh: "用 pawl resume 继续",
		},
		"agent.protocol_version": {
			En: "%[1]s speaks version %[2]d of the Agent Client Protocol, and pawl version %[3]d", Zh: "%[1]s 使用 Agent Client Protocol 第 %[2]d 版，而 pawl 使用第 %[3]d 版",
			HintEn: "Install a version of it that pawl was tried with; pawl agent list names them.", HintZh: "请安装 pawl 测试过的版本；pawl agent list 会列出。",
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
			En: "The model behind %[1]s takes no more requests at the moment", Zh: "%[1]s 背后的模型暂不接受更多请求",
			HintEn: "Wait, then go on with: pawl resume", HintZh: "稍后用 pawl resume 继续",
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
