package triage

import (
	"regexp"
	"strings"
	"sync"

	"pawl/text/pattern"
)

// textRule is one way in which words say something of extremely high risk. Needles are cheap to look for: the
// expression is tried only where one of them stands. Not is tried on the words around a match and takes it back.
type textRule struct {
	kind    RiskKind
	needles []string
	match   *regexp.Regexp
	not     *regexp.Regexp
}

const (
	the    = `(?:the |our |my |your |their |this |that |these |those |all |any |every |each |some |whole |entire |a |an |of )*`
	live   = `(?:production|prod|live)`
	place  = ` (?:db|database|databases|servers?|environments?|env|systems?|cluster|site|website|data|tables?|traffic|instances?|api|users?|hosts?|account|machines?|config(?:uration)?|secrets?|services?|app)`
	secret = `(?:passwords?|passwd|secrets?|credentials?|api[- _]?keys?|access[- ]?(?:keys?|tokens?)|private keys?|(?:auth|bearer|session|refresh|github|bot|secret|oauth|jwt) tokens?|ssh keys?|encryption keys?)`
	whose  = `(?:the |our |all |my |a |an |user |users' |user's |raw |plain |plaintext |admin |root |production |prod |db |database |aws |stripe |github |smtp |actual |real |full )*`
	person = `(?:pii|personal(?:ly identifiable)? (?:data|information|details)|(?:users?|customers?|employees?|patients?|clients?)(?:'s|')? (?:data|emails?|e-mails?|phone numbers?|addresses|records|details|information|names|passports?|locations?)|e?-?mail addresses|phone numbers|id (?:cards?|numbers)|social security numbers?|ssns?|credit[- ]card(?: numbers?| data)?|medical records?|passport numbers?)`
	zhGap  = `[^,。;\n]`
)

// change are words for what is done to a live system.
const change = `(?:(?:re)?deploy(?:s|ed|ing)?|releas(?:e|es|ed|ing)|ship(?:s|ped|ping)?|push(?:es|ed|ing)?|publish(?:es|ed|ing)?|promot(?:e|es|ed|ing)|roll(?:s|ed|ing)? (?:\w+ )?(?:out|back)|migrat(?:e|es|ed|ing)|appl(?:y|ies|ied|ying)|run(?:s|ning)?|ran|execut(?:e|es|ed|ing)|restart(?:s|ed|ing)?|chang(?:e|es|ed|ing)|modif(?:y|ies|ied|ying)|updat(?:e|es|ed|ing)|delet(?:e|es|ed|ing)|remov(?:e|es|ed|ing)|wip(?:e|es|ed|ing)|writ(?:e|es|ing)|connect(?:s|ed|ing)?|switch(?:es|ed|ing)?|import(?:s|ed|ing)?|load(?:s|ed|ing)?|seed(?:s|ed|ing)?|copy|sync|insert(?:s|ed|ing)?|patch(?:es|ed|ing)?|hotfix|test(?:s|ed|ing)?|debug|edit(?:s|ed|ing)?|touch|install(?:s|ed|ing)?|turn|enable|disable|scale|flip|upgrade|drop|truncate|fix|rotate|reset)`

