package message

// idText is the part of the catalogue for keys that begin with "id.".
var idText = Table{
	"id.malformed": {
		En: "%q is not an identifier of pawl", Zh: "%q 不是 pawl 的标识符",
		HintEn: "List what there is with: pawl task list", HintZh: "用 pawl task list 查看现有任务",
	},
}
