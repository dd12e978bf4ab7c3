package solution

import (
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"pawl/text/markdown"
	"pawl/text/pattern"

	"pawl"
)

// ReadTasks reads a tasks.md. The error is of CodeInvalid; its cause is a *Broken with every problem and its line: text
// that is not UTF-8, too large or empty, a box with an unknown symbol, a task without text, a number that is given
// twice, a dependency that does not exist or goes in a circle, a block that nothing ends. A file without tasks is not
// an error here.
func ReadTasks(data []byte) (*TaskFile, error) {
	f, issues := readTasks(data)
	if err := broken("solution.ReadTasks", TasksName, issues); err != nil {
		return nil, err
	}
	return f, nil
}

// taskReader reads a file from its first line to its last.
type taskReader struct {
	file    *TaskFile
	issues  findings
	odd     findings // the warnings
	section string   // the Chinese word for it
	listed  bool     // the file has a section for its tasks
	group   string
	stack   []int // the tasks around the current one, from the outermost, as places in the list
	columns []int // where their boxes are
	notes   []markdown.Row
	spoken  Language
}

func readTasks(data []byte) (*TaskFile, []pawl.Problem) {
	if bad, ok := unusable(TasksName, data); ok {
		return &TaskFile{}, []pawl.Problem{bad}
	}
	return readTaskText(markdown.TextOf(string(data)))
}

func readTaskText(t markdown.Text) (*TaskFile, []pawl.Problem) {
	r := &taskReader{file: &TaskFile{text: t}, issues: findings{file: TasksName}, odd: findings{file: TasksName}}
	rows, open := rows(t)
	for _, row := range rows {
		if level, title := row.Heading(); level == 2 && wordList.heads(title) != "" {
			r.listed = true
		}
	}
	for _, row := range rows {
		switch row.Kind {
		case markdown.Prose:
			r.prose(row)
		case markdown.Code:
			r.head(row)
		}
	}
	if open > 0 {
		r.issue(open, "solution.not_ended")
	}
	if len(r.file.List) > MaxTasks {
		return r.file, []pawl.Problem{{File: TasksName, Key: "solution.too_many_tasks",
			Args: []any{len(r.file.List), MaxTasks}}}
	}
	r.file.Notes = tableOf(r.notes)
	if r.file.Language = r.spoken; r.spoken == "" {
		r.file.Language = languageOf(t.String())
	}
	r.graph()
	r.file.Warnings = r.odd.all()
	return r.file, r.issues.all()
}

func (r *taskReader) issue(line int, key string, args ...any) { r.issues.add(line, key, args...) }

func (r *taskReader) warn(line int, key string, args ...any) { r.odd.add(line, key, args...) }

// hear notes the language of the first fixed word, and reports whether there was a word at all.
func (r *taskReader) hear(l Language) bool {
	if r.spoken == "" {
		r.spoken = l
	}
	return l != ""
}

func (r *taskReader) prose(row markdown.Row) {
	if level, title := row.Heading(); level > 0 {
		r.heading(row.N, level, title)
		return
	}
	if r.box(row) || r.detail(row) || r.closing(row) {
		return
	}
	if r.section == wordNotes.zh {
		r.notes = append(r.notes, row)
	}
}

func (r *taskReader) heading(n, level int, title string) {
	r.stack, r.columns = nil, nil
	switch {
	case level == 1:
		if r.file.titleLine == 0 {
			r.file.Title, r.file.titleLine = title, n
		}
	case level == 2:
		r.group, r.section = "", ""
		for _, w := range []word{wordProgress, wordList, wordNotes} {
			if r.hear(w.heads(title)) {
				r.section = w.zh
			}
		}
	default:
		r.group = title
	}
}

var (
	boxForm = pattern.New(`^([ \t]*)([-*+]|\d+[.)])[ \t]*([\[［【])([^\[\]［］【】]?)([\]］】])(.*)$`)
	// A number with a dot inside stands alone; one without needs something behind it, because a task may begin with a
	// number of things.
	dotted  = pattern.New(`^(\d{1,6}(?:\.\d{1,6}){1,5})(?:[.、)）:：]|)(?:\s+|$)(.*)$`)
	glued   = pattern.New(`^(\d{1,6}(?:\.\d{1,6}){1,5})[.、)）:：]?(\p{Han}.*)$`)
	simple  = pattern.New(`^(\d{1,6})[.、)）](?:\s*)(.*)$`)
	depends = pattern.New(`\s*\|\s*depends_on:\s*\[([^\]|]*)\]\s*$`)
)

