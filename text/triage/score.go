package triage

import (
	"strings"

	"pawl/text/display"

	"pawl/text/pattern"
)

// scorer reads a requirement for what it says in each dimension. Its evidence are the places of the words that count.
type scorer struct {
	folded
	quotes    []quote
	class     Class
	mechanics bool // the work is judged by tools alone: formatting, linters, dependencies, checks
}

var (
	mechanical = pattern.New(`\b(?:gofmt|prettier|rustfmt|black|eslint|clippy|go vet|go mod tidy|(?:fix|repair|correct|resolve|clean up|run|apply|improve)\b[^,.]{0,30}\b(?:formatting|format|code style|whitespace|indentation|lint|linters?|warnings|ci|checks?|tests?|build|pipeline|dependenc(?:y|ies)|deps|go\.mod|go\.sum)|(?:format|reformat|lint|prettify)(?: (?:the|all|this|our|whole|entire|every|go|python|rust|js|source))*(?: (?:code|codebase|files?|repo|repository|project|package|sources?|everything|module))?\s*(?:[,.!]|$| and | then )|tidy (?:up )?(?:the |our )?(?:dependencies|deps|modules?|go\.mod)|(?:make|get|have|let)\b[^,.]{0,40}\b(?:pass|green|succeed)|(?:bump|upgrade|update) (?:\w+ ){0,3}?(?:dependenc(?:y|ies)|deps|version)|pass (?:the |all |the )*(?:checks?|tests?|build|ci))\b` +
		`|(?:让|使|令|确保)` + zhGap + `{0,12}?(?:检查|测试|构建|编译|验证|校验|ci|流水线|go vet)` + zhGap +
		`{0,8}?(?:通过|变绿|成功|跑通)|(?:修复|修好|修正|整理|清理|统一|规范|解决|消除)` + zhGap +
		`{0,8}?(?:格式|缩进|排版|代码风格|lint|静态检查|依赖|警告|测试|构建|编译|检查|ci|go\.mod)(?:错误|问题|失败)?|格式化` + zhGap +
		`{0,6}?(?:代码|源码|文件|项目|仓库|$)|(?:通过|跑通)` + zhGap + `{0,6}?(?:测试|检查|构建)|(?:升级|更新)` + zhGap + `{0,6}?(?:依赖|版本)`)
	notMechanical = pattern.New(`\b(?:page|screen|button|ui|style of|as iso|login|by (?:deleting|rewriting|removing))\b|页面|界面|样式|删除`)

	vague = pattern.New(`\b(?:better|nicer|improve|improved|improvements?|optimi[sz]e|enhance|clean ?up|modern(?:i[sz]e)?|polish|robust|user[- ]friendly|more (?:efficient|readable|maintainable|scalable|intuitive)|properly|somehow|some|stuff|things?|etc|various|a bit|good|great|nice|perfect|cool|awesome|fast(?:er)?|work(?:s|ing)?|issues?|problems?|bugs?|it|this|that)\b|优化|改进|完善|提升|改善|更好|好一点|好看|美化|友好|健壮|一些|一下|某些|等等|之类|相关|东西|问题|bug|快一点|更快|不好用|有点|这个|那个|它`)
	stop  = pattern.New(`^(?:the|a|an|to|of|in|on|at|for|and|or|with|our|my|your|please|pls|can|could|you|we|i|is|are|be|it|this|that|so|just|make|do|need|want|should|would|like|me|some|all|there|here|by|as|from|up)$`)

	verbs    = pattern.New(`\b(?:add|fix|implement|create|build|write|remove|delete|drop|update|upgrade|bump|change|refactor|rename|rewrite|replace|migrate|move|extract|split|merge|convert|introduce|support|enable|disable|improve|optimi[sz]e|speed up|clean ?up|tidy|format|reformat|lint|repair|resolve|correct|revert|restore|install|configure|set|integrate|handle|validate|allow|prevent|limit|reduce|increase|simplify|document|translate|port|deploy|release|publish|run|cover|deprecate|cache|log|redesign|restructure|generate|hide|show|display|return|print|harden|secure|get|let|ensure|pass|wire|connect|expose|sort|paginate|retry|parse|store|save|load|export|import|switch|turn|stop|adjust|tweak|align|finish|throw|pin|apply|trim|round|escape|reject|accept|make|use|test|bring|undo|reset)(?:s|es|d|ed|ing)?\b`)
	purpose  = pattern.New(`\b(?:so that|in order to|because|when(?:ever)?|if|which|that (?:\w+s)\b|by \w+ing|using|with|from \S+ to|instead of|such as|to (?:\w+ ){1,3}\w+)\b|以便|从而|因为|当|如果|时|使用|通过|而不是|根据|按照|支持|包括|从` + zhGap + `{1,20}?(?:改|换|迁移|变)(?:成|为|到)`)
	detail   = regexpDetail
	number   = pattern.New(`\b\d+(?:\.\d+)?\s*(?:%|ms|s|sec(?:onds?)?|minutes?|min|hours?|h|days?|kb|mb|gb|mib|kib|px|rps|qps|req(?:uests)?(?:/s)?|items?|rows?|lines?|characters?|chars?|bytes?|times?|attempts?|entries|users?|pages?|retries)\b|\d+\s*(?:毫秒|秒|分钟|小时|天|次|个|条|行|字符|字节|像素|倍|页|万|千|百)|(?:状态码|status|http|code|返回|returns?|with)\s*(?:an? )?[1-5]\d\d\b`)
	accepted = pattern.New(`\b(?:acceptance(?: criteria)?|done when|definition of done|success criteria|it is done|finished when|expected(?: (?:result|behaviou?r|output))?|verif(?:y|ied) (?:that|by)|must pass|tests? (?:\w+ )?pass(?:es)?|pass(?:es)? (?:all |the )*tests?|(?:with|add|has|have|include|plus|and) (?:\w+ ){0,2}(?:unit |regression |integration |e2e )?tests?|covered by (?:a )?tests?|test coverage|exit(?:s)? (?:with )?(?:code |status )?\d|builds? (?:pass|succeed)\w*|(?:checks?|vet|ci|build|lint|suite)(?: and the tests?| and tests)? (?:must |should |to )?(?:pass|succeed|green)(?:es)?)\b|验收(?:标准|条件)?|完成标准|期望(?:结果|输出)?|预期|测试(?:全部|都|能|要)*通过|通过` + zhGap + `{0,6}?测试|补(?:充|上)?` + zhGap + `{0,4}?测试|(?:加|写|添加|补充|包含|带)(?:上|单元|回归|集成)*测试|覆盖率|退出码|(?:检查|构建|编译|测试|go vet|ci|lint)` + zhGap + `{0,6}?(?:通过|成功|变绿|跑通)`)
	observed = pattern.New(callIsNot + `\S+|\b(?:should|must|shall|needs? to|has to|ought to|so that|that (?:prints?|shows?|returns?|lists?|opens?|sends?|writes?|accepts?|rejects?|displays?|gives?|takes?|toggles?|hides?|contains?|sorts?|filters?|counts?|exports?|reads?|lets?|allows?|links?)|instead|no longer|rather than|returns?|respond(?:s|ing)? with|reject(?:s|ed)?|shows? (?:a|an|the)\b|prints?|as (?:json|csv|yaml|markdown|iso|an? )|from \S+ to \S+|into \S+|to \x60[^\x60]+\x60|with (?:an? )?(?:error|message|warning)|e\.g\.|for example|given|when .{3,80} then)\b|应该|应当|必须|需要能|能够|可以(?:按|在|看|查|选|导|点|用|通过)|不再|而不是|改(?:成|为)|换成|返回|显示|展示|输出|提示|报错|拒绝|以便|使得|确保|例如|比如|当` + zhGap + `{1,30}?时|从` + zhGap + `{1,20}?(?:改|换|变)(?:成|为|到)|(?:命名|重命名)` + zhGap + `{0,12}?为`)
	weakEnd  = pattern.New(`\b(?:works?|working|correctly|properly|as expected|normally)\b|正常|正确|可用|能用|没问题`)

	broken = trouble
	cause  = pattern.New(`\b(?:when|if|after|while|on|with|because|for|in)\b|当|如果|时|后|因为|在`)

	pathLike = pattern.New(`(?:^|[\s("'\x60:,]|\p{Han})((?:[\w.-]+/)+[\w.-]*[\w-]|[\w-]+\.(?:go|js|jsx|ts|tsx|py|rs|java|kt|c|h|cc|cpp|hpp|cs|rb|php|swift|dart|vue|svelte|css|scss|html|sql|sh|md|yaml|yml|toml|json|mod|sum|xml|proto|txt|lock|gradle))(?:$|[\s)"'\x60:,.]|\p{Han})`)
	symbol   = pattern.New(`\x60[^\x60\n]{1,120}\x60|\b[a-z]+[a-z0-9]*(?:_[a-z0-9]+)+\b|` + call +
		`|--[a-z][\w-]+|\b(?:get|post|put|delete|patch) /[\w/{}:.-]*|(?:^|\s)/[a-z][\w/{}:-]+`)
	kindOf    = `(?:files?|functions?|methods?|class(?:es)?|modules?|packages?|components?|pages?|screens?|views?|dialogs?|forms?|buttons?|fields?|endpoints?|routes?|apis?|commands?|flags?|options?|subcommands?|tables?|columns?|services?|handlers?|controllers?|models?|middleware|parsers?|tests?|suites?|readme|docs?|documentation|config(?:uration)?|settings?|menu|header|footer|sidebar|navbar|table|list|chart|report|email|log(?:s|ger|ging)?|cli|server|client|worker|queue|job|cache|database|schema|script|workflow|pipeline|build|ci|dockerfile|makefile|changelog|url|link|search|login|checkout|profile|dashboard|export|import|upload|download|error messages?|messages?)`
	named     = pattern.New(`\b(?:[\w'-]+ )?` + kindOf + `\b`)
	inside    = pattern.New(`\b(?:in|inside|within|of|on|under|for|from|to|into|across|only) (?:the |our |all |every |this )*(?:[\w'.-]+ ){0,3}?` + kindOf + `\b`)
	everyCode = pattern.New(`\b(?:all (?:the )?(?:files|code|packages|modules|tests|pages|endpoints|commands|handlers|go files)|whole (?:project|repo\w*|codebase|app)|entire (?:project|repo\w*|codebase|app)|everywhere|across the (?:project|repo\w*|codebase|app)|the (?:code|codebase|project|repo|repository)|only|just)\b|所有|全部|整个(?:项目|仓库|工程|代码库)|全局|仅|只(?:改|修改|在|针对|影响|涉及)|项目中|代码库`)
	zhPlace   = pattern.New(`(?:在|对|给|为|把|将|从)` + zhGap +
		`{1,24}?(?:模块|页面|接口|文件|函数|方法|组件|目录|包|类|服务|表|字段|按钮|菜单|命令|选项|配置|列表|弹窗|表单|界面|脚本|文档|首页|后台|前端|后端|详情页|设置|中|里|上|下|处)`)
	zhNamed = pattern.New(`(?:[a-z0-9_.-]+|` + zhGap +
		`{1,8}?)(?:模块|页面|页|接口|文件|函数|方法|组件|目录|类|服务|字段|按钮|菜单|命令|选项|列表|弹窗|表单|界面|脚本|文档|首页|后台|前端|后端|表格|日志|缓存|数据库|解析器|参数|配置|测试|功能|登录|注册|搜索|代码|依赖|格式|构建|检查)`)

	limit = pattern.New(`\b(?:do not|don't|must not|should not|never|without|only|no (?:new|additional|external|third|breaking|more|longer)|at most|at least|less than|more than|no more than|under \d|within \d|up to \d|max(?:imum)?|min(?:imum)?|backwards?[- ]compatib\w*|compatib\w+|keep(?:s|ing)?|preserv\w+|unchanged|stay(?:s)?|remain(?:s)?|using (?:only )?(?:the )?|use (?:the )?(?:existing|standard)|stick to|avoid|limit(?:ed)? to|by (?:friday|monday|tomorrow|tonight|the end)|deadline|budget|license|python 3|go 1\.|node \d|leave|nothing else)\b|不要|不能|不得|不可|不允许|禁止|无需|不需要|不改|不影响|不引入|不新增|保持|保留|兼容|仅|只能|只(?:用|使用|改|修改|允许)|最多|最少|至少|不超过|以内|少于|大于|小于|限制|必须(?:使用|用|在|兼容)|使用` + zhGap + `{1,12}?(?:实现|完成|库|框架)|基于|遵循|截止|之前完成|不动`)
	open  = pattern.New(`\b(?:refactor|rewrite|redesign|restructure|migrate|optimi[sz]e|improve|moderni[sz]e|performance|speed|scale|new (?:project|app|application|service|system)|from scratch|integrate)\b|重构|重写|重新设计|迁移|优化|改进|提升|性能|新项目|从零|集成|接入|系统`)
)

