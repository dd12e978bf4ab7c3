package message

// archiveText is the part of the catalogue for keys that begin with "archive.".
var archiveText = part{load: func() Table {
	return Table{
		"archive.no_place": {
			En: "the work has no absolute path", Zh: "任务没有绝对路径",
			HintEn: "This is a mistake in pawl; report it with the output of: pawl doctor", HintZh: "这是 pawl 自身的错误，请附上 pawl doctor 的输出进行反馈",
		},
		"archive.path_refused": {
			En: "pawl does not write %[1]q as a projection", Zh: "pawl 不会将 %[1]q 作为投影文件写入",
			HintEn: "Remove the link or special file in its place below .pawl, then write the files again with: pawl export", HintZh: "请删除 .pawl 下占用该位置的链接或特殊文件，然后用 pawl export 重新写入",
		},
		"archive.too_large": {
			En: "%[1]q would be larger than 64 MiB", Zh: "%[1]q 将超过 64 MiB",
			HintEn: "Move the old file away, then write it again with: pawl export", HintZh: "请移走旧文件，然后用 pawl export 重新写入",
		},
		"archive.names_taken": {
			En: "every name for %[1]q is taken", Zh: "%[1]q 的所有可用名称均已被占用",
			HintEn: "Remove old versions (_v2, _v3, …) below .pawl, then: pawl export", HintZh: "请删除 .pawl 下的旧版本（_v2、_v3…），然后运行 pawl export",
		},
		"archive.write_failed": {
			En: "%[1]q could not be written", Zh: "无法写入 %[1]q",
			HintEn: "Free space or allow writing below .pawl; nothing is lost, write the files again with: pawl export", HintZh: "请释放空间或开放 .pawl 的写权限；没有丢失任何内容，用 pawl export 重新写入即可",
		},
		"archive.canceled": {
			En: "writing the archive was stopped", Zh: "归档写入已被停止",
			HintEn: "Continue with: pawl resume", HintZh: "用 pawl resume 继续",
		},
	}
}}