// box reads a line that is a task, or looks so much like one that it must not be passed over.
func (r *taskReader) box(row markdown.Row) bool {
	m := boxForm.Get().FindStringSubmatch(row.Text)
	if m == nil {
		return false
	}
	column, sign, rest := markdown.Indent(row.Text), m[4], strings.TrimSpace(m[6])
	status, foreign, known := statusOf(sign)
	link := rest != "" && strings.ContainsRune("([:", rune(rest[0])) || strings.HasPrefix(rest, "：")
	elsewhere := r.listed && r.section != wordList.zh
	switch {
	case (!known || foreign) && link, !known && elsewhere:
		return false
	case !r.wellFormed(row.N, m[2], m[3], sign, m[5], known):
		return true
	case foreign:
		r.warn(row.N, "solution.read_as_done")
	}
	t := Task{Status: status, Group: r.group, Line: row.N}
	t.Number, t.Title = numbered(rest)
	if d := depends.Get().FindStringSubmatchIndex(t.Title); d != nil {
		r.depend(&t, t.Title[d[2]:d[3]])
		t.Title = t.Title[:d[0]]
	}
	if t.Title == "" {
		r.issue(row.N, "solution.no_text")
		return true
	}
	if strings.ContainsFunc(t.Title, Concealed) {
		r.warn(row.N, "solution.concealed")
	}
	r.place(t, column)
	return true
}

// wellFormed notes what is wrong with the form of a box: its bullet, its brackets or its sign.
func (r *taskReader) wellFormed(n int, bullet, opening, sign, closing string, known bool) bool {
	switch {
	case strings.HasSuffix(bullet, ".") || strings.HasSuffix(bullet, ")"):
		r.issue(n, "solution.bad_bullet", bullet)
	case opening != "[" || closing != "]":
		r.issue(n, "solution.bad_brackets", opening+sign+closing)
	case !known:
		r.issue(n, "solution.bad_symbol", visible(sign))
	default:
		return true
	}
	return false
}

// place puts a task into the list, below the one whose box stands further to the left.
func (r *taskReader) place(t Task, column int) {
	for len(r.columns) > 0 && r.columns[len(r.columns)-1] >= column {
		r.columns, r.stack = r.columns[:len(r.columns)-1], r.stack[:len(r.stack)-1]
	}
	if t.Level = len(r.stack); t.Level == 0 && column > 3 {
		r.warn(t.Line, "solution.no_parent")
	}
	r.stack, r.columns = append(r.stack, len(r.file.List)), append(r.columns, column)
	r.file.List, r.file.ends = append(r.file.List, t), append(r.file.ends, t.Line)
}

// numbered splits the number off a task.
func numbered(s string) (number, title string) {
	for _, form := range []*regexp.Regexp{dotted.Get(), glued.Get(), simple.Get()} {
		if m := form.FindStringSubmatch(s); m != nil {
			return m[1], m[2]
		}
	}
	return "", s
}

// said is what a title says when it is read, without what would be read as a number or a dependency.
func said(title string) string {
	_, title = numbered(title)
	return strings.TrimSpace(depends.Get().ReplaceAllString(title, ""))
}

// depend reads the numbers of other tasks.
func (r *taskReader) depend(t *Task, list string) {
	for _, d := range strings.FieldsFunc(list, func(c rune) bool {
		return unicode.IsSpace(c) || strings.ContainsRune(",，、;；[]`\"'和与", c)
	}) {
		d = strings.TrimPrefix(strings.TrimPrefix(d, "任务"), "#")
		switch {
		case numberForm.Get().MatchString(d):
			t.DependsOn = append(t.DependsOn, d)
		case d == "" || d == "-" || d == wordNothing.zh ||
			slices.Contains([]string{"none", "and", "task", "tasks", "n/a"}, strings.ToLower(d)):
		default:
			r.issue(t.Line, "solution.bad_dependency", Clip(visible(d), 40))
		}
	}
}

