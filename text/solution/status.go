package solution

import "unicode"

// Status is how far a task is. Statuses are kept in reports and append-only.
type Status string

// The five statuses (docs/spec/workflow.md#task-symbols).
const (
	Pending   Status = "pending"
	Completed Status = "completed"
	Failed    Status = "failed"
	Skipped   Status = "skipped"
	Uncertain Status = "uncertain"
)

// symbols are the signs that stand in the boxes of tasks.md.
var symbols = map[Status]string{Pending: " ", Completed: "√", Failed: "X", Skipped: "-", Uncertain: "?"}

// Symbol returns the sign that stands in a task's box, without the brackets; an unknown status has that of a pending
// task.
func (s Status) Symbol() string {
	if sign, ok := symbols[s]; ok {
		return sign
	}
	return symbols[Pending]
}

// statusOf reads what stands in a box. The small x is the done of other tools (docs/spec/workflow.md#c15): it is read,
// never written.
func statusOf(sign string) (s Status, foreign, ok bool) {
	for s, own := range symbols {
		if own == sign {
			return s, false, true
		}
	}
	if sign == "x" {
		return Completed, true, true
	}
	for _, r := range sign {
		return Pending, false, unicode.IsSpace(r)
	}
	return Pending, false, false
}

// Counts are the numbers of tasks by status, sub-tasks counted as tasks.
type Counts struct {
	Pending   int `json:"pending"`
	Completed int `json:"completed"`
	Failed    int `json:"failed"`
	Skipped   int `json:"skipped"`
	Uncertain int `json:"uncertain"`
}

// Count counts tasks by status.
func Count(list []Task) Counts {
	var c Counts
	for _, t := range list {
		switch t.Status {
		case Completed:
			c.Completed++
		case Failed:
			c.Failed++
		case Skipped:
			c.Skipped++
		case Uncertain:
			c.Uncertain++
		default:
			c.Pending++
		}
	}
	return c
}

// Total is the number of all tasks.
func (c Counts) Total() int { return c.Pending + c.Completed + c.Failed + c.Skipped + c.Uncertain }

// Result is how a package ended, as the archive's index says it in Chinese (docs/spec/workflow.md#archive-index).
// Results are kept and append-only.
type Result string

// The five results.
const (
	EndedWell   Result = "✅完成"
	EndedPartly Result = "⚠️部分完成"
	EndedBadly  Result = "❌失败/中止"
	NotCarried  Result = "⏸未执行"
	RolledBack  Result = "🔄已回滚"
)

// results are the other forms of the results: the word of the @status line, and the English of the index.
var results = []struct {
	result        Result
	word, english string
}{
	{EndedWell, "completed", "✅completed"},
	{EndedPartly, "partial", "⚠️partly completed"},
	{EndedBadly, "failed", "❌failed/stopped"},
	{NotCarried, "skipped", "⏸not carried out"},
	{RolledBack, "rolled_back", "🔄rolled back"},
}

// Judge gives the result of a package from what became of its tasks (docs/spec/workflow.md#c9): everything done is a
// success, a package of which nothing was begun was not carried out, and nothing done with something failed is a
// failure. All else, and whatever nobody knows the end of, is a part. A package without tasks, an overview, has no
// tasks that could be missing.
func Judge(c Counts) Result {
	switch {
	case c.Completed == c.Total():
		return EndedWell
	case c.Completed == 0 && c.Failed > 0:
		return EndedBadly
	case c.Completed == 0 && c.Uncertain == 0:
		return NotCarried
	}
	return EndedPartly
}

// Word returns the word of the @status line; an unknown result counts as failed.
func (r Result) Word() string {
	for _, f := range results {
		if f.result == r {
			return f.word
		}
	}
	return "failed"
}

// In returns the result as the index of a language says it.
func (r Result) In(l Language) string {
	for _, f := range results {
		if f.result == r && l == English {
			return f.english
		}
	}
	return string(r)
}

// Icon returns the result's sign alone.
func (r Result) Icon() string {
	for i, c := range r {
		if unicode.Is(unicode.Han, c) {
			return string(r)[:i]
		}
	}
	return "·"
}

// ParseResult reads a result in any of its forms: as the index says it in either language, with or without blanks and
// the emoji's variation selector, and as the word of the @status line. "overview" is a package that was only to be
// read, which is complete when it is archived (docs/spec/workflow.md#c13).
func ParseResult(s string) (Result, bool) {
	s = bare(s)
	if s == "overview" {
		return EndedWell, true
	}
	for _, f := range results {
		if s == bare(string(f.result)) || s == f.word || s == bare(f.english) {
			return f.result, true
		}
	}
	return "", false
}
