package triage

import (
	"regexp"
	"strings"
	"sync"

	"pawl/text/display"

	"pawl/text/pattern"
)

var (
	// leadIn is the end of the text before a command that only leads to it.
	leadIn = pattern.New(`(?i)(?:(?:please|pls|kindly|can you|could you|would you|just|now|then|and|let'?s|go|run|use|using|with|via|by|execute|call|start|do|try|the|command|hey|ok|okay|pawl)[\s,:]*|请你?|帮我|麻烦你?|好的?|现在|然后|接着|并|就|来|先|用|使用|通过|运行|执行|调用|启动|试试|命令|一下|，|,|:|：|[(（\[【]|\s)*$`)
	// leadOnly is text behind a command that says nothing of its own.
	leadOnly = pattern.New(`(?i)^(?:please|pls|thanks|thank you|now|for me|command|命令|谢谢|吧|一下|就行|即可|好了|来做|来处理|来完成|处理|[\s.,!?。，！？~～()（）\[\]【】])*$`)

	refusedBefore = pattern.New(`(?:do not|don't|dont|never|without|avoid|stop|instead of|not to|rather than|不要|不用|不必|别|勿|禁止|避免|而不是|而非|无需|不想)[^,，]{0,24}$`)
	askedBefore   = pattern.New(`(?:\b(?:what(?:'s| is| does| do| are| will| would)|how (?:does|do|is|to use|can i use|should i use)|when (?:should|do|does|would)|why (?:does|is|do)|explain|describe|tell me about|difference between|help (?:with|on|about)|meaning of|documentation (?:of|for)|did|is|was)(?:\s+(?:i|we|you|the|a|command|use|run|say|exactly|and|~[a-z]+))*\s*$)|(?:什么是|啥是|解释(?:一下)?|说明(?:一下)?|介绍(?:一下)?|如何使用|怎么用|怎样使用|何时(?:使用|用)|什么时候(?:使用|用|该用)|为什么(?:要|会|用)?)\s*$`)
	askedAfter    = pattern.New(`^\s*(?:命令|指令)?\s*(?:是什么|是啥|是干什么|是干嘛|是做什么|有什么用|有何用|怎么用|如何用|如何使用|怎么使用|做什么|干什么|干嘛|什么意思|有(?:什么|啥|何)(?:区别|不同|差别)|的?(?:区别|差别)|和[^,，]{0,20}(?:区别|不同)|与[^,，]{0,20}(?:区别|不同)|会(?:不会)?[^,，]{0,16}(?:吗|\?))`)

	goesOn     = pattern.New(`^(?:(?:please |ok(?:ay)?,? |yes,? )?(?:continue|go on|go ahead|carry on|proceed|resume|keep going|next)(?: please| then| now)?|(?:好的?,?|请)?(?:继续|接着(?:做|来|干)?|往下(?:做|走)?|下一步|恢复)(?:吧|执行|处理|做)?)$`)
	mcpAddress = pattern.New(`(?:^|[^a-z0-9])(mcp://[a-z0-9._/-]*[a-z0-9])`)
	signed     = pattern.New(`(?:^|[\s(:,。、]|\p{Han})([/$@][a-z][a-z0-9_./:-]*)`)
	finite     = pattern.New(`^(?:is|are|was|does|do|did|has|have|should|must|can|cannot|can't|returns?|gives?|fails?|shows?|needs?|responds?|throws?|crash\w*|takes?|still|endpoint|route|page|path|folder|directory|返回|报错|失败|应该|需要|接口|页面|路径|目录|不|会|没|无法|出现|显示)(?:\b|\p{Han}|$)`)
)

