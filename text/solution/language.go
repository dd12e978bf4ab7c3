package solution

import (
	"strings"
	"unicode"
)

// Language is the seed's OUTPUT_LANGUAGE: the language in which the fixed words of a document are written.
type Language string

// The languages of documents. The zero Language writes Chinese, which is the seed's default.
const (
	Chinese Language = "zh-CN"
	English Language = "en"
)

// ParseLanguage picks the language of documents for a setting or a locale such as "zh_CN.UTF-8"; English is the answer
// to anything that is not Chinese.
func ParseLanguage(s string) Language {
	if strings.HasPrefix(strings.ToLower(s), "zh") {
		return Chinese
	}
	return English
}

// word is a fixed word of the documents, with other spellings under which it is read.
type word struct {
	zh, en string
	others []string
}

// in returns the word in a language.
func (w word) in(l Language) string {
	if l == English {
		return w.en
	}
	return w.zh
}

// language says in which language s is the word, or "" where s is not the word.
func (w word) language(s string) Language {
	switch {
	case s == w.zh:
		return Chinese
	case strings.EqualFold(s, w.en):
		return English
	}
	for _, o := range w.others {
		if strings.EqualFold(s, o) {
			return languageOf(s)
		}
	}
	return ""
}

// heads says in which language a heading begins with the word, leaving out its number and what stands behind it in
// brackets: "5. 技术决策（可选）" is the heading of 技术决策. A word that goes on is another word.
func (w word) heads(title string) Language {
	title = strings.TrimLeft(strings.TrimLeft(strings.TrimSpace(title), "0123456789"), ".、) \t")
	if i := strings.IndexFunc(title, func(r rune) bool { return !unicode.IsLetter(r) && r != ' ' }); i >= 0 {
		title = title[:i]
	}
	return w.language(strings.TrimSpace(title))
}

// languageOf guesses the language of a text from its script.
func languageOf(s string) Language {
	if strings.ContainsFunc(s, func(r rune) bool { return unicode.Is(unicode.Han, r) }) {
		return Chinese
	}
	return English
}

// The words of tasks.md.
var (
	wordProgress = word{"执行状态", "Execution status", []string{"Progress"}}
	wordList     = word{"任务列表", "Tasks", []string{"Task list", "任务清单"}}
	wordNotes    = word{"执行备注", "Execution notes", []string{"Notes", "执行日志", "Execution log"}}
	wordTotal    = word{"总任务", "Total", []string{"总任务数", "Total tasks"}}
	wordDone     = word{"已完成", "Done", []string{"Completed"}}
	wordRate     = word{"完成率", "Rate", []string{"Completion", "Completion rate"}}
	wordVerify   = word{"验证", "Verify", []string{"Verification"}}
	wordDepends  = word{"依赖", "Depends on", []string{"depends_on", "Dependencies", "Dependency"}}
	wordRemark   = word{"备注", "Note", []string{"Remark", "Reason"}}
)

// The words of proposal.md.
var (
	wordMeta       = word{"元信息", "Metadata", []string{"Meta"}}
	wordKind       = word{"类型", "Kind", []string{"Type"}}
	wordType       = word{"方案类型", "Package type", []string{"pkg_type", "package_type"}}
	wordPriority   = word{"优先级", "Priority", nil}
	wordState      = word{"状态", "Status", []string{"State"}}
	wordCreated    = word{"创建", "Created", []string{"创建时间", "创建日期"}}
	wordNeed       = word{"需求", "Requirement", []string{"Requirements"}}
	wordBackground = word{"背景", "Background", []string{"需求背景"}}
	wordGoal       = word{"目标", "Goal", []string{"Goals"}}
	wordLimits     = word{"约束", "Constraints", []string{"约束条件", "Constraint"}}
	wordAcceptance = word{"验收标准", "Acceptance criteria", []string{"Acceptance"}}
	wordApproach   = word{"方案", "Approach", []string{"Solution"}}
	wordTechnical  = word{"技术方案", "Technical approach", nil}
	wordImpact     = word{"影响范围", "Impact", []string{"Scope of impact"}}
	wordRisks      = word{"风险", "Risks", []string{"风险评估", "风险表", "Risk"}}
	wordDesign     = word{"技术设计", "Technical design", nil}
	wordScenarios  = word{"核心场景", "Core scenarios", nil}
	wordDecisions  = word{"技术决策", "Technical decisions", []string{"Decisions"}}
	wordNothing    = word{"无", "none", nil}
)

// The words of the archive's index, its head included.
var (
	wordStamp    = word{"时间戳", "Timestamp", nil}
	wordName     = word{"名称", "Name", nil}
	wordModules  = word{"涉及模块", "Modules", nil}
	wordDecision = word{"决策", "Decisions", nil}
	wordResult   = word{"结果", "Result", nil}
)
