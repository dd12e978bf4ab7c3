package backlog

import (
	"strings"

	"pawl/text/pattern"
)

// priorityWords are the words for priorities, in both languages.
var priorityWords = [...]struct {
	priority int
	words    string
}{
	{1, " critical blocker urgent highest immediate 紧急 严重 最高 致命 阻断 "},
	{2, " high major 高 重要 较高 "},
	{3, " medium normal moderate default 中 中等 普通 一般 正常 "},
	{4, " low minor 低 较低 次要 "},
	{5, " lowest trivial 最低 微小 "},
}

var (
	// priorityNumber is P0 to P5; the first two are both critical.
	priorityNumber = pattern.New(`^p ?[-_]?([0-5])$`)
	// priorityName is what stands in front of the value in labels and lines.
	priorityName = pattern.New(`^(?:priority|prio|severity|优先级|优先|严重程度)[ \t]*[:：/=_-]?[ \t]*(.+)$`)
	// priorityTail is the same the other way round: high priority, 高优先级.
	priorityTail = pattern.New(`^(.+?)[ _-]*(?:priority|prio|优先级|优先)$`)
)

// priorityOf reads a priority on its own: a number from 1 to 5, P0 to P5, or a word.
func priorityOf(text string) (int, bool) {
	s := strings.ToLower(oneLine(text))
	if m := priorityNumber.Get().FindStringSubmatch(s); m != nil {
		return max(int(m[1][0]-'0'), MinPriority), true
	}
	if len(s) == 1 && s[0] >= '1' && s[0] <= '5' {
		return int(s[0] - '0'), true
	}
	for _, w := range priorityWords {
		if s != "" && !strings.Contains(s, " ") && strings.Contains(w.words, " "+s+" ") {
			return w.priority, true
		}
	}
	return 0, false
}

// priorityIn reads a label or the heading of a section that may say a priority: P1, critical, priority: high, 高优先级. A
// bare number says none.
func priorityIn(label string) (int, bool) {
	s := strings.ToLower(oneLine(label))
	if m := priorityName.Get().FindStringSubmatch(s); m != nil {
		return priorityOf(m[1])
	}
	if m := priorityTail.Get().FindStringSubmatch(s); m != nil {
		return priorityOf(m[1])
	}
	if len(s) == 1 && s[0] <= '9' {
		return 0, false
	}
	return priorityOf(s)
}