// choices are the ways to say each choice, tried in this order.
var choices = sync.OnceValue(func() []struct {
	choice Choice
	match  *regexp.Regexp
} {
	type row = struct {
		choice Choice
		match  *regexp.Regexp
	}
	whole := func(expr string) *regexp.Regexp { return regexp.MustCompile(`^(?:` + expr + `)$`) }
	return []row{
		{ChoiceAsIs, whole(`(?:please )?(?:(?:continue|go on|proceed|go ahead|carry on|start|do it)(?: with (?:what (?:there is|you have|we have)|it|that|this|the (?:current|existing) requirement)| as (?:it )?is| anyway| regardless)|as[- ]is|good enough|that's (?:all|enough)|skip(?: (?:it|this|them|the questions?))?|以现有需求继续|(?:就|先)?(?:这样|按现有(?:需求|信息|内容)?|按现状|现有需求|就这些)(?:继续|做|来|处理|执行|吧|就行|就好)*|不补充了?|跳过|直接(?:继续|开始|做)(?:吧)?)`)},
		{ChoiceCancel, whole(`(?:please )?(?:cancel|abort|stop|quit|exit|never ?mind|forget it|drop it|give up|q)(?: (?:it|this|that|please|now|the (?:flow|command|task)))*|取消(?:吧|了|掉|任务|当前命令|流程)?|算了|不做了|不要了|放弃|停止|终止|退出|停下?`)},
		{ChoiceYes, whole(`(?:(?:yes|yep|yeah|yup|y|ok|okay|sure|confirm(?:ed)?|approved?|agreed?|lgtm|looks good|fine|do it|go(?: ahead| for it)?|let's go|please do|continue|proceed|start|ship it|好|好的|好吧|好啊|是|是的|对|对的|可以|行|确认(?:执行|开始)?|确定|同意|没问题|嗯|开始(?:执行|做)?|执行|继续|动手|批准|通过)吧?[ ,，、.。!！]*)+(?:please|thanks)?`)},
		{ChoiceNo, whole(`(?:n|no|nope|nah|don't|do not|reject(?:ed)?|declined?|not now|no thanks|否|不|不是|不要|不行|不用|不可以|不同意|拒绝|先不|别)`)},
	}
})

// controls are the ways to take hold of the work in one word, which hold where it is no choice that is waited for.
var controls = sync.OnceValue(func() []struct {
	control Control
	match   *regexp.Regexp
} {
	whole := func(expr string) *regexp.Regexp { return regexp.MustCompile(`^(?:please |请)?(?:` + expr + `)$`) }
	return []struct {
		control Control
		match   *regexp.Regexp
	}{
		{ControlStop, whole(`(?:force )?stop(?: (?:it|this|now|the (?:work|run|repair)))*|强制停止|停止|停下?|终止`)},
		{ControlCancel, whole(`(?:cancel|abort|never ?mind|forget it|drop it|give up)(?: (?:it|this|that|now|the (?:flow|command|task|run)))*|取消(?:吧|了|掉|任务|当前命令|流程)?|算了|不做了|不要了|放弃`)},
		{ControlRollback, whole(`(?:roll ?back|revert|undo)(?: (?:it|this|that|everything|the (?:changes?|run|work)))*|(?:回滚|撤销|回退|还原)(?:吧|一下|全部|改动|任务)?`)},
		{ControlSkip, whole(`skip(?: (?:it|this|that|(?:the|this) (?:task|step)))*|跳过(?:吧|它|任务|这个任务|当前任务|这一步)?`)},
	}
})

// differs are words with which a person says what is to be different, where no verb does.
var differs = pattern.New(`\b(?:instead|rather|without|only|don't|do not|not|no|never|also|as well|too|but|except|more|less|fewer|smaller|larger|first|keep|leave|name|call|prefer|another|other|different)\b|要|别|不|只|也|还|另外|但|而不是|换|少|多|太|保留|先|再|更|动`)

