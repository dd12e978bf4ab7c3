package triage

import (
	"strings"

	"pawl/text/pattern"
)

var (
	// told ends what stands before a quote that is to be carried out.
	told   = pattern.New(`(?:\b(?:run|runs|running|execute|executing|exec|call|issue|invoke|type|apply|perform|do|use|using|via|and|enter|paste|by)\s+(?:the |this |these |following |our |a |sql |shell |bash |command |statement |query |script |migration |with |as )*:?\s*|(?:执行|运行|跑|调用|用|使用|敲|输入|通过)(?:一下|以下|下面的?|这条|这个|命令|语句|sql|脚本|查询|一遍|[:\s])*)$`)
	goesTo = pattern.New(`^\s*(?:$|(?:to|on|in|for|please|now|against|from|at|over|到|在|一下|吧)(?:\b|\p{Han}|$))`)

	// spoken are words behind which something is spoken of. They count up to the next "and".
	spoken = pattern.New(`\b(?:document(?:s|ed|ing)?|explain\w*|describ\w+|mention\w*|warn\w*|detect\w*|catch(?:es)?|flags?|highlight\w*|recogni[sz]\w+|lint|scan(?:s|ning)? for|check(?:s|ing)? (?:for|that|whether|if)|alerts?|ask(?:s|ing)? (?:before|for)|confirm\w*|prompt\w*|how to|examples? of|typos?|spelling|test (?:that|whether)|tests? for|simulat\w+|mock\w*|dry[- ]run|error message|messages?|label|tooltip|comments?|docs?|documentation|readme|changelog|guide|section|article|the words?|regex|keywords?|polic(?:y|ies)|risks? of|accidental(?:ly)?|recover\w*|parser?|parse|approval|approve)\b|文档|注释|说明|解释|描述|提示|警告|检测|识别|示例|例如|比如|错误信息|关键词|风险|预防|恢复|撤销|如何|怎么|怎样|为什么|确认|审批|测试(?:一下)?|模拟|解析|是否|误`)
	source = pattern.New(`\b(?:per|according to|following|as (?:described|documented|written) in|see)\b|按照?|根据|参照|依照`)
	beside = pattern.New(`(?:\band|&|并且?|同时|再)\s*(?:then |also )?$`)
	joins  = pattern.New(`\band\b|&|并且?|同时|再`)

	// case of: what is done by others, or at another time.
	whenOthers = pattern.New(`\b(?:(?:if|when|whenever|once|while|until|unless|that|who|where|because|since) (?:an? |the |our |some |any |another )?(?:users?|someone|somebody|customers?|admins?|administrators?|people|anyone|clients?|callers?|they|he|she|it|we|agents?|scripts?|jobs?|process|app|application|services?|servers?|command|program|tests?)|before|after|when|while|until|during|since|why|whether|(?:before|after|when|while|until) (?:we|you|i|it|the|a|they))(?: \w+ing| was| were| is| are| has| have| had| can| could| may| might| would| will| tries to| try to| wants? to| accidentally)*\s*$`)
	past       = pattern.New(`\b(?:was|were|got|has been|have been|had been|had|has|have|accidentally|mistakenly|yesterday|last (?:week|night|month|time|year)|someone|somebody|already|previously|who)\b[^,]{0,30}$|(?:昨天|上周|上次|曾经?|不小心|有人|已经?|刚才|之前|当用户|如果用户|用户)[^,]{0,12}$`)
	pastVerb   = pattern.New(`^(?:ran|dropped|deleted|deployed|pushed|force-pushed|wiped|truncated|removed|published|sent|released|disabled|rebooted|restarted|refunded|charged|leaked|exposed)\b`)
	gerund     = pattern.New(`^\w+ing\b`)
	verdict    = pattern.New(`^(?: \w+)? (?:is|are|was|were|would|can|could|may|might|has|will|should|must)\b`)
	toBe       = pattern.New(`\b(?:be|get|gets|is|are|needs?|want)\s*$`)

	// feature are words that make something a thing to build, rather than to do.
	feature   = pattern.New(`\b(?:add|implement|create|build|write|support|provide|introduce|design|expose|show|display|need|want|fix|improve|rename|style|move|update)\b[^,]{0,50}\b(?:buttons?|commands?|options?|flags?|endpoints?|functions?|methods?|features?|dialogs?|page|menus?|forms?|api|handlers?|hooks?|rules?|checks?|guards?|tests?|screen|subcommands?|warnings?|banners?|ability|support|links?|icons?|tab|permission|scope|role|event|type|class|field)\b`)
	builds    = pattern.New(`(?:添加|新增|增加|加|实现|做|写|开发|支持|显示|提供|设计|修复|改进|优化|创建|需要|补充|弹出|调整|美化|重命名)`)
	featureZh = pattern.New(`^[^,]{0,12}?的?(?:按钮|接口|功能|命令|选项|页面|弹窗|对话框|提示|警告|测试|用例|函数|方法|规则|检查|说明|文档|注释|章节|示例|能力|告警|错误信息|日志|风险|问题|bug|报错|菜单|事件|入口|图标|权限项)`)

	// refusedAfter are words behind something that say that it is not done, or not at once.
	refusedAfter = pattern.New(`^[^,]{0,40}?(?:\b(?:(?:is|are|was|were|must be|should be|be|gets?) (?:forbidden|prohibited|never|not|refused|rejected|blocked|denied|disallowed|out of scope|detected)|(?:needs?|requires?|wants?) (?:\w+ )?(?:confirmation|approval|to be (?:confirmed|approved))|(?:appears?|is mentioned|is documented|shows? up|occurs?) in)\b|是?(?:被)?(?:禁止|不允许|不被允许)|被(?:拒绝|拦截|禁止|阻止)|不在范围|(?:必须|需要|应该?|要)(?:先|由|有)?(?:确认|审批|人工|二次)|(?:之前|以前|前|时|的时候)(?:必须|需要|要|应|先|弹|提示|询问|确认|,|$))`)
)

