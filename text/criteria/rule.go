package criteria

import (
	"slices"
	"strings"
	"unicode"

	"pawl/text/pattern"
	"pawl/text/plan"
)

// rules read a clause, the first that knows it. needed says that the clause has to give something.
var rules = []func(c clause, needed bool) ([]plan.Criterion, bool){
	question, pointing, operation, tested, refusal, suites, typo, rename, replacing, limit, removal, documents,
	settings, keeping, vague, behaviour,
}

// Words that begin what is to be done.
var (
	enVerb = pattern.New(`^(?:(?:add|implement|support|introduce|create|build|write|make|let|allow|enable|` +
		`disable|fix|repair|correct|resolve|handle|return|respond|reject|refuse|validate|ensure|show|display|` +
		`emit|send|store|save|persist|read|load|parse|accept|use|expose|change|update|adjust|modify|increase|` +
		`decrease|reduce|raise|lower|upgrade|downgrade|migrate|convert|replace|switch|move|rename|extract|split|` +
		`merge|refactor|restructure|rewrite|reorgani[sz]e|simplify|clean up|cleanup|tidy|dedupe|deduplicate|` +
		`speed up|optimi[sz]e|improve|delete|remove|drop|strip|eliminate|get rid of|uninstall|explain|mention|` +
		`translate|reword|reformat|retry|skip|ignore|wrap|throw|put|keep|preserve|leave|generate|compute|` +
		`calculate|escape|saniti[sz]e|truncate|encrypt|hide|warn|notify|redirect|propagate|unify|extend|bump|set|` +
		`turn|get|give|default to|fall back|stop|prevent|configure|include|exclude|require|treat|register|` +
		`invalidate|roll back|pin|port|inline|measure|verify|confirm|apply|rework|bring|provide)\b` +
		`|(?:document|comment|format|lint|test|cover|log|cache|limit|cap|filter|sort|print|import|export|check|` +
		`call|run|report|note|hash|mask|trim|round|list|record|open|close|start|restart|wait|rate-limit|` +
		`paginate|debounce|index|name|group|order)\s+(?:the|a|an|all|any|it|its|them|each|every|this|that|` +
		`these|those|whether|if|how|when|on|in|to|by|with|only|out|down|requests?|results?|errors?|` +
		`[\x01"'\x60]))`)
	zhVerb = pattern.New(`^(?:一下)?(?:` + zhVerbs + `)|^(?:把|将|给|为|对|从|在|用|让|使|针对)[^，。]*?(?:` + zhVerbs + `|说明|注明)|^(?:所有|全部)?[^，。]{0,12}?(?:改成|改为|换成|设为|重命名为|改名为|更名为|删掉|去掉|移到)`)
)

const zhVerbs = `新增|增加|添加|加上|加入|加|实现|支持|修复|修正|修一下|修改|修|改成|改为|改|更新|更正|升级|降级|删除|删掉|移除|去掉|去除|清除|清理|卸载|重构|重写|重命名|改名|` +
	`更名|拆分|拆成|抽取|抽出|抽成|提取|合并|优化|提升|提高|降低|减少|缩短|限制|返回|校验|验证|检查|确保|保证|允许|拒绝|显示|展示|隐藏|打印|记录|补充|补上|补全|补齐|补|编写|撰写|` +
	`写(?:[^在到进]|$)|替换|换成|换|调整|设置|设为|设成|配置|迁移|移动|移到|整理|简化|格式化|统一|处理|捕获|导出|导入|生成|创建|新建|建|搭|引入|接入|关闭|开启|启用|禁用|输出|读取|` +
	`注释|翻译|跑通|使用|改用|避免|防止|跳过|忽略|缓存|过滤|排序|分页|重试|提示|做成|做|兼容|脱敏|加密|规范|消除|精简|下线|固定|锁定`