// textRules are the rules about words; commands, SQL and secret values are read on their own.
var textRules = sync.OnceValue(func() []textRule {
	re := regexp.MustCompile
	return []textRule{
		{RiskProduction, []string{"prod", "live"},
			re(`\b` + change + `(?: [\w'./:-]+){0,7}? (?:to|on|in|into|against|at|onto|from) ` + the +
				`(?:production|prod|live` + place + `|production branch)\b(?:` + place + `)?|\b` + change + ` ` + the +
				live + place + `\b|\b(?:roll(?:s|ed|ing)? back|restart|redeploy|take down) production\b|\bgo(?:es|ing)? live\b|\bput (?:it|this|that) live\b`),
			re(`production[- ](?:ready|grade|quality|like|builds?|bundle|mode|code|dependenc\w*|deps|profile|use|readiness|line|release notes)|non-?production|pre-?prod|prod(?:uction)? (?:mode|builds?|bundle|deps)|node_env|live[- ]?(?:reload|preview|search|updat\w*|region|data feed)|\b(?:crash|bug|error|issue|exception|problem|failure)\w* (?:\w+ ){0,4}in prod`)},
		{RiskProduction, []string{"生产", "线上", "正式", "prod", "上线"},
			re(`(?:部署|发布|发版|上线|推送|推|迁移|同步|执行|运行|跑|修改|更改|更新|删除|删|清理|清空|重启|写入?|导入|操作|连接|连|切换|应用|回滚|变更|升级|改)` + zhGap +
				`{0,12}?(?:生产(?:环境|库|数据库|服务器?|机器?|集群|系统|配置|数据|上)|到生产|线上(?:环境|库|数据库|服务器?|系统|配置|数据|机器)|(?:到|至)线上|正式(?:环境|服|库)|\bprod(?:uction)?\b)|(?:在|对|到|往|将|把|给|去)(?:生产|线上|正式)(?:环境|库|数据库|服务器|系统|集群|机器|数据|配置)?(?:上|里|中|直接|的)*` + zhGap + `{0,12}?(?:部署|发布|执行|运行|跑|修改|更新|删除|删|清空|清理|重启|写|操作|测试|调试|迁移|升级|回滚|改)|直接上线|上线到`),
			re(`生产(?:者|力|线|商|日期|级|构建|模式|就绪|可用|订单|计划|管理|依赖)|线上(?:课|会议|线下)|(?:生产|线上)环境` + zhGap +
				`{0,6}(?:报错|崩溃|问题|异常|失败|bug)`)},
		{RiskProduction, []string{"push", "commit", "推", "提交"},
			re(`\b(?:push(?:es|ed|ing)?|commit(?:s|ted|ting)?)(?: (?:it|this|that|them|everything|directly|straight|(?:the |your |my |our )?(?:fix|changes?|commits?|branch|code|result|work)))* (?:to|onto|into|on) (?:the |origin[ /])?(?:master|main|trunk)\b|(?:推送|推|提交|push)` + zhGap + `{0,8}?(?:到|至)\s*(?:origin/)?(?:master|main|主干|主分支)`), nil},

		{RiskDataLoss, []string{"drop"},
			re(`\bdrop(?:s|ped|ping)? ` + the +
				`(?:old |existing |production )*(?:[\w."]+ )?(?:tables?|databases?|schemas?|collections?|columns?)\b(?: [a-z_][\w.]*_[\w.]*| users\b| orders\b)?`),
			re(`drag[- ]and[- ]drop|drop (?:shadow|zone|cap)|html table|table (?:rows|cells|header|of contents)`)},
		{RiskDataLoss, []string{"delet", "remov", "wip", "eras", "purg", "destroy", "clear", "nuk", "empt"},
			re(`\b(?:delet(?:e|es|ed|ing)|remov(?:e|es|ed|ing)|wip(?:e|es|ed|ing)|eras(?:e|es|ed|ing)|purg(?:e|es|ed|ing)|destroy(?:s|ed|ing)?|clear(?:s|ed|ing)?|nuk(?:e|es|ed|ing)|empt(?:y|ies|ied|ying))(?: out)? (?:(?:all|every|the entire|the whole|entire|whole) (?:of )?(?:the |our |my |their |old |existing |user |users' |customer |production |stored |uploaded |inactive )*(?:users?|accounts?|customers?|data|records?|rows?|tables?|databases?|db|orders?|documents|backups?|buckets?|volumes?|disks?|drives?|messages|history|files)|everything|(?:the |our |my |a |old )*(?:production |prod |live |user |users' |customer |main |whole |entire )*(?:databases?|db|backups?|disk|drive|volume|bucket|user data|customer data|partition))\b`),
			re(`users of|data[- ]?(?:attributes?|binding|race|urls?|types?|class\w*)|(?:database|db) (?:code|layer|calls?|import|driver|helper|package|mock|logic|wrapper)|tables? (?:of contents|from the (?:readme|docs?))|history (?:api|state)|in[- ]memory|cache|te?mp\b|mock|fixture|test (?:data|database|db|records|users|files)|unused|dead|trailing|whitespace|duplicat|generated|build output|dist\b|\.orig|log files|node_modules|everything (?:that|about|related|but)|empty (?:table|database|files?|rows?|records?)|(?:backup|volume) (?:icon|slider|button|file extension)`)},
		{RiskDataLoss, []string{"truncat"}, re(`\btruncat(?:e|es|ed|ing) (?:` + the +
			`(?:[\w."]+ )?(?:tables?|database))\b`), re(`table (?:cells?|header|column|text|row)`)},
		{RiskDataLoss, []string{"format"}, re(`\b(?:re)?format(?:s|ted|ting)? ` + the +
			`(?:hard |usb |external |data |system )*(?:disks?|drives?|partitions?|volumes?|sd card|ssd|filesystem)\b`),
			re(`(?:disk|drive|volume|partition)s? (?:usage|space|size|report|name|letter|label|slider|level|list|table|stats)`)},
		{RiskDataLoss, []string{"删", "清", "抹", "销毁", "移除", "格式化", "干掉", "丢弃"},
			re(`(?:删除|删掉|清空|清除|清掉|抹掉|销毁|移除|干掉|删)(?:掉)?` + zhGap + `{0,8}?(?:所有|全部|整个|一切)` + zhGap +
				`{0,8}?(?:用户|账号|账户|数据|记录|订单|表|数据库|文件|备份|客户|消息|库)|(?:删除|删掉|清空|清除|销毁|格式化|抹掉)` + zhGap +
				`{0,8}?(?:数据库|数据表|用户表|订单表|生产库|备份|磁盘|硬盘|分区|存储桶|数据卷|用户数据|客户数据|[a-z_]+\s*表)|删库|清库|(?:把|将)` + zhGap +
				`{0,12}?(?:数据库|数据表|[a-z_]+\s*表|用户表|所有数据|全部数据|磁盘|硬盘)` + zhGap + `{0,6}?(?:删|清空|格式化|抹)`),
			re(`测试(?:数据|库|用户|文件|用例)|缓存|临时|无用|未使用|没用|废弃|重复|空格|空行|数据库(?:代码|层|驱动)|表(?:格|单|头|情|示|达|述|面)|注释|import|文件名|dist|node_modules|构建产物|生成的`)},

		{RiskHistory, []string{"force", "push"},
			re(`\bforce[- ]?push(?:es|ed|ing)?\b|\bpush(?:es|ed|ing)?\b[^,]{0,40}(?:--force\b|--force-with-lease|\bwith force\b)`), nil},
		{RiskHistory, []string{"强推", "强制"}, re(`强制推送|强推|强制\s*push`), nil},
		{RiskHistory, []string{"history", "历史"},
			re(`\b(?:rewrit(?:e|es|ing)|rewrote|delet(?:e|es|ing)|purg(?:e|es|ing)|eras(?:e|es|ing)|scrub|squash(?:es|ing)?) ` + the + `(?:shared |published )*(?:git history|commit history|published history|history of (?:the )?(?:repo\w*|main|master))\b|(?:重写|改写|清除|删除|抹掉)` + zhGap + `{0,6}?(?:git|提交)\s*历史`), nil},
		{RiskHistory, []string{"changes", "work", "edits", "改动", "修改", "更改", "变更"},
			re(`\b(?:discard|throw away|drop|reset|wipe|lose) ` + the +
				`(?:uncommitted|local|unstaged|unsaved|untracked) (?:changes|work|edits|files|modifications)|(?:丢弃|放弃|清除|重置|扔掉)` + zhGap + `{0,6}?(?:未提交|本地|工作区)` + zhGap + `{0,4}?(?:修改|改动|更改|变更)`), nil},
		{RiskHistory, []string{"reset", "重置"}, re(`\bhard[- ]reset\b|\breset (?:` + the +
			`(?:repo|repository|branch|main|master|everything|tree))\b[^,]{0,20}--hard|硬重置|强制重置`), nil},

		{RiskOutage, []string{"shut", "reboot", "restart", "power", "halt", "take down", "kill", "stop", "terminat"},
			re(`\b(?:shut(?:s|ting)? ?down|reboot(?:s|ed|ing)?|restart(?:s|ed|ing)?|power(?:s|ed|ing)? off|halt(?:s|ed|ing)?|take down|kill(?:s|ed|ing)?|stop(?:s|ped|ping)?|terminat(?:e|es|ed|ing)) ` + the + `(?:production |prod |live |remote |running |linux |database |staging )*(?:servers?|machines?|hosts?|production|cluster|instances?|vms?|data ?center|site)\b`),
			re(`graceful|(?:http|test|dev|mock|local|fake|development|language|mcp|debug|preview) servers?|server (?:tests?|handler|component|goroutine)|httptest|sigterm|signal|ctrl|state machine|\.stop|instance of|instances of|in (?:the |all )?tests?\b`)},
		{RiskOutage, []string{"关机", "重启", "关闭", "停掉", "停止", "下线", "断电", "杀掉"},
			re(`(?:关机|重启|关闭|停掉|停止|下线|断电|杀掉)` + zhGap + `{0,6}?(?:服务器|主机|集群|生产|线上|实例|机房|机器)`), re(`优雅|测试|开发服务器|本地|模拟`)},

		{RiskPrivilege, []string{"grant", "giv", "assign", "root", "sudo", "privileged", "world", "sandbox", "selinux",
			"apparmor", "firewall", "administrator"},
			re(`\b(?:grant(?:s|ed|ing)?|giv(?:e|es|ing)|assign(?:s|ed|ing)?) (?:[\w'-]+ ){0,5}?(?:admin|administrator|root|superuser|owner|full|sudo|write) (?:rights?|access|privileges?|permissions?|role)\b|\b(?:run|runs|running|start|execute|log ?in|install|do|launch)(?: [\w'./-]+){0,5}? (?:as (?:root|administrator|superuser)|with (?:sudo|root)|using sudo)\b|\bin privileged mode\b|\bmake (?:[\w'./-]+ ){1,6}?world[- ]writable\b|\b(?:disabl(?:e|es|ed|ing)|turn(?:s|ed|ing)? off|escape) ` + the + `(?:sandbox|selinux|apparmor|firewall)\b`),
			re(`as root (?:element|node|component|object|directory|folder|path|type|of|tag|context|span)`)},
		{RiskPrivilege, []string{"root", "管理员", "权限", "提权", "防火墙", "沙箱", "sudo", "所有人"},
			re(`(?:以|用|使用)\s*(?:root|管理员|超级用户)\s*(?:身份|权限|用户|账号)?` + zhGap +
				`{0,4}?(?:运行|执行|启动|安装|登录|跑)|(?:授予|赋予|给|分配|提升)` + zhGap +
				`{0,12}?(?:管理员|root|超级|最高|全部|所有)\s*(?:的)?权限|提权|关闭(?:防火墙|沙箱|selinux)|用\s*sudo\s*(?:运行|执行|安装|跑)|sudo\s*权限|所有人可写`), nil},

		{RiskSecret, []string{"password", "passwd", "secret", "credential", "key", "token"},
			re(`\b(?:hard-?cod(?:e|es|ed|ing)|hard cod(?:e|es|ed|ing)|commit(?:s|ted|ting)?|check(?:s|ing)? in|log(?:s|ged|ging)?|print(?:s|ed|ing)?|expos(?:e|es|ed|ing)|leak(?:s|ed|ing)?|dump(?:s|ed|ing)?|echo|paste|publish(?:es|ed|ing)?) ` + whose + secret + `\b|\b(?:hard-?code|commit|expose|leak)s? ` + whose + `tokens?\b|\b(?:put|write|save|store|embed|send|share|upload|email|post|keep|return|include|copy)s? ` + whose + `(?:` + secret + `|tokens?)\b(?: [\w'-]+){0,3}? (?:(?:in|as) (?:plain ?text|clear ?text|plain)|unencrypted|(?:in|into|to) (?:the |a |our |its )*(?:repo|repository|code|source(?: code)?|logs?|url|client|front-?end|git|public\w*|slack|third[- ]party|response|browser|bundle))\b|\b(?:rotate|revoke|regenerate|delete|reset|change) ` + the + `(?:production |prod |live |root |admin |aws |database |db |master )+(?:` + secret + `|tokens?)\b`),
			re(`(?:password|secret|credential|key|token)s? (?:hash\w*|field|form|reset|policy|validation|strength|input|manager|page|helper|rules?|prompt|count|usage|limit|bucket|budget|type|names?|expiry|length|handling|parser|flow|change)|mask|redact|encrypted|hashed|login page|log in`)},
		{RiskSecret, []string{"密码", "密钥", "口令", "令牌", "凭证", "凭据", "私钥", "secret", "token", "key"},
			re(`(?:硬编码|写死|明文(?:保存|存储|传输|打印|记录|写入|返回)?|打印|输出|记录|提交|上传|泄露|泄漏|公开|暴露|发送|发给|外发|贴出|导出)` + zhGap +
				`{0,10}?(?:密码|密钥|口令|令牌|凭证|凭据|私钥|secret|token|api[ _-]?key|access[ _-]?key)|(?:密码|密钥|口令|令牌|凭证|凭据|私钥|token|secret|api[ _-]?key)` + zhGap + `{0,8}?(?:写死|硬编码|打印(?:出来|到)|提交到|上传到|输出到|明文|写(?:到|进|入|在)(?:代码|日志|仓库|前端|源码)|发(?:送|给|到)|公开|放(?:到|进|在)(?:代码|仓库|前端))|(?:轮换|吊销|重置|修改|删除)` + zhGap + `{0,8}?(?:生产|线上|管理员|root|数据库)` + zhGap + `{0,4}?(?:密码|密钥|令牌|凭证|口令)`),
			re(`密码(?:框|输入|强度|校验|重置|表单|页面|字段|找回|规则)|token\s*(?:数|用量|数量|计数|统计|消耗|上限)|脱敏|加密|掩码|哈希|令牌桶|key\s*(?:值|名)|hash|重置密码`)},

		{RiskPersonal, []string{"pii", "personal", "user", "customer", "employee", "patient", "client", "mail", "phone",
			"id card", "id number", "social", "ssn", "credit", "medical", "passport"},
			re(`\b(?:export(?:s|ed|ing)?|dump(?:s|ed|ing)?|shar(?:e|es|ed|ing)|send(?:s|ing)?|upload(?:s|ed|ing)?|publish(?:es|ed|ing)?|leak(?:s|ed|ing)?|expos(?:e|es|ed|ing)|log(?:s|ged|ging)?|print(?:s|ed|ing)?|copy|copies|scrap(?:e|es|ed|ing)|collect(?:s|ed|ing)?|sell|transfer|transmit|download|post)(?: [\w'-]+){0,3}? ` + person + `\b`),
			re(`mask|anonymi|redact|pseudonym|encrypt|fake|sample|dummy|seed|mock|test |data (?:struct|type|model|class|object|layer|transfer|table|grid)|(?:user|client)s? (?:names? in the (?:header|ui)|names? on)|log ?in`)},
		{RiskPersonal, []string{"身份证", "手机号", "个人信息", "用户", "客户", "隐私", "银行卡", "病历", "住址", "敏感数据", "护照"},
			re(`(?:导出|收集|采集|上传|发送|分享|共享|泄露|公开|打印|记录|输出|爬取|抓取|出售|外发|下载|拷贝|发给)` + zhGap +
				`{0,10}?(?:身份证|手机号|个人信息|用户(?:数据|信息|隐私|资料|邮箱)|客户(?:数据|信息|资料|名单)|隐私数据|银行卡|病历|住址|敏感数据|护照)|(?:把|将)` +
				zhGap + `{0,8}?(?:身份证|手机号|个人信息|用户(?:数据|信息|隐私|资料|邮箱)|客户(?:数据|信息|资料|名单)|银行卡|病历|住址)` + zhGap +
				`{0,8}?(?:导出|上传|发给|发送|分享|共享|打印|写入日志|公开)`),
			re(`脱敏|掩码|匿名|加密|示例|测试|假数据|模拟`)},

		{RiskPayment, []string{"charg", "refund", "bill", "debit", "pay", "money", "funds", "checkout", "stripe",
			"alipay", "braintree", "adyen"},
			re(`\b(?:charg(?:e|es|ed|ing)|refund(?:s|ed|ing)?|bill(?:s|ed|ing)?|debit(?:s|ed|ing)?) ` + the +
				`(?:users?|customers?|orders?|cards?|accounts?|subscribers?|payments?|clients?|invoices?|credit cards?)\b|\b(?:issu(?:e|es|ing)|process(?:es|ing)?|trigger|make|send|execute|initiate|transfer|wire) (?:[\w'-]+ ){0,3}?(?:refunds?|payments?|payouts?|money|funds)\b|\b(?:chang(?:e|es|ing)|modify|rewrit(?:e|ing)|refactor(?:ing)?|implement(?:ing)?|integrat(?:e|ing)|add|build|replac(?:e|ing)|migrat(?:e|ing)|rework|switch|fix) (?:[\w'-]+ ){0,5}?(?:payments?|refunds?|billing|checkout|payouts?|charge) (?:logic|flow|processing|processor|gateway|provider|calculation|amounts?|api|system|integration|handling|engine)\b|\bintegrat(?:e|ing) (?:with )?(?:stripe|paypal|alipay|wechat pay|braintree|adyen)\b`),
			re(`page|button|label|css|style|docs?\b|typo|icon|layout|readme|colou?r|test|mock|comment|in charge`)},
		{RiskPayment, []string{"扣款", "扣费", "退款", "转账", "打款", "提现", "收费", "支付", "计费", "结算", "收款", "银联"},
			re(`(?:扣款|扣费|退款|转账|打款|提现)` + zhGap + `{0,4}?(?:给|所有|全部|用户|客户|订单|金额)|(?:给|向|对|为)` + zhGap +
				`{0,10}?(?:用户|客户|订单|账户|商家|会员)` + zhGap + `{0,6}?(?:扣款|扣费|退款|转账|打款|收费)|(?:发起|执行|触发|批量|自动|真实)` + zhGap +
				`{0,4}?(?:退款|支付|扣款|转账|打款|扣费)|(?:修改|重构|重写|实现|接入|对接|新增|添加|增加|集成|替换|调整|迁移|改)` + zhGap +
				`{0,10}?(?:支付|退款|计费|扣款|结算|收款)(?:宝|逻辑|流程|接口|网关|渠道|系统|模块|计算|金额|功能|sdk|服务)|(?:接入|对接|集成)` + zhGap +
				`{0,4}?(?:微信支付|银联|stripe|paypal)`),
			re(`页面|按钮|样式|文案|错别字|测试|文档|图标|颜色|注释|模拟`)},

		{RiskExternal, []string{"publish", "releas", "upload", "submit", "send", "sent", "email", "notify", "message",
			"sms", "post", "text"},
			re(`\b(?:publish(?:es|ed|ing)?|releas(?:e|es|ed|ing)|upload(?:s|ed|ing)?|submit(?:s|ted|ting)?)(?: [\w'@/.-]+){0,6}? (?:to|on) (?:the )?(?:npm|pypi|crates\.io|docker ?hub|maven(?: central)?|rubygems|nuget|app ?store|play store|google play|marketplace|public registry)\b|\b(?:send(?:s|ing)?|sent|e-?mail(?:s|ed|ing)?|text|notify|message|sms)(?: [\w'-]+){0,6}? (?:all|every|our|real|each|existing)(?: of)?(?: our| the| active| registered| paying)* (?:users?|customers?|subscribers?|clients?)\b|\bpost(?:s|ed|ing)?(?: [\w'-]+){0,4}? (?:to|on) (?:twitter|facebook|linkedin|weibo|reddit|hacker news)\b|\bupload(?:s|ed|ing)?(?: [\w'-]+){0,5}? to (?:a |an |the |some )*(?:third[- ]party|external|public) (?:service|server|site|bucket|api|host)`),
			re(`event|observer|listener|pub/?sub|websocket|callback|channel|text(?:ure|area)|mock|fake|test `)},
		{RiskExternal, []string{"发布", "上传", "推送", "群发", "发"},
			re(`(?:发布|上传|推送)` + zhGap + `{0,10}?(?:到|至)\s*(?:npm|pypi|docker ?hub|crates\.io|应用商店|app ?store|maven|公网|第三方|外部)|(?:给|向)(?:所有|全部|全体|真实|每个|我们的)` + zhGap + `{0,6}?(?:用户|客户|订阅者|会员)` + zhGap + `{0,6}?(?:发|推送|通知)|群发(?:短信|邮件|消息)`), re(`测试|模拟|事件|订阅者模式`)},

		{RiskAuth, []string{"auth", "login", "permission", "access", "password", "signature", "tls", "ssl", "cert",
			"csrf", "2fa", "mfa", "token", "jwt", "security", "acl", "rbac", "anyone", "everyone"},
			re(`\b(?:disabl(?:e|es|ed|ing)|skip(?:s|ped|ping)?|bypass(?:es|ed|ing)?|remov(?:e|es|ed|ing)|turn(?:s|ed|ing)? off|drop(?:s|ped)?|ignor(?:e|es|ed|ing)|circumvent\w*|weaken\w*|switch off|comment(?:s|ed|ing)? out|relax(?:es)?|delete) ` + the + `(?:user |api |admin |server |client )*(?:authentication|authori[sz]ation|access control|csrf protection|2fa|mfa|(?:auth|login|permission|password|signature|tls|ssl|certificate|cert|csrf|token|jwt|security|acl|rbac|access)s? (?:checks?|verification|validation|enforcement|protection|middleware|guards?|requirements?|controls?|filter))\b|\b(?:allow|let)s? (?:anyone|everyone|unauthenticated|anonymous|all users)\b[^,]{0,40}(?:without|access|log ?in|delete|write|admin)|\ballow(?:s|ing)?\b[^,]{0,30} without (?:a |any )*(?:password|authentication|login|auth|permission check)`),
			re(`unused|dead code|duplicat|deprecated|docs?\b|documentation|comments?\b(?: in)|typo|tests? for|readme|import`)},
		{RiskAuth, []string{"认证", "鉴权", "身份", "权限", "登录", "签名", "证书", "密码", "csrf", "安全", "双因素", "验证码", "访问控制"},
			re(`(?:禁用|关闭|跳过|绕过|绕开|去掉|移除|删除|取消|屏蔽|注释掉|忽略|停用|放开)` + zhGap +
				`{0,8}?(?:认证|鉴权|身份(?:验证|校验)|权限(?:校验|检查|验证|控制)|登录(?:校验|验证|检查|态校验)|签名(?:校验|验证)|证书(?:校验|验证)|密码(?:校验|验证)|csrf|安全(?:校验|检查|验证)|双因素|验证码(?:校验|验证)|访问控制)`), re(`未使用|无用|重复|文档|注释里|测试|示例`)},
	}
})

