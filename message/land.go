package message

// landText is the part of the catalogue for keys that begin with "land.". The entries of land.kept_… and land.in_place_…
// are reasons; the command that goes with a reason is shown beside it.
var landText = part{load: func() Table {
	return Table{
		"land.tree_changed": {
			En: "the tree is no longer the one that was verified: expected %v, found %v", Zh: "目录树已不是通过验证的那一个：应为 %v，实为 %v",
			HintEn: "Verify again: pawl resume", HintZh: "请重新验证：pawl resume",
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
		"land.kept_moved":     {En: "the branch got other commits meanwhile", Zh: "期间该分支有了其他提交", HintEn: "Merge when you have looked at both", HintZh: "请查看两边的更改后再合并"},
		"land.kept_gone":      {En: "the branch does not exist any more", Zh: "该分支已不存在", HintEn: "Make it again from the kept one", HintZh: "请从保存的分支重新创建"},
		"land.kept_elsewhere": {En: "the branch is checked out in another working tree", Zh: "该分支在另一个工作树中检出", HintEn: "Merge there", HintZh: "请在那里合并"},
		"land.kept_operation": {En: "a merge, rebase or the like is in progress", Zh: "有未完成的合并、变基等操作", HintEn: "Finish it or give it up, then merge", HintZh: "请完成或放弃它，然后合并"},
		"land.kept_locked":    {En: "another git process holds the index, or has left its lock behind", Zh: "另一个 git 进程正持有索引锁，或将其遗留", HintEn: "Wait for it, or remove .git/index.lock when none is running, then merge", HintZh: "请等待其结束；若没有 git 在运行，请删除 .git/index.lock，然后合并"},
		"land.kept_dirty":     {En: "tracked files have changes that are not committed", Zh: "已跟踪的文件有未提交的更改", HintEn: "Commit or stash them, then merge", HintZh: "请提交或贮藏这些更改，然后合并"},
		"land.kept_untracked": {En: "a file that is not tracked stands where a new one belongs", Zh: "未跟踪的文件占据了新文件的位置", HintEn: "Move it away, then merge", HintZh: "请将其移走，然后合并"},
		"land.kept_sparse":    {En: "changed files are left out of the working tree, or marked as assumed unchanged", Zh: "被更改的文件不在稀疏检出范围内，或被标记为假定未更改", HintEn: "Merge with your own git", HintZh: "请用你自己的 git 合并"},
		"land.kept_converted": {En: "changed files go through a filter or a conversion of line ends, which pawl does not run", Zh: "被更改的文件需要经过过滤器或换行转换，pawl 不会执行它们", HintEn: "Merge with your own git", HintZh: "请用你自己的 git 合并"},

		"land.in_place_dirty":     {En: "there were changes of your own at the start", Zh: "开始时就有你自己的更改", HintEn: "Commit what you want to keep", HintZh: "请自行提交需要保留的内容"},
		"land.in_place_detached":  {En: "no branch was checked out", Zh: "当前没有检出任何分支", HintEn: "Commit the changes yourself", HintZh: "请自行提交更改"},
		"land.in_place_moved":     {En: "the branch got other commits meanwhile", Zh: "期间该分支有了其他提交", HintEn: "Commit the changes yourself", HintZh: "请自行提交更改"},
		"land.in_place_operation": {En: "a merge, rebase or the like is in progress", Zh: "有未完成的合并、变基等操作", HintEn: "Finish it, then commit the changes yourself", HintZh: "请先完成它，再自行提交更改"},
		"land.in_place_locked":    {En: "another git process holds the index, or has left its lock behind", Zh: "另一个 git 进程正持有索引锁，或将其遗留", HintEn: "Commit the changes yourself when it has ended", HintZh: "请在其结束后自行提交更改"},
		"land.in_place_converted": {En: "changed files go through a filter or a conversion of line ends, which pawl does not run", Zh: "被更改的文件需要经过过滤器或换行转换，pawl 不会执行它们", HintEn: "Commit the changes with your own git", HintZh: "请用你自己的 git 提交更改"},
		"land.in_place_folder":    {En: "there is no commit to build on", Zh: "没有可以作为基础的提交", HintEn: "The changes are in your files", HintZh: "更改已在你的文件中"},
	}
}}