// refuses begins what is not to be done, or is to stay.
var refuses = pattern.New(`^(?:without (?:any )?(?:chang|break|affect|alter|modif|touch|regress|losing|downtime|` +
	`behaviou?r|api)|do not\b|don't\b|dont\b|never\b|avoid\b|but not\b|not (?:touch|chang)|keep\b|keeping\b|` +
	`preserv(?:e|ing)\b|leav(?:e|ing)\b|while (?:keeping|preserving|leaving)|no (?:changes?|breaking|behaviou?r)|` +
	`must not\b|不要|不得|不能|不可|不许|不准|不允许|别|勿|禁止|避免|无需|不必|不改变?|不影响|不破坏|不动|保持|保留|不引入|不用改)`)

func one(p plan.Criterion) []plan.Criterion { return []plan.Criterion{p} }

func person() []plan.Criterion { return one(plan.Criterion{Proof: plan.ProofPerson}) }

// question leaves to a person what only asks something.
func question(c clause, needed bool) ([]plan.Criterion, bool) {
	if !c.asked {
		return nil, false
	}
	if !needed {
		return nil, true
	}
	return person(), true
}

var (
	mends    = pattern.New(`^(?:fix|mend|repair|solve|resolve)\b|^(?:修|解决)`)
	pointsEn = pattern.New(`^(?:fix|mend|do|change|improve|solve|resolve|handle|repair|sort out|` +
		`look into)\s+(?:it|this|that|them)(?: please| asap)?$`)
	pointsZh = pattern.New(`^(?:改|修|处理|看|优化|修复|解决|弄|搞|改进|调整)(?:一下|下|掉|好)?(?:它|这个|这个问题|该问题)?(?:吧|了)?$`)
	ground   = pattern.New(`^(?:background|context|note|motivation|why|背景|现状|备注|原因|动机)\s*[:：]`)
	operates = pattern.New(`^(?:run|execute|git|kubectl|docker|sudo|deploy|push|commit|restart|scale|ssh|release|` +
		`publish|merge (?:the )?(?:pr|branch)|执行|运行|部署|重启|推送|强制推送|提交|发布|上线|直接在)(?:\b|\p{Han}|\x01|\s)`)
)

// pointing passes over words that only point at what was said before, or say why.
func pointing(c clause, needed bool) ([]plan.Criterion, bool) {
	if !pointsEn.Get().MatchString(c.bare) && !pointsZh.Get().MatchString(c.bare) && !ground.Get().MatchString(c.bare) {
		return nil, false
	}
	if !needed {
		return nil, true
	}
	if mends.Get().MatchString(c.bare) {
		return one(plan.Criterion{Proof: plan.ProofCheck}), true // whatever failed is to pass
	}
	return person(), true
}

// operation leaves to a person what is done to a machine or a repository, and not in the project's files.
func operation(c clause, _ bool) ([]plan.Criterion, bool) {
	if !operates.Get().MatchString(c.bare) || formatEn.Get().MatchString(c.bare) ||
		formatZh.Get().MatchString(c.bare) || strings.HasPrefix(c.bare, "run go mod tidy") {
		return nil, false
	}
	return person(), true
}

var (
	testsOnly = pattern.New(`^(?:(?:with|including|incl\.?|plus|and|add|write|include|extend|update|provide|have|` +
		`cover (?:it|this|that|them) (?:with|by))\s+)*(?:(?:a|some|the|more|new|unit|integration|regression|` +
		`matching|corresponding|appropriate|good|its|e2e|end-to-end|table)\s+)*(?:tests?|test cases?|` +
		`test coverage)\b|^(?:(?:为|给|对)[^，。]{1,40}?)?(?:补充?上?|补全|补齐|添加|增加|新增|加上?|编写|写|带上?|附上?|要有|需要|以及)?(?:一些|一下|` +
		`对应的?|相应的?|相关的?|必要的?|完整的?)*(?:单元|集成|回归|单)?(?:测试用例|测试|单测|用例)`)
	coverage = pattern.New(`\b(?:test|code) coverage\b|覆盖率`)
	testName = pattern.New(`^(?:Test[A-Z_]\w*|Benchmark[A-Z]\w*|test_\w+|Fuzz[A-Z]\w*)$`)
	mustPass = pattern.New(`(?:pass|green|succeed|通过|变绿|跑通|成功|是绿的)`)
)

