package message

// verifyText is the part of the catalogue for keys that begin with "verify.".
var verifyText = part{load: func() Table {
	return Table{
		"verify.tree_unreadable": {
			En: "the folder %[1]s cannot be read", Zh: "无法读取文件夹 %[1]s",
			HintEn: "Check that it is there and that you may read it, then run the command again", HintZh: "请确认它存在且可读，然后重新运行该命令",
		},
		"verify.no_place": {
			En: "the work has no absolute path", Zh: "任务没有绝对路径",
			HintEn: "This is a mistake in pawl; report it with the output of: pawl doctor", HintZh: "这是 pawl 自身的错误，请附上 pawl doctor 的输出进行反馈",
		},
		"verify.cache_unusable": {
			En: "pawl cannot keep its caches below .pawl in %[1]s", Zh: "pawl 无法在 %[1]s 的 .pawl 下保存缓存",
			HintEn: "Free space, allow writing there, or remove a link or file that stands in the way of .pawl/cache", HintZh: "请释放空间、开放写权限，或删除挡住 .pawl/cache 的链接或文件",
		},
		"verify.nothing": {
			En: "there is no check to verify the work with", Zh: "没有可用来验证的检查",
			HintEn: "Name commands in the plan (verification: mode: custom), or set the mode to none to go without", HintZh: "请在计划中写明命令（verification: mode: custom），或将 mode 设为 none 以放弃验证",
		},
		"verify.no_gates": {
			En: "the task has no gate that could let it pass", Zh: "该任务没有任何可以通过的关卡",
			HintEn: "Configure at least one gate, for example doctor, then: pawl task retry", HintZh: "请至少配置一个关卡（例如 doctor），然后运行 pawl task retry",
		},
		"verify.unknown_gate": {
			En: "there is no gate %[1]q", Zh: "没有名为 %[1]q 的关卡",
			HintEn: "Use doctor, smoke or tests, or give the gate a command of its own", HintZh: "请使用 doctor、smoke 或 tests，或为该关卡指定命令",
		},
		"verify.gate_without_command": {
			En: "the gate %[1]q has no command", Zh: "关卡 %[1]q 没有命令",
			HintEn: "Configure a command for it (gates.%[1]s): pawl config", HintZh: "请为它配置一条命令（gates.%[1]s）：pawl config",
		},
		"verify.gate_without_tests": {
			En: "the gate tests found no check in this project", Zh: "关卡 tests 在此项目中没有找到任何检查",
			HintEn: "Give the gate a command, or add tests that pawl can detect (docs/verification.md)", HintZh: "请为该关卡指定命令，或添加 pawl 能够识别的测试（docs/verification.md）",
		},
		"verify.failed": {
			En: "checks failed: %[1]s", Zh: "检查未通过：%[1]s",
			HintEn: "See the output of the failed check with: pawl status", HintZh: "用 pawl status 查看失败检查的输出",
		},
		"verify.missing_program": {
			En: "%[1]s is not installed, and the check %[2]q needs it", Zh: "未安装 %[1]s，而检查 %[2]q 需要它",
			HintEn: "Install %[1]s or put it on PATH; then run it again, or go on with pawl fix where the session is BLOCKED",
			HintZh: "请安装 %[1]s 或将其加入 PATH；然后重新运行，若会话处于 BLOCKED，则用 pawl fix 继续",
		},
		"verify.environment": {
			En: "the machine cannot run the check %[1]q", Zh: "这台机器无法运行检查 %[1]q",
			HintEn: "Install what the output names, fetch the project's dependencies, or free space; then continue with: pawl fix", HintZh: "请安装输出中提到的内容、获取项目依赖或释放空间，然后用 pawl fix 继续",
		},
		"verify.tree_changed": {
			En: "the checks changed the files that they judge: %[1]s", Zh: "检查修改了它所评判的文件：%[1]s",
			HintEn: "Add what the commands write to .gitignore, or use commands that only check", HintZh: "请将命令写出的文件加入 .gitignore，或改用只检查不修改的命令",
		},
		"verify.out_of_time": {
			En: "the checks ran out of time", Zh: "检查超时",
			HintEn: "Allow more time in the configuration, or verify with quicker commands", HintZh: "请在配置中放宽时限，或使用更快的验证命令",
		},
		"verify.canceled": {
			En: "the checks were stopped", Zh: "检查已被停止",
			HintEn: "Run them again with: pawl resume", HintZh: "用 pawl resume 重新运行",
		},
	}
}}
