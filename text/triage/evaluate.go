package triage

import (
	"slices"
	"sort"
	"strings"

	"pawl/text/display"

	"pawl/text/pattern"

	"pawl"
)

// Evaluate judges a requirement together with the answers that the user gave so far; the text that it is about is
// Merge(requirement, answers). It looks at nothing but these words; beyond the first 8 KiB only answers raise the
// score. Evaluating again with more answers never scores a dimension lower than the answer to it warrants, so that who
// answers gets on. The errors are those of Text.
func Evaluate(requirement string, answers []Answer) (Evaluation, error) {
	text, at, err := judged(requirement, answers, "triage.Evaluate")
	if err != nil {
		return Evaluation{}, err
	}
	s := scorer{folded: fold(text).requirement(), quotes: quotes(text)}
	full := s.folded
	s.text = display.Head(s.text, headWindow)
	s.mechanics = mechanical.Get().MatchString(s.text) && !notMechanical.Get().MatchString(s.text) && s.plainWork()
	e := Evaluation{By: ByPawl, Questions: []Question{}, HighRisk: Weigh(text)}
	e.Factors = s.factors()
	e.Class = s.classify()
	s.class = e.Class
	goal, said := s.goal()
	e.Dimensions = append(e.Dimensions, Dimension{Goal, goal, said})
	for _, row := range []struct {
		name  Aspect
		score func() (int, []Evidence)
	}{{Criteria, s.criteria}, {Scope, s.scope}, {Limits, func() (int, []Evidence) { return s.limits(goal) }}} {
		points, said := row.score()
		e.Dimensions = append(e.Dimensions, Dimension{row.name, points, said})
	}
	for i := range e.Dimensions {
		d := &e.Dimensions[i]
		for j, a := range answers {
			if a.About == d.Name && at[j].End > at[j].Start {
				d.answered(full.find(at[j].Start), Evidence{at[j].In(text), at[j]}, full)
			}
		}
		d.tidy()
		e.Score += d.Points
	}
	if !e.Ready() {
		e.Questions = e.ask(s, answers)
	}
	path, _ := e.Path()
	if e.Class == ClassFeature && path == "tweak" {
		e.Class = ClassTweak
	}
	switch {
	case e.Dangerous():
		e.Risk = pawl.RiskHigh
	case path == "standard" || len(e.HighRisk) > 0:
		e.Risk = pawl.RiskMedium
	default:
		e.Risk = pawl.RiskLow
	}
	return e, nil
}

var (
	noIdea   = pattern.New(`^(?:i )?(?:do not|don't|dont) (?:know|care|mind)\b|^(?:no idea|not sure|unsure|whatever|up to you|you decide|anything|any|idk|n/?a|tbd|later|\?+|不知道|不清楚|不确定|随便|都行|都可以|你(?:来)?(?:定|决定|看着办)|无所谓|再说|没想好|待定)[\s.!。]*$`)
	noLimits = pattern.New(`^(?:no|none|nothing|no (?:limits?|constraints?|restrictions?)|nope|无|没有|没(?:有)?(?:限制|约束|要求|特别(?:的)?(?:限制|要求)?)|不限|无(?:限制|约束)?)[\s.!。]*$`)
)

// answered raises a dimension by the user's answer to a question about it. An answer that leaves it open raises
// nothing; that there are no limits is a full answer about limits.
func (d *Dimension) answered(at int, said Evidence, f folded) {
	text := strings.TrimSpace(f.text[at:f.find(said.End)])
	points := 1
	said.Quote = display.Head(said.Quote, maxPart)
	said.End = said.Start + len(said.Quote)
	switch n := visible(text); {
	case n == 0:
		return
	case d.Name == Limits && noLimits.Get().MatchString(text):
		points = d.Name.Most()
	case noIdea.Get().MatchString(text) || noLimits.Get().MatchString(text):
		return
	case d.Name == Scope || d.Name == Limits:
		points = d.Name.Most()
	case n >= 30 || han([]rune(text)[0]) && n >= 10 || number.Get().MatchString(text) ||
		accepted.Get().MatchString(text) ||
		observed.Get().MatchString(text) && n >= 16:
		points = d.Name.Most()
	case n >= 8 || han([]rune(text)[0]) && n >= 4:
		points = 2
	}
	if points >= d.Points {
		d.Points = points
	}
	d.Evidence = append([]Evidence{said}, d.Evidence...)
}