// tested passes over tests that come with other work, because a check asks for one anyway.
func tested(c clause, needed bool) ([]plan.Criterion, bool) {
	if !testsOnly.Get().MatchString(c.bare) && !coverage.Get().MatchString(c.bare) ||
		mustPass.Get().MatchString(c.bare) {
		return nil, false
	}
	if tests := testNames(c); len(tests) > 0 {
		return one(plan.Criterion{Proof: plan.ProofCheck, Tests: tests}), true
	}
	paths := pathsOf(c.names)
	switch {
	case coverage.Get().MatchString(c.bare):
		return person(), true
	case len(paths) > 0 && strings.Contains(strings.ToLower(paths[0]), "test"):
		list := one(plan.Criterion{Proof: plan.ProofDiff, Paths: paths, Texts: textsOf(c.names)})
		if c.first {
			list = append(list, plan.Criterion{Proof: plan.ProofTest, Texts: textsOf(c.names)})
		}
		return list, true
	case needed:
		return one(plan.Criterion{Proof: plan.ProofTest, Texts: textsOf(c.names)}), true
	}
	return nil, true
}

func testNames(c clause) []string {
	var out []string
	for _, n := range c.names {
		if n.kind != namePath && testName.Get().MatchString(n.text) {
			out = append(out, n.text)
		}
	}
	return out
}

var (
	staying = pattern.New(`chang|break|affect|alter|modif|regress|behaviou?r|\bapis?\b|schema|compatib|` +
		`interface|unchanged|as (?:it|they) (?:is|are)|working|passing|intact|contract|signature|semantic|` +
		`existing|public|downtime|改|变|影响|破坏|兼容|行为|接口|结构|原有|现有|功能|语义|签名|不动|\balias|别名`)
	stays = pattern.New(`(?:不动|不变|保持不变|不受影响|unchanged|stays? (?:the same|as (?:it|they) (?:is|are))|untouched|` +
		`intact|(?:keeps?|still|must) work(?:s|ing)?|remain(?:s)? (?:the same|unchanged|compatible)|向后兼容|(?:保持|` +
		`仍然?)兼容)$`)
	handsOff = pattern.New(`^(?:do not|don't|dont|never|must not|不要|不得|不能|别|勿|禁止|不用|不必|无需)\s*(?:去)?(?:touch|edit|` +
		`modify|change|commit|push|run|use|install|add|introduce|执行|提交|推送|运行|使用|用|引入|安装|加|动|碰|修改|改|直接)`)
)

// refusal keeps what is to stay as it is. What is not to be done on the way leaves nothing to show.
func refusal(c clause, needed bool) ([]plan.Criterion, bool) {
	if stays.Get().MatchString(c.bare) {
		return one(plan.Criterion{Proof: plan.ProofKept}), true
	}
	if !refuses.Get().MatchString(c.bare) {
		return nil, false
	}
	switch hands := handsOff.Get().MatchString(c.bare); {
	case hands && len(pathsOf(c.names)) > 0, hands && !staying.Get().MatchString(c.bare):
		if needed {
			return person(), true
		}
		return nil, true
	case staying.Get().MatchString(c.bare):
		return one(plan.Criterion{Proof: plan.ProofKept}), true
	}
	return nil, false
}

