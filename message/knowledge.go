package message

// knowledgeText is the part of the catalogue for keys that begin with "knowledge.".
var knowledgeText = part{load: func() Table {
	return Table{
		"knowledge.at": {En: "%s", Zh: "%s"},

		"knowledge.skipped": {En: "📚 knowledge base: ⚠️ skipped (switched off)", Zh: "📚 知识库: ⚠️ 已跳过（开关关闭）"},
		"knowledge.suggest": {
			En: "📚 there is no knowledge base yet", Zh: "📚 尚无知识库",
			HintEn: "Make one with: pawl init", HintZh: "用 pawl init 创建知识库",
		},
		"knowledge.flagged": {
			En: "📚 the knowledge base is incomplete or damaged", Zh: "📚 知识库不完整或已损坏",
			HintEn: "See what is wrong with: pawl validate, and repair it with: pawl init", HintZh: "用 pawl validate 查看问题，用 pawl init 修复",
		},
		"knowledge.creates":  {En: "📚 the knowledge base is being created", Zh: "📚 正在创建知识库"},
		"knowledge.rebuilds": {En: "📚 the knowledge base is being rebuilt; what people wrote is kept", Zh: "📚 正在重建知识库，人工撰写的内容会保留"},
		"knowledge.init_off": {
			En: "the knowledge base is switched off (KB_CREATE_MODE 0)", Zh: "知识库开关已关闭（KB_CREATE_MODE 0）",
			HintEn: "Create it all the same with: pawl init --yes", HintZh: "如仍要创建：pawl init --yes",
		},
		"knowledge.bad_mode": {
			En: "%q is not a value of KB_CREATE_MODE", Zh: "%q 不是 KB_CREATE_MODE 的有效值",
			HintEn: "Write 0 (OFF), 1 (ON_DEMAND), 2 (ON_DEMAND_AUTO_FOR_CODING) or 3 (ALWAYS)",
			HintZh: "请写 0（OFF）、1（ON_DEMAND）、2（ON_DEMAND_AUTO_FOR_CODING）或 3（ALWAYS）",
		},
		"knowledge.no_rule":  {En: "no rule fits mode %s, condition %q, point %q", Zh: "没有适用的规则：模式 %s，状态 %q，阶段 %q"},
		"knowledge.no_batch": {En: "there is no batch %d; the last one is %d", Zh: "没有批次 %d，最后一批为 %d"},

		"knowledge.missing": {
			En: "the file is missing", Zh: "缺少该文件",
			HintEn: "Make it with: pawl init", HintZh: "用 pawl init 补齐",
		},
		"knowledge.unreadable": {
			En: "the file cannot be read", Zh: "无法读取该文件",
			HintEn: "Look at it, or make it anew with: pawl init", HintZh: "请检查该文件，或用 pawl init 重新生成",
		},
		"knowledge.too_large": {
			En: "%d bytes are more than the %d that are read", Zh: "共 %d 字节，超过可读取的 %d 字节",
			HintEn: "Move large contents into other files", HintZh: "把大段内容移到其他文件",
		},
		"knowledge.not_text": {
			En: "not text: a byte that is not UTF-8, or a NUL character", Zh: "不是文本：包含非 UTF-8 字节或 NUL 字符",
			HintEn: "Save the file as UTF-8", HintZh: "请将文件保存为 UTF-8",
		},
		"knowledge.not_ended": {
			En: "the section %q that begins here has no end", Zh: "从此处开始的 %q 区段没有结束标记",
			HintEn: "Add behind it the line: <!-- pawl:end %s -->", HintZh: "请在其后添加一行：<!-- pawl:end %s -->",
		},
		"knowledge.not_begun": {
			En: "the section %q ends here and begins nowhere", Zh: "%q 区段在此结束，却没有开始标记",
			HintEn: "Remove the line, or add above it: <!-- pawl:begin %s -->", HintZh: "请删除该行，或在其上方添加：<!-- pawl:begin %s -->",
		},
		"knowledge.twice": {
			En: "the section %q begins a second time", Zh: "%q 区段重复出现",
			HintEn: "Keep one of the two", HintZh: "请只保留其中一个",
		},
		"knowledge.block_open": {
			En: "a block of code is still open here; nothing can be added", Zh: "此处的代码块没有结束，无法追加内容",
			HintEn: "End the block with the sign that it begins with", HintZh: "请用与开头相同的标记结束代码块",
		},
		"knowledge.no_section": {
			En: "pawl's section %q is missing", Zh: "缺少 pawl 的 %q 区段",
			HintEn: "Add it with: pawl init", HintZh: "用 pawl init 补齐",
		},
		"knowledge.bad_number": {
			En: "%s: %q is not a number", Zh: "%s：%q 不是数字",
			HintEn: "Bring the section up to date with: pawl init", HintZh: "用 pawl init 更新该区段",
		},
		"knowledge.bad_time": {
			En: "%q is not a time", Zh: "%q 不是有效时间",
			HintEn: "A time has the form 2026-02-08 12:30, in UTC", HintZh: "时间格式为 2026-02-08 12:30（UTC）",
		},

		"knowledge.no_text": {
			En: "the entry says nothing", Zh: "变更记录没有内容",
			HintEn: "Say in a line what changed", HintZh: "请用一行说明变更内容",
		},
		"knowledge.bad_kind": {En: "%q is not a kind of entry", Zh: "%q 不是变更记录的类型"},
		"knowledge.bad_id":   {En: "%q cannot mark an entry", Zh: "%q 不能作为变更记录的标识"},

		"knowledge.no_module": {
			En: "the document of module %q is missing", Zh: "缺少模块 %q 的文档",
			HintEn: "Make it with: pawl init", HintZh: "用 pawl init 补齐",
		},
		"knowledge.unlisted": {
			En: "module %q is in the code and not in the index", Zh: "模块 %q 存在于代码中，但索引未列出",
			HintEn: "Bring the index up to date with: pawl init", HintZh: "用 pawl init 更新索引",
		},
		"knowledge.gone": {
			En: "module %q is not in the code any more", Zh: "代码中已没有模块 %q",
			HintEn: "Keep what is still worth knowing elsewhere, and remove the document", HintZh: "请将仍有价值的内容移到别处，然后删除该文档",
		},
		"knowledge.stale": {
			En: "the document of module %q differs from the code: %s", Zh: "模块 %q 的文档与代码不一致：%s",
			HintEn: "The code counts; bring the document up to date with: pawl init", HintZh: "以代码为准，用 pawl init 更新文档",
		},
		"knowledge.stale_fact": {
			En: "%s: the document says %q, the code %q", Zh: "%s：文档为 %q，代码为 %q",
			HintEn: "The code counts; bring the document up to date with: pawl init", HintZh: "以代码为准，用 pawl init 更新文档",
		},
		"knowledge.except_fresh": {En: "module %q differs from the code, because its package is not carried out yet", Zh: "模块 %q 与代码不一致，因为相应方案包尚未执行"},
		"knowledge.except_bug":   {En: "module %q differs from the code, and the code is wrong", Zh: "模块 %q 与代码不一致，属于代码错误"},

		"knowledge.upgrade_nothing": {
			En: "there is nothing to take over in %s", Zh: "%s 中没有可迁移的内容",
			HintEn: "Make a knowledge base with: pawl init", HintZh: "用 pawl init 创建知识库",
		},
		"knowledge.upgrade_many": {
			En: "%d files are more than the %d that are taken over at once", Zh: "共 %d 个文件，超过一次可迁移的 %d 个",
			HintEn: "Move old packages out of the folder first", HintZh: "请先将旧方案包移出该目录",
		},
		"knowledge.upgrade_names": {En: "%s and the names before it are all taken", Zh: "%s 及其之前的名称均已被占用", HintEn: "Remove old backups", HintZh: "请清理旧的备份"},
		"knowledge.upgrade_exists": {
			En: "%s is there already and stays", Zh: "%s 已存在，保持不变",
			HintEn: "Compare the two, and copy what is missing", HintZh: "请比较两者并补充缺少的内容",
		},
		"knowledge.upgrade_unknown": {
			En: "no document of a knowledge base; it stays where it is", Zh: "不属于知识库文档，留在原处",
			HintEn: "It is in the backup, too", HintZh: "备份中也有该文件",
		},
		"knowledge.upgrade_bad_path": {En: "not a path within the folder", Zh: "不是目录内的有效路径", HintEn: "Rename the file", HintZh: "请重命名该文件"},
		"knowledge.upgrade_package": {
			En: "a package of an older form, without proposal.md and tasks.md; it is kept, and cannot be carried out", Zh: "旧格式方案包，缺少 proposal.md 和 tasks.md；保留但不可执行",
			HintEn: "Make a new one from it with: pawl '~plan REQUIREMENT'", HintZh: "用 pawl '~plan 需求' 据此创建新方案包",
		},

		"knowledge.commit_nothing": {
			En: "there is nothing to commit", Zh: "没有可提交的变更",
			HintEn: "Change something first", HintZh: "请先修改文件",
		},
		"knowledge.commit_form": {
			En: "%q is not the first line of a commit message", Zh: "%q 不是规范的提交信息首行",
			HintEn: "Write it as: feat(scope): what changed", HintZh: "格式为：feat(范围): 变更内容",
		},
		"knowledge.commit_type": {
			En: "%q is not a type of commit", Zh: "%q 不是提交类型",
			HintEn: "The types are init, feat, fix, docs, style, refactor, perf, test, build, ci, chore and revert",
			HintZh: "类型只能是 init、feat、fix、docs、style、refactor、perf、test、build、ci、chore 或 revert",
		},
		"knowledge.commit_empty": {
			En: "the commit message says nothing", Zh: "提交信息没有内容",
			HintEn: "Say in at most 50 characters what changed; a bilingual message needs it in both languages",
			HintZh: "请用不超过 50 个字符说明变更内容；双语提交需要两种语言",
		},
		"knowledge.commit_long": {
			En: "the summary has %d characters, more than %d", Zh: "摘要有 %d 个字符，超过 %d 个",
			HintEn: "Say the most important thing, and the rest in the body", HintZh: "摘要只写要点，其余写入正文",
		},
		"knowledge.commit_scope": {
			En: "%q cannot be the scope of a commit", Zh: "%q 不能作为提交范围",
			HintEn: "Name it in a word of at most 30 letters, digits, dots, dashes or slashes", HintZh: "请用不超过 30 个字母、汉字、数字、点、短横线或斜杠",
		},
		"knowledge.commit_footer": {
			En: "%q is not a footer of a commit message", Zh: "%q 不是提交信息的脚注",
			HintEn: "Write it as: Refs: #12", HintZh: "格式为：Refs: #12",
		},
		"knowledge.commit_blocks": {
			En: "the two languages of the message differ in type, scope or the sign for breaking changes", Zh: "双语提交信息的类型、范围或破坏性标记不一致",
			HintEn: "Write the same in front of both summaries", HintZh: "请使两个首行的前缀相同",
		},
		"knowledge.commit_huge": {
			En: "the message has %d bytes, more than %d", Zh: "提交信息有 %d 字节，超过 %d 字节",
			HintEn: "Keep the body short", HintZh: "请精简正文",
		},
		"knowledge.commit_not_text": {
			En: "the message is no text", Zh: "提交信息不是文本",
			HintEn: "Write it in UTF-8", HintZh: "请使用 UTF-8",
		},
	}
}}