// tidy orders the evidence, drops what another piece covers, and keeps as many pieces as a document may have.
func (d *Dimension) tidy() {
	out := []Evidence{}
	sort.SliceStable(d.Evidence, func(i, j int) bool {
		a, b := d.Evidence[i], d.Evidence[j]
		return a.Start < b.Start || a.Start == b.Start && a.End > b.End
	})
	for _, q := range d.Evidence {
		if n := len(out); d.Points > 0 && (n == 0 || q.End > out[n-1].End) && n < maxEvidence {
			out = append(out, q)
		}
	}
	d.Evidence = out
}

// plainWork reports whether every part of the text is work that tools judge: "format the code and add a login page" is
// not.
func (s scorer) plainWork() bool {
	for _, q := range sentences(s.text) {
		for _, part := range andWords.Get().Split(s.text[q.start:q.end], -1) {
			part = strings.TrimSpace(part)
			if visible(part) > 0 && actBegins(part) && !mechanical.Get().MatchString(part) &&
				!limit.Get().MatchString(part) &&
				!partTail.Get().MatchString(part) {
				return false
			}
		}
	}
	return true
}

var (
	andWords = pattern.New(`\s*(?:,|;|、|\band\b|\bthen\b|&|并且|以及|然后|并|和)\s*`)
	partTail = pattern.New(`^(?:lint|formatting|format|linter|tests?|checks?|build|imports?|vet|the (?:tests?|build|checks?|imports?|linter)(?: pass)?|tests? pass|测试(?:都|全部)?通过)$`)
)

func actBegins(part string) bool {
	m := verbs.Get().FindStringIndex(part)
	if m != nil && m[0] == 0 {
		return true
	}
	z := zhVerb.Get().FindStringIndex(part)
	return z != nil && z[0] == 0
}