var (
	suiteEn = pattern.New(`^(?:make|get|have|let|ensure|fix|repair|unbreak|pass|turn|look (?:at|` +
		`into))\b(?: (?:that|sure|the|all|our|of|failing|broken|existing|unit|integration|whole|entire|current|` +
		`go|project|red|remaining|flaky|e2e|every))*\s*(?:checks?|tests?|test suite|suite|builds?|ci|pipeline|` +
		`lint(?:er)?|vet|compilation|typecheck|type check)\b(?:(?:,| and|,? and the)? (?:the )?(?:checks?|tests?|` +
		`build|ci|lint(?:er)?|vet)\b)*(?: (?:to|must|should|all|again|errors?|failures?|issues?|problems?|` +
		`pass(?:es|ing)?|green|succeed|work(?:ing)?|go|compile|so that|on|in|the|this|repo|project|main|master|` +
		`branch|run|clean|cleanly))*$|^(?:all |the |existing |our |unit )*(?:tests?|checks?|build|ci|` +
		`lint(?:er)?)\b.{0,12}(?:must|should|has to|have to|needs? to|to)?\s*(?:all |still |keep |be )*(?:pass|` +
		`green|succeed)`)
	suiteZh = pattern.New(`^(?:让|使|确保|保证|修复|修好|修一下|解决|跑通|通过)?(?:所有|全部|整个|项目的?|失败的|现有的?|当前的?|一下|这些|单元|集成|回归|` +
		`的)*(?:测试|单测|检查项|检查|构建|编译|流水线|ci|lint|静态检查|用例)(?:(?:、|和|与|以及|,)(?:测试|检查|构建|编译|lint|ci))*(?:要|能|能够|可以|必须|` +
		`应该|需要|重新|都|全|全部|全都|再次|一次|跑|错误|失败|问题|报错|的)*(?:通过|变绿|成功|跑通|过|绿)?(?:才行|即可|了|吧)?$`)
	formatEn = pattern.New(`^(?:(?:format|reformat|prettify|auto-?format)\b(?: (?:the|all|our|whole|entire|go|` +
		`python|rust|source|js|ts|every))*(?: (?:code|codebase|files?|sources?|project|repo(?:sitory)?|it|` +
		`everything|imports))?$|(?:run|apply|use|fix)(?: (?:the|all|any))* (?:gofmt|goimports|prettier|black|` +
		`rustfmt|cargo fmt|go fmt|ruff format|dart format)\b|(?:fix|clean up|correct|repair)(?: (?:the|all|any|` +
		`code|go|source))* (?:formatting|format|indentation|whitespace|code style)\b)`)
	formatZh = pattern.New(`^(?:格式化(?:一下)?(?:所有|全部|整个)*(?:的)?(?:代码|源码|项目|文件|仓库)?$|(?:修复|修正|整理|统一|调整)(?:所有|全部|` +
		`整个)?(?:代码|源码)?的?(?:格式|缩进|代码风格|排版)(?:问题|错误)?$|(?:运行|跑一?下?|执行)\x01+$)`)
	bothForm = pattern.New(`^(?:fix|correct|repair|clean up)(?: the| all| code)* (?:(?:formatting|format|` +
		`style)(?:,| and) (?:the )?lint\w*|lint\w*(?:,| and) (?:the )?(?:formatting|format|style))(?: \w+)?$|` +
		`^(?:修复|修正|解决|整理)(?:代码)?(?:(?:格式|风格)(?:问题)?\s*(?:、|和|与|以及)\s*lint|lint\s*(?:、|和|与|以及)\s*(?:格式|` +
		`风格))\s*(?:问题|错误|警告)?$`)
	lintEn = pattern.New(`^(?:fix|resolve|clean up|address|clear|eliminate|silence|remove)\b(?: (?:the|all|any|` +
		`our|every|of|remaining|new|go|those|these|resulting|ensuing))*\s*(?:lint(?:er|ing)?|(?:resulting|` +
		`ensuing|remaining)|vet|go vet|eslint|golangci-lint|staticcheck|ruff|clippy|rubocop|pylint|flake8|mypy|` +
		`type|typescript|compiler|deprecation|\x01+)\s*(?:errors?|warnings?|issues?|findings?|problems?|` +
		`complaints?|violations?)\b|^lint(?: (?:the|all|code|project))*$|^fix (?:all )?(?:lint|vet|eslint)$`)
	lintZh = pattern.New(`^(?:修复|修掉|解决|清理|消除|处理)(?:所有|全部|一下)?的?\s*(?:由此产生|由此引起|由此带来|新增|lint|linter|eslint|` +
		`go vet|vet|golangci-lint|ruff|clippy|静态检查|静态分析|代码检查|代码规范|编译器?|类型)\s*(?:检查)?(?:报|报出|提示)?的?(?:错误|警告|告警|问题|` +
		`报错|提示)?$`)
)