// want is one way to say that something is to be changed, or that something is asked.
var (
	// polite begins a request although it has the form of a question.
	politeAsk = pattern.New(`^(?:hi|hey|hello|ok|so|and|also|then|now|well|你好|您好|嗨|那|那么|嗯|另外|还有|,|\s)*(?:please|pls|kindly|(?:can|could|would|will) (?:you|we|u)(?: (?:please|also|maybe|kindly))*|would you mind|i(?:'d| would) like (?:you )?to|let'?s|请问?(?:你)?(?:能不能|能否|可不可以|可以)|能不能|能否|可不可以|可否|可以(?:请你)?|请你?|帮(?:我|忙)?|麻烦(?:你)?|我(?:想|要|希望|需要)(?:你)?(?:帮我?)?|给我)\s*`)
	ahead     = pattern.New(`^[\s\-*#>•·0-9.)(、,:]+`)

	askStart  = pattern.New(`^(?:what|what's|whats|why|how|where|when|which|who|whose|is|are|was|were|does|do (?:we|you|i|they|the|these|those|any)|did|has|have (?:i|we|you|they|any|these|those)|am|any|should|shall|can i|can we|could i|may i|would it|will (?:it|this|that|the)|can (?:it|this|that|the|pawl)|could (?:it|this|that|the)|isn't|aren't|doesn't|don't you|explain|describe|tell me|show me|list|summari[sz]e|compare|walk me through|give me an overview|help me understand|i wonder|i'm wondering|i don't understand|what if|is there|are there)\b|^(?:为什么|为何|为啥|怎么|怎样|如何|什么|啥|哪|谁|几|多少|是否|是不是|有没有|有无|能否|解释|说明一下|介绍|讲讲|讲一下|说说|告诉我|列出|列举|总结|概述|对比|比较|看看|查看|想知道|想了解|想问|请教|分析一下)`)
	askInside = pattern.New(`(?:为什么|为何|干嘛|怎么(?:回事|样|办|用|会|没)|是什么|什么(?:意思|原因|区别|时候|地方)|有什么(?:用|区别|办法|建议)|哪(?:个|些|里|儿)|是否|是不是|有没有|会不会|吗$|呢$|吗\?|区别)`)
	chat      = pattern.New(`^(?:hi|hello|hey|thanks?|thank you|thx|good (?:morning|evening|afternoon|job)|great|nice|cool|bye|lol|ok|okay|yes|no|你好|您好|谢谢|多谢|辛苦了|早上好|晚上好|再见|好的|嗯|哈+|不错|很好|在吗)(?: (?:there|pawl|so much|a lot|all|you))*(?:[\s,。.!~]+(?:thanks?|thank you|bye|cheers|(?:that|it|this) (?:was|is|works?|worked|looks?) (?:great|good|fine|nice|perfect|well)|(?:great|good|nice) (?:job|work)|well done|谢谢|多谢|辛苦了?|再见|做得(?:很|真)?(?:好|棒)|(?:很|太|真)(?:好|棒)了?))*$`)

	actVerb = pattern.New(`\b(?:add|fix|implement|create|build|make|write|remove|delete|drop|update|upgrade|bump|change|refactor|rename|rewrite|replace|migrate|move|extract|split|merge|convert|introduce|support|enable|disable|improve|optimi[sz]e|speed up|clean(?: up)?|tidy(?: up)?|format|reformat|lint|repair|resolve|correct|revert|restore|install|configure|set up|setup|integrate|handle|validate|allow|prevent|limit|reduce|increase|simplify|document|translate|port|deploy|release|publish|push|run|test|cover|deprecate|cache|log|redesign|restructure|reorgani[sz]e|generate|hide|show|display|return|print|rework|harden|secure|bring|get|let|ensure|unbreak|pass|wire|hook up|connect|expose|sort|paginate|debounce|throttle|retry|parse|store|save|load|export|import|use|switch|turn|stop|start|adjust|tweak|align|finish|complete|throw|align|bundle|pin|vendor|prune|sort out|apply|truncate|trim|wipe|purge|reset|undo|roll back|rollback)\b`)
	zhVerb  = pattern.New(`(?:添加|新增|增加|加上|加入|加个|加一|加|修复|修好|修改|修正|修|改成|改为|改|实现|创建|新建|建立|搭建|编写|写一|写个|写|开发|删除|删掉|移除|去掉|去除|清理|清空|更新|升级|重构|重写|重命名|替换|换成|迁移|移动|提取|抽取|抽出|拆分|合并|转换|引入|支持|启用|禁用|关闭|打开|优化|改进|改善|提升|提高|加快|加速|整理|格式化|解决|纠正|回滚|恢复|安装|配置|设置|集成|接入|对接|处理|校验|允许|限制|减少|降低|简化|补充|补上|补全|翻译|移植|部署|发布|上线|推送|运行|执行|覆盖|缓存|记录|生成|隐藏|显示|展示|返回|打印|加固|让|使|确保|保证|统一|调整|完善|完成|导出|导入|用|换|做|封装|适配|规范|消除|通过|跑通)`)

	trouble = pattern.New(`\b(?:broken|crash(?:es|ed|ing)?|fails?|failing|failed|failure|wrong|incorrect(?:ly)?|error|errors|exception|panics?|hangs?|freezes?|leak(?:s|ing)?|bugs?|doesn't work|does not work|not working|isn't working|won't|cannot|can't|stopped working|returns? (?:4\d\d|5\d\d|nil|null|nothing)|throws?|slow|too (?:slow|long|large|many)|missing|typo|misspell\w*|regression|flaky|race condition|deadlocks?|off by one|duplicat\w+|inconsistent)\b|报错|出错|崩溃|失败|异常|错误|不工作|不能用|无法|不对|不正确|有问题|有bug|bug|卡死|卡住|死锁|泄漏|泄露|很慢|太慢|变慢|丢失|乱码|缺少|错别字|拼写|闪退|白屏|返回\s*[45]\d\d|(?:请求|连接|响应|总是|经常|频繁)超时|超时(?:了|失败|报错|错误)|不生效|没反应|没有反应|` + callIsNot + `\S+`)
	wish    = pattern.New(`\b(?:should|must|needs? to|has to|have to|ought to|i want|we want|i need|we need|i'd like|would like|it would be (?:nice|good|great)|want(?:s)? to be able|shall|how about|what about|why (?:not|don't (?:we|you)))\b|应该|应当|必须|需要|希望|想要|要求|我想|我要|要能|最好(?:能|是)?|要有|得有|得能`)
	intoDoc = pattern.New(`\b(?:in|into|to) (?:the |a |our |its )?(?:readme|docs?|documentation|comments?|wiki|changelog|docstrings?|manual|help text|guide|file)\b|(?:写|加|补|记)(?:到|进|在|入)|(?:文档|注释|readme)(?:里|中|上)`)
)