// landText is the part of the catalogue for keys that begin with "land.". The entries of land.kept_… and land.in_place_…
// are reasons; the command that goes with a reason is shown beside it.
var landText = part{load: func() Table {
	return Table{
		"land.tree_changed": {
			En: "the tree is no longer the one that was verified: expected %v, found %v", Zh: "目录树已不是通过验证的那一个：应为 %v，实为 %v",
			HintEn: "Verify again: pawl resume", HintZh: "请重新验证：pawl resume",
		},
		"land.base_changed": {
			En: "the worktree is not at the commit that the work started from: expected %v, found %v", Zh: "工作树不在工作开始时的提交上：应为 %v，实为 %v",
			HintEn: "Somebody moved it by hand; bring it back with git checkout, then: pawl resume", HintZh: "有人手动移动了它；请用 git checkout 移回，然后运行 pawl resume",
		},
		"land.half_done": {
			En:     "the branch %v has the result, but the files of the working tree could not be brought after it",
			Zh:     "分支 %v 已包含结果，但工作树中的文件未能全部更新",
			HintEn: "Remove the cause and run: pawl resume", HintZh: "请排除原因后运行 pawl resume",
		},
		"land.journal": {
			En: "the note about the landing in %v cannot be read or written", Zh: "无法读写合入记录 %v",
			HintEn: "Check the disk and the permissions of .pawl, then: pawl resume", HintZh: "请检查磁盘和 .pawl 的权限，然后运行 pawl resume",
		},
		"land.bad_id":  {En: "%v is not the id of an effect", Zh: "%v 不是有效的操作标识", HintEn: "See: pawl doctor", HintZh: "请运行 pawl doctor 查看"},
		"land.no_name": {En: "there is no name for the branch that keeps the result", Zh: "没有用于保存结果的分支名", HintEn: "See: pawl doctor", HintZh: "请运行 pawl doctor 查看"},
		"land.no_start": {
			En: "it is not known what the work started from, so nothing can be told from the user's own changes", Zh: "不清楚工作的起点，因此无法区分用户自己的更改",
			HintEn: "Compare and copy the files by hand", HintZh: "请手动比较并复制文件",
		},
		"land.keep_failed": {
			En: "the result could not be kept on a branch like %v", Zh: "无法将结果保存到 %v 这样的分支",
			HintEn: "Look for branches in the way with git branch --list, then: pawl resume", HintZh: "请用 git branch --list 查找冲突的分支，然后运行 pawl resume",
		},
		"land.no_history": {
			En: "without git there is no commit to take back", Zh: "没有 git，无法撤销提交",
			HintEn: "Restore a checkpoint: pawl rollback", HintZh: "请恢复检查点：pawl rollback",
		},
		"land.revert_absent": {
			En: "the commit %v is not on the branch %v", Zh: "提交 %v 不在分支 %v 上",
			HintEn: "It may have been taken back or rebased; see: git log", HintZh: "它可能已被撤销或变基；请用 git log 查看",
		},
		"land.revert_shape": {
			En: "the commit %v is a merge or a first commit and cannot be taken back", Zh: "提交 %v 是合并提交或首个提交，无法撤销",
			HintEn: "Take it back by hand: git revert -m 1", HintZh: "请手动撤销：git revert -m 1",
		},
		"land.revert_conflict": {
			En: "later commits changed the same lines in: %v", Zh: "之后的提交更改了相同的内容：%v",
			HintEn: "Take it back by hand: git revert; nothing was changed", HintZh: "请用 git revert 手动撤销；未做任何更改",
		},

		"land.kept_detached":  {En: "no branch was checked out", Zh: "当前没有检出任何分支", HintEn: "Check out the branch that is to have it, then merge", HintZh: "请检出目标分支后再合并"},
		"land.moved":          {En: "the branch %[1]s got other commits meanwhile", Zh: "分支 %[1]s 期间有了其他提交", HintEn: "pawl brings the work onto them and verifies it again", HintZh: "pawl 会把更改移到其上并重新验证"},
		"land.kept_moved":     {En: "the branch got other commits meanwhile", Zh: "期间该分支有了其他提交", HintEn: "Merge when you have looked at both", HintZh: "请查看两边的更改后再合并"},
		"land.kept_gone":      {En: "the branch does not exist any more", Zh: "该分支已不存在", HintEn: "Make it again from the kept one", HintZh: "请从保存的分支重新创建"},
		"land.kept_elsewhere": {En: "the branch is checked out in another working tree", Zh: "该分支在另一个工作树中检出", HintEn: "Merge there", HintZh: "请在那里合并"},
		"land.kept_operation": {En: "a merge, rebase or the like is in progress", Zh: "有未完成的合并、变基等操作", HintEn: "Finish it or give it up, then merge", HintZh: "请完成或放弃它，然后合并"},
		"land.kept_locked":    {En: "another git process holds the index, or has left its lock behind", Zh: "另一个 git 进程正持有索引锁，或将其遗留", HintEn: "Wait for it, or remove .git/index.lock when none is running, then merge", HintZh: "请等待其结束；若没有 git 在运行，请删除 .git/index.lock，然后合并"},
		"land.kept_dirty":     {En: "tracked files have changes that are not committed", Zh: "已跟踪的文件有未提交的更改", HintEn: "Commit or stash them, then merge", HintZh: "请提交或贮藏这些更改，然后合并"},
		"land.kept_untracked": {En: "a file that is not tracked stands where a new one belongs", Zh: "未跟踪的文件占据了新文件的位置", HintEn: "Move it away, then merge", HintZh: "请将其移走，然后合并"},
		"land.kept_sparse":    {En: "changed files are left out of the working tree, or marked as assumed unchanged", Zh: "被更改的文件不在稀疏检出范围内，或被标记为假定未更改", HintEn: "Merge with your own git", HintZh: "请用你自己的 git 合并"},
		"land.kept_converted": {En: "changed files go through a filter or a conversion of line ends, which pawl does not run", Zh: "被更改的文件需要经过过滤器或换行转换，pawl 不会执行它们", HintEn: "Merge with your own git", HintZh: "请用你自己的 git 合并"},

		"land.blocked_dirty":     {En: "tracked files of your working tree have changes that are not committed: %s", Zh: "工作目录中已跟踪的文件有未提交的更改：%s", HintEn: "Commit or stash them, then: pawl fix", HintZh: "请提交或贮藏这些更改，然后运行 pawl fix"},
		"land.blocked_untracked": {En: "files that are not tracked stand where new ones belong: %s", Zh: "未跟踪的文件占据了新文件的位置：%s", HintEn: "Move them away, then: pawl fix", HintZh: "请将其移走，然后运行 pawl fix"},
		"land.blocked_locked":    {En: "another git process holds the index of your working tree", Zh: "另一个 git 进程正持有工作目录的索引锁", HintEn: "Wait for it to end, or remove the lock file that it has left behind, then: pawl fix", HintZh: "请等待其结束，或删除其遗留的锁文件，然后运行 pawl fix"},
		"land.blocked_operation": {En: "git is in the middle of something else in your working tree: %s", Zh: "工作目录中有未完成的 git 操作：%s", HintEn: "Finish it or give it up, then: pawl fix", HintZh: "请完成或放弃它，然后运行 pawl fix"},
		"land.blocked_elsewhere": {En: "the branch %[1]s is checked out in another working tree: %[2]s", Zh: "分支 %[1]s 已在另一个工作树中检出：%[2]s", HintEn: "Check out another branch there, then: pawl fix", HintZh: "请在那里检出其他分支，然后运行 pawl fix"},
		"land.branch_gone":       {En: "the branch %s that the work is for is gone: it was deleted or renamed", Zh: "工作所针对的分支 %s 已不存在：它被删除或重命名", HintEn: "Make it again (git branch NAME COMMIT) or choose another (pawl issue edit ISSUE --branch NAME), then: pawl issue retry ISSUE", HintZh: "重新建立该分支（git branch 名称 提交），或选择其他分支（pawl issue edit ISSUE --branch 名称），然后运行 pawl issue retry ISSUE"},
		"land.blocked_gone":      {En: "the branch %s is gone: it was deleted or renamed", Zh: "分支 %s 已不存在：它被删除或重命名", HintEn: "Make it again (git branch NAME COMMIT), then: pawl fix. For another branch: pawl skip, then pawl issue edit ISSUE --branch NAME and pawl issue retry ISSUE", HintZh: "重新建立该分支（git branch 名称 提交），然后运行 pawl fix。要改用其他分支：先 pawl skip，再 pawl issue edit ISSUE --branch 名称 和 pawl issue retry ISSUE"},

		"land.in_place_dirty":     {En: "there were changes of your own at the start", Zh: "开始时就有你自己的更改", HintEn: "Commit what you want to keep", HintZh: "请自行提交需要保留的内容"},
		"land.in_place_detached":  {En: "no branch was checked out", Zh: "当前没有检出任何分支", HintEn: "Commit the changes yourself", HintZh: "请自行提交更改"},
		"land.in_place_moved":     {En: "the branch got other commits meanwhile", Zh: "期间该分支有了其他提交", HintEn: "Commit the changes yourself", HintZh: "请自行提交更改"},
		"land.in_place_operation": {En: "a merge, rebase or the like is in progress", Zh: "有未完成的合并、变基等操作", HintEn: "Finish it, then commit the changes yourself", HintZh: "请先完成它，再自行提交更改"},
		"land.in_place_locked":    {En: "another git process holds the index, or has left its lock behind", Zh: "另一个 git 进程正持有索引锁，或将其遗留", HintEn: "Commit the changes yourself when it has ended", HintZh: "请在其结束后自行提交更改"},
		"land.in_place_converted": {En: "changed files go through a filter or a conversion of line ends, which pawl does not run", Zh: "被更改的文件需要经过过滤器或换行转换，pawl 不会执行它们", HintEn: "Commit the changes with your own git", HintZh: "请用你自己的 git 提交更改"},
		"land.in_place_folder":    {En: "there is no commit to build on", Zh: "没有可以作为基础的提交", HintEn: "The changes are in your files", HintZh: "更改已在你的文件中"},
	}
}}

