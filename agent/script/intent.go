package script

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// goal is something that a requirement asks for and that fixers can do.
type goal string

const (
	goalFormat goal = "format"
	goalLint   goal = "lint"
	goalTidy   goal = "tidy"
	goalChecks goal = "checks"
)

const maxRequirement = 400 // bytes; a longer text says more than this grammar can hold

const (
	repairVerb = `(?:fix|repair|correct|resolve|clean up|clean|apply|run|improve)`
	which      = `(?:(?:the|all|all the|all of the|every|our|my|this|any|its|remaining|failing|broken|current|existing) )*`
	trouble    = `(?: (?:errors?|issues?|problems?|warnings?|findings?|failures?|violations?|complaints?))?`
	everything = `(?:code ?base|code|source code|sources?|source files|files|project|repo|repository|package|module|everything|it all)`
	suite      = `(?:checks?|tests?|unit tests|test suite|suite|build|ci|ci checks|pipeline|verification|gates?)`
	formatter  = `(?:gofmt|prettier|ruff format|black|rustfmt|cargo fmt|dart format|go fmt|dotnet format)`
	linter     = `(?:linters?|lint|linting|eslint|vet|go vet|clippy|ruff|rubocop|static analysis|static check|stylelint|golangci-lint)`
	judge      = `(?:` + suite + `|` + linter + `|` + formatter + `)`
	deps       = `(?:dependenc(?:y|ies)|deps|modules?|module files?|go\.mod|go mod|go\.sum|go\.mod and go\.sum)`
)

// phrasing is one way to name a goal.
type phrasing struct {
	goal  goal
	match *regexp.Regexp
}

// grammar says which phrases mean which goal. A phrase must match as a whole: "format the code" is understood, "format
// the date as ISO" is work for somebody who can read. It is built when it is first needed, because most runs bring a
// plan.
var grammar = sync.OnceValue(func() []phrasing {
	return []phrasing{
		{goalFormat, whole(repairVerb + ` ` + which +
			`(?:go |source |code )?(?:formatting|format|code style|style|whitespace|indentation|formatter|formatters)` +
			trouble)},
		{goalFormat, whole(`(?:format|reformat|prettify|autoformat|auto-format)(?: ` + which +
			`(?:go |python |rust |dart |js |javascript |typescript )?` + everything + `)?`)},
		{goalFormat, whole(`(?:run |apply |fix |use )?` + which + formatter + trouble)},
		{goalLint, whole(repairVerb + ` ` + which + `(?:code |go )?` + linter + trouble)},
		{goalLint, whole(`lint(?: ` + which + everything + `)?`)},
		{goalTidy, whole(`(?:tidy|tidy up|clean up|clean|fix|repair|prune|sort out) ` + which +
			`(?:go |project |unused )?` + deps + trouble)},
		{goalTidy, whole(`(?:run )?go mod tidy`)},
		{goalChecks, whole(`(?:make|get|have|let) ` + which + judge + `(?:(?:,|,? and) ` + which + judge +
			`)*(?: to)? (?:all )?(?:pass|passing|green|succeed|work|go green|turn green)`)},
		{goalChecks, whole(`(?:fix|repair|unbreak) ` + which + suite + trouble)},
		{goalChecks, whole(`pass ` + which + suite)},

		{goalChecks, whole(`(?:让|使|令|确保)` + zhWhich + zhJudge + `(?:(?:、|，|,|和|与|以及| and )` + zhWhich + zhJudge +
			`)*(?:全部|全都|都|能|能够|可以|重新)*(?:通过|变绿|成功|跑通)`)},
		{goalChecks, whole(`(?:修复|修好|解决|修正)` + zhWhich + zhSuite + zhTrouble)},
		{goalChecks, whole(`(?:通过|跑通)` + zhWhich + zhSuite)},
		{goalFormat, whole(`(?:修复|修正|整理|统一|调整|解决|规范)` + zhWhich + `(?:代码|源码|源代码)?的?(?:格式化|格式|代码风格|风格|缩进|排版)` +
			zhTrouble)},
		{goalFormat, whole(`格式化` + zhWhich + `(?:go|python|rust)?(?:代码|源码|源代码|文件|项目|仓库|工程|代码库)?`)},
		{goalLint, whole(`(?:修复|修正|解决|清理|消除)` + zhWhich + `(?:代码|源码)?的?(?:lint|linter|静态检查|静态分析|代码检查|代码规范|规范)的?` +
			zhTrouble)},
		{goalTidy, whole(`(?:整理|清理|修复|修正)` + zhWhich + `(?:项目|模块|工程)?的?(?:依赖项|依赖|模块|go\.mod|go mod)` + zhTrouble)},
	}
})

