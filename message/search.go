package message

// searchText is the part of the catalogue for keys that begin with "search.".
var searchText = part{load: func() Table {
	return Table{
		"search.not_found": {
			En: "%v does not exist", Zh: "%v 不存在",
			HintEn: "Begin at the workspace with list_dir.", HintZh: "请用 list_dir 从工作区开始查看。",
		},
		"search.not_folder": {
			En: "%v is no folder", Zh: "%v 不是文件夹",
			HintEn: "Name a folder; read_file shows a file.", HintZh: "请指定文件夹；查看文件请用 read_file。",
		},
		"search.is_link": {
			En: "%v leads through a symbolic link to %v", Zh: "%v 经过符号链接指向 %v",
			HintEn: "Tools follow no links; search %[2]v itself.", HintZh: "工具不跟随链接；请直接搜索 %[2]v。",
		},
		"search.bad_glob": {
			En: "%q is no pattern for paths", Zh: "%q 不是有效的路径模式",
			HintEn: "Close every bracket and brace, and use ** and { at most six times each.", HintZh: "请闭合所有方括号和花括号；** 和 { 各最多使用六次。",
		},
		"search.bad_pattern": {
			En: "%q is no regular expression", Zh: "%q 不是有效的正则表达式",
			HintEn: "Use RE2 syntax; escape ( ) [ ] { } . * + ? | ^ $ \\ that are meant literally.", HintZh: "请使用 RE2 语法；要按字面匹配的 ( ) [ ] { } . * + ? | ^ $ \\ 须转义。",
		},
		"search.canceled": {
			En: "the search was canceled", Zh: "搜索已取消",
			HintEn: "Run `pawl resume` to go on.", HintZh: "执行 `pawl resume` 继续。",
		},
	}
}}

// contextText is the part of the catalogue for keys that begin with "context.".
var contextText = part{load: func() Table {
	return Table{
		"context.no_budget": {
			En: "a context of %[1]d tokens cannot be built", Zh: "无法构建 %[1]d 个 token 的上下文",
			HintEn: "Allow at least one token for it in the configuration", HintZh: "请在配置中为它留出至少一个 token",
		},
		"context.canceled": {
			En: "building the context was stopped", Zh: "上下文构建已被停止",
			HintEn: "Go on with: pawl resume", HintZh: "用 pawl resume 继续",
		},
		"context.no_tags": {
			En: "declarations of languages other than Go were guessed from their layout", Zh: "除 Go 以外各语言的声明是按排版推断的",
			HintEn: "Install universal-ctags to have them parsed", HintZh: "安装 universal-ctags 后即可精确解析",
		},
		"context.no_semantic": {
			En: "the semantic index could not be used; words alone decided what is shown", Zh: "语义索引不可用，仅按词语决定展示内容",
			HintEn: "Check that its service is running, or take it out of the configuration", HintZh: "请确认其服务正在运行，或将其从配置中移除",
		},
		"context.no_cache": {
			En: "what was learned of the workspace could not be kept, so the next context takes longer", Zh: "无法保存对工作区的分析结果，下次构建上下文会更慢",
			HintEn: "Free space, or allow writing in .pawl/cache/context", HintZh: "请释放空间，或开放 .pawl/cache/context 的写权限",
		},
		"context.too_many": {
			En: "the workspace is so large that some of its files were left out of the context", Zh: "工作区过大，部分文件未纳入上下文",
			HintEn: "Name data and build output in .gitignore", HintZh: "请在 .gitignore 中写明数据和构建产物",
		},
	}
}}