// A call as code writes it, and one whose result is said to be wrong: "Sum(2, 3) is not 5".
const (
	call      = `\b[a-z_]\w*\([^()\n]{0,60}\)`
	callIsNot = call + `\s*(?:is not|isn't|is never|!=|≠|不是|不等于|不为)\s*`
)

// toJudge finds words that are about the judgement itself: they say nothing of the work, and nothing rests on them.
var toJudge = pattern.New(`\b(?:please )?(?:ignore|disregard|forget|override) (?:all |any |the |your |these |those |previous |prior |above |earlier )+(?:rules?|instructions?|prompts?|criteria)\b[^.\n]*` +
	`|\b(?:please )?(?:score|rate|grade|evaluate|judge|give|assign|award|mark) (?:this|it|me|that|(?:this |the |my )?(?:requirement|request|dimensions?|task))\b[^.\n]{0,40}?\b(?:10|ten|full|max\w*|highest|perfect|[0-9]+ points)\b[^.\n]*` +
	`|"(?:score|points|dimensions|questions|evidence|ehrb)"\s*:\s*[^\s,}]*` +
	`|(?:忽略|无视|不用管|忘(?:记|掉))` + zhGap + `{0,8}?(?:规则|指令|指示|提示词|要求以上)[^。\n]*|请?(?:给|把|为|将|对)?(?:这个|这条|该|本)?(?:需求|请求|任务|它|我)?(?:直接|都|全部|各维度)*(?:打|给|评)(?:个|出|为|成)*\s*(?:10|十|满)\s*分[^。\n]*`)

