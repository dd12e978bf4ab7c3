package criteria

import (
	"slices"
	"strings"

	"pawl/text/pattern"
	"pawl/text/plan"
)

var (
	boundForm = pattern.New(`(?i)(?:at most|no more than|not more than|up to|at least|no less than|within|under|` +
		`below|less than|(?:longer|larger|greater|bigger|shorter|higher|lower) than|fewer than|more than|` +
		`maximum(?: of)?|max(?:imum)?|minimum(?: of)?|min|limit(?:ed)?(?: \w+){0,4} to|` +
		`cap(?:ped)?(?: \w+){0,4} (?:at|to)|exceed(?:s|ing)?|over|every|不超过|最多|至多|至少|不少于|不低于|小于|少于|大于|超过|以内|低于|` +
		`高于|控制在|限制(?:在|为|成)?|上限|下限|(?:最多|至多|至少|不超过)[^0-9，。]{1,8}|每\p{Han}{0,3}|<=?|>=?|≤|≥)\s*(?:a |an |of |为|是|` +
		`到)*\s*([0-9][0-9,.]*[0-9]|[0-9])`)
	boundZh = pattern.New(`(?i)([0-9][0-9,.]*[0-9]|[0-9])\s*(?:ms|毫秒|s|秒|分钟|小时|天|[kmg]i?b|字节|个字符?|字符|字|条|次|个|` +
		`%)?\s*(?:以内|以下|以上|之内|的?(?:大小)?(?:限制|上限))`)
	speed = pattern.New(`\b(?:faster|quicker|speed(?: up|s)?|slow(?:er|ness)?|performan(?:ce|t)|latency|` +
		`optimi[sz]\w*|throughput|memory (?:use|usage|footprint)|allocations?|efficien\w*)\b|性能|速度|提速|加速|更快|变快|` +
		`太慢|很慢|耗时|延迟|内存占用|优化|吞吐`)
)

// limit reads a bound with a number, of which the test that shows it has to speak.
func limit(c clause, _ bool) ([]plan.Criterion, bool) {
	if removes(c) || docsForm.Get().MatchString(c.bare) || len(pathsOf(c.names)) > 0 && isSettings(c) {
		return nil, false
	}
	m := boundForm.Get().FindStringSubmatch(c.text)
	if m == nil {
		m = boundZh.Get().FindStringSubmatch(c.text)
	}
	if m == nil {
		return nil, false
	}
	texts := append([]string{strings.ReplaceAll(m[1], ",", "")}, textsOf(c.names)...)
	return one(plan.Criterion{Proof: plan.ProofCheck, Texts: slices.Compact(texts[:min(len(texts), maxTexts)])}), true
}

var (
	removeEn = pattern.New(`^(?:delete|remove|drop|strip(?: out)?|eliminate|get rid of|uninstall|purge|kill)\b|` +
		`\b(?:should|must|needs? to|to) be (?:removed|deleted|dropped)\b`)
	removeZh = pattern.New(`^不再支持|^(?:把|将|从)?(?:[^，。]*?)(?:删除|删掉|删了|移除|去掉|去除|卸载|下线)`)
	makesZh  = pattern.New(`新增|增加|添加|加上?|实现|支持|修复|修改|创建|返回|允许|提示|点击|无法|不能|报错`)
	nounZh   = pattern.New(`(?:删除|移除|卸载)[^，。]{0,12}(?:时|失败|报错)|(?:删除|移除|卸载)接口(?:[^\s\x01及]|$)|(?:删除|移除|卸载)(?:按钮|` +
		`功能|操作|逻辑|时|后|之后|前|失败|报错|确认|权限|的)`)
	datum = pattern.New(`\b(?:rows?|records?|orders|customers|users? (?:table|data|accounts?)|tables?|` +
		`database|db|prod(?:uction)?|staging|cluster|namespace|bucket|cache|logs? older|backups?|branch(?:es)?|` +
		`tags?|drop database)\b|生产|线上|数据库|数据表|[^a-z]表|记录|订单|用户数据|缓存|备份|集群|分支|测试库|库里`)
	unusedEn = pattern.New(`\b(?:unused|dead|unreachable|duplicate[ds]?|duplication|redundant|commented[- ]out|` +
		`obsolete comments?|leftover|unnecessary|trailing)\b|没用|未使用|无用|死代码|重复(?:的)?(?:代码|逻辑)|冗余|多余|废弃的?代码|注释掉`)
)

