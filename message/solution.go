package message

// solutionText is the part of the catalogue for keys that begin with "solution.".
var solutionText = part{load: func() Table {
	return Table{
		"solution.at": {En: "%s", Zh: "%s"},
		"solution.broken": {
			En: "%s is not valid (problems: %d)", Zh: "%s 无效（问题数：%d）",
			HintEn: "Correct it and check it with: pawl validate", HintZh: "修正后用 pawl validate 检查",
		},

		"solution.more": {En: "and %d more like these", Zh: "另有 %d 处类似问题"},

		"solution.no_feature": {
			En: "no name can be made of %q: it has no letter, digit or Chinese character", Zh: "无法用 %q 生成名称：其中没有字母、数字或汉字",
			HintEn: "Say in a few words what the work is about", HintZh: "请用几个词说明要做什么",
		},
		"solution.clock": {
			En: "the clock says %s, which cannot be", Zh: "系统时钟显示 %s，这不可能是当前时间",
			HintEn: "Set the machine's clock, then try again", HintZh: "请校准本机时钟后重试",
		},
		"solution.names_taken": {
			En: "%s and the names before it are all taken (tried: %d)", Zh: "%s 及其之前的名称均已被占用（已尝试 %d 个）",
			HintEn: "Archive what is no longer needed with pawl clean, or try again in a minute", HintZh: "用 pawl clean 归档不再需要的方案包，或一分钟后重试",
		},
		"solution.bad_name": {
			En: "%q is not the name of a package", Zh: "%q 不是方案包名称",
			HintEn: "A name has the form YYYYMMDDHHMM_feature, as in 202602081200_login-page", HintZh: "名称格式为 YYYYMMDDHHMM_feature，例如 202602081200_login-page",
		},
		"solution.bad_minute": {
			En: "%q is not the name of a package: there is no minute %s", Zh: "%q 不是方案包名称：不存在时间 %s",
			HintEn: "A name begins with year, month, day, hour and minute, as in 202602081200_login-page", HintZh: "名称以年月日时分开头，例如 202602081200_login-page",
		},
		"solution.no_package": {
			En: "there is no package to carry out", Zh: "没有可执行的方案包",
			HintEn: "Make one with: pawl '~plan REQUIREMENT'", HintZh: "用 pawl '~plan 需求' 创建方案包",
		},
		"solution.many_packages": {
			En: "%d packages fit: %s", Zh: "有 %d 个方案包符合：%s",
			HintEn: "Name one of them", HintZh: "请指定其中一个",
		},
		"solution.no_such": {
			En: "there is no package %q; there are: %s", Zh: "没有方案包 %q；现有：%s",
			HintEn: "Name one of those", HintZh: "请从中指定一个",
		},
		"solution.no_such_near": {
			En: "there is no package %q", Zh: "没有方案包 %q",
			HintEn: "Did you mean %[2]s?", HintZh: "是否应为 %[2]s？",
		},

		"solution.missing": {
			En: "the file is missing", Zh: "缺少该文件",
			HintEn: "Write it, or make the package anew with: pawl '~plan REQUIREMENT'", HintZh: "请补上该文件，或用 pawl '~plan 需求' 重新创建方案包",
		},
		"solution.empty": {
			En: "nothing is written here", Zh: "内容为空",
			HintEn: "Write it, or make the package anew with: pawl '~plan REQUIREMENT'", HintZh: "请补充内容，或用 pawl '~plan 需求' 重新创建方案包",
		},
		"solution.too_large": {
			En: "%d bytes are more than the %d that are read", Zh: "共 %d 字节，超过可读取的 %d 字节",
			HintEn: "Move large contents into other files and name them here", HintZh: "把大段内容移到其他文件，在此引用其路径",
		},
		"solution.not_text": {
			En: "not text: a byte that is not UTF-8, or a NUL character", Zh: "不是文本：包含非 UTF-8 字节或 NUL 字符",
			HintEn: "Save the file as UTF-8", HintZh: "请将文件保存为 UTF-8",
		},
		"solution.not_ended": {
			En: "nothing ends the block that begins here; what follows cannot be seen", Zh: "从此处开始的代码块或注释没有结束，后面的内容无法读取",
			HintEn: "End it with the sign that it begins with, or with --> for a comment", HintZh: "请用与开头相同的标记结束；注释用 --> 结束",
		},
		"solution.concealed": {
			En: "the line holds invisible characters", Zh: "该行包含不可见字符",
			HintEn: "Remove them: what nobody sees, nobody can approve", HintZh: "请删除：看不见的内容无法被批准",
		},

		"solution.bad_symbol": {
			En: "[%s] is not the symbol of a task", Zh: "[%s] 不是任务状态符号",
			HintEn: "Use [ ] for pending, [√] for completed, [X] for failed, [-] for skipped, [?] for uncertain",
			HintZh: "请使用 [ ] 待执行、[√] 已完成、[X] 失败、[-] 跳过、[?] 待确认",
		},
		"solution.bad_brackets": {
			En: "%s is not the box of a task", Zh: "%s 不是任务的状态框",
			HintEn: "Write it in square brackets of ASCII, as [ ]", HintZh: "请使用半角方括号，例如 [ ]",
		},
		"solution.bad_bullet": {
			En: "a task does not begin with %s", Zh: "任务不能以 %s 开头",
			HintEn: "Begin the line with \"- \", and write the number behind the box: - [ ] 1.1 …", HintZh: "请以 \"- \" 开头，编号写在状态框之后：- [ ] 1.1 …",
		},
		"solution.no_text": {
			En: "the task does not say what to do", Zh: "任务没有内容",
			HintEn: "Say it behind the box, or remove the line", HintZh: "请在状态框后写明内容，或删除该行",
		},
		"solution.no_tasks": {
			En: "there is no task", Zh: "没有任务",
			HintEn: "Add at least one line of the form: - [ ] 1.1 what to do", HintZh: "请至少添加一行：- [ ] 1.1 任务内容",
		},
		"solution.too_many_tasks": {
			En: "%d tasks are more than the %d that are read", Zh: "共 %d 个任务，超过上限 %d",
			HintEn: "Split the work into several packages", HintZh: "请拆成多个方案包",
		},
		"solution.no_task": {
			En: "there is no task %s", Zh: "没有任务 %s",
			HintEn: "Look at the numbers in tasks.md", HintZh: "请查看 tasks.md 中的编号",
		},
		"solution.same_number": {
			En: "the number %s is that of line %d, too", Zh: "编号 %s 与第 %d 行重复",
			HintEn: "Give each task a number of its own", HintZh: "每个任务要有各自的编号",
		},
		"solution.bad_dependency": {
			En: "%q is not the number of a task", Zh: "%q 不是任务编号",
			HintEn: "Write the numbers of other tasks with commas between them, as 1.1, 1.2", HintZh: "请写其他任务的编号，用逗号分隔，例如 1.1, 1.2",
		},
		"solution.unknown_dependency": {
			En: "it depends on a task %s, which there is not", Zh: "依赖的任务 %s 不存在",
			HintEn: "Correct the number, or remove it", HintZh: "请修正或删除该编号",
		},
		"solution.circle": {
			En: "tasks depend on each other in a circle: %s", Zh: "任务循环依赖：%s",
			HintEn: "Remove one of these dependencies", HintZh: "请删除其中一个依赖",
		},
		"solution.read_as_done": {
			En: "[x] is read as completed; [X] would be failed", Zh: "[x] 按已完成读取；[X] 表示失败",
			HintEn: "Write [√] for a completed task", HintZh: "已完成的任务请写 [√]",
		},
		"solution.no_parent": {
			En: "the indented task has no task above it, and is read as one of its own", Zh: "缩进的任务没有上级任务，按独立任务读取",
			HintEn: "Remove the indentation, or indent it below its task", HintZh: "请取消缩进，或移到所属任务之下",
		},
		"solution.part_open": {
			En: "the task is completed, but its part in line %d is not", Zh: "任务已完成，但第 %d 行的子任务尚未完成",
			HintEn: "Complete or skip the part, or take the mark off the task", HintZh: "请完成或跳过该子任务，或取消任务的完成标记",
		},
		"solution.done_too_early": {
			En: "task %s is completed, but task %s, which it depends on, is not", Zh: "任务 %s 已完成，但它依赖的任务 %s 尚未完成",
			HintEn: "Look at both", HintZh: "请检查这两个任务",
		},
		"solution.bad_number": {
			En: "%q is not a number", Zh: "%q 不是数字",
			HintEn: "Write a whole number", HintZh: "请写整数",
		},
		"solution.head_claims": {
			En: "the head says %d of %d done, the list %d of %d", Zh: "状态栏写的是已完成 %d/%d，任务列表为 %d/%d",
			HintEn: "The list counts; correct the head", HintZh: "以任务列表为准，请修正状态栏",
		},
		"solution.bad_result": {
			En: "%q is not a result", Zh: "%q 不是有效的结果",
			HintEn: "The results are completed, partial, failed, skipped and rolled_back", HintZh: "结果只能是 completed、partial、failed、skipped 或 rolled_back",
		},
		"solution.bad_time": {
			En: "%q is not a time", Zh: "%q 不是时间",
			HintEn: "Write it as 2026-02-08 13:30, in UTC", HintZh: "请写成 2026-02-08 13:30（UTC）",
		},
		"solution.not_all_done": {
			En: "the package is said to be completed, and %d tasks are not", Zh: "方案包标为已完成，但有 %d 个任务尚未完成",
			HintEn: "Look at the tasks that are not marked [√]", HintZh: "请检查未标记 [√] 的任务",
		},
		"solution.no_remark": {
			En: "nothing says why task %s was not carried out", Zh: "任务 %s 没有说明未完成的原因",
			HintEn: "Add a line below it: > Note: the reason", HintZh: "请在其下添加一行：> 备注: 原因",
		},
		"solution.all_done": {
			En: "every task is completed or skipped", Zh: "所有任务均已完成或跳过",
			HintEn: "Move the package into the archive with: pawl clean", HintZh: "用 pawl clean 将方案包迁移至 archive/",
		},
		"solution.some_failed": {
			En: "tasks that failed: %d", Zh: "失败的任务数：%d",
			HintEn: "Read the remarks below them", HintZh: "请查看其下的备注",
		},

		"solution.no_section": {
			En: "the section %[2]q (%[1]s) is missing", Zh: "缺少章节 %[1]s（%[2]q）",
			HintEn: "Add it as a heading: ## %[2]s, or in Chinese ## %[1]s", HintZh: "请添加标题：## %[1]s（英文为 ## %[2]s）",
		},
		"solution.no_type": {
			En: "the metadata do not say the type of the package; it is read as implementation", Zh: "元信息中没有方案类型，按 implementation 读取",
			HintEn: "Add to the metadata: Package type: implementation", HintZh: "请在元信息中添加：方案类型: implementation",
		},
		"solution.bad_type": {
			En: "%q is not a type of package", Zh: "%q 不是方案类型",
			HintEn: "Write implementation, or overview for a document that is only to be read", HintZh: "请写 implementation；仅供阅读的文档写 overview",
		},
		"solution.bad_priority": {
			En: "%q is not a priority", Zh: "%q 不是优先级",
			HintEn: "The priorities are P0, P1, P2 and P3", HintZh: "优先级只能是 P0、P1、P2 或 P3",
		},
		"solution.no_state": {
			En: "the metadata of %s name no state", Zh: "%s 的元信息中没有状态",
			HintEn: "Add to the metadata a line: Status: …", HintZh: "请在元信息中添加一行：状态: …",
		},
		"solution.same_decision": {
			En: "the decision %s is made in line %d, too", Zh: "决策 %s 与第 %d 行重复",
			HintEn: "Give each decision an id of its own", HintZh: "每个决策要有各自的编号",
		},
		"solution.no_verdict": {
			En: "nothing says what became of the decision %s", Zh: "决策 %s 没有状态",
			HintEn: "Add below it: - Status: ✅adopted, ❌abandoned or ⏸shelved", HintZh: "请在其下添加：- 状态: ✅采纳、❌废弃 或 ⏸搁置",
		},

		"solution.not_json": {
			En: "not the JSON of a report: %s", Zh: "不是报告的 JSON：%s",
			HintEn: "The fields are script, success, completed, failed_at, error_message, pending and context", HintZh: "字段为 script、success、completed、failed_at、error_message、pending 和 context",
		},
		"solution.more_than_report": {
			En: "there is more behind the report", Zh: "报告之后还有其他内容",
			HintEn: "Keep one report per file", HintZh: "每个文件只放一份报告",
		},
		"solution.report_incomplete": {
			En: "fields of the report are missing: %s", Zh: "报告缺少字段：%s",
			HintEn: "Write all of them", HintZh: "请补全这些字段",
		},
		"solution.report_no_script": {
			En: "the report does not name its script", Zh: "报告没有写明脚本名称",
			HintEn: "Name it in the field script", HintZh: "请填写 script 字段",
		},
		"solution.report_no_step": {
			En: "a step of the report has no name", Zh: "报告中有步骤没有名称",
			HintEn: "Name every step in completed and pending", HintZh: "completed 和 pending 中的每个步骤都要有名称",
		},
		"solution.report_success": {
			En: "the report says success, and that something failed or is pending", Zh: "报告称执行成功，却又记录了失败或待执行的步骤",
			HintEn: "Write success: false, or leave failed_at, error_message and pending empty", HintZh: "请写 success: false，或清空 failed_at、error_message 和 pending",
		},
		"solution.report_failure": {
			En: "the report says failure, and not of what", Zh: "报告称执行失败，却没有写明失败的步骤或原因",
			HintEn: "Fill in failed_at or error_message", HintZh: "请填写 failed_at 或 error_message",
		},
	}
}}
