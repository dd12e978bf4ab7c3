package message

// planText is the part of the catalogue for keys that begin with "plan.".
var planText = part{load: func() Table {
	return Table{
		"plan.malformed": {
			En: "%s is not valid (problems: %d)", Zh: "%s 无效（问题数：%d）",
			HintEn: "Correct it and check it with: pawl plan validate FILE", HintZh: "修正后用 pawl plan validate 文件 检查",
		},
		"plan.at": {En: "%s", Zh: "%s"},

		"plan.too_large": {
			En: "%d bytes are more than the %d that are read", Zh: "共 %d 字节，超过可读取的 %d 字节",
			HintEn: "Put large contents into files of the workspace and name them in the plan", HintZh: "把大段内容放进工作区的文件，在计划中引用其路径",
		},
		"plan.not_text": {
			En: "not text: a byte that is not UTF-8, or a NUL character", Zh: "不是文本：包含非 UTF-8 字节或 NUL 字符",
			HintEn: "Save the file as UTF-8", HintZh: "请将文件保存为 UTF-8",
		},
		"plan.empty": {
			En: "nothing is written here", Zh: "内容为空",
			HintEn: "A plan has at least a goal and steps; docs/schema/plan.schema.json describes it", HintZh: "计划至少要有 goal 和 steps；格式见 docs/schema/plan.schema.json",
		},
		"plan.syntax": {
			En: "neither JSON nor YAML: %s", Zh: "既不是 JSON 也不是 YAML：%s",
			HintEn: "Correct the syntax at this place", HintZh: "修正此处的语法",
		},
		"plan.second_document": {
			En: "a second document begins here", Zh: "此处开始了第二个文档",
			HintEn: "Keep one plan per file", HintZh: "每个文件只放一个计划",
		},
		"plan.too_deep": {
			En: "nested more than %d levels deep", Zh: "嵌套超过 %d 层",
			HintEn: "Use a flatter structure", HintZh: "请减少嵌套层数",
		},
		"plan.too_many_values": {
			En: "more than %d values, aliases counted with what they stand for", Zh: "值的数量超过 %d（别名按其展开后的内容计算）",
			HintEn: "Write a smaller plan without nested aliases", HintZh: "缩小计划，不要嵌套使用别名",
		},
		"plan.number": {
			En: "%s is not a number that JSON has, or too large", Zh: "%s 不是 JSON 支持的数字，或数值过大",
			HintEn: "Put it in quotes if text is meant", HintZh: "如果是文本，请加引号",
		},
		"plan.yaml_feature": {
			En: "%s has no equivalent in JSON", Zh: "%s 在 JSON 中没有对应的写法",
			HintEn: "Use plain mappings, lists, text, numbers, true and false", HintZh: "只使用普通的映射、列表、文本、数字以及 true 和 false",
		},
		"plan.key": {
			En: "the name %s is not text", Zh: "名称 %s 不是文本",
			HintEn: "Put the name in quotes", HintZh: "请给名称加引号",
		},

		"plan.unknown_field": {
			En: "there is no field %s", Zh: "没有字段 %s",
			HintEn: "The fields here are: %[2]s", HintZh: "此处可用的字段：%[2]s",
		},
		"plan.unknown_field_near": {
			En: "there is no field %s", Zh: "没有字段 %s",
			HintEn: "Did you mean %[2]s?", HintZh: "是否应为 %[2]s？",
		},
		"plan.duplicate_field": {
			En: "the field %s is given twice", Zh: "字段 %s 重复",
			HintEn: "Keep one of the two", HintZh: "只保留一个",
		},
		"plan.missing_field": {
			En: "the field %s is missing", Zh: "缺少字段 %s",
			HintEn: "Add %s", HintZh: "请补上 %s",
		},
		"plan.wrong_type": {
			En: "%s wanted, %s found", Zh: "应为 %s，实际为 %s",
			HintEn: "Write a value of the type %s; text that looks like a number needs quotes, and an empty field is left out",
			HintZh: "请写成 %s 类型；形如数字的文本要加引号，空字段请直接省略",
		},
		"plan.bad_value": {
			En: "%q is not one of: %s", Zh: "%q 不在允许的取值之中：%s",
			HintEn: "Use one of: %[2]s", HintZh: "请使用其中之一：%[2]s",
		},
		"plan.bad_time": {
			En: "not a time", Zh: "不是时间",
			HintEn: "Write 2026-01-31T09:30:00Z, or whole seconds or milliseconds since 1970", HintZh: "写成 2026-01-31T09:30:00Z，或 1970 年以来的整数秒或毫秒",
		},
		"plan.blank": {
			En: "nothing is said here", Zh: "内容为空",
			HintEn: "Say something, or leave the field out where it is optional", HintZh: "请填写内容；可选字段可以省略",
		},
		"plan.too_long": {
			En: "%d characters are more than the %d allowed", Zh: "共 %d 个字符，超过上限 %d",
			HintEn: "Shorten it to %[2]d characters", HintZh: "缩短到 %[2]d 个字符以内",
		},
		"plan.one_line": {
			En: "this takes one line only", Zh: "此处只能写一行",
			HintEn: "Remove the line breaks", HintZh: "去掉换行",
		},
		"plan.hidden_character": {
			En: "the invisible character %s is not allowed here", Zh: "此处不允许出现不可见字符 %s",
			HintEn: "Remove it: what nobody sees, nobody can approve", HintZh: "请删除：看不见的内容无法被批准",
		},
		"plan.bad_id": {
			En: "%q is not a name for a step", Zh: "%q 不能作为步骤的名称",
			HintEn: "Use letters, digits, '.', '_' and '-', 64 at most, with a letter or digit first", HintZh: "使用字母、数字、'.'、'_'、'-'，以字母或数字开头，最多 64 个字符",
		},
		"plan.reserved_id": {
			En: "the name %q is kept for the steps of repairs", Zh: "名称 %q 保留给修复步骤使用",
			HintEn: "Choose another step_id", HintZh: "请换一个 step_id",
		},
		"plan.bad_grant": {
			En: "%q names no place on the network", Zh: "%q 不是网络地址",
			HintEn: "Write the name of an ecosystem (%[2]s), or host:port such as proxy.example.com:443", HintZh: "写生态名称（%[2]s），或 host:port，例如 proxy.example.com:443",
		},
		"plan.grant_address": {
			En: "%q is an address, and only those of the loopback can be granted", Zh: "%q 是 IP 地址，只有回环地址可以授权",
			HintEn: "Name the host, or write a local port such as 127.0.0.1:11434", HintZh: "请写主机名，或写本机端口，例如 127.0.0.1:11434",
		},
		"plan.too_many_grants": {
			En: "there are more than %d network grants", Zh: "网络授权超过 %d 个",
			HintEn: "Name only what the steps need", HintZh: "只列出步骤需要的地址",
		},
		"plan.bad_tool_name": {
			En: "%q cannot be the name of a tool", Zh: "%q 不能作为工具名",
			HintEn: "Use the exact name of a tool, such as write_file", HintZh: "使用工具的准确名称，例如 write_file",
		},
		"plan.bad_arguments": {
			En: "the arguments are not a JSON object", Zh: "参数不是 JSON 对象",
			HintEn: "Write an object; {} stands for no arguments", HintZh: "请写成对象；没有参数时写 {}",
		},
		"plan.no_steps": {
			En: "the plan has no steps", Zh: "计划没有步骤",
			HintEn: "Add at least one step", HintZh: "至少添加一个步骤",
		},
		"plan.no_commands": {
			En: "mode custom needs commands", Zh: "custom 模式需要 commands",
			HintEn: "List at least one command, or choose the mode test", HintZh: "至少列出一条命令，或改用 test 模式",
		},
		"plan.needless_commands": {
			En: "with mode none no command is run", Zh: "none 模式不会运行任何命令",
			HintEn: "Remove the commands, or choose the mode custom", HintZh: "删除命令，或改用 custom 模式",
		},

		"plan.too_many_steps": {
			En: "more than %d steps", Zh: "步骤超过 %d 个",
			HintEn: "Split the work into several plans, or raise max_plan_steps (30 at most)", HintZh: "拆成多个计划，或调高 max_plan_steps（最多 30）",
		},
		"plan.too_many_calls": {
			En: "%d tool calls are more than the %d that a step may make", Zh: "%d 次工具调用超过每个步骤允许的 %d 次",
			HintEn: "Split the step", HintZh: "请拆分该步骤",
		},
		"plan.duplicate_step": {
			En: "the step %s is there already: %s", Zh: "步骤 %s 已经存在：%s",
			HintEn: "Give each step a step_id of its own", HintZh: "每个步骤要有各自的 step_id",
		},
		"plan.unknown_dependency": {
			En: "there is no step %s to depend on", Zh: "所依赖的步骤 %s 不存在",
			HintEn: "Name a step_id of this plan", HintZh: "请写本计划中的 step_id",
		},
		"plan.unknown_dependency_near": {
			En: "there is no step %s to depend on", Zh: "所依赖的步骤 %s 不存在",
			HintEn: "Did you mean %[2]s?", HintZh: "是否应为 %[2]s？",
		},
		"plan.self_dependency": {
			En: "the step %s depends on itself", Zh: "步骤 %s 依赖于自身",
			HintEn: "Remove the dependency", HintZh: "请删除该依赖",
		},
		"plan.cycle": {
			En: "the steps wait for each other: %s", Zh: "步骤互相等待：%s",
			HintEn: "Remove one of these dependencies", HintZh: "请删除其中一个依赖",
		},
		"plan.unknown_tool": {
			En: "there is no tool %s", Zh: "没有工具 %s",
			HintEn: "Use one of pawl's tools, such as read_file, write_file, apply_patch or run_terminal_cmd", HintZh: "请使用 pawl 的工具，例如 read_file、write_file、apply_patch、run_terminal_cmd",
		},
		"plan.unknown_tool_near": {
			En: "there is no tool %s", Zh: "没有工具 %s",
			HintEn: "Did you mean %[2]s?", HintZh: "是否应为 %[2]s？",
		},
		"plan.bad_schema": {
			En: "the schema of the tool %s cannot be used: %s", Zh: "工具 %s 的 schema 无法使用：%s",
			HintEn: "Correct the tool, or leave it out of the plan", HintZh: "请修正该工具，或不在计划中使用它",
		},
		"plan.arg_missing": {
			En: "the tool needs the argument %s", Zh: "该工具需要参数 %s",
			HintEn: "Add %s", HintZh: "请补上 %s",
		},
		"plan.arg_unknown": {
			En: "the tool has no argument %s", Zh: "该工具没有参数 %s",
			HintEn: "Remove %s", HintZh: "请删除 %s",
		},
		"plan.arg_rule": {
			En: "the schema of the tool is violated: %s %s", Zh: "违反该工具的 schema：%s %s",
			HintEn: "Change the argument so that the rule holds", HintZh: "请修改参数以满足该规则",
		},

		"plan.patch_empty": {
			En: "the patch changes nothing", Zh: "补丁没有任何改动",
			HintEn: "Give at least one of title, remove_steps, update_steps and add_steps", HintZh: "至少给出 title、remove_steps、update_steps、add_steps 之一",
		},
		"plan.unknown_step": {
			En: "there is no step %s", Zh: "没有步骤 %s",
			HintEn: "Name a step_id of the plan", HintZh: "请写计划中的 step_id",
		},
		"plan.unknown_step_near": {
			En: "there is no step %s", Zh: "没有步骤 %s",
			HintEn: "Did you mean %[2]s?", HintZh: "是否应为 %[2]s？",
		},
		"plan.done_step": {
			En: "the step %s is done and stays as it is", Zh: "步骤 %s 已完成，不能更改",
			HintEn: "Add a new step that does what is missing", HintZh: "请新增一个步骤来补足",
		},
		"plan.named_twice": {
			En: "the patch names the step %s twice; first in %s", Zh: "补丁两次提到步骤 %s；首次在 %s",
			HintEn: "Either remove or update it, once", HintZh: "只能移除或更新一次",
		},
		"plan.repair_size": {
			En: "repair %d cannot have %d steps", Zh: "第 %d 次修复不能有 %d 个步骤",
			HintEn: "A repair is numbered from 1 to 99 and has 1 to %[3]d steps", HintZh: "修复编号为 1 到 99，步骤数为 1 到 %[3]d",
		},
		"plan.repair_exists": {
			En: "the plan has the steps of repair %d already", Zh: "计划中已有第 %d 次修复的步骤",
			HintEn: "Look at the plan with: pawl plan show", HintZh: "用 pawl plan show 查看计划",
		},
		"plan.cannot_write": {
			En: "the plan cannot be written", Zh: "无法写出计划",
			HintEn: "Check it with: pawl plan validate FILE", HintZh: "用 pawl plan validate 文件 检查",
		},

		"plan.prd_stale": {
			En: "this document (hash %q) is not about the present version of the plan", Zh: "该文档（哈希 %q）不对应计划的当前版本",
			HintEn: "Open the present version with: pawl plan edit", HintZh: "用 pawl plan edit 打开当前版本",
		},
		"plan.prd_heading": {
			En: "the heading %q is not part of the document, or there twice", Zh: "标题 %q 不属于该文档，或出现了两次",
			HintEn: "Keep the headings as they were; notes belong into the goal or the constraints", HintZh: "保留原有标题；说明请写进目标或约束",
		},
		"plan.prd_label": {
			En: "there is no entry %q in this section", Zh: "本节没有条目 %q",
			HintEn: "Keep the labels as they were", HintZh: "保留原有的条目名",
		},
		"plan.prd_line": {
			En: "this line is not understood: %q", Zh: "无法理解这一行：%q",
			HintEn: "Put text of several lines into a fenced block, and remove what is not part of the plan", HintZh: "多行文本放进围栏代码块；删除不属于计划的内容",
		},
		"plan.prd_fence": {
			En: "this block is not closed", Zh: "该代码块没有结束",
			HintEn: "Add a line with the same row of backticks after it", HintZh: "在其后补一行同样的反引号",
		},
		"plan.prd_repeated": {
			En: "the entry %s is there twice", Zh: "条目 %s 重复",
			HintEn: "Keep one of the two", HintZh: "只保留一个",
		},
		"plan.prd_status": {
			En: "[%s] cannot be set for the step %s", Zh: "不能把步骤 %[2]s 设为 [%[1]s]",
			HintEn: "Use [ ] to carry the step out and [-] to skip it; only pawl marks steps as done", HintZh: "[ ] 表示执行，[-] 表示跳过；只有 pawl 能把步骤标为完成",
		},

		"plan.change_field":    {En: "%s changed", Zh: "修改了 %s"},
		"plan.change_step":     {En: "step %s: %s changed", Zh: "步骤 %s：修改了 %s"},
		"plan.change_added":    {En: "step %s added: %s", Zh: "新增步骤 %s：%s"},
		"plan.change_removed":  {En: "step %s removed", Zh: "移除步骤 %s"},
		"plan.change_skipped":  {En: "step %s will be skipped", Zh: "步骤 %s 将被跳过"},
		"plan.change_restored": {En: "step %s will be carried out again", Zh: "步骤 %s 恢复执行"},
		"plan.change_order":    {En: "order of the steps changed", Zh: "调整了步骤顺序"},
	}
}}