func removes(c clause) bool {
	if removeEn.Get().MatchString(c.bare) {
		return true
	}
	at := removeZh.Get().FindStringIndex(c.bare)
	return at != nil && !makesZh.Get().MatchString(c.bare[:at[1]]) && !nounZh.Get().MatchString(c.bare)
}

// removal reads what is to be there no longer.
func removal(c clause, _ bool) ([]plan.Criterion, bool) {
	if !removes(c) {
		return nil, false
	}
	texts, paths := textsOf(c.names), pathsOf(c.names)
	switch {
	case unusedEn.Get().MatchString(c.bare):
		return one(plan.Criterion{Proof: plan.ProofKept}), true
	case len(paths) == 0 && !slices.ContainsFunc(texts, telling):
		return person(), true
	case len(texts) > 0 && !datum.Get().MatchString(c.bare):
		return one(plan.Criterion{Proof: plan.ProofGone, Paths: paths, Texts: texts}), true
	case len(paths) > 0 && partOf(c):
		return one(plan.Criterion{Proof: plan.ProofDiff, Paths: paths}), true
	case len(paths) > 0:
		return one(plan.Criterion{Proof: plan.ProofGone, Paths: paths}), true
	}
	return person(), true
}

var (
	objectEn = pattern.New(`^\w+(?: out| rid of| up)?\s+(?:(?:the|all|our|old|entire|whole|both|file|files|` +
		`folder|folders|directory|legacy|unneeded|stale|obsolete|deprecated|generated|and|,)\s+)*[\x60"']?\x01`)
	pathOfZh = pattern.New(`(?:里|中|内|上)的?[^\x01，。]{1,30}$|(?:从|在)\s*[\x60"“]?\x01+[^，。]*(?:删除|删掉|移除|去掉|去除)|` +
		`\x01+[\x60"”]?\s*(?:文件)?(?:里|中|内|上|顶部|末尾|开头)`)
)

// partOf reports whether something in a file is to go, and not the file.
func partOf(c clause) bool {
	if hasHan(c.bare) {
		return pathOfZh.Get().MatchString(c.bare)
	}
	return !objectEn.Get().MatchString(c.bare)
}

var (
	docsForm = pattern.New(`\b(?:readme|changelog|release notes?|docs?|documentation|document(?:ing|s)?|` +
		`docstrings?|godoc|jsdoc|comments?|contributing|licen[cs]e|copyright|faq|tutorial|guide|wiki|man page|` +
		`code of conduct)\b|文档|注释|更新日志|变更日志|说明书?|教程|手册|版权|许可证|自述`)
	docsPath = pattern.New(`(?i)(?:\.(?:md|mdx|rst|adoc|txt)$|^(?:docs?|documentation|wiki)(?:/|$)|^(?:README|` +
		`CHANGELOG|CONTRIBUTING|LICENSE|NOTICE|AUTHORS)\b)`)
	codeWord = pattern.New(`\b(?:endpoint|parser?|generator?|page|form|button|section (?:of|in) the app|feature|` +
		`api|cli|command|lint(?:er)?|support|field|system|box)\b|接口|页面|按钮|表单|评论功能|功能|系统|字段`)
	told = pattern.New(`(?:注释|说明|内容|条目|一行|文字|comment|line|entry|note|sentence)\s*[:：]\s*(.{1,200})$`)
)

