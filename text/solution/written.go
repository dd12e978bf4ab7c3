package solution

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"
)

// Written is a package whose documents a person wrote, or changed after pawl had written them. It is carried out as it
// stands, and nothing is ever written into it but what became of the tasks that were carried out.
type Written struct {
	// Tasks is its tasks.md as it was read.
	Tasks string `json:"tasks"`
	// Boxes are the lines of the tasks that are carried out, by the ids of their steps in the plan.
	Boxes map[string]int `json:"boxes"`
	// Decisions are the ids of the decisions that its proposal.md names.
	Decisions []string `json:"decisions,omitempty"`
	// Digest tells its two documents from any others.
	Digest string `json:"digest"`
}

// Mark is what became of a task. Remark says why it is not completed.
type Mark struct {
	Status Status
	Remark string
}

// Result judges the package by all of its tasks, those that were not carried out included.
func (w Written) Result(marks map[string]Mark) Result {
	f, err := ReadTasks([]byte(w.Tasks))
	if err != nil {
		return EndedPartly
	}
	f.Mark(w.lines(marks))
	return Judge(Count(f.List))
}

// Ended is the tasks.md of the package once it has ended: the signs and remarks of the tasks that were carried out, the
// line that says how and when, and the numbers of the head; every other line as it was.
func (w Written) Ended(marks map[string]Mark, r Result, at time.Time) string {
	f, err := ReadTasks([]byte(w.Tasks))
	if err != nil {
		return w.Tasks // it was read when it was taken up
	}
	lines := w.lines(marks)
	f.Mark(lines)
	f.Close(Closing{Result: r, At: at}, func(t Task) string { return cmp.Or(lines[t.Line].Remark, string(t.Status)) })
	return f.String()
}

func (w Written) lines(marks map[string]Mark) map[int]Mark {
	out := map[int]Mark{}
	for id, line := range w.Boxes {
		if m, ok := marks[id]; ok {
			out[line] = m
		}
	}
	return out
}

// Mark writes the signs of tasks by their lines, and nothing else.
func (f *TaskFile) Mark(lines map[int]Mark) {
	for i := range f.List {
		t := &f.List[i]
		m, ok := lines[t.Line]
		if !ok {
			continue
		}
		text := f.text.Content(t.Line - 1)
		at := boxForm.Get().FindStringSubmatchIndex(text)
		f.text.Replace(t.Line-1, text[:at[8]]+m.Status.Symbol()+text[at[9]:])
	}
	f.reload()
}

// Stands reports whether a package still says, by its files, what was read.
func (w Written) Stands(files map[string][]byte) bool { return w.Digest == DigestOf(files) }

// DigestOf tells the two documents of a package, by their names, from any others.
func DigestOf(files map[string][]byte) string {
	h := sha256.New()
	for _, name := range []string{ProposalName, TasksName} {
		_, _ = fmt.Fprintf(h, "%d\n", len(files[name]))
		_, _ = h.Write(files[name])
	}
	return hex.EncodeToString(h.Sum(nil))
}