var (
	refactorWords = pattern.New(`\b(?:refactor\w*|restructure|reorgani[sz]e|rewrite|extract|decouple|clean ?up (?:the )?code|simplify|deduplicate|split)\b|重构|重写|拆分|抽取|解耦|去重`)
	choreWords    = pattern.New(`\b(?:bump|dependenc(?:y|ies)|deps|ci|pipeline|changelog|readme|docs?|documentation|comments?|typo|licen[cs]e|gitignore|release notes|rename|copyright|version (?:number|bump))\b|依赖|文档|注释|流水线|重命名|版本号|说明文件|许可证`)
	newProject    = pattern.New(`\b(?:from scratch|new (?:project|application|app|repository|repo|system|website|product|codebase|game)|bootstrap a|scaffold a|start a new|(?:build|create|write|make|develop) (?:me )?(?:an? )(?:\w+ ){0,3}(?:app|application|website|game|system|platform|saas|compiler|operating system|blog engine|marketplace|chat ?bot))\b|从零|从头(?:开始)?(?:写|做|搭|开发|实现)|新(?:项目|系统|应用|工程|平台|网站)|(?:开发|搭建|做|写|实现|创建|建)一(?:个|套|款)` + zhGap + `{0,10}?(?:系统|平台|应用|网站|小程序|游戏|app|商城|博客|引擎)`)
	majorChange   = pattern.New(`\b(?:rewrite|re-?architect\w*|redesign|overhaul|restructure)\b[^,.]{0,40}\b(?:whole|entire|all|everything|project|application|app|system|codebase|backend|frontend|architecture|service|from scratch)\b|\b(?:major|big|large|large-scale|complete) (?:refactor\w*|rewrite|redesign|restructuring|overhaul|migration)\b|\bre-?architect\b|\bmigrate\b[^,.]{0,40}\b(?:to|from)\b[^,.]{0,30}\b(?:framework|microservices?|monorepo|typescript|rust|go|kubernetes|postgres\w*|mysql|react|vue|graphql|grpc)\b|\bport\b[^,.]{0,30}\bto (?:rust|go|typescript|python|java)\b|大(?:规模)?(?:重构|改造|重写)|整体(?:重构|改造|重写)|(?:重构|重写|重新设计|改造)` + zhGap + `{0,8}?(?:整个|全部|所有|系统|架构|项目|后端|前端)|架构(?:调整|升级|改造|重构)|(?:迁移|改造|切换)` + zhGap + `{0,10}?(?:微服务|框架|typescript|rust|kubernetes|k8s|graphql)`)
	fullDesign    = pattern.New(`\b(?:architecture|design (?:a|the|an)|choose (?:a|between)|which (?:library|framework|database)|several (?:options|proposals|approaches)|compare (?:options|approaches)|trade-?offs?|authentication system|permission (?:system|model)|plugin (?:system|architecture)|event[- ]sourc\w+|multi-?tenan\w+|real-?time|distributed|state machine|database schema|data model|protocol|oauth2?|sso|single sign-on|payment|billing|scheduler|workflow engine|sync engine|offline mode|internationali[sz]ation|i18n)\b|架构|技术选型|选型|方案对比|多个方案|权限(?:系统|体系|模型)|认证(?:系统|体系)|插件(?:系统|机制|体系)|多租户|分布式|实时协作|数据模型|表结构|协议设计|单点登录|oauth|支付|计费|调度|工作流引擎|离线|国际化`)
	noDesign      = pattern.New(`\b(?:return|answer|print)s? \S+(?: \S+){0,4}? instead of \S+|改(?:成|为)用\s*\S+\s+v\d|\b(?:typo|spelling|wording|text|label|rename|colou?r|margin|padding|font|icon|comment|constant|version|bump|default (?:value)?|timeout|log (?:message|level|line)|error message|message|copyright|readme|(?:broken|dead|wrong) links?|import|unused|whitespace|title|placeholder|tooltip|url|nil|null|off[- ]by[- ]one|return value|condition|spacing|alignment|capitali[sz]\w*)\b|错别字|拼写|文案|标签|重命名|改名|颜色|边距|间距|字体|图标|注释|常量|版本号|默认值|超时(?:时间)?|日志(?:级别|内容)?|错误信息|提示(?:语|文字|信息)?|链接|未使用|空格|标题|占位符|对齐|大小写|空指针|返回值|条件判断|行高|笔误`)
	crossModule   = pattern.New(`\b(?:across (?:the |all )?(?:\w+ )?(?:modules?|services?|packages?|codebase|repo\w*|project|app|layers|stack)|everywhere|all (?:the )?(?:modules|services|packages|pages|screens|endpoints|handlers|clients|components)|every (?:module|service|package|page|screen|endpoint|handler|client|component)|(?:whole|entire) (?:app|application|project|system|codebase|stack)|end[- ]to[- ]end|full[- ]stack|front-?end and (?:the )?back-?end|back-?end and (?:the )?front-?end|client and (?:the )?server|server and (?:the )?client|several (?:modules|services|packages)|multiple (?:modules|services|packages)|api and (?:the )?ui|ui and (?:the )?api|database and (?:the )?(?:api|ui))\b|跨(?:模块|服务|包|端|系统)|多个(?:模块|服务|包|系统)|所有(?:模块|服务|页面|接口|组件|包)|全部(?:模块|服务|页面|接口|组件)|各个?(?:模块|服务|页面|接口)|整个(?:系统|应用|项目|工程)|前后端|前端和后端|后端和前端|全栈|全链路|全局`)
	// zhSwap is one text of a named part that becomes another.
	zhSwap   = pattern.New(`把\S{0,12}(?:按钮|菜单|标题|页面|链接|输入框|表单|标签|弹窗)\S{0,8}["“「]\S{1,12}["”」](?:改|换)(?:成|为)`)
	onePoint = pattern.New(`\b(?:one (?:line|place|file|function|word)|a single (?:line|place|file|function|word)|single[- ]line|this (?:line|function|file)|line \d+|only (?:in|the) [\w./-]+)\b|一(?:行|处|个(?:文件|函数|地方|单词|字))|单(?:个文件|行|点)|这(?:一)?行|第\s*\d+\s*行`)
)