var (
	sqlWords = pattern.New(`\b(?:delete\s+from|truncate(?:\s+table)?)\s+["\x60\[]?[a-z_][\w.]*["\x60\]]?|\b(?:drop\s+(?:table|database|schema|user|role|view)(?:\s+if\s+exists)?)\s+["\x60\[]?[a-z_][\w.]*`)
	upper    = pattern.New(`^[A-Z]+\b`)
	sqlTail  = pattern.New(`^\s*(?:;|where\b|cascade\b|restart identity\b)`)
)

// sql finds statements that destroy data. Words that also are English count as SQL where they are written as SQL is: in
// capitals, in code, or with what follows in a statement.
func (d *detector) sql(c clause) {
	text := d.text[c.start:c.end]
	if !hasAny(text, []string{"delete", "truncate", "drop"}) {
		return
	}
	for _, m := range sqlWords.Get().FindAllStringIndex(text, -1) {
		i, j := c.start+m[0], c.start+m[1]
		at := d.span(i, j)
		q, quoted := within(d.quotes, at.Start)
		code := quoted && q.kind != quoteSpeech
		if upper.Get().MatchString(at.In(d.src)) || code || sqlTail.Get().MatchString(d.text[j:]) {
			d.add(RiskDataLoss, i, j, d.stance(c, i, j))
		}
	}
}

