package triage

import (
	"strings"

	"pawl/text/pattern"
)

// Topic is something about the present work that a person asks in words of their own, and that the store answers.
type Topic string

// The topics. The last four are asked for rather than asked about.
const (
	TopicApproval Topic = "approval" // who approved it, and how
	TopicProof    Topic = "proof"    // what was proven
	TopicFailure  Topic = "failure"  // why it failed or stopped
	TopicCost     Topic = "cost"
	TopicUndo     Topic = "undo" // how it is undone
	TopicChange   Topic = "change"
	TopicReport   Topic = "report" // what happened
	TopicStatus   Topic = "status"
	TopicLog      Topic = "log"
	TopicOutput   Topic = "output"
	TopicHelp     Topic = "help"
	TopicPause    Topic = "pause"
)

// maxInquiry is how many characters an inquiry has at most: a longer text is about the work that is wanted.
const maxInquiry = 80

// inquiries are the forms of each topic. Each matches a whole input in small letters, without marks at its end: what
// says more than that may be a requirement ("show the log in the sidebar").
var inquiries = []struct {
	topic Topic
	form  *pattern.Pattern
}{
	{TopicHelp, pattern.New(`^(?:help|help me|what can i (?:do|say|type)(?: (?:here|now))?|帮助|怎么用|我能(?:做|说)(?:什么|些什么))$`)},
	{TopicPause, pattern.New(`^(?:pause|hold on|wait|pause (?:it|this|the (?:work|run))|暂停|等一下|先停一下)$`)},
	{TopicApproval, pattern.New(`^(?:and )?(?:who (?:has )?(?:approved|confirmed|allowed|agreed to|signed off(?: on)?) (?:it|this|that|the (?:plan|run|change))|on whose word(?: (?:was|is) (?:it|this) (?:done|approved))?|who said yes)$|^(?:这是?|计划)?(?:是)?谁(?:批准|同意|确认|允许)的?(?:计划|它|这个)?的?$`)},
	{TopicProof, pattern.New(`^(?:and )?(?:what (?:was|is|has been) (?:proven|proved|verified|checked|tested)|(?:how|was|is) (?:was |is )?(?:it|this|that) (?:verified|proven|checked|tested)|which (?:checks|tests) (?:ran|passed|were run)|did the (?:tests|checks) pass)$|^(?:验证|证明|检查|测试)了(?:什么|哪些)$|^(?:怎么|如何)(?:验证|证明|检查)的$|^(?:测试|检查)(?:通过|过)了吗$`)},
	{TopicFailure, pattern.New(`^(?:but |and )?(?:why (?:did|has|is|was) (?:it|this|that|the (?:run|step|check|task)) (?:fail|failed|failing|stop|stopped|blocked|stuck)|why(?: is it)? blocked|what (?:went wrong|failed|is wrong|broke|happened to it)|what(?:'s| is) the (?:error|problem))$|^(?:它|这次|任务|检查)?为什么(?:会)?(?:失败|停|停止|卡住|阻塞|没(?:有)?成功|不行)(?:了|的)?$|^(?:哪里|什么地方)?(?:出错|失败)了?(?:在哪|什么)?$|^哪里出(?:了)?(?:错|问题)(?:了)?$`)},
	{TopicCost, pattern.New(`^(?:and )?(?:what (?:did|does|has) (?:it|this|that) cost(?: me)?(?: so far)?|how much (?:did|does|has) (?:it|this|that) (?:cost|spend|spent)(?: so far)?|how much (?:was|is) spent|how many tokens(?: (?:did it use|were used))?)$|^(?:这次|它)?(?:花|用|费)了?多少(?:钱|费用|tokens?)?了?$|^(?:费用|成本)是?多少$`)},
	{TopicUndo, pattern.New(`^(?:and )?(?:how (?:do|can|could) i (?:undo|revert|take back|roll back) (?:it|this|that)(?: again)?|can i undo (?:it|this|that)|how to (?:undo|revert)(?: (?:it|this|that))?)$|^(?:我)?(?:怎么|如何|怎样)(?:撤销|撤回|还原|回退)(?:它|这个|这次)?$|^(?:能|可以)(?:撤销|撤回)吗$`)},
	{TopicChange, pattern.New(`^(?:(?:please )?(?:show|print|give)(?: me)? (?:the |what |its )?(?:diff|changes|patch|changed|was changed)|what (?:has |was |did it )?changed?(?: so far)?|what did (?:it|you) change|which files (?:were )?changed?)$|^(?:给我)?(?:看看|看一下|显示)?(?:改了|改动了|修改了)(?:什么|哪些)(?:文件)?$|^(?:给我)?(?:看看|看一下|显示)(?:差异|改动|diff)$`)},
	{TopicLog, pattern.New(`^(?:(?:please )?(?:show|print|give)(?: me)? (?:the )?(?:log|history|runs)|what runs were there)$|^(?:给我)?(?:看看|看一下|显示)(?:日志|历史|记录)$`)},
	{TopicOutput, pattern.New(`^(?:please )?(?:show|print|give)(?: me)? (?:the )?(?:output|logs|output of the (?:checks?|tests?|commands?))$|^(?:给我)?(?:看看|看一下|显示)输出$`)},
	{TopicReport, pattern.New(`^(?:what happened(?: (?:here|last|so far))?|what was done|what did you do|(?:please )?(?:show|give)(?: me)? the (?:report|result))$|^(?:发生了什么|做了什么|结果(?:如何|怎么样|是什么))$`)},
	{TopicStatus, pattern.New(`^(?:status|what(?:'s| is) (?:going on|up|the status|happening)(?: now)?|how far (?:are you|is it)|where (?:are we|does it stand|is it)|are you done|is it done)$|^(?:状态|现在什么情况|进展如何|进度(?:如何|怎么样)?|到哪(?:一步)?了|完成了吗|做完了吗|怎么样了)$`)},
}

// Inquire recognizes an input that asks about the present work, or asks to see a part of it. It is pure, and knows
// English and Chinese.
func Inquire(input string) (Topic, bool) {
	if len([]rune(input)) > maxInquiry {
		return "", false
	}
	text := strings.ToLower(strings.Join(strings.Fields(strings.ReplaceAll(input, "’", "'")), " "))
	text = strings.TrimRight(text, " ?!.…？！。～~")
	for _, i := range inquiries {
		if i.form.Get().MatchString(text) {
			return i.topic, true
		}
	}
	return "", false
}