// documents reads what is to be written down, and where.
func documents(c clause, _ bool) ([]plan.Criterion, bool) {
	paths := pathsOf(c.names)
	inDocs := slices.ContainsFunc(paths, docsPath.Get().MatchString)
	spoken := docsForm.Get().MatchString(c.bare)
	if !inDocs && !spoken || codeWord.Get().MatchString(c.bare) && !inDocs && !docsFirst.Get().MatchString(c.bare) {
		return nil, false
	}
	if len(paths) == 0 {
		if paths = impliedPaths(c.bare); len(paths) == 0 {
			return person(), true
		}
	}
	if inDocs {
		paths = slices.DeleteFunc(paths, func(p string) bool { return !docsPath.Get().MatchString(p) })
	}
	out := plan.Criterion{Proof: plan.ProofDiff, Paths: paths}
	was, is, ok := replaced(c)
	switch m := told.Get().FindStringSubmatch(c.text); {
	case ok:
		out.Texts = []string{is}
		if len([]rune(was)) > 2 && !strings.ContainsAny(was, "*") {
			return []plan.Criterion{out,
				{Proof: plan.ProofGone, Paths: paths, Texts: []string{was}, Text: gone(c, was)}}, true
		}
	case m != nil:
		if text := clip(strings.Trim(m[1], quoteMarks+" ")); text != "" && len([]rune(text)) <= 200 {
			out.Texts = []string{text}
		}
	default:
		out.Texts = textsOf(c.names)
		if len(out.Texts) == 0 {
			out.Texts = newValue(c)
		}
	}
	return one(out), true
}

var (
	docsFirst = pattern.New(`^(?:document|comment|explain in|describe in)\b|^(?:write|add|update|extend|improve|` +
		`fix|complete)(?: \w+){0,2} (?:documentation|docs|docstrings?|comments?)\b|文档|注释`)
	becomes = pattern.New(`(?i)\b(?:to|as|for|version|release)\s+(v?[0-9][\w.\-%]*[\w%]|[0-9])(?:[\s,]|$)|` +
		`\bshould (?:be|say|read) (?:\w+ )?(v?[0-9][\w.\-%]*)|(?:应该?(?:是|为)|改成|改为|更新为|更新到|设为|设成|设置为|升级?到|升级?为|` +
		`调整?到|调整?为|到|为)\s*(v?[0-9][\w.\-%]*)`)
	becomesAny = pattern.New(`(?i)\bto\s+` + valueForm + `|(?:改成|改为|换成|设为|设成|设置为|调整为|调到|更新为|改用)(?:使?用)?\s*` + valueZh)
	version    = pattern.New(`\bv?[0-9]+\.[0-9]+\.[0-9]+[\w.\-]*`)
)

// newValue is the value that something is to have, where the words say it.
func newValue(c clause) []string {
	if m := becomes.Get().FindStringSubmatch(c.text); m != nil {
		return []string{clip(m[1] + m[2] + m[3])}
	}
	if v := version.Get().FindString(c.text); v != "" {
		return []string{clip(v)}
	}
	return nil
}

// impliedPaths are the files that documents are in where the words leave no doubt.
func impliedPaths(bare string) []string {
	for _, p := range []struct {
		words []string
		path  string
	}{
		{[]string{"readme", "自述"}, "README.md"},
		{[]string{"changelog", "更新日志", "变更日志", "release note"}, "CHANGELOG.md"},
		{[]string{"contributing"}, "CONTRIBUTING.md"},
		{[]string{"license", "licence", "许可证"}, "LICENSE"},
		{[]string{"the docs", "docs folder", "docs 目录", "文档目录"}, "docs"},
	} {
		if slices.ContainsFunc(p.words, func(w string) bool { return strings.Contains(bare, w) }) {
			return []string{p.path}
		}
	}
	return nil
}

var (
	settingsPath = pattern.New(`(?i)(?:\.(?:ya?ml|toml|ini|cfg|conf|json5?|jsonc|properties|xml|env|mod|gradle|` +
		`tf|lock|css|scss|less|html?|po|service|csv)$|(?:^|/)\.[a-z][\w.]*$|(?:^|/)\.env(?:\.\w+)*$|(?:^|` +
		`/)(?:Makefile|Dockerfile|Jenkinsfile|Gemfile|Procfile|CODEOWNERS|Vagrantfile|Justfile)$)`)
	setsForm = pattern.New(`^(?:set|change|bump|update|raise|lower|increase|decrease|reduce|adjust|add|put|` +
		`switch|turn|enable|disable|replace|use|make|pin|upgrade|downgrade|move|list|ignore|exclude|include|` +
		`create|write|modify|configure|give|default|rename)\b|改成|改为|换成|调整|调到|设置|设为|设成|增加|添加|加上|加入|加一|新增|升级|降级|升到|` +
		`更新|改|加|关闭|开启|启用|禁用|忽略|固定|创建|新建`)
)

