package message

// backlogText is the part of the catalogue for keys that begin with "backlog.".
var backlogText = part{load: func() Table {
	const (
		typeEn = "Nothing was imported; correct this place and import again"
		typeZh = "未导入任何内容；请修正此处后重新导入"
	)
	return Table{
		"backlog.malformed": {
			En: "%s is not imported (problems: %d)", Zh: "未导入 %s（问题数：%d）",
			HintEn: "Nothing was changed; correct what is listed and import again", HintZh: "没有任何改动；请修正所列问题后重新导入",
		},
		"backlog.at": {En: "%s", Zh: "%s"},
		"backlog.read": {
			En: "%s cannot be read to its end", Zh: "无法读完 %s",
			HintEn: "Nothing was imported; check the file and import again", HintZh: "未导入任何内容；请检查文件后重新导入",
		},

		"backlog.empty": {
			En: "the file is empty", Zh: "文件为空",
			HintEn: "An empty file is never taken for an empty backlog; check what wrote it", HintZh: "空文件不会被当作空的待办列表；请检查写出它的工具",
		},
		"backlog.cut_off": {
			En: "the file ends in the middle of a value", Zh: "文件在一个值的中间结束",
			HintEn: "It was cut off; take a whole copy", HintZh: "文件被截断；请使用完整的副本",
		},
		"backlog.open_text": {
			En: "a text does not end in its line", Zh: "字符串在本行没有结束",
			HintEn: `Close it with a quotation mark; a line break within a text is written \n`, HintZh: `用引号结束该字符串；字符串中的换行写作 \n`,
		},
		"backlog.json": {En: "not JSON: %s", Zh: "不是 JSON：%s", HintEn: typeEn, HintZh: typeZh},
		"backlog.not_object": {
			En: "an object was expected, and found: %s", Zh: "此处应为对象，实际为：%s",
			HintEn: `Each record is an object such as {"title": "…", "body": "…"}, in lines or in an array`, HintZh: `每条记录是一个对象，如 {"title": "…", "body": "…"}，逐行或放在数组中`,
		},
		"backlog.not_text": {
			En: "not text: a byte that is not UTF-8, or a NUL character", Zh: "不是文本：包含非 UTF-8 字节或 NUL 字符",
			HintEn: "Save the file as UTF-8", HintZh: "请将文件保存为 UTF-8",
		},
		"backlog.too_large": {
			En: "more than the %d bytes that are read here", Zh: "超过此处可读取的 %d 字节",
			HintEn: "Split the backlog into several files and import them one after the other", HintZh: "请把待办列表拆成多个文件，逐个导入",
		},
		"backlog.too_many": {
			En: "more than %d issues", Zh: "议题超过 %d 个",
			HintEn: "Split the backlog into several files and import them one after the other", HintZh: "请把待办列表拆成多个文件，逐个导入",
		},
		"backlog.format": {
			En: "%q is not a form of a backlog", Zh: "%q 不是待办列表的格式",
			HintEn: "The forms are: state, records, markdown", HintZh: "可用格式：state、records、markdown",
		},

		"backlog.twice": {En: "the field %s is given twice", Zh: "字段 %s 重复", HintEn: "Keep one of the two", HintZh: "只保留一个"},
		"backlog.type": {
			En: "the type %s is wanted, %s found", Zh: "类型应为 %s，实际为 %s", HintEn: typeEn, HintZh: typeZh,
		},
		"backlog.missing": {En: "the field %s is missing", Zh: "缺少字段 %s", HintEn: "Add %s", HintZh: "请补上 %s"},
		"backlog.value": {
			En: "%q is not a value of this field", Zh: "%q 不是该字段允许的值",
			HintEn: "pawl machine show board lists the values", HintZh: "pawl machine show board 会列出可用的值",
		},
		"backlog.status": {
			En: "%q is not a status of an issue", Zh: "%q 不是议题的状态",
			HintEn: "Use registered, planning, planned, executing, completed or failed", HintZh: "请使用 registered、planning、planned、executing、completed 或 failed",
		},
		"backlog.priority": {
			En: "%s is not a priority", Zh: "%s 不是优先级",
			HintEn: "Use a number from 1 (critical) to 5, P1 to P5, or critical, high, medium, low, lowest",
			HintZh: "请使用 1（最紧急）到 5 的整数、P1 到 P5，或 紧急、高、中、低、最低",
		},
		"backlog.feedback": {
			En: "%q is not a type of feedback", Zh: "%q 不是反馈的类型",
			HintEn: "Use failure, clarification or rejection", HintZh: "请使用 failure、clarification 或 rejection",
		},
		"backlog.no_title": {En: "the issue has no title", Zh: "该议题没有标题", HintEn: "Add a title", HintZh: "请补上 title"},
		"backlog.no_issue": {
			En: "there is no issue in the document", Zh: "文档中没有议题",
			HintEn: "Write each issue as a heading with text below it, or as a task: - [ ] title", HintZh: "每个议题写成带正文的标题，或任务项：- [ ] 标题",
		},
		"backlog.open_block": {
			En: "a block of code or a comment begins here and does not end", Zh: "此处开始的代码块或注释没有结束",
			HintEn: "Close it with ``` or -->, so that what follows is read", HintZh: "请用 ``` 或 --> 结束它，否则后面的内容不会被读取",
		},
		"backlog.id": {
			En: "%q cannot be the id of an issue", Zh: "%q 不能作为议题的 ID",
			HintEn: "Use at most 200 bytes without blanks", HintZh: "最多 200 字节，不含空白",
		},
		"backlog.number": {
			En: "%s is not the number of an issue", Zh: "%s 不是议题编号", HintEn: typeEn, HintZh: typeZh,
		},
		"backlog.repository": {
			En: "%s does not say which repository it belongs to", Zh: "%s 没有说明属于哪个仓库",
			HintEn: "Export the list with html_url or url, or import it as github:OWNER/REPO", HintZh: "导出时包含 html_url 或 url，或用 github:OWNER/REPO 导入",
		},
		"backlog.duplicate": {
			En: "the id %s stands twice; first in line %d", Zh: "ID %s 重复；首次出现在第 %d 行",
			HintEn: "Give each issue an id of its own", HintZh: "请为每个议题使用唯一 ID",
		},
		"backlog.body": {
			En: "the body has %d bytes, more than %d", Zh: "正文有 %d 字节，超过 %d",
			HintEn: "Keep long logs in files of the project and name them", HintZh: "请把长日志放进项目文件并注明路径",
		},
		"backlog.edges": {
			En: "the issue has %d dependencies, more than %d", Zh: "该议题有 %d 个依赖，超过 %d", HintEn: typeEn, HintZh: typeZh,
		},
		"backlog.no_solution": {
			En: "%s is %s without a solution", Zh: "%s 处于 %s，却没有方案",
			HintEn: "Name the solution in solution_id, or set the status to registered", HintZh: "请在 solution_id 中填写方案，或把状态改为 registered",
		},
		"backlog.other_solution": {
			En: "the item carries out %[1]s, and %[2]s is bound to %[3]q", Zh: "条目执行的是 %[1]s，而 %[2]s 绑定的是 %[3]q",
			HintEn: "Let both name the same solution", HintZh: "请使两处为同一方案",
		},
		"backlog.unknown": {
			En: "a dependency on an issue that is not there: %s", Zh: "依赖的议题不存在：%s",
			HintEn: "Add the issue or correct the reference", HintZh: "请添加该议题或修正引用",
		},
		"backlog.circle": {
			En: "dependencies in a circle: %s", Zh: "循环依赖：%s",
			HintEn: "Take one of these dependencies away", HintZh: "请去掉其中一个依赖",
		},

		"backlog.note_twice":       {En: "%s stands twice with the same text; kept once", Zh: "%s 出现两次且内容相同；只保留一个"},
		"backlog.note_title":       {En: "the title of %s is long; it stands in full at the beginning of the body", Zh: "%s 的标题过长；完整标题在正文开头"},
		"backlog.note_untitled":    {En: "%s has no title and is called by its id", Zh: "%s 没有标题，以 ID 代替"},
		"backlog.note_tags":        {En: "%[1]s has %[2]d tags too many; they are left out", Zh: "%[1]s 的标签多出 %[2]d 个，已略去"},
		"backlog.note_field":       {En: "the field %[1]s is not kept (%[2]d times)", Zh: "未保留字段 %[1]s（%[2]d 次）"},
		"backlog.note_time":        {En: "%[1]s is not a time and is left out: %[2]s", Zh: "%[1]s 不是有效时间，已略去：%[2]s"},
		"backlog.note_value":       {En: "%[1]s is left in the text, as this is not a value of it: %[2]s", Zh: "%[1]s 的值无法识别，保留在正文中：%[2]s"},
		"backlog.note_mark":        {En: "the mark [%[1]s] is read as open: %[2]s", Zh: "标记 [%[1]s] 按未完成处理：%[2]s"},
		"backlog.note_dropped":     {En: "given up and left out: %s", Zh: "已放弃，略去：%s"},
		"backlog.note_text":        {En: "lines outside of issues that are not kept: %d", Zh: "未保留的议题之外的行数：%d"},
		"backlog.note_pulls":       {En: "pull requests left out: %d", Zh: "已略去的拉取请求数：%d"},
		"backlog.note_linked":      {En: "issues with dependencies that GitHub keeps beside the list, which are not imported: %d", Zh: "另在 GitHub 上设置了依赖（不在列表中，未导入）的议题数：%d"},
		"backlog.note_none":        {En: "the list has no issue", Zh: "列表中没有议题"},
		"backlog.note_not_planned": {En: "%s was closed as not planned and is left out", Zh: "%s 已按“不计划”关闭，略去"},
		"backlog.note_pull":        {En: "%[1]s depends on the pull request %[2]s; that is not kept", Zh: "%[1]s 依赖拉取请求 %[2]s；该依赖未保留"},
		"backlog.note_unplanned":   {En: "%[1]s depends on %[2]s, which was closed as not planned; that is not kept", Zh: "%[1]s 依赖的 %[2]s 已按“不计划”关闭；该依赖未保留"},
		"backlog.note_foreign":     {En: "%[1]s depends on %[2]s in another repository; that is not kept", Zh: "%[1]s 依赖其他仓库的 %[2]s；该依赖未保留"},
		"backlog.note_unknown":     {En: "%[1]s depends on %[2]s, which is not there; that is not kept", Zh: "%[1]s 依赖的 %[2]s 不存在；该依赖未保留"},
		"backlog.note_circle":      {En: "dependencies in a circle, of which the last is not kept: %s", Zh: "循环依赖，未保留其中最后一个：%s"},
	}
}}