// suites reads that the project's own checks are to pass. Beside other work it only says that they stay green.
func suites(c clause, _ bool) ([]plan.Criterion, bool) {
	b := strings.TrimRight(c.bare, " .。!！")
	var kinds []string
	switch {
	case bothForm.Get().MatchString(b):
		return []plan.Criterion{
			{Proof: plan.ProofCheck, Checks: []string{"format"}},
			{Proof: plan.ProofCheck, Checks: []string{"lint"}, Text: clip(c.text) + " (lint)"},
		}, true
	case formatEn.Get().MatchString(b), formatZh.Get().MatchString(b):
		kinds = []string{"format"}
	case lintEn.Get().MatchString(b), lintZh.Get().MatchString(b):
		kinds = []string{"lint"}
	case suiteEn.Get().MatchString(b), suiteZh.Get().MatchString(b):
		kinds = suiteKinds(b)
	default:
		return nil, false
	}
	if tests := testNames(c); len(tests) > 0 {
		return one(plan.Criterion{Proof: plan.ProofCheck, Tests: tests}), true
	}
	proof := plan.ProofCheck
	if caused.Get().MatchString(b) || !c.first && !demands.Get().MatchString(b) && mustPass.Get().MatchString(b) {
		proof = plan.ProofKept
	}
	return one(plan.Criterion{Proof: proof, Checks: kinds}), true
}

// demands begins what asks for checks to pass, and does not only say that they do.
var demands = pattern.New(`^(?:make (?:[^s]|s[^u])|get|have|let|fix|repair|unbreak|turn|让|使|修|跑通|解决)`)

// caused says that what is to be mended comes of other work.
var caused = pattern.New(`\b(?:resulting|new|caused|ensuing|from (?:this|that|it))\b|由此|产生的|带来的|引起的`)

func suiteKinds(b string) []string {
	var out []string
	for _, k := range []struct {
		kind  string
		words []string
	}{
		{"test", []string{"test", "测试", "单测", "用例"}}, {"build", []string{"build", "compil", "构建", "编译"}},
		{"lint", []string{"lint", "vet", "静态检查"}},
	} {
		if slices.ContainsFunc(k.words, func(w string) bool { return strings.Contains(b, w) }) {
			out = append(out, k.kind)
		}
	}
	if len(out) == 0 {
		return []string{"any"}
	}
	return out
}

var (
	typoForm = pattern.New(`\b(?:typos?|misspell\w*|spelling)\b|错别字|拼写|笔误|错字`)
)

// typo reads what is misspelt, and how it is spelt.
func typo(c clause, _ bool) ([]plan.Criterion, bool) {
	if !typoForm.Get().MatchString(c.bare) {
		return nil, false
	}
	paths := pathsOf(c.names)
	was, is, ok := replaced(c)
	switch {
	case ok && len(paths) > 0:
		return []plan.Criterion{
			{Proof: plan.ProofGone, Paths: paths, Texts: []string{was}},
			{Proof: plan.ProofDiff, Paths: paths, Texts: []string{is}, Text: says(c, is, paths)},
		}, true
	case ok:
		return one(plan.Criterion{Proof: plan.ProofGone, Texts: []string{was}}), true
	case len(textsOf(c.names)) > 0:
		return one(plan.Criterion{Proof: plan.ProofGone, Paths: paths, Texts: textsOf(c.names)}), true
	case len(paths) > 0:
		return one(plan.Criterion{Proof: plan.ProofDiff, Paths: paths}), true
	}
	return person(), true
}