// maxAround is how many bytes around something are looked at for what it is to mean. It keeps the work on a text
// without punctuation in proportion to its length.
const maxAround = 240

// maxJudged is how many places of one text are looked at for their stance.
const maxJudged = 1000

// stance says whether what stands at text[i:j] of a clause would be done.
//
// In a text that names more dangerous things than anybody writes, the rest counts as actions unseen.
func (d *detector) stance(c clause, i, j int) Stance {
	if d.judged++; d.judged > maxJudged {
		return StanceAction
	}
	before, after := d.text[max(c.start, i-maxAround):i], d.text[j:min(c.end, j+maxAround)]
	if q, ok := within(d.quotes, d.at[i]); ok {
		if !d.toldToDo(c, q) {
			return StanceMention
		}
		from, to := min(i, d.find(q.Start)), min(max(j, d.find(q.End)), c.end)
		before = d.text[min(from, max(c.start, from-maxAround)):from]
		after = d.text[to:min(c.end, to+maxAround)]
	} else if c.comment {
		return StanceMention
	}
	switch {
	case gerund.Get().MatchString(d.text[i:j]) && verdict.Get().MatchString(after):
	case c.refused, len(refusals(before)) > 0:
	case c.asked && (c.sentence.question || !joins.Get().MatchString(before)):
	case refusedAfter.Get().MatchString(after + d.rest(c)):
	case d.spokenOf(before):
	case beside.Get().MatchString(before):
		return StanceAction // "update the page and delete …" does both
	case whenOthers.Get().MatchString(before), past.Get().MatchString(before):
	case pastVerb.Get().MatchString(d.text[i:j]) && !toBe.Get().MatchString(before):
	case feature.Get().MatchString(before):
	case builds.Get().MatchString(before+d.text[i:min(len(d.text), i+6)]) && featureZh.Get().MatchString(after):
	default:
		return StanceAction
	}
	return StanceMention
}

// rest is what follows a clause in its sentence where only a comma parts them; a word that takes something back may
// stand there.
func (d *detector) rest(c clause) string {
	if c.end < c.sentence.end && d.text[c.end] == ',' {
		return ","
	}
	return ""
}

// spokenOf reports whether a word such as "document" or "warn" governs what follows. Behind an "and" begins something
// else.
func (d *detector) spokenOf(before string) bool {
	if all := joins.Get().FindAllStringIndex(before, -1); len(all) > 0 {
		before = before[all[len(all)-1][1]:]
	}
	return spoken.Get().MatchString(before) && !source.Get().MatchString(before)
}

// toldToDo reports whether a quote is to be carried out: somebody says to run it, or it stands for itself.
func (d *detector) toldToDo(c clause, q quote) bool {
	start, end := d.find(q.Start), d.find(q.End)
	switch q.kind {
	case quoteStrike:
		return false
	case quoteFence:
		line := strings.TrimSpace(d.text[:start])
		if line == "" && strings.TrimSpace(d.text[end:]) == "" {
			return !remarks.Get().MatchString(d.text[lineStart(d.text, c.start):])
		}
		line = strings.TrimSpace(line[lineStart(line, len(line)):])
		return told.Get().MatchString(strings.TrimRight(line, ":")+" ") && len(refusals(line)) == 0 &&
			!remarks.Get().MatchString(d.text[lineStart(d.text, c.start):])
	}
	before := d.text[min(start, max(c.start, start-maxAround)):start]
	if strings.TrimSpace(strings.Trim(strings.TrimSpace(before), "-*+•$>")) == "" {
		return goesTo.Get().MatchString(d.text[min(end, c.end):c.end])
	}
	return told.Get().MatchString(before)
}
