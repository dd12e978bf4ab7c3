package solution

import (
	"fmt"
	"strings"
	"time"

	"pawl/text/pattern"
)

// Names of a package's files.
const (
	ProposalName = "proposal.md"
	TasksName    = "tasks.md"
)

// Tasks is what a tasks.md says.
type Tasks struct {
	Language Language
	Title    string
	// Closing is how the package ended, nil while it is worked on.
	Closing *Closing
	// Progress is what the head says of the tasks; nil stands for what the list says.
	Progress *Progress
	// List holds the tasks in the order of the file, each sub-task behind the task that it is a part of.
	List []Task
	// Notes is the table of what happened. Without a head it gets the seed's.
	Notes Table
}

// Closing is the line that an archived package begins with: > **@status:** completed | 2026-02-08 13:30, in UTC.
type Closing struct {
	Result Result
	At     time.Time
}

// Progress is the number of all tasks and of those that are done.
type Progress struct{ Total, Done int }

// Task is one box of a tasks.md. Its texts are Markdown of one line.
type Task struct {
	// Number is the task's number, as "1.2", "" where it has none.
	Number string
	Status Status
	Title  string
	// Level is 0 for a task; a task of level n is a part of the last one before it of level n-1.
	Level int
	// Group is the heading below which the task stands, if any; a task without one stays in the group before it.
	Group string
	// Verify says how to tell that the task is done, DependsOn names the tasks that come first, Remarks say what
	// happened.
	Verify    []string
	DependsOn []string
	Remarks   []string
	// Line is the task's line in the file that it was read from, from 1.
	Line int
}

// ProgressOf counts a list.
func ProgressOf(list []Task) Progress {
	c := Count(list)
	return Progress{Total: c.Total(), Done: c.Completed}
}

// Rate is the share that is done, in whole percent, rounded down.
func (p Progress) Rate() int {
	if p.Total <= 0 {
		return 0
	}
	return 100 * p.Done / p.Total
}

// legends explain the symbols, in the order of the statuses.
var legends = map[Language]string{
	Chinese: "`[ ]` 待执行 · `[√]` 已完成 · `[X]` 失败 · `[-]` 跳过 · `[?]` 待确认",
	English: "`[ ]` pending · `[√]` completed · `[X]` failed · `[-]` skipped · `[?]` uncertain",
}

// noteHeads are the seed's heads of the table of notes.
var noteHeads = map[Language][]string{Chinese: {"任务", "状态", "备注"}, English: {"Task", "Status", "Note"}}

// known returns l, or Chinese for a language that documents are not written in.
func (l Language) known() Language {
	if l == English {
		return English
	}
	return Chinese
}

// Render writes a new tasks.md. Whatever the texts contain, reading it gives as many tasks, with the same statuses.
func (t Tasks) Render() string {
	l := t.Language.known()
	var b strings.Builder
	b.WriteString("# " + orDash(oneLine(t.Title)) + "\n\n")
	if t.Closing != nil {
		b.WriteString(t.Closing.line() + "\n\n")
	}
	p := ProgressOf(t.List)
	if t.Progress != nil {
		p = *t.Progress
	}
	fmt.Fprintf(&b, "%s\n\n## %s\n\n```yaml\n%s: %d\n%s: %d\n%s: %d%%\n```\n\n## %s\n\n", legends[l],
		wordProgress.in(l),
		wordTotal.in(l), p.Total, wordDone.in(l), p.Done, wordRate.in(l), p.Rate(), wordList.in(l))
	group, level := "", -1
	for i, task := range t.List {
		if g := oneLine(task.Group); g != "" && g != group {
			if i > 0 {
				b.WriteByte('\n')
			}
			b.WriteString("### " + g + "\n\n")
			group, level = g, -1
		}
		level = max(0, min(task.Level, level+1))
		task.write(&b, level, l)
	}
	notes := t.Notes
	if len(notes.Header) == 0 {
		notes.Header = noteHeads[l]
	}
	b.WriteString("\n## " + wordNotes.in(l) + "\n\n" + notes.String())
	return b.String()
}

func (c Closing) line() string {
	s := "> **@status:** " + c.Result.Word()
	if !c.At.IsZero() {
		s += " | " + c.At.UTC().Format(closingTime)
	}
	return s
}

const closingTime = "2006-01-02 15:04"

var numberForm = pattern.New(`^\d{1,6}(?:\.\d{1,6}){0,5}$`)

func (t Task) write(b *strings.Builder, level int, l Language) {
	indent := strings.Repeat("  ", level)
	number := ""
	if numberForm.Get().MatchString(t.Number) {
		if number = t.Number + " "; !strings.Contains(t.Number, ".") {
			number = t.Number + ". "
		}
	}
	title := oneLine(t.Title)
	if said(title) == "" {
		title = strings.TrimSpace(title + " -")
	}
	fmt.Fprintf(b, "%s- [%s] %s%s\n", indent, t.Status.Symbol(), number, title)
	for _, v := range t.Verify {
		fmt.Fprintf(b, "%s  - %s: %s\n", indent, wordVerify.in(l), orDash(oneLine(v)))
	}
	var on []string
	for _, d := range t.DependsOn {
		if numberForm.Get().MatchString(d) {
			on = append(on, d)
		}
	}
	if len(on) > 0 {
		fmt.Fprintf(b, "%s  - %s: %s\n", indent, wordDepends.in(l), strings.Join(on, ", "))
	}
	for _, r := range t.Remarks {
		b.WriteString(remark(indent, l, r) + "\n")
	}
}

// remark is the line of a remark for a task that is indented so far.
func remark(indent string, l Language, text string) string {
	return indent + "  > " + wordRemark.in(l) + ": " + orDash(oneLine(text))
}
