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
			HintZh: "用 pawl config set model.name NAME（以及 model.kind、model.base_url）指定；计划文件不需要模型：pawl run --plan FILE",
		},
		"agent.untested": {
			En: "%[1]s %[2]s is a version that pawl was not tried with", Zh: "pawl 未在 %[1]s %[2]s 版本上测试过",
			HintEn: "It may work; try it with: pawl agent check NAME", HintZh: "可能可以工作；用 pawl agent check NAME 试一试",
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
			HintZh: "请设置以 http:// 或 https:// 开头的地址：pawl config set model.base_url URL",
		},
		"agent.gateway_ca": {
			En: "no certificate authority can be read from %[1]s", Zh: "无法从 %[1]s 读取证书颁发机构",
			HintEn: "Name a PEM file: pawl config set model.ca_file FILE", HintZh: "请指定 PEM 文件：pawl config set model.ca_file FILE",
		},
		"agent.gateway_listener": {
			En: "the agent's way to its model broke off", Zh: "智能体通往模型的通道中断",
			HintEn: "Go on with: pawl resume", HintZh: "可继续执行：pawl resume",
		},
		"agent.gateway_unreachable": {
			En: "the model endpoint %[1]s cannot be reached", Zh: "无法连接模型端点 %[1]s",
			HintEn: "Check model.base_url, the network and the proxy, then go on with: pawl resume",
			HintZh: "检查 model.base_url、网络和代理，然后继续：pawl resume",
		},
		"agent.gateway_silent": {
			En: "the model endpoint %[1]s did not answer in time", Zh: "模型端点 %[1]s 未及时响应",
			HintEn: "Go on later with: pawl resume", HintZh: "稍后继续：pawl resume",
		},
		"agent.gateway_cut": {
			En: "the model endpoint %[1]s broke off its answer", Zh: "模型端点 %[1]s 的回答中断",
			HintEn: "Go on with: pawl resume", HintZh: "可继续执行：pawl resume",
		},
		"agent.gateway_key": {
			En: "the model endpoint %[1]s refuses the key", Zh: "模型端点 %[1]s 拒绝了密钥",
			HintEn: "Put a valid key where pawl config get model.key_env or model.key_file says, then go on with: pawl resume",
			HintZh: "在 pawl config get model.key_env 或 model.key_file 指定的位置放入有效密钥，然后继续：pawl resume",
		},
		"agent.gateway_rate": {
			En: "the model endpoint %[1]s takes no more calls at the moment", Zh: "模型端点 %[1]s 暂时不再接受调用",
			HintEn: "Go on later with: pawl resume", HintZh: "稍后继续：pawl resume",
		},
		"agent.gateway_status": {
			En: "the model endpoint %[2]s answered with an error (status %[1]s)", Zh: "模型端点 %[2]s 返回错误（状态 %[1]s）",
			HintEn: "Check the model's name with: pawl config get model.name", HintZh: "检查模型名称：pawl config get model.name",
		},
		"agent.gateway_body": {
			En: "the agent sent its model more than %[1]s MB at once", Zh: "智能体一次向模型发送的内容超过 %[1]s MB",
			HintEn: "Give the agent a smaller task", HintZh: "请给智能体更小的任务",
		},
		"agent.gateway_reply": {
			En: "the model's answer is longer than %[1]s MB", Zh: "模型的回答超过 %[1]s MB",
			HintEn: "Go on with: pawl resume", HintZh: "可继续执行：pawl resume",
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
