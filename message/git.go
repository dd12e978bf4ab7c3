package message

// gitText is the part of the catalogue for keys that begin with "git.".
var gitText = part{load: func() Table {
	return Table{
		"git.missing": {
			En: "git is not installed, or not on PATH", Zh: "未安装 git，或 PATH 中找不到它",
			HintEn: "Install git 2.38 or newer and run the command again", HintZh: "请安装 git 2.38 或更新版本后重试",
		},
		"git.too_old": {
			En: "this git cannot merge without a working tree: %v or newer is needed", Zh: "此 git 无法在没有工作树的情况下合并：需要 %v 或更新版本",
			HintEn: "Install a newer git, then: pawl resume", HintZh: "请安装更新版本的 git，然后运行 pawl resume",
		},
		"git.not_started": {
			En: "git %v could not be started", Zh: "无法启动 git %v",
			HintEn: "See: pawl doctor", HintZh: "请运行 pawl doctor 查看原因",
		},
		"git.no_branch": {
			En: "there is no branch %s", Zh: "没有分支 %s",
			HintEn: "See: git branch", HintZh: "请用 git branch 查看",
		},
		"git.no_folder": {
			En: "git %[1]v could not be started: the folder %[2]v is missing", Zh: "无法启动 git %[1]v：缺少目录 %[2]v",
			HintEn: "If the workspace was moved or removed meanwhile, run pawl resume where it is now", HintZh: "如果工作区已被移动或删除，请在它现在的位置运行 pawl resume",
		},
		"git.failed": {
			En: "git %v failed", Zh: "git %v 执行失败",
			HintEn: "What git said is above; check the repository with: git fsck", HintZh: "git 的输出见上文；可用 git fsck 检查仓库",
		},
		"git.timeout": {
			En: "git %v did not finish within %v", Zh: "git %v 未能在 %v 内完成",
			HintEn: "Look for a slow or full disk, then: pawl resume", HintZh: "请检查磁盘是否过慢或已满，然后运行 pawl resume",
		},
		"git.canceled": {
			En: "git %v was stopped", Zh: "git %v 已被中止",
			HintEn: "Continue with: pawl resume", HintZh: "用 pawl resume 继续",
		},
		"git.output_limit": {
			En: "git %v printed more than pawl reads", Zh: "git %v 的输出超过 pawl 的读取上限",
			HintEn: "Ignore generated files in .gitignore", HintZh: "请在 .gitignore 中忽略生成的文件",
		},
		"git.io": {
			En: "files could not be read or written", Zh: "读写文件失败",
			HintEn: "Check the permissions of the workspace and of .pawl", HintZh: "请检查工作区和 .pawl 的权限",
		},
		"git.disk_full": {
			En: "the disk is full", Zh: "磁盘已满",
			HintEn: "Free some space, then: pawl resume", HintZh: "请清理磁盘空间，然后运行 pawl resume",
		},
		"git.read_only": {
			En: "the file system is read-only", Zh: "文件系统是只读的",
			HintEn: "Make the workspace writable, then: pawl resume", HintZh: "请使工作区可写，然后运行 pawl resume",
		},
		"git.not_repository": {
			En: "%v is not the top folder of a git repository", Zh: "%v 不是 git 仓库的顶层目录",
			HintEn: "Run pawl in the repository's top folder, or make one with: git init", HintZh: "请在仓库顶层目录运行 pawl，或用 git init 创建仓库",
		},
		"git.bare": {
			En: "%v is a bare repository: it has no files to work on", Zh: "%v 是裸仓库，没有可供修改的文件",
			HintEn: "Work in a clone, or in a worktree made with: git worktree add", HintZh: "请在克隆中工作，或用 git worktree add 创建工作树",
		},
		"git.unborn": {
			En: "the branch %v has no commit yet", Zh: "分支 %v 还没有任何提交",
			HintEn: "Make a first one: git commit --allow-empty -m start", HintZh: "请先创建一个提交：git commit --allow-empty -m start",
		},
		"git.operation": {
			En: "a %v is in progress in the repository", Zh: "仓库中有未完成的 %v 操作",
			HintEn: "Finish it (git %[1]v --continue) or give it up (git %[1]v --abort; a bisect: git bisect reset)",
			HintZh: "请完成它（git %[1]v --continue）或放弃它（git %[1]v --abort；bisect 用 git bisect reset）",
		},
		"git.tree_held":  {En: "another pawl keeps this tree locked", Zh: "另一个 pawl 一直锁定着此目录树"},
		"git.index_held": {En: "another pawl keeps the index locked", Zh: "另一个 pawl 一直锁定着索引"},
		"git.index_locked": {
			En: "another git process holds %v, or has left it behind", Zh: "另一个 git 进程持有 %v，或将其遗留",
			HintEn: "Wait for it to end; if none is running, remove that file", HintZh: "请等待其结束；如果没有 git 在运行，请删除该文件",
		},
		"git.lock_lost": {
			En: "%v was removed while pawl was using it", Zh: "pawl 使用期间 %v 被删除",
			HintEn: "Check git status, then: pawl resume", HintZh: "请查看 git status，然后运行 pawl resume",
		},
		"git.busy": {
			En: "another pawl is working on this tree", Zh: "另一个 pawl 正在使用此目录树",
			HintEn: "Wait for it, or see: pawl status", HintZh: "请等待其结束，或运行 pawl status 查看",
		},
		"git.outside": {
			En: "%v may not be used as a tree: it is not below .pawl in %v", Zh: "%v 不能用作工作目录树：它不在 %v 的 .pawl 之下",
			HintEn: "See: pawl doctor", HintZh: "请运行 pawl doctor 查看",
		},
		"git.bad_id": {
			En: "%v is not the full id of a git object", Zh: "%v 不是完整的 git 对象标识",
			HintEn: "Give all hexadecimal digits", HintZh: "请给出全部十六进制位",
		},
		"git.bad_ref": {
			En: "%v is not a name that git allows", Zh: "%v 不是 git 允许的名称",
			HintEn: "The rules are in: git help check-ref-format", HintZh: "命名规则见 git help check-ref-format",
		},
		"git.ref_moved": {
			En: "%v changed at the same time", Zh: "%v 同时被他人更改",
			HintEn: "Look at it with git log, then: pawl resume", HintZh: "请用 git log 查看，然后运行 pawl resume",
		},
		"git.unmerged": {
			En: "a conflict of a merge is not resolved: %v", Zh: "合并冲突尚未解决：%v",
			HintEn: "Resolve it and git add the file, then give the command again", HintZh: "请解决冲突并 git add 该文件，然后重试",
		},
		"git.no_remote": {
			En: "there is no remote %v", Zh: "没有远程仓库 %v",
			HintEn: "Add one: git remote add origin URL", HintZh: "请添加：git remote add origin URL",
		},
		"git.remote_failed": {
			En: "the remote %v did not answer as it should", Zh: "远程仓库 %v 未正常应答",
			HintEn: "See whether git fetch works, then give the command again", HintZh: "请确认 git fetch 可用，然后重试",
		},
		"git.replay_many": {
			En: "more than %v commits would have to be put on top of others", Zh: "需要移动的提交超过 %v 个",
			HintEn: "Do it yourself: git pull --rebase", HintZh: "请自行执行 git pull --rebase",
		},
		"git.replay_merge": {
			En: "%v is a merge and cannot be put on top of other commits", Zh: "%v 是合并提交，无法移到其他提交之上",
			HintEn: "Bring the branch up to date yourself: git pull", HintZh: "请自行更新分支：git pull",
		},
		"git.replay_conflict": {
			En: "others changed the same lines: %v", Zh: "他人修改了相同的行：%v",
			HintEn: "Everything is as it was; resolve it with git pull --rebase", HintZh: "一切保持原状；请用 git pull --rebase 解决",
		},
		"git.no_commit": {
			En: "there is no commit %v", Zh: "提交 %v 不存在",
			HintEn: "See which there are: git log", HintZh: "请用 git log 查看现有提交",
		},
		"git.object_missing": {
			En: "the object %v is not in the repository", Zh: "仓库中缺少对象 %v",
			HintEn: "It was pruned, or the clone is partial; fetch everything with: git fetch --refetch",
			HintZh: "它可能已被清理，或这是部分克隆；请用 git fetch --refetch 获取全部对象",
		},
		"git.too_large": {
			En: "%v is larger than %v MiB and would be recorded whole", Zh: "%v 超过 %v MiB，将被完整记录",
			HintEn: "Ignore it in .gitignore, or move it out of the workspace", HintZh: "请在 .gitignore 中忽略它，或移出工作区",
		},
		"git.unreadable": {
			En: "%v cannot be read and so cannot be recorded", Zh: "无法读取 %v，因此无法记录",
			HintEn: "Make it readable, or ignore it in .gitignore", HintZh: "请使其可读，或在 .gitignore 中忽略它",
		},
		"git.unsafe_path": {
			En: "the recorded tree holds %v, which pawl never writes", Zh: "记录的目录树包含 %v，pawl 从不写入该路径",
			HintEn: "Look at the tree by hand; it was not made by pawl", HintZh: "请手动检查该目录树；它不是由 pawl 生成的",
		},
		"git.conflict": {
			En: "somebody else changed: %v", Zh: "以下文件已被他人更改：%v",
			HintEn: "Save or move these files and try again; nothing was changed", HintZh: "请保存或移走这些文件后重试；未做任何更改",
		},
		"git.changed_meanwhile": {
			En: "somebody else changed files while they were restored: %v", Zh: "恢复期间以下文件被他人更改：%v",
			HintEn: "Look at these files, then try again", HintZh: "请检查这些文件，然后重试",
		},
		"git.in_the_way": {
			En: "%v stands in the way", Zh: "%v 挡住了写入位置",
			HintEn: "Move it away and try again", HintZh: "请将其移走后重试",
		},
		"git.not_exact": {
			En: "%v does not hold what it should: wanted tree %v, found %v", Zh: "%v 的内容不符：应为 %v，实为 %v",
			HintEn: "Something writes into the folder; find out what and try again", HintZh: "有程序在写入该目录；请查明后重试",
		},
	}
}}

// pointText is the part of the catalogue for keys that begin with "point.".
var pointText = part{load: func() Table {
	return Table{
		"point.bad_name": {
			En: "%v cannot be the name of a checkpoint", Zh: "%v 不能用作检查点名称",
			HintEn: "Use letters, digits, - and _, as in chk-202602081200", HintZh: "请使用字母、数字、- 和 _，例如 chk-202602081200",
		},
		"point.no_name": {
			En: "there are too many checkpoints named %v", Zh: "名为 %v 的检查点过多",
			HintEn: "Wait a minute and try again", HintZh: "请等待一分钟后重试",
		},
		"point.nothing_to_undo": {
			En: "it is not known what %v changed", Zh: "不清楚 %v 更改了什么",
			HintEn: "Restore a checkpoint: pawl rollback", HintZh: "请恢复检查点：pawl rollback",
		},
		"point.later_step": {
			En: "what step %[1]s changed was changed again by a later step: %[2]s", Zh: "步骤 %[1]s 更改的内容被后面的步骤再次更改：%[2]s",
			HintEn: "Nothing was changed. Undo the later step first, or go back as a whole with pawl rollback", HintZh: "未做任何更改。请先撤销后面的步骤，或用 pawl rollback 整体回滚",
		},
	}
}}