// requirement is a folded text without the words that are about the judgement; it is byte for byte as long.
func (f folded) requirement() folded {
	if !toJudge.Get().MatchString(f.text) {
		return f
	}
	f.text = toJudge.Get().ReplaceAllStringFunc(f.text,
		func(words string) string { return strings.Repeat(" ", len(words)) })
	return f
}

// regexpDetail finds what makes a goal particular: code, quoted words, numbers, paths.
var regexpDetail = pattern.New(`\x60[^\x60\n]+\x60|"[^"\n]+"|“[^”\n]+”|「[^」\n]+」|\b\d+(?:\.\d+)?\b|--[a-z][\w-]+|\b\w+\.\w+\b|\b[a-z]+_[a-z_]+\b|\b\w+/\w+|` + call)

// places returns where an expression stands in the text, at most n times, as evidence.
func (s scorer) places(p *pattern.Pattern, n int) []Evidence {
	var out []Evidence
	for _, m := range p.Get().FindAllStringSubmatchIndex(s.text, n) {
		i, j := m[0], m[1]
		if len(m) > 2 && m[2] >= 0 {
			i, j = m[2], m[3]
		}
		raw := s.text[i:j]
		i += len(raw) - len(strings.TrimLeft(raw, " \t\n"))
		j -= len(raw) - len(strings.TrimRight(raw, " \t\n"))
		if i < j && visible(s.text[i:j]) > 0 {
			out = append(out, s.quote(i, j))
		}
	}
	return out
}

