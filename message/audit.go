package message

// auditText is the part of the catalogue for keys that begin with "audit.".
var auditText = part{load: func() Table {
	return Table{
		"audit.format": {
			En: "this is not an audit record: field %q departs from the format", Zh: "这不是审计记录：字段 %q 不符合格式",
			HintEn: "Give the exact bytes as pawl audit export printed them", HintZh: "请提供 pawl audit export 输出的原始字节",
		},
		"audit.range": {
			En: "there is no record %v in an audit log of %v records", Zh: "审计日志共 %[2]v 条，没有第 %[1]v 条",
			HintEn: "Count the records with: pawl audit verify", HintZh: "用 pawl audit verify 查看记录总数",
		},
		"audit.proof": {
			En: "the proof does not show record %v in this log", Zh: "该证明不能说明日志中有第 %v 条记录",
			HintEn: "Make a new proof with pawl audit prove, and compare the checkpoint that it is for",
			HintZh: "用 pawl audit prove 重新生成证明，并核对对应的检查点",
		},
		"audit.proof_form": {
			En: "this is not a proof file", Zh: "这不是证明文件",
			HintEn: "Make one with: pawl audit prove RECORD --out FILE", HintZh: "用 pawl audit prove 编号 --out 文件 生成",
		},
		"audit.proof_more": {En: "there is more behind the proof", Zh: "证明之后还有多余内容"},
		"audit.proof_version": {
			En: "the proof file has version %v; this pawl knows %v", Zh: "证明文件的版本为 %v；此 pawl 支持 %v",
			HintEn: "Check it with the pawl that made it, or a newer one", HintZh: "请用生成它的或更新的 pawl 来验证",
		},
		"audit.proof_empty": {
			En: "the proof file names no record", Zh: "证明文件中没有记录",
			HintEn: "Make one with: pawl audit prove RECORD --out FILE", HintZh: "用 pawl audit prove 编号 --out 文件 生成",
		},
		"audit.proof_unsigned": {
			En: "the proof holds no checkpoint, so no key vouches for its root", Zh: "证明中没有检查点，因此没有密钥为其根担保",
			HintEn: "Make it with --against CHECKPOINT-FILE, or check it without --key and compare the root yourself",
			HintZh: "生成时加上 --against 检查点文件，或不带 --key 验证并自行核对根",
		},
		"audit.verifier": {
			En: "%q is not a verifier key", Zh: "%q 不是验证密钥",
			HintEn: "A verifier key has the form NAME+HASH+KEY", HintZh: "验证密钥的格式为 名称+哈希+密钥",
		},
		"audit.key": {
			En: "%q cannot name a signing key: use one word without spaces or +", Zh: "%q 不能作为签名密钥的名称：请使用不含空格和 + 的单词",
		},
		"audit.origin": {
			En: "%q cannot name an audit log: it must be one line", Zh: "%q 不能作为审计日志的名称：必须是单行文本",
		},
		"audit.sign": {
			En: "the checkpoint of log %q could not be signed", Zh: "日志 %q 的检查点签名失败",
			HintEn: "Check the signing key with: pawl doctor", HintZh: "用 pawl doctor 检查签名密钥",
		},
		"audit.signature": {
			En: "the checkpoint of log %q carries no valid signature", Zh: "日志 %q 的检查点没有有效签名",
			HintEn: "Use the checkpoint file as it was written, and the verifier key that belongs to it",
			HintZh: "请使用未经改动的检查点文件和与之对应的验证密钥",
		},
		"audit.otherlog": {
			En: "the checkpoint is about log %q, not %q", Zh: "该检查点属于日志 %q，而不是 %q",
			HintEn: "Give the checkpoint of this workspace", HintZh: "请提供本工作区的检查点",
		},
		"audit.head": {
			En: "the head of the audit log (%v records) contradicts itself", Zh: "审计日志头（%v 条记录）自相矛盾",
			HintEn: restoreEn, HintZh: restoreZh,
		},
		"audit.surplus": {
			En: "the audit log has records behind its head, from record %v on", Zh: "审计日志在日志头之后仍有记录（从第 %v 条起）",
			HintEn: restoreEn, HintZh: restoreZh,
		},
		"audit.missing": {
			En: "audit record %v is missing (the next is %v)", Zh: "缺少第 %v 条审计记录（下一条是 %v）",
			HintEn: restoreEn, HintZh: restoreZh,
		},
		"audit.truncated": {
			En: "the audit log was cut short: it ends after %v records, a checkpoint vouches for %v", Zh: "审计日志被截断：只有 %v 条记录，而检查点证明曾有 %v 条",
			HintEn: restoreEn, HintZh: restoreZh,
		},
		"audit.rewritten": {
			En: "the first %v audit records are not those that the checkpoint vouches for", Zh: "前 %v 条审计记录与检查点所证明的不一致",
			HintEn: restoreEn, HintZh: restoreZh,
		},
		"audit.root": {
			En: "the %v audit records do not amount to the root that the log's head names", Zh: "%v 条审计记录与日志头的根哈希不符",
			HintEn: restoreEn, HintZh: restoreZh,
		},
		"audit.altered": {
			En: "audit record %v was altered: its hash does not fit its bytes", Zh: "第 %v 条审计记录被改动：哈希与内容不符",
			HintEn: restoreEn, HintZh: restoreZh,
		},
		"audit.record": {
			En: "audit record %v is malformed at field %q", Zh: "第 %v 条审计记录在字段 %q 处格式错误",
			HintEn: restoreEn, HintZh: restoreZh,
		},
		"audit.misplaced": {
			En: "audit record %v is filed wrongly: it says that it is %s, number %v", Zh: "第 %v 条审计记录归档错误：其内容为 %s 的第 %v 条",
			HintEn: restoreEn, HintZh: restoreZh,
		},
		"audit.sequence": {
			En: "audit record %v is number %[3]v of %[2]s where number %[4]v was expected", Zh: "第 %v 条审计记录是 %s 的第 %v 条，应为第 %v 条",
			HintEn: restoreEn, HintZh: restoreZh,
		},
		"audit.chain": {
			En: "audit record %v (%s, number %v) does not continue the record before it", Zh: "第 %v 条审计记录（%s 第 %v 条）与前一条不衔接",
			HintEn: restoreEn, HintZh: restoreZh,
		},
		"audit.continuity": {
			En: "audit record %v moves %s out of state %q, but it was in state %q", Zh: "第 %v 条审计记录使 %s 离开状态 %q，但当时的状态是 %q",
			HintEn: restoreEn, HintZh: restoreZh,
		},
		"audit.made_anew": {
			En:     "the audit log that was kept here before is another one; its last checkpoint is over %v records, of %s: root %s, in %s",
			Zh:     "此前保存在这里的审计日志是另一个；其最后一个检查点涵盖 %v 条记录，时间 %s：根 %s，位于 %s",
			HintEn: "If the workspace was not made anew on purpose, restore the newest backup of .pawl", HintZh: "若并非有意重新创建工作区，请恢复最新的 .pawl 备份",
		},
		"audit.keep": {
			En: "the signed checkpoints of the audit log in %s cannot be read or written", Zh: "无法读写 %s 中审计日志的签名检查点",
			HintEn: "Make the folder writable, or set XDG_STATE_HOME to one that is", HintZh: "请使该目录可写，或将 XDG_STATE_HOME 设为可写的目录",
		},
		"audit.tail": {
			En: "%s stands at audit record %v, but its last record is number %v", Zh: "%s 指向其第 %v 条审计记录，但最后一条是第 %v 条",
			HintEn: restoreEn, HintZh: restoreZh,
		},
		"audit.state": {
			En: "%s is stored in state %q, but its audit records end in state %q", Zh: "%s 的存储状态是 %q，但审计记录的最后状态是 %q",
			HintEn: restoreEn, HintZh: restoreZh,
		},
	}
}}

// The next step after any finding of a verification is the same.
const (
	restoreEn = "Stop pawl, keep a copy of .pawl, and restore the newest backup that passes: pawl audit verify"
	restoreZh = "请停止 pawl，保留 .pawl 的副本，并恢复能通过 pawl audit verify 的最新备份"
)
