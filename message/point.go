package message

// pointText is the part of the catalogue for keys that begin with "point.".
var pointText = Table{
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
}