func isSettings(c clause) bool {
	paths := pathsOf(c.names)
	other := func(p string) bool { return !settingsPath.Get().MatchString(p) }
	return len(paths) > 0 && !slices.ContainsFunc(paths, other)
}

// settings reads a value that is to stand in a file that no test runs.
func settings(c clause, _ bool) ([]plan.Criterion, bool) {
	if !isSettings(c) && !creates(c) || !setsForm.Get().MatchString(c.bare) {
		return nil, false
	}
	out := plan.Criterion{Proof: plan.ProofDiff, Paths: pathsOf(c.names)}
	if _, is, ok := replaced(c); ok {
		out.Texts = []string{is}
	} else if out.Texts = newValue(c); out.Texts == nil {
		out.Texts = textsOf(c.names)
		if m := becomesAny.Get().FindStringSubmatch(c.text); m != nil {
			if v := value(m[1] + m[2]); v != "" && !isPath(v) && !plainWords()[strings.ToLower(v)] {
				out.Texts = []string{v}
			}
		}
	}
	list := one(out)
	if upgrades.Get().MatchString(c.bare) {
		list = append(one(plan.Criterion{Proof: plan.ProofKept}), out)
		list[1].Text = says(c, strings.Join(out.Texts, ", "), out.Paths)
	}
	return list, true
}

var (
	createEn = pattern.New(`^(?:create|add|write|make)\s+(?:a |an |the |new |file |script |empty )*\x01`)
	createZh = pattern.New(`^(?:创建|新建|新增|添加|增加)(?:一个|一份|文件|脚本|\s)*\x01`)
)

// creates reports whether a file is to be made that holds no code to be tested.
func creates(c clause) bool {
	paths := pathsOf(c.names)
	if len(paths) == 0 || !createEn.Get().MatchString(c.bare) && !createZh.Get().MatchString(c.bare) {
		return false
	}
	return slices.ContainsFunc([]string{".sh", ".bash", ".ps1", ".bat", ".sql", ".proto", ".tmpl", ".svg", ".example"},
		func(suffix string) bool { return strings.HasSuffix(paths[0], suffix) })
}

var (
	upgrades = pattern.New(`^(?:upgrade|downgrade|bump|update) (?:the |all |our |to |` +
		`from )*(?:\S+ )*(?:dependenc|deps|version|go|node|python|java|rust|django|react|vue|lib|package|module|` +
		`\x01)|^(?:bump|update) (?:\S+ ){1,3}(?:from \S+ )?to (?:v?[0-9]+\.[0-9]+\.[0-9]|v[0-9])|^(?:upgrade|` +
		`downgrade)\b|升级|降级|升到`)
	keepEn = pattern.New(`^(?:refactor|restructure|rewrite|reorgani[sz]e|simplify|clean ?up|tidy(?: up)?|` +
		`dedupe|deduplicate|speed up|optimi[sz]e|split|extract|inline|merge|consolidate|unify|modernize|decouple|` +
		`modulari[sz]e|migrate|port|convert|upgrade|downgrade|untangle|rework|prune|vendor|go mod tidy)\b|` +
		`^add (?:missing )?type (?:hints|annotations)|^move\b|^break (?:up|down|apart)\b|` +
		`^(?:run )?(?:go mod )?tidy\b`)
	keepZh = pattern.New(`重构|重写|拆分|拆成|拆到|抽取|抽出|抽成|提取|合并(?:成|为|到)?|简化|整理|清理|优化|升级|降级|解耦|去重|迁移|移到|移动到|挪到|精简|模块化|` +
		`消除重复|收敛|类型(?:注解|标注)`)
	newWord = pattern.New(`^(?:add|implement|support|create|introduce|fix|show|return|allow|let|write|build)\b|` +
		`新增|增加|添加|加上|实现|支持|修复|返回|允许|显示|接入|^(?:编写|撰写|写|新建|创建)`)
)