var (
	// commandStart finds where a command may begin that is worth being parsed; the parser decides.
	commandStart = pattern.New(`(?:^|[\s:($>\x60'"“「]|\p{Han})((?:sudo|doas)\s+[a-z/.]|rm\s+-|git\s+(?:push|reset|clean|filter-branch|filter-repo|stash|reflog|branch|update-ref)\b|(?:kill|killall|pkill)\s+-|chmod\s+[-0-7a-z+=,]|chown\s|dd\s+(?:if|of)=|mkfs|wipefs\s|shred\s|find\s+\S+\s.*-(?:delete|exec)|kubectl\s|terraform\s|helm\s|docker\s|npm\s+(?:publish|unpublish)|yarn\s+(?:npm\s+)?publish|pnpm\s+publish|cargo\s+publish|twine\s+upload|gem\s+push|(?:shutdown|halt|poweroff)\s+(?:-|now|\+)|systemctl\s|psql\s|mysql\s|redis-cli\s|mongo(?:sh)?\s|aws\s|gcloud\s|ssh\s|dropdb\s|gh\s+(?:repo|release)\s)`)
	proseWord    = pattern.New(`\s(?:and|then|to|in|on|before|after|or|when|if|because|which|that|is|are|does|from|for|with|the|would|will|was|but|so|at|by|as|should|please|,)\s|\p{Han}|[。、]`)
)