var (
	detailForm = pattern.New(`^[-*+][ \t]+(?:\*\*([^*:：]{1,20})[:：]\*\*|\*\*([^*:：]{1,20})\*\*[ \t]*[:：]|([^*:：]{1,20})[:：])[ \t]*(.*)$`)
	remarkForm = pattern.New(`^>[ \t]*(?:\*\*([^*:：]{1,20})[:：]\*\*|\*\*([^*:：]{1,20})\*\*[ \t]*[:：]|([^*:：]{1,20})[:：])[ \t]*(.*)$`)
)

// detail reads a line that belongs to the task above it.
func (r *taskReader) detail(row markdown.Row) bool {
	if len(r.stack) == 0 {
		return false
	}
	at, s, column := len(r.stack)-1, strings.TrimSpace(row.Text), markdown.Indent(row.Text)
	if strings.HasPrefix(s, ">") {
		column++ // a quotation may begin where its task does, a bullet there is another one
	}
	for at > 0 && r.columns[at] >= column {
		at--
	}
	t := &r.file.List[r.stack[at]]
	if m := remarkForm.Get().FindStringSubmatch(s); m != nil &&
		r.hear(wordRemark.language(strings.TrimSpace(m[1]+m[2]+m[3]))) {
		t.Remarks = append(t.Remarks, m[4])
	} else if m := detailForm.Get().FindStringSubmatch(s); m == nil {
		return false
	} else if key := strings.TrimSpace(m[1] + m[2] + m[3]); r.hear(wordVerify.language(key)) {
		if m[4] != "" {
			t.Verify = append(t.Verify, m[4])
		}
	} else if r.hear(wordDepends.language(key)) {
		line := t.Line
		t.Line = row.N // a bad number is reported where it stands
		r.depend(t, m[4])
		t.Line = line
	} else {
		return false
	}
	if strings.ContainsFunc(s, Concealed) {
		r.warn(row.N, "solution.concealed")
	}
	if r.stack[at] == len(r.file.List)-1 { // what is added to a task stands before its parts
		r.file.ends[r.stack[at]] = row.N
	}
	return true
}

var closingForm = pattern.New(`^>[ \t]*\*\*@status:\*\*[ \t]*([^|]*?)[ \t]*(?:\|[ \t]*(.*?)[ \t]*)?$`)

// closing reads the line that says how the package ended.
func (r *taskReader) closing(row markdown.Row) bool {
	m := closingForm.Get().FindStringSubmatch(strings.TrimSpace(row.Text))
	if m == nil || r.file.Closing != nil {
		return m != nil
	}
	result, ok := ParseResult(m[1])
	if !ok {
		r.warn(row.N, "solution.bad_result", Clip(visible(m[1]), 40))
		return true
	}
	c := Closing{Result: result}
	if m[2] != "" {
		at, err := time.Parse(closingTime, m[2])
		if err != nil {
			r.warn(row.N, "solution.bad_time", Clip(visible(m[2]), 40))
		}
		c.At = at
	}
	r.file.Closing, r.file.closingLine = &c, row.N
	return true
}

var fieldForm = pattern.New(`^([ \t]*([^:：#]{1,40}?)[ \t]*[:：][ \t]*)(.*?)[ \t]*$`)

// head reads the numbers of the head.
func (r *taskReader) head(row markdown.Row) {
	m := fieldForm.Get().FindStringSubmatch(row.Text)
	if m == nil || r.section != wordProgress.zh {
		return
	}
	for i, w := range []word{wordTotal, wordDone, wordRate} {
		if r.file.headLines[i] == 0 && r.hear(w.language(m[2])) {
			r.file.headLines[i] = row.N
			n, ok := number(m[3])
			if !ok {
				r.warn(row.N, "solution.bad_number", Clip(visible(m[3]), 40))
				return
			}
			if r.file.Progress == nil && i < 2 {
				r.file.Progress = &Progress{}
			}
			switch i {
			case 0:
				r.file.Progress.Total = n
			case 1:
				r.file.Progress.Done = n
			}
		}
	}
}

// number reads a whole number, with or without the sign for percent.
func number(s string) (int, bool) {
	s = strings.TrimSpace(strings.TrimSuffix(s, "%"))
	if s == "" || len(s) > 9 {
		return 0, false
	}
	n := 0
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = 10*n + int(c-'0')
	}
	return n, true
}
