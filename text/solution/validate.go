package solution

import (
	"bytes"
	"encoding/json"
	"slices"

	"pawl"
)

// Report says whether a package is whole and whether ~exec may carry it out (docs/spec/workflow.md#validation). JSON
// gives its public form.
type Report struct {
	// Valid: nothing is wrong with the package. Executable: it is valid, of the type implementation, and something is
	// left to do.
	Valid, Executable bool
	// Issues are what is wrong, Warnings what a person should know; neither is ever nil.
	Issues, Warnings []pawl.Problem
	Files            Presence
	Tasks            TaskReport
	Proposal         ProposalReport
}

// Presence names the files of a package that are there, and those that are needed and are not.
type Presence struct {
	Present []string `json:"present"`
	Missing []string `json:"missing"`
}

// TaskReport says how far the tasks are.
type TaskReport struct {
	Total    int        `json:"total"`
	ByStatus Counts     `json:"by_status"`
	Items    []TaskItem `json:"items"`
}

// TaskItem is a task of a report. Level is that of Task.
type TaskItem struct {
	Number      string `json:"number,omitempty"`
	Status      Status `json:"status"`
	Description string `json:"description"`
	Level       int    `json:"level,omitempty"`
	Line        int    `json:"line"`
}

// ProposalReport says of which type a package is and which decisions its proposal names.
type ProposalReport struct {
	Type      Type     `json:"pkg_type"`
	Decisions []string `json:"decisions"`
}

// maxDescription is the length of a task in a report, in characters.
const maxDescription = 200

// Validate judges a package by its files, which are named without their folder. It never fails: whatever is wrong with
// a file is an issue of the report, with its line.
func Validate(files map[string][]byte) Report {
	r := Report{
		Issues: []pawl.Problem{}, Warnings: []pawl.Problem{}, Files: Presence{Present: []string{}, Missing: []string{}},
		Tasks: TaskReport{Items: []TaskItem{}}, Proposal: ProposalReport{Type: Implementation, Decisions: []string{}},
	}
	for name := range files {
		r.Files.Present = append(r.Files.Present, name)
	}
	slices.Sort(r.Files.Present)
	for _, name := range []string{ProposalName, TasksName} {
		if _, ok := files[name]; !ok {
			r.Files.Missing = append(r.Files.Missing, name)
			r.Issues = append(r.Issues, pawl.Problem{File: name, Key: "solution.missing"})
		}
	}
	if data, ok := files[ProposalName]; ok {
		f, issues := readProposal(data)
		r.Issues, r.Warnings = append(r.Issues, issues...), append(r.Warnings, f.Warnings...)
		r.Proposal = ProposalReport{Type: f.Type, Decisions: append(r.Proposal.Decisions, f.IDs...)}
	}
	var list []Task
	if data, ok := files[TasksName]; ok {
		f, issues := readTasks(data)
		r.Issues, r.Warnings = append(r.Issues, issues...), append(r.Warnings, f.Warnings...)
		list = f.List[:min(len(f.List), MaxTasks)]
		r.tasks(f, len(issues) == 0)
	}
	c := Count(list)
	r.Valid = len(r.Issues) == 0
	r.Executable = r.Valid && r.Proposal.Type == Implementation && c.Completed+c.Skipped < c.Total()
	return r
}

// tasks reports on the tasks; sound says that the file has no issue of its own.
func (r *Report) tasks(f *TaskFile, sound bool) {
	list := f.List[:min(len(f.List), MaxTasks)]
	c := Count(list)
	r.Tasks.Total, r.Tasks.ByStatus = c.Total(), c
	for _, t := range list {
		r.Tasks.Items = append(r.Tasks.Items, TaskItem{
			Number: t.Number, Status: t.Status, Description: Clip(visible(t.Title), maxDescription), Level: t.Level,
			Line: t.Line,
		})
	}
	warn := func(line int, key string, args ...any) {
		r.Warnings = append(r.Warnings, pawl.Problem{File: TasksName, Line: line, Key: key, Args: args})
	}
	overview := r.Proposal.Type == Overview
	switch {
	case c.Total() == 0 && sound && !overview:
		r.Issues = append(r.Issues, pawl.Problem{File: TasksName, Key: "solution.no_tasks"})
	case c.Total() == 0 || overview:
	case c.Completed+c.Skipped == c.Total():
		warn(0, "solution.all_done")
	case c.Failed > 0:
		warn(0, "solution.some_failed", c.Failed)
	}
	if p := f.Progress; p != nil && (p.Total > c.Total() || p.Done > c.Completed) {
		warn(max(f.headLines[0], f.headLines[1]), "solution.head_claims", p.Done, p.Total, c.Completed, c.Total())
	}
	if f.Closing == nil {
		return
	}
	if f.Closing.Result == EndedWell && c.Completed < c.Total() {
		warn(f.closingLine, "solution.not_all_done", c.Total()-c.Completed)
	}
	for _, t := range list {
		if t.Status != Completed && len(t.Remarks) == 0 {
			warn(t.Line, "solution.no_remark", t.Number)
		}
	}
}

// JSON returns the report's public form: valid, executable, issues, warnings, files, tasks and proposal. say renders a
// finding in the reader's language; nil gives the technical form.
func (r Report) JSON(say func(pawl.Problem) string) ([]byte, error) {
	if say == nil {
		say = pawl.Problem.String
	}
	texts := func(all []pawl.Problem) []string {
		out := make([]string, len(all))
		for i, f := range all {
			out[i] = say(f)
		}
		return out
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(struct {
		Valid      bool           `json:"valid"`
		Executable bool           `json:"executable"`
		Issues     []string       `json:"issues"`
		Warnings   []string       `json:"warnings"`
		Files      Presence       `json:"files"`
		Tasks      TaskReport     `json:"tasks"`
		Proposal   ProposalReport `json:"proposal"`
	}{r.Valid, r.Executable, texts(r.Issues), texts(r.Warnings), r.Files, r.Tasks, r.Proposal})
	return b.Bytes(), err
}