// intent is the third layer: what does the input want? A change is what remains when nothing speaks for a question,
// because a change is evaluated and confirmed before anything happens, while a question that is meant as a change gets
// nothing done.
func (r router) intent() Route {
	text := r.unquoted()
	if chat.Get().MatchString(bare(r.input)) {
		return r.whole(LayerIntent, KindQuestion, because("triage.route_chat"))
	}
	asks, changes := Span{-1, -1}, Span{-1, -1}
	for _, s := range sentences(text) {
		if s.start > headWindow && s.end < len(text)-tailWindow {
			continue
		}
		if q, at := s.asks(display.Head(text[s.start:s.end], maxPart)); q {
			if asks.Start < 0 {
				asks = r.f.span(s.start+at.Start, s.start+at.End)
			}
		} else if c, at := s.changes(display.Head(text[s.start:s.end], maxPart)); c && changes.Start < 0 {
			changes = r.f.span(s.start+at.Start, s.start+at.End)
		}
	}
	var out Route
	switch {
	case changes.Start >= 0:
		out = r.whole(LayerIntent, KindChange, because("triage.route_change"))
		out.At = changes
	case asks.Start >= 0:
		out = r.whole(LayerIntent, KindQuestion, because("triage.route_question"))
		out.At = asks
	case visible(text) == 0:
		out = r.whole(LayerIntent, KindQuestion, because("triage.route_chat"))
	default:
		out = r.whole(LayerIntent, KindChange, because("triage.route_default"))
	}
	return out
}