// classify says what kind of work it is.
func (s scorer) classify() Class {
	r := router{f: fold(s.src), quotes: s.quotes, input: strings.TrimSpace(s.src)}
	switch {
	case r.intent().Kind == KindQuestion:
		return ClassQuestion
	case s.mechanics:
		return ClassChore
	case refactorWords.Get().MatchString(s.text) && !broken.Get().MatchString(s.text):
		return ClassRefactor
	case dependency.Get().MatchString(s.text):
		return ClassChore
	case slipWords.Get().MatchString(s.text):
		return ClassChore
	case fixes.Get().MatchString(s.text), broken.Get().MatchString(s.text) &&
		!strings.HasPrefix(strings.TrimSpace(s.text), "add ") && !newThing.Get().MatchString(s.text):
		return ClassBugfix
	case choreWords.Get().MatchString(s.text):
		return ClassChore
	}
	return ClassFeature
}

var (
	dependency = pattern.New(`\b(?:upgrade|update|bump|pin|downgrade) [\w./@-]+ (?:to|at) v?\d|升级` + zhGap +
		`{1,20}?到\s*v?\d`)
	fixes = pattern.New(`^\s*(?:please |请)?(?:fix|repair|修复|修好|修正)`)
)

var slipWords = pattern.New(`\b(?:typos?|spelling|misspell\w*)\b|错别字|拼写|笔误`)

// withTests says that tests come with what is added: that is more than a word in one place.
var withTests = pattern.New(`\bwith (?:\w+ )?tests?\b`)

var newThing = pattern.New(`^\s*(?:please |请)?(?:add|implement|create|build|introduce|write|support|show|display|log|return)\b|^\s*请?(?:添加|新增|增加|实现|支持|创建|显示)`)

// factors reads what the path depends on.
func (s scorer) factors() Factors {
	f := Factors{New: newProject.Get().MatchString(s.text), Major: majorChange.Get().MatchString(s.text)}
	if s.mechanics {
		// Tools do it, wherever it has to be done: nothing is designed, and how far it reaches shows afterwards.
		f.Design, f.Extent = DesignNone, ExtentLocal
		return f
	}
	f.Extent = s.extent()
	small := noDesign.Get().MatchString(s.text) && s.content() <= 12 && !(newThing.Get().MatchString(s.text) &&
		withTests.Get().MatchString(s.text))
	switch {
	case fullDesign.Get().MatchString(s.text):
		f.Design = DesignFull
	case small:
		f.Design = DesignNone
		if f.Extent == ExtentUnknown && (named.Get().MatchString(s.text) || zhSwap.Get().MatchString(s.text)) {
			f.Extent = ExtentPoint
		}
	case f.Extent == ExtentPoint || f.Extent == ExtentLocal:
		f.Design = DesignSimple
	}
	return f
}

// extent reads how far a change reaches. A small one that needs no design and names at most one place reaches no
// further.
func (s scorer) extent() Extent {
	paths := map[string]bool{}
	for _, m := range pathLike.Get().FindAllStringSubmatch(s.text, maxEvidence) {
		paths[m[1]] = true
	}
	plain := noDesign.Get().MatchString(s.text)
	switch {
	case crossModule.Get().MatchString(s.text):
		return ExtentCross
	case onePoint.Get().MatchString(s.text), len(paths) == 1 && plain:
		return ExtentPoint
	case modulesOf(paths) > 1:
		return ExtentCross
	case len(paths) == 0 && !symbol.Get().MatchString(s.text) && !inside.Get().MatchString(s.text) &&
		!zhPlace.Get().MatchString(s.text):
		return ExtentUnknown
	case len(paths) < 2 && plain && s.content() <= 12 && !fullDesign.Get().MatchString(s.text):
		return ExtentPoint
	}
	return ExtentLocal
}

