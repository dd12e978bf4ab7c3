package view

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"pawl/text/display"

	"pawl"
	"pawl/kernel/effect"
	"pawl/text/plan"
	"pawl/text/solution"
)

// Ending is how a package ended, as the archive's index says it (docs/spec/workflow.md#archive-index).
type Ending = solution.Result

// The five endings. They are kept in the index and append-only.
const (
	EndedWell   = solution.EndedWell
	EndedPartly = solution.EndedPartly
	EndedBadly  = solution.EndedBadly
	NotCarried  = solution.NotCarried
	RolledBack  = solution.RolledBack
)

// Package is a solution package with its state: what proposal.md, tasks.md and the archive show of a run
// (docs/spec/workflow.md#packages).
type Package struct {
	// Name is YYYYMMDDHHMM_feature.
	Name  string
	Plan  plan.Plan
	Hash  string
	Risk  pawl.Risk
	Agent string
	// Task is the task's id, Label and Title what it is called.
	Task, Label, Title string
	// State is the state of the task, Outcome that of the run, "" while it goes on.
	State, Outcome string
	Checks         []effect.Check
	Evidence       []Evidence
	Land           *Landing
	// Refused are the calls that agents wanted to make and were not allowed to.
	Refused []effect.RefusedCall
	// Reason says why steps were not carried out, as the technical form of an error or a person's words.
	Reason         string
	Created, Ended time.Time
	// Proof is what became of the criteria, nil where none was made. Lang is the language of the documents.
	Proof *Proof
	Lang  solution.Language
	// Written is the package as a person wrote it, nil for one whose documents are pawl's own.
	Written *solution.Written
}

// Ending judges the run from what is done: everything, a part of it, or nothing. A check that failed without being
// required, or a result that could not land, makes it a part.
func (p Package) Ending() Ending {
	done, all := p.count()
	switch p.Outcome {
	case rolledBack:
		return RolledBack
	case "declined", "revised":
		return NotCarried
	case "completed":
	default:
		return EndedBadly
	}
	for _, e := range p.Evidence {
		if !e.Passed {
			return EndedPartly
		}
	}
	if done < all || p.Land != nil && p.Land.Outcome == effect.Kept {
		return EndedPartly
	}
	if p.Written != nil {
		return p.Written.Result(p.marks())
	}
	return EndedWell
}

// marks says of each of the plan's own steps what became of it.
func (p Package) marks() map[string]solution.Mark {
	out := map[string]solution.Mark{}
	for _, s := range p.Plan.Steps {
		m := solution.Mark{Status: p.status(s)}
		if m.Status != solution.Completed {
			m.Remark = line(cmp.Or(p.Reason, string(s.Status)), maxCell)
		}
		out[s.StepID] = m
	}
	return out
}

// count counts the plan's own steps that are done, and all of them.
func (p Package) count() (done, all int) {
	for _, s := range p.Plan.Steps {
		if s.Repair() > 0 {
			continue
		}
		all++
		if s.Status == plan.Done {
			done++
		}
	}
	return done, all
}

// LiveDir and ArchiveDir are the folders of the package while it is worked on and afterwards, relative to .pawl.
func (p Package) LiveDir() string { return solution.LiveDir(p.Name) }

// ArchiveDir is described with LiveDir.
func (p Package) ArchiveDir() string { return solution.ArchiveDir(p.Name) }

// TaskArchive names the history file of the month in which a task ended, relative to .pawl.
func TaskArchive(ended time.Time) string {
	return "history/task_archive_" + ended.UTC().Format("200601") + ".md"
}

// anchor is the target of a link to a task's entry: T-001 is written Task-001.
func anchor(label string) string {
	return "task-" + strings.TrimPrefix(strings.ToLower(label), "t-")
}

// Live returns the package's two files while it is worked on.
func (p Package) Live() []pawl.ProjectedFile {
	dir := p.LiveDir()
	return []pawl.ProjectedFile{
		{Path: dir + "/" + solution.ProposalName, Content: p.proposal()},
		{Path: dir + "/" + solution.TasksName, Content: p.tasks()},
	}
}