// unquoted is the folded text with what is set apart in it made unreadable, byte for byte as long. Words that somebody
// else says want nothing.
func (r router) unquoted() string {
	b := []byte(r.f.text)
	for _, q := range r.quotes {
		for i := r.f.find(q.Start); i < r.f.find(q.End); i++ {
			b[i] = '_'
		}
	}
	return string(b)
}

// sentence is a part of a text up to a full stop, a question mark or the end of the line.
type sentence struct {
	start, end int
	question   bool // it ends with a question mark
}

// sentences splits a folded text.
func sentences(text string) []sentence {
	var out []sentence
	start := 0
	cut := func(end, next int, question bool) {
		if strings.TrimSpace(text[start:end]) != "" {
			out = append(out, sentence{start, end, question})
		}
		start = next
	}
	for i := 0; i < len(text); i++ {
		switch b := text[i]; {
		case b == '?' || b == '!' || b == '\n' || b == ';':
			cut(i, i+1, b == '?')
		case b == '.' && (i+1 == len(text) || text[i+1] == ' ' || text[i+1] == '\n'):
			cut(i, i+1, false)
		case strings.HasPrefix(text[i:], "。"):
			cut(i, i+len("。"), false)
			i += len("。") - 1
		}
	}
	cut(len(text), len(text), false)
	return out
}

// asks reports whether a sentence is a question, and which words say so.
func (s sentence) asks(text string) (bool, Span) {
	lead := len(ahead.Get().FindString(text))
	body := text[lead:]
	polite := politeAsk.Get().FindStringIndex(body)
	if polite != nil {
		lead += polite[1]
		body = body[polite[1]:]
	}
	start := askStart.Get().FindStringIndex(body)
	if start != nil && (suggests.Get().MatchString(body) || readVerb.Get().MatchString(body) &&
		intoDoc.Get().MatchString(body)) {
		return false, Span{} // "how about adding …" wants it, and "explain the format in the README" writes
	}
	switch inner := askInside.Get().FindStringIndex(strings.TrimRight(body, " \t")); {
	case start != nil:
		return true, Span{lead + start[0], lead + start[1]}
	case polite != nil || !s.question && commands(body):
		return false, Span{}
	case inner != nil:
		return true, Span{lead + inner[0], lead + inner[1]}
	case s.question && !commands(body):
		return true, Span{lead, lead + len(strings.TrimRight(body, " \t"))}
	}
	return false, Span{}
}

var (
	readVerb = pattern.New(`^(?:explain|describe|list|summari[sz]e|compare|说明|介绍|解释|列出|总结|概述)`)
	suggests = pattern.New(`^(?:how about|what about|why not|why don't (?:we|you))\b.*\b(?:add|fix|remov|chang|us|mov|renam|replac|delet|mak|writ|creat|build|updat|refactor|cach|split|switch|show|hid|support)(?:e|es|ing|s)?\b`)
)

// commands reports whether a sentence begins by telling what to do.
func commands(body string) bool {
	if m := actVerb.Get().FindStringIndex(body); m != nil && m[0] == 0 {
		return true
	}
	m := zhVerb.Get().FindStringIndex(body)
	return m != nil && m[0] == 0
}

// changes reports whether a sentence wants something changed: it tells what to do, wishes for something or reports
// trouble.
func (s sentence) changes(text string) (bool, Span) {
	lead := len(ahead.Get().FindString(text))
	if m := politeAsk.Get().FindStringIndex(text[lead:]); m != nil {
		lead += m[1]
	}
	body := text[lead:]
	for _, p := range []*pattern.Pattern{actVerb, zhVerb, wish, trouble} {
		if m := p.Get().FindStringIndex(body); m != nil {
			return true, Span{lead + m[0], lead + m[1]}
		}
	}
	return false, Span{}
}
