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