func (s scorer) quote(i, j int) Evidence {
	at := s.span(i, j)
	return Evidence{Quote: at.In(s.src), Span: at}
}

// content counts the words that say something of the matter: in English those that are neither grammar nor vague, in
// Chinese the characters beyond verbs and vague words.
func (s scorer) content() int {
	text := vague.Get().ReplaceAllString(s.text, " ")
	text = zhVerb.Get().ReplaceAllString(verbs.Get().ReplaceAllString(text, " "), " ")
	words, chars := 0, 0
	for _, w := range strings.FieldsFunc(text, func(r rune) bool { return !letter(r) || han(r) }) {
		if len(w) > 1 && !stop.Get().MatchString(w) {
			words++
		}
	}
	for _, r := range text {
		if han(r) && !strings.ContainsRune("的了吧请你我们帮把将给在和与中里上下是个", r) {
			chars++
		}
	}
	return words + chars/2
}

// goal scores the aim: an action or a trouble, an object, and something that makes it particular.
func (s scorer) goal() (int, []Evidence) {
	first := func(ps ...*pattern.Pattern) []Evidence {
		for _, p := range ps {
			if e := s.places(p, 1); len(e) > 0 {
				return e
			}
		}
		return nil
	}
	content := s.content()
	act := first(verbs, zhVerb, broken, wish)
	if s.mechanics {
		return 3, s.places(mechanical, maxEvidence)
	}
	if len(act) == 0 && content == 0 {
		return 0, nil
	}
	points := 0
	if len(act) > 0 {
		points++
	}
	if content > 0 {
		points++
	}
	details := s.places(detail, 2)
	if points == 2 && (len(details) > 0 || content >= 4 || content >= 2 && purpose.Get().MatchString(s.text)) {
		points++
	}
	if content < 2 && len(details) == 0 && vague.Get().MatchString(s.text) {
		points = min(points, 1)
	}
	if points > 0 && len(act) == 0 {
		act = []Evidence{s.whole()}
	}
	return points, append(act, details...)
}

