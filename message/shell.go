package message

// shellText is the part of the catalogue for keys that begin with "shell.".
var shellText = part{load: func() Table {
	return Table{
		"shell.background": {
			En: "commands cannot stay in the background", Zh: "命令不能留在后台运行",
			HintEn: "Leave is_background out; start what a check needs and end it in the same command.", HintZh: "请省略 is_background；需要的服务请在同一条命令中启动并结束。",
		},
		"shell.empty": {
			En: "the command is empty", Zh: "命令为空",
			HintEn: "Give a command for bash.", HintZh: "请给出一条 bash 命令。",
		},
		"shell.no_network": {
			En: "the command asks for the network and was granted no place to connect to", Zh: "命令要求网络，但没有获得任何可连接的地址",
			HintEn: "Name the places in the plan under network; nothing was run.", HintZh: "请在计划的 network 中列出地址；命令没有运行。",
		},
		"shell.nul": {
			En: "the command contains a NUL character", Zh: "命令中含有 NUL 字符",
			HintEn: "Remove it; nothing was run.", HintZh: "请将其删除；命令没有运行。",
		},
		"shell.canceled": {
			En: "the command was canceled", Zh: "命令已取消",
			HintEn: "Run `pawl resume` to go on.", HintZh: "执行 `pawl resume` 继续。",
		},
		"shell.timeout": {
			En: "the command was ended after %v", Zh: "命令在 %v 后被终止",
			HintEn: "Make it faster, split it, or give a larger timeout_ms (at most one hour).", HintZh: "请加快或拆分命令，或增大 timeout_ms（最长一小时）。",
		},
		"shell.signal": {
			En: "the command was ended by %v", Zh: "命令被 %v 终止",
			HintEn: "Look at the end of its output; SIGKILL often means that memory ran out.", HintZh: "请查看输出的末尾；SIGKILL 通常表示内存不足。",
		},
		"shell.exit": {
			En: "the command ended with exit status %v", Zh: "命令以退出状态 %v 结束",
			HintEn: "Look at the end of its output.", HintZh: "请查看输出的末尾。",
		},
		"shell.program": {
			En: "%v cannot be run", Zh: "无法运行 %v",
			HintEn: "Install %[1]v or correct its name and permissions, then run `pawl fix`.", HintZh: "请安装 %[1]v，或更正其名称和权限，然后执行 `pawl fix`。",
		},
		"shell.disk_full": {
			En: "the command found no space left on the disk", Zh: "命令运行时磁盘空间不足",
			HintEn: "Free space, then run `pawl fix`.", HintZh: "请释放空间，然后执行 `pawl fix`。",
		},
		"shell.no_snapshot": {
			En: "the tree cannot be recorded before the command", Zh: "无法在命令前记录文件树",
			HintEn: "Report this as a defect of pawl.", HintZh: "请将此作为 pawl 的缺陷报告。",
		},
		"shell.no_record": {
			En: "it is not recorded what the command changed, so it cannot be undone by itself", Zh: "没有记录该命令的改动，无法单独撤销",
			HintEn: "Go back to a checkpoint with `pawl rollback`.", HintZh: "请用 `pawl rollback` 回到检查点。",
		},
	}
}}
