package message

// loginText is the part of the catalogue for keys that begin with "login.": the logins that people have at the makers of agents.
var loginText = part{load: func() Table {
	return Table{
		"login.unknown": {
			En: "pawl knows of no login of %[1]s", Zh: "pawl 不了解 %[1]s 的登录方式",
			HintEn: "Give pawl a key of its model's provider: docs/agents.md, A model", HintZh: "请为 pawl 提供其模型服务商的密钥：docs/agents.md 的 A model 一节",
		},
		"login.none": {
			En: "nobody is logged in to %[1]s", Zh: "%[1]s 尚未登录",
			HintEn: "Log in with: %[2]s, then: pawl agent add %[1]s", HintZh: "先登录：%[2]s，然后：pawl agent add %[1]s",
		},
		"login.none_at_all": {
			En: "nobody is logged in to %[1]s, and there is no key for its model in %[4]s", Zh: "%[1]s 尚未登录，%[4]s 中也没有其模型的密钥",
			HintEn: "Log in with: %[2]s, then: pawl agent add %[3]s", HintZh: "先登录：%[2]s，然后：pawl agent add %[3]s",
		},
		"login.not_agreed": {
			En: "%[1]s is logged in as %[2]s, and pawl may not use that login yet", Zh: "%[1]s 已以 %[2]s 登录，但 pawl 尚未获准使用该登录",
			HintEn: "See what that means, and say so, with: pawl agent add %[3]s", HintZh: "查看其含义并表示同意：pawl agent add %[3]s",
		},
		"login.unreadable": {
			En: "the login in %[1]s cannot be read", Zh: "无法读取 %[1]s 中的登录信息",
			HintEn: "Mend the file's permissions, or log in again with: %[2]s", HintZh: "请修复文件权限，或重新登录：%[2]s",
		},
		"login.malformed": {
			En: "what is in %[1]s is no login", Zh: "%[1]s 的内容不是有效的登录信息",
			HintEn: "Log in again with: %[2]s", HintZh: "请重新登录：%[2]s",
		},
		"login.blank": {
			En: "the login in %[1]s was taken back", Zh: "%[1]s 中的登录已被收回",
			HintEn: "Log in again with: %[2]s", HintZh: "请重新登录：%[2]s",
		},
		"login.scope": {
			En: "the login in %[1]s is not for models", Zh: "%[1]s 中的登录不能用于模型",
			HintEn: "Log in again with: %[2]s", HintZh: "请重新登录：%[2]s",
		},
		"login.keyring": {
			En: "the login is kept in the system's keyring, which pawl does not open (%[1]s)", Zh: "登录信息保存在系统密钥环中，pawl 不会打开它（%[1]s）",
			HintEn: "Put %[2]s into that file, and log in again with: %[3]s", HintZh: "在该文件中加入 %[2]s，然后重新登录：%[3]s",
		},
		"login.in_project": {
			En: "the login in %[1]s lies inside of the project", Zh: "%[1]s 中的登录信息位于项目目录内",
			HintEn: "Who can change the project could change it: keep it in your home", HintZh: "能改动项目的人就能改动它：请放在你的主目录中",
		},
		"login.other_account": {
			En: "%[1]s is logged in as %[2]s now, and you agreed to the login of %[3]s", Zh: "%[1]s 现以 %[2]s 登录，而你同意使用的是 %[3]s 的登录",
			HintEn: "Agree to this one with: pawl agent add %[1]s", HintZh: "同意使用当前登录：pawl agent add %[1]s",
		},
		"login.expired": {
			En: "the login in %[1]s ended at %[2]s", Zh: "%[1]s 中的登录已于 %[2]s 失效",
			HintEn: "Log in again with: %[3]s", HintZh: "请重新登录：%[3]s",
		},
		"login.refused": {
			En: "the maker of %[1]s does not accept the login any more", Zh: "%[1]s 的厂商不再接受该登录",
			HintEn: "Log in again with: %[2]s, then: pawl fix", HintZh: "请重新登录：%[2]s，然后：pawl fix",
		},
		"login.not_renewed": {
			En: "the login of %[1]s could not be renewed", Zh: "无法续期 %[1]s 的登录",
			HintEn: "Log in again with: %[2]s, then: pawl fix", HintZh: "请重新登录：%[2]s，然后：pawl fix",
		},
		"login.renewal": {
			En: "%[1]s did not renew its login", Zh: "%[1]s 未能续期登录",
			HintEn: "Log in again with: %[2]s, then: pawl fix", HintZh: "请重新登录：%[2]s，然后：pawl fix",
		},
		"login.no_program": {
			En: "the login has to be renewed, and %[1]s, which does that, is not installed", Zh: "登录需要续期，但负责续期的 %[1]s 未安装",
			HintEn: "Install it, or log in again with: %[2]s", HintZh: "请安装它，或重新登录：%[2]s",
		},
		"login.program_in_project": {
			En: "%[1]s lies inside of the project, and is not run outside of the walls", Zh: "%[1]s 位于项目目录内，不会在隔离墙外运行",
			HintEn: "Install the agent outside of the project, and put it before on PATH", HintZh: "请把智能体安装在项目之外，并置于 PATH 前部",
		},
		"login.busy": {
			En: "another process has renewed the login since %[3]s: %[1]s, process %[2]s", Zh: "另一个进程自 %[3]s 起正在续期登录：%[1]s，进程 %[2]s",
			HintEn: "Wait for it. Where it hangs, end process %[2]s and log in again if you have to", HintZh: "请等待其完成。若已卡住，请结束进程 %[2]s，必要时重新登录",
		},
		"login.state": {
			En: "the renewal of the login cannot be noted in %[1]s", Zh: "无法在 %[1]s 中记录登录续期",
			HintEn: "Check the disk and the permissions", HintZh: "请检查磁盘和权限",
		},
		"login.counted": {
			En: "%[1]s reaches its makers by a tunnel, in which pawl counts nothing: a limit of tokens or requests cannot hold", Zh: "%[1]s 经由隧道连接其厂商，pawl 无法计数：token 或请求上限无法生效",
			HintEn: "Go through the gateway: pawl config unset agents.%[1]s.way, or limit turns and minutes alone", HintZh: "改经网关：pawl config unset agents.%[1]s.way，或只限制轮次与分钟",
		},
		"login.money": {
			En: "%[1]s works with your own login, whose calls have no price: a limit in money cannot hold", Zh: "%[1]s 使用你自己的登录，其调用没有单价：金额上限无法生效",
			HintEn: "Take budget.run.usd, budget.issue.usd and budget.day.usd out and limit tokens, turns or minutes: pawl config unset budget.run.usd; pawl config set budget.run.tokens 2000000",
			HintZh: "请移除 budget.run.usd、budget.issue.usd 与 budget.day.usd，改为限制 token、轮次或分钟：pawl config unset budget.run.usd；pawl config set budget.run.tokens 2000000",
		},
	}
}}