// modulesOf counts the modules of the paths that a text names.
func modulesOf(paths map[string]bool) int {
	var out []string
	for p := range paths {
		if m := Module(p); m != "" {
			out = append(out, m)
		}
	}
	return distinct(out)
}

// askMore is the one message of askKeys that takes an argument: words of the user.
const askMore = "triage.ask_goal_more"

// askKeys are the messages with which the embedded agent asks.
func askKeys() []string {
	return []string{
		"triage.ask_goal", askMore, "triage.ask_trouble", "triage.ask_criteria", "triage.ask_criteria_bug",
		"triage.ask_criteria_speed",
		"triage.ask_criteria_refactor", "triage.ask_scope", "triage.ask_scope_bug", "triage.ask_limits",
		"triage.ask_limits_refactor",
		"triage.ask_goal_again", "triage.ask_criteria_again", "triage.ask_scope_again", "triage.ask_limits_again",
	}
}

// asks reports whether a message is one of askKeys and takes so many arguments.
func asks(key string, args int) bool {
	takes := 0
	if key == askMore {
		takes = 1
	}
	return slices.Contains(askKeys(), key) && args == takes
}

var speed = pattern.New(`\b(?:fast(?:er)?|slow|speed|performance|latency|optimi[sz]e|throughput)\b|性能|速度|快|慢|优化|延迟|吞吐`)

// ask makes the questions: about the dimension first in which the greatest share is missing. Limits are asked about
// only while there is room, because most requirements have none.
func (e Evaluation) ask(s scorer, answers []Answer) []Question {
	order := slices.Clone(e.Dimensions)
	share := func(d Dimension) int { return (d.Name.Most() - d.Points) * 6 / d.Name.Most() }
	sort.SliceStable(order, func(i, j int) bool {
		a, b := order[i], order[j]
		if (a.Name == Limits) != (b.Name == Limits) {
			return b.Name == Limits
		}
		return share(a) > share(b)
	})
	out := []Question{}
	for _, d := range order {
		if d.Points < d.Name.Most() && len(out) < MaxQuestions {
			out = append(out, s.question(d, answers))
		}
	}
	return out
}

// question words the question about one dimension.
func (s scorer) question(d Dimension, answers []Answer) Question {
	ask := func(key string, args ...string) Question { return Question{About: d.Name, Key: key, Args: args} }
	for _, a := range answers {
		// Who answered once and left it open is asked for an example instead of the same again.
		if a.About == d.Name && strings.TrimSpace(a.Text) != "" {
			return ask("triage.ask_" + string(d.Name) + "_again")
		}
	}
	switch d.Name {
	case Goal:
		switch {
		case s.class == ClassBugfix:
			return ask("triage.ask_trouble")
		case d.Points > 0:
			return ask(askMore, clip(d.Evidence[0].Quote))
		}
		return ask("triage.ask_goal")
	case Criteria:
		switch {
		case s.class == ClassBugfix:
			return ask("triage.ask_criteria_bug")
		case speed.Get().MatchString(s.text):
			return ask("triage.ask_criteria_speed")
		case s.class == ClassRefactor:
			return ask("triage.ask_criteria_refactor")
		}
		return ask("triage.ask_criteria")
	case Scope:
		if s.class == ClassBugfix {
			return ask("triage.ask_scope_bug")
		}
		return ask("triage.ask_scope")
	}
	if s.class == ClassRefactor {
		return ask("triage.ask_limits_refactor")
	}
	return ask("triage.ask_limits")
}
