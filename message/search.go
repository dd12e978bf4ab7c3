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
