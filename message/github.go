package message

// githubText is the part of the catalogue for keys that begin with "github.".
var githubText = part{load: func() Table {
	const (
		againEn = "Import again later; what was read is kept"
		againZh = "稍后重新导入；已读取的内容会保留"
		tokenEn = "Set GITHUB_TOKEN to a token that may read the repository's issues, and import again"
		tokenZh = "请把 GITHUB_TOKEN 设为可读取该仓库议题的令牌，然后重新导入"
	)
	return Table{
		"github.repository": {
			En: "%q is not a repository", Zh: "%q 不是仓库",
			HintEn: "Write github:OWNER/REPO, or github:HOST/OWNER/REPO for a server of your own", HintZh: "请写成 github:所有者/仓库；自建服务器写成 github:主机/所有者/仓库",
		},
		"github.base": {
			En: "the address of the API cannot be used", Zh: "无法使用该 API 地址",
			HintEn: "Use https://api.github.com or https://HOST/api/v3, without a user name in it", HintZh: "请使用 https://api.github.com 或 https://主机/api/v3，其中不含用户名",
		},
		"github.bad_token": {
			En: "what stands in %s cannot be a token", Zh: "%s 中的内容不是有效的令牌",
			HintEn: "Set the token alone, without blanks and quotation marks", HintZh: "只放令牌本身，不含空白和引号",
		},
		"github.ca_file": {
			En: "no certificate authority can be read from %s", Zh: "无法从 %s 读取证书颁发机构",
			HintEn: "Name a PEM file", HintZh: "请指定 PEM 文件",
		},

		"github.unreachable": {
			En: "%s cannot be reached", Zh: "无法连接 %s",
			HintEn: "Check the network and the proxy (HTTPS_PROXY), and import again", HintZh: "检查网络和代理（HTTPS_PROXY），然后重新导入",
		},
		"github.certificate": {
			En: "the certificate of %s is not trusted", Zh: "%s 的证书不受信任",
			HintEn: "If the server or a proxy has a certificate authority of its own, name its PEM file", HintZh: "若服务器或代理使用自己的证书颁发机构，请指定其 PEM 文件",
		},
		"github.slow":    {En: "%s did not answer in time", Zh: "%s 未及时响应", HintEn: againEn, HintZh: againZh},
		"github.cut_off": {En: "the answer of %s broke off", Zh: "%s 的回答中断", HintEn: againEn, HintZh: againZh},
		"github.malformed": {
			En: "%s did not answer with issues", Zh: "%s 返回的不是议题",
			HintEn: "Something between here and the API may have answered, such as a proxy or a login page; check the address and import again",
			HintZh: "可能是代理或登录页代为应答；请检查地址后重新导入",
		},
		"github.redirected": {
			En: "%s redirects to another server", Zh: "%s 重定向到了其他服务器",
			HintEn: "The token is not sent there; check the address of the API", HintZh: "令牌不会发送到那里；请检查 API 地址",
		},
		"github.endless": {
			En: "the list of %[1]s does not end (%[2]d pages)", Zh: "%[1]s 的列表没有尽头（%[2]d 页）",
			HintEn: "Import fewer issues, by label or by date", HintZh: "按标签或日期缩小范围后导入",
		},
		"github.many_missing": {
			En: "open issues of %[1]s depend on %[2]d issues that are not in the list, more than %[3]d", Zh: "%[1]s 的未关闭议题依赖 %[2]d 个不在列表中的议题，超过 %[3]d 个",
			HintEn: "Import the closed issues as well", HintZh: "请把已关闭的议题也一并导入",
		},
		"github.server": {En: "%[2]s answers with an error of its own (%[1]d)", Zh: "%[2]s 服务器出错（%[1]d）", HintEn: againEn, HintZh: againZh},
		"github.rate_limited": {
			En: "GitHub takes no more requests until %s", Zh: "GitHub 在 %s 之前不再接受请求",
			HintEn: "Import again then; what was read is kept and costs nothing. With GITHUB_TOKEN set there are more requests per hour",
			HintZh: "届时重新导入；已读取的内容会保留且不再计费。设置 GITHUB_TOKEN 后每小时可用的请求更多",
		},
		"github.token_needed":  {En: "%s asks for a token", Zh: "%s 需要令牌", HintEn: tokenEn, HintZh: tokenZh},
		"github.token_refused": {En: "%s refuses the token", Zh: "%s 拒绝了令牌", HintEn: "It may have expired. " + tokenEn, HintZh: "令牌可能已过期。" + tokenZh},
		"github.sso": {
			En: "the organization asks for single sign-on", Zh: "该组织要求单点登录",
			HintEn: "Authorize the token at %[1]s and import again", HintZh: "在 %[1]s 为令牌授权，然后重新导入",
		},
		"github.forbidden": {
			En: "the token may not do this: %s", Zh: "令牌无权执行：%s",
			HintEn: "Give the token the right to read issues (to write them, for comments and labels)", HintZh: "请授予令牌读取议题的权限（评论和标签需要写权限）",
		},
		"github.not_found": {
			En: "%s is not there, or the token may not see it", Zh: "%s 不存在，或令牌无权查看",
			HintEn: "Check the spelling, and that the token covers this repository", HintZh: "请检查拼写，并确认令牌包含该仓库",
		},
		"github.not_found_public": {
			En: "%s is not there, or is not public", Zh: "%s 不存在或不公开",
			HintEn: "Check the spelling. " + tokenEn, HintZh: "请检查拼写。" + tokenZh,
		},
		"github.gone": {
			En: "%s is no longer there; issues may be disabled in the repository", Zh: "%s 已不存在；该仓库可能停用了议题",
			HintEn: "Export the issues to a file and import that: pawl issue import FILE", HintZh: "把议题导出为文件再导入：pawl issue import 文件",
		},
		"github.refused": {
			En: "GitHub refuses the request (%[1]d): %[2]s", Zh: "GitHub 拒绝了请求（%[1]d）：%[2]s",
			HintEn: "Correct what it names and import again", HintZh: "请按提示修正后重新导入",
		},
		"github.broke_off": {
			En: "the import of %[1]s broke off; %[2]d pages are read and kept", Zh: "%[1]s 的导入中断；已读取并保留 %[2]d 页",
		},
		"github.canceled":    {En: "canceled", Zh: "已取消", HintEn: againEn, HintZh: againZh},
		"github.out_of_time": {En: "the time that was given is over", Zh: "给定的时间已用完", HintEn: againEn, HintZh: againZh},
		"github.unknown_outcome": {
			En: "it is not known whether GitHub took the comment", Zh: "无法确认 GitHub 是否已收到评论",
			HintEn: "Look at the issue before it is written again", HintZh: "重新写入前请先查看该议题",
		},
		"github.comment": {
			En: "a comment of %[1]d bytes cannot be written; it has text, at most %[2]d bytes of it", Zh: "无法写入 %[1]d 字节的评论；评论须有内容，且不超过 %[2]d 字节",
			HintEn: "Write a shorter text", HintZh: "请缩短内容",
		},
		"github.label": {
			En: "a label is empty or longer than 100 bytes", Zh: "标签为空或超过 100 字节",
			HintEn: "Name labels as they are called on GitHub", HintZh: "请使用 GitHub 上的标签名",
		},

		"github.read":     {En: "%[1]d issues and pull requests read, in %[2]d pages (%[3]d unchanged)", Zh: "已读取 %[1]d 个议题和拉取请求，共 %[2]d 页（%[3]d 页未变）"},
		"github.waiting":  {En: "GitHub asks to wait for %[1]d s, until %[2]s", Zh: "GitHub 要求等待 %[1]d 秒，到 %[2]s"},
		"github.retrying": {En: "%[1]s does not answer as it should; another try in %[2]d s", Zh: "%[1]s 应答异常，%[2]d 秒后重试"},
	}
}}
