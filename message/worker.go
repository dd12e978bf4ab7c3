package message

// runnerText is the part of the catalogue for keys that begin with "runner.".
var runnerText = part{load: func() Table {
	return Table{
		"runner.no_driver": {
			En: "nothing here can do an effect of kind %s", Zh: "没有能够执行 %s 类操作的驱动",
			HintEn: reportEn, HintZh: reportZh,
		},
		"runner.driver_crashed": {
			En: "the driver for %[1]s crashed: %[2]v", Zh: "%[1]s 的驱动崩溃：%[2]v",
			HintEn: reportEn, HintZh: reportZh,
		},
		"runner.canceled": {
			En: "the work was canceled", Zh: "工作已取消",
			HintEn: "See where it stands with: pawl status", HintZh: "用 pawl status 查看状态",
		},
		"runner.driver_failed": {
			En: "an effect failed", Zh: "操作失败",
			HintEn: "Read what happened with: pawl audit log", HintZh: "用 pawl audit log 查看经过",
		},
		"runner.result_encoding": {
			En: "the result of an effect cannot be written as JSON", Zh: "操作结果无法写成 JSON",
			HintEn: reportEn, HintZh: reportZh,
		},
		"runner.result_missing": {
			En: "the result of an effect is missing", Zh: "缺少操作结果",
			HintEn: reportEn, HintZh: reportZh,
		},
		"runner.result_malformed": {
			En: "the result of an effect cannot be read", Zh: "操作结果无法读取",
			HintEn: reportEn, HintZh: reportZh,
		},
	}
}}

// scriptText is the part of the catalogue for keys that begin with "script.".
var scriptText = part{load: func() Table {
	return Table{
		"script.empty_requirement": {
			En: "the requirement is empty", Zh: "需求为空",
			HintEn: `Say what is to be done: pawl run "make the checks pass", or bring a plan: pawl run --plan FILE`,
			HintZh: `请说明要做什么：pawl run "让检查通过"，或提供计划文件：pawl run --plan 文件`,
		},
		"script.cannot_plan": {
			En:     "the embedded agent cannot plan %[1]q; it has no model and nothing was changed",
			Zh:     "内置智能体无法规划 %[1]q；它不使用模型，没有任何内容被修改",
			HintEn: "Go on with a plan file (pawl run --plan FILE), with a model, or with a coding agent that you have installed. By itself it can: make the checks pass, fix formatting, fix lint, tidy dependencies",
			HintZh: "可以这样继续：提供计划文件（pawl run --plan 文件）、配置模型，或使用已安装的编码智能体。它自身能做：让检查通过、修复格式、修复 lint、整理依赖",
		},
		"script.no_checks": {
			En:     "pawl found no way to check this project, so it could not tell whether the work was done",
			Zh:     "pawl 没有找到检查此项目的方法，因此无法判断任务是否完成",
			HintEn: "Name the commands in a plan file with verification mode custom: pawl run --plan FILE", HintZh: "请在计划文件中以 custom 验证模式写明命令：pawl run --plan 文件",
		},
		"script.no_fixer": {
			En:     "no program that could do this is installed for this project (%[1]s)",
			Zh:     "没有为此项目安装可以完成该任务的程序（%[1]s）",
			HintEn: "See what is red, and get a work order for an agent: pawl check",
			HintZh: "查看未通过项并生成交给智能体的工作单：pawl check",
		},
		"script.canceled": {
			En: "planning was stopped", Zh: "规划已被停止",
			HintEn: "Continue with: pawl resume", HintZh: "用 pawl resume 继续",
		},
		"script.out_of_time": {
			En: "planning ran out of time", Zh: "规划超时",
			HintEn: "Try again with: pawl resume", HintZh: "用 pawl resume 重试",
		},
		"script.foreign_effect": {
			En: "the embedded agent was asked for %[1]q, which is not its work", Zh: "内置智能体被要求执行 %[1]q，这不是它的工作",
			HintEn: "This is a mistake in pawl; report it with the output of: pawl doctor", HintZh: "这是 pawl 自身的错误，请附上 pawl doctor 的输出进行反馈",
		},
		"script.repair_format":       {En: "format the code with the project's formatters", Zh: "用项目自带的格式化工具格式化代码"},
		"script.repair_lint":         {En: "apply the fixes that the project's linters know", Zh: "应用项目 linter 已知的修复"},
		"script.repair_tidy":         {En: "bring the record of the dependencies in line with the code", Zh: "使依赖记录与代码保持一致"},
		"script.repair_machine":      {En: "the machine is at fault, and no change of the code can help", Zh: "问题出在机器环境，修改代码无法解决"},
		"script.repair_none":         {En: "no formatter, linter or tidier of the project mends what failed", Zh: "项目中没有能修复它的格式化工具、linter 或整理工具"},
		"script.repair_all_tried":    {En: "every fixer that fits has been tried on this failure", Zh: "所有适用的修复工具都已在此失败上尝试过"},
		"script.repair_tree_changed": {En: "a check changes the files that it judges, which no fixer can mend", Zh: "某项检查会修改它所评判的文件，修复工具无法解决"},
	}
}}