// Archive returns everything that the end of a run leaves behind: the package in the archive, which never overwrites an
// older one, its row in the index, and the entry in the month's task archive. A tweak has no package and leaves the
// entry alone. Writing it again adds nothing. A package that a person wrote is moved there; its two documents among the
// files take its place where it is gone. One that was rolled back stays where it is, to be carried out again, and the
// documents say what was tried.
func (p Package) Archive() (files []pawl.ProjectedFile, moved *effect.Retired) {
	month := TaskArchive(p.Ended)
	title := "# Task Archive " + p.Ended.UTC().Format("2006-01") + "\n"
	history := []pawl.ProjectedFile{{Path: month, Content: title, Append: true, Marker: title},
		{Path: month, Content: p.entry(), Append: true, Marker: p.marker()}}
	if p.Name == "" {
		return history, nil
	}
	dir := p.ArchiveDir()
	stamp, feature, _ := strings.Cut(p.Name, "_")
	row := solution.Row{
		Stamp: stamp, Name: cell(feature), Dir: strings.TrimPrefix(dir, solution.ArchiveTop+
			"/"), Type: string(solution.Implementation),
		Modules: cell(p.modules()), Decisions: short(p.Hash), Result: p.Ending(), Marker: p.marker(),
	}
	if w := p.Written; w != nil && len(w.Decisions) > 0 {
		row.Decisions = strings.Join(w.Decisions, ", ")
	}
	if w := p.Written; w != nil && row.Result != RolledBack {
		path := p.LiveDir() + "/" + solution.TasksName
		moved = &effect.Retired{From: p.LiveDir(), To: dir, Result: string(row.Result),
			Tasks: effect.NewDocument(path, w.Ended(p.marks(), row.Result, p.Ended), []byte(w.Tasks), true)}
	}
	return append(solution.Record(dir, p.proposal(), p.tasks(), row), history...), moved
}

// marker tells this task's entries from all others in a file that is only added to.
func (p Package) marker() string { return "<!-- pawl:" + p.Task + " -->" }

func short(hash string) string {
	if hash == "" {
		return "-"
	}
	return "`" + display.Hash(hash) + "`"
}

// modules lists the first folders of the changed files, or the files where they lie at the top.
func (p Package) modules() string {
	if p.Land == nil {
		return ""
	}
	seen := map[string]bool{}
	var out []string
	for _, f := range p.Land.Files {
		m, _, _ := strings.Cut(f.Path, "/")
		if seen[m] {
			continue
		}
		if seen[m] = true; len(out) == 5 {
			return strings.Join(out, ", ") + ", …"
		}
		out = append(out, m)
	}
	return strings.Join(out, ", ")
}

// entry is the task's entry in the month's archive (docs/spec/session.md#archive-entry).
func (p Package) entry() string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s\n<a id=\"%s\"></a>\n\n", p.marker(), anchor(p.Label))
	fmt.Fprintf(&b, "## Task-%s: %s\n\n", strings.TrimPrefix(p.Label, "T-"), line(p.Title, maxTitle))
	fmt.Fprintf(&b, "- 完成时间: %s UTC\n", minute(p.Ended))
	fmt.Fprintf(&b, "- 结果: %s\n", p.Ending())
	commit, files := "", []effect.FileStat(nil)
	if p.Land != nil {
		commit, files = p.Land.Commit, p.Land.Files
	}
	fmt.Fprintf(&b, "- Commit Hash: %s\n- 修改文件:", span(commit))
	if len(files) == 0 {
		b.WriteString(" -")
	}
	b.WriteString("\n")
	for i, f := range files {
		if i == maxFiles {
			fmt.Fprintf(&b, "  - … +%d\n", len(files)-i)
			break
		}
		fmt.Fprintf(&b, "  - %s %s (+%d −%d)\n", f.Status, span(f.Path), f.Added, f.Removed)
	}
	done, all := p.count()
	fmt.Fprintf(&b, "- 摘要: %s (%d/%d)\n", line(p.Plan.Goal, maxCell), done, all)
	for _, s := range p.Plan.Steps {
		fmt.Fprintf(&b, "  - [%s] %s\n", taskStatuses[s.Status].Symbol(), line(s.Title, maxTitle))
	}
	for _, r := range p.Refused {
		fmt.Fprintf(&b, "- 未获允许的调用: %s\n", span(line(r.Call, maxCell)))
	}
	if p.Reason != "" {
		fmt.Fprintf(&b, "- 备注: %s\n", line(p.Reason, maxCell))
	}
	if p.Name == "" {
		b.WriteString("- 相关 PRD: -\n")
	} else {
		fmt.Fprintf(&b, "- 相关 PRD: [%s](../%s/proposal.md)\n", cell(p.Name), p.ArchiveDir())
	}
	return b.String()
}

// maxFiles is the number of changed files that an entry lists.
const maxFiles = 50
