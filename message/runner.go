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
