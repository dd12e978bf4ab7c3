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
		"agent.mends": {En: "the agent finds out why it fails and mends it", Zh: "由智能体查明失败原因并修复"},
	}
}}