// valueForm is a word as it stands where a value is replaced by another.
const valueForm = `[\x60"'“‘「]?([^\s\x60"'“”‘’「」,，。;；]+)[\x60"'”’」]?`

var (
	fromToEn  = pattern.New(`(?i)\bfrom\s+` + valueForm + `\s+to\s+` + valueForm)
	arrowed   = pattern.New(valueForm + `\s*(?:->|=>|→|➜)\s*` + valueForm)
	fromToZh  = pattern.New(`(?:从|由)\s*` + valueZh + unitZh + `\s*(?:改成|改为|改到|调整?到|调整?为|升级?到|升级?为|降到|换成|变为|变成|提高到|增加到|减少到|降低到|缩短到|到|为)\s*` + valueZh)
	becomesZh = pattern.New(`[“"「'‘\x60]([^”"」'’\x60]+)[”"」'’\x60]\s*(?:统一|全部|都)?(?:改成|改为|改名为|换成|替换成|替换为|更正为|修正为|` +
		`写成)\s*[“"「'‘\x60]?([^”"」'’\x60，。；,;\s]+)[”"」'’\x60]?`)
	quotesTo = pattern.New("(?i)[\"'`“‘]([^\"'`“”‘’]+)[\"'`”’]\\s+(?:to|with|by|as|into|should be|should read)\\s+[\"'`“‘]([^\"'`“”‘’]+)[\"'`”’]")
)

// unitZh are the units that stand behind a value.
const unitZh = `(?:\s*(?:毫秒|秒|分钟|小时|天|次|条|个|字节))?`

const valueZh = `[“"「'‘\x60]?([^\s“”"「」'‘’\x60，。；,;、改调升降换变到为]+)[”"」'’\x60]?`

// replaced finds the old value and the new one.
func replaced(c clause) (was, is string, ok bool) {
	for _, form := range []*pattern.Pattern{becomesZh, quotesTo, arrowed, fromToEn, fromToZh} {
		if m := form.Get().FindStringSubmatch(c.text); m != nil {
			was, is = clip(strings.Trim(m[1], ".:：")), clip(strings.TrimRight(m[2], ".:：)）"))
			if was != "" && is != "" && was != is {
				return was, is, true
			}
		}
	}
	return "", "", false
}

// han reports whether a clause is in Chinese.
func (c clause) han() bool { return hasHan(c.text) }

func hasHan(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return unicode.Is(unicode.Han, r) })
}

// says is what a diff of a clause holds beside another criterion of it.
func says(c clause, text string, paths []string) string {
	where := strings.Join(paths, ", ")
	switch {
	case c.han() && text == "":
		return where + " 有改动"
	case c.han():
		return where + " 中有 " + text
	case text == "":
		return where + " is changed"
	}
	return where + " says " + text
}

// gone is what is said of what is no longer there, beside another criterion.
func gone(c clause, what string) string {
	if c.han() {
		return what + " 不再存在"
	}
	return what + " is gone"
}

var (
	renameEn = pattern.New(`^rename\b|\b(?:should|must|needs? to|to) be renamed\b|^change the name of\b`)
	renameZh = pattern.New(`重命名|改名|更名`)
	renamed  = pattern.New(`(?i)\brename\s+(?:the\s+)?(?:(?:function|func|method|class|struct|type|interface|` +
		`constant|variable|module|package|command|flag|option|parameter|param|argument|field|column|header|` +
		`endpoint|key|hook|component|file|folder|directory|helper|table|target)s?\s+)?(\S+?)(?:\s+(?:function|` +
		`func|method|class|struct|type|interface|constant|variable|module|package|command|flag|option|parameter|` +
		`param|argument|field|column|header|endpoint|key|hook|component|file|folder|directory|helper|table|` +
		`target))?\s+(?:to|as|into|->|=>|→)\s+(\S+)`)
	renameTo = pattern.New(`(?:把|将)?\s*(?:函数|方法|类|结构体|类型|接口|常量|变量|模块|包|命令|参数|选项|字段|列|文件|目录|组件|环境变量|` +
		`表)?\s*([\w./:@$-]+|[“"「'‘\x60][^”"」'’\x60]+[”"」'’\x60])\s*(?:这个|这一)?(?:函数|方法|类|结构体|类型|接口|常量|变量|模块|包|命令|` +
		`参数|选项|字段|列|文件|目录|组件|环境变量|表)?\s*(?:统一|全部|都|整体)*(?:重命名|改名|更名)(?:为|成|到)?\s*([\w./:@$-]+|` +
		`[“"「'‘\x60][^”"」'’\x60]+[”"」'’\x60])`)
)

