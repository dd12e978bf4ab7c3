package message

// fileText is the part of the catalogue for keys that begin with "file.". Arguments reach it as text when they come out of a
// receipt, so its formats take anything.
var fileText = part{load: func() Table {
	return Table{
		"file.args_size": {
			En: "the arguments are larger than %v MiB", Zh: "参数超过 %v MiB",
			HintEn: "Write large content in several calls", HintZh: "请把大内容分成多次调用写入",
		},
		"file.args_text": {
			En: "the arguments are not valid UTF-8 text", Zh: "参数不是有效的 UTF-8 文本",
			HintEn: "Send valid UTF-8, and only whole surrogate pairs in \\u escapes", HintZh: "请发送有效的 UTF-8，\\u 转义中只能使用完整的代理对",
		},
		"file.args_json": {
			En: "the arguments are not one JSON value", Zh: "参数不是一个 JSON 值",
			HintEn: "Send exactly one JSON object", HintZh: "请只发送一个 JSON 对象",
		},
		"file.args_object": {
			En: "the arguments are not a JSON object", Zh: "参数不是 JSON 对象",
			HintEn: "Send the arguments as one object with named members", HintZh: "请把参数写成一个带命名成员的对象",
		},
		"file.args_unknown": {
			En: "unknown argument %q", Zh: "未知参数 %q",
			HintEn: "%[1]q does not exist; the arguments are: %[2]v", HintZh: "%[1]q 不存在；可用的参数是：%[2]v",
		},
		"file.args_twice": {
			En: "argument %q is given twice", Zh: "参数 %q 出现了两次",
			HintEn: "Give each argument once", HintZh: "每个参数只能给一次",
		},
		"file.args_missing": {
			En: "argument %q is missing", Zh: "缺少参数 %q",
			HintEn: "Add %[1]q; docs/tools.md lists the arguments of every tool", HintZh: "请补上 %[1]q；docs/tools.md 列出了每个工具的参数",
		},
		"file.args_type": {
			En: "argument %q is not of type %v", Zh: "参数 %q 的类型不是 %v",
			HintEn: "Give %[1]q as %[2]v, and leave it out rather than null", HintZh: "请按 %[2]v 类型给出 %[1]q；不需要时请省略，不要写 null",
		},
		"file.args_length": {
			En: "argument %q is not between %v and %v bytes long", Zh: "参数 %q 的长度不在 %v 到 %v 字节之间",
			HintEn: "Give a shorter or longer text", HintZh: "请调整文本的长度",
		},
		"file.args_range": {
			En: "argument %q is not between %v and %v", Zh: "参数 %q 不在 %v 到 %v 之间",
			HintEn: "Choose a number in this range", HintZh: "请选择这个范围内的数",
		},
		"file.args_enum": {
			En: "argument %q has none of its values", Zh: "参数 %q 的取值无效",
			HintEn: "The values of %[1]q are: %[2]v", HintZh: "%[1]q 的取值有：%[2]v",
		},
		"file.path_form": {
			En: "%q cannot be a path", Zh: "%q 不能作为路径",
			HintEn: "Name a file by a path relative to the workspace, at most 4096 bytes, without NUL", HintZh: "请使用相对于工作区的路径，最长 4096 字节，不含 NUL",
		},
		"file.path_escape": {
			En: "%v lies outside the workspace", Zh: "%v 在工作区之外",
			HintEn: "Tools reach files of the workspace only; use a path relative to it", HintZh: "工具只能访问工作区中的文件；请使用相对路径",
		},
		"file.is_link": {
			En: "%v leads through a symbolic link to %v", Zh: "%v 经过符号链接指向 %v",
			HintEn: "Tools follow no links; name %[2]v itself", HintZh: "工具不跟随链接；请直接使用 %[2]v",
		},
		"file.is_folder": {
			En: "%v is a folder", Zh: "%v 是目录",
			HintEn: "Name a file; list_dir shows what is in a folder", HintZh: "请指定文件；可用 list_dir 查看目录内容",
		},
		"file.not_regular": {
			En: "%v is no regular file", Zh: "%v 不是普通文件",
			HintEn: "Devices, pipes and sockets cannot be read or changed", HintZh: "不能读取或修改设备、管道和套接字",
		},
		"file.not_found": {
			En: "%v does not exist", Zh: "%v 不存在",
			HintEn: "Look for it with glob_file_search or list_dir", HintZh: "请用 glob_file_search 或 list_dir 查找",
		},
		"file.no_folder": {
			En: "the folder %v does not exist", Zh: "目录 %v 不存在",
			HintEn: "Leave create_dirs out to have it created", HintZh: "省略 create_dirs 即可自动创建",
		},
		"file.exists": {
			En: "%v exists already", Zh: "%v 已经存在",
			HintEn: "Read it and change it by an update, or delete it first", HintZh: "请先读取再更新它，或先删除它",
		},
		"file.parent_is_file": {
			En: "%v cannot be created because %v is a file", Zh: "无法创建 %v，因为 %v 是文件",
			HintEn: "Choose another path, or delete the file in a call of its own first", HintZh: "请换一个路径，或先用单独一次调用删除该文件",
		},
		"file.is_needed_folder": {
			En: "%v cannot be a file because the same patch puts files below it", Zh: "%v 不能是文件，因为同一补丁在其下放置了文件",
			HintEn: "Choose another path for one of them", HintZh: "请为其中之一换一个路径",
		},
		"file.too_large": {
			En: "%v is larger than %v MiB", Zh: "%v 超过 %v MiB",
			HintEn: "Change large files with a command", HintZh: "请用命令修改大文件",
		},
		"file.changed": {
			En: "changed by somebody else since: %v", Zh: "之后被他人修改：%v",
			HintEn: "Nothing was touched. Read the files again and decide whose content is to stay", HintZh: "未做任何改动。请重新读取这些文件，再决定保留谁的内容",
		},
		"file.half_done": {
			En: "the change failed, and %v could not be put back", Zh: "修改失败，且无法恢复 %v",
			HintEn: "Free space or permissions, then run pawl undo for this step or resume the run", HintZh: "请先解决空间或权限问题，再对该步骤执行 pawl undo，或继续运行",
		},
		"file.image_damaged": {
			En: "the record of %v does not give back its old content", Zh: "%v 的记录无法还原旧内容",
			HintEn: "Restore the file from a checkpoint with pawl rollback", HintZh: "请用 pawl rollback 从检查点恢复该文件",
		},
		"file.canceled": {
			En: "the call was canceled before it changed anything", Zh: "调用已取消，未做任何改动",
			HintEn: "Run pawl resume to go on", HintZh: "执行 pawl resume 继续",
		},
		"file.io": {
			En: "the file could not be read", Zh: "无法读取文件",
			HintEn: "Look at the cause and try again", HintZh: "请查看原因后重试",
		},
		"file.patch_empty": {
			En: "the patch changes no file", Zh: "补丁没有修改任何文件",
			HintEn: "Put at least one file section between the markers", HintZh: "请在标记之间写入至少一个文件段",
		},
		"file.patch_begin": {
			En: "line %v of the patch: '*** Begin Patch' is expected", Zh: "补丁第 %v 行：应为 '*** Begin Patch'",
			HintEn: "Begin with '*** Begin Patch', or send a unified diff", HintZh: "请以 '*** Begin Patch' 开头，或发送 unified diff",
		},
		"file.patch_end": {
			En: "line %v of the patch: '*** End Patch' is missing", Zh: "补丁第 %v 行：缺少 '*** End Patch'",
			HintEn: "The patch may have been cut off; send it again as a whole", HintZh: "补丁可能被截断；请完整重发",
		},
		"file.patch_after_end": {
			En: "line %v of the patch stands behind '*** End Patch'", Zh: "补丁第 %v 行在 '*** End Patch' 之后",
			HintEn: "Put all sections into one patch and nothing behind it", HintZh: "请把所有段落放进同一个补丁，其后不要有内容",
		},
		"file.patch_header": {
			En: "line %v of the patch is no header: %q", Zh: "补丁第 %v 行不是段落标题：%q",
			HintEn: "Headers are '*** Add File: PATH', '*** Delete File: PATH' and '*** Update File: PATH'; every line of an added file begins with '+'",
			HintZh: "标题为 '*** Add File: PATH'、'*** Delete File: PATH' 和 '*** Update File: PATH'；新增文件的每一行都以 '+' 开头",
		},
		"file.patch_path": {
			En: "line %v of the patch names no file", Zh: "补丁第 %v 行没有写文件名",
			HintEn: "Write the path behind the colon", HintZh: "请在冒号后写上路径",
		},
		"file.patch_line": {
			En: "line %v of the patch cannot stand there: %q", Zh: "补丁第 %v 行不应出现在此处：%q",
			HintEn: "A hunk begins with '@@', and each of its lines with ' ', '-' or '+'", HintZh: "每个块以 '@@' 开头，块内每行以 ' '、'-' 或 '+' 开头",
		},
		"file.patch_hunk_empty": {
			En: "line %v of the patch: the update of %v changes nothing", Zh: "补丁第 %v 行：对 %v 的更新没有内容",
			HintEn: "Add a hunk, or leave the section out", HintZh: "请添加修改块，或删去该段",
		},
		"file.patch_context": {
			En: "%v does not contain what line %v of the patch expects: %q", Zh: "%v 中找不到补丁第 %v 行期望的内容：%q",
			HintEn: "Read the file again and make the patch from what it says now. Hunks must stand in the order of the file",
			HintZh: "请重新读取文件，并按当前内容重做补丁。各块须按文件中的顺序排列",
		},
		"file.diff_none": {
			En: "the patch is neither a unified diff nor in the '*** Begin Patch' format", Zh: "补丁既不是 unified diff，也不是 '*** Begin Patch' 格式",
			HintEn: "Send one of the two formats; docs/tools.md shows both", HintZh: "请使用两种格式之一；docs/tools.md 有说明",
		},
		"file.diff_syntax": {
			En: "the diff is malformed", Zh: "diff 格式错误",
			HintEn: "Check headers, line numbers and counts, or use the '*** Begin Patch' format, which has none", HintZh: "请检查标题、行号和行数，或使用不含行号的 '*** Begin Patch' 格式",
		},
		"file.diff_stray": {
			En: "line %v of the diff lies outside every hunk", Zh: "diff 第 %v 行不属于任何块",
			HintEn: "Correct the line counts in the '@@' header before it", HintZh: "请更正其前面 '@@' 标题中的行数",
		},
		"file.diff_names": {
			En: "the diff renames %v to %v without saying so", Zh: "diff 未声明就把 %v 改名为 %v",
			HintEn: "Use 'rename from' and 'rename to' of git, or '*** Move to:'", HintZh: "请使用 git 的 'rename from' 和 'rename to'，或 '*** Move to:'",
		},
		"file.diff_binary": {
			En: "the diff changes %v as binary data", Zh: "diff 以二进制方式修改 %v",
			HintEn: "Only text can be patched; produce binary files with a command", HintZh: "只能对文本打补丁；请用命令生成二进制文件",
		},
		"file.diff_copy": {
			En: "the diff copies a file to %v", Zh: "diff 复制文件到 %v",
			HintEn: "Add the new file with its whole content instead", HintZh: "请改为新增文件并写出全部内容",
		},
		"file.diff_mode": {
			En: "the diff gives %v the mode %v", Zh: "diff 为 %v 设置模式 %v",
			HintEn: "Only regular files can be changed, not links and submodules", HintZh: "只能修改普通文件，不能修改链接和子模块",
		},
		"file.diff_conflict": {
			En: "the diff does not fit %v", Zh: "diff 与 %v 不匹配",
			HintEn: "Read the file again and make the diff from what it says now", HintZh: "请重新读取文件，并按当前内容重做 diff",
		},
	}
}}
