package message

// storeText is the part of the catalogue for keys that begin with "store.".
var storeText = part{load: func() Table {
	return Table{
		"store.missing": {
			En: "there is no store at %s", Zh: "%s 处没有存储",
			HintEn: "Make one with: pawl init", HintZh: "用 pawl init 创建",
		},
		"store.foreign": {
			En: "%s is not a store of pawl", Zh: "%s 不是 pawl 的存储文件",
			HintEn: "If it should be one, restore a backup of .pawl; otherwise move it away and run: pawl init",
			HintZh: "如果它本应是存储，请恢复 .pawl 的备份；否则请移走该文件并运行 pawl init",
		},
		"store.newer": {
			En: "%s was written by a newer pawl (schema %v; this one knows %v)", Zh: "%s 由更新版本的 pawl 写入（数据格式 %v；当前版本支持到 %v）",
			HintEn: "Install the newer pawl; nothing was changed", HintZh: "请安装新版 pawl；未做任何更改",
		},
		"store.old": {
			En:     "%s has an older schema and may not be brought up to date, because it was opened for reading only",
			Zh:     "%s 的数据格式较旧，且因以只读方式打开而无法升级",
			HintEn: "Run a command that writes, such as: pawl export", HintZh: "请运行一个会写入的命令，例如 pawl export",
		},
		"store.empty": {En: "the store %s is empty, which a store never is", Zh: "存储文件 %s 是空的，正常存储不会为空", HintEn: restoreStoreEn, HintZh: restoreStoreZh},
		"store.full_changed": {
			En: "the disk was full, so a copy of the store %s was read, and the store has changed since", Zh: "磁盘曾满，因此读取的是存储 %s 的副本，而存储此后已改变",
			HintEn: "Repeat the command", HintZh: "请重新执行命令",
		},
		"store.cut":     {En: "the store %s was cut short", Zh: "存储文件 %s 被截断", HintEn: restoreStoreEn, HintZh: restoreStoreZh},
		"store.damaged": {En: "the store %s is damaged", Zh: "存储文件 %s 已损坏", HintEn: restoreStoreEn, HintZh: restoreStoreZh},
		"store.lost": {
			En: "the store %s is gone, but its write-ahead log is still there", Zh: "存储文件 %s 不见了，但其预写日志仍在",
			HintEn: "Put the file back beside its -wal file, or restore a backup of .pawl", HintZh: "请把文件放回其 -wal 文件旁，或恢复 .pawl 的备份",
		},
		"store.moved": {
			En: "the store %s was moved or replaced while it was open", Zh: "存储文件 %s 在打开期间被移动或替换",
			HintEn: "Stop every pawl process of this workspace, put the file back, then start again", HintZh: "请停止本工作区的所有 pawl 进程，放回文件后重新启动",
		},
		"store.head":   {En: "the head of the audit log in the store is damaged", Zh: "存储中的审计日志头已损坏", HintEn: restoreStoreEn, HintZh: restoreStoreZh},
		"store.name":   {En: "the identity of the store is damaged", Zh: "存储的身份标识已损坏", HintEn: restoreStoreEn, HintZh: restoreStoreZh},
		"store.row":    {En: "the stored row %s is damaged", Zh: "存储的行 %s 已损坏", HintEn: restoreStoreEn, HintZh: restoreStoreZh},
		"store.rows":   {En: "%v rows that have audit records are missing from the store", Zh: "存储中缺少 %v 个有审计记录的行", HintEn: restoreStoreEn, HintZh: restoreStoreZh},
		"store.count":  {En: "the stored counts of %s are wrong", Zh: "存储的 %s 计数有误", HintEn: restoreStoreEn, HintZh: restoreStoreZh},
		"store.record": {En: "the stored audit record %v is damaged", Zh: "存储的第 %v 条审计记录已损坏", HintEn: restoreStoreEn, HintZh: restoreStoreZh},
		"store.readonly": {
			En: "%s cannot be written", Zh: "%s 不可写",
			HintEn: "Check the permissions and whether the disk is mounted read-only", HintZh: "请检查权限以及磁盘是否以只读方式挂载",
		},
		"store.full": {
			En: "the disk is full; nothing of this change was written to %s", Zh: "磁盘已满；本次更改未写入 %s",
			HintEn: "Free some space and repeat the command", HintZh: "请释放空间后重试该命令",
		},
		"store.io": {
			En: "%s could not be read or written", Zh: "无法读写 %s",
			HintEn: "Check the disk, then: pawl doctor", HintZh: "请检查磁盘，然后运行 pawl doctor",
		},
		"store.halted": {
			En: "writing to %s was stopped after a failure of the disk", Zh: "磁盘故障后已停止写入 %s",
			HintEn: "Check the disk, then start pawl again; it reads what really was written", HintZh: "请检查磁盘后重新启动 pawl；它会读取实际写入的内容",
		},
		"store.memory": {
			En: "there is not enough memory to work with %s", Zh: "内存不足，无法处理 %s",
			HintEn: "Free some memory and repeat the command", HintZh: "请释放内存后重试该命令",
		},
		"store.busy": {
			En: "the store %s is kept locked by another process; nothing was written", Zh: "存储 %s 一直被另一个进程锁定；未写入任何内容",
		},
		"store.owned": {
			En: "process %v on %s does the work of this workspace already (%s)", Zh: "主机 %[2]s 上的进程 %[1]v 已在执行本工作区的任务（%[3]s）",
			HintEn: "Watch it with pawl status --watch, or end it with: pawl stop", HintZh: "用 pawl status --watch 查看，或用 pawl stop 结束它",
		},
		"store.timeout": {
			En: "the store did not get to this request in time; nothing was written", Zh: "存储未能及时处理该请求；未写入任何内容",
			HintEn: "Repeat the command", HintZh: "请重试该命令",
		},
		"store.canceled": {En: "the request was withdrawn; nothing was written", Zh: "请求已撤销；未写入任何内容"},
		"store.closed":   {En: "the store has been closed", Zh: "存储已关闭"},
		"store.unknown": {
			En: "it is not known whether this change was written", Zh: "无法确定本次更改是否已写入",
			HintEn: "Look with pawl status before you repeat it; a repetition with the same key is never applied twice",
			HintZh: "重试前请先用 pawl status 查看；使用相同键重试不会重复执行",
		},
		"store.stale": {
			En: "%s %s was changed by someone else (version %v was expected, it is at %v)", Zh: "%s %s 已被他人修改（预期版本 %v，当前为 %v）",
			HintEn: "Look at it again and repeat the command", HintZh: "请重新查看后再试",
		},
		"store.gone": {
			En: "%s %s is not there", Zh: "%s %s 不存在",
			HintEn: "List what there is with: pawl task list", HintZh: "用 pawl task list 查看现有内容",
		},
		"store.exists": {En: "%s %s is there already", Zh: "%s %s 已存在"},
		"store.label": {
			En: "the name %[2]s is taken by another %[1]s (%[3]s)", Zh: "名称 %[2]s 已被另一个 %[1]s（%[3]s）使用",
			HintEn: "Choose another name", HintZh: "请换一个名称",
		},
		"store.key": {
			En: "the idempotency key %q was used for another request", Zh: "幂等键 %q 已用于其他请求",
			HintEn: "Use a new key for a new request", HintZh: "新请求请使用新的键",
		},
		"store.chain": {
			En: "%s %s has %v audit records, and the change would leave it at number %v", Zh: "%s %s 有 %v 条审计记录，而该更改会使其位于第 %v 条",
			HintEn: "Look at it again and repeat the command", HintZh: "请重新查看后再试",
		},
		"store.orphan":   {En: "an audit record is about %s, which the change does not write", Zh: "审计记录涉及 %s，但该更改并未写入它"},
		"store.order":    {En: "the audit records of %s do not add up at number %v", Zh: "%s 的审计记录在第 %v 条处不一致"},
		"store.twice":    {En: "one change writes %s %s twice, or its name", Zh: "一次更改中重复写入了 %s %s 或其名称"},
		"store.identity": {En: "a row needs a kind and an ID of at most 255 bytes (%q, %q)", Zh: "行必须有类型和不超过 255 字节的标识（%q、%q）"},
		"store.version":  {En: "%s %s cannot go from version %v to %v", Zh: "%s %s 不能从版本 %v 变为 %v"},
		"store.text": {
			En: "the text of %q holds a NUL byte or is not UTF-8", Zh: "%q 的文本含有 NUL 字节或不是 UTF-8",
			HintEn: "Remove those bytes", HintZh: "请去掉这些字节",
		},
		"store.large": {
			En: "%s is empty or too large for the store", Zh: "%s 为空或对存储来说过大",
			HintEn: "Keep large content in a file and store its name", HintZh: "请把大内容放入文件，只存储其名称",
		},
		"store.occupied": {
			En: "%s exists already and is not overwritten", Zh: "%s 已存在，不会被覆盖",
			HintEn: "Give the name of a new file", HintZh: "请给出新文件名",
		},
		"store.engine": {
			En: "the database engine failed on %s", Zh: "数据库引擎处理 %s 时失败",
			HintEn: "Run pawl doctor and report what it says", HintZh: "请运行 pawl doctor 并报告其输出",
		},
	}
}}

// The next step where the store itself is damaged.
const (
	restoreStoreEn = "Stop pawl, keep a copy of .pawl, and restore the newest backup; pawl doctor tells what can still be read"
	restoreStoreZh = "请停止 pawl，保留 .pawl 的副本，并恢复最新备份；pawl doctor 会说明哪些内容仍可读取"
)

// idText is the part of the catalogue for keys that begin with "id.".
var idText = part{load: func() Table {
	return Table{
		"id.malformed": {
			En: "%q is not an identifier of pawl", Zh: "%q 不是 pawl 的标识符",
			HintEn: "List what there is with: pawl task list", HintZh: "用 pawl task list 查看现有任务",
		},
	}
}}

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