// keeping reads work after which everything is to do what it did.
func keeping(c clause, _ bool) ([]plan.Criterion, bool) {
	switch {
	case tasted(c):
		return nil, false
	case keepEn.Get().MatchString(c.bare), upgrades.Get().MatchString(c.bare):
	case newWord.Get().MatchString(c.bare):
		return nil, false
	case keepZh.Get().MatchString(c.bare), speed.Get().MatchString(c.bare):
	default:
		return nil, false
	}
	out := one(plan.Criterion{Proof: plan.ProofKept})
	if was, is, ok := replaced(c); ok && isPath(was) && isPath(is) {
		paths := pathsOf([]name{{text: is, kind: namePath}})
		out = append(out, plan.Criterion{Proof: plan.ProofDiff, Paths: paths, Text: says(c, "", paths)})
	}
	return out, true
}

var (
	taste = pattern.New(`\b(?:nicer|prettier|beautiful|pretty|ugly|modern|cleaner look|look and feel|` +
		`looks? (?:better|good|bad|nice)|better|weird|strange|user[- ]friendly|intuitive|fancy|sexy|` +
		`improve (?:it|this|that|things|everything|the (?:ux|ui|code|app|project|site)))\b|美观|好看|太丑|很丑|难看|更友好|` +
		`(?:^|[^免])体验|高级|大气|漂亮|奇怪|不对劲|怪怪的|完善一下|优化一下体验|好用|顺手`)
	chat = pattern.New(`^(?:thanks?|thank you|hi|hello|hey|great|nice|cool|ok|okay|yes|no|good (?:morning|job)|` +
		`你好|您好|谢谢|多谢|辛苦了|好的|再见|嗯)\b?[^\x01]{0,20}$`)
	firmly = pattern.New(`^(?:refactor|restructure|rewrite|reorgani[sz]e|simplify|split|extract)\b|重构|拆分|抽取|性能`)
	solid  = pattern.New(`^an? \w+ \w+|\b(?:do not|don't|should|must|shall|may|needs?|returns?|responds?|fails?|` +
		`throws?|crash\w*|errors?|broken|breaks?|wrong|incorrect\w*|bugs?|supports?|when|if|can|cannot|can't|` +
		`accepts?|rejects?|shows?|is|are|does(?:n't| not)|panics?|leaks?|hangs?|missing|no longer|instead|only|` +
		`always|never)\b|应该?|必须|返回|报错|失败|崩溃|异常|错误|不能|无法|没有|支持|会|时|后|如果|默认|只|超过|bug|问题|期望|按|要|倒序|升序`)
)

// tasted reports whether a clause is a matter of taste.
func tasted(c clause) bool {
	return taste.Get().MatchString(c.bare) && !firmly.Get().MatchString(c.bare) && len(textsOf(c.names)) == 0
}

// vague leaves to a person what is a matter of taste, or no work at all.
func vague(c clause, needed bool) ([]plan.Criterion, bool) {
	if chat.Get().MatchString(c.bare) || tasted(c) ||
		!enVerb.Get().MatchString(c.bare) && !zhHas(c.bare) && !solid.Get().MatchString(c.bare) && len(c.names) == 0 {
		if !needed {
			return nil, true
		}
		return person(), true
	}
	return nil, false
}

var anyZhVerb = pattern.New(zhVerbs)

func zhHas(s string) bool { return anyZhVerb.Get().MatchString(s) }

// behaviour is what is left: something that a test can see.
func behaviour(c clause, _ bool) ([]plan.Criterion, bool) {
	if tests := testNames(c); len(tests) > 0 {
		return one(plan.Criterion{Proof: plan.ProofCheck, Tests: tests}), true
	}
	was, is, ok := replaced(c)
	texts := textsOf(c.names, was)
	if ok && len([]rune(is)) <= 60 && !slices.Contains(texts, is) && !isPath(is) {
		texts = append(texts[:min(len(texts), maxTexts-1)], is)
	}
	if len(texts) > 1 {
		for _, m := range insteadOf.Get().FindAllStringSubmatch(c.text, -1) {
			texts = slices.DeleteFunc(texts, func(t string) bool { return t == value(m[1]) })
		}
	}
	return one(plan.Criterion{Proof: plan.ProofCheck, Texts: texts}), true
}

var insteadOf = pattern.New(`(?i)(?:instead of|rather than|and not|而不是|而非|不是)\s*([\x60"'“]?[\w./-]+)`)