// maxCandidate bounds what of a text is taken for one command, in bytes.
const maxCandidate = 4096

// commandsIn finds commands in a text and judges them as commands are judged. Of a command that stands among words,
// only what comes before the next plain word is taken.
func (d *detector) commandsIn(c clause) {
	text, done := d.text[c.start:c.end], 0
	for _, m := range commandStart.Get().FindAllStringSubmatchIndex(text, -1) {
		i, end := c.start+m[2], min(c.end, c.start+m[2]+maxCandidate)
		if i < done {
			continue // it belongs to the command before it
		}
		if q, ok := within(d.quotes, d.at[i]); ok {
			if q.kind != quoteFence {
				end = min(max(d.find(q.End), i), i+maxCandidate)
			}
			if mark := strings.IndexAny(d.text[i:end], "`\n"); mark >= 0 {
				end = i + mark
			}
			if q.kind == quoteSpeech {
				end = max(i, end-1)
			}
		} else if cut := proseWord.Get().FindStringIndex(d.text[i:end]); cut != nil && !c.comment {
			end = i + cut[0]
		}
		done = end
		for _, f := range DetectCommand(strings.TrimRight(d.kept[i:end], " .!?'\"”」")) {
			d.add(f.Kind, i+f.Start, i+f.End, d.stance(c, i, min(end, i+1)))
		}
	}
}
