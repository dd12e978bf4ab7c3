package solution

import (
	"fmt"
	"strings"

	"pawl/text/markdown"

	"pawl"
)

// TaskFile is a tasks.md as it was written, with what it says. Its methods change the lines that they name and nothing
// else; what it says is up to date after each of them.
type TaskFile struct {
	Tasks
	// Warnings are oddities that do not keep the file from being used: a small x that was read as done, a task that is
	// done before what it depends on, numbers in the head that are none.
	Warnings []pawl.Problem

	text        markdown.Text
	titleLine   int
	closingLine int
	headLines   [3]int // of the total, of the number done and of the rate, 0 where there is none
	ends        []int  // of each task, the last line that belongs to it without its parts
}

// String returns the file.
func (f *TaskFile) String() string { return f.text.String() }

// margin returns the blanks before the task's box.
func (f *TaskFile) margin(i int) string {
	line := f.text.Content(f.List[i].Line - 1)
	return line[:len(line)-len(strings.TrimLeft(line, " \t"))]
}

// Recount writes the numbers of the head anew, where the file has them: the tasks, those that are done, and the rate.
// Lines that are right already are left as they are.
func (f *TaskFile) Recount() {
	p := ProgressOf(f.List)
	for i, value := range []string{fmt.Sprint(p.Total), fmt.Sprint(p.Done), fmt.Sprintf("%d%%", p.Rate())} {
		n := f.headLines[i]
		if n == 0 {
			continue
		}
		line := f.text.Content(n - 1)
		if m := fieldForm.Get().FindStringSubmatchIndex(line); line[m[6]:m[7]] != value {
			f.text.Replace(n-1, line[:m[6]]+value+line[m[7]:])
		}
	}
	f.reload()
}

// Close ends the package: its @status line says the result and the minute, every task that is not completed and has no
// remark gets one, and the head counts anew. reason says why a task was not carried out.
func (f *TaskFile) Close(c Closing, reason func(Task) string) {
	behind := map[int][]string{}
	for i, t := range f.List {
		if t.Status != Completed && len(t.Remarks) == 0 {
			behind[f.ends[i]] = append(behind[f.ends[i]], remark(f.margin(i), f.Language, reason(t)))
		}
	}
	switch {
	case f.closingLine > 0:
		f.text.Replace(f.closingLine-1, c.line())
	case f.titleLine > 0:
		lines := []string{"", c.line()}
		if n := f.titleLine; n < len(f.text.Lines) && !f.text.Blank(n) {
			lines = append(lines, "")
		}
		behind[f.titleLine] = append(lines, behind[f.titleLine]...)
	default:
		behind[0] = []string{c.line(), ""}
	}
	f.text = f.text.Insert(behind)
	f.reload()
	f.Recount()
}

// reload reads the changed text again. An edit makes nothing of it wrong that was right.
func (f *TaskFile) reload() {
	again, _ := readTaskText(f.text)
	*f = *again
}