const (
	zhWhich   = `(?:所有|全部|全部的|整个|当前|本|这个|这些|项目|项目的|失败的|出错的|未通过的|一下|的)*`
	zhSuite   = `(?:检查项|检查|单元测试|测试|构建|编译|验证|校验|ci|流水线)`
	zhJudge   = `(?:` + zhSuite + `|` + linter + `)`
	zhTrouble = `(?:关系|错误|问题|失败|警告|告警|项)?`
)

func whole(pattern string) *regexp.Regexp { return regexp.MustCompile(`^(?:` + pattern + `)$`) }

var (
	// blanks beside Chinese characters separate nothing
	hanBlank = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(` ?(\p{Han}) ?`) })
	polite   = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(?:(?:please|pls|kindly|can you|could you|would you|just|only|now)[ ,]+|请你|请帮我|请|帮我|麻烦你|麻烦|只)+`)
	})
	closing = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?: (?:please|again|now|only|for me|first)|(?: (?:in|of|across|for) (?:the|this|our|my|the whole|the entire) ` + everything + `)|一下|吧|了)+$`)
	})
	connective = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\s*(?:,\s*and then|,\s*then|,\s*and|\band then\b|\band\b|\bthen\b|&|\+|,|;|，|、|；|并且|以及|然后|并|和)\s*`)
	})
	firstVerb = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(?:clean up|tidy up|sort out|[a-z-]+|修复|修正|整理|解决|清理|统一|消除)`)
	})
)

// understand reads a requirement and returns the goals that it names, in a fixed order and each once. It is false when
// any part of the requirement is not understood: doing half of what was asked is not an answer.
func understand(requirement string) ([]goal, bool) {
	if len(requirement) > maxRequirement {
		return nil, false
	}
	text := strings.ToLower(strings.Join(strings.Fields(requirement), " "))
	text = hanBlank().ReplaceAllString(text, "$1")
	text = strings.TrimRight(text, " .!。！")
	text = strings.TrimSpace(polite().ReplaceAllString(text, ""))
	text = closing().ReplaceAllString(text, "")
	if g, ok := phrase(text); ok {
		return []goal{g}, true
	}
	var goals []goal
	verb := ""
	parts := connective().Split(text, -1)
	for i := 0; i < len(parts); i++ {
		part := closing().ReplaceAllString(parts[i], "")
		g, n, ok := longest(parts[i:])
		i += n
		if !ok && i > 0 {
			// "fix formatting and lint": the verb of the first part counts for the second; Chinese needs no blank
			// between.
			if g, ok = phrase(verb + " " + part); !ok {
				g, ok = phrase(verb + part)
			}
		}
		if !ok {
			return nil, false
		}
		if v := firstVerb().FindString(part); v != "" && verb == "" {
			verb = v
		}
		goals = append(goals, g)
	}
	slices.Sort(goals)
	return slices.Compact(goals), true
}

// longest finds the phrase that takes in most of the parts: "make go vet and the tests pass" is one, although it has
// two parts. More counts the parts behind the first.
func longest(parts []string) (g goal, more int, ok bool) {
	for n := len(parts); n > 0; n-- {
		text := closing().ReplaceAllString(strings.Join(parts[:n], " and "), "")
		if g, ok = phrase(text); ok {
			return g, n - 1, true
		}
	}
	return "", 0, false
}

func phrase(text string) (goal, bool) {
	for _, row := range grammar() {
		if row.match.MatchString(text) {
			return row.goal, true
		}
	}
	return "", false
}
