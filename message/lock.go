package message

// lockText is the part of the catalogue for keys that begin with "lock.".
var lockText = part{load: func() Table {
	return Table{
		"lock.io": {
			En: "%s cannot be locked", Zh: "无法锁定 %s",
			HintEn: "See whether the folder is there and can be written, and: pawl doctor", HintZh: "请检查目录是否存在且可写，并运行 pawl doctor",
		},
		"lock.running": {
			En: "%[1]s is locked by process %[2]d (%[3]s), since %[4]s", Zh: "%[1]s 被进程 %[2]d（%[3]s）锁定，自 %[4]s 起",
			HintEn: "Wait until it is done; if it hangs, end it with: kill %[2]d", HintZh: "请等待其完成；若它无响应，请用以下命令结束：kill %[2]d",
		},
		"lock.stopped": {
			En: "%[1]s is locked by process %[2]d (%[3]s), since %[4]s, and that process is stopped", Zh: "%[1]s 被进程 %[2]d（%[3]s）锁定，自 %[4]s 起，而该进程已被暂停",
			HintEn: "Let it go on with kill -CONT %[2]d, or end it with kill -9 %[2]d", HintZh: "用 kill -CONT %[2]d 让它继续，或用 kill -9 %[2]d 结束它",
		},
		"lock.frozen": {
			En: "%[1]s is locked by process %[2]d (%[3]s), since %[4]s, and the cgroup of that process is frozen", Zh: "%[1]s 被进程 %[2]d（%[3]s）锁定，自 %[4]s 起，而该进程的 cgroup 已被冻结",
			HintEn: "Thaw it (the container, or cgroup.freeze of its cgroup), or end it with kill -9 %[2]d", HintZh: "请解冻（其容器，或其 cgroup 的 cgroup.freeze），或用 kill -9 %[2]d 结束它",
		},
		"lock.gone": {
			En: "%[1]s was locked by process %[2]d, which has ended, and something that it had started still holds the lock", Zh: "%[1]s 曾被进程 %[2]d 锁定，它已结束，但由它启动的某个进程仍持有锁",
			HintEn: "Find it with fuser -v %[1]s, and end it", HintZh: "用 fuser -v %[1]s 找到并结束它",
		},
		"lock.elsewhere": {
			En: "%[1]s is locked by process %[2]d on %[5]s (%[3]s), since %[4]s", Zh: "%[1]s 被 %[5]s 上的进程 %[2]d（%[3]s）锁定，自 %[4]s 起",
			HintEn: "Look there: let it go on with kill -CONT %[2]d if it is stopped, or end it", HintZh: "请到那台主机查看：若已暂停，用 kill -CONT %[2]d 让它继续，或结束它",
		},
		"lock.self": {
			En: "%[1]s is locked by this process (%[2]d) itself", Zh: "%[1]s 被本进程（%[2]d）自身锁定",
			HintEn: "Repeat the command", HintZh: "请重试该命令",
		},
		"lock.unknown": {
			En: "%[1]s is locked by a process that cannot be seen from here", Zh: "%[1]s 被一个在此处看不到的进程锁定",
			HintEn: "Find it with fuser -v %[1]s, also outside of this container, and let it go on (kill -CONT) or end it", HintZh: "用 fuser -v %[1]s 查找（也请在此容器之外查找），让它继续（kill -CONT）或结束它",
		},
		"lock.landing": {
			En: "the work waits for its turn to land on the branch", Zh: "工作正在等待合入分支的轮次",
		},
		"lock.landing_given_up": {
			En: "the turn to land on the branch did not come; nothing was changed, and the work goes on from here with: pawl resume", Zh: "未轮到合入分支；未做任何更改，可用 pawl resume 从此处继续",
		},
		"lock.store": {
			En: "the store is written by another process; this is tried again", Zh: "存储正被另一个进程写入；将重试",
		},
		"lock.projections": {
			En: "the change is written; only the files in .pawl that show it are as they were, and the next command that writes brings them up to date", Zh: "更改已写入；只有 .pawl 中展示它的文件仍是旧的，下一个写入命令会更新它们",
		},
	}
}}