// searchText is the part of the catalogue for keys that begin with "search.".
var searchText = part{load: func() Table {
	return Table{
		"search.not_found": {
			En: "%v does not exist", Zh: "%v 不存在",
			HintEn: "Begin at the workspace with list_dir", HintZh: "请用 list_dir 从工作区开始查看",
		},
		"search.not_folder": {
			En: "%v is no folder", Zh: "%v 不是目录",
			HintEn: "Name a folder; read_file shows a file", HintZh: "请指定目录；查看文件请用 read_file",
		},
		"search.is_link": {
			En: "%v leads through a symbolic link to %v", Zh: "%v 经过符号链接指向 %v",
			HintEn: "Tools follow no links; search %[2]v itself", HintZh: "工具不跟随链接；请直接搜索 %[2]v",
		},
		"search.bad_glob": {
			En: "%q is no pattern for paths", Zh: "%q 不是有效的路径模式",
			HintEn: "Close every bracket and brace, and use ** and { at most six times each", HintZh: "请闭合所有方括号和花括号；** 和 { 各最多使用六次",
		},
		"search.bad_pattern": {
			En: "%q is no regular expression", Zh: "%q 不是有效的正则表达式",
			HintEn: "Use RE2 syntax; escape ( ) [ ] { } . * + ? | ^ $ \\ that are meant literally", HintZh: "请使用 RE2 语法；要按字面匹配的 ( ) [ ] { } . * + ? | ^ $ \\ 须转义",
		},
		"search.canceled": {
			En: "the search was canceled", Zh: "搜索已取消",
			HintEn: "Run pawl resume to go on", HintZh: "执行 pawl resume 继续",
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
		"context.no_pack": {
			En: "no context could be built from the workspace, so the agent has to look for itself", Zh: "无法从工作区构建上下文，智能体须自行查找",
			HintEn: "pawl doctor says what is wrong with the workspace", HintZh: "pawl doctor 会说明工作区的问题",
		},
		"context.too_many": {
			En: "the workspace is so large that some of its files were left out of the context", Zh: "工作区过大，部分文件未纳入上下文",
			HintEn: "Name data and build output in .gitignore", HintZh: "请在 .gitignore 中写明数据和构建产物",
		},
	}
}}

// shellText is the part of the catalogue for keys that begin with "shell.".
var shellText = part{load: func() Table {
	return Table{
		"shell.background": {
			En: "commands cannot stay in the background", Zh: "命令不能留在后台运行",
			HintEn: "Leave is_background out; start what a check needs and end it in the same command", HintZh: "请省略 is_background；需要的服务请在同一条命令中启动并结束",
		},
		"shell.empty": {
			En: "the command is empty", Zh: "命令为空",
			HintEn: "Give a command for bash", HintZh: "请给出一条 bash 命令",
		},
		"shell.no_network": {
			En: "the command asks for the network and was granted no place to connect to", Zh: "命令要求网络，但没有获得任何可连接的地址",
			HintEn: "Name the places in the plan under network; nothing was run", HintZh: "请在计划的 network 中列出地址；命令没有运行",
		},
		"shell.nul": {
			En: "the command contains a NUL character", Zh: "命令中含有 NUL 字符",
			HintEn: "Remove it; nothing was run", HintZh: "请将其删除；命令没有运行",
		},
		"shell.canceled": {
			En: "the command was canceled", Zh: "命令已取消",
			HintEn: "Run pawl resume to go on", HintZh: "执行 pawl resume 继续",
		},
		"shell.timeout": {
			En: "the command was ended after %v", Zh: "命令在 %v 后被终止",
			HintEn: "Make it faster, split it, or give a larger timeout_ms (at most one hour)", HintZh: "请加快或拆分命令，或增大 timeout_ms（最长一小时）",
		},
		"shell.signal": {
			En: "the command was ended by %v", Zh: "命令被 %v 终止",
			HintEn: "Look at the end of its output; SIGKILL often means that memory ran out", HintZh: "请查看输出的末尾；SIGKILL 通常表示内存不足",
		},
		"shell.exit": {
			En: "the command ended with exit status %v", Zh: "命令以退出码 %v 结束",
			HintEn: "Look at the end of its output", HintZh: "请查看输出的末尾",
		},
		"shell.program": {
			En: "%v cannot be run", Zh: "无法运行 %v",
			HintEn: "Install %[1]v or correct its name and permissions, then run pawl fix", HintZh: "请安装 %[1]v，或更正其名称和权限，然后执行 pawl fix",
		},
		"shell.disk_full": {
			En: "the command found no space left on the disk", Zh: "命令运行时磁盘空间不足",
			HintEn: "Free space, then run pawl fix", HintZh: "请释放空间，然后执行 pawl fix",
		},
		"shell.no_snapshot": {
			En: "the tree cannot be recorded before the command", Zh: "无法在命令前记录文件树",
			HintEn: "Report this as a defect of pawl", HintZh: "请将此作为 pawl 的缺陷报告",
		},
		"shell.no_record": {
			En: "it is not recorded what the command changed, so it cannot be undone by itself", Zh: "没有记录该命令的改动，无法单独撤销",
			HintEn: "Go back to a checkpoint with pawl rollback", HintZh: "请用 pawl rollback 回到检查点",
		},
	}
}}

// verifyText is the part of the catalogue for keys that begin with "verify.".
var verifyText = part{load: func() Table {
	return Table{
		"verify.tree_unreadable": {
			En: "the folder %[1]s cannot be read", Zh: "无法读取目录 %[1]s",
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
		"verify.compiling_std": {
			En: "the first run here compiles the standard library of Go, once for all workspaces …", Zh: "首次运行：正在编译 Go 标准库，所有工作区共用……",
		},
		"verify.nothing": {
			En: "there is no check to verify the work with", Zh: "没有可用来验证的检查",
			HintEn: "Name commands in the plan (verification: mode: custom), or set the mode to none to go without", HintZh: "请在计划中写明命令（verification: mode: custom），或将 mode 设为 none 以放弃验证",
		},
		"verify.no_gates": {
			En: "the task has no gate that could let it pass", Zh: "该任务没有任何可以通过的门禁",
			HintEn: "Configure at least one gate, for example doctor, then: pawl task retry", HintZh: "请至少配置一个门禁（例如 doctor），然后运行 pawl task retry",
		},
		"verify.unknown_gate": {
			En: "there is no gate %[1]q", Zh: "没有名为 %[1]q 的门禁",
			HintEn: "Use doctor, smoke or tests, or give the gate a command of its own", HintZh: "请使用 doctor、smoke 或 tests，或为该门禁指定命令",
		},
		"verify.gate_without_command": {
			En: "the gate %[1]q has no command", Zh: "门禁 %[1]q 没有命令",
			HintEn: "Configure a command for it (gates.%[1]s): pawl config", HintZh: "请为它配置一条命令（gates.%[1]s）：pawl config",
		},
		"verify.gate_without_tests": {
			En: "the gate tests found no check in this project", Zh: "门禁 tests 在此项目中没有找到任何检查",
			HintEn: "Give the gate a command, or add tests that pawl can detect (docs/verification.md)", HintZh: "请为该门禁指定命令，或添加 pawl 能够识别的测试（docs/verification.md）",
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
		"verify.dependencies": {
			En: "the dependencies of the project in %[1]s cannot be looked at", Zh: "无法查看 %[1]s 中项目的依赖",
			HintEn: "See the cause; pawl doctor looks at the repository", HintZh: "请查看原因；可用 pawl doctor 检查仓库",
		},
		"verify.lacks": {
			En: "the check %[1]q has no %[2]s: the dependencies of the project are not there, or belong to another lock file", Zh: "检查 %[1]q 缺少 %[2]s：项目的依赖不存在，或属于另一个锁文件",
			HintEn: "Fetch them with: pawl prepare, or install them in your own tree as the project does; then continue with: pawl fix", HintZh: "请用 pawl prepare 获取依赖，或按项目的方式在你自己的目录中安装，然后用 pawl fix 继续",
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

var prepareText = part{load: func() Table {
	return Table{
		"prepare.changed": {
			En: "%[1]s changed since it was asked what to fetch", Zh: "询问要获取的内容之后，%[1]s 已更改",
			HintEn: "Ask again: pawl prepare", HintZh: "请重新运行 pawl prepare",
		},
		"prepare.no_tool": {
			En: "%[1]s is not installed, and %[2]s needs it", Zh: "%[1]s 未安装，而 %[2]s 需要它",
			HintEn: "Install it, then: pawl prepare", HintZh: "请安装后运行 pawl prepare",
		},
		"prepare.unknown": {
			En: "pawl knows no tool that fills %[1]s from %[2]s", Zh: "pawl 不知道用什么工具根据 %[2]s 填充 %[1]s",
			HintEn: "Fill it yourself in your own tree; worktrees are shown what is there", HintZh: "请在你自己的目录中填充它；工作树会看到其中的内容",
		},
		"prepare.store": {
			En: "pawl cannot keep dependencies in %[1]s", Zh: "pawl 无法在 %[1]s 中保存依赖",
			HintEn: "Free space, allow writing there, or remove a link or file that stands in the way of .pawl/cache/deps", HintZh: "请释放空间、开放写权限，或删除挡住 .pawl/cache/deps 的链接或文件",
		},
		"prepare.rewritten": {
			En: "%[1]s wanted to change %[2]s, so what it fetched is not what the file says", Zh: "%[1]s 要更改 %[2]s，所获取的内容与该文件不符",
			HintEn: "Bring the lock file up to date in your own tree, commit it, then: pawl prepare", HintZh: "请在你自己的目录中更新锁文件并提交，然后运行 pawl prepare",
		},
		"prepare.nothing": {
			En: "%[1]s ended well and left no dependencies", Zh: "%[1]s 正常结束，但没有留下任何依赖",
			HintEn: "If the project keeps them elsewhere, fill that folder yourself and name it: pawl config set dependencies FOLDER", HintZh: "如果项目将依赖保存在别处，请自行填充该目录并指定：pawl config set dependencies 目录",
		},
		"prepare.canceled": {
			En: "fetching the dependencies was canceled; nothing half done is left", Zh: "依赖获取已取消，没有留下未完成的内容",
			HintEn: "Begin again: pawl prepare", HintZh: "重新开始：pawl prepare",
		},
		"prepare.timeout": {
			En: "%[1]s was not done after %[2]s", Zh: "%[1]s 在 %[2]s 后仍未完成",
			HintEn: "See whether the registry answers, then: pawl prepare", HintZh: "请检查软件源是否有响应，然后运行 pawl prepare",
		},
		"prepare.disk": {
			En: "the disk is full: %[1]s could not write its packages", Zh: "磁盘已满：%[1]s 无法写入软件包",
			HintEn: "Free space, then: pawl prepare; what is kept lies in .pawl/cache/deps and may be deleted", HintZh: "请释放空间后运行 pawl prepare；已保存的内容在 .pawl/cache/deps，可以删除",
		},
		"prepare.elsewhere": {
			En: "%[1]s wants to connect to %[2]s, which are no registries of your settings", Zh: "%[1]s 要连接 %[2]s，它们不是你设置中的软件源",
			HintEn: "Where you trust them, allow each: pawl prepare --host HOST", HintZh: "如果信任它们，请逐个允许：pawl prepare --host 主机",
		},
		"prepare.login": {
			En: "%[1]s asks for a login, and pawl does not pass on credentials of private registries", Zh: "%[1]s 要求登录，而 pawl 不会传递私有软件源的凭据",
			HintEn: "Install the dependencies in your own tree with your own tools; worktrees are shown what is there", HintZh: "请用你自己的工具在你自己的目录中安装依赖；工作树会看到其中的内容",
		},
		"prepare.mismatch": {
			En: "%[1]s does not fit the manifest", Zh: "%[1]s 与清单不符",
			HintEn: "Bring the lock file up to date in your own tree, commit it, then: pawl prepare", HintZh: "请在你自己的目录中更新锁文件并提交，然后运行 pawl prepare",
		},
		"prepare.no_answer": {
			En: "the registry does not answer: %[1]s", Zh: "软件源没有响应：%[1]s",
			HintEn: "See to the network, or name another registry in your own settings (.npmrc, pip.conf, GOPROXY); then: pawl prepare", HintZh: "请检查网络，或在你自己的设置（.npmrc、pip.conf、GOPROXY）中指定其他软件源，然后运行 pawl prepare",
		},
		"prepare.builds": {
			En: "%[1]s found a package that would have to be built, which runs the program of whoever made it", Zh: "%[1]s 发现有软件包需要构建，而构建会运行其作者的程序",
			HintEn: "Where you trust it, let packages run programs: pawl prepare --scripts", HintZh: "如果信任它，可允许软件包运行程序：pawl prepare --scripts",
		},
		"prepare.failed": {
			En: "%[1]s ended with exit status %[2]d", Zh: "%[1]s 以退出码 %[2]d 结束",
			HintEn: "See its output, mend the cause, then: pawl prepare", HintZh: "请查看其输出并排除原因，然后运行 pawl prepare",
		},
	}
}}
