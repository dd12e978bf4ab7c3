package message

// llmText is the part of the catalogue for keys that begin with "llm.".
var llmText = part{load: func() Table {
	const (
		againEn = "Try again later with pawl run, or with pawl fix where the session is BLOCKED; or name a model to fall back on: pawl config set model.fallbacks NAME"
		againZh = "稍后用 pawl run 重试（会话处于 BLOCKED 时用 pawl fix），或设置备用模型：pawl config set model.fallbacks 名称"
		otherEn = "Try again with pawl run, or with pawl fix where the session is BLOCKED; or take another model: pawl config set model.name NAME"
		otherZh = "用 pawl run 重试（会话处于 BLOCKED 时用 pawl fix），或换一个模型：pawl config set model.name 名称"
	)
	return Table{
		"llm.tools": {
			En: "not all of the tools that you trust can be offered to the model", Zh: "无法向模型提供你信任的全部工具",
			HintEn: "See what is wrong with: pawl mcp list", HintZh: "用 pawl mcp list 查看问题所在",
		},
		"llm.no_model": {
			En: "no model is set", Zh: "尚未设置模型",
			HintEn: "Name one with pawl config set model.name NAME (and model.kind, model.base_url where it is not OpenAI's). Without a model, pawl run \"make the checks pass\" and pawl run --plan FILE work",
			HintZh: "用 pawl config set model.name 名称 设置（非 OpenAI 时另设 model.kind、model.base_url）。没有模型时可用 pawl run \"让检查通过\" 和 pawl run --plan 文件",
		},
		"llm.kind": {
			En: "%s is not a wire form that pawl speaks", Zh: "pawl 不支持接口形式 %s",
			HintEn: "Choose with: pawl config set model.kind openai, anthropic or gemini. Most servers speak openai", HintZh: "用 pawl config set model.kind 选择 openai、anthropic 或 gemini；多数服务兼容 openai",
		},
		"llm.no_key": {
			En: "the key of the model is missing: the variable %s is empty", Zh: "缺少模型密钥：变量 %s 为空",
			HintEn: "Put the key into this variable, or into a file that only you can read: pawl config set model.key_file PATH. A key never belongs into a project",
			HintZh: "把密钥放入该变量，或放入仅本人可读的文件：pawl config set model.key_file 路径。密钥绝不应放进项目",
		},
		"llm.key_file": {
			En: "the key cannot be read from %s", Zh: "无法从 %s 读取密钥",
			HintEn: "The file holds the key and nothing else, and its path is absolute: pawl config set model.key_file PATH", HintZh: "文件中只含密钥，路径须为绝对路径：pawl config set model.key_file 路径",
		},
		"llm.key_file_open": {
			En: "others can read the key in %s", Zh: "其他用户可读取 %s 中的密钥",
			HintEn: "Close it with: chmod 600 FILE", HintZh: "用 chmod 600 文件 收紧权限",
		},
		"llm.key_in_project": {
			En: "the key file %[1]s lies in the project %[2]s", Zh: "密钥文件 %[1]s 位于项目 %[2]s 中",
			HintEn: "Move it out of the project, for instance into ~/.config/pawl", HintZh: "请移到项目之外，例如 ~/.config/pawl",
		},
		"llm.bad_key": {
			En: "what stands in %s cannot be a key", Zh: "%s 中的内容不可能是密钥",
			HintEn: "A key is one line of printable characters; look for quotes or line breaks that came with it", HintZh: "密钥为一行可打印字符；请检查是否混入引号或换行",
		},
		"llm.key_refused": {
			En: "%s refused the key", Zh: "%s 拒绝了密钥",
			HintEn: "Check the key and whether it may use this model: pawl config show. Then try again with pawl run, or with pawl fix where the session is BLOCKED", HintZh: "检查密钥及其权限：pawl config show。然后用 pawl run 重试；会话处于 BLOCKED 时用 pawl fix 继续",
		},
		"llm.no_credit": {
			En: "%s says that nothing is left to pay for the call", Zh: "%s 表示余额不足",
			HintEn: "Look at your account there, then try again with pawl run, or with pawl fix where the session is BLOCKED", HintZh: "请查看该账户，然后用 pawl run 重试；会话处于 BLOCKED 时用 pawl fix 继续",
		},
		"llm.ca_file": {
			En: "the certificates of %s cannot be used", Zh: "无法使用 %s 中的证书",
			HintEn: "The file holds certificates in PEM form: pawl config set model.ca_file PATH", HintZh: "文件应为 PEM 格式的证书：pawl config set model.ca_file 路径",
		},
		"llm.certificate": {
			En: "the certificate of %s is not trusted", Zh: "不信任 %s 的证书",
			HintEn: "Where a proxy or an authority of your own signs: pawl config set model.ca_file PATH. Check also whether the address begins with https", HintZh: "若由自有机构或代理签发：pawl config set model.ca_file 路径。也请确认地址是否应以 https 开头",
		},
		"llm.endpoint": {
			En: "%s is not an address of a model", Zh: "%s 不是模型的地址",
			HintEn: "It is http or https with a host, without name, password or question mark: pawl config set model.base_url URL", HintZh: "应为 http 或 https 加主机名，不含用户名、密码或问号：pawl config set model.base_url 地址",
		},
		"llm.prices": {
			En: "the prices in %s cannot be used", Zh: "无法使用 %s 中的价格",
			HintEn: "Each model has in and out in US dollars for a million tokens, as in: my-model: {in: 1.25, cached: 0.13, out: 10}", HintZh: "每个模型给出 in 和 out（每百万 token 的美元价格），例如：my-model: {in: 1.25, cached: 0.13, out: 10}",
		},
		"llm.unreachable": {
			En: "%s cannot be reached", Zh: "无法连接 %s",
			HintEn: "Check that it runs and that the address is right: pawl config show. Proxies are taken from HTTPS_PROXY and NO_PROXY", HintZh: "检查服务是否运行、地址是否正确：pawl config show。代理取自 HTTPS_PROXY 与 NO_PROXY",
		},
		"llm.not_found": {
			En: "%[1]s does not know this model, or there is no model at this address: %[2]s", Zh: "%[1]s 没有该模型，或该地址并非模型服务：%[2]s",
			HintEn: "Set the name with pawl config set model.name NAME and the address with pawl config set model.base_url URL", HintZh: "用 pawl config set model.name 名称 设置名称，用 pawl config set model.base_url 地址 设置地址",
		},
		"llm.not_found_near": {
			En: "%[1]s does not know the model %[2]s; it has: %[3]s", Zh: "%[1]s 没有模型 %[2]s；现有：%[3]s",
			HintEn: "Set the name with: pawl config set model.name NAME", HintZh: "用 pawl config set model.name 名称 设置名称",
		},
		"llm.prompt_too_long": {
			En: "the conversation does not fit the model's window (tokens: %s)", Zh: "对话超出模型窗口（token：%s）",
			HintEn: "Take a model with a larger window, say its size with pawl config set model.window N, or split the task", HintZh: "换用窗口更大的模型，用 pawl config set model.window 数值 设置窗口大小，或拆分任务",
		},
		"llm.rate_limited": {
			En: "%[1]s asks to slow down: %[2]s", Zh: "%[1]s 要求降低频率：%[2]s",
			HintEn: againEn, HintZh: againZh,
		},
		"llm.server_error": {
			En: "%[2]s failed with status %[1]s", Zh: "%[2]s 出错，状态 %[1]s",
			HintEn: againEn, HintZh: againZh,
		},
		"llm.refused": {
			En: "the model's server refused the request with status %[1]s: %[2]s", Zh: "模型服务拒绝请求，状态 %[1]s：%[2]s",
			HintEn: "Check model.kind, model.base_url and model.name with pawl config show", HintZh: "用 pawl config show 检查 model.kind、model.base_url 和 model.name",
		},
		"llm.cut": {
			En: "the answer of %s broke off before its end; nothing of it was used", Zh: "%s 的回答中途断开，未采用其中任何内容",
			HintEn: againEn, HintZh: againZh,
		},
		"llm.silent": {
			En: "%s said nothing for too long", Zh: "%s 长时间没有响应",
			HintEn: againEn, HintZh: againZh,
		},
		"llm.too_slow": {
			En: "the model did not finish its answer in time", Zh: "模型未在时限内完成回答",
			HintEn: againEn, HintZh: againZh,
		},
		"llm.too_much": {
			En: "the answer is larger than %s MB and was not read to its end", Zh: "回答超过 %s MB，未读完",
			HintEn: otherEn, HintZh: otherZh,
		},
		"llm.truncated": {
			En: "the answer reached its largest size before its end; nothing of it was used", Zh: "回答达到长度上限而未完成，未采用其中任何内容",
			HintEn: "Split the task into smaller steps, or take another model: pawl config set model.name NAME", HintZh: "把任务拆成更小的步骤，或换一个模型：pawl config set model.name 名称",
		},
		"llm.filtered": {
			En: "the provider held back the answer: %s", Zh: "提供方拦截了回答：%s",
			HintEn: "Say the requirement in other words, or take another model: pawl config set model.name NAME", HintZh: "换一种说法，或换一个模型：pawl config set model.name 名称",
		},
		"llm.malformed": {
			En: "the model's answer makes no sense; nothing of it was used", Zh: "模型的回答无法理解，未采用其中任何内容",
			HintEn: otherEn, HintZh: otherZh,
		},
		"llm.malformed_twice": {
			En: "the model gave no usable document for %s, also when told what is wrong", Zh: "模型未能给出可用的 %s 文档，指出错误后仍然如此",
			HintEn: otherEn, HintZh: otherZh,
		},
		"llm.calls_malformed": {
			En: "the model asked %s times for calls that cannot be understood", Zh: "模型 %s 次请求了无法理解的调用",
			HintEn: otherEn, HintZh: otherZh,
		},
		"llm.machine_lacks": {En: "the machine lacks something, which no change of the code mends", Zh: "是本机缺少所需的东西，修改代码无法解决"},
		"llm.canceled": {
			En: "the exchange with the model was canceled", Zh: "与模型的交互已取消",
			HintEn: "See where it stands with: pawl status", HintZh: "用 pawl status 查看状态",
		},
		"llm.out_of_time": {
			En: "there was no time left for the exchange with the model", Zh: "与模型的交互超出时限",
			HintEn: "Try again with pawl run, or with pawl fix where the session is BLOCKED", HintZh: "用 pawl run 重试；会话处于 BLOCKED 时用 pawl fix 继续",
		},
		"llm.recording": {
			En: "line %s of the recording cannot be read", Zh: "无法读取录制文件的第 %s 行",
			HintEn: "Record again, or take a recording that is whole", HintZh: "请重新录制，或使用完整的录制文件",
		},
		"llm.replay_end": {
			En: "the recording ends after %s exchanges, and another one is asked for", Zh: "录制在第 %s 次交互后结束，而请求仍在继续",
			HintEn: "What was asked before differs from what was recorded; record again", HintZh: "请求与录制时不同，请重新录制",
		},
		"llm.replay_differs": {
			En: "request %[1]s was not recorded like this; it differs at %[2]s", Zh: "第 %[1]s 个请求与录制不同，差异在 %[2]s",
			HintEn: "If the difference is meant, record again", HintZh: "若差异是有意的，请重新录制",
		},
		"llm.request":        {En: "a request to a model cannot be written", Zh: "无法写出发给模型的请求", HintEn: reportEn, HintZh: reportZh},
		"llm.no_host":        {En: "a model was asked without anybody to count what it costs", Zh: "调用模型时没有计费方", HintEn: reportEn, HintZh: reportZh},
		"llm.foreign_effect": {En: "a model cannot do an effect of kind %s", Zh: "模型不能执行 %s 类操作", HintEn: reportEn, HintZh: reportZh},
	}
}}