// callable matches what is said of something that is called with brackets behind its name.
var callable = pattern.New(`(?i)\b(?:function|func|method)s?\b|函数|方法`)

const quoteMarks = "`\"'“”‘’「」"

// rename keeps what there is, under another name.
func rename(c clause, _ bool) ([]plan.Criterion, bool) {
	if !renameEn.Get().MatchString(c.bare) && !renameZh.Get().MatchString(c.bare) {
		return nil, false
	}
	out := one(plan.Criterion{Proof: plan.ProofKept})
	m := renamed.Get().FindStringSubmatch(c.text)
	if m == nil {
		m = renameTo.Get().FindStringSubmatch(c.text)
	}
	if m == nil {
		return out, true
	}
	was, is := value(m[1]), value(m[2])
	switch {
	case was == "" || is == "" || was == is || c.alias:
	case isPath(was):
		if paths := pathsOf([]name{{text: is, kind: namePath}}); isPath(is) {
			out = append(out, plan.Criterion{Proof: plan.ProofDiff, Paths: paths, Text: says(c, "", paths)})
		}
		paths := pathsOf([]name{{text: was, kind: namePath}})
		out = append(out, plan.Criterion{Proof: plan.ProofGone, Paths: paths, Text: gone(c, was)})
	case !telling(was) && callable.Get().MatchString(c.text):
		// A plain word may stand anywhere; called or defined it is the function.
		out = append(out, plan.Criterion{Proof: plan.ProofGone, Texts: []string{was + "("}, Text: gone(c, was)})
	case telling(was):
		out = append(out, plan.Criterion{Proof: plan.ProofGone, Texts: []string{was}, Text: gone(c, was)})
	}
	return out, true
}

var replaceForm = pattern.New(`^replace\b.*\b(?:with|by)\b|^(?:switch|change|migrate|` +
	`move)(?: \S+){0,2} from \x01+ to \x01+|替换(?:为|成)|^用.*替换|^(?:把|将).*换成`)

// replacing keeps what there is while it comes to use something else.
func replacing(c clause, _ bool) ([]plan.Criterion, bool) {
	if !replaceForm.Get().MatchString(c.bare) {
		return nil, false
	}
	var code []name
	for _, n := range c.names {
		switch n.kind {
		case nameQuoted, namePath:
			return nil, false
		case nameCode:
			code = append(code, n)
		}
	}
	if len(code) == 0 && c.han() && !strings.HasPrefix(c.bare, "用") {
		return nil, false
	}
	out := one(plan.Criterion{Proof: plan.ProofKept})
	if len(code) == 2 && telling(code[0].text) && !strings.Contains(code[1].text, code[0].text) {
		was := code[0].text
		out = append(out, plan.Criterion{Proof: plan.ProofGone, Texts: []string{was}, Text: gone(c, was)})
	}
	return out, true
}

// telling reports whether a name stands in a project for one thing alone: a plain word in lower case is said of many.
func telling(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return r < 'a' || r > 'z' })
}

// value is a word of a requirement without what only surrounds it.
func value(s string) string {
	s = strings.Trim(strings.TrimRight(strings.Trim(s, quoteMarks), ",.;:，。；：)）!！"), quoteMarks)
	return clip(strings.TrimSuffix(s, "()"))
}