// whole is the first line of the text that says something, as evidence.
func (s scorer) whole() Evidence {
	start := 0
	for line := range strings.Lines(s.text) {
		if visible(line) > 0 {
			start += len(line) - len(strings.TrimLeft(line, " \t"))
			line = display.Head(strings.TrimSpace(line), maxPart)
			return s.quote(start, start+len(line))
		}
		start += len(line)
	}
	return s.quote(0, len(s.text))
}

// criteria scores how one will see that it is done.
func (s scorer) criteria() (int, []Evidence) {
	if s.mechanics {
		return 3, s.places(mechanical, maxEvidence)
	}
	points, evidence := 0, []Evidence(nil)
	take := func(n int, found []Evidence) {
		if len(found) > 0 {
			points = max(points, n)
			evidence = append(evidence, found...)
		}
	}
	take(1, s.places(weakEnd, 1))
	take(2, s.places(observed, 2))
	if s.class == ClassBugfix {
		// What is broken says what is to be different; with the case in which it breaks, it can be tried.
		if cause.Get().MatchString(s.text) && s.content() >= 3 {
			take(2, s.places(broken, 1))
		} else {
			take(1, s.places(broken, 1))
		}
	}
	take(2, s.places(selfEvident, 1))
	numbers := s.places(number, 2)
	take(2, numbers)
	take(3, s.places(accepted, 3))
	if len(numbers) > 0 && observed.Get().MatchString(s.text) {
		points = 3
	}
	if len(evidence) > maxEvidence {
		evidence = evidence[:maxEvidence]
	}
	return points, evidence
}

// selfEvident are changes whose result everyone sees.
var selfEvident = pattern.New(`\b(?:rename|rewor[dk]|typo|spelling|bump|upgrade|downgrade|pin|remove|delete|move|replace|translate|revert)\b[^,.]{2,}|重命名|改名|错别字|拼写|升级到|删除\S|移除\S|移动\S|替换\S|翻译|回退`)

// scope scores how far the work reaches.
func (s scorer) scope() (int, []Evidence) {
	for _, p := range []*pattern.Pattern{pathLike, symbol, everyCode, inside, zhPlace} {
		if e := s.places(p, 3); len(e) > 0 {
			return 2, e
		}
	}
	if s.mechanics {
		return 2, s.places(mechanical, maxEvidence)
	}
	for _, p := range []*pattern.Pattern{named, zhNamed} {
		if e := s.places(p, 2); len(e) > 0 {
			return 1, e
		}
	}
	return 0, nil
}

// limits scores what must hold on the way. Without obvious limits the points are full, but for work that has limits
// whether they are said or not.
func (s scorer) limits(goal int) (int, []Evidence) {
	if e := s.places(limit, 3); len(e) > 0 {
		return 2, e
	}
	switch {
	case s.mechanics:
		return 2, nil
	case goal < 2:
		return 0, nil
	case open.Get().MatchString(s.text):
		return 1, nil
	}
	return 2, nil
}
